"""The rows of the bench, and what each measures."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from workbench.bench.crowds import epsilon, full, same_optimum, typed_crowd
from workbench.bench.measure import (
    Row,
    Sample,
    Size,
    Target,
    alternate,
    peak,
    peak_memory,
)
from workbench.bench.runner import study_growth, study_runner
from workbench.bench.voting import dawid_skene, message_passing


def array_time(size: Size) -> Sample:
    """The full LP end to end, checks included, beside the bare solver on the same arrays."""
    from workbench.solving import solve
    from workbench.solving.highs import run_raw
    from workbench.solving.linear_model import primal_arrays

    problem = typed_crowd(size)
    model = primal_arrays(problem, integer=False)
    ours = solve(problem, "relaxation").objective
    same_optimum(ours, run_raw(model))
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
    same_optimum(solve(counted, "typed").objective, solve(problem, "relaxation").objective)
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

    trial = Trial.of(size, epsilon(size))
    ours, beside = trial.adaptive(), trial.through_pyomo()
    return Sample(
        *alternate(trial.adaptive, trial.through_pyomo, size.repeats),
        note=f"error {ours:.3f} and {beside:.3f}",
    )


def adaptive_peak(size: Size) -> Sample:
    """Peak memory of one trial."""
    return Sample([peak_memory("trial", size)], [], "MB")


def prefixes(size: Size) -> Sample:
    """π of every prefix, both tails, beside one plain convolution pass over the same skills."""
    import numpy as np

    from workbench.aggregation.majority_accuracy import prefix_accuracies

    labelers = 2001 if full(size) else 51
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


def import_time(size: Size) -> Sample:
    """`import workbench` beside `import numpy`, each in a process of its own."""

    def run(name: str) -> Callable[[], Any]:
        return lambda: subprocess.run([sys.executable, "-c", f"import {name}"], check=True)

    return Sample(*alternate(run("workbench"), run("numpy"), 4 * size.repeats + 1))


def late(module: str, name: str) -> Callable[[Size], Sample]:
    """A measurement of another module of the bench, imported when it is run."""

    def measure(size: Size) -> Sample:
        sample: Sample = getattr(import_module(f"workbench.bench.{module}"), name)(size)
        return sample

    return measure


def selection(size: Size) -> Sample:
    """Algorithm 1 on ten million workers, beside sorting as many numbers once."""
    import numpy as np

    from workbench.selection.rules import algorithm_1

    workers = 10**7 if full(size) else 1000
    gain = np.random.Generator(np.random.PCG64(size.seed)).normal(size=workers)
    return Sample(
        *alternate(
            lambda: algorithm_1(gain, workers, seed=size.seed),
            lambda: np.argsort(gain),
            min(size.repeats, 3),
        )
    )


def child(job: str, size: Size) -> None:
    """Do a job and print the peak memory of this process."""
    JOBS[job](size)
    print(peak())


def _solve_arrays(size: Size) -> None:
    from workbench.solving import solve

    solve(typed_crowd(size), "relaxation")


def _solve_raw(size: Size) -> None:
    from workbench.solving.highs import run_raw
    from workbench.solving.linear_model import primal_arrays

    run_raw(primal_arrays(typed_crowd(size), integer=False))


def _solve_linopy(size: Size) -> None:
    from workbench.bench.peers import by_linopy

    by_linopy(typed_crowd(size))


def _solve_scale(size: Size) -> None:
    from workbench.bench.scale import run_scale

    run_scale(size)


def _run_stream(size: Size) -> None:
    from workbench.bench.scale import run_stream

    run_stream(size)


def _run_trial(size: Size) -> None:
    from workbench.bench.trial import Trial

    Trial.of(size, epsilon(size)).adaptive()


JOBS: dict[str, Callable[[Size], None]] = {
    "array": _solve_arrays,
    "raw": _solve_raw,
    "trial": _run_trial,
    "linopy": _solve_linopy,
    "scale": _solve_scale,
    "stream": _run_stream,
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
        "scale",
        "task weights, 10⁶ tasks × 10⁵ workers × 10 types, certified",
        "",
        Target(60, unit="s"),
        late("scale", "scale_time"),
    ),
    Row("scale-peak", "the same", "", Target(4096, unit="MB"), late("scale", "scale_peak")),
    Row(
        "stream",
        "adaptive algorithm at that size",
        "",
        Target(60, unit="s"),
        late("scale", "stream_seconds"),
    ),
    Row(
        "stream-pace",
        "time a worker of the stream, 10⁶ tasks",
        "10⁴ tasks",
        Target(),
        late("scale", "stream_time"),
    ),
    Row(
        "stream-peak", "the whole stream", "", Target(4096, unit="MB"), late("scale", "stream_peak")
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
        late("learning", "learning_time"),
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
    Row(
        "exact-ip",
        "integer program by patterns, gap after 60 s",
        "HiGHS alone",
        Target(0.05, unit="%", alone=True),
        late("exact", "exact_ip"),
    ),
    Row(
        "exact-ip-few",
        "the same, two crowds of few qualities",
        "HiGHS alone",
        Target(0.0, unit="%", alone=True),
        late("exact", "exact_few"),
    ),
    *(
        Row(
            f"different-{tasks}",
            f"integer program by patterns, {tasks} tasks all different, prices: certified gap",
            "HiGHS alone, its own word",
            Target(limit, unit="%", alone=True),
            late("different", f"different_{tasks}"),
        )
        for tasks, limit in ((200, 0.06), (300, 0.06), (600, 0.1), (1000, 0.1))
    ),
    *(
        Row(
            f"different-{tasks}-{peer}",
            f"the same, {tasks} tasks",
            name,
            Target(unit="%"),
            late("different", f"{peer.replace('-', '_')}_{tasks}"),
        )
        for peer, name in (("scip", "SCIP"), ("cp-sat", "CP-SAT"))
        for tasks in (200, 1000)
    ),
    Row(
        "cp-sat",
        "integer program by patterns",
        "CP-SAT",
        Target(unit="%"),
        late("peers", "cp_sat_gap"),
    ),
    Row("scip", "integer program by patterns", "SCIP", Target(unit="%"), late("peers", "scip_gap")),
    Row(
        "linopy",
        "full LP by arrays, checked",
        "linopy and HiGHS",
        Target(at_most=False),
        late("peers", "linopy_time"),
    ),
    Row(
        "linopy-memory",
        "full LP by arrays, checked",
        "linopy and HiGHS",
        Target(at_most=False),
        late("peers", "linopy_memory"),
    ),
    Row(
        "pyomo",
        "full LP by arrays, checked",
        "our Pyomo model, checked",
        Target(at_most=False),
        late("peers", "pyomo_time"),
    ),
    Row(
        "glop",
        "full LP by arrays, checked",
        "OR-tools' GLOP",
        Target(at_most=False),
        late("peers", "glop_time"),
    ),
    Row(
        "pdlp",
        "full LP by arrays, checked",
        "OR-tools' PDLP",
        Target(at_most=False),
        late("peers", "pdlp_time"),
    ),
    Row("start-up", "workbench --help", "python -c pass", Target(10), start_up),
    Row("import", "import workbench", "import numpy", Target(1.5), import_time),
)
