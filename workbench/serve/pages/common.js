// What the pages share. Whatever is shown is text: nothing that was sent is ever made into HTML.

export const token = location.hash.slice(1);

export class Failure extends Error {
  constructor(code, line) {
    super(line);
    this.code = code;
    this.passes = code === 0 || code === 429 || code >= 500; // sent again, it may be taken
  }
}

/** Send a request once; give what came back as JSON. */
export async function send(path, message, as = token) {
  const request = { headers: { Authorization: `Bearer ${as}` }, cache: "no-store" };
  if (message !== undefined) {
    request.method = "POST";
    request.keepalive = true; // it goes on where the page is closed
    request.body = JSON.stringify(message);
    request.headers["Content-Type"] = "application/json";
  }
  let response;
  try {
    response = await fetch(path, request);
  } catch {
    throw new Failure(0, "The server cannot be reached.");
  }
  const reply = await response.json().catch(() => ({}));
  if (!response.ok) throw new Failure(response.status, reply.error || `Error ${response.status}.`);
  return reply;
}

/** Send until there is an answer: what the server cannot take now it may take in a moment. */
export async function sendUntilHeard(path, message, wait) {
  const once = { ...message, request_id: identity() };
  for (let pause = 500; ; pause = Math.min(2 * pause, 15000)) {
    try {
      const reply = await send(path, once);
      if (wait && pause > 500) wait("");
      return reply;
    } catch (failure) {
      if (!(failure instanceof Failure) || !failure.passes) throw failure;
      if (wait) wait(failure.message);
      await new Promise((go) => setTimeout(go, pause));
    }
  }
}

/** A number for a request, drawn so that no two are alike. */
export function identity() {
  const words = crypto.getRandomValues(new Uint32Array(4));
  return Array.from(words, (word) => word.toString(16).padStart(8, "0")).join("");
}

/** An element with text, or with others, in it. */
export function element(kind, content = "", attributes = {}) {
  const made = document.createElement(kind);
  if (Array.isArray(content)) made.append(...content);
  else made.textContent = content;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

/** Elements of a tree of [tag, attributes, ...parts], as the server makes it of Markdown. */
export function grown(parts) {
  const kinds =
    "h2 h3 h4 h5 h6 p ul ol li strong em code pre blockquote hr br a img table thead tbody tr th td";
  return parts.map((part) => {
    if (typeof part === "string") return part;
    const [tag, attributes, ...inner] = part;
    if (!kinds.split(" ").includes(tag)) return "";
    return element(tag, grown(inner), attributes);
  });
}

export const at = (id) => document.getElementById(id);
export const say = (line) => (at("message").textContent = line);
export const money = (value) => Number(value).toLocaleString("en", { maximumFractionDigits: 4 });
export const share = (value) => (value == null ? "–" : `${(100 * value).toFixed(1)} %`);
