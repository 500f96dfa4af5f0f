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
from workbench.assignment.enough import first_kept
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
        made = self._made(epsilon, promise, left())
        if made.chosen is not None:
            return made
        everybody = self.everybody("class" if promise == "class" else "each")
        enough = self._enough(epsilon, promise, left())
        return replace(made, together=float(everybody.errors.max()), enough=enough)

    def _made(self, epsilon: float, promise: PlanPromise, options: RunOptions) -> CoverPlan:
        if promise != "bound":
            return self._beyond(epsilon, promise) or self._kept(epsilon, promise, options)
        made = self.cover(np.full(int(self.kinds.max()) + 1, epsilon), options, draws=REPORTED)
        claimed = made.chosen is not None
        return replace(made, claim=CostClaim.of(made.solution) if claimed else None)

    def _enough(self, epsilon: float, promise: PlanPromise, options: RunOptions) -> float | None:
        """An ε above that which nothing keeps, in the digits shown, that a plan was made for."""
        scale = self.scale

        def keeps(at: float, now: RunOptions) -> bool:
            return self._made(at / scale, promise, now).chosen is not None

        first, most = scale * self._together(promise), scale * self.top
        return first_kept(keeps, first, scale * epsilon, options, most=most)

    def _together(self, promise: PlanPromise) -> float:
        """The least ε that everybody's labels of all tasks keep, however far errors are off."""
        everybody = self.everybody(promise)
        most = everybody.errors + everybody.radii
        if promise == "bound":
            voting = self.usable | self.given.recorded
            blank = JointSolution("ip", "arrays", Termination.INFEASIBLE)
            bounds = self.reported(blank, np.zeros(1), voting, promise).bounds
            assert bounds is not None
            most = bounds
        return float(max(most.mean(), most.max() / 2) if promise == "mean" else most.max())

    def _kept(self, epsilon: float, promise: PlanPromise, options: RunOptions) -> CoverPlan:
        left = options.countdown()
        made = by_lists(self, epsilon, promise, left())
        if made is None and promise == "mean":
            return self._kept_in_mean(epsilon, left())
        if made is None and promise == "each":
            seconds = LONGEST if options.time_limit is None else LISTING * options.time_limit
            until = time.perf_counter() + min(seconds, LONGEST)
            made = by_master(Lists(self, epsilon, promise, until), left())
        return made or by_levels(self, epsilon, promise, left())

    def _kept_in_mean(self, epsilon: float, options: RunOptions) -> CoverPlan:
        """The cheaper of two plans found: that of the mean, or that which keeps ε on each task.

        The search for each lists sets by their errors, and that for the mean goes by covers alone,
        so that its plan is sometimes dearer though it has more to choose from.
        """
        left = options.countdown()
        each = self._beyond(epsilon, "each")
        if each is None:
            half = None if options.time_limit is None else options.time_limit / 2
            each = self._kept(epsilon, "each", replace(left(), time_limit=half))
        made = by_levels(self, epsilon, "mean", left())
        if each.chosen is None or (made.chosen is not None and _cost(made) <= _cost(each)):
            return made
        return replace(each, claim=None)  # A bound for each is none for the mean.

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


def _cost(made: CoverPlan) -> float:
    return made.solution.objective or 0.0
