"""How well a clustering agrees with known classes, and how redundant features are.

Labels may be of any kind: integers, strings, booleans, mixed. The measures do not depend on how clusters and classes are
named. Rows without a label (-1, None, NaN or "") on either side are left out. This applies to clusters too, so noise points
of DBSCAN (-1) are not counted; give them a number of their own to count them.

As in files, strings that are all numeric are compared as numbers: "3" and "3.0" are the same class.
"""

from ._surroundings import require_packages

require_packages()

from . import _core
from ._core_data import core_data
from ._inputs import checked_table, class_numbers, feature_positions, label_array
from ._running import thread_count

__all__ = ["adjusted_rand", "clustering_accuracy", "normalized_mutual_info", "redundancy"]


def clustering_accuracy(labels_true, labels_pred):
    """The fraction of rows that match under the best one-to-one mapping of clusters to classes (Kuhn-Munkres).

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        Labels of any kind. Rows with -1, None, NaN or "" on either side are left out.

    Returns
    -------
    float
        Between 0 and 1; 1 if the two partitions are the same.
    """
    return _core.clustering_accuracy(*_pair(labels_true, labels_pred, "clustering_accuracy"))


def normalized_mutual_info(labels_true, labels_pred):
    """Mutual information / sqrt(H(true) H(pred)), the geometric mean of Strehl & Ghosh (2002).

    scikit-learn divides by the arithmetic mean unless ``average_method="geometric"``; the two are not comparable.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        Labels of any kind. Rows with -1, None, NaN or "" on either side are left out.

    Returns
    -------
    float
        Between 0 and 1. 0 if one side has a single cluster, 1 if both do.
    """
    return _core.normalized_mutual_info(*_pair(labels_true, labels_pred, "normalized_mutual_info"))


def adjusted_rand(labels_true, labels_pred):
    """The Rand index corrected for chance (Hubert & Arabie, 1985).

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        Labels of any kind. Rows with -1, None, NaN or "" on either side are left out.

    Returns
    -------
    float
        1 for equal partitions, about 0 for unrelated ones, negative if worse than chance.
    """
    return _core.adjusted_rand(*_pair(labels_true, labels_pred, "adjusted_rand"))


def redundancy(X, features=None, *, n_jobs=None):
    """The mean absolute correlation over all pairs of the features.

    Parameters
    ----------
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
        Never modified.
    features : list of int or str, mask or fitted selector, default=None
        The columns, each counted once. None: all.
    n_jobs : int or None, default=None
        Number of threads, as in the selectors.

    Returns
    -------
    float
        Between 0 and 1; 0 if there is no pair. The correlation of a constant column is 0.
    """
    X, names = checked_table(X)
    count = X.shape[1]
    chosen = list(range(count)) if features is None else feature_positions(features, names, count, "redundancy")
    return _core.redundancy(core_data(X), sorted(chosen), threads=thread_count(n_jobs))


def _pair(labels_true, labels_pred, where):
    true = label_array(labels_true, f"{where}: labels_true")
    pred = label_array(labels_pred, f"{where}: labels_pred")
    if len(true) != len(pred):
        raise ValueError(f"{where}: {len(true)} labels_true and {len(pred)} labels_pred, need equally many")
    return class_numbers(true), class_numbers(pred)
