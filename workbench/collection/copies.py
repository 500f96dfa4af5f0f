"""Workers who copy one another: who seems to, what shows it, and whose labels count once.

Workers who seem very good answer the same few *common tasks*, and so do those of the cold start;
of labels that were bought task by task agreement would mislead, as disputed tasks draw more of
them. Sets of workers who agree on nearly all of these, or on all tasks that they share, are looked
at by turns, those who agree most first, and each given the copies found so far: who takes copies
for able workers takes able workers for copies, but these agree less. A set is merged where

- the labels are likelier so, by more than a bound of nats for each whose own voice is lost; and
- they are wrong on the same tasks more often than chance would have it.

Who agrees on everything seems never to be wrong where she is believed, or always where she is not.
So a set that agrees on all common tasks is merged as well where the labels are a hundred times
likelier so, and the others say that it errs together, or it agrees on all tasks that it shares.

While the first is nearly even, more workers are asked about the tasks that would tell; and where
only the others say that a set errs together, those who agree less wait.

Source: beyond the papers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components
from scipy.special import betaln, gammaln

from workbench.aggregation.belief_choice import of_some
from workbench.aggregation.belief_propagation import (
    GridFit,
    UnitLabels,
    begin,
    begin_from,
    fit,
    over_easiness,
)
from workbench.aggregation.skill_grid import SkillGrid
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.seeds import stream

# Chosen on draws of crowds in which some copy: docs/findings/until-trusted.md, at its end.
SHARED, ALIKE = 20, (0.9, 0.96, 1.0)
"""Tasks that two workers must share, and shares of them on which they must agree, for them to be
looked at as copies; a set must agree in the mean on the least of these."""
SUSPECT_LABELS, SUSPECT_SKILL = 30, 0.88
"""Labels, and believed chance to be right, from which on a worker is compared with others."""
MERGE_GAIN = 2.0
"""Nats of evidence that merging workers must gain for each whose own voice is lost."""
UNDECIDED = 14.0
"""Nats beside these within which it is undecided whether to merge workers."""
# By judgement, not tuned.
BY_CHANCE, DEALS = 0.01, 199
"""Workers are merged if they would be wrong on so much the same tasks with less chance than this,
and how often errors are dealt anew to tell; by its inverse the labels must be likelier where their
agreement takes the place of that."""
COPY_PRIOR = (9.0, 1.0)
"""Weights of a Beta distribution: the chance that a copy repeats a label, beforehand."""
TURNS = 20
"""Turns at most of the fits by which it is judged whom to merge."""
TWO_COUNTS = 2**32
"""What the greater of two counts is multiplied by that stand in one number."""


@dataclass(frozen=True, eq=False)
class ComparedPairs:
    """Pairs of workers who share so many tasks, and how many, and on how many of these they agree.

    All of shape (pairs,).
    """

    first: IntArray
    second: IntArray
    shared: IntArray
    agreed: IntArray

    @classmethod
    def of(cls, labels: IntArray, workers: int) -> ComparedPairs:
        """Compare workers by some labels, shape (k, 3), with at least `SHARED` tasks in common."""
        task, worker, label = labels.T
        answer = task * (int(label.max(initial=0)) + 1) + label
        # Both counts in one number: what is looked up pair by pair in a table costs far more.
        both = _together(task, worker, workers) * TWO_COUNTS + _together(answer, worker, workers)
        first, second = both.nonzero()
        kept = (first < second) & (both.data >= SHARED * TWO_COUNTS)
        shared, agreed = np.divmod(both.data[kept], TWO_COUNTS)
        return cls(first[kept].astype(np.int64), second[kept].astype(np.int64), shared, agreed)

    def links(self, degree: float, workers: int) -> coo_array:
        """Pairs that agree on such a share of their tasks, as a table of shape (m, m)."""
        some = self.agreed >= degree * self.shared
        shape = (workers, workers)
        return coo_array((np.ones(some.sum()), (self.first[some], self.second[some])), shape=shape)

    def agreement(self, members: IntArray) -> float:
        """Share of tasks on which pairs of members agree; 1 where none are compared."""
        inside = np.isin(self.first, members) & np.isin(self.second, members)
        shared = int(self.shared[inside].sum())
        return float(self.agreed[inside].sum() / shared) if shared else 1.0


def _together(what: IntArray, worker: IntArray, workers: int) -> csr_array:
    """Of how many things both workers of each pair are, shape (m, m), of k of each; shapes (k,)."""
    size = (int(what.max(initial=-1)) + 1, workers)
    named = csr_array((np.ones(len(what), dtype=np.int64), (what, worker)), shape=size)
    return named.T.tocsr() @ named


@dataclass(frozen=True, eq=False)
class CopySearch:
    """Looks for workers who copy one another.

    Attributes
    ----------
    labels
        Labels that judge workers, shape (k, 3): task, worker, class.
    common
        Tasks by whose answers workers are compared.
    grid
        What workers may be like.
    share
        Shares of the classes beforehand, shape (K,).
    workers
        m.
    most, settled
        Labels by which sets are compared, where there are more; and the change of posteriors below
        which their fits end.
    unit_labels
        The labels that count for the belief, if of each worker another, or she herself, speaks;
        from an array of shape (m,).
    """

    labels: IntArray
    common: IntArray
    grid: SkillGrid
    share: FloatArray
    workers: int
    most: int
    settled: float
    unit_labels: Callable[[IntArray], UnitLabels]

    @cached_property
    def anywhere(self) -> ComparedPairs:
        """Pairs by all tasks that they share."""
        return ComparedPairs.of(self.labels, self.workers)

    def merged(self, before: IntArray) -> tuple[IntArray, bool]:
        """Find who speaks for whom, shape (m,), and whether the labels leave it in doubt.

        Parameters
        ----------
        before
            Who spoke for whom so far, shape (m,): those sets are looked at again.
        """
        merged, in_doubt = np.arange(self.workers), False
        sets = self._agreeing_sets(before)
        if not sets:
            return merged, False
        apart = self.evidence(merged)
        for members, agreement in sets:
            voices = np.bincount(merged, minlength=self.workers)
            if (voices[merged[members]] > 1).any():  # some of them are merged by now
                continue
            others = self._fit_of_others(members, merged)
            tried = merged.copy()
            tried[members] = members[0]
            # A fit ends where it began to go: each begins where the other ended, too.
            together = _likelier(self.evidence(tried, apart), self.evidence(tried, others))
            apart = _likelier(apart, self.evidence(merged, together))
            gain = together.evidence - MERGE_GAIN * (len(members) - 1) - apart.evidence
            if gain <= -UNDECIDED:
                continue
            in_doubt |= gain < UNDECIDED
            shown = self._chance_wrong_alike(members, together) <= BY_CHANCE
            others_say_so = not shown and self._chance_wrong_alike(members, others) <= BY_CHANCE
            told = others_say_so or self.anywhere.agreement(members) == 1.0
            by_agreement = told and agreement == 1.0 and gain > -np.log(BY_CHANCE)
            if by_agreement or (shown and gain > 0.0):
                merged, apart = tried, together
            elif others_say_so and gain < UNDECIDED:
                break
        return merged, bool(in_doubt)

    def evidence(self, merged: IntArray, start: GridFit | None = None) -> GridFit:
        """Fit the labels, merged workers' repeated labels being copies or not.

        Of more than `most` labels those of the common tasks count, and of evenly spread others.

        Parameters
        ----------
        merged
            Who speaks for each worker, shape (m,).
        start
            A fit to start from; None for equal workers and the shares beforehand.

        Returns
        -------
        The fit, in which workers are as those they are merged with; its evidence is that of all
        labels, copies included.
        """
        labels = self.unit_labels(merged)
        looked = self._looked(labels.tasks)
        labels = of_some(labels, looked[labels.task])
        end = self._fitted(labels, start)
        copying = self._log_chance_of_copies(merged, looked)
        # The fewer labels count, the more do shares of first labels: Dirichlet's constant differs.
        weights = labels.shares + 1.0
        scale = gammaln(weights.sum()) - gammaln(weights).sum()
        units = end.worker.reshape(-1, self.workers, len(self.grid.prior))[:, merged]
        return replace(
            end,
            worker=units.reshape(end.worker.shape),
            evidence=float(end.evidence + scale + copying),
        )

    def _fit_of_others(self, members: IntArray, merged: IntArray) -> GridFit:
        """Fit the labels of all but some workers: what they say of the tasks without these."""
        labels = self.unit_labels(merged)
        rest = ~np.isin(labels.unit % self.workers, members)
        rest &= self._looked(labels.tasks)[labels.task]
        return self._fitted(of_some(labels, rest))

    def _fitted(self, labels: UnitLabels, start: GridFit | None = None) -> GridFit:
        if start is None:
            begun = begin(labels, self.grid, self.share, unequal=False)
        else:
            begun = begin_from(labels, self.grid, start)
        return fit(labels, self.grid, begun, sweeps=TURNS, settled=self.settled)

    def _looked(self, tasks: int) -> BoolArray:
        """Tasks whose labels count, shape (n,)."""
        looked: BoolArray = np.arange(tasks) % -(-len(self.labels) // self.most) == 0
        looked[self.common] = True
        return looked

    def _log_chance_of_copies(self, merged: IntArray, looked: BoolArray) -> float:
        """Log-chance of the labels of merged workers after their first on a task, as copies of it.

        Parameters
        ----------
        merged
            Who speaks for each worker, shape (m,).
        looked
            Tasks whose labels count, shape (n,).
        """
        task, worker, label = self.labels[looked[self.labels[:, 0]]].T
        _, first, pair = np.unique(
            task * self.workers + merged[worker], return_index=True, return_inverse=True
        )
        same = int((label == label[first][pair]).sum()) - len(first)
        different = len(label) - len(first) - same
        # The chance to copy is unknown: integrated.
        right, wrong = COPY_PRIOR
        chance = betaln(right + same, wrong + different) - betaln(right, wrong)
        return float(chance - different * np.log(len(self.share) - 1))

    def _chance_wrong_alike(self, members: IntArray, by: GridFit) -> float:
        """Chance that workers would be wrong on so much the same tasks if each erred for herself.

        Of the common tasks, by a fit: their errors are dealt anew among the tasks that each
        answered. Where they are one voter, and the one whose label counts errs and the fit follows
        her, the others all seem wrong there, so that this chance is too small rather than too
        large.
        """
        task, worker, label = self._common_labels().T
        mine = np.isin(worker, members)
        task, worker, label = task[mine], worker[mine], label[mine]
        wrong = (label != over_easiness(by.joint)[task].argmax(axis=1)).astype(np.float64)
        place = np.unique(task, return_inverse=True)[1]

        def together(errors: FloatArray) -> float:
            return float((np.bincount(place, errors) ** 2).sum())

        rng, seen = stream(len(self.labels), "errors dealt anew"), together(wrong)
        rows = [np.flatnonzero(worker == who) for who in members.tolist()]
        more = 0
        for _ in range(DEALS):
            dealt = wrong.copy()
            for own in rows:
                dealt[own] = rng.permutation(wrong[own])
            more += together(dealt) >= seen - 1e-9
        return (more + 1) / (DEALS + 1)

    def _agreeing_sets(self, before: IntArray) -> list[tuple[IntArray, float]]:
        """Sets of workers who agree on nearly all common tasks, and those merged before.

        Or on everything that they share; with their agreement on common tasks, the greatest first.
        By several degrees of agreement: an expert who agrees with copies now and then links them.
        """
        common = ComparedPairs.of(self._common_labels(), self.workers)
        anywhere = self.anywhere.links(1.0, self.workers)
        sets = {
            tuple(np.flatnonzero(before == who).tolist())
            for who in np.flatnonzero(np.bincount(before) > 1).tolist()
        }
        for degree in ALIKE:
            linked = common.links(degree, self.workers) + anywhere
            group = connected_components(linked, directed=False)[1]
            many = np.flatnonzero(np.bincount(group) > 1).tolist()
            sets |= {tuple(np.flatnonzero(group == at).tolist()) for at in many}
        found = [np.array(members) for members in sets if len(members) > 1]
        alike = [(members, common.agreement(members)) for members in found]
        alike = [each for each in alike if each[1] >= min(ALIKE)]
        return sorted(alike, key=lambda each: (-each[1], -len(each[0]), each[0].tolist()))

    def _common_labels(self) -> IntArray:
        return self.labels[np.isin(self.labels[:, 0], self.common)]


def _likelier(one: GridFit, other: GridFit) -> GridFit:
    return other if other.evidence > one.evidence else one


def seem_very_good(labels: IntArray, right: FloatArray) -> BoolArray:
    """Which workers seem very good after many labels, shape (m,).

    Parameters
    ----------
    labels
        Labels that judge workers, shape (k, 3).
    right
        Believed chance that each is right, shape (m,).
    """
    good: BoolArray = right >= SUSPECT_SKILL
    if good.any():
        good &= np.bincount(labels[:, 1], minlength=len(right)) >= SUSPECT_LABELS
    return good


def contested(labels: IntArray, common: IntArray, able: BoolArray, classes: int) -> IntArray:
    """Common tasks on which those who seem very good are contradicted by half of the others.

    Where they copy one another they are wrong together on some of these; on the other tasks
    more labels would hardly say so.

    Parameters
    ----------
    labels
        Labels that judge workers, shape (k, 3).
    common
        The common tasks.
    able
        Who seems very good, shape (m,).
    classes
        K.
    """
    task, worker, label = labels[np.isin(labels[:, 0], common)].T
    votes = np.zeros((2, int(common.max(initial=-1)) + 1, classes))
    np.add.at(votes, (able[worker].astype(np.int64), task, label), 1.0)
    by_others, by_able = votes[:, common]
    for_them = by_others[np.arange(len(by_others)), by_able.argmax(axis=1)]
    total = by_others.sum(axis=1)
    against = (by_able.sum(axis=1) > 0) & (total > 0) & (total - for_them >= total / 2.0)
    return np.asarray(common[against])
