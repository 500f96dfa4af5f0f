// Answers that the server has not got yet. They stand in the browser's storage until it has, so that
// a page that is closed, or a server that is away, loses none; the link itself is never stored.

import { Failure, identity, send, token } from "./common.js";

const PAUSE = 500; // milliseconds until what failed is sent again, at first
const LONGEST = 15000;
const mine = `answer ${mark(token)} `;

/** A mark of a text: it tells links apart, and gives nothing of them away. */
function mark(text) {
  let [a, b] = [0xdeadbeef, 0x41c6ce57];
  for (const letter of text) {
    a = Math.imul(a ^ letter.charCodeAt(0), 2654435761);
    b = Math.imul(b ^ letter.charCodeAt(0), 1597334677);
  }
  return `${(a >>> 0).toString(36)}${(b >>> 0).toString(36)}`;
}

/** Messages in the order in which they are sent, each until the server has it. */
export class Unsent {
  constructor(heard, refused, waits) {
    Object.assign(this, { heard, refused, waits, messages: [], under: null, wake: null, failing: "" });
    const kept = keys().map((key) => JSON.parse(storage().getItem(key)));
    this.messages.push(...kept.sort((one, other) => one.at - other.at));
    if (typeof addEventListener === "function") addEventListener("online", () => this.wake?.());
  }

  get many() {
    return this.messages.length;
  }

  /** Tasks of which an answer is still to be sent. */
  tasks() {
    return this.messages.map((message) => message.row.task);
  }

  /** Take a row to be sent; `again` where one was sent before, in whose place it is. */
  add(row, again) {
    const message = { row, again, id: identity(), at: Date.now() };
    this.messages.push(message);
    keep(message);
    if (this.failing) this.waits(this.failing);
    this.go();
  }

  /** Send what there is, one after another. */
  go() {
    this.under ??= this.sendAll().finally(() => (this.under = null));
  }

  async sendAll() {
    for (let pause = PAUSE; this.messages.length; ) {
      const message = this.messages[0];
      const { row, again, id } = message;
      try {
        const labels = { labels: [row], again, request_id: id };
        const reply = await send("/tell", labels);
        this.done(message);
        [pause, this.failing] = [PAUSE, ""];
        await this.heard(reply, row);
      } catch (failure) {
        if (!(failure instanceof Failure)) throw failure;
        const gone = failure.code === 401; // kept all the same: the owner may mend it
        if (gone || failure.passes) this.waits((this.failing = failure.message));
        if (gone) return;
        if (failure.passes) {
          await new Promise((go) => setTimeout((this.wake = go), pause));
          pause = Math.min(2 * pause, LONGEST);
          continue;
        }
        this.done(message);
        this.failing = "";
        await this.refused(failure.message, row);
      }
    }
  }

  done(message) {
    this.messages.shift();
    storage()?.removeItem(mine + message.id);
  }
}

// Where a browser has no storage, or none left, answers stay on the page.

function storage() {
  try {
    return globalThis.localStorage;
  } catch {
    return null;
  }
}

function keys() {
  const kept = storage();
  if (!kept) return [];
  const all = Array.from({ length: kept.length }, (_, place) => kept.key(place));
  return all.filter((key) => key.startsWith(mine));
}

function keep(message) {
  try {
    storage()?.setItem(mine + message.id, JSON.stringify(message));
  } catch {
    // it is full
  }
}
