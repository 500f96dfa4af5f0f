"""A selection rule of one's own: those workers whose skill is best even if they were lucky."""

from __future__ import annotations

import numpy as np

from workbench.base import Entry
from workbench.selection import RULES, RuleOptions, Scores, Selection


def cautious(pool: Scores, budget: int, options: RuleOptions) -> Selection:
    """Rank workers by their skill less a standard error, and take the first of them."""
    skill = (pool.correct + 1) / (pool.answered + 2)  # one right and one wrong answer added
    error = np.sqrt(skill * (1 - skill) / (pool.answered + 2))
    value = np.where(pool.eligible, skill - error, -np.inf)
    draw = np.random.default_rng(options.seed).random(len(pool))
    ranked = np.lexsort((draw, -value))  # workers of equal value in random order
    chosen = ranked[: min(budget, int(pool.eligible.sum()))]
    return Selection(chosen, curve=np.array([]), tied=np.array([], dtype=int), value=value)


RULES.register(Entry("cautious", cautious, "skill less a standard error", "an example"))
