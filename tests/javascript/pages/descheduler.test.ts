// The tabs Descheduler and Flow.

import assert from "node:assert/strict";
import { it } from "node:test";
import { all, click, eventually, one, text, texts } from "./queries.ts";
import { Workbench } from "./workbench.ts";

it("passes, thresholds and pods that come back are shown, at the last pass", async () => {
  const page = await Workbench.example("descheduler-ping-pong", "step=2.4&tab=descheduler");
  const passes = page.panel.querySelector(".descheduling-passes")!;
  assert.equal(passes.querySelectorAll("tbody tr").length, 4);
  const returns = text(page.panel.querySelector(".descheduling-returns")!);
  assert.match(returns, /came back to worker-1 and were evicted again, 3/);
  const bars = [...page.panel.querySelectorAll(".descheduling-bars tbody tr")];
  assert.equal(bars.length, 2);
  assert.equal(bars[0]!.querySelector<HTMLElement>(".used")!.style.width, "75%");
  assert.equal(bars[0]!.querySelector<HTMLElement>("i.high")!.style.left, "50%");
  assert.match(text(page.panel.querySelector(".descheduling-strategy .tabled tbody tr")!), /evicted/);
  assert.doesNotMatch(text(page.build), /not there/);
});

it("a pass leads to its cycle, and is on the timeline with its reason", async () => {
  const page = await Workbench.example("descheduler-ping-pong", "step=2.4&tab=descheduler");
  await click(one(page.panel.querySelector(".descheduling-passes")!, "button", "60s"));
  await page.at(4);
  await eventually(() => assert.equal(page.panel.querySelectorAll(".descheduling-passes tbody tr").length, 1));
  const said = () => page.timeline.getAttribute("aria-valuetext")!;
  await eventually(() => assert.match(said(), /descheduler: pass 1 evicts 1 \(LowNodeUtilization 1\): node /));
});

it("whether it helped is said first", async () => {
  const page = await Workbench.example("descheduler-low-utilization", "step=end&tab=descheduler");
  const worth = text(page.panel.querySelector(".descheduling-worth")!);
  for (const said of [/3 pods evicted so far/, /cpu 87\.5% → 12\.5%/, /The last pass found nothing to evict/])
    assert.match(worth, said);
  assert.match(text(page.marks), /descheduler ran/);
});

it("the flow of a round has a line for each arc and a row for each pod", async () => {
  const page = await Workbench.example("firmament-gang", "step=1.1&tab=network");
  // To three machines by two classes, and the aggregator.
  assert.equal(page.panel.querySelectorAll(".arc.flowing").length, 7);
  assert.match(text(page.panel.querySelector(".network-picture")!), /1\/1 · 2,000/);
  assert.equal(texts(all(page.panel, "rowheader")).filter((name) => name.includes("train-")).length, 5);
  assert.match(text(page.panel), /its gang has fewer places than its minimum/);
  assert.equal(page.document.querySelectorAll(".toast").length, 0);
});

it("the verb is in a node's menu where a descheduler runs; without one neither verb nor tab is there", async () => {
  for (const [slug, count] of [
    ["descheduler-low-utilization", 1],
    ["drain-budget", 0],
  ] as const) {
    const page = await Workbench.draft(slug);
    assert.equal(all(page.inspect, "tab", /^Descheduler/).length, count);
    const verbs = await page.menu("worker-1");
    one(verbs, "menuitem", "Cordon…");
    assert.equal(all(verbs, "menuitem", "Deschedule…").length, count);
  }
});
