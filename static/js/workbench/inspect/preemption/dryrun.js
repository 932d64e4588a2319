// The dry run of preemption on one node: which pods would have to go.

import { h, icon } from "../../../lib/dom.js";
import { count, short } from "../../../lib/quantity.js";
import { podLink } from "../nouns.js";
/** @import { View } from "../../view.js" */

/**
 * All pods of lower priority out, then back one by one; no `run` while it is loading.
 *
 * @param {View} view
 */
export function dryRun(view, run) {
  if (!run) return h("p", { class: "dim", text: "Loading the dry run…" });
  const rest = (shown) =>
    run.count > shown ? h("li", { class: "dim", text: `and ${count(run.count - shown)} more` }) : null;
  return h(
    "div",
    { class: "dry-run" },
    h(
      "section",
      null,
      h("h4", null, "1. Remove all of lower priority ", h("small", { class: "dim num", text: count(run.count) })),
      h(
        "ol",
        { class: "chips", "aria-label": "Pods removed, in order" },
        run.removed.map((key) => h("li", { class: "chip out" }, podLink(view, key))),
        rest(run.removed.length),
      ),
    ),
    h(
      "section",
      null,
      h("h4", null, "2. Reprieve one by one"),
      h(
        "ol",
        { class: "steps", "aria-label": "Reprieved pods, in order" },
        run.steps.map((step, i) => stepItem(view, step, i)),
        rest(run.steps.length),
      ),
    ),
  );
}

/** @param {View} view */
function stepItem(view, [key, priority, budgets, kept, reasons], i) {
  return h(
    "li",
    { class: kept ? "kept" : "victim" },
    h("span", { class: "num dim", text: String(i + 1) }),
    h("span", { class: `pill ${kept ? "pass" : "victim"}` }, icon(kept ? "check" : "cross"), kept ? "kept" : "victim"),
    h(
      "span",
      { class: "what" },
      podLink(view, key),
      h("small", { class: "dim num", text: ` priority ${count(priority)}` }),
      budgets.map((budget) =>
        h(
          "span",
          { class: "pill stale", title: `Deleting it violates the PodDisruptionBudget ${budget}` },
          icon("warn"),
          `PDB ${short(budget)}`,
        ),
      ),
      reasons.length ? h("small", { class: "dim why-not", text: `with it here: ${reasons.join(", ")}` }) : null,
    ),
  );
}
