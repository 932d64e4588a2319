// How the stage is looked at: what colours the pods and by what nodes are grouped. Remembered, and in the address.

const KEY = "podstep.stage";
export const USUAL = { colour: "workload", group: "zone" };

/** What was chosen on an earlier visit, as far as it was. */
export function kept() {
  let found = {};
  try { found = JSON.parse(localStorage.getItem(KEY)) ?? {}; } catch { found = {}; }
  const text = (name) => (typeof found[name] === "string" ? found[name] : USUAL[name]);
  return { colour: text("colour"), group: text("group") };
}

export function keep(look) {
  try { localStorage.setItem(KEY, JSON.stringify(look)); } catch { /* for this visit only */ }
}
