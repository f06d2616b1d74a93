"""Files that another process writes to while they are read, and places that vanish: never an internal error."""

import os
import shutil
import signal
import subprocess
import time

import numpy as np
import pytest
from conftest import COMMAND, INTERPRETER_BYTES, planted, refused, tamis, write_npy
from limits import at_rest

pytestmark = pytest.mark.shared

ROWS, COLUMNS = 100_000, 40


def write_at(path, row, column, value):
    with open(path, "r+b") as file:
        file.seek(128 + 8 * (COLUMNS * row + column))
        file.write(np.float64(value).tobytes())


def changed_meanwhile(path, change, *options):
    """Exit code and message of a run that is stopped after its first pass, while the file is changed."""
    state = path.with_suffix(".state")  # there from the first iteration on
    words = ["-m", "ufcm", "-c", 10, "--tolerance", 0, "--iterations", 40, "--restarts", 2, "--quiet", "--checkpoint", state]
    command = subprocess.Popen(
        [str(COMMAND), "select", str(path), *map(str, words), *map(str, options)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    deadline = time.monotonic() + at_rest(20)
    while not state.exists() and command.poll() is None and time.monotonic() < deadline:
        time.sleep(0.001)
    command.send_signal(signal.SIGSTOP)
    change()
    command.send_signal(signal.SIGCONT)
    out, err = command.communicate(timeout=120)
    return command.returncode, out, err.decode()


@pytest.mark.unsanitized
@pytest.mark.parametrize("memory", [["--memory", int(36e6 + INTERPRETER_BYTES)], []], ids=["disk", "mapped"])
@pytest.mark.parametrize("value", [np.nan, np.inf, 1e6], ids=str)
def test_a_file_that_changes(tmp_path, memory, value):
    path = write_npy(tmp_path / "x.npy", planted(ROWS, COLUMNS))
    code, out, err = changed_meanwhile(path, lambda: write_at(path, 51234, 7, value), *memory, "-o", tmp_path / "out")
    assert (code, out, err.count("\n")) == (3, b"", 1), (code, err)
    expected = "changed while" if np.isfinite(value) else "row 51234, column 7"
    assert expected in err and str(path) in err
    assert not (tmp_path / "out").exists()


@pytest.mark.unsanitized
def test_a_file_that_is_only_touched(tmp_path):
    path = write_npy(tmp_path / "x.npy", planted(ROWS, COLUMNS))
    code, _, err = changed_meanwhile(path, lambda: os.utime(path))
    assert (code, err) == (0, "")


GONE = [["-o", "out"], ["-o", "."], ["-m", "ufcm", "--checkpoint", "state"], ["-m", "ufcm", "--checkpoint", "state", "-o", "out"]]


@pytest.mark.parametrize("options", GONE, ids=" ".join)
def test_the_working_folder_is_gone(tmp_path, options):
    path = write_npy(tmp_path / "x.npy", planted(60, 8))
    for words, code in ((options, 5), (["-o", tmp_path / "out"], 0), ([], 0)):
        (tmp_path / "gone").mkdir()
        script = 'rmdir "$PWD"; exec "$0" "$@"'
        done = subprocess.run(["sh", "-c", script, str(COMMAND), "select", str(path), "-c", "3", "--quiet", *map(str, words)],
                              cwd=tmp_path / "gone", capture_output=True, timeout=60)
        assert done.returncode == code, done
        assert done.stderr.count(b"\n") == (code != 0), done


@pytest.mark.parametrize("kind", ["/", ".", "/dev/null", "/dev/zero", "pipe", "large"])
def test_a_config_that_is_no_file(tmp_path, kind):
    path = write_npy(tmp_path / "x.npy", planted(60, 8))
    os.mkfifo(tmp_path / "pipe")
    with open(tmp_path / "large", "wb") as file:
        file.truncate(1 << 32)
    refused(tamis("select", path, "-c", "3", "--config", kind, cwd=tmp_path, timeout=10), 2, "config", kind)


@pytest.mark.skipif(not os.path.exists("/proc/self/mem"), reason="no /proc")
def test_a_config_that_cannot_be_read(tmp_path):
    path = write_npy(tmp_path / "x.npy", planted(60, 8))
    refused(tamis("select", path, "-c", "3", "--config", "/proc/self/mem", cwd=tmp_path), 5, "/proc/self/mem")


def test_an_absent_config(tmp_path):
    path = write_npy(tmp_path / "x.npy", planted(60, 8))
    refused(tamis("select", path, "-c", "3", "--config", "absent", cwd=tmp_path), 5, "absent", "no such file")


def test_a_checkpoint_that_is_another_file(tmp_path):
    """A file of the result by any name, or the input: refused, and unchanged."""
    path = write_npy(tmp_path / "x.npy", planted(60, 8))
    out = tmp_path / "out"
    assert tamis("select", path, "-m", "ufcm", "-c", "3", "-o", out).code == 0
    before = {name: (out / name).read_bytes() for name in os.listdir(out)}
    (tmp_path / "same").symlink_to(out)
    (tmp_path / "link").symlink_to(out / "selection.json")
    (tmp_path / "input").symlink_to(path)
    os.link(path, tmp_path / "hard")
    os.link(out / "selection.json", tmp_path / "hard.json")
    numbers = path.read_bytes()
    of_the_result = [out / "selection.json", tmp_path / "same" / "ranking.csv", tmp_path / "link",
                     out / ".." / "out" / "report.html"]
    others = [path, tmp_path / "input", tmp_path / "hard", tmp_path / "hard.json"]
    for state, code in [*((state, 2) for state in of_the_result), *((state, 3) for state in others)]:
        refused(tamis("select", path, "-m", "ufcm", "-c", "3", "-o", out, "--checkpoint", state, "--quiet"), code)
        assert path.read_bytes() == numbers
        assert {name: (out / name).read_bytes() for name in os.listdir(out)} == before
    shutil.rmtree(out)
    refused(tamis("select", path, "-m", "ufcm", "-c", "3", "-o", out, "--checkpoint", out / "selection.json", "--quiet"), 2)
