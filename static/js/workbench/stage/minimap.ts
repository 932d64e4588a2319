// All nodes small in a corner while one looks at some of them: where they are, and a way elsewhere.

import { h, penOf } from "../../lib/dom.ts";
import type { Palette } from "./palette.ts";
import type { View } from "../view/view.ts";

const WIDTH = 132;

/**
 * The whole picture, as the overview shows it: `cells` are x and y of every node's cell, `cell` its size; `chosen` and
 * `spot`, the nodes that are chosen and looked for, are -1 where there is none.
 */
export type Picture = {
  size: { width: number; height: number };
  zoom: number;
  pan: { x: number; y: number };
  cells: Float32Array;
  cell: number;
  chosen: number;
  found: View["search"]["places"];
  spot: number;
};

export class Minimap {
  canvas: HTMLCanvasElement;
  #scale = 1;

  /** `go(x, y)` receives where in the whole picture one wants to look. */
  constructor(go: (x: number, y: number) => void) {
    this.canvas = h("canvas", { class: "minimap", hidden: true, "aria-hidden": "true" });
    const aim = (event: PointerEvent) => {
      const box = this.canvas.getBoundingClientRect();
      go((event.clientX - box.left) / this.#scale, (event.clientY - box.top) / this.#scale);
    };
    this.canvas.addEventListener("pointerdown", (event) => {
      event.stopPropagation();
      this.canvas.setPointerCapture(event.pointerId);
      aim(event);
    });
    this.canvas.addEventListener("mousedown", (event) => event.preventDefault()); // the keys stay with the overview
    this.canvas.addEventListener("pointermove", (event) => {
      if (this.canvas.hasPointerCapture(event.pointerId)) aim(event);
    });
  }

  /** Draw the whole picture with what is in view; nothing while all of it is. */
  draw({ size, zoom, pan, cells, cell, chosen, found, spot }: Picture, c: Palette, shadeOf: (node: number) => string) {
    this.canvas.hidden = zoom <= 1;
    if (this.canvas.hidden) return;
    const scale = (this.#scale = WIDTH / size.width);
    const height = Math.round(size.height * scale);
    const ratio = Math.min(2, devicePixelRatio || 1);
    if (this.canvas.height !== height * ratio || this.canvas.width !== WIDTH * ratio) {
      this.canvas.width = WIDTH * ratio;
      this.canvas.height = height * ratio;
      this.canvas.style.setProperty("width", `${WIDTH}px`);
      this.canvas.style.setProperty("height", `${height}px`);
    }
    const pen = penOf(this.canvas);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.fillStyle = c.panel;
    pen.fillRect(0, 0, WIDTH, height);
    const edge = Math.max(0.75, cell * scale - 0.25);
    for (let node = 0; node * 2 < cells.length; node += 1) {
      const shade = shadeOf(node);
      if (!shade) continue;
      pen.fillStyle = shade;
      pen.fillRect(cells[node * 2] * scale, cells[node * 2 + 1] * scale, edge, edge);
    }
    pen.fillStyle = pen.strokeStyle = c.accent;
    if (chosen >= 0)
      pen.fillRect(cells[chosen * 2] * scale - 1.5, cells[chosen * 2 + 1] * scale - 1.5, edge + 3, edge + 3);
    pen.fillStyle = c.ink;
    for (const node of found.keys())
      pen.fillRect(cells[node * 2] * scale - 1, cells[node * 2 + 1] * scale - 1, edge + 2, edge + 2);
    if (spot >= 0) {
      pen.strokeStyle = c.ink;
      pen.lineWidth = 1.5;
      pen.beginPath();
      pen.arc(cells[spot * 2] * scale + edge / 2, cells[spot * 2 + 1] * scale + edge / 2, 6, 0, 2 * Math.PI);
      pen.stroke();
      pen.strokeStyle = c.accent;
    }
    pen.lineWidth = 2;
    pen.strokeRect(
      1 + (-pan.x / zoom) * scale,
      1 + (-pan.y / zoom) * scale,
      (size.width / zoom) * scale - 2,
      (size.height / zoom) * scale - 2,
    );
  }
}
