"""Peak memory of the client of tamis.dask: bench/dask_client.py [ROWS] [COLUMNS]

A scheduler and three workers of one thread each, all processes of their own; rows of float32 with eight planted
clusters are made on the workers and stay there. Prints seconds and the client's peak resident memory, before and after
the fit. docs/distributed.md has the figures.
"""

import json
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

import dask.array as da
import numpy as np
from distributed import Client

import tamis.dask

CLUSTERS, CHUNK = 8, 65536


def made(block_info=None):
    """The rows of one chunk: eight clusters in the first ten columns."""
    (first, last), (_, columns) = block_info[None]["array-location"]
    rng = np.random.default_rng(first)
    rows = rng.standard_normal((last - first, columns), dtype=np.float32)
    centers = 4 * np.random.default_rng(0).standard_normal((CLUSTERS, 10), dtype=np.float32)
    rows[:, :10] += centers[rng.integers(0, CLUSTERS, last - first)]
    return rows


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def started(processes, where):
    module = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", "0", "--no-dashboard"]
    processes.append(subprocess.Popen([*module, "--scheduler-file", where], stderr=subprocess.DEVNULL))
    while not pathlib.Path(where).exists():
        time.sleep(0.2)
    words = ["--scheduler-file", where, "--no-nanny", "--nthreads", "1", "--no-dashboard", "--memory-limit", "0"]
    for _ in range(3):
        worker = [sys.executable, "-m", "distributed.cli.dask_worker", *words]
        processes.append(subprocess.Popen(worker, stderr=subprocess.DEVNULL))
    return json.loads(pathlib.Path(where).read_text())["address"]


def main(rows=10_000_000, columns=50):
    processes = []
    with tempfile.TemporaryDirectory() as folder:
        try:
            with Client(started(processes, f"{folder}/scheduler.json")) as client:
                client.wait_for_workers(3)
                X = da.map_blocks(made, chunks=(da.core.normalize_chunks(CHUNK, (rows,))[0], (columns,)), dtype="f4")
                X = X.persist()
                X[:, 0].sum().compute()
                before, begin = peak(), time.monotonic()
                fit = tamis.dask.UFCM(n_features_to_select=10, n_clusters=CLUSTERS).fit(X)
                print(f"{rows} x {columns}, c = {CLUSTERS}: {time.monotonic() - begin:.0f} s", end="; ")
                print(f"client: {before:.0f} MiB before, {peak():.0f} MiB at its peak")
                print({name: fit.report_.get(name) for name in ("passes", "requests", "tasks", "bytes_received")})
                print("selected:", fit.get_support(indices=True).tolist(), f"objective: {fit.report_['objective'][-1]!r}")
        finally:
            for process in processes:
                process.kill()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
