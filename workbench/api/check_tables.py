"""The tables of `check`: workers, what they name where each class is true, tasks to look at again.

Both lists begin with what to look at first.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from workbench.accuracy.agreement import BesideChance, beside_gold, constant, contradicted
from workbench.accuracy.independence import Dependence
from workbench.accuracy.kappas import ByGold, by_gold
from workbench.api.objections import NAMED
from workbench.base.arrays import FloatArray, IntArray
from workbench.crowd.gold_rule import VotesByTask
from workbench.crowd.votes import Votes
from workbench.selection.hire import skill_interval

CONFIDENCE = 0.95
"""Of the intervals of skills and rates."""
TWO = ("specificity", "sensitivity")
"""What the rates of the first and the second of two classes are called."""
AHEAD = 2
"""Labels by which a class has to be ahead, so that one label more does not turn the answer."""


def worker_table(
    votes: Votes, codes: IntArray, outcome: Dependence, others: BesideChance, guess: float | None
) -> pd.DataFrame:
    """One row a worker, those to look at first before the others; `LabelCheck` tells the columns.

    First stand those of whom something is remarked, by its weight, the most labels first; then the
    others by the upper end of their skill's interval, and without gold by how seldom a random deal
    of their labels would agree as little.
    """
    correct, answered = VotesByTask(votes).answers(codes)
    low, high = skill_interval(correct, answered, CONFIDENCE)
    group = np.full(len(votes.workers), None, dtype=object)
    for number, members in enumerate(outcome.groups, 1):
        group[list(members)] = number
    gold = by_gold(votes, codes)
    table = pd.DataFrame(
        {
            "worker": votes.workers,
            "labels": np.bincount(votes.worker, minlength=len(votes.workers)),
            "agrees": others.share,
            "answered": answered,
            "correct": correct,
            "skill": np.where(answered > 0, correct / np.maximum(answered, 1), np.nan),
            "low": low,
            "high": high,
            "kappa": gold.kappa,
            **(_of_two(gold) if len(votes.classes) == 2 else {}),
            "below_chance": beside_gold(votes, codes).below,
            "below_others": others.below,
            "constant": constant(votes),
            "group": group,
        }
    )
    marks = [
        table["below_chance"],
        table["below_others"],
        table["constant"],
        table["group"].notna(),
        table["high"] < (0.0 if guess is None else guess),
    ]
    rank = np.select([mark.to_numpy(bool) for mark in marks], range(len(marks)), len(marks))
    doubt = np.where(rank < len(marks), 0.0, high)
    chance = np.where(rank < len(marks), 0.0, others.chance)
    return table.iloc[np.lexsort((-table["labels"], chance, doubt, rank))].reset_index(drop=True)


def _of_two(gold: ByGold) -> dict[str, FloatArray]:
    """Sensitivity and specificity with intervals, and the second class's share of her gold."""
    low, high = skill_interval(gold.right, gold.answered, CONFIDENCE)
    columns: dict[str, FloatArray] = {}
    for at in (1, 0):
        many = gold.answered[:, at]
        columns[TWO[at]] = _share(gold.right[:, at], many)
        columns[f"{TWO[at]}_low"] = np.where(many > 0, low[:, at], np.nan)
        columns[f"{TWO[at]}_high"] = np.where(many > 0, high[:, at], np.nan)
    return {**columns, "prevalence": _share(gold.answered[:, 1], gold.answered.sum(axis=1))}


def rate_table(votes: Votes, codes: IntArray, workers: pd.Series[Any]) -> pd.DataFrame:
    """Each worker's right answers by true class, with an exact interval, in the order of `workers`.

    Returns
    -------
    Columns `worker, class, gold_answers, right, rate, low, high`, a row where there is gold.
    """
    gold = by_gold(votes, codes)
    place = pd.Index(votes.workers).get_indexer(pd.Index(workers))
    order, label = np.nonzero(gold.answered[place])
    worker = place[order]
    answered, right = gold.answered[worker, label], gold.right[worker, label]
    low, high = skill_interval(right, answered, CONFIDENCE)
    return pd.DataFrame(
        {
            "worker": votes.workers[worker],
            "class": votes.classes[label],
            "gold_answers": answered,
            "right": right,
            "rate": _share(right, answered),
            "low": low,
            "high": high,
        }
    )


def relabel_table(votes: Votes, codes: IntArray) -> pd.DataFrame:
    """Tasks to look at again, least sure first.

    Of tasks without gold those that a label more could turn, as no class is `AHEAD` labels ahead of
    the next; of tasks with gold those of which another class has more labels.

    Returns
    -------
    Columns `task, labels, answers` (each class and its labels), `gold` (None where it is not
    known), `ahead` (labels of the first class, or of the gold, beyond those of the next) and `why`.
    """
    n, L = len(votes.tasks), max(len(votes.classes), 1)
    cell, count = np.unique(votes.task * L + votes.label, return_counts=True)
    order = np.lexsort((cell % L, -count, cell // L))
    cell, count = cell[order], count[order]
    task, label = cell // L, cell % L
    kinds = np.bincount(task, minlength=n)
    start = np.cumsum(kinds) - kinds
    labelled = np.flatnonzero(kinds)
    first, next_ = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    first[labelled] = count[start[labelled]]
    several = np.flatnonzero(kinds > 1)
    next_[several] = count[start[several] + 1]
    own = np.zeros(n, dtype=np.int64)
    is_gold = label == codes[task]
    own[task[is_gold]] = count[is_gold]
    leading = np.zeros(n, dtype=np.int64)
    leading[labelled] = label[start[labelled]]
    known = codes >= 0
    ahead = np.where(known, own - np.where(leading == codes, next_, first), first - next_)
    size = np.bincount(votes.task, minlength=n)
    again = np.flatnonzero((size > 0) & (ahead < np.where(known, 0, AHEAD)))
    agree = first[again] / size[again]
    again = again[np.lexsort((-size[again], agree, ahead[again]))]
    names = [str(name) for name in votes.classes]
    parts = zip(start[again].tolist(), kinds[again].tolist(), strict=True)
    answers = [
        ", ".join(f"{names[label[at]]}: {count[at]}" for at in range(begin, begin + many))
        for begin, many in parts
    ]
    why = np.select(
        [known[again], ahead[again] == 0, size[again] == 1],
        ["labels against the gold", "tie", "one label"],
        "one label ahead",
    )
    gold = pd.Series(np.append(votes.classes, [None])[codes[again]], dtype=object)
    return pd.DataFrame(
        {
            "task": votes.tasks[again],
            "labels": size[again],
            "answers": answers,
            "gold": gold,
            "ahead": ahead[again],
            "why": why,
        }
    )


def opposed(votes: Votes, others: BesideChance) -> list[tuple[int, int, int]]:
    """Pairs who contradict each other, among the first of those who agree less than by chance."""
    pairs: dict[tuple[int, int], int] = {}
    for worker in np.flatnonzero(others.below)[:NAMED].tolist():
        found = contradicted(votes, worker)
        if found is not None:
            pairs.setdefault((min(worker, found[0]), max(worker, found[0])), found[1])
    return [(*pair, tasks) for pair, tasks in pairs.items()]


def leading_shares(votes: Votes) -> FloatArray:
    """Share of the labels that are of its commonest class, of each task of two or more."""
    L = max(len(votes.classes), 1)
    size = np.bincount(votes.task, minlength=len(votes.tasks))
    cell, count = np.unique(votes.task * L + votes.label, return_counts=True)
    most = np.zeros(len(votes.tasks), dtype=np.int64)
    np.maximum.at(most, cell // L, count)
    share: FloatArray = most[size > 1] / size[size > 1]
    return share


def wrong_shares(votes: Votes, codes: IntArray) -> FloatArray:
    """Share of wrong answers on each gold task with a label, shape (k,)."""
    judged = codes[votes.task] >= 0
    task = votes.task[judged]
    labels = np.bincount(task, minlength=len(votes.tasks))
    erred = np.bincount(task[votes.label[judged] != codes[task]], minlength=len(votes.tasks))
    share: FloatArray = (erred / np.maximum(labels, 1))[labels > 0]
    return share


def _share(part: IntArray, whole: IntArray) -> FloatArray:
    """Shares, NaN of nothing."""
    share: FloatArray = np.where(whole > 0, part / np.maximum(whole, 1), np.nan)
    return share
