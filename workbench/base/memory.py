"""How much memory this process has, and has had."""

from __future__ import annotations

import sys
from pathlib import Path


def peak_mb() -> float | None:
    """Peak resident memory in megabytes; None where the system does not tell."""
    # ru_maxrss starts from the peak of the process that started this one on Linux, VmHWM from 0.
    reported = _status("VmHWM:")
    if reported is not None:
        return reported
    try:
        import resource
    except ImportError:
        return None
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (2**20 if sys.platform == "darwin" else 2**10)


def resident_mb() -> float | None:
    """Resident memory by now, in megabytes; None where the system does not tell."""
    return _status("VmRSS:")


def _status(field: str) -> float | None:
    status = Path("/proc/self/status")
    lines = status.read_text("utf-8").splitlines() if status.exists() else []
    return next((int(line.split()[1]) / 2**10 for line in lines if line.startswith(field)), None)
