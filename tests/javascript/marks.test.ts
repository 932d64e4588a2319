// The marks of a long run: typed arrays, in which the next second or operation is found at once.

import assert from "node:assert/strict";
import { it } from "node:test";
import { Marks } from "../../static/js/workbench/playback/marks.ts";

const CYCLES = 100_000;

it("over 100,000 cycles the next second is found without looking at each of them", () => {
  const marks = new Marks();
  const none = new Array(CYCLES).fill(0);
  const time = none.map((_, index) => index / 10);
  const others = { restarts: [], cache: null, groups: [], passes: [], kueue: [] };
  marks.put(1, { result: "s".repeat(CYCLES), pod: none, node: none, time, operations: [5, 99_999], ...others });
  assert.ok(marks.time instanceof Float64Array && marks.operated instanceof Uint8Array);
  let looks = 0;
  marks.time = new Proxy(marks.time, {
    get(array, index) {
      looks += 1;
      return array[index as unknown as number];
    },
  });
  for (let second = 0; second < 10_000; second += 1) assert.equal(marks.firstAt(second), second * 10 + 1);
  assert.ok(looks < 10_000 * 20, `${looks} looks`);
  assert.equal(marks.seekOperation(5, 1), 99_999);
});
