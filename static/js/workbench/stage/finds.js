// On the overview: rings around what a search found, and what the one that is shown is called.

import { ellipsis } from "../../lib/quantity.js";
/** @import { Palette } from "./palette.js" */
/** @import { BoxOf } from "./strokes.js" */
/** @import { View } from "../view.js" */

const SPOT_LEAST = 16; // pixels of the ring around the one that is shown, however small its cell is
const FOUND_LEAST = 7;
const LONGEST = 40; // characters

/**
 * Ring what is found; `boxOf(node)` is its `{x, y, size}`. Returns the box of the current match with its name, null
 * without one.
 *
 * @param {CanvasRenderingContext2D} pen
 * @param {Palette} c
 * @param {View} view
 * @param {BoxOf} boxOf
 */
export function rings(pen, c, { search, spot }, boxOf) {
  /**
   * @param {ReturnType<BoxOf>} box
   * @param {string} colour
   * @param {number} line
   * @param {number} grow
   */
  const ring = ({ x, y, size }, colour, line, grow) => {
    pen.strokeStyle = colour;
    pen.lineWidth = line;
    pen.strokeRect(x - grow / 2, y - grow / 2, size + grow, size + grow);
  };
  for (const node of search.places.keys()) {
    if (node === spot?.node) continue;
    const box = boxOf(node);
    ring(box, c.ink, 1.5, Math.max(0, FOUND_LEAST - box.size));
  }
  if (!spot) return null;
  const box = boxOf(spot.node);
  const grow = Math.max(6, SPOT_LEAST - box.size);
  ring(box, c.bg, 7, grow);
  ring(box, c.ink, 3, grow);
  return { x: box.x - grow / 2, y: box.y - grow / 2, size: box.size + grow, name: spot.name };
}

/**
 * Write over a box what is there, within a picture that is so wide.
 *
 * @param {CanvasRenderingContext2D} pen
 * @param {Palette} c
 * @param {{ x: number, y: number, size: number, name: string }} options
 * @param {number} width
 */
export function tag(pen, c, { x, y, size, name }, width) {
  pen.font = `600 ${c.type}px ${c.font}`;
  pen.textBaseline = "middle";
  const text = ellipsis(name, LONGEST);
  const high = c.type + 8;
  const wide = pen.measureText(text).width + 12;
  const left = Math.max(2, Math.min(width - wide - 2, x + size / 2 - wide / 2));
  const top = y - high - 4 >= 0 ? y - high - 4 : y + size + 4;
  pen.fillStyle = c.ink;
  pen.fillRect(left, top, wide, high);
  pen.fillStyle = c.bg;
  pen.fillText(text, left + 6, top + high / 2);
}
