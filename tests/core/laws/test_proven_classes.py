"""Whatever a small plan of several classes says of its cost: held to every plan there is."""

import itertools
import os

import numpy as np
import pandas as pd
import pytest

from workbench.assignment.make_plan import AssignmentTerms, Confusions, make_plan

COUNT = int(os.environ.get("WORKBENCH_LAWS", "3"))
"""Problems of each promise; before a release 300."""
CLOSE = 1e-9


def listed(confusion):
    """P(a | k) of all answers a of a set of workers, shape (K, answers)."""
    chance = np.ones((confusion.shape[1], 1))
    for matrix in confusion:
        chance = (chance[:, :, None] * matrix[:, None, :]).reshape(len(matrix), -1)
    return chance


def bayes(confusion, prior):
    return 1.0 - (prior[:, None] * listed(confusion)).max(axis=0).sum()


def error_by_class(confusion, log_prior):
    """Of the vote handed over, shape (K,): ties by lot."""
    chance = listed(confusion)
    with np.errstate(divide="ignore"):
        score = np.log(chance) + log_prior[:, None]
    won = score >= score.max(axis=0) - 1e-8
    return 1.0 - (chance * won / won.sum(axis=0)).sum(axis=1)


def minimax(confusion):
    """The least greatest class error of any vote, lots allowed: a linear program."""
    from scipy.optimize import linprog

    chance = listed(confusion)
    K, answers = chance.shape
    gains = np.zeros((K, answers * K + 1))
    for k in range(K):
        gains[k, k : answers * K : K] = -chance[k]
    gains[:, -1] = -1.0
    once = np.zeros((answers, answers * K + 1))
    for a in range(answers):
        once[a, a * K : (a + 1) * K] = 1.0
    cost = np.zeros(answers * K + 1)
    cost[-1] = 1.0
    return linprog(
        cost, gains, -np.ones(K), once, np.ones(answers), [(0, None)] * (answers * K) + [(0, 1)]
    ).fun


class Problem:
    """A random small problem, and its optimum by enumeration."""

    def __init__(self, seed, promise):
        rng = np.random.default_rng([seed, len(promise)])
        self.promise, self.K = promise, int(rng.integers(3, 5))
        self.n, self.m = int(rng.integers(1, 4)), int(rng.integers(2, 5))
        self.m += int(self.n < 3)
        right = rng.uniform(0.4, 0.95, self.m)
        self.confusion = np.stack(
            [
                p * np.eye(self.K) + (1 - p) * rng.dirichlet(np.ones(self.K), self.K)
                if rng.random() < 0.9
                else np.full((self.K, self.K), 1.0 / self.K)
                for p in right
            ]
        )
        if rng.random() < 0.3:
            self.confusion[1] = self.confusion[0]
        self.prior = rng.dirichlet(np.full(self.K, 4.0))
        self.epsilon = float(rng.uniform(0.04, 0.35))
        self.capacity = rng.integers(1, self.n + 1, self.m)
        prices = [np.ones(self.m), rng.integers(0, 4, self.m) / 2.0, rng.uniform(0.5, 2, self.m)]
        self.price = prices[int(rng.integers(3))]
        self.may = rng.random((self.n, self.m)) < (0.8 if rng.random() < 0.5 else 1.1)
        self.had = (rng.random((self.n, self.m)) < (0.2 if rng.random() < 0.3 else 0)) & self.may
        self.least, self.most = [(None, None), (None, None), (1, None), (2, 3), (None, 2)][
            int(rng.integers(5))
        ]

    def plan(self):
        workers = [f"w{j}" for j in range(self.m)]
        at = np.arange(self.K)
        known = Confusions(
            self.confusion[None],
            self.prior,
            [f"c{k}" for k in range(self.K)],
            pd.DataFrame({"all": self.confusion[:, at, at] @ self.prior}, index=workers),
        )

        def pairs(mask):
            i, j = np.nonzero(mask)
            return pd.DataFrame({"task": i, "worker": [workers[k] for k in j]})

        terms = AssignmentTerms(
            pd.Series(self.capacity, index=workers),
            self.epsilon,
            pd.Series(self.price, index=workers),
            pairs(self.may | self.had),
            self.promise,
            have=pairs(self.had),
            least=self.least,
            most=self.most,
        )
        return make_plan(known, pd.Series("all", index=range(self.n)), terms, time_limit=600.0)

    def sets(self, task):
        """All sets that may be bought for a task, with the error of each."""
        able = np.flatnonzero(self.may[task] & ~self.had[task])
        have = int(self.had[task].sum())
        for bits in itertools.product([False, True], repeat=len(able)):
            chosen = np.zeros(self.m, dtype=bool)
            chosen[able[list(bits)]] = True
            many = have + chosen.sum()
            fewest = max((self.least or 0) - have, 0)
            room = self.m if self.most is None else max(self.most - have, 0)
            if fewest <= chosen.sum() <= room and many >= 0:
                yield chosen, self.error(self.confusion[chosen | self.had[task]])

    def error(self, confusion):
        return minimax(confusion) if self.promise == "class" else bayes(confusion, self.prior)

    def optimum(self, slack=CLOSE):
        """The least cost of all plans; infinite for none."""
        limit = self.epsilon * (1 + slack)
        many = 2 if self.promise == "mean" else 1
        each = [
            [(chosen, error) for chosen, error in self.sets(i) if error <= many * limit]
            for i in range(self.n)
        ]
        best = np.inf
        for plan in itertools.product(*each):
            used = sum(chosen.astype(int) for chosen, _ in plan)
            if (used > self.capacity).any():
                continue
            if self.promise == "mean" and np.mean([error for _, error in plan]) > limit:
                continue
            best = min(best, float(used @ self.price))
        return best

    def held(self, made):
        """Errors of the vote that is handed over, by task."""
        scores, errors = made.scores, []
        alone = scores[scores["worker"].isna()]
        voters = pd.concat([made.table, made.counted])
        for i in range(self.n):
            own = alone[alone["task"] == i].set_index("class")["score"]
            log_prior = own.reindex([f"c{k}" for k in range(self.K)]).to_numpy(float)
            who = [int(w[1:]) for w in voters.loc[voters["task"] == i, "worker"]]
            each = error_by_class(self.confusion[who], log_prior)
            errors.append(each.max() if self.promise == "class" else each @ self.prior)
        return np.array(errors)


@pytest.mark.parametrize("promise", ["each", "mean", "class"])
@pytest.mark.parametrize("seed", range(COUNT))
def test_every_word_against_every_plan(seed, promise):
    problem = Problem(seed, promise)
    made = problem.plan()
    least = problem.optimum()
    if made.message is not None:
        # Of the worst class the optimum is over votes by lot, which may do what no fixed one does.
        assert "There is no plan" not in made.message or least == np.inf
        assert promise == "class" or least == np.inf
        return
    told = problem.held(made)
    most = problem.epsilon * (2 if promise == "mean" else 1) * (1 + 1e-7)
    assert told == pytest.approx(made.error_exact, abs=1e-9)
    assert (told <= most).all()
    assert told.mean() <= problem.epsilon * (1 + 1e-7)
    cost = float(
        pd.Series(problem.price, [f"w{j}" for j in range(problem.m)])[made.table["worker"]].sum()
    )
    assert cost == pytest.approx(made.solution.objective)
    assert cost >= least - 1e-6
    assert made.claim is not None
    for bound in (made.claim.checked, made.claim.believed):
        assert bound is None or bound <= least * (1 + 1e-6) + 1e-9
    if promise != "class":
        assert cost == pytest.approx(least)
        assert made.claim.proven or promise == "mean"
        assert made.claim.gap == 0 or least == 0


@pytest.mark.parametrize("promise", ["each", "mean", "class"])
@pytest.mark.parametrize("seed", range(1000, 1000 + COUNT // 2))
def test_the_ways_of_larger_programs(seed, promise, monkeypatch):
    """Sets that are generated, and covers: what is said of them holds as well."""
    from workbench.assignment import several_classes

    monkeypatch.setattr(several_classes, "by_lists", lambda *_: None)
    problem = Problem(seed, promise)
    made, least = problem.plan(), problem.optimum()
    if made.message is not None:
        assert "There is no plan" not in made.message or least == np.inf
        return
    told = problem.held(made)
    assert told == pytest.approx(made.error_exact, abs=1e-9)
    assert (told <= problem.epsilon * (2 if promise == "mean" else 1) * (1 + 1e-7)).all()
    assert told.mean() <= problem.epsilon * (1 + 1e-7)
    assert made.solution.objective >= least - 1e-6
    for bound in (made.claim.checked, made.claim.believed) if made.claim else ():
        assert bound is None or bound <= least * (1 + 1e-6) + 1e-9


def test_many_tasks_are_proven_from_the_lists():
    """200 tasks, 16 workers: 3,200 pairs; a checked bound meets the cost, and it is no cover's."""
    rng = np.random.default_rng(0)
    confusion = np.stack(
        [p * np.eye(3) + (1 - p) * rng.dirichlet(np.ones(3), 3) for p in rng.uniform(0.4, 0.8, 16)]
    )
    known = Confusions(
        confusion[None],
        np.full(3, 1 / 3),
        list("xyz"),
        pd.DataFrame({"all": confusion.diagonal(0, 1, 2).mean(axis=1)}),
    )
    tasks = pd.Series("all", index=range(200))
    made = make_plan(known, tasks, AssignmentTerms(50, 0.12))
    assert made.claim is not None
    assert made.claim.gap is not None
    assert made.claim.gap <= 0.02
    assert made.error_exact.max() <= 0.12 * (1 + 1e-9)
