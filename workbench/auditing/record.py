"""An audit with its ids, its secret seed and its words; kept in a journal, where one is named.

With a journal each step holds it alone: what others did is read first, and a draw is on the disk
before its task is shown. So two who audit at once never draw from the same past, and no task that
was drawn is lost, skipped or drawn again.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import numpy as np

from workbench.auditing.certificate import ExpertWord, Opening, certificate
from workbench.auditing.draws import new_seed, point, seed_digest
from workbench.auditing.losses import CostUnits, ScaleUnits
from workbench.auditing.selective import SelectiveState
from workbench.auditing.state import AuditState
from workbench.auditing.strata import Strata
from workbench.base.checks import show
from workbench.base.errors import InputError
from workbench.base.journal import Journal
from workbench.base.journal_events import Event, JournalKind, Position
from workbench.base.journal_view import JournalTransaction

Task: TypeAlias = str | int


class AuditBegun(Event, frozen=True):
    """All that is fixed before the first draw, and the seed."""

    kind: ClassVar[str] = "begun"
    error: float
    risk: float
    share: float | None
    tasks: list[str | int]
    answers: list[str | None]
    bins: list[int]
    log_odds: list[float]
    seed: str
    loss: dict[str, float] | None = None
    scale: tuple[float, float] | None = None


class AuditDrawn(Event, frozen=True):
    """A draw: its number, and the place of its task among the answers."""

    kind: ClassVar[str] = "drawn"
    number: int
    task: int


class AuditWord(Event, frozen=True):
    """What an expert said of a draw; None where she refused."""

    kind: ClassVar[str] = "word"
    of: int
    word: str | None


Events: TypeAlias = AuditBegun | AuditDrawn | AuditWord
AUDITS: JournalKind[Events] = JournalKind("audit", 1, (AuditBegun, AuditDrawn, AuditWord))
WHO = "auditor"


class AuditRecord:
    """An audit: `begin` one or `open` one; `draw`, then `hear`.

    Attributes
    ----------
    opening
        What was fixed before the first draw.
    state
        Where it stands, as far as it was read.
    words
        Label by number of the draw; None where it was refused.
    """

    def __init__(
        self,
        begun: AuditBegun,
        journal: Journal[Events] | None = None,
        start: Position | None = None,
        *,
        origin: str,
    ) -> None:
        self._seed = bytes.fromhex(begun.seed)
        self.opening = Opening(
            begun.error,
            begun.risk,
            begun.share,
            begun.tasks,
            begun.answers,
            begun.bins,
            begun.log_odds,
            seed_digest(self._seed),
            begun.loss,
            begun.scale,
        )
        self.units: CostUnits | ScaleUnits = CostUnits.of(begun.loss)
        if begun.scale is not None:
            self.units = ScaleUnits(*begun.scale)
        self._place: dict[str, int] | None = None
        self._journal, self._start, self._origin = journal, start, origin
        self._rewind()

    def _rewind(self) -> None:
        """Stand at the beginning: nothing is drawn."""
        bins = np.array(self.opening.bins, dtype=np.int64)
        unanswered = np.array([answer is None for answer in self.opening.answers])
        sure = np.bincount(bins, unanswered, len(self.opening.log_odds)) > 0
        odds, most = np.array(self.opening.log_odds, dtype=np.float64), np.ones(1)
        if self.opening.by_cost:
            most = np.zeros(len(odds))
            most[bins] = [self.units.most(answer) for answer in self.opening.answers]
        strata = Strata(bins, odds, sure, most)
        asked = strata, self.opening.error, self.opening.risk
        share, units = self.opening.share, self.units.one if self.opening.by_cost else None
        if share is None:
            graded = self.opening.scale is not None
            self.state = AuditState(*asked, units, graded=graded)
        else:
            self.state = SelectiveState(*asked, share)
        self.words: dict[int, str | None] = {}
        self._events: list[int | ExpertWord] = []
        self._number: dict[str, int] = {}
        self._position = self._start

    @classmethod
    def begin(
        cls,
        tasks: Sequence[Task],
        answers: Sequence[str | None],
        strata: Strata,
        *,
        error: float,
        risk: float,
        share: float | None,
        seed: int | None,
        path: str | Path | None,
        origin: str,
        loss: dict[str, float] | None = None,
        scale: tuple[float, float] | None = None,
    ) -> AuditRecord:
        """Fix everything, and keep it.

        Raises
        ------
        InputError
            There is something at the path already, or it cannot be written.
        """
        begun = AuditBegun(
            error,
            risk,
            share,
            list(tasks),
            list(answers),
            strata.bin.tolist(),
            strata.log_odds.tolist(),
            new_seed(seed).hex(),
            loss,
            scale,
        )
        if path is None:
            return cls(begun, origin=origin)
        journal = Journal.create(path, AUDITS, [begun], who=WHO, origin=origin)
        return cls._of(journal, origin)

    @classmethod
    def open(cls, path: str | Path, origin: str) -> AuditRecord:
        """Go on with an audit that is kept.

        Raises
        ------
        InputError
            There is none, or it is damaged.
        """
        return cls._of(Journal.open(path, AUDITS), origin)

    @classmethod
    def _of(cls, journal: Journal[Events], origin: str) -> AuditRecord:
        with contextlib.ExitStack() as stack:
            stack.enter_context(journal)
            with journal.view() as view:
                first = next(iter(view.since()), None)
                if first is None or not isinstance(first.event, AuditBegun):
                    raise InputError(f"{journal.path}: is the journal of no audit")
                record = cls(first.event, journal, first.position, origin=origin)
                record._read(view.since(first.position))
            stack.pop_all()
        return record

    def close(self) -> None:
        """Close the journal."""
        if self._journal is not None:
            self._journal.close()

    @property
    def waiting(self) -> list[int]:
        """Draws whose word is awaited."""
        return [k for k, wrong in enumerate(self.state.heard) if wrong is None]

    @property
    def over(self) -> bool:
        """Whether no draw is to come."""
        return self.state.ended

    def refresh(self) -> None:
        """Read what others did."""
        if self._journal is not None:
            with self._journal.view() as view:
                self._read(view.since(self._position))

    def draw(self, most: int) -> list[Task]:
        """Give up to `most` tasks to check: those that wait, then new ones."""
        with self._held() as transaction:
            fresh: list[Events] = []
            while len(self.waiting) < most and not self.over:
                number = len(self.state.draws)
                task = self._draw(number)
                fresh.append(AuditDrawn(number, task))
            self._keep(transaction, fresh)
            numbers = self.waiting[:most]
        return [self.opening.tasks[self.state.draws[number].task] for number in numbers]

    def hear(self, words: Mapping[str, str | None]) -> None:
        """Take labels by the text of their tasks, all or none; what was heard before counts once.

        Raises
        ------
        InputError
            A task is none of the audit's, was not drawn, or got another label before.
        """
        with self._held() as transaction:
            fresh: list[Events] = []
            for task, word in words.items():
                number = self._drawn(task)
                if number not in self.words:
                    fresh.append(AuditWord(number, word))
                elif self.words[number] != word:
                    raise InputError(
                        f"task {show(task)} was labelled {show(self.words[number])} before, and "
                        f"now {show(word)}: an audit keeps the first word"
                    )
            self._keep(transaction, fresh)
            for event in fresh:
                assert isinstance(event, AuditWord)
                self._hear(event)

    def certificate(self) -> dict[str, Any]:
        """Write it down; the seed is shown where no draw is to come."""
        seed = self._seed if self.over else None
        return certificate(self.opening, self.state, self._events, seed)

    def _drawn(self, task: str) -> int:
        if task in self._number:
            return self._number[task]
        if self._place is None:
            self._place = {str(name): place for place, name in enumerate(self.opening.tasks)}
        if task in self._place:
            raise InputError(
                f"task {show(task)} was not drawn: labels of tasks that somebody chose prove "
                "nothing, tell those that `next` gave"
            )
        raise InputError(f"task {show(task)} is none of the audit's: mend its id")

    def _draw(self, number: int) -> int:
        task = self.state.draw(point(self._seed, number)).task
        self._number[str(self.opening.tasks[task])] = number
        self._events.append(number)
        return task

    def _hear(self, event: AuditWord) -> None:
        answer = self.opening.answers[self.state.draws[event.of].task]
        wrong = event.word is None or event.word != answer
        self.words[event.of] = event.word
        self._events.append(ExpertWord(event.of, event.word))
        cost = self.units.cost(answer, event.word)
        self.state.hear(event.of, wrong, refused=event.word is None, cost=cost)

    @contextlib.contextmanager
    def _held(self) -> Iterator[JournalTransaction[Events] | None]:
        """Hold the journal alone, be as far as it is; on an error, forget what it did not take."""
        if self._journal is None:
            yield None
            return
        reached = None
        try:
            with self._journal.transaction() as transaction:
                self._read(transaction.since(self._position))
                reached = len(self._events), self._position
                yield transaction
        except BaseException:
            if reached != (len(self._events), self._position):
                self._rewind()
                with contextlib.suppress(InputError):
                    self.refresh()
            raise

    def _keep(
        self, transaction: JournalTransaction[Events] | None, fresh: Sequence[Events]
    ) -> None:
        if transaction is not None and fresh:
            self._position = transaction.append(fresh, who=WHO, origin=self._origin)

    def _read(self, entries: Iterator[Any]) -> None:
        """Do again what was done."""
        for entry in entries:
            event: Events = entry.event
            if isinstance(event, AuditDrawn):
                task = self._draw(event.number) if event.number == len(self.state.draws) else -1
                if task != event.task:
                    raise InputError(
                        f"draw {event.number + 1} is not the one that follows from what came "
                        "before: it was made by another version of the workbench, use that one"
                    )
            elif isinstance(event, AuditWord):
                self._hear(event)
            self._position = entry.position
