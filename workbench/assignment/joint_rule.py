"""A plan for labels of several classes as a rule that is fitted on gold: see `plan_rule`.

Confusion matrices and the prior come from control answers, the price of each worker's time from the
relaxed joint program; a task takes the cheapest set of those who labelled it, price and time
together, that keeps the promise, or all of them where none does. The vote is the likeliest class.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowd_models.joint import JointProblem, pair_gains, pair_weights
from workbench.accuracy.likeliest import TINY
from workbench.assignment.plan_rule import SHORT, PlanTerms
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.crowd.confusion import estimate_confusion
from workbench.crowd.gold_rule import FittedRule, GoldRule, RuleLabels, VotesByTask
from workbench.crowd.votes import TIE, Votes
from workbench.solving.joint.relaxation import KEPT
from workbench.solving.joint.route import solve_joint
from workbench.solving.joint.worker_sets import WorkerSets


def joint_plan_rule(votes: Votes, terms: PlanTerms) -> GoldRule:
    """Make a rule of a joint program; arguments and the rule's labels as for `plan_rule`."""
    by_task, kinds = VotesByTask(votes), terms.kinds(len(votes.tasks))

    def fit(gold: IntArray) -> FittedRule:
        confusion, prior, known = _learned(by_task, gold, kinds, len(terms.tasks))
        problem = JointProblem(
            pair_gains(confusion), pair_weights(prior), terms.level, terms.tasks, terms.capacity,
            terms.price, known,
        )  # fmt: skip
        return _JointVote(by_task, problem, kinds, confusion, prior, time_prices(problem))

    return fit


def _learned(
    by_task: VotesByTask, gold: IntArray, kinds: IntArray, types: int
) -> tuple[FloatArray, FloatArray, BoolArray]:
    """π (T, m, K, K), ρ (K,), and who answered control tasks of a type (T, m)."""
    votes = by_task.votes
    shape = types, len(votes.workers), len(votes.classes), len(votes.classes)
    counts: IntArray = np.zeros(shape, dtype=np.int64)
    told = gold[votes.task] >= 0
    task = votes.task[told]
    np.add.at(counts, (kinds[task], votes.worker[told], gold[task], votes.label[told]), 1)
    shares = np.bincount(gold[gold >= 0], minlength=shape[2]) + 1.0
    prior: FloatArray = shares / shares.sum()
    known = [estimate_confusion(own, prior, votes.workers, votes.classes) for own in counts]
    answered: BoolArray = counts.sum(axis=(2, 3)) > 0
    return np.stack([one.confusion for one in known]), prior, answered


def time_prices(problem: JointProblem) -> FloatArray:
    """Price of each worker's time: the dual of her capacity in the relaxed program, shape (m,).

    Where the crowd cannot keep the promise, tasks may fall short at a high price.
    """
    short = problem.with_shortfall(SHORT * max(float(problem.prices.max()), 1.0))
    found = solve_joint(short, "relaxation")
    m = problem.shape[1]
    return np.zeros(m) if found.worker_prices is None else found.worker_prices[:m]


@dataclass(frozen=True, eq=False)
class _JointVote:
    """Sets of workers bought at their prices and those of their time (m,), and their vote."""

    by_task: VotesByTask
    problem: JointProblem
    kinds: IntArray
    confusion: FloatArray
    prior: FloatArray
    time: FloatArray

    def label(self, tasks: IntArray) -> RuleLabels:
        likely, met, bought = self._posteriors(tasks)
        winning = likely >= likely.max(axis=1, keepdims=True) * (1.0 - TIE)
        chance = winning / winning.sum(axis=1, keepdims=True)
        chance[~bought] = np.nan
        return RuleLabels(chance, met)

    def independent_error(self, tasks: IntArray) -> FloatArray:
        likely, _, bought = self._posteriors(tasks)
        return np.where(bought, 1.0 - likely.max(axis=1), np.nan)

    def _posteriors(self, tasks: IntArray) -> tuple[FloatArray, BoolArray, BoolArray]:
        """Of each class (k, K); whether the promise is kept, and whether anybody voted (k,)."""
        votes, met, bought = self.by_task.votes, [], []
        rows, place = self.by_task.rows(tasks)
        log = np.tile(np.log(np.maximum(self.prior, TINY)), (len(tasks), 1))
        for k, own in enumerate(np.split(rows, np.searchsorted(place, np.arange(1, len(tasks))))):
            kind, there = int(self.kinds[tasks[k]]), votes.worker[own]
            chosen = np.zeros(self.problem.shape[1], dtype=bool)
            chosen[there] = self.problem.usable[kind, there]
            best = WorkerSets(self.problem, kind, chosen).cheapest(
                self.problem.prices[kind] + self.time
            )
            chosen = chosen if best is None else best
            worker, label = there[chosen[there]], votes.label[own][chosen[there]]
            log[k] += np.log(np.maximum(self.confusion[kind, worker, :, label], TINY)).sum(axis=0)
            met.append(self.problem.error(kind, chosen) <= self.problem.epsilon[kind] * (1 + KEPT))
            bought.append(len(worker) > 0)
        likely = np.exp(log - log.max(axis=1, keepdims=True))
        return (
            likely / likely.sum(axis=1, keepdims=True),
            np.array(met, dtype=bool),
            np.array(bought, dtype=bool),
        )
