"""Tables that stay on disk: --memory, shards. The rows are read in every pass, and nothing else changes."""

import gzip

import numpy as np
import pytest
from conftest import INTERPRETER_BYTES, peak_memory, planted, refused, same, select, tamis, write_csv, write_npy


def large(rows=30000, columns=60, seed=1):
    return planted(rows, columns, seed=seed)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return write_npy(tmp_path_factory.mktemp("disk") / "x.npy", large().astype("<f4"))


TIGHT = ["--memory", int(28e6 + INTERPRETER_BYTES)]  # for tables of 14 MB and more


def storage(result):
    return result["data"]["storage"]


def too_little(result):
    """A limit that the same run does not keep with its table in memory."""
    return ["--memory", result["forecast"]["peak_bytes"] - result["data"]["bytes"] // 8]


def both_ways(path, *options):
    here = select(path, *options)
    there = select(path, *options, *too_little(here))
    assert (storage(here), storage(there)) == ("memory", "disk")
    return here, there


@pytest.mark.parametrize("options", [["-m", "maxvar"], ["-c", "3"], ["-m", "ufcm", "-c", "3", "--alpha", "0.3"],
                                     ["--scale", "standard"], ["--scale", "unit"], ["--exclude", "0,3,17"]], ids=" ".join)
def test_same_bits_as_in_memory(table, options):
    here, there = both_ways(table, *options)
    same(here, there)
    assert here["report"]["passes"] == there["report"]["passes"]


@pytest.mark.parametrize("method", ["lapscore", "spec", "mcfs", "ndfs"])
def test_graph_methods_from_disk(tmp_path, method):
    path = write_npy(tmp_path / "x.npy", planted(9000, 100))
    same(*both_ways(path, "-m", method, "--threads", "1"))


@pytest.mark.parametrize("kind", ["<f8", ">f4", "<f2", "|i1", ">i2", "<u8", "|b1", "fortran"])
def test_every_kind_of_number(tmp_path, kind):
    X = np.round(8 * large(20000, 150))
    if kind == "|b1":
        X = X > 0
    X = np.asfortranarray(X) if kind == "fortran" else np.clip(X, 0 if "u" in kind else -100, 100).astype(kind)
    path = write_npy(tmp_path / "x.npy", X)
    options = ["-m", "ufcm", "-c", "3", "--iterations", "3", "--threads", "2"]
    here, there = both_ways(path, *options)
    same(here, there)
    turned = write_npy(tmp_path / "t.npy", X.T)
    there = select(turned, *options, "--transpose", *too_little(here))
    assert storage(there) == "disk"
    same(here, there)


def test_output_from_disk(tmp_path, table):
    for name, limit in {"here": [], "there": too_little(select(table, "-c", "3", "-k", "5"))}.items():
        assert tamis("select", table, "-c", "3", "-k", "5", "-o", tmp_path / name, *limit).code == 0
    for file in ["ranking.csv", "selected.npy"]:
        assert (tmp_path / "here" / file).read_bytes() == (tmp_path / "there" / file).read_bytes()


def test_other_commands_from_disk(tmp_path, table):
    labels = write_npy(tmp_path / "y.npy", np.arange(30000) % 3)
    (tmp_path / "list.txt").write_text("0\n1\n2\n")
    compare = ["compare", table, "-m", "maxvar,ufcm", "-k", "3", "--repeats", "2", "-c", "3"]
    evaluate = ["evaluate", table, "--labels", labels, "--list", tmp_path / "list.txt"]
    for words, method in [(compare, "ufcm"), (evaluate, "maxvar"), (["info", table], "maxvar")]:
        run = tamis(*words, *too_little(select(table, "-m", method, "--redundancy", "off")))
        assert run.code == 0 and "stay on disk" in run.err, str(run)


def test_compare_leaves_the_rows_on_disk_for_those_that_fit_so(table):
    limit = too_little(select(table, "-m", "maxvar", "--redundancy", "off"))
    run = tamis("compare", table, "-m", "maxvar,rufs", "-k", "3", "--repeats", "1", "-c", "3", "--json", *limit)
    assert run.code == 0 and "stay on disk" in run.err, str(run)
    assert [method["status"] for method in run.json["methods"]] == ["direct", "failed"]


@pytest.mark.unsanitized
def test_peak_stays_below_the_limit(tmp_path):
    path = write_npy(tmp_path / "x.npy", large(200000, 100).astype("<f4"))  # 80 MB
    limit = 60e6 + INTERPRETER_BYTES
    code, peak = peak_memory("select", path, "-c", "3", "--memory", int(limit), "--threads", "2")
    assert code == 0 and peak < limit


def test_too_little_memory_names_what_would_do(table):
    run = tamis("select", table, "-c", "3", "--memory", "5MB", "--quiet")
    refused(run, 4, "rerun with --memory ", seconds=1)
    enough = run.err.split("--memory ")[1].split()[0]
    assert storage(select(table, "-c", "3", "--memory", enough)) == "disk"
    assert enough.endswith("MiB")
    refused(tamis("select", table, "-c", "3", "--memory", f"{0.8 * float(enough[:-3]):.3f}MiB", "--quiet"), 4)


@pytest.mark.hostile
def test_a_file_that_is_cut_while_it_is_read(tmp_path):
    path = write_npy(tmp_path / "x.npy", large(100000, 40))
    whole = path.read_bytes()
    path.write_bytes(whole[:-8])
    refused(tamis("select", path, *TIGHT, "--quiet"), 3, "truncated")
    path.write_bytes(whole + b"12345678")
    refused(tamis("select", path, *TIGHT, "--quiet"), 3, "too many")


@pytest.mark.hostile
def test_values_that_are_not_finite(tmp_path):
    X = large(30000, 60)
    X[23456, 7] = np.nan
    path = write_npy(tmp_path / "x.npy", X)
    refused(tamis("select", path, "-m", "ufcm", *TIGHT, "--quiet"), 3, "row 23456", "column 7")


# --- Shards ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cuts", [[7000, 7001, 19000], [1], [2048, 4096]])
def test_npy_shards(tmp_path, cuts):
    X = large(20000, 20)
    whole = select(write_npy(tmp_path / "whole.npy", X), "-m", "ufcm", "-c", "3")
    folder = tmp_path / "shards"
    folder.mkdir()
    for i, part in enumerate(np.split(X, cuts)):
        write_npy(folder / f"part-{9 + i}.npy", np.asfortranarray(part) if i % 2 else part)
    (folder / "notes.md").write_text("not a shard")
    for path in [folder, folder / "part-*.npy"]:
        shards = select(path, "-m", "ufcm", "-c", "3")
        assert storage(shards) == "disk" and shards["data"]["rows"] == 20000
        same(whole, shards)


def test_csv_shards(tmp_path):
    X, names = planted(90, 5), ["id", *"abcde"]
    kinds = ["b", "a", "c"] * 30
    whole = write_csv(tmp_path / "whole.csv", X, names, ids=range(90))
    (tmp_path / "shards").mkdir()
    for i, rows in enumerate(np.split(np.arange(90), [20, 50])):
        part = write_csv(tmp_path / "shards" / f"{i}.csv", X[rows], names, ids=rows)
        if i == 1:
            (tmp_path / "shards" / "1.csv.gz").write_bytes(gzip.compress(part.read_bytes()))
            part.unlink()
    (tmp_path / "y.txt").write_text("".join(kind + "\n" for kind in kinds))
    options = ["-c", "3", "--id", "id", "--supervise", tmp_path / "y.txt"]
    same(select(whole, *options), select(tmp_path / "shards", *options))
    assert tamis("select", tmp_path / "shards", *options, "-k", "2", "-o", tmp_path / "out").code == 0
    assert (tmp_path / "out" / "selected.csv").read_text().splitlines()[-1].startswith("89,")


def test_labels_of_csv_shards(tmp_path):
    X = planted(60, 4)
    for i, rows in enumerate(np.split(np.arange(60), [25])):
        lines = [",".join([*map(repr, map(float, X[row])), ["x", "", "a"][row % 3]]) for row in rows]
        (tmp_path / f"{i}.csv").write_text("\n".join(["p,q,r,s,kind", *lines]) + "\n")
    both = tmp_path / "whole"
    both.mkdir()
    parts = [(tmp_path / f"{i}.csv").read_text() for i in range(2)]
    (both / "x.csv").write_text(parts[0] + parts[1].split("\n", 1)[1])
    options = ["-c", "3", "--supervise", "kind"]
    same(select(both / "x.csv", *options), select(tmp_path / "[01].csv", *options))


@pytest.mark.hostile
def test_shards_that_do_not_fit_together(tmp_path):
    def folder(name, **files):
        (tmp_path / name).mkdir()
        for file, content in files.items():
            path = tmp_path / name / file.replace("_", ".")
            np.save(path, content) if path.suffix == ".npy" else path.write_text(content)
        return tmp_path / name

    X = planted(20, 4)
    for path, words in {
        folder("empty"): ["shards"],
        folder("mixed", a_npy=X, b_csv="p,q\n1,2\n3,4\n"): ["a.npy", "b.csv", "one kind"],
        folder("width", a_npy=X, b_npy=X[:, :3]): ["b.npy", "3 columns", "4"],
        folder("type", a_npy=X, b_npy=X.astype("f4")): ["b.npy", "float32", "float64"],
        folder("flat", a_npy=X, b_npy=X[0]): ["b.npy", "dimension"],
        folder("names", a_csv="p,q\n1,2\n3,5\n", b_csv="p,r\n1,2\n3,4\n"): ["b.csv", "names"],
        folder("text", a_csv="p,q\n1,2\n3,5\n", b_csv="p,q\n1,2\n3,x\n"): ["b.csv", "3", "q"],
        tmp_path / "no*such.npy": ["no*such", "no file"],
    }.items():
        refused(tamis("select", path, "-c", "1", "--quiet"), 5 if "no*" in str(path) else 3, *words)
    refused(tamis("select", folder("good", a_npy=X, b_npy=X), "--transpose", "--quiet"), 2, "transposed")
    with open(tmp_path / "good" / "b.npy", "r+b") as file:
        file.truncate(500)
    refused(tamis("select", tmp_path / "good", "-c", "1", "--quiet"), 3, "b.npy", "truncated")
