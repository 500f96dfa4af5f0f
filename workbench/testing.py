"""Conformance: what every aggregator, policy, rule, learner and study has to keep to.

For a file of one's own as for what comes with the workbench. Each check runs the thing on small
crowds and raises `AssertionError` with one line that names the contract that was broken.

    from workbench.testing import check_aggregator
    check_aggregator(first_vote)
"""

from __future__ import annotations

import functools
import inspect
import json
import math
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numpy as np
import pandas as pd

from workbench.aggregation import Aggregator
from workbench.aggregation.posteriors import Earlier
from workbench.aggregation.voting import Aggregate
from workbench.assignment.policies import ArrivingWorker, AssignmentPolicy, Setting, run_policy
from workbench.base.arrays import FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.base.registry import in_one_line
from workbench.crowd.simulate import dense_votes, one_coin_labels
from workbench.crowd.votes import Votes
from workbench.learning.learners import Learner
from workbench.selection.rules import Rule, RuleOptions
from workbench.selection.scores import scores
from workbench.studies.analysis import conclude
from workbench.studies.study import RESERVED, Study, TrialEnded
from workbench.studies.trials import Trial, plan

SEEDS = range(2)
P = ParamSpec("P")
R = TypeVar("R")


def _said(check: Callable[P, R]) -> Callable[P, R]:
    """Let a check name, in one line, whatever stops the thing that it runs."""

    @functools.wraps(check)
    def run(*args: P.args, **options: P.kwargs) -> R:
        try:
            return check(*args, **options)
        except AssertionError:
            raise
        except NotImplementedError as error:
            method = traceback.extract_tb(error.__traceback__)[-1].name
            raise AssertionError(f"it has no method `{method}` of its own: write it") from error
        except (Exception, SystemExit) as error:
            line = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{Path(line.filename).name}, line {line.lineno}"
            raise AssertionError(f"it fails ({place}): {in_one_line(error)}") from error

    return run


@_said
def check_aggregator(aggregator: Aggregator, *, best: float = 0.7) -> None:
    """Check an aggregator: same seed, same labels; names and order of the votes play no part.

    It is to return an `Aggregate` of the right shapes, leave the votes as they are, take tasks
    without votes and a single class, give the same labels where votes, workers or tasks come in
    another order and where classes are renamed (ties aside), and be right on most tasks of an
    easy crowd. One with a keyword `earlier` is to keep known classes and to go on from its own fit.

    Parameters
    ----------
    aggregator
        (votes, *, seed, …) → `Aggregate`; with a keyword `skill`, true skills are given.
    best
        Least share of right labels on an easy crowd of 15 workers of skill 0.8.

    Raises
    ------
    AssertionError
        A contract is broken: one line.

    Examples
    --------
    >>> from workbench.aggregation.voting import majority
    >>> from workbench.testing import check_aggregator
    >>> check_aggregator(majority)
    """
    for seed in SEEDS:
        for classes in (2, 3):
            votes, truth, skill = _votes(seed, classes)
            found = _labelled(aggregator, votes, skill)
            again = _labelled(aggregator, votes, skill)
            _hold(np.array_equal(found.label, again.label), "the same seed gives other labels")
            sure = ~(found.tied | found.unlabelled)
            for what in ("votes", "tasks", "workers", "classes"):
                other, order = _rearranged(votes, what, seed)
                there = _labelled(aggregator, other, skill[order["workers"]])
                label = order["classes"][there.label[np.argsort(order["tasks"])]]
                same = (label == found.label)[sure].all()
                _hold(same, f"other labels when {what} come in another order")
            right = float((found.label == truth)[sure].mean())
            _hold(right >= best, f"{right:.0%} of an easy crowd's tasks labelled rightly")
            if "earlier" in inspect.signature(aggregator).parameters:
                _check_earlier(aggregator, votes, found)
    zero = np.zeros(1, dtype=np.int64)
    alone = Votes(zero, zero, zero, np.arange(2), np.arange(1), np.array(["only"]))
    found = _labelled(aggregator, alone, np.array([0.9]))
    _hold(found.label.tolist() == [0, 0], "a single class is not chosen")
    _hold(found.unlabelled.tolist() == [False, True], "a task without votes is not `unlabelled`")


def _check_earlier(aggregator: Aggregator, votes: Votes, found: Aggregate) -> None:
    """Known classes are kept, even wrong ones, and its own fit is a start for the same labels."""
    known = np.where(np.arange(len(votes.tasks)) < 5, (found.label + 1) % len(votes.classes), -1)
    told = aggregator(votes, seed=5, earlier=Earlier(known))
    _hold(np.array_equal(told.label[:5], known[:5]), "a known class is not kept")
    again = aggregator(votes, seed=5, earlier=Earlier(fit=found.info["fit"]))
    same = (again.label == found.label)[~found.tied].mean()
    _hold(same > 0.9, "a start from its own fit ends elsewhere")


def _labelled(aggregator: Aggregator, votes: Votes, skill: FloatArray) -> Aggregate:
    before = [array.copy() for array in vars(votes).values()]
    skilled = "skill" in inspect.signature(aggregator).parameters
    more = {"skill": skill.copy(), "classes": max(2, len(votes.classes))} if skilled else {}
    found: Aggregate = aggregator(votes, seed=5, **more)
    _hold(isinstance(found, Aggregate), "no Aggregate is returned")
    after = vars(votes).values()
    unchanged = all(np.array_equal(a, b) for a, b in zip(before, after, strict=True))
    _hold(unchanged, "the votes were changed")
    n, m = len(votes.tasks), len(votes.workers)
    for name in ("label", "score", "tied", "unlabelled"):
        _hold(getattr(found, name).shape == (n,), f"`{name}` is not of shape ({n},)")
    _hold(found.label.dtype.kind == "i", "labels are no indices of classes")
    within = (found.label >= 0) & (found.label < max(1, len(votes.classes)))
    _hold(within.all(), "a label is no index of a class")
    for name, size in (("confidence", n), ("skill", m), ("weight", m)):
        given = np.shape(found.info.get(name, np.empty(size)))
        _hold(given == (size,), f"info[{name!r}] is not of shape ({size},)")
    return found


def _votes(seed: int, classes: int) -> tuple[Votes, IntArray, FloatArray]:
    """Votes of 15 workers of skill 0.7 to 0.9 on 40 tasks, a fifth of them missing."""
    rng = np.random.default_rng(seed)
    truth, skill = rng.integers(0, classes, 40), rng.uniform(0.7, 0.9, 15)
    labels = one_coin_labels(skill, truth, classes, seed=seed)
    return dense_votes(np.where(rng.random(labels.shape) < 0.2, -1, labels), classes), truth, skill


def _rearranged(votes: Votes, what: str, seed: int) -> tuple[Votes, dict[str, IntArray]]:
    """The same votes, one thing in another order; and which of each comes first, second, …."""
    size = {"votes": len(votes), "tasks": len(votes.tasks), "workers": len(votes.workers)}
    size["classes"] = len(votes.classes)
    order = {kind: np.arange(count) for kind, count in size.items()}
    order[what] = np.random.default_rng(seed).permutation(order[what])
    rows = order["votes"]
    return (
        Votes(
            np.argsort(order["tasks"])[votes.task[rows]],
            np.argsort(order["workers"])[votes.worker[rows]],
            np.argsort(order["classes"])[votes.label[rows]],
            votes.tasks[order["tasks"]],
            votes.workers[order["workers"]],
            votes.classes[order["classes"]],
        ),
        order,
    )


@_said
def check_policy(policy: type[AssignmentPolicy]) -> None:
    """Check an assignment policy: same seed, same tasks; capacity and availability are kept to.

    It is run on crowds with equal prices, with prices of their own and where workers may do some
    tasks only; it is to leave what it is told as it is, to give a worker without capacity nothing,
    and to buy something. Another unit of money is to change nothing.

    Parameters
    ----------
    policy
        A subclass of `AssignmentPolicy`.

    Raises
    ------
    AssertionError
        A contract is broken: one line.

    Examples
    --------
    >>> from workbench.assignment.policies import Greedy
    >>> from workbench.testing import check_policy
    >>> check_policy(Greedy)
    """
    for name in ("needs", "promise"):
        _hold(isinstance(getattr(policy, name), str), f"`{name}` is no text")
    bought = 0
    for seed in SEEDS:
        for priced, masked in ((False, False), (True, False), (False, True)):
            setting, workers = _arrivals(seed, priced=priced, masked=masked)
            try:
                tasks = _assigned(policy, setting, workers)
            except InputError:
                continue  # A crowd that cannot cover the tasks, where a policy must know it.
            again = _assigned(policy, setting, workers)
            _hold(tasks == again, "the same seed gives other tasks")
            if priced:
                dear = _assigned(policy, *_arrivals(seed, priced=True, masked=masked, unit=64.0))
                _hold(tasks == dear, "another unit of money gives other tasks")
            bought += sum(map(len, tasks))
    _hold(bought > 0, "it never buys a label")


def _arrivals(
    seed: int, *, priced: bool, masked: bool, unit: float = 1.0
) -> tuple[Setting, tuple[ArrivingWorker, ...]]:
    """30 tasks of two types, 10 preliminary workers and 25 more, one of them without capacity."""
    rng = np.random.default_rng(seed)
    everyone = tuple(
        ArrivingWorker(
            rng.uniform(0.5, 1, 2),
            0 if at == 12 else int(rng.integers(4, 13)),
            rng.integers(1, 4, 2).astype(np.float64) * unit if priced else None,
            rng.random(30) < 0.7 if masked else None,
        )
        for at in range(35)
    )
    return Setting(np.arange(30) % 2, 0.3, 25, everyone[:10], everyone[10:]), everyone[10:]


def _assigned(
    policy: type[AssignmentPolicy], setting: Setting, workers: tuple[ArrivingWorker, ...]
) -> list[list[int]]:
    told = [np.copy(worker.skill) for worker in workers]
    try:
        run = run_policy(policy(setting, seed=7), workers)
    except NotImplementedError:
        raise
    except RuntimeError as broken:
        raise AssertionError(f"it cannot be run: {broken}") from None
    unchanged = all(np.array_equal(a, w.skill) for a, w in zip(told, workers, strict=True))
    _hold(unchanged, "the workers' skills were changed")
    within = ((run.task >= 0) & (run.task < len(setting.task_class))).all()
    _hold(within, "a task is named that is not there")
    return [sorted(run.task[run.worker == j].tolist()) for j in range(len(workers))]


@_said
def check_rule(rule: Rule) -> None:
    """Check a selection rule: at most K workers, eligible ones, none twice; same seed, same ones.

    Workers without control answers are never chosen, and a larger budget chooses no fewer.

    Raises
    ------
    AssertionError
        A contract is broken: one line.

    Examples
    --------
    >>> from workbench.selection import RULES
    >>> from workbench.testing import check_rule
    >>> check_rule(RULES["selected"].call)
    """
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        answered = np.where(np.arange(12) < 2, 0, 10)
        known = scores(rng.binomial(answered, rng.uniform(0.4, 1, 12)), answered)
        before = {name: np.copy(value) for name, value in vars(known).items()}
        sizes = []
        for budget in (1, 3, 7, 12):
            chosen = rule(known, budget, RuleOptions(seed=seed)).chosen
            again = rule(known, budget, RuleOptions(seed=seed)).chosen
            _hold(np.array_equal(chosen, again), "the same seed chooses other workers")
            _hold(len(chosen) <= budget, f"{len(chosen)} workers are chosen of {budget}")
            _hold(len(set(chosen.tolist())) == len(chosen), "a worker is chosen twice")
            _hold(known.eligible[chosen].all(), "a worker without answers is chosen")
            sizes.append(len(chosen))
        _hold(sizes == sorted(sizes), "a larger budget chooses fewer workers")
        kept = all(
            np.array_equal(before[k], v, True) for k, v in vars(known).items() if k != "prior"
        )
        _hold(kept, "the scores were changed")


@_said
def check_learner(make: Callable[[int], Learner], workers: int = 5, *, tasks: int = 40) -> None:
    """Check a learner: it asks, is told and labels, and the same seed asks the same.

    Parameters
    ----------
    make
        Makes a learner of `workers` workers from a seed.

    Raises
    ------
    AssertionError
        A contract is broken: one line.

    Examples
    --------
    >>> from workbench.learning.learners import Thompson
    >>> from workbench.testing import check_learner
    >>> check_learner(lambda seed: Thompson(5, seed=seed))
    """
    labels = np.random.default_rng(0).integers(0, 2, (tasks, workers))
    told = []
    for learner in (make(3), make(3)):
        story = []
        for task, given in enumerate(labels):
            ask = learner.ask(task)
            asked = np.asarray(ask.workers)
            _hold(len(asked) > 0, "nobody is asked")
            _hold(len(set(asked.tolist())) == len(asked), "a worker is asked twice")
            _hold(((asked >= 0) & (asked < workers)).all(), "a worker is asked who is not there")
            before = given.copy()
            answer = learner.tell({int(j): int(given[j]) for j in asked})
            _hold(np.array_equal(before, given), "the labels were changed")
            _hold(answer.label in (0, 1), "the label is neither 0 nor 1")
            story.append((asked.tolist(), int(answer.label)))
            p = learner.estimates
            _hold(p.shape == (workers,) and ((p >= 0) & (p <= 1)).all(), "estimates are no skills")
        told.append(story)
    _hold(told[0] == told[1], "the same seed asks otherwise")


@_said
def check_study(study: Study, *, trials: int | None = None) -> pd.DataFrame:
    """Check a study: its smoke trials run, repeat to the bit, and are analysed, failed ones too.

    Records are flat and hold what JSON can hold.

    Parameters
    ----------
    study
        The study.
    trials
        How many of the smoke size's trials to run, spread over the sweep; None for all, once.
        An analysis may need all of them.

    Returns
    -------
    DataFrame
        The trials, a row each, for further checks.

    Raises
    ------
    AssertionError
        A contract is broken: one line.

    Examples
    --------
    >>> from workbench.studies.catalog import studies
    >>> from workbench.testing import check_study
    >>> len(check_study(studies()["toy-example"].call, trials=2))
    2
    """
    listed = list(plan(study, study.sizes["smoke"].sweep, 1))
    chosen = listed[:: math.ceil(len(listed) / trials)] if trials else listed
    rows = [_row(study, trial) for trial in chosen]
    steady = [name for name in rows[0] if name not in study.volatile]
    again = _row(study, chosen[0])
    _hold(
        all(again.get(name) == rows[0][name] for name in steady),
        "the same trial run again gives another record",
    )
    table = pd.DataFrame(rows).replace({None: np.nan}).infer_objects()
    failed = table[[*study.parameters, "repetition", "status"]].assign(status="error")
    for what, some in (("", table), (" of failed trials", failed)):
        try:
            found = conclude(study, some)
        except Exception as error:
            said = f"{type(error).__name__}: {error}"
            raise AssertionError(f"the analysis{what} fails: {said}") from error
        _hold(len(found.findings) > 0, f"the analysis{what} has no finding")
        names = [chart.name for chart in found.charts]
        _hold(len(set(names)) == len(names), f"two charts{what} have one name")
    return table


def _row(study: Study, trial: Trial) -> dict[str, Any]:
    params, status = dict(trial.params), "ok"
    try:
        record: Mapping[str, Any] = study.trial(params, trial.streams)
    except TrialEnded as ended:
        record, status = ended.record, ended.status
    _hold(params == dict(trial.params), "a trial changed its parameters")
    taken = (RESERVED | set(study.parameters)) & set(record)
    _hold(not taken, f"the record has a field {min(taken, default='')!r}, a column already")
    plain = {k: v.item() if isinstance(v, np.generic) else v for k, v in record.items()}
    plain = {k: None if isinstance(v, float) and math.isnan(v) else v for k, v in plain.items()}
    for name, value in plain.items():
        _hold(
            value is None or isinstance(value, bool | int | float | str),
            f"the record's {name} is a {type(value).__name__}, no scalar",
        )
    try:
        json.dumps(plain, allow_nan=False)
    except ValueError:
        raise AssertionError("the record holds an infinite number") from None
    return {**trial.params, "repetition": trial.repetition, "status": status, **plain}


def _hold(holds: object, broken: str) -> None:
    if not holds:
        raise AssertionError(broken)
