"""What robustness asks of every method: the registry decides which there are."""

import json
import subprocess

import numpy as np
import pytest
from conftest import COMMAND, planted, refused, same, select, tamis, write_npy

pytestmark = pytest.mark.hostile

LISTED = subprocess.run([COMMAND, "methods", "--json"], capture_output=True, check=True).stdout
METHODS = {method["name"]: method for method in json.loads(LISTED)}
CLUSTERED = [name for name, method in METHODS.items() if any(option["name"] == "clusters" for option in method["options"])]
# Their formulas regress on X itself, so an offset is part of the data.
FROM_ZERO = {"mcfs", "ndfs", "rufs"}


def blobs(n=60, d=8, seed=0):
    """Three groups of rows that differ in the first half of the columns."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[:, : d // 2] += 4 * rng.normal(size=(3, d // 2))[np.arange(n) % 3]
    return X


def run(folder, X, method, *arguments, clusters=3, timeout=60):
    path = folder / "X.npy"
    np.save(path, X)
    return tamis("select", path, "-m", method, "-c", clusters, "--json", "--quiet", *arguments, timeout=timeout)


def scores(folder, X, method, *arguments):
    result = run(folder, X, method, *arguments)
    assert result.code == 0, result
    found = np.array(result.json["scores"])
    assert np.all(np.isfinite(found)) and len(found) == X.shape[1]
    return found


@pytest.fixture(params=METHODS)
def method(request):
    return request.param


def test_one_column(tmp_path, method):
    assert run(tmp_path, blobs()[:, :1], method).code == 0


def test_one_row(tmp_path, method):
    result = run(tmp_path, blobs()[:1], method)
    assert result.code == 3 and "need at least 2" in result.err, result


@pytest.mark.parametrize("k", ["0", "-1", "9"])
def test_impossible_numbers_of_features(tmp_path, method, k):
    assert run(tmp_path, blobs(), method, "-k", k).code == 2


@pytest.mark.parametrize("c", ["0", "61"])
@pytest.mark.parametrize("name", CLUSTERED)
def test_impossible_numbers_of_clusters(tmp_path, name, c):
    np.save(tmp_path / "X.npy", blobs())
    result = tamis("select", tmp_path / "X.npy", "-m", name, "-c", c)
    assert result.code == 2 and result.err.count("\n") == 1, result


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_values_that_are_no_numbers(tmp_path, method, bad):
    X = blobs()
    X[7, 3] = bad
    result = run(tmp_path, X, method)
    assert result.code == 3 and "row 7" in result.err and "column 3" in result.err, result


@pytest.mark.parametrize("X", [np.full((30, 4), 0.1), np.tile(blobs()[:1], (30, 1))], ids=["columns", "rows"])
def test_no_variation(tmp_path, method, X):
    result = run(tmp_path, X, method)
    assert result.code == 3 and "no variation" in result.err, result


def test_a_constant_column_ranks_last(tmp_path, method):
    for constant in (0.0, 0.1, 1e6):
        X = blobs()
        X[:, 2] = constant
        result = run(tmp_path, X, method)
        assert np.argmin(result.json["scores"]) == 2 and 2 not in result.json["selected"][:-1], result
        assert np.all(np.isfinite(result.json["scores"]))


def test_duplicate_columns(tmp_path, method):
    X = blobs()
    X[:, 5] = X[:, 1]
    found = scores(tmp_path, X, method)
    if method == "mcfs":
        assert found[5] == 0 < found[1]  # its path takes the first and leaves the copy at 0
    elif not METHODS[method]["is_order"]:  # which leave a copy for later
        assert abs(found[1] - found[5]) <= 1e-9 * np.abs(found).max()
    selected = run(tmp_path, X, method).json["selected"]
    assert selected.index(1) < selected.index(5)


def test_many_more_columns_than_rows(tmp_path, method):
    assert len(scores(tmp_path, blobs(20, 5000), method)) == 5000


@pytest.mark.parametrize("kind", ["rank 1", "repeated rows", "few distinct rows", "far apart", "two rows"])
def test_awkward_tables(tmp_path, method, kind):
    rng = np.random.default_rng(3)
    X = {
        "rank 1": np.outer(rng.normal(size=40), rng.normal(size=6)),
        "repeated rows": np.repeat(blobs(10), 6, axis=0),
        "few distinct rows": np.tile(np.eye(2, 6), (20, 1)),
        "far apart": blobs() + 1e6 * (np.arange(60) % 3)[:, None],
        "two rows": blobs()[:2],
    }[kind]
    result = run(tmp_path, X, method, clusters=2)
    assert result.code == 0 and np.all(np.isfinite(result.json["scores"])), result


@pytest.mark.parametrize("method", [method for method in METHODS if method not in FROM_ZERO])
def test_an_offset_changes_nothing(tmp_path, method):
    X = blobs()
    wanted = run(tmp_path, X, method, "-k", 4).json["selected"]
    assert sorted(run(tmp_path, X + 1e8, method, "-k", 4).json["selected"]) == sorted(wanted)


# Those whose formula has no finite value there: squares that overflow, a penalty of another order than the squares, or
# coefficients of denormal columns.
MAGNITUDES = {
    "huge": ([1e300] * 8, {"ufcm", "spcafs", "maxvar", "ndfs"}),
    "tiny": ([1e-300] * 8, {"ndfs"}),
    "denormal": ([1e-310] * 8, {"guided", "mcfs", "ndfs"}),
    "mixed": (list(np.logspace(-150, 150, 8)), {"ndfs"}),
}


@pytest.mark.parametrize("kind", MAGNITUDES)
def test_magnitudes(tmp_path, method, kind):
    factors, refusing = MAGNITUDES[kind]
    result = run(tmp_path, blobs() * np.array(factors), method)
    if method in refusing:
        assert result.code == 3 and result.out == "" and result.err.count("\n") == 1, result
        assert "row 0" not in result.err, "the numbers of the file are finite"
    else:
        assert result.code == 0 and np.all(np.isfinite(result.json["scores"])), result


@pytest.mark.parametrize("dtype", ["<f2", "<f4", ">f8", "<i2", ">i4", "u1", "?"])
def test_element_types(tmp_path, method, dtype):
    X = (np.abs(blobs()) > 1 if dtype == "?" else np.round(np.abs(3 * blobs()))).astype(dtype)
    wanted = scores(tmp_path, X.astype("<f8"), method)
    assert np.array_equal(scores(tmp_path, X, method), wanted)
    assert np.array_equal(scores(tmp_path, np.asfortranarray(X.astype("<f8")), method), wanted)


def test_threads_and_seeds(tmp_path, method):
    X = blobs(300, 12)
    wanted = scores(tmp_path, X, method, "--threads", 1)
    for threads in (2, 3, 5):
        assert np.array_equal(scores(tmp_path, X, method, "--threads", threads), wanted)


def test_exact_selects_as_many_rows_as_features(tmp_path):
    path = write_npy(tmp_path / "x.npy", planted(300, 20))
    for options in ([], ["--alpha", "0.5"]):
        found = select(path, "-m", "ufcm", "-c", "3", "-k", "5", *options, "--exact")
        assert found["options"]["exact"] is True
        assert sum(score >= 1e-4 for score in found["scores"]) == 5
        assert set(found["report"]["terms"]) == {"scatter", "within"}
        assert found["report"]["objective"] == sorted(found["report"]["objective"])
        same(found, select(path, "-m", "ufcm", "-c", "3", "-k", "5", *options, "--exact", "yes", "--threads", "1"))
    forced = select(path, "-m", "ufcm", "-c", "3", "-k", "5", "--exact", "--include", "19")
    assert 19 in forced["selected"] and forced["scores"][19] >= 1e-4


def test_exact_needs_a_number_of_features(tmp_path):
    path = write_npy(tmp_path / "x.npy", planted(50, 6))
    refused(tamis("select", path, "-m", "ufcm", "-c", "3", "--exact"), 2, "ufcm: exact needs a number of features")
    refused(tamis("select", path, "-m", "ufcm", "-c", "3", "--exact", "-k", "auto"), 2, "needs a number of features")
    high = tamis("select", path, "-m", "ufcm", "-c", "3", "--exact", "-k", "3", "--alpha", "2")
    refused(high, 2, "alpha = 2", "0..1 with exact")
    refused(tamis("select", path, "-m", "ufcm", "-c", "3", "--exact=maybe", "-k", "3"), 2, "exact = maybe")
    refused(tamis("select", path, "-k", "3", "--exact"), 2, "add -m ufcm")
