"""Break a formula on purpose, run the study in this process: the verdict is another."""

import dataclasses
import math
from functools import cache

import numpy as np
import pytest

from crowd_papers.adaptive_assignment import (
    estimated_skills,
    gold_estimates,
    made_gold,
    main_algorithm,
    sampled_weights,
    theorems,
    toy_example,
    weighted_vote,
)
from crowd_papers.worker_selection import (
    selection_bound,
    selection_exact,
    selection_remarks,
    selection_scores,
    selection_trials,
)
from tests.core.studies.study_runs import run_serially
from tests.papers.made_up import Tables, algorithm
from workbench.accuracy import error_rate
from workbench.assignment import primal
from workbench.selection import scoring
from workbench.selection.selecting import select
from workbench.studies.catalog import claims
from workbench.studies.claiming import Word
from workbench.studies.judging import judge

pytestmark = pytest.mark.release

HOLDS, CAVEAT, VOID = Word.HOLDS, Word.CORRECTED, Word.VOID
NOT, INCONCLUSIVE = Word.REFUTED, Word.INCONCLUSIVE

SWEEPS = {
    "weighted-vote": ([{"voters": [120], "skills": ["weak", "able"], "epsilon": [0.001]}], 10),
    "gold-estimates": ([{"skill": [0.5, 0.99], "radius": [0.05, 0.2], "delta": [0.05, 0.3]}], 3),
    "offline-assignment": ([{"tasks": [8], "workers": [8], "capacity": [1.0, 0.3]}], 24),
    "toy-example": (
        [
            {
                "workers": [1000],
                "poor": [1e-4, 1e-3],
                "judged": [1.0, 0.99],
                "corrected": [False, True],
            }
        ],
        2,
    ),
    "sampled-weights": (
        [
            sampled_weights.STRICT,
            sampled_weights.LOOSE,
            {**sampled_weights.PAPER, "crowd": ["uniform"], "epsilon": [0.3]},
        ],
        8,
    ),
    "estimated-skills": ([{"share": [0.1, 0.9], "off": ["low", "high"], "epsilon": [0.03]}], 8),
    "made-gold": ([{"crowd": ["uniform", "adverse"], "labels": [5, 300], "gold": [20, 1000]}], 5),
    "sample-size": ([{"lost": [0.3, 0.6], "place": [0.0, 0.5, 1.0]}], 5),
    "main-algorithm": (
        [
            main_algorithm.STRICT,
            {**main_algorithm.FIGURE_1, "crowd": ["uniform"], "epsilon": [0.3]},
        ],
        8,
    ),
    "selection-bound": (
        [
            {"search": ["few"], "classes": [2, 3], "controls": [1], "workers": [2]},
            {"search": ["many"], "classes": [2, 8], "controls": [0, 1], "workers": [60]},
            {"search": ["exponents"], "classes": [2, 3], "controls": [1]},
        ],
        7,
    ),
    "selection-scores": ([{"classes": [2, 3], "sheets": [300], "workers": [20]}], 20),
    "selection-exact": ([{"question": ["score"], "workers": [7], "budget": [4, 7]}], 12),
    "selection-remarks": (
        [
            {"question": ["lead"], "workers": [12], "budget": [8], "classes": [2, 3]},
            {"question": ["forms"], "classes": [3], "controls": [4]},
            {"question": ["bound"], "workers": [5]},
            {"question": ["optimum"]},
            {"question": ["votes"], "spammers": [0, 40]},
        ],
        20,
    ),
    "selection-figure-1": (
        [{"method": ["selected", "plug-in", "best prefix"], "budget": [20, 24, 31]}],
        20,
    ),
}


@cache
def ran(study, question, _):
    """Trials of a study, of one question where the claim asks one; once a broken formula."""
    sweep, repetitions = SWEEPS[study]
    asked = [part for part in sweep if question is None or part["question"] == [question]]
    return run_serially(study, asked, repetitions)


def ruling(claim, breaking=None):
    """The verdict on a claim from studies run here and now, the first with a formula broken."""
    (one,) = [one for one in claims() if one.id == claim]
    first, *others = one.studies
    tables = {first: ran(first, one.where.get("question"), breaking)}
    for study in others:
        tables[study] = algorithm() if study == "main-algorithm" else ran(study, None, None)
    verdict = judge(Tables(tables), [one])[0]
    assert verdict.word is not Word.UNMEASURED, verdict.figures
    return verdict.word


def error_as_asked(right):
    """The error ε, all that a theorem allows for left out of its exponent."""

    def broken(*sampling, **given):
        epsilon = sampling[0].epsilon if sampling else given["epsilon"]
        error = np.full(len(given.get("mean_quality", [0])), epsilon)
        return dataclasses.replace(right(*sampling, **given), error=error)

    return broken


def without_the_two(_):
    """C = ln(1/ε)."""
    return lambda epsilon: -np.log(epsilon)


def stricter_not_laxer(right):
    """ε′ = ε^(1 + 4t/q̄*_min)."""

    def corrected(epsilon, *, radius, mean_quality_least):
        found = right(epsilon, radius=radius, mean_quality_least=mean_quality_least)
        share = 4 * radius / mean_quality_least
        return dataclasses.replace(found, epsilon_corrected=epsilon ** (1 + share))

    return corrected


def half_range(_):
    """Theorem 1 as if weights ranged half as far: four times the exponent."""

    def of(skill, classes):
        score = scoring.set_score(scoring.informativeness(skill, classes))
        return (-8.0 * score**2 / (classes * (classes - 1)) ** 2 + math.log(classes - 1),) * 2

    return of


def true_exponents(right):
    """The bound's exponents with ξ's own range, in place of the printed one."""

    def of(skill, share, L, n):
        printed, true = right(skill, share, L, n)
        return printed * (L / (2 * (L - 1))) ** 2, true

    return of


def with_n_for_n_minus_1(right):
    """var̂ = c(n − c)/n³, biased."""

    def of(*given):
        known = right(*given)
        chance = known.skill * (1 - known.skill) / known.answered
        return dataclasses.replace(known, gain=known.plug_in - known.classes**2 * chance)

    return of


def without_the_variance(right):
    """F̂ with G = (Lŵ − 1)²."""

    def of(*given):
        known = right(*given)
        return dataclasses.replace(known, gain=known.plug_in)

    return of


def tenth_of_the_width(right):
    """An interval of a tenth of its width."""

    def interval(known, chosen, *, confidence):
        low, high = right(known, chosen, confidence=confidence)
        middle, reach = (low + high) / 2, (high - low) / 20
        return middle - reach, middle + reach

    return interval


def margin_by_skill(right):
    """An interval whose width depends on the estimated skills."""

    def interval(known, chosen):
        low, high = right(known, chosen)
        return low - np.sum(known.skill[chosen] * (1 - known.skill[chosen])), high

    return interval


def one_too_many(right):
    """Algorithm 1 takes one worker more than the maximiser."""

    def broken(gain, budget, *, seed):
        found = right(gain, budget, seed=seed)
        more = np.argsort(-gain, kind="stable")[: min(len(found.chosen) + 1, budget)]
        return dataclasses.replace(found, chosen=more)

    return broken


def other_rules(**instead):
    """Rules that choose as others do."""
    return lambda _: (
        lambda known, budget, rule, **given: select(
            known, budget, instead.get(rule.replace("-", "_"), rule), **given
        )
    )


EXCHANGED = other_rules(selected="plug-in", plug_in="selected")
WITHOUT_AN_END = other_rules(selected="top-informative")


def everybody_alike(right):
    """Crowds of one skill: a majority is the best vote."""

    def alike(workers, **given):
        crowd = right(workers, **given)
        return dataclasses.replace(crowd, skill=np.full_like(crowd.skill, 0.7))

    return alike


CASES = [
    # claim, its verdict, where the formula is looked up, its name, what is put there, verdict then
    (
        "adaptive-lemma-1",
        CAVEAT,
        error_rate,
        "lemma_1_bounds",
        lambda right: lambda *given: right(*given) ** 2,
        NOT,
    ),
    ("adaptive-requirement", HOLDS, weighted_vote, "requirement", without_the_two, NOT),
    (
        "adaptive-lemma-2",
        HOLDS,
        gold_estimates,
        "gold_tasks_needed",
        lambda _: lambda t, delta: math.ceil(math.log(2 / delta) / (8 * t * t)),
        NOT,
    ),
    ("adaptive-lemma-3", HOLDS, gold_estimates, "quality_radius", lambda _: lambda t: 2 * t, NOT),
    (
        "adaptive-theorem-1",
        CAVEAT,
        primal,
        "task_values",
        lambda _: lambda q, weights, cost=1.0: q * weights[:, None] - 2 * cost,
        NOT,
    ),
    (
        "adaptive-theorem-2",
        VOID,
        theorems.Sampling,
        "ratio",
        lambda _: lambda own, C, _: 1 + min(own.m, own.n) / (own.least_quality * own.n * C),
        NOT,
    ),
    ("adaptive-theorem-3", VOID, estimated_skills, "corrected_epsilon", stricter_not_laxer, NOT),
    ("adaptive-theorem-4", VOID, estimated_skills, "theorem_4", error_as_asked, NOT),
    ("adaptive-theorem-5", VOID, main_algorithm, "theorem_5", error_as_asked, NOT),
    ("adaptive-toy-example", HOLDS, toy_example, "requirement", without_the_two, NOT),
    (
        "adaptive-theorem-5-sample",
        CAVEAT,
        theorems.Sampling,
        "ratio",
        lambda _: lambda *_: 0.5,
        NOT,
    ),
    (
        "adaptive-made-gold",
        CAVEAT,
        made_gold,
        "hoeffding_radius",
        lambda right: lambda *given: right(*given) / 4,
        NOT,
    ),
    (
        "selection-theorem-1-remark-1",
        HOLDS,
        selection_remarks,
        "set_score",
        lambda right: lambda worth: right(np.square(worth)),
        NOT,
    ),
    ("selection-gain-two-forms", HOLDS, selection_remarks, "scores", with_n_for_n_minus_1, NOT),
    ("selection-confidence-bound", CAVEAT, selection_remarks, "interval", margin_by_skill, NOT),
    (
        "selection-far-from-optimum",
        INCONCLUSIVE,
        selection_remarks,
        "select",
        other_rules(plug_in="random"),
        HOLDS,
    ),
    (
        "selection-spammers",
        HOLDS,
        selection_remarks,
        "vote_error",
        lambda right: lambda skill, weight: right(0 * skill + 0.9, weight),
        NOT,
    ),
    (
        "selection-weights-alike",
        CAVEAT,
        selection_remarks,
        "log_odds_weights",
        lambda _: lambda skill, L: np.ones(len(skill)),
        NOT,
    ),
    ("selection-majority", HOLDS, selection_remarks, "beta", everybody_alike, NOT),
    ("selection-theorem-1-two-classes", HOLDS, selection_bound, "_log_bounds", half_range, NOT),
    ("selection-lemma-2", HOLDS, selection_scores, "scores", without_the_variance, NOT),
    (
        "selection-plug-in-bias",
        HOLDS,
        selection_scores,
        "_promised_bias",
        lambda right: lambda w, n, L: right(w, n + 1, L),
        NOT,
    ),
    ("selection-theorem-3", HOLDS, selection_scores, "interval", tenth_of_the_width, NOT),
    ("selection-theorem-4", HOLDS, selection_exact, "algorithm_1", one_too_many, NOT),
    ("selection-pareto", HOLDS, selection_exact, "algorithm_1", one_too_many, NOT),
    ("selection-modularity", HOLDS, selection_exact.math, "sqrt", lambda _: lambda k: 1.0, NOT),
    ("selection-figure-1-workers", HOLDS, selection_trials, "select", WITHOUT_AN_END, NOT),
    ("selection-optimal-number", NOT, selection_trials, "select", WITHOUT_AN_END, CAVEAT),
    ("selection-figure-1-plug-in-size", HOLDS, selection_trials, "select", EXCHANGED, NOT),
    ("selection-figure-1-plug-in-accuracy", NOT, selection_trials, "select", EXCHANGED, HOLDS),
]


@pytest.mark.parametrize(
    ("claim", "before", "where", "name", "breaking", "after"),
    CASES,
    ids=[f"{case[0]}-{case[3]}" for case in CASES],
)
def test_breaking_a_formula_flips_its_verdict(
    monkeypatch, claim, before, where, name, breaking, after
):
    assert ruling(claim) is before
    monkeypatch.setattr(where, name, breaking(getattr(where, name)))
    assert ruling(claim, breaking) is after


def test_the_bound_with_the_range_that_the_weights_have(monkeypatch):
    assert ruling("selection-theorem-1-more-classes") is NOT
    right = selection_bound._log_bounds
    monkeypatch.setattr(selection_bound, "_log_bounds", lambda skill, L: (right(skill, L)[1],) * 2)
    monkeypatch.setattr(selection_bound, "exponents", true_exponents(selection_bound.exponents))
    assert ruling("selection-theorem-1-more-classes", true_exponents) is HOLDS
