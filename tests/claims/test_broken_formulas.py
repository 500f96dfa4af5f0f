"""Break a formula on purpose, run the study in this process: the verdict is another."""

import dataclasses
import math

import numpy as np
import pytest

from tests.claims.made_up import Tables, algorithm
from tests.studies.catalog_runs import run_serially
from workbench.accuracy import error_rate
from workbench.assignment import primal, theorems
from workbench.claims import Ruling, judge, register
from workbench.studies.catalog import (
    estimated_skills,
    gold_estimates,
    made_gold,
    main_algorithm,
    sampled_weights,
    toy_example,
    weighted_vote,
)

pytestmark = pytest.mark.slow

SWEEPS = {
    "weighted-vote": ([{"voters": [120], "skills": ["weak", "able"], "epsilon": [0.001]}], 12),
    "gold-estimates": (
        [{"skill": [0.5, 0.99], "radius": [0.05, 0.2], "delta": [0.05, 0.3]}],
        3,
    ),
    "offline-assignment": ([{"tasks": [8], "workers": [8], "capacity": [1.0, 0.3]}], 24),
    "toy-example": (
        [
            {"workers": [1000], "poor": [1e-4, 1e-3], "judged": [1.0, 0.99],
             "corrected": [False, True]},
        ],
        2,
    ),
    "sampled-weights": ([sampled_weights.STRICT, sampled_weights.LOOSE, sampled_weights.PAPER], 8),
    "estimated-skills": (
        [{"share": [0.1, 0.9], "off": ["low", "high"], "epsilon": [0.03]}], 8,
    ),
    "made-gold": (
        [{"crowd": ["uniform", "adverse"], "labels": [5, 300], "gold": [20, 1000]}],
        5,
    ),
    "sample-size": ([{"lost": [0.3, 0.6], "place": [0.0, 0.5, 1.0]}], 8),
    "main-algorithm": (
        [
            main_algorithm.STRICT,
            {**main_algorithm.FIGURE_1, "crowd": ["uniform"], "epsilon": [0.3]},
        ],
        8,
    ),
}  # fmt: skip


def ruling(claim, made_up=()):
    """The verdict on a claim from studies run here and now."""
    (one,) = [one for one in register() if one.id == f"adaptive-{claim}"]
    tables = {
        study: run_serially(study, *SWEEPS[study]) for study in one.studies if study not in made_up
    }
    tables |= {"main-algorithm": algorithm()} if "main-algorithm" in made_up else {}
    verdict = judge(Tables(tables), [one])[0]
    assert verdict.ruling is not Ruling.UNMEASURED, verdict.figures
    return verdict.ruling


def without_the_half(monkeypatch):
    """Lemma 1's bound without its factor ½."""
    whole = error_rate.lemma_1_bounds
    monkeypatch.setattr(error_rate, "lemma_1_bounds", lambda *given: whole(*given) ** 2)


def without_the_two(monkeypatch, module=weighted_vote):
    """C = ln(1/ε)."""
    monkeypatch.setattr(module, "requirement", lambda epsilon: -np.log(epsilon))


def wider_than_hoeffding(monkeypatch):
    """Lemma 2's radius without the square root's 2: a quarter of the gold tasks."""
    monkeypatch.setattr(
        gold_estimates, "gold_tasks_needed",
        lambda t, delta: math.ceil(math.log(2 / delta) / (8 * t * t)),
    )  # fmt: skip


def half_the_quality_radius(monkeypatch):
    """2t for 4t."""
    monkeypatch.setattr(gold_estimates, "quality_radius", lambda t: 2 * t)


def twice_the_price(monkeypatch):
    """Task values q x − 2."""
    monkeypatch.setattr(
        primal, "task_values",
        lambda quality, weights, cost=1.0: quality * weights[:, None] - 2 * cost,
    )  # fmt: skip


def no_price(monkeypatch):
    """Task values q x: every label seems worth it."""
    monkeypatch.setattr(
        primal, "task_values", lambda quality, weights, cost=1.0: quality * weights[:, None]
    )


def no_price_of_sampling(monkeypatch):
    """Theorem 2's ratio without its term in √(γC)."""
    monkeypatch.setattr(
        theorems.Sampling, "ratio",
        lambda given, need, _: 1 + min(given.m, given.n) / (given.least_quality * given.n * need),
    )  # fmt: skip


def error_as_asked(monkeypatch, module, theorem):
    """ε, all that the theorem allows for left out of its exponent."""
    whole = getattr(module, theorem)

    def broken(*sampling, **given):
        epsilon = sampling[0].epsilon if sampling else given["epsilon"]
        error = np.full(len(given.get("mean_quality", [0])), epsilon)
        return dataclasses.replace(whole(*sampling, **given), error=error)

    monkeypatch.setattr(module, theorem, broken)


def error_as_asked_2(monkeypatch):
    """Theorem 2's error ε, the sample's cost left out of the exponent."""
    error_as_asked(monkeypatch, sampled_weights, "theorem_2")


def stricter_not_laxer(monkeypatch):
    """ε′ = ε^(1 + 4t/q̄*_min)."""
    whole = estimated_skills.corrected_epsilon

    def corrected(epsilon, *, radius, mean_quality_least):
        found = whole(epsilon, radius=radius, mean_quality_least=mean_quality_least)
        share = 4 * radius / mean_quality_least
        return dataclasses.replace(found, epsilon_corrected=epsilon ** (1 + share))

    monkeypatch.setattr(estimated_skills, "corrected_epsilon", corrected)


def error_as_asked_4(monkeypatch):
    """Theorem 4's error ε, the estimates' cost left out of the exponent."""
    error_as_asked(monkeypatch, estimated_skills, "theorem_4")


def error_as_asked_5(monkeypatch):
    """Theorem 5's error ε, all three losses left out of the exponent."""
    error_as_asked(monkeypatch, main_algorithm, "theorem_5")


def the_bare_optimum(monkeypatch):
    """Theorem 5's ratio 1: labels would have to be the relaxation's."""
    monkeypatch.setattr(theorems.Sampling, "ratio", lambda *_: 0.5)


def narrower_than_hoeffding(monkeypatch):
    """A quarter of Lemma 2's radius: even true gold would miss it more often than δ."""
    whole = made_gold.hoeffding_radius
    monkeypatch.setattr(made_gold, "hoeffding_radius", lambda *given: whole(*given) / 4)


def half_the_requirement_of_the_toy(monkeypatch):
    without_the_two(monkeypatch, toy_example)


CASES = [
    ("lemma-1", Ruling.CAVEAT, without_the_half),
    ("requirement", Ruling.HOLDS, without_the_two),
    ("lemma-2", Ruling.HOLDS, wider_than_hoeffding),
    ("lemma-3", Ruling.HOLDS, half_the_quality_radius),
    ("theorem-1", Ruling.CAVEAT, twice_the_price),
    ("theorem-1", Ruling.CAVEAT, no_price),
    ("theorem-2", Ruling.VOID, no_price_of_sampling),
    ("theorem-2", Ruling.VOID, error_as_asked_2),
    ("theorem-3", Ruling.VOID, stricter_not_laxer),
    ("theorem-4", Ruling.VOID, error_as_asked_4),
    ("theorem-5", Ruling.VOID, error_as_asked_5),
    ("toy-example", Ruling.HOLDS, half_the_requirement_of_the_toy),
    ("theorem-5-sample", Ruling.CAVEAT, the_bare_optimum),
    ("made-gold", Ruling.CAVEAT, narrower_than_hoeffding),
]


@pytest.mark.parametrize(
    ("claim", "whole", "breaking"), CASES, ids=[f"{one[0]}: {one[2].__name__}" for one in CASES]
)
def test_breaking_a_formula_flips_its_verdict(monkeypatch, claim, whole, breaking):
    made_up = ("main-algorithm",) if claim in {"theorem-3", "theorem-4"} else ()
    with monkeypatch.context() as patch:
        breaking(patch)
        assert ruling(claim, made_up=made_up) is Ruling.NOT_REPRODUCED
    assert ruling(claim, made_up=made_up) is whole
