// What the rules of a scheduler are called: v1.11 and v1.22 have predicates and priorities, v1.37 has plugins at the
// extension points Filter and Score.

/** @typedef {typeof CLASSIC} Terms */

const CLASSIC = {
  rule: "predicate", // what fails on a node
  filter: "predicate",
  filters: "predicates",
  scorer: "priority",
  scorers: "priorities",
  column: "priority", // where it is clear that it scores
  columns: "priorities",
  filterTab: "Predicates",
  cacheTab: "Cache",
  scoreTab: "Priorities",
  raw: "Map",
  score: "Reduced",
  reference: "/reference/",
  all: "priorities", // the part of the reference about all of them
};

/** @type {Terms} */
const PLUGINS = {
  rule: "plugin",
  filter: "filter plugin",
  filters: "filter plugins",
  scorer: "score plugin",
  scorers: "score plugins",
  column: "plugin",
  columns: "plugins",
  filterTab: "Filter",
  cacheTab: "Batching",
  scoreTab: "Score",
  raw: "Score",
  score: "Normalized",
  reference: "/reference/plugins/",
  all: "plugins",
};

/**
 * The terms of a release; a cycle names it only under v1.37.
 *
 * @param {string} [release]
 */
export const termsOf = (release) => (release === "v1.37" ? PLUGINS : CLASSIC);

/**
 * The terms of the cycle on screen; before the first one, of the release that will decide.
 *
 * @param {{ current: { release?: string } | null, release: string }} playback
 */
export const termsIn = ({ current, release }) => termsOf(current ? current.release : release);

/** @param {string} text */
export const capital = (text) => text[0].toUpperCase() + text.slice(1);
