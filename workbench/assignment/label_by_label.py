"""The sequential optimum carried out: tasks one after another, capacities always held.

`plan_labels` makes it for single workers, `closing_rules` what a loop needs to follow it, and
`execute` follows it. Each task draws one of the optimum's policies, by their shares, and follows
its rule: of the workers who have room and have not labelled the task, the one with whom asking is
charged least, as long as that is less than stopping is. So a worker without room is replaced by the
next best at once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from crowd_models.sequential_policies import Promise, SequentialProblem
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.base.seeds import Seed, generator
from workbench.solving.posteriors import SAME, ErrorRule, PosteriorRule
from workbench.solving.sequential import GAP, SequentialOptimum, sequential_optimum


@dataclass(frozen=True, eq=False)
class Executed:
    """What trials came to.

    Attributes
    ----------
    cost
        By trial.
    error
        Share of wrong labels by trial.
    unsure
        Tasks of all trials for which workers did not suffice: closed before their rule would.
    """

    cost: FloatArray
    error: FloatArray
    unsure: int


def execute(
    optimum: SequentialOptimum,
    worker_class: IntArray,
    capacity: IntArray,
    *,
    trials: int,
    seed: Seed,
) -> Executed:
    """Label all tasks, in random order, so many times.

    Parameters
    ----------
    optimum
        With policies.
    worker_class
        Class of each worker, shape (m,), −1 for who is not asked.
    capacity
        M, shape (m,).
    """
    problem, rules, rng = optimum.problem, lead_rules(optimum), generator(seed)
    assert isinstance(problem, SequentialProblem)
    classes = problem.skill.shape[1]
    members = [np.flatnonzero(worker_class == k) for k in range(classes)]
    kinds = np.repeat(np.arange(len(problem.tasks)), problem.tasks.astype(np.int64))
    own = [
        [i for i, c in enumerate(optimum.columns) if c.policy.task_type == t]
        for t in range(len(problem.tasks))
    ]
    costs, errors, unsure = np.zeros(trials), np.zeros(trials), 0
    for trial in range(trials):
        room = capacity.astype(np.int64)
        for t in rng.permutation(kinds).tolist():
            shares = optimum.counts[own[t]]
            drawn = own[t][rng.choice(len(shares), p=shares / shares.sum())]
            rule = rules[drawn]
            # The lead of the true class: the rule is of its size alone.
            lead, asked = 0.0, np.zeros(len(capacity), dtype=bool)
            while True:
                here = np.array([abs(lead)])
                closing = float(rule.closing(here)[0])
                free = (room > 0) & ~asked & (worker_class >= 0)
                choice = np.unique(worker_class[free])
                choice = choice[rule.weight[choice] > 0]
                if closing == 0 or not len(choice):
                    unsure += closing > 0
                    break
                charged = rule.asking(here, choice)[:, 0]
                if charged.min() >= closing:
                    break
                k = int(choice[charged.argmin()])
                # A class deals its labels to whoever has most room left.
                worker = members[k][int(np.where(free, room, -1)[members[k]].argmax())]
                asked[worker] = True
                room[worker] -= 1
                costs[trial] += problem.prices[t, k]
                right = rng.random() < problem.skill[t, k]
                lead += rule.weight[k] if right else -rule.weight[k]
            errors[trial] += 0.5 if abs(lead) < SAME else lead < 0
    return Executed(costs, errors / max(1, len(kinds)), unsure)


def lead_rules(optimum: SequentialOptimum) -> list[ErrorRule | PosteriorRule]:
    """The rules of an optimum of two equally likely classes.

    Raises
    ------
    InputError
        It is of other classes.
    """
    rules = [column.rule for column in optimum.columns]
    lead = [rule for rule in rules if isinstance(rule, ErrorRule | PosteriorRule)]
    if len(lead) < len(rules):
        raise InputError("optimum: only that of two equally likely classes is carried out")
    return lead


def by_class(
    skill: FloatArray,
    tasks: IntArray,
    capacity: IntArray,
    prices: FloatArray,
    epsilon: float,
) -> tuple[SequentialProblem, IntArray]:
    """Merge equal workers; and give the class of each worker, −1 for who only guesses.

    Parameters
    ----------
    skill, prices
        By task type and worker, shape (T, m).
    tasks, capacity
        Of each type, shape (T,), and of each worker, shape (m,).
    """
    ability = np.maximum(skill, 1.0 - skill)
    columns, place = np.unique(np.concatenate([ability, prices]), axis=1, return_inverse=True)
    place = place.ravel()
    types = len(tasks)
    useful: BoolArray = np.asarray((columns[:types] > 0.5).any(axis=0))
    if not useful.any():
        useful[:1] = True  # then no promise can be kept, and the program says so
    supply = np.bincount(place, capacity, minlength=len(useful))[useful]
    number = np.where(useful, np.cumsum(useful) - 1, -1)
    problem = SequentialProblem(
        columns[:types, useful],
        tasks.astype(np.float64),
        supply.astype(np.float64),
        epsilon,
        columns[types:, useful],
    )
    return problem, number[place]


def plan_labels(
    skill: FloatArray,
    tasks: IntArray,
    capacity: IntArray,
    prices: FloatArray,
    epsilon: float,
    promise: Promise,
    *,
    gap: float = GAP,
    time_limit: float | None = None,
) -> tuple[SequentialOptimum, IntArray]:
    """The sequential optimum of single workers, and the class of each; parameters as `by_class`."""
    # Nobody labels a task twice, so that what is beyond the tasks is no supply.
    capacity = np.minimum(capacity, int(tasks.sum()))
    problem, classes = by_class(skill, tasks, capacity, prices, epsilon)
    optimum = sequential_optimum(
        replace(problem, promise=promise), gap=max(gap, GAP), time_limit=time_limit
    )
    return optimum, classes


@dataclass(frozen=True, eq=False)
class LabelPlan:
    """What a loop needs to carry the sequential optimum out.

    Attributes
    ----------
    rules
        Of single tasks.
    kind, share
        The task type that each rule is for, and its share of that type's tasks, shape (rules,).
    worker_class
        Of each worker, shape (m,); the last of all classes, `classes`, for who is not asked.
    """

    rules: list[ErrorRule | PosteriorRule]
    kind: IntArray
    share: FloatArray
    worker_class: IntArray

    @property
    def classes(self) -> int:
        """Number of classes that are asked."""
        return len(self.rules[0].weight)

    def drawn(self, kind: IntArray, lot: FloatArray) -> IntArray:
        """Rule of each task, by its type and a number in [0, 1), shape (n,)."""
        rule = np.full(len(kind), -1, dtype=np.int64)
        for t in np.unique(kind):
            own, here = np.flatnonzero(self.kind == t), kind == t
            ends = np.cumsum(self.share[own])
            rule[here] = own[np.searchsorted(ends[:-1], lot[here], side="right")]
        return rule

    def closes_at(self) -> FloatArray:
        """Posterior error at which each rule closes a task, shape (rules,)."""
        return np.array([rule.closes_at for rule in self.rules])

    def saved(self) -> dict[str, Any]:
        """All of it in values that JSON knows."""
        return {
            "kind": self.kind.tolist(),
            "share": self.share.tolist(),
            "worker_class": self.worker_class.tolist(),
            "rules": [rule.saved() for rule in self.rules],
        }

    @classmethod
    def loaded(cls, saved: dict[str, Any], shape: tuple[int, ...]) -> Self:
        """Take up what `saved` gave, for so many task types and workers.

        Raises
        ------
        InputError
            It is not of that form, or for other types or workers.
        """
        try:
            rules = [
                (ErrorRule if "per_error" in rule else PosteriorRule).loaded(rule)
                for rule in saved["rules"]
            ]
            plan = cls(
                rules,
                np.array(saved["kind"], dtype=np.int64),
                np.array(saved["share"], dtype=np.float64),
                np.array(saved["worker_class"], dtype=np.int64),
            )
            fits = len(plan.worker_class) == shape[1] and set(plan.kind.tolist()) <= set(
                range(shape[0])
            )
        except (KeyError, TypeError, ValueError):
            fits = False
        if not fits:
            raise InputError(
                f"plan: is not one for {shape[0]} task types and {shape[1]} workers; "
                "give the `options` of `wb.plan(..., sequential=True)` for these"
            )
        return plan


def closing_rules(optimum: SequentialOptimum, worker_class: IntArray) -> LabelPlan:
    """What a loop needs to carry an optimum with policies out."""
    kind = np.array([column.policy.task_type for column in optimum.columns], dtype=np.int64)
    total = np.bincount(kind, optimum.counts, minlength=int(kind.max()) + 1)
    classes = optimum.problem.prices.shape[1]
    return LabelPlan(
        lead_rules(optimum),
        kind,
        optimum.counts / total[kind],
        np.where(worker_class < 0, classes, worker_class),
    )
