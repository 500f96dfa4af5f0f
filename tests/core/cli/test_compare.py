"""`workbench compare`: the table, the files, the numbers a reader relies on."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from workbench.comparison.running import methods

SMALL = ("--tasks", 20, "--workers", 40, "--capacity", 20, "--epsilon", 0.2, "--gold-tasks", 10)
FIELDS = [
    "method",
    "labels_gold",
    "labels_task",
    "cost",
    "objective",
    "lower_bound",
    "ratio",
    "tasks_covered",
    "error_bound",
    "error_exact",
    "error_measured",
    "error_se",
    "seconds",
]


@pytest.fixture
def recorded(tmp_path):
    """A crowd of 24 workers on 30 tasks, most pairs recorded; one task hardly anybody saw."""
    rng = np.random.default_rng(5)
    skill = rng.uniform(0.6, 0.95, 24)
    true = rng.integers(0, 2, 30)
    rows = []
    for i in range(30):
        for j in range(24):
            if rng.random() < (0.05 if i == 29 else 0.9):
                right = rng.random() < skill[j]
                rows.append((f"q{i}", f"ann{j}", "yn"[true[i] if right else 1 - true[i]]))
    pd.DataFrame(rows, columns=["item", "annotator", "answer"]).to_csv(
        tmp_path / "labels.csv", index=False
    )
    gold = pd.DataFrame(
        {"task": [f"q{i}" for i in range(29)], "gold": ["yn"[t] for t in true[:29]]}
    )
    gold.to_csv(tmp_path / "gold.csv", index=False)
    return ("--labels", tmp_path / "labels.csv", "--gold", tmp_path / "gold.csv")


def rows_of(result):
    assert result.exit_code == 0, result.output
    payload = json.loads(result.stdout)
    return {row["method"]: row for row in payload["rows"]}, payload


class TestSimulated:
    def test_some_methods_and_processes(self, run):
        named = ("--method", "dual descent", "--method", "adaptive", "--trials", 2)
        two, payload = rows_of(run("compare", *SMALL, *named, "--processes", 2, "--json"))
        one, _ = rows_of(run("compare", *SMALL, *named, "--json"))
        assert list(two) == ["adaptive", "dual descent"]
        assert payload["settings"]["methods"] == list(two)
        for name, row in two.items():
            assert {**row, "seconds": 0} == {**one[name], "seconds": 0}
        refused = run("compare", *SMALL, "--method", "dual decent")
        assert refused.exit_code == 2
        assert "did you mean 'dual descent'" in refused.stderr

    def test_json(self, run):
        rows, payload = rows_of(run("compare", *SMALL, "--json"))
        assert list(rows) == list(methods())
        assert set(FIELDS) <= set(rows["adaptive"])
        assert payload["tasks"] == 20
        assert payload["left_out"] == []
        exact, adaptive = rows["offline IP"], rows["adaptive"]
        assert exact["lower_bound"] == exact["objective"] == exact["labels_task"]
        assert exact["ratio"] == 1
        assert exact["tasks_covered"] == 20
        assert exact["error_exact"] <= exact["error_bound"] <= 0.2
        assert rows["relaxation"]["objective"] == pytest.approx(rows["dual"]["objective"])
        assert rows["relaxation"]["objective"] <= exact["objective"]
        assert adaptive["labels_gold"] == 10 * (40 + 12)
        assert adaptive["cost"] == adaptive["labels_gold"] + adaptive["labels_task"]
        assert adaptive["ratio"] == pytest.approx(adaptive["objective"] / exact["lower_bound"])
        for name in methods()[5:8]:
            budget = adaptive["cost"]
            assert budget - 20 < rows[name]["cost"] <= budget
            assert 0 <= rows[name]["error_measured"] <= 1
        assert rows["random + message passing"]["error_exact"] is None
        assert rows["random + Dawid–Skene"]["error_exact"] is None
        assert payload["gain"] == payload["settings"]["gain"] == "hoeffding"
        assert payload["settings"]["skills"] == "plug-in"

    @pytest.mark.release
    def test_the_ratio_is_over_the_program_that_is_named(self, run):
        paper, _ = rows_of(run("compare", *SMALL, "--json"))
        rows, payload = rows_of(run("compare", *SMALL, "--gain", "bhattacharyya", "--json"))
        assert payload["gain"] == "bhattacharyya"
        assert payload["settings"]["skills"] == "fitted"
        exact = rows["offline IP"]
        assert exact["lower_bound"] < paper["offline IP"]["lower_bound"]
        assert exact["error_exact"] <= exact["error_bound"] <= 0.2
        assert exact["tasks_covered"] == 20
        page = run(
            "compare", *SMALL, "--details", "--gain", "bhattacharyya", "--skills", "plug-in"
        ).stdout
        assert "--skills fitted mends it" in page
        assert "gain bhattacharyya, seed 0" in page
        assert "of the program with gain bhattacharyya (Bhattacharyya's bound)" in page

    @pytest.mark.slow
    def test_files(self, run, tmp_path):
        out = tmp_path / "new" / "results"
        result = run("compare", *SMALL, "--details", "--out", out, "--trials", 2)
        assert result.exit_code == 0, result.output
        assert "mean of 2 trials" in result.stdout
        assert sorted(path.name for path in out.iterdir()) == [
            "compare.csv",
            "compare.json",
            "compare.png",
            "trials.csv",
        ]
        trials = pd.read_csv(out / "trials.csv")
        assert trials.groupby("method").size().tolist() == [2] * len(methods())
        summary = pd.read_csv(out / "compare.csv").set_index("method")
        adaptive = trials[trials["method"] == "adaptive"]
        assert summary.loc["adaptive", "cost"] == pytest.approx(adaptive["cost"].mean())
        assert summary.loc["adaptive", "error_se"] == pytest.approx(
            adaptive["error_measured"].sem()
        )
        assert (out / "compare.png").read_bytes().startswith(b"\x89PNG")
        assert json.loads((out / "compare.json").read_text())["settings"]["trials"] == 2


class TestRecorded:
    @pytest.mark.slow
    def test_the_defaults_of_recorded_crowds(self, run, recorded):
        rows, payload = rows_of(run("compare", *recorded, "--epsilon", 0.2, "--json"))
        assert payload["gain"] == "bhattacharyya"
        assert payload["settings"]["skills"] == "fitted"
        assert rows["offline IP"]["error_measured"] is None
        for row in (row for name, row in list(rows.items())[3:] if name != "information limit"):
            low, high = row["error_interval"]
            assert low <= row["error_measured"] <= high
            assert row["error_independent"] == row["error_exact"]
            # 29 tasks have gold.
            assert row["tasks_measured"] == 29
            assert 0 < row["effective_workers"] <= row["labels_task"] / payload["tasks"] + 1e-9
        assert "posterior means" in payload["notes"][0]
        paper, old = rows_of(
            run(
                "compare",
                *recorded,
                "--epsilon",
                0.2,
                "--gain",
                "hoeffding",
                "--skills",
                "plug-in",
                "--json",
            )
        )
        assert old["gain"] == "hoeffding"
        assert "one right, one wrong added" in old["notes"][0]
        assert rows["offline IP"]["objective"] < paper["offline IP"]["objective"]

    @pytest.mark.release
    def test_gold_labels_cost_what_their_workers_charge(self, run, recorded, tmp_path):
        prices = pd.DataFrame({"worker": [f"ann{j}" for j in range(24)], "cost": 1e-5})
        prices.to_csv(tmp_path / "c.csv", index=False)
        command = ("compare", *recorded, "--epsilon", 0.4, "--costs", tmp_path / "c.csv")
        page = run(*command, "--details", "--out", tmp_path / "r").stdout
        assert "gold cost" in page
        rows = pd.read_csv(tmp_path / "r" / "compare.csv").set_index("method")
        rows = rows.drop("information limit")[3:]
        assert rows["objective"].tolist() == pytest.approx((rows["labels_task"] * 1e-5).tolist())
        assert rows["cost_gold"].tolist() == pytest.approx((rows["labels_gold"] * 1e-5).tolist())
        both = rows["objective"] + rows["cost_gold"]
        assert rows["cost"].tolist() == pytest.approx(both.tolist())
        assert rows.loc["adaptive", "cost_gold"] > 0
        shown = next(line.split() for line in page.splitlines() if line.startswith("offline IP"))
        assert float(shown[6]) == pytest.approx(float(shown[3]) * 1e-5, rel=1e-3)


BAD = {
    "two crowds": (("--data", "bluebird", "--labels", "L"), "--data and --labels exclude"),
    "labels alone": (("--labels", "L"), "no true labels; give --gold"),
    "no such data": (("--data", "bluebrid"), "bluebrid"),
    "epsilon out of reach": (
        ("--labels", "L", "--gold", "G", "--epsilon", "1e-9"),
        "no task can be covered",
    ),
    "gamma": (("--gamma", "0"), "gamma is 0"),
    "capacity file": (("--labels", "L", "--gold", "G", "--capacity", "no.csv"), "no.csv"),
    "costs simulated": (("--costs", "c.csv"), "--costs: a simulated crowd has its own"),
    "types simulated": (("--task-types", "t.csv"), "--task-types: a simulated crowd has its"),
    "gain": (("--gain", "exact"), "exact"),
    "skills": (("--skills", "mean"), "mean"),
    "classes": (
        ("--labels", "FIVE", "--gold", "G5", "--gain", "hoeffding"),
        "is for labels of two classes, here are more",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input(case, refused, recorded, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame(
        {"task": ["a", "a", "b"], "worker": ["u", "v", "u"], "label": ["1", "2", "3"]}
    ).to_csv("FIVE.csv", index=False)
    pd.DataFrame({"task": ["a", "b"], "gold": ["1", "2"]}).to_csv("G5.csv", index=False)
    files = {"L": "labels.csv", "G": "gold.csv", "FIVE": "FIVE.csv", "G5": "G5.csv"}
    arguments, fragment = BAD[case]
    before = sorted(path.name for path in tmp_path.iterdir())
    line = refused("compare", *(files.get(a, a) for a in arguments))
    assert fragment in line
    assert sorted(path.name for path in tmp_path.iterdir()) == before
