"""Warnings about columns that are seldom meant as they stand, and scale="auto"."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import tamis


def frame(rows=60):
    rng = np.random.default_rng(0)
    out = pd.DataFrame(rng.standard_normal((rows, 4)), columns=["a", "b", "c", "d"])
    out["customer"] = 1000.0 + 3 * np.arange(rows)
    out.loc[5, "b"] = -9999
    return out


def messages(fit):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit()
    return [str(one.message) for one in caught if one.category is UserWarning]


def test_selectors_name_the_columns():
    found = messages(lambda: tamis.MaxVariance(2).fit(frame()))
    assert any("column customer rises from row to row" in one and "exclude=['customer'] unless" in one for one in found), found
    assert any("column b: 1 value like -9999" in one and "exclude=['b']" in one for one in found), found
    assert not any("--" in one for one in found), found


def test_arrays_go_by_position():
    found = messages(lambda: tamis.MaxVariance(2).fit(frame().to_numpy()))
    assert any(one.startswith("column 4 rises from row to row") and "exclude=['4']" in one for one in found), found
    assert tamis.MaxVariance(2, exclude=["4"]).fit(frame().to_numpy()).ranking_[4] == 5


def test_raw_counts():
    rng = np.random.default_rng(0)
    X = rng.poisson(rng.gamma(0.4, 2.0, 60), (80, 60)).astype(float)
    X[3, 7] = 900
    for data in (X, sparse.csr_array(X)):
        found = messages(lambda data=data: tamis.MaxVariance(5).fit(data))
        assert any("look like raw counts" in one and "normalize them first" in one for one in found), found


def test_tables_without_doubts_say_nothing():
    assert messages(lambda: tamis.MaxVariance(2).fit(frame()[["a", "c", "d"]])) == []


def test_compare_has_the_same_doubts():
    notes = tamis.compare(frame(), 2, n_features=2, methods=["maxvar", "lapscore"]).attrs["notes"]
    assert sum("column customer rises from row to row" in note for note in notes) == 1, notes


@pytest.mark.parametrize("factor, scale", [(1, "none"), (1e4, "standard")])
def test_scale_auto_in_compare(factor, scale):
    X = frame()[["a", "c", "d"]] * [1, factor, 1]
    found = tamis.compare(X, 2, n_features=2, methods=["lapscore"], scale="auto")
    assert found.attrs["options"]["scale"] == scale
    assert any(note.startswith(f"scale='auto': {scale}, since") for note in found.attrs["notes"])
    same = tamis.compare(X, 2, n_features=2, methods=["lapscore"], scale=scale)
    assert found.attrs["selected"] == same.attrs["selected"]


def test_scale_auto_in_select_genes():
    anndata = pytest.importorskip("anndata")
    X = np.random.default_rng(0).random((60, 5)) * [1, 1, 1000, 1, 1]
    auto, none, standard = (
        tamis.select_genes(anndata.AnnData(X.copy()), 2, method="lapscore", scale=scale, inplace=False)["tamis_score"]
        for scale in ("auto", "none", "standard")
    )
    assert auto.equals(standard) and not auto.equals(none)
