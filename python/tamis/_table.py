"""Reads files: every format of the command, and those that need Python libraries."""

from __future__ import annotations

import errno
import os
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from scipy import sparse

from . import _core
from ._foreign import open_for_core


@dataclass(eq=False)
class Table:
    """The contents of a file. Selectors accept it directly; ``numpy.asarray`` returns its numbers if they are dense.

    Attributes
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)
        If on disk: an object with `shape`, `dtype` and `sparse` that selectors accept.
    feature_names : list of str, or None
    row_names : list of str, or None
    labels : dict
        One array per name in `labels`: the class of each row, None for unlabeled rows.
    excluded_columns : list of str
        Columns of the file that are not features: labels, row identifiers, text, dropped columns.
    notes : list of str
        What the reader decided by itself, and how many missing values were dropped or filled in.
    path, format : str
    """

    X: Any
    feature_names: list[str] | None = None
    row_names: list[str] | None = None
    labels: dict[str, Any] = field(default_factory=dict)
    excluded_columns: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    path: str = ""
    format: str = ""

    @property
    def shape(self) -> tuple[int, int]:
        return self.X.shape

    def __len__(self) -> int:
        return self.X.shape[0]

    @property
    def on_disk(self) -> bool:
        """Whether X stays on disk, where every pass reads its rows."""
        return isinstance(self.X, _core.DiskRows)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        self._require_memory()
        if sparse.issparse(self.X):
            raise TypeError("the table is sparse, use its X")
        return np.array(self.X, dtype=dtype, copy=copy)

    def to_pandas(self) -> Any:
        """A DataFrame with the names from the file."""
        import pandas as pd

        self._require_memory()
        frame = pd.DataFrame.sparse.from_spmatrix if sparse.issparse(self.X) else pd.DataFrame
        names = self.feature_names or [f"f{j}" for j in range(self.shape[1])]
        return frame(self.X, index=self.row_names, columns=names)

    def __repr__(self) -> str:
        rows, columns = self.shape
        kind = "sparse " if sparse.issparse(self.X) or (self.on_disk and self.X.sparse) else ""
        where = " on disk" if self.on_disk else ""
        return f"<Table {self.path!r}: {rows} rows x {columns} features, {kind}{self.X.dtype}{where}>"

    def _require_memory(self) -> None:
        if self.on_disk:
            raise TypeError("the rows of the table are on disk; to get an array, read it without on_disk")


def read(
    path: str | os.PathLike[str],
    *,
    array: str = "X",
    header: Literal["auto", "yes", "no"] = "auto",
    id_column: str | None = None,
    labels: str | Iterable[str] | None = None,
    text_columns: Iterable[str] = (),
    transpose: bool = False,
    on_disk: bool = False,
    missing: Literal["refuse", "drop-rows", "drop-columns", "mean", "median"] = "refuse",
    thousands: Literal["", ",", ".", "'", " "] = "",
    format: str = "",
    skip: int = 0,
) -> Table:
    """Read a table: CSV/TSV, NPY/NPZ, MatrixMarket and 10x, libsvm, Parquet, Arrow/Feather, .h5ad, zarr, .mat.

    Parameters
    ----------
    path : str or path
        Text files and .npy may be gzipped (.gz); a folder is a 10x folder, a zarr folder (.zarr), or a folder of shards.
    array : str, default="X"
        The array to read from an .npz, .mat or zarr group; for .h5ad, X or a layer.
    header : {"auto", "yes", "no"}, default="auto"
        Whether the first line of a text file holds names; auto: unless it contains only numbers.
    id_column : str, default=None
        The column with the row names.
    labels : str or list of str, default=None
        Each a column, an array in the file, or a separate file.
    text_columns : list of str, default=()
        Columns that may contain text, and are left out if they do.
    transpose : bool, default=False
        Set if features are rows in the file. 10x folders are always transposed.
    on_disk : bool, default=False
        Leave the rows on disk, where selectors read them in every pass. An .npy file is read in place; the numbers of
        Parquet, Arrow, .h5ad and zarr are written once to a temporary file (in TMPDIR). Shards are always on disk.
    missing : {"refuse", "drop-rows", "drop-columns", "mean", "median"}, default="refuse"
        What to do with missing values: blank cells, NA, null and the like in text, NaN and nulls elsewhere. Rows or
        columns that have any are dropped, or the mean or median of the column is filled in; `notes` says how many. Only
        with the rows in memory.
    thousands : {"", ",", ".", "'", " "}, default=""
        The separator between thousands in text. A comma means decimal points, a point means decimal commas.
    format : str, default=""
        The format, as a file extension ("csv", "tsv", "npy", ...), in place of the extension of `path`.
    skip : int, default=0
        The number of lines before a text table.

    Returns
    -------
    Table
    """
    name = os.fspath(path)
    if not os.path.exists(name) and not set("*?[") & set(os.fsdecode(name)):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
    if on_disk and missing != "refuse":
        raise ValueError(f"missing = {missing} changes rows in memory only, and on_disk leaves them on disk")
    if skip < 0:
        raise ValueError(f"skip = {skip}, need an integer of at least 0")
    words = [labels] if isinstance(labels, str) else list(labels or ())
    found = _core.read(
        os.fsencode(name),
        array=array,
        header=header,
        id_column=id_column or "",
        labels=words,
        text_columns=list(text_columns),
        transpose=transpose,
        on_disk=on_disk,
        missing=missing,
        thousands=thousands,
        format=format,
        skip=skip,
        reader=open_for_core,
        words={"--exclude": "text_columns=[{}]", "--id": "id_column='{}'"},
    )
    for warning in found["warnings"]:
        warnings.warn(warning, stacklevel=2)
    table = Table(
        X=_numbers(found["X"]),
        feature_names=list(found["names"]) or None,
        row_names=list(found["row_ids"]) or None,
        labels={word: _label_array(one) for word, one in found["labels"].items()},
        excluded_columns=list(found["excluded_columns"]),
        notes=list(found["notes"]),
        path=os.fsdecode(name),
        format=found["format"],
    )
    if on_disk and not table.on_disk:
        need = "need .npy, shards, or rows of Parquet, Arrow, .h5ad or zarr, not transposed"
        raise ValueError(f"{table.path}: {table.format} cannot stay on disk, {need}")
    return table


def _numbers(parts: Any) -> Any:
    if not isinstance(parts, tuple):
        return parts  # an array, or DiskRows
    offsets, columns, values, width = parts
    if offsets[-1] <= np.iinfo(np.int32).max:
        offsets = offsets.astype(np.int32)  # SciPy uses one type for both
    return sparse.csr_array((values, columns, offsets), shape=(len(offsets) - 1, width))


def _label_array(found: dict[str, Any]) -> Any:
    """The class of each row: integers if all classes are integers (-1: unlabeled), else strings (None: unlabeled)."""
    classes, names = np.asarray(found["classes"]), found["names"]
    try:
        values = np.array([int(name) for name in names] + [-1], dtype=np.int64)
    except (ValueError, OverflowError):
        values = np.array([*names, None], dtype=object)
    return values[classes]
