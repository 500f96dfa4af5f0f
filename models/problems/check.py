"""Check every value and bound of `index.csv`: python check.py [NAME ...].

All is exact, no other code trusted. A task is done by `least` to `most` workers who gather its
requirement but for one part in 10⁹ (a logarithm is rounded). A solution lists the workers of each
task or, by class, [task class, {worker class: copies}, times] (members of a class take turns: no
task gets one twice, none more than her share). A bound is proven by any prices of workers u ≥ 0:
Σ_i P_i(u) − Σ_j M_j u_j, P_i(u) the least Σ_j (c_ij + u_j) of workers who do task i, rounded up to
a sum of prices. Status `checked`: that proves the index; `solver's word`: a solver claims more.
"""

import csv
import hashlib
import json
import math
import runpy
import sys
from collections import Counter, namedtuple
from fractions import Fraction
from functools import lru_cache
from pathlib import Path

HERE = Path(__file__).resolve().parent
STEPS, UNIT, MOST = 2**40, 10**12, 3 * 10**5  # requirement, price (rounded: lower bounds); pairs
Kind = namedtuple("Kind", "quality cost free need least most")  # of tasks alike in the file
Problem = namedtuple("Problem", "kinds of times copies capacity")  # `of`: key of each row's kind


def require(holds, words):
    if not holds:
        raise ValueError(words)


def read(content):
    raw = json.loads(content, parse_float=lru_cache(None)(Fraction))
    given, types = "quality" if "quality" in raw else "skill", raw.get("task_types")
    size, first = len(types or raw[given]), raw[given][str(types[0]) if types else 0]
    need, ones, kinds, of = raw.get("requirement", raw.get("epsilon")), [1] * len(first), {}, []
    need, limit = (
        x if isinstance(x, list) else [x] * len(y)
        for x, y in ((need, range(size)), (raw["capacity"], ones))
    )
    if "epsilon" in raw:
        require("gain" not in raw, "other gains state quality and requirement")
        need = [Fraction(-2 * math.log(epsilon)) for epsilon in need]
    for i in range(size):
        rows = []
        for field in (given, "cost", "available"):
            value = raw.get(field, ones)
            value = value[str(types[i])] if isinstance(value, dict) else value
            rows.append(value[i] if isinstance(value[0], list) else value)
        require({len(ones)} == set(map(len, rows)), f"task {i}: rows of unequal length")
        ends = (raw.get("least", 0), raw.get("most", math.inf))
        of.append((*map(id, rows), need[i], *(x[i] if isinstance(x, list) else x for x in ends)))
        if of[i] not in kinds:
            rows[0] = rows[0] if given == "quality" else [(2 * p - 1) ** 2 for p in rows[0]]
            kinds[of[i]] = Kind(*rows, need[i] * (1 - Fraction(1, 10**9)), *of[i][4:])
    return Problem(kinds, of, raw.get("tasks", [1] * size), raw.get("workers", ones), limit)


def cost_of(problem, told):
    singles = ([i, Counter(those), 1] for i, those in enumerate(told.get("labels", [])))
    done, used, cost = Counter(), Counter(), 0
    for i, workers, times in told.get("patterns") or singles:
        require(i >= 0 and times in range(problem.times[i] + 1), f"task {i} is done {times} times")
        kind, cover, done[i] = problem.kinds[problem.of[i]], 0, done[i] + times
        for j, copies in ((int(j), copies) for j, copies in workers.items()):
            require(j >= 0 and copies in range(problem.copies[j] + 1), f"task {i} has {j} twice")
            require(kind.free[j], f"task {i} is not for worker {j}")
            cover += kind.quality[j] * copies
            cost += kind.cost[j] * copies * times
            used[j] += copies * times
        require(cover >= kind.need, f"task {i} is not covered")
        require(kind.least <= sum(workers.values()) <= kind.most, f"task {i} has too many or few")
    require([done[i] for i in range(len(problem.of))] == problem.times, "tasks are left out")
    require(all(n <= problem.copies[j] * problem.capacity[j] for j, n in used.items()), "too many")
    return cost


def bound_of(problem, prices):
    u, tasks, costs = [Fraction(x) for x in prices], Counter(), {Fraction(0)}
    require(len(u) == len(problem.copies) and min(u) >= 0, "worker prices: one each, none below 0")
    for key, times in zip(problem.of, problem.times):
        tasks[key] += times
    bound = -sum(map(math.prod, zip(u, problem.copies, problem.capacity)))
    for key, kind in problem.kinds.items():
        lots, counts = Counter(), kind.least > 0 or kind.most < math.inf
        for q, c, free, charge, copies, most in zip(*kind[:3], u, *problem[3:]):
            if free:
                costs.add(Fraction(c))
                lots[q, c + charge] += copies if most and (q or counts) else 0
        bound += tasks[key] * least_price(lots, kind, counts) if kind.need > 0 else 0
    many = math.lcm(*(c.denominator for c in costs))
    step = Fraction(math.gcd(*(int(c * many) for c in costs)), many)
    return math.ceil(bound / step) * step if step else step


def least_price(lots, kind, counts):
    """P(u), by all (labels if it `counts`, cover, price) but those too dear at a rate to come."""
    items, reach, known = [], 0, 0
    for (q, price), copies in lots.items():
        while copies > 0:  # halves, and halves of what is left: sums of them are all numbers
            size = (copies + 1) // 2
            copies, cover = copies - size, max(1, math.ceil(q * size * STEPS / kind.need))
            items.append((min(STEPS, cover), math.floor(price * UNIT) * size, size * counts))
    for w, p, _ in sorted(items, key=lambda item: item[1] / item[0]):
        if reach < STEPS:  # greedily; the last one tells the rate, price by cover
            reach, known, cover, price = reach + w, known + p, w, p
    require(reach >= STEPS, "nobody can cover a task")
    known = sum(p for _, p, _ in items) if counts else known
    lots = sorted(((p * cover - price * w, w, p, n) for w, p, n in items), key=lambda x: -abs(x[0]))
    rest, states = sum(min(0, r) for r, *_ in lots), [(0, 0, 0)]
    least = (price * STEPS + rest) // cover  # rate × need + Σ min(0, price − rate × cover)
    for r, w, p, n in lots:
        rest -= min(0, r)
        more = [(k + n, min(STEPS, a + w), b + p) for k, a, b in states if k + n <= kind.most]
        known = min([known, *(b for k, a, b in more if a == STEPS and k >= kind.least)])
        room, top, some, states = known * cover - price * STEPS - rest, {}, states + more, []
        for b, a, k in sorted((b, -a, k) for k, a, b in some if b * cover - price * a < room):
            if -a > top.get(k, -1) and (-a < STEPS or k < kind.least):
                top[k] = -a
                states.append((k, -a, b))
        if len(states) > MOST:
            return Fraction(least, UNIT)
    return Fraction(known, UNIT)


def check(row):
    name, best, claimed = row["name"], Fraction(row["best"]), Fraction(row["bound"])
    path, drawn = HERE / f"{name}.json", str(HERE / "generate.py")
    content = path.read_bytes() if path.exists() else runpy.run_path(drawn)["text"](name).encode()
    require(hashlib.sha256(content).hexdigest() == row["sha256"], "another file: sha256 differs")
    problem, told = read(content), (HERE / "solutions" / path.name).read_text("utf-8")
    told = json.loads(told, parse_float=Fraction)
    size = [str(x) for x in (sum(problem.times), sum(problem.copies), len(problem.kinds))]
    require(size == [row["tasks"], row["workers"], row["types"]], f"its size is {size}")
    cost, bound = cost_of(problem, told), bound_of(problem, told["worker_prices"])
    holds = {"checked": claimed <= bound, "solver's word": bound <= claimed}[row["status"]]
    require(holds and max(claimed, bound) <= cost == best, f"{float(cost)}, {float(bound)} proven")
    gap = float(100 - 100 * claimed / best)
    return f"{row['status']}, {f'gap {gap:.4f} %' if gap else 'optimal'}"


if __name__ == "__main__":
    listed = csv.DictReader((HERE / "index.csv").read_text(encoding="utf-8").splitlines())
    rows, wrong = {row["name"]: row for row in listed}, 0
    for name in sys.argv[1:] or rows:
        try:
            said = check(rows[name])
        except (ValueError, KeyError, TypeError, IndexError, OSError) as error:
            said, wrong = f"WRONG: {error}", 1
        print(f"{name}: {said}", flush=True)
    sys.exit(wrong)
