// kube-scheduler v1.37 in the workbench: it is named, its plugins and hints are shown, and it is switched.

import assert from "node:assert/strict";
import { it } from "node:test";
import { all, choose, click, eventually, field, one, text } from "./queries.ts";
import { Workbench } from "./workbench.ts";

const cluster = (zone: string) =>
  [0, 1, 2]
    .map(
      (number) => `---
apiVersion: v1
kind: Node
metadata: {name: n${number}, labels: {zone: ${zone}${number}}}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
`,
    )
    .join("");
const CLUSTER = cluster("z");
const PODS = `---
apiVersion: v1
kind: Pod
metadata: {name: first}
spec: {containers: [{name: c, resources: {requests: {cpu: "1"}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: picky}
spec: {nodeSelector: {disk: nvme}, containers: [{name: c}]}
`;
const SPREAD = `---
apiVersion: v1
kind: Pod
metadata: {name: spread, labels: {app: web}}
spec:
  containers: [{name: c}]
  topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: zone
    whenUnsatisfiable: DoNotSchedule
    labelSelector: {matchLabels: {app: web}}
---
apiVersion: v1
kind: Pod
metadata: {name: beside, labels: {app: web}}
spec: {nodeName: n1, containers: [{name: c}]}
`;
const V1_37 = "---\napiVersion: podstep/v1\nkind: SimulationSettings\nscheduler: v1.37\n";
const MODERN = CLUSTER + PODS + V1_37;

const has = (page: Workbench, ...said: RegExp[]) =>
  eventually(() => said.forEach((words) => assert.match(text(page.panel), words)));

it("before the first cycle Why? speaks of plugins", async () => {
  const page = await Workbench.open(MODERN, "step=0&why=default/picky&on=n0");
  await eventually(() => assert.match(text(one(page.document, "dialog")), /1 plugin fails/));
});

it("the release is named, and the ladder has filters", async () => {
  const page = await Workbench.open(MODERN, "step=1&tab=story");
  assert.equal(text(page.document.querySelector("[data-release]")!), "kube-scheduler v1.37");
  await has(page, /kube-scheduler v1\.37 runs this cycle/);
  assert.match(text(page.document.querySelector(".phases")!), /filter/);
  const filters = await page.tabbed(/^Filter/);
  one(filters, "heading", /^Filter plugins/);
  const ladder = text(filters.querySelector(".ladder")!);
  assert.match(ladder, /NodeResourcesFit/);
  assert.match(ladder, /skipped/);
});

it("scores are by plugin, and no word of v1.11 is left", async () => {
  const page = await Workbench.open(MODERN, "step=1&tab=priorities");
  await has(page, /NodeResourcesBalancedAllocation/, /not at random/, /score plugins could not tell the nodes apart/);
  one(page.panel, "grid", "Node by plugin");
  one(page.panel, "heading", /^Node × plugin/);
  one(page.panel, "heading", /^What each plugin adds/);
  await click(all(page.panel, "button", /NodeResourcesFit/)[0]!);
  const formula = await eventually(() => {
    const found = page.panel.querySelector(".formula")!;
    assert.match(text(found), /Score and NormalizeScore/);
    return found;
  });
  assert.equal(
    (formula as Element).querySelector(".ref")!.getAttribute("href"),
    "/reference/plugins/#NodeResourcesFit",
  );
  assert.doesNotMatch(text(page.panel), /priorit|predicate|\bmap\b|\breduce/i);
  await click(one(page.panel, "button", "Plugins"));
  await eventually(() => one(page.panel, "grid", "Plugin by node"));
  await page.tabbed(/^Batching/);
  await has(page, /Opportunistic batching/, /without effect: PodTopologySpread has default constraints/);
});

it("where no node passed, the filter that removed them is marked, and hints say what would help", async () => {
  const page = await Workbench.open(MODERN, "step=2&tab=priorities");
  await has(page, /No node passed all filters, so there was nothing to rank\./);
  const filters = await page.tabbed(/^Filter/);
  assert.match(text(filters.querySelector(".ladder li.removes")!), /NodeAffinity/);
  await page.tabbed(/^Hints/);
  await has(
    page,
    /1 pod in the unschedulable queue after this cycle/,
    /NodeAffinity until a node with disk=nvme is added/,
  );
});

it("what scores do not mean is said beside them, with links to how each plugin scored", async () => {
  const page = await Workbench.open("extender-idle", "step=1&tab=priorities");
  const said = page.panel.querySelector(".surprises")!;
  assert.match(text(said), /score the nodes as if no pod ran on them and they had no image/);
  await click(one(said, "button", "ImageLocality"));
  await eventually(() => one(page.panel, "heading", /^A6 ImageLocality/));
});

it("a spread constraint is shown by domain, and Why? has the same counts", async () => {
  const page = await Workbench.open(CLUSTER + SPREAD + V1_37, "step=1&tab=predicates");
  const spread = page.panel.querySelector(".spread")!;
  assert.equal(spread.querySelectorAll("li").length, 3);
  assert.equal(text(spread.querySelector("li.refused")!), "z11 + 1 skew 2 > 1");
  assert.match(text(spread), /A domain may have 1 with this pod: the fewest of a domain is 0/);
  await click(page.panel.querySelector<HTMLElement>("td.fail")!);
  const why = await eventually(() => one(page.document, "dialog"));
  await eventually(() => assert.match(text(why), /zone=z1 would have 2 pods, this one included/));
  assert.match(text(why), /1 plugin fails/);
});

it("one choice lets v1.11 answer, and v1.37 again; a plugin switched off is a configuration", async () => {
  const page = await Workbench.draft(CLUSTER + PODS, "step=1&tab=story");
  const choice = () => field(page.document, "kube-scheduler");
  assert.equal(choice().value, "v1.37");
  await has(page, /kube-scheduler v1\.37 runs this cycle/);
  await choose(choice(), "v1.11");
  await eventually(() => assert.doesNotMatch(text(page.panel), /v1\.37/));
  assert.equal(choice().value, "v1.11");
  await choose(choice(), "v1.37");
  await has(page, /kube-scheduler v1\.37 runs this cycle/);
  assert.equal(choice().value, "v1.37");
  await click(one(page.build, "tab", "Policy"));
  const policy = () => page.document.querySelector(".policy")!;
  await eventually(() => assert.match(text(policy()), /the default plugins of kube-scheduler v1\.37/));
  assert.doesNotMatch(text(policy()), /DefaultProvider/);
  await click(all(policy(), "switch", "NodePorts").at(-1)!);
  await eventually(() => assert.match(text(policy()), /This scenario's KubeSchedulerConfiguration\./));
  assert.equal(choice().value, "v1.37");
});
