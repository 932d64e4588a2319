// PodGroups and the queues of virtual time: phase, members, timers, and why pods wait.

import assert from "node:assert/strict";
import { it } from "node:test";
import { all, among, click, eventually, hover, one, saying, text, focused } from "./queries.ts";
import { Workbench } from "./workbench.ts";

it("the members of a gang wait, and their nodes light up", async () => {
  const page = await Workbench.open("coscheduling-room", "step=3&tab=podgroups");
  const members = one(page.panel, "table", /^Members of/);
  await hover(one(members, "button", "worker-2"));
  await eventually(() => assert.deepEqual(page.nodes("hovered"), ["worker-2"]));
  const other = among(all(members, "row"), "worker-3");
  all(other, "button")[0]!.focus();
  await eventually(() => assert.deepEqual(page.nodes("hovered"), ["worker-3"]));
  await click(one(page.panel, "button", "on 3 nodes"));
  await eventually(() => assert.equal(page.nodes("lit").length, 3));
  assert.match(text(page.stage.querySelector("[aria-label='Marks on the nodes']")!), /3 waiting at Permit/);
  assert.equal(page.stage.querySelectorAll(".node .pod.waiting").length, 3);
  assert.equal(all(page.stage, "button", /1 waiting at Permit/).length, 3);
});

it("a gang waits with a deadline, and is bound by its fourth member", async () => {
  const page = await Workbench.open("coscheduling-room", "step=3&tab=podgroups");
  const lit = () => text(page.panel.querySelector(".phase-diagram [aria-current=step]")!);
  const members = () => one(page.panel, "table", /^Members of/);
  assert.match(lit(), /PreScheduling/);
  assert.equal(saying(members(), "waiting at Permit").length, 3);
  assert.match(text(page.panel.querySelector(".outlook")!), /3 wait at Permit/);
  assert.match(text(page.panel.querySelector(".gang-next")!), /10s left/);
  await page.step(4);
  assert.match(lit(), /Scheduled/);
  assert.equal(saying(members(), "bound").length, 4);
  assert.ok(saying(page.panel, "Consequences of this cycle").length);
  assert.equal(page.stage.querySelectorAll(".pod.waiting").length, 0);
  await page.step(3);
  const diagram = () => page.panel.querySelector(".phase-diagram")!;
  assert.match(text(diagram().querySelector("figcaption")!), /PreScheduling since cycle 1, for n ≥ minMember/);
  await click(saying(diagram(), "Transitions from PreScheduling")[0]!);
  assert.match(text(diagram()), /s ≥ minMember now 0 ≥ 4/);
  await page.step(2);
  assert.ok(saying(diagram(), "s ≥ minMember").length);
  const rules = one(diagram(), "link", /^All rules of the classic edition/);
  assert.equal(rules.getAttribute("href"), "/reference/podgroups/#classic");
});

it("a gang is rejected with its arithmetic and a mark", async () => {
  const page = await Workbench.open("coscheduling-no-room", "step=4&tab=podgroups");
  assert.match(text(page.panel), /\(4 − 3\) \/ 4 = 25 % are missing, more than 10 %/);
  assert.equal(saying(page.panel, "rejected in this cycle").length, 3);
  assert.match(text(page.panel.querySelector(".gang-next li.denied")!), /3s left/);
  assert.match(text(page.panel.querySelector(".outlook")!), /Denied: PreFilter turns its pods away/);
  assert.match(text(page.marks), /PodGroup rejected or timed out/);
  const said = "cycle 4 of 12, unschedulable, PodGroup nginx rejected";
  await eventually(() => assert.equal(page.timeline.getAttribute("aria-valuetext"), said));
});

it("the queue counts its pods, and says which events and which flush help one put aside", async () => {
  const page = await Workbench.open("coscheduling-no-room", "step=6&tab=queue");
  const lane = one(one(page.panel, "list", "Queues"), "button", /Unschedulable/);
  assert.match(text(lane), /5.*90s left/);
  await click(lane);
  await eventually(() => focused(one(page.panel, "heading", /^Unschedulable/)));
  const refused = among(page.panel.querySelectorAll(".reason-row"), "refused by NodeResourcesFit");
  assert.match(text(refused), /Moves by the flush: 90s left \(t = 90s\)/);
  assert.equal(saying(refused, "AssignedPodDelete")[0]!.getAttribute("title"), "a pod left its node");
  assert.equal(saying(refused, "PodGroupAdd").length, 0);
});

it("a pod that an event moved says which, and those at Permit have a section of their own", async () => {
  const page = await Workbench.open("churn", "step=9&tab=queue");
  assert.match(text(page.panel), /a pod left its node \(AssignedPodDelete\)/);
  assert.match(text(page.panel), /t = 12s/);
  await page.step(11);
  one(page.panel, "heading", /^Waiting at Permit/);
});

it("a group of the current edition that is backed off is listed like a denied one", async () => {
  const page = await Workbench.open("backed-off", "step=5&tab=podgroups");
  assert.match(text(page.panel.querySelector(".gangs")!), /20s left/);
  assert.match(text(page.panel.querySelector(".outlook")!), /Backed off: PreFilter turns its pods away/);
  const denials = text(page.panel.querySelector(".gang-denials")!);
  assert.match(denials, /Backed-off groups/);
  assert.match(denials, /until t = 20s/);
});

it("the last cycle's cluster is the same whichever way it was reached", async () => {
  const page = await Workbench.open("churn", "step=25");
  const placed = () => [...page.playback.cluster.placement];
  const direct = placed();
  await page.step(0);
  for (let index = 1; index <= 25; index += 1) await page.step(index);
  assert.deepEqual(placed(), direct);
  assert.equal(page.playback.pods.keys.length, direct.length);
});

it("under a Policy of v1.11 the tab says what a PodGroup is, and leads to an example", async () => {
  const page = await Workbench.open("first-cycle", "step=1&tab=podgroups");
  assert.match(text(page.panel), /No PodGroup is scheduled here\./);
  assert.equal(one(page.panel, "link", /^the example/).getAttribute("href"), "/#examples");
});

it("a group that is not in flight is shown in full, stays over a step, and is in the address", async () => {
  const page = await Workbench.open("gang-deadlock-coscheduled", "step=3&tab=podgroups");
  const other = page.panel.querySelector<HTMLElement>(".gangs [data-group]:not([aria-current])")!;
  const name = text(other);
  const shown = () => eventually(() => one(page.panel, "heading", new RegExp(`^PodGroup ${name}`)));
  await click(other);
  await shown();
  await eventually(() => assert.ok(page.address.includes(`view=default/${name}`)));
  await page.step(4);
  await shown();
  await page.reload();
  await shown();
});
