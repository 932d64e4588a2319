// Following who leads, and leading: the one brings this page to where the room is, the other sends the room there.
// A viewer who goes elsewhere is on their own until they rejoin.

import { perFrame } from "../../lib/dom.ts";
import { CellMark, cellAt, cellOf } from "../view/cells.ts";
import { bring, elsewhere, missed, placeOf, targetOf } from "./place.ts";
import { follow } from "../playback/store.ts";
import type { Position } from "../../lib/protocol.js";
import type { Address } from "../address/address.ts";
import type { Layout } from "../layout/layout.ts";
import type { View } from "../view/view.ts";
import type { Cell } from "../view/cells.ts";
import type { Target } from "./place.ts";
import type { Room } from "./room.ts";

const TOLD = 2000; // milliseconds between two reports of where this page is
const PATIENCE = 4000; // milliseconds after which a page that is not where the room is cannot follow
const NODE = "node"; // a spotlight on a node is ["node", its name], one on a cell the cell

/** Writes the room to the store when it is followed, no more, or in vain: `lost` says why. */
export class Follow {
  room: Room;
  view: View;
  address: Address;
  layout: Layout;
  mark: CellMark;
  attached = true;
  lost = "";
  #target: Target | null = null;
  #moving = false; // while this page is brought somewhere
  #scene = -1; // of the position that was applied last
  #turn = 0;
  #telling = 0; // the timers
  #waiting = 0;
  #reported = JSON.stringify(["", ""]); // the step and why it is lost
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
    const { wanted, step, moment, tab, subs, selection, look, stage } = store;
    follow([wanted, step, moment, tab, subs, selection, look, stage], moved);
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
    room.moved.on(() => this.#came());
    // Who is handed the lead goes on from where the room is.
    room.roleChanged.on(() => this.#scene >= 0 && this.rejoin());
    follow(store.shown, () => this.lost && this.#look());
  }

  #change() {
    this.view.store.room.value = {};
  }

  get leads() {
    return this.room.leads;
  }

  /** Go back to where the room is. */
  rejoin() {
    this.attached = true;
    this.#report();
    void this.#apply();
    this.#change();
  }

  /** There is a new position: who leads follows where the room went elsewhere, or somebody else led it. */
  #came() {
    if (this.leads || this.attached || this.#scene < 0) void this.#apply();
    this.#change();
  }

  async #apply() {
    const turn = ++this.#turn;
    this.#expect();
    await this.#shown();
    await this.room.veiled;
    const { position } = this.room;
    if (turn !== this.#turn || !position) return;
    let target;
    try {
      target = await targetOf(this.view, position);
    } catch (error) {
      this.view.playback.failed(error);
      return;
    }
    if (turn !== this.#turn) return;
    const { layout, view } = this;
    const another = this.#target?.tab !== target.tab;
    const first = this.#scene < 0;
    this.#moving = true;
    bring(view, target, this.#target);
    this.#moving = false;
    this.#target = target;
    this.#scene = position.scene;
    const cell = cellOf(position.cell);
    this.spot = position.spot ?? null;
    this.mark.show(cell, { spot: Boolean(cellOf(this.spot)) });
    this.#light();
    if (layout.single && !first && (another || cell)) layout.show(this.spot?.[0] === NODE ? "stage" : "inspect");
    this.#change();
  }

  /** Look soon whether this page is where it was brought to. */
  #expect() {
    clearTimeout(this.#waiting);
    this.#waiting = window.setTimeout(() => this.#look(), PATIENCE);
  }

  /** Tell its viewer, and who leads, whether this page can follow. */
  #look() {
    const follows = this.attached && !this.leads && this.room.state === "here";
    const why = this.#target ? missed(this.view, this.#target) : "the scenario is not open in this page";
    const lost = follows ? why : "";
    if (lost === this.lost) return;
    this.lost = lost;
    this.#report();
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
    // Before this page is where the room went, what it shows is of the place before.
    if (this.#scene < 0 || this.#scene !== this.room.position?.scene || this.view.playback.index < 0) return;
    if (this.leads) {
      const cell = this.mark.cell;
      this.room.move({
        ...placeOf(this.address),
        ...(cell ? { cell } : {}),
        ...(this.spot ? { spot: this.spot } : {}),
      });
    } else if (this.attached && !this.#moving && this.#target && elsewhere(this.view, this.#target)) {
      if (this.room.projects) {
        void this.#apply(); // a projector shows the room, whatever is pressed
        return;
      }
      this.attached = false;
      this.lost = "";
      this.#report();
      this.spot = null;
      this.mark.show(null);
      this.#light();
      this.#change();
    } else if (!this.attached) this.#report();
  }

  /** Report to who leads where one is alone, or why one cannot follow, now and then. */
  #report() {
    if (this.leads || this.#telling) return;
    this.#telling = window.setTimeout(() => {
      this.#telling = 0;
      const step = this.attached ? "" : String(this.view.playback.index);
      const reported = JSON.stringify([step, this.lost]);
      if (reported !== this.#reported) void this.room.place(step, this.lost);
      this.#reported = reported;
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
