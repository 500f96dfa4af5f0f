"""Ratings collected, for ratings.md: python rating_orders.py joy 3 epsilon=19 (or total=400)."""

import sys

import numpy as np

from crowd_papers.beyond import ratings as study
from workbench.aggregation import Ratings, taught_ratings
from workbench.base import stream
from workbench.collection import POLICIES, Answers, Goal, Pool, rehearse
from workbench.crowd.kinds import Scale

HIDDEN = 40


def crowd(name, order):
    """Ratings, their truth and scale; "large" is "simulated" with a thousand tasks."""
    if name not in (study.SIMULATED, "large"):
        return study.recorded(name)
    study.SIZE = (1000 if name == "large" else 200, *study.SIZE[1:])
    return study.simulated(np.random.default_rng(order))


def pool_of(ratings, truth, scale, hides):
    """Who can be asked, and what is answered: what is on record alone."""
    points, shape = np.unique([*ratings.value, *truth]), (ratings.tasks, ratings.workers)
    said = np.full(shape, -1)
    said[ratings.task, ratings.worker] = np.searchsorted(points, ratings.value)
    nobody = np.zeros(0, dtype=int)
    pool = Pool(
        np.arange(shape[0]).astype(str),
        np.arange(shape[1]).astype(str),
        points,
        np.full(shape[1], shape[0]),
        np.ones((1, shape[1])),
        np.zeros(shape[0], dtype=int),
        np.zeros(len(points)),
        nobody,
        nobody,
        available=said >= 0,
        hidden=np.where(hides, np.searchsorted(points, truth), -1),
        scale=Scale(*scale),
    )
    return pool, Answers(said, np.zeros((0, shape[1]), dtype=int), np.full(shape[0], -1))


def evenly(ratings, many, rng):
    """So many ratings, spread over the tasks as evenly as can be."""
    order = np.lexsort((rng.random(len(ratings.value)), ratings.task))
    place = np.arange(len(order)) - np.searchsorted(ratings.task[order], ratings.task[order])
    kept = np.zeros(len(order), dtype=bool)
    kept[order[np.lexsort((rng.random(len(order)), place))[:many]]] = True
    return ratings.some(kept)


def run(name, order, epsilon, total):
    """Ratings a task; errors made, believed, of the mean; made and believed by even ones."""
    ratings, truth, scale = crowd(name, order)
    hides = np.zeros(len(truth), dtype=bool)
    hides[stream(order, "hidden").permutation(len(truth))[:HIDDEN]] = True
    pool, answers = pool_of(ratings, truth, scale, hides)
    call = POLICIES["ratings"].call
    end = rehearse(call, pool, answers, Goal(epsilon), total=total, seed=order)
    task, worker, place = end.ledger.labels.T
    bought = Ratings(task, worker, pool.classes[place], ratings.tasks, ratings.workers)
    even = evenly(ratings, len(task), stream(order, "even"))
    model = taught_ratings(even.some(hides[even.task]), np.where(hides, truth, np.nan)).model
    found, usual = model.estimates(even), truth[hides].mean()
    mean = np.where(bought.counts > 0, np.nan_to_num(bought.means()), usual)
    off = (end.belief.value - truth, end.belief.error, mean - truth)
    beside = np.clip(found.value, *scale) - truth, found.error
    errors = [np.sqrt((each[~hides] ** 2).mean()) for each in (*off, *beside)]
    return [len(task) / len(truth), *errors, end.belief.closed.mean()]


if __name__ == "__main__":
    name, orders, goal = sys.argv[1:]
    word, number = goal.split("=")
    goals = {"epsilon": None, "total": None, word: float(number)}
    rows = np.array([run(name, order, **goals) for order in range(int(orders))])
    print("labels/task made believed mean | evenly: made believed | closed")
    print(np.append(rows, [np.sqrt((rows**2).mean(axis=0))], axis=0).round(2))
