"""Names and labels that come from other files, and patterns for columns."""

import json

import numpy as np
import pandas as pd
import pytest
from conftest import planted, refused, select, tamis, write_npy

pytestmark = pytest.mark.shared

NAMES = ["MT-CO1", "MT-ND1", "ACTB", "CD3E", "CD19", "note"]


@pytest.fixture
def cells(tmp_path):
    """A table with barcodes and a column of text, and what is known of the cells, in another order."""
    frame = pd.DataFrame(planted(60, 5).round(3), columns=NAMES[:5])
    frame["note"] = "fine"
    frame.insert(0, "barcode", [f"cell{i:02d}" for i in range(60)])
    frame.to_csv(tmp_path / "cells.csv", index=False)
    meta = pd.DataFrame({"donor": [f"d{i % 4}" for i in range(60)], "barcode": frame["barcode"],
                         "kind": [f"kind {i % 3}" for i in range(60)]})
    meta.sample(frac=1, random_state=0).to_csv(tmp_path / "meta.csv", index=False)
    (tmp_path / "kinds.txt").write_text("".join(f"kind {i % 3}\n" for i in range(60)))
    (tmp_path / "list.txt").write_text("MT-CO1\nACTB\n")
    return tmp_path


def evaluated(folder, labels):
    run = tamis("evaluate", folder / "cells.csv", "--id", "barcode", "--exclude", "note", "--labels", labels, "--list",
                folder / "list.txt", "--json")
    assert run.code == 0, str(run)
    return run.json["scores"]


def test_labels_are_joined_by_row_identifiers(cells):
    assert evaluated(cells, f"{cells}/meta.csv:kind") == evaluated(cells, cells / "kinds.txt")
    for command in (["select"], ["compare", "-m", "maxvar", "-k", "2"], ["info"]):
        run = tamis(command[0], cells / "cells.csv", *command[1:], "--id", "barcode", "--exclude", "note", "--labels",
                    f"{cells}/meta.csv:kind")
        assert run.code == 0, str(run)
    supervised = select(cells / "cells.csv", "--id", "barcode", "--exclude", "note", "-m", "ufcm", "-c", "3", "--supervise",
                        f"{cells}/meta.csv:kind")
    assert len(set(supervised["clusters"])) == 3


def test_the_first_column_joins_where_names_differ(cells):
    meta = pd.read_csv(cells / "meta.csv").rename(columns={"barcode": "cell"})[["cell", "kind"]]
    meta.to_csv(cells / "meta.tsv", index=False, sep="\t")
    assert evaluated(cells, f"{cells}/meta.tsv:kind") == evaluated(cells, cells / "kinds.txt")


def test_joins_that_do_not_fit_are_refused(cells):
    words = ["evaluate", cells / "cells.csv", "--exclude", "note", "--list", cells / "list.txt"]
    labels = f"{cells}/meta.csv:kind"
    refused(tamis(*words, "--exclude", "barcode", "--labels", labels), 2, "no identifiers to join by", "--id")
    refused(tamis(*words, "--id", "barcode", "--labels", f"{cells}/meta.csv:kinds"), 2, "no column 'kinds'",
            "did you mean 'kind'?")
    meta = pd.read_csv(cells / "meta.csv")
    meta[~meta["barcode"].isin(["cell07", "cell30"])].to_csv(cells / "meta.csv", index=False)
    refused(tamis(*words, "--id", "barcode", "--labels", labels), 3, "2 of 60 rows are missing: 'cell07', 'cell30'")
    pd.concat([meta, meta.iloc[:3]]).to_csv(cells / "meta.csv", index=False)
    refused(tamis(*words, "--id", "barcode", "--labels", labels), 3, "3 of 63 row identifiers are repeated",
            f"'{meta['barcode'][0]}'")


def test_names_from_a_file(tmp_path):
    path = write_npy(tmp_path / "a.npy", planted(60, 5))
    (tmp_path / "names.txt").write_text("MT-CO1\r\nMT-ND1\nACTB\nCD3E\n# CD19\n")
    result = select(path, "--names", tmp_path / "names.txt", "-m", "maxvar", "-k", "2", "--include", "# CD19")
    assert "# CD19" in result["names"] and result["data"]["named"] is True
    assert tamis("info", path, "--names", tmp_path / "names.txt", "--json").json["data"]["names"][0] == "MT-CO1"
    (tmp_path / "names.txt").write_text("a\nb\n")
    refused(tamis("select", path, "--names", tmp_path / "names.txt"), 3, "names.txt: 2 names, need 5")
    refused(tamis("select", path, "--names", tmp_path / "no.txt"), 5, "no.txt")


def test_names_of_all_columns_of_a_file(tmp_path):
    frame = pd.DataFrame(planted(60, 4).round(3))
    frame.insert(1, "id", [f"s{i}" for i in range(60)])
    frame.to_csv(tmp_path / "a.csv", index=False, header=False)
    (tmp_path / "names.txt").write_text("a\nsample\nb\nc\nd\n")
    result = select(tmp_path / "a.csv", "--id", "1", "--names", tmp_path / "names.txt", "-m", "maxvar")
    assert sorted(result["names"]) == ["a", "b", "c", "d"]


# --- Patterns ---------------------------------------------------------------------------------------------------------


def kept(run):
    return {name for name in run["names"]}


def test_patterns_leave_out_and_include(cells):
    table = [cells / "cells.csv", "--id", "barcode", "-m", "maxvar"]
    assert kept(select(*table, "--exclude", "MT-*,no*")) == {"ACTB", "CD3E", "CD19"}
    assert kept(select(*table, "--exclude", "note,??-?D1")) == {"MT-CO1", "ACTB", "CD3E", "CD19"}
    assert kept(select(*table, "--exclude", "note", "-k", "2", "--include", "CD*")) == {"CD3E", "CD19"}
    (cells / "out.txt").write_text("MT-*\nnote\n")
    assert kept(select(*table, "--exclude", f"@{cells}/out.txt")) == {"ACTB", "CD3E", "CD19"}


def test_a_name_wins_over_a_pattern(tmp_path):
    frame = pd.DataFrame(planted(60, 4).round(3), columns=["a*", "ab", "ac", "d"])
    frame.to_csv(tmp_path / "a.csv", index=False)
    assert kept(select(tmp_path / "a.csv", "-m", "maxvar", "--exclude", "a*")) == {"ab", "ac", "d"}
    assert kept(select(tmp_path / "a.csv", "-m", "maxvar", "--exclude", "?b")) == {"a*", "ac", "d"}


def test_a_pattern_that_matches_nothing(cells, tmp_path):
    table = [cells / "cells.csv", "--id", "barcode", "--exclude", "note"]
    refused(tamis("select", *table, "--exclude", "mt-*"), 2, "exclude: no column matches 'mt-*'", "did you mean 'MT-CO1'",
            "capital letters count")
    refused(tamis("select", *table, "--include", "ACTC?"), 2, "include: no column matches 'ACTC?'", "did you mean 'ACTB'")
    refused(tamis("select", write_npy(tmp_path / "a.npy", planted()), "--exclude", "a*"), 2, "the table has no column names")


@pytest.mark.parametrize("command", [["info"], ["compare", "-m", "maxvar", "-k", "2"], ["evaluate"]])
def test_exclude_in_the_other_commands(cells, command):
    words = [*command, cells / "cells.csv", "--id", "barcode", "--exclude", "note,MT-ND1", "--json"]
    if command == ["evaluate"]:
        words += ["--labels", cells / "kinds.txt", "--list", cells / "list.txt"]
    run = tamis(*words)
    assert run.code == 0, str(run)
    assert run.json["data"]["features"] == 4
    if command[0] == "compare":
        found = run.json["methods"][0]
        header = ["barcode", *NAMES]
        assert found["columns"] == [header.index(name) for name in found["names"]] and "MT-ND1" not in found["names"]
    refused(tamis(*words, "--exclude", "*"), (2, 3))


@pytest.mark.python
def test_patterns_in_parquet(cells):
    pd.read_csv(cells / "cells.csv").to_parquet(cells / "cells.parquet")
    found = select(cells / "cells.parquet", "--id", "barcode", "-m", "maxvar", "--exclude", "MT-*,no*")
    assert kept(found) == {"ACTB", "CD3E", "CD19"}


def test_a_table_that_is_left_out_of_keeps_its_numbers(cells):
    """What compare ranks without a column is what select ranks."""
    table = [cells / "cells.csv", "--id", "barcode", "-m", "lapscore", "--exclude", "note,CD19"]
    compared = tamis("compare", *table, "-k", "4", "--json").json["methods"][0]
    assert compared["names"] == select(*table, "-k", "4")["names"]
    assert json.loads(json.dumps(compared["columns"])) == select(*table, "-k", "4")["columns"]
    assert np.all(np.diff(sorted(compared["columns"])) > 0)
