"""The worker's page in Chromium: what she reads, how she answers, what is lost; and who can use it.

axe-core is looked for where AXE_CORE says (a file axe.min.js, of `npm install axe-core`); pages of
the site where WORKBENCH_SITE says, a folder in which `sphinx-build docs FOLDER` has built it.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import pandas as pd
import pytest

pytest.importorskip("uvicorn", reason="install the extra serve")

import workbench as wb
from tests.core.serve.running import serving
from workbench.collection.collector import Collector

pytestmark = pytest.mark.release
AXE = os.environ.get("AXE_CORE", "")
SITE = os.environ.get("WORKBENCH_SITE", "")
ASK = """# Birds <b>here</b>
Is there a *bird*?

Answer yes also where a **part** is seen. <script>document.title = "run"</script>

## Examples

| text | answer |
|---|---|
| A robin sits there. | yes |

[more](https://example.org) [bad](javascript:alert(1)) ![none](https://evil.example/x.png)
"""
SEEN = 0.25
"""Seconds after which keys count."""


def begun(tmp_path, classes=("no", "yes"), tasks=12, text="Task {}", **more):
    """A collection, and the words to serve it by."""
    path, shown, ask = (tmp_path / name for name in ("c.sqlite", "shown.csv", "ask.md"))
    names = [f"t{i}" for i in range(tasks)]
    given = {"policy": ("fixed", {"k": 2})} | more
    Collector(names, ["ann", "bob"], classes=classes, total=2 * tasks, path=path, **given).close()
    texts = [text.format(i) for i in range(tasks)]
    pd.DataFrame({"task": names, "text": texts, "place": "Kew"}).to_csv(shown, index=False)
    ask.write_text(ASK, "utf-8")
    return path, ("--tasks", str(shown), "--instructions", str(ask), "--unsure")


def question(page):
    """Wait for a question; its text, once keys count."""
    page.wait(lambda: page.run("return document.querySelectorAll('#answers button').length"))
    time.sleep(SEEN)
    return page.run("return document.querySelector('#task .text').textContent")


def labels(path):
    return Collector.open(path).labels()


def test_what_is_asked_is_on_the_page_and_nothing_of_it_is_run(browsers, tmp_path):
    path, words = begun(tmp_path)
    with serving(path, *words) as server:
        page = browsers()
        page.open(server.links["ann"])
        question(page)
        assert page.text("title") == "Birds <b>here</b>" == page.run("return document.title")
        assert page.text("question") == "Is there a bird?"
        about = "return document.querySelector(`#instructions ${arguments[0]}`)?.textContent"
        assert page.run(about, "strong") == "part"
        assert page.run(about, "td") == "A robin sits there."
        assert page.run(about, "h2") == "Examples"
        assert "<script>" in page.text("instructions")
        links = "return [...document.querySelectorAll('#instructions a')].map(a => a.href)"
        assert page.run(links) == ["https://example.org/"]
        assert page.run("return document.querySelectorAll('main script, main img').length") == 0
        assert page.run("return document.getElementById('about').open")
        page.press("1")
        question(page)
        assert not page.run("return document.getElementById('about').open")


def test_three_quick_keys_label_one_task(browsers, tmp_path):
    path, words = begun(tmp_path)
    with serving(path, *words) as server:
        page = browsers()
        page.open(server.links["ann"])
        for many in (1, 2, 3):
            question(page)
            page.run(
                "for (let i = 0; i < 3; i++) document.dispatchEvent("
                "new KeyboardEvent('keydown', {key: '1', bubbles: true}))"
            )
            page.wait(lambda many=many: len(labels(path)) == many)
        time.sleep(0.5)
        assert len(labels(path)) == 3


def test_no_answer_is_lost_where_the_server_is_killed_and_the_tab_closed(browsers, tmp_path):
    """Seven times three answers: as many as a page has questions for while the server is away."""
    path, words = begun(tmp_path, tasks=40)
    server_words, tokens, port = words, {}, None
    page, many = browsers(), 0
    for _ in range(7):
        with serving(path, *server_words, tokens=tokens) as server:
            tokens, port = server.tokens, server.url.rpartition(":")[2]
            server_words = (*words, "--port", port)
            page.open("about:blank")
            page.open(f"{server.url}/work#{tokens['ann']}")
            page.wait(lambda many=many: len(labels(path)) == many)
            question(page)
            time.sleep(0.3)  # three questions are there
            server.kill()
            while page.run("return document.querySelectorAll('#answers button').length"):
                question(page)
                page.press("1")
                many += 1
            page.wait(lambda: "3 answers are not sent yet" in page.text("message"))
            page.command("Page.navigate", {"url": "about:blank"})
    with serving(path, *server_words, tokens=tokens) as server:
        page.open(f"{server.url}/work#{tokens['ann']}")
        page.wait(lambda: len(labels(path)) == many)
        page.wait(lambda: page.run("return localStorage.length") == 0)
        assert page.text("progress") == f"You have answered {many}."
    assert many == 21
    assert not labels(path).duplicated(["task", "worker"]).any()


def test_answers_are_changed_remarked_and_given_by_keys_alone(browsers, tmp_path):
    path, words = begun(tmp_path)
    with serving(path, *words) as server:
        page = browsers(width=390, height=800)
        page.open(server.links["ann"])
        first = question(page)
        page.press("1")
        second = question(page)
        page.press("x")  # unsure
        question(page)
        page.press("u")
        assert question(page) == second
        page.press("u")
        assert question(page) == first
        pressed = "return document.querySelector('[aria-pressed=true]')?.textContent"
        assert page.run(pressed) == "1 no"
        page.press("2")
        assert question(page) == second
        page.press("2")
        question(page)
        page.run("document.querySelector('#remark summary').focus()")
        page.press("\ue007")  # Enter
        page.press("\ue004")  # Tab
        assert page.run("return document.activeElement.id") == "comment"
        for letter in "su1":
            page.press(letter)
        page.run("document.querySelector('#answers button').focus()")
        page.press("\ue007")
        page.wait(lambda: len(labels(path)) == 3)
        told = dict(zip(*labels(path)[["task", "label"]].to_numpy().T, strict=True))
        assert told["t" + first.split()[1]] == told["t" + second.split()[1]] == "yes"
        remarks = server.http.get(
            "/remarks.csv", headers={"Authorization": f"Bearer {server.tokens['owner']}"}
        ).text
        assert ",su1" in remarks
        assert ",True," in remarks


def test_after_a_reload_she_can_still_go_back(browsers, tmp_path):
    path, words = begun(tmp_path)
    with serving(path, *words) as server:
        page = browsers(width=390, height=800)
        page.open(server.links["ann"])
        first = question(page)
        assert "u to go back" not in page.text("keys")
        page.press("1")
        second = question(page)
        page.wait(lambda: len(labels(path)) == 1)
        page.reload()
        assert question(page) == second
        assert "u to go back" in page.text("keys")
        page.press("u")
        assert question(page) == first
        page.press("2")
        page.wait(lambda: labels(path)["label"].tolist() == ["yes"])


def test_the_owners_tables_are_read_without_scrolling_sideways(browsers, tmp_path):
    path, words = begun(tmp_path, people=wb.People(newcomers=2, costs={"ann": 0.25}))
    with serving(path, *words) as server:
        page = browsers(width=390, height=800)
        page.open(server.links["ann"])
        for many in (1, 2):
            question(page)
            page.press("1")
            page.wait(lambda many=many: len(labels(path)) == many)
        page.wait(lambda: page.text("progress") == "You have answered 2 and earned 0.5.")
        page.open(server.links["owner"])
        page.wait(lambda: "ann" in page.text("workers") and "told" in page.text("events"))
        cut = """
            const wide = document.documentElement.clientWidth;
            return [...document.querySelectorAll('.scroll td, .scroll th, .scroll button')]
                .filter(cell => cell.getBoundingClientRect().right > wide).length;
        """
        assert page.run(cut) == 0
        earned = "document.querySelectorAll('#workers tbody td')[5]"
        name = f"return getComputedStyle({earned}, '::before').content"
        assert page.run(name) == '"Earned: "'


def test_twenty_classes_have_a_key_each_of_two_strokes(browsers, tmp_path):
    path, words = begun(tmp_path, classes=[f"class {i}" for i in range(1, 21)])
    with serving(path, *words) as server:
        page = browsers(width=390, height=800)
        page.open(server.links["ann"])
        for many, keys in enumerate(("01", "12", "20"), 1):
            question(page)
            for stroke in keys:
                page.press(stroke)
            page.wait(lambda many=many: len(labels(path)) == many)
        question(page)
        for stroke in "2117":  # 21 is none; then 17
            page.press(stroke)
        page.wait(lambda: len(labels(path)) == 4)
        told = labels(path)["label"].tolist()
        assert told == ["class 1", "class 12", "class 20", "class 17"]
        wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert page.run(wide) == 0


def test_text_from_right_to_left_is_shown_so(browsers, tmp_path):
    path, words = begun(tmp_path, classes=["نعم", "لا"], text="هل يوجد طائر؟ {}")
    with serving(path, *words) as server:
        page = browsers()
        page.open(server.links["ann"])
        question(page)
        way = "return getComputedStyle(document.querySelector(arguments[0])).direction"
        assert page.run(way, "#task .text") == "rtl"
        assert page.run(way, "#answers span") == "rtl"
        assert page.run(way, "#title") == "ltr"


def violations(page):
    """What axe-core finds on the page that is open."""
    page.run(Path(AXE).read_text("utf-8") + "; return true")
    found = page._post(
        "/execute/async",
        {
            "script": "const done = arguments[0]; axe.run().then(r => done(r.violations), "
            "e => done([{id: String(e), nodes: []}]))",
            "args": [],
        },
    )
    return [(each["id"], [node["html"][:200] for node in each["nodes"]]) for each in found]


needs_axe = pytest.mark.skipif(not Path(AXE).is_file(), reason="no axe-core: see AXE_CORE")


@needs_axe
@pytest.mark.parametrize("width", [1200, 390])
def test_axe_finds_nothing_on_the_pages_of_a_server(width, browsers, tmp_path):
    path, words = begun(tmp_path, people=wb.People(newcomers=3))
    with serving(path, *words) as server:
        page = browsers(width=width, height=800)
        page.open(server.links["ann"])
        question(page)
        page.run("document.getElementById('remark').open = true")
        assert violations(page) == []
        page.press("1")
        question(page)
        page.press("u")
        question(page)
        assert violations(page) == []
        page.open(server.links["owner"])
        page.wait(lambda: "ann" in page.text("workers"))
        assert violations(page) == []
        page.open(server.links["join"])
        page.wait(lambda: page.run("return document.querySelector('#name') !== null"))
        assert violations(page) == []


@needs_axe
def test_axe_finds_nothing_on_a_report(browsers, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    study = wb.run_study("gold-estimates", size="smoke", repetitions=1, processes=1)
    study.report("page.html")
    page = browsers()
    page.open((tmp_path / "page.html").as_uri())
    assert violations(page) == []


@needs_axe
@pytest.mark.skipif(not SITE, reason="no site: see WORKBENCH_SITE")
@pytest.mark.parametrize(
    "name",
    ["index.html", "how-to/serve.html", "claims.html", "verdicts.html", "how-to/kinds.html"],
)
def test_axe_finds_nothing_on_pages_of_the_site(name, browsers):
    page = browsers()
    page.open((Path(SITE).resolve() / name).as_uri())
    assert violations(page) == []
