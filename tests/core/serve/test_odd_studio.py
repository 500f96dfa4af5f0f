"""Refusals and people that Label Studio seldom speaks of: each is one line, or left out."""

from __future__ import annotations

import http.client
import io
import json
import urllib.error

import pytest

from workbench.base.errors import InputError
from workbench.serve import label_studio
from workbench.serve.label_studio import LabelStudio

URL = "http://studio.example:8080"


def answers(monkeypatch, reply):
    """Let Label Studio answer all requests so."""

    class Opener:
        def open(self, *_, **__):
            if isinstance(reply, Exception):
                raise reply
            return io.BytesIO(reply)

    monkeypatch.setattr(label_studio, "_OPENER", Opener())


def refusal(code, body):
    return urllib.error.HTTPError(URL, code, "Broken\nserver", None, body)  # type: ignore[arg-type]


class Cut(io.BytesIO):
    """A body that is cut off."""

    def read(self, *_):
        raise http.client.IncompleteRead(b"")


BODIES = [b"", b"[]", b"null", b"[" * 100_000, b'{"detail": "a\\nb"}', b"\xff"]


@pytest.mark.parametrize("body", [*map(io.BytesIO, BODIES), Cut()])
def test_an_odd_refusal_is_one_line(body, monkeypatch):
    answers(monkeypatch, refusal(500, body))
    with pytest.raises(InputError, match=rf"^{URL}: refuses \(500\): .{{1,300}}$"):
        LabelStudio(URL, "legacy").users()


def test_a_token_that_is_refused_is_said_as_it_is(monkeypatch):
    answers(monkeypatch, refusal(401, io.BytesIO(b'{"detail": "Token is blacklisted."}')))
    with pytest.raises(InputError, match=rf"^{URL}: refuses \(401\): Token is blacklisted. Give a"):
        LabelStudio(URL, "a.b.c").users()


def test_an_annotation_by_nobody_is_left_out(monkeypatch):
    """Label Studio says so of users who were deleted."""
    mark = {"id": 5, "completed_by": 2, "result": [], "was_cancelled": False}
    task = {"id": 1, "data": {"task": "t1"}, "overlap": 1, "is_labeled": False}
    task["annotations"] = [{**mark, "completed_by": None}, mark]
    answers(monkeypatch, json.dumps({"tasks": [task], "total": 1}).encode())
    (read,) = LabelStudio(URL, "legacy").tasks(7, "label")
    assert [each.user for each in read.annotations] == [2]


def test_an_answer_without_end_is_refused(monkeypatch):
    monkeypatch.setattr(label_studio, "LONGEST", 1000)
    answers(monkeypatch, b"[" + b" " * 2000 + b"]")
    with pytest.raises(InputError, match=rf"^{URL}: answers with more than 1000 bytes"):
        LabelStudio(URL, "legacy").users()
