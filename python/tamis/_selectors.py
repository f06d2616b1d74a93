"""The methods as scikit-learn selectors, one class for each that the core describes.

Names, signatures, defaults and documentation come from these descriptions; nothing is computed here.
"""

import copy
import inspect
import numbers
import types
import warnings

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Bunch, check_array, check_consistent_length, column_or_1d
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _core
from ._core_data import core_data
from ._documentation import class_documentation, weighted_fit
from ._fitted import Fitted, nearest_rule
from ._frames import blanked, column_names, positions_of, require_loaded, require_numbers
from ._inputs import class_numbers, feature_groups, graph_of, graph_weights, row_weights
from ._running import progress_for, repeats, seed_of, thread_count, warn_all
from ._unwrap import unwrapped, with_nan

_METHODS = {method["name"]: method for method in _core.methods()}
_WORDS = {  # of messages
    "features": "n_features_to_select",
    "--exclude": "exclude=[{}]",
    "--sample-weight": "sample_weight",
    "--counts": "scanpy.pp.normalize_total and log1p",
}
_REDUNDANT = _core.default_redundancy


class Selector(Fitted, SelectorMixin, BaseEstimator):
    """Base class of all selectors. A subclass names its method of the core."""

    _words = _WORDS

    def __init_subclass__(cls, method=None, **keywords):
        super().__init_subclass__(**keywords)
        if method is None:  # a user's subclass of a selector
            return
        cls._method = _METHODS[method]
        cls.__init__ = _initializer(_signature(cls._method))
        cls.__doc__ = class_documentation(cls._method, inspect.signature(cls))
        cls.__module__ = "tamis"

    def fit(self, X, y=None, **others):
        """Rank the features of X.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Never modified.
        y : array of shape (n_samples,), default=None
            Classes of the rows, -1 for unlabeled rows. Ignored unless ``supervised=True``.

        Returns
        -------
        self
        """
        self._refuse_others(others)
        return self._fit(X, y)

    # For scikit-learn, which takes every argument that it sees for one that the method uses.
    fit.__signature__ = inspect.Signature(list(inspect.signature(fit).parameters.values())[:-1])

    def _refuse_others(self, others):
        if not others:
            return
        name = next(iter(others))
        able = [method["python_name"] for method in _METHODS.values() if method["weighs"]]
        hint = f"; {', '.join(able[:-1])} and {able[-1]} have weights of rows" if name == "sample_weight" else ""
        raise TypeError(f"{type(self).__name__}.fit got an unexpected argument {name!r}{hint}")

    def _fit(self, X, y, sample_weight=None):
        """Implements `fit`."""
        data, rows = self._data(X)
        weights = row_weights(sample_weight, rows, type(self).__name__)
        graph = graph_of(getattr(self, "connectivity", None), X, type(self).__name__)
        data, kept, note = self._without_missing(data)
        include, exclude = self._chosen(kept)
        progress = progress_for(self.verbose, type(self).__name__)
        try:
            result = _core.select(
                self._method["name"],
                data,
                self._options(),
                _feature_count(self.n_features_to_select),
                scale=_scale(self.scale),
                include=include,
                exclude=exclude,
                classes=self._classes(rows, y),
                init=self._init(),
                seed=seed_of(self.random_state),
                threads=thread_count(self.n_jobs),
                progress=progress,
                words=_WORDS,
                names=self._names(data, kept),
                redundancy=_redundancy(self.redundancy),
                seeds=repeats(self.seeds, "seeds"),
                resample=repeats(self.resample, "resample"),
                groups=self._groups(kept),
                connectivity=graph_weights(graph, rows, type(self).__name__),
                weights=weights,
            )
            if progress:
                progress("done", 1.0, "done")
        finally:
            if progress:
                progress.close()
        exclude = np.flatnonzero(np.isnan(result["scores"])).tolist()  # with the rest of their groups
        self._keep_clusters(result, data, kept, exclude, weights)
        self._spread(result, kept, exclude)
        self._keep(result)
        self._n_rows = rows
        self._remember(X, result["fitted"])
        if note:
            self.report_["missing"] = note
        warn_all(result["warnings"], stacklevel=3)
        return self

    def transform(self, X):
        """Reduce X to the selected features, in the order they have in X.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        X_r : of shape (n_samples, n_selected_features)
        """
        self._require_loaded(X)
        X, names = unwrapped(self._unmasked(blanked(X, getattr(self, "_excluded", ()))))
        if isinstance(X, _core.DiskRows):
            raise ValueError(f"{type(self).__name__}: transform needs X in memory, but its rows are on disk")
        if names is None:
            return super().transform(X)
        check_is_fitted(self, "scores_")
        self._require_names(names)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "X does not have valid feature names")
            return super().transform(X)

    def _require_loaded(self, X):
        there = f"tamis.dask.{self._method['python_name']}" if self._method["remote"] else None
        require_loaded(X, type(self).__name__, there)

    def _require_names(self, names):
        if not np.array_equal(getattr(self, "feature_names_in_", names), names):
            raise ValueError(f"{type(self).__name__}: the feature names of X differ from those seen in fit")

    def _rows_to_predict(self, X):
        """Other rows as the core accepts them."""
        X = self._checked_rows(X)
        return X if isinstance(X, _core.DiskRows) else core_data(X)

    def _require_finite(self, X):
        """Names the first value among the columns that `predict` uses that is not finite."""
        X = self._checked_rows(X)
        if isinstance(X, _core.DiskRows):
            return
        X = (X.tocsc() if sparse.issparse(X) else X)[:, self._rule["columns"]]
        coo = X.tocoo() if sparse.issparse(X) else None
        bad = np.argwhere(~np.isfinite(X)) if coo is None else np.transpose([coo.row, coo.col])[~np.isfinite(coo.data)]
        if len(bad) == 0:
            return
        row, column = min(map(tuple, bad.tolist()))
        value = (X if coo is None else X.tocsr())[row, column]
        names, j = getattr(self, "feature_names_in_", None), self._rule["columns"][column]
        where = f"row {row}, column {j if names is None else repr(str(names[j]))}"
        value = "NaN" if np.isnan(value) else str(float(value))
        more = f" ({len(bad)} such values in all)" if len(bad) > 1 else ""
        raise ValueError(f"{type(self).__name__}.predict: X, {where}: {value}, need finite numbers{more}")

    def _checked_rows(self, X):
        self._require_loaded(X)
        X, names = unwrapped(blanked(X, self._excluded))
        if names is not None:
            self._require_names(names)
        if isinstance(X, _core.DiskRows):
            if X.shape[1] != self.n_features_in_:
                raise ValueError(f"{type(self).__name__}: X has {X.shape[1]} features, need {self.n_features_in_}")
            return X
        with warnings.catch_warnings():
            if names is not None:
                warnings.filterwarnings("ignore", "X does not have valid feature names")
            # The core checks for NaN and infinities in the columns that it uses.
            return validate_data(self, X, accept_sparse=("csr", "csc"), ensure_all_finite=False, reset=False)

    def _rows_to_report(self, X, where):
        """The rows of the fit as the core was given them, and the names of their columns."""
        twin = copy.copy(self)
        data, rows = twin._data(X)
        data, kept, _ = twin._without_missing(data)
        if (rows, twin.n_features_in_) != (self._n_rows, self.n_features_in_):
            here, need = f"{rows} x {twin.n_features_in_}", f"{self._n_rows} x {self.n_features_in_}"
            raise ValueError(f"{where}: X is {here}, need the {need} rows and columns of the fit")
        names = [str(name) for name in getattr(self, "feature_names_in_", ())]
        return data, names if kept is None or not names else [names[j] for j in kept]

    def _data(self, X):
        """X as the core accepts it, and its number of rows; stores the number of features and their names."""
        where = type(self).__name__
        self._require_loaded(X)
        self._find_columns(*column_names(X))
        X = blanked(X, self._excluded)
        require_numbers(X, where, can_exclude=True)
        X, names = unwrapped(self._unmasked(X))
        if isinstance(X, _core.DiskRows):
            self.n_features_in_ = X.shape[1]
            self._keep_if("feature_names_in_", names)
            return X, X.shape[0]
        # The core checks for NaN and infinities, and reports their position.
        X = validate_data(self, X, accept_sparse=("csr", "csc"), ensure_all_finite=False, ensure_min_samples=2)
        if names is not None:
            self.feature_names_in_ = names
        return core_data(X), X.shape[0]

    def _find_columns(self, names, count):
        """Looks up `include` and `exclude`, before anything is converted: excluded columns may contain text."""
        where = type(self).__name__
        self._included = positions_of(self.include, names, count, f"{where}: include")
        self._excluded = positions_of(self.exclude, names, count, f"{where}: exclude")

    def _chosen(self, kept):
        """The positions of `include` and `exclude` among the columns that the core is given."""
        if kept is None:
            return self._included, self._excluded
        place = {int(j): i for i, j in enumerate(kept)}
        for j in self._included:
            if j not in place:
                names = getattr(self, "feature_names_in_", None)
                column = j if names is None else repr(str(names[j]))
                raise ValueError(f"{type(self).__name__}: include: feature {column} has missing values, and missing = "
                                 f"{self.missing!r} leaves it out")  # fmt: skip
        return [place[j] for j in self._included], [place[j] for j in self._excluded if j in place]

    def _unmasked(self, X):
        """Masked values as missing ones, if `missing` says what to do with them."""
        return X if self.missing == "refuse" else with_nan(X)

    def _without_missing(self, data):
        """The data that are ranked, the columns of X that they have (None: all), and what was done about missing values."""
        if self.missing == "refuse":
            return data, None, ""
        name = type(self).__name__
        if isinstance(self.missing, str) and self.missing == "drop-rows":
            raise ValueError(
                f"{name}: missing = 'drop-rows' would leave rows of X without a label; drop them before fit, or use 'mean', "
                "'median' or 'drop-columns'"
            )
        if not isinstance(self.missing, str) or self.missing not in ("drop-columns", "mean", "median"):
            raise ValueError(f"{name}: missing = {self.missing!r}, need 'refuse', 'drop-columns', 'mean' or 'median'")
        if isinstance(data, (_core.DiskRows, _core.RemoteRows)):
            there, instead = "on the workers", "fill them in before fit (of a Dask data frame: X.fillna(X.mean()))"
            if isinstance(data, _core.DiskRows):
                there, instead = "on disk", f"read them into memory: tamis.read(path, missing={self.missing!r})"
            raise ValueError(
                f"{name}: missing = {self.missing!r} changes numbers in memory only, and these are {there}; {instead}"
            )
        found = _core.without_missing(data, self.missing, [str(one) for one in getattr(self, "feature_names_in_", ())], _WORDS)
        return found["X"], found["columns"], found["note"]

    def _keep_clusters(self, result, data, kept, exclude, weights):
        """The means of the clusters, and the rule by which `predict` finds those of other rows."""
        means, rule, labels = None, None, result["clusters"]
        if labels is not None:
            seen = np.delete(np.arange(self.n_features_in_) if kept is None else kept, exclude)
            found = _core.cluster_means(result["fitted"], data)
            means = np.full((len(found["means"]), self.n_features_in_), np.nan)
            means[:, seen] = found["means"]
            scale, unit = result["column_scale"], found["seen"] is not None
            known = found["seen"] if unit else found["means"] if scale is None else found["means"] * scale
            known_rows = labels >= 0
            own = None if weights is None else weights[known_rows]
            counts = np.bincount(labels[known_rows], own, minlength=len(means))
            scores = np.delete(result["scores"], exclude)
            if self._method["metric"]:
                rule = nearest_rule(self._method, result["components"], scores, known, counts, seen, scale, unit)
        self._keep_if("cluster_means_", means)
        self._keep_if("_rule", rule)

    def _spread(self, result, kept, exclude):
        """What is known of the columns that were ranked, at their places in X; the others come last, without a score."""
        d = self.n_features_in_
        if kept is None:
            if not exclude:
                return
            kept = np.arange(d)
        seen = np.delete(kept, exclude)  # by the method

        def over(values, places, rest):
            out = np.full((d, *np.shape(values)[1:]), rest)
            out[places] = values
            return out

        result["scores"] = over(result["scores"], kept, np.nan)
        ranked = kept[result["ranking"]]
        result["ranking"] = np.concatenate([ranked, np.setdiff1d(np.arange(d), ranked)])
        result["selected"] = kept[result["selected"]]
        for group in result["groups"] or ():
            group["selected"] = kept[group["selected"]]
        components, centers = result["components"], result["centers"]
        by_feature = centers is not None and (components is None or centers.shape[1] != components.shape[1])
        if by_feature:
            result["centers"] = np.ascontiguousarray(over(centers.T, seen, np.nan).T)
        if components is not None:
            result["components"] = over(components, seen, 0.0)
        guidance = result["guidance"] or {}
        for name in ("share", "evidence"):
            if guidance.get(name) is not None:
                guidance[name] = over(guidance[name], kept, np.nan)
        redundancy = result["redundancy"] or {}
        if redundancy.get("r2") is not None:
            there = redundancy["representative"]
            redundancy["r2"] = over(redundancy["r2"], kept, np.nan)
            redundancy["representative"] = over(np.where(there < 0, -1, kept[there]), kept, -1)
        if redundancy:
            redundancy["groups"] = [kept[group] for group in redundancy["groups"]]
        stability = result["stability"] or {}
        for name, rest in (("frequency", np.nan), ("mean_rank", np.nan), ("rank_low", -1), ("rank_high", -1)):
            if stability:
                stability[name] = over(stability[name], kept, rest)
        if stability:
            stability["consensus"] = kept[stability["consensus"]]

    def _names(self, data, kept):
        """Names of the columns for warnings about them; None on Dask, where no rows are looked at."""
        if isinstance(data, _core.RemoteRows):
            return None
        names = [str(name) for name in getattr(self, "feature_names_in_", ())]
        if kept is None:
            return names
        return [names[j] if names else str(j) for j in kept]

    def _groups(self, kept):
        """The group of each column that is ranked; None without groups."""
        names = getattr(self, "feature_names_in_", None)
        groups = feature_groups(self.groups, names, self.n_features_in_, type(self).__name__)
        own = self._feature_names()  # of a feature that is a group by itself
        self._keep_if("_group_names", None if groups is None else [group or str(own[j]) for j, group in enumerate(groups)])
        return groups if groups is None or kept is None else [groups[j] for j in kept]

    def _options(self):
        return {option["python_name"]: getattr(self, option["python_name"]) for option in self._method["options"]}

    def _classes(self, rows, y):
        """Classes numbered from 0, -1 for unlabeled rows; None if the method is not supervised."""
        if not getattr(self, "supervised", False):
            return None
        if y is None:
            raise ValueError(f"{type(self).__name__}: supervised=True requires y to be passed, but the target y is None")
        y = column_or_1d(y)
        check_consistent_length(range(rows), y)
        return class_numbers(y)

    def _init(self):
        init = getattr(self, "init", "kmeans")
        if isinstance(init, str):
            if init != "kmeans":
                raise ValueError(f"{type(self).__name__}: init = {init!r}, need 'kmeans' or an array (n_samples, n_clusters)")
            return None
        return check_array(init, dtype=np.float64, order="C", input_name="init")

    def _keep(self, result):
        report = result["report"]
        ranking = np.empty(self.n_features_in_, dtype=np.int64)
        ranking[result["ranking"]] = np.arange(1, self.n_features_in_ + 1)
        self.scores_ = result["scores"]
        self.ranking_ = ranking
        self._support = np.zeros(self.n_features_in_, dtype=bool)
        self._support[result["selected"]] = True
        for name, value in (("labels_", result["clusters"]), ("cluster_centers_", result["centers"])):
            self._keep_if(name, value)
        components = result["components"]
        self._keep_if("components_", None if components is None else np.ascontiguousarray(components.T))
        self._keep_if("objective_", report["objective"] if len(report["objective"]) else None)
        iterates = report["status"] != "direct"
        self._keep_if("n_iter_", report["iterations"] if iterates else None)
        self._keep_if("converged_", report["status"] == "converged" if iterates else None)
        guidance = result["guidance"] or {}
        for name in ("share", "evidence", "alignment"):
            self._keep_if(name + "_", guidance.get(name))
        redundancy = result["redundancy"] or {}
        for name in ("r2", "representative"):
            self._keep_if(name + "_", redundancy.get(name))
        self._keep_if("redundancy_groups_", redundancy.get("groups"))
        self._keep_if("stability_", None if result["stability"] is None else Bunch(**result["stability"]))
        self._keep_if("groups_", result["groups"])
        self.report_ = report
        self.report_["scale"] = result["scale"]
        if result["scale_reason"]:
            self.report_["scale_reason"] = result["scale_reason"]
        if redundancy:
            self.report_["redundancy"] = {name: redundancy[name] for name in ("threshold", "rows", "note")}
        if guidance:
            self.report_ |= {name: value for name, value in guidance.items() if name not in ("share", "evidence", "alignment")}

    def _keep_if(self, name, value):
        """Sets an attribute, or removes one left by an earlier fit if there is no value."""
        if value is not None:
            setattr(self, name, value)
        elif hasattr(self, name):
            delattr(self, name)

    def _get_support_mask(self):
        check_is_fitted(self, "scores_")  # validating X alone sets other attributes
        return self._support

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing != "refuse"
        tags.target_tags.required = bool(getattr(self, "supervised", False))
        return tags


def _signature(method):
    """The signature of ``__init__``, in the documented order."""
    words = [("n_features_to_select", "auto" if method["chooses_count"] else None)]
    words += [(option["python_name"], option["default"]) for option in method["options"] if not option["late"]]
    if method["takes_init"]:
        words.append(("init", "kmeans"))
    if method["takes_classes"]:
        words.append(("supervised", False))
    words += [("random_state", 0), ("n_jobs", None), ("verbose", 0)]
    words += [(option["python_name"], option["default"]) for option in method["options"] if option["late"]]
    words.append(("redundancy", _REDUNDANT))
    words += [("missing", "refuse"), ("include", None), ("exclude", None), ("scale", "none")]
    words += [("seeds", None), ("resample", None), ("groups", None)]
    if method["graph_options"]:
        words.append(("connectivity", None))
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return inspect.Signature(
        [inspect.Parameter("self", kind)] + [inspect.Parameter(name, kind, default=value) for name, value in words]
    )


def _initializer(signature):
    def __init__(self, *values, **named):
        try:
            bound = signature.bind(self, *values, **named)
        except TypeError as error:
            raise TypeError(f"{type(self).__name__}: {error}") from None
        bound.apply_defaults()
        for name, value in list(bound.arguments.items())[1:]:
            setattr(self, name, value)

    __init__.__signature__ = signature
    return __init__


def _scale(wanted):
    if not isinstance(wanted, str):
        raise ValueError(f"scale = {wanted!r}, need 'none', 'standard', 'minmax', 'unit' or 'auto'")
    return wanted


def _redundancy(wanted):
    """None (off) or a correlation above 0, for the core."""
    if wanted is None:
        return None
    if isinstance(wanted, numbers.Real) and not isinstance(wanted, (bool, np.bool_)) and 0 < wanted <= 1:
        return float(wanted)
    raise ValueError(f"redundancy = {wanted!r}, need None, or a correlation above 0 and at most 1")


def _feature_count(wanted):
    """None, "auto", an int (a count) or a float below 1 (a fraction), for the core."""
    if wanted is None or isinstance(wanted, str) and wanted == "auto":
        return wanted
    if isinstance(wanted, numbers.Integral) and not isinstance(wanted, (bool, np.bool_)) and wanted >= 1:
        return min(int(wanted), np.iinfo(np.int64).max)
    if isinstance(wanted, numbers.Real) and not isinstance(wanted, numbers.Integral) and 0 < wanted < 1:
        return float(wanted)
    raise ValueError(f"n_features_to_select = {wanted!r}, need None, 'auto', a count of at least 1, or a fraction below 1")


_fit_with_weights = weighted_fit(
    Selector._fit,
    Selector.fit,
    "array of shape (n_samples,), or a number; default=None\n"
    "    Weights of the rows, at least 0: a row of weight w counts as w rows. None: each counts once.",
)


def _selector(method):
    """The class of a method. scikit-learn routes `sample_weight` to those whose fit has it."""
    own = {"fit": _fit_with_weights} if method["weighs"] else {}
    return types.new_class(method["python_name"], (Selector,), {"method": method["name"]}, lambda body: body.update(own))


globals().update({method["python_name"]: _selector(method) for method in _METHODS.values()})
