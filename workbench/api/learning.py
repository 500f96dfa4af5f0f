"""`learn`: whom to trust, learnt from agreement while tasks come in."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from workbench.api import _doors
from workbench.api._result import Result
from workbench.base import checks
from workbench.base.arrays import FloatArray
from workbench.base.errors import InputError
from workbench.base.seeds import stream
from workbench.base.text import cell, table
from workbench.learning import schedule as schedules
from workbench.learning.agreement import Structure
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
"""Labelers that are shown."""


@dataclass(frozen=True, eq=False, repr=False)
class Learning(Result):
    """Whom LS_OL came to trust, and how well it labelled meanwhile.

    Attributes
    ----------
    title
        What was learnt on.
    told
        All numbers, as `to_dict` gives them.
    steps
        One row a task (recorded, `learning.recorded.Replayed`) or a checkpoint (simulated,
        `learning.simulated.Simulated`): accuracy so far, labels bought, regret.
    workers
        One row a labeler: estimate, skill where it is known, whether in the best set.
    lines
        The numbers as a person reads them.
    """

    title: str
    told: Mapping[str, Any]
    steps: pd.DataFrame
    workers: pd.DataFrame
    lines: tuple[str, ...]
    pictured = True

    @property
    def best_set(self) -> list[Any]:
        """Whom it asks at the end; simulated, at the end of most runs."""
        return list(self.told["best_set"])

    @property
    def estimates(self) -> pd.Series[float]:
        """Estimated skill p̂ by labeler."""
        return self.workers.set_index("worker")["estimate"]

    @property
    def accuracy(self) -> float | None:
        """Share of right labels over all tasks; None without gold."""
        known: float | None = self.told["accuracy"]
        return known

    def to_frame(self) -> pd.DataFrame:
        """Give the labelers, one a row."""
        return self.workers.copy()

    def plot(self) -> Figure:
        """Draw accuracy, regret or labels bought, sets and estimates."""
        from workbench.plots import learning

        return learning(self.steps, self.workers, title=self.title)

    def summary(self) -> str:
        """Give the text that `workbench learn` prints."""
        notes = (f"- {note}" for note in self.told["notes"])
        return "\n".join([self.title, "", *self.lines, "", _workers(self.workers), "", *notes])

    def _payload(self) -> Mapping[str, Any]:
        return self.told


def learn(
    labels: _doors.Table | None = None,
    gold: _doors.Truth | None = None,
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

    Now and then all labelers label a task; who agrees with the majority is trusted. All other
    tasks go to the set of labelers that is best by what was learnt. Recorded, labels are taken
    from a table as if tasks came in anew; simulated, regret is counted against the best set.

    Parameters
    ----------
    labels
        Recorded labels of two classes: a frame with columns task, worker, label (and time), or
        the path of a file.
    gold
        Recorded: true label by task, for scoring alone.
    simulate
        Instead of labels: skills of simulated labelers, or how many, their skills drawn evenly.
    low, high
        Simulated: the least and the greatest drawn skill; ½ and 1 when not given.
    runs
        Simulated: how many; 100 when not given.
    costs
        Simulated: price of a label, one or one a labeler; 1 when not given.
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
        Drop labelers who are clearly the worst: when wrong with less than the error (0.1 when not
        given), by the exponent of (13) that is "supported" by Hoeffding's inequality or "printed".
    delay
        A tester is assigned again no sooner than 1 to this many steps later.

    Raises
    ------
    InputError
        Neither labels nor simulated labelers, or both; labels or gold cannot be read; other than
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
    simulating = simulate is not None
    only_simulated = {"low": low, "high": high, "runs": runs, "costs": costs}
    only_recorded = {
        "gold": gold, "order": order, "duplicates": duplicates, "pool": pool, "patience": patience,
    }  # fmt: skip
    for name, value in (only_recorded if simulating else only_simulated).items():
        if value is not None:
            where, what = (
                ("labels", "recorded labels") if simulating else ("simulate", "simulated labelers")
            )
            raise InputError(f"`{name}` is for {what}: give it with `{where}`, or leave it out")
    dropping = _vetting(vetting, vetting_error, vetting_variant)
    options: dict[str, Any] = {
        "weighted": weighted,
        "delay": delay,
        "vetting": dropping,
        "seed": seed,
    }
    if simulate is not None:
        skill = _skills(simulate, low, high, seed)
        prices = _prices(costs, len(skill))
        tasks, times = HORIZON if horizon is None else horizon, RUNS if runs is None else runs
        return _simulated(skill, prices, tasks, times, schedule, **options)
    assert labels is not None
    given = _doors.given(labels, duplicates="keep" if duplicates in ("first", "last") else "error")
    true = None
    if gold is not None:
        true, given = _doors.truth(gold, given, unlabelled=True)
    data = recorded(given.table, true, order=order or "file", duplicates=duplicates or "error")
    if horizon is not None and checks.count("horizon", horizon, 1) > len(data.tasks):
        raise InputError(f"`horizon` is {horizon}: there are {len(data.tasks)} tasks, give no more")
    text = RECORDED if schedule is None else schedule
    when = schedules.read(text, weighted=weighted)
    run = replay(data, when, horizon=horizon, pool=pool or "recorded", patience=patience, **options)
    return _recorded(given, run, when, text, data.classes.tolist(), **options)


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
        raise InputError(f"`simulate` is {count}: give 1 to 10000 labelers, or their skills")
    least, most = 0.5 if low is None else low, 1.0 if high is None else high
    if not (checks.is_number(least) and checks.is_number(most) and 0 <= least <= most <= 1):
        raise InputError(f"`low` {_short(least)}, `high` {_short(most)}: give 0 ≤ low ≤ high ≤ 1")
    return stream(seed, "skills").uniform(least, most, int(count))


def _short(value: object) -> str:
    return f"{value:g}" if checks.is_number(value) else repr(value)


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
    schedule: Schedule | str | Sequence[float] | None,
    **options: Any,
) -> Learning:
    weighted, vetting, seed = options["weighted"], options["vetting"], options["seed"]
    text = SIMULATED if schedule is None else schedule
    when = schedules.read(text, skill, weighted=weighted)
    found = simulated(skill, when, T, R, costs=costs, **options)
    runs, workers = found.runs, found.workers
    names, end = workers["worker"].tolist(), found.steps.iloc[-1]
    told = {
        "best_set": [names[i] for i in found.learnt],
        "best_set_share": found.learnt_share,
        "best_set_hindsight": [names[i] for i in found.best],
        "estimates": dict(zip(names, workers["estimate"], strict=True)),
        "skills": dict(zip(names, skill.tolist(), strict=True)),
        "labels_bought": float(end["labels"]),
        "labels_crowd": T * len(skill),
        "explored": float(end["explored"]),
        "new_testers": float(runs.new_testers[:, -1].mean()),
        "retests": float(runs.retests[:, -1].mean()),
        "exploited": float(T - end["explored"]),
        "accuracy": float(end["accuracy"]),
        "accuracy_se": float(end["accuracy_se"]),
        "crowd_accuracy": float(end["crowd_accuracy"]),
        "best_accuracy": float(end["best_accuracy"]),
        "learnt_accuracy": found.learnt_accuracy,
        **{
            name: float(end[name])
            for part in ("regret", "exploration_regret", "exploitation_regret", "cost_regret")
            for name in (part, f"{part}_se")
        },
        "bounds": found.bounds,
        "removed": [
            {"run": run, "worker": names[one.worker], "step": one.step, "error": one.error}
            for run, removed in enumerate(runs.removed)
            for one in removed
        ],
        "structure": _plain_structure(found.structure),
        "mean_skill": float(skill.mean()),
        "schedule": _plain_schedule(text, when, T),
        "weighted": weighted,
        "costs": costs,
        "horizon": T,
        "runs": R,
        "seed": seed,
    }
    told["notes"] = _simulated_notes(told, when, vetting, found.structure)
    title = (
        f"simulated crowd of {len(skill)}: {T} tasks, {R} runs, schedule {told['schedule']['text']}"
    )
    return Learning(title, told, found.steps, workers, tuple(_simulated_lines(told)))


def _simulated_lines(told: Mapping[str, Any]) -> list[str]:
    T, bought, crowd = told["horizon"], told["labels_bought"], told["labels_crowd"]
    lines = [
        f"steps            {told['explored']:.1f} explored ({told['new_testers']:.1f} new testers, "
        f"{told['retests']:.1f} retests), {told['exploited']:.1f} exploited, of {T}",
        f"labels bought    {bought:.0f} of the full crowd's {crowd} ({100 * bought / crowd:.1f} %)",
        f"best set         {_named(told['best_set'])} at the end in "
        f"{100 * told['best_set_share']:.0f} % of the runs; by the true skills "
        f"{_named(told['best_set_hindsight'])}",
        f"accuracy         {_with(told, 'accuracy', '.4f')} expected over all tasks, "
        f"{told['learnt_accuracy']:.4f} by the sets at the end; full crowd's majority "
        f"{told['crowd_accuracy']:.4f}, best set {told['best_accuracy']:.4f}",
        f"regret           {_with(told, 'regret', '.2f')} right labels: "
        f"{_with(told, 'exploration_regret', '.2f')} exploring, "
        f"{_with(told, 'exploitation_regret', '.2f')} exploiting",
        f"cost regret      {_with(told, 'cost_regret', '.1f')} paid beyond the best set's labels",
    ]
    bounds = told["bounds"]
    if bounds is not None:
        lines.append(f"bounds           {_bound_line(bounds, T)}")
    return lines


def _with(told: Mapping[str, Any], name: str, form: str) -> str:
    error = told[f"{name}_se"]
    return f"{told[name]:{form}}" + ("" if math.isnan(error) else f" ± {error:{form}}")


def _bound_line(bounds: Mapping[str, Any], T: int) -> str:
    source = bounds["source"]
    if "regret" not in bounds:
        return f"{source} void: {bounds['why']}"
    if not bounds["holds"]:
        return f"{source} void: {bounds['why']}"
    said = f"regret at most {bounds['regret']:.3g}"
    if bounds["cost_regret"] is not None:
        said += f", cost regret at most {bounds['cost_regret']:.3g}"
    empty = (
        "" if bounds["says_something"] else f"; no more than {T} is possible, so that it is idle"
    )
    return f"{source}: {said}{empty}"


def _simulated_notes(
    told: Mapping[str, Any], schedule: Schedule, vetting: Vetting | None, agreement: Structure
) -> list[str]:
    T, R = told["horizon"], told["runs"]
    notes = [
        "± one standard error over the runs; estimates are means, with 90 % of the runs between "
        "low and high."
    ]
    if told["schedule"]["text"] == "theoretical":
        implied = told["schedule"]["exploration_steps"]
        notes.append(
            f"the theoretical schedule wants {schedule.d1(T):.3g} testers labelled "
            f"{schedule.d2(T):.3g} times by step {T}: {implied} of {T} steps explore"
            + (", it never exploits (but at step 1, as log 1 = 0)." if T - implied <= 1 else ".")
        )
    if vetting is not None:
        number = len(told["removed"])
        notes.append(
            f"vetting ({vetting.variant}, below {vetting.error:g}) dropped {number} labelers in "
            f"{R} runs, {number / R:.2f} a run."
        )
    if told["mean_skill"] <= 0.5:
        notes.append(
            f"mean skill is {told['mean_skill']:.3f}: LS_OL assumes more than ½; below, the "
            "majority teaches it the reverse."
        )
    notes.append(f"from the labels of one run alone: {agreement.sentence}")
    return notes


# ---- recorded ----


def _recorded(
    given: _doors.Given,
    run: Replayed,
    schedule: Schedule,
    text: Schedule | str | Sequence[float],
    classes: list[Any],
    **options: Any,
) -> Learning:
    n, kinds = len(run.steps), run.learner.kinds
    workers = given.back(run.workers)
    names = workers["worker"].tolist()
    steps = given.back(run.steps).assign(
        tasks=range(1, n + 1), labels=run.steps["received"].cumsum(),
        labels_crowd=run.steps["on_record"].cumsum(),
    )  # fmt: skip
    told = {
        "best_set": [names[i] for i in run.learner.best],
        "estimates": dict(zip(names, workers["estimate"], strict=True)),
        "skills": dict(zip(names, workers["skill"], strict=True)),
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
            {"worker": names[one.worker], "step": one.step, "error": one.error}
            for one in run.learner.removed
        ],
        "structure": _plain_structure(run.structure),
        "classes": given.classes.all_back(classes),
        "pool": run.pool,
        "schedule": _plain_schedule(text, schedule, n),
        "weighted": options["weighted"],
        "horizon": n,
        "runs": 1,
        "seed": options["seed"],
    }
    told["notes"] = _recorded_notes(told, schedule, options["vetting"], run)
    title = (
        f"{given.name}: {n} tasks, {len(names)} labelers, classes {classes[0]} and {classes[1]}, "
        f"schedule {told['schedule']['text']}"
    )
    return Learning(title, told, steps, workers, tuple(_recorded_lines(told)))


def _recorded_lines(told: Mapping[str, Any]) -> list[str]:
    bought, crowd, counts = told["labels_bought"], told["labels_crowd"], told["counts"]
    lines = [
        f"steps            {told['explored']} explored, {told['exploited']} exploited, of "
        f"{told['horizon']}",
        f"labels bought    {bought} of {crowd} on record ({100 * bought / max(crowd, 1):.1f} %)",
        f"best set         {_named(told['best_set'])}",
    ]
    if told["accuracy"] is None:
        lines.append(
            f"agreement        {told['agreement']:.4f} with the majority of all labels on record "
            "(no gold)"
        )
    else:
        lines.append(
            f"accuracy         {told['accuracy']:.4f} on {told['gold_tasks']} tasks with gold; "
            f"full crowd {told['crowd_accuracy']:.4f}, best set by this gold "
            f"{told['best_accuracy']:.4f}"
        )
    lines.append(
        f"labels           {counts['asked']} asked for, {counts['missing']} did not come in time; "
        f"of late ones {counts['late_used']} used, {counts['late_ignored']} ignored"
    )
    lines.append(
        f"tasks            {counts['unlabelled']} without a label, which was drawn; "
        f"{counts['left']} labelers left before the end"
    )
    return lines


def _recorded_notes(
    told: Mapping[str, Any],
    schedule: Schedule,
    vetting: Vetting | None,
    run: Replayed,
) -> list[str]:
    notes = [run.structure.sentence]
    if told["schedule"]["text"] == RECORDED:
        notes.append(
            f"schedule {RECORDED}: testers are labelled once, since a labeler asked again would "
            "give the label on record again."
        )
    elif schedule.repeats:
        notes.append(
            f"{told['retests']} retests gave the same labels as before, which teaches nothing, and "
            "left their tasks a drawn label: with recorded labels take G2 = 0."
        )
    if told["accuracy"] is not None:
        notes.append(
            "the best set by gold knows the answers it is judged by: it is above what could have "
            "been chosen."
        )
    if vetting is not None:
        gone = [f"{one['worker']} after step {one['step']}" for one in told["removed"]]
        dropped = ", ".join(map(cell, gone[:SHOWN])) + (", …" if len(gone) > SHOWN else "")
        notes.append(
            f"vetting ({vetting.variant}, below {vetting.error:g}) dropped {dropped or 'nobody'}."
        )
    missing = told["counts"]["missing"] / max(told["counts"]["asked"], 1)
    if run.pool == "all" and missing > 0.2:
        notes.append(
            f"{100 * missing:.0f} % of those asked had no label on record: in a table as sparse as "
            "this the run says little."
        )
    return notes


# ---- for both ----


def _named(workers: Sequence[Any]) -> str:
    shown = ", ".join(cell(str(one)) for one in workers[:SHOWN]) + (
        ", …" if len(workers) > SHOWN else ""
    )
    return f"{len(workers)} ({shown})" if workers else "nobody"


def _plain_structure(found: Structure) -> dict[str, Any]:
    return {
        "distance": found.distance,
        "interval": [found.low, found.high],
        "camps": found.camps,
        "groups": found.groups,
        "sign": found.sign,
        "trusted": found.trusted,
        "sentence": found.sentence,
    }


def _plain_schedule(
    given: Schedule | str | Sequence[float], schedule: Schedule, T: int
) -> dict[str, Any]:
    text = given if isinstance(given, str) else f"{schedule.tests:g},{schedule.repeats:g}"
    return {"text": text, **vars(schedule), "exploration_steps": schedule.exploration_steps(T)}


def _workers(workers: pd.DataFrame) -> str:
    """The table of labelers, best by estimate first."""
    ordered = workers.sort_values("estimate", ascending=False, kind="stable")
    names = {
        "worker": "labeler",
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
    empty = {name for name in ("skill", "removed", "removed_at") if name in ordered and not (
        ordered[name].notna() & (ordered[name] != 0)).any()}  # fmt: skip
    kept = [name for name in names if name in ordered and name not in empty]
    rows = [tuple(_cell(name, row[name]) for name in kept)
            for row in ordered.head(SHOWN).to_dict("records")]  # fmt: skip
    text = table(tuple(names[name] for name in kept), rows)
    hidden = len(ordered) - len(rows)
    return text + (f"\n… and {hidden} more" if hidden else "")


def _cell(name: str, value: Any) -> str:
    if pd.isna(value):
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if name in ("in_best_set", "removed"):
        return f"{100 * value:.0f} %"
    return f"{value:.3f}" if isinstance(value, float) else str(value)
