// The stage: picks cards or heat map by size, the table beside them, and the sheet of what is selected.

import { nodesOf } from "../../kit/node.tsx";
import { h, perFrame } from "../../lib/dom.ts";
import { Grid } from "../../lib/grid.ts";
import { Cards } from "./cards.ts";
import { HeatMap } from "./heat.ts";
import { sheetOf } from "./sheet.tsx";
import { CLASSES } from "../view/colours.ts";
import { nodeColumns } from "./columns.ts";
import { NoNodes, drawFrame } from "./frame.tsx";
import { InView } from "./inview.tsx";
import { Motion } from "./motion.ts";
import { follow } from "../playback/store.ts";
import type { View } from "../view/view.ts";

/** Cards or the heat map, with what only one of them has. */
export type Picture = {
  element: HTMLElement;
  update: (holders?: Set<number> | null) => void;
  reveal: (node: number, how?: { close?: boolean }) => void;
  inView: (node: number) => boolean;
  stale: () => boolean;
  end: () => void;
  cover: (height: number) => void;
  home?: () => void;
  mounted?: (host: HTMLElement) => void;
  blockOf?: (pod: number) => HTMLElement | null;
  onMoved?: () => void;
};

const FULL_CARDS = 60;
const COMPACT_CARDS = 200;
const FLYING = 12; // pods that move at once
const FAR = 25; // cycles: over a longer jump nothing moves, for nearly everything would

export class Stage {
  body: HTMLDivElement;
  sheet: HTMLElement & { className: string; ariaLabel: string };
  inView: InView;
  follow: () => void;
  locate: () => void;
  #picture: Picture | null = null;
  #table: Grid | null = null;
  #tableEnd = new AbortController();
  #motion = new Motion();
  #before: Int32Array | null = null; // the placement that was drawn last, to see who moved
  #from = 0; // the cycle of that
  #labels = 0; // the version of the nodes' table that the groups were made from
  #tabled = false; // whether the table is mounted
  #held: import("./legend.tsx").Held = { amounts: new Uint32Array(CLASSES.length), holders: new Set() };

  constructor(
    readonly host: HTMLElement,
    readonly view: View,
  ) {
    this.body = h("div", { class: "stage-body", tabindex: "-1" });
    this.sheet = sheetOf(view);
    this.inView = new InView(view, this.body);
    this.follow = perFrame(() => this.inView.follow());
    this.locate = perFrame(() => this.#locate());
    this.#frame();
    new ResizeObserver(() => this.#cover()).observe(this.sheet);
    follow(view.store.scenario, () => this.#open());
    follow([view.store.step, view.store.moment], () => this.#step());
    follow(view.store.parts, () => this.update());
    follow(view.store.selection, () => {
      this.locate();
      this.#mark();
    });
    follow(view.store.lit, () => {
      this.#frame();
      this.#mark();
    });
    follow(view.store.hovered, (node) => {
      if (this.asTable) this.#table?.hover(node);
      else this.#mark();
    });
    follow(view.store.only, () => this.update());
    follow(view.store.stage, () => this.#shown());
    view.actions.relist.on(() => {
      if (this.#table) {
        this.#dropTable();
        this.#mount();
        this.update();
      }
    });
    follow(view.store.found, ({ reveal }) => {
      this.#frame();
      this.#mark();
      if (reveal && this.#picture) this.locate();
    });
    let { group } = view.look;
    follow(view.store.look, (look) => {
      const regrouped = look.group !== group;
      ({ group } = look);
      if (regrouped && this.#picture) {
        this.#draw();
        this.#mount();
        this.update();
      } else this.#frame();
    });
  }

  /** Draw what stands around the picture. */
  #frame() {
    drawFrame(this.host, {
      view: this.view,
      heat: this.#heat,
      rooms: this.#picture instanceof Cards && !this.#picture.compact,
      held: this.#held,
      inView: this.inView,
      sheet: this.sheet,
    });
  }

  /** The heat map, null where the nodes are cards. */
  get #heat() {
    return this.#picture instanceof HeatMap ? this.#picture : null;
  }

  /** Whether the nodes are shown as a table. */
  get asTable() {
    return this.view.shown.stage === "table";
  }

  /** Table or picture, and its measure, as somebody chose or the address asks. */
  #shown() {
    if (!this.#picture) return;
    const heat = this.#heat;
    if (heat && heat.measure !== this.view.shown.shade) {
      heat.measure = this.view.shown.shade;
      heat.update();
      this.#frame();
    }
    if (this.asTable === this.#tabled) return;
    this.#mount();
    this.update();
    this.follow();
  }

  #open() {
    const { names } = this.view.playback.nodes;
    this.#dropTable();
    this.#before = null;
    this.#labels = 0;
    if (names.length === 0) {
      this.#picture?.end();
      this.#picture = null;
      this.inView.take(null);
      this.body.replaceChildren(...nodesOf(NoNodes({ view: this.view })));
    } else {
      this.#draw();
      this.#mount();
    }
    this.#frame();
  }

  /** A new picture of the nodes, in their groups; the old one's choices stay. */
  #draw() {
    const { names } = this.view.playback.nodes;
    this.#picture?.end();
    const picture: Picture =
      names.length > COMPACT_CARDS
        ? new HeatMap(this.view, this.view.shown.shade)
        : new Cards(this.view, names.length > FULL_CARDS);
    picture.onMoved = () => this.inView.moved();
    this.#picture = picture;
  }

  /** The sheet lies over the lower end of the stage: pass on how much of it cannot be seen. */
  #cover() {
    const { offsetHeight } = this.sheet;
    this.host.style.setProperty("--sheet", `${offsetHeight}px`);
    this.#picture?.cover(offsetHeight);
    this.inView.update();
  }

  /** Show where the one is that was found or selected. */
  #locate() {
    this.#cover(); // the sheet may have come with it
    const { spot, search } = this.view;
    const node = spot?.node ?? this.view.node;
    if (!search.text) this.#picture?.home?.();
    if (node < 0) return;
    if (this.asTable) this.#table?.reveal(node);
    else this.#picture?.reveal(node, { close: Boolean(search.current) });
    this.inView.moved();
  }

  /** Draw a step, then let move what moved. */
  #step() {
    if (!this.#picture) return;
    const { playback, scrubbing } = this.view;
    const far = Math.abs(playback.index - this.#from) > FAR;
    this.#from = playback.index;
    const moves =
      this.#motion.step(this.host, { still: scrubbing || far || playback.wanted !== playback.index })
      && this.#before
      && !this.asTable
      && this.#picture instanceof Cards;
    const came = moves ? this.#came() : [];
    this.update();
    this.follow();
    if (came.length)
      this.#motion.fly(
        came,
        () => document.querySelector("[data-cycle-bar] .dot"),
        (pod: number) => this.#picture?.blockOf?.(pod),
      );
  }

  /** Who has come to a node with this step: at most as many as one can follow. */
  #came() {
    const { placement } = this.view.playback.cluster;
    const before = this.#before as Int32Array;
    const found = [];
    for (let pod = 0; pod < placement.length && found.length < FLYING; pod += 1)
      if (placement[pod] >= 0 && (before[pod] ?? -1) < 0) found.push(pod);
    return found;
  }

  #mount() {
    const picture = this.#picture as Picture;
    this.#tabled = this.asTable;
    this.body.replaceChildren(this.asTable ? this.#tableElement() : picture.element);
    if (!this.asTable) picture.mounted?.(this.body);
    picture.cover(this.sheet.offsetHeight); // a new one does not know of the sheet
    this.inView.take(this.asTable ? this.#table : picture);
    this.body.classList.toggle("has-table", this.asTable);
    this.body.classList.toggle("has-heat", !this.asTable && Boolean(this.#heat));
  }

  #dropTable() {
    this.#table = null;
    this.#tableEnd.abort();
    this.#tableEnd = new AbortController();
  }

  #tableElement() {
    const { view } = this;
    this.#table ??= new Grid({
      signal: this.#tableEnd.signal,
      kept: view.lists.list("stage", "stage"),
      onSort: () => view.lists.changed(),
      onUnknown: () => view.lists.unknown(view.lists.list("stage", "stage"), "stage"),
      label: "Nodes at this step",
      rowHeight: 28,
      className: "fill plain",
      onHover: (node) => view.hover(node),
      onSelect: (node) => view.selectNode(node === view.node ? -1 : node),
    });
    return this.#table.element;
  }

  update() {
    const { playback } = this.view;
    if (!this.#picture || playback.index < 0) return;
    this.#regroup();
    const holders = this.#hold();
    this.#frame();
    if (this.asTable) {
      this.#tableElement();
      const there = playback.nodes.names.map((_, node) => node).filter((node) => this.view.exists(node));
      this.#table?.show(nodeColumns(this.view), there);
      this.#table?.select(this.view.node);
    } else {
      this.#picture.update(holders);
      this.#motion.renew((pod: number) => this.#picture?.blockOf?.(pod));
    }
    this.#before = playback.cluster.placement.slice();
  }

  /** Nodes whose labels changed may belong to another group. */
  #regroup() {
    const { nodes } = this.view.playback;
    const now = nodes.version ?? 0;
    if (now === this.#labels) return;
    this.#labels = now;
    if (this.#picture?.stale()) {
      this.#draw();
      this.#mount();
    }
  }

  /** Count the pods of each colour; return the nodes with pods of the one that is lit up, null if none is. */
  #hold() {
    const { view } = this;
    const { placement } = view.playback.cluster;
    const { codes } = view.colours;
    const amounts = new Uint32Array(CLASSES.length);
    const holders: Set<number> | null = view.only >= 0 ? new Set() : null;
    for (let pod = 0; pod < placement.length; pod += 1) {
      if (placement[pod] < 0) continue;
      amounts[codes[pod]] += 1;
      if (holders && codes[pod] === view.only) holders.add(placement[pod]);
    }
    Object.assign(this.#held, { amounts, holders: holders ?? new Set() });
    return holders;
  }

  /** Draw again what is selected, lit or found. */
  #mark() {
    if (this.asTable) this.#table?.select(this.view.node);
    else if (this.view.playback.index >= 0) this.#picture?.update();
  }
}
