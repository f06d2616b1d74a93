"""select_genes on a large sparse AnnData with planted genes: seconds, memory over the data, how many are found.

Cells of 8 groups, 2 % non-zeros, counts normalised to 10^4 a cell and log1p, float32 rows. A thousand genes are well
detected, all with the same mean and detection rate; a hundred of these are planted: each is 3-fold in one group, with
the same overall mean. The other genes are rare. Neither mean, detection nor variance tells planted genes (see maxvar).

One process builds the file, another reads it and selects, so that building does not set the peak.

    python bench/genes.py [--cells 50000] [--genes 20000] [--fold 3] [--detected 0.25] [--batches 1] [--methods ufcm]
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

GROUPS, PLANTED, TWINS, DENSITY = 8, 100, 1000, 0.02


def gene_means(arguments, rng):
    """Mean counts of a cell, and the planted genes."""
    twins = rng.choice(arguments.genes, TWINS, replace=False)
    rest = DENSITY * arguments.genes - TWINS * -np.expm1(-arguments.detected)  # genes to be detected in a cell
    if rest <= 0:
        sys.exit(f"detected = {arguments.detected}: the {TWINS} genes alone make more than {DENSITY:.0%} non-zeros")
    means = np.full(arguments.genes, -np.log1p(-rest / (arguments.genes - TWINS)))
    means[twins] = arguments.detected
    return means, twins[:PLANTED]


def counts(arguments, rng):
    from scipy import sparse

    means, planted = gene_means(arguments, rng)
    group = rng.integers(GROUPS, size=arguments.cells)
    depth = rng.lognormal(-0.045, 0.3, arguments.cells)  # mean 1
    rows, columns = [], []
    elsewhere = 1 / (1 + (arguments.fold - 1) / GROUPS)  # keeps the overall mean
    for g in range(GROUPS):
        mine = means.copy()
        mine[planted] *= elsewhere * np.where(np.arange(PLANTED) % GROUPS == g, arguments.fold, 1)
        cells = np.flatnonzero(group == g)
        totals = rng.poisson(mine.sum() * depth[cells])
        shares = np.cumsum(mine) / mine.sum()
        rows.append(np.repeat(cells, totals))
        columns.append(np.minimum(np.searchsorted(shares, rng.random(totals.sum())), arguments.genes - 1))
    rows, columns = np.concatenate(rows), np.concatenate(columns)
    shape = (arguments.cells, arguments.genes)
    return sparse.coo_matrix((np.ones(len(rows), np.float32), (rows, columns)), shape=shape).tocsr(), planted, group


def build(arguments, path):
    import anndata

    rng = np.random.default_rng(arguments.seed)
    X, planted, group = counts(arguments, rng)
    X.data *= np.repeat(np.float32(1e4) / np.asarray(X.sum(axis=1)).ravel(), np.diff(X.indptr))
    np.log1p(X.data, out=X.data)
    adata = anndata.AnnData(X)
    adata.var["planted"] = np.isin(np.arange(arguments.genes), planted)
    adata.obs["group"] = group
    adata.obs["batch"] = (np.arange(arguments.cells) % arguments.batches).astype(str)
    adata.write_h5ad(path)


def resident_bytes():
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def peak_bytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def measure(arguments, path, method):
    """In a process of its own: one selection, with the peak above what is resident once the data are there."""
    import anndata

    import tamis

    assert callable(tamis.select_genes)  # loads it, so that its code does not count as the run's
    adata = anndata.read_h5ad(path)
    X = adata.X
    before, read_peak = resident_bytes(), peak_bytes()
    batch_key = "batch" if arguments.batches > 1 else None
    start = time.perf_counter()
    tamis.select_genes(adata, 200, method=method, scale=arguments.scale, batch_key=batch_key)
    seconds = time.perf_counter() - start
    ranks = adata.var["tamis_rank"][adata.var["planted"]]
    return {
        "seconds": seconds,
        "data": X.data.nbytes + X.indices.nbytes + X.indptr.nbytes,
        "density": X.nnz / np.prod(X.shape),
        "dtype": str(X.dtype),
        "over": peak_bytes() - before,
        "hidden": max(0, read_peak - before),  # the peak of reading: a run's peak below it is not seen
        "found": {str(n_top): int((ranks <= n_top).sum()) for n_top in (PLANTED, 200, 2000)},
    }


def in_a_process(step, *words):
    """The step in a child of its own, with our arguments."""
    command = [sys.executable, __file__, *sys.argv[1:], "--step", step, *words]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout) if done.stdout else None


def show(method, result):
    found = ", ".join(f"{count} in the first {n_top}" for n_top, count in result["found"].items())
    print(
        f"{method}: {result['seconds']:.1f} s, peak {result['over'] / 2**20:.0f} MiB over the data "
        f"({result['data'] / 2**20:.0f} MiB of {result['dtype']} rows, {result['density']:.2%} non-zeros; "
        f"reading them peaked at {result['hidden'] / 2**20:.0f} MiB over); of {PLANTED} planted: {found}",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=50000)
    parser.add_argument("--genes", type=int, default=20000)
    parser.add_argument("--fold", type=float, default=3.0, help="mean of a planted gene in its group over elsewhere")
    parser.add_argument("--detected", type=float, default=0.25, help="mean count of the well detected genes")
    parser.add_argument("--batches", type=int, default=1)
    parser.add_argument("--scale", default="none")
    parser.add_argument("--seed", type=int, default=0, help="of the data")
    parser.add_argument("--methods", default="ufcm,maxvar")
    parser.add_argument("--step", help=argparse.SUPPRESS)
    parser.add_argument("--path", help=argparse.SUPPRESS)
    parser.add_argument("--method", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.step == "build":
        return build(arguments, arguments.path)
    if arguments.step == "measure":
        return print(json.dumps(measure(arguments, arguments.path, arguments.method)))
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "cells.h5ad")
        in_a_process("build", "--path", path)
        for method in arguments.methods.split(","):
            show(method, in_a_process("measure", "--path", path, "--method", method))
    return None


if __name__ == "__main__":
    main()
