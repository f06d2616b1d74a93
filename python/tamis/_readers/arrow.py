"""Parquet, Arrow and Feather, by pyarrow."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from .numbers import not_finite, number_type, require_shape
from .request import Flag, Parts, Request, Unread
from .words import as_words, label_words, listed, printable, quoted


@dataclass
class _ArrowFile:
    """A table whose columns are read a few at a time."""

    format: str
    schema: Any
    rows: int
    piece_rows: int  # maximum number of rows of a column in memory at a time
    read: Callable[[list[int]], Iterator[Any]]  # positions of columns -> tables of them, rows in order


def open_parquet(request: Request, files: ExitStack) -> Parts:
    parquet = request.load("pyarrow.parquet")
    file = files.enter_context(parquet.ParquetFile(request.path, page_checksum_verification=True))
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


def open_arrow(request: Request, files: ExitStack) -> Parts:
    pyarrow = request.load("pyarrow")
    ipc = request.load("pyarrow.ipc")
    name = "feather" if request.ending == ".feather" else "arrow"
    with open(request.path, "rb") as file:
        magic = file.read(6)
    if magic == b"ARROW1":
        return _arrow_parts(request, _ipc_file(request, pyarrow, ipc, name))
    if request.whole_process:  # these are read whole
        request.require_memory(os.path.getsize(request.path))
    if magic[:4] == b"FEA1":
        table = request.load("pyarrow.feather").read_table(request.path, memory_map=False)
    else:
        with pyarrow.OSFile(request.path) as file, ipc.open_stream(file) as stream:
            table = stream.read_all()
    table.validate(full=True)

    def read(columns: list[int]) -> Iterator[Any]:
        yield table.select(columns)

    return _arrow_parts(request, _ArrowFile(name, table.schema, table.num_rows, 1, read))


def _ipc_file(request: Request, pyarrow: Any, ipc: Any, name: str) -> _ArrowFile:
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
        # Fields come in file order, whatever order is requested.
        ordered = sorted(columns)
        yield table_of(ordered).select([ordered.index(j) for j in columns])

    return _ArrowFile(name, schema, rows, rows, read)


def _arrow_parts(request: Request, file: _ArrowFile) -> Parts:
    names = list(file.schema.names)
    columns = _ArrowColumns(request, file)
    kept = columns.kept()
    parts = Parts(X=None, format=file.format)
    parts.names = [names[j] for j in kept]
    parts.excluded_columns = [names[j] for j in range(len(names)) if j not in set(kept)]
    parts.columns = kept if parts.excluded_columns and not request.transpose else None
    parts.label_choices = [] if request.transpose else names
    rows, width = (len(kept), file.rows) if request.transpose else (file.rows, len(kept))
    require_shape(request, rows, width)
    for word, j in columns.labels.items():
        parts.labels[word] = label_words(_arrow_words(file, j))
    if columns.id >= 0:
        parts.row_ids = as_words(_arrow_words(file, columns.id))
    parts.X = _unread(request, file, kept)
    if request.transpose:
        parts.names, parts.row_ids = parts.row_ids, parts.names
    return parts


class _ArrowColumns:
    """The role of each column of a table."""

    def __init__(self, request: Request, file: _ArrowFile):
        self._request, self._file = request, file
        self._positions: dict[str, list[int]] = {}
        for j, name in enumerate(file.schema.names):
            self._positions.setdefault(name, []).append(j)
        self._either = {j for name in request.text_columns for j in self._matching(name)}
        self.id = self._id()
        self._text = {self.id, *self._index()}
        # In a transposed file a column does not hold one label per row.
        found = {} if request.transpose else {word: self._one(word) for word in request.labels}
        self.labels = {word: j for word, j in found.items() if j >= 0}
        self._text.update(self.labels.values())

    def kept(self) -> list[int]:
        """The numeric columns; rejects feature columns that are not numeric."""
        return [j for j in range(len(self._file.schema)) if j not in self._text and self._is_number(j)]

    def _matching(self, word: str) -> list[int]:
        """Columns by name or position, or all that match a pattern; a name wins over a pattern."""
        if word in self._positions or not set("*?") & set(word):
            return self._all(word)
        pattern = re.compile("".join({"*": ".*", "?": "."}.get(letter, re.escape(letter)) for letter in word), re.DOTALL)
        return [j for j, name in enumerate(self._file.schema.names) if pattern.fullmatch(name)]

    def _all(self, name: str) -> list[int]:
        """Columns by name; digits that are not a column name are a position."""
        found = self._positions.get(name)
        if found is None and name.isascii() and name.isdigit() and int(name) < len(self._file.schema):
            return [int(name)]
        return found or []

    def _one(self, name: str) -> int:
        found = self._all(name)
        if len(found) > 1:
            raise self._request.wrong_name(len(found), " columns are named ", printable(name), ", need one")
        return found[0] if found else -1

    def _id(self) -> int:
        name = self._request.id_column
        if not name:
            index = self._index()
            return index[0] if len(index) == 1 else -1
        found = self._one(name)
        if found < 0:
            has = listed(self._file.schema.names)
            raise self._request.wrong_name("no column ", printable(name), " for the identifiers, it has ", has)
        return found

    def _index(self) -> list[int]:
        """The columns in which pandas stored its index."""
        try:
            names = (self._file.schema.pandas_metadata or {}).get("index_columns", [])
            return [self._positions[n][0] for n in names if isinstance(n, str) and n in self._positions]
        except (ValueError, AttributeError, TypeError):  # pandas metadata may be malformed
            return []

    def _is_number(self, j: int) -> bool:
        import pyarrow as pa

        kind = self._file.schema.field(j).type
        if j in self._either:
            return _arrow_number_type(kind) is not None and not self._has_missing(j)
        if _arrow_number_type(kind) is not None or pa.types.is_null(kind):
            return True
        name = printable(self._file.schema.names[j])
        hint = ("(", Flag("exclude", name), " leaves the column out)")
        if _is_arrow_text(kind):
            row, text = _first_word(self._file, j)
            where = f"row {row}, column {name}"
            raise self._request.refuse(where, ": ", quoted(text), " is text, not a number ", *hint)
        raise self._request.refuse("column ", name, ": of type ", printable(kind), ", need numbers ", *hint)

    def _has_missing(self, j: int) -> bool:
        import numpy as np

        for piece in self._file.read([j]):
            for chunk in piece.column(0).chunks:
                if chunk.null_count or not np.isfinite(_chunk_numbers(chunk)).all():
                    return True
        return False


def _arrow_number_type(kind: Any) -> Any:
    """The NumPy type of a column of this Arrow type; None if it is not numeric."""
    import numpy as np
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_boolean(kind):
        return np.dtype(np.uint8)
    if pa.types.is_decimal(kind):
        return np.dtype(np.float64)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return number_type(np.dtype(kind.to_pandas_dtype()))
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
    """One value per row, of any type that can be written as text."""
    import pyarrow as pa

    kind = file.schema.field(j).type
    plain = _is_arrow_text(kind) or _arrow_number_type(kind) is not None
    for piece in file.read([j]):
        for chunk in piece.column(0).chunks:
            # Numbers in their own type, so that a float32 of 0.1 is written as 0.1.
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
    """Their common type, or float64 if types are mixed."""
    import numpy as np

    return types[0] if len(set(types)) == 1 else np.dtype(np.float64)


def _unread(request: Request, file: _ArrowFile, columns: list[int]) -> Unread:
    import numpy as np

    kinds = [_arrow_number_type(file.schema.field(j).type) for j in columns]
    dtype = _common_type([kind for kind in kinds if kind is not None] or [np.dtype(np.float64)])
    if request.missing_kept and dtype.kind != "f":
        dtype = np.dtype(np.float64)  # nulls become NaN
    buffers = _buffers(request, file, len(columns))

    def load() -> Any:
        request.require_memory(len(columns) * file.rows * dtype.itemsize + (buffers if request.whole_process else 0))
        whole = _Whole(np.empty((len(columns), file.rows), dtype))
        _fill(request, file, columns, whole)
        return whole.X if request.transpose else whole.X.T

    if request.transpose:
        return Unread((len(columns), file.rows), load)

    def stream(sink: Any) -> None:
        _fill(request, file, columns, _Panels(sink, dtype))

    return Unread((file.rows, len(columns)), load, stream, dtype, buffers=buffers)


def _columns_at_once(request: Request, file: _ArrowFile) -> int:
    return max(1, request.piece_bytes // (8 * max(1, file.piece_rows)))


def _buffers(request: Request, file: _ArrowFile, columns: int) -> int:
    """Memory that Arrow holds while reading, as measured: a piece, its compressed bytes, and what it does not release."""
    piece = 8 * file.piece_rows * min(columns, _columns_at_once(request, file))
    return min(3 * piece + (64 << 20), 3 * 8 * file.rows * columns)


class _Whole:
    """Collects pieces of columns into one array."""

    def __init__(self, X: Any):
        self.X = X

    def room(self, first: int, columns: int, row: int, rows: int) -> Any:
        return self.X[first : first + columns, row : row + rows]

    def done(self, first: int, piece: Any) -> None:
        pass


class _Panels:
    """Passes pieces of columns to the sink."""

    def __init__(self, sink: Any, dtype: Any):
        self._sink, self._dtype = sink, dtype

    def room(self, first: int, columns: int, row: int, rows: int) -> Any:
        import numpy as np

        return np.empty((columns, rows), self._dtype)

    def done(self, first: int, piece: Any) -> None:
        self._sink.add(piece.T, first)


def _fill(request: Request, file: _ArrowFile, columns: list[int], to: Any) -> None:
    """Only a few columns at a time are in memory twice."""
    pool = request.load("pyarrow").default_memory_pool()
    several = _columns_at_once(request, file)
    missing = _FirstMissing(request.missing_kept)
    for first in range(0, len(columns), several):
        row = 0
        for piece in file.read(columns[first : first + several]):
            if row + piece.num_rows > file.rows:
                raise request.refuse("more rows than the ", file.rows, " declared in the file")
            if piece.num_rows == 0:
                continue
            numbers = to.room(first, piece.num_columns, row, piece.num_rows)
            for k in range(piece.num_columns):
                _fill_row(numbers[k], piece.column(k), row, columns[first + k], missing)
            to.done(first, numbers)
            row += piece.num_rows
            del piece, numbers
            pool.release_unused()  # otherwise it holds on to the memory of many pieces
        if row != file.rows:
            raise request.refuse(row, " rows, but the file declares ", file.rows)
    if missing.at is not None:
        at_row, column = missing.at
        raise not_finite(request, at_row, column, missing.value, file.schema.names[column])


class _FirstMissing:
    """The first cell without a number, in row order; nulls and NaN do not count where they are kept."""

    at: tuple[int, int] | None = None
    value: Any = None

    def __init__(self, kept: bool):
        self.kept = kept

    def note(self, row: int, column: int, value: Any) -> None:
        if self.at is None or (row, column) < self.at:
            self.at, self.value = (row, column), value


def _with_nan(chunk: Any) -> Any:
    """The numbers of a chunk, NaN for nulls."""
    import numpy as np
    import pyarrow as pa

    if pa.types.is_null(chunk.type):
        return np.full(len(chunk), np.nan)
    return np.asarray(_chunk_numbers(chunk), dtype=np.float64)


def _fill_row(out: Any, column: Any, row: int, j: int, missing: _FirstMissing) -> None:
    """Writes one column of a piece, whose first row is `row` of the table."""
    import numpy as np

    at = 0
    for chunk in column.chunks:
        if chunk.null_count and missing.kept:
            chunk_numbers = _with_nan(chunk)
        elif chunk.null_count:
            nulls = chunk.is_null().to_numpy(zero_copy_only=False)
            missing.note(row + at + int(np.argmax(nulls)), j, None)
            chunk_numbers = _chunk_numbers(chunk.slice(0, int(np.argmax(nulls))))
        else:
            chunk_numbers = _chunk_numbers(chunk)
        if chunk_numbers.dtype.kind == "f":
            good = ~np.isinf(chunk_numbers) if missing.kept else np.isfinite(chunk_numbers)
            if not good.all():
                bad = int(np.argmin(good))
                missing.note(row + at + bad, j, chunk_numbers[bad])
        out[at : at + len(chunk_numbers)] = chunk_numbers
        at += len(chunk)
