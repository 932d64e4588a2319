// A cycle cut to a moment inside it: what every panel reads instead of the whole. The server sends what is different by
// then (`cuts`, the latest phase first, each as its difference from the one before); here it is put together.

import { waits } from "./phases.ts";
import type { Light, NativePodGroups, NoPodGroups, PodGroupsPart } from "../../lib/protocol.js";
import type { CycleParts } from "./parts.ts";

/**
 * How far a cycle has come: whether the pod is tried, may wait at Permit, whether the attempt is over, and whether all
 * its consequences have come.
 */
export type Reached = { tried: boolean; waits: boolean; over: boolean; whole: boolean };
type AnyPodGroups = PodGroupsPart | NativePodGroups | NoPodGroups;
export type Come = { light: Light | null; parts: CycleParts | null; reached: Reached };

/** What has happened of a cycle that is shown whole. */
export const OVER = { tried: true, waits: true, over: true, whole: true };

/** A cheap record of which nothing is known but the pod, while the rest is being loaded. */
function blank(light: Light, phase: string): Light {
  return {
    ...light,
    result: "undecided",
    node: null,
    message: null,
    feasible: 0,
    inside: [],
    quirks: [],
    ladder: [],
    story: [],
    nominated: null,
    phases: light.phases.slice(0, light.phases.indexOf(phase) + 1),
    events: [],
    stopped: {},
    cache: light.cache && [0, 0, 0, 0],
  };
}

/** Both records as they are at the end of a phase, "" before the first. */
function upTo(light: Light, parts: CycleParts, phase: string) {
  const found = { light: { ...light }, parts: { ...parts } };
  const cut: Record<string, any> = found.parts; // the cuts name parts, and fields of these
  for (const { phase: at, light: fields, parts: differing, instead } of parts.cuts ?? []) {
    Object.assign(found.light, fields);
    Object.assign(cut, instead);
    for (const [name, other] of Object.entries(differing)) {
      const [part, inner] = name.split(".");
      cut[part] = { ...cut[part], ...(inner ? { [inner]: { ...cut[part][inner], ...other } } : other) };
    }
    if (at === phase) break;
  }
  if (!found.light.phases.includes("predicates")) found.parts.verdict = null;
  return found;
}

/** The first of what happened around a cycle; of groups that no one has, nothing. */
const around = <P extends AnyPodGroups | undefined>(part: P, before: number, after: number): P =>
  part?.happenings
    ? { ...part, happenings: part.happenings.slice(0, before), consequences: part.consequences?.slice(0, after) }
    : part;

/** A cycle at a place in it: all of it, a moment (`at`, from 1) or a phase. */
export function cut(light: Light, parts: CycleParts | null, { at, phase: asked }: { at: number; phase: string }): Come {
  const open = light.result === "undecided"; // the server answers no more of it
  const phase = asked || (open && !at ? (light.phases.at(-1) ?? "") : "");
  if (!at && !phase && !open) return { light, parts, reached: OVER };
  const { moments } = parts ?? {};
  if (!parts || !moments || at < 0)
    return {
      light: blank(light, phase),
      parts: null,
      reached: { tried: phase !== "", waits: false, over: false, whole: false },
    };
  if (at >= moments.length && !open) return { light, parts, reached: OVER };
  const last = light.phases.at(-1) ?? "";
  const tried = moments.findIndex(({ kind }) => kind === "attempt");
  const to = phase || (at > tried ? last : "");
  const found = upTo(light, parts, to);
  if (at) {
    found.light.events = light.events.slice(0, moments[at - 1].events);
    const groups = around(found.parts.podgroups, Math.min(at, tried), 0);
    found.parts.podgroups = groups;
    if (at > tried && groups && !("native" in groups)) {
      const consequences = parts.podgroups?.consequences ?? [];
      found.parts.podgroups = around({ ...groups, consequences }, tried, at - tried - 1);
    }
  }
  const over = to !== "" && to === last && !open;
  return { ...found, reached: { tried: to !== "", waits: over || waits(to), over, whole: false } };
}

const AT_REST = "The queues are recorded at the end of the run, which this moment precedes.";

/**
 * The end of a run at a moment before it; `previous` are the parts of the last cycle, null while they are not known.
 */
export function cutEnd(end: CycleParts | null, previous: CycleParts | null, { at }: { at: number }): CycleParts | null {
  const { moments = [], events = [], podgroups } = end ?? {};
  if (!end || at <= 0 || at >= moments.length) return end;
  const { time, events: seen } = moments[at - 1];
  return {
    ...end,
    time,
    story: [["The last cycle is over; the run has not ended yet."]],
    moments: moments.slice(0, at),
    events: events.slice(0, seen),
    podgroups: podgroups && groupsAt(podgroups, previous?.podgroups, at),
    queue: { why: AT_REST },
  };
}

/** The groups at a moment before the end, with what happened to them until then. */
function groupsAt(end: AnyPodGroups, previous: AnyPodGroups | undefined, at: number): AnyPodGroups {
  const groups = groupsBefore(end, previous);
  return "native" in groups ? groups : around({ ...groups, consequences: [] }, at, 0);
}

/** The groups as they are before the end: as the last cycle left them, where that is known. */
function groupsBefore(end: AnyPodGroups, previous: AnyPodGroups | undefined) {
  if (!("groups" in end)) return end;
  if (!previous || !("groups" in previous)) return { ...end, groups: [], count: 0, group: null };
  const { groups, count, time } = previous;
  return { ...end, groups, count, time, group: null };
}
