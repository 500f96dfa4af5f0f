"""What Ho, Jabbari, Vaughan (ICML 2013) claim."""

from __future__ import annotations

import numpy as np
import pandas as pd

from workbench.claims.claim import Claim, NotMeasured, Numbers, Ruling
from workbench.claims.reading import (
    BEYOND,
    Gap,
    beyond_chance,
    broken_somewhere,
    enough,
    flags,
    gap,
    mean_se,
    only,
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


def lemma_1(rows: pd.DataFrame) -> Numbers:
    """Exact errors above the bound; weights that make the bound smaller; the closed form."""
    leans = rows["lean"] >= 0
    above = rows["error_any"] - rows["error_any_radius"] > rows["bound_any"] * (1 + ROUNDING)
    bound = rows["bound_best"]
    best = rows["error_best"] - rows["error_best_radius"] > bound * (1 + ROUNDING)
    beaten = rows["bound_nearby"] < bound * (1 - ROUNDING)
    closed = ~np.isclose(bound, rows["closed_form"], rtol=1e-6, atol=0)
    broken = (above & leans) | best | beaten | closed
    votes = rows.assign(best=best, beaten=beaten, closed=closed, share=rows["error_best"] / bound)
    return {
        "votes": votes,
        "leaning": votes[leans].assign(above=above),
        "turned": votes[~leans],
        "refuted": broken.any(),
        "caveat": (above & ~leans).sum(),
    }


def requirement(rows: pd.DataFrame) -> Numbers:
    """Errors above ε once Σq ≥ C."""
    above = rows["error_hired"] - rows["error_hired_radius"] > rows["epsilon"]
    share = rows["error_hired"] / rows["epsilon"]
    return {"rows": rows, "share": share, "refuted": above.sum()}


def lemma_2(rows: pd.DataFrame) -> Numbers:
    """Estimates beyond t, counted at each skill, t and δ."""
    points = rows.groupby(["skill", "radius", "delta"], as_index=False)[["missed", "draws"]].sum()
    points["share"] = points["missed"] / points["draws"]
    over = [
        beyond_chance(point["missed"], point["draws"], point["delta"], looks=len(points))
        for point in points.to_dict("records")
    ]
    worst = points.iloc[int((points["share"] / points["delta"]).argmax())]
    return {**worst, "points": points, "refuted": sum(over)}


def lemma_3(rows: pd.DataFrame) -> Numbers:
    """|q̂ − q| beside 4|p̂ − p|."""
    refuted = rows["broken"].any() or rows["stretch"].max() > 1 + ROUNDING
    return {"rows": rows, "refuted": refuted}


def theorem_1(rows: pd.DataFrame) -> Numbers:
    """Feasibility and labels above the integer optimum, where no capacity cuts through a tie."""
    rows = rows.assign(excess=rows["cost"] - rows["optimum"])
    untied = enough(rows[rows["tied"] == 0], 20, "instances where the assumption holds")
    broken = (untied["short"] > 0) | (untied["excess"] > untied["promise"] * (1 + ROUNDING))
    tied = rows[rows["tied"] > 0]
    return {
        "rows": rows,
        "untied": untied,
        "tied": tied,
        "full": (untied["full"] > 0).sum(),
        "refuted": broken.sum(),
        "caveat": (tied["short"] > 0).sum(),
    }


def _published(rows: pd.DataFrame) -> pd.DataFrame:
    """Trials at the paper's own size (Section 6)."""
    what = "trials at the paper's own settings"
    return only(rows, 8, what, tasks=1000, workers=300, gamma=0.3)


def theorem_2(rows: pd.DataFrame) -> Numbers:
    """Cost and error beside the promises, and whether the paper's settings have any."""
    rows = rows[rows["crowd"] != "difficulty"]
    ratio = rows["cost"] / rows["bound"]
    rows = rows.assign(
        ratio=ratio,
        dearer=ratio > rows["ratio_promise"] * (1 + SOLVER),
        worse=rows["error_bound"] > rows["error_promise"] * (1 + ROUNDING),
        unbounded=~flags(rows["error_stands"]),
    )
    own = _published(rows)
    dear = enough(rows[flags(rows["ratio_stands"])], 20, "trials with a promised ratio")
    wrong = enough(rows[flags(rows["error_stands"])], 8, "trials with a promised error")
    by = ["crowd", "epsilon", "gamma", "tasks"]
    return {
        "own": own,
        "delta": own["delta"].iloc[0],
        "with_ratio": dear,
        "with_error": wrong,
        "refuted": broken_somewhere(dear, dear["dearer"], by)
        or broken_somewhere(wrong, wrong["worse"], by),
        "void": own["unbounded"].all(),
    }


RADIUS = (
    " At the paper's settings (s = {own.gold.min} to {own.gold.max} gold tasks, δ = {delta:g}) "
    "Lemma 2 gives t = {own.lemma_2_radius.min:.2f} or more, not below q̄*_min/4, at most "
    "{own.allowed.max:.3f}, in {fails.sum} of {own.n} trials."
)
"""Whether t < q̄*_min/4 fails in all of the paper's own settings, t by Lemma 2."""


def _radius(rows: pd.DataFrame) -> dict[str, object]:
    own = _published(rows)
    own = own.assign(allowed=own["mean_quality_least"] / 4)
    fails = own["lemma_2_radius"] >= own["allowed"]
    return {"own": own, "delta": own["delta"].iloc[0], "fails": fails, "void": fails.all()}


def theorem_3(rows: pd.DataFrame, algorithm: pd.DataFrame) -> Numbers:
    """Optimum of the approximated program beside the relaxation's."""
    rows = enough(rows[flags(rows["stands"])], 20, "trials with t < q̄*_min/4")
    ratio = rows["approximated"] / rows["relaxed"]
    broken = ~flags(rows["feasible"]) | (ratio > 1 + SOLVER)
    return {"ratio": ratio, "refuted": broken.sum(), **_radius(algorithm)}


def theorem_4(rows: pd.DataFrame, algorithm: pd.DataFrame) -> Numbers:
    """Exact errors of whole solutions of the approximated program, beside the promise."""
    rows = enough(rows[flags(rows["error_stands"])], 20, "trials with t < q̂_i/4")
    return {"rows": rows, "refuted": (rows["beyond"] > 0).sum(), **_radius(algorithm)}


def theorem_5(rows: pd.DataFrame) -> Numbers:
    """The Main Algorithm beside its promises, and whether the paper's settings have any."""
    own = _published(rows)
    held = enough(rows[flags(rows["stands"])], 8, "trials in which all conditions hold")
    ratio = held["labels"] / held["bound"]
    dearer = ratio > held["ratio_promise"] * (1 + SOLVER)
    held = held.assign(ratio=ratio, dearer=dearer, open=held["kept"] < held["tasks"])
    bad = dearer | (held["broken"] > 0) | held["open"]
    void = ~flags(own["stands"])
    return {
        "own": own,
        "held": held,
        "failing": void.sum(),
        "refuted": broken_somewhere(held, bad, ["crowd", "epsilon", "gamma", "gold"]),
        "void": void.all(),
    }


def theorem_5_sample(rows: pd.DataFrame) -> Numbers:
    """Trials with γ as printed but below what the proof needs, beside the promises."""
    rows = rows.assign(ratio=rows["labels"] / rows["bound"])
    needed = flags(rows["needed"])
    between = enough(rows[~needed], 20, "trials with γ between 1/C_ε and 1/C_ε′")
    met = enough(rows[needed], 8, "trials with γ of 1/C_ε′ or more")
    dearer = between["ratio"] > between["ratio_promise"] * (1 + SOLVER)
    empty = between["error_promise"] >= 1
    by = ["crowd", "epsilon", "lost", "place"]
    return {
        "between": between.assign(dearer=dearer, empty=empty),
        "met": met,
        "least": 1 / (1 - rows["lost"].min()),
        "most": 1 / (1 - rows["lost"].max()),
        "refuted": broken_somewhere(between, dearer | (between["broken"] > 0), by),
        "caveat": empty.any(),
    }


def made_gold(rows: pd.DataFrame) -> Numbers:
    """Estimates by gold labels that many workers made, beyond Lemma 2's t."""
    keys = ["crowd", "labels", "gold", "delta"]
    sums = rows.groupby(keys)[["wrong", "judged", "missed_made", "missed_true"]].sum().reset_index()
    made = rows.groupby(keys).size().to_numpy() * sums["gold"]
    sums = sums.assign(
        wrong=sums["wrong"] / made,
        made=sums["missed_made"] / sums["judged"],
        true=sums["missed_true"] / sums["judged"],
        failing=[
            beyond_chance(point["missed_made"], point["judged"], point["delta"], looks=len(sums))
            for point in sums.to_dict("records")
        ],
    )
    adverse = sums["crowd"] == "adverse"
    many = sums["labels"] == sums["labels"].max()
    sound = enough(sums[~adverse & many], 1, "settings with the most labels")
    few = enough(sums[~adverse & ~many], 1, "settings with fewer labels")
    against = enough(sums[adverse & many], 1, "settings of a crowd mostly wrong")
    return {
        "sound": sound,
        "few": few,
        "against": against,
        "delta": rows["delta"].iloc[0],
        "refuted": sound["failing"].any(),
        "caveat": few["failing"].any() or against["failing"].any(),
    }


def toy_example(rows: pd.DataFrame) -> Numbers:
    """Labels a task with the three perfect workers judged rightly, too low, and corrected."""
    corrected = flags(rows["corrected"])
    plain = rows[~corrected]
    right = enough(plain[plain["judged"] == 1], 2, "trials with q̂ = 1 for the three")
    low = enough(plain[plain["judged"] < 0.992], 2, "trials with q̂ < 0.992 for the three")
    mended = enough(rows[corrected], 2, "trials with ε′")
    by_quality = low.pivot_table(values="labels_others", index="judged", columns="poor")
    poorest, next_poorest = sorted(float(poor) for poor in by_quality.columns)[:2]
    growth = by_quality[poorest] / by_quality[next_poorest]
    optimum, asked = rows["optimum"].max(), rows["requirement"].iloc[0]
    fine = (
        abs(asked - 3) < 0.01
        and optimum == right["labels"].max() == 3
        and rows["optimum_others"].max() < 1e-6
        and low.loc[low["poor"] == poorest, "labels"].min() > 10 * optimum
        and growth.min() > 0.8 * next_poorest / poorest
    )
    return {
        **low.nlargest(1, "labels").iloc[0],
        "asked": asked,
        "rows": rows,
        "right": right,
        "mended": mended,
        "poorer": next_poorest / poorest,
        "growth": growth,
        "refuted": not fine,
    }


def _errors(table: pd.DataFrame, panel: str, gold: int) -> dict[object, pd.DataFrame]:
    """Errors at equal labels of a figure's trials as published, by the panel's values.

    Of message passing, those with the number of iterations that we settled on.
    """
    own = only(table, 0, "", capacity=200, gold=gold, iterations=10)
    equal = at_equal_labels(_published(own), panel)
    return {value: equal[equal[panel] == value] for value in equal[panel].unique()}


def _gap(errors: dict[object, pd.DataFrame], value: object, *methods: str) -> Gap:
    if value not in errors:
        raise NotMeasured(f"no trials of the crowd {value}")
    return gap(errors[value], *methods)


def _span(one: Gap) -> str:
    return f"{one.labels[0]:g} to {one.labels[-1]:g} labels a task"


def figure_1_passing(table: pd.DataFrame) -> Numbers:
    """Message passing in both crowds of Figure 1."""
    errors = _errors(table, "crowd", 20)
    one, two = (_gap(errors, crowd, "message passing") for crowd in CROWDS)
    apart = two.minus(one)
    alike = np.abs(apart.value) <= np.maximum(IDENTICAL, BEYOND * apart.se)
    most = int(np.argmax(np.abs(apart.value)))
    return {
        "where": _span(apart),
        "apart": apart.value,
        "most": (apart.value[most], apart.se[most]),
        "at": apart.labels[most],
        "alike": alike,
        "refuted": alike.mean() <= 0.5,
        "caveat": not alike.all(),
    }


def figure_1_adaptive(table: pd.DataFrame) -> Numbers:
    """Adaptive less message passing at equal labels, in both crowds of Figure 1."""
    errors = _errors(table, "crowd", 20)
    uniform, mixed = (_gap(errors, crowd, "adaptive", "message passing") for crowd in CROWDS)
    shares = len(uniform.above) / len(uniform.labels), len(mixed.below) / len(mixed.labels)
    crowds = {"uniform": uniform, "mixed": mixed}
    return {
        **{name: vars(found) for name, found in crowds.items()},
        **{f"{name}_where": _span(found) for name, found in crowds.items()},
        **{f"{name}_worse": found.above for name, found in crowds.items()},
        **{f"{name}_better": found.below for name, found in crowds.items()},
        "refuted": min(shares) == 0,
        "caveat": min(shares) <= 0.5 or len(uniform.below) or len(mixed.above),
    }


def figure_2_passing(table: pd.DataFrame) -> Numbers:
    """Message passing's error at equal labels as k grows."""
    errors = _errors(table, "types", 10)
    curves = [_gap(errors, k, "message passing") for k in (1, 2, 3)]
    first, second = curves[1].minus(curves[0]), curves[2].minus(curves[1])
    shares = len(first.above) / len(first.labels), len(second.above) / len(second.labels)
    return {
        "where": _span(first),
        "means": ", ".join(f"{curve.value.mean():.3f}" for curve in curves),
        "first": first.above,
        "second": second.above,
        "labels": first.labels,
        "refuted": max(shares) <= 0.5,
        "caveat": min(shares) <= 0.5,
    }


def figure_2_adaptive(table: pd.DataFrame) -> Numbers:
    """The adaptive algorithm's rise in error from k = 1 to 3, beside message passing's."""
    errors = _errors(table, "types", 10)
    own, other = (
        _gap(errors, 3, method).minus(_gap(errors, 1, method))
        for method in ("adaptive", "message passing")
    )
    slower, half = own.minus(other), own.minus(other, 0.5)
    return {
        "where": _span(slower),
        "own": own.value,
        "other": other.value[np.isin(other.labels, slower.labels)],
        "slower": slower.below,
        "half": half.below,
        "labels": slower.labels,
        "refuted": len(slower.below) <= 0.5 * len(slower.labels),
        "caveat": len(half.below) <= 0.5 * len(half.labels),
    }


def extension_costs(offline: pd.DataFrame, sampled: pd.DataFrame) -> Numbers:
    """Prices in place of counts: Theorem 1's promise, and what heeding prices saves."""
    offline = offline.assign(excess=offline["cost"] - offline["optimum"])
    untied = offline[(offline["dearest"] > 1) & (offline["tied"] == 0)]
    enough(untied, 20, "priced instances where the perturbation assumption holds")
    allowed = untied["promise"] * untied["dearest_label"]
    broken = ((untied["short"] > 0) | (untied["excess"] > allowed * (1 + ROUNDING))).sum()
    online = enough(sampled[sampled["dearest"] > 1], 8, "priced trials of the sampled program")
    saved, se = mean_se(1 - online["unit_cost"] / online["unit_blind"])
    return {
        "untied": untied,
        "broken": broken,
        "ratio": online["cost"] / online["bound"],
        "saved": saved,
        "doubt": se,
        "refuted": broken or saved <= 2 * se,
    }


def extension_structure(
    offline: pd.DataFrame, sampled: pd.DataFrame, explored: pd.DataFrame
) -> Numbers:
    """No types: Theorems 1 and 2 as before, and exploration that uses another structure."""
    untied = offline[(offline["dearest"] == 1) & (offline["tied"] == 0)]
    enough(untied, 20, "instances where the perturbation assumption holds")
    excess = untied["cost"] - untied["optimum"]
    broken = ((untied["short"] > 0) | (excess > untied["promise"])).sum()
    sampled = sampled[(sampled["crowd"] == "difficulty") & flags(sampled["ratio_stands"])]
    enough(sampled, 8, "trials of the sampled program without types")
    ratio = sampled["cost"] / sampled["bound"]
    dearer = ratio > sampled["ratio_promise"] * (1 + SOLVER)
    explored = explored.assign(ratio=explored["labels"] / explored["bound"])
    fitted = only(explored, 10, "trials that fit abilities", exploration="ability")
    by_type = only(explored, 10, "trials that explore by type", exploration="type")
    over, se = mean_se(fitted["error"] - fitted["epsilon"])
    by = ["crowd", "epsilon", "gamma", "tasks"]
    return {
        "untied": untied,
        "broken": broken,
        "ratio": ratio,
        "dearer": dearer,
        "fitted": fitted,
        "by_type": by_type,
        "refuted": broken or broken_somewhere(sampled, dearer, by) or over > 2 * se,
    }


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "adaptive-lemma-1",
        f"{PAPER}, Lemma 1",
        "A weighted vote with weights w errs with probability at most "
        "exp(−½ (Σw(2p−1))² / Σw²). The bound is least for w = 2p−1, where it is exp(−½ Σq).",
        ("weighted-vote",),
        lemma_1,
        "Of {leaning.n:,} random votes with Σw(2p−1) ≥ 0, {leaning.above.sum} err more often than "
        "the bound. With w = 2p−1 {votes.best.sum} of {votes.n:,} do (at most "
        "{votes.share.max:.2f} of the bound), {votes.beaten.sum} times weights nearby have a "
        "smaller bound, and {votes.closed.sum} times it is not exp(−½Σq).",
        {
            Ruling.CAVEAT: " Hoeffding's inequality is one-sided: of {turned.n:,} votes that lean "
            "the wrong way, Σw(2p−1) < 0, {caveat:,} err more often than the bound as printed."
        },
    ),
    Claim(
        "adaptive-requirement",
        f"{PAPER}, Section 4.1",
        "Labels whose qualities add up to C = 2 ln(1/ε), weighted by 2p−1, leave an error below ε.",
        ("weighted-vote",),
        requirement,
        "Voters hired until Σq ≥ C: the exact error is above ε in {refuted} of {rows.n:,} "
        "trials, with ε from {rows.epsilon.min:g} to {rows.epsilon.max:g}; it is "
        "{share.mean:.3f} ε on average and {share.max:.3f} ε at most.",
    ),
    Claim(
        "adaptive-lemma-2",
        f"{PAPER}, Lemma 2",
        "With ln(2/δ)/(2t²) gold tasks the share of right answers is within t of the skill with "
        "probability at least 1 − δ.",
        ("gold-estimates",),
        lemma_2,
        "{points.draws.sum:,} estimates at {points.n} settings of p, t and δ: beyond t more "
        "often than δ, by more than chance, at {refuted} of them. Nearest to δ: {share:1 %} "
        "beyond t = {radius:g}, δ = {delta:1 %}, p = {skill:g}.",
    ),
    Claim(
        "adaptive-lemma-3",
        f"{PAPER}, Lemma 3",
        "A skill estimated within t gives a quality (2p̂−1)² within 4t.",
        ("gold-estimates",),
        lemma_3,
        "{rows.draws.sum:,} estimates: |q̂ − q| is at most {rows.stretch.max:.3f} of 4|p̂ − p|; "
        "of those with |p̂ − p| ≤ t, {rows.broken.sum} have |q̂ − q| > 4t.",
    ),
    Claim(
        "adaptive-theorem-1",
        f"{PAPER}, Theorem 1",
        "Given the relaxation's optimal dual, the Primal Approximation Algorithm gives a feasible "
        "assignment with at most min(m, n) labels more than the integer optimum, once qualities "
        "are perturbed so that no two tasks of a worker have one value.",
        ("offline-assignment",),
        theorem_1,
        "The perturbation assumption holds in {untied.n} of {rows.n} perturbed instances. In "
        "{full} of these some capacity is used up (with room to spare each task is on its own). "
        "{refuted} results are infeasible or more than min(m, n) labels above the integer "
        "optimum; the most is {untied.excess.max:.0f} label(s), min(m, n) = "
        "{untied.promise.max:.0f}.",
        {
            Ruling.CAVEAT: " Perturbing cannot bring the assumption about where capacities bind: "
            "it fails in {tied.n} instances, and {caveat} of those leave a task short."
        },
        where={"dearest": 1},
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
        "At the paper's settings (n = 1000, m = 300, γ = 0.3, δ = {delta:g}, ε from "
        "{own.epsilon.min:g} to {own.epsilon.max:g}) the exponent of ε is {own.exponent.min:.1f} "
        "to {own.exponent.max:.1f}, so the error is not bounded in {own.unbounded.sum} of "
        "{own.n} trials; the promised ratio is {own.ratio_promise.min:,.0f} or more, the "
        "measured one {own.ratio.mean:.2f} on average. Where the conditions hold, "
        "{with_ratio.dearer.sum} of {with_ratio.n} trials exceed the ratio (largest measured "
        "{with_ratio.ratio.max:.2f}, least promised {with_ratio.ratio_promise.min:.2f}) and "
        "{with_error.worse.sum} of {with_error.n} the error, with ε ≤ "
        "{with_error.epsilon.max:.0e}.",
        where={"dearest": 1},
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
        "C = {asked:.3f}. The optimum takes {rows.optimum.max:.0f} labels a task, the algorithm "
        "with true qualities {right.labels.max:.0f}. With the three judged {judged:g} it takes "
        "{labels:,.0f} (others of quality {poor:g}); others {poorer:.0f} times poorer cost at "
        "least {growth.min:.1f} times the labels. With ε′ it takes at most "
        "{mended.labels.max:.0f}.",
        least=8,
    ),
    Claim(
        "adaptive-theorem-3",
        f"{PAPER}, Theorem 3",
        "If |p̂ − p| ≤ t < q̄*_min/4, the program with q̂ and ε′ = ε^(1 − 4t/q̄*_min) has an "
        "optimum no larger than the relaxation's with q and ε.",
        ("estimated-skills", "main-algorithm"),
        theorem_3,
        "With t < q̄*_min/4 the approximated optimum is the larger in {refuted} of {ratio.n} "
        "trials; it is {ratio.mean:.2f} of the true one on average and {ratio.max:.3f} at most.",
        {Ruling.VOID: RADIUS, Ruling.HOLDS: RADIUS},
    ),
    Claim(
        "adaptive-theorem-4",
        f"{PAPER}, Theorem 4",
        "Under the same conditions a whole assignment feasible for q̂ and ε′, weighted by 2p̂−1, "
        "errs on task i with probability at most ε^((1 − 4t/q̄*_min)(1 − 4t/q̂_i)).",
        ("estimated-skills", "main-algorithm"),
        theorem_4,
        "Integer optima of the approximated program: in {refuted} of {rows.n} trials a task's "
        "exact error is above its promise; at most it is {rows.error_share.max:.2f} of it.",
        {Ruling.VOID: RADIUS, Ruling.HOLDS: RADIUS},
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
        "At the paper's settings {failing} of {own.n} trials fail the conditions: s = "
        "{own.gold.min} to {own.gold.max} gold tasks a type where {own.gold_needed.min:,} to "
        "{own.gold_needed.max:,} are needed. Where they hold (s = {held.gold.min:,}, ε ≤ "
        "{held.epsilon.max:.0e}) {held.dearer.sum} of {held.n} trials exceed the ratio, against "
        "the relaxation (largest measured {held.ratio.max:.2f}, least promised "
        "{held.ratio_promise.min:.2f}), and in {held.open.sum} a task's error is not shown to be "
        "within the promise.",
    ),
    Claim(
        "adaptive-theorem-5-sample",
        f"{PAPER}, Theorem 5, the condition on γ",
        "Theorem 5's promises stand for γ ≥ 1/C_ε. (Its proof applies Theorem 2 with ε′ in place "
        "of ε, and so needs γ ≥ 1/C_ε′, which is larger. Read as: they stand between the two.)",
        ("sample-size",),
        theorem_5_sample,
        "The proof needs a sample {least:.2f} to {most:.2f} times the printed one. With γ between "
        "the two {between.dearer.sum} of {between.n} trials exceed the promised ratio (largest "
        "measured {between.ratio.max:.2f}, least promised {between.ratio_promise.min:,.0f}), and "
        "the promised error is 1, which says nothing, in {between.empty.sum}. So it is wherever "
        "l2 ≥ 1: an error below 1 is promised from γC_ε′ > (6 ln(4/δ))² on, more than 155, so "
        "that the difference is to no effect. The largest error of a task is "
        "{between.error.max:.3f} there, {met.error.max:.3f} with γ as the proof needs it.",
    ),
    Claim(
        "adaptive-made-gold",
        f"{PAPER}, footnote 1",
        "Where there are no gold tasks they can be created by assigning a few tasks to many "
        "workers. (Read as: judged by the majority's label, skills are still within Lemma 2's t "
        "with probability 1 − δ.)",
        ("made-gold",),
        made_gold,
        "Tasks labelled by {sound.labels.max} workers each, more often right than wrong: at most "
        "{sound.wrong.max:1 %} of the labels made are wrong, and at most {sound.made.max:1 %} of "
        "the estimates beyond t (δ = {delta:1 %}), {sound.true.max:1 %} with true gold; beyond "
        "chance above δ at {sound.failing.sum} of {sound.n} settings. By fewer, "
        "{few.labels.min} to {few.labels.max}: up to {few.wrong.max:1 %} wrong, up to "
        "{few.made.max:1 %} beyond t, above δ at {few.failing.sum} of {few.n} settings.",
        {
            Ruling.CAVEAT: " In a crowd that is more often wrong than right {against.labels.max} "
            "workers make {against.wrong.min:1 %} or more of the labels wrong, and up to "
            "{against.made.max:1 %} of the estimates are beyond t: how many workers are many, and "
            "that most are right, has to be known beforehand."
        },
    ),
    Claim(
        "adaptive-figure-1-message-passing",
        f"{PAPER}, Figure 1",
        "Message passing does almost equally well with uniform workers (skill 0.6414) and with "
        "half spammers, half hammers (0.7).",
        ("adaptive-figure-1",),
        figure_1_passing,
        "Error with two worker types less that with one, at {where}: {apart.mean:+.3f} on "
        "average, at most {most:+±3} (at {at:g}); within 0.02 or 2 standard errors at "
        "{alike.sum} of {alike.n} numbers of labels.",
    ),
    Claim(
        "adaptive-figure-1-adaptive",
        f"{PAPER}, Figure 1",
        "With uniform workers the adaptive algorithm does worse than message passing, since it "
        "pays for exploration; with half spammers, half hammers it does better.",
        ("adaptive-figure-1",),
        figure_1_adaptive,
        "Error of the adaptive algorithm less message passing's on the same crowds, exploration "
        "paid for, 2 standard errors counting as a difference. One worker type, {uniform_where}: "
        "{uniform.value.mean:+.3f} on average, worse at {uniform_worse:list}, better at "
        "{uniform_better:list}. Two types, {mixed_where}: {mixed.value.mean:+.3f} on average, "
        "better at {mixed_better:list}, worse at {mixed_worse:list}.",
    ),
    Claim(
        "adaptive-figure-2-message-passing",
        f"{PAPER}, Figure 2",
        "With k types of tasks and of workers, message passing gets worse quickly as k grows from "
        "1 to 3.",
        ("adaptive-figure-2",),
        figure_2_passing,
        "Mean error of message passing at {where}, k = 1, 2, 3: {means}. It rises by over 2 "
        "standard errors from 1 to 2 at {first.n} and from 2 to 3 at {second.n} of {labels.n} "
        "numbers of labels.",
    ),
    Claim(
        "adaptive-figure-2-adaptive",
        f"{PAPER}, Figure 2",
        "The adaptive algorithm gets worse much more slowly as k grows, exploration paid for. "
        "(Read as: its error rises by less than half as much.)",
        ("adaptive-figure-2",),
        figure_2_adaptive,
        "From k = 1 to 3, at {where}, the adaptive algorithm's error rises by {own.mean:.3f} on "
        "average (exploration paid for), message passing's by {other.mean:.3f}: less by over 2 "
        "standard errors at {slower.n} of {labels.n} numbers of labels, less than half of it at "
        "{half.n}.",
    ),
    Claim(
        "adaptive-extension-costs",
        f"{PAPER}, Section 7",
        "Where workers charge different prices, the cost Σ c y takes the place of the number of "
        "labels and the same techniques apply. (Read as: Theorem 1's promise in units of the "
        "dearest label, and cost saved by heeding prices with sampled weights.)",
        ("offline-assignment", "sampled-weights"),
        extension_costs,
        "With the optimal dual and prices drawn from 1 to {untied.dearest.max:g}, {broken} of "
        "{untied.n} results are infeasible or more than min(m, n) dearest labels above the "
        "integer optimum (at most {untied.excess.max:.2f}; prices go to "
        "{untied.dearest_label.max:.2f}), where no capacity cuts through a tie. With weights "
        "from a sample the cost is {ratio.mean:.2f} of the relaxation's ({ratio.n} trials), and "
        "heeding prices saves {saved:1 %} ± {doubt:1 %} (one standard error) of the cost of a "
        "unit of quality.",
        least=40,
    ),
    Claim(
        "adaptive-extension-structure",
        f"{PAPER}, Section 7",
        "Task types matter to exploration only: with another structure of the tasks, what must be "
        "explored changes, the algorithm and its analysis do not.",
        ("offline-assignment", "sampled-weights", "structured-tasks"),
        extension_structure,
        "Qualities of their own for every pair: {broken} of {untied.n} offline results break "
        "Theorem 1. Every task its own easiness: {dearer.sum} of {dearer.n} break Theorem 2's "
        "ratio ({ratio.mean:.2f} on average). Abilities fitted to {fitted.gold.mean:.0f} gold "
        "tasks a worker put skills off by {fitted.off.mean:.3f} and give a mean error "
        "{fitted.error.mean:.3f} at ε = {fitted.epsilon.mean:.3f} on average, with "
        "{fitted.ratio.mean:.2f} of the relaxation's labels; exploring each type takes "
        "{by_type.gold.mean:,.0f} gold tasks, for {by_type.off.mean:.3f}, "
        "{by_type.error.mean:.3f} and {by_type.ratio.mean:.2f}.",
    ),
)
