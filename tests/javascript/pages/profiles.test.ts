// Two profiles in virtual time: each is named where it tries; a failure is planned, and a group added.

import assert from "node:assert/strict";
import { it } from "node:test";
import { all, among, choose, click, eventually, field, fill, one, text, texts } from "./queries.ts";
import { go } from "./walk.ts";
import { Workbench } from "./workbench.ts";

const node = (name: string) => `
apiVersion: v1
kind: Node
metadata: {name: ${name}}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
`;
const pod = (name: string, scheduler: string, annotations = "{}") => `
apiVersion: v1
kind: Pod
metadata: {name: ${name}, annotations: ${annotations}}
spec: {schedulerName: ${scheduler}, restartPolicy: Never, containers: [{name: c}]}
`;
const CONFIGURATION = `
apiVersion: kubescheduler.config.k8s.io/v1beta2
kind: KubeSchedulerConfiguration
profiles: [{schedulerName: default-scheduler}, {schedulerName: tidy}]
`;
const TWO = [
  node("n1"),
  node("n2"),
  CONFIGURATION,
  pod("plain", "default-scheduler"),
  pod("own", "tidy", '{podstep/run-seconds: "30"}'),
].join("---");
/** The profile that tries each pod. */
const PROFILES: Record<string, string> = { plain: "default-scheduler", own: "tidy" };

const toast = (page: Workbench, words: string) => among(page.document.querySelectorAll(".toast"), words);
const described = (page: Workbench, id: string) => text(page.document.getElementById(id)!);

it("the cycle bar and the story name the profile that tries, and the tree counts the pods that are there", async () => {
  const page = await Workbench.draft(TWO);
  const workloads = () => text(one(page.build, "treeitem", /^Workloads/));
  assert.match(workloads(), /2 pods/);
  for (const index of [1, 2]) {
    await page.step(index);
    const name = PROFILES[text(page.document.querySelector(".cycle-main b")!)];
    assert.ok(name);
    assert.deepEqual(texts(page.document.querySelectorAll(".cycle-main .by-profile")), [`by ${name}`]);
    const story = await page.tabbed("Story");
    assert.ok(text(story.querySelector(".by-profile")!).includes(`by the profile ${name}`));
  }
  await go(page, "End");
  await eventually(() => assert.match(workloads(), /1 pod(?!s)/)); // the other has ended
});

it("a node is planned to fail by a common change", async () => {
  const page = await Workbench.draft(TWO, "step=2");
  await click(page.node("n1"));
  await click(await eventually(() => one(page.stage, "button", "Edit at this step")));
  const editor = await eventually(() => one(page.document, "dialog", "Edit Node n1"));
  assert.match(text(editor), /No later cycle exists yet.*else the End/);
  assert.doesNotMatch(text(editor), /Inside cycle/);
  await choose(field(editor, "Common change"), "Fail this node at");
  await fill(await eventually(() => field(editor, "seconds of virtual time")), "40");
  await click(one(editor, "button", "Put into the YAML"));
  await eventually(() => assert.match(words(editor), /podstep\/fails-at/));
  const second = field(editor, "Virtual second at which it takes effect");
  await fill(second, "soon");
  assert.ok((one(editor, "radio", /^At a time/) as HTMLInputElement).checked);
  await click(one(editor, "button", "Apply"));
  await eventually(() => assert.match(text(editor), /Write seconds from 0/));
  await fill(second, "35");
  await click(one(editor, "button", "Apply"));
  await eventually(() => assert.ok(!editor.isConnected));
  const said = await eventually(() => text(toast(page, "At 35s: fail Node n1 at 40 s")));
  assert.match(said, /the End shows it|It takes effect from cycle 3/);
  const events = () => among(all(page.build, "listitem"), "fail Node n1 at 40 s");
  await eventually(() => assert.match(text(events()), /35s/));
});

it("a group that asks for more than its pods is doubted, and added", async () => {
  const page = await Workbench.draft(TWO, "step=2");
  page.window.podstep.view.actions.group();
  const form = await eventually(() => one(page.document, "dialog", "A PodGroup and its workload"));
  await fill(field(form, "Name"), "train");
  await fill(form.querySelector<HTMLInputElement>("#group-minMember")!, "9");
  const said = "The workload has 4 of the 9 pods that the group waits for";
  await eventually(() => assert.ok(described(page, "group-minMember-note").includes(said)));
  await click(one(form, "button", "Add"));
  await eventually(() => assert.ok(!form.isConnected));
  await eventually(() => toast(page, said));
});

/** What an element and its fields hold. */
const words = (element: Element) =>
  [text(element), ...[...element.querySelectorAll("textarea")].map((area) => area.value)].join("\n");
