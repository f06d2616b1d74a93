"""Writes that fail, kills in the middle, memory that runs out: the earlier result stays whole and nothing is left over."""

import csv
import json
import os
import resource
import shutil
import signal
import subprocess

import numpy as np
import pytest
from conftest import COMMAND, PYTHON_COMMAND, SANITIZED, planted, refused, select, tamis, write_npy


def can_inject():
    if shutil.which("strace") is None:
        return False
    probe = subprocess.run(["strace", "-f", "-o", "/dev/null", "-e", "inject=fsync:error=EIO:when=1", "true"],
                           capture_output=True)
    return probe.returncode == 0


injects = pytest.mark.skipif(not can_inject(), reason="strace is missing or may not trace")


def contents(folder):
    return {name: (folder / name).read_bytes() for name in sorted(os.listdir(folder))} if folder.exists() else None


def run_with(fault, path, out):
    """`tamis select` with a fault injected; the system calls come after start-up, on files in the output folder."""
    words = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"inject={fault}", str(COMMAND), "select", str(path), "-c", "3",
             "-k", "3", "--quiet", "--json", "--threads", "1", "-o", str(out)]
    return subprocess.run(words, capture_output=True, timeout=60)


@pytest.fixture
def earlier(tmp_path):
    """A table, and a folder with the result of an earlier run with another -k."""
    path = write_npy(tmp_path / "x.npy", planted(60, 8))
    select(path, "-c", "3", "-k", "5", "-o", tmp_path / "out")
    shutil.copytree(tmp_path / "out", tmp_path / "earlier")
    return path, tmp_path / "out", contents(tmp_path / "out")


RENAMES = "rename,renameat,renameat2"


def features_of_one_result(folder):
    """How many columns were selected, if every file of the folder says the same."""
    count = len(json.loads((folder / "selection.json").read_text())["selected"])
    rows = list(csv.DictReader((folder / "ranking.csv").read_text().splitlines()))
    assert sum(row["selected"] in ("1", "true", "yes") for row in rows) == count, "ranking.csv is of another run"
    assert np.load(folder / "selected.npy").shape[1] == count, "selected.npy is of another run"
    assert f"{count} of 8 features" in (folder / "report.html").read_text(), "report.html is of another run"
    return count


@injects
@pytest.mark.python  # the native command: test_every_fault.py
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
        assert features_of_one_result(out) in (3, 5)
    else:
        pytest.fail("writes keep failing")


@injects
@pytest.mark.python
@pytest.mark.parametrize("call", ["fsync", RENAMES, "openat"])
def test_another_call_fails(earlier, call):
    path, out, before = earlier
    for n in range(1, 6) if call != "openat" else range(1, 80, 3):
        done = run_with(f"{call}:error=EIO:when={n}", path, out)
        assert done.returncode in ((0, 5) if call != "openat" else (0, 1, 2, 3, 5, 127)), (n, done)
        assert not [name for name in os.listdir(out) if name not in before], n
        assert features_of_one_result(out) in (3, 5)


@injects
@pytest.mark.parametrize("call", [RENAMES, "fsync", "write", "unlink"])
def test_killed_at_any_step(earlier, call, tmp_path):
    """What a killed run leaves is the earlier result, or one that the next run completes before all else."""
    path, out, before = earlier
    for n in range(1, 40):
        done = run_with(f"{call}:signal=KILL:when={n}", path, out)
        if ".tamis-commit" not in os.listdir(out):
            assert features_of_one_result(out) in (3, 5), n
        refused(tamis("select", path, "-k", "9", "-o", out, "--quiet"), 2)
        assert set(os.listdir(out)) == set(before) and features_of_one_result(out) in (3, 5), n
        if done.returncode == 0:
            break
        shutil.rmtree(out)
        shutil.copytree(tmp_path / "earlier", out)
    else:
        pytest.fail("never got through")


@injects
def test_renames_fail_after_the_switch(earlier):
    path, out, before = earlier
    done = run_with(f"{RENAMES}:error=EIO:when=3+", path, out)
    assert done.returncode == 5 and done.stderr.count(b"\n") == 1 and b"the next run with this folder completes" in done.stderr
    assert ".tamis-commit" in os.listdir(out)
    refused(tamis("select", path, "-k", "9", "-o", out, "--quiet"), 2)
    assert set(os.listdir(out)) == set(before) and features_of_one_result(out) == 3


@injects
def test_killed_while_a_new_folder_is_written(tmp_path):
    """It is there whole or not at all, and the next run removes what was left."""
    path = write_npy(tmp_path / "x.npy", planted(60, 8))
    for n in range(1, 12):
        done = run_with(f"{RENAMES}:signal=KILL:when={n}", path, tmp_path / "out")
        if (tmp_path / "out").exists():
            assert features_of_one_result(tmp_path / "out") == 3
            shutil.rmtree(tmp_path / "out")
        if done.returncode == 0:
            break
    else:
        pytest.fail("never got through")
    select(path, "-c", "3", "-k", "5", "-o", tmp_path / "out")
    assert sorted(os.listdir(tmp_path)) == ["out", "x.npy"] and features_of_one_result(tmp_path / "out") == 5


@pytest.mark.parametrize("folder", ["new", "existing"])
def test_several_runs_write_to_one_folder(tmp_path, folder):
    path, out = write_npy(tmp_path / "x.npy", planted(60, 8)), tmp_path / "out"
    for _ in range(4 if SANITIZED or PYTHON_COMMAND else 12):
        if folder == "new":
            shutil.rmtree(out, ignore_errors=True)
        runs = [subprocess.Popen([str(COMMAND), "select", str(path), "-m", "maxvar", "-k", str(k), "--quiet", "-o", str(out)],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for k in range(1, 7)]
        assert [(run.communicate(timeout=60)[1], run.returncode) for run in runs] == [(b"", 0)] * 6
        assert 1 <= features_of_one_result(out) <= 6
    assert sorted(os.listdir(tmp_path)) == ["out", "x.npy"]


def test_a_journal_of_somebody_else(earlier):
    path, out, before = earlier
    (out / "victim").write_text("precious")
    for words in ("", "notes", "tamis commit 1\n../x\n", "tamis commit 1\n.a/../../x.npy.tamis-abcdef\n",
                  "tamis commit 1\nvictim\n"):
        (out / ".tamis-commit").write_text(words)
        refused(tamis("select", path, "-c", "3", "-o", out, "--quiet"), 2, ".tamis-commit")
        assert contents(out) == {**before, ".tamis-commit": words.encode(), "victim": b"precious"}


def leave_pending(out, later):
    """What a run that is killed right after the switch leaves: the old files, and the new ones under temporary names."""
    names = [f".{file.name}.tamis-abcdef" for file in later.iterdir()]
    for name in names:
        shutil.copy(later / name[1:-13], out / name)
    (out / ".tamis-commit").write_text("tamis commit 1\n" + "".join(name + "\n" for name in names))


@pytest.mark.parametrize("given", ["out", "out/selection.json"])
def test_apply_completes_what_it_reads(earlier, tmp_path, given):
    path, out, before = earlier
    select(path, "-c", "3", "-k", "3", "-o", tmp_path / "later")
    leave_pending(out, tmp_path / "later")
    run = tamis("apply", tmp_path / given, path, "-o", tmp_path / "applied")
    assert run.code == 0 and np.load(tmp_path / "applied" / "selected.npy").shape[1] == 3, str(run)
    assert set(os.listdir(out)) == set(before) and features_of_one_result(out) == 3


def test_lists_are_read_from_the_whole_result(earlier, tmp_path):
    path, out, before = earlier
    (tmp_path / "y.txt").write_text("a\nb\nc\n" * 20)
    select(path, "-c", "3", "-k", "3", "-o", tmp_path / "later")
    leave_pending(out, tmp_path / "later")
    run = tamis("evaluate", path, "--labels", tmp_path / "y.txt", "--list", out / "ranking.csv", "--repeats", "2", "--json")
    assert run.code == 0 and len(run.json["selected"]) == 3, str(run)
    assert set(os.listdir(out)) == set(before) and features_of_one_result(out) == 3


def test_a_result_that_cannot_be_completed_is_not_read(earlier, tmp_path):
    path, out, before = earlier
    for words in ("notes", "tamis commit 1\nvictim\n"):
        (out / ".tamis-commit").write_text(words)
        refused(tamis("apply", out, path, "-o", tmp_path / "applied"), 2, ".tamis-commit was not written by tamis")
    assert contents(out) == {**before, ".tamis-commit": words.encode()} and not (tmp_path / "applied").exists()


def test_a_link_to_nowhere_is_refused_at_once(tmp_path):
    path = write_npy(tmp_path / "x.npy", planted(60, 8))
    (tmp_path / "out").symlink_to("nowhere")
    for out in (tmp_path / "out", f"{tmp_path}/out/", tmp_path / "out" / "below"):
        refused(tamis("select", path, "-c", "3", "-o", out, "--memory", "100MiB"), 2, "out is a symbolic link")
    assert sorted(os.listdir(tmp_path)) == ["out", "x.npy"]


def mode(path):
    return oct(path.stat().st_mode & 0o777)


@pytest.mark.parametrize("place", ["new", "there"])
def test_new_files_follow_the_umask(tmp_path, place):
    path, out = write_npy(tmp_path / "x.npy", planted(60, 8)), tmp_path / "out"
    if place == "there":
        out.mkdir()
    words = ["select", str(path), "-c", "3", "--quiet", "-o", str(out)]
    done = subprocess.run([str(COMMAND), *words], capture_output=True, umask=0o077)
    assert done.returncode == 0 and {mode(file) for file in out.iterdir()} == {"0o600"}, done


def test_files_that_are_replaced_keep_their_permissions(earlier):
    path, out, before = earlier
    for name, bits in zip(before, [0o600, 0o640, 0o644, 0o664, 0o400]):
        (out / name).chmod(bits)
    wanted = {name: mode(out / name) for name in before}
    select(path, "-c", "3", "-k", "3", "-o", out)
    assert {name: mode(out / name) for name in before} == wanted and features_of_one_result(out) == 3


def test_the_working_folder_vanished(tmp_path):
    script = 'mkdir gone && cd gone && rmdir ../gone && exec "$0" demo --quiet'
    done = subprocess.run(["sh", "-c", script, str(COMMAND)], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 5 and "the working folder no longer exists" in done.stderr and done.stdout == "", done


@pytest.mark.unsanitized
def test_memory_runs_out(tmp_path):
    with open(tmp_path / "x.npy", "wb") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": (2_000_000, 50)})
        file.truncate(file.tell() + 800_000_000)  # zeros that take no room on the disk
    limit = 600_000_000
    done = subprocess.run([str(COMMAND), "select", str(tmp_path / "x.npy"), "-c", "5"], timeout=30,
                          capture_output=True, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
    assert done.returncode == 4 and done.stdout == b"" and done.stderr.count(b"\n") == 1, done


def test_terminated(tmp_path):
    path = write_npy(tmp_path / "x.npy", planted(60000, 40))
    command = subprocess.Popen([str(COMMAND), "select", str(path), "-c", "30", "--tolerance", "0", "--iterations", "100000",
                                "--quiet", "-o", str(tmp_path / "out")], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        command.wait(timeout=0.5)
    except subprocess.TimeoutExpired:
        command.send_signal(signal.SIGTERM)
    assert command.wait(timeout=3) != 0
    command.communicate()
    assert os.listdir(tmp_path) == ["x.npy"]
