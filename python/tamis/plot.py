"""Plots of selectors and comparisons, with matplotlib (``pip install 'tamis[plot]'``).

Every function except `save_figures` draws into `ax`, or into a new figure, and returns the Axes. Nothing is shown, and no
matplotlib setting is changed. `save_figures` saves the figures of the command's report pages and needs vl-convert
(``tamis[figures]``).
"""

import math
import numbers

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ._figures import save_figures

__all__ = ["feature_count_curve", "image_mask", "objective", "save_figures", "score_curve"]

# Okabe & Ito's colorblind-safe palette without yellow, which is too pale for lines, and a wine red of Tol's.
_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#882255")
_COLORS += ("#44AA99", "#AA4499", "#999933", "#6699CC", "#661100", "#888888")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">", "p", "h", "d", "8")
_MAIN, _ACCENT = _COLORS[:2]
_QUIET, _BLANK = "#777777", "#ECECEC"
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


# --- Parts of the plots ------------------------------------------------------------------------------------------


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
