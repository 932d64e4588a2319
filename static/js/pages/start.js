// The start page.

import { $ } from "../lib/dom.js";
import { mini } from "./mini.tsx";
import { buildOne } from "./build.js";
import { onDrop } from "./files.js";
import { holdsScenario, openPacked } from "./packed.tsx";
import { paste } from "./paste.js";
import { topics } from "./topics.js";
import { trace } from "./trace.tsx";

const tables = trace($("form[data-trace-form]"));
const { take, turnTo } = paste($("[data-paste-form]"), tables);
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
const host = $("[data-mini]");
if (host) mini(host).catch(() => host.classList.add("is-still"));
// Last: it takes the place of all of the above.
if (holdsScenario()) openPacked($("#main"));
addEventListener("hashchange", () => {
  if (holdsScenario()) openPacked($("#main"));
});
