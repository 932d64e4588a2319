// Live objects are changed at the step that is on screen: from the next cycle on, and Undo leads back.

import assert from "node:assert/strict";
import { it } from "node:test";
import { all, choose, click, eventually, field, fill, focused, one, press, text } from "./queries.ts";
import { Workbench } from "./workbench.ts";

const dialog = (page: Workbench, node: string) => eventually(() => one(page.document, "dialog", `Edit Node ${node}`));
const yaml = (editor: Element, name: string | RegExp) => eventually(() => one(editor, "textbox", name));
const card = (page: Workbench, node: string) => one(page.stage, "button", new RegExp(`^${node},`));
const undo = (page: Workbench) => one(page.build, "button", "Undo") as HTMLButtonElement;
const events = (page: Workbench, words: string) =>
  all(page.build, "listitem").filter((row) => text(row).includes(words));
/** The node that each cycle chose. */
const placed = ({ playback }: Workbench): string[] =>
  [...playback.marks.node.slice(1, playback.cycles + 1)].map((node: number) => playback.nodes.names[node]);

/** The text of an editor, as far as its lines are drawn. */
const linesOf = (written: Element) =>
  [...written.querySelectorAll(".cm-line")].map((line) => line.textContent).join("\n");

/** Open a draft at a step with the editor of a node. */
async function editing(step: number, scenario = "three-nodes", node = "n2") {
  const page = await Workbench.draft(scenario, `step=${step}&node=${node}&edit=Node+${node}`);
  return { page, editor: await dialog(page, node) };
}

/** Go to a step and open the editor of a node there by its key. */
async function edit(page: Workbench, step: number, node = "n2") {
  await page.settled();
  await page.step(step);
  card(page, node).focus();
  await press(card(page, node), "e");
  return dialog(page, node);
}

async function apply(editor: Element) {
  await click(one(editor, "button", "Apply"));
  await eventually(() => assert.ok(!editor.isConnected));
}

/** Cordon by the button; the YAML shows it before it is applied. */
async function cordon(editor: Element) {
  await eventually(() => click(one(editor, "button", "Cordon")));
  const written = await yaml(editor, /as YAML/);
  await eventually(() => assert.match(linesOf(written), /unschedulable: true/));
}

it("edits and settings are one chain of Undo, and a notice goes when it would lead back from another", async () => {
  const { page, editor } = await editing(2);
  assert.match(text(editor), /It lands after cycle 2 and before the next one/);
  assert.equal(all(editor, "radio").length, 0);
  await cordon(editor);
  await apply(editor);
  const notices = () => [...page.document.querySelectorAll(".toast")].map(text).join();
  await eventually(() => assert.match(notices(), /It takes effect from cycle 3\./));
  await page.at(2);
  await click(one(await page.tabbed(/^Cache/), "button", "As in v1.11, with the audit"));
  await eventually(() => assert.ok(page.playback.policy.cache === "v1.11" && page.playback.complete));
  await eventually(() => assert.doesNotMatch(notices(), /It takes effect from cycle 3\./));
  await page.at(2);
  focused(one(page.inspect, "tab", /^Cache/));
  assert.equal(undo(page).getAttribute("title"), "Undo: The cache is on as in v1.11, with the audit");
  await click(undo(page));
  await eventually(() => assert.ok(page.playback.policy.cache === "off" && page.playback.complete));
  await page.at(2);
  await click(one(page.build, "tab", /^Policy/));
  await eventually(() => click(undo(page)));
  await eventually(() => assert.ok(!page.playback.nodes.updates.length && page.playback.complete));
  await eventually(() => assert.ok(undo(page).disabled));
});

it("a pod that is deleted at a step is on its node there, and gone in the next one", async () => {
  const { page, editor } = await editing(3);
  await click(one(editor, "button", "Cancel"));
  const sheet = () => one(page.document, "region", "Selected"); // of the node whose form was open
  await click(all(sheet(), "button", /^web-/)[0]!);
  const name = await eventually(() => text(one(sheet(), "heading", /^web-/)));
  const pod = page.playback.pods.keys.indexOf(`default/${name}`);
  await click(one(page.stage, "button", "Edit at this step"));
  await click(await eventually(() => one(page.document, "button", "Delete this pod")));
  await eventually(() => assert.match(text(events(page, "delete Pod default/web-")[0]!), /after 3/));
  await page.at(3);
  await eventually(() => assert.ok(page.playback.cluster.placement[pod] >= 0));
  await page.step(4);
  await eventually(() => assert.equal(page.playback.cluster.placement[pod], -2));
});

it("what a node offers is drawn as it is at the step", async () => {
  const { page, editor } = await editing(2);
  await choose(field(editor, "Common change"), "allocatable");
  await fill(await eventually(() => field(editor, "resource")), "cpu");
  await fill(field(editor, "quantity"), "8");
  await click(one(editor, "button", "Put into the YAML"));
  const written = await yaml(editor, "Node n2 as YAML");
  await eventually(() => assert.match(linesOf(written), /cpu: '8'/));
  await apply(editor);
  await page.at(2);
  assert.match(text(card(page, "n2")), /4 cpu/);
  await page.step(3);
  assert.match(text(card(page, "n2")), /8 cpu/);
  await page.step(2);
  assert.match(text(card(page, "n2")), /4 cpu/);
});

it("what was changed at a step is there when the editor opens at it again", async () => {
  const { page, editor } = await editing(2);
  await cordon(editor);
  await apply(editor);
  await eventually(() => assert.equal(events(page, "patch Node n2").length, 1));
  const again = await edit(page, 2);
  await eventually(() => click(one(again, "button", "Uncordon")));
  const written = await yaml(again, "Node n2 as YAML");
  await eventually(() => assert.doesNotMatch(linesOf(written), /unschedulable/));
  await apply(again);
  await eventually(() => assert.equal(events(page, "patch Node n2").length, 2));
  await page.settled();
  await page.step(3);
  assert.ok(!card(page, "n2").matches(".cordoned"));
});

it("a change lands inside the next cycle where there is a cache, which still takes the cordoned node", async () => {
  const { page, editor } = await editing(2, "three-nodes-cached");
  const before = placed(page);
  const index = before.indexOf("n2", 2);
  await click(one(editor, "button", "Cancel"));
  const inside = await edit(page, index);
  await cordon(inside);
  await click(one(inside, "radio", /between evaluating and writing/));
  await apply(inside);
  await eventually(() => {
    const after = placed(page);
    assert.deepEqual(after.slice(0, index + 1), before.slice(0, index + 1));
    assert.ok(after.length > index + 1 && !after.slice(index + 1).includes("n2"), after.join());
  });
  await page.settled();
  await page.step(index + 1);
  assert.match(text(events(page, "patch Node n2")[0]!), new RegExp(`in ${index + 1}`));
});

it("an event that is added leaves the comments of the others", async () => {
  const { page, editor } = await editing(2, "cache-half-remedy", "a-1");
  await cordon(editor);
  await apply(editor);
  await eventually(async () => {
    const stored = await page.text();
    for (const words of [/unschedulable/, /# Inside cycle 1/, /# The half remedy: a stale write/])
      assert.match(stored, words);
  });
});
