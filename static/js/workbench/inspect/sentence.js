// Sentences whose nouns are links: text, {pod}, {node}, {predicate}, {priority}, {group}, {job}, {tab} and
// {strong}.

import { h } from "../../lib/dom.js";
import { inline } from "../../lib/inline.js";
import { short } from "../../lib/quantity.js";
import { termsIn } from "../terms.js";
import { nodeLink, podLink } from "./nouns.js";
/** @import { Phrase, Sentence } from "../../lib/protocol.js" */
/** @import { View } from "../view.js" */

/** @typedef {{ priority?: (name: string) => void }} Acts what a link does instead of opening its tab */

/**
 * One sentence as a paragraph.
 *
 * @param {View} view
 * @param {Sentence} parts
 * @param {Acts} [acts]
 */
export const sentence = (view, parts, acts = {}) =>
  h("p", null, typeof parts === "string" ? parts : parts.map((part) => one(view, part, acts)));

/**
 * @param {View} view
 * @param {string | Phrase} part
 * @param {Acts} acts
 */
function one(view, part, acts) {
  if (typeof part === "string") return part;
  const link = (/** @type {string} */ text, /** @type {() => void} */ act, /** @type {string} */ title) =>
    inline(act, { title }, text);
  if (part.pod !== undefined) return podLink(view, part.pod, { dot: false });
  if (part.node !== undefined) return nodeLink(view, part.node);
  if (part.predicate !== undefined)
    return link(
      part.predicate,
      () => predicate(view, part.predicate),
      `light up the nodes it removed, and open the tab ${termsIn(view.playback).filterTab}`,
    );
  if (part.priority !== undefined)
    return acts.priority
      ? link(part.priority, () => acts.priority?.(part.priority), "show how it scored")
      : link(part.priority, () => view.setTab("priorities"), `open the tab ${termsIn(view.playback).scoreTab}`);
  if (part.group !== undefined)
    return link(
      short(part.group),
      () => {
        view.setTab("podgroups");
        view.setSub(part.group);
      },
      `PodGroup ${part.group}`,
    );
  if (part.job !== undefined)
    return link(
      short(part.job),
      () => {
        view.setTab("session");
        view.setSub(`@${part.job}`);
      },
      `job ${part.job}: its steps in the session`,
    );
  if (part.tab !== undefined)
    return link(part.tab, () => view.setTab(part.tab.toLowerCase()), `open the tab ${part.tab}`);
  return h("strong", { text: part.strong });
}

/**
 * @param {View} view
 * @param {string} name
 */
function predicate(view, name) {
  const { verdict } = view.facts;
  view.setTab("predicates");
  const at = verdict?.order.indexOf(name) ?? -1;
  if (at < 0) return;
  const nodes = [];
  for (let node = 0; node < verdict.count; node += 1)
    if (verdict.first[node] === at && view.exists(node)) nodes.push(node);
  view.light(nodes, `stopped by ${name}`);
}
