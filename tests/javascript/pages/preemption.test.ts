// The Preemption tab: who had to go, pod by pod, and which criterion picked the node.

import assert from "node:assert/strict";
import { it } from "node:test";
import { all, among, click, eventually, one, rowsOf, text, texts } from "./queries.ts";
import { Workbench } from "./workbench.ts";

const open = () => Workbench.open("making-room", "step=1&tab=preemption");
const CANDIDATES = "Candidate nodes, the chosen one first";

it("the story leads to the tab, whose number says that there is one", async () => {
  const page = await Workbench.open("making-room", "step=1");
  assert.match(text(one(page.inspect, "tab", /^Preemption/)), /1/);
  await click(one(await page.tabbed("Story"), "button", "Preemption"));
  await eventually(() =>
    assert.match(text(page.panel), /report-4 is deleted from worker-4 to make room for checkout\./),
  );
  await eventually(() => assert.match(page.address, /tab=preemption/));
});

it("the chosen node comes first, and each other with what dropped it", async () => {
  const page = await open();
  const table = one(page.panel, "table", CANDIDATES);
  const of = (number: number) => text(table.querySelectorAll("tr[data-of]")[number]!);
  assert.deepEqual(
    texts(table.querySelectorAll("tr[data-of] .candidate [data-at]")),
    [4, 5, 3, 2, 1].map((number) => `worker-${number}`),
  );
  assert.match(of(0), /worker-4.*chosen first by name/);
  assert.match(of(4), /worker-1.*dropped out: fewest PDB/);
});

it("a dry run reprieves pods in their order, and names the budget that a victim violates", async () => {
  const page = await open();
  const steps = one(page.panel, "list", "Reprieved pods, in order");
  const said = all(steps, "listitem").map(text);
  for (const [at, words] of [
    /1.*kept.*web-4.*priority 100/,
    /2.*victim.*report-4.*priority 10.*with it here: Insufficient cpu/,
    /3.*kept.*logs-4.*priority 10/,
  ].entries())
    assert.match(said[at]!, words);
  assert.equal(said.length, 3);
  const opener = one(page.panel, "button", "Dry run on worker-1");
  await click(opener);
  await eventually(() => assert.equal(opener.getAttribute("aria-expanded"), "true"));
  await eventually(() => assert.match(text(page.panel), /PDB db/));
  await click(opener);
  await eventually(() => assert.doesNotMatch(text(page.panel), /PDB db/));
});

it("every criterion shows who stays, with the value, and who is out", async () => {
  const page = await open();
  const table = one(page.panel, "table", /^The criteria in turn/);
  const rows = rowsOf(table).map((row) => row.join(" "));
  assert.equal(rows.length, 6);
  assert.match(rows[1]!, /fewest PDB violations.*worker-2, .*0 violations.*worker-1.*1 violation/);
  assert.match(rows[5]!, /first by name.*decided.*worker-4.*worker-5/);
  const struck = [...table.querySelectorAll("s")];
  assert.deepEqual(texts(struck), ["worker-1", "worker-2", "worker-3", "worker-5"]);
  await click(one(struck[0]!, "button", "worker-1"));
  await eventually(() => one(page.stage, "heading", "worker-1"));
});

it("a reason says of how many nodes, and a click shows them on the stage", async () => {
  const page = await open();
  const group = among(all(page.panel, "listitem"), "deleting pods does not resolve");
  assert.match(text(group), /taints that the pod didn't tolerate/);
  await click(one(group, "button", "1 node"));
  await eventually(() => assert.deepEqual(page.nodes("lit"), ["gpu-1"]));
});

it("the empty tab says why there was none, and goes to the cycle that has one", async () => {
  const page = await open();
  await page.step(2);
  assert.match(text(page.panel), /A node was found for default\/checkout/);
  await click(one(page.panel, "button", "Last cycle with one: #1"));
  await page.at(1);
  assert.equal(all(page.panel, "table").length, 2);
});
