"""Comparison of methods and evaluation of a selection, as data frames."""

import numbers
import statistics

import numpy as np

from . import _core
from ._inputs import Prepared, checked_table, class_numbers, feature_positions, label_array
from ._running import progress_for, seed_of, thread_count

_METHODS = {method["name"]: method for method in _core.methods()}
_NAMES = {method[key].lower(): name for name, method in _METHODS.items() for key in ("name", "python_name")}
_MEASURES = ("accuracy", "nmi", "adjusted_rand")
_AGAINST_BEST = ("against_best", "against_best_low", "against_best_high", "against_best_clear")
_CALL_WORDS = {
    "clusters": "n_clusters",
    "features": "n_features",
    "repeats": "n_repeats",
    "subsets": "n_subsets",
    "seed": "random_state",
    "--exclude": "drop {}",
    "--counts": "scanpy.pp.normalize_total and log1p",
}


def compare(
    X,
    n_clusters=None,
    n_features=None,
    y=None,
    *,
    methods=None,
    scale="none",
    options=None,
    grid=False,
    n_repeats=_core.default_repeats,
    random_state=0,
    n_jobs=None,
    verbose=0,
    missing="refuse",
):
    """Run every method and compare their selections, like the command ``tamis compare``.

    Each method ranks the features once. The requested numbers of features are cut from that ranking, and each cut is
    measured the same way: with classes, by k-means on the selected features only, compared with random subsets and all
    features. A method inside the band of the random subsets has shown nothing.

    Parameters
    ----------
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
        Anything that the selectors accept. Never modified.
    n_clusters : int, default=None
        Number of clusters for every method that has the option, and for k-means. None: the number of classes in y, or
        the methods' default without y.
    n_features : int, float or list of them, default=None
        Numbers of features to cut from each ranking: counts, or fractions below 1. None: 20, 50 and 100, limited to the
        number of features.
    y : array-like of shape (n_samples,), default=None
        Classes to compare with; the methods never see them. Rows with -1, None, NaN or "" are unlabeled: they are
        clustered but not counted.
    methods : str or list of str, default=None
        Method names, such as ``"ufcm"`` or ``"UFCM"``. None: all but SPEC, whose default ranks like LaplacianScore.
    scale : {"none", "standard", "minmax", "unit", "auto"}, default="none"
        Scaling before ranking and before measuring, as in ``tamis select``.
    options : dict of dict, default=None
        Options of individual methods, named as in the selectors: ``{"ufcm": {"alpha": 0.1}}``.
    grid : bool, default=False
        Also try a grid of each method's options (needs y). `label_best` is chosen with the true classes; it cannot be
        obtained without labels.
    n_repeats : int, default=10
        Number of single k-means++ starts per measurement.
    random_state : int, RandomState or None, default=0
        An integer gives the same numbers as the command with that ``--seed``.
    n_jobs : int or None, default=None
        Number of threads. Results do not depend on it, except `seconds` and `bytes`.
    verbose : int, default=0
        1 shows a line of progress on standard error.
    missing : {"refuse", "drop-rows", "drop-columns", "mean", "median"}, default="refuse"
        What to do about NaN and masked values, as with ``--missing`` of the command.

    Returns
    -------
    pandas.DataFrame
        One row per method and number of features, then the rows ``random`` (mean and standard deviation over 20 random
        subsets) and ``allfea`` (all features; missing, with a note, if the table is too large for it). Columns:

        - `method`, `n_features`;
        - with y: `accuracy`, `nmi`, `adjusted_rand`, their standard deviations `accuracy_sd`, ... over the starts and
          `accuracy_best`, ... of the start with the lowest inertia,
          and `accuracy_p`, (1 + number of random subsets at least as good) / (1 + 20);
        - with y: `against_best`, the mean difference of the accuracy from that of the best method of this size, paired over
          the starts, its 95 % interval `against_best_low` and `against_best_high`, and `against_best_clear`, whether the
          interval leaves out 0; missing if there is one start, and for ``random`` and ``allfea``;
        - `redundancy`, the mean absolute correlation of the selected features;
        - with grid: `label_best`, `grid_median`, `grid_worst` (accuracies), `evaluations`, `best_options`;
        - `seconds`, `bytes` and `iterations` of the ranking, `status` ("direct", "converged", "max_iterations" or
          "failed") and `error`, the reason for a failure.

        ``frame.attrs`` holds plain values: `options` (what was run), `selected` (per method, the columns of the largest
        cut, best first), `selected_names` if X has names, `overlap` (per number of features, the share of common
        features of each pair of methods), `grid` (its runs per method) and `notes`.

    Examples
    --------
    >>> frame = tamis.compare(X, n_features=(10, 20), y=y)
    >>> frame.pivot(index="method", columns="n_features", values="accuracy")
    """
    pandas = _pandas()
    X, names = checked_table(X, missing)
    if not isinstance(grid, (bool, np.bool_)):
        raise ValueError(f"compare: grid = {grid!r}, need True or False")
    if grid and y is None:
        raise ValueError("compare: grid=True needs y: classes to score the settings")
    table = Prepared(X, names, missing, "compare", _CALL_WORDS)
    classes = None if y is None else table.of_rows(_classes(X, y, "compare"))
    clusters, notes = _cluster_count(n_clusters, classes, "compare")
    chosen = _method_names(methods)
    request = {
        "clusters": clusters,
        "scale": scale if isinstance(scale, str) else repr(scale),
        "repeats": _count(n_repeats, "compare: n_repeats"),
        "grid": bool(grid),
        "seed": seed_of(random_state),
    }
    progress = progress_for(verbose, "compare")
    try:
        found = _core.compare(
            table.data,
            chosen,
            _sizes(n_features),
            classes=classes,
            settings=_settings(options),
            threads=thread_count(n_jobs),
            progress=progress,
            words=_CALL_WORDS,
            names=[str(name) for name in table.names or []],
            **request,
        )
    finally:
        if progress:
            progress.close()
    notes += [table.note] if table.note else []
    if found["scale_reason"]:
        notes.append(f"scale='auto': {found['scale']}, since {found['scale_reason']}")
    request["scale"] = found["scale"]
    frame = _comparison_frame(pandas, found, classes is not None, bool(grid))
    sizes = found["sizes"].tolist()
    selected = {row["name"]: table.in_X(row["selected"].tolist()) for row in found["methods"] if row["error"] is None}
    frame.attrs = {
        "options": _python_request(request, sizes, [row["name"] for row in found["methods"]], options),
        "selected": selected,
        "overlap": {k: _overlap(selected, k) for k in sizes},
        "notes": notes + found["notes"],
    }
    if names is not None:
        frame.attrs["selected_names"] = {name: [str(names[j]) for j in places] for name, places in selected.items()}
    if grid:
        frame.attrs["grid"] = {row["name"]: [_grid_run(run) for run in row["grid"]] for row in found["methods"]}
    return frame


def evaluate(X, y, features, *, n_clusters=None, n_repeats=_core.default_repeats, n_subsets=_core.default_subsets,
             random_state=0, n_jobs=None, missing="refuse"):
    """Evaluate a selection of features with known classes, like the command ``tamis evaluate``.

    Runs k-means on the selected features only and compares the clusters with the classes; does the same with all features,
    the features with the largest variance, and random subsets of the same size. A selection that does not beat random
    subsets has shown nothing.

    Parameters
    ----------
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
        Anything that the selectors accept. Never modified.
    y : array-like of shape (n_samples,)
        Classes. Rows with -1, None, NaN or "" are unlabeled: they are clustered but not counted.
    features : list of int or str, mask or fitted selector
        Positions, names, a mask of all features, or anything with ``get_support``.
    n_clusters : int, default=None
        None: the number of classes.
    n_repeats : int, default=10
        Number of single k-means++ starts per measurement.
    n_subsets : int, default=20
        Number of random subsets.
    random_state : int, RandomState or None, default=0
        An integer gives the same numbers as the command with that ``--seed``.
    n_jobs : int or None, default=None
        Number of threads. Results do not depend on it.
    missing : {"refuse", "drop-rows", "drop-columns", "mean", "median"}, default="refuse"
        What to do about NaN and masked values, as with ``--missing`` of the command.

    Returns
    -------
    pandas.DataFrame
        Rows ``given``, ``all`` (missing, with a note, if the table is too large for it), ``max_variance`` and
        ``random``; columns `n_features`, `accuracy`, `accuracy_sd`, `nmi`, `nmi_sd`, `adjusted_rand`,
        `adjusted_rand_sd`, `accuracy_best`, ... (the start with the lowest inertia), `redundancy`, and for the row
        ``given`` `accuracy_p`, `nmi_p`, `adjusted_rand_p`: (1 + number of random subsets at least as good) /
        (1 + n_subsets). ``frame.attrs`` holds `options`, `selected` and `notes`.
    """
    pandas = _pandas()
    X, names = checked_table(X, missing)
    table = Prepared(X, names, missing, "evaluate", _CALL_WORDS)
    classes = table.of_rows(_classes(X, y, "evaluate"))
    clusters, notes = _cluster_count(n_clusters, classes, "evaluate")
    chosen = feature_positions(features, names, X.shape[1], "evaluate")
    request = {
        "clusters": clusters,
        "repeats": _count(n_repeats, "evaluate: n_repeats"),
        "subsets": _count(n_subsets, "evaluate: n_subsets"),
        "seed": seed_of(random_state),
    }
    threads = thread_count(n_jobs)
    found = _core.evaluate(table.data, classes, table.from_X(chosen), threads=threads, words=_CALL_WORDS, **request)
    rows = {
        name: {"n_features": found[name]["features"], **_measures(found[name])}
        for name in ("given", "all", "max_variance", "random")
        if found[name] is not None
    }
    rows["given"].update({f"{measure}_p": found["random"][f"{measure}_p"] for measure in _MEASURES})
    frame = pandas.DataFrame.from_dict(rows, orient="index").astype({"n_features": np.int64, "redundancy": np.float64})
    frame.attrs = {
        "options": {_CALL_WORDS[word]: value for word, value in request.items()},
        "selected": chosen,
        "notes": notes + ([table.note] if table.note else []) + found["notes"],
    }
    return frame


def _pandas():
    try:
        import pandas
    except ImportError:
        raise ImportError("tamis.compare and tamis.evaluate need pandas: pip install 'tamis[compare]'") from None
    return pandas


# --- The request -------------------------------------------------------------------------------------------------


def _classes(X, y, where):
    y = label_array(y, f"{where}: y")
    if len(y) != X.shape[0]:
        raise ValueError(f"{where}: {len(y)} labels in y, need n = {X.shape[0]}")
    return class_numbers(y)


def _cluster_count(n_clusters, classes, where):
    """The number of clusters, and a note if it was not given."""
    if n_clusters is not None:
        return _count(n_clusters, f"{where}: n_clusters"), []
    if classes is not None:
        count = max(1, int(classes.max(initial=-1)) + 1)
        return count, [f"n_clusters = {count}, the number of classes (default)"]
    described = (option for method in _METHODS.values() for option in method["options"])
    count = next(option["default"] for option in described if option["name"] == "clusters" and not option["unset"])
    return count, [f"n_clusters = {count} (default)"]


def _is_count(value):
    return isinstance(value, numbers.Integral) and not isinstance(value, (bool, np.bool_)) and 1 <= value < 2**63


def _count(value, what):
    if not _is_count(value):
        raise ValueError(f"{what} = {value!r}, need a count of at least 1")
    return int(value)


def _sizes(n_features):
    if n_features is None:
        return []
    wanted = np.atleast_1d(np.asarray(n_features, dtype=object)).ravel().tolist()
    if not wanted:
        raise ValueError("compare: n_features is empty, need counts of at least 1 or fractions below 1")
    return [_size(one) for one in wanted]


def _size(wanted):
    if _is_count(wanted):
        return int(wanted)
    if isinstance(wanted, numbers.Real) and not isinstance(wanted, numbers.Integral) and 0 < wanted < 1:
        return float(wanted)
    raise ValueError(f"compare: n_features = {wanted!r}, need counts of at least 1 or fractions below 1")


def _method_name(word):
    name = _NAMES.get(str(word).lower())
    if name is None:
        raise ValueError(f"compare: method {word!r}, need one of: {', '.join(_METHODS)}")
    return name


def _method_names(methods):
    if methods is None:
        return []
    names = [_method_name(word) for word in ([methods] if isinstance(methods, str) else methods)]
    if not names:
        raise ValueError(f"compare: 0 methods, need at least one of: {', '.join(_METHODS)}")
    return names


def _settings(options):
    """The options by the core's names of the methods, with known names; the core checks the values."""
    settings = {}
    for word, values in (options or {}).items():
        name = _method_name(word)
        known = {option["python_name"]: option for option in _METHODS[name]["options"]}
        one = settings.setdefault(name, {})
        for option, value in values.items():
            if option == "connectivity" and _METHODS[name]["graph_options"]:
                who = _METHODS[name]["python_name"]
                raise ValueError(f"compare: every method sees X alone; tamis.{who}(connectivity=...) takes a graph of the rows")
            if option not in known:
                who, allowed = _METHODS[name]["python_name"], ", ".join(known) or "none"
                raise ValueError(f"compare: {who} has no option {option!r}, need one of: {allowed}")
            one[option] = value
    return settings


def _python_request(request, sizes, methods, options):
    """The request by the names of `compare`, in plain values."""
    given = {}
    for word, values in (options or {}).items():
        given.setdefault(_method_name(word), {}).update({name: _plain(one) for name, one in values.items()})
    renamed = {_CALL_WORDS.get(word, word): value for word, value in request.items()}
    return {**renamed, "n_features": sizes, "methods": methods, "options": given}


def _plain(value):
    return value.item() if isinstance(value, np.generic) else value


# --- The result --------------------------------------------------------------------------------------------------


def _measures(score):
    """Means, standard deviations and redundancy of one measured subset."""
    cells = {}
    for measure in _MEASURES:
        if measure in score:
            cells[measure], cells[f"{measure}_sd"] = score[measure]
    cells.update(zip((f"{measure}_best" for measure in _MEASURES), score.get("best", ())))
    redundancy = score["redundancy"]
    cells["redundancy"] = np.nan if redundancy is None else redundancy  # too many pairs to count
    return cells


def _comparison_frame(pandas, found, labelled, grid):
    sizes = found["sizes"].tolist()
    rows = []
    for method in found["methods"]:
        run = {key: method[key] for key in ("seconds", "bytes", "iterations", "status", "error")}
        if method["error"] is not None:
            run["iterations"] = None
        for place, size in enumerate(sizes):
            row = {"method": method["name"], "n_features": size, **run}
            if method["sizes"]:
                size = method["sizes"][place]
                row.update(_measures(size), accuracy_p=size.get("accuracy_p"))
                row.update(zip(_AGAINST_BEST, size.get("against_best") or ()))
            row.update(_grid_summary(method, place) if grid else {})
            rows.append(row)
    bands = [("random", band) for band in found["random"]]
    bands += [("allfea", found["all"])] if found["all"] is not None else []
    rows += [{"method": name, "n_features": band["features"], **_measures(band)} for name, band in bands]
    return _typed(pandas.DataFrame(rows, columns=_columns(labelled, grid)))


def _columns(labelled, grid):
    measured = [name for measure in _MEASURES for name in (measure, f"{measure}_sd")] + ["accuracy_p", *_AGAINST_BEST]
    measured += [f"{measure}_best" for measure in _MEASURES]
    columns = ["method", "n_features", *(measured if labelled else []), "redundancy"]
    columns += ["label_best", "grid_median", "grid_worst", "evaluations", "best_options"] if grid else []
    return columns + ["seconds", "bytes", "iterations", "status", "error"]


def _typed(frame):
    texts = ("method", "status", "error", "best_options")
    counts = ("bytes", "iterations", "evaluations")  # may be missing, unlike n_features
    kinds = {"n_features": np.int64, "against_best_clear": "boolean"}
    kinds |= {**dict.fromkeys(counts, "Int64"), **dict.fromkeys(texts, object)}
    frame = frame.astype({name: kinds.get(name, np.float64) for name in frame.columns})
    for name in texts:
        if name in frame:
            frame[name] = frame[name].where(frame[name].notna(), None)
    return frame


def _grid_summary(method, place):
    """Accuracies over the settings that ran; ties for the best go to the first."""
    runs = [(run["sizes"][place]["accuracy"][0], run["options"]) for run in method["grid"] if run["error"] is None]
    if not runs:
        return {"evaluations": 0}
    best, settings = max(runs, key=lambda run: run[0])
    accuracies = [accuracy for accuracy, _ in runs]
    return {
        "label_best": best,
        "grid_median": statistics.median(accuracies),
        "grid_worst": min(accuracies),
        "evaluations": len(runs),
        "best_options": settings,
    }


def _grid_run(run):
    return {
        "options": run["options"],
        "seconds": run["seconds"],
        "status": run["status"],
        "error": run["error"],
        "accuracy": {size["features"]: size["accuracy"][0] for size in run["sizes"]},
    }


def _overlap(selected, k):
    """|A and B| / k for the first k features of each pair of methods."""
    first = {name: set(places[:k]) for name, places in selected.items()}
    return {a: {b: len(first[a] & first[b]) / k for b in first} for a in first}
