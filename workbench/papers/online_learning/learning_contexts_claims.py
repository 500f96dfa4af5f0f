"""What Liu, Liu (2015) claim of workers whose skills depend on the context, Section 5.

The paper says what it expects, omits all details, and has no experiment. The rules:

- A few contexts. Regret with |W| contexts over regret with one, in the same number of tasks, on
  the same crowds, for every schedule measured. It holds where all ratios lie within two standard
  errors of |W|; with a caveat where one lies below by more, since |W| is then a bound and no
  estimate; it is not reproduced where one lies above by more.
- A continuum. The slope of ln R(n) over ln n from T/10 to T, which ends below 1 where regret is
  a power of T below the first. It is not reproduced where the slope is below 1 by two standard
  errors for no schedule. Otherwise the claim holds, as far as T reaches, if it is so for every
  schedule, from 3T/10 on as well, and not so for the learner that takes all contexts for one: no
  set is best in all contexts, so that its regret is linear in the end, and a slope below 1 that
  it has as well tells nothing of T → ∞. If any of this fails there is a caveat. (This last
  condition was added when the first trials showed such a slope. It can only weaken a verdict.)
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from workbench.learning.intervals import intervals
from workbench.papers.online_learning.learn_contexts import ZETA, marks, slopes, versus_one
from workbench.papers.online_learning.learning_claims import RUNS, joined
from workbench.papers.online_learning.theory_sets import INTERVALS
from workbench.studies.chance import BEYOND
from workbench.studies.claim import NotMeasured, only

CONTROL = (
    " Where all contexts are taken for one, regret is linear in the end, and the slope is below 1 "
    "all the same (at {} of {} schedules): so few tasks cannot tell o(T) from T."
)


def _longest(rows: pd.DataFrame, kind: str) -> pd.DataFrame:
    """Runs of a kind of contexts, of the longest horizon."""
    rows = rows[rows["kind"] == kind]
    return only(rows, RUNS, f"runs of the kind {kind}", horizon=rows["horizon"].max())


def discrete(rows: pd.DataFrame) -> dict[str, Any]:
    """Regret with |W| contexts over that with one."""
    rows = _longest(rows, "few")
    found = versus_one(rows)
    found = found[(found["runs"] >= RUNS) & (found["contexts"] > 1)]
    if found.empty:
        raise NotMeasured(f"one context and more need {RUNS} runs each on the same crowds")
    doubt = BEYOND * found["ratio_se"]
    return {
        "T": int(rows["horizon"].max()),
        "runs": int(found["runs"].min()),
        "text": joined(
            "G1 = {tests:g}, |W| = {contexts}: {ratio:±2} times the regret of one context "
            "(exploring steps alone {exploring:±2} times), R = {regret:±0}, and {ignoring:±0} "
            "where all are taken for one",
            found,
        ),
        "refuted": (found["ratio"] - doubt > found["contexts"]).any(),
        "caveat": (found["ratio"] + doubt < found["contexts"]).any(),
    }


def continuous(rows: pd.DataFrame) -> dict[str, Any]:
    """Slope of ln R over ln n with intervals that are cut ever finer."""
    rows = _longest(rows, "continuum")
    found = slopes(rows)
    found = found[found["runs"] >= RUNS]
    own, blind = (found[found["learner"] == name] for name in ("contexts", "ignoring"))
    if own.empty:
        raise NotMeasured(f"a learner that tells contexts apart needs {RUNS} runs")
    last = int(rows["horizon"].max())
    names = {"contexts": "intervals", "ignoring": "all contexts taken for one"}
    fooled = int(_below(blind, "slope").sum())
    refuted = not _below(own, "slope").any()
    steady = (_below(own, "slope") & _below(own, "late")).all()
    return {
        "first": last // 10,
        "last": last,
        "runs": int(found["runs"].min()),
        "text": joined(
            "G1 = {tests:g}, {named}: slope {slope:±3}, from {since:,} tasks on {late:±3}, "
            "R({last:,}) = {regret:±0}",
            found.assign(named=found["learner"].map(names)),
            since=3 * last // 10,
            last=last,
        ),
        "at": ", ".join(f"{n:,}" for n in marks(last)),
        "cells": ", ".join(str(intervals(ZETA, n)) for n in marks(last)),
        "control": CONTROL.format(fooled, len(blind)) if fooled and not refuted else "",
        "refuted": refuted,
        "caveat": fooled or not steady or not len(blind),
    }


def _below(found: pd.DataFrame, name: str) -> pd.Series[bool]:
    """Whether a slope is below 1 by more than chance, schedule by schedule."""
    return found[name] + BEYOND * found[f"{name}_se"] < 1


def two_parts(rows: pd.DataFrame) -> dict[str, Any]:
    """What the best set of an interval loses at its contexts, as intervals get finer."""
    loss = rows[[f"loss_{v}" for v in INTERVALS]].astype(float)
    mean = loss.mean()
    return {
        "n": len(rows),
        "share": rows["share"].max(),
        "losses": ", ".join(f"{mean[f'loss_{v}']:.4f} with {v}" for v in INTERVALS),
        "refuted": rows["share"].max() > 1 or not mean.is_monotonic_decreasing,
    }
