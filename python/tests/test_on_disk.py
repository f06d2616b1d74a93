"""Rows that stay on disk, through Python's door, and zarr."""

import json
import os
import pickle
import subprocess
import sys
import time
import warnings

import anndata
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
import zarr
from conftest import NATIVE
from limits import at_rest
from scipy import sparse

import tamis

ROWS, COLUMNS = 9000, 40
COMMAND = os.path.join(os.path.dirname(sys.executable), "tamis")


def mixture(seed=0):
    random = np.random.default_rng(seed)
    X = random.standard_normal((ROWS, COLUMNS)).astype(np.float32)
    X[:, :6] += 4 * random.standard_normal((5, 6)).astype(np.float32)[random.integers(0, 5, ROWS)]
    return X


X = mixture()
COUNTS = sparse.csr_matrix(np.where(np.abs(X) > 1, np.abs(X), 0))
NAMES = [f"c{j}" for j in range(COLUMNS)]


def save_parquet(path, X=X):
    pq.write_table(pa.table({name: X[:, j] for j, name in enumerate(NAMES)}), path, row_group_size=4000)


def save_ipc(path, X=X):
    table = pa.table({name: X[:, j] for j, name in enumerate(NAMES)})
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=4000)


def save_anndata(path, X=X):
    cells = anndata.AnnData(X, var=pd.DataFrame(index=NAMES))
    cells.obs["kind"] = pd.Categorical(["a", "b", "c"] * (X.shape[0] // 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cells.write_zarr(path) if str(path).endswith(".zarr") else cells.write_h5ad(path, compression="gzip")


def save_zarr(path, X=X, **more):
    file = zarr.create_array(str(path), shape=X.shape, dtype=X.dtype, chunks=(1000, 16), **more)
    file[:] = X


def save_shards(path, X=X):
    path.mkdir()
    for k, first in enumerate(range(0, ROWS, 2500)):
        np.save(path / f"part-{k}.npy", X[first : first + 2500])


KINDS = {
    "npy": ("a.npy", lambda path: np.save(path, X), X),
    "fortran": ("a.npy", lambda path: np.save(path, np.asfortranarray(X)), X),
    "parquet": ("a.parquet", save_parquet, X),
    "arrow": ("a.arrow", save_ipc, X),
    "h5ad": ("a.h5ad", save_anndata, X),
    "sparse h5ad": ("a.h5ad", lambda path: save_anndata(path, COUNTS), COUNTS),
    "zarr": ("a.zarr", save_zarr, X),
    "anndata zarr": ("a.zarr", save_anndata, X),
    "sparse zarr": ("a.zarr", lambda path: save_anndata(path, COUNTS), COUNTS),
    "shards": ("shards", save_shards, X),
}


@pytest.fixture
def small_pieces(monkeypatch):
    """Files go through the sink in many pieces and panels."""
    from tamis._readers.request import Request

    monkeypatch.setattr(Request, "piece_bytes", 1 << 18)


@pytest.mark.parametrize("kind", KINDS)
def test_every_format_gives_the_bits_of_memory(tmp_path, small_pieces, kind):
    name, save, X = KINDS[kind]
    save(tmp_path / name)
    table = tamis.read(tmp_path / name, on_disk=True)
    assert table.on_disk and table.shape == X.shape and "on disk" in repr(table)
    assert table.X.sparse == sparse.issparse(X)
    for method in (tamis.UFCM(n_clusters=5, n_features_to_select=6), tamis.MaxVariance(n_features_to_select=6)):
        there, here = method.fit(table), type(method)(**method.get_params()).fit(X)
        np.testing.assert_array_equal(there.scores_, here.scores_)
        np.testing.assert_array_equal(there.get_support(), here.get_support())
        if hasattr(here, "labels_"):
            np.testing.assert_array_equal(there.labels_, here.labels_)


@pytest.mark.parametrize("kind", ["h5ad", "sparse zarr"])
def test_graph_methods_from_disk(tmp_path, small_pieces, kind):
    name, save, X = KINDS[kind]
    save(tmp_path / name)
    table = tamis.read(tmp_path / name, on_disk=True)
    np.testing.assert_array_equal(tamis.LaplacianScore().fit(table).scores_, tamis.LaplacianScore().fit(X).scores_)


def test_names_and_labels_come_with_the_rows(tmp_path):
    save_anndata(tmp_path / "a.zarr")
    table = tamis.read(tmp_path / "a.zarr", labels="kind", on_disk=True)
    assert table.feature_names == NAMES
    assert table.labels["kind"].tolist() == ["a", "b", "c"] * (ROWS // 3)
    assert tamis.UFCM(n_clusters=5).fit(table).feature_names_in_.tolist() == NAMES


def test_measures_from_disk(tmp_path):
    np.save(tmp_path / "a.npy", X)
    table = tamis.read(tmp_path / "a.npy", on_disk=True)
    assert tamis.metrics.redundancy(table, [0, 1, 2]) == tamis.metrics.redundancy(X, [0, 1, 2])


def test_what_needs_an_array_says_so(tmp_path):
    np.save(tmp_path / "a.npy", X)
    table = tamis.read(tmp_path / "a.npy", on_disk=True)
    for work in (lambda: np.asarray(table), table.to_pandas):
        with pytest.raises(TypeError, match="on disk"):
            work()
    with pytest.raises(ValueError, match="on disk"):
        tamis.MaxVariance(n_features_to_select=3).fit(table).transform(table)


def save_columns(path):
    save_anndata(path, COUNTS.tocsc())


@pytest.mark.parametrize(
    "name, save, options",
    [
        ("a.h5ad", save_columns, {}),
        ("a.h5ad", save_anndata, {"transpose": True}),
        ("a.parquet", save_parquet, {"transpose": True}),
        ("a.npz", lambda path: np.savez(path, X=X), {}),
        ("a.csv", lambda path: np.savetxt(path, X[:50], delimiter=","), {}),
    ],
)
def test_what_cannot_stay_on_disk_is_refused(tmp_path, name, save, options):
    save(tmp_path / name)
    with pytest.raises(ValueError, match="cannot stay on disk"):
        tamis.read(tmp_path / name, on_disk=True, **options)


@pytest.mark.parametrize("name, save", [("a.parquet", save_parquet), ("a.h5ad", save_anndata), ("a.zarr", save_zarr)])
@pytest.mark.parametrize("value", [np.nan, -np.inf])
def test_missing_numbers_are_named_by_row_and_column(tmp_path, small_pieces, name, save, value):
    spoilt = X.copy()
    spoilt[7777, 31] = value
    save(tmp_path / name, spoilt)
    with pytest.raises(ValueError, match=r"row 7777, column 31"):
        tamis.read(tmp_path / name, on_disk=True)


def test_missing_numbers_of_sparse_rows(tmp_path, small_pieces):
    spoilt = COUNTS.copy()
    row = 8123
    spoilt.data[spoilt.indptr[row]] = np.nan
    save_anndata(tmp_path / "a.h5ad", spoilt)
    with pytest.raises(ValueError, match=rf"row {row}, column {spoilt.indices[spoilt.indptr[row]]}\b"):
        tamis.read(tmp_path / "a.h5ad", on_disk=True)


# --- The command ---------------------------------------------------------------------------------------------------


def run(*words):
    return subprocess.run([COMMAND, *map(str, words)], capture_output=True, text=True, timeout=300)


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """240 MB: more than Python and its libraries differ by from run to run."""
    path = tmp_path_factory.mktemp("large") / "a.parquet"
    random = np.random.default_rng(1)
    columns = {f"c{j}": random.standard_normal(600_000) for j in range(50)}
    columns["c7"] += np.repeat([0, 9, 20], 200_000)
    pq.write_table(pa.table(columns), path, row_group_size=100_000, compression=None)
    yield path
    path.unlink()


def test_the_command_goes_out_of_core_by_itself(large):
    whole = json.loads(run("select", large, "-m", "maxvar", "-k", "3", "--json").stdout)
    assert whole["data"]["storage"] == "memory"
    limit = whole["forecast"]["peak_bytes"] - (60 << 20)
    done = run("select", large, "-m", "maxvar", "-k", "3", "--json", "--memory", limit)
    assert done.returncode == 0, done.stderr
    assert "the rows stay on disk" in done.stderr
    there = json.loads(done.stdout)
    assert there["data"]["storage"] == "disk"
    assert there["selected"] == whole["selected"] and there["scores"] == whole["scores"]
    assert there["report"]["peak_bytes"] <= limit


def test_what_does_not_fit_even_so_is_refused(large):
    started = time.monotonic()
    done = run("select", large, "-m", "ufcm", "-c", "4", "--memory", "120MB")
    assert done.returncode == 4
    assert len(done.stderr.strip().splitlines()) == 1 and "--memory" in done.stderr
    assert time.monotonic() - started < at_rest(3)  # most of which is Python's own


def save_feather(table, path):
    feather.write_feather(table, path, compression="lz4")


def save_one_group(table, path):
    pq.write_table(table, path, row_group_size=table.num_rows)


@pytest.mark.parametrize("name, save", [("a.parquet", save_one_group), ("a.feather", save_feather)])
def test_reading_keeps_the_limit(tmp_path, name, save):
    """Arrow's buffers count, too: 240 MB, at limits between what the table takes and what it was read with."""
    random = np.random.default_rng(1)
    save(pa.table({f"c{j}": random.standard_normal(600_000) for j in range(50)}), tmp_path / name)
    storage = set()
    for limit in (330 << 20, 380 << 20, 430 << 20, 480 << 20):
        done = run("select", tmp_path / name, "-m", "maxvar", "-k", "3", "--json", "--quiet", "--memory", limit)
        assert done.returncode == 0, done.stderr
        result = json.loads(done.stdout)
        storage.add(result["data"]["storage"])
        assert result["report"]["peak_bytes"] <= limit, (limit >> 20, result["report"]["peak_bytes"] >> 20)
    assert storage == {"disk", "memory"}
    (tmp_path / name).unlink()


def test_a_small_table_needs_little_beyond_the_libraries(tmp_path):
    pq.write_table(pa.table({f"c{j}": np.random.default_rng(j).standard_normal(2000) for j in range(20)}), tmp_path / "a.parquet")
    least = json.loads(run("select", tmp_path / "a.parquet", "-m", "maxvar", "--json").stdout)["report"]["peak_bytes"]
    done = run("select", tmp_path / "a.parquet", "-m", "maxvar", "--json", "--memory", least + (24 << 20))
    assert done.returncode == 0, done.stderr


# --- zarr ----------------------------------------------------------------------------------------------------------


def refused(path, *words, **options):
    with pytest.raises(ValueError) as caught:
        tamis.read(path, **options)
    message = str(caught.value)
    assert "\n" not in message and str(path) in message
    for word in words:
        assert word in message, message


@pytest.fixture
def group(tmp_path):
    file = zarr.open_group(str(tmp_path / "a.zarr"), mode="w")
    for name, values in {"X": X[:6], "counts": np.arange(12, dtype=np.int16).reshape(6, 2),
                         "y": np.array([0, 1, 0, 1, 0, 1]), "cube": np.zeros((2, 2, 2))}.items():
        file.create_array(name, data=values)
    file.create_group("more")
    return tmp_path / "a.zarr"


def test_arrays_of_a_group(group):
    table = tamis.read(group, labels="y", id_column="y")
    np.testing.assert_array_equal(table.X, X[:6])
    assert table.format == "zarr" and table.labels["y"].tolist() == [0, 1, 0, 1, 0, 1]
    assert table.row_names == ["0", "1", "0", "1", "0", "1"]
    other = tamis.read(group, array="counts", transpose=True)
    assert other.X.dtype == np.int16 and other.shape == (2, 6)


@pytest.mark.parametrize("version", [2, 3])
def test_both_versions_of_zarr(tmp_path, version):
    save_zarr(tmp_path / "a.zarr", zarr_format=version)
    np.testing.assert_array_equal(tamis.read(tmp_path / "a.zarr").X, X)


def test_groups_without_what_is_asked_for(group, tmp_path):
    refused(group, "no array other", "X, counts, cube, y", array="other")
    refused(group, "group", array="more")
    refused(group, "3 dimensions", array="cube")
    refused(group, "no array who", id_column="who")
    refused(group, "2 dimensions", labels="counts")
    (tmp_path / "file.zarr").write_text("text")
    refused(tmp_path / "file.zarr", "not a folder")
    (tmp_path / "empty.zarr").mkdir()
    refused(tmp_path / "empty.zarr", "cannot be read as .zarr")


def test_claims_of_size_are_not_believed(group):
    where = group / "X" / "zarr.json"
    described = json.loads(where.read_text())
    where.write_text(json.dumps({**described, "shape": [1 << 40, 40]}))
    refused(group, "claims")
    described["chunk_grid"]["configuration"]["chunk_shape"] = [1 << 40, 40]
    where.write_text(json.dumps(described))
    refused(group, "claims")


def test_a_name_may_end_as_shells_complete_it(group):
    np.testing.assert_array_equal(tamis.read(f"{group}/").X, X[:6])


class Trap:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


def test_nothing_is_unpickled(tmp_path):
    path, trap = tmp_path / "a.zarr", tmp_path / "trapped"
    file = zarr.open_group(str(path), mode="w", zarr_format=2)
    file.create_array("X", data=X[:6])
    described = json.loads((path / "X" / ".zarray").read_text())
    described.update(shape=[1], chunks=[1], dtype="|O", compressor=None, fill_value=None,
                     filters=[{"id": "pickle", "protocol": 5}])
    (path / "y").mkdir()
    (path / "y" / ".zarray").write_text(json.dumps(described))
    (path / "y" / "0").write_bytes(pickle.dumps([Trap(trap), (1,)]))
    refused(path, labels="y")
    assert not trap.exists()


def test_the_native_command_names_the_package(group):
    if not NATIVE.exists():
        pytest.skip(f"no native command at {NATIVE}")
    done = subprocess.run([NATIVE, "select", group], capture_output=True, text=True, timeout=60)
    assert done.returncode == 3 and "Python package" in done.stderr
