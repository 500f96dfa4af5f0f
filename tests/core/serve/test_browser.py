"""The pages in Chromium: two workers by keys, one reloads, nothing is run, nothing leaves."""

from __future__ import annotations

import time

import pandas as pd
import pytest

pytest.importorskip("uvicorn", reason="install the extra serve")

from tests.core.serve.browser import Browser
from tests.core.serve.running import serving
from workbench.collection.collector import Collector

SCRIPT = "<script>document.title = 'run'</script>"
PICTURE = "<img src=x onerror=\"document.title='run'\">"
TASKS = [f"t{i}" for i in range(40)]
pytestmark = pytest.mark.release


@pytest.fixture
def server(tmp_path):
    path = tmp_path / "c.sqlite"
    people = ["ann", "bob"]
    classes = ["no", SCRIPT, PICTURE]
    Collector(TASKS, people, classes=classes, total=80, policy="fixed", path=path).close()
    shown = tmp_path / "shown.csv"
    rows = {"task": TASKS, "text": [f"{SCRIPT} {PICTURE} {t}" for t in TASKS], PICTURE: SCRIPT}
    pd.DataFrame(rows).to_csv(shown, index=False)
    with serving(path, "--tasks", str(shown)) as running:
        running.path = path
        yield running


def question(browser):
    """Text of the question that is shown, once its buttons are there."""
    script = (
        "return document.querySelectorAll('#answers button').length"
        " ? document.getElementById('task').textContent : ''"
    )
    return browser.wait(lambda: browser.run(script))


def label(browser, many, keys):
    """Answer questions by keys, each once it is shown; their texts."""
    texts = []
    for count in range(many):
        before = texts[-1:]
        texts.append(browser.wait(lambda before=before: _other(browser, before)))
        time.sleep(0.25)  # until keys count
        browser.press(keys[count % len(keys)])
    return texts


def _other(browser, before):
    text = question(browser)
    return "" if [text] == before else text


def told(server, who):
    labels = Collector.open(server.path).labels()
    return labels[labels["worker"] == who]


def test_two_workers_label_forty_tasks_by_keys_and_one_reloads(server, browsers):
    ann, bob = browsers(), browsers(width=390, height=800)
    ann.open(server.links["ann"])
    bob.open(server.links["bob"])
    texts = {"ann": [], "bob": []}
    for part in range(4):
        texts["ann"] += label(ann, 10, "12")
        texts["bob"] += label(bob, 10, "31")
        if part == 1:
            ann.wait(lambda: len(told(server, "ann")) == 20)
            ann.reload()
    for browser, who in ((ann, "ann"), (bob, "bob")):
        browser.wait(lambda who=who: len(told(server, who)) == 40)
        assert len({*texts[who]}) == len(texts[who]) == 40
        assert {*told(server, who)["task"]} == {*TASKS}
        browser.wait(lambda browser=browser: "You are finished" in browser.text("task"))
        assert browser.text("progress") == "You have answered 40."
        requests = browser.requests()
        assert {url.removeprefix(server.url).split("?")[0] for url in requests} <= {
            *("/mine", "/next", "/tell", "/work", f"/work#{server.tokens[who]}"),
            *("/static/style.css", "/static/work.js", "/static/common.js", "/static/unsent.js"),
            "/static/icon.svg",
        }, requests
        messages = [row["message"] for row in browser.log("browser")]
        # Fingers that fast are asked to wait a second.
        assert [line for line in messages if "429" not in line] == []
    assert told(server, "ann")["label"].value_counts().to_dict() == {"no": 20, SCRIPT: 20}
    assert told(server, "bob")["label"].value_counts().to_dict() == {"no": 20, PICTURE: 20}


def test_what_was_sent_is_text_and_fits_the_page(server, browsers):
    for width in (1200, 390):
        browser = browsers(width=width, height=800)
        browser.open(server.links["ann"])
        assert PICTURE in question(browser)
        buttons = "return [...document.querySelectorAll('#answers button')].map(b => b.textContent)"
        assert browser.run(buttons) == ["1 no", f"2 {SCRIPT}", f"3 {PICTURE}"]
        assert browser.run("return document.title") == "Questions"
        assert browser.run("return document.querySelectorAll('main script, main img').length") == 0
        wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert browser.run(wide) == 0
        browser.open(server.links["owner"])
        browser.wait(lambda b=browser: "buys" in b.text("lead"))
        assert browser.run("return document.title") == "Collection c"
        assert browser.run(wide) == 0


def test_without_a_link_nothing_is_shown_and_another_cannot_answer_for_her(server, browsers):
    browser = browsers()
    for url, line in (
        (f"{server.url}/work", "This link is not complete"),
        (f"{server.url}/work#wrong", "this link is not valid"),
        (f"{server.url}/owner#{server.tokens['ann']}", "may not do this"),
    ):
        browser.open("about:blank")
        browser.open(url)
        browser.wait(lambda line=line: line in browser.text("message"))
        assert "t1" not in browser.run("return document.body.innerText")
    browser.open(server.links["bob"])
    task = question(browser).split()[-1]
    forged = (
        "const done = arguments[arguments.length - 1];"
        "return fetch('/tell', {method: 'POST', headers: arguments[0], body: arguments[1]})"
        ".then(reply => reply.status)"
    )
    body = '{"labels": [{"task": "t0", "label": "no", "worker": "ann"}]}'
    bobs = {"Authorization": f"Bearer {server.tokens['bob']}"}
    assert browser.run(forged, bobs, body) == 403
    assert browser.run(forged, {}, body) == 401
    assert len(told(server, "ann")) == len(told(server, "bob")) == 0
    assert task


def test_the_owner_pauses_raises_closes_and_sees_who_was_asked(server, browsers):
    browser, ann = browsers(), browsers()
    ann.open(server.links["ann"])
    label(ann, 5, "1")
    ann.wait(lambda: len(told(server, "ann")) == 5)
    browser.open(server.links["owner"])
    browser.wait(lambda: "ann" in browser.text("workers"))
    click = "document.getElementById(arguments[0]).click()"
    browser.run(click, "pause")
    browser.wait(lambda: "Paused" in browser.text("lead"))
    assert Collector.open(server.path).halted == "paused"
    browser.run(click, "resume")
    browser.wait(lambda: "Still asking" in browser.text("lead"))
    browser.run("document.getElementById('total').value = '90'")
    browser.run("document.querySelector('#budget button').click()")
    browser.wait(lambda: "90 buys" in browser.text("lead"))
    browser.run("window.confirm = () => true")
    browser.run(click, "close")
    browser.wait(lambda: "Closed" in browser.text("lead"))
    assert Collector.open(server.path).halted == "closed"
    assert browser.run("return document.querySelectorAll('#events tbody tr').length") > 5


def test_what_a_page_asks_of_another_machine_is_seen(driver, tmp_path):
    """Or the fixture would hold nothing: no other machine is found, nor connected to."""
    page = tmp_path / "page.html"
    page.write_text('<img src="http://evil.example/x.png">')
    browser = Browser(driver, tmp_path)
    browser.open(page.as_uri())
    assert browser.close() == {"evil.example"}
