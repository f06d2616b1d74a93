"""What `tamis select` forecast against what the run then took: peak memory and time, over shapes and methods.

    .venv/bin/python bench/forecast.py [--command build/tamis] [--threads 2]

The forecast of memory should be above the peak by at most 15 %, that of time within a factor of two.
"""

import argparse
import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from numpy.lib.format import open_memmap

# method, rows, columns, type, further options
SHAPES = [
    ("ufcm", 1_000, 100, "f8", []),
    ("ufcm", 20_000, 64, "f8", []),
    ("ufcm", 100_000, 300, "f4", []),
    ("ufcm", 500_000, 64, "f4", []),
    ("ufcm", 1_000_000, 32, "f8", ["-c", "20"]),
    ("ufcm", 300_000, 300, "f4", ["--memory", "320MB"]),
    ("ufcm", 1_000_000, 100, "f4", ["--memory", "360MB"]),
    ("ufcm", 2_000, 10_000, "f8", []),
    ("ufcm", 300, 50_000, "f8", []),
    ("ufcm", 5_000, 3_000, "f4", ["--alpha", "0.1"]),
    ("ufcm", 20_000, 1_000, "u1", ["--alpha", "0.1", "-c", "30"]),
    ("ufcm", 100, 20_000, "f8", ["-c", "4"]),
    ("maxvar", 200_000, 200, "f4", []),
    ("maxvar", 1_000, 50_000, "f8", []),
    ("lapscore", 10_000, 200, "f8", []),
    ("lapscore", 2_000, 5_000, "f8", []),
    ("spec", 8_000, 300, "f8", []),
    ("mcfs", 10_000, 200, "f8", []),
    ("mcfs", 1_000, 4_000, "f8", []),
    ("ndfs", 3_000, 500, "f8", []),
    ("rufs", 2_000, 300, "f8", []),
]


def write(path, rows, columns, kind, clusters=8):
    """Rows around centres that differ in the first columns; written in pieces."""
    random = np.random.default_rng(0)
    centers = np.zeros((clusters, columns))
    centers[:, : min(20, columns)] = 3 * random.standard_normal((clusters, min(20, columns)))
    table = open_memmap(path, "w+", kind, (rows, columns))
    for first in range(0, rows, 10_000):
        count = min(10_000, rows - first)
        piece = random.standard_normal((count, columns)) + centers[np.arange(first, first + count) % clusters]
        table[first : first + count] = np.clip(20 * piece + 128, 0, 255) if kind == "u1" else piece
    table.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--command", default="build/tamis")
    parser.add_argument("--threads", default="2")
    parser.add_argument("--only", default="", help="a method")
    arguments = parser.parse_args()
    print(f"{'method':9}{'rows':>9}{'columns':>9}  {'MB':>7}{'forecast':>9}{'ratio':>7}  {'s':>7}{'forecast':>9}{'ratio':>7}"
          f"  {'passes':>6}{'forecast':>9}  storage")
    for method, rows, columns, kind, options in SHAPES:
        if arguments.only not in ("", method):
            continue
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "x.npy"
            write(path, rows, columns, kind)
            words = [arguments.command, "select", path, "-m", method, *options, "--threads", arguments.threads, "--json", "--quiet"]
            done = subprocess.run(list(map(str, words)), capture_output=True, text=True)
        if done.returncode:
            print(f"{method:9}{rows:9}{columns:9}  {done.stderr.strip()}")
            continue
        result = json.loads(done.stdout)
        expected, report = result["forecast"], result["report"]
        memory, seconds = expected["peak_bytes"] / report["peak_bytes"], expected["seconds"] / report["seconds"]
        print(f"{method:9}{rows:9}{columns:9}  {report['peak_bytes'] / 1e6:7.0f}{expected['peak_bytes'] / 1e6:9.0f}{memory:7.2f}"
              f"  {report['seconds']:7.2f}{expected['seconds']:9.2f}{seconds:7.2f}  {report['passes']:6}"
              f"{expected['passes']:9.0f}  {result['data']['storage']}", flush=True)


if __name__ == "__main__":
    main()
