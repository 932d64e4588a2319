// The start page. What is for a press that many never make comes with that press.

import "../base.js";
import { $, copy } from "../lib/dom.ts";
import { mini } from "./mini.tsx";
import { buildOne } from "./build.js";
import { onDrop } from "./files.ts";
import { paste } from "./paste.tsx";
import { topics } from "./topics.ts";
import { trace } from "./trace.tsx";

const HELD = "#scenario="; // as lib/packed.ts begins what holds one

const tables = trace($("form[data-trace-form]"));
const { take, turnTo } = paste($("form[data-paste-form]"), tables);
const over = $("[data-drop-over]");
onDrop(document.body, take, (held) => {
  over.hidden = !held;
});
for (const link of document.querySelectorAll('a[href="#paste"]'))
  link.addEventListener("click", (event) => {
    event.preventDefault();
    history.replaceState(null, "", "#paste");
    turnTo();
  });
if (location.hash === "#paste") turnTo();
buildOne($("[data-build-one]"));
topics($("#examples"));
const command = $("[data-copy-command]");
command.hidden = false;
command.addEventListener("click", async () => {
  $("span", command).textContent = (await copy($("input[data-command]").value)) ? "Copied" : "Press Ctrl+C";
  $("input[data-command]").select();
});
const host = $("[data-mini]");
if (host) mini(host).catch(() => host.classList.add("is-still"));
// Last: it takes the place of all of the above.
openHeld();
addEventListener("hashchange", openHeld);

/** Open the scenario that the address holds, if it does. */
async function openHeld() {
  if (!location.hash.startsWith(HELD)) return;
  const { openPacked } = await import("./packed.tsx");
  await openPacked($("#main"));
}
