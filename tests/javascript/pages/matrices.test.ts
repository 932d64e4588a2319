// Every matrix and table of nodes: it and the stage light each other; sorting, filtering, copying.

import assert from "node:assert/strict";
import { it } from "node:test";
import { all, click, eventually, field, fill, hover, leave, one, text, texts, focused } from "./queries.ts";
import { Workbench } from "./workbench.ts";

const MATRICES = { predicates: "Node by predicate", priorities: "Node by priority" };

const copied = async (page: Workbench): Promise<string[][]> =>
  (await page.window.navigator.clipboard.readText()).split("\n").map((line: string) => line.split("\t"));

/** Press the first button that copies; return the rows after it said how many. */
async function copy(page: Workbench, rows: number) {
  await click(all(page.panel, "button", "Copy as tab separated text")[0]!);
  await eventually(() =>
    assert.match(text(page.document.querySelector("[data-toasts]")!), new RegExp(`${rows} rows copied`)),
  );
  return (await copied(page)).slice(1);
}

/** A row lights its node by pointer and focus, and the node on the stage its row. */
async function light(page: Workbench, row: HTMLElement, node: string, pointed: Element = row) {
  await hover(pointed);
  await eventually(() => assert.deepEqual(page.nodes("hovered"), [node]));
  await leave(pointed);
  await eventually(() => assert.deepEqual(page.nodes("hovered"), []));
  await hover(page.node(node));
  await eventually(() => assert.match(row.className, /is-hovered/));
  await leave(page.node(node));
}

for (const [tab, name] of Object.entries(MATRICES)) {
  it(`the matrix of ${tab} and the stage light each other, and it is filtered, sorted and copied`, async () => {
    const page = await Workbench.open("shop", `step=20&tab=${tab}`);
    const grid = one(page.panel, "grid", name);
    const row = all(grid, "row")[2]!;
    await light(page, row, text(one(row, "rowheader")), one(row, "rowheader"));
    await fill(one(page.panel, "searchbox") as HTMLInputElement, "general");
    const names = () => texts(all(grid, "rowheader"));
    await eventually(() => assert.ok(names().every((one) => one.startsWith("general"))));
    await click(one(grid, "columnheader", /^node/));
    await eventually(() => assert.deepEqual(names(), [...names()].sort()));
    const shown = names();
    assert.ok(shown.length > 1);
    assert.deepEqual(
      (await copy(page, shown.length)).map(([first]) => first),
      shown,
    );
    assert.match((await copied(page))[0]![0]!, /^node/);
  });
}

it("turned round, it is the column that lights and is lit", async () => {
  const page = await Workbench.open("shop", "step=20&tab=priorities&view=reduced/priorities");
  const head = all(one(page.panel, "grid", "Priority by node"), "columnheader")[2]!;
  const name = text(head).split(" ")[1]!;
  await hover(head);
  await eventually(() => assert.deepEqual(page.nodes("hovered"), [name]));
  await leave(head);
  await hover(page.node(name));
  await eventually(() => assert.match(head.className, /lit-column/));
});

it("candidates of preemption are sorted both ways, copied, lit and filtered", async () => {
  const page = await Workbench.open("making-room", "step=1&tab=preemption");
  const table = one(page.panel, "table", /^Candidate nodes/);
  const names = () => texts(table.querySelectorAll("tr[data-of] .candidate [data-at]"));
  const given = names();
  assert.ok(given.length > 1);
  await click(one(table, "button", "node"));
  await eventually(() => assert.deepEqual(names(), [...given].sort()));
  await click(one(table, "button", /^node/));
  const downwards = [...given].sort().reverse();
  await eventually(() => assert.deepEqual(names(), downwards));
  assert.deepEqual(
    (await copy(page, given.length)).map(([first]) => first),
    downwards,
  );
  const row = table.querySelector<HTMLElement>("tr[data-of]")!;
  await light(page, row, downwards[0]!, row.querySelector(".candidate [data-at]")!);
  await fill(field(page.panel, "Filter candidate nodes by name or victim"), given[0]!);
  await eventually(() => assert.equal(table.querySelectorAll("tr[data-of]").length, 1));
});

it("the map of the cache is sorted downwards first, copied and lit", async () => {
  const page = await Workbench.open("shop-cached", "step=12&tab=cache&view=map");
  const table = await eventually(() => one(page.panel, "table", "Valid entries of the cache by node"));
  const name = one(all(table, "rowheader")[0]!, "button");
  await hover(name);
  await eventually(() => assert.deepEqual(page.nodes("hovered"), [text(name)]));
  await click(one(table, "button", /^entries/));
  const found = () => [...table.querySelectorAll("tbody tr")].map((row) => Number(text(row.lastElementChild!)));
  await eventually(() =>
    assert.deepEqual(
      found(),
      [...found()].sort((a, b) => b - a),
    ),
  );
  const numbers = found();
  assert.deepEqual(
    (await copy(page, numbers.length)).map((row) => Number(row.at(-1))),
    numbers,
  );
});

it("the queues are sorted, filtered, copied and lit over steps", async () => {
  const page = await Workbench.open("gang-deadlock-coscheduled", "step=7&tab=queue");
  const active = () => one(page.panel, "table", "Active: pods in their order");
  const names = () => texts(page.panel.querySelectorAll(".queue:not(.at-waiting) tbody tr:not(.follows) .who"));
  const given = names();
  await click(one(active(), "button", "pod"));
  await click(await eventually(() => one(active(), "button", "pod ↑")));
  const head = () => one(active(), "columnheader", /^pod/);
  await eventually(() => assert.equal(head().getAttribute("aria-sort"), "descending"));
  const downwards = [...given].sort().reverse();
  await eventually(() => assert.deepEqual(names(), downwards));
  assert.deepEqual(
    (await copy(page, given.length)).map((row) => row[1]),
    downwards,
  );
  const filter = () => field(page.panel, "Filter pods: Active");
  await fill(filter(), given.at(-1)!);
  await eventually(() => assert.deepEqual(names(), [given.at(-1)]));
  await page.step(8);
  assert.deepEqual(names(), [given.at(-1)]);
  focused(filter());
  await fill(filter(), "no such pod"); // right before the next step draws the table again, as it is while it plays
  await page.step(9);
  assert.equal(filter().value, "no such pod");
  assert.deepEqual(names(), []);
  await page.step(8);
  const row = page.panel.querySelector<HTMLElement>(".queue.at-waiting tbody tr")!;
  const cells = all(row, "cell");
  const node = text(cells[1]!);
  await light(page, row, node, cells[2]!);
  await click(cells[2]!);
  await eventually(() => assert.match(text(one(page.document, "region", "Selected")), new RegExp(node)));
});
