"""Which columns repeat which, in the files of a run."""

import csv
import json

import numpy as np
import pytest
from conftest import tamis

pytestmark = pytest.mark.shared

FAMILIES = 12


@pytest.fixture(scope="module")
def copies():
    """Columns with two noisy copies each: columns j, j + 12 and j + 24 are a family."""
    rng = np.random.default_rng(1)
    base = rng.normal(size=(400, FAMILIES))
    noisy = [0.95 * base + np.sqrt(1 - 0.95**2) * rng.normal(size=base.shape) for _ in range(2)]
    return np.hstack([base, *noisy])


def document(folder, X, *words):
    np.save(folder / "X.npy", X)
    result = tamis("select", folder / "X.npy", "--json", "--quiet", *words)
    assert result.code == 0, result
    return result.json


@pytest.mark.parametrize("method", ["guided", "ufcm", "maxvar", "css"])
def test_every_method_names_families_and_representatives(tmp_path, copies, method):
    found = document(tmp_path, copies, "-m", method, "-k", FAMILIES)
    groups = found["redundancy"]["groups"]
    assert sorted(tuple(sorted(group)) for group in groups) == [(j, j + 12, j + 24) for j in range(FAMILIES)]
    families = {j % FAMILIES for j in found["selected"]}
    assert method != "css" or len(families) == FAMILIES
    Z = (copies - copies.mean(axis=0)) / copies.std(axis=0)
    Q, _ = np.linalg.qr(Z[:, found["selected"]])
    wanted = np.square(Q.T @ Z).sum(axis=0) / len(Z)
    np.testing.assert_allclose(found["redundancy"]["r2"], wanted, atol=1e-9)
    for j, one in enumerate(found["redundancy"]["representative"]):
        assert (one is None) == (j in found["selected"])
        if one is not None:
            assert one in found["selected"]
            assert j % FAMILIES not in families or one % FAMILIES == j % FAMILIES
            np.testing.assert_allclose(found["redundancy"]["correlation"][j], np.corrcoef(Z[:, j], Z[:, one])[0, 1], atol=1e-9)


def test_the_files_of_a_run(tmp_path, copies):
    np.save(tmp_path / "X.npy", copies)
    assert tamis("select", tmp_path / "X.npy", "-m", "css", "-k", 8, "-o", tmp_path / "out", "--quiet").code == 0
    with open(tmp_path / "out" / "ranking.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["rank", "index", "name", "score", "selected", "representative", "r2", "group", "column"]
    found = json.loads((tmp_path / "out" / "selection.json").read_text())["redundancy"]
    number = {j: str(i + 1) for i, group in enumerate(found["groups"]) for j in group}
    for row in rows:
        j = int(row["index"])
        one = found["representative"][j]
        assert row["representative"] == ("" if one is None else str(one))
        assert row["r2"] == "" if one is None else float(row["r2"]) == found["r2"][j]
        assert row["group"] == number.get(j, "")
    page = (tmp_path / "out" / "report.html").read_text()
    assert "redundancy groups outlined" in page and "Columns that were left out" in page and "Explained variance" in page
    # What apply and evaluate read is still there.
    selected = [int(row["index"]) for row in rows if row["selected"] == "1"]
    assert len(selected) == 8
    assert tamis("apply", tmp_path / "out", tmp_path / "X.npy", "-o", tmp_path / "reduced", "--quiet").code == 0
    np.testing.assert_array_equal(np.load(tmp_path / "reduced" / "selected.npy"), copies[:, sorted(selected)])
    np.savez(tmp_path / "X.npz", X=copies, y=np.arange(len(copies)) % 3)
    words = ["evaluate", tmp_path / "X.npz", "--labels", "y", "--list", tmp_path / "out" / "ranking.csv", "--json", "--quiet"]
    assert tamis(*words).json["selected"] == selected


def test_off_and_thresholds(tmp_path, copies):
    assert document(tmp_path, copies, "-m", "maxvar", "-k", 5, "--redundancy", "off")["redundancy"] is None
    assert document(tmp_path, copies, "-m", "maxvar", "-k", 5, "--redundancy", "0.999")["redundancy"]["groups"] == []
    everything = document(tmp_path, copies, "-m", "maxvar")["redundancy"]
    assert everything["r2"] is None and len(everything["groups"]) == FAMILIES and everything["note"] is None
    for bad in ("0", "1.5", "yes", "nan", ""):
        result = tamis("select", tmp_path / "X.npy", "--redundancy", bad)
        assert result.code == 2 and "redundancy = " in result.err and result.err.count("\n") == 1, result


def test_css_counts_included_columns_first_and_stops_by_its_rules(tmp_path, copies):
    found = document(tmp_path, copies, "-m", "css", "-k", FAMILIES, "--include", "20,30")
    assert found["selected"][:2] in ([20, 30], [30, 20])
    assert len({j % FAMILIES for j in found["selected"]}) == FAMILIES  # no second one of their families
    found = document(tmp_path, copies, "-m", "css", "--r2", "0.8")
    assert len(found["selected"]) == FAMILIES and min(found["redundancy"]["r2"]) >= 0.8
    share = document(tmp_path, copies, "-m", "css", "--variance", "0.5")
    explained = share["report"]["terms"]["explained"]
    assert explained[-1] >= 0.5 > explained[-2] and len(explained) == len(share["selected"])
    assert len(document(tmp_path, copies, "-m", "css", "--variance", "0.5", "-k", 3)["selected"]) == 3


def test_a_scale_that_is_given_decides(tmp_path, copies):
    """css divides columns by their deviations, unless the user says how to scale."""
    units = copies * np.logspace(0, 2, copies.shape[1])
    alone = document(tmp_path, units, "-m", "css")
    assert alone["selected"] == document(tmp_path, copies, "-m", "css")["selected"]
    assert alone["options"]["standardize"] and not alone["report"]["warnings"]
    none = document(tmp_path, units, "-m", "css", "--scale", "none")
    assert not none["options"]["standardize"] and none["selected"] != alone["selected"]
    assert none["selected"] == document(tmp_path, units, "-m", "css", "--standardize", "no")["selected"]
    assert document(tmp_path, units, "-m", "css", "--scale", "standard")["selected"] == alone["selected"]
