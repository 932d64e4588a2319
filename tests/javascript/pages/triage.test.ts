// After a paste: what is pending and why, and each change that can be tried from there.

import assert from "node:assert/strict";
import { it } from "node:test";
import { all, click, eventually, one, saying, shown, text, type Name } from "./queries.ts";
import { Workbench } from "./workbench.ts";

async function pasted() {
  const page = await Workbench.draft("pending");
  await eventually(() => one(page.inspect, "heading", "4 pods stay pending"));
  return page;
}

const dialog = (page: Workbench, name: Name) => eventually(() => one(page.document, "dialog", name));
const says = (look: () => Element, words: RegExp) => eventually(() => assert.match(text(look()), words));

/** Open a menu of the panel and choose an entry. */
async function choose(page: Workbench, button: string, entry?: string) {
  await click(one(page.inspect, "button", button));
  await click((await eventually(() => all(page.document, "menuitem", entry)))[0]!);
}

it("each pod of a cause has its explanation; a kind that changes no answer is folded", async () => {
  const page = await pasted();
  await click(all(page.document.querySelector(".triage-causes")!, "button", "Why?")[0]!);
  await dialog(page, /Why is big-1 pending/);
  const shownOf = (words: string) => saying(page.inspect, words).filter(shown).length;
  assert.equal(shownOf("1 kind that scheduling does not read"), 1);
  assert.equal(saying(page.inspect, /1 ConfigMap is ignored/).length, 1);
  assert.equal(saying(page.inspect, /1 ConfigMap is ignored/).filter(shown).length, 0);
});

it("a drain lists the nodes and says what fails; a zone is lost in a branch", async () => {
  const page = await pasted();
  await choose(page, "Drain…");
  const drain = await dialog(page, "Drain: node n1");
  await says(() => one(drain, "status"), /the drain of node n1 fails before anything is evicted/);
  await click(one(drain, "button", "Cancel"));
  await choose(page, "Lose a zone…", "zone a");
  const zone = await dialog(page, /zone a/);
  await says(() => one(zone, "status"), /stops answering/);
  await click(one(zone, "button", "What if…"));
  await says(() => one(page.document, "dialog", /zone a/), /pods pending ?5 \(\+1\)/);
});

it("a pod that is added is scheduled with the others", async () => {
  const page = await pasted();
  await click(one(page.inspect, "button", "Add a pod"));
  await click(one(await dialog(page, /Pod/), "button", "Add"));
  await says(() => page.inspect, /6 pods had no node; the scheduler places 2\./);
  one(page.inspect, "heading", "4 pods stay pending");
});
