"""Which executor is asked for: processes of this machine, or a Dask cluster."""

from __future__ import annotations

import os
from pathlib import Path

from workbench.base.errors import InputError
from workbench.studies.executors import Executor


def chosen(
    processes: int | None = None,
    scheduler: str | None = None,
    pem: tuple[Path | None, Path | None, Path | None] = (None, None, None),
    *,
    insecure: bool = False,
) -> Executor:
    """Make the executor that options ask for.

    Parameters
    ----------
    processes
        How many trials run at a time on this machine; one a core when None.
    scheduler, pem, insecure
        Address of a Dask cluster, its authority's certificate with one's own certificate and
        private key (PEM), or that whoever answers is trusted.

    Raises
    ------
    InputError
        For options that do not go together.
    """
    if scheduler is not None:
        if processes is not None:
            raise InputError("--processes is for this machine: leave it out with --scheduler")
        from workbench.studies.executors.cluster import Cluster, Tls

        ca, cert, key = pem
        if ca and cert and key:
            return Cluster(scheduler, Tls(ca, cert, key))
        if any(pem):
            raise InputError("--tls-ca, --tls-cert and --tls-key: give all three")
        return Cluster(scheduler, insecure=insecure)
    if any(pem) or insecure:
        raise InputError("--tls-ca, --tls-cert, --tls-key and --insecure are for --scheduler")
    from workbench.studies.executors.local import Local

    # A container or a batch system may grant fewer cores than the machine has.
    granted = getattr(os, "sched_getaffinity", lambda _: range(os.cpu_count() or 1))
    return Local(len(granted(0)) if processes is None else processes)
