"""include, exclude and scale of the selectors: what the command's flags of the same names do, on X as it is."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import NATIVE, SELECTORS, make, planted
from scipy import sparse
from sklearn import clone
from sklearn.pipeline import make_pipeline
from test_doors import command

import tamis

pytestmark = pytest.mark.filterwarnings("ignore")

N, D = 120, 12
X = planted(N, D, seed=3)
NAMES = [f"col{j}" for j in range(D)]
FRAME = pd.DataFrame(X, columns=NAMES)
WITH_TEXT = FRAME.assign(col4=[f"word{i}" for i in range(N)], col7=pd.date_range("2020-01-01", periods=N))
SCALES = ["none", "standard", "minmax", "unit", "auto"]


def seen_alone(selector, other, seen):
    """`other` was fitted to the columns `seen` of the same table."""
    np.testing.assert_allclose(selector.scores_[seen], other.scores_, rtol=1e-12)
    rest = np.setdiff1d(np.arange(D), seen)
    assert np.isnan(selector.scores_[rest]).all() and not selector.get_support()[rest].any()
    assert sorted(selector.ranking_) == list(range(1, D + 1)) and selector.ranking_[rest].min() > len(seen)
    assert np.array_equal(selector.ranking_[seen], other.ranking_)
    for attribute in ("labels_", "components_", "cluster_centers_", "share_", "evidence_", "r2_"):
        assert hasattr(selector, attribute) == hasattr(other, attribute)
        if hasattr(other, attribute):
            mine, others = getattr(selector, attribute), getattr(other, attribute)
            mine = mine[..., seen] if mine.shape != others.shape else mine
            np.testing.assert_allclose(mine, others, rtol=1e-9, atol=1e-12)


def test_excluded_columns_are_never_seen(name):
    seen = np.array([0, 1, 2, 5, 6, 7, 8, 10, 11])
    other = make(name, n_features_to_select=4).fit(X[:, seen])
    for given in ([3, 4, 9], [9, 3, 3, 4], np.array([3, 4, 9]), np.isin(np.arange(D), [3, 4, 9])):
        seen_alone(make(name, n_features_to_select=4, exclude=given).fit(X), other, seen)
    by_name = make(name, n_features_to_select=4, exclude=["col9", "col3", 4]).fit(FRAME)
    seen_alone(by_name, other, seen)
    components = getattr(by_name, "components_", None)
    assert components is None or (components[:, [3, 4, 9]] == 0).all()


def test_excluded_columns_may_hold_anything(name):
    holes = X.copy()
    holes[5, 3] = np.nan
    other = make(name).fit(np.delete(X, 3, axis=1))
    seen_alone(make(name, exclude=3).fit(holes), other, np.delete(np.arange(D), 3))


@pytest.mark.parametrize("convert", [lambda frame: frame, pl.from_pandas, lambda frame: pa.Table.from_pandas(frame),
                                     lambda frame: pa.RecordBatch.from_pandas(frame)])  # fmt: skip
def test_excluded_text(convert):
    table, before = convert(WITH_TEXT), WITH_TEXT.copy()
    selector = tamis.UFCM(3, n_clusters=3, exclude=["col4", "col7"]).fit(table)
    seen = np.delete(np.arange(D), [4, 7])
    seen_alone(selector, tamis.UFCM(3, n_clusters=3).fit(X[:, seen]), seen)
    np.testing.assert_array_equal(selector.transform(table), X[:, selector.get_support()])
    pd.testing.assert_frame_equal(WITH_TEXT, before)
    assert selector.get_feature_names_out().tolist() == [NAMES[j] for j in np.flatnonzero(selector.get_support())]
    with pytest.raises(ValueError, match="col4"):
        tamis.UFCM(3, n_clusters=3, exclude=["col7"]).fit(table)


def test_output_frames_of_tables_with_text():
    selector = tamis.MaxVariance(3, exclude=["col4", "col7"]).set_output(transform="pandas")
    out = selector.fit_transform(WITH_TEXT)
    pd.testing.assert_frame_equal(out, WITH_TEXT.loc[:, selector.get_support()])


def test_included_columns_are_always_selected(name):
    plain = make(name, n_features_to_select=3).fit(X)
    worst = np.argsort(plain.ranking_)[-2:]
    selector = make(name, n_features_to_select=3, include=worst.tolist()).fit(X)
    assert selector.get_support()[worst].all() and selector.get_support().sum() == 3
    named = make(name, n_features_to_select=3, include=[NAMES[j] for j in worst]).fit(FRAME)
    assert np.array_equal(named.get_support(), selector.get_support())


@pytest.mark.skipif(not NATIVE.is_file(), reason=f"no native command at {NATIVE} (make build, or TAMIS_NATIVE)")
@pytest.mark.parametrize("scale", SCALES)
def test_same_numbers_as_the_command(name, scale, tmp_path):
    units = X * np.where(np.arange(D) % 2, 1, 1e3)
    pd.DataFrame(units, columns=NAMES).to_csv(tmp_path / "x.csv", index=False, float_format="%.17g")
    clusters = ["-c", 3] if "n_clusters" in make(name).get_params() else []
    # `--scale none` turns off what a method does by itself; the default of `scale` does not (docs/css.md).
    flags = ["--scale", scale] if scale != "none" else []
    flags += ["--exclude", "col2,col9", "--include", "col11"]
    printed = command(tmp_path / "x.csv", "-m", name, "-k", 4, *clusters, *flags)
    options = {"scale": scale, "exclude": ["col2", "col9"], "include": ["col11"]}
    selector = make(name, n_features_to_select=4, **options).fit(pd.read_csv(tmp_path / "x.csv", float_precision="round_trip"))
    assert [None if np.isnan(one) else one for one in selector.scores_] == printed["scores"]
    order = np.argsort(selector.ranking_)
    assert [j for j in order if selector.get_support()[j]] == printed["selected"]
    assert selector.report_["scale"] == printed["options"]["scale"]


def test_scaling_is_a_division(name):
    for kind, by in (("standard", X.std(axis=0, ddof=1)), ("minmax", np.ptp(X, axis=0)),
                     ("unit", np.linalg.norm(X, axis=1, keepdims=True))):  # fmt: skip
        own = {"standardize": False, "normalize": False} if name == "guided" else {}
        scaled = make(name, scale=kind, **own).fit(X)
        plain = make(name, **own).fit(X / by)
        if name in ("maxvar", "lapscore"):  # without decisions that rounding could change
            np.testing.assert_allclose(scaled.scores_, plain.scores_, rtol=1e-8, atol=1e-10)
        assert scaled.report_["scale"] == kind
        np.testing.assert_array_equal(scaled.transform(X), X[:, scaled.get_support()])


def test_sparse_rows():
    S = sparse.csr_matrix(np.where(np.abs(X) > 1, X, 0))
    selector = tamis.MaxVariance(4, exclude=[0], include=[11], scale="minmax").fit(S)
    dense = tamis.MaxVariance(4, exclude=[0], include=[11], scale="minmax").fit(S.toarray())
    np.testing.assert_allclose(selector.scores_, dense.scores_, rtol=1e-9)
    assert selector.get_support()[11] and not selector.get_support()[0] and sparse.issparse(selector.transform(S))


def test_patterns_as_in_the_command():
    selector = tamis.MaxVariance(exclude="col1*").fit(FRAME)
    assert np.flatnonzero(np.isnan(selector.scores_)).tolist() == [1, 10, 11]


def test_with_missing_values():
    holes = X.copy()
    holes[3, 2] = np.nan
    selector = tamis.MaxVariance(5, missing="drop-columns", exclude=[0, 2], include=[7]).fit(holes)
    seen = np.delete(np.arange(D), [0, 2])
    np.testing.assert_allclose(selector.scores_[seen], X[:, seen].var(axis=0, ddof=1), rtol=1e-12)
    assert np.isnan(selector.scores_[[0, 2]]).all() and selector.get_support()[7]
    with pytest.raises(ValueError, match="include: feature 'col2' has missing values, and missing = 'drop-columns'"):
        tamis.MaxVariance(missing="drop-columns", include="col2").fit(pd.DataFrame(holes, columns=NAMES))


@pytest.mark.parametrize("words, options, frame", [
    ("MaxVariance: exclude: no feature is named 'coll3'; did you mean 'col3'", {"exclude": ["coll3"]}, True),
    ("MaxVariance: include: no feature is named 'zzzzzz'", {"include": "zzzzzz"}, True),
    ("MaxVariance: exclude: 'col3', but X has no feature names, need positions", {"exclude": "col3"}, False),
    ("MaxVariance: exclude: position 12, need 0..11", {"exclude": [12]}, False),
    ("MaxVariance: include: position -1, need 0..11", {"include": -1}, False),
    ("MaxVariance: include: 1.5, need names or positions", {"include": [1.5]}, False),
    ("MaxVariance: include = 1.5, need a list", {"include": 1.5}, False),
    ("MaxVariance: exclude: a mask of 3 features, need 12", {"exclude": [True, False, True]}, False),
    ("feature 'col3' is both included and excluded", {"exclude": "col3", "include": [3]}, True),
    ("feature '?3'? is both included and excluded", {"exclude": 3, "include": 3}, False),
    ("all 12 features are excluded", {"exclude": range(12)}, False),
    ("n_features_to_select = 12, need 1..11", {"exclude": [0], "n_features_to_select": 12}, False),
    ("n_features_to_select = 1, need at least 2", {"include": [0, 1], "n_features_to_select": 1}, False),
    ("scale = ", {"scale": "log"}, False),
    ("scale = None, need 'none'", {"scale": None}, False),
])  # fmt: skip
def test_clear_errors(words, options, frame):
    with pytest.raises(ValueError, match=words):
        tamis.MaxVariance(**options).fit(FRAME if frame else X)


def test_parameters_survive():
    given = {"include": ["col1"], "exclude": ("col2", 3), "scale": "standard"}
    selector = tamis.GuidedUFCM(4, **given)
    for other in (clone(selector), pickle.loads(pickle.dumps(selector))):
        assert {key: other.get_params()[key] for key in given} == given
    pipeline = make_pipeline(selector)
    assert "col1" in pipeline.fit(FRAME).get_feature_names_out()
    again = pickle.loads(pickle.dumps(selector))
    np.testing.assert_array_equal(again.transform(FRAME), selector.transform(FRAME))
    assert selector.set_params(exclude=None).fit(FRAME).get_support().sum() == 4
    assert not np.isnan(selector.scores_).any(), "nothing is left of the earlier fit"


def test_errors_name_the_columns_and_their_types():
    for table in (WITH_TEXT, pl.from_pandas(WITH_TEXT), pa.Table.from_pandas(WITH_TEXT)):
        with pytest.raises(ValueError, match=r"'col4' \(.*\), 'col7' \(.*\) of X contain no numbers"):
            tamis.UFCM(n_clusters=3).fit(table)
    with pytest.raises(ValueError, match=r"UFCM: columns .*, or leave them out: exclude=\['col4', 'col7'\]"):
        tamis.UFCM(n_clusters=3).fit(WITH_TEXT)
    with pytest.raises(ValueError, match="column 'col7' .datetime64.* of X contains no numbers"):
        tamis.MaxVariance().fit(WITH_TEXT[["col7"]])
    many = pd.DataFrame({f"t{j}": ["a", "b", "c"] for j in range(9)})
    with pytest.raises(ValueError, match=r"'t4' \(object\) and 4 more of X"):
        tamis.MaxVariance().fit(many)
    with pytest.raises(ValueError, match="'col4'"):
        tamis.compare(WITH_TEXT, n_clusters=3, n_features=[3])
    numbers = FRAME.assign(col4=FRAME["col4"].astype(object), col5=pd.Categorical((FRAME["col5"] > 0).astype(int)))
    assert tamis.MaxVariance(3).fit(numbers).get_support().sum() == 3, "objects that are numbers are numbers"


def test_rows_that_are_not_there_are_pointed_to_the_right_place():
    da = pytest.importorskip("dask.array")
    with pytest.raises(ValueError, match=r"UFCM: X is a Dask Array; use tamis.dask.UFCM, .* or pass X.compute\(\)"):
        tamis.UFCM(n_clusters=3).fit(da.from_array(X))
    with pytest.raises(ValueError, match=r"LaplacianScore: X is a Dask Array; pass X.compute\(\)"):
        tamis.LaplacianScore().fit(da.from_array(X))
    with pytest.raises(ValueError, match=r"MaxVariance: X is a Polars LazyFrame; pass X.collect\(\)"):
        tamis.MaxVariance().fit(pl.from_pandas(FRAME).lazy())
    selector = tamis.MaxVariance(3).fit(X)
    with pytest.raises(ValueError, match="X.compute"):
        selector.transform(da.from_array(X))
    with pytest.raises(ValueError, match="X.collect"):
        tamis.evaluate(pl.from_pandas(FRAME).lazy(), np.arange(N) % 3, [0, 1])


def test_all_selectors_have_them():
    assert all({"include", "exclude", "scale"} <= set(selector().get_params()) for selector in SELECTORS.values())
