"""The selectors as scikit-learn estimators: its checks, parameters, attributes, warnings, errors, golden vectors."""

import copy
import inspect
import io
import pickle
import re
import warnings

import joblib
import numpy as np
import pytest
from conftest import GOLDEN, SELECTORS, make, planted, same_fit
from scipy import sparse
from sklearn import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import normalized_mutual_info_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

import tamis
from tamis import _core

pytestmark = pytest.mark.filterwarnings("ignore:MCFS. the graph is in", "ignore:column standard deviations")

METHODS = {method["name"]: method for method in _core.methods()}
X = planted()
N, D = X.shape


# --- scikit-learn's own checks ---------------------------------------------------------------------------------------


def variants():
    for name in SELECTORS:
        yield make(name, n_clusters=8)
        yield make(name, n_clusters=2, n_features_to_select=0.5, n_neighbors=2, n_jobs=1)
        yield make(name, n_clusters=1, n_features_to_select=1, weights="cosine", random_state=None)
    yield tamis.UFCM(n_clusters=2, p=0.5, n_components=1, tol=0, max_iter=3)
    yield tamis.SPEC(function=3, weights="binary")
    yield tamis.NDFS(n_clusters=2, laplacian="plain", clip=False, tol=1e-3)


def numbers_its_clusters(estimator):
    """Repeated rows in another order may get the same clusters with other numbers, which `predict` then returns."""
    if not isinstance(estimator, tamis.UFCM) or estimator.n_clusters != 2:
        return {}
    return {f"check_sample_weight_equivalence_on_{kind}_data": "numbers of clusters" for kind in ("dense", "sparse")}


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(list(variants()), expected_failed_checks=numbers_its_clusters)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore")
def test_no_check_fails_or_is_expected_to(name):
    results = check_estimator(SELECTORS[name](), on_fail=None)
    assert len(results) > 40
    left = {one["check_name"] for one in results if one["status"] != "passed"}
    assert left <= {"check_array_api_input"}  # skipped unless SCIPY_ARRAY_API is set


# --- Parameters ------------------------------------------------------------------------------------------------------

DESIGN = {  # the signature that design.md fixes
    "n_features_to_select": None, "n_clusters": 8, "alpha": 1.0, "sparsity": 0.3, "beta": None, "p": 1.0,
    "n_components": None, "n_init": 10, "max_iter": 50, "tol": 1e-6, "supervised": False, "random_state": 0,
    "n_jobs": None,
}  # fmt: skip


def test_signature_of_ufcm():
    parameters = inspect.signature(tamis.UFCM).parameters
    shared = {"verbose": 0, "order": "norm", "exact": False, "redundancy": 0.8, "missing": "refuse"}
    shared |= {"include": None, "exclude": None, "scale": "none", "seeds": None, "resample": None, "groups": None}
    assert {name: one.default for name, one in parameters.items()} == {**DESIGN, **shared}
    assert list(parameters)[: len(DESIGN)] == list(DESIGN)


def test_signatures_are_those_of_the_core(name):
    method, selector = METHODS[name], SELECTORS[name]
    assert selector.__name__ == method["python_name"]
    defaults = {key: one.default for key, one in inspect.signature(selector).parameters.items()}
    for option in method["options"]:
        assert defaults.pop(option["python_name"]) == option["default"]
    count = "auto" if method["chooses_count"] else None
    shared = {"n_features_to_select": count, "random_state": 0, "n_jobs": None, "verbose": 0}
    shared |= {"redundancy": 0.8, "missing": "refuse", "include": None, "exclude": None, "scale": "none"}
    shared |= {"seeds": None, "resample": None, "groups": None}
    shared |= {"init": "kmeans"} if method["takes_init"] else {}
    shared |= {"supervised": False} if method["takes_classes"] else {}
    shared |= {"connectivity": None} if method["graph_options"] else {}
    assert defaults == shared


def test_documentation_names_every_parameter_and_attribute(name):
    selector = make(name).fit(X)
    documented = set(re.findall(r"^(\w+) : ", selector.__doc__, re.MULTILINE))
    assert set(selector.get_params()) <= documented
    assert {key for key in vars(selector) if key.endswith("_")} <= documented


def test_get_and_set_params(name):
    selector = SELECTORS[name](3)
    assert selector.n_features_to_select == 3
    changed = {key: object() for key in selector.get_params()}
    assert selector.set_params(**changed).get_params() == changed
    with pytest.raises(ValueError, match="nosuch"):
        selector.set_params(nosuch=1)
    with pytest.raises(TypeError, match="nosuch"):
        SELECTORS[name](nosuch=1)


def test_clone_and_repr(name):
    selector = make(name, n_features_to_select=3, random_state=5)
    twin = clone(selector.fit(X))
    assert twin.get_params() == selector.get_params() and not hasattr(twin, "scores_")
    assert repr(twin) == repr(selector) and "n_features_to_select=3" in repr(selector)
    assert eval(repr(selector), {type(selector).__name__: type(selector)}).get_params() == selector.get_params()


def test_copies_of_a_fitted_selector(name):
    selector = make(name, n_features_to_select=3).fit(X)
    buffer = io.BytesIO()
    joblib.dump(selector, buffer)
    buffer.seek(0)
    for twin in (pickle.loads(pickle.dumps(selector)), joblib.load(buffer), copy.deepcopy(selector)):
        same_fit(twin, selector)
        assert np.array_equal(twin.transform(X), selector.transform(X))
        same_fit(twin.fit(X), selector)
    assert not hasattr(pickle.loads(pickle.dumps(make(name))), "scores_")


@pytest.mark.parametrize(
    "wanted, kept",
    [(None, D), (1, 1), (5, 5), (D, D), (np.int32(4), 4), (np.uint8(4), 4), (0.25, 3), (0.5, 6), (1e-9, 1),
     (np.float32(0.5), 6)],
)
def test_how_many_are_kept(wanted, kept):
    selector = tamis.MaxVariance(wanted).fit(X)
    assert selector.get_support().sum() == kept and selector.transform(X).shape == (N, kept)
    assert sorted(selector.ranking_[selector.get_support()]) == list(range(1, kept + 1))


@pytest.mark.parametrize(
    "wanted", [0, -1, D + 1, True, False, np.True_, 1.0, 1.5, 0.0, -0.5, float("nan"), "5", "all", [3], 10**30]
)
def test_counts_that_are_refused(wanted):
    with pytest.raises(ValueError, match="n_features_to_select") as caught:
        tamis.MaxVariance(wanted).fit(X)
    assert "--" not in str(caught.value)


# Of n rows at most: n_neighbors and sample_size.
MAY_BE_LARGE = ("n_init", "max_iter", "n_active", "n_swaps", "n_permutations", "n_neighbors", "sample_size")


def bad_options():
    for name, method in METHODS.items():
        for option in method["options"]:
            yield from ((name, option["python_name"], bad) for bad in ([1], -1))
            if option["type"] in ("number", "integer"):
                yield from ((name, option["python_name"], bad) for bad in (float("nan"), float("inf"), True, "x"))
            if option["type"] == "integer":
                large = [] if option["python_name"] in MAY_BE_LARGE else [N * D]
                zero = [] if option["range"] == "x >= 0" else [0]
                yield from ((name, option["python_name"], bad) for bad in (2.5, 10**30, *zero, *large))
            if not option["unset"]:
                yield name, option["python_name"], None


@pytest.mark.parametrize("method, option, bad", list(bad_options()))
def test_options_are_refused_by_their_python_names(method, option, bad):
    kind = SELECTORS[method]
    with pytest.raises(ValueError) as caught:
        kind(**{option: bad}).fit(X)
    message = str(caught.value)
    assert message.startswith(kind.__name__ + ": ") and f"{option} = " in message and "need" in message, message
    assert "--" not in message and "\n" not in message and "yes" not in message, message


@pytest.mark.parametrize(
    "option, bad",
    [("n_jobs", 0), ("n_jobs", 1.5), ("n_jobs", "2"), ("n_jobs", True), ("random_state", -1), ("random_state", "x"),
     ("random_state", True), ("random_state", 2**64)],
)
def test_shared_options_are_refused(name, option, bad):
    with pytest.raises(ValueError, match=option):
        make(name, **{option: bad}).fit(X)


def test_numbers_of_numpy_are_options(name):
    typed = {"alpha": np.float32(0.5), "n_clusters": np.int16(3), "max_iter": np.uint8(5), "n_neighbors": np.int64(4)}
    plain = {"alpha": 0.5, "n_clusters": 3, "max_iter": 5, "n_neighbors": 4}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        same_fit(make(name, **typed).fit(X), make(name, **plain).fit(X))


# --- Start, classes, seed --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["ndfs", "rufs"])
def test_a_start_of_ones_own(method):
    start = np.eye(3)[np.arange(N) % 3] + 0.02
    before = start.copy()
    selector = make(method, init=start, max_iter=2, tol=0).fit(X)
    assert np.array_equal(start, before)
    same_fit(make(method, init=start.astype(np.float32).astype(float), max_iter=2, tol=0, random_state=7).fit(X),
             make(method, init=start.astype(np.float32), max_iter=2, tol=0).fit(X))
    same_fit(make(method, init=np.asfortranarray(start), max_iter=2, tol=0).fit(X), selector)
    same_fit(clone(selector).fit(X), selector)
    other = make(method, init=start[::-1], max_iter=2, tol=0).fit(X)
    assert not np.array_equal(other.scores_, selector.scores_)


@pytest.mark.parametrize("method", ["ndfs", "rufs"])
@pytest.mark.parametrize(
    "start",
    [np.ones((N, 2)), np.ones((N - 1, 3)), np.ones(N), np.full((N, 3), np.nan), -np.ones((N, 3)),
     np.full((N, 3), np.inf), "random", "k-means", None, 3],
    ids=["narrow", "short", "flat", "nan", "negative", "inf", "word", "misspelt", "none", "number"],
)
def test_starts_that_are_refused(method, start):
    with pytest.raises(ValueError, match="(?i)init|array") as caught:
        make(method, init=start).fit(X)
    assert "--" not in str(caught.value)


def partition(labels):
    return {frozenset(np.flatnonzero(labels == k)) for k in np.unique(labels)}


CLASSES = np.arange(N) * 7 % 3
UNLABELLED = np.arange(N) % 4 == 0


@pytest.mark.parametrize(
    "y",
    [
        CLASSES,
        CLASSES.astype(np.uint8),
        CLASSES.astype(float),
        CLASSES + 1000,
        CLASSES.tolist(),
        np.array(["b", "a", "zz"])[CLASSES],
        np.array(["b", "a", "zz"], dtype=object)[CLASSES],
    ],
    ids=["int", "uint8", "float", "large", "list", "words", "objects"],
)
def test_classes_fix_the_clusters(y):
    selector = tamis.UFCM(n_clusters=3, supervised=True).fit(X, y)
    assert partition(selector.labels_) == partition(CLASSES)


@pytest.mark.parametrize(
    "y",
    [
        np.where(UNLABELLED, -1, CLASSES),
        np.where(UNLABELLED, -1.0, CLASSES),
        np.where(UNLABELLED, np.nan, CLASSES),
        np.where(UNLABELLED, None, np.array(["a", "b", "zz"], dtype=object)[CLASSES]),
        np.where(UNLABELLED, "", np.array(["a", "b", "zz"])[CLASSES]),
        np.where(UNLABELLED, np.nan, np.array(["a", "b", "zz"], dtype=object)[CLASSES]),
    ],
    ids=["-1", "-1.0", "nan", "None", "blank", "nan among words"],
)
def test_rows_without_a_class_are_free(y):
    selector = tamis.UFCM(n_clusters=3, supervised=True).fit(X, y)
    assert partition(selector.labels_[~UNLABELLED]) == partition(CLASSES[~UNLABELLED])
    same_fit(selector, tamis.UFCM(n_clusters=3, supervised=True).fit(X, np.where(UNLABELLED, -1, CLASSES)))


def test_classes_that_do_not_fit():
    supervised = tamis.UFCM(n_clusters=2, supervised=True)
    with pytest.raises(ValueError, match="requires y"):
        supervised.fit(X)
    with pytest.raises(ValueError, match="3.*2|2.*3") as caught:
        supervised.fit(X, CLASSES)
    assert "n_clusters" in str(caught.value) and "--" not in str(caught.value)
    with pytest.raises(ValueError, match="inconsistent"):
        supervised.fit(X, CLASSES[:-1])
    with pytest.raises(ValueError):
        supervised.fit(X, np.tile(CLASSES, (2, 1)).T)


def test_fewer_classes_than_clusters():
    assert len(np.unique(tamis.UFCM(n_clusters=5, supervised=True).fit(X, CLASSES).labels_)) >= 3


def test_y_is_ignored_otherwise(name):
    expected = make(name).fit(X)
    for y in (CLASSES, np.full(N, "x"), "nonsense", [1, 2]):
        same_fit(make(name).fit(X, y), expected)


def test_random_state(name):
    def fit(state):
        return make(name, random_state=state, n_init=1, max_iter=3, tol=0, n_clusters=7).fit(X)

    same_fit(fit(3), fit(np.int64(3)))
    same_fit(fit(np.random.RandomState(3)), fit(np.random.RandomState(3)))
    same_fit(fit(np.random.default_rng(3)), fit(np.random.default_rng(3)))
    fit(None), fit(2**64 - 1)
    state = np.random.RandomState(3)
    draws = [tuple(fit(state).scores_) for _ in range(4)]
    seeds = [tuple(fit(seed).scores_) for seed in range(4)]
    if name in ("ufcm", "rufs"):  # what the others draw, if anything, does not change their scores
        assert len(set(draws)) > 1 and len(set(seeds)) > 1


# --- What a fit leaves -----------------------------------------------------------------------------------------------


def test_attributes(name):
    selector = make(name, n_features_to_select=5).fit(X)
    assert selector.scores_.shape == (D,) and selector.scores_.dtype == np.float64
    assert np.isfinite(selector.scores_).all()
    assert sorted(selector.ranking_) == list(range(1, D + 1))
    falling = selector.scores_[np.argsort(selector.ranking_)]
    assert np.all(np.diff(falling) <= 1e-9 * np.abs(falling).max())  # closer scores are ties, which go by index
    assert np.array_equal(selector.get_support(), selector.ranking_ <= 5)
    assert np.array_equal(selector.get_support(indices=True), np.flatnonzero(selector.ranking_ <= 5))
    assert selector.n_features_in_ == D and not hasattr(selector, "feature_names_in_")
    assert selector.report_["path"] and selector.report_["seconds"] >= 0


HAVE = {
    "guided": {"labels_", "cluster_means_", "share_", "evidence_", "alignment_"},
    "ufcm": {"labels_", "cluster_means_", "components_", "cluster_centers_", "objective_", "n_iter_", "converged_"},
    "maxvar": set(),
    "css": set(),
    "udfs": {"components_", "objective_", "n_iter_", "converged_"},
    "fspca": {"components_", "objective_", "n_iter_", "converged_"},
    "sparsekm": {"labels_", "cluster_means_", "objective_", "n_iter_", "converged_"},
    "lapscore": set(),
    "spec": set(),
    "mcfs": {"components_"},
    "ndfs": {"labels_", "cluster_means_", "components_", "objective_", "n_iter_", "converged_"},
    "rufs": {"labels_", "cluster_means_", "components_", "cluster_centers_", "objective_", "n_iter_", "converged_"},
}


def test_attributes_of_each_method(name):
    selector = make(name).fit(X)
    found = {key for key in vars(selector) if key.endswith("_")}
    always = {"scores_", "ranking_", "n_features_in_", "report_", "redundancy_groups_"}
    assert found == HAVE[name] | always if name in HAVE else found >= always
    if "components_" in found:
        assert selector.components_.ndim == 2 and selector.components_.shape[1] == D
    if "cluster_centers_" in found:
        assert selector.cluster_centers_.shape == (3, D if name == "rufs" else 2)
    if "labels_" in found:
        assert selector.labels_.shape == (N,) and (name == "guided" or set(selector.labels_) <= {0, 1, 2})
    if "n_iter_" in found:
        assert isinstance(selector.n_iter_, int) and isinstance(selector.converged_, bool)
        assert len(selector.objective_) == selector.n_iter_


def test_shapes_of_ufcm():
    selector = tamis.UFCM(n_clusters=4, n_components=2).fit(X)
    assert selector.components_.shape == (2, D) and selector.cluster_centers_.shape == (4, 2)
    W = selector.components_.T
    np.testing.assert_allclose(selector.scores_, np.linalg.norm(W, axis=1), rtol=1e-9, atol=1e-12)
    centered = X - X.mean(axis=0)
    centers = np.array([(centered[selector.labels_ == k] @ W).mean(axis=0) for k in range(4)])
    np.testing.assert_allclose(selector.cluster_centers_, centers, rtol=0, atol=1e-6 * np.abs(centers).max())


def test_the_objective_of_ufcm_never_falls():
    for seed in range(3):
        selector = tamis.UFCM(n_clusters=5, tol=0, max_iter=15, random_state=seed).fit(planted(seed=seed))
        assert selector.n_iter_ == 15 == len(selector.objective_)
        assert (np.diff(selector.objective_) >= -1e-9 * np.abs(selector.objective_[:-1])).all()


def test_a_refit_leaves_nothing_stale():
    selector = tamis.UFCM(n_clusters=3, n_features_to_select=2).fit(X)
    names = [f"c{j}" for j in range(6)]
    pandas = pytest.importorskip("pandas")
    selector.set_params(n_features_to_select=0.5).fit(pandas.DataFrame(X[:, :6], columns=names))
    assert list(selector.feature_names_in_) == names and selector.n_features_in_ == 6
    assert selector.get_support().sum() == 3 and selector.scores_.shape == (6,)
    selector.fit(X)
    assert not hasattr(selector, "feature_names_in_")
    same_fit(selector, tamis.UFCM(n_clusters=3, n_features_to_select=0.5).fit(X))


def test_a_failed_fit_raises_before_anything_is_kept():
    selector = tamis.UFCM(n_clusters=3)
    with pytest.raises(ValueError):
        selector.set_params(n_clusters=N + 1).fit(X)
    with pytest.raises(NotFittedError):
        selector.transform(X)


@pytest.mark.parametrize("name", [name for name, kind in SELECTORS.items() if "max_iter" in kind().get_params()])
def test_a_warning_exactly_where_it_did_not_converge(name):
    for options in ({"max_iter": 1, "tol": 1e-12}, {"max_iter": 1, "tol": 0}, {"max_iter": 200, "tol": 1e-2}):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            selector = make(name, **options).fit(planted(200, 30, 5, seed=1))
        caught = [one for one in caught if issubclass(one.category, ConvergenceWarning)]
        assert len(caught) == (not selector.converged_ and options["tol"] > 0), options
        if options["max_iter"] == 200:
            assert selector.converged_ and selector.n_iter_ < 200
        for one in caught:
            assert one.filename == __file__, "the warning points at the caller"
            assert "max_iter" in str(one.message) and "tol" in str(one.message) and "--" not in str(one.message)


def test_other_warnings_speak_python():
    with pytest.warns(UserWarning, match="scale=.minmax.") as caught:
        tamis.MaxVariance().fit(X * np.where(np.arange(D) == 2, 1e4, 1))
    assert not [one for one in caught if "--" in str(one.message)]
    assert not any(issubclass(one.category, ConvergenceWarning) for one in caught)


def test_no_warning_without_reason(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make(name, max_iter=20, tol=1e-2, n_neighbors=50).fit(X)  # neighbors enough to join the clusters


# --- Among other estimators ------------------------------------------------------------------------------------------


def test_pipeline(name):
    pipeline = make_pipeline(StandardScaler(), make(name, n_features_to_select=4), KMeans(3, n_init=5, random_state=0))
    labels = pipeline.fit_predict(X)
    assert labels.shape == (N,) and pipeline[:-1].transform(X).shape == (N, 4)
    assert list(pipeline[:-1].get_feature_names_out()) == [f"x{j}" for j in pipeline[1].get_support(indices=True)]


def test_grid_search_on_digits():
    digits = load_digits()
    pixels, truth = digits.data[:400], digits.target[:400]

    def score(pipeline, rows, y):
        return normalized_mutual_info_score(y, pipeline.predict(rows))

    pipeline = make_pipeline(tamis.UFCM(n_clusters=10, n_init=2), KMeans(10, n_init=3, random_state=0))
    grid = {"ufcm__n_features_to_select": [2, 30], "ufcm__alpha": [0.1, 1.0]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        search = GridSearchCV(pipeline, grid, scoring=score, cv=2, n_jobs=2, error_score="raise").fit(pixels, truth)
    assert search.best_params_["ufcm__n_features_to_select"] == 30 and search.best_score_ > 0.5
    assert search.best_estimator_[0].get_support().sum() == 30


def test_set_output(name):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    frame = pandas.DataFrame(X, columns=[f"c{j}" for j in range(D)])
    selector = make(name, n_features_to_select=4).fit(frame)
    chosen = frame.columns[selector.get_support()]
    out = selector.set_output(transform="pandas").transform(frame)
    pandas.testing.assert_frame_equal(out, frame[list(chosen)])
    out = selector.set_output(transform="polars").transform(frame)
    assert isinstance(out, polars.DataFrame) and out.columns == list(chosen)
    assert isinstance(selector.set_output(transform="default").transform(frame), np.ndarray)


def test_feature_names():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=[f"c{j}" for j in range(D)])
    selector = tamis.MaxVariance(3).fit(frame)
    assert list(selector.feature_names_in_) == list(frame.columns)
    chosen = list(frame.columns[selector.get_support()])
    assert list(selector.get_feature_names_out()) == chosen
    with pytest.raises(ValueError, match="(?i)feature names"):
        selector.transform(frame[frame.columns[::-1]])
    with pytest.raises(ValueError, match="input_features"):
        selector.get_feature_names_out(list("abcdefghijkl"))
    with pytest.warns(UserWarning, match="feature names"):
        selector.transform(X)
    unnamed = tamis.MaxVariance(3).fit(X)
    letters = np.array(list("abcdefghijkl"))
    assert list(unnamed.get_feature_names_out(letters)) == list(letters[unnamed.get_support()])


def test_transform_and_back():
    selector = tamis.MaxVariance(3).fit(X)
    kept = selector.get_support()
    assert np.array_equal(selector.transform(X), X[:, kept])
    assert np.array_equal(selector.inverse_transform(selector.transform(X)), np.where(kept, X, 0))
    for kind in (sparse.csr_array, sparse.csc_array, sparse.csr_matrix):
        out = selector.transform(kind(X))
        assert sparse.issparse(out) and np.array_equal(out.toarray(), X[:, kept])
    assert np.array_equal(selector.fit_transform(X), X[:, kept])
    with pytest.raises(ValueError, match="features"):
        selector.transform(X[:, 1:])


# --- Golden vectors: results of the original codes -------------------------------------------------------------------

CASES = [f"{data}{scaling}" for data in ("blobs", "wide", "discon") for scaling in ("cn", "mm")]
CLUSTERS = {"blobs": 4, "wide": 3, "discon": 4}


def golden(method, case):
    with np.load(GOLDEN / f"{method}_{case}.npz") as file:
        arrays = {key: file[key] for key in file}
    return arrays, CLUSTERS[case[:-2]]


def close(found, wanted, tolerance):
    wanted = wanted.ravel()
    assert np.abs(found - wanted).max() <= tolerance * np.abs(wanted).max()


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("as_input", [np.asarray, np.asfortranarray, sparse.csr_array, sparse.csc_matrix])
def test_golden_direct_methods(case, as_input):
    arrays, clusters = golden("maxvar", case)
    close(np.sqrt(tamis.MaxVariance().fit(as_input(arrays["X"])).scores_), arrays["score"], 1e-6)
    arrays, _ = golden("ls", case)
    close(tamis.LaplacianScore().fit(as_input(arrays["X"])).scores_, arrays["score"], 1e-6)
    close(tamis.LaplacianScore(weights="binary").fit(as_input(arrays["X"])).scores_, arrays["score_binary_graph"], 1e-6)
    arrays, _ = golden("spec", case)
    for function, key, sign in ((1, "phi1", -1), (2, "phi2", -1), (3, "phi3_canonical", 1)):
        scores = tamis.SPEC(n_clusters=clusters, function=function).fit(as_input(arrays["X"])).scores_
        close(sign * scores, arrays[key], 1e-6)


NDFS_VARIANTS = {
    "A": {"laplacian": "plain"},
    "C": {"alpha": 100, "beta": 0.01},
    "D": {"alpha": 0.1, "gamma": 1e3, "max_iter": 100},
}


@pytest.mark.parametrize("case", ["blobscn", "blobsmm"])
@pytest.mark.parametrize("variant", NDFS_VARIANTS)
def test_golden_ndfs_from_a_start_of_ones_own(case, variant):
    arrays, clusters = golden("ndfs", case)
    options = {"n_clusters": clusters, "init": arrays["F0_lab"], "clip": False, **NDFS_VARIANTS[variant]}
    selector = tamis.NDFS(**options).fit(arrays["X"])
    close(selector.scores_, arrays[f"{variant}_score"], 1e-6)
    close(selector.components_.T.ravel(), arrays[f"{variant}_W"], 1e-6)
