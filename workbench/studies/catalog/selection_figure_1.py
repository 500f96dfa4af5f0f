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
import pandas as pd

from workbench.crowd.population import beta
from workbench.studies.catalog.selection_trials import (
    CONTROLS,
    METHODS,
    TIES,
    against,
    budget_parameter,
    choice_charts,
    choice_sentences,
    choice_trial,
    method_parameter,
    summaries,
)
from workbench.studies.measures import ended
from workbench.studies.study import Analysis, Parameter, Params, Record, Size, Study
from workbench.studies.trials import Streams

RIVALS = [name for name in METHODS if name != "selected"]


def trial(params: Params, streams: Streams) -> Record:
    """Let one rule choose from one crowd, and measure the vote of the chosen."""
    seed, prior, m = streams.instance, (params["a"], params["b"]), int(params["workers"])
    skill = beta(m, a=prior[0], b=prior[1], seed=seed).skill[0]
    return choice_trial(params, skill, np.full(m, params["controls"]), seed, prior=prior)


def analyse(table: pd.DataFrame) -> Analysis:
    """Accuracy and size against K, and how rules differ on the same crowds."""
    points = summaries(table, ["budget"])
    if not points["trials"].any():
        return Analysis(findings=(ended(table),))
    apart = against(table, ["budget"], RIVALS)
    budgets = sorted(points["budget"].unique(), key=lambda budget: abs(budget - 20))
    shown = budgets[0], max(budgets)
    return Analysis(
        findings=(ended(table), *choice_sentences(points, apart, "budget", shown)),
        tables={
            "Accuracy of Algorithm 1's choice less a rival's, on the same crowds": apart,
            "All points": points,
        },
        charts=choice_charts(points, "", "budget", "budget K", "against the budget"),
    )


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
        "budget": budget_parameter(20),
        "ties": TIES,
    },
    sizes={
        "smoke": Size(({"method": list(METHODS), "budget": [3, 10, 31], "items": [200]},), 3),
        "small": Size(({"method": list(METHODS), "budget": [3, 5, 8, 12, 16, 20, 25, 31]},), 30),
        "paper": Size(({"method": list(METHODS), "budget": list(range(3, 32))},), 100),
    },
    trial=trial,
    analyse=analyse,
)  # fmt: skip
