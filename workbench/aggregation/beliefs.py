"""Label tasks by belief propagation over what workers may be like: `belief_propagation`.

The model that a collection goes by (`until-trusted`), of labels that are there already.

Source: Liu, Peng, Ihler (2012), "Variational inference for crowdsourcing", Section 3.
"""

from __future__ import annotations

import numpy as np

from workbench.aggregation.belief_choice import Chosen, choose, mean_temperature
from workbench.aggregation.belief_propagation import GridFit, UnitLabels, begin, fit
from workbench.aggregation.calibration import tempered
from workbench.aggregation.ebcc import ebcc
from workbench.aggregation.posteriors import Earlier, Fit, concluded, label_matrix, normalised
from workbench.aggregation.skill_grid import alike_coins
from workbench.aggregation.voting import Aggregate
from workbench.base.arrays import FloatArray, IntArray
from workbench.base.seeds import Seed
from workbench.crowd.votes import Votes

METHOD = "belief propagation"
STARTS = 2
"""Random starts of `ebcc` where it is averaged in. By judgement, not tuned: for speed."""


def belief_propagation(votes: Votes, *, earlier: Earlier | None = None, seed: Seed) -> Aggregate:
    """Label tasks by two skills a worker, shares of the classes and easiness of the tasks.

    Its posterior is a mean (`averaged`): what is believed hangs on what is taken of workers and
    tasks, and the evidence does not always know best.

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
    best = chosen.fit
    posterior, models = averaged(labels, chosen, votes, matrix.known, seed)
    point = normalised(best.worker.copy())[0]
    right = np.einsum("gcc,c->g", chosen.grid.chance, best.share)
    return concluded(
        matrix,
        matrix.clamped(posterior),
        METHOD,
        seed,
        {
            "variant": f"belief propagation, {models}",
            "class_prior": best.share,
            "skill": np.where(matrix.voted, point @ right, np.nan),
            "evidence": best.evidence,
            "temperature": mean_temperature(labels, best),
            "fit": Fit.of(METHOD, votes, {}, {}, {"class_prior": best.share}),
        },
    )


def averaged(
    labels: UnitLabels, chosen: Chosen, votes: Votes, known: IntArray, seed: Seed
) -> tuple[FloatArray, str]:
    """Mean of the posteriors of several models, and their names.

    - Where the evidence is for tasks of unequal easiness, that fit and the one with tasks alike.
      Easiness takes from everybody's word on disputed tasks alike; where the able are right on
      these too, it is the fit without it that knows.
    - Of two classes, in equal parts: these; one skill a worker; and `ebcc`, whose workers err
      together. Two skills a worker leave open how frequent a class is whose tasks mislead many.
      One skill does not tell right from wrong: it is read as the others are.

    Parameters
    ----------
    labels, chosen
        As the model takes them, and the fit that is chosen.
    votes, known
        The labels, and classes that are known (−1: not), shape (n,); any gold tasks of `labels`
        may stand after the others.
    seed
        Of the starts of `ebcc`.
    """
    posterior, models = _tempered(labels, chosen.fit), ["tasks alike"]
    if chosen.alike is not chosen.fit:
        posterior = (posterior + _tempered(labels, chosen.alike)) / 2.0
        models += ["unequal tasks"]
    if labels.classes == 2:
        grid = alike_coins()
        single = _tempered(
            labels, fit(labels, grid, begin(labels, grid, np.full(2, 0.5), unequal=False))
        )
        if np.abs(single - posterior).sum() > labels.tasks:  # right and wrong are interchanged
            single = single[:, ::-1]
        together = ebcc(votes, restarts=STARTS, earlier=Earlier(known), seed=seed)
        posterior = posterior + single + together.info["posterior"][: labels.tasks]
        posterior, models = posterior / 3.0, [*models, "one skill", "EBCC"]
    return posterior, ", ".join(models) + (", averaged" if len(models) > 1 else "")


def _tempered(labels: UnitLabels, now: GridFit) -> FloatArray:
    return tempered(now.posterior, mean_temperature(labels, now))


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
