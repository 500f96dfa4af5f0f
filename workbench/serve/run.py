"""The server itself: a socket, one thread that has the collection, and uvicorn."""

from __future__ import annotations

import contextlib
import ipaddress
import signal
import socket
import sys
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from workbench.base.checks import show
from workbench.base.errors import InputError
from workbench.base.state import Id
from workbench.serve.in_step import FULL, InStep, Keeper
from workbench.serve.label_studio import LabelStudio
from workbench.serve.links import Holder, Link
from workbench.serve.service import CollectionService
from workbench.serve.shown import read_shown

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
    studio: LabelStudio | None = None
    project: int | None = None
    proxies: Sequence[str] = ()
    instructions: Path | None = None
    unsure: bool = False


class Announcement(NamedTuple):
    """What is announced before serving: new links, and how many were made before."""

    base: str
    links: list[Link]
    earlier: int
    corrected: list[Id]
    project: str | None = None
    """Address of the project of Label Studio that is kept in step."""


def serve(
    serving: Serving, announce: Callable[[Announcement], None], say: Callable[[str], None]
) -> None:
    """Serve a collection until the process is asked to stop.

    Parameters
    ----------
    serving
        What to serve, and where.
    announce
        Is called with the links, before serving.
    say
        Is called with what goes wrong with Label Studio, meanwhile.

    Raises
    ------
    InputError
        Starlette, uvicorn or segno is missing; there is no such collection; a table or picture is
        refused; the port is taken; or Label Studio cannot be reached, or refuses.
    """
    try:
        import scipy.optimize  # noqa: F401  (late in a policy it would hold up who is asked then)
        import segno  # noqa: F401
        import starlette  # noqa: F401
        import uvicorn
    except ImportError:
        raise InputError(
            "serving needs starlette, uvicorn and segno; pip install 'crowd-workbench[serve]'"
        ) from None
    from workbench.serve.app import STUDIO, application
    from workbench.serve.doorkeeper import Doorkeeper

    _check_proxies(serving.proxies)
    with (
        _ended_in_order(),
        ThreadPoolExecutor(1, "collection") as desk,
        listening(serving.host, serving.port) as door,
    ):
        service = desk.submit(
            CollectionService,
            serving.store,
            images=serving.images,
            audit=serving.audit,
            instructions=serving.instructions,
            unsure=serving.unsure,
        ).result()
        try:
            base = serving.address or address(serving.host, door.getsockname()[1])
            announcement = desk.submit(_prepare, service, serving, base).result()
            with _in_step(serving, say) as keeper, contextlib.ExitStack() as leaving:
                hear = None
                if keeper is not None:
                    assert keeper.step is not None
                    announcement = announcement._replace(project=keeper.step.address)
                    token = desk.submit(service.links.anew, Holder("studio")).result().token
                    hear, url = keeper.hear, base + STUDIO
                    leaving.callback(_leave_alone, keeper.step, url)
                    _listen(keeper.step, url, token, say)
                announce(announcement)
                config = uvicorn.Config(
                    application(service, desk, hear),
                    log_level="warning",
                    access_log=False,
                    server_header=False,
                    lifespan="off",
                    http=Doorkeeper(serving.proxies).protocol(),
                    ws="none",
                    proxy_headers=bool(serving.proxies),
                    forwarded_allow_ips=list(serving.proxies),
                    timeout_graceful_shutdown=GRACE,
                )
                uvicorn.Server(config).run(sockets=[door])
        finally:
            desk.submit(service.close).result()


class _EndedError(BaseException):
    """The process is asked to end."""


@contextlib.contextmanager
def _ended_in_order() -> Iterator[None]:
    """Let a process that is asked to end close first what is open."""

    def end(*_: object) -> None:
        raise _EndedError

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    except _EndedError:
        signal.signal(signal.SIGTERM, before)
        signal.raise_signal(signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)


@contextlib.contextmanager
def _in_step(serving: Serving, say: Callable[[str], None]) -> Iterator[Keeper | None]:
    """Keep a project of Label Studio in step, in a thread of its own, while the block runs."""
    studio = serving.studio
    if studio is None:
        yield None
        return
    keeper = Keeper(lambda: InStep(serving.store, studio, serving.project, say))
    with ThreadPoolExecutor(1, "label studio") as thread:
        try:
            thread.submit(keeper.begin).result()
            running = thread.submit(keeper.run)
            yield keeper
        finally:
            keeper.stop()
    running.result()


def _leave_alone(step: InStep, url: str) -> None:
    """Let Label Studio send no more word; where it cannot be reached, it sends in vain."""
    with contextlib.suppress(InputError):
        step.studio.leave_alone(step.project, url)


def _listen(step: InStep, url: str, token: str, say: Callable[[str], None]) -> None:
    """Let Label Studio send word; where it refuses, all is read now and then in any case."""
    try:
        step.studio.listen(step.project, url, token)
    except InputError as error:
        say(f"{error}; no word comes of new labels: all is read every {FULL:g} s")


def _prepare(service: CollectionService, serving: Serving, base: str) -> Announcement:
    """Take the table of tasks, and make the links that are missing."""
    corrected: list[Id] = []
    service.base = base
    if serving.tasks is not None:
        names = {str(name): name for name in (*service.collector.gold, *service.collector.tasks)}
        corrected = service.show(read_shown(serving.tasks, names))
    links = service.invite(serving.workers, anew=serving.new_links)
    people = [holder for holder in service.links.holders() if holder.role != "studio"]
    return Announcement(base, links, len(people) - len(links), corrected)


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


def _check_proxies(proxies: Sequence[str]) -> None:
    for proxy in proxies:
        try:
            ipaddress.ip_address(proxy)
        except ValueError:
            raise InputError(
                f"--proxy {show(proxy)}: give the address by which the other server comes, "
                "as 127.0.0.1"
            ) from None


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a host by this name."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def address(host: str, port: int) -> str:
    """Address of a server, as a browser takes it; of all its addresses that in its network.

    Raises
    ------
    InputError
        It listens at all addresses of this machine, which is in no network.
    """
    if _is_every_address(host):
        host = _own_address(host)
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def _is_every_address(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return not host


def _own_address(host: str) -> str:
    """Address of this machine, as others in its network have it. Nothing is sent."""
    for family, other in ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1")):
        if family == socket.AF_INET6 and ":" not in host:
            continue
        with contextlib.suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((other, 9))  # addresses that are nobody's: only the route is looked up
            own: str = probe.getsockname()[0]
            return own
    raise InputError(
        f"--host {host}: this machine has no address in a network; give --url, how people's "
        "browsers reach it"
    )
