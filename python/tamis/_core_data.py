"""Converts arrays and sparse matrices to what the compiled core accepts; never modifies them."""

import numpy as np
from scipy import sparse

from . import _core

_SPARSE_VALUES = (np.float32, np.float64)


def core_data(X):
    """A 2-D array, or the parts of compressed sparse rows, for `_core`; without a copy if possible.

    Element types that the core does not have (float16, long double, other byte orders; bool is viewed as uint8), arrays
    whose rows overlap or are reversed, and sparse matrices that are not canonical rows of float32 or float64 are copied.
    Rows on disk stay there.
    """
    if isinstance(X, _core.DiskRows):
        return X
    return _sparse_parts(X) if sparse.issparse(X) else _dense_array(np.asarray(X))


def _dense_array(X):
    if X.dtype == np.bool_:
        X = X.view(np.uint8)
    elif X.dtype.kind == "f" and X.dtype.itemsize == 2:
        X = X.astype(np.float32)
    elif X.dtype.kind not in "fiu" or X.dtype.itemsize > 8:
        X = X.astype(np.float64)
    elif not X.dtype.isnative:
        X = X.astype(X.dtype.newbyteorder("="))
    return X if _is_plain(X) else np.ascontiguousarray(X)


def _is_plain(X):
    """Whether the core can read it in place: strides of whole elements, rows (or columns) that do not overlap."""
    size = X.dtype.itemsize
    if X.size == 0 or any(step % size for step in X.strides):
        return False
    row, column = (step // size for step in X.strides)
    rows, columns = X.shape
    in_rows = column >= 1 and (rows == 1 or row >= column * (columns - 1) + 1)
    in_columns = row >= 1 and (columns == 1 or column >= row * (rows - 1) + 1)
    return in_rows or in_columns


def _sparse_parts(X):
    if X.format != "csr":
        X = X.tocsr()  # CSC comes out with sorted, unique columns
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    values = X.data
    if values.dtype not in _SPARSE_VALUES or not values.dtype.isnative:
        exact = np.float32 if values.dtype in (np.float16, np.bool_, np.int8, np.uint8, np.int16, np.uint16) else np.float64
        values = values.astype(exact)
    columns = np.ascontiguousarray(X.indices, dtype=np.int32)
    offsets = np.ascontiguousarray(X.indptr, dtype=np.int64)
    return offsets, columns, np.ascontiguousarray(values), X.shape[1]
