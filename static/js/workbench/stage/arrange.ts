// Where every node's cell is in the overview: groups beside and below each other, so that cells are as large as they
// can be.

import type { NodeIndex } from "../../lib/protocol.js";
import type { Group } from "../view/grouping.ts";

/** The heading of a group, and where the group ends. */
export type Label = {
  text: string;
  members: NodeIndex[];
  count: number;
  x: number;
  y: number;
  width: number;
  bottom: number;
};

const GAP = 14; // between groups
const LABEL = 20; // above each group
const MARGIN = 14;
const ACROSS = 12; // groups beside each other at most
const LARGEST = 90; // pixels of a cell

/**
 * `{cell, cells, labels}` for the given room: the size of a cell, x and y of each node's, and the headings with where
 * their group ends.
 */
export function arrange(groups: Group[], nodes: number, width: number, height: number) {
  let best = { cell: 0, across: 0, room: 0 };
  for (let across = 1; across <= Math.min(groups.length, ACROSS); across += 1) {
    const room = (width - 2 * MARGIN - GAP * (across - 1)) / across;
    let low = 1;
    let high = LARGEST;
    for (let i = 0; i < 12; i += 1) {
      const cell = (low + high) / 2;
      if (heightOf(groups, across, room, cell) <= height - 2 * MARGIN) low = cell;
      else high = cell;
    }
    if (low > best.cell) best = { cell: low, across, room };
  }
  const { across, room } = best;
  const cell = best.cell > 6 ? Math.floor(best.cell) : best.cell;
  const cells = new Float32Array(nodes * 2);
  const labels: Label[] = [];
  const columns = Math.max(1, Math.floor(room / cell));
  let top = MARGIN;
  for (let row = 0; row < groups.length; row += across) {
    let tallest = 0;
    groups.slice(row, row + across).forEach(([text, members], i) => {
      const left = MARGIN + i * (room + GAP);
      labels.push({
        text,
        members,
        count: members.length,
        x: left,
        y: top,
        width: room,
        bottom: top + LABEL + Math.ceil(members.length / columns) * cell,
      });
      members.forEach((node, at) => {
        cells[node * 2] = left + (at % columns) * cell;
        cells[node * 2 + 1] = top + LABEL + Math.floor(at / columns) * cell;
      });
      tallest = Math.max(tallest, LABEL + Math.ceil(members.length / columns) * cell);
    });
    top += tallest + GAP;
  }
  return { cell, cells, labels };
}

function heightOf(groups: Group[], across: number, room: number, cell: number) {
  const columns = Math.max(1, Math.floor(room / cell));
  let total = 0;
  for (let row = 0; row < groups.length; row += across) {
    let tallest = 0;
    for (const [, members] of groups.slice(row, row + across))
      tallest = Math.max(tallest, LABEL + Math.ceil(members.length / columns) * cell);
    total += tallest + (row ? GAP : 0);
  }
  return total;
}
