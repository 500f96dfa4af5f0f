"""What Ho, Jabbari, Vaughan (ICML 2013) claim."""

from __future__ import annotations

import numpy as np
import pandas as pd

from workbench.claims.claim import NotMeasured, Numbers
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
