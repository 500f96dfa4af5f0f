// Joining an open crowd: a name for a link of one's own.

import { at, identity, say, send } from "./common.js";

const secrets = {}; // by name: sent again it is known, and gives the same link

at("form").addEventListener("submit", async (event) => {
  event.preventDefault();
  const name = at("name").value;
  try {
    secrets[name] ??= identity() + identity();
    const reply = await send("/join", { name, secret: secrets[name] });
    location.replace(`/work#${reply.token}`);
  } catch (failure) {
    say(failure.message);
  }
});
