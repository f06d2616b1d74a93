"""Other people's k-means, principal components and neighbor searches, each in a process of its own: CPU seconds without
imports, compilation and reading. They live in an environment of their own, build/peers, since they want other versions
than the tests do; TAMIS_PEERS names another Python that has them."""

import json
import os
import subprocess
import sys
import venv
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / "requirements-peers.txt"
HOME = ROOT / "build" / "peers"

# argv: library, task, table, and what the task is told, as JSON. Prints CPU seconds and facts, as JSON.
PEER = """
import json, os, resource, sys
library, task, path, told = *sys.argv[1:4], json.loads(sys.argv[4])
threads = told.pop("threads", 1)
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[variable] = str(threads)
import numpy as np
import scipy.sparse
X = scipy.sparse.load_npz(path).tocsr() if path.endswith(".npz") else np.load(path)
if library == "intelex":
    from sklearnex import patch_sklearn
    patch_sklearn(verbose=False)

def cpu(call):
    start = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
    result = call()
    return sum(resource.getrusage(resource.RUSAGE_SELF)[:2]) - start, result

def recall(found):
    # Of the five nearest of 500 rows.
    rows = np.random.default_rng(1).choice(len(X), min(500, len(X)), replace=False)
    near = []
    for i in rows:
        distance = ((X - X[i]).astype(np.float64) ** 2).sum(1)
        distance[i] = np.inf
        mine = [j for j in found[i] if j != i][:5]
        near.append(np.mean(distance[mine] <= np.partition(distance, 4)[4] * (1 + 1e-6)))
    return float(np.mean(near))

def kmeans():
    from sklearn.cluster import KMeans
    model = KMeans(n_clusters=told["clusters"], n_init=1, random_state=told["seed"])
    KMeans(n_clusters=told["clusters"], n_init=1).fit(X[:2000])
    seconds, fitted = cpu(lambda: model.fit(X))
    return seconds, {"iterations": int(fitted.n_iter_)}

def components():
    from sklearn.decomposition import PCA
    seconds, fitted = cpu(lambda: PCA(told["components"], svd_solver=told["solver"], random_state=0).fit(X))
    return seconds, {"explained": float(fitted.explained_variance_ratio_.sum())}

def truncated():
    from sklearn.decomposition import TruncatedSVD
    return cpu(lambda: TruncatedSVD(told["components"], random_state=0).fit(X))[0], {}

def nearest():
    from sklearn.neighbors import NearestNeighbors
    search = lambda X: NearestNeighbors(n_neighbors=told["neighbors"], algorithm="brute", n_jobs=1).fit(X).kneighbors()[1]
    search(X[:2000])
    seconds, found = cpu(lambda: search(X))
    return seconds, {"recall": recall(found)}

def descent():
    import pynndescent
    search = lambda X: pynndescent.NNDescent(X, n_neighbors=told["neighbors"] + 1, n_jobs=threads, random_state=0,
                                             verbose=False).neighbor_graph[0]
    search(X[:2000])  # compiles
    seconds, found = cpu(lambda: search(X))
    return seconds, {"recall": recall(found)}

def inverted():
    import faiss
    faiss.omp_set_num_threads(threads)
    cells = int(np.sqrt(len(X)))
    def built():
        index = faiss.index_factory(X.shape[1], f"IVF{cells},Flat")
        index.train(X[:: max(1, len(X) // (64 * cells))])
        index.add(X)
        return index
    building, index = cpu(built)
    for probes in (1, 2, 4, 8, 16, 32, 64, 128, 256):  # as many as the recall asks for, which is counted once
        index.nprobe = probes
        searching, found = cpu(lambda: index.search(X, 6)[1])
        share = recall(found)
        if share >= told["recall"]:
            break
    return building + searching, {"recall": share, "probes": probes, "cells": cells}

seconds, facts = globals()[task]()
print(json.dumps([seconds, facts]))
"""


@cache
def python():
    """A Python that has the peers; installed where there is none yet."""
    if "TAMIS_PEERS" in os.environ:
        return os.environ["TAMIS_PEERS"]
    program = HOME / "bin" / "python"
    installed = HOME / LIST.name
    if not installed.exists() or installed.read_text() != LIST.read_text():
        print(f"peers: installing {LIST.name} into {HOME.relative_to(ROOT)}", file=sys.stderr, flush=True)
        venv.create(HOME, clear=True, with_pip=True)
        subprocess.run([program, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", LIST], check=True)
        installed.write_text(LIST.read_text())
    return str(program)


def call(library, task, path, **told):
    """(CPU seconds, facts), or None and the reason where the peer cannot run."""
    words = [python(), "-c", PEER, library, task, str(path), json.dumps(told)]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        return None, (done.stderr.strip().splitlines() or ["no output"])[-1]
    return json.loads(done.stdout.splitlines()[-1])
