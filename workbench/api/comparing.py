"""`compare`: one crowd, and every method of assignment in one table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, overload

import numpy as np
import pandas as pd

from crowd_models import AssignmentProblem
from crowd_models.gains import gain_of
from workbench.api import inputs
from workbench.api.comparison import Comparison
from workbench.api.inputs import LabelTable, PerWorker, Tasks, Truth
from workbench.api.meter import Progress, steps
from workbench.api.ratios import MOST_PROCESSES, Ratios, ratios
from workbench.api.result import picked
from workbench.api.sampling import SampleOptions
from workbench.api.simulation import SimulatedCrowd
from workbench.api.skill_problems import is_skills, problem_of
from workbench.assignment.estimates import SkillEstimate, known_estimate
from workbench.assignment.weights import OnInfeasible
from workbench.base import checks
from workbench.base.bar import Step, no_step
from workbench.base.errors import InputError
from workbench.comparison import running as room
from workbench.comparison import two_classes
from workbench.comparison.instances import RecordedOptions
from workbench.comparison.pooled import Processes
from workbench.comparison.protocol import Instance, everybody
from workbench.comparison.rows import summarise
from workbench.comparison.two_classes import ComparedCrowd
from workbench.crowd import tables
from workbench.crowd.libraries import to_pandas
from workbench.solving import versions

EPSILON = 0.05
"""Error each task may have, where none is given."""
MOST_GAMMA = 1000
"""Workers sampled at most for each worker who gets tasks."""
MOST_TRIALS = 100_000
"""Trials at most."""
MOST_GOLD = 1_000_000
"""Gold tasks of a worker and type at most."""


@overload
def compare(
    labels: LabelTable | None = None,
    gold: Truth | None = None,
    *,
    methods: Sequence[str] | None = None,
    epsilon: float = EPSILON,
    task_types: Tasks | None = None,
    costs: PerWorker | None = None,
    capacity: int | PerWorker | None = None,
    sampling: SampleOptions | None = None,
    trials: int = 1,
    processes: int = 1,
    seed: int = 0,
    progress: Progress = None,
) -> Comparison: ...


@overload
def compare(
    labels: AssignmentProblem | Iterable[AssignmentProblem],
    gold: Sequence[str] | None = None,
    *,
    methods: Sequence[str] | None = None,
    sampling: SampleOptions | None = None,
    trials: int = 1,
    processes: int = 1,
    seed: int = 0,
    progress: Progress = None,
) -> Ratios: ...


def compare(
    labels: LabelTable | AssignmentProblem | Iterable[AssignmentProblem] | None = None,
    gold: Truth | Sequence[str] | None = None,
    *,
    methods: Sequence[str] | None = None,
    epsilon: float = EPSILON,
    task_types: Tasks | None = None,
    costs: PerWorker | None = None,
    capacity: int | PerWorker | None = None,
    sampling: SampleOptions | None = None,
    trials: int = 1,
    processes: int = 1,
    seed: int = 0,
    progress: Progress = None,
) -> Comparison | Ratios:
    """Compare exact, adaptive and random assignment on one crowd, or online policies on problems.

    Parameters
    ----------
    labels
        Labels: columns `task`, `worker`, `label`.

        What was never recorded cannot be assigned. Of more than two classes workers have confusion
        matrices, and the methods are those of `workbench.comparison.several_class_methods`. Or,
        alone, a crowd of `simulate`: each trial draws another of its kind, with γ workers more for
        each, and knows its true skills.

        Or one `AssignmentProblem`, or a list or generator of them, or skills (a frame worker × task
        type; an empty cell is a type that she may not do) with `task_types`: there online policies
        meet random orders of arrival, and their cost is stated over the proven optimum.
    gold
        True labels: columns `task`, `gold`. [default: gold in the labels, if any]

        Beside problems or skills `methods` may stand in this place.
    methods
        By name. [default: all]

        On problems and skills: policies of the registry, your own among them; the others are
        compared with the first. A method that cannot is listed with the reason.
    epsilon
        Largest error that each task may have.
    task_types
        For recorded labels or given skills: type of each task. [default: one]

        Types by task: a Series, dict, or columns `task` and `task_type`. Beside skills also a list
        of types, one a task.
    costs
        For recorded labels or given skills: price of a label by worker and type. [default: 1]
    capacity
        Most tasks a worker takes: a number, or columns `worker`, `capacity`. [default: 200
        simulated, all tasks recorded]
    sampling
        A `SampleOptions`.
    trials
        How many times crowd and labels are drawn.

        On problems: orders of arrival of each.
    processes
        Number of trials that run at the same time.

        The result is that of one process, but for what a time limit ends.
    seed
        Same seed, same result.
    progress
        A function that takes the progress, one line at a time; True draws a bar.

    Returns
    -------
    Comparison or, of problems and skills, Ratios
        With `to_frame()`, a row a method, and `plot()`.

    Raises
    ------
    InputError
        Frames without the columns, a single class, a gain that is for two classes where there are
        more, a number out of range, no task that can be covered.

    Notes
    -----
    Source: Ho, Jabbari, Vaughan (2013), Sections 4 to 6.

    Examples
    --------
    >>> import workbench as wb
    >>> crowd = wb.simulate("uniform", tasks=20, workers=20, capacity=20, skill=0.9)
    >>> table = wb.compare(crowd, epsilon=0.3).to_frame().set_index("method")
    >>> table.loc["offline IP", ["objective", "lower_bound"]].tolist()
    [80.0, 80.0]
    """
    sampling = sampling or SampleOptions()
    _check_plain({"epsilon": epsilon, "trials": trials, "seed": seed, **vars(sampling)})
    _check_sizes(sampling, trials, processes)
    arguments: dict[str, Any] = {
        "labels": labels,
        "gold": gold,
        "task_types": task_types,
        "costs": costs,
        "capacity": capacity,
    }
    problems = _problems(arguments, epsilon, sampling)
    if problems is not None:
        if gold is not None and methods is not None:
            raise InputError("`methods` are given twice: leave one out")
        return ratios(
            problems.given,
            methods if gold is None else _named(gold),
            sampling=sampling,
            trials=trials,
            processes=processes,
            seed=seed,
            progress=progress,
            workers=problems.workers,
        )
    crowd, settings = _crowd(arguments, epsilon, sampling)
    chosen, not_run = room.known_methods(crowd.classes, methods)
    asked = _Asked(chosen, settings["infeasible"], sampling.time_limit, seed)
    records, instances = _trials(crowd, asked, trials, processes, progress)
    settings |= {"trials": trials, "seed": seed, "methods": methods and list(chosen)}
    return _comparison(crowd, records, instances, settings, not_run)


def _problems(
    arguments: dict[str, Any], epsilon: float, sampling: SampleOptions
) -> _Problems | None:
    """The problems that are given, as such or by skills; None of labels and crowds."""
    given = to_pandas(arguments["labels"])
    if isinstance(given, pd.DataFrame) and is_skills(given):
        beside = (arguments[name] for name in ("task_types", "costs", "capacity"))
        gain = sampling.gain or "hoeffding"
        problem, workers = problem_of(given, *beside, epsilon=epsilon, gain=gain)
        return _Problems([problem], workers)
    if isinstance(given, AssignmentProblem):
        given = [given]
    if not isinstance(given, (list, tuple, Iterator)):
        return None
    for name in ("task_types", "costs", "capacity"):
        if arguments[name] is not None:
            raise InputError(f"`{name}`: a problem has its own, leave it out")
    if epsilon != EPSILON:
        raise InputError("`epsilon`: a problem has its own requirement, leave it out")
    if sampling.gain is not None:
        raise InputError("`gain`: a problem has its own, leave it out")
    return _Problems(given)


def _named(methods: object) -> Sequence[str]:
    """Names of methods, where gold might stand as well."""
    listed = [methods] if isinstance(methods, str) else methods
    if not isinstance(listed, (list, tuple)) or not all(isinstance(each, str) for each in listed):
        raise InputError(
            "`gold` is beside problems, which have none: give the names of `methods` in its place"
        )
    return listed


def _crowd(
    arguments: dict[str, Any], epsilon: float, sampling: SampleOptions
) -> tuple[_Crowd, dict[str, Any]]:
    """The crowd that all methods meet, and the settings that are stated of it."""
    labels, gold = arguments["labels"], arguments["gold"]
    invented = isinstance(labels, SimulatedCrowd)
    gain = gain_of(sampling.gain or ("hoeffding" if invented else "bhattacharyya")).name
    estimate: SkillEstimate = sampling.skills or (
        "plug-in" if invented and gain == "hoeffding" else "fitted"
    )
    known_estimate(estimate)
    own: dict[str, Any] = dict.fromkeys(("crowd", "skill", "n", "m", "types"))
    if isinstance(labels, SimulatedCrowd):
        _refuse_beside_simulated(arguments)
        inputs.check_pairs(labels.tasks, (1 + sampling.gamma) * labels.workers, labels.types)
        make = partial(
            _simulated, labels, epsilon, sampling.gamma, sampling.gold_tasks, gain, estimate
        )
        crowd = _Crowd(make, labels.title, 2, str, on_record=False)
        own = {
            "n": labels.tasks,
            "m": labels.workers,
            **picked(labels, "crowd", "skill", "types"),
        }
        arguments = {**arguments, "labels": None, "capacity": labels.capacity}
    else:
        record = _recorded(labels, gold)
        workers, types = record[0].workers, arguments["task_types"]
        capacity = arguments["capacity"]
        options = RecordedOptions(
            sampling.gamma,
            sampling.gold_tasks,
            epsilon,
            None if types is None else inputs.task_types(types)[0],
            None if capacity is None else inputs.capacities(capacity, workers),
            inputs.by_worker("costs", arguments["costs"], workers, tables.read_costs),
            gain,
            estimate,
        )
        crowd = _on_record(*record, options)
    settings = {
        **{name: _setting(name, value) for name, value in arguments.items()},
        **own,
        "epsilon": epsilon,
        **vars(sampling),
        "gain": gain,
        "skills": estimate,
    }
    return crowd, settings


def _check_plain(given: dict[str, Any]) -> None:
    """Refuse tables where a word or a number is meant."""
    for name, value in given.items():
        if value is not None and not isinstance(value, (str, int, float, np.number)):
            raise InputError(
                f"{name} is {checks.type_name(value)}: give a word or a number; tables are "
                "`labels`, `gold`, `task_types`, `costs` and `capacity`"
            )


def _check_sizes(sampling: SampleOptions, trials: int, processes: int) -> None:
    gamma, gold_tasks = sampling.gamma, sampling.gold_tasks
    if not checks.is_number(gamma) or not 0 < gamma <= MOST_GAMMA:
        raise InputError(
            f"gamma is {checks.show(gamma)}: give a number above 0, at most {MOST_GAMMA}"
        )
    if checks.count("gold_tasks", gold_tasks) > MOST_GOLD:
        raise InputError(f"gold_tasks is {checks.show(gold_tasks)}: give {MOST_GOLD:,} or fewer")
    if checks.count("trials", trials, 1) > MOST_TRIALS:
        raise InputError(f"trials is {checks.show(trials)}: give {MOST_TRIALS:,} or fewer")
    if checks.count("processes", processes, 1) > MOST_PROCESSES:
        raise InputError(f"processes is {checks.show(processes)}: give {MOST_PROCESSES} or fewer")


def _refuse_beside_simulated(arguments: dict[str, Any]) -> None:
    for name, value in arguments.items():
        if name != "labels" and value is not None:
            raise InputError(f"`{name}`: a simulated crowd has its own, leave it out")


def _comparison(
    crowd: _Crowd,
    records: pd.DataFrame,
    instances: list[Instance],
    settings: dict[str, Any],
    not_run: dict[str, str],
) -> Comparison:
    """The table of means over trials, and what the reader of it must know."""
    first = instances[0]
    left_out = sorted({name for instance in instances for name in instance.left_out})
    return Comparison(
        summarise(records, settings["epsilon"]),
        records,
        crowd.title,
        round(float(np.mean([len(instance.tasks) for instance in instances]))),
        len(first.tasks) + len(first.left_out),
        len(first.main),
        first.preliminary,
        tuple(map(crowd.back, left_out)),
        first.notes,
        settings,
        settings["gain"],
        versions(),
        first.correlation,
        crowd.classes,
        not_run,
    )


class _Problems(NamedTuple):
    """Problems to compare on, and the names of their workers where they have any."""

    given: Iterable[AssignmentProblem]
    workers: tuple[object, ...] | None = None


class _Crowd(NamedTuple):
    """What is compared on: the instance of a trial by its seed, a name, classes, and users' ids."""

    make: Callable[..., Instance]
    title: str
    classes: int
    back: Callable[[str], Any]
    on_record: bool = True


class _Asked(NamedTuple):
    """Which methods are run on a trial, and how."""

    methods: tuple[str, ...]
    infeasible: OnInfeasible
    time_limit: float
    seed: int


def _on_record(
    labels: inputs.Given, gold: pd.Series[Any], title: str, options: RecordedOptions
) -> _Crowd:
    """A recorded crowd: each trial draws other folds, and another order of arrival."""
    classes = len({*labels.table["label"], *gold})
    make = partial(room.recorded, labels.table, gold, options)
    return _Crowd(make, title, classes, labels.tasks.back)


def _trials(
    crowd: _Crowd, asked: _Asked, trials: int, processes: int, progress: Progress
) -> tuple[pd.DataFrame, list[Instance]]:
    """Run every method on each trial's instance: a row a trial and method, and the instances."""
    rows: dict[int, list[dict[str, Any]]] = {}
    instances: dict[int, Instance] = {}
    function, one_more = _trial, steps(progress, "trials", trials)
    if trials == 1:  # runs here, and says how many of its methods are done
        step, one_more = steps(progress, "methods", len(asked.methods)), no_step
        function = partial(_trial, step=step)
    with Processes(min(processes, trials), asked.methods) as pool:
        for at, found in pool.each(function, ((crowd, asked, trial) for trial in range(trials))):
            rows[at], instances[at] = found
            one_more()
    order = range(trials)
    return pd.DataFrame([row for at in order for row in rows[at]]), [instances[at] for at in order]


def _trial(
    crowd: _Crowd, asked: _Asked, trial: int, step: Step = no_step
) -> tuple[list[dict[str, Any]], Instance]:
    """Run every method on one trial's instance."""
    seeds = [np.random.SeedSequence(asked.seed, spawn_key=(trial, part)) for part in range(2)]
    instance, rows = crowd.make(seed=seeds[0]), []
    found = room.compare(
        instance,
        seed=seeds[1],
        time_limit=asked.time_limit,
        on_infeasible=asked.infeasible,
        chosen=asked.methods,
    )
    for row in found:
        rows.append({"trial": trial, **vars(row)})
        step()
    if crowd.on_record:
        plain = everybody(instance, seed=seeds[1].spawn(1)[0])
        rows.append({"trial": trial, **vars(plain)})
    return rows, instance


def _simulated(
    crowd: SimulatedCrowd,
    epsilon: float,
    gamma: float,
    gold_tasks: int,
    gain: str,
    skills: SkillEstimate,
    *,
    seed: np.random.SeedSequence,
) -> ComparedCrowd:
    """The instance of a trial: another crowd of the kind, with γ workers more for each."""
    preliminary = max(1, round(gamma * crowd.workers))
    return two_classes.simulated(
        crowd.draw(crowd.workers + preliminary, seed),
        tasks=crowd.tasks,
        preliminary=preliminary,
        gold=gold_tasks,
        epsilon=epsilon,
        gain=gain,
        skills=skills,
        seed=seed,
    )


def _recorded(
    labels: LabelTable | None, gold: Truth | None
) -> tuple[inputs.Given, pd.Series[Any], str]:
    """Labels, true labels, and what to call the crowd."""
    if labels is None:
        raise InputError("`labels` and `gold` go together: give both, or a simulated crowd alone")
    title = "recorded crowd"
    if isinstance(labels, (str, Path, inputs.LabelFile)):
        title += f" {Path(str(labels)).name}"
    elif isinstance(labels, pd.DataFrame) and "crowd" in labels.attrs:
        title += f" {labels.attrs['crowd']}"
    source = inputs.given(labels)
    true, source = inputs.truth(gold, source)
    return source, true, title


def _setting(name: str, value: object) -> str | None:
    """Write what was given for the settings: a path or a name as it is, a table as given."""
    if value is None or isinstance(value, str):
        return value
    return (
        str(value)
        if isinstance(value, (Path, inputs.LabelFile)) or checks.is_number(value)
        else f"{name} as given"
    )
