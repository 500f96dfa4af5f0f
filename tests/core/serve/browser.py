"""A browser without a window, driven by what its driver speaks: JSON over HTTP (W3C WebDriver)."""

from __future__ import annotations

import base64
import json
import shutil
import socket
import subprocess
import time
from pathlib import Path
from urllib.parse import urlsplit

import httpx

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("chrome")
DRIVER = shutil.which("chromedriver")


class Driver:
    """chromedriver, on a port that is free."""

    def __init__(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.process = subprocess.Popen(
            [DRIVER, f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self.http = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60)
        end = time.monotonic() + 20
        while True:
            try:
                if self.http.get("/status").json()["value"]["ready"]:
                    return
            except httpx.HTTPError:
                assert time.monotonic() < end
                time.sleep(0.05)

    def close(self):
        self.http.close()
        self.process.terminate()
        self.process.wait(timeout=20)


class Browser:
    """A browser of its own, with a log of all that it asks of any network.

    `served` says whether it has opened a page of a server. No host but this machine is found: what
    a page asks of another is in its log of requests, and never in that of connections.
    """

    def __init__(self, driver, folder, width=1200, height=900):
        self.driver, self.net_log = driver, Path(folder) / "net.json"
        self.served, self.hosts = False, set()
        words = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--disable-background-networking",
            "--disable-component-update",
            "--no-first-run",
            # The browser's own calls to its makers find nobody: what is left is the page's.
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
            f"--window-size={width},{height}",
            f"--user-data-dir={Path(folder) / 'profile'}",
            f"--log-net-log={self.net_log}",
        ]
        wanted = {
            "browserName": "chrome",
            "goog:chromeOptions": {"binary": CHROMIUM, "args": words},
            "goog:loggingPrefs": {"performance": "ALL", "browser": "ALL"},
        }
        reply = driver.http.post("/session", json={"capabilities": {"alwaysMatch": wanted}})
        assert reply.status_code == 200, reply.text
        self.path = f"/session/{reply.json()['value']['sessionId']}"
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.command("Emulation.setDeviceMetricsOverride", metrics)
        self.open("about:blank")
        self.log("performance")  # of the page that a browser begins with

    def _post(self, path, body=None):
        reply = self.driver.http.post(self.path + path, json=body or {})
        assert reply.status_code == 200, reply.text
        return reply.json()["value"]

    def command(self, name, parameters):
        """Give a command of the DevTools protocol."""
        return self._post("/goog/cdp/execute", {"cmd": name, "params": parameters})

    def open(self, url):
        self.served |= url.startswith("http")
        self._post("/url", {"url": url})

    def reload(self):
        self._post("/refresh")

    def run(self, script, *arguments):
        return self._post("/execute/sync", {"script": script, "args": arguments})

    def text(self, element):
        return self.run("return document.getElementById(arguments[0]).textContent", element)

    def press(self, key):
        """Press a key, as a hand does."""
        strokes = [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
        self._post("/actions", {"actions": [{"type": "key", "id": "keys", "actions": strokes}]})

    def wait(self, check, seconds=20.0):
        """Wait until something holds, and give it back."""
        end = time.monotonic() + seconds
        while not (value := check()):
            assert time.monotonic() < end, self.run("return document.body.innerText")
            time.sleep(0.01)
        return value

    def log(self, kind):
        """What is new in a log."""
        return self._post("/se/log", {"type": kind})

    def requests(self):
        """Addresses that the page has asked for since the last time."""
        events = [json.loads(row["message"])["message"] for row in self.log("performance")]
        urls = [
            event["params"]["request"]["url"]
            for event in events
            if event["method"] == "Network.requestWillBeSent"
        ]
        self.hosts |= {urlsplit(url).netloc for url in urls} - {""}
        return urls

    def picture(self, path, *, whole=True):
        reply = self.command(
            "Page.captureScreenshot", {"format": "png", "captureBeyondViewport": whole}
        )
        Path(path).write_bytes(base64.b64decode(reply["data"]))

    def close(self):
        """End it; the places that it connected or sent to, or that its pages asked for anything."""
        self.requests()
        self.driver.http.delete(self.path)
        log = json.loads(self.net_log.read_text("utf-8", "replace"))
        kinds = log["constants"]["logEventTypes"]
        reached = {kinds["TCP_CONNECT_ATTEMPT"], kinds["UDP_BYTES_SENT"]}
        events = [event for event in log["events"] if event["type"] in reached]
        places = {event.get("params", {}).get("address", "?") for event in events} - {"?"}
        sent = {"sent by UDP" for event in events if event["type"] == kinds["UDP_BYTES_SENT"]}
        return places | sent | self.hosts
