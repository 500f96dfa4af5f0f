"""Label tasks by belief propagation over what workers may be like: `belief_propagation`.

The model that a collection goes by (`until-trusted`), of labels that are there already.

Source: Liu, Peng, Ihler (2012), "Variational inference for crowdsourcing", Section 3.
"""

from __future__ import annotations

import numpy as np

from workbench.aggregation.belief_choice import choose, mean_temperature
from workbench.aggregation.belief_propagation import UnitLabels
from workbench.aggregation.calibration import tempered
from workbench.aggregation.posteriors import Earlier, Fit, concluded, label_matrix, normalised
from workbench.aggregation.voting import Aggregate
from workbench.base.arrays import IntArray
from workbench.base.seeds import Seed
from workbench.crowd.votes import Votes

METHOD = "belief propagation"


def belief_propagation(votes: Votes, *, earlier: Earlier | None = None, seed: Seed) -> Aggregate:
    """Label tasks by two coins a worker, shares of the classes and easiness of the tasks.

    Where the evidence is for tasks of unequal easiness, the posterior is the mean of that fit's and
    of the fit with tasks alike. Easiness takes from everybody's word on disputed tasks alike; where
    the able are right on these too, it is the fit without it that knows.

    Parameters
    ----------
    votes
        k labels of any number of classes.
    earlier
        Classes that are known, and a fit of this method on fewer labels: its shares of the classes
        are one more start.
    seed
        Of the draw between classes of equal posterior.

    Returns
    -------
    Aggregate
        `info` holds `variant`, `posterior` (n, L), `class_prior` (L,), `skill` (m,), the expected
        chance to be right, NaN without labels, `evidence`, `temperature` and `fit`.

    Raises
    ------
    InputError
        Tasks without classes, or an earlier fit of another model or of other classes.
    """
    matrix = label_matrix(votes, earlier)
    L = matrix.shape[2]
    start = (earlier or Earlier()).fit_of(METHOD, votes.classes)
    share = np.full(L, 1.0 / L) if start is None else start.shared["class_prior"]
    if L == 1:  # There is nothing to choose, and no worker to tell from another.
        alone = {"class_prior": share, "skill": np.where(matrix.voted, 1.0, np.nan)}
        fitted = Fit.of(METHOD, votes, {}, {}, {"class_prior": share})
        return concluded(
            matrix, np.ones((len(votes.tasks), 1)), METHOD, seed, {**alone, "fit": fitted}
        )
    labels = unit_labels(votes, matrix.known)
    chosen = choose(labels, share)
    fit, heat = chosen.fit, mean_temperature(labels, chosen.fit)
    posterior = tempered(fit.posterior, heat)
    if chosen.alike is not fit:
        alike = tempered(chosen.alike.posterior, mean_temperature(labels, chosen.alike))
        posterior = (posterior + alike) / 2.0
    atom = normalised(fit.worker.copy())[0]
    right = np.einsum("gcc,c->g", chosen.atoms.chance, fit.share)
    return concluded(
        matrix,
        matrix.clamped(posterior),
        METHOD,
        seed,
        {
            "variant": "belief propagation, tasks "
            + ("alike" if fit is chosen.alike else "alike and of unequal easiness, averaged"),
            "class_prior": fit.share,
            "skill": np.where(matrix.voted, atom @ right, np.nan),
            "evidence": fit.evidence,
            "temperature": heat,
            "fit": Fit.of(METHOD, votes, {}, {}, {"class_prior": fit.share}),
        },
    )


def unit_labels(votes: Votes, known: IntArray) -> UnitLabels:
    """Lay labels out for the model; those of tasks of known class (−1: not) judge workers."""
    gold = known[votes.task] >= 0
    task, unit, label = votes.task[~gold], votes.worker[~gold], votes.label[~gold]
    return UnitLabels(
        task,
        unit,
        label,
        known[votes.task[gold]],
        votes.worker[gold],
        votes.label[gold],
        len(votes.tasks),
        len(votes.workers),
        max(len(votes.classes), 1),
        np.zeros(len(votes.workers), dtype=np.int64),
    )
