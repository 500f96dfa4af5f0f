// The owner's page: where the collection stands, what to do next, who does what.
// Every sentence and figure is the server's own, as `workbench collect status` has them.

import { at, element, identity, money, say, send, share, token } from "./common.js";
import { chart, squares } from "./chart.js";

const AGAIN = 5000;
const LINES = {
  measured: "measured on hidden tasks, with its 90 % interval",
  believed: "believed, by the errors made on recorded crowds",
  proven: "proven by an audit",
  asked: "goal",
};
const COLUMNS = [
  ["Worker", (row) => String(row.worker)],
  ["Labels", (row) => row.labels],
  ["Right on known", (row) => (row.known ? row.right / row.known : -1)],
  ["Open", (row) => row.waiting],
  ["Agreement", (row) => row.agrees ?? -1],
  ["Earned", (row) => row.earned],
  ["Odd", (row) => row.odd.length],
];
const WAIT = ["ask", "wait"];
let sorted = [6, -1];
let latest = null;
const drawn = {};

async function look() {
  try {
    const [all, last] = await Promise.all([send("/overview"), send("/events?most=20")]);
    latest = all;
    stands(all);
    far(all);
    pictures(all);
    people(all);
    fresh("events", last.events, happened);
  } catch (failure) {
    say(failure.message);
  }
}

/** Draw a part of the page where what it shows has changed, so that nobody loses her place. */
function fresh(name, data, draw) {
  const text = JSON.stringify(data);
  if (drawn[name] === text) return;
  drawn[name] = text;
  draw(data);
}

function stands(all) {
  at("title").textContent = document.title = all.title;
  at("known").textContent = all.known;
  fresh("lead", all.lead, (lead) =>
    at("lead").replaceChildren(...lead.map((sentence) => element("p", sentence)))
  );
  fresh("steps", all.steps, (steps) => {
    const wait = steps.every((step) => WAIT.includes(step.kind));
    at("steps").replaceChildren(...(wait ? [] : steps.map(button)));
    const many = steps.length > 1 ? "What to do next, one of these:" : "What to do next:";
    at("choose").textContent = wait || !steps.length ? "" : many;
    const comes =
      steps[0]?.kind === "ask" ? "whoever opens a link is asked" : "labels are still to come";
    at("command").textContent = wait ? `Nothing to do now: ${comes}.` : "";
  });
  at("pause").disabled = all.halted !== "";
  at("resume").disabled = all.halted === "";
  at("close").disabled = all.halted === "closed";
}

/** A button for what to do next; where only a command does it the button shows the command. */
function button(step) {
  const made = element("button", sentence(step.says), { type: "button" });
  made.title = step.command;
  const acts = {
    people: () => at("name").focus(),
    accept: () => change({ epsilon: step.value }, `Change the goal to at most ${step.says.slice(7)} wrong?`),
    budget: () => (step.value ? change({ total: step.value }, `${made.textContent}?`) : at("total").focus()),
    resume: () => act("/resume"),
    answers: () => download("/answers.csv", "answers.csv"),
  };
  const show = () => (at("command").textContent = `In a terminal: ${step.command}`);
  made.addEventListener("click", acts[step.kind] ?? show);
  return made;
}

const sentence = (text) => text[0].toUpperCase() + text.slice(1);

function change(message, question) {
  if (confirm(question)) act("/change", message);
}

function far(all) {
  at("bar").value = all.tasks ? all.answered / all.tasks : 0;
  at("far").textContent =
    `${all.answered} of ${all.tasks} tasks have an answer. ` +
    "Nothing more is asked about a task while it is closed.";
  fresh("further", all.far, (lines) =>
    at("further").replaceChildren(...lines.map((line) => element("p", line)))
  );
  fresh("notes", all.notes, (notes) =>
    at("notes").replaceChildren(...notes.map((note) => element("p", note, { class: "note" })))
  );
}

function pictures(all) {
  fresh("errors", [all.points, all.drawn], () => {
    const { points, drawn: says } = all;
    const line = (key, name) => ({
      key,
      points: points.filter((p) => p[name] != null).map((p) => [p.labels, p[name]]),
    });
    const band = points.filter((p) => p.low != null).map((p) => [p.labels, p.low, p.high]);
    const named = Object.entries(says).map(([key, words]) => `${LINES[key]}: ${words}`);
    at("errors").replaceChildren(
      chart({
        lines: [line("measured", "error"), line("proven", "proven")],
        band,
        goal: all.epsilon,
        from: 0,
        xs: (value) => `${money(value)} labels`,
        ys: share,
        says: `Wrong answers, by labels bought. ${named.join("; ")}.`,
      })
    );
    if (!band.length) at("errors").replaceChildren(element("p", "Nothing is known yet."));
    const legend = Object.keys(says).map((key, place) =>
      element("span", named[place], { class: `key ${key}` })
    );
    at("legend").replaceChildren(...legend);
  });
  fresh("tasks", all.points, (points) => {
    const line = (key) => ({ key, points: points.map((p) => [p.time, p[key]]) });
    const clock_ = (time) => clock(1000 * time).slice(0, 17);
    const named = [`answered: ${all.answered}`, `closed: ${all.closed}`];
    at("tasks").replaceChildren(
      chart({
        lines: [line("answered"), line("closed")],
        goal: all.tasks,
        xs: clock_,
        ys: money,
        says: `Tasks over time, of ${all.tasks}. ${named.join("; ")}.`,
      })
    );
    const keys = ["answered", "closed", "asked"];
    const legend = [...named, `all: ${all.tasks}`].map((words, place) =>
      element("span", words, { class: `key ${keys[place]}` })
    );
    at("kinds").replaceChildren(...legend);
  });
}

function people(all) {
  fresh("workers", [all.workers, all.links, sorted], () => {
    const [by, way] = sorted;
    const key = COLUMNS[by][1];
    const columns = COLUMNS.filter(([name]) => all.paid || name !== "Earned");
    const rows = rowsOf(all).sort((one, other) => {
      const [a, b] = [key(one), key(other)];
      return way * (typeof a === "string" ? a.localeCompare(b) : a - b) || other.labels - one.labels;
    });
    table("workers", [...columns.map(heading), "", ""], rows.map((row) => worker(row, all.paid)));
  });
}

/** Workers who were asked, and those who have a link and were not yet. */
function rowsOf(all) {
  const here = new Set(all.workers.map((row) => String(row.worker)));
  const none = { labels: 0, known: 0, right: 0, waiting: 0, agrees: null, earned: 0, odd: "" };
  const others = all.links.filter((name) => !here.has(name));
  return [...all.workers, ...others.map((name) => ({ worker: name, ...none }))];
}

function heading(column) {
  const [name, place] = [column[0], COLUMNS.indexOf(column)];
  const press = element("button", name, { type: "button", class: "sort" });
  press.addEventListener("click", () => {
    sorted = [place, sorted[0] === place ? -sorted[1] : place ? -1 : 1];
    people(latest);
  });
  const way = sorted[0] !== place ? "none" : sorted[1] > 0 ? "ascending" : "descending";
  return element("th", [press], { scope: "col", "aria-sort": way });
}

function worker(row, paid) {
  const cells = [
    row.worker,
    row.labels,
    row.known ? `${row.right} of ${row.known}` : "–",
    row.waiting,
    share(row.agrees),
    ...(paid ? [money(row.earned)] : []),
  ].map((value) => element("td", String(value)));
  cells.push(element("td", row.odd, row.odd ? { class: "long" } : {}));
  const again = small("New link", `New link for ${row.worker}`, () => {
    const question = `Make a new link for ${row.worker}? The one she has will not work any more.`;
    if (confirm(question)) invite(String(row.worker));
  });
  const forget = small("Delete the name", `Delete the name of ${row.worker}`, () => {
    const question = `Delete the name and the link of ${row.worker} for good? The labels stay.`;
    if (confirm(question)) act("/forget", { worker: row.worker });
  });
  cells.push(element("td", [again]), element("td", [forget]));
  return element("tr", cells, row.odd ? { class: "odd" } : {});
}

function small(words, label, act) {
  const made = element("button", words, { type: "button", class: "small", "aria-label": label });
  made.addEventListener("click", act);
  return made;
}

async function invite(name) {
  try {
    const { worker: who, url, qr } = await send("/invite", { worker: name });
    say("");
    at("whose").textContent =
      `Send this to ${who} alone: whoever has it can answer as ${who}. It is shown only this once.`;
    at("url").value = url;
    at("code").replaceChildren(squares(qr, `QR code of the link of ${who}`));
    at("invited").hidden = false;
    at("url").focus();
    at("url").select();
  } catch (failure) {
    say(failure.message);
  }
  await look();
}

function happened(events) {
  const rows = [...events]
    .reverse()
    .map((event) =>
      element(
        "tr",
        [
          ...[event.number, clock(event.time), event.who, event.event].map((value) =>
            element("td", String(value))
          ),
          element("td", event.details.slice(0, 300), { class: "long" }),
        ]
      )
    );
  table("events", ["Number", "Time", "Who", "What", "Details"], rows);
}

const clock = (time) => new Date(time).toLocaleString("en-GB");

function table(id, head, rows) {
  const cells = head.map((name) =>
    typeof name === "string" ? element(name ? "th" : "td", name, name ? { scope: "col" } : {}) : name
  );
  const names = cells.map((cell) => cell.textContent);
  for (const row of rows)
    for (const [place, cell] of [...row.children].entries())
      if (names[place]) cell.dataset.name = names[place]; // where there is no room for columns
  at(id).replaceChildren(element("thead", [element("tr", cells)]), element("tbody", rows));
}

async function act(path, message = {}) {
  try {
    await send(path, { ...message, request_id: identity() });
    say("");
  } catch (failure) {
    say(failure.message);
  }
  await look();
}

async function download(path, name) {
  const response = await fetch(path, { headers: { Authorization: `Bearer ${token}` } });
  if (!response.ok) return say(`Error ${response.status}.`);
  const address = URL.createObjectURL(await response.blob());
  const link = element("a", "", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 60000);
}

at("pause").addEventListener("click", () => act("/pause"));
at("resume").addEventListener("click", () => act("/resume"));
at("close").addEventListener("click", () => {
  if (confirm("Ask no new questions from now on?")) act("/close");
});
at("budget").addEventListener("submit", (event) => {
  event.preventDefault();
  act("/change", { total: Number(at("total").value) });
});
at("goal").addEventListener("submit", (event) => {
  event.preventDefault();
  act("/change", { epsilon: Number(at("epsilon").value) / 100 });
});
at("newcomer").addEventListener("submit", (event) => {
  event.preventDefault();
  invite(at("name").value).then(() => (at("name").value = ""));
});
at("copy").addEventListener("click", () => navigator.clipboard?.writeText(at("url").value));
at("hide").addEventListener("click", () => {
  at("invited").hidden = true;
  at("url").value = "";
  at("code").replaceChildren();
});
at("answers").addEventListener("click", () => download("/answers.csv", "answers.csv"));
at("labels").addEventListener("click", () => download("/labels.csv", "labels.csv"));
at("pay").addEventListener("click", () => download("/pay.csv", "pay.csv"));
at("json").addEventListener("click", () => download("/answers", "answers.json"));

look();
setInterval(() => document.hidden || look(), AGAIN);
