"""Check every value and bound of `index.csv`: python check.py [NAME ...].

Or what a proof claims of a problem of one's own, as `workbench solve --proof` writes it: python
check.py PROBLEM.json PROOF.json. Such a file has one form only: keys in order, no blanks, numbers
whole or fractions "a/b" in lowest terms, no prices beside a tree of them (`tree_bound`). Or a proof
of policies, which states its problem itself (`check_policies.py`): python check.py PROOF.json.

All is exact, no other code trusted. A task is done by `least` to `most` workers who gather its
requirement but for one part in 10⁹ (a logarithm is rounded). A solution lists the workers of each
task or, by class, [task class, {worker class: copies}, times] (members of a class take turns: no
task gets one twice, none more than her share). A bound is proven by any prices of workers u ≥ 0:
Σ_i P_i(u) − Σ_j M_j u_j, P_i(u) the least Σ_j (c_ij + u_j) of workers who do task i, rounded up to
a sum of prices. Status `checked`: that proves the index; `solver's word`: a solver claims more.
Other kinds of proof: exact errors and several classes, whose sets of workers are listed here
(`Sets`); whom to hire (`hiring_proven`); which tasks to drop (`drop_proven`).

Files are read strictly, so that nothing can be said in two ways: every index and count is an
integer (no boolean, no fraction) of 0 or more and within reach, a worker class is named by its
plain decimal number, no name stands twice, numbers are finite and short. What cannot be read so,
or is not true, is one line `WRONG`, and exit code 1; the names that follow are checked all the
same.
"""

import csv
import hashlib
import json
import math
import re
import runpy
import sys
from bisect import bisect_left
from collections import Counter, namedtuple
from errno import EINVAL
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

HERE = Path(__file__).resolve().parent
STEPS, UNIT = 2**40, 10**12  # of a requirement and of a price, rounded: lower bounds
MOST, FEW, NEAR = 10**5, 2**12, 10**6  # states, and some of them; as good as equal: a millionth
LARGEST = 10**15  # of any number but a requirement's few: nothing here comes near it
DECIMAL = re.compile(r"([0-9]{1,40})(?:\.([0-9]{1,40}))?([eE][+-]?[0-9]{1,2})?")
LISTED = 10**6  # rows of a file: more would only exhaust the memory
Kind = namedtuple("Kind", "quality cost free need least most sets")  # of tasks alike in the file
Problem = namedtuple(
    "Problem", "kinds of times copies capacity form stated"
)  # `of`: key of a row's kind
FIELDS = {
    *("skill", "quality", "epsilon", "requirement", "capacity", "cost", "available"),
    *("task_types", "tasks", "workers", "least", "most", "gain"),
}
CLASSES = {
    *("confusion", "prior", "task_types", "epsilon", "capacity", "cost", "available"),
    *("least", "most", "loss"),
}


def require(holds, words):
    if not holds:
        raise ValueError(words)


# ---- strict reading: everything that comes from a file goes through here ----


def parsed(text, signed=False):
    """JSON in which no name stands twice, and numbers are finite, short and exact."""

    def taken(read):
        return lambda text: -read(text[1:]) if signed and text[0] == "-" else read(text)

    return json.loads(
        text,
        parse_int=taken(whole),
        parse_float=taken(decimal),
        parse_constant=lambda word: require(False, f"{word} is no number"),
        object_pairs_hook=once,
    )


@lru_cache(2**16)
def whole(text):
    require(text[0] != "-", "a number is below 0")
    require(len(text) <= 40, "a number of too many digits")
    return int(text)


@lru_cache(2**16)
def decimal(text):
    """A fraction: 1.5, 2e-07; exponents stay short of numbers that fill the memory."""
    parts = DECIMAL.fullmatch(text)
    if parts is None:
        require(False, f"{text[:40]!r} is no decimal number of 0 or more, or too long")
    before, after, exponent = parts.groups("")
    if exponent:
        return Fraction(text)
    return Fraction(int(before + after), 10 ** len(after))  # as Fraction(text), sooner


def once(pairs):
    table = dict(pairs)
    require(len(table) == len(pairs), "a name stands twice in a table")
    return table


def number(value, words, most=LARGEST):
    """A number from 0 to `most`, as a fraction; one of Python's may be a float."""
    if type(value) is Fraction and 0 <= value.numerator <= most * value.denominator:
        return value
    require(type(value) in (int, float, Fraction), f"{words}: {type(value).__name__} is no number")
    require(0 <= value <= most, f"{words}: a number is below 0, not finite or too large")
    return Fraction(value)


def count(value, words, most=LARGEST):
    """A whole number from 0 to `most`: no boolean, nor 1.0."""
    require(type(value) is int, f"{words}: {type(value).__name__} is no whole number")
    require(0 <= value <= most, f"{words}: {value} is not within 0 to {most}")
    return value


def listed(value, words, length=None):
    require(type(value) is list, f"{words}: {type(value).__name__} is no list")
    require(len(value) <= LISTED, f"{words}: too many entries")
    require(length in (None, len(value)), f"{words}: {len(value)} entries, not {length}")
    return value


def table(value, words):
    require(type(value) is dict, f"{words}: {type(value).__name__} is no table")
    return value


def each(value, length, words, take):
    """One value for all, or a list of one each, all of them taken by `take`."""
    rows = listed(value, words, length) if type(value) is list else [value] * length
    return [take(x, words) for x in rows]


def claim(text):
    """A number of the index: 12, 12.85 or 13/7, plain digits."""
    form = r"(0|[1-9][0-9]{0,29})(\.[0-9]{1,30}|/[1-9][0-9]{0,29})?"
    require(type(text) is str and re.fullmatch(form, text), f"{str(text)[:40]!r} is no number")
    return Fraction(text)


# ---- the instance ----


def read(content):
    """The problem that a file states."""
    raw = table(parsed(content), "instance")
    require(set(raw) <= (CLASSES if "confusion" in raw else FIELDS), "a field of another name")
    require(len({"quality", "skill", "confusion"} & set(raw)) == 1, "give quality or skill")
    require("capacity" in raw, "give capacity")
    require(len({"requirement", "epsilon"} & set(raw)) == 1, "give requirement or epsilon")
    given, types = ({"quality", "skill", "confusion"} & set(raw)).pop(), raw.get("task_types")
    form = _form(raw, given)
    if types is not None:
        require(all(type(x) in (int, str) for x in listed(types, "task_types")), "task_types")
    size = len(listed(raw[given] if types is None else types, given))
    rows = {name: _rows(raw, name, size, types) for name in (given, "cost", "available")}
    require(size and rows[given][0], "no tasks, or no workers")
    workers = len(rows[given][0])
    take = {"quality": number, "skill": _chance, "confusion": alike}[given]
    checked = {"cost": number, "available": _free, given: take}
    lines = {}  # by row as it stands in the file: many tasks share one
    for name, take in checked.items():
        for row in rows[name]:
            if row is not None and (name, id(row)) not in lines:
                words = f"{name}, row {len(lines)}"
                lines[name, id(row)] = [take(x, words) for x in listed(row, words, workers)]
    ones = [1] * workers
    prior, scale = _tilted(raw) if form == "several classes" else (None, 1)
    need = _needs(raw, size, form, scale)
    least = each(raw.get("least", 0), size, "least", count)
    most = each(raw["most"], size, "most", count) if "most" in raw else [math.inf] * size
    kinds, of = {}, []
    for i in range(size):
        quality, cost, free = (
            ones if rows[name][i] is None else lines[name, id(rows[name][i])]
            for name in (given, "cost", "available")
        )
        of.append((id(quality), id(cost), id(free), need[i], least[i], most[i]))
        if of[i] not in kinds:
            worth = [(2 * p - 1) ** 2 for p in quality] if given == "skill" else quality
            asked, sets = need[i] * (1 - Fraction(1, 10**9)), None
            if form == "exact error":
                sets = Sets([max(p, 1 - p) for p in quality], Vote(need[i]))
            if form == "several classes":  # who says nothing labels nothing
                sets = Sets(quality, Telling(prior, need[i]))
                free = [on and tells(worker) for on, worker in zip(free, quality)]
            kinds[of[i]] = Kind(worth, cost, free, asked, least[i], most[i], sets)
    times, copies = raw.get("tasks", [1] * size), raw.get("workers", ones)
    return Problem(
        kinds,
        of,
        [count(x, "tasks") for x in listed(times, "tasks", size)],
        [count(x, "workers") for x in listed(copies, "workers", workers)],
        each(raw["capacity"], workers, "capacity", count),
        form,
        f"; missing a class costs {shown(raw['loss'])}, by class" if scale != 1 else "",
    )


def shown(numbers):
    """Numbers as text."""
    return ", ".join(f"{float(x):.12g}" for x in numbers)


def _form(raw, given):
    """By what a task is done: a cover, its exact error, or what is promised of several classes."""
    gain = raw.get("gain", "hoeffding")
    if given == "confusion":
        require("epsilon" in raw and "prior" in raw, "give epsilon and prior")
        require(type(raw["confusion"]) is dict, "give confusion by task type")
        return "several classes"
    if gain == "exact error":
        require(given == "skill" and "epsilon" in raw, "an exact error is of skill and epsilon")
        require(not {"tasks", "workers"} & set(raw), "an exact error is by task and worker")
        return "exact error"
    stated = given == "quality" and "requirement" in raw
    require(gain == "hoeffding" or stated, "other gains state quality and requirement")
    return "assignment"


def _rows(raw, name, size, types):
    """The row of each task: its own, that of its type, or the same for all; None for none."""
    if name not in raw:
        return [None] * size
    value = raw[name]
    if type(value) is dict:
        require(types is not None, f"{name} by type, and no task_types")
        require({str(kind) for kind in types} <= set(value), f"{name}: a type without a row")
        return [value[str(kind)] for kind in types]
    own = listed(value, name) and type(value[0]) is list
    require(own or name == "cost", f"{name}: give a row for each task, or for each type")
    first = {}  # rows of the same numbers, which are kept once, are one row
    return [_once(row, first) for row in listed(value, name, size)] if own else [value] * size


def _once(row, first):
    return first.setdefault(tuple(map(id, row)), row) if type(row) is list else row


def _tilted(raw):
    """The prior, tilted by what it costs to miss each class, and what every error costs together.

    An expected cost of at most ε is then an error of at most ε over that.
    """
    prior = [_chance(x, "prior") for x in listed(raw["prior"], "prior")]
    require(len(prior) >= 2 and abs(sum(prior) - 1) <= Fraction(1, 10**9), "prior")
    if "loss" not in raw:
        return prior, 1
    loss = [number(x, "loss", 10**6) for x in listed(raw["loss"], "loss", len(prior))]
    require(min(loss) > 0, "loss: give more than 0")
    scale = sum(map(math.prod, zip(loss, prior)))
    return [cost * share / scale for cost, share in zip(loss, prior)], scale


def _needs(raw, size, form, scale=1):
    if "requirement" in raw:
        return each(raw["requirement"], size, "requirement", number)
    errors = each(raw["epsilon"], size, "epsilon", number if scale != 1 else _chance)
    require(min(errors) > 0, "epsilon: give more than 0")
    if scale != 1:
        errors = [_chance(cost / scale, "epsilon over what every error costs") for cost in errors]
    if form != "assignment":
        return errors
    return [Fraction(-2 * math.log(epsilon)) for epsilon in errors]


def _chance(value, words):
    return number(value, words, 1)


def _free(value, words):
    return value if type(value) is bool else count(value, words, 1)


# ---- the plan ----


def plan_of(problem, given):
    """The plan: [row, workers by class, times], every class once and by its plain number."""
    require(("labels" in given) != ("patterns" in given), "give labels or patterns")
    rows, workers = len(problem.of), len(problem.copies)
    if "labels" in given:
        plan = []
        for i, those in enumerate(listed(given["labels"], "labels")):
            require(i < rows, "more lists of workers than tasks")
            words = f"task {i}, a worker"
            plan.append([i, Counter(count(j, words, workers - 1) for j in listed(those, words)), 1])
        return plan
    plan, names = [], {str(j): j for j in range(workers)}
    for row in listed(given["patterns"], "patterns"):
        i, those, times = listed(row, "a pattern", 3)
        count(i, "a pattern's task", rows - 1)
        require(set(table(those, f"task {i}")) <= set(names), f"task {i}: no worker of that name")
        plan.append([i, {names[name]: copies for name, copies in those.items()}, times])
    return plan


def cost_of(problem, given):
    """What a plan costs that keeps every constraint."""
    done, used, cost = Counter(), Counter(), 0
    for i, workers, times in plan_of(problem, given):
        count(times, f"task {i}, times", problem.times[i])
        kind, cover, done[i] = problem.kinds[problem.of[i]], 0, done[i] + times
        for j, copies in workers.items():
            count(copies, f"task {i}, workers {j}")
            require(copies <= problem.copies[j], f"task {i} has {j} twice")
            require(kind.free[j], f"task {i} is not for worker {j}")
            cover += 0 if kind.sets else kind.quality[j] * copies
            cost += kind.cost[j] * copies * times
            used[j] += copies * times
        enough = kind.sets.enough(workers) if kind.sets else cover >= kind.need
        require(enough, f"task {i} is not covered")
        require(kind.least <= sum(workers.values()) <= kind.most, f"task {i} has too many or few")
    require([done[i] for i in range(len(problem.of))] == problem.times, "tasks are left out")
    require(all(n <= problem.copies[j] * problem.capacity[j] for j, n in used.items()), "too many")
    return cost


# ---- the bound ----


def bound_of(problem, prices):
    """What prices of workers prove, rounded up to a sum of prices."""
    words = "worker prices"
    u = [number(x, words) for x in listed(prices, words, len(problem.copies))]
    bound = leaf_bound(problem, u)
    require(bound < math.inf, "nobody can cover a task")
    return rounded_up(problem, bound)


def rounded_up(problem, bound):
    """The least sum of prices from a bound on."""
    costs = {
        c.as_integer_ratio() for kind in problem.kinds.values() for c, on in zip(*kind[1:3]) if on
    }
    many = math.lcm(*{below for _, below in costs})
    step = Fraction(math.gcd(*(above * (many // below) for above, below in costs)), many)
    return math.ceil(bound / step) * step if step else step


def leaf_bound(problem, u, sides=(), mu=(), priced=True):
    """What prices of workers, and of the sides that a plan is on, prove of what it costs.

    Without its prices a plan costs nothing: where that is proven to be above 0, there is none.
    """
    tasks = Counter()
    for i, times in enumerate(problem.times):
        tasks[problem.of[i], tuple(side.block[i] for side in sides)] += times
    bound = -sum(map(math.prod, zip(u, problem.copies, problem.capacity)))
    bound -= sum(price * side.limit for price, side in zip(mu, sides))
    for (key, blocks), times in tasks.items():
        charge = list(u)
        for price, side, block in zip(mu, sides, blocks):
            for j in side.workers[block] if block is not None else ():
                charge[j] += side.sign * price
        bound += times * task_bound(problem, problem.kinds[key], charge, priced) if times else 0
    return bound


def task_bound(problem, kind, charge, priced):
    """The least that workers for a task cost where each is charged so much, beside her price."""
    if kind.sets:
        may = [free and most > 0 for free, most in zip(kind.free, problem.capacity)]
        prices = [math.floor((c * priced + more) * UNIT) for c, more in zip(kind.cost, charge)]
        return least_set_price(kind, prices, may)
    lots, counts, base = Counter(), kind.least > 0 or kind.most < math.inf, 0
    for q, c, free, more, copies, most in zip(*kind[:3], charge, problem.copies, problem.capacity):
        if not (free and most and copies):
            continue
        price = ratio_of(c if priced else 0, more)
        if price[0] < 0 and not counts:  # whoever costs less than nothing is taken
            base, price = base + Fraction(*price) * copies, (0, 1)
        cover = q.as_integer_ratio() if kind.need > 0 else (1, 1)
        lots[cover, price] += copies if q or counts else 0
    if kind.need <= 0 < kind.least:  # then it takes a label, whoever's
        return base + least_price(lots, kind._replace(need=1), counts)
    if kind.need > 0:
        return base + least_price(lots, kind, counts)
    return base + sum(min(0, Fraction(*price)) * copies for (_, price), copies in lots.items())


def ratio_of(first, second):
    """A sum as numerator and denominator in lowest terms: whole numbers are quicker by far."""
    (a, b), (c, d) = first.as_integer_ratio(), second.as_integer_ratio()
    above, below = a * d + c * b, b * d
    common = math.gcd(above, below)
    return above // common, below // common


def least_price(lots, kind, counts):
    """P(u), by all (labels if it `counts`, cover, price) but those too costly at a rate to come.

    Where those are more than `MOST`, the sets of the lots to come are listed and joined to them,
    unless some of those sets show that the rate alone says as much. Infinite where nobody can
    cover a task.
    """
    items, reach, known = lots_of(lots, kind.need, counts), 0, 0
    for w, p, _ in sorted(items, key=lambda item: item[1] / item[0]):
        if reach < STEPS:  # greedily; the last one tells the rate, price by cover
            reach, known, cover, price = reach + w, known + p, w, max(0, p)
    if reach < STEPS:
        return math.inf
    beyond = 1 + sum(max(0, p) for _, p, _ in items)  # more than any set costs
    known = beyond if counts else known
    lots = sorted(((p * cover - price * w, w, p, n) for w, p, n in items), key=lambda x: -abs(x[0]))
    rest, states = sum(min(0, r) for r, *_ in lots), [(0, 0, 0)]
    least = (price * STEPS + rest) // cover  # rate × need + Σ min(0, price − rate × cover)
    owed = sum(p < 0 for _, _, p, _ in lots)  # lots to come of a price below 0
    for at, (r, w, p, n) in enumerate(lots, 1):
        rest, owed = rest - min(0, r), owed - (p < 0)
        more = [(k + n, min(STEPS, a + w), b + p) for k, a, b in states if k + n <= kind.most]
        known = min([known, *(b for k, a, b in more if a == STEPS and k >= kind.least)])
        room = known * cover - price * STEPS - rest
        states = undominated(states + more, cover, price, room)
        states = [x for x in states if x[1] < STEPS or x[0] < kind.least or owed]
        if len(states) > MOST:
            known = completed(states, lots[at:], kind, (cover, price), (least, known))
            break
    return math.inf if known == beyond else Fraction(known, UNIT)


def lots_of(lots, need, counts):
    """Lots of 1, 2, 4 … of those alike: cover in steps, rounded up, price, rounded down, labels."""
    items, (above, below) = [], need.as_integer_ratio()
    for ((q, of), (price, by)), copies in lots.items():
        while copies > 0:  # halves, and halves of what is left: sums of them are all numbers
            size = (copies + 1) // 2
            copies, cover = copies - size, max(1, -(-q * size * STEPS * below // (of * above)))
            items.append((min(STEPS, cover), price * UNIT // by * size, size * counts))
    return items


def undominated(states, cover, price, room):
    """States not too costly at the rate, by rising price: those that cost more cover more."""
    top, left = {}, []
    for b, a, k in sorted((b, -a, k) for k, a, b in states if b * cover - price * a < room):
        if -a > top.get(k, -1):
            top[k] = -a
            left.append((k, -a, b))
    return left


def completed(states, lots, kind, rate, between):
    """The least price of states and lots to come; no more than that where the list is too long.

    It is known to be `between` two prices, and as good as the lower one once they are `NEAR`.
    """
    (cover, price), (least, known) = rate, between
    for most, up in ((FEW, False), (MOST, True)):
        room = known * cover - price * STEPS - min(b * cover - price * a for _, a, b in states)
        ends = ends_of(lots, kind, rate, room, most, up)
        known = least if ends is None else min(known, joined(states, ends, kind))
        if known - least <= least // NEAR:
            return least
    return max(least, known)


def ends_of(lots, kind, rate, room, most, up):
    """Sets of some lots, as states: of too many some, or, where they go `up`, with rounded covers.

    Some of them may be costly; what costs less by covers rounded up is a lower bound. None
    where their numbers of labels alone are too many.
    """
    ends, rest, grain = [(0, 0, 0)], sum(min(0, r) for r, *_ in lots), STEPS >> 24
    for r, w, p, n in lots:
        rest -= min(0, r)
        more = [(k + n, a + w, b + p) for k, a, b in ends if k + n <= kind.most]
        ends = undominated(ends + more, *rate, room - rest)
        while len(ends) > most:
            grain *= 2
            if grain > STEPS:
                return None
            if up:
                ends = [(k, -(-a // grain) * grain, b) for k, a, b in ends]
                ends = undominated(ends, *rate, math.inf)
            else:
                ends = list({(k, a // grain): (k, a, b) for k, a, b in ends}.values())
    return ends


def joined(states, ends, kind):
    """The least price of a state and an end that cover the need, of a number of labels that may be.

    Infinite where there is none.
    """
    rows, least = {}, math.inf
    for n, a, b in ends:
        covers, prices = rows.setdefault(n, ([], []))
        covers.append(a)
        prices.append(b)
    for k, a, b in states:
        for n, (covers, prices) in rows.items():
            if not kind.least <= k + n <= kind.most:
                continue
            at = bisect_left(covers, STEPS - a)
            if at < len(covers):
                least = min(least, b + prices[at])
    return least


# ---- tasks whose sets of workers are listed: exact errors, several classes ----

GRAIN = 2**96  # steps of roots and their products, rounded down and up
SETS, ANSWERS = 20_000, 4 * 10**6  # listed of a kind of task: sets of workers, their answers
SLACK = 1 + Fraction(1, 10**9)  # by which an error may be above ε


class Sets:
    """Which sets of workers do a task, by how many of each group: workers of one group are alike.

    `rule` says of the numbers by group whether they surely are enough, and whether they may be.
    """

    def __init__(self, workers, rule):
        first = {}
        self.group = [first.setdefault(worker, len(first)) for worker in workers]
        self.values, self.rule, self._least = list(first), rule, {}

    def enough(self, workers):
        """Whether a set, {worker: 1}, keeps the error."""
        return self.rule.enough(self.values, self.numbers(j for j, n in workers.items() if n))

    def numbers(self, workers):
        """How many of some workers are of each group."""
        counted = Counter(self.group[j] for j in workers)
        return tuple(counted[g] for g in range(len(self.values)))

    def least(self, may):
        """Sets, each set of `may` that does the task has one of them within: numbers by group."""
        sizes = self.numbers(j for j, on in enumerate(may) if on)
        if sizes not in self._least:
            order = sorted(range(len(sizes)), key=lambda g: self.rule.rank(self.values[g]))
            values = [self.values[g] for g in order]
            rows = least_sets(values, [sizes[g] for g in order], self.rule)
            self._least[sizes] = [[row[order.index(g)] for g in range(len(sizes))] for row in rows]
        return self._least[sizes]


def least_sets(values, sizes, rule):
    """Numbers by group that may be enough, with nobody of the last group to spare."""
    nobody = (0,) * len(sizes)
    if rule.may(values, nobody):
        return [nobody]
    sets, waiting, seen = [], [()], 0
    while waiting:
        numbers = waiting.pop()
        g, seen = len(numbers), seen + 1
        require(max(seen, len(sets)) <= SETS, "more sets of workers than are listed")
        if g == len(sizes) or not rule.hope(values, (*numbers, *sizes[g:])):
            continue
        for n in range(sizes[g] + 1):
            more = (*numbers, n)
            if n and rule.may(values, (*more, *nobody[g + 1 :])):
                sets.append((*more, *nobody[g + 1 :]))
                break
            waiting.append(more)
    return sets


def least_set_price(kind, prices, may):
    """The least that a set costs that does the task, within its numbers of labels."""
    sets = kind.sets.least(may)
    groups = [[] for _ in kind.sets.values]
    for price, j in sorted((prices[j], j) for j, on in enumerate(may) if on):
        groups[kind.sets.group[j]].append(price)
    least = math.inf
    for numbers in sets:
        taken = sum(numbers)
        if taken > kind.most:
            continue
        cost = sum(sum(own[:n]) for own, n in zip(groups, numbers))
        rest = sorted(price for own, n in zip(groups, numbers) for price in own[n:])
        lacking = max(0, kind.least - taken)
        if lacking > len(rest):
            continue
        cost += sum(rest[:lacking])
        room = min(len(rest), kind.most - taken)
        cost += sum(price for price in rest[lacking:room] if price < 0)
        least = min(least, cost)
    return least if least == math.inf else Fraction(least, UNIT)


class Vote:
    """Two equally likely classes; the vote names the likelier, and errs with ε at most."""

    def __init__(self, epsilon):
        self.most, self.answers = min(epsilon * SLACK, 1), 0

    def rank(self, skill):
        """The ablest first: then nobody in a set is to spare."""
        return -skill

    def hope(self, skills, numbers):
        """Whether it can be: 4e(1 − e) ≥ Π 4p(1 − p) of every vote's error e (Kailath 1967)."""
        if 2 * self.most >= 1:
            return True
        alike = math.prod((4 * p * (1 - p)) ** n for p, n in zip(skills, numbers) if n)
        return alike <= 4 * self.most * (1 - self.most)

    def may(self, skills, numbers):
        """Whether e ≤ ε, by all answers: of so many of each skill, how many are right."""
        if not self.hope(skills, numbers):
            return False
        self.answers += math.prod(n + 1 for n in numbers)
        require(self.answers <= ANSWERS, "more answers than are listed")
        many, chances = math.lcm(*(p.denominator for p in skills)), [(1, 1)]
        for p, n in zip(skills, numbers):
            right = int(p * many)
            by = [right**k * (many - right) ** (n - k) * math.comb(n, k) for k in range(n + 1)]
            chances = [(a * x, b * y) for a, b in chances for x, y in zip(by, by[::-1])]
        return sum(map(min, chances)) <= 2 * self.most * many ** sum(numbers)

    enough = may


class Telling:
    """Several classes: Σ √(ρ_k ρ_l) Π_j BC_j(k, l) ≤ ε, summed over pairs of classes k < l."""

    def __init__(self, prior, epsilon):
        self.weights = [roots(a * b) for a, b in pairs_of(prior)]
        self.most = epsilon * SLACK * GRAIN

    def rank(self, alike):
        """Who tells most apart first."""
        return sum(low for low, _ in alike)

    def may(self, alike, numbers):
        """Whether it can be, all roots and products rounded down."""
        return self._promise(alike, numbers, 0) <= self.most

    hope = may

    def enough(self, alike, numbers):
        """Whether it is, all of them rounded up."""
        return self._promise(alike, numbers, 1) <= self.most

    def _promise(self, alike, numbers, end):
        left = [pair[end] for pair in self.weights]
        for factors, n in zip(alike, numbers):
            require(len(factors) == len(left), "confusion and prior of other classes")
            for _ in range(n):
                products = [x * pair[end] for x, pair in zip(left, factors)]
                left = [-(-x // GRAIN) if end else x // GRAIN for x in products]
        return sum(left)


def alike(matrix, words):
    """BC(k, l) = Σ_a √(π(a | k) π(a | l)) of pairs of classes: rounded down, and up."""
    rows = [[_chance(x, words) for x in listed(row, words)] for row in listed(matrix, words)]
    require(rows and len({len(row) for row in rows}) == 1, f"{words}: rows of other lengths")
    whole = all(abs(sum(row) - 1) <= Fraction(1, 10**9) for row in rows)
    require(whole, f"{words}: a row does not sum to 1")
    ends = [[roots(a * b) for a, b in zip(first, second)] for first, second in pairs_of(rows)]
    return tuple(tuple(min(GRAIN, sum(x[end] for x in own)) for end in (0, 1)) for own in ends)


def tells(alike):
    """Whether a worker tells any two classes apart, by more than rounding."""
    return any(low < GRAIN * (1 - Fraction(1, 10**12)) for low, _ in alike)


def pairs_of(rows):
    return [(rows[k], rows[other]) for k in range(len(rows)) for other in range(k + 1, len(rows))]


def roots(value):
    """√ of a fraction up to 1 in steps of 1/GRAIN: rounded down, and up."""
    low = math.isqrt(value.numerator * GRAIN**2 // value.denominator)
    return low, low + 1


# ---- branches on numbers of labels ----

Side = namedtuple("Side", "block workers sign limit")
"""A side of a split, sign × (labels of some pairs) ≤ limit: the block of each task, the workers of
each block."""
DEEPEST, NODES = 200, 20_000


def tree_bound(problem, root, priced=True):
    """The least that the leaves of a tree prove, each rounded up to a sum of prices.

    A split says of some pairs that their labels are `most` at most, or more: a whole number, so
    that every plan is on one side. A leaf has prices of workers, and one of each side above it.
    """
    least, waiting, seen = math.inf, [(root, ())], 0
    while waiting:
        node, sides = waiting.pop()
        seen += 1
        require(seen <= NODES and len(sides) <= DEEPEST, "a tree of too many nodes or too deep")
        if "pairs" in table(node, "a node"):
            waiting += branches(problem, node, sides)
            continue
        u, mu = leaf_prices(problem, node, sides)
        bound = leaf_bound(problem, u, sides, mu, priced)
        least = min(least, rounded_up(problem, bound) if priced and bound < math.inf else bound)
    return least


def leaf_prices(problem, node, sides):
    """Prices of workers and of sides, as a leaf has them."""
    require(set(node) == {"worker_prices", "side_prices"}, "a leaf has two lists of prices")
    rows = (("worker_prices", len(problem.copies)), ("side_prices", len(sides)))
    return [[rational(x, name) for x in listed(node[name], name, n)] for name, n in rows]


def branches(problem, node, sides):
    """Both sides of a split, with the nodes below."""
    require(set(node) == {"pairs", "most", "below", "above"}, "a split has pairs, most, two nodes")
    most, block, workers = count(node["most"], "most labels"), [None] * len(problem.of), []
    for k, pair in enumerate(listed(node["pairs"], "pairs")):
        rows, those = listed(pair, "a block of pairs", 2)
        workers.append(rising(those, "workers of pairs", len(problem.copies)))
        for i in rising(rows, "tasks of pairs", len(problem.of)):
            require(block[i] is None, f"task {i} stands in two blocks of pairs")
            block[i] = k
    return [
        (node["below"], (*sides, Side(block, workers, 1, most))),
        (node["above"], (*sides, Side(block, workers, -1, -(most + 1)))),
    ]


def rising(value, words, size):
    """Indices below a size, each above the one before."""
    places = [count(x, words, size - 1) for x in listed(value, words)]
    require(all(x < y for x, y in pairwise(places)), f"{words}: not in rising order")
    return places


def rational(value, words):
    """A whole number of 0 or more, or a fraction "a/b" in lowest terms."""
    if type(value) is int:
        return Fraction(count(value, words))
    form = r"[1-9][0-9]{0,29}/[1-9][0-9]{0,29}"
    require(type(value) is str and re.fullmatch(form, value), f"{words}: no number, nor a fraction")
    fraction = Fraction(value)
    require(str(fraction) == value, f"{words}: {value} is not in lowest terms")
    require(fraction <= LARGEST, f"{words}: a number is too large")
    return fraction


# ---- which tasks to drop: the fewest, so that shares of labels cover the rest ----

Part = namedtuple("Part", "tasks sign limit")
"""A side of a split, sign × (how many of some tasks are dropped) ≤ limit."""


def drop_proven(content, given):
    """What a proof shows of tasks to drop, beside what all proofs have.

    Numbers of labels have no limits here, and a label may be given in part: who has no plan even
    so has none at all.
    """
    problem, claims = read(content), table(given["claim"], "claim")
    require(problem.form == "assignment", "tasks to drop are of covers")
    alone = set(problem.times) | set(problem.copies) <= {1}
    require(alone, "tasks to drop are of a problem by task and worker")
    dropped = rising(given["drop"], "tasks to drop", len(problem.of))
    require(set(claims) == {"tasks", "bound"}, "claim tasks and bound")
    require(count(claims["tasks"], "tasks") == len(dropped), f"{len(dropped)} tasks are dropped")
    shares_cover(problem, given["shares"], dropped)
    bound = drop_bound(problem, given["tree"])
    claimed = count(claims["bound"], "bound")
    require(claimed <= math.ceil(bound), f"the tree proves {float(bound):.12g} only")
    require(claimed <= len(dropped), "fewer tasks than the bound")
    if not dropped:
        return "shares of labels cover every task"
    fewer = "fewer" if claimed == len(dropped) else f"fewer than {claimed}"
    return f"shares of labels cover all tasks but {len(dropped)}, and never all but {fewer}"


def shares_cover(problem, rows, dropped):
    """Require that shares, [[worker, share], …] of each task that is kept, cover it."""
    gone, used = set(dropped), Counter()
    kept = [i for i in range(len(problem.of)) if i not in gone]
    for i, row in zip(kept, listed(rows, "shares", len(kept))):
        kind, cover = problem.kinds[problem.of[i]], 0
        pairs = [listed(pair, "a share", 2) for pair in listed(row, "shares")]
        workers = rising([pair[0] for pair in pairs], f"task {i}, workers", len(problem.copies))
        for j, pair in zip(workers, pairs):
            part = rational(pair[1], "a share")
            require(part <= 1, f"task {i}: more than a label of worker {j}")
            require(kind.free[j], f"task {i} is not for worker {j}")
            cover, used[j] = cover + kind.quality[j] * part, used[j] + part
        require(cover >= kind.need, f"task {i} is not covered")
    require(all(part <= problem.capacity[j] for j, part in used.items()), "too many")


def drop_bound(problem, root):
    """The least that the leaves of a tree prove of how many tasks are dropped.

    A split says of some tasks that `most` of them are dropped at most, or more. A leaf has prices
    of workers, u ≥ 0, and of the sides above it, μ ≥ 0: as dropping a task costs 1 and μ, and
    keeping it the least Σ_j u_j of shares that cover it, no fewer than the sum of the lesser, less
    Σ_j M_j u_j and what the sides allow.
    """
    least, waiting, seen = math.inf, [(root, ())], 0
    while waiting:
        node, parts = waiting.pop()
        seen += 1
        require(seen <= NODES and len(parts) <= DEEPEST, "a tree of too many nodes or too deep")
        if "tasks" in table(node, "a node"):
            require(set(node) == {"tasks", "most", "below", "above"}, "tasks, most, two nodes")
            tasks = set(rising(node["tasks"], "tasks", len(problem.of)))
            most = count(node["most"], "most tasks")
            waiting.append((node["below"], (*parts, Part(tasks, 1, most))))
            waiting.append((node["above"], (*parts, Part(tasks, -1, -(most + 1)))))
            continue
        u, mu = leaf_prices(problem, node, parts)
        bound = -sum(map(math.prod, zip(u, problem.capacity)))
        bound -= sum(price * part.limit for price, part in zip(mu, parts))
        prices = {key: share_price(problem, kind, u) for key, kind in problem.kinds.items()}
        for i, key in enumerate(problem.of):
            own = sum(price * part.sign for price, part in zip(mu, parts) if i in part.tasks)
            bound += min(1 + own, prices[key])
        least = min(least, bound)
    return least


def share_price(problem, kind, u):
    """The least Σ_j u_j y_j of shares 0 ≤ y ≤ 1 that cover a task; infinite where none do."""
    able = zip(kind.quality, u, kind.free, problem.capacity)
    left, total = kind.need, 0
    for _, q, price in sorted((price / q, q, price) for q, price, on, m in able if on and m and q):
        if left <= 0:
            break
        part = min(Fraction(1), left / q)
        left, total = left - part * q, total + part * price
    return math.inf if left > 0 else total


# ---- whom to hire: the set of the highest Σ G / √(its size) ----

Hiring = namedtuple("Hiring", "gains costs money who budget")
DECIDED = 200  # workers that the nodes above a leaf say are in or out


def read_hiring(content):
    """The problem that a file states; `who` are those of a gain, and a price within the money."""
    raw = table(parsed(content, signed=True), "problem")
    require({"gains", "budget"} <= set(raw) <= {"gains", "budget", "costs", "money"}, "fields")
    require(("costs" in raw) == ("money" in raw), "give costs and money, or neither")
    gains = [None if x is None else _gain(x) for x in listed(raw["gains"], "gains")]
    costs = each(raw.get("costs", 0), len(gains), "costs", number)
    money = number(raw.get("money", 0), "money") * (1 + Fraction(1, 10**12))
    who = [j for j, gain in enumerate(gains) if gain is not None and costs[j] <= money]
    require(gains and count(raw["budget"], "budget") > 0, "no workers, or a budget of none")
    return Hiring(gains, costs, money, who, raw["budget"])


def _gain(value):
    number(abs(value) if type(value) in (int, Fraction) else value, "gains")
    return Fraction(value)


def hiring_proven(content, given):
    """What a proof shows of whom to hire, beside what all proofs have."""
    problem, claims = read_hiring(content), table(given["claim"], "claim")
    if not problem.who:
        require("chosen" not in given and claims == {"infeasible": True}, "nobody can be hired")
        require(claims["infeasible"] is True and given["sizes"] == [], "no sizes, and true")
        return "nobody can be hired"
    require("chosen" in given and set(claims) == {"score", "bound"}, "chosen, score and bound")
    chosen = rising(given["chosen"], "chosen", len(problem.gains))
    require(0 < len(chosen) <= problem.budget, "nobody is chosen, or more than the budget")
    require(set(chosen) <= set(problem.who), "somebody is chosen who cannot be hired")
    require(sum(problem.costs[j] for j in chosen) <= problem.money, "more than the money")
    score, bound = scored(claims["score"], "score"), scored(claims["bound"], "bound")
    gained = sum(problem.gains[j] for j in chosen)
    require(score == (gained, len(chosen)), f"the score is {float(gained)} / √{len(chosen)}")
    sizes = listed(given["sizes"], "sizes", min(problem.budget, len(problem.who)))
    for size, tree in enumerate(sizes, 1):
        most = gain_bound(problem, tree, size)
        within = most is None or squared(most, size) <= squared(*bound)
        require(within, f"of sets of {size} the tree proves {most and float(most)} / √{size} only")
    require(squared(*score) <= squared(*bound), "a score above its bound")
    best = squared(*score) == squared(*bound)
    ends = [f"{float(gain) / math.sqrt(size):.12g}" for gain, size in (score, bound)]
    above = "no set has a higher" if best else f"no set has one above {ends[1]}"
    return f"workers of score {ends[0]}, and {above}"


def scored(value, words):
    """A score as [gain of all, workers]: Σ G / √size."""
    gain, size = listed(value, words, 2)
    negative = type(gain) is str and gain[:1] == "-"
    if negative:
        gain = int(gain[1:]) if re.fullmatch(r"-[1-9][0-9]{0,14}", gain) else gain[1:]
    require(count(size, words) > 0, f"{words}: of nobody")
    return -rational(gain, words) if negative else rational(gain, words), size


def squared(gain, size):
    """The signed square of gain / √size, which orders as it does."""
    return gain * abs(gain) / size


def gain_bound(problem, root, size):
    """The most that sets of a size gain, by the leaves of a tree; None where there is no such set.

    A split says of a worker that she is in the set, or is not. A leaf has a price of money, μ ≥ 0:
    a set gains no more than the best of G − μ c, and μ times the money.
    """
    most, waiting, seen = None, [(root, (), ())], 0
    while waiting:
        node, inside, outside = waiting.pop()
        seen += 1
        require(seen <= NODES and len(inside) + len(outside) <= DECIDED, "a tree too large")
        if "worker" in table(node, "a node"):
            require(set(node) == {"worker", "in", "out"}, "a split has worker, in, out")
            j = count(node["worker"], "worker", len(problem.gains) - 1)
            require(j not in inside + outside, f"worker {j} is split twice")
            waiting += [(node["in"], (*inside, j), outside), (node["out"], inside, (*outside, j))]
            continue
        require(set(node) == {"money_price"}, "a leaf has a price of money")
        gain = leaf_gain(problem, rational(node["money_price"], "price"), size, inside, outside)
        if gain is not None and (most is None or gain > most):
            most = gain
    return most


def leaf_gain(problem, mu, size, inside, outside):
    """The most that a price of money proves of sets with some workers and without others."""
    split = {*inside, *outside}
    free = [j for j in problem.who if j not in split]
    left, places = problem.money - sum(problem.costs[j] for j in inside), size - len(inside)
    if not set(inside) <= set(problem.who) or not 0 <= places <= len(free):
        return None
    if sum(sorted(problem.costs[j] for j in free)[:places]) > left:
        return None
    net = sorted((problem.gains[j] - mu * problem.costs[j] for j in free), reverse=True)
    return sum(problem.gains[j] for j in inside) + mu * left + sum(net[:places])


def check(row):
    """What is true of a row of the index; ValueError, or another, where it is not."""
    require(None not in row and None not in row.values(), "a row of the index of another length")
    name, best, claimed = row["name"], claim(row["best"]), claim(row["bound"])
    require(re.fullmatch(r"[a-zA-Z0-9_.-]+", name), "a name of other letters")
    path, drawn = HERE / f"{name}.json", str(HERE / "generate.py")
    content = path.read_bytes() if path.exists() else runpy.run_path(drawn)["text"](name).encode()
    require(hashlib.sha256(content).hexdigest() == row["sha256"], "another file: sha256 differs")
    problem = read(content.decode("utf-8"))
    given = table(parsed((HERE / "solutions" / path.name).read_text("utf-8")), "solution")
    require(
        "worker_prices" in given and len(given) == 2, "give worker_prices, and labels or patterns"
    )
    size = [str(x) for x in (sum(problem.times), sum(problem.copies), len(problem.kinds))]
    require(size == [row["tasks"], row["workers"], row["types"]], f"its size is {size}")
    cost, bound = cost_of(problem, given), bound_of(problem, given["worker_prices"])
    require(row["status"] in ("checked", "solver's word"), "a status of another name")
    holds = claimed <= bound if row["status"] == "checked" else bound <= claimed
    require(holds and max(claimed, bound) <= cost == best, f"{float(cost)}, {float(bound)} proven")
    gap = float(100 - 100 * claimed / best) if best else 0.0
    return f"{row['status']}, {f'gap {gap:.4f} %' if gap else 'optimal'}"


def verdict(name, rows):
    """One line on an instance, and whether it is wrong: whatever stops the check is a reason."""
    try:
        require(name in rows, "not in the index")
        require(len(rows[name]) == 1, "twice in the index")
        return f"{name}: {check(*rows[name])}", 0
    except Exception as error:  # a proof that cannot be read proves nothing, however it fails
        said = " ".join(f"{error}".split())[:200] or type(error).__name__
        return f"{' '.join(name.split())[:80]}: WRONG: {said}", 1


def proven(content, text):
    """What a proof shows of a problem, both as they stand in their files; ValueError if wrong."""
    given = table(parsed(text), "proof")
    canonical = json.dumps(given, sort_keys=True, separators=(",", ":"))
    require(text == f"{canonical}\n", "not as it is to be written: keys in order, no blanks")
    require({"kind", "format", "problem_sha256", "claim"} <= set(given), "fields")
    require(given["problem_sha256"] == hashlib.sha256(content).hexdigest(), "of another problem")
    require(given["format"] == 2 and type(given["format"]) is int, "a format of another number")
    rest = set(given) - {"kind", "format", "problem_sha256", "claim"}
    if given["kind"] == "selection":
        require({"sizes"} <= rest <= {"sizes", "chosen"}, "fields")
        return hiring_proven(content.decode("utf-8"), given)
    if given["kind"] == "drop":
        require(rest == {"drop", "shares", "tree"}, "fields")
        return drop_proven(content.decode("utf-8"), given)
    plan = rest & {"labels", "patterns"}
    require(rest == {"tree"} | plan, "fields")
    claims, problem = table(given["claim"], "claim"), read(content.decode("utf-8"))
    require(given["kind"] == problem.form, "a kind of another name")
    if set(claims) == {"infeasible"}:
        require(claims["infeasible"] is True and not plan, "claim infeasible: true, and no plan")
        require(tree_bound(problem, given["tree"], priced=False) > 0, "a leaf does not rule it out")
        return f"no plan keeps every constraint{problem.stated}"
    bound, claimed = tree_bound(problem, given["tree"]), rational(claims.get("bound"), "bound")
    require(claimed <= bound, f"the tree proves {float(bound):.12g} only")
    if not plan:
        require(set(claims) == {"bound"}, "claim a bound, and a cost where there is a plan")
        return f"no plan costs less than {claims['bound']}{problem.stated}"
    require(set(claims) == {"cost", "bound"}, "claim cost and bound")
    cost = cost_of(problem, given)
    require(rational(claims["cost"], "cost") == cost, f"the plan costs {float(cost):.12g}")
    require(bound <= cost, "a plan below its bound")
    none = "none is cheaper" if claimed == cost else f"none costs less than {claims['bound']}"
    return f"a plan of cost {float(cost):.12g}, and {none}{problem.stated}"


def line_of(content, text):
    """Whether a proof of a problem holds, and a line that says so, whatever the files are."""
    try:
        return True, f"holds: {proven(content, text)}"
    except Exception as error:
        said = " ".join(f"{error}".split())[:200] or type(error).__name__
        return False, f"WRONG: {said}"


def rows_of(text):
    """Rows of the index by name, as often as they stand there."""
    rows = {}
    for row in csv.DictReader(text.splitlines()):
        rows.setdefault(row["name"], []).append(row)
    return rows


def file_content(name):
    """Read a file; what is none, a pipe say, would be waited for."""
    path = Path(name)
    if path.exists() and not path.is_file():
        raise OSError(EINVAL, "no file but a folder, pipe or device")
    return path.read_bytes()


def main(names):
    """Print a line an instance; 1 if any is wrong."""
    sys.stdout.reconfigure(errors="backslashreplace")
    if len(names) == 1 and names[0].endswith(".json"):
        return runpy.run_path(str(HERE / "check_policies.py"))["main"](names)
    if len(names) == 2 and all(name.endswith(".json") for name in names):
        try:
            content, text = (file_content(name) for name in names)
            holds, line = line_of(content, text.decode("utf-8"))
        except (OSError, ValueError) as error:
            holds, line = False, f"WRONG: {error}"
        print(line)
        return 0 if holds else 1
    try:
        rows = rows_of((HERE / "index.csv").read_text(encoding="utf-8"))
    except (ValueError, KeyError, OSError, csv.Error) as error:
        print(f"index.csv: WRONG: {' '.join(f'{error}'.split())[:200]}")
        return 1
    wrong = 0
    for name in names or rows:
        said, code = verdict(name, rows)
        wrong |= code
        print(said, flush=True)
    return wrong


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
