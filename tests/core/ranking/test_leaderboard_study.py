"""The leaderboard: what methods meet, what they are charged, and how they are ranked."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from tests.core.studies.study_runs import one_record, smoke, streams_of
from workbench.aggregation.voting import majority
from workbench.ranking import leaderboard, methods
from workbench.ranking.methods import EXAM, board, board_of
from workbench.ranking.recorded_crowds import simulated
from workbench.studies.study import TrialEnded


@pytest.mark.parametrize("tasks", [None, 20])
def test_controls_are_hidden_and_labels_are_nested(tasks):
    crowd = simulated("simulated sparse", seed=1)
    held = np.arange(len(crowd.truth)) % 4 > 0
    crowd = type(crowd)(crowd.votes, np.where(held, crowd.truth, -1))
    at = board(crowd, tasks, seed=5)
    place = {task: row for row, task in enumerate(crowd.votes.tasks)}
    rows = np.array([place[task] for task in at.votes.tasks])
    assert (at.truth == crowd.truth[rows]).all()
    assert len(rows) == (tasks or 200 - 75)
    # Each open task has all its labels, of whom gave them; workers are judged on other tasks alone.
    whole = crowd.votes.table().set_index(["task", "worker"])["label"]
    own = at.votes.table().set_index(["task", "worker"])["label"]
    assert own.sort_index().equals(
        whole[whole.index.get_level_values(0).isin(at.votes.tasks)].sort_index()
    )
    gold = dict(zip(crowd.votes.tasks, crowd.truth, strict=True))
    for worker, answered, correct in zip(
        at.votes.workers, at.scores.answered, at.scores.correct, strict=True
    ):
        mine = [
            (t, label) for (t, w), label in whole.items() if w == worker and t not in at.votes.tasks
        ]
        if tasks is None:
            assert answered == min(EXAM, len(mine))
            assert correct <= sum(gold[t] == label for t, label in mine)
    for most in (1, 3):
        assert set(np.bincount(at.first(most).task)) == {most}
    few, more = ({*map(tuple, at.first(b).table().to_numpy())} for b in (2, 5))
    assert few < more


@pytest.mark.release
def test_methods_of_all_kinds_have_the_same_money_and_the_same_tasks():
    table = smoke("leaderboard")
    ok = table[table["status"] == "ok"]
    assert ok.groupby("repetition")[["open_tasks", "scored", "exam"]].nunique().eq(1).all(axis=None)
    for level in methods.LEVELS:
        most = ok.loc[ok["method"] == "aggregator/majority", f"labels_{level}"].iloc[0]
        assert (ok[f"labels_{level}"].dropna() <= most + 1e-12).all()
    at = board_of("simulated", 30, 0, streams_of("leaderboard", tasks=30).instance_words)
    label = majority(at.first(3), seed=0)
    wrong = 1 - label.chance_right(at.truth)
    record = one_record("leaderboard", tasks=30)
    assert record["error_3"] == pytest.approx(wrong.mean())
    classes = [wrong[at.truth == k].mean() for k in (0, 1)]
    assert record["balanced_3"] == pytest.approx(np.mean(classes))
    with pytest.raises(TrialEnded, match="policy of visits"):
        one_record("leaderboard", tasks=30, method="policy/algorithm-2")


def trials():
    """Two crowds, two repetitions: `b` is .1 below the majority, `c` its equal, `d` refuses one."""
    rows = []
    for crowd, level in (("x", 0.3), ("y", 0.5)):
        for repetition in (0, 1):
            for name, less in (("majority", 0.0), ("b", 0.1), ("c", 0.1), ("d", 0.2)):
                lost = name == "d" and crowd == "y"
                base = level + 0.02 * repetition
                rows.append(
                    {
                        "crowd": crowd,
                        "method": f"aggregator/{name}",
                        "tasks": 9,
                        "exam": 7,
                        "exam_each": 0.0,
                        "repetition": repetition,
                        "status": "infeasible" if lost else "ok",
                        "message": "too many classes" if lost else "",
                        **{f"labels_{at}": b for at, b in (("1", 1.0), ("all", 3.0))},
                        "error_1": base - less,
                        "error_all": base - 0.2 - less,
                        "balanced_1": base,
                        "balanced_all": base,
                    }
                )
            rows.append(
                {
                    **rows[-4],
                    "method": "rule/top-skill",
                    "exam_each": 0.5,
                    "labels_1": 0.5,
                    "error_1": 0.1,
                    "labels_all": 1.5,
                    "error_all": 0.1,
                }
            )
    return pd.DataFrame(rows)


def test_of_one_crowd_no_interval_is_made_up():
    table = trials()
    table = table[(table["status"] == "ok") & (table["crowd"] == "x") & (table["repetition"] == 0)]
    found = leaderboard.curves(table)
    said = "\n".join(leaderboard.findings(leaderboard.standings(found), found))
    assert "is first, error" in said
    assert "nan" not in said


def test_ranks_and_differences_are_those_by_hand():
    table = trials()
    found = leaderboard.curves(table[table["status"] == "ok"])
    ranked = leaderboard.standings(found).set_index("method")
    own = ranked[ranked["kind"] == "aggregator"]
    assert own["place"].to_dict() == {"b": "1=", "c": "1=", "majority": "3", "d": "–"}
    assert own["less"].to_dict() == pytest.approx({"b": -0.1, "c": -0.1, "majority": 0, "d": -0.2})
    assert own["rank"].drop("d").to_dict() == {"b": 1.5, "c": 1.5, "majority": 3.0}
    assert own["se"].abs().max() < 1e-12  # both draws have the same differences
    assert own["apart"].to_dict() == {"b": False, "c": False, "majority": True, "d": False}
    # A rule of 1.5 labels a task, and half a label of exam, is held against half-way between one
    # label's error and three's.
    even = [
        0.1 - base
        for level in (0.3, 0.5)
        for r in (0, 1)
        for base in (level + 0.02 * r, level + 0.02 * r - 0.1)
    ]
    assert ranked.loc["top-skill", "even"] == pytest.approx(np.mean(even))
    (refused,) = leaderboard.refusals(table).to_dict("records")
    assert refused == {
        "kind": "aggregator",
        "methods": "d",
        "crowds": "y",
        "reason": "too many classes",
    }
    assert leaderboard.errors(found).set_index("method").loc["d"].isna().sum() == 1


def test_whole_crowds_come_before_parts_of_them():
    table = pd.concat([trials(), trials().assign(tasks=np.nan, error_1=0.9)])
    found = leaderboard.curves(table[table["status"] == "ok"])
    assert (found.loc[found["level"] == "1", "error"] == 0.9).all()


def test_reasons_that_differ_in_names_alone_are_one():
    """A learner of everybody says whom it may not ask; a policy of visits, how many classes."""
    told = [
        ("policy/a", "x", "worker '17' cannot be asked about task 0"),
        ("policy/a", "y", "worker 'ann' cannot be asked about task 3"),
        ("policy/b", "x", "not for 2 classes"),
        ("policy/b", "y", "not for 4 classes"),
        ("rule/a", "y", "not for 4 classes"),
    ]
    table = pd.DataFrame(told, columns=["method", "crowd", "message"])
    rows = leaderboard.refusals(table.assign(status="infeasible", tasks=60))
    assert rows[["methods", "crowds", "reason"]].to_numpy().tolist() == [
        ["a", "x, y", "worker '17' cannot be asked about task 0"],
        ["b", "x, y", "not for 2 classes"],
        ["a", "y", "not for 4 classes"],
    ]
