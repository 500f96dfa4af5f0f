"""Tests that have a quicker sister in every run, and are tried themselves before a release."""

from __future__ import annotations

import os

import pytest

RELEASE = "WORKBENCH_RELEASE" in os.environ

before_a_release = pytest.mark.skipif(not RELEASE, reason="WORKBENCH_RELEASE is not set")
