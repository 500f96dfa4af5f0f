"""Recompute what a proof says of policies: python check_policies.py FILE ...

Bare Python, exact throughout, no other code trusted; `check.py FILE` and `workbench verify FILE`
run it too. A file states its problem and a claim, by its kind:

- `online`: no online algorithm, randomised or not, has a better ratio to the offline optimum on a
  family of arrivals. By Yao's principle: B / Σ w × plan, with w the sequences' weights, B the least
  weighted cost of an algorithm that sees worker by worker, and a feasible plan for each sequence.
- `posted-price`: who takes each worker that asks no more than a falling price pays at most so many
  times the optimum, in any order. For each end of the run a price p shows that
  cost ≤ ratio × (p − Σ w (p − a)⁺), and that is at most ratio × optimum.
- `sequential`: no policy that looks at each label before the next keeps a promise for less, or none
  does at all. By weak duality: Σ n V(λ, μ) − λ·C − μ·(errors allowed), for prices λ of labels and μ
  of errors, with V what a task is charged at least. Values show V (`error_task`, `posterior_task`).

A line says what the problem is, and the first digits of its SHA-256: whether it is the one that was
meant is for the reader to say, or for `workbench verify FILE --skills … --tasks …`.

A file has one form only: keys in order, no blanks, numbers whole or fractions "a/b" in lowest
terms, none below 0. What cannot be read so, or is not true, is one line `WRONG`, and exit code 1.
"""

import hashlib
import json
import math
import re
import sys
from bisect import bisect_left, bisect_right
from collections import Counter, namedtuple
from errno import EINVAL
from fractions import Fraction
from itertools import combinations, pairwise
from pathlib import Path

FORMAT = 2
LISTED, LARGEST = 10**5, 10**15
MOST_TASKS = 16  # of an online problem: any 2^16 of them may be chosen for a worker
MOST_STATES = 10**6  # of all prefixes together, some minutes


def require(holds, words):
    if not holds:
        raise ValueError(words)


# ---- strict reading ----


def parsed(text):
    """JSON of tables in which no name stands twice, lists, texts and short whole numbers."""
    return json.loads(
        text,
        parse_int=whole,
        parse_float=lambda word: require(False, f"{word[:40]} is not a whole number"),
        parse_constant=lambda word: require(False, f"{word} is no number"),
        object_pairs_hook=once,
    )


def whole(text):
    require(len(text) <= 40, "a number of too many digits")
    return int(text)


def once(pairs):
    require(len(dict(pairs)) == len(pairs), "a name stands twice in a table")
    return dict(pairs)


def table(value, names, words):
    require(type(value) is dict, f"{words}: {type(value).__name__} is no table")
    require(set(value) == set(names), f"{words}: its fields are to be {', '.join(sorted(names))}")
    return value


def listed(value, words, length=None):
    require(type(value) is list, f"{words}: {type(value).__name__} is no list")
    require(len(value) <= LISTED, f"{words}: too many entries")
    require(length in (None, len(value)), f"{words}: {len(value)} entries, not {length}")
    return value


def count(value, words, least=0, most=LARGEST):
    """A whole number within its ends: no boolean, nor 1.0."""
    require(type(value) is int, f"{words}: {type(value).__name__} is no whole number")
    require(least <= value <= most, f"{words}: {value} is not within {least} to {most}")
    return value


def counts(value, words, length=None, most=LARGEST):
    return [count(each, words, most=most) for each in listed(value, words, length)]


def rational(value, words, most=LARGEST):
    """A whole number of 0 or more, or a fraction "a/b" in lowest terms."""
    if type(value) is int:
        return Fraction(count(value, words, most=most))
    form = r"[1-9][0-9]{0,39}/[1-9][0-9]{0,39}"
    require(type(value) is str and re.fullmatch(form, value), f"{words}: no number, nor a fraction")
    fraction = Fraction(value)
    require(str(fraction) == value, f"{words}: {value} is not in lowest terms")
    require(fraction <= most, f"{words}: a number is above {most}")
    return fraction


def rationals(value, words, length=None, most=LARGEST):
    return [rational(each, words, most) for each in listed(value, words, length)]


# ---- online: no algorithm does better ----

Game = namedtuple("Game", "start quality capacity price repair_price repair_quality")
Arrivals = namedtuple("Arrivals", "types weight plan")


def online(given):
    """What the claim says, where it holds."""
    bound = online_bound(given["problem"], given["sequences"])
    claimed = rational(table(given["claim"], {"ratio"}, "claim")["ratio"], "ratio")
    require(claimed <= bound, f"the weights prove {float(bound):.12g} only")
    return f"no online algorithm has a ratio below {claimed}"


def online_bound(problem, sequences):
    """The ratio to the optimum that no online algorithm is below.

    Tasks lack so much by class (`requirement`, `tasks`), a label of a worker type adds `quality`,
    a worker takes `capacity` labels at `price` each, and what a task lacks in the end is bought at
    `repair_price` a label of `repair_quality`. A sequence has the types of workers in order, a
    weight, and the tasks of each worker of the sorted sequence: a plan, which costs OPT or more.
    """
    game = game_of(problem)
    arrivals = [
        arrivals_of(each, len(game.price), len(game.start))
        for each in listed(sequences, "sequences")
    ]
    offline = sum(each.weight * plan_cost(game, each) for each in arrivals)
    require(offline > 0, "the plans of all sequences of weight cost nothing: that proves nothing")
    return Fraction(least_cost(game, arrivals), offline)


def game_of(problem):
    """The problem, its prices in whole multiples of one unit."""
    names = {"requirement", "tasks", *Game._fields} - {"start"}
    given = table(problem, names, "problem")
    price = rationals(given["price"], "price")
    quality = [counts(row, "quality", len(price)) for row in listed(given["quality"], "quality")]
    needs = counts(given["requirement"], "requirement", len(quality))
    tasks = counts(given["tasks"], "tasks", len(quality))
    require(sum(tasks) <= MOST_TASKS, f"tasks: more than {MOST_TASKS}, too many to check")
    repair_price = rational(given["repair_price"], "repair_price")
    unit = math.lcm(*(each.denominator for each in [*price, repair_price]))
    start = [(t, need) for t, (need, n) in enumerate(zip(needs, tasks)) for _ in range(n)]
    return Game(
        tuple(start),
        quality,
        counts(given["capacity"], "capacity", len(price)),
        [int(each * unit) for each in price],
        int(repair_price * unit),
        count(given["repair_quality"], "repair_quality", least=1),
    )


def arrivals_of(value, types, tasks):
    given = table(value, Arrivals._fields, "a sequence")
    kinds = counts(given["types"], "types", most=types - 1)
    plan = [
        counts(chosen, "plan, a task", most=tasks - 1)
        for chosen in listed(given["plan"], "plan", len(kinds))
    ]
    return Arrivals(tuple(kinds), count(given["weight"], "weight"), plan)


def repaired(game, state):
    """What it costs to buy all that is lacking."""
    return sum(-(-lack // game.repair_quality) for _, lack in state) * game.repair_price


def plan_cost(game, arrivals):
    """What a plan costs, repair of the rest included."""
    state, cost = list(game.start), 0
    for kind, chosen in zip(sorted(arrivals.types), arrivals.plan):
        require(len(set(chosen)) == len(chosen), "plan: a worker is given a task twice")
        require(len(chosen) <= game.capacity[kind], "plan: a worker is given too many tasks")
        for task in chosen:
            t, lack = state[task]
            state[task] = t, max(0, lack - game.quality[t][kind])
        cost += game.price[kind] * len(chosen)
    return cost + repaired(game, state)


def least_cost(game, arrivals):
    """The least weighted cost of an algorithm that sees the sequence worker by worker.

    Forth over the prefixes for the states that can be reached, back for what is best in each.
    """
    passing, ending = Counter(), Counter()
    for each in arrivals:
        for length in range(len(each.types) + 1):
            passing[each.types[:length]] += each.weight
        ending[each.types] += each.weight
    prefixes = sorted(passing, key=len)
    children = {prefix: [] for prefix in prefixes}
    for prefix in prefixes[1:]:
        children[prefix[:-1]].append(prefix)
    start = tuple(sorted(game.start))
    services, reached, total = {}, {prefix: set() for prefix in prefixes}, 0
    reached[()].add(start)
    for prefix in prefixes:
        total += len(reached[prefix])
        require(total <= MOST_STATES, "sequences: too many states to check")
        for child in children[prefix]:
            for state in reached[prefix]:
                at = state, child[-1]
                if at not in services:
                    services[at] = tuple(dict.fromkeys(served(game, *at)))
                reached[child].update(after for _, after in services[at])
    least = {}
    for prefix in reversed(prefixes):
        least[prefix] = {
            state: ending[prefix] * repaired(game, state)
            + sum(
                min(
                    passing[child] * game.price[child[-1]] * labels + least[child][after]
                    for labels, after in services[state, child[-1]]
                )
                for child in children[prefix]
            )
            for state in reached[prefix]
        }
    return least[()][start]


def served(game, state, kind):
    """Number of labels, and the state after, of every choice of tasks for a worker."""
    for labels in range(min(game.capacity[kind], len(state)) + 1):
        for chosen in combinations(range(len(state)), labels):
            lacks = list(state)
            for task in chosen:
                t, lack = lacks[task]
                lacks[task] = t, max(0, lack - game.quality[t][kind])
            yield labels, tuple(sorted(lacks))


# ---- posted-price: what it costs at most ----

Posted = namedtuple("Posted", "asks any repair price share")


def posted_price(given):
    """What the claim says, where it holds."""
    posted = posted_of(given["problem"])
    ratio = rational(table(given["claim"], {"ratio"}, "claim")["ratio"], "ratio")
    ends = [e for e, price in enumerate([None, *posted.price]) if e == 0 or posted.asks[0] <= price]
    prices = rationals(given["prices"], "prices", len(ends))
    numbers = [*posted.asks, posted.repair, *posted.price, *prices]
    unit = math.lcm(*(x.denominator for x in numbers))
    scaled = posted._replace(
        asks=[int(x * unit) for x in posted.asks],
        repair=int(posted.repair * unit),
        price=[int(x * unit) for x in posted.price],
    )
    for e, p in zip(ends, prices):
        require(
            end_holds(scaled, ratio, e, int(p * unit)), f"a run that ends at step {e} may cost more"
        )
    return f"in any order this price costs at most {float(ratio):.12g} times the optimum"


def posted_of(problem):
    """What workers ask for a unit, U, and the price by step, falling, of so large a share each.

    Nobody asks more than U: `asks` lists all that they ask, or with `any` the least of it.
    Shares become whole numbers.
    """
    given = table(problem, Posted._fields, "problem")
    require(type(given["any"]) is bool, "any: true or false")
    price = rationals(given["price"], "price")
    share = rationals(given["share"], "share", len(price))
    many = math.lcm(*(x.denominator for x in share))
    posted = Posted(
        sorted(rationals(given["asks"], "asks", 1 if given["any"] else None)),
        given["any"],
        rational(given["repair"], "repair"),
        price,
        [int(x * many) for x in share],
    )
    require(posted.asks and posted.asks[0] > 0, "asks: give prices above 0")
    require(posted.asks[-1] <= posted.repair, "asks: a price is above that of repair")
    require(price, "price: give one or more")
    require(all(x >= y for x, y in pairwise(price)), "price: it rises")
    require(sum(share) == 1, "share: they do not sum to 1")
    return posted


def end_holds(posted, ratio, e, p):
    """Whether a run that ends at step e costs at most ratio × (p − Σ w (p − a)⁺).

    There the price stands at `stands`: who asks no more was bought whole. Nobody who was turned
    away may count, so that none asks from `stands` to p. All but the ratio are whole numbers.
    """
    stands = posted.price[e] if e < len(posted.price) else 0
    if p > posted.repair or any(p > a > stands for a in posted.asks):
        return False
    if posted.any and p > max(stands, posted.asks[0]):
        return False
    by, of = ratio.numerator, ratio.denominator
    spent, rest = 0, sum(posted.share[e:])
    for i, (price, share) in enumerate(zip(posted.price[: e + 1], posted.share)):
        # The highest cost is at an end of what may be asked, or where p or the price stands.
        corners = [*posted.asks, *((p, stands, price) if posted.any else ())]
        asks = [a for a in corners if posted.asks[0] <= a <= price]
        if asks:
            most = max(a * of + (by * max(p - a, 0) if a <= stands else 0) for a in asks)
            spent += share * (most if i < e else max(most - posted.repair * of, 0))
    return spent + rest * posted.repair * of <= by * p * sum(posted.share)


# ---- sequential: no policy costs less ----

Terms = namedtuple("Terms", "skill tasks supply epsilon cost promise")


def sequential(given):
    """What the claim says, where it holds."""
    terms, bound = sequential_bound(given)
    words = {
        "error": "each task wrong at most {} of the time",
        "mean": "{} of the tasks wrong at most in the mean",
        "posterior": "no task closed above a posterior error of {}",
    }[terms.promise].format(f"{float(terms.epsilon):.12g}")
    if "none" in given["claim"]:
        require(bound > 0, "the values prove nothing")
        return f"there is no policy, {words}"
    claimed = rational(table(given["claim"], {"bound"}, "claim")["bound"], "bound")
    require(claimed <= max(bound, 0), f"the values prove {float(bound):.12g} only")
    return f"no policy costs less than {float(claimed):.12g}, {words}"


def sequential_bound(given):
    """The problem, and what prices λ of labels and μ of errors prove.

    Each policy of all tasks does some policy to each task and is charged V or more for it. At most
    λ·C + μ·(errors allowed) of what it is charged is not cost. So where labels cost nothing but λ,
    as with a claim that there is none, no policy keeps a promise of which that is above 0.
    """
    terms = terms_of(given["problem"])
    require(type(given["claim"]) is dict, "claim: no table")
    none = "none" in given["claim"]
    if none:
        require(table(given["claim"], {"none"}, "claim")["none"] is True, "none: true")
    worker = rationals(given["worker_prices"], "worker_prices", len(terms.supply))
    error = rationals(given["error_prices"], "error_prices", len(terms.tasks))
    values = listed(given["values"], "values", len(terms.tasks))
    if terms.promise == "mean":
        require(len(set(error)) == 1, "error_prices: one for all where the mean is promised")
    bound = -sum(price * most for price, most in zip(worker, terms.supply))
    for n, skills, costs, mu, own in zip(terms.tasks, terms.skill, terms.cost, error, values):
        if n == 0:
            require(own is None, "values: null where there are no tasks")
            continue
        bound -= n * mu * terms.epsilon
        workers = telling(
            skills, [(0 if none else cost) + price for cost, price in zip(costs, worker)]
        )
        if terms.promise == "posterior":
            require(mu == 0, "error_prices: 0 where the posterior is promised")
        if own is None:
            continue  # it is charged nothing or more
        require(all(c > 0 for _, c in workers), "a label costs nothing: give null for its values")
        if terms.promise == "posterior":
            bound += n * posterior_task(workers, 1 / terms.epsilon - 1, own)
        else:
            bound += n * error_task(undominated(workers), mu, own)
    return terms, bound


def terms_of(problem):
    """Skills and prices by task type and worker class, tasks, labels there are, and the promise."""
    given = table(problem, Terms._fields, "problem")
    tasks, supply = rationals(given["tasks"], "tasks"), rationals(given["supply"], "supply")
    require(tasks and supply, "tasks, supply: give one or more")
    matrices = [
        [rationals(row, name, len(supply), most) for row in listed(given[name], name, len(tasks))]
        for name, most in (("skill", 1), ("cost", LARGEST))
    ]
    require(all(p >= Fraction(1, 2) for row in matrices[0] for p in row), "skill: one is below 1/2")
    epsilon = rational(given["epsilon"], "epsilon")
    require(0 < epsilon < Fraction(1, 2), "epsilon: it is not between 0 and 1/2")
    require(given["promise"] in ("error", "mean", "posterior"), "promise: error, mean or posterior")
    return Terms(matrices[0], tasks, supply, epsilon, matrices[1], given["promise"])


def telling(skills, charges):
    """(Skill, charge) of workers who tell something, the cheapest of each skill."""
    least = {}
    for p, c in zip(skills, charges):
        if p > Fraction(1, 2):
            least[p] = min(c, least.get(p, c))
    return list(least.items())


def undominated(workers):
    """All but those than whom one tells more for less: where errors have a price.

    Her labels could be made worse by lot (Blackwell), and what stopping is charged is concave, so
    that V is the same without the others. That does not hold where a posterior closes a task: two
    answers of .9 that differ cancel out, one of .9 and one of .8 do not.
    """
    kept, best = [], 0
    for p, c in sorted(workers, key=lambda worker: (worker[1], -worker[0])):
        if p > best:
            kept.append((p, c))
            best = p
    return kept


def error_task(workers, mu, given):
    """What a task is charged at least: v at an error of ½, by values v at errors b of its leader.

    v ≤ μ b, and v ≤ c + E v(b′) for each worker, linear between the errors. The least charge V is
    concave, so v − V is largest at one of the errors, and there stopping and asking leave it at 0
    or below, as no policy asks for ever.
    """
    given = table(given, {"errors", "values"}, "values")
    b = rationals(given["errors"], "errors")
    v = rationals(given["values"], "values", len(b))
    require(len(b) >= 2 and b[0] == 0 and b[-1] == Fraction(1, 2), "errors: from 0 to 1/2")
    require(all(x < y for x, y in pairwise(b)), "errors: they do not rise")
    require(all(x <= mu * y for x, y in zip(v, b)), "values: stopping is charged less")
    many, unit = (math.lcm(*(x.denominator for x in numbers)) for numbers in (b, v))
    points, levels = [int(x * many) for x in b], [int(x * unit) for x in v]

    def expected(wrong, chance):
        """Chance × v at the error wrong/chance, or at that of the other class, rounded down."""
        wrong = min(wrong, chance - wrong)
        i = min(bisect_right(points, wrong * many // chance), len(points) - 1)
        low, high = points[i - 1], points[i]
        sums = levels[i - 1] * (chance * high - wrong * many)
        return (sums + levels[i] * (wrong * many - chance * low)) // (high - low)

    for p, c in workers:
        right, of = p.numerator, p.denominator
        for at, level in zip(points, levels):
            up = (many - at) * right + at * (of - right)  # a label speaks for the leader
            down = many * of - up
            follows = math.floor(c * unit * many * of)
            if up:
                follows += expected(at * (of - right), up)
            if down:
                follows += expected(at * right, down)
            require(level * many * of <= follows, "values: a label and what follows are less")
    return v[-1]


def posterior_task(workers, enough, given):
    """What a task is charged at least until its odds are `enough`, by values w between some odds.

    W = V (1 + o), with o the odds of the leader: a label of odds q takes W(o) to
    c (1 + o) + (1 − p) W(oq) + p W(o/q), and W(o) = o W(1/o). Values are those at both ends of a
    cell of odds, its last odds left out, linear between; 0 from `enough` on. Between odds at which
    an answer leads to the end of a cell both sides are linear: there w is held to be no more than
    what asking comes to, from both sides and at the odds themselves. As no policy asks for ever,
    w ≤ W.
    """
    given = table(given, {"odds", "values"}, "values")
    odds = rationals(given["odds"], "odds")
    rows = listed(given["values"], "values", max(len(odds) - 1, 0))
    ends = [rationals(row, "values, a cell", 2) for row in rows]
    require(len(odds) >= 2 and odds[0] == 1 and odds[-1] == enough, "odds: from 1 to 1/ε − 1")
    require(all(x < y for x, y in pairwise(odds)), "odds: they do not rise")
    for p, c in workers:
        q = p / (1 - p) if p < 1 else None
        turns = [] if q is None else sorted({x for o in odds for x in (o / q, o * q, q / o)})
        for low, high in pairwise(odds):
            inside = turns[bisect_right(turns, low) : bisect_left(turns, high)]
            for at in (low, *inside, high):
                for side in (-1, 0, 1)[at == low : 1 if at == high else None]:
                    follows = c * (1 + at)
                    if q is not None:
                        ahead = worth(odds, ends, at * q, side)
                        follows += (1 - p) * ahead + p * worth(odds, ends, at / q, side)
                    holds = worth(odds, ends, at, side) <= follows
                    require(holds, "values: a label and what follows are less")
    return ends[0][0] / 2


def worth(odds, ends, at, side):
    """w at some odds, or next to them on a side, −1 or 1; of the other class below 1."""
    if at < 1 or (at == 1 and side < 0):
        return at * worth(odds, ends, 1 / at, -side)
    n = (bisect_left if side < 0 else bisect_right)(odds, at) - 1
    if n >= len(ends):
        return 0
    low, high = ends[n]
    return low + (high - low) * (at - odds[n]) / (odds[n + 1] - odds[n])


# ---- what a proof is about ----


def about(given):
    """What the problem is, in a few words, and the digest that names it."""
    problem = given["problem"]
    digest = hashlib.sha256(canonical(problem).encode()).hexdigest()
    said = {"online": about_online, "posted-price": about_posted, "sequential": about_sequential}
    return f"problem {digest[:12]}: {said[given['kind']](problem)}"


def about_online(problem):
    tasks = " + ".join(map(str, problem["tasks"]))
    repair = float(Fraction(problem["repair_price"]))
    prices = span([problem["price"]])
    return f"{tasks} tasks, {len(problem['price'])} types of workers at {prices}, repair {repair:g}"


def about_posted(problem):
    repair = float(Fraction(problem["repair"]))
    return f"asked {span([problem['asks']])}, posted {span([problem['price']])}, repair {repair:g}"


def about_sequential(problem):
    tasks = " + ".join(f"{float(Fraction(n)):g}" for n in problem["tasks"])
    labels = sum(map(Fraction, problem["supply"]))
    classes = len(problem["supply"])
    return (
        f"{tasks} tasks, {classes} class{'es' if classes > 1 else ''} of workers who give "
        f"{float(labels):g} labels at most, skills {span(problem['skill'])}, prices "
        f"{span(problem['cost'])}"
    )


def span(rows):
    """The least and the most of some numbers."""
    numbers = [float(Fraction(value)) for row in rows for value in row]
    if not numbers:
        return "nothing"
    low, high = min(numbers), max(numbers)
    return f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"


# ---- files ----

KINDS = {
    "online": (online, {"sequences"}),
    "posted-price": (posted_price, {"prices"}),
    "sequential": (sequential, {"worker_prices", "error_prices", "values"}),
}


def proven(text):
    """What a proof shows, as it stands in its file; ValueError if wrong."""
    given = parsed(text)
    require(type(given) is dict, "no table")
    require(text == f"{canonical(given)}\n", "not as it is to be written: keys in order, no blanks")
    kind = given.get("kind")
    require(type(kind) is str and kind in KINDS, f"kind: one of {', '.join(KINDS)}")
    holds, fields = KINDS[kind]
    table(given, {"kind", "format", "problem", "claim"} | fields, "a proof")
    require(type(given["format"]) is int and given["format"] == FORMAT, f"format: {FORMAT}")
    return f"{holds(given)}; {about(given)}"


def canonical(given):
    return json.dumps(given, sort_keys=True, separators=(",", ":"))


def line_of(content):
    """Whether a proof holds, and a line that says so, whatever the file is."""
    try:
        return True, f"holds: {proven(content.decode('utf-8'))}"
    except Exception as error:
        said = " ".join(f"{error}".split())[:200] or type(error).__name__
        return False, f"WRONG: {said}"


def file_content(name):
    """Read a file; what is none, a pipe say, would be waited for."""
    path = Path(name)
    if path.exists() and not path.is_file():
        raise OSError(EINVAL, "no file but a folder, pipe or device")
    return path.read_bytes()


def main(names):
    """Print a line a file; 1 if any is wrong."""
    sys.stdout.reconfigure(errors="backslashreplace")
    wrong = not names
    for name in names:
        try:
            holds, line = line_of(file_content(name))
        except (OSError, ValueError) as error:
            holds, line = False, f"WRONG: {' '.join(f'{error}'.split())[:200]}"
        wrong |= not holds
        print(line if len(names) == 1 else f"{name}: {line}", flush=True)
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
