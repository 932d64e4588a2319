// The stage above some two hundred nodes: a canvas of cells in groups, that zooms and pans.

import { h, perFrame, announce } from "../lib/dom.js";
import { count, ellipsis } from "../lib/quantity.js";
import { fillRail } from "../lib/rail.js";
import { ghosts } from "./ghosts.js";
import { arrange } from "./stage/arrange.js";
import { detail } from "./stage/cell.js";
import { CLASSES } from "./stage/colours.js";
import { rings, tag } from "./stage/finds.js";
import { grouped, wordsOf } from "./stage/grouping.js";
import { Minimap } from "./stage/minimap.js";
import { LEVELS, palette } from "./stage/palette.js";

const ZOOM_MOST = 24;
const DETAILED = 64; // pixels of a cell that has text
const STRIPED = 5; // pixels of a cell that has a stripe where the pod does not fit
const CLOSE = 26; // pixels of a cell that was searched for: its neighbours can be told apart
const GHOST_LEAST = 9; // pixels of a ghost's cell, however small the others are

export const MEASURES = {
  use: "cpu or memory",
  cpu: "cpu",
  memory: "memory",
  pods: "pods",
  score: "score",
  colour: "pods' colour",
};

export class HeatMap {
  #size = { width: 0, height: 0 };
  #cells = new Float32Array(0); // x, y of every node's cell at zoom 1
  #labels = [];
  #cell = 10;
  #zoom = 1;
  #pan = { x: 0, y: 0 };
  #drag = null;
  #pointers = new Map();
  #most = new Uint8Array(0); // of each node the colour that most of its pods have
  #groups = "";
  #covered = 0; // pixels at the lower end that the sheet lies over
  #before = null; // {zoom, pan} from before a search looked closer
  #end = new AbortController();

  constructor(view, measure = "use") {
    this.view = view;
    this.measure = measure;
    this.onMoved = () => {}; // somebody has moved or zoomed it
    this.holders = null; // the nodes with pods of the colour that is lit up
    this.canvas = h("canvas", {
      tabindex: "0",
      role: "application",
      "aria-label":
        `${wordsOf(view.look.group).replace("Nodes", "Nodes as a heat map")}. Arrow keys move between nodes, `
        + "Enter selects, plus and minus zoom, 0 fits all. The same nodes are in the table.",
    });
    this.tip = h("div", { class: "heat-tip", hidden: true });
    this.map = new Minimap((x, y) => {
      this.#look(x, y);
      this.onMoved();
    });
    this.element = h("div", { class: "heat" }, this.canvas, this.map.canvas, this.tip);
    this.draw = perFrame(() => this.#draw());
    this.cursor = -1;
    const resized = new ResizeObserver(() => {
      this.#layout();
      this.#draw();
    });
    resized.observe(this.element);
    this.#end.signal.addEventListener("abort", () => resized.disconnect());
    addEventListener("podstep:theme", () => this.draw(), { signal: this.#end.signal });
    this.#listen();
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

  /** Draw anew; `holders` are the nodes with pods of the colour that is lit up, null if none is. */
  update(holders = this.holders) {
    this.holders = holders;
    if (this.measure === "colour") this.#count();
    this.draw();
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
    this.#most = new Uint8Array(nodes.names.length).fill(255);
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

  /** Look at a place of the whole picture. */
  #look(x, y) {
    this.#pan = { x: this.#size.width / 2 - x * this.#zoom, y: this.#size.height / 2 - y * this.#zoom };
    this.#clamp();
    this.draw();
  }

  /** Bring a cell into view; `close` looks closer where cells are too small to be told apart. */
  reveal(node, { close = false } = {}) {
    if (node < 0 || node * 2 >= this.#cells.length) return;
    const closer = CLOSE / (this.#cell * this.#zoom);
    if (close && closer > 1.2) {
      this.#before ??= { zoom: this.#zoom, pan: { ...this.#pan } };
      this.#zoom = Math.min(ZOOM_MOST, this.#zoom * closer);
      this.#centreOn(node);
    } else if (!this.inView(node)) this.#centreOn(node);
    this.draw();
  }

  #centreOn(node) {
    const { x, y, size } = this.#box(node);
    this.#pan.x += this.#size.width / 2 - x - size / 2;
    this.#pan.y += (this.#size.height - this.#covered) / 2 - y - size / 2;
    this.#clamp();
  }

  /** Whether a cell is in view. */
  inView(node) {
    if (!this.#size.width || node * 2 >= this.#cells.length) return false;
    const { x, y, size } = this.#box(node);
    return x >= -1 && y >= -1 && x + size <= this.#size.width + 1 && y + size <= this.#size.height - this.#covered + 1;
  }

  /** Go back to where one was before a search looked closer. */
  home() {
    if (!this.#before) return;
    ({ zoom: this.#zoom, pan: this.#pan } = this.#before);
    this.#before = null;
    this.#clamp();
    this.draw();
  }

  /** So much of the lower end is covered: what is there can be moved from under it. */
  cover(height) {
    this.#covered = height;
    this.#clamp();
    this.draw();
  }

  zoom(factor, x = this.#size.width / 2, y = this.#size.height / 2) {
    const next = Math.max(1, Math.min(ZOOM_MOST, this.#zoom * factor));
    const scale = next / this.#zoom;
    this.#pan.x = x - (x - this.#pan.x) * scale;
    this.#pan.y = y - (y - this.#pan.y) * scale;
    this.#zoom = next;
    this.#before = null;
    this.#clamp();
    this.draw();
    this.onMoved();
  }

  fit() {
    this.#zoom = 1;
    this.#pan = { x: 0, y: 0 };
    this.#before = null;
    this.draw();
    this.onMoved();
  }

  #clamp() {
    const { width, height } = this.#size;
    this.#pan.x = Math.min(0, Math.max(width - width * this.#zoom, this.#pan.x));
    this.#pan.y = Math.min(0, Math.max(height - this.#covered - height * this.#zoom, this.#pan.y));
  }

  #layout() {
    const { clientWidth: width, clientHeight: height } = this.element;
    if (!width || !height) return;
    const ratio = Math.min(2, devicePixelRatio || 1);
    this.#size = { width, height };
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.canvas.style.setProperty("width", `${width}px`);
    this.canvas.style.setProperty("height", `${height}px`);
    const { nodes } = this.view.playback;
    const groups = grouped(nodes, this.view.look.group);
    this.#groups = JSON.stringify(groups);
    ({
      cell: this.#cell,
      cells: this.#cells,
      labels: this.#labels,
    } = arrange(groups, nodes.names.length, width, height));
    this.#clamp();
  }

  #value(node, facts) {
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

  #box(node) {
    return {
      x: this.#cells[node * 2] * this.#zoom + this.#pan.x,
      y: this.#cells[node * 2 + 1] * this.#zoom + this.#pan.y,
      size: this.#cell * this.#zoom,
    };
  }

  #draw() {
    const { width, height } = this.#size;
    if (!width) {
      this.#layout();
      if (!this.#size.width) return;
    }
    const c = palette();
    const { view } = this;
    const { facts, lit } = view;
    const { nodes } = view.playback;
    const pen = this.canvas.getContext("2d");
    const ratio = this.canvas.width / width;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.fillStyle = c.bg;
    pen.fillRect(0, 0, width, height);
    const size = this.#cell * this.#zoom;
    const inset = size > 24 ? 2 : size > 8 ? 1 : size > 4 ? 0.5 : 0;
    const body = size - inset * 2;
    for (let node = 0; node < nodes.names.length; node += 1) {
      const x = this.#cells[node * 2] * this.#zoom + this.#pan.x;
      const y = this.#cells[node * 2 + 1] * this.#zoom + this.#pan.y;
      if (x > width || y > height || x + size < 0 || y + size < 0) continue;
      const shade = this.#shade(node, facts, lit, c, size < STRIPED);
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
      else if (nodes.unschedulable[node] || nodes.conditions[node].length)
        this.#cross(pen, c, x + inset, y + inset, body);
    }
    this.map.draw(
      {
        size: this.#size,
        zoom: this.#zoom,
        pan: this.#pan,
        cells: this.#cells,
        cell: this.#cell,
        chosen: facts.chosen,
        found: view.search.places,
        spot: view.spot?.node ?? -1,
      },
      c,
      (node) => this.#shade(node, facts, lit, c, true),
    );
    this.#ghosts(pen, c);
    this.#outline(pen, view.hovered, c.dim, 1.5);
    this.#outline(pen, this.cursor, document.activeElement === this.canvas ? c.accent : "", 2, 2);
    this.#outline(pen, view.node, c.ink, 2);
    this.#outline(pen, facts.chosen, c.accent, 3, size < 30 ? 5 : 3);
    const spot = rings(pen, c, view, (node) => this.#box(node));
    pen.font = `600 ${c.type}px ${c.font}`;
    pen.textBaseline = "middle";
    for (const label of this.#labels) {
      // A heading stays at the upper edge as long as its group is in view.
      const bottom = label.bottom * this.#zoom + this.#pan.y;
      const x = Math.max(label.x * this.#zoom + this.#pan.x, 6);
      const y = Math.max(label.y * this.#zoom + this.#pan.y + 8, 10);
      if (bottom < 24 || y > height || x > width || (label.x + label.width) * this.#zoom + this.#pan.x < 30) continue;
      const amount = `  ${count(label.count)}`;
      const room = (label.x + label.width) * this.#zoom + this.#pan.x - x - pen.measureText(amount).width;
      const text = ellipsis(label.text, Math.max(4, Math.floor(room / (c.type * 0.58))));
      const wide = pen.measureText(text + amount).width;
      pen.fillStyle = c.bg;
      pen.fillRect(x - 2, y - c.type * 0.7, wide + 6, c.type * 1.4);
      pen.fillStyle = c.dim;
      pen.fillText(text, x, y);
      pen.fillStyle = c.faint;
      pen.fillText(amount, x + pen.measureText(text).width, y);
    }
    if (spot) tag(pen, c, spot, width);
  }

  /**
   * The fill of a node's cell, "" where there is none; a cell too small for a stripe shows by its tint that the pod
   * does not fit.
   */
  #shade(node, facts, lit, c, tinted) {
    if (!this.view.exists(node)) return "";
    const failed = this.view.verdictOf(node) === "failed";
    const out =
      (failed && facts.chosen !== node && !this.holders)
      || (lit && !lit.nodes.has(node))
      || (this.holders && !this.holders.has(node));
    if (this.measure === "colour" && this.#most.length) {
      const most = this.#most[node];
      return most === 255 ? (out ? c.dimmed : c.ramp)[0] : (out ? c.podsDimmed : c.pods)[most];
    }
    if (tinted && failed && out && !lit) return c.tinted;
    return (out ? c.dimmed : c.ramp)[Math.max(0, Math.min(LEVELS, Math.round(this.#value(node, facts) * LEVELS)))];
  }

  /** A node that is cordoned or not well is struck out; to be seen at any size. */
  #cross(pen, c, x, y, size) {
    pen.strokeStyle = c.stale;
    pen.lineWidth = Math.max(1, Math.min(2, size / 8));
    pen.beginPath();
    pen.moveTo(x + 1, y + size - 1);
    pen.lineTo(x + size - 1, y + 1);
    pen.stroke();
  }

  /** Nodes where pods wait at Permit are hatched, nodes that pods are nominated to dashed; to be seen at any size. */
  #ghosts(pen, c) {
    const { waiting, nominated } = ghosts(this.view);
    const boxes = (nodes) =>
      [...nodes.keys()].map((node) => {
        const { x, y, size } = this.#box(node);
        const grow = Math.max(0, (GHOST_LEAST - size) / 2);
        return { x: x - grow, y: y - grow, size: size + 2 * grow };
      });
    pen.strokeStyle = c.wait;
    for (const { x, y, size } of boxes(waiting)) {
      const from = size >= DETAILED ? x + size * 0.86 : x; // in a cell with text the hatch is a band at its right edge
      pen.save();
      pen.beginPath();
      pen.rect(from, y, x + size - from, size);
      pen.clip();
      pen.fillStyle = c.bg;
      pen.globalAlpha = 0.6;
      pen.fillRect(from, y, size, size);
      pen.globalAlpha = 1;
      pen.lineWidth = Math.max(1.5, Math.min(3, size / 8));
      pen.beginPath();
      for (let at = from - size; at < x + size; at += Math.max(4, Math.min(9, size / 3))) {
        pen.moveTo(at, y + size);
        pen.lineTo(at + size, y);
      }
      pen.stroke();
      pen.restore();
      pen.lineWidth = 1.5;
      pen.strokeRect(x + 0.75, y + 0.75, size - 1.5, size - 1.5);
    }
    pen.strokeStyle = c.victim;
    pen.lineWidth = 2;
    pen.setLineDash([3, 2]);
    for (const { x, y, size } of boxes(nominated)) pen.strokeRect(x + 1, y + 1, size - 2, size - 2);
    pen.setLineDash([]);
  }

  #outline(pen, node, colour, line, grow = 0) {
    if (node < 0 || !colour || node * 2 >= this.#cells.length) return;
    const { x, y, size } = this.#box(node);
    pen.strokeStyle = colour;
    pen.lineWidth = line;
    pen.strokeRect(x - grow / 2, y - grow / 2, size + grow, size + grow);
  }

  #hit(x, y) {
    const { nodes } = this.view.playback;
    const size = this.#cell * this.#zoom;
    for (let node = 0; node < nodes.names.length; node += 1) {
      const left = this.#cells[node * 2] * this.#zoom + this.#pan.x;
      const top = this.#cells[node * 2 + 1] * this.#zoom + this.#pan.y;
      if (x >= left && y >= top && x < left + size && y < top + size) return node;
    }
    return -1;
  }

  #tell(node, x, y) {
    this.tip.hidden = node < 0;
    if (node < 0) return;
    const { cluster } = this.view.playback;
    const share = cluster.share(node);
    const [name, ...rest] = this.view.describe(node).split(", ");
    // The first three are amounts, which stand beside their bars.
    const bars = ["cpu", "memory", "pods"].map((measure, i) => {
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
    const left = x + 16 + 240 > this.#size.width ? x - 250 : x + 16;
    this.tip.style.setProperty(
      "transform",
      `translate(${Math.max(4, left)}px, ${Math.max(4, Math.min(y + 12, this.#size.height - 120))}px)`,
    );
  }

  #listen() {
    const { canvas, view } = this;
    const at = (event) => {
      const box = canvas.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
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
      canvas.setPointerCapture(event.pointerId);
      this.#pointers.set(event.pointerId, at(event));
      this.#drag = { start: at(event), pan: { ...this.#pan }, moved: false, spread: 0 };
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
        if (this.#drag.moved && this.#zoom > 1) {
          this.#pan = { x: this.#drag.pan.x + dx, y: this.#drag.pan.y + dy };
          this.#clamp();
          this.draw();
          this.onMoved();
        }
        return;
      }
      const node = this.#hit(x, y);
      this.#tell(node, x, y);
      view.hover(node);
    });
    const up = (event) => {
      this.#pointers.delete(event.pointerId);
      if (this.#drag && !this.#drag.moved && event.type === "pointerup") {
        const node = this.#hit(...at(event));
        this.cursor = node;
        view.selectNode(node === view.node ? -1 : node);
      }
      if (this.#pointers.size === 0) this.#drag = null;
    };
    canvas.addEventListener("pointerup", up);
    canvas.addEventListener("pointercancel", up);
    canvas.addEventListener("pointerleave", () => {
      this.#tell(-1);
      view.hover(-1);
    });
    canvas.addEventListener("keydown", (event) => this.#key(event));
    canvas.addEventListener("focus", this.draw);
    canvas.addEventListener("blur", this.draw);
  }

  #pinch() {
    const [a, b] = [...this.#pointers.values()];
    const spread = Math.hypot(a[0] - b[0], a[1] - b[1]);
    this.#drag.moved = true;
    if (this.#drag.spread) this.zoom(spread / this.#drag.spread, (a[0] + b[0]) / 2, (a[1] + b[1]) / 2);
    this.#drag.spread = spread;
  }

  #key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
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
    if (this.cursor < 0) return [this.#size.width / 2, this.#size.height / 2];
    const { x, y, size } = this.#box(this.cursor);
    return [x + size / 2, y + size / 2];
  }

  #walk(dx, dy) {
    if (this.cursor < 0) this.cursor = this.view.facts.chosen >= 0 ? this.view.facts.chosen : 0;
    else {
      const x = this.#cells[this.cursor * 2];
      const y = this.#cells[this.cursor * 2 + 1];
      let nearest = Infinity;
      let next = this.cursor;
      for (let node = 0; node * 2 < this.#cells.length; node += 1) {
        const ax = this.#cells[node * 2] - x;
        const ay = this.#cells[node * 2 + 1] - y;
        const along = ax * dx + ay * dy;
        if (along <= 0.5) continue;
        const distance = along + 4 * (Math.abs(ax * dy) + Math.abs(ay * dx));
        if (distance < nearest) {
          nearest = distance;
          next = node;
        }
      }
      this.cursor = next;
    }
    this.reveal(this.cursor);
    this.view.hover(this.cursor);
    announce(this.view.describe(this.cursor));
    this.draw();
  }
}
