"""Draw the instances of `index.csv` that are drawn, from their names alone.

    python generate.py [NAME ...]

writes NAME.json beside this file, byte for byte the same with every Python: all that is random
comes from `random.Random(NAME).random()`. Without names it writes all of them. Standard library.
"""

import json
import math
import random
import sys
from pathlib import Path

SPREAD = (0.6, 0.95)
"""Skills uniform between two ends; a list holds the values to choose among."""
HALF, THREE = [0.5, 0.9], [0.5, 0.7, 0.9]


GAINS = {
    "bhattacharyya": (lambda p: -math.log(2 * math.sqrt(p * (1 - p))), lambda e: -math.log(2 * e)),
    "information": (
        lambda p: (2 * p - 1) * math.log(p / (1 - p)),
        lambda e: (1 - 2 * e) * math.log((1 - e) / e),
    ),
}
"""What a label of skill p is worth and what an error ε asks for, in nats, to six digits."""


def family(name, *specs):
    """Name the instances of one family."""
    return {spec.pop("name"): {"family": name, **spec} for spec in specs}


def of(name, tasks, workers, capacity, epsilon, skills=SPREAD, types=3, **more):
    """Describe an instance; `types` None: every pair of task and worker has a skill of its own.

    `price`: whole (1 to 5, higher with skill), worker (one to three, by worker), cents
    (0.50 to 2.00). `share` of the pairs that may be assigned; `least`, `most`: labels of a task;
    `gain`: see `crowd_models.gains`.
    """
    return {
        "name": name,
        "tasks": tasks,
        "workers": workers,
        "capacity": capacity,
        "epsilon": epsilon,
        "skills": skills,
        "types": types,
        **more,
    }


SPECS = {
    **family(
        "toy",
        of("toy-5x4", 5, 4, 3, 0.7, types=2),
        of("toy-6x5-cents", 6, 5, 4, 0.7, types=None, price="cents"),
        of("toy-8x6-mask", 8, 6, 5, 0.7, types=2, share=0.8),
    ),
    **family(
        "hjv",
        of("hjv-one-type", 1000, 300, 200, 0.1, [0.6414], types=1),
        of("hjv-two-types", 1000, 300, 200, 0.2, [0.5, 0.7], types=1),
        of("hjv-hammers-0.1", 1000, 300, 200, 0.1, HALF),
        of("hjv-hammers-0.01", 1000, 300, 200, 0.01, HALF),
        of("hjv-hammers-0.001", 1000, 300, 200, 0.001, HALF),
        of("hjv-three-0.1", 1000, 300, 200, 0.1, THREE),
        of("hjv-three-0.01", 1000, 300, 200, 0.01, THREE),
        of("hjv-spread-0.1", 1000, 300, 200, 0.1),
        of("hjv-spread-0.01", 1000, 300, 200, 0.01),
        of("hjv-spread-0.001", 1000, 300, 200, 0.001),
    ),
    **family(
        "tight",
        of("tight-hammers", 200, 40, 92, 0.1, HALF, types=2),
        of("tight-three", 150, 40, 70, 0.1, THREE, types=1),
        of("tight-spread-60x20", 60, 20, 46, 0.1, types=1),
        of("tight-spread-200x40", 200, 40, 68, 0.1),
        of("tight-spread-300x60", 300, 60, 66, 0.1, types=2),
    ),
    **family(
        "mask",
        of("mask-0.5-120x40", 120, 40, 80, 0.25, share=0.5),
        of("mask-0.3-300x60", 300, 60, 120, 0.25, types=5, share=0.3),
        of("mask-0.6-hammers", 300, 60, 100, 0.05, HALF, types=4, share=0.6),
        of("mask-pairs-60x40", 60, 40, 20, 0.2, types=None, share=0.5),
        of("mask-pairs-100x60-whole", 100, 60, 20, 0.1, types=None, share=0.4, price="whole"),
        of("mask-cents-1000x300", 1000, 300, 60, 0.01, types=12, share=0.4, price="cents"),
        of("mask-worker-500x100", 500, 100, 70, 0.05, types=5, share=0.5, price="worker"),
    ),
    **family(
        "priced",
        of("priced-whole-120x40", 120, 40, 60, 0.1, price="whole"),
        of("priced-whole-300x60", 300, 60, 80, 0.05, price="whole"),
        of("priced-whole-1000x300", 1000, 300, 100, 0.01, price="whole"),
        of("priced-worker-300x60", 300, 60, 80, 0.1, price="worker"),
        of("priced-worker-1000x300", 1000, 300, 100, 0.05, THREE, price="worker"),
        of("priced-cents-120x40", 120, 40, 60, 0.1, types=2, price="cents"),
        of("priced-cents-300x60", 300, 60, 64, 0.05, price="cents"),
        of("priced-cents-500x100", 500, 100, 70, 0.05, price="cents"),
        of("priced-cents-1000x300", 1000, 300, 90, 0.001, price="cents"),
        of("priced-worker-500x100", 500, 100, 70, 0.05, (0.55, 0.99), types=4, price="worker"),
    ),
    **family(
        "pairs",
        of("pairs-30x20", 30, 20, 20, 0.2, types=None),
        of("pairs-60x30", 60, 30, 30, 0.1, types=None),
        of("pairs-100x50", 100, 50, 20, 0.1, types=None),
        of("pairs-200x100", 200, 100, 18, 0.1, (0.5, 1.0), types=None),
        of("pairs-300x150", 300, 150, 32, 0.01, (0.5, 1.0), types=None),
    ),
    **family(
        "priced-pairs",
        of("priced-pairs-20x15", 20, 15, 14, 0.2, types=None, price="cents"),
        of("priced-pairs-40x25", 40, 25, 20, 0.1, types=None, price="cents"),
        of("priced-pairs-60x30", 60, 30, 20, 0.1, (0.5, 1.0), types=None, price="cents"),
        of("priced-pairs-100x50", 100, 50, 18, 0.1, (0.5, 1.0), types=None, price="cents"),
        of("priced-pairs-100x50-whole", 100, 50, 18, 0.1, (0.5, 1.0), types=None, price="whole"),
        of("priced-pairs-200x100", 200, 100, 18, 0.1, (0.5, 1.0), types=None, price="cents"),
        of("priced-pairs-300x150", 300, 150, 18, 0.1, (0.5, 1.0), types=None, price="cents"),
        of("priced-pairs-600x200", 600, 200, 27, 0.1, (0.5, 1.0), types=None, price="cents"),
        of("priced-pairs-1000x300", 1000, 300, 40, 0.1, (0.5, 1.0), types=None, price="cents"),
    ),
    **family(
        "types",
        of("types-5-mixed", 200, 50, 60, [0.2, 0.1, 0.05], types=5),
        of("types-10-hammers", 300, 60, 80, 0.05, HALF, types=10),
        of("types-10-spread", 300, 60, 36, 0.1, types=10),
        of("types-20-mixed", 400, 80, 80, [0.3, 0.1, 0.03], THREE, types=20),
        of("types-50-spread", 500, 100, 36, 0.1, types=50),
        of("types-8-cents", 800, 200, 60, [0.05, 0.01], types=8, price="cents"),
        of("types-20-cents", 1000, 300, 60, [0.1, 0.01, 0.001], types=20, price="cents"),
    ),
    **family(
        "bhattacharyya",
        of("bhattacharyya-hammers", 1000, 300, 200, 0.01, HALF, gain="bhattacharyya"),
        of("bhattacharyya-three", 1000, 300, 100, 0.01, THREE, gain="bhattacharyya"),
        of("bhattacharyya-spread", 1000, 300, 100, 0.001, gain="bhattacharyya"),
        of("bhattacharyya-whole", 300, 60, 60, 0.01, price="whole", gain="bhattacharyya"),
        of("bhattacharyya-pairs", 60, 30, 20, 0.05, types=None, gain="bhattacharyya"),
        of("bhattacharyya-cents-300x60", 300, 60, 60, 0.01, price="cents", gain="bhattacharyya"),
        of("bhattacharyya-cents", 1000, 300, 60, 0.001, price="cents", gain="bhattacharyya"),
    ),
    **family(
        "information",
        of("information-hammers", 1000, 300, 200, 0.05, HALF, gain="information"),
        of("information-spread", 999, 300, 60, 0.001, gain="information"),
        of("information-pairs", 60, 30, 20, 0.01, types=None, gain="information"),
        of("information-cents", 1000, 300, 60, 0.001, price="cents", gain="information"),
    ),
    **family(
        "limits",
        of("limits-whole-40x16", 40, 16, 24, [0.4, 0.2], price="whole", least=[4, 6], most=[5, 6]),
        of(
            "limits-cents-100x40", 100, 40, 24, [0.4, 0.2], price="cents", least=[4, 6], most=[5, 6]
        ),
        of(
            "limits-cents-300x60", 300, 60, 50, [0.2, 0.1], price="cents", least=[6, 7], most=[9, 8]
        ),
        of(
            "limits-cents-200x80", 200, 80, 24, [0.4, 0.2], price="cents", least=[4, 6], most=[5, 6]
        ),
        of(
            "limits-whole-1000x300",
            1000,
            300,
            50,
            [0.1, 0.05],
            price="whole",
            least=[6, 7],
            most=[10, 9],
        ),
    ),
    **family(
        "scale",
        of("scale-1000000x100000", 10**6, 10**5, 100, 0.05, types=10, kinds=10),
    ),
}


def draw(name):
    """Draw an instance: the fields of its file."""
    spec, chance = SPECS[name], random.Random(name).random
    by_class, types = "kinds" in spec, spec["types"]
    rows, columns = types or spec["tasks"], spec.get("kinds", spec["workers"])
    skill = [[_skill(spec["skills"], chance()) for _ in range(columns)] for _ in range(rows)]
    gain, epsilon = spec.get("gain", "hoeffding"), spec["epsilon"]
    each = {field: spec[field] for field in ("epsilon", "least", "most") if field in spec}
    for field, value in each.items():
        if isinstance(value, list):
            each[field] = [value[i % len(value)] for i in range(spec["tasks"])]
    found = {"skill": skill, **each}
    if gain in GAINS:
        worth, need = GAINS[gain]
        quality = [[round(worth(p), 6) + 0.0 for p in row] for row in skill]
        found = {"quality": quality, "requirement": round(need(epsilon), 6)}
    found["capacity"] = spec["capacity"]
    if gain != "hoeffding":
        found["gain"] = gain
    price = spec.get("price")
    if price == "whole":
        found["cost"] = [
            [1 + math.floor(4 * (2 * p - 1) ** 2 + chance()) for p in row] for row in skill
        ]
    elif price == "cents":
        found["cost"] = [[math.floor(50 + 151 * chance()) / 100 for _ in row] for row in skill]
    elif price == "worker":
        found["cost"] = [1 + math.floor(3 * chance()) for _ in range(columns)]
    if "share" in spec:
        found["available"] = [[int(chance() < spec["share"]) for _ in row] for row in skill]
    if by_class:
        found["tasks"] = [spec["tasks"] // rows] * rows
        found["workers"] = [spec["workers"] // columns] * columns
    elif types:
        found["task_types"] = [i % types for i in range(spec["tasks"])]
        for field in ("skill", "quality", "cost", "available"):
            if isinstance(found.get(field, [0])[0], list):
                found[field] = {str(kind): row for kind, row in enumerate(found[field])}
    return found


def _skill(among, chance):
    if isinstance(among, list):
        return among[math.floor(chance * len(among))]
    return round(among[0] + (among[1] - among[0]) * chance, 3)


def text(name):
    """The file of an instance, a line a field."""
    lines = (
        f'"{field}":{json.dumps(value, separators=(",", ":"))}'
        for field, value in draw(name).items()
    )
    return "{" + ",\n".join(lines) + "}\n"


if __name__ == "__main__":
    for each in sys.argv[1:] or SPECS:
        if each not in SPECS:
            sys.exit(f"{each} is not drawn: give some of {', '.join(SPECS)}")
        Path(__file__).with_name(f"{each}.json").write_text(text(each), encoding="utf-8")
