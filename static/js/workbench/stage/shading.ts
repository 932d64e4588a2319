// What the cells of the overview are shaded by.

import { CLASSES } from "../view/colours.ts";
import { LEVELS } from "./palette.ts";
import type { Palette } from "./palette.ts";
import type { Facts, View } from "../view/view.ts";

export const MEASURES = {
  use: "cpu or memory",
  cpu: "cpu",
  memory: "memory",
  pods: "pods",
  score: "score",
  colour: "pods' colour",
};

const NO_PODS = 255;

export class Shading {
  holders: Set<number> | null = null; // the nodes with pods of the colour that is lit up
  #most = new Uint8Array(0); // of each node the colour that most of its pods have

  constructor(
    readonly view: View,
    public measure: string,
  ) {}

  /** Follow what has changed; `holders` are the nodes with pods of the colour that is lit up, null if none is. */
  update(holders: Set<number> | null) {
    this.holders = holders;
    if (this.measure === "colour") this.#count();
  }

  /** Find the colour of most pods of each node. */
  #count() {
    const { cluster, nodes } = this.view.playback;
    const { codes } = this.view.colours;
    const width = CLASSES.length;
    const amounts = new Uint16Array(nodes.names.length * width);
    cluster.placement.forEach((node, pod) => {
      if (node >= 0) amounts[node * width + codes[pod]] += 1;
    });
    this.#most = new Uint8Array(nodes.names.length).fill(NO_PODS);
    for (let node = 0; node < nodes.names.length; node += 1) {
      let most = 0;
      for (let code = 0; code < width; code += 1) {
        const own = amounts[node * width + code];
        if (own > most) {
          most = own;
          this.#most[node] = code;
        }
      }
    }
  }

  /**
   * The fill of a node's cell in the palette `c`, "" where there is none; a cell too small for a stripe shows by its
   * tint that the pod does not fit.
   */
  of(node: number, c: Palette, tinted: boolean) {
    const { facts, lit } = this.view;
    if (!this.view.exists(node)) return "";
    const state = this.view.verdictOf(node);
    const failed = state === "failed";
    const out =
      ((failed || state === "unreached") && facts.chosen !== node && !this.holders)
      || (lit && !lit.nodes.has(node))
      || (this.holders && !this.holders.has(node));
    if (this.measure === "colour" && this.#most.length) {
      const most = this.#most[node];
      return most === NO_PODS ? (out ? c.dimmed : c.ramp)[0] : (out ? c.podsDimmed : c.pods)[most];
    }
    if (tinted && failed && out && !lit) return c.tinted;
    return (out ? c.dimmed : c.ramp)[Math.max(0, Math.min(LEVELS, Math.round(this.#value(node, facts) * LEVELS)))];
  }

  #value(node: number, facts: Facts) {
    const { cluster, nodes } = this.view.playback;
    if (this.measure === "score") {
      const total = facts.totals?.get(node);
      return total === undefined
        ? 0
        : facts.best > facts.worst
          ? (total - facts.worst) / (facts.best - facts.worst)
          : 1;
    }
    const cpu = nodes.cpu[node] ? cluster.cpu[node] / nodes.cpu[node] : 0;
    const memory = nodes.memory[node] ? cluster.memory[node] / nodes.memory[node] : 0;
    if (this.measure === "cpu") return cpu;
    if (this.measure === "memory") return memory;
    if (this.measure === "pods") return nodes.pods[node] ? cluster.count[node] / nodes.pods[node] : 0;
    return Math.max(cpu, memory);
  }
}
