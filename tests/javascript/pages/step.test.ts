// Step after a prediction: what a cycle decides is shown before the next one, wherever one steps.

import assert from "node:assert/strict";
import { it } from "node:test";
import { click, one } from "./queries.ts";
import { arrived, back, go, on } from "./walk.ts";
import { Workbench } from "./workbench.ts";

const press = async (page: Workbench) => {
  await click(one(one(page.document, "group", "Transport"), "button", "Step"));
  return arrived(page);
};

it("from a link into a cycle the first step shows its decision, and the second one the next cycle", async () => {
  const page = await Workbench.open("shop");
  const { pathname } = page.window.location;
  for (const step of [press, () => go(page, "ArrowRight")]) {
    await page.goto(`${pathname}?step=2&phase=queue`);
    assert.deepEqual((await arrived(page)).slice(0, 3), [2, 0, "queue"]);
    assert.deepEqual((await step(page)).slice(0, 3), [2, 0, ""]);
    assert.deepEqual((await step(page)).slice(0, 3), [3, 0, ""]);
    assert.deepEqual((await on(page)).slice(0, 3), [4, 0, "queue"]);
    assert.deepEqual((await back(page)).slice(0, 3), [3, 0, "bind"]); // which tells the decision: there is no rest
    assert.deepEqual((await step(page)).slice(0, 3), [4, 0, ""]);
  }
  const framed = await Workbench.another(`${pathname.replace("/s/", "/e/")}?step=2&phase=predicates`);
  assert.equal((await arrived(framed))[2], "predicates");
  assert.deepEqual((await press(framed)).slice(0, 3), [2, 0, ""]);
});
