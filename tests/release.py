"""Tests that have a quicker sister in every run, and are tried themselves before a release."""

from __future__ import annotations

import os

import pytest

before_a_release = pytest.mark.skipif(
    "WORKBENCH_RELEASE" not in os.environ, reason="WORKBENCH_RELEASE is not set"
)
