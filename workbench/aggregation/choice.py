"""Gold chooses the method, and teaches it where that does not harm; the error pays for the choice.

Six candidates are fitted once and see no gold, so that only the choice among them can be too good
for the gold it was made by: the error of the chosen is measured by choosing anew without a part of
the gold (`accuracy.measured`). The plainer of two is taken within one standard error of their
paired difference, as Breiman and others (1984) prune trees.

The seventh, the pooled models taught by the gold, labels each gold task as taught by the others
(ten folds). It is taken unless it errs more often on them than the choice among the six does. With
fifty gold tasks that lowered the error on all other tasks of eleven recorded crowds from .134 to
.130 (docs/findings/aggregation.md). Choosing anew without a part of the gold, the models that
labelled the other parts have seen that part; the model that labels the part itself has not.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from workbench.aggregation.pool import pooled
from workbench.aggregation.posteriors import Earlier, Fit, concluded, label_matrix
from workbench.aggregation.vote_rules import fixed_rule
from workbench.aggregation.voting import Aggregate
from workbench.base.arrays import FloatArray, IntArray
from workbench.base.bar import Step, no_step
from workbench.base.seeds import Seed, stream
from workbench.crowd.gold_rule import FittedRule, GoldRule
from workbench.crowd.loss import Stakes
from workbench.crowd.votes import Votes

PLAINEST_FIRST = ("majority", "one-coin", "dawid-skene-smoothed", "bwa", "pooled", "ebcc")
"""Methods among which gold chooses."""
TAUGHT = "pooled, taught by gold"
"""The pooled models with gold inside."""
FITS = 10
"""Times that it is fitted without a part of the gold, at most."""
ROUNDING = 1e-12


def taught(
    votes: Votes,
    gold: IntArray,
    *,
    start: Fit | None = None,
    seed: Seed,
    step: Step = no_step,
) -> Aggregate:
    """Label by the pooled models, taught by gold; each gold task by what the others teach.

    Parameters
    ----------
    votes
        Labels of n tasks.
    gold
        Class of the gold tasks, −1 of all others, shape (n,).
    start
        A fit of the pooled models that has seen no gold, from which all of them go on.
    seed
        Of the folds, and of draws among ties.
    step
        Is called after each of `FITS` + 1 fits.
    """
    whole = pooled(votes, earlier=Earlier(gold, start), seed=seed)
    step()
    posterior = whole.info["posterior"].copy()
    control = stream(seed, "taught").permutation(np.flatnonzero(gold >= 0))
    for part in np.array_split(control, min(FITS, max(len(control), 1))):
        others = gold.copy()
        others[part] = -1
        without = pooled(votes, earlier=Earlier(others, start), seed=seed)
        posterior[part] = without.info["posterior"][part]
        step()
    notes = ["each gold task is labelled by what the others teach"]
    return concluded(label_matrix(votes), posterior, TAUGHT, seed, {**whole.info, "notes": notes})


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


def choice(
    candidates: Mapping[str, Aggregate], gold: IntArray, stakes: Stakes | None = None
) -> str:
    """Name the candidate that gold prefers: of those untaught `chosen_by`, or `TAUGHT`.

    Parameters
    ----------
    candidates, gold
        As `wrong_by` takes them.
    stakes
        What errors cost: the candidate is taken whose answers cost least on the gold, of equal ones
        the last. None where all cost the same.
    """
    losses = wrong_by(candidates, gold)
    if stakes is not None:
        # Costs vary so much that almost all are within a standard error, and the plainest, the
        # majority, weighs no cost: on two recorded crowds and five simulated the least was better.
        losses = losses * stakes.weights(gold[gold >= 0])[:, None]
        mean = np.round(losses.mean(axis=0), 12)[::-1]
        return list(candidates)[::-1][int(mean.argmin())]
    wrong = dict(zip(candidates, losses.T, strict=True))
    untaught = [name for name in candidates if name != TAUGHT]
    best = untaught[chosen_by(np.column_stack([wrong[name] for name in untaught]))]
    if TAUGHT in wrong and wrong[TAUGHT].mean() <= wrong[best].mean() + ROUNDING:
        return TAUGHT
    return best


def choosing_rule(candidates: Mapping[str, Aggregate], votes: Votes) -> GoldRule:
    """Make a rule of the choice: it labels by whichever candidate the gold it sees prefers.

    Parameters
    ----------
    candidates, votes
        Labels of n tasks by method, and the votes that they came from.
    """
    nothing = np.full(len(votes.tasks), -1, dtype=np.int64)
    rules = {name: fixed_rule(each, votes, nothing) for name, each in candidates.items()}

    def fit(gold: IntArray) -> FittedRule:
        enough = (gold >= 0).sum() >= 2
        return rules[choice(candidates, gold) if enough else next(iter(rules))](gold)

    return fit
