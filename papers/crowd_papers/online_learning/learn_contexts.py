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

import numpy as np
import pandas as pd

from crowd_papers.online_learning.learning_runs import RUNS, curve_fields, grid, over_time
from workbench.base import FloatArray, stream
from workbench.learning import (
    ContextLearner,
    ContextualLsOl,
    IgnoringContext,
    LsOl,
    RefiningLsOl,
    Skills,
    SkillTable,
    contextual,
    intervals,
    play_contexts,
    practical,
    smooth_skills,
)
from workbench.studies import (
    BEYOND,
    Analysis,
    Block,
    Chart,
    NotMeasured,
    Parameter,
    Params,
    Record,
    Ruling,
    Size,
    Streams,
    Study,
    claim,
    ended,
    ended_well,
    estimate,
    instance_columns,
    mean_chart,
    means,
    nonempty,
    only,
    plus_minus,
    records,
    without_failures,
)

Z, ZETA = 0.15, 0.2
"""D1 and D2 grow as t^z log t, the number of intervals as t^ζ."""
RANGE = (0.5, 1.0)
"""Skills of a worker in each of few contexts: uniform on this."""
SLOPE = 2.0
"""Lipschitz constant of the skills in a continuum, which stay within [0.5, 0.9]."""
MOST = 8
"""Most contexts of the kind "few"."""


def trial(params: Params, streams: Streams) -> Record:
    """Let one learner label tasks of random contexts."""
    seed, T = streams.instance, int(params["horizon"])
    skills, learner = crowd(params, streams)
    tasks = sorted({*grid(T), *marks(T)})
    played = play_contexts(learner, skills, T, seed=seed, checkpoints=tasks)
    return {
        "best_accuracy": float(played.best[-1]) / T,
        "reward": float(played.reward[-1]) / T,
        "explored": int(played.explored[-1]),
        **curve_fields(tasks, regret=played.regret, exploring=played.exploration_regret),
    }


def crowd(params: Params, streams: Streams) -> tuple[Skills, ContextLearner]:
    """Draw skills by context, and the learner that is to find them out.

    Of few contexts the first are the same however many there are.
    """
    M, seed = int(params["workers"]), streams.method()
    few, factors = params["kind"] == "few", (params["tests"], params["repeats"])
    schedule = practical(*factors) if few else contextual(*factors, Z)
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


def marks(horizon: int) -> list[int]:
    """T/10, 3T/10 and T: nearly even in ln n."""
    return [horizon // 10, 3 * horizon // 10, horizon]


# What the trials say.

KEYS = ("kind", "tests", "contexts", "learner")
LEGEND = {"contexts": "told apart", "ignoring": "ignored"}
"""What is done with contexts."""
VERSUS_ONE = [
    "tests",
    "contexts",
    "runs",
    "regret",
    "regret_se",
    "ratio",
    "ratio_se",
    "exploring",
    "exploring_se",
    "ignoring",
    "ignoring_se",
]
SLOPES = [
    "tests",
    "learner",
    "runs",
    "regret",
    "regret_se",
    "slope",
    "slope_se",
    "late",
    "late_se",
]
FEW = "Few contexts: regret, and times that of one"
CONTINUUM = "A continuum: regret, and slope of ln R over ln n"


def analyse(trials: pd.DataFrame) -> Analysis:
    """Reward, regret beside that of one context, slopes with a continuum, and the curves."""
    if ended_well(trials).empty:
        return Analysis((ended(trials),))
    rows = without_failures(trials, ("reward", "best_accuracy", "explored"))
    few, continuum = versus_one(rows), slopes(rows)
    findings = (
        ended(trials),
        *[
            f"G1 = {row.tests:g}, {row.contexts} contexts told apart: R(T) = "
            f"{plus_minus(row.regret, row.regret_se, 1)}, {plus_minus(row.ratio, row.ratio_se, 2)} "
            f"times that of one (exploring steps "
            f"{plus_minus(row.exploring, row.exploring_se, 2)} times); all taken for one: "
            f"{plus_minus(row.ignoring, row.ignoring_se, 1)}."
            for row in records(few)
        ],
        *[
            f"Continuum, G1 = {row.tests:g}, learner {row.learner}: R(T) = "
            f"{plus_minus(row.regret, row.regret_se, 0)}, slope of ln R over ln T from T/10 on "
            f"{plus_minus(row.slope, row.slope_se)}, from 3T/10 on "
            f"{plus_minus(row.late, row.late_se)}."
            for row in records(continuum)
        ],
    )
    reward = means(rows, KEYS, "reward").rename(columns={"mean": "reward"})
    reward = reward.assign(
        **{name: means(rows, KEYS, name)["mean"] for name in ("best_accuracy", "explored")}
    )
    curves = over_time(rows, KEYS)
    tables = {
        "Average reward": reward,
        **({FEW: few} if len(few) else {}),
        **({CONTINUUM: continuum} if len(continuum) else {}),
        "Regret over time": curves,
    }
    return Analysis(findings, tables, nonempty(*regret_charts(curves)))


def versus_one(table: pd.DataFrame) -> pd.DataFrame:
    """R with |W| contexts over R with one, few contexts told apart, at the longest horizon.

    Columns `VERSUS_ONE`: `exploring` is the ratio of the exploring steps' regret, `ignoring` R of
    the learner that takes all contexts for one.
    """
    rows = []
    few = ended_well(table[table["kind"] == "few"])
    for tests, own in few.groupby("tests"):
        apart = own[own["learner"] == "contexts"]
        single = apart[apart["contexts"] == 1]
        for n, several in apart.groupby("contexts") if len(single) else ():
            regret, exploring = (
                at_the_end(several, single, name) for name in ("regret", "exploring")
            )
            if len(regret) < 2:
                continue
            blind = own[(own["learner"] == "ignoring") & (own["contexts"] == n)]
            ignoring = estimate(curves(blind).iloc[:, -1] if len(blind) else ())
            rows.append(
                {
                    "tests": tests,
                    "contexts": n,
                    "runs": len(regret),
                    **doubted("regret", estimate(regret[:, 0])[1:3]),
                    **doubted("ratio", ratio(regret[:, 0], regret[:, 1])),
                    **doubted("exploring", ratio(exploring[:, 0], exploring[:, 1])),
                    **doubted("ignoring", ignoring[1:3]),
                }
            )
    return pd.DataFrame(rows, columns=VERSUS_ONE)


def doubted(name: str, mean: tuple[float, float]) -> dict[str, float]:
    """Columns `NAME, NAME_se` of a mean and its standard error."""
    return {name: mean[0], f"{name}_se": mean[1]}


def at_the_end(several: pd.DataFrame, single: pd.DataFrame, name: str) -> FloatArray:
    """A curve's last value with several contexts and with one, a row a run that has both."""
    last = [curves(rows, name).iloc[:, -1] for rows in (several, single)]
    return pd.concat(last, axis=1).dropna().to_numpy(float)


def curves(table: pd.DataFrame, name: str = "regret") -> pd.DataFrame:
    """A curve at `marks` of the longest horizon there is, a row a run."""
    horizon = int(table["horizon"].max())
    own = table[table["horizon"] == horizon].set_index(instance_columns(table))
    values = own[[f"{name}_{n}" for n in marks(horizon)]].astype(float)
    return values.set_axis(marks(horizon), axis="columns").sort_index()


def ratio(above: FloatArray, below: FloatArray) -> tuple[float, float]:
    """Mean of one over mean of the other, and its standard error, run by run of the same crowds.

    Both of shape (n,). The standard error is that of the residuals above − ratio · below (delta
    method).
    """
    value = float(above.mean() / below.mean())
    residuals = above - value * below
    return value, float(residuals.std(ddof=1) / math.sqrt(len(residuals)) / abs(below.mean()))


def slopes(table: pd.DataFrame) -> pd.DataFrame:
    """How the regret grows with a continuum of contexts, from T/10 tasks to T.

    Columns `SLOPES`: `late` is the slope from 3T/10 on.
    """
    many = ended_well(table[table["kind"] == "continuum"])
    rows = []
    for (tests, learner), own in many.groupby(["tests", "learner"]):
        values = curves(own)
        if len(values) < 3 or not (values.sum() - values > 0).to_numpy().all():
            continue
        rows.append(
            {
                "tests": tests,
                "learner": learner,
                "runs": len(values),
                **doubted("regret", estimate(values.iloc[:, -1])[1:3]),
                **doubted("slope", slope(values)),
                **doubted("late", slope(values.iloc[:, 1:])),
            }
        )
    return pd.DataFrame(rows, columns=SLOPES)


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
    fits = np.log(averages) @ x / (x @ x)
    off = fits[1:] - fits[1:].mean()
    return float(fits[0]), math.sqrt((runs - 1) / runs * float(off @ off))


def regret_charts(curves: pd.DataFrame) -> list[Chart]:
    """Draw mean curves from 100 tasks on, by kind of contexts."""
    table = curves[curves["tasks"] >= 100]
    size = ("|W| = " + table["contexts"].astype(str) + ", ").where(table["kind"] == "few", "")
    table = table.assign(
        schedule=[f"G1 = {tests:g}" for tests in table["tests"]],
        series=size + table["learner"].map(LEGEND),
    )
    return [
        mean_chart(
            f"regret-{kind}",
            f"Regret with {what}, contexts told apart or ignored.",
            table[table["kind"] == kind],
            "tasks",
            ("tasks", "regret R(t) (tasks)"),
            unit="runs",
            series="series",
            panel="schedule",
            log_x=True,
            log_y=True,
        )
        for kind, what in (("few", "a few contexts"), ("continuum", "a continuum of contexts"))
    ]


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
        "smoke": Size((_few_block([1, 2], 300, [1.0]), _many_block(300, [0.3])), 2),
        "small": Size((_few_block([1, 2, 4], 1000, [1.0]), _many_block(1000, [0.3])), 10),
        "paper": Size(
            (_few_block([1, 2, 4], 3000, [1.0, 3.0]), _many_block(10_000, [0.3, 1.0])), 20
        ),
    },
    trial=trial,
    analyse=analyse,
    version=2,
)

# What the paper claims. It says what it expects, omits all details, and has no experiment.


def longest(rows: pd.DataFrame, kind: str) -> pd.DataFrame:
    """Runs of a kind of contexts, of the longest horizon.

    Raises
    ------
    NotMeasured
        There are fewer than `RUNS`.
    """
    rows = rows[rows["kind"] == kind]
    return only(rows, RUNS, f"runs of the kind {kind}", horizon=rows["horizon"].max())


@claim(
    id="learn-contexts-discrete",
    source="Section 5",
    statement="If each of |W| contexts is learnt separately, the regret is |W| times as large.",
)
def discrete(trials: pd.DataFrame) -> Ruling:
    """Regret with |W| contexts over that with one, on the same crowds, in as many tasks.

    It holds where for every schedule all ratios lie within two standard errors of |W|; as
    corrected where one lies below by more, since |W| is then a bound and no estimate; it is
    refuted where one lies above by more.
    """
    rows = longest(trials, "few")
    table = versus_one(rows)
    table = table[(table["runs"] >= RUNS) & (table["contexts"] > 1)]
    if table.empty:
        raise NotMeasured(f"one context and more need {RUNS} runs each on the same crowds")
    texts = [
        f"G1 = {row.tests:g}, |W| = {row.contexts}: {plus_minus(row.ratio, row.ratio_se, 2)} times "
        f"the regret of one context (exploring steps alone "
        f"{plus_minus(row.exploring, row.exploring_se, 2)} times), R = "
        f"{plus_minus(row.regret, row.regret_se, 0)}, and "
        f"{plus_minus(row.ignoring, row.ignoring_se, 0)} where all are taken for one"
        for row in records(table)
    ]
    figures = (
        f"After {int(rows['horizon'].max()):,} tasks, {table['runs'].min()} runs: "
        f"{'; '.join(texts)}."
    )
    doubt = BEYOND * table["ratio_se"]
    if (table["ratio"] - doubt > table["contexts"]).any():
        return Ruling.refuted(figures)
    below = (table["ratio"] + doubt < table["contexts"]).any()
    return Ruling.holds_as_corrected(figures) if below else Ruling.holds(figures)


@claim(
    id="learn-contexts-continuous",
    source="Section 5",
    statement="If contexts form a continuum that is divided into ever finer intervals, the regret "
    "is o(T).",
)
def continuous(trials: pd.DataFrame) -> Ruling:
    """Slope of ln R(n) over ln n from T/10 to T, below 1 where regret is a lower power of T.

    It is refuted where the slope is below 1 by two standard errors for no schedule. Otherwise it
    holds, as far as T reaches, if it is so for every schedule, from 3T/10 on as well, and not so
    for the learner that takes all contexts for one: no set is best in all contexts, so that its
    regret is linear in the end, and a slope below 1 that it has as well tells nothing of T → ∞. If
    any of this fails it holds as corrected. (This last condition was added when the first trials
    showed such a slope. It can only weaken a verdict.)
    """
    rows = longest(trials, "continuum")
    table = slopes(rows)
    table = table[table["runs"] >= RUNS]
    own, blind = (table[table["learner"] == name] for name in ("contexts", "ignoring"))
    if own.empty:
        raise NotMeasured(f"a learner that tells contexts apart needs {RUNS} runs")
    last = int(rows["horizon"].max())
    figures = (
        f"ln R(n) over ln n from {last // 10:,} to {last:,} tasks, {table['runs'].min()} runs: "
        f"{slope_texts(table, last)}. Intervals at {', '.join(f'{n:,}' for n in marks(last))} "
        f"tasks: {', '.join(str(intervals(ZETA, n)) for n in marks(last))}."
    )
    if not below_1(own, "slope").any():
        return Ruling.refuted(figures)
    misleading = int(below_1(blind, "slope").sum())
    if misleading:
        figures += (
            " Where all contexts are taken for one, regret is linear in the end, and the slope is "
            f"below 1 all the same (at {misleading} of {len(blind)} schedules): so few tasks "
            "cannot tell o(T) from T."
        )
    steady = (below_1(own, "slope") & below_1(own, "late")).all()
    fine = steady and len(blind) and not misleading
    return Ruling.holds(figures) if fine else Ruling.holds_as_corrected(figures)


def below_1(table: pd.DataFrame, name: str) -> pd.Series[bool]:
    """Whether a slope is below 1 by more than chance, schedule by schedule."""
    return table[name] + BEYOND * table[f"{name}_se"] < 1


def slope_texts(table: pd.DataFrame, last: int) -> str:
    """Slopes by schedule and learner, for a sentence."""
    names = {"contexts": "intervals", "ignoring": "all contexts taken for one"}
    return "; ".join(
        f"G1 = {row.tests:g}, {names[row.learner]}: slope {plus_minus(row.slope, row.slope_se)}, "
        f"from {3 * last // 10:,} tasks on {plus_minus(row.late, row.late_se)}, R({last:,}) = "
        f"{plus_minus(row.regret, row.regret_se, 0)}"
        for row in records(table)
    )
