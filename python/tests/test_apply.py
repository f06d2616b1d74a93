"""tamis.apply: the columns of an earlier selection from another table."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

import tamis

NAMES = ["a", "b", "c", "d", "e"]


def numbers(rows=40, seed=0):
    return np.random.default_rng(seed).standard_normal((rows, 5)) * [1, 5, 2, 4, 3]


@pytest.fixture
def frame():
    return pd.DataFrame(numbers(), columns=NAMES)


@pytest.fixture
def selector(frame):
    return tamis.MaxVariance(2).fit(frame)  # b and d


@pytest.fixture
def document():
    return {"tamis": "0.2.0", "schema": 2, "method": "maxvar", "selected": [1, 3], "names": ["b", "d"],
            "data": {"features": 5, "named": True, "id": None}}


def later():
    return pd.DataFrame(numbers(seed=1)[:, ::-1], columns=NAMES[::-1]).assign(city="Lyon")


def test_data_frames_keep_their_kind(selector, document):
    new = later()
    for selection in (selector, document):
        pd.testing.assert_frame_equal(tamis.apply(selection, new), new[["b", "d"]])
        assert tamis.apply(selection, pl.from_pandas(new)).equals(pl.from_pandas(new)[["b", "d"]])
        assert tamis.apply(selection, pa.Table.from_pandas(new)).column_names == ["b", "d"]


def test_anndata(selector):
    anndata = pytest.importorskip("anndata")
    found = tamis.apply(selector, anndata.AnnData(later().drop(columns="city")))
    assert list(found.var_names) == ["b", "d"]


def test_arrays_by_position():
    X, new = numbers(), numbers(seed=1)
    selector = tamis.MaxVariance(2).fit(X)
    np.testing.assert_array_equal(tamis.apply(selector, new), new[:, [1, 3]])
    for kind in (scipy.sparse.csr_array, scipy.sparse.coo_array):
        np.testing.assert_array_equal(tamis.apply(selector, kind(new)).toarray(), new[:, [1, 3]])
    with pytest.raises(ValueError, match="4 columns; .* needs 5 columns"):
        tamis.apply(selector, new[:, :4])


def test_paths(document, tmp_path):
    new = later()
    new.to_csv(tmp_path / "new.csv", index=False)
    new.to_parquet(tmp_path / "new.parquet")
    (tmp_path / "selection.json").write_text(json.dumps(document))
    for selection in (tmp_path, str(tmp_path / "selection.json")):
        for name in ("new.csv", "new.parquet"):
            found = tamis.apply(selection, tmp_path / name)
            assert found.feature_names == ["b", "d"]
            np.testing.assert_array_equal(found.X, new[["b", "d"]])


def test_a_result_that_a_killed_run_had_committed(tmp_path):
    frame = pd.DataFrame(np.random.default_rng(0).standard_normal((60, 6)), columns=list("abcdef"))
    frame.to_csv(tmp_path / "x.csv", index=False)
    for k, out in ((2, "out"), (4, "later")):
        words = ["select", tmp_path / "x.csv", "-m", "maxvar", "-k", k, "-o", tmp_path / out]
        subprocess.run([sys.executable, "-m", "tamis", *map(str, words)], check=True, capture_output=True)
    names = [f".{file.name}.tamis-abcdef" for file in (tmp_path / "later").iterdir()]
    for name in names:
        (tmp_path / "out" / name).write_bytes((tmp_path / "later" / name[1:-13]).read_bytes())
    (tmp_path / "out" / ".tamis-commit").write_text("tamis commit 1\n" + "".join(name + "\n" for name in names))
    assert tamis.apply(tmp_path / "out", frame).shape[1] == 4
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == sorted(name[1:-13] for name in names)


def test_tables(document, tmp_path):
    later().to_csv(tmp_path / "new.csv", index=False)
    table = tamis.read(tmp_path / "new.csv", text_columns=["city"])
    np.testing.assert_array_equal(tamis.apply(document, table).X, later()[["b", "d"]])
    np.save(tmp_path / "x.npy", numbers())
    on_disk = tamis.read(tmp_path / "x.npy", on_disk=True)
    with pytest.raises(TypeError, match="on disk"):
        tamis.apply(document | {"data": {"features": 5, "named": False, "id": None}}, on_disk)


def test_what_is_missing_or_twice_there(document):
    with pytest.raises(ValueError, match=r"1 of 2 selected columns is missing: 'd'"):
        tamis.apply(document, later()[["a", "b"]])
    twice = later()
    twice.columns = ["b" if name == "a" else name for name in twice]
    with pytest.raises(ValueError, match="2 columns are named 'b'"):
        tamis.apply(document, twice)
    with pytest.raises(ValueError, match="no column names"):
        tamis.apply(document, numbers())
    with pytest.raises(ValueError, match="not a selection"):
        tamis.apply({"tamis": "0.2.0"}, later())
    with pytest.raises(FileNotFoundError):
        tamis.apply("nowhere/selection.json", later())


def test_all_doors_take_the_same_columns(frame, tmp_path):
    frame.to_csv(tmp_path / "a.csv", index=False)
    words = ["select", tmp_path / "a.csv", "-m", "maxvar", "-k", "2", "-o", tmp_path / "out"]
    subprocess.run([sys.executable, "-m", "tamis", *map(str, words)], check=True, capture_output=True)
    found = tamis.apply(tmp_path / "out", later())
    assert list(found) == list(tamis.apply(tamis.MaxVariance(2).fit(frame), later())) == ["b", "d"]
    assert list(pd.read_csv(tmp_path / "out" / "selected.csv")) == list(found)
