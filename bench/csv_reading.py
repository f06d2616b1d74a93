"""Time to read a CSV file on one thread: tamis.read against polars.read_csv and pandas.read_csv, in turns, in one process.

    .venv/bin/python bench/csv_reading.py [--rows 500000] [--columns 30] [--repeats 5]

Prints the median CPU seconds of each and the factor against Polars. Numbers must agree bit for bit with Python's float().
"""

import argparse
import os
import statistics
import tempfile
import time

os.environ.setdefault("POLARS_MAX_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np  # noqa: E402

import tamis  # noqa: E402


def write_table(path, rows, columns):
    """Sensor readings: numbers of 3 to 6 digits, some of full precision, counts."""
    rng = np.random.default_rng(0)
    X = rng.normal(100, 25, (rows, columns)).round(3)
    X[:, ::5] = rng.integers(0, 1000, X[:, ::5].shape)
    X[:, 1::10] = rng.standard_normal(X[:, 1::10].shape)
    with open(path, "w") as file:
        file.write(",".join(f"sensor{j}" for j in range(columns)) + "\n")
        for row in X.tolist():
            file.write(",".join(map(repr, row)) + "\n")
    return X


def cpu_seconds(work):
    start = time.process_time()
    work()
    return time.process_time() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--columns", type=int, default=30)
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    import pandas as pd
    import polars as pl

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "table.csv")
        X = write_table(path, arguments.rows, arguments.columns)
        print(f"{arguments.rows} x {arguments.columns}, {os.path.getsize(path) / 1e6:.0f} MB")
        assert np.array_equal(np.asarray(tamis.read(path).X), X), "numbers differ from Python's"
        readers = {
            "tamis.read": lambda: tamis.read(path),
            "polars.read_csv": lambda: pl.read_csv(path),
            "pandas.read_csv": lambda: pd.read_csv(path),
        }
        seconds = {name: [] for name in readers}
        for _ in range(arguments.repeats):
            for name, work in readers.items():
                seconds[name].append(cpu_seconds(work))
        base = statistics.median(seconds["polars.read_csv"])
        for name, times in seconds.items():
            print(f"{name:16} {statistics.median(times):6.2f} s CPU  {statistics.median(times) / base:5.2f} x polars")


if __name__ == "__main__":
    main()
