// The releases of kube-scheduler as the page describes them: what each has, and what it calls its rules.

import { $ } from "./dom.js";
/** @import { Release } from "./protocol.js" */

/** @type {Release[] | undefined} */
let listed;

/**
 * All of them, oldest first.
 *
 * @returns {Release[]}
 */
export const releases = () => (listed ??= JSON.parse($("#releases").textContent));

/**
 * A release; for "", and for a scheduler that is no kube-scheduler, the oldest.
 *
 * @param {string} [name]
 */
export const releaseOf = (name) => releases().find((one) => one.name === name) ?? releases()[0];
