"""How often a worker differs from the majority, and what vetting by these counts may promise.

Each question takes the skills, shape (M,), and a generator, and gives a record of `learn-theory`.

Source: Liu, Liu (2015), Sections 2.3, 3.5.3 and 6.2, (12) and (13).
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from crowd_papers.online_learning.learning_runs import (
    EQUAL,
    RUNS,
    STATED,
    mean_of,
    schedule_label,
    share_of,
)
from workbench.accuracy import crowd_constants, majority_accuracy
from workbench.base import FloatArray
from workbench.learning import FACTOR, disagreement_rate, structure
from workbench.studies import (
    BEYOND,
    Record,
    Ruling,
    beyond_chance,
    claim,
    enough,
    flags,
    percent,
    plus_minus,
    records,
)

DRAWS, MOST = 200, 2000
"""Of vetting after a fixed number of rounds: runs drawn, and rounds at most."""


def disagreement(skill: FloatArray, _: np.random.Generator) -> Record:
    """P(Z_i = 1) exactly and as printed; and the chance to rank two workers the wrong way."""
    m = len(skill) - 1 + len(skill) % 2
    p = np.sort(skill[:m])[::-1]
    full = majority_accuracy(p)
    printed = np.array([disagreement_rate(worker, full) for worker in p.tolist()])
    exact = np.array([differs(p, i) for i in range(m)])
    record: dict[str, float | int | bool | None] = {
        "rates": m,
        "rate_off": float((printed - exact).max()),
        "rate_below": float((printed - exact).min()),
        "rate_printed": float(printed.mean()),
        "rate_exact": float(exact.mean()),
        "full_right": full > 0.5,
        "order_broken": bool((np.diff(exact) < -EQUAL).any()),
    }
    only_i, only_j = one_differs(p, 0, m - 1)
    gap = only_j - only_i
    for rounds in (20, 100, 400):
        error = misranked(only_i, only_j, rounds)
        log = math.log(error) if error > 0 else -math.inf
        for name, factor in FACTOR.items():
            excess = log + factor * gap**2 * rounds
            record[f"excess_{name}_{rounds}"] = excess if gap > 0 and error > 1e-250 else None
    return record


def _right(p: FloatArray) -> FloatArray:
    """Distribution of the number of workers who are right, shape (m + 1,)."""
    chance = np.ones(1)
    for worker in p.tolist():
        chance = np.convolve(chance, [1 - worker, worker])
    return chance


def differs(p: FloatArray, i: int) -> float:
    """P(i differs from the majority of all), odd m."""
    m = len(p)
    others = _right(np.delete(p, i))
    wrong_alone = others[(m + 1) // 2 :].sum()  # the majority is right without i
    right_alone = others[: (m - 1) // 2].sum()  # it is wrong although i is right
    return float((1 - p[i]) * wrong_alone + p[i] * right_alone)


def one_differs(p: FloatArray, i: int, j: int) -> tuple[float, float]:
    """P(i differs from the majority and j does not), and the other way round; odd m."""
    m = len(p)
    others = np.append(_right(np.delete(p, [i, j])), np.zeros(2))
    majority_right = float(others[(m - 1) // 2 :].sum())  # with one of the two right
    only_i = (1 - p[i]) * p[j] * majority_right + p[i] * (1 - p[j]) * (1 - majority_right)
    only_j = (1 - p[j]) * p[i] * majority_right + p[j] * (1 - p[i]) * (1 - majority_right)
    return float(only_i), float(only_j)


def misranked(only_i: float, only_j: float, rounds: int) -> float:
    """P(Σ Z_i ≥ Σ Z_j) after so many rounds: the better i differs as often as j, or more."""
    total, power = np.ones(1), np.array([only_j, 1 - only_i - only_j, only_i])
    remaining = rounds
    while remaining:
        if remaining % 2:
            total = np.convolve(total, power)
        power, remaining = np.convolve(power, power), remaining // 2
    return float(total[rounds:].sum())


def vetting(skill: FloatArray, rng: np.random.Generator) -> Record:
    """Drop the least able: what becomes of a_min; and whom counts name after N rounds.

    `strict_gain` and `full_gain`: of a_min, the chance that more than half are right, and of the
    majority with ties drawn. N is the first number of rounds at which (13), at the true ε of the
    two least able, is below 0.1; `wrong_…` counts, of `DRAWS` runs of N rounds, those in which
    another differs most (ties in expectation). None where N exceeds `MOST`.
    """
    p = np.sort(skill)[::-1]
    whole, less = crowd_constants(p), crowd_constants(p[:-1])
    record: dict[str, float | int | None] = {
        "strict_gain": less.a_min - whole.a_min,
        "full_gain": less.full_accuracy - whole.full_accuracy,
        "mean_gain": less.mean_skill - whole.mean_skill,
        "draws": DRAWS,
    }
    p = p[-(len(p) - 1 + len(p) % 2) :]
    gap = differs(p, len(p) - 1) - differs(p, len(p) - 2)
    for name, factor in FACTOR.items():
        rounds = math.inf if gap <= 0 else -math.log(STATED) / (factor * gap**2)
        wrong = _wrongly_named(p, math.floor(rounds) + 1, rng) if rounds < MOST else None
        record |= {f"rounds_{name}": min(rounds, 1e9), f"wrong_{name}": wrong}
    return record


def _wrongly_named(p: FloatArray, rounds: int, rng: np.random.Generator) -> float:
    """Of `DRAWS` runs, in how many another than the last of p differs most from the majority."""
    right = rng.random((DRAWS, rounds, len(p))) < p
    majority = right.sum(axis=2, keepdims=True) * 2 > len(p)
    count = (right != majority).sum(axis=1)
    most = count == count.max(axis=1, keepdims=True)
    return float((1 - most[:, -1] / most.sum(axis=1)).sum())


def agreement(skill: FloatArray, rng: np.random.Generator) -> Record:
    """What `structure` says of a crowd and of its mirror image, by labels of 200 tasks."""
    if rng.random() < 0.5:
        skill = 1 - skill
    kind = rng.integers(3)
    if kind == 2:  # a crowd of coins, or nearly
        skill = 0.5 + 0.1 * (skill - 0.5)
    truth = rng.integers(2, size=200)
    labels = ((rng.random((200, len(skill))) < skill) == truth[:, None]).astype(np.int64)
    seed = int(rng.integers(2**62))
    blind = structure(labels, seed=seed)
    mirrored = structure(1 - labels, seed=seed)
    informed = structure(labels, np.where(np.arange(200) < 30, truth, -1), seed=seed)
    distance = abs(float(skill.mean()) - 0.5)
    return {
        "trusted": bool(skill.mean() > 0.5),
        "distance": distance,
        "warned": bool(blind.low <= 0.02),
        "covered": bool(blind.low <= distance <= blind.high),
        "blind_answers": blind.trusted is not None,
        "mirror_same": bool(np.allclose(blind.lean, mirrored.lean, equal_nan=True)),
        "told_sign": informed.sign,
    }


# What the paper claims.

ROUNDING = 1e-9
"""Rates, and logarithms of chances, this close are equal."""
PROMISED = 0.1
"""Share of the runs in which vetting may drop another than the least able (Section 6.2)."""


@claim(
    id="learn-trust",
    source="Section 2.3",
    statement="If the majority is mostly wrong, the user cannot know this, and the system is "
    "useless.",
    studies=("learn-theory", "learn-exploration"),
    where={"question": "agreement"},
)
def trust(trials: pd.DataFrame, explored: pd.DataFrame) -> Ruling:
    """What agreement tells of a crowd and of its mirror image; and where LS_OL ends with one."""
    answers = int(flags(trials["blind_answers"]).sum())
    same = share_of(trials, "mirror_same")
    warned, distance = flags(trials["warned"]), trials["distance"]
    runs = explored[(explored["crowd"] == "distrusted") & (explored["vote"] == "majority")]
    runs = enough(runs, RUNS, "runs with mean skill below ½")
    right, se = mean_of(runs, "last_accuracy")
    off, off_reversed = runs["off"].mean(), runs["off_reversed"].mean()
    figures = (
        f"Agreement between workers is the same in {percent(same)} of {len(trials):,} crowds and "
        "their mirror "
        f"images. It names a side of ½ without known truths in {answers}. It "
        f"warns in {percent(warned[distance < 0.03].mean())} of the crowds with |p̄ − ½| below "
        f"0.03, in {percent(warned[distance > 0.1].mean())} of those above 0.1. With skills in "
        f"[0, 0.4] LS_OL ends with a set that is right with {plus_minus(right, se)}, its estimates "
        f"off by {off_reversed:.3f} from 1 − p and by {off:.3f} from p."
    )
    useless = right + BEYOND * se < 0.5 and off_reversed < off
    fine = same == 1 and not answers and useless
    return Ruling.holds(figures) if fine else Ruling.refuted(figures)


@claim(
    id="learn-equation-12",
    source="Section 3.5.3, (12)",
    statement="A worker disagrees with the majority with probability π(M) + p(1 − 2π(M)).",
    studies=("learn-theory",),
    where={"question": "disagreement"},
)
def equation_12(trials: pd.DataFrame) -> Ruling:
    """The printed rate beside the exact one, and whether the less able differ more often."""
    trusted = trials[flags(trials["full_right"])]
    broken = int(flags(trusted["order_broken"]).sum())
    off = max(trials["rate_off"].max(), -trials["rate_below"].min())
    figures = (
        f"{len(trials)} crowds: printed {trials['rate_printed'].mean():.3f} on average, exact "
        f"{trials['rate_exact'].mean():.3f}, off by up to {off:.3f} (a worker's own vote counts "
        f"in the majority). A less able worker differs less often in {broken} of "
        f"{len(trusted)} crowds whose majority is mostly right."
    )
    if broken:
        return Ruling.refuted(figures)
    return Ruling.holds_as_corrected(figures) if off > ROUNDING else Ruling.holds(figures)


@claim(
    id="learn-equation-13",
    source="Section 3.5.3, (13)",
    statement="The probability that, after N assignments, the better of two workers has disagreed "
    "with the majority as often as the worse one falls exponentially in ε²N. (The text has lost "
    "the factor in the exponent.)",
    studies=("learn-theory",),
    where={"question": "disagreement"},
)
def equation_13(trials: pd.DataFrame) -> Ruling:
    """The exact chance to rank two workers wrongly beside exp(−2ε²N), and exp(−ε²N/2)."""
    printed, supported = (
        trials.filter(like=f"excess_{name}_").astype(float).to_numpy()
        for name in ("printed", "supported")
    )
    above_printed, above = (int((excess > ROUNDING).sum()) for excess in (printed, supported))
    factor = math.exp(min(float(np.nanmax(printed)), 700))
    figures = (
        f"Best and worst of {len(trials)} crowds: the exact chance exceeds exp(−ε²N/2) in {above} "
        f"of {np.isfinite(supported).sum()} cases, and exp(−2ε²N) in {above_printed}. It does by a "
        f"factor of up to {factor:.2g}, at 20 to 400 assignments: the difference of two counts "
        "ranges over [−1, 1] a task, for which Hoeffding's exponent is ε²N/2. Which of them is "
        "printed cannot be read."
    )
    if above:
        return Ruling.refuted(figures)
    return Ruling.no_data(figures) if above_printed else Ruling.holds(figures)


@claim(
    id="learn-drop-worst",
    source="Section 3.5.3",
    statement="If the worst worker is dropped, a_min rises and the bounds improve.",
    studies=("learn-theory",),
    where={"question": "vetting"},
)
def drop_worst(trials: pd.DataFrame) -> Ruling:
    """What becomes of a_min, of the majority and of the mean skill without the least able."""
    is_odd = trials["workers"] % 2 == 1
    odd, even = trials[is_odd], trials[~is_odd]
    odd_falls, even_falls = (int((rows["strict_gain"] < -EQUAL).sum()) for rows in (odd, even))
    figures = (
        f"a_min falls in {odd_falls} of {len(odd)} crowds of odd size once the least accurate "
        f"worker is dropped, by {-odd['strict_gain'].mean():.3f} in the mean. Those who are left "
        "have to be "
        "right as often as before, one fewer of them (a_min = P(ΣX/M > ½)). It falls in "
        f"{even_falls} of {len(even)} of even size. With ties drawn by a coin the majority of an "
        f"odd crowd gets worse in {percent((odd['full_gain'] < -EQUAL).mean())}. The mean skill "
        f"rises in {percent((trials['mean_gain'] > 0).mean())}."
    )
    if odd_falls > 0.5 * len(odd):
        return Ruling.refuted(figures)
    falls = odd_falls + even_falls > 0
    return Ruling.holds_as_corrected(figures) if falls else Ruling.holds(figures)


@claim(
    id="learn-vetting-error",
    source="Section 6.2",
    statement="If (13) decides which worker is dropped, this is not the worst worker in fewer "
    "than one run in ten. (Read: after a number of assignments fixed beforehand.)",
    studies=("learn-theory", "learn-exploration"),
    where={"question": "vetting"},
)
def vetting_error(trials: pd.DataFrame, explored: pd.DataFrame) -> Ruling:
    """How often another than the least able is dropped: after N rounds, and at the first chance.

    N is fixed beforehand, by (13) at the true difference of the two least able; the rule of
    Section 6.2 takes the measured one and looks after every assignment.
    """
    shares, broken = {}, False
    for variant in FACTOR:
        rows = trials[trials[f"wrong_{variant}"].notna()]
        wrong, drawn = float(rows[f"wrong_{variant}"].sum()), int(rows["draws"].sum())
        shares[variant] = wrong / max(drawn, 1)
        broken |= beyond_chance(round(wrong), drawn, PROMISED, looks=len(FACTOR))
    first = first_drops(explored)
    texts = [
        f"{row.vetting}, {row.crowd}, {schedule_label(row.tests, row.repeats)}: "
        f"{row.wrong} of {row.drops} ({row.runs} runs)"
        for row in records(first)
    ]
    figures = (
        "N fixed by true rates so that exp(−2ε²N) is 0.1: another than the worst worker "
        "disagrees most in "
        f"{percent(shares['printed'])} of the runs of {len(trials)} crowds, and in "
        f"{percent(shares['supported'])} where exp(−ε²N/2) is. A rule that takes "
        "the measured difference for the true one and looks after every assignment is another "
        f"matter; the first dropped was not the least able in: {'; '.join(texts)}."
    )
    if broken:
        return Ruling.refuted(figures)
    printed = first[first["vetting"] == "printed"]
    over = any(
        beyond_chance(row.wrong, row.drops, PROMISED, looks=row.settings)
        for row in records(printed)
    )
    return Ruling.holds_as_corrected(figures) if over else Ruling.holds(figures)


def first_drops(explored: pd.DataFrame) -> pd.DataFrame:
    """Runs with vetting, those that drop somebody, and those where first another than the worst.

    Columns `vetting, crowd, tests, repeats, runs, drops, wrong, settings` of settings with `RUNS`
    runs; `settings` is how many there are with vetting.

    Raises
    ------
    NotMeasured
        No setting has as many.
    """
    rows = enough(explored[explored["vetting"] != "none"], RUNS, "runs with vetting")
    rows = rows.assign(dropping=rows["dropped"] > 0, wrong=flags(rows["first_wrong"]))
    groups = rows.groupby(["vetting", "crowd", "tests", "repeats"], dropna=False)
    table = groups.agg(runs=("dropped", "size"), drops=("dropping", "sum"), wrong=("wrong", "sum"))
    table = table.reset_index().assign(settings=len(table))
    return enough(table[table["runs"] >= RUNS], 1, f"settings with {RUNS} runs")
