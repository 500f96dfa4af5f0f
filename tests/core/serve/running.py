"""A real server as a process of its own, and its links."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys

import httpx


class Server:
    """`workbench collect serve`, on a port that is free."""

    def __init__(self, path, *words, tokens=None):
        self.process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "workbench.cli",
                "collect",
                "serve",
                str(path),
                "--port",
                "0",
                "--json",
                *words,
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError(self.process.communicate()[1])
        told = json.loads(line)
        self.url = told["url"]
        self.links = {str(link["worker"] or link["role"]): link["url"] for link in told["links"]}
        self.tokens = dict(tokens or {})
        self.tokens |= {who: url.partition("#")[2] for who, url in self.links.items()}
        self.http = httpx.Client(base_url=self.url, timeout=30)

    def ask(self, path, who, message=None):
        headers = {"Authorization": f"Bearer {self.tokens[who]}"}
        if message is None:
            return self.http.get(path, headers=headers)
        return self.http.post(path, json=message, headers=headers)

    def kill(self):
        """End it at once, as a power cut would."""
        self.process.kill()
        self.process.communicate()
        self.http.close()

    def stop(self):
        """End it as its owner does; what it said on standard error."""
        self.process.terminate()
        return self.process.communicate(timeout=20)[1]


@contextlib.contextmanager
def serving(path, *words, tokens=None):
    """Serve within a block."""
    server = Server(path, *words, tokens=tokens)
    try:
        yield server
    finally:
        server.http.close()
        if server.process.poll() is None:
            server.stop()
