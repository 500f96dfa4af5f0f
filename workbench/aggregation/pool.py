"""Two models that err differently, pooled: the mean of their posteriors.

Smoothed Dawid–Skene learns which classes each worker confuses, and can be carried away where
classes are very unequal: on one recorded crowd in twelve it is wrong on .037 more of the tasks than
a majority. The Bayesian weighted average learns no confusions, gains less, and is hardly ever
carried away. The mean of the two posteriors, a linear opinion pool, is on the twelve crowds better
than either in the mean (.133, against .134 and .143) and at most .028 worse than a majority; where
each task has one label it is the majority. With the weighted average as published, whose precisions
run away where few label everything, it was .129 and .007 there, and of three workers .056 behind
their majority in the mean of eight simulated crowds (at most .084; now .005 and .020).

Source: Stone (1961), "The opinion pool", Annals of Mathematical Statistics.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from workbench.aggregation.bwa import bwa
from workbench.aggregation.dawid_skene import Prior, smoothed
from workbench.aggregation.posteriors import Earlier, Fit, concluded, label_matrix
from workbench.aggregation.voting import Aggregate
from workbench.base.seeds import Seed
from workbench.crowd.votes import Votes

METHOD = "pooled"


def pooled(
    votes: Votes,
    *,
    class_prior: Prior = "estimated",
    iterations: int | None = None,
    earlier: Earlier | None = None,
    seed: Seed,
) -> Aggregate:
    """Label tasks by the mean of two posteriors, of smoothed Dawid–Skene and of BWA.

    Parameters
    ----------
    votes
        k labels of any number of classes.
    class_prior
        Of smoothed Dawid–Skene.
    iterations
        Steps at most of each; by default as each has it.
    earlier
        Classes of control tasks, and a fit of this method on fewer labels.
    seed
        Of the draw between classes of equal posterior.

    Raises
    ------
    InputError
        As the two raise it.
    """
    earlier = earlier or Earlier()
    start = earlier.fit_of(METHOD, votes.classes)
    steps: dict[str, Any] = {} if iterations is None else {"iterations": iterations}
    dawid_skene = smoothed(
        votes,
        class_prior=class_prior,
        earlier=replace(earlier, fit=start and replace(start, method="Dawid–Skene, full")),
        seed=seed,
        **steps,
    )
    average = bwa(
        votes,
        earlier=replace(earlier, fit=start and replace(start, method="BWA")),
        seed=seed,
        **steps,
    )
    both = (dawid_skene.info, average.info)
    fits = [info["fit"] for info in both]
    return concluded(
        label_matrix(votes, earlier),
        np.mean([info["posterior"] for info in both], axis=0),
        METHOD,
        seed,
        {
            "variant": "mean of the posteriors of smoothed Dawid–Skene and BWA",
            "iterations": max(info["iterations"] for info in both),
            "converged": all(info["converged"] for info in both),
            "class_prior": dawid_skene.info["class_prior"],
            "skill": dawid_skene.info["skill"],
            "confusion": dawid_skene.info["confusion"],
            "fit": Fit.of(
                METHOD,
                votes,
                {},
                {**fits[0].by_worker, **fits[1].by_worker},
                {**fits[0].shared, **fits[1].shared},
            ),
        },
    )
