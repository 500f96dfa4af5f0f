"""Simulated workers at a real server: how long `next` and `tell` take, and the server's memory.

    python -m tests.core.serve.load --seconds 120

Prints JSON. Each worker asks ahead, answers after 1 to 3 seconds and is right four times in five;
the owner's page looks every five seconds. Times are from a request's first byte sent to its reply's
last, the client's own waiting included; the client is light, and `late_ms` says how late it wakes,
`others` how many cores other programs took meanwhile: near 0 both on an idle machine.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import tempfile
import time
import zlib
from pathlib import Path

import numpy as np
import psutil

from tests.core.serve.running import serving
from workbench.collection.collector import Collector


class Connection:
    """One connection that is kept, as a browser has it; just enough of HTTP."""

    def __init__(self, url, token):
        self.address = url.removeprefix("http://")
        self.token, self.streams = token, None

    async def ask(self, path, message=None):
        """Send a request; status, body, and seconds that the reply took.

        A connection that the server has closed meanwhile, for it was idle, is opened again.
        """
        kept = self.streams is not None and not self.streams[0].at_eof()
        try:
            return await self._ask(path, message, new=not kept)
        except (EOFError, ConnectionResetError):
            if not kept:
                raise
            return await self._ask(path, message, new=True)

    async def _ask(self, path, message, *, new):
        host, _, port = self.address.rpartition(":")
        if new:
            if self.streams is not None:
                self.streams[1].close()
            self.streams = await asyncio.open_connection(host, int(port))
        reader, writer = self.streams
        body = b"" if message is None else json.dumps(message).encode()
        head = (
            f"{'GET' if message is None else 'POST'} {path} HTTP/1.1\r\nHost: {self.address}\r\n"
            f"Authorization: Bearer {self.token}\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        start = time.perf_counter()
        writer.write(head.encode() + body)
        lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        fields = dict(line.lower().split(": ", 1) for line in lines[1:] if line)
        reply = await reader.readexactly(int(fields["content-length"]))
        seconds = time.perf_counter() - start
        return int(lines[0].split(" ")[1]), reply, seconds


class Load:
    """Everybody's times and errors."""

    def __init__(self, server, seconds):
        self.server, self.seconds = server, seconds
        self.times = {"next": [], "tell": [], "overview": []}
        self.errors: list[str] = []
        self.late: list[float] = []

    async def timed(self, connection, what, message=None):
        try:
            code, body, seconds = await connection.ask(f"/{what}", message)
        except (OSError, EOFError, ValueError) as error:
            self.errors.append(repr(error))
            connection.streams = None
            return {}
        self.times[what].append(seconds)
        if code != 200:
            self.errors.append(f"{code} {body[:200]!r}")
            return {}
        return json.loads(body)

    async def sleep(self, seconds):
        start = time.perf_counter()
        await asyncio.sleep(seconds)
        self.late.append(time.perf_counter() - start - seconds)

    async def work(self, name, seed):
        """Answer questions until the time is over."""
        rng = random.Random(f"{seed} {name}")
        connection = Connection(self.server.url, self.server.tokens[name])
        end = time.monotonic() + self.seconds
        await self.sleep(2 * rng.random())
        while time.monotonic() < end:
            asked = await self.timed(connection, "next", {"most": 3, "ahead": True})
            await self.sleep(1 + 2 * rng.random())
            for ask in asked.get("asks", [])[:1]:
                right = rng.random() < 0.8
                yes = zlib.crc32(ask["task"].encode()) % 2 == right
                labels = [{"task": ask["task"], "label": "yes" if yes else "no"}]
                message = {"labels": labels, "request_id": f"{rng.random()}"}
                await self.timed(connection, "tell", message)

    async def look(self):
        """Look at the owner's page."""
        connection = Connection(self.server.url, self.server.tokens["owner"])
        end = time.monotonic() + self.seconds
        while time.monotonic() < end:
            await self.timed(connection, "overview")
            await self.sleep(5)

    async def run(self, names, seed):
        await asyncio.gather(self.look(), *(self.work(name, seed) for name in names))


def spread(seconds):
    """Percentiles in milliseconds."""
    percentiles = {
        f"p{p}_ms": round(1e3 * float(np.percentile(seconds, p)), 1) for p in (50, 90, 99)
    }
    return {"many": len(seconds), **percentiles, "most_ms": round(1e3 * max(seconds), 1)}


def busy():
    """Processor seconds that all cores have spent."""
    times = psutil.cpu_times()
    return sum(times) - times.idle - getattr(times, "iowait", 0.0) - getattr(times, "guest", 0.0)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("tasks", 10_000), ("workers", 1000), ("at-once", 50), ("seconds", 120)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "c.sqlite"
        tasks = [f"t{i}" for i in range(options.tasks)]
        workers = [f"w{j}" for j in range(options.workers)]
        Collector(tasks, workers, classes=["no", "yes"], epsilon=0.05, path=path).close()
        names = workers[: options.at_once]
        with serving(path, "--workers", ",".join(names)) as server:
            process = psutil.Process(server.process.pid)
            memory = [process.memory_info().rss]
            everything = [busy()]
            spent = [sum(process.cpu_times()[:2]), time.process_time()]
            load = Load(server, options.seconds)
            asyncio.run(load.run(names, options.seed))
            spent = [
                sum(process.cpu_times()[:2]) - spent[0],
                time.process_time() - spent[1],
            ]
            memory.append(process.memory_info().rss)
            others = busy() - everything[0] - sum(spent)
        collector = Collector.open(path)
        labels, events = len(collector.labels()), collector.history()["event"]
    report = {what: spread(seconds) for what, seconds in load.times.items() if seconds}
    report |= {
        "errors": len(load.errors),
        "first_errors": load.errors[:3],
        "labels": labels,
        "fits": int((events == "refit taken").sum()),
        "memory_mb": [round(size / 2**20) for size in memory],
        "processor_seconds": {"server": round(spent[0], 1), "client": round(spent[1], 1)},
        "late_ms": spread(load.late),
        "others": round(others / options.seconds, 2),
        "seconds": options.seconds,
    }
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
