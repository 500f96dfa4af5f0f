"""Hiring as a rule that is fitted on gold, so that the error of its vote can be measured.

Fitted anew without a part of the control tasks, it scores and chooses workers anew: a measure that
kept the choice would judge workers by the tasks for which they were chosen. The chosen vote with
the weights that the rule takes (`Scores.vote_weight`), those of them who answered the task.

Source of rule and vote: Li, Liu (2015), Section 3.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from workbench.accuracy.independence import ErrorCorrelation, error_correlation
from workbench.accuracy.measured import (
    MajorityError,
    MeasuredError,
    majority_error,
    measure_error,
)
from workbench.aggregation.vote_rule import wrong_chance
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.crowd.empirical_bayes import pooled_skills
from workbench.crowd.gold_rule import (
    FittedRule,
    GoldRule,
    RuleLabels,
    VotesByTask,
    chances,
    gold_codes,
    some_votes,
)
from workbench.crowd.votes import Votes
from workbench.selection.covering import who_answers
from workbench.selection.hire import (
    HireOptions,
    Hiring,
    chosen_by,
    eligible_to_hire,
    score_by,
    worker_prices,
)
from workbench.selection.learned import ControlAnswers

Choose: TypeAlias = Callable[[ControlAnswers], tuple[IntArray, FloatArray]]
"""From control answers to the indices of the chosen (k,), and their weights."""
BRIEFLY = 2.0
"""Seconds that the solver may take to choose anew within the money, each time."""


def hiring(
    budget: int,
    classes: int,
    options: HireOptions | None = None,
    prices: FloatArray | None = None,
    who: BoolArray | None = None,
) -> Choose:
    """Make the way to choose of `hire`: at most K workers, and the weights of their votes.

    Parameters
    ----------
    budget, classes, options
        K, L and what `hire` is asked for.
    prices
        Of a label by worker, shape (m,), where the options have money.
    who
        Who labels which task, shape (n, m), where that is to be seen.
    """
    wishes = options or HireOptions()

    def choose(answers: ControlAnswers) -> tuple[IntArray, FloatArray]:
        pool = eligible_to_hire(score_by(answers, classes, wishes), wishes)
        chosen = chosen_by(pool, prices, budget, wishes, who)[0].chosen
        return chosen, pool.vote_weight[chosen]

    return choose


def measure_hiring(
    labels: pd.DataFrame, gold: pd.Series[Any], hired: Hiring, options: HireOptions
) -> tuple[MeasuredError, ErrorCorrelation, MajorityError | None]:
    """Measure how often the hired's vote and everybody's err, and how far errors are independent.

    Parameters
    ----------
    labels, gold, options
        As given to `hire`. The interval is for the tasks without gold that one of the hired
        labelled; where there is none, for any number of tasks.
    hired
        What `hire` found; somebody is hired.
    """
    workers = labels["worker"].unique()
    votes = Votes.of(labels, workers=workers, classes=hired.class_names)
    codes = gold_codes(votes, gold)
    prices = worker_prices(hired.known, workers, options.costs)
    if options.money is not None and options.time_limit is not None:
        options = replace(options, time_limit=min(options.time_limit, BRIEFLY))
    who = who_answers(labels, gold, workers)
    choose = hiring(hired.budget, hired.known.classes, options, prices, who)
    measured = measure_error(hire_rule(votes, choose), codes, seed=options.seed)
    rows = np.flatnonzero(np.isin(workers, hired.chosen)[votes.worker])
    correlation = error_correlation(some_votes(votes, rows), codes, seed=options.seed)
    return measured, correlation, majority_error(votes, codes, measured.counted)


def hire_rule(votes: Votes, choose: Choose) -> GoldRule:
    """Make a rule of a way to choose workers.

    Parameters
    ----------
    votes
        Labels of n tasks.
    choose
        Chooses by control answers, and weighs the chosen.

    Returns
    -------
    A `GoldRule`. A task that none of the chosen answered has no label.
    """
    by_task = VotesByTask(votes)

    def fit(gold: IntArray) -> FittedRule:
        control = np.flatnonzero(gold >= 0)
        rows, place = by_task.rows(control)
        worker = by_task.votes.worker[rows]
        right = by_task.votes.label[rows] == gold[control][place]
        answers = ControlAnswers(place, worker, right, len(votes.workers))
        chosen, weight = choose(answers)
        weights = np.zeros(len(votes.workers))
        weights[chosen] = weight
        member = np.zeros(len(votes.workers), dtype=np.bool_)
        member[chosen] = True
        return _HiredVote(by_task, np.where(member, weights, np.nan), answers)

    return fit


@dataclass(frozen=True, eq=False)
class _HiredVote(FittedRule):
    """A vote of the chosen: weight by worker, NaN for the others."""

    by_task: VotesByTask
    weight: FloatArray
    answers: ControlAnswers

    def label(self, tasks: IntArray) -> RuleLabels:
        rows, place = self._rows(tasks)
        votes = self.by_task.votes
        shape = (len(tasks), len(votes.classes))
        return RuleLabels(chances(place, votes.label[rows], self.weight[votes.worker[rows]], shape))

    def independent_error(self, tasks: IntArray) -> FloatArray:
        rows, place = self._rows(tasks)
        votes = self.by_task.votes
        skill = pooled_skills(self.answers.correct, self.answers.answered)
        chance = self.label(tasks).chance
        return wrong_chance(votes.label[rows], skill[votes.worker[rows]], place, chance)

    def _rows(self, tasks: IntArray) -> tuple[IntArray, IntArray]:
        rows, place = self.by_task.rows(tasks)
        counts = ~np.isnan(self.weight[self.by_task.votes.worker[rows]])
        return rows[counts], place[counts]
