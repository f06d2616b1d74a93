"""The whole command against the fastest libraries for a part of its work: CPU seconds, medians, in one run.

    kmeans      1 000 000 x 64 in ten groups: ufcm -c 10 against one start of k-means of scikit-learn and scikit-learn-intelex
    components  MNIST, 70 000 x 784: fspca with ten directions against PCA of scikit-learn and scikit-learn-intelex
    sparse      20 000 x 30 000, 1 % of random positions: ufcm -c 10 against TruncatedSVD of scikit-learn
    exact       USPS, 9298 x 256: lapscore against the five nearest of scikit-learn and scikit-learn-intelex alone
    cells       100 000 x 50 in 20 groups: lapscore against pynndescent and faiss at a recall of .98, neighbors alone

The command reads its table, selects and prints; the peers are timed on an array in memory, without imports. The plain NumPy
version of UFCM and scikit-feature have benchmarks of their own, against_plain.py and rivals.py. Data: usps.npz and mnist.npz
in ../shared/data or TAMIS_DATA.

    python bench/anchors.py [--only kmeans,components,sparse,exact,cells] [--repeat 3] [--threads 1]
"""

import argparse
import os
import tempfile
from pathlib import Path
from statistics import median

import numpy as np
import scipy.sparse

import peers
from command import run_command

DATA = Path(os.environ.get("TAMIS_DATA", Path(__file__).resolve().parent.parent.parent / "shared" / "data"))


def of_data(name, dtype):
    with np.load(DATA / f"{name}.npz") as file:
        return file["X"].astype(dtype)


def in_groups(n, d, count, spread, rng):
    centers = spread * rng.standard_normal((count, d))
    return (centers[rng.integers(count, size=n)] + rng.standard_normal((n, d))).astype(np.float32)


def planted(rng):
    X = rng.standard_normal((1_000_000, 64))
    X[:, :16] += 4 * rng.standard_normal((10, 16))[rng.integers(10, size=len(X))]
    return X


def scattered(_):
    values = np.random.default_rng(0).standard_normal
    return scipy.sparse.random(20000, 30000, 0.01, format="csr", random_state=0, data_rvs=values)


# name -> (table, words of tamis, peers: (name, library, task, what it is told))
CASES = {
    "kmeans": (planted, ["-m", "ufcm", "-c", 10],
               [(f"{name} KMeans, one start, seed {seed}", library, "kmeans", {"clusters": 10, "seed": seed})
                for name, library in (("scikit-learn", "sklearn"), ("intelex", "intelex")) for seed in range(3)]),
    "components": (lambda _: of_data("mnist", np.float32), ["-m", "fspca", "--dims", 10, "--redundancy", "off"],
                   [(f"{name} PCA, {solver}", library, "components", {"components": 10, "solver": solver})
                    for name, library, solver in (("scikit-learn", "sklearn", "randomized"),
                                                  ("scikit-learn", "sklearn", "covariance_eigh"),
                                                  ("intelex", "intelex", "auto"))]),
    "sparse": (scattered, ["-m", "ufcm", "-c", 10, "-k", 100],
               [("scikit-learn TruncatedSVD", "sklearn", "truncated", {"components": 10})]),
    "exact": (lambda _: of_data("usps", np.float32), ["-m", "lapscore"],
              [(f"{name} NearestNeighbors", library, "nearest", {"neighbors": 5})
               for name, library in (("scikit-learn", "sklearn"), ("intelex", "intelex"))]),
    "cells": (lambda rng: in_groups(100_000, 50, 20, 3, rng), ["-m", "lapscore"],
              [(f"pynndescent, {count} neighbors", "pynndescent", "descent", {"neighbors": count}) for count in (15, 30)] +
              [("faiss IVF", "faiss", "inverted", {"recall": 0.98})]),
}


def saved(folder, X):
    path = Path(folder) / ("table.npz" if scipy.sparse.issparse(X) else "table.npy")
    if scipy.sparse.issparse(X):
        scipy.sparse.save_npz(path, X, compressed=False)
    else:
        np.save(path, X)
    return path


def row(case, what, seconds, ours, facts):
    ratio = f"{ours / seconds:8.2f}" if ours else f"{'':8}"
    print(f"{case:11} {what:40} {seconds:9.2f} {ratio}  {', '.join(f'{key} {value:.4g}' for key, value in facts.items())}",
          flush=True)


def compare(case, arguments, folder):
    table, words, rivals = CASES[case]
    path = saved(folder, table(np.random.default_rng(0)))
    runs = [run_command(["select", path, *words, "--threads", arguments.threads], folder) for _ in range(arguments.repeat)]
    ours = median(run.cpu_seconds for run in runs)
    resolved = runs[0].result["report"]["resolved"]
    row(case, f"tamis select {' '.join(map(str, words))}", ours, None,
        {"recall": resolved["measured_recall"]} if "measured_recall" in resolved else {})
    for what, library, task, told in rivals:
        found = [peers.call(library, task, path, threads=arguments.threads, **told) for _ in range(arguments.repeat)]
        if found[0][0] is None:
            print(f"{'':11} {what:40} not available: {found[0][1]}", flush=True)
            continue
        row("", what, median(seconds for seconds, _ in found), ours, found[0][1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default=",".join(CASES), help="names with commas between")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    print(f"{'case':11} {'':40} {'CPU s':>9} {'tamis/it':>8}")
    for case in arguments.only.split(","):
        with tempfile.TemporaryDirectory() as folder:
            compare(case, arguments, folder)


if __name__ == "__main__":
    main()
