"""Measures against their definitions and scikit-learn's, over labels of every kind."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

import tamis
from tamis.metrics import adjusted_rand, clustering_accuracy, normalized_mutual_info, redundancy

MEASURES = (clustering_accuracy, normalized_mutual_info, adjusted_rand)


def drawn(seed, classes=4, clusters=5, n=60):
    """Two clusterings that have something to do with each other."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(classes, size=n)
    return truth, np.where(rng.random(n) < 0.5, truth, rng.integers(clusters, size=n))


def accuracy_by_trying(truth, clusters):
    """Every one-to-one map of clusters to classes, with blanks on the side that has fewer."""
    size = max(truth.max(), clusters.max()) + 1
    return max(np.mean(np.asarray(map_)[clusters] == truth) for map_ in permutations(range(size)))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("classes", "clusters"), [(4, 4), (3, 6), (6, 2), (1, 3)])
def test_accuracy_is_that_of_the_best_map(seed, classes, clusters):
    truth, found = drawn(seed, classes, clusters)
    assert clustering_accuracy(truth, found) == pytest.approx(accuracy_by_trying(truth, found), abs=1e-15)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("classes", "clusters"), [(2, 2), (4, 5), (10, 3), (30, 40)])
def test_information_and_rand_are_those_of_scikit_learn(seed, classes, clusters):
    truth, found = drawn(seed, classes, clusters)
    expected = normalized_mutual_info_score(truth, found, average_method="geometric")
    assert normalized_mutual_info(truth, found) == pytest.approx(expected, abs=1e-12)
    assert adjusted_rand(truth, found) == pytest.approx(adjusted_rand_score(truth, found), abs=1e-12)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize(
    "rename",
    [
        lambda y: 17 - 3 * y,
        lambda y: y.astype(np.uint8),
        lambda y: y * 10.5,
        lambda y: np.array(["ant", "bee", "cat", "dog", "eel"])[y],
        lambda y: [f"c{one}" for one in y],
        lambda y: np.array([(one, "x") for one in y] + [None], dtype=object)[:-1],
        lambda y: pd.Series(y, index=range(len(y), 0, -1)),
        lambda y: pd.Series(y).astype("category"),
        lambda y: pd.array(y, dtype="Int64"),
        lambda y: np.datetime64("2020-01-01") + y,
        lambda y: y[:, None],
        lambda y: y.astype(object),
    ],
)
def test_names_of_labels_do_not_matter(measure, rename):
    truth, found = drawn(3)
    expected = measure(truth, found)
    assert 0.1 < expected < 0.9
    assert measure(rename(truth), found) == pytest.approx(expected, abs=1e-14)
    assert measure(truth, rename(found)) == pytest.approx(expected, abs=1e-14)


def test_booleans_are_two_labels():
    assert clustering_accuracy([True, False, True, True], [0, 1, 0, 1]) == 0.75
    assert clustering_accuracy(np.array([True, False, True, True]), ["a", "b", "a", "b"]) == 0.75


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize(
    ("kind", "nothing"),
    [
        (int, -1),
        (float, np.nan),
        (float, -1.0),
        (object, None),
        (object, np.nan),
        (object, pd.NA),
        (object, pd.NaT),
        (object, ""),
        (str, ""),
        (str, "-1"),
    ],
)
def test_unlabelled_rows_are_left_out_on_either_side(measure, kind, nothing):
    truth, found = drawn(1)
    gaps = np.random.default_rng(0).random(len(truth)) < 0.3
    expected = measure(truth[~gaps], found[~gaps])
    with_gaps = truth.astype(kind)
    with_gaps[gaps] = nothing
    assert measure(with_gaps, found) == pytest.approx(expected, abs=1e-14)
    assert measure(found, with_gaps) == pytest.approx(measure(found[~gaps], truth[~gaps]), abs=1e-14)


def test_nan_in_a_list_of_words_is_no_word():
    words = ["a", "a", "b", float("nan"), None]
    assert clustering_accuracy(words, [0, 0, 1, 0, 0]) == 1.0


def test_noise_of_a_clustering_is_left_out():
    assert clustering_accuracy([0, 0, 1, 1], [5, 5, 7, -1]) == 1.0
    assert clustering_accuracy([0, 0, 1, 1], [5, 5, 7, 9]) == 0.75  # counted, where it has a number


def test_words_that_are_numbers_are_numbers():
    assert adjusted_rand(["3", "3.0", "4", "-1.0"], [0, 0, 1, 1]) == 1.0
    assert adjusted_rand(["3", "3.0", "x"], [0, 0, 1]) < 1.0


def test_integers_that_no_float_tells_apart_stay_apart():
    large = 2**53
    for truth in (np.array([large, large + 1] * 3), [large, large + 1] * 3):
        assert adjusted_rand(truth, [0, 1] * 3) == 1.0


def test_one_cluster_cases():
    one, two = [0, 0, 0, 0], [0, 0, 1, 1]
    assert [measure(one, one) for measure in MEASURES] == [1.0, 1.0, 1.0]
    assert [measure(one, two) for measure in MEASURES] == [0.5, 0.0, 0.0]
    assert [measure(two, one) for measure in MEASURES] == [0.5, 0.0, 0.0]


@pytest.mark.parametrize("measure", MEASURES)
def test_refusals_are_one_line(measure):
    name = measure.__name__
    with pytest.raises(ValueError, match=rf"^{name}: 3 labels_true and 2 labels_pred, need equally many$"):
        measure([1, 2, 3], [1, 2])
    with pytest.raises(ValueError, match=rf"^{name}: labels_pred: an array of shape \(2, 2\), need one label per row$"):
        measure([1, 2], [[1, 2], [3, 4]])
    with pytest.raises(ValueError, match="0 labeled rows, need at least 1"):
        measure([-1, 1], [0, -1])
    with pytest.raises(ValueError, match="0 labeled rows, need at least 1"):
        measure([], [])


# --- Redundancy --------------------------------------------------------------------------------------------------


def mean_correlation(X):
    R = np.abs(np.corrcoef(X, rowvar=False))
    return R[np.triu_indices(len(R), 1)].mean()


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    return rng.normal(size=(50, 4)) @ rng.normal(size=(4, 9)) + 5.0


def test_redundancy_is_the_mean_correlation(table):
    assert redundancy(table) == pytest.approx(mean_correlation(table), abs=1e-12)
    assert redundancy(np.asfortranarray(table)) == redundancy(table)
    assert redundancy(sparse.csc_array(table)) == pytest.approx(redundancy(table), abs=1e-12)


def test_redundancy_of_chosen_features(table):
    chosen = [7, 0, 3]
    expected = pytest.approx(mean_correlation(table[:, chosen]), abs=1e-12)
    frame = pd.DataFrame(table, columns=list("abcdefghi"))
    assert redundancy(table, chosen) == expected
    assert redundancy(table, [*chosen, 7, 0]) == expected  # each once
    assert redundancy(table, np.isin(np.arange(9), chosen)) == expected
    assert redundancy(frame, ["h", "a", "d"]) == expected
    assert redundancy(frame, ["h", 0, "d"]) == expected
    selector = tamis.MaxVariance(3).fit(table)
    kept = selector.transform(table)
    assert redundancy(table, selector) == pytest.approx(mean_correlation(kept), abs=1e-12)


def test_redundancy_without_pairs_or_variation(table):
    assert redundancy(table, [2]) == 0.0
    assert redundancy(np.column_stack([table[:, 0], np.ones(50)])) == 0.0


@pytest.mark.parametrize(
    ("features", "message"),
    [
        ([9], r"^redundancy: feature 9, need 0 \.\. 8$"),
        ([-1], r"^redundancy: feature -1, need 0 \.\. 8$"),
        (["a"], "^redundancy: feature 'a', but X has no feature names, need positions$"),
        ([0.5], "^redundancy: feature 0.5, need a position or a name$"),
        ([True, False], "^redundancy: a mask of 2 features, need 9$"),
        (np.zeros(9, dtype=bool), "^redundancy: the mask selects no feature, need at least 1$"),
        ([], r"^redundancy: features of shape \(0,\), need a list of at least 1$"),
    ],
)
def test_features_that_cannot_be(table, features, message):
    with pytest.raises(ValueError, match=message):
        redundancy(table, features)


def test_names_that_name_none_or_two(table):
    frame = tamis.Table(table[:, :3], feature_names=["a", "b", "b"])
    with pytest.raises(ValueError, match="feature 'c' names 0 columns of X, need 1"):
        redundancy(frame, ["c"])
    with pytest.raises(ValueError, match="feature 'b' names 2 columns of X, need 1"):
        redundancy(frame, ["b"])
