"""Classifier combination with correlated workers: subtypes of each class say which tasks are alike.

Workers do not err independently given the class: some tasks of a class are hard in one way, some
in another. So a task of class t has a subtype g, one of M, and worker j names class l with
probability v_j[t, g, l], independently of all others given class *and* subtype. A rank-M mixture,
it takes up the correlation between workers that Dawid and Skene's model leaves out.

    t ~ τ,  g | t ~ π_t,  label_ij | t, g ~ v_j[t, g]
    τ ~ Dirichlet(α),  π_t ~ Dirichlet(a/M, …),  v_j[t, g] ~ Dirichlet(b_t)

with b_t larger on the class itself. Mean-field inference: q(t, g) of each task, Dirichlet
distributions for the rest. Given q, each Dirichlet takes its expected counts; given these,

    ln q_i(t, g) = E ln τ_t + E ln π_tg + Σ_j E ln v_j[t, g, label_ij] + constant.

Both sums over labels are one product of the sparse matrix tasks × (worker, class named) with L M
columns. The evidence bound never falls; where it ends depends on how the subtypes are drawn at
first, so there are several starts. They race (`RACE`): all take a few turns, those of the highest
bounds some more, and the best goes on to its end. With ten starts on twelve recorded crowds that
took a quarter of the turns that all to their ends take; in 18 of 24 runs the bound was the highest
of the ten, and the error was the same in the mean, .014 apart at most. Of more than `PART` labels
the race is run on tasks drawn to have as many, and the winner goes on with all tasks for a few
turns: what is left to learn there is little.

Source: Li, Rubinstein, Cohn (2019), "Exploiting worker correlation for label aggregation in
crowdsourcing", ICML, Sections 3 and 4.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from workbench.aggregation.posteriors import (
    Earlier,
    Fit,
    LabelMatrix,
    by_name,
    concluded,
    label_matrix,
)
from workbench.aggregation.voting import Aggregate
from workbench.base import checks
from workbench.base.arrays import FloatArray
from workbench.base.errors import InputError
from workbench.base.seeds import Seed, stream
from workbench.crowd.votes import Votes

METHOD = "EBCC"
SETTLED = 1e-3
"""A start ends when no task's posterior of a class changes by more."""
RACE = ((5, 3), (20, 1))
"""Turns of each start, and how many of the highest bounds go on then."""
PART, FINISH = 20_000, 10
"""Labels that the starts are made on, at most, and turns on all labels after that."""
UNSEEN = 0.01
"""Prior count of a class that nobody names."""


@dataclass(frozen=True)
class SubtypePrior:
    """Dirichlet prior of `ebcc`.

    Attributes
    ----------
    subtypes
        a: counts of a class spread over its subtypes; small, so that few are used.
    right, wrong
        Entries of b_t: for the class itself, and for each other.
    """

    subtypes: float = 0.1
    right: float = 4.0
    wrong: float = 1.0


@dataclass(frozen=True, eq=False)
class _State:
    """Expected counts of classes (L,), subtypes (L, M) and labels (m, L named, L M); see `ebcc`."""

    classes: FloatArray
    subtypes: FloatArray
    labels: FloatArray


@dataclass(frozen=True, eq=False)
class _Run:
    """Where one start ended: q of each task (n, L M), and the counts that follow from it."""

    joint: FloatArray
    state: _State
    steps: int
    converged: bool


def ebcc(
    votes: Votes,
    *,
    subtypes: int = 10,
    restarts: int = 10,
    prior: SubtypePrior | None = None,
    iterations: int = 500,
    earlier: Earlier | None = None,
    seed: Seed,
) -> Aggregate:
    """Label tasks by the correlated model, the best of several starts.

    Parameters
    ----------
    votes
        k labels of any number of classes.
    subtypes
        M, of each class. With 1 it is a Bayesian Dawid–Skene model.
    restarts
        Random starts; that of the highest evidence bound goes on.
    prior
        Of subtypes and confusion matrices; that of classes has the labels' shares for counts.
    iterations
        Turns at most, 1 or more.
    earlier
        Classes that are known, and a fit to start from: one start, from there.
    seed
        Of the starts, and of the draw between classes of equal posterior. What is drawn for a task
        depends on the order of the tasks' names, not of their rows.

    Returns
    -------
    Aggregate
        `score` is the posterior of the winning class less that of the next. `info` holds

        - `variant`, `iterations` and `converged` of the start that was kept;
        - `bound`: its evidence lower bound, and `bounds` those of all starts, (restarts,), by which
          they were compared;
        - `posterior` (n, L), `class_prior` (L,), `confidence` (n,);
        - `skill`: shape (m,), the expected chance to be right, over classes and subtypes as they
          are expected to come; NaN without labels;
        - `fit`: to start from when there are more labels.

    Raises
    ------
    InputError
        A parameter out of range, tasks without classes, tables beyond memory, or an
        earlier fit of another model or of other classes.
    """
    M = checks.count("subtypes", subtypes, 1)
    most = checks.count("iterations", iterations, 1)
    starts = checks.count("restarts", restarts, 1)
    prior = prior or SubtypePrior()
    for name, value in vars(prior).items():
        checks.number(f"prior.{name}", value, 1e-6, 1e6)
    matrix = label_matrix(votes, earlier, M)
    model = _Model(matrix, prior, M)
    start = (earlier or Earlier()).fit_of(METHOD, votes.classes)
    if start is not None:
        best = model.run(model.posterior(model.recalled(start)), most)
        bounds = np.array([model.bound(best)])
    else:
        best, bounds = _best(model, matrix, prior, starts, most, seed)
    state = best.state
    _, m, L = matrix.shape
    share = state.labels / state.labels.sum(axis=1, keepdims=True)
    right = np.einsum("jttg->jtg", share.reshape(m, L, L, M))
    mixture = state.subtypes / state.subtypes.sum(axis=1, keepdims=True)
    classes = state.classes / state.classes.sum()
    return concluded(
        matrix,
        matrix.clamped(np.minimum(best.joint @ model.of_class, 1.0)),
        METHOD,
        seed,
        {
            "variant": f"EBCC, {M} subtypes a class, best of {len(bounds)} starts by its bound",
            "iterations": best.steps,
            "converged": best.converged,
            "bound": model.bound(best),
            "bounds": bounds,
            "class_prior": classes,
            "skill": np.where(
                matrix.voted, np.einsum("jtg,tg,t->j", right, mixture, classes), np.nan
            ),
            "fit": Fit.of(
                METHOD,
                votes,
                {},
                {"labels": state.labels},
                {"classes": state.classes, "subtypes": state.subtypes},
            ),
        },
    )


def _best(
    model: _Model, matrix: LabelMatrix, prior: SubtypePrior, starts: int, most: int, seed: Seed
) -> tuple[_Run, FloatArray]:
    """Where the best of several starts ends, and the bounds of all."""
    if len(matrix.votes) <= PART:
        return _best_start(model, starts, most, seed)
    few = label_matrix(*_part(matrix, seed), model.M)
    begun, bounds = _best_start(_Model(few, prior, model.M), starts, most, seed)
    whole = model.run(model.posterior(begun.state), min(FINISH, most))
    return replace(whole, steps=begun.steps + whole.steps, converged=begun.converged), bounds


def _best_start(model: _Model, starts: int, most: int, seed: Seed) -> tuple[_Run, FloatArray]:
    """The same of starts on all tasks of a model; bounds are those where each start was left."""
    bounds = np.empty(starts)
    few: dict[int, _Run] = {}
    for at in range(starts):
        few[at] = model.run(model.drawn(stream(seed, f"start {at}")), min(RACE[0][0], most))
        bounds[at] = model.bound(few[at])
        few = _likeliest(few, bounds, RACE[0][1])
    for turns, kept in (RACE[1], (most, 1)):
        for at in few:
            few[at] = model.further(few[at], min(turns, most))
            bounds[at] = model.bound(few[at])
        few = _likeliest(few, bounds, kept)
    (best,) = few.values()
    return best, bounds


def _likeliest(runs: dict[int, _Run], bounds: FloatArray, kept: int) -> dict[int, _Run]:
    """Runs of the highest bounds, by start."""
    return {at: runs[at] for at in sorted(runs, key=lambda at: (-bounds[at], at))[:kept]}


def _part(matrix: LabelMatrix, seed: Seed) -> tuple[Votes, Earlier]:
    """Labels of tasks drawn at random, `PART` of them or a task's less, and the known classes."""
    votes = matrix.votes
    size = np.bincount(votes.task, minlength=len(votes.tasks))
    lot = stream(seed, "part").random(len(votes.tasks))[by_name(votes.tasks)]
    order = np.argsort(lot)
    within = int(np.searchsorted(np.cumsum(size[order]), PART, side="right"))
    kept = np.sort(order[: max(within, 1)])
    place = np.full(len(votes.tasks), -1)
    place[kept] = np.arange(len(kept))
    rows = place[votes.task] >= 0
    part = replace(
        votes,
        task=place[votes.task[rows]],
        worker=votes.worker[rows],
        label=votes.label[rows],
        tasks=votes.tasks[kept],
    )
    return part, Earlier(matrix.known[kept])


class _Model:
    """The two turns of mean-field inference on one matrix of labels."""

    def __init__(self, matrix: LabelMatrix, prior: SubtypePrior, subtypes: int) -> None:
        _, _, L = matrix.shape
        self.matrix, self.M = matrix, subtypes
        self.named = matrix.named
        self.by_named = matrix.named.T  # keeps the layout, in which this product is faster
        self.shares = matrix.shares()
        self.classes = np.maximum(self.shares[matrix.labelled].sum(axis=0), UNSEEN)
        self.subtypes = np.full((L, subtypes), prior.subtypes / subtypes)
        spread = np.full((L, L), prior.wrong) + np.eye(L) * (prior.right - prior.wrong)
        self.labels = np.repeat(spread, subtypes, axis=1)  # (named, class × subtype)
        # Sums over subtypes, and over the tasks with labels, as products: far faster than `sum`.
        self.of_class = np.repeat(np.eye(L), subtypes, axis=0)
        self.labelled = matrix.labelled.astype(np.float64)
        self.excluded = np.repeat(matrix.excluded(), subtypes, axis=1)

    def drawn(self, rng: np.random.Generator) -> FloatArray:
        """First posterior: shares of labels, split among subtypes at random; (n, L M)."""
        n, _, L = self.matrix.shape
        votes = self.matrix.votes
        split = rng.dirichlet(np.ones(self.M), (n, L))
        split = split[by_name(votes.tasks)][:, by_name(votes.classes)]
        return (split * self.shares[:, :, None]).reshape(n, L * self.M)

    def counts(self, joint: FloatArray) -> _State:
        """Turn one: expected counts, priors added, given each task's class and subtype."""
        _, m, L = self.matrix.shape
        met = (self.labelled @ joint).reshape(L, self.M)
        return _State(
            self.classes + met.sum(axis=1),
            self.subtypes + met,
            (self.by_named @ joint).reshape(m, L, L * self.M) + self.labels,
        )

    def posterior(self, state: _State) -> FloatArray:
        """Turn two: q(t, g) of each task given the expected counts; (n, L M)."""
        _, m, L = self.matrix.shape
        evidence = _expected_log(state.labels, 1).reshape(m * L, L * self.M)
        joint: FloatArray = self.named @ evidence
        joint += (
            _expected_log(state.classes, 0)[:, None] + _expected_log(state.subtypes, 1)
        ).ravel()
        joint[self.excluded] = -np.inf
        joint -= joint.max(axis=1, keepdims=True)
        np.exp(joint, out=joint)
        joint /= joint.sum(axis=1)[:, None]
        return joint

    def run(self, joint: FloatArray, most: int) -> _Run:
        """Take turns until the posteriors of the classes settle, `most` times at most."""
        before = joint @ self.of_class
        step, converged = 0, False
        while step < most and not converged:
            step += 1
            joint = self.posterior(self.counts(joint))
            after = joint @ self.of_class
            converged = bool((np.abs(after - before) <= SETTLED).all())
            before = after
        return _Run(joint, self.counts(joint), step, converged)

    def further(self, run: _Run, until: int) -> _Run:
        """Go on with a run, until it has taken so many turns in all or settled."""
        if run.converged or run.steps >= until:
            return run
        more = self.run(run.joint, until - run.steps)
        return replace(more, steps=run.steps + more.steps)

    def bound(self, run: _Run) -> float:
        """Evidence lower bound: entropy of q, and each Dirichlet's normaliser over its prior's."""
        from scipy.special import entr

        joint, state = run.joint, run.state
        gained = (
            _log_beta(state.classes, 0) - _log_beta(self.classes, 0),
            (_log_beta(state.subtypes, 1) - _log_beta(self.subtypes, 1)).sum(),
            (_log_beta(state.labels, 1) - _log_beta(self.labels, 0)).sum(),
        )
        return float(sum(gained) + entr(joint[self.matrix.labelled]).sum())

    def recalled(self, start: Fit) -> _State:
        """Counts of an earlier fit; a worker it does not know has those of the prior."""
        before = start.shared["subtypes"].shape[1]
        if before != self.M:
            raise InputError(f"start has {before} subtypes a class, not {self.M}: give as many")
        workers = self.matrix.votes.workers
        return _State(
            start.shared["classes"],
            start.shared["subtypes"],
            start.of_workers("labels", workers, self.labels),
        )


def _expected_log(counts: FloatArray, axis: int) -> FloatArray:
    """E ln p under Dirichlet distributions along an axis."""
    from scipy.special import digamma

    total = digamma(counts.sum(axis=axis, keepdims=True))
    expected: FloatArray = digamma(counts) - total
    return expected


def _log_beta(counts: FloatArray, axis: int) -> FloatArray:
    """Logarithm of the normaliser of Dirichlet distributions along an axis."""
    from scipy.special import gammaln

    normaliser: FloatArray = gammaln(counts).sum(axis=axis) - gammaln(counts.sum(axis=axis))
    return normaliser
