// The marks of the timeline as a pen draws them: what stands at one cycle leaves each other free.

import assert from "node:assert/strict";
import { it } from "node:test";
import { Marks } from "../../static/js/workbench/playback/marks.ts";

type Point = [x: number, y: number];

it("the diamond of a quirk is below the sign and the pennant that hang at its cycle", async () => {
  const style = () => ({ getPropertyValue: () => "" });
  const page = { matchMedia: () => ({ addEventListener() {} }), getComputedStyle: style, document: {} };
  Object.assign(globalThis, page); // what the modules of a page look at when they are loaded
  const { drawMarks } = await import("../../static/js/workbench/deck/marks.ts");
  const marks = new Marks();
  const cache = { hits: [1], evaluations: [0], invalidated: [0], stale: [1] };
  const others = { groups: [], passes: [], kueue: [] };
  marks.put(1, { result: "s", pod: [0], node: [0], time: [0], operations: [], restarts: [1], cache, ...others });
  marks.quirks.add(1);
  const shapes: Point[][] = [];
  const to = (...point: Point) => shapes.at(-1)!.push(point);
  const nothing = () => {};
  const pen: Record<string, unknown> = { beginPath: () => shapes.push([]), moveTo: to, lineTo: to };
  for (const one of ["closePath", "fill", "fillRect", "roundRect", "stroke"]) pen[one] = nothing;
  drawMarks(pen as any, { marks, width: 600, scale: 20, cycles: 1, known: 1, last: 1 });
  const heights = shapes.filter(({ length }) => length).map((points) => points.map(([, y]) => y));
  const [diamond, ...hanging] = heights.sort((a, b) => b.length - a.length);
  assert.deepEqual([diamond!.length, ...hanging.map(({ length }) => length)], [4, 3, 3]);
  assert.ok(Math.min(...diamond!) >= Math.max(...hanging.flat()));
});
