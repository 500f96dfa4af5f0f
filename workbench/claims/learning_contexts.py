"""What Liu, Liu (2015) claim of labelers whose skills depend on the context, Section 5.

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

import pandas as pd

from workbench.claims.claim import Claim, Finding, NotMeasured, Ruling, Tables
from workbench.claims.reading import BEYOND, ended_well, enough
from workbench.learning.intervals import Partition
from workbench.studies.catalog.learn_contexts import ZETA, marks, slopes, versus_one

PAPER = "Liu, Liu 2015"
RUNS = 20
"""Least number of runs for a mean to be looked at."""


def _longest(tables: Tables, kind: str) -> pd.DataFrame:
    """Runs of a kind of contexts, of the longest horizon."""
    rows = ended_well(tables["learn-contexts"])
    rows = rows[rows["kind"] == kind]
    rows = rows[rows["horizon"] == rows["horizon"].max()]
    return enough(rows, RUNS, f"runs of the kind {kind}")


def _value(value: float, se: float, digits: int) -> str:
    return f"{value:.{digits}f} ± {se:.{digits}f}"


def discrete(tables: Tables) -> Finding:
    """Regret with |W| contexts over that with one."""
    rows = _longest(tables, "few")
    found = versus_one(rows)
    found = found[(found["runs"] >= RUNS) & (found["contexts"] > 1)]
    if found.empty:
        raise NotMeasured(f"one context and more need {RUNS} runs each on the same crowds")
    texts = [
        f"G1 = {row['tests']:g}, |W| = {row['contexts']}: "
        f"{_value(row['ratio'], row['ratio_se'], 2)} times the regret of one context (exploring "
        f"steps alone {_value(row['exploring'], row['exploring_se'], 2)} times), R = "
        f"{_value(row['regret'], row['regret_se'], 0)}, and "
        f"{_value(row['ignoring'], row['ignoring_se'], 0)} where all are taken for one"
        for row in found.to_dict("records")
    ]
    figures = (
        f"After {int(rows['horizon'].max()):,} tasks, {int(found['runs'].min())} runs: "
        f"{'; '.join(texts)}."
    )
    wide = BEYOND * found["ratio_se"]
    if (found["ratio"] - wide > found["contexts"]).any():
        return Finding(Ruling.NOT_REPRODUCED, figures)
    less = (found["ratio"] + wide < found["contexts"]).any()
    return Finding(Ruling.CAVEAT if less else Ruling.HOLDS, figures)


def continuous(tables: Tables) -> Finding:
    """Slope of ln R over ln n with intervals that are cut ever finer."""
    rows = _longest(tables, "continuum")
    found = slopes(rows)
    found = found[found["runs"] >= RUNS]
    own, other = (found[found["learner"] == one] for one in ("contexts", "ignoring"))
    if own.empty:
        raise NotMeasured(f"a learner that tells contexts apart needs {RUNS} runs")
    last = int(rows["horizon"].max())
    names = {"contexts": "intervals", "ignoring": "all contexts taken for one"}
    texts = [
        f"G1 = {row['tests']:g}, {names[row['learner']]}: slope "
        f"{_value(row['slope'], row['slope_se'], 3)}, from {3 * last // 10:,} tasks on "
        f"{_value(row['late'], row['late_se'], 3)}, R({last:,}) = "
        f"{_value(row['regret'], row['regret_se'], 0)}"
        for row in found.to_dict("records")
    ]
    figures = (
        f"ln R(n) over ln n from {last // 10:,} to {last:,} tasks, {int(found['runs'].min())} "
        f"runs: {'; '.join(texts)}. {_cuts(last)}"
    )
    if not _below(own, "slope").any():
        return Finding(Ruling.NOT_REPRODUCED, figures)
    blind = _below(other, "slope")
    if blind.any():
        figures += (
            " Where all contexts are taken for one, regret is linear in the end, and the slope is "
            f"below 1 all the same (at {blind.sum()} of {len(blind)} schedules): so few tasks "
            "cannot tell o(T) from T."
        )
    steady = (_below(own, "slope") & _below(own, "late")).all()
    holds = steady and len(other) and not blind.any()
    return Finding(Ruling.HOLDS if holds else Ruling.CAVEAT, figures)


def _below(found: pd.DataFrame, name: str) -> pd.Series[bool]:
    """Whether a slope is below 1 by more than chance, schedule by schedule."""
    below: pd.Series[bool] = found[name] + BEYOND * found[f"{name}_se"] < 1
    return below


def _cuts(last: int) -> str:
    """How many intervals there are at the marks."""
    cells = [str(Partition(ZETA).cells(n)) for n in marks(last)]
    return f"Intervals at {', '.join(f'{n:,}' for n in marks(last))} tasks: {', '.join(cells)}."


CLAIMS = (
    Claim(
        "learn-contexts-discrete", f"{PAPER}, Section 5",
        "With |W| contexts, learnt each on its own, the regret is |W| times as large as with one.",
        ("learn-contexts",), discrete, least=RUNS,
    ),
    Claim(
        "learn-contexts-continuous", f"{PAPER}, Section 5",
        "With a continuum of contexts, intervals that are cut ever finer and D1 and D2 of order "
        "t^z log t, the regret is o(T).",
        ("learn-contexts",), continuous, least=RUNS,
    ),
)  # fmt: skip
