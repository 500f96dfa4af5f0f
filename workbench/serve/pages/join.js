// Joining an open crowd: a name for a link of one's own.

import { at, say, send } from "./common.js";

at("form").addEventListener("submit", async (event) => {
  event.preventDefault();
  try {
    const reply = await send("/join", { name: at("name").value });
    location.replace(`/work#${reply.token}`);
  } catch (failure) {
    say(failure.message);
  }
});
