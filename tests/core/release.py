"""Tests that have a quicker sister in every run, and are tried themselves before a release."""

from __future__ import annotations

import os

import pytest

RELEASE = "WORKBENCH_RELEASE" in os.environ

before_a_release = pytest.mark.skipif(not RELEASE, reason="WORKBENCH_RELEASE is not set")


def some(cases, every):
    """Each of so many cases in every run, the first among them; all of them before a release."""
    return [case if at % every == 0 else _at_a_release(case) for at, case in enumerate(list(cases))]


def _at_a_release(case):
    values = case if isinstance(case, tuple) else (case,)
    return pytest.param(*values, marks=pytest.mark.release)
