"""What Li, Liu (2015) claim, as far as theory and simulation decide it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np
import pandas as pd

from workbench.claims.claim import Claim, Finding, NotMeasured, Ruling, Tables
from workbench.claims.reading import (
    BEYOND,
    UNLIKELY,
    beyond_chance,
    ended_well,
    enough,
    listed,
    mean_se,
    percent,
)
from workbench.studies.catalog._selection import difference

PAPER = "Li, Liu 2015"
ROUNDING = 1e-9
"""Rounding allowed where numbers are compared."""
SOLVER = 1e-6
"""Relative tolerance of an optimum."""
CROWDS = 20
"""Least number of crowds for a mean to be looked at."""
SMALL = 10
"""Workers below which the paper calls a selection small."""
CLOSE = 2.0
"""Two mean numbers of workers no further apart than this count as very close."""
LITTLE = 0.005
"""An accuracy lost that is no more than this counts as little."""
MOST = 0.5
"""Share of the settings beyond which a difference counts as the rule."""


def _of_many(rows: pd.DataFrame, *, two: bool) -> pd.DataFrame:
    """Climbs of the hunt with two classes, or with more."""
    found = rows[(rows["classes"] == 2) == two]
    return enough(found[found["search"] != "exponents"], 20, "climbs towards a violation")


def _simulated(tables: Tables, *, two: bool) -> tuple[int, int]:
    """Crowds whose simulated error exceeds the printed bound by 4 standard errors, of how many."""
    rows = ended_well(tables["selection-scores"])
    rows = rows[(rows["classes"] == 2) == two]
    doubt = 4 * np.sqrt(rows["error"] * (1 - rows["error"]) / rows["votes"])
    return int((rows["error"] - doubt > rows["bound_printed"] + ROUNDING).sum()), len(rows)


def theorem_1_two(tables: Tables) -> Finding:
    """The hunt's largest ratio with two classes, and simulated errors."""
    rows = _of_many(ended_well(tables["selection-bound"]), two=True)
    over, crowds = _simulated(tables, two=True)
    top = _times(rows["log_ratio"])
    pair = _times(rows["log_ratio_pair"])
    figures = (
        f"{len(rows)} climbs towards the largest ratio (2 to {rows['workers'].max()} workers, "
        f"known skills or 1 to {rows['controls'].max()} control questions, errors exact): the "
        f"error is at most {top} of the bound, the proof's step for a pair at most {pair} of its "
        f"own. Simulated, {over} of {crowds} crowds err more often than the bound."
    )
    broken = (rows[["log_ratio", "log_ratio_pair"]] > ROUNDING).any(axis=None) or over
    return Finding(Ruling.NOT_REPRODUCED if broken else Ruling.HOLDS, figures)


def theorem_1_many(tables: Tables) -> Finding:
    """The hunt's violations with more classes, of the printed bound and of the supported one."""
    table = ended_well(tables["selection-bound"])
    rows = _of_many(table, two=False)
    limit = table[(table["classes"] > 2) & (table["search"] == "exponents")]
    over, crowds = _simulated(tables, two=False)
    broken = rows[rows["log_ratio"] > ROUNDING]
    supported = rows[rows["log_ratio_supported"] > ROUNDING]
    figures = (
        f"{len(rows)} climbs with L = {listed(np.sort(rows['classes'].unique()))}: "
        f"{len(broken)} end where the error is above the bound as printed, by up to "
        f"{_times(rows['log_ratio'])} times."
    )
    if len(broken):
        least = broken.sort_values(["workers", "log_ratio"]).to_dict("records")[0]
        figures += (
            f" Fewest workers: {least['workers']}, all right with {least['skills']}, L = "
            f"{least['classes']}, each ŵ from {_questions(int(least['controls']))}: error at least "
            f"{math.exp(least['log_error_low']):.2e}, bound {math.exp(least['log_bound']):.2e}. "
            "All such ŵ are from "
            + " or ".join(_questions(int(n)) for n in sorted(broken["controls"].unique()))
            + "."
        )
    if len(limit):
        top = limit.sort_values("exponent_ratio").to_dict("records")[-1]
        more = limit[limit["controls"] != 1]["exponent_ratio"]
        figures += (
            " As the crowd grows the bound's exponent is up to "
            f"{top['exponent_ratio']:.3f} times the true one (L = {top['classes']}, "
            f"{_questions(int(top['controls']))})"
            + (f", and without single questions {more.max():.3f}" if len(more) else "")
            + "."
        )
    figures += (
        f" The proof bounds ξ by −1 and L − 1, but it ranges from −(L − 1) to L − 1; with that "
        f"range the bound is (L − 1) exp(−F²/(2(L − 1)⁴)): {len(supported)} climbs exceed it, the "
        f"error is at most {_times(rows['log_ratio_supported'])} of it. Simulated, {over} of "
        f"{crowds} crowds exceed the bound as printed."
    )
    bad = len(broken) or over or (len(limit) and limit["exponent_ratio"].max() > 1 + SOLVER)
    return Finding(Ruling.NOT_REPRODUCED if bad else Ruling.HOLDS, figures)


def _times(logs: pd.Series[float]) -> str:
    return f"{math.exp(logs.max()):.3g}"


def _questions(controls: int) -> str:
    if not controls:
        return "known skills"
    return "one control question" if controls == 1 else f"{controls} control questions"


_SCORES = ["crowd", "classes", "controls", "workers", "budget"]


def _scores(tables: Tables) -> pd.DataFrame:
    return ended_well(tables["selection-scores"])


def _unlikely(rows: pd.DataFrame, off: pd.Series[float]) -> tuple[int, int, float]:
    """Settings whose mean of `off` is not 0 but for chance, of how many, and the largest |z|."""
    points = rows.assign(_off=off).groupby(_SCORES)["_off"].agg(["mean", "sem", "size"])
    points = points[points["size"] >= CROWDS]
    if points.empty:
        raise NotMeasured(f"no setting has {CROWDS} crowds")
    with np.errstate(divide="ignore", invalid="ignore"):
        z = (points["mean"].abs() / points["sem"]).fillna(0.0)
    limit = NormalDist().inv_cdf(1 - UNLIKELY / (2 * len(points)))
    return int((z > limit).sum()), len(points), float(z.max())


def lemma_2(tables: Tables) -> Finding:
    """Mean of F̂ − F of fixed sets, setting by setting."""
    rows = _scores(tables)
    over, points, z = _unlikely(rows, rows["bias"])
    mean, se = mean_se(rows["bias"])
    figures = (
        f"{rows['sheets_drawn'].sum():,} sheets of control answers from {len(rows):,} crowds: the "
        f"mean of F̂ − F is {mean:+.4f} ± {se:.4f}; by setting it differs from 0 by up to {z:.1f} "
        f"standard errors, beyond chance in {over} of {points} settings."
    )
    return Finding(Ruling.NOT_REPRODUCED if over else Ruling.HOLDS, figures)


def plug_in_bias(tables: Tables) -> Finding:
    """Mean of F̂_plug − F of fixed sets, beside Σ L² var(ŵ) / √|S|."""
    rows = _scores(tables)
    over, points, z = _unlikely(rows, rows["plug_in_bias"] - rows["plug_in_bias_promised"])
    mean, se = mean_se(rows["plug_in_bias"])
    figures = (
        f"F̂_plug − F is {mean:.3f} ± {se:.3f} on average, where Σ L² var(ŵ)/√|S| is "
        f"{rows['plug_in_bias_promised'].mean():.3f}; by setting they differ by up to {z:.1f} "
        f"standard errors, beyond chance in {over} of {points} settings."
    )
    biased = mean > BEYOND * se
    return Finding(Ruling.HOLDS if biased and not over else Ruling.NOT_REPRODUCED, figures)


def theorem_3(tables: Tables) -> Finding:
    """Misses of the interval: sets fixed beforehand, and sets chosen by the same answers."""
    rows = _scores(tables)
    sums = rows.groupby(_SCORES)[
        ["missed_95", "missed_50", "sheets_drawn", "missed_chosen_95", "choices"]
    ].sum()
    looks = 2 * len(sums)
    broken = sum(
        beyond_chance(int(missed), int(sheets), delta, looks=looks)
        for field, delta in (("missed_95", 0.05), ("missed_50", 0.5))
        for missed, sheets in zip(sums[field], sums["sheets_drawn"], strict=True)
    )
    sums = sums.assign(share=sums["missed_chosen_95"] / sums["choices"])
    failing = [
        beyond_chance(int(missed), int(choices), 0.05, looks=len(sums))
        for missed, choices in zip(sums["missed_chosen_95"], sums["choices"], strict=True)
    ]
    worst = sums.reset_index().sort_values("share").to_dict("records")[-1]
    figures = (
        f"Sets fixed beforehand, {len(sums)} settings: the 95 % interval misses F in at most "
        f"{100 * (sums['missed_95'] / sums['sheets_drawn']).max():.2f} % of the sheets, the 50 % "
        f"interval in {100 * (sums['missed_50'] / sums['sheets_drawn']).max():.2f} %."
    )
    if broken:
        return Finding(Ruling.NOT_REPRODUCED, figures)
    if not any(failing):
        return Finding(Ruling.HOLDS, figures)
    own = rows[(rows[_SCORES] == pd.Series(worst)[_SCORES]).all(axis=1)]
    caveat = (
        " Not so for the set that Algorithm 1 chooses by the same answers: the 95 % interval "
        f"misses its F in more than 5 % of the choices in {sum(failing)} settings, most often, in "
        f"{percent(worst['share'])}, with n = {worst['controls']}, m = {worst['workers']}, K = "
        f"{worst['budget']}, L = {worst['classes']} ({worst['crowd']}), where F̂ is too high by "
        f"{own['optimism'].mean():.2f} on average; in the paper's simulated setting it is too high "
        f"by {_paper_optimism(rows)}."
    )
    return Finding(Ruling.CAVEAT, figures + caveat)


def _paper_optimism(rows: pd.DataFrame) -> str:
    """F̂ − F of chosen sets for 31 mixed workers, n = 10, two classes."""
    own = rows[
        rows["crowd"].eq("mixed") & rows["workers"].eq(31) & rows["controls"].eq(10)
        & rows["classes"].eq(2)
    ]["optimism"]  # fmt: skip
    return f"{own.mean():.2f}" if len(own) else "an amount not measured"


def _exact(tables: Tables) -> pd.DataFrame:
    rows = ended_well(tables["selection-exact"])
    return enough(rows[rows["question"] == "score"], CROWDS, "crowds of the question 'score'")


def theorem_4(tables: Tables) -> Finding:
    """Algorithm 1's score beside two integer programs and the best of all sets."""
    rows = _exact(tables)
    every = rows[rows["score_listed"].notna()]
    scale = np.maximum(1.0, rows["score"].abs())
    bests = rows[["score_slices", "score_sizes", "score_listed"]].astype(float)
    off = bests.sub(rows["score"], axis=0).div(scale, axis=0).abs().to_numpy()
    differ = int((off > SOLVER).sum())
    figures = (
        f"{len(rows):,} crowds of {rows['workers'].min()} to {rows['workers'].max()} workers, "
        f"against two integer programs, and in {len(every):,} against every set of workers: the "
        f"scores differ in {differ} comparisons, by {np.nanmax(off):.1e} at most."
    )
    return Finding(Ruling.NOT_REPRODUCED if differ else Ruling.HOLDS, figures)


def pareto(tables: Tables) -> Finding:
    """Sets with fewer workers and no lower a score than Algorithm 1's."""
    rows = _exact(tables)
    rows = enough(rows[rows["dominating"].notna()], CROWDS, "crowds with all sets listed")
    better = int(rows["dominating"].sum())
    figures = (
        f"In {len(rows):,} crowds, all sets listed, {better} sets have fewer workers and a score "
        "no lower than the chosen set's."
    )
    return Finding(Ruling.NOT_REPRODUCED if better else Ruling.HOLDS, figures)


def modularity(tables: Tables) -> Finding:
    """Broken inequalities of both kinds."""
    rows = _exact(tables)
    sub, sup = int(rows["not_submodular"].sum()), int(rows["not_supermodular"].sum())
    figures = (
        f"Of {int(rows['inequalities'].sum()):,} inequalities F̂(A + x) − F̂(A) against "
        f"F̂(B + x) − F̂(B), A within B and not empty, {sub:,} contradict submodularity and {sup:,} "
        "supermodularity."
    )
    return Finding(Ruling.HOLDS if sub and sup else Ruling.NOT_REPRODUCED, figures)


def _paper_crowds(table: pd.DataFrame) -> pd.DataFrame:
    """Trials of a figure at the paper's own size, fair ties."""
    rows = ended_well(table)
    own = (rows["workers"] == 31) & (rows["items"] == 1000) & (rows["b"] == 2.0)
    return enough(rows[own & (rows["ties"] == "fair")], CROWDS, "trials at the paper's settings")


def _figure_1(tables: Tables) -> pd.DataFrame:
    rows = _paper_crowds(tables["selection-figure-1"])
    return rows[(rows["a"] == 2.3) & (rows["controls"] == 10)]


def _apart(
    rows: pd.DataFrame,
    first: str,
    second: str,
    value: str = "accuracy_exact",
    by: Sequence[str] = ("budget",),
) -> pd.DataFrame:
    """Mean of first − second on the same crowds, setting by setting (`difference`).

    Raises
    ------
    NotMeasured
        At fewer than 3 settings are there enough crowds.
    """
    found = difference(rows, list(by), first, second, value)
    found = found[found["n"] >= CROWDS].sort_values(list(by), ignore_index=True)
    if len(found) < 3:
        raise NotMeasured(f"{first} and {second}: fewer than 3 settings have {CROWDS} crowds")
    return found.assign(ahead=found["ahead"].astype(bool), behind=found["behind"].astype(bool))


def _told(row: pd.Series[float] | dict[str, float], digits: int = 4) -> str:
    return f"{row['mean']:+.{digits}f} ± {row['se']:.{digits}f}"


def _at(apart: pd.DataFrame, budget: int) -> dict[str, float]:
    """Row of the budget nearest to one."""
    near = apart.assign(_far=(apart["budget"] - budget).abs()).sort_values("_far").iloc[0]
    return {name: float(near[name]) for name in ("budget", "mean", "se")}


def _sentence(apart: pd.DataFrame, rival: str) -> str:
    ahead, behind = (
        apart.loc[apart[name], "budget"].to_numpy(float) for name in ("ahead", "behind")
    )
    some = "; ".join(
        f"K = {row['budget']:g}: {_told(row)}"
        for row in (_at(apart, 10), _at(apart, 20), _at(apart, 31))
    )
    return (
        f"Less {rival}: ahead at {_range(ahead)}, behind at {_range(behind)} of {len(apart)} "
        f"budgets ({some})"
    )


def _range(budgets: np.ndarray[tuple[int], np.dtype[np.float64]]) -> str:
    """Budgets for a sentence: how many, and from where to where."""
    if not len(budgets):
        return "none"
    return f"{len(budgets)} (K = {budgets.min():g} to {budgets.max():g})"


RIVALS = {"plug-in": "the plug-in rule", "top-skill": "the K of highest ŵ"}
"""Rules that the paper's Figure 1 compares with."""


def figure_1_dominates(tables: Tables) -> Finding:
    """Accuracy of Algorithm 1's choice less each rival's, by budget."""
    rows = _figure_1(tables)
    apart = {rival: _apart(rows, "selected", rival) for rival in RIVALS}
    figures = (
        "Accuracy of the selected less a rival's on the same crowds, 2 standard errors counting. "
        + ". ".join(_sentence(apart[rival], name) for rival, name in RIVALS.items())
        + "."
    )
    if all(one["ahead"].mean() > MOST and not one["behind"].any() for one in apart.values()):
        return Finding(Ruling.HOLDS, figures)
    partly = all(one["ahead"].sum() > one["behind"].sum() for one in apart.values())
    return Finding(Ruling.CAVEAT if partly else Ruling.NOT_REPRODUCED, figures)


def figure_1_top_k(tables: Tables) -> Finding:
    """Accuracy of Algorithm 1's choice less the top K's, at each budget."""
    rows = _figure_1(tables)
    apart = _apart(rows, "selected", "top-skill")
    figures = (
        f"Accuracy of the selected on the same crowds. {_sentence(apart, RIVALS['top-skill'])}. "
        f"{_sentence(_apart(rows, 'selected', 'top-informative'), 'the K with ŵ farthest from ½')}."
    )
    if apart["ahead"].mean() > MOST and not apart["behind"].any():
        return Finding(Ruling.HOLDS, figures)
    partly = apart["ahead"].sum() > apart["behind"].sum()
    return Finding(Ruling.CAVEAT if partly else Ruling.NOT_REPRODUCED, figures)


def _sizes(rows: pd.DataFrame, method: str) -> pd.DataFrame:
    """Mean workers used by budget."""
    points = rows[rows["method"] == method].groupby("budget")["size"].agg(["mean", "sem", "size"])
    points = points[points["size"] >= CROWDS]
    if points.empty:
        raise NotMeasured(f"{method}: no budget has {CROWDS} crowds")
    return points


def figure_1_workers(tables: Tables) -> Finding:
    """Mean number of workers that Algorithm 1 uses, by budget."""
    rows = _figure_1(tables)
    points = _sizes(rows, "selected")
    top = points.sort_values("mean").iloc[-1]
    largest = int(rows.loc[rows["method"] == "selected", "size"].max())
    figures = (
        f"Workers used by Algorithm 1 on average over the crowds: at most "
        f"{top['mean']:.2f} ± {top['sem']:.2f}, at K = {top.name}; {SMALL} or more "
        f"at {int((points['mean'] >= SMALL).sum())} of {len(points)} budgets. In a single crowd "
        f"up to {largest}."
    )
    if (points["mean"] < SMALL).all():
        return Finding(Ruling.HOLDS, figures)
    sure = (points["mean"] - BEYOND * points["sem"] >= SMALL).any()
    return Finding(Ruling.NOT_REPRODUCED if sure else Ruling.CAVEAT, figures)


def figure_1_plug_in_size(tables: Tables) -> Finding:
    """Workers that the plug-in rule uses beyond Algorithm 1."""
    apart = _apart(_figure_1(tables), "plug-in", "selected", "size")
    figures = (
        f"Workers used by the plug-in rule less Algorithm 1's: {apart['mean'].min():.2f} to "
        f"{apart['mean'].max():.2f} by budget, {_told(_at(apart, 20), 2)} at K = 20; more at "
        f"{int(apart['ahead'].sum())} of {len(apart)} budgets, fewer at "
        f"{int(apart['behind'].sum())}."
    )
    if apart["ahead"].mean() > MOST and not apart["behind"].any():
        return Finding(Ruling.HOLDS, figures)
    return Finding(Ruling.CAVEAT if apart["ahead"].any() else Ruling.NOT_REPRODUCED, figures)


def figure_1_plug_in_accuracy(tables: Tables) -> Finding:
    """Accuracy of Algorithm 1's choice less the plug-in rule's."""
    apart = _apart(_figure_1(tables), "selected", "plug-in")
    figures = (
        f"Accuracy of the selected on the same crowds. {_sentence(apart, 'the plug-in rule')}."
    )
    return Finding(_better(apart), figures)


def _better(apart: pd.DataFrame) -> Ruling:
    """Whether the first is ahead as a rule and never behind; in part; or not."""
    if apart["ahead"].mean() > MOST and not apart["behind"].any():
        return Ruling.HOLDS
    if apart["ahead"].sum() > apart["behind"].sum():
        return Ruling.CAVEAT
    return Ruling.NOT_REPRODUCED


def optimal_number(tables: Tables) -> Finding:
    """Workers used by Algorithm 1 less those of the best prefix of its ranking, K ≥ 20."""
    rows = _figure_1(tables)
    rows = rows[rows["budget"] >= 20]
    sizes = _apart(rows, "selected", "best prefix", "size")
    lost = _apart(rows, "best prefix", "selected")
    best = _sizes(rows, "best prefix")["mean"]
    figures = (
        f"K from {sizes['budget'].min()} to {sizes['budget'].max()}: Algorithm 1 uses "
        f"{_sizes(rows, 'selected')['mean'].mean():.1f} workers on average, the most accurate "
        f"prefix of its ranking {best.min():.1f} to {best.max():.1f} (the fewest such; true skills "
        f"looked at); difference {_told(_at(sizes, 20), 2)} at K = 20, "
        f"{_told(_at(sizes, 31), 2)} at K = {_at(sizes, 31)['budget']:g}. Stopping where it does "
        f"loses {lost['mean'].min():.4f} to {lost['mean'].max():.4f} of accuracy."
    )
    if (sizes["mean"].abs() <= CLOSE).all():
        return Finding(Ruling.HOLDS, figures)
    little = (lost["mean"] <= LITTLE).all()
    return Finding(Ruling.CAVEAT if little else Ruling.NOT_REPRODUCED, figures)


SHOWN = ("selected", "plug-in", "top-skill")
"""Rules of the paper's Figure 2."""


def _figure_2(tables: Tables, sweep: str) -> pd.DataFrame:
    rows = _paper_crowds(tables["selection-figure-2"])
    rows = rows[(rows["sweep"] == sweep) & (rows["budget"] == 20)]
    if sweep == "controls":
        return rows[rows["a"] == 2.3]
    return rows[rows["controls"] == 10]


def figure_2_controls(tables: Tables) -> Finding:
    """Accuracy by n on the same crowds: from each n to the next, and from the first to the last."""
    rows = _figure_2(tables, "controls")
    texts, fine, up = [], True, True
    for method in SHOWN:
        wide = _wide(rows[rows["method"] == method], "controls")
        steps = wide.diff(axis=1).iloc[:, 1:]
        fall = steps.mean() < -BEYOND * steps.sem()
        whole = wide.iloc[:, -1] - wide.iloc[:, 0]
        mean, se = mean_se(whole)
        fine, up = fine and not fall.any(), up and mean > BEYOND * se
        texts.append(
            f"{method} {wide.iloc[:, 0].mean():.3f} to {wide.iloc[:, -1].mean():.3f} "
            f"({mean:+.4f} ± {se:.4f}; falls at n = {listed(np.array(steps.columns[fall], float))})"
        )
    figures = (
        f"Accuracy from n = {rows['controls'].min()} to {rows['controls'].max()} on the same "
        f"crowds, K = 20: {', '.join(texts)}. A fall is one of over 2 standard errors from the n "
        "before."
    )
    if fine and up:
        return Finding(Ruling.HOLDS, figures)
    return Finding(Ruling.CAVEAT if up else Ruling.NOT_REPRODUCED, figures)


def _wide(rows: pd.DataFrame, column: str) -> pd.DataFrame:
    """Accuracy, a row a crowd and a column a value of a parameter; crowds that have all.

    Raises
    ------
    NotMeasured
        Too few crowds, or fewer than 3 values.
    """
    crowd = ["repetition", "seed"] if "seed" in rows else ["repetition"]
    wide = rows.pivot_table(index=crowd, columns=column, values="accuracy_exact").dropna()
    if len(wide) < CROWDS or wide.shape[1] < 3:
        raise NotMeasured(
            f"{len(wide)} crowds and {wide.shape[1]} values of {column}: {CROWDS} and 3 needed"
        )
    return wide


def figure_2_plug_in(tables: Tables) -> Finding:
    """|selected − plug-in| at small and at large n, each half of the values of n averaged."""
    rows = _figure_2(tables, "controls")
    selected, plug_in = (
        _wide(rows[rows["method"] == method], "controls") for method in ("selected", "plug-in")
    )
    apart = (selected - plug_in).dropna(axis=1).dropna()
    half = apart.shape[1] // 2
    small, large = apart.iloc[:, :half].mean(axis=1), apart.iloc[:, half:].mean(axis=1)
    sign = 1.0 if small.mean() >= 0 else -1.0
    shrunk, se = mean_se(sign * small - sign * large)
    means = ", ".join(f"{value:+.4f} (n = {n})" for n, value in apart.mean().items())
    figures = (
        f"Accuracy of the selected less the plug-in rule's on the same crowds: {means}. From the "
        f"{half} smaller n to the {apart.shape[1] - half} larger it goes from {small.mean():+.4f} "
        f"to {large.mean():+.4f} (below 0 the plug-in rule is ahead), nearer to 0 by "
        f"{shrunk:+.4f} ± {se:.4f}."
    )
    nearer = shrunk > BEYOND * se and abs(large.mean()) < abs(small.mean())
    return Finding(Ruling.HOLDS if nearer else Ruling.NOT_REPRODUCED, figures)


def _by_prior(rows: pd.DataFrame, method: str) -> pd.DataFrame:
    """Mean accuracy by a, and its standard error.

    Raises
    ------
    NotMeasured
        Fewer than 3 values of a have enough crowds.
    """
    points = rows[rows["method"] == method].groupby("a")["accuracy_exact"]
    found = points.agg(["mean", "sem", "size"]).reset_index()
    found = found[found["size"] >= CROWDS]
    if len(found) < 3:
        raise NotMeasured(f"{method}: fewer than 3 values of a have {CROWDS} crowds")
    return found


def _lowest(points: pd.DataFrame) -> float:
    """The a of the lowest mean."""
    return float(points.sort_values("mean")["a"].iloc[0])


def _rise(points: pd.DataFrame, first: float) -> tuple[float, float]:
    """Rise of the mean from one a to the largest, and its standard error."""
    ends = points[points["a"].isin([first, points["a"].max()])]
    rise = ends["mean"].to_numpy(float)
    return float(rise[-1] - rise[0]), math.hypot(*ends["sem"])


def figure_2_prior_top_k(tables: Tables) -> Finding:
    """Accuracy of the top K by skill as a grows."""
    points = _by_prior(_figure_2(tables, "prior"), "top-skill")
    mean, sem = (points[name].to_numpy(float) for name in ("mean", "sem"))
    a = points["a"].to_numpy(float)
    falls = a[1:][np.diff(mean) < -BEYOND * np.hypot(sem[1:], sem[:-1])]
    lowest = _lowest(points)
    rise, se = _rise(points, lowest)
    figures = (
        f"Top K by skill: accuracy {mean[0]:.3f} at a = {a[0]:g}, lowest {mean.min():.3f} at a = "
        f"{lowest:g}, {mean[-1]:.3f} at a = {a[-1]:g}; it rises by {rise:.3f} ± {se:.3f} from its "
        f"lowest, and falls by over 2 standard errors from the value before at a = {listed(falls)}."
    )
    if rise <= BEYOND * se:
        return Finding(Ruling.NOT_REPRODUCED, figures)
    return Finding(Ruling.CAVEAT if len(falls) else Ruling.HOLDS, figures)


def figure_2_prior_selected(tables: Tables) -> Finding:
    """Rise of both rules beside the top K's, from where the top K and the selected are worst."""
    rows = _figure_2(tables, "prior")
    points = {method: _by_prior(rows, method) for method in SHOWN}
    texts, fine = [], []
    for start in (_lowest(points["top-skill"]), _lowest(points["selected"])):
        rises = {method: _rise(points[method], start) for method in SHOWN}
        whole, doubt = rises["top-skill"]
        slight = all(
            whole / 2 - rises[method][0] > BEYOND * math.hypot(doubt / 2, rises[method][1])
            for method in ("selected", "plug-in")
        )
        fine.append(slight)
        told = ", ".join(f"{method} {rise:+.3f} ± {se:.3f}" for method, (rise, se) in rises.items())
        texts.append(f"from a = {start:g}: {told}")
    figures = (
        f"Change of accuracy to a = {points['selected']['a'].max():g}, {'; '.join(texts)}. (The "
        "top K are worst at the first, the selected at the second.) Slightly is read as less than "
        "half of the top K's rise."
    )
    if all(fine):
        return Finding(Ruling.HOLDS, figures)
    return Finding(Ruling.CAVEAT if fine[0] else Ruling.NOT_REPRODUCED, figures)


def unbiasedness(tables: Tables) -> Finding:
    """Accuracy of Algorithm 1's choice less the plug-in rule's, setting by setting."""
    settings = {
        "selection-figure-1": ["budget"],
        "selection-figure-2": ["sweep", "controls", "a"],
        "selection-sweep": ["crowd", "workers", "controls", "classes", "few", "ties"],
    }
    parts, counts = [], []
    for study, by in settings.items():
        rows = ended_well(tables[study])
        if study == "selection-sweep":
            rows = rows[rows["method"].isin(["selected", "plug-in"])]
            least = rows.groupby(by)["budget"].transform("min")
            rows = rows[rows["budget"] == least]
            rows = rows.assign(accuracy_exact=rows["accuracy_exact"].fillna(rows["accuracy"]))
        apart = _apart(rows, "selected", "plug-in", by=by)
        parts.append(apart)
        counts.append(
            f"{study} ahead {int(apart['ahead'].sum())}, behind {int(apart['behind'].sum())} of "
            f"{len(apart)}"
        )
    every = pd.concat(parts, ignore_index=True)
    sweep = parts[-1]
    figures = (
        f"Accuracy of the selected less the plug-in rule's on the same crowds, by setting, 2 "
        f"standard errors counting: {'; '.join(counts)}."
    )
    for word, some in (("Ahead", sweep[sweep["ahead"]]), ("Behind", sweep[sweep["behind"]])):
        crowds = ", ".join(
            f"{name} {count}" for name, count in some["crowd"].value_counts().items()
        )
        figures += f" {word} in the sweep by crowd: {crowds or 'none'}."
    if every["ahead"].mean() > MOST and not every["behind"].any():
        return Finding(Ruling.HOLDS, figures)
    partly = every["ahead"].sum() > every["behind"].sum()
    return Finding(Ruling.CAVEAT if partly else Ruling.NOT_REPRODUCED, figures)


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "selection-theorem-1-two-classes",
        f"{PAPER}, Theorem 1",
        "With two classes, weights 2ŵ − 1 and unbiased ŵ that do not depend on the votes, the "
        "weighted vote of a set S errs with probability at most exp(−F(S)²/2), "
        "F(S) = Σ(2w − 1)²/√|S|.",
        ("selection-bound", "selection-scores"),
        theorem_1_two,
    ),
    Claim(
        "selection-theorem-1-more-classes",
        f"{PAPER}, Theorem 1",
        "With L > 2 classes it errs with probability at most exp(−2F(S)²/(L²(L−1)²) + ln(L−1)), "
        "F(S) = Σ(Lw − 1)²/√|S|.",
        ("selection-bound", "selection-scores"),
        theorem_1_many,
    ),
    Claim(
        "selection-lemma-2",
        f"{PAPER}, Lemma 2",
        "F̂(S) = Σ((Lŵ − 1)² − L² var̂(ŵ))/√|S| is an unbiased estimate of F(S).",
        ("selection-scores",),
        lemma_2,
    ),
    Claim(
        "selection-plug-in-bias",
        f"{PAPER}, Section 3, remark (ii)",
        "F̂_plug, the same without the variance, is biased, by Σ L² var(ŵ)/√|S|.",
        ("selection-scores",),
        plug_in_bias,
    ),
    Claim(
        "selection-theorem-3",
        f"{PAPER}, Theorem 3",
        "The interval F̂(S) ± α n(L−1)²/(n−1) covers F(S) with probability at least "
        "1 − 2 exp(−2α²).",
        ("selection-scores",),
        theorem_3,
    ),
    Claim(
        "selection-theorem-4",
        f"{PAPER}, Theorem 4",
        "Algorithm 1 finds a set of the highest F̂ among all sets of at most K workers.",
        ("selection-exact",),
        theorem_4,
    ),
    Claim(
        "selection-pareto",
        f"{PAPER}, Section 3, remark to Theorem 4",
        "Its set is Pareto optimal: none has a higher F̂ and fewer workers. (Read as: none with "
        "fewer workers has an F̂ as high.)",
        ("selection-exact",),
        pareto,
    ),
    Claim(
        "selection-modularity",
        f"{PAPER}, Section 3",
        "F̂ is neither submodular nor supermodular.",
        ("selection-exact",),
        modularity,
    ),
    Claim(
        "selection-figure-1-dominates",
        f"{PAPER}, Figure 1(a)",
        "On simulated crowds the selected workers' vote dominates the other methods' over the "
        "budget. (Read as: more accurate than the plug-in rule's and the top K's at most budgets, "
        "and less at none.)",
        ("selection-figure-1",),
        figure_1_dominates,
    ),
    Claim(
        "selection-figure-1-top-k",
        f"{PAPER}, Figure 1(a)",
        "The selected workers achieve even better performance than the top K, who use the entire "
        "budget.",
        ("selection-figure-1",),
        figure_1_top_k,
    ),
    Claim(
        "selection-figure-1-workers",
        f"{PAPER}, Figure 1(b)",
        "Algorithm 1 uses fewer than 10 workers on average at every budget.",
        ("selection-figure-1",),
        figure_1_workers,
    ),
    Claim(
        "selection-figure-1-plug-in-size",
        f"{PAPER}, Figure 1(b)",
        "The plug-in rule tends to select slightly more workers.",
        ("selection-figure-1",),
        figure_1_plug_in_size,
    ),
    Claim(
        "selection-figure-1-plug-in-accuracy",
        f"{PAPER}, Figure 1(a)",
        "The plug-in rule achieves slightly worse accuracy than Algorithm 1.",
        ("selection-figure-1",),
        figure_1_plug_in_accuracy,
    ),
    Claim(
        "selection-optimal-number",
        f"{PAPER}, Section 4",
        "The number of workers that Algorithm 1 selects is very close to the optimal number of "
        "top-ranked workers. (Read as: within 2 on average, in the setting of Figure 1, K ≥ 20.)",
        ("selection-figure-1",),
        optimal_number,
    ),
    Claim(
        "selection-figure-2-controls",
        f"{PAPER}, Figure 2(a)",
        "The performance of all the algorithms increases with the number n of control questions, "
        "from 3 to 45.",
        ("selection-figure-2",),
        figure_2_controls,
    ),
    Claim(
        "selection-figure-2-plug-in",
        f"{PAPER}, Figure 2(a)",
        "As n increases the difference between the selected workers and the plug-in rule's "
        "decreases.",
        ("selection-figure-2",),
        figure_2_plug_in,
    ),
    Claim(
        "selection-figure-2-prior-top-k",
        f"{PAPER}, Figure 2(b)",
        "With skills from Beta(a, 2) the accuracy of the top K increases with a. (The printed "
        "range of a is not known; measured from 0.5 to 8.)",
        ("selection-figure-2",),
        figure_2_prior_top_k,
    ),
    Claim(
        "selection-figure-2-prior-selected",
        f"{PAPER}, Figure 2(b)",
        "The selected and the plug-in rule's workers improve only slightly with a.",
        ("selection-figure-2",),
        figure_2_prior_selected,
    ),
    Claim(
        "selection-unbiasedness",
        f"{PAPER}, Section 5",
        "With the unbiased F̂ the vote of the selected workers performs better than with the "
        "biased plug-in estimate.",
        ("selection-figure-1", "selection-figure-2", "selection-sweep"),
        unbiasedness,
    ),
)
