"""`workbench learn`: the numbers of a run, simulated or recorded, and its files."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from workbench.crowd.tables import read_gold, read_labels
from workbench.learning.draws import Draws
from workbench.learning.engine import simulate
from workbench.learning.recorded import recorded, replay
from workbench.learning.schedule import decreasing, practical
from workbench.learning.vetting import Vetting

KEYS = [
    "best_set", "estimates", "labels_bought", "explored", "exploited", "accuracy", "regret",
    "crowd_accuracy", "best_accuracy", "removed", "structure", "schedule", "seed", "horizon",
    "runs",
]  # fmt: skip
SKILLS = [0.76, 0.78, 0.62, 0.78, 0.73]
SIMULATED = ("learn", "--simulate", "0.76,0.78,0.62,0.78,0.73", "--horizon", 400, "--runs", 20)
RECORDED = ("learn", "--labels", "labels.csv", "--gold", "gold.csv")


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Seven labelers of sixty tasks, one of whom is wrong; times run against the file's order."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    skill = np.array([0.9, 0.85, 0.8, 0.8, 0.75, 0.7, 0.1])
    true = rng.integers(0, 2, 60)
    said = np.where(rng.random((60, 7)) < skill, true[:, None], 1 - true[:, None])
    rows = [(f"q{k}", f"w{i}", "ny"[said[k, i]], 100 - k + (30 if i == 4 else 0))
            for k in range(60) for i in range(7) if (k + i) % 9]  # fmt: skip
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
    assert told["exploration_regret"] == pytest.approx(found.exploration_regret[:, -1].mean())
    assert told["cost_regret"] == pytest.approx(found.cost_regret[:, -1].mean())
    assert told["accuracy"] == pytest.approx(found.reward[:, -1].mean() / 400)
    assert told["accuracy"] == pytest.approx(told["best_accuracy"] - told["regret"] / 400)
    assert list(told["estimates"]) == list("01234")
    assert list(told["estimates"].values()) == pytest.approx(found.estimates.mean(axis=0).tolist())
    assert list(told["skills"].values()) == SKILLS
    assert told["labels_bought"] == found.labels[:, -1].mean()
    assert told["labels_crowd"] == 2000
    assert told["explored"] + told["exploited"] == 400
    assert told["explored"] == found.explored[:, -1].mean() == told["new_testers"] + told["retests"]
    sets = ["".join("01234"[i] for i in np.flatnonzero(chosen)) for chosen in found.chosen]
    assert sets.count("".join(told["best_set"])) == max(map(sets.count, sets))
    assert told["best_set_share"] == max(map(sets.count, sets)) / 20
    assert (told["horizon"], told["runs"], told["seed"]) == (400, 20, 3)
    assert told["schedule"]["tests"] == 2
    assert told["schedule"]["exploration_steps"] == told["explored"]
    assert told["best_accuracy"] >= told["learnt_accuracy"] > 0.5
    assert told["structure"]["trusted"] is None


def test_bounds_that_hold_but_say_nothing(run):
    arguments = ("learn", "--simulate", "0.9,0.85,0.8,0.75,0.95", "--horizon", 100, "--runs", 2)
    told = answer(run(*arguments, "--json"))
    assert told["bounds"]["holds"] is True
    assert told["bounds"]["says_something"] is False
    assert told["bounds"]["regret"] > 1e6
    assert "no more than 100 is possible" in run(*arguments).stdout
    weighted = answer(run(*arguments, "--weighted", "--json"))
    assert weighted["bounds"]["source"] == "Theorem 5"


def test_constants_that_are_too_large(run, refused, monkeypatch):
    def large(*_, **__):
        raise OverflowError

    # As for 600 labelers, which take a while.
    monkeypatch.setattr("workbench.learning.regret_bounds.theorem_3", large)
    monkeypatch.setattr("workbench.learning.schedule.theoretical", large)
    arguments = ("learn", "--simulate", 4, "--horizon", 12, "--runs", 2)
    told = answer(run(*arguments, "--json"))
    assert told["bounds"]["why"] == "for 4 workers its constants are too large for a computer"
    line = refused(*arguments, "--schedule", "theoretical")
    assert "for 4 workers its constants are too large" in line


def test_options_reach_the_engine(run):
    arguments = (*SIMULATED, "--schedule", "decreasing:1,2,0.25", "--weighted", "--delay", 7,
                 "--costs", "1,2,3,4,5", "--vetting", "--vetting-error", 0.3,
                 "--vetting-variant", "printed", "--json")  # fmt: skip
    told = answer(run(*arguments))
    found = simulate(
        Draws(SKILLS, 20, seed=0), decreasing(1, 2, 0.25), 400, weighted=True, delay=7,
        costs=[1, 2, 3, 4, 5], vetting=Vetting(0.3, variant="printed"),
    )  # fmt: skip
    assert told["regret"] == pytest.approx(found.regret[:, -1].mean())
    assert told["cost_regret"] == pytest.approx(found.cost_regret[:, -1].mean())
    assert len(told["removed"]) == sum(map(len, found.removed)) > 0
    first = next(one for one in told["removed"])
    assert {"run", "worker", "step", "error"} == set(first)
    assert told["schedule"]["log_power"] == 1.5
    page = run(*arguments[:-1]).stdout
    assert f"dropped {len(told['removed'])} workers in 20 runs" in page
    even = answer(run(*SIMULATED, "--costs", 2, "--json"))
    plain = answer(run(*SIMULATED, "--json"))
    assert even["cost_regret"] == pytest.approx(2 * plain["cost_regret"])


# ---- recorded ----


def test_recorded_json_is_the_replay_s_answer(run, files):
    told = answer(run(*RECORDED, "--json", "--seed", 2))
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
    assert told["crowd_accuracy"] == found.crowd_accuracy
    assert told["best_accuracy"] == found.best_accuracy
    assert told["gold_tasks"] == 50
    assert told["regret"] is None
    assert told["counts"] == found.counts
    assert told["classes"] == ["n", "y"]
    assert told["structure"]["sentence"] == found.structure.sentence
    assert told["structure"]["camps"][1] == 1
    assert told["schedule"]["text"] == "5,0"


def test_recorded_options(run, files):
    options = ("--order", "time", "--horizon", 40, "--schedule", "3,1", "--weighted", "--vetting",
               "--vetting-error", 0.4, "--patience", 25, "--pool", "all", "--delay", 2)  # fmt: skip
    told = answer(run(*RECORDED, *options, "--json"))
    found = replay(
        stream("time"), practical(3, 1), horizon=40, weighted=True, vetting=Vetting(0.4),
        patience=25.0, pool="all", delay=2, seed=0,
    )  # fmt: skip
    assert told["counts"] == found.counts
    assert told["counts"]["late_used"] > 0
    assert told["retests"] > 0
    assert told["explored"] + told["exploited"] == told["horizon"] == 40
    assert told["counts"]["late_ignored"] > 0
    assert told["counts"]["missing"] > 0
    assert told["labels_bought"] == found.labels_bought
    assert told["accuracy"] == found.accuracy
    assert [one["worker"] for one in told["removed"]] == [
        found.learner.names[one.worker] for one in found.learner.removed
    ]
    assert told["pool"] == "all"
    page = run(*RECORDED, *options).stdout
    assert f"{told['retests']} retests gave the same labels as before" in page
    assert "with recorded labels take G2 = 0" in page
    assert "vetting (supported, below 0.4) dropped" in page


# ---- for both ----


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


S, L = ("--simulate", "0.7,0.8"), ("--labels", "labels.csv")
BAD = {
    "nothing": ((), "give --simulate, or --labels: one of them"),
    "both": ((*S, *L), "give --simulate, or --labels: one of them"),
    "skill": (("--simulate", "0.7,1.2"), "--simulate is '0.7,1.2': give skills from 0 to 1"),
    "skill nan": (("--simulate", "0.7,nan"), "--simulate is '0.7,nan': give numbers with commas"),
    "skill text": (("--simulate", "good"), "--simulate is 'good': give numbers with commas"),
    "skill minus": (("--simulate", "-1"), "--simulate is '-1': give skills from 0 to 1"),
    "nobody": (("--simulate", "0"), "--simulate is 0: give 1 to 10000 workers"),
    "empty": (("--simulate", ""), "--simulate is '': give numbers"),
    "low": (("--simulate", "5", "--low", "0.9", "--high", "0.6"), "--low 0.9, --high 0.6: give"),
    "high": (("--simulate", "5", "--high", "1.5"), "--low 0.5, --high 1.5: give 0 ≤ low"),
    "low nan": (("--simulate", "5", "--low", "nan"), "give 0 ≤ low ≤ high ≤ 1"),
    "low given": ((*S, "--low", "0.6"), "--low is for drawn skills: give --simulate a whole"),
    "runs": ((*S, "--runs", "0"), "0 is not in the range x>=1"),
    "horizon": ((*S, "--horizon", "0"), "0 is not in the range x>=1"),
    "horizon long": ((*L, "--horizon", "61"), "--horizon is 61: there are 60 tasks"),
    "costs": ((*S, "--costs", "1,2,3"), "--costs is '1,2,3': give one price of 0 or more, or one"),
    "costs minus": ((*S, "--costs", "-1"), "--costs is '-1': give one price"),
    "costs text": ((*S, "--costs", "cheap"), "--costs is 'cheap': give numbers"),
    "schedule": ((*S, "--schedule", "3"), "--schedule is '3': give G1,G2 (as 3,5)"),
    "schedule three": ((*S, "--schedule", "3,4,5"), "--schedule is '3,4,5': give G1,G2"),
    "schedule text": ((*S, "--schedule", "a,b"), "--schedule is 'a,b': give numbers"),
    "schedule kind": ((*S, "--schedule", "fast:1,2"), "--schedule is 'fast:1,2': give G1,G2"),
    "schedule minus": ((*S, "--schedule", "-3,5"), "--schedule -3,5: tests is -3"),
    "decreasing": ((*S, "--schedule", "decreasing:1,2"), "'decreasing:1,2': give G1,G2"),
    "eta": ((*S, "--schedule", "decreasing:1,2,0"), "--schedule decreasing:1,2,0: eta is 0"),
    "theoretical": ((*L, "--schedule", "theoretical"), "needs the true skills: give --simulate"),
    "theoretical even": (
        ("--simulate", "0.7,0.7,0.7", "--schedule", "theoretical"), "the crowd sets no limit",
    ),
    "vetting": ((*S, "--vetting-error", "0.1"), "go with --vetting: give it too"),
    "vetting error": ((*S, "--vetting", "--vetting-error", "0"), "--vetting-error is 0"),
    "variant": ((*S, "--vetting", "--vetting-variant", "best"), "'best' is not one of 'supported'"),
    "delay": ((*S, "--delay", "-1"), "-1 is not in the range x>=0"),
    "gold alone": ((*S, "--gold", "gold.csv"), "--gold is for recorded labels: give it with --lab"),
    "order alone": ((*S, "--order", "time"), "--order is for recorded labels"),
    "runs recorded": ((*L, "--runs", "5"), "--runs is for simulated workers: give it with --sim"),
    "costs recorded": ((*L, "--costs", "2"), "--costs is for simulated workers"),
    "no labels": (("--labels", "no.csv"), "no.csv: no such file"),
    "no gold": ((*L, "--gold", "no.csv"), "no.csv: no such file"),
    "three classes": ((*L, "--gold", "upper.csv"), "name 4 classes ('N', 'Y', 'n', 'y')"),
    "twice": (("--labels", "twice.csv"), "remove one of them, or pass --duplicates first or last"),
    "duplicates": ((*L, "--duplicates", "keep"), "'keep' is not one of 'error', 'first', 'last'"),
    "order": ((*L, "--order", "size"), "'size' is not one of 'file', 'time'"),
    "no time": (("--labels", "timeless.csv", "--order", "time"), "no column time: add one"),
    "patience": (("--labels", "timeless.csv", "--patience", "1"), "patience needs the times"),
    "patience minus": ((*L, "--patience", "-1"), "patience is -1"),
    "pool": ((*L, "--pool", "some"), "'some' is not one of 'recorded', 'all'"),
    "weighted many": (
        ("--simulate", "40", "--weighted", "--horizon", "50", "--runs", "2"), "26",
    ),
    "seed": ((*S, "--seed", "-1"), "-1 is not in the range"),
    "out": ((*S, "--out", "gold.csv"), "--out gold.csv: is a file, give a folder"),
    "extra": ((*S, "more"), "unexpected extra argument"),
}  # fmt: skip


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
