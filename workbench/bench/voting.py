"""Votes to labels: our aggregators beside crowd-kit's, on the same votes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from workbench.bench.crowds import full
from workbench.bench.measure import Sample, Size, alternate

if TYPE_CHECKING:
    from workbench.crowd.votes import Votes


def dawid_skene(size: Size) -> Sample:
    """Dawid, Skene: 10 iterations on 10,000 tasks × 30 labels, beside crowd-kit's."""
    from workbench.aggregation.dawid_skene import dawid_skene

    votes = _votes(size)

    def ours() -> Any:
        return dawid_skene(votes, iterations=10, tolerance=0.0, seed=size.seed).label

    peer = _crowd_kit(votes, "DawidSkene", n_iter=10, tol=0.0)
    return _beside_peer(ours, peer, votes, size)


def message_passing(size: Size) -> Sample:
    """Karger, Oh, Shah: 10 iterations on 10,000 tasks × 30 labels, beside crowd-kit's."""
    import numpy as np

    from workbench.aggregation.message_passing import message_passing

    votes = _votes(size)
    first = np.random.RandomState(size.seed).normal(loc=1, scale=1, size=len(votes))

    def ours() -> Any:
        return message_passing(votes, iterations=10, initial=first, seed=size.seed).label

    peer = _crowd_kit(votes, "KOS", n_iter=10, random_state=size.seed)
    return _beside_peer(ours, peer, votes, size)


def _votes(size: Size) -> Votes:
    """A regular crowd, 30 labels a task (5 in a small one), skills from 0.5 to 1."""
    import numpy as np

    from workbench.crowd.graphs import regular_graph
    from workbench.crowd.votes import Votes

    tasks, workers, each = (10_000, 600, 30) if full(size) else (size.tasks, size.workers, 5)
    rng = np.random.Generator(np.random.PCG64(size.seed))
    task, worker = regular_graph(tasks, workers, each, seed=rng)
    skill, truth = rng.uniform(0.5, 1.0, workers), rng.integers(0, 2, tasks)
    right = rng.random(len(task)) < skill[worker]
    label = np.where(right, truth[task], 1 - truth[task])
    return Votes(task, worker, label, np.arange(tasks), np.arange(workers), np.arange(2))


def _crowd_kit(votes: Votes, name: str, **options: Any) -> Callable[[], Any] | None:
    """One of crowd-kit's aggregators on these votes; None where it is not installed."""
    import importlib
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            module = importlib.import_module("crowdkit.aggregation")
        except ImportError:
            return None
    table = votes.table()

    def run() -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            labels = getattr(module, name)(**options).fit_predict(table)
        return labels.reindex(votes.tasks).to_numpy()

    return run


def _beside_peer(
    ours: Callable[[], Any], peer: Callable[[], Any] | None, votes: Votes, size: Size
) -> Sample:
    from workbench.bench.peers import ABSENT

    repeats = min(size.repeats, 3)
    if peer is None:
        alone = alternate(ours, lambda: None, repeats)[0]
        return Sample(alone, [], note=ABSENT)
    equal = float((ours() == peer()).mean())
    note = f"the same labels on {100 * equal:.4g} % of {len(votes.tasks):,} tasks"
    return Sample(*alternate(ours, peer, repeats), note=note)
