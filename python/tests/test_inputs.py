"""What may be given as X, that it is never changed, and what is refused."""

import hashlib

import numpy as np
import pytest
import scipy.io
from conftest import SELECTORS, make, planted, same_fit
from scipy import sparse

import tamis

pytestmark = pytest.mark.filterwarnings("ignore:MCFS. the graph is in", "ignore:column standard deviations",
                                        "ignore:RUFS. not converged")

X = planted(60, 8)
N, D = X.shape
WHOLE = np.clip(np.round(X * 10), -128, 127)
COUNTS = np.abs(WHOLE)
HOLES = np.where(np.abs(X) > 0.7, X, 0)
NAMES = [f"c{j}" for j in range(D)]


# --- Hashes: of whatever bytes an input holds ------------------------------------------------------------------------


def buffers(X):
    """Every array of memory behind an input."""
    if isinstance(X, np.ndarray):
        base = X if X.base is None or not isinstance(X.base, np.ndarray) else X.base
        return [np.asarray(base), np.asarray(X)]
    if sparse.issparse(X):
        return [X.row, X.col, X.data] if X.format == "coo" else [X.data, X.indices, X.indptr]
    kind = type(X).__module__.split(".")[0]
    if kind == "pandas":
        return [np.asarray(X[column]) for column in X]
    if kind == "polars":
        return [column.to_numpy() for column in X]
    if kind == "pyarrow":
        chunks = [chunk for column in X.columns for chunk in getattr(column, "chunks", [column])]
        return [np.frombuffer(buffer, np.uint8) for chunk in chunks for buffer in chunk.buffers() if buffer]
    if kind == "anndata":
        return buffers(X.X)
    assert isinstance(X, tamis.Table)
    return buffers(X.X)


def digest(X):
    sums = [hashlib.sha256(np.ascontiguousarray(one).tobytes()).hexdigest() for one in buffers(X)]
    if sparse.issparse(X):
        sums += [str(one.dtype) for one in buffers(X)]
    return sums


def fit(name, X, **options):
    """Fits, and sees to it that X has stayed as it was."""
    before = digest(X)
    selector = make(name, **options).fit(X)
    selector.transform(X)
    assert digest(X) == before, "X was modified"
    return selector


def close(found, expected, name):
    tolerance = 1e-3 if name == "rufs" else 1e-5  # design.md
    assert np.abs(found.scores_ - expected.scores_).max() <= tolerance * np.abs(expected.scores_).max()


# --- NumPy -----------------------------------------------------------------------------------------------------------

FLOATS = ["<f8", ">f8", "g", object]
INTEGERS = ["i1", "i2", "i4", "i8", ">i2", ">i4", ">i8"]
UNSIGNED = ["u1", "u2", "u4", "u8", ">u4"]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_twins_of_float64(name, dtype):
    same_fit(fit(name, X.astype(dtype)), make(name).fit(X))


@pytest.mark.parametrize("dtype", INTEGERS + ["<f4", "<f2", ">f4", ">f2", "g", object], ids=str)
def test_twins_of_whole_numbers(name, dtype):
    same_fit(fit(name, WHOLE.astype(dtype)), make(name).fit(WHOLE))


@pytest.mark.parametrize("dtype", UNSIGNED, ids=str)
def test_twins_of_counts(dtype):
    same_fit(fit("ufcm", COUNTS.astype(dtype)), make("ufcm").fit(COUNTS))


def test_twins_of_truths(name):
    same_fit(fit(name, X > 0), make(name).fit((X > 0).astype(float)))


def test_large_whole_numbers():
    big = np.array([[2**63 - 1, 5], [-(2**63), 6], [0, 9]], np.int64)
    same_fit(fit("maxvar", big), make("maxvar").fit(big.astype(float)))


@pytest.mark.parametrize("dtype", ["<f2", "<f4"])
def test_narrow_floats_are_widened(name, dtype):
    narrow = X.astype(dtype)
    same_fit(fit(name, narrow), make(name).fit(narrow.astype(float)))


def unaligned(X):
    raw = np.zeros(X.nbytes + 1, np.uint8)
    out = raw[1:].view(X.dtype).reshape(X.shape)
    out[:] = X
    assert not out.flags.aligned
    return out


def field(X):
    """Each number beside a byte: strides that are no multiple of its size."""
    record = np.zeros(X.shape, dtype=[("a", "u1"), ("x", "f8")])
    record["x"] = X
    return record["x"]


def sliced(X):
    whole = np.full((2 * len(X), 3 * X.shape[1]), np.nan)
    whole[::2, ::-3] = X
    return whole[::2, ::-3]


def framed(X):
    whole = np.full((len(X) + 4, X.shape[1] + 5), np.nan)
    whole[2:-2, 3:-2] = X
    return whole[2:-2, 3:-2]


def read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


LAYOUTS = {
    "C": np.ascontiguousarray,
    "Fortran": np.asfortranarray,
    "framed": framed,
    "framed Fortran": lambda X: framed(X.T).T,
    "sliced": sliced,
    "sliced Fortran": lambda X: sliced(X.T).T,
    "backwards": lambda X: X[::-1].copy()[::-1],
    "backwards both": lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
    "unaligned": unaligned,
    "field": field,
    "read-only": read_only,
    "list": lambda X: read_only(np.array(X.tolist())),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["f8", "f4", "i2"])
def test_any_order_and_stride(layout, dtype):
    plain = WHOLE.astype(dtype)
    laid = LAYOUTS[layout](WHOLE if layout in ("field", "sliced", "framed") else plain)
    assert np.array_equal(laid, plain)
    for name in ("ufcm", "maxvar", "lapscore"):
        same_fit(fit(name, laid), make(name).fit(plain))


def test_every_method_by_columns(name):
    same_fit(fit(name, np.asfortranarray(X)), make(name).fit(X))


def test_broadcast_arrays():
    row_of_columns = np.broadcast_to(X[:, :1], (N, 5))
    with np.errstate(all="raise"):
        same_fit(fit("maxvar", row_of_columns), make("maxvar").fit(row_of_columns.copy()))
    with pytest.raises(ValueError, match="no variation"):
        fit("maxvar", np.broadcast_to(X[0], (N, D)))


def test_memory_maps(tmp_path, name):
    np.save(tmp_path / "x.npy", X)
    before = (tmp_path / "x.npy").read_bytes()
    for mode in ("r", "c"):
        same_fit(fit(name, np.load(tmp_path / "x.npy", mmap_mode=mode)), make(name).fit(X))
    assert (tmp_path / "x.npy").read_bytes() == before


def test_lists_and_objects_with_array():
    class Holder:
        def __array__(self, dtype=None, copy=None):
            return np.array(X, dtype=dtype)

    for given in (X.tolist(), tuple(map(tuple, X.tolist())), Holder()):
        same_fit(make("ufcm").fit(given), make("ufcm").fit(X))


# --- SciPy -----------------------------------------------------------------------------------------------------------


def unsorted(X):
    """Entries of a row from right to left."""
    X = sparse.csr_array(X)
    for i in range(X.shape[0]):
        row = slice(X.indptr[i], X.indptr[i + 1])
        X.indices[row], X.data[row] = X.indices[row][::-1].copy(), X.data[row][::-1].copy()
    return sparse.csr_array((X.data, X.indices, X.indptr), shape=X.shape)


def doubled(X):
    """Every entry as two halves."""
    X = sparse.csr_array(X)
    return sparse.csr_array((np.repeat(X.data / 2, 2), np.repeat(X.indices, 2), 2 * X.indptr), shape=X.shape)


def with_zeros(X):
    rows, columns = np.indices(X.shape)
    return sparse.csr_array((X.ravel(), (rows.ravel(), columns.ravel())), shape=X.shape)


def long_indices(X):
    X = X.tocsr() if sparse.issparse(X) else sparse.csr_array(X)
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


def read_only_csr(X):
    X = sparse.csr_array(X)
    for one in (X.data, X.indices, X.indptr):
        one.flags.writeable = False
    return X


def big_endian(X):
    X = sparse.csr_array(X)
    X.data = X.data.astype(">f8")  # which SciPy itself would not make
    return X


SPARSE = {
    "csr_matrix": sparse.csr_matrix,
    "csc_array": sparse.csc_array,
    "csc_matrix": sparse.csc_matrix,
    "coo_array": sparse.coo_array,
    "coo_matrix": sparse.coo_matrix,
    "lil_array": sparse.lil_array,
    "int64 indices": long_indices,
    "unsorted": unsorted,
    "duplicates": doubled,
    "explicit zeros": with_zeros,
    "big-endian": big_endian,
    "long double": lambda X: sparse.csr_array(X).astype("g"),
    "read-only": read_only_csr,
}


@pytest.mark.parametrize("kind", SPARSE)
@pytest.mark.parametrize("method", ["ufcm", "maxvar", "mcfs"])
def test_sparse_twins(kind, method):
    given = SPARSE[kind](HOLES)
    if kind == "lil_array":
        before = given.toarray()
        same_fit(make(method).fit(given), make(method).fit(sparse.csr_array(HOLES)))
        assert np.array_equal(given.toarray(), before)
        return
    found, expected = fit(method, given), make(method).fit(sparse.csr_array(HOLES))
    if kind == "explicit zeros":
        close(found, expected, method)
    else:
        same_fit(found, expected)


@pytest.mark.parametrize("dtype", ["f4", "i1", "i4", "i8", "u2", "?"])
@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_array])
def test_sparse_element_types(dtype, kind):
    given = kind(np.round(HOLES).astype(dtype))
    same_fit(fit("ufcm", given), make("ufcm").fit(kind(given.toarray().astype(float))))


def test_sparse_and_dense_agree(name):
    expected = make(name, max_iter=3, tol=0).fit(HOLES)
    for kind in (sparse.csr_array, sparse.csc_array):
        close(fit(name, kind(HOLES), max_iter=3, tol=0), expected, name)


def test_empty_rows_and_columns():
    holes = HOLES.copy()
    holes[[0, 7, -1]] = 0
    holes[:, [2, -1]] = 0
    found, expected = fit("maxvar", sparse.csr_array(holes)), make("maxvar").fit(holes)
    close(found, expected, "maxvar")
    assert {2, D - 1} == set(np.flatnonzero(found.ranking_ > D - 2))


def test_sparse_parts_that_do_not_fit():
    bad = sparse.csr_array(HOLES)
    bad.indices[3] = D + 5
    with pytest.raises(ValueError):
        make("maxvar").fit(bad)
    bad = sparse.csr_array(HOLES)
    bad.indices[3] = -1
    with pytest.raises(ValueError):
        make("maxvar").fit(bad)


# --- Tables ----------------------------------------------------------------------------------------------------------


def pandas_frame(X):
    return pytest.importorskip("pandas").DataFrame(X, columns=NAMES)


def polars_frame(X):
    return pytest.importorskip("polars").DataFrame({name: X[:, j] for j, name in enumerate(NAMES)})


def arrow_table(X):
    return pytest.importorskip("pyarrow").table({name: X[:, j] for j, name in enumerate(NAMES)})


def arrow_chunks(X):
    pyarrow = pytest.importorskip("pyarrow")
    return pyarrow.concat_tables([arrow_table(X[:20]), arrow_table(X[20:25]), arrow_table(X[25:])])


def arrow_batch(X):
    return arrow_table(X).to_batches()[0]


def anndata_of(X):
    anndata, pandas = pytest.importorskip("anndata"), pytest.importorskip("pandas")
    rows = pandas.DataFrame(index=[f"r{i}" for i in range(X.shape[0])])
    return anndata.AnnData(X, obs=rows, var=pandas.DataFrame(index=NAMES[: X.shape[1]]))


def table_of(X):
    return tamis.Table(X, feature_names=NAMES)


TABLES = {
    "pandas": pandas_frame, "polars": polars_frame, "arrow": arrow_table, "arrow chunks": arrow_chunks,
    "arrow batch": arrow_batch, "anndata": anndata_of, "table": table_of,
}  # fmt: skip


@pytest.mark.parametrize("kind", TABLES)
def test_tables_are_their_numbers(kind, name):
    found = fit(name, TABLES[kind](X), n_features_to_select=3)
    same_fit(found, make(name, n_features_to_select=3).fit(X))
    assert list(found.feature_names_in_) == NAMES
    assert list(found.get_feature_names_out()) == [NAMES[j] for j in found.get_support(indices=True)]
    assert np.array_equal(np.asarray(found.transform(TABLES[kind](X))), X[:, found.get_support()])


@pytest.mark.parametrize(
    "kind, dtype", [(kind, dtype) for kind in TABLES for dtype in ("f4", "i4", "u1", "?") if (kind, dtype) != ("anndata", "?")]
)
def test_tables_of_other_types(kind, dtype):
    plain = (np.abs(WHOLE) if dtype == "u1" else WHOLE).astype(dtype)
    same_fit(fit("ufcm", TABLES[kind](plain)), make("ufcm").fit(plain))


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_mixed_columns(kind):
    columns = {"a": WHOLE[:, 0].astype("i4"), "b": X[:, 1], "c": X[:, 2] > 0, "d": WHOLE[:, 3].astype("f4")}
    plain = np.column_stack([np.asarray(column, float) for column in columns.values()])
    module = pytest.importorskip({"arrow": "pyarrow"}.get(kind, kind))
    given = module.table(columns) if kind == "arrow" else module.DataFrame(columns)
    same_fit(fit("ufcm", given), make("ufcm").fit(plain))


def test_nullable_pandas_columns():
    pandas = pytest.importorskip("pandas")
    columns = {"a": WHOLE[:, 0].astype(int), "b": X[:, 1] > 0, "c": X[:, 2]}
    frame = pandas.DataFrame(columns).astype({"a": "Int64", "b": "boolean", "c": "Float64"})
    same_fit(fit("ufcm", frame), make("ufcm").fit(np.column_stack([WHOLE[:, 0], X[:, 1] > 0, X[:, 2]])))
    frame.loc[4, "a"] = pandas.NA
    with pytest.raises(ValueError, match="row 4.*column 0|column 0.*row 4"):
        make("ufcm").fit(frame)


def test_sparse_pandas_columns():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(HOLES), columns=NAMES)
    close(fit("ufcm", frame), make("ufcm").fit(HOLES), "ufcm")


def test_words_in_frames_are_refused():
    pandas, polars, pyarrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    words = ["u", "v", "w"] * (N // 3)
    numbers = {"a": X[:, 0], "b": X[:, 1]}
    for given in (
        pandas.DataFrame({**numbers, "w": words}),
        pandas.DataFrame({**numbers, "w": pandas.Categorical(words)}),
        polars.DataFrame({**numbers, "w": words}),
        pyarrow.table({**numbers, "w": words}),
        pyarrow.table({**numbers, "w": pyarrow.array(words).dictionary_encode()}),
    ):
        with pytest.raises((ValueError, TypeError)) as caught:
            make("ufcm").fit(given)
        assert isinstance(caught.value, ValueError), type(given)


def test_nulls_in_arrow_and_polars_are_refused():
    pyarrow, polars = pytest.importorskip("pyarrow"), pytest.importorskip("polars")
    values = [None if i == 4 else float(i) for i in range(N)]
    wholes = [None if i == 4 else i for i in range(N)]
    truths = [None if i == 4 else i % 2 == 0 for i in range(N)]
    for column in (values, wholes, truths):
        for given in (pyarrow.table({"a": X[:, 0], "b": column}), polars.DataFrame({"a": X[:, 0], "b": column})):
            with pytest.raises(ValueError, match=r"row 4.*column 1|column 'b'|\bb\b"):
                make("ufcm").fit(given)


def test_no_columns_and_no_rows_in_tables():
    pyarrow, pandas = pytest.importorskip("pyarrow"), pytest.importorskip("pandas")
    tables = pyarrow.table({}), pyarrow.table({"a": pyarrow.array([], "f8")})
    for given in (*tables, pandas.DataFrame(), pandas.DataFrame({"a": []})):
        with pytest.raises(ValueError):
            make("ufcm").fit(given)


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csc_matrix, sparse.csr_array])
def test_sparse_anndata(kind):
    given = anndata_of(kind(HOLES))
    same_fit(fit("ufcm", given), make("ufcm").fit(kind(HOLES)))


def test_views_of_anndata():
    whole = anndata_of(X)
    part = whole[10:50, ["c1", "c3", "c4"]]
    found = make("ufcm").fit(part)
    assert part.is_view and list(found.feature_names_in_) == ["c1", "c3", "c4"]
    same_fit(found, make("ufcm").fit(X[10:50][:, [1, 3, 4]]))
    holes = anndata_of(sparse.csr_matrix(HOLES))[::2]
    same_fit(make("ufcm").fit(holes), make("ufcm").fit(sparse.csr_matrix(HOLES)[::2]))


def test_what_read_gives(tmp_path):
    np.savetxt(tmp_path / "x.csv", X, delimiter=",", header=",".join(NAMES), comments="", fmt="%.17g")
    table = tamis.read(tmp_path / "x.csv")
    found = fit("ufcm", table)
    same_fit(found, make("ufcm").fit(X))
    assert list(found.feature_names_in_) == NAMES


def test_errors_of_read_speak_python(tmp_path):
    pyarrow_parquet = pytest.importorskip("pyarrow.parquet")
    (tmp_path / "x.csv").write_text("a,b\n1,2\n3,word\n5,6\n")
    np.savez(tmp_path / "x.npz", A=X, B=X)
    scipy.io.savemat(tmp_path / "x.mat", {"A": X, "B": X})
    pyarrow_parquet.write_table(arrow_table(X).append_column("b", [["word"] * N]), str(tmp_path / "x.parquet"))
    column, array = "text_columns=.'b'.", "array.*A"
    for name, words in (("x.csv", column), ("x.parquet", column), ("x.npz", array), ("x.mat", array)):
        with pytest.raises(ValueError, match=words) as caught:
            tamis.read(tmp_path / name)
        assert "--" not in str(caught.value) and name in str(caught.value)
    assert tamis.read(tmp_path / "x.csv", text_columns=["b"]).shape == (3, 1)
    assert tamis.read(tmp_path / "x.npz", array="A").shape == X.shape


def test_other_names_are_refused():
    selector = make("maxvar").fit(arrow_table(X))
    with pytest.raises(ValueError, match="feature names"):
        selector.transform(arrow_table(X).rename_columns(NAMES[::-1]))
    with pytest.raises(ValueError):
        selector.transform(arrow_table(X).select(NAMES[:3]))


# --- What is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(
    "kind",
    [np.asarray, np.asfortranarray, sparse.csr_array, sparse.csc_array, pandas_frame, arrow_table,
     lambda X: X.astype("f4"), lambda X: X.astype(object)],
)
def test_the_place_of_what_is_not_finite(name, kind, value):
    bad = X.copy()
    bad[17, 4] = value
    with pytest.raises(ValueError, match="row 17.*column 4"):
        make(name).fit(kind(bad))


HOSTILE = {
    "0-d": np.float64(3),
    "1-d": np.arange(5.0),
    "3-d": np.zeros((3, 4, 5)),
    "no rows": np.empty((0, 5)),
    "no columns": np.empty((5, 0)),
    "one row": np.ones((1, 5)),
    "complex": X.astype(complex),
    "sparse complex": sparse.csr_array(X.astype(complex)),
    "words": np.full((5, 5), "x"),
    "dates": np.zeros((5, 5), "M8[s]"),
    "spans": np.zeros((5, 5), "m8[s]"),
    "records": np.zeros((5, 5), [("a", "f8")]),
    "void": np.zeros((5, 5), "V8"),
    "objects": np.full((5, 5), {}, dtype=object),
    "nothing": None,
    "a word": "x",
    "a dict": {"a": [1, 2, 3]},
    "ragged": [[1, 2], [3]],
    "matrix": X.view(np.matrix),
    "constant": np.ones((30, 4)),
    "sparse constant": sparse.csr_array((30, 4)),
    "almost constant": np.full((1000, 3), 0.1),
    "sparse row": sparse.csr_array(np.ones((1, 5))),
}


# What scikit-learn itself may refuse with a TypeError.
OF_WRONG_TYPE = {"matrix", "objects", "sparse complex", "nothing", "a word", "a dict",
                 "spans", "dates", "records", "void"}


@pytest.mark.parametrize("case", HOSTILE)
def test_refused(name, case):
    with pytest.raises((ValueError, TypeError)) as caught:
        make(name).fit(HOSTILE[case])
    message = str(caught.value)
    assert message and "--" not in message and "bad_cast" not in message
    if "constant" in case:
        assert "no variation" in message
    if case not in OF_WRONG_TYPE:
        assert isinstance(caught.value, ValueError)


def test_one_column(name):
    selector = make(name).fit(X[:, :1])
    assert selector.ranking_.tolist() == [1] and selector.get_support().all() and np.isfinite(selector.scores_).all()


def test_two_rows(name):
    selector = make(name, n_clusters=1, n_neighbors=1).fit(X[:2])
    assert np.isfinite(selector.scores_).all()


@pytest.mark.parametrize("factor", [1e300, 1e-300, 1e150, 5e-320])
def test_scales_at_the_edge(name, factor):
    """Finite scores, or an error that says so; never NaN."""
    try:
        assert np.isfinite(make(name).fit(X * factor).scores_).all()
    except ValueError as error:
        assert len(str(error)) > 10 and "--" not in str(error)


@pytest.mark.parametrize("name", [name for name, kind in SELECTORS.items() if "n_clusters" in kind().get_params()])
def test_more_clusters_than_rows(name):
    with pytest.raises(ValueError, match=f"n_clusters = {N + 1}.*{N}"):
        make(name, n_clusters=N + 1).fit(X)


def test_masked_values_are_missing_values():
    """As an instrument marks what it could not read: the numbers behind a mask mean nothing."""
    masked = np.ma.masked_equal(np.where(np.arange(N)[:, None] == 7, -9999.0, X), -9999.0)
    for fits in (lambda: make("maxvar").fit(masked), lambda: make("ufcm").fit(X).transform(masked),
                 lambda: tamis.compare(masked, n_features=[2], methods=["maxvar"])):
        with pytest.raises(ValueError, match="row 7, column 0: masked .8 values in all., need numbers; missing='mean'"):
            fits()
    same_fit(make("maxvar").fit(np.ma.array(X)), make("maxvar").fit(X))  # nothing is masked


def test_a_refused_input_is_not_changed():
    bad = X.copy()
    bad[3, 3] = np.nan
    before = digest(bad)
    with pytest.raises(ValueError):
        make("ufcm").fit(bad)
    assert digest(bad) == before
