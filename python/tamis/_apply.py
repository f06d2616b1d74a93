"""Takes the columns of an earlier selection from another table."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from . import _core
from ._table import Table, read
from ._unwrap import unwrapped


def apply(selection: Any, table: Any) -> Any:
    """The selected columns of another table, such as next month's, in the order of the table they were selected from.

    Columns are found by name; by position if the first table had no names, which needs a table of the same width.
    Other columns are ignored, and may contain text.

    Parameters
    ----------
    selection : path, dict or fitted selector
        The ``selection.json`` of ``tamis select``, the folder that contains it, its contents, or a fitted selector.
    table : path, array, sparse matrix, data frame, Arrow table, AnnData or Table
        Never modified. A path is read as by `read`.

    Returns
    -------
    table
        Of the same kind, with the selected columns only; for a path, a `Table`.

    Raises
    ------
    ValueError
        If columns are missing (the message has the closest names), or several columns have the same name.

    Examples
    --------
    >>> tamis.apply("january/selection.json", february)
    """
    earlier = _earlier(selection)
    where = "X"
    if isinstance(table, (str, os.PathLike)):
        where = os.fspath(table)
        ids = earlier["id_column"] or None
        needed = set(earlier["names"])
        table = read(table, id_column=ids, text_columns=[] if not needed else _others(where, needed))
    names, width, left_out = _columns(table)
    found = _core.find_columns(
        earlier["positions"], earlier["names"], earlier["features"], str(where), names, width, left_out
    )
    return _taken(table, found)


def _earlier(selection):
    """Positions and names of the selected columns, the number of features, and the column of row names."""
    if hasattr(selection, "get_support"):
        names = getattr(selection, "feature_names_in_", None)
        positions = np.flatnonzero(selection.get_support()).tolist()
        return {
            "positions": positions,
            "names": [] if names is None else [str(names[j]) for j in positions],
            "features": int(selection.n_features_in_),
            "id_column": "",
        }
    if isinstance(selection, dict):
        return _core.read_selection(json.dumps(selection).encode(), "selection")
    path = Path(os.fsdecode(selection))
    path = path / "selection.json" if path.is_dir() else path
    _core.complete_result(os.fsencode(path.parent))
    return _core.read_selection(path.read_bytes(), str(path))


def _others(path, needed):
    """Columns that may hold text: all but those that are needed; a pattern where the names are not known beforehand."""
    names = _core.peek_names(os.fsencode(path))
    return [name for name in names if name not in needed] if names else ["*"]


def _columns(table):
    """The names of the columns (empty if there are none), how many there are, and those that are no features."""
    if isinstance(table, Table):
        return table.feature_names or [], table.shape[1], table.excluded_columns
    if hasattr(table, "column_names"):  # Arrow
        return list(table.column_names), table.num_columns, []
    if hasattr(table, "var_names"):  # AnnData
        return [str(name) for name in table.var_names], table.n_vars, []
    names = getattr(table, "columns", None)  # pandas and Polars
    if names is not None:
        return [str(name) for name in names], len(names), []
    return [], _numbers(table).shape[1], []


def _numbers(table):
    X = unwrapped(table)[0]
    X = X if sparse.issparse(X) else np.asarray(X)
    if X.ndim != 2:
        raise ValueError(f"apply: an array of shape {X.shape}, need rows and columns")
    return X


def _taken(table, columns):
    if isinstance(table, Table):
        if table.on_disk:
            raise TypeError("apply: the rows of the table are on disk; to get its columns, read it without on_disk")
        names = table.feature_names
        return replace(table, X=table.X[:, columns], feature_names=names and [names[j] for j in columns])
    if hasattr(table, "column_names"):
        return table.select(columns)
    if hasattr(table, "iloc"):
        return table.iloc[:, columns]
    if hasattr(table, "var_names") or hasattr(table, "columns"):
        return table[:, columns]
    X = _numbers(table)
    return (X if not sparse.issparse(X) or X.format in ("csr", "csc") else X.tocsr())[:, columns]
