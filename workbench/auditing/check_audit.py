"""Recompute the certificate of an audit: python check_audit.py FILE ...

This file needs Python alone and shares no code with what wrote the certificate. It prints a line a
file, `holds: …` or `WRONG: …`, and ends with 1 where one is wrong.

What is recomputed. The digests of the answers, of all that was fixed before the first draw, and of
the seed. In the order of draws and words: the forecasts and the plan that followed from the words
heard so far, from them the chance, the bet and all else that a draw's factor is made of, the
evidence after each draw, and whether it suffices for what is claimed. Where the seed is shown, each
draw is made again from it: none was left out, drawn twice, or chosen.

What no certificate shows. That the words are an expert's, and would have been the same in any
order; that the seed was chosen by nobody who knew the words: that is so if the digest of the
beginning (`start_sha256`, printed when the audit began) was kept by somebody else before the first
word was said. Without the seed, that the draws were drawn is the word of who ran the audit.
"""

from __future__ import annotations

import hashlib
import json
import math
import sys
from collections.abc import Iterator
from errno import EINVAL
from fractions import Fraction
from pathlib import Path
from typing import Any

KIND, FORMAT = "audit", 2
CLOSE = 1e-9
HEADS = {"kind", "format", "start", "answers_sha256", "start_sha256", "seed", "events", "claim"}
STARTS = {"error", "risk", "share", "tasks", "answers", "bins", "log_odds", "seed_sha256"}
CLAIMS = {
    "certified",
    "certified_tasks",
    "certified_wrong",
    "checks",
    "corrected",
    "errors",
    "evidence",
    "most_wrong",
    "tasks",
}
OF_LOSS = {"certified_wrong": "certified_cost", "most_wrong": "most_cost"}
# Where a loss is stated the claims of this name are costs, in units of the smallest digit of it.
DRAWS = {"draw", "correction", "chance", "rate", "expected", "bet", "fraction"}
WORDS = {"of", "word"}
RATING_UNITS, FIRST_SIZES = 10**4, (0.2, 0.1)
# Of the scale's length: how far a rating is off is rounded up to a whole number of them.
# The scheme: what follows is its definition, once more.
FRACTIONS = [0.98 * 0.85**i for i in range(12)]
NEAR = [math.exp(-0.5 * (math.log(f / 0.45) / 0.6) ** 2) for f in FRACTIONS]
OWN, OWN_RANGE, OWN_STEPS = 0.9, (0.05, 0.98), 6
WEIGHTS = [*((1.0 - OWN) * w / sum(NEAR) for w in NEAR), OWN]
LEAST_REACH, EVEN, LEAST_RATE, BIN_CHECKS, FLAT_CHECKS = 0.01, 0.3, 0.02, 40.0, 8.0
LEVEL_SPREAD, SLOPE_SPREAD, NEWTON_LINE = 2.0, 0.5, 8
MOST_SURE, EVERY, GROWTH, MIXTURE, LEAST_EVIDENCE, TRUST = 0.9, 4, 1.25, 0.5, 0.5, 2.0
SMALL, FIRST, OWN_RISK = 0.1, 0.3, (0.1, 0.9)
NEAREST, REACH = 0.3, 100.0
HALVINGS, NEWTON_WORLD, PRICE, WORTH = 10, 4, (1e-6, 30.0), (1e-8, 30.0)


class WrongError(Exception):
    """Why a certificate does not hold."""


def require(holds: object, words: str) -> None:
    """Refuse unless something holds."""
    if not holds:
        raise WrongError(words)


# ---- reading ----


def distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object of pairs; no key may come twice."""
    made = dict(pairs)
    require(len(made) == len(pairs), "a key comes twice")
    return made


def no_constant(text: str) -> None:
    """Refuse NaN and infinity."""
    raise WrongError(f"{text} is no number")


def canonical(value: Any) -> str:
    """Write a value as canonical JSON."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def digest(value: Any) -> str:
    """SHA-256 of a value's canonical JSON."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def keys(value: Any, names: set[str], what: str) -> dict[str, Any]:
    """Check that a value is an object with exactly some keys."""
    require(type(value) is dict and set(value) == names, f"{what}: keys are to be {sorted(names)}")
    assert type(value) is dict
    return value


def number(value: Any, what: str, low: float, high: float) -> float:
    """Check that a value is a finite number between two."""
    require(type(value) in (int, float), f"{what} is to be a number")
    require(low <= value <= high, f"{what} is to be from {low:g} to {high:g}")
    return float(value)


def whole(value: Any, what: str, low: int, high: int) -> int:
    """Check that a value is a whole number between two."""
    require(type(value) is int and low <= value <= high, f"{what} is to be whole, {low} to {high}")
    return int(value)


def listed(value: Any, what: str, size: int | None = None) -> list[Any]:
    """Check that a value is a list, of some size."""
    require(type(value) is list, f"{what} is to be a list")
    require(size is None or len(value) == size, f"{what} is to have {size} entries")
    return list(value)


def sha(value: Any, what: str) -> str:
    """Check that a value is 64 hexadecimal digits."""
    holds = type(value) is str and len(value) == 64 and not set(value) - set("0123456789abcdef")
    require(holds, f"{what} is to be 64 hexadecimal digits")
    return str(value)


def read(content: bytes) -> dict[str, Any]:
    """Read a certificate: canonical JSON of the declared keys, digests as stated."""
    try:
        text = content.decode("utf-8")
        raw = json.loads(text, object_pairs_hook=distinct, parse_constant=no_constant)
        same = canonical(raw) == text.removesuffix("\n")
    except WrongError:
        raise
    except (ValueError, RecursionError) as error:
        raise WrongError(f"is no JSON ({str(error)[:60]})") from None
    require(type(raw) is dict and raw.get("kind") == KIND, f"its kind is not {KIND!r}")
    require(type(raw.get("format")) is int and raw["format"] == FORMAT, "another format")
    require(same, "is not written canonically")
    keys(raw, HEADS, "certificate")
    start = raw["start"]
    require(type(start) is dict, "start is to be an object")
    by_cost = costly(start)
    named = {OF_LOSS.get(name, name) if by_cost else name for name in CLAIMS}
    claim = keys(raw["claim"], named, "claim")
    count = len(listed(start["tasks"], "tasks"))
    require(count > 0, "there are no tasks")
    require(all(type(x) in (str, int) for x in start["tasks"]), "a task is to be text or whole")
    require(len({str(x) for x in start["tasks"]}) == count, "a task comes twice")
    answers = listed(start["answers"], "answers", count)
    require(all(x is None or type(x) is str for x in answers), "an answer is to be text or null")
    stated = digest({"tasks": start["tasks"], "answers": start["answers"]})
    require(sha(raw["answers_sha256"], "answers_sha256") == stated, "the answers' digest differs")
    require(sha(raw["start_sha256"], "start_sha256") == digest(start), "the start's digest differs")
    sha(start["seed_sha256"], "seed_sha256")
    costs = Costs(start)
    number(start["error"], "error", 0, 1e6)
    number(start["risk"], "risk", 0, 1)
    require(0 < start["error"] < costs.highest, "error is to lie between 0 and what one costs")
    require(0 < start["risk"] < 1, "risk is to lie between 0 and 1")
    if start["share"] is not None:
        require(not by_cost, "a share is of errors, not of costs")
        number(start["share"], "share", 0, 1)
        require(start["share"] > 0, "share is to lie above 0")
    require(type(claim["certified"]) is bool, "certified is to be true or false")
    for name in ("certified_tasks", "checks", "corrected", "errors", "tasks"):
        whole(claim[name], name, 0, count)
    most = sum(costs.most(answer) for answer in answers)
    for pair in OF_LOSS.items():
        whole(claim[pair[by_cost]], pair[by_cost], 0, most)
    number(claim["evidence"], "evidence", -1e9, 1e9)
    if raw["seed"] is not None:
        seed = bytes.fromhex(sha(raw["seed"], "seed"))
        shown = hashlib.sha256(seed).hexdigest()
        require(shown == start["seed_sha256"], "the seed is not the one of the start")
    listed(raw["events"], "events")
    return dict(raw)


def costly(start: dict[str, Any]) -> bool:
    """Whether errors do not count alike; the keys of the beginning are as they are to be."""
    more = {"loss", "scale"} & set(start)
    require(len(more) < 2, "start: ratings have no loss by class")
    keys(start, STARTS | more, "start")
    return bool(more)


class Costs:
    """What wrong answers cost, in whole units."""

    def __init__(self, start: dict[str, Any]) -> None:
        self.stated = "loss" in start or "scale" in start
        self.ends = self.scale_of(start)
        loss = start.get("loss", {})
        require(type(loss) is dict, "loss is to be an object")
        exact = {}
        for name, cost in loss.items():
            number(cost, "loss", 0, 1e6)
            exact[name] = Fraction(repr(float(cost)))
            require(cost > 0, "loss is to be above 0")
        self.one = math.lcm(*(cost.denominator for cost in exact.values()))
        require(self.one <= 10**6, "loss has too many digits")
        self.costs = {name: int(cost * self.one) for name, cost in exact.items()}
        if self.ends is not None:
            self.one = RATING_UNITS
            for answer in start["answers"]:
                require(answer is None or self.on_scale(answer), "an answer is no rating")
        self.highest = max([1.0, *loss.values()])

    @staticmethod
    def scale_of(start: dict[str, Any]) -> tuple[Fraction, Fraction] | None:
        """Ends of the scale; None where answers are classes."""
        if "scale" not in start:
            return None
        ends = [number(end, "scale", -1e300, 1e300) for end in listed(start["scale"], "scale", 2)]
        require(ends[0] < ends[1], "scale is to rise")
        return Fraction(repr(ends[0])), Fraction(repr(ends[1]))

    def on_scale(self, text: str) -> bool:
        """Whether a text is a rating."""
        assert self.ends is not None
        try:
            return self.ends[0] <= Fraction(text) <= self.ends[1]
        except (ValueError, ZeroDivisionError):
            return False

    def share(self, answer: str | None, wrong: bool, cost: int) -> float:
        """What a check adds to the wrong answers of its bin: of ratings how far it is off."""
        return cost / self.most(answer) if self.ends is not None else float(wrong)

    def most(self, answer: str | None) -> int:
        """What an answer costs at most."""
        return max([self.one, *(cost for name, cost in self.costs.items() if name != answer)])

    def wrong(self, answer: str | None, word: str | None) -> int:
        """What an answer costs by the expert's word; the most where one of the two is none."""
        if word is not None and word == answer:
            return 0
        if word is None or answer is None:
            return self.most(answer)
        if self.ends is not None:
            require(self.on_scale(word), "a word is no rating")
            low, high = self.ends
            return math.ceil(abs(Fraction(answer) - Fraction(word)) / (high - low) * self.one)
        return self.costs.get(word, self.one)


# ---- the forecasts ----


def logistic(x: float) -> float:
    """1/(1 + e^−x)."""
    return 1.0 / (1.0 + math.exp(-x))


def within(rate: float) -> float:
    """Keep a forecast from 0 and 1."""
    return min(max(rate, LEAST_RATE), 1.0 - LEAST_RATE)


def line(odds: list[float], checked: list[float], wrong: list[float]) -> tuple[float, float]:
    """Level and slope of the ridge logistic line."""
    level, slope = 0.0, 1.0
    for _ in range(NEWTON_LINE):
        a = -level / LEVEL_SPREAD**2
        b = -(slope - 1.0) / SLOPE_SPREAD**2
        aa, ab, bb = 1.0 / LEVEL_SPREAD**2, 0.0, 1.0 / SLOPE_SPREAD**2
        for x, n, w in zip(odds, checked, wrong, strict=True):
            if n:
                rate = logistic(level + slope * x)
                spread = n * rate * (1.0 - rate)
                a, b = a + w - n * rate, b + (w - n * rate) * x
                aa, ab, bb = aa + spread, ab + spread * x, bb + spread * x * x
        both = aa * bb - ab * ab
        level += min(max((bb * a - ab * b) / both, -1.0), 1.0)
        slope += min(max((aa * b - ab * a) / both, -0.5), 0.5)
    return level, slope


# ---- the plan ----


def entropy(p: float) -> float:
    """−p log p − (1 − p) log(1 − p)."""
    p = min(max(p, 1e-300), 1.0 - 1e-16)
    return -p * math.log(p) - (1.0 - p) * math.log1p(-p)


def share_of(rate: float, price: float, worth: float) -> tuple[float, bool, float]:
    """Share of a bin to look at, whether all of it, and its rate in the world to refute."""
    if worth <= math.log1p(math.expm1(price) * rate):
        return 1.0, True, 0.0
    divergence = worth - price * rate
    own = entropy(rate)
    logit = (divergence + own) / (1.0 - rate)
    curved = math.log(rate / (1.0 - rate)) + math.sqrt(2.0 * divergence / (rate * (1.0 - rate)))
    logit = min(logit, curved)
    for _ in range(NEWTON_WORLD):
        value = math.log1p(math.exp(-logit)) + (1.0 - rate) * logit - own - divergence
        logit -= value / (logistic(logit) - rate)
    world, mixed = logistic(logit), logistic(logit - price)
    return min(max((world - mixed) / (world - rate), 0.0), 1.0), False, world


def planned(
    left: list[float], rates: list[float], spare: float, evidence: float
) -> tuple[list[bool], float, float]:
    """Bins to correct whole, their share of the checks, and errors that all checks will find."""
    if sum(left) <= spare:
        return [False] * len(left), 0.0, 0.0

    def at(price: float) -> tuple[float, list[tuple[float, bool, float]]]:
        low, high = map(math.log, WORTH)
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            worth, wrong = math.exp(middle), 0.0
            for n, r in zip(left, rates, strict=True):
                if n:
                    a, _, x = share_of(r, price, worth)
                    wrong += n * (1.0 - a) * x
            low, high = (middle, high) if wrong <= spare else (low, middle)
        shares = [share_of(r, price, math.exp(low)) for r in rates]
        reached = 0.0
        for n, r, (a, all_, x) in zip(left, rates, shares, strict=True):
            if n and not all_:
                mixed = a * r + (1.0 - a) * x
                reached += n * (entropy(mixed) - a * entropy(r) - (1.0 - a) * entropy(x))
        return reached, shares

    low, high = map(math.log, PRICE)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if at(math.exp(middle))[0] >= evidence else (middle, high)
    _, shares = at(math.exp(high))
    checks = sum(n * a for n, (a, _, _) in zip(left, shares, strict=True))
    corrected = sum(n for n, (_, all_, _) in zip(left, shares, strict=True) if all_)
    finds = sum(n * a * r for n, r, (a, _, _) in zip(left, rates, shares, strict=True))
    return [all_ for _, all_, _ in shares], min(corrected / max(checks, 1e-12), 1.0), finds


# ---- the bet of a draw ----


def own_fraction(
    rates: list[float],
    chances: list[float],
    left: list[float],
    bet: float,
    spare: float,
    most: list[int] | None = None,
    size: float = 1.0,
) -> float:
    """The fraction at which evidence is expected to grow most."""
    outcomes = []
    for r, q, n, w in zip(rates, chances, left, most or [1] * len(left), strict=True):
        if n and q:
            each = max(size, r)
            outcomes.append((n * q * (1.0 - r / each), bet * (spare + w * r / q)))
            outcomes.append((n * q * r / each, bet * (spare - w * (each - r) / q)))
    fraction = 0.5
    for _ in range(OWN_STEPS):
        gains = [(chance, x / (1.0 + fraction * x)) for chance, x in outcomes]
        slope = math.fsum(chance * gain for chance, gain in gains)
        curve = math.fsum(chance * gain * gain for chance, gain in gains)
        low, high = OWN_RANGE
        fraction = min(max(fraction + slope / max(curve, 1e-300), low), high)
    return fraction


# ---- the audit ----


class Audit:
    """The audit done again."""

    def __init__(self, start: dict[str, Any]) -> None:
        answers, self.bin = start["answers"], listed(start["bins"], "bins", len(start["tasks"]))
        self.odds = listed(start["log_odds"], "log_odds")
        bins = len(self.odds)
        for x in self.odds:
            number(x, "log_odds", -50, 50)
        for x in self.bin:
            whole(x, "a bin", 0, bins - 1)
        self.urns: list[list[int]] = [[] for _ in range(bins)]
        for task, bin_ in enumerate(self.bin):
            self.urns[bin_].append(task)
        empty = [[answers[task] is None for task in urn] for urn in self.urns]
        require(all(empty), "a bin has no tasks")
        require(all(len(set(x)) == 1 for x in empty), "a bin has tasks with and without an answer")
        self.sure = [x[0] for x in empty]
        self.tasks, self.error, self.risk = len(self.bin), start["error"], start["risk"]
        self.costs = Costs(start)
        each = [{self.costs.most(answers[task]) for task in urn} for urn in self.urns]
        require(all(len(costs) == 1 for costs in each), "a bin has tasks of different costs")
        self.weight = [costs.pop() for costs in each]
        self.unseen = self.total = sum(self.weight[b] for b in self.bin)
        self.most = math.floor(Fraction(repr(self.error)) * self.tasks * self.costs.one)
        self.rate = self.error
        if self.costs.stated:
            self.rate = min(self.error * self.costs.one * self.tasks / self.unseen, 1.0)
        self.cost: list[int] = []
        self.need = math.log(1.0 / self.risk)
        self.checked, self.wrong = [0.0] * bins, [0.0] * bins
        self.waiting: dict[int, tuple[list[float], float]] = {}
        self.draws: list[dict[str, Any]] = []
        self.heard: list[bool | None] = []
        self.refused: set[int] = set()
        self.advantage, self.last, self.plan = 0.0, -1, (0.0, 1.0, [False] * bins, 0.0, 0.0)
        self.counted = self.finds = self.corrected = 0
        self.series: list[tuple[float, float, float]] = []
        self.shares, self.squares = FIRST_SIZES
        self.products = [0.0] * len(WEIGHTS)
        self.shown = self.unseen <= self.most

    def evidence(self, products: list[float]) -> float:
        """Logarithm of the weighted mean of products."""
        top = max(products)
        terms = (w * math.exp(p - top) for w, p in zip(WEIGHTS, products, strict=True))
        return top + math.log(math.fsum(terms))

    def product(self, tested: int) -> list[float]:
        """Logarithm of each product at a number of wrong answers."""
        steps = [(bet * (tested - estimate), own) for estimate, bet, own in self.series if bet]
        fixed = [math.fsum(math.log1p(f * x) for x, _ in steps) for f in FRACTIONS]
        return [*fixed, math.fsum(math.log1p(own * x) for x, own in steps)]

    def look(self) -> dict[str, Any]:
        """How the next task is drawn."""
        left = [float(len(urn)) for urn in self.urns]
        checks = int(sum(self.checked))
        counts = [
            (0.0, 0.0) if sure else (n, w)
            for sure, n, w in zip(self.sure, self.checked, self.wrong, strict=True)
        ]
        checked, wrong = [n for n, _ in counts], [w for _, w in counts]
        anew = self.last < 0 or checks >= GROWTH * self.last + EVERY
        if anew:
            self.last = checks
            self.plan = (*line(self.odds, checked, wrong), [], 0.0, 0.0)
        level, slope, whole_, correction, finds = self.plan
        forecast = [
            within((w + BIN_CHECKS * logistic(level + slope * x)) / (n + BIN_CHECKS))
            for x, n, w in zip(self.odds, checked, wrong, strict=True)
        ]
        if anew:
            whole_, correction, finds = self.corrections(left, forecast)
            self.plan = (level, slope, whole_, correction, finds)
        flat = within((4.0 * self.rate + sum(wrong)) / (FLAT_CHECKS + sum(checked)))
        weight = logistic(TRUST + self.advantage)
        rate = [weight * r + (1.0 - weight) * flat for r in forecast]
        value = [2.0 if sure else r for sure, r in zip(self.sure, forecast, strict=True)]
        targets = [b for b, n in enumerate(left) if n and whole_[b]]
        correct = min(MOST_SURE, correction) * weight if targets else 0.0
        open_ = [0.0 if sure else n for sure, n in zip(self.sure, left, strict=True)]
        chance = [0.0] * len(left)
        bet = fraction = 0.0
        expected = sum(
            n * (1.0 if sure else r) * w
            for n, sure, r, w in zip(left, self.sure, rate, self.weight, strict=True)
        )
        if not any(open_):
            correct = 1.0
        else:
            spread = [w * math.sqrt(r * (1.0 - r)) for r, w in zip(rate, self.weight, strict=True)]
            all_spread = sum(n * s for n, s in zip(open_, spread, strict=True))
            for b, sure in enumerate(self.sure):
                if not sure:
                    chance[b] = (1.0 - EVEN) * spread[b] / all_spread + EVEN / sum(open_)
            far = max(
                self.weight[b] * (1.0 - rate[b]) / chance[b] for b, n in enumerate(open_) if n
            )
            least = self.most + 1.0 - self.refusals()
            known = max(least - sum(self.weight_of(k) for k in self.waiting), 0.0)
            bet = 1.0 / max(expected + far - known, LEAST_REACH)
            spare_then = max(least, 0.0) + max(finds - sum(self.cost), 0.0) - expected
            size = self.squares / self.shares if self.costs.ends is not None else 1.0
            fraction = own_fraction(rate, chance, left, bet, spare_then, self.weight, size)
        return {
            "left": left,
            "forecast": forecast,
            "flat": flat,
            "rate": rate,
            "value": value,
            "targets": targets,
            "correct": correct,
            "chance": chance,
            "expected": expected,
            "bet": bet,
            "fraction": fraction,
        }

    def corrections(self, left: list[float], rates: list[float]) -> tuple[list[bool], float, float]:
        """Bins to correct whole, their share of the checks, errors found in the end."""
        rates = [0.98 if sure else r for sure, r in zip(self.sure, rates, strict=True)]
        spare = float(max(self.most - self.refusals(), 0))
        wrongs = [n * r for n, r in zip(left, rates, strict=True)]
        all_cost = sum(x * w for x, w in zip(wrongs, self.weight, strict=True))
        each = all_cost / sum(wrongs) if sum(wrongs) else 1.0
        need = self.need - max(self.evidence(self.products), 0.0) + MIXTURE
        need = max(need, LEAST_EVIDENCE)
        whole_, correction, finds = planned(left, rates, spare / each, need)
        whole_ = [all_ or sure for all_, sure in zip(whole_, self.sure, strict=True)]
        return whole_, correction, sum(self.cost) + each * finds

    def weight_of(self, place: int) -> int:
        """What the answer of a draw costs at most."""
        return int(self.weight[self.bin[self.draws[place]["task"]]])

    def refusals(self) -> int:
        """What the draws cost that got no label."""
        return sum(self.cost[place] for place in self.refused)

    def draw(self, event: dict[str, Any], seed: bytes | None) -> None:
        """Take a draw: as it must have been, and by the seed where that is shown."""
        place = len(self.draws)
        what = f"draw {place + 1}"
        require(place < self.tasks, f"{what}: no task is left")
        task = whole(event["draw"], f"{what}: task", 0, self.tasks - 1)
        require(type(event["correction"]) is bool, f"{what}: correction is to be true or false")
        now, bin_, correction = self.look(), self.bin[task], event["correction"]
        require(task in self.urns[bin_], f"{what}: the task was drawn before")
        if correction:
            require(now["correct"] > 0, f"{what}: nothing was to be corrected")
            top = max(now["value"][b] for b in now["targets"])
            of = bin_ in now["targets"] and now["value"][bin_] >= top - CLOSE
            require(of, f"{what}: another bin was to be corrected")
        else:
            testable = now["correct"] < 1 and not self.sure[bin_] and now["chance"][bin_] > 0
            require(testable, f"{what}: it could not be tested")
        chance = 0.0 if correction else now["chance"][bin_]
        bet, fraction = (0.0, 0.0) if correction else (now["bet"], now["fraction"])
        rate = now["rate"][bin_] * self.weight[bin_]
        values = {"fraction": fraction, "rate": rate, "expected": now["expected"]}
        for name, value in {**values, "chance": chance, "bet": bet}.items():
            stated = number(event[name], f"{what}: {name}", 0, math.inf)
            near = abs(stated - value) <= CLOSE * max(1.0, abs(value))
            near = near and abs(stated - value) <= 1e-6 * abs(value)
            require(near, f"{what}: {name} is {stated!r} and must be {value!r}")
        if seed is not None:
            self.drawn_by(seed, place, task, correction, now)
        self.remove(task)
        self.waiting[place] = (now["forecast"], now["flat"])
        made = {"task": task, "correction": correction, "chance": chance, "bet": bet}
        self.draws.append({**made, **values})
        self.heard.append(None)
        self.cost.append(0)

    def drawn_by(
        self, seed: bytes, place: int, task: int, correction: bool, now: dict[str, Any]
    ) -> None:
        """Check that a draw is the seed's."""
        what = f"draw {place + 1}"
        words = hashlib.sha256(seed + place.to_bytes(8, "big")).digest()
        share, point = ((int.from_bytes(words[i : i + 8], "big") >> 11) / 2**53 for i in (0, 8))
        low = -CLOSE if correction else now["correct"] - CLOSE
        high = now["correct"] + CLOSE if correction else 1 + CLOSE
        require(
            low <= share <= high, f"{what}: the seed says to {'test' * correction or 'correct'}"
        )
        if not correction:
            mass = [n * q for n, q in zip(now["left"], now["chance"], strict=True)]
            edge = sum(mass[: self.bin[task]])
            low, high = edge - CLOSE, edge + mass[self.bin[task]] + CLOSE
            require(low <= point * sum(mass) <= high, f"{what}: the seed draws another bin")
        urn = self.urns[self.bin[task]]
        at = int.from_bytes(words[16:], "big") * len(urn) >> 128
        require(urn[at] == task, f"{what}: the seed draws another task")

    def remove(self, task: int) -> None:
        """Take a task from its urn: the last one takes its place."""
        urn = self.urns[self.bin[task]]
        at = urn.index(task)
        urn[at] = urn[-1]
        urn.pop()

    def hear(self, event: dict[str, Any], answers: list[str | None]) -> None:
        """Take the word of a draw."""
        place = whole(event["of"], "a word", 0, len(self.draws) - 1)
        word = event["word"]
        what = f"word of draw {place + 1}"
        require(word is None or type(word) is str, f"{what} is to be text or null")
        require(self.heard[place] is None, f"{what} comes twice")
        answer = answers[self.draws[place]["task"]]
        wrong = word is None or word != answer
        if word is None:
            self.refused.add(place)
        self.heard[place] = wrong
        self.cost[place] = self.costs.wrong(answer, word)
        bin_ = self.bin[self.draws[place]["task"]]
        forecast, flat = self.waiting.pop(place)
        share = self.costs.share(answer, wrong, self.cost[place])
        if not self.sure[bin_]:
            own = forecast[bin_]
            self.advantage += share * (math.log(own) - math.log(flat))
            self.advantage += (1.0 - share) * (math.log1p(-own) - math.log1p(-flat))
            self.shares, self.squares = self.shares + share, self.squares + share * share
        self.checked[bin_] += 1
        self.wrong[bin_] += share
        while self.counted < len(self.draws) and self.heard[self.counted] is not None:
            self.count()

    def count(self) -> None:
        """Let the next draw count for the evidence."""
        drawn, wrong = self.draws[self.counted], self.cost[self.counted]
        estimate = 0.0
        if not drawn["correction"]:
            estimate = self.finds + drawn["expected"] + (wrong - drawn["rate"]) / drawn["chance"]
        self.series.append((estimate, drawn["bet"], drawn["fraction"]))
        before = self.tested()
        self.finds += wrong
        self.corrected += wrong * (self.counted not in self.refused)
        self.unseen -= self.weight_of(self.counted)
        if self.tested() != before:
            self.products = self.product(self.tested())
        elif drawn["bet"]:
            step = drawn["bet"] * (before - estimate)
            fractions = [*FRACTIONS, drawn["fraction"]]
            self.products = [
                p + math.log1p(f * step) for p, f in zip(self.products, fractions, strict=True)
            ]
        self.counted += 1
        uncorrected = self.finds - self.corrected
        if uncorrected <= self.most:
            few = uncorrected + self.unseen <= self.most
            self.shown = self.shown or few or self.evidence(self.products) >= self.need

    def tested(self) -> int:
        """The least number of errors that means more than k wrong answers."""
        return max(self.most + 1 + self.corrected, self.finds)

    def supports(self, wrong: int) -> bool:
        """Whether more than some number of wrong answers is refuted by the draws that count."""
        uncorrected = self.finds - self.corrected
        if wrong < uncorrected:
            return False
        if wrong >= uncorrected + self.unseen:
            return True
        if self.shown and wrong >= self.most:
            return True
        if wrong + 1 + self.corrected < self.tested():
            return False
        return self.evidence(self.product(wrong + 1 + self.corrected)) >= self.need

    def certified_share(self) -> tuple[int, int]:
        """Answers of which something is certified, and how many of them may be wrong."""
        if not self.shown:
            return 0, 0
        low, high = -1, self.total
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.supports(middle) else (middle, high)
        return self.tasks, high


class Parts(Audit):
    """An audit of parts, the answers believed right first; its draws correct nothing unseen."""

    def __init__(self, start: dict[str, Any]) -> None:
        super().__init__(start)
        self.share = start["share"]
        sizes = [float(len(urn)) for urn in self.urns]
        whole_ = [sum(sizes[: b + 1]) for b in range(len(sizes))]
        least = min(SMALL, self.share) * self.tasks
        self.ends = [b for b, size in enumerate(whole_) if size >= least]
        self.size = [whole_[b] for b in self.ends]
        self.allowed = [
            float(math.floor(Fraction(repr(self.error)) * int(size))) for size in self.size
        ]
        self.part_products = [[0.0] * len(WEIGHTS) for _ in self.ends]
        self.finds_in, self.drawn_in = [0.0] * len(self.ends), [0.0] * len(self.ends)
        self.corrected_in = [0.0] * len(self.ends)
        self.refuted = [n <= k for n, k in zip(self.size, self.allowed, strict=True)]
        least = min(FIRST, self.share) * self.tasks
        self.main = next(d for d, size in enumerate(self.size) if size >= least)
        self.looks: list[dict[str, Any]] = []
        self.parts = 0
        self.advance()

    def corrections(self, left: list[float], _: list[float]) -> tuple[list[bool], float, float]:
        """None: a part is of answers as they were."""
        return [False] * len(left), 0.0, 0.0

    def nexts(self) -> list[int]:
        """Parts that could be shown next."""
        return sorted({self.parts, max(self.parts, self.main)})

    def needs(self, d: int) -> float:
        """What the evidence of a part is to reach, by its share of the risk."""
        own = OWN_RISK[0] * (d == 0) + OWN_RISK[1] * (d == self.main)
        while d and self.refuted[d - 1]:
            d -= 1
            own += OWN_RISK[0] * (d == 0) + OWN_RISK[1] * (d == self.main)
        return self.need - math.log(min(own, 1.0)) if own else math.inf

    def aims(self, left: list[float], total: list[float]) -> tuple[int, int]:
        """The part to show next, and the farthest to look at."""
        farthest, open_in, near = -1, [], []
        for d, end in enumerate(self.ends):
            open_in.append(
                any(n and not s for n, s in zip(left[: end + 1], self.sure, strict=False))
            )
            rate = max(total[d] / self.size[d], 1e-9)
            asked = min((self.allowed[d] + 1) / self.size[d], 1 - 1e-9)
            gap = 0.0
            if rate < asked:
                gap = rate * math.log(rate / asked)
                gap += (1.0 - rate) * math.log((1.0 - rate) / (1.0 - asked))
            near.append(self.need <= gap * (REACH + sum(self.checked)))
            farthest = d if near[d] else farthest
        nexts = [d for d in self.nexts() if open_in[d] and self.finds_in[d] <= self.allowed[d]]
        hopeful = [d for d in nexts if near[d]]
        some = [d for d in range(self.parts, len(self.ends)) if open_in[d]]
        require(some, "a draw when nothing was left to test")
        first = hopeful[-1] if hopeful else nexts[0] if nexts else some[0]
        return first, max(first, farthest)

    def look(self) -> dict[str, Any]:
        """How the next task is drawn, and what it says of each part."""
        now = super().look()
        left, rate, bins = now["left"], now["rate"], range(len(self.sure))
        heard = [sum(self.wrong[: end + 1]) for end in self.ends]
        expected = [
            sum(left[b] * (1.0 if self.sure[b] else rate[b]) for b in bins[: end + 1])
            for end in self.ends
        ]
        total = [h + e for h, e in zip(heard, expected, strict=True)]
        first, farthest = self.aims(left, total)
        chance = [0.0] * len(left)
        for part, weight in ((first, NEAREST), (farthest, 1.0 - NEAREST)):
            open_ = [b for b in bins[: self.ends[part] + 1] if not self.sure[b]]
            spread = {b: math.sqrt(rate[b] * (1.0 - rate[b])) for b in open_}
            spreads = sum(left[b] * spread[b] for b in open_)
            tasks = sum(left[b] for b in open_)
            for b in open_:
                chance[b] += weight * ((1.0 - EVEN) * spread[b] / spreads + EVEN / tasks)
        terms = []
        for d, end in enumerate(self.ends):
            open_ = [b for b in bins[: end + 1] if left[b] and not self.sure[b]]
            mass = sum(left[b] * chance[b] for b in open_)
            bet, fraction = 0.0, 0.5
            if open_ and all(chance[b] for b in open_):
                far = max((1.0 - rate[b]) * mass / chance[b] for b in open_)
                least = max(self.allowed[d] + 1.0 - heard[d], 0.0)
                known = max(least - (len(self.draws) - sum(self.checked)), 0.0)
                bet = 1.0 / max(expected[d] - known + far, LEAST_REACH)
                spare = least - expected[d]
                own = ([x[b] for b in open_] for x in (rate, chance, left))
                rates, chances, counts = own
                inner = [q / mass for q in chances]
                fraction = own_fraction(rates, inner, counts, bet, spare)
            terms.append({"expected": expected[d], "mass": mass, "bet": bet, "fraction": fraction})
        now_at = terms[min(self.parts, len(terms) - 1)]
        more = {name: now_at[name] for name in ("expected", "bet", "fraction")}
        return {**now, **more, "chance": chance, "correct": 0.0, "targets": [], "terms": terms}

    def draw(self, event: dict[str, Any], seed: bytes | None) -> None:
        """Take a draw, none once all was shown that can be."""
        over = self.parts == len(self.ends) or self.certified_share()[0] >= self.share * self.tasks
        require(not over, "a draw after the end")
        self.looks.append(self.look())
        super().draw(event, seed)

    def count(self) -> None:
        """Let the next draw count for the parts that it is in."""
        drawn, wrong = self.draws[self.counted], bool(self.heard[self.counted])
        bin_, terms = self.bin[drawn["task"]], self.looks[self.counted]["terms"]
        for d, end in enumerate(self.ends):
            if bin_ > end:
                continue
            term = terms[d]
            if term["bet"] and self.finds_in[d] <= self.allowed[d]:
                estimate = self.finds_in[d] + term["expected"]
                estimate += (wrong - drawn["rate"]) * term["mass"] / drawn["chance"]
                step = term["bet"] * (self.allowed[d] + 1.0 - estimate)
                fractions = [*FRACTIONS, term["fraction"]]
                self.part_products[d] = [
                    p + math.log1p(f * step)
                    for p, f in zip(self.part_products[d], fractions, strict=True)
                ]
            self.drawn_in[d] += 1
            self.finds_in[d] += wrong
            self.corrected_in[d] += wrong and self.counted not in self.refused
        self.finds += wrong
        self.corrected += wrong and self.counted not in self.refused
        self.counted += 1
        self.advance()

    def advance(self) -> None:
        """See which parts are shown by now."""
        for d in range(len(self.ends)):
            if self.finds_in[d] <= self.allowed[d]:
                few = self.finds_in[d] + self.size[d] - self.drawn_in[d] <= self.allowed[d]
                self.refuted[d] = self.refuted[d] or few
        for d in range(len(self.ends)):  # in their order: one that is shown hands its risk on
            if self.finds_in[d] <= self.allowed[d] and not self.refuted[d]:
                self.refuted[d] = self.evidence(self.part_products[d]) >= self.needs(d)
            if self.refuted[d]:
                self.parts = max(self.parts, d + 1)
        self.shown = self.certified_share()[0] >= self.share * self.tasks
        self.products = self.part_products[min(self.parts, len(self.ends) - 1)]

    def certified_share(self) -> tuple[int, int]:
        """Answers that are certified, and how many of them may be wrong."""
        if not self.parts:
            return 0, 0
        part = self.parts - 1
        return int(self.size[part]), int(self.allowed[part] - self.corrected_in[part])

    def supports(self, wrong: int) -> bool:
        """Whether more wrong answers in all are refuted: the rest may be, where unchecked."""
        tasks, most = self.certified_share()
        part = self.parts - 1
        inside = self.drawn_in[part] if self.parts else 0.0
        refused = self.finds - self.corrected
        if self.parts:
            refused -= int(self.finds_in[part] - self.corrected_in[part])
        return wrong >= most + (self.tasks - tasks) - (self.counted - inside) + refused


def events(raw: dict[str, Any]) -> Iterator[tuple[bool, dict[str, Any]]]:
    """Draws (True) and words (False), in their order."""
    for event in raw["events"]:
        is_draw = type(event) is dict and "draw" in event
        yield is_draw, keys(event, DRAWS if is_draw else WORDS, "event")


def check(content: bytes) -> str:
    """Recompute a certificate; a sentence of what holds.

    Raises
    ------
    WrongError
        Why it does not.
    """
    raw = read(content)
    start, claim = raw["start"], raw["claim"]
    audit = Audit(start) if start["share"] is None else Parts(start)
    seed = None if raw["seed"] is None else bytes.fromhex(raw["seed"])
    for is_draw, event in events(raw):
        if is_draw:
            audit.draw(event, seed)
        else:
            audit.hear(event, start["answers"])
    heard = [wrong for wrong in audit.heard if wrong is not None]
    require(claim["tasks"] == audit.tasks, "claim: the number of tasks differs")
    require(claim["checks"] == len(heard), "claim: the number of checks differs")
    require(claim["errors"] == sum(heard), "claim: the number of errors differs")
    corrected = sum(heard) - len(audit.refused)
    require(claim["corrected"] == corrected, "claim: the number of corrections differs")
    evidence = audit.evidence(audit.products)
    near = abs(claim["evidence"] - evidence) <= CLOSE * max(1.0, abs(evidence))
    require(near, f"claim: the evidence is {evidence!r}")
    require(audit.shown or not claim["certified"], "claim: the draws do not certify it")
    by_cost = audit.costs.stated
    inside, over = (pair[by_cost] for pair in OF_LOSS.items())
    require(audit.supports(claim[over]), "claim: the draws do not refute more wrong answers")
    if claim["certified"] and start["share"] is None:
        require(claim[over] <= audit.most, "claim: certified, and more may be wrong")
    tasks, most = audit.certified_share()
    require(claim["certified_tasks"] <= tasks, "claim: the draws certify fewer answers")
    whole_ = claim["certified_tasks"] == tasks and claim[inside] >= most
    whole_ = whole_ or claim["certified_tasks"] == claim[inside] == 0
    require(whole_, "claim: more of the certified answers may be wrong")
    how = "each draw is the seed's" if seed else "the seed is not shown: draws are taken as stated"
    if start["share"] is not None:
        return (
            f"of {claim['certified_tasks']} of {audit.tasks} answers, those believed right first, "
            f"at most {claim['certified_wrong']} are wrong, with {100 * (1 - audit.risk):g} % "
            f"confidence, after {len(heard)} checks; "
            f"{'certified' if claim['certified'] else 'not certified'}; {how}"
        )
    if "scale" in start:
        low, high = start["scale"]
        off = claim[over] / audit.costs.one / audit.tasks
        return (
            f"{audit.tasks} ratings are off by at most {off:.4g} of the scale from {low:g} to "
            f"{high:g}, {off * (high - low):.4g} points, in the mean; with "
            f"{100 * (1 - audit.risk):g} % confidence, after {len(heard)} checks, of which "
            f"{corrected} were corrected; {'certified' if claim['certified'] else 'not certified'}"
            f"; {how}"
        )
    if by_cost:
        loss = ", ".join(f"{name} {cost:g}" for name, cost in start["loss"].items())
        return (
            f"{audit.tasks} answers cost at most {claim[over] / audit.costs.one:g} in all, "
            f"{claim[over] / audit.costs.one / audit.tasks:.4g} in the mean, where missing a class "
            f"costs: {loss}, any other 1; with {100 * (1 - audit.risk):g} % confidence, after "
            f"{len(heard)} checks, of which {corrected} were corrected; "
            f"{'certified' if claim['certified'] else 'not certified'}; {how}"
        )
    return (
        f"at most {claim['most_wrong']} of {audit.tasks} answers are wrong, with "
        f"{100 * (1 - audit.risk):g} % confidence, after {len(heard)} checks, of which {corrected} "
        f"were corrected; {'certified' if claim['certified'] else 'not certified'}; {how}"
    )


def line_of(content: bytes) -> tuple[bool, str]:
    """Whether a certificate holds, and the line that is printed of it."""
    try:
        return True, f"holds: {check(content)}"
    except WrongError as error:
        words = str(error)
    except (ArithmeticError, ValueError, TypeError, LookupError, RecursionError) as error:
        words = f"cannot be recomputed ({type(error).__name__})"
    except MemoryError:
        words = "is too large"
    return False, f"WRONG: {' '.join(words.split())[:300]}"


def file_content(file: str) -> bytes:
    """Read a file; what is none, a pipe say, would be waited for."""
    path = Path(file)
    if path.exists() and not path.is_file():
        raise OSError(EINVAL, "no file but a folder, pipe or device")
    return path.read_bytes()


def main(files: list[str]) -> int:
    """Check files; the exit code."""
    good = True
    for file in files:
        try:
            holds, words = line_of(file_content(file))
        except OSError as error:
            holds, words = False, f"WRONG: cannot be read ({error.strerror})"
        except ValueError:
            holds, words = False, "WRONG: is no name of a file"
        print(words if len(files) == 1 else f"{file}: {words}")
        good = good and holds
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
