"""Completions and manual pages: made of the descriptions that --help uses, and read by real shells and man."""

import re
import shutil
import subprocess

import pytest
from conftest import COMMAND, refused, tamis
from test_help import COMMANDS, help_of

ALL = (*COMMANDS, "completion", "manual")


def printed(*words):
    run = tamis(*words)
    assert run.code == 0 and run.err == "", str(run)
    return run.out


def flags_in_help(command):
    """Those of every method."""
    texts = [help_of(command)]
    if command == "select":
        texts += [help_of(command, "-m", one["name"]) for one in tamis("methods", "--json").json]
    return set(re.findall(r"^  (?:-\w, )?(--[a-z][a-z0-9-]*)", "\n".join(texts), flags=re.M))


def needs(program):
    return pytest.mark.skipif(shutil.which(program) is None, reason=f"no {program} on this machine")


@pytest.mark.parametrize("command", ALL)
def test_every_flag_of_the_help_is_in_the_manual_and_the_other_way_round(command):
    page = printed("manual", command)
    assert set(re.findall(r"\\fB(--[a-z][a-z0-9-]*)\\fR", page.replace("\\-", "-"))) == flags_in_help(command)
    table = printed("manual", command, "--markdown")
    assert set(re.findall(r"^\| `(?:-\w, )?(--[a-z][a-z0-9-]*)", table, flags=re.M)) == flags_in_help(command)


@pytest.mark.parametrize("command", ALL)
def test_every_flag_of_the_help_is_completed(command):
    wanted = flags_in_help(command)
    section = re.search(rf"^    {command}\)\n(.*?)      fi ;;", printed("completion", "bash"), flags=re.M | re.S).group(1)
    offered = re.search(r"== -\?\* \]\]; then COMPREPLY=\(\$\(compgen -W '([^']*)'", section).group(1).split()
    assert {word for word in offered if word.startswith("--")} == wanted
    section = re.search(rf"^        {command}\)\n(.*?) ;;", printed("completion", "zsh"), flags=re.M | re.S).group(1)
    assert set(re.findall(r"--[a-z][a-z0-9-]*(?==|'|\})", section)) == wanted
    section = "\n".join(re.findall(rf"__tamis_is {command}'(.*)", printed("completion", "fish")))
    assert {f"--{name}" for name in re.findall(r" -l ([a-z0-9-]+)", section)} == wanted


def values_in_help(command):
    """{flag: what it takes}, empty where it takes nothing; those of every method."""
    texts = [help_of(command)]
    if command == "select":
        texts += [help_of(command, "-m", one["name"]) for one in tamis("methods", "--json").json]
    found = re.findall(r"^  (?:-\w, )?(--[a-z][a-z0-9-]*)(?: ([A-Z]\S*(?: [A-Z]{2,})*))?(?=  |$)", "\n".join(texts), flags=re.M)
    return dict(found)


@pytest.mark.parametrize("command", ["select", "compare", "reproduce", "manual"])
def test_values_are_those_of_the_help_and_may_be_left_out_where_they_may(command):
    wanted = values_in_help(command)
    optional = {flag for flag, value in wanted.items() if value == "YES/NO"}
    assert ("--exact" in optional) == (command == "select") and wanted["--help"] == ""
    table = printed("manual", command, "--markdown")
    cells = re.findall(r"^\| `(?:-\w, )?(--[a-z][a-z0-9-]*)(?: (\[?)([^\]`]+)\]?)?`", table, flags=re.M)
    assert {flag: value for flag, _, value in cells} == wanted
    assert {flag for flag, bracket, _ in cells if bracket} == optional
    page = printed("manual", command).replace("\\-", "-")
    entries = re.findall(r"\\fB(--[a-z][a-z0-9-]*)\\fR(?: (\[?)\\fI([^\\]+)\\fR\]?)?$", page, flags=re.M)
    assert {flag: value for flag, _, value in entries} == wanted
    assert {flag for flag, bracket, _ in entries if bracket} == optional
    section = re.search(rf"^        {command}\)\n(.*?) ;;", printed("completion", "zsh"), flags=re.M | re.S).group(1)
    entries = re.findall(r"(--[a-z][a-z0-9-]*)=?\}?'\[(?:\\.|[^\]\\])*\](?:(::?)([^:']*):)?", section)
    assert {flag: value for flag, _, value in entries} == wanted
    assert {flag for flag, colons, _ in entries if colons == "::"} == optional
    script = printed("completion", "fish")
    for flag, value in wanted.items():
        rest = re.search(rf"__tamis_is {command}'(?: -s .)? -l {flag[2:]} (.*?)-d ", script).group(1)
        assert rest.split()[:1] == (["-f"] if flag in optional else ["-x"] if value and not rest.startswith("-r") else
                                    ["-r"] if value else []), (flag, rest)


def test_what_is_said_of_a_flag_in_a_menu_is_not_cut_within_a_thought():
    script = printed("completion", "fish")
    for flag, wanted in {"cpu": "auto: the fastest code for this CPU; baseline: ", "order": "norm: by the norms of ",
                         "bandwidth": "t of the heat kernel exp(-||xi - xj||^2 / (2 t^2))'", "seed": "Random seed, 0..2^64-1'",
                         "memory": "Memory limit'"}.items():
        assert re.search(rf"__tamis_is select' -l {flag} .*-d '(.*)", script).group(1).startswith(wanted.rstrip("'")), flag
        assert not wanted.endswith("'") or f"-d '{wanted}" in script, flag


def test_the_words_that_are_offered_are_those_that_are_allowed(tmp_path):
    """The command says which words it accepts when it gets another one."""
    path = tmp_path / "x.csv"
    path.write_text("a,b\n1,2\n3,5\n4,4\n")
    script = printed("completion", "fish")
    for flag in ("header", "missing", "scale", "cpu"):
        offered = re.search(rf"__tamis_is select' -l {flag} -x -a '([^']*)'", script).group(1).split()
        run = tamis("select", path, f"--{flag}", "zzz")
        assert run.code == 2 and set(re.findall(r"[\w-]+", run.err.partition("need ")[2])) - {"or"} == set(offered), run.err
    offered = re.search(r"__tamis_is select' -s m -l method -x -a '([^']*)'", script).group(1).split()
    assert offered == [one["name"] for one in tamis("methods", "--json").json]


def test_a_manual_page_for_every_command_and_none_for_others():
    page = printed("manual")
    assert re.match(r'\.TH TAMIS 1 "(\d{4}-\d\d-\d\d)?" "tamis ', page)
    assert set(re.findall(r"^\.BR tamis\\-(\w+) \(1\)", page, flags=re.M)) == set(ALL)
    refused(tamis("manual", "selct"), 2, "no command selct", "did you mean 'select'?")
    refused(tamis("completion", "tcsh"), 2, "shell = tcsh", "bash, zsh or fish")
    refused(tamis("completion"), 2, "SHELL is missing")


def test_the_manual_knows_every_exit_code():
    page = printed("manual").partition(".SH EXIT STATUS")[2].partition(".SH")[0]
    assert re.findall(r"^\.B (\d+)$", page, flags=re.M) == ["0", "1", "2", "3", "4", "5", "6", "130"]


@needs("man")
@pytest.mark.parametrize("command", ["", *ALL])
def test_man_reads_the_pages_without_warnings(command, tmp_path):
    path = tmp_path / "page.1"
    path.write_text(printed("manual", *command.split()))
    done = subprocess.run(["man", "--warnings=all", "-l", path], capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == "" and "EXIT STATUS" in done.stdout.upper(), done.stderr


def bash_offers(line, folder=None):
    """What bash offers at the end of the line."""
    words = line.split(" ")
    code = f"""
    source <({COMMAND} completion bash)
    COMP_WORDS=({' '.join(f"'{word}'" for word in words)}) COMP_CWORD={len(words) - 1}
    _tamis
    printf '%s\\n' "${{COMPREPLY[@]}}" """
    done = subprocess.run(["bash", "--norc", "-c", code], capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return done.stdout.split()


def test_bash_completes():
    assert set(bash_offers("tamis ")) == set(ALL)
    assert bash_offers("tamis sel") == ["select"]
    assert bash_offers("tamis select --mi") == ["--missing"]
    assert bash_offers("tamis select x.csv --missing dr") == ["drop-rows", "drop-columns"]
    assert bash_offers("tamis select x.csv --missing = dr") == ["drop-rows", "drop-columns"]  # as bash splits --missing=dr
    assert bash_offers("tamis methods uf") == ["ufcm"]
    assert bash_offers("tamis manual sel") == ["select"]
    assert bash_offers("tamis select x") == [] and bash_offers("tamis select -k ") == []  # files; nothing
    assert bash_offers("tamis select x.csv --exact ") == ["yes", "no"]
    assert bash_offers("tamis select x.csv --exact n") == ["no"]
    assert bash_offers("tamis select x.csv --exact --js") == ["--json"]  # which takes no value here
    assert bash_offers("tamis compare x.csv -m uf") == ["ufcm"]
    assert bash_offers("tamis compare x.csv -m ufcm,lap") == ["ufcm,lapscore"]
    assert bash_offers("tamis --json select x.csv --sc") == []  # refused: the command comes first


def test_bash_completes_a_file_with_a_list(tmp_path):
    (tmp_path / "names.txt").touch()
    (tmp_path / "other.txt").touch()
    assert bash_offers("tamis select x.csv --exclude @na", tmp_path) == ["@names.txt"]
    assert bash_offers("tamis select x.csv --exclude @ na", tmp_path) == []  # as bash may split it: files


@needs("zsh")
def test_zsh_reads_its_script(tmp_path):
    (tmp_path / "_tamis").write_text(printed("completion", "zsh"))
    code = f"fpath=({tmp_path} $fpath); autoload -Uz compinit && compinit -D && print -r -- $_comps[tamis] && autoload +X _tamis"
    done = subprocess.run(["zsh", "-f", "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "_tamis" and done.stderr == "", done.stderr


@needs("fish")
def test_fish_completes(tmp_path):
    def offers(line):
        code = f"{COMMAND} completion fish | source; complete -C '{line}'"
        done = subprocess.run(["fish", "--private", "-c", code], capture_output=True, text=True, env={"HOME": str(tmp_path)})
        assert done.returncode == 0 and done.stderr == "", done.stderr
        return [one.split("\t")[0] for one in done.stdout.splitlines()]

    assert offers("tamis sel") == ["select"]
    assert offers("tamis select --mi") == ["--missing"]
    assert offers("tamis select --missing dr") == ["drop-columns", "drop-rows"]
    assert {"--exact=no", "--exact=yes"} <= set(offers("tamis select --exact="))
    assert {"yes", "no"} <= set(offers("tamis select --exact "))
    assert offers("tamis compare -m ufcm,lap") == ["ufcm,lapscore"]
    assert offers("tamis --json select --sc") == []
    assert offers("tamis manual sel") == ["select"]
