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
from workbench.accuracy.error_rate import vote_error
from workbench.base.arrays import FloatArray, IntArray
from workbench.base.seeds import stream
from workbench.crowd.population import beta
from workbench.selection.accuracy import exhaustive_by_accuracy, predicted_error
from workbench.selection.money import within_money
from workbench.selection.rules import algorithm_1, select
from workbench.selection.scores import Scores, scores
from workbench.solving.hiring import solve_selection
from workbench.studies.measures import DeclaredAnalysis, Drawn, Each, Grouped, Part
from workbench.studies.study import Parameter, Params, Record, Size, Study, TrialEnded
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
        frozenset(kept)
        for size in range(1, len(gain) + 1)
        for kept in itertools.combinations(everyone, size)
    ]
    score = {kept: float(gain[sorted(kept)].sum() / math.sqrt(len(kept))) for kept in sets}
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


SETTING = ("workers", "controls", "classes", "budget")
LOST = Grouped(
    SETTING,
    {
        "crowds": ("lost", "size"),
        "lost": "mean",
        "se": ("lost", "sem"),
        "most": ("lost", "max"),
        "size": ("rule_size", "mean"),
        "size_best": "mean",
        "rule": "first",
        "kind": "first",
    },
)
SCORE = Part(
    "Algorithm 1 beside the integer programs",
    Grouped(
        SETTING,
        {
            "crowds": ("off", "size"),
            "size": "mean",
            "furthest": ("off", "max"),
            **{f"{name}_seconds": "median" for name in ("algorithm", "slices", "sizes")},
        },
    ),
    (
        "Algorithm 1 and both integer programs differ by at most {off.max:.1e} in {trials:,} crowds, "
        "and from the best of all sets by at most {off_listed.max:.1e} in {off_listed.count:,}; "
        "{fewer.sum:.0f} sets have no lower a score with fewer workers.",
        "Of {inequalities.sum:,.0f} inequalities {not_submodular.sum:,.0f} break submodularity and "
        "{not_supermodular.sum:,.0f} supermodularity.",
    ),
    needs="score_slices",
    derived={
        "off": lambda rows: (
            rows[["score_slices", "score_sizes"]].sub(rows["score"], axis=0).abs().max(axis=1)
        ),
        "off_listed": lambda rows: (rows["score"] - rows.get("score_listed", np.nan)).abs(),
        "fewer": lambda rows: rows.get("dominating", 0),
    },
)
MONEY = Part(
    "Within an amount of money: heuristic beside integer program",
    Grouped(
        (*SETTING, "money"),
        {
            "crowds": ("lost", "size"),
            "lost": "mean",
            "most_lost": ("lost", "max"),
            "optimal": ("best", "mean"),
            "open_gap": ("gap", "max"),
            "size": "mean",
        },
    ),
    (
        "With prices the heuristic loses {lost.mean:3 %} of the best score on average and "
        "{lost.max:2 %} at most; it finds the best in {best.sum:,} of {trials:,} crowds.",
    ),
    needs="score_heuristic",
    derived={
        "lost": lambda rows: 1 - rows["score_heuristic"] / rows["score"],
        "gap": lambda rows: (rows["bound"] - rows["score"]) / rows["score"].abs(),
        "best": lambda rows: rows["lost"] <= ROUNDING,
    },
)


def losses(rows: pd.DataFrame) -> pd.DataFrame:
    """Accuracy lost by each rule, predicted and in truth, a row a setting."""
    found = []
    for rule, kind in itertools.product(("prefix", *RULES), ("predicted", "true")):
        field = rule.replace("-", "_")
        lost = rows[f"{kind}_best"] - rows[f"{kind}_{field}"]
        own = rows.assign(lost=lost, rule_size=rows[f"size_{field}"], rule=rule, kind=kind)
        found.append(LOST(own))
    return pd.concat(found, ignore_index=True)


def with_ends(rows: pd.DataFrame) -> pd.DataFrame:
    """Losses with the ends of bars and a legend."""
    found, doubt = losses(rows), 2 * losses(rows)["se"]
    series = found["workers"].astype(str) + " workers"
    return found.assign(series=series, low=found["lost"] - doubt, high=found["lost"] + doubt)


ACCURACY = Part(
    "Accuracy lost against the set of highest predicted accuracy",
    losses,
    (
        Each(
            "Predicted accuracy lost against the best of all sets, m = {workers}: {rule} {lost:±4}.",
            where=lambda found: (
                (found["kind"] == "predicted") & (found["workers"] == found["workers"].max())
            ),
        ),
    ),
    (
        Drawn(
            "lost",
            "Accuracy lost against the set of highest predicted accuracy (flat prior), of "
            "all sets of at most {budget.min} workers: predicted, and in truth. Means over "
            "{crowds.min} crowds a mark",
            "rule",
            "lost",
            ("rule", "accuracy lost"),
            {
                "series": "series",
                "panel": "kind",
                "low": "low",
                "high": "high",
                "kind": "points",
                "references": ((0.0, "best of all sets"),),
            },
            of=with_ends,
            note="Bars are ± 2 standard errors.",
        ),
    ),
    needs="predicted_best",
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
    analyse=DeclaredAnalysis(SCORE, MONEY, ACCURACY),
    volatile=("algorithm_seconds", "slices_seconds", "sizes_seconds"),
)
