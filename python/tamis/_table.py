"""Files: every format that the command reads, and Python's."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from scipy import sparse

from . import _core
from ._foreign import read_for_core


@dataclass(eq=False)
class Table:
    """What a file holds. Selectors take it as it is; ``numpy.asarray`` gives its numbers where they are dense.

    Attributes
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)
    feature_names : list of str, or None
    row_names : list of str, or None
    labels : dict
        One array a word asked for with `labels`: the class of each row, None where it has none.
    excluded_columns : list of str
        Columns of the file that are no features: labels, row identifiers, text.
    path, format : str
    """

    X: Any
    feature_names: list[str] | None = None
    row_names: list[str] | None = None
    labels: dict[str, Any] = field(default_factory=dict)
    excluded_columns: list[str] = field(default_factory=list)
    path: str = ""
    format: str = ""

    @property
    def shape(self) -> tuple[int, int]:
        return self.X.shape

    def __len__(self) -> int:
        return self.X.shape[0]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        if sparse.issparse(self.X):
            raise TypeError("the table is sparse: use its X")
        return np.array(self.X, dtype=dtype, copy=copy)

    def to_pandas(self) -> Any:
        """A DataFrame with the names of the file."""
        import pandas as pd

        frame = pd.DataFrame.sparse.from_spmatrix if sparse.issparse(self.X) else pd.DataFrame
        names = self.feature_names or [f"f{j}" for j in range(self.shape[1])]
        return frame(self.X, index=self.row_names, columns=names)

    def __repr__(self) -> str:
        rows, columns = self.shape
        kind = "sparse " if sparse.issparse(self.X) else ""
        return f"<Table {self.path!r}: {rows} rows x {columns} features, {kind}{self.X.dtype}>"


def read(
    path: str | os.PathLike[str],
    *,
    array: str = "X",
    header: Literal["auto", "yes", "no"] = "auto",
    id_column: str | None = None,
    labels: str | Iterable[str] | None = None,
    text_columns: Iterable[str] = (),
    transpose: bool = False,
) -> Table:
    """Read a table: CSV/TSV, NPY/NPZ, MatrixMarket and 10x, libsvm, Parquet, Arrow/Feather, .h5ad, .mat.

    Parameters
    ----------
    path : str or path
        Text files and .npy may be gzipped (.gz); a folder is a 10x folder.
    array : str, default="X"
        The array of an .npz or .mat; of an .h5ad, X or a layer.
    header : {"auto", "yes", "no"}, default="auto"
        Whether the first line of a text file holds names; auto: unless it holds numbers only.
    id_column : str, default=None
        The column that names the rows.
    labels : str or list of str, default=None
        Each a column, an array of the file, or a file of its own.
    text_columns : list of str, default=()
        Columns that may hold text, and are left out where they do.
    transpose : bool, default=False
        Features are rows in the file. 10x folders are transposed anyway.

    Returns
    -------
    Table
    """
    name = os.fspath(path)
    if not os.path.exists(name):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
    words = [labels] if isinstance(labels, str) else list(labels or ())
    try:
        found = _core.read(
            os.fsencode(name),
            array=array,
            header=header,
            id_column=id_column or "",
            labels=words,
            text_columns=list(text_columns),
            transpose=transpose,
            reader=read_for_core,
        )
    except ValueError as error:
        raise ValueError(_in_python(str(error))) from None
    return Table(
        X=_numbers(found["X"]),
        feature_names=list(found["names"]) or None,
        row_names=list(found["row_ids"]) or None,
        labels={word: _label_array(one) for word, one in found["labels"].items()},
        excluded_columns=list(found["excluded_columns"]),
        path=os.fsdecode(name),
        format=found["format"],
    )


def _in_python(message: str) -> str:
    """A message that names flags of the command, with the words that `read` has for them."""
    message = re.sub(r"--exclude (.+?) leaves the column out", r"text_columns=['\1'] leaves the column out", message)
    return message.replace("--array takes", "array takes")


def _numbers(parts: Any) -> Any:
    if not isinstance(parts, tuple):
        return parts
    offsets, columns, values, width = parts
    if offsets[-1] <= np.iinfo(np.int32).max:
        offsets = offsets.astype(np.int32)  # SciPy wants one type for both
    return sparse.csr_array((values, columns, offsets), shape=(len(offsets) - 1, width))


def _label_array(found: dict[str, Any]) -> Any:
    """The class of each row: numbers where all classes are whole numbers (-1: unlabelled), else words (None)."""
    classes, names = np.asarray(found["classes"]), found["names"]
    try:
        values = np.array([int(name) for name in names] + [-1], dtype=np.int64)
    except (ValueError, OverflowError):
        values = np.array([*names, None], dtype=object)
    return values[classes]
