"""One method on one recorded crowd: what it bought, and how wrong it is on gold that was held out.

Half of the tasks with gold, drawn anew in each trial, are *controls*: workers are examined on them,
by at most `EXAM` answers each, and no method labels them. The other tasks are *open*, those of them
with gold are scored, and every method of every kind meets the same open tasks, the same exam and,
at b labels per task, the same labels: the first b of each task in an order drawn at random.

- An aggregator that weighs by skill has the exam's, and labels the open tasks by these b labels; a
  majority beside it. Those that know no gold are compared on whole crowds (`whole_crowds`).
- A selection rule chooses at most b of the workers on record for each task by the exam, never all;
  they vote with weights Lŵ − 1 (Li, Liu 2015). Its labels are those of the chosen.
- A learner meets the open tasks one after the other, and asks among those b workers.
- A collecting policy has the money of b labels per task and chooses among all labels on record; one
  with a rule to stop by may leave money, and is charged for what it bought.

An exam is paid once and helps with every later task: who uses it is charged, for each label of a
task, the exam of all workers of the crowd spread over the crowd's tasks that are no controls.
A task keeps at most `MOST` labels. Of a pair that is on record twice the first label counts.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from workbench.aggregation import AGGREGATORS
from workbench.aggregation.voting import weighted_majority
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.base.registry import Registry, plugins
from workbench.base.seeds import Seed, stream
from workbench.collection import POLICIES as COLLECTING
from workbench.crowd.datasets import DATASETS, class_datasets
from workbench.crowd.votes import Votes
from workbench.learning.learners import LEARNERS
from workbench.learning.policies import POLICIES as LEARNING
from workbench.learning.recorded_labels import Recorded, replay
from workbench.learning.schedule import practical
from workbench.ranking.collecting import bought, replayed
from workbench.ranking.recorded_crowds import STAND_IN, Recording, places, recorded, simulated
from workbench.selection import RULES
from workbench.selection.rules import RuleOptions
from workbench.selection.scoring import Scores, scores
from workbench.studies.study import Params, Record, TrialEnded
from workbench.studies.trials import Streams

KINDS: dict[str, tuple[Registry[Any], ...]] = {
    "aggregator": (AGGREGATORS,),
    "rule": (RULES,),
    "learner": (LEARNING, LEARNERS),
    "policy": (COLLECTING,),
}
"""Kinds of methods, and the registries that list them."""
LEVELS = ("1", "2", "3", "5", "8", "all")
"""Labels a task, b."""
LEARNT = ("2", "5", "all")
"""Those of learners, who take the longest."""
MOST = 40
"""Labels that an open task keeps at most, drawn at random."""
EXAM = 20
"""Most control answers of a worker."""
SCHEDULE = practical(30, 0)
"""When LS_OL explores on recorded labels, as `workbench learn` has it."""
WHOLE = 0.9
"""Share of all pairs that are on record where everybody labelled everything, or nearly so."""


def methods(*kinds: str) -> list[str]:
    """Name all methods of some kinds, "aggregator/majority"; those of a user's file by its digest.

    Trials of a file that has changed since are thus other trials.
    """
    return [
        f"{kind}/{marked(name, registry)}"
        for kind in kinds or KINDS
        for registry in KINDS[kind]
        for name in registry
        if kind != "aggregator" or name == "majority" or weighs_by_skill(name)
    ]


def weighs_by_skill(name: str) -> bool:
    """Whether an aggregator wants skills, which an exam has to tell."""
    return "skill" in inspect.signature(AGGREGATORS[name].call).parameters


def uses_exam(kind: str, name: str) -> bool:
    """Whether a method uses what an exam says of workers."""
    by_skill = kind == "aggregator" and name in AGGREGATORS and weighs_by_skill(name)
    return kind == "rule" or by_skill or (kind == "learner" and name in LEARNERS)


def crowds() -> list[str]:
    """Name all recorded crowds, as `methods` does."""
    return [marked(name, DATASETS) for name in class_datasets()]


def marked(name: str, registry: Registry[Any]) -> str:
    """A name, and of a user's own also which version of the user's files."""
    if name not in registry.from_files():
        return name
    return "@".join([name, *(plugin.digest[:8] for plugin in plugins())])


def plain(name: str) -> str:
    """The name without the version."""
    return name.partition("@")[0]


@dataclass(frozen=True, eq=False)
class Board:
    """What every method of a trial meets.

    Attributes
    ----------
    votes
        Labels of the n open tasks by the m workers on record there, by task, each task's in an
        order drawn at random.
    place
        Of each label among its task's, from 0.
    truth
        Class of each open task, −1 without gold, shape (n,).
    scores
        Scores of the m workers by their exam.
    exam
        Control answers of all of them.
    exam_each
        Control answers of all workers of the crowd, for each of its tasks that is no control.
    """

    votes: Votes
    place: IntArray
    truth: IntArray
    scores: Scores
    exam: int
    exam_each: float

    def first(self, most: float) -> Votes:
        """The first labels of each task."""
        return of_votes(self.votes, self.place < most)

    def levels(self) -> dict[str, float]:
        """Labels a task at each level; a level beyond what any task has is that of all."""
        longest = int(self.place.max()) + 1
        finite = {level: float(level) for level in LEVELS[:-1] if int(level) < longest}
        return finite | {LEVELS[-1]: np.inf}


def of_votes(votes: Votes, keep: BoolArray) -> Votes:
    """Some of the votes; tasks, workers and classes stay."""
    columns = {name: getattr(votes, name)[keep] for name in ("task", "worker", "label")}
    return replace(votes, **columns)


def board(crowd: Recording, tasks: int | None, *, seed: Seed) -> Board:
    """Split a crowd's gold, examine the workers, and put the labels of open tasks in an order.

    Parameters
    ----------
    tasks
        Open tasks, drawn from those with gold; None for all that are no controls.

    Raises
    ------
    TrialEnded
        `infeasible` with fewer than four tasks with gold.
    """
    votes, truth = crowd.votes, crowd.truth
    gold = stream(seed, "split").permutation(np.flatnonzero(truth >= 0))
    if len(gold) < 4:
        raise TrialEnded("infeasible", f"{len(gold)} tasks with gold: too few to hold half out")
    control, others = gold[: len(gold) // 2], gold[len(gold) // 2 :]
    if tasks is None:
        others = np.setdiff1d(np.arange(len(truth)), control)
    open_tasks = np.sort(others[:tasks])
    lot = stream(seed, "order").random(len(votes))
    on_control = np.isin(votes.task, control)
    in_exam = np.zeros(len(votes), dtype=bool)
    in_exam[on_control] = places(votes.worker[on_control], lot[on_control]) < EXAM
    rows = np.flatnonzero(np.isin(votes.task, open_tasks))
    rows = rows[np.lexsort((lot[rows], votes.task[rows]))]
    rows = rows[places(votes.task[rows], lot[rows]) < MOST]
    workers = np.unique(votes.worker[rows])
    task = np.searchsorted(open_tasks, votes.task[rows])
    labels = replace(
        votes,
        task=task,
        worker=np.searchsorted(workers, votes.worker[rows]),
        label=votes.label[rows],
        tasks=votes.tasks[open_tasks],
        workers=votes.workers[workers],
    )
    right = in_exam & (votes.label == truth[votes.task])
    correct, answered = (
        np.bincount(votes.worker[at], minlength=len(votes.workers))[workers]
        for at in (right, in_exam)
    )
    pool = scores(correct, answered, len(votes.classes))
    each = float(in_exam.sum()) / (len(truth) - len(control))
    place = places(task, lot[rows])
    return Board(labels, place, truth[open_tasks], pool, int(answered.sum()), each)


@lru_cache(maxsize=4)
def board_of(name: str, tasks: int | None, entropy: int, words: tuple[int, ...]) -> Board:
    """Board of a trial: the methods of one trial that run in one process share it."""
    seed = np.random.SeedSequence(entropy, spawn_key=words)
    if name == STAND_IN:
        return board(simulated("simulated sparse", seed=seed), tasks, seed=seed)
    return board(recorded(name), tasks, seed=seed)


Reached: TypeAlias = "tuple[int, FloatArray]"
"""Labels bought, and the chance of a wrong label of each open task, shape (n,)."""


def by_aggregator(name: str, at: Board, seed: Seed) -> Iterator[tuple[str, Reached]]:
    """Label by the first labels of each task."""
    aggregator = AGGREGATORS[name].call
    skills: dict[str, Any] = {}
    if weighs_by_skill(name):
        skills = {"skill": at.scores.skill, "classes": at.scores.classes}
    for level, most in at.levels().items():
        votes = at.first(most)
        result = aggregator(votes, seed=seed, **skills)
        yield level, (len(votes), 1.0 - result.chance_right(np.maximum(at.truth, 0)))


def by_rule(name: str, at: Board, seed: Seed) -> Iterator[tuple[str, Reached]]:
    """Let at most b of each task's workers vote; alike tasks have the choice in common."""
    rule, votes, options = RULES[name].call, at.votes, RuleOptions(seed, by_evidence=True)
    weight = np.nan_to_num(at.scores.vote_weight)
    of_task = np.split(votes.worker, np.flatnonzero(np.diff(votes.task)) + 1)
    chosen: dict[tuple[bytes, int], IntArray] = {}
    for level, most in at.levels().items():
        if level == LEVELS[-1]:
            continue
        selection = []
        for able in of_task:
            budget = min(int(most), len(able))
            key = np.sort(able).tobytes(), budget
            if key not in chosen:
                eligible = np.isin(np.arange(len(at.scores)), able) & at.scores.eligible
                chosen[key] = rule(replace(at.scores, eligible=eligible), budget, options).chosen
            selection.append(np.isin(able, chosen[key]))
        ballots = of_votes(votes, np.concatenate(selection))
        result = weighted_majority(ballots, weight, seed=seed, per="worker")
        yield level, (len(ballots), 1.0 - result.chance_right(np.maximum(at.truth, 0)))


def by_learner(name: str, at: Board, seed: Seed) -> Iterator[tuple[str, Reached]]:
    """Meet the tasks one after the other, the first b labels of each being on record."""
    tasks, workers = (ids.astype(str).astype(object) for ids in (at.votes.tasks, at.votes.workers))
    for level, most in at.levels().items():
        if level not in LEARNT:
            continue
        votes = at.first(most)
        labels = np.full((len(tasks), len(workers)), -1, dtype=np.int64)
        labels[votes.task, votes.worker] = votes.label
        if name in LEARNING:
            data = Recorded(labels, at.truth, tasks, workers, votes.classes)
            run = replay(data, SCHEDULE, policy=name, seed=seed)
            yield level, (run.labels_bought, 1.0 - run.steps["right"].to_numpy(np.float64))
        elif level == LEVELS[-1]:
            yield level, by_any_worker(name, labels, at, seed)


def by_any_worker(name: str, labels: IntArray, at: Board, seed: Seed) -> Reached:
    """Let one of `LEARNERS`, which ask any worker, meet a crowd that labelled everything.

    Raises
    ------
    InputError
        More than two classes, or a crowd with gaps.
    """
    if len(at.votes.classes) != 2 or (labels >= 0).mean() < WHOLE:
        raise InputError("asks any worker about any task of two classes: too few are on record")
    learner = LEARNERS[name].call(np.nan_to_num(at.scores.skill, nan=0.5), seed)
    bought, decisions = 0, []
    for task, row in enumerate(labels):
        workers = learner.ask(task).workers
        answers = {int(i): int(row[i]) for i in workers if row[i] >= 0}
        bought += len(answers)
        decisions.append(learner.tell(answers).label)
    return bought, np.asarray(np.array(decisions) != at.truth, dtype=np.float64)


def by_policy(name: str, at: Board, seed: Seed) -> Iterator[tuple[str, Reached]]:
    """Spend the money of b labels per task."""
    pool, answers = replayed(Recording(at.votes, at.truth))
    levels = at.levels()
    budgets = tuple(len(at.first(most)) for most in levels.values())
    order = int(stream(seed, "order").integers(2**31))
    labels, wrong = bought(name, pool, answers, budgets, order)
    for level, many, chances in zip(levels, labels, wrong, strict=True):
        every = np.full(len(at.truth), np.nan)
        every[at.truth >= 0] = chances
        yield level, (many, every)


RUN: dict[str, Callable[[str, Board, Seed], Iterator[tuple[str, Reached]]]] = {
    "aggregator": by_aggregator,
    "rule": by_rule,
    "learner": by_learner,
    "policy": by_policy,
}


def trial(params: Params, streams: Streams) -> Record:
    """Let one method label one crowd at every level."""
    kind, _, name = plain(params["method"]).partition("/")
    try:
        at = board_of(
            plain(params["crowd"]), params["tasks"], streams.entropy, streams.instance_words
        )
        started = time.process_time()
        reached = dict(RUN[kind](name, at, streams.instance))
    except InputError as error:
        raise TrialEnded("infeasible", str(error)) from None
    n, scored = len(at.truth), at.truth >= 0
    record: dict[str, Any] = {
        "open_tasks": n,
        "scored": int(scored.sum()),
        "workers": len(at.scores),
        "classes": at.scores.classes,
        "exam": at.exam,
        "exam_each": at.exam_each if uses_exam(kind, name) else 0.0,
        "method_seconds": time.process_time() - started,
    }
    for level, (labels, wrong) in reached.items():
        by_class = [wrong[at.truth == k].mean() for k in np.unique(at.truth[scored])]
        record |= {
            f"labels_{level}": labels / n,
            f"error_{level}": float(wrong[scored].mean()),
            f"balanced_{level}": float(np.mean(by_class)),
        }
    return record
