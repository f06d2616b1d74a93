"""Random tables, and the files that hold the same numbers."""

import gzip
from dataclasses import dataclass

import numpy as np
import scipy.io
from scipy import sparse

BLOCK = 2048  # rows that are summed together; a constant of the program


@dataclass
class Table:
    X: object  # a NumPy array of any type and order, or a CSR matrix
    kind: str
    plain: bool  # well-separated groups in ordinary units: rounding decides nothing

    @property
    def shape(self):
        return self.X.shape

    @property
    def is_sparse(self):
        return sparse.issparse(self.X)

    @property
    def dense(self):
        return self.X.toarray() if self.is_sparse else np.asarray(self.X, dtype=self.X.dtype.newbyteorder("="))

    def with_numbers(self, X):
        """Another table of the same kind of storage."""
        return Table(sparse.csr_matrix(X) if self.is_sparse else X, self.kind, self.plain)


def random_shape(rng):
    draw = rng.random()
    if draw < 0.04:
        return int(rng.integers(BLOCK, 2 * BLOCK + 300)), int(rng.integers(1, 9))
    if draw < 0.14:
        return int(rng.integers(2, 40)), int(rng.integers(60, 300))
    if draw < 0.2:
        return int(rng.integers(2, 6)), int(rng.integers(1, 6))
    return int(rng.integers(5, 160)), int(rng.integers(1, 40))


def blobs(rng, n, d):
    c = int(rng.integers(2, 6))
    X = rng.standard_normal((n, d))
    informative = max(1, d // 2)
    X[:, :informative] += 8 * rng.standard_normal((c, informative))[rng.integers(0, c, n)]
    return X


def in_extreme_units(rng, n, d):
    exponents = rng.integers(-150, 150, d) if rng.random() < 0.5 else np.full(d, rng.integers(-300, 300))
    return blobs(rng, n, d) * 10.0 ** exponents


def with_constants(rng, n, d):
    X = blobs(rng, n, d)
    X[:, rng.random(d) < 0.4] = rng.choice([0.0, 0.1, -3.0, 1e8])
    return X


def with_copies(rng, n, d):
    X = blobs(rng, n, d)
    return X[:, rng.integers(0, d, d)]


KINDS = {
    "blobs": blobs,
    "noise": lambda rng, n, d: rng.standard_normal((n, d)),
    "rank one": lambda rng, n, d: np.outer(rng.standard_normal(n), rng.standard_normal(d)),
    "constants": with_constants,
    "copies": with_copies,
    "units": in_extreme_units,
    "offset": lambda rng, n, d: blobs(rng, n, d) + 1e8,
    "integers": lambda rng, n, d: np.round(3 * blobs(rng, n, d)).clip(0, 100),
    "binary": lambda rng, n, d: (rng.random((n, d)) < 0.4) * 1.0,
    "repeated rows": lambda rng, n, d: blobs(rng, max(2, n // 6), d)[rng.integers(0, max(2, n // 6), n)],
    "sparse": lambda rng, n, d: blobs(rng, n, d) * (rng.random((n, d)) < rng.choice([0.05, 0.3])),
}
WHOLE = {"integers": ["i1", "u1", ">i2", "<u2", "<i4", ">i8", "<f4", ">f2"], "binary": ["?", "u1", "<i8", "<f4"]}


def random_table(rng):
    kind = str(rng.choice(list(KINDS), p=[0.28] + [0.072] * 10))
    X = KINDS[kind](rng, *random_shape(rng))
    if kind == "sparse" or (kind in WHOLE and rng.random() < 0.2):
        return Table(sparse.csr_matrix(X), kind, False)
    if kind in WHOLE and rng.random() < 0.7:
        X = X.astype(rng.choice(WHOLE[kind]))
    elif kind in ("blobs", "noise", "copies") and rng.random() < 0.3:
        X = X.astype(rng.choice(["<f4", ">f4", ">f8"]))
    X = np.asfortranarray(X) if rng.random() < 0.2 else X
    return Table(X, kind, kind == "blobs" and X.dtype == np.float64)


# --- Files: each returns its path, and the flags that reading it takes -------------------------------------------------


def number(x):
    return repr(int(x)) if x == np.round(x) and abs(x) < 1e15 else repr(float(x))


def delimited(X, separator, header=False, decimal="."):
    lines = [separator.join(f"c{j}" for j in range(X.shape[1]))] if header else []
    lines += [separator.join(number(x).replace(".", decimal) for x in row) for row in X]
    return "\n".join(lines) + "\n"


def text(name, separator=",", **how):
    def save(folder, table):
        path = folder / name
        words = delimited(table.dense, separator, **how)
        path.write_bytes(gzip.compress(words.encode()) if name.endswith(".gz") else words.encode())
        return path, []

    return save


def saved(name, save, *flags):
    def save_and_name(folder, table):
        save(folder / name, table)
        return folder / name, list(flags)

    return save_and_name


def save_transposed(path, table):
    np.save(path, np.ascontiguousarray(table.X.T))


def save_big_endian(path, table):
    np.save(path, table.X.astype(table.X.dtype.newbyteorder(">")))


def save_shards(folder, table):
    folder.mkdir()
    cuts = sorted({0, table.shape[0] // 3, table.shape[0] // 2, table.shape[0]})
    for i, (first, end) in enumerate(zip(cuts, cuts[1:])):
        np.save(folder / f"part{i}.npy", np.ascontiguousarray(table.X[first:end]))


def save_libsvm(path, table):
    rows = []
    for i in range(table.shape[0]):
        row = table.X[i].sorted_indices()
        rows.append(" ".join(["0", *(f"{j + 1}:{number(x)}" for j, x in zip(row.indices, row.data))]))
    path.write_text("\n".join(rows) + "\n")


def save_mtx(path, table):
    with (gzip.open if path.suffix == ".gz" else open)(path, "wb") as file:
        scipy.io.mmwrite(file, table.X.tocoo(), precision=17)


def save_arrow(path, table):
    import pyarrow as pa
    from pyarrow import feather, parquet

    rows = pa.table({f"c{j}": np.ascontiguousarray(table.dense[:, j]) for j in range(table.shape[1])})
    parquet.write_table(rows, path) if path.suffix == ".parquet" else feather.write_feather(rows, path)


ARRAYS = {
    "npy": saved("x.npy", lambda path, table: np.save(path, table.X)),
    "fortran": saved("f.npy", lambda path, table: np.save(path, np.asfortranarray(table.X))),
    "big-endian": saved("b.npy", save_big_endian),
    "transposed": saved("t.npy", save_transposed, "--transpose"),
    "npz": saved("x.npz", lambda path, table: np.savez(path, X=table.X)),
    "packed npz": saved("z.npz", lambda path, table: np.savez_compressed(path, A=table.X), "--array", "A"),
    "shards": saved("shards", save_shards),
}
TEXTS = {
    "csv": text("x.csv"),
    "named csv": text("n.csv", header=True),
    "csv.gz": text("x.csv.gz"),
    "tsv": text("x.tsv", separator="\t"),
    "decimal comma": text("s.csv", separator=";", decimal=","),
}
SPARSE = {
    "csr": saved("s.npz", lambda path, table: sparse.save_npz(path, table.X)),
    "csc": saved("c.npz", lambda path, table: sparse.save_npz(path, table.X.tocsc())),
    "coo": saved("o.npz", lambda path, table: sparse.save_npz(path, table.X.tocoo())),
    "mtx": saved("x.mtx", save_mtx),
    "mtx.gz": saved("x.mtx.gz", save_mtx),
    "libsvm": saved("x.svm", save_libsvm),
}
STAY_ON_DISK = {"npy", "fortran", "big-endian", "transposed", "shards", "parquet", "feather"}  # where Python is told so
FOREIGN = {"parquet": saved("x.parquet", save_arrow), "feather": saved("x.feather", save_arrow)}  # Python's door only


def formats_of(table, foreign=False):
    """The files that hold this table to the last bit."""
    if table.is_sparse:
        whole = table.X[:, -1].nnz > 0  # libsvm cannot tell that there is one more column
        return {name: save for name, save in SPARSE.items() if whole or name != "libsvm"}
    exact = table.X.dtype.kind != "f" or table.X.dtype.itemsize == 8  # text is read as doubles
    several = table.shape[1] > 1  # one column has no delimiter to find
    texts = {name: save for name, save in TEXTS.items() if several or name != "decimal comma"}
    arrow = FOREIGN if foreign and table.X.dtype.kind != "b" and table.X.dtype.itemsize > (table.X.dtype.kind == "f") * 2 else {}
    return {**ARRAYS, **(texts if exact else {}), **arrow}
