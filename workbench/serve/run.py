"""The server itself: a socket, one thread that has the collection, and uvicorn."""

from __future__ import annotations

import socket
import sys
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from workbench.base.errors import InputError
from workbench.base.state import Id
from workbench.serve.links import Link
from workbench.serve.service import CollectionService
from workbench.serve.shown import read_shown

MOST_CONNECTIONS = 500
"""Beyond them a request is answered 503."""
GRACE = 10
"""Seconds that requests have to end when the server is stopped."""


class Serving(NamedTuple):
    """What a server is begun with; see the command's options."""

    store: Path
    host: str = "127.0.0.1"
    port: int = 8000
    address: str | None = None
    workers: Sequence[Id] | None = None
    tasks: Path | None = None
    images: Collection[str] = ()
    audit: Path | None = None
    new_links: bool = False


class Announcement(NamedTuple):
    """What is told before serving: new links, and how many were made before."""

    base: str
    links: list[Link]
    earlier: int
    corrected: list[Id]


def serve(serving: Serving, announce: Callable[[Announcement], None]) -> None:
    """Serve a collection until the process is told to stop.

    Raises
    ------
    InputError
        Starlette or uvicorn is not installed; there is no such collection; a table or picture is
        refused; or the port is taken.
    """
    try:
        import scipy.optimize  # noqa: F401  (late in a policy it would hold up who is asked then)
        import starlette  # noqa: F401
        import uvicorn
    except ImportError:
        raise InputError(
            "serving needs starlette and uvicorn; pip install 'crowd-workbench[serve]'"
        ) from None
    from workbench.serve.app import application

    with (
        ThreadPoolExecutor(1, "collection") as desk,
        listening(serving.host, serving.port) as door,
    ):
        service = desk.submit(
            CollectionService, serving.store, images=serving.images, audit=serving.audit
        ).result()
        try:
            base = serving.address or address(serving.host, door.getsockname()[1])
            announce(desk.submit(_prepare, service, serving, base).result())
            config = uvicorn.Config(
                application(service, desk),
                log_level="warning",
                access_log=False,
                server_header=False,
                lifespan="off",
                limit_concurrency=MOST_CONNECTIONS,
                timeout_graceful_shutdown=GRACE,
            )
            uvicorn.Server(config).run(sockets=[door])
        finally:
            desk.submit(service.close).result()


def _prepare(service: CollectionService, serving: Serving, base: str) -> Announcement:
    """Take the table of tasks, and make the links that are missing."""
    corrected: list[Id] = []
    if serving.tasks is not None:
        names = {str(name): name for name in (*service.collector.gold, *service.collector.tasks)}
        corrected = service.show(read_shown(serving.tasks, names))
    links = service.invite(serving.workers, anew=serving.new_links)
    return Announcement(base, links, len(service.links.holders()) - len(links), corrected)


def listening(host: str, port: int) -> socket.socket:
    """Open the port; 0 is any that is free.

    Raises
    ------
    InputError
        It is taken, or there is no such host.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With its protocol named asyncio sends at once: without, each reply waits 40 ms for another.
    door = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if sys.platform != "win32":  # where it means that two may have the same port
            door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        door.bind((host, port))
        door.listen(256)
        return door
    except (OSError, OverflowError) as error:
        door.close()
        raise InputError(
            f"--port {port}: cannot be opened at {host} "
            f"({getattr(error, 'strerror', None) or error}): take another"
        ) from None


def address(host: str, port: int) -> str:
    """Address of a server, as a browser takes it."""
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"
