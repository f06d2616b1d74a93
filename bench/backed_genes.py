"""select_genes on a file that stays on disk, 200 000 cells x 20 000 genes, 5 % of them nonzero, and scanpy on the same file.

    .venv/bin/python bench/backed_genes.py FOLDER [--cells 200000] [--methods guided maxvar] [--scanpy PYTHON]

The file is written a piece at a time (1.6 GB), where it is not there yet. Each is a process of its own: seconds by the clock
and of the processor, after imports and with the reading of the file, and the peak of the resident set. PYTHON is an interpreter
with scanpy, which loads the file: pp.highly_variable_genes with n_top_genes=2000, and the flavor for logarithms ("seurat").
"""

import argparse
import subprocess
import sys
from pathlib import Path

GENES = 2000
TIMED = """
import resource, sys, time
{imports}
path = sys.argv[1]
clock, processor = time.perf_counter(), time.process_time()
{work}
clock, processor = time.perf_counter() - clock, time.process_time() - processor
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(f"{{clock:8.1f}} s by the clock, {{processor:8.1f}} s of the processor, peak {{peak:6.0f}} MiB, {{int(count)}} genes")
"""
OURS = """
adata = anndata.read_h5ad(path, backed="r")
tamis.select_genes(adata, {genes}, method={method!r})
count = adata.var.tamis_selected.sum()
"""
SCANPY = """
adata = anndata.read_h5ad(path)
scanpy.pp.highly_variable_genes(adata, n_top_genes={genes})
count = adata.var.highly_variable.sum()
"""


def write(path, cells, genes=20000, groups=6):
    import anndata
    import h5py
    import numpy as np
    from scipy import sparse

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


def run(name, python, imports, work, path):
    code = TIMED.format(imports=imports, work=work)
    done = subprocess.run([python, "-W", "ignore", "-c", code, str(path)], stdout=subprocess.PIPE, text=True)
    print(f"{name:24}{done.stdout.strip() or f'failed with {done.returncode}'}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cells", type=int, default=200000)
    parser.add_argument("--methods", nargs="+", default=["guided", "maxvar"])
    parser.add_argument("--scanpy", metavar="PYTHON")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    path = options.folder.resolve() / f"cells-{options.cells}.h5ad"
    if not path.exists():
        subprocess.run([sys.executable, "-c", "import backed_genes, sys; backed_genes.write(sys.argv[1], int(sys.argv[2]))",
                        path, str(options.cells)], cwd=Path(__file__).parent, check=True)  # fmt: skip
    for method in options.methods:
        work = OURS.format(genes=GENES, method=method)
        run(f"tamis {method}", sys.executable, "import anndata, tamis", work, path)
    if options.scanpy:
        run("scanpy", options.scanpy, "import anndata, scanpy", SCANPY.format(genes=GENES), path)


if __name__ == "__main__":
    main()
