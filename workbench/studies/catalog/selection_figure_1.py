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
from workbench.studies.catalog._selection import (
    METHODS,
    accuracy_chart,
    against,
    budget_parameter,
    choice_record,
    choose,
    difference,
    draw_pool,
    method_parameter,
    size_chart,
    summaries,
    told,
)
from workbench.studies.measures import ended, plus_minus
from workbench.studies.study import Analysis, Parameter, Params, Record, Size, Study
from workbench.studies.trials import Streams


def trial(params: Params, streams: Streams) -> Record:
    """Let one rule choose from one crowd, and measure the vote of the chosen."""
    seed, prior = streams.instance, (params["a"], params["b"])
    m = int(params["workers"])
    skill = beta(m, a=prior[0], b=prior[1], seed=seed).skill[0]
    answered = np.full(m, params["controls"], dtype=np.int64)
    pool = draw_pool(skill, answered, int(params["items"]), classes=2, seed=seed)
    # Ties are the instance's, so that rules which stop at the same number choose the same workers.
    chosen = choose(
        pool, params["method"], int(params["budget"]), seed=seed, prior=prior, ties=params["ties"]
    )
    return choice_record(pool, params["method"], chosen)


def analyse(table: pd.DataFrame) -> Analysis:
    """Accuracy and size against K, and how rules differ on the same crowds."""
    found = summaries(table, ["budget"])
    if not found["trials"].any():
        return Analysis(findings=(ended(table),))
    rivals = [name for name in METHODS if name != "selected"]
    apart = against(table, ["budget"], rivals)
    return Analysis(
        findings=(ended(table), *_sentences(found, apart, table)),
        tables={
            "Accuracy of Algorithm 1's choice less a rival's, on the same crowds": apart,
            "All points": found,
        },
        charts=(
            accuracy_chart(found, "accuracy", "budget", "budget K", "against the budget"),
            size_chart(found, "size", "budget", "budget K", "against the budget"),
        ),
    )


def _sentences(found: pd.DataFrame, apart: pd.DataFrame, table: pd.DataFrame) -> list[str]:
    sentences = []
    for budget in sorted({_nearest(found["budget"], 20), int(found["budget"].max())}):
        here = found[found["budget"] == budget].to_dict("records")
        sentences.append(
            f"K = {budget}, accuracy: "
            + ", ".join(
                f"{row['method']} {plus_minus(row['accuracy_exact'], row['se'], 4)}" for row in here
            )
            + "; selected less "
            + ", ".join(
                f"{row['rival']} {told(row)}"
                for row in apart[apart["budget"] == budget].to_dict("records")
            )
            + "."
        )
        sizes = [row for row in here if row["method"] in ("selected", "plug-in", "best prefix")]
        sentences.append(
            f"K = {budget}, workers used: "
            + ", ".join(
                f"{row['method']} {plus_minus(row['size'], row['size_se'], 2)}" for row in sizes
            )
            + "."
        )
    more = difference(table, ["budget"], "plug-in", "selected", "size")
    if len(more):
        sentences.append(
            f"The plug-in rule uses {more['mean'].min():.2f} to {more['mean'].max():.2f} workers "
            "more than Algorithm 1, by budget."
        )
    return sentences


def _nearest(budgets: pd.Series[int], wanted: int) -> int:
    return min((int(one) for one in budgets.unique()), key=lambda one: abs(one - wanted))


STUDY = Study(
    name="selection-figure-1",
    title="Selected workers against the budget",
    source="Li, Liu (2015), Section 4.1, Figure 1",
    parameters={
        "workers": Parameter(int, 31, "m", least=1, most=1000),
        "items": Parameter(int, 1000, "items to label", least=1, most=100_000),
        "a": Parameter(float, 2.3, "of the Beta(a, b) of skills", least=0.05, most=100),
        "b": Parameter(float, 2.0, "of the Beta(a, b) of skills", least=0.05, most=100),
        "controls": Parameter(
            int, 10, "n, control questions a worker", least=2, most=1000, paired=True
        ),
        "method": method_parameter(),
        "budget": budget_parameter(20),
        "ties": Parameter(
            str, "fair", "workers of equal worth at the cut: drawn among, or the first",
            choices=("fair", "first"), paired=True,
        ),
    },
    sizes={
        "smoke": Size(({"method": list(METHODS), "budget": [3, 10, 31], "items": [200]},), 3),
        "small": Size(({"method": list(METHODS), "budget": [3, 5, 8, 12, 16, 20, 25, 31]},), 30),
        "paper": Size(({"method": list(METHODS), "budget": list(range(3, 32))},), 100),
    },
    trial=trial,
    analyse=analyse,
)  # fmt: skip
