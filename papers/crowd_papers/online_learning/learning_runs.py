"""What trials of online worker selection share: a crowd, one run of LS_OL on it, its curves.

One trial is one run on one crowd. Schedules, votes, vetting and delays that are compared meet the
same crowd, tasks and labels. Regret and reward are expectations by the true skills, given what the
run had learnt: the labels of exploiting steps are not drawn, so that only the learning is noise.

Where the paper is silent (it calls G1 and G2 "sufficiently large"): G1 = 3, and G2 is the printed
1/(a_min − ½)² by the crowd's own a_min, the accuracy of its full vote, unless a number is given.

Claims are read likewise where the paper leaves room: five workers, skills uniform on [0.6, 1], 2000
tasks and that schedule (`simulated`). A difference counts when it exceeds two standard errors. A
bound above T promises nothing, since no regret exceeds T.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from workbench.accuracy import best_set, crowd_constants, log_odds_accuracy, majority_accuracy
from workbench.base import FloatArray, InputError, stream
from workbench.learning import (
    Draws,
    LsOlOptions,
    Removal,
    Runs,
    Schedule,
    Vetting,
    repeats_factor,
    simulate,
)
from workbench.studies import (
    BEYOND,
    Parameter,
    Params,
    Record,
    Ruling,
    Streams,
    ended_well,
    flags,
    instance_columns,
    mean_se,
    means,
    only,
)

COST = 0.02
"""Price of a label (Section 6.1)."""
PAPER_T = 2000
"""Tasks of a run of the paper."""
FIXED: dict[str, tuple[float, ...]] = {
    "table-1": (0.763, 0.781, 0.625, 0.783, 0.727),
    "clear": (0.9, 0.8, 0.7, 0.6, 0.55),
    "wide": (0.95, 0.75, 0.7, 0.6, 0.35),
    "one-bad": (0.85, 0.8, 0.75, 0.7, 0.3),
    "alike": (0.76, 0.75, 0.74, 0.73, 0.72),
}
"""Crowds of five given skills: the paper's Table 1, three of larger differences, one of less."""

DRAWN: dict[str, tuple[float, float]] = {
    "from-0.5": (0.5, 1.0),
    "from-0.6": (0.6, 1.0),
    "from-0.7": (0.7, 1.0),
    "from-0.8": (0.8, 1.0),
    "any": (0.0, 1.0),
    "any-trusted": (0.0, 1.0),
    "spread": (0.3, 1.0),
    "spread-trusted": (0.3, 1.0),
    "distrusted": (0.0, 0.4),
    "doubtful": (0.3, 0.7),
}
"""Crowds drawn uniformly: the range of the skills. Trusted ones are drawn anew until p̄ > ½."""

CROWDS = (*FIXED, *DRAWN)

GRID = (
    25,
    50,
    100,
    150,
    200,
    300,
    400,
    500,
    600,
    800,
    1000,
    1200,
    1400,
    1600,
    1800,
    2000,
    3000,
    5000,
    7000,
    10_000,
    14_000,
    20_000,
    30_000,
    50_000,
    70_000,
    100_000,
    200_000,
    300_000,
    500_000,
    700_000,
    1_000_000,
)
"""Numbers of tasks after which a run is looked at."""

SHAPES = {"log": "log T", "log2": "log² T", "sqrt": "√T", "linear": "T"}
"""Ways in which regret may grow."""

SETTING = ["crowd", "workers", "tests", "repeats", "vote"]
"""Parameters of a run but for the tasks."""

Curve: TypeAlias = Literal["regret", "exploring", "cost_regret"]


def draw_crowd(name: str, workers: int, seed: np.random.SeedSequence) -> FloatArray:
    """Skills of a crowd of `FIXED` or `DRAWN`, shape (M,).

    Raises
    ------
    InputError
        A fixed crowd of another size.
    """
    if name in FIXED:
        if workers != len(FIXED[name]):
            raise InputError(f"workers is {workers}: the crowd {name} has {len(FIXED[name])}")
        return np.array(FIXED[name])
    rng = stream(seed, "skill")
    while True:
        skill = rng.uniform(*DRAWN[name], workers)
        if not name.endswith("-trusted") or skill.mean() > 0.5:
            return skill


def schedule_of(params: Params, skill: FloatArray) -> Schedule:
    """G1 and G2 as asked for; G2 as printed where it is left out."""
    repeats = params["repeats"]
    if repeats is None:
        # A crowd whose vote is a coin's would ask for ∞. With G2 = T all steps explore as well.
        repeats = min(repeats_factor(crowd_constants(skill).a_min), float(params["horizon"]))
    return Schedule(params["tests"], repeats, log_power=1.0 + 2.0 * params.get("eta", 0.0))


def vetting_of(variant: str, error: float = 0.1) -> Vetting | None:
    """The rule that drops workers: (13) "printed", with the "supported" exponent, or "none"."""
    if variant == "none":
        return None
    return Vetting(error, variant="printed" if variant == "printed" else "supported")


def run_once(
    params: Params, streams: Streams, curves: Sequence[Curve] = ("regret", "exploring")
) -> Record:
    """One run of LS_OL on one crowd: what it gained and spent, and what it knows at the end."""
    seed, T = streams.instance, int(params["horizon"])
    skill = draw_crowd(params["crowd"], int(params["workers"]), seed)
    schedule, weighted = schedule_of(params, skill), params["vote"] == "weighted"
    tasks = grid(T)
    runs = simulate(
        Draws(skill, 1, seed=seed),
        schedule,
        T,
        LsOlOptions(
            weighted=weighted,
            delay=int(params.get("delay", 0)),
            vetting=vetting_of(params.get("vetting", "none")),
        ),
        costs=np.full(len(skill), COST),
        checkpoints=tasks,
    )
    values = {
        "regret": runs.regret[0],
        "exploring": runs.exploration_regret[0],
        "cost_regret": runs.printed_cost_regret[0],
    }
    return {
        "full_accuracy": majority_accuracy(skill),
        "a_min": crowd_constants(skill).a_min,
        "mean_skill": float(skill.mean()),
        "best_accuracy": float(runs.best_accuracy[0]),
        "repeats_used": schedule.repeats,
        "explored": int(runs.explored[0, -1]),
        "new_testers": int(runs.new_testers[0, -1]),
        "labels_per_task": float(runs.labels[0, -1]) / T,
        **_knowledge(runs, skill, weighted),
        **_dropped(runs.removed[0], skill),
        **curve_fields(tasks, **{name: values[name] for name in curves}),
    }


def _knowledge(runs: Runs, skill: FloatArray, weighted: bool) -> Record:
    """What the run knows at the end, beside the truth."""
    estimates, chosen = runs.estimates[0], runs.chosen[0]
    best = best_set(skill, weighted=weighted)
    last = majority_accuracy(skill[chosen])
    if weighted:
        last, _ = log_odds_accuracy(skill[chosen], estimates[chosen], truncate=1e-3)
    return {
        "last_accuracy": float(last),
        "last_size": int(chosen.sum()),
        "best_size": len(best.workers),
        "found_best": set(np.flatnonzero(chosen).tolist()) == set(best.workers.tolist()),
        "ordered": bool((np.diff(estimates[np.argsort(-skill, kind="stable")]) <= 0).all()),
        "off": float(np.abs(estimates - skill).mean()),
        "off_reversed": float(np.abs(estimates - (1.0 - skill)).mean()),
    }


def dropped_wrongly(removed: Sequence[Removal], skill: FloatArray) -> list[bool]:
    """Of each worker dropped, in turn, whether somebody less able was left."""
    remaining, wrong = list(range(len(skill))), []
    for removal in removed:
        wrong.append(bool(skill[removal.worker] > skill[remaining].min()))
        remaining.remove(removal.worker)
    return wrong


def _dropped(removed: Sequence[Removal], skill: FloatArray) -> Record:
    """Whether those dropped were the least able of those left."""
    wrong = dropped_wrongly(removed, skill)
    return {
        "dropped": len(removed),
        "wrongly": sum(wrong),
        "first_step": removed[0].step if removed else None,
        "first_error": removed[0].error if removed else None,
        "first_wrong": wrong[0] if removed else None,
    }


def curve_fields(tasks: Sequence[int], **curves: FloatArray) -> Record:
    """A field for each value of some curves, `NAME_TASKS`."""
    return {
        f"{name}_{n}": float(values[at])
        for name, values in curves.items()
        for at, n in enumerate(tasks)
    }


def grid(horizon: int) -> list[int]:
    """Checkpoints up to a horizon, and the horizon."""
    return sorted({n for n in GRID if n < horizon} | {horizon})


def run_parameters(**change: Parameter) -> dict[str, Parameter]:
    """Parameters of a run; a study may add to them or change them."""
    return {
        "crowd": Parameter(
            str, "from-0.6", "the skills: given, or drawn from a range", choices=CROWDS
        ),
        "workers": Parameter(int, 5, "M", least=1, most=26),
        "horizon": Parameter(int, PAPER_T, "T, tasks", least=2, most=10_000_000, paired=True),
        "vote": Parameter(
            str, "majority", "how the chosen vote", choices=("majority", "weighted"), paired=True
        ),
        "tests": Parameter(float, 3.0, "G1 of D1 = G1 log t", least=0, most=1e9, paired=True),
        "repeats": Parameter(
            float,
            None,
            "G2 of D2 = G2 log t; none: 1/(a_min − ½)² by the crowd",
            least=0,
            most=1e9,
            optional=True,
            paired=True,
        ),
        **change,
    }


# Reading curves.


def checkpoints(table: pd.DataFrame, curve: Curve = "regret") -> list[int]:
    """Numbers of tasks of which a table has a curve's value."""
    ends = (str(name).removeprefix(f"{curve}_") for name in table)
    return sorted(int(n) for n in ends if n.isdigit())


def long(table: pd.DataFrame, keys: Sequence[str], curve: Curve = "regret") -> pd.DataFrame:
    """A row a run and checkpoint: `keys`, `repetition`, (`seed`), `tasks`, `value`.

    Failed trials have no rows. Checkpoints beyond a run's horizon are left out.
    """
    ok = ended_well(table)
    names = {f"{curve}_{n}": n for n in checkpoints(ok, curve)}
    ids = [*keys, *(name for name in ("repetition", "seed") if name in ok and name not in keys)]
    rows = ok.melt(ids, list(names), "tasks", "value").dropna(subset="value", ignore_index=True)
    return rows.assign(tasks=rows["tasks"].map(names), value=rows["value"].astype(float))


def over_time(table: pd.DataFrame, keys: Sequence[str], *, per_task: bool = False) -> pd.DataFrame:
    """Mean regret at each checkpoint: columns `keys, tasks, n, mean, se, low, high`."""
    rows = long(table, keys)
    if per_task:
        rows = rows.assign(value=rows["value"] / rows["tasks"])
    by = [*keys, "tasks"]
    return means(rows, by, "value").drop(columns="failed").sort_values(by, ignore_index=True)


def with_means(rows: pd.DataFrame, by: Sequence[str], value: str, *others: str) -> pd.DataFrame:
    """Columns `by, n, VALUE, se, low, high` of a measure, and the means of others, as first met."""
    table = means(rows, by, value).drop(columns="failed").rename(columns={"mean": value})
    return table.assign(**{name: means(rows, by, name)["mean"] for name in others})


def rewards(table: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Average reward up to each checkpoint minus the full crowd's, a row a run and checkpoint.

    Columns `keys, repetition, tasks, reward, gain`; reward = U(S*) − R(n)/n.
    """
    rows = long(table, [*keys, "best_accuracy", "full_accuracy"])
    reward = rows["best_accuracy"].astype(float) - rows["value"] / rows["tasks"]
    return rows.assign(reward=reward, gain=reward - rows["full_accuracy"].astype(float))


def shape(name: str, tasks: FloatArray) -> FloatArray:
    """One of `SHAPES` at given numbers of tasks."""
    log = np.log(tasks)
    values: dict[str, FloatArray] = {
        "log": log,
        "log2": log**2,
        "sqrt": np.sqrt(tasks),
        "linear": np.asarray(tasks, float),
    }
    return values[name]


def growth(runs: pd.DataFrame) -> dict[str, float]:
    """Log-likelihood of each shape for what a curve gains from one checkpoint to the next.

    The gains of a curve a + b f(T) are b times those of f, whatever it did before. Each mean gain
    is taken as normal with its measured standard error, and on top of it a misfit of the shape, of
    the same share of every gain, which is fitted (none of the shapes can be exact). All shapes
    have the same two parameters, so that their likelihoods compare as they are.

    Parameters
    ----------
    runs
        A row a run, a column a checkpoint (its name the number of tasks), at least 4 columns.
    """
    tasks = runs.columns.to_numpy(dtype=float)
    gains = runs.diff(axis=1).iloc[:, 1:]
    mean = gains.mean().to_numpy(float)
    if len(mean) < 3 or not (mean > 0).all():
        return dict.fromkeys(SHAPES, math.nan)
    se = gains.std(ddof=1).to_numpy(float) / math.sqrt(len(gains))
    variance = se**2 + (np.geomspace(1e-3, 3.0, 200)[:, None] * mean) ** 2
    likelihood = {}
    for name in SHAPES:
        steps = np.diff(shape(name, tasks))
        slope = (mean * steps / variance).sum(axis=1) / (steps**2 / variance).sum(axis=1)
        square = (mean - slope[:, None] * steps) ** 2 / variance
        likely = -0.5 * (square + np.log(2 * np.pi * variance)).sum(axis=1)
        likelihood[name] = float(likely.max())
    return likelihood


def wide(rows: pd.DataFrame, least: int = 0) -> pd.DataFrame:
    """Curves of `long`, a row a run and a column a checkpoint from `least` on."""
    late = rows[rows["tasks"] >= least]
    return late.pivot_table(index=instance_columns(rows), columns="tasks", values="value").dropna()


def best_shape(likelihood: dict[str, float]) -> tuple[str, float]:
    """The likeliest shape, and by how much its log-likelihood is ahead of the next."""
    ranked = sorted(likelihood, key=lambda name: -likelihood[name])
    return ranked[0], likelihood[ranked[0]] - likelihood[ranked[1]]


def repeats_label(value: Any) -> str:
    """G2 for a legend."""
    return "printed G2" if value is None or pd.isna(value) else f"G2 = {value:.3g}"


def schedule_label(tests: float, repeats: float | None) -> str:
    """G1 and G2, for a sentence."""
    return f"G1 = {tests:g}, {repeats_label(repeats)}"


def schedule_labels(rows: pd.DataFrame) -> list[str]:
    """`schedule_label` of each row."""
    pairs = zip(rows["tests"], rows["repeats"], strict=True)
    return [schedule_label(tests, repeats) for tests, repeats in pairs]


# Reading claims.

RUNS = 20
"""Least number of runs or crowds for a mean to be looked at."""
EQUAL = 1e-12
"""Accuracies this close are equal."""
STATED = 0.1
"""Error at which vetting drops a worker (Section 6.2)."""
LOGARITHMIC = ("log", "log2")
"""Shapes of growth that count as logarithmic."""
DEFAULT: dict[str, Any] = {"workers": 5, "vote": "majority", "tests": 3.0}
"""The paper's settings, and G1."""


def simulated(rows: pd.DataFrame, crowd: str = "from-0.6") -> pd.DataFrame:
    """Runs of a figure at the paper's own size and the default G1.

    Raises
    ------
    NotMeasured
        There are fewer than `RUNS`.
    """
    what = f"runs of {crowd} at the paper's settings"
    return only(rows, RUNS, what, crowd=crowd, horizon=PAPER_T, **DEFAULT)


def mean_of(rows: pd.DataFrame, name: str) -> tuple[float, float]:
    """Mean of a column, and its standard error."""
    return mean_se(rows[name].astype(float))


def share_of(rows: pd.DataFrame, name: str) -> float:
    """Share of the rows in which a truth value is true."""
    return float(flags(rows[name]).mean())


def is_less(mean: tuple[float, float], other: tuple[float, float]) -> bool:
    """Whether a mean is below another by more than chance, each with its standard error."""
    return other[0] - mean[0] > BEYOND * math.hypot(mean[1], other[1])


def checkpoint_near(rows: pd.DataFrame, tasks: float) -> int:
    """The checkpoint nearest to a number of tasks, by their ratio."""
    return min(checkpoints(rows), key=lambda n: abs(math.log(n / tasks)))


def ruling_of_all(figures: str, fine: Iterable[bool]) -> Ruling:
    """Holds where all settings are fine, as corrected where some are, refuted where none is."""
    results = list(fine)
    if not any(results):
        return Ruling.refuted(figures)
    return Ruling.holds(figures) if all(results) else Ruling.holds_as_corrected(figures)
