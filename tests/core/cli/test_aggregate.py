"""`workbench aggregate`: one label a task, by every method, and what it was measured on."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from workbench.aggregation import AGGREGATORS
from workbench.aggregation.voting import (
    expected_accuracy,
    linear_weights,
    log_odds_weights,
    majority,
    weighted_majority,
)
from workbench.crowd.votes import Votes

BASE = ("aggregate", "--labels", "labels.csv")
WORKERS = [f"w{j}" for j in range(7)]


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Seven workers, most of forty tasks of three classes labelled; ten of them control tasks."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    skill = [0.95, 0.9, 0.8, 0.6, 0.5, 0.4, 0.2]
    true = rng.integers(0, 3, 40)
    rows = []
    for i in range(40):
        for j in range(7):
            if rng.random() < 0.85 and (i != 39 or j > 2):
                right = rng.random() < skill[j]
                named = true[i] if right else (true[i] + rng.integers(1, 3)) % 3
                rows.append((f"q{i}", WORKERS[j], "abc"[named]))
    labels = pd.DataFrame(rows, columns=["task", "worker", "label"])
    labels.to_csv("labels.csv", index=False)
    truth = pd.DataFrame({"task": [f"q{i}" for i in range(40)], "gold": ["abc"[t] for t in true]})
    truth.to_csv("truth.csv", index=False)
    truth[:10].to_csv("control.csv", index=False)
    hired = pd.DataFrame({"worker": WORKERS[:3], "answered": 10, "skill": [0.9, 1.0, 0.7]})
    hired.to_csv("chosen.csv", index=False)
    hired[["worker"]].to_csv("names.csv", index=False)
    return tmp_path


def answer(result):
    assert result.exit_code == 0, result.output
    return json.loads(
        result.stdout, parse_constant=lambda name: pytest.fail(f"{name} is no strict JSON")
    )


def numbered(workers=None):
    labels = pd.read_csv("labels.csv")
    return Votes.of(
        labels, tasks=[f"q{i}" for i in range(40)], workers=workers, classes=["a", "b", "c"]
    )


def true_classes(without=0):
    gold = pd.read_csv("truth.csv")["gold"]
    codes = pd.Index(["a", "b", "c"]).get_indexer(gold)
    codes[:without] = -1
    return codes


def control_skills():
    labels = pd.read_csv("labels.csv").merge(pd.read_csv("control.csv"), on="task")
    right = (labels["label"] == labels["gold"]).groupby(labels["worker"])
    return right.mean().reindex(numbered().workers)


@pytest.mark.parametrize("method", AGGREGATORS)
def test_json_is_the_library_s_answer(run, files, method):
    control = ("--gold", "control.csv") if method.startswith("weighted") else ()
    told = answer(
        run(*BASE, "--method", method, *control, "--truth", "truth.csv", "--seed", 4, "--json")
    )
    votes, weights = numbered(), None
    without = 10 if control else 0
    if method == "weighted-linear":
        weights = linear_weights(control_skills(), 3)
    elif method == "weighted-log-odds":
        weights = log_odds_weights(control_skills(), 3)
    if weights is not None:
        found = weighted_majority(votes, weights, per="worker", seed=4)
        assert told["weights"] == pytest.approx(dict(zip(votes.workers, weights, strict=True)))
    elif method == "majority":
        found = majority(votes, seed=4)
    else:
        found = AGGREGATORS[method].call(votes, seed=4)
        assert told.get("variant") == found.info.get("variant")
        assert told.get("iterations") == found.info.get("iterations")
        for name, key in (("class_prior", "class_prior"), ("skill", "skills")):
            known = found.info.get(name)
            if name == "skill" and known is not None:
                known = dict(zip(votes.workers, known, strict=True))
            assert told.get(key) == (known.tolist() if isinstance(known, np.ndarray) else known)
    assert [row["task"] for row in told["answers"]] == votes.tasks.tolist()
    assert [row["label"] for row in told["answers"]] == votes.classes[found.label].tolist()
    assert [row["score"] for row in told["answers"]] == pytest.approx(found.score.tolist())
    assert told["ties"] == found.tied.sum()
    assert (told["tasks"], told["workers"], told["votes"]) == (40, 7, len(votes))
    assert told["unlabelled"] == 0
    assert told["accuracy_tasks"] == 40 - without
    if weights is None and method != "majority":
        accuracy = found.chance_right(true_classes()).mean()
    else:
        accuracy = expected_accuracy(votes, weights, true_classes(without))
    assert told["accuracy"] == pytest.approx(accuracy)


def test_chosen_workers_and_their_skills(run, files):
    arguments = (*BASE, "--workers", "chosen.csv", "--method", "weighted-linear")
    told = answer(run(*arguments, "--json"))
    assert told["workers"] == 3
    assert told["weights"] == pytest.approx({"w0": 0.85, "w1": 1.0, "w2": 0.55})
    found = weighted_majority(numbered(WORKERS[:3]), [0.85, 1.0, 0.55], per="worker", seed=0)
    assert [row["label"] for row in told["answers"][:39]] == numbered().classes[
        found.label[:39]
    ].tolist()
    # The last task is one that none of the three labelled.
    last = told["answers"][39]
    assert (last["task"], last["label"], last["confidence"]) == ("q39", None, None)
    assert last["unlabelled"] is True
    assert told["unlabelled"] == 1
    measured = answer(run(*arguments, "--truth", "truth.csv", "--json"))
    assert measured["accuracy"] == pytest.approx(
        expected_accuracy(numbered(WORKERS[:3]), [0.85, 1.0, 0.55], true_classes())
    )
    assert any("skills were given" in note for note in measured["notes"])
    # Control tasks go before the skills in the table.
    control = answer(run(*arguments, "--gold", "control.csv", "--json"))
    assert list(control["weights"].values()) == pytest.approx(
        linear_weights(control_skills()[["w0", "w1", "w2"]], 3).tolist()
    )


BAD = {
    "skill column": (
        ("--method", "weighted-linear", "--workers", "names.csv"),
        "no column 'skill' to weight by",
    ),
    "strangers": (("--workers", "strangers.csv"), "none of the chosen workers (x, y) gave a label"),
    "truth unknown": (("--truth", "strange.csv"), "gold for task 'q99', which has no label"),
    "idle iterations": (
        ("--method", "majority", "--iterations", "5"),
        "--iterations is for pooled, dawid-skene, dawid-skene-smoothed, one-coin",
    ),
    "classes": (
        ("--method", "weighted-linear", "--workers", "chosen.csv", "--classes", "2"),
        "--classes is 2, and 3 are used (a, b, c): give 3 or more",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input(case, refused, files):
    labels = pd.read_csv("labels.csv")
    pd.concat([labels, labels[:1]]).to_csv("again.csv", index=False)
    pd.DataFrame({"worker": ["x", "y"]}).to_csv("strangers.csv", index=False)
    pd.DataFrame({"task": ["q0", "q99"], "gold": "a"}).to_csv("strange.csv", index=False)
    arguments, fragment = BAD[case]
    given = [*arguments]
    for name, value in (("--labels", "labels.csv"), ("--out", "answers.csv")):
        if name not in arguments:
            given += [name, value]
    before = sorted(path.name for path in files.iterdir())
    assert fragment in refused("aggregate", *given)
    assert sorted(path.name for path in files.iterdir()) == before
    assert not Path("answers.csv").exists()


@pytest.mark.parametrize("method", ["majority", "dawid-skene"])
def test_gold_beside_a_method_is_not_asked_for_again(run, files, method):
    said = run(*BASE, "--method", method, "--gold", "truth.csv").stdout
    assert "Give it as --truth to measure" in said
    assert "give twenty" not in said
    assert "give twenty" in run(*BASE, "--method", method).stdout


@pytest.mark.slow
def test_the_picture_has_an_option(run, files):
    drawn = run(*BASE, "--plot", "answers.png")
    assert "written: answers.png" in drawn.stdout
    assert Path("answers.png").read_bytes().startswith(b"\x89PNG")
    refused = run(*BASE, "--plot", "answers.png", "--save", "answers.parquet")
    assert refused.exit_code == 2
    assert "--plot and --save: give one of them" in refused.stderr
