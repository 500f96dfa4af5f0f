"""Algorithm 2 as a policy: workers arrive, are judged by gold tasks, and then get their tasks.

The first γm workers to finish their gold tasks are the preliminary ones: they are asked nothing
more, and the prices of the tasks follow from their skills. Whoever finishes later gets her tasks at
once. So nobody waits for anybody, and a worker who leaves holds nothing up. Labels are never looked
at before the end.

A label counts by Bhattacharyya's bound and votes with its log-odds, and skills are posterior means
under a prior fitted to the preliminary workers; the paper's are `gain="hoeffding"` and
`skills="plug-in"`. Labels may be priced by task, and tasks may have an easiness of their own.

Source: Ho, Jabbari, Vaughan (2013), Algorithm 2 and Section 7.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import msgspec
import numpy as np

from crowd_models.gains import gain_of
from workbench.aggregation.posteriors import log, normalised
from workbench.aggregation.voting import log_odds_weights, promised_weights, weighted_majority
from workbench.assignment.adaptive import AdaptiveAssigner, AdaptiveSettings, AssignerState
from workbench.assignment.estimates import (
    GoldReplies,
    plug_in_skill,
    posterior_skill,
    priors_of,
)
from workbench.assignment.policies import COVERED
from workbench.base import checks
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.base.seeds import Seed, sequence
from workbench.collection.policy import Belief, Goal, Policy
from workbench.collection.pool import NOTHING, Ledger, Questions
from workbench.crowd.empirical_bayes import FLAT, BetaPrior

PRELIMINARY = 0.1
"""Share of the workers who are preliminary where nothing is said."""
INSIDE = 1e-3
"""Skills that vote are kept so far from 0 and 1."""


@dataclass
class Visit:
    """A worker's stay.

    Attributes
    ----------
    gold
        Gold tasks she is still to be asked; and all that she was given.
    waiting
        Of those she was asked, the ones not yet answered.
    skill
        By type, once she is judged.
    tasks
        What she was assigned; none of a preliminary worker.
    """

    gold: list[int]
    given: list[int]
    waiting: set[int] = field(default_factory=set)
    skill: list[float] | None = None
    tasks: list[int] = field(default_factory=list)


class AlgorithmTwo(Policy):
    """The Main Algorithm over workers who arrive.

    Parameters
    ----------
    ledger, goal, seed
        As for every policy; ε is that of each task.
    preliminary
        γm: workers who are only judged; a tenth of all places by default.
    workers
        m: workers who come after them; the other places by default.
    gold_per_type
        s, gold tasks asked of each worker for each type; all of a type's gold when None.
    gain, skills, radius, mean_quality_least, on_infeasible, least_quality
        As for `workbench.assignment.adaptive.AdaptiveSettings`.

    Raises
    ------
    InputError
        No ε, more classes than two, a type without enough gold tasks for workers of unknown skill,
        labels on record, limits of labels, or a setting out of range.
    """

    knows_single_tasks = True
    begins_again = False

    def __init__(
        self,
        ledger: Ledger,
        goal: Goal,
        seed: Seed,
        *,
        preliminary: int | None = None,
        workers: int | None = None,
        gold_per_type: int | None = None,
        gain: str = "bhattacharyya",
        skills: Any = "fitted",
        radius: float | None = None,
        mean_quality_least: float | None = None,
        on_infeasible: Any = "relax",
        least_quality: float = 0.01,
    ) -> None:
        check_visits(ledger, goal)
        assert goal.epsilon is not None
        pool, places = ledger.pool, len(ledger.pool.workers)
        self.ledger, self.seed = ledger, seed
        before = max(1, round(PRELIMINARY * places)) if preliminary is None else preliminary
        self.settings = AdaptiveSettings(
            goal.epsilon,
            max(1, places - before) if workers is None else workers,
            before,
            radius,
            mean_quality_least,
            on_infeasible,
            least_quality,
            gain,
            skills,
        )
        least = 1 if gold_per_type is None else checks.count("gold_per_type", gold_per_type, 1)
        self.gold_per_type = gold_per_type
        self.known = known_skills(ledger)
        self._pools = [np.flatnonzero(pool.gold_kind == k).tolist() for k in range(len(pool.price))]
        if np.isnan(self.known).any():
            for kind, gold in enumerate(self._pools):
                if len(gold) < least:
                    raise InputError(
                        f"task type {kind} has {len(gold)} gold tasks, by which workers are "
                        f"judged: give at least {least}"
                    )
        d = pool.easiness
        self.assigner = AdaptiveAssigner(
            pool.kind,
            self.settings,
            easiness=None if d is None or bool((d == 1).all()) else d,
            seed=sequence(seed),
        )
        self.visits: dict[int, Visit] = {}
        self.sampled: list[int] = []
        self.priors: list[BetaPrior] = []
        self._finished: list[int] = []
        """Workers whose gold answers are all there, and not yet judged; in that order."""

    @property
    def gold_asked(self) -> int:
        """Gold tasks that a worker of unknown skill is asked."""
        most = self.gold_per_type
        return sum(len(gold) if most is None else min(most, len(gold)) for gold in self._pools)

    # ---- asking and hearing ----

    def next(self, worker: int | None = None, most: int | None = None) -> Questions:
        """Gold tasks first, then the tasks that she is assigned; nothing when she comes again.

        Raises
        ------
        InputError
            No worker is named; or the sample is complete, its program has no solution, and
            `on_infeasible` is `error`. The same can then be tried again.
        """
        if worker is None:
            raise InputError("a policy of visits takes workers as they arrive: name one")
        while self._finished:
            self._judge(self._finished[0])
            self._finished.pop(0)
        if worker not in self.visits:
            gold = self._gold_for(worker)
            self.visits[worker] = Visit(gold, list(gold))
        visit = self.visits[worker]
        if visit.gold:
            ask = self.ledger.affordable(_questions(worker, visit.gold[:most], gold=True))
            visit.gold = visit.gold[len(ask) :] if len(ask) else []
            visit.waiting |= set(ask.task.tolist())
            if len(ask):
                return ask
        if visit.skill is None and not visit.waiting:
            self._judge(worker)
        mine = [task for task in visit.tasks if self.ledger.open[task, worker]]
        return self.ledger.affordable(_questions(worker, mine[:most])) if mine else NOTHING

    def _gold_for(self, worker: int) -> list[int]:
        """Gold tasks that she is judged by, drawn type by type."""
        if not np.isnan(self.known[:, worker]).any():
            return []
        drawn: list[int] = []
        for gold in self._pools:
            if self.gold_per_type is None or self.gold_per_type >= len(gold):
                drawn += gold
            else:
                chosen = self.assigner.rng.choice(len(gold), self.gold_per_type, replace=False)
                drawn += [gold[k] for k in chosen]
        return drawn

    def told(self, ask: Questions, label: IntArray) -> None:  # noqa: ARG002
        """See whether that was a worker's last gold task; labels are not looked at."""
        self._resolved(ask)

    def missed(self, ask: Questions) -> None:
        """Judge her without these answers."""
        self._resolved(ask)

    def _resolved(self, ask: Questions) -> None:
        if not ask.gold:
            return
        for task, worker in zip(ask.task.tolist(), ask.worker.tolist(), strict=True):
            visit = self.visits[worker]
            visit.waiting.discard(task)
            finished = not visit.gold and not visit.waiting and visit.skill is None
            if finished and worker not in self._finished:
                self._finished.append(worker)

    # ---- judging ----

    def _judge(self, worker: int) -> None:
        """Take what gold answers say: sample a preliminary worker, give any other her tasks."""
        visit, terms = self.visits[worker], self._terms(worker)
        capacity = max(int(self.ledger.pool.capacity[worker]) - len(visit.given), 0)
        if not self.assigner.sampling:
            skill = self._skill(worker, self.priors)
            visit.tasks = self.assigner.assign(skill, capacity, **terms).tolist()
            visit.skill = skill.tolist()
            return
        types = len(self.known)
        priors, others, refitted = [FLAT] * types, None, []
        last = len(self.sampled) + 1 == self.settings.preliminary
        fit = last and self.settings.skills != "plug-in"
        if fit:
            everyone = [self._replies(person) for person in (*self.sampled, worker)]
            priors = priors_of(everyone, types)
            refitted = [self._skill(person, priors) for person in self.sampled]
            others = np.array(refitted, dtype=np.float64).reshape(len(refitted), types).T
        skill = self._skill(worker, priors)
        self.assigner.sample(skill, capacity, **terms, others=others)
        self.priors = priors if fit else []
        for person, again in zip(self.sampled, refitted, strict=bool(refitted)):
            self.visits[person].skill = again.tolist()
        self.sampled.append(worker)
        visit.skill = skill.tolist()

    def _terms(self, worker: int) -> dict[str, Any]:
        """What she charges and may do, as the assigner takes it."""
        pool = self.ledger.pool
        cost = pool.price[:, worker]
        mask: BoolArray | None = None if pool.available is None else pool.available[:, worker]
        return {
            "cost": None if bool((cost == 1).all()) else cost,
            "prices": pool.own_price.get(worker),
            "available": None if mask is None or bool(mask.all()) else mask,
        }

    def _replies(self, worker: int) -> GoldReplies:
        """Her answers to gold tasks."""
        pool, rows = self.ledger.pool, self.ledger.gold_labels
        task, _, label = rows[rows[:, 1] == worker].T
        d = np.ones(len(pool.gold)) if pool.gold_easiness is None else pool.gold_easiness
        return GoldReplies(pool.gold_kind[task], label == pool.gold[task], d[task])

    def _skill(self, worker: int, priors: list[BetaPrior]) -> FloatArray:
        """Skill by type, shape (T,): where it is not known, as her gold answers tell it."""
        replies, true_skill = self._replies(worker), self.known[:, worker]
        if self.settings.skills == "plug-in":
            skill = plug_in_skill(replies, len(true_skill))
        else:
            skill = posterior_skill(
                replies, priors or [FLAT] * len(true_skill), self.settings.skills
            )
        return np.where(np.isnan(true_skill), skill, true_skill)

    # ---- what is believed ----

    def _skills(self) -> FloatArray:
        """Skill of each worker by type, shape (T, m): known, judged, or ½."""
        skill = np.where(np.isnan(self.known), 0.5, self.known)
        for worker, visit in self.visits.items():
            if visit.skill is not None:
                skill[:, worker] = visit.skill
        return skill

    def chances_right(self) -> FloatArray:
        """Chance that each label is right, shape (k,)."""
        pool, (task, worker, _) = self.ledger.pool, self.ledger.labels.T
        p = self._skills()[pool.kind[task], worker]
        right: FloatArray = p if pool.easiness is None else 0.5 + pool.easiness[task] * (p - 0.5)
        return right

    def gathered(self) -> FloatArray:
        """What the labels of each task count together towards the requirement, shape (n,)."""
        task = self.ledger.labels[:, 0]
        counted = self.settings.counted(self.chances_right())
        gathered: FloatArray = np.bincount(task, counted, len(self.ledger.pool.tasks)).astype(float)
        return gathered

    def belief(self) -> Belief:
        """Weighted vote, and Bayes' posterior if the skills were known.

        A task is closed when it gathered what ε asks.
        """
        pool, p = self.ledger.pool, self.chances_right()
        votes = self.ledger.votes()
        weights = promised_weights(gain_of(self.settings.gain).vote, p)
        outcome = weighted_majority(votes, weights, seed=self.seed)
        joint = np.tile(log(pool.share), (len(pool.tasks), 1))
        np.add.at(joint, (votes.task, votes.label), log_odds_weights(p, 2, truncate=INSIDE))
        closed = self.gathered() >= self.settings.requirement * COVERED
        label = np.where(self.ledger.counts > 0, outcome.label, -1)
        return Belief(normalised(joint)[0], closed, label)

    # ---- going on later ----

    def state(self) -> dict[str, Any]:
        """Who came and was judged, and where the assigner is."""
        return {
            "assigner": msgspec.to_builtins(self.assigner.state()),
            "visits": [
                [worker, visit.gold, visit.given, sorted(visit.waiting), visit.skill, visit.tasks]
                for worker, visit in self.visits.items()
            ],
            "sampled": self.sampled,
            "priors": [list(prior) for prior in self.priors],
            "finished": self._finished,
        }

    def resume(self, saved: dict[str, Any]) -> None:
        """Take them up."""
        self.assigner.restore(msgspec.convert(saved["assigner"], AssignerState))
        self.visits = {
            worker: Visit(gold, answers, set(waiting), skill, tasks)
            for worker, gold, answers, waiting, skill, tasks in saved["visits"]
        }
        self.sampled, self._finished = list(saved["sampled"]), list(saved["finished"])
        self.priors = [(a, b) for a, b in saved["priors"]]


def check_visits(ledger: Ledger, goal: Goal) -> None:
    """Check that a policy of visits can do what is asked for.

    Raises
    ------
    InputError
        No ε, more classes than two, labels on record, or limits of labels.
    """
    classes = len(ledger.pool.classes)
    if goal.epsilon is None or classes != 2:
        raise InputError(
            "a policy of visits is for two classes and an ε of each task, not for "
            f"{classes} classes or a budget alone"
        )
    if ledger.least or ledger.most is not None or ledger.recorded[0]:
        raise InputError(
            "a policy of visits plans without looking at labels: it knows no labels on record, "
            "no least and no most of a task; take until-trusted"
        )


def known_skills(ledger: Ledger) -> FloatArray:
    """Skill by type and worker where it is known, NaN of all others; shape (T, m)."""
    pool = ledger.pool
    if pool.confusion is None:
        return np.full((len(pool.price), len(pool.workers)), np.nan)
    skills: FloatArray = np.einsum("tjkk->tj", pool.confusion) / 2.0
    return skills


def _questions(worker: int, tasks: list[int], *, gold: bool = False) -> Questions:
    at = np.array(tasks, dtype=np.int64)
    return Questions(at, np.full(len(at), worker, dtype=np.int64), gold)
