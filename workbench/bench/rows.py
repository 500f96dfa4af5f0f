"""The rows of the bench, and what each measures."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.bench.measure import (
    Row,
    Sample,
    Size,
    Target,
    alternate,
    peak,
    peak_memory,
    resident,
)

if TYPE_CHECKING:
    from models import AssignmentProblem
    from workbench.crowd.votes import Votes

CAPACITY = 200
"""M of every worker, as in Section 6 of Ho, Jabbari, Vaughan (2013)."""


def typed_crowd(size: Size) -> AssignmentProblem:
    """The full problem of the targets: three task types, skills uniform on [½, 1], ε = 0.01.

    Imports no more than the models, so that its process shows the memory of the solve.
    """
    import numpy as np

    from models import AssignmentProblem, requirement

    skill = np.random.Generator(np.random.PCG64(size.seed)).uniform(0.5, 1.0, (3, size.workers))
    types = np.arange(size.tasks) * 3 // size.tasks
    return AssignmentProblem(
        (2 * skill[types] - 1) ** 2,
        np.full(size.workers, CAPACITY),
        requirement(_epsilon(size)),
        task_types=types,
    )


def _epsilon(size: Size) -> float:
    """0.01, or what a small crowd can reach."""
    return 0.01 if size.workers >= 100 else 0.3


def array_time(size: Size) -> Sample:
    """The full LP end to end, checks included, beside the bare solver on the same arrays."""
    from workbench.solving import solve
    from workbench.solving.arrays import primal_arrays
    from workbench.solving.raw import run_raw

    problem = typed_crowd(size)
    model = primal_arrays(problem, integer=False)
    ours = solve(problem, "relaxation").objective
    _same(ours, run_raw(model))
    return Sample(
        *alternate(lambda: solve(problem, "relaxation"), lambda: run_raw(model), size.repeats)
    )


def array_memory(size: Size) -> Sample:
    """Peak memory of the same two, each in its own process."""
    repeats = min(size.repeats, 3)
    pairs = [(peak_memory("array", size), peak_memory("raw", size)) for _ in range(repeats)]
    return Sample([a for a, _ in pairs], [b for _, b in pairs], "MB")


def array_peak(size: Size) -> Sample:
    """Peak memory of the full LP by arrays, on its own."""
    return Sample([peak_memory("array", size)], [], "MB")


def typed_time(size: Size) -> Sample:
    """The LP over class counts, stated by class as the adaptive algorithm does."""
    from workbench.solving import solve

    problem = typed_crowd(size)
    counted = problem.typed
    _same(solve(counted, "typed").objective, solve(problem, "relaxation").objective)
    return Sample(
        *alternate(
            lambda: solve(counted, "typed"), lambda: solve(problem, "relaxation"), size.repeats
        ),
        note="same optimum to 1e-7",
    )


def typed_from_pairs(size: Size) -> Sample:
    """The same, from pairs to pairs: equal tasks and workers are found, the answer is lifted."""
    from workbench.solving import solve

    fresh = iter([typed_crowd(size) for _ in range(size.repeats + 1)])
    problem = typed_crowd(size)
    return Sample(
        *alternate(
            lambda: solve(next(fresh), "typed"),
            lambda: solve(problem, "relaxation"),
            size.repeats,
        )
    )


def adaptive_time(size: Size) -> Sample:
    """One trial: skills, sampled LP, assignment, labels, vote; and the same by the full LP."""
    from workbench.bench.trial import Trial

    trial = Trial.of(size, _epsilon(size))
    ours, beside = trial.adaptive(), trial.through_pyomo()
    return Sample(
        *alternate(trial.adaptive, trial.through_pyomo, size.repeats),
        note=f"error {ours:.3f} and {beside:.3f}",
    )


def adaptive_peak(size: Size) -> Sample:
    """Peak memory of one trial."""
    return Sample([peak_memory("trial", size)], [], "MB")


def learning(size: Size) -> Sample:
    """LS_OL, 100 runs of 2000 tasks, beside a plain loop with the same trajectories."""
    from workbench.bench.learning import learning_time

    return learning_time(size)


def prefixes(size: Size) -> Sample:
    """π of every prefix, both tails, beside one plain convolution pass over the same skills."""
    import numpy as np

    from workbench.aggregate.majority_accuracy import prefix_accuracies

    labelers = 2001 if _full(size) else 51
    skill = np.random.Generator(np.random.PCG64(size.seed)).uniform(0.5, 1.0, labelers)

    def plain() -> float:
        mass = np.zeros(labelers + 1)
        mass[0] = 1.0
        for k, p in enumerate(skill.tolist()):
            mass[1 : k + 2] = mass[1 : k + 2] * (1.0 - p) + mass[: k + 1] * p
            mass[0] *= 1.0 - p
        return float(mass[labelers // 2 + 1 :].sum())

    if abs(float(prefix_accuracies(skill)[-1]) - plain()) > 1e-12:
        raise RuntimeError("the two sides disagree on the accuracy of all labelers")
    return Sample(*alternate(lambda: prefix_accuracies(skill), plain, 8 * size.repeats + 1))


def start_up(size: Size) -> Sample:
    """The command's help beside an interpreter that does nothing."""
    script = Path(sys.executable).with_name("workbench")
    found = str(script) if script.exists() else shutil.which("workbench")
    ours = [found] if found else [sys.executable, "-m", "workbench.cli"]

    def run(command: list[str]) -> Callable[[], Any]:
        return lambda: subprocess.run(command, capture_output=True, check=True)

    return Sample(
        *alternate(
            run([*ours, "--help"]), run([sys.executable, "-c", "pass"]), 4 * size.repeats + 1
        )
    )


def study_runner(size: Size) -> Sample:
    """Trials of 50 ms on two processes, from an empty store to the last process ended."""
    trials = 200 if _full(size) else 10
    runs = [_run_naps(trials, 50.0) for _ in range(min(size.repeats, 3))]
    return Sample([run.seconds for run in runs], [trials * 0.05 / 2] * len(runs))


def study_growth(size: Size) -> Sample:
    """Seconds for equally many of very many trials that do nothing: the last, and the first.

    The very first are left out: processes start.
    """
    import numpy as np

    trials = 100_000 if _full(size) else 1000
    run = _run_naps(trials, 0.0)
    at = np.interp(np.array([0.01, 0.1, 0.91, 1.0]) * trials, run.done, run.when)
    note = f"{trials / run.seconds:.0f} trials a second"
    if run.memory and run.memory[0] is not None:
        note += f", memory {run.memory[0]:.0f} MB after a tenth, {run.memory[-1]:.0f} at the end"
    return Sample([float(at[3] - at[2])], [float(at[1] - at[0])], note=note)


def _full(size: Size) -> bool:
    return size.workers >= 100


@dataclass
class _Naps:
    """A run of trials that sleep: seconds in all, and after each commit how far it was."""

    seconds: float = 0.0
    done: list[int] = field(default_factory=list)
    when: list[float] = field(default_factory=list)
    memory: list[float | None] = field(default_factory=list)


def _run_naps(trials: int, milliseconds: float) -> _Naps:
    from workbench.bench import naps
    from workbench.studies.executors import Limits
    from workbench.studies.executors.local import Local
    from workbench.studies.run import Progress, run
    from workbench.studies.store import Store
    from workbench.studies.trial import Source

    started, told = time.perf_counter(), _Naps()

    def tell(progress: Progress) -> None:
        told.done.append(progress.done)
        told.when.append(time.perf_counter() - started)
        if progress.done >= trials / 10:
            told.memory.append(resident())

    with (
        tempfile.TemporaryDirectory() as folder,
        Store.open(Path(folder) / "naps.sqlite", write=True) as store,
    ):
        ended = run(
            Source.of(naps.__file__),
            store=store,
            sweep=[{"milliseconds": [milliseconds]}],
            repetitions=trials,
            executor=Local(2),
            limits=Limits(60, 1000),
            on_progress=tell,
        )
        told.seconds = time.perf_counter() - started
    if ended.counts != {"ok": trials}:
        raise RuntimeError(f"{trials} trials were to end well: {dict(ended.counts)}")
    return told


def selection(size: Size) -> Sample:
    """Algorithm 1 on ten million workers, beside sorting as many numbers once."""
    import numpy as np

    from workbench.select.rules import algorithm_1

    workers = 10**7 if _full(size) else 1000
    gain = np.random.Generator(np.random.PCG64(size.seed)).normal(size=workers)
    return Sample(
        *alternate(
            lambda: algorithm_1(gain, workers, seed=size.seed),
            lambda: np.argsort(gain),
            min(size.repeats, 3),
        )
    )


def dawid_skene(size: Size) -> Sample:
    """Dawid, Skene: 10 iterations on 10,000 tasks × 30 labels, beside crowd-kit's."""
    from workbench.aggregate.dawid_skene import dawid_skene

    votes = _votes(size)

    def ours() -> Any:
        return dawid_skene(votes, iterations=10, tolerance=0.0, seed=size.seed).label

    peer = _crowd_kit(votes, "DawidSkene", n_iter=10, tol=0.0)
    return _beside_peer(ours, peer, votes, size)


def message_passing(size: Size) -> Sample:
    """Karger, Oh, Shah: 10 iterations on 10,000 tasks × 30 labels, beside crowd-kit's."""
    import numpy as np

    from workbench.aggregate.message_passing import message_passing

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

    tasks, workers, each = (10_000, 600, 30) if _full(size) else (size.tasks, size.workers, 5)
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
    repeats = min(size.repeats, 3)
    if peer is None:
        alone = alternate(ours, lambda: None, repeats)[0]
        return Sample(alone, [], note='peer absent: pip install "crowd-workbench[peers]"')
    equal = float((ours() == peer()).mean())
    note = f"the same labels on {100 * equal:.4g} % of {len(votes.tasks):,} tasks"
    return Sample(*alternate(ours, peer, repeats), note=note)


def _same(one: float | None, other: float | None) -> None:
    if one is None or other is None or abs(one - other) > 1e-7 * max(1.0, abs(other)):
        raise RuntimeError(f"the two sides disagree on the optimum: {one} and {other}")


def child(job: str, size: Size) -> None:
    """Do a job and print the peak memory of this process."""
    JOBS[job](size)
    print(peak())


def _solve_arrays(size: Size) -> None:
    from workbench.solving import solve

    solve(typed_crowd(size), "relaxation")


def _solve_raw(size: Size) -> None:
    from workbench.solving.arrays import primal_arrays
    from workbench.solving.raw import run_raw

    run_raw(primal_arrays(typed_crowd(size), integer=False))


def _run_trial(size: Size) -> None:
    from workbench.bench.trial import Trial

    Trial.of(size, _epsilon(size)).adaptive()


JOBS: dict[str, Callable[[Size], None]] = {
    "array": _solve_arrays,
    "raw": _solve_raw,
    "trial": _run_trial,
}
"""What `peak_memory` can have a new process do."""

ROWS = (
    Row(
        "array-time",
        "full LP by arrays, checked",
        "bare highspy on the same arrays",
        Target(1.15),
        array_time,
    ),
    Row(
        "array-memory",
        "full LP by arrays, checked",
        "bare highspy on the same arrays",
        Target(1.3),
        array_memory,
    ),
    Row("array-peak", "full LP by arrays, checked", "", Target(350, unit="MB"), array_peak),
    Row("typed", "LP over counts", "full LP by arrays", Target(200, at_most=False), typed_time),
    Row(
        "typed-from-pairs",
        "LP over counts, merged and lifted",
        "full LP by arrays",
        Target(at_most=False),
        typed_from_pairs,
    ),
    Row(
        "adaptive",
        "adaptive trial",
        "its sampled LP over all pairs, by Pyomo",
        Target(100, at_most=False),
        adaptive_time,
    ),
    Row("adaptive-peak", "adaptive trial", "", Target(250, unit="MB"), adaptive_peak),
    Row(
        "learning",
        "LS_OL, 100 runs × 2000 tasks × 5 labelers",
        "plain loop, same trajectories",
        Target(50, at_most=False),
        learning,
    ),
    Row("prefixes", "accuracy of 2001 prefixes", "one convolution pass", Target(2), prefixes),
    Row(
        "study-runner",
        "200 trials of 50 ms on 2 processes, stored",
        "their sleep, shared out",
        Target(1.15),
        study_runner,
    ),
    Row(
        "study-growth",
        "last tenth of 100,000 empty trials",
        "first tenth",
        Target(1.25),
        study_growth,
    ),
    Row("selection", "Algorithm 1, 10 million workers", "one argsort", Target(2), selection),
    Row(
        "dawid-skene",
        "Dawid–Skene, 10 iterations",
        "crowd-kit",
        Target(5, at_most=False),
        dawid_skene,
    ),
    Row(
        "message-passing",
        "message passing, 10 iterations",
        "crowd-kit",
        Target(5, at_most=False),
        message_passing,
    ),
    Row("start-up", "workbench --help", "python -c pass", Target(10), start_up),
)
