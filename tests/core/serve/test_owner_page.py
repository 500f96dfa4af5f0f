"""The owner's page while eight people label: one object in words, chart and JSON, to the end."""

from __future__ import annotations

import json
import time

import numpy as np
import pytest

pytest.importorskip("uvicorn", reason="install the extra serve")

from tests.core.serve.running import serving
from workbench.collection.collector import Collector

WORKERS = ["ann", "bob", "cid", "dan", "eva", "fay", "gus", "hal"]
SKILLS = [0.95, 0.9, 0.85, 0.8, 0.7, 0.65, 0.6, 0.5]
TASKS = [f"t{i}" for i in range(100)]
CLASSES = ["cat", "dog"]
pytestmark = pytest.mark.release


def crowd():
    """True classes, and labels of all pairs; an eighth of the tasks mislead most."""
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 2, len(TASKS))
    hard = rng.random(len(TASKS)) < 0.12
    right = rng.random((len(TASKS), 8)) < np.where(hard[:, None], 0.35, np.array(SKILLS))
    return truth, np.where(right, truth[:, None], 1 - truth[:, None])


@pytest.fixture
def browser(browsers):
    return browsers(width=1100, height=1400)


def seen(browser):
    """What the page shows: its sentences, buttons, what the chart says, and the bar."""
    script = """
        const all = (id) => [...document.querySelectorAll(id)].map((each) => each.textContent);
        return {
            lead: all('#lead p'), far: all('#further p'), notes: all('#notes p'),
            steps: all('#steps button'), legend: all('#legend span'),
            chart: document.querySelector('#errors svg')?.getAttribute('aria-label'),
            goal: document.querySelector('#errors svg line.asked') != null,
            band: document.querySelector('#errors svg polygon.band') != null,
            bar: document.getElementById('bar').value,
        };
    """
    return browser.run(script)


def alike(browser, server, run_status):
    """Hold page and `collect status` against what the server says as JSON."""
    told = server.ask("/overview", "owner").json()
    browser.reload()
    browser.wait(lambda: browser.text("lead"))
    browser.wait(lambda: seen(browser)["lead"] == told["lead"])
    page = seen(browser)
    assert (page["far"], page["notes"]) == (told["far"], told["notes"])
    waits = {step["kind"] for step in told["steps"]} <= {"ask", "wait"}
    assert [words.lower() for words in page["steps"]] == (
        [] if waits else [step["says"].lower() for step in told["steps"]]
    )
    for words in told["drawn"].values() if page["chart"] else ():
        assert words in page["chart"]
        assert any(line.endswith(words) for line in page["legend"])
    if told["error_measured"] is not None:
        assert page["goal"]
        assert page["band"]
        assert told["points"][-1]["error"] == told["error_measured"]
        ends = [told["points"][-1][end] for end in ("low", "high")]
        assert ends == told["error_interval"]
    text = run_status()
    assert all(sentence in text for sentence in told["verdict"])
    return told


def test_words_chart_and_json_are_one_from_the_first_label_to_the_last(tmp_path, browser, capsys):
    from workbench.cli import main

    def status():
        main(["collect", "status", str(path)], standalone_mode=False)
        return " ".join(capsys.readouterr().out.split())  # lines are broken at the width

    truth, label = crowd()
    path, rng, bars, told = tmp_path / "c.sqlite", np.random.default_rng(2), [], 0
    hidden = {TASKS[i]: CLASSES[truth[i]] for i in range(20)}
    Collector(TASKS, WORKERS, classes=CLASSES, hidden=hidden, epsilon=0.05, path=path).close()
    with serving(path) as server:
        browser.open(server.links["owner"])
        idle, looks = 0, [35, 350]
        while idle < 24:
            who = WORKERS[rng.integers(8)]
            asks = server.ask("/next", who, {"most": 3}).json()["asks"]
            if not asks:
                idle += 1
                time.sleep(0.05)
                continue
            idle = 0
            place = WORKERS.index(who)
            rows = [
                {"task": ask["task"], "label": CLASSES[label[int(ask["task"][1:]), place]]}
                for ask in asks
            ]
            assert server.ask("/tell", who, {"labels": rows}).status_code == 200
            told += len(rows)
            bars.append(seen(browser)["bar"])
            if looks and told >= looks[0]:
                looks.pop(0)
                now = alike(browser, server, status)
                assert now["state"] == "asking"
                assert "Nothing to do now" in browser.text("command")
        time.sleep(1.0)
        end = alike(browser, server, status)
        assert end["state"] in ("exhausted", "reached")
        assert len(end["steps"]) >= 2
        assert bars == sorted(bars)
        assert end["answered"] == len(TASKS)
        sort = "[...document.querySelectorAll('#workers th button')][1].click()"
        first = "return document.querySelector('#workers tbody td').textContent"
        browser.run(sort)
        most = max(end["workers"], key=lambda row: row["labels"])
        assert browser.run(first) in {
            row["worker"] for row in end["workers"] if row["labels"] == most["labels"]
        }
        browser.run("document.getElementById('name').value = 'zoe'")
        browser.run("document.querySelector('#newcomer button').click()")
        browser.wait(lambda: not browser.run("return document.getElementById('invited').hidden"))
        url = browser.run("return document.getElementById('url').value")
        assert url.startswith(f"{server.url}/work#")
        assert browser.run("return document.querySelector('#code svg path') != null")
        server.tokens["zoe"] = url.partition("#")[2]
        assert server.ask("/mine", "zoe").json()["worker"] == "zoe"
        kept = json.dumps(server.ask("/events?most=200", "owner").json())
        assert server.tokens["zoe"] not in kept
