"""Figure 1: accuracy and workers used as the budget grows.

31 workers with skills from Beta(2.3, 2), 1000 items of two classes, 10 control questions a worker,
votes weighted by 2ŵ − 1, K from 3 to 31, 100 crowds.

Where the paper is silent: the control questions are not among the items (which are a sample, so
that it makes no difference), and workers of equal worth at the cut are drawn among fairly. Beyond
the paper's rules stand the K workers farthest from guessing, the choice by predicted accuracy with
a flat and with the true prior, and the best prefix of the ranking by G in hindsight.

Source: Li, Liu (2015), Section 4.1, Figure 1.
"""

from __future__ import annotations

import numpy as np

from workbench.crowd.population import beta
from workbench.papers.worker_selection.selection_trials import (
    BUDGET,
    CONTROLS,
    MEASURED,
    METHODS,
    TIES,
    choice_trial,
    method_parameter,
    parts_along,
)
from workbench.studies.measures import DeclaredAnalysis
from workbench.studies.study import Parameter, Params, Record, Size, Study
from workbench.studies.trials import Streams


def trial(params: Params, streams: Streams) -> Record:
    """Let one rule choose from one crowd, and measure the vote of the chosen."""
    seed, prior, m = streams.instance, (params["a"], params["b"]), int(params["workers"])
    skill = beta(m, a=prior[0], b=prior[1], seed=seed).skill[0]
    return choice_trial(params, skill, np.full(m, params["controls"]), seed, prior=prior)


STUDY = Study(
    name="selection-figure-1",
    title="Selected workers against the budget",
    source="Li, Liu (2015), Section 4.1, Figure 1",
    parameters={
        "workers": Parameter(int, 31, "m", least=1, most=1000),
        "items": Parameter(int, 1000, "items to label", least=1, most=100_000),
        "a": Parameter(float, 2.3, "of the Beta(a, b) of skills", least=0.05, most=100),
        "b": Parameter(float, 2.0, "of the Beta(a, b) of skills", least=0.05, most=100),
        "controls": CONTROLS,
        "method": method_parameter(),
        "budget": BUDGET,
        "ties": TIES,
    },
    sizes={
        "smoke": Size(({"method": list(METHODS), "budget": [3, 10, 31], "items": [200]},), 3),
        "small": Size(({"method": list(METHODS), "budget": [3, 5, 8, 12, 16, 20, 25, 31]},), 30),
        "paper": Size(({"method": list(METHODS), "budget": list(range(3, 32))},), 100),
    },
    trial=trial,
    analyse=DeclaredAnalysis(
        *parts_along("budget", "budget K", "against the budget", at=(20, 10_000)),
        fields=MEASURED,
    ),
)
