// The review of a scenario: its threads, live, by state and by what is new; they can be answered and resolved here.

import { render } from "preact";
import { $, $$ } from "../lib/dom.ts";
import type { Thread } from "../lib/protocol.js";
import { refusalOf } from "../lib/socket.ts";
import { ThreadItem } from "../workbench/review/thread.tsx";
import { Threads } from "../workbench/review/threads.ts";
import { follow } from "../workbench/playback/store.ts";
import { link } from "./link.ts";

const list = $("[data-threads]");
const states = $$("a[data-state]");
const fresh = $("[data-new]");
const only = $("input", fresh);
const see = $("button[data-see]");
const error = $("[data-error]");
const threads = new Threads(link(), { scenario: list.dataset.scenario });
let state = states.find((one) => one.hasAttribute("aria-current"))?.dataset.state ?? "open";

const SHOWN: Record<string, (thread: Thread) => boolean> = {
  open: ({ resolved }) => !resolved,
  resolved: ({ resolved }) => resolved,
  all: () => true,
};

const isNew = (thread: Thread) => [thread, ...thread.replies].some((one) => threads.isNew(one));
const of = (name = "all") => threads.all.filter(SHOWN[name] as (thread: Thread) => boolean);

function draw() {
  for (const one of states) {
    $("[data-number]", one).textContent = String(of(one.dataset.state).length);
    if (one.dataset.state === state) one.setAttribute("aria-current", "page");
    else one.removeAttribute("aria-current");
  }
  fresh.hidden = see.hidden = !threads.unread;
  see.textContent = `Mark ${threads.unread} new as read`;
  if (!threads.unread) only.checked = false;
  const shown = of(state).filter((thread) => !only.checked || isNew(thread));
  const items = shown.map((thread) => (
    <ThreadItem key={thread.id} thread={thread} threads={threads} go={({ url }) => location.assign(url)} />
  ));
  const none = (
    <li class="dim">
      No comments here. Write them beside the steps of <a href={`/s/${threads.scenario}/`}>the scenario</a>.
    </li>
  );
  render(items.length ? items : none, list);
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
threads.load().then(
  () => {
    list.replaceChildren(); // what the server has drawn
    follow(threads.version, draw);
    draw();
  },
  (refused) => {
    error.hidden = false;
    error.textContent = refusalOf(refused).message;
  },
);
