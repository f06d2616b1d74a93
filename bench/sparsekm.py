"""Sparse k-means on the simulation of Witten & Tibshirani (JASA 2010): does it recover the planted columns?

    python bench/sparsekm.py [--seeds 50] [--shift 1.0] [--peer] [--write DIR]

60 rows in 3 clusters of 20 and 500 columns, 60 of which differ: their mean is +shift, 0 or -shift by cluster; all have
deviation 1. For each seed: s by the permutation gap, the number of columns with weight, how many of them are planted
(precision), how many planted ones have weight (recall), and the share of the planted ones among the first 60 (top). `cer` is the
classification error rate of the clusters, as in the paper: the share of pairs of rows that are together in one of clusters and
classes only. --peer runs the algorithm of the authors' R package sparcl on the same tables, in NumPy (half a minute a table):
KMeansSparseCluster.permute with its ten bounds, 25 permutations, 20 starts and 6 iterations; k-means ends, as R's does, where
no single row can change its cluster. --write leaves the tables as CSV files for other programs.
"""

import argparse
import itertools
from pathlib import Path

import numpy as np

import tamis

ROWS, COLUMNS, PLANTED = 20, 500, 60


def simulated(seed, shift):
    rng = np.random.default_rng(seed)
    classes = np.repeat([0, 1, 2], ROWS)
    X = rng.normal(size=(3 * ROWS, COLUMNS))
    X[:, :PLANTED] += shift * (1 - classes)[:, None]
    return X, classes


def error_rate(classes, clusters):
    pairs = list(itertools.combinations(range(len(classes)), 2))
    return np.mean([(classes[i] == classes[j]) != (clusters[i] == clusters[j]) for i, j in pairs])


def measures(weights, clusters, classes):
    chosen = weights > 0
    found = chosen[:PLANTED].sum()
    first = np.argsort(-weights, kind="stable")[:PLANTED]
    return chosen.sum(), found / max(1, chosen.sum()), found / PLANTED, np.mean(first < PLANTED), error_rate(classes, clusters)


# --- The authors' algorithm ------------------------------------------------------------------------------------------


def kmeans(products, labels, K):
    """Labels from which no row can go elsewhere to lower the inertia, as Hartigan and Wong's; by the products of the rows."""
    squares, rows = np.diag(products), np.arange(len(products))
    for _ in range(100):
        members = (labels[:, None] == np.arange(K)).astype(float)
        sizes = members.sum(0)
        sums = products @ members
        lengths = (members * sums).sum(0)
        moved = False
        for i in rows:
            own = labels[i]
            if sizes[own] == 1:
                continue
            distances = squares[i] - 2 * sums[i] / sizes + lengths / sizes**2
            costs = distances * sizes / (sizes + 1)
            costs[own] = distances[own] * sizes[own] / (sizes[own] - 1)
            best = costs.argmin()
            if costs[best] < costs[own] * (1 - 1e-12):
                lengths[own] += squares[i] - 2 * sums[i, own]
                lengths[best] += squares[i] + 2 * sums[i, best]
                sums[:, own] -= products[i]
                sums[:, best] += products[i]
                sizes[own] -= 1
                sizes[best] += 1
                labels[i] = best
                moved = True
        if not moved:
            break
    return labels


def nearest(X, centers):
    return ((centers**2).sum(1) - 2 * X @ centers.T).argmin(1)


def within(Z, labels, K):
    """Sums of squares within the clusters, by column."""
    return sum(((Z[labels == k] - Z[labels == k].mean(0)) ** 2).sum(0) for k in range(K) if (labels == k).any())


def weights_of(a, bound):
    """max w'a over ||w||_2 <= 1, ||w||_1 <= bound."""
    scaled = lambda t: (s := np.maximum(a - t, 0)) / np.linalg.norm(s)  # noqa: E731
    if scaled(0).sum() <= bound:
        return scaled(0)
    low, high = 0.0, a.max() - 1e-5
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (low, middle) if scaled(middle).sum() < bound else (middle, high)
    return scaled((low + high) / 2)


def sparcl(X, K, bounds, rng, starts=20, iterations=6):
    """(weights, labels, objective) by bound."""
    total = ((X - X.mean(0)) ** 2).sum(0)
    begun = [nearest(X, X[rng.choice(len(X), K, replace=False)]) for _ in range(starts)]
    products = X @ X.T
    first = min((kmeans(products, one, K) for one in begun), key=lambda one: within(X, one, K).sum())
    out = []
    for bound in bounds:  # each from the same clusters, which serves it better than those of the bound before
        labels = first
        w, before = np.full(X.shape[1], X.shape[1] ** -0.5), None
        for iteration in range(iterations):
            if before is not None and np.abs(w - before).sum() <= 1e-4 * np.abs(before).sum():
                break
            before = w
            if iteration > 0:
                Z = X[:, w > 0] * np.sqrt(w[w > 0])
                found = nearest(Z, np.stack([Z[labels == k].mean(0) for k in range(K)]))
                labels = kmeans(Z @ Z.T, found, K) if len(np.unique(found)) == K else labels
            a = total - within(X, labels, K)
            w = weights_of(a, bound)
        out.append((w, labels, w @ a))
    return out


def sparcl_by_gap(X, K, rng, permutations=25):
    """(bound, weights, labels) where the permutation gap is largest."""
    X = X - X.mean(0)
    bounds = np.exp(np.linspace(np.log(1.2), np.log(0.9 * np.sqrt(X.shape[1])), 10))
    found = sparcl(X, K, bounds, rng)
    permuted = [[value for *_, value in sparcl(rng.permuted(X, axis=0), K, bounds, rng)] for _ in range(permutations)]
    gaps = np.log([value for *_, value in found]) - np.log(permuted).mean(0)
    best = int(gaps.argmax())
    return bounds[best], *found[best][:2]


# --- The comparison --------------------------------------------------------------------------------------------------


def report(name, rows):
    print(f"{name}: mean (standard error)")
    for title, values in zip(("s", "columns", "precision", "recall", "top", "cer"), np.array(rows).T):
        print(f"  {title:10s} {values.mean():.3f} ({values.std(ddof=1) / np.sqrt(len(values)):.3f})", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=50)
    parser.add_argument("--shift", type=float, default=1.0)
    parser.add_argument("--peer", action="store_true")
    parser.add_argument("--write")
    arguments = parser.parse_args()
    ours, theirs = [], []
    for seed in range(arguments.seeds):
        X, classes = simulated(seed, arguments.shift)
        if arguments.write:
            Path(arguments.write).mkdir(parents=True, exist_ok=True)
            np.savetxt(Path(arguments.write) / f"{seed}.csv", X, delimiter=",")
        selector = tamis.SparseKMeans(n_clusters=3, redundancy=None).fit(X)
        ours.append((selector.report_["resolved"]["bound"], *measures(selector.scores_, selector.labels_, classes)))
        if arguments.peer:
            bound, weights, labels = sparcl_by_gap(X, 3, np.random.default_rng(seed))
            theirs.append((bound, *measures(weights, labels, classes)))
    print(f"{arguments.seeds} seeds, shift {arguments.shift}")
    report("tamis", ours)
    if theirs:
        report("sparcl's algorithm", theirs)


if __name__ == "__main__":
    main()
