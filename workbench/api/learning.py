"""`learn`: whom to trust, learnt from agreement while tasks come in."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from workbench.accuracy.measured import (
    Difference,
    MajorityError,
    MeasuredError,
    count_errors,
    difference,
)
from workbench.aggregation.labelling import LEAST_GOLD
from workbench.api import inputs
from workbench.api.labelling import Labels, aggregate
from workbench.api.measuring import GoldError, in_words, payload_of
from workbench.api.meter import Progress, steps
from workbench.api.result import Figure, Result, facts, listed, names, page, percent, picked
from workbench.api.simulation import SimulatedCrowd
from workbench.base import checks
from workbench.base.arrays import FloatArray
from workbench.base.errors import InputError
from workbench.base.text import Columns, shown
from workbench.crowd.tables import Duplicates
from workbench.learning import schedule as schedules
from workbench.learning.agreement import Structure
from workbench.learning.baselines import baselines
from workbench.learning.em import PRICE
from workbench.learning.ls_ol import PLAIN, LsOlOptions
from workbench.learning.policies import POLICIES
from workbench.learning.recorded_labels import Order, Pool, Recorded, Replayed, recorded
from workbench.learning.recorded_labels import replay as replay_labels
from workbench.learning.schedule import Schedule
from workbench.learning.simulated import Simulated, simulated
from workbench.learning.vetting import Vetting

SIMULATED, RECORDED = "3,5", "30,0"
"""Schedules of LS_OL where none is given."""
HORIZON, TRIALS = 2000, 100
"""Tasks of a run on a simulated crowd, and runs, where none are named."""
MOST_CELLS, MOST_TASKS = 10_000_000, 1_000_000_000
"""Runs times workers, and tasks, at most."""
SHOWN, BRIEF = 12, 5
"""Workers that are shown among the details, and below the verdict."""
ALL_AT_ONCE = "Where all labels are there already, 'workbench aggregate' makes use of each."
BLIND = "which it did not learn from"
WIDTH = 16
"""Letters for the names of facts."""


@dataclass(frozen=True, eq=False, repr=False)
class Learning(Result):
    """Whom a learner came to trust, and how well it labelled meanwhile.

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
    error
        Of recorded labels, the error measured on gold, of which nothing was learnt, and beside it
        everybody's majority on the same tasks; None without gold.
    together
        By how much `aggregate` errs more on the same tasks with all labels at once; None without
        gold.
    """

    title: str
    numbers: Mapping[str, Any]
    steps: pd.DataFrame
    workers: pd.DataFrame
    error: GoldError | None = None
    together: Difference | None = None
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
        share: float | None = self.numbers["accuracy"]
        return share

    @property
    def lines(self) -> tuple[str, ...]:
        """What was measured, a sentence each: the body of the summary."""
        return tuple(facts(_lines(self.numbers), WIDTH).splitlines())

    def to_frame(self) -> pd.DataFrame:
        """Give the workers, one a row."""
        return self.workers.copy()

    def plot(self) -> Figure:
        """Draw accuracy, regret or labels bought, sets and estimates."""
        from workbench.plots import learning

        policy = str(self.numbers["policy"])
        return learning(
            self.steps,
            self.workers,
            title=self.title,
            policy=f"learnt by {'LS_OL' if policy == 'ls-ol' else policy}",
            measured=None if self.error is None else self.error.drawn(),
        )

    def verdict(self) -> list[str]:
        """Say how wrong its answers were, and what a majority of all labels gives."""
        numbers = self.numbers
        if "counts" not in numbers:
            return []
        share = numbers["labels_bought"] / max(numbers["labels_crowd"], 1)
        sentences = [
            f"{numbers['horizon']} tasks answered one after the other with "
            f"{numbers['labels_bought']} of {numbers['labels_crowd']} labels "
            f"({percent(share)}); at the end {len(self.best_set)} of {len(self.workers)} workers "
            "are asked."
        ]
        if empty := numbers["counts"]["unlabelled"]:
            have = "has" if empty == 1 else "have"
            sentences.append(f"{empty:,} of {numbers['horizon']:,} tasks {have} no answer.")
        if self.error is None:
            sentences.append(
                f"Without gold nobody knows how many answers are wrong; "
                f"{percent(numbers['agreement'])} are as a majority of all labels has them."
            )
            return [*sentences, ALL_AT_ONCE]
        bought = numbers["labels_bought"] / numbers["horizon"]
        sentences += self.error.verdict("its answers are", bought)
        if self.together is not None and self.together.more < 0.0:
            sentences.append(
                f"'workbench aggregate' on the same labels is wrong on "
                f"{percent(numbers['error_aggregate'])}, and {in_words(self.together)}: where all "
                "labels are there already, use that."
            )
        return sentences

    def brief(self) -> str:
        """Lay out the workers it trusts most."""
        ordered = self.workers.sort_values("estimate", ascending=False, kind="stable")
        return listed(ordered, {key: COLUMNS[key] for key in ("worker", "estimate")}, BRIEF)

    def details(self) -> str:
        """Give all that was measured, workers and notes."""
        ordered = self.workers.sort_values("estimate", ascending=False, kind="stable")
        there = (ordered.notna() & (ordered != 0)).any()
        columns = {k: how for k, how in COLUMNS.items() if k not in IF_ANY or there.get(k, False)}
        text = facts(_lines(self.numbers), WIDTH)
        return page(self.title, text, listed(ordered, columns, SHOWN), notes=self.numbers["notes"])

    def _payload(self) -> Mapping[str, Any]:
        if "counts" not in self.numbers:
            return self.numbers
        found = self.together
        return {
            **self.numbers,
            **payload_of(self.error),
            "error_aggregate_more": None if found is None else found.more,
            "error_aggregate_interval": None if found is None else (found.low, found.high),
        }


@dataclass(frozen=True)
class LearningOptions:
    """How a policy learns; each option applies to one policy.

    Parameters
    ----------
    price
        em: price of a label, where a right answer is worth 1. [default: 0.0001]
    schedule
        LS_OL explores: G1,G2 (G1 log t tasks are labelled by all, each G2 log t times);
        decreasing:G1,G2,eta; or theoretical. [default: 3,5 simulated; 30,0 recorded]
    weighted
        LS_OL, two classes: vote by log-odds.
    vetting
        LS_OL: drop the clearly worst workers.
    vetting_error
        LS_OL: highest chance of dropping one wrongly. [default: 0.1]
    vetting_variant
        LS_OL: exponent of (13) by Hoeffding's inequality, or as printed. [default: supported]
    delay
        LS_OL: a task that all label is given again 1 to this many steps later.

    Examples
    --------
    >>> import workbench as wb
    >>> crowd = wb.simulate(skill=[0.9, 0.8, 0.6], tasks=50)
    >>> wb.learn(crowd, options=wb.LearningOptions(schedule="2,3"), trials=3).best_set
    ['w0']
    """

    price: float | None = None
    schedule: Schedule | str | Sequence[float] | None = None
    weighted: bool = False
    vetting: bool = False
    vetting_error: float | None = None
    vetting_variant: Literal["supported", "printed"] | None = None
    delay: int = 0


@dataclass(frozen=True)
class Replay:
    """How recorded labels are replayed, task by task.

    Parameters
    ----------
    order
        Order of the tasks. [default: file]
    pool
        Choose among workers with a label of the task on record, or all. [default: recorded]
    patience
        How long to wait for other labels after a task's first one.

    Examples
    --------
    >>> import workbench as wb
    >>> labels = wb.simulate(tasks=20, workers=5, skill=0.9).labels
    >>> len(wb.learn(labels, replay=wb.Replay(pool="all")).steps)
    20
    """

    order: Order | None = None
    pool: Pool | None = None
    patience: float | None = None


def learn(
    labels: inputs.LabelTable | None = None,
    gold: inputs.Truth | None = None,
    *,
    policy: str | None = None,
    options: LearningOptions | None = None,
    replay: Replay | None = None,
    costs: float | str | Sequence[float] | None = None,
    duplicates: Literal["error", "first", "last"] | None = None,
    horizon: int | None = None,
    trials: int | None = None,
    seed: int = 0,
    progress: Progress = None,
) -> Learning:
    """Learn whom to ask from labels alone, without ground truth, task by task.

    Now and then all workers label a task; all other tasks go to the set of workers that is best
    by what was learnt. LS_OL (Liu and Liu) trusts who agrees with the majority then; em fits a
    model to every label bought. Recorded, labels are taken from a table as if tasks came in anew;
    simulated, regret is counted against the best set.

    Parameters
    ----------
    labels
        Labels: columns `task`, `worker`, `label`. A column time may be there.

        Or, alone, a crowd of `simulate` with one type of task, which all its workers label.
    gold
        True labels, for scoring alone: columns `task`, `gold`.
    policy
        em (a model of all labels bought), ls-ol (LS_OL of Liu and Liu), or your own. [default: em
        for recorded labels; ls-ol for simulated ones, or with an option of LS_OL]
    options
        A `LearningOptions`.
    replay
        A `Replay`.
    costs
        Simulated: price of a label, one for all or one per worker. [default: 1]
    duplicates
        Which label counts when a worker labels a task twice. [default: error]
    horizon
        Number of tasks. [default: all]
    trials
        Simulated: runs that are averaged. [default: 100]
    seed
        Same seed, same result.
    progress
        A function that takes the progress, one line at a time; True draws a bar.

    Raises
    ------
    InputError
        No labels; labels or gold cannot be read; fewer than two classes; or an option that is out
        of range, or for another run or policy.

    Examples
    --------
    >>> import workbench as wb
    >>> crowd = wb.simulate(skill=[0.9, 0.8, 0.6], tasks=100)
    >>> learnt = wb.learn(crowd, trials=5)
    >>> learnt.best_set
    ['w0']
    >>> learnt.to_frame()[["worker", "skill", "in_best_set"]]
      worker  skill  in_best_set
    0     w0    0.9          0.6
    1     w1    0.8          0.2
    2     w2    0.6          0.2
    """
    if labels is None:
        raise InputError("give `labels`, on record, or a crowd of `simulate`")
    options, replay = options or LearningOptions(), replay or Replay()
    dropping = _vetting(options.vetting, options.vetting_error, options.vetting_variant)
    how = LsOlOptions(options.weighted, delay=options.delay, vetting=dropping)
    is_simulated = isinstance(labels, SimulatedCrowd)
    who, cost = _policy(policy, not is_simulated, options.price, how, options.schedule)
    numbers: dict[str, Any] = {"policy": who, "weighted": options.weighted, "seed": seed}
    if isinstance(labels, SimulatedCrowd):
        why = "is for recorded labels: give it with `labels`"
        _refuse(why, gold=gold, duplicates=duplicates, **vars(replay))
        run = _on_simulated(
            labels, options.schedule, how, who, cost, costs, horizon, trials, seed, progress
        )
    else:
        why = "is for simulated workers: give it with a crowd of `simulate`"
        _refuse(why, trials=trials, costs=costs)
        source, data = _stream(labels, gold, replay.order or "file", duplicates or "error")
        run = _on_record(
            source, data, options.schedule, how, who, cost, horizon, replay, seed, progress
        )
    text, when = run.text, run.schedule
    rhythm = text if isinstance(text, str) else f"{when.tests:g},{when.repeats:g}"
    numbers |= run.numbers
    implied = when.exploration_steps(numbers["horizon"])
    by_name, ends = run.workers.set_index("worker"), [run.structure.low, run.structure.high]
    seen = picked(run.structure, "distance", "camps", "groups", "sign", "trusted", "sentence")
    numbers |= {
        "estimates": by_name["estimate"].to_dict(),
        "skills": by_name["skill"].to_dict(),
        "structure": {**seen, "interval": ends},
        "schedule": {"text": rhythm, **vars(when), "exploration_steps": implied},
    }
    notes = _simulated_notes if is_simulated else _recorded_notes
    numbers["notes"] = notes(numbers, when, dropping)
    if who != "ls-ol":
        numbers["schedule"] = None
    means = f"LS_OL, schedule {rhythm}" if who == "ls-ol" else f"policy {who}, price {cost:g}"
    title = f"{run.title}, {means}"
    return Learning(title, numbers, run.steps, run.workers, run.error, run.together)


class _Run(NamedTuple):
    """What was learnt, on simulated workers or on labels on record."""

    title: str
    numbers: dict[str, Any]
    steps: pd.DataFrame
    workers: pd.DataFrame
    structure: Structure
    text: Schedule | str | Sequence[float]
    schedule: Schedule
    error: GoldError | None = None
    together: Difference | None = None


def _on_simulated(
    crowd: SimulatedCrowd,
    schedule: Schedule | str | Sequence[float] | None,
    how: LsOlOptions,
    who: str,
    price: float,
    costs: float | str | Sequence[float] | None,
    horizon: int | None,
    trials: int | None,
    seed: int,
    progress: Progress,
) -> _Run:
    """Learn many times whom to ask among simulated workers."""
    if crowd.types > 1:
        raise InputError(f"types is {crowd.types}: `learn` takes tasks of one type")
    skill = crowd.skills.iloc[:, 0].to_numpy()
    prices = _prices(costs, len(skill))
    text = SIMULATED if schedule is None else schedule
    when = schedules.read(text, skill, weighted=how.weighted)
    tasks = crowd.tasks if horizon is None else horizon
    times = TRIALS if trials is None else trials
    _check_size(len(skill), times, tasks)
    result = simulated(
        skill,
        when,
        tasks,
        times,
        how,
        policy=who,
        price=price,
        costs=prices,
        seed=seed,
        step=steps(progress, "runs", times),
    )
    result = replace(result, workers=result.workers.assign(worker=crowd.skills.index))
    numbers = {"horizon": tasks, "runs": times, "costs": prices, **_simulated(result, tasks)}
    title = f"simulated crowd of {len(skill)}: {tasks} tasks, {times} runs"
    return _Run(title, numbers, result.steps, result.workers, result.structure, text, when)


def _on_record(
    source: inputs.Given,
    data: Recorded,
    schedule: Schedule | str | Sequence[float] | None,
    how: LsOlOptions,
    who: str,
    price: float,
    horizon: int | None,
    replaying: Replay,
    seed: int,
    progress: Progress,
) -> _Run:
    """Learn whom to ask, from labels on record as if tasks came in anew."""
    if horizon is not None and checks.count("horizon", horizon, 1) > len(data.tasks):
        tasks = len(data.tasks)
        raise InputError(f"`horizon` is {horizon}: there are {tasks} tasks, give no more")
    text = RECORDED if schedule is None else schedule
    when = schedules.read(text, weighted=how.weighted)
    run = replay_labels(
        data,
        when,
        how,
        horizon=horizon,
        pool=replaying.pool or "recorded",
        patience=replaying.patience,
        policy=who,
        price=price,
        seed=seed,
        step=steps(progress, "tasks", len(data.tasks) if horizon is None else horizon),
    )
    rows, workers = _steps(source.back(run.steps)), source.back(run.workers)
    error = _measured(run)
    at_once, together = _at_once(data, len(rows), seed), None
    if at_once is not None and error is not None:
        loss = error.measured.loss
        together = difference(at_once.error, MajorityError(float(loss.mean()), 0.0, loss))
    numbers = {
        "horizon": len(rows),
        "runs": 1,
        "classes": source.classes.all_back(data.classes),
        **_recorded(run, workers),
        "baselines": [vars(baseline) for baseline in baselines(data, run, seed=seed)],
        "error_aggregate": at_once and at_once.error.error_measured,
        "aggregate_method": at_once and at_once.method,
    }
    title = (
        f"{source.name}: {len(rows)} tasks, {len(workers)} workers, classes "
        f"{checks.listing(data.classes)}"
    )
    return _Run(title, numbers, rows, workers, run.structure, text, when, error, together)


def _measured(run: Replayed) -> GoldError | None:
    """Count the errors of the answers, of which gold taught nothing; None without gold."""
    right, heard = run.steps["right"].to_numpy(float), run.steps["received"].to_numpy() > 0
    counted = np.flatnonzero(np.isfinite(right))
    if not len(counted):
        return None
    wrong = np.where(heard, 1.0 - right, np.nan)[counted]
    loss = 1.0 - run.steps["crowd_right"].to_numpy(float)[counted]
    labels = float(run.steps["on_record"].to_numpy()[counted].mean())
    error = count_errors(wrong, counted, len(right) - len(counted))
    return GoldError(error, None, np.nan, BLIND, MajorityError(float(loss.mean()), labels, loss))


def _check_size(workers: int, runs: int, tasks: int) -> None:
    most = MOST_CELLS // workers
    if checks.count("trials", runs, 1) > most:
        raise InputError(
            f"trials is {checks.show(runs)}, with {workers} workers: give {most:,} or fewer"
        )
    if checks.count("horizon", tasks, 1) > MOST_TASKS:
        raise InputError(f"horizon is {checks.show(tasks)}: give {MOST_TASKS:,} or fewer")


def _refuse(why: str, **options: object) -> None:
    """Refuse options that are for the other kind of run."""
    for name, value in options.items():
        if value is not None:
            raise InputError(f"`{name}` {why}, or leave it out")


def _stream(
    labels: inputs.LabelTable, gold: inputs.Truth | None, order: Order, duplicates: Duplicates
) -> tuple[inputs.Given, Recorded]:
    """Labels as they are named, and as a stream of tasks."""
    counting: Any = "all" if duplicates in ("first", "last") else "error"
    source, true = inputs.given(labels, duplicates=counting), None
    if gold is not None or source.gold is not None:
        true, source = inputs.truth(gold, source, unlabelled=not source.ignore_unlabelled)
    return source, recorded(source.table, true, order=order, duplicates=duplicates)


class _AtOnce(NamedTuple):
    """What `aggregate` makes of all labels, on the gold tasks of the run."""

    method: str
    error: MeasuredError


def _at_once(data: Recorded, tasks: int, seed: int) -> _AtOnce | None:
    """Aggregate all labels of the first tasks at once; None where no gold can tell.

    A gold task that nobody labelled has no answer here either.
    """
    labels, truth = data.labels[:tasks], data.truth[:tasks]
    counted = np.flatnonzero(truth >= 0)
    known = counted[(labels[counted] >= 0).any(axis=1)]
    if not len(known):
        return None
    task, worker = np.nonzero(labels >= 0)
    table = pd.DataFrame(
        {
            "task": data.tasks[task],
            "worker": data.workers[worker],
            "label": data.classes[labels[task, worker]],
        }
    )
    gold = pd.Series(data.classes[truth[known]], index=data.tasks[known])
    if len(known) >= LEAST_GOLD:
        answers = aggregate(table, gold=gold, seed=seed)
    else:
        answers = aggregate(table, truth=gold, seed=seed)
    assert isinstance(answers, Labels)  # nothing is saved
    assert answers.error is not None
    found = answers.error.measured
    loss = pd.Series(found.loss, index=answers.found.counted.tasks[found.counted])
    wrong: FloatArray = np.asarray(loss.reindex(data.tasks[counted]), dtype=np.float64)
    unstable = found.unstable * len(known) / len(counted)
    return _AtOnce(answers.found.method, count_errors(wrong, counted, unstable=unstable))


def _policy(
    name: str | None, recorded: bool, price: float | None, how: LsOlOptions, schedule: Any
) -> tuple[str, float]:
    """Who learns, if these options are given, and the price of a label."""
    own = {k: v for k, v in vars(how).items() if v != getattr(PLAIN, k)}
    own |= {} if schedule is None else {"schedule": schedule}
    who = name or ("em" if recorded and not own else "ls-ol")
    POLICIES[who]
    if who == "ls-ol":
        _refuse("is for the policy 'em': give that", price=price)
    else:
        _refuse("is for the policy 'ls-ol': give that", **own)
    return who, PRICE if price is None else checks.number("price", price, 0.0, 1e9)


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


def _prices(costs: float | str | Sequence[float] | None, workers: int) -> list[float] | None:
    if costs is None:
        return None
    series: Any = [costs] if checks.is_number(costs) else costs
    values = checks.listed("costs", series)
    if len(values) == 1:
        values *= workers
    if len(values) != workers or min(values) < 0:
        raise InputError(
            f"`costs` is {checks.show(costs)}: give one price of 0 or more, or one for each of "
            f"{workers}"
        )
    return values


def _simulated(result: Simulated, tasks: int) -> dict[str, Any]:
    """What simulated runs came to, means over them."""
    runs, end, names_ = result.runs, result.steps.iloc[-1], result.workers["worker"].tolist()
    parts = ["accuracy", "regret", "exploration_regret", "exploitation_regret", "cost_regret"]
    parts += [f"{part}_se" for part in parts]
    return {
        **{name: end[name] for name in (*parts, "crowd_accuracy", "best_accuracy", "explored")},
        "labels_bought": end["labels"],
        "labels_crowd": tasks * len(names_),
        "exploited": tasks - end["explored"],
        "new_testers": runs.new_testers[:, -1].mean(),
        "retests": runs.retests[:, -1].mean(),
        **picked(result, "learnt_accuracy", "bounds"),
        "best_set": [names_[i] for i in result.learnt],
        "best_set_share": result.learnt_share,
        "best_set_hindsight": [names_[i] for i in result.best],
        "removed": [
            {"run": run, "worker": names_[removal.worker], **picked(removal, "step", "error")}
            for run, removed in enumerate(runs.removed)
            for removal in removed
        ],
        "mean_skill": result.workers["skill"].mean(),
    }


def _simulated_notes(
    numbers: Mapping[str, Any], schedule: Schedule, vetting: Vetting | None
) -> list[str]:
    T, R = numbers["horizon"], numbers["runs"]
    notes = [
        "± one standard error over the runs; estimates are means, with 90 % of the runs between "
        "low and high."
    ]
    if numbers["policy"] == "ls-ol" and numbers["schedule"]["text"] == "theoretical":
        implied = numbers["schedule"]["exploration_steps"]
        notes.append(
            f"the theoretical schedule wants {schedule.d1(T):.3g} testers labelled "
            f"{schedule.d2(T):.3g} times by step {T}: {implied} of {T} steps explore"
            + (", it never exploits (but at step 1, as log 1 = 0)." if T - implied <= 1 else ".")
        )
    if vetting is not None:
        number = len(numbers["removed"])
        notes.append(f"{_vetted(vetting)} {number} workers in {R} runs, {number / R:.2f} a run.")
    if numbers["mean_skill"] <= 0.5:
        notes.append(
            f"mean skill is {numbers['mean_skill']:.3f}: more than ½ is assumed; below, the "
            "reverse is learnt."
        )
    return [*notes, f"from the labels of one run alone: {numbers['structure']['sentence']}"]


def _vetted(vetting: Vetting) -> str:
    return f"vetting ({vetting.variant}, below {vetting.error:g}) dropped"


def _steps(steps: pd.DataFrame) -> pd.DataFrame:
    """Steps with what has come so far: tasks, labels, labels of the full crowd."""
    return steps.assign(
        tasks=range(1, len(steps) + 1),
        labels=steps["received"].cumsum(),
        labels_crowd=steps["on_record"].cumsum(),
    )


def _recorded(run: Replayed, workers: pd.DataFrame) -> dict[str, Any]:
    """What recorded labels came to."""
    kinds, steps, names_ = run.learner.kinds, run.steps, workers["worker"].tolist()
    return {
        **picked(run, "labels_bought", "accuracy", "crowd_accuracy", "best_accuracy", "counts"),
        "best_set": [names_[i] for i in run.learner.best],
        "labels_crowd": steps["on_record"].sum(),
        "explored": kinds["new tester"] + kinds["retest"],
        "new_testers": kinds["new tester"],
        "retests": kinds["retest"],
        "exploited": kinds["exploit"],
        "agreement": steps["as_crowd"].mean(),
        "gold_tasks": steps["right"].notna().sum(),
        "regret": None,
        "removed": [
            {"worker": names_[removal.worker], **picked(removal, "step", "error")}
            for removal in run.learner.removed
        ],
        "pool": run.pool,
    }


def _recorded_notes(
    numbers: Mapping[str, Any], schedule: Schedule, vetting: Vetting | None
) -> list[str]:
    notes = [numbers["structure"]["sentence"]]
    if numbers["policy"] == "ls-ol" and not schedule.repeats:
        notes.append(
            "testers are labelled once, since a worker asked again would give the label on record "
            "again: what is learnt is who agrees with the majority, not who is right."
        )
    elif numbers["policy"] == "ls-ol":
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
        dropped = [
            f"{removal['worker']} after step {removal['step']}" for removal in numbers["removed"]
        ]
        notes.append(f"{_vetted(vetting)} {names(dropped, SHOWN) or 'nobody'}.")
    missing = numbers["counts"]["missing"] / max(numbers["counts"]["asked"], 1)
    if numbers["pool"] == "all" and missing > 0.2:
        notes.append(
            f"{100 * missing:.0f} % of those asked had no label on record: in a table as sparse as "
            "this the run says little."
        )
    return notes


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
    "baselines": "{baselines}",
    "agreement": "{agreement:.4f} with the majority of all labels on record (no gold)",
    "labels": "{asked} asked for, {missing} did not come in time; of late ones {late_used} used, "
    "{late_ignored} ignored",
    "tasks": "{unlabelled} without a label, which was drawn; {left} workers left before the end",
}
"""What is said of recorded labels: the accuracy with gold, the agreement without."""


def _lines(numbers: Mapping[str, Any]) -> list[tuple[str, str]]:
    values = {**numbers, **numbers.get("counts", {}), "best": _named(numbers["best_set"])}
    values["percent"] = 100 * numbers["labels_bought"] / max(numbers["labels_crowd"], 1)
    for name, form in FORMS.items():
        if numbers.get(name) is not None:
            error = numbers.get(f"{name}_se", math.nan)
            values[name] = shown(numbers[name], form)
            values[name] += "" if math.isnan(error) else f" ± {error:{form}}"
    templates = LINES
    if "counts" in numbers:
        idle = {"accuracy", "baselines"} if numbers["accuracy"] is None else {"agreement"}
        templates = {name: line for name, line in RECORDED_LINES.items() if name not in idle}
        values["baselines"] = "; ".join(
            f"{row['method']} {shown(row['accuracy'], '.4f')} ({row['labels']} labels)"
            for row in numbers["baselines"]
        )
    else:
        values["best_percent"] = 100 * numbers["best_set_share"]
        values["hindsight"] = _named(numbers["best_set_hindsight"])
    rows = [(name, line.format(**values)) for name, line in templates.items()]
    if numbers.get("bounds") is not None:
        rows.append(("bounds", _bounds(numbers["bounds"], numbers["horizon"])))
    return rows


def _bounds(bounds: Mapping[str, Any], T: int) -> str:
    if "regret" not in bounds or not bounds["holds"]:
        return f"{bounds['source']} void: {bounds['why']}"
    sentence = f"{bounds['source']}: regret at most {bounds['regret']:.3g}"
    if bounds["cost_regret"] is not None:
        sentence += f", cost regret at most {bounds['cost_regret']:.3g}"
    idle = f"; no more than {T} is possible, so that it is idle"
    return sentence + ("" if bounds["says_something"] else idle)


def _named(workers: Sequence[Any]) -> str:
    return f"{len(workers)} ({names(workers, SHOWN)})" if workers else "nobody"


def _share(value: Any) -> str:
    """Write whether, or in which share of the runs."""
    return shown(value) if isinstance(value, bool) else f"{100 * value:.0f} %"


COLUMNS: Columns = {
    "worker": ("worker", ""),
    "estimate": ("estimate p̂", ".3f"),
    "estimate_low": ("low", ".3f"),
    "estimate_high": ("high", ".3f"),
    "skill": ("skill", ".3f"),
    "consensus": ("with majority", ".3f"),
    "bought": ("labels", ""),
    "testers": ("testers", ""),
    "in_best_set": ("in best set", _share),
    "removed": ("dropped", _share),
    "removed_at": ("dropped at", ""),
}
"""Columns of the table of workers that a person reads."""
IF_ANY = ("skill", "testers", "removed", "removed_at")
"""Columns that are shown where there is something in them."""
