// The cycles of both runs in one order: a row is a cycle of each, or of one of them.

import type { Comparison } from "../lib/protocol.js";

/** cycle indices; 0: that side has no such cycle */
export type Pair = { left: number; right: number };

const SIDES = ["left", "right"] as const;

export class Rows {
  #runs: [first: number, left: number, right: number, count: number][] = []; // by the row that they begin with, from 1
  count = 0;
  different: number[] = []; // rows, ascending

  constructor({ alignment, differences, metrics }: Pick<Comparison, "alignment" | "differences" | "metrics">) {
    const [left, right] = SIDES.map((side) => Number(metrics[side].cycles));
    for (const [one, two, count] of alignment ?? byNumber(left, right)) {
      this.#runs.push([this.count + 1, one, two, count]);
      this.count += count;
    }
    this.different = differences
      .map(([one, two]) => this.#rowOf(one, two))
      .filter((row) => row > 0)
      .sort((a, b) => a - b);
  }

  /** The cycles of a row; both 0 before the first. */
  at(row: number): Pair {
    const found = this.#runs.findLast(([first]) => first <= row);
    if (!found) return { left: 0, right: 0 };
    const [first, left, right] = found;
    const on = (start: number) => (start ? start + row - first : 0);
    return { left: on(left), right: on(right) };
  }

  /** Call `f` with every row and its cycles. */
  each(f: (row: number, pair: Pair) => void) {
    for (const [first, left, right, count] of this.#runs)
      for (let i = 0; i < count; i += 1) f(first + i, { left: left ? left + i : 0, right: right ? right + i : 0 });
  }

  /** How many cycles of each side there are up to a row, and with it. */
  upTo(row: number): Pair {
    const passed = { left: 0, right: 0 };
    for (const [first, left, right, count] of this.#runs) {
      if (first > row) break;
      const rows = Math.min(count, row - first + 1);
      if (left) passed.left = left + rows - 1;
      if (right) passed.right = right + rows - 1;
    }
    return passed;
  }

  /** The row of a cycle, 0 where there is none. */
  of(side: keyof Pair, index: number) {
    return side === "left" ? this.#rowOf(index, 0) : this.#rowOf(0, index);
  }

  #rowOf(one: number, two: number) {
    for (const [first, left, right, count] of this.#runs) {
      const within = (start: number, index: number) =>
        index > 0 && start > 0 && index >= start && index < start + count;
      if (within(left, one)) return first + one - left;
      if (within(right, two)) return first + two - right;
    }
    return 0;
  }

  /** The next row with different decisions after (1) or before (-1) a row, 0 where there is none. */
  seek(row: number, direction: 1 | -1) {
    return (direction > 0 ? this.different.find((one) => one > row) : this.different.findLast((one) => one < row)) ?? 0;
  }
}

/** Cycles of one number beside each other. */
function byNumber(left: number, right: number): [left: number, right: number, count: number][] {
  const both = Math.min(left, right);
  const found: [number, number, number][] = both ? [[1, 1, both]] : [];
  if (left > both) found.push([both + 1, 0, left - both]);
  if (right > both) found.push([0, both + 1, right - both]);
  return found;
}
