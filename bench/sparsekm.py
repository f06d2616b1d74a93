"""Sparse k-means on the simulation of Witten & Tibshirani (JASA 2010): does it recover the planted columns?

    python bench/sparsekm.py [--seeds 50] [--shift 1.0] [--write DIR]

60 rows in 3 clusters of 20 and 500 columns, 60 of which differ: their mean is +shift, 0 or -shift by cluster; all have
deviation 1. For each seed: s by the permutation gap, the number of columns with weight, how many of them are planted
(precision), how many planted ones have weight (recall), and the share of the planted ones among the first 60 (top). `cer` is the
classification error rate of the clusters, as in the paper: the share of pairs of rows that are together in one of clusters and
classes only. --write leaves the tables as CSV files for other programs (R's sparcl).
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


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=50)
    parser.add_argument("--shift", type=float, default=1.0)
    parser.add_argument("--write")
    arguments = parser.parse_args()
    rows = []
    for seed in range(arguments.seeds):
        X, classes = simulated(seed, arguments.shift)
        if arguments.write:
            Path(arguments.write).mkdir(parents=True, exist_ok=True)
            np.savetxt(Path(arguments.write) / f"{seed}.csv", X, delimiter=",")
        selector = tamis.SparseKMeans(n_clusters=3, redundancy=None).fit(X)
        rows.append((selector.report_["resolved"]["bound"], *measures(selector.scores_, selector.labels_, classes)))
    names = ("s", "columns", "precision", "recall", "top", "cer")
    print(f"{arguments.seeds} seeds, shift {arguments.shift}: mean (standard error)")
    for name, values in zip(names, np.array(rows).T):
        print(f"  {name:10s} {values.mean():.3f} ({values.std(ddof=1) / np.sqrt(len(values)):.3f})")


if __name__ == "__main__":
    main()
