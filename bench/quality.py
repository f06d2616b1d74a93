"""What the selectors are worth without labels: ACC and NMI of k-means on the chosen columns, in points.

    .venv/bin/python bench/quality.py DATA/*.npz DATA/more/*.npz [--rows 700] [--seeds 3] [--out quality.json]

A set is an .npz with X and y. At most --rows rows of it are used, the same for every selector. uint8 is divided by 255;
genes (lung_small, tox_171, colon) get unit deviations, text (relathe) tf-idf and unit rows.
Each selection is clustered by scikit-learn's k-means with the true number of clusters: the mean of ten single k-means++
starts, and the best of them by inertia. Printed: every set, and means over sets of the difference to all columns with a
bootstrap interval of 95 % over sets. At the end: what the agreement of k-means with the guide, which needs no labels,
says of the gain by the labels.
"""

import argparse
import json
import warnings
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr
from sklearn.cluster import KMeans

import tamis
from tamis.metrics import clustering_accuracy, normalized_mutual_info

GENES = {"lung_small", "tox_171", "colon"}
TEXT = {"relathe"}


def prepared(path, rows):
    with np.load(path, allow_pickle=False) as file:
        X, y = file["X"], file["y"]
    chosen = np.sort(np.random.default_rng(0).permutation(len(X))[:rows])
    X, y = X[chosen].astype(float) / (255.0 if X.dtype == np.uint8 else 1.0), y[chosen]
    name = Path(path).stem
    if name in GENES:
        deviation = X.std(axis=0)
        X = X / np.where(deviation > 0, deviation, 1)
    if name in TEXT:
        X = unit(X * np.log(len(X) / np.maximum((X > 0).sum(axis=0), 1)))
    return name, X, np.unique(y, return_inverse=True)[1]


def unit(X):
    return X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-12)


def worth(X, y, columns, text):
    """Mean of ten starts and best of ten: ACC, NMI, ACC, NMI."""
    Z, c = X[:, columns], y.max() + 1
    Z = unit(Z) if text else Z
    runs = [KMeans(c, n_init=1, random_state=seed).fit(Z) for seed in range(10)]
    scores = np.array([(clustering_accuracy(y, run.labels_), normalized_mutual_info(y, run.labels_)) for run in runs])
    best = scores[int(np.argmin([run.inertia_ for run in runs]))]
    return [*(100 * scores.mean(axis=0)), *(100 * best)]


def rankings(X, c, seed):
    """Name: (order, number of columns that it chooses itself or None)."""
    guided = tamis.GuidedUFCM(random_state=seed).fit(X)
    told = tamis.GuidedUFCM(n_clusters=c, random_state=seed).fit(X)
    fits = {
        "guided": guided,
        "guided, c": told,
        "ufcm": tamis.UFCM(n_clusters=c, random_state=seed).fit(X),
        "ufcm qr": tamis.UFCM(n_clusters=c, sparsity=0.1, order="qr", random_state=seed).fit(X),
        "variance": tamis.MaxVariance().fit(X),
    }
    out = {name: np.argsort(fit.ranking_) for name, fit in fits.items()}
    out["random"] = np.random.default_rng(seed).permutation(X.shape[1])
    auto = {"guided": int(guided.get_support().sum()), "guided, c": int(told.get_support().sum())}
    return out, auto, guided.report_["agreement"]


def measure(path, rows, seeds):
    name, X, y = prepared(path, rows)
    d, text, found, agreements = X.shape[1], name in TEXT, {}, []
    found["all", "all"] = [worth(X, y, np.arange(d), text)]
    for seed in range(seeds):
        orders, auto, agreement = rankings(X, int(y.max()) + 1, seed)
        for method, order in orders.items():
            sizes = {f"{share} %": max(1, round(d * share / 100)) for share in (5, 10, 20)}
            sizes["auto"] = auto["guided, c" if method.endswith(", c") else "guided"]
            for size, k in sizes.items():
                found.setdefault((method, size), []).append(worth(X, y, np.sort(order[:k]), text))
        if agreement is not None:
            gain = np.subtract(found["guided", "auto"][-1], found["all", "all"][0])
            agreements.append([agreement["selected"], agreement["all"], gain[0], gain[1]])
    means = {key: np.mean(values, axis=0).round(2).tolist() for key, values in found.items()}
    return name, X.shape, auto["guided"], means, agreements


def interval(values, draws=2000):
    values = np.array(values)
    picks = np.random.default_rng(0).integers(0, len(values), (draws, len(values)))
    low, high = np.percentile(values[picks].mean(axis=1), [2.5, 97.5])
    return f"{values.mean():+5.1f} [{low:+.1f}, {high:+.1f}]"


def print_agreements(known):
    """Runs x (agreement on the selected columns, on all, gain in ACC, in NMI)."""
    higher = known[:, 0] - known[:, 1]
    correlations = [spearmanr(higher, known[:, 2 + m])[0] for m in range(2)]
    print("\nAgreement with the guide, on the selected columns less on all: rank correlation with the gain in ACC, NMI", end="")
    print(f" {correlations[0]:.2f}, {correlations[1]:.2f}")
    for name, runs in (("higher", known[higher > 0]), ("not higher", known[higher <= 0])):
        if len(runs):
            print(f"{name}: {len(runs)} runs, gain {runs[:, 2].mean():+.1f} {runs[:, 3].mean():+.1f}, "
                  f"NMI rose in {(runs[:, 3] > 0).sum()}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="+")
    parser.add_argument("--rows", type=int, default=700)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--out")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    results, agreements = {}, []
    for path in options.sets:
        name, shape, k, means, known = measure(path, options.rows, options.seeds)
        agreements += known
        results[name] = means
        compared = ("guided", "guided, c", "ufcm", "variance", "random")
        line = "  ".join(f"{method} {means[method, 'auto'][0]:.1f}" for method in compared)
        print(f"{name:16} {shape[0]:5} x {shape[1]:5}  k {k:4}  all {means['all', 'all'][0]:.1f}  {line}", flush=True)
    print("\nDifference to all columns, mean over sets: ACC, NMI of single starts; ACC, NMI of the best of ten")
    for key in dict.fromkeys(key for means in results.values() for key in means):
        rows = np.array([np.subtract(means[key], means["all", "all"]) for means in results.values() if key in means])
        print(f"{key[0]:10} {key[1]:5} " + "   ".join(interval(column) for column in rows.T))
    print_agreements(np.array(agreements))
    if options.out:
        Path(options.out).write_text(json.dumps({name: {" | ".join(k): v for k, v in m.items()} for name, m in results.items()}))


if __name__ == "__main__":
    main()
