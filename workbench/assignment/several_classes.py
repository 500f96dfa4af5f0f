"""Plans for labels of several classes: each worker has a confusion matrix by task type.

The vote of a plan adds scores log P(label | class) to a log prior, counted once a task. What is
promised is the error of that vote: of each task, in the mean over tasks, or by true class.
Programs of few pairs are solved over listed sets of workers, as asked (`listed_classes`), and so
are those of more tasks where each is promised (`listed_many`). In larger ones covers promise as
much more than ε as leaves the error of the vote at ε: the ratio between a level that will do and
one that will not is halved (`class_levels`). What comes of that is the
cheapest of covers found, and nothing is said of sets that are no covers.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from crowd_models.joint import pair_gains, pair_weights
from workbench.assignment.class_levels import by_levels
from workbench.assignment.class_program import ClassProgram
from workbench.assignment.cover_plan import REPORTED, ROUNDING, CoverPlan, PlanPromise
from workbench.assignment.listed_classes import Lists, by_lists
from workbench.assignment.listed_many import LISTING, LONGEST, by_master
from workbench.solving import Certificate, Infeasibility, Termination
from workbench.solving.claims import CostClaim
from workbench.solving.highs import RunOptions
from workbench.solving.joint.route import JointSolution


class SeveralClasses(ClassProgram):
    """Labels of several classes: a confusion matrix for each task type and worker."""

    def keep(self, epsilon: float, promise: PlanPromise, options: RunOptions) -> CoverPlan:
        """The cheapest plan found that keeps a promise, and what is known of its cost.

        Parameters
        ----------
        epsilon
            ε, in (0, 1).
        promise
            What ε is.

        Returns
        -------
        CoverPlan
            Without `chosen` where there is none; its solution says why.
        """
        left = options.countdown()
        if promise == "bound":
            made = self.cover(np.full(int(self.kinds.max()) + 1, epsilon), options, draws=REPORTED)
            claimed = made.chosen is not None
            made = replace(made, claim=CostClaim.of(made.solution) if claimed else None)
        else:
            made = self._beyond(epsilon, promise) or self._kept(epsilon, promise, left())
        if made.chosen is not None:
            return made
        everybody = self.everybody("class" if promise == "class" else "each")
        return replace(made, together=float(everybody.errors.max()))

    def _kept(self, epsilon: float, promise: PlanPromise, options: RunOptions) -> CoverPlan:
        left = options.countdown()
        made = by_lists(self, epsilon, promise, left())
        if made is None and promise == "each":
            seconds = LONGEST if options.time_limit is None else LISTING * options.time_limit
            until = time.perf_counter() + min(seconds, LONGEST)
            made = by_master(Lists(self, epsilon, promise, until), left())
        return made or by_levels(self, epsilon, promise, left())

    def _beyond(self, epsilon: float, promise: PlanPromise) -> CoverPlan | None:
        """No plan, where all workers together cannot keep the promise; None where they may."""
        everybody = self.everybody(promise)
        errors, limit = everybody.least, epsilon * (1 + ROUNDING)
        beyond = np.flatnonzero(errors > (2 * limit if promise == "mean" else limit))
        in_mean = promise == "mean" and errors.mean() > limit
        if not len(beyond) and not in_mean:
            return None
        worst = int(errors.argmax())
        drawn = bool(everybody.radii.any())
        more = f", as {len(beyond) - 1} more may be" if len(beyond) > 1 else ""
        where = " on its worst class" if promise == "class" else ""
        said = "is wrong with a chance of" if self.scale == 1.0 else "has an expected cost of"
        most = self.scale * errors[worst]
        why = f"{said} {most:.4g}{where} even where all workers label it{more}"
        if in_mean:
            why += f", {self.scale * errors.mean():.4g} in the mean over tasks"
        least = self.scale * errors.mean() if in_mean else most / (2 if promise == "mean" else 1)
        mend = f"use a larger --epsilon, of which none below {least:.4g} will do"
        blank = JointSolution("ip", "arrays", Termination.INFEASIBLE)
        reason = Infeasibility(
            tuple(beyond.tolist()),
            (),
            0.0,
            0.0,
            None,
            None,
            not drawn,
            limits=why,
            worst=worst,
            limits_mend=mend,
        )
        status = "unproven" if drawn else "infeasible"
        solution = replace(blank, infeasibility=reason, certificate=Certificate(status))
        return CoverPlan(solution, np.full(int(self.kinds.max()) + 1, epsilon))

    def apart(self) -> tuple[int, int]:
        """The two classes that all workers together tell apart worst, on the hardest task."""
        everybody = self.usable | self.given.recorded
        gathered = np.einsum("nm,nmp->np", everybody, pair_gains(self.confusion)[self.kinds])
        mixed = pair_weights(self.prior) * np.exp(-gathered)
        first, second = np.triu_indices(len(self.prior), 1)
        at = int(mixed[mixed.sum(axis=1).argmax()].argmax())
        return int(first[at]), int(second[at])
