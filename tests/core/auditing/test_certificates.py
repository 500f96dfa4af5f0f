"""Certificates: recomputed by Python alone, to 1e-9; and no mutant claims what draws do not show.

WORKBENCH_MUTANTS mutants are tried, 250 where it is not set. One that the checker accepts is held
against the workbench's own state of the same draws and words.
"""

from __future__ import annotations

import copy
import hashlib
import json
import math
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import workbench
from tests.core.auditing.made import answers, record, run
from tests.core.release import some
from workbench.auditing import check_audit
from workbench.auditing.certificate import canonical, digest
from workbench.auditing.draws import DrawPoint, point
from workbench.auditing.selective import SelectiveState
from workbench.auditing.state import AuditState
from workbench.auditing.strata import Strata

MUTANTS = int(os.environ.get("WORKBENCH_MUTANTS", "250"))
FILE = Path(workbench.__file__).parent / "auditing" / "check_audit.py"


def made(tasks, wrong, error, *, seed=1, checks=10**6, most=1, unanswered=0, refuse=(), **asked):
    table, truth = answers(tasks, wrong, seed, unanswered)
    audit = record(table, error, seed=seed, **asked)
    return run(audit, truth, checks, most, refuse).certificate()


@cache
def certificates():
    """Certified, stopped before, with refusals, missing answers, words that wait, and shares."""
    table, truth = answers(14, 0.2, 3)
    waiting = record(table, 0.3, 0.2)
    tasks = waiting.draw(6)
    waiting.hear({task: truth[task] for task in [tasks[0], tasks[4], tasks[1]]})
    return (
        made(60, 0.05, 0.2),
        made(14, 0.2, 0.25, risk=0.3),
        made(30, 0.2, 0.1, checks=12),
        made(12, 0.4, 0.3, risk=0.4, unanswered=3, most=2),
        made(12, 0.3, 0.2, risk=0.4, refuse=("t1", "t2", "t7"), most=3),
        made(9, 0.3, 0.05, seed=5),
        waiting.certificate(),
        made(24, 0.1, 0.3, risk=0.3, share=0.6, most=2),
        made(24, 0.1, 0.2, risk=0.2, share=1.0, checks=12, unanswered=2, refuse=("t4", "t9")),
    )


def content(certificate):
    return (canonical(certificate) + "\n").encode()


def test_certificates_hold():
    lines = [check_audit.line_of(content(made)) for made in certificates()]
    assert all(holds for holds, _ in lines), lines
    claims = [made["claim"]["certified"] for made in certificates()]
    assert True in claims
    assert False in claims
    shown = [bool(made["seed"]) for made in certificates()]
    assert [("each draw is the seed's" in line) for _, line in lines] == shown


@pytest.mark.parametrize("seed", some(range(4), 3))
def test_recomputed_to_1e_9(seed):
    rng = np.random.default_rng(seed)
    error, wrong = float(rng.choice([0.05, 0.1, 0.2])), float(rng.choice([0.03, 0.1, 0.3]))
    certificate = made(
        int(rng.integers(5, 150)),
        wrong,
        error,
        seed=seed,
        checks=int(rng.integers(1, 90)),
        most=int(rng.integers(1, 5)),
        unanswered=int(rng.integers(0, 4)),
        refuse=("t1", "t3"),
    )
    audit, numbers = check_audit.Audit(certificate["start"]), []
    for is_draw, event in check_audit.events(certificate):
        if is_draw:
            now = audit.look()
            bin_ = audit.bin[event["draw"]]
            numbers += [(event["rate"], now["rate"][bin_]), (event["expected"], now["expected"])]
            if not event["correction"]:
                numbers += [(event["chance"], now["chance"][bin_]), (event["bet"], now["bet"])]
            audit.draw(event, None)
        else:
            audit.hear(event, certificate["start"]["answers"])
    numbers.append((certificate["claim"]["evidence"], audit.evidence(audit.products)))
    for stated, again in numbers:
        assert stated == pytest.approx(again, rel=1e-9, abs=1e-9)
    assert audit.supports(certificate["claim"]["most_wrong"])
    if certificate["claim"]["most_wrong"] > 0:
        # The next smaller claim is refused: a bound, not one of many.
        least = certificate["claim"]["most_wrong"] - 1
        assert certificate["claim"]["certified"] or not audit.supports(least)


def test_bare_python_recomputes_it(tmp_path):
    """With no package in reach."""
    (tmp_path / "good.json").write_bytes(content(certificates()[0]))
    bad = copy.deepcopy(certificates()[2])
    bad["claim"]["certified"] = True
    (tmp_path / "bad.json").write_bytes(content(bad))
    command = [sys.executable, "-I", "-S", str(FILE), "good.json", "bad.json", "none.json"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    good, wrong, missing = ran.stdout.splitlines()
    assert good.startswith("good.json: holds: at most ")
    assert wrong.startswith("bad.json: WRONG: claim: ")
    assert missing.startswith("none.json: WRONG: cannot be read")
    assert "workbench" not in FILE.read_text("utf-8").partition('"""\n\nfrom')[2]


# ---- mutants ----

NASTY = [None, True, False, -1, 0, 1, 0.5, 1e308, "", "cat", "dog", [], {}, 10**40]


def places(value, path=()):
    """Every path into lists and objects."""
    yield path
    items = value.items() if isinstance(value, dict) else ()
    items = enumerate(value) if isinstance(value, list) else items
    for key, inner in items:
        yield from places(inner, (*path, key))


def near(rng, value):
    """Something in a value's place."""
    if rng.random() < 0.15:
        return NASTY[int(rng.integers(len(NASTY)))]
    if type(value) is bool:
        return not value
    if type(value) is int:
        return value + int(rng.choice([-2, -1, 1, 2, 7]))
    if type(value) is float:
        times = [0.5, 0.9, 0.999, 1 + 1e-7, 1.01, 1.1, 2, -1]
        return value * float(rng.choice(times))
    if type(value) is list and value:
        kind, at = int(rng.integers(3)), int(rng.integers(len(value)))
        if kind == 0:
            return value[:at] + value[at + 1 :]
        if kind == 1:
            return [*value[:at], value[at], *value[at:]]
        other = int(rng.integers(len(value)))
        swapped = [*value]
        swapped[at], swapped[other] = value[other], value[at]
        return swapped
    if type(value) is str:
        return str(rng.choice(["cat", "dog", "mouse", "t0", value + "0", value[:-1]]))
    return NASTY[int(rng.integers(len(NASTY)))]


def mutant(rng, certificate):
    """A certificate with something else in one to three places, and mostly with its digests mended.

    Half of them claim more as well.
    """
    forged = copy.deepcopy(certificate)
    for _ in range(int(rng.integers(1, 4))):
        part = str(rng.choice(["start", "events", "claim", "seed"], p=[0.3, 0.4, 0.25, 0.05]))
        inner = forged[part] if isinstance(forged[part], (dict, list)) else None
        paths = list(places(inner)) if inner is not None else [()]
        path = (part, *paths[int(rng.integers(len(paths)))])
        holder = forged
        for key in path[:-1]:
            holder = holder[key]
        holder[path[-1]] = near(rng, holder[path[-1]])
    claim = forged["claim"]
    if rng.random() < 0.5 and isinstance(claim, dict):
        claim["certified"] = True
        if type(claim.get("most_wrong")) is int:
            claim["most_wrong"] = int(rng.integers(0, min(max(claim["most_wrong"], 0), 99) + 1))
    if rng.random() < 0.85:
        sign(forged)
    return forged


def sign(forged):
    """Mend the digests, as whoever forges would."""
    start = forged["start"]
    if not isinstance(start, dict) or not {"tasks", "answers"} <= start.keys():
        return
    if isinstance(forged["seed"], str) and len(forged["seed"]) == 64:
        try:
            seed = bytes.fromhex(forged["seed"])
        except ValueError:
            return
        start["seed_sha256"] = hashlib.sha256(seed).hexdigest()
    forged["answers_sha256"] = digest({"tasks": start["tasks"], "answers": start["answers"]})
    forged["start_sha256"] = digest(start)


def state_of(certificate):
    """The workbench's own state after the same draws and words."""
    start = certificate["start"]
    bins = np.array(start["bins"])
    sure = np.bincount(bins, [a is None for a in start["answers"]], len(start["log_odds"])) > 0
    asked = Strata(bins, np.array(start["log_odds"], float), sure), start["error"], start["risk"]
    share = start["share"]
    state = AuditState(*asked) if share is None else SelectiveState(*asked, share)
    seed = certificate["seed"] and bytes.fromhex(certificate["seed"])
    for event in certificate["events"]:
        if "of" in event:
            answer = start["answers"][state.draws[event["of"]].task]
            wrong = event["word"] is None or event["word"] != answer
            state.hear(event["of"], wrong, refused=event["word"] is None)
            continue
        number = len(state.draws)
        at = point(seed, number) if seed else leading_to(state, event)
        drawn = state.draw(at)
        assert (drawn.task, drawn.correction) == (event["draw"], event["correction"])
        for name in ("chance", "rate", "expected", "bet"):
            assert event[name] == pytest.approx(getattr(drawn, name), rel=1e-6, abs=1e-9)
    return state


def leading_to(state, event):
    """A point at which a task is drawn."""
    now, urns = state.prepare(), state._urns
    bin_ = int(state.strata.bin[event["draw"]])
    first, left = int(urns._start[bin_]), int(urns.left[bin_])
    place = urns._task[first : first + left].tolist().index(event["draw"])
    mass = urns.left * now.q
    middle = (mass[:bin_].sum() + mass[bin_] / 2) / max(mass.sum(), 1e-300)
    coin = 0.0 if event["correction"] else 1.0 - 2.0**-53
    return DrawPoint(coin, float(middle), -(-(place << 128) // left))


def supported(certificate):
    """Whether the draws show what is claimed."""
    state, claim = state_of(certificate), certificate["claim"]
    assert (claim["tasks"], claim["checks"], claim["errors"]) == (
        state.tasks,
        state.checks,
        state.errors,
    )
    if claim["certified"] and not state.certified:
        # Only where the evidence is what is needed to the last of its digits.
        return math.isclose(state.evidence, state.need, abs_tol=1e-8)
    if claim["certified_tasks"]:
        assert claim["certified_tasks"] == state.certified_tasks
        assert claim["certified_wrong"] >= state.most_in_share()
    return claim["most_wrong"] >= state.bound()


def test_true_certificates_are_supported():
    assert all(supported(certificate) for certificate in certificates())


@pytest.mark.release
def test_no_mutant_certifies_what_the_draws_do_not_support():
    rng = np.random.default_rng(30)
    accepted = 0
    for number in range(MUTANTS):
        forged = mutant(rng, certificates()[number % len(certificates())])
        try:
            text = content(forged)
        except ValueError:
            continue  # a number that JSON has no word for
        holds, line = check_audit.line_of(text)
        assert "\n" not in line
        if holds:
            accepted += 1
            assert supported(forged), json.dumps(forged)
    assert MUTANTS / 200 < accepted < MUTANTS / 2


def turned(raw):
    """The word that makes the last answer right where it was wrong, and wrong where it was not."""
    event = raw["events"][-1]
    draws = [event["draw"] for event in raw["events"] if "draw" in event]
    answer = raw["start"]["answers"][draws[event["of"]]]
    return "mouse" if event["word"] == answer else answer


FORGERIES = {
    "certified": lambda raw: raw["claim"].update(certified=True),
    "fewer may be wrong": lambda raw: raw["claim"].update(most_wrong=0),
    "a check more": lambda raw: raw["claim"].update(checks=raw["claim"]["checks"] + 1),
    "a word turned": lambda raw: raw["events"][-1].update(word=turned(raw)),
    "a draw left out": lambda raw: raw["events"].pop(0),
    "a higher chance": lambda raw: raw["events"][0].update(chance=0.9),
    "another answer": lambda raw: raw["start"]["answers"].__setitem__(0, "mouse"),
    "less is asked": lambda raw: raw["start"].update(error=0.99),
    "more risk": lambda raw: raw["start"].update(risk=0.9),
    "another seed": lambda raw: raw.update(seed="00" * 32),
    "another format": lambda raw: raw.update(format=3),
    "a key more": lambda raw: raw.update(more=1),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_forgeries_are_refused(name):
    raw = copy.deepcopy(certificates()[2])
    FORGERIES[name](raw)
    if name in ("less is asked", "more risk"):
        raw["claim"]["certified"] = True
    if name not in ("another answer", "another seed"):  # others keep the beginning's digest
        sign(raw)
    holds, line = check_audit.line_of(content(raw))
    assert not holds, line
    assert line.startswith("WRONG: ")


@pytest.mark.parametrize(
    "text", [b"", b"{", b"[]", b"nan", b"\xff", b'{"kind":"audit"}', b"[" * 10**5, b'{"a":1,"a":1}']
)
def test_what_is_no_certificate_gets_one_line(text):
    holds, line = check_audit.line_of(text)
    assert not holds
    assert "\n" not in line
    assert len(line) < 400
