"""tools/setup in bad surroundings: one line that says what is wrong, and nothing is left half done.

It runs in a checkout of its own with a PATH of its own, where what it asks of the machine is answered by small scripts.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
REAL = "awk bash cat cmp cp df dirname env grep head mktemp rm sed sort tail touch".split()
HERE = {  # a machine that has everything
    "id": "echo 0",
    "g++": "echo 12.2.0",
    "cmake": "echo cmake version 3.25.1",
    "ninja": "",
    "dpkg-query": "echo ii",
    "apt-get": "echo $* >>apt.log",
    "apt-cache": "",
    "python3": """
case "$*" in
  *version_info*) echo 3.11.2 ;;
  "-m venv --clear .venv")
    mkdir -p .venv/bin && printf '#!/bin/sh\\n[ "$1" = -c ] || echo "$@" >>pip.log\\n' >.venv/bin/python &&
      chmod +x .venv/bin/python ;;
esac""",
}


@pytest.fixture
def machine(tmp_path):
    """A machine with a checkout; keywords replace what it has, None removes it."""
    checkout = tmp_path / "a checkout"  # a path with a space is nothing special
    (checkout / "tools").mkdir(parents=True)
    for name in ("tools/setup", *(path.name for path in ROOT.glob("requirements-*.txt"))):
        shutil.copy(ROOT / name, checkout / name)
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in [*REAL, "mkdir", "chmod"]:
        (programs / name).symlink_to(shutil.which(name))

    def setup(goal, **changes):
        changed = {name.replace("gxx", "g++").replace("_", "-"): value for name, value in changes.items()}
        for name, script in {**HERE, **changed}.items():
            (programs / name).unlink(missing_ok=True)
            if script is not None:
                (programs / name).write_text(f"#!{programs}/bash\n{script}\n")
                (programs / name).chmod(0o755)
        setup.checkout = checkout
        return subprocess.run([checkout / "tools" / "setup", goal], capture_output=True, text=True, timeout=60,
                              env={"PATH": str(programs), "HOME": str(tmp_path), "TMPDIR": str(tmp_path)})

    return setup


def left_behind(machine):
    return sorted(path.name for path in machine.checkout.iterdir() if not path.name.startswith(("tools", "requirements")))


def refused(machine, done, *words, left=()):
    """One line on standard error with the words; of the checkout nothing is changed but what is `left`."""
    assert done.returncode == 1, done
    assert done.stderr.startswith("setup: ") and done.stderr.count("\n") == 1, done.stderr
    for word in words:
        assert word in done.stderr, done.stderr
    assert left_behind(machine) == sorted(left)


def test_a_machine_that_has_everything(machine):
    done = machine("test")
    assert done.returncode == 0, done.stderr
    assert done.stderr == "" and left_behind(machine) == [".venv", "pip.log"]
    assert (machine.checkout / "pip.log").read_text().count("-r requirements-") == 2
    again = machine("test")
    assert (again.returncode, again.stdout, again.stderr) == (0, "", ""), again


@pytest.mark.parametrize("program, script, words", [
    ("cmake", "echo cmake version 3.18.4", "cmake is version 3.18.4, need 3.22 or later"),
    ("python3", "echo 3.9.2", "python3 is version 3.9.2, need 3.10 or later"),
    ("gxx", "echo 10.2.1", "g++ is version 10.2.1, need 12 or later"),
    ("df", "printf 'Filesystem 1M Used Free\\n/dev/x  900 850   50 95%% /\\n'", "50 MB of disk space left, need 300 MB"),
])
def test_too_old_or_too_little(machine, program, script, words):
    refused(machine, machine("build", **{program: script}), words)


def test_packages_that_would_be_too_old_are_not_installed(machine):
    listing = ('case "$*" in *--simulate*) echo "Inst cmake (3.18.4-2+deb11u1 Debian:11 [amd64])" ;; '
               '*) echo "$*" >>apt.log ;; esac')
    done = machine("build", cmake=None, dpkg_query="exit 1", apt_get=listing)
    refused(machine, done, "cmake is version 3.18.4, need 3.22 or later")


def test_neither_root_nor_sudo(machine):
    done = machine("build", id="echo 1000", ninja=None, dpkg_query="exit 1")
    refused(machine, done, "ninja-build", "neither root nor sudo")


def test_sudo_is_used_where_it_asks_nothing(machine):
    done = machine("build", id="echo 1000", ninja=None, dpkg_query="exit 1", sudo='shift; [ "$1" = true ] || "$@"')
    assert done.returncode == 0, done.stderr
    assert "install -y --no-install-recommends" in (machine.checkout / "apt.log").read_text()


def test_no_apt_get(machine):
    refused(machine, machine("build", ninja=None, dpkg_query="exit 1", apt_get=None), "ninja-build", "install them yourself")


def test_no_network_for_packages(machine):
    offline = 'echo "W: something else"; echo "E: Temporary failure resolving the mirror"; exit 100'
    done = machine("build", ninja=None, dpkg_query="exit 1", apt_get=offline)
    refused(machine, done, "ninja-build", "could not be fetched: Temporary failure resolving")


def test_no_network_for_pip(machine):
    failing = '|| { echo "ERROR: No matching distribution found" >\\&2; exit 1; }'
    offline = HERE["python3"].replace('|| echo "$@" >>pip.log', failing)
    done = machine("build", python3=offline.replace("\\&", "&"))
    refused(machine, done, "pip could not install requirements-build.txt", "No matching distribution")


def test_an_interrupted_environment_is_made_anew(machine):
    machine("build", python3=HERE["python3"].replace("printf", "exit 3; printf"))
    assert left_behind(machine) == []
    assert machine("build").returncode == 0


def test_python_without_headers(machine):
    bare = HERE["python3"].replace('case "$*" in', 'case "$*" in\n  *Python.h*) exit 1 ;;')
    done = machine("test", python3=bare)
    refused(machine, done, "has no headers (Python.h)")
    failing = 'case "$*" in *update*) exit 1 ;; *) echo "E: $*"; exit 100 ;; esac'
    done = machine("test", python3=bare, dpkg_query="exit 1", apt_get=failing)
    refused(machine, done, "python3-dev")


def test_a_checkout_that_cannot_be_written_to(machine, tmp_path):
    assert machine("build").returncode == 0
    for name in left_behind(machine):
        path = machine.checkout / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    words = 'chmod a-w "$1" && PATH="$2" "$1/tools/setup" build'
    command = ["bash", "-c", words, "bash", machine.checkout, tmp_path / "bin"]
    if os.geteuid() == 0:  # who may write anyway
        command[:0] = ["setpriv", "--bounding-set", "-dac_override"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    refused(machine, done, "cannot be written to")
