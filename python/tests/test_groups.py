"""groups=: features that are selected as one, through every interface of the package."""

import numpy as np
import pytest
import scipy.sparse

import tamis

PAIRS = {"a": "ab", "b": "ab", "e": "ef", "f": "ef"}


def one_hot(n=120, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 8))
    X[:, :2] += 4 * rng.standard_normal((3, 2))[np.arange(n) % 3]
    return X


def frame(X):
    return pytest.importorskip("pandas").DataFrame(X, columns=list("abcdefgh"))


@pytest.mark.parametrize("method", ["GuidedUFCM", "UFCM", "SPCAFS", "CSS", "MaxVariance", "LaplacianScore"])
def test_all_ways_to_give_groups(method):
    X, selector = one_hot(), getattr(tamis, method)
    wanted = selector(2, groups=PAIRS).fit(frame(X))
    array = ["ab", "ab", None, float("nan"), "ef", "ef", None, None]
    for groups, data in [(array, X), (np.array(array, dtype=object), X), ({0: 1, 1: 1, 4: 2, 5: 2}, X), (PAIRS, frame(X))]:
        found = selector(2, groups=groups).fit(data)
        np.testing.assert_array_equal(found.scores_, wanted.scores_)
        np.testing.assert_array_equal(found.get_support(), wanted.get_support())
    assert len(wanted.groups_) == 2
    chosen = np.concatenate([group["selected"] for group in wanted.groups_])
    np.testing.assert_array_equal(np.sort(chosen), wanted.get_support(indices=True))
    assert wanted.scores_[0] == wanted.scores_[1] and wanted.transform(frame(X)).shape[1] == len(chosen)


def test_groups_of_one_feature_change_nothing():
    X = one_hot()
    for selector in (tamis.UFCM, tamis.CSS, tamis.GuidedUFCM):
        wanted, found = selector(3).fit(X), selector(3, groups=list("hgfedcba")).fit(X)
        np.testing.assert_array_equal(found.scores_, wanted.scores_)
        np.testing.assert_array_equal(found.ranking_, wanted.ranking_)
        assert not hasattr(wanted, "groups_") and len(found.groups_) == 3


def test_sparse_and_missing():
    X = one_hot()
    groups = [0, 0, 1, 1, 2, 2, 3, 3]
    dense = tamis.CSS(2, groups=groups).fit(X)
    np.testing.assert_allclose(tamis.CSS(2, groups=groups).fit(scipy.sparse.csr_matrix(X)).scores_, dense.scores_, atol=1e-5)
    X[3, 1] = np.nan
    left = tamis.MaxVariance(1, groups=groups, missing="drop-columns").fit(X)
    assert left.groups_[0]["selected"].tolist() == [0] and np.isnan(left.scores_[1])


def test_dask_agrees():
    array = pytest.importorskip("dask.array")
    X, groups = one_hot(5000), [0, 0, 1, 1, 2, 2, 3, 3]
    chunks = array.from_array(X, chunks=(2048, 8))
    for method in ("UFCM", "CSS", "GuidedUFCM", "MaxVariance"):
        wanted = getattr(tamis, method)(2, groups=groups).fit(X)
        found = getattr(tamis.dask, method)(2, groups=groups).fit(chunks)
        np.testing.assert_array_equal(found.scores_, wanted.scores_)
        assert [group["name"] for group in found.groups_] == [group["name"] for group in wanted.groups_]


def test_exact():
    X = one_hot()
    found = tamis.UFCM(2, n_clusters=3, exact=True).fit(X)
    assert (np.abs(found.components_).sum(axis=0) > 0).sum() == 2
    array = pytest.importorskip("dask.array")
    remote = tamis.dask.UFCM(2, n_clusters=3, exact=True).fit(array.from_array(X, chunks=(60, 8)))
    assert remote.get_support(indices=True).tolist() == found.get_support(indices=True).tolist()
    with pytest.raises(ValueError, match="exact needs a number of features"):
        tamis.UFCM(n_clusters=3, exact=True).fit(X)


def test_genes():
    anndata = pytest.importorskip("anndata")
    adata = anndata.AnnData(one_hot())
    adata.var_names = list("abcdefgh")
    adata.var["pathway"] = ["ab", "ab", None, None, "ef", "ef", None, None]
    tamis.select_genes(adata, 2, method="css", groups="pathway")
    by_dict = tamis.select_genes(adata, 2, method="css", groups=PAIRS, inplace=False)
    assert adata.var["tamis_selected"].tolist() == by_dict["tamis_selected"].tolist()
    assert by_dict["tamis_selected"]["a"] == by_dict["tamis_selected"]["b"]
    adata.obs["batch"] = list("xy") * 60
    with pytest.raises(ValueError, match="batch_key"):
        tamis.select_genes(adata, 2, groups=PAIRS, batch_key="batch")


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        ([0, 1], "groups of 2 features, need 8"),
        ({"aa": 1}, "no feature is named 'aa'; did you mean 'a'"),
        ({9: 1}, "feature 9, need 0 .. 7"),
        ([None] * 8, "no group"),
        ("a", "need a dict"),
        (3, "need a dict"),
    ],
)
def test_refused(groups, words):
    with pytest.raises(ValueError, match=words):
        tamis.MaxVariance(1, groups=groups).fit(frame(one_hot()))


def test_more_than_there_are_groups():
    with pytest.raises(ValueError, match="n_features_to_select = 3, need 1..2, the number of groups"):
        tamis.MaxVariance(3, groups=[0, 0, 0, 0, 1, 1, 1, 1]).fit(one_hot())
