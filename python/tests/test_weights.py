"""sample_weight: rows that count several times, through the interfaces of the package."""

import inspect
import pickle

import numpy as np
import pytest
import scipy.sparse
import sklearn
from conftest import planted
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import tamis

N, D = 160, 10
WEIGHTS = (np.arange(N) % 4).astype(float)
WEIGHING = {"UFCM": {"n_clusters": 3}, "MaxVariance": {}, "CSS": {}}
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def selector(name, **options):
    return getattr(tamis, name)(4, **{**WEIGHING[name], **options})


@pytest.fixture(scope="module")
def X():
    return planted(N, D, 3, seed=4)


@pytest.mark.parametrize("name", ["MaxVariance", "CSS"])
@pytest.mark.parametrize("make", [np.asarray, scipy.sparse.csr_matrix, np.asfortranarray])
def test_whole_weights_are_repeated_rows(X, name, make):
    found = selector(name).fit(make(X), sample_weight=WEIGHTS)
    wanted = selector(name).fit(make(np.repeat(X, WEIGHTS.astype(int), axis=0)))
    np.testing.assert_allclose(found.scores_, wanted.scores_, rtol=1e-10)
    np.testing.assert_array_equal(found.get_support(), wanted.get_support())
    np.testing.assert_allclose(found.r2_, wanted.r2_, rtol=1e-8)


def test_variances_by_numpy(X):
    found = tamis.MaxVariance().fit(X, sample_weight=WEIGHTS)
    np.testing.assert_allclose(found.scores_, np.diag(np.cov(X.T, fweights=WEIGHTS.astype(int))), rtol=1e-10)
    mean = np.average(X, axis=0, weights=WEIGHTS)
    half = tamis.MaxVariance().fit(X, sample_weight=WEIGHTS / WEIGHTS.sum())  # they add up to 1
    np.testing.assert_allclose(half.scores_, 2 * np.average((X - mean) ** 2, axis=0, weights=WEIGHTS), rtol=1e-10)


def test_the_objective_of_ufcm_and_its_clusters(X):
    found = selector("UFCM", n_components=2, max_iter=20).fit(X, sample_weight=WEIGHTS)
    mean = np.average(X, axis=0, weights=WEIGHTS)
    Y = (X - mean) @ found.components_.T
    used = WEIGHTS > 0
    centers = np.array([np.average(Y[k], axis=0, weights=WEIGHTS[k]) for k in (used & (found.labels_ == c) for c in range(3))])
    np.testing.assert_allclose(centers, found.cluster_centers_, atol=1e-9)
    scatter, within = WEIGHTS @ (Y**2).sum(axis=1), WEIGHTS @ ((Y - centers[found.labels_]) ** 2).sum(axis=1)
    terms = found.report_["terms"]
    np.testing.assert_allclose([terms["scatter"][-1], terms["within"][-1]], [scatter, within], rtol=1e-9)
    means = [np.average(X[k], axis=0, weights=WEIGHTS[k]) for k in (found.labels_ == c for c in range(3))]
    np.testing.assert_allclose(found.cluster_means_, means, atol=1e-12)
    assert (found.predict(X) == found.labels_).mean() > 0.98
    assert (found.labels_[~used] >= 0).all()


def test_ufcm_finds_what_it_finds_in_repeated_rows():
    """In another order, too; the clusters may have other numbers."""
    X = planted(N, D, 3, seed=5)
    order = np.random.default_rng(0).permutation(N)
    found = selector("UFCM").fit(X[order], sample_weight=WEIGHTS[order])
    wanted = selector("UFCM").fit(np.repeat(X, WEIGHTS.astype(int), axis=0))
    np.testing.assert_array_equal(found.get_support(), wanted.get_support())
    np.testing.assert_allclose(found.objective_[-1], wanted.objective_[-1], rtol=1e-4)
    assert tamis.metrics.adjusted_rand(found.predict(X), wanted.predict(X)) == 1


@pytest.mark.parametrize("name", WEIGHING)
def test_ones_and_none_are_no_weights(X, name):
    wanted = selector(name).fit(X)
    for weights in (np.ones(N), [1] * N, 1, None):
        np.testing.assert_array_equal(selector(name).fit(X, sample_weight=weights).scores_, wanted.scores_)


@pytest.mark.parametrize("name", WEIGHING)
def test_rows_of_weight_zero_change_nothing(X, name):
    weights = np.where(np.arange(N) % 5 == 0, 0.0, 1.0)
    found = selector(name, scale="standard" if name == "UFCM" else "none").fit(X, sample_weight=weights)
    far = np.where(weights[:, None] == 0, 1e6 + np.arange(D), X)
    again = selector(name, scale="standard" if name == "UFCM" else "none").fit(far, sample_weight=weights)
    np.testing.assert_allclose(again.scores_, found.scores_, atol=1e-9)
    np.testing.assert_array_equal(again.ranking_, found.ranking_)


@pytest.mark.parametrize("name", WEIGHING)
def test_keyword_and_requests(X, name):
    kind = getattr(tamis, name)
    assert list(inspect.signature(kind.fit).parameters) == ["self", "X", "y", "sample_weight"]
    few = selector(name).fit_transform(X, sample_weight=WEIGHTS)
    np.testing.assert_array_equal(few, selector(name).fit(X, sample_weight=WEIGHTS).transform(X))
    fitted = pickle.loads(pickle.dumps(selector(name).fit(X, sample_weight=WEIGHTS)))
    np.testing.assert_array_equal(fitted.transform(X), few)
    y = np.arange(N) % 2
    with sklearn.config_context(enable_metadata_routing=True):
        chosen = selector(name).set_fit_request(sample_weight=True)
        model = LogisticRegression().set_fit_request(sample_weight=True)
        pipeline = make_pipeline(chosen, model).fit(X, y, sample_weight=WEIGHTS)
        np.testing.assert_array_equal(pipeline[0].transform(X), few)
        pipeline = make_pipeline(selector(name).set_fit_request(sample_weight=False), model).fit(X, y, sample_weight=WEIGHTS)
        np.testing.assert_array_equal(pipeline[0].scores_, selector(name).fit(X).scores_)


def test_the_others_have_no_such_keyword(X):
    for method in tamis._core.methods():
        if method["weighs"]:
            continue
        kind = getattr(tamis, method["python_name"])
        assert not hasattr(kind, "set_fit_request")
        with pytest.raises(TypeError, match="sample_weight"):
            kind().fit(X, sample_weight=WEIGHTS)


BAD = [
    (WEIGHTS[:-1], r"sample_weight of shape \(159,\), need one number for each of the 160 rows"),
    (WEIGHTS[:, None], "sample_weight of shape"),
    (np.where(np.arange(N) == 7, -1, 1.0), "sample_weight: row 7: -1, need finite numbers"),
    (np.where(np.arange(N) == 7, np.nan, 1.0), "sample_weight: row 7: nan, need finite numbers"),
    (np.ma.masked_array(np.ones(N), np.arange(N) == 3), "sample_weight: row 3: nan"),
    (np.where(np.arange(N) == 7, 1.0, 0.0), "sample_weight: 1 row has a weight above 0, need at least 2"),
    (["a"] * N, "sample_weight contains a value that is not a number"),
    (0, "sample_weight: all weights are zero"),
]


@pytest.mark.parametrize("weights, message", BAD)
@pytest.mark.parametrize("name", WEIGHING)
def test_what_is_refused(X, name, weights, message):
    with pytest.raises(ValueError, match=message):
        selector(name).fit(X, sample_weight=weights)


def test_what_needs_a_guide_is_refused(X):
    with pytest.raises(ValueError, match="n_features_to_select = auto: the guide does not use sample_weight"):
        tamis.CSS("auto").fit(X, sample_weight=WEIGHTS)
    with pytest.raises(ValueError, match="n_clusters = 3, need 1..2, the number of rows of positive weight"):
        selector("UFCM").fit(X, sample_weight=np.arange(N) < 2)


def test_other_kinds_of_rows(X, tmp_path):
    pandas = pytest.importorskip("pandas")
    wanted = selector("UFCM").fit(X, sample_weight=WEIGHTS)
    index = [f"r{i}" for i in range(N)]
    frame = pandas.DataFrame(X, columns=[f"c{j}" for j in range(D)], index=index)
    for weights in (pandas.Series(WEIGHTS, index=index), WEIGHTS.tolist(), WEIGHTS.astype(int), WEIGHTS.astype("f4")):
        np.testing.assert_array_equal(selector("UFCM").fit(frame, sample_weight=weights).scores_, wanted.scores_)
    repeated = selector("UFCM", seeds=2).fit(X, sample_weight=WEIGHTS)
    np.testing.assert_array_equal(repeated.scores_, wanted.scores_)
    assert selector("CSS", resample=3).fit(X, sample_weight=WEIGHTS).stability_.runs == 3
    wanted.report(tmp_path / "page.html")
    assert "sample weights" in (tmp_path / "page.html").read_text()


def test_groups_and_left_out_columns(X):
    options = {"groups": [0, 0, *range(1, D - 1)], "exclude": [D - 1]}
    found = selector("CSS", **options).fit(X, sample_weight=WEIGHTS)
    wanted = selector("CSS", **options).fit(np.repeat(X, WEIGHTS.astype(int), axis=0))
    np.testing.assert_array_equal(found.ranking_, wanted.ranking_)
    np.testing.assert_allclose(found.scores_, wanted.scores_)


def test_genes(X):
    ad = pytest.importorskip("anndata")
    pandas = pytest.importorskip("pandas")
    obs = pandas.DataFrame({"w": WEIGHTS, "batch": np.repeat(["a", "b"], N // 2)}, index=[str(i) for i in range(N)])
    adata = ad.AnnData(X, obs=obs)
    wanted = tamis.MaxVariance().fit(X, sample_weight=WEIGHTS).scores_
    for weights in ("w", WEIGHTS):
        frame = tamis.select_genes(adata, 4, method="maxvar", sample_weight=weights, inplace=False)
        np.testing.assert_array_equal(frame["tamis_score"], wanted)
    tamis.select_genes(adata, 4, method="maxvar", sample_weight="w")
    assert adata.uns["tamis"]["sample_weight"] == "w"
    with pytest.raises(ValueError, match="sample_weight = 'nosuch' is not a column of .obs"):
        tamis.select_genes(adata, 4, method="maxvar", sample_weight="nosuch")
    both = tamis.select_genes(adata, 4, method="maxvar", sample_weight="w", batch_key="batch", inplace=False)
    ranks = [(-tamis.MaxVariance().fit(X[k], sample_weight=WEIGHTS[k]).scores_).argsort().argsort() + 1
             for k in (slice(0, N // 2), slice(N // 2, N))]  # fmt: skip
    np.testing.assert_array_equal(both["tamis_score"], -np.median(ranks, axis=0))
    adata.obs["w"] = np.where(obs["batch"] == "a", WEIGHTS, 0)
    with pytest.warns(UserWarning, match="batch 'b' was skipped: 0 rows of positive weight"):
        tamis.select_genes(adata, 4, method="maxvar", sample_weight="w", batch_key="batch")


def test_dask(X):
    da = pytest.importorskip("dask.array")
    import tamis.dask

    far = np.tile(X, (30, 1))
    weights = np.tile(WEIGHTS, 30)
    for name in WEIGHING:
        wanted = selector(name).fit(far, sample_weight=weights)
        found = getattr(tamis.dask, name)(4, **WEIGHING[name])
        found.fit(da.from_array(far, chunks=(2048, -1)), sample_weight=da.from_array(weights, chunks=100))
        np.testing.assert_array_equal(found.scores_, wanted.scores_)
        if name == "UFCM":
            np.testing.assert_array_equal(found.labels_, wanted.labels_)
            np.testing.assert_allclose(found.cluster_means_, wanted.cluster_means_, atol=1e-12)
