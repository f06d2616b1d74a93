"""Every method side by side: what the table and the JSON hold, what is refused, one seed and one answer."""

import json

import numpy as np
import pytest
from conftest import DATA, needs_data, planted, refused, tamis, write_csv, write_npy

N, D, C, INFORMATIVE = 150, 60, 3, 5


def compare(*arguments, **keywords):
    """The JSON of a successful `tamis compare`."""
    run = tamis("compare", *arguments, "--json", **keywords)
    assert run.code == 0, f"compare {arguments}: {run}"
    return run.json


def method_names():
    """Of the methods that are compared by default: those that rank as another does are not."""
    methods = tamis("methods", "--json").json
    assert {method["name"]: method["same_as"] for method in methods if method["same_as"]} == {"spec": "lapscore"}
    return [method["name"] for method in methods if not method["same_as"]]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("compare") / "x.npz"
    np.savez(path, X=planted(N, D, C, INFORMATIVE), y=np.arange(N) % C, short=np.arange(N - 1) % C)
    return path


@pytest.fixture(scope="module")
def found(table):
    return compare(table, "--labels", "y", "-k", "5,20")


def test_every_method_is_there(found):
    assert [method["name"] for method in found["methods"]] == method_names()
    for method in found["methods"]:
        assert method["status"] in ("converged", "max_iterations", "direct"), method
        assert method["seconds"] >= 0 and "error" not in method
        assert len(method["selected"]) == 20 == len(set(method["selected"]))
        assert [size["features"] for size in method["sizes"]] == [5, 20]
        for size in method["sizes"]:
            assert 0 < size["accuracy"]["mean"] <= 1 and size["accuracy"]["sd"] >= 0
            assert 1 / 21 <= size["accuracy_p"] <= 1 and 0 <= size["redundancy"] <= 1
    assert found["options"]["clusters"] == C and found["data"]["features"] == D
    assert found["all"]["features"] == D
    assert [band["features"] for band in found["random"]] == [5, 20]


def test_the_planted_columns_beat_random_ones(tmp_path):
    # So many columns that few random subsets hold a planted one.
    np.savez(tmp_path / "x.npz", X=planted(N, 400, C, INFORMATIVE), y=np.arange(N) % C)
    found = compare(tmp_path / "x.npz", "--labels", "y", "-k", INFORMATIVE, "-m", "ufcm,maxvar")
    for method in found["methods"]:
        assert len(set(method["selected"]) & set(range(INFORMATIVE))) >= 3
        (size,), (random,) = method["sizes"], found["random"]
        assert size["accuracy"]["mean"] > random["accuracy"]["mean"] + random["accuracy"]["sd"]
        assert size["accuracy_p"] < 0.15


def test_the_selection_is_that_of_select(found, table):
    chosen = tamis("select", table, "-m", "ufcm", "-c", C, "-k", 20, "--labels", "y", "--json").json
    assert next(m for m in found["methods"] if m["name"] == "ufcm")["selected"] == chosen["selected"]


def test_overlap_by_its_definition(found):
    selected = {method["name"]: method["selected"] for method in found["methods"]}
    for part in found["overlap"]:
        k = part["features"]
        for a, row in zip(part["names"], part["matrix"]):
            for b, share in zip(part["names"], row):
                assert share == pytest.approx(len(set(selected[a][:k]) & set(selected[b][:k])) / k)
        assert np.array_equal(part["matrix"], np.transpose(part["matrix"])) and np.all(np.diag(part["matrix"]) == 1)


def test_the_table_fits_a_terminal(table):
    run = tamis("compare", table, "--labels", "y", "-k", "5,20", "--grid", "--repeats", "2", timeout=120)
    assert run.code == 0, str(run)
    tables = [line for line in run.out.splitlines() if "  " in line]  # prose is wrapped where there is a terminal
    assert max(map(len, tables)) <= 110
    for word in [*method_names(), "random", "allfea", "ACC", "NMI", "redundancy", "label-best"]:
        assert word in run.out


def test_without_labels(table):
    found = compare(table, "-c", C, "-k", "0.1")
    for method in found["methods"]:
        (size,) = method["sizes"]
        assert size["features"] == 6 and "accuracy" not in size and "redundancy" in size
    assert "accuracy" not in found["random"][0] and "accuracy" not in found["all"]
    assert "ACC" not in tamis("compare", table, "-c", C).out


def test_default_sizes_are_capped(table):
    assert compare(table, "-c", C, "-m", "ufcm")["options"]["features"] == [20, 50, D]


def without_costs(text):
    """The document less what may differ from run to run."""
    def strip(value):
        if isinstance(value, dict):
            return {key: strip(one) for key, one in value.items() if key not in ("seconds", "bytes", "threads")}
        return [strip(one) for one in value] if isinstance(value, list) else value
    return strip(json.loads(text))


def test_threads(table):
    flags = ("compare", table, "--labels", "y", "-k", "5,20", "--grid", "--repeats", "3", "--json")
    one = without_costs(tamis(*flags, "--threads", "1", timeout=120).out)
    for threads in (2, 3):
        assert without_costs(tamis(*flags, "--threads", threads, timeout=120).out) == one


def test_options_of_one_method(table):
    found = compare(table, "-c", C, "-m", "ufcm", "--set", "ufcm.alpha=0.1", "--set", "ufcm.p=0.5", "-k", "5")
    (method,) = found["methods"]
    assert method["options"]["alpha"] == 0.1 and method["options"]["p"] == 0.5
    assert method["options"]["clusters"] == C


def test_grid(table):
    found = compare(table, "--labels", "y", "-m", "ufcm", "--grid", "--repeats", "2", "-k", "5", timeout=120)
    (method,) = found["methods"]
    (size,) = method["grid"]["sizes"]
    accuracies = sorted(run["sizes"][0]["accuracy"]["mean"] for run in method["grid"]["runs"])
    assert size["evaluations"] == len(accuracies) == 18
    assert size["label_best"] == accuracies[-1] and size["worst"] == accuracies[0]
    assert size["median"] == pytest.approx(np.median(accuracies))
    at = next(run for run in method["grid"]["runs"] if run["options"] == size["label_best_options"])
    assert at["sizes"][0]["accuracy"]["mean"] == size["label_best"]


def test_a_failing_method_is_a_row(tmp_path):
    # Memory for the frugal ones only: halfway between the least and the largest need. What the program itself takes
    # differs by megabytes from run to run, so the table is one where the needs lie far apart.
    np.save(tmp_path / "x.npy", planted(1000, 800, C, INFORMATIVE).astype(np.float32))
    need = {name: cost["peak_bytes"] for name, cost in tamis("info", tmp_path / "x.npy", "--json").json["forecast"].items()}
    assert max(need.values()) - min(need.values()) > 20e6
    arguments = [tmp_path / "x.npy", "-c", C, "-k", "5", "--memory", (min(need.values()) + max(need.values())) // 2]
    found = compare(*arguments)
    failed = {method["name"] for method in found["methods"] if method["status"] == "failed"}
    assert failed and failed < set(need)
    for method in found["methods"]:
        if method["name"] in failed:
            assert "--memory" in method["error"] and "\n" not in method["error"]
            assert method["selected"] == [] and method["sizes"] == [] and method["seconds"] is None
    assert not failed & set(found["overlap"][0]["names"])
    assert "failed: " in tamis("compare", *arguments).out


def test_nothing_but_failures(table):
    run = tamis("compare", table, "-c", C, "-k", "5", "--memory", "1MB", "--json")
    assert run.code == 4 and all(method["status"] == "failed" for method in run.json["methods"]), str(run)
    assert run.err.splitlines()[-1].startswith(f"tamis: {table}: no method could be run: "), str(run)


@pytest.mark.parametrize("options, words", [
    (["-k", "0"], ["0"]), (["-k", "61"], ["61", "60"]), (["-k", "5,x"], ["x"]), (["-k", ","], ["features"]),
    (["-m", "ufcm,nosuch"], ["nosuch", "ufcm"]), (["-m", "ufcm,ufcm"], ["ufcm", "twice"]), (["-m", ","], ["0 methods"]),
    (["--grid"], ["grid", "labels"]), (["--labels", "nosuch"], ["nosuch"]),
    (["-c", "0"], ["0"]), (["-c", "151"], ["151", "150"]), (["--repeats", "0"], ["repeats"]),
    (["--set", "ufcm.alpha"], ["METHOD.OPTION=VALUE"]), (["--set", "alpha=1"], ["METHOD.OPTION=VALUE"]),
    (["--set", "ufcm.nosuch=1"], ["nosuch", "alpha"]), (["--set", "ufcm.p=3"], ["p = 3"]),
    (["--set", "nosuch.p=1"], ["nosuch"]), (["--scale", "log"], ["log"]),
    (["-o", "/dev/null"], ["/dev/null", "folder"]),
], ids=lambda value: " ".join(value))
def test_refused(table, options, words):
    refused(tamis("compare", table, *options), 2, *words)


def test_the_folder_holds_the_page_and_the_document(table, tmp_path):
    out = tmp_path / "out"
    printed = compare(table, "--labels", "y", "-k", "5,20", "-m", "maxvar,lapscore", "-o", out)
    assert sorted(path.name for path in out.iterdir()) == ["comparison.json", "report.html"]
    assert json.loads((out / "comparison.json").read_text()) == printed
    page = (out / "report.html").read_text()
    assert "lapscore" in page and f"{100 * printed['methods'][0]['sizes'][1]['accuracy']['mean']:.1f}\u202f%" in page


def test_the_input_is_not_written_over(tmp_path):
    path = write_npy(tmp_path / "x.npy", planted(30, 6))
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "report.html").hardlink_to(path)
    before = path.read_bytes()
    refused(tamis("compare", path, "-o", tmp_path / "out", "-c", "2", "--quiet"), 2, "report.html", "x.npy")
    assert path.read_bytes() == before


def test_labels_of_wrong_length(table, tmp_path):
    refused(tamis("compare", table, "--labels", "short"), 3, N - 1, N)
    (tmp_path / "y.txt").write_text("a\nb\n")
    refused(tamis("compare", table, "--labels", tmp_path / "y.txt"), 3, "y.txt", N)


def test_missing_values_end_it(tmp_path):
    X = planted(30, 6)
    X[3, 4] = np.nan
    refused(tamis("compare", write_npy(tmp_path / "x.npy", X), "-c", "2"), 3, "x.npy")


def test_a_text_table_with_a_label_column(tmp_path):
    X = np.column_stack([planted(60, 8), np.arange(60) % 3])
    path = write_csv(tmp_path / "x.csv", X, names=[f"g{j}" for j in range(8)] + ["kind"])
    found = compare(path, "--labels", "kind", "-k", "2")
    assert found["data"]["features"] == 8
    assert all(name.startswith("g") for name in found["methods"][0]["names"])


@pytest.mark.parametrize("rows, cols", [(2, 1), (3, 2), (2, 30)])
def test_tiny_tables(tmp_path, rows, cols):
    path = write_npy(tmp_path / "x.npy", planted(rows, cols, c=2, informative=min(2, cols)))
    (tmp_path / "y.txt").write_text("".join(f"{i % 2}\n" for i in range(rows)))
    found = compare(path, "--labels", tmp_path / "y.txt")
    assert found["options"]["features"] == sorted({min(20, cols), min(50, cols), min(100, cols)})


@needs_data("usps.npz")
def test_usps_with_every_method():
    found = compare(DATA / "usps.npz", "--labels", "y", timeout=300)
    assert [band["features"] for band in found["random"]] == [20, 50, 100]
    assert all(method["status"] != "failed" for method in found["methods"])


def test_the_next_command_reads_the_table_alike(tmp_path):
    X = planted(60, 8, C, INFORMATIVE)
    rows = [f"r{i}," + ",".join(f"{v:.4f}" for v in row) + f",{i % C}" for i, row in enumerate(X)]
    (tmp_path / "x.csv").write_text("id," + ",".join(f"f{j}" for j in range(8)) + ",kind\n" + "\n".join(rows) + "\n")
    run = tamis("compare", tmp_path / "x.csv", "--id", "id", "--labels", "kind", "-k", "3", "-m", "ufcm", "--set",
                "ufcm.alpha=0.5", "--scale", "standard", "--repeats", "2")
    following = run.out.splitlines()[-1]
    assert following.endswith(f"x.csv --id id --labels kind --scale standard -m ufcm -c {C} --alpha 0.5 -k 3 -o result")
