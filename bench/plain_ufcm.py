"""UFCM as a careful user of NumPy, SciPy and scikit-learn would write it: the yardstick for speed and objective.

    maximise over W (d x d', W'W = I), U (n x c, one 1 a row), G (c x d'):
        tr(W' S W) - alpha ||X W - U G||^2 - beta sum_i (||w^i||^2 + eps)^(p/2),     S = X'X, X centred

Each iteration: D from the current W; U, the best of ten k-means starts on XW and of the previous U refined; W, the
leading eigenvectors of (1 - alpha) S + alpha X'U(U'U)^-1U'X - beta D; G, the cluster means. docs/ufcm.md says more.

    python bench/plain_ufcm.py DATA.npy -c 10 --alpha 1 --beta 10 --p 1 --seed 0
"""

import argparse
import json
import time
from dataclasses import dataclass, field

import numpy as np
import scipy.linalg
import scipy.sparse
from sklearn.cluster import KMeans

EPS = 1e-10


@dataclass
class Result:
    scores: np.ndarray
    W: np.ndarray
    labels: np.ndarray
    objective: list = field(default_factory=list)
    terms: dict = field(default_factory=lambda: {"scatter": [], "within": [], "sparsity": []})
    converged: bool = False


def leading(M, count):
    """Eigenvalues (falling) and eigenvectors of the `count` largest eigenvalues of M."""
    d = M.shape[0]
    values, vectors = scipy.linalg.eigh(M, subset_by_index=[d - count, d - 1])
    return values[::-1], vectors[:, ::-1]


def memberships(labels, c):
    """U' as a sparse c x n matrix, and the sizes of the clusters (1 for an empty one, whose sums are 0)."""
    n = len(labels)
    Ut = scipy.sparse.csr_matrix((np.ones(n), (labels, np.arange(n))), shape=(c, n))
    return Ut, np.maximum(np.bincount(labels, minlength=c), 1)


def best_clusters(Y, c, previous, restarts, rng):
    """The previous U refined, or the best of some k-means starts: whichever lies closer to its own means."""
    seed = int(rng.integers(2**31 - 1))
    best = KMeans(n_clusters=c, n_init=restarts, random_state=seed).fit(Y)
    if previous is not None:
        Ut, sizes = memberships(previous, c)
        again = KMeans(n_clusters=c, init=(Ut @ Y) / sizes[:, None], n_init=1).fit(Y)
        if again.inertia_ <= best.inertia_:
            best = again
    return best.labels_


def plain_ufcm(X, c, alpha=1.0, beta=10.0, p=1.0, dims=None, restarts=10, iterations=50, tolerance=1e-6, seed=0):
    rng = np.random.default_rng(seed)
    X = np.asarray(X, dtype=np.float64)
    varying = np.flatnonzero(np.ptp(X, axis=0) > 0)  # constant columns score 0
    d_all = X.shape[1]
    X = X[:, varying] - X[:, varying].mean(axis=0)
    n, d = X.shape

    S = X.T @ X
    # d' = min(c - 1, rank), at least 1, below d. W0: the leading principal directions.
    count = dims or max(1, min(c - 1, n - 1, d - 1))
    values, W = leading(S, count)
    if dims is None:
        count = max(1, int(np.sum(values > max(n, d) * np.finfo(float).eps * values[0])))
        W = W[:, :count]

    result = Result(scores=np.zeros(d_all), W=W, labels=None)
    Y = X @ W
    for _ in range(iterations):
        D = (p / 2) * (np.sum(W**2, axis=1) + EPS) ** (p / 2 - 1)
        labels = best_clusters(Y, c, result.labels, restarts, rng)
        Ut, sizes = memberships(labels, c)
        A = (Ut @ X) / np.sqrt(sizes)[:, None]  # A'A = X'U(U'U)^-1U'X
        M = (1 - alpha) * S + alpha * (A.T @ A)
        M[np.diag_indices(d)] -= beta * D
        _, W = leading(M, count)
        Y = X @ W
        G = (Ut @ Y) / sizes[:, None]

        scatter = np.sum(Y**2)
        within = np.sum((Y - G[labels]) ** 2)
        sparsity = np.sum((np.sum(W**2, axis=1) + EPS) ** (p / 2))
        result.W, result.labels = W, labels
        result.objective.append(float(scatter - alpha * within - beta * sparsity))
        for name, term in zip(("scatter", "within", "sparsity"), (scatter, within, sparsity)):
            result.terms[name].append(float(term))
        if len(result.objective) > 1:
            gain = result.objective[-1] - result.objective[-2]
            if gain <= tolerance * (scatter + alpha * within + beta * sparsity):
                result.converged = True
                break

    result.scores[varying] = np.linalg.norm(result.W, axis=1)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", help=".npy, or .npz with an array X")
    parser.add_argument("-c", "--clusters", type=int, default=8)
    parser.add_argument("--alpha", type=float, default=1.0)
    parser.add_argument("--beta", type=float, default=10.0)
    parser.add_argument("--p", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()

    X = np.load(arguments.data)
    if not isinstance(X, np.ndarray):
        X = X["X"]
    start = time.perf_counter()
    result = plain_ufcm(X, arguments.clusters, arguments.alpha, arguments.beta, arguments.p, seed=arguments.seed)
    seconds = time.perf_counter() - start
    report = {"seconds": seconds, "objective": result.objective[-1], "iterations": len(result.objective),
              "converged": result.converged, "best": np.argsort(-result.scores, kind="stable")[:10].tolist()}
    print(json.dumps(report))


if __name__ == "__main__":
    main()
