// The player: renders the question of a stop, moves the stage to the reveal, and keeps how far the learner is.

import { effect } from "@preact/signals";
import { render } from "preact";
import { $, $$, typing } from "../lib/dom.ts";
import { given, kept, passed, player } from "./asked.ts";
import { playEdited } from "./edited.ts";
import { pickIn } from "./picking.ts";
import { change, load, onChange, stopIn } from "./progress.ts";
import { caughtUp, sync } from "./sync.ts";
import { Task } from "./task.tsx";
import { gettext } from "./words.ts";

const { stop, stops, seed, task, stage } = player;
const frame = $("iframe[data-frame]");
if (player.passed.length)
  change((progress) => {
    for (const key of player.passed) stopIn(progress, kept, key).right = true;
  });

if (task) {
  const place = $("[data-task]");
  place.replaceChildren();
  render(<Task task={task} />, place);
  pickIn(frame, task);
}
await caughtUp(); // with another device of the account
const passedBefore = !seed && load().lessons[kept]?.stops[stop]?.right === true;
resume();
note();
mark();
onChange(mark);
void sync();
if (passedBefore && !passed.value && stage.open !== stage.shown) offerReveal();
effect(() => {
  if (passed.value) reveal();
});
addEventListener("keydown", turn);

/** An address that names no stop leads to where the learner left off. */
function resume() {
  if (!player.resumes) return;
  const at = load().lessons[kept]?.at;
  if (at && at !== stop && stops.includes(at)) location.replace(`${player.home}${at}/`);
}

/** Note that the stop was seen, and that the learner is there. */
function note() {
  if (seed) return;
  change((progress) => {
    const now = new Date().toISOString();
    stopIn(progress, kept, stop).seen ||= now;
    Object.assign(progress.lessons[kept], { at: stop, when: now });
  });
}

/** Show which stops were seen and passed. */
function mark() {
  const known = load().lessons[kept]?.stops ?? {};
  for (const link of $$("a[data-stop]")) {
    const one = known[link.dataset.stop ?? ""];
    link.classList.toggle("seen", Boolean(one?.seen));
    link.classList.toggle("passed", one?.right === true);
  }
}

/** Show what was asked about: the stage moves on, and so may the learner. */
function reveal() {
  mark();
  count();
  if (task?.form === "edit" && typeof given.value === "string") void playEdited(frame, given.value);
  else show();
  $("[data-after]")?.classList.add("primary");
}

/** Of a launched lesson the page's head counts what the platform is sent. */
function count() {
  const right = document.querySelector("[data-right]");
  const known = Object.values(load().lessons[kept]?.stops ?? {});
  if (right) right.textContent = String(known.filter((one) => one.right).length);
}

function show() {
  $("[data-stage-note]").textContent = "";
  $("[data-open]").hidden = stage.shown.includes("veil="); // a later stop asks about what follows
  // The frame's history is not the page's: Back leads to the stop before.
  if (stage.open !== stage.shown) frame.contentWindow?.location.replace(stage.shown);
}

/** Who passed a prediction before may answer it again, or look at once. */
function offerReveal() {
  const note = $("[data-stage-note]");
  const button = document.createElement("button");
  button.type = "button";
  button.className = "btn quiet";
  button.textContent = gettext("You passed this: show it");
  button.addEventListener("click", () => {
    show();
    frame.focus();
  });
  note.replaceChildren(button);
  $("[data-after]")?.classList.add("primary");
}

/** The keys n and p turn to the next stop and the one before. */
function turn(event: KeyboardEvent) {
  if (typing(event) || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const to = { n: "[data-after]", p: "[data-before]" }[event.key];
  const link = to && document.querySelector<HTMLAnchorElement>(to);
  if (!link) return;
  event.preventDefault();
  link.click();
}
