"""What Liu, Liu (2015) claim of online worker selection, as far as it can be decided.

Read as follows where the paper leaves room. Five workers, skills uniform on [0.6, 1], 2000 tasks,
G1 = 3 and G2 = 1/(a_min − ½)² by each crowd's own a_min. A difference counts when it exceeds two
standard errors. A bound above T promises nothing, since no regret exceeds T.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from workbench.papers.online_learning import learn_average, learn_growth, learn_regret
from workbench.papers.online_learning.learning_runs import (
    PAPER_T,
    SHAPES,
    Curve,
    best_shape,
    checkpoints,
    growth,
    long,
    repeats_label,
    rewards,
    schedule_label,
    wide,
)
from workbench.studies.analysis import plus_minus
from workbench.studies.chance import BEYOND, beyond_chance, flags, mean_se
from workbench.studies.claim import NotMeasured, enough, only
from workbench.studies.measures import sentences
from workbench.studies.summary import instance_columns

EQUAL = 1e-12
"""Accuracies this close are equal."""
RUNS = 20
"""Least number of runs or crowds for a mean to be looked at."""
VALUES = 0.02
"""A mean no further from a printed one reproduces it."""
STATED = 0.1
"""Error at which vetting drops a worker (Section 6.2)."""
LOGARITHMIC = ("log", "log2")
"""Shapes of growth that count as logarithmic."""
DEFAULT: dict[str, Any] = {"workers": 5, "vote": "majority", "tests": 3.0}

Rows = pd.DataFrame


def joined(template: str, rows: Rows, **more: Any) -> str:
    """A template filled once a row, in one sentence."""
    return "; ".join(sentences(template, rows, **more))


def by_result(fine: Sequence[bool]) -> dict[str, bool]:
    """Holds where all are fine, with a caveat where some are."""
    return {"refuted": not any(fine), "caveat": not all(fine)}


def mean_of(rows: Rows, name: str) -> tuple[float, float]:
    """Mean of a column, and its standard error."""
    return mean_se(rows[name].astype(float))


def share_of(rows: Rows, name: str) -> float:
    """Share of the rows in which a truth value is true."""
    return float(flags(rows[name]).mean())


# Section 2.


def linear_search(rows: Rows) -> dict[str, Any]:
    """The best of the odd prefixes beside the best of all sets, by size of the crowd."""
    off = rows.groupby("workers")["search_off"].max()
    counts = pd.DataFrame({"m": off.index, "odd": (off.index + 1) // 2, "all": 2**off.index - 1})
    return {
        "off": off.max(),
        "refuted": off.max() > EQUAL,
        "counts": joined("{odd} of {all} at M = {m}", counts),
    }


# Section 3.


def _simulated(rows: Rows, crowd: str = "from-0.6") -> Rows:
    """Runs of a figure at the paper's own size and the default G1."""
    what = f"runs of {crowd} at the paper's settings"
    return only(rows, RUNS, what, crowd=crowd, horizon=PAPER_T, **DEFAULT)


def theorem_3(rows: Rows, runs: Rows) -> dict[str, Any]:
    """Bound (6) as a share of T beside the measured regret."""
    own = rows[rows["crowd"] == "table-1"] if (rows["crowd"] == "table-1").any() else rows
    regret = mean_of(_simulated(runs, "table-1"), f"regret_{PAPER_T}")
    names = ("share_2000", "share_million", "speaks_at", "factor_1", "explored_2000")
    least = {name: own[name].min() for name in names}
    return {
        **least,
        "able": rows["share_million"].min(),
        "regret": regret,
        "refuted": regret[0] > least["share_2000"] * PAPER_T,
        "void": least["share_2000"] >= 1,
    }


def order(rows: Rows) -> dict[str, Any]:
    """max m·n(S^m) beside its printed order, as M grows."""
    ratio = (rows["order_true"] / rows["order_printed"]).groupby(rows["workers"]).first()
    if len(ratio) < 2:
        raise NotMeasured("one number of workers: 2 needed")
    return {
        "ratios": ", ".join(f"{value:.2f} at M = {m}" for m, value in ratio.items()),
        "refuted": ratio.iloc[-1] > 1.1 * ratio.iloc[0],
    }


def lemma_3_4(
    rows: Rows, runs: Rows, *, number: int, wrong: str, practical: str, what: str
) -> dict[str, Any]:
    """How often estimates of D1(t) testers go wrong, beside (10) or (11)."""
    own = only(rows, 1, "trials of Table 1's crowd", crowd="table-1")
    speaks, explored = own[f"lemma_{number}_speaks_at"].min(), own["explored_2000"].min()
    name = f"lemma_{number}_bound"
    broken = any(
        beyond_chance(int(row[wrong]), int(row["estimates_drawn"]), row[name], looks=len(rows))
        for row in rows[rows[name] < 1].to_dict("records")
    )
    testers = int((rows["wrong_tester"] > rows["wrong_tester_bound"]).sum())
    runs = _simulated(runs)
    return {
        "wrong": int(rows[wrong].sum()),
        "drawn": int(rows["estimates_drawn"].sum()),
        "what": what,
        "testers": testers,
        "speaks": speaks,
        "explored": int(explored),
        "runs": len(runs),
        "practical": 1 - share_of(runs, practical),
        "refuted": broken or testers,
        "void": speaks > PAPER_T or explored >= PAPER_T - 1,
    }


def log_squared(rows: Rows) -> dict[str, Any]:
    """The likeliest shape of growth from a thousand tasks on, crowd by crowd and G1 by G1."""
    rows = rows[rows["horizon"] >= 100_000]
    counts = rows.groupby(["crowd", "tests"])["status"].transform("size")
    found = learn_growth.verdicts(rows[counts >= RUNS])
    if found.empty:
        raise NotMeasured(f"no crowd has {RUNS} runs of 100,000 tasks or more")
    found = found.assign(shape=found["likeliest"].map(SHAPES).fillna("none"))
    whole = found[found["part"] == "all"]
    late = found[(found["part"] == "exploiting") & (found["tests"] < 100)]
    late = late[late["at_end"] > BEYOND * late["at_end_se"]]
    text = sentences("{power:±2} ({crowd}, G1 = {tests:g})", late)
    return {
        "since": learn_growth.FROM,
        "until": int(rows["horizon"].max()),
        "late": ", ".join(text),
        "shapes": joined(
            "{crowd}, G1 = {tests:g}: {shape} (ahead by {ahead:.1f}, T^{power:.2f})", whole
        ),
        **by_result(whole["likeliest"].isin(LOGARITHMIC).tolist()),
    }


def delay(rows: Rows) -> dict[str, Any]:
    """Regret with a delay beside τ_max times the regret without one, on the same crowds."""
    rows = only(rows, 0, "runs", vetting="none", vote="majority", eta=0)
    keys = ["crowd", "tests", "repeats", "horizon"]
    found = []
    for names, own in rows.groupby(keys, sort=False, dropna=False):
        regret = own[f"regret_{names[-1]}"].astype(float).groupby(own["delay"])
        if (own["delay"] == 0).sum() >= RUNS and (own["delay"] > 0).any():
            times = regret.mean() / regret.mean()[0]
            found += [
                {"crowd": names[0], "tau": tau, "times": times[tau]}
                for tau in times.index
                if tau > 0
            ]
    if not found:
        raise NotMeasured(f"no setting has {RUNS} runs with and without a delay")
    text = joined("{crowd}, τ_max = {tau}: {times:.3f} times", pd.DataFrame(found))
    return {"text": text, "refuted": any(row["times"] > max(1, row["tau"]) for row in found)}


def decreasing(rows: Rows) -> dict[str, Any]:
    """Exploiting regret a task over two stretches, with log^(1+2η) t in place of log t."""
    rows = only(rows, 0, "runs", vetting="none", vote="majority", delay=0)
    some = rows[rows["eta"] > 0]
    rows = rows[rows["crowd"].isin(some["crowd"]) & (rows["horizon"] == some["horizon"].max())]
    if rows.empty:
        raise NotMeasured("no runs with η above 0")
    last = int(rows["horizon"].max())
    marks = [_near(rows, last / 100), _near(rows, last / 10), last]
    stretches = {}
    for eta, own in rows.groupby("eta"):
        lost = [(own[f"regret_{n}"] - own[f"exploring_{n}"]).astype(float) for n in marks]
        if len(own) >= RUNS:
            stretches[float(str(eta))] = [
                mean_se((b - a) / (to - since))
                for (a, since), (b, to) in itertools.pairwise(zip(lost, marks, strict=True))
            ]
    if not stretches:
        raise NotMeasured(f"no η has {RUNS} runs")
    texts = [
        f"η = {eta:g}: {plus_minus(*early, 5)}, then {plus_minus(*late, 5)}"
        for eta, (early, late) in stretches.items()
    ]
    falling = all(_less(late, early) for eta, (early, late) in stretches.items() if eta > 0)
    most = stretches[max(stretches)][1]
    less = _less(most, stretches.get(0.0, [(0.0, 0.0)] * 2)[1])
    return {
        "marks": marks,
        "first": marks[0],
        "middle": marks[1],
        "last": last,
        "text": "; ".join(texts),
        "refuted": not falling and not less,
        "caveat": not falling,
    }


def _less(one: tuple[float, float], other: tuple[float, float]) -> bool:
    """Whether a mean is below another by more than chance."""
    return other[0] - one[0] > BEYOND * math.hypot(one[1], other[1])


def _near(rows: Rows, tasks: float) -> int:
    return min(checkpoints(rows), key=lambda n: abs(math.log(n / tasks)))


def equation_13(rows: Rows) -> dict[str, Any]:
    """The exact chance to rank two workers wrongly beside exp(−2ε²N), and exp(−ε²N/2)."""
    excess = {
        name: rows.filter(like=f"excess_{name}_").astype(float).to_numpy()
        for name in ("printed", "supported")
    }
    over = {name: int((values > 1e-9).sum()) for name, values in excess.items()}
    return {
        **over,
        "total": int(np.isfinite(excess["supported"]).sum()),
        "factor": math.exp(min(float(np.nanmax(excess["printed"])), 700)),
        "refuted": over["supported"],
        "illegible": over["printed"],
    }


def vetting_error(rows: Rows, explored: Rows) -> dict[str, Any]:
    """How often another than the least able is dropped: after N rounds, and at the first chance.

    N is fixed beforehand, by (13) at the true difference of the two least able; the rule of
    Section 6.2 takes the measured one and looks after every assignment.
    """
    fixed, broken = {}, False
    for variant in ("printed", "supported"):
        known = rows[rows[f"wrong_{variant}"].notna()]
        wrong, drawn = float(known[f"wrong_{variant}"].sum()), int(known["draws"].sum())
        fixed[variant] = wrong / max(drawn, 1)
        broken |= beyond_chance(round(wrong), drawn, STATED, looks=2)
    texts, over = [], False
    vetted = enough(explored[explored["vetting"] != "none"], RUNS, "runs with vetting")
    settings = vetted.groupby(["vetting", "crowd", "tests", "repeats"], dropna=False)
    for (rule, crowd, tests, repeats), own in settings:
        if len(own) < RUNS:
            continue
        wrong, drops = int(flags(own["first_wrong"]).sum()), int((own["dropped"] > 0).sum())
        if rule == "printed":
            over |= beyond_chance(wrong, drops, STATED, looks=len(settings))
        texts.append(
            f"{rule}, {crowd}, G1 = {tests:g}, {repeats_label(repeats)}: {wrong} of {drops} "
            f"({len(own)} runs)"
        )
    if not texts:
        raise NotMeasured(f"no setting has {RUNS} runs")
    return {"n": len(rows), **fixed, "text": "; ".join(texts), "refuted": broken, "caveat": over}


def vetting_speed(rows: Rows) -> dict[str, Any]:
    """Step of the first drop beside the steps that learning the skills takes."""
    rows = rows[(rows["vetting"] == "printed") & (rows["dropped"] > 0)]
    rows = enough(rows[rows["crowd"] != "alike"], RUNS, "runs in which the printed rule drops")
    step = rows["first_step"].astype(float)
    share = float((step / rows["explored"].astype(float)).median())
    right = 1 - share_of(rows, "first_wrong")
    return {
        "n": len(rows),
        "step": step.median(),
        "share": share,
        "right": right,
        "refuted": share >= 0.5,
        "caveat": right < 1 - STATED,
    }


# Section 4.


# Section 6.


def _shapes(rows: Rows, curve: Curve = "regret") -> dict[str, tuple[str, float]]:
    """Likeliest shape of growth up to the paper's T, by reading of G2."""
    found = {}
    for reading, own in learn_regret.with_reading(rows).groupby("reading"):
        curves = wide(long(own, ["reading"], curve), learn_regret.EXPLORED_FROM)
        if len(curves) >= RUNS:
            found[str(reading)] = best_shape(growth(curves))
    if not found:
        raise NotMeasured(f"no reading of G2 has {RUNS} runs")
    return found


def _shape_texts(found: dict[str, tuple[str, float]]) -> str:
    return "; ".join(
        f"{reading}: {SHAPES[name]} (ahead by {ahead:.1f})"
        if np.isfinite(ahead)
        else f"{reading}: no growth"
        for reading, (name, ahead) in found.items()
    )


def _logarithmic(found: tuple[str, float]) -> bool:
    return found[0] in LOGARITHMIC and bool(np.isfinite(found[1]))


def figure_2(rows: Rows) -> dict[str, Any]:
    """Shape of R(t) up to 2000 tasks, by reading of G2."""
    rows = _simulated(rows)
    found, middle = _shapes(rows), _near(rows, PAPER_T / 2)
    fall = rows[f"regret_{middle}"] / middle - rows[f"regret_{PAPER_T}"] / PAPER_T
    mean, se = mean_se(fall.astype(float))
    fine = by_result([_logarithmic(shape) for shape in found.values()])
    return {
        "since": learn_regret.EXPLORED_FROM,
        "shapes": _shape_texts(found),
        "middle": middle,
        "fall": (mean, se),
        **fine,
        "refuted": fine["refuted"] or mean <= BEYOND * se,
    }


def figure_2_cost(rows: Rows) -> dict[str, Any]:
    """Shape of R_C(t) beside that of R(t): alike, another, or none that could be told."""
    rows = _simulated(rows)
    found, regret = _shapes(rows, "cost_regret"), _shapes(rows)
    told = [reading for reading, (_, ahead) in found.items() if np.isfinite(ahead)]
    alike = [_logarithmic(found[reading]) == _logarithmic(regret[reading]) for reading in told]
    last = rows[f"cost_regret_{PAPER_T}"].astype(float)
    return {
        "shapes": _shape_texts(found),
        "last": mean_se(last),
        "below": (last < 0).mean(),
        "regret": _shape_texts(regret),
        "refuted": told and not any(alike),
        "inconclusive": len(told) < len(found),
        "caveat": not all(alike),
    }


def _paying(rows: Rows) -> Rows:
    return rewards(rows[rows["horizon"] >= PAPER_T], [*learn_average.KEYS, "last_accuracy"])


def figure_3(rows: Rows, theory: Rows) -> dict[str, Any]:
    """Average reward less the full crowd's at the paper's size, by schedule; and later on."""
    runs = _paying(rows)
    first = runs[(runs["crowd"] == "from-0.6") & (runs["workers"] == DEFAULT["workers"])]
    first = first[(first["vote"] == "majority") & (first["tasks"] == PAPER_T)]
    count = first.groupby(["tests", "repeats"], dropna=False)["gain"].transform("size")
    first = enough(first[count >= RUNS], RUNS, "runs of the first set-up at one schedule")
    gains = learn_average.gains_of(runs[runs["vote"] == "majority"])
    crossed = learn_average.crossings(gains[gains["n"] >= RUNS])
    crossed = crossed[crossed["crowd"].isin(["spread", "from-0.6"])]
    crossed = crossed.assign(schedule=[schedule_label(row) for row in crossed.to_dict("records")])
    by = first.groupby(["tests", "repeats"], dropna=False)["gain"].agg(["mean", "sem"])
    by = by.reset_index().assign(ahead=by["mean"].to_numpy() > BEYOND * by["sem"].to_numpy())
    texts = [
        f"{schedule_label(row)} {row['mean']:+.3f} ± {row['sem']:.3f}"
        for row in by.to_dict("records")
    ]
    room = first["best_accuracy"] - first["full_accuracy"]
    table_1 = runs[runs["crowd"] == "table-1"]
    same = (table_1["best_accuracy"] - table_1["full_accuracy"] < EQUAL).all()
    single = only(theory, RUNS, question="one-round", crowd="able", workers=5)
    wrong = {name: share_of(single, f"wrong_{name}") for name in ("able", "half", "spread")}
    return {
        "texts": ", ".join(texts),
        "room": room.mean(),
        **wrong,
        "at": joined(
            "{crowd}, M = {workers}, {schedule}: from {overtakes:,.0f} tasks on",
            crossed[crossed["overtakes"].notna()],
        )
        or "none of the settings",
        "nothing": (room < EQUAL).mean(),
        "loss": single["loss_able"].astype(float).mean(),
        "table_1": "; so it is with Table 1's crowd" if len(table_1) and same else "",
        **by_result(by["ahead"].tolist()),
    }


def figure_4(rows: Rows) -> dict[str, Any]:
    """Regret at 2000 tasks for a_min = 0.6, 0.7, 0.8, by reading of G2."""
    rows = pd.concat([_simulated(rows, crowd) for crowd in learn_regret.PRESET])
    texts, every, ends = [], [], []
    for reading, own in learn_regret.with_reading(rows).groupby("reading"):
        parts = {str(crowd): some for crowd, some in own.groupby("crowd")}
        if len(parts) < len(learn_regret.PRESET):
            continue
        values = [mean_of(parts[crowd], f"regret_{PAPER_T}") for crowd in learn_regret.PRESET]
        every.append(all(_less(b, a) for a, b in itertools.pairwise(values)))
        ends.append(_less(values[-1], values[0]))
        texts.append(f"{reading}: {', '.join(plus_minus(*value, 1) for value in values)}")
    if not texts:
        raise NotMeasured("no reading of G2 has all three values of a_min")
    return {
        "texts": "; ".join(texts),
        "caveat": not all(every),
        "refuted": not all(every) and not any(ends),
    }


def _paired_votes(runs: Rows, keys: Sequence[str]) -> Rows:
    """Reward by weighted less by simple vote on the same crowds, mean and se by setting."""
    both = runs.pivot_table(
        index=[*keys, *instance_columns(runs)], columns="vote", values="reward", dropna=False
    )
    if not {"majority", "weighted"} <= set(both):
        raise NotMeasured("no setting has both votes")
    apart = (both["weighted"] - both["majority"]).dropna()
    found = apart.groupby(level=list(keys), dropna=False).agg(["mean", "sem", "size"])
    found = found[found["size"] >= RUNS].reset_index()
    return _ahead(enough(found, 1, f"settings with {RUNS} crowds and both votes"))


def _ahead(found: Rows) -> Rows:
    """Means and standard errors, and whether each is above 0 by more than chance."""
    found = found.assign(ahead=found["mean"] > BEYOND * found["sem"])
    return found.rename(columns={"mean": "gap", "sem": "gap_se"})


def figure_5(rows: Rows) -> dict[str, Any]:
    """Average reward by weighted vote less by simple vote, five workers."""
    runs = _paying(rows)
    own = runs[(runs["crowd"] == "from-0.6") & (runs["workers"] == 5)]
    own = own[own["tests"] == DEFAULT["tests"]]
    own = own[own["tasks"].isin([PAPER_T, own["tasks"].max()])]
    found = _paired_votes(own.assign(repeats=own["repeats"].fillna(-1.0)), ["repeats", "tasks"])
    labels = [repeats_label(g if g >= 0 else None) for g in found["repeats"]]
    text = joined("{label}, {tasks:,.0f} tasks: {gap:+±4}", found.assign(label=labels))
    return {"text": text, **by_result(found["ahead"].tolist())}


def _table_2(rows: Rows) -> Rows:
    """Runs of Table 2 at the paper's T: all four M under each reading, one schedule."""
    rows = only(
        _paying(rows),
        0,
        "runs",
        tasks=PAPER_T,
        crowd=learn_average.READINGS,
        tests=DEFAULT["tests"],
        repeats=learn_average.READ_AT,
        workers=[*learn_average.PRINTED],
    )
    count = rows.groupby(["crowd", "workers", "vote"])["gain"].transform("size")
    return enough(rows[count >= RUNS], RUNS, "runs of Table 2")


def _by_reading(found: Rows) -> dict[str, Any]:
    """Holds when under some reading every M is ahead; in part when some are."""
    fine = found.groupby("crowd")["ahead"].all().any()
    return {"refuted": not found["ahead"].any(), "caveat": not fine}


def _reading_texts(found: Rows) -> str:
    return "; ".join(
        f"{crowd}: " + ", ".join(sentences("M = {workers} {gap:+±3}", own))
        for crowd, own in found.groupby("crowd", sort=False)
    )


def table_2_gap(rows: Rows) -> dict[str, Any]:
    """Average reward less the full crowd's, by reading and M."""
    rows = _table_2(rows)
    rows = rows[rows["vote"] == "majority"]
    rows = rows.assign(late=rows["last_accuracy"] - rows["full_accuracy"])
    by = rows.groupby(["crowd", "workers"])
    gained, late = (
        _ahead(by[name].agg(["mean", "sem"]).reset_index()) for name in ("gain", "late")
    )
    return {
        "gained": _reading_texts(gained),
        "late": _reading_texts(late),
        **_by_reading(gained),
    }


def table_2_weighted(rows: Rows) -> dict[str, Any]:
    """Average reward by weighted less by simple vote, by reading and M."""
    found = _paired_votes(_table_2(rows), ["crowd", "workers"])
    return {"text": _reading_texts(found), **_by_reading(found)}


def table_2_values(rows: Rows) -> dict[str, Any]:
    """Printed values beside ours, row by row and reading by reading."""
    rows = _table_2(rows)
    texts, fits = [], []
    for name, at, vote, field in (
        ("full crowd", 0, "majority", "full_accuracy"),
        ("LS_OL", 1, "majority", "reward"),
        ("weighted", 2, "weighted", "reward"),
        ("optimum of LS_OL", 1, "majority", "best_accuracy"),
        ("optimum with weights", 2, "weighted", "best_accuracy"),
    ):
        own = rows[rows["vote"] == vote]
        values = own.pivot_table(index="crowd", columns="workers", values=field).dropna()
        if values.shape[1] < len(learn_average.PRINTED) or values.empty:
            raise NotMeasured("no reading has all four M")
        printed = [learn_average.PRINTED[m][at] for m in sorted(learn_average.PRINTED)]
        off = (values - printed).abs().max(axis=1)
        near = values[off == off.min()].iloc[0]
        texts.append(
            f"{name} {', '.join(f'{value:.3f}' for value in near)} "
            f"({near.name}, off by up to {off.min():.3f})"
        )
        fits.append(set(off.index[off <= VALUES]))
    return {
        "texts": "; ".join(texts),
        "refuted": not any(fits[:3]),
        "caveat": not set.intersection(*fits[:3]),
    }


def table_2_caption(rows: Rows) -> dict[str, Any]:
    """Average reward a worker, that is the reward of a task over M, beside the printed values."""
    rows = _table_2(rows)
    each = (rows["reward"] / rows["workers"]).groupby(rows["workers"]).mean()
    printed = pd.DataFrame(learn_average.PRINTED, index=["full", "simple", "weighted"]).T
    beyond = printed[printed["full"] > 1.0 / printed.index]
    return {
        "each": ", ".join(f"{value:.3f}" for value in each),
        "m": list(each.index),
        "beyond": len(beyond),
        "least": printed["full"].min(),
        "refuted": (np.abs(each - printed["simple"].reindex(each.index)) > VALUES).all(),
    }
