// What a breakpoint can be about, as a table: its words, what the marks know of it, and why it holds for a cycle that
// is loaded. A condition is a text as the server takes it: kind, then ":" and its object, then "@" and what narrows it.

import { plural, short } from "../../lib/quantity.ts";
import { LETTERS, turnWords } from "../playback/marks.ts";
import type { Light, NodeIndex, PodIndex, Turn } from "../../lib/protocol.js";
import type { Marks } from "../playback/marks.ts";
import type { Playback } from "../playback/playback.ts";
import type { Verdict } from "../playback/verdict.ts";
import type { View } from "../view/view.ts";

/** What is known of a cycle that is loaded, and the names of indices. */
export type Loaded = {
  light: Light;
  verdict?: Verdict | null;
  marks: Marks;
  names: string[];
  node: (i: NodeIndex) => string;
  pod: (i: PodIndex) => string;
};
/**
 * What a condition can be about. `marked` returns whether it holds, as far as the marks know. `why` returns in words
 * why it holds for a cycle that is loaded, "" where it does not.
 */
export type Kind = {
  title: string;
  about?: string;
  within?: string;
  /** whether it is always about one object */
  needs?: boolean;
  words: (about: string, within: string) => string;
  marked?: (facts: Known, index: number, about: string, within: string) => boolean;
  why: (facts: Loaded, about: string, within: string, index: number) => string;
  /** whether only the matrices show it */
  heavy?: boolean;
  /** whether the marks do not know all of it */
  asks?: boolean;
};
export type Known = ReturnType<typeof known>;
/** taken apart */
export type Condition = { kind: string; about: string; within: string };

const PENDING = -1;
/** The members of GeneralPredicates, by the reasons that only they give. */
const MEMBERS = [
  ["PodFitsResources", "Insufficient "],
  ["HostName", "node(s) didn't match the requested hostname"],
  ["PodFitsHostPorts", "node(s) didn't have free ports"],
  ["MatchNodeSelector", "node(s) didn't match node selector"],
];
/** What happens to a PodGroup, by what a condition names; any other name is that of a phase. */
const HAPPENS: Record<string, string> = {
  rejected: "is rejected",
  timeout: "times out",
  "": "changes phase, is rejected or times out",
};
const BUNDLE = "GeneralPredicates";
const NAMED = 2; // nodes that a reason names

const result = (marks: Marks, index: number) => LETTERS[marks.result[index]];
const nodesOf = (names: string[], count: number) =>
  count <= NAMED
    ? names.join(" and ")
    : `${names.slice(0, NAMED).join(", ")} and ${plural(count - NAMED, "more node")}`;

export const KINDS: Record<string, Kind> = {
  predicate: {
    title: "A predicate or filter fails",
    about: "predicate",
    within: "node",
    words: (about, within) => `${about || "any predicate"} fails${within ? ` on ${within}` : ""}`,
    why: ({ verdict, names }, about, within) => failures(verdict, names, about, within),
    heavy: true,
  },
  node: {
    title: "A node is chosen, nominated or changes",
    about: "node",
    needs: true,
    words: (about) => `${about} is chosen, nominated or changes`,
    marked: ({ marks, nodes }, index, about) =>
      marks.node[index] >= 0 && marks.node[index] === (nodes.get(about) ?? -1),
    why: ({ light, node, pod }, about) => {
      if (light.node !== null && node(light.node) === about) return `${about} is chosen for ${short(pod(light.pod))}`;
      if (light.nominated && node(light.nominated[0]) === about)
        return `${short(pod(light.pod))} is nominated to ${about}`;
      const change = light.nodes?.find(([changed]) => node(changed) === about);
      return change ? `${about} ${change[1] === null ? "is gone" : "changes"}` : "";
    },
    asks: true,
  },
  pod: {
    title: "A pod is tried, bound or deleted",
    about: "pod",
    needs: true,
    words: (about) => `${short(about)} is tried, bound or deleted`,
    marked: ({ marks, pods }, index, about) => marks.pod[index] === (pods.get(about) ?? -1),
    why: ({ light, node, pod }, about) => {
      if (pod(light.pod) === about) return `${short(about)} is tried`;
      const moved = light.changes.findLast(([changed]) => pod(changed) === about);
      if (!moved) return "";
      if (moved[1] >= 0) return `${short(about)} is bound to ${node(moved[1])}`;
      return `${short(about)} ${moved[1] === PENDING ? "waits for a node again" : "is deleted"}`;
    },
    asks: true,
  },
  unschedulable: {
    title: "A pod is unschedulable",
    about: "pod",
    words: (about) => `${about ? short(about) : "any pod"} is unschedulable`,
    marked: ({ marks, pods }, index, about) =>
      "uep".includes(result(marks, index)) && (!about || marks.pod[index] === (pods.get(about) ?? -1)),
    why: ({ light, pod }, about) =>
      ["unschedulable", "error"].includes(light.result) && (!about || pod(light.pod) === about)
        ? `${short(pod(light.pod))} ${light.result === "error" ? "ends in an error" : "is unschedulable"}`
        : "",
  },
  preemption: {
    title: "Any preemption",
    words: () => "any preemption",
    marked: ({ marks }, index) => result(marks, index) === "p",
    why: ({ light, node, pod }) =>
      light.nominated ? `preemption for ${short(pod(light.pod))} on ${node(light.nominated[0])}` : "",
  },
  stale: {
    title: "Any stale hit of the cache",
    words: () => "any stale hit of the cache",
    marked: ({ marks }, index) => (marks.caching?.stale[index] ?? 0) > 0,
    why: ({ light }) => (light.cache?.[3] ? `${plural(light.cache[3], "stale hit")} of the cache` : ""),
  },
  group: {
    title: "A PodGroup changes phase, is rejected or times out",
    about: "group",
    within: "phase",
    words: (about, within) =>
      `${about ? `PodGroup ${short(about)}` : "any PodGroup"} ${HAPPENS[within] ?? `is ${within}`}`,
    marked: ({ marks }, index, about, within) => turned(marks, index, about, within).length > 0,
    why: ({ marks }, about, within, index) => turned(marks, index, about, within).map(turnWords)[0] ?? "",
  },
  operation: {
    title: "Any change from outside",
    words: () => "any change from outside",
    marked: ({ marks }, index) => marks.operated[index] === 1,
    why: ({ marks }, about, within, index) => (marks.operated[index] ? "a change from outside" : ""),
  },
  restart: {
    title: "A restart of the scheduler",
    words: () => "a restart of the scheduler",
    marked: ({ marks }, index) => marks.restarted(index),
    why: ({ light }) => (light.restart ? "the scheduler was restarted" : ""),
  },
  cycle: {
    title: "A cycle",
    about: "cycle",
    needs: true,
    words: (about) => `cycle ${about}`,
    marked: (known, index, about) => index === Number(about),
    why: (facts, about, within, index) => (index === Number(about) ? `cycle ${about}` : ""),
  },
};

/** What happened to a PodGroup in a cycle: [kind, group, phase] each. */
function turned(marks: Marks, index: number, about: string, within: string): Turn[] {
  return (marks.groups.get(index) ?? []).filter(
    ([kind, group, phase]) => (!about || group === about) && (!within || within === (phase || kind)),
  );
}

/** Which nodes a predicate failed on, in words. */
function failures(verdict: Verdict | null | undefined, names: string[], about: string, within: string) {
  const only = within ? names.indexOf(within) : -1;
  if (!verdict || (within && only < 0)) return "";
  const own = verdict.order.includes(about) ? null : MEMBERS.find(([name]) => name === about)?.[1];
  const checked: [name: string, predicate: number][] = !about
    ? verdict.order.map((name, i) => [name, i])
    : [[about, verdict.order.indexOf(own ? BUNDLE : about)]];
  for (const [name, predicate] of checked) {
    if (predicate < 0) continue;
    const failed = [];
    for (let node = within ? only : 0; node < (within ? only + 1 : names.length); node += 1) {
      if (verdict.fits(node)) continue;
      const { state, reasons } = verdict.cell(node, predicate);
      if (
        (state === "fail" && (!own || reasons.some((reason) => reason.startsWith(own))))
        || (state === "error" && !own)
      )
        failed.push(names[node]);
    }
    if (failed.length) return `${name} failed on ${nodesOf(failed, failed.length)}`;
  }
  return "";
}

/** The predicates that can be named, by a policy: members of GeneralPredicates as well. */
export const named = (order: string[]) => [
  ...order,
  ...(order.includes(BUNDLE) ? MEMBERS.map(([name]) => name).filter((name) => !order.includes(name)) : []),
];

const LONGEST = 600;

/** Take a condition apart, as `{kind, about, within}`; null if it is none. */
export function parse(text: string): Condition | null {
  if (typeof text !== "string" || text.length > LONGEST) return null;
  const colon = text.indexOf(":");
  const kind = colon < 0 ? text : text.slice(0, colon);
  const row = Object.hasOwn(KINDS, kind) ? KINDS[kind] : null;
  const rest = colon < 0 ? "" : text.slice(colon + 1);
  const at = row?.within ? rest.lastIndexOf("@") : -1;
  const about = at < 0 ? rest : rest.slice(0, at);
  if (!row || (about && !row.about) || (row.needs && !about) || (kind === "cycle" && !/^[1-9]\d{0,8}$/.test(about)))
    return null;
  return { kind, about, within: at < 0 ? "" : rest.slice(at + 1) };
}

/** The same of a text that is one. */
export const taken = (text: string) => parse(text) as Condition;

/** The same put together. */
export const condition = (kind: string, about = "", within = "") =>
  `${kind}${about || within ? `:${about}` : ""}${within ? `@${within}` : ""}`;

/** A condition in words. */
export function words(text: string) {
  const { kind, about, within } = taken(text);
  return KINDS[kind].words(about, within);
}

/** What conditions are asked about, beside a cycle: marks, and indices by name. */
export const known = ({ marks, nodeIndex, podIndex }: Playback) => ({ marks, nodes: nodeIndex, pods: podIndex });

/** Whether the marks know that a condition holds of a cycle. */
export function marked(text: string, facts: ReturnType<typeof known>, index: number) {
  const { kind, about, within } = taken(text);
  return KINDS[kind].marked?.(facts, index, about, within) ?? false;
}

/** Why a condition holds of a cycle that is loaded, "" if it does not, null while that is not known. */
export function why(text: string, view: View, index: number) {
  const { playback } = view;
  const { kind, about, within } = taken(text);
  const light = playback.light(index);
  const heavy = playback.heavy(index);
  if (!light || (KINDS[kind].heavy && !heavy)) return null;
  const facts: Loaded = {
    light,
    verdict: heavy?.verdict,
    marks: playback.marks,
    names: playback.nodes.names,
    node: (i) => playback.nodes.names[i],
    pod: (i) => playback.pods.keys[i],
  };
  return KINDS[kind].why(facts, about, within, index);
}
