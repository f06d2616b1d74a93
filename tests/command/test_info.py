"""tamis info: what each column of a text table holds, and the command that would work."""

import shlex

import numpy as np
import pandas as pd
import pytest
from conftest import planted, refused, tamis

NAMES = ["temperature", "pressure", "flow", "power"]


def export(rows=40):
    """A table as people have it."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(planted(rows, 4).round(3), columns=NAMES)
    frame.insert(0, "station", [f"S-{i:03d}" for i in range(rows)])
    frame["city"] = rng.choice(["Lyon", "Nice"], rows)
    frame["date"] = pd.date_range("2026-01-01", periods=rows).strftime("%Y-%m-%d")
    frame["open"] = rng.choice([True, False], rows)
    frame["version"] = 3
    frame["flow_copy"] = frame["flow"]
    frame["order"] = 5000 + 7 * np.arange(rows)
    frame["depth"] = np.where(np.arange(rows) % 9 == 0, -9999, rng.random(rows).round(3))
    return frame


def surveyed(path, *more):
    run = tamis("info", path, "--json", *more)
    assert run.code == 0, str(run)
    return {column["name"]: column for column in run.json["columns"]}, run.json


def test_every_column_is_described(tmp_path):
    export().to_csv(tmp_path / "a.csv", index=False)
    found, document = surveyed(tmp_path / "a.csv")
    assert {name: column["holds"] for name, column in found.items()} == {
        "station": "text", **dict.fromkeys(NAMES, "number"), "city": "text", "date": "date", "open": "yes/no",
        "version": "number", "flow_copy": "number", "order": "number", "depth": "number"}
    assert found["station"]["distinct"] and not found["city"]["distinct"]
    assert found["version"]["constant"] and found["order"]["rises"] and not found["flow"]["rises"]
    assert found["flow_copy"]["copy_of"] == 3 and found["flow"]["copy_of"] is None
    assert (found["depth"]["sentinel"], found["depth"]["sentinels"]) == (-9999, 5)
    assert document["problem"] is None and document["data"]["features"] == 9
    text = tamis("info", tmp_path / "a.csv").out
    for words in ("different in every row, like row names", 'such as "', "copy of flow", "5 times -9999", "constant",
                  "rises from row to row"):
        assert words in text, words


def test_the_recommended_command_works(tmp_path):
    export().to_csv(tmp_path / "my table.csv", index=False)
    command = shlex.split(surveyed(tmp_path / "my table.csv")[1]["command"])
    assert command[:2] == ["tamis", "select"]
    assert command[command.index("--id") + 1] == "station"
    assert command[command.index("--exclude") + 1] == "city,date,order"
    run = tamis(*command[1:], "-m", "maxvar")
    assert run.code == 0, str(run)


@pytest.mark.parametrize("word", ["", "NA", "n/a", "#DIV/0!", "null", "-", "?"])
def test_missing_values_are_counted(tmp_path, word):
    frame = export()
    frame["flow"] = frame["flow"].astype(object)
    frame.loc[[3, 5], "flow"] = word
    frame.to_csv(tmp_path / "a.csv", index=False)
    found, document = surveyed(tmp_path / "a.csv")
    assert (found["flow"]["holds"], found["flow"]["missing"], found["flow"]["missing_as"]) == ("number", 2, word)
    assert "--missing mean" in document["command"]
    assert ("2 missing (blank)" if word == "" else f'2 missing ("{word}")') in tamis("info", tmp_path / "a.csv").out


def test_a_few_words_among_numbers(tmp_path):
    frame = export()
    frame["flow"] = frame["flow"].astype(object)
    frame.loc[7, "flow"] = "12 l/s"
    frame.to_csv(tmp_path / "a.csv", index=False)
    assert '1 cell is not a number, first "12 l/s" in line 9' in tamis("info", tmp_path / "a.csv").out


def test_rows_of_other_lengths_are_no_reason_to_refuse(tmp_path):
    lines = ["a,b,c", *(f"{i},{i * i % 7},x" for i in range(20))]
    lines[5] = "1,2"
    (tmp_path / "a.csv").write_text("\n".join(lines) + "\n")
    run = tamis("info", tmp_path / "a.csv")
    assert run.code == 0 and "1 row has more or fewer cells than the first, first in line 6" in run.out


def test_many_columns_are_summed_up(tmp_path):
    frame = pd.DataFrame(planted(30, 300).round(3), columns=[f"g{j}" for j in range(300)])
    for j in range(60):
        frame[f"t{j}"] = "x"
    frame.to_csv(tmp_path / "a.csv", index=False)
    text = tamis("info", tmp_path / "a.csv").out
    columns = text.partition("remarks")[2].partition("Estimates")[0]
    assert columns.count("\n") <= 42
    assert "more like these (--all shows every column)" in columns
    assert "300 numeric columns without remarks" in columns
    every = tamis("info", tmp_path / "a.csv", "--all").out.partition("remarks")[2].partition("Estimates")[0]
    assert every.count("\n") >= 360


def test_an_index_and_the_doubts_and_positions(tmp_path):
    export()[NAMES].to_csv(tmp_path / "a.csv")  # with the index of pandas
    found, document = surveyed(tmp_path / "a.csv")
    assert found[""]["counts_rows"] and "--exclude" not in document["command"] and "--id" not in document["command"]
    export()[NAMES].to_csv(tmp_path / "b.csv", index=False, header=False)
    assert list(surveyed(tmp_path / "b.csv")[0]) == ["0", "1", "2", "3"]


def test_nothing_but_text_and_nothing_at_all(tmp_path):
    (tmp_path / "a.csv").write_text("name,city\nx,Lyon\ny,Nice\n")
    run = tamis("info", tmp_path / "a.csv")
    assert run.code == 0 and "text" in run.out
    (tmp_path / "b.csv").write_text("")
    refused(tamis("info", tmp_path / "b.csv"), 3)
    refused(tamis("info", tmp_path / "none.csv"), 5)


def test_semicolons_and_decimal_commas(tmp_path):
    export().to_csv(tmp_path / "a.csv", index=False, sep=";", decimal=",")
    found, document = surveyed(tmp_path / "a.csv")
    assert found["flow"]["holds"] == "number" and found["flow_copy"]["copy_of"] == 3 and document["problem"] is None


@pytest.mark.parametrize(("separator", "word"), [(".", "."), ("'", "'"), (" ", "space")])
def test_separators_between_thousands_lead_to_the_option(tmp_path, separator, word):
    frame = export()
    frame["power"] = [f"{i + 1}{separator}{i:03d}" + (",5" if separator == "." else ".5") for i in range(len(frame))]
    frame = frame[["city", "power"]] if separator == "." else frame[["city", "flow", "power"]]
    frame.to_csv(tmp_path / "a.csv", index=False, sep=";")
    found, document = surveyed(tmp_path / "a.csv")
    assert (found["power"]["holds"], found["power"]["thousands"], found["power"]["distinct"]) == ("number", word, False)
    assert f"--thousands {word} reads them" in tamis("info", tmp_path / "a.csv").out
    command = shlex.split(document["command"])
    assert command[command.index("--thousands") + 1] == word and "--id" not in command
    run = tamis(*command[1:], "-m", "maxvar")
    assert run.code == 0, str(run)


@pytest.mark.parametrize("cell", ["{}.5 %", "{} EUR"])
def test_numbers_with_a_unit_do_not_name_rows(tmp_path, cell):
    frame = export()[NAMES]
    frame["share"] = [cell.format(i) for i in range(len(frame))]
    frame.to_csv(tmp_path / "a.csv", index=False)
    found, document = surveyed(tmp_path / "a.csv")
    assert found["share"]["holds"] == "text" and not found["share"]["distinct"]
    assert "--exclude share" in document["command"]


@pytest.mark.parametrize("cell", ["{}ms", "({}.5)", "'{}", '"12,34,{}"', "{}.0 sec"])
def test_numbers_with_something_around_them_do_not_name_rows(tmp_path, cell):
    rows = "".join(f"{cell.format(100 + i)},{i * 7 % 11}\n" for i in range(12))
    (tmp_path / "a.csv").write_text("load,temp\n" + rows)
    assert "--exclude load" in surveyed(tmp_path / "a.csv")[1]["command"]
    assert "--id" not in tamis("select", tmp_path / "a.csv").err
    (tmp_path / "a.csv").write_text("sample_id,temp\n" + rows)
    assert "--id sample_id" in surveyed(tmp_path / "a.csv")[1]["command"]


def test_what_no_option_reads_is_not_recommended(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,2\n3,4,5\n5,1\n")
    assert surveyed(tmp_path / "a.csv")[1]["command"] == ""
    assert "no options of tamis select read it as it is" in tamis("info", tmp_path / "a.csv").out
    (tmp_path / "b.csv").write_text("a;b\n1.234;5\n987;6\n")
    assert "Next: tamis select with --thousands . or with --thousands ," in tamis("info", tmp_path / "b.csv").out


def test_the_recommended_command_has_the_options_given(tmp_path):
    (tmp_path / "a.csv").write_text("x;y\n1;2\na;b\nt;1\nt;3\nu;2\n")
    words = ["--skip", "2", "--header", "yes", "--exclude", "a"]
    command = shlex.split(surveyed(tmp_path / "a.csv", *words)[1]["command"])
    assert command[3:] == words
    assert tamis(*command[1:], "-m", "maxvar").code == 0


def test_columns_with_one_name_are_left_out_by_position(tmp_path):
    (tmp_path / "a.csv").write_text("a,a,b\nx,1,2\nx,3,1\ny,2,2\n")
    command = shlex.split(surveyed(tmp_path / "a.csv")[1]["command"])
    assert command[command.index("--exclude") + 1] == "0"
    assert tamis(*command[1:], "-m", "maxvar").code == 0
