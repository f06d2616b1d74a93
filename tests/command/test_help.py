"""What --help says, and what a misspelled word is answered with."""

import subprocess

import pytest
from conftest import COMMAND, ROOT, refused, seen_on_a_terminal, tamis

COMMANDS = ("select", "apply", "evaluate", "compare", "methods", "info", "demo", "reproduce", "datasets")


def help_of(*words):
    run = tamis(*words, "--help")
    assert run.code == 0 and run.err == "", str(run)
    return run.out


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_lines_fit_a_terminal_of_80_columns(name):
    text = help_of(*name.split())
    assert max(len(line) for line in text.splitlines()) <= 80
    assert "\n\n\n" not in text


def test_help_is_wrapped_to_the_width_of_the_terminal():
    def widest(columns):
        seen, code = seen_on_a_terminal("select", "--help", columns=columns)
        assert code == 0
        return max(len(line) for line in seen.partition("Examples:")[0].splitlines())

    assert widest(64) <= 64 < widest(100) <= 100


@pytest.mark.parametrize("method", [one["name"] for one in tamis("methods", "--json").json])
def test_help_of_a_method_shows_its_own_options_and_defaults(method):
    described = {one["name"]: one for one in tamis("methods", "--json").json}[method]
    text = help_of("select", "-m", method)
    wanted = {option["name"] for option in described["options"]}
    section = text.partition(f"Options of {method}:")[2].partition("\n\n")[0]
    shown = {word.strip(",")[2:] for word in section.split() if word.startswith("--")}
    assert shown == wanted
    flat = " ".join(section.split())
    for option in described["options"]:
        assert " ".join(option["help"].split()) in flat, option["name"]


def test_help_without_a_method_is_that_of_the_default():
    assert "Options of guided:" in help_of("select") and "--gamma" not in help_of("select")


def test_a_misspelled_word_is_answered_with_the_nearest():
    refused(tamis("selct", "x.csv"), 2, "unknown command selct; did you mean 'select'?")
    refused(tamis("select", "x.csv", "--fetures", "3"), 2, "unknown option --fetures; did you mean '--features'?")
    refused(tamis("select", "x.csv", "--fetures=3"), 2, "unknown option --fetures; did you mean '--features'?")
    refused(tamis("select", "x.csv", "--zzzzzzzzzz"), 2, "unknown option --zzzzzzzzzz; see tamis select --help")
    refused(tamis("select", "x.csv", "-m", "uffcm"), 2, "did you mean 'ufcm'?")
    refused(tamis("select", "x.csv", "y.csv"), 2, "unexpected argument y.csv")
    refused(tamis("select", "x.csv", "--\x1b[31mred"), 2, "\\x1b[31mred")
    refused(tamis("select", "x.csv", "-k"), 2, "--features needs a value: NUMBER; see tamis select --help")
    refused(tamis("select", "x.csv", "-k", "3", "-k", "4"), 2, "--features is given twice; see tamis select --help")
    refused(tamis("info", "x.csv", "--include", "3"), 2,
            "unknown option --include, which belongs to tamis select; see tamis info --help")


def test_help_is_a_command_too():
    assert tamis("help").out == tamis("--help").out
    assert tamis("help", "select").out == help_of("select")
    refused(tamis("help", "selct"), 2, "did you mean 'select'?")


def test_usage_shows_which_arguments_may_be_left_out():
    usage = {name: help_of(name).partition("Usage: ")[2].partition("\n")[0] for name in (*COMMANDS, "manual", "completion")}
    assert usage["methods"] == "tamis methods [NAME] [OPTIONS]" and usage["datasets"] == "tamis datasets [DIR] [OPTIONS]"
    assert usage["manual"] == "tamis manual [COMMAND] [OPTIONS]"
    assert usage["apply"] == "tamis apply SELECTION DATA [OPTIONS]"
    assert usage["completion"] == "tamis completion SHELL [OPTIONS]"
    assert "[NAME]" in tamis("manual", "methods", "--markdown").out and "[ NAME ]" in tamis("manual", "methods").out


def test_help_names_the_methods_that_can_do_it():
    text = " ".join(help_of("select").split())
    assert "auto or all (auto for guided, sparsekm, all for other methods)" in text
    assert "resume from it if it exists (ufcm, spcafs)" in text
    assert "Use these labels as clusters (ufcm)" in text


def test_short_version_flag():
    assert tamis("-V").out == tamis("--version").out and tamis("select", "-V").out == tamis("--version").out


@pytest.mark.native
def test_pages_have_the_options_as_they_are_described():
    compared = subprocess.run([ROOT / "tools" / "make_tables", "--check", COMMAND], capture_output=True, text=True)
    assert compared.returncode == 0, compared.stdout + compared.stderr
