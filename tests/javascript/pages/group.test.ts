// A PodGroup and its workload, built by a form: what it adds, what is wrong, and how the group then stands.

import assert from "node:assert/strict";
import { it } from "node:test";
import { all, click, descriptionOf, eventually, field, fill, focused, one, send, text } from "./queries.ts";
import { Workbench } from "./workbench.ts";

const V1_11 = "---\napiVersion: podstep/v1\nkind: SimulationSettings\nscheduler: v1.11\n";
const NODES = ["n1", "n2"]
  .map(
    (name) => `apiVersion: v1
kind: Node
metadata: {name: ${name}}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
`,
  )
  .join("---\n");

async function opened() {
  const page = await Workbench.draft(NODES + V1_11);
  await click(one(page.build, "button", "Add"));
  await click(await eventually(() => one(page.build, "menuitem", "PodGroup and its workload")));
  const form = await eventually(() => one(page.document, "dialog", "A PodGroup and its workload"));
  await eventually(() => assert.equal(field(form, "minMember").value, "4"));
  return { page, form };
}

async function add(form: Element) {
  await click(one(form, "button", "Add"));
  await eventually(() => assert.ok(!form.isConnected));
}

const job = (page: Workbench) => all(page.build, "treeitem", /^job.train/).map(text);

it("the preview follows what is typed; three members wait for the fourth; Undo takes it back", async () => {
  const { page, form } = await opened();
  await fill(field(form, "Name"), "train");
  await fill(field(form, "cpu of a pod"), "2");
  const written = /kind: PodGroup[\s\S]*cpu: '2'[\s\S]*name: Coscheduling/;
  await eventually(() => assert.match(text(form), written));
  await add(form);
  await eventually(() => assert.match(job(page).join(), /0 \/ 4/));
  await page.settled();
  await page.step(4);
  await eventually(() => assert.match(job(page).join(), /4 \/ 4/));
  const others = one(page.build, "treeitem", /^Other objects/);
  send(others.querySelector(".twist")!, "MouseEvent", "click");
  await eventually(() => one(page.build, "treeitem", /^PodGroup/));
  await eventually(() => click(one(page.build, "button", "Undo")));
  await eventually(() => assert.deepEqual(job(page), []));
});

it("what is wrong stands at its field, and nothing is added", async () => {
  const { page, form } = await opened();
  const name = field(form, "Name");
  await fill(name, "Train_1");
  const memory = field(form, "memory of a pod");
  await fill(memory, "1x");
  await eventually(() => assert.equal(memory.getAttribute("aria-invalid"), "true"));
  assert.match(descriptionOf(memory), /'1x' is not a quantity/);
  await fill(memory, "");
  await click(one(form, "button", "Add"));
  await eventually(() => focused(name));
  assert.match(descriptionOf(name), /must consist of lower case letters/);
  assert.ok(form.isConnected);
  assert.equal(page.playback.pods.keys.length, 0);
});
