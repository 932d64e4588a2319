// What components show of Inspect, for modules that build their DOM by hand.

import { h } from "preact";
import { nodesOf } from "../../kit/node.tsx";
import { Before, Later } from "./empty.tsx";
import * as nouns from "./nouns.tsx";
import * as sentences from "./sentence.tsx";
/** @import { Sentence } from "../../lib/protocol.js" */
/** @import { View } from "../view.js" */

export { aboutNode } from "./nouns.tsx";

/** @param {View} view */
export const before = (view) => nodesOf(h(Before, { view }));

/**
 * @param {View} view
 * @param {string} title
 * @param {string} [text]
 */
export const later = (view, title, text) => nodesOf(h(Later, { view, title, text }));

/**
 * @param {View} view
 * @param {string} key
 * @param {{ dot?: boolean, whole?: boolean }} [options]
 */
export const podLink = (view, key, options) => nodesOf(nouns.podLink(view, key, options))[0];

/**
 * @param {View} view
 * @param {string | number} which
 * @param {number} [max]
 */
export const nodeLink = (view, which, max) => nodesOf(nouns.nodeLink(view, which, max))[0];

/**
 * @param {View} view
 * @param {string} text
 */
export const linked = (view, text) => nodesOf(nouns.linked(view, text));

/**
 * @param {View} view
 * @param {Sentence} parts
 * @param {import("./sentence.tsx").Acts} [acts]
 */
export const sentence = (view, parts, acts) => nodesOf(sentences.sentence(view, parts, acts))[0];
