"""Pages in headless Chromium, by its DevTools protocol over a pipe: no package needed."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

FOUND = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), "")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--hide-scrollbars", "--remote-debugging-pipe",
)  # fmt: skip
PATIENCE = 60.0
LAUNCH = """
import fcntl, os, sys
asks, answers = (fcntl.fcntl(int(one), fcntl.F_DUPFD, 10) for one in sys.argv[1:3])
os.dup2(asks, 3)
os.dup2(answers, 4)
os.execv(sys.argv[3], sys.argv[3:])
"""


class Chromium:
    """One browser with one page. `requests` and `complaints` gather what the page did."""

    def __init__(self) -> None:
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self._events: list[str] = []
        self._number = 0
        self._session = ""

    def __enter__(self) -> Chromium:
        with contextlib.ExitStack() as stack:
            folder = stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True))
            self._start(folder, stack)
            target = self.ask("Target.createTarget", url="about:blank")["targetId"]
            attached = self.ask("Target.attachToTarget", targetId=target, flatten=True)
            self._session = attached["sessionId"]
            for domain in ("Page", "Network", "Log", "Runtime"):
                self.ask(f"{domain}.enable")
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._session = ""
        with self._stack, contextlib.suppress(OSError, EOFError):
            self.ask("Browser.close")

    def _start(self, folder: str, stack: contextlib.ExitStack) -> None:
        asks, self._send = os.pipe()
        answers_from, answers = os.pipe()
        self._input = stack.enter_context(os.fdopen(answers_from, "rb"))
        stack.callback(os.close, self._send)
        # The protocol wants descriptors 3 and 4.
        command = [sys.executable, "-S", "-c", LAUNCH, str(asks), str(answers), FOUND, *FLAGS]
        process = subprocess.Popen(
            [*command, f"--user-data-dir={folder}", "about:blank"],
            pass_fds=(asks, answers), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        stack.callback(process.wait)
        stack.callback(process.kill)
        os.close(asks)
        os.close(answers)
        # A browser that hangs is killed, so that reading ends and the test fails.
        timer = threading.Timer(PATIENCE, process.kill)
        timer.start()
        stack.callback(timer.join)
        stack.callback(timer.cancel)

    def ask(self, method: str, **params: object) -> dict:
        """Send one command and wait for its answer."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._send, json.dumps(message).encode() + b"\0")
        while (answer := self._next()).get("id") != self._number:
            pass
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def open(self, path: Path, *, width: int = 1200, height: int = 900, media: str = "") -> None:
        """Load a file, and wait until it and all it wants are there."""
        self.requests.clear()
        self.complaints.clear()
        self._events.clear()
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=width < 600,
        )  # fmt: skip
        self.ask(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": media or "light"}],
        )
        self.ask("Page.navigate", url=path.as_uri())
        while "Page.loadEventFired" not in self._events:
            self._next()
        self.js("new Promise(done => setTimeout(done, 200))")  # late requests and complaints

    def js(self, expression: str) -> object:
        """Return the value of an expression."""
        answer = self.ask(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["exception"]["description"])
        return answer["result"].get("value")

    def picture(self) -> bytes:
        """Return the whole page as PNG."""
        answer = self.ask("Page.captureScreenshot", captureBeyondViewport=True)
        return base64.b64decode(answer["data"])

    def _next(self) -> dict:
        data = bytearray()
        while (byte := self._input.read(1)) != b"\0":
            if not byte:
                raise EOFError("Chromium has ended")
            data += byte
        message = json.loads(data)
        method, params = message.get("method", ""), message.get("params", {})
        self._events.append(method)
        if method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Log.entryAdded":
            self.complaints.append(params["entry"]["text"])
        elif method == "Runtime.consoleAPICalled":
            self.complaints.append(str([one.get("value") for one in params["args"]]))
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(params["exceptionDetails"]["text"])
        return message
