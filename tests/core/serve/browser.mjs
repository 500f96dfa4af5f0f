// As much of a browser as a worker's page uses: node tests/core/serve/browser.mjs PAGES URL TOKEN KEYS
// Opens the page, presses a key for each question until so many are answered, and prints JSON:
// the texts that were shown, what was asked of the network, and what stands there at the end.

import { pathToFileURL } from "node:url";

const [pages, url, token, many, keys] = process.argv.slice(2);
const requests = [];
const listeners = {};

class Node {
  constructor(kind) {
    Object.assign(this, { kind, children: [], attributes: {}, own: "", handlers: {}, value: "" });
    this.classList = { toggle() {} };
  }
  set textContent(text) {
    this.own = String(text);
    this.children = [];
  }
  get textContent() {
    return this.own + this.children.map((c) => (typeof c === "string" ? c : c.textContent)).join("");
  }
  set innerHTML(_) {
    throw new Error("innerHTML is set");
  }
  append(...parts) {
    this.children.push(...parts);
  }
  prepend(...parts) {
    this.children.unshift(...parts);
  }
  replaceChildren(...parts) {
    this.own = "";
    this.children = parts;
  }
  setAttribute(name, value) {
    this.attributes[name] = String(value);
  }
  addEventListener(name, act) {
    this.handlers[name] = act;
  }
  focus() {}
}

const there = {};
globalThis.document = {
  getElementById: (id) => (there[id] ??= new Node(id)),
  createElement: (kind) => new Node(kind),
  createElementNS: (_, kind) => new Node(kind),
  addEventListener: (name, act) => (listeners[name] = act),
};
globalThis.window = { addEventListener: (name, act) => (listeners[name] = act) };
globalThis.location = { hash: `#${token}` };
globalThis.Image = class {
  set src(address) {
    requests.push(address);
  }
};
const real = globalThis.fetch;
globalThis.fetch = (path, given) => {
  requests.push(path);
  return real(new URL(path, url), given);
};

const names = ["progress", "bar", "task", "answers", "others", "message", "pay", "question"];
for (const name of names) document.getElementById(name);
await import(pathToFileURL(`${pages}/work.js`));

const texts = [];
const pause = (time) => new Promise((go) => setTimeout(go, time));
const end = Date.now() + 20000;
for (let done = 0; done < Number(many) && Date.now() < end; ) {
  const buttons = there.answers.children.length;
  const text = there.task.textContent;
  if (!buttons) {
    await pause(10);
    continue;
  }
  texts.push(text);
  listeners.keydown({ key: keys[done % keys.length] });
  done += 1;
}
while (!listeners.beforeunload || Date.now() < end) {
  let unsent = false;
  listeners.beforeunload({ preventDefault: () => (unsent = true) });
  if (!unsent) break;
  await pause(10);
}
await pause(50);
const seen = Object.fromEntries(names.map((name) => [name, there[name].textContent]));
const all = [...there.answers.children, ...there.others.children];
const buttons = all.map((c) => [c.kind, c.attributes]);
console.log(JSON.stringify({ texts, requests, seen, buttons }));
process.exit(0);
