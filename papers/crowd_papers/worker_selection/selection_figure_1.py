"""Figure 1: accuracy and workers used as the budget grows.

31 workers with skills from Beta(2.3, 2), 1000 items of two classes, 10 control questions each,
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

from crowd_papers.worker_selection import selection_sweep
from crowd_papers.worker_selection.selection_trials import (
    BUDGET,
    CONTROLS,
    CROWDS,
    MEASURED,
    METHODS,
    MOST,
    SHOWN_AT,
    TIES,
    Axis,
    ahead_and_behind,
    analyse_along,
    choice_trial,
    difference,
    difference_at,
    method_parameter,
    nearest,
    ruling_on_lead,
    values_at,
)
from workbench.crowd import beta
from workbench.studies import (
    BEYOND,
    Analysis,
    NotMeasured,
    Parameter,
    Params,
    Record,
    Ruling,
    Size,
    Streams,
    Study,
    Value,
    claim,
    counts,
    ended,
    joined,
    plus_minus,
    with_interval,
    without_failures,
)

AXIS = Axis("budget", "budget K", "against the budget", near=(20, 10_000))


def trial(params: Params, streams: Streams) -> Record:
    """Let one rule choose from one crowd, and measure the vote of the chosen."""
    seed, prior, m = streams.instance, (params["a"], params["b"]), int(params["workers"])
    skill = beta(m, a=prior[0], b=prior[1], seed=seed).skill[0]
    return choice_trial(params, skill, np.full(m, params["controls"]), seed, prior=prior)


# What the trials say.


def analyse(trials: pd.DataFrame) -> Analysis:
    """Differences and levels by budget."""
    rows = without_failures(trials, MEASURED)
    return joined([Analysis((ended(trials),)), analyse_along(rows, AXIS)])


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
        "smoke": Size(({"method": list(METHODS), "budget": [3, 10, 31], "items": [200]},), 1),
        "small": Size(({"method": list(METHODS), "budget": [3, 5, 8, 12, 16, 20, 25, 31]},), 30),
        "paper": Size(({"method": list(METHODS), "budget": list(range(3, 32))},), 100),
    },
    trial=trial,
    analyse=analyse,
)

# What the paper claims.

PAPER_SETTING = {
    "workers": 31,
    "items": 1000,
    "a": 2.3,
    "b": 2.0,
    "controls": 10,
    "ties": "fair",
}
"""Setting of the figure."""
SMALL = 10
"""Workers below which the paper calls a selection small."""
CLOSE = 2.0
"""Two mean numbers of workers no further apart than this count as very close."""
LITTLE = 0.005
"""An accuracy lost that is no more than this counts as little."""


@claim(
    id="selection-figure-1-dominates",
    source="Figure 1(a)",
    statement="On simulated crowds the workers that Algorithm 1 selects are the most accurate at "
    "every budget. (Read as: more accurate than the plug-in rule's and the top K's at most "
    "budgets, and less at none.)",
    where=PAPER_SETTING,
)
def dominates(trials: pd.DataFrame) -> Ruling:
    """Accuracy of Algorithm 1's choice minus that of both rivals in the figure."""
    plug_in = difference(trials, "selected", "plug-in")
    top = difference(trials, "selected", "top-skill")
    figures = (
        "Accuracy of the selected minus a rival's on the same crowds, 2 standard errors counting. "
        f"{ahead_and_behind(plug_in, 'plug-in')}. {ahead_and_behind(top, 'top-skill')}."
    )
    drawn = next(iter(analyse_along(trials, AXIS).charts), None)
    return ruling_on_lead(figures, plug_in, top).beside(
        *values_at(plug_in, "accuracy, selected − plug-in", "above 0"),
        *values_at(top, "accuracy, selected − top K", "above 0"),
        chart=drawn,
    )


@claim(
    id="selection-figure-1-top-k",
    source="Figure 1(a)",
    statement="The workers that Algorithm 1 selects are even more accurate than the top K "
    "workers, who use the entire budget.",
    where=PAPER_SETTING,
)
def beside_top_k(trials: pd.DataFrame) -> Ruling:
    """Accuracy of Algorithm 1's choice minus that of the top K; by |ŵ − ½| for comparison."""
    top = difference(trials, "selected", "top-skill")
    informative = difference(trials, "selected", "top-informative")
    figures = (
        f"Accuracy of the selected on the same crowds. {ahead_and_behind(top, 'top-skill')}. "
        f"{ahead_and_behind(informative, 'top-informative')}."
    )
    return ruling_on_lead(figures, top).beside(
        *values_at(top, "accuracy, selected − top K", "above 0")
    )


@claim(
    id="selection-figure-1-plug-in-accuracy",
    source="Figure 1(a)",
    statement="The plug-in rule achieves slightly worse accuracy than Algorithm 1.",
    where=PAPER_SETTING,
)
def beside_plug_in(trials: pd.DataFrame) -> Ruling:
    """Accuracy of Algorithm 1's choice minus the plug-in rule's."""
    apart = difference(trials, "selected", "plug-in")
    figures = f"Accuracy of the selected on the same crowds. {ahead_and_behind(apart, 'plug-in')}."
    return ruling_on_lead(figures, apart).beside(
        *values_at(apart, "accuracy, selected − plug-in", "slightly above 0")
    )


def mean_sizes(rows: pd.DataFrame, method: str) -> pd.DataFrame:
    """Mean workers used by budget: columns `mean, sem, size`, the number of crowds.

    Raises
    ------
    NotMeasured
        No budget has enough crowds.
    """
    points = rows[rows["method"] == method].groupby("budget")["size"].agg(["mean", "sem", "size"])
    points = points[points["size"] >= CROWDS]
    if points.empty:
        raise NotMeasured(f"{method}: no budget has {CROWDS} crowds")
    return points


@claim(
    id="selection-figure-1-workers",
    source="Figure 1(b)",
    statement="Algorithm 1 uses fewer than 10 workers on average at every budget.",
    where=PAPER_SETTING,
)
def workers_used(trials: pd.DataFrame) -> Ruling:
    """Mean number of workers that Algorithm 1 uses, by budget."""
    points = mean_sizes(trials, "selected")
    top = points.sort_values("mean").iloc[-1]
    many = points["mean"] >= SMALL
    largest = trials.loc[trials["method"] == "selected", "size"].max()
    figures = (
        "Workers used by Algorithm 1 on average over the crowds: at most "
        f"{plus_minus(top['mean'], top['sem'], 2)}, at K = {top.name}; {SMALL} or more at "
        f"{many.sum()} of {len(points)} budgets. In a single crowd up to {largest:.0f}."
    )
    own = trials[trials["method"] == "selected"]
    values = [
        Value(f"workers used, K = {budget}", "below 10", with_interval(rows["size"], 2))
        for budget, rows in own[own["budget"].isin(SHOWN_AT)].groupby("budget")
    ]
    if (points["mean"] - BEYOND * points["sem"] >= SMALL).any():
        return Ruling.refuted(figures).beside(*values)
    ruling = Ruling.holds_as_corrected(figures) if many.any() else Ruling.holds(figures)
    return ruling.beside(*values)


@claim(
    id="selection-figure-1-plug-in-size",
    source="Figure 1(b)",
    statement="The plug-in rule tends to select slightly more workers than Algorithm 1.",
    where=PAPER_SETTING,
)
def plug_in_size(trials: pd.DataFrame) -> Ruling:
    """Workers that the plug-in rule uses beyond Algorithm 1."""
    apart = difference(trials, "plug-in", "selected", "size")
    figures = (
        f"Workers used by the plug-in rule minus Algorithm 1's: {apart['mean'].min():.2f} to "
        f"{apart['mean'].max():.2f} by budget, {difference_at(apart, 20, 2)} at K = 20; more at "
        f"{apart['ahead'].sum()} of {len(apart)} budgets, fewer at {apart['behind'].sum()}."
    )
    if not apart["ahead"].any():
        ruling = (Ruling.refuted if apart["behind"].any() else Ruling.inconclusive)(figures)
    elif apart["ahead"].mean() <= MOST or apart["behind"].any():
        ruling = Ruling.holds_as_corrected(figures)
    else:
        ruling = Ruling.holds(figures)
    return ruling.beside(*values_at(apart, "workers, plug-in − selected", "slightly above 0", 2))


@claim(
    id="selection-optimal-number",
    source="Section 4",
    statement="The number of selected workers is very close to the optimal number of top-ranked "
    "workers. (Read as: within 2 on average, in the setting of Figure 1, K ≥ 20.)",
    where=PAPER_SETTING,
)
def optimal_number(trials: pd.DataFrame) -> Ruling:
    """Workers used by Algorithm 1 less those of the best prefix of its ranking."""
    rows = trials[trials["budget"] >= 20]
    sizes = difference(rows, "selected", "best prefix", "size")
    lost = difference(rows, "best prefix", "selected")["mean"]
    best = mean_sizes(rows, "best prefix")["mean"]
    figures = (
        f"K from {sizes['budget'].min()} to {sizes['budget'].max()}: Algorithm 1 uses "
        f"{mean_sizes(rows, 'selected')['mean'].mean():.1f} workers on average; the most accurate "
        f"prefix of its ranking has {best.min():.1f} to {best.max():.1f} (the fewest such, by the "
        "true "
        f"skills); difference {difference_at(sizes, 20, 2)} at K = 20, "
        f"{difference_at(sizes, 31, 2)} at K = {nearest(sizes, 31)['budget']:g}. Stopping where it "
        f"does loses {lost.min():.4f} to {lost.max():.4f} of accuracy."
    )
    far = (sizes["mean"].abs() > CLOSE).any()
    if far and (lost > LITTLE).any():
        return Ruling.refuted(figures)
    return Ruling.holds_as_corrected(figures) if far else Ruling.holds(figures)


@claim(
    id="selection-unbiasedness",
    source="Section 5",
    statement="Workers selected by the unbiased F̂ vote more accurately than workers selected by "
    "the biased plug-in estimate.",
    studies=("selection-figure-1", "selection-figure-2", "selection-sweep"),
)
def unbiasedness(figure_1: pd.DataFrame, figure_2: pd.DataFrame, sweep: pd.DataFrame) -> Ruling:
    """Accuracy of Algorithm 1's choice minus the plug-in rule's, setting by setting."""
    sweep = sweep.assign(accuracy_exact=selection_sweep.with_accuracy(sweep))
    studies = {
        "selection-figure-1": (figure_1, ["budget"]),
        "selection-figure-2": (figure_2, ["sweep", "controls", "a"]),
        "selection-sweep": (selection_sweep.at_own_budget(sweep), selection_sweep.SETTING),
    }
    apart = {
        study: difference(rows, "selected", "plug-in", by=by)
        for study, (rows, by) in studies.items()
    }
    counted = [
        f"{study} ahead {table['ahead'].sum()}, behind {table['behind'].sum()} of {len(table)}"
        for study, table in apart.items()
    ]
    own = apart["selection-sweep"]
    figures = (
        "Settings in which the selected workers are ahead of the plug-in rule's workers by 2 "
        f"standard errors, and in which they are behind: {'; '.join(counted)}. Ahead in the sweep "
        "by crowd: "
        f"{counts(own.loc[own['ahead'], 'crowd'])}. Behind in the sweep by crowd: "
        f"{counts(own.loc[own['behind'], 'crowd'])}."
    )
    return ruling_on_lead(figures, pd.concat(apart.values()))
