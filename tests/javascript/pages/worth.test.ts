// The Cache tab, Worth it?: what a cache costs and saves, and where another mode decides otherwise.

import assert from "node:assert/strict";
import { it } from "node:test";
import { all, choose, click, eventually, field, nameOf, one, text, texts } from "./queries.ts";
import { Workbench } from "./workbench.ts";

const open = () => Workbench.open("cache-broken-promise", "step=1&tab=cache&view=worth");
const cells = (table: Element, row: string) =>
  texts(
    all(table, "row")
      .find((it) => all(it, "rowheader", row).length)!
      .querySelectorAll("td"),
  );

/** Choose a mode, run, and return the section with what came of it. */
async function runBoth(page: Workbench, mode: string) {
  await choose(field(page.panel, "Cache mode"), mode);
  await click(one(page.panel, "button", "Run both"));
  await eventually(() => one(page.panel, "table", "Both runs in numbers"));
  return one(page.panel, "region", "Run it in another mode");
}

it("strategies are measured, and the verdict names what was saved and what was wrong", async () => {
  const page = await open();
  one(page.panel, "heading", "Was it worth it?");
  await click(one(page.panel, "button", "Measure"));
  const table = await eventually(() => one(page.panel, "table", "Evaluations, memory and time of each strategy"));
  assert.deepEqual(texts(all(table, "columnheader")).filter(Boolean), ["no cache", "v1.11", "sound", "batching"]);
  assert.deepEqual(cells(table, "evaluations"), ["156", "42", "45", "156"]);
  assert.deepEqual(cells(table, "cache operations"), ["0", "202", "207", "4"]);
  assert.deepEqual(cells(table, "hits"), ["0", "114", "111", "0"]);
  assert.deepEqual(cells(table, "pods elsewhere"), ["–", "1", "0", "0"]);
  assert.deepEqual(cells(table, "first difference"), ["–", "#4", "none", "none"]);
  assert.match(text(page.panel), /v1\.11 saved 73\.1 % of the evaluations/);
  assert.match(text(page.panel), /Stale answers changed decisions: 1 pod placed differently than without a cache/);
  const beside = all(page.panel, "group").find((it) => nameOf(it).includes("Strategies side by side"))!;
  assert.match(text(beside), /no cache/);
  await click(one(table, "button", "cycle 4"));
  await page.at(4);
  assert.ok(table.isConnected); // stepping does not throw away what took a while
});

it("a mode that decides alike says so, and has no cycle to go to", async () => {
  const page = await open();
  await choose(field(page.panel, "Cache mode"), "batching");
  await eventually(() => assert.ok(field(page.panel, "Equivalence class").disabled));
  await choose(field(page.panel, "Cache mode"), "designed");
  await eventually(() => assert.ok(!field(page.panel, "Equivalence class").disabled));
  await click(one(page.panel, "button", "Run both"));
  await eventually(() => assert.match(text(page.panel), /All decisions are identical/));
  assert.equal(all(page.panel, "button", /^Go to cycle/).length, 0);
});

it("another mode shows both decisions side by side, and the stale answer that was believed", async () => {
  const page = await open();
  assert.match(text(page.panel), /It runs with cache v1\.11 here\./);
  const section = await runBoth(page, "sound");
  assert.match(text(section), /1 pod ends elsewhere\./);
  const sides = [...section.querySelectorAll("article")];
  const headings = sides.map((side) => text(all(side, "heading")[0]!));
  assert.deepEqual(headings, ["v1.11 as it runs here", "sound the other mode"]);
  assert.match(text(sides[0]!), /scheduled on worker-/);
  assert.match(text(sides[1]!), /unschedulable/);
  assert.match(text(sides[1]!), /0\/3 nodes are available/);
  assert.match(text(section), /Under v1\.11 a stale answer was believed: by MatchInterPodAffinity/);
  assert.match(text(section), /not invalidated by Pod\/ADD \(row pod-add-affinity/);
  const numbers = one(section, "table", "Both runs in numbers");
  assert.deepEqual(cells(numbers, "placed"), ["4", "3"]);
  assert.deepEqual(cells(numbers, "stale hits").slice(1), ["0"]);
  await click(one(section, "button", "Go to cycle 4"));
  await page.at(4);
});

it("a long measurement shows how far it is; after Cancel everything can be asked again", async () => {
  const page = await Workbench.open("five-hundred", "step=1&tab=cache&view=worth");
  const button = (name: string) => one(page.panel, "button", name) as HTMLButtonElement;
  await click(button("Measure"));
  await eventually(() => one(page.panel, "progressbar", "Progress"));
  await eventually(() => assert.match(texts(all(page.panel, "status")).join(), /of about/));
  assert.ok(button("Run both").disabled);
  await click(button("Cancel"));
  await eventually(() => assert.match(text(page.panel), /Given up\./));
  assert.equal(all(page.panel, "progressbar").length, 0);
  assert.ok(!button("Measure").disabled && !button("Run both").disabled);
});
