// The Policy tab of a draft that v1.37 answers: its plugins, weights, arguments and feature gates by form.

import assert from "node:assert/strict";
import { it } from "node:test";
import { all, among, choose, click, enter, eventually, field, fill, one, text } from "./queries.ts";
import { Workbench, texts } from "./workbench.ts";

async function open() {
  const page = await Workbench.draft("two-nodes", "step=1");
  await click(one(page.build, "tab", "Policy"));
  await eventually(() => one(panel(page), "heading", /^Score plugins/));
  return page;
}

const panel = (page: Workbench) => one(page.build, "tabpanel", "Policy");
const plugin = (page: Workbench, name: string) => panel(page).querySelector(`.plugins li[data-name=${name}]`)!;
const press = (page: Workbench, role: string, name: string | RegExp) =>
  eventually(() => click(one(panel(page), role, name)));
const says = (page: Workbench, name: string, said: RegExp) =>
  eventually(() => assert.match(text(plugin(page, name)), said));
const checked = (page: Workbench, name: string, is: boolean) =>
  eventually(() => assert.equal((one(panel(page), "switch", name) as HTMLInputElement).checked, is));

/** The only pod is placed there. */
async function goesTo(page: Workbench, node: string) {
  await page.tabbed("Story");
  await eventually(() => assert.match(text(page.panel), new RegExp(`new is placed on ${node}`)));
}

async function form(page: Workbench, plugin: string) {
  await press(page, "button", `Arguments of ${plugin}`);
  return eventually(() => one(page.document, "dialog", `Arguments of ${plugin}`));
}

async function change(page: Workbench, dialog: Element) {
  await click(one(dialog, "button", "Change"));
  await eventually(() => assert.ok(!dialog.isConnected));
}

it("what does not exist in v1.37 has no heading", async () => {
  const page = await open();
  for (const absent of ["Equivalence cache", "Predicates", "Priorities"])
    assert.equal(all(panel(page), "heading", new RegExp(`^${absent}`)).length, 0);
  await says(page, "NodeResourcesFit", /LeastAllocated\s*default/);
  await goesTo(page, "empty");
});

it("arguments are changed by form, what is wrong is said at its field, and comments stay", async () => {
  const page = await open();
  const dialog = await form(page, "NodeResourcesFit");
  await choose(field(dialog, "type"), "MostAllocated");
  const weight = () =>
    [...dialog.querySelectorAll<HTMLInputElement>("input")].find((one) => one.value === "1" || one.value === "101")!;
  await fill(weight(), "101");
  await click(one(dialog, "button", "Change"));
  await eventually(() => among(all(dialog, "alert"), "row 1, weight must be at most 100, not 101"));
  assert.equal(weight().getAttribute("aria-invalid"), "true");
  await fill(weight(), "1");
  await change(page, dialog);
  await says(page, "NodeResourcesFit", /MostAllocated/);
  await goesTo(page, "full");
  assert.match(await page.text(), /# goes to the emptier node/);
  await click(one(page.build, "button", "Undo"));
  await says(page, "NodeResourcesFit", /LeastAllocated/);
  await goesTo(page, "empty");
  assert.equal(await page.text(), texts["two-nodes"]);
});

it("a resource that is added to those of a score begins with weight 1, as upstream's do", async () => {
  const page = await open();
  const dialog = await form(page, "NodeResourcesFit");
  await click(one(dialog, "button", "Add a resource"));
  await fill(all(dialog, "textbox", "resource").at(-1) as HTMLInputElement, "example.com/gpu");
  await change(page, dialog);
  await eventually(async () => assert.match(await page.text(), /name: example\.com\/gpu\n\s+weight: 1\n/));
});

it("a plugin is switched off, but the only one that binds is not", async () => {
  const page = await open();
  await press(page, "switch", "NodePorts");
  await says(page, "NodePorts", /off/);
  await page.tabbed(/^Filter/);
  await eventually(() => assert.doesNotMatch(text(page.panel), /NodePorts/));
  await press(page, "switch", "DefaultBinder");
  await eventually(() => assert.match(text(one(plugin(page, "DefaultBinder"), "alert")), /at least one bind plugin/));
  await checked(page, "DefaultBinder", true);
  await click(one(page.build, "button", "Undo"));
  await checked(page, "NodePorts", true);
});

it("a default constraint is made by rows, and undone", async () => {
  const page = await open();
  const dialog = await form(page, "PodTopologySpread");
  await choose(field(dialog, "defaultingType"), "List");
  await eventually(() => click(one(dialog, "button", "Add a constraint")));
  await choose(await eventually(() => field(dialog, "whenUnsatisfiable")), "DoNotSchedule");
  await change(page, dialog);
  await says(page, "PodTopologySpread", /topology\.kubernetes\.io\/zone ≤ 1 DoNotSchedule/);
  assert.match(await page.text(), /defaultingType: List/);
  await click(one(page.build, "button", "Undo"));
  await eventually(() => assert.doesNotMatch(text(plugin(page, "PodTopologySpread")), /DoNotSchedule/));
});

it("a weight and the share of nodes have defaults that one comes back to", async () => {
  const page = await open();
  const weight = () => one(panel(page), "spinbutton", /^Weight of NodeAffinity;/) as HTMLInputElement;
  const beside = () => text(plugin(page, "NodeAffinity").querySelector(".plugin-weight")!);
  assert.equal(beside(), "default");
  await enter(weight(), "7");
  await eventually(() => assert.equal(beside(), "default 2"));
  await press(page, "button", "Default weight of NodeAffinity");
  await eventually(() => assert.equal(weight().value, "2"));
  await enter(field(panel(page), "percentageOfNodesToScore"), "300");
  await eventually(() => assert.match(text(one(panel(page), "alert")), /from 0 to 100, where 0 is adaptive/));
  await enter(field(panel(page), "percentageOfNodesToScore"), "40");
  await eventually(() => one(panel(page), "button", "Default of percentageOfNodesToScore"));
});

it("a gate says which other it needs, and switches what it brings", async () => {
  const page = await open();
  await press(page, "switch", "TopologyAwareWorkloadScheduling");
  const row = () => panel(page).querySelector("li[data-name=TopologyAwareWorkloadScheduling]")!;
  await eventually(() => assert.match(text(one(row(), "alert")), /needs GenericWorkload/));
  await press(page, "switch", "GenericWorkload");
  await checked(page, "GangScheduling", true);
});

it("profiles have plugins of their own, at single points too", async () => {
  const page = await open();
  await press(page, "button", "Profile");
  const choice = await eventually(() => one(panel(page), "group", "Profile"));
  assert.equal(all(choice, "button").length, 2);
  await press(page, "switch", "ImageLocality");
  await checked(page, "ImageLocality", false);
  await click(one(one(panel(page), "group", "Profile"), "button", "default-scheduler"));
  await checked(page, "ImageLocality", true);
  await click(panel(page).querySelector<HTMLElement>("summary[data-control='points:NodePorts']")!);
  await press(page, "switch", "NodePorts at filter");
  await says(page, "NodePorts", /off at filter/);
});

it("added affinity is written by rows, and keeps pods off the nodes that it does not select", async () => {
  const page = await open();
  const dialog = await form(page, "NodeAffinity");
  await click(one(dialog, "button", "Add a required term"));
  await fill(await eventually(() => field(dialog, "label key")), "topology.kubernetes.io/zone");
  await fill(field(dialog, "values"), "b");
  await change(page, dialog);
  await says(page, "NodeAffinity", /topology\.kubernetes\.io\/zone In b/);
  await goesTo(page, "full");
});
