// The comments on both sides: threads lead to their row, and a new one is about the cycle on screen.

import { fill, h } from "../lib/dom.js";
import { plural } from "../lib/quantity.js";
import { commentForm } from "../workbench/review/form.js";
import { hereOf } from "../workbench/review/here.js";
import { threadItem } from "../workbench/review/thread.js";
import { Threads } from "../workbench/review/threads.js";
/** @import { Side } from "./side.js" */
/** @import { Stepper } from "./stepper.js" */

/**
 * Show the threads of the sides that have any to read or to write.
 *
 * @param {HTMLElement} host
 * @param {Stepper} stepper
 */
export async function discussion(host, stepper) {
  const [left, right] = stepper.sides;
  const same = left.asked.source.scenario && left.asked.source.scenario === right.asked.source.scenario;
  const columns = h("div", { class: "both-columns" });
  for (const side of same ? [left] : [left, right]) {
    const threads = new Threads(side.socket, side.asked.source);
    try {
      await threads.load();
    } catch {
      continue; // what is not shared, and comes of nothing shared, has no comments
    }
    columns.append(column(side, threads, stepper));
  }
  if (!columns.childElementCount) return;
  fill(host, h("h2", { text: "Comments" }), columns);
  host.hidden = false;
}

/**
 * @param {Side} side
 * @param {Threads} threads
 * @param {Stepper} stepper
 */
function column(side, threads, stepper) {
  const about = h("p", { class: "dim" });
  const list = h("ul", { class: "threads" });
  const title = h("h3");
  const { form } = commentForm({
    label: `Write a comment on the ${side.name} side`,
    action: "Comment",
    above: about,
    send: (text, name) => threads.write({ step: String(Math.max(0, side.playback.wantedCycle)) }, text, name),
  });
  const say = () => {
    about.textContent = `About step ${side.playback.wantedCycle} of ${side.asked.title || "Untitled"}`;
  };
  const draw = () => {
    if (list.contains(document.activeElement) && document.activeElement?.closest("form")) return;
    fill(
      title,
      h("span", { class: "pill", text: side.name }),
      ` ${side.asked.title || "Untitled"}: ${plural(threads.open, "open thread")} `,
      h("a", { href: `/s/${threads.scenario}/review/`, text: "Review" }),
    );
    fill(
      list,
      threads.all.map((thread) => {
        const { index, words } = hereOf(side.playback, thread);
        const at = index >= 0 ? index : (thread.about?.index ?? 0);
        return threadItem(thread, threads, () => stepper.goto(stepper.rows.of(side.name, at)), words);
      }),
    );
  };
  for (const name of /** @type {const} */ (["seek", "opened"])) side.playback.on(name, say);
  side.playback.on("opened", draw);
  threads.on("changed", draw);
  say();
  draw();
  return h("div", { class: "discussion" }, title, threads.readOnly ? null : form, list);
}
