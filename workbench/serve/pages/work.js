// A worker's page: the questions that are open, the next ones fetched while one is read.

import { at, element, Failure, grown, money, say, send, sendUntilHeard, token } from "./common.js";
import { Unsent } from "./unsent.js";

const AHEAD = 3; // questions open at a time
const AGAIN = 5000; // milliseconds until a page without a question looks again, at first
const LATEST = 60000; // and at most
const SEEN = 200; // milliseconds until an answer counts: nobody reads faster, fingers slip
const BACK = 10; // answers to which she can go back

let classes = [];
let width = 1; // strokes of a class's key
let typed = "";
let queue = []; // open questions; the first is shown
let past = []; // what she answered last
let shown = null;
let since = 0;
let filling = null; // a request for questions under way
let timer = 0;
let idle = 0; // looks in vain, one after another: the page looks less and less often
let unsure = false; // whether the owner wants to know
let paid = false; // whether answers have prices
const answered = new Set();

const key = (task) => JSON.stringify(task);
const unsent = new Unsent(heard, refused, (line) => trouble(line));

async function start() {
  if (!token) return say("This link is not complete: open the whole link that you were given.");
  try {
    const mine = await send("/mine");
    classes = mine.classes;
    width = String(classes.length).length;
    unsure = mine.unsure;
    past = mine.past.slice(-BACK); // from before the page was loaded again
    describe(mine);
    tell(mine);
    for (const task of unsent.tasks()) answered.add(key(task));
    unsent.go();
    await fill();
  } catch (failure) {
    say(failure.message);
    if (!(failure instanceof Failure) || failure.code !== 401) setTimeout(start, AGAIN);
  }
}

/** Show what the owner says of the questions. */
function describe({ page, labels }) {
  at("title").textContent = document.title = page.title || "Questions";
  at("question").textContent = page.question;
  at("question").hidden = !page.question;
  at("instructions").replaceChildren(...grown(page.instructions));
  at("about").hidden = !page.instructions.length;
  at("about").open = !labels; // who has answered before has read them
}

/** Name the keys that do something now. */
function nameKeys() {
  const numbers = width === 1 ? "the number of an answer" : "both digits of an answer's number";
  const keys = shown ? [numbers, "s to skip"] : [];
  if (shown && unsure) keys.push("x where you are unsure");
  if (past.length) keys.push("u to go back");
  at("keys").textContent = keys.length ? `Keys: ${keys.join(", ")}.` : "";
}


/** Fetch questions until so many are open; one request at a time. */
function fill() {
  filling ??= fetchMore().finally(() => (filling = null));
  return filling;
}

async function fetchMore() {
  let reply;
  try {
    reply = await sendUntilHeard("/next", { most: AHEAD, ahead: true }, trouble);
  } catch (failure) {
    return say(failure.message);
  }
  const here = new Set(queue.map((ask) => key(ask.task)));
  for (const ask of reply.asks) {
    if (here.has(key(ask.task)) || answered.has(key(ask.task))) continue;
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
    done: "You are finished: there are no more questions for you. Thank you for your answers.",
  };
  clear();
  if (unsent.many) return;
  at("task").replaceChildren(element("p", words[reply.state] || words.open));
  clearTimeout(timer);
  timer = setTimeout(() => queue.length || fill(), Math.min(AGAIN * 2 ** idle, LATEST));
  idle += 1;
}

function clear() {
  shown = null;
  at("answers").replaceChildren();
  at("others").replaceChildren(...(past.length ? [other("Back", "u", back)] : []));
  at("remark").hidden = true;
  at("pay").textContent = "";
  nameKeys();
}

/** Show the first question. */
function show() {
  const ask = queue[0];
  if (shown === ask) return;
  [shown, since, typed] = [ask, performance.now(), ""];
  const { text, image, ...others } = ask.shown;
  const parts = [];
  if (text) parts.push(element("p", text, { class: "text", dir: "auto" }));
  if (image) parts.push(picture(image));
  const rows = Object.entries(others).map(([name, value]) =>
    element("tr", [
      element("th", name, { scope: "row", dir: "auto" }),
      element("td", value, { dir: "auto" }),
    ])
  );
  if (rows.length) parts.push(element("table", rows));
  at("task").replaceChildren(...parts);
  at("answers").replaceChildren(...classes.map(button));
  const instead = [other("Skip", "s", () => answer(null, ask))];
  if (unsure) instead.push(other("Unsure", "x", () => answer(null, ask, true)));
  if (past.length) instead.push(other("Back", "u", back));
  at("others").replaceChildren(...instead);
  [at("remark").hidden, at("remark").open, at("comment").value] = [false, false, ""];
  nameKeys();
  const pays = paid && ask.pays ? `This answer pays ${money(ask.pays)}.` : "";
  const again = "You have answered this question before: a new answer replaces that one.";
  at("pay").textContent = ask.before === undefined ? pays : again;
  trouble("");
  at("task").focus({ preventScroll: true });
}

function picture(address) {
  const image = element("img", "", { src: address, alt: "Picture of the task" });
  image.addEventListener("error", () => say("The picture cannot be loaded: skip, or reload."));
  return image;
}

const number = (place) => String(place + 1).padStart(width, "0");

function button(label, place) {
  const made = element("button", [
    element("kbd", number(place), { "aria-hidden": "true" }),
    " ",
    element("span", String(label), { dir: "auto" }),
  ]);
  const chosen = shown.before !== undefined && shown.before === label;
  const attributes = { type: "button", class: "answer" };
  if (shown.before !== undefined) attributes["aria-pressed"] = chosen;
  if (width === 1) attributes["aria-keyshortcuts"] = number(place);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  const ask = shown;
  made.addEventListener("click", () => answer(label, ask));
  return made;
}

function other(word, shortcut, act) {
  const made = element("button", [element("kbd", shortcut, { "aria-hidden": "true" }), ` ${word}`]);
  const attributes = { type: "button", class: "skip", "aria-keyshortcuts": shortcut };
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.addEventListener("click", act);
  return made;
}

/** Take an answer of a question; null where she skips it. It counts once she can have read it. */
function answer(label, ask, isUnsure = false) {
  if (!ask || shown !== ask || performance.now() - since < SEEN) return;
  queue.shift();
  shown = null;
  at("about").open = false; // the instructions are read, and the next task stands on top
  past = [...past, { ...ask, before: label }].slice(-BACK);
  const comment = at("comment").value.trim();
  if (ask.before === undefined || ask.before !== label || comment || isUnsure) {
    answered.add(key(ask.task));
    const row = { task: ask.task, label };
    if (isUnsure) row.unsure = true;
    if (comment) row.comment = comment;
    unsent.add(row, ask.before !== undefined);
  }
  if (queue.length) return show();
  clear();
  at("task").replaceChildren(element("p", "The next question is coming."));
  if (!unsent.many) fill();
}

/** Show the last question that she answered again: another answer will be in its place. */
function back() {
  if (!past.length || performance.now() - since < SEEN) return;
  queue.unshift(past.pop());
  clearTimeout(timer);
  show();
}

async function heard(reply, row) {
  tell(reply);
  await settled(row);
}

async function refused(line, row) {
  await settled(row);
  say(line);
}

async function settled(row) {
  trouble("");
  await filling; // what was fetched before the label came may still have the question
  // Some policies ask again, and what was refused is still open.
  if (!unsent.tasks().some((task) => key(task) === key(row.task))) answered.delete(key(row.task));
  if (queue.length < AHEAD) await fill();
}

/** Say what fails, and how many answers are waiting; an empty line where all is well. */
function trouble(line) {
  const many = unsent.many;
  const are = many === 1 ? "1 answer is" : `${many} answers are`;
  const kept = many ? ` ${are} not sent yet: keep this page open, or open it again later in this browser.` : "";
  say(line ? line + kept : "");
  at("leave").hidden = Boolean(line && many);
}

/** Say how far she is. */
function tell(reply) {
  const earned = reply.paid ? ` and earned ${money(reply.earned)}` : "";
  at("progress").textContent = `You have answered ${reply.labels}${earned}.`;
  paid = reply.paid;
}

/** Take a stroke of a class's key: of more than nine classes each has two. */
function stroke(digit) {
  if (!shown || performance.now() - since < SEEN) return;
  typed += digit;
  if (typed.length === width) {
    const place = Number(typed) - 1;
    typed = "";
    if (place >= 0 && place < classes.length) return answer(classes[place], shown);
  }
  for (const [place, made] of [...at("answers").children].entries())
    made.classList.toggle("typed", Boolean(typed) && number(place).startsWith(typed));
}

document.addEventListener("keydown", (event) => {
  if (event.repeat || event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.target?.id === "comment") return;
  const acts = { s: () => answer(null, shown), u: back };
  if (unsure) acts.x = () => answer(null, shown, true);
  if (/^[0-9]$/.test(event.key)) stroke(event.key);
  else if (event.key in acts) acts[event.key]();
});
window.addEventListener("beforeunload", (event) => unsent.many && event.preventDefault());

start();
