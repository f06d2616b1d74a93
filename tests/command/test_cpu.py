"""--cpu baseline and TAMIS_CPU=baseline: the same bits on every x86-64 machine."""

import hashlib
import os
import platform
import subprocess
from pathlib import Path

import numpy as np
import pytest
from conftest import COMMAND, refused, select, tamis, write_npy

# SHA-256 of scores, evidence and objective on table(), by method. Where a method itself changes, take the digests that the
# failing test shows; nothing else may change them, neither the machine nor the compiler nor the BLAS.
DIGESTS = {
    "guided": "36c96f1d4627f680304f298f4807f03d3b19018b285b8a4d2dcbcd2c94a50601",
    "ufcm": "e0912366888b7aacdde344fb7c6f10604cb6dc4fbdfda1f1a926f41719910d79",
    "maxvar": "2e6b448193c8e74ab1b76b761a36932138fb2a0c3e2cd7d1ae26f0d68b9da8ff",
    "lapscore": "97a9cceda89913d95362a946800f7f5a3e8481acd3116f8e4bcd9610ca408265",
    "spec": "1ac163440b42cbb7310134272d2730d43b0de0584b1bbbd0daf5c53bffd49f02",
    "mcfs": "b57afdabd9d7e1ba98aad0c8e83c9c1774883b9c95454088ca99d16a43e0e9ce",
    "ndfs": "ff5ed8537dff1e8a8d5b5355d5c9e723fe3c6802d497c13f2bd1c1765d10b0fc",
    "rufs": "e5212d1219506fa4938df1b12bba624aa2d76ab1605b593226336f24685b7316",
}

x86_64 = pytest.mark.skipif(platform.machine() != "x86_64", reason="not an x86-64 machine")


def facts(**keywords):
    run = tamis("--version", **keywords)
    assert run.code == 0 and run.err == "", str(run)
    first, second = run.out.splitlines()
    assert first.startswith("tamis ")
    return second


def table():
    """Three groups of rows in 5 of 12 columns, of whole numbers alone: no rounding makes it another on other machines."""
    rows, columns = np.meshgrid(np.arange(150), np.arange(12), indexing="ij")
    noise = (rows * rows * 7919 + columns * 104729 + rows * columns * 1299709) % 1009
    return (noise + np.where(columns < 5, 1500 * ((rows + columns) % 3), 0)).astype(float)


def digest(scores):
    return hashlib.sha256(np.array(scores, dtype="<f8").tobytes()).hexdigest()


def test_version_names_what_decides_the_last_bits():
    line = facts(env={"TAMIS_CPU": ""})
    compiler, blas, kernels, *commit = line.split(", ")
    assert all(word.startswith("commit ") for word in commit) and len(commit) <= 1
    assert compiler.startswith(("GCC ", "clang ")) and blas and kernels in ("AVX-512 kernels", "AVX2 kernels", "portable kernels")
    assert tamis("-V").out == tamis("--version").out == tamis("select", "--version").out


@x86_64
def test_baseline_uses_neither_blas_nor_kernels_of_this_cpu():
    line = facts(env={"TAMIS_CPU": "baseline"})
    assert ", portable linear algebra, portable kernels" in line, line
    assert facts(env={"TAMIS_CPU": "auto"}) == facts(env={"TAMIS_CPU": ""})


@x86_64
def test_version_names_what_the_flag_asks_for(tmp_path):
    baseline = facts(env={"TAMIS_CPU": "baseline"})
    for words in (["select", "--cpu", "baseline", "--version"], ["select", "--version", "--cpu=baseline"],
                  ["select", tmp_path / "x.npy", "-V", "--cpu", "baseline"]):
        run = tamis(*words, env={"TAMIS_CPU": ""})
        assert run.code == 0 and run.out.splitlines()[1] == baseline, str(run)


def test_version_does_not_hide_mistakes():
    refused(tamis("--nonsense", "--version"), 2, "unknown option --nonsense")
    refused(tamis("select", "--nonsense", "--version"), 2, "unknown option --nonsense")
    refused(tamis("--cpu", "baseline", "--version"), 2, "--cpu stands before the command", "tamis select --cpu")
    refused(tamis("select", "--cpu", "z80", "--version"), 2, "cpu = z80")


def test_unknown_cpus_are_refused(tmp_path):
    path = write_npy(tmp_path / "x.npy", table())
    refused(tamis("select", path, "--cpu", "z80"), 2, "cpu = z80", "auto or baseline")
    refused(tamis("select", path, env={"TAMIS_CPU": "z80"}), 2, "TAMIS_CPU = z80", "auto or baseline")


@x86_64
def test_flag_variable_and_config_file_agree(tmp_path):
    path = write_npy(tmp_path / "x.npy", table())
    (tmp_path / "settings").write_text("cpu = baseline\n")
    wanted = select(path, "-m", "ufcm", "-c", 3, "--cpu", "baseline")["scores"]
    assert select(path, "-m", "ufcm", "-c", 3, env={"TAMIS_CPU": "baseline"})["scores"] == wanted
    assert select(path, "-m", "ufcm", "-c", 3, "--config", tmp_path / "settings")["scores"] == wanted
    plain = select(path, "-m", "ufcm", "-c", 3)["scores"]
    assert select(path, "-m", "ufcm", "-c", 3, "--cpu", "auto", env={"TAMIS_CPU": "baseline"})["scores"] == plain
    assert np.allclose(plain, wanted, rtol=0, atol=1e-5 * max(plain))


@x86_64
@pytest.mark.parametrize("method", ["guided", "ufcm", "maxvar", "lapscore", "spec", "mcfs", "ndfs", "rufs"])
def test_baseline_has_the_committed_bits(method, tmp_path):
    path = write_npy(tmp_path / "x.npy", table())
    clusters = [] if method in ("guided", "maxvar", "lapscore", "spec") else ["-c", 3]
    found = select(path, "-m", method, *clusters, "--cpu", "baseline", "--quiet")
    numbers = [found["scores"], found.get("evidence") or [], found["report"].get("objective") or []]
    assert digest(sum(numbers, [])) == DIGESTS.get(method), method


@pytest.mark.native
@pytest.mark.unsanitized
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="no /proc")
def test_blas_starts_no_threads_that_are_never_used():
    """It would start one for every core, and each would spin for a while."""
    command = [str(COMMAND), "select", "-", "-k", "1", "-m", "maxvar", "--threads", "1", "--json"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0,
                          env={**os.environ, "PWD": os.getcwd()}) as run:
        run.stdin.write(b"a,b\n" + b"1,2\n" * 100_000)  # more than a pipe holds: once it is written, main() runs
        assert len(list(Path(f"/proc/{run.pid}/task").iterdir())) == 1
        run.communicate(b"3,5\n")
    assert run.returncode == 0
