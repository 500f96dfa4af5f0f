"""The run: plan, executor and store together. What is reported as done is on disk.

Outcomes are kept in batches, a fraction of a second late, or `LONGEST` where the disk is slow. A
trial whose process died is tried again, up to `ATTEMPTS` times in all; each attempt is kept. What
an earlier run has finished is skipped, so to go on after any interruption is to run again. What it
has made by other code of the user's own than today's is not: that is run anew.
"""

from __future__ import annotations

import contextlib
import signal
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from threading import Event
from typing import TYPE_CHECKING, Any

from workbench.studies.attempt import Outcome, Status
from workbench.studies.own import digests
from workbench.studies.study_plan import StudyPlan
from workbench.studies.trials import Trial

if TYPE_CHECKING:
    from workbench.studies.executors import Executor, Limits
    from workbench.studies.store import Store

EVERY, LONGEST = 0.2, 2.0
"""Seconds between commits, at least and at most."""
SHARE = 50
"""Between commits passes so many times what the last one took: workers wait meanwhile."""
BATCH = 500
"""Outcomes in a commit."""
PARTS = 3
"""Files and modules that a line names."""
ATTEMPTS = 3
"""How often a trial may end its process before that is its record."""
FAILED = frozenset({Status.ERROR, Status.CRASHED, Status.DEADLINE, Status.MEMORY, Status.CANCELLED})
"""What `retry` runs again. The others are answers: `infeasible`, `limit`, `numerics`."""


@dataclass(frozen=True)
class Progress:
    """How far a run has come.

    Attributes
    ----------
    planned
        Trials of the plan.
    skipped
        Those that an earlier run has finished.
    done
        Those that this run has finished and kept.
    counts
        How these ended: trials by status, `ok` among them.
    seconds
        Since the run began.
    older
        Of those skipped, the ones that another workbench than today's has made.
    changed
        Those that were made by other code of the user's own, and are run anew.
    parts
        Which files and modules of the user's are other.
    own
        Digests of what of the user's own the trials come from, by file or module.
    """

    planned: int
    skipped: int = 0
    done: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    older: int = 0
    changed: int = 0
    parts: tuple[str, ...] = ()
    own: Mapping[str, str] = field(default_factory=dict)

    @property
    def left(self) -> int:
        """Trials still to finish."""
        return self.planned - self.skipped - self.done

    @property
    def failed(self) -> int:
        """Trials of this run that gave no answer."""
        return sum(n for status, n in self.counts.items() if status in FAILED)

    @property
    def rate(self) -> float:
        """Trials a second; 0 before the first."""
        return self.done / self.seconds if self.seconds > 0 else 0.0

    @property
    def remaining(self) -> float | None:
        """Seconds for what is left, at this rate; None where there is no rate yet."""
        return self.left / self.rate if self.rate else None

    def summary(self) -> str:
        """Say what has been done, what failed, how fast, and how long the rest will take."""
        ended = self.skipped + self.done
        parts = [f"{ended:,} of {self.planned:,} trials"]
        parts += [f"{n:,} {status}" for status, n in self.counts.items() if n and status != "ok"]
        if self.rate:
            parts.append(f"{self.rate:.3g} a second")
        if self.remaining is not None and self.left:
            parts.append(f"{duration(self.remaining)} left")
        return ", ".join(parts)


def made_lines(progress: Progress) -> list[str]:
    """Say which records are not of today's code, and what becomes of them; a line each."""
    lines = []
    if progress.changed:
        parts = ", ".join(progress.parts[:PARTS])
        more = len(progress.parts) - PARTS
        parts += f" and {more} more" if more > 0 else ""
        lines.append(
            f"{made_by(progress.changed)} other code of the study, or by code not on record "
            f"({parts}): {'it is' if progress.changed == 1 else 'they are'} run anew"
        )
    if progress.older:
        lines.append(
            f"{made_by(progress.older)} another workbench than today's, or by one not on record: "
            "--fresh runs all anew"
        )
    return lines


def made_by(trials: int) -> str:
    """Begin a sentence on what has made some trials."""
    return "1 trial was made by" if trials == 1 else f"{trials:,} trials were made by"


def duration(seconds: float) -> str:
    """Write seconds as people say them."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


@dataclass(frozen=True)
class Which:
    """Which trials of a plan a run takes: all that have no record yet, or otherwise.

    Attributes
    ----------
    retry
        Also what ended in an error, a crash, over its deadline or its memory.
    fresh
        All, whatever there is.
    """

    retry: bool = False
    fresh: bool = False


UNFINISHED = Which()


def run(
    plan: StudyPlan,
    *,
    store: Store,
    executor: Executor,
    limits: Limits,
    which: Which = UNFINISHED,
    stop: Event | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> Progress:
    """Run what is not finished yet, or was by other code of the user's own, and keep it.

    Parameters
    ----------
    plan
        The trials.
    store
        Where outcomes go, and what tells which trials are finished.
    executor, limits
        Who runs the trials, and what each may take.
    which
        Which of them.
    stop
        Set it, and trials under way are finished and kept, and no more begun. That of
        `interrupts` may also ask to stop at once.
    on_progress
        Called before the first trial and after each commit.

    Returns
    -------
    Progress
        At the end. Some trials are left if `stop` was set.

    Raises
    ------
    InputError
        For a bad plan, or a store that cannot be written.
    KeyboardInterrupt
        When asked to stop at once, after what is known was kept; trials under way are kept as
        `cancelled` attempts, and run again next time.
    """
    begun = time.monotonic()
    source = plan.source.gathered()
    own = digests(source.beside)
    older, other = store.unlike(plan.study, plan.version, own)
    finished = {
        key
        for key, status in store.finished(plan.study, plan.version).items()
        if not which.fresh and not (which.retry and status in FAILED) and key not in other
    }

    keys = [trial.key for trial in plan.trials()]
    skipped = [key for key in keys if key in finished]
    anew = [key for key in keys if key in other and not which.fresh]
    before = Progress(
        len(keys),
        len(skipped),
        older=sum(key in older for key in skipped),
        changed=len(anew),
        parts=tuple(sorted({part for key in anew for part in other[key]})),
        own=own,
    )
    store.remember(plan)
    if on_progress is not None:
        on_progress(before)
    trials = (trial for trial in plan.trials() if trial.key not in finished)
    course = RunCourse(store, trials, before, begun, on_progress, committed=begun)
    stop = stop or Event()
    try:
        # A trial that is to be tried again may come back when the executor has asked for the last.
        while course.more and not stop.is_set():
            with contextlib.closing(executor.run(source, course, limits, stop)) as ended:
                for outcome in ended:
                    course.take(outcome)
                    if isinstance(stop, Interrupts) and stop.at_once:
                        raise KeyboardInterrupt
    except BaseException:
        course.cancel()
        raise
    course.commit()
    return course.progress


class Interrupts(Event):
    """Set by the first Ctrl-C; `at_once` after the second."""

    presses = 0

    @property
    def at_once(self) -> bool:
        """Whether not even trials under way are to be finished."""
        return self.presses > 1


@contextlib.contextmanager
def interrupts() -> Iterator[Interrupts]:
    """Turn Ctrl-C into a request to stop; SIGTERM counts as one, for batch systems send it.

    The first asks to finish what is under way, the second to stop at once. Both are heard when
    the executor next gives a sign of life; the third raises KeyboardInterrupt on the spot. Call it
    from the main thread.
    """
    stop = Interrupts()

    def press(*_: Any) -> None:
        stop.presses += 1
        stop.set()
        if stop.presses > 2:
            raise KeyboardInterrupt

    heard = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, press) for number in heard]
    try:
        yield stop
    finally:
        for number, handler in zip(heard, before, strict=True):
            signal.signal(number, handler)


@dataclass
class RunCourse:
    """Hands out trials, those to be tried again first; keeps outcomes, and counts what is safe.

    Attributes
    ----------
    store
        Where outcomes go.
    trials
        What is to be run.
    before
        What earlier runs have done.
    begun
        When this one began, by `time.monotonic`.
    on_progress
        Called after each commit.
    more
        Whether there are trials to hand out.
    again, under_way
        Trials to be tried again, and those that were handed out, by key.
    counts, deaths
        Trials kept, by status, and how often each trial's process has died, by key.
    pending
        Outcomes not written yet, and whether each is final.
    interval, committed
        Seconds between commits, and when the last was.
    """

    store: Store
    trials: Iterator[Trial]
    before: Progress
    begun: float
    on_progress: Callable[[Progress], None] | None = None
    more: bool = True
    again: deque[Trial] = field(default_factory=deque)
    under_way: dict[str, Trial] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    deaths: Counter[str] = field(default_factory=Counter)
    pending: list[tuple[Outcome, bool]] = field(default_factory=list)
    interval: float = field(default_factory=lambda: EVERY)
    committed: float = 0.0

    def __iter__(self) -> Iterator[Trial]:
        while True:
            trial = self.again.popleft() if self.again else next(self.trials, None)
            if trial is None:
                self.more = False
                return
            self.under_way[trial.key] = trial
            yield trial

    @property
    def progress(self) -> Progress:
        """What is safe by now."""
        seconds = time.monotonic() - self.begun
        counts = dict(self.counts)
        return replace(self.before, done=self.counts.total(), counts=counts, seconds=seconds)

    def take(self, outcome: Outcome | None) -> None:
        """Take an outcome, or none; commit if it is time."""
        if outcome is not None:
            self._enter(outcome)
        due = time.monotonic() - self.committed >= self.interval
        if self.pending and (due or len(self.pending) >= BATCH):
            self.commit()

    def _enter(self, outcome: Outcome) -> None:
        key = outcome.trial.key
        self.under_way.pop(key, None)
        final = outcome.status is not Status.CANCELLED
        if outcome.status is Status.CRASHED:
            self.deaths[key] += 1
            final = self.deaths[key] >= ATTEMPTS
            if not final:
                self.again.append(outcome.trial)
                self.more = True
        self.pending.append((outcome, final))

    def commit(self) -> None:
        """Write what is pending, then tell."""
        if not self.pending:
            return
        # Should the store fail, that is the news, and not that it fails again.
        pending, self.pending = self.pending, []
        began = time.monotonic()
        outcomes, final = zip(*pending, strict=True)
        try:
            self.store.write(outcomes, final=final, own=self.before.own)
        except BaseException:
            self.under_way.clear()
            raise
        self.counts.update(outcome.status.value for outcome, final in pending if final)
        self.committed = time.monotonic()
        self.interval = max(EVERY, min(SHARE * (self.committed - began), LONGEST))
        if self.on_progress is not None:
            self.on_progress(self.progress)

    def cancel(self) -> None:
        """Keep what is known, and that the trials under way came to no end."""
        for trial in list(self.under_way.values()):
            self._enter(Outcome(trial, Status.CANCELLED, "stopped before it ended"))
        self.commit()
