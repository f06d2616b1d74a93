"""The neighbor graph: CPU seconds of whole commands, against libraries that only search the nearest rows.

    groups   1 000 000 x 50 in 20 groups, 5 neighbors, two threads; pynndescent with its recall
    noise    1 000 000 x 50 of white noise, two threads
    tall     500 000 x 28: white noise, and 10 hidden directions; one thread
    usps     9298 x 256, one thread; exact neighbors of scikit-learn and scikit-learn-intelex
    guided   4000 x 784 rows of MNIST, one thread

The peers are called in a process of their own, and timed without imports, compilation and reading; tamis is timed with
all of that (peers.py says where they are). Data: usps.npz and mnist.npz in ../shared/data or TAMIS_DATA.

    python bench/graph.py [--only groups,noise,tall,usps,guided] [--neighbors-of-peer 15,30]
"""

import argparse
import os
import resource
import tempfile
from pathlib import Path

import numpy as np

import peers
from command import run_command

DATA = Path(os.environ.get("TAMIS_DATA", Path(__file__).resolve().parent.parent.parent / "shared" / "data"))
CASES = ["groups", "noise", "tall", "usps", "guided"]


def call_peer(library, task, path, count, threads):
    seconds, facts = peers.call(library, task, path, neighbors=count, threads=threads)
    if seconds is None:
        print(f"{'':8} {library:32} not available: {facts}", flush=True)
        return
    print(f"{'':8} {f'{library}, {count} neighbors, {threads} threads':44} {seconds:9.2f} {facts['recall']:8.4f}", flush=True)


def call_tamis(name, path, method, threads, folder, *options):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = run_command(["select", path, "-m", method, "--threads", threads, *options], folder)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    facts = run.result["report"]["resolved"]
    visits = f", {facts['probes']} of {facts['cells']} cells" if "probes" in facts else ""
    print(f"{name:8} {f'tamis {method}, {threads} threads{visits}':44} {seconds:9.2f} "
          f"{facts.get('measured_recall', 1):8.4f} {run.peak_bytes / 2**20:8.0f} MiB", flush=True)


def saved(folder, X):
    path = Path(folder) / "table.npy"
    np.save(path, X)
    return path


def groups(folder, arguments):
    random = np.random.default_rng(0)
    centers = 3 * random.standard_normal((20, 50))
    X = (centers[random.integers(0, 20, 1_000_000)] + random.standard_normal((1_000_000, 50))).astype(np.float32)
    path = saved(folder, X)
    call_tamis("groups", path, "lapscore", 2, folder)
    for count in arguments.neighbors_of_peer.split(","):
        call_peer("pynndescent", "descent", path, int(count), 2)


def noise(folder, arguments):
    path = saved(folder, np.random.default_rng(0).standard_normal((1_000_000, 50), dtype=np.float32))
    call_tamis("noise", path, "lapscore", 2, folder)


def tall(folder, arguments):
    random = np.random.default_rng(0)
    path = saved(folder, random.standard_normal((500_000, 28), dtype=np.float32))
    call_tamis("tall", path, "lapscore", 1, folder)
    hidden = random.standard_normal((500_000, 10)) @ random.standard_normal((10, 28))
    path = saved(folder, (hidden + 0.1 * random.standard_normal((500_000, 28))).astype(np.float32))
    call_tamis("", path, "lapscore", 1, folder)


def usps(folder, arguments):
    with np.load(DATA / "usps.npz") as file:
        path = saved(folder, file["X"])
    call_tamis("usps", path, "lapscore", 1, folder)
    call_peer("sklearn", "nearest", path, 5, 1)
    call_peer("intelex", "nearest", path, 5, 1)


def guided(folder, arguments):
    with np.load(DATA / "mnist.npz") as file:
        path = saved(folder, file["X"][:4000].astype(np.float32))
    call_tamis("guided", path, "guided", 1, folder)
    call_tamis("", path, "guided", 1, folder, "--evidence", "off")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default=",".join(CASES), help="names with commas between")
    parser.add_argument("--neighbors-of-peer", default="15,30", help="how many pynndescent keeps while it searches")
    arguments = parser.parse_args()
    print(f"{'case':8} {'':44} {'CPU s':>9} {'recall':>8} {'peak':>8}")
    with tempfile.TemporaryDirectory() as folder:
        for name in arguments.only.split(","):
            {"groups": groups, "noise": noise, "tall": tall, "usps": usps, "guided": guided}[name](folder, arguments)


if __name__ == "__main__":
    main()
