// What the tabs say of a run in virtual time agrees with itself: times, queues, ties, and who is let in.

import assert from "node:assert/strict";
import { it } from "node:test";
import { all, among, click, eventually, one, saying, text, texts } from "./queries.ts";
import { Workbench } from "./workbench.ts";

const NODES = [0, 1, 2]
  .map(
    (number) => `---
apiVersion: v1
kind: Node
metadata: {name: n${number}}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
`,
  )
  .join("");
const pod = (metadata: string, spec: string) => `---
apiVersion: v1
kind: Pod
metadata: {${metadata}}
spec: {${spec}}
`;
const wanting = (cpu: number) => `containers: [{name: c, resources: {requests: {cpu: "${cpu}"}}}]`;
const configured = (version: string) => `apiVersion: kubescheduler.config.k8s.io/${version}
kind: KubeSchedulerConfiguration
`;
const GANG = [0, 1, 2, 3].map((number) =>
  pod(`name: b-${number}, labels: {pod-group.scheduling.sigs.k8s.io: b}`, wanting(4)),
);
/** Room for three of four, and no PostFilter that rejects them: their minute at Permit runs out. */
const TIMES_OUT = `${configured("v1beta2")}profiles:
- schedulerName: default-scheduler
  plugins:
    queueSort: {enabled: [{name: Coscheduling}], disabled: [{name: "*"}]}
    preFilter: {enabled: [{name: Coscheduling}]}
    permit: {enabled: [{name: Coscheduling}]}
    reserve: {enabled: [{name: Coscheduling}]}
    postBind: {enabled: [{name: Coscheduling}]}
---
apiVersion: scheduling.sigs.k8s.io/v1alpha1
kind: PodGroup
metadata: {name: b}
spec: {minMember: 4}
${NODES}${GANG.join("")}`;
/** The only pod is for a scheduler that is not there. */
const ELSEWHERE = configured("v1beta3") + NODES + pod("name: lost", "schedulerName: nobody, containers: [{name: c}]");
/** Two pods that no node can hold. */
const TOO_LARGE = configured("v1beta3") + NODES + [0, 1].map((n) => pod(`name: large-${n}`, wanting(8))).join("");

it("a gang that waits and then gets room reads alike in events, story and group", async () => {
  const page = await Workbench.open("coscheduling-room", "step=3&tab=events");
  await eventually(() => assert.match(text(page.panel), /No event yet\./));
  assert.match(text(page.panel), /for a pod that waits at Permit, once it is allowed or rejected/);
  await page.step(4);
  const story = await page.tabbed("Story");
  const reported = among(story.querySelectorAll("p"), "With it 4 of the 4 members that nginx needs hold a node");
  assert.match(text(reported), /waited at Permit for that, and are bound too\./);
  assert.equal(all(reported, "button").length, 4, "links to the group and three pods");
});

it("moments that share a time show it once, to the millisecond", async () => {
  const page = await Workbench.open("coscheduling-room", "step=4&tab=podgroups");
  const happened = among(page.panel.querySelectorAll(".happened"), "Consequences of this cycle");
  const times = [...happened.querySelectorAll("li")].map((row) => text(row.querySelector("span")!));
  assert.equal(times.length, 6);
  assert.ok(times[0]);
  const shown = times.filter(Boolean);
  assert.ok(new Set(shown).size === shown.length && shown.length < times.length);
  for (const time of shown) assert.match(time, /^0\.0.*s$/);
});

it("an old link to another group says that there is none, and lists those there are", async () => {
  const page = await Workbench.open("coscheduling-room", "step=4&tab=podgroups&view=default/gone");
  await eventually(() => assert.match(text(page.panel), /There is no PodGroup default\/gone after this cycle\./));
  await click(all(page.panel, "button", "nginx")[0]!);
  await eventually(() => one(page.panel, "heading", /^PodGroup nginx Scheduled/));
});

it("who wins a tie, who was rejected when, and since when a pod is queued read alike", async () => {
  const page = await Workbench.open(TIMES_OUT, "step=1&tab=story");
  assert.match(text(page.panel), /here it is always the first in the order of the nodes, n0\./);
  assert.doesNotMatch(text(page.panel), /round-robin/);
  assert.match(text(page.panel.querySelector(".ranking li")!), /n0/);
  assert.match(text(await page.tabbed(/^Priorities/)), /always the first in the order of the nodes/);
  await page.step(5); // the minute ended 30 s before this cycle
  const groups = await page.tabbed(/^PodGroups/);
  assert.ok(saying(groups, /rejected at t = 60s/).length);
  assert.equal(saying(groups, "rejected in this cycle").length, 0);
  await page.step(6); // put aside at 60 s and woken at 90 s: both are said, and not that it is here since 60 s
  const queue = await page.tabbed(/^Queue/);
  const since = /Queued since t = 60s; here because a member of its group began to wait at Permit/;
  assert.match(text(queue.querySelector(".queue.at-active")!), since);
});

it("the flush moves the queue's only pod when it may, which is not the next time it looks", async () => {
  const page = await Workbench.open(TOO_LARGE, "step=2&tab=queue");
  const leaves = page.panel.querySelector(".queue.at-unschedulable .leaves")!;
  assert.match(text(leaves), /Moves by the flush: 5m30s left/);
  assert.match(text(page.panel.querySelector(".lane.at-unschedulable")!), /5m30s left/);
});

it("a pod of another scheduler is pending, and not called missing", async () => {
  const page = await Workbench.open(ELSEWHERE);
  const story = await page.tabbed("Story");
  assert.ok(saying(story, "1 pod pending, and none is scheduled.").length);
  assert.match(text(story), /add a profile to the KubeSchedulerConfiguration/);
  assert.ok(!texts(story.querySelectorAll("*")).includes("No pod is waiting to be scheduled."));
});
