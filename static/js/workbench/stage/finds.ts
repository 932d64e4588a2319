// On the overview: rings around what a search found, and what the one that is shown is called.

import { ellipsis } from "../../lib/quantity.ts";
import type { Palette } from "./palette.ts";
import type { BoxOf } from "./strokes.ts";
import type { View } from "../view/view.ts";

const SPOT_LEAST = 16; // pixels of the ring around the one that is shown, however small its cell is
const FOUND_LEAST = 7;
const LONGEST = 40; // characters

/**
 * Ring what is found; `boxOf(node)` is its `{x, y, size}`. Returns the box of the current match with its name, null
 * without one.
 */
export function rings(pen: CanvasRenderingContext2D, c: Palette, { search, spot }: View, boxOf: BoxOf) {
  const ring = ({ x, y, size }: ReturnType<BoxOf>, colour: string, line: number, grow: number) => {
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

/** Write over a box what is there, within a picture that is so wide. */
export function tag(
  pen: CanvasRenderingContext2D,
  c: Palette,
  { x, y, size, name }: { x: number; y: number; size: number; name: string },
  width: number,
) {
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
