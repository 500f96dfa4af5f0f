"""Section 5: workers whose skills depend on the kind of task.

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
from functools import partial

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
from workbench.papers.online_learning import learning_runs
from workbench.studies.analysis import ended_well
from workbench.studies.measures import DeclaredAnalysis, Drawn, Each, Grouped, Part
from workbench.studies.study import Block, Parameter, Params, Record, Size, Study
from workbench.studies.summary import estimate, instance_columns
from workbench.studies.trials import Streams

KEYS = ("kind", "tests", "contexts", "learner")
Z, ZETA = 0.15, 0.2
"""D1 and D2 grow as t^z log t, the number of intervals as t^ζ."""
RANGE = (0.5, 1.0)
"""Skills of a worker in each of few contexts: uniform on this."""
SLOPE = 2.0
"""Lipschitz constant of the skills in a continuum, which stay within [0.5, 0.9]."""
LEGEND = {"contexts": "told apart", "ignoring": "ignored"}
"""What is done with contexts."""
MOST = 8
"""Most contexts of the kind "few"."""


def trial(params: Params, streams: Streams) -> Record:
    """Let one learner label tasks of random contexts."""
    seed, T = streams.instance, int(params["horizon"])
    skills, learner = crowd(params, streams)
    tasks = sorted({*learning_runs.grid(T), *marks(T)})
    played = play_contexts(learner, skills, T, seed=seed, checkpoints=tasks)
    return {
        "best_accuracy": float(played.best[-1]) / T,
        "reward": float(played.reward[-1]) / T,
        "explored": int(played.explored[-1]),
        **learning_runs.curve_fields(
            tasks, regret=played.regret, exploring=played.exploration_regret
        ),
    }


def crowd(params: Params, streams: Streams) -> tuple[Skills, ContextLearner]:
    """Draw skills by context, and the learner that is to find them out.

    Of few contexts the first are the same however many there are.
    """
    M, seed = int(params["workers"]), streams.method()
    few, given = params["kind"] == "few", (params["tests"], params["repeats"])
    schedule = practical(*given) if few else contextual(*given, Z)
    names = list(range(int(params["contexts"])))
    skills: Skills
    if few:
        skill = stream(streams.instance, "context skills").uniform(*RANGE, (MOST, M))
        skills = SkillTable(dict(zip(names, skill, strict=False)))
    else:
        skills = smooth_skills(M, lipschitz=SLOPE, seed=streams.instance)
    if params["learner"] == "ignoring":
        return skills, IgnoringContext(LsOl(M, schedule, seed=seed))
    if few:
        return skills, ContextualLsOl(M, schedule, names, seed=seed)
    return skills, RefiningLsOl(M, schedule, ZETA, seed=seed)


def ratio(above: FloatArray, below: FloatArray) -> tuple[float, float]:
    """Mean of one over mean of the other, and its standard error, run by run of the same crowds.

    Both of shape (n,). The standard error is that of the residuals above − ratio · below (delta
    method).
    """
    value = float(above.mean() / below.mean())
    left = above - value * below
    return value, float(left.std(ddof=1) / math.sqrt(len(left)) / abs(below.mean()))


def slope(curves: pd.DataFrame) -> tuple[float, float]:
    """Slope of ln R(n) over ln n, least squares, R the mean over runs; and its s.e. by jackknife.

    Parameters
    ----------
    curves
        A row a run, a column a checkpoint, its name n. Three runs and two checkpoints, or more.
    """
    x = np.log(curves.columns.to_numpy(dtype=float))
    x = x - x.mean()
    values = curves.to_numpy(dtype=float)
    runs = len(values)
    averages = np.vstack([values.mean(axis=0), (values.sum(axis=0) - values) / (runs - 1)])
    found = np.log(averages) @ x / (x @ x)
    left = found[1:] - found[1:].mean()
    return float(found[0]), math.sqrt((runs - 1) / runs * float(left @ left))


def marks(horizon: int) -> list[int]:
    """T/10, 3T/10 and T: nearly even in ln n."""
    return [horizon // 10, 3 * horizon // 10, horizon]


def curves(table: pd.DataFrame, name: str = "regret") -> pd.DataFrame:
    """A curve at `marks` of the longest horizon there is, a row a run."""
    horizon = int(table["horizon"].max())
    own = table[table["horizon"] == horizon].set_index(instance_columns(table))
    found = own[[f"{name}_{n}" for n in marks(horizon)]].astype(float)
    return found.set_axis(marks(horizon), axis="columns").sort_index()


def versus_one(table: pd.DataFrame) -> pd.DataFrame:
    """R with |W| contexts over R with one, few contexts told apart, at the longest horizon.

    Columns `tests, contexts, runs, regret, regret_se, ratio, ratio_se, exploring, exploring_se,
    ignoring, ignoring_se`: the ratio of the exploring steps' regret, and R of the learner that
    takes all contexts for one.
    """
    rows = []
    few = ended_well(table[table["kind"] == "few"])
    for tests, own in few.groupby("tests"):
        told = own[own["learner"] == "contexts"]
        one = told[told["contexts"] == 1]
        for n, several in told.groupby("contexts") if len(one) else ():
            end, first = (
                pd.concat([curves(some, name).iloc[:, -1] for some in (several, one)], axis=1)
                .dropna()
                .to_numpy()
                .T
                for name in ("regret", "exploring")
            )
            if len(end[0]) < 2:
                continue
            other = own[(own["learner"] == "ignoring") & (own["contexts"] == n)]
            ignoring = curves(other).iloc[:, -1] if len(other) else ()
            rows.append(
                (
                    tests,
                    n,
                    len(end[0]),
                    *estimate(end[0])[1:3],
                    *ratio(*end),
                    *ratio(*first),
                    *estimate(ignoring)[1:3],
                )
            )
    return pd.DataFrame(
        rows,
        columns=[
            "tests",
            "contexts",
            "runs",
            *_doubted("regret", "ratio", "exploring", "ignoring"),
        ],
    )


def _doubted(*names: str) -> list[str]:
    return [column for name in names for column in (name, f"{name}_se")]


def slopes(table: pd.DataFrame) -> pd.DataFrame:
    """How the regret grows with a continuum of contexts, from T/10 tasks to T.

    Columns `tests, learner, runs, regret, regret_se, slope, slope_se, late, late_se`: late is the
    slope from 3T/10 on.
    """
    many = ended_well(table[table["kind"] == "continuum"])
    rows = []
    for (tests, learner), own in many.groupby(["tests", "learner"]):
        found = curves(own)
        if len(found) >= 3 and (found.sum() - found > 0).to_numpy().all():
            end = estimate(found.iloc[:, -1])[1:3]
            late = slope(found.iloc[:, 1:])
            rows.append((tests, learner, len(found), *end, *slope(found), *late))
    names = ["tests", "learner", "runs", *_doubted("regret", "slope", "late")]
    return pd.DataFrame(rows, columns=names)


def with_legend(rows: pd.DataFrame) -> pd.DataFrame:
    """Mean curves from 100 tasks on, with the legend of the charts."""
    found = learning_runs.over_time(rows, KEYS)
    found = found[found["tasks"] >= 100]
    size = ("|W| = " + found["contexts"].astype(str) + ", ").where(found["kind"] == "few", "")
    return found.assign(
        schedule=[f"G1 = {tests:g}" for tests in found["tests"]],
        series=size + found["learner"].map(LEGEND),
    )


def of_kind(kind: str, what: str) -> Drawn:
    """The chart of one kind of contexts."""
    return Drawn(
        f"regret-{kind}",
        f"Regret with {what}, contexts told apart or ignored",
        "tasks",
        "mean",
        ("tasks", "regret R(t) (tasks)"),
        {"series": "series", "panel": "schedule", "log_x": True, "log_y": True},
        unit="runs",
        of=with_legend,
        where=lambda found: found["kind"] == kind,
    )


_LEARNERS = ["contexts", "ignoring"]


def _few_block(contexts: list[int], horizon: int, tests: list[float]) -> Block:
    return {"contexts": contexts, "learner": _LEARNERS, "horizon": [horizon], "tests": tests}


def _many_block(horizon: int, tests: list[float]) -> Block:
    return {
        "kind": ["continuum"],
        "learner": _LEARNERS,
        "horizon": [horizon],
        "tests": tests,
        "repeats": [0.15],
    }


STUDY = Study(
    name="learn-contexts",
    title="Workers whose skills depend on the kind of task",
    source="Liu, Liu (2015), Section 5",
    parameters={
        "kind": Parameter(str, "few", "few contexts, or a continuum", choices=("few", "continuum")),
        "contexts": Parameter(int, 1, "|W|, for few", least=1, most=MOST, paired=True),
        "learner": Parameter(
            str,
            "contexts",
            "whether contexts are told apart",
            choices=tuple(_LEARNERS),
            paired=True,
        ),
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
    analyse=DeclaredAnalysis(
        Part(
            "Average reward",
            Grouped(
                KEYS,
                {
                    **learning_runs.mean_of("reward", "reward"),
                    "failed": ("reward", "failed"),
                    "best_accuracy": "mean",
                    "explored": "mean",
                },
                orders={},
            ),
        ),
        Part(
            "Few contexts: regret, and times that of one",
            versus_one,
            (
                Each(
                    "G1 = {tests:g}, {contexts} contexts told apart: R(T) = {regret:±1}, {ratio:±2} "
                    "times that of one (exploring steps {exploring:±2} times); all taken for one: "
                    "{ignoring:±1}."
                ),
            ),
        ),
        Part(
            "A continuum: regret, and slope of ln R over ln n",
            slopes,
            (
                Each(
                    "Continuum, G1 = {tests:g}, learner {learner}: R(T) = {regret:±0}, slope of ln R "
                    "over ln T from T/10 on {slope:±3}, from 3T/10 on {late:±3}."
                ),
            ),
        ),
        Part(
            "Regret over time",
            partial(learning_runs.over_time, keys=KEYS),
            (),
            (of_kind("few", "a few contexts"), of_kind("continuum", "a continuum of contexts")),
        ),
        fields=("reward", "best_accuracy", "explored"),
    ),
    version=2,
)
