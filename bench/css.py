"""css in CPU time: against one X'X, and against scikit-matter and fastcan.

    python bench/css.py [mnist.npz]      the first 60 000 rows of its X; random numbers of 60 000 x 784 without it

One thread each, CPU seconds of one run. The peers are optional: pip install -r requirements-peers.txt.
scikit-matter's CUR with k = 1 and recompute_every = 1 and fastcan's FastCan on the principal components are the closest that
they have. CUR decomposes X anew for every column, so a few columns are timed and multiplied. FastCan with y = the scores of a
PCA maximizes a sum of squared canonical correlations, which is explained variance only if the components are weighted equally,
so its columns may differ.
"""

import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import sys  # noqa: E402
import time  # noqa: E402

import numpy as np  # noqa: E402

import tamis  # noqa: E402

FEW = 5  # columns that CUR selects
COMPONENTS = 100  # as many as the table has factors


def cpu(work):
    """The result, and the CPU seconds of this process (all threads)."""
    start = time.process_time()
    found = work()
    return found, time.process_time() - start


def explained(X, columns):
    """Share of the variance of standardized columns that a regression on `columns` explains."""
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    Q, _ = np.linalg.qr(Z[:, columns])
    return np.square(Q.T @ Z).sum() / np.square(Z).sum()


def order(selector, k):
    return np.argsort(selector.ranking_)[:k]


def against_one_product(X, k):
    _, product = cpu(lambda: X.T @ X)  # NumPy calls dsyrk
    _, whole = cpu(lambda: tamis.CSS(k, n_jobs=1).fit(X))
    _, alone = cpu(lambda: tamis.CSS(k, n_jobs=1, redundancy=None).fit(X))
    print(f"{X.shape[0]} x {X.shape[1]}, k = {k}: X'X {product:.2f} s, css {alone:.2f} s ({alone / product:.2f} times), "
          f"with the redundancy report {whole:.2f} s ({whole / product:.2f} times)", flush=True)


def latent(n, d, rank, seed=0):
    """Columns that share a few factors, plus noise."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, rank)) @ rng.normal(size=(rank, d)) + rng.normal(size=(n, d))


def report(name, columns, seconds, ours, base, X):
    common = len(set(columns) & set(ours))
    same = next((i for i, (a, b) in enumerate(zip(columns, ours)) if a != b), len(ours))
    print(f"  {name:34s} {seconds:8.2f} s, {seconds / base:7.1f} times css; {common} of {len(ours)} columns in common, "
          f"the first {same} in the same order; explains {explained(X, columns):.5f}", flush=True)


def against_peers(X, k):
    print(f"{X.shape[0]} x {X.shape[1]}, k = {k}")
    selector, base = cpu(lambda: tamis.CSS(k, n_jobs=1, redundancy=None).fit(X))
    ours = order(selector, k)
    report("tamis css", ours, base, ours, base, X)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    try:
        from skmatter.feature_selection import CUR, FPS
    except ImportError:
        print("  scikit-matter is not installed")
    else:
        peer, seconds = cpu(lambda: FPS(n_to_select=k, initialize=int(ours[0])).fit(Z))
        report("scikit-matter FPS", np.asarray(peer.selected_idx_), seconds, ours, base, X)
        few = min(k, FEW)
        _, seconds = cpu(lambda: CUR(n_to_select=few, k=1, recompute_every=1).fit(Z))
        print(f"  scikit-matter CUR, recompute every: {few} columns {seconds:.2f} s, {seconds / few:.2f} s a column; {k} columns "
              f"would take {seconds / few * k / base:.0f} times css", flush=True)
    try:
        from fastcan import FastCan
        from sklearn.decomposition import PCA
    except ImportError:
        print("  fastcan is not installed")
        return
    peer, seconds = cpu(lambda: FastCan(k, verbose=0).fit(Z, PCA(COMPONENTS).fit_transform(Z)))
    report(f"fastcan FastCan, {COMPONENTS} components", peer.indices_, seconds, ours, base, X)
    peer, seconds = cpu(lambda: FastCan(k, eta=True, verbose=0).fit(Z, PCA(min(k, 50)).fit_transform(Z)))
    report("fastcan FastCan, eta, 50 components", peer.indices_, seconds, ours, base, X)


def main():
    tamis.CSS(2, n_jobs=1).fit(np.random.default_rng(0).normal(size=(200, 5)))  # what is loaded on the first call
    if len(sys.argv) > 1:
        X = np.load(sys.argv[1])["X"][:60000].astype(float)
    else:
        X = np.random.default_rng(0).normal(size=(60000, 784))
    against_one_product(np.ascontiguousarray(X), 50)
    against_peers(latent(4000, 2000, 100), 200)


if __name__ == "__main__":
    main()
