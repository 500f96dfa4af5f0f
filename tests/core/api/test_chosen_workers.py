"""`plan(workers=)` beside labels or skills: who may be asked, skills learnt from everybody."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import workbench as wb
from tests.core.rating_crowds import rated
from tests.core.set_crowds import frames
from workbench import InputError
from workbench.cli.app import main

NEW = [f"n{i}" for i in range(4)]
CHOSEN = ["w1", "w2", "w4", "w6"]


def drawn(classes: str, each: int = 4) -> tuple[pd.DataFrame, pd.Series]:
    """Forty tasks, labelled by some of eight workers who are right on .6 to .95."""
    rng = np.random.default_rng(3)
    true, skill = rng.integers(0, len(classes), 40), np.linspace(0.6, 0.95, 8)
    rows = []
    for i, t in enumerate(true.tolist()):
        for j in rng.choice(8, each, replace=False).tolist():
            other = (t + rng.integers(1, len(classes))) % len(classes)
            said = t if rng.random() < skill[j] else other
            rows.append((f"t{i}", f"w{j}", classes[said]))
    labels = pd.DataFrame(rows, columns=["task", "worker", "label"])
    gold = pd.Series([classes[t] for t in true], index=[f"t{i}" for i in range(40)], name="gold")
    return labels, gold


def by_capacity(labels, most):
    return dict.fromkeys(labels["worker"].unique(), 0) | dict.fromkeys(CHOSEN, most)


def same(first, second):
    """Tables, promises and what was measured are equal."""
    pd.testing.assert_frame_equal(first.to_frame(), second.to_frame())
    one, two = (json.loads(json.dumps(each.to_dict())) for each in (first, second))
    for payload in (one, two):
        for key in ("seconds", "workers", "without_history", "constant", "kept"):
            payload.pop(key, None)
    assert one == two


@pytest.mark.parametrize("classes", ["ny", "abc"])
def test_it_is_as_a_capacity_of_0_for_all_others(classes):
    labels, gold = drawn(classes)
    terms = {"epsilon": 0.25}
    made = wb.plan(labels, gold, NEW, capacity=4, workers=CHOSEN, **terms)
    same(made, wb.plan(labels, gold, NEW, capacity=by_capacity(labels, 4), **terms))
    assert set(made.to_frame()["worker"]) <= set(CHOSEN)
    assert "of 4 workers" in made.verdict()[0]
    table = pd.DataFrame({"worker": CHOSEN, "capacity": 4, "available": ["yes"] * 4})
    same(made, wb.plan(labels, gold, NEW, workers=table, **terms))
    away = table.assign(available=["yes", "no", "yes", "yes"])
    without = wb.plan(labels, gold, NEW, workers=away, epsilon=0.3)
    assert "w2" not in set(without.to_frame()["worker"])


def test_sets_and_ratings_are_restricted_alike():
    labels, gold = frames(1, tasks=120, workers=8, labels=3, each=5)
    names = sorted(labels["worker"].unique())[:6]
    zeros = dict.fromkeys(labels["worker"].unique(), 0) | dict.fromkeys(names, 8)
    made = wb.plan(labels, gold, NEW, epsilon=0.2, capacity=8, workers=names)
    same(made, wb.plan(labels, gold, NEW, epsilon=0.2, capacity=zeros))
    assert "of 6 workers" in made.verdict()[0]
    ratings, true = rated(tasks=40, workers=8, noise=4)
    made = wb.plan(ratings, true, NEW, epsilon=6, capacity=8, workers=CHOSEN)
    assert made.message is None
    same(made, wb.plan(ratings, true, NEW, epsilon=6, capacity=by_capacity(ratings, 8)))
    assert list(made.loads["worker"].sort_values()) == CHOSEN
    none = wb.plan(ratings, true, NEW, epsilon=3, capacity=8, workers=CHOSEN)
    assert "all 4 workers known by gold" in none.message


def test_what_is_measured_are_votes_of_those_who_may_be_asked():
    for classes in ("ny", "abc"):
        labels, gold = drawn(classes, each=2)
        made = wb.plan(labels, gold, NEW, capacity=6, workers=CHOSEN, epsilon=0.25)
        theirs = set(labels.loc[labels["worker"].isin(CHOSEN), "task"])
        assert made.error.measured.blank == len(set(gold.index) - theirs) > 0
    labels, gold = frames(1, tasks=120, workers=8, labels=3, each=2)
    names = sorted(labels["worker"].unique())[:3]
    made = wb.plan(labels, gold, NEW, epsilon=0.25, capacity=8, workers=names)
    theirs = set(labels.loc[labels["worker"].isin(names), "task"])
    assert made.error.errors.whole.blank == len(set(gold.index) - theirs) > 0


def test_hires_are_taken_as_a_result_a_table_and_a_file(tmp_path, monkeypatch):
    labels, gold = drawn("ny")
    hires = wb.hire(labels, gold, budget=4)
    made = wb.plan(labels, gold, NEW, capacity=6, epsilon=0.2, workers=hires)
    same(made, wb.plan(labels, gold, NEW, capacity=6, epsilon=0.2, workers=hires.chosen))
    same(made, wb.plan(labels, gold, NEW, capacity=6, epsilon=0.2, workers=hires.to_frame()))
    assert set(made.to_frame()["worker"]) <= set(hires.chosen)
    monkeypatch.chdir(tmp_path)
    labels.to_csv("labels.csv", index=False)
    gold.rename_axis("task").reset_index().to_csv("gold.csv", index=False)
    pd.DataFrame({"task": NEW}).to_csv("tasks.csv", index=False)
    hires.to_frame().to_csv("chosen.csv", index=False)
    files = ["--labels", "labels.csv", "--gold", "gold.csv", "--tasks", "tasks.csv"]
    asked = ["--workers", "chosen.csv", "--capacity", "6", "--epsilon", "0.2", "--json"]
    ran = CliRunner().invoke(main, ["plan", *files, *asked])
    assert ran.exit_code == 0, ran.output
    assert json.loads(ran.stdout)["plan"] == made.to_dict()["plan"]


def test_skills_and_label_by_label():
    skills = {f"w{j}": 0.9 - j / 50 for j in range(8)}
    made = wb.plan(tasks=NEW, skills=skills, capacity=6, epsilon=0.1, workers=CHOSEN)
    zeros = dict.fromkeys(skills, 0) | dict.fromkeys(CHOSEN, 6)
    same(made, wb.plan(tasks=NEW, skills=skills, capacity=zeros, epsilon=0.1))
    one = wb.PlanOptions(sequential=True)
    terms = {"tasks": NEW, "epsilon": 0.1, "options": one}
    asked = wb.plan(skills=skills, capacity=6, workers=CHOSEN, **terms)
    known = wb.plan(skills={name: skills[name] for name in CHOSEN}, capacity=6, **terms)
    pd.testing.assert_frame_equal(asked.to_frame(), known.to_frame())


def test_whoever_has_no_label_is_named_and_gets_no_task():
    labels, gold = drawn("ny")
    made = wb.plan(labels, gold, NEW, capacity=6, epsilon=0.2, workers=[*CHOSEN, "new"])
    assert made.without_history == ("new",)
    assert "of 5 workers (1 gets none: nobody knows their skill)" in made.verdict()[0]


@pytest.mark.parametrize(
    ("workers", "capacity", "said"),
    [
        (4, 5, "workers is 4: beside labels or skills, name them"),
        (CHOSEN, None, "give `capacity`"),
        (CHOSEN, {"w1": 2}, "'w2' has none"),
        (pd.DataFrame({"worker": CHOSEN, "capacity": 3}), 5, "give it in one place"),
        (pd.DataFrame({"worker": CHOSEN, "share": 1}), 5, "shares of the work"),
        ([], 5, "an empty list"),
    ],
)
def test_what_cannot_be_read_is_one_line(workers, capacity, said):
    labels, gold = drawn("ny")
    with pytest.raises(InputError, match=said):
        wb.plan(labels, gold, NEW, capacity=capacity, epsilon=0.2, workers=workers)


def test_an_error_without_skills_says_what_is_missing():
    with pytest.raises(InputError, match=r"`epsilon` is not for labels shared evenly .* `skills`"):
        wb.plan(tasks=NEW, workers=CHOSEN, epsilon=0.1)
