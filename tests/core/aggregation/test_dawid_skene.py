import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.aggregation.dawid_skene import dawid_skene
from workbench.aggregation.posteriors import chances, normalised
from workbench.aggregation.voting import majority
from workbench.crowd.simulate import dense_votes, one_coin_labels


def reference(votes, iterations, *, one_coin=False, uniform=False, smoothing=0.0):
    """EM vote by vote, straight from the page: posterior, and the log-likelihood it had."""
    n, m, L = len(votes.tasks), len(votes.workers), len(votes.classes)
    rows = list(zip(votes.task, votes.worker, votes.label, strict=True))
    post = np.zeros((n, L))
    for i, _, label in rows:
        post[i, label] += 1
    seen = post.sum(axis=1) > 0
    post[seen] /= post[seen].sum(axis=1, keepdims=True)
    post[~seen] = 1 / L
    fit = []
    for _ in range(iterations):
        prior = np.full(L, 1 / L) if uniform or not seen.any() else post[seen].mean(axis=0)
        matrix = np.full((m, L, L), 0.0 if one_coin else smoothing)
        density = 0.0
        for i, j, label in rows:
            matrix[j, :, label] += post[i]
        for j in {j for _, j, _ in rows}:
            if one_coin:
                right = np.trace(matrix[j]) + smoothing
                wrong = sum(matrix[j][t, u] for t in range(L) for u in range(L) if t != u)
                wrong += smoothing
                matrix[j] = wrong / (right + wrong) / (L - 1)
                np.fill_diagonal(matrix[j], right / (right + wrong))
                if smoothing:
                    density += smoothing * np.log(right * wrong / (right + wrong) ** 2)
            else:
                for t in range(L):
                    total = matrix[j, t].sum()
                    matrix[j, t] = matrix[j, t] / total if total else 1 / L
                if smoothing:
                    density += smoothing * np.log(matrix[j]).sum()
        log = np.tile(np.log(np.maximum(prior, 1e-300)), (n, 1))
        for i, j, label in rows:
            log[i] += np.log(np.maximum(matrix[j, :, label], 1e-300))
        peak = log.max(axis=1, keepdims=True)
        post = np.exp(log - peak)
        fit.append((np.log(post.sum(axis=1)) + peak[:, 0])[seen].sum() + density)
        post /= post.sum(axis=1, keepdims=True)
    return post, fit


@st.composite
def crowds(draw):
    seed = draw(st.integers(0, 10**6))
    rng = np.random.default_rng(seed)
    n, m, L = rng.integers(1, 12), rng.integers(1, 6), rng.integers(2, 5)
    labels = rng.integers(-1, L, (n, m))
    return dense_votes(labels, int(L))


@settings(max_examples=20, deadline=None)
@given(crowds(), st.booleans(), st.booleans(), st.sampled_from([0.0, 0.5]))
def test_the_page_written_out(votes, one_coin, uniform, smoothing):
    found = dawid_skene(
        votes,
        confusion="one-coin" if one_coin else "full",
        class_prior="uniform" if uniform else "estimated",
        smoothing=smoothing,
        iterations=3,
        tolerance=0.0,
        seed=0,
    )
    posterior, fit = reference(
        votes, found.info["iterations"], one_coin=one_coin, uniform=uniform, smoothing=smoothing
    )
    np.testing.assert_allclose(found.info["posterior"], posterior, atol=1e-9)
    np.testing.assert_allclose(found.info["log_likelihood"], fit, atol=1e-9)


@settings(max_examples=26, deadline=None)
@given(
    crowds(),
    st.sampled_from(["full", "one-coin"]),
    st.sampled_from(["estimated", "uniform"]),
    st.sampled_from([0.0, 0.01, 1.0]),
)
def test_the_likelihood_never_falls(votes, confusion, prior, smoothing):
    found = dawid_skene(
        votes, confusion=confusion, class_prior=prior, smoothing=smoothing, tolerance=0.0, seed=0
    )
    history = np.array(found.info["log_likelihood"])
    assert (np.diff(history) >= -1e-9 * np.maximum(np.abs(history[1:]), 1)).all()
    assert np.isfinite(found.info["posterior"]).all()
    assert (found.unlabelled == (np.bincount(votes.task, minlength=len(votes.tasks)) == 0)).all()


def test_skills_are_found():
    rng = np.random.default_rng(0)
    skill, truth = np.array([0.95, 0.9, 0.7, 0.6, 0.5, 0.4]), rng.integers(3, size=3000)
    votes = dense_votes(one_coin_labels(skill, truth, 3, seed=1), 3)
    one = dawid_skene(votes, confusion="one-coin", seed=0)
    full = dawid_skene(votes, seed=0)
    np.testing.assert_allclose(one.info["skill"], skill, atol=0.04)
    np.testing.assert_allclose(full.info["skill"], skill, atol=0.05)
    by_count = (majority(votes, seed=0).label == truth).mean()
    for found in (one, full):
        assert found.info["converged"]
        assert (found.label == truth).mean() > by_count + 0.02
    np.testing.assert_allclose(full.info["confusion"].sum(axis=2), 1.0)
    assert full.score == pytest.approx(np.ptp(np.sort(full.info["posterior"])[:, 1:], axis=1))


def test_ties_and_tasks_without_votes_are_drawn_fairly():
    votes = dense_votes(np.array([[0, 1]] * 400 + [[-1, -1]] * 400), 2)
    found = dawid_skene(votes, confusion="one-coin", seed=2)
    assert found.tied[:400].all()
    assert found.unlabelled[400:].all()
    assert not found.tied[400:].any()
    for half in (found.label[:400], found.label[400:]):
        assert abs(half.mean() - 0.5) < 4 * 0.5 / 20
    assert (found.label == dawid_skene(votes, confusion="one-coin", seed=2).label).all()


def test_ties_are_seen_through_rounding():
    """Two halves of a crowd with the same history, and tasks where they contradict each other."""
    rng = np.random.default_rng(6)
    truth = rng.integers(2, size=150)
    one, two = (one_coin_labels(rng.uniform(0.3, 0.9, 5), truth, 2, seed=seed) for seed in (1, 2))
    one[:20], two[:20] = 0, 1
    labels = np.block([[one, two], [two, one]])
    found = dawid_skene(dense_votes(labels, 2), confusion="one-coin", class_prior="uniform", seed=0)
    opposed = np.tile((one != two).all(axis=1), 2)
    assert 40 <= opposed.sum() < 60
    assert np.array_equal(found.tied, opposed)
    assert np.abs(found.info["posterior"][opposed, 0] - 0.5).max() < 1e-9


@pytest.mark.parametrize("scale", [0.1, 3.0, 1000.0])
def test_two_classes_are_normalised_as_any_number_is(scale):
    joint = np.random.default_rng(1).normal(size=(2001, 2)) * scale
    joint[::7, 0], joint[::11] = -np.inf, 2.0
    three = np.column_stack([joint, np.full(len(joint), -np.inf)])
    expected, sums = normalised(three.copy())
    found, total = normalised(joint.copy())
    assert (found == expected[:, :2]).all()
    assert (total == sums).all()
    assert (chances(np.asfortranarray(joint)) == found).all()


@pytest.mark.parametrize("columns", [3, 75])
def test_a_few_rows_are_normalised_as_many_are(columns):
    """To the last bit, wherever the table lies."""
    joint = np.random.default_rng(2).normal(size=(100, columns)) * 30.0
    joint[::3, 0] = -np.inf
    expected, sums = normalised(joint.copy())
    for few in (joint[4:5].copy(), joint[4:5].copy(order="F")):
        found, total = normalised(few)
        assert (found == expected[4:5]).all()
        assert (total == sums[4:5]).all()
    found, total = normalised(np.asfortranarray(joint[:30]))
    assert (found == expected[:30]).all()
    assert (total == sums[:30]).all()


def test_a_table_is_normalised_in_parts_as_at_once(monkeypatch):
    """To the last bit, also of a row that is left alone."""
    joint = np.random.default_rng(3).normal(size=(120, 75))
    expected, sums = normalised(joint.copy())
    monkeypatch.setattr("workbench.aggregation.posteriors.CELLS", 33 * 75)
    for first in range(20):
        found, total = normalised(joint[first : first + 100].copy())
        assert (found == expected[first : first + 100]).all()
        assert (total == sums[first : first + 100]).all()
