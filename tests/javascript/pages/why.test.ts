// Why?: why a pod is pending, what would change that, and where one asks.

import assert from "node:assert/strict";
import { it } from "node:test";
import { all, among, click, eventually, field, fill, one, press, saying, text, texts, focused } from "./queries.ts";
import { Workbench } from "./workbench.ts";

const TWO_REASONS = `
apiVersion: podstep/v1
kind: SimulationSettings
scheduler: v1.37
---
apiVersion: v1
kind: Node
metadata: {name: n1}
spec: {taints: [{key: gpu, effect: NoSchedule}]}
status: {allocatable: {cpu: 2, memory: 4Gi, pods: 9}}
---
apiVersion: v1
kind: Pod
metadata: {name: report}
spec: {containers: [{name: c, image: c, resources: {requests: {cpu: 3}}}]}
`;

/** The panel once its answer is there. */
const panel = (page: Workbench) =>
  eventually(() => {
    const found = one(page.document, "dialog");
    assert.ok(saying(found, "default/report").length);
    return found;
  });

async function ask(scenario = "reading-the-message") {
  const page = await Workbench.open(scenario, "step=1");
  await press(page.document.body, "w");
  return { page, why: await panel(page) };
}

async function close(page: Workbench) {
  await click(one(one(page.document, "dialog"), "button", "Close"));
  await eventually(() => assert.equal(all(page.document, "dialog").length, 0));
}

it("reasons and changes are listed, the smallest change first, verified and with its cost", async () => {
  const { why } = await ask();
  await eventually(() => focused(one(why, "heading", "Why is report pending?")));
  assert.match(text(why), /0\/5 nodes are available/);
  assert.match(text(among(all(why, "listitem"), "Insufficient cpu")), /2/);
  const first = await eventually(() => all(all(why, "list").at(-1)!, "listitem")[0]!);
  for (const said of [
    /Uncordon node node-a/,
    /verified: it would then be scheduled to node-a/,
    /unschedulable: null/,
    /cost 1/,
  ])
    assert.match(text(first), said);
  one(first, "button", "Apply in a copy");
  assert.match(text(why), /Cost is the sum of what a change takes: 0 is a corrected name, 1 a label/);
});

it("a cell of the matrix leads to the panel about its node, with numbers", async () => {
  const page = await Workbench.open("reading-the-message", "step=1&tab=predicates");
  const cell = page.panel.querySelector<HTMLElement>("td[aria-label$='GeneralPredicates: Insufficient cpu']")!;
  await click(cell);
  const why = await panel(page);
  one(why, "heading", /^Why is report not on node-[de]\?/);
  assert.match(text(why), /wants 4 cpu; 2 of 2 free, 2 short/);
});

it("why is asked where a node, the queue and the events stand", async () => {
  const page = await Workbench.open("reading-the-message", "step=1");
  await click(page.node("node-b"));
  await click(await eventually(() => one(page.document, "button", "Why not here?")));
  const why = await panel(page);
  await eventually(() => assert.match(text(why), /taint team=payments:NoSchedule is not tolerated/));
  await close(page);
  for (const [tab, name] of [
    [/^Queue/, "Why does report wait?"],
    [/^Events/, /Why was report not scheduled/],
  ] as const) {
    await page.tabbed(tab);
    await click(await eventually(() => one(page.panel, "button", name)));
    one(await panel(page), "heading", "Why is report pending?");
    await close(page);
  }
});

it("the scheduler's own answer comes before what would refuse as well", async () => {
  const { why } = await ask(TWO_REASONS);
  assert.match(text(why), /had untolerated taint\(s\); would refuse as well: Insufficient cpu/);
  await click(one(why, "button", "Why not on n1?"));
  await eventually(() => one(why, "heading", "Would refuse as well"));
  assert.deepEqual(texts(saying(why, /^(TaintToleration|NodeResourcesFit)$/)), ["TaintToleration", "NodeResourcesFit"]);
});

it("a name that is not there is an error with a way on", async () => {
  const { why } = await ask();
  await fill(field(why, "Ask about a node"), "nod-a");
  await click(one(why, "button", "Ask"));
  await eventually(() => assert.match(text(one(why, "alert")), /did you mean 'node-a'\?/));
  await click(one(why, "button", "Ask about all nodes"));
  await eventually(() => one(why, "heading", "Why is report pending?"));
});

it("what is asked is in the address, which opens the panel again", async () => {
  const { page, why } = await ask();
  await click(one(why, "button", "Why not on node-b?"));
  await eventually(() => one(why, "heading", "Why is report not on node-b?"));
  await eventually(() => assert.match(page.address, /why=default\/report&on=node-b$/));
  await page.reload();
  one(await panel(page), "heading", "Why is report not on node-b?");
});
