"""`workbench learn`: the numbers of a run, simulated or recorded, and its files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from workbench.crowd.tables import read_gold, read_labels
from workbench.learning.draws import Draws
from workbench.learning.engine import simulate
from workbench.learning.ls_ol import LsOlOptions
from workbench.learning.recorded_labels import recorded, replay
from workbench.learning.schedule import decreasing, practical
from workbench.learning.vetting import Vetting

KEYS = [
    "policy",
    "best_set",
    "estimates",
    "labels_bought",
    "explored",
    "exploited",
    "accuracy",
    "regret",
    "crowd_accuracy",
    "best_accuracy",
    "removed",
    "structure",
    "schedule",
    "seed",
    "horizon",
    "runs",
]
SKILLS = [0.76, 0.78, 0.62, 0.78, 0.73]
CROWD = ("--crowd", "listed", "--skill", "0.76,0.78,0.62,0.78,0.73")
SIMULATED = ("learn", *CROWD, "--horizon", 400, "--trials", 20)
RECORDED = ("learn", "--labels", "labels.csv", "--gold", "gold.csv")


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Seven workers of sixty tasks, one of whom is wrong; times run against the file's order."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    skill = np.array([0.9, 0.85, 0.8, 0.8, 0.75, 0.7, 0.1])
    true = rng.integers(0, 2, 60)
    said = np.where(rng.random((60, 7)) < skill, true[:, None], 1 - true[:, None])
    rows = [
        (f"q{k}", f"w{i}", "ny"[said[k, i]], 100 - k + (30 if i == 4 else 0))
        for k in range(60)
        for i in range(7)
        if (k + i) % 9
    ]
    labels = pd.DataFrame(rows, columns=["task", "worker", "label", "time"])
    labels.to_csv("labels.csv", index=False)
    pd.concat([labels, labels[:1].assign(label="y", time=0)]).to_csv("twice.csv", index=False)
    gold = pd.DataFrame(
        {"task": [f"q{k}" for k in range(50)], "gold": ["ny"[t] for t in true[:50]]}
    )
    gold.to_csv("gold.csv", index=False)
    return tmp_path


def answer(result, code=0):
    assert result.exit_code == code, result.output
    return json.loads(
        result.stdout, parse_constant=lambda name: pytest.fail(f"{name} is no strict JSON")
    )


def stream(order="file", **options):
    labels = read_labels("labels.csv")
    return recorded(labels, read_gold("gold.csv"), order=order, **options)


# ---- simulated ----


def test_simulated_json_is_the_engine_s_answer(run):
    told = answer(run(*SIMULATED, "--schedule", "2,4", "--seed", 3, "--json"))
    found = simulate(Draws(SKILLS, 20, seed=3), practical(2, 4), 400)
    assert [key for key in KEYS if key not in told] == []
    assert told["regret"] == pytest.approx(found.regret[:, -1].mean())
    assert told["regret_se"] == pytest.approx(found.regret[:, -1].std(ddof=1) / 20**0.5)
    assert told["exploration_regret"] + told["exploitation_regret"] == pytest.approx(told["regret"])
    assert told["cost_regret"] == pytest.approx(found.cost_regret[:, -1].mean())
    assert told["accuracy"] == pytest.approx(told["best_accuracy"] - told["regret"] / 400)
    assert list(told["estimates"]) == [f"w{i}" for i in range(5)]
    assert list(told["estimates"].values()) == pytest.approx(found.estimates.mean(axis=0).tolist())
    assert list(told["skills"].values()) == SKILLS
    assert told["labels_bought"] == found.labels[:, -1].mean()
    assert told["labels_crowd"] == 2000
    assert told["explored"] + told["exploited"] == 400
    assert told["explored"] == found.explored[:, -1].mean() == told["new_testers"] + told["retests"]
    sets = ["".join(f"w{i}" for i in np.flatnonzero(chosen)) for chosen in found.chosen]
    assert sets.count("".join(told["best_set"])) == max(map(sets.count, sets))
    assert told["best_set_share"] == max(map(sets.count, sets)) / 20


def test_options_reach_the_engine(run):
    arguments = (
        *SIMULATED,
        "--schedule",
        "decreasing:1,2,0.25",
        "--weighted",
        "--delay",
        7,
        "--costs",
        "1,2,3,4,5",
        "--vetting",
        "--vetting-error",
        0.3,
        "--vetting-variant",
        "printed",
        "--json",
    )
    told = answer(run(*arguments))
    options = LsOlOptions(True, delay=7, vetting=Vetting(0.3, variant="printed"))
    found = simulate(
        Draws(SKILLS, 20, seed=0), decreasing(1, 2, 0.25), 400, options, costs=[1, 2, 3, 4, 5]
    )
    assert told["regret"] == pytest.approx(found.regret[:, -1].mean())
    assert told["cost_regret"] == pytest.approx(found.cost_regret[:, -1].mean())
    assert len(told["removed"]) == sum(map(len, found.removed)) > 0
    first = next(one for one in told["removed"])
    assert {"run", "worker", "step", "error"} == set(first)
    assert told["schedule"]["log_power"] == 1.5
    page = run(*arguments[:-1]).stdout
    assert f"dropped {len(told['removed'])} workers in 20 runs" in page


# ---- recorded ----


def test_recorded_json_is_the_replay_s_answer(run, files):
    told = answer(run(*RECORDED, "--schedule", "5,0", "--json", "--seed", 2))
    assert told["policy"] == "ls-ol"
    found = replay(stream(), practical(5, 0), seed=2)
    assert [key for key in KEYS if key not in told] == []
    assert told["best_set"] == [found.learner.names[i] for i in found.learner.best]
    assert told["estimates"] == dict(
        zip(found.learner.names, found.learner.estimates.tolist(), strict=True)
    )
    assert told["labels_bought"] == found.labels_bought < told["labels_crowd"]
    assert told["labels_crowd"] == len(pd.read_csv("labels.csv"))
    assert told["explored"] + told["exploited"] == told["horizon"] == 60
    assert told["retests"] == 0
    assert told["accuracy"] == found.accuracy
    assert told["best_accuracy"] == found.best_accuracy
    assert told["counts"] == found.counts
    assert told["classes"] == ["n", "y"]
    assert told["structure"]["sentence"] == found.structure.sentence
    assert told["structure"]["camps"][1] == 1
    assert told["schedule"]["text"] == "5,0"


def test_by_default_a_model_of_all_labels_learns_from_recorded_ones(run, files):
    told = answer(run(*RECORDED, "--json", "--seed", 2))
    found = replay(stream(), policy="em", seed=2)
    assert [key for key in KEYS if key not in told] == []
    assert (told["policy"], told["schedule"]) == ("em", None)
    assert told["accuracy"] == found.accuracy > 0.9
    assert told["best_set"] == [found.learner.names[i] for i in found.learner.best]
    # The one who is wrong, told by her agreement, is not believed.
    assert min(told["estimates"], key=told["estimates"].get) == "w6"
    dear = answer(run(*RECORDED, "--json", "--seed", 2, "--price", 0.05))
    assert dear["labels_bought"] < told["labels_bought"]


@pytest.mark.release
def test_simulated_by_the_model(run):
    told = answer(
        run(
            "learn",
            "--skill",
            "0.9,0.85,0.8,0.5,0.5",
            "--policy",
            "em",
            "--horizon",
            300,
            "--trials",
            2,
            "--json",
        )
    )
    assert [key for key in KEYS if key not in told] == []
    assert told["regret"] == pytest.approx(
        300 * (told["best_accuracy"] - told["accuracy"]), abs=1e-9
    )
    assert told["labels_bought"] < told["labels_crowd"]


# ---- for both ----


@pytest.mark.release
@pytest.mark.parametrize("arguments", [SIMULATED, RECORDED])
def test_files(run, files, arguments):
    out = files / "results"
    told = answer(run(*arguments, "--out", "results", "--json"))
    names = ["learn.json", "learn.png", "steps.csv", "workers.csv"]
    assert sorted(path.name for path in out.iterdir()) == names
    assert json.loads((out / "learn.json").read_text()) == told
    assert (out / "learn.png").read_bytes().startswith(b"\x89PNG")
    steps, workers = pd.read_csv(out / "steps.csv"), pd.read_csv(out / "workers.csv")
    assert steps["tasks"].iloc[-1] == told["horizon"]
    assert steps["accuracy"].iloc[-1] == pytest.approx(told["accuracy"])
    assert steps["labels"].iloc[-1] == told["labels_bought"]
    names = workers["worker"].astype(str)
    assert dict(zip(names, workers["estimate"], strict=True)) == pytest.approx(told["estimates"])
    assert "written: results/steps.csv" in run(*arguments, "--out", "results").stdout


S, L = ("--skill", "0.7,0.8"), ("--labels", "labels.csv")
BAD = {
    "nothing": ((), "give --labels, a crowd on record, or --crowd, a simulated one"),
    "both": ((*S, *L), "--skill is of a simulated crowd: leave it or --labels out"),
    "low": (
        ("--crowd", "even", "--skill", "0.9,0.6"),
        "skill is (0.9, 0.6): of an even crowd give",
    ),
    "number": (("--crowd", "listed", "--workers", "2"), "workers is 2: 1 skills are listed"),
    "words": (("--skill", "a,b"), "--skill is 'a,b': give numbers with commas between"),
    "types": ((*S, "--types", "2"), "types is 2"),
    "horizon long": ((*L, "--horizon", "61"), "--horizon is 61: there are 60 tasks"),
    "schedule": ((*S, "--schedule", "3"), "--schedule is '3': give G1,G2 (as 3,5)"),
    "vetting": ((*S, "--vetting-error", "0.1"), "go with --vetting: give it too"),
    "trials recorded": ((*L, "--trials", "5"), "--trials is for simulated workers: give it with"),
    "alien classes": ((*L, "--gold", "upper.csv"), "gold names the classes 'N', 'Y', of which"),
    "policy": ((*L, "--policy", "em-"), "no learning policy 'em-': did you mean 'em'?"),
    "of another": ((*L, "--policy", "em", "--delay", "3"), "--delay is for the policy 'ls-ol'"),
    "patience": (("--labels", "timeless.csv", "--patience", "1"), "patience needs the times"),
    "out": ((*S, "--out", "gold.csv"), "--out gold.csv: is a file, give a folder"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input(case, refused, files):
    gold = pd.read_csv("gold.csv")
    gold.assign(gold=gold["gold"].str.upper()).to_csv("upper.csv", index=False)
    pd.read_csv("labels.csv").drop(columns="time").to_csv("timeless.csv", index=False)
    arguments, fragment = BAD[case]
    out = () if "--out" in arguments else ("--out", "results")
    before = sorted(path.name for path in files.iterdir())
    assert fragment in refused("learn", *arguments, *out)
    assert sorted(path.name for path in files.iterdir()) == before


@pytest.mark.release
def test_gold_of_tasks_without_labels_can_be_left_out(run, files):
    whole = answer(run(*RECORDED, "--json"))
    with Path("gold.csv").open("a", encoding="utf-8") as file:
        file.write("nobody labelled this,1\n")
    left = answer(run(*RECORDED, "--ignore-unlabelled", "--json"))
    for key in ("horizon", "gold_tasks", "accuracy"):
        assert left[key] == whole[key]
    assert answer(run(*RECORDED, "--json"))["horizon"] == whole["horizon"] + 1
