"""The Main Algorithm as a service: workers arrive, are asked, answer, and may be many at once.

    session = AssignmentSession(tasks, gold, workers=100, preliminary=30, epsilon=0.1, seed=1)
    asked = session.arrive("worker 1", capacity=50)         # gold tasks
    asked = session.observe("worker 1", answers)            # then real tasks, or none
    session.save("session.json")                            # go on tomorrow

The first γm workers to finish their gold tasks are the preliminary ones; whoever finishes later
gets real tasks. So nobody waits for anybody, and a worker who leaves holds nothing up. Tasks,
workers, types and classes keep their names as they are given, texts or whole numbers.

A label counts by Bhattacharyya's bound and votes with its log-odds, and skills are posterior means
under a prior fitted to the preliminary workers; the paper's are `gain="hoeffding"` and
`skills="plug-in"`. Labels may be priced by task, and tasks have an easiness of their own.
Source: Ho, Jabbari, Vaughan (2013), Algorithm 2 and Section 7.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, TypeAlias

import numpy as np
import pandas as pd
from msgspec import Meta
from msgspec.structs import replace

from crowd_models.gains import gain_of
from crowd_models.problem import LARGEST_PRICE
from workbench.aggregation.voting import promised_weights, weighted_majority
from workbench.assignment.adaptive import AdaptiveAssigner, AdaptiveSettings, AssignerState, Price
from workbench.assignment.estimates import (
    GoldReplies,
    checked_easiness,
    plug_in_skill,
    posterior_skill,
    priors_of,
)
from workbench.base import checks
from workbench.base.arrays import FloatArray
from workbench.base.errors import InputError
from workbench.base.seeds import Seed
from workbench.base.state import (
    Count,
    Id,
    Label,
    RandomState,
    Saveable,
    Share,
    State,
    check,
    distinct,
    encoded,
    find,
    identifier,
    label_name,
    name_array,
    name_places,
)
from workbench.crowd.empirical_bayes import FLAT, BetaPrior
from workbench.crowd.votes import Votes

LEAST_PRICE = 1.0 / LARGEST_PRICE
"""No lower price, so that the ratio of two prices stays a number."""
Kind: TypeAlias = Literal["gold", "task", "nothing"]
Answers: TypeAlias = tuple[tuple[Count, Literal[0, 1]], ...]
Easiness: TypeAlias = Annotated[float, Meta(gt=0, le=1)]
Positive: TypeAlias = Annotated[float, Meta(gt=0, le=1e9)]


@dataclass(frozen=True)
class NextTasks:
    """What to ask a worker now: `gold` tasks to be judged by, real `task`s, or `nothing`."""

    worker: Id
    kind: Kind
    tasks: tuple[Id, ...]


class Visit(State, frozen=True):
    """A worker's stay: what she is asked, her skill once she is judged, her labels.

    Tasks stand by their place among the tasks, or the gold tasks; a label by that of its class.
    `cost` is by type; `prices` are those of tasks that have one of their own.
    """

    worker: Id
    capacity: Count
    kind: Kind
    asked: tuple[Count, ...]
    cost: tuple[Price, ...] | None
    prices: tuple[tuple[Count, Price], ...] | None
    available: tuple[Count, ...] | None
    skill: tuple[Share, ...] | None = None
    gold: Answers = ()
    answers: Answers = ()

    def __post_init__(self) -> None:
        check((self.kind == "gold") == (self.skill is None), f"kind {self.kind!r}: skill is amiss")
        check(self.kind != "nothing" or not self.asked, "kind 'nothing', and asked is not empty")
        check(self.kind == "nothing" or not self.answers, "answers are there, and asked for")
        check(self.kind != "gold" or not self.gold, "gold answers are there, and asked for")


class SessionState(State, frozen=True):
    """All that `AssignmentSession` needs to go on.

    (task, type, easiness) and (gold task, label, type, easiness), the preliminary workers in the
    order in which they were judged, and the priors by type that were fitted to them.
    """

    service: ClassVar[str] = "assignment-session"
    version: ClassVar[int] = 2

    tasks: tuple[tuple[Id, Id, Easiness], ...]
    gold: tuple[tuple[Id, Label, Id, Easiness], ...]
    gold_per_type: Count | None
    settings: AdaptiveSettings
    assigner: AssignerState
    sampled: tuple[Id, ...]
    priors: tuple[tuple[Positive, Positive], ...]
    visits: tuple[Visit, ...]


class AssignmentSession(Saveable[SessionState]):
    """Algorithm 2 over a stream of named workers and tasks.

    Parameters
    ----------
    tasks
        Type of each task to be labelled, a Series by task; a single type is fine.
    gold
        Gold tasks: a frame with index task and columns `label` and `task_type`; where tasks have
        an easiness, gold tasks have it in a column `easiness` (1 without).
    workers, preliminary
        m and γm.
    epsilon
        ε, the error each task may have.
    gold_per_type
        s, gold tasks asked of each worker for each type; all of a type's gold when None.
    easiness
        d by task, a Series, above 0 and at most 1: a worker of skill p on a type is right on its
        task i with probability ½ + d_i (p − ½) (Section 7). None for 1, as for tasks left out.
    seed
        Draws gold tasks, perturbs estimates, breaks ties.
    settings
        Further settings of `AdaptiveSettings` by name; here `gain` is `bhattacharyya` and `skills`
        are `fitted` unless given.

    Raises
    ------
    InputError
        No task, a name twice or that is neither text nor whole number, a type without gold, fewer
        gold tasks than asked for, not two classes, a setting out of range.

    Examples
    --------
    >>> import pandas as pd
    >>> import workbench as wb
    >>> tasks = pd.Series({"a": "birds", "b": "birds"})
    >>> gold = pd.DataFrame({"label": ["y", "n"], "task_type": "birds"}, index=["g1", "g2"])
    >>> session = wb.AssignmentSession(tasks, gold, workers=2, preliminary=1, epsilon=0.4, seed=1)
    >>> session.arrive("ann", capacity=2).kind
    'gold'
    >>> session.observe("ann", {"g1": "y", "g2": "n"}).kind  # a preliminary worker
    'nothing'
    """

    state_type = SessionState

    def __init__(
        self,
        tasks: pd.Series[Any],
        gold: pd.DataFrame,
        *,
        workers: int,
        preliminary: int,
        epsilon: float,
        gold_per_type: int | None = None,
        easiness: pd.Series[Any] | None = None,
        seed: Seed = 0,
        **settings: Any,
    ) -> None:
        missing = {"label", "task_type"} - set(gold.columns)
        check(
            not missing,
            f"gold has no column {min(missing, default='')!r}: give label and task_type",
        )
        self._place = name_places("tasks", tasks.index)
        self._gold_place = name_places("gold", gold.index)
        check(self._place, "tasks is empty: give the type of each task")
        for task in self._place:
            check(task not in self._gold_place, f"task {task!r} is also a gold task: leave one out")
        kinds = [
            identifier(f"tasks[{at!r}]", kind) for at, kind in zip(self._place, tasks, strict=True)
        ]
        self._gold = [
            (at, label_name(at, label), identifier(f"task_type of gold task {at!r}", kind))
            for at, label, kind in zip(
                self._gold_place, gold["label"], gold["task_type"], strict=True
            )
        ]
        self.tasks, self.types = list(self._place), distinct(kinds)
        self._easiness = self._by_task(easiness)
        told = gold["easiness"] if "easiness" in gold else np.ones(len(gold))
        self._gold_easiness = checked_easiness(np.asarray(told))
        self.classes = distinct(label for _, label, _ in self._gold)
        check(
            len(self.classes) == 2,
            f"gold has {len(self.classes)} classes ({checks.listing(self.classes, 5)}): "
            "the adaptive assignment needs two",
        )
        least = 1 if gold_per_type is None else checks.count("gold_per_type", gold_per_type, 1)
        self.gold_per_type = None if gold_per_type is None else least
        self._class = {label: code for code, label in enumerate(self.classes)}
        code = {kind: code for code, kind in enumerate(self.types)}
        self._gold_truth = np.array([self._class[label] for _, label, _ in self._gold])
        self._gold_class = np.array([code.get(kind, -1) for *_, kind in self._gold])
        self._pools = [np.flatnonzero(self._gold_class == k).tolist() for k in code.values()]
        for kind, pool in zip(self.types, self._pools, strict=True):
            enough = len(pool) >= least
            check(enough, f"task type {kind!r} has {len(pool)} gold tasks: give at least {least}")
        settings = {"gain": "bhattacharyya", "skills": "fitted", **settings}
        self.settings = AdaptiveSettings(epsilon, workers, preliminary, **settings)
        self._kind = np.array([code[kind] for kind in kinds])
        own = None if (self._easiness == 1).all() else self._easiness
        self._assigner = AdaptiveAssigner(self._kind, self.settings, easiness=own, seed=seed)
        RandomState.of(self._assigner.rng)
        self._visits: dict[Id, Visit] = {}
        self._sampled: list[Id] = []
        self._priors: list[BetaPrior] = []
        encoded(self.state())

    def _by_task(self, easiness: pd.Series[Any] | None) -> FloatArray:
        """Easiness of each task, shape (n,)."""
        d = np.ones(len(self.tasks))
        if easiness is None:
            return d
        check(isinstance(easiness, pd.Series), "easiness is no Series: give a number by task")
        for task, own in zip(easiness.index, checked_easiness(easiness.to_numpy()), strict=True):
            place = find(self._place, task)
            check(place is not None, f"easiness names {checks.show(task)}, which is no task here")
            d[place] = own
        return d

    def arrive(
        self,
        worker: Id,
        capacity: int,
        *,
        cost: Mapping[Any, float] | pd.Series[Any] | None = None,
        prices: Mapping[Any, float] | pd.Series[Any] | None = None,
        available: Iterable[Id] | None = None,
    ) -> NextTasks:
        """A worker arrives and announces her capacity; she is asked gold tasks first.

        Parameters
        ----------
        capacity
            M: the most real tasks she will do.
        cost
            Price of her label by task type; 1 where not given.
        prices
            Price of her label by task, where it is not that of the type (c_ij of Section 7).
        available
            Tasks she may be given; None for all.

        Raises
        ------
        InputError
            For a worker who has been here, a capacity that is no whole number, a price that is no
            number of 0 or more, or a type or task that is not of this session.
        """
        worker = identifier("worker", worker)
        new = worker not in self._visits
        check(new, f"worker {worker!r} has been here: a worker arrives once")
        check(
            _is_number(capacity, 2**53) and int(capacity) == capacity,
            f"capacity of worker {worker!r} is {checks.show(capacity)}: a whole number, 0 up",
        )
        by_type = None if cost is None else self._costs(worker, cost)
        by_task = None if prices is None else self._prices(worker, prices)
        places = None if available is None else self._places(available)
        asked: list[int] = []
        for pool in self._pools:
            if self.gold_per_type is None or self.gold_per_type >= len(pool):
                asked += pool
            else:
                chosen = self._assigner.rng.choice(len(pool), self.gold_per_type, replace=False)
                asked += [pool[k] for k in chosen]
        visit = Visit(worker, int(capacity), "gold", tuple(asked), by_type, by_task, places)
        self._visits[worker] = visit
        return self._asked(visit)

    def _costs(self, worker: Id, cost: Mapping[Any, float] | pd.Series[Any]) -> tuple[float, ...]:
        """Price by type."""
        given = isinstance(cost, (Mapping, pd.Series))
        check(given, f"cost of worker {worker!r} is no mapping: give a price by task type")
        prices = dict.fromkeys(self.types, 1.0)
        for kind, price in cost.items():
            check(
                find(prices, kind) is not None,
                f"cost of worker {worker!r} names the type {checks.show(kind)}: the types "
                f"are {checks.listing(self.types)}",
            )
            prices[kind] = _price(f"cost of worker {worker!r} for type {kind!r}", price)
        return tuple(prices.values())

    def _prices(
        self, worker: Id, prices: Mapping[Any, float] | pd.Series[Any]
    ) -> tuple[tuple[int, float], ...]:
        """Place and price of the tasks that have a price of their own."""
        given = isinstance(prices, (Mapping, pd.Series))
        check(given, f"prices of worker {worker!r} are no mapping: give a price by task")
        known = dict[int, float]()
        for task, price in prices.items():
            place = find(self._place, task)
            if place is None:
                raise InputError(
                    f"prices of worker {worker!r} name {checks.show(task)}, which is no task here"
                )
            if place in known:
                raise InputError(f"prices of worker {worker!r} name task {task!r} twice")
            known[place] = _price(f"price of worker {worker!r} for task {task!r}", price)
        return tuple(sorted(known.items()))

    def _places(self, available: Iterable[Id]) -> tuple[int, ...]:
        listed = np.iterable(available) and not isinstance(available, str)
        check(listed, f"available is {checks.show(available)}: give a list of tasks")
        places = set[int]()
        for task in available:
            place = find(self._place, task)
            if place is None:
                raise InputError(f"available task {checks.show(task)} is not a task here")
            places.add(place)
        return tuple(sorted(places))

    def observe(self, worker: Id, labels: Mapping[Any, Any] | pd.Series[Any]) -> NextTasks:
        """Take a worker's labels for what she was asked; ask her what comes next.

        Tasks she left out are simply unanswered. After gold tasks a preliminary worker is asked
        nothing more, any other gets her real tasks; after those, nothing more.

        Raises
        ------
        InputError
            For a worker who is not here or has given her labels, a task she was not asked, or an
            unknown class. Whatever is raised, also by the solver when the sample is complete, the
            session is as it was, and the same can be tried again.
        """
        worker = identifier("worker", worker)
        visit = self._visits.get(worker)
        if visit is None:
            raise InputError(f"worker {worker!r} was asked nothing: call arrive first")
        waits = visit.kind != "nothing"
        check(waits, f"worker {worker!r} has given her labels: nothing more is asked")
        mapped = isinstance(labels, (Mapping, pd.Series))
        check(mapped, f"labels of worker {worker!r} are no mapping: give a label by task")
        names = self._gold_place if visit.kind == "gold" else self._place
        asked, given = set(visit.asked), dict[int, int]()
        for task, label in labels.items():
            place, code = find(names, task), find(self._class, label)
            if place is None or place not in asked:
                raise InputError(f"worker {worker!r} was not asked task {checks.show(task)}")
            if place in given:
                raise InputError(f"worker {worker!r} labels task {checks.show(task)} twice")
            if code is None:
                raise InputError(
                    f"label {checks.show(label)} of task {checks.show(task)} is neither "
                    f"{self.classes[0]!r} nor {self.classes[1]!r}"
                )
            given[place] = code
        if visit.kind == "task":
            visit = replace(visit, kind="nothing", asked=(), answers=tuple(given.items()))
        else:
            visit = self._judged(
                replace(visit, kind="nothing", asked=(), skill=(), gold=tuple(given.items()))
            )
        self._visits[worker] = visit
        return self._asked(visit)

    def _asked(self, visit: Visit) -> NextTasks:
        if visit.kind == "gold":
            return NextTasks(visit.worker, "gold", tuple(self._gold[at][0] for at in visit.asked))
        return NextTasks(visit.worker, visit.kind, tuple(self.tasks[at] for at in visit.asked))

    def _judged(self, visit: Visit) -> Visit:
        """Take what gold answers tell: sample a preliminary worker, give any other her tasks."""
        terms = self._terms(visit)
        if not self.sampling:
            skill = self._skill(visit, self._priors)
            chosen = self._assigner.assign(skill, visit.capacity, **terms)
            return replace(
                visit,
                kind="task" if len(chosen) else "nothing",
                asked=tuple(chosen.tolist()),
                skill=tuple(skill.tolist()),
            )
        crowd = [self._visits[name] for name in self._sampled]
        priors, others = [FLAT] * len(self.types), None
        last = len(crowd) + 1 == self.settings.preliminary
        fit = last and self.settings.skills != "plug-in"
        if fit:
            everyone = [self._replies(one) for one in (*crowd, visit)]
            priors = priors_of(everyone, len(self.types))
            crowd = [replace(one, skill=tuple(self._skill(one, priors).tolist())) for one in crowd]
            told = [one.skill for one in crowd]
            others = np.array(told, dtype=np.float64).reshape(len(crowd), len(self.types)).T
        skill = self._skill(visit, priors)
        self._assigner.sample(skill, visit.capacity, **terms, others=others)
        self._priors = priors if fit else []
        self._visits |= {one.worker: one for one in crowd}
        self._sampled.append(visit.worker)
        return replace(visit, skill=tuple(skill.tolist()))

    def _terms(self, visit: Visit) -> dict[str, Any]:
        """What she charges and may do, as the assigner takes it."""
        n, mask, prices = len(self.tasks), None, None
        if visit.available is not None:
            mask = np.zeros(n, dtype=bool)
            mask[list(visit.available)] = True
        cost = None if visit.cost is None else np.array(visit.cost)
        if visit.prices is not None:
            prices = np.ones(n) if cost is None else cost[self._kind]
            for place, price in visit.prices:
                prices[place] = price
        return {"cost": cost, "prices": prices, "available": mask}

    def _replies(self, visit: Visit) -> GoldReplies:
        """Her answers to gold tasks."""
        at, said = np.array(visit.gold, dtype=np.int64).reshape(-1, 2).T
        right = self._gold_truth[at] == said
        return GoldReplies(self._gold_class[at], right, self._gold_easiness[at])

    def _skill(self, visit: Visit, priors: Sequence[BetaPrior]) -> FloatArray:
        """Skill by type as her gold answers tell it."""
        if self.settings.skills == "plug-in":
            return plug_in_skill(self._replies(visit), len(self.types))
        return posterior_skill(self._replies(visit), priors, self.settings.skills)

    @property
    def sampling(self) -> bool:
        """Whether workers are still being sampled."""
        return self._assigner.sampling

    def labels(self) -> pd.DataFrame:
        """Labels on real tasks so far, a long table `task, worker, label`."""
        return self._votes().table()

    def _votes(self) -> Votes:
        rows = [
            (task, at, label)
            for at, visit in enumerate(self._visits.values())
            for task, label in visit.answers
        ]
        columns = np.array(rows, dtype=np.int64).reshape(-1, 3).T
        return Votes(*columns, *map(name_array, (self.tasks, self._visits, self.classes)))

    def result(self, *, seed: Seed = 0) -> pd.DataFrame:
        """Label of every task by weighted vote, with the weights of the gain (Section 4.1).

        Returns
        -------
        DataFrame
            `task, label, score, tied, votes, covered`: the vote's margin, whether it was a tie
            (then the label is a fair draw), the number of labels, and what they count together.
        """
        votes = self._votes()
        skill = np.array(
            [visit.skill or [0.5] * len(self.types) for visit in self._visits.values()]
        ).reshape(len(self._visits), len(self.types))
        p = 0.5 + self._easiness[votes.task] * (skill[votes.worker, self._kind[votes.task]] - 0.5)
        weights = promised_weights(gain_of(self.settings.gain).vote, p)
        outcome = weighted_majority(votes, weights, seed=seed)
        count = np.bincount(votes.task, minlength=len(self.tasks))
        covered = np.bincount(votes.task, self.settings.counted(p), minlength=len(self.tasks))
        return outcome.table(votes).assign(votes=count, covered=covered)

    def state(self) -> SessionState:
        """Everything needed to go on later."""
        kinds = (self.types[code] for code in self._kind.tolist())
        levels = self._gold_easiness.tolist()
        return SessionState(
            tasks=tuple(zip(self.tasks, kinds, self._easiness.tolist(), strict=True)),
            gold=tuple((*row, own) for row, own in zip(self._gold, levels, strict=True)),
            gold_per_type=self.gold_per_type,
            settings=self.settings,
            assigner=self._assigner.state(),
            sampled=tuple(self._sampled),
            priors=tuple(self._priors),
            visits=tuple(self._visits.values()),
        )

    @classmethod
    def restore(cls, saved: SessionState) -> AssignmentSession:
        """Take up a `state`; what follows is the same, to the last bit, as without the break.

        Raises
        ------
        InputError
            Its parts do not agree.
        """
        tasks, kinds, easiness = zip(*saved.tasks, strict=True) if saved.tasks else ((), (), ())
        gold = pd.DataFrame(
            [row[1:] for row in saved.gold],
            pd.Index([row[0] for row in saved.gold], dtype=object),
            ["label", "task_type", "easiness"],
            dtype=object,
        )
        index = pd.Index(tasks, dtype=object)
        session = cls(
            pd.Series(kinds, index, dtype=object),
            gold,
            gold_per_type=saved.gold_per_type,
            easiness=pd.Series(easiness, index, dtype=np.float64),
            seed=0,
            **vars(saved.settings),
        )
        session._assigner.restore(saved.assigner)
        for k, visit in enumerate(saved.visits):
            session._check(visit, f"visits[{k}]")
            session._visits[visit.worker] = visit
        judged = {visit.worker for visit in saved.visits if visit.skill is not None}
        known = len(set(saved.sampled)) == len(saved.sampled) and judged >= set(saved.sampled)
        check(known, "sampled are not workers who were judged")
        if session.sampling:
            enough = len(judged) == len(saved.assigner.sample) == len(saved.sampled)
            check(enough, "visits are not those of assigner.sample")
        else:
            enough = len(saved.sampled) == saved.settings.preliminary
            check(enough, "visits have fewer judged than preliminary workers")
        fitted = saved.settings.skills != "plug-in" and not session.sampling
        check(
            len(saved.priors) == (len(session.types) if fitted else 0),
            f"priors are not those of {len(session.types)} types",
        )
        session._sampled, session._priors = list(saved.sampled), list(saved.priors)
        return session

    def _check(self, visit: Visit, at: str) -> None:
        """Check that a saved visit is one to this session."""
        n, T = len(self.tasks), len(self.types)
        check(visit.worker not in self._visits, f"{at}.worker {visit.worker!r} is there twice")
        for name in ("cost", "skill"):
            numbers = getattr(visit, name)
            check(numbers is None or len(numbers) == T, f"{at}.{name} is not of {T} types")
        own = visit.prices or ()
        low = [
            price
            for price in (*(visit.cost or ()), *(price for _, price in own))
            if 0 < price < LEAST_PRICE
        ]
        check(not low, f"{at}.cost or prices have a price below {LEAST_PRICE:g}")
        asked, answered = visit.asked, [task for task, _ in visit.answers]
        judged = [task for task, _ in visit.gold]
        gold = len(self._gold)
        limit = gold if visit.kind == "gold" else n
        for name, places, most in (
            ("asked", asked, limit),
            ("available", visit.available or (), n),
            ("prices", [task for task, _ in own], n),
            ("gold", judged, gold),
            ("answers", answered, n),
        ):
            known = max(places, default=-1) < most and len(set(places)) == len(places)
            check(known, f"{at}.{name} are not different tasks of this session")
        typed = all(
            self._gold_class[place] >= 0 for place in (asked if visit.kind == "gold" else judged)
        )
        check(typed, f"{at} has gold of a type that no task has")
        if visit.kind != "gold":
            room = max(len(asked), len(answered)) <= visit.capacity
            check(room, f"{at} has more tasks than her capacity {visit.capacity}")
            early = self.sampling and (asked or answered)
            check(not early, f"{at} has tasks before the sample is complete")


def _price(whose: str, price: Any) -> float:
    check(
        _is_number(price, LARGEST_PRICE) and not 0 < price < LEAST_PRICE,
        f"{whose} is {checks.show(price)}: give 0, or a price from {LEAST_PRICE:g} to "
        f"{LARGEST_PRICE:g}",
    )
    return float(price)


def _is_number(value: Any, most: float) -> bool:
    return checks.is_number(value) and 0 <= value <= most
