"""The policy of ratings: the pair that lowers the posterior variance most for its price.

**What is believed** is `aggregation.ratings`: levels, gains and noise of the workers from tasks of
known rating, and a floor that is raised until the model foretells the error made on such tasks,
each left out. Hidden tasks are asked about like all others, so that they are rated by the workers
who are chosen, and what is promised holds for what is bought. The model is fitted anew as ratings
of known tasks grow in number, and to all of them before the collection ends.

**Who is asked.** Until every known task has a few ratings, known tasks and others without any, in
turn, of the workers who have rated fewest (`_evenly`). Then precisions add, so that a rating of
precision p brings the variance V(P) of a task down to V(P + p), whatever it says: the pair is asked
of the largest V(P) − max(V(P + p), ε²) for its price (`_best`), for what lies below ε is worth
nothing; on a budget, or for a mean error, of the largest V(P) − V(P + p). Whoever comes later meets
some hidden tasks first, every other of her questions.

**When it ends.** A task is closed where V(P) ≤ ε², or all are where the mean of V is. Nothing is
spent on tasks that cannot be closed: on none, where the floor alone makes ε; on one that those who
can still rate it tell too little of. But the raised floor holds what few ratings of known tasks
leave open of the workers, too. So a task is bought ratings until the fit's own floor would close
it; and where no other is left, known tasks are rated a little longer.

Source: the cover of Ho, Jabbari, Vaughan (2013), Section 3, with precisions in place of qualities
(`crowd_models.ratings`), bought greedily; beyond the papers.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any, ClassVar

import numpy as np

from workbench.aggregation.ratings import RatingModel, Ratings, TaughtRatings
from workbench.aggregation.ratings import taught_ratings as taught
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.base.seeds import Seed, sequence, stream
from workbench.collection.policy import Goal, Policy, RatingBelief, refuse_kind
from workbench.collection.pool import ALIKE, NOTHING, Ledger, Questions

# By judgement, held to the recorded crowds of docs/findings/ratings.md.
START, START_ON_BUDGET = 6, 3
"""Ratings that each known task gets before precisions decide; for ε more than on a budget, for with
few tasks are closed by the first fit that happens to be too sure."""
SURE = 8
"""Ratings of each known task before tasks are left open."""
MEET = 5
"""Known tasks that a worker has rated before she is chosen for seeming better than others; whoever
comes by name meets as many first."""
GROWTH = 1.3
"""Ratings of known tasks, of those that the model is fitted to, from which on it is fitted anew."""
TASKS, LABELS = 20, 20
"""A round asks about one task in `TASKS`, or one rating for `LABELS` that there are, if more."""
CELLS = 2**22
"""Pairs of a task and a worker that are compared at a time."""
ENDLESS = 1e300
"""Precision that leaves nothing open but the floor."""
CLOSE = 1e-9
"""By which part a variance may lie above ε² in a closed task."""


class MostToldPerPrice(Policy):
    """Ask the pair that lowers the variance most for its price, until ε or no money is left.

    Attributes
    ----------
    fitted
        How many labels, and gold labels, the model that decides is fitted to.
    """

    rates: ClassVar[bool] = True

    def __init__(self, ledger: Ledger, goal: Goal, seed: Seed) -> None:
        self.ledger, self.goal, self.seed = ledger, goal, sequence(seed)
        refuse_kind("ratings", type(self), ledger.pool.scale)
        pool, lot = ledger.pool, stream(self.seed, "equals")
        hidden = np.full(len(pool.tasks), -1) if pool.hidden is None else pool.hidden
        self.hidden = np.flatnonzero(hidden >= 0)
        self.row: IntArray = np.full(len(pool.tasks), -1, dtype=np.int64)
        self.row[self.hidden] = np.arange(len(self.hidden))
        known = np.concatenate([hidden[self.hidden], pool.gold])
        self.truth: FloatArray = pool.classes.astype(np.float64)[known]
        self.lot = lot.permutation(len(pool.tasks)), lot.permutation(len(pool.gold))
        self.worker_lot = lot.permutation(len(pool.workers))
        self.start = START_ON_BUDGET if goal.epsilon is None else START
        self.fitted = (0, 0)
        self._fits: dict[tuple[int, int], TaughtRatings | str] = {}

    # What is believed

    def _now(self) -> tuple[int, int]:
        """How many labels, and gold labels, there are."""
        return len(self.ledger.labels), len(self.ledger.gold_labels)

    def _key(self, many: tuple[int, int]) -> tuple[int, int]:
        """How many ratings of hidden tasks, and of gold tasks, the first so many labels hold."""
        return int((self.row[self.ledger.labels[: many[0], 0]] >= 0).sum()), many[1]

    def _known(self, many: tuple[int, int]) -> Ratings:
        """Ratings of known tasks, gold tasks after hidden ones, among the first so many labels."""
        labels, gold = self.ledger.labels[: many[0]], self.ledger.gold_labels[: many[1]]
        labels = labels[self.row[labels[:, 0]] >= 0]
        task = np.concatenate([self.row[labels[:, 0]], gold[:, 0] + len(self.hidden)])
        worker, label = np.concatenate([labels[:, 1:], gold[:, 1:]]).T
        value = np.array(self.ledger.ratings)[label]
        return Ratings(task, worker, value, len(self.truth), len(self.ledger.left))

    def _fit(self, many: tuple[int, int]) -> TaughtRatings | str:
        """Fit to the first so many labels; why not, where known tasks do not tell enough."""
        ratings, key = self._known(many), self._key(many)
        if key not in self._fits:
            decides = self._key(self.fitted)
            self._fits = {old: fit for old, fit in self._fits.items() if old == decides}
            try:
                self._fits[key] = taught(ratings, self.truth, seed=self.seed)
            except InputError as wrong:
                self._fits[key] = str(wrong)
        return self._fits[key]

    def taught(self) -> TaughtRatings | None:
        """What known tasks tell, by all ratings so far; None where they do not tell enough.

        Its tasks are the hidden ones, in order, and then the gold tasks.
        """
        found = self._fit(self._now())
        return None if isinstance(found, str) else found

    def _deciding(self) -> TaughtRatings | None:
        """What the labels tell by which it is decided."""
        found = self._fit(self.fitted)
        return None if isinstance(found, str) else found

    def rated(self) -> Ratings:
        """All ratings of tasks."""
        task, worker, label = self.ledger.labels.T
        value = np.array(self.ledger.ratings)[label]
        return Ratings(task, worker, value, len(self.row), len(self.ledger.left))

    def hidden_ratings(self) -> FloatArray:
        """Known rating of each task that is hidden among the others, NaN of others, shape (n,)."""
        found: FloatArray = np.full(len(self.row), np.nan)
        found[self.hidden] = self.truth[: len(self.hidden)]
        return found

    def _precision(self, model: RatingModel) -> FloatArray:
        """P: precision of the ratings of each task together, shape (n,)."""
        task, worker, _ = self.ledger.labels.T
        found = np.bincount(task, model.precision[worker], len(self.row))
        return found.astype(np.float64)

    def _closed(self, model: RatingModel, precision: FloatArray) -> BoolArray:
        """Tasks that are within ε, or all where the mean is, shape (n,)."""
        ledger = self.ledger
        if self.goal.epsilon is None:
            return np.zeros(len(precision), dtype=np.bool_)
        return self._within(model, precision) & (ledger.counts > 0) & ledger.enough

    def belief(self) -> RatingBelief:  # type: ignore[override]
        """Posterior mean and standard deviation, by all ratings; means before anything is known."""
        found, ratings = self.taught(), self.rated()
        if found is None:
            usual = float(self.truth.mean())
            value = np.where(ratings.counts > 0, np.nan_to_num(ratings.means()), usual)
            none: BoolArray = np.zeros(len(value), dtype=np.bool_)
            return RatingBelief(value, np.full(len(value), np.nan), none)
        estimates, scale = found.model.estimates(ratings), self.ledger.pool.scale
        assert scale is not None
        value = np.clip(estimates.value, scale.low, scale.high)
        closed = self._closed(found.model, estimates.precision)
        return RatingBelief(value, estimates.error, closed)

    # Who is asked

    def next(self, worker: int | None = None, most: int | None = None) -> Questions:
        """Pairs to ask now; see `Policy`."""
        n, many = len(self.row), len(self.ledger.labels)
        size = max(n // TASKS, many // LABELS, 1)
        if most is not None:
            size = min(size, most) if worker is None else most
        if self._is_due():
            self.fitted = self._now()
        ask = self._ask(worker, size)
        if not len(ask) and self.is_behind():
            self.fitted = self._now()
            ask = self._ask(worker, size)
        return self.ledger.affordable(ask)

    def _is_due(self) -> bool:
        """Whether ratings of known tasks have grown by their share."""
        return sum(self._key(self._now())) > GROWTH * sum(self._key(self.fitted))

    def _ask(self, worker: int | None, size: int) -> Questions:
        """Known tasks and others in turn, while known ones are to be rated; then the best pairs.

        Before it is left at open tasks, more is learned of known ones, which may show a way.
        """
        found, lacks = self._deciding(), self._to_meet(worker)
        few = found is not None and lacks > 0
        most: float = SURE if found is None else np.inf if few else self.start
        known = self._known_tasks(worker, min(size, lacks) if few else size, most)
        if known.gold:
            return known
        if found is None or (len(known) and not few):
            others = self._spread(worker, size, known)
        else:
            others = self._best(worker, size, found, known)
        ask = self._in_turn(known, others, worker, size) if len(known) else others
        if len(ask) or found is None or self.goal.epsilon is None:
            return ask
        still = ~self._closed(found.model, self._precision(found.model))
        return self._known_tasks(worker, size, SURE) if still.any() else NOTHING

    def _in_turn(
        self, known: Questions, others: Questions, worker: int | None, size: int
    ) -> Questions:
        """Take of known tasks and others one after the other, as long as there are both."""
        odd = 0 if worker is None else int((self.ledger.labels[:, 1] == worker).sum()) % 2
        place = np.concatenate(
            [2 * np.arange(len(known)) + odd, 2 * np.arange(len(others)) + 1 - odd]
        )
        first = np.argsort(place, kind="stable")[:size]
        task, who = (
            np.concatenate([getattr(known, name), getattr(others, name)])[first]
            for name in ("task", "worker")
        )
        return Questions(task, who)

    def _to_meet(self, worker: int | None) -> int:
        """How many known tasks a worker who is here should rate before others are all she gets."""
        if worker is None:
            return 0
        return max(MEET - int(self._known(self._now()).given[worker]), 0)

    def _known_tasks(self, worker: int | None, size: int, most: float) -> Questions:
        """Known tasks that have fewer ratings than `most`; gold tasks, apart from others, first."""
        ledger, pool = self.ledger, self.ledger.pool
        load = self._known(self._now()).given
        if len(pool.gold):
            there = pool.gold_available
            asked = ((True if there is None else there) & ~ledger.gold_open).sum(axis=1)
            tasks = np.flatnonzero(asked < most)
            ask = self._evenly(tasks, asked, load, worker, size, gold=True)
            if len(ask):
                return ask
        asked = ledger.counts + ledger.waiting
        tasks = self.hidden[asked[self.hidden] < most]
        return self._evenly(tasks, asked, load, worker, size)

    def _spread(self, worker: int | None, size: int, beside: Questions) -> Questions:
        """Other tasks without a rating, beside known ones, before precisions are known.

        Where known tasks tell nothing, a budget is spread evenly all the same.
        """
        if self.goal.epsilon is not None and not len(beside):
            return NOTHING
        asked = self.ledger.counts + self.ledger.waiting
        tasks = np.flatnonzero(self.row < 0)
        if len(beside):
            tasks = tasks[asked[tasks] == 0]
        load = np.bincount(self.ledger.labels[:, 1], minlength=len(self.ledger.left))
        return self._evenly(tasks, asked, load, worker, size, beside=beside)

    def _evenly(
        self,
        tasks: IntArray,
        asked: IntArray,
        load: IntArray,
        worker: int | None,
        size: int,
        *,
        gold: bool = False,
        beside: Questions = NOTHING,
    ) -> Questions:
        """Tasks with fewest ratings, one each, of the workers with fewest ratings."""
        ledger, pool = self.ledger, self.ledger.pool
        still = ledger.gold_open if gold else ledger.open
        kind, taken = pool.gold_kind if gold else pool.kind, np.zeros(len(ledger.left), np.int64)
        np.add.at(taken, beside.worker, 1)
        load = load + taken
        pairs: list[tuple[int, int]] = []
        for task in tasks[np.lexsort((self.lot[gold][tasks], asked[tasks]))].tolist():
            able = still[task] & (ledger.left > taken) & self._affordable(int(kind[task]))
            who = np.flatnonzero(able) if worker is None else np.array([worker])[able[[worker]]]
            if len(who):
                chosen = int(who[np.lexsort((self.worker_lot[who], load[who]))[0]])
                load[chosen] += 1
                taken[chosen] += 1
                pairs.append((task, chosen))
            if len(pairs) == size:
                break
        task, who = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        return Questions(task, who, gold and bool(pairs))

    def _affordable(self, kind: int | IntArray) -> BoolArray:
        """Workers whose rating of a task of this type the money reaches, shape (…, m)."""
        within: BoolArray = self.ledger.pool.price[kind] <= self.ledger.money + 1e-9
        return within

    def _best(
        self, worker: int | None, size: int, found: TaughtRatings, beside: Questions
    ) -> Questions:
        """The pairs that lower the variance most for their price, one a task at most."""
        precision, left = self._precision(found.model), self.ledger.left
        tells = _trusted(found.model)
        here = np.arange(len(left)) if worker is None else np.array([worker])
        here = here[(left[here] > 0) & (tells[here] > 0)]
        for model in self._by_floor(found):
            ready = self._wanted(found, model, precision) & (self.ledger.waiting == 0)
            ready[beside.task] = False
            rows = np.flatnonzero(ready)
            rows = rows[np.argsort(precision[rows], kind="stable")]
            rows = rows[: max(CELLS // max(len(here), 1), 1)]
            if len(rows) and len(here):
                return self._told_most(model, rows, here, precision[rows], tells[here], size)
        return NOTHING

    def _told_most(
        self,
        model: RatingModel,
        rows: IntArray,
        here: IntArray,
        precision: FloatArray,
        tells: FloatArray,
        size: int,
    ) -> Questions:
        """The best of some workers for each of some tasks, the pairs that tell most first.

        Parameters
        ----------
        rows, here
            Tasks and workers, shapes (r,) and (c,).
        precision, tells
            Of the ratings that each task has, and of each worker's, shapes (r,) and (c,).
        """
        pool, terms = self.ledger.pool, model.terms
        after = terms.error(precision[:, None] + tells) ** 2
        gain = terms.error(precision[:, None]) ** 2 - np.maximum(after, self._bar(rows)[:, None])
        kind = pool.kind[rows]
        able = self.ledger.open[np.ix_(rows, here)] & self._affordable(kind)[:, here] & (gain > 0.0)
        worth = np.where(able, gain, 1.0) / pool.divisor[kind][:, here]
        # To as many digits as are alike on all processors.
        key = np.where(able, np.round(np.log(worth), ALIKE), -np.inf)
        best, top = key.argmax(axis=1), key.max(axis=1)
        first = np.argsort(-top, kind="stable")[:size]
        first = first[np.isfinite(top[first])]
        return Questions(rows[first], here[best[first]])

    def _by_floor(self, found: TaughtRatings) -> list[RatingModel]:
        """The models to go by: with the raised floor, and where none closes by it the fit's own.

        On a budget the fit's alone: a floor that is raised without end would say that no rating
        tells anything.
        """
        fitted = found.model.with_floor(found.fitted_floor)
        return [fitted] if self.goal.epsilon is None else [found.model, fitted]

    def _bar(self, rows: IntArray) -> FloatArray:
        """Variance below which a task's is worth nothing, shape (rows,)."""
        ledger, epsilon = self.ledger, self.goal.epsilon
        if epsilon is None or self.goal.mean:
            return np.zeros(len(rows))
        lacks = (ledger.counts[rows] == 0) | ~ledger.enough[rows]
        return np.where(lacks, 0.0, epsilon**2)

    # When it ends

    def _within_reach(self, model: RatingModel) -> bool:
        """Whether the floor lets ε be reached."""
        return self.goal.epsilon is None or model.terms.least < self.goal.epsilon

    def _reachable(self, model: RatingModel, precision: FloatArray) -> FloatArray:
        """Precision of each task were all asked who can still be, shape (n,).

        `ENDLESS` where ratings are still to come.
        """
        ledger = self.ledger
        most = precision.copy()
        own = np.where(ledger.left > 0, model.precision, 0.0)
        for some in self._blocks():
            tell = ledger.open[some] * own
            if ledger.most is not None:
                room = np.maximum(ledger.most - ledger.counts[some] - ledger.waiting[some], 0)
                tell = np.sort(tell, axis=1)[:, ::-1]
                tell = tell * (np.arange(len(own)) < room[:, None])
            most[some] += tell.sum(axis=1)
        return np.where(ledger.waiting > 0, ENDLESS, most)

    def _blocks(self) -> Iterator[slice]:
        """Tasks, so many at a time that their pairs with all workers fit into memory."""
        each = max(CELLS // max(len(self.ledger.left), 1), 1)
        for start in range(0, len(self.row), each):
            yield slice(start, start + each)

    def _wanted(self, found: TaughtRatings, model: RatingModel, precision: FloatArray) -> BoolArray:
        """Open tasks that a model would close by ratings, shape (n,); on a budget all.

        By the fit's own floor they are bought until it would close them: the raised one falls as
        workers are known better.
        """
        ledger = self.ledger
        if self.goal.epsilon is None:
            return np.ones(len(precision), dtype=np.bool_)
        still = ~self._closed(found.model, precision)
        lacks = (ledger.counts == 0) | ~ledger.enough
        can = self._within(model, self._reachable(model, precision))
        return np.asarray(still & can & (lacks | ~self._within(model, precision)))

    def _within(self, model: RatingModel, precision: FloatArray) -> BoolArray:
        """Whether ratings of such precision keep ε, on each task or in the mean, shape (n,)."""
        assert self.goal.epsilon is not None
        variance = model.terms.error(precision) ** 2
        if self.goal.mean:
            variance = np.full(len(variance), variance.mean())
        return np.asarray(variance <= self.goal.epsilon**2 * (1.0 + CLOSE))

    def is_behind(self) -> bool:
        """Whether known tasks have been rated since the last fit."""
        return self._key(self._now()) != self._key(self.fitted)

    def is_over(self) -> bool:
        """Whether nobody would be asked any more."""
        return not len(self._ask(None, 1))

    def out_of_reach(self) -> str:
        """Say what floor, or what workers, keep the error above ε."""
        epsilon, found = self.goal.epsilon, self._fit(self._now())
        if epsilon is None or isinstance(found, str):
            return "" if epsilon is None else f"Nothing can be promised: {found}."
        terms, tasks = found.model.terms, len(found.left.tasks)
        if not self._within_reach(found.model):
            return (
                f"{epsilon:.4g} points are out of reach however many rate a task: what all who "
                f"rate it are off together makes {terms.least:.3g}, measured on {tasks} tasks of "
                "known rating; ask for more than that."
            )
        precision = self._precision(found.model)
        still = ~self._closed(found.model, precision)
        if not still.any() or self._wanted(found, found.model, precision).any():
            return ""
        least = terms.error(self._reachable(found.model, precision)[still])
        if self.goal.mean:
            made = float(np.sqrt((least**2).mean()))
            return f"Were all asked who still can be, answers would be off by {made:.3g} points."
        return (
            f"Were all asked who still can be, the open tasks would be off by {least.min():.3g} "
            "points or more."
        )

    def people_help(self) -> bool:
        """Whether ratings of more people may close tasks: not where the floor forbids it."""
        found = self.taught()
        return found is None or self._within_reach(found.model)

    def to_close(self) -> FloatArray | None:
        """Price of the ratings that would close each task, those that tell most for it first."""
        found = self.taught()
        if found is None or self.goal.epsilon is None or self.goal.mean:
            return None
        model, ledger, pool = found.model, self.ledger, self.ledger.pool
        cost: FloatArray = np.full(len(self.row), np.inf)
        if not self._within_reach(model):
            return cost
        lacks = model.terms.requirement(self.goal.epsilon) - self._precision(model)
        for task in range(len(cost)):
            price = pool.price[pool.kind[task]]
            who = np.flatnonzero(ledger.open[task] & (ledger.left > 0) & (model.precision > 0))
            who = who[np.argsort(price[who] / model.precision[who], kind="stable")]
            enough = np.flatnonzero(np.cumsum(model.precision[who]) >= lacks[task] * (1.0 - CLOSE))
            if len(enough):
                cost[task] = price[who[: enough[0] + 1]].sum()
        return np.where(self._closed(model, self._precision(model)), 0.0, cost)

    # What is kept

    def version(self) -> Hashable:
        """What the model that decides is fitted to."""
        return self.fitted

    def state(self) -> dict[str, Any]:
        """How many labels the model that decides is fitted to: it follows from them."""
        return {"fitted": list(self.fitted)}

    def resume(self, saved: dict[str, Any]) -> None:
        """Fit to as many labels as before."""
        labels, gold = (int(many) for many in saved["fitted"])
        if not (0 <= labels <= self._now()[0] and 0 <= gold <= self._now()[1]):
            raise ValueError("fitted to labels that are not there")
        self.fitted = labels, gold


def _trusted(model: RatingModel) -> FloatArray:
    """Precision of each worker as far as she is chosen by it, shape (m,).

    Of who has rated few known tasks it is that of all at most: of many such workers those who seem
    the best are mostly lucky.
    """
    usual = float(np.average(model.precision, weights=model.told))
    few = model.told < MEET
    return np.where(few, np.minimum(model.precision, usual), model.precision)
