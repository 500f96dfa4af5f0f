"""Liu, Liu (2015): each check, spoiled; and each formula, broken, turns its verdict."""

import itertools
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest

from crowd_papers.online_learning import (
    learn_regret,
    learning_runs,
    table_2,
    theory_bounds,
    theory_proofs,
    theory_sets,
    theory_votes,
)
from crowd_papers.online_learning.learning_runs import grid, shape
from tests.core.release import some
from tests.papers.made_up import Tables, claims_of, framed, run_serially, spoil
from workbench.learning import agreement, regret_bounds, vetting
from workbench.studies.catalog import claims
from workbench.studies.claiming import Word
from workbench.studies.judging import judge

HOLDS, CAVEAT, VOID = Word.HOLDS, Word.CORRECTED, Word.VOID
NOT, UNMEASURED = Word.REFUTED, Word.UNMEASURED
INCONCLUSIVE, ILLEGIBLE = Word.INCONCLUSIVE, Word.NO_DATA
N = 20


def theory():
    """Every question, both kinds of crowds, in good order."""
    both = [{"crowd": crowd, "workers": m} for crowd in ("able", "table-1") for m in (3, 5)] * N
    same = {
        "sets": {
            "even_ahead": -0.01,
            "even_optimal": False,
            "other_ahead": -0.01,
            "other_optimal": False,
            "search_off": 0.0,
            "weighted_other_ahead": -0.01,
            "weighted_other_optimal": False,
            "weighted_search_off": 0.0,
            "different": True,
            "prefix_gap": 0.01,
        },
        "steps": {"explored": 100, "d1": 20.0, "d2": 20.0, "regret_share": 0.5},
        "slips": {"exploit_regret": 3.0, "slip_bound": 10.0},
        "bounds": {
            "share_2000": 0.5,
            "share_million": 0.1,
            "share_million_5": 0.5,
            "cost_share_million": 0.5,
            "mean_trusted": True,
            "enough": True,
            "needed": 2.0,
            "a_min": 0.8,
            "factor_1": 10.0,
            "explored_2000": 500,
            "speaks_at": 100.0,
            "lemma_3_speaks_at": 100.0,
            "lemma_4_speaks_at": 100.0,
            "lemma_3_bound": 0.01,
            "lemma_4_bound": 0.01,
            "order_printed": 10.0,
            "order_true": 20.0,
            "estimates_drawn": 200,
            "wrong_order": 0,
            "wrong_set": 0,
            "wrong_tester": 1e-9,
            "wrong_tester_bound": 1e-7,
        },
        "steps-of-proofs": {
            "lemma_7": 0.9,
            "lemma_6": 0.2,
            "lemma_6_without": 0.9,
            "lemma_6_missed": 0,
            "lemma_8_printed": 0.9,
            "lemma_8_printed_edge": 1.0,
            "lemma_8_needed": 0.9,
            "lemma_5_missed": 0,
            "lemma_5_votes": 150,
        },
        "disagreement": {
            "rate_off": 0.0,
            "rate_below": 0.0,
            "rate_printed": 0.3,
            "rate_exact": 0.3,
            "full_right": True,
            "order_broken": False,
            "excess_printed_20": -1.0,
            "excess_supported_20": -2.0,
        },
        "agreement": {
            "distance": 0.2,
            "warned": False,
            "blind_answers": False,
            "mirror_same": True,
        },
        "weighted-vote": {"off": 0.0, "gain": 0.01, "even_ahead": 0.02},
        "classes": {"even_ahead_3": -0.1, "even_ahead_5": -0.1},
        "one-round": {
            "wrong_able": True,
            "wrong_half": True,
            "wrong_spread": True,
            "loss_able": 0.01,
        },
        "costs": {"d1": 20.0, "d2": 20.0, "cost_share": 0.9, "whole_share": 0.8},
        "inverse": {"a_min_gain": 0.1, "regret_ratio": 0.5, "factor_ratio": 0.4},
        "vetting": {
            "strict_gain": 0.1,
            "full_gain": 0.1,
            "mean_gain": 0.1,
            "draws": 200,
            "wrong_printed": 10.0,
            "wrong_supported": 1.0,
        },
    }
    parts = [framed(both, question=name, **values) for name, values in same.items()]
    return pd.concat(parts, ignore_index=True)


def runs(settings, regret, noise=1.0, exploring=lambda n: 2.0 * shape("log2", n), **same):
    """Runs of LS_OL whose regret after n tasks is `regret(where, n)`, with a run's noise."""
    rng = np.random.default_rng(3)
    rows = []
    for where in settings:
        tasks = grid(where["horizon"])
        n = np.array(tasks, float)
        for run in range(N):
            value = regret(where, n) * (1 + 0.01 * noise * rng.normal())
            rows.append(
                {
                    **same,
                    **where,
                    "run": run,
                    **{f"regret_{k}": v for k, v in zip(tasks, value, strict=True)},
                    **{f"exploring_{k}": v for k, v in zip(tasks, exploring(n), strict=True)},
                    **{f"cost_regret_{k}": v for k, v in zip(tasks, value, strict=True)},
                }
            )
    table = framed(rows)
    return table.assign(repetition=table["run"])


PAPER = {
    "workers": 5,
    "vote": "majority",
    "tests": 3.0,
    "horizon": 2000,
    "found_best": True,
    "ordered": True,
}
ABLE = {"from-0.6": 6.0, "from-0.7": 5.0, "from-0.8": 4.0, "table-1": 5.0}


def able(where, n):
    return ABLE[where["crowd"]] * shape("log2", n)


def regret_table(regret=able, noise=1.0):
    settings = [
        {"crowd": crowd, "repeats": repeats}
        for crowd in ABLE
        for repeats in (
            None,
            5.0,
            *([learn_regret.preset_repeats(crowd)] if crowd != "table-1" else []),
        )
    ]
    return runs([{**PAPER, **one} for one in settings], regret, noise)


def average_table(lost=lambda where: 0.0):
    """Rewards that follow Table 2 as printed, in each reading, and get ahead at once."""
    settings = [
        {"crowd": crowd, "workers": m, "vote": vote, "repeats": repeats}
        for crowd, m in itertools.product(table_2.READINGS, table_2.PRINTED)
        for vote in ("majority", "weighted")
        for repeats in ((5.0, None) if (crowd, m) == ("from-0.6", 5) else (5.0,))
    ]
    rng = np.random.default_rng(5)
    rows = []
    for where in settings:
        full, simple, weighted = table_2.PRINTED[where["workers"]]
        reward = (simple if where["vote"] == "majority" else weighted) - lost(where)
        for run in range(N):
            luck = 0.001 * rng.normal()
            rows.append(
                {
                    **PAPER,
                    **where,
                    "run": run,
                    "full_accuracy": full,
                    "best_accuracy": 0.99,
                    "last_accuracy": reward,
                    **{f"regret_{n}": n * (0.99 - reward - luck) for n in grid(2000)},
                }
            )
    table = framed(rows)
    return table.assign(repetition=table["run"])


def growth_table(regret=lambda where, n: 50 + 2.0 * shape("log2", n)):
    settings = [
        {"crowd": crowd, "tests": tests, "repeats": 5.0, "horizon": 200_000}
        for crowd in ("table-1", "clear")
        for tests in (3.0, 10.0)
    ]
    return runs(settings, regret)


def exploration_table():
    base = {
        **PAPER,
        "vetting": "none",
        "delay": 0,
        "eta": 0.0,
        "repeats": 5.0,
        "dropped": 0,
        "first_wrong": None,
        "first_step": None,
        "explored": 900,
        "last_accuracy": 0.9,
        "off": 0.1,
        "off_reversed": 0.5,
    }
    late = {"horizon": 20_000, "crowd": "from-0.6"}
    vetted = {"dropped": 1, "first_wrong": False, "first_step": 90, "crowd": "table-1"}
    settings = [
        *({**base, **late, "delay": tau} for tau in (0, 5, 20)),
        *({**base, "crowd": "clear", "horizon": 100_000, "eta": eta} for eta in (0.0, 0.5)),
        *({**base, **vetted, "vetting": name} for name in ("printed", "supported")),
        {**base, "crowd": "distrusted", "last_accuracy": 0.06, "off": 0.6, "off_reversed": 0.06},
    ]
    return runs(settings, lambda where, n: 6.0 * shape("log2", n) * (1 + where["delay"] / 100))


@cache
def made():
    return {
        "learn-theory": theory(),
        "learn-regret": regret_table(),
        "learn-average": average_table(),
        "learn-growth": growth_table(),
        "learn-exploration": exploration_table(),
    }


@pytest.fixture
def tables():
    return {study: table.copy() for study, table in made().items()}


def claim_of(claim):
    (one,) = [one for one in claims() if one.id == f"learn-{claim}"]
    return one


def verdict(tables, claim):
    return judge(Tables(tables), [claim_of(claim)])[0]


@pytest.mark.release
def test_in_good_order(tables):
    rulings = {one.claim.id: one.word for one in judge(Tables(tables), claims_of("learning"))}
    # No reward is that of a worker: M of them would earn more than a task gives.
    assert rulings.pop("learn-table-2-caption") is NOT
    assert set(rulings.values()) == {HOLDS}, {k: v for k, v in rulings.items() if v != HOLDS}


SPOILED = [
    # study, claim, rows (None: all), column, value, verdict
    ("theory", "theorem-1", "repetition == 1", "even_ahead", 1e-9, NOT),
    ("theory", "theorem-1", "repetition == 1", "even_optimal", True, CAVEAT),
    ("theory", "theorem-2", "repetition == 1", "other_ahead", 1e-9, NOT),
    ("theory", "theorem-2", "repetition == 1", "other_optimal", True, CAVEAT),
    ("theory", "linear-search", "repetition == 1", "search_off", 1e-9, NOT),
    ("theory", "footnote-2", "repetition == 1", "prefix_gap", 0.0, NOT),
    ("theory", "footnote-1", "repetition == 1", "even_ahead_3", 0.01, CAVEAT),
    ("theory", "a-min-inverse", "repetition == 1", "regret_ratio", 1.1, CAVEAT),
    ("theory", "a-min-inverse", None, "regret_ratio", 1.1, NOT),
    ("theory", "exploring-cost", "repetition == 1", "cost_share", 1.2, CAVEAT),
    ("theory", "exploring-cost", "repetition == 1", "whole_share", 1.1, NOT),
    ("theory", "drop-worst", None, "strict_gain", -0.1, NOT),
    ("theory", "drop-worst", "repetition == 1", "strict_gain", -0.1, CAVEAT),
    ("theory", "weighted-map", "repetition == 1", "off", 1e-6, NOT),
    ("theory", "weighted-optimum", "repetition == 1", "gain", -1e-6, NOT),
    ("theory", "weighted-even", None, "even_ahead", 0.0, NOT),
    ("theory", "footnote-2", None, "different", False, UNMEASURED),
    ("theory", "trust", "repetition == 1", "blind_answers", True, NOT),
    ("exploration", "trust", "crowd == 'distrusted'", "last_accuracy", 0.7, NOT),
    ("theory", "conditions", "repetition == 1", "a_min", 0.4, NOT),
    ("theory", "conditions", "crowd == 'table-1'", "enough", False, CAVEAT),
    ("theory", "theorem-3", None, "share_2000", 1e7, VOID),
    ("theory", "theorem-3", None, "share_2000", 1e-4, NOT),
    ("theory", "theorem-3-cost", None, "cost_share_million", 9.0, VOID),
    ("theory", "order", "workers == 5", "order_true", 30.0, NOT),
    ("theory", "order", None, "workers", 5, UNMEASURED),
    ("theory", "lemma-1", None, "explored", 401, CAVEAT),
    ("theory", "lemma-1", None, "explored", 500, NOT),
    ("theory", "lemma-2", "repetition == 1", "exploit_regret", 11.0, NOT),
    ("theory", "lemma-3", None, "lemma_3_speaks_at", 1e6, VOID),
    ("theory", "lemma-3", "repetition == 1", "wrong_set", 30, NOT),
    ("theory", "lemma-4", "repetition == 1", "wrong_order", 30, NOT),
    ("theory", "lemma-4", None, "lemma_4_speaks_at", 1e6, VOID),
    ("theory", "lemma-5", "repetition == 1", "lemma_5_missed", 1, NOT),
    ("theory", "lemma-5", None, "share_million_5", 2.0, VOID),
    ("theory", "lemma-6", "repetition == 1", "lemma_6", 1.1, NOT),
    ("theory", "lemma-7", "repetition == 1", "lemma_7", 1.1, NOT),
    ("theory", "lemma-8", "repetition == 1", "lemma_8_needed", 1.1, NOT),
    ("theory", "lemma-8", "repetition == 1", "lemma_8_printed_edge", 1.1, CAVEAT),
    ("theory", "equation-12", None, "rate_off", 0.1, CAVEAT),
    ("theory", "equation-12", "repetition == 1", "order_broken", True, NOT),
    ("theory", "equation-13", "repetition == 1", "excess_printed_20", 0.5, ILLEGIBLE),
    ("theory", "equation-13", "repetition == 1", "excess_supported_20", 0.5, NOT),
    ("theory", "vetting-error", None, "wrong_printed", 30.0, NOT),
    ("theory", "figure-3", None, "question", "sets", UNMEASURED),
    ("theory", "theorem-4", "crowd == 'able'", "weighted_other_ahead", 0.01, NOT),
    ("theory", "theorem-4", "repetition == 1", "weighted_other_optimal", True, CAVEAT),
    ("theory", "theorem-5", None, "share_million_5", 1e3, VOID),
    ("exploration", "vetting-error", "vetting == 'printed'", "first_wrong", True, CAVEAT),
    ("exploration", "vetting-error", "vetting == 'supported'", "first_wrong", True, HOLDS),
    ("exploration", "vetting-speed", "vetting == 'printed'", "first_step", 800, NOT),
    ("exploration", "vetting-speed", "vetting == 'printed'", "first_wrong", True, CAVEAT),
    ("exploration", "vetting-speed", None, "vetting", "none", UNMEASURED),
    ("exploration", "delay", "delay == 5", "regret_20000", 1e5, NOT),
    ("exploration", "delay", None, "delay", 0, UNMEASURED),
    ("regret", "figure-2", None, "tests", 1.0, UNMEASURED),
]


@pytest.mark.parametrize(("study", "claim", "rows", "column", "value", "ruling"), some(SPOILED, 7))
def test_spoiled(tables, study, claim, rows, column, value, ruling):
    tables[f"learn-{study}"] = spoil(tables[f"learn-{study}"], rows, column, value)
    assert verdict(tables, claim).word is ruling


def linear(where, n):
    return 0.2 * n


CURVES = [
    # study, regret by setting and tasks, verdicts
    ("regret", linear, {"figure-2": NOT}),
    ("growth", linear, {"log-squared": NOT}),
    (
        "regret",
        lambda where, n: (linear if where["repeats"] == 5.0 else able)(where, n),
        {"figure-2": CAVEAT},
    ),
    (
        "growth",
        lambda where, n: shape("sqrt" if where["crowd"] == "clear" else "log2", n),
        {"log-squared": CAVEAT},
    ),
    # A better crowd loses more; under one reading of G2, as much.
    (
        "regret",
        lambda where, n: shape("log2", n) * (2 if where["crowd"] == "from-0.6" else 4),
        {"figure-4": NOT},
    ),
    (
        "regret",
        lambda where, n: able(where, n) if where["repeats"] is None else shape("log2", n),
        {"figure-4": CAVEAT},
    ),
]


@pytest.mark.parametrize(("study", "regret", "expected"), some(CURVES, 3))
def test_other_curves(tables, study, regret, expected):
    draw = {"regret": regret_table, "growth": growth_table}[study]
    tables[f"learn-{study}"] = draw(regret)
    assert {claim: verdict(tables, claim).word for claim in expected} == expected


REWARDS = [
    # reward lost by setting, verdicts
    (lambda at: 0.5, {"figure-3": NOT, "table-2-gap": NOT}),
    (lambda at: 0.5 * (at["crowd"] != "any"), {"figure-3": NOT, "table-2-gap": HOLDS}),
    (lambda at: 0.5 * (at["repeats"] != 5.0), {"figure-3": CAVEAT}),
    (lambda at: 0.5 * (at["workers"] == 10), {"table-2-gap": CAVEAT}),
    # Rewards that are those of a worker.
    (
        lambda at: (1 - at["workers"]) * table_2.PRINTED[at["workers"]][1],
        {"table-2-caption": HOLDS},
    ),
    (
        lambda at: 0.2 * (at["vote"] == "weighted"),
        {"figure-5": NOT, "table-2-weighted": NOT, "table-2-values": CAVEAT},
    ),
    (lambda at: 0.2 * (at["vote"] == "weighted" and at["repeats"] is None), {"figure-5": CAVEAT}),
]


@pytest.mark.parametrize(("lost", "expected"), some(REWARDS, 4))
def test_other_rewards(tables, lost, expected):
    tables["learn-average"] = average_table(lost)
    assert {claim: verdict(tables, claim).word for claim in expected} == expected


# Formulas, broken: the study is run here and says something else.


def ruling(claim, sweep, repetitions=8):
    one = claim_of(claim)
    tables = {name: made()[name] for name in one.studies if name != "learn-theory"}
    tables["learn-theory"] = run_serially("learn-theory", sweep, repetitions)
    found = judge(Tables(tables), [replace(one, least=1)])[0]
    assert found.word is not UNMEASURED, found.figures
    return found.word


def asked(question, **given):
    return [{"question": [question], **given}]


def ties_won(right):
    """A tie of two counts as won."""

    def broken(rows):
        found = right(rows)
        if rows.shape[1] == 2:
            found[:, -1] = 1 - (1 - rows).prod(axis=1)
        return found

    return broken


SETS = asked("sets", crowd=["able", "any"], workers=[4])
PROOFS = asked("steps-of-proofs", workers=[3, 5])
VOTES = asked("disagreement", workers=[3, 5])
BOUNDS = asked("bounds", crowd=["able", "table-1"], workers=[5])
WEIGHTS = asked("weighted-vote", workers=[4, 5])
BROKEN = [
    # claim, sweep, verdict, what is broken (module, name, by what), verdict then
    ("theorem-1", SETS, HOLDS, theory_sets, "prefix_accuracies_many", ties_won, NOT),
    (
        "theorem-2",
        SETS,
        HOLDS,
        theory_sets,
        "best_set",
        lambda right: lambda p, **how: right(np.sort(p)[:2], **how),
        NOT,
    ),
    (
        "linear-search",
        SETS,
        HOLDS,
        theory_sets,
        "best_set",
        lambda right: lambda p, **how: right(p[:1], **how),
        NOT,
    ),
    (
        "equation-12",
        VOTES,
        CAVEAT,
        theory_votes,
        "differs",
        lambda _: (
            lambda p, i: vetting.disagreement_rate(float(p[i]), theory_votes.majority_accuracy(p))
        ),
        HOLDS,
    ),
    (
        "equation-13",
        VOTES,
        ILLEGIBLE,
        theory_votes,
        "FACTOR",
        lambda _: {"printed": 2.0, "supported": 1.9},
        NOT,
    ),
    (
        "lemma-1",
        asked("steps"),
        CAVEAT,
        type(theory_bounds.practical(1, 1)),
        "exploration_steps",
        lambda right: lambda self, T: 9 * right(self, T) + 9,
        NOT,
    ),
    (
        "lemma-8",
        PROOFS,
        CAVEAT,
        regret_bounds,
        "slope_constant",
        lambda right: lambda p, e: 0.4 * right(p, e),
        NOT,
    ),
    ("lemma-6", PROOFS, HOLDS, theory_proofs, "majority_subsets", lambda _: lambda m: 0.1, NOT),
    (
        "weighted-map",
        WEIGHTS,
        HOLDS,
        theory_sets,
        "weighted_accuracies_many",
        lambda _: theory_sets.prefix_accuracies_many,
        NOT,
    ),
    (
        "weighted-optimum",
        WEIGHTS,
        HOLDS,
        theory_sets,
        "weighted_accuracies_many",
        lambda right: lambda rows: 0.98 * right(rows),
        NOT,
    ),
    (
        "weighted-even",
        WEIGHTS,
        HOLDS,
        theory_sets,
        "weighted_accuracies_many",
        lambda _: theory_sets.prefix_accuracies_many,
        NOT,
    ),
    (
        "exploring-cost",
        asked("costs"),
        CAVEAT,
        theory_bounds,
        "cost_bound",
        lambda right: lambda *given: 0.5 * right(*given),
        NOT,
    ),
    (
        "a-min-inverse",
        asked("inverse"),
        CAVEAT,
        regret_bounds,
        "repeats_factor",
        lambda right: lambda a: 1 / right(a),
        NOT,
    ),
    (
        "drop-worst",
        asked("vetting", workers=[3, 5]),
        NOT,
        theory_votes,
        "crowd_constants",
        lambda right: lambda p: right(p if len(p) % 2 else np.append(p, 1.0)),
        HOLDS,
    ),
    (
        "footnote-1",
        asked("classes", workers=[5, 6]),
        CAVEAT,
        theory_sets,
        "plurality_error",
        lambda right: lambda p, w, _: right(p, w, 2),
        HOLDS,
    ),
    ("vetting-error", asked("vetting"), HOLDS, theory_votes, "STATED", lambda _: 0.9, NOT),
]


@pytest.mark.parametrize(
    ("claim", "sweep", "whole", "where", "name", "broken", "then"),
    some(BROKEN, 4),
    ids=[case[0] for case in BROKEN],
)
def test_a_broken_formula_turns_the_verdict(
    monkeypatch, claim, sweep, whole, where, name, broken, then
):
    assert ruling(claim, sweep, 12) is whole
    monkeypatch.setattr(where, name, broken(getattr(where, name)))
    assert ruling(claim, sweep, 12) is then


@pytest.mark.release
def test_without_the_printed_constants_the_bound_is_not_void(monkeypatch):
    assert ruling("theorem-3", BOUNDS, 10) is VOID
    monkeypatch.setattr(regret_bounds, "testers_factor", lambda *_: 1e-4)
    monkeypatch.setattr(regret_bounds, "_slips", lambda *_: 0.0)
    assert ruling("theorem-3", BOUNDS, 10) is NOT


@pytest.mark.release
def test_an_agreement_that_knows_the_side(monkeypatch):
    sweep = asked("agreement", workers=[5])
    monkeypatch.setattr(agreement, "RESAMPLES", 10)
    assert ruling("trust", sweep, 20) is HOLDS
    right = theory_votes.structure
    monkeypatch.setattr(
        theory_votes,
        "structure",
        lambda labels, truth=None, *, seed: right(labels, labels[:, 0], seed=seed),
    )
    assert ruling("trust", sweep, 20) is NOT


@pytest.mark.release
def test_exploring_like_the_root_is_not_logarithmic(monkeypatch):
    sweep = [{"crowd": ["from-0.6"], "repeats": [2.0]}]
    right = learning_runs.Schedule
    for power, expected in ((0.0, HOLDS), (0.25, NOT)):
        monkeypatch.setattr(
            learning_runs,
            "Schedule",
            lambda *given, power=power, **how: right(*given, **how, time_power=power),
        )
        table = run_serially("learn-regret", sweep, 20)
        found = judge(Tables({"learn-regret": table}), [claim_of("figure-2")])[0]
        assert found.word is expected
