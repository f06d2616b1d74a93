"""connectivity: a graph of the rows in place of one of nearest rows."""

import pickle
import warnings

import numpy as np
import pytest
from conftest import make, planted
from scipy import sparse
from sklearn.base import clone
from sklearn.neighbors import kneighbors_graph

import tamis

ad = pytest.importorskip("anndata")

GRAPHS = [method["name"] for method in tamis._core.methods() if method["graph_options"]]
N = 90

pytestmark = pytest.mark.filterwarnings("ignore:MCFS. the graph is in", "ignore:RUFS. not converged")


def nearest(X, k=5):
    """W = max(W, W') of the k nearest rows, heat weights with t the mean distance: by scikit-learn's neighbors."""
    t = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2)).mean()
    W = kneighbors_graph(X, k, mode="distance", include_self=False)
    W.data = np.exp(-(W.data**2) / (2 * t * t))
    return W.maximum(W.T).tocsr()


@pytest.fixture(scope="module")
def X():
    return planted(N, 9, 3, informative=5, seed=4)


@pytest.fixture
def W(X):
    return nearest(X)


@pytest.fixture(params=GRAPHS)
def graph_method(request):
    return request.param


def test_these_methods_take_one():
    assert GRAPHS == ["lapscore", "spec", "mcfs", "ndfs", "rufs"]


def test_the_graph_of_nearest_rows_gives_what_the_method_gives(X, W, graph_method):
    given, own = make(graph_method, connectivity=W).fit(X), make(graph_method).fit(X)
    rounding = {"ndfs": 1e-8, "rufs": 1e-6}.get(graph_method, 1e-11)
    assert np.abs(given.scores_ - own.scores_).max() <= rounding * np.abs(own.scores_).max()
    assert "given graph" in given.report_["path"] and "given graph" not in own.report_["path"]
    assert given.report_["resolved"]["edges"] == W.nnz / 2
    assert "n_neighbors" not in given.report_["resolved"]


FORMS = {
    "csc": lambda W: W.tocsc(),
    "coo": lambda W: W.tocoo(),
    "array of scipy": sparse.csr_array,
    "dense": lambda W: W.toarray(),
    "columns first": lambda W: np.asfortranarray(W.toarray()),
    "list": lambda W: W.toarray().tolist(),
    "with a diagonal": lambda W: W + 7 * sparse.eye(N),
    "with stored zeros": lambda W: with_zeros(W),
    "repeated entries": lambda W: sparse.coo_matrix(
        (np.tile(W.tocoo().data / 2, 2), (np.tile(W.tocoo().row, 2), np.tile(W.tocoo().col, 2))), W.shape
    ),
}


def with_zeros(W):
    rows, columns = np.array([0, 1, 2]), np.array([80, 81, 82])
    coo = W.tocoo()
    data = np.concatenate([coo.data, np.zeros(3)])
    return sparse.csr_matrix((data, (np.concatenate([coo.row, rows]), np.concatenate([coo.col, columns]))), W.shape)


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_the_matrix(X, W, form):
    given = FORMS[form](W)
    before = given.copy() if hasattr(given, "copy") else given
    found = make("lapscore", connectivity=given).fit(X)
    assert np.array_equal(found.scores_, make("lapscore", connectivity=W).fit(X).scores_)
    assert type(given) is type(before) and (given != before if form == "list" else abs(given - before).max()) == 0


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.uint8, bool])
def test_every_type_of_number(X, W, dtype):
    ones = (W > 0).astype(dtype)
    for given in (ones, ones.toarray()):
        found = make("spec", connectivity=given).fit(X)
        assert np.allclose(found.scores_, make("spec", weights="binary").fit(X).scores_, rtol=1e-11)


def test_parameters_are_those_of_scikit_learn(X, W):
    selector = tamis.LaplacianScore(3, connectivity=W)
    assert selector.get_params()["connectivity"] is W and tamis.LaplacianScore().connectivity is None
    twin = clone(selector).fit(X)
    assert np.array_equal(twin.scores_, selector.fit(X).scores_)
    assert "LaplacianScore" in repr(selector) and "connectivity : sparse matrix" in tamis.LaplacianScore.__doc__
    assert np.array_equal(selector.set_params(connectivity=None).fit(X).scores_, tamis.LaplacianScore(3).fit(X).scores_)


def test_a_fitted_selector_can_be_kept(X, W):
    selector = tamis.SPEC(3, connectivity=W).fit(X)
    back = pickle.loads(pickle.dumps(selector))
    assert np.array_equal(back.get_support(), selector.get_support())


def test_the_page_says_so(X, W, tmp_path):
    tamis.LaplacianScore(3, connectivity=W).fit(X).report(tmp_path / "x.html", X)
    page = (tmp_path / "x.html").read_text()
    assert "given graph" in page and "in place of one of nearest rows" in page


@pytest.mark.parametrize("repeats", ["resample", "seeds"])
def test_repeated_runs_take_their_part(X, W, repeats):
    found = tamis.SPEC(3, function=3, n_clusters=3, connectivity=W, **{repeats: 3}).fit(X)
    assert found.stability_.runs == 3


REFUSED = {
    "one way": (lambda W: sparse.triu(W), "need a symmetric matrix"),
    "one way, of neighbors": (lambda W: kneighbors_graph(planted(N, 9, 3), 5), "W.maximum"),
    "negative": (lambda W: -W, "need finite weights >= 0"),
    "infinite": (lambda W: W * np.inf, "need finite weights >= 0"),
    "not a number": (lambda W: W * np.nan, "need finite weights >= 0"),
    "no edge": (lambda W: sparse.eye(N), "need an edge"),
    "not square": (lambda W: W[:, 1:], "connectivity is 90 x 89, need rows x rows = 90 x 90"),
    "other rows": (lambda W: W[:50, :50], "connectivity is 50 x 50, need rows x rows = 90 x 90"),
    "one number": (lambda W: 1.0, "connectivity is a single number"),
    "complex": (lambda W: W.astype(complex), "need real numbers"),
    "a word": (lambda W: "connectivities", "connectivity = 'connectivities' is a key of .obsp, and X is no AnnData"),
    "objects": (lambda W: W.toarray().astype(object), "need real numbers"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_in_one_line(X, W, case):
    change, words = REFUSED[case]
    with pytest.raises(ValueError, match=words) as caught:
        make("lapscore", connectivity=change(W)).fit(X)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("option", [{"n_neighbors": 9}, {"weights": "cosine"}, {"bandwidth": 0.5}, {"recall": 0.5}])
def test_options_of_the_other_graph_are_refused(X, W, option):
    with pytest.raises(ValueError, match=f"LaplacianScore: {next(iter(option))} = .*, and connectivity is used instead"):
        tamis.LaplacianScore(connectivity=W, **option).fit(X)


def test_isolated_rows_are_warned_of(X, W):
    W = W.tolil()
    W[7] = 0
    W[:, 7] = 0
    with pytest.warns(UserWarning, match="1 of 90 rows has no edge"):
        found = make("lapscore", connectivity=W.tocsr()).fit(X)
    assert np.isfinite(found.scores_).all() and found.report_["resolved"]["isolated_rows"] == 1


# --- select_genes -----------------------------------------------------------------------------------------------------


def cells(X, W):
    adata = ad.AnnData(np.abs(X).astype(np.float32))
    adata.var_names = [f"g{j}" for j in range(X.shape[1])]
    adata.obs["batch"] = np.where(np.arange(N) % 2 == 0, "a", "b")
    adata.obsp["connectivities"] = W.astype(np.float32)
    return adata


def test_genes_by_a_key_of_obsp(X, W):
    adata = cells(X, W)
    tamis.select_genes(adata, 4, method="lapscore", connectivity="connectivities")
    wanted = tamis.LaplacianScore(connectivity=adata.obsp["connectivities"], redundancy=None).fit(adata.X)
    assert np.array_equal(adata.var["tamis_score"], wanted.scores_)
    about = adata.uns["tamis"]
    assert about["connectivity"] == "connectivities" and "n_neighbors" not in about["params"]
    frame = tamis.select_genes(adata, 4, method="lapscore", connectivity=adata.obsp["connectivities"], inplace=False)
    assert np.array_equal(frame["tamis_score"], wanted.scores_)


def test_selectors_take_a_key_of_obsp(X, W):
    adata = cells(X, W)
    found = tamis.LaplacianScore(4, connectivity="connectivities").fit(adata)
    wanted = tamis.LaplacianScore(4, connectivity=adata.obsp["connectivities"]).fit(adata.X)
    assert np.array_equal(found.scores_, wanted.scores_)
    with pytest.raises(ValueError, match=r"connectivity = 'near' is not a key of .obsp \('connectivities'\)"):
        tamis.LaplacianScore(4, connectivity="near").fit(adata)


@pytest.mark.filterwarnings("ignore:.*has no edge")
def test_batches_have_the_edges_within_them(X, W):
    adata = cells(X, W)
    frame = tamis.select_genes(adata, 4, method="lapscore", connectivity="connectivities", batch_key="batch", inplace=False)
    ranks = []
    for batch in ("a", "b"):
        some = adata[adata.obs["batch"] == batch].copy()
        alone = tamis.select_genes(some, 4, method="lapscore", connectivity="connectivities", inplace=False)
        ranks.append(alone["tamis_rank"])
    assert np.allclose(frame["tamis_score"], -np.median(ranks, axis=0))


def test_backed_genes(X, W, tmp_path):
    adata = cells(X, W)
    adata.write_h5ad(tmp_path / "x.h5ad")
    backed = ad.read_h5ad(tmp_path / "x.h5ad", backed="r")
    found = [tamis.select_genes(one, 4, method="spec", connectivity="connectivities", inplace=False) for one in (adata, backed)]
    assert np.array_equal(found[0]["tamis_score"], found[1]["tamis_score"])


def test_genes_refuse_it_in_one_line(X, W):
    adata = cells(X, W)
    with pytest.raises(ValueError, match="connectivity = 'distances' is not a key of .obsp \\('connectivities'\\)"):
        tamis.select_genes(adata, 4, method="lapscore", connectivity="distances")
    with pytest.raises(ValueError, match="GuidedUFCM uses no graph of the cells"):
        tamis.select_genes(adata, 4, connectivity="connectivities")
    with pytest.raises(ValueError, match="connectivity is 9 x 9, need rows x rows = 90 x 90"):
        tamis.select_genes(adata, 4, method="lapscore", connectivity=np.ones((9, 9)))


def test_nothing_is_warned_of_a_whole_graph(X, W):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tamis.LaplacianScore(3, connectivity=W).fit(X)
