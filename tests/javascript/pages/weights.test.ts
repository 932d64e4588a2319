// Weights live, in the tab Priorities: who would have won, and weights that are applied.

import assert from "node:assert/strict";
import { it } from "node:test";
import { all, click, eventually, fill, nameOf, one, text, texts } from "./queries.ts";
import { Workbench } from "./workbench.ts";

/** Unfold the weights of the tab. */
async function weights(page: Workbench) {
  const part = one(page.document, "region", "Weights");
  const toggle = one(part, "button", /^Try other weights/);
  if (toggle.getAttribute("aria-expanded") !== "true") await click(toggle);
  await eventually(() => one(part, "button", "Reset"));
  return part;
}

const spin = (part: Element, name: string) => one(part, "spinbutton", `Weight of ${name}`) as HTMLInputElement;
const weighed = ({ playback }: Workbench, name: string) =>
  playback.parts?.priorities.rows.find((row: { name: string }) => row.name.startsWith(name)).weight;

it("the weight at which the winner flips tells who would have won, in ranking, diagram and table", async () => {
  const page = await Workbench.open("weighed", "step=2&tab=priorities");
  const part = await weights(page);
  const name = "LeastRequestedPriority";
  const slider = all(part, "slider").find((it) => nameOf(it).includes("LeastRequested"))!;
  const said = () => slider.getAttribute("aria-valuetext") ?? "";
  const before = said().split(": ")[1];
  let weight = 2;
  for (; weight < 40; weight += 1) {
    await fill(spin(part, name), String(weight));
    if (said() !== "" && said().split(": ")[1] !== before) break;
  }
  const [, winner] = /^\d+: (\S+) wins$/.exec(said())!;
  assert.equal(said(), `${weight}: ${winner} wins`);
  assert.match(text(part), new RegExp(`${winner} would have won`));
  const announced = () => text(page.document.querySelector("[data-announce]")!);
  await eventually(() => assert.match(announced(), new RegExp(`^${winner} would win with `)));
  const [first, ...others] = texts(part.querySelectorAll(".weigh-ranking tr.won"));
  assert.match(first!, new RegExp(`${winner}.*would win`));
  assert.deepEqual(others, []);
  assert.ok(all(part, "img").some((it) => nameOf(it).startsWith(`Totals over the weight of ${name}`)));
  await click([...part.querySelectorAll("summary")].find((it) => text(it) === "As a table")!);
  const table = one(part, "table", new RegExp(`^Who wins by the weight of ${name}`));
  assert.ok(all(table, "row").some((row) => text(row).includes(winner!)));
  await click(one(part, "button", "Reset"));
  const decided = page.playback.nodes.names[page.playback.current.node];
  await eventually(() => assert.match(text(part), new RegExp(`As decided: ${decided}`)));
});

it("weights of the newest release are applied as its configuration", async () => {
  const page = await Workbench.draft("weighed-today", "step=2&tab=priorities");
  const part = await weights(page);
  await fill(spin(part, "NodeResourcesFit"), "7");
  await click(one(part, "button", "Apply from the start"));
  await eventually(() => assert.match(text(page.document.body), /From the start: NodeResourcesFit weight 7\./));
  await eventually(() => assert.equal(weighed(page, "NodeResourcesFit"), 7));
});

it("weights applied right before a cycle decide it and not those before, and Undo leads back", async () => {
  const page = await Workbench.draft("weighed", "step=3&tab=priorities");
  const part = await weights(page);
  await fill(spin(part, "BalancedResourceAllocation"), "9");
  await click(one(part, "button", "Apply before this cycle"));
  const said = /Before cycle 3: BalancedResourceAllocation weight 9\./;
  await eventually(() => assert.match(text(page.document.body), said));
  await eventually(() => assert.equal(weighed(page, "Balanced"), 9));
  await page.settled();
  await page.step(2);
  assert.equal(weighed(page, "Balanced"), 1);
  await page.step(3);
  await click(one(page.build, "button", "Undo"));
  await eventually(() => assert.equal(weighed(page, "Balanced"), 1));
});

it("the diagram stays with the priority that was turned to, where a cycle has others before it", async () => {
  const page = await Workbench.draft("weighed", "step=3&tab=priorities");
  await fill(spin(await weights(page), "LeastRequestedPriority"), "0");
  await click(one(page.panel, "button", "Apply before this cycle"));
  const turned = await eventually(() => {
    const slider = spin(one(page.document, "region", "Weights"), "NodeAffinityPriority");
    assert.equal(all(page.panel, "spinbutton", "Weight of LeastRequestedPriority").length, 0);
    return slider;
  });
  await page.settled();
  await fill(turned, "3");
  const drawn = () =>
    all(page.panel, "img")
      .map(nameOf)
      .find((name) => name.startsWith("Totals over the weight of"));
  await eventually(() => assert.match(drawn()!, /NodeAffinityPriority/));
  await page.step(2);
  spin(page.panel, "LeastRequestedPriority");
  assert.match(drawn()!, /NodeAffinityPriority/);
});
