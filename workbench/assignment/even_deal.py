"""So many labels a task, shared evenly: who labels what where nobody asks for an error.

Wanted are, one after the other: the largest load least, and so on down the loads (each beside the
worker's share of the work); then the fewest tasks that two workers have in common as many as can
be, so that every two can be compared; then workers connected by tasks in common.

Loads. Tasks are dealt to the least loaded, and of these to whoever shares least with those who have
the task. Where a task finds nobody, or a label could move to somebody less loaded, it moves along
a chain of exchanges: u gives a task to v, v another to w. What loads can come out is a base of a
polymatroid, so that where no chain is left no loads are more even (Federgruen, Groenevelt 1986),
and where a task finds nobody along any chain there is no deal at all: those whom chains reach are
full, and the tasks that they hold, and this one, can be given to nobody else.

Pairs. Two tasks exchange a worker each, which leaves all loads as they are, as long as pairs below
their bound gain by it. The bound counts: a task of t labels has t (t − 1)/2 pairs, and a worker's
tasks bring her as many others as they have labels beside hers; no two can share more tasks than
both may have. Where the least pair is at the bound no deal of these loads spreads pairs better.

`crowd_models.teams` states the same as a program over teams; a test holds the two together.

Source: Federgruen, Groenevelt (1986), "The greedy procedure for resource allocation problems",
Operations Research, Section 2; Krippendorff (2011) for why pairs should share tasks.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.seeds import stream

SAMPLE = 60
"""Tasks of either side of an exchange that are looked at together."""
VAIN = 1000
"""Looks for an exchange, one after the other, after which no pair below its bound has gained."""
TRIES = 4000
"""Exchanges that are tried to connect workers."""
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class DealTerms:
    """What is to be dealt to n tasks and m workers.

    Attributes
    ----------
    size
        Labels that each task is to get, shape (n,).
    capacity
        Most labels of each worker, shape (m,).
    share
        Of the work, relative to the others', above 0; shape (m,).
    allowed
        Who may be given which task, shape (n, m); those who have labelled it not.
    had
        Who has labelled it, shape (n, m): that counts for tasks in common, and for no load.
    """

    size: IntArray
    capacity: IntArray
    share: FloatArray
    allowed: BoolArray
    had: BoolArray


@dataclass(frozen=True, eq=False)
class Stuck:
    """Why there is no deal.

    Attributes
    ----------
    task
        That finds nobody for a label.
    workers
        Who may have it, or take over for one who may: all are full, or have it.
    tasks
        Those that only these workers can be given, that one among them.
    """

    task: int
    workers: IntArray
    tasks: IntArray


@dataclass(eq=False)
class Deal:
    """Who labels what.

    Attributes
    ----------
    terms
        What was asked.
    given
        Shape (n, m).
    shared
        Tasks that two workers have in common, labels on record included; the diagonal is 0.
    """

    terms: DealTerms
    given: BoolArray
    shared: IntArray
    rng: np.random.Generator = field(repr=False)

    @property
    def loads(self) -> IntArray:
        """Labels of each worker, shape (m,)."""
        loads: IntArray = self.given.sum(axis=0)
        return loads

    @property
    def team(self) -> BoolArray:
        """Who has labelled a task, or will, shape (n, m)."""
        return self.given | self.terms.had

    @property
    def working(self) -> IntArray:
        """Workers with a task."""
        return np.flatnonzero(self.loads)

    @property
    def least_shared(self) -> int | None:
        """Tasks in common of the two with the fewest; None with one worker."""
        pairs = _pairs(self.shared, self.working)
        return int(pairs.min()) if len(pairs) else None

    @property
    def bound(self) -> int:
        """No deal of these loads has more tasks in common for every two who get tasks."""
        working = self.working
        if len(working) < 2:
            return 0
        team = self.team[:, working].astype(np.float64)
        size = team.sum(axis=1)
        others = len(working) - 1
        by_worker = ((size - 1.0) @ team).min() if len(set(size[size > 0])) == 1 else None
        most = size.max() - 1.0
        by_worker = float(most * team.sum(axis=0).min()) if by_worker is None else float(by_worker)
        in_all = float((size * (size - 1.0)).sum()) / len(working)
        may = (self.terms.allowed | self.terms.had)[:, working].astype(np.float64)
        both = _pairs((may.T @ may).astype(np.int64), np.arange(len(working)))
        return int(min(in_all // others, by_worker // others, both.min()))

    @property
    def members(self) -> IntArray:
        """Workers with a task, now or before."""
        return np.flatnonzero(self.team.any(axis=0))

    @property
    def parts(self) -> int:
        """Groups of workers that share tasks with one another and with nobody else."""
        return _components(self.shared, self.members)


def even_deal(terms: DealTerms, *, seed: int = 0) -> Deal | Stuck:
    """Deal labels evenly.

    Parameters
    ----------
    terms
        What is to be dealt.
    seed
        Of the choice among those who are as good.

    Returns
    -------
    The deal; or why there is none.
    """
    n, m = terms.allowed.shape
    had = terms.had.astype(np.int64)
    shared = had.T @ had
    np.fill_diagonal(shared, 0)
    deal = Deal(terms, np.zeros((n, m), dtype=np.bool_), shared, stream(seed, "deal"))
    stuck = _fill(deal)
    if stuck is not None:
        return stuck
    _even(deal)
    _spread(deal)
    _connect(deal)
    return deal


def _fill(deal: Deal) -> Stuck | None:
    """Give every task its labels, in place: the scarce tasks first."""
    terms = deal.terms
    room = terms.allowed.sum(axis=1) - terms.size
    order = deal.rng.permutation(len(room))
    order = order[np.argsort(room[order], kind="stable")]
    shared = deal.shared.astype(np.float64)
    load = np.zeros(len(terms.share), dtype=np.int64)
    key = np.where(load < terms.capacity, 1.0 / terms.share, np.inf)
    lot = deal.rng.random(len(load)) * 0.5
    everybody = bool(terms.allowed.all())
    for task in order.tolist():
        members = np.flatnonzero(terms.had[task]).tolist()
        common = shared[members].sum(axis=0) + lot
        free = key.copy() if everybody else np.where(terms.allowed[task], key, np.inf)
        for _ in range(int(terms.size[task])):
            least = free.min()
            if least == np.inf:
                deal.given[task] = False
                deal.given[task, members] = ~terms.had[task, members]
                deal.shared = _shared(deal.team)
                stuck = _make_room(deal, task)
                if stuck is not None:
                    return stuck
                members = np.flatnonzero(deal.team[task]).tolist()
                shared = deal.shared.astype(np.float64)
                load = deal.loads
                key = np.where(load < terms.capacity, (load + 1) / terms.share, np.inf)
                continue
            near = np.where(free <= least * (1.0 + ROUNDING), common, np.inf)
            worker = int(near.argmin())
            shared[worker, members] += 1.0
            shared[members, worker] += 1.0
            members.append(worker)
            common += shared[worker]
            load[worker] += 1
            full = load[worker] >= terms.capacity[worker]
            key[worker] = np.inf if full else (load[worker] + 1) / terms.share[worker]
            free[worker] = np.inf
        deal.given[task, members] = ~terms.had[task, members]
    deal.shared = _shared(deal.team)
    return None


def _make_room(deal: Deal, task: int) -> Stuck | None:
    """Give a task a label by a chain of exchanges that ends with somebody who has room."""
    terms, loads = deal.terms, deal.loads
    moves = _moves(deal)
    start = np.flatnonzero(terms.allowed[task] & ~deal.given[task])
    came = np.full(len(loads), -2, dtype=np.int64)
    came[start] = -1
    ahead = start
    while len(ahead):
        room = ahead[loads[ahead] < terms.capacity[ahead]]
        if len(room):
            chain = _chain(came, int(room[0]))
            _move(deal, chain)
            deal.given[task, chain[0]] = True
            deal.shared = _shared(deal.team)
            return None
        fresh = (moves[ahead] > 0) & (came < -1)[None]
        new = np.flatnonzero(fresh.any(axis=0))
        came[new] = ahead[fresh[:, new].argmax(axis=0)]
        ahead = new
    reached = np.flatnonzero(came > -2)
    beyond = np.ones(len(loads), dtype=np.bool_)
    beyond[reached] = False
    to_others = terms.allowed & ~deal.given & beyond[None]
    held = np.any(deal.given[:, reached], axis=1) & ~np.any(to_others, axis=1)
    return Stuck(task, reached, np.union1d(np.flatnonzero(held), task))


def _even(deal: Deal) -> None:
    """Move labels to the less loaded along chains, in place, until none can move."""
    terms = deal.terms
    moves: IntArray | None = None
    done: set[int] = set()
    while True:
        loads = deal.loads
        height, step = loads / terms.share, (loads + 1) / terms.share
        step = np.where(loads < terms.capacity, step, np.inf)
        order = np.argsort(-height, kind="stable").tolist()
        high = next((u for u in order if u not in done and loads[u]), None)
        if high is None or step.min() >= height[high] * (1.0 - ROUNDING):
            break
        if moves is None:
            moves = _moves(deal)
        chain = _lower(moves, high, step, float(height[high]))
        if chain is None:
            done.add(high)
            continue
        _move(deal, chain)
        moves = _moves(deal)
        done.clear()
    deal.shared = _shared(deal.team)


def _lower(moves: IntArray, high: int, step: FloatArray, height: float) -> list[int] | None:
    """The shortest chain from somebody to one whom a label more leaves below her."""
    came = np.full(len(step), -2, dtype=np.int64)
    came[high] = -1
    ahead = np.array([high])
    while len(ahead):
        fresh = (moves[ahead] > 0) & (came < -1)[None]
        new = np.flatnonzero(fresh.any(axis=0))
        if not len(new):
            return None
        came[new] = ahead[fresh[:, new].argmax(axis=0)]
        best = int(new[step[new].argmin()])
        if step[best] < height * (1.0 - ROUNDING):
            return _chain(came, best)
        ahead = new
    return None


def _chain(came: IntArray, end: int) -> list[int]:
    """Workers from the start of a search to its end."""
    chain = [end]
    while came[chain[-1]] >= 0:
        chain.append(int(came[chain[-1]]))
    return chain[::-1]


def _moves(deal: Deal) -> IntArray:
    """How many tasks one has that another could be given instead, shape (m, m)."""
    out = deal.terms.allowed & ~deal.given
    moved: IntArray = (deal.given.T.astype(np.float32) @ out.astype(np.float32)).astype(np.int64)
    return moved


def _move(deal: Deal, chain: list[int]) -> None:
    """Each of a chain gives a task to the next, in place."""
    for one, other in pairwise(chain):
        may = deal.given[:, one] & ~deal.given[:, other] & deal.terms.allowed[:, other]
        task = int(np.flatnonzero(may)[0])
        deal.given[task, [one, other]] = False, True


def _shared(team: BoolArray) -> IntArray:
    """Tasks that two have in common, shape (m, m), the diagonal 0."""
    there = team.astype(np.float32)
    shared = (there.T @ there).astype(np.int64)
    np.fill_diagonal(shared, 0)
    return shared


def _spread(deal: Deal) -> None:
    """Exchange workers of two tasks, in place, until every two share as many as the bound."""
    working, bound = deal.working, deal.bound
    lacking, vain = -1, 0
    while len(working) > 1 and bound and vain < VAIN:
        among = deal.shared[np.ix_(working, working)] + 2 * bound * np.eye(len(working), dtype=int)
        below = np.argwhere(among < bound)
        if not len(below):
            return
        lack = int((bound - among[tuple(below.T)]).sum())
        vain = 0 if lack < lacking or lacking < 0 else vain + 1
        lacking = lack if vain == 0 else lacking
        one, other = working[below[deal.rng.integers(len(below))]].tolist()
        _exchange(deal, one, other, bound)


def _exchange(deal: Deal, stays: int, comes: int, bound: int) -> None:
    """Bring somebody into a task of another, for a third, who takes a task of hers over.

    Pairs below the bound count before all; then how evenly tasks are shared. What leaves both as
    they are is done too: it opens other ways.
    """
    team, terms, rng = deal.team, deal.terms, deal.rng
    heavy = 8.0 * (int(deal.shared.max()) + 1)
    up = 2.0 * deal.shared + 1.0 - heavy * (deal.shared < bound)
    down = 1.0 - 2.0 * deal.shared + heavy * (deal.shared <= bound)
    np.fill_diagonal(up, 0.0)
    np.fill_diagonal(down, 0.0)
    into = np.flatnonzero(team[:, stays] & ~team[:, comes] & terms.allowed[:, comes])
    from_ = np.flatnonzero(deal.given[:, comes])
    into, from_ = (rng.permutation(rows)[:SAMPLE] for rows in (into, from_))
    if not len(into) or not len(from_):
        return
    first, second = team[into].astype(np.float64), team[from_].astype(np.float64)
    gain = first @ down + (first @ up[comes])[:, None] - up[comes]
    gain[~deal.given[into]] = np.inf
    gain[:, stays] = np.inf
    back = (second @ down[comes])[:, None] + second @ up - up[comes]
    back[team[from_] | ~terms.allowed[from_]] = np.inf
    best, way = ROUNDING, None
    least = gain.min(axis=0) + back.min(axis=0)
    for third in rng.permutation(np.flatnonzero(np.isfinite(least))).tolist():
        # Whoever has both tasks shares as much as before.
        same = up[third] + down[third] + up[comes] + down[comes]
        total = gain[:, third, None] + back[None, :, third] - (first * same) @ second.T
        place = int(total.argmin())
        if total.flat[place] < best:
            best, way = float(total.flat[place]), (third, *divmod(place, len(from_)))
    if way is not None:
        _swap(deal, int(into[way[1]]), way[0], int(from_[way[2]]), comes)


def _swap(deal: Deal, task: int, one: int, other_task: int, other: int) -> None:
    """Let two workers of two tasks change places, in place."""
    for at, leaves, comes in ((task, one, other), (other_task, other, one)):
        deal.given[at, leaves] = False
        rest = np.flatnonzero(deal.given[at] | deal.terms.had[at])
        deal.given[at, comes] = True
        for who, more in ((leaves, -1), (comes, 1)):
            deal.shared[who, rest] += more
            deal.shared[rest, who] += more


def _connect(deal: Deal) -> None:
    """Exchange workers of tasks, in place, until all who work are connected, if that can be."""
    size = deal.team.sum(axis=1)
    fewest = max(1, len(deal.members) - int(np.maximum(size - 1, 0).sum()))
    parts, rng = deal.parts, deal.rng
    tasks = np.flatnonzero(deal.given.any(axis=1))
    for _ in range(TRIES):
        if parts <= fewest:
            return
        task, other_task = rng.choice(tasks, 2, replace=len(tasks) < 2).tolist()
        one, other = (int(rng.choice(np.flatnonzero(deal.given[at]))) for at in (task, other_task))
        team = deal.team
        if team[task, other] or team[other_task, one] or deal.shared[one, other]:
            continue
        if not (deal.terms.allowed[task, other] and deal.terms.allowed[other_task, one]):
            continue
        _swap(deal, task, one, other_task, other)
        now = deal.parts
        if now > parts:
            _swap(deal, task, other, other_task, one)
        else:
            parts = now


def _pairs(matrix: IntArray, among: IntArray) -> IntArray:
    """Entries of a symmetric matrix, each pair once."""
    block = matrix[np.ix_(among, among)]
    return block[np.triu_indices(len(among), 1)]


def _components(shared: IntArray, among: IntArray) -> int:
    """How many parts a graph has."""
    from scipy.sparse.csgraph import connected_components

    return int(connected_components(shared[np.ix_(among, among)] > 0, directed=False)[0])
