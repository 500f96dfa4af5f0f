"""Aggregation as a rule that is fitted on gold, so that its error can be measured.

The weights come from the control tasks that the rule is given, as in `label_tasks`, and models
learn from them; those whose gold is hidden are labelled like all others. A method that uses no gold
is the same rule whatever the gold. (Models keep control tasks at their class, so that each of them
counts as unstable where it would be labelled otherwise, and intervals are wide rather than narrow.)
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from workbench.aggregation import AGGREGATORS
from workbench.aggregation.posteriors import Earlier
from workbench.aggregation.voting import Aggregate, Tally, log_odds_weights
from workbench.base.arrays import FloatArray, IntArray
from workbench.base.seeds import Seed
from workbench.crowd.empirical_bayes import pooled_skills
from workbench.crowd.gold_rule import FittedRule, GoldRule, RuleLabels, VotesByTask, class_sums
from workbench.crowd.votes import Votes


def vote_rule(
    votes: Votes,
    method: str,
    options: Mapping[str, Any] | None = None,
    *,
    gold: IntArray | None = None,
    seed: Seed = 0,
) -> GoldRule:
    """Make a rule of an aggregator of `AGGREGATORS`.

    Parameters
    ----------
    votes
        Labels of n tasks.
    method, options
        The aggregator's name, and what it is given beside votes, skills and seed.
    gold
        Class of tasks, shape (n,), that the rule knows whatever else it is fitted on; −1 or None
        for none.
    seed
        Of draws within the method; labels that tie are not drawn, they count their chances.

    Returns
    -------
    A `GoldRule`. Workers without a control answer weigh nothing, as in `label_tasks`.
    """
    entry, by_task = AGGREGATORS[method].call, VotesByTask(votes)
    takes = inspect.signature(entry).parameters
    by_skill, by_model = "skill" in takes, "earlier" in takes
    settings = dict(options or {})
    always = np.full(len(votes.tasks), -1) if gold is None else gold

    def fit(gold: IntArray) -> FittedRule:
        gold = np.where(always >= 0, always, gold)
        if by_skill:
            return _SkillVote(entry, by_task, gold, settings, seed)
        return _model(gold) if by_model else whole(gold)

    def _model(gold: IntArray) -> FittedRule:
        aggregate = entry(by_task.votes, seed=seed, earlier=Earlier(gold, None), **settings)
        return _WholeVote(aggregate, by_task, gold)

    if not by_skill and not by_model:  # the same whatever the gold
        aggregate = entry(by_task.votes, seed=seed, **settings)
        whole = fixed_rule(aggregate, by_task.votes, always)
    return fit


def fixed_rule(aggregate: Aggregate, votes: Votes, gold: IntArray) -> GoldRule:
    """Make a rule of labels that are there, whatever further gold becomes known.

    Parameters
    ----------
    aggregate, votes
        The labels of n tasks, and the votes they came from.
    gold
        Class of the tasks whose gold they may rest on, −1 for the others, shape (n,).
    """
    by_task = VotesByTask(votes)
    whole = _WholeVote(aggregate, by_task, gold)

    def fit(controls: IntArray) -> FittedRule:
        return replace(whole, gold=np.where(gold >= 0, gold, controls))

    return fit


def independent_errors(
    by_task: VotesByTask, tasks: IntArray, chance: FloatArray, gold: IntArray
) -> FloatArray:
    """Chance that labels are wrong if workers err independently and evenly, shape (k,).

    By Bayes' rule, classes equally likely, from all votes on the tasks; skills from the gold
    (`pooled_skills`).

    Parameters
    ----------
    tasks
        Indices, shape (k,).
    chance
        Of each class, as labelled, shape (k, L).
    gold
        Class of each task, −1 where it is not known, shape (n,).
    """
    votes = by_task.votes
    skill = pooled_skills(*by_task.answers(gold))
    rows, place = by_task.rows(tasks)
    return wrong_chance(votes.label[rows], skill[votes.worker[rows]], place, chance)


def wrong_chance(
    label: IntArray, skill: FloatArray, place: IntArray, chance: FloatArray
) -> FloatArray:
    """Chance that labels drawn by `chance` are wrong, given votes of known skill, shape (k,).

    Parameters
    ----------
    label, skill, place
        Class, skill and task (0 … k − 1) of each vote; skills above 0 and below 1.
    chance
        Of each class, as drawn, shape (k, L); NaN where there is no label.
    """
    weight = log_odds_weights(skill, max(chance.shape[1], 2), truncate=1e-9)
    lead = class_sums(place, label, weight, (chance.shape[0], chance.shape[1]))
    likely = np.exp(lead - lead.max(axis=1, keepdims=True))
    likely /= likely.sum(axis=1, keepdims=True)
    wrong: FloatArray = 1.0 - (chance * likely).sum(axis=1)
    return wrong


@dataclass(frozen=True, eq=False)
class _SkillVote(FittedRule):
    """A vote weighted by the shares of right control answers."""

    entry: Any
    by_task: VotesByTask
    gold: IntArray
    options: dict[str, Any]
    seed: Seed

    @cached_property
    def skill(self) -> FloatArray:
        correct, answered = self.by_task.answers(self.gold)
        return np.where(answered > 0, correct / np.maximum(answered, 1), np.nan)

    def label(self, tasks: IntArray) -> RuleLabels:
        votes = _of_tasks(self.by_task, tasks)
        aggregate = self.entry(votes, skill=self.skill, seed=self.seed, **self.options)
        return RuleLabels(_chances(aggregate, len(votes.classes)))

    def independent_error(self, tasks: IntArray) -> FloatArray:
        chance = self.label(tasks).chance
        return independent_errors(self.by_task, tasks, chance, self.gold)


@dataclass(frozen=True, eq=False)
class _WholeVote(FittedRule):
    """Labels of all tasks by a method that looks at no gold."""

    aggregate: Aggregate
    by_task: VotesByTask
    gold: IntArray
    chance: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        classes = len(self.by_task.votes.classes)
        object.__setattr__(self, "chance", _chances(self.aggregate, classes))

    def label(self, tasks: IntArray) -> RuleLabels:
        return RuleLabels(self.chance[tasks])

    def independent_error(self, tasks: IntArray) -> FloatArray:
        posterior = self.aggregate.info.get("posterior")
        if posterior is not None:  # the method's own word
            wrong: FloatArray = 1.0 - (self.chance * posterior).sum(axis=1)[tasks]
            return wrong
        return independent_errors(self.by_task, tasks, self.chance[tasks], self.gold)


def _chances(aggregate: Aggregate, classes: int) -> FloatArray:
    """Chance of each class over the fair draws, shape (n, L); NaN where nobody voted."""
    n = len(aggregate.label)
    if isinstance(aggregate.winners, Tally):
        counted = aggregate.winners
        winning = np.repeat(counted.others[:, None] > 0, classes, axis=1)
        winning[counted.task, counted.label] = counted.winning
    elif aggregate.winners is not None:
        winning = aggregate.winners
    else:
        winning = np.arange(classes) == aggregate.label[:, None]
    chance: FloatArray = winning / np.maximum(winning.sum(axis=1), 1)[:, None]
    chance = chance.reshape(n, classes).astype(np.float64)
    chance[aggregate.unlabelled] = np.nan
    return chance


def _of_tasks(by_task: VotesByTask, tasks: IntArray) -> Votes:
    """The votes of some tasks, renumbered in their order."""
    votes = by_task.votes
    rows, place = by_task.rows(tasks)
    return Votes(
        place,
        votes.worker[rows],
        votes.label[rows],
        votes.tasks[tasks],
        votes.workers,
        votes.classes,
    )
