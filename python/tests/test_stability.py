"""How stable a selection is, through every Python door: the numbers of the command, to the last bit."""

import json
import pickle
import subprocess

import numpy as np
import pytest
from conftest import NATIVE, SELECTORS, make, planted
from scipy import sparse
from sklearn.base import clone

import tamis

pytestmark = pytest.mark.filterwarnings("ignore")
BY_FEATURE = ("frequency", "mean_rank", "rank_low", "rank_high")
NUMBERS = (*BY_FEATURE, "consensus", "counts", "index", "variance", "interval", "runs", "rows", "by")
SEEDLESS = ("MaxVariance", "CSS", "UDFS")
X = planted(n=160, d=20, c=4, informative=8)


def same(a, b):
    for name in NUMBERS:
        np.testing.assert_array_equal(a[name], b[name], err_msg=name)


def command(path, *words):
    done = subprocess.run([NATIVE, "select", path, "--json", "--quiet", *map(str, words)], capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


def selector(name, **options):
    return make(name, n_features_to_select=5, redundancy=None, **options)


def test_seeds_are_fits_with_the_next_seeds(name):
    fit = selector(name, random_state=3, seeds=4)
    if SELECTORS[name].__name__ in SEEDLESS:
        with pytest.raises(ValueError, match="does not depend on the seed, so seeds would say nothing; use resample=4"):
            fit.fit(X)
        return
    fit.fit(X)
    runs = [selector(name, random_state=seed).fit(X) for seed in range(3, 7)]
    np.testing.assert_array_equal(fit.scores_, runs[0].scores_)
    np.testing.assert_array_equal(fit.get_support(), runs[0].get_support())
    ranks = np.array([run.ranking_ for run in runs])
    np.testing.assert_array_equal(fit.stability_.frequency, np.mean([run.get_support() for run in runs], axis=0))
    np.testing.assert_array_equal(fit.stability_.mean_rank, ranks.mean(axis=0))
    np.testing.assert_array_equal(fit.stability_.rank_low, ranks.min(axis=0))
    np.testing.assert_array_equal(fit.stability_.rank_high, ranks.max(axis=0))
    np.testing.assert_array_equal(fit.stability_.consensus, np.argsort(ranks.sum(axis=0), kind="stable"))
    assert not hasattr(runs[0], "stability_")


@pytest.mark.skipif(not NATIVE.is_file(), reason=f"no native command at {NATIVE} (make build, or TAMIS_NATIVE)")
@pytest.mark.parametrize("words", [{"resample": 5}, {"seeds": 3}])
def test_as_the_command_has_it(tmp_path, name, words):
    if "seeds" in words and SELECTORS[name].__name__ in SEEDLESS:
        return
    np.save(tmp_path / "a.npy", X)
    fit = make(name, n_features_to_select=5, random_state=2, n_jobs=1, **words).fit(X)
    flags = [word for key, value in words.items() for word in (f"--{key}", value)]
    printed = command(tmp_path / "a.npy", "-m", name, "-c", 3, "-k", 5, "--seed", 2, *flags)["stability"]
    same(fit.stability_, printed)
    assert fit.stability_.text


def test_sparse_rows_are_halved_too():
    thin = np.where(np.abs(X) > 1, X, 0)
    dense, rows = (tamis.MaxVariance(5, resample=6).fit(one).stability_ for one in (thin, sparse.csr_matrix(thin)))
    np.testing.assert_array_equal(dense.frequency, rows.frequency)


def test_rows_on_disk(tmp_path):
    np.save(tmp_path / "tall.npy", planted(n=5000))
    table = tamis.read(tmp_path / "tall.npy", on_disk=True)
    same(tamis.UFCM(4, 3, resample=3).fit(table.X).stability_, tamis.UFCM(4, 3, resample=3).fit(planted(n=5000)).stability_)


def test_labels_and_initial_labels_follow_the_rows():
    y = np.arange(160) % 4
    assert tamis.UFCM(5, 4, supervised=True, resample=3).fit(X, y).stability_.rows == 80
    assert tamis.NDFS(5, 4, init=np.eye(4)[y], resample=3).fit(X).stability_.rows == 80


def test_columns_left_out_for_missing_values():
    holes = X.copy()
    holes[3, 2] = np.nan
    fit = tamis.UFCM(5, 4, missing="drop-columns", resample=4).fit(holes)
    twin = tamis.UFCM(5, 4, resample=4).fit(np.delete(X, 2, axis=1))
    kept = np.delete(np.arange(20), 2)
    for name in BY_FEATURE:
        np.testing.assert_array_equal(fit.stability_[name][kept], twin.stability_[name])
    np.testing.assert_array_equal(fit.stability_.consensus, kept[twin.stability_.consensus])
    assert np.isnan(fit.stability_.frequency[2]) and fit.stability_.rank_low[2] == -1


def test_all_features_selected():
    fit = tamis.UFCM(n_clusters=4, resample=3).fit(X)
    assert fit.stability_.index is None and fit.stability_.interval is None and (fit.stability_.frequency == 1).all()


def test_copies_and_later_fits():
    fit = tamis.UFCM(5, 4, resample=3).fit(X)
    assert clone(fit).get_params()["resample"] == 3
    same(pickle.loads(pickle.dumps(fit)).stability_, fit.stability_)
    assert not hasattr(fit.set_params(resample=None).fit(X), "stability_")


@pytest.mark.parametrize("wanted", [0, 1, -1, 1001, 2.0, "2", True, 10**30, [3]])
@pytest.mark.parametrize("key", ["seeds", "resample"])
def test_hostile_numbers(key, wanted):
    with pytest.raises(ValueError, match=f"{key} = .*2..1000") as caught:
        tamis.UFCM(5, 4, **{key: wanted}).fit(X)
    assert len(str(caught.value).splitlines()) == 1


def test_what_does_not_go_together():
    with pytest.raises(ValueError, match="seeds and resample: need one of them, not both"):
        tamis.UFCM(5, 4, seeds=2, resample=2).fit(X)
    with pytest.raises(ValueError, match="resample needs at least 4 rows"):
        tamis.MaxVariance(2, resample=2).fit(X[:3])


# --- Dask ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [{"resample": 3}, {"seeds": 2}])
@pytest.mark.parametrize("chunks", [2048, 3000, 700])
def test_on_dask_the_same_bits(words, chunks):
    da = pytest.importorskip("dask.array")
    tall = planted(n=9001)
    fit = tamis.dask.UFCM(4, 3, **words).fit(da.from_array(tall, chunks=(chunks, -1)))
    twin = tamis.UFCM(4, 3, **words).fit(tall)
    same(fit.stability_, twin.stability_)
    assert fit.report_["passes"] == twin.report_["passes"] and fit.report_["requests"] > 0


def test_on_dask_with_sparse_chunks_and_frames():
    da = pytest.importorskip("dask.array")
    dd = pytest.importorskip("dask.dataframe")
    pandas = pytest.importorskip("pandas")
    tall = planted(n=5000)
    thin = np.where(np.abs(tall) > 1, tall, 0)
    lazy = da.from_array(thin, chunks=(1500, -1)).map_blocks(sparse.csr_matrix)
    twin = tamis.MaxVariance(4, resample=3).fit(sparse.csr_matrix(thin))
    same(tamis.dask.MaxVariance(4, resample=3).fit(lazy).stability_, twin.stability_)
    frame = dd.from_pandas(pandas.DataFrame(tall, columns=[f"c{j}" for j in range(12)]), npartitions=3)
    same(tamis.dask.GuidedUFCM(4, resample=2).fit(frame).stability_, tamis.GuidedUFCM(4, resample=2).fit(tall).stability_)


def test_on_dask_what_cannot_be():
    da = pytest.importorskip("dask.array")
    with pytest.raises(ValueError, match="MaxVariance does not depend on the seed"):
        tamis.dask.MaxVariance(4, seeds=2).fit(da.from_array(X, chunks=(50, -1)))


# --- Genes -----------------------------------------------------------------------------------------------------------


def cells():
    ad = pytest.importorskip("anndata")
    adata = ad.AnnData(np.abs(X).astype(np.float32))
    adata.var_names = [f"gene{j}" for j in range(20)]
    adata.obs["batch"] = np.array(["a", "b"])[np.arange(160) % 2]
    return adata


def test_genes(tmp_path):
    adata = cells()
    tamis.select_genes(adata, 5, method="ufcm", n_clusters=4, exclude=["gene3"], resample=4)
    twin = tamis.UFCM(5, 4, resample=4).fit(np.delete(adata.X, 3, axis=1)).stability_
    kept = np.delete(np.arange(20), 3)
    for name in ("frequency", "rank_low", "rank_high"):
        np.testing.assert_array_equal(adata.var["tamis_" + name].to_numpy()[kept], twin[name])
        assert np.isnan(adata.var["tamis_" + name].iloc[3])
    about = adata.uns["tamis"]["stability"]
    assert about["index"] == twin.index and tuple(about["interval"]) == twin.interval and about["by"] == "resample"
    adata.write_h5ad(tmp_path / "out.h5ad")
    frame = tamis.select_genes(adata, 5, method="ufcm", n_clusters=4, inplace=False)
    assert "tamis_frequency" not in frame


@pytest.mark.parametrize("method, words", [("maxvar", {"resample": 3}), ("guided", {"seeds": 2}), ("guided", {"resample": 2})])
def test_genes_of_a_backed_file(tmp_path, method, words):
    ad = pytest.importorskip("anndata")
    adata = cells()
    adata.X = sparse.csr_matrix(np.where(adata.X > 1, adata.X, 0))
    adata.write_h5ad(tmp_path / "in.h5ad")
    backed = ad.read_h5ad(tmp_path / "in.h5ad", backed="r")
    a = tamis.select_genes(backed, 5, method=method, inplace=False, **words)
    b = tamis.select_genes(adata, 5, method=method, inplace=False, **words)
    assert a.equals(b) and "tamis_frequency" in a
    backed.file.close()


def test_genes_by_batch_are_refused():
    for key in ("seeds", "resample"):
        with pytest.raises(ValueError, match=f"select_genes: {key} with batch_key"):
            tamis.select_genes(cells(), 5, method="ufcm", n_clusters=4, batch_key="batch", **{key: 3})
