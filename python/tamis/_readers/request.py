"""Requests to readers, their results, and their errors."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from .words import printable


class MissingReader(ImportError):
    """The library that reads a format is not installed."""


class Flag(NamedTuple):
    """An option in a message, which the core spells as the caller knows it: ``--array A`` or ``array='A'``."""

    word: str
    value: str = ""

    def __str__(self) -> str:
        return f"--{self.word} {self.value}".rstrip()


class ReadError(ValueError):
    """The file does not contain a table of numbers; one line with path and position, put together from `parts`."""

    def __init__(self, *parts: object) -> None:
        super().__init__("".join(map(str, parts)))
        self.parts = [part if isinstance(part, Flag) else str(part) for part in parts]


class WrongName(ReadError, LookupError):
    """No column, array or variable of that name: an error in the call, not in the file."""


class TooLarge(ReadError, MemoryError):
    """The table does not fit in the memory limit."""


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
    """The contents of a file.

    Attributes
    ----------
    X : numpy.ndarray or scipy.sparse.csr_matrix
        The numbers, one row per sample, in any memory order. Sparse: float32 or float64, column indices int32 and
        strictly increasing within a row. `Unread` if the file was only opened; None if the rows went to a sink.
    names, row_ids : list of str or None
        Names of the columns and rows.
    labels : dict
        One string per row for each requested name that the file has; "" for missing labels.
    label_choices : list of str
        Names that could have been requested as labels.
    excluded_columns : list of str
        Columns of the file that are not in X.
    columns : list of int or None
        Position in the file of each column of X; None if no column was left out.
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
    """The arguments of one call, and its errors."""

    path: str
    array: str
    id_column: str
    labels: tuple[str, ...]
    text_columns: tuple[str, ...]
    transpose: bool
    memory_limit: int
    whole_process: bool = False  # the limit is for the process, not only for the table
    format: str = ""  # in place of the extension
    missing_kept: bool = False  # as NaN, in dense tables; otherwise they are rejected

    @property
    def piece_bytes(self) -> int:
        """Size of the pieces that are passed to a sink."""
        return max(1 << 20, min(64 << 20, self.memory_limit // 32))

    @property
    def where(self) -> str:
        return printable(self.path, len(self.path))

    @property
    def ending(self) -> str:
        return f".{self.format}".lower() if self.format else os.path.splitext(self.path.rstrip("/"))[1].lower()

    def refuse(self, *parts: object) -> ReadError:
        return ReadError(self.where, ": ", *parts)

    def wrong_name(self, *parts: object) -> WrongName:
        return WrongName(self.where, ": ", *parts)

    def require_memory(self, size: int) -> None:
        if size > self.memory_limit:
            raise TooLarge(f"{self.where}: needs at least {size} bytes of memory, the limit is {self.memory_limit}")

    def load(self, module: str) -> Any:
        try:
            return importlib.import_module(module)
        except ImportError as error:
            package = module.split(".")[0]
            wanted = package if package == "scipy" else "'tamis[io]'"  # tamis itself needs SciPy
            raise MissingReader(f"reading {self.ending} needs {package}: pip install {wanted}") from error
