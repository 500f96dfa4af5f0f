"""Routes: which request leads to what, who may send it, and the headers of every answer."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Executor
from functools import partial
from importlib.resources import files
from typing import Any, TypeAlias, TypeVar

import pandas as pd
from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.types import Message as AsgiMessage

from workbench.base.errors import InputError
from workbench.serve.cells import spreadsheet_csv
from workbench.serve.limits import SLOWEST_BODY, Pace, RefusedError, limited
from workbench.serve.links import Holder
from workbench.serve.messages import (
    ChangeMessage,
    ForgetMessage,
    InviteMessage,
    JoinMessage,
    Message,
    NextMessage,
    OrderMessage,
    StudioMessage,
    TellMessage,
    read_message,
)
from workbench.serve.owner_views import OwnerViews
from workbench.serve.refits import Refits
from workbench.serve.service import EVENTS, CollectionService, Reply, encoded

T = TypeVar("T")
Endpoint: TypeAlias = Callable[[Request], Awaitable[Response]]
TYPES = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
}
PAGES = ("work", "join", "owner")
PACES = {
    "owner": (200.0, 400.0),
    "worker": (10.0, 40.0),
    "join": (5.0, 30.0),
    "studio": (100.0, 1000.0),
    "": (5.0, 30.0),
}
"""Requests a second and at once, by role; of those without a link by address."""
MOST_AT_ONCE = 20
"""Requests of one link that are answered at a time."""
CHANGES = (0.5, 10.0)
"""Changes of earlier answers, by worker: each may have all beliefs made anew."""
MOST_EVENTS = 2000
STUDIO = "/label-studio"
"""Where Label Studio sends word to."""
JSON = "application/json"


def application(
    service: CollectionService, desk: Executor, hear: Callable[[StudioMessage], None] | None = None
) -> ASGIApp:
    """Make the application.

    Parameters
    ----------
    service
        The collection.
    desk
        The one thread that made it, and uses it.
    hear
        Takes word from Label Studio, where a project of it is kept in step.
    """
    door = _Door(service, desk)
    both, owner = ("owner", "worker"), ("owner",)
    halts = {"/pause": "paused", "/resume": "", "/close": "closed", "/reopen": ""}
    routes = [
        Route("/next", door.post(both, NextMessage, service.next), methods=["POST"]),
        Route("/tell", door.post(both, TellMessage, service.tell), methods=["POST"]),
        Route("/join", door.post(("join",), JoinMessage, _alone(service.join)), methods=["POST"]),
        Route("/change", door.post(owner, ChangeMessage, _alone(service.change)), methods=["POST"]),
        Route(
            "/invite", door.post(owner, InviteMessage, _alone(service.invite_one)), methods=["POST"]
        ),
        Route("/forget", door.post(owner, ForgetMessage, _alone(service.forget)), methods=["POST"]),
        *(
            Route(path, door.post(owner, OrderMessage, _halts(service, state)), methods=["POST"])
            for path, state in halts.items()
        ),
        Route("/mine", door.get(("worker",), lambda who, _: service.mine(who))),
        Route("/status", door.view(service.status)),
        Route("/overview", door.view(service.overview)),
        Route("/events", door.get(owner, lambda _, request: service.events(_most(request)))),
        Route("/answers", door.table(service.answers, "answers")),
        Route("/answers.csv", door.table(service.answers)),
        Route("/labels.csv", door.table(service.labels)),
        Route("/pay.csv", door.table(service.pay)),
        Route("/remarks.csv", door.table(service.remarks)),
        *(Route(f"/{page}", _file(f"{page}.html")) for page in PAGES),
        *(Route(f"/static/{name}", _file(name)) for name in _names()),
    ]
    if hear is not None:
        endpoint = door.post(("studio",), StudioMessage, _heard(hear))
        routes.append(Route(STUDIO, endpoint, methods=["POST"]))
    app = Starlette(
        routes=routes,
        exception_handlers={
            RefusedError: _refused,
            InputError: partial(_mended, service),
            404: _not_there,
            405: _not_there,
            500: _failed,
        },
    )
    return _Headers(app, service.images)


class _Door:
    """Lets requests in: with a link, not too many, not too large."""

    def __init__(self, service: CollectionService, desk: Executor) -> None:
        self.service, self.desk = service, desk
        self.refits = Refits(service.collector, desk, service.troubles)
        self.views = OwnerViews(service, desk)
        self.paces = {role: Pace(*pace) for role, pace in PACES.items()}
        self.changes = Pace(*CHANGES)
        self.under_way: Counter[str] = Counter()

    def post(
        self, roles: tuple[str, ...], kind: type[Any], act: Callable[[Holder, Any], Reply]
    ) -> Endpoint:
        """Answer a message; with a request id once. Nothing of it is read before its link."""

        async def endpoint(request: Request) -> Response:
            token, address = _token(request), _address(request)
            holder = await self._at_desk(lambda: self._enter(token, address, roles))

            def work(body: bytes) -> bytes:
                self.service.holder(token, *roles)  # it may have been taken away meanwhile
                message = _with_id(read_message(body, kind), request)
                if getattr(message, "again", False):
                    self.changes.take(holder.key)
                reply = self.service.once(
                    holder, request.url.path, message, lambda: act(holder, message)
                )
                self.refits.look()
                self.views.look()
                self.service.look()
                return reply

            with self._one_more(holder):
                body = await _body(request)
                return Response(await self._at_desk(partial(work, body)), media_type=JSON)

        return endpoint

    @contextlib.contextmanager
    def _one_more(self, holder: Holder) -> Iterator[None]:
        """Count a request of a link while it is answered.

        Raises
        ------
        RefusedError
            There are too many.
        """
        if self.under_way[holder.key] >= MOST_AT_ONCE:
            raise RefusedError(429, "too many requests: wait a second")
        self.under_way[holder.key] += 1
        try:
            yield
        finally:
            self.under_way[holder.key] -= 1
            if not self.under_way[holder.key]:
                del self.under_way[holder.key]

    def get(self, roles: tuple[str, ...], act: Callable[[Holder, Request], Reply]) -> Endpoint:
        """Answer a question that changes nothing."""

        async def endpoint(request: Request) -> Response:
            token, address = _token(request), _address(request)

            def work() -> bytes:
                return encoded(act(self._enter(token, address, roles), request))

            return Response(await self._at_desk(work), media_type=JSON)

        return endpoint

    def view(self, made: Callable[[], Reply]) -> Endpoint:
        """Tell the owner where the collection stands; worked out and written beside the desk."""

        async def endpoint(request: Request) -> Response:
            token, address = _token(request), _address(request)
            await self._at_desk(lambda: self._enter(token, address, ("owner",)))
            await asyncio.wrap_future(self.views.begin())
            reply = await self._at_desk(made)
            return Response(await asyncio.to_thread(encoded, reply), media_type=JSON)

        return endpoint

    def table(self, made: Callable[[], pd.DataFrame], name: str = "") -> Endpoint:
        """Give the owner a table as CSV, or by a name as JSON; written out beside the desk."""

        async def endpoint(request: Request) -> Response:
            token, address = _token(request), _address(request)

            def work() -> pd.DataFrame:
                self._enter(token, address, ("owner",))
                return made()

            table = await self._at_desk(work)
            if name:
                return Response(await asyncio.to_thread(_records, table, name), media_type=JSON)
            return Response(await asyncio.to_thread(spreadsheet_csv, table), media_type=CSV)

        return endpoint

    def _enter(self, token: str, address: str, roles: tuple[str, ...]) -> Holder:
        """Say who sends a request.

        Raises
        ------
        RefusedError
            There is no link, or not for this, or there were too many requests.
        """
        try:
            holder = self.service.holder(token, *roles)
        except RefusedError:
            self.paces[""].take(address)
            raise
        self.paces[holder.role].take(holder.key)
        return holder

    async def _at_desk(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self.desk, work)


CSV = "text/csv; charset=utf-8"


def _records(table: pd.DataFrame, name: str) -> bytes:
    rows = table.astype(object).where(table.notna(), None).to_dict("records")
    return encoded({name: rows})


def _alone(act: Callable[[Any], Reply]) -> Callable[[Holder, Any], Reply]:
    """Let an act know nothing of who sends."""
    return lambda _, message: act(message)


def _heard(hear: Callable[[StudioMessage], None]) -> Callable[[Holder, StudioMessage], Reply]:
    def act(_: Holder, message: StudioMessage) -> Reply:
        hear(message)
        return {}

    return act


def _halts(service: CollectionService, state: str) -> Callable[[Holder, Message], Reply]:
    return lambda _, __: service.halt(state)


def _with_id(message: Any, request: Request) -> Any:
    """Take the request id of the header where the body has none."""
    import msgspec

    named = request.headers.get("request-id")
    if named is None or message.request_id is not None:
        return message
    if not 1 <= len(named) <= 200:
        raise RefusedError(400, "Request-Id: give 1 to 200 characters")
    return msgspec.structs.replace(message, request_id=named)


def _token(request: Request) -> str:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def _address(request: Request) -> str:
    return request.client.host if request.client else ""


async def _body(request: Request) -> bytes:
    try:
        async with asyncio.timeout(SLOWEST_BODY):
            return await limited(request.stream())
    except TimeoutError:
        raise RefusedError(408, "the request came too slowly: send it again") from None
    except ClientDisconnect:
        raise RefusedError(400, "the request was cut off") from None


def _most(request: Request) -> int:
    text = request.query_params.get("most", str(EVENTS))
    if not (text.isascii() and text.isdecimal() and 1 <= int(text[:9]) <= MOST_EVENTS):
        raise RefusedError(400, f"most: give a whole number from 1 to {MOST_EVENTS}")
    return int(text)


# ---- pages ----


def _names() -> list[str]:
    folder = files("workbench.serve") / "pages"
    return sorted(file.name for file in folder.iterdir() if not file.name.endswith(".html"))


def _file(name: str) -> Endpoint:
    content = (files("workbench.serve") / "pages" / name).read_bytes()
    kind = TYPES[name[name.rindex(".") :]]

    async def endpoint(_: Request) -> Response:
        return Response(content, media_type=kind)

    return endpoint


# ---- what goes wrong, and every answer's headers ----


UNREAD = (401, 403, 408, 413)
"""Answers to requests of which there may be more to come: nobody waits for it."""


def _error(code: int, line: str) -> Response:
    headers = {"WWW-Authenticate": "Bearer"} if code == 401 else {}
    headers |= {"Retry-After": "1"} if code in (429, 503) else {}
    headers |= {"Connection": "close"} if code in UNREAD else {}
    return JSONResponse({"error": line}, code, headers)


async def _refused(_: Request, error: Exception) -> Response:
    return _error(error.code if isinstance(error, RefusedError) else 400, str(error))


async def _mended(service: CollectionService, request: Request, error: Exception) -> Response:  # noqa: ARG001
    if isinstance(error, InputError) and service.is_of_files(error):
        return _error(503, "the server cannot read or write its files: try again")
    return _error(400, str(error))


async def _not_there(_: Request, error: Exception) -> Response:
    code = getattr(error, "status_code", 404)
    return _error(code, "there is no such page: open the link that you were given")


async def _failed(_: Request, __: Exception) -> Response:
    return _error(500, "the server failed: its owner sees why")


class _Headers:
    """Adds to every answer what keeps browsers from doing more than they should."""

    def __init__(self, app: ASGIApp, images: frozenset[str]) -> None:
        self.app = app
        hosts = " ".join(f"https://{host}" for host in sorted(images))
        self.headers = {
            "Content-Security-Policy": (
                f"default-src 'self'; img-src 'self' {hosts}".rstrip() + "; object-src 'none'; "
                "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
            ),
            "X-Content-Type-Options": "nosniff",
            "X-Frame-Options": "DENY",
            "Referrer-Policy": "no-referrer",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
            "Cache-Control": "no-store",
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: AsgiMessage) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(self.headers)
            await send(message)

        await self.app(scope, receive, with_headers)
