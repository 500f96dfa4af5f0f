"""Which processes are left."""

from __future__ import annotations

import contextlib
import time

import psutil


def assert_gone(pids, seconds=60.0):
    """Fail unless all processes are gone soon."""
    until = time.monotonic() + seconds
    left = set(pids)
    while left and time.monotonic() < until:
        left = {pid for pid in left if alive(pid)}
        time.sleep(0.02)
    assert not left


def alive(pid):
    with contextlib.suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    return False
