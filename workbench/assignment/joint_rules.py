"""A plan for labels of several classes as a rule that is fitted on gold: see `plan_rule`.

Confusion matrices and the prior come from control answers, the price of each worker's time from the
relaxed joint program; a task takes the cheapest set of those who labelled it, price and time
together, that keeps the promise, or all of them where none does. The vote is that which a plan
hands over: the class of the largest sum of a log prior and of scores ln π(label | class), by lot
where classes tie (`class_scores`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from crowd_models.joint import JointProblem, pair_gains, pair_weights
from workbench.accuracy.class_error import class_error
from workbench.accuracy.likeliest import TINY, posteriors
from workbench.assignment.cover_plan import TRIED
from workbench.assignment.plan_rules import SHORT, PlanTerms
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.crowd.confusion import (
    class_shares,
    constant_in,
    estimate_confusion,
    gold_counts,
    without_constant,
)
from workbench.crowd.gold_rule import FittedRule, GoldRule, RuleLabels, VotesByTask
from workbench.crowd.loss import Stakes
from workbench.crowd.votes import Votes, leading
from workbench.solving.joint.route import solve_joint
from workbench.solving.joint.worker_sets import WorkerSets


def joint_plan_rule(
    votes: Votes, terms: PlanTerms, *, by_class: bool = False, stakes: Stakes | None = None
) -> GoldRule:
    """Make a rule of a joint program; arguments and the rule's labels as for `plan_rule`.

    Parameters
    ----------
    by_class
        Whether ε is of the worst class: levels are of classes that are equally likely, and the log
        prior of a vote is one that keeps the error of every class low.
    stakes
        What errors cost, and shares of the classes where they are stated.
    """
    by_task, kinds = VotesByTask(votes), terms.kinds(len(votes.tasks))

    def fit(gold: IntArray) -> FittedRule:
        confusion, share, answered = _learned(by_task, gold, kinds, len(terms.tasks))
        prior = share
        if stakes is not None:
            share, prior = stakes.known(share).shares, stakes.known(share).tilted
        problem = JointProblem(
            pair_gains(confusion),
            pair_weights(np.full_like(prior, 1.0 / len(prior)) if by_class else prior),
            terms.level,
            terms.tasks,
            terms.capacity,
            terms.price,
            answered & (terms.capacity > 0),
            None,
            terms.least,
            terms.most,
        )
        time = time_prices(problem)
        return _JointVote(by_task, problem, kinds, confusion, prior, share, time, by_class)

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
    still = constant_in(votes, gold)
    known = [without_constant(estimate.confusion, still) for estimate in estimates]
    return np.stack(known), prior, answered & ~still


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
    """Sets of workers bought at their prices and those of their time (m,), and their vote.

    `prior` is that of the vote, tilted by what errors cost, `share` that of the tasks.
    """

    by_task: VotesByTask
    problem: JointProblem
    kinds: IntArray
    confusion: FloatArray
    prior: FloatArray
    share: FloatArray
    time: FloatArray
    by_class: bool
    _priors: dict[tuple[int, bytes], FloatArray] = field(default_factory=dict)

    def label(self, tasks: IntArray) -> RuleLabels:
        chosen, met = self._chosen(tasks)
        return RuleLabels(self._chance(tasks, chosen, met), met)

    def independent_error(self, tasks: IntArray) -> FloatArray:
        chosen, met = self._chosen(tasks)
        chance, place = self._said(tasks, chosen)
        likely = posteriors(chance, place, self.share, len(tasks))
        error: FloatArray = 1.0 - (likely * self._chance(tasks, chosen, met)).sum(axis=1)
        return error

    def _chance(self, tasks: IntArray, chosen: BoolArray, met: BoolArray) -> FloatArray:
        """Chance of each class to be named, shape (k, K); NaN where nobody votes who is needed."""
        chance, place = self._said(tasks, chosen)
        score = np.log(np.maximum(chance, TINY))
        total = np.array([self._log_prior(*at) for at in zip(tasks, chosen, strict=True)])
        total = total.reshape(len(tasks), len(self.prior))
        size = np.abs(total)
        np.add.at(total, place, score)
        np.add.at(size, place, np.abs(score))
        winning = leading(total, size.max(axis=1))
        share: FloatArray = winning / winning.sum(axis=1, keepdims=True)
        share[~chosen.any(axis=1) & ~met] = np.nan
        return share

    def _log_prior(self, task: int, row: BoolArray) -> FloatArray:
        """What speaks for each class before any label, shape (K,)."""
        if not self.by_class:
            return np.log(np.maximum(self.prior, TINY))
        key = int(self.kinds[task]), row.tobytes()
        if key not in self._priors:
            found = class_error(self.confusion[key[0], row], draws=TRIED)
            self._priors[key] = found.log_prior
        return self._priors[key]

    def _said(self, tasks: IntArray, chosen: BoolArray) -> tuple[FloatArray, IntArray]:
        """π of each label bought by true class, shape (v, K), and the place in `tasks` of each."""
        votes = self.by_task.votes
        rows, place = self.by_task.rows(tasks)
        bought = chosen[place, votes.worker[rows]]
        rows, place = rows[bought], place[bought]
        kinds = self.kinds[tasks][place]
        return self.confusion[kinds, votes.worker[rows], :, votes.label[rows]], place

    def _chosen(self, tasks: IntArray) -> tuple[BoolArray, BoolArray]:
        """Whose labels are bought, shape (k, m), and whether they keep the promise, (k,)."""
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
        return chosen, met
