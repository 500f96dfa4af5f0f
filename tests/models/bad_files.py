"""Problem files with one thing wrong each, and what must be said of it.

`tests/cli` runs the command on the same table.
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


def single_array() -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.ones(3))
    return buffer.getvalue()


Q = np.array(GOOD["quality"])
NAN, INF = float("nan"), float("inf")

BAD: dict[str, tuple[str, bytes, str]] = {
    # What the file is.
    "empty": ("p.json", b"", "the file is empty"),
    "other kind": ("p.yaml", b"quality: 1", "unknown kind: give .json or .npz"),
    "malformed": ("p.json", b'{"quality": [[1,\n 0.5]', "line 2, column 6"),
    "trailing comma": ("p.json", b'{"capacity": 1,}', "not JSON at line 1, column"),
    "two documents": ("p.json", b"{} {}", "not JSON at line 1, column 4: Extra data"),
    "not utf-8": ("p.json", b'{"quality": "\xe9"}', "not UTF-8 text (byte 13): save it as UTF-8"),
    "utf-16": ("p.json", "{}".encode("utf-16"), "not UTF-8 text (byte 0)"),
    "a list": ("p.json", b"[1, 2]", "holds a list: give an object with quality"),
    "null": ("p.json", b"null", "holds null: give an object"),
    "too deep": ("p.json", b"[" * 100_000, "nested too deeply"),
    "endless digits": ("p.json", b'{"capacity": ' + b"9" * 5000 + b"}", "thousands of digits"),
    "key twice": (
        "p.json", b'{"capacity": 1, "capacity": 2}', "key 'capacity' appears twice: keep one",
    ),
    # Which fields it has.
    "unknown key": (
        "p.json", changed(GOOD, capcity=3), "key 'capcity' is unknown: did you mean 'capacity'?",
    ),
    "far key": ("p.json", changed(GOOD, zzz=3), "key 'zzz' is unknown: use quality, skill"),
    "no quality": ("p.json", changed(GOOD, quality=...), "quality is missing: give quality or s"),
    "both qualities": ("p.json", changed(GOOD, skill=[[1]]), "quality and skill are both given"),
    "no epsilon": ("p.json", changed(GOOD, epsilon=...), "epsilon is missing: give epsilon or r"),
    "both levels": ("p.json", changed(GOOD, requirement=1), "epsilon and requirement are both"),
    "no capacity": ("p.json", changed(GOOD, capacity=...), "capacity is missing: give one number"),
    # quality and skill
    "quality text": ("p.json", changed(GOOD, quality="high"), "quality is the text 'high': give"),
    "quality number": ("p.json", changed(GOOD, quality=0.5), "quality is a number: give a list"),
    "quality null": ("p.json", changed(GOOD, quality=None), "quality is null: give a list of rows"),
    "quality empty": ("p.json", changed(GOOD, quality=[]), "quality is empty: give one row"),
    "no workers": ("p.json", changed(GOOD, quality=[[], []]), "quality has shape (2, 0)"),
    "flat": ("p.json", changed(GOOD, quality=[0.5, 0.6]), "quality[0] is a number: give a list"),
    "ragged": (
        "p.json", changed(GOOD, quality=[[0.5, 0.5], [0.5]]),
        "quality[1] has 1 entries and quality[0] has 2",
    ),
    "too nested": (
        "p.json", changed(GOOD, quality=[[[0.5], 0.5]]), "quality[0][0] is a list: give a number",
    ),
    "text entry": (
        "p.json", changed(GOOD, quality=[[0.5, "0.5"]]), "quality[0][1] is the text '0.5'",
    ),
    "null entry": ("p.json", changed(GOOD, quality=[[0.5, None]]), "quality[0][1] is null: give a"),
    "true entry": ("p.json", changed(GOOD, quality=[[0.5, True]]), "quality[0][1] is true: give a"),
    "nan": ("p.json", changed(GOOD, quality=[[0.5, NAN, 1]]), "quality[0, 1] is NaN: give a finit"),
    "infinity": ("p.json", changed(GOOD, quality=[[INF, 1]]), "quality[0, 0] is infinite: give a"),
    "overflow": (
        "p.json", b'{"quality": [[0.5, 1e999]], "capacity": 1, "epsilon": 0.5}',
        "quality[0, 1] is infinite: give a finite number",
    ),
    "huge integer": (
        "p.json", changed(GOOD, quality=[[0.5, 10**400]]), "quality[0][1] is too large",
    ),
    "quality range": (
        "p.json", changed(GOOD, quality=[[0.5, 1.5]]),
        "quality[0, 1] is 1.5: a quality (2p−1)² lies between 0 and 1",
    ),
    "skill range": (
        "p.json", changed(GOOD, quality=..., skill=[[0.5, -0.1]]),
        "skill[0, 1] is -0.1: a skill is the probability of a right label",
    ),
    "skill nan by type": (
        "p.json", changed(TYPED, skill={"text": [1, 1, 1], "image": [1, 1, NAN]}),
        "skill['image'][2] is NaN: give a finite number",
    ),
    "ragged by type": (
        "p.json", changed(TYPED, skill={"text": [1, 1], "image": [1]}),
        "skill['image'] has 1 entries and skill['text'] has 2",
    ),
    "number by type": (
        "p.json", changed(TYPED, skill={"text": 0.9, "image": 0.8}),
        "skill['text'] is a number: give a list, one entry for each worker",
    ),
    "no types at all": ("p.json", changed(TYPED, skill={}), "skill is empty: give one row"),
    # task_types
    "types missing": (
        "p.json", changed(TYPED, task_types=...),
        "skill goes by task type, but task_types is missing",
    ),
    "unknown type": (
        "p.json", changed(TYPED, task_types=["text", "video"]),
        "task_types[1] is 'video', for which skill has no row: use text, image",
    ),
    "types text": ("p.json", changed(TYPED, task_types="text"), "task_types is the text 'text'"),
    "type null": ("p.json", changed(TYPED, task_types=[None]), "task_types[0] is null: give text"),
    "type fraction": ("p.json", changed(TYPED, task_types=[0.5]), "task_types[0] is a number: giv"),
    "type true": ("p.json", changed(TYPED, task_types=[True]), "task_types[0] is true: give text"),
    "types length": (
        "p.json", changed(GOOD, task_types=["a"]), "task_types has shape (1,): give one type",
    ),
    "no tasks": ("p.json", changed(TYPED, task_types=[]), "quality has shape (0, 3)"),
    # capacity, epsilon, requirement
    "capacity nan": ("p.json", changed(GOOD, capacity=NAN), "capacity is NaN: give a finite"),
    "capacity negative": ("p.json", changed(GOOD, capacity=[1, -2, 1]), "capacity[1] is -2"),
    "capacity fraction": ("p.json", changed(GOOD, capacity=[1, 2, 1.5]), "capacity[2] is 1.5: giv"),
    "capacity length": (
        "p.json", changed(GOOD, capacity=[1, 2]),
        "capacity has 2 entries: give one number, or one for each worker (3)",
    ),
    "capacity text": ("p.json", changed(GOOD, capacity="2"), "capacity is the text '2': give one"),
    "capacity true": ("p.json", changed(GOOD, capacity=True), "capacity is true: give one number"),
    "capacity object": ("p.json", changed(GOOD, capacity={}), "capacity is an object: give one"),
    "capacity infinite": ("p.json", changed(GOOD, capacity=[1, INF, 1]), "capacity[1] is infinite"),
    "epsilon zero": ("p.json", changed(GOOD, epsilon=0), "epsilon is 0: the error must lie"),
    "epsilon one": ("p.json", changed(GOOD, epsilon=[0.5, 1]), "epsilon[1] is 1: the error must"),
    "epsilon nan": ("p.json", changed(GOOD, epsilon=[NAN, 0.5]), "epsilon[0] is NaN: give a fin"),
    "epsilon length": ("p.json", changed(GOOD, epsilon=[0.5]), "epsilon has 1 entries: give one"),
    "requirement negative": (
        "p.json", changed(GOOD, epsilon=..., requirement=[1, -1]), "requirement[1] is -1",
    ),
    "requirement infinite": (
        "p.json", changed(GOOD, epsilon=..., requirement=INF), "requirement is infinite",
    ),
    "requirement huge": (
        "p.json", changed(GOOD, epsilon=..., requirement=1e30), "requirement[0] is 1e+30",
    ),
    # cost, available
    "cost negative": (
        "p.json", changed(GOOD, cost=[[1, 1, 1], [1, 1, -1]]),
        "cost[1, 2] is -1: a price is 0 or more",
    ),
    "cost nan": ("p.json", changed(GOOD, cost=[1, NAN, 1]), "cost[1] is NaN: give a finite number"),
    "cost length": ("p.json", changed(GOOD, cost=[1, 1]), "cost has 2 entries: give one price"),
    "cost shape": ("p.json", changed(GOOD, cost=[[1, 1, 1]]), "cost has shape (1, 3): give one"),
    "cost scalar": ("p.json", changed(GOOD, cost=2), "cost is a number: give a list of rows"),
    "cost text entry": ("p.json", changed(GOOD, cost=["1", 1, 1]), "cost[0] is the text '1'"),
    "cost by type": (
        "p.json", changed(TYPED, cost={"text": [1, 1, 1]}),
        "task_types[1] is 'image', for which cost has no row: use text",
    ),
    "cost without types": ("p.json", changed(GOOD, cost={"a": [1]}), "cost goes by task type, but"),
    "available number": (
        "p.json", changed(GOOD, available=[[1, 1, 1], [1, 2, 1]]),
        "available[1, 1] is 2: give true or false, 1 or 0",
    ),
    "available text": (
        "p.json", changed(GOOD, available=[["yes", 1, 1], [1, 1, 1]]),
        "available[0][0] is the text 'yes': give true or false",
    ),
    "available by type": (
        "p.json", changed(TYPED, available={"text": [1, 1, 1], "image": [1, 0.5, 1]}),
        "available['image'][1] is 0.5: give true or false, 1 or 0",
    ),
    "available shape": (
        "p.json", changed(GOOD, available=[[True, True]]), "available has shape (1, 2)",
    ),
    # .npz
    "npz nan": (
        "p.npz", archive(quality=[[0.5, NAN]], capacity=1, epsilon=0.5), "quality[0, 1] is NaN",
    ),
    "npz infinity": (
        "p.npz", archive(quality=Q, capacity=1, epsilon=0.5, cost=Q * INF), "cost[0, 0] is infin",
    ),
    "npz garbage": ("p.npz", b"PK\x03\x04 but no archive", "the file is damaged or not a .npz"),
    "npz text": ("p.npz", b"quality,capacity\n", "the file is damaged or not a .npz"),
    "npz cut": (
        "p.npz", archive(quality=Q, capacity=1, epsilon=0.5)[:300], "the file is damaged or not",
    ),
    "npy": ("p.npz", single_array(), "a single array, not a .npz: write it with numpy.savez"),
    "npz objects": (
        "p.npz",
        archive(quality=Q, capacity=1, epsilon=0.5, task_types=np.array(["a", None])),
        "array 'task_types' holds Python objects: write numbers, or text for task_types",
    ),
    "npz member": ("p.npz", zipped("quality", b"no array"), "'quality' is not an array"),
    "npz broken member": (
        "p.npz", zipped("quality.npy", b"\x93NUMPY\x01\x00\x05\x00{"), "array 'quality' is damaged",
    ),
    "npz unknown": ("p.npz", archive(qualities=Q), "key 'qualities' is unknown: did you mean 'qua"),
    "npz text numbers": (
        "p.npz", archive(quality=Q.astype(str), capacity=1, epsilon=0.5), "quality is an array of",
    ),
    "npz vector": (
        "p.npz", archive(quality=Q[0], capacity=1, epsilon=0.5), "quality has shape (3,): give a m",
    ),
    "npz matrix capacity": (
        "p.npz", archive(quality=Q, capacity=Q, epsilon=0.5), "capacity has shape (2, 3): give a v",
    ),
    "npz types": (
        "p.npz", archive(quality=Q, capacity=1, epsilon=0.5, task_types=[0.5, 1.5]),
        "task_types is an array of float64, shape (2,): give text or whole numbers",
    ),
}  # fmt: skip
