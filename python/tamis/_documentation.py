"""Class docstrings in numpydoc form, from the core's descriptions of methods and options."""

import inspect
import re
import textwrap

_WIDTH = 100

_SHARED = {
    "n_features_to_select": (
        "int, float, 'auto' or None, default=%s",
        "Number of features to select: a count, a fraction below 1, None (rank and keep all), or 'auto' (chosen by the "
        "alignment with the groups of rows).",
    ),
    "init": (
        "{'kmeans'} or array of shape (n_samples, n_clusters), default='kmeans'",
        "Initial label matrix: from k-means, or given as nonnegative numbers.",
    ),
    "supervised": (
        "bool, default=False",
        "Fix the clusters to the classes in y; rows with class -1 stay free.",
    ),
    "random_state": (
        "int, RandomState or None, default=0",
        "Seed of the method's random numbers. An integer gives the same numbers as the command with that --seed.",
    ),
    "n_jobs": (
        "int or None, default=None",
        "Number of threads. None: all cores, or one inside a joblib worker. Results do not depend on it.",
    ),
    "redundancy": (
        "float or None, default=0.8",
        "Absolute correlation from which features repeat each other: sets `representative_`, `r2_` and "
        "`redundancy_groups_` in one or two more passes over the data. None: not computed.",
    ),
    "missing": (
        "{'refuse', 'drop-columns', 'mean', 'median'}, default='refuse'",
        "What fit does about NaN and masked values, as --missing of the command: reject them, leave out the features that "
        "have any, or rank with the mean or median of the feature in their place. transform returns the values of X as they "
        "are.",
    ),
    "include": (
        "name, position, list of them, or boolean mask; default=None",
        "Features that are always selected, as --include of the command: names (if X has names that are all strings; * and ? "
        "stand for any characters and for one), positions counted from 0, or a mask of all features.",
    ),
    "exclude": (
        "name, position, list of them, or boolean mask; default=None",
        "Features that the method never sees, as --exclude of the command, given as for `include`. In data frames they may "
        "contain text. Their score is NaN, they come last in the ranking, and they are never selected.",
    ),
    "scale": (
        "{'none', 'standard', 'minmax', 'unit', 'auto'}, default='none'",
        "What the method sees, as --scale of the command: features divided by their standard deviation or range, or rows by "
        "their norm; 'auto' chooses between 'none' and 'standard' by the units of the features (`report_['scale']`). Nothing is "
        "shifted, so sparse data stay sparse. transform returns the values of X as they are.",
    ),
    "seeds": (
        "int or None, default=None",
        "Number of runs, 2..1000, with `random_state` and the seeds after it, that `stability_` is measured by. The "
        "selection is that of the first. None: there are no other runs.",
    ),
    "resample": (
        "int or None, default=None",
        "The same with runs on half of the rows, drawn at random without replacement. At most one of `seeds` and "
        "`resample` is given.",
    ),
    "groups": (
        "dict, array of shape (n_features,) or None, default=None",
        "Features that are selected as one: their groups by name or position, or a group for every feature (None or NaN: "
        "by itself). `n_features_to_select` then counts groups, and every feature has the score of its group.",
    ),
    "connectivity": (
        "sparse matrix or array of shape (n_samples, n_samples), or None, default=None",
        "Graph of the rows in place of one of nearest rows: symmetric weights, finite and >= 0; the diagonal is not used. The "
        "options of the other graph must then keep their defaults.",
    ),
    "verbose": ("int, default=0", "1 shows a line of progress on standard error."),
}

_TYPES = {"number": "float", "integer": "int", "yes/no": "bool", "list of integers": "sequence of int"}

_ATTRIBUTES = {
    "scores_": (
        "ndarray of shape (n_features,)",
        "Scores; higher is better, always finite; NaN for features that `exclude` or `missing` left out.",
    ),
    "ranking_": ("ndarray of shape (n_features,)", "Ranks: a permutation of 1 .. n_features, 1 is best."),
    "share_": (
        "ndarray of shape (n_features,)",
        "Fraction of each feature's variance between the groups of the guide, if there is one (GuidedUFCM, or 'auto').",
    ),
    "evidence_": (
        "ndarray of shape (n_features,)",
        "p-value of each feature, judged by a guide built from other features (GuidedUFCM with `evidence`).",
    ),
    "alignment_": ("ndarray", "Alignment with the guide after each feature of the path, if there is a guide."),
    "labels_": ("ndarray of shape (n_samples,)", "Cluster of each row, if the method clusters."),
    "components_": ("ndarray of shape (n_components, n_features)", "W', if the method learns it."),
    "cluster_centers_": (
        "ndarray of shape (n_clusters, n_components); for RUFS (n_clusters, n_features)",
        "Cluster centers, if the method learns them: G of UFCM, F of RUFS.",
    ),
    "cluster_means_": (
        "ndarray of shape (n_clusters, n_features)",
        "Mean of the rows of each cluster, if the method clusters; NaN for features that were left out.",
    ),
    "objective_": ("ndarray of shape (n_iter_,)", "The objective by iteration, if there is one."),
    "n_iter_": ("int", "Number of iterations, if the method iterates."),
    "converged_": ("bool", "Whether `tol` was reached, if the method iterates."),
    "r2_": (
        "ndarray of shape (n_features,)",
        "R^2 of each feature on the selected ones: 1 if it is selected, NaN if it is constant. Not set if all features "
        "are selected, or if it would take too long (`report_['redundancy']['note']`).",
    ),
    "representative_": (
        "ndarray of shape (n_features,)",
        "The selected feature that stands for each other one, -1 for selected and constant ones. Not set if `r2_` is not.",
    ),
    "redundancy_groups_": (
        "list of ndarray",
        "Groups of features that repeat each other: the best first, then the others by absolute correlation with it.",
    ),
    "stability_": (
        "Bunch",
        "How stable the selection is, with `seeds` or `resample`: of each feature `frequency` (fraction of the runs that "
        "select it), `mean_rank`, `rank_low` and `rank_high` (of the middle 90 % of the runs; of all if they are fewer than "
        "20); `consensus` (features by mean rank), Nogueira's `index` with its `variance` and 95 % `interval` (None if all "
        "features are selected), `by`, `runs`, `rows`, `counts`, `text`.",
    ),
    "groups_": (
        "list of dict",
        "The selected groups, best first, if `groups` is given: 'name', 'selected' (positions of features), 'score'.",
    ),
    "report_": ("dict", "Path taken, passes over the data, seconds, values determined from the data, warnings."),
    "n_features_in_": ("int", "Number of features seen in fit."),
    "feature_names_in_": ("ndarray of shape (n_features_in_,)", "Their names, if X had names that are all strings."),
}


def _entry(name, kind, text):
    return f"{name} : {kind}\n" + textwrap.indent(textwrap.fill(text, _WIDTH), "    ")


def _option_entry(option, names):
    """`names` are the parameters by the names that the core's texts have for them."""
    words = option["range"].split(", ")
    kind = _TYPES.get(option["type"]) or "{" + ", ".join(repr(word) for word in words) + "}"
    kind += " or None" if option["unset"] else ""
    text = option["help"]
    if option["type"] == "one of" and text.partition(":")[0] in words:
        text = re.sub(rf"(^|; )({'|'.join(words)}):", r"\1'\2':", text)
    text = text[:1].upper() + text[1:] + "."
    if option["type"] in ("number", "integer"):
        text += f" Range: {option['range']}."
    if option["unset"]:
        text += " None: " + re.sub(r"[a-z]+", lambda word: names.get(word[0], word[0]), option["unset"]) + "."
    return _entry(option["python_name"], f"{kind}, default={option['default']!r}", text)


def class_documentation(method, signature):
    """The docstring of a selector."""
    options = {option["python_name"]: option for option in method["options"]}
    names = {option["name"]: option["python_name"] for option in method["options"]}
    shared = dict(_SHARED)
    kind, text = shared["n_features_to_select"]
    shared["n_features_to_select"] = (kind % repr(signature.parameters["n_features_to_select"].default), text)
    parameters = [
        _option_entry(options[name], names) if name in options else _entry(name, *shared[name])
        for name in signature.parameters
    ]
    return "\n".join(
        [
            f"{method['python_name']}: {method['summary']}.",
            "",
            textwrap.fill(method["formula"], _WIDTH),
            "",
            "Parameters",
            "----------",
            *parameters,
            "",
            "Attributes",
            "----------",
            *(_entry(name, *entry) for name, entry in _ATTRIBUTES.items()),
            "",
            "References",
            "----------",
            textwrap.fill(method["reference"], _WIDTH),
            "",
        ]
    )


def weighted_fit(run, fit, weights):
    """`fit` with a parameter `sample_weight`, which `run` takes: what its documentation says of the weights."""

    def weighted(self, X, y=None, sample_weight=None):
        return run(self, X, y, sample_weight)

    weighted.__doc__ = with_parameter(fit, f"sample_weight : {weights}")
    weighted.__name__ = weighted.__qualname__ = "fit"
    return weighted


def with_parameter(function, parameter):
    """The docstring of a function with one more parameter, the last."""
    if function.__doc__ is None:  # python -OO
        return None
    before, after = inspect.cleandoc(function.__doc__).split("\n\nReturns\n")
    return f"{before}\n{parameter}\n\nReturns\n{after}"
