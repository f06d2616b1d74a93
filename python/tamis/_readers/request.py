"""What a reader is asked for, what it returns, and the ways it may end."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .words import printable


class MissingReader(ImportError):
    """The library that reads a format is not installed."""


class ReadError(ValueError):
    """The file does not hold a table of numbers; one line with the path and the position."""


class WrongName(ReadError, LookupError):
    """No column, array or variable of that name: a mistake of the call, not of the file."""


class TooLarge(ReadError, MemoryError):
    """The table does not fit the memory."""


@dataclass
class Unread:
    """The numbers of a file that is open, before any of them is read.

    Attributes
    ----------
    shape : tuple of int
        Samples and features.
    load : callable
        Reads them: the X of `Parts`.
    stream : callable or None
        Gives them to a sink (_core.RowSink), some rows at a time; None where rows do not stand together in the file.
    dtype : numpy.dtype
        Of what a sink is given.
    offsets : numpy.ndarray or None
        Of sparse rows: where the entries of each begin.
    buffers : int
        Bytes that the reader holds of its own while it loads.
    """

    shape: tuple[int, int]
    load: Callable[[], Any]
    stream: Callable[[Any], None] | None = None
    dtype: Any = None
    offsets: Any = None
    buffers: int = 0


@dataclass
class Parts:
    """What a file holds.

    Attributes
    ----------
    X : numpy.ndarray or scipy.sparse.csr_matrix
        The numbers, one sample a row, in any order of memory. Sparse: float32 or float64, column indices int32 and
        strictly increasing within a row. Of a file that was only opened: `Unread`. Of rows that went to a sink: None.
    names, row_ids : list of str or None
        Of the columns and rows.
    labels : dict
        One word a row under each of the words asked for that the file has; "" where a label is missing.
    label_choices : list of str
        What labels could have been named.
    excluded_columns : list of str
        Columns of the file left out of the numbers.
    columns : list of int or None
        Where each column of the numbers stands in the file; None where none was left out.
    format : str
        "parquet", "arrow", "feather", "h5ad", "zarr", "10x" or "mat".
    """

    X: Any
    names: list[str] | None = None
    row_ids: list[str] | None = None
    labels: dict[str, list[str]] = field(default_factory=dict)
    label_choices: list[str] = field(default_factory=list)
    excluded_columns: list[str] = field(default_factory=list)
    columns: list[int] | None = None
    format: str = ""


@dataclass(frozen=True)
class Request:
    """The arguments of one call, and the ways it may end."""

    path: str
    array: str
    id_column: str
    labels: tuple[str, ...]
    text_columns: tuple[str, ...]
    transpose: bool
    memory_limit: int
    whole_process: bool = False  # whose memory is limited, not only that of the table

    @property
    def piece_bytes(self) -> int:
        """Of rows that are on their way to a sink."""
        return max(1 << 20, min(64 << 20, self.memory_limit // 32))

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
