// The releases of kube-scheduler as the page describes them: what each has, and what it calls its rules.

import { $ } from "./dom.ts";
import type { Release } from "./protocol.js";

let listed: Release[] | undefined;

/** All of them, oldest first. */
export const releases = (): Release[] => (listed ??= JSON.parse($("#releases").textContent));

/** A release; for "", and for a scheduler that is no kube-scheduler, the oldest. */
export const releaseOf = (name?: string) => releases().find((one) => one.name === name) ?? releases()[0];
