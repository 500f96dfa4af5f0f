"""Ways to choose whom to ask that `workbench learn` knows by name.

Another is a subclass of `Roster`, and an entry here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from workbench.base.errors import InputError
from workbench.base.registry import Entry, Registry
from workbench.base.seeds import Seed
from workbench.learning.em import PRICE, EmLearner
from workbench.learning.ls_ol import PLAIN, LsOl, LsOlOptions
from workbench.learning.roster import Roster
from workbench.learning.schedule import Schedule


@dataclass(frozen=True)
class Terms:
    """What a learner is given before it begins.

    Attributes
    ----------
    workers
        Their names, or how many.
    classes, horizon
        K, and how many tasks there will be.
    schedule, options
        Of LS_OL.
    price
        Of a label, in right labels, for those who weigh it.
    """

    workers: int | Sequence[str]
    classes: int
    horizon: int
    schedule: Schedule | None = None
    options: LsOlOptions = PLAIN
    price: float = PRICE


def em(terms: Terms, seed: Seed) -> Roster:
    """Make an `EmLearner`."""
    options = {"classes": terms.classes, "horizon": terms.horizon}
    return EmLearner(terms.workers, **options, price=terms.price, seed=seed)


def ls_ol(terms: Terms, seed: Seed) -> Roster:
    """Make an `LsOl`.

    Raises
    ------
    InputError
        No schedule.
    """
    if terms.schedule is None:
        raise InputError("LS_OL needs a `schedule`: give G1,G2 (as 3,5)")
    how = vars(terms.options)
    return LsOl(terms.workers, terms.schedule, **how, classes=terms.classes, seed=seed)


POLICIES: Registry[Callable[[Terms, Seed], Roster]] = Registry(
    "learning policy",
    Entry(
        "em",
        em,
        "a model of all labels bought; explores while it pays, takes copycats for one",
        "Dawid, Skene (1979), beyond Liu, Liu (2015)",
    ),
    Entry(
        "ls-ol", ls_ol, "LS_OL as printed: testers, judged by majority", "Liu, Liu (2015), Figure 1"
    ),
)
