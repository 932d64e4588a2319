// A cell of the overview that is large enough for text: name, what is wrong, bars, pods, and the reason or the score.

import { aboveLeast, ellipsis, shortReason } from "../../lib/quantity.ts";
import { ailmentsOf } from "../view/nodewords.ts";
import type { Palette } from "./palette.ts";
import type { View } from "../view/view.ts";

const BLOCKS = 48; // pods that are drawn in a cell
const ROOMY = 84; // pixels of a cell that shows its pods

/** Draw a node at x, y; `size` is the cell's body, `failed` that the pod does not fit. */
export function detail(
  pen: CanvasRenderingContext2D,
  c: Palette,
  view: View,
  node: number,
  x: number,
  y: number,
  size: number,
  failed: boolean,
) {
  const { nodes, cluster } = view.playback;
  const { facts } = view;
  pen.fillStyle = c.panel;
  pen.fillRect(x, y, size, size);
  pen.strokeStyle = c.line;
  pen.lineWidth = 1;
  pen.strokeRect(x + 0.5, y + 0.5, size - 1, size - 1);
  pen.save();
  pen.beginPath();
  pen.rect(x + 3, y, size - 6, size);
  pen.clip();
  pen.globalAlpha = failed ? 0.75 : 1;
  pen.textBaseline = "alphabetic";
  pen.fillStyle = c.ink;
  const { type } = c;
  pen.font = `600 ${type}px ${c.font}`;
  const fits = Math.floor((size - 8) / (type * 0.56));
  pen.fillText(ellipsis(nodes.names[node], Math.max(4, fits)), x + 4, y + type + 3);
  const bar = Math.max(3, size / 16);
  let top = y + type + 8;
  for (const share of [cluster.cpu[node] / (nodes.cpu[node] || 1), cluster.memory[node] / (nodes.memory[node] || 1)]) {
    pen.fillStyle = c.rail;
    pen.fillRect(x + 4, top, size - 8, bar);
    pen.fillStyle = share > 1 ? c.stale : c.high;
    pen.fillRect(x + 4, top, (size - 8) * Math.min(1, share), bar);
    top += bar + 3;
  }
  if (size >= ROOMY) blocks(pen, c, view, node, x + 4, top + 2, size - 8, y + size - type - 10);
  pen.globalAlpha = 1;
  pen.font = `${type}px ${c.font}`;
  const ailing = ailmentsOf(view, node);
  const reason = (failed && facts.verdict?.reasonsOf(node).map(shortReason).join(", ")) || "";
  const total = facts.totals?.get(node);
  pen.fillStyle = ailing.length ? c.staleText : failed ? c.failText : total !== undefined ? c.accentText : c.dim;
  pen.fillText(
    ailing.length
      ? ailing.join(", ")
      : failed
        ? reason
        : total !== undefined
          ? aboveLeast(total, facts.worst, facts.best)
          : `${cluster.count[node]} pods`,
    x + 4,
    y + size - 5,
  );
  pen.restore();
}

/** The pods of a node as blocks in their colours, as far as there is room. */
function blocks(
  pen: CanvasRenderingContext2D,
  c: Palette,
  view: View,
  node: number,
  x: number,
  y: number,
  width: number,
  bottom: number,
) {
  const { codes } = view.colours;
  const edge = Math.max(6, Math.min(12, width / 10));
  const across = Math.max(1, Math.floor(width / (edge + 2)));
  let drawn = 0;
  for (const pod of view.playback.cluster.podsOn(node)) {
    const top = y + Math.floor(drawn / across) * (edge + 2);
    if (drawn >= BLOCKS || top + edge > bottom) break;
    pen.fillStyle = (view.only < 0 || codes[pod] === view.only ? c.pods : c.podsDimmed)[codes[pod]];
    const left = x + (drawn % across) * (edge + 2);
    pen.globalAlpha = view.playback.isTerminating(pod) ? 0.4 : 1;
    pen.fillRect(left, top, edge, edge);
    drawn += 1;
  }
  pen.globalAlpha = 1;
}
