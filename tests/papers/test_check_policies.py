"""Proofs of policies: what is written holds, and whatever mutant is accepted is true.

Truth is worked out otherwise: the worst case by its linear program, the sequential optimum by
policies that are followed exactly, or by enumeration. A forger knows the checker: a mutant's claim
is often the most that its own numbers prove.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from crowd_models.sequential_policies import SequentialClassProblem, SequentialProblem
from crowd_papers.beyond.instances import ladder
from crowd_papers.beyond.minimax_program import minimax
from crowd_papers.beyond.posted_prices import Posted, falling_proof, proof_file, worst_case
from tests.core.release import some
from tests.core.solving.finite_policies import finite_optimum
from tests.core.solving.forging import at, garbled, mutated, places
from workbench.base.checker import policy_checker
from workbench.base.errors import InputError
from workbench.solving import sequential_proofs as writer
from workbench.solving.claims import Contradiction
from workbench.solving.proof_file import rational, written
from workbench.solving.sequential import sequential_optimum

FOLDER = Path(__file__).parents[2] / "models" / "problems"
if not FOLDER.exists():
    pytest.skip("no models folder beside the tests", allow_module_level=True)

MUTANTS = int(os.environ.get("WORKBENCH_MUTANTS", "1000"))
"""Of each kind; before a release 20,000 in all."""
CHECKER = policy_checker()


def proof_of(problem):
    return writer.sequential_proof(sequential_optimum(problem))


def small(**changes):
    settings = {"skill": [[0.8, 0.9], [0.7, 0.6]], "tasks": [6, 4], "supply": [40, 9]}
    return SequentialProblem(**{**settings, "epsilon": 0.1, **changes})


# ---- what is written ----


@pytest.mark.parametrize("promise", ["error", "mean", "posterior"])
@pytest.mark.parametrize(
    "changes",
    [
        {},
        pytest.param(
            {"skill": [[1.0], [0.6]], "supply": [200], "epsilon": 0.3}, marks=pytest.mark.release
        ),
        pytest.param({"cost": [[1, 2.5], [0.3, 0.1]]}, marks=pytest.mark.release),
        pytest.param(
            {"skill": [[1.0, 0.5], [0.75, 0.9]], "tasks": [0, 7]}, marks=pytest.mark.release
        ),
    ],
)
def test_a_sequential_proof_holds_and_is_near(promise, changes):
    optimum = sequential_optimum(small(promise=promise, **changes))
    content = writer.sequential_proof(optimum)
    holds, line = CHECKER["line_of"](content)
    assert holds, line
    bound = Fraction(json.loads(content)["claim"]["bound"])
    assert float(bound) == pytest.approx(optimum.lower_bound, rel=5e-3)
    assert optimum.cost is None or bound <= optimum.cost * (1 + 1e-9)


@pytest.mark.parametrize("promise", ["error", "mean", "posterior"])
def test_no_policy_of_few_labels_is_below(promise):
    """Every policy of at most six labels per task, listed."""
    problem = small(promise=promise, skill=[[0.8, 0.9], [0.7, 0.9]], supply=[30, 20])
    least = finite_optimum(problem, 6)
    bound = Fraction(json.loads(proof_of(problem))["claim"]["bound"])
    assert least is not None
    assert least * 0.9 <= bound <= least * (1 + 1e-9)


def test_lead_by_two_or_by_three():
    told = json.loads(proof_of(SequentialProblem([[0.8]], [1000], [10000], 0.05)))
    assert float(Fraction(told["claim"]["bound"])) == pytest.approx(3328.125, rel=1e-7)


def test_where_labels_are_free_nothing_is_claimed():
    free = small(cost=[[1, 0], [1, 0]])
    optimum = replace(sequential_optimum(small()), problem=free, worker_prices=np.zeros(2), cost=0)
    told = json.loads(writer.sequential_proof(optimum))
    assert (told["values"], told["claim"]) == ([None, None], {"bound": 0})
    assert CHECKER["line_of"](written(told))[0]
    told["claim"]["bound"] = "1/1000"
    assert not CHECKER["line_of"](written(told))[0]


def test_a_claim_above_the_cost_is_not_written():
    optimum = sequential_optimum(small())
    with pytest.raises(Contradiction):
        writer.sequential_proof(replace(optimum, cost=0.99 * optimum.cost))


def test_that_there_is_no_policy():
    """One label of .8 for two tasks: .35 of them are wrong."""
    optimum = sequential_optimum(SequentialProblem([[0.8]], [2], [1], 0.3))
    assert optimum.status == "none"
    assert optimum.shortfall.least == pytest.approx(0.35, rel=1e-6)
    told = json.loads(writer.sequential_proof(optimum))
    assert CHECKER["line_of"](written(told))[1].startswith("holds: there is no policy, each task")
    told["problem"]["epsilon"] = "2/5"
    assert not CHECKER["line_of"](written(told))[0]


def test_whoever_is_beaten_may_close_a_task_sooner():
    """Two of .9 and two of .8, one task, ε = .05: the file of before said 2.43869."""
    stated = SequentialProblem([[0.9, 0.8]], [1], [2, 2], 0.05, promise="posterior")
    optimum = sequential_optimum(stated)
    content = writer.sequential_proof(optimum)
    claim = Fraction(json.loads(content)["claim"]["bound"])
    assert optimum.cost == pytest.approx(31 / 13)
    assert 2.3846 <= claim <= optimum.cost
    assert len(content) < 20_000


def test_a_file_says_what_it_is_about():
    line = CHECKER["line_of"](proof_of(small()))[1]
    assert "6 + 4 tasks, 2 classes of workers who give 49 labels at most" in line
    assert "skills 0.6 to 0.9, prices 1" in line
    other = CHECKER["line_of"](proof_of(small(supply=[40, 10])))[1]
    assert line.partition("; problem ")[2][:12] != other.partition("; problem ")[2][:12]


def test_several_classes_have_no_proof():
    both = np.array([[[[0.8, 0.2], [0.3, 0.7]]]])
    several = sequential_optimum(SequentialClassProblem(both, [0.5, 0.5], [10], [90], 0.1))
    with pytest.raises(InputError, match="two equally likely classes"):
        writer.sequential_proof(several)


@pytest.mark.release
def test_bare_python_checks_each_kind(tmp_path):
    posted = Posted([1.0, 2.0], 4.0, [2.0])
    proofs = {
        "online": minimax(ladder(3, (1, 2))).proof(),
        "posted": proof_file(posted, worst_case(posted)),
        "sequential": proof_of(small()),
        "spoilt": proof_of(small())[:-2] + b"\n",
    }
    for name, content in proofs.items():
        (tmp_path / f"{name}.json").write_bytes(content)
        command = [sys.executable, "-I", "-S", FOLDER / "check.py", tmp_path / f"{name}.json"]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
        spoilt = name == "spoilt"
        assert ended.returncode == spoilt, ended.stderr
        assert ended.stdout.startswith("WRONG: " if spoilt else "holds: ")
        assert len(ended.stdout.splitlines()) == 1


DEAR = "online-ladder-limited"
"""Ten seconds to check."""


@pytest.mark.parametrize(
    "path", some(sorted((FOLDER / "policies").glob("*.json")), 4), ids=lambda p: p.stem
)
def test_proofs_on_record_hold(path):
    if path.stem == DEAR:
        pytest.skip("dear: with the tests of a release")
    holds, line = CHECKER["line_of"](path.read_bytes())
    assert holds, line


@pytest.mark.release
def test_the_dear_one_holds():
    assert CHECKER["line_of"]((FOLDER / "policies" / f"{DEAR}.json").read_bytes())[0]


# ---- mutants ----


def coarse(problem):
    """The proof of few numbers: nearly all changes of it matter."""
    kept = writer.WIDTH, writer.PIECES
    writer.WIDTH, writer.PIECES = 0.5, (8,)
    try:
        return proof_of(problem)
    finally:
        writer.WIDTH, writer.PIECES = kept


@cache
def posted_proofs():
    """True proofs of posted prices, as tables."""
    some = [
        Posted([1.0, 1.5, 3.0], 4.0, [2.0]),
        Posted([1.0, 2.0, 3.0], 5.0, [3.0, 2.5, 1.0], [0.25, 0.5, 0.25]),
        Posted([0.5, 0.75, 1.0], 1.0, [1.0, 0.75], [0.5, 0.5]),
    ]
    falling = json.loads(falling_proof(2.0))
    short = falling["problem"]
    # Φ in five steps, each at its left end, so that it costs a little more.
    every = len(short["price"]) // 5
    short["price"], short["share"] = short["price"][::every], ["1/5"] * 5
    falling["prices"] = [*falling["prices"][:-1:every], 1]
    falling["claim"]["ratio"] = "3/2"
    proofs = [*(json.loads(proof_file(each, worst_case(each))) for each in some), falling]
    assert all(CHECKER["line_of"](written(told))[0] for told in proofs)
    return proofs


@cache
def sequential_proofs():
    """True proofs of sequential bounds, as tables."""
    problems = [
        *(small(promise=promise) for promise in ("error", "mean", "posterior")),
        *(SequentialProblem([[0.8]], [5], [20], 0.1, promise=p) for p in ("error", "posterior")),
        SequentialProblem([[0.75, 1.0]], [9], [50, 4], 0.05, [[1, 3]], promise="error"),
    ]
    return [json.loads(coarse(problem)) for problem in problems]


def nudged(rng, told, field):
    """Numbers of one field a little larger or smaller, all of a list alike, or one of them."""
    told = json.loads(json.dumps(told))
    paths = [p for p in places(told) if p[:1] == (field,) and isinstance(at(told, p), int | str)]
    paths = [p for p in paths if isinstance(at(told, p), int) or "/" in at(told, p)]
    if not paths:
        return told
    first = paths[int(rng.integers(len(paths)))]
    chosen = [p for p in paths if p[:-1] == first[:-1]] if rng.random() < 0.6 else [first]
    chosen = chosen[int(rng.integers(len(chosen))) :] if rng.random() < 0.5 else chosen
    factor = Fraction(["1/2", "9/10", "999/1000", "1001/1000", "11/10", "2"][int(rng.integers(6))])
    for path in chosen:
        at(told, path[:-1])[path[-1]] = rational(Fraction(at(told, path)) * factor)
    return told


def mutant(rng, pool, fields):
    told = pool[int(rng.integers(len(pool)))]
    if rng.random() < 0.7:
        for _ in range(int(rng.integers(1, 3))):
            told = nudged(rng, told, fields[int(rng.integers(len(fields)))])
        return told
    return mutated(rng, told, pool)


def bytes_of(rng, told):
    """As it is to be written, mostly."""
    if rng.random() < 0.05:
        return garbled(rng, written(told).decode()).encode("utf-8", "replace")
    try:
        return written(told)
    except (TypeError, ValueError):
        return repr(told).encode()


def worst_ratio(told):
    """The worst case of a posted price, by the linear program; any price asked: many of them."""
    problem = told["problem"]
    asks, price, share = (
        [float(Fraction(x)) for x in problem[name]] for name in ("asks", "price", "share")
    )
    repair = float(Fraction(problem["repair"]))
    if problem["any"]:
        some = np.linspace(asks[0], repair, 23).tolist()
        asks = sorted({*asks, *some, *(p for p in price if asks[0] <= p <= repair)})
    return worst_case(Posted(asks, repair, price, share)).ratio


@cache
def least_cost(problem):
    """What policies cost that keep the promise of a stated problem; infinite where none do."""
    told = json.loads(problem)
    skill, cost = (
        [[float(Fraction(x)) for x in row] for row in told[k]] for k in ("skill", "cost")
    )
    tasks, supply = ([float(Fraction(x)) for x in told[k]] for k in ("tasks", "supply"))
    stated = SequentialProblem(
        skill, tasks, supply, float(Fraction(told["epsilon"])), cost, told["promise"]
    )
    found = finite_optimum(stated, 12) if len(supply) == 1 else None
    found = found or sequential_optimum(stated, time_limit=5.0).cost
    return float("inf") if found is None else found


def with_the_most(rng, told):
    """A sequential mutant that claims all that its numbers prove, where they can be read."""
    try:
        bound = CHECKER["sequential_bound"](told)[1]
        told["claim"] = {
            "bound": rational(bound * Fraction(["1", "1", "1001/1000"][rng.integers(3)]))
        }
    except Exception:  # whatever stops it is what `line_of` is to say
        return told
    return told


def one_line(line):
    return len(line.splitlines()) == 1 and line.startswith(("holds: ", "WRONG: "))


def false_posted(seed, many):
    """Mutants that are accepted though untrue, or said of more than a line; and how many pass."""
    rng, wrong, passed, pool = np.random.default_rng(seed), [], 0, posted_proofs()
    for _ in range(many):
        content = bytes_of(rng, mutant(rng, pool, ["problem", "prices", "claim"]))
        holds, line = CHECKER["line_of"](content)
        passed += holds
        told = json.loads(content) if holds else content
        wrong += [(line, told)] * (not one_line(line))
        if holds and worst_ratio(told) > Fraction(told["claim"]["ratio"]) + 1e-7:
            wrong.append((line, told))
    return wrong, passed


def false_sequential(seed, many):
    """The same of sequential bounds."""
    rng, wrong, passed, pool = np.random.default_rng(seed), [], 0, sequential_proofs()
    fields = ["values", "values", "values", "worker_prices", "error_prices", "problem", "claim"]
    for _ in range(many):
        told = mutant(rng, pool, fields)
        if isinstance(told, dict):
            told = with_the_most(rng, told)
        content = bytes_of(rng, told)
        holds, line = CHECKER["line_of"](content)
        passed += holds
        told = json.loads(content) if holds else content
        wrong += [(line, told)] * (not one_line(line))
        if holds:
            least = least_cost(json.dumps(told["problem"]))
            claim = told["claim"].get("bound", 10**9)
            if float(Fraction(claim)) > least * (1 + 1e-9) + 1e-9:
                wrong.append((line, told))
    return wrong, passed


FALSE = {"posted-price": false_posted, "sequential": false_sequential}


@pytest.mark.release
@pytest.mark.parametrize("kind", FALSE)
def test_what_is_accepted_of_some_mutants_is_true(kind):
    wrong, passed = FALSE[kind](0, 100)
    assert not wrong
    assert passed >= 5


@pytest.mark.release
@pytest.mark.parametrize("kind", FALSE)
def test_what_is_accepted_of_many_mutants_is_true(kind):
    wrong, passed = FALSE[kind](1, MUTANTS)
    assert not wrong
    assert passed >= MUTANTS / 50


# ---- forgeries by hand ----


def spoilt(told, change):
    told = json.loads(json.dumps(told))
    change(told)
    return CHECKER["line_of"](written(told))


@pytest.mark.slow
def test_values_that_are_too_high_are_refused_one_by_one():
    """Each value a thousandth higher: a value that nothing holds down is at no error of ½."""
    told = sequential_proofs()[0]
    refused = 0
    for k, own in enumerate(told["values"]):
        for i, value in enumerate(own["values"]):

            def higher(told, k=k, i=i, value=value):
                more = rational(Fraction(value) * Fraction(1001, 1000))
                told["values"][k]["values"][i] = more

            refused += not spoilt(told, higher)[0]
    assert refused > sum(len(own["values"]) for own in told["values"]) / 2


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda t: t.update(worker_prices=[0, -1]), "not within"),
        (lambda t: t["problem"].update(promise="none"), "promise"),
        (lambda t: t["problem"]["skill"][0].__setitem__(0, "1/5"), "below 1/2"),
        (lambda t: t["problem"]["skill"][0].__setitem__(0, 2), "not within"),
        (lambda t: t["values"].__setitem__(0, 7), "no table"),
        (lambda t: t["values"].__setitem__(0, None), "prove"),
        (lambda t: t["values"][0]["errors"].__setitem__(0, "1/9999999"), "from 0 to 1/2"),
        (lambda t: t["values"][0]["values"].pop(), "entries"),
        (lambda t: t["claim"].update(bound=10**6), "prove"),
        (lambda t: t.update(format=True), "format"),
        (
            lambda t: t["problem"].update(cost=[[0, 0], [0, 0]]) or t.update(worker_prices=[0, 0]),
            "costs nothing",
        ),
    ],
)
def test_what_no_sequential_proof_says(change, said):
    holds, line = spoilt(sequential_proofs()[0], change)
    assert not holds
    assert said in line


def raised(told, at_most=1.2):
    """A posterior proof of one task type, its values raised as far as the checker accepts."""
    told = json.loads(json.dumps(told))
    rows, bound_of = told["values"][0]["values"], CHECKER["sequential_bound"]
    for row in rows:
        for i, value in enumerate(row):
            low, high = Fraction(value), Fraction(value) * Fraction(at_most) + 1
            for _ in range(8):
                row[i] = rational((low + high) / 2)
                try:
                    bound_of(told)
                    low = (low + high) / 2
                except ValueError:
                    high = (low + high) / 2
            row[i] = rational(low)
    return told


def drawn(rng, problem):
    """A posterior proof by odds that are drawn, not those at which anything happens."""
    told = json.loads(coarse(problem))
    own, enough = told["values"][0], Fraction(told["values"][0]["odds"][-1])
    some = {Fraction(int(rng.integers(2, 60)), int(rng.integers(1, 9))) for _ in range(5)}
    odds = [Fraction(1), *sorted(x for x in some if 1 < x < enough), enough]
    own["odds"] = [rational(x) for x in odds]
    own["values"] = [[0, 0] for _ in odds[1:]]
    told["claim"]["bound"] = 0
    return told


@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(n, marks=pytest.mark.release) for n in (2, 3, 4, 5))]
)
def test_values_as_high_as_the_checker_takes_them_are_below_what_asking_comes_to(seed):
    """At many odds, in exact fractions: V(o) ≤ c + E V(o′), and so V(1) is no more than is true."""
    rng = np.random.default_rng(seed)
    skill = [[0.8], [0.6, 0.97], [0.99], [0.9, 0.8], [0.75, 0.7, 0.9], [0.9, 0.6]][seed]
    problem = SequentialProblem([skill], [1], [99] * len(skill), 0.1, promise="posterior")
    told = raised(drawn(rng, problem) if seed % 2 else json.loads(coarse(problem)))
    own = told["values"][0]
    edges = [Fraction(x) for x in own["odds"]]
    ends = [[Fraction(x) for x in row] for row in own["values"]]

    def worth(odds):
        odds = max(odds, 1 / odds)
        if odds >= edges[-1]:
            return Fraction(0)
        n = next(n for n, edge in enumerate(edges[1:]) if odds < edge)
        share = (odds - edges[n]) / (edges[n + 1] - edges[n])
        return (ends[n][0] * (1 - share) + ends[n][1] * share) / (1 + odds)

    charges = [1 + Fraction(price) for price in told["worker_prices"]]
    skills = list(map(Fraction, map(str, skill)))
    turns = {x for p in skills for o in edges for x in (o * (1 - p) / p, o * p / (1 - p))}
    turns |= {p / (1 - p) / o for p in skills for o in edges}
    some = {1 + (edges[-1] - 1) * Fraction(step, 90) for step in range(90)}
    near = {x + hair for x in turns for hair in (0, Fraction(1, 10**12), -Fraction(1, 10**12))}
    for odds in sorted(x for x in some | near if 1 <= x < edges[-1]):
        for p, charge in zip(skills, charges, strict=True):
            up = (p * odds + 1 - p) / (1 + odds)
            follows = up * worth(odds * p / (1 - p)) + (1 - up) * worth(odds * (1 - p) / p)
            assert worth(odds) <= charge + follows
    least = finite_optimum(problem, 6)
    assert CHECKER["sequential_bound"](told)[1] <= least * (1 + 1e-9)


def test_whoever_may_ask_anything_is_not_turned_away_in_a_proof():
    """A price of 1 loses 4 where all ask a little more, though none of those listed does."""
    told = json.loads(falling_proof(4.0))
    told["problem"] |= {"price": [1], "share": [1]}
    told["prices"] = [4, 1]
    told["claim"]["ratio"] = 1
    assert not CHECKER["line_of"](written(told))[0]
    told["prices"], told["claim"]["ratio"] = [1, 1], 4
    assert CHECKER["line_of"](written(told))[0]


def test_a_mean_has_one_price_of_errors():
    told = sequential_proofs()[1]
    prices = [told["error_prices"][0], rational(Fraction(told["error_prices"][1]) / 2)]
    assert "one for all" in spoilt(told, lambda t: t.update(error_prices=prices))[1]


def test_numbers_rise_in_what_is_written():
    for told in sequential_proofs():
        for own in told["values"]:
            rows = own.get("errors") or own["odds"]
            assert all(Fraction(x) < Fraction(y) for x, y in pairwise(rows))
