"""Crowds and their makers."""

import math

import numpy as np
import pandas as pd
import pytest

from workbench.base.errors import InputError
from workbench.crowd import population

MAKERS = [
    population.uniform,
    population.uniform_range,
    population.spammer_hammer,
    population.specialists,
    population.beta,
]


@pytest.mark.parametrize("make", MAKERS)
def test_makers_agree_on_form_and_seed(make):
    crowd = make(40, seed=3, capacity=7, task_types=3)
    assert crowd.skill.shape == crowd.quality.shape == (3, 40)
    assert crowd.capacity.tolist() == [7] * 40
    assert crowd.workers[[0, 39]].tolist() == ["w0", "w39"]
    assert crowd.task_types.tolist() == ["type0", "type1", "type2"]
    assert len(crowd) == 40
    for seed in (3, np.random.SeedSequence(3)):
        assert np.array_equal(make(40, seed=seed, task_types=3).skill, crowd.skill)
    if make is not population.uniform:
        assert not np.array_equal(make(40, seed=4, task_types=3).skill, crowd.skill)
    assert make(2, seed=np.random.default_rng(0)).capacity.tolist() == [200, 200]


def test_spammers_and_hammers_come_in_exact_shares_and_random_places():
    crowd = population.spammer_hammer(101, seed=1, task_types=2, share=0.25)
    assert np.array_equal(crowd.skill[0], crowd.skill[1])
    assert (crowd.skill[0] == 0.7).sum() == 25
    assert (population.spammer_hammer(5, seed=1).skill == 0.7).sum() == 3  # a half, up
    places = [population.spammer_hammer(10, seed=k).skill[0] == 0.7 for k in range(400)]
    assert np.abs(np.mean(places, axis=0) - 0.5).max() < 4 * 0.5 / math.sqrt(400)


def test_specialists_are_skilled_at_one_type_in_equal_shares():
    crowd = population.specialists(100, seed=1, task_types=3, skilled=0.8, other=0.6)
    skilled = crowd.skill == 0.8
    assert (skilled.sum(axis=0) == 1).all()
    assert sorted(skilled.sum(axis=1)) == [33, 33, 34]
    assert set(np.unique(crowd.skill)) == {0.6, 0.8}
    assert population.specialists(9, seed=1).skill.tolist() == [[0.7] * 9]


def test_table_and_capacities_by_name():
    skills = pd.DataFrame({"dogs": [0.9, 0.5], "cats": [0.6, 1.0]}, index=["ann", "bob"])
    crowd = population.from_table(skills, pd.Series({"bob": 3, "cyd": 9, "ann": 5}))
    assert crowd.skill.tolist() == [[0.9, 0.5], [0.6, 1.0]]
    assert crowd.capacity.tolist() == [5, 3]
    assert crowd.workers.tolist() == ["ann", "bob"]
    assert crowd.task_types.tolist() == ["dogs", "cats"]
    assert population.from_table(skills).capacity.tolist() == [200, 200]
    assert population.from_table(skills, [1, 2]).capacity.tolist() == [1, 2]


SKILLS = pd.DataFrame({"x": [0.5, 0.7]}, index=["a", "b"])


def test_an_even_crowd_has_skills_between_two():
    crowd = population.named("even", 400, skill=(0.6, 0.9), seed=1)
    assert 0.6 <= crowd.skill.min() < 0.61 < 0.89 < crowd.skill.max() <= 0.9
    # The mean of 400 even draws: .75 with a standard error of .0043.
    assert abs(crowd.skill.mean() - 0.75) < 0.02


def test_a_listed_crowd_has_the_skills_of_the_list():
    skills = [0.9, 0.8, 0.6]
    crowd = population.named("listed", 3, skill=skills, seed=1, task_types=2)
    assert crowd.skill.tolist() == [skills, skills]
    more = population.named("listed", 300, skill=skills, seed=1)
    counts = [(more.skill == skill).sum() for skill in skills]
    assert sum(counts) == 300
    assert min(counts) > 60


@pytest.mark.parametrize(
    ("kind", "skill"),
    [("even", 0.8), ("even", (0.9, 0.6)), ("even", (0.5, 1.1)), ("uniform", (0.5, 0.9))],
)
def test_a_skill_of_another_kind_is_refused(kind, skill):
    with pytest.raises(InputError, match="skill is"):
        population.named(kind, 5, skill=skill, seed=1)
