import numpy as np
import pytest

from tests.core.learning.configurations import configurations
from tests.core.release import some
from workbench.accuracy.best_sets import best_set
from workbench.accuracy.majority import majority_accuracy
from workbench.accuracy.weighted import log_odds_accuracy
from workbench.learning import engine
from workbench.learning.draws import Draws
from workbench.learning.ls_ol import PLAIN, LsOlOptions
from workbench.learning.schedule import practical
from workbench.learning.vetting import Vetting

CASES = list(configurations(16, seed=23, horizon=160))
TABLE_1 = [0.763, 0.781, 0.625, 0.783, 0.727]


def simulate(skill, schedule, horizon, *, runs=1, seed=1, **given):
    options = LsOlOptions(**{name: given.pop(name) for name in vars(PLAIN) if name in given})
    return engine.simulate(Draws(skill, runs, seed=seed), schedule, horizon, options, **given)


@pytest.mark.parametrize("case", some(CASES, 3), ids=range(len(CASES)))
def test_same_as_the_streaming_object_and_the_plain_loop(case):
    draws = case.draws()
    every = range(1, case.horizon + 1)
    runs = engine.simulate(
        draws,
        case.schedule,
        case.horizon,
        LsOlOptions(**case.options),
        checkpoints=every,
    )
    for run in range(draws.runs):
        learner, stream = case.learner(run), draws.stream(run)
        for t, plain in enumerate(case.plain(run)):
            ask = learner.ask(t)
            answer = learner.tell(stream.answers(ask.task, ask.workers, t))
            told = ask.kind, ask.task if ask.kind == "retest" else -1, answer.label
            assert told == (plain.kind, plain.tester, plain.label)
            assert sorted(ask.workers) == sorted(plain.workers)
            assert learner.estimates.tolist() == list(plain.estimates)
            assert len(learner.best) == runs.size[run, t]
            assert learner.counts["asked"] == runs.labels[run, t]
            assert learner.kinds["new tester"] == runs.new_testers[run, t]
            assert learner.kinds["retest"] == runs.retests[run, t]
        assert tuple(learner.removed) == runs.removed[run]
        assert learner.estimates.tolist() == runs.estimates[run].tolist()
        assert sorted(learner.best) == np.flatnonzero(runs.chosen[run]).tolist()


@pytest.mark.parametrize("case", some(CASES[:16], 3), ids=range(16))
def test_the_books_are_those_of_the_steps(case):
    """Regret and cost, added up step by step from their definitions."""
    M = case.skill.shape[1]
    price = np.linspace(0.5, 2, M)
    tasks = np.unique(np.linspace(1, case.horizon, 7).astype(int))
    runs = engine.simulate(
        case.draws(),
        case.schedule,
        case.horizon,
        LsOlOptions(**case.options),
        costs=price,
        checkpoints=tasks,
    )
    weighted = case.options["weighted"]

    def accuracy(p, kind, who, p_hat):
        if kind == "retest":
            return 0.5
        if kind == "new tester" or not weighted:
            return majority_accuracy(p[who])
        return log_odds_accuracy(
            p[who],
            p_hat[who],
            tolerance=case.options["tolerance"],
            truncate=case.options["truncate"],
        )[0]

    for run, p in enumerate(case.skill):
        best = best_set(p, weighted=weighted)
        known = {}
        rows = []
        for kind, _, asked, _, p_hat in case.plain(run):
            who = np.array(asked)
            key = (kind, *asked, *p_hat)
            if key not in known:
                known[key] = accuracy(p, kind, who, np.array(p_hat))
            lost, paid = best.accuracy - known[key], price[who].sum()
            extra = paid - (0 if kind == "retest" else price[best.workers].sum())
            explores = kind != "exploit"
            rows.append([lost * explores, lost * (not explores), paid, extra, len(who)])
        sums = np.cumsum(np.array(rows, dtype=float), axis=0)[tasks - 1].T
        found = (
            runs.exploration_regret,
            runs.exploitation_regret,
            runs.spent,
            runs.cost_regret,
            runs.labels,
        )
        for expected, got in zip(sums, found, strict=True):
            np.testing.assert_allclose(got[run], expected, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(
            runs.reward[run], best.accuracy * tasks - sums[0] - sums[1], atol=1e-9
        )
        # Printed: Σ C(S_t) − n C(S*).
        np.testing.assert_allclose(
            runs.printed_cost_regret[run],
            sums[2] - tasks * price[best.workers].sum(),
            atol=1e-9,
        )
        assert (runs.explored[run] <= tasks).all()


def test_taking_runs_in_turn_changes_nothing(monkeypatch):
    skill = np.random.default_rng(1).uniform(0.3, 1, (7, 4))
    draws = Draws(skill, seed=3)
    options = LsOlOptions(delay=4, vetting=Vetting(0.3, 2))
    together = engine.simulate(draws, practical(2, 3), 300, options)
    monkeypatch.setattr(engine, "CELLS", 1500)
    in_turn = engine.simulate(draws, practical(2, 3), 300, options)
    for name, value in vars(together).items():
        if name == "removed":
            assert value == in_turn.removed
            assert any(value)
        else:
            np.testing.assert_array_equal(value, getattr(in_turn, name))


def test_long_horizons():
    runs = simulate(TABLE_1, practical(2, 5), 10**6, runs=5, seed=1)
    assert (runs.explored[:, -1] == practical(2, 5).exploration_steps(10**6)).all()
    delayed = simulate(TABLE_1, practical(2, 5), 10**6, runs=5, seed=1, delay=100)
    # As many rounds, but for those that still wait at the end.
    assert (np.abs(delayed.explored[:, -1] - runs.explored[:, -1]) <= 2).all()
