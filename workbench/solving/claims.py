"""What may be said of a cost: the one place that words "proven".

A claim is about the problem that was asked, as asked. Where another program was solved in its
place (the cheapest of covers, say), its bound is not one of the problem asked and is left out here.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from workbench.base.text import at_most
from workbench.solving.solution import Solution

ROUNDING = 1e-9
"""A bound above the cost by this share is the cost."""
PROVEN, WORD, FEASIBLE, OPEN = "proven", "HiGHS's word", "feasible", "open"


class Contradiction(RuntimeError):  # noqa: N818 (what it is)
    """A bound above the cost of an answer: one of the two is wrong."""


@dataclass(frozen=True)
class CostClaim:
    """What is known of an answer to the problem that was asked.

    Attributes
    ----------
    cost
        Of the answer; None for none.
    checked
        No answer costs less: recomputed from the data. None where nothing is.
    believed
        The same by a solver's branch and bound, where that is higher.
    solver
        Whose word that is.

    Raises
    ------
    Contradiction
        A bound above the cost.

    Examples
    --------
    >>> from workbench.solving.claims import CostClaim
    >>> CostClaim(100.0, 100.0).sentence("the cheapest")
    'proven the cheapest'
    >>> CostClaim(102.0, 100.0).sentence("the cheapest")
    'proven to be at most 2 % above the cheapest'
    >>> CostClaim(100.0, None, 100.0).sentence("the cheapest")
    "the cheapest by HiGHS's word"
    >>> CostClaim(100.0).sentence("the cheapest")
    'not known to be the cheapest'
    """

    cost: float | None
    checked: float | None = None
    believed: float | None = None
    solver: str = field(default="HiGHS", kw_only=True)

    def __post_init__(self) -> None:
        for bound in (self.checked, self.believed):
            if self.cost is not None and bound is not None and _above(bound, self.cost):
                raise Contradiction(f"no answer is to cost less than {bound!r}, one {self.cost!r}")

    @classmethod
    def of(cls, solution: Solution) -> CostClaim:
        """What a solution says of the program that it solved."""
        failed = solution.certificate.status == "failed"
        if failed or solution.objective is None:
            return cls(None, solution.certificate.lower_bound, solution.bound)
        if solution.certificate.status == "proven":
            return cls(solution.objective, solution.objective)
        return cls(solution.objective, solution.certificate.lower_bound, solution.bound)

    @property
    def bound(self) -> float | None:
        """The higher of the two bounds."""
        known = [bound for bound in (self.checked, self.believed) if bound is not None]
        return max(known, default=None)

    @property
    def gap(self) -> float | None:
        """(cost − bound) / bound, how far the cost may be above the least; None for not known."""
        return _over(self.cost, self.bound)

    @property
    def status(self) -> str:
        """`proven`, `HiGHS's word`, `feasible` (the bound is below the cost) or `open`."""
        if self.cost is None:
            return OPEN
        if _over(self.cost, self.checked) == 0:
            return PROVEN
        return WORD if self.gap == 0 else FEASIBLE

    @property
    def proven(self) -> bool:
        """Whether a bound recomputed from the data meets the cost."""
        return self.status == PROVEN

    @property
    def recomputed(self) -> bool:
        """Whether the bound is recomputed from the data, and no solver's word."""
        return self.checked is not None and self.checked == self.bound

    @property
    def word(self) -> str:
        """Whose word it is that no answer costs less than the bound: a sentence's beginning."""
        if self.recomputed:
            return "It is proven that"
        return f"By {self.solver}'s word alone it holds that"

    def sentence(self, best: str) -> str:
        """Say how near the answer is to the best: a part of a sentence.

        Parameters
        ----------
        best
            What it would be, "the cheapest" say.
        """
        if self.cost is None:
            return f"no answer to be {best}"
        if self.proven:
            return f"proven {best}"
        if self.status == WORD:
            return f"{best} by {self.solver}'s word"
        checked, gap = _over(self.cost, self.checked), self.gap
        if checked is not None and checked == gap:
            return f"proven to be at most {_percent(checked)} above {best}"
        if gap is not None:
            return f"at most {_percent(gap)} above {best} by {self.solver}'s word"
        return f"not known to be {best}"

    def filed(self, value: float, none: str = "") -> str:
        """Say what a file proves beside: less than this, perhaps.

        Parameters
        ----------
        value
            What the file states that no answer costs less than.
        none
            How to say that, where it proves less.

        Raises
        ------
        Contradiction
            The file claims more than the answer costs.
        """
        beside = CostClaim(self.cost, value)
        if beside.proven:
            return "proven by the file too" if self.proven else "proven by the file"
        return f"proven by the file: {none or f'none below {value:.10g}'}"


def _above(bound: float, cost: float) -> bool:
    return bound - cost > ROUNDING * max(abs(cost), 1e-300) + 1e-12


def _over(cost: float | None, bound: float | None) -> float | None:
    """(cost − bound) / bound; 0 where they meet, None where nothing bounds the cost."""
    if cost is None or bound is None:
        return None
    if cost - bound <= ROUNDING * abs(cost):
        return 0.0
    return (cost - bound) / bound if bound > 0 else None


def _percent(share: float) -> str:
    """A share, rounded up to two digits, so that what is said holds."""
    return f"{at_most(100 * share, 2)} %"
