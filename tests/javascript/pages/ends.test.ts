// The End of a run and its start: every tab can be shown there, and what controllers have made stands in the tree.

import assert from "node:assert/strict";
import { it } from "node:test";
import { all, choose, click, eventually, field, fill, focused, one, press, text, texts } from "./queries.ts";
import { arrived, go } from "./walk.ts";
import { texts as scenarios, Workbench } from "./workbench.ts";

const PERMIT = "\n---\napiVersion: podstep/v1\nkind: SimulationSettings\nscheduler: v1.22\nquirks: fixed\n";
/** Pods that controllers make after the source was opened. */
const LATER = {
  keys: ["default/later-1"],
  groups: [{ kind: "ReplicaSet", name: "later" }],
  group: [0],
  cpu: [100],
  memory: [0],
  priority: [0],
  node: [-1],
  extended: {},
};

const toasts = (page: Workbench) => texts(page.document.querySelectorAll(".toast"));
const heading = (page: Workbench) => text(page.document.querySelector(".cycle-main b")!);
const tree = (page: Workbench, name: RegExp) => all(page.build, "treeitem", name);

/** Open every tab at the End and before the first cycle: none is left behind, and no error is reported. */
async function showsEveryTabAtBothEnds(page: Workbench) {
  for (const [key, wanted] of [
    ["End", "End"],
    ["Home", "Before the first cycle"],
  ] as const) {
    await go(page, key);
    await eventually(() => assert.equal(heading(page), wanted));
    for (const tab of all(page.inspect, "tab")) {
      await click(tab);
      await eventually(() => assert.equal(tab.getAttribute("aria-selected"), "true"));
      await eventually(() => assert.ok(page.panel.childElementCount, `${text(tab)} is empty`));
    }
    assert.equal(heading(page), wanted);
    assert.deepEqual(toasts(page), []);
  }
}

it("every tab has the End and the start; warnings of the input are counted where their lines are", async () => {
  const page = await Workbench.example("coscheduling-room");
  const yaml = one(page.build, "tab", /^YAML/);
  assert.equal(text(yaml.querySelector("em")!), "3");
  assert.equal(yaml.getAttribute("title"), "3 warnings about the input");
  assert.deepEqual(toasts(page), []);
  await click(yaml);
  await eventually(() => assert.match(text(page.build), /3 warnings/));
  const first = all(one(page.build, "list", "Warnings"), "button")[0]!;
  assert.match(text(first), /^line \d+/);
  await click(first);
  await eventually(() => focused(one(page.build, "textbox", /^YAML/)));
  await showsEveryTabAtBothEnds(page);
});

for (const slug of ["gang-deadlock", "ten-percent"])
  it(`every tab has the End and the start: ${slug}`, async () => {
    const page = await Workbench.example(slug);
    await showsEveryTabAtBothEnds(page);
    await page.step(1);
    assert.equal(page.document.querySelectorAll(".by-profile").length, 0); // it has one profile
  });

it("pods that wait at Permit after the last cycle keep their place, with the time that is left", async () => {
  const page = await Workbench.open(scenarios["ten-percent-today"] + PERMIT);
  await go(page, "End");
  assert.ok(page.playback.atEnd && page.playback.moments.length);
  page.playback.goto(page.playback.last, undefined, { at: 1, phase: "" });
  await arrived(page);
  const waiting = [...page.stage.querySelectorAll(".node .pod.waiting")];
  assert.equal(waiting.length, 1);
  assert.match(waiting[0]!.getAttribute("title")!, /waits at Permit for [\d.]+s more/);
});

it("the tree follows what controllers make", async () => {
  const page = await Workbench.example("rolling-update");
  await go(page, "End");
  const sets = () => tree(page, /^rs.web/).map(text);
  await eventually(() => assert.equal(sets().length, 1));
  assert.match(sets()[0]!, /4 \/ 4/);
  assert.match(text(tree(page, /^Workloads/)[0]!), /4 pods/);
  await fill(field(page.build, "Find a node or pod"), "later");
  await eventually(() => assert.match(text(page.build), /No matches for “later”\./));
  page.playback.meet({ from: page.playback.pods.keys.length, ...LATER });
  await eventually(() => assert.match(text(tree(page, /^rs.later/)[0]!), /1 of 1/));
});

it("a unit that there is none of says so", async () => {
  const page = await Workbench.example("first-cycle");
  for (const [unit, said] of [
    ["operation", "This scenario has no operations."],
    ["failure", "No cycle failed: every pod was placed at once."],
  ] as const) {
    await choose(field(page.document, "Unit of next and previous"), unit);
    page.stage.focus();
    await press(page.stage, ".");
    await eventually(() => assert.deepEqual(toasts(page), [said]));
  }
});
