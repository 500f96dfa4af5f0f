"""Gold chooses the method: each one labels without gold, and the choice is paid for in the error.

The candidates are fitted once, none of them sees gold, so that only the choice among them can be
too good for the gold it was made by: the error of the chosen is measured by choosing anew without a
part of the gold (`accuracy.measured`). The plainer of two is taken within one standard error of
their paired difference, as Breiman and others (1984) prune trees.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from workbench.aggregation.vote_rule import fixed_rule
from workbench.aggregation.voting import Aggregate
from workbench.base.arrays import FloatArray, IntArray
from workbench.crowd.gold_rule import FittedRule, GoldRule
from workbench.crowd.votes import Votes

PLAINEST_FIRST = ("majority", "one-coin", "dawid-skene-smoothed", "bwa", "pooled", "ebcc")
"""Methods among which gold chooses."""


def wrong_by(candidates: Mapping[str, Aggregate], gold: IntArray) -> FloatArray:
    """Chance that each candidate is wrong on each gold task, shape (c, candidates).

    Parameters
    ----------
    candidates
        Labels of n tasks by method, the plainest first.
    gold
        Class of the c gold tasks, −1 of all others, shape (n,).
    """
    control = gold >= 0
    return np.column_stack(
        [1.0 - aggregate.chance_right(gold)[control] for aggregate in candidates.values()]
    )


def chosen_by(wrong: FloatArray) -> int:
    """Index of the first candidate within one standard error of the best.

    Parameters
    ----------
    wrong
        Shape (c, candidates), c ≥ 2, as `wrong_by` gives it.
    """
    best = int(wrong.mean(axis=0).argmin())
    worse = wrong - wrong[:, [best]]
    within = worse.mean(axis=0) <= worse.std(axis=0, ddof=1) / np.sqrt(len(wrong))
    return int(np.flatnonzero(within)[0])


def choosing_rule(candidates: Mapping[str, Aggregate], votes: Votes) -> GoldRule:
    """Make a rule of the choice: it labels by whichever candidate the gold it sees prefers.

    Parameters
    ----------
    candidates, votes
        Labels of n tasks by method, and the votes that they came from.
    """
    nothing = np.full(len(votes.tasks), -1, dtype=np.int64)
    rules = [fixed_rule(aggregate, votes, nothing) for aggregate in candidates.values()]

    def fit(gold: IntArray) -> FittedRule:
        if (gold >= 0).sum() < 2:
            return rules[0](gold)
        return rules[chosen_by(wrong_by(candidates, gold))](gold)

    return fit
