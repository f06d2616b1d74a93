"""Memory and time of select_genes on a file that stays on disk: 200 000 cells x 20 000 genes, 5 % of them nonzero.

    .venv/bin/python bench/backed_genes.py FOLDER [--cells 200000]

The file is written a piece at a time (1.6 GB). Printed: how many genes were selected, seconds by the clock and of the
processor, and the peak of the resident set.
"""

import argparse
import resource
import time
from pathlib import Path

import anndata
import h5py
import numpy as np
from scipy import sparse

import tamis


def write(path, cells, genes=20000, groups=6):
    anndata.AnnData(sparse.csr_matrix((cells, genes), dtype=np.float32)).write_h5ad(path)
    random = np.random.default_rng(0)
    rates = random.random((groups, genes)) * 0.06 + 0.02
    with h5py.File(path, "a") as file:
        matrix = file["X"]
        for name in ("data", "indices", "indptr"):
            del matrix[name]
        data = matrix.create_dataset("data", (0,), maxshape=(None,), dtype="f4", chunks=(1 << 18,))
        indices = matrix.create_dataset("indices", (0,), maxshape=(None,), dtype="i4", chunks=(1 << 18,))
        offsets = [np.zeros(1, np.int64)]
        for first in range(0, cells, 4000):
            group = random.integers(0, groups, min(4000, cells - first))
            there = random.random((len(group), genes), dtype=np.float32) < rates[group]
            columns, begin = np.nonzero(there)[1], len(data)
            for values, new in ((data, random.exponential(size=len(columns))), (indices, columns)):
                values.resize((begin + len(columns),))
                values[begin:] = new
            offsets.append(begin + np.cumsum(there.sum(axis=1)))
        matrix.create_dataset("indptr", data=np.concatenate(offsets))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cells", type=int, default=200000)
    options = parser.parse_args()
    path = options.folder / f"cells-{options.cells}.h5ad"
    if not path.exists():
        write(path, options.cells)
        print(f"written: {path}; run this again, so that writing does not count")
        return
    adata = anndata.read_h5ad(path, backed="r")
    clock, processor = time.perf_counter(), time.process_time()
    tamis.select_genes(adata)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{adata.var.tamis_selected.sum()} genes, {time.perf_counter() - clock:.1f} s by the clock", end="")
    print(f", {time.process_time() - processor:.1f} s of the processor, peak {peak:.0f} MiB")


if __name__ == "__main__":
    main()
