"""Data that break careless arithmetic: constant and repeated columns, low rank, extreme magnitudes, d far above n."""

import numpy as np
import pytest
from conftest import peak_memory, planted, refused, select, tamis, write_npy

pytestmark = pytest.mark.shared


def finite(result):
    scores = np.array(result["scores"], float)
    assert np.all(np.isfinite(scores)) and np.all(scores >= 0)
    assert sorted(result["selected"]) == list(range(len(scores)))
    assert np.all(np.isfinite(result["report"]["objective"]))
    return scores


@pytest.mark.parametrize("constant", [0.0, 0.1, 1e8, -1e300])
def test_a_constant_column_is_last(tmp_path, constant):
    for n in (60, 5000):
        X = planted(n, 6)
        X[:, 2] = constant
        for alpha in ("1", "0.1", "5"):
            result = select(write_npy(tmp_path / "x.npy", X), "-m", "ufcm", "-c", "3", "--alpha", alpha)
            assert finite(result)[2] == 0 and result["selected"][-1] == 2


def test_a_constant_whose_rounded_variance_is_not_zero(tmp_path):
    X = planted(100_000, 4)
    X[:, 1] = 0.1
    result = select(write_npy(tmp_path / "x.npy", X), "-m", "ufcm", "-c", "3")
    assert finite(result)[1] == 0 and result["selected"][-1] == 1


@pytest.mark.parametrize("setting", [[], ["--alpha", "0.1"], ["--alpha", "3"], ["--p", "0.5"], ["--p", "2"]], ids=" ".join)
def test_duplicate_columns_tie_and_the_lower_index_is_first(tmp_path, setting):
    X = planted(300, 10)
    X[:, 7] = X[:, 1]
    X[:, 9] = X[:, 5]
    result = select(write_npy(tmp_path / "x.npy", X), "-m", "ufcm", "-c", "3", *setting)
    scores = finite(result)
    place = {j: i for i, j in enumerate(result["selected"])}
    for a, b in ((1, 7), (5, 9)):
        assert abs(scores[a] - scores[b]) <= 1e-9 * scores.max()
        assert place[a] < place[b]


def test_ranking_follows_the_scores(tmp_path):
    result = select(write_npy(tmp_path / "x.npy", planted(300, 40)), "-c", "3")
    scores = finite(result)
    ordered = scores[result["selected"]]
    assert np.all(np.diff(ordered) <= 1e-9 * scores.max())


def test_the_order_by_qr_follows_its_scores(tmp_path):
    """Rows of W that are 0, here by their units, score 0 and come after those that are nearly 0."""
    X = planted(80, 8) * 10.0 ** np.array([-150, 100, 0, 120, -140, 148, 50, -130])
    result = select(write_npy(tmp_path / "x.npy", X), "-m", "ufcm", "-c", "3", "--order", "qr")
    assert np.all(np.diff(finite(result)[result["selected"]]) <= 0), result["scores"]


@pytest.mark.parametrize("setting", [[], ["--alpha", "0.1"], ["--beta", "0"]], ids=" ".join)
def test_one_column(tmp_path, setting):
    result = select(write_npy(tmp_path / "x.npy", planted(50, 1, informative=1)), "-m", "ufcm", "-c", "3", *setting)
    assert result["selected"] == [0] and np.isfinite(result["scores"][0])


def test_two_rows_and_one_cluster(tmp_path):
    finite(select(write_npy(tmp_path / "x.npy", planted(2, 4)), "-c", "1"))
    finite(select(write_npy(tmp_path / "x.npy", planted(2, 4)), "-c", "2"))
    finite(select(write_npy(tmp_path / "x.npy", planted(30, 4)), "-c", "1"))
    finite(select(write_npy(tmp_path / "x.npy", planted(30, 4)), "-c", "30"))


def test_all_rows_identical(tmp_path):
    X = np.tile(np.random.default_rng(0).standard_normal(7), (40, 1))
    refused(tamis("select", write_npy(tmp_path / "x.npy", X), "-c", "3"), 3, "no variation")


@pytest.mark.parametrize("alpha", ["1", "0.1", "4"])
@pytest.mark.parametrize("beta", [[], ["--beta", "0"], ["--beta", "100"]], ids=" ".join)
def test_degenerate_data_terminate(tmp_path, alpha, beta):
    rng = np.random.default_rng(0)
    cases = {
        "rank 1": np.outer(rng.standard_normal(60), rng.standard_normal(8)),
        "rank 2, wide": rng.standard_normal((20, 2)) @ rng.standard_normal((2, 300)),
        "repeated rows": np.repeat(rng.standard_normal((12, 6)), 10, axis=0),
        "fewer distinct rows than clusters": np.repeat(rng.standard_normal((3, 6)), 20, axis=0),
        "far apart": rng.standard_normal((90, 6)) + 1e6 * (np.arange(90) % 3)[:, None],
        "one row differs": np.vstack([np.zeros((50, 5)), np.ones((1, 5))]),
        "0 and 1": (rng.random((80, 12)) < 0.5) * 1.0,
    }
    for X in cases.values():
        finite(select(write_npy(tmp_path / "x.npy", X), "-m", "ufcm", "-c", "5", "--alpha", alpha, *beta))


HUGE, LARGEST, TINY = {"1e300", "one 1e300"}, {"1e307"}, {"1e-300", "1e-310", "5e-324"}


# What is refused: squares that overflow, differences that do, and a beta that dwarfs all scatter.
@pytest.mark.parametrize("setting, refusing", [
    ("", HUGE | LARGEST), ("--alpha 0.1", HUGE | LARGEST), ("--beta 1", HUGE | LARGEST | TINY),
    ("--scale standard", LARGEST), ("--scale unit", HUGE | LARGEST),
])
def test_extreme_magnitudes_are_finite_or_refused(tmp_path, setting, refusing):
    base = planted(80, 6)
    mixed = base * 10.0 ** np.array([-150, -100, -50, 50, 100, 150])
    one = base.copy()
    one[:, 3] *= 1e300
    tables = {text: base * float(text) for text in ("1e300", "1e-300", "1e-310", "5e-324", "1e307")}
    for kind, X in {**tables, "mixed": mixed, "one 1e300": one}.items():
        run = tamis("select", write_npy(tmp_path / "x.npy", X), "-m", "ufcm", "-c", "3", "--json", *setting.split())
        if kind in refusing:
            refused(run, 3)
        else:
            assert run.code == 0, (kind, str(run))
            finite(run.json)


@pytest.mark.parametrize("factor", [2.0**450, 2.0**-450, 2.0**-900])
def test_extreme_units_leave_the_selection_alone(tmp_path, factor):
    X = planted(200, 10)
    a = select(write_npy(tmp_path / "a.npy", X), "-c", "3", "-k", "4")
    b = select(write_npy(tmp_path / "b.npy", X * factor), "-c", "3", "-k", "4")
    assert a["selected"] == b["selected"]


@pytest.mark.unsanitized
@pytest.mark.parametrize("setting", [[], ["--alpha", "0.1"], ["--alpha", "3"]], ids=" ".join)
def test_wide_data_need_no_square_matrix(tmp_path, setting):
    path = write_npy(tmp_path / "x.npy", planted(20, 5000, c=3, informative=50))
    code, peak = peak_memory("select", path, "-m", "ufcm", "-c", "3", *setting)
    assert code == 0 and peak < 120e6, (code, peak)  # d x d would be 200 MB
    assert set(select(path, "-m", "ufcm", "-c", "3", "-k", "20", *setting)["selected"]) <= set(range(50))


@pytest.mark.parametrize("alpha", [0.1, 1, 10])
@pytest.mark.parametrize("p", [0.5, 1, 1.5, 2])
def test_the_objective_never_falls(tmp_path, alpha, p):
    for seed, (n, d, c) in enumerate([(100, 20, 4), (60, 150, 5), (400, 12, 3)]):
        X = np.random.default_rng(seed).standard_normal((n, d)) if seed % 2 else planted(n, d, c, seed=seed)
        path = write_npy(tmp_path / "x.npy", X)
        for beta in ([], ["--beta", "1"], ["--beta", "300"]):
            report = select(path, "-m", "ufcm", "-c", c, "--alpha", alpha, "--p", p, *beta, "--tolerance", "0",
                            "--iterations", "25")["report"]
            objective, terms = np.array(report["objective"]), report["terms"]
            size = np.abs(terms["scatter"]) + alpha * np.abs(terms["within"])
            assert len(objective) == report["iterations"] <= 25
            assert np.all(np.diff(objective) >= -1e-10 * size[1:]), np.diff(objective) / size[1:]


def test_planted_columns_are_found(tmp_path):
    path = write_npy(tmp_path / "x.npy", planted(600, 60, c=4, informative=6))
    for alpha in ("1", "0.1"):
        result = select(path, "-m", "ufcm", "-c", "4", "-k", "6", "--alpha", alpha)
        assert sorted(result["selected"]) == [0, 1, 2, 3, 4, 5]
