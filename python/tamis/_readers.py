"""Readers of the formats that the core does not read: Parquet, Arrow and Feather, AnnData, 10x in HDF5, MATLAB.

What the arguments mean, and what is refused, is what docs/formats.md says of the core's own readers. Libraries are
loaded on use. A file is never trusted: sizes are compared with the memory there is before anything is allocated,
structure is checked before it is followed, and whatever a library makes of a broken file becomes one line. One gap is
left: the HDF5 library itself may crash on a file whose inner structure is damaged.
"""

from __future__ import annotations

import importlib
import os
import zlib
from dataclasses import dataclass, field
from typing import Any, Callable, Iterator

__all__ = ["MissingReader", "Parts", "ReadError", "TooLarge", "WrongName", "read_foreign"]


class MissingReader(ImportError):
    """The library that reads a format is not installed."""


class ReadError(ValueError):
    """The file does not hold a table of numbers; one line with the path and the position."""


class WrongName(ReadError):
    """No column, array or variable of that name: a mistake of the call, not of the file."""


class TooLarge(ReadError, MemoryError):
    """The table does not fit the memory."""


@dataclass
class Parts:
    """What a file holds.

    Attributes
    ----------
    X : numpy.ndarray or scipy.sparse.csr_matrix
        The numbers, one sample a row, in any order of memory. Sparse: float32 or float64, column indices int32 and
        strictly increasing within a row.
    names, row_ids : list of str or None
        Of the columns and rows.
    labels : dict
        One word a row under each of the words asked for that the file has; "" where a label is missing.
    label_choices : list of str
        What labels could have been named.
    excluded_columns : list of str
        Columns of the file left out of the numbers.
    format : str
        "parquet", "arrow", "feather", "h5ad", "10x" or "mat".
    """

    X: Any
    names: list[str] | None = None
    row_ids: list[str] | None = None
    labels: dict[str, list[str]] = field(default_factory=dict)
    label_choices: list[str] = field(default_factory=list)
    excluded_columns: list[str] = field(default_factory=list)
    format: str = ""


@dataclass(frozen=True)
class _Request:
    """The arguments of one call, and the ways it may end."""

    path: str
    array: str
    id_column: str
    labels: tuple[str, ...]
    text_columns: tuple[str, ...]
    transpose: bool
    memory_limit: int

    @property
    def where(self) -> str:
        return _printable(self.path, len(self.path))

    @property
    def ending(self) -> str:
        return os.path.splitext(self.path)[1].lower()

    def refuse(self, *parts: object) -> ReadError:
        return ReadError(f"{self.where}: " + "".join(map(str, parts)))

    def wrong_name(self, *parts: object) -> WrongName:
        return WrongName(f"{self.where}: " + "".join(map(str, parts)))

    def require_memory(self, size: int) -> None:
        if size > self.memory_limit:
            raise TooLarge(f"{self.where}: needs at least {size} bytes of memory, the limit is {self.memory_limit}")

    def load(self, module: str) -> Any:
        try:
            return importlib.import_module(module)
        except ImportError as error:
            package = module.split(".")[0]
            raise MissingReader(f"reading {self.ending} needs {package}: pip install 'tamis[io]'") from error


def read_foreign(
    path: str | os.PathLike[str],
    *,
    array: str = "X",
    id_column: str = "",
    labels: tuple[str, ...] | list[str] = (),
    text_columns: tuple[str, ...] | list[str] = (),
    transpose: bool = False,
    memory_limit: int = 0,
) -> Parts:
    """Read a whole file by the ending of its name.

    Parameters
    ----------
    path : path
        .parquet .pq .arrow .ipc .feather .h5ad .h5 .mat
    array : str
        The layer of an AnnData file, or the variable of a MATLAB file.
    id_column : str
        The column with the row identifiers; "" for none.
    labels : sequence of str
        Columns (of a table, of obs) or variables to read as labels. Words that name none are passed over: they may be
        files.
    text_columns : sequence of str
        Columns that may hold text or missing values; such a column is left out where it does.
    transpose : bool
        Whether the columns of the file are the samples.
    memory_limit : int
        In bytes, for the table; 0 for the memory of the machine.

    Returns
    -------
    Parts

    Raises
    ------
    ReadError
        The file does not hold what is asked for; WrongName and TooLarge are kinds of it. A ValueError.
    MissingReader
        The library that reads the format is not installed. An ImportError.
    OSError
        The file cannot be read.
    """
    request = _Request(
        path=os.fsdecode(path),
        array=array,
        id_column=id_column,
        labels=tuple(dict.fromkeys(labels)),
        text_columns=tuple(text_columns),
        transpose=transpose,
        memory_limit=memory_limit or os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
    )
    reader = _READERS.get(request.ending)
    if reader is None:
        raise request.refuse("unknown ending, need ", " ".join(_READERS))
    with open(request.path, "rb"):  # the system says best why a file cannot be read
        pass
    try:
        return reader(request)
    except (ReadError, MissingReader):
        raise
    except MemoryError as error:
        raise TooLarge(f"{request.where}: not enough memory ({_one_line(error)})") from error
    except Exception as error:  # what a library makes of a broken file: of any type, on any number of lines
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise request.refuse("cannot be read as ", request.ending, ": ", _one_line(error)) from error


# --- Words ------------------------------------------------------------------------------------------------------------


def _printable(text: object, most: int = 60) -> str:
    text = str(text)
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text[:most])
    return shown + ("..." if len(text) > most else "")


def _one_line(error: BaseException) -> str:
    return _printable(" ".join(str(error).split()) or type(error).__name__, 200)


def _listed(words: list[str]) -> str:
    return ", ".join(map(_printable, words[:12])) + (", ..." if len(words) > 12 else "")


def _quoted(text: str) -> str:
    return f'"{_printable(text, 30)}"'


def _word(value: Any) -> str:
    """A label or an identifier; "" where it is missing. Whole numbers have no point, truth values are 0 and 1."""
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return ""
    if hasattr(value, "dtype") and value.dtype.kind == "b" or isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float) or hasattr(value, "dtype") and value.dtype.kind == "f":
        if value != value:
            return ""
        return str(int(value)) if float(value).is_integer() else str(value)
    return str(value)


def _words(values: Any) -> list[str]:
    return [_word(value) for value in values]


def _labels(values: Any) -> list[str]:
    """Blanks around a label do not count, as in CSV; nor does what MATLAB fills its character matrices up with."""
    return [_word(value).strip(" \t\r\0") for value in values]


# --- Numbers ----------------------------------------------------------------------------------------------------------


def _require_shape(request: _Request, rows: int, columns: int) -> None:
    if rows < 2:
        raise request.refuse(rows, " row" if rows == 1 else " rows", ", need at least 2")
    if columns < 1:
        raise request.refuse(columns, " columns, need at least 1")


def _number_type(dtype: Any) -> Any:
    """The type that numbers of this one are kept in; None where they are no real numbers."""
    import numpy as np

    if dtype.kind == "b":
        return np.dtype(np.uint8)
    if dtype.kind in "iu" and dtype.itemsize <= 8:
        return dtype.newbyteorder("=")
    if dtype.kind == "f":
        return np.dtype(np.float32 if dtype.itemsize <= 4 else np.float64)
    return None


def _not_finite(request: _Request, row: int, column: int, value: Any, name: str | None = None) -> ReadError:
    called = "" if name is None else f" ({_printable(name)})"
    what = "null" if value is None else "NaN" if value != value else "infinite"
    return request.refuse("row ", row, ", column ", column, called, ": ", what, ", need a number")


_BLOCK = 1 << 22  # numbers looked at in one go


def _require_finite(request: _Request, X: Any) -> None:
    """Of what stands in the file: positions are those before a transposition."""
    import numpy as np

    if X.dtype.kind != "f":
        return
    step = max(1, _BLOCK // max(1, X.shape[1]))
    for first in range(0, X.shape[0], step):
        good = np.isfinite(X[first : first + step])
        if not good.all():
            row, column = np.argwhere(~good)[0]
            raise _not_finite(request, first + row, column, X[first + row, column])


def _dense(request: _Request, X: Any) -> Any:
    """A dense array of the file as the core takes it."""
    X = X.astype(_number_type(X.dtype), copy=False)
    _require_finite(request, X)
    X = X.T if request.transpose else X
    _require_shape(request, *X.shape)
    return X


def _compressed(request: _Request, data: Any, indices: Any, offsets: Any, shape: tuple[int, int], by_rows: bool) -> Any:
    """A CSR matrix from compressed rows or columns that nobody has checked yet."""
    import numpy as np

    scipy_sparse = request.load("scipy.sparse")
    major, minor = shape if by_rows else shape[::-1]
    turned = shape[::-1] if request.transpose else shape
    _require_shape(request, *turned)
    _require_sparse_shape(request, shape, data.size)
    if any(part.ndim != 1 for part in (data, indices, offsets)) or _number_type(data.dtype) is None:
        raise request.refuse("the sparse matrix must be of three lists of real numbers")
    if any(part.dtype.kind not in "iu" for part in (indices, offsets)):
        raise request.refuse("the indices of the sparse matrix must be integers")
    count = len(data)
    rises = len(offsets) == major + 1 and offsets[0] == 0 and offsets[-1] == count
    if not rises or (offsets[1:] < offsets[:-1]).any():
        raise request.refuse("indptr must rise from 0 to ", count, " in ", major + 1, " steps")
    if len(indices) != count:
        raise request.refuse(len(indices), " indices for ", count, " values")
    if count and not (0 <= indices.min() and indices.max() < minor):
        raise request.refuse("indices must be in 0..", minor - 1)

    values = np.float32 if data.dtype.kind == "f" and data.dtype.itemsize <= 4 else np.float64
    wide = np.int64 if count >= 2**31 else np.int32
    kind = scipy_sparse.csr_matrix if by_rows else scipy_sparse.csc_matrix
    matrix = kind(shape, dtype=values)
    # Set one by one: the constructor would copy the indices to the type of the offsets.
    matrix.data = data.astype(values, copy=False)
    matrix.indices = indices.astype(np.int32 if by_rows else wide, copy=False)
    matrix.indptr = offsets.astype(wide, copy=False)
    if not by_rows:
        matrix = matrix.tocsr()
    matrix = _canonical(matrix)
    _require_finite_entries(request, matrix)
    return _canonical(matrix.T.tocsr()) if request.transpose else matrix


def _require_sparse_shape(request: _Request, shape: tuple[int, int], entries: int) -> None:
    """As the core does: more than 2^24 rows or columns must be filled a little."""
    most = max(1 << 24, 1000 * entries)
    for size in shape:
        if size > 2**31 - 2:
            raise request.refuse(shape[0], " x ", shape[1], ", need at most 2147483646 each way")
        if size > most:
            raise request.refuse(shape[0], " x ", shape[1], " with only ", entries, " entries")
    request.require_memory(12 * entries + 8 * sum(shape))


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


def _require_finite_entries(request: _Request, matrix: Any) -> None:
    import numpy as np

    for first in range(0, len(matrix.data), _BLOCK):
        good = np.isfinite(matrix.data[first : first + _BLOCK])
        if not good.all():
            at = first + int(np.argmin(good))
            row = int(np.searchsorted(matrix.indptr, at, side="right")) - 1
            raise _not_finite(request, row, int(matrix.indices[at]), matrix.data[at])


# --- Parquet, Arrow, Feather ------------------------------------------------------------------------------------------


@dataclass
class _ArrowFile:
    """A table whose columns are read a few at a time."""

    format: str
    schema: Any
    rows: int
    piece_rows: int  # the most rows that one piece of a column has in memory
    read: Callable[[list[int]], Iterator[Any]]  # positions of columns -> tables of them, rows in order


def _read_parquet(request: _Request) -> Parts:
    parquet = request.load("pyarrow.parquet")
    with parquet.ParquetFile(request.path, page_checksum_verification=True) as file:
        schema, groups = file.schema_arrow, file.num_row_groups
        unique = len(set(schema.names)) == len(schema.names)

        def read(columns: list[int]) -> Iterator[Any]:
            for group in range(groups):
                if unique:
                    names = [schema.names[j] for j in columns]
                    yield file.read_row_group(group, columns=names).select(names)
                else:
                    yield file.read_row_group(group).select(columns)

        piece_rows = max((file.metadata.row_group(g).num_rows for g in range(groups)), default=0)
        return _arrow_parts(request, _ArrowFile("parquet", schema, file.metadata.num_rows, piece_rows, read))


def _read_arrow(request: _Request) -> Parts:
    pyarrow = request.load("pyarrow")
    ipc = request.load("pyarrow.ipc")
    name = "feather" if request.ending == ".feather" else "arrow"
    with open(request.path, "rb") as file:
        magic = file.read(6)
    if magic == b"ARROW1":
        return _arrow_parts(request, _ipc_file(request, pyarrow, ipc, name))
    if magic[:4] == b"FEA1":
        table = request.load("pyarrow.feather").read_table(request.path, memory_map=False)
    else:
        with pyarrow.OSFile(request.path) as file, ipc.open_stream(file) as stream:
            table = stream.read_all()
    table.validate(full=True)

    def read(columns: list[int]) -> Iterator[Any]:
        yield table.select(columns)

    return _arrow_parts(request, _ArrowFile(name, table.schema, table.num_rows, 1, read))


def _ipc_file(request: _Request, pyarrow: Any, ipc: Any, name: str) -> _ArrowFile:
    def table_of(columns: list[int]) -> Any:
        options = ipc.IpcReadOptions(included_fields=columns)
        with pyarrow.OSFile(request.path) as file, ipc.open_file(file, options=options) as reader:
            table = reader.read_all()
        table.validate(full=True)
        return table

    with pyarrow.OSFile(request.path) as file, ipc.open_file(file) as reader:
        schema = reader.schema
    rows = table_of([0]).num_rows if len(schema) else 0

    def read(columns: list[int]) -> Iterator[Any]:
        # The fields come in the order of the file, whatever the order they are asked for in.
        ordered = sorted(columns)
        yield table_of(ordered).select([ordered.index(j) for j in columns])

    return _ArrowFile(name, schema, rows, rows, read)


def _arrow_parts(request: _Request, file: _ArrowFile) -> Parts:
    names = list(file.schema.names)
    columns = _ArrowColumns(request, file)
    kept = columns.kept()
    parts = Parts(X=None, format=file.format)
    parts.names = [names[j] for j in kept]
    parts.excluded_columns = [names[j] for j in range(len(names)) if j not in set(kept)]
    parts.label_choices = [] if request.transpose else names
    rows, width = (len(kept), file.rows) if request.transpose else (file.rows, len(kept))
    _require_shape(request, rows, width)
    for word, j in columns.labels.items():
        parts.labels[word] = _labels(_arrow_words(file, j))
    if columns.id >= 0:
        parts.row_ids = _words(_arrow_words(file, columns.id))
    X = _filled(request, file, kept)
    parts.X = X if request.transpose else X.T
    if request.transpose:
        parts.names, parts.row_ids = parts.row_ids, parts.names
    return parts


class _ArrowColumns:
    """What each column of a table is for."""

    def __init__(self, request: _Request, file: _ArrowFile):
        self._request, self._file = request, file
        self._positions: dict[str, list[int]] = {}
        for j, name in enumerate(file.schema.names):
            self._positions.setdefault(name, []).append(j)
        self._either = {j for name in request.text_columns for j in self._all(name)}
        self.id = self._id()
        self._text = {self.id, *self._index()}
        # A column of a file that is turned round is not one label a row.
        found = {} if request.transpose else {word: self._one(word) for word in request.labels}
        self.labels = {word: j for word, j in found.items() if j >= 0}
        self._text.update(self.labels.values())

    def kept(self) -> list[int]:
        """The columns of numbers; refuses columns that should be and are not."""
        return [j for j in range(len(self._file.schema)) if j not in self._text and self._is_number(j)]

    def _all(self, name: str) -> list[int]:
        """By name; a name of digits that no column has is a position."""
        found = self._positions.get(name)
        if found is None and name.isascii() and name.isdigit() and int(name) < len(self._file.schema):
            return [int(name)]
        return found or []

    def _one(self, name: str) -> int:
        found = self._all(name)
        if len(found) > 1:
            raise self._request.wrong_name(len(found), " columns are named ", _printable(name), ", need one")
        return found[0] if found else -1

    def _id(self) -> int:
        name = self._request.id_column
        if not name:
            index = self._index()
            return index[0] if len(index) == 1 else -1
        found = self._one(name)
        if found < 0:
            has = _listed(self._file.schema.names)
            raise self._request.wrong_name("no column ", _printable(name), " for the identifiers, it has ", has)
        return found

    def _index(self) -> list[int]:
        """The columns that pandas stored its index in."""
        try:
            names = (self._file.schema.pandas_metadata or {}).get("index_columns", [])
            return [self._positions[n][0] for n in names if isinstance(n, str) and n in self._positions]
        except (ValueError, AttributeError, TypeError):  # a note for pandas, which need not be well-formed
            return []

    def _is_number(self, j: int) -> bool:
        import pyarrow as pa

        kind = self._file.schema.field(j).type
        if j in self._either:
            return _arrow_number_type(kind) is not None and not self._has_missing(j)
        if _arrow_number_type(kind) is not None or pa.types.is_null(kind):
            return True
        name = _printable(self._file.schema.names[j])
        hint = f"(--exclude {name} leaves the column out)"
        if _is_arrow_text(kind):
            row, text = _first_word(self._file, j)
            where = f"row {row}, column {name}"
            raise self._request.refuse(where, ": ", _quoted(text), " is text, not a number ", hint)
        raise self._request.refuse("column ", name, ": of type ", _printable(kind), ", need numbers ", hint)

    def _has_missing(self, j: int) -> bool:
        import numpy as np

        for piece in self._file.read([j]):
            for chunk in piece.column(0).chunks:
                if chunk.null_count or not np.isfinite(_chunk_numbers(chunk)).all():
                    return True
        return False


def _arrow_number_type(kind: Any) -> Any:
    """The NumPy type of a column of this Arrow type; None where it does not hold numbers."""
    import numpy as np
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_boolean(kind):
        return np.dtype(np.uint8)
    if pa.types.is_decimal(kind):
        return np.dtype(np.float64)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return _number_type(np.dtype(kind.to_pandas_dtype()))
    return None


def _is_arrow_text(kind: Any) -> bool:
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    view = getattr(pa.types, "is_string_view", lambda _: False)
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or view(kind)


def _chunk_numbers(chunk: Any) -> Any:
    """The numbers of a chunk without nulls."""
    import pyarrow as pa

    if pa.types.is_dictionary(chunk.type):
        chunk = chunk.dictionary_decode()
    if pa.types.is_boolean(chunk.type):
        chunk = chunk.cast(pa.uint8())
    elif pa.types.is_decimal(chunk.type):
        chunk = chunk.cast(pa.float64())
    return chunk.to_numpy(zero_copy_only=False)


def _arrow_words(file: _ArrowFile, j: int) -> Iterator[Any]:
    """One value a row, of any type that has a text."""
    import pyarrow as pa

    kind = file.schema.field(j).type
    plain = _is_arrow_text(kind) or _arrow_number_type(kind) is not None
    for piece in file.read([j]):
        for chunk in piece.column(0).chunks:
            # Numbers in their own type, so that a float32 of 0.1 is called 0.1.
            if pa.types.is_floating(kind) and not chunk.null_count:
                yield from chunk.to_numpy(zero_copy_only=False)
            else:
                yield from (chunk if plain or pa.types.is_null(kind) else chunk.cast(pa.string())).to_pylist()


def _first_word(file: _ArrowFile, j: int) -> tuple[int, str]:
    for row, value in enumerate(_arrow_words(file, j)):
        if value is not None:
            return row, value
    return 0, ""


def _common_type(types: list[Any]) -> Any:
    """Their one type, or float64 where they have several."""
    import numpy as np

    return types[0] if len(set(types)) == 1 else np.dtype(np.float64)


def _filled(request: _Request, file: _ArrowFile, columns: list[int]) -> Any:
    """The columns as the rows of one array. Only a few of them stand in memory twice."""
    import numpy as np

    kinds = [_arrow_number_type(file.schema.field(j).type) for j in columns]
    dtype = _common_type([kind for kind in kinds if kind is not None] or [np.dtype(np.float64)])
    request.require_memory(len(columns) * file.rows * dtype.itemsize)
    X = np.empty((len(columns), file.rows), dtype)
    several = max(1, (64 << 20) // (8 * max(1, file.piece_rows)))
    missing = _FirstMissing()
    for first in range(0, len(columns), several):
        row = 0
        for piece in file.read(columns[first : first + several]):
            if row + piece.num_rows > file.rows:
                raise request.refuse("more rows than the ", file.rows, " that the file claims")
            for k in range(piece.num_columns):
                _fill_row(X[first + k, row : row + piece.num_rows], piece.column(k), row, columns[first + k], missing)
            row += piece.num_rows
        if row != file.rows:
            raise request.refuse(row, " rows, the file claims ", file.rows)
    if missing.at is not None:
        at_row, column = missing.at
        raise _not_finite(request, at_row, column, missing.value, file.schema.names[column])
    return X


class _FirstMissing:
    """The first cell without a number, in the order of rows."""

    at: tuple[int, int] | None = None
    value: Any = None

    def note(self, row: int, column: int, value: Any) -> None:
        if self.at is None or (row, column) < self.at:
            self.at, self.value = (row, column), value


def _fill_row(out: Any, column: Any, row: int, j: int, missing: _FirstMissing) -> None:
    """Writes one column of a piece, whose first row is `row` of the table."""
    import numpy as np

    at = 0
    for chunk in column.chunks:
        if chunk.null_count:
            nulls = chunk.is_null().to_numpy(zero_copy_only=False)
            missing.note(row + at + int(np.argmax(nulls)), j, None)
            chunk_numbers = _chunk_numbers(chunk.slice(0, int(np.argmax(nulls))))
        else:
            chunk_numbers = _chunk_numbers(chunk)
        if chunk_numbers.dtype.kind == "f":
            good = np.isfinite(chunk_numbers)
            if not good.all():
                bad = int(np.argmin(good))
                missing.note(row + at + bad, j, chunk_numbers[bad])
        out[at : at + len(chunk_numbers)] = chunk_numbers
        at += len(chunk)


# --- AnnData and 10x --------------------------------------------------------------------------------------------------


class _H5:
    """An HDF5 file from which nothing is read that lies in other files."""

    def __init__(self, request: _Request):
        self._request = request
        self._h5py = request.load("h5py")
        self.file = self._h5py.File(request.path, "r")

    def __enter__(self) -> _H5:
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def names(self, group: Any) -> list[str]:
        return list(group) if self.is_group(group) else []

    def get(self, group: Any, name: str) -> Any:
        """A group or dataset; None where there is none."""
        if not self.is_group(group) or not name or name not in group:
            return None
        if isinstance(group.get(name, getlink=True), self._h5py.ExternalLink):
            raise self._request.refuse(_printable(name), " lies in another file")
        found = group[name]
        if found.file.filename != self.file.filename:
            raise self._request.refuse(_printable(name), " lies in another file")
        return found

    def is_group(self, found: Any) -> bool:
        return isinstance(found, self._h5py.Group)

    def is_dataset(self, found: Any) -> bool:
        return isinstance(found, self._h5py.Dataset)

    def is_reference(self, found: Any) -> bool:
        return self._h5py.check_ref_dtype(found.dtype) is not None

    def values(self, found: Any, what: str) -> Any:
        """The whole of a dataset in memory."""
        self.require_here(found, what)
        return found[()]

    def require_here(self, found: Any, what: str) -> None:
        """A dataset that lies in this file, in the size that it claims, and fits the memory."""
        if not self.is_dataset(found) or found.shape is None:
            raise self._request.refuse("no array ", _printable(what))
        if found.is_virtual or found.external:
            raise self._request.refuse(_printable(what), " lies in another file")
        self._request.require_memory(found.size * found.dtype.itemsize)
        # No filter makes less than a thousandth of what it is given; chunks of zeros may be left out, within reason.
        claimed = found.size * found.id.get_type().get_size()
        there = os.path.getsize(self._request.path)
        if claimed > (there if found.chunks is None else max(1100 * there, 1 << 28)):
            raise self._request.refuse(_printable(what), ": claims ", claimed, " bytes in a file of ", there)


def _read_h5(request: _Request) -> Parts:
    with _H5(request) as h5:
        if "matrix" in h5.file and "X" not in h5.file:
            return _tenx_parts(request, h5)
        if "obs" in h5.file and "var" in h5.file:
            return _anndata_parts(request, h5)
        raise request.refuse("neither AnnData (X, obs, var) nor 10x (matrix), it has ", _listed(h5.names(h5.file)))


def _read_h5ad(request: _Request) -> Parts:
    with _H5(request) as h5:
        if "obs" not in h5.file or "var" not in h5.file:
            raise request.refuse("not AnnData, it needs obs and var and has ", _listed(h5.names(h5.file)))
        return _anndata_parts(request, h5)


def _anndata_parts(request: _Request, h5: _H5) -> Parts:
    # The smaller parts first: most mistakes of a call end here.
    matrix = _anndata_matrix(request, h5)
    obs, var = _Frame(request, h5, "obs"), _Frame(request, h5, "var")
    labelled = var if request.transpose else obs
    parts = Parts(X=None, format="h5ad", label_choices=labelled.columns())
    for word in request.labels:
        if word in parts.label_choices:
            parts.labels[word] = _labels(labelled.column(word))
    if request.id_column and request.id_column not in obs.columns():
        has = _listed(obs.columns())
        raise request.wrong_name("no column ", _printable(request.id_column), " for the identifiers, obs has ", has)
    parts.row_ids = _words(obs.column(request.id_column) if request.id_column else obs.index())
    parts.names = _words(var.index())
    if request.transpose:
        parts.names, parts.row_ids = parts.row_ids, parts.names
    parts.X = _h5_dense(request, h5, matrix) if h5.is_dataset(matrix) else _h5_sparse(request, h5, matrix)
    _require_counts(request, parts)
    return parts


def _anndata_matrix(request: _Request, h5: _H5) -> Any:
    """The group or dataset of X or of a layer."""
    name = request.array
    layers = h5.get(h5.file, "layers")
    found = h5.get(h5.file, "X") if name == "X" else h5.get(layers, name.removeprefix("layers/"))
    if found is None:
        choices = [n for n in ("X",) if n in h5.file] + [f"layers/{n}" for n in h5.names(layers)]
        takes = f", --array takes one of {_listed(choices)}" if choices else " and no layers"
        raise request.wrong_name("no array ", _printable(name), takes)
    return found


def _h5_dense(request: _Request, h5: _H5, found: Any) -> Any:
    if found.shape is None or len(found.shape) != 2:
        has = "empty" if found.shape is None else f"of {len(found.shape)} dimensions"
        raise request.refuse("array ", _printable(request.array), " is ", has, ", need 2 dimensions")
    if _number_type(found.dtype) is None:
        raise request.refuse("array ", _printable(request.array), " is of type ", found.dtype, ", need real numbers")
    return _dense(request, h5.values(found, request.array))


def _h5_sparse(request: _Request, h5: _H5, group: Any) -> Any:
    kind = _word(group.attrs.get("encoding-type", group.attrs.get("h5sparse_format", "")))
    if kind.removesuffix("_matrix") not in ("csr", "csc"):
        what = f"array {_printable(request.array)}"
        raise request.refuse(what, " is ", _quoted(kind), ", need a dense, CSR or CSC matrix")
    shape = group.attrs.get("shape", group.attrs.get("h5sparse_shape"))
    return _h5_compressed(request, h5, group, shape, by_rows=kind.startswith("csr"))


def _h5_compressed(request: _Request, h5: _H5, group: Any, shape: Any, by_rows: bool) -> Any:
    import numpy as np

    shape = np.asarray(shape).ravel()
    if shape.dtype.kind not in "iu" or len(shape) != 2 or (shape < 0).any():
        raise request.refuse("bad shape of the sparse matrix, need two counts")
    data, indices, indptr = (h5.values(h5.get(group, name), name) for name in ("data", "indices", "indptr"))
    return _compressed(request, data, indices, indptr, (int(shape[0]), int(shape[1])), by_rows)


class _Frame:
    """obs or var: a group of columns or, as long ago, one compound array."""

    def __init__(self, request: _Request, h5: _H5, name: str):
        self._request, self._h5, self._name = request, h5, name
        self._read_elem = request.load("anndata.io").read_elem
        self._found = h5.get(h5.file, name)
        self._old = None if h5.is_group(self._found) else self._read_elem(self._found)

    def columns(self) -> list[str]:
        if self._old is not None:
            return [str(name) for name in self._old.columns]
        index = self._index_name()
        return [name for name in self._found if name != index and not name.startswith("__")]

    def column(self, name: str) -> Any:
        if self._old is not None:
            return self._old[name]
        found = self._h5.get(self._found, name)
        self._require_plain(found, name)
        values = self._read_elem(found)
        if getattr(values, "ndim", 0) != 1:
            raise self._request.refuse(self._name, " ", _printable(name), " is not a column")
        return values

    def index(self) -> Any:
        return self._old.index if self._old is not None else self.column(self._index_name())

    def _index_name(self) -> str:
        return _word(self._found.attrs.get("_index", "_index"))

    def _require_plain(self, found: Any, name: str) -> None:
        """Everything that read_elem will read."""
        if found is None:
            raise self._request.refuse(self._name, " has no column ", _printable(name))
        for part in [found] if self._h5.is_dataset(found) else [self._h5.get(found, n) for n in found]:
            self._h5.require_here(part, f"{self._name}/{name}")


def _require_counts(request: _Request, parts: Parts) -> None:
    rows, columns = parts.X.shape
    counts = [("names of columns", parts.names, columns), ("row identifiers", parts.row_ids, rows)]
    counts += [(f"labels {_printable(word)}", words, rows) for word, words in parts.labels.items()]
    for what, words, need in counts:
        if words is not None and len(words) != need:
            raise request.refuse(len(words), " ", what, " for ", need)


def _tenx_parts(request: _Request, h5: _H5) -> Parts:
    """Cell Ranger's file: genes x cells by columns, which is cells x genes by rows."""
    matrix = h5.get(h5.file, "matrix")
    shape = h5.values(h5.get(matrix, "shape"), "matrix/shape")
    parts = Parts(X=None, format="10x")
    parts.names = _words(h5.values(h5.get(h5.get(matrix, "features"), "name"), "matrix/features/name"))
    parts.row_ids = _words(h5.values(h5.get(matrix, "barcodes"), "matrix/barcodes"))
    if request.transpose:
        parts.names, parts.row_ids = parts.row_ids, parts.names
    parts.X = _h5_compressed(request, h5, matrix, shape[::-1], by_rows=True)
    _require_counts(request, parts)
    return parts


# --- MATLAB -----------------------------------------------------------------------------------------------------------

_MATLAB_NUMBERS = {"double", "single", "logical", "sparse"} | {f"{u}int{b}" for u in ("", "u") for b in (8, 16, 32, 64)}


@dataclass
class _Variables:
    """The variables of a MATLAB file: shape and class of each, and how to read one."""

    kinds: dict[str, tuple[tuple[int, ...], str]]
    matrix: Callable[[str], Any]  # -> X as the core takes it
    words: Callable[[str], Any]  # -> one value a row


def _read_mat(request: _Request) -> Parts:
    with open(request.path, "rb") as file:
        head = file.read(520)
    if b"\x89HDF\r\n\x1a\n" in (head[:8], head[512:520]):
        with _H5(request) as h5:
            return _mat_parts(request, _mat73_variables(request, h5))
    return _mat_parts(request, _mat5_variables(request))


def _mat_parts(request: _Request, variables: _Variables) -> Parts:
    name = _chosen_variable(request, variables.kinds)
    shape, kind = variables.kinds[name]
    if kind not in _MATLAB_NUMBERS or len(shape) != 2:
        what = f"of {len(shape)} dimensions" if kind in _MATLAB_NUMBERS else f"of class {_printable(kind)}"
        raise request.refuse("variable ", _printable(name), " is ", what, ", need a matrix of real numbers")
    parts = Parts(X=variables.matrix(name), format="mat", label_choices=list(variables.kinds))
    for word in request.labels:
        if word in variables.kinds:
            parts.labels[word] = _labels(_mat_vector(request, variables, word))
    if request.id_column:
        if request.id_column not in variables.kinds:
            missing, has = _printable(request.id_column), _listed(list(variables.kinds))
            raise request.wrong_name("no variable ", missing, " for the identifiers, it has ", has)
        parts.row_ids = _labels(_mat_vector(request, variables, request.id_column))
    if request.transpose:
        parts.names, parts.row_ids = parts.row_ids, parts.names
    _require_counts(request, parts)
    return parts


def _chosen_variable(request: _Request, kinds: dict[str, tuple[tuple[int, ...], str]]) -> str:
    """The variable asked for; where the default is not there, the only one that can be a table."""
    if request.array in kinds:
        return request.array
    tables = [
        name
        for name, (shape, kind) in kinds.items()
        if kind in _MATLAB_NUMBERS and len(shape) == 2 and min(shape) > 1 and name not in request.labels
    ]
    if request.array == "X" and len(tables) == 1:
        return tables[0]
    if not kinds:
        raise request.refuse("no variables")
    raise request.wrong_name("no variable ", _printable(request.array), ", --array takes one of ", _listed(list(kinds)))


def _mat_vector(request: _Request, variables: _Variables, name: str) -> Any:
    import numpy as np

    kind = variables.kinds[name][1]
    if kind not in _MATLAB_NUMBERS | {"char", "cell"} or kind == "sparse":
        what = f"variable {_printable(name)} is of class {_printable(kind)}"
        raise request.refuse(what, ", need numbers or words")
    values = np.asarray(variables.words(name))
    if kind != "char" and (values.ndim != 2 or 1 not in values.shape):
        raise request.refuse("variable ", _printable(name), " is not a vector")
    values = values.ravel()
    if values.dtype.kind == "c" or values.dtype.kind == "f" and np.isinf(values).any():
        raise request.refuse("variable ", _printable(name), " is complex or infinite, need numbers or words")
    return values


def _mat5_variables(request: _Request) -> _Variables:
    import numpy as np

    scipy_io = request.load("scipy.io")
    listed = scipy_io.whosmat(request.path, appendmat=False)
    kinds = {name: (tuple(map(int, shape)), kind) for name, shape, kind in listed}

    def load(name: str) -> Any:
        shape, kind = kinds[name]
        if kind != "sparse":
            request.require_memory(int(np.prod(shape, dtype=object)))  # at least a byte each
        _require_sound_mat5(request, name)
        return scipy_io.loadmat(request.path, appendmat=False, variable_names=[name])[name]

    def matrix(name: str) -> Any:
        found = load(name)
        if found.dtype.kind == "c":
            raise request.refuse("variable ", _printable(name), " is complex, need real numbers")
        if not hasattr(found, "tocsc"):
            return _dense(request, found.view(np.uint8) if kinds[name][1] == "logical" else found)
        if found.format != "csc":  # version 4; SciPy checks these triples itself
            found = found.tocsc()
        return _compressed(request, found.data, found.indices, found.indptr, found.shape, by_rows=False)

    def words(name: str) -> Any:
        found = load(name)
        return _cell_words(request, name, found) if kinds[name][1] == "cell" else found

    return _Variables(kinds, matrix, words)


class _Inflated:
    """Reads on in a zlib stream that stands in a file."""

    def __init__(self, file: Any, size: int):
        self._file, self._left = file, size
        self._inflate = zlib.decompressobj()

    def read(self, size: int) -> bytes:
        out = bytearray()
        while len(out) < size and not self._inflate.eof:
            packed = self._inflate.unconsumed_tail
            if not packed:
                packed = self._file.read(min(self._left, 1 << 16))
                self._left -= len(packed)
                if not packed:
                    break
            out += self._inflate.decompress(packed, size - len(out))
        return bytes(out)


def _require_sound_mat5(request: _Request, name: str) -> None:
    """The structure of a variable of a version 5 file: SciPy's reader crashes where the type of a part is unknown."""
    with open(request.path, "rb") as file:
        head = file.read(128)
        order = {b"IM": "little", b"MI": "big"}.get(head[126:128])
        if order is None:  # version 4 has no such types
            return
        while True:
            tag = file.read(8)
            if len(tag) < 8:
                return
            kind, size = (int.from_bytes(part, order) for part in (tag[:4], tag[4:]))
            begin = file.tell()
            stream: Any = _Inflated(file, size) if kind == 15 else file
            if kind == 15:
                inner = stream.read(8)
                kind = int.from_bytes(inner[:4], order)
            if kind == 14:
                _MatlabElement(request, stream, order).check(name)
            file.seek(begin + size)


class _MatlabElement:
    """One matrix of a version 5 file, read as a stream of tagged parts."""

    _ITEM = {1: 1, 2: 1, 3: 2, 4: 2, 5: 4, 6: 4, 7: 4, 9: 8, 12: 8, 13: 8, 16: 1, 17: 2, 18: 4}  # bytes by type
    _CELL, _CHAR, _SPARSE, _NUMBERS = 1, 4, 5, range(6, 16)

    def __init__(self, request: _Request, stream: Any, order: str):
        self._request, self._stream, self._order = request, stream, order

    def check(self, name: str | None, depth: int = 0) -> None:
        """Refuses what is unsound, where it is the variable of this name (None: any)."""
        import numpy as np

        flags = self._integers(self._part())
        dims = self._integers(self._part())
        called = self._part().decode("latin-1")
        if name is not None and called != name:
            return
        if len(flags) != 2:
            raise self._broken()
        kind, is_complex = flags[0] & 0xFF, flags[0] >> 11 & 1
        if kind == self._CELL and depth == 0:
            count = int(np.prod(dims, dtype=object))
            for _ in range(count):
                tag = self._stream.read(8)
                if int.from_bytes(tag[:4], self._order) != 14:
                    raise self._broken()
                if int.from_bytes(tag[4:], self._order):
                    self.check(None, depth + 1)
        elif kind == self._CHAR or kind in self._NUMBERS:
            self._skip_parts(1 + is_complex)
        elif kind == self._SPARSE:
            self._skip_parts(3 + is_complex)
        elif depth > 0:
            raise self._request.refuse("a cell is not a word")

    def _broken(self) -> ReadError:
        return self._request.refuse("the file is broken: an element of an unknown type, or cut short")

    def _tag(self) -> tuple[int, int, bytes | None]:
        """Type, bytes, and the bytes themselves where they are within the tag."""
        tag = self._stream.read(8)
        first = int.from_bytes(tag[:4], self._order)
        kind, small = first & 0xFFFF, first >> 16
        size = small or int.from_bytes(tag[4:], self._order)
        if len(tag) < 8 or small > 4 or kind not in self._ITEM or size % self._ITEM[kind]:
            raise self._broken()
        return kind, size, tag[4 : 4 + small] if small else None

    def _part(self) -> bytes:
        """The bytes of a short part: flags, dimensions, the name."""
        _, size, within = self._tag()
        if within is not None:
            return within
        if size > 4096:
            raise self._broken()
        out = self._stream.read(size + -size % 8)
        return out[:size]

    def _integers(self, part: bytes) -> list[int]:
        return [int.from_bytes(part[at : at + 4], self._order) for at in range(0, len(part), 4)]

    def _skip_parts(self, count: int) -> None:
        for _ in range(count):
            _, size, within = self._tag()
            left = 0 if within is not None else size + -size % 8
            padding = 0 if within is not None else -size % 8
            while left > 0:
                passed = len(self._stream.read(min(left, 1 << 20)))
                if passed == 0 and left > padding:
                    raise self._broken()
                if passed == 0:
                    break
                left -= passed


def _cell_words(request: _Request, name: str, cells: Any) -> Any:
    """A cell array of words, each a character array with one string or none."""
    import numpy as np

    out = np.empty(cells.shape, object)
    for at, cell in np.ndenumerate(cells):
        if cell.dtype.kind != "U" or cell.size > 1:
            raise request.refuse("variable ", _printable(name), ": a cell is not a word")
        out[at] = cell.item() if cell.size else ""
    return out


def _mat73_variables(request: _Request, h5: _H5) -> _Variables:
    import numpy as np

    def describe(found: Any) -> tuple[tuple[int, ...], str]:
        if h5.is_group(found):
            if "MATLAB_sparse" not in found.attrs:
                return (), _word(found.attrs.get("MATLAB_class", "struct"))
            ends = h5.get(found, "jc")
            columns = ends.shape[0] - 1 if h5.is_dataset(ends) and ends.shape else 0
            return (int(found.attrs["MATLAB_sparse"]), columns), "sparse"
        shape = tuple(map(int, found[()])) if found.attrs.get("MATLAB_empty") and found.size < 32 else found.shape
        plain = _number_type(found.dtype) is not None
        kind = _word(found.attrs.get("MATLAB_class", "double" if plain else "unknown"))
        complex_pair = kind in _MATLAB_NUMBERS and not plain
        return tuple(reversed(shape or ())), "complex" if complex_pair else kind

    found_here = {name: h5.get(h5.file, name) for name in h5.file if not name.startswith("#")}
    kinds = {n: describe(v) for n, v in found_here.items() if h5.is_group(v) or h5.is_dataset(v)}

    def matrix(name: str) -> Any:
        shape, kind = kinds[name]
        found = found_here[name]
        if kind == "sparse":
            return sparse(found, shape)
        turned = shape[::-1] if request.transpose else shape
        _require_shape(request, *turned)
        return _dense(request, h5.values(found, name).T)

    def sparse(group: Any, shape: tuple[int, ...]) -> Any:
        ends = h5.values(h5.get(group, "jc"), "jc")
        if h5.get(group, "data") is None and not ends.any():  # a matrix of zeros has neither values nor rows
            data, rows = np.empty(0), np.empty(0, np.int32)
        else:
            data, rows = (h5.values(h5.get(group, part), part) for part in ("data", "ir"))
        return _compressed(request, data, rows, ends, (shape[0], shape[1]), by_rows=False)

    def words(name: str) -> Any:
        kind, found = kinds[name][1], found_here[name]
        if kind == "char":
            return np.array([text_of(row) for row in np.atleast_2d(h5.values(found, name).T)])
        if kind != "cell":
            return h5.values(found, name).T
        if not h5.is_reference(found):
            raise request.refuse("variable ", _printable(name), ": a cell is not a word")
        cells = h5.values(found, name).T
        out = np.empty(cells.shape, object)
        for at, reference in np.ndenumerate(cells):
            out[at] = cell_of(name, h5.file[reference])
        return out

    def cell_of(name: str, cell: Any) -> str:
        if not h5.is_dataset(cell) or _word(cell.attrs.get("MATLAB_class", "")) != "char":
            raise request.refuse("variable ", _printable(name), ": a cell is not a word")
        return "" if cell.attrs.get("MATLAB_empty") else text_of(h5.values(cell, name).ravel())

    def text_of(codes: Any) -> str:
        return codes.astype("<u2").tobytes().decode("utf-16-le", "replace")

    return _Variables(kinds, matrix, words)


_READERS: dict[str, Callable[[_Request], Parts]] = {
    ".parquet": _read_parquet,
    ".pq": _read_parquet,
    ".arrow": _read_arrow,
    ".ipc": _read_arrow,
    ".feather": _read_arrow,
    ".h5ad": _read_h5ad,
    ".h5": _read_h5,
    ".mat": _read_mat,
}
