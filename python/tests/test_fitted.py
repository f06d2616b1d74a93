"""What a fitted selector tells: to_frame, predict and cluster means, pages, notebooks."""

import builtins
import copy
import pickle
import re
import subprocess

import numpy as np
import pandas as pd
import polars as pl
import pytest
from conftest import NATIVE, SELECTORS, make, planted
from scipy import sparse
from sklearn.exceptions import NotFittedError

import tamis

pytestmark = pytest.mark.filterwarnings("ignore")

N, D = 150, 12
X = planted(N, D, seed=5)
NAMES = [f"col{j}" for j in range(D)]
FRAME = pd.DataFrame(X, columns=NAMES)
PREDICT = [method["name"] for method in tamis._core.methods() if method["metric"]]
HOSTILE = ["<script>alert(1)</script>", "{{7*7}}", "=cmd", "../../x", "\x1b[31mred", "a\"b'c&", "", "x" * 500]


# --- Tables of features ----------------------------------------------------------------------------------------------


def test_to_frame(name):
    selector = make(name, n_features_to_select=4, exclude=["col2"]).fit(FRAME)
    frame = selector.to_frame()
    assert list(frame.columns[:5]) == ["rank", "index", "name", "score", "selected"]
    assert list(frame["rank"]) == list(range(1, D + 1)) and sorted(frame["index"]) == list(range(D))
    assert list(frame["name"]) == [NAMES[j] for j in frame["index"]]
    assert set(frame["name"][frame["selected"]]) == set(selector.get_feature_names_out())
    np.testing.assert_array_equal(frame["score"], selector.scores_[frame["index"]])
    assert frame["name"].iloc[-1] == "col2" and np.isnan(frame["score"].iloc[-1])
    clusters = [one for one in frame.columns if one.startswith("cluster_")]
    assert len(clusters) == (len(set(selector.labels_)) if hasattr(selector, "labels_") else 0)
    for k, one in enumerate(clusters):
        wanted = X[selector.labels_ == k].mean(axis=0)
        wanted[2] = np.nan
        np.testing.assert_allclose(frame[one], wanted[frame["index"]], rtol=1e-12)
    assert list(make(name).fit(X).to_frame()["name"]) == [f"x{j}" for j in make(name).fit(X).to_frame()["index"]]


CSV_COLUMNS = ["rank", "index", "name", "score", "selected", "share", "evidence", "representative", "r2", "redundancy_group",
               "group", "frequency", "rank_low", "rank_high"]  # fmt: skip


@pytest.mark.parametrize("grouped", [False, True], ids=["columns", "groups"])
def test_to_frame_has_what_ranking_csv_has(tmp_path, grouped):
    frame = FRAME.assign(copy=X[:, 0] + 0.01 * planted(N, D, seed=6)[:, 1], other=-X[:, 1])
    frame.to_csv(tmp_path / "x.csv", index=False)
    words = ["-k", "3", "--exclude", "col5", "--resample", "3", "-o", tmp_path / "out"]
    more = {}
    if grouped:
        (tmp_path / "groups.csv").write_text("col0,first\ncol1,first\n")
        words, more = [*words, "--groups", tmp_path / "groups.csv"], {"groups": {"col0": "first", "col1": "first"}}
    subprocess.run([NATIVE, "select", tmp_path / "x.csv", *words], check=True, capture_output=True)
    wanted = pd.read_csv(tmp_path / "out" / "ranking.csv").drop(columns="column")
    found = tamis.GuidedUFCM(3, exclude=["col5"], resample=3, **more).fit(frame).to_frame()
    found = found[[one for one in found.columns if not one.startswith("cluster_")]]
    there = [one for one in CSV_COLUMNS if grouped or one != "redundancy_group"]
    assert list(found.columns) == list(wanted.columns) == there
    assert found["name"].iloc[-1] == "col5"  # not in the file
    pd.testing.assert_frame_equal(found[:-1].astype({"selected": int}), wanted, check_dtype=False, rtol=1e-9)


def test_without_pandas(monkeypatch):
    selector, found = tamis.UFCM(3, n_clusters=3).fit(FRAME), builtins.__import__
    wanted = selector.to_frame()

    def without(*packages):
        def importing(name, *rest, **keywords):
            if name in packages:
                raise ImportError(name)
            return found(name, *rest, **keywords)

        monkeypatch.setattr(builtins, "__import__", importing)

    without("pandas")
    frame = selector.to_frame()
    assert isinstance(frame, pl.DataFrame) and frame["name"].to_list() == list(wanted["name"])
    without("pandas", "polars")
    with pytest.raises(ImportError, match="neither pandas nor Polars is installed"):
        selector.to_frame()


# --- Clusters --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", ["none", "standard", "minmax", "unit"])
@pytest.mark.parametrize("method", PREDICT)
def test_predict_gives_the_labels_of_the_fit(method, scale):
    for table in (X, X + 1e6, sparse.csr_matrix(np.where(np.abs(X) > 1, X, 0))):
        selector = make(method, scale=scale, exclude=[1], max_iter=200).fit(table)
        np.testing.assert_array_equal(selector.predict(table), selector.labels_)
        np.testing.assert_array_equal(selector.predict(table[:7]), selector.labels_[:7])
        again = pickle.loads(pickle.dumps(selector))
        np.testing.assert_array_equal(again.predict(table), selector.labels_)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix, sparse.csc_matrix])
def test_predict_names_the_first_value_that_is_missing(kind):
    rows = X.copy()
    rows[[7, 9], [4, 0]] = np.nan
    with pytest.raises(ValueError, match=r"UFCM.predict: X, row 7, column 4: NaN, need finite numbers \(2 such values in all\)"):
        make("ufcm", exclude=[1]).fit(X).predict(kind(rows))
    with pytest.raises(ValueError, match="row 7, column 'col4'"):
        make("ufcm").fit(FRAME).predict(pd.DataFrame(rows, columns=NAMES))


@pytest.mark.parametrize("method", PREDICT)
def test_predict_is_the_nearest_mean_of_the_metric(method):
    selector, other = make(method).fit(X), planted(80, D, seed=9)
    A = selector.components_.T @ selector.components_ if method == "ufcm" else np.diag(selector.scores_)
    away = other[:, None, :] - selector.cluster_means_[None]
    wanted = np.einsum("nkd,de,nke->nk", away, A, away).argmin(axis=1)
    np.testing.assert_array_equal(selector.predict(other), wanted)
    if method == "ufcm":
        points = (other - X.mean(axis=0)) @ selector.components_.T
        nearest = ((points[:, None] - selector.cluster_centers_[None]) ** 2).sum(axis=2).argmin(axis=1)
        np.testing.assert_array_equal(selector.predict(other), nearest)


@pytest.mark.parametrize("method", PREDICT)
def test_predict_of_frames_with_text_and_missing_columns(method):
    table = FRAME.assign(col4=[f"word{i}" for i in range(N)])
    table.loc[3, "col7"] = np.nan
    selector = make(method, exclude=["col4"], missing="drop-columns", max_iter=200).fit(table)
    np.testing.assert_array_equal(selector.predict(table), selector.labels_)
    table.loc[5, "col0"] = np.nan
    with pytest.raises(ValueError, match="row 5, column .col0.: NaN"):
        selector.predict(table)
    with pytest.raises(ValueError, match="feature names"):
        selector.predict(table.rename(columns={"col0": "other"}))


def test_predict_is_refused_where_clusters_come_otherwise(name):
    selector = make(name).fit(X)
    assert hasattr(selector, "predict") == (name in PREDICT)
    if name not in PREDICT:
        with pytest.raises(AttributeError, match="predict"):
            selector.predict(X)


def test_predict_on_dask():
    da = pytest.importorskip("dask.array")
    rows = planted(n=5000, d=D)
    selector = tamis.dask.UFCM(4, n_clusters=3).fit(da.from_array(rows, chunks=(2048, -1)))
    same = tamis.UFCM(4, n_clusters=3).fit(rows)
    np.testing.assert_array_equal(selector.cluster_means_, same.cluster_means_)
    np.testing.assert_array_equal(selector.predict(da.from_array(rows, chunks=(999, 5))), same.predict(rows))
    np.testing.assert_array_equal(selector.predict(rows), same.labels_)


def test_nothing_of_an_earlier_fit_is_left():
    selector = tamis.GuidedUFCM(sample_size=60).fit(X[:60])
    assert hasattr(selector, "cluster_means_")
    assert not hasattr(selector.fit(X), "cluster_means_"), "the clusters of the other rows are not known"


# --- Pages -----------------------------------------------------------------------------------------------------------


def parts_of(page):
    """The page without what differs from run to run: times, memory, the path of the table."""
    page = re.sub(r"data:image/png;base64,[^\"]+", "", page)
    return re.findall(r"<h2[^>]*>.*?</h2>|<h3[^>]*>.*?</h3>|<td[^>]*>[^<]*</td>", page)


@pytest.mark.skipif(not NATIVE.is_file(), reason=f"no native command at {NATIVE} (make build, or TAMIS_NATIVE)")
@pytest.mark.parametrize("method", ["guided", "ufcm", "maxvar"])
def test_the_page_is_the_command_s(method, tmp_path):
    FRAME.to_csv(tmp_path / "x.csv", index=False, float_format="%.17g")
    clusters = ["-c", "3"] if method != "maxvar" else []
    words = [NATIVE, "select", tmp_path / "x.csv", "-m", method, "-k", "4", *clusters, "-o", tmp_path / "out", "--quiet"]
    subprocess.run([*words, "--exclude", "col9"], check=True, capture_output=True, timeout=60)
    selector = make(method, n_features_to_select=4, exclude="col9").fit(tamis.read(tmp_path / "x.csv"))
    assert selector.report(tmp_path / "mine.html", tamis.read(tmp_path / "x.csv")) is selector
    mine, theirs = ((tmp_path / one).read_text() for one in ("mine.html", "out/report.html"))
    assert parts_of(mine) == parts_of(theirs) and len(parts_of(mine)) > 10


def test_pages_of_every_method(name, tmp_path):
    table = FRAME.assign(col4="text")
    table.loc[3, "col7"] = np.nan
    selector = make(name, n_features_to_select=3, exclude=["col4"], missing="drop-columns", scale="standard").fit(table)
    selector.report(tmp_path / "page.html")
    first = (tmp_path / "page.html").read_bytes()
    assert b'content="tamis ' in first and b"col0" in first
    selector.report(str(tmp_path / "page.html"))  # replaces its own
    assert tamis.report(selector, tmp_path / "page.html") is selector
    assert [one.name for one in tmp_path.iterdir()] == ["page.html"]


def test_page_of_a_table(tmp_path):
    selector = tamis.report(FRAME, tmp_path / "page.html")
    assert isinstance(selector, tamis.GuidedUFCM) and (tmp_path / "page.html").is_file()
    tamis.UFCM(4, n_clusters=3).fit(X).report(tmp_path / "image.html", X, image="3x4")
    with pytest.raises(ValueError, match="image = 5x5"):
        selector.report(tmp_path / "image.html", image="5x5")


def test_pages_that_cannot_be_written(tmp_path):
    selector, path = tamis.MaxVariance(3).fit(X), tmp_path / "page.html"
    path.write_text("mine")
    with pytest.raises(ValueError, match="was not written by tamis"):
        selector.report(path)
    assert path.read_text() == "mine"
    with pytest.raises(ValueError, match="is not a file"):
        selector.report(tmp_path)
    with pytest.raises(OSError):
        selector.report(tmp_path / "none" / "page.html")
    with pytest.raises(NotFittedError):
        tamis.MaxVariance().report(path)
    with pytest.raises(ValueError, match="X is 150 x 11, need the 150 x 12"):
        selector.report(tmp_path / "other.html", X[:, :11])
    for twin in (pickle.loads(pickle.dumps(selector)), copy.deepcopy(selector)):
        with pytest.raises(ValueError, match="fit it again"):
            twin.report(tmp_path / "other.html")
    gone = tamis.MaxVariance(3).fit(X.copy())
    with pytest.raises(ValueError, match="no longer in memory; pass them"):
        gone.report(tmp_path / "other.html")
    gone.report(tmp_path / "other.html", X)
    assert {one.name for one in tmp_path.iterdir()} == {"page.html", "other.html"}


# --- Notebooks and hostile names -------------------------------------------------------------------------------------


def test_notebooks_show_what_was_selected():
    selector = tamis.MaxVariance(3)
    assert "selected" not in selector._repr_mimebundle_()["text/html"].split("<style>")[0]
    selector.fit(FRAME)
    for text in (selector._repr_html_(), selector._repr_mimebundle_()["text/html"]):
        assert "MaxVariance selected 3 of 12 features" in text
        assert all(one in text for one in selector.get_feature_names_out())
    many = tamis.MaxVariance().fit(planted(60, 40))
    assert "and 20 more" in many._repr_html_()


def test_hostile_names(tmp_path):
    frame = pd.DataFrame(X[:, : len(HOSTILE)], columns=HOSTILE)
    selector = tamis.MaxVariance().fit(frame)
    text = selector._repr_html_()
    assert "<script" not in text and "\x1b" not in text and "&lt;script&gt;" in text and "x" * 100 not in text
    assert set(re.findall(r"<(\w+)", text)) <= {"div", "p", "table", "thead", "tbody", "tr", "th", "td"}
    selector.report(tmp_path / "page.html")
    assert "<script>alert" not in (tmp_path / "page.html").read_text()
    assert set(selector.to_frame()["name"]) == set(HOSTILE)


def test_every_selector_has_them():
    for selector in SELECTORS.values():
        assert all(hasattr(selector(), one) for one in ("to_frame", "report"))


def test_messages_name_the_file_that_was_asked_for(tmp_path):
    selector = make("maxvar").fit(X)
    with pytest.raises(FileNotFoundError, match="nodir/x.html'$"):
        selector.report(tmp_path / "nodir" / "x.html")
    with pytest.raises(ValueError, match=r"image = \(4,\), need \(height, width\)"):
        selector.report(tmp_path / "x.html", image=(4,))
    selector.report(tmp_path / "x.html", image=(3, 4))
    assert "Image of 3 x 4 pixels" in (tmp_path / "x.html").read_text()


def test_a_path_is_pointed_to_read(tmp_path):
    for path in ("table.csv", tmp_path / "table.csv"):
        shown = re.escape(f"pass tamis.read({str(path)!r})")
        for call in (make("ufcm").fit, tamis.report, tamis.compare, tamis.GuidedUFCM().fit_transform):
            with pytest.raises(ValueError, match=shown):
                call(path)


def test_weights_are_pointed_to_the_methods_that_use_them():
    with pytest.raises(TypeError, match="GuidedUFCM.fit got an unexpected argument 'sample_weight'; UFCM, .* have weights"):
        tamis.GuidedUFCM().fit(X, sample_weight=np.ones(N))
    with pytest.raises(TypeError, match="unexpected argument 'weights'$"):
        tamis.GuidedUFCM().fit(X, weights=np.ones(N))
