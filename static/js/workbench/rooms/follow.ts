// Following who leads, and leading: the one brings this page to where the room is, the other sends that to the room.
// A viewer who goes elsewhere is on their own until they rejoin.

import { perFrame } from "../../lib/dom.ts";
import { CellMark, cellAt, cellOf } from "./cells.ts";
import { bring, elsewhere, placeOf, targetOf } from "./place.ts";
import { follow } from "../store.ts";
import type { Position } from "../../lib/protocol.js";
import type { Address } from "../address.ts";
import type { Layout } from "../layout.ts";
import type { View } from "../view.ts";
import type { Cell } from "./cells.ts";
import type { Target } from "./place.ts";
import type { Room } from "./room.ts";

const PLACES = ["step", "at", "phase", "tab", "view", "node", "pod"]; // keys of an address that name a place
const TOLD = 2000; // milliseconds between two places of one's own that are sent
const NODE = "node"; // a spotlight on a node is ["node", its name], one on a cell the cell

/** Writes the room to the store when it is followed or no more. */
export class Follow {
  room: Room;
  view: View;
  address: Address;
  layout: Layout;
  mark: CellMark;
  attached = true;
  #target: Target | null = null;
  #moving = false; // while this page is brought somewhere
  #came = false; // whether the first position was applied
  #turn = 0;
  #telling = 0; // the timer
  #placed = ""; // the step
  spot: Position["spot"] | null = null;

  constructor({
    room,
    view,
    address,
    layout,
    inspect,
  }: {
    room: Room;
    view: View;
    address: Address;
    layout: Layout;
    inspect: HTMLElement;
  }) {
    this.room = room;
    this.view = view;
    this.address = address;
    this.layout = layout;
    this.mark = new CellMark(inspect);
    const { store } = view;
    const moved = perFrame(() => this.#moved());
    follow([store.wanted, store.step, store.moment, store.tab, store.subs, store.selection], moved);
    follow(store.pending, (pending) => pending && moved());
    follow(store.tab, () => {
      if (this.leads) this.#pick(null);
    });
    follow(store.selection, () => {
      if (this.leads && view.node < 0 && view.pod < 0) this.#pick(null);
    });
    follow(store.wanted, () => this.#light()); // which put every light out
    inspect.addEventListener("focusin", (event) => {
      const cell = event.target instanceof Element ? cellAt(event.target) : null;
      if (cell && this.leads) this.#pick(cell);
    });
    room.on("position", (position) => this.#position(position));
    room.on("role", () => this.#turned());
  }

  #change() {
    this.view.store.room.value = { room: this.room };
  }

  get leads() {
    return this.room.leads;
  }

  /** Go back to where the room is. */
  rejoin() {
    this.attached = true;
    this.#tell();
    this.#apply(this.room.position);
    this.#change();
  }

  #position(position: Position) {
    const asked = new URLSearchParams(location.search);
    if (this.leads) {
      if (this.#came && position.stop) this.#apply(position);
      else if (this.#came) this.#moved();
      else if (PLACES.some((key) => asked.has(key))) this.#begin();
      else this.#apply(position);
    } else if (this.attached) this.#apply(position);
    this.#change();
  }

  /** The leader's page is where its address is: the room goes there. */
  #begin() {
    this.#came = true;
    this.#moved();
  }

  /** Who is handed the lead goes on from where the room is. */
  #turned() {
    if (this.#came) this.rejoin();
  }

  async #apply(position: Position | null) {
    const turn = ++this.#turn;
    await this.#shown();
    if (turn !== this.#turn || !position) return;
    let target;
    try {
      target = await targetOf(this.view, position);
    } catch (error) {
      this.view.playback.emit("failed", error);
      return;
    }
    if (turn !== this.#turn) return;
    const { layout, view } = this;
    const another = this.#target?.tab !== target.tab;
    this.#target = target;
    this.#moving = true;
    bring(view, target);
    this.#moving = false;
    const cell = cellOf(position.cell);
    this.spot = position.spot ?? null;
    this.mark.show(cell, { spot: Boolean(cellOf(this.spot)) });
    this.#light();
    if (layout.single && this.#came && (another || cell)) layout.show(this.spot?.[0] === NODE ? "stage" : "inspect");
    this.#came = true;
    this.#change();
  }

  /** Resolve once there is something on screen. */
  #shown() {
    const { playback } = this.view;
    if (playback.index >= 0) return Promise.resolve();
    return new Promise((resolve) => {
      const stop = follow(playback.store.step, () => {
        stop();
        resolve(undefined);
      });
    });
  }

  /** Something was gone to, selected or opened: by who leads, or by somebody who goes their own way. */
  #moved() {
    if (!this.#came || this.view.playback.index < 0) return;
    if (this.leads) {
      const cell = this.mark.cell;
      this.room.move({
        ...placeOf(this.address),
        ...(cell ? { cell } : {}),
        ...(this.spot ? { spot: this.spot } : {}),
      });
    } else if (this.attached && !this.#moving && this.#target && elsewhere(this.view, this.#target)) {
      this.attached = false;
      this.#tell();
      this.spot = null;
      this.mark.show(null);
      this.#light();
      this.#change();
    } else if (!this.attached) this.#tell();
  }

  /** Tell who leads where one is alone, now and then. */
  #tell() {
    if (this.leads || this.#telling) return;
    this.#telling = window.setTimeout(() => {
      this.#telling = 0;
      const step = this.attached ? "" : String(this.view.playback.index);
      if (step !== this.#placed) this.room.place((this.#placed = step));
    }, TOLD);
  }

  #pick(cell: Cell | null) {
    const onCell = cellOf(this.spot) !== null;
    if (onCell) this.spot = cell;
    this.mark.show(cell, { spot: onCell && cell !== null, reveal: false });
    this.#moved();
    if (onCell) this.#change();
  }

  /** Put the spotlight on the highlighted cell, else on the selected node, or out; true if there was anything. */
  toggleSpot() {
    const { playback, spot } = this.view;
    const node = spot?.node ?? this.view.node;
    if (this.spot) this.spot = null;
    else if (this.mark.cell) this.spot = this.mark.cell;
    else if (node >= 0) this.spot = [NODE, playback.nodes.names[node]];
    else return false;
    this.mark.show(this.mark.cell, { spot: cellOf(this.spot) !== null, reveal: false });
    this.#light();
    this.#moved();
    this.#change();
    return true;
  }

  #light() {
    const { view } = this;
    const name = this.spot?.[0] === NODE && this.spot.length === 2 ? this.spot[1] : "";
    const node = name ? (view.playback.nodeIndex.get(name) ?? -1) : -1;
    if (node >= 0 && !(view.lit?.label === "spotlight" && view.lit.nodes.has(node))) {
      view.light(null);
      view.light([node], "spotlight");
    } else if (node < 0 && view.lit?.label === "spotlight") view.light(null);
  }
}
