"""What is planned of audits of a collection's answers, and where each stands."""

from __future__ import annotations

from typing import Any

from workbench.collection.events import Audited, AuditPlanned
from workbench.collection.kept import KeptCollection


class AuditLog:
    """The audits that a collection's log keeps.

    Parameters
    ----------
    collection
        Whose answers are audited.
    """

    def __init__(self, collection: KeptCollection) -> None:
        self._collection = collection

    @property
    def plan(self) -> AuditPlanned | None:
        """What is promised of the answers; None where nothing is."""
        return self._collection._now.plan

    @property
    def audits(self) -> list[Audited]:
        """Where each audit of the answers stands, in their order."""
        return list(self._collection._now.audits.values())

    def note(self, *events: AuditPlanned | Audited) -> None:
        """Keep what is planned of audits of the answers, and where each stands.

        What another program kept before stays: a plan, an audit's end, and an audit's later checks.
        """
        with self._collection._turn() as turn:
            for event in events:
                if isinstance(event, AuditPlanned):
                    if turn.running.plan is None:
                        turn.apply(event)
                    continue
                before = turn.running.audits.get(event.number)
                ended = before is not None and before.stage != "under way"
                if event != before and not ended and (not before or event.checks >= before.checks):
                    turn.apply(event)

    def summary(self) -> dict[str, Any] | None:
        """What checks have come to, as `Collector.status` says it; None without an audit."""
        running = self._collection._now
        plan, audits = running.plan, list(running.audits.values())
        if plan is None or not audits:
            return None
        last = audits[-1]
        return {
            "error": plan.error,
            "risk": plan.risk,
            "price": plan.price,
            "number": last.number + 1,
            "stage": last.stage,
            "file": last.file,
            "checks": sum(audit.checks for audit in audits),
            "errors": sum(audit.errors for audit in audits),
            "bound": last.bound / len(self._collection.tasks),
        }
