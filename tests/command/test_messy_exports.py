"""Exports as programs write them: read right, or refused with the cure. docs/messy.md shows this table.

TAMIS_UPDATE_DOCS=1 before pytest writes docs/messy.md anew.
"""

import gzip
import os
from dataclasses import dataclass, field

import numpy as np
import pytest
from conftest import ROOT, tamis

pytestmark = pytest.mark.shared

PAGE = ROOT / "docs" / "messy.md"
NAMES = ["temp", "flow", "load"]
ROWS = [[1.5, 10, -3], [2.25, 11, 4], [4, 30, 5], [3.5, 32, 1]]


@dataclass
class Case:
    """One file, and what becomes of it: `names` and `rows` where it is read, exit code 3 where it is not."""

    what: str
    content: str | bytes
    says: tuple = ()  # in the notes or the message
    options: tuple = ()
    file: str = "table.csv"
    rows: list | None = field(default_factory=lambda: ROWS)
    names: list | None = field(default_factory=lambda: NAMES)
    column: int = 0  # where the first feature stands in the file


def fixed_width(row):
    return f"{row[0]:6.2f}{row[1]:6d}{row[2]:6d}\n"


def table(separator=",", decimal=".", end="\n", header=NAMES, rows=ROWS, quote=""):
    cells = [[f"{quote}{str(x).replace('.', decimal)}{quote}" for x in row] for row in rows]
    return end.join(separator.join(line) for line in [*([header] if header else []), *cells]) + end


def with_cell(text, row=1, column=1):
    """The table with one cell replaced."""
    rows = [list(line) for line in ROWS]
    rows[row][column] = text
    return table(rows=rows)


def filled(value, row=1, column=1):
    rows = [list(line) for line in ROWS]
    rows[row][column] = value
    return rows


def refusal(what, content, *says, **more):
    return Case(what, content, says, rows=None, names=None, **more)


def prefixed(first, separator=",", text=None):
    """Every row with a cell before it."""
    lines = (text or table(separator)).splitlines()
    return "\n".join([*lines[:1], *[f"{first(i)}{separator}{line}" for i, line in enumerate(lines[1:])]]) + "\n"


def column(name, cells, separator=","):
    """The table with a column of text at its end."""
    lines = table(separator).splitlines()
    return "\n".join(f"{line}{separator}{cell}" for line, cell in zip(lines, [name, *cells])) + "\n"


DROPPED = [ROWS[0], *ROWS[2:]]
MISSING_WORDS = ["NA", "N/A", "NaN", "null", "None", "#N/A", "#DIV/0!", "-", "?", ".", "<NA>"]

CASES = [
    # Delimiters, decimal signs, encodings
    Case("semicolons", table(";")),
    Case("semicolons and decimal commas (Excel in Europe)", table(";", ",")),
    Case("tabs in a .txt", table("\t"), file="table.txt"),
    Case("tabs and decimal commas in a .tsv", table("\t", ","), file="table.tsv"),
    Case("a .tab file", table("\t"), file="table.tab"),
    Case("a .dat file with commas", table(), file="table.dat"),
    Case("bars between cells", table("|")),
    Case("bars and decimal commas", table("|", ",")),
    Case("`sep=;` in the first line", "sep=;\n" + table(";")),
    Case("`\"sep=|\"` and CRLF", '"sep=|"\r\n' + table("|", end="\r\n")),
    Case("UTF-16 with tabs (Excel's Unicode text)", table("\t").encode("utf-16"), file="table.txt"),
    Case("UTF-16, big-endian", b"\xfe\xff" + table().encode("utf-16-be")),
    Case("a byte-order mark", table().encode("utf-8-sig")),
    Case("lines that end with CR (old Mac)", table(end="\r")),
    Case("every cell in quotes", table(quote='"')),
    Case("spaces around every cell", table(" , "), names=["temp ", " flow ", " load"]),
    Case("names in Latin-1", table(header=["temp", "flow", "load"]).encode().replace(b"load", b"l\xf6ad"),
         names=["temp", "flow", "l\ufffdad"]),
    Case("no line end at the end", table()[:-1]),
    Case("compressed (.csv.gz)", gzip.compress(table().encode()), file="table.csv.gz"),
    Case("a name without an ending", table(), options=("--format", "csv"), file="export"),
    refusal("a name without an ending, and no --format", table(), "unknown file extension", "--format", file="export"),
    refusal("decimal commas and points in one file", "a;b;c\n1,5;2.5;1\n3;4;5\n", "column b", "decimal comma"),
    refusal("decimal commas in quotes between commas", 'a,b\n"1,5",2\n"3,25",4\n', "column a", "decimal point"),
    # Above, below and beside the table
    Case("a title above the header", "Sensor export 2024-05-01\n" + table(), ("line 1", "skipped")),
    Case("a title, a blank line and a user's name", "Sensor export\n\nby: Ada\n" + table(), ("lines 1..3", "skipped")),
    Case("a title padded with commas (Excel)", "Sensor export,,\n" + table(), ("line 1", "skipped")),
    Case("comment lines with #", "# station 7\n# units: C, l/s, kN\n" + table(), ("lines 1..2", "skipped")),
    Case("comment lines, no header", "# station 7\n" + table(header=None), ("line 1",), names=["f0", "f1", "f2"]),
    Case("a header that begins with #", "#" + table(), names=["#temp", "flow", "load"]),
    Case("two lines to skip that look like rows", "7,8\n9,9\n" + table(), options=("--skip", "2")),
    refusal("the same without --skip", "7,8\n9,9\n" + table(), "line 3", "need 2"),
    Case("blank lines at the end", table() + "\n\n"),
    refusal("a blank line between rows", table().replace("\n4,", "\n\n4,"), "line 4", "blank line"),
    Case("a delimiter at the end of every line", table().replace("\n", ",\n")),
    Case("a delimiter at the end of every row, not of the header",
         table().replace("\n", ",\n").replace("load,", "load", 1)),
    refusal("the same, with a value there in one row",
            table().replace("\n", ",\n").replace("5,\n", "5,7\n"), "3 missing values", "column 3"),
    Case("R's row names (header one cell short)", prefixed(lambda i: f"cell{i}"), ("first column names the rows",), column=1),
    Case("R's row names, tabs and quotes", prefixed(lambda i: f'"{i + 1}"', "\t"), ("first column names the rows",),
         file="table.txt", column=1),
    Case("the index of pandas (first column without a name)", "," + prefixed(str), ("counts the rows",), column=1),
    refusal("a row with a cell too few", table().replace("2.25,11,4", "2.25,11"), "line 3", "2 cells, need 3"),
    refusal("a row with a cell too many", table().replace("2.25,11,4", "2.25,11,4,5"), "line 3", "need 3"),
    refusal("a quote that is never closed", table().replace("2.25", '"2.25'), "line 3", "never closed"),
    refusal("a header and nothing else", "temp,flow,load\n", "0 rows, need at least 2"),
    refusal("an empty file", "", "0 rows"),
    # Missing values
    *[refusal(f"`{word}` in a cell", with_cell(word), "1 missing value", "line 3", "flow", "--missing")
      for word in MISSING_WORDS],
    refusal("blank cells", with_cell(""), "1 missing value", "line 3", "blank", "--missing"),
    Case("missing values, `--missing drop-rows`", with_cell("NA"), ("1 of 4 rows",), ("--missing", "drop-rows"), rows=DROPPED),
    Case("missing values, `--missing drop-columns`", with_cell("NA"), ("1 of 3 columns",), ("--missing", "drop-columns"),
         names=["temp", "load"], rows=[[row[0], row[2]] for row in ROWS]),
    Case("missing values, `--missing mean`", with_cell("NA"), ("mean",), ("--missing", "mean"), rows=filled(24)),
    Case("missing values, `--missing median`", with_cell("n/a"), ("median",), ("--missing", "median"), rows=filled(30)),
    Case("`#NV` (German Excel), replaced", with_cell("#NV"), ("replaced",), ("--missing", "mean"), rows=filled(24)),
    Case("`\\N` (PostgreSQL, MySQL), replaced", with_cell("\\N"), ("replaced",), ("--missing", "mean"), rows=filled(24)),
    refusal("infinity", with_cell("-inf"), "flow", "not finite"),
    refusal("1e999", with_cell("1e999"), "flow", "too large"),
    # Cells
    Case("TRUE and FALSE", column("on", ["TRUE", "FALSE", "TRUE", "TRUE"]), names=[*NAMES, "on"],
         rows=[[*row, x] for row, x in zip(ROWS, [1, 0, 1, 1])]),
    Case("the minus sign U+2212", with_cell("\u22127.5"), rows=filled(-7.5)),
    refusal("per cent", with_cell("12%"), "flow", "percentage"),
    refusal("currency", with_cell('"$1,200"'), "flow", "money"),
    refusal("currency, the other way round", with_cell("12 EUR"), "flow", "money"),
    refusal("thousands in quotes", with_cell('"1,234"'), "flow", "--thousands ,"),
    Case("thousands in quotes, `--thousands ,`", with_cell('"1,234"'), (), ("--thousands", ","), rows=filled(1234)),
    refusal("thousands with points between semicolons", "a;b\n1.234,5;1\n2,5;2\n", "--thousands ."),
    Case("thousands with points, `--thousands .`", "a;b\n1.234,5;1\n2,5;2\n7;5\n", (), ("--thousands", "."), names=["a", "b"],
         rows=[[1234.5, 1], [2.5, 2], [7, 5]]),
    refusal("thousands with spaces", with_cell("1 234"), "flow", "--thousands space"),
    Case("thousands with no-break spaces, `--thousands space`", with_cell("1\u00a0234"), (), ("--thousands", "space"),
         rows=filled(1234)),
    refusal("`1,234` between semicolons: decimals or thousands", "a;b\n1,234;1\n5,678;2\n", "--thousands ,", "--thousands ."),
    refusal("`1.234` between semicolons, 12,5 elsewhere", "a;b\n1.234;12,5\n5.678;2,5\n", "column a", "--thousands ."),
    refusal("`1.234` and `12,500` between semicolons: one has decimals", "a;b\n1.234;12,500\n5.678;2,500\n",
            "one has decimals, the other thousands", "--thousands . or --thousands ,"),
    refusal("`1.234` and `987` below each other: decimals or thousands", "a\tb\n1.234\t1\n987\t2\n", "column a", "as 987",
            "--thousands . reads it as 1234", file="table.txt"),
    Case("three decimals everywhere", "a;b;c\n1.250;1.500;1.125\n0.125;2.500;2.250\n", (), names=["a", "b", "c"],
         rows=[[1.25, 1.5, 1.125], [0.125, 2.5, 2.25]]),
    refusal("hexadecimal", with_cell("0x1F"), "flow", "0x1F"),
    refusal("a column of dates", column("day", [f"2024-05-0{i}" for i in range(1, 5)]), "day", "date", "--exclude day"),
    refusal("a column of text", column("city", ["Rome", "Bonn", "Oslo", "Lima"]), "city", "Rome", "--exclude city"),
    refusal("three columns that are not numbers", "city,x,day,share\nRome,1,2024-05-01,5%\nBonn,2,2024-05-02,6%\n",
            "3 columns are not numbers", "city (text", "day (dates", "share (percentages", "--exclude city,day,share"),
    Case("the same, left out", "city,x,day,share\nRome,1,2024-05-01,5%\nBonn,2,2024-05-02,6%\n", (),
         ("--exclude", "city,day,share"), names=["x"], rows=[[1], [2]], column=1),
    refusal("NUL bytes", with_cell("\0"), "line 3", "NUL"),
    # --- Blanks between cells, indices, lines that are no rows ---
    Case("blanks between cells (numpy.savetxt)", "".join(f"{a:.18e} {b:.18e} {c:.18e}\n" for a, b, c in ROWS),
         file="table.txt", names=["f0", "f1", "f2"]),
    Case("blanks, with numpy's header", "# temp flow load\n" + table(" ", header=None), file="table.txt",
         names=["#temp", "flow", "load"]),
    Case("blanks and quotes (R's write.table)", '"temp" "flow" "load"\n' + "".join(
         f'"row {i}" {a} {b} {c}\n' for i, (a, b, c) in enumerate(ROWS)), ("as R writes them",), file="table.txt", column=1),
    Case("columns of a fixed width", "  temp  flow  load\n" + "".join(map(fixed_width, ROWS)),
         file="table.dat"),
    Case("a fixed width and decimal commas", "  temp  flow  load\n" + "".join(
         fixed_width(row).replace(".", ",") for row in ROWS), file="table.dat"),
    Case("blanks in a .data file without names", table(" ", header=None), file="table.data", names=["f0", "f1", "f2"]),
    Case("tabs and blanks between cells", table(" \t "), file="table.txt", names=["temp ", " flow ", " load"]),
    refusal("blanks, and a row with a cell too few", table(" ").replace(" 32 ", " ") + table(" ", header=None) * 6,
            "line 5", "2 cells, need 3", file="table.txt"),
    refusal("one column with blanks between thousands", "n\n1 234\n2 345\n3 456\n", "--thousands space"),
    Case("an index of text (pandas)", "," + prefixed(lambda i: f"s{i}"), ("no name and holds text", "names the rows"), column=1),
    Case("an index of times with milliseconds (pandas)", "," + prefixed(lambda i: f"2024-05-01 12:00:0{i}.125"),
         ("names the rows",), column=1),
    Case("a line of units under the header", table().replace("\n", "\ndegC,l/min,kN\n", 1), ("line 2", "degC", "skipped")),
    Case("units in brackets, one missing", table().replace("\n", "\n[degC],,[kN]\n", 1), ("line 2", "skipped")),
    Case("a header of two lines", table().replace("\n", "\nmean,sd,mean\n", 1), ("line 2", "skipped")),
    refusal("words in the first row, text below", "city,temp\nRome,n.d.\nBonn,2\nOslo,3\n", "city", "n.d."),
    refusal("the header again in the middle", table() + table(), "line 6", "header again"),
    Case("rows of blank cells at the end (Excel)", table() + ",,\n,,\n", ("2 rows of blank cells are skipped",)),
    Case("three delimiters too many in every line (Excel)", table().replace("\n", ",,,\n"), ("the last 3 columns",)),
    Case("two lines below the header (Campbell)",
         '"TOA5","CR1000","4","x"\n"temp","flow","load"\n"degC","l/s","kN"\n"Avg","Smp","Smp"\n' + table(header=None),
         ("lines 3..4",)),
    refusal("a remark of the database below the table", table() + "\n4 rows selected.\n", "what stands below the table"),
    refusal("a line of totals at the end", table() + "Total,83,7\n", "line 6", "Total"),
    Case("totals, where a column names the rows", "id,temp,flow\na,1.5,10\nb,2.25,11\nTotal,3.75,21\n", ("Total", "sums them up"),
         ("--id", "id"), names=["temp", "flow"], rows=[[1.5, 10], [2.25, 11], [3.75, 21]], column=1),
    Case("comment lines at the end", table() + "# exported by X\n# 4 rows\n", ("2 lines", "line 6", "skipped")),
    refusal("a remark at the end", table() + "\nExported by X\n", "line 6", "blank line"),
    Case("the end mark of DOS (Ctrl-Z)", table() + "\x1a"),
    Case("`sep=` and a tab", "sep=\t\n" + table("\t")),
    Case("a shuffled index (pandas)", "," + prefixed(lambda i: str([2, 0, 3, 1][i])), ("--id 0 takes it",), names=["", *NAMES],
         rows=[[k, *row] for k, row in zip([2, 0, 3, 1], ROWS)]),
    Case("an index and years as names (pandas)", ",1990,1991,1992\n" + "".join(
         f"{i},{a},{b},{c}\n" for i, (a, b, c) in enumerate(ROWS)), ("taken as the names of columns",),
         names=["1990", "1991", "1992"], column=1),
    Case("names of numbers in quotes (R)", '"5243","1956","672"\n' + table(header=None), ("has its numbers in quotes",),
         names=["5243", "1956", "672"]),
    refusal("decimal commas between commas, one column", "temp\n20,15\n18,99\n18,25\n", 'several are "18"', "decimal commas"),
    refusal("a delimiter that is not known", table(":"), "no tab, semicolon, comma or bar cuts the lines"),
    # --- Numbers ---
    Case("exponents with D (Fortran)", with_cell("1.1D+01"), rows=filled(11)),
    refusal("exponents without a letter (Fortran)", with_cell("1.1+101"), "1.1+101"),
    refusal("limits of detection (<0.5)", with_cell("<0.5"), "<0.5"),
    refusal("numbers with a footnote", with_cell("11*"), "11*"),
    refusal("numbers with a unit", with_cell("11 mV"), "11 mV"),
    refusal("numbers with an error (11 +- 1)", with_cell("11\u00b10.5"), "flow"),
    refusal("negative numbers in parentheses", with_cell("(11)"), "(11)"),
    refusal("a minus behind the number (SAP)", with_cell("11-"), "11-"),
    refusal("fractions", with_cell("1/2"), "1/2"),
    refusal("infinity as a word", with_cell("-Infinity"), "not finite"),
    refusal("`1.#INF` (old Visual C)", with_cell("1.#INF"), "1.#INF"),
    Case("plus signs", with_cell("+11"), rows=filled(11)),
    Case("no-break spaces around numbers", with_cell("\u00a011\u00a0"), rows=filled(11)),
    refusal("apostrophes between thousands (Swiss)", table(";").replace("30", "3'000.5"), "3'000.5", "--thousands"),
    refusal("narrow spaces between thousands (French)", table(";", ",").replace("30", "3\u202f000,5"), "--thousands space"),
    Case("`.` for missing values (SAS, Stata), replaced", with_cell("."), ("replaced",), ("--missing", "mean"),
         rows=filled(24)),
    refusal("yes and no", "ok,temp\nyes,1\nno,2\nyes,3\n", "ok", "yes"),
    refusal("times of day", "time,temp\n12:00:00.125,1\n12:00:01.250,2\n", "time", "--exclude time"),
    # --- Names ---
    Case("a name of 3000 letters", table(header=["x" * 3000, "flow", "load"]), names=["x" * 3000, "flow", "load"]),
    Case("zero-width characters in a name", table(header=["te\u200bmp", "flow", "load"]), ("not seen", "columns 0"),
         names=["te\u200bmp", "flow", "load"]),
    Case("a line end within a name", '"temp\n(C)"' + table()[4:], names=["temp\n(C)", "flow", "load"]),
    Case("quotes around some cells", table().replace("11", '"11"').replace("flow", '"flow"')),
    Case("text with line ends and commas in quotes, left out",
         'note,temp,flow\n"one\ntwo",1.5,10\n"a, b",2.25,11\nc,4,30\n', (), ("--exclude", "note"),
         names=["temp", "flow"], rows=[[1.5, 10], [2.25, 11], [4, 30]], column=1),
    # --- Files that only are named like tables ---
    refusal("a workbook named .csv", b"PK\x03\x04\x14\0\x06\0", "zip archive", "workbook"),
    refusal("a web page named .csv", "<!DOCTYPE html><html><body>Please log in</body></html>\n", "HTML page"),
    refusal("JSON named .csv", '{"temp": [1, 2], "flow": [3, 4]}\n', "JSON"),
    refusal("gzip without .gz", gzip.compress(table().encode()), "gzip"),
    refusal("UTF-16 without a byte-order mark", table().encode("utf-16-le"), "byte-order mark"),
]  # fmt: skip


def run(case, folder):
    path = folder / case.file
    path.write_bytes(case.content if isinstance(case.content, bytes) else case.content.encode())
    return tamis("select", path, "-m", "maxvar", "--json", *case.options)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.what)
def test_messy_export(tmp_path, case):
    done = run(case, tmp_path)
    for word in case.says:
        assert word in done.err, f"{word!r}: {done}"
    if case.rows is None:
        assert done.code == 3 and done.out == "" and done.err.count("\n") == 1, str(done)
        return
    assert done.code == 0, str(done)
    expected = np.var(np.array(case.rows, float), axis=0, ddof=1)
    scores = [score for score in done.json["scores"] if score is not None]
    np.testing.assert_allclose(scores, expected, rtol=1e-12)
    assert sorted(done.json["names"]) == sorted(case.names)
    assert done.json["data"]["rows"] == len(case.rows)
    assert min(done.json["columns"]) == case.column


def what_happens(case, folder):
    done = run(case, folder)
    words = [line.removeprefix("tamis: ").replace(f"{folder}/", "") for line in done.err.splitlines()]
    words = [word for word in words if not word.startswith("warning")]
    if done.code == 0:
        data = done.json["data"]
        words.insert(0, f"read: {data['rows']} rows, {data['features']} features")
    said = "; ".join(words).replace("|", "\\|")
    return f"| {case.what.replace('|', chr(92) + '|')} | {done.code} | {said} |"


@pytest.mark.native
def test_the_page_shows_what_happens(tmp_path):
    head = """# Messy exports

What `tamis select` makes of text tables as other programs export them. A file is read right, with a note if something was
skipped or filled in, or rejected (exit code 3) with one line that names the place and the option that helps. This page is
generated and checked by `tests/command/test_messy_exports.py`; [formats.md](formats.md) has the rules.

| the file has | exit | what happens |
|---|---|---|
"""
    page = head + "\n".join(what_happens(case, tmp_path) for case in CASES) + "\n"
    if os.environ.get("TAMIS_UPDATE_DOCS"):
        PAGE.write_text(page)
    assert PAGE.read_text() == page
