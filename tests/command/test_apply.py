"""tamis apply: the same columns from next month's table."""

import json

import numpy as np
import pandas as pd
import pytest
import scipy.io
import scipy.sparse
from conftest import planted, refused, tamis, write_csv, write_npy

NAMES = ["temperature", "pressure", "flow", "power", "voltage", "current"]


def readings(seed=0, rows=60):
    frame = pd.DataFrame(planted(rows, len(NAMES), seed=seed).round(3), columns=NAMES)
    frame.insert(0, "sample", [f"s{seed}-{i}" for i in range(rows)])
    return frame


@pytest.fixture
def january(tmp_path):
    """A selection of three columns."""
    readings().to_csv(tmp_path / "january.csv", index=False)
    run = tamis("select", tmp_path / "january.csv", "--id", "sample", "-m", "maxvar", "-k", "3", "-o", tmp_path / "january")
    assert run.code == 0, str(run)
    return tmp_path / "january"


def applied(selection, table, out, *more):
    run = tamis("apply", selection, table, "-o", out, *more)
    assert run.code == 0, str(run)
    return run


def test_the_first_table_gives_its_own_reduced_table(january, tmp_path):
    for k, selection in enumerate((january, january / "selection.json")):
        applied(selection, tmp_path / "january.csv", tmp_path / f"again{k}")
        again = (tmp_path / f"again{k}" / "selected.csv").read_bytes()
        assert again == (january / "selected.csv").read_bytes()


def test_columns_are_found_by_name_in_any_order_among_others(january, tmp_path):
    february = readings(1)
    february["city"] = "Lyon, France"  # text that is not needed
    february["date"] = "2026-02-01"
    february[["city", *NAMES[::-1], "date", "sample"]].to_csv(tmp_path / "february.csv", index=False)
    run = applied(january, tmp_path / "february.csv", tmp_path / "february", "--json").out
    found = pd.read_csv(tmp_path / "february" / "selected.csv")
    first = pd.read_csv(january / "selected.csv")
    assert list(found) == list(first)
    pd.testing.assert_frame_equal(found, february[list(first)])
    document = json.loads(run)
    assert document["names"] == list(first)[1:]
    assert document["columns"] == [["city", *NAMES[::-1], "date", "sample"].index(name) for name in document["names"]]


def test_missing_and_renamed_columns_are_named(january, tmp_path):
    names = list(pd.read_csv(january / "selected.csv"))[1:]
    frame = readings(1).rename(columns={names[0]: names[0][:-1], names[1]: names[1] + "_sensor_2"})
    frame.to_csv(tmp_path / "b.csv", index=False)
    run = tamis("apply", january, tmp_path / "b.csv", "-o", tmp_path / "out")
    refused(run, 3, "b.csv: 2 of 3 selected columns are missing", f"'{names[0]}' (did you mean '{names[0][:-1]}'?)",
            f"'{names[1]}' (did you mean '{names[1]}_sensor_2'?)")
    assert not (tmp_path / "out").exists()


def test_a_name_that_two_columns_have(january, tmp_path):
    names = list(pd.read_csv(january / "selected.csv"))[1:]
    frame = readings(1)
    frame.columns = [names[0] if name == next(one for one in NAMES if one not in names) else name for name in frame]
    frame.to_csv(tmp_path / "b.csv", index=False)
    refused(tamis("apply", january, tmp_path / "b.csv", "-o", tmp_path / "out"), 3, f"2 columns are named '{names[0]}'")


def test_a_selected_column_with_text(january, tmp_path):
    frame = readings(1)
    name = list(pd.read_csv(january / "selected.csv"))[1]
    frame[name] = frame[name].astype(object)
    frame.loc[3, name] = "broken"
    frame.to_csv(tmp_path / "b.csv", index=False)
    refused(tamis("apply", january, tmp_path / "b.csv", "-o", tmp_path / "out"), 3, "line 5", name, "broken")


def test_by_position_where_there_are_no_names(tmp_path):
    X = planted(80, 9).astype(np.float32)
    assert tamis("select", write_npy(tmp_path / "a.npy", X), "-m", "maxvar", "-k", "4", "-o", tmp_path / "a").code == 0
    selected = sorted(json.loads((tmp_path / "a" / "selection.json").read_text())["selected"])
    later = planted(50, 9, seed=1)
    applied(tmp_path / "a", write_npy(tmp_path / "b.npy", later), tmp_path / "b")
    np.testing.assert_array_equal(np.load(tmp_path / "b" / "selected.npy"), later[:, selected])
    wider = write_npy(tmp_path / "c.npy", planted(50, 10))
    refused(tamis("apply", tmp_path / "a", wider, "-o", tmp_path / "c"), 3, "c.npy: 10 columns", "needs 9 columns")


def test_names_are_not_guessed_from_positions(january, tmp_path):
    path = write_npy(tmp_path / "b.npy", planted(50, len(NAMES)))
    refused(tamis("apply", january, path, "-o", tmp_path / "out"), 3, "no column names", "temperature")


def test_sparse_tables(tmp_path):
    X = scipy.sparse.random(60, 12, 0.4, random_state=0, format="csr")
    scipy.io.mmwrite(tmp_path / "a.mtx", X)
    assert tamis("select", tmp_path / "a.mtx", "-m", "maxvar", "-k", "4", "-o", tmp_path / "a").code == 0
    applied(tmp_path / "a", tmp_path / "a.mtx", tmp_path / "b")
    first, again = (scipy.io.mmread(tmp_path / name / "selected.mtx").toarray() for name in "ab")
    np.testing.assert_array_equal(first, again)


def test_documents_of_version_0_1_are_read(january, tmp_path):
    document = json.loads((january / "selection.json").read_text())
    del document["schema"], document["data"]["named"], document["data"]["id"]
    (tmp_path / "old.json").write_text(json.dumps(document))
    applied(tmp_path / "old.json", tmp_path / "january.csv", tmp_path / "again", "--id", "sample")
    assert (tmp_path / "again" / "selected.csv").read_bytes() == (january / "selected.csv").read_bytes()


@pytest.mark.parametrize("text, words", [
    ("{", "not a JSON document: expected a key at byte 1"), ("[1, 2]", "not a selection"),
    ('{"tamis": "0.2.0", "methods": []}', "not a selection"),
    ('{"tamis": "9", "schema": 3, "method": "ufcm", "selected": [0]}', "schema 3"),
    ('{"method": "ufcm", "selected": [0], "names": []}', "1 selected columns and 0 names"),
    ('{"method": "ufcm", "selected": [0], "names": ["a"]}', "no member data"),
    ('{"method": "ufcm", "selected": [7], "names": ["a"], "data": {"features": 3}}', "different positions in 0..2"),
])
def test_other_documents_are_refused(january, tmp_path, text, words):
    path = tmp_path / "other.json"
    path.write_text(text)
    refused(tamis("apply", path, tmp_path / "january.csv", "-o", tmp_path / "out"), 3, "other.json", words)


def test_nothing_is_overwritten_but_an_earlier_result_of_apply(january, tmp_path):
    table = tmp_path / "january.csv"
    before = (january / "selected.csv").read_bytes()
    refused(tamis("apply", january, table, "-o", january), 2, "selected.csv was not written by tamis")
    assert (january / "selected.csv").read_bytes() == before
    applied(january, table, tmp_path / "out")
    applied(january, table, tmp_path / "out")
    refused(tamis("select", table, "--id", "sample", "-o", tmp_path / "out"), 2, "was not written by tamis")


def test_what_is_not_given(january, tmp_path):
    refused(tamis("apply"), 2, "SELECTION is missing")
    refused(tamis("apply", january / "selection.json", tmp_path / "january.csv"), 2, "-o is missing")
    refused(tamis("apply", january / "selection.json", "-o", tmp_path / "out"), 2, "DATA is missing")


def test_numbers_that_are_not_finite(tmp_path):
    X = planted(60, 5)
    assert tamis("select", write_npy(tmp_path / "a.npy", X), "-m", "maxvar", "-k", "2", "-o", tmp_path / "a").code == 0
    first, *_ = json.loads((tmp_path / "a" / "selection.json").read_text())["selected"]
    X[3, next(j for j in range(5) if j not in (0, first))] = 1.0
    X[7, first] = np.nan
    refused(tamis("apply", tmp_path / "a", write_npy(tmp_path / "b.npy", X), "-o", tmp_path / "b"), 3, "b.npy", "row 7")


@pytest.mark.python
def test_parquet_with_text(january, tmp_path):
    frame = readings(1)
    frame["city"] = "Lyon"
    frame.to_parquet(tmp_path / "b.parquet")
    applied(january, tmp_path / "b.parquet", tmp_path / "out")
    found = pd.read_csv(tmp_path / "out" / "selected.csv")
    pd.testing.assert_frame_equal(found, frame[list(found)])


def test_a_table_from_a_writer_of_csv(january, tmp_path):
    path = write_csv(tmp_path / "b.csv", readings(1)[NAMES].to_numpy(), ["sample", *NAMES], ids=range(60))
    applied(january, path, tmp_path / "out")
    assert pd.read_csv(tmp_path / "out" / "selected.csv").shape == (60, 4)
