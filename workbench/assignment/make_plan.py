"""From tables of skills and tasks to a plan a requester can upload: who labels what.

The offline integer program (1)–(3) of Ho, Jabbari, Vaughan (2013) on named workers and tasks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, get_args

import numpy as np
import pandas as pd

from crowd_models import AssignmentProblem
from crowd_models.gains import gain_of
from workbench.accuracy.class_error import vote_confusion
from workbench.assignment.budget import Program, spend
from workbench.assignment.class_scores import class_scores
from workbench.assignment.cover_plan import CoverPlan, PlanPromise, TopUp
from workbench.assignment.enough import mend as say_enough
from workbench.assignment.no_plan import MENDS, NoPlan, why_none
from workbench.assignment.several_classes import SeveralClasses
from workbench.assignment.sure import Surely, sure_plan
from workbench.assignment.two_classes import TwoClasses
from workbench.base import checks
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.crowd import align
from workbench.crowd.confusion import confusion_from_gold, constant_in, without_constant
from workbench.crowd.gold_rule import gold_codes
from workbench.crowd.loss import Stakes
from workbench.crowd.votes import Votes
from workbench.solving import Solution, Termination
from workbench.solving.claims import CostClaim
from workbench.solving.highs import RunOptions

PAIR = ("task", "worker")
Promise: TypeAlias = PlanPromise


@dataclass(frozen=True, eq=False)
class AssignmentPlan:
    """An assignment by name, and what is known of it.

    Attributes
    ----------
    table
        Columns `task, worker`, one row a label to buy, and of two classes `weight`, that in the
        vote; empty when there is no plan.
    counted
        The same of the labels on record that count: they vote with those to buy.
    solution
        The solved program: cost, proven bound, certificate, or why there is no solution.
    skills
        p by worker and task type, as the plan takes them: ½ where it is not known.
    without_history
        Workers of whom no skill is known: they get no task.
    error_exact, error_bound
        Error of each task's vote, shape (n,): exact under the model, and as the cover promises;
        None when there is no plan.
    error_radius
        How far an exact error may be off: 0 but where it was drawn (several classes).
    levels
        Error that the covers of each task type promise: ε, or as much above it as leaves the
        exact error at ε.
    message
        What to do when there is no plan, tasks by name.
    claim
        What is known of the cost for the problem that was asked; None for nothing.
    scores
        The vote of several classes, `task, worker, label, class, score` (`class_scores`); None of
        two classes, and when there is no plan.
    why, kept
        Of two classes, where there is no plan that keeps ε: why, and the plan of the tasks that
        can be kept.
    surely
        In what share of the draws the mean error is at most ε, where that was asked.
    stakes
        What errors cost, with the shares of the classes: errors above are expected costs then.
        None where nothing is said of it.
    named
        With stakes: chance of each class to be named, by true class, in the mean over the tasks,
        shape (K, K), if skills are as given and labels independent.
    """

    table: pd.DataFrame
    counted: pd.DataFrame
    solution: Solution
    skills: pd.DataFrame
    without_history: tuple[Any, ...] = ()
    error_exact: FloatArray | None = None
    error_bound: FloatArray | None = None
    error_radius: float = 0.0
    levels: pd.Series[Any] | None = None
    message: str | None = None
    claim: CostClaim | None = None
    scores: pd.DataFrame | None = None
    why: NoPlan | None = None
    kept: AssignmentPlan | None = None
    surely: float | None = None
    stakes: Stakes | None = None
    named: FloatArray | None = None


@dataclass(frozen=True, eq=False)
class AssignmentTerms:
    """What the workers may do and what it costs.

    Attributes
    ----------
    capacity
        M: one number, or a Series by worker.
    epsilon
        ε, the error each task may have; None where `total` is given.
    costs
        Price of a label by worker and task type, or one column `cost` for all types, or a Series
        by worker; None for 1.
    availability
        Pairs that may be assigned, a frame with columns `task, worker`; None for all. Like the
        capacities they may name workers without skills, who get no task either.
    promise
        What ε is: the error of `each` task; their `mean`, no task above 2ε; of each task, the error
        of the worst true `class`; or a `bound` on the error of each task, as in the paper.
    gain
        What a label counts in a bound: see `crowd_models.gains`. The paper's is `hoeffding`.
    total
        In place of ε, what all labels may cost: the lowest error common to all tasks is sought.
    have
        Labels on record, a frame with columns `task, worker`. Those of tasks to be planned, by
        workers of known skill, count toward their promise; they cost nothing and take nothing of
        the capacities, and nobody is asked for one again.
    least, most
        Labels that each task may have, those on record included; None for no limit.
    sure
        In what share of the draws from what gold leaves open of the skills the mean error is to be
        at most ε; None to go by mean skills. Of two classes.
    strength
        a + b of each skill's Beta posterior, by worker and task type; goes with `sure`.
    stakes
        What errors cost, and how frequent classes are: ε is then an expected cost. Workers are
        known by confusion matrices.
    """

    capacity: int | pd.Series[Any]
    epsilon: float | None
    costs: pd.DataFrame | pd.Series[Any] | None = None
    availability: pd.DataFrame | None = None
    promise: Promise = "each"
    gain: str = "bhattacharyya"
    total: float | None = None
    have: pd.DataFrame | None = None
    least: int | None = None
    most: int | None = None
    sure: float | None = None
    strength: pd.DataFrame | None = None
    stakes: Stakes | None = None

    def __post_init__(self) -> None:
        if self.stakes is not None and (self.promise == "class" or self.sure is not None):
            name = "sure" if self.sure is not None else "promise 'class'"
            raise InputError(
                f"{name}: goes with errors alone; leave it out, or plan without `loss` and "
                "`class_share` and give these to `aggregate`"
            )
        if self.sure is not None:
            checks.inside("sure", self.sure)
            if self.epsilon is None or self.strength is None:
                raise InputError("sure: goes with `epsilon`, and with two classes of `gold`")
        for name in ("least", "most"):
            if (limit := getattr(self, name)) is not None:
                checks.count(name, limit)
        if self.least is not None and self.most is not None and self.least > self.most:
            raise InputError(f"least is {self.least}, most {self.most}: let it be no more")
        if (self.epsilon is None) == (self.total is None):
            raise InputError("give `epsilon`, the error of each task, or `total`, a budget for all")
        if self.promise not in get_args(Promise):
            raise InputError(f"promise is {self.promise!r}: give {' or '.join(get_args(Promise))}")
        if self.gain != "bhattacharyya" and self.promise != "bound" and self.total is None:
            raise InputError(f"gain {self.gain!r}: goes with promise 'bound'; leave it out")


@dataclass(frozen=True, eq=False)
class Confusions:
    """What is known of workers whose labels have several classes.

    Attributes
    ----------
    confusion
        π, shape (T, m, K, K): by task type and worker, true class × class named.
    prior
        ρ, shape (K,).
    classes
        Names, K of them.
    skill
        Probability to be right by worker (index) and task type (columns); NaN where nothing is
        known of a worker, who is given no such task.
    """

    confusion: FloatArray
    prior: FloatArray
    classes: Sequence[Any]
    skill: pd.DataFrame


def confusions(
    labels: pd.DataFrame, gold: pd.Series[Any], task_types: pd.Series[Any] | None = None
) -> Confusions:
    """Learn confusion matrices from gold answers, those of each task type from its own gold.

    Parameters
    ----------
    labels, gold
        As `confusion_from_gold` takes them.
    task_types
        Type of each gold task; a single type, "all", when None.
    """
    kinds = pd.Series("all", index=gold.index) if task_types is None else task_types
    types = list(pd.unique(kinds.reindex(gold.index).dropna()))
    classes, workers = sorted({*labels["label"], *gold}), labels["worker"].unique()
    estimates = [
        confusion_from_gold(labels, gold[kinds.reindex(gold.index) == kind], classes)
        for kind in types
    ]
    skill = {
        kind: np.where(estimate.counts.any(axis=(1, 2)), estimate.skill, np.nan)
        for kind, estimate in zip(types, estimates, strict=True)
    }
    shares = np.array([(gold == name).sum() + 1.0 for name in classes])
    votes = Votes.of(labels, workers=workers, classes=classes)
    still = constant_in(votes, gold_codes(votes, gold))
    return Confusions(
        np.stack([without_constant(estimate.confusion, still) for estimate in estimates]),
        shares / shares.sum(),
        classes,
        pd.DataFrame(skill, index=pd.Index(workers, name="worker")),
    )


def one_coin(skills: pd.DataFrame | pd.Series[Any], classes: Sequence[Any]) -> Confusions:
    """Workers of known skill as confusion matrices of two classes, alike frequent.

    Parameters
    ----------
    skills
        As `make_plan` takes them.
    classes
        Names of the two.
    """
    skill = skills.rename("all").to_frame() if isinstance(skills, pd.Series) else skills
    p = skill.fillna(0.5).to_numpy(np.float64).T
    right = np.stack([p, 1.0 - p], axis=-1)
    confusion = np.stack([right, right[..., ::-1]], axis=-2)
    return Confusions(confusion, np.full(2, 0.5), classes, skill)


def make_plan(
    skills: pd.DataFrame | pd.Series[Any] | Confusions,
    tasks: pd.Series[Any],
    terms: AssignmentTerms,
    *,
    time_limit: float | None = 30.0,
    gap: float = 0.0,
    threads: int = 1,
    seed: int = 0,
) -> AssignmentPlan:
    """Cheapest assignment found that keeps every task's error at ε.

    Parameters
    ----------
    skills
        p by worker (index) and task type (columns), for labels of two classes, as
        `tables.read_skills` or `GoldSkills.wide` gives it; or, for tasks of one type, a Series by
        worker. Where it is NaN nothing is known of the worker's labels of that type, and she is
        given no such task. For labels of more classes, confusion matrices by task type.
    tasks
        Type by task, as `tables.read_task_types` gives it.

    Raises
    ------
    InputError
        For a task type without skills, a worker without capacity or price, a pair with an unknown
        task, ε outside (0, 1), a gain that is for two classes where there are more.
    """
    gain = gain_of(terms.gain)
    if isinstance(skills, Confusions):
        if gain.name != "bhattacharyya":
            raise InputError(
                f"gain {gain.name!r}: is for labels of two classes, here are "
                f"{len(skills.classes)}; leave it out"
            )
        skill = skills.skill
        if terms.stakes is not None:
            stakes = terms.stakes.over(skills.classes).known(skills.prior)
            skills, terms = replace(skills, prior=stakes.shares), replace(terms, stakes=stakes)
        program: Program = _several_classes(skills, tasks, terms)
    else:
        skill = align.skills(skills, tasks.unique())
        program = _two_classes(skill, tasks, terms)
    strangers = _without_history(skill, terms)
    options = RunOptions(time_limit, gap, threads, seed=seed)
    left = options.countdown()
    surely = None
    if terms.sure is not None and isinstance(program, TwoClasses):
        found = _sure(program, terms, skill, options)
        made, surely = found.made, found.share
    else:
        made = _made(program, terms, options)
    classes = skills.classes if isinstance(skills, Confusions) else None
    naming = _Naming(program, tasks.index, skill.fillna(0.5), strangers, classes, terms.stakes)
    if made.chosen is not None:
        plan = naming.plan(made)
        # A plan that is surer was made for a lower ε: it is not the program asked that was solved.
        return plan if surely is None else replace(plan, surely=surely, claim=None)
    if isinstance(program, TwoClasses) and terms.epsilon is not None and terms.promise != "bound":
        return _why(program, terms, made, naming, left())
    return naming.none(made, *_reason(made, program, skills, tasks, terms, time_limit))


@dataclass(frozen=True, eq=False)
class _Naming:
    """Tasks and workers by name, for what comes of a program."""

    program: Program
    tasks: pd.Index[Any]
    skill: pd.DataFrame
    strangers: tuple[Any, ...]
    classes: Sequence[Any] | None
    stakes: Stakes | None = None

    def plan(self, made: CoverPlan) -> AssignmentPlan:
        """The plan."""
        assert made.chosen is not None
        program, scores, named, stakes = self.program, None, None, self.stakes
        chosen = made.chosen
        if isinstance(program, SeveralClasses):
            assert self.classes is not None
            names = self.tasks, self.skill.index, self.classes
            scores = class_scores(program, made, *names, stakes)
        if stakes is not None and isinstance(program, SeveralClasses):
            made, named = made.costing(stakes.scale), _named(program, made)
        return AssignmentPlan(
            self._table(chosen),
            self._table(program.given.recorded),
            made.solution,
            self.skill,
            self.strangers,
            made.errors,
            made.bounds,
            made.radius,
            pd.Series(made.levels, index=self.skill.columns[: len(made.levels)]),
            claim=made.claim,
            scores=scores,
            stakes=stakes,
            named=named,
        )

    def none(self, made: CoverPlan, why: str, mend: str) -> AssignmentPlan:
        """No plan, why, and what to do."""
        out = ""
        if self.strangers:
            out = f" (left out, skill unknown: {checks.listing(self.strangers)})"
        columns = ["task", "worker", "weight"][: 2 if self.classes is not None else 3]
        empty = pd.DataFrame(columns=columns)
        return AssignmentPlan(
            empty,
            empty,
            made.solution,
            self.skill,
            self.strangers,
            message=f"{why}{out}. Next: {mend}.",
        )

    def _table(self, pairs: BoolArray) -> pd.DataFrame:
        row, column = np.nonzero(pairs)
        named: dict[str, Any] = {"task": self.tasks[row], "worker": self.skill.index[column]}
        if isinstance(self.program, TwoClasses):
            named["weight"] = self.program.weight[row, column]
        return pd.DataFrame(named)


def _why(
    program: TwoClasses,
    terms: AssignmentTerms,
    made: CoverPlan,
    naming: _Naming,
    options: RunOptions,
) -> AssignmentPlan:
    """No plan of two classes: why, and the plan of the tasks that can be kept."""
    assert terms.epsilon is not None
    left = options.countdown()
    why = why_none(program, made, terms.epsilon, terms.promise, options)
    names = naming.tasks.to_list()
    none = naming.none(made, why.why(terms.epsilon, terms.promise, names), why.mend(names))
    kept = why.kept
    if kept is None or not kept.kept.any() or kept.kept.all():
        return replace(none, why=why)
    part = program.part(kept)
    some = replace(
        naming, tasks=naming.tasks.take(np.flatnonzero(kept.kept).tolist()), program=part
    )
    kept_plan = some.plan(part.of_kept(kept, terms.epsilon, left()))
    return replace(none, why=why, kept=kept_plan)


def _reason(
    made: CoverPlan,
    program: Program,
    skills: pd.DataFrame | pd.Series[Any] | Confusions,
    tasks: pd.Series[Any],
    terms: AssignmentTerms,
    time_limit: float | None,
) -> tuple[str, str]:
    """Why there is no plan of several classes, of covers, or for a budget, and what to do."""
    solution = made.solution
    mend = MENDS if terms.epsilon is not None else "give more money, workers or capacity"
    if solution.infeasibility is not None:
        why = solution.infeasibility.why(tasks.index.to_list())
        mend = solution.infeasibility.mend()
    elif solution.termination is Termination.TIME_LIMIT:
        why, mend = f"No plan was found within {time_limit:g} s", "give more time"
    else:
        why = f"No plan was found: {solution.note or solution.termination}"
    if isinstance(program, SeveralClasses) and isinstance(skills, Confusions):
        why += _hardest(made, program, skills)
        if made.enough is not None:
            mend = f"{say_enough(made.enough)}; or give more workers or larger capacities"
    return why, mend


def _sure(
    program: TwoClasses, terms: AssignmentTerms, skill: pd.DataFrame, options: RunOptions
) -> Surely:
    """The plan that is as sure as was asked."""
    assert terms.epsilon is not None
    assert terms.sure is not None
    assert terms.strength is not None
    strength = terms.strength.reindex(index=skill.index, columns=skill.columns).fillna(2.0)
    epsilon = checks.inside("epsilon", terms.epsilon)
    size = strength.to_numpy(np.float64).T
    return sure_plan(program, epsilon, terms.promise, terms.sure, size, options)


def _made(program: Program, terms: AssignmentTerms, options: RunOptions) -> CoverPlan:
    """The plan that keeps ε or spends the budget."""
    if terms.total is not None:
        total = checks.number("total", terms.total, 0.0, np.inf)
        return spend(program, total, options=options)
    assert terms.epsilon is not None
    if terms.stakes is not None:
        return program.keep(terms.stakes.error_for(terms.epsilon), terms.promise, options)
    return program.keep(checks.inside("epsilon", terms.epsilon), terms.promise, options)


def offline_problem(
    skills: pd.DataFrame | pd.Series[Any], tasks: pd.Series[Any], terms: AssignmentTerms
) -> AssignmentProblem:
    """State the assignment problem of tables whose covers promise ε; see `make_plan`."""
    skill = align.skills(skills, tasks.unique())
    levels = np.full(skill.shape[1], np.nan if terms.epsilon is None else terms.epsilon)
    return _two_classes(skill, tasks, terms).problem(levels)


def _two_classes(skills: pd.DataFrame, tasks: pd.Series[Any], terms: AssignmentTerms) -> TwoClasses:
    kinds, prices, available = _aligned(skills, tasks, terms)
    return TwoClasses(
        skills.fillna(0.5).to_numpy().T[kinds],
        gain_of(terms.gain),
        kinds,
        _given(skills, tasks, kinds, terms),
        align.capacities(list(skills.index), terms.capacity),
        None if prices is None else prices[kinds],
        available,
    )


def _several_classes(
    crowd: Confusions, tasks: pd.Series[Any], terms: AssignmentTerms
) -> SeveralClasses:
    kinds, prices, available = _aligned(crowd.skill, tasks, terms)
    stakes = terms.stakes
    return SeveralClasses(
        crowd.confusion,
        crowd.prior if stakes is None else stakes.tilted,
        kinds,
        _given(crowd.skill, tasks, kinds, terms),
        align.capacities(list(crowd.skill.index), terms.capacity),
        prices,
        available,
        1.0 if stakes is None else stakes.scale,
    )


def _named(program: SeveralClasses, made: CoverPlan) -> FloatArray:
    """Chance of each class to be named, by true class, in the mean over the tasks, (K, K)."""
    assert made.chosen is not None
    assert made.log_prior is not None
    voting = made.chosen | program.given.recorded
    alike = np.column_stack([program.kinds, voting])
    _, first, many = np.unique(alike, axis=0, return_index=True, return_counts=True)
    total = np.zeros((len(program.prior), len(program.prior)))
    for i, times in zip(first.tolist(), many.tolist(), strict=True):
        voters = program.confusion[program.kinds[i], voting[i]]
        total += times * vote_confusion(voters, made.log_prior[i])
    named: FloatArray = total / len(program.kinds)
    return named


def _aligned(
    skills: pd.DataFrame, tasks: pd.Series[Any], terms: AssignmentTerms
) -> tuple[IntArray, FloatArray | None, BoolArray | None]:
    """Type of each task, prices by type and worker, and pairs that may be assigned."""
    kinds = _types(skills, tasks)
    prices = None
    if terms.costs is not None:
        prices = align.prices(list(skills.index), list(skills.columns), terms.costs)
    available = skills.notna().to_numpy().T[kinds]
    if terms.availability is not None:
        available &= _mask(terms.availability, tasks, skills)
    return kinds, prices, None if available.all() else available


def _given(
    skills: pd.DataFrame, tasks: pd.Series[Any], kinds: IntArray, terms: AssignmentTerms
) -> TopUp:
    """Labels on record that count: of tasks to be planned, by workers of known skill."""
    recorded: BoolArray = np.zeros((len(tasks), len(skills)), dtype=np.bool_)
    if terms.have is not None:
        row = tasks.index.get_indexer(pd.Index(terms.have["task"]))
        column = skills.index.get_indexer(pd.Index(terms.have["worker"]))
        here = (row >= 0) & (column >= 0)
        recorded[row[here], column[here]] = True
        recorded &= skills.notna().to_numpy().T[kinds]
    return TopUp(recorded, terms.least, terms.most)


def _hardest(made: CoverPlan, program: SeveralClasses, crowd: Confusions) -> str:
    """How often all workers together err, and the classes that they tell apart worst."""
    if made.together is None:
        return ""
    first, second = (checks.show(crowd.classes[k]) for k in program.apart())
    said = "err with a chance of"
    if program.scale != 1.0:
        said = "have an expected cost of"
    return (
        f"; all workers together {said} {program.scale * made.together:.3g} on the hardest task, "
        f"and confuse {first} with {second} most"
    )


def as_pairs(availability: Iterable[tuple[Any, Any]]) -> pd.DataFrame:
    """Lay pairs that may be assigned, one by one, out as a frame with columns `task, worker`.

    Raises
    ------
    InputError
        Something else than such pairs.
    """
    form = "give a data frame with columns task, worker, or a list of pairs (task, worker)"
    if isinstance(availability, (str, pd.Series, Mapping)) or not isinstance(
        availability, Iterable
    ):
        raise InputError(f"availability: {checks.type_name(availability)}; {form}")
    listed = list(availability)
    for place, pair in enumerate(listed):
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise InputError(f"availability, pair {place}: {checks.show(pair)}; {form}")
    return pd.DataFrame(
        {name: pd.Series([pair[k] for pair in listed], dtype=object) for k, name in enumerate(PAIR)}
    )


def _mask(pairs: pd.DataFrame, tasks: pd.Series[Any], skills: pd.DataFrame) -> BoolArray:
    """Which pairs may be assigned, shape (n, m); those of workers without skills are left out."""
    row = tasks.index.get_indexer(pd.Index(pairs["task"]))
    if (row < 0).any():
        name = checks.show(pairs["task"].iloc[int(np.argmin(row))])
        raise InputError(f"availability: no task {name} to be labelled; mend its id, or drop it")
    column = skills.index.get_indexer(pd.Index(pairs["worker"]))
    mask = np.zeros((len(tasks), len(skills)), dtype=bool)
    mask[row[column >= 0], column[column >= 0]] = True
    return mask


def _without_history(skills: pd.DataFrame, terms: AssignmentTerms) -> tuple[Any, ...]:
    """Workers without any skill, among the skills or named elsewhere, in order of appearance."""
    named = list(skills.index[skills.isna().all(axis=1)])
    if isinstance(terms.capacity, pd.Series):
        named += terms.capacity.index.to_list()
    if terms.availability is not None:
        named += terms.availability["worker"].to_list()
    with_history = set(skills.index[skills.notna().any(axis=1)])
    if isinstance(terms.capacity, pd.Series):  # Who is not to be asked is no matter.
        with_history |= set(terms.capacity.index[terms.capacity == 0])
    return tuple(worker for worker in dict.fromkeys(named) if worker not in with_history)


def _types(skills: pd.DataFrame, tasks: pd.Series[Any]) -> np.ndarray:
    """Row of each task's type among the columns of `skills`."""
    kinds = pd.Index(skills.columns).get_indexer(pd.Index(tasks))
    if (kinds < 0).any():
        at = int(np.argmin(kinds))
        raise InputError(
            f"task {tasks.index[at]!r} has type {tasks.iloc[at]!r}, for which no worker has a "
            f"skill: the skills have {', '.join(map(str, skills.columns[:8]))}"
        )
    return kinds
