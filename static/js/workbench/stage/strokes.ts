// What is drawn over the cells of the overview, to be seen at any size: nodes that are not well, pods that wait,
// headings.

import { count, ellipsis } from "../../lib/quantity.ts";
import { ghosts } from "./ghosts.ts";
import { markOf, viewsOf } from "../view/windows.ts";
import type { Label } from "./arrange.ts";
import type { Camera } from "./camera.ts";
import type { Palette } from "./palette.ts";
import type { View } from "../view/view.ts";

/** Where the cell of a node is. */
export type BoxOf = (node: number) => ReturnType<Camera["box"]>;

const GHOST_LEAST = 9; // pixels of a ghost's cell, however small the others are
export const DETAILED = 64; // pixels of a cell that has text

/** A node that is cordoned or not well is struck out; to be seen at any size. */
export function strike(pen: CanvasRenderingContext2D, c: Palette, x: number, y: number, size: number) {
  pen.strokeStyle = c.stale;
  pen.lineWidth = Math.max(1, Math.min(2, size / 8));
  pen.beginPath();
  pen.moveTo(x + 1, y + size - 1);
  pen.lineTo(x + size - 1, y + 1);
  pen.stroke();
}

/** Nodes where pods wait at Permit are hatched, nodes that pods are nominated to dashed; to be seen at any size. */
export function hatch(pen: CanvasRenderingContext2D, c: Palette, view: View, boxOf: BoxOf) {
  const { waiting, nominated } = ghosts(view);
  const boxes = (nodes: Map<number, number[]>) =>
    [...nodes.keys()].map((node) => {
      const { x, y, size } = boxOf(node);
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

/**
 * Nodes of which a scheduler believes something untrue are framed, thicker where room is given away twice or a decision
 * went wrong; to be seen at any size.
 */
export function outline(pen: CanvasRenderingContext2D, c: Palette, view: View, boxOf: BoxOf) {
  const { nodes } = view.playback;
  if (!viewsOf(view)) return;
  pen.strokeStyle = c.stale;
  for (let node = 0; node < nodes.names.length; node += 1) {
    const mark = markOf(view, node);
    if (!mark) continue;
    const { x, y, size } = boxOf(node);
    pen.lineWidth = mark.ill ? 3 : 1;
    pen.strokeRect(x + 1, y + 1, size - 2, size - 2);
  }
}

/** The headings of the groups: one stays at the upper edge as long as its group is in view. */
export function headings(
  pen: CanvasRenderingContext2D,
  c: Palette,
  labels: Label[],
  { width, height, zoom, pan }: Camera,
) {
  pen.font = `600 ${c.type}px ${c.font}`;
  pen.textBaseline = "middle";
  for (const label of labels) {
    const bottom = label.bottom * zoom + pan.y;
    const x = Math.max(label.x * zoom + pan.x, 6);
    const y = Math.max(label.y * zoom + pan.y + 8, 10);
    if (bottom < 24 || y > height || x > width || (label.x + label.width) * zoom + pan.x < 30) continue;
    const amount = `  ${count(label.count)}`;
    const room = (label.x + label.width) * zoom + pan.x - x - pen.measureText(amount).width;
    const text = ellipsis(label.text, Math.max(4, Math.floor(room / (c.type * 0.58))));
    const wide = pen.measureText(text + amount).width;
    pen.fillStyle = c.bg;
    pen.fillRect(x - 2, y - c.type * 0.7, wide + 6, c.type * 1.4);
    pen.fillStyle = c.dim;
    pen.fillText(text, x, y);
    pen.fillStyle = c.faint;
    pen.fillText(amount, x + pen.measureText(text).width, y);
  }
}
