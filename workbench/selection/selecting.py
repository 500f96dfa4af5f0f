"""Choose workers by a rule of the registry, by its name."""

from __future__ import annotations

from workbench.base.seeds import Seed
from workbench.selection import RULES
from workbench.selection.rules import RuleOptions, Selection, Ties, check_threshold
from workbench.selection.scoring import Scores


def select(
    pool: Scores,
    budget: int,
    rule: str = "selected",
    *,
    seed: Seed,
    ties: Ties = "fair",
    by_evidence: bool = False,
    threshold: float | None = None,
) -> Selection:
    """Choose at most K of the eligible workers by a rule of `RULES`.

    Parameters
    ----------
    pool
        Scores of the m workers.
    budget
        K ≥ 1.
    rule
        Name of the rule.
    seed, ties, by_evidence, threshold
        As in `RuleOptions`.

    Raises
    ------
    InputError
        An unknown rule, a threshold outside [0, 1] or for another rule, or as `algorithm_1`.
    """
    choose = RULES[rule].call
    check_threshold(threshold, rule)
    return choose(pool, budget, RuleOptions(seed, ties, by_evidence, threshold))
