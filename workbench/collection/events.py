"""What happens in a collection, one event after another: its state is what follows from them.

Tasks, workers and classes stand by their places. A worker's name is never in an event: where she
joins, a key stands for it, which the log can turn into the name until it is forgotten.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from workbench.base.journal_events import Event, JournalKind
from workbench.base.state import Count
from workbench.collection.setup import Hand, Price, Setup, Task, Triple

Pairs: TypeAlias = tuple[tuple[Count, Count], ...]
"""Gold (1) or not (0), and a task."""
Halt: TypeAlias = Literal["", "paused", "closed"]
"""Whether, and how, a collection asks nothing new."""

Stage: TypeAlias = Literal["under way", "given up", "certified"]


class AuditPlanned(Event, frozen=True):
    """Answers are to be audited: what is promised of them, and at which price of a check.

    At most `error` of the answers are wrong, with risk `risk`, of which each audit has the share
    that stands here.
    """

    kind = "audit planned"

    error: float
    risk: float
    price: float
    shares: tuple[float, ...]


class Audited(Event, frozen=True):
    """Where an audit of the answers stands.

    Attributes
    ----------
    number
        Of the audit, 0 the first.
    file
        Its own journal, beside that of the collection; empty where it is in memory.
    commitment
        Digest of its beginning.
    tasks
        Answers that it is about: all but those that an expert has labelled in audits before.
    checks, errors
        Tasks that were checked, and wrong answers among them.
    bound
        How many answers may be wrong still.
    stage
        Where it ends it has certified what was planned, or was given up for more labels.
    """

    kind = "audited"

    number: Count
    file: str
    commitment: str
    tasks: Count
    checks: Count
    errors: Count
    bound: Count
    stage: Stage


class Past(Event, frozen=True):
    """What a collection had come to before this log of it begins.

    Rows are whole numbers of 64 bits, little end first: labels as (task, worker, class) in order of
    arrival, `record` of them (labels, and gold labels) at no cost; pairs as (gold, task, worker).
    `away` are workers who left, and the labels they could still give; `policy` is the policy's own
    state, as JSON; `forgotten` are workers whose names are no more; `plan` and `audits` are of the
    audits of its answers, the last event of each; `again` are those of `missed` that may be asked
    again; `ratings` are the distinct ratings that came, which the classes of labels are places in.
    """

    kind = "past"

    labels: bytes
    gold_labels: bytes
    record: tuple[Count, Count]
    waiting: bytes
    missed: bytes
    away: tuple[tuple[Count, Count], ...]
    spent: float
    gold_spent: float
    policy: str
    halted: Halt = ""
    forgotten: tuple[Count, ...] = ()
    plan: AuditPlanned | None = None
    audits: tuple[Audited, ...] = ()
    again: bytes = b""
    ratings: tuple[float, ...] = ()


class Opened(Event, frozen=True):
    """A collection begins.

    `names` are the keys of its first workers, who have the first places; `record` and `gold_record`
    the labels that were there (task, worker, class), which cost nothing. With a `past` it goes on
    from there, and the labels stand in it.
    """

    kind = "opened"

    setup: Setup
    names: tuple[str, ...]
    record: tuple[Triple, ...]
    gold_record: tuple[Triple, ...]
    past: Past | None = None


class Joined(Event, frozen=True):
    """A worker is here, for the first time (with her name's key) or again."""

    kind = "joined"

    worker: Count
    name: str | None
    hand: Hand


class Left(Event, frozen=True):
    """A worker is not to be asked any more."""

    kind = "left"

    worker: Count


class Arrived(Event, frozen=True):
    """Tasks are added."""

    kind = "arrived"

    tasks: tuple[Task, ...]


class Expected(Event, frozen=True):
    """More workers may come: places for newcomers are added."""

    kind = "expected"

    hands: tuple[Hand, ...]


class OnRecord(Event, frozen=True):
    """Labels that came from elsewhere: they count, and cost nothing."""

    kind = "on record"

    labels: tuple[Triple, ...]
    gold_labels: tuple[Triple, ...]


class Asked(Event, frozen=True):
    """Somebody wanted questions, and these were asked; none where there were none.

    `worker`, `most` and `first` are what was wanted: for whom (None: for anybody), how many, and of
    which task first. `asks` are (gold, task, worker). `apart`: what the policy believes was not
    fitted anew on the way, but is between steps.
    """

    kind = "asked"

    worker: Count | None
    most: Count | None
    first: Count | None
    asks: tuple[Triple, ...]
    apart: bool = False


class Told(Event, frozen=True):
    """Labels came of a worker: (gold, task, class)."""

    kind = "told"

    worker: Count
    labels: tuple[Triple, ...]


class Rated(Event, frozen=True):
    """Ratings came of a worker: (gold, task, rating)."""

    kind = "rated"

    worker: Count
    labels: tuple[tuple[Count, Count, float], ...]


class GivenUp(Event, frozen=True):
    """Labels that a worker was asked for will not come."""

    kind = "given up"

    worker: Count
    pairs: Pairs


class Lapsed(Event, frozen=True):
    """Questions that a worker left open for long are open no more; they may be asked again."""

    kind = "lapsed"

    worker: Count
    pairs: Pairs


class TakenBack(Event, frozen=True):
    """Labels of a worker do not count any more; she may give others."""

    kind = "taken back"

    worker: Count
    pairs: Pairs


class Changed(Event, frozen=True):
    """Goal, budget, limits and prices are from now on these; all of them stand here."""

    kind = "changed"

    epsilon: float | None
    mean: bool
    total: float | None
    least: Count
    most: Count | None
    prices: tuple[tuple[Price, ...], ...]


class Halted(Event, frozen=True):
    """Nothing new is asked from now on, for a while or for good; or it is again."""

    kind = "halted"

    state: Halt


class Forgotten(Event, frozen=True):
    """A worker's name is no more; her labels stay."""

    kind = "forgotten"

    worker: Count


class Reworded(Event, frozen=True):
    """What is shown of tasks was corrected: (gold, task)."""

    kind = "reworded"

    tasks: Pairs


class RefitBegun(Event, frozen=True):
    """What the policy believes is to be fitted to all labels so far, gold labels included.

    It goes on as before until the fit is taken, which may be a good while later.
    """

    kind = "refit begun"

    labels: Count


class RefitTaken(Event, frozen=True):
    """The policy takes the fit that was begun, to so many labels, and hears those since."""

    kind = "refit taken"

    labels: Count


class Undone(Event, frozen=True):
    """Some earlier events, from `first` to `last`, count as if they had never been."""

    kind = "undone"

    first: Count
    last: Count


CollectionEvent: TypeAlias = Event
JOURNAL: JournalKind[CollectionEvent] = JournalKind(
    "collection",
    4,
    (
        Opened,
        Joined,
        Left,
        Arrived,
        Expected,
        OnRecord,
        Asked,
        Told,
        Rated,
        GivenUp,
        Lapsed,
        TakenBack,
        Changed,
        Halted,
        Forgotten,
        Reworded,
        RefitBegun,
        RefitTaken,
        AuditPlanned,
        Audited,
        Undone,
    ),
)
