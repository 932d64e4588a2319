// The marks of the timeline on their canvas.

import { token } from "../../lib/theme.ts";
import type { Marks } from "../playback/marks.ts";

/** What the timeline shows. */
export type Line = {
  marks: Marks;
  width: number;
  /** pixels of a cycle */
  scale: number;
  cycles: number;
  /** the last cycle whose mark shows the outcome */
  known: number;
  /** the last place */
  last: number;
};

export type Pen = CanvasRenderingContext2D;

export const HEIGHT = 44;
export const POINT = 7; // height of what points at a cycle that breaks
const NARROWEST = 3; // below it marks share a column
const TALL = [0, 0.42, 0.68, 0.84, 1, 0.56]; // by result: never colour alone
const KINDS = TALL.length;
const COLUMN = 2;
const FLAG = 8; // height and width of a pennant
const GEM = 4; // half a diamond that stands for a quirk
const FINISH = 4; // a square of the flag at the end
const ARROW = 5; // height and half the width of the arrow that stands for a pass of the descheduler
const SIGN = 9; // width of the sign over a cycle with stale hits

const colours = () => ["--track", "--pass", "--fail", "--stale", "--victim", "--wait"].map(token); // by result

/** Draw all marks. */
export function drawMarks(pen: Pen, line: Line) {
  const { marks, scale, cycles, last } = line;
  if (scale >= NARROWEST) single(pen, line);
  else columns(pen, line);
  flags(pen, line);
  if (marks.staleCycles) stale(pen, line);
  if (marks.quirks.size) quirks(pen, line);
  if (marks.groups.size) groups(pen, line);
  if (marks.passes.size) arrows(pen, line, marks.passes);
  if (marks.kueue.size) arrows(pen, line, marks.kueue);
  if (last > cycles) finish(pen, line);
}

/**
 * Draw what points at the cycles that break, `hits`, as far as they may be shown.
 *
 * @param scale pixels of a cycle
 */
export function drawBreaks(pen: Pen, hits: Uint8Array, scale: number, shown: (index: number) => boolean) {
  pen.fillStyle = token("--accent");
  let last = -POINT * 2;
  for (let i = 1; i < hits.length; i += 1) {
    if (!hits[i] || !shown(i)) continue;
    const x = centre(i, scale);
    if (x - last < Math.min(POINT, Math.max(2, scale))) continue; // where they are dense, the first of a place
    last = x;
    pen.beginPath();
    pen.moveTo(x, 0);
    pen.lineTo(x + POINT * 0.6, POINT);
    pen.lineTo(x - POINT * 0.6, POINT);
    pen.fill();
  }
}

/**
 * The middle of a cycle's mark.
 *
 * @param scale pixels of a cycle
 */
const centre = (index: number, scale: number) => (index - 0.5) * scale - (scale > 6 ? 1 : 0);

function single(pen: Pen, line: Line) {
  const { marks, scale, known } = line;
  const tones = colours();
  const gap = scale > 6 ? 2 : 1;
  for (let i = 1; i <= line.cycles; i += 1) {
    const result = i <= known && i < marks.result.length ? marks.result[i] : 0;
    const tall = Math.round((result ? TALL[result] : 0.2) * (HEIGHT - 4));
    pen.fillStyle = tones[result];
    pen.beginPath();
    pen.roundRect((i - 1) * scale, HEIGHT - tall, Math.max(1, scale - gap), tall, [
      Math.min(2, scale / 4),
      Math.min(2, scale / 4),
      0,
      0,
    ]);
    pen.fill();
  }
}

/** A flag stands where the scheduler was restarted; the tallest mark leaves its pennant free. */
function flags(pen: Pen, line: Line) {
  const { marks, scale, known } = line;
  pen.fillStyle = token("--ink");
  let last = -FLAG;
  for (const index of marks.restarts) {
    if (index > known) break;
    const x = Math.round((index - 1) * scale);
    if (x - last < 2) continue; // one flag a place: more could not be distinguished
    last = x;
    pen.fillRect(x, 0, 1.5, HEIGHT);
    pen.beginPath();
    pen.moveTo(x, 0);
    pen.lineTo(x + FLAG, FLAG / 2);
    pen.lineTo(x, FLAG);
    pen.fill();
  }
}

/** A chequered flag stands at the end of a run. */
function finish(pen: Pen, line: Line) {
  const { scale } = line;
  const x = Math.min(line.width - FINISH * 4 - 2, Math.round(line.cycles * scale) + 1);
  pen.fillStyle = token("--ink");
  pen.fillRect(x, 2, 1.5, HEIGHT - 2);
  for (let row = 0; row < 3; row += 1) {
    for (let column = 0; column < 4; column += 1)
      if ((row + column) % 2 === 0) pen.fillRect(x + 1.5 + column * FINISH, 2 + row * FINISH, FINISH, FINISH);
  }
}

/** A sign hangs over every cycle with stale hits of the cache; where they are dense, over the first of a place. */
function stale(pen: Pen, line: Line) {
  const { marks, scale, known } = line;
  const { stale: hits } = marks.caching as NonNullable<Marks["caching"]>;
  pen.fillStyle = token("--stale");
  pen.strokeStyle = token("--panel");
  pen.lineWidth = 1.5;
  let last = -SIGN;
  for (let i = 1; i <= known && i < hits.length; i += 1) {
    if (!hits[i]) continue;
    const x = centre(i, scale);
    if (x - last < Math.min(SIGN - 2, Math.max(4, scale))) continue;
    last = x;
    pen.beginPath();
    pen.moveTo(x - SIGN / 2, 0);
    pen.lineTo(x + SIGN / 2, 0);
    pen.lineTo(x, SIGN - 1);
    pen.closePath();
    pen.stroke();
    pen.fill();
  }
}

/** A diamond, under what hangs from the top, marks a cycle that a quirk changed. */
function quirks(pen: Pen, line: Line) {
  const { marks, scale, known } = line;
  pen.fillStyle = token("--ink");
  pen.strokeStyle = token("--panel");
  pen.lineWidth = 1.5;
  const y = SIGN + GEM + 1;
  for (const index of marks.quirks) {
    if (index > known) continue;
    const x = centre(index, scale);
    pen.beginPath();
    pen.moveTo(x, y - GEM);
    pen.lineTo(x + GEM, y);
    pen.lineTo(x, y + GEM);
    pen.lineTo(x - GEM, y);
    pen.closePath();
    pen.stroke();
    pen.fill();
  }
}

/**
 * A ring marks a cycle in which a PodGroup changes its phase; a cross in it, that members were rejected or timed out.
 */
function groups(pen: Pen, line: Line) {
  const { marks, scale, known } = line;
  pen.lineWidth = 1.5;
  let last = -GEM * 3;
  for (const index of [...marks.groups.keys()].sort((a, b) => a - b)) {
    if (index > known) break;
    const x = centre(index, scale);
    if (x - last < Math.min(GEM * 2, Math.max(3, scale))) continue;
    last = x;
    const y = HEIGHT - GEM - 3;
    pen.fillStyle = token("--panel");
    pen.strokeStyle = token("--ink");
    pen.beginPath();
    pen.arc(x, y, GEM, 0, 2 * Math.PI);
    pen.fill();
    pen.stroke();
    if (marks.groups.get(index)?.every(([kind]) => kind === "phase")) continue;
    const arm = GEM * 0.5;
    pen.beginPath();
    pen.moveTo(x - arm, y - arm);
    pen.lineTo(x + arm, y + arm);
    pen.moveTo(x + arm, y - arm);
    pen.lineTo(x - arm, y + arm);
    pen.stroke();
  }
}

/** An arrow out of a bar marks a cycle before which the descheduler or Kueue acted; hollow: nothing was evicted. */
function arrows(pen: Pen, { scale, known }: Line, acts: Map<number, { evicts: boolean }[]>) {
  pen.lineWidth = 1.5;
  pen.strokeStyle = token("--ink");
  let last = -ARROW * 3;
  for (const index of [...acts.keys()].sort((a, b) => a - b)) {
    if (index > known) break;
    const x = Math.round((index - 1) * scale);
    if (x - last < Math.min(ARROW * 2, Math.max(3, scale))) continue;
    last = x;
    pen.fillStyle = token(acts.get(index)?.some(({ evicts }) => evicts) ? "--victim" : "--panel");
    pen.beginPath();
    pen.moveTo(x - ARROW, ARROW + 1);
    pen.lineTo(x, 1);
    pen.lineTo(x + ARROW, ARROW + 1);
    pen.closePath();
    pen.fill();
    pen.stroke();
    pen.beginPath();
    pen.moveTo(x, ARROW + 1);
    pen.lineTo(x, ARROW * 2 + 2);
    pen.stroke();
  }
}

/** Each column shows the scheduled share low, and what else happened as high as its kind, as strong as its share. */
function columns(pen: Pen, line: Line) {
  const { marks, scale, cycles, known } = line;
  const tones = colours();
  const many = Math.max(1, Math.floor((cycles * scale) / COLUMN));
  const tally = new Uint32Array(many * KINDS);
  for (let i = 1; i <= cycles; i += 1) {
    const column = Math.min(many - 1, Math.floor(((i - 1) * many) / cycles));
    tally[column * KINDS + (i <= known && i < marks.result.length ? marks.result[i] : 0)] += 1;
  }
  for (let column = 0; column < many; column += 1) {
    const at = column * KINDS;
    const all = tally[at] + tally[at + 1] + tally[at + 2] + tally[at + 3] + tally[at + 4] + tally[at + 5];
    if (!all) continue;
    for (const result of [4, 3, 2, 5]) {
      if (!tally[at + result]) continue;
      const tall = TALL[result] * (HEIGHT - 4);
      pen.globalAlpha = 0.35 + 0.65 * Math.sqrt(tally[at + result] / all);
      pen.fillStyle = tones[result];
      pen.fillRect(column * COLUMN, HEIGHT - tall, COLUMN, tall);
    }
    pen.globalAlpha = 1;
    const low = tally[at + 1] ? TALL[1] * Math.max(0.25, tally[at + 1] / all) : tally[at] === all ? 0.15 : 0;
    pen.fillStyle = tones[tally[at + 1] ? 1 : 0];
    pen.fillRect(column * COLUMN, HEIGHT - low * (HEIGHT - 4), COLUMN, low * (HEIGHT - 4));
  }
}
