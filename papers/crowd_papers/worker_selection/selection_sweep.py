"""Why the unbiased rule beats the plug-in rule, or does not: crowds, control questions, classes.

For two classes and the same n for everyone G = (n x − 1)/(n − 1) with x = (2ŵ − 1)². Both rules
then rank alike, and differ in where they stop: at the maximum of Σ(x − 1/n)/√k, or of Σx/√k. The
root comes from Hoeffding's inequality with one range for all workers, whatever their weights. With
each worker's own range, 2|2ŵ − 1|, the bound of a known crowd is exp(−½ Σ(2w − 1)²) (Ho, Jabbari,
Vaughan 2013, Lemma 1), and never asks to stop. This study measures what stopping costs or saves.

- `crowd`: `paper` Beta(2.3, 2); `able` Beta(6, 2); `dull` Beta(20, 20), near guessing; `alike`
  everyone 0.7; `mirrored` half 0.8, half 0.2; `half spammers`, `spammers` (nine in ten) guess, and
  the others are right with 0.9.
- `few`: a share of the workers answers only 3 control questions. Then the rules rank differently.
- `classes` above 2: the rules' rankings differ too; skills as above, a spammer is right with 1/L.
  Accuracy is then measured on the items alone.

Source: Li, Liu (2015), Sections 4.1 and 5.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from crowd_papers.worker_selection.selection_trials import (
    BUDGET,
    CONTROLS,
    MEASURED,
    TIES,
    TITLES,
    against,
    choice_trial,
    method_parameter,
    summaries,
)
from workbench.base import FloatArray, stream
from workbench.studies import (
    Analysis,
    Block,
    Parameter,
    Params,
    Record,
    Size,
    Streams,
    Study,
    ended,
    joined,
    mean_chart,
    records,
    signed,
    without_failures,
)

BETAS = {"paper": (2.3, 2.0), "able": (6.0, 2.0), "dull": (20.0, 20.0)}
SPAMMERS = {"half spammers": 0.5, "spammers": 0.9}
"""Share of the workers who guess; the others are right with 0.9."""
CROWDS = (*BETAS, "alike", "mirrored", *SPAMMERS)
RULES = ("selected", "plug-in", "top-skill", "top-informative", "accuracy", "best prefix", "all")
FEW = 3
"""Control questions of the workers who answer few."""
SETTING = ["crowd", "workers", "controls", "classes", "few", "ties"]
STOPPING = "top-informative"
"""Of two classes and equal n, its first K workers are the first K by G."""

STOPS = ["selected", "plug-in", "accuracy", "best prefix"]
"""Rules that choose how many workers."""


def trial(params: Params, streams: Streams) -> Record:
    """Let one rule choose from one crowd, and measure the vote of the chosen."""
    seed, m, L = streams.instance, int(params["workers"]), int(params["classes"])
    skill = draw_skills(params["crowd"], m, L, seed)
    answered = np.full(m, params["controls"], dtype=np.int64)
    # Skills are in random order, so that the first are any.
    answered[: round(params["few"] * m)] = FEW
    return choice_trial(params, skill, answered, seed, classes=L)


def draw_skills(crowd: str, workers: int, classes: int, seed: np.random.SeedSequence) -> FloatArray:
    """Draw the skills of a crowd of `CROWDS`, shape (m,), in random order."""
    rng = stream(seed, "skills")
    if crowd in BETAS:
        return rng.beta(*BETAS[crowd], workers)
    if crowd == "alike":
        return np.full(workers, 0.7)
    share, low, high = 0.5, 0.2, 0.8
    if crowd in SPAMMERS:
        share, low, high = SPAMMERS[crowd], 1.0 / classes, 0.9
    rank = rng.permutation(workers)
    return np.where(rank < round(share * workers), low, high)


# What the trials say.


def analyse(trials: pd.DataFrame) -> Analysis:
    """Algorithm 1 beside its rivals, all rules, and where rules stop."""
    rows = without_failures(trials, MEASURED)
    rows = rows.assign(accuracy_exact=with_accuracy(rows))
    own = at_own_budget(rows)
    parts = (about_rivals(own), about_rules(own), about_stopping(rows))
    return joined([Analysis((ended(trials),)), *parts])


def with_accuracy(rows: pd.DataFrame) -> pd.Series[float]:
    """Exact accuracy, or where there is none that on the items."""
    return rows["accuracy_exact"].astype(float).fillna(rows["accuracy"].astype(float))


def at_own_budget(rows: pd.DataFrame) -> pd.DataFrame:
    """Trials at each setting's own budget: the least at which the two rules were run."""
    own = rows["method"].isin(["selected", "plug-in"])
    least = rows[own].groupby(SETTING, as_index=False)["budget"].min()
    return rows.merge(least, on=[*SETTING, "budget"])


def about_rivals(rows: pd.DataFrame) -> Analysis:
    """Differences of Algorithm 1's choice to each rival's, at each setting."""
    apart = against(rows, SETTING, RULES[1:])
    if apart.empty:
        return Analysis()
    findings = [
        compared(str(rival), settings) for rival, settings in apart.groupby("rival", sort=False)
    ]
    caption = "Accuracy of Algorithm 1's choice less a rival's, on the same crowds"
    marks = apart[(apart["rival"] == "plug-in") & _plain(apart)]
    if marks.empty:
        return Analysis(tuple(findings), {caption: apart})
    chart = mean_chart(
        "plug-in",
        "Accuracy of Algorithm 1's choice minus the plug-in rule's, on the same crowds, against "
        "control questions.",
        marks.sort_values("controls", kind="stable"),
        "controls",
        ("control questions a worker, n", "accuracy, selected minus plug-in"),
        series="crowd",
        log_x=True,
        references=((0.0, "no difference"),),
        unit="crowds",
    )
    return Analysis(tuple(findings), {caption: apart}, (chart,))


def compared(rival: str, apart: pd.DataFrame) -> str:
    """In how many settings Algorithm 1 is ahead of a rival, or behind, and where the farthest."""
    text = f"Algorithm 1 beside {TITLES[rival]}, {len(apart)} settings"
    for way in ("ahead", "behind"):
        settings = apart[apart[way].astype(bool)]
        text += f"; {way} by more than two standard errors in {len(settings)}"
        farthest = settings.assign(far=settings["mean"].astype(float).abs()).nlargest(1, "far")
        for row in records(farthest):
            text += (
                f", most by {signed(row.mean, row.se, 4)} ({row.crowd}, m = {row.workers}, "
                f"n = {row.controls}, L = {row.classes}, few = {row.few:g}, ties {row.ties})"
            )
    return f"{text}."


def about_rules(rows: pd.DataFrame) -> Analysis:
    """Means of all rules, and how many workers rules use by crowd and n."""
    points = summaries(rows, SETTING)
    if points.empty:
        return Analysis()
    plain = points[_plain(points) & points["method"].isin(STOPS)]
    plain = plain.sort_values("controls", kind="stable")
    findings = []
    for (crowd, method), own in plain.groupby(["crowd", "method"], sort=False):
        sizes = [f"{row.size:.1f} at n = {row.controls}" for row in records(own)]
        findings.append(f"Workers used, crowd {crowd}, {method}: {', '.join(sizes)}.")
    return Analysis(tuple(findings), {"All rules": points})


def about_stopping(rows: pd.DataFrame) -> Analysis:
    """Accuracy of the first k workers by G, and where rules stop."""
    curve = stopping(rows)
    if curve.empty:
        return Analysis()
    chart = mean_chart(
        "stopping",
        "Accuracy of the first k workers by G, and where rules stop: mean number of workers and "
        "mean accuracy of their choices, no limit on K.",
        curve.assign(panel=curve["crowd"] + ", n = " + curve["controls"].astype(str)),
        "size",
        ("workers used", "accuracy"),
        y="accuracy_exact",
        series="series",
        panel="panel",
        x_low="size_low",
        x_high="size_high",
        unit="crowds",
    )
    return Analysis((), {"The first k workers by G, and where rules stop": curve}, (chart,))


def stopping(rows: pd.DataFrame) -> pd.DataFrame:
    """Accuracy along the ranking by G, and the mean place and accuracy of rules without a limit."""
    plain = rows[(rows["classes"] == 2) & (rows["few"] == 0) & (rows["ties"] == "fair")]
    lengths = plain[plain["method"] == STOPPING].groupby(SETTING)["budget"].nunique()
    plain = plain.merge(lengths[lengths >= 10].reset_index()[SETTING], on=SETTING)
    curve = summaries(plain[plain["method"] == STOPPING], [*SETTING, "budget"])
    free = plain["method"].isin(STOPS) & (plain["budget"] == plain["workers"])
    stops = summaries(plain[free], [*SETTING, "budget"])
    return pd.concat(
        [curve.assign(series="the first k by G"), stops.assign(series=stops["method"].map(TITLES))],
        ignore_index=True,
    )


def _plain(points: pd.DataFrame) -> pd.Series[bool]:
    """Settings that differ in crowd and n alone."""
    usual = {"workers": points["workers"].mode().iloc[0], "classes": 2, "few": 0, "ties": "fair"}
    return points[list(usual)].eq(pd.Series(usual)).all(axis=1)


_RULES: Block = {"method": list(RULES)}
_ALONG: Block = {"method": [STOPPING], "budget": list(range(1, 32))}
_STOPS: Block = {"method": STOPS, "budget": [31]}
_THREE: Block = {"crowd": ["paper", "half spammers", "spammers"]}
_SHOWN: Block = {"crowd": ["paper", "alike", "spammers"]}

STUDY = Study(
    name="selection-sweep",
    title="Selected against plug-in over crowds",
    source="Li, Liu (2015), Sections 4.1 and 5",
    parameters={
        "crowd": Parameter(str, "paper", "how skills are drawn", choices=CROWDS),
        "workers": Parameter(int, 31, "m", least=1, most=500),
        "classes": Parameter(int, 2, "L", least=2, most=10),
        "items": Parameter(int, 500, "items to label", least=1, most=100_000),
        "controls": CONTROLS,
        "few": Parameter(
            float, 0.0, f"share of the workers who answer {FEW} only", least=0, most=1, paired=True
        ),
        "method": method_parameter(RULES),
        "budget": BUDGET,
        "ties": TIES,
    },
    sizes={
        "smoke": Size(
            (
                {**_RULES, "crowd": ["paper", "spammers"], "controls": [3, 10], "items": [100]},
                {**_RULES, "few": [0.5], "items": [100]},
                {"method": ["selected", "plug-in"], "classes": [3], "items": [100]},
                {**_ALONG, "crowd": ["paper"], "items": [100]},
                {**_STOPS, "crowd": ["paper"], "items": [100]},
            ),
            1,
        ),
        "small": Size(
            (
                {**_RULES, "crowd": list(CROWDS), "controls": [3, 10, 50]},
                {**_RULES, "few": [0.5], "controls": [30]},
                {"method": ["selected", "plug-in", "top-skill", "all"], "classes": [3, 5]},
                {**_ALONG, **_SHOWN},
                {**_STOPS, **_SHOWN},
            ),
            20,
        ),
        "paper": Size(
            (
                {**_RULES, "crowd": list(CROWDS), "controls": [3, 5, 10, 20, 50]},
                {**_RULES, **_THREE, "workers": [11], "budget": [7]},
                {**_RULES, **_THREE, "workers": [100], "budget": [65]},
                {**_RULES, **_THREE, "few": [0.5], "controls": [30]},
                {**_RULES, **_THREE, "ties": ["first"]},
                {
                    "method": ["selected", "plug-in", "top-skill", "top-informative", "all"],
                    **_THREE,
                    "classes": [3, 4, 5],
                    "items": [1000],
                },
                {**_ALONG, **_SHOWN},
                {**_STOPS, **_SHOWN},
            ),
            100,
        ),
    },
    trial=trial,
    analyse=analyse,
)
