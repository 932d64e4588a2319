// The editor of events: added by a form, repeated, moved and taken out; what each one did.

import assert from "node:assert/strict";
import { it } from "node:test";
import {
  all,
  choose,
  click,
  descriptionOf,
  eventually,
  field,
  fill,
  focused,
  nameOf,
  one,
  press,
  text,
  texts,
} from "./queries.ts";
import { Workbench } from "./workbench.ts";

/** Open a draft, computed to its end. */
const own = (scenario = "three-nodes") => Workbench.draft(scenario);
const NONE = /There are no operations yet\./;

async function form(page: Workbench) {
  await eventually(() => click(one(page.build, "button", "Event")));
  return eventually(() => one(page.document, "dialog", "Add an event"));
}

/** Where the form takes after which cycle the event happens, or in virtual time at which second. */
const when = (box: Element) =>
  all(box, "textbox").findLast((it) =>
    /^(After which cycle|Seconds of virtual time)$/.test(nameOf(it)),
  ) as HTMLInputElement;

/** Fill in the form of an event. */
async function describe(box: Element, what: string, at: string, fields: Record<string, string> = {}) {
  await choose(field(box, "What happens"), what);
  for (const [label, value] of Object.entries(fields)) await fill(await eventually(() => field(box, label)), value);
  if (at) await fill(when(box), at);
}

const send = (box: Element) => click(one(box, "button", "Add the event"));

async function add(page: Workbench, what: string, at: string, fields: Record<string, string> = {}) {
  const box = await form(page);
  await describe(box, what, at, fields);
  await send(box);
  await eventually(() => assert.ok(!box.isConnected));
}

const events = (page: Workbench) => all(one(page.build, "region", /^Events/), "listitem");
const said = (page: Workbench) => texts(events(page));
const count = (page: Workbench, wanted: number) => eventually(() => assert.equal(events(page).length, wanted));
const undo = (page: Workbench) => eventually(() => click(one(page.build, "button", "Undo")));
const chooseAll = async (page: Workbench) => {
  for (const row of events(page)) {
    const box = one(row, "checkbox") as HTMLInputElement;
    if (!box.checked) await click(box);
  }
  return eventually(() => one(page.build, "group", "With the chosen events"));
};
/** The node that each cycle chose. */
const placed = ({ playback }: Workbench): string[] =>
  [...playback.marks.node.slice(1, playback.cycles + 1)].map((node: number) => playback.nodes.names[node]);

it("events of several kinds land after the cycle that was written, and Undo takes one back", async () => {
  const page = await own();
  assert.match(text(page.build), /There are no operations yet\. Add an event/);
  await add(page, "Cordon", "2", { Node: "n2" });
  await count(page, 1);
  await add(page, "Taint", "3", { Node: "n3", Taint: "maintenance:NoSchedule" });
  await count(page, 2);
  await add(page, "Scale", "4", { Workload: "Deployment/default/web", Replicas: "8" });
  await count(page, 3);
  await eventually(() => assert.match(said(page)[2]!, /2 Pods created/));
  assert.match(said(page)[1]!, /after 3/);
  assert.match(said(page)[1]!, /patch Node n3: spec\.taints/);
  await eventually(() => {
    assert.equal(placed(page).length, 8);
    assert.deepEqual(new Set(placed(page).slice(3)), new Set(["n1"]));
  });
  await undo(page);
  await count(page, 2);
});

it("what is wrong is reported at its field, and nothing is changed", async () => {
  const page = await own();
  const box = await form(page);
  const at = (label: string) => field(box, label);
  const reported = (label: string, words: RegExp) => eventually(() => assert.match(descriptionOf(at(label)), words));
  await send(box);
  await reported("Node", /^Choose a node\.$/);
  await eventually(() => focused(at("Node")));
  await fill(at("Node"), "n9");
  await send(box);
  await reported("Node", /^There is no node 'n9'; there are n1, n2, n3\.$/);
  await describe(box, "Taint", "", { Node: "n1", Taint: "nonsense" });
  await send(box);
  await reported("Taint", /is not a taint/);
  await fill(at("Taint"), "a=b:NoSchedule");
  await fill(when(box), "99");
  await send(box);
  await eventually(() => assert.equal(descriptionOf(when(box)), "Write the number of a cycle from 0 to 6."));
  await click(one(box, "button", "Close"));
  assert.match(text(page.build), NONE);
});

it("several events are repeated, moved and taken out at once, each undone by one step", async () => {
  const page = await own();
  await add(page, "Cordon", "2", { Node: "n2" });
  await count(page, 1);
  await add(page, "Add a PersistentVolume", "3");
  await count(page, 2);
  await click(one(await chooseAll(page), "button", "Once more"));
  await count(page, 4);
  assert.equal(said(page).filter((row) => row.includes("create PersistentVolume new-volume-2")).length, 1);
  await undo(page);
  await count(page, 2);
  await page.settled();
  await page.step(5);
  await click(one(await chooseAll(page), "button", "Move here"));
  await eventually(() => assert.ok(said(page).every((row) => row.includes("after 5"))));
  await undo(page);
  await eventually(() => assert.match(said(page)[0]!, /after 2/));
  await click(one(await chooseAll(page), "button", "Take out"));
  await eventually(() => assert.match(text(page.build), NONE));
  await undo(page);
  await count(page, 2);
});

it("in virtual time events go by seconds, and what had no effect says why", async () => {
  const page = await own("timed");
  await eventually(() => assert.match(said(page)[0]!, /no effect: there is no Pod default\/nope at this moment/));
  assert.match(said(page)[1]!, /60s/);
  const mark = () => one(events(page)[1]!, "slider");
  assert.equal(mark().getAttribute("aria-valuetext"), "at 60s of virtual time");
  await add(page, "Delete the node", "30.5", { Node: "n2" });
  await eventually(() =>
    assert.ok(said(page).some((row) => /delete Node n2.*30\.5s|30\.5s.*delete Node n2/.test(row))),
  );
  await add(page, "Fail", "20", { Node: "n1" });
  await eventually(() => assert.ok(said(page).some((row) => /fail Node n1.*20s|20s.*fail Node n1/.test(row))));
});

it("a mark moves along the axis of seconds by Shift and an arrow", async () => {
  const page = await own("timed");
  const mark = await eventually(() => one(events(page)[1]!, "slider"));
  mark.focus();
  await press(mark, "ArrowLeft", { shiftKey: true });
  await press(mark, "Enter");
  const toasts = () => texts(page.document.querySelectorAll(".toast")).join();
  await eventually(() => assert.match(toasts(), /Moved to at .* of virtual time/));
  await eventually(() => assert.doesNotMatch(said(page)[1]!, /60s/));
});

it("under v1.37 a drained node's pods come back elsewhere, and a rollout replaces all", async () => {
  const page = await own("three-nodes-today");
  const after = (count: number) =>
    eventually(() => {
      assert.equal(placed(page).length, count);
      assert.ok(!placed(page).slice(6).includes("n2"), placed(page).join());
    });
  await add(page, "Drain", "6", { Node: "n2" });
  await eventually(() => assert.ok(said(page).some((row) => row.includes("drain Node n2"))));
  await after(8);
  await add(page, "Restart rollout", "8", { Workload: "Deployment/default/web" });
  await after(14);
});
