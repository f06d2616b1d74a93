"""What a fitted selector can tell: a table of its features, a page, the clusters of other rows, a few lines in a notebook."""

import contextlib
import html
import numbers
import os
import sys
import tempfile
import weakref

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._frames import require_loaded
from ._running import thread_count

_LISTED = 20  # features in a notebook
_OURS = b'name="generator" content="tamis '  # at the beginning of every page
_BEGINNING = 4096


def _predicts(selector):
    if selector._method["metric"]:
        return True
    name = type(selector).__name__
    raise AttributeError(
        f"{name} has no predict: its clusters, if it has any, are not those of the nearest means, so other rows have none"
    )


class Fitted:
    """The methods of a selector that need no method of the core to run again."""

    def to_frame(self):
        """The features as a data frame, best first, as `ranking.csv` of the command has them.

        Returns
        -------
        frame : pandas data frame, or a Polars one if pandas is not installed
            ``rank``, ``index`` (the position in X), ``name``, ``score``, ``selected``; ``share`` and ``evidence`` if there is a
            guide; ``representative`` and ``r2`` of features that were left out; ``group`` of features that repeat each other, or,
            with `groups`, ``redundancy_group`` of those and ``group``, the name of the feature's own; ``frequency``,
            ``rank_low`` and ``rank_high`` with `seeds` or `resample`; ``cluster_0``, ``cluster_1``, ...: the means of the
            clusters, if there are clusters.
        """
        check_is_fitted(self, "scores_")
        order = np.argsort(self.ranking_)
        columns = {
            "rank": np.arange(1, len(order) + 1),
            "index": order,
            "name": self._feature_names()[order],
            "score": self.scores_[order],
            "selected": self.get_support()[order],
        }
        for name in ("share", "evidence"):
            if hasattr(self, name + "_"):
                columns[name] = getattr(self, name + "_")[order]
        columns |= {name: values[order] for name, values in self._redundancy_columns().items()}
        for name in ("frequency", "rank_low", "rank_high"):
            if hasattr(self, "stability_"):
                columns[name] = self.stability_[name][order]
        for k, means in enumerate(getattr(self, "cluster_means_", ())):
            columns[f"cluster_{k}"] = means[order]
        return _frame(columns, f"{type(self).__name__}.to_frame")

    def _redundancy_columns(self):
        """As in `ranking.csv`: missing where a feature is selected or constant, or is in no group."""
        columns, own = {}, getattr(self, "_group_names", None)
        if hasattr(self, "r2_"):
            left_out = self.representative_ >= 0
            columns["representative"] = np.where(left_out, self.representative_, np.nan)
            columns["r2"] = np.where(left_out, self.r2_, np.nan)
        if hasattr(self, "redundancy_groups_"):
            group = np.full(self.n_features_in_, np.nan)
            for number, members in enumerate(self.redundancy_groups_, 1):
                group[members] = number
            columns["group" if own is None else "redundancy_group"] = group
        return columns if own is None else columns | {"group": np.array(own, dtype=object)}

    @available_if(_predicts)
    def predict(self, X):
        """The clusters of rows: for each the cluster whose mean is nearest.

        Distances are those of the method: UFCM measures them in XW, SparseKMeans with its weights. Rows of a converged fit
        get their `labels_`; if it was stopped before (`converged_`), or the classes of rows were given, some may not.

        Parameters
        ----------
        X : as in fit, of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        check_is_fitted(self, "scores_")
        rows = self._rows_to_predict(X)
        try:
            return _core.nearest_means(rows, threads=thread_count(self.n_jobs), **self._rule)
        except ValueError:
            self._require_finite(X)
            raise

    def report(self, path="report.html", X=None, *, image=None):
        """Write the page about this selection: the `report.html` of the command.

        Parameters
        ----------
        path : str or path, default="report.html"
            Replaced if it is a page of tamis; any other file there is an error.
        X : as in fit, default=None
            The rows of the fit, if they are no longer in memory (only a weak reference to them is kept).
        image : str or (height, width), default=None
            If a row is an image: "28x28", height first; "32x32T" if it is stored column by column.

        Returns
        -------
        self
        """
        check_is_fitted(self, "scores_")
        where = f"{type(self).__name__}.report"
        fitted = getattr(self, "_fitted", None)
        if fitted is None:
            raise ValueError(f"{where}: a copy of a fitted selector, or an unpickled one, has no page; fit it again")
        X = self._fitted_rows() if X is None else X
        if X is None:
            raise ValueError(f"{where}: the rows of the fit are no longer in memory; pass them: report(path, X)")
        data, names = self._rows_to_report(X, where)
        image = "" if image is None else image if isinstance(image, str) else _image_text(image)
        page = _core.selection_page(fitted, data, names, getattr(X, "path", None) or "X", image, self._words)
        _write_page(os.fspath(path), page, where)
        return self

    def _remember(self, X, fitted):
        """Keeps what a page needs: the result, and a weak reference to the rows."""
        self._fitted = fitted
        try:
            self._fitted_rows = weakref.ref(X)
        except TypeError:  # lists and tuples
            self._fitted_rows = lambda: X

    def __getstate__(self):
        state = dict(super().__getstate__())
        for name in ("_fitted", "_fitted_rows"):
            state.pop(name, None)
        return state

    def _feature_names(self):
        names = getattr(self, "feature_names_in_", None)
        return np.array([f"x{j}" for j in range(self.n_features_in_)] if names is None else names, dtype=object)

    def _repr_html_inner(self):
        return _selected_html(self) if hasattr(self, "scores_") else super()._repr_html_inner()

    def _repr_mimebundle_(self, **keywords):
        bundle = super()._repr_mimebundle_(**keywords)
        if "text/html" in bundle and hasattr(self, "scores_"):
            bundle["text/html"] = _selected_html(self)
        return bundle


def nearest_rule(method, components, scores, means, counts, columns, column_scale, unit_rows):
    """The arguments of `_core.nearest_means`: see tamis/cluster/means.h. All over the columns that the method saw."""
    used = counts > 0
    center = counts[used] @ means[used] / counts.sum()
    away = np.where(used[:, None], means - center, 0.0)
    by = (away @ components) @ components.T if method["metric"] == "directions" else away * scores
    with np.errstate(over="ignore"):  # a mean as far away as that is not the nearest
        offset = np.where(used, (by * away).sum(axis=1) / 2, np.inf)
    return {
        "columns": np.asarray(columns).tolist(),
        "column_scale": column_scale,
        "unit_rows": unit_rows,
        "center": np.ascontiguousarray(center),
        "directions": np.ascontiguousarray(by.T),
        "offset": offset,
    }


def _frame(columns, where):
    for package in ("pandas", "polars"):
        with contextlib.suppress(ImportError):
            return __import__(package).DataFrame(columns)
    raise ImportError(f"{where}: neither pandas nor Polars is installed, need one of them: pip install pandas")


def _image_text(shape):
    sizes = tuple(shape) if isinstance(shape, (tuple, list, np.ndarray)) else (shape,)
    if len(sizes) != 2 or not all(isinstance(size, numbers.Integral) for size in sizes):
        raise ValueError(f"image = {shape!r}, need (height, width), or a text such as '28x28'")
    return f"{sizes[0]}x{sizes[1]}"


def _write_page(path, page, where):
    """Writes a file as a whole or not at all; what fails is said of this file, not of a temporary one."""
    try:
        _replace_page(path, page, where)
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from None


def _replace_page(path, page, where):
    if os.path.lexists(path):
        if not os.path.isfile(path):
            raise ValueError(f"{where}: {path!r} is not a file")
        with open(path, "rb") as file:
            if _OURS not in file.read(_BEGINNING):
                raise ValueError(f"{where}: {path!r} exists and was not written by tamis; choose another name or delete it")
    handle, temporary = tempfile.mkstemp(prefix=".tamis-", suffix=".html", dir=os.path.dirname(path) or ".")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(page)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _printable(name):
    """A name that cannot be anything but text in HTML, and shows its control characters."""
    text = "".join(one if one.isprintable() else f"\\x{ord(one):02x}" for one in str(name))
    return html.escape(text if len(text) <= 60 else f"{text[:30]}…{text[-29:]}", quote=True)


def _selected_html(selector):
    """A line, and the selected features in a table."""
    support, names = selector.get_support(), selector._feature_names()
    chosen = [j for j in np.argsort(selector.ranking_) if support[j]]
    rows = "".join(
        f"<tr><td>{i}</td><td style='text-align:left'>{_printable(names[j])}</td><td>{selector.scores_[j]:.4g}</td></tr>"
        for i, j in enumerate(chosen[:_LISTED], 1)
    )
    more = f"<p>... and {len(chosen) - _LISTED} more (to_frame, report)</p>" if len(chosen) > _LISTED else ""
    text = f"{type(selector).__name__} selected {len(chosen)} of {len(support)} features"
    head = "<tr><th>rank</th><th style='text-align:left'>feature</th><th>score</th></tr>"
    return f"<div class='tamis'><p>{_printable(text)}</p><table><thead>{head}</thead><tbody>{rows}</tbody></table>{more}</div>"


def report(what, path="report.html", X=None, *, image=None):
    """Write a page about a selection, the `report.html` of the command.

    Parameters
    ----------
    what : fitted selector, or a table (array, data frame, what `tamis.read` returns, ...)
        Of a table, `GuidedUFCM` selects first.
    path : str or path, default="report.html"
    X : the rows of the fit, if they are no longer in memory; default=None
    image : str or (height, width), default=None
        If a row is an image: its height and width, "28x28".

    Returns
    -------
    The selector.

    Examples
    --------
    >>> tamis.report(tamis.read("table.csv"), "table.html")
    """
    if isinstance(what, Fitted):
        return what.report(path, X, image=image)
    if X is not None:
        raise ValueError("report: X goes with a fitted selector; pass report(X, path), or report(selector, path, X)")
    require_loaded(what, "report")
    return sys.modules["tamis"].GuidedUFCM().fit(what).report(path, what, image=image)
