"""Unwraps tables that scikit-learn does not handle: Arrow, AnnData, and what `tamis.read` returns."""

import sys

import numpy as np

from ._frames import require_numbers


def unwrapped(X):
    """The numbers of X and its column names; (X, None) for anything that scikit-learn accepts or rejects itself."""
    if isinstance(X, np.ma.MaskedArray):
        return _unmasked(X), None
    for module, takes_apart in (("pyarrow", _arrow), ("anndata", _anndata), ("tamis._table", _table)):
        if module in sys.modules:  # otherwise X cannot be one of its objects
            parts = takes_apart(sys.modules[module], X)
            if parts is not None:
                return parts
    return X, None


def _unmasked(X):
    """The numbers of a masked array; scikit-learn would take those behind the mask, too."""
    mask = np.ma.getmaskarray(X)
    if mask.any():
        place = ", ".join(f"{axis} {i}" for axis, i in zip(("row", "column"), np.argwhere(mask)[0]))
        count = f"{mask.sum()} value" + ("s" if mask.sum() > 1 else "")
        cure = "missing='mean', 'median' or 'drop-columns' handles them"
        raise ValueError(f"X: {place}: masked ({count} in all), need numbers; {cure}")
    return X.data


def with_nan(X):
    """A masked array with NaN for masked values; anything else as it is."""
    return X.astype(np.result_type(X.dtype, np.float32)).filled(np.nan) if isinstance(X, np.ma.MaskedArray) else X


def _arrow(pyarrow, X):
    if not isinstance(X, (pyarrow.Table, pyarrow.RecordBatch)):
        return None
    require_numbers(X, "X")
    columns = [_numbers(X.column(j)) for j in range(X.num_columns)]
    numbers = np.empty((X.num_rows, X.num_columns), dtype=np.result_type(*columns) if columns else float, order="F")
    for j, column in enumerate(columns):
        numbers[:, j] = column
    return numbers, np.asarray(X.schema.names, dtype=object)


def _numbers(column):
    numbers = column.to_numpy(zero_copy_only=False)
    return numbers if numbers.dtype.kind in "fiub" else numbers.astype(np.float64)  # decimals, booleans with nulls


def _anndata(anndata, X):
    if not isinstance(X, anndata.AnnData):
        return None
    return X.X, np.asarray(X.var_names, dtype=object)


def _table(table, X):
    if not isinstance(X, table.Table):
        return None
    return X.X, np.asarray(X.feature_names, dtype=object) if X.feature_names else None
