"""What a few models that answer every task say together: the class of a task given their pattern.

Models err together, and not by one number: which of them, and how often, depends on the true class.
So no model's answer is weighed by itself. A task on which the models say x = (x_1, …, x_J), each
with its own confidence or without, is of class c with chance

    base(c | x) ∝ exp(b_c + Σ_j [x_j = c] (a + a_j + a_jc + (t + t_j) g_j)),

the form that P(c | x) has where models err independently given the class, whatever its weights; b
fits the shares of the classes, g_j is the log-odds that model j gives its own answer, less their
mean, and 1/(t + t_j) the temperature that is fitted to it. Patterns depart from that form together:

    P(c | x) ~ Dirichlet(α base(· | x)),

α being ∞ where independence is all there is to say. The evidence weighs one α against another, each
task being foretold from those of its pattern that stand before it: the gate. Weights have normal
priors; predictions are means over their posterior, for they are judged by few tasks.

P(c | x) and not P(x | c): people are asked about tasks by what the models say, and labels chosen by
x tell what is true given x, but not how frequent x is.

Source: Raftery (1995), "Bayesian model selection in social research", for weighing models; MacKay
(1992), "The evidence framework applied to classification networks", for means over the posterior of
the weights; Guo, Pleiss, Sun, Weinberger (2017) for the temperature.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workbench.aggregation.posteriors import log, normalised
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.seeds import stream

TOGETHER = (np.inf, 64.0, 16.0, 4.0)
"""α, tasks for which the form of independence counts in a pattern; ∞ first."""
MUCH = 16.0
"""α up to which patterns count for much."""
ALONE = 0.5
"""Chance beforehand that models err independently given the class."""
BIAS, VOTE, OWN, BY_CLASS = (0.0, 1.0), (0.45, 0.35), (0.0, 0.4), (0.0, 0.4)
"""Mean and standard deviation beforehand of b, a, a_j and a_jc: five models count as about two."""
HEAT, OWN_HEAT = (0.2, 0.25), (0.0, 0.1)
"""The same of t and t_j: confidences are not taken on trust."""
SUREST = 6.0
"""Log-odds of a confidence, at most."""
STEPS, SETTLED = 25, 1e-6
"""Newton steps at most, and the change below which they end."""
DRAWS = 64
"""Draws of the weights over which predictions are averaged."""
TURNS = 5
"""Turns of the counts of patterns."""


@dataclass(frozen=True, eq=False)
class ModelAnswers:
    """What models say of tasks.

    Attributes
    ----------
    answer
        Class named by each model, −1 where it said nothing, shape (n, J).
    sure
        Log-odds that each gives its answer, less their mean; 0 where it is not known, shape (n, J).
    classes
        K.
    """

    answer: IntArray
    sure: FloatArray
    classes: int

    @property
    def patterns(self) -> IntArray:
        """Number of each task's pattern, shape (n,)."""
        return np.unique(self.answer, axis=0, return_inverse=True)[1].reshape(-1)

    def rows(self, tasks: IntArray | BoolArray) -> ModelAnswers:
        """Some tasks of it."""
        return ModelAnswers(self.answer[tasks], self.sure[tasks], self.classes)


def own_odds(confidence: FloatArray) -> FloatArray:
    """Log-odds of answers by the models' own confidences.

    Parameters
    ----------
    confidence
        Chance that each model gives its answer; NaN where it gives none, shape (n, J).

    Returns
    -------
    Less the mean of each model; 0 where there is no confidence; shape (n, J).
    """
    with np.errstate(divide="ignore"):
        odds = np.log(confidence) - np.log(1.0 - confidence)
    there = ~np.isnan(confidence)
    odds = np.where(there, np.clip(odds, -SUREST, SUREST), 0.0)
    mean = odds.sum(axis=0) / np.maximum(there.sum(axis=0), 1)
    return np.asarray(np.where(there, odds - mean, 0.0))


@dataclass(frozen=True, eq=False)
class PatternFit:
    """What models' answers are taken to say.

    Attributes
    ----------
    weights
        Most likely weights, in the order of `_features`, shape (P,).
    spread
        A root of their covariance, shape (P, P).
    gate
        Chance of each of `TOGETHER`, summing to 1.
    prior
        Log-chance of each class given the models' answers, shape (n, K). Of a task that people
        labelled, by the other tasks of its pattern.
    """

    weights: FloatArray
    spread: FloatArray
    gate: FloatArray
    prior: FloatArray

    @property
    def joint(self) -> float:
        """Chance that patterns of answers say much that the form of independence does not."""
        return float(self.gate[np.array(TOGETHER) <= MUCH].sum())


def unjudged(panel: ModelAnswers) -> PatternFit:
    """What models are taken to say before anybody has judged them."""
    mean, deviation = _beforehand(panel)
    prior = log(predicted(panel, mean, np.diag(deviation)))
    return PatternFit(mean, np.diag(deviation), _gate_beforehand(), prior)


def fit_patterns(
    panel: ModelAnswers, likely: FloatArray, judged: BoolArray, start: FloatArray | None = None
) -> PatternFit:
    """Fit what the models' answers say to what others say.

    Parameters
    ----------
    panel
        Of n tasks.
    likely
        Likelihood of each class by what others say, shape (n, K); any scale.
    judged
        Tasks of which others said anything, shape (n,).
    start
        Weights to begin with.
    """
    if not judged.any():
        return unjudged(panel)
    others = normalised(log(likely[judged]))[0]
    weights, spread = fit_weights(panel.rows(judged), others, start)
    base = predicted(panel, weights, spread)
    patterns = panel.patterns
    scores, priors = [], []
    for alpha in TOGETHER:
        prior = with_patterns(base, patterns, likely, judged, alpha)
        scores.append(_evidence(base[judged], patterns[judged], prior[judged], others, alpha))
        priors.append(prior)
    gate = _gate_beforehand() * np.exp(np.array(scores) - max(scores))
    gate /= gate.sum()
    prior = np.einsum("a,anc->nc", gate, np.stack(priors))
    return PatternFit(weights, spread, gate, log(prior))


def _gate_beforehand() -> FloatArray:
    """Chance of each of `TOGETHER` beforehand."""
    others = len(TOGETHER) - 1
    return np.array([ALONE, *[(1.0 - ALONE) / others] * others])


def with_patterns(
    base: FloatArray, patterns: IntArray, likely: FloatArray, judged: BoolArray, alpha: float
) -> FloatArray:
    """P(c | x) of each task by base, shape (n, K), and by the other tasks of its pattern.

    Parameters
    ----------
    patterns
        Number of each task's pattern, shape (n,).
    likely, judged
        As of `fit_patterns`.
    alpha
        How many tasks `base` counts for in each pattern.
    """
    if np.isinf(alpha):
        return base
    many = int(patterns.max(initial=-1)) + 1
    at = patterns[judged]
    own = base[judged]
    size = np.bincount(at, minlength=many).astype(np.float64)
    mean = _summed(at, many, own)
    mean /= np.maximum(size, 1.0)[:, None]
    said = normalised(log(own) + log(likely[judged]))[0]
    # Base differs within a pattern only by the models' confidences: the pattern shifts all alike.
    usual = np.maximum(mean, 1e-12)
    for _ in range(TURNS):
        total = _summed(at, many, said)
        rest = np.maximum(total[at] - said, 0.0)
        shifted = own * (rest + alpha * mean[at]) / usual[at]
        shifted /= shifted.sum(axis=1, keepdims=True)
        said = normalised(log(shifted) + log(likely[judged]))[0]
    total = _summed(at, many, said)
    ratio = np.where(size[:, None] > 0, (total + alpha * mean) / usual, 1.0)
    prior = base * ratio[patterns]
    prior /= prior.sum(axis=1, keepdims=True)
    prior[judged] = shifted
    return prior


def _evidence(
    base: FloatArray, at: IntArray, prior: FloatArray, others: FloatArray, alpha: float
) -> float:
    """Log-chance of what others say, each task foretold by those of its pattern before it.

    Parameters
    ----------
    base, at, prior, others
        Of the judged tasks: P(c | x) by the form of independence, pattern, P(c | x) in the end, and
        likelihood by what others say.
    """
    if np.isinf(alpha):
        return float(log((base * others).sum(axis=1)).sum())
    order = np.argsort(at, kind="stable")
    said = normalised(log(prior) + log(others))[0][order]
    starts = np.flatnonzero(np.diff(at[order], prepend=-1))
    size = np.diff(starts, append=len(order))
    before = np.cumsum(said, axis=0) - said
    before -= np.repeat(before[starts], size, axis=0)
    mean = np.repeat(np.add.reduceat(base[order], starts, axis=0) / size[:, None], size, axis=0)
    foretold = base[order] * (np.maximum(before, 0.0) + alpha * mean) / np.maximum(mean, 1e-12)
    foretold /= foretold.sum(axis=1, keepdims=True)
    return float(log((foretold * others[order]).sum(axis=1)).sum())


def _summed(at: IntArray, many: int, rows: FloatArray) -> FloatArray:
    return np.stack([np.bincount(at, column, minlength=many) for column in rows.T], axis=1)


# Weights


def fit_weights(
    panel: ModelAnswers, others: FloatArray, start: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Most likely weights, and a root of their covariance, by what others say of each task.

    Parameters
    ----------
    panel
        Of the k tasks that others labelled.
    others
        Likelihood of each class by what they say, shape (k, K).
    """
    mean, deviation = _beforehand(panel)
    precision = 1.0 / deviation**2
    features = _features(panel)
    weights = mean if start is None or len(start) != len(mean) else start
    for _ in range(STEPS):
        base, said = _stated(features, weights, others)
        slope = np.einsum("kcp,kc->p", features, said - base) - precision * (weights - mean)
        step = np.linalg.solve(_curvature(features, base) + np.diag(precision), slope)
        weights = weights + step
        if np.abs(step).max() < SETTLED:
            break
    base, said = _stated(features, weights, others)
    # What labels leave open of the classes says nothing of the weights.
    information = _curvature(features, base) - _curvature(features, said)
    values, vectors = np.linalg.eigh(information * np.outer(deviation, deviation))
    root = (vectors / np.sqrt(1.0 + np.maximum(values, 0.0))) @ vectors.T
    return weights, deviation[:, None] * root


def _stated(
    features: FloatArray, weights: FloatArray, others: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Chance of each class by the models, and by the models and others; shapes (k, K)."""
    utility = features @ weights
    return normalised(utility.copy())[0], normalised(utility + log(others))[0]


def _curvature(features: FloatArray, chance: FloatArray) -> FloatArray:
    """Σ of the covariances of the features over the classes, shape (P, P)."""
    weighted = features * chance[:, :, None]
    P = features.shape[2]
    mean = weighted.sum(axis=1)
    return np.asarray(
        weighted.reshape(-1, P).T @ features.reshape(-1, P) - mean.T @ mean, dtype=np.float64
    )


def predicted(panel: ModelAnswers, weights: FloatArray, spread: FloatArray) -> FloatArray:
    """P(c | x) in the mean over what is not known of the weights, shape (n, K)."""
    n = len(panel.answer)
    if (panel.sure == 0.0).all():  # all tasks of a pattern are alike
        pattern, where = np.unique(panel.answer, axis=0, return_inverse=True)
        some = ModelAnswers(pattern, np.zeros(pattern.shape), panel.classes)
        return _mean_prediction(_features(some), weights, spread)[where.reshape(-1)]
    parts = [
        _mean_prediction(_features(panel.rows(np.arange(at, min(at + 4096, n)))), weights, spread)
        for at in range(0, n, 4096)
    ]
    return np.concatenate(parts)


def _mean_prediction(features: FloatArray, weights: FloatArray, spread: FloatArray) -> FloatArray:
    draws = stream(0, "weights").standard_normal((DRAWS // 2, len(weights)))
    draws = np.concatenate([draws, -draws]) @ spread.T
    total: FloatArray = np.zeros(features.shape[:2])
    for draw in draws:
        total += normalised(features @ (weights + draw))[0]
    return total / len(draws)


def _beforehand(panel: ModelAnswers) -> tuple[FloatArray, FloatArray]:
    """Mean and standard deviation of each weight beforehand."""
    J, K = panel.answer.shape[1], panel.classes
    terms = [BIAS] * K + [VOTE] + [OWN] * J + [BY_CLASS] * (J * K) + [HEAT] + [OWN_HEAT] * J
    mean, deviation = np.array(terms).T
    return mean, deviation


def _features(panel: ModelAnswers) -> FloatArray:
    """What each weight is multiplied by, for each task and class, shape (n, K, P)."""
    n, J = panel.answer.shape
    K = panel.classes
    named = (panel.answer[:, None, :] == np.arange(K)[:, None]).astype(np.float64)
    sure = named * panel.sure[:, None, :]
    bias = np.broadcast_to(np.eye(K), (n, K, K))
    by_class = np.zeros((n, K, K, J))
    by_class[:, np.arange(K), np.arange(K)] = named
    return np.concatenate(
        [
            bias,
            named.sum(axis=2, keepdims=True),
            named,
            by_class.reshape(n, K, K * J),
            sure.sum(axis=2, keepdims=True),
            sure,
        ],
        axis=2,
    )
