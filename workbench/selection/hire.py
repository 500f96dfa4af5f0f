"""From the answers to control questions to the workers to hire: tables in, tables out.

The whole of Li, Liu (2015) on named workers: skills from control tasks (10), G and F̂ (7), a rule
that chooses, the interval (Theorem 3) and the bound on the error (Theorem 1) of the chosen. Beyond
the paper: the error their vote is expected to have; of equal workers those with more control
answers come first; nobody is hired who is more likely than not worse than guessing, unless asked.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from workbench.accuracy.error_rate import ErrorRate
from workbench.base import checks
from workbench.base.arrays import BoolArray, FloatArray, IntArray, Names
from workbench.base.errors import InputError
from workbench.base.seeds import Seed
from workbench.crowd import align
from workbench.crowd.skills import skills_from_gold
from workbench.selection import accuracy, guarantees, rules
from workbench.selection.rules import Selection, Ties
from workbench.selection.scores import Scores, below_chance, proper_prior, scores, set_score

if TYPE_CHECKING:
    from workbench.selection.money import MoneySelection

NOBODY = "nobody to hire: every worker who can be scored is more likely than not below chance"
RULES: dict[str, str] = {
    **rules.RULES,
    accuracy.RULE: "the first workers by posterior skill whose vote is expected to err least",
}
"""Rules by name, and what they do."""

UNIFORM = (1.0, 1.0)
"""The prior of predictions where none is given: every skill is equally likely."""
MOST_BELOW = 0.5 + 1e-9
"""Chance of a skill below 1/L at which a worker is refused: above ½, but for rounding."""


@dataclass(frozen=True, eq=False)
class Hiring:
    """Whom to hire, and what is known of them.

    Attributes
    ----------
    table
        One row a worker, best first: `worker, answered, correct, skill, low, high, gain, chosen`.
        Skill is ŵ, low and high its exact (Clopper–Pearson) interval, each for this worker alone;
        gain is G. Who is refused stands behind all others who can be scored; who cannot be, at the
        end, skill and gain missing. With prices also `cost`, missing for who cannot be scored.
    chosen
        Names of the chosen workers, best first; none when nobody can be hired.
    rule, budget, confidence
        As given.
    score
        F̂ of the chosen, whatever the rule; None without any.
    interval
        Theorem 3: covers F of the chosen at the given confidence, had they been chosen without
        these answers. None without any, or where one of them has fewer than two answers.
    error_bound, error_bound_printed
        Theorem 1 were F equal to F̂: as its argument supports it, and as it is printed (they
        differ for more than two classes). None without any.
    error_predicted
        Expected error of the chosen workers' vote weighted by Lŵ − 1 (`accuracy`). None without
        any.
    prior
        (a, b) of the Beta prior that the prediction takes.
    curve, plug_in_curve
        F̂ and F̂_plug of the first 1, 2, … workers of the table: as far as the budget, or as far
        as the chosen where prices decide. F̂ at the number of the chosen is `score`.
    classes, class_names
        L, and the names that labels and gold use: there may be fewer.
    control
        How many control tasks there were.
    excluded
        Who cannot be scored or is refused, and why: columns `worker, why`.
    tied
        Names of the workers who were drawn among at the cut; none when it was clear.
    money
        The exact choice within the money, the heuristic and the bound; None without prices.
    notes
        What has to be known to read the numbers, one sentence each.
    known, order
        Scores of the workers, those who are refused not eligible; and the row of each of the
        table's workers in them.
    """

    table: pd.DataFrame
    chosen: Names
    rule: str
    budget: int
    confidence: float
    score: float | None
    interval: tuple[float, float] | None
    error_bound: float | None
    error_bound_printed: float | None
    error_predicted: ErrorRate | None
    prior: tuple[float, float]
    curve: FloatArray
    plug_in_curve: FloatArray
    classes: int
    class_names: list[Any]
    control: int
    excluded: pd.DataFrame
    tied: Names
    money: MoneySelection | None
    notes: tuple[str, ...]
    known: Scores
    order: IntArray

    @property
    def size(self) -> int:
        """How many workers are chosen."""
        return len(self.chosen)

    @property
    def proven(self) -> bool:
        """Whether the choice is proven to be what the rule asks for: open only with prices."""
        money = self.money
        if money is None:
            return True
        return money.termination == "optimal" or money.certificate.status == "proven"

    @property
    def best(self) -> int:
        """The number of first workers with the highest F̂, the smallest such; 0 without any."""
        if not len(self.curve):
            return 0
        slack = 1e-12 * max(1.0, float(np.abs(self.curve).max()))  # as Algorithm 1 has it
        return int(np.argmax(self.curve >= self.curve.max() - slack)) + 1

    def error_curve(self, *, seed: Seed = 0) -> list[ErrorRate]:
        """Predicted error of the first 1, 2, … workers of the table, as far as `curve` goes."""
        return accuracy.prefix_errors(
            self.known, self.order[: len(self.curve)], prior=self.prior, seed=seed
        )

    def interval_curve(self) -> FloatArray:
        """Intervals of Theorem 3 (low, high) for the first 1, 2, … workers, as far as `curve` goes.

        Shape (k, 2); missing from the first worker on who has fewer than two answers.
        """
        ends: FloatArray = np.full((len(self.curve), 2), np.nan)
        first = self.order[: len(self.curve)]
        few = self.known.answered[first] < 2
        for k in range(1, 1 + (int(few.argmax()) if few.any() else len(first))):
            ends[k - 1] = guarantees.interval(self.known, first[:k], confidence=self.confidence)
        return ends


def hire(
    labels: pd.DataFrame,
    gold: pd.Series[Any],
    budget: int,
    *,
    rule: str = "selected",
    classes: int | None = None,
    prior: tuple[float, float] | None = None,
    costs: pd.Series[Any] | float | None = None,
    money: float | None = None,
    threshold: float | None = None,
    time_limit: float | None = None,
    confidence: float = 0.95,
    seed: Seed = 0,
    ties: Ties = "fair",
    allow_below_chance: bool = False,
) -> Hiring:
    """Choose at most K workers by their answers to control tasks.

    Of workers of equal value those with more control answers come first.

    Parameters
    ----------
    labels
        Long table `task, worker, label`, one row a (task, worker) pair. Only labels of control
        tasks count; who gave none is listed as excluded.
    gold
        True label by control task.
    budget
        K ≥ 1, the most workers.
    rule
        One of `RULES`.
    classes
        L, where there are classes that neither labels nor gold name; None counts those named.
    prior
        (a, b) of a Beta distribution of skills: workers with no or one control answer are then
        scored by it (`scores`), and the error is predicted with it. Without one they are left
        out, and the prediction takes every skill for equally likely.
    costs, money
        Price of a label by worker (or one for all), and what the labels of one task may cost
        together: both or neither, with the rule "selected".
    threshold
        For the rule "threshold", as in `rules.select`.
    time_limit
        Seconds for the solver, where prices decide.
    confidence
        Of the interval of each skill, and of that of F.
    seed
        Of the draws among equals, of the rule "random", and of simulated votes.
    ties
        "fair" or "first", as in `rules.select`, among workers equal in control answers too.
    allow_below_chance
        Whether to hire workers whose skill is more likely than not below guessing, P(w < 1/L) > ½
        by their answers under the prior, Beta(1, 1) where none is given (`scores.below_chance`).
        The paper does: their votes count the other way round. By default they are refused.

    Raises
    ------
    InputError
        A column is missing, a cell is empty, a (task, worker) pair is repeated, a gold task has no
        label or is repeated, labels and gold share no class, fewer classes are given than named,
        one class only, a worker without a price, prices without money or the reverse, or an
        option out of range.
    """
    if not isinstance(rule, str) or rule not in RULES:
        raise InputError(f"rule {rule!r} is unknown: use {', '.join(RULES)}")
    checks.count("budget", budget, 1)
    checks.inside("confidence", confidence)
    _check_money(rule, costs, money)
    tested = skills_from_gold(labels, gold)
    names = _class_names(labels, gold)
    L = _class_count(classes, names)
    c, n = tested.estimates.correct[0], tested.estimates.answered[0]
    known = scores(c, n, L, prior=prior)
    believed = UNIFORM if prior is None else proper_prior(prior)
    workers = tested.workers
    below = below_chance(known, believed)
    refused = known.eligible & (below > MOST_BELOW) & (not allow_below_chance)
    scored, known = known, known.without(refused)

    bought: MoneySelection | None = None
    prices = _prices(scored, workers, costs)
    if prices is not None and money is not None:
        from workbench.selection.money import within_money

        bought = within_money(
            known.gain,
            np.where(known.eligible, prices, 0.0),
            budget,
            money,
            seed=seed,
            time_limit=time_limit,
            evidence=n,
        )
        found = Selection(rule, bought.chosen, np.zeros(0), bought.tied, bought.note)
    elif rule == accuracy.RULE:
        if threshold is not None:
            raise InputError(
                f"threshold goes with the rule 'threshold', not {rule!r}: leave it out"
            )
        found = accuracy.by_accuracy(
            known, budget, prior=believed, seed=seed, ties=ties, by_evidence=True
        )
    else:
        found = rules.select(
            known, budget, rule, seed=seed, ties=ties, by_evidence=True, threshold=threshold
        )
    if refused.any() and not known.eligible.any():
        found = replace(found, note=NOBODY)

    k = len(found.chosen)
    order = _ranked(scored, known, found, believed)
    far = k if bought is not None else min(budget, int(known.eligible.sum()))
    score = set_score(known.gain[found.chosen]) if k else None
    low, high = skill_interval(c, n, confidence)
    table = pd.DataFrame(
        {
            "worker": workers[order],
            "answered": n[order],
            "correct": c[order],
            "skill": known.skill[order],
            "low": low[order],
            "high": high[order],
            "gain": np.where(scored.eligible, scored.gain, np.nan)[order],
            "chosen": np.arange(len(order)) < k,
        }
    )
    if prices is not None:
        table.insert(7, "cost", prices[order])
    whole = k > 0 and bool((n[found.chosen] >= 2).all())
    return Hiring(
        table=table,
        chosen=workers[found.chosen],
        rule=rule,
        budget=budget,
        confidence=confidence,
        score=score,
        interval=(
            guarantees.interval(known, found.chosen, confidence=confidence) if whole else None
        ),
        error_bound=None if score is None else guarantees.error_bound(score, L),
        error_bound_printed=(
            None if score is None else guarantees.error_bound(score, L, variant="printed")
        ),
        error_predicted=(
            accuracy.predicted_error(known, found.chosen, prior=believed, seed=seed) if k else None
        ),
        prior=believed,
        curve=_along(known.gain[order[:far]]),
        plug_in_curve=_along(known.plug_in[order[:far]]),
        classes=L,
        class_names=names,
        control=len(gold),
        excluded=_excluded(workers, scored, np.where(refused, below, 0.0)),
        tied=workers[found.tied],
        money=bought,
        notes=_notes(scored, refused, found, workers, rule, bought),
        known=known,
        order=order,
    )


def skill_interval(
    correct: IntArray, answered: IntArray, confidence: float = 0.95
) -> tuple[FloatArray, FloatArray]:
    """Exact interval of each skill (Clopper, Pearson 1934), shapes (m,).

    Covers the skill with at least the given probability, at any number of answers; without any it
    is [0, 1].

    Parameters
    ----------
    correct, answered
        c and n, shape (m,).
    """
    from scipy.special import betaincinv

    tail = (1.0 - confidence) / 2.0
    c, wrong = correct, answered - correct
    # The ends are quantiles of Beta distributions; those with a parameter of 0 are points.
    low = np.where(c > 0, betaincinv(np.maximum(c, 1), wrong + 1, tail), 0.0)
    high = np.where(wrong > 0, betaincinv(c + 1, np.maximum(wrong, 1), 1.0 - tail), 1.0)
    return low, high


def _check_money(rule: str, costs: pd.Series[Any] | float | None, money: float | None) -> None:
    if (costs is None) != (money is None):
        raise InputError("costs and money go together: give both, or neither")
    if costs is not None and rule != "selected":
        raise InputError(f"costs and money go with the rule 'selected', not {rule!r}: leave out")


def _class_names(labels: pd.DataFrame, gold: pd.Series[Any]) -> list[Any]:
    names = list(dict.fromkeys([*labels["label"].unique().tolist(), *gold.unique().tolist()]))
    try:
        return sorted(names)
    except TypeError:  # text and numbers mixed
        return sorted(names, key=str)


def _class_count(classes: int | None, names: list[Any]) -> int:
    if classes is None:
        if len(names) == 1:
            raise InputError(
                f"classes: labels and gold name {names[0]!r} only; say how many classes there are"
            )
        return len(names)
    if checks.count("classes", classes, 2) < len(names):
        raise InputError(
            f"classes is {classes}, and labels and gold name {len(names)} "
            f"({checks.listing(names)}): give {len(names)} or more, or mend the labels"
        )
    return int(classes)


def _prices(
    known: Scores, workers: Names, costs: pd.Series[Any] | float | None
) -> FloatArray | None:
    """Price of each worker, shape (m,); who cannot be scored needs none, and has NaN."""
    if costs is None:
        return None
    prices = np.full(len(known), np.nan)
    if isinstance(costs, pd.Series):
        prices[known.eligible] = align.prices(list(workers[known.eligible]), ["all"], costs)[0]
    else:
        prices[known.eligible] = costs
    return prices


def _ranked(
    scored: Scores, known: Scores, found: Selection, prior: tuple[float, float]
) -> IntArray:
    """All workers: the chosen as the rule has them, the others by its value and evidence.

    Then who is refused, and at last who cannot be scored.
    """
    value: FloatArray = scored.gain
    if found.rule in ("plug-in", "top-informative"):
        value = scored.plug_in
    elif found.rule in ("top-skill", "threshold"):
        value = scored.skill
    elif found.rule == accuracy.RULE:
        value = accuracy.posterior_value(scored, prior)
    value = np.where(scored.eligible, value, -np.inf)
    order = np.lexsort((-scored.answered, -value, ~known.eligible, ~scored.eligible))
    return np.concatenate([found.chosen, order[~np.isin(order, found.chosen)]])


def _along(worth: FloatArray) -> FloatArray:
    """Σ worth / √k of the first k, for every k."""
    curve: FloatArray = np.cumsum(worth) / np.sqrt(np.arange(1, len(worth) + 1))
    return curve


def _excluded(workers: Names, known: Scores, below: FloatArray) -> pd.DataFrame:
    """`below` is the chance of who is refused, else 0."""
    out = np.flatnonzero(~known.eligible | (below > 0))
    why = [
        f"below chance with probability {below[j]:.3f}" if below[j]
        else "one control answer" if known.answered[j]
        else "no control answer"
        for j in out
    ]  # fmt: skip
    return pd.DataFrame({"worker": workers[out], "why": why})


def _notes(
    known: Scores,
    refused: BoolArray,
    found: Selection,
    workers: Names,
    rule: str,
    money: MoneySelection | None,
) -> tuple[str, ...]:
    notes = [found.note] if found.note else []
    if refused.any():
        notes.append(
            f"refused, {refused.sum()} of {len(known)} workers "
            f"({checks.listing(workers[refused])}): their answers make a skill below guessing, "
            f"1/{known.classes}, more likely than not; they are hired where below chance is allowed"
        )
    out = known.answered[~known.eligible]
    if len(out):
        none = int((out == 0).sum())
        notes.append(
            f"left out, {len(out)} of {len(known)} workers: {none} without a control answer, "
            f"{len(out) - none} with one (one answer has no variance); a prior takes them in"
        )
    guessed = int((known.eligible & (known.answered < 2)).sum())
    if guessed:
        notes.append(
            f"{guessed} workers with no or one control answer are scored by the prior: G is no "
            "unbiased estimate for them, and no interval for F covers them"
        )
    if len(found.tied):
        inside = int(np.isin(found.tied, found.chosen).sum())
        by = "gain and price" if money is not None else "rank"
        notes.append(
            f"{len(found.tied)} workers of equal {by} straddle the cut "
            f"({checks.listing(workers[found.tied])}): {inside} of them taken by a draw"
        )
    liars = workers[found.chosen][known.skill[found.chosen] < 1.0 / known.classes]
    if len(liars):
        notes.append(
            f"chosen though worse than guessing, {len(liars)} ({checks.listing(liars)}): their "
            "weights are negative; in a plain majority they do harm"
        )
    if len(found.chosen):
        notes.append(
            "bound and expected error take every chosen worker to label every task, independently "
            "of the others and, where wrong, evenly among the classes: workers who err on the same "
            "hard tasks do worse"
        )
    if len(found.chosen) and rule != "random":
        notes.append(
            "the score is of workers chosen by the same answers, and tends to be too high; its "
            "interval, and the bound at it, are for workers fixed beforehand"
        )
    return tuple(notes)
