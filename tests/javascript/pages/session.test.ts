// A session of kube-batch: its steps, who has what after each, and where there is none.

import assert from "node:assert/strict";
import { it } from "node:test";
import { all, among, click, eventually, one, text, texts } from "./queries.ts";
import { Workbench } from "./workbench.ts";

const steps = (page: Workbench) => one(page.panel, "region", "Steps of the session");
const STEP = "li.session-step";

it("a step shows its detail and the shares after it, which the address keeps", async () => {
  const page = await Workbench.open("fair-shares", "step=2&tab=session");
  one(page.panel, "heading", /^Session 2/);
  const queues = () => one(page.panel, "table", /^Queues: allocated, deserved and requested/);
  const research = () => text(queues().querySelector("tbody[data-queue=research] tr[data-resource=cpu]")!);
  assert.match(text(queues().querySelector("caption")!), /at the end of the session$/);
  assert.match(research(), /7 \/ 2 \/ 8/);
  assert.equal(page.panel.querySelectorAll(".session-rounds li").length, 1);
  const answer = () => among(steps(page).querySelectorAll("li"), "tier 1 decides");
  await click(one(answer(), "button", /^Step/));
  const victims = await eventually(() => one(answer(), "table", /^Victims by tier and plugin/));
  among(all(victims, "row"), "proportion");
  await eventually(() => assert.match(text(queues().querySelector("caption")!), /after step/));
  assert.match(research(), /8 \/ 2 \/ 8/);
  await eventually(() => assert.match(page.address, /tab=session&view=\d+/));
  const now = () => text(steps(page).querySelector("li.now")!);
  await click(one(steps(page), "button", "Next step"));
  await eventually(() => assert.match(now(), /releases its resources on/));
  assert.match(research(), /7 \/ 2 \/ 8/);
  await page.reload();
  await eventually(() => assert.match(now(), /releases its resources on/));
});

it("steps are narrowed to a job and an action, from the story too", async () => {
  const page = await Workbench.open("kube-batch-gangs", "step=2&tab=story");
  assert.match(text(page.panel), /train-b is dropped by allocate at/);
  await click(all(page.panel, "button", "train-b")[0]!);
  const narrowed = () => one(steps(page), "button", /^job train-b/);
  await eventually(narrowed);
  const having = (words: string) => texts(steps(page).querySelectorAll(STEP)).filter((row) => row.includes(words));
  await eventually(() => assert.equal(having("is dropped at").length, 1));
  const jobs = one(page.panel, "table", /^Jobs of the session/);
  assert.match(text(among(all(jobs, "row"), "train-b")), /3 forgotten/);
  await click(one(steps(page), "button", "close"));
  await eventually(() => assert.deepEqual(texts(steps(page).querySelectorAll("li.session-action")), ["close"]));
  await click(narrowed());
  await eventually(() => assert.equal(having("train-a").length, 1));
});

it("the tab appears with the first session, and says where there is none", async () => {
  const page = await Workbench.open("two-schedulers", "step=1");
  assert.equal(all(page.inspect, "tab", /^Session/).length, 0);
  await page.step(5);
  assert.match(text(await page.tabbed(/^Session/)), /5 bound/);
  await page.step(4);
  assert.match(text(page.panel), /No session of kube-batch is shown\./);
});
