"""Columns of data frames before their numbers are read: names, positions, and columns that contain no numbers.

pandas and Polars data frames, Arrow tables and record batches are frames; nothing else is.
"""

import numbers
import os
import sys

import numpy as np

from . import _core

_SHOWN = 5  # names in a message


def column_names(X):
    """The names of the columns of X (None if it has none, or if some are not strings), and their number."""
    if _kind(X) is not None:
        names = list(X.schema.names if _kind(X) == "pyarrow" else X.columns)
        return names if names and all(isinstance(name, str) for name in names) else None, len(names)
    names = getattr(X, "var_names", None)  # AnnData
    names = getattr(X, "feature_names", None) if names is None else names  # what tamis.read returns
    shape = np.shape(X) if isinstance(X, (list, tuple)) else getattr(X, "shape", ())
    count = shape[1] if len(shape) == 2 else 0
    return None if names is None or len(names) == 0 else [str(name) for name in names], count


def positions_of(columns, names, count, where):
    """The positions of columns given as names, positions or a mask: increasing, each once. [] for None."""
    if columns is None:
        return []
    if isinstance(columns, (str, numbers.Integral)):
        columns = [columns]
    try:
        columns = list(columns)
    except TypeError:
        raise ValueError(f"{where} = {columns!r}, need a list of names or positions") from None
    if columns and all(isinstance(one, (bool, np.bool_)) for one in columns):
        if len(columns) != count:
            raise ValueError(f"{where}: a mask of {len(columns)} features, need {count}")
        return np.flatnonzero(columns).tolist()
    if names is None:  # the core's messages give positions as text
        columns = [int(one) if isinstance(one, str) and one.isdecimal() else one for one in columns]
    words = [one for one in columns if isinstance(one, str)]
    if words and names is None:
        raise ValueError(f"{where}: {words[0]!r}, but X has no feature names, need positions")
    found = {_position(one, count, where) for one in columns if not isinstance(one, str)}
    return sorted(found | set(_core.named_features(words, names or [], where)))


def _position(one, count, where):
    if not isinstance(one, numbers.Integral) or isinstance(one, (bool, np.bool_)):
        raise ValueError(f"{where}: {one!r}, need names or positions")
    if not 0 <= one < count:
        raise ValueError(f"{where}: position {one}, need 0..{count - 1}")
    return int(one)


def blanked(X, positions):
    """X, or, if it is a frame, a frame with zeros in place of those of the given columns that contain no numbers."""
    kind = _kind(X)
    if kind is None or len(positions) == 0:
        return X
    types = column_types(X)
    positions = [j for j in positions if j < len(types) and not _is_numeric(types[j])]
    if not positions:
        return X
    zeros = np.zeros(X.num_rows if kind == "pyarrow" else len(X), dtype=np.int8)
    if kind == "pandas":
        X = X.copy(deep=False)
        for j in positions:
            X.isetitem(j, zeros)
        return X
    module = sys.modules[kind]
    if kind == "polars":
        return X.with_columns([module.Series(X.columns[j], zeros) for j in positions])
    X = module.Table.from_batches([X]) if isinstance(X, module.RecordBatch) else X
    for j in positions:
        X = X.set_column(j, X.schema.names[j], module.array(zeros))
    return X


def require_numbers(X, where, can_exclude=False):
    """Rejects a frame with columns that are not numbers and cannot be converted, by their names and types."""
    if _kind(X) is None:
        return
    names = X.schema.names if _kind(X) == "pyarrow" else list(X.columns)
    bad = [j for j, kind in enumerate(column_types(X)) if not _is_numeric(kind) and not _converts(X, j)]
    if not bad:
        return
    words = [f"{names[j]!r} ({column_types(X)[j]})" for j in bad[:_SHOWN]]
    more = f" and {len(bad) - _SHOWN} more" if len(bad) > _SHOWN else ""
    excluded = [names[j] if isinstance(names[j], str) else j for j in bad]
    way_out = f", or leave them out: exclude={excluded!r}" if can_exclude and not more else " or leave them out"
    raise ValueError(
        f"{where}: column{'s' if len(bad) > 1 else ''} {', '.join(words)}{more} of X contain{'' if len(bad) > 1 else 's'} "
        f"no numbers; convert them to numbers{way_out}"
    )


def require_loaded(X, where, dask_class=None):
    """Rejects names of files, Dask collections and Polars' lazy frames, whose rows are not there, and says what to do instead."""
    if isinstance(X, (str, os.PathLike)):
        raise ValueError(f"{where}: X is the path {os.fspath(X)!r}, need a table; pass tamis.read({os.fspath(X)!r})")
    if hasattr(X, "__dask_graph__"):
        there = f"use {dask_class}, which leaves the rows on the workers, or " if dask_class else ""
        raise ValueError(f"{where}: X is a Dask {type(X).__name__}; {there}pass X.compute()")
    polars = sys.modules.get("polars")
    if polars is not None and isinstance(X, polars.LazyFrame):
        raise ValueError(f"{where}: X is a Polars LazyFrame; pass X.collect()")


def _converts(X, j):
    """Whether scikit-learn would convert the column to numbers: Python objects that are numbers, categories of numbers."""
    kind = _kind(X)
    column = X.iloc[:, j] if kind == "pandas" else X[X.columns[j]] if kind == "polars" else None
    if column is None or getattr(column.dtype, "kind", "O") in "mMc" or getattr(column.dtype, "is_temporal", bool)():
        return False
    try:
        np.asarray(column, dtype=np.float64)
    except (TypeError, ValueError):
        return False
    return True


def column_types(X):
    """The types of the columns of a frame."""
    return list(X.schema.types if _kind(X) == "pyarrow" else X.dtypes)


def _kind(X):
    """The package of a frame; None if X is none."""
    for package, names in (("pandas", ("DataFrame",)), ("polars", ("DataFrame",)), ("pyarrow", ("Table", "RecordBatch"))):
        module = sys.modules.get(package)  # if it is not loaded, nothing can be one of its objects
        if module is not None and isinstance(X, tuple(getattr(module, name) for name in names if hasattr(module, name))):
            return package
    return None


def _is_numeric(kind):
    """Whether a type of pandas (NumPy, nullable, Arrow), Polars or Arrow is one of numbers."""
    if hasattr(kind, "kind"):
        return kind.kind in "biuf"
    if hasattr(kind, "is_numeric"):  # Polars
        return kind.is_numeric() or str(kind) == "Boolean"
    types = sys.modules["pyarrow"].types
    return any(test(kind) for test in (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal))
