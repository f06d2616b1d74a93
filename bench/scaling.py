"""How long UFCM takes on shapes that we cannot run: measured constants in, predicted time out.

    .venv/bin/python bench/scaling.py                                   a table up to 10^12 rows and 10^6 columns
    .venv/bin/python bench/scaling.py --rows 4e6 --columns 500 --bytes 4 --disk 2.5e9
    .venv/bin/python bench/scaling.py --check build/tamis               against runs of this machine, from disk

docs/cost.md derives the formulas. alpha = 1, which needs no X'X; the number of iterations is a guess.
"""

import argparse
import json
import math
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import forecast


@dataclass
class Machine:
    """What one worker does in a second, and what joins them to the client."""

    threads: int = 2
    skinny: float = 1.3e10  # flops of a thread in products with few columns
    square: float = 3e10  # in X'X
    distances: float = 8e9  # in k-means
    disk: float = 6e9  # bytes of a worker
    network: float = 1.25e9  # bytes into or out of the client
    task: float = 2e-3  # seconds of client and scheduler, only where there are several workers
    workers: int = 1


@dataclass
class Job:
    rows: float
    columns: float
    clusters: int = 8
    bytes: int = 4  # of a number on disk
    chunk: float = 65536  # rows
    iterations: int = 3  # after a fit of a sample; 6 without one

    @property
    def dims(self):
        return max(1, self.clusters - 1)

    @property
    def chunks(self):
        return math.ceil(self.rows / self.chunk)


def passes(job):
    """Names, flops a number of X, and bytes to and from the client, of every pass over X."""
    wide = 8 * job.columns
    gram = job.columns <= 1024
    yield "statistics", 4.0, 5 * wide, 1
    if gram:
        yield "X'X", job.columns, 8 * job.columns**2, 1
    else:
        yield "products", 4.0 * (job.dims + 4), 2 * wide * (job.dims + 4), 10
    yield "X W", 2.0 * job.dims, wide * job.dims + 8 * job.chunks, job.iterations
    yield "sums", 1.0, 8 * job.rows + wide * job.clusters, job.iterations


def kmeans(job, machine):
    """Seconds of computation, bytes to and from the client, and requests: X W and the labels stay with the rows."""
    steps = 3 * job.clusters * job.iterations
    flops = 2 * job.rows * job.dims * job.clusters * steps
    centers = 8 * job.clusters * (job.dims + 1)
    back = centers * (job.chunks if job.clusters * job.dims <= 1024 else 1)
    moved = steps * (centers + back) + 4 * job.rows * job.iterations
    return flops / (machine.distances * machine.threads * machine.workers), moved, steps + job.iterations


def seconds(job, machine):
    """Predicted seconds by what takes them."""
    spent = {"passes": 0.0, "network": 0.0, "tasks": 0.0}
    entries = job.rows * job.columns
    for name, flops, moved, count in passes(job):
        speed = (machine.square if name == "X'X" else machine.skinny) * machine.threads * machine.workers
        read = entries * job.bytes / (machine.disk * machine.workers)
        spent["passes"] += count * max(entries * flops / speed, read)
        if machine.workers > 1:
            spent["network"] += count * moved / machine.network
            spent["tasks"] += count * 2 * job.chunks * machine.task
    spent["k-means"], moved, requests = kmeans(job, machine)
    if machine.workers > 1:
        spent["network"] += moved / machine.network
        spent["tasks"] += requests * 2 * job.chunks * machine.task
    return spent


def client_bytes(job, machine):
    """Labels and what is sent with them, or on one machine X W twice, norms and labels; the eigensolver's basis."""
    per_row = 26 if machine.workers > 1 else 8 * (2 * job.dims + 2)
    return per_row * job.rows + 96 * job.columns * (job.dims + 1)


def show(jobs, machine):
    print(f"{'rows':>8}{'columns':>9}{'workers':>9}{'passes s':>11}{'network s':>11}{'tasks s':>10}{'k-means s':>11}"
          f"{'client GB':>11}")
    for job in jobs:
        spent = seconds(job, machine)
        print(f"{job.rows:8.0e}{job.columns:9.0e}{machine.workers:9}{spent['passes']:11.3g}{spent['network']:11.3g}"
              f"{spent['tasks']:10.3g}{spent['k-means']:11.3g}{client_bytes(job, machine) / 1e9:11.3g}")


def check(command, machine):
    """Tables of rising length, left on disk."""
    print(f"{'rows':>9}{'seconds':>9}{'predicted':>11}{'ratio':>7}")
    for rows in [300_000, 600_000, 1_200_000, 2_400_000]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "x.npy"
            forecast.write(path, rows, 200, "f4")
            limit = str(rows * 200 * 4)  # the table alone
            words = [command, "select", str(path), "-m", "ufcm", "-c", "8", "--memory", limit, "--json", "--quiet"]
            report = json.loads(subprocess.run(words, capture_output=True, check=True).stdout)["report"]
        predicted = sum(seconds(Job(rows, 200, iterations=report["iterations"]), machine).values())
        print(f"{rows:9}{report['seconds']:9.2f}{predicted:11.2f}{predicted / report['seconds']:7.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=float)
    parser.add_argument("--columns", type=float, default=500)
    parser.add_argument("--clusters", type=int, default=8)
    parser.add_argument("--bytes", type=int, default=4)
    parser.add_argument("--check", metavar="COMMAND")
    for name, kind in [("threads", int), ("workers", int), ("disk", float), ("network", float)]:
        parser.add_argument(f"--{name}", type=kind, default=getattr(Machine, name))
    given = parser.parse_args()
    machine = Machine(threads=given.threads, workers=given.workers, disk=given.disk, network=given.network)
    if given.check:
        check(given.check, machine)
    elif given.rows:
        show([Job(given.rows, given.columns, given.clusters, given.bytes)], machine)
    else:
        show([Job(n, d) for n, d in [(1e6, 100), (1e8, 100), (1e9, 500), (1e10, 1e3), (1e12, 100), (1e6, 1e5), (1e6, 1e6)]],
             Machine(threads=32, workers=max(2, given.workers)))


if __name__ == "__main__":
    main()
