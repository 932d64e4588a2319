// Which pods are on another node on the other side, at the row that both sides show. Pods and nodes are matched by
// their names: the sides may be two clusters.

import { PENDING } from "../workbench/playback/cluster.ts";
import type { Side } from "./side.tsx";

const LISTED = 200; // pods that are named

export type Moved = [pod: string, left: string, right: string];

export class Elsewhere {
  #partners: Int32Array[] = []; // of each pod of a side: its number on the other one, -1 without
  #known = ""; // the lengths of both tables that they were made of
  flags: Uint8Array[] = [new Uint8Array(0), new Uint8Array(0)]; // of each pod of a side
  listed: Moved[] = [];
  count = 0;

  constructor(readonly sides: readonly [Side, Side]) {}

  update() {
    const playbacks = this.sides.map(({ playback }) => playback);
    this.#match();
    this.listed = [];
    this.count = 0;
    this.flags = playbacks.map(({ pods }) => new Uint8Array(pods.keys.length));
    const placeOf = (side: number, pod: number) => {
      const at = pod < 0 ? PENDING - 1 : playbacks[side].cluster.placement[pod];
      return at >= 0 ? playbacks[side].nodes.names[at] : at === PENDING ? "pending" : "not there";
    };
    playbacks[0].pods.keys.forEach((key, pod) => this.#add(key, pod, this.#partners[0][pod], placeOf));
    playbacks[1].pods.keys.forEach((key, pod) => {
      if (this.#partners[1][pod] < 0) this.#add(key, -1, pod, placeOf);
    });
  }

  #add(key: string, left: number, right: number, placeOf: (side: number, pod: number) => string) {
    const [here, there] = [placeOf(0, left), placeOf(1, right)];
    if (here === there) return;
    this.count += 1;
    if (left >= 0) this.flags[0][left] = 1;
    if (right >= 0) this.flags[1][right] = 1;
    if (this.listed.length < LISTED) this.listed.push([key, here, there]);
  }

  #match() {
    const tables = this.sides.map(({ playback }) => playback.pods.keys);
    const known = tables.map(({ length }) => length).join("/");
    if (known === this.#known) return;
    this.#known = known;
    this.#partners = tables.map((keys, side) => {
      const others = new Map(tables[1 - side].map((key, pod) => [key, pod]));
      return Int32Array.from(keys, (key) => others.get(key) ?? -1);
    });
  }
}
