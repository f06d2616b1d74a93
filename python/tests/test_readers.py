"""The readers of Parquet, Arrow, AnnData and MATLAB files."""

import importlib
import json
import os
import subprocess
import sys

import numpy as np
import pytest
import scipy.io
import scipy.sparse

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
h5py = pytest.importorskip("h5py")
anndata = pytest.importorskip("anndata")
pd = pytest.importorskip("pandas")

from tamis import _readers as readers

read = readers.read_foreign


def refused(path, *words, kind=readers.ReadError, **options):
    """The call ends with one line that names the file and has the words."""
    with pytest.raises(kind) as caught:
        read(path, **options)
    message = str(caught.value)
    assert len(message.splitlines()) == 1
    for word in (os.path.basename(str(path)), *words):
        assert word in message, message
    return caught.value


# --- Tables -----------------------------------------------------------------------------------------------------------


def write_parquet(table, path):
    pq.write_table(table, path, row_group_size=2)


def write_ipc(table, path):
    with pa.ipc.new_file(path, table.schema) as out:
        out.write_table(table, max_chunksize=2)


def write_stream(table, path):
    with pa.ipc.new_stream(path, table.schema) as out:
        out.write_table(table, max_chunksize=2)


def write_compressed(table, path):
    importlib.import_module("pyarrow.feather").write_feather(table, path, compression="zstd")


TABLES = {
    "t.parquet": (write_parquet, "parquet"),
    "t.pq": (write_parquet, "parquet"),
    "t.arrow": (write_ipc, "arrow"),
    "t.ipc": (write_stream, "arrow"),
    "t.feather": (write_compressed, "feather"),
}


@pytest.fixture(params=list(TABLES))
def save(request, tmp_path):
    """Writes a table in one of the formats; gives the path."""
    write, format_name = TABLES[request.param]

    def run(table):
        path = tmp_path / request.param
        write(table if isinstance(table, pa.Table) else pa.table(table), str(path))
        return path

    run.format = format_name
    return run


def test_a_table_arrives(save):
    path = save({"a": [1.0, 2.5, -3.0], "b": [4.0, 5.0, 6.0]})
    parts = read(path)
    np.testing.assert_array_equal(parts.X, [[1, 4], [2.5, 5], [-3, 6]])
    assert parts.X.dtype == np.float64
    assert (parts.names, parts.row_ids, parts.labels) == (["a", "b"], None, {})
    assert (parts.label_choices, parts.excluded_columns, parts.format) == (["a", "b"], [], save.format)


@pytest.mark.parametrize(
    "types, wanted",
    [
        (["float32", "float32"], "float32"),
        (["float16", "float16"], "float32"),
        (["float16", "float32"], "float32"),
        (["float32", "float64"], "float64"),
        (["int16", "int16"], "int16"),
        (["uint64", "uint64"], "uint64"),
        (["int8", "uint8"], "float64"),
        (["int32", "float32"], "float64"),
        (["bool", "bool"], "uint8"),
        (["bool", "uint8"], "uint8"),
    ],
)
def test_the_common_type(save, types, wanted):
    values = [np.array([0, 1, 1, 0, 1], dtype) for dtype in types]
    parts = read(save({f"c{k}": v for k, v in enumerate(values)}))
    assert parts.X.dtype == wanted
    np.testing.assert_array_equal(parts.X, np.stack(values, axis=1).astype(wanted))


def test_whole_numbers_keep_every_digit(save):
    big = [2**63 - 1, -(2**63), 2**53 + 1]
    assert read(save({"a": pa.array(big, pa.int64())})).X[:, 0].tolist() == big


def test_decimals_and_dictionaries_of_numbers(save):
    decimal = pa.array(["1.25", "-3.5", "0.1"]).cast(pa.decimal128(6, 3))
    coded = pa.array([7.5, 7.5, 2.0]).dictionary_encode()
    parts = read(save({"d": decimal, "c": coded}))
    np.testing.assert_array_equal(parts.X, [[1.25, 7.5], [-3.5, 7.5], [0.1, 2.0]])


def test_identifiers_and_labels_leave_the_numbers(save):
    path = save(
        {
            "cell": ["p", "q", "r"],
            "x": [1, 2, 3],
            "kind": pa.array([" b", "a", None]).dictionary_encode(),
            "y": [4, 5, 6],
            "day": [3.0, float("nan"), 1.5],
            "good": [True, False, None],
            "score": pa.array([0.1, 2, 3], pa.float32()),
        }
    )
    parts = read(path, id_column="cell", labels=["kind", "day", "good", "score", "no such"])
    np.testing.assert_array_equal(parts.X, [[1, 4], [2, 5], [3, 6]])
    assert parts.names == ["x", "y"]
    assert parts.row_ids == ["p", "q", "r"]
    assert parts.labels == {
        "kind": ["b", "a", ""],
        "day": ["3", "", "1.5"],
        "good": ["1", "0", ""],
        "score": ["0.1", "2", "3"],
    }
    assert parts.excluded_columns == ["cell", "kind", "day", "good", "score"]
    assert parts.label_choices == ["cell", "x", "kind", "y", "day", "good", "score"]


def test_columns_by_position(save):
    path = save({"cell": ["p", "q"], "x": [1, 2], "kind": ["a", "b"]})
    parts = read(path, id_column="0", labels=["2"])
    assert (parts.names, parts.row_ids, parts.labels) == (["x"], ["p", "q"], {"2": ["a", "b"]})
    # A name comes before a position.
    assert read(save({"1": ["p", "q"], "x": [1, 2]}), id_column="1").row_ids == ["p", "q"]


def test_text_columns_are_left_out_where_they_hold_no_numbers(save):
    path = save({"x": [1, 2], "note": ["u", "v"], "n": [3, 4], "holes": [1.0, None], "nan": [np.nan, 1.0]})
    parts = read(path, text_columns=["note", "n", "holes", "nan", "absent"])
    assert (parts.names, parts.excluded_columns) == (["x", "n"], ["note", "holes", "nan"])
    np.testing.assert_array_equal(parts.X, [[1, 3], [2, 4]])
    assert parts.X.dtype == np.int64


def test_text_is_refused_with_its_place(save):
    refused(save({"x": [1, 2, 3], "no\nte": [None, None, "hello"]}), "row 2", 'column no\\nte', '"hello"', "--exclude")


@pytest.mark.parametrize("value, word", [(None, "null"), (float("nan"), "NaN"), (float("-inf"), "infinite")])
def test_missing_numbers_are_refused_with_row_and_column(save, value, word):
    path = save({"a": [1.0, 2, 3, 4, 5], "b": [1.0, 2, 3, 4, value], "c": [1.0, 2, 3, value, 5]})
    refused(path, "row 3, column 2 (c)", word)


def test_a_null_among_whole_numbers(save):
    refused(save({"a": pa.array([1, 2, None], pa.int32())}), "row 2, column 0 (a): null")
    refused(save({"a": [1, 2], "b": pa.nulls(2)}), "row 0, column 1 (b): null")


@pytest.mark.parametrize(
    "column, kind",
    [
        (pa.array([0, 1], pa.timestamp("ms")), "timestamp"),
        (pa.array([0, 1], pa.date32()), "date32"),
        (pa.array([[1.0], [2.0, 3.0]]), "list"),
        (pa.array([{"u": 1}, {"u": 2}]), "struct"),
        (pa.array([b"a", b"b"]), "binary"),
    ],
)
def test_other_types_are_refused_by_name(save, column, kind):
    path = save({"x": [1, 2], "when": column})
    refused(path, "column when", kind)
    assert read(path, text_columns=["when"]).names == ["x"]


def test_transposition(save):
    path = save({"gene": ["g", "h", "i"], "s1": [1, 2, 3], "s2": [4, 5, 6]})
    parts = read(path, id_column="gene", transpose=True, labels=["s1"])
    np.testing.assert_array_equal(parts.X, [[1, 2, 3], [4, 5, 6]])
    assert (parts.names, parts.row_ids) == (["g", "h", "i"], ["s1", "s2"])
    assert (parts.labels, parts.label_choices) == ({}, [])


def test_wrong_names_list_what_there_is(save):
    path = save({"x": [1, 2], "y": [1, 2]})
    refused(path, "no column z", "x, y", kind=readers.WrongName, id_column="z")
    twice = save(pa.table([pa.array([1, 2]), pa.array([3, 4])], names=["x", "x"]))
    refused(twice, "2 columns are named x", kind=readers.WrongName, labels=["x"])
    np.testing.assert_array_equal(read(twice).X, [[1, 3], [2, 4]])


def test_empty_tables(save):
    refused(save({"x": pa.array([], pa.float64())}), "0 rows")
    refused(save({"x": [1.0]}), "1 row,")
    refused(save({"x": ["a", "b"]}), "0 columns", labels=["x"])
    refused(save(pa.table({})), "0 rows")


def test_the_memory_limit_comes_first(save):
    path = save({"x": np.zeros(1000)})
    assert isinstance(refused(path, "8000 bytes", kind=readers.TooLarge, memory_limit=7999), MemoryError)
    assert read(path, memory_limit=8000).X.shape == (1000, 1)


def test_names_with_points_are_names(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5, 40))
    table = pa.table({f"a.{j}" if j % 2 else "a" + "." * j: X[:, j] for j in range(40)})
    for name, write in (("t.parquet", write_parquet), ("t.arrow", write_ipc)):
        write(table, str(tmp_path / name))
        parts = read(tmp_path / name, labels=["a.3"])
        np.testing.assert_array_equal(parts.X, np.delete(X, 3, axis=1))


def test_groups_of_columns_give_the_same(tmp_path, monkeypatch):
    # Pieces of millions of rows are read one column at a time: here of a file that claims to have such.
    X = np.arange(60.0).reshape(6, 10)
    path = str(tmp_path / "t.arrow")
    write_ipc(pa.table({f"c{j}": X[:, j] for j in range(10)}), path)
    whole = readers.arrow._ipc_file

    def claims_long_pieces(*arguments):
        file = whole(*arguments)
        file.piece_rows = 8 << 20
        return file

    monkeypatch.setattr(readers.arrow, "_ipc_file", claims_long_pieces)
    np.testing.assert_array_equal(read(path).X, X)


def test_the_index_of_pandas_names_the_rows(tmp_path):
    path = tmp_path / "t.parquet"
    frame = pd.DataFrame({"x": [1.0, 2.0], "y": [3.0, 4.0]}, index=[10, 20])
    frame.to_parquet(path)
    parts = read(path)
    assert (parts.names, parts.row_ids) == (["x", "y"], ["10", "20"])
    frame.index = pd.Index(["p", "q"], name="cell")
    frame.to_parquet(path)
    assert read(path).row_ids == ["p", "q"]
    frame.reset_index(drop=True).to_parquet(path)
    assert read(path).row_ids is None
    frame.set_index("x", append=True).to_parquet(path)
    assert (read(path).names, read(path).row_ids) == (["y"], None)
    assert read(path, id_column="x").row_ids == ["1", "2"]


# --- AnnData ----------------------------------------------------------------------------------------------------------

COUNTS = np.array([[0, 1.5, 0, 2], [3, 0, 0, 0], [0, 0, 0, 4]])


def write_anndata(path, X=COUNTS, **more):
    obs = pd.DataFrame(
        {
            "kind": pd.Categorical(["b", None, "a"]),
            "batch": [1, 2, 1],
            "note": ["u", "v", "w"],
            "doublet": [True, False, True],
            "whole": pd.array([1, None, 3], dtype="Int64"),
        },
        index=["c0", "c1", "c2"],
    )
    var = pd.DataFrame({"chromosome": ["1", "2", "1", "X"]}, index=["g0", "g1", "g2", "g3"])
    anndata.AnnData(X, obs=obs, var=var, **more).write_h5ad(path)
    return path


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32"])
@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_matrix, scipy.sparse.csc_matrix, scipy.sparse.csr_array])
@pytest.mark.parametrize("transpose", [False, True])
def test_anndata_arrives(tmp_path, dtype, kind, transpose):
    wanted = COUNTS.astype(dtype)
    parts = read(write_anndata(tmp_path / "a.h5ad", kind(wanted)), transpose=transpose)
    sparse = kind is not np.asarray
    X = parts.X.toarray() if sparse else parts.X
    np.testing.assert_array_equal(X, wanted.T if transpose else wanted)
    names, ids = [f"g{j}" for j in range(4)], [f"c{i}" for i in range(3)]
    assert (parts.names, parts.row_ids) == ((ids, names) if transpose else (names, ids))
    assert parts.format == "h5ad"
    assert parts.X.dtype == ("float64" if sparse and dtype == "int32" else dtype)
    if sparse:
        assert parts.X.format == "csr" and parts.X.indices.dtype == np.int32
        for i in range(parts.X.shape[0]):
            assert (np.diff(parts.X.indices[parts.X.indptr[i] : parts.X.indptr[i + 1]]) > 0).all()


def test_anndata_labels_and_identifiers(tmp_path):
    path = write_anndata(tmp_path / "a.h5ad")
    parts = read(path, id_column="note", labels=["kind", "batch", "doublet", "whole", "file.txt"])
    assert parts.row_ids == ["u", "v", "w"]
    assert parts.labels == {
        "kind": ["b", "", "a"],
        "batch": ["1", "2", "1"],
        "doublet": ["1", "0", "1"],
        "whole": ["1", "", "3"],
    }
    assert set(parts.label_choices) == {"kind", "batch", "note", "doublet", "whole"}
    turned = read(path, transpose=True, labels=["chromosome", "kind"])
    assert turned.labels == {"chromosome": ["1", "2", "1", "X"]}
    refused(path, "no column z", "batch", kind=readers.WrongName, id_column="z")


def test_anndata_layers(tmp_path):
    path = write_anndata(tmp_path / "a.h5ad", layers={"raw": COUNTS * 2, "thin": scipy.sparse.csr_matrix(COUNTS * 3)})
    np.testing.assert_array_equal(read(path, array="raw").X, COUNTS * 2)
    np.testing.assert_array_equal(read(path, array="layers/thin").X.toarray(), COUNTS * 3)
    refused(path, "no array raws", "X, layers/raw, layers/thin", kind=readers.WrongName, array="raws")


def test_anndata_without_x(tmp_path):
    path = write_anndata(tmp_path / "a.h5ad", None)
    refused(path, "no array X", kind=readers.WrongName)


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_matrix, scipy.sparse.csc_matrix])
@pytest.mark.parametrize("value, word", [(np.nan, "NaN"), (np.inf, "infinite")])
def test_anndata_missing_numbers(tmp_path, kind, value, word):
    X = COUNTS.copy()
    X[1, 2] = X[2, 0] = value
    refused(write_anndata(tmp_path / "a.h5ad", kind(X)), "row 1, column 2", word)
    refused(tmp_path / "a.h5ad", "row 1, column 2", word, transpose=True)


def test_sparse_rows_are_put_in_order_and_repeated_entries_summed(tmp_path):
    path = write_anndata(tmp_path / "a.h5ad", scipy.sparse.csr_matrix(COUNTS))
    with h5py.File(path, "r+") as file:
        unordered = {"data": [2.0, 1.5, 3.0, 1.0, 3.0], "indices": [3, 1, 0, 3, 3], "indptr": [0, 2, 3, 5]}
        for name, values in unordered.items():
            del file["X"][name]
            file["X"][name] = np.array(values)
    parts = read(path)
    np.testing.assert_array_equal(parts.X.toarray(), COUNTS)
    assert parts.X.indices.tolist() == [1, 3, 0, 3]


@pytest.mark.parametrize(
    "part, values",
    [
        ("indices", [0, 1, 2, 4]),
        ("indices", [0, 1, 2, -1]),
        ("indices", [0, 1, 2]),
        ("indices", [0.0, 1.0, 2.0, 3.0]),
        ("indptr", [0, 3, 2, 4]),
        ("indptr", [0, 2, 3, 5]),
        ("indptr", [1, 2, 3, 4]),
        ("indptr", [0, 2, 4]),
        ("indptr", [0, 2**62, 3, 4]),
        ("data", [[1.0, 2.0], [3.0, 4.0]]),
        ("data", [b"a", b"b", b"c", b"d"]),
        ("data", [1j, 1, 1, 1]),
    ],
)
@pytest.mark.parametrize("kind", [scipy.sparse.csr_matrix, scipy.sparse.csc_matrix])
def test_sparse_structure_is_checked_before_it_is_followed(tmp_path, part, values, kind):
    matrix = kind(np.array([[0, 1.5, 0], [3, 0, 2], [0, 0, 4]]))
    path = tmp_path / "a.h5ad"
    anndata.AnnData(matrix).write_h5ad(path)
    with h5py.File(path, "r+") as file:
        del file["X"][part]
        file["X"][part] = np.array(values)
    refused(path)


@pytest.mark.parametrize("shape", [[3], [-3, 3], [3.0, 3.0], [2**62, 3], [3, 2**40], [3, 2**25], [4, 3], [0, 0]])
def test_sparse_shapes_are_checked(tmp_path, shape):
    path = tmp_path / "a.h5ad"
    anndata.AnnData(scipy.sparse.csr_matrix(np.eye(3))).write_h5ad(path)
    with h5py.File(path, "r+") as file:
        file["X"].attrs["shape"] = np.array(shape)
    refused(path)


def test_claims_of_size_are_not_believed(tmp_path):
    path = write_anndata(tmp_path / "a.h5ad")
    with h5py.File(path, "r+") as file:
        del file["X"]
        file.create_dataset("X", (2**40, 4), "f8", chunks=(64, 4))
    refused(path, "claims")
    refused(path, "claims", memory_limit=2**60)


def test_nothing_is_read_from_other_files(tmp_path):
    other = write_anndata(tmp_path / "other.h5ad")
    (tmp_path / "secret").write_bytes(bytes(96))
    for number in range(3):
        path = write_anndata(tmp_path / f"a{number}.h5ad")
        with h5py.File(path, "r+") as file:
            del file["X"]
            if number == 0:
                file["X"] = h5py.ExternalLink(str(other), "X")
            elif number == 1:
                file.create_dataset("X", (3, 4), "f8", external=[(str(tmp_path / "secret"), 0, 96)])
            else:
                layout = h5py.VirtualLayout((3, 4), "f8")
                layout[:] = h5py.VirtualSource(str(other), "X", (3, 4))
                file.create_virtual_dataset("X", layout)
        refused(path, "other file")


def test_counts_that_disagree(tmp_path):
    path = write_anndata(tmp_path / "a.h5ad")
    with h5py.File(path, "r+") as file:
        del file["X"]
        file["X"] = np.ones((3, 5))
    refused(path, "4 names of columns for 5")


@pytest.mark.parametrize("values", [np.ones(3), np.ones((3, 4, 1)), np.ones((3, 4), "S3"), np.ones((3, 4)) * 1j])
def test_anndata_needs_a_matrix_of_numbers(tmp_path, values):
    path = write_anndata(tmp_path / "a.h5ad")
    with h5py.File(path, "r+") as file:
        del file["X"]
        file["X"] = values
    refused(path, "array X")


def test_h5_of_10x(tmp_path):
    path = tmp_path / "a.h5"
    matrix = scipy.sparse.csc_matrix(COUNTS.T)  # genes x cells
    with h5py.File(path, "w") as file:
        group = file.create_group("matrix")
        for name in ("data", "indices", "indptr"):
            group[name] = getattr(matrix, name)
        group["shape"] = np.array(matrix.shape, np.int32)
        group["barcodes"] = np.array([b"c0", b"c1", b"c2"])
        group.create_group("features")["name"] = np.array([b"g0", b"g1", b"g2", b"g3"])
    parts = read(path)
    np.testing.assert_array_equal(parts.X.toarray(), COUNTS)
    assert (parts.names, parts.row_ids, parts.format) == (["g0", "g1", "g2", "g3"], ["c0", "c1", "c2"], "10x")
    turned = read(path, transpose=True)
    np.testing.assert_array_equal(turned.X.toarray(), COUNTS.T)
    assert turned.row_ids == parts.names


def test_other_hdf5_files(tmp_path):
    for name in ("a.h5", "a.h5ad"):
        with h5py.File(tmp_path / name, "w") as file:
            file["thing"] = np.ones((3, 3))
        refused(tmp_path / name, "thing")
    write_anndata(tmp_path / "b.h5ad").rename(tmp_path / "b.h5")
    assert read(tmp_path / "b.h5").format == "h5ad"


# --- MATLAB -----------------------------------------------------------------------------------------------------------


def put(file, name, value):
    """One variable as MATLAB's -v7.3 lays it out: transposed, with its class as an attribute."""
    if isinstance(value, scipy.sparse.spmatrix):
        value = value.tocsc()
        group = file.create_group(name)
        group.attrs["MATLAB_class"] = np.bytes_("double")
        group.attrs["MATLAB_sparse"] = np.uint64(value.shape[0])
        group["jc"] = value.indptr.astype(np.uint64)
        if value.nnz:
            group["ir"], group["data"] = value.indices.astype(np.uint64), value.data
        return
    kind = "double"
    if isinstance(value, list):  # a cell array of words
        cells = file.require_group("#refs#")
        references = []
        for k, word in enumerate(value):
            cell = cells.create_dataset(f"{name}{k}", data=np.array([[ord(c)] for c in word], np.uint16))
            cell.attrs["MATLAB_class"] = np.bytes_("char")
            references.append([cell.ref])
        data, kind = np.array(references, h5py.ref_dtype).T, "cell"
    elif value.dtype.kind == "U":  # a character matrix
        data, kind = np.array([[ord(c) for c in word] for word in value], np.uint16).T, "char"
    elif value.dtype.kind == "c":
        data = np.empty(value.T.shape, [("real", "f8"), ("imag", "f8")])
        data["real"], data["imag"] = value.T.real, value.T.imag
    else:
        kind = {"float64": "double", "float32": "single", "bool": "logical"}.get(value.dtype.name, value.dtype.name)
        data = (value.astype(np.uint8) if kind == "logical" else value).T
    file[name] = data
    file[name].attrs["MATLAB_class"] = np.bytes_(kind)


def write_mat73(path, variables):
    with h5py.File(path, "w", userblock_size=512) as file:
        for name, value in variables.items():
            put(file, name, value)
    with open(path, "r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file".ljust(124) + b"\0\2IM")


def write_mat5(path, variables):
    def cell(words):
        out = np.empty((len(words), 1), object)
        out[:, 0] = words
        return out

    plain = {name: cell(value) if isinstance(value, list) else value for name, value in variables.items()}
    scipy.io.savemat(path, plain, do_compression=True)


@pytest.fixture(params=[write_mat5, write_mat73])
def mat(request, tmp_path):
    def save(**variables):
        path = tmp_path / "a.mat"
        request.param(path, variables)
        return path

    return save


@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "int64", "uint16", "bool"])
@pytest.mark.parametrize("transpose", [False, True])
def test_matlab_arrives(mat, dtype, transpose):
    X = np.array([[1, 0, 2], [0, 4, 5]]).astype(dtype)
    parts = read(mat(X=X), transpose=transpose)
    np.testing.assert_array_equal(parts.X, X.T if transpose else X)
    assert parts.X.dtype == ("uint8" if dtype == "bool" else dtype)
    assert (parts.names, parts.row_ids, parts.format) == (None, None, "mat")


@pytest.mark.parametrize("transpose", [False, True])
def test_matlab_sparse(mat, transpose):
    parts = read(mat(X=scipy.sparse.csc_matrix(COUNTS)), transpose=transpose)
    np.testing.assert_array_equal(parts.X.toarray(), COUNTS.T if transpose else COUNTS)
    assert parts.X.format == "csr" and parts.X.indices.dtype == np.int32
    assert read(mat(X=scipy.sparse.csc_matrix((3, 4)))).X.nnz == 0


def test_matlab_labels(mat):
    path = mat(
        X=COUNTS,
        y=np.array([[3.0], [np.nan], [1.5]]),
        row=np.array([[1, 2, 1]]),
        words=["beta", "", "a"],
        letters=np.array(["ab ", "c  ", "ab "]),
        short=np.array([[1.0], [2.0]]),
        table=np.ones((3, 2)),
    )
    words = ["y", "row", "words", "letters"]
    parts = read(path, labels=[*words, "some.csv"], id_column="letters")
    assert parts.labels == {
        "y": ["3", "", "1.5"],
        "row": ["1", "2", "1"],
        "words": ["beta", "", "a"],
        "letters": ["ab", "c", "ab"],
    }
    assert parts.row_ids == ["ab", "c", "ab"]
    assert set(parts.label_choices) == {"X", "y", "row", "words", "letters", "short", "table"}
    refused(path, "2 labels short for 3", labels=["short"])
    refused(path, "table is not a vector", labels=["table"])
    refused(path, "no variable z", "letters", kind=readers.WrongName, id_column="z")


def test_matlab_chooses_the_only_table(mat):
    path = mat(fea=COUNTS, gnd=np.array([[1.0], [2.0], [1.0]]), words=["a", "b", "c"], one=np.array([[5.0]]))
    np.testing.assert_array_equal(read(path).X, COUNTS)
    np.testing.assert_array_equal(read(path, array="fea", labels=["gnd"]).X, COUNTS)
    assert read(path, array="gnd").X.shape == (3, 1)
    refused(path, "no variable FEA", "fea", "gnd", kind=readers.WrongName, array="FEA")
    refused(mat(a=COUNTS, b=COUNTS), "no variable X", "a, b", kind=readers.WrongName)


@pytest.mark.parametrize("value", [["a", "b"], COUNTS * 1j, np.array(["ab", "cd"])])
def test_matlab_needs_real_numbers(mat, value):
    refused(mat(X=value), "variable X")


def test_matlab_structs_and_stacks(mat, tmp_path):
    refused(mat(X=np.ones((3, 4, 2))), "3 dimensions")
    scipy.io.savemat(tmp_path / "s.mat", {"X": {"field": 1}})
    refused(tmp_path / "s.mat", "class struct")
    scipy.io.savemat(tmp_path / "e.mat", {})
    refused(tmp_path / "e.mat", "no variables")
    refused(mat(X=np.ones((1, 3))), "1 row,")
    refused(mat(X=np.ones((0, 3))), "need at least")


def test_matlab_missing_numbers(mat):
    X = COUNTS.copy()
    X[2, 1] = np.nan
    refused(mat(X=X), "row 2, column 1: NaN")
    refused(mat(X=scipy.sparse.csc_matrix(X)), "row 2, column 1: NaN")


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize(
    "X", [np.ones((1000, 100)), scipy.sparse.csc_matrix(np.ones((200, 100))), np.ones((1000, 800), np.uint8)]
)
def test_matlab_asks_for_memory_before_it_reads(tmp_path, X, compressed):
    scipy.io.savemat(tmp_path / "a.mat", {"X": X}, do_compression=compressed)
    refused(tmp_path / "a.mat", "bytes of memory, the limit is 500000", kind=readers.TooLarge, memory_limit=500_000)
    assert read(tmp_path / "a.mat", memory_limit=2_000_000).X.shape == X.shape


@pytest.mark.parametrize("words", [np.array(["a" * 1000] * 3), np.full((3, 1), "b" * 1000, object)])
def test_matlab_words_ask_for_memory(tmp_path, words):
    scipy.io.savemat(tmp_path / "a.mat", {"X": COUNTS, "y": words}, do_compression=True)
    refused(tmp_path / "a.mat", "bytes of memory", kind=readers.TooLarge, labels=["y"], memory_limit=30_000)
    assert len(read(tmp_path / "a.mat", labels=["y"]).labels["y"]) == len(COUNTS)


def test_matlab_reads_only_what_is_asked_for(mat):
    path = mat(big=np.ones((1000, 1000)), X=COUNTS, y=np.ones((1000, 1)), z=np.ones((3, 3)))
    np.testing.assert_array_equal(read(path, memory_limit=10_000).X, COUNTS)
    refused(path, "1000 labels y for 3", labels=["y"], memory_limit=7_000)
    refused(path, "z is not a vector", labels=["z"])


def test_matlab_checksums_are_compared(tmp_path):
    scipy.io.savemat(tmp_path / "a.mat", {"X": COUNTS}, do_compression=True)
    bad = bytearray((tmp_path / "a.mat").read_bytes())
    bad[-1] ^= 1
    (tmp_path / "a.mat").write_bytes(bad)
    refused(tmp_path / "a.mat", "incorrect data check")


def test_matlab_of_version_4(tmp_path):
    scipy.io.savemat(tmp_path / "a.mat", {"X": COUNTS, "S": scipy.sparse.coo_matrix(COUNTS)}, format="4")
    np.testing.assert_array_equal(read(tmp_path / "a.mat").X, COUNTS)
    np.testing.assert_array_equal(read(tmp_path / "a.mat", array="S").X.toarray(), COUNTS)


def test_matlab_sparse_structure_is_checked(tmp_path):
    for part, values in {"ir": [0, 9], "jc": [0, 2, 1, 2], "data": [1.0]}.items():
        write_mat73(tmp_path / "a.mat", {"X": scipy.sparse.csc_matrix(np.array([[1.0, 2, 0], [0, 0, 0]]))})
        with h5py.File(tmp_path / "a.mat", "r+") as file:
            del file["X"][part]
            file["X"][part] = np.array(values)
        refused(tmp_path / "a.mat")


# --- Any format -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def samples(tmp_path_factory):
    """One small file of each kind."""
    folder = tmp_path_factory.mktemp("samples")
    rng = np.random.default_rng(1)
    table = pa.table({"id": ["a", "b", "c", "d"], **{f"x{j}": rng.normal(size=4) for j in range(3)}})
    coded = table.append_column("k", pa.array(["u", "v", "u", "v"]).dictionary_encode())
    for name, (write, _) in TABLES.items():
        write(coded, str(folder / name))
    for name, kind in {"dense": np.asarray, "csr": scipy.sparse.csr_matrix}.items():
        write_anndata(folder / f"{name}.h5ad", kind(COUNTS))
    variables = {"X": COUNTS, "k": ["u", "v", "u"], "S": scipy.sparse.csc_matrix(COUNTS)}
    write_mat5(folder / "v5.mat", variables)
    scipy.io.savemat(folder / "plain.mat", {"X": COUNTS, "S": variables["S"]})
    write_mat73(folder / "v73.mat", variables)
    return {
        path.name: (path, {"labels": ["k", "kind"], **({"id_column": "id"} if path.name.startswith("t.") else {})})
        for path in sorted(folder.iterdir())
    }


# Bytes within an HDF5 file are not changed at random: the HDF5 library itself crashes on a few of such files, and
# nothing in this process can keep it from doing so. What lies above it is tested file by file, further up.
SPOILT = [(name, how) for name in [*TABLES, "v5.mat", "plain.mat"] for how in ("cut", "flip", "large")]
SPOILT += [(name, "cut") for name in ("dense.h5ad", "csr.h5ad", "v73.mat")]

# In a process of its own: a crash of a library must be seen as one. Reads the file spoilt in many ways; prints the
# exceptions that are none of those promised.
SPOIL = """
import json, pathlib, sys, time
from tamis import _readers as readers
source, options, how = pathlib.Path(sys.argv[1]), json.loads(sys.argv[2]), sys.argv[3]
good = source.read_bytes()
target = pathlib.Path(sys.argv[4]) / ("spoilt" + source.suffix)
outcomes = {"read": 0, "refused": 0}
positions = sorted({round(k * (len(good) - 1) / 400) for k in range(401)})
for at in positions:
    spoilt = bytearray(good)
    if how == "cut":
        spoilt = spoilt[:at]
    elif how == "flip":
        spoilt[at] ^= 0xFF
    else:
        spoilt[at:at + 4] = b"\\xff\\xff\\xff\\x7f"[: len(spoilt) - at]
    target.write_bytes(spoilt)
    begun = time.monotonic()
    try:
        for array in ["X", "S"] if source.suffix == ".mat" else ["X"]:
            readers.read_foreign(target, array=array, memory_limit=1 << 28, **options)
        outcomes["read"] += 1
    except (ValueError, OSError) as error:
        assert len(str(error).splitlines()) == 1, (at, str(error))
        outcomes["refused"] += 1
    assert time.monotonic() - begun < 5, at
print(json.dumps(outcomes))
"""


@pytest.mark.parametrize("name, how", SPOILT)
def test_spoilt_files_are_refused_in_one_line(samples, tmp_path, name, how):
    path, options = samples[name]
    read(path, **options)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SPOIL, str(path), json.dumps(options), how, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    outcomes = json.loads(done.stdout.splitlines()[-1])
    assert outcomes["refused"] > 0


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow", "a.feather", "a.h5ad", "a.h5", "a.mat"])
@pytest.mark.parametrize("content", [b"", b"PAR1", b"ARROW1", b"FEA1", b"\x89HDF\r\n\x1a\n", b"a\n" * 99, bytes(4096)])
def test_what_is_no_file_of_the_format(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    refused(path)


@pytest.mark.parametrize("name", ["a.parquet", "a.feather", "a.h5ad", "a.mat"])
def test_a_file_that_cannot_be_opened(tmp_path, name):
    with pytest.raises(FileNotFoundError):
        read(tmp_path / name)
    (tmp_path / name).mkdir()
    with pytest.raises(IsADirectoryError):
        read(tmp_path / name)


def test_unknown_endings(tmp_path):
    refused(tmp_path / "a.xls", ".parquet")
    refused(tmp_path / "a.parquet.gz", ".parquet")


def test_the_path_is_made_printable(tmp_path):
    path = tmp_path / "a\n\x1b[2J.parquet"
    path.write_bytes(b"x")
    with pytest.raises(readers.ReadError, match=r"a\\n\\x1b\[2J.parquet: "):
        read(path)


@pytest.mark.parametrize(
    "name, package",
    [
        ("t.parquet", "pyarrow"),
        ("t.arrow", "pyarrow"),
        ("t.feather", "pyarrow"),
        ("dense.h5ad", "h5py"),
        ("dense.h5ad", "anndata"),
        ("v5.mat", "scipy"),
        ("v73.mat", "h5py"),
    ],
)
def test_a_missing_library_is_named(samples, monkeypatch, name, package):
    path, _ = samples[name]
    real = importlib.import_module

    def without(module, *rest):
        if module.split(".")[0] == package:
            raise ImportError(f"No module named {module}")
        return real(module, *rest)

    monkeypatch.setattr(importlib, "import_module", without)
    with pytest.raises(readers.MissingReader) as caught:
        read(path)
    assert isinstance(caught.value, ImportError)
    wanted = "scipy" if package == "scipy" else "'tamis[io]'"
    assert str(caught.value) == f"reading {path.suffix} needs {package}: pip install {wanted}"


def test_loading_the_module_loads_no_library():
    code = (
        "import sys\n"
        "import tamis._readers, tamis.__main__, tamis._foreign\n"
        "print([m for m in ('numpy', 'scipy', 'pandas', 'pyarrow', 'h5py', 'anndata') if m in sys.modules])\n"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


def test_large_tables_stand_in_memory_once(tmp_path):
    """Peak memory while a Parquet file is read: the array and the few columns in hand."""
    path = tmp_path / "t.parquet"
    X = np.random.default_rng(0).normal(size=(1 << 17, 256)).astype(np.float32)  # 128 MB
    pq.write_table(pa.table({f"c{j}": X[:, j] for j in range(256)}), path, compression="none", use_dictionary=False)
    code = (
        "import resource\n"
        "from tamis import _readers as readers\n"
        "import numpy, pyarrow.parquet\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        f"X = readers.read_foreign({str(path)!r}).X\n"
        "print(X.dtype, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)\n"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert out[0] == "float32"
    assert int(out[1]) < 128 + 112
