"""Section 5: labelers whose skills depend on the kind of task.

Few contexts: the skills of each are drawn from [0.5, 1] on their own. One learner each, beside one
that takes all contexts for one. A continuum: skills that change smoothly with w in [0, 1], learnt
on intervals that are cut finer and finer, beside one LS_OL for all with the same schedule.

The paper omits all details and has no experiment; `workbench.learning.contexts` and `intervals` say
what they add. So that anything is exploited within ten thousand tasks, G1 and G2 are small here;
two values of G1 show what hangs on them. No horizon enters a learner, so that the curve of one run
is that of every T.

Source: Liu, Liu (2015), Section 5.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pandas as pd

from workbench.base.arrays import FloatArray
from workbench.base.seeds import stream
from workbench.learning.context_skills import Skills, SkillTable, smooth_skills
from workbench.learning.contexts import ContextLearner, ContextualLsOl, IgnoringContext
from workbench.learning.intervals import RefiningLsOl
from workbench.learning.ls_ol import LsOl
from workbench.learning.playing import play_contexts
from workbench.learning.schedule import contextual, practical
from workbench.studies.catalog._learning import grid, long, over_time
from workbench.studies.measures import ended, plus_minus
from workbench.studies.study import Analysis, Block, Chart, Parameter, Params, Record, Size, Study
from workbench.studies.summary import means
from workbench.studies.trials import Streams

KEYS = ["kind", "tests", "contexts", "learner"]
Z, ZETA = 0.15, 0.2
"""D1 and D2 grow as t^z log t, the number of intervals as t^ζ."""
RANGE = (0.5, 1.0)
"""Skills of a labeler in each of few contexts: uniform on this."""
SLOPE = 2.0
"""Lipschitz constant of the skills in a continuum, which stay within [0.5, 0.9]."""
LEGEND = {"contexts": "told apart", "ignoring": "ignored"}
"""What is done with contexts."""
MOST = 8
"""Most contexts of the kind "few"."""


def trial(params: Params, streams: Streams) -> Record:
    """Let one learner label tasks of random contexts."""
    seed, T = streams.instance, int(params["horizon"])
    skills, learner = _few(params, streams) if params["kind"] == "few" else _many(params, streams)
    tasks = sorted({*grid(T), *marks(T)})
    played = play_contexts(learner, skills, T, seed=seed, checkpoints=tasks)
    record: dict[str, float | int | None] = {
        "best_accuracy": float(played.best[-1]) / T,
        "reward": float(played.reward[-1]) / T,
        "explored": int(played.explored[-1]),
    }
    record |= {f"regret_{n}": float(played.regret[at]) for at, n in enumerate(tasks)}
    record |= {f"exploring_{n}": float(played.exploration_regret[at]) for at, n in enumerate(tasks)}
    return record


def _few(params: Params, streams: Streams) -> tuple[Skills, ContextLearner]:
    """Draw skills by context, the same for the first contexts however many there are."""
    M, seed = int(params["workers"]), streams.method()
    skill = stream(streams.instance, "context skills").uniform(*RANGE, (MOST, M))
    names = list(range(int(params["contexts"])))
    skills = SkillTable(dict(zip(names, skill, strict=False)))
    schedule = practical(params["tests"], params["repeats"])
    if params["learner"] == "contexts":
        return skills, ContextualLsOl(M, schedule, names, seed=seed)
    return skills, IgnoringContext(LsOl(M, schedule, seed=seed))


def _many(params: Params, streams: Streams) -> tuple[Skills, ContextLearner]:
    M, seed = int(params["workers"]), streams.method()
    skills = smooth_skills(M, lipschitz=SLOPE, seed=streams.instance)
    schedule = contextual(params["tests"], params["repeats"], Z)
    if params["learner"] == "contexts":
        return skills, RefiningLsOl(M, schedule, ZETA, seed=seed)
    return skills, IgnoringContext(LsOl(M, schedule, seed=seed))


class Ratio(NamedTuple):
    """A quotient of two means, and its standard error."""

    value: float
    se: float


def ratio(above: FloatArray, below: FloatArray) -> Ratio:
    """Mean of one over mean of the other, shape (n,) each, run by run of the same crowds.

    The standard error is that of the residuals above − value · below (delta method).
    """
    value = float(above.mean() / below.mean())
    left = above - value * below
    return Ratio(value, float(left.std(ddof=1) / math.sqrt(len(left)) / abs(below.mean())))


def slope(curves: pd.DataFrame) -> Ratio:
    """Slope of ln R(n) over ln n, least squares, R the mean over runs; s.e. by jackknife.

    Parameters
    ----------
    curves
        A row a run, a column a checkpoint, its name n. Three runs and two checkpoints, or more.
    """
    x = np.log(curves.columns.to_numpy(dtype=float))
    x = x - x.mean()
    values = curves.to_numpy(dtype=float)
    runs = len(values)
    means_ = np.vstack([values.mean(axis=0), (values.sum(axis=0) - values) / (runs - 1)])
    found = np.log(means_) @ x / (x @ x)
    left = found[1:] - found[1:].mean()
    return Ratio(float(found[0]), math.sqrt((runs - 1) / runs * float(left @ left)))


def marks(horizon: int) -> list[int]:
    """T/10, 3T/10 and T: nearly even in ln n."""
    return [horizon // 10, 3 * horizon // 10, horizon]


def curves(table: pd.DataFrame, name: str = "regret") -> pd.DataFrame:
    """A curve at `marks` of the longest horizon there is, a row a run."""
    horizon = int(table["horizon"].max())
    own = table[table["horizon"] == horizon].set_index(_run_names(table))
    found = own[[f"{name}_{n}" for n in marks(horizon)]].astype(float)
    found.columns = pd.Index(marks(horizon))
    return found.sort_index()


def _run_names(table: pd.DataFrame) -> list[str]:
    return [one for one in ("seed", "repetition") if one in table]


def versus_one(table: pd.DataFrame) -> pd.DataFrame:
    """R with |W| contexts over R with one, few contexts told apart, at the longest horizon.

    Columns `tests, contexts, runs, regret, regret_se, ratio, ratio_se, exploring, exploring_se,
    ignoring, ignoring_se`: the ratio of the exploring steps' regret, and R of the learner that
    takes all contexts for one.
    """
    few = table[(table["kind"] == "few") & (table["status"].astype(str) == "ok")]
    rows = []
    for tests, own in few.groupby("tests"):
        told = {
            int(str(n)): one for n, one in own[own["learner"] == "contexts"].groupby("contexts")
        }
        for n in told if 1 in told else ():
            end = _paired(told[n], told[1], "regret")
            first = _paired(told[n], told[1], "exploring")
            if len(end) < 2:
                continue
            all_one = own[(own["learner"] == "ignoring") & (own["contexts"] == n)]
            ignoring = curves(all_one).iloc[:, -1] if len(all_one) else pd.Series([math.nan])
            rows.append(
                (tests, n, len(end), end["a"].mean(), end["a"].sem(),
                 *ratio(end["a"].to_numpy(), end["b"].to_numpy()),
                 *ratio(first["a"].to_numpy(), first["b"].to_numpy()),
                 ignoring.mean(), ignoring.sem())
            )  # fmt: skip
    return pd.DataFrame(
        rows,
        columns=["tests", "contexts", "runs", "regret", "regret_se", "ratio", "ratio_se",
                 "exploring", "exploring_se", "ignoring", "ignoring_se"],
    )  # fmt: skip


def _paired(some: pd.DataFrame, one: pd.DataFrame, name: str) -> pd.DataFrame:
    ends = {key: curves(rows, name).iloc[:, -1] for key, rows in (("a", some), ("b", one))}
    return pd.DataFrame(ends).dropna()


def slopes(table: pd.DataFrame) -> pd.DataFrame:
    """How the regret grows with a continuum of contexts, from T/10 tasks to T.

    Columns `tests, learner, runs, regret, regret_se, slope, slope_se, late, late_se`: late is the
    slope from 3T/10 on.
    """
    many = table[(table["kind"] == "continuum") & (table["status"].astype(str) == "ok")]
    rows = []
    for (tests, learner), own in many.groupby(["tests", "learner"]):
        found = curves(own)
        if len(found) < 3 or not (found.sum() - found > 0).to_numpy().all():
            continue
        last = found.iloc[:, -1]
        rows.append((tests, learner, len(found), last.mean(), last.sem(), *slope(found),
                     *slope(found.iloc[:, 1:])))  # fmt: skip
    return pd.DataFrame(
        rows,
        columns=["tests", "learner", "runs", "regret", "regret_se", "slope", "slope_se", "late",
                 "late_se"],
    )  # fmt: skip


def analyse(table: pd.DataFrame) -> Analysis:
    """Regret by kind of contexts and learner, its ratio to one context's, and its slope."""
    if long(table, KEYS).empty:
        return Analysis(findings=(ended(table),))
    found = over_time(table, KEYS)
    ends = means(table, KEYS, "reward").rename(columns={"mean": "reward"})
    for name in ("best_accuracy", "explored"):
        one = means(table, KEYS, name).rename(columns={"mean": name})
        ends = ends.merge(one[[*KEYS, name]], on=KEYS)
    few, many = versus_one(table), slopes(table)
    sentences = [
        f"G1 = {row['tests']:g}, {row['contexts']} contexts told apart: R(T) = "
        f"{plus_minus(row['regret'], row['regret_se'], 1)}, "
        f"{plus_minus(row['ratio'], row['ratio_se'], 2)} times that of one (exploring steps "
        f"{plus_minus(row['exploring'], row['exploring_se'], 2)} times); all taken for one: "
        f"{plus_minus(row['ignoring'], row['ignoring_se'], 1)}."
        for row in few.to_dict("records")
    ]
    sentences += [
        f"Continuum, G1 = {row['tests']:g}, learner {row['learner']}: R(T) = "
        f"{plus_minus(row['regret'], row['regret_se'], 0)}, slope of ln R over ln T from T/10 on "
        f"{plus_minus(row['slope'], row['slope_se'], 3)}, from 3T/10 on "
        f"{plus_minus(row['late'], row['late_se'], 3)}."
        for row in many.to_dict("records")
    ]
    shown = found.assign(
        schedule=[f"G1 = {tests:g}" for tests in found["tests"]],
        series=[
            LEGEND[learner] if kind == "continuum" else f"|W| = {n}, {LEGEND[learner]}"
            for kind, n, learner in zip(
                found["kind"], found["contexts"], found["learner"], strict=True
            )
        ],
    )
    count = int(found["n"].max())
    said = f"Means over {count} runs; bars are 95 % intervals of the mean."
    charts = [
        _regret_chart(f"regret-{kind}", what, said, shown[shown["kind"] == kind])
        for kind, what in (("few", "a few contexts"), ("continuum", "a continuum of contexts"))
        if (shown["kind"] == kind).any()
    ]
    return Analysis(
        findings=(ended(table), *sentences),
        tables={
            "Average reward": ends,
            "Few contexts: regret, and times that of one": few,
            "A continuum: regret, and slope of ln R over ln n": many,
            "Regret over time": found,
        },
        charts=tuple(charts),
    )


def _regret_chart(name: str, what: str, said: str, rows: pd.DataFrame) -> Chart:
    return Chart(
        name, f"Regret with {what}, contexts told apart or ignored. {said}",
        rows[rows["tasks"] >= 100], "tasks", "mean", "tasks", "regret R(t) (tasks)",
        series="series", panel="schedule", low="low", high="high", log_x=True, log_y=True,
    )  # fmt: skip


_LEARNERS = ["contexts", "ignoring"]


def _few_block(contexts: list[int], horizon: int, tests: list[float]) -> Block:
    return {"contexts": contexts, "learner": _LEARNERS, "horizon": [horizon], "tests": tests}


def _many_block(horizon: int, tests: list[float]) -> Block:
    return {
        "kind": ["continuum"], "learner": _LEARNERS, "horizon": [horizon], "tests": tests,
        "repeats": [0.15],
    }  # fmt: skip


STUDY = Study(
    name="learn-contexts",
    title="Labelers whose skills depend on the kind of task",
    source="Liu, Liu (2015), Section 5",
    parameters={
        "kind": Parameter(str, "few", "few contexts, or a continuum", choices=("few", "continuum")),
        "contexts": Parameter(int, 1, "|W|, for few", least=1, most=MOST, paired=True),
        "learner": Parameter(str, "contexts", "whether contexts are told apart",
                             choices=tuple(_LEARNERS), paired=True),
        "workers": Parameter(int, 5, "M", least=1, most=26),
        "horizon": Parameter(int, 2000, "T, tasks", least=2, most=100_000, paired=True),
        "tests": Parameter(float, 1.0, "G1", least=0, most=1e9, paired=True),
        "repeats": Parameter(float, 2.0, "G2", least=0, most=1e9, paired=True),
    },
    sizes={
        "smoke": Size((_few_block([1, 2], 300, [1.0]), _many_block(300, [0.3])), 3),
        "small": Size((_few_block([1, 2, 4], 1000, [1.0]), _many_block(1000, [0.3])), 10),
        "paper": Size(
            (_few_block([1, 2, 4], 3000, [1.0, 3.0]), _many_block(10_000, [0.3, 1.0])), 20
        ),
    },
    trial=trial,
    analyse=analyse,
    version=2,
)  # fmt: skip
