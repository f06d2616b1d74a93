"""Writes that fail, kills in the middle, memory that runs out: the earlier result stays whole and nothing is left over."""

import json
import os
import resource
import shutil
import signal
import subprocess

import numpy as np
import pytest
from conftest import COMMAND, planted, select, write_npy


def can_inject():
    if shutil.which("strace") is None:
        return False
    probe = subprocess.run(["strace", "-f", "-o", "/dev/null", "-e", "inject=fsync:error=EIO:when=1", "true"], capture_output=True)
    return probe.returncode == 0


injects = pytest.mark.skipif(not can_inject(), reason="strace is missing or may not trace")


def contents(folder):
    return {name: (folder / name).read_bytes() for name in sorted(os.listdir(folder))} if folder.exists() else None


def run_with(fault, path, out):
    """`tamis select` with a fault injected; the system calls come after start-up, on files in the output folder."""
    words = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"inject={fault}", str(COMMAND), "select", str(path), "-c", "3",
             "-k", "3", "--quiet", "--json", "--threads", "1", "-o", str(out)]
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)


@pytest.fixture
def earlier(tmp_path):
    """A table, and a folder with the result of an earlier run with another -k."""
    path = write_npy(tmp_path / "x.npy", planted(60, 8))
    select(path, "-c", "3", "-k", "5", "-o", tmp_path / "out")
    return path, tmp_path / "out", contents(tmp_path / "out")


def whole(folder):
    """Every file there can be read, and comes from one run or another."""
    assert len(json.loads((folder / "selection.json").read_text())["selected"]) in (3, 5)
    assert len((folder / "ranking.csv").read_text().splitlines()) == 9


@injects
@pytest.mark.parametrize("error", ["ENOSPC", "EIO"])
def test_the_nth_write_fails(earlier, error):
    path, out, before = earlier
    for n in range(1, 30):
        done = run_with(f"write:error={error}:when={n}", path, out)
        if done.returncode == 0:
            assert n > 1
            break
        assert done.returncode == 5, (n, done)
        assert done.stderr.count(b"\n") <= 1  # the write that failed may have been that of the message
        assert set(os.listdir(out)) == set(before), n
        whole(out)
    else:
        pytest.fail("writes keep failing")


@injects
@pytest.mark.parametrize("call", ["fsync", "rename", "openat"])
def test_another_call_fails(earlier, call):
    path, out, before = earlier
    for n in range(1, 6) if call != "openat" else range(1, 80, 3):
        done = run_with(f"{call}:error=EIO:when={n}", path, out)
        assert done.returncode in ((0, 5) if call != "openat" else (0, 1, 2, 3, 5, 127)), (n, done)
        assert not [name for name in os.listdir(out) if name not in before], n
        whole(out)


@injects
@pytest.mark.parametrize("call", ["rename", "fsync", "write"])
def test_killed_at_any_step(earlier, call):
    path, out, _ = earlier
    for n in range(1, 12):
        done = run_with(f"{call}:signal=KILL:when={n}", path, out)
        whole(out)
        if done.returncode == 0:
            break


@pytest.mark.unsanitized
def test_memory_runs_out(tmp_path):
    with open(tmp_path / "x.npy", "wb") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": (2_000_000, 50)})
        file.truncate(file.tell() + 800_000_000)  # zeros that take no room on the disk
    limit = 600_000_000
    done = subprocess.run([str(COMMAND), "select", str(tmp_path / "x.npy"), "-c", "5"], timeout=30,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
    assert done.returncode == 4 and done.stdout == b"" and done.stderr.count(b"\n") == 1, done


def test_terminated(tmp_path):
    path = write_npy(tmp_path / "x.npy", planted(60000, 40))
    command = subprocess.Popen([str(COMMAND), "select", str(path), "-c", "30", "--tolerance", "0", "--iterations", "100000", "--quiet",
                                "-o", str(tmp_path / "out")], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        command.wait(timeout=0.5)
    except subprocess.TimeoutExpired:
        command.send_signal(signal.SIGTERM)
    assert command.wait(timeout=3) != 0
    command.communicate()
    assert os.listdir(tmp_path) == ["x.npy"]
