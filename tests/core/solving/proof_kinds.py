"""Small problems of each kind whose sets of workers are listed, and their optima by enumeration."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import isqrt

import numpy as np

SKILLS = ("0.55", "0.6", "0.7", "0.75", "0.8", "0.9", "0.97", "0.3", "0.5", "1")
ERRORS = ("0.05", "0.1", "0.15", "0.2", "0.25", "0.3", "0.5")


def exact_error(rng):
    """An exact-error program as its file states it."""
    n, m = (int(rng.integers(low, high)) for low, high in ((1, 5), (2, 7)))
    raw = {
        "gain": "exact error",
        "skill": [[float(rng.choice(SKILLS)) for _ in range(m)] for _ in range(n)],
        "epsilon": [float(rng.choice(ERRORS)) for _ in range(n)],
        "capacity": rng.integers(0 if rng.random() < 0.2 else 1, n + 1, m).tolist(),
    }
    return beside(rng, raw, n, m)


def limited_error(rng):
    """The same, with limits of labels."""
    raw = exact_error(rng)
    return raw | limits(rng, len(raw["epsilon"]))


def limits(rng, n):
    least = rng.integers(0, 3, n).tolist()
    return {"least": least, "most": [few + int(rng.integers(0, 3)) for few in least]}


def several_classes(rng):
    """A joint program as its file states it: one task type or two, two to four classes."""
    n, m, classes = (int(rng.integers(low, high)) for low, high in ((1, 4), (2, 6), (2, 5)))
    types = sorted(rng.choice(["a", "b"], n).tolist())
    prior = rng.integers(1, 5, classes)
    raw = {
        "confusion": {t: [matrix(rng, classes) for _ in range(m)] for t in sorted(set(types))},
        "task_types": types,
        "prior": [float(Fraction(int(x), 20)) for x in prior],
        "epsilon": [round(float(rng.uniform(0.1, 0.6)), 2) for _ in range(n)],
        "capacity": rng.integers(0 if rng.random() < 0.2 else 1, n + 1, m).tolist(),
    }
    raw["prior"][0] = float(1 - sum(Fraction(int(x), 20) for x in prior[1:]))
    if rng.random() < 0.3:
        raw |= limits(rng, n)
    return beside(rng, raw, n, m)


def matrix(rng, classes):
    """A confusion matrix in hundredths."""
    rows = []
    for k in range(classes):
        right = int(rng.integers(30, 99))
        cuts = np.sort(rng.integers(0, 101 - right, classes - 2)) if classes > 2 else []
        others = np.diff([0, *cuts, 100 - right]).tolist()
        row = [*others[:k], right, *others[k:]]
        rows.append([x / 100 for x in row])
    return rows


def beside(rng, raw, n, m):
    if rng.random() < 0.5:
        raw["cost"] = (rng.integers(1, 9, (n, m)) / 2).tolist()
    if rng.random() < 0.3:
        raw["available"] = (rng.random((n, m)) < 0.85).tolist()
    return raw


def vote_error(skills):
    """How often the likelier of two classes is wrong, by all answers."""
    total = Fraction(0)
    for answer in product((0, 1), repeat=len(skills)):
        chance = [Fraction(1), Fraction(1)]
        for p, right in zip(skills, answer, strict=True):
            chance[0] *= p if right else 1 - p
            chance[1] *= 1 - p if right else p
        total += min(chance)
    return total / 2


def exactly(value):
    return Fraction(str(value))


def allowed_exact(raw):
    """Whether a set of workers keeps a task's error, by (task, workers)."""

    def allowed(i, those):
        skills = [exactly(raw["skill"][i][j]) for j in those]
        return vote_error(skills) <= exactly(raw["epsilon"][i])

    return allowed


def root(value, digits=60):
    """√ of a fraction, from below by less than 10^−60."""
    scale = 10**digits
    return Fraction(isqrt(value.numerator * scale**2 // value.denominator), scale)


def allowed_told(raw):
    """Whether a set of workers keeps a task's promise, by (task, workers)."""
    prior, kinds = [exactly(x) for x in raw["prior"]], raw["task_types"]
    pairs = [(k, other) for k in range(len(prior)) for other in range(k + 1, len(prior))]
    alike = {
        kind: [
            [
                sum(root(exactly(a) * exactly(b)) for a, b in zip(w[k], w[x], strict=True))
                for k, x in pairs
            ]
            for w in rows
        ]
        for kind, rows in raw["confusion"].items()
    }

    def allowed(i, those):
        total = Fraction(0)
        for at, (k, other) in enumerate(pairs):
            term = root(prior[k] * prior[other])
            for j in those:
                term *= alike[kinds[i]][j][at]
            total += term
        return total <= exactly(raw["epsilon"][i])

    return allowed


def sets(raw, allowed, i):
    """All sets of workers who may do a task and are enough, as tuples of 0 and 1."""
    m, n = len(raw["capacity"]), len(raw["epsilon"])
    able = raw.get("available", [[True] * m] * n)
    least, most = raw.get("least", [0] * n), raw.get("most", [m] * n)
    told = raw["confusion"][raw["task_types"][i]] if "confusion" in raw else None
    tells = [told is None or any(row != told[j][0] for row in told[j]) for j in range(m)]
    for pick in product((0, 1), repeat=m):
        those = [j for j in range(m) if pick[j]]
        may = all(able[i][j] and raw["capacity"][j] and tells[j] for j in those)
        if may and least[i] <= len(those) <= most[i] and allowed(i, those):
            yield pick


def cheapest(raw, allowed):
    """Least cost and its plan, by all plans, tasks one after another; None where there is none."""
    m, n = len(raw["capacity"]), len(raw["epsilon"])
    cost = raw.get("cost", [[1] * m] * n)
    states = {tuple(raw["capacity"]): (Fraction(0), [])}
    for i in range(n):
        after = {}
        for pick in sets(raw, allowed, i):
            those = [j for j in range(m) if pick[j]]
            price = sum((exactly(cost[i][j]) for j in those), Fraction(0))
            for room, (paid, plan) in states.items():
                left = tuple(r - on for r, on in zip(room, pick, strict=True))
                if min(left) >= 0 and (left not in after or paid + price < after[left][0]):
                    after[left] = (paid + price, [*plan, those])
        states = after
    return min(states.values(), default=None)


DRAWN = {
    "exact error": exact_error,
    "exact error, limits": limited_error,
    "several classes": several_classes,
}
ALLOWED = {
    "exact error": allowed_exact,
    "exact error, limits": allowed_exact,
    "several classes": allowed_told,
}


def selection(rng):
    """A selection within money as its file states it."""
    m = int(rng.integers(1, 9))
    gains = [int(x) / 20 for x in rng.integers(-4 if rng.random() < 0.5 else 1, 20, m)]
    raw = {"gains": gains, "budget": int(rng.integers(1, 7))}
    if rng.random() < 0.2:
        raw["gains"][int(rng.integers(m))] = None
    if rng.random() < 0.85:
        raw["costs"] = [int(x) / 10 for x in rng.integers(1, 40, m)]
        raw["money"] = int(rng.integers(3, 60)) / 10
    return raw


def crowded(rng):
    """A cover problem of too little capacity as its file states it; some tasks are alike."""
    n, m = int(rng.integers(2, 8)), int(rng.integers(2, 6))
    kinds = n if rng.random() < 0.6 else max(1, n // 2)
    of = np.sort(rng.integers(0, kinds, n))
    quality = rng.integers(5, 100, (kinds, m)) / 100
    share = rng.uniform(0.2, 0.95, kinds)
    need = np.round(share * quality.sum(axis=1), 2)
    raw = {
        "quality": quality[of].tolist(),
        "requirement": need[of].tolist(),
        "capacity": rng.integers(0, max(2, n // 2 + 1), m).tolist(),
    }
    if rng.random() < 0.3:
        raw["available"] = (rng.random((n, m)) < 0.85).tolist()
    elif rng.random() < 0.7:
        # Two crowds that lack a part of a label each: a task of either has to go.
        apart = (np.arange(n)[:, None] < n / 2) == (np.arange(m)[None, :] < m / 2)
        raw["available"] = (apart | (rng.random((n, m)) < 0.05)).tolist()
    return raw


def best_set(raw):
    """The signed square of the best score, and its set, by all sets; None where there is none."""
    m, best = len(raw["gains"]), None
    for pick in product((0, 1), repeat=m):
        those = [j for j in range(m) if pick[j]]
        if not 0 < len(those) <= raw["budget"] or any(raw["gains"][j] is None for j in those):
            continue
        spent = sum(exactly(raw["costs"][j]) for j in those) if "costs" in raw else 0
        gain = sum(exactly(raw["gains"][j]) for j in those)
        score = gain * abs(gain) / len(those)
        if spent <= exactly(raw.get("money", 0)) and (best is None or score > best[0]):
            best = score, those
    return best


def drawn(kind, rng):
    """A small problem of a kind, its cost and plan or None, and which sets are allowed."""
    raw = DRAWN[kind](rng)
    allowed = ALLOWED[kind](raw)
    return raw, cheapest(raw, allowed), allowed
