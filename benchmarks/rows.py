"""The rows of the bench: what is measured, beside what, and the target."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.commands import rows as of_commands
from benchmarks.exact import DIFFERENT, FEW, MANY, beside_highs, beside_peer
from benchmarks.measure import BenchRow, BenchSize, Sample, Target, late, memory_of
from benchmarks.reading import beside_crowd_kit, beside_reading, memory
from benchmarks.relaxation import beside_or_tools, linopy_memory


def megabytes(most: float) -> Target:
    """Memory at most."""
    return Target(most, unit="MB")


def gap(most: float | None = None) -> Target:
    """A gap at most, in percent, whatever the other side leaves."""
    return Target(most, unit="%", alone=most is not None)


def faster(least: float | None = None) -> Target:
    """So many times as fast as the other side."""
    return Target(least, at_most=False)


MINUTE = Target(60, unit="s")
TRUSTED = "until-trusted, 10⁴ tasks × 10³ workers, 10⁵ labels"
BEGUN = "until-trusted to its first question, 10⁵ tasks × 10⁴ workers"
VISITS = "the collector's 10⁶ labels, a visit at a time"
FULL = "full LP by arrays, checked"
BARE = "bare highspy on the same arrays"
LIFTED = "LP over counts, merged and lifted"
SCALE = "task weights, 10⁶ tasks × 10⁵ workers × 10 types, certified"
PACE = "time a worker of the stream, 10⁶ tasks"
TRIAL, BY_PYOMO = "adaptive trial", "its sampled LP over all pairs, by Pyomo"
LS_OL, PLAIN = "LS_OL, 100 runs × 2000 tasks × 5 workers", "plain loop, same trajectories"
SLEEPING, SLEEP = "200 trials of 50 ms on 2 processes, stored", "their sleep, shared out"
PREFIXES, MILLIONS = "accuracy of 2001 prefixes", "Algorithm 1, 10 million workers"
LAST = "last tenth of 100,000 empty trials"
VOTES = "Dawid–Skene, 10 iterations"
MESSAGES = "message passing, 10 iterations"
PATTERNS = "integer program by patterns"
FEW_QUALITIES = "the same, two crowds of few qualities"
ALONE, ITS_WORD = "HiGHS alone", "HiGHS alone, its own word"
LINOPY, PYOMO = "linopy and HiGHS", "our Pyomo model, checked"
SOLVERS = {"scip": ("SCIP", "pyscipopt"), "cp-sat": ("CP-SAT", "ortools")}
SIZES = {200: 0.06, 300: 0.06, 600: 0.1, 1000: 0.1}
"""Tasks that all differ, and the gap in percent that is to be reached."""
ARRAYS, BARE_JOB = "relaxation.by_arrays", "relaxation.by_bare_solver"
EXPORT = "5 million labels from CSV to answers"
FROM_DISK = "10⁸ labels from a Parquet folder, Dawid–Skene to the end"
READING = "time a row of reading 10⁵ rows, worst of all forms"
READ_ONLY = "pandas.read_csv(dtype=str) of the file"
ONE, BOTH = memory_of(ARRAYS), memory_of(ARRAYS, BARE_JOB, repeated=True)
OF_TRIAL = memory_of("trial.adaptive_trial")

TABLE: tuple[tuple[str, str, str, Target, str | Callable[[BenchSize], Sample]], ...] = (
    ("array-time", FULL, BARE, Target(1.15), "relaxation.array_time"),
    ("array-memory", FULL, BARE, Target(1.3), BOTH),
    ("array-peak", FULL, "", megabytes(350), ONE),
    ("typed", "LP over counts", "full LP by arrays", faster(200), "relaxation.typed_time"),
    ("typed-from-pairs", LIFTED, "full LP by arrays", faster(), "relaxation.typed_from_pairs"),
    ("scale", SCALE, "", MINUTE, "scale.scale_time"),
    ("scale-peak", "the same", "", megabytes(4096), memory_of("scale.run_scale")),
    ("stream", "adaptive algorithm at that size", "", MINUTE, "scale.stream_seconds"),
    ("stream-pace", PACE, "10⁴ tasks", Target(), "scale.stream_time"),
    ("stream-peak", "the whole stream", "", megabytes(4096), memory_of("scale.run_stream")),
    ("adaptive", TRIAL, BY_PYOMO, faster(100), "trial.adaptive_time"),
    ("adaptive-peak", TRIAL, "", megabytes(250), OF_TRIAL),
    ("learning", LS_OL, PLAIN, faster(50), "learning.learning_time"),
    (
        "trusted-step",
        f"{TRUSTED}: one ask and tell",
        "",
        Target(2, unit="ms"),
        "collecting.step_time",
    ),
    (
        "trusted-longest",
        f"{TRUSTED}: longest ask",
        "",
        Target(1, unit="s"),
        "collecting.trusted_longest_time",
    ),
    ("trusted-start", BEGUN, "", Target(5, unit="s"), "collecting.trusted_start_time"),
    ("trusted-start-peak", BEGUN, "", megabytes(1536), memory_of("collecting.trusted_start")),
    ("collect-million", VISITS, "", MINUTE, "collecting.million_time"),
    ("prefixes", PREFIXES, "one convolution pass", Target(2), "voting.prefixes"),
    ("study-runner", SLEEPING, SLEEP, Target(1.15), "runner.study_runner"),
    ("study-growth", LAST, "first tenth", Target(1.25), "runner.study_growth"),
    ("selection", MILLIONS, "one argsort", Target(2), "voting.selection"),
    ("dawid-skene", VOTES, "crowd-kit", faster(5), "voting.dawid_skene"),
    ("message-passing", MESSAGES, "crowd-kit", faster(5), "voting.message_passing"),
    ("read-forms", READING, "10⁴ rows", Target(1.5), "forms.read_pace"),
    ("export-majority", f"{EXPORT}, majority", READ_ONLY, Target(8), beside_reading("majority")),
    ("export", f"{EXPORT}, {VOTES}", READ_ONLY, Target(14), beside_reading("dawid-skene")),
    ("export-peak", "the same", "", megabytes(900), memory("dawid-skene")),
    ("export-peer", f"{EXPORT}, {VOTES}", "crowd-kit", faster(), beside_crowd_kit("dawid-skene")),
    ("folder-peak", FROM_DISK, "", megabytes(4096), "reading.folder_memory"),
    ("exact-ip", f"{PATTERNS}, gap after 60 s", ALONE, gap(0.05), beside_highs(MANY)),
    ("exact-ip-few", FEW_QUALITIES, ALONE, gap(0.0), beside_highs(FEW)),
    *(
        (
            f"different-{tasks}",
            f"{PATTERNS}, {tasks} tasks all different, prices: certified gap",
            ITS_WORD,
            gap(most),
            beside_highs(DIFFERENT[tasks]),
        )
        for tasks, most in SIZES.items()
    ),
    *(
        (
            f"different-{tasks}-{job}",
            f"the same, {tasks} tasks",
            name,
            gap(),
            beside_peer(DIFFERENT[tasks][0], job, module),
        )
        for job, (name, module) in SOLVERS.items()
        for tasks in (200, 1000)
    ),
    *(
        (job, PATTERNS, name, gap(), beside_peer(MANY[0], job, module))
        for job, (name, module) in reversed(SOLVERS.items())
    ),
    ("linopy", FULL, LINOPY, faster(), "relaxation.linopy_time"),
    ("linopy-memory", FULL, LINOPY, faster(), linopy_memory),
    ("pyomo", FULL, PYOMO, faster(), "relaxation.pyomo_time"),
    ("glop", FULL, "OR-tools' GLOP", faster(), beside_or_tools("glop")),
    ("pdlp", FULL, "OR-tools' PDLP", faster(), beside_or_tools("pdlp")),
    ("start-up", "workbench --help", "python -c pass", Target(10), "runner.start_up"),
    ("import", "import workbench", "import numpy", Target(1.5), "runner.import_time"),
)
"""Name, ours, beside, target, and what measures: a function, or the name of one to import late."""
ROWS = (
    *(
        BenchRow(name, ours, beside, target, late(measure) if isinstance(measure, str) else measure)
        for name, ours, beside, target, measure in TABLE
    ),
    *of_commands(),
)
