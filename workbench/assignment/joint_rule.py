"""A plan for labels of several classes as a rule that is fitted on gold: see `plan_rule`.

Confusion matrices and the prior come from control answers, the price of each worker's time from the
relaxed joint program; a task takes the cheapest set of those who labelled it, price and time
together, that keeps the promise, or all of them where none does. The vote is the likeliest class.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowd_models.joint import JointProblem, pair_gains, pair_weights
from workbench.accuracy.likeliest import posteriors
from workbench.assignment.plan_rule import SHORT, PlanTerms
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.crowd.confusion import class_shares, estimate_confusion, gold_counts
from workbench.crowd.gold_rule import FittedRule, GoldRule, RuleLabels, VotesByTask
from workbench.crowd.votes import TIE, Votes
from workbench.solving.joint.route import solve_joint
from workbench.solving.joint.worker_sets import WorkerSets


def joint_plan_rule(votes: Votes, terms: PlanTerms) -> GoldRule:
    """Make a rule of a joint program; arguments and the rule's labels as for `plan_rule`."""
    by_task, kinds = VotesByTask(votes), terms.kinds(len(votes.tasks))

    def fit(gold: IntArray) -> FittedRule:
        confusion, prior, answered = _learned(by_task, gold, kinds, len(terms.tasks))
        problem = JointProblem(
            pair_gains(confusion),
            pair_weights(prior),
            terms.level,
            terms.tasks,
            terms.capacity,
            terms.price,
            answered,
            None,
            terms.least,
            terms.most,
        )
        return _JointVote(by_task, problem, kinds, confusion, prior, time_prices(problem))

    return fit


def _learned(
    by_task: VotesByTask, gold: IntArray, kinds: IntArray, types: int
) -> tuple[FloatArray, FloatArray, BoolArray]:
    """π (T, m, K, K), ρ (K,), and who answered control tasks of a type (T, m)."""
    votes = by_task.votes
    counts = gold_counts(votes, gold, kinds, types)
    prior = class_shares(gold, len(votes.classes))
    estimates = [estimate_confusion(own, prior, votes.workers, votes.classes) for own in counts]
    answered: BoolArray = counts.sum(axis=(2, 3)) > 0
    return np.stack([estimate.confusion for estimate in estimates]), prior, answered


def time_prices(problem: JointProblem) -> FloatArray:
    """Price of each worker's time: the dual of her capacity in the relaxed program, shape (m,).

    Where the crowd cannot keep the promise, tasks may fall short at a high price.
    """
    short = problem.with_shortfall(SHORT * max(float(problem.prices.max()), 1.0))
    relaxed = solve_joint(short, "relaxation")
    m = problem.shape[1]
    return np.zeros(m) if relaxed.worker_prices is None else relaxed.worker_prices[:m]


@dataclass(frozen=True, eq=False)
class _JointVote(FittedRule):
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
        votes = self.by_task.votes
        rows, place = self.by_task.rows(tasks)
        chosen = np.zeros((len(tasks), self.problem.shape[1]), dtype=bool)
        kinds = self.kinds[tasks]
        chosen[place, votes.worker[rows]] = True
        chosen &= self.problem.usable[kinds]
        met: BoolArray = np.zeros(len(tasks), dtype=np.bool_)
        for k, kind in enumerate(kinds.tolist()):
            price = self.problem.prices[kind] + self.time
            best = WorkerSets(self.problem, kind, chosen[k]).cheapest(price)
            if best is not None:
                chosen[k], met[k] = best, True
        bought = chosen[place, votes.worker[rows]]
        rows, place = rows[bought], place[bought]
        chance = self.confusion[kinds[place], votes.worker[rows], :, votes.label[rows]]
        likely = posteriors(chance, place, self.prior, len(tasks))
        return likely, met, np.bincount(place, minlength=len(tasks)) > 0
