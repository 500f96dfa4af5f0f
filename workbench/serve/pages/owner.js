// The owner's page: how far, how wrong, who; and what can be done about it.

import { at, element, identity, money, say, send, share, token } from "./common.js";
import { chart } from "./chart.js";

const AGAIN = 5000;
const ERRORS = [
  ["believed_error", "believed by the policy's own model"],
  ["hidden_error", "on hidden tasks, which tell when to stop"],
  ["audited_error", "at most, by the audit"],
];

async function look() {
  try {
    const [all, last] = await Promise.all([send("/overview"), send("/events?most=20")]);
    figures(all);
    pictures(all.points);
    people(all);
    happened(last.events);
  } catch (failure) {
    say(failure.message);
  }
}

function figures(all) {
  const states = { "": "Asking.", paused: "Paused.", closed: "Closed." };
  at("state").textContent =
    `${states[all.halted]} ${all.closed} of ${all.tasks} tasks are closed.`;
  at("bar").value = all.tasks ? all.closed / all.tasks : 0;
  const left = all.total == null ? "no limit" : `of ${money(all.total)}`;
  const lines = {
    Labels: `${all.labels}, and ${all.gold_labels} of gold tasks`,
    Cost: `${money(all.cost)} ${left}`,
    "Open questions": all.waiting,
    "Believed error": all.believed,
    "On hidden tasks": all.hidden_tasks
      ? `${share(all.hidden_error)} of ${all.hidden_tasks} are wrong; they tell when to stop, ` +
        "and do not measure the others"
      : "no hidden task has a label",
    "Audited error": all.audited_error == null ? "no audit" : `at most ${share(all.audited_error)}`,
    Policy: all.policy,
  };
  const parts = Object.entries(lines).flatMap(([name, value]) => [
    element("dt", name),
    element("dd", String(value)),
  ]);
  at("figures").replaceChildren(...parts);
  at("notes").replaceChildren(...all.notes.map((note) => element("p", note, { class: "note" })));
  at("pause").disabled = all.halted !== "";
  at("resume").disabled = all.halted === "";
  at("close").disabled = all.halted === "closed";
}

function pictures(points) {
  const series = ERRORS.map(([name, words]) => ({
    words,
    points: points.filter((p) => p[name] != null).map((p) => [p.time, p[name]]),
  }));
  at("errors").replaceChildren(chart(series, share, "Error over time"));
  at("legend").replaceChildren(
    ...series.map(({ words }, place) => element("span", words, { class: `key line${place}` }))
  );
  const cost = [{ words: "cost", points: points.map((p) => [p.time, p.cost]) }];
  at("costs").replaceChildren(chart(cost, money, "Cost over time"));
}

function people(all) {
  const head = ["Worker", "Labels", "Gold right", "Open", "Agrees", "Earned", "", ""];
  const rows = all.workers.map((row) => {
    const cells = [
      row.worker,
      row.labels,
      row.gold ? `${row.right} of ${row.gold}` : "–",
      row.waiting,
      share(row.agrees),
      money(row.earned),
    ].map((value) => element("td", String(value)));
    cells.push(element("td", row.odd ? `odd: ${row.odd}` : "", row.odd ? { class: "long" } : {}));
    const forget = element("button", "Delete the name", { type: "button", class: "small" });
    forget.setAttribute("aria-label", `Delete the name of ${row.worker}`);
    forget.addEventListener("click", () => {
      const question = `Delete the name and the link of ${row.worker} for good? The labels stay.`;
      if (confirm(question)) order("/forget", { worker: row.worker });
    });
    return element("tr", [...cells, element("td", [forget])], row.odd ? { class: "odd" } : {});
  });
  table("workers", head, rows);
}

function happened(events) {
  const rows = events
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
  table("events", ["", "Time", "Who", "What", ""], rows);
}

const clock = (time) => new Date(time).toLocaleString("en-GB");

function table(id, head, rows) {
  const top = element("tr", head.map((name) => element("th", name, { scope: "col" })));
  at(id).replaceChildren(element("thead", [top]), element("tbody", rows));
}

async function order(path, message = {}) {
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

at("pause").addEventListener("click", () => order("/pause"));
at("resume").addEventListener("click", () => order("/resume"));
at("close").addEventListener("click", () => {
  if (confirm("Ask nothing new from now on?")) order("/close");
});
at("budget").addEventListener("submit", (event) => {
  event.preventDefault();
  order("/budget", { total: Number(at("total").value) });
});
at("csv").addEventListener("click", () => download("/answers.csv", "answers.csv"));
at("json").addEventListener("click", () => download("/answers", "answers.json"));

look();
setInterval(() => document.hidden || look(), AGAIN);
