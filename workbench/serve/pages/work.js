// A worker's page: the questions that are open, the next ones fetched while one is read.

import { at, element, Failure, money, say, send, sendUntilHeard, token } from "./common.js";

const AHEAD = 3; // questions open at a time
const AGAIN = 5000; // milliseconds until a page without a question looks again, at first
const LATEST = 60000; // and at most

let classes = [];
let queue = []; // open questions; the first is shown
let shown = null;
let filling = null; // a request for questions under way
let timer = 0;
let idle = 0; // looks in vain, one after another: the page looks less and less often
let unsent = 0;
let sending = Promise.resolve(); // one label after another
const answered = new Set();

const key = (ask) => JSON.stringify(ask.task);

async function start() {
  if (!token) return say("Open the link that you were given: this one is not whole.");
  try {
    const mine = await send("/mine");
    classes = mine.classes;
    tell(mine);
    await fill();
  } catch (failure) {
    say(failure.message);
    if (!(failure instanceof Failure) || failure.code !== 401) setTimeout(start, AGAIN);
  }
}

/** Fetch questions until so many are open; one request at a time. */
function fill() {
  filling ??= fetchMore().finally(() => (filling = null));
  return filling;
}

async function fetchMore() {
  let reply;
  try {
    reply = await sendUntilHeard("/next", { most: AHEAD, ahead: true }, say);
  } catch (failure) {
    return say(failure.message);
  }
  const here = new Set(queue.map(key));
  for (const ask of reply.asks) {
    if (here.has(key(ask)) || answered.has(key(ask))) continue;
    queue.push(ask);
    if (ask.shown.image) new Image().src = ask.shown.image;
  }
  tell(reply);
  if (queue.length) idle = 0;
  if (queue.length) show();
  else rest(reply);
}

/** Say that there is no question, and look again after a while. */
function rest(reply) {
  const words = {
    open: "There is no question for you at the moment. This page looks again by itself.",
    paused: "The collection is paused. This page looks again by itself.",
    closed: "The collection is closed. Thank you for your answers.",
    done: "Every task is done. Thank you for your answers.",
  };
  shown = null;
  if (unsent) return;
  at("task").replaceChildren(element("p", words[reply.state] || words.open));
  at("answers").replaceChildren();
  at("pay").textContent = "";
  clearTimeout(timer);
  timer = setTimeout(() => queue.length || fill(), Math.min(AGAIN * 2 ** idle, LATEST));
  idle += 1;
}

/** Show the first question. */
function show() {
  const ask = queue[0];
  if (shown === ask) return;
  shown = ask;
  const { text, image, ...others } = ask.shown;
  const parts = [];
  if (text) parts.push(element("p", text, { class: "text" }));
  if (image) parts.push(picture(image));
  const rows = Object.entries(others).map(([name, value]) =>
    element("tr", [element("th", name, { scope: "row" }), element("td", value)])
  );
  if (rows.length) parts.push(element("table", rows));
  at("task").replaceChildren(...parts);
  at("answers").replaceChildren(...classes.map(button), skip());
  at("pay").textContent = ask.pays ? `This answer pays ${money(ask.pays)}.` : "";
  say("");
  at("task").focus({ preventScroll: true });
}

function picture(address) {
  const image = element("img", "", { src: address, alt: "Picture of the task" });
  image.addEventListener("error", () => say("The picture cannot be loaded: skip, or reload."));
  return image;
}

function button(label, place) {
  const made = element("button", String(label), { type: "button", class: "answer" });
  if (place < 9) {
    made.prepend(element("kbd", String(place + 1), { "aria-hidden": "true" }), " ");
    made.setAttribute("aria-keyshortcuts", String(place + 1));
  }
  made.setAttribute("aria-label", `Answer ${label}`);
  made.addEventListener("click", () => answer(label));
  return made;
}

function skip() {
  const made = element("button", "Skip", { type: "button", class: "skip" });
  made.setAttribute("aria-label", "Skip this question");
  made.setAttribute("aria-keyshortcuts", "s");
  made.addEventListener("click", () => answer(null));
  return made;
}

/** Take an answer of the question that is shown; null where she skips it. */
function answer(label) {
  if (!shown) return;
  const ask = queue.shift();
  shown = null;
  answered.add(key(ask));
  unsent += 1;
  sending = sending.then(() => deliver(ask, label));
  if (queue.length) show();
  else wait();
}

function wait() {
  at("task").replaceChildren(element("p", "The next question is coming."));
  at("answers").replaceChildren();
}

async function deliver(ask, label) {
  try {
    tell(await sendUntilHeard("/tell", { labels: [{ task: ask.task, label }] }, say));
    say("");
  } catch (failure) {
    say(failure.message);
  }
  await filling; // what was fetched before the label came may still have the question
  answered.delete(key(ask)); // some policies ask again, and what was refused is still open
  unsent -= 1;
  if (queue.length < AHEAD) await fill();
}

/** Say how far she is. */
function tell(reply) {
  at("progress").textContent =
    `${reply.labels} answers of yours, ${money(reply.earned)} earned; ` +
    `${reply.closed} of ${reply.tasks} tasks are done.`;
  at("bar").value = reply.tasks ? reply.closed / reply.tasks : 0;
}

document.addEventListener("keydown", (event) => {
  if (event.repeat || event.ctrlKey || event.altKey || event.metaKey) return;
  const place = Number(event.key) - 1;
  if (/^[1-9]$/.test(event.key) && place < classes.length) answer(classes[place]);
  else if (event.key === "s") answer(null);
});
window.addEventListener("beforeunload", (event) => unsent && event.preventDefault());

start();
