"""Aggregators beside crowd-kit's; accuracies and the choice of workers beside one plain pass."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from benchmarks.measure import BenchSize, Sample, timed

if TYPE_CHECKING:
    from workbench.crowd.votes import Votes


def dawid_skene(size: BenchSize) -> Sample:
    """Dawid, Skene: 10 iterations on 10,000 tasks × 30 labels, beside crowd-kit's."""
    from workbench.aggregation.dawid_skene import dawid_skene

    votes = _votes(size)

    def ours() -> Any:
        return dawid_skene(votes, iterations=10, tolerance=0.0, seed=size.seed).label

    peer = _crowd_kit(votes, "DawidSkene", n_iter=10, tol=0.0)
    return _beside_peer(ours, peer, votes, size)


def message_passing(size: BenchSize) -> Sample:
    """Karger, Oh, Shah: 10 iterations on 10,000 tasks × 30 labels, beside crowd-kit's."""
    import numpy as np

    from workbench.aggregation.messages import message_passing

    votes = _votes(size)
    first = np.random.RandomState(size.seed).normal(loc=1, scale=1, size=len(votes))

    def ours() -> Any:
        return message_passing(votes, iterations=10, initial=first, seed=size.seed).label

    peer = _crowd_kit(votes, "KOS", n_iter=10, random_state=size.seed)
    return _beside_peer(ours, peer, votes, size)


def prefixes(size: BenchSize) -> Sample:
    """π of every prefix, both tails, beside one plain convolution pass over the same skills."""
    import numpy as np

    from workbench.accuracy.majority import prefix_accuracies

    workers = 2001 if size.full else 51
    skill = np.random.Generator(np.random.PCG64(size.seed)).uniform(0.5, 1.0, workers)

    def plain() -> float:
        mass = np.zeros(workers + 1)
        mass[0] = 1.0
        for k, p in enumerate(skill.tolist()):
            mass[1 : k + 2] = mass[1 : k + 2] * (1.0 - p) + mass[: k + 1] * p
            mass[0] *= 1.0 - p
        return float(mass[workers // 2 + 1 :].sum())

    if abs(float(prefix_accuracies(skill)[-1]) - plain()) > 1e-12:
        raise RuntimeError("the two sides disagree on the accuracy of all workers")
    return timed(lambda: prefix_accuracies(skill), plain, 8 * size.repeats + 1)


def selection(size: BenchSize) -> Sample:
    """Algorithm 1 on ten million workers, beside sorting as many numbers once."""
    import numpy as np

    from workbench.selection.rules import algorithm_1

    workers = 10**7 if size.full else 1000
    gain = np.random.Generator(np.random.PCG64(size.seed)).normal(size=workers)

    ours = partial(algorithm_1, gain, workers, seed=size.seed)
    return timed(ours, lambda: np.argsort(gain), size.few)


def _votes(size: BenchSize) -> Votes:
    """A regular crowd, 30 labels a task (5 in a small one), skills from 0.5 to 1."""
    import numpy as np

    from workbench.crowd.graphs import regular_graph
    from workbench.crowd.votes import Votes

    tasks, workers, each = (10_000, 600, 30) if size.full else (size.tasks, size.workers, 5)
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
    ours: Callable[[], Any], peer: Callable[[], Any] | None, votes: Votes, size: BenchSize
) -> Sample:
    equal = float((ours() == peer()).mean()) if peer else 0.0
    note = f"the same labels on {100 * equal:.4g} % of {len(votes.tasks):,} tasks"
    return timed(ours, peer, size.few, note)
