// A cycle cut to a moment inside it: what every panel reads instead of the whole. The server says what is different by
// then (`cuts`, the latest phase first, each as its difference from the one before); here it is put together.

import { waits } from "./phases.js";

/** What has come to pass of a cycle that is shown whole. */
const OVER = { tried: true, waits: true, over: true, whole: true };

/** A cheap record of which nothing is known but the pod, while the rest is being loaded. */
function blank(light, phase) {
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
function upTo(light, parts, phase) {
  const cut = { light: { ...light }, parts: { ...parts } };
  for (const { phase: at, light: fields, parts: differing, instead } of parts.cuts) {
    Object.assign(cut.light, fields);
    Object.assign(cut.parts, instead);
    for (const [name, other] of Object.entries(differing)) {
      const [part, inner] = name.split(".");
      cut.parts[part] = {
        ...cut.parts[part],
        ...(inner ? { [inner]: { ...cut.parts[part][inner], ...other } } : other),
      };
    }
    if (at === phase) break;
  }
  if (!cut.light.phases.includes("predicates")) cut.parts.verdict = null;
  return cut;
}

/** The first of what happened around a cycle; of groups that no one has, nothing. */
const around = (part, before, after) =>
  part?.happenings
    ? { ...part, happenings: part.happenings.slice(0, before), consequences: part.consequences.slice(0, after) }
    : part;

/**
 * `{light, parts, reached}` of a cycle at a place in it: all of it, a moment (`at`, from 1) or a phase. `reached` is
 * `{tried, waits, over, whole}`: whether the pod is tried, may wait at Permit, whether the attempt is over, and whether
 * all its consequences have come.
 */
export function cut(light, parts, { at, phase }) {
  if (!at && !phase) return { light, parts, reached: OVER };
  const { moments } = parts ?? {};
  if (!moments || at < 0)
    return {
      light: blank(light, phase),
      parts: null,
      reached: { tried: phase !== "", waits: false, over: false, whole: false },
    };
  if (at >= moments.length) return { light, parts, reached: OVER };
  const last = light.phases.at(-1) ?? "";
  const tried = moments.findIndex(({ kind }) => kind === "attempt");
  const to = phase || (at > tried ? last : "");
  const found = upTo(light, parts, to);
  if (at) {
    found.light.events = light.events.slice(0, moments[at - 1].events);
    found.parts.podgroups = around(found.parts.podgroups, Math.min(at, tried), 0);
    if (at > tried)
      found.parts.podgroups = around(
        { ...found.parts.podgroups, consequences: parts.podgroups?.consequences ?? [] },
        tried,
        at - tried - 1,
      );
  }
  const over = to !== "" && to === last;
  return { ...found, reached: { tried: to !== "", waits: over || waits(to), over, whole: false } };
}

const AT_REST = "The queues are recorded when the run is over, and at this moment it is not.";

/** The end of a run at a moment before it; `former` are the parts of the last cycle, null while they are not known. */
export function cutEnd(end, former, { at }) {
  if (!end || at <= 0 || at >= end.moments.length) return end;
  const { groups, count, time } = former?.podgroups ?? {};
  const podgroups = end.podgroups.groups
    ? { ...end.podgroups, ...(groups ? { groups, count, time } : { groups: [], count: 0 }), group: null }
    : end.podgroups;
  return {
    ...end,
    time: end.moments[at - 1].time,
    story: [["The last cycle is over; the run is not yet."]],
    moments: end.moments.slice(0, at),
    events: end.events.slice(0, end.moments[at - 1].events),
    podgroups: around({ ...podgroups, consequences: [] }, at, 0),
    queue: { why: AT_REST },
  };
}
