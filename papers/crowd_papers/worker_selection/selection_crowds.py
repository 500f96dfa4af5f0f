"""Section 4.2 on public data: who to hire from a recorded crowd, and how to aggregate.

In each trial workers are examined by `controls` answers out of a data set's own gold, a rule
chooses at most K of them, and their other labels are aggregated (`recorded_crowds` has the two
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
run with full confusion matrices, and with one coin per worker and a uniform class prior, which
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

from crowd_papers.recorded_crowds import (
    EM,
    SHARED,
    SIMULATED,
    SPARSE,
    Exam,
    at_usual,
    choose,
    examine,
    in_hindsight,
    misfit,
    own_controls,
    shared_controls,
    vote,
)
from crowd_papers.worker_selection.recorded_methods import (
    BUDGETS,
    DRAWS,
    EM_METHODS,
    LINEAR,
    LOG,
    METHODS,
    ONE_COIN,
    PAPER_METHODS,
    POOL,
    SETS,
    TITLES,
    YARDSTICKS,
    at_paper_settings,
    best_budget,
    by_data,
    by_method,
    ends,
    gaps,
    gaps_at_large,
    odd_draws,
)
from workbench.base import BoolArray
from workbench.crowd import DATASETS
from workbench.ranking import recorded, simulated
from workbench.studies import (
    BEYOND,
    Analysis,
    Block,
    Chart,
    NotMeasured,
    Parameter,
    Params,
    Record,
    Ruling,
    Scalar,
    Size,
    Streams,
    Study,
    claim,
    ended,
    in_order,
    instance_columns,
    listed,
    mean_chart,
    mean_se,
    means,
    nonempty,
    paired_differences,
    percent,
    plus_minus,
    records,
    signed,
    without_failures,
)

DRAWN = (*PAPER_METHODS, "MV top K")
"""Methods in charts of accuracy."""
SIZED = (LINEAR, "WMV-lin plugin")
"""Methods that choose how many workers."""
TRUNCATE: list[Scalar] = [0.001, 0.01, 0.05, 0.1, 0.2]
CONTROLS: list[Scalar] = [5, 10, 20, 40]


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
    at_ends = np.isin(exam.scores.skill, (0.0, 1.0))[exam.votes.worker[marked]]
    bad, sd = (None, None) if params["data"] in SIMULATED else misfit(params["data"])
    return {
        "accuracy": accuracy,
        "size": _size(exam, marked),
        "workers": len(np.unique(exam.votes.worker[marked])),
        "certain": float(at_ends.mean()) if marked.any() else None,
        "answered": float(exam.scores.answered.mean()),
        "eligible": float(exam.scores.eligible.mean()),
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


# What the trials say.

SETTINGS = ("controls", "truncate", "em", "pool")
"""Parameters beside data, method and budget."""
ORDERS: dict[str, Sequence[str]] = {"data": (*SIMULATED, *DATASETS), "method": tuple(METHODS)}
"""Data sets and methods in the order of legends."""


def analyse(trials: pd.DataFrame) -> Analysis:
    """Methods beside Algorithm 1, all methods at all budgets, log-odds, and variants of EM."""
    rows = without_failures(trials, ["accuracy", "size", "workers", "certain"])
    points = table(at_defaults(rows), "data", "method", "budget")
    tables = {
        f"Accuracy of each method minus that of {LINEAR}, on the same control questions": (
            against_selected(rows)
        ),
        "All points": points,
        "Weights by log-odds: number of control questions and truncation": weights(rows),
        "Variants of EM": variants(rows),
    }
    return Analysis(
        (ended(trials), *levels(points)),
        {caption: table for caption, table in tables.items() if len(table)},
        charts(points, variants(rows)),
    )


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
    """Means of accuracy, of workers used, and of the share of votes with ŵ of 0 or 1.

    Returns
    -------
    DataFrame
        Columns `by, accuracy, se, low, high, size, size_low, size_high, certain, trials, failed`;
        data sets and methods in the order of legends.
    """
    keys = list(by)
    rows = in_order(rows, {name: ORDERS.get(name) for name in keys})
    accuracy, size = means(rows, keys, "accuracy"), means(rows, keys, "size")
    return accuracy[keys].assign(
        accuracy=accuracy["mean"],
        se=accuracy["se"],
        low=accuracy["low"],
        high=accuracy["high"],
        size=size["mean"],
        size_low=size["low"],
        size_high=size["high"],
        certain=means(rows, keys, "certain")["mean"],
        trials=accuracy["n"],
        failed=accuracy["failed"],
    )


def variants(rows: pd.DataFrame) -> pd.DataFrame:
    """Every variant of EM."""
    return table(varied(rows, EM_METHODS, "em"), "data", "em", "method", "budget")


def weights(rows: pd.DataFrame) -> pd.DataFrame:
    """Weights by log-odds, at every truncation and number of control questions."""
    swept = varied(rows, [LOG, LINEAR], "truncate", "controls")
    return table(swept, "data", "budget", "method", "controls", "truncate")


def against_selected(rows: pd.DataFrame) -> pd.DataFrame:
    """Accuracy minus that of Algorithm 1 with linear weights, on the same control questions."""
    rows = at_defaults(rows)
    if not (rows["method"] == LINEAR).any():
        return pd.DataFrame()
    return paired_differences(
        rows, by=["data", "budget"], method="method", reference=LINEAR, value="accuracy"
    )


def levels(points: pd.DataFrame) -> list[str]:
    """Accuracy of each method at a data set's largest budget, and Algorithm 1's sizes."""
    findings = []
    for data, rows in points.groupby("data", sort=False):
        most = rows["budget"].max()
        text = f"{data}, at most {most} workers{'' if data in SHARED else ' an item'}: "
        text += ", ".join(
            f"{row.method} {plus_minus(row.accuracy, row.se)}"
            for row in records(rows[rows["budget"] == most])
        )
        sizes = rows.loc[rows["method"] == LINEAR, "size"]
        if len(sizes):
            text += f"; Algorithm 1 uses {sizes.min():.1f} to {sizes.max():.1f}"
        findings.append(f"{text}.")
    return findings


def charts(points: pd.DataFrame, fitted: pd.DataFrame) -> tuple[Chart, ...]:
    """A chart of accuracy for each data set, a panel a variant of EM; and one of workers used."""
    curves = points[points.groupby("data")["budget"].transform("nunique") > 1]
    fitted = fitted[fitted["em"].isin(TITLES)]
    fitted = fitted.assign(panel=fitted["em"].map(TITLES))
    accuracies = [
        accuracy_chart(str(data), rows[rows["method"].isin(DRAWN)], fitted[fitted["data"] == data])
        for data, rows in curves.groupby("data", sort=False)
    ]
    sized = curves[curves["method"].isin(SIZED)]
    workers = mean_chart(
        "workers",
        f"Workers used ({', '.join(SPARSE[1:])}: for an item) by the rules that choose how many.",
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
    return nonempty(*accuracies, workers)


def accuracy_chart(data: str, points: pd.DataFrame, fitted: pd.DataFrame) -> Chart:
    """Accuracy on one data set by budget; `fitted` has the variants of EM, a panel each."""
    others = points[~points["method"].isin(EM_METHODS)]
    panels = [
        pd.concat([others, rows]).assign(panel=panel)
        for panel, rows in fitted.groupby("panel", sort=False)
    ]
    way = "an exam for each worker, a choice for each item"
    if data in SHARED:
        way = "one exam for all workers"
    return mean_chart(
        data.replace(" ", "-"),
        f"Accuracy on {data} ({way}) against the budget, fair ties in expectation, over draws of "
        "the control questions, not over crowds.",
        pd.concat(panels) if panels else points.assign(panel=TITLES["full"]),
        "budget",
        ("budget K", "accuracy"),
        y="accuracy",
        series="method",
        panel="panel",
        unit="draws",
    )


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
            {**here, "method": [LINEAR]},
            {**here, "method": [LOG], "truncate": TRUNCATE},
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
            LINEAR,
            "who is chosen, and how labels are aggregated",
            choices=tuple(METHODS),
            paired=True,
        ),
        "budget": Parameter(int, 20, "K, the most workers per item may have", least=1, paired=True),
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
                    "method": [LOG],
                    "budget": [10],
                    "truncate": [0.001, 0.1],
                    "controls": [10, 20],
                },
                {"data": ["simulated"], "method": ["EM top K"], "budget": [10, 31], "em": list(EM)},
            ),
            1,
        ),
        "small": Size(
            (
                {
                    "data": ["bluebird"],
                    "method": list(DRAWN),
                    "budget": [3, 5, 10, 20, 39],
                },
                {"data": ["rte"], "method": list(DRAWN), "budget": [1, 3, 5, 10]},
            ),
            20,
        ),
        "paper": Size(_paper(), 100),
    },
    trial=trial,
    analyse=analyse,
    deadline=60.0,
)

# What the paper claims.

CLOSE = 0.01
"""Accuracies no further apart count as equally good."""
MUCH = 0.02
"""A difference of accuracy that counts as much."""
FEW = 10
"""Workers below which the paper calls a selection small."""
SELECTED = (LINEAR, LOG, "EM selected")
RIVALS = ("EM top K", "EM random K")
REJECTED = 3.0
"""Standard deviations by which one coin per worker must misfit to be rejected."""
TRUNCATED = 0.05
"""Heavier truncation: half of what one answer of ten weighs."""
UNPUBLISHED = "The authors did not publish the data."


def ruling_of_all(figures: str, agree: Sequence[bool], *, against: bool = True) -> Ruling:
    """Rule on what should be so everywhere; nowhere it is refuted if anything speaks against it."""
    if not any(agree):
        return Ruling.refuted(figures) if against else Ruling.inconclusive(figures)
    return Ruling.holds(figures) if all(agree) else Ruling.holds_as_corrected(figures)


def better(points: pd.DataFrame) -> bool:
    """Whether a method is ahead at most points, and behind at none."""
    return bool(points["ahead"].mean() > 0.5 and not points["behind"].any())


@claim(
    id="selection-figure-3-crowd-test",
    source="Figure 3",
    statement="On the Crowd-test data EM on the top K first gets better and from about K = 10 on "
    "worse. Algorithm 1 selects far fewer workers and does much better than the top K and random "
    "K.",
    studies=(),
)
def crowd_test() -> Ruling:
    """The data cannot be had."""
    return Ruling.no_data(UNPUBLISHED)


@claim(
    id="selection-figure-4-disambiguity",
    source="Figure 4(a)",
    statement="On the Disambiguity data usually no more than 6 workers are selected.",
    studies=(),
)
def disambiguity() -> Ruling:
    """The data cannot be had."""
    return Ruling.no_data(UNPUBLISHED)


@claim(
    id="selection-figure-4-bluebird-em",
    source="Figure 4(b)",
    statement="On the crowd bluebird with large K, the vote of the selected workers is more "
    "accurate than EM on the top K or on K random workers.",
)
def bluebird_em(trials: pd.DataFrame) -> Ruling:
    """WMV-lin selected against EM on top K and random K, large K, by variant of EM."""
    rows = at_paper_settings(trials, "bluebird")
    agree, texts, behind = [], [], False
    for em, title in TITLES.items():
        apart = {rival: gaps_at_large(by_method(rows, em), LINEAR, rival) for rival in RIVALS}
        agree.append(all(better(points) for points in apart.values()))
        behind = behind or any(points["behind"].any() for points in apart.values())
        texts += [f"{title}, less {rival}: {ends(points)}" for rival, points in apart.items()]
    figures = f"Accuracy of WMV-lin selected at large K. {'. '.join(texts)}."
    return ruling_of_all(figures, agree, against=behind)


def as_good_as_top_k(rows: pd.DataFrame) -> tuple[str, list[bool]]:
    """Whether the selected are within `CLOSE` of the top K with at most half of their workers.

    Returns
    -------
    tuple
        The differences, for a sentence; and for each data set whether it is so.
    """
    sizes = by_method(rows, value="size").groupby(level=["data", "budget"]).mean().reset_index()
    points = gaps_at_large(by_method(rows), LINEAR, "WMV top K")
    points = points.merge(sizes[["data", "budget", LINEAR, "WMV top K"]])
    agree, texts = [], []
    for data, part in by_data(points):
        last = part.sort_values("budget").iloc[-1]
        near = (part["mean"] - BEYOND * part["se"] >= -CLOSE).all()
        agree.append(bool(near and last[LINEAR] <= last["WMV top K"] / 2))
        many = f"with {last[LINEAR]:.1f} workers in place of {last['WMV top K']:.1f}"
        texts.append(f"{data} {ends(part, 4)}, {many}")
    return "; ".join(texts), agree


@claim(
    id="selection-figure-4-bluebird-top-k",
    source="Figure 4(b)",
    statement="On the crowd bluebird with large K and linear weights, the selected workers are at "
    "least as accurate as the top K workers, and far fewer.",
)
def bluebird_top_k(trials: pd.DataFrame) -> Ruling:
    """WMV-lin selected less WMV top K on bluebird at large K."""
    differences, agree = as_good_as_top_k(at_paper_settings(trials, "bluebird"))
    return ruling_of_all(
        "Accuracy of the selected workers minus that of the top K workers, at large K: "
        f"{differences}.",
        agree,
    )


@claim(
    id="selection-figure-4-bluebird-workers",
    source="Section 4.2",
    statement="On the crowd bluebird Algorithm 1 usually selects at most 9 workers.",
)
def bluebird_workers(trials: pd.DataFrame) -> Ruling:
    """Workers selected on bluebird, by budget."""
    size = by_method(at_paper_settings(trials, "bluebird"), value="size")[LINEAR].dropna()
    points = size.groupby(level="budget").agg(["size", "mean", "sem", "median"])
    share = (size <= 9).groupby(level="budget").mean()
    sizes = ", ".join(f"{mean:.1f} (K = {budget})" for budget, mean in points["mean"].items())
    last = points.iloc[-1]
    figures = (
        f"Mean number of selected workers: {sizes}; at the largest "
        f"{plus_minus(last['mean'], last['sem'], 2)}, median {last['median']:g}, no more than 9 in "
        f"{percent(share.iloc[-1])} of {last['size']:g} draws."
    )
    if (share + BEYOND * np.sqrt(share * (1 - share) / points["size"]) < 0.5).any():
        return Ruling.refuted(figures)
    return Ruling.inconclusive(figures) if (share < 0.5).any() else Ruling.holds(figures)


@claim(
    id="selection-crowds-against-em",
    source="Section 4.2",
    statement="If K is large, each method is more accurate on the selected workers than EM on the "
    "top K or on K random workers. (Measured on public data sets.)",
)
def selected_against_em(trials: pd.DataFrame) -> Ruling:
    """Three votes of the selected against EM on top K and random K, by data set and variant."""
    rows = at_paper_settings(trials)
    agree, texts, parts = [], [], []
    for em, title in TITLES.items():
        wide = by_method(rows, em)
        points = pd.concat(gaps_at_large(wide, own, rival) for own in SELECTED for rival in RIVALS)
        parts.append(points)
        agree += [better(part) for _, part in by_data(points)]
        counts = [
            f"{data} {part['ahead'].sum()} and {part['behind'].sum()} of {len(part)}"
            for data, part in by_data(points)
        ]
        texts.append(f"{title}: {', '.join(counts)}")
    figures = (
        "Comparisons at large K in which the selected workers are ahead by two standard errors, "
        f"and in which they are behind. {'. '.join(texts)}."
    )
    ahead, behind = pd.concat(parts)[["ahead", "behind"]].sum()
    if ahead <= behind:
        return Ruling.refuted(figures) if behind else Ruling.inconclusive(figures)
    return Ruling.holds(figures) if all(agree) else Ruling.holds_as_corrected(figures)


@claim(
    id="selection-crowds-as-good",
    source="Abstract and Section 4",
    statement="A few selected workers are at least as accurate as the much larger crowd that the "
    "budget allows. (Measured on public data sets.)",
)
def as_good(trials: pd.DataFrame) -> Ruling:
    """WMV-lin selected less WMV top K on all data sets."""
    differences, agree = as_good_as_top_k(at_paper_settings(trials))
    figures = (
        f"Accuracy of WMV-lin on the selected minus that on the top K, at large K: {differences}. "
        "As good is read as "
        "0.01 behind at most, 2 standard errors included; much smaller as half at most."
    )
    return ruling_of_all(figures, agree)


@claim(
    id="selection-crowds-few-workers",
    source="Section 4",
    statement="Algorithm 1 selects fewer than 10 workers in all experiments. (Here on public data "
    "sets, on average, n = 10.)",
)
def few_workers(trials: pd.DataFrame) -> Ruling:
    """Mean number selected at the budget where it is largest, on all data sets.

    Beyond chance above 10 on the paper's own crowd, it is not so; on others alone, the claim does
    not transfer.
    """
    size = by_method(at_paper_settings(trials), value="size")[LINEAR].dropna()
    points = size.groupby(level=["data", "budget"]).agg(["mean", "sem"]).reset_index()
    most = {data: part.nlargest(1, "mean").iloc[0] for data, part in by_data(points)}
    sizes = [f"{data} {row['mean']:.1f}" for data, row in most.items()]
    above = {data: row["mean"] - BEYOND * row["sem"] >= FEW for data, row in most.items()}
    figures = (
        "Largest mean number of selected workers at any budget (per item if labels are sparse): "
        f"{', '.join(sizes)}."
    )
    if above.get("bluebird", False):
        return Ruling.refuted(figures)
    if any(above.values()):
        return Ruling.does_not_transfer(figures)
    many = any(row["mean"] >= FEW for row in most.values())
    return Ruling.holds_as_corrected(figures) if many else Ruling.holds(figures)


@claim(
    id="selection-crowds-optimal-number",
    source="Section 4",
    statement="The number of selected workers is very close to the optimal number of top-ranked "
    "workers in practice. (Read as: within 2, on public data sets.)",
)
def optimal_number(trials: pd.DataFrame) -> Ruling:
    """Number selected at the largest K beside the number of top-ranked workers that is best.

    It is not close where it is more than 2 off and more accuracy than `CLOSE` is lost, beyond
    chance. Where that is so on crowds that are not the paper's alone, or the number is as far off
    there, the claim does not transfer.
    """
    rows = at_paper_settings(trials)
    wide, sizes = by_method(rows), by_method(rows, value="size")
    near, dear, texts = {}, {}, []
    for data, part in by_data(wide):
        best, own, odd = best_budget(part["WMV top G"]), sizes.loc[data], odd_draws(part)
        most = part.index.get_level_values("budget").max()
        number = own["WMV top G"].xs(best, level="budget").mean()
        selected = own[LINEAR].xs(most, level="budget").mean()
        at_best = odd["WMV top G"].xs(best, level="budget")
        lost, se = mean_se((at_best - odd[LINEAR].xs(most, level="budget")).dropna())
        near[data] = abs(selected - number) <= 2
        dear[data] = lost - BEYOND * se > CLOSE
        texts.append(
            f"{data} {selected:.1f} in place of {number:.1f}, loses {plus_minus(lost, se, 4)}"
        )
    figures = (
        "At the largest K: number of selected workers, best number in the ranking by G, and loss "
        f"of accuracy: {'; '.join(texts)}. The best number is of the budgets "
        "tried, on half of the draws; "
        "the other half says what is lost."
    )
    if near.get("bluebird", True):
        return Ruling.holds(figures) if all(near.values()) else Ruling.does_not_transfer(figures)
    return Ruling.refuted(figures) if dear["bluebird"] else Ruling.holds_as_corrected(figures)


@claim(
    id="selection-crowds-em-top-k",
    source="Sections 4.2 and 5",
    statement="As K grows, EM on the top K workers first becomes more accurate, then less "
    "accurate. (Measured on public data sets.)",
)
def em_top_k(trials: pd.DataFrame) -> Ruling:
    """Rise of EM top K from the least K to its peak, and fall to the largest K."""
    rows = at_paper_settings(trials)
    agree, texts = [], []
    for em, title in TITLES.items():
        peaks = []
        for data, part in by_data(by_method(rows, em)):
            best, odd = best_budget(part["EM top K"]), odd_draws(part)
            curve = odd.pivot_table(index="repetition", columns="budget", values="EM top K")
            rise, rise_se = mean_se(curve[best] - curve[curve.columns.min()])
            fall, fall_se = mean_se(curve[best] - curve[curve.columns.max()])
            agree.append(rise > BEYOND * rise_se and fall > BEYOND * fall_se)
            peaks.append(
                f"{data} up {plus_minus(rise, rise_se)} to K = {best}, then down "
                f"{plus_minus(fall, fall_se, 4)}"
            )
        texts.append(f"{title}: {', '.join(peaks)}")
    figures = (
        f"{'. '.join(texts)}. The peak is found on half of the draws, rise and fall are measured "
        "on the other half."
    )
    return ruling_of_all(figures, agree)


@claim(
    id="selection-crowds-majority",
    source="Section 4",
    statement="The majority vote performs much worse than all the other algorithms. (Read as: of "
    "the top K, on public data sets.)",
)
def majority(trials: pd.DataFrame) -> Ruling:
    """Majority on the top K less each other method, at large K."""
    rows = at_paper_settings(trials)
    full, one_coin = by_method(rows), by_method(rows, ONE_COIN)
    apart = [gaps_at_large(full, "MV top K", name) for name in PAPER_METHODS]
    apart += [gaps_at_large(one_coin, "MV top K", name) for name in EM_METHODS]
    points = pd.concat(apart)
    points = points.assign(much=points["behind"] & (points["mean"] < -MUCH))
    agree, texts = [], []
    for data, part in by_data(points):
        much, behind, ahead = (part[name] for name in ("much", "behind", "ahead"))
        agree.append(bool(much.mean() > 0.5 and much.sum() > ahead.sum()))
        texts.append(
            f"{data} {percent(much.mean())}, {percent(behind.mean())}, {percent(ahead.mean())} "
            f"({part['mean'].mean():+.3f} on average)"
        )
    figures = (
        "Share of comparisons with the plots' seven methods, at large K, in which the majority of "
        "the top K is behind by over 0.02, behind, and ahead (2 standard errors): "
        f"{'; '.join(texts)}."
    )
    if all(agree) and points["ahead"].any():
        return Ruling.holds_as_corrected(figures)
    return ruling_of_all(figures, agree)


def log_odds_swept(trials: pd.DataFrame, data: str) -> pd.DataFrame | None:
    """Accuracy by method, n and truncation at K = 20, a row a draw; None if there is too little."""
    rows = trials[
        (trials["data"] == data) & (trials["budget"] == 20) & trials["method"].isin([LOG, LINEAR])
    ]
    columns = ["method", "controls", "truncate"]
    wide = rows.pivot_table(index=instance_columns(rows), columns=columns, values="accuracy")
    needed = [(LOG, 10, 0.001), (LOG, 10, TRUNCATED), (LOG, 40, 0.001), (LINEAR, 10, 0.001)]
    if any(column not in wide or wide[column].count() < DRAWS for column in needed):
        return None
    return wide


@claim(
    id="selection-crowds-log-odds",
    source="Section 5",
    statement="With n = 10 control questions the vote with log-odds weights is less accurate than "
    "the vote with linear weights. (Measured on public data sets.)",
)
def log_odds(trials: pd.DataFrame) -> Ruling:
    """WMV-log less WMV-lin on the selected, n = 10."""
    points = gaps(by_method(at_paper_settings(trials)), LOG, LINEAR)
    texts = [
        f"{data} {ends(part, 4)}, behind at K = {listed(part.loc[part['behind'], 'budget'])}, "
        f"ahead at {listed(part.loc[part['ahead'], 'budget'])}"
        for data, part in by_data(points)
    ]
    figures = (
        "Accuracy with log-odds minus that with linear weights, ŵ in [0.001, 0.999]: "
        f"{'; '.join(texts)}."
    )
    swept = log_odds_swept(trials, "simulated")
    if swept is not None:
        gap = mean_se((swept[LOG][10, 0.001] - swept[LINEAR][10, 0.001]).dropna())
        figures += f" Simulated one-coin crowds, K = 20: {signed(*gap, 4)}."
    ahead, behind = points["ahead"], points["behind"]
    if behind.sum() <= ahead.sum():
        return Ruling.refuted(figures) if ahead.any() else Ruling.inconclusive(figures)
    if behind.mean() <= 0.5 or ahead.any():
        return Ruling.holds_as_corrected(figures)
    return Ruling.holds(figures)


@claim(
    id="selection-crowds-log-odds-mends",
    source="Section 5",
    statement="The vote with log-odds weights improves with larger n or heavier truncation of ŵ.",
)
def log_odds_mends(trials: pd.DataFrame) -> Ruling:
    """Change of WMV-log from n = 10 to 40, and by heavier truncation at n = 10."""
    agree, texts = [], []
    for data in ("bluebird", "simulated"):
        swept = log_odds_swept(trials, data)
        if swept is None:
            raise NotMeasured(f"{data}: too few trials with n = 40 and truncation at {TRUNCATED}")
        log = swept[LOG]
        more, more_se = mean_se((log[40, 0.001] - log[10, 0.001]).dropna())
        cut, cut_se = mean_se((log[10, TRUNCATED] - log[10, 0.001]).dropna())
        agree += [more > BEYOND * more_se, cut > BEYOND * cut_se]
        accuracies = ", ".join(
            f"{mean:.4f} (at {truncate:g})" for truncate, mean in log[10].mean().items()
        )
        texts.append(
            f"{data}: n = 10 to 40 {signed(more, more_se, 4)}, truncation at {TRUNCATED:g} in "
            f"place of 0.001 {signed(cut, cut_se, 4)}; n = 10 by truncation: {accuracies}"
        )
    return ruling_of_all(f"WMV-log on the selected, K = 20. {'. '.join(texts)}.", agree)


@claim(
    id="selection-crowds-score",
    source="Theorem 1, remark (ii)",
    statement="F remains an efficient score even if a worker does not seem to be equally accurate "
    "for all classes (the one-coin assumption). (Read as: the workers it selects vote better "
    "than as many at random, and those it selects by their true skills better than everybody.)",
)
def score(trials: pd.DataFrame) -> Ruling:
    """Sets chosen by F̂, and by F itself, where one coin per worker is rejected."""
    rows = at_paper_settings(trials)
    fit = rows.groupby("data")[["misfit", "misfit_sd"]].first()
    rejected = fit[fit["misfit_sd"] > REJECTED].index
    if len(rejected) < SETS:
        raise NotMeasured(f"one coin per worker is rejected on {len(rejected)} data sets")
    wide = by_method(rows[rows["data"].isin(rejected)])
    random = gaps(wide, LINEAR, "WMV as many")
    hindsight = gaps(wide, "hindsight selected", "hindsight top K")
    both = random.merge(hindsight, on=["data", "budget"], suffixes=("", "_known"))
    if len(both) < SETS:
        raise NotMeasured(f"{len(both)} data sets have the yardsticks")
    texts = [
        f"{row.data} (misfit {fit.loc[row.data, 'misfit']:.1f} times chance's) "
        f"{signed(row.mean, row.se)} and {signed(row.mean_known, row.se_known, 4)}"
        for row in records(both)
    ]
    figures = (
        "On crowds whose workers are not equally accurate for all classes, accuracy of the "
        "selected workers minus that of as many random workers, and accuracy of the set of "
        f"highest F by true skills minus that of all workers: {'; '.join(texts)}."
    )
    agree = [bool(ahead) for ahead in both["ahead"] & both["ahead_known"]]
    return ruling_of_all(figures, agree)
