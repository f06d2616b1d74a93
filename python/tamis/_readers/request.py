"""Requests to readers, their results, and their errors."""

from __future__ import annotations

import importlib
import os
from dataclasses import dataclass, field
from typing import Any

from .words import printable


class MissingReader(ImportError):
    """The library that reads a format is not installed."""


class ReadError(ValueError):
    """The file does not contain a table of numbers; one line with path and position."""


class WrongName(ReadError, LookupError):
    """No column, array or variable of that name: an error in the call, not in the file."""


class TooLarge(ReadError, MemoryError):
    """The table does not fit in the memory limit."""


@dataclass
class Parts:
    """The contents of a file.

    Attributes
    ----------
    X : numpy.ndarray or scipy.sparse.csr_matrix
        The numbers, one row per sample, in any memory order. Sparse: float32 or float64, column indices int32 and
        strictly increasing within a row. Or the sink of the request, which took the rows.
    names, row_ids : list of str or None
        Names of the columns and rows.
    labels : dict
        One string per row for each requested name that the file has; "" for missing labels.
    label_choices : list of str
        Names that could have been requested as labels.
    excluded_columns : list of str
        Columns of the file that are not in X.
    format : str
        "parquet", "arrow", "feather", "h5ad", "zarr", "10x" or "mat".
    """

    X: Any
    names: list[str] | None = None
    row_ids: list[str] | None = None
    labels: dict[str, list[str]] = field(default_factory=dict)
    label_choices: list[str] = field(default_factory=list)
    excluded_columns: list[str] = field(default_factory=list)
    format: str = ""


@dataclass(frozen=True)
class Request:
    """The arguments of one call, and its errors."""

    path: str
    array: str
    id_column: str
    labels: tuple[str, ...]
    text_columns: tuple[str, ...]
    transpose: bool
    memory_limit: int
    sink: Any = None  # _core.RowSink, if rows may stay out of memory

    @property
    def piece_bytes(self) -> int:
        """Size of the pieces that are passed to the sink."""
        return max(1 << 20, min(64 << 20, self.memory_limit // 32))

    def leaves_on_disk(self, rows: int, columns: int, dtype: Any, buffers: int = 0) -> bool:
        """Whether the sink takes dense rows; not for transposed tables, whose rows are never contiguous in the file.

        Otherwise the reader loads them into memory, and needs `buffers` bytes of its own meanwhile.
        """
        if self.sink is None or self.transpose:
            return False
        return bool(self.sink.takes_rows(rows, columns, dtype.name, buffers))

    def leaves_sparse_on_disk(self, columns: int, dtype: Any, offsets: Any) -> bool:
        if self.sink is None or self.transpose:
            return False
        return bool(self.sink.takes_sparse_rows(columns, dtype.name, offsets))

    @property
    def where(self) -> str:
        return printable(self.path, len(self.path))

    @property
    def ending(self) -> str:
        return os.path.splitext(self.path.rstrip("/"))[1].lower()

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
