"""A proof as a VIPR 1.1 certificate, which checkers that others wrote can read.

Source of the format: Cheung, Gleixner, Steffy (2017), "Verifying integer programming results". The
certificate states the integer program (1)–(3) of Ho, Jabbari, Vaughan (2013), each cover in whole
multiples of a unit and the cost in steps of prices, and derives: for each task, that its labels at
the workers' prices cost so much at least (`pricing_tree`; tasks of a kind share the tree); the sum
of these less what the capacities cost; the same rounded up; and so on both sides of a split.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from workbench.base.checker import plan_checker
from workbench.base.errors import InputError
from workbench.solving.pricing_tree import (
    CountSplit,
    LabelLimit,
    LabelSplit,
    LeastPrice,
    PriceRate,
    PriceTree,
    TooLargeError,
    charged,
    size,
    smaller_tree,
)

NODES = 20_000
"""Of the tree of one kind of task."""
LINES = 1_000_000
"""Derivations in all: beyond it files grow past what is of use."""
UNITS = (1, 4, 16, 64, 1024, 10**5, 10**9)
"""Parts of a price that workers' prices are rounded to, the first that proves enough."""
BESIDE = 1
"""Further units that are tried, in case the trees are smaller."""

SMALL = 300_000
"""Derivations that are few enough to look no further."""
SPARED = Fraction(999, 1000)
"""Share of what a leaf proves beyond what is asked that its tasks need not prove."""
OUT_OF_REACH = -(10**9)
"""Stands for the target of a task that nobody can cover."""

Terms = list[tuple[int, Any]]
Assumed = tuple[tuple[Any, int], ...]
"""Sides of splits, and where they are assumed."""


@dataclass
class Lines:
    """Lines of a certificate, and how many constraints there are so far."""

    rows: int = 0
    lines: list[str] = field(default_factory=list)

    def add(self, sense: str, rhs: Any, terms: Terms | str, reason: str = "") -> int:
        """Write a constraint, or one derived for a reason; give its index."""
        shown = terms if isinstance(terms, str) else listed(terms)
        by = f" {{ {reason} }} -1" if reason else ""
        self.lines.append(f"C{self.rows} {sense} {rhs} {shown}{by}")
        self.rows += 1
        return self.rows - 1


def listed(terms: Terms) -> str:
    """Write how many, then index and value of each."""
    return f"{len(terms)} " + " ".join(f"{at} {value}" for at, value in terms)


def vipr_file(content: bytes, text: str) -> bytes:
    """Write a proof, as it stands in its file, as a certificate.

    Raises
    ------
    InputError
        The proof is wrong, of another kind than of plans by covers, by class, or too large.
    """
    checker = plan_checker()
    holds, line = checker["line_of"](content, text)
    if not holds:
        raise InputError(f"proof: {line}")
    proof = checker["parsed"](text)
    if proof["kind"] != "assignment":
        raise InputError(f"vipr: has no form for a proof of kind {proof['kind']!r}")
    return certificate(checker, checker["read"](content.decode("utf-8")), proof)


def certificate(checker: dict[str, Any], problem: Any, proof: dict[str, Any]) -> bytes:
    """Write a certificate of a proof that holds.

    Raises
    ------
    InputError
        It is of a problem by class, or is too large.
    """
    if {*problem.times, *problem.copies} != {1} or "patterns" in proof:
        raise InputError("vipr: the problem is stated by class; only pairs can be written")
    program = PairProgram.of(problem)
    derived = Derivation(checker, program, proof["claim"])
    root = derived.node(proof["tree"], ())
    head = [
        *program.head,
        *_claimed(program, proof),
        f"DER {derived.written.rows - program.rows}",
    ]
    assert root == derived.written.rows - 1
    return ("\n".join([*head, *derived.written.lines]) + "\n").encode()


def _claimed(program: PairProgram, proof: dict[str, Any]) -> list[str]:
    """What is to be proven, and the plan."""
    claim = proof["claim"]
    if "infeasible" in claim:
        return ["RTP infeas", "SOL 0"]
    bound = program.steps(claim["bound"])
    if "labels" not in proof:
        return [f"RTP range {bound} inf", "SOL 0"]
    labels = [(program.first[i][j], 1) for i, row in enumerate(proof["labels"]) for j in row]
    cost = program.steps(claim["cost"])
    return [f"RTP range {bound} {cost}", "SOL 1", f"plan {listed(sorted(labels))}"]


@dataclass(frozen=True)
class PairProgram:
    """The integer program: variable of each task's workers, and where its constraints stand.

    `step` is the money that prices are multiples of; `unit` of each kind makes qualities whole.
    """

    problem: Any
    step: Fraction
    unit: dict[Any, int]
    first: list[dict[int, int]]
    capacity: dict[int, int]
    cover: list[int]
    least: dict[int, int]
    most: dict[int, int]
    rows: int
    head: list[str]

    @classmethod
    def of(cls, problem: Any) -> PairProgram:
        """Number the variables task by task, bounds first among the constraints."""
        variables: list[dict[int, int]] = []
        names: list[str] = []
        for i, key in enumerate(problem.of):
            able = [j for j, free in enumerate(problem.kinds[key].free) if free]
            variables.append({j: len(names) + k for k, j in enumerate(able)})
            names += [f"y({i}_{j})" for j in able]
        step = _step(problem)
        unit = {key: _unit(kind.quality) for key, kind in problem.kinds.items()}
        written, size = Lines(), len(names)
        for v in range(size):
            written.add("G", 0, [(v, 1)])
            written.add("L", 1, [(v, 1)])
        capacity = {}
        for j, most in enumerate(problem.capacity):
            own = [(row[j], 1) for row in variables if j in row]
            if own:
                capacity[j] = written.add("L", most, own)
        cover = []
        for row, key in zip(variables, problem.of, strict=True):
            kind, many = problem.kinds[key], unit[key]
            terms = [(v, int(kind.quality[j] * many)) for j, v in row.items() if kind.quality[j]]
            cover.append(written.add("G", kind.need * many, terms))
        least, most = _limits(problem, variables, written)
        prices = [
            (v, Fraction(problem.kinds[key].cost[j]) / step)
            for row, key in zip(variables, problem.of, strict=True)
            for j, v in row.items()
        ]
        head = [
            f"% cost in steps of {step}; covers in whole multiples of each task's unit",
            *("VER 1.1", f"VAR {size}", *names, f"INT {size}", *map(str, range(size))),
            *("OBJ min", listed([(v, c) for v, c in prices if c])),
            *(f"CON {written.rows} {2 * size}", *written.lines),
        ]
        return cls(problem, step, unit, variables, capacity, cover, least, most, written.rows, head)

    def steps(self, money: int | str) -> Fraction:
        """Money in steps of prices."""
        return Fraction(money) / self.step


def _limits(
    problem: Any, variables: list[dict[int, int]], written: Lines
) -> tuple[dict[int, int], dict[int, int]]:
    """Write least and most labels of tasks; where they stand."""
    least, most = dict[int, int](), dict[int, int]()
    for i, (row, key) in enumerate(zip(variables, problem.of, strict=True)):
        kind, terms = problem.kinds[key], [(v, 1) for v in row.values()]
        if kind.least > 0:
            least[i] = written.add("G", kind.least, terms)
        if kind.most < math.inf:
            most[i] = written.add("L", kind.most, terms)
    return least, most


def _step(problem: Any) -> Fraction:
    """The largest number that all prices are multiples of; 1 where all are 0."""
    costs = {
        Fraction(c)
        for kind in problem.kinds.values()
        for c, free in zip(kind.cost, kind.free, strict=True)
        if free
    }
    many = math.lcm(*(c.denominator for c in costs))
    return Fraction(math.gcd(*(int(c * many) for c in costs)), many) or Fraction(1)


def _unit(quality: Iterable[Any]) -> int:
    return math.lcm(*(Fraction(q).denominator for q in quality))


@dataclass(frozen=True)
class PricedKind:
    """What a task of a kind is asked to prove: workers by kind of equal ones, and the tree."""

    pricing: LeastPrice
    members: list[list[int]]
    tree: PriceTree


@dataclass(frozen=True)
class PricedLeaf:
    """Prices at a leaf, in parts of a step, and what a task of each group proves at them."""

    parts: int
    workers: list[Fraction]
    sides: list[Fraction]
    tasks: dict[Any, PricedKind]
    lines: int


@dataclass
class Derivation:
    """What is derived from a program, from the leaves of a proof up."""

    checker: dict[str, Any]
    program: PairProgram
    claim: dict[str, Any]

    def __post_init__(self) -> None:
        self.written, self.lines = Lines(self.program.rows), 0
        self.priced = "infeasible" not in self.claim
        self.least = self.program.steps(self.claim["bound"]) if self.priced else Fraction(0)

    def node(self, node: dict[str, Any], sides: Assumed) -> int:
        """Derive what is claimed on some sides, each with the index where it is assumed."""
        if "pairs" not in node:
            return self.leaf(node, sides)
        both = self.checker["branches"](self.program.problem, node, tuple(s for s, _ in sides))
        ends = []
        for inner, inside in both:
            side = inside[-1]
            terms = [(v, 1) for v in self._pairs(side)]
            sense = "L" if side.sign > 0 else "G"
            at = self.written.add(sense, side.sign * side.limit, terms, "asm")
            ends += [self.node(inner, (*sides, (side, at))), at]
        return self._claim(f"uns {ends[0]} {ends[1]} {ends[2]} {ends[3]}")

    def _claim(self, reason: str) -> int:
        if self.priced:
            return self.written.add("G", self.least, "OBJ", reason)
        return self.written.add("G", 1, [], reason)

    def _pairs(self, side: Any) -> list[int]:
        """Variables of the pairs of a side."""
        rows = zip(side.block, self.program.first, strict=True)
        return sorted(
            row[j]
            for block, row in rows
            if block is not None
            for j in side.workers[block]
            if j in row
        )

    def leaf(self, node: dict[str, Any], sides: Assumed) -> int:
        """Derive the bound of a leaf: the tasks' least prices, less the charges."""
        priced = self._priced([side for side, _ in sides], node)
        self.lines += priced.lines
        if self.lines > LINES:
            raise InputError(f"vipr: more than {LINES:,} derivations are too many")
        terms: Terms = []
        for i, row in enumerate(self.program.first):
            task = priced.tasks.get(self._group(i, [side for side, _ in sides]))
            if task is None:  # another task is out of reach, which is enough
                continue
            at = self._task(i, row, task)
            if task.pricing.target == OUT_OF_REACH:
                return self._claim(f"lin {listed([(at, 1)])}")
            terms.append((at, Fraction(1, priced.parts)))
        terms += [
            (self.program.capacity[j], -u)
            for j, u in enumerate(priced.workers)
            if u and j in self.program.capacity
        ]
        for (side, at), mu in zip(sides, priced.sides, strict=True):
            terms += [(at, -side.sign * mu)] if mu else []
        return self._claim(f"{'rnd' if self.priced else 'lin'} {listed(terms)}")

    def _group(self, i: int, sides: Sequence[Any]) -> tuple[Any, ...]:
        return self.program.problem.of[i], tuple(side.block[i] for side in sides)

    def _priced(self, sides: list[Any], node: dict[str, Any]) -> PricedLeaf:
        """The leaf at its prices rounded to short ones: those of the smallest trees."""
        best, beside = None, 0
        for parts in UNITS:
            at = self._rounded(parts, sides, node)
            if at is not None and (best is None or at.lines < best.lines):
                best = at
            beside += best is not None
            if best is not None and (beside > BESIDE or best.lines <= SMALL):
                return best
        if best is None:
            raise InputError(f"vipr: some task takes more than {NODES:,} nodes, or short prices")
        return best

    def _rounded(self, parts: int, sides: list[Any], node: dict[str, Any]) -> PricedLeaf | None:
        """The same at prices of whole parts of a step; None where they prove too little."""
        problem, step = self.program.problem, self.program.step
        u, mu = (
            [Fraction(round(Fraction(x) / step * parts), parts) for x in node[name]]
            for name in ("worker_prices", "side_prices")
        )
        # Who may label nothing is charged whatever keeps her out.
        high = 10**6 + math.ceil(sum(u) + sum(mu))
        u = [x if most else Fraction(high) for x, most in zip(u, problem.capacity, strict=True)]
        groups = Counter(self._group(i, sides) for i in range(len(problem.of)))
        charges = {group: self._charge(group, sides, u, mu) for group in groups}
        least = {
            (key, blocks): self.checker["task_bound"](
                problem, problem.kinds[key], [x * step for x in charge], self.priced
            )
            for (key, blocks), charge in charges.items()
        }
        bound = sum(times * least[group] for group, times in groups.items()) / step
        bound -= sum(x * most for x, most in zip(u, problem.capacity, strict=True))
        bound -= sum(x * side.limit for x, side in zip(mu, sides, strict=True))
        slack = bound - (math.ceil(self.least) - 1 if self.priced else 0)
        if slack <= 0:
            return None
        spare = 0 if slack == math.inf else slack / len(problem.of) * SPARED
        try:
            tasks = {
                group: self._kind(group[0], charge, least[group] / step - spare, parts)
                for group, charge in charges.items()
                if slack < math.inf or least[group] == math.inf
            }
        except TooLargeError:
            return None
        nodes = sum(groups[group] * size(task.tree) for group, task in tasks.items())
        return PricedLeaf(parts, u, mu, tasks, 2 * nodes)

    def _charge(
        self, group: Any, sides: list[Any], u: list[Fraction], mu: list[Fraction]
    ) -> list[Fraction]:
        """What each worker is charged on a task of a group, in steps."""
        charge = list(u)
        for price, side, block in zip(mu, sides, group[1], strict=True):
            for j in side.workers[block] if block is not None else ():
                charge[j] += side.sign * price
        return charge

    def _kind(self, key: Any, charge: list[Fraction], least: Any, parts: int) -> PricedKind:
        """The tree of a kind of task, whose labels cost `least` steps at least."""
        kind, step, unit = (
            self.program.problem.kinds[key],
            self.program.step,
            self.program.unit[key],
        )
        equal: dict[tuple[int, int], list[int]] = {}
        for j, (q, c, free) in enumerate(zip(*kind[:3], strict=True)):
            if free:
                asked = (Fraction(c) / step * self.priced + charge[j]) * parts
                equal.setdefault((int(q * unit), int(asked)), []).append(j)
        quality, price = zip(*equal, strict=True) if equal else ((), ())
        target = OUT_OF_REACH if least == math.inf else math.ceil(least * parts)
        limits = [(-1, kind.least)] if kind.least > 0 else []
        limits += [(1, kind.most)] if kind.most < math.inf else []
        copies = tuple(map(len, equal.values()))
        pricing = LeastPrice(quality, price, copies, kind.need * unit, target, tuple(limits))
        tree = smaller_tree(pricing, NODES)
        if target == OUT_OF_REACH and not (isinstance(tree, PriceRate) and tree.scale == 0):
            raise TooLargeError
        return PricedKind(pricing, list(equal.values()), tree)

    def _task(self, i: int, row: dict[int, int], task: PricedKind) -> int:
        """Derive what the labels of a task cost at least."""
        pricing = task.pricing
        members = [[row[j] for j in those] for those in task.members]
        terms = sorted(
            (v, a) for a, those in zip(pricing.price, members, strict=True) for v in those if a
        )
        limits = self.program.least.get(i, -1), self.program.most.get(i, -1)
        shared = TaskLabels(self.written, self.program.cover[i], pricing, members, limits)
        if isinstance(task.tree, PriceRate):
            if task.tree.scale == 0:
                return shared.absurd(task.tree, None, shared.start)
            reason = listed(shared.combined(task.tree, shared.start, Fraction(1, task.tree.scale)))
            return self.written.add("G", pricing.target, terms, f"rnd {reason}")
        less = self.written.add("L", pricing.target - 1, terms, "asm")
        if isinstance(task.tree, LabelSplit):
            top = shared.split(task.tree, less)
        else:
            top = shared.node(task.tree, less, shared.start)
        more = self.written.add("G", pricing.target, terms, "asm")
        return self.written.add("G", pricing.target, terms, f"uns {top} {less} {more} {more}")


Ends = list[tuple[int | None, int | None]]
"""By kind of worker: where fewest and most labels are assumed."""


@dataclass(frozen=True)
class TaskLabels:
    """The labels of one task, whose prices are assumed to be less than the target."""

    written: Lines
    cover: int
    pricing: LeastPrice
    members: list[list[int]]
    limits: tuple[int, int]
    """Where least and most labels are stated; of use where there are such."""
    labels: tuple[int, int] | None = None
    """Where the number of all labels is limited, and what each is charged for that."""

    @property
    def start(self) -> Ends:
        """Nothing is assumed yet."""
        return [(None, None)] * len(self.members)

    def split(self, tree: LabelSplit, less: int) -> int:
        """Derive it where all labels are split."""
        terms = sorted((v, 1) for those in self.members for v in those)
        at = self.written.add("L", tree.most, terms, "asm")
        few = self._charged(tree.charges[0], tree.most, at)
        below = few.node(tree.below, less, self.start)
        more = self.written.add("G", tree.most + 1, terms, "asm")
        many = self._charged(-tree.charges[1], tree.most + 1, more)
        above = many.node(tree.above, less, self.start)
        return self.written.add("G", 1, [], f"uns {below} {at} {above} {more}")

    def _charged(self, charge: int, labels: int, at: int) -> TaskLabels:
        return replace(self, pricing=charged(self.pricing, charge, labels), labels=(at, charge))

    def node(self, node: PriceTree, less: int, ends: Ends) -> int:
        """Derive that 0 ≥ 1."""
        if isinstance(node, PriceRate):
            return self.absurd(node, less, ends)
        if isinstance(node, LabelLimit):
            at = self.limits[node.charge > 0]
            return self._charged(node.charge, node.labels, at).absurd(node.leaf, less, ends)
        assert isinstance(node, CountSplit)
        kind, terms = node.kind, [(v, 1) for v in self.members[node.kind]]
        fewest, most = ends[kind]
        at = self.written.add("L", node.most, terms, "asm")
        below = self.node(node.below, less, [*ends[:kind], (fewest, at), *ends[kind + 1 :]])
        more = self.written.add("G", node.most + 1, terms, "asm")
        above = self.node(node.above, less, [*ends[:kind], (more, most), *ends[kind + 1 :]])
        return self.written.add("G", 1, [], f"uns {below} {at} {above} {more}")

    def absurd(self, leaf: PriceRate, less: int | None, ends: Ends) -> int:
        """Derive it at a leaf."""
        terms = self.combined(leaf, ends, Fraction(1))
        if less is not None and leaf.scale:
            terms.append((less, -leaf.scale))
        if self.labels is not None and self.labels[1] and leaf.scale:
            terms.append((self.labels[0], -self.labels[1] * leaf.scale))
        return self.written.add("G", 1, [], f"lin {listed(terms)}")

    def combined(self, leaf: PriceRate, ends: Ends, times: Fraction) -> Terms:
        """The cover at a rate, and what is left of the prices by the ends of each kind."""
        terms: Terms = [(self.cover, leaf.rate * times)] if leaf.rate else []
        for q, a, those, (fewest, most) in zip(
            self.pricing.quality, self.pricing.price, self.members, ends, strict=True
        ):
            rest = leaf.scale * a - leaf.rate * q
            at = fewest if rest > 0 else most
            if rest and at is not None:
                terms.append((at, rest * times))
            elif rest:
                terms += [(2 * v + (rest < 0), rest * times) for v in those]
        return terms
