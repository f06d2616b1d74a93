"""Inputs of the functions next to the selectors: a table, the classes of its rows, a list of its columns."""

import numbers
from collections.abc import Mapping

import numpy as np
from scipy import sparse
from sklearn.utils import check_array

from . import _core
from ._core_data import core_data
from ._frames import require_loaded, require_numbers
from ._unwrap import unwrapped, with_nan

_MISSING = ("refuse", "drop-rows", "drop-columns", "mean", "median")


def checked_table(X, missing="refuse"):
    """The numbers of X, of any kind that the selectors accept, and its column names (None if it has none)."""
    if isinstance(missing, str) and missing != "refuse":
        X = with_nan(X)
    require_loaded(X, "X")
    require_numbers(X, "X")
    X, names = unwrapped(X)
    if names is None:
        names = getattr(X, "columns", None)  # pandas and Polars
    if isinstance(X, _core.DiskRows):
        return X, None if names is None else list(names)
    # The core checks for NaN and infinities, and reports their position.
    X = check_array(X, accept_sparse=("csr", "csc"), ensure_all_finite=False, ensure_min_samples=2, input_name="X")
    return X, None if names is None else list(names)


class Prepared:
    """A table as `--missing` of the command leaves it, and where its rows and columns were."""

    def __init__(self, X, names, missing, where, words):
        if not isinstance(missing, str) or missing not in _MISSING:
            raise ValueError(f"{where}: missing = {missing!r}, need {', '.join(map(repr, _MISSING))}")
        self.data, self.names, self.note, self.where, self.missing = core_data(X), names, "", where, missing
        self.columns = self._rows = None  # all
        if missing == "refuse":
            return
        if isinstance(self.data, _core.DiskRows):
            raise ValueError(f"{where}: missing = {missing!r} changes numbers in memory only, and these are elsewhere")
        found = _core.without_missing(self.data, missing, [str(name) for name in names or []], words)
        self.data, self.columns, self._rows, self.note = found["X"], found["columns"], found["rows"], found["note"]
        if names is not None and self.columns is not None:
            self.names = [names[j] for j in self.columns]

    def of_rows(self, values):
        return values if values is None or self._rows is None else values[self._rows]

    def in_X(self, columns):
        """Where columns of the prepared table are in X."""
        return columns if self.columns is None else [int(self.columns[j]) for j in columns]

    def from_X(self, columns):
        if self.columns is None:
            return columns
        place = {int(j): i for i, j in enumerate(self.columns)}
        for j in columns:
            if j not in place:
                raise ValueError(f"{self.where}: feature {j} has missing values, and missing = {self.missing!r} leaves it out")
        return [place[j] for j in columns]


def label_array(y, name):
    """One label per row, as an array that preserves None and NaN."""
    if isinstance(y, np.ma.MaskedArray):
        y = y.astype(object).filled(None)
    # NumPy would turn a list of strings and NaN into strings, including "nan".
    y = np.asarray(y) if hasattr(y, "dtype") else np.asarray(y, dtype=object)
    if y.ndim == 2 and y.shape[1] == 1:
        y = y.ravel()
    if y.ndim != 1:
        raise ValueError(f"{name}: an array of shape {y.shape}, need one label per row")
    return y


def class_numbers(y):
    """Classes of a 1-D array, numbered from 0 in the core's order; -1 for unlabeled rows (-1, None, NaN or "")."""
    values, labelled = _comparable(y)
    classes = np.full(len(y), -1, dtype=np.int32)
    classes[labelled] = np.unique(values, return_inverse=True)[1]
    return classes


def row_weights(weights, rows, where):
    """Weights of the rows, one number for all or one per row, for the core, which checks their values; None without."""
    if weights is None:
        return None
    if isinstance(weights, np.ma.MaskedArray):
        weights = weights.astype(np.float64).filled(np.nan)
    try:
        found = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{where}: sample_weight contains a value that is not a number, need one number per row") from None
    if found.ndim == 0:
        found = np.full(rows, float(found))
    if found.shape != (rows,):
        raise ValueError(f"{where}: sample_weight of shape {found.shape}, need one number for each of the {rows} rows")
    return np.ascontiguousarray(found)


def _comparable(y):
    """The labels of labelled rows, as numbers if all are numeric (as in the core), and a mask of these rows."""
    if y.dtype.kind in "fiub":
        labelled = (y == y) & (y != -1)
        return y[labelled], labelled
    labelled = np.fromiter((_is_label(value) for value in y), dtype=bool, count=len(y))
    words = [value for value, kept in zip(y, labelled) if kept]
    if not all(isinstance(word, numbers.Real) for word in words):
        words = [str(word) for word in words]
    values = np.array(words)
    if values.dtype.kind not in "fiub":
        values = _numbers_if_all(values)
    still = values != -1  # "-1.0"
    labelled[labelled] = still
    return values[still], labelled


def _is_label(value):
    try:
        return value is not None and bool(value == value) and str(value) not in ("", "-1")
    except TypeError:  # pandas.NA cannot be compared
        return False


def _numbers_if_all(words):
    try:
        values = words.astype(np.float64)
    except (ValueError, TypeError):
        return words
    return values if np.isfinite(values).all() else words


def feature_positions(features, names, count, where):
    """Positions of columns, each once, in the order given.

    `features` are positions, names, a mask of all columns, or a fitted selector.
    """
    if hasattr(features, "get_support"):
        features = features.get_support()
    features = [features] if isinstance(features, str) else features
    features = np.asarray(features) if hasattr(features, "dtype") else np.asarray(features, dtype=object)
    if features.ndim != 1 or len(features) == 0:
        raise ValueError(f"{where}: features of shape {features.shape}, need a list of at least 1")
    if all(isinstance(one, (bool, np.bool_)) for one in features):
        return _masked_positions(features.astype(bool), count, where)
    places = {}
    for j, name in enumerate(() if names is None else names):
        places.setdefault(name, []).append(j)
    return list(dict.fromkeys(_position(one, places, count, where) for one in features))


def _masked_positions(mask, count, where):
    if len(mask) != count:
        raise ValueError(f"{where}: a mask of {len(mask)} features, need {count}")
    if not mask.any():
        raise ValueError(f"{where}: the mask selects no feature, need at least 1")
    return np.flatnonzero(mask).tolist()


def _position(one, places, count, where):
    if isinstance(one, numbers.Integral) and not isinstance(one, (bool, np.bool_)):
        if not 0 <= one < count:
            raise ValueError(f"{where}: feature {one}, need 0 .. {count - 1}")
        return int(one)
    if not isinstance(one, str):
        raise ValueError(f"{where}: feature {one!r}, need a position or a name")
    if not places:
        raise ValueError(f"{where}: feature {one!r}, but X has no feature names, need positions")
    found = places.get(one, [])
    if len(found) != 1:
        raise ValueError(f"{where}: feature {one!r} names {len(found)} columns of X, need 1")
    return found[0]


def feature_groups(groups, names, count, where):
    """The group of each of `count` columns as text, "" for a column that is a group by itself; None without groups.

    `groups` maps names or positions to groups, or has a group for every column (None or NaN: by itself).
    """
    if groups is None:
        return None
    if isinstance(groups, Mapping) or type(groups).__name__ == "Series" and len(groups) != count:
        places = {}
        for j, name in enumerate(() if names is None else names):
            places.setdefault(name, []).append(j)
        found = [""] * count
        for feature, group in groups.items():
            at = _grouped_position(feature, places, count, where)
            if found[at] and found[at] != _group_text(group):
                raise ValueError(f"{where}: feature {feature!r} is in the groups {found[at]!r} and {group!r}, need one group")
            found[at] = _group_text(group)
    elif isinstance(groups, str) or not hasattr(groups, "__len__"):
        raise ValueError(f"{where}: groups = {groups!r}, need a dict of features and their groups, or a group for every feature")
    else:
        found = [_group_text(group) for group in groups]
    if len(found) != count:
        raise ValueError(f"{where}: groups of {len(found)} features, need {count}")
    if not any(found):
        raise ValueError(f"{where}: groups has no group, need at least 1")
    return found


def _grouped_position(feature, places, count, where):
    if isinstance(feature, str) and places and feature not in places:
        import difflib

        close = difflib.get_close_matches(feature, list(places), 1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise ValueError(f"{where}: groups: no feature is named {feature!r}{hint}")
    return _position(feature, places, count, f"{where}: groups")


def graph_of(W, X, where):
    """A graph of the rows: itself, or what a key of `.obsp` names if X is an AnnData."""
    if not isinstance(W, str):
        return W
    graphs = getattr(X, "obsp", None)
    if graphs is None:
        raise ValueError(
            f"{where}: connectivity = {W!r} is a key of .obsp, and X is no AnnData; pass the AnnData, or adata.obsp[{W!r}]"
        )
    if W not in graphs:
        known = ", ".join(map(repr, graphs)) or "it is empty; scanpy.pp.neighbors(adata) adds 'connectivities'"
        raise ValueError(f"{where}: connectivity = {W!r} is not a key of .obsp ({known})")
    return graphs[W]


def graph_weights(W, rows, where):
    """A graph of the rows for the core, which checks the numbers; None without one."""
    if W is None:
        return None
    if not sparse.issparse(W):
        if hasattr(W, "__dask_graph__"):
            raise ValueError(f"{where}: connectivity is of type {type(W).__name__}, need a SciPy sparse matrix or an array")
        W = np.asarray(W)
    if W.dtype.kind not in "biuf":
        raise ValueError(f"{where}: connectivity holds elements of type {W.dtype}, need real numbers")
    if W.shape != (rows, rows):
        shape = " x ".join(map(str, W.shape)) or "a single number"
        raise ValueError(f"{where}: connectivity is {shape}, need rows x rows = {rows} x {rows}")
    return core_data(W)


def _group_text(group):
    return "" if group is None or group != group else str(group)
