"""Plots of selectors and comparisons, with matplotlib (``pip install 'tamis[plot]'``).

Every function except `save_figures` draws into `ax`, or into a new figure, and returns the Axes. Nothing is shown, and no
matplotlib setting is changed. `save_figures` saves the figures of the command's report pages and needs vl-convert
(``tamis[figures]``).
"""

import math
import numbers

from ._surroundings import require_packages

require_packages()

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from ._figures import save_figures
from ._frames import blanked
from ._unwrap import unwrapped

__all__ = [
    "feature_count_curve", "heat_map", "image_mask", "objective", "profile", "redundancy", "save_figures", "scatter",
    "score_curve",
]  # fmt: skip

# Okabe & Ito's colorblind-safe palette without yellow, which is too pale for lines, and a wine red of Tol's.
_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#882255")
_COLORS += ("#44AA99", "#AA4499", "#999933", "#6699CC", "#661100", "#888888")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">", "p", "h", "d", "8")
_MAIN, _ACCENT = _COLORS[:2]
_QUIET, _BLANK = "#777777", "#ECECEC"
_DRAWN_ROWS = 5000
_TICK_LENGTH = 20
_MEASURES = {
    "accuracy": "clustering accuracy",
    "nmi": "normalized mutual information",
    "adjusted_rand": "adjusted Rand index",
    "redundancy": "redundancy (mean absolute correlation)",
}


def score_curve(selector, *, ax=None):
    """Scores from best to worst, with the selected features and the knee of the curve marked.

    The knee is the point farthest below the straight line from the first score to the last, where the curve turns from
    steep to flat. It is only a hint for ``n_features_to_select``.

    Parameters
    ----------
    selector : fitted selector
    ax : matplotlib Axes, default=None

    Returns
    -------
    matplotlib.axes.Axes
    """
    _require_scores(selector, "score_curve")
    ax = _axes(ax)
    order = np.argsort(selector.ranking_)
    order = order[~np.isnan(selector.scores_[order])]  # without those that were left out
    ranks, scores = np.arange(1, len(order) + 1), selector.scores_[order]
    selected = selector.get_support()[order]
    ax.plot(ranks, scores, color=_QUIET, linewidth=1.2, label="all features", zorder=2)
    if not selected.all():
        size = 4 if selected.sum() <= 100 else 2.5
        label = f"selected: {selected.sum()}"
        ax.plot(ranks[selected], scores[selected], "o", color=_MAIN, markersize=size, label=label, zorder=3)
    knee = _knee(scores)
    if knee is not None:
        ax.axvline(knee, color=_ACCENT, linestyle="--", linewidth=1.2, label=f"knee: {knee}", zorder=1)
    ax.set(xlabel="rank of the feature", ylabel="score", title=type(selector).__name__)
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.legend(frameon=False)
    return ax


def objective(selector, *, ax=None):
    """The objective by iteration, with its terms if the method reports them.

    The terms have their own axis on the right, each as a fraction of its largest value, because they differ by orders of
    magnitude.

    Parameters
    ----------
    selector : fitted selector
        It must have ``objective_``.
    ax : matplotlib Axes, default=None

    Returns
    -------
    matplotlib.axes.Axes
        The Axes of the objective.
    """
    _require_scores(selector, "objective")
    values = getattr(selector, "objective_", None)
    if values is None:
        raise ValueError(f"objective: {type(selector).__name__} has no objective_, need a method that optimizes one")
    ax = _axes(ax)
    iterations = np.arange(1, len(values) + 1)
    lines = ax.plot(iterations, values, "o-", color=_MAIN, markersize=4, label="objective")
    ax.set(xlabel="iteration", ylabel="objective", title=_convergence_title(selector))
    ax.xaxis.get_major_locator().set_params(integer=True)
    terms = {name: term for name, term in selector.report_["terms"].items() if len(term) == len(values)}
    if terms:
        right = ax.twinx()
        lines += _draw_terms(right, iterations, terms)
        ax.set_zorder(right.get_zorder() + 1)  # the legend belongs to ax and must be on top
        ax.patch.set_visible(False)
        # Rising and falling curves leave no corner free.
        _legend_outside(ax, lines, loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=len(lines))
    return ax


def image_mask(selector, shape, *, ax=None):
    """The features as pixels of an image: the selected ones colored by score, the others blank.

    Parameters
    ----------
    selector : fitted selector
    shape : tuple of two ints
        Rows and columns of the image; feature ``i * columns + j`` is the pixel in row i and column j.
    ax : matplotlib Axes, default=None

    Returns
    -------
    matplotlib.axes.Axes
    """
    _require_scores(selector, "image_mask")
    rows, columns = _image_shape(shape, selector.n_features_in_)
    ax = _axes(ax)
    support = selector.get_support()
    pixels = np.ma.masked_array(selector.scores_, mask=~support).reshape(rows, columns)
    from matplotlib import colormaps

    image = ax.imshow(pixels, cmap=colormaps["viridis"].with_extremes(bad=_BLANK), interpolation="nearest")
    ax.figure.colorbar(image, cax=ax.inset_axes([1.03, 0.0, 0.05, 1.0]), label="score")
    ax.set(xticks=[], yticks=[], xlabel=f"{columns} columns", ylabel=f"{rows} rows")
    ax.set_title(f"{type(selector).__name__}: {support.sum()} of {len(support)} pixels")
    return ax


def feature_count_curve(frame, *, measure="accuracy", ax=None):
    """A measure by number of features, from the result of `tamis.compare`.

    Each method is a line with a band of one standard deviation; behind them are the band of random subsets, and all
    features as a horizontal line. Methods that failed are left out.

    Parameters
    ----------
    frame : pandas.DataFrame
        The result of `tamis.compare`.
    measure : {"accuracy", "nmi", "adjusted_rand", "redundancy"}, default="accuracy"
    ax : matplotlib Axes, default=None

    Returns
    -------
    matplotlib.axes.Axes
    """
    _require_measure(frame, measure)
    frame = frame[frame[measure].notna()]
    methods = [name for name in frame["method"].unique() if name not in ("random", "allfea")]
    if not methods:
        raise ValueError(f"feature_count_curve: no method has a value for {measure}, need at least 1")
    ax = _axes(ax)
    sizes = sorted(frame.loc[frame["method"] != "allfea", "n_features"].unique())
    for level in frame.loc[frame["method"] == "allfea", measure]:
        ax.axhline(level, color="black", linestyle=":", linewidth=1.5, label="all features", zorder=2)
    _draw_curve(ax, frame, "random", measure, alpha=0.25, zorder=1, color=_QUIET, linestyle="--")
    for place, name in enumerate(methods):
        style = {"color": _COLORS[place % len(_COLORS)], "marker": _MARKERS[place % len(_MARKERS)]}
        # Every second line is dashed and smaller, so that equal curves (such as lapscore and spec) are both visible.
        style |= {"linestyle": (0, (4, 2)), "markersize": 4} if place % 2 else {"linestyle": "-", "markersize": 7}
        _draw_curve(ax, frame, name, measure, alpha=0.1, zorder=3, linewidth=1.8, **style)
    _draw_sizes(ax, sizes)
    ax.set(xlabel="number of features", ylabel=_MEASURES[measure])
    _legend_outside(ax, ax.get_legend_handles_labels()[0], loc="center left", bbox_to_anchor=(1.01, 0.5))
    return ax


def heat_map(selector, n_features=30, *, ax=None):
    """The means of the clusters, features x clusters: high ones red, low ones blue.

    Each feature is shifted to the mean of all rows and divided by the largest distance of a cluster from it, so that the
    colors go from -1 to 1 whatever its unit.

    Parameters
    ----------
    selector : fitted selector
        Its method must have clusters (``labels_``).
    n_features : int, default=30
        At most so many of the selected features, best first.
    ax : matplotlib Axes, default=None

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax, chosen, values = _frame_of_means(selector, n_features, ax, "heat_map", "means")
    image = ax.imshow(values, cmap="RdBu_r", vmin=-1, vmax=1, aspect="auto", interpolation="nearest")
    ax.figure.colorbar(image, ax=ax, label="mean of the cluster, relative")
    ax.set_xticks(range(values.shape[1]))
    ax.set_yticks(range(len(chosen)), labels=_labels(selector, chosen))
    ax.set_xlabel("cluster")
    return ax


def profile(selector, n_features=30, *, ax=None):
    """The means of the clusters along the selected features, a line for each cluster; scaled as in `heat_map`.

    Parameters
    ----------
    selector : fitted selector
        Its method must have clusters (``labels_``).
    n_features : int, default=30
        At most so many of the selected features, best first.
    ax : matplotlib Axes, default=None

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax, chosen, values = _frame_of_means(selector, n_features, ax, "profile", "profiles")
    ax.axhline(0, color=_QUIET, linewidth=0.8)
    counts = np.bincount(selector.labels_[selector.labels_ >= 0], minlength=values.shape[1])
    for k in range(values.shape[1]):
        style = {"color": _COLORS[k % len(_COLORS)], "marker": _MARKERS[k % len(_MARKERS)], "markersize": 4, "linewidth": 1.2}
        ax.plot(range(len(chosen)), values[:, k], label=f"cluster {k} ({counts[k]} rows)", **style)
    ax.set_xticks(range(len(chosen)), labels=_labels(selector, chosen), rotation=90 if len(chosen) > 6 else 0)
    ax.set_ylabel("mean of the cluster, relative")
    _legend_outside(ax, ax.get_legend_handles_labels()[0], loc="center left", bbox_to_anchor=(1.01, 0.5))
    return ax


def scatter(selector, X, *, ax=None):
    """The rows in two dimensions, colored by cluster if there are clusters.

    The dimensions are the first two columns of XW if the method learns W, else the first two principal components of the
    selected features. At most 5000 rows are drawn, evenly spaced.

    Parameters
    ----------
    selector : fitted selector
    X : the rows of the fit: array, sparse matrix or data frame
    ax : matplotlib Axes, default=None

    Returns
    -------
    matplotlib.axes.Axes
    """
    _require_scores(selector, "scatter")
    _require_columns(selector, X, "scatter")
    labels = getattr(selector, "labels_", None)
    rows = np.unique(np.linspace(0, _row_count(X) - 1, min(_row_count(X), _DRAWN_ROWS)).round().astype(int))
    if labels is not None and len(labels) != _row_count(X):
        raise ValueError(f"scatter: X has {_row_count(X)} rows, need the {len(labels)} of the fit")
    points, names = _plane(selector, X, rows)
    ax = _axes(ax)
    groups = [(None, slice(None))] if labels is None else [(k, labels[rows] == k) for k in np.unique(labels[rows])]
    for k, mine in groups:
        style = {"color": _MAIN if k is None else _COLORS[k % len(_COLORS)], "s": 8, "alpha": 0.7, "linewidths": 0}
        ax.scatter(*points[mine].T, label=None if k is None else f"cluster {k}", **style)
    ax.set(xlabel=names[0], ylabel=names[1], title=f"{type(selector).__name__}: {len(rows)} rows")
    if labels is not None:
        _legend_outside(ax, ax.get_legend_handles_labels()[0], loc="center left", bbox_to_anchor=(1.01, 0.5))
    return ax


def redundancy(selector, X, n_features=30, *, ax=None):
    """The absolute correlations of the selected features, those that repeat each other next to each other.

    Parameters
    ----------
    selector : fitted selector
    X : the rows of the fit: array, sparse matrix or data frame
    n_features : int, default=30
        At most so many of the selected features, best first.
    ax : matplotlib Axes, default=None

    Returns
    -------
    matplotlib.axes.Axes
    """
    chosen = _best(selector, n_features, "redundancy")
    _require_columns(selector, X, "redundancy")
    group = {j: g for g, members in enumerate(getattr(selector, "redundancy_groups_", ())) for j in members}
    first = {}
    for place, j in enumerate(chosen):  # a group stands where its best feature does
        first.setdefault(group.get(j, -1 - j), place)
    chosen = np.array(sorted(chosen, key=lambda j: first[group.get(j, -1 - j)]))
    columns = _columns_of(selector, X, chosen)
    columns = columns - columns.mean(axis=0)
    norms = np.linalg.norm(columns, axis=0)
    columns = columns / np.where(norms > 0, norms, 1)
    ax = _axes(ax)
    image = ax.imshow(np.abs(columns.T @ columns), cmap="viridis", vmin=0, vmax=1, interpolation="nearest")
    ax.figure.colorbar(image, ax=ax, label="absolute correlation")
    names = _labels(selector, chosen)
    ax.set_xticks(range(len(chosen)), labels=names, rotation=90)
    ax.set_yticks(range(len(chosen)), labels=names)
    ax.set_title(f"{type(selector).__name__}: redundancy of the selected features")
    return ax


def _axes(ax):
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError("tamis.plot needs matplotlib: pip install 'tamis[plot]'") from None
    return pyplot.subplots(layout="constrained")[1] if ax is None else ax


# --- Validation --------------------------------------------------------------------------------------------------


def _require_scores(selector, where):
    if not hasattr(selector, "get_support") or not hasattr(type(selector), "fit"):
        raise ValueError(f"{where}: {selector!r}, need a fitted tamis selector")
    check_is_fitted(selector)
    if not hasattr(selector, "scores_") or not hasattr(selector, "ranking_"):
        raise ValueError(f"{where}: {type(selector).__name__} has no scores_ and ranking_, need a tamis selector")


def _require_columns(selector, X, where):
    shape = np.shape(X) if isinstance(X, (list, tuple)) else getattr(X, "shape", ())
    if len(shape) == 2 and shape[1] != selector.n_features_in_:
        raise ValueError(f"{where}: X has {shape[1]} columns, need the {selector.n_features_in_} of the fit")


def _image_shape(shape, count):
    sizes = tuple(shape) if isinstance(shape, (tuple, list, np.ndarray)) else (shape,)
    if len(sizes) != 2 or not all(isinstance(size, numbers.Integral) and size >= 1 for size in sizes):
        raise ValueError(f"image_mask: shape = {shape!r}, need two counts (rows, columns)")
    if math.prod(sizes) != count:
        raise ValueError(f"image_mask: shape = {shape!r} has {math.prod(sizes)} pixels, need n_features_in_ = {count}")
    return sizes


def _require_measure(frame, measure):
    columns = getattr(frame, "columns", ())
    if "method" not in columns or "n_features" not in columns:
        raise ValueError("feature_count_curve: need the result of tamis.compare, with the columns method and n_features")
    if measure not in _MEASURES or measure not in columns:
        known = ", ".join(name for name in _MEASURES if name in columns)
        why = " (tamis.compare without y)" if measure in _MEASURES else ""
        raise ValueError(f"feature_count_curve: measure = {measure!r} is not in the frame{why}, need one of: {known}")


def _best(selector, count, where):
    """Selected features, best first."""
    _require_scores(selector, where)
    if not isinstance(count, numbers.Integral) or isinstance(count, bool) or count < 1:
        raise ValueError(f"{where}: n_features = {count!r}, need a count of at least 1")
    order = np.argsort(selector.ranking_)
    return order[selector.get_support()[order]][:count]


# --- Parts of the plots ------------------------------------------------------------------------------------------


def _frame_of_means(selector, count, ax, where, shown):
    """Axes with a title, the features to draw, best first, and their `_relative_means`."""
    chosen = _best(selector, count, where)
    values = _relative_means(selector, chosen, where)
    ax = _axes(ax)
    ax.set_title(f"{type(selector).__name__}: {shown} of the clusters")
    return ax, chosen, values


def _relative_means(selector, chosen, where):
    """Features x clusters: distances from the mean of all rows, the largest of a feature 1 or -1."""
    if not hasattr(selector, "cluster_means_"):
        raise ValueError(f"{where}: {type(selector).__name__} has no clusters of these rows, need a method with labels_")
    means = selector.cluster_means_[:, chosen]
    counts = np.bincount(selector.labels_[selector.labels_ >= 0], minlength=len(means))
    away = means - counts[counts > 0] @ means[counts > 0] / counts.sum()
    largest = np.nanmax(np.abs(away), axis=0)
    return (away / np.where(largest > 0, largest, 1)).T


def _labels(selector, chosen):
    """Short names for the ticks; a dollar would begin a formula."""
    names = (str(selector._feature_names()[j]) for j in chosen)
    short = (name if len(name) <= _TICK_LENGTH else f"{name[:10]}…{name[-9:]}" for name in names)
    return ["".join(one if one.isprintable() else "?" for one in name).replace("$", r"\$") for name in short]


def _row_count(X):
    return X.shape[0] if hasattr(X, "shape") else len(X)


def _numbers_of(selector, X):
    """All columns of X; zeros in excluded ones that contain text."""
    X, _ = unwrapped(blanked(X, selector._excluded))
    return X.tocsr() if sparse.issparse(X) else np.asarray(X, dtype=np.float64)


def _columns_of(selector, X, chosen):
    """Some columns of X as a dense array."""
    X = selector.transform(X)
    X = X.toarray() if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
    return X[:, np.searchsorted(np.flatnonzero(selector.get_support()), chosen)]


def _plane(selector, X, rows):
    """Points of the rows in two dimensions, and what these are."""
    if len(getattr(selector, "components_", ())):
        W, names = selector.components_[:2].T, ["column 0 of XW", "column 1 of XW"]
        used = np.flatnonzero((W != 0).any(axis=1))
        points = np.asarray(_numbers_of(selector, X)[rows][:, used] @ W[used])
    else:
        columns = _columns_of(selector, X, np.flatnonzero(selector.get_support()))[rows]
        columns = columns - columns.mean(axis=0)
        directions = np.linalg.svd(columns, full_matrices=False)[2][:2]
        points, names = columns @ directions.T, ["principal component 1", "principal component 2"]
    if points.shape[1] < 2:  # one dimension: over the rows
        points, names = np.column_stack([points, rows]), [names[0], "row"]
    return points, names


def _knee(scores):
    """The rank of the point farthest below the line from the first score to the last; None if none is below."""
    if len(scores) < 3 or scores[0] == scores[-1]:
        return None
    across = np.linspace(0.0, 1.0, len(scores))
    down = (scores[0] - scores) / (scores[0] - scores[-1])
    depth = down - across
    return int(np.argmax(depth)) + 1 if depth.max() > 0 else None


def _convergence_title(selector):
    report = selector.report_
    state = {"converged": "converged", "max_iterations": "stopped"}.get(report["status"], report["status"])
    count = report["iterations"]
    return f"{type(selector).__name__}: {state} after {count} iteration{'s' if count != 1 else ''}"


def _draw_terms(ax, iterations, terms):
    lines = []
    for place, (name, term) in enumerate(terms.items()):
        largest = np.abs(term).max()
        style = {"color": _COLORS[1 + place % (len(_COLORS) - 1)], "marker": _MARKERS[1 + place % (len(_MARKERS) - 1)]}
        share = term / largest if largest > 0 else term
        lines += ax.plot(iterations, share, linestyle="--", linewidth=1, markersize=3, label=name, **style)
    ax.set_ylabel("terms (fraction of the largest value)")
    return lines


def _legend_outside(ax, handles, **place):
    """Next to the curves if a layout engine makes room for it (as in our own figures), else inside the axes."""
    roomy = ax.figure.get_layout_engine() is not None
    words = {"frameon": False, **place} if roomy else {"loc": "best"}
    ax.legend(handles, [one.get_label() for one in handles], **words)


def _draw_curve(ax, frame, name, measure, *, alpha, **style):
    rows = frame[frame["method"] == name].sort_values("n_features")
    x, mean = rows["n_features"].to_numpy(), rows[measure].to_numpy()
    ax.plot(x, mean, label=name, **style)
    if f"{measure}_sd" in rows:
        sd = rows[f"{measure}_sd"].to_numpy()
        fill = {"color": style["color"], "alpha": alpha, "zorder": style["zorder"] - 1}
        ax.fill_between(x, mean - sd, mean + sd, linewidth=0, **fill)


def _draw_sizes(ax, sizes):
    if sizes[-1] >= 10 * sizes[0]:
        ax.set_xscale("log")
    ax.set_xticks(sizes, labels=[str(size) for size in sizes])
    ax.set_xticks([], minor=True)
