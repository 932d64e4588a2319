// Clusters and workloads built by forms: what is added, many nodes at once, mistakes, and Undo.

import assert from "node:assert/strict";
import { it } from "node:test";
import { all, choose, click, descriptionOf, eventually, field, fill, focused, one, text } from "./queries.ts";
import { Workbench } from "./workbench.ts";

const NODES = [
  ["a-1", "ssd"],
  ["a-2", "ssd"],
  ["b-1", "hdd"],
]
  .map(
    ([name, disk]) => `# node ${name}
apiVersion: v1
kind: Node
metadata: {name: ${name}, labels: {disk: ${disk}}}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
`,
  )
  .join("---\n");
const ALONE = "apiVersion: v1\nkind: Pod\nmetadata: {name: alone}\nspec: {containers: [{name: c}]}\n";

const V1_11 = "---\napiVersion: podstep/v1\nkind: SimulationSettings\nscheduler: v1.11\n";

const own = (scenario = NODES) => Workbench.draft(scenario + V1_11);
const keys = (page: Workbench): string[] => page.playback.pods.keys;
const pods = (page: Workbench, count: number) => eventually(() => assert.equal(keys(page).length, count));
/** The taints of each node; the page's own arrays are another window's. */
const taints = ({ playback }: Workbench) => Array.from<string[], string[]>(playback.nodes.taints, (one) => [...one]);
const bar = (page: Workbench, name: string) => one(page.build, "button", name) as HTMLButtonElement;
const enabled = (button: HTMLButtonElement) => eventually(() => assert.ok(!button.disabled));

/** Choose an entry of the menu Add; return the dialog that it opens. */
async function add(page: Workbench, what: string) {
  await eventually(() => click(bar(page, "Add")));
  await click(await eventually(() => one(page.build, "menuitem", what)));
  return eventually(() => one(page.document, "dialog"));
}

/** Press a button of a dialog, which closes it. */
async function done(dialog: Element, button = "Add") {
  await click(one(dialog, "button", button));
  await eventually(() => assert.ok(!dialog.isConnected));
}

it("many nodes are tainted as one step, which the preview counts and shows", async () => {
  const page = await own();
  const dialog = await add(page, "Change many nodes…");
  const says = (words: RegExp) => eventually(() => assert.match(text(dialog), words));
  await says(/3 of 3 nodes chosen/);
  await fill(field(dialog, "Label selector"), "disk=ssd");
  const taint = field(dialog, "Taint");
  await fill(taint, "slow");
  await eventually(() => assert.match(descriptionOf(taint), /write key=value:effect/));
  await fill(taint, "slow=yes:NoSchedule");
  await says(/2 of 3 nodes chosen, all of them change/);
  const changes = () => page.document.querySelector("[aria-label='What changes of a-1']")!;
  await eventually(() => assert.match(text(changes()), /\+\s+taints:/));
  await done(dialog, "Taint 2 nodes");
  await eventually(() => assert.deepEqual(taints(page), [["slow=yes:NoSchedule"], ["slow=yes:NoSchedule"], []]));
  assert.equal(bar(page, "Undo").getAttribute("title"), "Undo: taint 2 nodes: slow=yes:NoSchedule");
  await click(bar(page, "Undo"));
  await eventually(() => assert.equal(taints(page)[0]!.length, 0));
  await enabled(bar(page, "Redo"));
  await click(bar(page, "Redo"));
  await eventually(() => assert.equal(taints(page)[1]!.length, 1));
});

it("of many chosen nodes the preview names the first, and counts the others where there are any", async () => {
  const [node, , other] = NODES.split("---\n");
  const alike = Array.from({ length: 24 }, (_, at) => node!.replaceAll("a-1", `a-${at + 10}`));
  const page = await own([...alike, other].join("---\n"));
  const dialog = await add(page, "Change many nodes…");
  const named = () => text(dialog.querySelector(".chips")!);
  await eventually(() => assert.match(named(), /a-33and 1 more$/));
  await fill(field(dialog, "Label selector"), "disk=ssd");
  await eventually(() => assert.match(text(dialog), /24 of 25 nodes chosen/));
  assert.match(named(), /a-33$/);
});

it("Change many nodes begins with what is selected on the stage", async () => {
  const page = await own();
  await click(page.node("b-1"));
  const deleting = await add(page, "Change many nodes…");
  assert.ok(field(deleting, /^Selected: b-1/).checked);
  await choose(field(deleting, "Change"), "Delete");
  await eventually(() => one(deleting, "button", "Delete 1 node"));
  await done(deleting, "Delete 1 node");
  await eventually(() => assert.equal(all(page.stage, "button", /^b-1, cpu/).length, 0));
  const cordoning = await add(page, "Change many nodes…");
  await click(field(cordoning, /^By names/));
  await fill(await eventually(() => field(cordoning, "Names")), "*-2");
  await choose(field(cordoning, "Change"), "Cordon");
  await eventually(() => one(cordoning, "button", "Cordon 1 node"));
  await done(cordoning, "Cordon 1 node");
  await eventually(() => assert.ok(page.playback.nodes.unschedulable?.[1]));
});

it("a form reports at once what is wrong and where; nothing is added, and the first wrong field is shown", async () => {
  const page = await own();
  const form = await add(page, "Node pool");
  const name = field(form, "Name");
  assert.equal(name.value, "general");
  await fill(name, "a");
  await eventually(() => assert.equal(descriptionOf(name), "Node a-1 exists already, and 1 more"));
  await fill(name, "c");
  const memory = field(form, "memory");
  await fill(memory, "16GB");
  await eventually(() => assert.equal(memory.getAttribute("aria-invalid"), "true"));
  assert.equal(descriptionOf(memory), "'16GB' is not a quantity: did you mean '16G'?");
  await click(one(form, "button", "Add"));
  await eventually(() => focused(memory));
  await fill(memory, "16Gi");
  await eventually(() => assert.equal(memory.getAttribute("aria-invalid"), "false"));
  await done(form);
  await eventually(() => page.node("c-3"));
  const workload = await add(page, "Deployment");
  const folds = () => click(one(workload, "button", "Where they may run"));
  await fill(field(workload, "Name"), "x");
  await folds();
  await fill(field(workload, "Tolerations"), "gpu:Never");
  await folds();
  assert.throws(() => field(workload, "Tolerations"));
  await click(one(workload, "button", "Add"));
  await eventually(() => focused(field(workload, "Tolerations")));
  await done(workload, "Cancel");
});

it("at a step an object is created after it", async () => {
  const page = await own();
  await done(await add(page, "Pod"));
  await pods(page, 1);
  await page.settled();
  await page.step(1);
  const form = await add(page, "StatefulSet");
  await fill(field(form, "Name"), "db");
  await click(field(form, /^After cycle 1/));
  await done(form);
  await eventually(() => assert.match(text(one(page.build, "region", /^Events/)), /create StatefulSet default\/db/));
  await page.settled();
  assert.equal(page.playback.index, 1);
  await page.step(2);
  assert.ok(keys(page).some((key) => key.includes("db-0")));
});

it("a generated cluster takes the place of a draft as one step, or adds to it unless names are taken", async () => {
  const page = await own();
  const recipe = await add(page, "Generate a cluster…");
  await choose(field(recipe, "Begin with a recipe"), "Nodes alone");
  const nodes = () => field(recipe, "Nodes");
  await fill(await eventually(nodes), "0");
  await eventually(() => assert.equal(descriptionOf(nodes()), "must be a whole number from 1 to 20,000, not '0'"));
  await fill(nodes(), "2");
  await click(one(recipe, "button", "Add workloads"));
  const row = await eventually(() => one(recipe, "group", "workload"));
  await fill(field(row, "Workload"), "web");
  await fill(field(row, "Pods each"), "3");
  await eventually(() => assert.match(text(recipe), /2 nodes, 8 cpu, 32Gi memory; 3 pods of web \(3\)/));
  await done(recipe, "Add to this draft");
  await pods(page, 3);
  await eventually(() => assert.equal(taints(page).length, 5));
  const again = await add(page, "Generate a cluster…");
  await choose(field(again, "Begin with a recipe"), "Nodes alone");
  await click(one(again, "button", "Add to this draft"));
  await eventually(() => assert.match(text(one(again, "alert")), /Node node-01 exists already/));
  await done(again, "Replace this draft");
  await pods(page, 0);
  await eventually(() => assert.equal(taints(page).length, 3));
  await click(bar(page, "Undo"));
  await pods(page, 3);
});

it("a cluster without nodes says how to get some", async () => {
  const page = await own(ALONE);
  one(page.stage, "button", "Generate a cluster…");
  await click(one(page.stage, "button", "Add a node pool"));
  await done(await eventually(() => one(page.document, "dialog", "Node pool")));
  await eventually(() => page.node("general-1"));
  await page.settled();
  await page.step(1);
  assert.ok(all(page.stage, "button", "alone").length);
});
