"""`workbench learn`: whom to trust, learnt from agreement while tasks come in."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import click

from workbench.base.errors import InputError
from workbench.base.text import cell, strict_json, table
from workbench.cli.output import (
    as_csv,
    check_folder,
    emit,
    folder,
    json_option,
    seed_option,
    working,
    write_files,
)
from workbench.cli.streams import show

if TYPE_CHECKING:
    import pandas as pd

    from workbench.base.arrays import FloatArray
    from workbench.learning.agreement import Structure
    from workbench.learning.engine import Runs
    from workbench.learning.recorded import Replayed
    from workbench.learning.schedule import Schedule
    from workbench.learning.vetting import Vetting

SIMULATED, RECORDED = "3,5", "5,0"
"""Schedules where none is given."""
ONLY_SIMULATED = ("low", "high", "runs", "costs")
ONLY_RECORDED = ("gold", "order", "duplicates", "pool", "patience")
SHOWN = 12
"""Labelers that are shown."""
MOST_SHOWN = 2000
"""Simulated tasks whose labels are looked at for agreement."""


@click.command(
    epilog="\b\nExamples:\n"
    "  workbench learn --simulate 0.76,0.78,0.62,0.78,0.73 --horizon 2000 --out results\n"
    "  workbench learn --simulate 9 --low 0.5 --high 0.9 --schedule 2,4 --weighted\n"
    "  workbench learn --labels labels.csv --gold gold.csv --vetting --out results"
)
@click.option(
    "--simulate",
    metavar="SKILLS|M",
    help="Skills, as 0.76,0.78,0.62; or how many labelers, their skills drawn evenly.",
)
@click.option("--low", type=float, help="Simulated M: the least skill. [default: 0.5]")
@click.option("--high", type=float, help="Simulated M: the greatest skill. [default: 1]")
@click.option("--runs", type=click.IntRange(1), help="Simulated: how many. [default: 100]")
@click.option("--costs", metavar="C|C,C,…", help="Simulated: price of a label. [default: 1]")
@click.option("--labels", metavar="CSV", help="Recorded labels: task, worker, label (and time).")
@click.option("--gold", metavar="CSV", help="Recorded: true labels, for scoring: task, gold.")
@click.option(
    "--order", type=click.Choice(["file", "time"]), help="Recorded: of the tasks. [default: file]"
)
@click.option(
    "--duplicates",
    type=click.Choice(["error", "first", "last"]),
    help="Recorded: which label counts when a worker labels a task twice. [default: error]",
)
@click.option(
    "--pool",
    type=click.Choice(["recorded", "all"]),
    help="Recorded: choose among those with a label of the task on record, or among all. "
    "[default: recorded]",
)
@click.option(
    "--patience",
    type=float,
    metavar="TIME",
    help="Recorded: labels that come later after their task's first are late.",
)
@click.option(
    "--horizon",
    type=click.IntRange(1),
    metavar="T",
    help="Number of tasks. [default: 2000 simulated, all recorded]",
)
@click.option(
    "--schedule",
    metavar="SCHEDULE",
    help="G1,G2 (G1 log t testers, each labelled G2 log t times by all); decreasing:G1,G2,eta; or "
    f"theoretical. [default: {SIMULATED} simulated, {RECORDED} recorded]",
)
@click.option("--weighted", is_flag=True, help="Vote by log-odds of the estimates.")
@click.option("--vetting", is_flag=True, help="Drop labelers who are clearly the worst.")
@click.option(
    "--vetting-error", type=float, help="Drop when wrong with less than this. [default: 0.1]"
)
@click.option(
    "--vetting-variant",
    type=click.Choice(["supported", "printed"]),
    help="Exponent of (13) that Hoeffding's inequality supports, or as printed. "
    "[default: supported]",
)
@click.option(
    "--delay",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="A tester is assigned again no sooner than 1 to this many steps later.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Folder for steps.csv, workers.csv, learn.json and learn.png.",
)
@seed_option
@json_option
def command(out: Path | None, as_json: bool, **options: Any) -> int:
    """Learn whom to ask from agreement alone (LS_OL of Liu and Liu), task by task.

    Now and then all labelers label a task; who agrees with the majority is trusted. All other
    tasks go to the set of labelers that is best by what was learnt. Simulated, regret is counted
    against the best set; recorded, labels are taken from a file as if tasks came in anew.
    """
    check_folder(out)
    if (options["simulate"] is None) == (options["labels"] is None):
        raise InputError("give --simulate, or --labels: one of them")
    simulated = options["simulate"] is not None
    for name in ONLY_RECORDED if simulated else ONLY_SIMULATED:
        if options[name] is not None:
            where, other = ("--labels", "recorded labels") if simulated else ("--simulate", "that")
            what = other if simulated else "simulated labelers"
            raise InputError(f"--{name} is for {what}: give it with {where}, or leave it out")
    vetting = _vetting(options)
    result = (_simulated if simulated else _recorded)(options, vetting)
    if out is not None:
        _write(out, result)
    if as_json:
        emit(result.payload)
    else:
        notes = [*result.notes]
        if out is not None:
            notes.append(f"written: {out}/steps.csv, workers.csv, learn.json, learn.png")
        show(
            "\n".join(
                [result.title, "", *result.lines, "", _workers(result.workers), "",
                 *(f"- {note}" for note in notes)]
            )
        )  # fmt: skip
    return 0


class _Result(NamedTuple):
    """What a run gives: for programs, for people, for the folder."""

    title: str
    payload: dict[str, Any]
    lines: list[str]
    notes: list[str]
    steps: pd.DataFrame
    workers: pd.DataFrame


def _vetting(options: dict[str, Any]) -> Vetting | None:
    from workbench.learning.vetting import Vetting

    error, variant = options["vetting_error"], options["vetting_variant"]
    if not options["vetting"]:
        if error is not None or variant is not None:
            raise InputError("--vetting-error and --vetting-variant go with --vetting: give it too")
        return None
    try:
        return Vetting(0.1 if error is None else error, variant=variant or "supported")
    except InputError as wrong:
        raise InputError(f"--vetting-{wrong}") from None


# ---- what was asked for ----


def _numbers(option: str, text: str) -> list[float]:
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        values = [math.nan]
    if not all(map(math.isfinite, values)):
        raise InputError(f"{option} is {text!r}: give numbers with commas between, as 0.7,0.8")
    return values


def _skills(options: dict[str, Any]) -> FloatArray:
    """Skills as given, or drawn evenly."""
    import numpy as np

    from workbench.base.seeds import stream

    text = options["simulate"].strip()
    if not (text.isascii() and text.isdigit()):
        for name in ("low", "high"):
            if options[name] is not None:
                raise InputError(f"--{name} is for drawn skills: give --simulate a whole number")
        skill = np.array(_numbers("--simulate", text))
        if not ((skill >= 0) & (skill <= 1)).all():
            raise InputError(f"--simulate is {text!r}: give skills from 0 to 1, or a whole number")
        return skill
    if not 1 <= int(text) <= 10_000:
        raise InputError(f"--simulate is {text}: give 1 to 10000 labelers, or their skills")
    low = 0.5 if options["low"] is None else options["low"]
    high = 1.0 if options["high"] is None else options["high"]
    if not 0 <= low <= high <= 1:
        raise InputError(f"--low {low:g}, --high {high:g}: give 0 ≤ low ≤ high ≤ 1")
    return stream(options["seed"], "skills").uniform(low, high, int(text))


def _schedule(text: str, skill: FloatArray | None, weighted: bool) -> Schedule:
    from workbench.learning import schedule

    kind, _, numbers = text.rpartition(":")
    if text == "theoretical":
        if skill is None:
            raise InputError(
                "--schedule theoretical needs the true skills: give --simulate, or numbers G1,G2"
            )
        make = schedule.weighted_theoretical if weighted else schedule.theoretical
        try:
            return make(skill)
        except InputError as wrong:
            raise InputError(f"--schedule theoretical: {wrong}") from None
        except ArithmeticError:
            raise InputError(
                f"--schedule theoretical: for {len(skill)} labelers its constants are too large "
                "for a computer, give fewer or G1,G2"
            ) from None
    wanted = {"": 2, "decreasing": 3}.get(kind)
    if wanted is None or numbers.count(",") != wanted - 1:
        raise InputError(
            f"--schedule is {text!r}: give G1,G2 (as 3,5), decreasing:G1,G2,eta, or theoretical"
        )
    values = _numbers("--schedule", numbers)
    try:
        if kind:
            return schedule.decreasing(*values)
        return schedule.practical(*values)
    except InputError as wrong:
        raise InputError(f"--schedule {text}: {wrong}") from None


def _prices(text: str | None, workers: int) -> list[float] | None:
    if text is None:
        return None
    values = _numbers("--costs", text)
    if len(values) == 1:
        values *= workers
    if len(values) != workers or min(values) < 0:
        raise InputError(
            f"--costs is {text!r}: give one price of 0 or more, or one for each of {workers}"
        )
    return values


# ---- simulated ----


def _simulated(options: dict[str, Any], vetting: Vetting | None) -> _Result:
    import numpy as np

    from workbench.aggregation.best_set import best_set
    from workbench.learning.agreement import structure
    from workbench.learning.draws import Draws
    from workbench.learning.engine import simulate

    skill = _skills(options)
    T = options["horizon"] or 2000
    R = options["runs"] or 100
    text, weighted = options["schedule"] or SIMULATED, options["weighted"]
    schedule = _schedule(text, skill, weighted)
    costs = _prices(options["costs"], len(skill))
    draws = Draws(skill, R, seed=options["seed"])
    with working(f"learning {R} times over {T} tasks", after=5.0):
        runs = simulate(
            draws,
            schedule,
            T,
            weighted=weighted,
            delay=options["delay"],
            vetting=vetting,
            costs=costs,
        )
        stream = draws.stream(0)
        seen = np.stack([stream.labels(task) for task in range(min(T, MOST_SHOWN))])
        agreement = structure(seen, seed=options["seed"])
    steps = _curves(runs, skill)
    best = best_set(skill, weighted=weighted)
    workers = _simulated_workers(runs, skill, best.workers.tolist())
    sets, times = np.unique(runs.chosen, axis=0, return_counts=True)
    most = sets[times.argmax()]
    end = steps.iloc[-1]
    names = workers["worker"].tolist()
    payload = {
        "best_set": [name for name, there in zip(names, most, strict=True) if there],
        "best_set_share": float(times.max() / R),
        "best_set_hindsight": [names[i] for i in best.workers],
        "estimates": dict(zip(names, workers["estimate"], strict=True)),
        "skills": dict(zip(names, skill.tolist(), strict=True)),
        "labels_bought": float(runs.labels[:, -1].mean()),
        "labels_crowd": T * len(skill),
        "explored": float(runs.explored[:, -1].mean()),
        "new_testers": float(runs.new_testers[:, -1].mean()),
        "retests": float(runs.retests[:, -1].mean()),
        "exploited": float(T - runs.explored[:, -1].mean()),
        "accuracy": float(end["accuracy"]),
        "accuracy_se": float(end["accuracy_se"]),
        "crowd_accuracy": float(end["crowd_accuracy"]),
        "best_accuracy": float(end["best_accuracy"]),
        "learnt_accuracy": _learnt_accuracy(runs, skill, weighted),
        **{
            name: float(end[name])
            for part in ("regret", "exploration_regret", "exploitation_regret", "cost_regret")
            for name in (part, f"{part}_se")
        },
        "bounds": _bounds(skill, T, costs, weighted),
        "removed": [
            {"run": run, "worker": names[one.worker], "step": one.step, "error": one.error}
            for run, removed in enumerate(runs.removed)
            for one in removed
        ],
        "structure": _plain_structure(agreement),
        "mean_skill": float(skill.mean()),
        "schedule": _plain_schedule(text, schedule, T),
        "weighted": weighted,
        "costs": costs,
        "horizon": T,
        "runs": R,
        "seed": options["seed"],
    }
    title = f"simulated crowd of {len(skill)}: {T} tasks, {R} runs, schedule {text}"
    lines = _simulated_lines(payload)
    notes = _simulated_notes(payload, schedule, vetting, agreement)
    return _Result(title, payload, lines, notes, steps, workers)


def _curves(runs: Runs, skill: FloatArray) -> pd.DataFrame:
    """Means over the runs, and their standard errors, at every checkpoint."""
    import numpy as np
    import pandas as pd

    from workbench.aggregation.majority_accuracy import majority_accuracy

    R, n = len(runs.labels), runs.tasks
    columns: dict[str, Any] = {"tasks": n}
    several = {
        "accuracy": runs.reward / n,
        "regret": runs.regret,
        "exploration_regret": runs.exploration_regret,
        "exploitation_regret": runs.exploitation_regret,
        "cost_regret": runs.cost_regret,
        "size": runs.size.astype(float),
        "labels": runs.labels.astype(float),
    }
    for name, values in several.items():
        columns[name] = values.mean(axis=0)
        columns[f"{name}_se"] = (
            values.std(axis=0, ddof=1) / math.sqrt(R) if R > 1 else np.full(len(n), np.nan)
        )
    columns["crowd_accuracy"] = majority_accuracy(skill)
    columns["best_accuracy"] = runs.best_accuracy[0]
    columns["explored"] = runs.explored.mean(axis=0)
    columns["asked"] = np.diff(columns["labels"], prepend=0) / np.diff(n, prepend=0)
    return pd.DataFrame(columns)


def _learnt_accuracy(runs: Runs, skill: FloatArray, weighted: bool) -> float:
    """Mean accuracy, by the true skills, of the sets in force at the end."""
    import numpy as np

    from workbench.learning.sets import Vote

    vote, size = Vote(weighted), runs.chosen.sum(axis=1)
    values = [
        vote.accuracies(skill[None, chosen], estimate[None, chosen], number[None])[0]
        for chosen, estimate, number in zip(runs.chosen, runs.estimates, size, strict=True)
    ]
    return float(np.mean(values))


def _simulated_workers(runs: Runs, skill: FloatArray, best: list[int]) -> pd.DataFrame:
    import numpy as np
    import pandas as pd

    low, high = np.quantile(runs.estimates, [0.05, 0.95], axis=0)
    dropped = np.zeros(len(skill))
    for removed in runs.removed:
        for one in removed:
            dropped[one.worker] += 1 / len(runs.labels)
    return pd.DataFrame(
        {
            "worker": [str(i) for i in range(len(skill))],
            "skill": skill,
            "estimate": runs.estimates.mean(axis=0),
            "estimate_low": low,
            "estimate_high": high,
            "in_best_set": runs.chosen.mean(axis=0),
            "in_best_set_hindsight": [i in set(best) for i in range(len(skill))],
            "removed": dropped,
        }
    )


def _bounds(
    skill: FloatArray, T: int, costs: list[float] | None, weighted: bool
) -> dict[str, Any] | None:
    """Theorem 3 (or 5), or why nothing can be said."""
    from workbench.learning.guarantees import theorem_3, theorem_5

    if T < 2:
        return None
    name = "Theorem 5" if weighted else "(6) and (7)"
    try:
        promise = theorem_5(skill, T) if weighted else theorem_3(skill, T, costs=costs)
    except InputError as wrong:
        return {"source": name, "holds": False, "why": str(wrong)}
    except ArithmeticError:
        why = f"for {len(skill)} labelers its constants are too large for a computer"
        return {"source": name, "holds": False, "why": why}
    failing = [one.statement for one in promise.conditions if not one.holds]
    if len(failing) > 1 and failing[-1].startswith("ε"):
        failing.pop()  # no ε would do
    return {
        "source": name,
        "regret": promise.regret,
        "cost_regret": promise.cost_regret,
        "holds": promise.stands,
        "says_something": promise.says_something,
        "failing": failing,
        "why": None if promise.stands else f"this does not hold: {'; '.join(failing)}",
    }


def _simulated_lines(told: dict[str, Any]) -> list[str]:
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


def _with(told: dict[str, Any], name: str, form: str) -> str:
    error = told[f"{name}_se"]
    return f"{told[name]:{form}}" + ("" if math.isnan(error) else f" ± {error:{form}}")


def _bound_line(bounds: dict[str, Any], T: int) -> str:
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
    told: dict[str, Any], schedule: Schedule, vetting: Vetting | None, agreement: Structure
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


def _recorded(options: dict[str, Any], vetting: Vetting | None) -> _Result:
    from workbench.crowd import tables
    from workbench.learning.recorded import recorded, replay

    text, weighted = options["schedule"] or RECORDED, options["weighted"]
    schedule = _schedule(text, None, weighted)
    # All rows, so that of two labels the first or last by --order counts.
    keep: Literal["error", "keep"] = (
        "keep" if options["duplicates"] in ("first", "last") else "error"
    )
    try:
        labels = tables.read_labels(options["labels"], duplicates=keep)
    except InputError as error:
        mend = "pass duplicates='first' or 'last'"
        raise InputError(str(error).replace(mend, "pass --duplicates first or last")) from None
    gold = None if options["gold"] is None else tables.read_gold(options["gold"])
    data = recorded(
        labels,
        gold,
        order=options["order"] or "file",
        duplicates=options["duplicates"] or "error",
    )
    n = options["horizon"]
    if n is not None and n > len(data.tasks):
        raise InputError(f"--horizon is {n}: there are {len(data.tasks)} tasks, give no more")
    with working(f"learning over {n or len(data.tasks)} tasks", after=5.0):
        run = replay(
            data,
            schedule,
            horizon=n,
            weighted=weighted,
            delay=options["delay"],
            vetting=vetting,
            pool=options["pool"] or "recorded",
            patience=options["patience"],
            seed=options["seed"],
        )
    n = len(run.steps)
    kinds = run.learner.kinds
    names = run.learner.names
    payload = {
        "best_set": [names[i] for i in run.learner.best],
        "estimates": dict(zip(names, run.workers["estimate"], strict=True)),
        "skills": dict(zip(names, run.workers["skill"], strict=True)),
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
        "classes": data.classes.tolist(),
        "pool": run.pool,
        "schedule": _plain_schedule(text, schedule, n),
        "weighted": weighted,
        "horizon": n,
        "runs": 1,
        "seed": options["seed"],
    }
    title = (
        f"{Path(options['labels']).name}: {n} tasks, {len(names)} labelers, classes "
        f"{data.classes[0]} and {data.classes[1]}, schedule {text}"
    )
    notes = _recorded_notes(payload, options, schedule, vetting, run)
    steps = run.steps.assign(
        tasks=range(1, n + 1), labels=run.steps["received"].cumsum(),
        labels_crowd=run.steps["on_record"].cumsum(),
    )  # fmt: skip
    return _Result(title, payload, _recorded_lines(payload), notes, steps, run.workers)


def _recorded_lines(told: dict[str, Any]) -> list[str]:
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
    told: dict[str, Any],
    options: dict[str, Any],
    schedule: Schedule,
    vetting: Vetting | None,
    run: Replayed,
) -> list[str]:
    notes = [run.structure.sentence]
    if options["schedule"] is None:
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


def _named(workers: list[str]) -> str:
    shown = ", ".join(map(cell, workers[:SHOWN])) + (", …" if len(workers) > SHOWN else "")
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


def _plain_schedule(text: str, schedule: Schedule, T: int) -> dict[str, Any]:
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
    return text + (f"\n… and {hidden} more (--json lists them)" if hidden else "")


def _cell(name: str, value: Any) -> str:
    import pandas as pd

    if pd.isna(value):
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if name in ("in_best_set", "removed"):
        return f"{100 * value:.0f} %"
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def _write(out: Path, result: _Result) -> None:
    """Write tables, numbers and picture."""
    from workbench.plots import as_png, learning

    picture = as_png(learning(result.steps, result.workers, title=result.title))
    folder(out)
    write_files(
        {
            out / "steps.csv": as_csv(result.steps, out / "steps.csv"),
            out / "workers.csv": as_csv(result.workers, out / "workers.csv"),
            out / "learn.json": strict_json(result.payload) + "\n",
            out / "learn.png": picture,
        }
    )
