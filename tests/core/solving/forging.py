"""Forged files: lists, tables and texts with a few changes by chance."""

from __future__ import annotations

import copy

NASTY = [
    *(True, False, None, -1, 0, 1, 2, 3, 0.5, 1.0, 1.5, -0.0, 1e-320, 1e15, 1e100, 1e308),
    *(2**31, 2**63, -(2**63), 10**40, float("inf"), float("-inf"), float("nan")),
    *("4", "02", "٢", "２", "1/0", "1/3", "0x1", "1_0", " 1", "-1", "Infinity", "1e9", ""),
    *([], {}, [[]], [0], [True], [1.5], {"0": 1}, [[[[[[[[0]]]]]]]]),
]
"""What is put in the place of something."""


def places(value, path=()):
    """Every path into lists and tables."""
    yield path
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, inner in items:
        yield from places(inner, (*path, key))


def at(value, path):
    for key in path:
        value = value[key]
    return value


def other(rng, value, pool):
    """Something in the place of a value: near it, of another type, or from elsewhere."""
    kind = int(rng.choice(5, p=[0.5, 0.1, 0.15, 0.15, 0.1]))
    if kind == 0 and type(value) is int:
        return [value - 1, value + 1, value + 0.5, -1, -2, *range(5)][int(rng.integers(10))]
    if kind == 0 and type(value) is float:
        return [0.0, value + 1e-9, value - 0.3, value * 2, *rng.random(3).round(3).tolist()][
            int(rng.integers(7))
        ]
    if kind <= 1 and isinstance(value, (int, float)):
        return [str(value), float(value), bool(value), [value], -value][int(rng.integers(5))]
    if kind == 2 and isinstance(value, list) and value:
        order = rng.permutation(len(value)).tolist()
        return [value[k] for k in order]
    if kind == 3:
        elsewhere = pool[int(rng.integers(len(pool)))]
        every = list(places(elsewhere))
        return copy.deepcopy(at(elsewhere, every[int(rng.integers(len(every)))]))
    return copy.deepcopy(NASTY[int(rng.integers(len(NASTY)))])


def mutated(rng, value, pool):
    """A copy with one to three changes; `pool` has what may be spliced in."""
    value = copy.deepcopy(value)
    for _ in range(int(rng.choice([1, 1, 1, 2, 3]))):
        every = [path for path in places(value) if path]
        if not every:
            return value
        path = every[int(rng.integers(len(every)))]
        inside, key, kind = at(value, path[:-1]), path[-1], int(rng.integers(16))
        if kind == 0:
            del inside[key]
        elif kind == 1 and isinstance(inside, list):
            inside.insert(int(rng.integers(len(inside) + 1)), copy.deepcopy(inside[key]))
        elif kind == 2 and isinstance(inside, dict):
            names = [f"0{key}", f" {key}", f"{key}.0", "٢", "0", "1", "2", f"+{key}", f"-{key}"]
            inside[names[int(rng.integers(len(names)))]] = inside[key]
        elif kind == 4 and isinstance(inside, list) and type(inside[key]) is int:
            names = [str(inside[key]), f"0{inside[key]}", float(inside[key]), -1, -2, -3]
            inside.append(names[int(rng.integers(len(names)))])  # the same by another name
        elif kind == 3 and isinstance(inside, list) and len(inside) > 1:
            inside[key] = copy.deepcopy(inside[int(rng.integers(len(inside)))])
        else:
            inside[key] = other(rng, inside[key], pool)
    return value


def garbled(rng, text):
    """A text with a few characters changed, some of them digits of other scripts."""
    for _ in range(int(rng.integers(1, 4))):
        place = int(rng.integers(len(text)))
        char = ["٢", "9", "-", "e9", "e999999999", "1" * 5000, "[", "]", '"', ",", "", "\ufeff"][
            int(rng.integers(12))
        ]
        text = text[:place] + char + text[place + int(rng.integers(2)) :]
    return text
