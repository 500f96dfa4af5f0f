"""The belief of `grid` kept up label by label, as a policy asks and hears.

Between two refits a label moves only its own task and worker. When there are so many times as
many labels as at the last choice (`GROWTH`), the fit begins anew at several shares of the classes,
with tasks alike and of unequal easiness, and goes on from the one of most evidence; copies are
looked for. Hidden tasks, whose class the model does not see, give a temperature and a floor: errors
that more labels would not cure.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from scipy.sparse.csgraph import connected_components
from scipy.special import betaln, gammaln

from workbench.aggregation.belief_choice import (
    choose,
    mean_temperature,
    of_some,
    orientation_odds,
    pooled_errors,
)
from workbench.aggregation.belief_propagation import (
    GridFit,
    UnitLabels,
    begin,
    begin_from,
    fit,
    mixed_rows,
    over_easiness,
)
from workbench.aggregation.beliefs import averaged
from workbench.aggregation.calibration import Calibration, mean_calibration
from workbench.aggregation.pool import pooled
from workbench.aggregation.posteriors import Earlier, log, normalised
from workbench.aggregation.skill_grid import SkillGrid, one_coin_grid, two_coins
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.seeds import Seed, stream
from workbench.collection.belief_warnings import REVERSED, changed, contradicted
from workbench.collection.exact_skills import KnownSkills, tempered_beside
from workbench.collection.final_answers import LEAST_HIDDEN, majority_shares, weighted_mean
from workbench.collection.merged_groups import MergedGroups
from workbench.collection.pool import Ledger, Questions
from workbench.crowd.votes import Votes

GROWTH, DOUBTED = 1.4, 1.2
"""The fit is chosen anew when there are so many times as many labels; and while right and wrong may
be interchanged."""
COMPARED = 12_000
"""Labels by which several starts are compared, where there are more."""
DOUBT = 6.0
"""Nats by which workers must speak for themselves, and not for right and wrong interchanged."""
GAIN = 2.0
"""Nats of evidence that merging workers must gain for each whom she speaks for."""
SWEEPS, SETTLED = 8, 0.01
"""Turns of a refit that goes on, and the change of posteriors below which fits end: what is left
then is the slow creep of shares that the next fits go on with."""
HOPELESS = 0.055
"""What a label tells of a task, beside an easy one, below which it is left open: it would take
eighteen times the labels, or more."""
LEAST_LABELS = 6
"""Labels from which on a task may be called hopeless."""
LEAST_ROOM = 0.1
"""Share of ε that a floor must leave, for tasks to be labelled until they are below it."""
SHARED, ALIKE = 20, (0.84, 0.9, 0.96)
"""Common tasks that two workers must share, and shares of them on which they must agree, for
their merging to be thought of."""
SUSPECT_LABELS, SUSPECT_SKILL = 30, 0.88
"""Labels, and believed mean chance to be right, from which on a worker is compared with others."""
UNDECIDED = 14.0
"""Nats beside these within which it is undecided whether to merge workers."""
LOOKED = 1.04
"""Copies are looked for when there are so many times as many labels of the common tasks."""
TURNS = 20
"""Turns of the fits by which it is judged whom to merge."""
BY_CHANCE, DEALS = 0.01, 199
"""Workers are merged if they would be wrong on so much the same tasks with less chance than this;
and how often errors are dealt anew to tell."""
ARRAYS = ("joint", "worker", "share", "ease", "levels", "population", "messages")


@dataclass(frozen=True, eq=False)
class TaskView:
    """What is asked of the beliefs at every step, by task.

    Attributes
    ----------
    posterior, top
        Of classes, and that of the likeliest; shapes (n, K) and (n,).
    square
        Mean square of easiness, shape (n,).
    """

    posterior: FloatArray
    top: FloatArray
    square: FloatArray

    def moved(self, rows: IntArray, now: TaskView) -> TaskView:
        """With some tasks as they are now; what was handed out stays as it was."""
        parts = {each.name: getattr(self, each.name).copy() for each in fields(self)}
        for name, whole in parts.items():
            whole[rows] = getattr(now, name)
        return TaskView(**parts)


class GridBeliefs:
    """Posterior of tasks and workers under the model of `grid`.

    Parameters
    ----------
    ledger
        What was asked and answered. What a worker of known skill says counts as her skill has it:
        she is not judged. Members of a group are one worker (`merged_groups`).
    common
        Tasks by whose answers workers are compared with one another; all by default.

    Attributes
    ----------
    grid
        What workers may be like.
    weight
        Posterior of the points, shape (T·m, G); a worker at each task type is a unit, `kind · m +
        worker`. Of a known skill the nearest point.
    known
        Workers whose skill is known; None without.
    own_gain
        What a label of each unit of known skill tells in nats, NaN of others; shape (T·m,).
    voters
        Groups whose members are one voter; None without.
    merged
        Who speaks for each worker, shape (m,): herself, or one of the copies that she belongs to.
    undecided
        Whether labels do not say if some workers copy one another.
    orientation
        Log-odds that right and wrong are not interchanged, at least 0; infinite where that is no
        question.
    calibration
        Of the posterior, where hidden tasks show how far it may be believed.
    outvoted
        Whether in the end a plain majority weighs most, by the hidden tasks.
    """

    grid: SkillGrid
    models: BoolArray | None = None
    """Workers who are models that are believed together, shape (m,); None where none are."""

    def __init__(self, ledger: Ledger, common: IntArray | None = None) -> None:
        self.ledger = ledger
        pool = ledger.pool
        self.m, self.K, self.T = len(pool.workers), len(pool.classes), len(pool.price)
        self.errors: FloatArray = (1.0 - np.eye(self.K)) / (self.K - 1)
        self.grid = self._grid()
        self.voters = None
        if pool.group is not None and self.models is None:
            self.voters = MergedGroups(pool.group, len(pool.tasks))
        self.merged: IntArray = self._alone()
        self.orientation, self.undecided, self.chosen_at, self.compared = np.inf, False, 0, 0
        self.calibration, self.calibrated_by = Calibration(1.0), 0
        self.least_floor, self.outvoted = 0.0, False
        confusion = pool.confusion
        self.known = None if confusion is None else KnownSkills(pool, confusion)
        unknown = np.full(self.T * self.m, np.nan)
        self.own_gain: FloatArray = unknown if self.known is None else self.known.gain
        labels = self._labels()
        self.fit = begin(labels, self.grid, pool.share, unequal=False)
        self._known_messages: FloatArray = labels.known_messages
        self._weigh()
        self._new: list[FloatArray] = []
        self._outlook: TaskView | None = None
        self.common: IntArray = np.arange(len(pool.tasks)) if common is None else common

    @property
    def labels(self) -> IntArray:
        """Labels that judge workers, in order of arrival, shape (k, 3): task, worker, class."""
        labels = self.ledger.labels
        if self.known is None and self.voters is None:
            return labels
        return np.asarray(labels[self._first() & ~self._of_known(labels)])

    def _first(self) -> BoolArray:
        """Which labels of the ledger are the first of their group on a task, shape (k,)."""
        labels = self.ledger.labels
        if self.voters is None:
            return np.ones(len(labels), dtype=bool)
        return self.voters.first(labels)

    def _of_known(self, labels: IntArray, *, gold: bool = False) -> BoolArray:
        """Which of some labels are of workers whose skill is known, shape (k,)."""
        if self.known is None:
            return np.zeros(len(labels), dtype=bool)
        return self.known.of_known(labels, gold=gold)

    @property
    def counts(self) -> IntArray:
        """Labels of each task by whoever is not a model, shape (n,)."""
        return self.ledger.counts

    def _alone(self) -> IntArray:
        """Who speaks for each worker where nobody is found to copy, shape (m,)."""
        return np.arange(self.m) if self.voters is None else self.voters.leader

    @property
    def doubtful(self) -> bool:
        """Whether right and wrong might be interchanged: neither labels nor hidden tasks tell."""
        return self.orientation < DOUBT and self.orientation + self._odds_by_hidden() < DOUBT

    def _odds_by_hidden(self) -> float:
        """Log-odds by the classes of hidden tasks that right and wrong are not interchanged."""
        truth, at = self.ledger.pool.hidden, self.hidden_heard()
        if self.K > 2 or truth is None:
            return 0.0
        chance = self.posterior()[at]
        rows = np.arange(len(at))
        return float((log(chance[rows, truth[at]]) - log(chance[rows, 1 - truth[at]])).sum())

    def needs_strangers(self) -> bool:
        """Most workers are better than chance: strangers tell which way is right."""
        return self.doubtful

    def outgrown(self, growth: float) -> bool:
        """Whether there are more than so many times the labels by which the fit was chosen.

        Never while each fit is chosen, as right and wrong are in doubt.
        """
        return not self.doubtful and len(self.labels) > growth * self.chosen_at

    def suspects(self) -> IntArray:
        """Workers who seem so good, after so many labels, that they may copy one another."""
        return np.flatnonzero(self._able() & ~self.copying)

    def _able(self) -> BoolArray:
        """Workers who seem very good after many labels, shape (m,)."""
        labels = np.bincount(self.labels[:, 1], minlength=self.m)
        right = np.einsum("gcc->g", self.grid.chance) / self.K
        skill = self.weight.reshape(self.T, self.m, -1).max(axis=0) @ right
        return np.asarray((labels >= SUSPECT_LABELS) & (skill >= SUSPECT_SKILL))

    @property
    def copying(self) -> BoolArray:
        """Workers found to copy another, who are not asked any more; shape (m,)."""
        return np.asarray(self.merged != self._alone())

    def posterior(self) -> FloatArray:
        """Of each task, shape (n, K)."""
        return self._all().posterior

    def confidence(self) -> FloatArray:
        """Posterior of the likeliest class of each task, shape (n,)."""
        return self._all().top

    def _all(self) -> TaskView:
        if self._outlook is None:
            self._outlook = self._look()
        return self._outlook

    def _look(self, rows: IntArray | slice = slice(None)) -> TaskView:
        """View of some tasks, by their log-chances of class and easiness."""
        joint, levels = self.fit.joint[rows], self.fit.levels
        plain = over_easiness(joint)
        if self.calibration != Calibration(1.0):
            plain = self.calibration.apply(plain)
            if self.known is not None and not self.calibrated_by:
                plain = tempered_beside(joint, self._known_messages[rows], self.calibration)
        chance = np.exp(joint - joint.max(axis=(1, 2), keepdims=True)).sum(axis=1)
        square = (chance @ levels**2) / chance.sum(axis=1)
        return TaskView(plain, plain.max(axis=1), square)

    def worth(self) -> FloatArray:
        """What a label tells of each task, beside one that all workers find easy; shape (n,).

        The mean square of its easiness, over the temperature.
        """
        return np.asarray(self._all().square / self.calibration.temperature)

    def hopeless(self) -> BoolArray:
        """Tasks that more labels would hardly decide, shape (n,)."""
        return np.asarray((self.worth() < HOPELESS) & (self.counts >= LEAST_LABELS))

    def closable_at(self, epsilon: float) -> float:
        """Error that a task may have before the floor is added; 0 where the floor alone is ε.

        (1 − λ) e + λ (1 − 1/K) is to be ε; a floor that leaves hardly any of it leaves nothing.
        """
        floor = self.calibration.floor
        room = epsilon - floor * (1.0 - 1.0 / self.K)
        return room / (1.0 - floor) if room >= LEAST_ROOM * epsilon else 0.0

    def final(self, seed: Seed, *, alone: bool) -> FloatArray | None:
        """Posterior by which tasks are answered once nothing more is asked (`final_answers`).

        Parameters
        ----------
        seed
            Of the draws of other models.
        alone
            Whether there was a budget alone, and no error to be kept.

        Returns
        -------
        Shape (n, K); None where it is the posterior as it stands: skills are known, which no other
        model takes, or nothing tells that others are better.
        """
        pool, labels, hidden = self.ledger.pool, self._labels(), self.hidden_heard()
        told = pool.hidden is not None and len(hidden) >= LEAST_HIDDEN
        if pool.confusion is not None or not len(labels.task):
            return None
        if not (told or alone or self.K > 2):
            return None
        votes, known = self._upright_votes(labels)
        posteriors = [self.posterior()]
        if told or alone:
            chosen = choose(labels, pool.share, self._warm())
            posteriors = [averaged(labels, chosen, votes, known, seed)[0]]
        if told or self.K > 2:
            fit = pooled(votes, earlier=Earlier(known), seed=seed)
            posteriors.append(fit.info["posterior"][: labels.tasks])
        if not told or pool.hidden is None:
            return np.asarray(np.mean(posteriors, axis=0))
        posteriors.append(majority_shares(votes, labels.tasks))
        posterior, weight = weighted_mean(posteriors, hidden, pool.hidden[hidden])
        self.outvoted = bool(weight[-1] > 0.5)
        return posterior

    def hidden_heard(self) -> IntArray:
        """Hidden tasks that have labels."""
        hidden = self.ledger.pool.hidden
        heard = self.ledger.counts > 0
        return np.flatnonzero(heard & (hidden >= 0)) if hidden is not None else np.zeros(0, int)

    def _upright_votes(self, labels: UnitLabels) -> tuple[Votes, IntArray]:
        """Labels with gold tasks after the others, liars' turned round; and known classes.

        Other models begin with a majority, which those who are worse than chance would lead: of two
        classes their word counts for the other class, of more it is left out.
        """
        task = np.concatenate([labels.task, labels.tasks + self.ledger.gold_labels[:, 0]])
        unit = np.concatenate([labels.unit, labels.gold_unit])
        label = np.concatenate([labels.label, labels.gold_label])
        right = self.weight @ np.einsum("gcc->g", self.grid.chance)
        kept: BoolArray = (right >= 1.0 - 1e-9)[unit]
        if self.K == 2:
            label, kept = np.where(kept, label, 1 - label), np.ones(len(label), dtype=bool)
        gold = self.ledger.pool.gold
        votes = replace(
            self.ledger.votes(),
            task=task[kept],
            worker=unit[kept] % self.m,
            label=label[kept],
            tasks=np.concatenate([self.ledger.pool.tasks, np.arange(len(gold))]),
        )
        return votes, np.concatenate([np.full(labels.tasks, -1), gold])

    def _above_floor(self) -> FloatArray:
        """Chance of the likeliest class of each task before the floor is added, shape (n,)."""
        floor = self.calibration.floor
        return np.asarray((self.confidence() - floor / self.K) / (1.0 - floor))

    def closed_at_floor(self, epsilon: float) -> BoolArray:
        """Tasks of which labels cure no more, as the floor alone keeps them above ε; shape (n,).

        They are brought to ε before the floor is added.
        """
        if self.ledger.pool.hidden is None or self.closable_at(epsilon):
            return np.zeros(len(self.ledger.counts), dtype=bool)
        return np.asarray(1.0 - self._above_floor() <= epsilon)

    def evidence_needed(self, epsilon: float) -> FloatArray:
        """Nats that labels must bring to each task to close it, were it easy; shape (n,).

        Before the floor is added where it may be closed, else to `closed_at_floor`.
        """
        goal = self.closable_at(epsilon) or epsilon
        top = np.clip(self._above_floor(), 1.0 / self.K, 1.0 - 1e-12)
        odds = (2.0 * top - 1.0) * np.log(top / (1.0 - top))
        required = (1.0 - 2.0 * goal) * np.log((1.0 - goal) / goal)
        return np.asarray(np.maximum(required - odds, 0.0) / np.maximum(self.worth(), 1e-9))

    @property
    def floor(self) -> float:
        """Error that more labels do not cure, at least, as hidden tasks show it."""
        return self.least_floor * (1.0 - 1.0 / self.K)

    def notes(self) -> list[str]:
        """Say what whoever reads the posterior must know of the workers."""
        lines = [REVERSED] if self.doubtful else []
        if self.copying.any():
            lines.append(
                f"{int(self.copying.sum())} workers seem to copy others: their labels count once, "
                "and they are not asked any more"
            )
        hopeless = self.hopeless() & (self.counts > 0)
        if hopeless.any():
            lines.append(
                f"{int(hopeless.sum())} tasks are left open: workers disagree on them so much that "
                "more labels would hardly decide"
            )
        if self.floor > 0.01:
            lines.append(
                f"hidden tasks show that at least {self.floor:.1%} of the answers stay wrong "
                "however many labels are bought"
            )
        if self.outvoted:
            lines.append(
                "the answers are mostly those of a plain majority: by the hidden tasks it is right "
                "more often than the models of workers"
            )
        return lines + [line for line in (self._contradicted(), self._changed()) if line]

    def _contradicted(self) -> str:
        hidden, at = self.ledger.pool.hidden, self.hidden_heard()
        if hidden is None:
            return ""
        return contradicted(over_easiness(self.fit.joint[at]), hidden[at])

    def _changed(self) -> str:
        """A warning where workers change, by what their labels say of tasks and were to say."""
        task, worker, label = self.labels.T
        unit = self.ledger.pool.kind[task] * self.m + self.merged[worker]
        plain = over_easiness(self.fit.joint)[task]
        mean = np.einsum("ug,gcx->ucx", self.weight, self.grid.chance)[unit]
        expected = np.einsum("kc,kcx,kx->k", plain, mean, plain)
        return changed(worker, plain[np.arange(len(label)), label], expected)

    def told(self, ask: Questions, label: IntArray) -> None:
        """Move the tasks and workers of labels that have just come."""
        if not len(label):
            return
        rows = np.column_stack([ask.task, ask.worker, label])
        known, first = self._of_known(rows, gold=ask.gold), np.ones(len(label), dtype=bool)
        if self.voters is not None:
            asked = self.ledger.gold_labels
            first = self.voters.first_gold(asked) if ask.gold else self._first()
            first = first[-len(label) :]
        if self.known is not None and not ask.gold:
            told = self.known.labels(rows[known & first])
            message = told.messages(len(self.counts))
            moved = np.unique(told.task)
            self.fit.joint[moved] += message[moved]
            self._known_messages[moved] += message[moved]
            self._see(moved)
        rest = first & ~known
        if rest.any():
            self._judge_by(Questions(ask.task[rest], ask.worker[rest], ask.gold), label[rest])

    def _see(self, moved: IntArray) -> None:
        """Look anew at tasks that have moved."""
        if self._outlook is not None:
            self._outlook = self._outlook.moved(moved, self._look(moved))

    def _judge_by(self, ask: Questions, label: IntArray) -> None:
        """Move the tasks and workers of labels that judge workers."""
        pool, now = self.ledger.pool, self.fit
        by_answer = self.grid.chance.transpose(2, 0, 1)
        if ask.gold:
            unit = pool.gold_kind[ask.task] * self.m + self._alone()[ask.worker]
            s = float(now.ease @ now.levels)
            truth = pool.gold[ask.task]
            even = self.grid.chance.mean(axis=1)[:, label].T
            log_chance = log(s * self.grid.chance[:, truth, label].T + (1.0 - s) * even)
        else:
            unit = pool.kind[ask.task] * self.m + self.merged[ask.worker]
            joint = now.joint[ask.task]
            cavity = np.exp(joint - joint.max(axis=(1, 2), keepdims=True))
            cavity /= cavity.sum(axis=(1, 2), keepdims=True)
            rest = (cavity * (1.0 - now.levels)).sum(axis=(1, 2)) / self.K
            easy = (cavity * now.levels).sum(axis=2) + rest[:, None]
            log_chance = log(np.einsum("kc,kgc->kg", easy, by_answer[label]))
            rows = np.einsum("kg,kgc->kc", self.weight[unit], by_answer[label])
            message = log(mixed_rows(rows, now.levels))
            repeated = ~self._counted()[-len(label) :]
            if self.K > 2:  # a fit judges nobody by a label that is alone on its task
                many = np.bincount(ask.task, minlength=len(self.counts))
                log_chance[(self.counts <= many)[ask.task]] = 0.0
            message[repeated], log_chance[repeated] = 0.0, 0.0
            np.add.at(now.joint, ask.task, message)
            self._new.append(message)
            self._see(np.unique(ask.task))
        np.add.at(now.worker, unit, log_chance)
        touched = np.unique(unit)
        self.weight[touched] = normalised(now.worker[touched].copy())[0]
        if self.voters is not None:
            self._weigh()

    def _weigh(self) -> None:
        """Posterior of the points by the fit: one for a group; of a known skill, one point."""
        self.weight = normalised(self.fit.worker.copy())[0]
        if self.voters is not None:
            by_kind = self.weight.reshape(self.T, self.m, -1)
            self.weight = by_kind[:, self.voters.leader].reshape(self.weight.shape)
        if self.known is not None:
            self.weight = self.known.points(self.grid, self.weight)

    def refit(self, *, anew: bool = False) -> None:
        """Send all messages anew; now and then, or where it is asked for, choose the fit anew.

        Where only workers of known skill have labelled, there is nothing to fit: Bayes' rule.
        """
        if self.known is not None and not len(self.labels):
            self.fit = begin(self._labels(), self.grid, self.ledger.pool.share, unequal=False)
        else:
            self._refit(anew=anew)
        self._new, self._outlook = [], None
        self._known_messages = self._labels().known_messages.copy()
        self._weigh()
        self._calibrate()

    def _refit(self, *, anew: bool) -> None:
        size, compared = len(self.labels), int(np.isin(self.labels[:, 0], self.common).sum())
        due = anew or size > (DOUBTED if self.doubtful else GROWTH) * self.chosen_at
        merged = self.merged
        if self.voters is None and (due or compared > LOOKED * self.compared):
            merged, self.compared = self._merged_workers(self.ledger.pool.share), compared
        if not due and (merged == self.merged).all():
            labels = self._labels()
            self.fit = fit(labels, self.grid, self._warm(), sweeps=SWEEPS, settled=SETTLED)
            if self.K == 2:
                before, odds = self.orientation, orientation_odds(labels, self.grid, self.fit)
                # Where the last choice could not tell, the mirror image was tried then.
                due, self.orientation = odds < 0.0 < before, max(odds, 0.0)
        if due or (merged != self.merged).any():
            self._choose(merged)

    def state(self) -> dict[str, Any]:
        """Give all that the ledger does not hold."""
        return {
            **{name: getattr(self.fit, name).tolist() for name in ARRAYS},
            "new": [message.tolist() for message in self._new],
            "errors": self.errors.tolist(),
            "grid": {
                field.name: getattr(self.grid, field.name).tolist() for field in fields(SkillGrid)
            },
            "merged": self.merged.tolist(),
            "compared": self.compared,
            "chosen_at": self.chosen_at,
            "orientation": self.orientation if np.isfinite(self.orientation) else None,
            "undecided": self.undecided,
            "calibration": [self.calibration.temperature, self.calibration.floor],
            "least_floor": self.least_floor,
            "calibrated_by": self.calibrated_by,
        }

    def resume(self, saved: dict[str, Any]) -> None:
        """Take up a `state`."""
        self.errors = np.array(saved["errors"], dtype=np.float64)
        # What the grid was made of is not what the next fit begins with.
        self.grid = SkillGrid(
            **{name: np.array(rows, dtype=np.float64) for name, rows in saved["grid"].items()}
        )
        self.merged = np.array(saved["merged"], dtype=np.int64)
        self.orientation = np.inf if saved["orientation"] is None else float(saved["orientation"])
        self.undecided = bool(saved["undecided"])
        self.chosen_at, self.compared = int(saved["chosen_at"]), int(saved["compared"])
        self.calibration = Calibration(*saved["calibration"])
        self.least_floor = float(saved["least_floor"])
        self.calibrated_by = int(saved["calibrated_by"])
        levels = len(saved["levels"])
        shapes = {"joint": (-1, self.K, levels), "messages": (-1, self.K, levels)}
        arrays = {}
        for name in ARRAYS:
            array = np.array(saved[name], dtype=np.float64)
            arrays[name] = array.reshape(shapes[name]) if name in shapes else array
            expected = getattr(self.fit, name).shape
            if name in ("joint", "worker") and len(array) != expected[0]:
                raise ValueError(f"{name} has {len(array)} rows")
        self._outlook = None
        self.fit = GridFit(**arrays, evidence=-np.inf)
        self._new = [
            np.array(part, dtype=np.float64).reshape(-1, self.K, levels) for part in saved["new"]
        ]
        self._known_messages = self._labels().known_messages.copy()
        self._weigh()

    def _grid(self) -> SkillGrid:
        return two_coins() if self.K == 2 else one_coin_grid(self.errors)

    def _counted(self, merged: IntArray | None = None) -> BoolArray:
        """Which `labels` count: of workers merged the first on each task, shape (k,)."""
        task, worker, _ = self.labels.T
        merged = self.merged if merged is None else merged
        counted: BoolArray = np.ones(len(task), dtype=bool)
        shared = np.flatnonzero((np.bincount(merged, minlength=self.m) > 1)[merged[worker]])
        if len(shared):
            pair = task[shared] * self.m + merged[worker[shared]]
            counted[shared] = False
            counted[shared[np.unique(pair, return_index=True)[1]]] = True
        return counted

    def _labels(self, merged: IntArray | None = None) -> UnitLabels:
        """The `labels` that count, by their voters; and what is known of others."""
        pool = self.ledger.pool
        merged = self.merged if merged is None else merged
        task, worker, label = self.labels[self._counted(merged)].T
        # Tasks whose first label was doubted have more: of all labels they would count again.
        first = label[np.unique(task, return_index=True)[1]]
        said = np.bincount(first, minlength=self.K) / max(len(first), 1)
        known = None
        if self.known is not None:
            labels = self.ledger.labels
            known = self.known.labels(labels[self._first() & self.known.of_known(labels)])
        return UnitLabels(
            task,
            pool.kind[task] * self.m + merged[worker],
            label,
            *self._gold_answers(),
            len(pool.tasks),
            self.T * self.m,
            self.K,
            np.repeat(np.arange(self.T), self.m),
            first_shares=said,
            known=known,
        )

    def _gold_answers(self) -> tuple[IntArray, IntArray, IntArray]:
        """Answers to gold tasks that judge workers: as `UnitLabels`."""
        pool, rows = self.ledger.pool, self.ledger.gold_labels
        judging = ~self._of_known(rows, gold=True)
        if self.voters is not None:
            judging &= self.voters.first_gold(rows)
        gold, worker, label = rows[judging].T
        unit = pool.gold_kind[gold] * self.m + self._alone()[worker]
        return pool.gold[gold], unit, label

    def doubtful_tasks(self) -> IntArray:
        """Common tasks on which those who seem very good are contradicted by half of the others.

        Where they copy one another they are wrong together on some of these; on the other tasks
        more labels would hardly say so.
        """
        task, worker, label = self.labels[np.isin(self.labels[:, 0], self.common)].T
        by_able = self._able()[worker]
        votes = np.zeros((2, len(self.counts), self.K))
        np.add.at(votes, (by_able.astype(np.int64), task, label), 1.0)
        others, able = votes[:, self.common]
        for_them = others[np.arange(len(others)), able.argmax(axis=1)]
        total = others.sum(axis=1)
        against = (able.sum(axis=1) > 0) & (total > 0) & (total - for_them >= total / 2.0)
        return np.asarray(self.common[against])

    def _comparable(self) -> IntArray:
        """Workers who have answered at least `SHARED` of the common tasks."""
        task, worker, _ = self.labels.T
        many = np.bincount(worker[np.isin(task, self.common)], minlength=self.m)
        return np.flatnonzero(many >= SHARED)

    def _choose(self, merged: IntArray) -> None:
        """Keep the likeliest of several fits, copies being merged."""
        same, self.merged = (merged == self.merged).all(), merged
        self.chosen_at = len(self.labels)
        warm = self._warm() if same and self.K == 2 else None
        labels, share = self._labels(), self.ledger.pool.share
        chosen = choose(labels, share, warm, self.errors, most=COMPARED, settled=SETTLED)
        self.fit, self.grid, self.orientation = chosen.fit, chosen.grid, chosen.orientation
        if self.K > 2:
            self.errors = pooled_errors(labels, self.fit)

    def _warm(self) -> GridFit:
        """The last fit, with the messages of labels that came since."""
        size = len(self.labels)
        new = np.concatenate(self._new) if self._new else self.fit.messages[:0]
        kept = self._counted()[size - len(new) :]
        return replace(self.fit, messages=np.concatenate([self.fit.messages, new[kept]]))

    def _calibrate(self) -> None:
        """Believe as far as labels foretell each other, and as hidden tasks allow."""
        labels, self.calibration = self._labels(), Calibration(1.0)
        if len(labels.task) or self.known is None:
            self.calibration = Calibration(mean_temperature(labels, self.fit))
        hidden, at = self.ledger.pool.hidden, self.hidden_heard()
        if hidden is None or len(at) < LEAST_HIDDEN:
            return
        self.calibrated_by = len(at)
        self.calibration, self.least_floor = mean_calibration(
            over_easiness(self.fit.joint[at]), hidden[at]
        )

    def _merged_workers(self, share: FloatArray) -> IntArray:
        """Who speaks for whom: sets agree on the common tasks, and merging them is likelier."""
        alone = np.arange(self.m)
        sets, self.undecided = self._alike(), False
        if not sets:
            return alone
        plain, apart = self._evidence(alone, share)
        evidence, chance = [], []
        for members in sets:
            # A fit ends where it began to go: each begins where the other ended, too. All sets are
            # held against the best that was found of everybody for herself.
            merged = alone.copy()
            merged[members] = members[0]
            one, together = self._evidence(merged, share, apart)
            plain = max(plain, self._evidence(alone, None, together)[0])
            evidence.append(one - GAIN * (len(members) - 1))
            chance.append(self._chance_wrong_alike(members, together))
        gains = np.array(evidence) - plain
        self.undecided = bool((np.abs(gains) < UNDECIDED).any())
        merged = alone.copy()
        for at in np.argsort(gains)[::-1].tolist():
            certain = chance[at] <= BY_CHANCE
            if gains[at] > 0.0 and certain and (merged[sets[at]] == sets[at]).all():
                merged[sets[at]] = sets[at][0]
        return merged

    def _chance_wrong_alike(self, members: IntArray, by: GridFit) -> float:
        """Chance that workers would be wrong on so much the same tasks if each erred for herself.

        Of the common tasks, by a fit in which they are one voter: their errors are dealt anew among
        the tasks that each answered.
        """
        task, worker, label = self.labels[np.isin(self.labels[:, 0], self.common)].T
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

    def _evidence(
        self, merged: IntArray, share: FloatArray | None, other: GridFit | None = None
    ) -> tuple[float, GridFit]:
        """Log-evidence of the labels, merged workers' repeated labels being copies or not.

        Of more than `COMPARED` labels those of the common tasks count, and of evenly spread others.

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
        looked = np.arange(len(self.counts)) % -(-len(self.labels) // COMPARED) == 0
        looked[self.common] = True
        labels = self._labels(merged)
        labels = of_some(labels, looked[labels.task])
        starts = [] if share is None else [begin(labels, self.grid, share, unequal=False)]
        starts += [] if other is None else [begin_from(labels, self.grid, other)]
        ends = [fit(labels, self.grid, each, sweeps=TURNS, settled=SETTLED) for each in starts]
        end = max(ends, key=lambda each: each.evidence)
        task, worker, label = self.labels[looked[self.labels[:, 0]]].T
        _, first, pair = np.unique(
            task * self.m + merged[worker], return_index=True, return_inverse=True
        )
        same = int((label == label[first][pair]).sum()) - len(first)
        different = len(label) - len(first) - same
        # The chance to copy is unknown: Beta(9, 1), integrated.
        alike = betaln(9.0 + same, 1.0 + different) - betaln(9.0, 1.0)
        alike -= different * np.log(self.K - 1)
        # The fewer labels count, the more do shares of first labels: Dirichlet's constant differs.
        weights = labels.shares + 1.0
        scale = gammaln(weights.sum()) - gammaln(weights).sum()
        units = end.worker.reshape(self.T, self.m, -1)[:, merged]
        end = replace(end, worker=units.reshape(end.worker.shape))
        return float(end.evidence + scale + alike), end

    def _alike(self) -> list[IntArray]:
        """Sets of workers who agree on nearly all common tasks, and those merged before.

        By several degrees of agreement: an expert who agrees with copies now and then links them.
        """
        workers = self._comparable()
        if len(workers) < 2:
            return []
        place = np.full(self.m, -1)
        place[workers] = np.arange(len(workers))
        spot = np.full(len(self.ledger.counts), -1)
        spot[self.common] = np.arange(len(self.common))
        table = np.full((len(self.common), len(workers)), -1)
        task, worker, label = self.labels.T
        here = (spot[task] >= 0) & (place[worker] >= 0)
        table[spot[task[here]], place[worker[here]]] = label[here]
        named = (table >= 0).astype(np.float64)
        shared = named.T @ named
        agreed = sum((table == k).T.astype(np.float64) @ (table == k) for k in range(self.K))
        sets = {tuple(np.flatnonzero(self.merged == who).tolist()) for who in self.merged.tolist()}
        for degree in ALIKE:
            linked = (shared >= SHARED) & (agreed >= degree * np.maximum(shared, 1.0))
            group = connected_components(linked, directed=False)[1]
            sets |= {tuple(workers[group == at].tolist()) for at in range(int(group.max()) + 1)}
        return [np.array(members) for members in sorted(sets) if len(members) > 1]
