"""`learn`: whom to trust, learnt from agreement while tasks come in."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd

from workbench.api import inputs
from workbench.api.inputs import Given as Labelled
from workbench.api.result import Result, facts, names, page, shown
from workbench.base import checks
from workbench.base.arrays import FloatArray
from workbench.base.errors import InputError
from workbench.base.seeds import stream
from workbench.base.text import table
from workbench.learning import schedule as schedules
from workbench.learning.agreement import Structure
from workbench.learning.ls_ol import LsOlOptions
from workbench.learning.recorded import Order, Pool, Replayed, recorded, replay
from workbench.learning.schedule import Schedule
from workbench.learning.simulated import simulated
from workbench.learning.vetting import Vetting

if TYPE_CHECKING:
    from typing import Literal

    from matplotlib.figure import Figure

SIMULATED, RECORDED = "3,5", "5,0"
"""Schedules where none is given."""
HORIZON, RUNS = 2000, 100
"""Simulated tasks and runs where none are given."""
SHOWN = 12
"""Workers that are shown."""
WIDTH = 16
"""Letters for the names of facts."""
Given: TypeAlias = Schedule | str | Sequence[float]
"""A schedule as users write it."""


@dataclass(frozen=True, eq=False, repr=False)
class Learning(Result):
    """Whom LS_OL came to trust, and how well it labelled meanwhile.

    Attributes
    ----------
    title
        What was learnt on.
    numbers
        All of them, as `to_dict` gives them.
    steps
        One row a task (recorded, `learning.recorded.Replayed`) or a checkpoint (simulated,
        `learning.simulated.Simulated`): accuracy so far, labels bought, regret.
    workers
        One row a worker: estimate, skill where it is known, whether in the best set.
    lines
        The numbers as a person reads them.
    """

    title: str
    numbers: Mapping[str, Any]
    steps: pd.DataFrame
    workers: pd.DataFrame
    lines: tuple[str, ...]
    pictured = True

    @property
    def best_set(self) -> list[Any]:
        """Whom it asks at the end; simulated, at the end of most runs."""
        return list(self.numbers["best_set"])

    @property
    def estimates(self) -> pd.Series[float]:
        """Estimated skill p̂ by worker."""
        return self.workers.set_index("worker")["estimate"]

    @property
    def accuracy(self) -> float | None:
        """Share of right labels over all tasks; None without gold."""
        known: float | None = self.numbers["accuracy"]
        return known

    def to_frame(self) -> pd.DataFrame:
        """Give the workers, one a row."""
        return self.workers.copy()

    def plot(self) -> Figure:
        """Draw accuracy, regret or labels bought, sets and estimates."""
        from workbench.plots import learning

        return learning(self.steps, self.workers, title=self.title)

    def summary(self) -> str:
        """Give the text that `workbench learn` prints."""
        parts = (self.lines, _workers(self.workers))
        return page(self.title, *parts, notes=self.numbers["notes"])

    def _payload(self) -> Mapping[str, Any]:
        return self.numbers


def learn(
    labels: inputs.Table | None = None,
    gold: inputs.Truth | None = None,
    *,
    simulate: int | str | Sequence[float] | None = None,
    low: float | None = None,
    high: float | None = None,
    runs: int | None = None,
    costs: float | str | Sequence[float] | None = None,
    order: Order | None = None,
    duplicates: Literal["error", "first", "last"] | None = None,
    pool: Pool | None = None,
    patience: float | None = None,
    horizon: int | None = None,
    schedule: Schedule | str | Sequence[float] | None = None,
    weighted: bool = False,
    vetting: bool = False,
    vetting_error: float | None = None,
    vetting_variant: Literal["supported", "printed"] | None = None,
    delay: int = 0,
    seed: int = 0,
) -> Learning:
    """Learn whom to ask from agreement alone (LS_OL of Liu and Liu), task by task.

    Now and then all workers label a task; who agrees with the majority is trusted. All other
    tasks go to the set of workers that is best by what was learnt. Recorded, labels are taken
    from a table as if tasks came in anew; simulated, regret is counted against the best set.

    Parameters
    ----------
    labels
        Recorded labels of two classes: a frame with columns task, worker, label (and time), or
        the path of a file.
    gold
        Recorded: true label by task, for scoring alone.
    simulate
        Instead of labels: skills of simulated workers, or how many, their skills drawn evenly.
    low, high
        Simulated: the least and the greatest drawn skill; ½ and 1 when not given.
    runs
        Simulated: how many; 100 when not given.
    costs
        Simulated: price of a label, one or one a worker; 1 when not given.
    order
        Recorded: tasks in the order of the "file", or by "time".
    duplicates
        Recorded: which label counts when a worker labels a task twice: "error", "first", "last".
    pool
        Recorded: choose among those with a label of the task on record ("recorded"), or "all".
    patience
        Recorded: labels that come later after their task's first are late.
    horizon
        Number of tasks; 2000 simulated, all recorded when not given.
    schedule
        When to explore: (G1, G2) or "G1,G2" (G1 log t testers, each labelled G2 log t times by
        all); "decreasing:G1,G2,eta"; or "theoretical". (3, 5) simulated and (5, 0) recorded when
        not given.
    weighted
        Vote by log-odds of the estimates.
    vetting, vetting_error, vetting_variant
        Drop workers who are clearly the worst: when wrong with less than the error (0.1 when not
        given), by the exponent of (13) that is "supported" by Hoeffding's inequality or "printed".
    delay
        A tester is assigned again no sooner than 1 to this many steps later.

    Raises
    ------
    InputError
        Neither labels nor simulated workers, or both; labels or gold cannot be read; other than
        two classes; or an option that is out of range or for the other of the two.

    Examples
    --------
    >>> import workbench as wb
    >>> learnt = wb.learn(simulate=[0.9, 0.8, 0.6], horizon=100, runs=5)
    >>> learnt.best_set
    ['0']
    >>> learnt.to_frame()[["worker", "skill", "in_best_set"]]
      worker  skill  in_best_set
    0      0    0.9          0.6
    1      1    0.8          0.2
    2      2    0.6          0.2
    """
    if (simulate is None) == (labels is None):
        raise InputError("give `simulate`, or `labels`: one of them")
    if simulate is not None:
        what, where = "recorded labels", "labels"
        others: dict[str, Any] = {
            "gold": gold,
            "order": order,
            "duplicates": duplicates,
            "pool": pool,
            "patience": patience,
        }
    else:
        what, where = "simulated workers", "simulate"
        others = {"low": low, "high": high, "runs": runs, "costs": costs}
    for name, value in others.items():
        if value is not None:
            raise InputError(f"`{name}` is for {what}: give it with `{where}`, or leave it out")
    dropping = _vetting(vetting, vetting_error, vetting_variant)
    how = LsOlOptions(weighted, delay=delay, vetting=dropping)
    if simulate is not None:
        skill = _skills(simulate, low, high, seed)
        prices = _prices(costs, len(skill))
        tasks, times = HORIZON if horizon is None else horizon, RUNS if runs is None else runs
        return _simulated(skill, prices, tasks, times, schedule, how, seed)
    assert labels is not None
    given = inputs.given(labels, duplicates="keep" if duplicates in ("first", "last") else "error")
    true = None
    if gold is not None:
        true, given = inputs.truth(gold, given, unlabelled=True)
    data = recorded(given.table, true, order=order or "file", duplicates=duplicates or "error")
    if horizon is not None and checks.count("horizon", horizon, 1) > len(data.tasks):
        raise InputError(f"`horizon` is {horizon}: there are {len(data.tasks)} tasks, give no more")
    text = RECORDED if schedule is None else schedule
    when = schedules.read(text, weighted=weighted)
    run = replay(
        data, when, how, horizon=horizon, pool=pool or "recorded", patience=patience, seed=seed
    )
    return _recorded(given, run, when, text, data.classes.tolist(), how, seed)


def _vetting(wanted: bool, error: float | None, variant: Any) -> Vetting | None:
    if not wanted:
        if error is not None or variant is not None:
            raise InputError("`vetting_error` and `vetting_variant` go with `vetting`: give it too")
        return None
    try:
        return Vetting(0.1 if error is None else error, variant=variant or "supported")
    except InputError as wrong:
        name, _, rest = str(wrong).partition(" ")
        raise InputError(f"`vetting_{name}` {rest}") from None


def _skills(
    given: int | str | Sequence[float], low: float | None, high: float | None, seed: int
) -> FloatArray:
    """Skills as given, or drawn evenly."""
    text = given.strip() if isinstance(given, str) else ""
    count: Any = int(text) if text.isascii() and text.isdigit() else given
    if not checks.is_number(count):
        for name, value in (("low", low), ("high", high)):
            if value is not None:
                raise InputError(f"`{name}` is for drawn skills: give `simulate` a whole number")
        skill = np.array(checks.listed("simulate", count))
        if not ((skill >= 0) & (skill <= 1)).all() or not len(skill):
            raise InputError(
                f"`simulate` is {checks.show(given)}: give skills from 0 to 1, or a whole number"
            )
        return skill
    if not isinstance(count, (int, np.integer)) or not 1 <= count <= 10_000:
        raise InputError(f"`simulate` is {count}: give 1 to 10000 workers, or their skills")
    least, most = 0.5 if low is None else low, 1.0 if high is None else high
    if not (checks.is_number(least) and checks.is_number(most) and 0 <= least <= most <= 1):
        bounds = f"`low` {checks.show(least)}, `high` {checks.show(most)}"
        raise InputError(f"{bounds}: give 0 ≤ low ≤ high ≤ 1")
    return stream(seed, "skills").uniform(least, most, int(count))


def _prices(given: float | str | Sequence[float] | None, workers: int) -> list[float] | None:
    if given is None:
        return None
    one: Any = [given] if checks.is_number(given) else given
    values = checks.listed("costs", one)
    if len(values) == 1:
        values *= workers
    if len(values) != workers or min(values) < 0:
        raise InputError(
            f"`costs` is {checks.show(given)}: give one price of 0 or more, or one for each of "
            f"{workers}"
        )
    return values


# ---- simulated ----


def _simulated(
    skill: FloatArray,
    costs: list[float] | None,
    T: int,
    R: int,
    given: Given | None,
    how: LsOlOptions,
    seed: int,
) -> Learning:
    text = SIMULATED if given is None else given
    when = schedules.read(text, skill, weighted=how.weighted)
    result = simulated(skill, when, T, R, how, costs=costs, seed=seed)
    runs, workers, end = result.runs, result.workers, result.steps.iloc[-1]
    names_ = workers["worker"].tolist()
    regrets = ("regret", "exploration_regret", "exploitation_regret", "cost_regret")
    numbers: dict[str, Any] = {
        "best_set": [names_[i] for i in result.learnt],
        "best_set_share": result.learnt_share,
        "best_set_hindsight": [names_[i] for i in result.best],
        "estimates": dict(zip(names_, workers["estimate"], strict=True)),
        "skills": dict(zip(names_, skill.tolist(), strict=True)),
        "labels_bought": float(end["labels"]),
        "labels_crowd": T * len(skill),
        "explored": float(end["explored"]),
        "new_testers": float(runs.new_testers[:, -1].mean()),
        "retests": float(runs.retests[:, -1].mean()),
        "exploited": float(T - end["explored"]),
        **{name: float(end[name]) for name in ("accuracy", "accuracy_se")},
        **{name: float(end[name]) for name in ("crowd_accuracy", "best_accuracy")},
        "learnt_accuracy": result.learnt_accuracy,
        **{name: float(end[name]) for part in regrets for name in (part, f"{part}_se")},
        "bounds": result.bounds,
        "removed": [
            {"run": run, "worker": names_[one.worker], "step": one.step, "error": one.error}
            for run, removed in enumerate(runs.removed)
            for one in removed
        ],
        "structure": _structure(result.structure),
        "mean_skill": float(skill.mean()),
        "schedule": _schedule(text, when, T),
        "weighted": how.weighted,
        "costs": costs,
        "horizon": T,
        "runs": R,
        "seed": seed,
    }
    numbers["notes"] = _simulated_notes(numbers, when, how.vetting, result.structure)
    title = (
        f"simulated crowd of {len(skill)}: {T} tasks, {R} runs, schedule "
        f"{numbers['schedule']['text']}"
    )
    return Learning(title, numbers, result.steps, workers, tuple(_lines(numbers)))


def _simulated_notes(
    numbers: Mapping[str, Any], schedule: Schedule, vetting: Vetting | None, agreement: Structure
) -> list[str]:
    T, R = numbers["horizon"], numbers["runs"]
    notes = [
        "± one standard error over the runs; estimates are means, with 90 % of the runs between "
        "low and high."
    ]
    if numbers["schedule"]["text"] == "theoretical":
        implied = numbers["schedule"]["exploration_steps"]
        notes.append(
            f"the theoretical schedule wants {schedule.d1(T):.3g} testers labelled "
            f"{schedule.d2(T):.3g} times by step {T}: {implied} of {T} steps explore"
            + (", it never exploits (but at step 1, as log 1 = 0)." if T - implied <= 1 else ".")
        )
    if vetting is not None:
        number = len(numbers["removed"])
        notes.append(
            f"vetting ({vetting.variant}, below {vetting.error:g}) dropped {number} workers in "
            f"{R} runs, {number / R:.2f} a run."
        )
    if numbers["mean_skill"] <= 0.5:
        notes.append(
            f"mean skill is {numbers['mean_skill']:.3f}: LS_OL assumes more than ½; below, the "
            "majority teaches it the reverse."
        )
    return [*notes, f"from the labels of one run alone: {agreement.sentence}"]


# ---- recorded ----


def _recorded(
    labels: Labelled,
    run: Replayed,
    schedule: Schedule,
    text: Given,
    classes: list[Any],
    how: LsOlOptions,
    seed: int,
) -> Learning:
    n, kinds = len(run.steps), run.learner.kinds
    workers = labels.back(run.workers)
    names_ = workers["worker"].tolist()
    steps = labels.back(run.steps).assign(
        tasks=range(1, n + 1),
        labels=run.steps["received"].cumsum(),
        labels_crowd=run.steps["on_record"].cumsum(),
    )
    numbers: dict[str, Any] = {
        "best_set": [names_[i] for i in run.learner.best],
        "estimates": dict(zip(names_, workers["estimate"], strict=True)),
        "skills": dict(zip(names_, workers["skill"], strict=True)),
        "labels_bought": run.labels_bought,
        "labels_crowd": int(run.steps["on_record"].sum()),
        "explored": kinds["new tester"] + kinds["retest"],
        "new_testers": kinds["new tester"],
        "retests": kinds["retest"],
        "exploited": kinds["exploit"],
        "accuracy": run.accuracy,
        "crowd_accuracy": run.crowd_accuracy,
        "best_accuracy": run.best_accuracy,
        "agreement": float(run.steps["as_crowd"].mean()),
        "gold_tasks": int(run.steps["right"].notna().sum()),
        "regret": None,
        "counts": run.counts,
        "removed": [
            {"worker": names_[one.worker], "step": one.step, "error": one.error}
            for one in run.learner.removed
        ],
        "structure": _structure(run.structure),
        "classes": labels.classes.all_back(classes),
        "pool": run.pool,
        "schedule": _schedule(text, schedule, n),
        "weighted": how.weighted,
        "horizon": n,
        "runs": 1,
        "seed": seed,
    }
    numbers["notes"] = _recorded_notes(numbers, schedule, how.vetting, run)
    title = (
        f"{labels.name}: {n} tasks, {len(names_)} workers, classes {classes[0]} and {classes[1]}, "
        f"schedule {numbers['schedule']['text']}"
    )
    return Learning(title, numbers, steps, workers, tuple(_lines(numbers)))


def _recorded_notes(
    numbers: Mapping[str, Any], schedule: Schedule, vetting: Vetting | None, run: Replayed
) -> list[str]:
    notes = [run.structure.sentence]
    if numbers["schedule"]["text"] == RECORDED:
        notes.append(
            f"schedule {RECORDED}: testers are labelled once, since a worker asked again would "
            "give the label on record again."
        )
    elif schedule.repeats:
        notes.append(
            f"{numbers['retests']} retests gave the same labels as before, which teaches nothing, "
            "and left their tasks a drawn label: with recorded labels take G2 = 0."
        )
    if numbers["accuracy"] is not None:
        notes.append(
            "the best set by gold knows the answers it is judged by: it is above what could have "
            "been chosen."
        )
    if vetting is not None:
        gone = [f"{one['worker']} after step {one['step']}" for one in numbers["removed"]]
        dropped = names(gone, SHOWN) or "nobody"
        notes.append(f"vetting ({vetting.variant}, below {vetting.error:g}) dropped {dropped}.")
    missing = numbers["counts"]["missing"] / max(numbers["counts"]["asked"], 1)
    if run.pool == "all" and missing > 0.2:
        notes.append(
            f"{100 * missing:.0f} % of those asked had no label on record: in a table as sparse as "
            "this the run says little."
        )
    return notes


# ---- for both ----


FORMS = {
    "accuracy": ".4f",
    "regret": ".2f",
    "exploration_regret": ".2f",
    "exploitation_regret": ".2f",
    "cost_regret": ".1f",
}
"""How numbers with standard errors are written."""
LINES = {
    "steps": "{explored:.1f} explored ({new_testers:.1f} new testers, {retests:.1f} retests), "
    "{exploited:.1f} exploited, of {horizon}",
    "labels bought": "{labels_bought:.0f} of the full crowd's {labels_crowd} ({percent:.1f} %)",
    "best set": "{best} at the end in {best_percent:.0f} % of the runs; by the true skills "
    "{hindsight}",
    "accuracy": "{accuracy} expected over all tasks, {learnt_accuracy:.4f} by the sets at the end; "
    "full crowd's majority {crowd_accuracy:.4f}, best set {best_accuracy:.4f}",
    "regret": "{regret} right labels: {exploration_regret} exploring, {exploitation_regret} "
    "exploiting",
    "cost regret": "{cost_regret} paid beyond the best set's labels",
}
"""What is said of simulated runs."""
RECORDED_LINES = {
    "steps": "{explored} explored, {exploited} exploited, of {horizon}",
    "labels bought": "{labels_bought} of {labels_crowd} on record ({percent:.1f} %)",
    "best set": "{best}",
    "accuracy": "{accuracy} on {gold_tasks} tasks with gold; full crowd {crowd_accuracy:.4f}, best "
    "set by this gold {best_accuracy:.4f}",
    "agreement": "{agreement:.4f} with the majority of all labels on record (no gold)",
    "labels": "{asked} asked for, {missing} did not come in time; of late ones {late_used} used, "
    "{late_ignored} ignored",
    "tasks": "{unlabelled} without a label, which was drawn; {left} workers left before the end",
}
"""What is said of recorded labels: the accuracy with gold, the agreement without."""


def _lines(numbers: Mapping[str, Any]) -> list[str]:
    known = {**numbers, **numbers.get("counts", {}), "best": _named(numbers["best_set"])}
    known["percent"] = 100 * numbers["labels_bought"] / max(numbers["labels_crowd"], 1)
    for name, form in FORMS.items():
        if numbers.get(name) is not None:
            error = numbers.get(f"{name}_se", math.nan)
            known[name] = f"{numbers[name]:{form}}"
            known[name] += "" if math.isnan(error) else f" ± {error:{form}}"
    if "counts" in numbers:
        idle = "accuracy" if numbers["accuracy"] is None else "agreement"
        said = {name: line for name, line in RECORDED_LINES.items() if name != idle}
    else:
        said = LINES
        known["best_percent"] = 100 * numbers["best_set_share"]
        known["hindsight"] = _named(numbers["best_set_hindsight"])
    rows = [(name, line.format(**known)) for name, line in said.items()]
    if numbers.get("bounds") is not None:
        rows.append(("bounds", _bounds(numbers["bounds"], numbers["horizon"])))
    return facts(rows, WIDTH)


def _bounds(bounds: Mapping[str, Any], T: int) -> str:
    if "regret" not in bounds or not bounds["holds"]:
        return f"{bounds['source']} void: {bounds['why']}"
    said = f"{bounds['source']}: regret at most {bounds['regret']:.3g}"
    if bounds["cost_regret"] is not None:
        said += f", cost regret at most {bounds['cost_regret']:.3g}"
    idle = f"; no more than {T} is possible, so that it is idle"
    return said + ("" if bounds["says_something"] else idle)


def _named(workers: Sequence[Any]) -> str:
    return f"{len(workers)} ({names(workers, SHOWN)})" if workers else "nobody"


def _structure(agreement: Structure) -> dict[str, Any]:
    fields = ("distance", "camps", "groups", "sign", "trusted", "sentence")
    known = {name: getattr(agreement, name) for name in fields}
    return {**known, "interval": [agreement.low, agreement.high]}


def _schedule(given: Given, schedule: Schedule, T: int) -> dict[str, Any]:
    text = given if isinstance(given, str) else f"{schedule.tests:g},{schedule.repeats:g}"
    return {"text": text, **vars(schedule), "exploration_steps": schedule.exploration_steps(T)}


HEADS = {
    "worker": "worker",
    "estimate": "estimate p̂",
    "estimate_low": "low",
    "estimate_high": "high",
    "skill": "skill",
    "consensus": "with majority",
    "testers": "testers",
    "in_best_set": "in best set",
    "removed": "dropped",
    "removed_at": "dropped at",
}
"""Columns of the table of workers that a person reads, and how they are headed."""
IF_ANY = ("skill", "removed", "removed_at")
"""Columns that are shown where there is something in them."""


def _workers(workers: pd.DataFrame) -> str:
    """The table of workers, best by estimate first."""
    ordered = workers.sort_values("estimate", ascending=False, kind="stable")
    there = (ordered.notna() & (ordered != 0)).any()
    kept = [name for name in HEADS if name in ordered and (name not in IF_ANY or there[name])]
    rows = [
        tuple(_cell(name, row[name]) for name in kept)
        for row in ordered.head(SHOWN).to_dict("records")
    ]
    hidden = len(ordered) - len(rows)
    text = table(tuple(HEADS[name] for name in kept), rows)
    return text + (f"\n… and {hidden} more" if hidden else "")


def _cell(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if name in ("in_best_set", "removed"):
        return shown(100 * value, ".0f") + " %"
    return shown(value) if isinstance(value, float) or pd.isna(value) else str(value)
