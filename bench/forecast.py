"""What `tamis select` forecast against what the run then took: peak memory and time, over shapes and methods.

    .venv/bin/python bench/forecast.py [--command build/tamis] [--threads 2] [--only METHOD]
    .venv/bin/python bench/forecast.py --random 200 [--seed 1]      # shapes of all kinds, dense and sparse

The forecast of memory should be above the peak by at most 15 %, that of time within a factor of two.
"""

import argparse
import json
import math
import random
import subprocess
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse
from numpy.lib.format import open_memmap


class Shape(NamedTuple):
    method: str
    rows: int
    columns: int
    kind: str
    options: list
    density: float = 1.0  # below 1: a sparse table


SHAPES = [
    Shape("ufcm", 1_000, 100, "f8", []),
    Shape("ufcm", 20_000, 64, "f8", []),
    Shape("ufcm", 100_000, 300, "f4", []),
    Shape("ufcm", 500_000, 64, "f4", []),
    Shape("ufcm", 1_000_000, 32, "f8", ["-c", "20"]),
    Shape("ufcm", 300_000, 300, "f4", ["--memory", "320MB"]),
    Shape("ufcm", 1_000_000, 100, "f4", ["--memory", "360MB"]),
    Shape("ufcm", 2_000, 10_000, "f8", []),
    Shape("ufcm", 300, 50_000, "f8", []),
    Shape("ufcm", 5_000, 3_000, "f4", ["--alpha", "0.1"]),
    Shape("ufcm", 20_000, 1_000, "u1", ["--alpha", "0.1", "-c", "30"]),
    Shape("ufcm", 100, 20_000, "f8", ["-c", "4"]),
    Shape("maxvar", 200_000, 200, "f4", []),
    Shape("maxvar", 1_000, 50_000, "f8", []),
    Shape("lapscore", 10_000, 200, "f8", []),
    Shape("lapscore", 2_000, 5_000, "f8", []),
    Shape("spec", 8_000, 300, "f8", []),
    Shape("mcfs", 10_000, 200, "f8", []),
    Shape("mcfs", 1_000, 4_000, "f8", []),
    Shape("ndfs", 3_000, 500, "f8", []),
    Shape("rufs", 2_000, 300, "f8", []),
]


def affordable(method, rows, columns):
    """Takes seconds, not minutes."""
    if method in ("ndfs", "rufs"):
        return rows <= 3_000 and columns <= 3_000
    if method in ("lapscore", "spec", "mcfs"):
        return rows <= 16_000 and rows**2 * columns <= 1e11
    return True


def random_shapes(count, seed):
    choose = random.Random(seed)
    while count > 0:
        method = choose.choice(["ufcm"] * 3 + ["maxvar", "lapscore", "spec", "mcfs", "ndfs", "rufs"])
        rows = round(math.exp(choose.uniform(math.log(30), math.log(400_000))))
        columns = round(math.exp(choose.uniform(math.log(3), math.log(100_000))))
        if rows * columns > 3e7 or not affordable(method, rows, columns):
            continue
        options = ["-c", str(min(choose.choice([2, 4, 8, 8, 20, 40]), rows - 1))]
        if method == "ufcm":
            options += ["--alpha", choose.choice(["1", "1", "0.1", "0.5", "10"])]
        density = choose.choice([1, 1, 1, choose.choice([0.02, 0.1, 0.3])])
        yield Shape(method, rows, columns, choose.choice(["f8", "f4"] if density < 1 else ["f8", "f4", "u1"]), options, density)
        count -= 1


def write(folder, shape, clusters=8):
    """Rows around centres that differ in the first columns; written in pieces."""
    values = np.random.default_rng(0)
    centers = np.zeros((clusters, shape.columns))
    centers[:, : min(20, shape.columns)] = 3 * values.standard_normal((clusters, min(20, shape.columns)))
    pieces = []
    path = folder / ("x.npz" if shape.density < 1 else "x.npy")
    table = None if shape.density < 1 else open_memmap(path, "w+", shape.kind, (shape.rows, shape.columns))
    for first in range(0, shape.rows, 10_000):
        count = min(10_000, shape.rows - first)
        piece = values.standard_normal((count, shape.columns)) + centers[np.arange(first, first + count) % clusters]
        if table is None:
            pieces.append(scipy.sparse.csr_matrix((piece * (values.random(piece.shape) < shape.density)).astype(shape.kind)))
        else:
            table[first : first + count] = np.clip(20 * piece + 128, 0, 255) if shape.kind == "u1" else piece
    if table is None:
        scipy.sparse.save_npz(path, scipy.sparse.vstack(pieces, format="csr"), compressed=False)
    else:
        table.flush()
    return path


def measure(shape, arguments):
    """The JSON of a run on a table of that shape, and its time by the clock; or what it complained of."""
    with tempfile.TemporaryDirectory() as folder:
        path = write(Path(folder), shape)
        words = [arguments.command, "select", path, "-m", shape.method, *shape.options, "--threads", arguments.threads]
        start = time.perf_counter()
        done = subprocess.run([*map(str, words), "--json", "--quiet"], capture_output=True, text=True)
        wall = time.perf_counter() - start
    return {**json.loads(done.stdout), "wall": wall} if done.returncode == 0 else done.stderr.strip()


def summary(name, ratios, low, high):
    at = np.quantile(ratios, [0, 0.05, 0.5, 0.95, 1])
    inside = sum(low <= ratio <= high for ratio in ratios)
    print(f"{name}: {inside} of {len(ratios)} within {low}..{high}; least {at[0]:.2f}, 5 % {at[1]:.2f}, median {at[2]:.2f}, "
          f"95 % {at[3]:.2f}, most {at[4]:.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--command", default="build/tamis")
    parser.add_argument("--threads", default="2")
    parser.add_argument("--only", default="", help="a method")
    parser.add_argument("--random", type=int, default=0, help="so many random shapes instead of the list")
    parser.add_argument("--seed", type=int, default=1, help="of the random shapes")
    arguments = parser.parse_args()
    print(f"{'method':9}{'rows':>9}{'columns':>9}{'':>6}  {'MB':>7}{'forecast':>9}{'ratio':>7}"
          f"  {'s':>7}{'forecast':>9}{'ratio':>7}  {'passes':>6}{'forecast':>9}  storage")
    memory, seconds = [], []
    for shape in random_shapes(arguments.random, arguments.seed) if arguments.random else SHAPES:
        if arguments.only not in ("", shape.method):
            continue
        result = measure(shape, arguments)
        head = f"{shape.method:9}{shape.rows:9}{shape.columns:9}{'' if shape.density == 1 else f'{shape.density:g}':>6}"
        if isinstance(result, str):
            print(f"{head}  {result}")
            continue
        expected, report = result["forecast"], result["report"]
        memory.append(expected["peak_bytes"] / report["peak_bytes"])
        seconds.append(expected["seconds"] / result["wall"])
        print(f"{head}  {report['peak_bytes'] / 1e6:7.0f}{expected['peak_bytes'] / 1e6:9.0f}{memory[-1]:7.2f}"
              f"  {result['wall']:7.2f}{expected['seconds']:9.2f}{seconds[-1]:7.2f}  {report['passes']:6}"
              f"{expected['passes']:9.0f}  {result['data']['storage']}", flush=True)
    summary("memory", memory, 1, 1.15)
    summary("time", seconds, 0.5, 2)


if __name__ == "__main__":
    main()
