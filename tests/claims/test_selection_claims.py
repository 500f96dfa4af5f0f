"""Li, Liu (2015): each check, spoiled; and each formula, broken, turns its verdict."""

import dataclasses
import math
from functools import cache

import numpy as np
import pandas as pd
import pytest

from tests.claims.made_up import Tables, claims_of, framed, run_serially
from workbench.claims import Ruling, judge, register, selection
from workbench.selection import bounds, rules, scores
from workbench.studies.catalog import (
    selection_bound,
    selection_exact,
    selection_remarks,
    selection_scores,
    selection_trials,
)

HOLDS, CAVEAT = Ruling.HOLDS, Ruling.CAVEAT
NOT, UNMEASURED = Ruling.NOT_REPRODUCED, Ruling.UNMEASURED
INCONCLUSIVE = Ruling.INCONCLUSIVE
CROWDS = 24


def bound():
    rows = [
        {"search": search, "classes": classes, "controls": controls, "workers": 20}
        for search in ("few", "many") for classes in (2, 3) for controls in (0, 1)
    ] * 10  # fmt: skip
    climbs = framed(
        rows, log_ratio=-1.0, log_ratio_pair=-0.5, log_ratio_supported=-2.0, log_error_low=-3.0,
        log_bound=-2.0, skills="0.7",
    )  # fmt: skip
    limit = [{"classes": L, "controls": n} for L in (2, 3) for n in (0, 1, 2)] * 2
    return pd.concat(
        [climbs, framed(limit, search="exponents", workers=3, exponent_ratio=0.9)],
        ignore_index=True,
    )


def score_rows():
    rows = [{"classes": classes} for classes in (2, 3)] * CROWDS
    table = framed(
        rows, crowd="mixed", controls=10, workers=31, budget=20, sheets_drawn=1000, choices=100,
        plug_in_bias_promised=0.4, missed_95=10, missed_50=100, missed_chosen_95=2, optimism=0.5,
        error=0.1, votes=5000, bound_printed=0.6,
    )  # fmt: skip
    wave = 0.01 * np.where(np.arange(len(table)) % 4 < 2, 1.0, -1.0)
    return table.assign(bias=wave, plug_in_bias=0.4 + wave)


def exact():
    rows = [{"question": "score"}, {"question": "money"}] * CROWDS
    return framed(
        rows, workers=12, score=1.5, score_slices=1.5, score_sizes=1.5, score_listed=1.5,
        dominating=0, inequalities=250, not_submodular=100, not_supermodular=140,
    )  # fmt: skip


def remarks():
    same = {"classes": 2, "controls": 10, "workers": 31, "budget": 20, "spammers": 0}
    wave = 0.001 * np.where(np.arange(CROWDS) % 2, 1.0, -1.0)
    votes = {
        f"{kind}_{who}": value + wave
        for kind, value in (("linear", 0.95), ("log", 0.949), ("majority", 0.8), ("known", 0.99))
        for who in selection.VOTERS
    }
    fewer = {f"{kind}_all": votes[f"{kind}_all"] - 0.05 for kind in ("linear", "majority")}
    parts = [
        {"question": "lead", "lead": 2.0 + wave, "lead_expected": 2.0, "lead_se": 0.01,
         "agree": 0.8 + wave},
        {"question": "forms", "forms_off": 1e-14},
        {"question": "bound", "same": True, "same_few": True},
        {"question": "optimum", "score_selected": 1.2, "score_plug_in": 1.1 + wave,
         "score_best": 1.4},
        {"question": "growth", "seconds_small": 1.0, "seconds_large": 20.0, "bytes_small": 1.0,
         "bytes_large": 16.0},
        {"question": "votes", **votes},
        {"question": "votes", **votes, **fewer, "spammers": 100},
    ]  # fmt: skip
    rows = [pd.DataFrame({**same, **part}, index=range(CROWDS)) for part in parts]
    made = framed(pd.concat(rows, ignore_index=True))
    return made.assign(repetition=np.tile(np.arange(CROWDS), len(parts)))


PAPER = {"workers": 31, "items": 1000, "a": 2.3, "b": 2.0, "controls": 10, "ties": "fair"}


def grid(settings, methods, accuracy, size=lambda method, where: 9.0, **same):
    """Trials of crowds met by all methods: `accuracy(method, where)`, with a crowd's noise."""
    rng = np.random.default_rng(4)
    shared, rows = 0.01 * rng.normal(size=CROWDS), []
    for where in settings:
        for method in methods:
            for crowd in range(CROWDS):
                noise = 0.0005 * rng.normal()
                rows.append(
                    {**same, **where, "method": method, "crowd_number": crowd,
                     "accuracy_exact": accuracy(method, where) + shared[crowd] + noise,
                     "size": size(method, where) + rng.choice([-1.0, 1.0])}
                )  # fmt: skip
    table = framed(rows)
    return table.assign(repetition=table["crowd_number"], accuracy=table["accuracy_exact"])


AHEAD_1 = {"selected": 0.0, "plug-in": -0.01, "top-skill": -0.02, "best prefix": 0.001,
           "top-informative": -0.01}  # fmt: skip
SIZES_1 = {"selected": 8.0, "plug-in": 10.0, "best prefix": 8.5}


def accuracy_1(method, where):
    return 0.95 + AHEAD_1[method]


def size_1(method, where):
    return SIZES_1.get(method, where["budget"])


def figure_1(accuracy=accuracy_1, size=size_1):
    settings = [{"budget": budget} for budget in (3, 5, 10, 15, 20, 25, 31)]
    return grid(settings, AHEAD_1, accuracy, size, **PAPER)


def accuracy_2(method, where):
    if where["sweep"] == "controls":
        lost = {"selected": 0.0, "plug-in": 0.2, "top-skill": 0.3}[method]
        return 0.97 - (0.2 + lost) / where["controls"]
    rise = {"selected": 0.002, "plug-in": 0.002, "top-skill": 0.02}[method]
    return 0.8 + rise * where["a"]


def figure_2(accuracy=accuracy_2):
    same = {**PAPER, "budget": 20}
    settings = [
        *({**same, "sweep": "controls", "controls": n} for n in (3, 5, 10, 20, 45)),
        *({**same, "sweep": "prior", "a": a} for a in (1.0, 3.0, 5.0, 8.0)),
    ]
    return grid(settings, ("selected", "plug-in", "top-skill"), accuracy)


def sweep(accuracy=lambda method, where: 0.9 - 0.01 * (method == "plug-in")):
    same = {**PAPER, "classes": 2, "few": 0.0}
    settings = [
        {**same, "crowd": crowd, "controls": n, "budget": budget}
        for crowd in ("paper", "spammers") for n in (5, 10) for budget in (20, 31)
    ]  # fmt: skip
    return grid(settings, ("selected", "plug-in"), accuracy)


@cache
def made():
    return {
        "selection-bound": bound(), "selection-scores": score_rows(), "selection-exact": exact(),
        "selection-figure-1": figure_1(), "selection-figure-2": figure_2(),
        "selection-sweep": sweep(), "selection-remarks": remarks(),
    }  # fmt: skip


@pytest.fixture
def tables():
    return {study: table.copy() for study, table in made().items()}


def verdict(tables, claim):
    (one,) = [one for one in register() if one.id == f"selection-{claim}"]
    return judge(Tables(tables), [one])[0]


def test_in_good_order(tables):
    rulings = {one.claim.id: one.ruling for one in judge(Tables(tables), claims_of("selection"))}
    assert set(rulings.values()) == {HOLDS}, rulings


SPOILED = [
    # study, claim, rows (None: all), column, value, verdict
    ("bound", "theorem-1-two-classes", "classes == 2 and repetition == 0", "log_ratio", 0.1, NOT),
    ("bound", "theorem-1-two-classes", "classes == 2 and repetition == 0", "log_ratio_pair", 0.1,
     NOT),
    ("bound", "theorem-1-two-classes", "classes == 3", "log_ratio", 0.1, HOLDS),
    ("scores", "theorem-1-two-classes", "repetition == 0", "error", 0.9, NOT),
    ("bound", "theorem-1-more-classes", "classes == 3 and repetition == 2", "log_ratio", 0.1, NOT),
    ("bound", "theorem-1-more-classes", "classes == 2", "log_ratio", 0.1, HOLDS),
    ("bound", "theorem-1-more-classes", "search == 'exponents' and classes == 3",
     "exponent_ratio", 1.1, NOT),
    ("scores", "theorem-1-more-classes", "repetition == 1", "error", 0.9, NOT),
    ("bound", "theorem-1-more-classes", None, "search", "exponents", UNMEASURED),
    ("scores", "lemma-2", "classes == 3", "bias", 0.05, NOT),
    ("scores", "plug-in-bias", None, "plug_in_bias_promised", 0.5, NOT),
    ("scores", "plug-in-bias", None, "plug_in_bias", 0.0, NOT),
    ("scores", "theorem-3", "classes == 3", "missed_95", 100, NOT),
    ("scores", "theorem-3", None, "missed_50", 600, NOT),
    ("scores", "theorem-3", "classes == 2", "missed_chosen_95", 40, CAVEAT),
    ("exact", "theorem-4", "repetition == 0", "score_slices", 1.6, NOT),
    ("exact", "theorem-4", "repetition == 0", "score_sizes", 1.4, NOT),
    ("exact", "theorem-4", "repetition == 0", "score_listed", 1.51, NOT),
    ("exact", "theorem-4", None, "question", "money", UNMEASURED),
    ("exact", "pareto", "repetition == 0", "dominating", 1, NOT),
    ("exact", "modularity", None, "not_submodular", 0, NOT),
    ("exact", "modularity", None, "not_supermodular", 0, NOT),
    ("figure-1", "figure-1-workers", "method == 'selected' and budget == 31", "size", 12.0, NOT),
    ("figure-1", "figure-1-workers", None, "items", 100, UNMEASURED),
    ("figure-1", "figure-1-plug-in-size", "method == 'plug-in'", "size", 8.0, NOT),
    ("figure-1", "optimal-number", "method == 'best prefix'", "size", 16.0, CAVEAT),
    ("remarks", "theorem-1-remark-1", "repetition == 3", "lead", 2.2, NOT),
    ("remarks", "theorem-1-remark-1", None, "agree", 0.5, INCONCLUSIVE),
    ("remarks", "gain-two-forms", "repetition == 3", "forms_off", 0.01, NOT),
    ("remarks", "complexity", None, "seconds_large", 256.0, NOT),
    ("remarks", "complexity", None, "bytes_large", 20.0, NOT),
    ("remarks", "confidence-bound", "repetition == 3", "same", False, NOT),
    ("remarks", "confidence-bound", "repetition == 3", "same_few", False, CAVEAT),
    ("remarks", "far-from-optimum", None, "score_plug_in", 1.3, NOT),
    ("remarks", "far-from-optimum", None, "score_plug_in", 1.2, INCONCLUSIVE),
    ("remarks", "spammers", "spammers == 100", "known_all", 0.9, NOT),
    ("remarks", "spammers", "spammers == 100", "linear_all", 0.99, NOT),
    ("remarks", "weights-alike", None, "log_top", 0.9, CAVEAT),
    ("remarks", "majority", None, "majority_top", 0.94, CAVEAT),
]  # fmt: skip


@pytest.mark.parametrize(("study", "claim", "rows", "column", "value", "ruling"), SPOILED)
def test_spoiled(tables, study, claim, rows, column, value, ruling):
    table = tables[f"selection-{study}"]
    table[column] = table[column].astype(object)
    at = table.index if rows is None else table.query(rows).index
    assert len(at)
    table.loc[at, column] = value
    tables[f"selection-{study}"] = table.infer_objects()
    assert verdict(tables, claim).ruling is ruling


def lifted(base, lift):
    """`base`, with what `lift(method, where)` adds."""
    return lambda method, where: base(method, where) + lift(method, where)


class TestFigure1:
    CASES = (
        # claim, what a rule gains (by method and budget), verdict
        ("figure-1-dominates", lambda one, k: 0.02 * (one == "plug-in"), NOT),
        ("figure-1-dominates", lambda one, k: 0.04 * (one == "top-skill" and k == 31), CAVEAT),
        ("figure-1-top-k", lambda one, k: 0.04 * (one == "top-skill" and k == 31), CAVEAT),
        ("figure-1-top-k", lambda one, k: 0.04 * (one == "top-skill"), NOT),
        ("figure-1-plug-in-accuracy", lambda one, k: 0.02 * (one == "plug-in"), NOT),
        ("figure-1-plug-in-accuracy", lambda one, k: 0.01 * (one == "plug-in"), INCONCLUSIVE),
        ("figure-1-plug-in-accuracy", lambda one, k: 0.02 * (one == "plug-in" and k == 3), CAVEAT),
        ("unbiasedness", lambda one, k: 0.02 * (one == "plug-in" and k == 3), CAVEAT),
    )

    @pytest.mark.parametrize(("claim", "gain", "ruling"), CASES)
    def test_another_order(self, tables, claim, gain, ruling):
        tables["selection-figure-1"] = figure_1(
            lifted(accuracy_1, lambda method, where: gain(method, where["budget"]))
        )
        assert verdict(tables, claim).ruling is ruling

    def test_the_optimal_number_far_off_and_dear(self, tables):
        tables["selection-figure-1"] = figure_1(
            lifted(accuracy_1, lambda method, where: 0.02 * (method == "best prefix")),
            lambda method, where: 20.0 if method == "best prefix" else size_1(method, where),
        )
        assert verdict(tables, "optimal-number").ruling is NOT

    def test_ten_workers_but_for_chance(self, tables):
        table = tables["selection-figure-1"]
        at = table.query("method == 'selected' and budget == 31").index
        table.loc[at, "size"] = np.where(np.arange(len(at)) % 2, 4.0, 16.5)
        assert verdict(tables, "figure-1-workers").ruling is CAVEAT

    def test_few_crowds_are_no_verdict(self, tables):
        table = tables["selection-figure-1"]
        tables["selection-figure-1"] = table[table["repetition"] < 10]
        assert verdict(tables, "figure-1-dominates").ruling is UNMEASURED

    def test_other_settings_do_not_count(self, tables):
        """Trials with another n do not mix with the figure's own."""
        more = figure_1(lambda method, where: 0.5 + 0.1 * (method == "plug-in"))
        tables["selection-figure-1"] = pd.concat(
            [tables["selection-figure-1"], more.assign(controls=3)], ignore_index=True
        )
        assert verdict(tables, "figure-1-dominates").ruling is HOLDS


class TestFigure2:
    def changed(self, tables, change):
        tables["selection-figure-2"] = figure_2(lifted(accuracy_2, change))

    def test_a_fall_on_the_way(self, tables):
        self.changed(
            tables,
            lambda method, where: -0.05 * (where["sweep"] == "controls" and where["controls"] == 5),
        )
        assert verdict(tables, "figure-2-controls").ruling is CAVEAT

    def test_no_rise(self, tables):
        self.changed(tables, lambda method, where: 0.3 / where["controls"] * (method == "selected"))
        assert verdict(tables, "figure-2-controls").ruling is NOT

    def test_the_rules_drift_apart(self, tables):
        self.changed(
            tables,
            lambda method, where: (
                (method == "plug-in") * (0.2 / where["controls"] - where["controls"] / 900)
            ),
        )
        assert verdict(tables, "figure-2-plug-in").ruling is NOT

    def test_nearer_from_the_other_side(self, tables):
        self.changed(tables, lambda method, where: (method == "plug-in") * 0.4 / where["controls"])
        assert verdict(tables, "figure-2-plug-in").ruling is HOLDS

    def test_top_k_falls_first(self, tables):
        self.changed(tables, lambda method, where: 0.2 * (where["a"] == 1.0))
        assert verdict(tables, "figure-2-prior-top-k").ruling is CAVEAT

    def test_top_k_does_not_rise(self, tables):
        self.changed(tables, lambda method, where: -0.02 * where["a"] * (method == "top-skill"))
        assert verdict(tables, "figure-2-prior-top-k").ruling is INCONCLUSIVE

    def test_all_rise_alike(self, tables):
        self.changed(tables, lambda method, where: 0.018 * where["a"] * (method == "selected"))
        assert verdict(tables, "figure-2-prior-selected").ruling is NOT

    def test_slightly_from_one_start_alone(self, tables):
        """The selected are worst at a = 5, and rise as much as the top K from there."""
        self.changed(
            tables,
            lambda method, where: -0.07 * (method != "top-skill" and where["a"] == 5.0),
        )
        assert verdict(tables, "figure-2-prior-selected").ruling is CAVEAT


class TestUnbiasedness:
    def test_behind_in_most(self, tables):
        ahead = lambda method, where: 0.03 * (method == "plug-in")  # noqa: E731
        tables["selection-figure-1"] = figure_1(lifted(accuracy_1, ahead))
        tables["selection-sweep"] = sweep(lambda method, where: 0.9 + ahead(method, where))
        found = verdict(tables, "unbiasedness")
        assert found.ruling is NOT
        assert "selection-sweep ahead 0, behind 4 of 4" in found.figures

    def test_one_crowd_is_named(self, tables):
        tables["selection-sweep"] = sweep(
            lambda method, where: 0.9 + 0.01 * (method == "plug-in") * (
                1 if where["crowd"] == "spammers" else -1
            )
        )  # fmt: skip
        found = verdict(tables, "unbiasedness")
        assert found.ruling is CAVEAT
        assert "Behind in the sweep by crowd: spammers 2" in found.figures

    def test_measured_accuracy_stands_in(self, tables):
        tables["selection-sweep"] = tables["selection-sweep"].assign(accuracy_exact=np.nan)
        assert verdict(tables, "unbiasedness").ruling is HOLDS


def test_figures_come_from_the_data(tables):
    first = verdict(tables, "theorem-1-more-classes").figures
    tables["selection-bound"].loc[lambda one: one["classes"] == 3, "log_ratio"] = -0.25
    assert f"{math.exp(-1):.3g}" in first
    assert f"{math.exp(-0.25):.3g}" in verdict(tables, "theorem-1-more-classes").figures


# Formulas broken on purpose, the studies run here.

SWEEPS = {
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
}  # fmt: skip


def half_range(monkeypatch):
    """Theorem 1 as if weights ranged half as far: four times the exponent."""

    def bounds(skill, classes):
        score = scores.set_score(scores.informativeness(skill, classes))
        return (-8.0 * score**2 / (classes * (classes - 1)) ** 2 + math.log(classes - 1),) * 2

    monkeypatch.setattr(selection_bound, "_log_bounds", bounds)


def true_range(monkeypatch):
    """Theorem 1 with ξ's own range, in place of the printed one."""
    whole = selection_bound._log_bounds
    monkeypatch.setattr(selection_bound, "_log_bounds", lambda skill, L: (whole(skill, L)[1],) * 2)
    monkeypatch.setattr(
        selection_bound, "exponents",
        lambda skill, share, L, n, real=selection_bound.exponents: (
            (found := real(skill, share, L, n))[0] * (L / (2 * (L - 1))) ** 2, found[1],
        ),
    )  # fmt: skip


def without_the_variance(monkeypatch):
    """F̂ with G = (Lŵ − 1)²."""
    whole = selection_scores.scores

    def broken(*given):
        known = whole(*given)
        return type(known)(**{**vars(known), "gain": known.plug_in})

    monkeypatch.setattr(selection_scores, "scores", broken)


def with_n_for_n_minus_1(monkeypatch):
    """var̂ = c(n − c)/n³, biased."""
    whole = selection_scores.scores

    def broken(*given):
        known = whole(*given)
        chance = known.variance * (known.answered - 1) / known.answered
        gain = known.plug_in - known.classes**2 * chance
        return type(known)(**{**vars(known), "gain": gain})

    monkeypatch.setattr(selection_scores, "scores", broken)


def promised_without_n(monkeypatch):
    """The plug-in's bias with n + 1 for n."""
    whole = selection_scores._promised_bias
    monkeypatch.setattr(selection_scores, "_promised_bias", lambda w, n, L: whole(w, n + 1, L))


def tenth_of_the_width(monkeypatch):
    whole = bounds.interval

    def interval(known, chosen, *, confidence):
        low, high = whole(known, chosen, confidence=confidence)
        middle, reach = (low + high) / 2, (high - low) / 20
        return middle - reach, middle + reach

    monkeypatch.setattr(selection_scores, "interval", interval)


def one_too_many(monkeypatch):
    """Algorithm 1 takes one worker more than the maximiser."""
    whole = rules.algorithm_1

    def broken(gain, budget, *, seed):
        found = whole(gain, budget, seed=seed)
        more = np.argsort(-gain, kind="stable")[: min(len(found.chosen) + 1, budget)]
        return dataclasses.replace(found, chosen=more)

    monkeypatch.setattr(selection_exact, "algorithm_1", broken)


def root_left_out(monkeypatch):
    """F̂ a sum in place of a sum over a root: modular, both sub- and supermodular."""
    monkeypatch.setattr(selection_exact.math, "sqrt", lambda k: 1.0)


def without_an_end(monkeypatch):
    """Algorithm 1 takes as many as it may: what a bound with own ranges would ask for."""
    whole = rules.select
    monkeypatch.setattr(
        selection_trials, "select",
        lambda known, budget, rule, **given: whole(
            known, budget, "top-informative" if rule == "selected" else rule, **given
        ),
    )  # fmt: skip


def plug_in_and_selected_exchanged(monkeypatch):
    """The two rules by each other's names."""
    whole = rules.select
    other = {"selected": "plug-in", "plug-in": "selected"}
    monkeypatch.setattr(
        selection_trials, "select",
        lambda known, budget, rule, **given: whole(known, budget, other.get(rule, rule), **given),
    )  # fmt: skip


def weights_squared(monkeypatch):
    """F as if votes were weighted by (Lŵ − 1)²."""
    monkeypatch.setattr(
        selection_remarks, "set_score", lambda worth: scores.set_score(np.square(worth))
    )


def variance_by_n(monkeypatch):
    """G with n for n − 1 in the variance: the second form no more."""
    whole = selection_remarks.scores

    def broken(*given):
        known = whole(*given)
        chance = known.variance * (known.answered - 1) / known.answered
        return dataclasses.replace(known, gain=known.plug_in - known.classes**2 * chance)

    monkeypatch.setattr(selection_remarks, "scores", broken)


def margin_by_skill(monkeypatch):
    """An interval whose width depends on the estimated skills."""
    whole = bounds.interval

    def interval(known, chosen):
        low, high = whole(known, chosen)
        return low - 9 * known.variance[chosen].sum(), high

    monkeypatch.setattr(selection_remarks, "interval", interval)


def plug_in_at_random(monkeypatch):
    """The plug-in rule takes anybody."""
    whole = selection_remarks.select
    monkeypatch.setattr(
        selection_remarks, "select",
        lambda known, budget, rule, *, seed: whole(
            known, budget, "random" if rule == "plug-in" else rule, seed=seed
        ),
    )  # fmt: skip


def spammers_who_know(monkeypatch):
    """Votes as if everybody were right with 0.9."""
    whole = selection_remarks.vote_error
    monkeypatch.setattr(
        selection_remarks, "vote_error", lambda skill, weight: whole(0 * skill + 0.9, weight)
    )


def equal_weights(monkeypatch):
    """Log-odds weights that are all alike: a majority."""
    monkeypatch.setattr(selection_remarks, "log_odds_weights", lambda skill, L: np.ones(len(skill)))


def everybody_alike(monkeypatch):
    """Crowds of one skill: a majority is the best vote."""
    whole = selection_remarks.beta

    def alike(workers, **given):
        crowd = whole(workers, **given)
        return dataclasses.replace(crowd, skill=np.full_like(crowd.skill, 0.7))

    monkeypatch.setattr(selection_remarks, "beta", alike)


BROKEN = [
    ("theorem-1-remark-1", HOLDS, weights_squared, NOT),
    ("gain-two-forms", HOLDS, variance_by_n, NOT),
    ("confidence-bound", CAVEAT, margin_by_skill, NOT),
    ("far-from-optimum", INCONCLUSIVE, plug_in_at_random, HOLDS),
    ("spammers", HOLDS, spammers_who_know, NOT),
    ("weights-alike", CAVEAT, equal_weights, NOT),
    ("majority", HOLDS, everybody_alike, NOT),
    ("theorem-1-two-classes", HOLDS, half_range, NOT),
    ("theorem-1-more-classes", NOT, true_range, HOLDS),
    ("lemma-2", HOLDS, without_the_variance, NOT),
    ("lemma-2", HOLDS, with_n_for_n_minus_1, NOT),
    ("plug-in-bias", HOLDS, promised_without_n, NOT),
    ("theorem-3", HOLDS, tenth_of_the_width, NOT),
    ("theorem-4", HOLDS, one_too_many, NOT),
    ("pareto", HOLDS, one_too_many, NOT),
    ("modularity", HOLDS, root_left_out, NOT),
    ("figure-1-workers", HOLDS, without_an_end, NOT),
    ("optimal-number", NOT, without_an_end, CAVEAT),
    ("figure-1-plug-in-size", HOLDS, plug_in_and_selected_exchanged, NOT),
    ("figure-1-plug-in-accuracy", NOT, plug_in_and_selected_exchanged, HOLDS),
]


def ran(study):
    return run_serially(study, *SWEEPS[study])


whole_run = cache(ran)


def ruling(claim, run):
    (one,) = [one for one in register() if one.id == f"selection-{claim}"]
    found = judge(Tables({study: run(study) for study in one.studies}), [one])[0]
    assert found.ruling is not UNMEASURED, found.figures
    return found.ruling


@pytest.mark.slow
@pytest.mark.parametrize(
    ("claim", "whole", "breaking", "broken"), BROKEN,
    ids=[f"{one[0]}: {one[2].__name__}" for one in BROKEN],
)  # fmt: skip
def test_breaking_a_formula_flips_its_verdict(monkeypatch, claim, whole, breaking, broken):
    with monkeypatch.context() as patch:
        breaking(patch)
        assert ruling(claim, ran) is broken
    assert ruling(claim, whole_run) is whole
