// The tab Kueue: cycles with candidates, the quota tree, queues in order, topologies, and what one asks it.

import assert from "node:assert/strict";
import { it } from "node:test";
import { all, among, click, eventually, field, fill, one, saying, text } from "./queries.ts";
import { Workbench } from "./workbench.ts";

it("a cycle shows its candidates with their verdicts, and the tree what is borrowed", async () => {
  const page = await Workbench.example("kueue-reclaim", "step=3.3&tab=kueue");
  const preempts = among(page.panel.querySelectorAll<HTMLDetailsElement>(".kueue-cycle"), "preempts");
  if (!preempts.open) click(preempts.querySelector("summary")!);
  assert.match(text(preempts), /InCohortReclamation/);
  await click(saying(preempts, /for preemption, in order/)[0]!);
  assert.match(text(preempts.querySelector("ol li")!), /preempted: InCohortReclamation/);
  assert.match(text(page.panel.querySelector(".kueue-tree")!), /team-b/);
  assert.match(text(page.marks), /Kueue admitted/);
});

it("the queue says what Kueue says, and the topology has the pods of each rack", async () => {
  const page = await Workbench.example("kueue-fragments", "step=end&tab=kueue");
  assert.match(text(page.panel.querySelector(".kueue-queue")!), /allows to fit only 5 out of 6 pod\(s\)/);
  assert.match(text(among(all(page.panel, "row"), "r1-a")), /3/);
});

it("it is asked why, and whom a submission preempts in a copy", async () => {
  const page = await Workbench.example("kueue-reclaim", "step=2.3&tab=kueue");
  const form = () => page.panel.querySelector(".kueue-questions")!;
  const answer = () => text(form().querySelector(".kueue-answer")!);
  await fill(field(form(), "Why is it not admitted?"), "Job default/b-borrows");
  await eventually(() => click(one(form(), "button", "Ask")));
  await eventually(() => assert.match(answer(), /is admitted in ClusterQueue team-b/));
  await fill(field(form(), "LocalQueue"), "default/a");
  await fill(field(form(), "cpu of each"), "4");
  await eventually(() => click(one(form(), "button", "Submit to a copy")));
  await eventually(() => assert.match(answer(), /Preempted in this order: default\/job-b/));
});
