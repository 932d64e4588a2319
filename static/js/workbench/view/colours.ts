// What colours a pod: its workload, priority, PodGroup, namespace, or how long it has been on its node. The most
// frequent names have colours of their own; amounts have steps of one colour, so that more looks like more.

import { age, count, short } from "../../lib/quantity.ts";
import { workload } from "./workload.ts";
import { follow } from "../playback/store.ts";
import type { PodIndex, Pods } from "../../lib/protocol.js";
import type { Playback } from "../playback/playback.ts";

export type Colour = "workload" | "priority" | "podgroup" | "namespace" | "age";
/**
 * What a pod's name of a category is, its label and the words of a tooltip; `none` is the name of those without one.
 */
export type Naming = {
  of: (pod: PodIndex) => any;
  none?: any;
  describe: (name: any) => [label: string, title: string];
};

export const COLOURS: Record<Colour, string> = {
  workload: "workload",
  priority: "priority",
  podgroup: "PodGroup",
  namespace: "namespace",
  age: "age",
};
const NAMES = 9; // that have a colour of their own; the rest shares one
const STEPS = 6;
export const CLASSES = [
  ...Array.from({ length: NAMES + 1 }, (_, i) => `g${i}`),
  ...Array.from({ length: STEPS }, (_, i) => `r${i}`),
  "gn",
];
const FIRST_STEP = NAMES + 1;
const OTHER = CLASSES.length - 1;

// Ages: what is younger than the bound has the step; in cycles where time stands still, else in virtual seconds.
const AGES: Record<"cycles" | "seconds", [bound: number, label: string][]> = {
  cycles: [
    [1, "this cycle"],
    [10, "< 10 cycles"],
    [100, "< 100"],
    [1_000, "< 1,000"],
    [Infinity, "older"],
  ],
  seconds: [
    [10, "< 10s"],
    [60, "< 1m"],
    [600, "< 10m"],
    [3_600, "< 1h"],
    [Infinity, "older"],
  ],
};
const BEFORE = "from the start";

/** Whether there is a colouring of this name. */
export const isColour = (name: string | undefined): name is Colour =>
  name !== undefined && Object.hasOwn(COLOURS, name);

const NAMED: Record<Exclude<Colour, "priority" | "age">, (pods: Pods) => Naming> = {
  workload: ({ group, groups }) => ({
    of: (pod) => group[pod],
    describe: (at) => {
      const { name = "", title = "" } = workload(groups, at) ?? {};
      return groups[at].name ? [name, title] : ["no controller", "pods without a controller"];
    },
  }),
  namespace: ({ keys }) => ({
    of: (pod) => keys[pod].slice(0, keys[pod].indexOf("/")),
    describe: (name) => [name, `namespace ${name}`],
  }),
  podgroup: ({ podGroup = [], podGroups = [] }) => ({
    of: (pod) => podGroup[pod] ?? -1,
    none: -1,
    describe: (at) =>
      at < 0 ? ["no PodGroup", "pods that name no PodGroup"] : [short(podGroups[at]), `PodGroup ${podGroups[at]}`],
  }),
};

export class Colours {
  version = 0;
  #codes = new Uint8Array(0); // of each pod: which of CLASSES
  #entries: { code: number; label: string; title: string }[] = [];
  #ranks: Map<any, number> = new Map(); // of a name: its code
  #aged = ""; // for what the ages were worked out

  constructor(readonly playback: Playback) {
    follow(playback.store.scenario, () => {
      this.#ranks.clear();
      this.#work();
    });
    follow(playback.store.pods, () => this.#work());
  }

  /** The pods are coloured by something else now. */
  changed() {
    this.#ranks.clear();
    if (this.playback.pods) this.#work();
  }

  get #by() {
    const { colour } = this.playback.store.look.peek();
    return isColour(colour) ? colour : "workload";
  }

  classOf(pod: PodIndex) {
    return CLASSES[this.codes[pod] ?? OTHER];
  }

  /** The number of each pod's class, as long as the table of pods. */
  get codes() {
    this.#refresh();
    return this.#codes;
  }

  /** What the colours mean: `{code, label, title}`, in the order of the legend. */
  get entries() {
    this.#refresh();
    return this.#entries;
  }

  #refresh() {
    const { playback } = this;
    if (this.#by === "age" && this.#aged !== `${playback.index}/${playback.marks.version}`) this.#work();
  }

  #work() {
    const { pods } = this.playback;
    this.#codes = new Uint8Array(pods.keys.length).fill(OTHER);
    const by = this.#by;
    if (by === "age") this.#ages();
    else if (by === "priority") this.#priorities(pods);
    else this.#names(NAMED[by](pods), pods.keys.length);
    this.version += 1;
  }

  #names({ of, describe, none }: Naming, length: number) {
    const amounts: Map<any, number> = new Map();
    for (let pod = 0; pod < length; pod += 1) amounts.set(of(pod), (amounts.get(of(pod)) ?? 0) + 1);
    const names = [...amounts.keys()].filter((name) => name !== none);
    const fresh = names.filter((name) => !this.#ranks.has(name));
    const amountOf = (name: any) => amounts.get(name) ?? 0;
    if (names.length > NAMES + 1) fresh.sort((a, b) => amountOf(b) - amountOf(a));
    for (const name of fresh) this.#ranks.set(name, Math.min(this.#ranks.size, NAMES));
    const many = this.#ranks.size > NAMES + 1;
    const codeOf = (name: any) =>
      name === none || (many && this.#ranks.get(name) === NAMES) ? OTHER : (this.#ranks.get(name) ?? OTHER);
    for (let pod = 0; pod < length; pod += 1) this.#codes[pod] = codeOf(of(pod));
    this.#entries = [...this.#ranks.keys()]
      .filter((name) => codeOf(name) !== OTHER)
      .map((name) => {
        const [label, title] = describe(name);
        return { code: codeOf(name), label, title };
      });
    const rest = names.filter((name) => codeOf(name) === OTHER).length;
    if (rest)
      this.#entries.push({
        code: OTHER,
        label: `${count(rest)} others`,
        title: "those with fewer pods, in one colour",
      });
    else if (none !== undefined && amounts.has(none)) {
      const [label, title] = describe(none);
      this.#entries.push({ code: OTHER, label, title });
    }
  }

  #priorities({ priority }: Pods) {
    const values = [...new Set(priority)].sort((a, b) => a - b);
    const steps = Math.min(STEPS, values.length);
    const stepOf = new Map(values.map((value, i) => [value, Math.floor((i * steps) / values.length)]));
    // Few steps lie far apart: 0 and 1000 are no shades that one has to compare.
    const codeOf = (step: number) => FIRST_STEP + (steps === 1 ? 2 : Math.round((step * (STEPS - 1)) / (steps - 1)));
    priority.forEach((value, pod) => {
      this.#codes[pod] = codeOf(stepOf.get(value) ?? 0);
    });
    this.#entries = Array.from({ length: steps }, (_, step) => {
      const own = values.filter((value) => stepOf.get(value) === step);
      const text = own.length > 1 ? `${own[0]} to ${own.at(-1)}` : String(own[0]);
      return { code: codeOf(step), label: text, title: `priority ${text}` };
    }).reverse();
  }

  #ages() {
    const { playback } = this;
    const { marks, cluster, timed } = playback;
    this.#aged = `${playback.index}/${marks.version}`;
    const placed = new Int32Array(this.#codes.length);
    for (let i = 1; i <= Math.min(playback.cycle, marks.known); i += 1)
      if (marks.node[i] >= 0) placed[marks.pod[i]] = i;
    const bounds = AGES[timed ? "seconds" : "cycles"];
    const now = playback.time ?? 0;
    for (let pod = 0; pod < placed.length; pod += 1) {
      if (cluster.placement[pod] < 0) continue;
      const since = placed[pod] ? (timed ? now - marks.time[placed[pod]] : playback.cycle - placed[pod]) : -1;
      this.#codes[pod] = since < 0 ? OTHER : FIRST_STEP + STEPS - 1 - bounds.findIndex(([bound]) => since < bound);
    }
    this.#entries = [
      ...bounds.map(([, label], i) => ({
        code: FIRST_STEP + STEPS - 1 - i,
        label,
        title: `how long the pod has been on its node, in ${timed ? `virtual time, at ${age(now)}` : "cycles"}`,
      })),
      { code: OTHER, label: BEFORE, title: "there before the first cycle, or put there from outside" },
    ];
  }
}
