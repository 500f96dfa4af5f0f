"""What an audit leaves behind: all that anybody needs to recompute what it claims.

Canonical JSON: keys in order, no spaces, numbers as Python writes them. `check_audit` says what is
recomputed of it, and what it cannot show.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from workbench.auditing.draws import seed_digest
from workbench.auditing.state import AuditState

KIND, FORMAT = "audit", 2


@dataclass(frozen=True)
class Opening:
    """What is fixed before the first draw.

    Attributes
    ----------
    error, risk, share
        ε, α, and the share of the answers that is to be certified; None where it is all of them.
    tasks, answers
        Ids and labels; None where there is no answer.
    bins, log_odds
        As of `Strata`.
    seed_sha256
        Digest of the seed.
    loss
        What it costs to miss a class, where that is said: ε is an expected cost then. None
        elsewhere, and it is not written then.
    scale
        The lowest and the highest rating, where answers are ratings: ε is then their mean absolute
        error as a share of the scale. None elsewhere, and it is not written then.
    """

    error: float
    risk: float
    share: float | None
    tasks: Sequence[str | int]
    answers: Sequence[str | None]
    bins: Sequence[int]
    log_odds: Sequence[float]
    seed_sha256: str
    loss: Mapping[str, float] | None = None
    scale: tuple[float, float] | None = None

    @property
    def written(self) -> dict[str, Any]:
        """As a certificate has it."""
        fields = asdict(self)
        for name in ("loss", "scale"):
            if fields[name] is None:
                del fields[name]
        if self.scale is not None:
            fields["scale"] = [*self.scale]
        return fields

    @property
    def by_cost(self) -> bool:
        """Whether errors do not count alike."""
        return self.loss is not None or self.scale is not None

    @property
    def sha256(self) -> str:
        """What is published when the audit begins."""
        return digest(self.written)


@dataclass(frozen=True)
class ExpertWord:
    """What an expert said of a draw; None where she refused."""

    of: int
    word: str | None


def canonical(value: Any) -> str:
    """Write a value as canonical JSON."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def digest(value: Any) -> str:
    """SHA-256 of a value's canonical JSON."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def certificate(
    opening: Opening, state: AuditState, events: Sequence[int | ExpertWord], seed: bytes | None
) -> dict[str, Any]:
    """Write down an audit.

    Parameters
    ----------
    opening, state
        Its beginning, and where it stands.
    events
        Draws (their number) and words, in their order.
    seed
        Shown where no draw is to come.
    """
    if seed is not None and seed_digest(seed) != opening.seed_sha256:
        raise ValueError("the seed is another's")
    rows = []
    for event in events:
        if isinstance(event, ExpertWord):
            rows.append(asdict(event))
            continue
        drawn = asdict(state.draws[event])
        rows.append({"draw": drawn.pop("task"), **{k: v for k, v in drawn.items() if k != "bin"}})
    what = "cost" if opening.by_cost else "wrong"
    return {
        "kind": KIND,
        "format": FORMAT,
        "start": opening.written,
        "answers_sha256": digest({"tasks": opening.tasks, "answers": opening.answers}),
        "start_sha256": opening.sha256,
        "seed": None if seed is None else seed.hex(),
        "events": rows,
        "claim": {
            "certified": state.certified,
            "certified_tasks": state.certified_tasks,
            f"certified_{what}": state.most_in_share(),
            f"most_{what}": state.bound(),
            "tasks": state.tasks,
            "checks": state.checks,
            "errors": state.errors,
            "corrected": state.errors - len(state.refused),
            "evidence": state.evidence,
        },
    }
