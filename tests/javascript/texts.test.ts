// Times, how far a bundle is read, costs of a change in comments, and the palette's search.

import assert from "node:assert/strict";
import { it } from "node:test";
import { progressOf } from "../../static/js/lib/progress.ts";
import { age, clock } from "../../static/js/lib/quantity.ts";
import { costs } from "../../static/js/workbench/draft/comments.ts";
import { match } from "../../static/js/workbench/commands/fuzzy.ts";

it("times are as kubectl prints ages: seconds to two minutes, milliseconds below ten seconds", () => {
  const ages = ["0s", "0.009s", "9.95s", "90s", "3m", "5m30s"];
  const times = [0, 0.009, 9.95, 90.002, 180, 330.5];
  assert.deepEqual(times.map(age), ages);
  assert.deepEqual(times.map(clock), [...ages.slice(0, 2), "9.950s", ...ages.slice(3)]);
  assert.deepEqual([3612, 39720, 3600, 912.2].map(clock), ["1h0m12s", "11h2m", "1h", "15m12s"]);
});

it("the stages of reading a bundle follow each other from nothing to the whole", () => {
  let far = 0;
  for (const stage of ["sending", "reading", "checking", "assembling"]) {
    const [[from], [half], [to]] = [0, 2, 4].map((done) => progressOf({ stage, done, of: 4 }));
    assert.ok(Math.abs(from - far) < 1e-9 && from < half && half < to, stage);
    far = to;
  }
  assert.ok(Math.abs(far - 1) < 1e-9);
  assert.equal(progressOf({ stage: "assembling", done: 1200, of: 5000 })[1], "Assembling the cluster: 1,200 of 5,000");
});

it("comments that a change removes are counted", () => {
  assert.equal(costs("a: 1 # x", "a: 2 # x", false), "");
  assert.equal(
    costs("a: 1 # x", "a: 2", false),
    " 1 comment inside the changed part was removed with it; Undo restores it.",
  );
});

it("letters in one piece, and at the beginnings of words, count more than letters here and there", () => {
  const order = (typed: string, names: string[]) =>
    names
      .filter((name) => match(typed, name))
      .sort((one, other) => match(typed, other)!.score - match(typed, one)!.score);
  const [best, ...others] = order("rb", ["Run to the next break", "Run back", "Scrub on", "Fork"]);
  assert.equal(best, "Run back");
  assert.ok(!others.includes("Fork"));
  assert.deepEqual(order("node", ["no derived name", "a node", "node", "anode"]), [
    "node",
    "a node",
    "anode",
    "no derived name",
  ]);
  assert.deepEqual(order("xyz", ["x", "xy", "yxz"]), []);
  assert.deepEqual(match("nn", "n-1n")!.at, [0, 3]);
});
