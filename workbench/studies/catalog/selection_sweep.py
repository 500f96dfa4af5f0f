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
from workbench.studies.catalog._selection import (
    TITLES,
    against,
    budget_parameter,
    choice_record,
    choose,
    draw_pool,
    method_parameter,
    sound,
    summaries,
    told,
)
from workbench.studies.measures import ended, listed
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


def trial(params: Params, streams: Streams) -> Record:
    """Let one rule choose from one crowd, and measure the vote of the chosen."""
    seed, m = streams.instance, int(params["workers"])
    L = int(params["classes"])
    skill = draw_skills(params["crowd"], m, L, seed)
    answered = np.full(m, params["controls"], dtype=np.int64)
    # Skills are in random order, so that the first are any.
    answered[: round(params["few"] * m)] = FEW
    pool = draw_pool(skill, answered, int(params["items"]), classes=L, seed=seed)
    chosen = choose(pool, params["method"], int(params["budget"]), seed=seed, ties=params["ties"])
    return choice_record(pool, params["method"], chosen)


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
    rows = _with_accuracy(table)
    main = rows[rows["budget"] == rows["_own"]]
    found = summaries(main, SETTING)
    if not found["trials"].any():
        return Analysis(findings=(ended(table),))
    rivals = [name for name in RULES if name != "selected"]
    apart = against(main, SETTING, rivals)
    curve = _stopping(rows)
    charts = [_apart_chart(apart)]
    if len(curve):
        charts.append(_stopping_chart(curve))
    return Analysis(
        findings=(ended(table), *_sentences(found, apart)),
        tables={
            "Accuracy of Algorithm 1's choice less a rival's, on the same crowds": apart,
            "All rules": found,
            "The first k workers by G, and where rules stop": curve,
        },
        charts=tuple(charts),
    )


def _with_accuracy(table: pd.DataFrame) -> pd.DataFrame:
    """Accuracy on the items where there is no exact one, and each setting's own budget."""
    rows = sound(table)
    exact = rows["accuracy_exact"].astype(float)
    rows = rows.assign(accuracy_exact=exact.fillna(rows["accuracy"].astype(float)))
    own = rows["method"].isin(["selected", "plug-in"])
    budget = rows[own].groupby(SETTING)["budget"].min().rename("_own").reset_index()
    return rows.merge(budget, on=SETTING, how="left")


def _stopping(rows: pd.DataFrame) -> pd.DataFrame:
    """Accuracy along the ranking by G, and the mean place and accuracy of rules without a limit."""
    plain = rows[(rows["classes"] == 2) & (rows["few"] == 0) & (rows["ties"] == "fair")]
    lengths = plain[plain["method"] == STOPPING].groupby(SETTING)["budget"].nunique()
    full = lengths[lengths >= 10].reset_index()[SETTING]
    plain = plain.merge(full, on=SETTING)
    along = plain[plain["method"] == STOPPING]
    stops = plain[
        plain["method"].isin(["selected", "plug-in", "accuracy", "best prefix"])
        & (plain["budget"] == plain["workers"])
    ]
    found = pd.concat(
        [
            summaries(along, [*SETTING, "budget"]).assign(series="the first k by G"),
            summaries(stops, [*SETTING, "budget"]),
        ],
        ignore_index=True,
    )
    return found.assign(series=found["series"].fillna(found["method"].map(TITLES)))


def _sentences(found: pd.DataFrame, apart: pd.DataFrame) -> list[str]:
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
                row = max(some.to_dict("records"), key=lambda one: abs(float(one["mean"])))
                text += f"; {word}: {told(row)} ({_where(row)})"
        sentences.append(text + ".")
    plain = found[_plain(found)].sort_values("controls", kind="stable")
    for crowd in plain["crowd"].unique():
        rows = plain[plain["crowd"] == crowd]
        sizes = [
            f"{name} {listed([round(one, 1) for one in rows.loc[rows['method'] == name, 'size']])}"
            for name in ("selected", "plug-in", "best prefix")
        ]
        numbers = listed(sorted(rows["controls"].unique()))
        sentences.append(f"Workers used, crowd {crowd}, n = {numbers}: {'; '.join(sizes)}.")
    return sentences


def _plain(found: pd.DataFrame) -> pd.Series[bool]:
    """Settings that differ in crowd and n alone."""
    most = found["workers"].mode().iloc[0]
    plain: pd.Series[bool] = (
        found["workers"].eq(most)
        & found["classes"].eq(2)
        & found["few"].eq(0)
        & found["ties"].eq("fair")
    )
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
        f"control questions. Means over {_span(rows['n'])} crowds a mark; bars are 95 % intervals "
        "of the mean.",
        rows.sort_values("controls", kind="stable"), "controls", "mean",
        "control questions a worker, n", "accuracy, selected less plug-in", series="crowd",
        low="low", high="high", log_x=True, references=((0.0, "no difference"),),
    )  # fmt: skip


def _stopping_chart(curve: pd.DataFrame) -> Chart:
    data = curve.assign(
        panel=[
            f"{crowd}, n = {n}" for crowd, n in zip(curve["crowd"], curve["controls"], strict=True)
        ]
    )
    return Chart(
        "stopping",
        "Accuracy of the first k workers by G, and where rules stop: mean number of workers and "
        f"mean accuracy of their choices, no limit on K. Means over {_span(data['trials'])} "
        "crowds; bars are 95 % intervals.",
        data, "size", "accuracy_exact", "workers used", "accuracy", series="series",
        panel="panel", low="low", high="high", x_low="size_low", x_high="size_high",
    )  # fmt: skip


def _span(counts: pd.Series[int]) -> str:
    least, most = int(counts.min()), int(counts.max())
    return f"{most}" if least == most else f"{least} to {most}"


_RULES: Block = {"method": list(RULES)}
_ALONG: Block = {"method": [STOPPING], "budget": list(range(1, 32))}
_STOPS: Block = {"method": ["selected", "plug-in", "accuracy", "best prefix"], "budget": [31]}
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
        "controls": Parameter(
            int, 10, "n, control questions a worker", least=2, most=1000, paired=True
        ),
        "few": Parameter(
            float, 0.0, f"share of the workers who answer {FEW} only", least=0, most=1, paired=True
        ),
        "method": method_parameter(RULES),
        "budget": budget_parameter(20),
        "ties": Parameter(
            str, "fair", "workers of equal worth at the cut: drawn among, or the first",
            choices=("fair", "first"), paired=True,
        ),
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
