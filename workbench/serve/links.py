"""Secret links: who holds one may act for a worker, or own the collection, or join it.

A token is 256 random bits; only its SHA-256 is kept, so that whoever reads the file can act for
nobody. It stands after the # of a page's address, which browsers send to no server and write in no
log; programs send it as `Authorization: Bearer TOKEN`.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Iterable
from typing import Literal, NamedTuple, TypeAlias

from workbench.base.state import Id
from workbench.serve.beside import Beside

Role: TypeAlias = Literal["owner", "worker", "join", "studio"]
PAGES: dict[Role, str] = {"owner": "owner", "worker": "work", "join": "join"}
"""Page of each role that has one; Label Studio, which sends word, has none."""


class Holder(NamedTuple):
    """Who holds a link: the owner, a worker by name, whoever wants to join, or Label Studio."""

    role: Role
    worker: Id | None = None

    @property
    def key(self) -> str:
        """Text that is hers alone."""
        return json.dumps([self.role, self.worker])


class Link(NamedTuple):
    """A new link: whose it is, and its token, which is never shown again."""

    holder: Holder
    token: str

    def address(self, base: str) -> str:
        """Address of the page."""
        return f"{base}/{PAGES[self.holder.role]}#{self.token}"


class Links:
    """The links of a collection."""

    def __init__(self, beside: Beside) -> None:
        self._beside = beside

    def new(self, holder: Holder, token: str | None = None) -> Link:
        """Make a link, of a token that somebody else has drawn where one is given.

        Those made before stay valid.
        """
        token = secrets.token_urlsafe(32) if token is None else token
        row = (_digest(token), holder.role, json.dumps(holder.worker))
        self._beside.put("link", row)
        return Link(holder, token)

    def anew(self, holder: Holder) -> Link:
        """Make a link; those that the holder had are valid no more."""
        self.drop(holder)
        return self.new(holder)

    def missing(self, holders: Iterable[Holder]) -> list[Link]:
        """Make a link for each holder who has none."""
        with self._beside.together():
            there = self.holders()
            return [self.new(holder) for holder in dict.fromkeys(holders) if holder not in there]

    def holders(self) -> set[Holder]:
        """Who has a link."""
        rows = self._beside.rows("SELECT role, worker FROM link")
        return {Holder(role, json.loads(worker)) for role, worker in rows}

    def holder(self, token: str) -> Holder | None:
        """Who holds a link with this token; None for one that was never made, or is no more."""
        rows = self._beside.rows(
            "SELECT role, worker FROM link WHERE digest = ?", (_digest(token),)
        )
        return Holder(rows[0][0], json.loads(rows[0][1])) if rows else None

    def drop_all(self) -> None:
        """Let no link be valid any more."""
        self._beside.drop("link")

    def drop(self, holder: Holder) -> None:
        """Let the links of somebody be valid no more."""
        self._beside.drop("link", role=holder.role, worker=json.dumps(holder.worker))


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "backslashreplace")).hexdigest()
