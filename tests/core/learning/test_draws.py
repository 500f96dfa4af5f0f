import numpy as np
import pytest

from workbench.learning.draws import COINS, Draws


def sequential(draws, run, part, steps, width, skipped=0):
    """The first numbers of a stream, one after the other."""
    rng = np.random.Generator(draws._generator(run, part).bit_generator)
    rng.random(skipped)
    return rng.random((steps, width))


@pytest.mark.parametrize("steps", [[0], [5], [0, 1, 2, 3], [3, 9, 10, 4000, 4001, 9999], [2, 400]])
def test_any_step_is_reached_without_those_before(steps):
    draws = Draws([0.6, 0.7, 0.9], 4, seed=3)
    steps = np.array(steps)
    all_of_it = sequential(draws, 2, 0, 10_000, 7)
    np.testing.assert_array_equal(draws.world(2, steps), all_of_it[steps])
    (_, order), (_, coins) = draws.coins_at(np.array([0, 2]), steps)
    np.testing.assert_array_equal(coins, sequential(draws, 2, 1, 10_000, COINS, 3)[steps])
    np.testing.assert_array_equal(order, sequential(draws, 2, 1, 1, 3)[0])


def test_stream_tells_truth_labels_and_retests():
    skill = [0.0, 1.0, 0.7]
    draws = Draws(skill, 1, seed=5)
    stream = draws.stream(0)
    rows = draws.world(0, np.arange(2000))
    truth = (rows[:, 0] < 0.5).astype(int)
    for t in (0, 7, 300, 1999, 4):
        assert stream.truth(t) == truth[t]
        labels = stream.labels(t)
        assert labels[0] == 1 - truth[t]
        assert labels[1] == truth[t]
        assert (labels[2] == truth[t]) == (rows[t, 3] < 0.7)
    again = stream.labels(4, 900)
    assert again[:2].tolist() == [1 - truth[4], truth[4]]
    assert (again[2] == truth[4]) == (rows[900, 6] < 0.7)
    assert stream.answers(7, [2], 7).tolist() == [-1, -1, stream.labels(7)[2]]
