// How large the stage's cards are, and how they stand.

import assert from "node:assert/strict";
import { it } from "node:test";
import { fit } from "../../static/js/workbench/stage/fit.ts";

it("groups beside each other share the whole width by their cards", () => {
  const room = { width: 1400, height: 260, least: 13, bars: 2 };
  const { columns, per, card } = fit([1, 3, 2], room)!;
  assert.deepEqual(per, [1, 3, 2]);
  assert.ok(columns[1] > 3 * card && columns[1] > columns[2] && columns[2] > columns[0]);
  const taken = columns.reduce((sum, one) => sum + one, 0);
  assert.ok(taken < room.width && taken > room.width - 40, `${taken} of ${room.width} pixels`);
});
