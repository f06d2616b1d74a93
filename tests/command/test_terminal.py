"""What a run shows on a terminal: a note before it starts, one line of progress that is gone at the end."""

import fcntl
import gzip
import json
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import time

import numpy as np
import pytest
from conftest import COMMAND, tamis

METHODS = ["guided", "ufcm", "spcafs", "maxvar", "lapscore", "spec", "mcfs", "ndfs", "rufs"]
METHODS += ["css", "sparsekm", "fspca", "udfs"]
REDRAW = "\r\x1b[K"


class Terminal:
    """A pseudo-terminal of a width, and what a command wrote to it; `at_once` every state of progress, however short."""

    def __init__(self, *words, width=80, interrupt_after=None, at_once=True, both=False, **options):
        if at_once:
            options["env"] = {**os.environ, "TAMIS_PROGRESS": "all"}
        leader, follower = pty.openpty()
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
        start = time.monotonic()
        self.child = subprocess.Popen(
            [COMMAND, *map(str, words)], stdout=follower if both else subprocess.DEVNULL, stderr=follower, **options
        )
        os.close(follower)
        seen = b""
        try:
            while piece := os.read(leader, 65536):
                seen += piece
                if interrupt_after and interrupt_after.encode() in seen:
                    self.child.send_signal(signal.SIGINT)
                    interrupt_after = None
        except OSError:  # the other end is closed
            pass
        os.close(leader)
        self.child.wait()
        self.seconds = time.monotonic() - start
        self.seen = seen.decode()

    @property
    def lines(self):
        """What stood in the line of progress, one after the other."""
        return [line for line in self.seen.split(REDRAW)[1:] if line and "\n" not in line]

    @property
    def screen(self):
        """What is left at the end."""
        rows = [""]
        for piece in re.split(r"(\r\n|\r\x1b\[K|\n)", self.seen):
            if piece == REDRAW:
                rows[-1] = ""
            elif piece in ("\r\n", "\n"):
                rows.append("")
            else:
                rows[-1] += piece
        return rows


def seen_on_a_terminal(*words):
    return Terminal(*words).seen


@pytest.fixture
def long_run(tmp_path):
    """A table that exact neighbors take minutes for, and that is refused at once, since no column varies."""
    np.lib.format.open_memmap(tmp_path / "a.npy", mode="w+", dtype=np.uint8, shape=(200_000, 200)).flush()
    return tmp_path / "a.npy"


def test_a_run_of_minutes_says_so_on_a_terminal_only(long_run):
    words = ["select", long_run, "-m", "lapscore", "--recall", 1]
    seen = seen_on_a_terminal(*words)
    assert "minutes; Ctrl-C stops" in seen, seen
    assert "Ctrl-C stops" not in tamis(*words).err
    assert "Ctrl-C stops" not in seen_on_a_terminal(*words, "--quiet")
    assert "Ctrl-C stops" not in seen_on_a_terminal("select", long_run, "-m", "maxvar")
    words = ["select", long_run, "-m", "ufcm", "-c", 40, "--alpha", 0.5, "--tolerance", 0, "--iterations", 100_000]
    slow = seen_on_a_terminal(*words)
    assert "this run will take about" in slow, slow
    compared = Terminal("compare", long_run, "-m", "udfs,maxvar", "-k", "5", interrupt_after="Ctrl-C stops")
    assert "minutes; Ctrl-C stops" in compared.seen


# --- Progress --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Tables that take some tenths of a second."""
    path = tmp_path_factory.mktemp("tables")
    rng = np.random.default_rng(16)
    X = rng.normal(size=(4000, 300))
    X[:2000, :20] += 3
    np.save(path / "rows.npy", X)
    wide = np.lib.format.open_memmap(path / "many.npy", mode="w+", dtype=np.float64, shape=(20_000, 3000))
    wide[:2000:2] = 1.0  # the rest are holes of the file
    wide.flush()
    lines = [",".join(map(str, row)) for row in rng.normal(size=(1000, 40)).round(5)]
    text = ",".join(f"c{j}" for j in range(40)) + "\n" + "\n".join(lines * 80) + "\n"
    (path / "table.csv").write_text(text)
    (path / "table.csv.gz").write_bytes(gzip.compress(text.encode(), 1))
    np.savez_compressed(path / "table.npz", X=np.vstack([X] * 5))
    entries = [f"{i + 1} {j + 1} {X[i, j]:.4f}" for i in range(2000) for j in range(300)]
    (path / "table.mtx").write_text(
        "%%MatrixMarket matrix coordinate real general\n2000 300 600000\n" + "\n".join(entries) + "\n"
    )
    rows = ["1 " + " ".join(f"{j + 1}:{X[i, j]:.4f}" for j in range(300)) for i in range(2000)]
    (path / "table.svm").write_text("\n".join(rows) + "\n")
    return path


def one_line_that_goes_away(terminal, width=80):
    assert terminal.lines, terminal.seen
    for line in terminal.lines:
        assert len(line) < width, line
        assert line.isprintable(), line
    screen = set(terminal.screen)
    assert terminal.screen[-1] == "", terminal.screen
    assert not any(line and line in screen for line in terminal.lines)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_shows_its_phases(folder, method):
    table = folder / ("many.npy" if method == "maxvar" else "rows.npy")
    terminal = Terminal("select", table, "-m", method, "-k", 5, "--threads", 1)
    assert terminal.child.returncode == 0, terminal.seen
    one_line_that_goes_away(terminal)
    phases = [line for line in terminal.lines if re.search(rf"(^|\] ){method}: \S", line)]
    assert phases, terminal.lines


def test_all_methods_are_here():
    assert sorted(METHODS) == sorted(method["name"] for method in json.loads(tamis("methods", "--json").out))


@pytest.mark.parametrize("name", ["table.csv", "table.csv.gz", "table.npz", "table.mtx", "table.svm"])
def test_reading_shows_how_much_of_the_file_is_read(folder, name):
    terminal = Terminal("select", folder / name, "-m", "maxvar", "-k", 5, "--threads", 1)
    assert terminal.child.returncode == 0, terminal.seen
    one_line_that_goes_away(terminal)
    shares = [int(share) for share in re.findall(rf"reading {re.escape(name)}: (\d+) %", terminal.seen)]
    assert shares and shares == sorted(shares) and shares[-1] <= 100, terminal.lines
    if "csv" in name:
        counts = [int(n.replace(",", "")) for n in re.findall(r"%, ([\d,]+) rows", terminal.seen)]
        assert counts == sorted(counts) and counts[-1] <= 80_000


def test_a_pipe_has_no_end_to_count_towards(folder):
    with open(folder / "table.csv", "rb") as text, subprocess.Popen(["cat"], stdin=text, stdout=subprocess.PIPE) as cat:
        terminal = Terminal("select", "-", "-m", "maxvar", "-k", 5, stdin=cat.stdout)
    assert "reading standard input: " in terminal.seen and " rows" in terminal.seen
    assert "%" not in terminal.seen and " left" not in terminal.seen


def test_rows_on_disk_are_counted(folder):
    terminal = Terminal("select", folder / "many.npy", "-m", "maxvar", "-k", 5, "--threads", 1, "--memory", "200MiB")
    assert "stay on disk" in terminal.seen
    assert "maxvar: moments of the columns" in terminal.seen
    assert terminal.screen[-1] == ""


def test_iterations_tell_the_time_left(folder):
    words = ["select", folder / "rows.npy", "-m", "ufcm", "-c", 4, "-k", 5, "--threads", 1, "--iterations", 100_000]
    exact = Terminal(*words, "--tolerance", 0, interrupt_after="left in this step", width=120, at_once=False)
    assert len(exact.lines) <= 10 * exact.seconds + 1, "at most ten a second"
    assert re.search(r"ufcm: [\d,]+ of 100,000 iterations, objective [-\d.e+]+, \d+ (s|min|h) left", exact.seen), exact.seen
    assert "up to" not in exact.seen
    words[3] = "ndfs"
    bounded = Terminal(*words, "--tolerance", 1e-300, interrupt_after="up to", width=120)
    assert re.search(r"of at most 100,000 iterations, .*, up to \S+ (s|min|h) left in this step", bounded.seen)


@pytest.mark.parametrize("width", [1, 2, 12, 40, 200])
def test_narrow_terminals_keep_it_in_one_line(folder, width):
    terminal = Terminal("select", folder / "rows.npy", "-m", "ndfs", "-k", 5, width=width)
    assert all(len(line) < width for line in terminal.lines), terminal.lines
    assert terminal.screen[-1] == ""


def test_ctrl_c_leaves_the_line_clean(folder):
    words = ["select", folder / "rows.npy", "-m", "ufcm", "-c", 4, "-k", 5, "--tolerance", 0, "--iterations", 100_000]
    terminal = Terminal(*words, interrupt_after="iterations")
    assert terminal.child.returncode == 130
    assert terminal.screen[-2:] == ["tamis: interrupted", ""]


def test_an_error_leaves_the_line_clean(folder, tmp_path):
    text = (folder / "table.csv").read_text()
    (tmp_path / "bad.csv").write_text(text + "oops" + ",1" * 39 + "\n")
    terminal = Terminal("select", tmp_path / "bad.csv", "-m", "maxvar", "-k", 5, "--threads", 1)
    assert terminal.child.returncode == 3 and terminal.lines
    assert terminal.screen[-1] == "" and "oops" in " ".join(terminal.screen)


@pytest.mark.parametrize("words", [
    ["select", "{folder}/rows.npy", "-m", "maxvar", "-k", "5", "-o", "{out}/o"], ["demo", "-o", "{out}/o"],
    ["compare", "{folder}/rows.npy", "-m", "maxvar", "-k", "5", "-o", "{out}/o"],
    ["evaluate", "{folder}/rows.npy", "--labels", "{out}/y", "--list", "{out}/list"],
])
def test_the_result_stands_alone_on_a_terminal_that_shows_both(folder, tmp_path, words):
    (tmp_path / "y").write_text("\n".join("ab"[i % 2] for i in range(4000)) + "\n")
    (tmp_path / "list").write_text("0\n1\n")
    words = [word.format(folder=folder, out=tmp_path) for word in words]
    terminal = Terminal(*words, both=True)
    assert terminal.child.returncode == 0, terminal.seen
    assert terminal.lines
    shown = [line for line in terminal.screen if re.search("writing|reading", line)]
    assert not shown, shown


def test_nothing_where_it_is_not_wanted(folder):
    words = ["select", folder / "rows.npy", "-m", "ndfs", "-k", 5]
    assert Terminal(*words, "--quiet").seen == ""
    assert "\x1b" not in tamis(*words).err and "iterations" not in tamis(*words).err


@pytest.mark.parametrize(
    ("words", "shows"),
    [
        (["compare", "rows.npy", "-m", "lapscore,ndfs", "-k", 5, "-c", 3], r"compare, \d of 4: ndfs: "),
        (["info", "table.csv"], r"describing the columns: \d+ %"),
        (["select", "table.csv", "-m", "maxvar", "-k", 30, "-o", "out"], "writing selected.csv"),
    ],
)
def test_other_commands(folder, tmp_path, words, shows):
    there = [folder / word if str(word).endswith((".npy", ".csv")) else word for word in words]
    terminal = Terminal(*there, "--threads", 1, cwd=tmp_path)
    assert terminal.child.returncode == 0, terminal.seen
    one_line_that_goes_away(terminal)
    assert re.search(shows, terminal.seen), terminal.lines


# --- Words -----------------------------------------------------------------------------------------------------------


def printed_on_a_terminal(*words, width=80):
    """Standard output, on a terminal of that width."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    child = subprocess.Popen([COMMAND, *map(str, words)], stdout=follower, stderr=subprocess.DEVNULL)
    os.close(follower)
    seen = b""
    try:
        while piece := os.read(leader, 65536):
            seen += piece
    except OSError:
        pass
    os.close(leader)
    child.wait()
    return seen.decode().replace("\r\n", "\n")


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("words", [["methods"], ["methods", "ufcm"], ["methods", "rufs"], ["datasets"]])
def test_what_is_printed_fits_the_terminal(words, width):
    shown = printed_on_a_terminal(*words, width=width)
    assert shown and all(len(line) <= width for line in shown.split("\n") if "sha256" not in line), shown
    assert shown.split() == tamis(*words).out.split(), "wrapped, and nothing else"


def test_json_is_not_wrapped(folder):
    words = ["select", folder / "rows.npy", "-m", "maxvar", "--json"]
    assert json.loads(printed_on_a_terminal(*words))["data"] == json.loads(tamis(*words).out)["data"]


def test_errors_are_wrapped_at_spaces_on_a_terminal_only(tmp_path):
    (tmp_path / "a.csv").write_text("city,day,note,x\n" + "Rome,2024-05-01,windy,1\n" * 3)
    terminal = Terminal("select", "a.csv", cwd=tmp_path, at_once=False)
    plain = tamis("select", "a.csv", cwd=tmp_path).err
    assert plain.count("\n") == 1 and len(plain) > 80
    assert all(len(line) <= 80 for line in terminal.screen) and len(terminal.screen) > 2
    assert " ".join(terminal.seen.split()) == " ".join(plain.split())


def test_swapped_letters_are_recognized():
    assert "did you mean 'ufcm'?" in tamis("methods", "ufmc").err


def test_commands_to_copy_are_not_broken_into_lines(tmp_path):
    name = "a_table_with_a_rather_long_name_that_makes_a_long_command.csv"
    rows = np.random.default_rng(3).normal(size=(40, 4)).round(4)
    (tmp_path / name).write_text("a,b,c,d\n" + "\n".join(",".join(map(str, row)) for row in rows) + "\n")
    shown = printed_on_a_terminal("select", tmp_path / name, "-m", "maxvar", "-k", 2, width=80)
    assert f"tamis select {tmp_path / name} -m maxvar -k 2 -o result\n" in shown
    shown = printed_on_a_terminal("info", tmp_path / name, width=80)
    assert f"Next: tamis select {tmp_path / name}\n" in shown


def test_the_table_of_evaluate_fits_80_columns(folder, tmp_path):
    (tmp_path / "y").write_text("\n".join("ab"[i % 2] for i in range(4000)) + "\n")
    (tmp_path / "list").write_text("0\n1\n")
    words = ["evaluate", folder / "rows.npy", "--labels", tmp_path / "y", "--list", tmp_path / "list", "--quiet"]
    shown = tamis(*words).out.partition("\n\n")[0].split("\n")
    assert shown[0].split() == ["features", "size", "ACC", "best", "NMI", "ARI", "|r|"]
    assert all(len(line) <= 80 for line in shown), shown
