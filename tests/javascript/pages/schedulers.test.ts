// Several schedulers, a descheduler and controllers: written by forms into a draft, which is simulated with them.

import assert from "node:assert/strict";
import { it } from "node:test";
import { all, among, choose, click, eventually, field, fill, nameOf, one, saying, text, texts } from "./queries.ts";
import { Workbench } from "./workbench.ts";

const nodes = (cpu: number, ...names: string[]) =>
  names
    .map(
      (name) => `apiVersion: v1
kind: Node
metadata: {name: ${name}}
status: {allocatable: {cpu: "${cpu}", memory: 8Gi, pods: "10"}, conditions: [{type: Ready, status: "True"}]}
---
`,
    )
    .join("");
const TWO = `${nodes(4, "node-01", "node-02")}apiVersion: podstep/v1
kind: SimulationSettings
scheduler: v1.11
`;
/** Which v1.37 answers, as all that says nothing else. */
const FIVE_ON_THREE = `${nodes(2, "n1", "n2", "n3")}apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 5
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, resources: {requests: {cpu: "1"}}}]}
`;

const dialog = (page: Workbench) => eventually(() => one(page.document, "dialog"));
const gone = (box: Element) => eventually(() => assert.ok(!box.isConnected));
const lane = (page: Workbench, name: string) => one(page.stage, "region", `Lane of ${name}`);
const lanes = (page: Workbench) => all(page.stage, "group", "Lanes of the schedulers");

/** Choose from the menu that adds something. */
async function add(page: Workbench, what: string) {
  await click(one(page.build, "button", "Add"));
  await click(await eventually(() => one(page.build, "menuitem", new RegExp(`^${what}`))));
}

/** Add a Deployment of two pods of 3 CPUs, of a scheduler, by the form. */
async function deploy(page: Workbench, name: string, scheduler = "") {
  await add(page, "Deployment");
  const form = await dialog(page);
  await fill(await eventually(() => field(form, "Name")), name);
  await fill(field(form, "Replicas"), "2");
  await fill(field(form, "cpu of a pod"), "3");
  if (scheduler) {
    await click(saying(form, "More")[0]!);
    await fill(await eventually(() => field(form, "Scheduler's name")), scheduler);
  }
  await click(one(form, "button", "Add"));
  await gone(form);
  await page.settled();
}

/** Open the schedulers of the Policy tab. */
async function schedulers(page: Workbench) {
  await add(page, "Another scheduler…");
  return () => one(page.build, "region", "Schedulers");
}

async function change(page: Workbench, fields: Record<string, string>, button: string) {
  const form = await dialog(page);
  for (const [label, value] of Object.entries(fields)) await fill(field(form, label), value);
  await click(one(form, "button", button));
  return form;
}

it("two schedulers are made by forms, and double-book a node", async () => {
  const page = await Workbench.draft(TWO);
  await deploy(page, "shop");
  await deploy(page, "report", "second");
  assert.equal(lanes(page).length, 0);
  const part = await schedulers(page);
  await eventually(() => click(one(part(), "button", "Add a scheduler…")));
  const delays = { Name: "second", "Watch delay": "1", "Decision time": "-1", "Bind delay": "0.5" };
  const form = await change(page, delays, "Add");
  const refused = /decisionTime: must be seconds of virtual time from 0/;
  await eventually(() => assert.match(texts(all(form, "alert")).join(), refused));
  await change(page, { "Decision time": "0.1" }, "Add");
  await gone(form);
  const row = (name: string) => text(among(all(part(), "listitem"), name));
  const reported = /kube-scheduler v1\.22, watch delay 1s, decision time 100ms, bind delay 500ms/;
  await eventually(() => assert.match(row("second"), reported));
  await click(one(part(), "button", "Change default-scheduler"));
  await gone(await change(page, { "Decision time": "0.1", "Bind delay": "0.5" }, "Change"));
  await page.settled();
  await page.step(2);
  assert.match(text(lane(page, "default-scheduler")), /sees at once.*decides/);
  assert.match(text(lane(page, "second")), /sees 1s late.*deciding/);
  const double = all(page.stage, "button").filter((it) =>
    /^node-0\d, .*double-booked, 2 cpu too little/.test(nameOf(it)),
  );
  assert.equal(double.length, 1);
  assert.ok(saying(double[0]!, "double-booked").length);
  await page.step(5);
  await eventually(() => assert.match(text(page.stage), /Who noticed.*refused by the kubelet: OutOfcpu/));
  await click(one(page.build, "button", "Undo"));
  await eventually(() => assert.match(row("default-scheduler"), /no delays/));
  const written = /schedulers:\n- name: second\n {2}watchDelay: 1\n {2}decisionTime: 0\.1\n {2}bindDelay: 0\.5\n/;
  assert.match(await page.text(), written);
});

it("a scheduler of the list runs another release, as its lane says", async () => {
  const page = await Workbench.draft(TWO);
  await deploy(page, "shop");
  const part = await schedulers(page);
  await eventually(() => click(one(part(), "button", "Change default-scheduler")));
  const form = await dialog(page);
  await choose(field(form, "Runs"), "kube-scheduler v1.37");
  await gone(await change(page, { "Watch delay": "0.5" }, "Change"));
  const row = () => text(among(all(part(), "listitem"), "default-scheduler"));
  await eventually(() => assert.match(row(), /kube-scheduler v1\.37, watch delay 500ms/));
  await page.settled();
  await page.step(1);
  assert.match(text(lane(page, "default-scheduler")), /v1\.37, sees 500ms late/);
  assert.match(await page.text(), /- name: default-scheduler\n {2}runs: v1\.37\n {2}watchDelay: 0\.5\n/);
});

it("a scheduler alone has no lanes, and cannot be removed", async () => {
  const page = await Workbench.draft(TWO);
  assert.equal(lanes(page).length, 0);
  const part = await schedulers(page);
  await eventually(() => assert.equal(all(part(), "listitem").length, 1));
  assert.equal(all(part(), "button", "Remove default-scheduler").length, 0);
});

it("the step after a refusal tells who noticed", async () => {
  const page = await Workbench.open("stale-views", "step=8&tab=views");
  assert.match(text(one(page.panel, "region", "Who noticed")), /refused by the kubelet/);
  await page.step(6);
  assert.ok(saying(page.node("worker-1"), "double-booked").length);
  assert.match(text(page.stage), /1 node double-booked/);
});

const descheduler = (page: Workbench) => page.build.querySelector<HTMLElement>("[data-part=descheduler]")!;

it("a plugin of the descheduler is edited by form, and what upstream refuses changes nothing", async () => {
  const page = await Workbench.draft("descheduler-low-utilization");
  await click(one(page.build, "tab", "Policy"));
  const of = (name: string) => text(descheduler(page).querySelector(`[data-name=${name}] dl`)!);
  await eventually(() => click(one(descheduler(page), "switch", "Enable PodLifeTime")));
  await eventually(() => assert.match(of("PodLifeTime"), /86400/));
  await click(one(descheduler(page), "button", "Arguments of LowNodeUtilization"));
  const form = await dialog(page);
  const percent = () => all(form.querySelector("[data-path=thresholds]")!, "textbox", /percent/)[0] as HTMLInputElement;
  await fill(percent(), "120");
  await click(one(form, "button", "Change"));
  await eventually(() => assert.match(texts(all(form, "alert")).join(), /cpu threshold not in \[0, 100\] range/));
  await fill(percent(), "25");
  await click(one(form, "button", "Change"));
  await eventually(() => assert.match(of("LowNodeUtilization"), /cpu 25%/));
  await fill(one(descheduler(page), "spinbutton", /^Passes at most/) as HTMLInputElement, "3");
  await eventually(() => assert.equal(page.playback.descheduler.passes, 3));
  await page.settled();
  await click(one(descheduler(page), "button", "Add a profile"));
  const second = await eventually(() => one(descheduler(page), "region", "Profile profile-2"));
  await click(one(second, "switch", "Enable RemoveDuplicates"));
  await eventually(() => assert.ok(page.playback.descheduler.profiles[1]?.enabled.includes("RemoveDuplicates")));
  assert.match(await page.text(), /profile-2/);
});

for (const slug of ["drain-budget", "two-schedulers"]) {
  it(`a descheduler is added to ${slug} and removed, and its tab comes and goes`, async () => {
    const page = await Workbench.draft(slug);
    const tab = () => all(page.inspect, "tab", /^Descheduler/).length;
    assert.equal(tab(), 0);
    await click(one(page.build, "tab", "Policy"));
    await eventually(() => click(one(descheduler(page), "button", "Add a descheduler")));
    const low = () => one(descheduler(page), "switch", "Enable LowNodeUtilization") as HTMLInputElement;
    await eventually(() => assert.ok(low().checked));
    await eventually(() => assert.equal(tab(), 1));
    await click(one(descheduler(page), "button", "Remove the descheduler"));
    await eventually(() => one(descheduler(page), "button", "Add a descheduler"));
    await eventually(() => assert.equal(tab(), 0));
  });
}

/** Four of five have room on the other nodes; the two of a node that has failed hold it until it answers again. */
const LOST: [what: string, holding: number][] = [
  ["Delete the node", 4],
  ["Fail", 6],
];

for (const [what, holding] of LOST) {
  it(`${what}: pods of a lost node are replaced and counted`, async () => {
    const page = await Workbench.draft(FIVE_ON_THREE);
    assert.ok(!page.playback.timed);
    await page.step(5);
    const node = page.playback.nodes.names[page.playback.current.node];
    await click(one(page.build, "button", "Event"));
    const box = await eventually(() => one(page.document, "dialog", "Add an event"));
    await choose(field(box, "What happens"), what);
    await fill(await eventually(() => field(box, "Node")), node);
    await click(one(box, "button", "Add the event"));
    await gone(box);
    await eventually(() => assert.ok(page.playback.timed && page.playback.complete));
    await page.settled();
    await page.step(page.playback.cycles + 1);
    const story = await page.tabbed(/^Story/);
    await eventually(() => assert.match(text(story), new RegExp(`${holding} pods hold a node`)));
    assert.match(text(story), /in the Queue/);
    await page.step(page.playback.cycles);
    const filters = await page.tabbed(/^Filter/);
    assert.match(text(filters.querySelector(".ladder")!), /NodeResourcesFit/);
  });
}
