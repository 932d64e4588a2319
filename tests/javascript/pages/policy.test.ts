// The Policy tab of v1.11: order, predicates, weights, the cache, profiles; and a scheduler that was restarted.

import assert from "node:assert/strict";
import { it } from "node:test";
import {
  all,
  choose,
  click,
  descriptionOf,
  enter,
  eventually,
  field,
  fill,
  focused,
  one,
  shown,
  text,
  texts,
} from "./queries.ts";
import { Workbench } from "./workbench.ts";

const PROFILES = `apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Node, metadata: {name: a}, status: {allocatable: {cpu: 4, memory: 8Gi, pods: 10}}}
- {apiVersion: v1, kind: Node, metadata: {name: b}, status: {allocatable: {cpu: 4, memory: 8Gi, pods: 10}}}
- {apiVersion: v1, kind: Pod, metadata: {name: one}, spec: {containers: [{name: c}]}}
---
apiVersion: kubescheduler.config.k8s.io/v1beta2
kind: KubeSchedulerConfiguration
profiles:
- plugins: {score: {enabled: [{name: NodeAffinity, weight: 5}]}}
`;

const panel = (page: Workbench) => one(page.build, "tabpanel", "Policy");
const press = (page: Workbench, role: string, name: string | RegExp) =>
  eventually(() => click(one(panel(page), role, name)));
const weight = (page: Workbench, name: string) =>
  one(panel(page), "spinbutton", new RegExp(`^Weight of ${name}(;|$)`)) as HTMLInputElement;
const status = (page: Workbench, said: RegExp) =>
  eventually(() => assert.match(texts(all(panel(page), "status")).join(" "), said));
const ladder = (page: Workbench) => text(page.panel.querySelector(".ladder")!);

async function policy(page: Workbench) {
  await click(one(page.build, "tab", "Policy"));
  await eventually(() => one(panel(page), "heading", /^Priorities/));
  return page;
}

const own = async (scenario = "shop", query = "") => policy(await Workbench.draft(scenario, query));

it("the order changes the ladder at the same step, is written into the text, and undone", async () => {
  const page = await own("shop", "step=3&tab=predicates");
  assert.match(ladder(page), /GeneralPredicates/);
  await choose(field(panel(page), "Static order of predicates"), "proposal");
  await eventually(() => assert.match(ladder(page), /MatchNodeSelector.*PodFitsResources/));
  assert.doesNotMatch(ladder(page), /GeneralPredicates/);
  await page.at(3);
  assert.match(await page.text(), /kind: SimulationSettings\nscheduler: v1\.11\npredicateOrder: proposal\n$/);
  await click(one(page.build, "button", "Undo"));
  await eventually(() => assert.match(ladder(page), /GeneralPredicates/));
  await page.at(3);
  assert.doesNotMatch(await page.text(), /predicateOrder/);
});

it("a predicate switched off is gone from the ladder, a weight counts, a wrong one is refused", async () => {
  const page = await own("shop", "step=1&tab=predicates");
  await press(page, "switch", "NoDiskConflict");
  await eventually(() => assert.match(text(one(panel(page), "heading", /^Predicates/)), /12 in this order/));
  await eventually(() => assert.doesNotMatch(ladder(page), /NoDiskConflict/));
  const least = () => weight(page, "LeastRequestedPriority");
  await enter(least(), "7");
  await status(page, /LeastRequestedPriority weight 7/);
  await eventually(() => assert.equal(Object.fromEntries(page.playback.policy.priorities).LeastRequestedPriority, 7));
  await enter(least(), "1.5");
  await status(page, /a whole number from 0/);
  assert.equal(least().value, "7");
});

it("the cache is set with what each choice does, and the focus stays", async () => {
  const page = await own();
  const mode = () => field(panel(page), "Cache mode");
  const remedy = () => field(panel(page), "Stale writes");
  const audit = () => one(panel(page), "switch", "Audit every hit") as HTMLInputElement;
  assert.match(descriptionOf(mode()), /nothing is kept/);
  assert.ok(audit().disabled);
  assert.equal(descriptionOf(remedy()), "Nothing is cached, so it has no effect.");
  await choose(mode(), "designed");
  await eventually(() => assert.match(descriptionOf(mode()), /Some rows are missing/));
  focused(mode());
  await eventually(() => click(audit()));
  await status(page, /Audit every hit: on/);
  await eventually(() => assert.ok(audit().checked));
  await choose(remedy(), "no remedy");
  await eventually(() => assert.match(descriptionOf(remedy()), /even if an event overtook/));
  await choose(field(panel(page), "Equivalence class"), "by attributes");
  await status(page, /Equivalence class: by attributes/);
  const wanted = { cache: "designed", audit: true, staleWrites: "none", equivalenceClass: "attributes" };
  await eventually(() => assert.deepEqual({ ...page.playback.policy, ...wanted }, { ...page.playback.policy }));
  await choose(mode(), "batching");
  await eventually(() => assert.ok(audit().disabled));
  assert.match(descriptionOf(audit()), /Batching keeps rankings/);
});

it("what is shared can be read and not changed", async () => {
  const page = await policy(await Workbench.open("shop"));
  for (const control of [
    field(panel(page), "Quirks of v1.11"),
    one(panel(page), "switch", "GeneralPredicates"),
    weight(page, "NodeAffinityPriority"),
  ])
    assert.ok(control.matches(":disabled"));
  assert.equal(all(page.build, "button", "Undo").length, 0);
  const marks = texts([...page.marks.children].filter(shown));
  assert.ok(marks.includes("error"));
  assert.ok(!marks.includes("scheduler restarted"));
});

it("a restart is marked, said and shown, each policy at the cycles that it decides", async () => {
  const page = await policy(await Workbench.open("restarts"));
  const said = () => page.timeline.getAttribute("aria-valuetext")!;
  const predicates = () => text(one(panel(page), "heading", /^Predicates/));
  assert.match(text(page.marks), /scheduler restarted/);
  await page.step(2);
  await eventually(() => assert.match(predicates(), /13 in this order/));
  await eventually(() => assert.match(said(), /^cycle 2/));
  assert.doesNotMatch(said(), /the scheduler was restarted before it/);
  await page.step(3);
  await eventually(() => assert.match(said(), /the scheduler was restarted before it/));
  await page.tabbed("Story");
  assert.match(text(page.panel), /The scheduler was restarted with another policy: /);
  await eventually(() => assert.match(predicates(), /3 in this order/));
  await eventually(() => assert.match(text(panel(page)), /The scheduler was restarted before this cycle\./));
  await page.tabbed(/^Predicates/);
  assert.match(text(page.panel), /every pair is checked/);
  await page.step(4);
  const order = () => field(panel(page), "Static order of predicates").value;
  await eventually(() => assert.equal(order(), "proposal"));
  await press(page, "button", "To the policy at the start");
  await page.at(0);
  await eventually(() => assert.equal(order(), "v1.11"));
});

it("a configuration of the framework is changed as a policy, in its profile", async () => {
  const page = await own(PROFILES);
  const affinity = () => weight(page, "NodeAffinityPriority");
  assert.equal(affinity().value, "5");
  await enter(affinity(), "9");
  await eventually(async () => assert.match(await page.text(), /name: NodeAffinity,?\s+weight: 9/));
  assert.doesNotMatch(await page.text(), /kind: Policy/);
});

it("predicates and priorities with arguments are made by form", async () => {
  const page = await own();
  const row = (name: string) => text(panel(page).querySelector(`li[data-name=${name}]`)!);
  const form = (name: string) => eventually(() => one(page.document, "dialog", name));
  const done = async (dialog: Element, button: string) => {
    await click(one(dialog, "button", button));
    await eventually(() => assert.ok(!dialog.isConnected));
  };
  await click(all(panel(page), "button", "Add one with an argument…")[0]!);
  const labels = await form("Add one with an argument");
  await choose(field(labels, "kind"), "labelsPresence");
  await fill(await eventually(() => field(labels, "labels")), "zone, disk");
  await done(labels, "Add");
  await eventually(() => assert.match(row("CheckNodeLabelPresence"), /labelsPresence: zone, disk/));
  await press(page, "button", "Change CheckNodeLabelPresence");
  const presence = await form("Arguments of CheckNodeLabelPresence");
  await click(one(presence, "switch", "presence"));
  await done(presence, "Change");
  await eventually(() => assert.match(row("CheckNodeLabelPresence"), /labelsPresence: zone, disk \(absent\)/));
  await click(all(panel(page), "button", "Add one with an argument…").at(-1)!);
  const shape = await form("Add one with an argument");
  await choose(field(shape, "kind"), "requestedToCapacityRatioArguments");
  await eventually(() => click(one(shape, "button", "Add a point")));
  await fill(all(shape, "spinbutton", "utilization").at(-1) as HTMLInputElement, "40");
  await click(one(shape, "button", "Add"));
  await eventually(() => assert.match(texts(all(shape, "alert")).join(), /must be greater than the one before/));
  await click(all(shape, "button", "Remove this point").at(-1)!);
  await fill(field(shape, "weight"), "3");
  await done(shape, "Add");
  await eventually(() => assert.equal(weight(page, "RequestedToCapacityRatioPriority").value, "3"));
});

it("a change lands after the cycle on screen, as an operation", async () => {
  const page = await own("shop", "step=2&tab=story");
  await press(page, "button", "after cycle 2");
  const affinity = () => weight(page, "NodeAffinityPriority");
  await eventually(() => assert.match(text(panel(page)), /An operation restarts the scheduler/));
  await enter(affinity(), "5");
  await status(page, /After cycle 2: NodeAffinityPriority weight 5\. It takes effect from cycle 3\./);
  await eventually(() => assert.equal(affinity().value, "5"));
  await page.at(2);
  assert.equal(Object.fromEntries(page.playback.policy.priorities).NodeAffinityPriority, 1);
  await page.step(3);
  assert.match(text(page.panel), /NodeAffinityPriority weighs 5 instead of 1/);
  await eventually(() => assert.equal(affinity().value, "5"));
});

it("a policy is written as profiles and back, and what is lost is reported", async () => {
  const page = await own();
  await click(panel(page).querySelector<HTMLElement>("details.policy-text > summary")!);
  await eventually(() => assert.match(text(panel(page)), /What a KubeSchedulerConfiguration cannot say/));
  await choose(field(panel(page), "Version"), "v1beta3");
  await press(page, "button", "Write it as a KubeSchedulerConfiguration");
  await eventually(() => assert.match(text(one(panel(page), "heading", /^Profiles/)), /v1beta3, 1 profile/));
  await press(page, "switch", "NodeName at filter");
  await status(page, /NodeName off at filter/);
  await press(page, "button", "NodePorts: earlier");
  await status(page, /NodePorts at place/);
  await click(all(panel(page), "button", "Arguments of NodeResourcesFit").at(-1)!);
  const form = await eventually(() => one(page.document, "dialog", "Arguments of NodeResourcesFit"));
  await choose(field(form, "type"), "MostAllocated");
  await click(one(form, "button", "Change"));
  await eventually(() => weight(page, "MostRequestedPriority"));
  await enter(weight(page, "NodeAffinity"), "9");
  await status(page, /NodeAffinity weight 9/);
  assert.match(await page.text(), /type: MostAllocated/);
  assert.match(await page.text(), /name: NodeAffinity\n\s+weight: 9/);
  await press(page, "button", "Profile");
  await eventually(() => assert.equal(all(one(panel(page), "group", "Profile"), "button").length, 2));
  await status(page, /one more profile/);
  await press(page, "button", "Remove");
  await eventually(() => assert.equal(all(panel(page), "group", "Profile").length, 0));
  await press(page, "button", "Write it as a Policy");
  await eventually(() => assert.equal(weight(page, "MostRequestedPriority").value, "1"));
  await eventually(() => assert.equal(all(panel(page), "heading", /^Profiles/).length, 0));
});
