"""`collect` for ratings: what was bought, and how far the answers are off, in points."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from workbench.accuracy.root_mean_square import RootMeanSquare
from workbench.api import inputs
from workbench.api.collection_progress import Step, by_help, more_money
from workbench.api.rating_standing import (
    LEFT_OUT,
    RatingStanding,
    accept,
    believed,
    left_out,
    measured,
)
from workbench.api.result import Figure, Result, facts, listed, page
from workbench.base.arrays import FloatArray
from workbench.base.text import Columns, shown
from workbench.collection.answers import Answers, Collected
from workbench.collection.policy import Policy, RatingBelief, left_open
from workbench.collection.pool import Pool
from workbench.collection.rating_policy import MostToldPerPrice

SHOWN, BRIEF = 10, 5
COLUMNS: Columns = {
    "task": ("task", ""),
    "label": ("estimate", ".4g"),
    "error": ("±", ".3g"),
    "closed": ("closed", lambda closed: "yes" if closed else "no"),
}
APART = "that the policy did not see"


@dataclass(frozen=True, eq=False, repr=False)
class RatingCollection(Result):
    """What a policy asked of raters, what it cost, and how far its answers are off.

    Attributes
    ----------
    title
        What was collected from.
    answers
        One row a task: `task, label` (the estimate), `error` (its standard deviation), `closed`.
    curve
        How it came about: `labels, gold_labels, cost, answered, closed, believed_error, error`, a
        row now and then; the last row is the end. Errors are root mean squares in points.
    standing
        Where it stands: what was bought, how far the answers are off, what is left open, what to do
        next.
    settings
        What was asked for.
    """

    title: str
    answers: pd.DataFrame
    curve: pd.DataFrame
    standing: RatingStanding
    settings: dict[str, Any]
    pictured = True

    @property
    def labels(self) -> int:
        """Ratings of tasks that were bought."""
        return self.standing.labels

    @property
    def cost(self) -> float:
        """What they cost, with those of gold tasks."""
        return self.standing.cost

    @property
    def closed(self) -> int:
        """Tasks that are closed."""
        return self.standing.closed

    @property
    def measured(self) -> RootMeanSquare | None:
        """How far the answers are off on tasks of known rating; None without any."""
        return self.standing.measured

    def to_frame(self) -> pd.DataFrame:
        """Give one row a task; its `attrs["scale"]` says that its labels are ratings."""
        frame = self.answers.copy()
        frame.attrs["scale"] = self.standing.scale
        return frame

    def verdict(self) -> list[str]:
        """Say what was bought, and how far the answers are off."""
        now = self.standing
        out = [now.reach] if now.reach else []
        sentences = [*now.far(), *now.known(), *now.parts(), *now.kept(), *out, now.next()]
        return [sentence for sentence in sentences if sentence]

    def brief(self) -> str:
        """Lay out the first answers."""
        return listed(self.answers, COLUMNS, BRIEF)

    def details(self) -> str:
        """Give all that is known."""
        now = self.standing
        rows = [
            ("labels", f"{now.labels} ({now.labels / now.tasks:.3g} a task)"),
            ("gold labels", str(now.gold_labels)),
            ("cost", shown(now.cost, ".6g")),
            ("closed", f"{now.closed} of {now.tasks} tasks"),
            *(
                (name, f"{found.value:.4g} points, {found.tasks} tasks")
                for name, found in (
                    ("error", now.measured),
                    ("closed tasks", now.measured_closed),
                    ("mean", now.measured_mean),
                )
                if found is not None
            ),
        ]
        if now.believed_error is not None:
            rows.append(("believed error", f"{now.believed_error:.4g} points"))
        notes = ["±: standard deviation of the truth given the ratings, by the model"]
        return page(self.title, facts(rows, 16), listed(self.answers, COLUMNS, SHOWN), notes=notes)

    def plot(self) -> Figure:
        """Draw error against cost, and how many tasks are answered and closed."""
        from workbench.plots import collected_ratings

        now, own = self.standing, self.measured
        return collected_ratings(
            self.curve,
            tasks=now.tasks,
            epsilon=now.epsilon,
            within=None if own is None else (own.low, own.high),
            mean=None if now.measured_mean is None else now.measured_mean.value,
            title=self.title.rsplit(", seed", 1)[0],
        )

    def _payload(self) -> dict[str, Any]:
        payload = {**super()._payload()}
        now = payload.pop("standing").to_dict()
        del now["schema"], now["halted"], now["waiting"], now["state"]
        return {
            **now,
            **payload,
            "answers": self.answers.to_dict("records"),
            "curve": self.curve.to_dict("records"),
        }


def truths(pool: Pool, code: Any) -> FloatArray:
    """Ratings that whole numbers stand for, NaN where they are below nought."""
    value = pool.classes.astype(np.float64)
    return np.where(code >= 0, value[np.maximum(code, 0)], np.nan)


def rating_collection(
    pool: Pool,
    answers: Answers,
    back: inputs.Given,
    collected: Collected,
    curve: pd.DataFrame,
    policy: Policy,
    settings: dict[str, Any],
    title: str,
) -> RatingCollection:
    """Make the result of a rehearsal, under the user's ids.

    Parameters
    ----------
    pool, answers, back
        Whom could be asked, what they answered, and the user's ids.
    collected, curve, policy
        How it ended, how it came about, and who decided.
    settings
        What was asked for.
    """
    assert isinstance(policy, MostToldPerPrice)
    belief, ledger = policy.belief(), collected.ledger
    table = belief.table(ledger.counts, pool.tasks.tolist(), ledger.named, settings["seed"])
    here = _standing(pool, answers, back, collected, policy, settings)
    return RatingCollection(
        title,
        back.tasks.column(table, "task"),
        curve,
        replace(here, steps=tuple(_steps(here))),
        settings,
    )


def _standing(
    pool: Pool,
    answers: Answers,
    back: inputs.Given,
    collected: Collected,
    policy: MostToldPerPrice,
    settings: dict[str, Any],
) -> RatingStanding:
    """Where a rehearsal stands at its end."""
    belief, ledger, total = policy.belief(), collected.ledger, settings["total"]
    assert pool.scale is not None
    scale = pool.scale.low, pool.scale.high
    still_open = None if settings["epsilon"] is None else left_open(policy, pool.tasks.tolist())
    spent = total is not None and ledger.money < pool.price.min() - 1e-9
    taught = policy.taught()
    return RatingStanding(
        epsilon=settings["epsilon"],
        mean=settings["mean"],
        total=total,
        tasks=len(pool.tasks),
        answered=int(belief.answered(ledger.counts).sum()),
        closed=int(belief.closed.sum()),
        labels=len(ledger.labels),
        gold_labels=len(ledger.gold_labels),
        on_record=0,
        waiting=0,
        cost=float(ledger.spent),
        policy="ratings",
        state="reached" if belief.closed.all() else "spent" if spent else "exhausted",
        left_open=None if still_open is None else back.back(still_open),
        reach=policy.out_of_reach(),
        people_help=policy.people_help(),
        scale=scale,
        **_measured(pool, answers, belief, policy),
        **believed(belief),
        taught=0 if taught is None else len(taught.left.tasks),
    )


def _measured(
    pool: Pool, answers: Answers, belief: RatingBelief, policy: MostToldPerPrice
) -> dict[str, Any]:
    """Measure answers on gold that the policy did not see, or else on hidden tasks, left out."""
    truth, hidden = truths(pool, answers.truth), policy.hidden_ratings()
    ratings = policy.rated()
    rows = np.flatnonzero(np.isfinite(truth))
    if not len(rows):
        assert pool.scale is not None
        scale = pool.scale.low, pool.scale.high
        return {**left_out(policy.taught(), ratings, hidden, belief, scale), "how": LEFT_OUT}
    means = np.where(ratings.counts > 0, np.nan_to_num(ratings.means()), policy.truth.mean())
    others = len(truth) - len(rows) - int(np.isfinite(hidden).sum())
    own, mean = ((value - truth)[rows] for value in (belief.value, means))
    return {**measured(own, mean, belief.closed[rows], others), "how": APART}


def _steps(here: RatingStanding) -> list[Step]:
    """What to do after a rehearsal, by its options."""
    steps: list[Step] = []
    if here.epsilon is None:
        return steps
    if here.left_open is not None and not here.left_open.empty:
        steps += more_money(here, "--total ")
        steps.append(Step("people", "ask other workers about the tasks that are open", ""))
    steps += accept(here, "--epsilon ")
    return by_help(steps, here)
