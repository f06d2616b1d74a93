"""The JSON documents against the committed schemas (docs/schema)."""

import json

import jsonschema
import pytest
from conftest import ROOT, planted, tamis, write_csv, write_npy

NAMES = [f"col{j}" for j in range(12)]


def schema_of(name):
    schema = json.loads((ROOT / "docs" / "schema" / f"{name}.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return schema


def check(document, name):
    schema = schema_of(name)
    jsonschema.validate(document, schema, jsonschema.Draft202012Validator)
    described = {"": schema, **{part: schema["properties"].get(part, {}) for part in ("data", "report")}}
    for part, one in described.items():  # whatever is written is described
        extra = set(document.get(part, {}) if part else document) - set(one.get("properties", {}))
        assert not extra - {"sampled_rows", "resumed_at"}, f"{name} {part}: {extra}"


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    folder = tmp_path_factory.mktemp("schema")
    (folder / "y.txt").write_text("".join(f"{i % 3}\n" for i in range(120)))
    return write_csv(folder / "a.csv", planted(), NAMES)


def printed(*words):
    run = tamis(*words, "--json")
    assert run.code == 0, str(run)
    return run.json


@pytest.mark.parametrize("method", [one["name"] for one in tamis("methods", "--json").json])
def test_selections_of_every_method(table, method):
    document = printed("select", table, "-m", method, "-k", "3", "--exclude", "col1")
    check(document, "selection")
    assert document["schema"] == 2 and document["data"]["named"] is True and document["data"]["id"] is None


def test_selections_with_a_guide_and_without_names(table, tmp_path):
    check(printed("select", table), "selection")
    check(printed("demo"), "selection")
    document = printed("select", write_npy(tmp_path / "a.npy", planted()), "-m", "lapscore", "-k", "auto", "--evidence", "on")
    check(document, "selection")
    assert document["data"]["named"] is False


def test_selections_with_their_stability(table):
    for flag, features in (("--seeds", 3), ("--resample", 3), ("--resample", "all")):
        document = printed("select", table, "-m", "ufcm", "-k", features, "--exclude", "col1", flag, "3")
        check(document, "selection")
        assert not set(document["stability"]) - set(schema_of("selection")["properties"]["stability"]["properties"])
    assert "stability" not in printed("select", table, "-m", "ufcm", "-k", "3")


def test_the_other_documents(table, tmp_path):
    labels = table.parent / "y.txt"
    assert tamis("select", table, "-m", "maxvar", "-k", "3", "-o", tmp_path / "out").code == 0
    check(json.loads((tmp_path / "out" / "selection.json").read_text()), "selection")
    check(printed("apply", tmp_path / "out", table, "-o", tmp_path / "next"), "applied")
    check(json.loads((tmp_path / "next" / "applied.json").read_text()), "applied")
    check(printed("evaluate", table, "--labels", labels, "--list", tmp_path / "out" / "ranking.csv"), "evaluation")
    check(printed("compare", table, "-m", "maxvar,mcfs", "-k", "3", "--labels", labels, "--grid"), "comparison")
    check(printed("compare", table, "-m", "maxvar,lapscore", "-k", "3"), "comparison")
    check(printed("info", table), "info")


@pytest.mark.parametrize("broken", [{"schema": 1}, {"selected": ["a"]}, {"scores": None}, {"data": {}}])
def test_the_schema_refuses_what_is_no_selection(table, broken):
    document = {**printed("select", table, "-m", "maxvar"), **broken}
    with pytest.raises(jsonschema.ValidationError):
        check(document, "selection")
