"""LapScore, SPEC and MCFS: the whole command against scikit-feature (package skfeature-chappers) at equal definitions.

Heat weights on five neighbours, the bandwidth given to both sides, the graph included in each. One thread each. The
peer takes minutes on USPS; --rows takes the first rows only. Data: usps.npz in ../shared/data or TAMIS_DATA.

    python bench/rivals.py [--rows 9298] [--methods lapscore,spec,mcfs] [--features 50]
"""

import os

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # before NumPy is loaded

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np

from command import run_command

DATA = Path(os.environ.get("TAMIS_DATA", Path(__file__).resolve().parent.parent.parent / "shared" / "data"))


def peer_graph(X, t):
    from skfeature.utility.construct_W import construct_W

    # Its heat kernel is exp(-d^2 / (2 t^2)) with t given as such.
    return construct_W(X.copy(), metric="euclidean", neighbor_mode="knn", weight_mode="heat_kernel", k=5, t=t)


def peer(method, X, t, features, clusters):
    from skfeature.function.similarity_based import SPEC, lap_score
    from skfeature.function.sparse_learning_based import MCFS

    W = peer_graph(X, t)
    if method == "lapscore":
        return lap_score.lap_score(X, W=W, mode="raw")
    if method == "spec":
        return SPEC.spec(X, W=W, style=0, mode="raw")
    return MCFS.mcfs(X, n_selected_features=features, W=W, n_clusters=clusters, mode="raw")


def gram_seconds(n, d):
    """One X X' product in blocks of rows, for the size of things."""
    X = np.random.default_rng(0).random((n, d))
    start = time.process_time()
    for row in range(0, n, 2000):
        X[row : row + 2000] @ X.T
    return time.process_time() - start


def against_peer(method, X, t, arguments, folder):
    path = Path(folder) / "usps.npy"
    np.save(path, X)
    options = ["--bandwidth", t, "-k", arguments.features, "--threads", 1, "-c", 10]
    ours = min(run_command(["select", path, "-m", method, *options], folder).cpu_seconds for _ in range(3))
    start = time.process_time()
    peer(method, X, t, arguments.features, 10)
    theirs = time.process_time() - start
    print(f"{method:9} {len(X):6} x {X.shape[1]:<5} peer {theirs:8.2f} s   tamis {ours:7.3f} s   {theirs / ours:6.1f} times",
          flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=9298)
    parser.add_argument("--methods", default="lapscore,spec,mcfs")
    parser.add_argument("--features", type=int, default=50)
    arguments = parser.parse_args()
    with np.load(DATA / "usps.npz") as file:
        X = np.asarray(file["X"][: arguments.rows], dtype=np.float64)
    t = float(np.mean(np.linalg.norm(X[:500, None] - X[None, :500], axis=2)))
    with tempfile.TemporaryDirectory() as folder:
        for method in arguments.methods.split(","):
            against_peer(method, X, t, arguments, folder)
        n, d = 20000, 100
        table = np.random.default_rng(1).random((n, d))
        np.save(Path(folder) / "tall.npy", table)
        product = gram_seconds(n, d)
        run = run_command(["select", Path(folder) / "tall.npy", "-m", "mcfs", "-k", 50, "-c", 10, "--threads", 1], folder)
        print(f"mcfs      {n} x {d}: {run.cpu_seconds:.2f} s, {run.cpu_seconds / product:.1f} times one X X' ({product:.2f} s)")


if __name__ == "__main__":
    main()
