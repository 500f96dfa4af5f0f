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

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from workbench.base.arrays import FloatArray
from workbench.base.seeds import stream
from workbench.studies.catalog.selection_trials import (
    CONTROLS,
    TIES,
    TITLES,
    against,
    budget_parameter,
    choice_trial,
    method_parameter,
    signed,
    sound,
    summaries,
)
from workbench.studies.measures import bars, ended, listed, span
from workbench.studies.study import Analysis, Block, Chart, Parameter, Params, Record, Size, Study
from workbench.studies.trials import Streams

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


def analyse(table: pd.DataFrame) -> Analysis:
    """Where each of the two rules is ahead, where they stop, and what stopping costs."""
    rows = sound(table)
    # On the items where there is no exact one.
    exact = rows["accuracy_exact"].astype(float).fillna(rows["accuracy"].astype(float))
    rows = rows.assign(accuracy_exact=exact)
    points = summaries(at_own_budget(rows), SETTING)
    if not points["trials"].any():
        return Analysis(findings=(ended(table),))
    apart = against(at_own_budget(rows), SETTING, [name for name in RULES if name != "selected"])
    curve = _stopping(rows)
    return Analysis(
        findings=(ended(table), *_sentences(points, apart)),
        tables={
            "Accuracy of Algorithm 1's choice less a rival's, on the same crowds": apart,
            "All rules": points,
            "The first k workers by G, and where rules stop": curve,
        },
        charts=(_apart_chart(apart), *([_stopping_chart(curve)] if len(curve) else [])),
    )


def at_own_budget(rows: pd.DataFrame) -> pd.DataFrame:
    """Trials at each setting's own budget: the least at which the two rules were run."""
    own = rows["method"].isin(["selected", "plug-in"])
    least = rows[own].groupby(SETTING, as_index=False)["budget"].min()
    return rows.merge(least, on=[*SETTING, "budget"])


def _stopping(rows: pd.DataFrame) -> pd.DataFrame:
    """Accuracy along the ranking by G, and the mean place and accuracy of rules without a limit."""
    plain = rows[(rows["classes"] == 2) & (rows["few"] == 0) & (rows["ties"] == "fair")]
    lengths = plain[plain["method"] == STOPPING].groupby(SETTING)["budget"].nunique()
    plain = plain.merge(lengths[lengths >= 10].reset_index()[SETTING], on=SETTING)
    along = summaries(plain[plain["method"] == STOPPING], [*SETTING, "budget"])
    free = plain["method"].isin(STOPS) & (plain["budget"] == plain["workers"])
    stops = summaries(plain[free], [*SETTING, "budget"])
    return pd.concat(
        [along.assign(series="the first k by G"), stops.assign(series=stops["method"].map(TITLES))],
        ignore_index=True,
    )


def _sentences(points: pd.DataFrame, apart: pd.DataFrame) -> list[str]:
    sentences = []
    for rival in ("plug-in", "top-informative", "all", "accuracy"):
        rows = apart[apart["rival"] == rival]
        if rows.empty:
            continue
        ahead, behind = rows[rows["ahead"]], rows[rows["behind"]]
        text = (
            f"Of {len(rows)} settings Algorithm 1 is ahead of {TITLES[rival]} by more than two "
            f"standard errors in {len(ahead)}, behind in {len(behind)}"
        )
        for word, some in (("most ahead", ahead), ("most behind", behind)):
            if len(some):
                far = some["mean"].astype(float).abs()
                row = some[far == far.max()].iloc[0].to_dict()
                text += f"; {word}: {signed(row)} ({_where(row)})"
        sentences.append(text + ".")
    plain = points[_plain(points)].sort_values("controls", kind="stable")
    for crowd, rows in plain.groupby("crowd", sort=False):
        sizes = [
            f"{name} {listed(rows.loc[rows['method'] == name, 'size'].round(1))}"
            for name in ("selected", "plug-in", "best prefix")
        ]
        numbers = listed(sorted(rows["controls"].unique()))
        sentences.append(f"Workers used, crowd {crowd}, n = {numbers}: {'; '.join(sizes)}.")
    return sentences


def _plain(points: pd.DataFrame) -> pd.Series[bool]:
    """Settings that differ in crowd and n alone."""
    usual = {"workers": points["workers"].mode().iloc[0], "classes": 2, "few": 0, "ties": "fair"}
    plain: pd.Series[bool] = points[list(usual)].eq(pd.Series(usual)).all(axis=1)
    return plain


def _where(row: Mapping[Any, Any]) -> str:
    text = f"{row['crowd']}, m = {row['workers']}, n = {row['controls']}, L = {row['classes']}"
    if row["few"]:
        text += f", {row['few']:g} of the workers with n = {FEW}"
    return text + (", first of equals" if row["ties"] == "first" else "")


def _apart_chart(apart: pd.DataFrame) -> Chart:
    rows = apart[_plain(apart) & (apart["rival"] == "plug-in")]
    return Chart(
        "plug-in",
        "Accuracy of Algorithm 1's choice less the plug-in rule's, on the same crowds, against "
        f"control questions. {bars(rows['n'], 'crowds')}",
        rows.sort_values("controls", kind="stable"), "controls", "mean",
        "control questions a worker, n", "accuracy, selected less plug-in", series="crowd",
        low="low", high="high", log_x=True, references=((0.0, "no difference"),),
    )  # fmt: skip


def _stopping_chart(curve: pd.DataFrame) -> Chart:
    panel = curve["crowd"] + ", n = " + curve["controls"].astype(str)
    return Chart(
        "stopping",
        "Accuracy of the first k workers by G, and where rules stop: mean number of workers and "
        f"mean accuracy of their choices, no limit on K. Means over {span(curve['trials'])} "
        "crowds; bars are 95 % intervals.",
        curve.assign(panel=panel), "size", "accuracy_exact", "workers used", "accuracy",
        series="series", panel="panel", low="low", high="high", x_low="size_low",
        x_high="size_high",
    )  # fmt: skip


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
        "budget": budget_parameter(20),
        "ties": TIES,
    },
    sizes={
        "smoke": Size(
            ({**_RULES, "crowd": ["paper", "spammers"], "controls": [3, 10], "items": [100]},
             {**_RULES, "few": [0.5], "items": [100]},
             {"method": ["selected", "plug-in"], "classes": [3], "items": [100]},
             {**_ALONG, "crowd": ["paper"], "items": [100]},
             {**_STOPS, "crowd": ["paper"], "items": [100]}),
            2,
        ),
        "small": Size(
            ({**_RULES, "crowd": list(CROWDS), "controls": [3, 10, 50]},
             {**_RULES, "few": [0.5], "controls": [30]},
             {"method": ["selected", "plug-in", "top-skill", "all"], "classes": [3, 5]},
             {**_ALONG, **_SHOWN}, {**_STOPS, **_SHOWN}),
            20,
        ),
        "paper": Size(
            ({**_RULES, "crowd": list(CROWDS), "controls": [3, 5, 10, 20, 50]},
             {**_RULES, **_THREE, "workers": [11], "budget": [7]},
             {**_RULES, **_THREE, "workers": [100], "budget": [65]},
             {**_RULES, **_THREE, "few": [0.5], "controls": [30]},
             {**_RULES, **_THREE, "ties": ["first"]},
             {"method": ["selected", "plug-in", "top-skill", "top-informative", "all"],
              **_THREE, "classes": [3, 4, 5], "items": [1000]},
             {**_ALONG, **_SHOWN}, {**_STOPS, **_SHOWN}),
            100,
        ),
    },
    trial=trial,
    analyse=analyse,
)  # fmt: skip
