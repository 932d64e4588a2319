// The player: renders the question of a stop, moves the stage to the reveal, and keeps how far the learner is.

import { effect } from "@preact/signals";
import { render } from "preact";
import { $, $$, typing } from "../lib/dom.ts";
import { given, kept, passed, player } from "./asked.ts";
import { playEdited } from "./edited.ts";
import { pickIn } from "./picking.ts";
import { stages } from "./stage.ts";
import { change, load, onChange, stopIn } from "./progress.ts";
import { caughtUp, sync } from "./sync.ts";
import { Task } from "./task.tsx";
import { gettext } from "./words.ts";

onChange(mark);

/** Play the stop that the page shows; return what ends it. */
export function play(): () => void {
  const { task } = player;
  const ends: (() => void)[] = [];
  const frame = $("iframe[data-frame]") as HTMLIFrameElement;
  if (player.passed.length)
    change((progress) => {
      for (const key of player.passed) stopIn(progress, kept, key).right = true;
    });
  if (task) {
    const place = $("[data-task]");
    place.replaceChildren();
    render(<Task task={task} />, place);
    ends.push(() => render(null, place));
    ends.push(pickIn(frame, task));
  }
  addEventListener("keydown", turn);
  ends.push(() => removeEventListener("keydown", turn));
  void caughtUp().then(() => {
    goOn(frame);
    void sync();
    ends.push(
      effect(() => {
        if (passed.value) reveal(frame);
      }),
    );
  });
  return () => ends.forEach((end) => end());
}

/** Note the visit, once what another device of the account has is known. */
function goOn(frame: HTMLIFrameElement) {
  const { seed, stop, stage } = player;
  const passedBefore = !seed && load().lessons[kept]?.stops[stop]?.right === true;
  resume();
  note();
  mark();
  if (passedBefore && !passed.value && stage.open !== stage.shown) offerReveal(frame);
}

/** An address that names no stop leads to where the learner left off. */
function resume() {
  const { resumes, stop, stops, home } = player;
  if (!resumes) return;
  const at = load().lessons[kept]?.at;
  if (at && at !== stop && stops.includes(at)) location.replace(`${home}${at}/`);
}

/** Note that the stop was seen, and that the learner is there. */
function note() {
  const { seed, stop } = player;
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
function reveal(frame: HTMLIFrameElement) {
  const { task } = player;
  mark();
  count();
  if (task?.form === "edit" && typeof given.value === "string") void playEdited(frame, given.value);
  else show(frame);
  $("[data-after]")?.classList.add("primary");
}

/** Of a launched lesson the page's head counts what the platform is sent. */
function count() {
  const right = document.querySelector("[data-right]");
  const known = Object.values(load().lessons[kept]?.stops ?? {});
  if (right) right.textContent = String(known.filter((one) => one.right).length);
}

function show(frame: HTMLIFrameElement) {
  const { stage } = player;
  $("[data-stage-note]").textContent = "";
  $("[data-open]").hidden = stage.shown.includes("veil="); // a later stop asks about what follows
  if (stage.open !== stage.shown) stages.show(frame, stage.shown);
}

/** Who passed a prediction before may answer it again, or look at once. */
function offerReveal(frame: HTMLIFrameElement) {
  const note = $("[data-stage-note]");
  const button = document.createElement("button");
  button.type = "button";
  button.className = "btn quiet";
  button.textContent = gettext("You passed this: show it");
  button.addEventListener("click", () => {
    show(frame);
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
