"""What labels say of tasks and of workers when neither is known: belief propagation.

Worker j names the true class with her ability p_j, else another class. Nobody knows p_j: a grid of
abilities carries a posterior for each worker, under a prior that all workers share and that is
fitted to them (nonparametric empirical Bayes, drawn toward a wide prior). Each label sends two
messages by turns, and neither contains what the other one said:

- to the worker: was she right? Judged by the labels of the *others* on that task (the cavity);
- to the task: how much does her word count? Judged by her labels on *other* tasks.

So a worker is never judged by her own vote, and a few lucky labels do not make an expert: the mean
over the posterior of p enters, which is what a label of unknown weight is worth. How the classes
differ comes third: rows of her confusion matrix are drawn to (p_j, pooled errors) with a weight in
answers under which the labels are likeliest; a crowd of one-coin workers gives it no bounds.

Between two refits a label moves only its own task and worker.

Source: Liu, Peng, Ihler (2012), "Variational inference for crowdsourcing", Section 3, for belief
propagation with a prior of abilities; Dawid, Skene (1979) for the matrices.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from crowd_papers.rivals.groups import GroupVotes
from workbench.aggregation import log, normalised, temperature
from workbench.base import BoolArray, FloatArray, IntArray
from workbench.collection import Ledger, Questions, within
from workbench.crowd import MOST_WEIGHT, likeliest_weight
from workbench.learning import find_copies

BINS = 49
"""Cavity chances that a label is right are counted in bins, even in log-odds from −6 to 6; the
outer two are certain."""
HYPER = 2.0
"""Weight of the wide prior of abilities, in workers."""
LEAST_CHANCE = 1e-4
"""Probability of an answer that a worker of known skill is said never to give."""
ARRAYS = ("joint", "weight", "population", "heard", "counts", "errors")
"""What changes as labels come, messages apart."""
GROWTH = 1.3
"""Rows are fitted anew when there are so many times as many labels."""
STEPS, SWEEPS = 200_000, (4, 30)
"""Labels (or tasks) that a refit goes through, and how often at least and at most."""
SIGN = 2.0
"""Standard errors by which workers must be better than chance on the whole."""
COMPARED = 60
"""Workers, those with most labels, among whom copies are looked for."""
HYPER_GROUP = 1.0
"""The same in a group, whose members are alike."""
MOST_WRONG = 0.9
"""Pooled errors make a label of another class at most so likely as of its own, or as errors spread
evenly do: fitted to few labels they would exceed it, and classes change places."""
REVERSED = (
    "warning: nearly as many workers seem worse than chance as better, so that right and wrong may "
    "be interchanged: bring gold for some tasks"
)
SETTLED = 1e-3
"""Refit until no task's posterior moves by more."""


@dataclass(frozen=True)
class AbilityGrid:
    """Abilities that a worker may have.

    Attributes
    ----------
    ability
        p, shape (G,), descending in `gain`.
    gain
        Information of a label in nats, shape (G,): Kullback–Leibler divergence of two classes.
    prior
        The wide prior, shape (G,).
    heard
        Chance of a label that is right with probability r: p r + (1 − p)(1 − r)/(K − 1), by
        ability and bin, shape (G, B).
    """

    ability: FloatArray
    gain: FloatArray
    prior: FloatArray
    heard: FloatArray
    classes: int

    @property
    def unlike(self) -> FloatArray:
        """Divergence of a guess from each ability in nats, shape (G,)."""
        chance = 1.0 / self.classes
        right = chance * np.log(chance / self.ability)
        return np.asarray(right + (1.0 - chance) * np.log((1.0 - chance) / (1.0 - self.ability)))


def grid(classes: int) -> AbilityGrid:
    """Make the grid of abilities for K classes."""
    chance = 1.0 / classes
    above = np.array([0.0, 0.05, *np.arange(0.1, 0.95, 0.05), 0.94, 0.97, 0.99])
    # Of more classes a worker below chance would only tell what a task is not; whole crowds of
    # them are a second solution, at odds with every vote.
    # Of two, every ability above chance has its mirror image: were there none as far below, a
    # crowd with workers who are always wrong would be likelier with all labels reversed.
    below = -above[1:] if classes == 2 else above[:0]
    ability = chance + (1.0 - chance) * np.concatenate([above, below])
    prior = np.concatenate([[0.25], np.full(len(above) - 1, 0.7), np.full(len(below), 0.05)])
    prior[1:] /= len(above) - 1
    other = (1.0 - ability) / (classes - 1)
    gain = (ability - other) * np.log(ability / other)
    order = np.argsort(-gain, kind="stable")
    ability, gain, prior = ability[order], gain[order], prior[order]
    right = 1.0 / (1.0 + np.exp(-np.linspace(-6.0, 6.0, BINS)))
    right[[0, -1]] = 0.0, 1.0
    heard = np.outer(ability, right) + np.outer(1.0 - ability, 1.0 - right) / (classes - 1)
    return AbilityGrid(ability, gain, prior, heard, classes)


def chances(joint: FloatArray) -> FloatArray:
    """Turn unnormalised logarithms (n, c) into posteriors, which overwrite them."""
    return normalised(joint)[0]


def _bins(right: FloatArray) -> IntArray:
    odds = np.log(np.maximum(right, 1e-9)) - np.log(np.maximum(1.0 - right, 1e-9))
    place = np.rint((np.clip(odds, -6.0, 6.0) + 6.0) * ((BINS - 1) / 12.0))
    bins: IntArray = place.astype(np.int64)
    return bins


class Beliefs:
    """Posterior of tasks and abilities, kept up label by label.

    A worker at each task type is a unit of her own, `kind · m + worker`.

    Parameters
    ----------
    ledger
        What was asked and answered.
    forget
        Weight that a label loses with each later one of the same unit; 0 for workers who do not
        change.

    Attributes
    ----------
    joint
        Unnormalised log-posterior of each task, shape (n, K).
    weight
        Posterior of abilities, shape (T·m, G).
    population
        Fitted prior of abilities, shape (T, G).
    doubtful
        Whether right and wrong might be interchanged: nearly as many are worse than chance.
    heat
        Temperature of the posterior, above 1 where hidden tasks show it to believe too much.
    """

    merged_groups = models = None
    """Groups are neither merged nor believed jointly: their labels count for less (`groups`)."""
    newcomers_alike = False

    def __init__(self, ledger: Ledger, forget: float = 0.0) -> None:
        self.ledger, self.forget = ledger, forget
        pool = ledger.pool
        self.m, self.K, self.T = len(pool.workers), len(pool.classes), len(pool.price)
        self.grid = grid(self.K)
        units = self.m * self.T
        self.known_gain: FloatArray = np.full(units, np.nan)
        self.joint: FloatArray = np.tile(log(pool.share), (len(pool.tasks), 1))
        self.groups = None if pool.group is None else GroupVotes(pool.group)
        self._copying: BoolArray = np.zeros(self.m, dtype=bool)
        self.doubtful, self.heat = False, 1.0
        self._sure: FloatArray | None = None  # kept up with `joint` as labels come
        # Whom a worker is like: all of no group, or her group.
        apart = np.zeros(self.m, dtype=np.int64) if pool.group is None else pool.group + 1
        self.like: IntArray = (np.arange(self.T)[:, None] + self.T * apart).ravel()
        self.population: FloatArray = np.tile(self.grid.prior, (int(self.like.max()) + 1, 1))
        self.weight: FloatArray = self.population[self.like]
        self.heard: FloatArray = np.zeros((units, BINS))
        self.counts: FloatArray = np.zeros((units, self.K, self.K))
        self.rows_weight, self.rows_at = MOST_WEIGHT, 0
        self.errors: FloatArray = (1.0 - np.eye(self.K)) / (self.K - 1)
        self._store: FloatArray = np.empty((256, self.K))
        self._size = 0
        self.known, self._point = _known(pool.confusion, units, self.grid)
        self._log_heard = np.log(self.grid.heard)
        self._without = 1.0 / self.grid.heard
        self._right_without = self.grid.ability[:, None] * self._without
        if self.known is not None:
            self._weigh()

    @property
    def copying(self) -> BoolArray:
        """Workers found to copy another, shape (m,)."""
        return self._copying

    @property
    def messages(self) -> FloatArray:
        """Log-chance of each label of the ledger by true class, as last sent; shape (k, K)."""
        return self._store[: self._size]

    def state(self) -> dict[str, Any]:
        """Give all that the ledger does not hold."""
        saved = {name: getattr(self, name).tolist() for name in ARRAYS}
        if self.groups is not None:
            saved["correlation"] = self.groups.correlation.tolist()
            saved["group"] = self.groups.group.tolist()
        rows = [self.rows_weight, self.rows_at, self.copying.tolist(), self.doubtful, self.heat]
        return {**saved, "messages": self.messages.tolist(), "rows": rows}

    def resume(self, saved: dict[str, Any]) -> None:
        """Take up a `state`."""
        self._sure = None
        for name in ARRAYS:
            array = np.array(saved[name], dtype=np.float64)
            if array.shape != getattr(self, name).shape:
                raise ValueError(f"{name} has shape {array.shape}")
            setattr(self, name, array)
        self._store = np.array(saved["messages"], dtype=np.float64).reshape(-1, self.K)
        self._size = len(self._store)
        if self._size != len(self.ledger.labels):
            raise ValueError(f"messages are of {self._size} labels")
        self.rows_weight, self.rows_at, copying, self.doubtful, self.heat = saved["rows"]
        self._copying = np.array(copying, dtype=bool)
        if "group" in saved:
            self.groups = GroupVotes(np.array(saved["group"], dtype=np.int64))
            self.groups.correlation = np.array(saved["correlation"], dtype=np.float64)

    def posterior(self) -> FloatArray:
        """Of each task, shape (n, K)."""
        return chances(self.joint / self.heat)

    def confidence(self) -> FloatArray:
        """Posterior of the likeliest class of each task, shape (n,)."""
        if self._sure is None:
            self._sure = self._confidence(self.joint)
        return self._sure

    def cost(self) -> FloatArray:
        """Chance that each answer is wrong, shape (n,)."""
        return 1.0 - self.confidence()

    def _confidence(self, joint: FloatArray) -> FloatArray:
        peak = np.maximum.reduce(list(joint.T))
        total: FloatArray = sum(np.exp((column - peak) / self.heat) for column in joint.T)
        return 1.0 / total

    def notes(self) -> list[str]:
        """Say what whoever reads the posterior must know of the workers."""
        notes = [REVERSED] if self.doubtful else []
        if self.copying.any():
            notes.append(
                f"{int(self.copying.sum())} workers seem to copy others: their labels count once, "
                "and they are not asked any more"
            )
        return notes

    def told(self, ask: Questions, label: IntArray) -> None:
        """Move the tasks and workers of labels that have just come."""
        pool = self.ledger.pool
        if ask.gold:
            unit = pool.gold_kind[ask.task] * self.m + ask.worker
            truth = after = np.eye(self.K)[pool.gold[ask.task]]
        else:
            unit = pool.kind[ask.task] * self.m + ask.worker
            truth = chances(self.joint[ask.task])
            mean = self.weight[unit] @ self.grid.ability
            message = self._message(unit, label, mean, np.zeros_like(truth))
            if self.groups is not None:
                message *= self.groups.next_weights(self.ledger, ask)[:, None]
            np.add.at(self.joint, ask.task, message)
            if self._sure is not None:
                self._sure = self._sure.copy()
                self._sure[ask.task] = self._confidence(self.joint[ask.task])
            self._append(message)
            after = chances(self.joint[ask.task])
        bins = _bins(truth[np.arange(len(label)), label])
        touched, at = np.unique(unit, return_inverse=True)
        if self.forget:
            kept = (1.0 - self.forget) ** np.bincount(at)
            self.heard[touched] *= kept[:, None]
            self.counts[touched] *= kept[:, None, None]
        if self.groups is not None and not ask.gold:  # those in a group wait for the refit
            alone = self.groups.group[ask.worker] < 0
            unit, bins, label, after = unit[alone], bins[alone], label[alone], after[alone]
        np.add.at(self.heard, (unit, bins), 1.0)
        np.add.at(self.counts.transpose(0, 2, 1), (unit, label), after)
        self._weigh(touched)

    def refit(self, *, anew: bool = False) -> None:  # noqa: ARG002
        """Send all messages anew until they settle, and fit what workers have in common."""
        sweeps = int(np.clip(STEPS // max(self._size, len(self.joint)), *SWEEPS))
        pool, (task, worker, label) = self.ledger.pool, self.ledger.labels.T
        unit = pool.kind[task] * self.m + worker
        kept = self._kept(unit)
        grown = self._size > GROWTH * self.rows_at
        if grown:
            self._find_copies()
        if self.groups is not None:
            kept = kept * self.groups.evidence(task, worker)
        cell = (unit * self.K + label).astype(np.int64)
        gold_heard, gold_counts = self._gold()
        before = self.posterior()
        for _ in range(sweeps):
            own = sent = self.messages.copy()
            if self.groups is not None:
                own = self.groups.together(task, worker, own)
            cavity = chances(_side_by_side(np.subtract, self.joint.take(task, axis=0), own))
            bins = _bins(cavity[np.arange(len(task)), label])
            spot = unit * BINS + bins
            self.heard = gold_heard + np.bincount(spot, kept, minlength=gold_heard.size).reshape(
                gold_heard.shape
            )
            seen = cavity
            if self._by_rows:
                seen = chances(log(cavity) + sent) * kept[:, None]
                self.counts = gold_counts + _summed(cell, seen, gold_counts.shape)
            self._weigh()
            self._fit_population()
            spread = (self.weight @ self._right_without) / (self.weight @ self._without)
            without = spread[unit, bins]
            if self.groups is not None:
                without = self.groups.alone(
                    worker, without, (self.weight @ self.grid.ability)[unit]
                )
            self.messages[:] = self._message(unit, label, without, seen)
            if self.groups is not None:
                if pool.group is not None:
                    self.groups.fit(self.ledger, self._one_coin())
                self.messages[:] *= self.groups.weights(task, worker)[:, None]
            if self._upside_down(gold_heard):
                self._store[: self._size] = self.messages[:, ::-1]
            self.joint = log(pool.share) + _columns(task, self.messages, len(pool.tasks))
            now = self.posterior()
            moved, before = float(np.abs(now - before).max(initial=0.0)), now
            if moved < SETTLED:
                break
        if not self._by_rows:  # nobody has asked for them before
            seen = chances(log(cavity) + sent) * kept[:, None]
            self.counts = gold_counts + _summed(cell, seen, gold_counts.shape)
        if grown:
            self._fit_rows()
        self._fit_heat()
        self._sure = None
        self._weigh()

    # What the policy asks of a belief that knows tasks of unequal easiness, and starts of its own.

    def outgrown(self, _: float) -> bool:
        """False: one fit goes on."""
        return False

    def hopeless(self) -> BoolArray:
        """None: tasks are alike."""
        return np.zeros(len(self.joint), dtype=bool)

    def closed_at_floor(self, _: float) -> BoolArray:
        """None: there is no floor."""
        return self.hopeless()

    def evidence_needed(self, _: float) -> None:
        """Not known."""

    def _upside_down(self, of_gold: FloatArray) -> bool:
        """Whether labels are likelier if all but gold is reversed, few being worse than chance."""
        if self.K > 2 or self.known is not None:
            return False
        turned = of_gold + (self.heard - of_gold)[:, ::-1]
        lean = self._evidence(self.heard) - self._evidence(turned)
        against = bool((lean < 0.0).any())
        self.doubtful = against and bool(abs(lean.sum()) < SIGN * np.sqrt((lean**2).sum()))
        return bool(lean.sum() < 0.0)

    def _evidence(self, heard: FloatArray) -> FloatArray:
        """Log-chance of what was heard of each unit under the wide prior, shape (units,)."""
        joint = heard @ self._log_heard.T + np.log(self.grid.prior)
        peak: FloatArray = joint.max(axis=1)
        evidence: FloatArray = peak + np.log(np.exp(joint - peak[:, None]).sum(axis=1))
        return evidence

    def _fit_heat(self) -> None:
        """Let posteriors believe what hidden tasks allow, and never more."""
        hidden = self.ledger.pool.hidden
        if hidden is None:
            return
        at = np.flatnonzero((hidden >= 0) & (self.ledger.counts > 0))
        self.heat = max(temperature(chances(self.joint[at]), hidden[at]), 1.0)

    def _find_copies(self) -> None:
        """Let workers who copy one another count as one, if no groups are given."""
        if self.ledger.pool.group is not None or self.known is not None:
            return
        votes = self.ledger.votes()
        many = np.bincount(votes.worker, minlength=self.m)
        some = np.sort(np.argsort(-many, kind="stable")[:COMPARED])
        place = np.full(self.m, -1)
        place[some] = np.arange(len(some))
        kept = place[votes.worker] >= 0
        first = find_copies(
            replace(
                votes,
                task=votes.task[kept],
                worker=place[votes.worker[kept]],
                label=votes.label[kept],
                workers=votes.workers[some],
            )
        )
        _, set_, size = np.unique(first, return_inverse=True, return_counts=True)
        alike = np.flatnonzero(size > 1)
        self._copying[:] = False
        group = np.full(self.m, -1)
        for number, label in enumerate(alike):
            members = some[set_ == label]
            group[members] = number
            self._copying[members] = members != members[many[members].argmax()]
        self.groups = GroupVotes(group) if len(alike) else None
        if self.groups is not None:
            self.groups.correlation[:] = 1.0

    def _one_coin(self) -> FloatArray:
        """Chance of each answer by worker and true class, types alike, shape (m, K, K)."""
        p = (self.weight @ self.grid.ability).reshape(self.T, self.m).mean(axis=0)[:, None, None]
        chance: FloatArray = np.where(np.eye(self.K, dtype=bool), p, (1.0 - p) * self.errors)
        return chance

    @property
    def _by_rows(self) -> bool:
        """Whether workers differ in more than ability, so that rows of their matrices count."""
        return self.rows_weight < MOST_WEIGHT / 2

    def _append(self, message: FloatArray) -> None:
        end = self._size + len(message)
        if end > len(self._store):
            grown = np.empty((2 * end, self.K))
            grown[: self._size] = self.messages
            self._store = grown
        self._store[self._size : end] = message
        self._size = end

    def _message(
        self, unit: IntArray, label: IntArray, mean: FloatArray, own: FloatArray
    ) -> FloatArray:
        """Log-chance of each label by true class, shape (k, K).

        Parameters
        ----------
        mean
            Ability of its worker without it, shape (k,).
        own
            What it added to her counts, shape (k, K).
        """
        right = np.eye(self.K, dtype=bool)[label]
        chance = np.where(right, mean[:, None], self._wrong(mean, label))
        if self._by_rows:
            counts = self.counts[unit, :, label] - own
            total = self.counts[unit].sum(axis=2) - own
            s = self.rows_weight
            chance = (np.maximum(counts, 0.0) + s * chance) / (np.maximum(total, 0.0) + s)
        if self.known is not None:
            sure = self.known[unit, :, label]
            chance = np.where(np.isnan(sure), chance, sure)
        return log(chance)

    def _wrong(self, mean: FloatArray, label: IntArray) -> FloatArray:
        """Chance of each label where another class is true, by that class, shape (k, K)."""
        wrong = (1.0 - mean)[:, None] * self.errors[:, label].T
        most = np.maximum(MOST_WRONG * mean, (1.0 - mean) / (self.K - 1))
        capped: FloatArray = np.minimum(wrong, most[:, None])
        return capped

    def _weigh(self, units: IntArray | slice = slice(None)) -> None:
        """Posterior of abilities from what was heard."""
        joint = self.heard[units] @ self._log_heard.T + log(self.population)[self.like[units]]
        self.weight[units] = chances(_side_by_side(np.add, joint, self._point[units]))

    def _fit_population(self) -> None:
        seen = self.heard.sum(axis=1) > 0
        for kind in range(len(self.population)):
            here = seen & (self.like == kind)
            wide = HYPER if kind < self.T else HYPER_GROUP
            total = wide * self.grid.prior + self.weight[here].sum(axis=0)
            self.population[kind] = total / total.sum()

    def _fit_rows(self) -> None:
        """Weight of the rows that ability and pooled errors give, and those errors."""
        counts, self.rows_at = self.counts, self._size
        pooled = counts.sum(axis=0) * (1.0 - np.eye(self.K)) + (1.0 - np.eye(self.K))
        self.errors = pooled / pooled.sum(axis=1, keepdims=True)
        seen = counts.sum(axis=(1, 2)) > 0
        mean = (self.weight[seen] @ self.grid.ability)[:, None, None]
        base = mean * np.eye(self.K) + (1.0 - mean) * self.errors
        self.rows_weight = likeliest_weight(counts[seen], base) if seen.any() else MOST_WEIGHT

    def _kept(self, unit: IntArray) -> FloatArray:
        """Weight of each label by how many later ones its unit gave, shape (k,)."""
        if not self.forget:
            return np.ones(len(unit))
        later = within(unit[::-1])[::-1]
        kept: FloatArray = np.power(1.0 - self.forget, later.astype(np.float64))
        return kept

    def _gold(self) -> tuple[FloatArray, FloatArray]:
        """Evidence of gold labels: by unit and bin, and by unit, true class and answer."""
        pool, (task, worker, label) = self.ledger.pool, self.ledger.gold_labels.T
        unit = pool.gold_kind[task] * self.m + worker
        kept = self._kept(unit)
        truth = np.eye(self.K)[pool.gold[task]]
        bins = np.where(pool.gold[task] == label, BINS - 1, 0)
        heard: FloatArray = np.zeros(self.heard.shape)
        np.add.at(heard, (unit, bins), kept)
        cell = unit * self.K + label
        return heard, _summed(cell, truth * kept[:, None], self.counts.shape)


def _side_by_side(join: np.ufunc, one: FloatArray, other: FloatArray) -> FloatArray:
    """Join two tables; columns lie side by side in memory: what is done by column is faster so."""
    joined: FloatArray = join(one, other, out=np.empty(one.shape, order="F"))
    return joined


def _columns(index: IntArray, rows: FloatArray, size: int) -> FloatArray:
    """Sums of rows by index, shape (size, K)."""
    return np.stack([np.bincount(index, column, minlength=size) for column in rows.T], axis=1)


def _summed(cell: IntArray, rows: FloatArray, shape: tuple[int, ...]) -> FloatArray:
    """Sums by (unit, answer) of rows over true classes, as (unit, true class, answer)."""
    units, K, _ = shape
    return _columns(cell, rows, units * K).reshape(units, K, K).transpose(0, 2, 1)


def _known(
    confusion: FloatArray | None, units: int, grid: AbilityGrid
) -> tuple[FloatArray | None, FloatArray]:
    """Known matrices by unit, and −∞ at all abilities but the one that tells as much as they do."""
    G = len(grid.gain)
    if confusion is None:
        return None, np.zeros((units, G))
    K = confusion.shape[-1]
    rows = np.clip(confusion.reshape(units, K, K), LEAST_CHANCE, 1.0)
    information = (rows * log(rows)).sum(axis=2).sum(axis=1) * K
    information = (information - np.einsum("uka,ula->u", rows, log(rows))) / (K * (K - 1))
    nearest: IntArray = np.abs(grid.gain - information[:, None]).argmin(axis=1)
    other = (np.arange(G) != nearest[:, None]) & ~np.isnan(information)[:, None]
    return rows, np.where(other, -np.inf, 0.0)
