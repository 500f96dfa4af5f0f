"""What programs and pages send, checked against a declared form before anything is done."""

from __future__ import annotations

from typing import Annotated, TypeAlias, TypeVar

import msgspec
from msgspec import Meta

from workbench.base.state import Id, Label
from workbench.serve.limits import RefusedError

RequestId: TypeAlias = Annotated[str, Meta(min_length=1, max_length=200)]
Many: TypeAlias = Annotated[int, Meta(ge=1, le=1000)]


class Message(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A body; with a `request_id` it counts once, however often it is sent."""

    request_id: RequestId | None = None


class NextMessage(Message, frozen=True, kw_only=True):
    """Questions are wanted, `ahead` also while some of hers are open."""

    worker: Id | None = None
    most: Many | None = None
    task: Id | None = None
    ahead: bool = False


class LabelRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A label; None for one that will not come."""

    task: Id
    label: Label | None
    worker: Id | None = None
    unsure: bool = False
    comment: Annotated[str, Meta(max_length=1000)] = ""


class TellMessage(Message, frozen=True, kw_only=True):
    """Labels came; `worker` is whose they are where a row does not say.

    With `again` they may differ from those sent before, in whose place they are.
    """

    labels: list[LabelRow]
    worker: Id | None = None
    again: bool = False


class JoinMessage(Message, frozen=True, kw_only=True):
    """Somebody wants a link of her own.

    By the `secret`, drawn by who sends it, a message that is sent again is known: it is the token
    of the link, of which only a hash is kept. Without one the server draws the token.
    """

    secret: Annotated[str, Meta(pattern="^[A-Za-z0-9_-]{32,100}$")] | None = None
    name: Annotated[str, Meta(min_length=1, max_length=100)]


class ChangeMessage(Message, frozen=True, kw_only=True):
    """The error that is asked for from now on, or what all labels may cost."""

    epsilon: Annotated[float, Meta(gt=0, lt=1)] | None = None
    total: Annotated[float, Meta(gt=0, le=1e12)] | None = None


class InviteMessage(Message, frozen=True, kw_only=True):
    """A worker is to get a link, somebody new or anew."""

    worker: Annotated[str, Meta(min_length=1, max_length=100)]


class ForgetMessage(Message, frozen=True, kw_only=True):
    """A worker's name is to be deleted."""

    worker: Id


class OrderMessage(Message, frozen=True, kw_only=True):
    """Something is to be done, and nothing more is to be said of it."""


class StudioAnnotation(msgspec.Struct, frozen=True):
    """As much of an annotation as is looked at."""

    id: int
    task: int | None = None


class StudioMessage(Message, frozen=True, kw_only=True, forbid_unknown_fields=False):
    """Label Studio says that annotations were made, changed or deleted; more stands there."""

    action: str = ""
    annotation: StudioAnnotation | None = None
    annotations: list[StudioAnnotation] = msgspec.field(default_factory=list)


M = TypeVar("M", bound=Message)


def read_message(body: bytes, kind: type[M]) -> M:
    """Read a body; an empty one is an empty message.

    Raises
    ------
    RefusedError
        It is no JSON, or not of this form: the line names the place.
    """
    try:
        return msgspec.json.decode(body or b"{}", type=kind)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise RefusedError(400, " ".join(str(error).replace("`", "").split())[:300]) from None
