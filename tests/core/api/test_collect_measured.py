"""What `collect` says of its errors: blanks, hidden and closed tasks, and nothing without gold."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from tests.core.flat import in_objects
from tests.core.release import some
from workbench.accuracy.measured import count_errors, error_interval
from workbench.api.collecting import _steps
from workbench.api.measuring import GoldError
from workbench.collection.policy import Belief


@cache
def made(tasks=70, workers=9, skill=0.75, seed=3, yes=0.5):
    """A recorded crowd that answers everything, and the truth."""
    rng = np.random.default_rng(seed)
    true = rng.random(tasks) < yes
    said = true[:, None] ^ (rng.random((tasks, workers)) > skill)
    task, worker = np.divmod(np.arange(tasks * workers), workers)
    names = np.array(["no", "yes"])
    labels = pd.DataFrame(
        {
            "task": [f"t{i}" for i in task],
            "worker": [f"w{j}" for j in worker],
            "label": names[said.ravel().astype(int)],
        }
    )
    return labels, pd.Series(names[true.astype(int)], index=[f"t{i}" for i in range(tasks)])


@cache
def rehearsed(skill=0.75, **settings):
    labels, gold = made(skill=skill)
    known = wb.KnownTasks(hidden_tasks=settings.pop("hidden", 0))
    gold = gold[: settings.pop("given", 70)]
    return wb.collect(labels, gold if len(gold) else None, known=known, **in_objects(settings))


def standing_at(found, settings, **known):
    """The same rehearsal, had it ended so; what to do next follows."""
    now = replace(found.standing, **known)
    now = replace(now, steps=tuple(_steps(now, settings)))
    return replace(found, standing=now, settings=settings)


def by_hand(found, gold):
    """Share of the gold on which an answer is wrong or missing."""
    said = found.answers.set_index("task")["label"].reindex(gold.index)
    return float(np.mean(said.isna().to_numpy() | (said.to_numpy() != gold.to_numpy())))


@pytest.mark.release
def test_a_task_without_an_answer_is_wrong_for_it_and_for_what_stands_beside_it():
    labels, gold = made(yes=0.1)
    found = wb.collect(labels, gold, total=7)
    told, screen = found.to_dict(), found.summary()
    assert told["error_measured"] == by_hand(found, gold) >= 0.9
    assert (told["blank"], found.unanswered, told["tasks_measured"]) == (63, 63, 70)
    assert "63 of 70 tasks have no answer.\n" in screen
    assert "wrong or missing on" in screen
    assert told["error_majority"] >= 0.9
    assert "majority" not in screen  # of a tenth of a label a task
    enough = wb.collect(labels, gold, total=140)
    assert "A majority of evenly drawn labels for the same money is wrong on" in enough.summary()


@pytest.mark.slow
def test_the_gold_that_neither_taught_nor_stopped_it_measures_for_any_number_of_tasks():
    found = rehearsed(epsilon=0.1, hidden=20)
    error = found.measured.measured
    assert (error.tasks_measured, error.tasks_left) == (50, None)
    assert found.error_interval == error_interval(error.wrong, 50, None)
    assert f"{error.wrong:.4g} wrong of 50 gold tasks" in found.summary()
    assert "the 20 tasks that decide when to stop are not counted" in found.summary()
    half = rehearsed(epsilon=0.1, hidden=20, given=40).measured.measured
    assert (half.tasks_measured, half.tasks_left) == (20, 30)


@pytest.mark.parametrize("wrong", some([0, 2, 12], 2))
@pytest.mark.parametrize("hidden", [0, 20])
@pytest.mark.parametrize("mean", [False, True])
def test_epsilon_is_held_to_the_closed_tasks_and_advice_is_given_where_it_can_help(
    wrong, hidden, mean
):
    found = rehearsed(epsilon=0.1)
    loss = np.arange(40) < wrong
    judged = GoldError(count_errors(loss.astype(float), np.arange(40)), None, np.nan, "")
    all_right = replace(judged, measured=count_errors(np.zeros(200), np.arange(200)))
    asked = {**found.settings, "hidden_tasks": hidden, "mean": mean}
    known = (judged, all_right) if mean else (all_right, judged)
    held = dict(zip(("measured", "measured_closed"), known, strict=True))
    found = standing_at(found, asked, mean=mean, **held)
    screen, (low, high) = found.summary(), judged.measured.error_interval
    assert ("gold tasks are too few to tell" in screen) == (low <= 0.1 < high)
    assert ("The gold speaks against the goal" in screen) == (low > 0.1)
    assert ("--hidden-tasks 40" in screen) == (low > 0.1 and not hidden)
    told = any(f"of the closed tasks {so} wrong" in screen for so in ("are", "seem to be"))
    assert told == (high > 0.1 and not mean)


@pytest.mark.parametrize(
    ("cost", "total", "said"),
    [
        ([], 50.0, ""),
        ([2.0, 3.0], 50.0, "expected to close the open tasks (--total {})"),
        ([2.0, np.inf], 50.0, "expected to close 1 of the open tasks (--total {})"),
        ([2.0], None, "ask other workers about the tasks that are open"),
        ([np.inf], 50.0, "ask other workers about the tasks that are open"),
    ],
)
def test_what_closes_the_open_tasks_is_the_next_step(cost, total, said):
    found = rehearsed(epsilon=0.1)
    right = replace(found.measured, measured=count_errors(np.zeros(200), np.arange(200)))
    left = pd.DataFrame({"task": np.arange(len(cost)), "cost": cost})
    known = {"measured_closed": right, "left_open": left, "total": total}
    found = standing_at(found, {**found.settings, "total": total}, **known)
    more = found.cost + sum(price for price in cost if np.isfinite(price))
    nexts = [line for line in found.verdict() if "Next: " in line]
    assert len(nexts) == bool(said)
    assert all(said.format(f"{more:.5g}") in line for line in nexts)
    assert all("--audit PRICE" in line for line in nexts)
    found = standing_at(found, {**found.settings, "epsilon": None}, epsilon=None)
    assert not any("Next: " in line for line in found.verdict())


def test_closed_and_open_tasks_are_parts_of_all():
    found = rehearsed(epsilon=0.1)
    whole, shut, rest = (
        part.measured for part in (found.measured, found.measured_closed, found.measured_open)
    )
    assert shut.wrong + rest.wrong == pytest.approx(whole.wrong)
    assert shut.tasks_measured + rest.tasks_measured == whole.tasks_measured
    assert f"Of the {found.closed} closed tasks " in found.summary()
    assert f" of {shut.tasks_measured} gold tasks)" in found.summary()
    gold = made()[1]
    closed = found.answers.loc[found.answers["closed"], "task"]
    assert shut.error_measured == pytest.approx(by_hand(found, gold[closed]))


@pytest.mark.parametrize("settings", [{"total": 7}, {"epsilon": 0.1, "hidden": 20, "given": 40}])
def test_screen_picture_and_dictionary_tell_the_same_error(settings):
    found = rehearsed(**settings)
    told = found.to_dict()
    assert told["error_measured"] == found.error == found.curve["error"].iloc[-1]
    assert told["curve"][-1]["error"] == told["error"] == told["error_measured"]
    assert f"{100 * told['error_measured']:.2g} % of tasks, measured" in found.summary()
    left = found.plot().axes[0]
    (bar,) = left.containers
    (ends,) = bar[2][0].get_segments()
    assert ends[:, 1] == pytest.approx(told["error_interval"])
    drawn = {line.get_label(): line for line in left.get_lines()}
    said = f"measured: {found.standing.drawn()['measured']}"
    assert drawn[said].get_ydata()[-1] == told["error_measured"]
    assert f"{100 * told['error_measured']:.2g} % (" in said
    assert "believed, by the policy's own model" not in drawn  # of a recorded crowd no guide


def test_without_gold_no_figure_of_the_model_stands_on_the_screen():
    found = rehearsed(epsilon=0.1, given=0)
    screen = found.summary()
    assert re.search(r"Believed: [\d.]+ to [\d.]+ % of the answers are wrong, as many", screen)
    assert f"{100 * found.believed_error:.2g} %" not in screen.split("Believed")[0]
    assert "hide forty of them" in screen
    assert "by the policy's own model" in found.details()
    assert found.to_dict()["error_measured"] is None
    assert found.to_dict()["believed_error"] == found.believed_error


def test_without_overlap_it_cannot_be_known():
    found = rehearsed(total=35, given=0, policy="fixed")
    assert "cannot be known: no task has two labels" in found.summary()
    assert "%" not in found.summary().split("Next:")[0]


@pytest.mark.parametrize("own", [False, True])
def test_what_is_counted_is_what_is_answered(own):
    """Of answers by likeliest class and of a policy's own, with blanks, ties as chance has them."""
    rng = np.random.default_rng(2)
    posterior = rng.choice([0.2, 0.5, 0.8], 200)[:, None]
    posterior = np.hstack([posterior, 1.0 - posterior])
    counts, truth = rng.integers(0, 3, 200), rng.integers(-1, 2, 200)
    label = np.where(counts > 0, rng.integers(0, 2, 200), -1) if own else None
    belief = Belief(posterior, np.zeros(200, dtype=bool), label)
    loss, known = belief.loss(truth, counts), np.flatnonzero(truth >= 0)
    draws = []
    for seed in range(60):
        table = belief.table(counts, list(range(200)), [0, 1], seed)
        said = pd.to_numeric(table["label"]).to_numpy()[known]
        assert (np.isnan(said) == np.isnan(loss)).all()
        draws.append(said != truth[known])
    answered = ~np.isnan(loss)
    assert np.mean(draws, axis=0)[answered] == pytest.approx(loss[answered], abs=0.3)
    assert np.mean(np.mean(draws, axis=0)[answered] - loss[answered]) == pytest.approx(0, abs=0.02)
