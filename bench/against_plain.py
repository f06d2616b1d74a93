"""The whole command against a plain NumPy/SciPy/scikit-learn UFCM on the paper's six data sets, one thread each.

The plain side is timed on an array in memory, after imports; the command as a whole process that reads the file and
prints its result, both in CPU seconds. Runs alternate. Data: a folder of .npz files with X and y (see docs/ufcm.md),
../shared/data or TAMIS_DATA.

    python bench/against_plain.py [--sets usps,orl] [--seeds 5] [--repeat 1] [--dtype float32] [--mnist]
"""

import os

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # before NumPy is loaded

import argparse
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np
from threadpoolctl import threadpool_limits

from command import run_command
from plain_ufcm import EPS, plain_ufcm

DATA = Path(os.environ.get("TAMIS_DATA", Path(__file__).resolve().parent.parent.parent / "shared" / "data"))
SETS = ["umist", "orl", "coil20", "usps", "yaleb", "mnist_s"]
SETTINGS = [(1.0, 10.0, 1.0), (0.1, 10.0, 0.5)]  # alpha, beta, p


def load(name, dtype):
    with np.load(DATA / f"{name}.npz") as file:
        X, y = file["X"], file["y"]
    return (X / 255 if X.dtype == np.uint8 else X).astype(dtype), len(np.unique(y))


def check_sparsity(run, p):
    """Scores are the row norms of W, so one term of the objective can be recomputed from the outside."""
    scores = np.array([score for score in run.result["scores"] if score])  # constant columns score 0
    expected = np.sum((scores**2 + EPS) ** (p / 2))
    reported = run.result["report"]["terms"]["sparsity"][-1]
    if not np.isclose(reported, expected, rtol=1e-6):
        print(f"  the reported sparsity term {reported} is not that of the scores, {expected}", file=sys.stderr)


def compare(name, setting, seeds, repeat, dtype, folder):
    X, classes = load(name, dtype)
    path = Path(folder) / f"{name}.npy"
    np.save(path, X)
    alpha, beta, p = setting
    plain_seconds, plain_objective, plain_iterations = [], [], []
    our_seconds, our_objective, our_iterations = [], [], []
    for seed in range(seeds):
        for _ in range(repeat):
            start = time.process_time()
            plain = plain_ufcm(X, classes, alpha, beta, p, seed=seed)
            plain_seconds.append(time.process_time() - start)
            run = run_command(["select", path, "-m", "ufcm", "-c", classes, "--alpha", alpha, "--beta", beta, "--p", p,
                               "--seed", seed, "--threads", 1], folder)
            our_seconds.append(run.cpu_seconds)
        check_sparsity(run, p)
        plain_objective.append(plain.objective[-1])
        plain_iterations.append(len(plain.objective))
        our_objective.append(run.result["report"]["objective"][-1])
        our_iterations.append(run.result["report"]["iterations"])
    slow, fast = median(plain_seconds), median(our_seconds)
    theirs, ours = median(plain_objective), median(our_objective)
    print(f"{name:8} {alpha:5g} {beta:4g} {p:4g} {slow:10.3f} {fast:9.4f} {slow / fast:7.1f} "
          f"{theirs:14.6g} {ours:14.6g} {(ours - theirs) / abs(theirs):+10.1e} "
          f"{median(plain_iterations):6g} {median(our_iterations):5g}", flush=True)
    return slow / fast


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", default=",".join(SETS), help="names with commas between")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--repeat", type=int, default=1, help="runs of each side a seed")
    parser.add_argument("--dtype", default="float64", choices=["float64", "float32"])
    parser.add_argument("--mnist", action="store_true", help="the full MNIST as well (minutes)")
    arguments = parser.parse_args()
    if not DATA.is_dir():
        sys.exit(f"no data in {DATA}: set TAMIS_DATA to the folder with {', '.join(SETS)} (.npz)")

    print(f"{'set':8} {'alpha':>5} {'beta':>4} {'p':>4} {'plain s':>10} {'tamis s':>9} {'times':>7} "
          f"{'plain obj.':>14} {'tamis obj.':>14} {'difference':>10} {'iterations':>12}")
    ratios = []
    with threadpool_limits(1), tempfile.TemporaryDirectory() as folder:
        for name in arguments.sets.split(",") + ["mnist"] * arguments.mnist:
            for setting in SETTINGS:
                ratios.append(compare(name, setting, arguments.seeds, arguments.repeat, arguments.dtype, folder))
    print(f"medians over seeds; median of {len(ratios)} ratios {median(ratios):.1f}, smallest {min(ratios):.1f}")


if __name__ == "__main__":
    main()
