"""The methods as scikit-learn selectors, one class for each that the core describes.

Names, signatures, defaults and documentation come from these descriptions; nothing is computed here.
"""

import inspect
import numbers
import types
import warnings

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _core
from ._core_data import core_data
from ._documentation import class_documentation
from ._inputs import class_numbers, feature_groups
from ._running import progress_for, seed_of, thread_count, warn_all
from ._unwrap import unwrapped

_METHODS = {method["name"]: method for method in _core.methods()}
_WORDS = {  # of messages
    "features": "n_features_to_select",
    "--scale": "StandardScaler(with_mean=False)",
    "--exclude": "drop {}",
    "--counts": "scanpy.pp.normalize_total and log1p",
}
_REDUNDANT = _core.default_redundancy


class Selector(SelectorMixin, BaseEstimator):
    """Base class of all selectors. A subclass names its method of the core."""

    def __init_subclass__(cls, method=None, **keywords):
        super().__init_subclass__(**keywords)
        if method is None:  # a user's subclass of a selector
            return
        cls._method = _METHODS[method]
        cls.__init__ = _initializer(_signature(cls._method))
        cls.__doc__ = class_documentation(cls._method, inspect.signature(cls))
        cls.__module__ = "tamis"

    def fit(self, X, y=None):
        """Rank the features of X.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Never modified.
        y : array of shape (n_samples,), default=None
            Classes of the rows, -1 for unlabelled rows. Ignored unless ``supervised=True``.

        Returns
        -------
        self
        """
        return self._fit(X, y)

    def _fit(self, X, y):
        """Implements `fit`."""
        data, rows = self._data(X)
        data, kept, note = self._without_missing(data)
        progress = progress_for(self.verbose, type(self).__name__)
        try:
            result = _core.select(
                self._method["name"],
                data,
                self._options(),
                _feature_count(self.n_features_to_select),
                classes=self._classes(rows, y),
                init=self._init(),
                seed=seed_of(self.random_state),
                threads=thread_count(self.n_jobs),
                progress=progress,
                words=_WORDS,
                names=self._names(data, kept),
                redundancy=_redundancy(self.redundancy),
                groups=self._groups(kept),
            )
            if progress:
                progress("done", 1.0, "done")
        finally:
            if progress:
                progress.close()
        if kept is not None:
            self._spread(result, kept)
        self._keep(result)
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
        X, names = unwrapped(self._unmasked(X))
        if isinstance(X, _core.DiskRows):
            raise ValueError(f"{type(self).__name__}: transform needs X in memory, but its rows are on disk")
        if names is None:
            return super().transform(X)
        check_is_fitted(self, "scores_")
        if not np.array_equal(getattr(self, "feature_names_in_", names), names):
            raise ValueError(f"{type(self).__name__}: the feature names of X differ from those seen in fit")
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "X does not have valid feature names")
            return super().transform(X)

    def _data(self, X):
        """X as the core accepts it, and its number of rows; stores the number of features and their names."""
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

    def _unmasked(self, X):
        """Masked values as missing ones, if `missing` says what to do with them."""
        if self.missing == "refuse" or not isinstance(X, np.ma.MaskedArray):
            return X
        return X.astype(np.result_type(X.dtype, np.float32)).filled(np.nan)

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
            raise ValueError(f"{name}: missing = {self.missing!r} changes numbers in memory only, and these are elsewhere")
        found = _core.without_missing(data, self.missing, [str(one) for one in getattr(self, "feature_names_in_", ())], _WORDS)
        return found["X"], found["columns"], found["note"]

    def _spread(self, result, kept):
        """What is known of the columns that were ranked, at their places in X; the others come last, without a score."""
        d = self.n_features_in_
        others = np.setdiff1d(np.arange(d), kept)

        def over(values, rest):
            out = np.full((d, *np.shape(values)[1:]), rest)
            out[kept] = values
            return out

        result["scores"] = over(result["scores"], np.nan)
        result["ranking"] = np.concatenate([kept[result["ranking"]], others])
        result["selected"] = kept[result["selected"]]
        for group in result["groups"] or ():
            group["selected"] = kept[group["selected"]]
        components, centers = result["components"], result["centers"]
        by_feature = centers is not None and (components is None or centers.shape[1] != components.shape[1])
        if by_feature:
            result["centers"] = np.ascontiguousarray(over(centers.T, np.nan).T)
        if components is not None:
            result["components"] = over(components, 0.0)
        for name, rest in (("share", 0.0), ("evidence", 1.0)):
            guidance = result["guidance"] or {}
            if guidance.get(name) is not None:
                guidance[name] = over(guidance[name], rest)
        redundancy = result["redundancy"] or {}
        if redundancy.get("r2") is not None:
            there = redundancy["representative"]
            redundancy["r2"] = over(redundancy["r2"], np.nan)
            redundancy["representative"] = over(np.where(there < 0, -1, kept[there]), -1)
        if redundancy:
            redundancy["groups"] = [kept[group] for group in redundancy["groups"]]

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
        return groups if groups is None or kept is None else [groups[j] for j in kept]

    def _options(self):
        return {option["python_name"]: getattr(self, option["python_name"]) for option in self._method["options"]}

    def _classes(self, rows, y):
        """Classes numbered from 0, -1 for unlabelled rows; None if the method is not supervised."""
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
        self._keep_if("groups_", result["groups"])
        self.report_ = report
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
    words.append(("missing", "refuse"))
    words.append(("groups", None))
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return inspect.Signature(
        [inspect.Parameter("self", kind)] + [inspect.Parameter(name, kind, default=value) for name, value in words]
    )


def _initializer(signature):
    def __init__(self, *values, **named):
        bound = signature.bind(self, *values, **named)
        bound.apply_defaults()
        for name, value in list(bound.arguments.items())[1:]:
            setattr(self, name, value)

    __init__.__signature__ = signature
    return __init__


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


def _selector(method):
    """The class of a method."""
    return types.new_class(method["python_name"], (Selector,), {"method": method["name"]})


globals().update({method["python_name"]: _selector(method) for method in _METHODS.values()})
