"""UFCM, the whole command, on three shapes against one library call on the same array with the same threads, c = 10.

    100 x 20 000 dense             numpy.linalg.svd(X, full_matrices=False)
    1 000 000 x 64 dense           sklearn KMeans(n_clusters=10, n_init=1)
    20 000 x 30 000, 1 % non-zero  sklearn TruncatedSVD(n_components=10)

CPU seconds: of the library call on an array in memory, and of the command as a process that reads the file and prints its
result.
Peak memory of the command stands beside 1.3 times the data + 200 MB.

    python bench/shapes.py [--threads 1] [--repeat 5] [--only wide,tall,sparse]
"""

import argparse
import os
import sys

THREADS = sys.argv[sys.argv.index("--threads") + 1] if "--threads" in sys.argv[:-1] else "1"
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = THREADS  # before NumPy is loaded

import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np
import scipy.sparse
from sklearn.cluster import KMeans
from sklearn.decomposition import TruncatedSVD

from command import run_command

CLUSTERS = 10


def planted(n, d, informative, rng):
    """Rows around ten centres that differ in the first `informative` columns, with noise of deviation 1."""
    X = rng.standard_normal((n, d))
    X[:, :informative] += 4 * rng.standard_normal((CLUSTERS, informative))[rng.integers(CLUSTERS, size=n)]
    return X


def wide(folder, rng):
    X = planted(100, 20000, 200, rng)
    np.save(Path(folder) / "wide.npy", X)
    return Path(folder) / "wide.npy", X.nbytes, lambda: np.linalg.svd(X, full_matrices=False)


def tall(folder, rng):
    X = planted(1_000_000, 64, 16, rng)
    np.save(Path(folder) / "tall.npy", X)
    return Path(folder) / "tall.npy", X.nbytes, lambda: KMeans(n_clusters=CLUSTERS, n_init=1, random_state=0).fit(X)


def sparse(folder, rng):
    """As words in texts: 300 entries a row, a third of them among the thousand columns of the row's group."""
    n, d, entries, own = 20000, 30000, 300, 100
    group = rng.integers(CLUSTERS, size=n)
    columns = np.empty((n, entries), np.int32)
    for i in range(n):
        columns[i, :own] = 1000 * group[i] + rng.choice(1000, own, replace=False)
        columns[i, own:] = rng.choice(d, entries - own, replace=False)
    X = scipy.sparse.csr_matrix((rng.random(columns.size), columns.ravel(), np.arange(0, columns.size + 1, entries)), (n, d))
    X.sum_duplicates()
    scipy.sparse.save_npz(Path(folder) / "sparse.npz", X, compressed=False)
    size = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    return Path(folder) / "sparse.npz", size, lambda: TruncatedSVD(n_components=10, random_state=0).fit(X)


def seconds_of(call):
    start = time.process_time()
    call()
    return time.process_time() - start


def main():
    shapes = {"wide": wide, "tall": tall, "sparse": sparse}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--only", default=",".join(shapes))
    arguments = parser.parse_args()

    print(f"{'shape':8} {'library s':>10} {'tamis s':>9} {'tamis/library':>14} {'peak MB':>9} {'allowed MB':>11} path")
    for name in arguments.only.split(","):
        with tempfile.TemporaryDirectory() as folder:
            path, size, call = shapes[name](folder, np.random.default_rng(0))
            library, runs = [], []
            for _ in range(arguments.repeat):
                library.append(seconds_of(call))
                runs.append(run_command(["select", path, "-m", "ufcm", "-c", CLUSTERS, "--threads", arguments.threads], folder))
            theirs, ours = median(library), median(run.cpu_seconds for run in runs)
            peak = max(run.peak_bytes for run in runs)
            print(f"{name:8} {theirs:10.3f} {ours:9.3f} {ours / theirs:14.2f} {peak / 1e6:9.0f} "
                  f"{(1.3 * size + 200e6) / 1e6:11.0f} {runs[-1].result['report']['path']}", flush=True)


if __name__ == "__main__":
    main()
