"""Workers who copy one another: who seems to, what shows it, and whose labels count once.

Workers who seem very good answer the same few *common tasks*, and so do those of the cold start;
of labels that were bought task by task agreement would mislead, as disputed tasks draw more of
them. A set of workers who agree on nearly all common tasks is taken for copies of one of them where

- the labels are likelier so, by more than a bound of nats for each whose own voice is lost; and
- they are wrong on the same tasks more often than chance would have it.

While the first is nearly even, more workers are asked about the tasks that would tell.

Source: beyond the papers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
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
SHARED, ALIKE = 20, (0.84, 0.9, 0.96)
"""Common tasks that two workers must share, and shares of them on which they must agree, for them
to be looked at as copies."""
SUSPECT_LABELS, SUSPECT_SKILL = 30, 0.88
"""Labels, and believed chance to be right, from which on a worker is compared with others."""
MERGE_GAIN = 2.0
"""Nats of evidence that merging workers must gain for each whose own voice is lost."""
UNDECIDED = 14.0
"""Nats beside these within which it is undecided whether to merge workers."""
# By judgement, not tuned.
BY_CHANCE, DEALS = 0.01, 199
"""Workers are merged if they would be wrong on so much the same tasks with less chance than this;
and how often errors are dealt anew to tell."""
COPY_PRIOR = (9.0, 1.0)
"""Weights of a Beta distribution: the chance that a copy repeats a label, beforehand."""
TURNS = 20
"""Turns at most of the fits by which it is judged whom to merge."""


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

    def merged(self, before: IntArray) -> tuple[IntArray, bool]:
        """Find who speaks for whom, shape (m,), and whether the labels leave it undecided.

        Parameters
        ----------
        before
            Who spoke for whom so far, shape (m,): those sets are looked at again.
        """
        alone = np.arange(self.workers)
        sets = self._agreeing_sets(before)
        if not sets:
            return alone, False
        plain, apart = self.evidence(alone, self.share)
        evidence, fits = [], []
        for members in sets:
            # A fit ends where it began to go: each begins where the other ended, too. All sets are
            # held against the best that was found of everybody for herself.
            merged = alone.copy()
            merged[members] = members[0]
            one, together = self.evidence(merged, self.share, apart)
            plain = max(plain, self.evidence(alone, None, together)[0])
            evidence.append(one - MERGE_GAIN * (len(members) - 1))
            fits.append(together)
        gains = np.array(evidence) - plain
        merged = alone.copy()
        for at in np.argsort(gains)[::-1].tolist():
            members = sets[at]
            if gains[at] <= 0.0 or (merged[members] != members).any():
                continue
            if self._chance_wrong_alike(members, fits[at]) <= BY_CHANCE:
                merged[members] = members[0]
        return merged, bool((np.abs(gains) < UNDECIDED).any())

    def evidence(
        self, merged: IntArray, share: FloatArray | None, other: GridFit | None = None
    ) -> tuple[float, GridFit]:
        """Log-evidence of the labels, merged workers' repeated labels being copies or not.

        Of more than `most` labels those of the common tasks count, and of evenly spread others.

        Parameters
        ----------
        merged
            Who speaks for each worker, shape (m,).
        share
            Shares of the classes to start from, shape (K,); None for not.
        other
            A fit to start from; None for not.

        Returns
        -------
        The evidence, and its fit, in which workers are as those they are merged with.
        """
        labels = self.unit_labels(merged)
        looked = np.arange(labels.tasks) % -(-len(self.labels) // self.most) == 0
        looked[self.common] = True
        labels = of_some(labels, looked[labels.task])
        starts = [] if share is None else [begin(labels, self.grid, share, unequal=False)]
        starts += [] if other is None else [begin_from(labels, self.grid, other)]
        ends = [fit(labels, self.grid, each, sweeps=TURNS, settled=self.settled) for each in starts]
        end = max(ends, key=lambda each: each.evidence)
        copying = self._log_chance_of_copies(merged, looked)
        # The fewer labels count, the more do shares of first labels: Dirichlet's constant differs.
        weights = labels.shares + 1.0
        scale = gammaln(weights.sum()) - gammaln(weights).sum()
        units = end.worker.reshape(-1, self.workers, len(self.grid.prior))[:, merged]
        end = replace(end, worker=units.reshape(end.worker.shape))
        return float(end.evidence + scale + copying), end

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

        Of the common tasks, by a fit in which they are one voter: their errors are dealt anew among
        the tasks that each answered. Where the one whose label counts errs and the fit follows her,
        the others all seem wrong there, so that this chance is too small rather than too large.
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

    def _agreeing_sets(self, before: IntArray) -> list[IntArray]:
        """Sets of workers who agree on nearly all common tasks, and those merged before.

        By several degrees of agreement: an expert who agrees with copies now and then links them.
        """
        common, worker, label = self._common_labels().T
        workers = np.flatnonzero(np.bincount(worker, minlength=self.workers) >= SHARED)
        if len(workers) < 2:
            return []
        column = np.full(self.workers, -1)
        column[workers] = np.arange(len(workers))
        row = np.full(int(self.common.max()) + 1, -1)
        row[self.common] = np.arange(len(self.common))
        table = np.full((len(self.common), len(workers)), -1)
        here = column[worker] >= 0
        table[row[common[here]], column[worker[here]]] = label[here]
        named = (table >= 0).astype(np.float64)
        shared = named.T @ named
        classes = range(len(self.share))
        agreed = sum((table == k).T.astype(np.float64) @ (table == k) for k in classes)
        sets = {
            tuple(np.flatnonzero(before == who).tolist())
            for who in np.flatnonzero(np.bincount(before) > 1).tolist()
        }
        for degree in ALIKE:
            linked = (shared >= SHARED) & (agreed >= degree * np.maximum(shared, 1.0))
            group = connected_components(linked, directed=False)[1]
            sets |= {tuple(workers[group == at].tolist()) for at in range(int(group.max()) + 1)}
        return [np.array(members) for members in sorted(sets) if len(members) > 1]

    def _common_labels(self) -> IntArray:
        return self.labels[np.isin(self.labels[:, 0], self.common)]


def seem_very_good(labels: IntArray, weight: FloatArray, grid: SkillGrid) -> BoolArray:
    """Which workers seem very good after many labels, shape (m,).

    Parameters
    ----------
    labels
        Labels that judge workers, shape (k, 3).
    weight
        Posterior of the points of the grid by type and worker, shape (T, m, G); of each point the
        largest over types counts.
    grid
        What workers may be like.
    """
    good = np.bincount(labels[:, 1], minlength=weight.shape[1]) >= SUSPECT_LABELS
    right = np.einsum("gcc->g", grid.chance) / grid.chance.shape[1]
    good[good] = weight[:, good].max(axis=0) @ right >= SUSPECT_SKILL
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
