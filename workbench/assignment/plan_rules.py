"""A plan as a rule that is fitted on gold, so that the error of its vote can be measured.

A plan names workers for tasks that nobody has labelled yet. It can hardly be replayed on control
tasks, since the workers it names seldom answered them. The rule behind it can be replayed:

- skills come from control answers; who names one class throughout tells nothing;
- the relaxed program prices each worker's time (the dual of her capacity);
- a task takes labels from the workers who answered it, those first whose price, label and time
  together, is lowest per unit of gain: of a plan that promises exact errors until its vote errs as
  seldom as that of one of the plan's tasks, drawn by lot; of one that promises a bound, until the
  requirement of the cover is met.

To measure the error, the rule is fitted anew without a part of the control tasks, and then both
skills and prices are estimated anew. Were the prices kept, the answers to a task would already have
made its workers expensive or cheap.

Source of program and dual: Ho, Jabbari, Vaughan (2013), (1)–(3) and Section 4.3.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from crowd_models import TypedProblem
from crowd_models.gains import Gain, gain_of
from workbench.accuracy.error_rate import vote_error
from workbench.aggregation.vote_rules import wrong_chance
from workbench.aggregation.voting import promised_weights
from workbench.base import checks
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.base.seeds import Seed, stream
from workbench.crowd.confusion import constant_in
from workbench.crowd.empirical_bayes import fitted_skills
from workbench.crowd.gold_rule import (
    FittedRule,
    GoldRule,
    RuleLabels,
    VotesByTask,
    chances,
)
from workbench.crowd.skills import estimate_skills
from workbench.crowd.votes import Votes
from workbench.solving import solve

SHORT = 100.0
"""Price of a missing unit of requirement, as a multiple of the costliest label (at least 1)."""
MOST_STATES = 2**10
"""Sums of weights that are listed for an error."""
MET = 1e-9
"""Share of a requirement that may be missing, by rounding, while it still counts as met."""


@dataclass(frozen=True, eq=False)
class PlanTerms:
    """All of the program that a plan solves, except the skills.

    Attributes
    ----------
    level
        Error that the cover of each task type promises, shape (T,): sets the prices of time.
    capacity
        M of each worker, shape (m,).
    tasks
        How many tasks of each type are to be planned, shape (T,).
    task_type
        Type of each recorded task, shape (n,); None where there is one type.
    price
        What a label costs, by type and worker, shape (T, m); None where each costs 1.
    gain
        How labels add up to the requirement: a name of `crowd_models.gains`.
    least, most
        Labels that each task may have; None for no limit.
    errors
        Of the votes of the plan's tasks, by type; None where covers are what is promised.
    """

    level: FloatArray
    capacity: IntArray
    tasks: IntArray
    task_type: IntArray | None = None
    price: FloatArray | None = None
    gain: str = "bhattacharyya"
    least: int | None = None
    most: int | None = None
    errors: tuple[FloatArray, ...] | None = None

    def kinds(self, recorded: int) -> IntArray:
        """Type of each recorded task, shape (n,)."""
        single = np.zeros(recorded, dtype=np.int64)
        kinds = single if self.task_type is None else self.task_type
        checks.indices("task_type", kinds, len(self.tasks))
        return kinds


def plan_rule(votes: Votes, terms: PlanTerms, *, seed: Seed = 0) -> GoldRule:
    """Make a rule of an assignment program, for labels of two classes.

    Parameters
    ----------
    votes
        Recorded labels of n tasks by m workers.
    terms
        The program; workers without a control answer of a type get no task of it, and those of
        capacity 0 none at all.
    seed
        Orders workers whose gain is equally cheap.

    Returns
    -------
    A `GoldRule` whose labels say which tasks' votes meet the requirement.

    Raises
    ------
    InputError
        Other than two classes, shapes that do not fit, or a level outside (0, 1).
    """
    m, n, T = len(votes.workers), len(votes.tasks), len(terms.tasks)
    if len(votes.classes) != 2:
        raise InputError(
            f"votes have {len(votes.classes)} classes: this rule takes two, joint_plan_rule more"
        )
    if terms.capacity.shape != (m,):
        raise InputError(f"capacity has shape {terms.capacity.shape}: give one number a worker")
    kinds = terms.kinds(n)
    by_task = VotesByTask(votes)
    lot = stream(seed, "plan rule").random(len(votes))
    target = None
    if terms.errors is not None:
        rng = stream(seed, "plan rule, errors")
        known = [each if len(each) else np.full(1, 0.5) for each in terms.errors]
        target = np.array([rng.choice(known[kind]) for kind in kinds.tolist()])

    def fit(gold: IntArray) -> FittedRule:
        correct, answered = _by_type(by_task, gold, kinds, T)
        skill = fitted_skills(estimate_skills(correct, answered)).skill
        skill = np.where(constant_in(by_task.votes, gold), 0.5, skill)
        usable = (answered > 0) & (terms.capacity > 0)
        return _fitted(by_task, terms, kinds, skill, usable, lot, target)

    return fit


def _by_type(
    by_task: VotesByTask, gold: IntArray, kinds: IntArray, types: int
) -> tuple[IntArray, IntArray]:
    """Count each worker's right control answers, and all of them; shape (T, m) each."""
    counts = [by_task.answers(np.where(kinds == kind, gold, -1)) for kind in range(types)]
    correct, answered = zip(*counts, strict=True)
    return np.stack(correct), np.stack(answered)


def _fitted(
    by_task: VotesByTask,
    terms: PlanTerms,
    kinds: IntArray,
    skill: FloatArray,
    answered: BoolArray,
    lot: FloatArray,
    target: FloatArray | None,
) -> _PlanVote:
    gain = gain_of(terms.gain)
    need = np.asarray(gain.requirement(terms.level), dtype=np.float64)
    worth = np.where(answered, gain.quality(np.where(answered, skill, 0.5), need), 0.0)
    price = np.ones(skill.shape) if terms.price is None else terms.price
    time = worker_prices(worth, price, need, terms, answered)
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = np.where(worth > 0, (price + time) / worth, np.inf)
    limits = terms.least or 0, worth.shape[1] if terms.most is None else terms.most
    return _PlanVote(by_task, gain, kinds, need, worth, rate, skill, lot, limits, target)


def worker_prices(
    worth: FloatArray, price: FloatArray, need: FloatArray, terms: PlanTerms, usable: BoolArray
) -> FloatArray:
    """Price of each worker's time: the dual of her capacity in the relaxed program, shape (m,).

    `worth` is the gain of a label; `usable` marks where a worker has control answers of a type;
    both (T, m). Where the crowd cannot meet a requirement, the rest of it is bought at a high
    price.
    """
    crowd = TypedProblem(
        worth,
        terms.capacity,
        need,
        terms.tasks,
        np.ones(worth.shape[1], dtype=np.int64),
        None if terms.price is None else price,
        None if usable.all() else usable,
        gain=terms.gain,
    )
    solution = solve(crowd.with_shortfall(SHORT * max(float(price.max()), 1.0)), "typed")
    m = worth.shape[1]
    if solution.worker_prices is None:  # Nothing to buy, or no solution: time is free.
        return np.zeros(m)
    return solution.worker_prices[:m]  # Behind them stands the price of the shortfall.


@dataclass(frozen=True, eq=False)
class _PlanVote(FittedRule):
    """Buy each task's labels, the lowest price per unit of gain first, and let them vote.

    `need`, the requirement, is of shape (T,). `worth` (the gain of a label), `rate` (what a
    gain of 1 costs) and `skill` are of shape (T, m). `lot` orders equally cheap votes. `limits` are
    the least and the most labels of a task, `target` is the error at which it has enough, shape
    (n,); None where that is the requirement's matter.
    """

    by_task: VotesByTask
    gain: Gain
    kinds: IntArray
    need: FloatArray
    worth: FloatArray
    rate: FloatArray
    skill: FloatArray
    lot: FloatArray
    limits: tuple[int, int]
    target: FloatArray | None
    errors: dict[bytes, float] = field(default_factory=dict)
    """Of votes looked at already, by their skills: tasks share workers, and are asked for twice."""

    def label(self, tasks: IntArray) -> RuleLabels:
        rows, place, met = self._bought(tasks)
        votes, at = self.by_task.votes, self._at(rows)
        weights = promised_weights(self.gain.vote, self.skill[at])
        return RuleLabels(chances(place, votes.label[rows], weights, (len(tasks), 2)), met)

    def independent_error(self, tasks: IntArray) -> FloatArray:
        rows, place, _ = self._bought(tasks)
        chance, label = self.label(tasks).chance, self.by_task.votes.label[rows]
        return wrong_chance(label, self.skill[self._at(rows)], place, chance)

    def _at(self, rows: IntArray) -> tuple[IntArray, IntArray]:
        """Type and worker of some votes: where these are in arrays of shape (T, m)."""
        votes = self.by_task.votes
        return self.kinds[votes.task[rows]], votes.worker[rows]

    def _bought(self, tasks: IntArray) -> tuple[IntArray, IntArray, BoolArray]:
        """Rows of votes bought, the place in `tasks` of each, and which tasks have enough (k,)."""
        rows, place = self.by_task.rows(tasks)
        at = self._at(rows)
        order = np.lexsort((self.lot[rows], self.rate[at], place))
        rows, place = rows[order], place[order]
        worth = self.worth[self._at(rows)]
        first = np.searchsorted(place, np.arange(len(tasks)))
        rank, (few, many) = np.arange(len(place)) - first[place], self.limits
        if self.target is None:
            total = np.cumsum(worth)
            before = total - worth - np.append(0.0, total)[first][place]
            enough = before >= self.need[self.kinds[tasks]][place] * (1.0 - MET)
        else:
            enough = rank >= self._asked(tasks, rows, first)[place]
        kept = (~enough | (rank < few)) & (rank < many) & (worth > 0)
        rows, place, worth = rows[kept], place[kept], worth[kept]
        return rows, place, self._met(tasks, rows, place, worth)

    def _asked(self, tasks: IntArray, rows: IntArray, first: IntArray) -> IntArray:
        """How many of its votes, in order, a task needs; all of them where none are enough (k,)."""
        assert self.target is not None
        ends = np.append(first[1:], len(rows))
        asked = ends - first
        for k, (start, end) in enumerate(zip(first.tolist(), ends.tolist(), strict=True)):
            task, skill = int(tasks[k]), self.skill[self._at(rows[start:end])]
            if self._keeps(task, skill[:0]):
                asked[k] = 0
                continue
            low, high = 0, 1  # Too few, and enough or more than there are.
            while high < len(skill) and not self._keeps(task, skill[:high]):
                low, high = high, 2 * high
            high = min(high, len(skill))
            while high - low > 1:
                middle = (low + high) // 2
                enough = self._keeps(task, skill[:middle])
                low, high = (low, middle) if enough else (middle, high)
            asked[k] = high
        return asked

    def _keeps(self, task: int, skill: FloatArray) -> bool:
        """Whether the vote of workers of these skills errs as seldom as the task's is to."""
        assert self.target is not None
        error = self.errors.get(key := skill.tobytes())
        if error is None:
            weight = promised_weights(self.gain.vote, skill)
            error = vote_error(skill, weight, states=MOST_STATES).probability
            self.errors[key] = error
        return bool(error <= self.target[task] * (1 + MET))

    def _met(
        self, tasks: IntArray, rows: IntArray, place: IntArray, worth: FloatArray
    ) -> BoolArray:
        """Which tasks have what they need in the votes bought, shape (k,)."""
        if self.target is None:
            reached = np.bincount(place, worth, minlength=len(tasks))
            met: BoolArray = reached >= self.need[self.kinds[tasks]] * (1.0 - MET)
            return met
        of = [self.skill[self._at(rows[place == k])] for k in range(len(tasks))]
        return np.array([self._keeps(int(i), skill) for i, skill in zip(tasks, of, strict=True)])
