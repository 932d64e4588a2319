// The tab Priorities: the matrix either way round, a priority worked out, and one node's column.

import assert from "node:assert/strict";
import { it } from "node:test";
import { all, click, eventually, one, rowsOf, text, texts } from "./queries.ts";
import { Workbench } from "./workbench.ts";

const RANKED = "step=20&tab=priorities"; // a cycle of the example that ranks five nodes
const MATRIX = [
  ["A1 SelectorSpread", "10", "10", "10", "10", "10"],
  ["A2 InterPodAffinity", "0", "0", "0", "0", "0"],
  ["A3 LeastRequested", "8", "8", "5", "5", "4"],
  ["A4 BalancedResourceAllocation", "8", "8", "4", "4", "3"],
  ["A5 NodePreferAvoidPods ×10,000", "10", "10", "10", "10", "10"],
  ["A6 NodeAffinity", "0", "0", "0", "0", "0"],
  ["A7 TaintToleration", "10", "10", "10", "10", "10"],
  ["Combine", "100,036", "100,036", "100,029", "100,029", "100,027"],
  ["rank", "1", "1", "3", "3", "5"],
  ["behind the best", "–", "–", "7", "7", "9"],
];
const ONE_NODE = `
{apiVersion: podstep/v1, kind: SimulationSettings, scheduler: v1.11}
---
{apiVersion: v1, kind: Node, metadata: {name: one}, status: {allocatable: {cpu: "1", memory: 1Gi, pods: "9"}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: c, resources: {requests: {cpu: "1"}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: b}, spec: {containers: [{name: c, resources: {requests: {cpu: "1"}}}]}}
`;

const button = (page: Workbench, name: string) => one(page.panel, "button", name);
const grid = (page: Workbench, name: string) => eventually(() => one(page.panel, "grid", name));
const rows = (found: Element) => all(found, "row").map((row) => texts(row.children));
const address = (page: Workbench, wanted: RegExp) => eventually(() => assert.match(page.address, wanted));

it("which values are shown, and which way round, is in the address", async () => {
  const page = await Workbench.open("shop", RANKED);
  await click(button(page, "Combine"));
  await address(page, /[?&]view=sum(&|$)/);
  await click(button(page, "Priorities"));
  await address(page, /[?&]view=sum\/priorities(&|$)/);
  await page.reload();
  assert.equal(button(page, "Combine").getAttribute("aria-pressed"), "true");
  await grid(page, "Priority by node");
  await click(button(page, "Nodes"));
  await grid(page, "Node by priority");
  assert.equal(button(page, "Nodes").getAttribute("aria-pressed"), "true");
  await page.tabbed("Story");
  await eventually(() => assert.doesNotMatch(page.address, /view=/));
  await page.tabbed("Priorities");
  await address(page, /[?&]view=sum(&|$)/);
});

it("algorithms are rows and nodes are columns, the best node first", async () => {
  const page = await Workbench.open("shop", RANKED);
  await click(button(page, "Priorities"));
  const turned = await grid(page, "Priority by node");
  const [, ...heads] = texts(all(turned, "columnheader"));
  assert.deepEqual(
    heads.map((head) => head.split(" ")[0]),
    ["N1", "N2", "N3", "N4", "N5"],
  );
  assert.deepEqual(heads.map((head) => head.split(" ")[1]).sort(), [
    "batch-1",
    "batch-2",
    "general-4",
    "general-6",
    "general-8",
  ]);
  assert.match(heads[4]!, /general-4/);
  await click(button(page, "Reduced"));
  await eventually(() => assert.deepEqual(rows(turned).slice(1), MATRIX));
  await click(button(page, "Combine"));
  await eventually(() => assert.deepEqual(rows(turned).slice(1), MATRIX.slice(-3)));
});

it("nodes as rows say what they are behind the best", async () => {
  const page = await Workbench.open("shop", `${RANKED}&view=sum`);
  const behind = () => rows(one(page.panel, "grid", "Node by priority")).slice(1);
  await eventually(() =>
    assert.deepEqual(
      behind().map((row) => row[4]),
      ["–", "–", "7", "7", "9"],
    ),
  );
});

it("a score is worked out with its numbers, and the weight turns it into points", async () => {
  const page = await Workbench.open("shop", `${RANKED}&node=general-4`);
  await click(one(page.panel, "columnheader", "A3 LeastRequested"));
  const formula = (await eventually(() => one(page.panel, "heading", /^A3 LeastRequestedPriority/))).parentElement!;
  assert.match(text(formula), /on general-4/);
  const worked = [...formula.querySelectorAll("li")].map((line) => texts(line.querySelectorAll("code, b")));
  assert.deepEqual(worked, [
    ["1,350 + 2,000", "3,350"],
    ["(4,000 − 3,350) × 10 / 4,000", "1"],
    ["1,664 + 1,024", "2,688"],
    ["(16,384 − 2,688) × 10 / 16,384", "8"],
    ["(1 + 8) / 2", "4"],
    ["4 × 1", "4"],
  ]);
  assert.equal(one(formula, "link", /^Reference/).getAttribute("href"), "/reference/#LeastRequestedPriority");
});

it("a priority that could not tell the nodes apart says so", async () => {
  const page = await Workbench.open("shop", RANKED);
  await click(all(page.panel, "button", /^A7 TaintToleration/)[0]!);
  const flat = (await eventually(() => one(page.panel, "heading", /^A7 TaintTolerationPriority/))).parentElement!;
  assert.match(text(flat), /Every feasible node scored 10 here/);
});

it("what the priorities add to a node is listed, and Combine is its total", async () => {
  const page = await Workbench.open("shop", `${RANKED}&node=general-4`);
  const table = one(page.panel, "table", "What each priority adds to the total of general-4");
  const [, ...lines] = all(table, "row").map((row) => texts(row.children));
  const adds = lines.map((line) => line.at(-1)!);
  assert.deepEqual(adds, ["10", "0", "4", "3", "100,000", "0", "10", "100,027"]);
  assert.equal(lines.filter(([name]) => name!.includes("same for all")).length, 5);
});

it("a node that the predicates stopped has no column, and the chosen one's is shown", async () => {
  const page = await Workbench.open("shop", `${RANKED}&node=general-1`);
  assert.match(text(page.panel), /general-1 has no scores, because it did not pass the predicates\./);
  const table = one(page.panel, "table", /total of batch-1$/);
  assert.equal(rowsOf(table).length, 7);
});

it("where nothing was ranked the tab says why, and leads to Predicates", async () => {
  const page = await Workbench.open(ONE_NODE, "step=1&tab=priorities");
  assert.match(text(page.panel), /Priorities were not run, because only one node fits\./);
  await page.step(2);
  assert.match(text(page.panel), /There was nothing to rank\./);
  await click(button(page, "See what removed the nodes"));
  await eventually(() => assert.equal(one(page.inspect, "tab", /^Predicates/).getAttribute("aria-selected"), "true"));
});

it("large totals are read as differences, and the full figure stays in the table", async () => {
  const page = await Workbench.open("first-cycle", "step=1&tab=priorities");
  const shown = texts(page.stage.querySelectorAll(".node .score > span")).filter(Boolean);
  assert.deepEqual(shown.sort(), ["+0", "+2"]);
  assert.equal(page.stage.querySelector(".node .score.best")!.getAttribute("title"), "score 100,037");
  const cell = page.panel.querySelector<HTMLElement>(".scores td.total")!;
  assert.equal(text(cell), "100,037");
  assert.equal(cell.dataset.above, "+2");
});
