"""Numbers as the core accepts them: checked, dense or in compressed rows."""

from __future__ import annotations

from typing import Any

from .request import ReadError, Request, Unread
from .words import printable


def require_shape(request: Request, rows: int, columns: int) -> None:
    if rows < 2:
        raise request.refuse(rows, " row" if rows == 1 else " rows", ", need at least 2")
    if columns < 1:
        raise request.refuse(columns, " columns, need at least 1")


def number_type(dtype: Any) -> Any:
    """The type in which numbers of this type are stored; None if they are not real numbers."""
    import numpy as np

    if dtype.kind == "b":
        return np.dtype(np.uint8)
    if dtype.kind in "iu" and dtype.itemsize <= 8:
        return dtype.newbyteorder("=")
    if dtype.kind == "f":
        return np.dtype(np.float32 if dtype.itemsize <= 4 else np.float64)
    return None


def not_finite(request: Request, row: int, column: int, value: Any, name: str | None = None) -> ReadError:
    called = "" if name is None else f" ({printable(name)})"
    what = "null" if value is None else "NaN" if value != value else "infinite"
    return request.refuse("row ", row, ", column ", column, called, ": ", what, ", need a number")


_BLOCK = 1 << 22  # numbers checked at a time


def _require_finite(request: Request, X: Any, before: int = 0) -> None:
    """Checks a part of the file that follows `before` rows; positions are those in the file, before transposing."""
    import numpy as np

    if X.dtype.kind != "f":
        return
    step = max(1, _BLOCK // max(1, X.shape[1]))
    for first in range(0, X.shape[0], step):
        piece = X[first : first + step]
        good = ~np.isinf(piece) if request.missing_kept else np.isfinite(piece)
        if not good.all():
            row, column = np.argwhere(~good)[0]
            raise not_finite(request, before + first + row, column, X[first + row, column])


def dense_numbers(request: Request, X: Any) -> Any:
    """A dense array of the file, as the core accepts it."""
    X = X.astype(number_type(X.dtype), copy=False)
    _require_finite(request, X)
    X = X.T if request.transpose else X
    require_shape(request, *X.shape)
    return X


def stream_dense_rows(request: Request, found: Any, chunk_rows: int, sink: Any) -> None:
    """Passes the rows of an array to a sink, in whole chunks of the file if possible."""
    from .._core_data import core_data

    dtype = number_type(found.dtype)
    rows, columns = found.shape
    fitting = max(1, request.piece_bytes // (columns * max(dtype.itemsize, found.dtype.itemsize)))
    step = fitting if fitting < chunk_rows else fitting - fitting % chunk_rows
    for first in range(0, rows, step):
        X = found[first : first + step].astype(dtype, copy=False)
        _require_finite(request, X, first)
        sink.add(core_data(X))


def compressed_rows(
    request: Request, data: Any, indices: Any, offsets: Any, shape: tuple[int, int], by_rows: bool
) -> Unread:
    """A CSR matrix from compressed rows or columns that nobody has checked yet.

    `data` and `indices` are arrays, or what gives arrays for slices.
    """
    import numpy as np

    request.load("scipy.sparse")
    major, minor = shape if by_rows else shape[::-1]
    require_shape(request, *(shape[::-1] if request.transpose else shape))
    if any(part.ndim != 1 for part in (data, indices, offsets)) or number_type(data.dtype) is None:
        raise request.refuse("the sparse matrix must consist of three one-dimensional arrays of real numbers")
    if any(part.dtype.kind not in "iu" for part in (indices, offsets)):
        raise request.refuse("the indices of the sparse matrix must be integers")
    _require_sparse_shape(request, shape, data.size)
    count = data.shape[0]
    rises = len(offsets) == major + 1 and offsets[0] == 0 and offsets[-1] == count
    if not rises or (offsets[1:] < offsets[:-1]).any():
        raise request.refuse("indptr must increase from 0 to ", count, " in ", major + 1, " entries")
    if indices.shape[0] != count:
        raise request.refuse(indices.shape[0], " indices for ", count, " values")
    offsets = np.ascontiguousarray(offsets, dtype=np.int64)

    def load() -> Any:
        request.require_memory(12 * count + 8 * sum(shape))
        matrix = _checked_rows(request, data[:], indices[:], offsets, shape, by_rows)
        return _canonical(matrix.T.tocsr()) if request.transpose else matrix

    def stream(sink: Any) -> None:
        _stream_sparse_rows(request, data, indices, offsets, minor, sink)

    if request.transpose or not by_rows:  # the rows do not stand together
        return Unread(shape[::-1] if request.transpose else shape, load)
    return Unread(shape, load, stream, _value_type(data.dtype), offsets)


def _stream_sparse_rows(request: Request, data: Any, indices: Any, offsets: Any, columns: int, sink: Any) -> None:
    """Passes compressed rows to a sink in pieces."""
    import numpy as np

    from .._core_data import core_data

    entries = request.piece_bytes // 32  # of 12 bytes each, twice while they are sorted
    first, rows = 0, len(offsets) - 1
    while first < rows:
        last = max(first + 1, int(np.searchsorted(offsets, offsets[first] + entries, side="right")) - 1)
        begin, end = int(offsets[first]), int(offsets[last])
        shape = (last - first, columns)
        part = _checked_rows(
            request, data[begin:end], indices[begin:end], offsets[first : last + 1] - begin, shape, True, first
        )
        sink.add(core_data(part))
        first = last


def _value_type(dtype: Any) -> Any:
    """The type of the values of sparse rows."""
    import numpy as np

    return np.dtype(np.float32 if dtype.kind == "f" and dtype.itemsize <= 4 else np.float64)


def _checked_rows(
    request: Request, data: Any, indices: Any, offsets: Any, shape: tuple[int, int], by_rows: bool, before: int = 0
) -> Any:
    """A CSR matrix of lists that fit together, after `before` rows of the file."""
    import numpy as np

    scipy_sparse = request.load("scipy.sparse")
    minor = shape[1] if by_rows else shape[0]
    count = len(data)
    if count and not (0 <= indices.min() and indices.max() < minor):
        raise request.refuse("indices must be in 0..", minor - 1)
    wide = np.int64 if count >= 2**31 else np.int32
    kind = scipy_sparse.csr_matrix if by_rows else scipy_sparse.csc_matrix
    matrix = kind(shape, dtype=_value_type(data.dtype))
    # Set one by one: the constructor would copy the indices to the type of the offsets.
    matrix.data = data.astype(_value_type(data.dtype), copy=False)
    matrix.indices = indices.astype(np.int32 if by_rows else wide, copy=False)
    matrix.indptr = offsets.astype(wide, copy=False)
    if not by_rows:
        matrix = matrix.tocsr()
    matrix = _canonical(matrix)
    _require_finite_entries(request, matrix, before)
    return matrix


def _require_sparse_shape(request: Request, shape: tuple[int, int], entries: int) -> None:
    """As in the core: more than 2^20 rows or columns need a minimum number of entries."""
    free, per_entry = 1 << 20, 100
    most = max(free, per_entry * entries)
    for size in shape:
        if size > 2**31 - 2:
            raise request.refuse(shape[0], " x ", shape[1], ", need at most 2147483646 each way")
        if size > most:
            need = f"need at most {free} rows and columns or {per_entry} for each entry"
            raise request.refuse(shape[0], " x ", shape[1], " with only ", entries, " entries, ", need)


def _canonical(matrix: Any) -> Any:
    """Column indices that increase strictly in each row, as int32."""
    import numpy as np

    if not _increases(matrix):
        matrix.indices = matrix.indices.astype(matrix.indptr.dtype, copy=False)
        matrix.has_sorted_indices = matrix.has_canonical_format = False
        matrix.sum_duplicates()
    matrix.indices = matrix.indices.astype(np.int32, copy=False)
    matrix.has_sorted_indices = matrix.has_canonical_format = True
    return matrix


def _increases(matrix: Any) -> bool:
    import numpy as np

    starts = matrix.indptr[1:-1]
    for first in range(0, max(0, len(matrix.indices) - 1), _BLOCK):
        # good[k]: entry first + k + 1 may follow the one before it
        good = np.diff(matrix.indices[first : first + _BLOCK + 1]) > 0
        begins = starts[np.searchsorted(starts, first + 1) : np.searchsorted(starts, first + 1 + len(good))]
        good[begins - first - 1] = True
        if not good.all():
            return False
    return True


def _require_finite_entries(request: Request, matrix: Any, before: int) -> None:
    import numpy as np

    for first in range(0, len(matrix.data), _BLOCK):
        good = np.isfinite(matrix.data[first : first + _BLOCK])
        if not good.all():
            at = first + int(np.argmin(good))
            row = int(np.searchsorted(matrix.indptr, at, side="right")) - 1
            raise not_finite(request, before + row, int(matrix.indices[at]), matrix.data[at])
