"""Conformance (floor 5): what everything that can be added has to keep to, a claim as well.

For a file of one's own as for what comes with the workbench. Each check runs the thing on small
crowds and raises `AssertionError` with one line that names the contract that was broken.

    from workbench.testing import check_aggregator
    check_aggregator(first_vote)
"""

from __future__ import annotations

import copy
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
from workbench.assignment.policies import (
    ArrivingWorker,
    AssignmentPolicy,
    Setting,
    WrongChoiceError,
    run_policy,
)
from workbench.base.arrays import FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.base.registry import in_one_line
from workbench.collection.policy import Goal, Policy
from workbench.collection.pool import Ledger, Questions
from workbench.collection.simulation import simulated
from workbench.crowd.datasets import Dataset, counts
from workbench.crowd.simulate import dense_votes, one_coin_labels
from workbench.crowd.votes import Votes
from workbench.learning.learners import Learner
from workbench.selection.rules import Rule, RuleOptions
from workbench.selection.scoring import scores
from workbench.studies.charting import check_chart
from workbench.studies.claiming import Claim, Ruling
from workbench.studies.default_analysis import conclude
from workbench.studies.study import RESERVED, Study, TrialEnded
from workbench.studies.trials import Trial, plan

SEEDS = range(2)
P = ParamSpec("P")
R = TypeVar("R")


def _faults_in_one_line(check: Callable[P, R]) -> Callable[P, R]:
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


@_faults_in_one_line
def check_aggregator(aggregator: Aggregator, *, best: float = 0.7) -> None:
    """Check an aggregator: same seed, same labels; names and order of the votes play no part.

    It is to return an `Aggregate` of the right shapes, leave the votes as they are, take tasks
    without votes and a single class, give the same labels where votes, workers or tasks come in
    another order and where classes are renamed (ties aside), and be right on most tasks of an
    easy crowd. One with a keyword `earlier` is to keep known classes and to go on from its own fit.

    Parameters
    ----------
    aggregator
        ``(votes, *, seed, …) → Aggregate``; with a keyword `skill` it is given true skills.
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
            answers = _labelled(aggregator, votes, skill)
            again = _labelled(aggregator, votes, skill)
            _hold(np.array_equal(answers.label, again.label), "the same seed gives other labels")
            sure = ~(answers.tied | answers.unlabelled)
            for what in ("votes", "tasks", "workers", "classes"):
                other, order = _rearranged(votes, what, seed)
                rearranged = _labelled(aggregator, other, skill[order["workers"]])
                label = order["classes"][rearranged.label[np.argsort(order["tasks"])]]
                same = (label == answers.label)[sure].all()
                _hold(same, f"other labels when {what} come in another order")
            right = float((answers.label == truth)[sure].mean())
            _hold(right >= best, f"{right:.0%} of an easy crowd's tasks labelled rightly")
            if "earlier" in inspect.signature(aggregator).parameters:
                _check_earlier(aggregator, votes, answers)
    zero = np.zeros(1, dtype=np.int64)
    alone = Votes(zero, zero, zero, np.arange(2), np.arange(1), np.array(["only"]))
    answers = _labelled(aggregator, alone, np.array([0.9]))
    _hold(answers.label.tolist() == [0, 0], "a single class is not chosen")
    _hold(answers.unlabelled.tolist() == [False, True], "a task without votes is not `unlabelled`")


def _check_earlier(aggregator: Aggregator, votes: Votes, answers: Aggregate) -> None:
    """Known classes are kept, even wrong ones, and its own fit is a start for the same labels."""
    classes = np.where(
        np.arange(len(votes.tasks)) < 5, (answers.label + 1) % len(votes.classes), -1
    )
    result = aggregator(votes, seed=5, earlier=Earlier(classes))
    _hold(np.array_equal(result.label[:5], classes[:5]), "a known class is not kept")
    again = aggregator(votes, seed=5, earlier=Earlier(fit=answers.info["fit"]))
    same = (again.label == answers.label)[~answers.tied].mean()
    _hold(same > 0.9, "a start from its own fit ends elsewhere")


def _labelled(aggregator: Aggregator, votes: Votes, skill: FloatArray) -> Aggregate:
    before = copy.deepcopy(votes)
    skilled = "skill" in inspect.signature(aggregator).parameters
    more = {"skill": skill.copy(), "classes": max(2, len(votes.classes))} if skilled else {}
    answers: Aggregate = aggregator(votes, seed=5, **more)
    _hold(isinstance(answers, Aggregate), "no Aggregate is returned")
    pairs = zip(vars(before).values(), vars(votes).values(), strict=True)
    unchanged = all(np.array_equal(a, b) for a, b in pairs)
    _hold(unchanged, "the votes were changed")
    n, m = len(votes.tasks), len(votes.workers)
    for name in ("label", "score", "tied", "unlabelled"):
        _hold(getattr(answers, name).shape == (n,), f"`{name}` is not of shape ({n},)")
    _hold(answers.label.dtype.kind == "i", "labels are no indices of classes")
    within = (answers.label >= 0) & (answers.label < max(1, len(votes.classes)))
    _hold(within.all(), "a label is no index of a class")
    for name, size in (("confidence", n), ("skill", m), ("weight", m)):
        shape = np.shape(answers.info.get(name, np.empty(size)))
        _hold(shape == (size,), f"info[{name!r}] is not of shape ({size},)")
    return answers


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


@_faults_in_one_line
def check_policy(policy: type[AssignmentPolicy]) -> None:
    """Check an assignment policy: same seed, same tasks; capacity and availability are kept to.

    It is run on crowds with equal prices, with prices of their own and where workers may do some
    tasks only; it is to leave what it is given as it is, to give a worker without capacity nothing,
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
                other = _assigned(policy, *_arrivals(seed, priced=True, masked=masked, unit=64.0))
                _hold(tasks == other, "another unit of money gives other tasks")
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
    skills = [np.copy(worker.skill) for worker in workers]
    try:
        run = run_policy(policy(setting, seed=7), workers)
    except NotImplementedError:
        raise
    except WrongChoiceError as broken:
        raise AssertionError(f"it cannot be run: {broken}") from None
    unchanged = all(np.array_equal(a, w.skill) for a, w in zip(skills, workers, strict=True))
    _hold(unchanged, "the workers' skills were changed")
    return [sorted(run.task[run.worker == j].tolist()) for j in range(len(workers))]


@_faults_in_one_line
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
        pool = scores(rng.binomial(answered, rng.uniform(0.4, 1, 12)), answered)
        before = {name: np.copy(value) for name, value in vars(pool).items()}
        sizes = []
        for budget in (1, 3, 7, 12):
            chosen = rule(pool, budget, RuleOptions(seed=seed)).chosen
            again = rule(pool, budget, RuleOptions(seed=seed)).chosen
            _hold(np.array_equal(chosen, again), "the same seed chooses other workers")
            _hold(len(chosen) <= budget, f"{len(chosen)} workers are chosen of {budget}")
            _hold(len(set(chosen.tolist())) == len(chosen), "a worker is chosen twice")
            _hold(pool.eligible[chosen].all(), "a worker without answers is chosen")
            sizes.append(len(chosen))
        _hold(sizes == sorted(sizes), "a larger budget chooses fewer workers")
        kept = all(
            np.array_equal(before[k], v, True) for k, v in vars(pool).items() if k != "prior"
        )
        _hold(kept, "the scores were changed")


@_faults_in_one_line
def check_learner(make: Callable[[int], Learner], workers: int = 5, *, tasks: int = 40) -> None:
    """Check a learner: it asks, gets labels and labels tasks, and the same seed asks the same.

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
    stories = []
    for learner in (make(3), make(3)):
        story = []
        for task, answers in enumerate(labels):
            ask = learner.ask(task)
            asked = np.asarray(ask.workers)
            _hold(len(asked) > 0, "nobody is asked")
            _hold(len(set(asked.tolist())) == len(asked), "a worker is asked twice")
            _hold(((asked >= 0) & (asked < workers)).all(), "a worker is asked who is not there")
            before = answers.copy()
            answer = learner.tell({int(j): int(answers[j]) for j in asked})
            _hold(np.array_equal(before, answers), "the labels were changed")
            _hold(answer.label in (0, 1), "the label is neither 0 nor 1")
            story.append((asked.tolist(), int(answer.label)))
            p = learner.estimates
            _hold(p.shape == (workers,) and ((p >= 0) & (p <= 1)).all(), "estimates are no skills")
        stories.append(story)
    _hold(stories[0] == stories[1], "the same seed asks otherwise")


@_faults_in_one_line
def check_collecting_policy(policy: type[Policy], *, gold: int = 4, visits: bool = False) -> None:
    """Check a collecting policy: same seed, same questions; it ends, and goes on once saved.

    It collects from a small crowd to an error and for a budget, of anybody and of workers who
    arrive. Its belief is to have a posterior of each task, which a `next` that asks nothing
    leaves as it is.

    Parameters
    ----------
    gold
        Gold tasks that the crowd has; 0 for a policy that takes none.
    visits
        Whether it takes workers as they arrive alone, and an error to reach.

    Raises
    ------
    AssertionError
        A contract is broken: one line.

    Examples
    --------
    >>> from workbench.collection import POLICIES
    >>> from workbench.testing import check_collecting_policy
    >>> check_collecting_policy(POLICIES["uncertain"].call)
    """
    settings = [(None, True)] if visits else [(None, False), (40.0, False), (40.0, True)]
    for total, arriving in settings:
        collect = functools.partial(_collected, policy, gold, total, arriving)
        whole = collect()
        _hold(whole == collect(), "the same seed asks otherwise")
        saved = collect(interrupted=len(whole) // 2)
        _hold(saved == whole, "it asks otherwise after it was saved and taken up again")


def _collected(
    policy: type[Policy], gold: int, total: float | None, arriving: bool, interrupted: int = -1
) -> list[list[tuple[int, int]]]:
    """Pairs asked about, step by step; at one of them the policy is made anew, from its state."""
    skill = np.linspace(0.6, 0.95, 8)
    pool, answers = simulated(skill, 12, capacity=12, gold=gold, seed=1)
    ledger, goal = Ledger(pool, total, repeats=policy.repeats), Goal(None if total else 0.2)
    deciding = policy(ledger, goal, 3)
    steps: list[list[tuple[int, int]]] = []
    for worker in [*range(8)] if arriving else [None]:
        while len(ask := deciding.next(worker)):
            pairs = list(zip(ask.task.tolist(), ask.worker.tolist(), strict=True))
            steps.append(pairs)
            _hold(len(steps) <= 1000, "a thousand steps on twelve tasks, and it goes on asking")
            _hold(len(set(pairs)) == len(pairs), "a pair is asked about twice in one step")
            alone = arriving and not policy.streams
            _hold(not alone or {j for _, j in pairs} == {worker}, "another worker is asked")
            ledger.ask(ask)
            _answer(deciding, ledger, ask, answers.of(ask))
            if len(steps) == interrupted:
                state = json.loads(json.dumps(deciding.state(), allow_nan=False))
                deciding = policy(ledger, goal, 3)
                deciding.resume(state)
        _hold_belief(deciding, len(pool.tasks), len(pool.classes))
        before = deciding.belief().posterior.copy()
        _hold(len(deciding.next(worker)) == 0, "asked again, it has a question after all")
        after = deciding.belief().posterior
        _hold(np.array_equal(before, after), "a `next` that asks nothing changes the belief")
    return steps


def _answer(policy: Policy, ledger: Ledger, ask: Questions, label: IntArray) -> None:
    before = label.copy()
    ledger.tell(ask, label)
    policy.told(ask, label)
    _hold(np.array_equal(before, label), "the labels were changed")


def _hold_belief(policy: Policy, tasks: int, classes: int) -> None:
    belief = policy.belief()
    shape = belief.posterior.shape
    _hold(shape == (tasks, classes), f"the posterior is of shape {shape}, not ({tasks}, {classes})")
    sums = belief.posterior.sum(axis=1)
    _hold(np.allclose(sums, 1.0), "a row of the posterior does not sum to 1")
    _hold(belief.closed.shape == (tasks,), "`closed` does not have an entry for each task")


@_faults_in_one_line
def check_dataset(dataset: Dataset) -> None:
    """Check a data set of one's own: names are text, gold is of tasks with labels, counts agree.

    Raises
    ------
    AssertionError
        A contract is broken: one line.

    Examples
    --------
    >>> import pandas as pd
    >>> from workbench.crowd.datasets import Dataset
    >>> from workbench.testing import check_dataset
    >>> labels = pd.DataFrame({"task": ["a", "b"], "worker": ["x", "x"], "label": ["1", "0"]})
    >>> gold = pd.Series(["1"], index=["a"])
    >>> check_dataset(Dataset.own("two", "Two tasks", lambda: (labels, gold)))
    """
    first, again = dataset.reader(), dataset.reader()
    labels, gold = first
    missing = {"task", "worker", "label"} - set(labels.columns)
    _hold(not missing, f"the labels have no column {min(missing, default='')!r}")
    for name in ("task", "worker", "label"):
        text = labels[name].map(lambda value: isinstance(value, str)).all()
        _hold(text, f"the column {name} holds what is no text, or lacks some")
    _hold(gold.map(lambda value: isinstance(value, str)).all(), "a true label is no text")
    _hold(gold.index.is_unique, "a task has two true labels")
    strange = set(gold.index) - set(labels["task"])
    _hold(not strange, f"gold of a task without labels: {min(strange, default='')!r}")
    _hold(counts(labels) == dataset.counts, f"`counts` is not that of the labels: {counts(labels)}")
    same = labels.equals(again[0]) and gold.equals(again[1])
    _hold(same, "read again, it is another crowd")


@_faults_in_one_line
def check_claim(decide: Callable[..., Ruling], *trials: pd.DataFrame) -> Ruling:
    """Check a claim: it rules by the trials, whatever their order.

    Parameters
    ----------
    decide
        A function under `@claim`.
    trials
        Trials to decide it by, a frame each of its studies; `check_study` gives some.

    Returns
    -------
    Ruling
        What it says of these trials.

    Raises
    ------
    AssertionError
        A contract is broken: one line.
    """
    claim = getattr(decide, "claim", None)
    _hold(isinstance(claim, Claim), "it is no function under `@claim`")
    assert isinstance(claim, Claim)
    _hold(claim.id and claim.source and claim.statement, "it lacks id, source or statement")
    ruling = claim(*(frame.copy() for frame in trials))
    _hold(isinstance(ruling, Ruling), "it gives no `Ruling`")
    _hold(ruling.figures, "the ruling names no figures")
    shuffled = claim(*(frame.sample(frac=1.0, random_state=0) for frame in trials))
    _hold(shuffled.word == ruling.word, "trials in another order give another ruling")
    return ruling


@_faults_in_one_line
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
            analysis = conclude(study, some)
            for chart in analysis.charts:
                check_chart(chart)
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            raise AssertionError(f"the analysis{what} fails: {reason}") from error
        _hold(len(analysis.findings) > 0, f"the analysis{what} has no finding")
        names = [chart.name for chart in analysis.charts]
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
