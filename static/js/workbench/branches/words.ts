// The words about a branch: where it was made, and its outcome next to its parent's.

import { count, plural } from "../../lib/quantity.ts";
import type { BranchComparison } from "../../lib/protocol.js";

/** The step of the parent at which a branch was made. */
export function madeAt(step: string) {
  if (!step) return "";
  if (step === "0") return "from the start";
  if (step === "end") return "from the end";
  return `from ${step.includes(".") ? "" : "cycle "}${step}`;
}

/** How many are placed and pending, and by how many more or fewer than in the parent. */
export function standing({ here, parent }: Pick<BranchComparison, "here" | "parent">) {
  const by = parent ? here.pending - parent.pending : 0;
  const beside = by ? ` (${by > 0 ? "+" : "−"}${count(Math.abs(by))})` : "";
  const leaving = here.terminating ? `, ${count(here.terminating)} Terminating` : "";
  const part = here.stopped ? ", as far as it was computed" : "";
  return `${count(here.placed)} placed, ${count(here.pending)} pending${beside}${leaving}${part}`;
}

/** Where it parts from its parent, or that it does not. */
export function parting({
  first,
  parent,
  elsewhere,
  why,
}: Pick<BranchComparison, "first" | "parent" | "elsewhere" | "why">) {
  if (why) return why;
  if (!parent) return "Its parent was deleted.";
  if (!first) return "Every cycle ends as in the parent.";
  const others = elsewhere
    ? `${plural(elsewhere, "pod")} ${elsewhere === 1 ? "ends" : "end"} elsewhere.`
    : "The final placement is identical.";
  return `First different: cycle ${count(first.index)}: ${first.words}. ${others}`;
}
