"""Certificates for checkers that others wrote: read by VIPR's own, unmodified, and by hand.

VIPRCHK names that checker, built from its public source. What is derived is also recomputed here,
line by line, so that the writer is tested without it.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from dataclasses import replace
from fractions import Fraction
from math import ceil
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from tests.core.release import some
from tests.core.solving.test_proof_file import TRIPLES, drawn
from tests.core.solving.test_proof_mutants import MUTANTS, cheapest
from tests.core.solving.test_proof_mutants import drawn as tenths
from workbench.base.errors import InputError
from workbench.solving import pricing_tree as trees
from workbench.solving.pricing_tree import (
    LabelSplit,
    LeastPrice,
    TooLargeError,
    pricing_tree,
    size,
    smaller_tree,
)
from workbench.solving.proof_file import written as text_of
from workbench.solving.vipr import vipr_file

VIPRCHK = os.environ.get("VIPRCHK")
FOLDER = Path(__file__).parents[3] / "models" / "problems"


def written(raw, folder):
    """The certificate of a problem and what its plan costs, as solved."""
    problem, proof = folder / "problem.json", folder / "proof.json"
    problem.write_text(json.dumps(raw))
    wb.solve(problem, proof=proof)
    return vipr_file(problem.read_bytes(), proof.read_text()).decode()


def read_by_others(text, folder):
    """Whether the checker that others wrote verifies a certificate."""
    if not VIPRCHK:
        pytest.skip("VIPRCHK names no checker of VIPR certificates")
    path = folder / "proof.vipr"
    path.write_text(text)
    ended = subprocess.run([VIPRCHK, path], capture_output=True, text=True, check=False)
    return "Successfully verified" in ended.stdout or "Infeasibility verified" in ended.stdout


def terms(words):
    """Index and value, as many as the first word says."""
    many = int(next(words))
    return {int(next(words)): Fraction(next(words)) for _ in range(many)}


class ByHand:
    """A certificate recomputed by the format's description, plainly; ValueError if it is wrong."""

    def __init__(self, text):
        self.words = iter(" ".join(text.splitlines()[1:]).split())
        self.rows = []
        self.whole = int(self.after("VAR"))
        names = [next(self.words) for _ in range(self.whole)]
        assert len(set(names)) == int(self.after("INT"))
        assert [int(next(self.words)) for _ in names] == list(range(self.whole))
        assert self.after("OBJ") == "min"
        self.cost = terms(self.words)
        many, _ = int(self.after("CON")), next(self.words)
        for _ in range(many):
            self.rows.append((*self.row(), frozenset()))
        self.given = list(self.rows)
        self.claim = self.after("RTP")
        self.range = [next(self.words) for _ in range(2)] if self.claim == "range" else None
        self.plans = []
        for _ in range(int(self.after("SOL"))):
            next(self.words)
            self.plans.append(terms(self.words))
        for _ in range(int(self.after("DER"))):
            self.derive(*self.row())

    def after(self, name):
        for word in self.words:
            if word == name:
                return next(self.words)
        raise ValueError(name)

    def row(self):
        _, sense, rhs, many = (next(self.words) for _ in range(4))
        left = self.cost if many == "OBJ" else terms(iter([many, *self.entries(int(many))]))
        return sense, Fraction(rhs), left

    def entries(self, many):
        return [next(self.words) for _ in range(2 * many)]

    def derive(self, sense, rhs, left):
        brace, reason = next(self.words), next(self.words)
        assert brace == "{"
        if reason == "asm":
            row = (sense, rhs, left, frozenset([len(self.rows)]))
        elif reason == "uns":
            row = self.merged(sense, rhs, left, [int(next(self.words)) for _ in range(4)])
        else:
            row = self.combined(sense, rhs, left, terms(self.words), rounded=reason == "rnd")
        assert (next(self.words), next(self.words)) == ("}", "-1")
        self.rows.append(row)

    def merged(self, sense, rhs, left, at):
        ends, sides = [self.rows[k] for k in at[::2]], [self.rows[k] for k in at[1::2]]
        for end in ends:
            self.dominates(end, sense, rhs, left)
        below, above = sorted(sides, key=lambda row: row[0] == "G")
        if (below[0], above[0]) != ("L", "G") or below[2] != above[2]:
            raise ValueError("no two sides")
        if above[1] != below[1] + 1 or below[1].denominator != 1:
            raise ValueError("sides apart")
        if any(value.denominator != 1 for value in below[2].values()):
            raise ValueError("fractions split")
        held = (ends[0][3] - {at[1]}) | (ends[1][3] - {at[3]})
        return sense, rhs, left, held

    def combined(self, sense, rhs, left, by, *, rounded):
        total, value, held = {}, Fraction(0), frozenset()
        for k, times in by.items():
            if k >= len(self.rows) or (self.rows[k][0] == "G") != (times > 0):
                raise ValueError("a multiplier of the wrong sign")
            for v, x in self.rows[k][2].items():
                total[v] = total.get(v, 0) + times * x
            value, held = value + times * self.rows[k][1], held | self.rows[k][3]
        total = {v: x for v, x in total.items() if x}
        if rounded:
            if any(x.denominator != 1 for x in total.values()):
                raise ValueError("fractions rounded")
            value = Fraction(ceil(value))
        self.dominates(("G", value, total, held), sense, rhs, left)
        return sense, rhs, left, held

    def dominates(self, row, sense, rhs, left):
        if row[0] == "G" and not row[2] and row[1] > 0:
            return
        if (row[0], sense) != ("G", "G") or row[2] != left or row[1] < rhs:
            raise ValueError("not derived")

    def verdict(self):
        """What is proven: the least cost, or None where there is no plan."""
        sense, *_, held = self.rows[-1]
        if held or sense != "G":
            raise ValueError("assumptions are left")
        if self.claim == "infeas":
            self.dominates(self.rows[-1], "G", Fraction(1), {})
            return None
        least, most = (Fraction(word) for word in self.range)
        self.dominates(self.rows[-1], "G", least, self.cost)
        for plan in self.plans:
            for way, limit, row, _ in self.given:
                value = sum(x * plan.get(v, 0) for v, x in row.items())
                if value < limit if way == "G" else value > limit:
                    raise ValueError("no plan")
            assert sum(x * plan.get(v, 0) for v, x in self.cost.items()) == most
        return least


@pytest.mark.parametrize("seed", some(range(12), 3))
def test_what_is_derived_is_the_optimum(seed, tmp_path, monkeypatch):
    if seed % 2:
        monkeypatch.setattr(trees, "FIRST", 1)  # all labels are split first
    raw = tenths(np.random.default_rng(seed), limited=seed % 4 == 3, tight=seed % 3 == 2)
    best = cheapest(raw)
    if best is None:
        raw["capacity"] = [max(1, most) for most in raw["capacity"]]
        for name in ("least", "most"):
            raw.pop(name, None)
        best = cheapest(raw)
    text = written(raw, tmp_path)
    step = Fraction(text.split()[5].rstrip(";"))
    least = ByHand(text).verdict()
    if best is None:
        assert least is None
    elif "most" in raw:  # prices alone prove what they prove
        assert best[0] / 2 <= least * step <= best[0]
    else:
        assert least * step == best[0]


@pytest.mark.parametrize("seed", some(range(4), 2))
def test_a_checker_that_others_wrote_verifies_it(seed, tmp_path):
    assert read_by_others(written(drawn(seed, 10), tmp_path), tmp_path)


def test_branches_over_label_counts_are_derived(tmp_path):
    text = written(TRIPLES, tmp_path)
    assert "uns" in text
    assert ByHand(text).verdict() == 10
    assert read_by_others(text, tmp_path)


def changed(rng, text):
    """A certificate with one number of a claim or derivation changed, but of the program none."""
    program, claim, rest = text.partition("\nRTP ")
    words = rest.split(" ")
    places = [k for k, word in enumerate(words) if word.lstrip("-").replace("/", "").isdigit()]
    at = places[int(rng.integers(len(places)))]
    words[at] = str(int(rng.integers(-2, 12)))
    return program + claim + " ".join(words)


@pytest.mark.release
def test_changed_certificates_that_are_verified_are_true(tmp_path):
    """By hand and, where it is there, by the checker that others wrote: bounds, not plans."""
    rng, verified = np.random.default_rng(3), 0
    for seed in range(4):
        raw = tenths(np.random.default_rng(seed))
        text, best = written(raw, tmp_path), cheapest(raw)
        step = Fraction(text.split()[5].rstrip(";"))
        for _ in range(min(100, MUTANTS)):
            mutant = changed(rng, text)
            try:
                least = ByHand(mutant).verdict()
            except (ValueError, AssertionError, StopIteration, IndexError, ZeroDivisionError):
                continue
            verified += 1
            assert best is None if least is None else best is None or least * step <= best[0]
    assert verified > 10


def test_a_raised_bound_is_refused_by_others(tmp_path):
    text = written(drawn(4, 6), tmp_path)
    assert read_by_others(text, tmp_path)
    head, tail = text.split("RTP range ")
    least, most, rest = tail.split(maxsplit=2)
    forged = f"{head}RTP range {int(least) + 1} {int(most) + 1} {rest}"
    assert not read_by_others(forged, tmp_path)


@pytest.mark.parametrize("seed", some(range(20), 3))
def test_a_tree_proves_the_least_price_and_no_more(seed):
    rng = np.random.default_rng(seed)
    kinds = int(rng.integers(1, 5))
    quality, price = rng.integers(0, 9, kinds), rng.integers(-2, 9, kinds)
    copies = rng.integers(1, 4, kinds)
    need = Fraction(int(rng.integers(1, 20)), 2)
    sets = np.stack(np.meshgrid(*(np.arange(c + 1) for c in copies)), -1).reshape(-1, kinds)
    prices = (sets @ price)[sets @ quality >= float(need)]
    parts = (tuple(part.tolist()) for part in (quality, price, copies))
    asked = LeastPrice(*parts, need, int(prices.min(initial=99)))
    tree = pricing_tree(asked, 500)
    assert tree is not None
    if len(prices):
        with pytest.raises(TooLargeError):
            pricing_tree(replace(asked, target=asked.target + 1), 500)


def test_a_problem_by_class_is_not_written(tmp_path):
    raw = {
        "quality": [[0.6, 0.9]],
        "requirement": [1.2],
        "capacity": 2,
        "tasks": [2],
        "workers": [3, 2],
    }
    problem = json.dumps(raw).encode()
    proof = {
        "kind": "assignment",
        "format": 2,
        "problem_sha256": hashlib.sha256(problem).hexdigest(),
        "claim": {"bound": 0, "cost": 4},
        "patterns": [[0, {"0": 2}, 2]],
        "tree": {"worker_prices": [0, 0], "side_prices": []},
    }
    with pytest.raises(InputError, match="by class"):
        vipr_file(problem, text_of(proof).decode())


def test_splitting_all_labels_first_takes_fewer_nodes():
    """Six of about a sixth each: the linear program sees 5.4, and knows no whole number."""
    rng = np.random.default_rng(2)
    quality = tuple(rng.integers(900, 1000, 60).tolist())
    price = tuple(rng.integers(100, 110, 60).tolist())
    asked = LeastPrice(quality, price, (1,) * 60, Fraction(5300), 0)
    cheapest = sorted(price)[:6]
    asked = replace(asked, target=sum(cheapest) - 5)
    tree = smaller_tree(asked, 20_000)
    assert isinstance(tree, LabelSplit)
    with pytest.raises(TooLargeError):
        pricing_tree(asked, 500)
    assert size(tree) < 500


@pytest.mark.parametrize("name", ["toy-5x4", "toy-8x6-mask", "rounding", "chain"])
def test_public_instances(name, tmp_path):
    raw = json.loads((FOLDER / f"{name}.json").read_text())
    assert read_by_others(written(raw, tmp_path), tmp_path)
