// How the stage is looked at: what colours the pods and by what nodes are grouped. Remembered, and in the address.

const KEY = "podstep.stage";
export const USUAL = { colour: "workload", group: "zone" };
const NAMES = Object.keys(USUAL);
export const ENOUGH = 1000; // cycles: a scenario whose first ones preempt nobody is not about preemption

/** What was chosen on an earlier visit: nothing of what nobody chose. */
export function kept() {
  let found = {};
  try { found = JSON.parse(localStorage.getItem(KEY)) ?? {}; } catch { found = {}; }
  return Object.fromEntries(NAMES.filter((name) => typeof found[name] === "string").map((name) => [name, found[name]]));
}

export function keep(chosen) {
  try { localStorage.setItem(KEY, JSON.stringify(chosen)); } catch { /* for this visit only */ }
}

/** What colours pods until somebody chooses: what the scenario is about, as far as it is computed. */
export function fitting({ pods, summary, marks }) {
  if (summary.PodGroup || pods.podGroup?.some((at) => at >= 0)) return "podgroup";
  const first = marks?.seek(0, 1, "p") ?? 0;
  return first && first <= ENOUGH ? "priority" : USUAL.colour;
}
