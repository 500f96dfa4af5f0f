"""A plan as a solution file in MIPLIB's form, for the variables of the exported model."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from workbench.base.checker import plan_checker
from workbench.base.errors import InputError


def sol_file(content: bytes, text: str) -> bytes:
    """Write the plan of a proof: `=obj=` and its cost, then each variable at 1.

    Parameters
    ----------
    content, text
        The problem's file and the proof's.

    Raises
    ------
    InputError
        The proof is wrong, has no plan, or one by class, which has no pairs to name.
    """
    checker = plan_checker()
    holds, line = checker["line_of"](content, text)
    if not holds:
        raise InputError(f"proof: {line}")
    proof = checker["parsed"](text)
    if "labels" not in proof:
        raise InputError("proof: it has no plan by task and worker to write as a solution")
    cost = Fraction(proof["claim"]["cost"])
    pairs = [(i, j) for i, row in enumerate(proof["labels"]) for j in sorted(row)]
    lines = [f"=obj= {_decimal(cost)}", *(f"y({i}_{j}) 1" for i, j in pairs)]
    return ("\n".join(lines) + "\n").encode()


def _decimal(value: Fraction) -> str:
    """A number in decimals: all of them where prices were decimals of a few digits."""
    return f"{Decimal(value.numerator) / Decimal(value.denominator):f}"
