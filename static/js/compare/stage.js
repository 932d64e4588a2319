// The nodes of one side with their pods, small: a pod that is on another node on the other side is outlined, and its
// node has the diamond that marks different decisions on the track. What it shows is also a list (stepper.js).

import { h, penOf, perFrame } from "../lib/dom.js";
import { count, plural, short } from "../lib/quantity.js";
import { palette } from "../workbench/stage/palette.js";
/** @import { Side } from "./side.tsx" */

const TALLEST = 260; // pixels of a stage
const WIDEST = 92; // of a node
const LEAST = 7;
const GAP = 2;
const BLOCKS = 9; // pixels of a node from which its pods are drawn apart
const NAMED = 4; // pods of a node's tooltip

export class Stage {
  #width = 0;
  /** @type {number[]} */
  #nodes = []; // that are there
  #columns = 1;
  #size = LEAST;
  /** @type {Uint8Array} */
  #flags = new Uint8Array(0);

  /**
   * @param {Side} side
   * @param {string} other the name of the other side
   */
  constructor(side, other) {
    this.side = side;
    this.other = other;
    this.canvas = h("canvas", { role: "img" });
    this.caption = h("figcaption", { class: "dim fine" });
    this.element = h("figure", { class: "compared-stage" }, this.canvas, this.caption);
    this.paint = perFrame(() => this.#paint());
    new ResizeObserver(() => {
      if (this.element.clientWidth !== this.#width) this.paint();
    }).observe(this.element);
    addEventListener("podstep:theme", this.paint);
    this.canvas.addEventListener("pointermove", (event) => this.#point(event));
  }

  /** @param {Uint8Array} flags of each pod whether it is elsewhere on the other side */
  update(flags) {
    this.#flags = flags;
    const { playback, view } = this.side;
    const { cluster, nodes } = playback;
    this.#nodes = [...nodes.names.keys()].filter((node) => view.exists(node));
    let marked = 0;
    for (let pod = 0; pod < flags.length; pod += 1) if (flags[pod] && cluster.placement[pod] >= 0) marked += 1;
    const text = `${plural(this.#nodes.length, "node")}, ${plural(cluster.placed, "pod")} placed`;
    const elsewhere = marked ? `${count(marked)} of them elsewhere on the ${this.other} (◆)` : `none of them elsewhere`;
    this.caption.textContent = `${text}, ${elsewhere}`;
    this.canvas.setAttribute(
      "aria-label",
      `Stage of the ${this.side.name} side: ${text}, ${elsewhere.replace(" (◆)", "")}`,
    );
    this.paint();
  }

  /** Find the largest squares with which all nodes have room. */
  #arrange() {
    this.#width = this.element.clientWidth;
    const many = Math.max(1, this.#nodes.length);
    const fits = (/** @type {number} */ size) =>
      Math.ceil(many / Math.max(1, Math.floor(this.#width / (size + GAP)))) * (size + GAP) <= TALLEST;
    this.#size = WIDEST;
    while (this.#size > LEAST && !fits(this.#size)) this.#size -= 1;
    this.#columns = Math.max(1, Math.floor(this.#width / (this.#size + GAP)));
  }

  #paint() {
    const { canvas } = this;
    if (!this.side.playback.nodes || !this.element.clientWidth) return;
    this.#arrange();
    const rows = Math.ceil(this.#nodes.length / this.#columns);
    const [wide, high] = [this.#width, Math.max(1, rows * (this.#size + GAP))];
    const ratio = Math.min(2, devicePixelRatio || 1);
    canvas.width = Math.round(wide * ratio);
    canvas.height = Math.round(high * ratio);
    canvas.style.setProperty("height", `${high}px`);
    const pen = penOf(canvas);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.#nodes.forEach((node, at) => {
      const x = (at % this.#columns) * (this.#size + GAP);
      const y = Math.floor(at / this.#columns) * (this.#size + GAP);
      this.#node(pen, node, x, y);
    });
  }

  /**
   * @param {CanvasRenderingContext2D} pen
   * @param {number} node
   * @param {number} x
   * @param {number} y
   */
  #node(pen, node, x, y) {
    const { playback, view } = this.side;
    const { cluster, nodes, pods } = playback;
    const c = palette();
    const size = this.#size;
    const own = [...cluster.podsOn(node)];
    pen.fillStyle = c.panel;
    pen.fillRect(x, y, size, size);
    const share = (/** @type {number} */ amount, /** @type {number} */ of) => (of > 0 ? Math.min(1, amount / of) : 0);
    if (size < BLOCKS) {
      const used = Math.max(share(cluster.cpu[node], nodes.cpu[node]), share(cluster.memory[node], nodes.memory[node]));
      pen.fillStyle = c.ramp[Math.round(used * (c.ramp.length - 1))];
      pen.fillRect(x, y, size, size);
    } else {
      let [right, up] = [0, 0];
      for (const pod of own) {
        const wide = Math.max(1.5, size * share(pods.cpu[pod], nodes.cpu[node]));
        const tall = Math.max(1.5, size * share(pods.memory[pod], nodes.memory[node]));
        const left = Math.min(x + right, x + size - wide);
        const top = Math.max(y, y + size - up - tall);
        const moved = this.#flags[pod];
        pen.fillStyle = (moved ? c.pods : c.podsDimmed)[view.colours.codes[pod]];
        pen.fillRect(left, top, wide, y + size - top);
        if (moved) {
          pen.strokeStyle = c.ink;
          pen.lineWidth = 1;
          pen.strokeRect(left + 0.5, top + 0.5, Math.max(1, wide - 1), Math.max(1, y + size - top - 1));
        }
        right += wide;
        up += tall;
      }
    }
    pen.strokeStyle = c.line;
    pen.lineWidth = 1;
    pen.strokeRect(x + 0.5, y + 0.5, size - 1, size - 1);
    if (own.some((pod) => this.#flags[pod])) diamond(pen, x + size - 1, y + 1, Math.max(3, Math.min(6, size / 5)));
  }

  /** @param {PointerEvent} event */
  #point({ offsetX, offsetY }) {
    const { playback } = this.side;
    const [column, row] = [offsetX, offsetY].map((at) => Math.floor(at / (this.#size + GAP)));
    const node = column < this.#columns ? this.#nodes[row * this.#columns + column] : undefined;
    if (node === undefined) {
      this.canvas.title = "";
      return;
    }
    const own = [...playback.cluster.podsOn(node)];
    const moved = own.filter((pod) => this.#flags[pod]).map((pod) => short(playback.pods.keys[pod]));
    const rest = moved.length > NAMED ? ` and ${count(moved.length - NAMED)} more` : "";
    const elsewhere = moved.length
      ? `; elsewhere on the ${this.other}: ${moved.slice(0, NAMED).join(", ")}${rest}`
      : "";
    this.canvas.title = `${playback.nodes.names[node]}: ${plural(own.length, "pod")}${elsewhere}`;
  }
}

/**
 * A diamond whose right corner is at a point, edged so that it is seen on every colour.
 *
 * @param {CanvasRenderingContext2D} pen
 * @param {number} x
 * @param {number} y
 * @param {number} half
 */
function diamond(pen, x, y, half) {
  const c = palette();
  pen.beginPath();
  pen.moveTo(x - half, y);
  pen.lineTo(x, y + half);
  pen.lineTo(x - half, y + 2 * half);
  pen.lineTo(x - 2 * half, y + half);
  pen.closePath();
  pen.fillStyle = c.ink;
  pen.strokeStyle = c.panel;
  pen.lineWidth = 2;
  pen.stroke();
  pen.fill();
}
