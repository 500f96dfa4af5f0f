"""Hiring as a rule that is fitted on gold, so that the error of its vote can be measured.

Fitted anew without a part of the control tasks, it scores and chooses workers anew: a measure that
kept the choice would judge workers by the tasks for which they were chosen. So is the choice
between one skill a worker and rows of confusion matrices. The chosen vote as the rule has it
(`HiredVote`), those of them who answered the task.

Source of rule and vote: Li, Liu (2015), Section 3.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from workbench.accuracy.independence import ErrorCorrelation, error_correlation
from workbench.accuracy.likeliest import posteriors
from workbench.accuracy.measured import (
    MOST_FOLDS,
    MajorityError,
    MeasuredError,
    majority_error,
    measure_error,
)
from workbench.aggregation.vote_rules import wrong_chance
from workbench.base.arrays import FloatArray, IntArray
from workbench.crowd.empirical_bayes import pooled_skills
from workbench.crowd.gold_rule import (
    FittedRule,
    GoldRule,
    RuleLabels,
    VotesByTask,
    some_votes,
)
from workbench.crowd.votes import Votes
from workbench.selection.hire import HireOptions, Hiring, choose, worker_prices
from workbench.selection.hired_vote import HiredVote
from workbench.selection.learned import ControlAnswers
from workbench.selection.rows import LabelsSeen, labels_seen

Choose: TypeAlias = Callable[[ControlAnswers], HiredVote]
"""From control answers to the chosen and their vote."""
FEWER_FOLDS = 10
"""Times that the rule is fitted anew where each fit compares two ways to choose."""
BRIEFLY = 2.0
"""Seconds that the solver may take to choose anew within the money, each time."""


def hiring(
    budget: int,
    classes: int,
    seen: LabelsSeen,
    options: HireOptions | None = None,
    prices: FloatArray | None = None,
) -> Choose:
    """Make the way to choose of `hire`: at most K workers, and their vote.

    Parameters
    ----------
    budget, classes, options
        K, L and what `hire` is asked for.
    seen
        What all labels show.
    prices
        Of a label by worker, shape (m,), where the options have money.
    """
    wishes = options or HireOptions()

    def chosen(answers: ControlAnswers) -> HiredVote:
        return choose(answers, seen, classes, budget, wishes, prices).vote

    return chosen


def measure_hiring(
    hired: Hiring, options: HireOptions
) -> tuple[MeasuredError, ErrorCorrelation, MajorityError | None]:
    """Measure how often the hired's vote and everybody's err, and how far errors are independent.

    Parameters
    ----------
    hired
        What `hire` found; somebody is hired. The interval is for the tasks without gold that one
        of the hired labelled; where there is none, for any number of tasks.
    options
        As given to `hire`. Where all the hired are to label everything, a control task that none
        of them labelled was not asked about, and does not count.
    """
    votes, codes = hired.votes, hired.truth
    prices = worker_prices(hired.known, votes.workers, options.costs)
    if options.money is not None and options.time_limit is not None:
        options = replace(options, time_limit=min(options.time_limit, BRIEFLY))
    seen = labels_seen(votes, codes)
    by = hiring(hired.budget, hired.known.classes, seen, options, prices)
    most = FEWER_FOLDS if hired.compared else MOST_FOLDS
    measured = measure_error(hire_rule(votes, by), codes, most_folds=most, seed=options.seed)
    if not options.as_answered:
        measured = measured.answered()
    rows = np.flatnonzero(np.isin(votes.workers, hired.chosen)[votes.worker])
    correlation = error_correlation(some_votes(votes, rows), codes, seed=options.seed)
    return measured, correlation, majority_error(votes, codes, measured.counted)


def hire_rule(votes: Votes, choose: Choose) -> GoldRule:
    """Make a rule of a way to choose workers.

    Parameters
    ----------
    votes
        Labels of n tasks.
    choose
        Chooses by control answers, and says how the chosen vote.

    Returns
    -------
    A `GoldRule`. A task that none of the chosen answered has no label.
    """
    by_task = VotesByTask(votes)

    def fit(gold: IntArray) -> FittedRule:
        control = np.flatnonzero(gold >= 0)
        rows, place = by_task.rows(control)
        worker, said = by_task.votes.worker[rows], by_task.votes.label[rows]
        answers = ControlAnswers.of(place, worker, gold[control][place], said, len(votes.workers))
        return _HiredVote(by_task, choose(answers), answers)

    return fit


@dataclass(frozen=True, eq=False)
class _HiredVote(FittedRule):
    """The vote of the chosen."""

    by_task: VotesByTask
    vote: HiredVote
    answers: ControlAnswers

    def label(self, tasks: IntArray) -> RuleLabels:
        votes = self.by_task.votes
        rows, place = self.by_task.rows(tasks)
        shape = (len(tasks), len(votes.classes))
        return RuleLabels(self.vote.chance(place, votes.worker[rows], votes.label[rows], shape))

    def independent_error(self, tasks: IntArray) -> FloatArray:
        votes = self.by_task.votes
        rows, place = self.by_task.rows(tasks)
        counts = np.isin(votes.worker[rows], self.vote.chosen)
        rows, place = rows[counts], place[counts]
        worker, label = votes.worker[rows], votes.label[rows]
        chance, known = self.label(tasks).chance, self.vote.rows
        if known is None:
            skill = pooled_skills(self.answers.correct, self.answers.answered)
            return wrong_chance(label, skill[worker], place, chance)
        likely = posteriors(known.confusion[worker, :, label], place, self.vote.shares, len(tasks))
        wrong: FloatArray = 1.0 - (likely * chance).sum(axis=1)
        return wrong
