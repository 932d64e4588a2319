// The review of a scenario: its threads, live, by state and by what is new; they can be answered and resolved here.

import { $, $$, fill, h } from "../lib/dom.js";
import { refusalOf } from "../lib/socket.js";
import { threadItem } from "../workbench/review/thread.js";
import { Threads } from "../workbench/review/threads.js";
import { link } from "./link.js";
/** @import { Thread } from "../lib/protocol.js" */

const list = $("[data-threads]");
const states = $$("a[data-state]");
const fresh = $("[data-new]");
const only = $("input", fresh);
const see = $("button[data-see]");
const error = $("[data-error]");
const threads = new Threads(link(), { scenario: list.dataset.scenario });
let state = states.find((one) => one.hasAttribute("aria-current"))?.dataset.state ?? "open";

/** @type {Record<string, (thread: Thread) => boolean>} */
const SHOWN = { open: ({ resolved }) => !resolved, resolved: ({ resolved }) => resolved, all: () => true };

/** @param {Thread} thread */
const isNew = (thread) => [thread, ...thread.replies].some((one) => threads.isNew(one));

function draw() {
  const held = list.contains(document.activeElement) && document.activeElement?.closest("form");
  if (held) return; // somebody is writing an answer: what came is drawn once that is sent
  for (const one of states) {
    $("[data-number]", one).textContent = String(threads.all.filter(SHOWN[one.dataset.state ?? "all"]).length);
    if (one.dataset.state === state) one.setAttribute("aria-current", "page");
    else one.removeAttribute("aria-current");
  }
  fresh.hidden = see.hidden = !threads.unread;
  see.textContent = `Mark ${threads.unread} new as read`;
  if (!threads.unread) only.checked = false;
  const shown = threads.all.filter(SHOWN[state]).filter((thread) => !only.checked || isNew(thread));
  fill(
    list,
    shown.map((thread) => threadItem(thread, threads, ({ url }) => location.assign(url))),
    shown.length
      ? null
      : h(
          "li",
          { class: "dim" },
          "No thread here. Comments are written beside the steps of ",
          h("a", { href: `/s/${threads.scenario}/`, text: "the scenario" }),
          ".",
        ),
  );
}

for (const one of states)
  one.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    state = one.dataset.state ?? "open";
    history.replaceState(null, "", `?state=${state}`);
    draw();
  });
only.addEventListener("change", draw);
see.addEventListener("click", () => threads.see());
threads.on("changed", draw);
threads.load().catch((refused) => {
  error.hidden = false;
  error.textContent = refusalOf(refused).message;
});
