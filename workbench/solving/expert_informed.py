"""What an expert says of labels before they are asked for, and what a worker's are then worth.

A worker of unknown skill gives at most M labels; her skill is p_θ with chance w_θ. An expert shows
a *mark* of each label before it is asked for, such that the label, given its mark and all else that
can be known without it, is right with a chance that the mark alone says:

- `kinds`: the mark is the worker's kind θ, and the chance p_θ;
- `others`: the mark is r, how many of her other M − 1 answers are right, those to come included;
  as answers are exchangeable, the chance is q_r = E[p_θ | r of M − 1 right].

An `Expert` groups marks by what a label so marked is worth, rounded up, which can but help
(Blackwell 1953). Where a label marked g sells at c_g, and asking costs 1, a worker of whom every
answer is judged at once is worth max E Σ_l (c_g(l) − 1) over rules of stopping: a dynamic program
over how many answers were given and right, `Expert.trade`.

Source: beyond the papers; Blackwell (1953) for comparing labels.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.solving.posteriors import log_odds

STEP = 0.05
"""Log-odds within which marks are one group."""
LEAST = 0.02
"""Log-odds to which less is rounded up."""
MOST_KINDS = 200


def checked_prior(prior: Mapping[float, float]) -> tuple[FloatArray, FloatArray]:
    """Skills and shares of the kinds that there are, shape (Θ,) each.

    Raises
    ------
    InputError
        Skills or shares out of range, shares that do not sum to 1, nobody who tells anything.
    """
    skill = np.array([float(p) for p in prior])
    share = np.array([float(w) for w in prior.values()])
    if not len(skill) or len(skill) > MOST_KINDS:
        raise InputError(f"prior: has {len(skill)} kinds of workers; give 1 to {MOST_KINDS}")
    if not ((skill >= 0) & (skill <= 1)).all():
        raise InputError("prior: give skills from 0 to 1, as 0.8:0.5,0.5:0.5")
    if not (np.isfinite(share) & (share >= 0)).all() or abs(share.sum() - 1.0) > 1e-9:
        raise InputError(f"prior: shares sum to {share.sum():g}; give shares that sum to 1")
    skill, share = skill[share > 0], share[share > 0]
    if (skill == 0.5).all():
        raise InputError("prior: every worker guesses; give one skill other than 0.5")
    return skill, share / share.sum()


def beta_prior(right: float, wrong: float, points: int = 40) -> dict[float, float]:
    """Skills spread over (½, 1) as ½ + B/2, B ~ Beta(right, wrong), at midpoints of equal steps.

    Raises
    ------
    InputError
        Parameters that are not above 0.
    """
    if not (0 < right <= 1e4 and 0 < wrong <= 1e4):
        raise InputError("prior: give two numbers above 0, up to 10,000, as beta:4:2")
    from scipy.stats import beta

    edges = np.linspace(0.0, 1.0, points + 1)
    share = np.diff(beta.cdf(edges, right, wrong))
    skill = 0.5 + (edges[:-1] + edges[1:]) / 4.0
    kept = share > 1e-12
    share = share / share[kept].sum()
    return dict(zip(skill[kept].tolist(), share[kept].tolist(), strict=True))


def read_prior(prior: Mapping[float, float] | str) -> dict[float, float]:
    """Share of the workers by skill, from a mapping or from text.

    Parameters
    ----------
    prior
        A mapping; "0.8:0.5,0.5:0.5", skill and share; or "beta:4:2", as `beta_prior`.

    Raises
    ------
    InputError
        Text of another form, numbers as for `checked_prior`.
    """
    try:
        if isinstance(prior, str):
            pairs = [part.split(":") for part in prior.split(",")]
            if pairs[0][0] == "beta":
                ((_, right, wrong),) = pairs
                return beta_prior(float(right), float(wrong))
            shares = {float(skill): float(share) for skill, share in pairs}
        else:
            shares = {float(skill): float(share) for skill, share in prior.items()}
    except (ValueError, TypeError):
        raise InputError(
            f"prior {prior}: give SKILL:SHARE,…, as 0.8:0.5,0.5:0.5, or beta:4:2"
        ) from None
    checked_prior(shares)
    return shares


@dataclass(frozen=True, eq=False)
class Trade:
    """What a rule of stopping comes to, a first label asked for in any case.

    Attributes
    ----------
    profit
        E Σ_l (c_g(l) − 1): the most of all rules.
    labels
        Expected labels by group, shape (G,).
    asked
        Expected labels, those that say nothing included.
    """

    profit: float
    labels: FloatArray
    asked: float


@dataclass(frozen=True, eq=False)
class Expert:
    """Marks in groups, and a worker's answers as they are judged.

    Attributes
    ----------
    weight
        Log-odds of a label of each group, rounded up, above 0, shape (G,).
    group
        Group of each mark, −1 where a label so marked says nothing; shape (Θ,) or (M,).
    skill
        p by kind, shape (Θ,).
    chance
        By number l < M of answers before: chance of each kind given a right among them, shape
        (l + 1, Θ).
    counts_others
        Whether marks count her other right answers; else they are kinds.
    """

    weight: FloatArray
    group: IntArray
    skill: FloatArray
    share: FloatArray
    chance: list[FloatArray]
    counts_others: bool

    @classmethod
    def kinds(cls, prior: Mapping[float, float], capacity: int) -> Expert:
        """The expert who shows a worker's kind."""
        skill, share = checked_prior(prior)
        weight, group = _grouped(skill)
        return cls(weight, group, skill, share, _chances(skill, share, capacity), False)

    @classmethod
    def others(cls, prior: Mapping[float, float], capacity: int) -> Expert:
        """The expert who shows how many of a worker's other answers are right."""
        skill, share = checked_prior(prior)
        chance = _chances(skill, share, capacity)
        weight, group = _grouped(chance[-1] @ skill)
        return cls(weight, group, skill, share, chance, True)

    def trade(self, price: FloatArray) -> Trade:
        """Stop a worker's answers at the most profit, a label of group g selling at price c_g.

        Parameters
        ----------
        price
            c ≥ 0, shape (G,).
        """
        sells = np.append(price, 0.0)[self.group]  # by mark; −1 is the 0 at the end
        many = len(self.chance)
        asks: list[BoolArray] = []
        worth = np.zeros(many + 1)
        # By kind, the mean price of the label that is next, given the right answers before it.
        mean = np.tile(sells[:, None], (1, len(self.skill))) if self.counts_others else None
        root = 0.0
        for before in range(many - 1, -1, -1):
            chance = self.chance[before]
            if mean is None:
                gain = chance @ sells
            else:
                gain = (chance * mean).sum(axis=1)
                mean = mean[1:] * self.skill + mean[:-1] * (1.0 - self.skill)
            right = chance @ self.skill
            asking = gain - 1.0 + right * worth[1:] + (1.0 - right) * worth[:-1]
            asks.append(asking > 0.0)
            root = float(asking[0])
            worth = np.maximum(asking, 0.0)
        asks.reverse()
        asks[0][:] = True
        labels = self._labels(asks)
        return Trade(root, labels[:-1], float(labels.sum()))

    def _labels(self, asks: list[BoolArray]) -> FloatArray:
        """Expected labels by group where it is asked on as `asks` says; last, those of none."""
        many, kinds = len(self.chance), len(self.skill)
        state = self.share[None, :].copy()  # chance of number right and kind, still asked
        marks = np.zeros((1, kinds))
        for before in range(many):
            state = state * asks[before][:, None]
            # What is asked here has the rest of the answers still to come.
            marks = marks + state
            if before + 1 < many:
                marks, state = _spread(marks, self.skill), _spread(state, self.skill)
        total = np.zeros(len(self.weight) + 1)
        if self.counts_others:
            np.add.at(total, self.group, marks.sum(axis=1))
        else:
            np.add.at(total, self.group, marks.sum(axis=0))
        return total


def _spread(chance: FloatArray, skill: FloatArray) -> FloatArray:
    """One more answer: right with chance p, by kind; shape (l + 1, Θ) to (l + 2, Θ)."""
    after = np.zeros((len(chance) + 1, len(skill)))
    after[1:] = chance * skill
    after[:-1] += chance * (1.0 - skill)
    return after


def _chances(skill: FloatArray, share: FloatArray, capacity: int) -> list[FloatArray]:
    """Chance of each kind given a of l answers right, for l below the capacity."""
    with np.errstate(divide="ignore", invalid="ignore"):
        right, wrong, prior = np.log(skill), np.log1p(-skill), np.log(share)
        chances = []
        for answers in range(capacity):
            a = np.arange(answers + 1)[:, None]
            log_chance = np.where(a > 0, a * right, 0.0)
            log_chance = log_chance + np.where(answers - a > 0, (answers - a) * wrong, 0.0) + prior
            top = log_chance.max(axis=1, keepdims=True)
            # Nobody can come to where all kinds have no chance.
            part = np.where(np.isfinite(top), np.exp(log_chance - top), share)
            chances.append(part / part.sum(axis=1, keepdims=True))
    return chances


def _grouped(skill: FloatArray) -> tuple[FloatArray, IntArray]:
    """Groups of marks by what labels say, rounded up within each; −1 where they say nothing."""
    weight = log_odds(np.maximum(skill, 1.0 - skill))
    step = np.where(weight > 0, np.floor(weight / STEP), -1).astype(np.int64)
    steps, place = np.unique(step, return_inverse=True)
    top = np.full(len(steps), LEAST)
    np.maximum.at(top, place, weight)
    silent = int(steps[0] == -1)
    return top[silent:], place - silent
