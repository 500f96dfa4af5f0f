"""Section 4.2 on public data: who to hire from a recorded crowd, and how to aggregate.

In each trial workers are examined by `controls` answers out of a data set's own gold, a rule
chooses at most K of them, and their other labels are aggregated (`_recorded` has the two
protocols: one exam for all where everybody labelled everything, an exam of one's own and a choice
for each item where not). Methods are the paper's: Algorithm 1, the plug-in rule, the K best by ŵ
or K at random; a vote with linear or log-odds weights, Dawid–Skene, or a simple majority, which the
paper leaves out of its plots. With K as large as the crowd the top K are all workers. Beyond the
paper: the K workers of highest G, that is Algorithm 1 without its stop; as many workers as it
takes, at random; and, in hindsight, Algorithm 1 and the top K by the skills that the votes turn out
to have, weighted by these.

Bluebird is the paper's own data set, its two others were never published. `sat12` is a science
test with 600 takers; the paper's pools had 31 to 39 workers, so 31 takers are drawn in each trial.
The paper does not say which EM, nor where ŵ is truncated for log-odds: both are parameters. EM is
run with full confusion matrices, and again with one coin a worker and a uniform class prior, which
alone is a weighted vote (1), as the paper has it.

Trials of one data set share its crowd: their spread is that of the control questions drawn (for
sat12 of the pool as well), and says nothing of other crowds. The simulated stand-ins are drawn
anew in each trial; they let the study run without data.

Source: Li, Liu (2015), Section 4.2, Figures 3 and 4, and Section 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from workbench.base.arrays import BoolArray
from workbench.crowd.datasets import DATASETS
from workbench.papers.recorded_crowds import (
    EM,
    SHARED,
    SIMULATED,
    SPARSE,
    Exam,
    Vote,
    at_usual,
    choose,
    examine,
    in_hindsight,
    misfit,
    own_controls,
    recorded,
    shared_controls,
    simulated,
    vote,
)
from workbench.studies.analysis import mean_chart
from workbench.studies.measures import DeclaredAnalysis, Grouped, Part, fill, sentences
from workbench.studies.study import Block, Chart, Parameter, Params, Record, Scalar, Size, Study
from workbench.studies.summary import paired_differences
from workbench.studies.trials import Streams

METHODS: dict[str, tuple[str, Vote]] = {
    "WMV-lin selected": ("selected", "linear"),
    "WMV-log selected": ("selected", "log-odds"),
    "WMV-lin plugin": ("plug-in", "linear"),
    "WMV top K": ("top-skill", "linear"),
    "EM random K": ("random", "EM"),
    "EM top K": ("top-skill", "EM"),
    "EM selected": ("selected", "EM"),
    "MV top K": ("top-skill", "majority"),
    "MV random K": ("random", "majority"),
    "MV selected": ("selected", "majority"),
    "WMV top G": ("top-gain", "linear"),
    "WMV as many": ("as many", "linear"),
    "hindsight selected": ("selected", "linear"),
    "hindsight top K": ("top-skill", "linear"),
}
"""Rule and vote of each method, in the order of legends."""
YARDSTICKS = ("WMV as many", "hindsight selected", "hindsight top K")
"""Run at the largest budget alone."""
PAPER = tuple(METHODS)[:7]
"""Methods of the paper's plots."""
DRAWN = (*PAPER, "MV top K")
"""Methods in charts of accuracy."""
EM_METHODS = ("EM random K", "EM top K", "EM selected")
SIZED = ("WMV-lin selected", "WMV-lin plugin")
"""Methods that choose how many workers."""

BUDGETS: dict[str, list[Scalar]] = {
    "bluebird": [3, 5, 7, 10, 13, 17, 20, 24, 31, 39],
    "sat12": [3, 5, 7, 10, 13, 17, 20, 24, 31],
    "rte": [1, 2, 3, 4, 5, 7, 10],
    "sp_amt": [1, 2, 3, 5, 7, 10, 14, 20],
    "weather_amt": [1, 2, 3, 5, 7, 10, 14, 20],
}
"""K on each data set, up to all workers, or all labels of an item."""
POOL: dict[str, int] = {"sat12": 31}
"""Workers drawn for a trial."""
TITLES = {
    "full": "EM with full confusion matrices",
    "one-coin, uniform prior": "EM with one coin a worker, uniform prior",
}
"""Variants of EM run on all data sets; the others are run on bluebird."""
TRUNCATE: list[Scalar] = [0.001, 0.01, 0.05, 0.1, 0.2]
CONTROLS: list[Scalar] = [5, 10, 20, 40]

SETTINGS = ("controls", "truncate", "em", "pool")
"""Parameters beside data, method and budget."""
REFERENCE = "WMV-lin selected"
COLUMNS: dict[str, Any] = {
    "accuracy": "mean",
    **{name: ("accuracy", name) for name in ("se", "low", "high")},
    "size": "mean",
    **{f"size_{name}": ("size", name) for name in ("low", "high")},
    "certain": "mean",
    "trials": ("accuracy", "count"),
    "failed": ("accuracy", "failed"),
}
"""Of the tables: means of accuracy, workers used, and the share of votes with ŵ of 0 or 1."""


def trial(params: Params, streams: Streams) -> Record:
    """Examine a crowd, let one rule choose from it, and measure the vote of the chosen."""
    seed = streams.instance
    exam = draw_exam(params["data"], params["controls"], params["pool"], seed)
    if params["method"].startswith("hindsight"):
        exam = in_hindsight(exam)
    rule, kind = METHODS[params["method"]]
    # Ties are the instance's, so that rules which stop at the same number choose the same workers.
    marked = choose(exam, rule, params["budget"], seed=seed)
    accuracy, fitted = vote(exam, marked, kind, truncate=params["truncate"], em=params["em"])
    at_ends = np.isin(exam.known.skill, (0.0, 1.0))[exam.votes.worker[marked]]
    bad, sd = (None, None) if params["data"] in SIMULATED else misfit(params["data"])
    return {
        "accuracy": accuracy,
        "size": _size(exam, marked),
        "workers": len(np.unique(exam.votes.worker[marked])),
        "certain": float(at_ends.mean()) if marked.any() else None,
        "answered": float(exam.known.answered.mean()),
        "eligible": float(exam.known.eligible.mean()),
        "scored": int((exam.truth >= 0).sum()),
        "iterations": fitted.info["iterations"] if fitted else None,
        "converged": fitted.info["converged"] if fitted else None,
        "misfit": bad,
        "misfit_sd": sd,
    }


def draw_exam(name: str, controls: int, pool: int | None, seed: np.random.SeedSequence) -> Exam:
    """Draw pool and control questions by the data set's protocol."""
    crowd = simulated(name, seed=seed) if name in SIMULATED else recorded(name)
    crowd = crowd.of_pool(pool, seed=seed)
    shared = name in SHARED
    draw = shared_controls if shared else own_controls
    return examine(crowd, draw(crowd, controls, seed=seed), shared=shared)


def _size(exam: Exam, marked: BoolArray) -> float:
    """Workers chosen, or chosen for an item on average."""
    if exam.shared:
        return float(len(np.unique(exam.votes.worker[marked])))
    scored = exam.truth >= 0
    return float((marked & scored[exam.votes.task]).sum() / max(scored.sum(), 1))


def at_defaults(rows: pd.DataFrame) -> pd.DataFrame:
    """Trials at one value of each setting: the default (for the pool the data set's), if there."""
    usual = {name: STUDY.parameters[name].default for name in SETTINGS}
    pool = {"pool": lambda rows: rows["data"].map(POOL).astype(float)}
    return at_usual(rows, {**usual, **pool})


def varied(rows: pd.DataFrame, methods: Sequence[str], *names: str) -> pd.DataFrame:
    """Trials of some methods where one of some parameters has several values at a budget."""
    rows = rows[rows["method"].isin(methods)]
    values = rows.groupby(["data", "budget"])[list(names)].transform("nunique")
    return rows[(values > 1).any(axis=1)]


def table(rows: pd.DataFrame, *by: str) -> pd.DataFrame:
    """Means of `COLUMNS`; data sets and methods in the order of legends."""
    orders: dict[str, Sequence[str]] = {"data": (*SIMULATED, *DATASETS), "method": tuple(METHODS)}
    return Grouped(by, COLUMNS, orders={name: orders.get(name) for name in by})(rows)


def all_points(rows: pd.DataFrame) -> pd.DataFrame:
    """Every method at every budget, at the defaults."""
    return table(at_defaults(rows), "data", "method", "budget")


def variants(rows: pd.DataFrame) -> pd.DataFrame:
    """Every variant of EM."""
    return table(varied(rows, EM_METHODS, "em"), "data", "em", "method", "budget")


def weights(rows: pd.DataFrame) -> pd.DataFrame:
    """Weights by log-odds, at every truncation and number of control questions."""
    some = varied(rows, ["WMV-log selected", REFERENCE], "truncate", "controls")
    return table(some, "data", "budget", "method", "controls", "truncate")


def against_selected(rows: pd.DataFrame) -> pd.DataFrame:
    """Accuracy less that of `REFERENCE`, on the same control questions."""
    rows = at_defaults(rows)
    if not (rows["method"] == REFERENCE).any():
        return pd.DataFrame()
    return paired_differences(
        rows, by=["data", "budget"], method="method", reference=REFERENCE, value="accuracy"
    )


def levels(_: pd.DataFrame, points: pd.DataFrame) -> list[str]:
    """Accuracy of each method at a data set's largest budget, and Algorithm 1's sizes."""
    said = []
    for data, rows in points.groupby("data", sort=False):
        most = rows["budget"].max()
        text = f"{data}, at most {most} workers{'' if data in SHARED else ' an item'}: "
        text += ", ".join(sentences("{method} {accuracy:±3}", rows[rows["budget"] == most]))
        sizes = rows[rows["method"] == REFERENCE]
        if len(sizes):
            text += fill("; Algorithm 1 uses {size.min:.1f} to {size.max:.1f}", dict(sizes.items()))
        said.append(text + ".")
    return said


def charts(rows: pd.DataFrame, points: pd.DataFrame) -> list[Chart]:
    """A chart of accuracy for each data set, a panel a variant of EM; and one of workers used."""
    shown = points[points.groupby("data")["budget"].transform("nunique") > 1]
    fitted = variants(rows)
    fitted = fitted[fitted["em"].isin(TITLES)].assign(panel=lambda some: some["em"].map(TITLES))
    drawn = []
    for data, own in shown.groupby("data", sort=False):
        ours = own[own["method"].isin(DRAWN)]
        others = ours[~ours["method"].isin(EM_METHODS)]
        panels = [
            pd.concat([others, some]).assign(panel=panel)
            for panel, some in fitted[fitted["data"] == data].groupby("panel", sort=False)
        ]
        way = (
            "one exam for all workers"
            if data in SHARED
            else ("an exam for each worker, a choice for each item")
        )
        drawn.append(
            mean_chart(
                str(data).replace(" ", "-"),
                f"Accuracy on {data} ({way}) against the budget, fair "
                "ties in expectation, over draws of the control questions, not over crowds.",
                pd.concat(panels) if panels else ours.assign(panel=TITLES["full"]),
                "budget",
                ("budget K", "accuracy"),
                y="accuracy",
                series="method",
                panel="panel",
                unit="draws",
            )
        )
    sized = shown[shown["method"].isin(SIZED)]
    if len(sized):
        drawn.append(
            mean_chart(
                "workers",
                f"Workers used ({', '.join(SPARSE[1:])}: for an item) by the rules that "
                "choose how many.",
                sized,
                "budget",
                ("budget K", "workers used"),
                y="size",
                low="size_low",
                high="size_high",
                series="method",
                panel="data",
                unit="draws",
            )
        )
    return drawn


def _paper() -> tuple[Block, ...]:
    blocks: list[dict[str, Any]] = []
    for data, budgets in BUDGETS.items():
        here = {"data": [data], "pool": [POOL.get(data)]}
        variants = [name for name in EM if name in TITLES or data == "bluebird"]
        blocks += [
            {
                **here,
                "budget": budgets,
                "method": [name for name in METHODS if name not in YARDSTICKS],
            },
            {**here, "budget": budgets, "method": list(EM_METHODS), "em": variants},
            {**here, "budget": budgets[-1:], "method": list(YARDSTICKS)},
        ]
    for data in ("bluebird", "simulated"):
        here = {"data": [data], "controls": CONTROLS, "budget": [20]}
        blocks += [
            {**here, "method": ["WMV-lin selected"]},
            {**here, "method": ["WMV-log selected"], "truncate": TRUNCATE},
        ]
    return tuple(blocks)


STUDY = Study(
    name="selection-crowds",
    title="Selected workers of recorded crowds",
    source="Li, Liu (2015), Section 4.2, Figures 3 and 4",
    parameters={
        "data": Parameter(
            str,
            "bluebird",
            "whose labels; stand-ins are named as such",
            choices=(*SIMULATED, *(name for name in DATASETS if name in (*SHARED, *SPARSE))),
        ),
        "pool": Parameter(
            int, None, "workers drawn for a trial; none for all", least=2, optional=True
        ),
        "controls": Parameter(
            int, 10, "n, control answers of a worker (at most)", least=1, most=1000, paired=True
        ),
        "method": Parameter(
            str,
            "WMV-lin selected",
            "who is chosen, and how labels are aggregated",
            choices=tuple(METHODS),
            paired=True,
        ),
        "budget": Parameter(int, 20, "K, the most workers an item may have", least=1, paired=True),
        "truncate": Parameter(
            float,
            0.001,
            "least distance of ŵ from 0 and 1, for log-odds",
            least=1e-9,
            most=0.499,
            paired=True,
        ),
        "em": Parameter(
            str,
            "full",
            "variant of Dawid–Skene, at most 100 iterations",
            choices=tuple(EM),
            paired=True,
        ),
    },
    sizes={
        "smoke": Size(
            (
                {"data": list(SIMULATED), "method": list(METHODS), "budget": [3, 10, 31]},
                {
                    "data": ["simulated"],
                    "method": ["WMV-log selected"],
                    "budget": [10],
                    "truncate": [0.001, 0.1],
                    "controls": [10, 20],
                },
                {"data": ["simulated"], "method": ["EM top K"], "budget": [10, 31], "em": list(EM)},
            ),
            2,
        ),
        "small": Size(
            (
                {
                    "data": ["bluebird"],
                    "method": [*PAPER, "MV top K"],
                    "budget": [3, 5, 10, 20, 39],
                },
                {"data": ["rte"], "method": [*PAPER, "MV top K"], "budget": [1, 3, 5, 10]},
            ),
            20,
        ),
        "paper": Size(_paper(), 100),
    },
    trial=trial,
    analyse=DeclaredAnalysis(
        Part(
            f"Accuracy of each method less that of {REFERENCE}, on the same control questions",
            against_selected,
        ),
        Part("All points", all_points, (levels,), (charts,)),
        Part("Weights by log-odds: number of control questions and truncation", weights),
        Part("Variants of EM", variants),
        fields=("accuracy", "size", "workers", "certain"),
    ),
    deadline=60.0,
)
