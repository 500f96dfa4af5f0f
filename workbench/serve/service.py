"""A collection as a server has it: who sends a message, what it asks for, what is given back.

One thread uses a `CollectionService`, one call after another; several servers and commands may use
the same collection, for each call is a transaction of its journal.
"""

from __future__ import annotations

import functools
import hashlib
import json
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from workbench.api.inputs import written
from workbench.api.result import SCHEMA
from workbench.api.standing import Standing, known_so_far, standing
from workbench.base.errors import InputError
from workbench.base.journal_head import head_path
from workbench.base.state import Id, identifier
from workbench.base.text import strict_json
from workbench.collection.collector import LET_COME, Collector, Question
from workbench.collection.desk import Desk
from workbench.collection.pool import Ledger, Questions
from workbench.serve.beside import Beside
from workbench.serve.limits import RefusedError
from workbench.serve.links import Holder, Link, Links
from workbench.serve.messages import (
    ChangeMessage,
    ForgetMessage,
    InviteMessage,
    JoinMessage,
    Message,
    NextMessage,
    TellMessage,
)
from workbench.serve.owner import earned, pay_table, with_audit, workers_table
from workbench.serve.shown import Cells, ShownTasks, allowed, check_images, image_hosts

Reply: TypeAlias = dict[str, Any]
FRESH = 2.0
"""Seconds for which workers see the same progress."""
QUICK, REST = 0.05, 200.0
"""What takes more seconds than this to work out stands for so many times as many, so that nobody
waits for it."""
EVERY = 10.0
"""Seconds between points of the owner's pictures."""
MOST_POINTS = 400
KEPT = 7 * 86400.0
"""Seconds for which replies are kept, to be given again for the same request."""
EVENTS = 200
"""Events that are shown where nobody asks for more."""
AT_ONCE = 10
"""Questions of a worker that may be open where she does not say."""


class CollectionService:
    """What a server does, in the thread that made it.

    Parameters
    ----------
    store
        A collection's journal.
    images
        Hosts whose pictures are shown.
    audit
        Journal of an audit of its answers, where there is one.

    Attributes
    ----------
    base
        How addresses of its pages begin.

    Raises
    ------
    InputError
        There is no such collection, or it is damaged.
    """

    def __init__(
        self, store: Path, *, images: Collection[str] = (), audit: Path | None = None
    ) -> None:
        self.store, self.images, self.audit = store, image_hosts(images), audit
        self.collector = Collector.open(store, origin="server", refits_apart=True)
        self.beside = Beside.of(store)
        self.links = Links(self.beside)
        self.shown = ShownTasks(self.beside)
        self.base = ""
        self._so_far: tuple[float, Standing] | None = None
        self._outlook: tuple[float, float, Standing] | None = None  # until when, so long, what
        self._last_point = 0.0
        self.beside.rows("DELETE FROM reply WHERE time < ?", (time.time() - KEPT,))

    def close(self) -> None:
        """Close its files."""
        self.collector.close()
        self.beside.close()

    # ---- before serving ----

    def show(self, cells: dict[Id, Cells]) -> list[Id]:
        """Take what people see of tasks; corrections are noted in the history, and given back.

        Raises
        ------
        InputError
            A picture from a host that is not allowed.
        """
        check_images(cells, self.images)
        corrected = self.shown.correct(cells)
        Desk(self.collector).reworded(corrected)
        return corrected

    def invite(self, names: Iterable[Id] | None, *, anew: bool = False) -> list[Link]:
        """Make links for the owner and for workers who have none, or for all anew.

        Parameters
        ----------
        names
            Workers; those of the collection when None, and, where newcomers are expected, a link
            by which anybody can join.
        anew
            Whether no link made before is valid any more.

        Raises
        ------
        InputError
            Somebody is named who is not here, and for whom there is no place.
        """
        if anew:
            self.links.drop_all()
        here = self.collector.workers
        workers = list(here) if names is None else [_named(name, here) for name in names]
        holders = [Holder("owner"), *(Holder("worker", name) for name in workers)]
        room = len(self.collector.ledger.pool.capacity) - len(here)
        new = [name for name in dict.fromkeys(workers) if name not in here]
        if len(new) > room:
            raise InputError(f"worker {new[room]!r} is not here, and no place is left: {LET_COME}")
        if names is None and room:
            holders.append(Holder("join"))
        return self.links.missing(holders)

    # ---- one request ----

    def holder(self, token: str, *roles: str) -> Holder:
        """Say who holds a token.

        Raises
        ------
        RefusedError
            Nobody, or somebody who may not do this.
        """
        holder = self.links.holder(token) if token else None
        if holder is None:
            raise RefusedError(401, "this link is not valid: ask for a new one")
        if holder.role not in roles:
            raise RefusedError(403, f"a link of a {holder.role} may not do this")
        return holder

    def once(self, holder: Holder, what: str, message: Message, act: Callable[[], Reply]) -> bytes:
        """Do something once for a request id, and give the same reply whenever it comes again.

        A kill between the two leaves it done and without a reply: done again it changes nothing,
        for a label told twice counts once, and open questions are asked again.

        Raises
        ------
        RefusedError
            The id stands for another request.
        """
        request = message.request_id
        if request is None:
            return encoded(act())
        digest = hashlib.sha256(f"{what} {message}".encode()).hexdigest()
        rows = self.beside.rows(
            "SELECT digest, body FROM reply WHERE who = ? AND request = ?", (holder.key, request)
        )
        for before, body in rows:
            if before != digest:
                raise RefusedError(
                    409, "this request id stands for another request: take a new one"
                )
            return bytes(body)
        reply = encoded(act())
        self.beside.keep(
            "INSERT OR REPLACE INTO reply VALUES (?, ?, ?, ?, 200, ?)",
            (holder.key, request, digest, time.time(), reply),
        )
        return reply

    # ---- asking and hearing ----

    def next(self, holder: Holder, message: NextMessage) -> Reply:
        """Ask for questions: a worker for hers, the owner for anybody's."""
        worker = self._worker(holder, message.worker)
        what = None if message.task is None else _named(message.task, self.collector.tasks)
        if holder.role == "owner":
            asked = self.collector.next(worker, message.most, task=what, ahead=message.ahead)
            asks = [question._asdict() for question in asked]
            return {**self.collector.status(), "asks": asks}
        most = message.most or AT_ONCE
        asked = self.collector.next(worker, most, task=what, ahead=message.ahead)
        ledger = self.collector.ledger
        asks = [self._shown(question, ledger) for question in asked]
        return {"asks": asks, **self._hers(holder)}

    def _shown(self, question: Question, ledger: Ledger) -> Reply:
        """Give a question as its worker sees it, who is not told whether it is gold."""
        places = self.collector.gold if question.gold else self.collector.tasks
        worker = self.collector.workers[question.worker]
        at = np.array([places[question.task]])
        pair = Questions(at, np.array([worker]), question.gold)
        cells = dict(self.shown.of(question.task))
        if not allowed(cells.get("image", ""), self.images):
            cells.pop("image", None)
        price = float(ledger.prices(pair)[0])
        return {"task": question.task, "worker": question.worker, "pays": price, "shown": cells}

    def tell(self, holder: Holder, message: TellMessage) -> Reply:
        """Take labels, all or none."""
        collector = self.collector
        by_worker: dict[Id, dict[Id, Any]] = {}
        for row in message.labels:
            whose = row.worker if row.worker is not None else message.worker
            worker = self._worker(holder, whose)
            if worker is None:
                raise RefusedError(400, f"label of task {row.task!r}: say whose it is by worker")
            hers = by_worker.setdefault(worker, {})
            task = _named(row.task, collector.tasks, collector.gold)
            if task in hers:
                raise RefusedError(400, f"task {row.task!r} of worker {worker!r} is there twice")
            hers[task] = None if row.label is None else _named(row.label, collector.classes)
        if by_worker:
            collector.tell_all(by_worker)
        return collector.status() if holder.role == "owner" else self._hers(holder)

    def mine(self, holder: Holder) -> Reply:
        """Say what a worker's page needs at its start: the classes, and how far she is."""
        return {"worker": holder.worker, "classes": list(self.collector.classes)} | self._hers(
            holder
        )

    def _hers(self, holder: Holder) -> Reply:
        """Say how far a worker is, and nothing of the others but how far all are."""
        ledger, name = self.collector.ledger, holder.worker
        place = -1 if name is None else self.collector.workers.get(name, -1)
        seen = self.so_far()
        done = 0 < seen.tasks == seen.closed
        halted = seen.state if seen.state in ("paused", "closed") else ""
        return {
            "labels": int((ledger.labels[ledger.recorded[0] :, 1] == place).sum())
            + int((ledger.gold_labels[ledger.recorded[1] :, 1] == place).sum()),
            "earned": earned(ledger, place),
            "closed": seen.closed,
            "tasks": seen.tasks,
            "state": halted or ("done" if done else "open"),
        }

    def join(self, message: JoinMessage) -> Reply:
        """Give a newcomer a link of her own.

        Raises
        ------
        RefusedError
            Somebody has the name, or there is no place.
        """
        name = str(self._new_name(message.name))
        holder = Holder("worker", str(identifier("name", name)))
        taken = {str(name).casefold() for name in self.collector.workers}
        taken |= {str(other.worker).casefold() for other in self.links.holders()}
        if name.casefold() in taken:
            raise RefusedError(
                409, "somebody has this name: take another, or use the link you have"
            )
        self.collector.join(name)
        return {"worker": name, "token": self.links.new(holder).token}

    def _worker(self, holder: Holder, name: Id | None) -> Id | None:
        """Say who is meant.

        Raises
        ------
        RefusedError
            Another than the holder of the link.
        """
        if holder.role == "owner":
            return None if name is None else _named(name, self.collector.workers)
        if name is not None and str(name) != str(holder.worker):
            raise RefusedError(403, "this link is another worker's: use your own")
        return holder.worker

    # ---- for the owner ----

    def so_far(self) -> Standing:
        """Say how far the collection is, as of some seconds ago at most."""
        now = time.time()
        if self._so_far is None or not 0 <= now - self._so_far[0] < FRESH:
            return self._seen(now, self._with_audit(known_so_far(self.collector)))
        return self._so_far[1]

    def _seen(self, now: float, found: Standing) -> Standing:
        """Keep what was found for a while, and a point of the owner's pictures now and then."""
        self._so_far = now, found
        if not 0 <= now - self._last_point < EVERY:
            self._last_point = now
            self._keep_point(now, found)
        return found

    def stands(self) -> Standing:
        """Say where the collection stands, and what to do next, as of a short while ago."""
        if self._outlook is None or not 0 <= self._outlook[0] - time.time() <= self._outlook[1]:
            before = time.thread_time()
            found = self._with_audit(standing(self.collector))
            took, now = time.thread_time() - before, time.time()
            rest = REST * took if took > QUICK else 0.0
            self._outlook = now + rest, rest, self._seen(now, found)
        return self._outlook[2]

    def _with_audit(self, found: Standing) -> Standing:
        return found if self.audit is None else with_audit(found, self.audit)

    def _look_anew(self) -> None:
        """Let what was said before an order of the owner stand no longer."""
        self._so_far = self._outlook = None

    def _keep_point(self, at: float, found: Standing) -> None:
        content = strict_json(found.point())
        last = self.beside.rows("SELECT content FROM point ORDER BY time DESC LIMIT 1")
        if last != [(content,)]:
            self.beside.keep("INSERT OR REPLACE INTO point VALUES (?, ?)", (at, content))

    def overview(self) -> Reply:
        """Give all that the owner's page shows; the last point of its picture is of now."""
        found, now = self.stands(), time.time()
        points = self.beside.rows("SELECT time, content FROM point ORDER BY time")
        step = -(-len(points) // MOST_POINTS) or 1
        return {
            **found.to_dict(),
            "points": [
                *({"time": at, **_decoded(content)} for at, content in points[::step]),
                {"time": now, **found.point()},
            ],
            "workers": workers_table(self.collector),
            "links": sorted(
                str(holder.worker) for holder in self.links.holders() if holder.role == "worker"
            ),
        }

    def status(self) -> Reply:
        """Say where the collection stands."""
        return self.stands().to_dict()

    def labels(self) -> Any:
        """Give all labels so far, a table."""
        table = self.collector.labels()
        return table.assign(time=written(table["time"]))

    def pay(self) -> Any:
        """Give what each worker is to be paid, a table."""
        return pay_table(self.collector)

    def answers(self) -> Any:
        """Give the answers as they stand, a table."""
        return self.collector.answers()

    def events(self, most: int = EVENTS) -> Reply:
        """Say what happened lately."""
        table = self.collector.history(most)
        table["time"] = [at.isoformat(timespec="seconds") for at in table["time"]]
        return {"events": table.to_dict("records")}

    def halt(self, state: Any) -> Reply:
        """Pause, close, or go on."""
        self.collector.halt(state)
        self._look_anew()
        return self.collector.status()

    def change(self, message: ChangeMessage) -> Reply:
        """Change the error that is asked for, or what all labels may cost."""
        if message.epsilon is None and message.total is None:
            raise RefusedError(400, "there is nothing to change: give epsilon or total")
        self.collector.change(epsilon=message.epsilon, total=message.total)
        self._look_anew()
        return self.collector.status()

    def invite_one(self, message: InviteMessage) -> Reply:
        """Make a link for a worker, who is let in where she is new; those she had are void.

        Raises
        ------
        RefusedError
            It has a request id: what holds a link is kept nowhere, so that it cannot come again.
        """
        if message.request_id is not None:
            raise RefusedError(
                400, "request_id: leave it out, for no link is kept to be given again"
            )
        name = self._new_name(message.worker)
        if name not in self.collector.workers:
            if len(self.collector.workers) == len(self.collector.ledger.pool.capacity):
                self.collector.expect(1)
            self.collector.join(name)
        self._look_anew()
        url = self.links.anew(Holder("worker", name)).address(self.base)
        return {"worker": name, "url": url, "qr": qr(url)}

    def _new_name(self, text: str) -> Id:
        """Name of a worker who is here, or of somebody new.

        Raises
        ------
        RefusedError
            It is empty, or cannot be printed.
        """
        name = " ".join(text.split())
        if not name or not name.isprintable():
            raise RefusedError(400, "give a name")
        found: Id = _named(name, self.collector.workers)
        return found

    def forget(self, message: ForgetMessage) -> Reply:
        """Delete a worker's name, her links and the replies she had; her labels stay."""
        name = _named(message.worker, self.collector.workers)
        holder = Holder("worker", name)
        if name in self.collector.workers or holder not in self.links.holders():
            self.collector.forget(name)
        self.links.drop(holder)
        return self.collector.status()

    def is_of_files(self, error: InputError) -> bool:
        """Whether an error is of the files, and not of what was sent."""
        files = (self.collector_path, head_path(self.collector_path), self.beside.path)
        return str(error).startswith(tuple(map(str, files)))

    @functools.cached_property
    def collector_path(self) -> Path:
        """Path of the journal, links followed."""
        return self.store.resolve()


def encoded(reply: Reply) -> bytes:
    """Write a reply as the commands write it, the number of its schema first."""
    return strict_json({"schema": SCHEMA, **reply}).encode("utf-8", "backslashreplace")


def qr(url: str) -> list[str]:
    """Give the squares of a QR code of an address, a text of 0 and 1 a row."""
    import segno

    code = segno.make(url, error="m", micro=False)
    return ["".join(map(str, row)) for row in code.matrix_iter(border=2)]


def _decoded(content: str) -> Reply:
    point: Reply = json.loads(content)
    return point


def _named(value: Any, *places: Mapping[Any, int]) -> Any:
    """Name that is meant: exactly, or by its text, as in a page or a .csv; else what was sent."""
    if any(value in names for names in places):
        return value
    return {str(name): name for names in places for name in names}.get(str(value), value)
