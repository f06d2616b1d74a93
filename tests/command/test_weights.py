"""--sample-weight: rows that count several times."""

import numpy as np
import pytest
from conftest import planted, refused, same, select, tamis, write_csv, write_npy

N, D = 120, 6
W = [0.0 if i % 4 == 0 else 0.5 * (i % 4) for i in range(N)]
NAMES = "abcdef"


@pytest.fixture
def weighted(tmp_path):
    X = planted(N, D)
    return write_csv(tmp_path / "x.csv", np.column_stack([X, W]), [*NAMES, "w"]), X


@pytest.mark.parametrize("method", ["ufcm", "maxvar", "css"])
def test_columns_files_and_arrays(tmp_path, weighted, method):
    path, X = weighted
    words = ["-m", method, *(["-c", 3] if method == "ufcm" else [])]
    wanted = select(path, *words, "--sample-weight", "w")
    assert sorted(wanted["names"]) == list(NAMES)
    assert wanted["options"]["sample_weight"] == {"rows": 90, "total": sum(W)}
    (tmp_path / "w.txt").write_text("".join(f"{w}\n" for w in W))
    np.save(tmp_path / "w.npy", W)
    np.savez(tmp_path / "x.npz", X=X, w=np.array(W, "f4"))
    write_npy(tmp_path / "x.npy", X)
    for data, weights in [("x.npy", tmp_path / "w.txt"), ("x.npy", tmp_path / "w.npy"), ("x.npz", "w")]:
        same(select(tmp_path / data, *words, "--sample-weight", weights), wanted)
    plain = select(tmp_path / "x.npy", *words)
    assert "sample_weight" not in plain["options"]
    assert (wanted["scores"], wanted["report"]["terms"]) != (plain["scores"], plain["report"]["terms"])


def test_weights_of_another_file(tmp_path):
    X, names = planted(N, D), [f"r{i}" for i in range(N)]
    rows = [",".join([name, *map(repr, map(float, row))]) for name, row in zip(names, X)]
    (tmp_path / "x.csv").write_text("\n".join([",".join(["id", *NAMES]), *rows]) + "\n")
    lines = [f"{name},{w}" for name, w in zip(names, W)]
    (tmp_path / "meta.csv").write_text("\n".join(["id,w", *reversed(lines)]) + "\n")
    (tmp_path / "w.txt").write_text("".join(f"{w}\n" for w in W))
    words = [tmp_path / "x.csv", "--id", "id", "-m", "maxvar", "--sample-weight"]
    same(select(*words, f"{tmp_path / 'meta.csv'}:w"), select(*words, tmp_path / "w.txt"))


def test_rows_that_are_dropped_take_their_weights_along(tmp_path, weighted):
    path, X = weighted
    X, kept = X.copy(), np.arange(N) % 7 != 3
    X[~kept, 2] = np.nan
    holed = write_csv(tmp_path / "holed.csv", np.column_stack([X, W]), [*NAMES, "w"])
    clean = write_csv(tmp_path / "clean.csv", np.column_stack([X, W])[kept], [*NAMES, "w"])
    words = ["-m", "ufcm", "-c", 3, "--sample-weight", "w"]
    same(select(holed, *words, "--missing", "drop-rows"), select(clean, *words))


def test_with_labels_folder_and_page(tmp_path, weighted):
    path, X = weighted
    run = tamis("select", path, "-m", "ufcm", "-c", 3, "-k", 3, "--sample-weight", "w", "-o", tmp_path / "out")
    assert run.code == 0 and "90 rows of weight 0.5 to 1.5, 90 together; 30 rows of weight 0" in run.out
    page = (tmp_path / "out" / "report.html").read_text()
    assert "sample weights" in page
    assert (tmp_path / "out" / "selected.csv").read_text().startswith(",".join(sorted(run_names(tmp_path))) + "\n")
    assert tamis("apply", tmp_path / "out", path, "-o", tmp_path / "next").code == 0


def run_names(tmp_path):
    import json

    return json.loads((tmp_path / "out" / "selection.json").read_text())["names"]


def test_what_is_refused(tmp_path, weighted):
    path, X = weighted
    refused(
        tamis("select", path, "-m", "lapscore", "--sample-weight", "w"), 2, "lapscore", "--sample-weight", "ufcm, maxvar, css"
    )
    refused(tamis("select", path, "--sample-weight", "w"), 2, "guided", "--sample-weight", "ufcm, maxvar, css")
    refused(tamis("select", path, "-m", "ufcm", "--sample-weight", "nosuch"), 2, "nosuch")
    refused(tamis("select", path, "-m", "css", "-k", "auto", "--sample-weight", "w"), 2, "auto", "--sample-weight")
    refused(tamis("compare", path, "--sample-weight", "w"), 2, "--sample-weight")
    for text, code, *words in [
        ("a\n" * N, 3, "'a'"),
        ("1\n" * (N - 1), 3, "119"),
        ("1\n" * (N - 1) + "-2\n", 3, "row 119", "-2"),
        ("1\n" * (N - 1) + "-1\n", 3, "row 119", "blank or -1"),
        ("1\n" * (N - 1) + "nan\n", 3, "nan"),
        ("0\n" * (N - 1) + "1\n", 3, "1 row has", "at least 2"),
    ]:
        (tmp_path / "bad.txt").write_text(text)
        refused(tamis("select", path, "-m", "maxvar", "--sample-weight", tmp_path / "bad.txt"), code, *words)


def test_checkpoints_know_the_weights(tmp_path, weighted):
    path, X = weighted
    words = ["select", path, "-m", "ufcm", "-c", 3, "--checkpoint", tmp_path / "state"]
    whole = tamis(*words[:-2], "--sample-weight", "w", "--json")
    again = tamis(*words, "--sample-weight", "w", "--json")
    assert whole.code == again.code == 0 and whole.json["scores"] == again.json["scores"]


def test_stability(weighted):
    path, X = weighted
    for flag in ("--seeds", "--resample"):
        assert select(path, "-m", "ufcm", "-c", 3, "-k", 3, "--sample-weight", "w", flag, 3)["stability"]["runs"] == 3
