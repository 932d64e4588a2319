// What the parts of the Cache tab share: the words for modes and sources, rates, and how a table is sorted.

export const LINKED = 6; // nodes or predicates that are named at once

const MODES: Record<string, string> = {
  off: "no cache",
  designed: "the proposal’s rows of the invalidation table",
  "v1.11": "the rows of v1.11, with its bugs",
  sound: "every row of the invalidation table",
  batching: "opportunistic batching (KEP-5598)",
};
/** What a mode is, in a few words; without stale writes the sound one is as good as no cache. */
export function modeWords({ mode, staleWrites }: { mode: string; staleWrites: string }) {
  const words = MODES[mode] ?? "";
  if (mode !== "sound") return words;
  return words + (staleWrites === "generations" ? ": decides as without a cache" : ", but stale writes get in");
}

export const DEFINITIONS: Record<string, string> = {
  controller: "by controller",
  attributes: "by attributes",
  signature: "by signature",
};
export const REMEDIES: Record<string, string> = {
  none: "no remedy against stale writes",
  isUpToDate: "IsUpToDate check (#63040)",
  generations: "generation numbers (#67308)",
};

/** The parts of a lookup in the order of their bars: key, class, word. */
export const SOURCES = [
  ["hits", "hit", "from the cache"],
  ["misses", "miss", "evaluated, then written"],
  ["bypassed", "bypass", "evaluated beside the cache"],
  ["unreached", "unreached", "not reached"],
] as const;

export const reference = (rule = "") => `/reference/cache/${rule ? `#${encodeURIComponent(rule)}` : ""}`;

/** The share of lookups that hit, or null where nothing was looked up. */
export const rate = (hits: number, evaluations: number) => (hits + evaluations ? hits / (hits + evaluations) : null);

/** `82 %`, with a digit more where it would wrongly read all or none. */
export function percent(share: number | null) {
  if (share === null) return "–";
  const value = share * 100;
  if (value > 0 && value < 1) return "<1 %";
  if (value > 99 && value < 100) return `${(Math.floor(value * 10) / 10).toFixed(1)} %`;
  return `${Math.round(value)} %`;
}

/** What a table is sorted by, as the server calls it; `columns` maps headers to its words. */
export const sorting = (state: { sort: string; down: boolean } | false | undefined, columns: Record<string, string>) =>
  state && columns[state.sort] ? `${state.down ? "-" : ""}${columns[state.sort]}` : "";
