"""Collecting policies on the labels of a recorded crowd: what they bought, and how wrong it is."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pandas as pd

from workbench.base.arrays import FloatArray
from workbench.collection import POLICIES
from workbench.collection.answers import Answers
from workbench.collection.honest import wrong_chances
from workbench.collection.policy import Goal, Policy
from workbench.collection.pool import Ledger, Pool
from workbench.collection.recorded import recorded as pool_of
from workbench.ranking.recorded_crowds import Recording


@lru_cache(maxsize=2)
def replayed(crowd: Recording) -> tuple[Pool, Answers]:
    """Make a pool of the labels on record."""
    votes, with_gold = crowd.votes, crowd.truth >= 0
    gold = pd.Series(votes.classes[crowd.truth[with_gold]], votes.tasks[with_gold])
    return pool_of(votes.table(), gold, pd.Index([]))


def spend(policy: Policy, ledger: Ledger, answers: Answers) -> None:
    """Let a policy ask until it asks no more."""
    while len(ask := policy.next()):
        ledger.ask(ask)
        ledger.tell(ask, answers.of(ask))
        policy.told(ask, answers.of(ask))


@lru_cache(maxsize=32)
def bought(
    policy: str, pool: Pool, answers: Answers, budgets: tuple[int, ...], order: int
) -> tuple[list[int], FloatArray]:
    """Labels bought by each budget, and the chance of a wrong label of each scored task.

    Money is added when it is spent; a policy that plans by its budget begins anew.

    Returns
    -------
    Shapes (budgets,) and (budgets, tasks).
    """
    kind = POLICIES[policy].call
    wrong: dict[int, FloatArray] = {}
    labels: dict[int, int] = {}
    for b in sorted(set(budgets)):
        if not wrong or not getattr(kind, "anytime", True):
            ledger = Ledger(pool, b)
            deciding = kind(ledger, Goal(), order)
        ledger.total = b
        spend(deciding, ledger, answers)
        wrong[b] = wrong_chances(deciding.belief().posterior, answers.truth)
        labels[b] = len(ledger.labels)
    return [labels[b] for b in budgets], np.stack([wrong[b] for b in budgets])
