"""A rehearsal that ends with a promise: an expert checks answers until so few are wrong at most."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.api.result import percent
from workbench.base.errors import InputError
from workbench.base.text import shown

if TYPE_CHECKING:
    import pandas as pd

    from workbench.auditing.loop import Batch, LoopRun
    from workbench.collection.answers import Answers, Collected
    from workbench.collection.pool import Pool


@dataclass(frozen=True)
class AuditedAnswers:
    """What an expert's checks prove of the answers, whatever the crowd.

    Attributes
    ----------
    error, risk
        ε and α, of all audits together.
    tasks, most_wrong
        Tasks that could be audited, for their class is known, and how many of them may be wrong.
    checks, corrected
        Answers that the expert checked in all audits, and those that she corrected.
    price
        Of a check.
    audits
        In their order: `risk` (share of α), `spent` (on labels before it), `checks`, `errors`,
        `certified`. All but the last were given up, for more labels were cheaper than checks.
    wrong
        Answers that are wrong in the end, by the gold.
    """

    error: float
    risk: float
    tasks: int
    most_wrong: int
    checks: int
    corrected: int
    price: float
    audits: tuple[dict[str, Any], ...]
    wrong: int

    @property
    def cost(self) -> float:
        """Price of all checks."""
        return self.price * self.checks

    def sentence(self, labels: float) -> str:
        """Say what is proven, and at which price; labels cost so much."""
        count, before = len(self.audits), ""
        if count > 1:
            before = f" in {count} audits, more labels between them"
        return (
            f"Audited: at most {percent(self.most_wrong / self.tasks, 3)} of the {self.tasks:,} "
            f"answers are wrong, with {percent(1 - self.risk, 6)} confidence, whatever the crowd: "
            f"{self.checks:,} checks by the expert{before}, {self.corrected:,} corrected; labels "
            f"and checks cost {shown(labels + self.cost, '.6g')}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Give all fields, and the cost."""
        return {**asdict(self), "audits": list(self.audits), "cost": self.cost}


class AuditedRehearsal:
    """A rehearsal and audits of its answers.

    Parameters
    ----------
    collect
        Goes on from what was collected, until the error believed is ε, halved so many times; None
        where no labels can be bought any more.
    pool, answers, seed
        As of the rehearsal.
    """

    def __init__(
        self,
        collect: Callable[[Collected | None, int], Collected | None],
        pool: Pool,
        answers: Answers,
        seed: int,
    ) -> None:
        self._collect, self._pool, self._answers, self._seed = collect, pool, answers, seed
        self.collected: Collected | None = None
        self.known = np.flatnonzero(answers.truth >= 0)
        if not len(self.known):
            raise InputError("`audit`: in a rehearsal gold is the expert: give gold for some tasks")

    def _batch(self, halvings: int) -> Batch | None:
        from workbench.auditing.loop import batch_of

        collected = self._collect(self.collected, halvings)
        if collected is None:
            return None
        self.collected = collected
        classes = list(range(len(self._pool.classes)))
        tasks, counts = list(range(len(self._pool.tasks))), collected.ledger.counts
        table = collected.belief.table(counts, tasks, classes, self._seed)
        table = table.iloc[self.known]
        truth, spent = self._answers.truth[self.known], float(collected.ledger.spent)
        return batch_of(table["label"], table["confidence"], truth, len(classes), spent)

    def run(self, error: float, risk: float, price: float) -> tuple[AuditedAnswers, LoopRun]:
        """Collect and audit until an audit certifies."""
        from workbench.auditing.loop import rehearse_loop

        guess = 1.0 - 1.0 / len(self._pool.classes)
        run = rehearse_loop(
            self._batch, error=error, risk=risk, check=price, guess=guess, seed=self._seed
        )
        corrected = int((run.batch.wrong & run.checked).sum())
        rows = tuple(asdict(audit) for audit in run.audits)
        tasks = len(self.known)
        return (
            AuditedAnswers(
                error, risk, tasks, run.most, run.checks, corrected, price, rows, run.wrong
            ),
            run,
        )

    def mark(self, table: pd.DataFrame, run: LoopRun) -> pd.DataFrame:
        """Set what the expert said in the answers, with columns `checked` and `corrected`."""
        checked, corrected = np.zeros((2, len(table)), dtype=bool)
        checked[self.known] = run.checked
        corrected[self.known] = run.checked & run.batch.wrong
        labels = table["label"].to_numpy(dtype=object, copy=True)
        labels[corrected] = self._pool.classes[self._answers.truth[corrected]]
        return table.assign(label=labels, checked=checked, corrected=corrected)
