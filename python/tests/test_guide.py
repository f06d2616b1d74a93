"""The code of the guides runs, block after block, as a reader would run it."""

import os
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from conftest import NATIVE
from scipy import sparse

DOCS = Path(__file__).resolve().parents[2] / "docs"


def run_commands(lines):
    """Command lines of a guide, by the native command."""
    environment = {**os.environ, "PATH": f"{NATIVE.parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(["sh", "-e", "-c", lines], capture_output=True, text=True, env=environment, timeout=60)
    assert done.returncode == 0, f"{lines}\n{done.stderr}"


@pytest.mark.parametrize("name", ["python.md", "distributed.md", "lesson.md", "text.md", "sensors.md", "images.md",
                                  "gallery.md", "stability.md"])
def test_the_guide_runs(name, tmp_path, monkeypatch):
    pytest.importorskip("pandas")
    pytest.importorskip("matplotlib")
    text = (DOCS / name).read_text(encoding="utf-8")
    blocks = re.findall(r"^```(python|sh)\n(.*?)^```", text, flags=re.S | re.M)
    assert blocks
    monkeypatch.chdir(tmp_path)
    names = {}
    for number, (language, block) in enumerate(blocks, 1):
        if language == "sh":
            run_commands(block)
        else:
            exec(compile(block, f"{name}, block {number}", "exec"), names)


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """A folder with the files that the pages name."""
    folder = tmp_path_factory.mktemp("tables")
    X = np.random.default_rng(0).normal(size=(150, 60)) + 3 * (np.arange(150) % 3)[:, None] * (np.arange(60) < 20)
    names = [f"c{j}@g{j // 5}" for j in range(60)]
    rows = np.column_stack([X, 1 + np.arange(150) % 4])
    np.savetxt(folder / "table.csv", rows, fmt="%.4f", delimiter=",", header=",".join([*names, "weight"]), comments="")
    (folder / "groups.csv").write_text("".join(f"{name},{name.partition('@')[2]}\n" for name in names))
    (folder / "shards").mkdir()
    for path in ("big.npy", "part-1.npy", "part-2.npy", "shards/1.npy"):
        np.save(folder / path, X)
    np.save(folder / "cells.npy", np.tile(X, (1, 4)) + np.arange(240))
    sparse.save_npz(folder / "graph.npz", sparse.csr_matrix(np.eye(150, k=1) + np.eye(150, k=-1)))
    return folder


@pytest.mark.parametrize("name", ["guided.md", "groups.md", "weights.md", "stability.md", "graph.md", "large.md"])
def test_the_commands_of_a_page_run(name, tables, monkeypatch):
    """Those in indented blocks."""
    lines = re.findall(r"^    (tamis select .*?)(?:  +#.*)?$", (DOCS / name).read_text(encoding="utf-8"), flags=re.M)
    lines = [line for line in lines if ".parquet" not in line]  # of the package's command
    assert lines
    monkeypatch.chdir(tables)
    for line in lines:
        run_commands(line)
