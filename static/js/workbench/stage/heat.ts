// The stage above some two hundred nodes: a canvas of cells in groups, that zooms and pans.

import { h, perFrame, announce, penOf } from "../../lib/dom.ts";
import { fillRail } from "../../lib/rail.ts";
import { arrange } from "./arrange.ts";
import { Camera } from "./camera.ts";
import { detail } from "./cell.ts";
import { rings, tag } from "./finds.ts";
import { grouped, wordsOf } from "../view/grouping.ts";
import { Minimap } from "./minimap.ts";
import { palette } from "./palette.ts";
import { Shading } from "./shading.ts";
import { DETAILED, hatch, headings, outline, strike } from "./strokes.ts";
import { describeNode } from "../view/nodewords.ts";
import type { View } from "../view/view.ts";

/** in pixels of the canvas */
export type Place = [x: number, y: number];

const STRIPED = 5; // pixels of a cell that has a stripe where the pod does not fit

export class HeatMap {
  cursor = -1;
  camera: Camera;
  shading: Shading;
  onMoved: () => void;
  canvas: HTMLCanvasElement;
  tip: HTMLDivElement;
  map: Minimap;
  element: HTMLDivElement;
  draw: () => void;
  #labels: Parameters<typeof headings>[2] = [];
  #drag: { start: Place; pan: { x: number; y: number }; moved: boolean; spread: number } | null = null;
  #pointers: Map<number, Place> = new Map();
  #groups = "";
  #end = new AbortController();

  constructor(
    readonly view: View,
    measure = "use",
  ) {
    this.camera = new Camera();
    this.shading = new Shading(view, measure);
    this.onMoved = () => {}; // somebody has moved or zoomed it
    this.canvas = h("canvas", {
      tabindex: "0",
      role: "application",
      "aria-label":
        `${wordsOf(view.look.group).replace("Nodes", "Nodes as a heat map")}. Arrow keys move between nodes, `
        + "Enter selects, plus and minus zoom, 0 fits all. The same nodes are in the table.",
    });
    this.tip = h("div", { class: "heat-tip", hidden: true });
    this.map = new Minimap((x, y) => {
      this.camera.look(x, y);
      this.draw();
      this.onMoved();
    });
    this.element = h("div", { class: "heat" }, this.canvas, this.map.canvas, this.tip);
    this.draw = perFrame(() => this.#draw());
    const resized = new ResizeObserver(() => {
      this.#layout();
      this.#draw();
    });
    resized.observe(this.element);
    this.#end.signal.addEventListener("abort", () => resized.disconnect());
    addEventListener("podstep:theme", () => this.draw(), { signal: this.#end.signal });
    this.#listen();
  }

  /** What the cells are shaded by, one of MEASURES. */
  get measure() {
    return this.shading.measure;
  }

  set measure(measure) {
    this.shading.measure = measure;
  }

  /** Another picture takes its place. */
  end() {
    this.#end.abort();
  }

  /** Whether nodes belong to other groups now than they are drawn in. */
  stale() {
    return (
      this.#groups !== "" && this.#groups !== JSON.stringify(grouped(this.view.playback.nodes, this.view.look.group))
    );
  }

  /** Draw again; `holders` are the nodes with pods of the colour that is lit up, null if none is. */
  update(holders = this.shading.holders) {
    this.shading.update(holders);
    this.draw();
  }

  /** Bring a cell into view; `close` looks closer where cells are too small to distinguish. */
  reveal(node: number, { close = false }: { close?: boolean } = {}) {
    if (!this.camera.has(node)) return;
    this.camera.reveal(node, close);
    this.draw();
  }

  /** Whether a cell is in view. */
  inView(node: number) {
    return this.camera.inView(node);
  }

  /** Go back to where one was before a search looked closer. */
  home() {
    if (this.camera.home()) this.draw();
  }

  /** So much of the lower end is covered: what is there can be moved from under it. */
  cover(height: number) {
    this.camera.covered = height;
    this.camera.clamp();
    this.draw();
  }

  zoom(factor: number, x: number = this.camera.width / 2, y: number = this.camera.height / 2) {
    this.camera.zoomBy(factor, x, y);
    this.draw();
    this.onMoved();
  }

  fit() {
    this.camera.fit();
    this.draw();
    this.onMoved();
  }

  #layout() {
    const { clientWidth: width, clientHeight: height } = this.element;
    if (!width || !height) return;
    const ratio = Math.min(2, devicePixelRatio || 1);
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.canvas.style.setProperty("width", `${width}px`);
    this.canvas.style.setProperty("height", `${height}px`);
    const { nodes } = this.view.playback;
    const groups = grouped(nodes, this.view.look.group);
    this.#groups = JSON.stringify(groups);
    const { labels, ...cells } = arrange(groups, nodes.names.length, width, height);
    this.#labels = labels;
    this.camera.arrange(width, height, cells);
  }

  #draw() {
    const { camera, shading } = this;
    if (!camera.width) {
      this.#layout();
      if (!camera.width) return;
    }
    const { width, height, size } = camera;
    const c = palette();
    const { view } = this;
    const { facts, lit } = view;
    const { nodes } = view.playback;
    const pen = penOf(this.canvas);
    const ratio = this.canvas.width / width;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.fillStyle = c.bg;
    pen.fillRect(0, 0, width, height);
    const inset = size > 24 ? 2 : size > 8 ? 1 : size > 4 ? 0.5 : 0;
    const body = size - inset * 2;
    for (let node = 0; node < nodes.names.length; node += 1) {
      const x = camera.x(node);
      const y = camera.y(node);
      if (x > width || y > height || x + size < 0 || y + size < 0) continue;
      const shade = shading.of(node, c, size < STRIPED);
      if (!shade) continue;
      const failed = view.verdictOf(node) === "failed";
      pen.fillStyle = shade;
      pen.fillRect(x + inset, y + inset, body, body);
      if (failed && size >= STRIPED && !lit) {
        pen.fillStyle = c.fail;
        pen.fillRect(x + inset, y + inset + body - Math.max(1, size * 0.09), body, Math.max(1, size * 0.09));
      }
      if (lit?.nodes.has(node)) {
        pen.strokeStyle = c.fail;
        pen.lineWidth = Math.min(2, Math.max(1, size / 10));
        pen.strokeRect(x + inset + 0.5, y + inset + 0.5, body - 1, body - 1);
      }
      if (size >= DETAILED) detail(pen, c, view, node, x + inset, y + inset, body, failed);
      else if (nodes.unschedulable[node] || nodes.conditions[node].length) strike(pen, c, x + inset, y + inset, body);
    }
    this.map.draw(
      {
        size: { width, height },
        zoom: camera.zoom,
        pan: camera.pan,
        cells: camera.cells,
        cell: camera.cell,
        chosen: facts.chosen,
        found: view.search.places,
        spot: view.spot?.node ?? -1,
      },
      c,
      (node) => shading.of(node, c, true),
    );
    hatch(pen, c, view, (node) => camera.box(node));
    outline(pen, c, view, (node) => camera.box(node));
    this.#outline(pen, view.hovered, c.dim, 1.5);
    this.#outline(pen, this.cursor, document.activeElement === this.canvas ? c.accent : "", 2, 2);
    this.#outline(pen, view.node, c.ink, 2);
    this.#outline(pen, facts.chosen, c.accent, 3, size < 30 ? 5 : 3);
    const spot = rings(pen, c, view, (node) => camera.box(node));
    headings(pen, c, this.#labels, this.camera);
    if (spot) tag(pen, c, spot, width);
  }

  #outline(pen: CanvasRenderingContext2D, node: number, colour: string, line: number, grow = 0) {
    if (!colour || !this.camera.has(node)) return;
    const { x, y, size } = this.camera.box(node);
    pen.strokeStyle = colour;
    pen.lineWidth = line;
    pen.strokeRect(x - grow / 2, y - grow / 2, size + grow, size + grow);
  }

  #showTip(node: number, x = 0, y = 0) {
    this.tip.hidden = node < 0;
    if (node < 0) return;
    const { cluster } = this.view.playback;
    const share = cluster.share(node);
    const [name, ...rest] = describeNode(this.view, node).split(", ");
    // The first three are amounts, which stand beside their bars.
    const bars = (["cpu", "memory", "pods"] as const).map((measure, i) => {
      const rail = h("span", { class: "rail" });
      fillRail(rail, Math.min(1, share[measure]));
      return h(
        "span",
        { class: `bar${share[measure] > 1 ? " over" : ""}` },
        h("span", { class: "bar-label", text: measure === "memory" ? "mem" : measure }),
        rail,
        h("span", { class: "amount", text: rest[i].replace(/^(cpu|memory) | pods$/, "") }),
      );
    });
    this.tip.replaceChildren(
      h("b", { text: name }),
      ...bars,
      ...rest.slice(bars.length).map((text) => h("span", { text })),
    );
    const left = x + 16 + 240 > this.camera.width ? x - 250 : x + 16;
    this.tip.style.setProperty(
      "transform",
      `translate(${Math.max(4, left)}px, ${Math.max(4, Math.min(y + 12, this.camera.height - 120))}px)`,
    );
  }

  #listen() {
    const { canvas, view } = this;
    const at = (event: MouseEvent) => {
      const box = canvas.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top] as Place;
    };
    canvas.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        this.zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0022)), ...at(event));
      },
      { passive: false },
    );
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button === 2) return; // asks for a menu
      canvas.setPointerCapture(event.pointerId);
      this.#pointers.set(event.pointerId, at(event));
      this.#drag = { start: at(event), pan: { ...this.camera.pan }, moved: false, spread: 0 };
    });
    canvas.addEventListener("pointermove", (event) => {
      const [x, y] = at(event);
      if (this.#pointers.has(event.pointerId)) this.#pointers.set(event.pointerId, [x, y]);
      if (this.#pointers.size === 2) {
        this.#pinch();
        return;
      }
      if (this.#drag && this.#pointers.size === 1) {
        const dx = x - this.#drag.start[0];
        const dy = y - this.#drag.start[1];
        if (Math.hypot(dx, dy) > 4) this.#drag.moved = true;
        if (this.#drag.moved && this.camera.zoom > 1) {
          this.camera.pan = { x: this.#drag.pan.x + dx, y: this.#drag.pan.y + dy };
          this.camera.clamp();
          this.draw();
          this.onMoved();
        }
        return;
      }
      const node = this.camera.hit(x, y);
      this.#showTip(node, x, y);
      view.hover(node);
    });
    const up = (event: PointerEvent) => {
      this.#pointers.delete(event.pointerId);
      if (this.#drag && !this.#drag.moved && event.type === "pointerup") {
        const node = this.camera.hit(...at(event));
        this.cursor = node;
        view.selectNode(node === view.node ? -1 : node);
      }
      if (this.#pointers.size === 0) this.#drag = null;
    };
    canvas.addEventListener("pointerup", up);
    canvas.addEventListener("pointercancel", up);
    canvas.addEventListener("pointerleave", () => {
      this.#showTip(-1);
      view.hover(-1);
    });
    canvas.addEventListener("contextmenu", (event) => {
      const pointed = event.button === 2;
      const node = pointed ? this.camera.hit(...at(event)) : Math.max(this.cursor, view.node);
      const group = pointed && node < 0 ? this.#groupAt(...at(event)) : undefined;
      if ((node < 0 && !group) || !view.editing) return;
      event.preventDefault();
      this.#drag = null;
      this.#pointers.clear();
      const place = pointed ? { x: event.clientX, y: event.clientY } : canvas;
      view.actions.act(group ? { group, place } : { node, place });
    });
    canvas.addEventListener("keydown", (event) => this.#key(event));
    canvas.addEventListener("focus", this.draw);
    canvas.addEventListener("blur", this.draw);
  }

  /** The group of nodes whose heading or room is at a place. */
  #groupAt(x: number, y: number): [label: string, members: number[]] | undefined {
    const { zoom, pan } = this.camera;
    const [left, top] = [(x - pan.x) / zoom, (y - pan.y) / zoom];
    const found = this.#labels.find(
      (one) => left >= one.x && left < one.x + one.width && top >= one.y && top < one.bottom,
    );
    return found && [found.text, found.members];
  }

  #pinch() {
    const [a, b] = [...this.#pointers.values()];
    const spread = Math.hypot(a[0] - b[0], a[1] - b[1]);
    const drag = this.#drag;
    if (!drag) return;
    drag.moved = true;
    if (drag.spread) this.zoom(spread / drag.spread, (a[0] + b[0]) / 2, (a[1] + b[1]) / 2);
    drag.spread = spread;
  }

  #key(event: KeyboardEvent) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const moves: Record<string, [x: number, y: number]> = {
      ArrowLeft: [-1, 0],
      ArrowRight: [1, 0],
      ArrowUp: [0, -1],
      ArrowDown: [0, 1],
    };
    if (event.key === "+" || event.key === "=") this.zoom(1.5, ...this.#centre());
    else if (event.key === "-") this.zoom(1 / 1.5, ...this.#centre());
    else if (event.key === "0") this.fit();
    else if (event.key === "Enter") this.view.selectNode(this.cursor === this.view.node ? -1 : this.cursor);
    else if (moves[event.key]) this.#walk(...moves[event.key]);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  #centre() {
    if (this.cursor < 0) return [this.camera.width / 2, this.camera.height / 2];
    const { x, y, size } = this.camera.box(this.cursor);
    return [x + size / 2, y + size / 2];
  }

  #walk(dx: number, dy: number) {
    if (this.cursor < 0) this.cursor = this.view.facts.chosen >= 0 ? this.view.facts.chosen : 0;
    else this.cursor = this.camera.beside(this.cursor, dx, dy);
    this.reveal(this.cursor);
    this.view.hover(this.cursor);
    announce(describeNode(this.view, this.cursor));
    this.draw();
  }
}
