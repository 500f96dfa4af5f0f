"""Exact against fast: Algorithm 1, prices, and accuracy itself as what is maximised.

- `score`: Algorithm 1 beside both integer programs, and beside all sets where these can be listed;
  whether another set has no lower a score with fewer workers (the remark on Pareto optimality); and
  how often F̂ breaks the inequalities of sub- and supermodular functions, on non-empty sets of the
  first workers: for A ⊂ B and x outside B, F̂(A + x) − F̂(A) is at least F̂(B + x) − F̂(B) if
  submodular, at most if supermodular.
- `money`: workers have prices; the heuristic beside the integer program.
- `accuracy`: all sets are searched for the one of highest predicted accuracy (flat prior), and the
  rules' choices are held against it, in predicted accuracy and in truth.

Skills from Beta(2.3, 2), as in the paper's simulations; prices uniform on [0.5, 1.5].

Source: Li, Liu (2015), Section 3, Theorem 4 and the remarks around it.
"""

from __future__ import annotations

import itertools
import math
import time
from typing import Any

import numpy as np
import pandas as pd

from crowd_models import SelectionProblem
from workbench.accuracy import vote_error
from workbench.base import FloatArray, IntArray, stream
from workbench.crowd import beta
from workbench.selection import (
    Scores,
    algorithm_1,
    exhaustive_by_accuracy,
    predicted_error,
    scores,
    select,
    within_money,
)
from workbench.solving import solve_selection
from workbench.studies import (
    Analysis,
    Chart,
    Parameter,
    Params,
    Record,
    Ruling,
    Size,
    Streams,
    Study,
    TrialEnded,
    claim,
    ended,
    enough,
    having,
    joined,
    measured,
    percent,
    plus_minus,
)

QUESTIONS = ("score", "money", "accuracy")
LISTED = 14
"""Workers up to whom all sets are listed."""
CHAIN = 5
"""Workers on whose sets the modular inequalities are tried."""
ROUNDING = 1e-9
RULES = ("selected", "plug-in", "top-skill", "top-informative")


def trial(params: Params, streams: Streams) -> Record:
    """Answer one question on one crowd."""
    seed, m = streams.instance, int(params["workers"])
    L, n = int(params["classes"]), int(params["controls"])
    skill = beta(m, seed=seed).skill[0]
    correct = stream(seed, "controls").binomial(n, skill)
    pool = scores(correct, np.full(m, n), L)
    budget = int(params["budget"])
    if params["question"] == "score":
        return _score(pool.gain, budget, seed)
    if params["question"] == "money":
        return _money(pool, budget, float(params["money"]), seed)
    return _accuracy(pool, skill, budget, seed)


def _score(gain: FloatArray, budget: int, seed: np.random.SeedSequence) -> Record:
    began = time.perf_counter()
    chosen = algorithm_1(gain, budget, seed=seed)
    fast, score, size = time.perf_counter() - began, chosen.score, len(chosen.chosen)
    assert score is not None
    record: dict[str, Any] = {"size": size, "score": score, "algorithm_seconds": fast}
    for formulation in ("slices", "sizes"):
        solved = solve_selection(SelectionProblem(gain, budget), formulation)
        if solved.objective is None or solved.chosen is None or not solved.solved:
            raise TrialEnded("numerics", solved.note or f"{formulation} was not solved", record)
        record[f"score_{formulation}"] = solved.objective
        record[f"size_{formulation}"] = len(solved.chosen)
        record[f"{formulation}_seconds"] = solved.seconds
    if len(gain) <= LISTED:
        record |= _listed(gain, budget, score, size)
    return record | _modular(gain[:CHAIN])


def _listed(gain: FloatArray, budget: int, score: float, size: int) -> dict[str, float | int]:
    """Best of all sets, and how many have no lower a score with fewer workers."""
    member = (np.arange(1, 2 ** len(gain))[:, None] >> np.arange(len(gain))) & 1
    sizes = member.sum(axis=1)
    member, sizes = member[sizes <= budget], sizes[sizes <= budget]
    every = (member @ gain) / np.sqrt(sizes)
    return {
        "score_listed": float(every.max()),
        "dominating": int(((every >= score - ROUNDING) & (sizes < size)).sum()),
    }


def _modular(gain: FloatArray) -> dict[str, int]:
    """Inequalities tried, and how many are broken, of a submodular and a supermodular function."""
    everyone = range(len(gain))
    sets = [
        frozenset(subset)
        for size in range(1, len(gain) + 1)
        for subset in itertools.combinations(everyone, size)
    ]
    score = {subset: float(gain[sorted(subset)].sum() / math.sqrt(len(subset))) for subset in sets}
    steps = [
        (score[small | {x}] - score[small], score[large | {x}] - score[large])
        for small, large in itertools.product(sets, sets)
        if small < large
        for x in set(everyone) - large
    ]
    return {
        "inequalities": len(steps),
        "not_submodular": sum(more < later - ROUNDING for more, later in steps),
        "not_supermodular": sum(more > later + ROUNDING for more, later in steps),
    }


def _money(pool: Scores, budget: int, share: float, seed: np.random.SeedSequence) -> Record:
    """Spend at most a share of what K workers of mean price cost."""
    prices = stream(seed, "prices").uniform(0.5, 1.5, len(pool))
    hire = within_money(pool.gain, prices, budget, share * budget, seed=seed)
    if hire.score is None:
        raise TrialEnded("infeasible", "the money pays for nobody")
    return {
        "score": hire.score,
        "score_heuristic": hire.heuristic_score,
        "bound": hire.bound,
        "size": len(hire.chosen),
        "spent": hire.spent,
    }


def _accuracy(pool: Scores, skill: FloatArray, budget: int, seed: np.random.SeedSequence) -> Record:
    """Predicted and true accuracy of the best set, the best prefix, and the rules' choices."""
    chosen: dict[str, IntArray] = {
        "best": exhaustive_by_accuracy(pool, budget, seed=seed),
        "prefix": select(pool, budget, "accuracy", seed=seed).chosen,
        **{rule.replace("-", "_"): select(pool, budget, rule, seed=seed).chosen for rule in RULES},
    }
    record: dict[str, float | int] = {}
    for name, who in chosen.items():
        weight = 2 * pool.skill[who] - 1
        record[f"predicted_{name}"] = 1 - predicted_error(pool, who, seed=seed).probability
        record[f"true_{name}"] = 1 - vote_error(skill[who], weight).probability
        record[f"size_{name}"] = len(who)
    return record


# What the trials say.

SETTING = ["workers", "controls", "classes", "budget"]


def analyse(trials: pd.DataFrame) -> Analysis:
    """Each question by itself."""
    parts = [Analysis((ended(trials),))]
    for question, field in (
        (about_scores, "score_slices"),
        (about_money, "score_heuristic"),
        (about_accuracy, "predicted_best"),
    ):
        rows = measured(trials, field)
        if len(rows):
            parts.append(question(rows))
    return joined(parts)


def about_scores(rows: pd.DataFrame) -> Analysis:
    """Algorithm 1 beside both integer programs and all sets, and the modular inequalities."""
    solved = rows[["score_slices", "score_sizes"]]
    rows = having(rows, "score_listed", "dominating")
    rows = rows.assign(off=solved.sub(rows["score"], axis=0).abs().max(axis=1))
    off_listed = (rows["score"] - rows["score_listed"]).abs()
    table = rows.groupby(SETTING).agg(
        crowds=("off", "size"),
        size=("size", "mean"),
        furthest=("off", "max"),
        algorithm_seconds=("algorithm_seconds", "median"),
        slices_seconds=("slices_seconds", "median"),
        sizes_seconds=("sizes_seconds", "median"),
    )
    findings = (
        f"Algorithm 1 and both integer programs differ by at most {rows['off'].max():.1e} in "
        f"{len(rows):,} crowds, and from the best of all sets by at most {off_listed.max():.1e} in "
        f"{off_listed.count():,}; {rows['dominating'].sum():.0f} sets have no lower a score with "
        "fewer workers.",
        f"Of {rows['inequalities'].sum():,.0f} inequalities {rows['not_submodular'].sum():,.0f} "
        f"break submodularity and {rows['not_supermodular'].sum():,.0f} supermodularity.",
    )
    return Analysis(findings, {"Algorithm 1 beside the integer programs": table.reset_index()})


def about_money(rows: pd.DataFrame) -> Analysis:
    """The heuristic for an amount of money beside the integer program."""
    lost = 1 - rows["score_heuristic"] / rows["score"]
    gap = (rows["bound"] - rows["score"]) / rows["score"].abs()
    rows = rows.assign(lost=lost, gap=gap, best=lost <= ROUNDING)
    table = rows.groupby([*SETTING, "money"]).agg(
        crowds=("lost", "size"),
        lost=("lost", "mean"),
        most_lost=("lost", "max"),
        optimal=("best", "mean"),
        open_gap=("gap", "max"),
        size=("size", "mean"),
    )
    finding = (
        f"With prices the heuristic loses {percent(lost.mean(), 3)} of the best score on average "
        f"and {percent(lost.max(), 2)} at most; it finds the best in {rows['best'].sum():,} of "
        f"{len(rows):,} crowds."
    )
    caption = "Within an amount of money: heuristic beside integer program"
    return Analysis((finding,), {caption: table.reset_index()})


def about_accuracy(rows: pd.DataFrame) -> Analysis:
    """What each rule loses against the set of highest predicted accuracy."""
    table = losses(rows)
    largest = table[table["workers"] == table["workers"].max()]
    findings = [
        f"Predicted accuracy lost against the best of all sets, m = {row.workers}: {row.rule} "
        f"{plus_minus(row.lost, row.se, 4)}."
        for row in largest[largest["kind"] == "predicted"].itertuples()
    ]
    chart = Chart(
        "lost",
        "Accuracy lost against the set of highest predicted accuracy (flat prior), of all sets of "
        f"at most {rows['budget'].min()} workers: predicted, and in truth. Means over "
        f"{table['crowds'].min()} crowds per mark. Bars are ± 2 standard errors.",
        table.assign(
            series=table["workers"].astype(str) + " workers",
            low=table["lost"] - 2 * table["se"],
            high=table["lost"] + 2 * table["se"],
        ),
        x="rule",
        y="lost",
        x_label="rule",
        y_label="accuracy lost",
        series="series",
        panel="kind",
        low="low",
        high="high",
        kind="points",
        references=((0.0, "best of all sets"),),
    )
    caption = "Accuracy lost against the set of highest predicted accuracy"
    return Analysis(tuple(findings), {caption: table}, (chart,))


def losses(rows: pd.DataFrame) -> pd.DataFrame:
    """Accuracy lost by each rule, predicted and in truth, a row a setting."""
    tables = []
    for rule, kind in itertools.product(("prefix", *RULES), ("predicted", "true")):
        field = rule.replace("-", "_")
        lost = rows[f"{kind}_best"] - rows[f"{kind}_{field}"]
        groups = rows.assign(lost=lost, rule_size=rows[f"size_{field}"]).groupby(SETTING)
        table = groups.agg(
            crowds=("lost", "size"),
            lost=("lost", "mean"),
            se=("lost", "sem"),
            most=("lost", "max"),
            size=("rule_size", "mean"),
            size_best=("size_best", "mean"),
        )
        tables.append(table.reset_index().assign(rule=rule, kind=kind))
    return pd.concat(tables, ignore_index=True)


STUDY = Study(
    name="selection-exact",
    title="Exact selection beside the algorithm and heuristics",
    source="Li, Liu (2015), Section 3, Theorem 4",
    parameters={
        "question": Parameter(str, "score", "what is maximised", choices=QUESTIONS),
        "workers": Parameter(int, 12, "m", least=1, most=200),
        "controls": Parameter(int, 10, "n, control questions a worker", least=2, most=1000),
        "classes": Parameter(int, 2, "L (2 where accuracy is maximised)", least=2, most=10),
        "budget": Parameter(int, 8, "K", least=1, most=200),
        "money": Parameter(
            float, 0.5, "money for K workers of mean price 1, as a share", least=0.01, most=2
        ),
    },
    sizes={
        "smoke": Size(
            (
                {"question": ["score"], "workers": [8], "classes": [2, 3]},
                {"question": ["money"], "workers": [10]},
                {"question": ["accuracy"], "workers": [6], "budget": [4]},
            ),
            2,
        ),
        "small": Size(
            (
                {"question": ["score"], "workers": [12], "classes": [2, 4]},
                {"question": ["money"], "workers": [20]},
                {"question": ["accuracy"], "workers": [8], "budget": [5]},
            ),
            10,
        ),
        "paper": Size(
            (
                {
                    "question": ["score"],
                    "workers": [12],
                    "classes": [2, 4],
                    "controls": [3, 10],
                    "budget": [4, 12],
                },
                {"question": ["score"], "workers": [31], "budget": [20]},
                {
                    "question": ["money"],
                    "workers": [12, 31, 100],
                    "budget": [20],
                    "money": [0.2, 0.4],
                },
                {"question": ["accuracy"], "workers": [6, 10], "budget": [5]},
            ),
            100,
        ),
    },
    trial=trial,
    analyse=analyse,
    volatile=("algorithm_seconds", "slices_seconds", "sizes_seconds"),
)

# What the paper claims.

TOLERANCE = 1e-6
"""Relative tolerance of an optimum."""


@claim(
    id="selection-theorem-4",
    source="Theorem 4",
    statement="Among all sets of at most K workers, Algorithm 1 finds one with the highest score "
    "F̂.",
    where={"question": "score"},
)
def theorem_4(trials: pd.DataFrame) -> Ruling:
    """The score of Algorithm 1's set beside the best by other ways."""
    ways = trials[["score_slices", "score_sizes", "score_listed"]].astype(float)
    scale = trials["score"].abs().clip(1.0)
    off = ways.sub(trials["score"], axis=0).div(scale, axis=0).abs()
    differ = int((off > TOLERANCE).sum().sum())
    figures = (
        f"{len(trials):,} crowds of {trials['workers'].min()} to {trials['workers'].max()} "
        f"workers: the score differs from the optimum of two integer programs, and in "
        f"{trials['score_listed'].count():,} crowds from the best of all sets, in {differ} "
        f"comparisons (by {off.max().max():.1e} at most)."
    )
    return Ruling.refuted(figures) if differ else Ruling.holds(figures)


@claim(
    id="selection-pareto",
    source="Section 3, remark to Theorem 4",
    statement="The set that Algorithm 1 finds is Pareto optimal: no other set has both a higher "
    "F̂ and fewer workers. (Read as: none with fewer workers has an F̂ as high.)",
    where={"question": "score"},
)
def pareto(trials: pd.DataFrame) -> Ruling:
    """Sets with fewer workers and no lower a score, where all sets are listed."""
    listed = trials[trials["dominating"].notna()]
    enough(listed, 20, "crowds with all sets listed")
    dominating = listed["dominating"].sum()
    figures = (
        f"In {len(listed):,} crowds, all sets listed, {dominating:.0f} sets have fewer workers "
        "and a score no lower than the chosen set's."
    )
    return Ruling.refuted(figures) if dominating > 0 else Ruling.holds(figures)


@claim(
    id="selection-modularity",
    source="Section 3",
    statement="F̂ is neither submodular nor supermodular.",
    where={"question": "score"},
)
def modularity(trials: pd.DataFrame) -> Ruling:
    """Inequalities of sub- and of supermodular functions that F̂ breaks."""
    submodular, supermodular = trials["not_submodular"].sum(), trials["not_supermodular"].sum()
    figures = (
        f"Of {trials['inequalities'].sum():,.0f} inequalities {submodular:,.0f} contradict "
        "submodularity and "
        f"{supermodular:,.0f} supermodularity."
    )
    broken = submodular > 0 and supermodular > 0
    return Ruling.holds(figures) if broken else Ruling.refuted(figures)
