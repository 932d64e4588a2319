// What components show in the Cache tab, for modules that build their DOM by hand.

import { h as component } from "preact";
import { h } from "../../lib/dom.js";
import { nodesOf } from "../../kit/node.tsx";
import { Pager } from "../../kit/pager.tsx";
import * as parts from "./cacheparts.tsx";
/** @import { NodeIndex } from "../../lib/protocol.js" */
/** @import { View } from "../view.js" */

export { podLink } from "./byhand.js";

/** @param {string} name */
export const swatch = (name) => nodesOf(parts.swatch(name))[0];

/**
 * @param {View} view
 * @param {NodeIndex} node
 * @param {number} [max]
 */
export const nodeLink = (view, node, max) => nodesOf(parts.nodeLink(view, node, max))[0];

/**
 * @param {View} view
 * @param {number} index
 */
export const cycleLink = (view, index) => nodesOf(parts.cycleLink(view, index))[0];

/**
 * @param {string} rule
 * @param {string} [text]
 */
export const ruleLink = (rule, text) => nodesOf(parts.ruleLink(rule, text))[0];

/** @param {string} text */
export const because = (text) => nodesOf(parts.because(text));

/**
 * @param {string[]} reasons
 * @param {boolean} [fit]
 */
export const answer = (reasons, fit) => nodesOf(parts.answer(reasons, fit))[0];

/**
 * Say that rows are on their way; those that are there stay, dimmed. The notice itself is not.
 *
 * @param {HTMLElement} host
 */
export function loading(host) {
  if (host.firstChild) host.classList.add("waiting");
  else host.append(h("p", { class: "loading", role: "status", text: "Bringing the cache to this cycle…" }));
}

/**
 * Turn pages; nothing where one page holds all.
 *
 * @param {{ from: number, total: number, size: number, shown: number, what: string }} page
 * @param {(to: number) => void} go
 */
export const pager = (page, go) => nodesOf(component(Pager, { ...page, go }))[0];

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
