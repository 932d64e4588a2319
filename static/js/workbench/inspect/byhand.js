// Links and sentences of Inspect, for modules that build their DOM by hand.

import { nodesOf } from "../../kit/node.tsx";
import * as nouns from "./nouns.tsx";
import * as sentences from "./sentence.tsx";
/** @import { Sentence } from "../../lib/protocol.js" */
/** @import { View } from "../view.js" */

/**
 * @param {View} view
 * @param {string} key
 */
export const podLink = (view, key) => nodesOf(nouns.podLink(view, key))[0];

/**
 * @param {View} view
 * @param {string | number} which
 */
export const nodeLink = (view, which) => nodesOf(nouns.nodeLink(view, which))[0];

/**
 * @param {View} view
 * @param {Sentence} parts
 */
export const sentence = (view, parts) => nodesOf(sentences.sentence(view, parts))[0];
