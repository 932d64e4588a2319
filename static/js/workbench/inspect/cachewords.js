// What the parts of the Cache tab share: the words for modes, links, rates, and lighting up nodes.

import { h, icon } from "../../lib/dom.js";
import { inline } from "../../lib/inline.js";
import { count, plural } from "../../lib/quantity.js";
import { nodeLink as named, podLink } from "./byhand.js";
/** @import { NodeIndex } from "../../lib/protocol.js" */
/** @import { View } from "../view.js" */

export { podLink };

const NAME = 26; // characters of a node's name in running text
export const LINKED = 6; // nodes or predicates that are named at once

const MODES = {
  off: "no cache",
  designed: "the proposal’s rows of the invalidation table",
  "v1.11": "the rows of v1.11, with its bugs",
  sound: "every row of the invalidation table",
  batching: "opportunistic batching (KEP-5598)",
};
/** What a mode is, in a few words; without stale writes the sound one is as good as no cache. */
export function modeWords({ mode, staleWrites }) {
  const words = MODES[mode] ?? "";
  if (mode !== "sound") return words;
  return words + (staleWrites === "generations" ? ": decides as without a cache" : ", but stale writes get in");
}

export const DEFINITIONS = { controller: "by controller", attributes: "by attributes", signature: "by signature" };
export const REMEDIES = {
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
];

export const reference = (rule = "") => `/reference/cache/${rule ? `#${encodeURIComponent(rule)}` : ""}`;

/**
 * The share of lookups that hit, or null where nothing was looked up.
 *
 * @param {number} hits
 * @param {number} evaluations
 */
export const rate = (hits, evaluations) => (hits + evaluations ? hits / (hits + evaluations) : null);

/** `82 %`, with a digit more where it would wrongly read all or none. */
export function percent(share) {
  if (share === null) return "–";
  const value = share * 100;
  if (value > 0 && value < 1) return "<1 %";
  if (value > 99 && value < 100) return `${(Math.floor(value * 10) / 10).toFixed(1)} %`;
  return `${Math.round(value)} %`;
}

/**
 * A swatch for one meaning; never alone, a word stands beside it.
 *
 * @param {string} name
 */
export const swatch = (name) => h("i", { class: `cache-mark ${name}`, "aria-hidden": "true" });

export const nodeLink = (view, node, max = NAME) => named(view, node, max);

/**
 * @param {View} view
 * @param {number} index
 */
export function cycleLink(view, index) {
  return inline(
    (event) => view.playback.goto(index, event.timeStamp),
    { title: `go to cycle ${index}`, class: "link num", "aria-label": `cycle ${index}` },
    `#${count(index)}`,
  );
}

/** A row of the invalidation table, on the page that explains it. */
export function ruleLink(rule, text = rule) {
  return h(
    "a",
    {
      class: "link",
      href: reference(rule),
      target: "_blank",
      rel: "noopener",
      title: `row ${rule} of the invalidation table`,
    },
    text,
    h("span", { class: "sr", text: ", opens the reference in another page" }),
  );
}

/**
 * A cause whose row is a link.
 *
 * @param {string} text
 */
export function because(text) {
  const [, cause, rule, rest] = /^(.*)\(rule ([\w-]+)\)(.*)$/s.exec(text) ?? [];
  return rule ? [cause, "(row ", ruleLink(rule), `)${rest}`] : text;
}

/**
 * Listeners that light up nodes on the stage while the pointer is there; a click keeps them lit.
 *
 * @param {View} view
 * @param {NodeIndex[]} nodes
 * @param {string} label
 */
export function lighting(view, nodes, label) {
  let passing = false;
  return {
    onpointerenter: (event) => {
      if (event.pointerType !== "mouse" || view.lit?.label === label) return;
      passing = true;
      view.light(nodes, label);
    },
    onpointerleave: () => {
      if (passing) {
        passing = false;
        view.light(null);
      }
    },
    onclick: () => {
      if (passing) passing = false;
      else view.light(nodes, label);
    },
  };
}

/**
 * A few nodes by name, or how many there are; lights them up. `total` null: all nodes.
 *
 * @param {View} view
 * @param {NodeIndex[]} nodes
 * @param {number | null} total
 * @param {string} label
 */
export function nodesLink(view, nodes, total, label) {
  if (total === 1 && nodes.length === 1) return nodeLink(view, nodes[0]);
  const all = total === null;
  const lit = all ? [...view.playback.nodes.names.keys()].filter((node) => view.exists(node)) : nodes;
  const few = !all && total > lit.length ? `light up the first ${lit.length} on the stage` : "light up on the stage";
  return h(
    "button",
    { type: "button", class: "link lights", title: few, ...lighting(view, lit, label) },
    all ? "all nodes" : plural(total, "node"),
  );
}

/** `fits`, or the reasons why not: an answer of a predicate. */
export function answer(reasons, fit = reasons.length === 0) {
  return fit
    ? h("span", { class: "answer pass-text" }, icon("check"), "fits")
    : h("span", { class: "answer fail-text" }, icon("cross"), reasons.join(", ") || "does not fit");
}

/**
 * Say that rows are on their way; those that are there stay, dimmed. The notice itself is not.
 *
 * @param {HTMLElement} host
 */
export function loading(host) {
  if (host.firstChild) host.classList.add("waiting");
  else host.append(h("p", { class: "loading", role: "status", text: "Bringing the cache to this cycle…" }));
}

/** What a table is sorted by, as the server calls it; `columns` maps headers to its words. */
export const sorting = (state, columns) =>
  columns[state?.sort] ? `${state.down ? "-" : ""}${columns[state.sort]}` : "";

/** Turn pages: `{from, count, size, what}`; nothing where one page holds all. */
export function pager({ from, total, size, shown, what }, go) {
  if (total <= size && from === 0) return h("span", { class: "pager" });
  const turn = (to, label, name, off) =>
    h(
      "button",
      {
        type: "button",
        class: "btn quiet square",
        "aria-label": label,
        title: label,
        disabled: off || undefined,
        "data-turn": name,
        onclick: () => go(to),
      },
      icon(name),
    );
  return h(
    "span",
    { class: "pager", role: "group", "aria-label": `Page of ${what}` },
    turn(Math.max(0, from - size), "Previous page", "left", from <= 0),
    h("span", {
      class: "num",
      role: "status",
      text: `${count(from + 1)} to ${count(from + shown)} of ${count(total)}`,
    }),
    turn(from + size, "Next page", "right", from + shown >= total),
  );
}

/**
 * Bring the focus back to the button that turned the page, or to its neighbour at the end.
 *
 * @param {HTMLElement} host
 * @param {string} name
 */
export function refocus(host, name) {
  if (!name) return;
  (
    host.querySelector(`[data-turn="${name}"]:not([disabled])`) ?? host.querySelector("[data-turn]:not([disabled])")
  )?.focus();
}
