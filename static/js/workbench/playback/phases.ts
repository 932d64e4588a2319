// The phases of a cycle, in order: which of them a cycle went through, what each shows, and which tab shows it.

import { termsOf } from "./terms.ts";
import type { Light } from "../../lib/protocol.js";

/** All of them; the framework's beside v1.11's. */
export const PHASES = [
  "queue",
  "preFilter",
  "predicates",
  "priorities",
  "select",
  "preemption",
  "postFilter",
  "assume",
  "reserve",
  "permit",
  "preBind",
  "bind",
  "postBind",
];
const CLASSIC = ["queue", "predicates", "priorities", "select", "preemption", "assume", "bind"];
/** Those of the framework's phases that decide something. */
const DECIDING = ["queue", "preFilter", "predicates", "priorities", "preemption", "postFilter", "permit", "bind"];
export const TAB_OF = {
  queue: "queue",
  predicates: "predicates",
  priorities: "priorities",
  preemption: "preemption",
  preFilter: "podgroups",
  permit: "podgroups",
  postFilter: "podgroups",
};

/** A phase as the release that decides calls it. */
export const phaseWord = (phase: string, release?: string) => termsOf(release).points[phase] ?? phase;

const rank = (phase: string) => PHASES.indexOf(phase);
const from =
  (first: string): ((phase: string) => boolean) =>
  (phase) =>
    rank(phase) >= rank(first);

/** Whether the pod holds its node in a phase. */
export const assumed = from("assume");
/** Whether it may wait at Permit in a phase. */
export const waits = from("permit");

/**
 * The phases of a cycle as they are drawn, in virtual time or not; `ran` returns whether the cycle reached the phase,
 * `open` that others may follow.
 */
export function phasesOf(light: Light, timed: boolean) {
  const ran = new Set(light.phases);
  const open = light.result === "undecided"; // which phases follow is an answer, too
  const drawn = (timed ? DECIDING : CLASSIC).filter(
    (phase) => ran.has(phase) || (!open && !timed && phase !== "preemption"),
  );
  return { drawn, ran, open };
}

/** The phases that a cycle went through, of those that are drawn. */
export function wentThrough(light: Light, timed: boolean) {
  const { drawn, ran } = phasesOf(light, timed);
  return drawn.filter((phase) => ran.has(phase));
}
