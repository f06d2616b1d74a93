"""Reading sparse files against SciPy, CPU seconds on one thread.

    .venv/bin/python bench/reading.py

Makes a table of 20 000 x 30 000 with 1 % of entries, as real numbers and as counts, and prints a row for each file:
what build/read_bench (after make bench) takes to have its rows in memory, what SciPy takes for the same (its fast
reader, told to use one thread, and tocsr()), and their ratio.
"""
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import scipy.io
import scipy.io._fast_matrix_market as fast_matrix_market
import scipy.sparse

ROOT = Path(__file__).resolve().parent.parent
READINGS = 5


def write_files(folder):
    reals = scipy.sparse.random(20000, 30000, 0.01, format="csr", random_state=0)
    counts = reals.copy()
    counts.data = np.random.default_rng(1).poisson(2, reals.nnz) + 1
    names = "reals.mtx", "counts.mtx", "counts_by_column.mtx", "deflated.npz", "stored.npz"
    files = [folder / name for name in names]
    scipy.io.mmwrite(files[0], reals.tocoo())
    scipy.io.mmwrite(files[1], counts.tocoo())
    scipy.io.mmwrite(files[2], counts.tocsc().tocoo())
    scipy.sparse.save_npz(files[3], reals)
    scipy.sparse.save_npz(files[4], reals, compressed=False)
    return files


def scipy_seconds(path):
    least = float("inf")
    for _ in range(READINGS):
        start = time.process_time()
        (scipy.sparse.load_npz(path) if path.suffix == ".npz" else scipy.io.mmread(path)).tocsr()
        least = min(least, time.process_time() - start)
    return least


def main():
    fast_matrix_market.PARALLELISM = 1
    with tempfile.TemporaryDirectory() as folder:
        print(f"{'file':24} {'tamis, s':>9} {'scipy, s':>9}  tamis / scipy")
        for path in write_files(Path(folder)):
            words = subprocess.run([ROOT / "build/read_bench", path], check=True, capture_output=True, text=True)
            ours, theirs = float(words.stdout.split()[-1]), scipy_seconds(path)
            print(f"{path.name:24} {ours:9.3f} {theirs:9.3f}  {ours / theirs:.2f}", flush=True)


if __name__ == "__main__":
    main()
