"""Guided UFCM, the default of `tamis select`: what it chooses, what it says, and how it is asked for."""

import csv

import numpy as np
import pytest
from conftest import refused, same, select, tamis, write_npy
from sklearn.cluster import KMeans
from sklearn.metrics import normalized_mutual_info_score


def groups(n=200, d=400, c=4, informative=50, seed=0):
    """Groups that differ by 2 N(0, 1) in the first columns, noise of deviation 1 in all."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X[:, :informative] += 2 * rng.standard_normal((c, informative))[np.arange(n) % c]
    return X


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return write_npy(tmp_path_factory.mktemp("guided") / "x.npy", groups())


def test_chooses_columns_and_their_number(path):
    result = select(path)
    assert result["method"] == "guided" and result["options"]["clusters"] is None
    chosen = np.array(result["selected"])
    assert (chosen < 50).sum() >= 44 and (chosen >= 50).sum() <= 1
    guide, share, evidence = result["guide"], np.array(result["share"]), np.array(result["evidence"])
    assert len(share) == len(evidence) == len(result["scores"]) == 400
    assert guide["outcome"] == "columns found" and guide["suggested"] == len(chosen) and guide["passed"] >= len(chosen)
    assert evidence[chosen].max() < 0.01 and share[:50].min() > guide["chance"]
    assert max(result["alignment"]) == pytest.approx(result["alignment"][len(chosen) - 1], rel=0.02)
    assert np.isclose(sum(guide["graph_weights"]), 1) and result["report"]["sampled_rows"] == 200
    order = np.argsort(-np.array(result["scores"]), kind="stable")
    assert order[: len(chosen)].tolist() == result["selected"]
    assert np.allclose(np.sort(result["scores"]), np.arange(1, 401) / 400)


def test_a_prefix_is_the_answer_for_fewer(path):
    whole = select(path, "-k", "all")["selected"]
    assert sorted(whole) == list(range(400))
    assert select(path, "-k", "10")["selected"] == whole[:10] and select(path, "-k", "0.1")["selected"] == whole[:40]
    assert select(path)["selected"] == whole[: len(select(path, "-k", "auto")["selected"])]


def test_says_how_far_kmeans_goes_along_with_the_groups(path, tmp_path):
    """The mean of single starts, as of any other k-means."""
    result = select(path)
    agreement = result["guide"]["agreement"]
    assert agreement["rows"] == 200
    labels, chosen = np.array(result["clusters"]), np.sort(result["selected"])
    for columns, name in ((chosen, "selected"), (np.arange(400), "all")):
        starts = [nmi(labels, kmeans(groups()[:, columns], labels.max() + 1, seed)) for seed in range(20)]
        assert abs(agreement[name] - np.mean(starts)) < 3 * np.std(starts) / 5**0.5 + 0.02  # other starts
    said = f"k-means on the selected columns agrees with these groups to {agreement['selected']:.2g}"
    assert said in tamis("select", path).out
    assert select(path, "-k", "all")["guide"]["agreement"] is None
    assert select(path, "-k", "60", "-m", "maxvar", "--evidence", "on")["guide"]["agreement"]["selected"] > 0.4
    noise = write_npy(tmp_path / "noise.npy", np.random.default_rng(1).standard_normal((150, 120)))
    assert select(noise, "-k", "9")["guide"]["agreement"] is None


def nmi(a, b):
    return normalized_mutual_info_score(a, b, average_method="geometric")


def kmeans(X, c, seed):
    return KMeans(c, n_init=1, random_state=seed).fit(X).labels_


def test_noise_has_no_structure(tmp_path):
    quiet = 0
    for seed in range(4):
        path = write_npy(tmp_path / "x.npy", np.random.default_rng(seed).standard_normal((150, 120)))
        run = tamis("select", path, "--seed", seed)
        quiet += "No structure found" in run.out and "All 120 columns" in run.out
    assert quiet >= 3
    chosen = select(path, "-k", "7")
    assert len(chosen["selected"]) == 7 and chosen["guide"]["passed"] == 0
    assert chosen["guide"]["outcome"] == "no structure found"
    assert "noise would look the same" in tamis("select", path, "-k", "7").out


def test_noise_of_few_columns_has_no_structure(tmp_path):
    path = write_npy(tmp_path / "x.npy", np.random.default_rng(0).normal(size=(200, 20)))
    run = tamis("select", path, "-o", tmp_path / "out")
    assert "No structure found: no column separates" in run.out and "All 20 columns that vary are kept." in run.out, run
    assert "groups of 1" not in run.out and "does no better" not in run.out
    page = (tmp_path / "out" / "report.html").read_text()
    assert "No structure was found: k-means divides any table" in page and "high in cluster" not in page
    chosen = tamis("select", path, "-k", "10")
    assert "The 10 columns were requested; noise would look the same." in chosen.out and "suggests" not in chosen.out


def test_one_column_cannot_be_tested(tmp_path):
    run = tamis("select", write_npy(tmp_path / "x.npy", np.random.default_rng(0).normal(size=(200, 1))))
    assert "one column alone cannot be tested" in run.out and "The only column that varies is kept." in run.out, run


def test_narrow_tables_are_kept_whole(tmp_path):
    X = groups(d=30, informative=9)
    X[:, 3] = 0.1
    run = tamis("select", write_npy(tmp_path / "x.npy", X))
    assert "All 29 columns that vary are kept" in run.out, run
    result = select(tmp_path / "x.npy")
    assert 3 not in result["selected"] and result["scores"][3] == 0 and result["evidence"][3] == 1


def test_forced_columns_enter_first(path):
    result = select(path, "--include", "399,7", "--exclude", "0,1", "-k", "20")
    assert set(result["selected"][:2]) == {7, 399} and not {0, 1} & set(result["selected"])
    assert result["scores"][0] is None and result["share"][0] is None and result["evidence"][1] is None


def test_other_methods_by_alignment(path):
    result = select(path, "-m", "maxvar", "-k", "auto", "--evidence", "on")
    assert len(result["selected"]) == result["guide"]["suggested"] and result["evidence"][60] > 1e-6
    assert select(path, "-m", "maxvar", "-k", "auto")["evidence"] is None
    assert "share" not in select(path, "-m", "maxvar")
    assert len(select(path, "-m", "maxvar")["selected"]) == 400
    refused(tamis("select", path, "-m", "mcfs", "-k", "auto", "--quiet"), 2, "mcfs", "number of features")


def test_options_of_other_methods_name_them(path):
    refused(tamis("select", path, "--alpha", "2"), 2, "--alpha is an option of ufcm", "add -m ufcm")
    refused(tamis("select", path, "--weights", "heat"), 2, "lapscore", "add -m")
    refused(tamis("select", path, "--scales", "3,x"), 2, "scales = 3,x")
    refused(tamis("select", path, "--scales", "1,5"), 2, "scales = 1")
    refused(tamis("select", path, "-c", "201"), 2, "clusters = 201", "n = 200")
    refused(tamis("select", path, "--evidence=perhaps"), 2, "evidence = perhaps")
    refused(tamis("select", path, "-k", "some"), 2, "auto or all")


def test_supervision_means_ufcm(path, tmp_path):
    (tmp_path / "y.txt").write_text("\n".join(str(i % 4) for i in range(200)))
    run = tamis("select", path, "--supervise", tmp_path / "y.txt", "-k", "5")
    assert run.code == 0 and "--supervise without -m: using ufcm" in run.err, run
    run = tamis("select", path, "-m", "guided", "--supervise", tmp_path / "y.txt", "--quiet")
    refused(run, 2, "does not use labels, need ufcm")


def test_groups_that_repeat_the_labels_are_told(tmp_path):
    X = groups(n=120, c=3, informative=40) + 0.0
    X[:, :40] *= 3
    for name, y, told in (("batch", np.arange(120) % 3, True), ("other", np.arange(120) // 40, False)):
        np.savez(tmp_path / f"{name}.npz", X=X, y=y)
        run = tamis("select", tmp_path / f"{name}.npz", "--labels", "y", "-c", "3")
        assert run.code == 0 and ("mostly repeat y" in run.err) == told, run


def test_the_ranking_holds_share_and_evidence(path, tmp_path):
    select(path, "-o", tmp_path / "out")
    with open(tmp_path / "out" / "ranking.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["rank", "index", "name", "score", "selected", "share", "evidence", "representative", "r2", "group",
                             "column"]
    result = select(path)
    assert [float(row["share"]) for row in rows] == [result["share"][int(row["index"])] for row in rows]
    y = tmp_path / "y.txt"
    y.write_text("\n".join(str(i % 4) for i in range(200)))
    run = tamis("evaluate", path, "--labels", y, "--list", tmp_path / "out" / "ranking.csv", "--json")
    assert run.code == 0 and run.json["scores"]["given"]["features"] == len(result["selected"]), run


def test_one_pass_from_disk_with_the_bits_of_memory(tmp_path):
    path = write_npy(tmp_path / "x.npy", groups(n=120000, d=60, informative=20))  # 58 MB
    memory = select(path, "--redundancy", "off")
    disk = select(path, "--redundancy", "off", "--memory", "55MB", "--quiet")
    assert disk["data"]["storage"] == "disk" and disk["report"]["passes"] == 1
    same(memory, disk)
    assert memory["share"] == disk["share"] and memory["evidence"] == disk["evidence"]
    assert memory["report"]["sampled_rows"] == 4000 and memory["clusters"] is None
    assert select(path, "--sample", "500")["report"]["sampled_rows"] == 500


def test_seeds_and_options_decide(path):
    base = select(path)
    same(base, select(path, "--threads", "1"))
    assert select(path, "--seed", "1")["selected"] != base["selected"]
    assert select(path, "-c", "4")["share"] != base["share"]
    assert select(path, "--evidence", "off")["evidence"] is None
