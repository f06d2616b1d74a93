"""One seed, one answer: at any number of threads, from any file format, in any units, in any order of columns."""

import numpy as np
import pytest
import scipy.sparse
from conftest import close, planted, same, select, write_csv, write_npy

# Shapes that take different paths: many rows, many columns, one row block and several.
SHAPES = {"small": (120, 12), "blocks": (5000, 20), "wide": (40, 700), "square": (300, 250)}
SETTINGS = {"defaults": [], "alpha 0.1": ["--alpha", "0.1", "--p", "0.5"], "alpha 2": ["--alpha", "2", "--beta", "50"]}


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("shape", SHAPES)
def test_threads(tmp_path, shape, setting):
    n, d = SHAPES[shape]
    path = write_npy(tmp_path / "x.npy", planted(n, d, c=4, informative=6))
    one = select(path, "-m", "ufcm", "-c", "4", "--threads", "1", *SETTINGS[setting])
    for threads in (2, 3, 5):
        same(select(path, "-m", "ufcm", "-c", "4", "--threads", threads, *SETTINGS[setting]), one)


def test_threads_sparse(tmp_path):
    X = scipy.sparse.random(6000, 80, density=0.1, format="csr", random_state=np.random.default_rng(0))
    scipy.sparse.save_npz(tmp_path / "x.npz", X)
    for setting in SETTINGS.values():
        one = select(tmp_path / "x.npz", "-m", "ufcm", "-c", "4", "--threads", "1", *setting)
        for threads in (2, 3, 5):
            same(select(tmp_path / "x.npz", "-m", "ufcm", "-c", "4", "--threads", threads, *setting), one)


def test_the_seed_decides(tmp_path):
    path = write_npy(tmp_path / "x.npy", np.random.default_rng(0).standard_normal((200, 10)))
    runs = [select(path, "-m", "ufcm", "-c", "5", "--seed", seed, "--restarts", "1") for seed in (0, 0, 1, 2, 3)]
    same(runs[0], runs[1])
    assert any(run["scores"] != runs[0]["scores"] for run in runs[2:])


@pytest.mark.parametrize("shape", ["small", "blocks", "wide"])
def test_file_formats(tmp_path, shape):
    X = planted(*SHAPES[shape], c=4)
    expected = select(write_npy(tmp_path / "x.npy", X), "-c", "4")
    same(select(write_npy(tmp_path / "fortran.npy", np.asfortranarray(X)), "-c", "4"), expected)
    same(select(write_npy(tmp_path / "big.npy", X.astype(">f8")), "-c", "4"), expected)
    np.savez(tmp_path / "x.npz", X=X)
    same(select(tmp_path / "x.npz", "-c", "4"), expected)
    np.savez_compressed(tmp_path / "z.npz", X=X)
    same(select(tmp_path / "z.npz", "-c", "4"), expected)
    same(select(write_csv(tmp_path / "x.csv", X), "-c", "4"), expected)
    same(select(write_csv(tmp_path / "x.tsv", X, separator="\t"), "-c", "4"), expected)
    same(select(write_npy(tmp_path / "t.npy", np.ascontiguousarray(X.T)), "--transpose", "-c", "4"), expected)


def test_element_types(tmp_path):
    X = (planted(200, 8) * 3 + 40).round().clip(0, 100)
    expected = select(write_npy(tmp_path / "x.npy", X), "-c", "3")
    for dtype in ("i1", "u1", "<i2", ">i2", "<u2", "<i4", ">i4", "<u4", "<i8", ">i8", "<u8", ">u8"):
        same(select(write_npy(tmp_path / "y.npy", X.astype(dtype)), "-c", "3"), expected)
    for dtype in ("<f4", ">f4", "<f2", ">f2"):
        close(select(write_npy(tmp_path / "y.npy", X.astype(dtype)), "-c", "3"), expected, 1e-5)


def test_bool(tmp_path):
    X = planted(200, 8) > 0
    same(select(write_npy(tmp_path / "b.npy", X), "-c", "3"), select(write_npy(tmp_path / "u.npy", X.astype("u1")), "-c", "3"))


@pytest.mark.parametrize("setting", SETTINGS)
def test_float32_twin(tmp_path, setting):
    X = planted(400, 30, c=4).astype(np.float32)
    double = select(write_npy(tmp_path / "d.npy", X.astype(np.float64)), "-m", "ufcm", "-c", "4", *SETTINGS[setting])
    close(select(write_npy(tmp_path / "f.npy", X), "-m", "ufcm", "-c", "4", *SETTINGS[setting]), double, 1e-5)


@pytest.mark.parametrize("setting", SETTINGS)
def test_sparse_twin(tmp_path, setting):
    X = planted(400, 30, c=4) * (np.random.default_rng(1).random((400, 30)) < 0.5)
    dense = select(write_npy(tmp_path / "d.npy", X), "-m", "ufcm", "-c", "4", *SETTINGS[setting])
    for layout in ("csr", "csc", "coo"):
        scipy.sparse.save_npz(tmp_path / "s.npz", scipy.sparse.csr_matrix(X).asformat(layout))
        close(select(tmp_path / "s.npz", "-m", "ufcm", "-c", "4", *SETTINGS[setting]), dense, 1e-5)


@pytest.mark.parametrize("factor", [1000, 2.0**20, 2.0**-30, 2.0**-60])
def test_units_do_not_matter(tmp_path, factor):
    X = planted(300, 20, c=4, informative=6)
    a = select(write_npy(tmp_path / "a.npy", X), "-c", "4", "-k", "6")
    b = select(write_npy(tmp_path / "b.npy", X * factor), "-c", "4", "-k", "6")
    assert a["selected"] == b["selected"]
    assert np.allclose(a["share"], b["share"], rtol=0, atol=1e-9)


@pytest.mark.parametrize("shape", SHAPES)
def test_permuted_columns(tmp_path, shape):
    X = planted(*SHAPES[shape], c=4, informative=6)
    order = np.random.default_rng(5).permutation(X.shape[1])
    a = np.array(select(write_npy(tmp_path / "a.npy", X), "-c", "4")["scores"])
    b = np.array(select(write_npy(tmp_path / "b.npy", X[:, order]), "-c", "4")["scores"])
    assert np.max(np.abs(a[order] - b)) <= 1e-9 * a.max()


def test_offset(tmp_path):
    X = planted(400, 20, c=4, informative=5)
    a = select(write_npy(tmp_path / "a.npy", X - X.mean(axis=0)), "-m", "ufcm", "-c", "4", "-k", "5")
    b = select(write_npy(tmp_path / "b.npy", X + 1e8), "-m", "ufcm", "-c", "4", "-k", "5")
    assert a["selected"] == b["selected"]
    close(a, b, 1e-5)


def test_scaling_equals_scaled_data(tmp_path):
    X = planted(300, 10, c=3) * np.logspace(0, 1, 10)
    path = write_npy(tmp_path / "x.npy", X)
    for name, Y in {"standard": X / X.std(axis=0, ddof=1), "minmax": X / np.ptp(X, axis=0),
                    "unit": X / np.linalg.norm(X, axis=1, keepdims=True)}.items():
        close(select(path, "-c", "3", "--scale", name), select(write_npy(tmp_path / "y.npy", Y), "-c", "3"), 1e-7)
