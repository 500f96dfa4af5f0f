"""The pages: nothing that was sent becomes HTML, nothing comes from elsewhere, all can use them.

They are looked at as files, and the worker's page runs in node beside a real server, where node is
installed; no test opens a browser.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path

import pandas as pd
import pytest

pytest.importorskip("uvicorn", reason="install the extra serve")

from tests.core.serve.running import serving
from workbench.collection.collector import Collector

FOLDER = Path(str(files("workbench.serve") / "pages"))
PAGES = {path.name: path.read_text("utf-8") for path in sorted(FOLDER.iterdir())}
HTML = [name for name in PAGES if name.endswith(".html")]
SCRIPTS = [name for name in PAGES if name.endswith(".js")]
SVG = "http://www.w3.org/2000/svg"
SCRIPT = "<script>alert(1)</script>"
node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")


class Elements(HTMLParser):
    """Elements of a page with their attributes."""

    def __init__(self, text):
        super().__init__()
        self.elements = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def of(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


def test_there_are_pages():
    assert {"work.html", "owner.html", "join.html", "work.js", "style.css"} <= set(PAGES)


@pytest.mark.parametrize("name", SCRIPTS)
def test_what_was_sent_is_text(name):
    forbidden = (
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|"
        r"setTimeout\([\"'`]|srcdoc|DOMParser|createContextualFragment|setAttribute\(.on|"
        r"sessionStorage|document\.cookie"
    )
    assert re.findall(forbidden, PAGES[name]) == []
    assert name == "unsent.js" or "localStorage" not in PAGES[name]


@pytest.mark.parametrize("name", PAGES)
def test_nothing_comes_from_elsewhere(name):
    text = PAGES[name].replace(SVG, "")
    assert re.findall(r"https?:|//[a-z0-9.-]+\.[a-z]|@import|url\(", text) == []


@pytest.mark.parametrize("name", HTML)
def test_a_page_can_be_read_by_all_and_runs_nothing_of_its_own(name):
    page = Elements(PAGES[name])
    assert page.of("html") == [{"lang": "en"}]
    viewports = [meta["content"] for meta in page.of("meta") if meta.get("name") == "viewport"]
    assert viewports == ["width=device-width, initial-scale=1"]  # and may be made larger
    assert all(set(script) == {"type", "src"} for script in page.of("script"))
    for _, attributes in page.elements:
        assert not [key for key in attributes if key.startswith("on") or key == "style"]
        assert attributes.get("src", "/static/").startswith("/static/")
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    labels = {label.get("for") for label in page.of("label")}
    assert {field["id"] for field in page.of("input")} <= labels
    assert any(attributes.get("role") == "alert" for _, attributes in page.elements)
    for attributes in page.of("progress"):
        assert attributes["aria-label"]


@pytest.mark.parametrize("name", ["work", "owner", "join"])
def test_a_script_uses_only_what_its_page_has(name):
    ids = {attrs["id"] for _, attrs in Elements(PAGES[f"{name}.html"]).elements if "id" in attrs}
    script = PAGES[f"{name}.js"]
    used = set(re.findall(r'\bat\("(\w+)"\)', script)) | set(re.findall(r'table\("(\w+)"', script))
    assert used <= ids
    assert "message" in ids


def luminance(colour):
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    parts = [int(digits[k : k + 2], 16) / 255 for k in (0, 2, 4)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_text_stands_out_in_light_and_in_dark_and_fits_a_telephone():
    style = PAGES["style.css"]
    schemes = re.findall(r":root \{(.*?)\}", style, re.DOTALL)
    assert len(schemes) == 2
    for scheme in schemes:
        colours = dict(re.findall(r"--(\w+): (#\w+)", scheme))
        paper = luminance(colours["paper"])
        for name in ("ink", "quiet", "main", "odd"):
            dark, light = sorted((luminance(colours[name]), paper))
            assert (light + 0.05) / (dark + 0.05) >= 4.5, name
    widths = re.findall(r"(?<!max-)width: (\d+)px", style)
    assert all(int(width) <= 390 for width in widths)
    assert "min-height: 48px" in style


@node
@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_is_whole(name, tmp_path):
    copy = tmp_path / "script.mjs"
    copy.write_text(PAGES[name], "utf-8")
    subprocess.run(["node", "--check", copy], check=True, capture_output=True)


def opened(server, who, many, keys, folder):
    """Open the worker's page, and press keys for so many questions."""
    words = [server.url, server.tokens[who], str(many), keys]
    ended = subprocess.run(
        ["node", str(Path(__file__).with_name("browser.mjs")), str(folder), *words],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return json.loads(ended.stdout)


@node
@pytest.mark.slow
def test_two_workers_label_by_keys_one_comes_back_and_nothing_is_run(tmp_path):
    path = tmp_path / "c.sqlite"
    tasks = [f"t{i}" for i in range(40)]
    people = ["ann", "bob"]
    Collector(tasks, people, classes=["no", SCRIPT], total=80, policy="fixed", path=path).close()
    shown = tmp_path / "shown.csv"
    rows = {"task": tasks, "text": [f"{SCRIPT} {task}" for task in tasks], "size": "12"}
    pd.DataFrame(rows).to_csv(shown, index=False)
    folder = tmp_path / "pages"
    shutil.copytree(FOLDER, folder)
    script = (folder / "work.js").read_text("utf-8")
    assert "SEEN = 200;" in script  # here keys count at once
    (folder / "work.js").write_text(script.replace("SEEN = 200;", "SEEN = 0;"), "utf-8")
    (folder / "package.json").write_text('{"type": "module"}', "utf-8")
    with serving(path, "--tasks", str(shown)) as server:
        first = opened(server, "ann", 15, "12", folder)
        other = opened(server, "bob", 40, "1s", folder)
        second = opened(server, "ann", 25, "1", folder)
    collector = Collector.open(path)
    labels = collector.labels()
    assert (labels["worker"] == "ann").sum() == 40  # none lost, none twice
    assert (labels["worker"] == "bob").sum() == 20  # and twenty skipped
    hers = labels[labels["worker"] == "ann"]
    assert (hers["label"] == SCRIPT).sum() == 7
    texts = [*first["texts"], *second["texts"]]
    assert sorted(texts) == sorted(f"{SCRIPT} {task}size12" for task in tasks)
    for page in (first, second, other):
        assert set(page["requests"]) == {"/mine", "/next", "/tell"}
        # A machine that is slow answers many at once: the page waits, and goes on.
        assert page["seen"]["message"].partition(":")[0] in ("", "too many requests")
    assert second["seen"]["progress"] == "You have answered 40."
    buttons = first["buttons"]
    assert [kind for kind, _ in buttons] == ["button"] * 4
    assert [each["aria-keyshortcuts"] for _, each in buttons] == ["1", "2", "s", "u"]
    assert not any("aria-label" in each for _, each in buttons)  # what is read is what is seen
    collector.close()
