// The cards of nodes on the stage: what is wrong with one, to the moment.

import assert from "node:assert/strict";
import { it } from "node:test";
import { eventually, nameOf, one, text } from "./queries.ts";
import { arrived } from "./walk.ts";
import { Workbench } from "./workbench.ts";

it("a node that controllers found silent says so, forwards and backwards", async () => {
  const page = await Workbench.open("node-fails", "step=5");
  const card = () => page.node("worker-2");
  const badges = (words: string) => [...card().querySelectorAll(".badge")].filter((one) => text(one).includes(words));
  const silent = (count: number) => eventually(() => assert.equal(badges("NotReady").length, count));
  await silent(0);
  await page.step(6);
  await silent(1);
  assert.match(badges("NotReady")[0]!.getAttribute("title")!, /^Ready=Unknown, MemoryPressure=Unknown/);
  assert.equal(badges("Pressure").length, 0); // nothing is known of a silent node
  const taints = [...card().querySelectorAll("[title]")].find((one) => text(one) === "2 taints")!;
  assert.match(taints.getAttribute("title")!, /unreachable:NoExecute/);
  assert.match(nameOf(card()), /NotReady, tainted node\.kubernetes\.io\/unreachable/);
  await page.step(7);
  assert.match(text(page.stage), /4 of 5 pods placed · 2 Terminating/); // those are not counted as placed
  await eventually(() => assert.match(text(one(page.build, "treeitem", /deploy.web/)), /4 \/ 5/));
  for (const [index, count] of [
    [8, 1],
    [10, 0],
    [5, 0],
  ] as const) {
    await page.step(index);
    await silent(count);
  }
  const moment = () => text(page.document.querySelector(".moment-text")!);
  for (let at = 1; at <= 14; at += 1) {
    page.playback.goto(6, undefined, { at });
    await arrived(page);
    assert.match(moment(), new RegExp(`${at} / 14`));
    if (moment().includes("worker-2 is not ready")) break;
  }
  assert.match(moment(), /is not ready/);
  await silent(1);
});
