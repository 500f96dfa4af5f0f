"""A plan at a cost known beforehand: labels counted by worker first, then dealt to tasks.

Where the bound over patterns rounds up to one label less than the best plan costs, the master is
all but a plan at that cost, and rounding its patterns loses the little that is to spare. Tasks of
a class and a number of labels form a group. Where the master mixes many workers in a group their
labels can be dealt so that all its tasks are covered about equally: there only the *number* of
labels each worker gives the group is decided, by a small integer program, next to the patterns of
the groups that mix few. The program leaves as much cover to spare as it can; then labels are
dealt, and the task that is covered least is evened out with another, again and again, until all
are covered (two tasks: number partitioning by listing the ways to split what they do not share).

Source of the program: Ho, Jabbari, Vaughan (2013), Section 4.2, (1)–(3).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crowd_models import TypedProblem
from crowd_models.patterns import SLACK, Pattern, limits
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.solving.highs import RunOptions, run
from workbench.solving.linear_model import LinearModel
from workbench.solving.patterns.column_generation import Generated, PatternPlan, Search

if TYPE_CHECKING:
    from scipy import sparse

DIVERSE = 4.0
"""Σ f (1 − f) over the shares f of a group's tasks that each worker has, from which on labels are
dealt: two tasks of the group then differ in some eight labels and more."""
AROUND = 3
"""How far counts may be from the master's."""
WORTH = 1.05
"""Workers who cost more for their quality than any in the master by this factor are left out."""
COLUMNS = 2000
"""Patterns of the other groups, at most."""
SECONDS, NODES = 30.0, 500
"""For the integer program."""
ROUGH = 0.3
"""Relative gap at which it may stop: what is to spare need not be the most."""
SPLIT = 14
"""Labels of two tasks that are dealt anew at once."""
PARTNERS, VAIN = 8, 400
"""Tasks tried beside the one that is covered least, at a time, and in vain before it is left."""

Group = tuple[int, int]
"""A task class and a number of labels."""


def plan_at_cost(search: Search, at: Generated, target: float) -> PatternPlan | None:
    """Look for a plan that costs `target` at most, near the master's optimum.

    Returns
    -------
    PatternPlan or None
        None where the integer program has no solution (or not soon), or where dealing fails.
    """
    problem = search.problem
    groups = _groups(at)
    dealt = [key for key, (tasks, labels) in groups.items() if _diversity(tasks, labels) >= DIVERSE]
    if not dealt:
        return None
    chosen = [
        p
        for p in at.promising(target - at.value + 1e-6, COLUMNS)
        if (p.task_class, int(p.copies.sum())) not in dealt
    ]
    counts = _counted(search, at, {key: groups[key] for key in dealt}, chosen, target)
    if counts is None:
        return None
    tasks, labels, times = counts
    plan = [(p, n) for p, n in zip(chosen, times.tolist(), strict=True) if n]
    for (task_class, length), number, copies in zip(dealt, tasks.tolist(), labels, strict=True):
        quality = problem.quality[task_class]
        rows = deal_rows(number, length, copies, quality)
        need = float(problem.requirement[task_class]) * (1 - SLACK / 10)
        if not level(search, rows, quality, need):
            return None
        plan += [(Pattern.of(problem, task_class, row), 1) for row in rows]
    return plan


def _groups(at: Generated) -> dict[Group, tuple[float, FloatArray]]:
    """Tasks, and labels by worker class, of each group in the master's optimum."""
    groups: dict[Group, tuple[float, FloatArray]] = {}
    for p in np.flatnonzero(at.mix.counts > 1e-6).tolist():
        pattern, count = at.patterns[p], float(at.mix.counts[p])
        key = pattern.task_class, int(pattern.copies.sum())
        tasks, labels = groups.get(key, (0.0, np.zeros(len(pattern.copies))))
        groups[key] = tasks + count, labels + count * pattern.copies
    return groups


def _diversity(tasks: float, labels: FloatArray) -> float:
    share = labels / tasks % 1.0
    return float((share * (1.0 - share)).sum())


class _Columns(NamedTuple):
    """Where the unknowns of the program of counts stand; first come the tasks by group."""

    group: IntArray
    worker: IntArray
    labels: IntArray
    """Columns of x_gk, for each pair of `group` and `worker`."""
    spare: int
    """Column of s."""
    patterns: IntArray


def _counted(
    search: Search,
    at: Generated,
    groups: dict[Group, tuple[float, FloatArray]],
    patterns: list[Pattern],
    target: float,
) -> tuple[IntArray, IntArray, IntArray] | None:
    """Tasks (G,) and labels (G, K) of each group, and tasks of each pattern, all whole.

    By `_count_program`; None without a solution of s > 0.
    """
    model, columns = _count_program(search.problem, at, groups, patterns, target)
    limit, work = search.rest(SECONDS)
    seed = int(search.rng.integers(2**31))
    outcome = run(model, RunOptions(limit, gap=ROUGH, seed=seed, nodes=NODES, work=work))
    if outcome.values is None or outcome.values[columns.spare] <= 0:
        return None
    values = np.rint(outcome.values).astype(np.int64)
    labels = np.zeros((len(groups), search.problem.shape[1]), dtype=np.int64)
    labels[columns.group, columns.worker] = values[columns.labels]
    return values[: len(groups)], labels, values[columns.patterns]


def _count_program(
    problem: TypedProblem,
    at: Generated,
    groups: dict[Group, tuple[float, FloatArray]],
    patterns: list[Pattern],
    target: float,
) -> tuple[LinearModel, _Columns]:
    """The integer program of tasks N_g and labels x_gk by group and tasks λ_p by pattern.

    Maximise s subject to Σ_g N_g + Σ_p λ_p = n_τ by task class, Σ_g x_gk + Σ_p a_pk λ_p ≤ m_k M_k,
    Σ_k x_gk = l_g N_g, x_gk ≤ m_k N_g, Σ_k q_k x_gk ≥ C N_g + s N̄_g with the master's N̄, and
    total cost ≤ `target`.
    """
    from scipy import sparse  # a quarter of a second, and few plans come here

    kinds, classes = problem.shape
    kind, length = np.array(list(groups)).T
    tasks = np.array([n for n, _ in groups.values()])
    labels = np.array([x for _, x in groups.values()])
    g, k = np.nonzero(_worth(problem, at)[kind])
    x, most = labels[g, k], np.array([limits(problem, t) for t in range(kinds)])
    every, pairs, last = np.arange(len(tasks)), np.arange(len(g)), np.arange(len(patterns))
    amounts, spare = len(tasks) + pairs, len(tasks) + len(g)
    own, price = spare + 1 + last, np.array([p.cost for p in patterns])
    of = np.array([p.task_class for p in patterns], dtype=np.int64)
    copies = np.array([p.copies for p in patterns]).reshape(len(patterns), classes)
    p, by = np.nonzero(copies)
    columns, cost = spare + 1 + len(patterns), problem.prices[kind[g], k]
    blocks = [
        _block(kinds, columns, (kind, every, 1.0), (of, own, 1.0)),
        _block(classes, columns, (k, amounts, 1.0), (by, own[p], copies[p, by])),
        _block(len(tasks), columns, (g, amounts, 1.0), (every, every, -length)),
        _block(len(g), columns, (pairs, amounts, 1.0), (pairs, g, -most[kind[g], k])),
        _block(
            len(tasks),
            columns,
            (g, amounts, problem.quality[kind[g], k]),
            (every, every, -problem.requirement[kind]),
            (every, spare + 0 * every, -tasks),
        ),
        _block(1, columns, (0 * pairs, amounts, cost), (0 * last, own, price)),
    ]
    none, free = np.zeros(len(tasks)), np.full(len(tasks), np.inf)
    unbounded = np.full(classes, -np.inf), np.full(len(g), -np.inf), np.array([-np.inf])
    row_lower = np.concatenate(
        [problem.tasks, unbounded[0], none, unbounded[1], none, unbounded[2]]
    )
    row_upper = np.concatenate(
        [problem.tasks, problem.supply, none, np.zeros(len(g)), free, np.array([target + 1e-6])]
    )
    matrix = sparse.csc_matrix(sparse.vstack(blocks))
    near = np.append(tasks, x)
    goal = np.zeros(columns)
    goal[spare] = 1.0
    model = LinearModel(
        goal,
        np.concatenate([np.maximum(np.floor(near) - AROUND, 0.0), [0.0], 0.0 * last]),
        np.concatenate([np.ceil(near) + AROUND, [1.0], problem.tasks[of]]),
        row_lower,
        row_upper,
        matrix.indptr,
        matrix.indices.astype(np.int32),
        matrix.data,
        integer=True,
        maximise=True,
        whole=goal == 0,
    )
    return model, _Columns(g, k, amounts, spare, own)


def _worth(problem: TypedProblem, at: Generated) -> BoolArray:
    """Which workers a task class may take, shape (T, K): no worse than the master's, or hardly."""
    used = np.zeros(problem.shape)
    for p in np.flatnonzero(at.mix.counts > 1e-6).tolist():
        used[at.patterns[p].task_class] += at.patterns[p].copies
    rate = (problem.prices + at.worker_prices) / np.maximum(problem.quality, 1e-9)
    highest = np.where(used > 0, rate, 0.0).max(axis=1, keepdims=True)
    worth: BoolArray = rate <= WORTH * highest
    return worth


def _block(
    rows: int, columns: int, *parts: tuple[IntArray, IntArray, FloatArray | float]
) -> sparse.coo_matrix:
    """Some rows of a matrix, from row numbers, column numbers and entries."""
    from scipy import sparse

    row, column = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
    value = np.concatenate([np.broadcast_to(part[2], len(part[0])) for part in parts])
    return sparse.coo_matrix((value.astype(float), (row, column)), shape=(rows, columns))


def deal_rows(tasks: int, length: int, labels: IntArray, quality: FloatArray) -> IntArray:
    """Deal labels by worker class, shape (K,), to tasks of `length` labels each: shape (n, K).

    The busiest first, each to the tasks that lack most labels, and of those to the least covered:
    what tasks lack never differs by more than one (Gale 1957, Ryser 1957), so it comes out even.
    """
    rows = np.zeros((tasks, len(labels)), dtype=np.int64)
    left, cover = np.full(tasks, length), np.zeros(tasks)
    for k in np.argsort(-labels, kind="stable").tolist():
        for number in [tasks] * int(labels[k] // max(tasks, 1)) + [int(labels[k] % max(tasks, 1))]:
            to = np.lexsort((cover, -left))[:number]
            rows[to, k] += 1
            left[to] -= 1
            cover[to] += quality[k]
    return rows


def level(search: Search, rows: IntArray, quality: FloatArray, need: float) -> bool:
    """Even rows out, in place, until each covers `need`; say whether they do.

    All rows together keep their labels, so the cost and the capacities stay as they are.
    """
    cover = rows @ quality
    vain = np.zeros(len(rows), dtype=np.int64)
    while (cover < need).any():
        search.check()
        least = int(np.argmin(np.where(vain < VAIN, cover, np.inf)))
        if vain[least] >= VAIN or cover[least] >= need or cover.mean() < need:
            return False
        best = cover[least] * (1 + 1e-12), least, rows[least], rows[least]
        for other in [
            int(np.argmax(cover)),
            *search.rng.integers(len(rows), size=PARTNERS).tolist(),
        ]:
            if other != least:
                a, b = _split(search, rows[least], rows[other], quality)
                lower = min(float(quality @ a), float(quality @ b))
                best = max(best, (lower, other, a, b), key=lambda attempt: attempt[0])
            if best[0] >= need - 0.5 * (need - cover[least]):
                break
        _, other, *new = best
        if other == least:
            vain[least] += PARTNERS
            continue
        rows[[least, other]] = new
        cover[[least, other]] = rows[[least, other]] @ quality
        vain[[least, other]] = 0
    return True


def _split(
    search: Search, a: IntArray, b: IntArray, quality: FloatArray
) -> tuple[IntArray, IntArray]:
    """Deal labels of two tasks anew, so that the one covered less is covered most."""
    lots = search.rng.permutation(np.repeat(np.arange(len(a)), np.abs(a - b)))[:SPLIT]
    from_a = a[lots] > b[lots]
    cover = np.array([quality @ a - quality[lots[from_a]].sum()])
    for lot in lots.tolist():
        cover = np.append(cover, cover + quality[lot])
    both = float(quality @ a + quality @ b)
    at = int(np.argmax(np.minimum(cover, both - cover)))
    change = np.zeros_like(a)
    np.add.at(change, lots, (at >> np.arange(len(lots)) & 1) - from_a)
    return a + change, b - change
