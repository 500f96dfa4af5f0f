"""The belief of `atoms` kept up label by label, as a policy asks and hears.

Between two refits a label moves only its own task and worker. When there are so many times as
many labels as at the last choice (`GROWTH`), the fit begins anew at several shares of the classes,
with tasks alike and of unequal easiness, and goes on from the one of most evidence; copies are
looked for. Hidden tasks, whose class the model does not see, give a temperature and a floor: errors
that more labels would not cure.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from workbench.aggregation.calibration import Calibration, calibration
from workbench.aggregation.posteriors import log, normalised
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.collection.atoms import (
    Atoms,
    Fit,
    Labels,
    begin,
    fit,
    mixed_rows,
    one_coin_atoms,
    over_easiness,
    two_coins,
)
from workbench.collection.pool import Ledger, Questions
from workbench.learning.copies import copies

GROWTH = 1.3
"""The fit is chosen anew when there are so many times as many labels."""
FIRST_SHARES = (0.5, 0.85, 0.15)
"""Of two classes: shares of the first at which fits begin."""
GAIN = 2.0
"""Nats of evidence that a richer model, or another start, must gain."""
SWEEPS = 8
"""Turns of a refit that goes on."""
HOPELESS = 0.15
"""Mean square of a task's easiness below which it is left open: it would take seven times the
labels of an easy one, or more."""
LEAST_LABELS = 6
"""Labels from which on a task may be called hopeless."""
COMPARED = 60
"""Workers, those with most labels, among whom copies are looked for."""
LEAST_HIDDEN = 5
"""Hidden tasks with labels from which on they calibrate."""
ARRAYS = ("joint", "worker", "share", "ease", "levels", "population", "messages")
NOT_SURE = "believed error: if workers err independently; hidden tasks or an audit would show"


class AtomBeliefs:
    """Posterior of tasks and workers under the model of `atoms`.

    Parameters
    ----------
    ledger
        What was asked and answered; its pool has no groups and no known skills.

    Attributes
    ----------
    grid
        The atoms.
    weight
        Posterior of atoms, shape (T·m, G); a worker at each task type is a unit, `kind · m +
        worker`.
    copying
        Workers found to copy another, shape (m,).
    doubtful
        Whether right and wrong might be interchanged.
    calibration
        Of the posterior, where hidden tasks show how sure it may be.
    """

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        pool = ledger.pool
        self.m, self.K, self.T = len(pool.workers), len(pool.classes), len(pool.price)
        self.errors: FloatArray = (1.0 - np.eye(self.K)) / (self.K - 1)
        self.grid = self._atoms()
        self.copying: BoolArray = np.zeros(self.m, dtype=bool)
        self.doubtful, self.chosen_at = False, 0
        self.calibration = Calibration(1.0)
        self.fit = begin(self._labels(), self.grid, pool.share, unequal=False)
        self.weight = normalised(self.fit.worker.copy())[0]
        self._new: list[FloatArray] = []

    def posterior(self) -> FloatArray:
        """Of each task, shape (n, K)."""
        plain = over_easiness(self.fit.joint)
        calibrated = self.calibration
        return plain if calibrated == Calibration(1.0) else calibrated.apply(plain)

    def confidence(self) -> FloatArray:
        """Posterior of the likeliest class of each task, shape (n,)."""
        return np.asarray(self.posterior().max(axis=1))

    def hopeless(self) -> BoolArray:
        """Tasks that more labels would hardly decide, shape (n,)."""
        joint, levels = self.fit.joint, self.fit.levels
        if len(levels) == 1:
            return np.zeros(len(joint), dtype=bool)
        chance = np.exp(joint - joint.max(axis=(1, 2), keepdims=True)).sum(axis=1)
        square = (chance @ levels**2) / chance.sum(axis=1)
        return np.asarray((square < HOPELESS) & (self.ledger.counts >= LEAST_LABELS))

    @property
    def floor(self) -> float:
        """Error that more labels do not cure, as hidden tasks show it."""
        return self.calibration.floor * (1.0 - 1.0 / self.K)

    def notes(self) -> list[str]:
        """Say what whoever reads the posterior must know of the workers."""
        lines = [] if self.ledger.pool.hidden is not None else [NOT_SURE]
        if self.copying.any():
            lines.append(
                f"{int(self.copying.sum())} workers seem to copy others: their labels count once, "
                "and they are not asked any more"
            )
        hopeless = self.hopeless() & (self.ledger.counts > 0)
        if hopeless.any():
            lines.append(
                f"{int(hopeless.sum())} tasks are left open: workers disagree on them so much that "
                "more labels would hardly decide"
            )
        if self.floor > 0.01:
            lines.append(
                f"hidden tasks show that {self.floor:.1%} of the answers stay wrong however many "
                "labels are bought"
            )
        return lines

    def told(self, ask: Questions, label: IntArray) -> None:
        """Move the tasks and workers of labels that have just come."""
        pool, now = self.ledger.pool, self.fit
        by_answer = self.grid.chance.transpose(2, 0, 1)
        if ask.gold:
            unit = pool.gold_kind[ask.task] * self.m + ask.worker
            s = float(now.ease @ now.levels)
            truth = pool.gold[ask.task]
            even = self.grid.chance.mean(axis=1)[:, label].T
            said = log(s * self.grid.chance[:, truth, label].T + (1.0 - s) * even)
        else:
            unit = pool.kind[ask.task] * self.m + ask.worker
            joint = now.joint[ask.task]
            cavity = np.exp(joint - joint.max(axis=(1, 2), keepdims=True))
            cavity /= cavity.sum(axis=(1, 2), keepdims=True)
            rest = (cavity * (1.0 - now.levels)).sum(axis=(1, 2)) / self.K
            easy = (cavity * now.levels).sum(axis=2) + rest[:, None]
            said = log(np.einsum("kc,kgc->kg", easy, by_answer[label]))
            rows = np.einsum("kg,kgc->kc", self.weight[unit], by_answer[label])
            message = log(mixed_rows(rows, now.levels))
            message[self.copying[ask.worker]] = 0.0
            np.add.at(now.joint, ask.task, message)
            self._new.append(message)
        np.add.at(now.worker, unit, said)
        touched = np.unique(unit)
        self.weight[touched] = normalised(now.worker[touched].copy())[0]

    def refit(self) -> None:
        """Send all messages anew; now and then choose the fit anew."""
        size = len(self.ledger.labels)
        if size > GROWTH * self.chosen_at:
            self.chosen_at = size
            self._choose()
        else:
            labels = self._labels()
            messages = np.concatenate([self.fit.messages, *self._kept_new()])
            self.fit = fit(labels, self.grid, replace(self.fit, messages=messages), sweeps=SWEEPS)
        self._new = []
        self.weight = normalised(self.fit.worker.copy())[0]
        self._calibrate()

    def state(self) -> dict[str, Any]:
        """Give all that the ledger does not hold."""
        return {
            **{name: getattr(self.fit, name).tolist() for name in ARRAYS},
            "new": [message.tolist() for message in self._new],
            "errors": self.errors.tolist(),
            "copying": self.copying.tolist(),
            "chosen_at": self.chosen_at,
            "calibration": [self.calibration.temperature, self.calibration.floor],
        }

    def resume(self, saved: dict[str, Any]) -> None:
        """Take up a `state`."""
        self.errors = np.array(saved["errors"], dtype=np.float64)
        self.grid = self._atoms()
        self.copying = np.array(saved["copying"], dtype=bool)
        self.chosen_at = int(saved["chosen_at"])
        self.calibration = Calibration(*saved["calibration"])
        levels = len(saved["levels"])
        shapes = {"joint": (-1, self.K, levels), "messages": (-1, self.K, levels)}
        arrays = {}
        for name in ARRAYS:
            array = np.array(saved[name], dtype=np.float64)
            arrays[name] = array.reshape(shapes[name]) if name in shapes else array
            expected = getattr(self.fit, name).shape
            if name in ("joint", "worker") and len(array) != expected[0]:
                raise ValueError(f"{name} has {len(array)} rows")
        self.fit = Fit(**arrays, evidence=-np.inf)
        self._new = [
            np.array(part, dtype=np.float64).reshape(-1, self.K, levels) for part in saved["new"]
        ]
        self.weight = normalised(self.fit.worker.copy())[0]

    def _atoms(self) -> Atoms:
        return two_coins() if self.K == 2 else one_coin_atoms(self.errors)

    def _labels(self) -> Labels:
        """Labels of the ledger, without those of workers who copy."""
        pool = self.ledger.pool
        rows = self.ledger.labels
        task, worker, label = rows[~self.copying[rows[:, 1]]].T
        gold, gold_worker, gold_label = self.ledger.gold_labels.T
        return Labels(
            task,
            pool.kind[task] * self.m + worker,
            label,
            pool.gold[gold],
            pool.gold_kind[gold] * self.m + gold_worker,
            gold_label,
            len(pool.tasks),
            self.T * self.m,
            self.K,
            np.repeat(np.arange(self.T), self.m),
        )

    def _kept_new(self) -> list[FloatArray]:
        """Messages since the last refit, without those of workers who copy."""
        if not self._new or not self.copying.any():
            return self._new
        new = np.concatenate(self._new)
        worker = self.ledger.labels[len(self.ledger.labels) - len(new) :, 1]
        return [new[~self.copying[worker]]]

    def _choose(self) -> None:
        """Begin at several shares, with tasks alike and not, and keep what is likeliest."""
        self._find_copies()
        labels, pool = self._labels(), self.ledger.pool
        shares = [pool.share]
        if self.K == 2:
            shares += [np.array([first, 1.0 - first]) for first in FIRST_SHARES]
        best: Fit | None = None
        for share in shares:
            one = fit(labels, self.grid, begin(labels, self.grid, share, unequal=False))
            if best is None or one.evidence > best.evidence + GAIN:
                best = one
        assert best is not None
        if self.K > 2:
            self._fit_errors(labels, best)
            best = fit(labels, self.grid, begin(labels, self.grid, best.share, unequal=False))
        unequal = fit(labels, self.grid, begin(labels, self.grid, best.share, unequal=True))
        self.fit = unequal if unequal.evidence > best.evidence + GAIN else best

    def _fit_errors(self, labels: Labels, by: Fit) -> None:
        """Which class is named where another is true, all workers together."""
        pooled: FloatArray = np.ones((self.K, self.K))
        np.add.at(pooled.T, labels.label, by.posterior[labels.task])
        pooled *= 1.0 - np.eye(self.K)
        self.errors = pooled / pooled.sum(axis=1, keepdims=True)
        self.grid = self._atoms()

    def _calibrate(self) -> None:
        """Be as sure as hidden tasks say that one may be; never surer."""
        hidden = self.ledger.pool.hidden
        if hidden is None:
            return
        at = np.flatnonzero((hidden >= 0) & (self.ledger.counts > 0))
        if len(at) < LEAST_HIDDEN:
            return
        found = calibration(over_easiness(self.fit.joint[at]), np.eye(self.K)[hidden[at]])
        self.calibration = replace(found, temperature=max(found.temperature, 1.0))

    def _find_copies(self) -> None:
        """Let workers who copy one another count as one."""
        votes = self.ledger.votes()
        many = np.bincount(votes.worker, minlength=self.m)
        some = np.sort(np.argsort(-many, kind="stable")[:COMPARED])
        place = np.full(self.m, -1)
        place[some] = np.arange(len(some))
        kept = place[votes.worker] >= 0
        first = copies(
            replace(
                votes,
                task=votes.task[kept],
                worker=place[votes.worker[kept]],
                label=votes.label[kept],
                workers=votes.workers[some],
            )
        )
        _, members_of, size = np.unique(first, return_inverse=True, return_counts=True)
        for number in np.flatnonzero(size > 1).tolist():
            members = some[members_of == number]
            self.copying[members] = members != members[many[members].argmax()]
