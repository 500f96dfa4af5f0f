"""Problem files with one thing wrong each, and what must be said of it.

`tests/core/cli` runs the command on the same table.
"""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import numpy as np

GOOD: dict[str, Any] = {
    "quality": [[0.5, 0.6, 0.7], [0.4, 0.3, 0.9]],
    "capacity": 2,
    "epsilon": 0.6,
}
TYPED: dict[str, Any] = {
    "skill": {"text": [0.9, 0.8, 0.7], "image": [0.6, 0.9, 0.8]},
    "task_types": ["text", "image", "text"],
    "capacity": [3, 3, 2],
    "epsilon": 0.65,
}


def changed(base: dict[str, Any], **fields: Any) -> bytes:
    """Fields replaced; those set to `...` left out."""
    merged = {**base, **fields}
    return json.dumps({key: value for key, value in merged.items() if value is not ...}).encode()


def archive(**arrays: Any) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def zipped(name: str, content: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr(name, content)
    return buffer.getvalue()


Q = np.array(GOOD["quality"])
NAN, INF = float("nan"), float("inf")

BAD: dict[str, tuple[str, bytes, str]] = {
    # What the file is.
    "empty": ("p.json", b"", "the file is empty"),
    "malformed": ("p.json", b'{"quality": [[1,\n 0.5]', "line 2, column 6"),
    "not utf-8": ("p.json", b'{"quality": "\xe9"}', "not UTF-8 text (byte 13): save it as UTF-8"),
    "too deep": ("p.json", b"[" * 100_000, "nested too deeply"),
    "key twice": (
        "p.json",
        b'{"capacity": 1, "capacity": 2}',
        "key 'capacity' appears twice: keep one",
    ),
    # Which fields it has.
    "unknown key": (
        "p.json",
        changed(GOOD, capcity=3),
        "key 'capcity' is unknown: did you mean 'capacity'?",
    ),
    "both qualities": ("p.json", changed(GOOD, skill=[[1]]), "quality and skill are both given"),
    "no capacity": ("p.json", changed(GOOD, capacity=...), "capacity is missing: give one number"),
    # quality and skill
    "ragged": (
        "p.json",
        changed(GOOD, quality=[[0.5, 0.5], [0.5]]),
        "quality has rows of unequal length: give a list of rows",
    ),
    "true entry": (
        "p.json",
        changed(GOOD, quality=[[0.5, True]]),
        "quality[0][1]: expected float, got bool: give",
    ),
    "quality range": (
        "p.json",
        changed(GOOD, quality=[[0.5, 1.5]]),
        "quality[0, 1] is 1.5: a quality (2p−1)² lies between 0 and 1",
    ),
    "skill range": (
        "p.json",
        changed(GOOD, quality=..., skill=[[0.5, -0.1]]),
        "skill[0, 1] is -0.1: a skill is the probability of a right label",
    ),
    # task_types
    "types missing": (
        "p.json",
        changed(TYPED, task_types=...),
        "skill goes by task type, but task_types is missing",
    ),
    "unknown type": (
        "p.json",
        changed(TYPED, task_types=["text", "video"]),
        "task_types[1] is 'video', for which skill has no row: use 'text', 'image'",
    ),
    # capacity, epsilon, requirement
    # cost, available
    "cost negative": (
        "p.json",
        changed(GOOD, cost=[[1, 1, 1], [1, 1, -1]]),
        "cost[1, 2] is -1: a price is 0 or more",
    ),
    # .npz
    "npz garbage": ("p.npz", b"PK\x03\x04 but no archive", "the file is damaged or not a .npz"),
    "npz objects": (
        "p.npz",
        archive(quality=Q, capacity=1, epsilon=0.5, task_types=np.array(["a", None])),
        "array 'task_types' holds Python objects: write numbers, or text for task_types",
    ),
    "npz member": ("p.npz", zipped("quality", b"no array"), "'quality' is not an array"),
}
