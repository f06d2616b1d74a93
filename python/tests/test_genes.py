"""select_genes: genes of an AnnData."""

import hashlib
import inspect
import pathlib
import re
import subprocess
import sys
import warnings

import numpy as np
import pytest
from scipy import sparse

ad = pytest.importorskip("anndata")
pd = pytest.importorskip("pandas")

import tamis
from tamis import _core, _genes
from tamis._core_data import core_data

GUIDE = pathlib.Path(__file__).parents[2] / "docs" / "genes.md"
MARKERS = np.arange(5, 40, 5)  # genes that mark the groups of `cells`
COLUMNS = ["tamis_score", "tamis_rank", "tamis_selected"]


def cells(n=240, d=60, seed=0, format="csr", dtype=np.float32):
    """Log-normalised cells of four groups, which the genes MARKERS mark."""
    rng = np.random.default_rng(seed)
    group = rng.integers(4, size=n)
    means = np.full((n, d), 0.4)
    for at, gene in enumerate(MARKERS):
        means[:, gene] = np.where(group == at % 4, 4.0, 0.2)
    X = np.log1p(rng.poisson(means) * 2.5).astype(dtype)
    X = X if format == "dense" else sparse.csr_matrix(X).asformat(format)
    adata = ad.AnnData(X)
    adata.var_names = [f"gene{j}" for j in range(d)]
    adata.obs["batch"] = pd.Categorical(np.array(["a", "b", "c"])[np.arange(n) % 3])
    return adata


def quietly(adata, *words, **named):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return tamis.select_genes(adata, *words, **({} if "method" in named else {"method": "ufcm", "n_clusters": 4}), **named)


def refused(adata, *words, kind=ValueError, **named):
    """Refused in one line with the words; nothing is written."""
    with pytest.raises(kind) as caught:
        tamis.select_genes(adata, **{"n_top": 5, "method": "ufcm", "n_clusters": 4, **named})
    message = str(caught.value)
    assert len(message.splitlines()) == 1
    for word in words:
        assert word in message, message
    assert not isinstance(adata, ad.AnnData) or not set(COLUMNS) & set(adata.var.columns)


def fingerprint(X):
    parts = (X.data, X.indices, X.indptr) if sparse.issparse(X) else (np.asarray(X),)
    return [hashlib.sha256(np.ascontiguousarray(part).tobytes()).hexdigest() for part in parts]


def selected(adata):
    return np.flatnonzero(adata.var["tamis_selected"])


# --- What is written --------------------------------------------------------------------------------------------------


def test_columns_are_those_of_the_core():
    adata = cells()
    assert quietly(adata, 7) is None
    core = _core.select("ufcm", core_data(adata.X), {"n_clusters": 4}, 7)
    assert np.array_equal(adata.var["tamis_score"], core["scores"])
    assert np.array_equal(np.argsort(adata.var["tamis_rank"]), core["ranking"])
    assert sorted(adata.var["tamis_rank"]) == list(range(1, 61))
    assert np.array_equal(selected(adata), np.sort(core["selected"]))
    assert adata.var["tamis_selected"].dtype == bool
    assert adata.var["tamis_score"].dtype == adata.var["tamis_rank"].dtype == np.float64


def test_agrees_with_the_selector():
    adata = cells()
    quietly(adata, 7, sparsity=0.5, random_state=3)
    twin = tamis.UFCM(7, n_clusters=4, sparsity=0.5, random_state=3).fit(adata.X)
    assert np.array_equal(adata.var["tamis_score"], twin.scores_)
    assert np.array_equal(adata.var["tamis_selected"], twin.get_support())


def test_finds_the_markers():
    adata = cells()
    quietly(adata, len(MARKERS))
    assert np.array_equal(selected(adata), MARKERS)


@pytest.mark.parametrize("n_top", [1, 13, 60])
@pytest.mark.parametrize("batch_key", [None, "batch"])
def test_exactly_n_top(n_top, batch_key):
    adata = cells()
    quietly(adata, n_top, batch_key=batch_key)
    assert len(selected(adata)) == n_top
    assert set(adata.var["tamis_rank"][adata.var["tamis_selected"]]) == set(range(1, n_top + 1))


def test_without_a_method_it_is_guided(tmp_path):
    adata = cells()
    quietly(adata, 7, method="guided", include=["gene3"])
    twin = tamis.GuidedUFCM(7).fit(adata.X)
    assert np.array_equal(adata.var["tamis_share"], twin.share_)
    assert np.array_equal(adata.var["tamis_evidence"], twin.evidence_)
    assert adata.var["tamis_rank"]["gene3"] == 1 and len(selected(adata)) == 7
    again = cells()
    tamis.select_genes(again, 7, include=["gene3"])
    pd.testing.assert_frame_equal(adata.var, again.var)
    assert "n_clusters" not in again.uns["tamis"]["params"]
    again.write_h5ad(tmp_path / "out.h5ad")


def test_as_many_genes_as_are_worth_it():
    adata = cells()
    tamis.select_genes(adata, "auto")
    chosen = tamis.GuidedUFCM().fit(adata.X).get_support()
    assert np.array_equal(adata.var["tamis_selected"], chosen)
    refused(cells(), "n_top = 'auto' with batch_key", n_top="auto", batch_key="batch")


def test_clusters_of_other_methods_have_their_default():
    adata = cells()
    tamis.select_genes(adata, 5, method="ufcm")
    assert adata.uns["tamis"]["params"]["n_clusters"] == tamis.UFCM().n_clusters


def test_not_in_place():
    adata = cells()
    frame = quietly(adata, 7, inplace=False)
    assert list(adata.var.columns) == [] and "tamis" not in adata.uns
    quietly(adata, 7)
    pd.testing.assert_frame_equal(frame, adata.var[COLUMNS])


def test_a_second_call_replaces_the_first():
    adata = cells()
    quietly(adata, 7, exclude=["gene5"], batch_key="batch")
    quietly(adata, 9)
    twin = cells()
    quietly(twin, 9)
    pd.testing.assert_frame_equal(adata.var, twin.var)
    assert "batches" not in adata.uns["tamis"]


# --- Include and exclude ----------------------------------------------------------------------------------------------

WAYS = {
    "names": lambda adata, genes: [f"gene{j}" for j in genes],
    "index": lambda adata, genes: adata.var_names[genes],
    "mask": lambda adata, genes: np.isin(np.arange(adata.n_vars), genes),
    "list of booleans": lambda adata, genes: np.isin(np.arange(adata.n_vars), genes).tolist(),
    "series": lambda adata, genes: pd.Series(np.isin(np.arange(adata.n_vars), genes), index=adata.var_names),
    "column": lambda adata, genes: _column(adata, genes),
}


def _column(adata, genes):
    name = f"mark{genes[0]}"
    adata.var[name] = np.isin(np.arange(adata.n_vars), genes)
    return name


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("batch_key", [None, "batch"])
def test_include_and_exclude(way, batch_key):
    adata = cells()
    out, kept = [5, 10, 11], [1, 58]
    quietly(adata, 8, batch_key=batch_key, include=WAYS[way](adata, kept), exclude=WAYS[way](adata, out))
    assert len(selected(adata)) == 8
    assert set(kept) <= set(selected(adata)) and not set(out) & set(selected(adata))
    assert np.array_equal(np.flatnonzero(adata.var["tamis_score"].isna()), out)
    assert np.array_equal(np.flatnonzero(adata.var["tamis_rank"].isna()), out)
    # The method never saw them: the other genes are as in a table without them.
    rest = np.setdiff1d(np.arange(60), out)
    twin = cells()[:, rest].copy()
    quietly(twin, 8, batch_key=batch_key, include=["gene1", "gene58"])
    pd.testing.assert_frame_equal(adata.var.iloc[rest][COLUMNS], twin.var)


def test_names_that_several_genes_bear():
    adata = cells()
    names = adata.var_names.to_numpy().copy()
    names[[5, 6]], names[[7, 8]] = "twin", "other"
    adata.var_names = names
    quietly(adata, 4, exclude=["twin"], include=["other"])
    assert {7, 8} <= set(selected(adata)) and len(selected(adata)) == 4
    assert np.array_equal(np.flatnonzero(adata.var["tamis_score"].isna()), [5, 6])


def test_bad_include_and_exclude():
    adata = cells()
    adata.var["depth"] = 1.0
    refused(adata, "include", "'nope'", "and 1 more", "60", include=["gene1", "nope", "never"])
    refused(adata, "exclude = 'nope'", "['nope']", exclude="nope")
    refused(adata, "'depth'", "float64", "True or False", exclude="depth")
    refused(adata, "mask of 3", "n_vars = 60", include=[True, False, True])
    refused(adata, "include contains 3", include=[3, 4])
    refused(adata, "'gene4'", "both included and excluded", include=["gene4"], exclude=["gene4"])
    refused(adata, "n_top = 5", "at least the 6 included", include=list(adata.var_names[:6]))
    shuffled = pd.Series(False, index=adata.var_names[::-1])
    refused(adata, "exclude", "index differs from var_names", exclude=shuffled)


@pytest.mark.parametrize("n_top", [0, -1, 61, 2000, 0.5, True, "all", None])
def test_bad_n_top(n_top):
    refused(cells(), f"n_top = {n_top!r}", "1..60", n_top=n_top)


def test_n_top_above_what_exclude_leaves():
    refused(cells(), "n_top = 60", "1..58", n_top=60, exclude=["gene0", "gene1"])


# --- Batches ----------------------------------------------------------------------------------------------------------


def brute_ranks(scores):
    """Mean rank of ties by counting: how many are better, and how many are as good."""
    tie = 1e-9 * np.abs(scores).max()
    return np.array([(scores > s + tie).sum() + ((np.abs(scores - s) <= tie).sum() + 1) / 2 for s in scores])


def test_median_rank_over_batches():
    adata = cells()
    quietly(adata, 7, batch_key="batch", method="maxvar")
    ranks = []
    for batch in "abc":
        X = adata.X[(adata.obs["batch"] == batch).to_numpy()].toarray().astype(float)
        ranks.append(brute_ranks(X.var(axis=0, ddof=1)))
    assert np.allclose(adata.var["tamis_score"], -np.median(ranks, axis=0))
    order = sorted(range(60), key=lambda j: (np.median(ranks, axis=0)[j], np.mean(ranks, axis=0)[j], j))
    assert np.array_equal(np.argsort(adata.var["tamis_rank"]), order)


@pytest.mark.parametrize("format", ["csr", "csc", "dense"])
def test_batches_side_by_side_or_mixed(format):
    mixed = cells(format=format)
    rows = np.argsort(mixed.obs["batch"].to_numpy(), kind="stable")
    sorted_ = mixed[rows].copy()
    for adata in (mixed, sorted_):
        quietly(adata, 7, batch_key="batch")
    pd.testing.assert_frame_equal(mixed.var, sorted_.var)
    alone = mixed[(mixed.obs["batch"] == "b").to_numpy()].copy()
    quietly(alone, 7)
    quietly(alone, 7, batch_key="batch")
    core = _core.select("ufcm", core_data(alone.X), {"n_clusters": 4}, 7)
    assert np.array_equal(alone.var["tamis_score"], -brute_ranks(core["scores"]))


def test_genes_constant_in_a_batch_share_the_last_ranks():
    adata = cells(n=60)
    X = adata.X.toarray()
    silent = [0, 30, 59]
    X[:, silent] = 0
    adata = ad.AnnData(sparse.csr_matrix(X), obs=adata.obs, var=adata.var)
    quietly(adata, 7, batch_key="batch", method="maxvar")
    assert np.array_equal(adata.var["tamis_score"].iloc[silent], [-59, -59, -59])  # the mean of 58, 59 and 60
    assert sorted(adata.var["tamis_rank"].iloc[silent]) == [58, 59, 60]


def test_a_gene_silent_in_one_batch_does_not_gain_by_its_position():
    """Genes 0 and 59 have the same values except that one is silent in a, the other in b."""
    adata = cells(n=90)
    X = adata.X.toarray()
    X[:, 59] = X[:, 0] = np.tile([0.0, 1.0], 45)
    batch = adata.obs["batch"].to_numpy()
    X[batch == "a", 0] = 0
    X[batch == "b", 59] = 0
    X[batch == "b"] = X[batch == "a"][:, [59, *range(1, 59), 0]]  # so the batches mirror each other
    adata = ad.AnnData(sparse.csr_matrix(X), obs=adata.obs, var=adata.var)[batch != "c"].copy()
    quietly(adata, 7, batch_key="batch", method="maxvar")
    assert adata.var["tamis_score"].iloc[0] == adata.var["tamis_score"].iloc[59]


@pytest.mark.parametrize("seed", range(5))
def test_shared_ranks(seed):
    scores = np.random.default_rng(seed).integers(-3, 4, 40).astype(float)
    assert np.array_equal(_genes._shared_ranks(scores), brute_ranks(scores))
    scores[::7] = np.nan
    ranks = _genes._shared_ranks(scores)
    assert np.array_equal(np.isnan(ranks), np.isnan(scores))
    assert np.array_equal(ranks[~np.isnan(scores)], brute_ranks(scores[~np.isnan(scores)]))


def test_order_by_median_then_mean_then_position():
    ranks = np.array([[2, 2, 1, 2], [2, 2, 9, 2], [3, 2, 1, 2.0]])
    score, order = _genes._median_order(ranks)
    assert score.tolist() == [-2, -2, -1, -2]
    assert order.tolist() == [2, 1, 3, 0]


def test_small_batches_are_left_out():
    adata = cells()
    adata.obs["batch"] = ["tiny"] * 3 + ["a"] * 117 + ["b"] * 120
    with pytest.warns(UserWarning, match=r"'tiny' was skipped: 3 rows, need at least 4"):
        tamis.select_genes(adata, 7, method="ufcm", batch_key="batch", n_clusters=4)
    twin = cells()[3:].copy()
    twin.obs["batch"] = ["a"] * 117 + ["b"] * 120
    quietly(twin, 7, batch_key="batch")
    pd.testing.assert_frame_equal(adata.var, twin.var)
    assert adata.uns["tamis"]["batches"]["skipped"].tolist() == ["tiny"]
    assert adata.uns["tamis"]["batches"]["names"].tolist() == ["a", "b"]
    assert adata.uns["tamis"]["batches"]["n_obs"].tolist() == [117, 120]


def test_batches_without_variation_are_left_out():
    adata = cells()
    X = adata.X.toarray()
    X[:20] = X[0]
    adata = ad.AnnData(sparse.csr_matrix(X), obs=adata.obs, var=adata.var)
    adata.obs["batch"] = np.array(["same", "rest"])[(np.arange(240) >= 20).astype(int)]
    with pytest.warns(UserWarning, match="'same' was skipped: no variation"):
        tamis.select_genes(adata, 7, batch_key="batch", n_clusters=4)


def test_bad_batches():
    adata = cells()
    refused(adata, "batch_key = 'sample'", ".obs", batch_key="sample")
    refused(adata, "all 3 batches", "'a': 80 rows, need at least 100", batch_key="batch", n_clusters=100)
    adata.obs["batch"] = adata.obs["batch"].where(np.arange(240) != 7)
    refused(adata, "is missing for 1 rows", "row 7", batch_key="batch")


# --- Methods and options ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [method["name"] for method in _core.methods()])
@pytest.mark.parametrize("batch_key", [None, "batch"])
def test_every_method(method, batch_key, tmp_path):
    by_name, by_class = cells(n=120), cells(n=120)
    described = next(one for one in _core.methods() if one["name"] == method)
    for adata, name in ((by_name, method), (by_class, described["python_name"])):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # stopping early is not the matter here
            tamis.select_genes(adata, 7, method=name, batch_key=batch_key)
    pd.testing.assert_frame_equal(by_name.var, by_class.var)
    assert len(selected(by_name)) == 7
    assert by_name.uns["tamis"]["method"] == method
    by_name.write_h5ad(tmp_path / "out.h5ad")
    if batch_key is None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            twin = getattr(tamis, described["python_name"])(7).fit(by_name.X)
        assert np.array_equal(by_name.var["tamis_score"], twin.scores_)


def test_options():
    adata = cells()
    refused(adata, "UFCM has no option n_neighbors", "alpha", "max_iter", n_neighbors=4)
    refused(adata, "MaxVariance has no option alpha", "it has no options", method="maxvar", alpha=2.0, n_clusters=None)
    refused(adata, "LaplacianScore has no option n_clusters", "n_neighbors", method="lapscore", n_clusters=5)
    refused(adata, "alpha = -1", alpha=-1.0)
    refused(adata, "n_clusters = 'many'", n_clusters="many")
    refused(adata, "n_clusters = 'many'", n_clusters="many", batch_key="batch")
    refused(adata, "method = 'pca'", "ufcm", "LaplacianScore", method="pca")
    refused(adata, "scale", "robust", scale="robust")
    refused(adata, "random_state", random_state="seed")
    refused(adata, "n_jobs", n_jobs=0)


def test_scale_is_that_of_the_core():
    adata = cells()
    quietly(adata, 7, scale="standard")
    X = adata.X.toarray().astype(float)
    twin = tamis.UFCM(7, n_clusters=4).fit(X / X.std(axis=0, ddof=1))
    assert np.allclose(adata.var["tamis_score"], twin.scores_, atol=1e-4)


def test_advice_on_scales_names_this_functions_option():
    adata = cells(format="dense")
    adata.X[:, 0] *= 1e4
    with pytest.warns(UserWarning, match="consider scale='standard'"):
        tamis.select_genes(adata, 5, n_clusters=4)


def test_init():
    adata = cells()
    start = np.random.default_rng(0).random((240, 4))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tamis.select_genes(adata, 5, method="ndfs", n_clusters=4, init=start)
        twin = tamis.NDFS(5, n_clusters=4, init=start).fit(adata.X)
        assert np.array_equal(adata.var["tamis_score"], twin.scores_)
        assert adata.uns["tamis"]["params"]["init"] == "array"
        tamis.select_genes(adata, 5, method="ndfs", n_clusters=4, init=start, batch_key="batch")
    fresh = cells()
    refused(fresh, "init", "n_obs = 240", method="ndfs", init=start[:7])
    refused(fresh, "init", "'kmeans'", method="ndfs", init="pca")
    refused(fresh, "UFCM has no option init", init=start)


def test_threads_do_not_matter_and_seeds_do_what_they_say():
    frames = [quietly(cells(), 7, inplace=False, n_jobs=n_jobs) for n_jobs in (1, 2)]
    pd.testing.assert_frame_equal(*frames)
    adata = cells()
    quietly(adata, 7, random_state=np.random.RandomState(5))
    again = cells()
    quietly(again, 7, random_state=int(adata.uns["tamis"]["random_state"]))
    pd.testing.assert_frame_equal(adata.var, again.var)


def test_progress(capfd):
    quietly(cells(), 7, verbose=1, batch_key="batch")
    shown = capfd.readouterr().err
    assert all(f"UFCM {batch} " in shown for batch in "abc")
    quietly(cells(), 7)
    assert capfd.readouterr().err == ""


# --- Matrices ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", ["csr", "csc", "dense"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("batch_key", [None, "batch"])
def test_X_is_not_modified(format, dtype, batch_key):
    adata = cells(format=format, dtype=dtype)
    kept, before = adata.X, fingerprint(adata.X)
    quietly(adata, 7, batch_key=batch_key, exclude=["gene3"])
    assert adata.X is kept and fingerprint(adata.X) == before


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_are_read_in_place(dtype):
    X = cells(dtype=dtype).X
    for rows in (None, np.arange(10, 50)):
        _, columns, values, width = _genes._rows_of(X, rows)
        assert np.shares_memory(values, X.data) and np.shares_memory(columns, X.indices) and width == 60


def test_nothing_is_made_dense(monkeypatch):
    for name in ("toarray", "todense"):
        monkeypatch.setattr(sparse.csr_matrix, name, lambda *_: pytest.fail("made dense"))
    for batch_key in (None, "batch"):
        quietly(cells(), 7, batch_key=batch_key, exclude=["gene3"])


def test_formats_agree():
    wanted = quietly(cells(), 7, inplace=False)
    for format in ("csc", "dense"):
        found = quietly(cells(format=format), 7, inplace=False)
        assert np.allclose(found["tamis_score"], wanted["tamis_score"], atol=1e-5)
        assert np.array_equal(found["tamis_selected"], wanted["tamis_selected"])


def test_rows_that_are_not_sorted_or_hold_an_entry_twice():
    adata = cells()
    wanted = quietly(adata, 7, inplace=False)
    X = adata.X
    values = np.concatenate([X.data / 2, X.data / 2])
    rows = np.repeat(np.arange(240), np.diff(X.indptr))
    order = np.argsort(np.concatenate([rows, rows]), kind="stable")
    columns = np.concatenate([X.indices, X.indices])[order]
    twice = sparse.csr_matrix((values[order], columns, 2 * X.indptr), shape=X.shape)
    twin = ad.AnnData(twice, obs=adata.obs, var=adata.var)
    assert not twin.X.has_canonical_format
    before = fingerprint(twin.X)
    pd.testing.assert_frame_equal(quietly(twin, 7, inplace=False), wanted)
    assert fingerprint(twin.X) == before


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint8, np.uint16])
@pytest.mark.parametrize("format", ["csr", "dense"])
def test_whole_number_types(dtype, format):
    adata = cells()
    counts = np.expm1(adata.X.toarray()).round()
    stored = np.array if format == "dense" else sparse.csr_matrix
    wanted, adata = (ad.AnnData(stored(counts.astype(kind))) for kind in (np.float64, dtype))
    for one in (wanted, adata):
        with pytest.warns(UserWarning, match="raw counts"):
            tamis.select_genes(one, 7, n_clusters=4)
    assert np.allclose(adata.var["tamis_score"], wanted.var["tamis_score"], rtol=1e-6)


def test_layers():
    adata, other = cells(seed=1), cells()
    adata.layers["log"] = other.X
    quietly(adata, 7, layer="log")
    quietly(other, 7)
    pd.testing.assert_frame_equal(adata.var, other.var)
    assert adata.uns["tamis"]["layer"] == "log" and "layer" not in other.uns["tamis"]
    refused(cells(), "layer = 'counts'", layer="counts")
    adata.layers["log"].data[3] = np.inf
    with pytest.raises(ValueError, match="layer 'log', row 0"):
        tamis.select_genes(adata, 7, layer="log")


def test_raw_is_not_looked_at():
    adata = cells()
    adata.raw = cells(seed=1)
    quietly(adata, 7)
    twin = cells()
    quietly(twin, 7)
    pd.testing.assert_frame_equal(adata.var, twin.var)
    assert list(adata.raw.var.columns) == []


def test_views():
    parent = cells()
    view = parent[10:200, 3:]
    twin = parent[10:200, 3:].copy()
    assert view.is_view
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # anndata tells that the view becomes a copy
        tamis.select_genes(view, 7, method="ufcm", n_clusters=4)
    quietly(twin, 7)
    pd.testing.assert_frame_equal(view.var, twin.var)
    assert list(parent.var.columns) == [] and "tamis" not in parent.uns


@pytest.mark.parametrize("format", ["csr", "dense"])
@pytest.mark.parametrize("batch_key", [None, "batch"])
@pytest.mark.parametrize("method", ["ufcm", "lapscore", "css", "ndfs"])
def test_backed_files(format, batch_key, method, tmp_path, monkeypatch):
    cells(format=format).write_h5ad(tmp_path / "in.h5ad")
    backed = ad.read_h5ad(tmp_path / "in.h5ad", backed="r")
    if format == "csr":
        monkeypatch.setattr(type(backed.X), "to_memory", lambda *_: pytest.fail("read as a whole"))
    clusters = {"n_clusters": 4} if method in ("ufcm", "ndfs") else {}
    twin = cells(format=format)
    for one in (backed, twin):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tamis.select_genes(one, 7, batch_key=batch_key, method=method, exclude=["gene3"], **clusters)
    pd.testing.assert_frame_equal(backed.var[COLUMNS], twin.var[COLUMNS], check_exact=True)
    assert backed.isbacked
    backed.file.close()


def test_backed_files_by_columns_are_refused(tmp_path):
    cells(format="csc").write_h5ad(tmp_path / "in.h5ad")
    backed = ad.read_h5ad(tmp_path / "in.h5ad", backed="r")
    refused(backed, "stored by columns (CSC) in 'in.h5ad'", "adata.to_memory()", "tocsr()")
    backed.file.close()


def test_many_rows_on_disk_for_methods_that_read_them_often(tmp_path, monkeypatch):
    adata = many_cells("csr")
    adata.write_h5ad(tmp_path / "in.h5ad")
    backed = ad.read_h5ad(tmp_path / "in.h5ad", backed="r")
    monkeypatch.setattr("tamis._backed._PIECE_BYTES", 1)
    seen = []
    kind = type(backed.X)
    monkeypatch.setattr(kind, "__getitem__", _noting(kind.__getitem__, seen))
    for one in (adata, backed):
        tamis.select_genes(one, 9, method="ufcm", n_clusters=4)
    assert max(seen) <= 2048 and sum(seen) == 9000, "each row is read once, and not with all others"
    pd.testing.assert_frame_equal(backed.var, adata.var)
    backed.file.close()


def test_key_added():
    adata, plain = cells(), cells()
    quietly(adata, 7, key_added="highly_variable")
    quietly(plain, 7)
    assert list(adata.var["highly_variable"]) == list(plain.var["tamis_selected"]) and adata.var["highly_variable"].dtype == bool
    np.testing.assert_array_equal(adata.var["highly_variable_rank"], plain.var["tamis_rank"])
    np.testing.assert_array_equal(adata.var["highly_variable_score"], plain.var["tamis_score"])
    quietly(adata, 5, key_added="other")
    about = adata.uns["tamis_highly_variable"]
    assert about["key_added"] == "highly_variable" and about["n_top"] == 7 and adata.uns["tamis_other"]["n_top"] == 5
    assert "tamis" not in adata.uns and not [c for c in adata.var if c.startswith("tamis")]
    guided = tamis.select_genes(cells(), 7, key_added="hv", inplace=False)
    assert {"hv", "hv_score", "hv_rank", "hv_share", "hv_evidence"} == set(guided.columns)
    for wrong in ("", 3, "a/b"):
        refused(cells(), "key_added", key_added=wrong)


def test_gene_symbols():
    adata = cells()
    adata.var["symbol"] = [f"SYM{j}" for j in range(adata.n_vars)]
    adata.var.loc["gene9", "symbol"] = "SYM8"
    quietly(adata, 7, include=["SYM20"], exclude=["SYM8"], gene_symbols="symbol")
    assert adata.var.loc["gene20", "tamis_selected"] and adata.var.loc[["gene8", "gene9"], "tamis_score"].isna().all()
    adata.var = adata.var[["symbol"]]
    refused(adata, "'SYM99' not among", "symbol", include=["SYM99"], gene_symbols="symbol")
    refused(adata, "gene_symbols = 'nosuch' is not a column of .var", gene_symbols="nosuch")
    refused(adata, "did you mean 'gene12'", exclude=["gene_12"])


def many_cells(format, n=9000, d=40, seed=5):
    """More rows than a block of the core, and than the sample of guided."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 3.0 * rng.integers(0, 4, n)[:, None] * (np.arange(d) < 12)
    X = np.where(np.abs(X) > 1.2, X, 0.0).astype(np.float32)
    kind = {"csr": sparse.csr_matrix, "csc": sparse.csc_matrix, "dense": np.asarray}[format]
    adata = ad.AnnData(kind(X))
    adata.obs["batch"] = rng.choice(["a", "b"], n)
    return adata


@pytest.mark.parametrize("format", ["csr", "dense"])
@pytest.mark.parametrize("batch_key", [None, "batch"])
@pytest.mark.parametrize("method", ["guided", "maxvar"])
def test_rows_of_a_file_have_the_bits_of_rows_in_memory(format, batch_key, method, tmp_path, monkeypatch):
    monkeypatch.setattr("tamis._backed._PIECE_BYTES", 1)  # a block at a time: several pieces, a tree of merges
    adata = many_cells(format)
    adata.write_h5ad(tmp_path / "in.h5ad")
    backed = ad.read_h5ad(tmp_path / "in.h5ad", backed="r")
    exclude = list(adata.var_names[[3, 30]])
    for one in (adata, backed):
        tamis.select_genes(one, 9, method=method, batch_key=batch_key, include=["5"], exclude=exclude, random_state=3)
    pd.testing.assert_frame_equal(backed.var, adata.var)
    backed.file.close()


def test_a_file_is_never_in_memory_as_a_whole(tmp_path, monkeypatch):
    many_cells("csr").write_h5ad(tmp_path / "in.h5ad")
    backed = ad.read_h5ad(tmp_path / "in.h5ad", backed="r")
    monkeypatch.setattr("tamis._backed._PIECE_BYTES", 1)
    seen = []
    kind = type(backed.X)
    monkeypatch.setattr(kind, "to_memory", lambda *_: pytest.fail("read as a whole"))
    monkeypatch.setattr(kind, "__getitem__", _noting(kind.__getitem__, seen))
    tamis.select_genes(backed, "auto")
    assert max(seen) <= 2048 and sum(seen) == 2048 + 9000  # the first rows twice: where the columns lie
    backed.file.close()


def _noting(read, seen):
    def noted(self, rows):
        seen.append(rows.stop - rows.start)
        return read(self, rows)

    return noted


@pytest.mark.parametrize("batch_key", [None, "batch"])
def test_what_is_wrong_in_a_file_is_said_as_of_memory(batch_key, tmp_path):
    adata = many_cells("csr")
    adata.X.data[-1] = np.nan
    adata.write_h5ad(tmp_path / "in.h5ad")
    backed = ad.read_h5ad(tmp_path / "in.h5ad", backed="r")
    said = []
    for one in (adata, backed):
        with pytest.raises(ValueError, match="row 8999 .*need finite numbers") as error:
            tamis.select_genes(one, 5, batch_key=batch_key)
        said.append(str(error.value))
    assert said[0] == said[1]
    backed.file.close()


def test_raw_counts_in_a_file_are_noticed(tmp_path):
    rng = np.random.default_rng(0)
    ad.AnnData(rng.poisson(2.0, (300, 60)).astype(np.float32)).write_h5ad(tmp_path / "in.h5ad")
    backed = ad.read_h5ad(tmp_path / "in.h5ad", backed="r")
    with pytest.warns(UserWarning, match="looks like raw counts"):
        tamis.select_genes(backed, 5)
    assert "raw counts" in " ".join(backed.uns["tamis"]["warnings"])
    backed.file.close()


@pytest.mark.parametrize("format", ["csr", "csc", "dense"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_values_that_are_no_numbers(format, value):
    X = cells(format="dense").X
    X[150, 12] = value
    adata = cells()
    adata.X = X if format == "dense" else sparse.csr_matrix(X).asformat(format)
    for batch_key in (None, "batch"):
        refused(adata, "row 150 ('150')", "column 12 ('gene12')", str(value), batch_key=batch_key, exclude=["gene1"])
    quietly(adata, 7, exclude=["gene12"])


def test_what_is_no_table_of_cells():
    refused(np.eye(5), "ndarray", "AnnData", kind=TypeError)
    refused(cells()[:0].copy(), "0 rows, need at least 2")
    refused(cells()[:1].copy(), "1 row, need at least 2")
    refused(ad.AnnData(obs=pd.DataFrame(index=list("abc")), var=pd.DataFrame(index=list("defghi"))), "NoneType")
    refused(cells()[:3].copy(), "n_clusters = 4", "n = 3")
    refused(ad.AnnData(sparse.csr_matrix(np.ones((20, 6)))), "no variation")
    refused(cells()[:, :0].copy(), "n_top = 5", "0")


# --- Raw counts -------------------------------------------------------------------------------------------------------


def counts_table(values):
    return ad.AnnData(sparse.csr_matrix(np.asarray(values, dtype=np.float32)))


@pytest.mark.parametrize("format", ["csr", "dense"])
def test_raw_counts_are_told(format):
    rng = np.random.default_rng(0)
    counts = rng.poisson(rng.gamma(0.3, 1.0, 30), (50, 30)).astype(np.float32)
    assert counts.max() > 2
    adata = ad.AnnData(counts if format == "dense" else sparse.csr_matrix(counts))
    with pytest.warns(UserWarning) as caught:
        tamis.select_genes(adata, 7)
    message = str(caught[0].message)
    assert "normalize_total(adata, target_sum=1e4)" in message and "scanpy.pp.log1p(adata)" in message
    assert caught[0].filename == __file__
    assert adata.uns["tamis"]["warnings"][0] == message


def test_what_are_no_counts():
    rng = np.random.default_rng(0)
    counts = rng.poisson(1.0, (50, 30))
    for values in (np.minimum(counts, 1), np.minimum(counts, 2), counts - 1.0, counts + 0.5 * (counts > 2)):
        quietly(counts_table(values), 7)


def looks_like_counts(X):
    look = _genes._Look(ad.AnnData(X), np.zeros(X.shape[1], dtype=bool), "X")
    look(np.arange(X.shape[0]), X)
    return bool(look.warnings())


def test_rows_that_are_looked_at():
    """1000 rows evenly apart, the first and the last among them; all of 1000."""
    X = sparse.csr_matrix(np.full((1000, 1), 3.0))
    assert looks_like_counts(X)
    for row in (0, 1, 500, 999):
        changed = X.copy()
        changed.data[row] = 0.5
        assert not looks_like_counts(changed)
    long = sparse.csr_matrix(np.full((5000, 1), 3.0))
    long.data[4999] = 0.5
    assert not looks_like_counts(long)


# --- Files and modules ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch_key", [None, "batch"])
def test_result_survives_a_file(batch_key, tmp_path):
    adata = cells()
    adata.obs["batch"] = ["tiny/1"] * 2 + ["a"] * 118 + ["b"] * 120
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tamis.select_genes(
            adata, 7, method="ufcm", batch_key=batch_key, exclude=["gene3"], random_state=2**64 - 1, max_iter=1
        )
    adata.write_h5ad(tmp_path / "out.h5ad")
    back = ad.read_h5ad(tmp_path / "out.h5ad")
    pd.testing.assert_frame_equal(back.var, adata.var)
    assert_same(back.uns["tamis"], adata.uns["tamis"])
    about = back.uns["tamis"]
    assert about["version"] == tamis.__version__ and about["n_top"] == 7 and about["random_state"] == 2**64 - 1
    assert about["params"]["max_iter"] == 1 and "beta" not in about["params"]
    assert about["resolved"]["beta"].shape == (2 if batch_key else 1,)
    assert any("not converged" in message for message in about["warnings"])


def assert_same(one, other):
    assert type(one) is type(other) or np.isscalar(one) and np.isscalar(other)
    if isinstance(one, dict):
        assert set(one) == set(other)
        for key in one:
            assert_same(one[key], other[key])
    else:
        assert np.array_equal(one, other)


def test_empty_warnings_survive_a_file(tmp_path):
    adata = cells()
    quietly(adata, 7)
    adata.write_h5ad(tmp_path / "out.h5ad")
    assert list(ad.read_h5ad(tmp_path / "out.h5ad").uns["tamis"]["warnings"]) == []


def test_stopping_early_is_a_convergence_warning():
    from sklearn.exceptions import ConvergenceWarning

    for batch_key in (None, "batch"):
        with pytest.warns(ConvergenceWarning):
            tamis.select_genes(cells(), 7, method="ufcm", n_clusters=4, max_iter=1, batch_key=batch_key)


def test_anndata_and_pandas_load_on_use():
    """scikit-learn may bring pandas by itself."""
    program = (
        "import sys, sklearn.feature_selection; before = set(sys.modules); import tamis; tamis.select_genes; "
        "print(sorted({'anndata', 'pandas', 'matplotlib'} & (set(sys.modules) - before)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_guide(monkeypatch, tmp_path):
    """The code of the guide, in order, in one namespace."""
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", GUIDE.read_text(), flags=re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 4
    namespace = {}
    for block in blocks:
        exec(compile(block, str(GUIDE), "exec"), namespace)


def test_documentation_names_the_methods_that_have_it():
    text = " ".join(inspect.getdoc(tamis.select_genes).split())
    methods = _core.methods()
    graph = [method["name"] for method in methods if method["graph_options"]]
    assert f"Graph of the cells that {', '.join(graph[:-1])} and {graph[-1]} use" in text
    assert f"for a method that uses them ({', '.join(method['name'] for method in methods if method['weighs'])})" in text
