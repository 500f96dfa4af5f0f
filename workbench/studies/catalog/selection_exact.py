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

import numpy as np
import pandas as pd

from crowd_models import SelectionProblem
from workbench.accuracy.error_rate import vote_error
from workbench.base.arrays import FloatArray, IntArray
from workbench.base.seeds import stream
from workbench.crowd.population import beta
from workbench.selection.accuracy import exhaustive_by_accuracy, predicted_error
from workbench.selection.money import within_money
from workbench.selection.rules import algorithm_1, select
from workbench.selection.scores import Scores, scores
from workbench.solving.hiring import solve_selection
from workbench.studies.measures import ended, measured, plus_minus
from workbench.studies.study import (
    Analysis,
    Chart,
    Parameter,
    Params,
    Record,
    Size,
    Study,
    TrialEnded,
)
from workbench.studies.trials import Streams

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
    known = scores(correct, np.full(m, n), L)
    budget = int(params["budget"])
    if params["question"] == "score":
        return _score(known.gain, budget, seed)
    if params["question"] == "money":
        return _money(known, budget, float(params["money"]), seed)
    return _accuracy(known, skill, budget, seed)


def _score(gain: FloatArray, budget: int, seed: np.random.SeedSequence) -> Record:
    began = time.perf_counter()
    chosen = algorithm_1(gain, budget, seed=seed)
    fast = time.perf_counter() - began
    problem = SelectionProblem(gain, budget)
    record: dict[str, float | int | None] = {
        "size": len(chosen.chosen),
        "score": chosen.score,
        "algorithm_seconds": fast,
    }
    for formulation in ("slices", "sizes"):
        solved = solve_selection(problem, formulation)
        if solved.objective is None or not solved.solved:
            raise TrialEnded("numerics", solved.note or f"{formulation} was not solved", record)
        record[f"score_{formulation}"] = solved.objective
        record[f"size_{formulation}"] = None if solved.chosen is None else len(solved.chosen)
        record[f"{formulation}_seconds"] = solved.seconds
    if len(gain) <= LISTED:
        record |= _listed(gain, budget, chosen.score or 0.0, len(chosen.chosen))
    return {**record, **_modular(gain[:CHAIN])}


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

    def score(workers: frozenset[int]) -> float:
        return float(gain[sorted(workers)].sum() / math.sqrt(len(workers)))

    everyone = range(len(gain))
    sets = [
        frozenset(kept)
        for size in range(1, len(gain) + 1)
        for kept in itertools.combinations(everyone, size)
    ]
    tried = sub = sup = 0
    for small, large in itertools.product(sets, sets):
        if small < large:
            for x in set(everyone) - large:
                more = score(small | {x}) - score(small)
                later = score(large | {x}) - score(large)
                tried += 1
                sub += more < later - ROUNDING
                sup += more > later + ROUNDING
    return {"inequalities": tried, "not_submodular": sub, "not_supermodular": sup}


def _money(known: Scores, budget: int, share: float, seed: np.random.SeedSequence) -> Record:
    """Spend at most a share of what K workers of mean price cost."""
    prices = stream(seed, "prices").uniform(0.5, 1.5, len(known))
    found = within_money(known.gain, prices, budget, share * budget, seed=seed)
    if found.score is None:
        raise TrialEnded("infeasible", "the money pays for nobody")
    return {
        "score": found.score,
        "score_heuristic": found.heuristic_score,
        "bound": found.bound,
        "size": len(found.chosen),
        "spent": found.spent,
    }


def _accuracy(
    known: Scores, skill: FloatArray, budget: int, seed: np.random.SeedSequence
) -> Record:
    """Predicted and true accuracy of the best set, the best prefix, and the rules' choices."""
    chosen: dict[str, IntArray] = {
        "best": exhaustive_by_accuracy(known, budget, seed=seed),
        "prefix": select(known, budget, "accuracy", seed=seed).chosen,
        **{rule.replace("-", "_"): select(known, budget, rule, seed=seed).chosen for rule in RULES},
    }
    record: dict[str, float | int] = {}
    for name, who in chosen.items():
        weight = 2 * known.skill[who] - 1
        record[f"predicted_{name}"] = 1 - predicted_error(known, who, seed=seed).probability
        record[f"true_{name}"] = 1 - vote_error(skill[who], weight).probability
        record[f"size_{name}"] = len(who)
    return record


def analyse(table: pd.DataFrame) -> Analysis:
    """Agreement of Algorithm 1 with the exact answers, and what the heuristics lose."""
    parts = [part for part in (_of_score(table), _of_money(table), _of_accuracy(table)) if part]
    return Analysis(
        findings=(ended(table), *(text for part in parts for text in part.findings)),
        tables={name: one for part in parts for name, one in part.tables.items()},
        charts=tuple(chart for part in parts for chart in part.charts),
    )


_SETTING = ["workers", "controls", "classes", "budget"]


def _of_score(table: pd.DataFrame) -> Analysis | None:
    rows = measured(table, "score_slices")
    if rows.empty:
        return None
    off = np.maximum(
        (rows["score"] - rows["score_slices"]).abs(), (rows["score"] - rows["score_sizes"]).abs()
    )
    broken = rows[["not_submodular", "not_supermodular"]].sum()
    summary = (
        rows.assign(off=off)
        .groupby(_SETTING, as_index=False)
        .agg(crowds=("off", "size"), size=("size", "mean"), furthest=("off", "max"),
             algorithm_seconds=("algorithm_seconds", "median"),
             slices_seconds=("slices_seconds", "median"), sizes_seconds=("sizes_seconds", "median"))
    )  # fmt: skip
    listed = measured(rows, "score_listed")
    return Analysis(
        findings=(
            f"Algorithm 1 and both integer programs differ by at most {off.max():.1e} in "
            f"{len(rows):,} crowds, and from the best of all sets by at most "
            f"{(listed['score'] - listed['score_listed']).abs().max():.1e} in {len(listed):,}; "
            f"{int(listed['dominating'].sum())} sets have no lower a score with fewer workers.",
            f"Of {int(rows['inequalities'].sum()):,} inequalities "
            f"{int(broken['not_submodular']):,} break submodularity and "
            f"{int(broken['not_supermodular']):,} supermodularity.",
        ),
        tables={"Algorithm 1 beside the integer programs": summary},
    )


def _of_money(table: pd.DataFrame) -> Analysis | None:
    rows = measured(table, "score_heuristic")
    if rows.empty:
        return None
    rows = rows.assign(
        lost=1 - rows["score_heuristic"] / rows["score"],
        gap=(rows["bound"] - rows["score"]) / rows["score"].abs(),
    )
    summary = rows.groupby([*_SETTING, "money"], as_index=False).agg(
        crowds=("lost", "size"), lost=("lost", "mean"), most_lost=("lost", "max"),
        optimal=("lost", lambda one: float((one <= ROUNDING).mean())), open_gap=("gap", "max"),
        size=("size", "mean"),
    )  # fmt: skip
    return Analysis(
        findings=(
            f"With prices the heuristic loses {100 * rows['lost'].mean():.3f} % of the best score "
            f"on average and {100 * rows['lost'].max():.2f} % at most; it finds the best in "
            f"{int((rows['lost'] <= ROUNDING).sum()):,} of {len(rows):,} crowds.",
        ),
        tables={"Within an amount of money: heuristic beside integer program": summary},
    )


def _of_accuracy(table: pd.DataFrame) -> Analysis | None:
    rows = measured(table, "predicted_best")
    if rows.empty:
        return None
    found = []
    for name in ("prefix", *(rule.replace("-", "_") for rule in RULES)):
        for kind in ("predicted", "true"):
            lost = rows.assign(lost=rows[f"{kind}_best"] - rows[f"{kind}_{name}"])
            found.append(
                lost.groupby(_SETTING, as_index=False)
                .agg(crowds=("lost", "size"), lost=("lost", "mean"), se=("lost", "sem"),
                     most=("lost", "max"), size=(f"size_{name}", "mean"),
                     size_best=("size_best", "mean"))
                .assign(rule=name.replace("_", "-"), kind=kind)
            )  # fmt: skip
    summary = pd.concat(found, ignore_index=True)
    predicted = summary[summary["kind"] == "predicted"]
    told = [
        f"{row['rule']} {plus_minus(row['lost'], row['se'], 4)}"
        for row in predicted[predicted["workers"] == predicted["workers"].max()].to_dict("records")
    ]
    chart = Chart(
        "lost",
        "Accuracy lost against the set of highest predicted accuracy (flat prior), of all sets of "
        f"at most {int(summary['budget'].iloc[0])} workers: predicted, and in truth. Means over "
        f"{int(summary['crowds'].min())} crowds a mark; bars are ± 2 standard errors.",
        summary.assign(
            series=[f"{m} workers" for m in summary["workers"]],
            low=summary["lost"] - 2 * summary["se"], high=summary["lost"] + 2 * summary["se"],
        ),
        "rule", "lost", "rule", "accuracy lost", series="series", panel="kind", low="low",
        high="high", kind="points", references=((0.0, "best of all sets"),),
    )  # fmt: skip
    return Analysis(
        findings=(
            "Predicted accuracy lost against the best of all sets, "
            f"m = {predicted['workers'].max()}: {', '.join(told)}.",
        ),
        tables={"Accuracy lost against the set of highest predicted accuracy": summary},
        charts=(chart,),
    )


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
            ({"question": ["score"], "workers": [8], "classes": [2, 3]},
             {"question": ["money"], "workers": [10]},
             {"question": ["accuracy"], "workers": [6], "budget": [4]}),
            2,
        ),
        "small": Size(
            ({"question": ["score"], "workers": [12], "classes": [2, 4]},
             {"question": ["money"], "workers": [20]},
             {"question": ["accuracy"], "workers": [8], "budget": [5]}),
            10,
        ),
        "paper": Size(
            ({"question": ["score"], "workers": [12], "classes": [2, 4], "controls": [3, 10],
              "budget": [4, 12]},
             {"question": ["score"], "workers": [31], "budget": [20]},
             {"question": ["money"], "workers": [12, 31, 100], "budget": [20], "money": [0.2, 0.4]},
             {"question": ["accuracy"], "workers": [6, 10], "budget": [5]}),
            100,
        ),
    },
    trial=trial,
    analyse=analyse,
    volatile=("algorithm_seconds", "slices_seconds", "sizes_seconds"),
)  # fmt: skip
