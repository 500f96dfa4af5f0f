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
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from workbench.api.inputs import written
from workbench.api.result import SCHEMA
from workbench.base.errors import InputError
from workbench.base.journal_head import head_path
from workbench.base.journal_view import JournalTransaction, KeptReply
from workbench.base.state import Id, identifier
from workbench.base.text import strict_json
from workbench.collection.collector import LET_COME, Collector, Question
from workbench.collection.desk import Desk
from workbench.collection.hearing import label_before
from workbench.collection.pool import Ledger, Questions
from workbench.serve.beside import Beside
from workbench.serve.instructions import Instructions, read_instructions
from workbench.serve.lapses import Lapses
from workbench.serve.limits import RefusedError
from workbench.serve.links import Holder, Link, Links
from workbench.serve.messages import (
    ChangeMessage,
    ForgetMessage,
    InviteMessage,
    JoinMessage,
    LabelRow,
    Message,
    NextMessage,
    TellMessage,
)
from workbench.serve.owner import earned, is_finished, is_paid, pay_table
from workbench.serve.owner_view import EVERY, OwnerView, StillCollection
from workbench.serve.shown import Cells, ShownTasks, allowed, check_images, image_hosts

Reply: TypeAlias = dict[str, Any]
MOST_POINTS = 400
EVENTS = 200
"""Events that are shown where nobody asks for more."""
SWEEP_AGAIN = 30.0
"""Seconds until a log that holds a deleted name is tried to be emptied again."""
AT_ONCE = 10
"""Questions that may be open of whoever asks by a worker's link."""


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
    instructions
        A file in Markdown that says what is asked.
    unsure
        Whether workers may say that they are unsure, beside skipping.

    Attributes
    ----------
    base
        How addresses of its pages begin.

    Raises
    ------
    InputError
        There is no such collection, or it is damaged; or the instructions cannot be read.
    """

    def __init__(
        self,
        store: Path,
        *,
        images: Collection[str] = (),
        audit: Path | None = None,
        instructions: Path | None = None,
        unsure: bool = False,
    ) -> None:
        self.unsure, self.instructions = unsure, Instructions()
        if instructions is not None:
            self.instructions = read_instructions(instructions, image_hosts(images))
        self.store, self.images, self.audit = store, image_hosts(images), audit
        self.collector = Collector.open(store, origin="server", refits_apart=True)
        self.beside = Beside.of(store)
        self.links = Links(self.beside)
        self.shown = ShownTasks(self.beside)
        self.base = ""
        self._view: OwnerView | None = None
        self._ordered = 0.0
        self.desk, self.lapses = Desk(self.collector), Lapses(self.collector)
        self.troubles: dict[str, str] = {}
        self._swept = 0.0

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
        self.desk.reworded(corrected)
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

        The id is written with the events that it leads to, all or nothing: another server, or this
        one after a kill, finds both or none.

        Raises
        ------
        RefusedError
            The id stands for another request.
        """
        request = message.request_id
        if request is None or holder.role == "join":  # joining is known by its secret
            reply = act()
        else:
            sealed = hashlib.sha256(f"{what} {message}".encode()).hexdigest()
            with self.desk.together() as log:
                assert isinstance(log, JournalTransaction)
                who = self._who(holder)
                before = None if who is None else log.reply(who, request)
                if before is not None and before.digest != sealed:
                    raise RefusedError(
                        409, "this request id stands for another request: take a new one"
                    )
                if before is not None:
                    reply = self._replied(holder, json.loads(before.body))
                else:
                    reply = act()
                    who = self._who(holder)
                    if who is not None:
                        kept = strict_json(self._kept(holder, reply))
                        log.keep_reply(who, request, KeptReply(sealed, kept))
        if isinstance(message, ForgetMessage):
            reply["remains"] = self.sweep()
        return encoded(reply)

    def _who(self, holder: Holder) -> str | None:
        """Role of who sends, or a worker by her number; None for one who is not here yet."""
        if holder.role != "worker":
            return holder.role
        place = None if holder.worker is None else self.collector.workers.get(holder.worker)
        return None if place is None else f"worker {place}"

    def _kept(self, holder: Holder, reply: Reply) -> Reply:
        """Give what is kept of a reply: no names, and of the owner's only what was asked."""
        workers = self.collector.workers
        kept = {} if holder.role == "owner" else dict(reply)
        if "asks" in reply:
            kept["asks"] = [{**ask, "worker": workers[ask["worker"]]} for ask in reply["asks"]]
        return kept

    def _replied(self, holder: Holder, kept: Reply) -> Reply:
        """Give a reply again, to its owner with the status as it is now."""
        if "asks" in kept:
            names = list(self.collector.workers)
            asks = [{**ask, "worker": names[ask["worker"]]} for ask in kept["asks"]]
            kept = {**kept, "asks": asks}
        return {**self._after(), **kept} if holder.role == "owner" else kept

    # ---- asking and hearing ----

    def next(self, holder: Holder, message: NextMessage) -> Reply:
        """Ask for questions: a worker for hers, the owner for anybody's."""
        worker = self._worker(holder, message.worker)
        self.lapses.look()
        if holder.role == "owner":
            what = None if message.task is None else _named(message.task, self.collector.tasks)
            asked = self.collector.next(worker, message.most, task=what, ahead=message.ahead)
            asks = [question._asdict() for question in asked]
            return {**self._after(), "asks": asks}
        if message.task is not None:  # one line for all tasks: which are gold stays hidden
            raise RefusedError(403, "which task is next the owner says: leave out task")
        most = min(message.most or AT_ONCE, AT_ONCE)
        asked = self.collector.next(worker, most, ahead=message.ahead)
        ledger = self.collector.ledger
        asks = [self._shown(question, ledger) for question in asked]
        state = "open" if asks else self._state(holder)
        return {"asks": asks, **self._hers(holder), "state": state}

    def _state(self, holder: Holder) -> str:
        """Whether there may be questions later for a worker who has none now, or why not."""
        collector = self.collector
        if collector.halted:
            return collector.halted
        place = -1 if holder.worker is None else collector.workers.get(holder.worker, -1)
        return "done" if is_finished(collector, place) else "open"

    def _shown(self, question: Question, ledger: Ledger) -> Reply:
        """Give a question as its worker sees it, who does not learn whether it is gold."""
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
        """Take labels, all or none, and what is remarked of tasks."""
        collector = self.collector
        by_worker: dict[Id, dict[Id, Any]] = {}
        remarks: list[tuple[Id, Id, LabelRow]] = []
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
            if row.unsure or row.comment:
                remarks.append((worker, task, row))
        with self.desk.together():
            if message.again:
                self._take_back(by_worker)
            if by_worker:
                collector.tell_all(by_worker)
        for worker, task, row in remarks:
            values = (json.dumps(task), time.time(), int(row.unsure), row.comment)
            self.beside.put("remark", (collector.workers[worker], *values), lightly=True)
        return self._after() if holder.role == "owner" else self._hers(holder)

    def _take_back(self, labels: Mapping[Id, Mapping[Id, Any]]) -> None:
        """Take back labels that others are to stand in place of.

        Raises
        ------
        RefusedError
            The policy goes on from what it has heard.
        """
        ledger, classes = self.collector.ledger, list(self.collector.classes)
        for worker, hers in labels.items():
            place, changed = self.collector.workers.get(worker, -1), []
            for task, label in hers.items():
                gold = task not in self.collector.tasks
                at = (self.collector.gold if gold else self.collector.tasks).get(task, -1)
                before = label_before(ledger, gold, at, place)
                if before is not None and classes[before] != label:
                    changed.append(task)
            try:
                if changed:
                    self.collector.take_back(worker, changed)
            except InputError as error:
                if self.is_of_files(error):
                    raise
                raise RefusedError(
                    409, "answers of this collection cannot be changed once they are sent"
                ) from None

    def mine(self, holder: Holder) -> Reply:
        """Say what a worker's page needs at its start: what is asked, and how far she is."""
        return {
            "worker": holder.worker,
            "classes": list(self.collector.classes),
            "page": self.instructions._asdict(),
            "unsure": self.unsure,
            "past": self._past(holder.worker),
            **self._hers(holder),
        }

    def _past(self, worker: Id | None) -> list[Reply]:
        """Give what she answered last, each with her answer `before`."""
        if worker is None or worker not in self.collector.workers:
            return []
        ledger = self.collector.ledger
        return [
            {**self._shown(question, ledger), "before": label}
            for question, label in self.desk.answered_lately(worker, AT_ONCE)
        ]

    def _hers(self, holder: Holder) -> Reply:
        """Say how far a worker is, and nothing of the others."""
        ledger, name = self.collector.ledger, holder.worker
        place = -1 if name is None else self.collector.workers.get(name, -1)
        return {
            "labels": int((ledger.labels[ledger.recorded[0] :, 1] == place).sum())
            + int((ledger.gold_labels[ledger.recorded[1] :, 1] == place).sum()),
            "earned": earned(ledger, place),
            "paid": is_paid(ledger.pool),
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
        with self.desk.together():  # two servers give a name once
            known = None if message.secret is None else self.links.holder(message.secret)
            if known is not None and known == holder:
                return {"worker": name, "token": message.secret}
            taken = {str(name).casefold() for name in self.collector.workers}
            taken |= {str(other.worker).casefold() for other in self.links.holders()}
            if known is not None or name.casefold() in taken:
                raise RefusedError(
                    409, "somebody has this name: take another, or use the link you have"
                )
            self.collector.join(name)
            return {"worker": name, "token": self.links.new(holder, message.secret).token}

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

    def still(self) -> StillCollection | None:
        """Give the collection as it is now, to work out what the owner is shown.

        None where what she was shown may be shown again.
        """
        position = self.desk.position if self.audit is None else None
        if self._view is not None and self._view.holds(position, self._ordered):
            return None
        begun = time.monotonic()
        return StillCollection(self.desk.as_it_stands(), self.audit, position, begun)

    def seen(self, view: OwnerView) -> None:
        """Take what the owner is shown, and keep a point of her pictures now and then."""
        self._view, content, now = view, strict_json(view.point), time.time()
        last = self.beside.rows("SELECT time, content FROM point ORDER BY time DESC LIMIT 1")
        if not last or (last[0][1] != content and not 0 <= now - last[0][0] < EVERY):
            self.beside.put("point", (now, content), lightly=True)

    def is_due(self) -> bool:
        """Whether the owner's pictures are to have another point."""
        return self._view is None or self._view.is_old()

    def _look_anew(self) -> None:
        """Let what was said before an order of the owner stand no longer."""
        self._ordered = time.monotonic()

    def overview(self) -> Reply:
        """Give all that the owner's page shows, which does not name the open tasks.

        The last point of its pictures is of now.
        """
        view = self._owner_view()
        points = self.beside.rows("SELECT time, content FROM point ORDER BY time")
        step = -(-len(points) // MOST_POINTS) or 1
        shown = {key: value for key, value in view.shown.items() if key != "left_open"}
        return {
            **self._with_troubles(shown),
            "points": [
                *({"time": at, **_decoded(content)} for at, content in points[::step]),
                {"time": time.time(), **view.point},
            ],
            "workers": view.workers,
            "known": view.known,
            "paid": view.paid,
            "title": self.instructions.title or f"Collection {self.store.stem}",
            "links": sorted(
                str(holder.worker) for holder in self.links.holders() if holder.role == "worker"
            ),
        }

    def status(self) -> Reply:
        """Say where the collection stands, and in its notes what has failed."""
        view = self._owner_view()
        return self._with_troubles(view.shown)

    def _owner_view(self) -> OwnerView:
        """What the owner is shown, which was `seen` before."""
        assert self._view is not None
        return self._view

    def _after(self) -> Reply:
        """Give what follows an owner's message: the collection's status, and what has failed."""
        return self._with_troubles(self.collector.status())

    def _with_troubles(self, said: Reply) -> Reply:
        return {**said, "notes": [*said["notes"], *self.troubles.values()]}

    def labels(self) -> pd.DataFrame:
        """Give all labels so far."""
        table = self.collector.labels()
        return table.assign(time=written(table["time"]))

    def pay(self) -> pd.DataFrame:
        """Give what each worker is to be paid."""
        return pay_table(self.collector)

    def remarks(self) -> pd.DataFrame:
        """What workers remarked: `task, worker, time, unsure, comment`."""
        names = list(self.collector.workers)
        rows = self.beside.rows("SELECT * FROM remark ORDER BY time")
        table = [
            (json.loads(task), names[worker], datetime.fromtimestamp(at, UTC), bool(unsure), text)
            for worker, task, at, unsure, text in rows
        ]
        return pd.DataFrame(table, columns=["task", "worker", "time", "unsure", "comment"])

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
        return self._after()

    def change(self, message: ChangeMessage) -> Reply:
        """Change the error that is asked for, or what all labels may cost."""
        if message.epsilon is None and message.total is None:
            raise RefusedError(400, "there is nothing to change: give epsilon or total")
        self.collector.change(epsilon=message.epsilon, total=message.total)
        self._look_anew()
        return self._after()

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
        """Delete a worker's name, her links and remarks, and all replies; her labels stay."""
        name = _named(message.worker, self.collector.workers)
        holder, place = Holder("worker", name), self.collector.workers.get(name)
        if place is not None or holder not in self.links.holders():
            self.collector.forget(name)
        self.links.drop(holder)
        self.beside.drop("remark", worker=place)
        self._look_anew()
        return self._after()

    def look(self) -> None:
        """Do what has waited: to be called now and then."""
        if "names" in self.troubles and time.monotonic() - self._swept > SWEEP_AGAIN:
            self.sweep()

    def sweep(self) -> str:
        """Empty the files' logs, which hold what was deleted; say until when they still do."""
        self._swept = time.monotonic()
        self.troubles.pop("names", None)
        done = [self.desk.empty_log(), self.beside.empty_log()]
        if not all(done):
            self.troubles["names"] = (
                "A name that was deleted is still in a log of the files, which another program is "
                "reading: it goes when that program ends, or within a minute after."
            )
        return self.troubles.get("names", "")

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
