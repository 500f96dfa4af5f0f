"""What Liu, Liu (2015) claim of online worker selection, as far as it can be decided.

Read as follows where the paper leaves room. Five workers, skills uniform on [0.6, 1], 2000 tasks,
G1 = 3 and G2 = 1/(a_min − ½)² by each crowd's own a_min. A difference counts when it exceeds two
standard errors. A bound above T promises nothing, since no regret exceeds T.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from workbench.papers.online_learning.learning_runs import (
    PAPER_T,
    repeats_label,
)
from workbench.studies.chance import beyond_chance, flags, mean_se
from workbench.studies.claim import NotMeasured, enough, only
from workbench.studies.measures import sentences

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


# Section 4.


# Section 6.
