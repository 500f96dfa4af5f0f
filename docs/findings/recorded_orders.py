"""Orders of recorded crowds for until-trusted.md: python recorded_orders.py 7000 7004."""

import json
import sys
from dataclasses import replace

import numpy as np

from crowd_papers.beyond.collect_recorded import CROWDS
from workbench.aggregation import AGGREGATORS
from workbench.base import stream
from workbench.collection import POLICIES, Goal, rehearse
from workbench.ranking import recorded, replayed


def wrong(chance, truth, rows):
    """Mean chance of a wrong answer, equal chances being drawn from."""
    best = chance[rows] >= chance[rows].max(axis=1, keepdims=True) - 1e-12
    return float((1.0 - best[np.arange(len(rows)), truth[rows]] / best.sum(axis=1)).mean())


def collected(name, order):
    """Error made and believed, on all tasks and closed ones, and that of the same labels."""
    pool, answers = replayed(recorded(name))
    truth = answers.truth
    drawn = stream(order, "controls").permutation(np.flatnonzero(truth >= 0))
    many = 10 if name == "sat12" else 40
    hidden, rest = np.full(len(truth), -1), np.sort(drawn[many:])
    hidden[drawn[:many]] = truth[drawn[:many]]
    policy = POLICIES["until-trusted"].call
    end = rehearse(policy, replace(pool, hidden=hidden), answers, Goal(0.05), seed=order)
    labels, votes = end.ledger.labels, end.ledger.votes()
    shares = np.full((len(truth), len(pool.classes)), 1e-9)
    np.add.at(shares, (labels[:, 0], labels[:, 2]), 1.0)
    ebcc = AGGREGATORS["ebcc"].call(votes, seed=order, restarts=2).info["posterior"]
    closed = rest[end.belief.closed[rest]]
    return {
        "crowd": name,
        "order": order,
        "labels": len(labels) / len(truth),
        "made": wrong(end.belief.posterior, truth, rest),
        "believed": float(end.belief.error[rest].mean()),
        "closed": len(closed) / len(rest),
        "made_closed": wrong(end.belief.posterior, truth, closed) if len(closed) else None,
        "believed_closed": float(end.belief.error[closed].mean()) if len(closed) else None,
        "majority": wrong(shares, truth, rest),
        "ebcc": wrong(ebcc, truth, rest),
    }


if __name__ == "__main__":
    first, last = map(int, sys.argv[1:])
    for seed in range(first, last):
        for crowd in CROWDS:
            print(json.dumps(collected(crowd, seed)), flush=True)
