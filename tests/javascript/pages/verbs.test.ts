// What operators do, from menus of the stage: a node is drained and undone, a zone is lost in a branch.

import assert from "node:assert/strict";
import { it } from "node:test";
import { all, click, enter, eventually, one, press, text, texts, type Name } from "./queries.ts";
import { Workbench } from "./workbench.ts";

const BRANCHES = "Branches";

/** Open a draft at its sixth cycle, where all of its pods are placed. */
const own = () => Workbench.draft("verbs", "step=6");
/** The node that each cycle chose. */
const placed = ({ playback }: Workbench): string[] =>
  [...playback.marks.node.slice(1, playback.cycles + 1)].map((node: number) => playback.nodes.names[node]);
const dialog = (page: Workbench, name: Name) => eventually(() => one(page.document, "dialog", name));
const says = (look: () => Element, words: RegExp) => eventually(() => assert.match(text(look()), words));
const entry = async (page: Workbench, name: Name) =>
  click(await eventually(() => one(page.document, "menuitem", name)));

it("a node is drained from its menu, which says what will happen, and one Undo takes all back", async () => {
  const page = await own();
  const before = placed(page);
  await page.menu("n1");
  await entry(page, "Drain…");
  const box = await dialog(page, "Drain: node n1");
  await says(
    () => one(box, "status"),
    /^Cordons node n1, then evicts \d pods?.*budget default\/web allows 1 at a time/,
  );
  await click(one(box, "button", "Apply"));
  await eventually(() => assert.ok(!box.isConnected));
  await eventually(() => {
    const after = placed(page);
    assert.ok(after.length > 6 && !after.slice(6).includes("n1"), after.join());
  });
  await eventually(() => click(one(page.build, "button", "Undo")));
  await eventually(() => assert.deepEqual(placed(page), before));
});

it("a zone is lost in a branch by one click, which is compared with its parent", async () => {
  const page = await own();
  await click(one(page.stage, "button", "Operate zone a"));
  await entry(page, "… it is lost?");
  const box = await dialog(page, "What if: lose zone a");
  await eventually(() => one(box, "img", /^Deployment web, ready pods over time/));
  await says(() => box, /pods evicted\s*3/);
  assert.match(text(box), /n3: 3 → 6/);
  await says(() => one(page.build, "treegrid", BRANCHES), /What if: lose zone a/);
  await click(one(box, "button", "Delete the branch"));
  await eventually(() => assert.equal(all(page.build, "treegrid", BRANCHES).length, 0));
  await says(() => page.build, /There are no operations yet/);
});

it("what v1.11 cannot do is hidden, and said to who asks for it by the palette", async () => {
  const page = await Workbench.draft("verbs-by-v1.11");
  const opened = await page.menu("n1");
  assert.deepEqual(texts(all(opened, "menuitem")), ["Cordon…", "Zone a…"]);
  await press(all(opened, "menuitem")[0]!, "Escape");
  await press(page.stage, "k", { ctrlKey: true });
  await enter((await eventually(() => one(page.document, "combobox", "Command"))) as HTMLInputElement, "drain");
  await says(() => page.document.body, /Drain needs controllers, and under v1\.11 no time passes/);
});
