"""Standard input, output and error that are closed or full, and a terminal that goes away."""

import json
import os
import pathlib
import re
import signal
import subprocess
import time

import numpy as np
import pytest
from conftest import COMMAND, planted, select, write_csv, write_npy
from limits import at_rest


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("streams")
    X = planted(60, 8)
    write_npy(folder / "x.npy", X)
    (folder / "shards").mkdir()
    for part in range(2):  # text in shards is read into a temporary file, which is open to the end
        write_csv(folder / "shards" / f"{part}.csv", planted(2000, 8, seed=part) * [1, 1, 1, 1, 1, 1, 1, 1000])
    (folder / "list").write_text("0\n1\n")
    (folder / "sets").mkdir()
    np.savez(folder / "sets" / "one.npz", X=X.astype(np.float32), y=np.arange(60, dtype=np.int32) % 3)
    return folder


PRINTING = {
    "select": ["select", "x.npy", "-c", "3"],
    "select --json": ["select", "x.npy", "-c", "3", "--json"],
    "select -o": ["select", "x.npy", "-c", "3", "-o", "out"],
    "select shards": ["select", "shards", "-c", "3", "--quiet"],
    "compare": ["compare", "x.npy", "-c", "3", "--methods", "maxvar,lapscore"],
    "compare --json": ["compare", "x.npy", "-c", "3", "--methods", "maxvar", "--json"],
    "evaluate": ["evaluate", "sets/one.npz", "--labels", "y", "--list", "list"],
    "info": ["info", "x.npy"],
    "methods": ["methods"],
    "methods ufcm": ["methods", "ufcm", "--json"],
    "datasets": ["datasets"],
    "datasets DIR": ["datasets", "sets", "--json"],
    "demo": ["demo", "-o", "demo"],
    "reproduce": ["reproduce", "sets", "-o", "again", "--quick", "--methods", "maxvar", "--data", "one"],
    "--help": ["--help"],
    "select --help": ["select", "--help"],
    "--version": ["--version"],
    "nothing": [],
}


def run_with(redirection, words, cwd):
    """Through a shell, since only a shell starts a program without its standard streams."""
    script = f'exec "$0" "$@" {redirection}'
    return subprocess.run(["sh", "-c", script, str(COMMAND), *map(str, words)], cwd=cwd, timeout=120,
                          stdin=subprocess.DEVNULL, capture_output=True)


@pytest.mark.parametrize("redirection", [">/dev/full", ">&-"], ids=["full", "closed"])
@pytest.mark.parametrize("command", PRINTING)
def test_a_result_that_cannot_be_written(place, command, redirection):
    done = run_with(redirection, PRINTING[command], place)
    assert done.returncode == 5, done
    lines = [line for line in done.stderr.splitlines() if b" clusters" not in line and b" cells" not in line]  # notes
    assert len(lines) == 1 and lines[0].startswith(b"tamis: standard output: "), done


@pytest.mark.parametrize("redirection", ["<&-", "2>&-", "<&- 2>&-"])
@pytest.mark.parametrize("table", ["x.npy", "shards"])
def test_files_do_not_become_standard_streams(place, redirection, table, tmp_path):
    """Warnings go nowhere; above all not into a file that was opened as number 2."""
    words = ["select", table, "--json", "-o", tmp_path / "out"]
    done = run_with(redirection, words, place)
    assert done.returncode == 0, done
    expected = select(place / table, "-o", tmp_path / "expected")
    assert json.loads(done.stdout)["scores"] == expected["scores"]
    for name in ("ranking.csv", f"selected.{'npy' if table == 'x.npy' else 'csv'}"):
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "expected" / name).read_bytes()


def test_standard_input_is_closed(place):
    done = run_with("<&-", ["select", "-", "-c", "3"], place)
    assert done.returncode == 5 and done.stdout == b"" and b"standard input" in done.stderr, done
    assert done.stderr.count(b"\n") == 1


def test_everything_is_closed(place):
    assert run_with("<&- >&- 2>&-", ["select", "x.npy", "-c", "3"], place).returncode == 5


def long_run(tmp_path, hangup):
    """A run that has begun to listen to signals; what runs the tests may ignore SIGHUP, which children inherit."""
    path = write_npy(tmp_path / "x.npy", planted(60000, 40))
    words = ["select", path, "-m", "ufcm", "-c", 30, "--tolerance", 0, "--iterations", 100000, "--quiet"]
    command = subprocess.Popen(
        [str(COMMAND), *map(str, words), "-o", str(tmp_path / "out")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, hangup),
    )
    deadline = time.monotonic() + at_rest(3)
    while not catches(command.pid, signal.SIGTERM) and time.monotonic() < deadline:
        time.sleep(0.02)
    return command


def catches(pid, number):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"SigCgt:\s*(\w+)", status)[1], 16) >> (number - 1) & 1


def test_the_terminal_goes_away(tmp_path):
    """SIGHUP ends a run as SIGTERM does."""
    command = long_run(tmp_path, signal.SIG_DFL)
    time.sleep(0.3)
    assert command.poll() is None
    command.send_signal(signal.SIGHUP)
    out, err = command.communicate(timeout=at_rest(3))
    assert (command.returncode, out, err) == (130, b"", b"tamis: interrupted\n")
    assert os.listdir(tmp_path) == ["x.npy"]


def test_nohup(tmp_path):
    command = long_run(tmp_path, signal.SIG_IGN)
    command.send_signal(signal.SIGHUP)
    time.sleep(0.3)
    assert command.poll() is None
    command.terminate()
    command.communicate(timeout=at_rest(3))
    assert command.returncode == 130
