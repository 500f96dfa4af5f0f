"""What Ho, Jabbari, Vaughan (ICML 2013) claim."""

from __future__ import annotations

import numpy as np
import pandas as pd

from workbench.claims.claim import Claim, Finding, NotMeasured, Numbers, Ruling, Tables
from workbench.claims.reading import (
    BEYOND,
    Gap,
    beyond_chance,
    broken_somewhere,
    ended_well,
    enough,
    flags,
    gap,
    listed,
    mean_se,
    percent,
)
from workbench.studies.catalog.adaptive_curves import at_equal_labels

PAPER = "Ho, Jabbari, Vaughan 2013"
ROUNDING = 1e-9
"""Relative rounding allowed where numbers are compared."""
SOLVER = 1e-6
"""Relative tolerance of an optimum."""
CROWDS = ("one-type", "two-types")
"""Figure 1's two crowds, as its study names them."""
IDENTICAL = 0.02
"""Two errors closer than this count as almost identical."""


def lemma_1(tables: Tables) -> Finding:
    """Exact errors above the bound; weights that make the bound smaller; the closed form."""
    rows = ended_well(tables["weighted-vote"])
    leans = rows["lean"] >= 0
    above = rows["error_any"] - rows["error_any_radius"] > rows["bound_any"] * (1 + ROUNDING)
    best = rows["error_best"] - rows["error_best_radius"] > rows["bound_best"] * (1 + ROUNDING)
    beaten = rows["bound_nearby"] < rows["bound_best"] * (1 - ROUNDING)
    closed = ~np.isclose(rows["bound_best"], rows["closed_form"], rtol=1e-6, atol=0)
    broken = int((above & leans).sum() + best.sum() + beaten.sum() + closed.sum())
    wrong_way, turned = int((above & ~leans).sum()), int((~leans).sum())
    share = float((rows["error_best"] / rows["bound_best"]).max())
    figures = (
        f"Of {leans.sum():,} random votes with Σw(2p−1) ≥ 0, {int((above & leans).sum())} err more "
        f"often than the bound. With w = 2p−1 {int(best.sum())} of {len(rows):,} do (at most "
        f"{share:.2f} of the bound), {int(beaten.sum())} times weights nearby have a smaller "
        f"bound, and {int(closed.sum())} times it is not exp(−½Σq)."
    )
    if broken:
        return Finding(Ruling.NOT_REPRODUCED, figures)
    if wrong_way:
        caveat = (
            f" Hoeffding's inequality is one-sided: of {turned:,} votes that lean the wrong way, "
            f"Σw(2p−1) < 0, {wrong_way:,} err more often than the bound as printed."
        )
        return Finding(Ruling.CAVEAT, figures + caveat)
    return Finding(Ruling.HOLDS, figures)


def requirement(tables: Tables) -> Finding:
    """Errors above ε once Σq ≥ C."""
    rows = ended_well(tables["weighted-vote"])
    above = rows["error_hired"] - rows["error_hired_radius"] > rows["epsilon"]
    share = rows["error_hired"] / rows["epsilon"]
    figures = (
        f"Voters hired until Σq ≥ C: the exact error is above ε in {int(above.sum())} of "
        f"{len(rows):,} trials, with ε from {rows['epsilon'].min():g} to {rows['epsilon'].max():g};"
        f" it is {share.mean():.3f} ε on average and {share.max():.3f} ε at most."
    )
    return Finding(Ruling.NOT_REPRODUCED if above.any() else Ruling.HOLDS, figures)


def lemma_2(tables: Tables) -> Finding:
    """Estimates beyond t, counted at each skill, t and δ."""
    rows = ended_well(tables["gold-estimates"])
    points = rows.groupby(["skill", "radius", "delta"], as_index=False)[["missed", "draws"]].sum()
    share = points["missed"] / points["draws"]
    over = [
        beyond_chance(missed, draws, delta, looks=len(points))
        for missed, draws, delta in zip(
            points["missed"], points["draws"], points["delta"], strict=True
        )
    ]
    worst = int(np.argmax(share / points["delta"]))
    figures = (
        f"{points['draws'].sum():,} estimates at {len(points)} settings of p, t and δ: beyond t "
        f"more often than δ, by more than chance, at {sum(over)} of them. Nearest to δ: "
        f"{percent(share[worst])} beyond t = {points['radius'][worst]:g}, δ = "
        f"{percent(points['delta'][worst])}, p = {points['skill'][worst]:g}."
    )
    return Finding(Ruling.NOT_REPRODUCED if any(over) else Ruling.HOLDS, figures)


def lemma_3(rows: pd.DataFrame) -> Numbers:
    """|q̂ − q| beside 4|p̂ − p|."""
    stretch, broken = rows["stretch"].max(), rows["broken"].sum()
    return {
        "draws": rows["draws"].sum(),
        "stretch": stretch,
        "broken": broken,
        "refuted": broken or stretch > 1 + ROUNDING,
    }


def theorem_1(tables: Tables) -> Finding:
    """Feasibility and labels above the integer optimum, where no capacity cuts through a tie."""
    rows = ended_well(tables["offline-assignment"])
    rows = rows[rows["dearest"] == 1]
    untied = enough(rows[rows["tied"] == 0], 20, "instances where the assumption holds")
    excess = untied["cost"] - untied["optimum"]
    broken = int(((untied["short"] > 0) | (excess > untied["promise"] * (1 + ROUNDING))).sum())
    figures = (
        f"The perturbation assumption holds in {len(untied)} of {len(rows)} perturbed instances. "
        f"In "
        f"{int((untied['full'] > 0).sum())} of these some capacity is used up (with room to spare "
        f"each task is on its own). {broken} results are infeasible or more than min(m, n) labels "
        f"above the integer optimum; the most is {excess.max():.0f} label(s), min(m, n) = "
        f"{untied['promise'].max():.0f}."
    )
    if broken:
        return Finding(Ruling.NOT_REPRODUCED, figures)
    tied = rows[rows["tied"] > 0]
    short = int((tied["short"] > 0).sum())
    if not short:
        return Finding(Ruling.HOLDS, figures)
    caveat = (
        f" Perturbing cannot bring the assumption about where capacities bind: it fails in "
        f"{len(tied)} instances, and {short} of those leave a task short."
    )
    return Finding(Ruling.CAVEAT, figures + caveat)


def _published(rows: pd.DataFrame) -> pd.DataFrame:
    """Trials at the paper's own size (Section 6)."""
    own = (rows["tasks"] == 1000) & (rows["workers"] == 300) & (rows["gamma"] == 0.3)
    return enough(rows[own], 8, "trials at the paper's own settings")


def theorem_2(tables: Tables) -> Finding:
    """Cost and error beside the promises, and whether the paper's settings have any."""
    rows = ended_well(tables["sampled-weights"])
    rows = rows[(rows["dearest"] == 1) & (rows["crowd"] != "difficulty")]
    own = _published(rows)
    with_ratio = enough(rows[flags(rows["ratio_stands"])], 20, "trials with a promised ratio")
    with_error = enough(rows[flags(rows["error_stands"])], 8, "trials with a promised error")
    ratio = with_ratio["cost"] / with_ratio["bound"]
    dearer = ratio > with_ratio["ratio_promise"] * (1 + SOLVER)
    worse = with_error["error_bound"] > with_error["error_promise"] * (1 + ROUNDING)
    by = ["crowd", "epsilon", "gamma", "tasks"]
    void = ~flags(own["error_stands"])
    figures = (
        f"At the paper's settings (n = 1000, m = 300, γ = 0.3, δ = "
        f"{own['delta'].iloc[0]:g}, ε from {own['epsilon'].min():g} to {own['epsilon'].max():g}) "
        f"the exponent of ε is {own['exponent'].min():.1f} to {own['exponent'].max():.1f}, so the "
        f"error is not bounded in {void.sum()} of {len(own)} trials; the promised ratio is "
        f"{own['ratio_promise'].min():,.0f} or more, the measured one "
        f"{(own['cost'] / own['bound']).mean():.2f} on average. Where the conditions hold, "
        f"{dearer.sum()} of {len(with_ratio)} trials exceed the ratio (largest measured "
        f"{ratio.max():.2f}, least promised {with_ratio['ratio_promise'].min():.2f}) and "
        f"{worse.sum()} of {len(with_error)} the error, with ε ≤ "
        f"{with_error['epsilon'].max():.0e}."
    )
    if broken_somewhere(with_ratio, dearer, by) or broken_somewhere(with_error, worse, by):
        return Finding(Ruling.NOT_REPRODUCED, figures)
    return Finding(Ruling.VOID if void.all() else Ruling.HOLDS, figures)


def _radius(tables: Tables) -> tuple[bool, str]:
    """Whether t < q̄*_min/4 fails in all of the paper's own settings, t by Lemma 2."""
    own = _published(ended_well(tables["main-algorithm"]))
    fails = own["lemma_2_radius"] >= own["mean_quality_least"] / 4
    text = (
        f" At the paper's settings (s = {own['gold'].min()} to {own['gold'].max()} gold tasks, δ ="
        f" {own['delta'].iloc[0]:g}) Lemma 2 gives t = {own['lemma_2_radius'].min():.2f} or more, "
        f"not below q̄*_min/4, at most {(own['mean_quality_least'] / 4).max():.3f}, in "
        f"{int(fails.sum())} of {len(own)} trials."
    )
    return bool(fails.all()), text


def theorem_3(tables: Tables) -> Finding:
    """Optimum of the approximated program beside the relaxation's."""
    rows = ended_well(tables["estimated-skills"])
    rows = enough(rows[flags(rows["stands"])], 20, "trials with t < q̄*_min/4")
    found = flags(rows["feasible"])
    ratio = rows["approximated"] / rows["relaxed"]
    broken = ~found | (ratio > 1 + SOLVER)
    void, text = _radius(tables)
    figures = (
        f"With t < q̄*_min/4 the approximated optimum is the larger in {int(broken.sum())} of "
        f"{len(rows)} trials; it is {ratio.mean():.2f} of the true one on average and "
        f"{ratio.max():.3f} at most."
    )
    if broken.any():
        return Finding(Ruling.NOT_REPRODUCED, figures)
    return Finding(Ruling.VOID if void else Ruling.HOLDS, figures + text)


def theorem_4(tables: Tables) -> Finding:
    """Exact errors of whole solutions of the approximated program, beside the promise."""
    rows = ended_well(tables["estimated-skills"])
    rows = enough(rows[flags(rows["error_stands"])], 20, "trials with t < q̂_i/4")
    broken = int((rows["beyond"] > 0).sum())
    void, text = _radius(tables)
    figures = (
        f"Integer optima of the approximated program: in {broken} of {len(rows)} trials a task's "
        f"exact error is above its promise; at most it is {rows['error_share'].max():.2f} of it."
    )
    if broken:
        return Finding(Ruling.NOT_REPRODUCED, figures)
    return Finding(Ruling.VOID if void else Ruling.HOLDS, figures + text)


def theorem_5(tables: Tables) -> Finding:
    """The Main Algorithm beside its promises, and whether the paper's settings have any."""
    rows = ended_well(tables["main-algorithm"])
    own = _published(rows)
    held = enough(rows[flags(rows["stands"])], 8, "trials in which all conditions hold")
    ratio = held["labels"] / held["bound"]
    dearer = ratio > held["ratio_promise"] * (1 + SOLVER)
    open_ = held["kept"] < held["tasks"]
    worse = held["broken"] > 0
    void = ~flags(own["stands"])
    figures = (
        f"At the paper's settings {int(void.sum())} of {len(own)} trials fail the conditions: "
        f"s = {own['gold'].min()} to {own['gold'].max()} gold tasks a type where "
        f"{own['gold_needed'].min():,} to {own['gold_needed'].max():,} are needed. Where they hold "
        f"(s = {held['gold'].min():,}, ε ≤ {held['epsilon'].max():.0e}) {int(dearer.sum())} of "
        f"{len(held)} trials exceed the ratio, against the relaxation (largest measured "
        f"{ratio.max():.2f}, least promised {held['ratio_promise'].min():.2f}), and in "
        f"{int(open_.sum())} a task's error is not shown to be within the promise."
    )
    by = ["crowd", "epsilon", "gamma", "gold"]
    bad = dearer | worse | open_
    if broken_somewhere(held, bad, by):
        return Finding(Ruling.NOT_REPRODUCED, figures)
    return Finding(Ruling.VOID if void.all() else Ruling.HOLDS, figures)


def toy_example(tables: Tables) -> Finding:
    """Labels a task with the three perfect workers judged rightly, too low, and corrected."""
    rows = ended_well(tables["toy-example"])
    corrected = flags(rows["corrected"])
    plain = rows[~corrected]
    right = enough(plain[plain["judged"] == 1], 2, "trials with q̂ = 1 for the three")
    low = enough(plain[plain["judged"] < 0.992], 2, "trials with q̂ < 0.992 for the three")
    mended = enough(rows[corrected], 2, "trials with ε′")
    by_quality = low.pivot_table(values="labels_others", index="judged", columns="poor")
    poorest, next_poorest = sorted(float(poor) for poor in by_quality.columns)[:2]
    growth = float((by_quality[poorest] / by_quality[next_poorest]).min())
    worst = low.iloc[int(np.argmax(low["labels"]))]
    optimum, asked = float(rows["optimum"].max()), float(rows["requirement"].iloc[0])
    figures = (
        f"C = {asked:.3f}. The optimum takes {optimum:.0f} labels a task, the algorithm with true "
        f"qualities {right['labels'].max():.0f}. With the three judged {worst['judged']:g} it "
        f"takes {worst['labels']:,.0f} (others of quality {worst['poor']:g}); others "
        f"{next_poorest / poorest:.0f} times poorer cost at least {growth:.1f} times the labels. "
        f"With ε′ it takes at most {mended['labels'].max():.0f}."
    )
    poorest_least = float(low.loc[low["poor"] == poorest, "labels"].min())
    fine = (
        abs(asked - 3) < 0.01
        and optimum == right["labels"].max() == 3
        and rows["optimum_others"].max() < 1e-6
        and poorest_least > 10 * optimum
        and growth > 0.8 * next_poorest / poorest
    )
    return Finding(Ruling.HOLDS if fine else Ruling.NOT_REPRODUCED, figures)


def _figure(table: pd.DataFrame, *, gold: int) -> pd.DataFrame:
    """A figure's trials at the paper's own size, and at the message passing we settled on."""
    rows = ended_well(table)
    own = (rows["capacity"] == 200) & (rows["gold"] == gold) & (rows["iterations"] == 10)
    return _published(rows[own])


def _span(one: Gap) -> str:
    return f"{one.labels[0]:g} to {one.labels[-1]:g} labels a task"


def _errors(rows: pd.DataFrame, panel: str) -> dict[object, pd.DataFrame]:
    """Errors of all methods at equal labels, a table for each value of the panel."""
    equal = at_equal_labels(rows, panel)
    return {value: equal[equal[panel] == value] for value in equal[panel].unique()}


def _of(errors: dict[object, pd.DataFrame], value: object) -> pd.DataFrame:
    if value not in errors:
        raise NotMeasured(f"no trials of the crowd {value}")
    return errors[value]


def figure_1_passing(tables: Tables) -> Finding:
    """Message passing in both crowds of Figure 1."""
    errors = _errors(_figure(tables["adaptive-figure-1"], gold=20), "crowd")
    one, two = (gap(_of(errors, crowd), "message passing") for crowd in CROWDS)
    apart = two.minus(one)
    alike = np.abs(apart.value) <= np.maximum(IDENTICAL, BEYOND * apart.se)
    most = int(np.argmax(np.abs(apart.value)))
    figures = (
        f"Error with two worker types less that with one, at {_span(apart)}: "
        f"{apart.value.mean():+.3f} on average, at most {apart.value[most]:+.3f} ± "
        f"{apart.se[most]:.3f} (at {apart.labels[most]:g}); within {IDENTICAL} or 2 standard "
        f"errors at {int(alike.sum())} of {len(alike)} numbers of labels."
    )
    if alike.all():
        return Finding(Ruling.HOLDS, figures)
    return Finding(Ruling.CAVEAT if alike.mean() > 0.5 else Ruling.NOT_REPRODUCED, figures)


def figure_1_adaptive(tables: Tables) -> Finding:
    """Adaptive less message passing at equal labels, in both crowds of Figure 1."""
    errors = _errors(_figure(tables["adaptive-figure-1"], gold=20), "crowd")
    uniform, mixed = (gap(_of(errors, crowd), "adaptive", "message passing") for crowd in CROWDS)
    figures = (
        f"Error of the adaptive algorithm less message passing's on the same crowds, exploration "
        f"paid for, 2 standard errors counting as a difference. One worker type, "
        f"{_span(uniform)}: {uniform.value.mean():+.3f} on average, worse at "
        f"{listed(uniform.above)}, better at {listed(uniform.below)}. Two types, {_span(mixed)}: "
        f"{mixed.value.mean():+.3f} on average, better at {listed(mixed.below)}, worse at "
        f"{listed(mixed.above)}."
    )
    shares = len(uniform.above) / len(uniform.labels), len(mixed.below) / len(mixed.labels)
    if min(shares) > 0.5 and not len(uniform.below) and not len(mixed.above):
        return Finding(Ruling.HOLDS, figures)
    return Finding(Ruling.CAVEAT if min(shares) > 0 else Ruling.NOT_REPRODUCED, figures)


def figure_2_passing(tables: Tables) -> Finding:
    """Message passing's error at equal labels as k grows."""
    errors = _errors(_figure(tables["adaptive-figure-2"], gold=10), "types")
    one, two, three = (gap(_of(errors, k), "message passing") for k in (1, 2, 3))
    first, second = two.minus(one), three.minus(two)
    means = ", ".join(f"{curve.value.mean():.3f}" for curve in (one, two, three))
    figures = (
        f"Mean error of message passing at {_span(first)}, k = 1, 2, 3: {means}. It rises by over "
        f"2 standard errors from 1 to 2 at {len(first.above)} and from 2 to 3 at "
        f"{len(second.above)} of {len(first.labels)} numbers of labels."
    )
    shares = len(first.above) / len(first.labels), len(second.above) / len(second.labels)
    if min(shares) > 0.5:
        return Finding(Ruling.HOLDS, figures)
    return Finding(Ruling.CAVEAT if max(shares) > 0.5 else Ruling.NOT_REPRODUCED, figures)


def figure_2_adaptive(tables: Tables) -> Finding:
    """The adaptive algorithm's rise in error from k = 1 to 3, beside message passing's."""
    errors = _errors(_figure(tables["adaptive-figure-2"], gold=10), "types")
    own, other = (
        gap(_of(errors, 3), method).minus(gap(_of(errors, 1), method))
        for method in ("adaptive", "message passing")
    )
    slower, half = own.minus(other), own.minus(other, 0.5)
    where = np.isin(other.labels, slower.labels)
    figures = (
        f"From k = 1 to 3, at {_span(slower)}, the adaptive algorithm's error rises by "
        f"{own.value.mean():.3f} on average (exploration paid for), message passing's by "
        f"{other.value[where].mean():.3f}: less by over 2 standard errors at {len(slower.below)} "
        f"of {len(slower.labels)} numbers of labels, less than half of it at {len(half.below)}."
    )
    if len(half.below) > 0.5 * len(half.labels):
        return Finding(Ruling.HOLDS, figures)
    steady = len(slower.below) > 0.5 * len(slower.labels)
    return Finding(Ruling.CAVEAT if steady else Ruling.NOT_REPRODUCED, figures)


def extension_costs(tables: Tables) -> Finding:
    """Prices in place of counts: Theorem 1's promise, and what heeding prices saves."""
    rows = ended_well(tables["offline-assignment"])
    untied = rows[(rows["dearest"] > 1) & (rows["tied"] == 0)]
    enough(untied, 20, "priced instances where the perturbation assumption holds")
    excess = untied["cost"] - untied["optimum"]
    allowed = untied["promise"] * untied["dearest_label"]
    broken = int(((untied["short"] > 0) | (excess > allowed * (1 + ROUNDING))).sum())
    online = ended_well(tables["sampled-weights"])
    online = enough(online[online["dearest"] > 1], 8, "priced trials of the sampled program")
    ratio = online["cost"] / online["bound"]
    saved, se = mean_se(1 - online["unit_cost"] / online["unit_blind"])
    figures = (
        f"With the optimal dual and prices drawn from 1 to {untied['dearest'].max():g}, {broken} "
        f"of {len(untied)} results are infeasible or more than min(m, n) dearest labels above the "
        f"integer optimum (at most {excess.max():.2f}; prices go to "
        f"{untied['dearest_label'].max():.2f}), where no capacity cuts through a tie. With weights "
        f"from a sample the cost is {ratio.mean():.2f} of the relaxation's ({len(online)} trials), "
        f"and heeding prices saves {percent(saved)} ± {percent(se)} (one standard error) of the "
        f"cost of a unit of quality."
    )
    if broken or saved <= 2 * se:
        return Finding(Ruling.NOT_REPRODUCED, figures)
    return Finding(Ruling.HOLDS, figures)


def extension_structure(tables: Tables) -> Finding:
    """No types: Theorems 1 and 2 as before, and exploration that uses another structure."""
    offline = ended_well(tables["offline-assignment"])
    untied = offline[(offline["dearest"] == 1) & (offline["tied"] == 0)]
    enough(untied, 20, "instances where the perturbation assumption holds")
    excess = untied["cost"] - untied["optimum"]
    broken = int(((untied["short"] > 0) | (excess > untied["promise"])).sum())
    sampled = ended_well(tables["sampled-weights"])
    sampled = sampled[(sampled["crowd"] == "difficulty") & flags(sampled["ratio_stands"])]
    enough(sampled, 8, "trials of the sampled program without types")
    ratio = sampled["cost"] / sampled["bound"]
    dearer = ratio > sampled["ratio_promise"] * (1 + SOLVER)
    explored = ended_well(tables["structured-tasks"])
    way = explored["exploration"]
    fitted = enough(explored[way == "ability"], 10, "trials that fit abilities")
    by_type = enough(explored[way == "type"], 10, "trials that explore by type")
    over = fitted["error"] - fitted["epsilon"]
    mean, se = mean_se(over)
    figures = (
        f"Qualities of their own for every pair: {broken} of {len(untied)} offline results break "
        f"Theorem 1. Every task its own easiness: {int(dearer.sum())} of {len(sampled)} break "
        f"Theorem 2's ratio ({ratio.mean():.2f} on average). Abilities fitted to "
        f"{fitted['gold'].mean():.0f} gold tasks a worker put skills off by "
        f"{fitted['off'].mean():.3f} and give a mean error {(over + fitted['epsilon']).mean():.3f} "
        f"at ε = {fitted['epsilon'].mean():.3f} on average, with {_cost(fitted):.2f} of the "
        f"relaxation's labels; exploring each type takes {by_type['gold'].mean():,.0f} gold tasks, "
        f"for {by_type['off'].mean():.3f}, {by_type['error'].mean():.3f} and {_cost(by_type):.2f}."
    )
    by = ["crowd", "epsilon", "gamma", "tasks"]
    if broken or broken_somewhere(sampled, dearer, by) or mean > 2 * se:
        return Finding(Ruling.NOT_REPRODUCED, figures)
    return Finding(Ruling.HOLDS, figures)


def _cost(rows: pd.DataFrame) -> float:
    return float((rows["labels"] / rows["bound"]).mean())


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "adaptive-lemma-1",
        f"{PAPER}, Lemma 1",
        "A weighted vote with weights w errs with probability at most "
        "exp(−½ (Σw(2p−1))² / Σw²). The bound is least for w = 2p−1, where it is exp(−½ Σq).",
        ("weighted-vote",),
        lemma_1,
    ),
    Claim(
        "adaptive-requirement",
        f"{PAPER}, Section 4.1",
        "Labels whose qualities add up to C = 2 ln(1/ε), weighted by 2p−1, leave an error below ε.",
        ("weighted-vote",),
        requirement,
    ),
    Claim(
        "adaptive-lemma-2",
        f"{PAPER}, Lemma 2",
        "With ln(2/δ)/(2t²) gold tasks the share of right answers is within t of the skill with "
        "probability at least 1 − δ.",
        ("gold-estimates",),
        lemma_2,
    ),
    Claim(
        "adaptive-lemma-3",
        f"{PAPER}, Lemma 3",
        "A skill estimated within t gives a quality (2p̂−1)² within 4t.",
        ("gold-estimates",),
        lemma_3,
        "{draws:,} estimates: |q̂ − q| is at most {stretch:.3f} of 4|p̂ − p|; of those with "
        "|p̂ − p| ≤ t, {broken} have |q̂ − q| > 4t.",
    ),
    Claim(
        "adaptive-theorem-1",
        f"{PAPER}, Theorem 1",
        "Given the relaxation's optimal dual, the Primal Approximation Algorithm gives a feasible "
        "assignment with at most min(m, n) labels more than the integer optimum, once qualities "
        "are perturbed so that no two tasks of a worker have one value.",
        ("offline-assignment",),
        theorem_1,
        least=40,
    ),
    Claim(
        "adaptive-theorem-2",
        f"{PAPER}, Theorem 2",
        "With task weights from a sample of γm workers and skills known, labels are within a "
        "factor 1 + min(m,n)/(q_min n C) + 35 ln(2/δ)/(q_min √(γC)) of the relaxation's and each "
        "task's error is at most ε^(1 − 6 ln(2/δ)/√(γC)), with probability at least 1 − δ.",
        ("sampled-weights",),
        theorem_2,
        least=40,
    ),
    Claim(
        "adaptive-toy-example",
        f"{PAPER}, Section 5.2",
        "With three workers of quality 1, others of quality 10⁻⁴ and ε = 0.224, C ≈ 3 and the "
        "optimum asks the three alone; if their qualities are underestimated, tasks go to many "
        "more workers, arbitrarily many as the others get poorer.",
        ("toy-example",),
        toy_example,
        least=8,
    ),
    Claim(
        "adaptive-theorem-3",
        f"{PAPER}, Theorem 3",
        "If |p̂ − p| ≤ t < q̄*_min/4, the program with q̂ and ε′ = ε^(1 − 4t/q̄*_min) has an optimum "
        "no larger than the relaxation's with q and ε.",
        ("estimated-skills", "main-algorithm"),
        theorem_3,
    ),
    Claim(
        "adaptive-theorem-4",
        f"{PAPER}, Theorem 4",
        "Under the same conditions a whole assignment feasible for q̂ and ε′, weighted by 2p̂−1, "
        "errs on task i with probability at most ε^((1 − 4t/q̄*_min)(1 − 4t/q̂_i)).",
        ("estimated-skills", "main-algorithm"),
        theorem_4,
    ),
    Claim(
        "adaptive-theorem-5",
        f"{PAPER}, Theorem 5",
        "With s ≥ 8 ln(4T(1+γ)m/δ)/q̄*²_min gold tasks a type, the Main Algorithm's labels on real "
        "tasks are within 1 + min(m,n)/(q̂_min n C′) + 35 ln(4/δ)/(q̂_min √(γC′)) of the integer "
        "optimum and task i errs with probability at most ε^((1−l1)(1−l2)(1−l3_i)), with "
        "probability at least 1 − δ.",
        ("main-algorithm",),
        theorem_5,
    ),
    Claim(
        "adaptive-figure-1-message-passing",
        f"{PAPER}, Figure 1",
        "Message passing does almost equally well with uniform workers (skill 0.6414) and with "
        "half spammers, half hammers (0.7).",
        ("adaptive-figure-1",),
        figure_1_passing,
    ),
    Claim(
        "adaptive-figure-1-adaptive",
        f"{PAPER}, Figure 1",
        "With uniform workers the adaptive algorithm does worse than message passing, since it "
        "pays for exploration; with half spammers, half hammers it does better.",
        ("adaptive-figure-1",),
        figure_1_adaptive,
    ),
    Claim(
        "adaptive-figure-2-message-passing",
        f"{PAPER}, Figure 2",
        "With k types of tasks and of workers, message passing gets worse quickly as k grows from "
        "1 to 3.",
        ("adaptive-figure-2",),
        figure_2_passing,
    ),
    Claim(
        "adaptive-figure-2-adaptive",
        f"{PAPER}, Figure 2",
        "The adaptive algorithm gets worse much more slowly as k grows, exploration paid for. "
        "(Read as: its error rises by less than half as much.)",
        ("adaptive-figure-2",),
        figure_2_adaptive,
    ),
    Claim(
        "adaptive-extension-costs",
        f"{PAPER}, Section 7",
        "Where workers charge different prices, the cost Σ c y takes the place of the number of "
        "labels and the same techniques apply. (Read as: Theorem 1's promise in units of the "
        "dearest label, and cost saved by heeding prices with sampled weights.)",
        ("offline-assignment", "sampled-weights"),
        extension_costs,
        least=40,
    ),
    Claim(
        "adaptive-extension-structure",
        f"{PAPER}, Section 7",
        "Task types matter to exploration only: with another structure of the tasks, what must be "
        "explored changes, the algorithm and its analysis do not.",
        ("offline-assignment", "sampled-weights", "structured-tasks"),
        extension_structure,
    ),
)
