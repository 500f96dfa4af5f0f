"""Whoever can reach the port: silent connections, halves of requests, bodies without a link."""

from __future__ import annotations

import asyncio
import contextlib
import resource
import socket
import time

import httpx
import psutil
import pytest
from click.testing import CliRunner

pytest.importorskip("uvicorn", reason="install the extra serve")

from tests.core.serve.running import serving
from tests.core.serve.test_routes import Client
from workbench.base.errors import InputError
from workbench.cli import main
from workbench.collection.collector import Collector
from workbench.serve import app, doorkeeper, run
from workbench.serve.run import is_loopback

TASKS = [f"t{i}" for i in range(40)]
MANY = 520
HALF = b"POST /next HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer "
BODY = (
    b"POST /tell HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer none\r\n"
    b"Content-Length: 1000000\r\n\r\n" + b"x" * 500_000
)


def begun(path):
    Collector(TASKS, ["ann"], classes=[0, 1], total=60, policy="fixed", path=path).close()
    return path


@contextlib.contextmanager
def connections(server, many, start):
    """Connect so many times from another address, each with the start of a request."""
    host, _, port = server.url.removeprefix("http://").rpartition(":")
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 4096), most))
    here = []
    for _ in range(many):
        one = socket.socket()
        one.bind(("127.0.0.2", 0))
        one.settimeout(5)
        one.connect((host, int(port)))
        one.setblocking(False)
        with contextlib.suppress(OSError):
            one.send(start)
        here.append(one)
    yield here
    for one in here:
        one.close()


@pytest.mark.release
@pytest.mark.parametrize(("many", "start"), [(MANY, b""), (MANY, HALF), (450, BODY)])
def test_a_worker_is_answered_while_others_hold_connections(many, start, tmp_path):
    with serving(begun(tmp_path / "c.sqlite")) as server:
        process = psutil.Process(server.process.pid)
        assert server.ask("/next", "ann", {"most": 1}).status_code == 200
        before = process.memory_info().rss
        with connections(server, many, start):
            for _ in range(3):
                began = time.monotonic()
                with httpx.Client(base_url=server.url, timeout=10) as fresh:
                    header = {"Authorization": f"Bearer {server.tokens['ann']}"}
                    reply = fresh.post("/next", json={"most": 1}, headers=header)
                assert reply.status_code == 200
                assert time.monotonic() - began < 2
            assert process.memory_info().rss <= 1.3 * before
            assert len(process.net_connections()) <= doorkeeper.MOST_AN_ADDRESS + 10


@pytest.mark.release
def test_headers_have_a_deadline(tmp_path):
    """Also where a byte comes now and then."""
    with serving(begun(tmp_path / "c.sqlite")) as server, connections(server, 3, b"") as here:
        here[1].send(HALF)
        began = time.monotonic()
        while (left := [one for one in here if not _closed(one)]) and time.monotonic() - began < 30:
            with contextlib.suppress(OSError):
                here[2].send(b"G")
            time.sleep(0.2)
        assert left == []
        assert time.monotonic() - began < doorkeeper.SLOWEST_HEADERS + 5


def _closed(one):
    try:
        return one.recv(1000) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


@pytest.mark.slow
@pytest.mark.parametrize("named", [False, True])
def test_an_address_is_believed_only_from_a_proxy_that_is_named(named, tmp_path):
    """Else all requests without a link are counted together, whatever they say."""
    proxy = ("--proxy", "127.0.0.1") if named else ()
    with serving(begun(tmp_path / "c.sqlite"), *proxy) as server:
        codes = {
            server.http.get("/mine", headers={"X-Forwarded-For": f"192.0.2.{i}"}).status_code
            for i in range(int(app.PACES[""][1]) + 30)
        }
        assert codes == ({401} if named else {401, 429})
        assert server.ask("/mine", "ann").status_code == 200


def test_the_link_is_looked_at_before_the_body(tmp_path):
    client = Client(begun(tmp_path / "c.sqlite"))
    parts = []

    async def body():
        for part in (b"{", b"}"):
            parts.append(part)
            yield part

    async def sent(token):
        transport = httpx.ASGITransport(client.http.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://here") as http:
            header = {"Authorization": f"Bearer {token}"}
            return await http.post("/next", content=body(), headers=header)

    for token, code in (("none", 401), (client.tokens["ann"], 200)):
        reply = asyncio.run(sent(token))
        assert reply.status_code == code
        assert bool(parts) == (code == 200)
        assert (reply.headers.get("connection") == "close") == (code == 401)
    client.close()


def test_a_body_has_a_deadline(tmp_path, monkeypatch):
    monkeypatch.setattr(app, "SLOWEST_BODY", 0.05)
    client = Client(begun(tmp_path / "c.sqlite"))

    async def slow():
        yield b"{"
        await asyncio.sleep(5)

    async def sent():
        transport = httpx.ASGITransport(client.http.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://here") as http:
            header = {"Authorization": f"Bearer {client.tokens['ann']}"}
            return await http.post("/next", content=slow(), headers=header)

    reply = asyncio.run(sent())
    assert (reply.status_code, reply.headers["connection"]) == (408, "close")
    client.close()


def test_a_link_has_so_many_requests_at_a_time(tmp_path, monkeypatch):
    monkeypatch.setattr(app, "MOST_AT_ONCE", 2)
    client = Client(begun(tmp_path / "c.sqlite"))

    async def slow():
        await asyncio.sleep(0.2)
        yield b"{}"

    async def sent():
        transport = httpx.ASGITransport(client.http.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://here") as http:
            header = {"Authorization": f"Bearer {client.tokens['ann']}"}
            asks = (http.post("/next", content=slow(), headers=header) for _ in range(4))
            return sorted(reply.status_code for reply in await asyncio.gather(*asks))

    assert asyncio.run(sent()) == [200, 200, 429, 429]
    assert client.ask("/next", "ann", {}).status_code == 200
    client.close()


@pytest.mark.parametrize(
    ("host", "here"),
    [
        *[(name, True) for name in ("127.0.0.1", "127.8.0.1", "::1", "localhost")],
        *[(name, False) for name in ("0.0.0.0", "::", "192.0.2.1", "labels.example.org")],
    ],
)
def test_a_host_that_others_reach_without_tls_is_warned_of(host, here):
    assert is_loopback(host) == here
    ended = CliRunner().invoke(main, ["collect", "serve", "none.sqlite", "--host", host])
    assert ended.exit_code == 2
    assert ("put a server with TLS before" in ended.output) == (not here)
    for url, warned in (("https://labels.example.org", False), ("http://a.example.org", not here)):
        words = ["collect", "serve", "none.sqlite", "--host", host, "--url", url]
        ended = CliRunner().invoke(main, words)
        assert ("put a server with TLS before" in ended.output) == warned


class Probe:
    """A socket of a machine that is in a network, or in none."""

    own = "192.168.1.5"

    def __init__(self, *_):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def connect(self, _):
        if not self.own:
            raise OSError("Network is unreachable")

    def getsockname(self):
        return self.own, 9


def test_links_have_an_address_that_others_can_open(monkeypatch):
    """Of a server that listens at all addresses: this machine's own, or it asks for one."""
    monkeypatch.setattr(run.socket, "socket", Probe)
    for host in ("0.0.0.0", "::"):
        assert run.address(host, 8000) == "http://192.168.1.5:8000"
    assert run.address("::1", 8000) == "http://[::1]:8000"
    monkeypatch.setattr(Probe, "own", "")
    for host in ("0.0.0.0", "::"):
        with pytest.raises(InputError, match="give --url, how people's browsers reach it"):
            run.address(host, 8000)


def test_a_proxy_is_named_by_its_address(tmp_path):
    path = begun(tmp_path / "c.sqlite")
    ended = CliRunner().invoke(main, ["collect", "serve", str(path), "--proxy", "nginx"])
    assert ended.exit_code == 2
    assert ended.output.startswith("error: --proxy 'nginx': give the address")
