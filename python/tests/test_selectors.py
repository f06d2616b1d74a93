"""The selectors as scikit-learn estimators: its own checks, parameters, attributes, warnings, errors, golden vectors."""

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

METHODS = {method["name"]: method for method in _core.methods()}
X = planted()
N, D = X.shape


# --- scikit-learn's own checks ------------------------------------------------------------------------------------------


def variants():
    for name in SELECTORS:
        yield make(name, n_clusters=8)
        yield make(name, n_clusters=2, n_features_to_select=0.5, n_neighbors=2, n_jobs=1)
        yield make(name, n_clusters=1, n_features_to_select=1, weights="cosine", random_state=None)
    yield tamis.UFCM(n_clusters=2, p=0.5, n_components=1, tol=0, max_iter=3)
    yield tamis.SPEC(function=3, weights="binary")
    yield tamis.NDFS(n_clusters=2, laplacian="plain", clip=False, tol=1e-3)


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(list(variants()))
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore")
def test_no_check_fails_or_is_expected_to(name):
    results = check_estimator(SELECTORS[name](), on_fail=None)
    assert len(results) > 40
    assert {one["check_name"] for one in results if one["status"] != "passed"} <= {"check_array_api_input"}  # numpy only
