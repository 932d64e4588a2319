// What a change of Why? did, shown on the page of the copy that has it.

import { $, announce, toast } from "../../lib/dom.ts";
import { short } from "../../lib/quantity.ts";
import type { WhyApplied } from "../../lib/protocol.js";

export type Made = WhyApplied & { asked: string; placed: boolean };

const KEPT = "podstep.applied";

/** Keep what is to be shown when the copy opens. */
export function keepApplied(made: Made) {
  try {
    sessionStorage.setItem(KEPT, JSON.stringify(made));
  } catch {
    /* only the note is lost */
  }
}

/** Show what was applied when its copy opens. */
export function showApplied(draft: string | undefined) {
  let kept: Made | null;
  try {
    kept = JSON.parse(sessionStorage.getItem(KEPT) ?? "null");
    if (kept) sessionStorage.removeItem(KEPT);
  } catch {
    kept = null;
  }
  if (!kept || kept.draft !== draft) return;
  const done = kept.words.join("; ");
  const renamed = kept.pod === kept.asked ? "" : ` (as ${short(kept.asked)} is called with the new template)`;
  const after =
    kept.way === "operation"
      ? " The change takes effect after the step at which it was asked; earlier cycles are unchanged."
      : "";
  const outcome = !kept.node
    ? "but other pods use the resources first, so the pod stays pending"
    : kept.placed
      ? `and ${short(kept.pod)}${renamed} goes to ${kept.node}`
      : `and ${short(kept.pod)}${renamed} is placed on ${kept.node}`;
  const text = `In this copy: ${done}, ${outcome}.${after}`;
  toast(text, { name: kept.node ? "check" : "warn", ms: 12_000 });
  announce(text);
  $("#main").focus({ preventScroll: true }); // the button that was pressed is on the page before
}
