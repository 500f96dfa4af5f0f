"""Where labels come from in a rehearsal: simulated workers, or labels on record.

One matrix holds the label of every pair, so that the answer to a pair does not depend on who asks,
when, or what else is asked: policies are compared on the same crowd.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from workbench.base.arrays import IntArray
from workbench.base.seeds import Seed
from workbench.collection.policy import Belief, Goal, Policy
from workbench.collection.pool import Ledger, Pool, Questions


@dataclass(frozen=True, eq=False)
class Answers:
    """Labels of all pairs, −1 where there is none.

    Attributes
    ----------
    label, gold_label
        Class indices, shapes (n, m) and (g, m).
    truth
        True class of each task, −1 where it is not known; shape (n,).
    """

    label: IntArray
    gold_label: IntArray
    truth: IntArray

    def of(self, ask: Questions) -> IntArray:
        """Labels of the pairs asked, shape (k,)."""
        labels: IntArray = (self.gold_label if ask.gold else self.label)[ask.task, ask.worker]
        return labels.astype("int64")


@dataclass(frozen=True, eq=False)
class Collected:
    """How a rehearsal ended.

    Attributes
    ----------
    ledger
        All that was asked, answered and paid.
    belief
        Of the tasks, at the end.
    """

    ledger: Ledger
    belief: Belief


def rehearse(
    policy: Callable[[Ledger, Goal, Seed], Policy],
    pool: Pool,
    answers: Answers,
    goal: Goal,
    *,
    total: float | None = None,
    arrivals: IntArray | None = None,
    seed: Seed = 0,
    watch: Callable[[Ledger, Policy], None] | None = None,
    least: int = 0,
    most: int | None = None,
    have: Sequence[tuple[Questions, IntArray]] = (),
    ledger: Ledger | None = None,
) -> Collected:
    """Let a policy collect until it asks no more.

    Parameters
    ----------
    policy, goal
        Who decides, and what is wanted.
    pool, answers
        The crowd, and what it answers.
    total
        Budget; None without one.
    arrivals
        Workers in order of arrival, each asked until the policy has nothing for her; None where
        anybody can be asked at any time.
    seed
        Of the policy's own draws.
    watch
        Called with ledger and policy after each answer.
    least, most
        Labels that each task gets.
    have
        Labels that are there from the start: they count, and cost nothing.
    ledger
        Of an earlier rehearsal of this crowd, to go on with, its terms included.
    """
    if ledger is None:
        ledger = Ledger(pool, total, least, most, repeats=getattr(policy, "repeats", False))
        for questions, label in have:
            ledger.record(questions, label)
    deciding = policy(ledger, goal, seed)
    for gold, rows in ((True, ledger.gold_labels), (False, ledger.labels)):
        if len(rows):
            deciding.told(Questions(rows[:, 0], rows[:, 1], gold), rows[:, 2])
    for worker in [None] if arrivals is None else arrivals.tolist():
        while len(ask := deciding.next(worker)):
            ledger.ask(ask)
            label = answers.of(ask)
            ledger.tell(ask, label)
            deciding.told(ask, label)
            if watch is not None:
                watch(ledger, deciding)
    return Collected(ledger, deciding.belief())
