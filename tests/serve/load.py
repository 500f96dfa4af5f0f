"""Simulated workers at a real server: how long `next` and `tell` take, and the server's memory.

    python -m tests.serve.load --seconds 120

Prints JSON. Each worker asks ahead, answers after 1 to 3 seconds and is right four times in five;
the owner's page looks every five seconds.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import tempfile
import time
from pathlib import Path

import httpx
import numpy as np
import psutil

from tests.serve.running import serving
from workbench.collection.collector import Collector


async def work(http, token, seconds, rng, times, errors):
    """Answer questions until the time is over."""
    header = {"Authorization": f"Bearer {token}"}
    end = time.monotonic() + seconds
    await asyncio.sleep(rng.random() * 2)
    while time.monotonic() < end:
        asked = await timed(http, "next", {"most": 3, "ahead": True}, header, times, errors)
        await asyncio.sleep(1 + 2 * rng.random())
        for ask in (asked or {}).get("asks", [])[:1]:
            label = "yes" if rng.random() < 0.8 else "no"
            body = {"labels": [{"task": ask["task"], "label": label}]}
            body["request_id"] = f"{rng.random()}"
            await timed(http, "tell", body, header, times, errors)


async def timed(http, what, message, header, times, errors):
    start = time.perf_counter()
    try:
        reply = await http.post(f"/{what}", json=message, headers=header)
    except httpx.HTTPError as error:
        errors.append(repr(error))
        return None
    times[what].append(time.perf_counter() - start)
    if reply.status_code != 200:
        errors.append(reply.text)
        return None
    return reply.json()


async def look(http, token, seconds, times, errors):
    """Look at the owner's page."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        start = time.perf_counter()
        reply = await http.get("/overview", headers={"Authorization": f"Bearer {token}"})
        times["overview"].append(time.perf_counter() - start)
        if reply.status_code != 200:
            errors.append(reply.text)
        await asyncio.sleep(5)


async def load(server, names, seconds, seed):
    times = {"next": [], "tell": [], "overview": []}
    errors: list[str] = []
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(base_url=server.url, timeout=30, limits=limits) as http:
        await asyncio.gather(
            look(http, server.tokens["owner"], seconds, times, errors),
            *(
                work(
                    http,
                    server.tokens[name],
                    seconds,
                    random.Random(f"{seed} {name}"),
                    times,
                    errors,
                )
                for name in names
            ),
        )
    return times, errors


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("tasks", 10_000), ("workers", 1000), ("at-once", 50), ("seconds", 120)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "c.sqlite"
        tasks = [f"t{i}" for i in range(given.tasks)]
        workers = [f"w{j}" for j in range(given.workers)]
        Collector(tasks, workers, classes=["no", "yes"], epsilon=0.05, path=path).close()
        names = workers[: given.at_once]
        with serving(path, "--workers", ",".join(names)) as server:
            process = psutil.Process(server.process.pid)
            before = process.memory_info().rss
            start = sum(process.cpu_times()[:2])
            times, errors = asyncio.run(load(server, names, given.seconds, given.seed))
            spent = sum(process.cpu_times()[:2]) - start
            memory = process.memory_info().rss
        labels = len(Collector.open(path).labels())
    report = {
        what: {
            "many": len(rows),
            **{f"p{p}_ms": round(1e3 * float(np.percentile(rows, p)), 1) for p in (50, 90, 99)},
            "most_ms": round(1e3 * max(rows), 1),
        }
        for what, rows in times.items()
        if rows
    }
    report |= {"errors": len(errors), "first_errors": errors[:3], "labels": labels}
    report |= {"memory_mb": [round(size / 2**20) for size in (before, memory)]}
    report |= {"processor_seconds": round(spent, 1), "seconds": given.seconds}
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
