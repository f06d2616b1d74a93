"""`missing=` of the selectors: the numbers of the command, X as it is in transform."""

import numpy as np
import pandas as pd
import pytest
from conftest import SELECTORS, make, planted
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags

import tamis

pytestmark = pytest.mark.filterwarnings("ignore:MCFS. the graph is in", "ignore:RUFS. not converged")


def with_holes():
    X = planted(120, 12, seed=3)
    X[[4, 9, 30], [0, 5, 5]] = np.nan
    return X


def cells_filled(X, how):
    frame = pd.DataFrame(X)
    return frame.fillna(getattr(frame, how)()).to_numpy()


@pytest.fixture
def as_read(tmp_path):
    """A table as the command reads it with --missing: the last bits of a mean are a matter of the order of summation."""

    def read(X, how):
        np.save(tmp_path / "a.npy", X)
        return np.asarray(tamis.read(tmp_path / "a.npy", missing=how).X)

    return read


def same_where(selector, other, kept):
    np.testing.assert_allclose(selector.scores_[kept], other.scores_, rtol=1e-9)
    order = np.argsort(selector.ranking_)
    assert [list(kept).index(j) for j in order[: len(kept)]] == list(np.argsort(other.ranking_))


def test_refused_unless_asked_for(name):
    wanted = "row 4, column 0: NaN, need finite numbers .3 values are missing or infinite, in 2 of 12"
    with pytest.raises(ValueError, match=wanted):
        make(name).fit(with_holes())
    with pytest.raises(ValueError, match="missing='mean', median or drop-columns handles NaN"):
        make(name).fit(with_holes())


@pytest.mark.parametrize("how", ["mean", "median"])
def test_filled_in(name, how, as_read):
    X = with_holes()
    np.testing.assert_allclose(as_read(X, how), cells_filled(X, how), rtol=1e-12)
    before = X.copy()
    selector = make(name, missing=how).fit(X)
    np.testing.assert_array_equal(X, before)
    same_where(selector, make(name).fit(as_read(X, how)), range(12))
    assert "3 missing values in 2 of 12 columns" in selector.report_["missing"]
    np.testing.assert_array_equal(selector.transform(X), X[:, selector.get_support()])


def test_columns_left_out(name):
    X = with_holes()
    kept = np.array([j for j in range(12) if j not in (0, 5)])
    selector = make(name, missing="drop-columns").fit(X)
    other = make(name).fit(X[:, kept])
    same_where(selector, other, kept)
    assert np.isnan(selector.scores_[[0, 5]]).all() and not selector.get_support()[[0, 5]].any()
    assert sorted(selector.ranking_) == list(range(1, 13)) and set(selector.ranking_[[0, 5]]) == {11, 12}
    for attribute in ("components_", "cluster_centers_", "share_", "evidence_"):
        if hasattr(other, attribute):
            mine, others = getattr(selector, attribute), getattr(other, attribute)
            np.testing.assert_allclose(mine[..., kept] if mine.shape != others.shape else mine, others, rtol=1e-9, atol=1e-12)


def test_a_column_without_any_value_is_left_out(name, as_read):
    X = with_holes()
    X[:, 7] = np.nan
    kept = np.array([j for j in range(12) if j != 7])
    selector = make(name, missing="mean").fit(X)
    same_where(selector, make(name).fit(as_read(X, "mean")), kept)


def test_nothing_missing_changes_nothing(name):
    X = planted(120, 12, seed=3)
    plain = make(name).fit(X)
    for how in ("mean", "drop-columns"):
        selector = make(name, missing=how).fit(X)
        np.testing.assert_array_equal(selector.scores_, plain.scores_)
        assert "missing" not in selector.report_


def test_masked_arrays():
    X = planted(120, 12, seed=3)
    mask = np.zeros(X.shape, bool)
    mask[[4, 9], [0, 5]] = True
    masked = np.ma.masked_array(X, mask)
    with pytest.raises(ValueError, match="masked"):
        tamis.MaxVariance().fit(masked)
    selector = tamis.MaxVariance(missing="mean").fit(masked)
    np.testing.assert_allclose(selector.scores_, cells_filled(masked.filled(np.nan), "mean").var(axis=0, ddof=1), rtol=1e-12)


def test_frames_pipelines_and_clones():
    frame = pd.DataFrame(with_holes(), columns=[f"col{j}" for j in range(12)])
    selector = clone(tamis.MaxVariance(n_features_to_select=3, missing="drop-columns"))
    assert selector.get_params()["missing"] == "drop-columns" and get_tags(selector).input_tags.allow_nan
    assert not get_tags(tamis.MaxVariance()).input_tags.allow_nan
    names = make_pipeline(selector).fit(frame).get_feature_names_out()
    assert len(names) == 3 and "col0" not in names
    assert "col0, col5" in selector.fit(frame).report_["missing"]


@pytest.mark.parametrize("wrong", ["drop-rows", "zero", 3, None, ["mean"]])
def test_other_words_are_refused(wrong):
    with pytest.raises(ValueError, match="missing = "):
        tamis.MaxVariance(missing=wrong).fit(with_holes())


def test_what_cannot_be_changed_is_refused(tmp_path):
    from scipy import sparse

    X = sparse.csr_matrix(with_holes())
    with pytest.raises(ValueError, match="sparse"):
        tamis.MaxVariance(missing="mean").fit(X)
    everything = np.full((5, 2), np.nan)
    with pytest.raises(ValueError, match="missing values only"):
        tamis.MaxVariance(missing="mean").fit(everything)


def test_all_selectors_have_it():
    assert all("missing" in selector().get_params() for selector in SELECTORS.values())
