// What the YAML editor offers at a place and says of a field, how Enter indents, and the smallest change of a text.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { EditorState } from "@codemirror/state";
import { complete } from "../../static/js/editor/complete.ts";
import { enter, indentAfter } from "../../static/js/editor/enter.ts";
import { fieldAt } from "../../static/js/editor/help.ts";
import { within } from "../../static/js/editor/schema.ts";
import { changesBetween } from "../../static/js/editor/smallest.ts";

const { schemas } = JSON.parse(readFileSync(process.env.RECORDED!, "utf8"));

const POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n";
const CLUSTER = `apiVersion: v1
kind: Node
metadata:
  name: n1
  labels: {disk: ssd, topology.kubernetes.io/zone: eu-a}
spec:
  taints:
  - {key: dedicated, value: batch, effect: NoSchedule}
status: {allocatable: {cpu: "4", example.com/fpga: "2"}}
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: urgent}
value: 10
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  labels: {a: b}
  name: data
---
`;
const SCENARIO = "kind: Scenario\nspec:\n  operations:\n";
const CONTRACT = `${CLUSTER}kind: Deployment\nmetadata: {name: web}\n---\nkind: Contract\nspec:\n`;
const PROFILE = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n";

/** A text with the cursor as ¦, what is offered there first of all, and what is not offered. */
const OFFERS: Record<string, [text: string, wanted: string, unwanted: string]> = {
  "a document begins": ["¦", "Pod Node Scenario", "spec.containers"],
  "a field at the top": ["apiVersion: v1\nkind: Pod\n¦", "metadata spec", "kind"],
  "a kind": ["kind: ¦", "Deployment PodGroup SimulationSettings", ""],
  "the versions of a kind": ["apiVersion: ¦\nkind: Deployment\n", "apps/v1", "batch/v1"],
  "the kinds of a version": ["apiVersion: batch/v1\nkind: J¦", "Job", ""],
  "a field of a spec": [`${POD}  ¦`, "containers tolerations nodeName", "replicas"],
  "not what is there already": [`${POD}  nodeName: x\n  ¦\n  tolerations: []\n`, "containers", "nodeName tolerations"],
  "an item begins": [`${POD}  tolerations:\n  - ¦`, "key operator effect", "spec"],
  "an item goes on": [`${POD}  tolerations:\n  - key: a\n    ¦`, "operator", "key"],
  "an item at its parent's column": [`${POD}  containers:\n  - name: a\n    resources:\n      ¦`, "requests", "name"],
  "a list without its dash": [`${POD}  containers:\n    ¦`, "name image", ""],
  "a word of an enumeration": [`${POD}  tolerations:\n  - effect: ¦`, "NoSchedule NoExecute", "Exists"],
  "within braces": [`${POD}  tolerations: [{key: a, ¦}]\n`, "operator effect", "key"],
  "within braces of several lines": [
    `${POD}  hostNetwork: {}\n\n  tolerations: [{key: a, # {\n    ¦\n    effect: NoSchedule}]\n`,
    "operator value",
    "key effect nodeName",
  ],
  "a word within braces of several lines": [
    `${POD}  tolerations: [\n    {key: a, effect: NoS¦},\n    {operator: Exists}]\n`,
    "NoSchedule",
    "key operator",
  ],
  "deep within braces of several lines": [
    `${POD}  containers:\n  - {name: a,\n     resources: {\n       requests: {¦}}}\n`,
    "cpu memory",
    "name",
  ],
  "below braces of several lines": [
    `${POD}  containers: [{name: a,\n    image: b}]\n  ¦`,
    "tolerations nodeName",
    "containers image",
  ],
  "JSON that is typed": ['{"spec": {"cont¦"}, "kind": "Pod"}', "containers", "apiVersion"],
  "a word within braces": [`${POD}  tolerations: [{key: a, effect: N¦}]\n`, "NoSchedule", "key"],
  "deep in a template": [
    "apiVersion: apps/v1\nkind: Deployment\nspec:\n  template:\n    spec:\n      ¦",
    "containers affinity",
    "replicas",
  ],
  "a kind that stands below": [
    "spec:\n  ¦\nkind: Deployment\napiVersion: apps/v1\n",
    "replicas template",
    "containers",
  ],
  "an item of a list of objects": [
    "kind: List\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata: {name: a}\n  spec:\n    ¦",
    "containers",
    "items",
  ],
  resources: [`${POD}  containers:\n  - resources:\n      requests:\n        ¦`, "cpu memory nvidia.com/gpu", "name"],
  "resources of the text": [`${CLUSTER}${POD}  overhead:\n    ¦`, "example.com/fpga", "name"],
  "a node's name": [`${CLUSTER}${POD}  nodeName: ¦`, "n1", "urgent"],
  "a priority class": [`${CLUSTER}${POD}  priorityClassName: ¦`, "urgent system-node-critical", "n1"],
  "a claim": [`${CLUSTER}${POD}  volumes:\n  - persistentVolumeClaim: {claimName: ¦}`, "data", "n1"],
  "a label's key": [`${CLUSTER}${POD}  nodeSelector:\n    ¦`, "disk kubernetes.io/hostname", "cpu"],
  "a label's value": [`${CLUSTER}${POD}  nodeSelector:\n    disk: ¦`, "ssd", "eu-a"],
  "a taint's key": [`${CLUSTER}${POD}  tolerations:\n  - key: ¦`, "dedicated", "disk"],
  "annotations of a pod": ["kind: Pod\nmetadata:\n  annotations:\n    ¦", "podstep/run-seconds", "podstep/fails-at"],
  "annotations of a node": ["kind: Node\nmetadata:\n  annotations:\n    ¦", "podstep/fails-at", "podstep/run-seconds"],
  "our own settings": ["kind: SimulationSettings\n¦", "cache quirks time", "spec"],
  "a mode of the cache": ["kind: SimulationSettings\ncache: ¦", "designed batching", "v1.12"],
  "a predicate": ["kind: Policy\npredicates:\n- name: ¦", "PodFitsResources", "LeastRequestedPriority"],
  "a priority": ["kind: Policy\npriorities:\n- {name: ¦", "LeastRequestedPriority", "PodFitsResources"],
  "an operation": [`${SCENARIO}  - ¦`, "step time createOperation patchOperation", "replicas"],
  "an object that is created": [
    `${SCENARIO}  - createOperation:\n      object:\n        kind: Node\n        spec:\n          ¦`,
    "taints unschedulable",
    "containers",
  ],
  "a patch of what is named beside it": [
    `${SCENARIO}  - patchOperation:\n      typeMeta: {kind: Node}\n      patch: {spec: {¦`,
    "taints unschedulable",
    "containers",
  ],
  "a plugin at its point": [
    `${PROFILE}- plugins:\n    score:\n      enabled:\n      - name: ¦`,
    "NodeResourcesFit",
    "PrioritySort",
  ],
  "arguments of the plugin beside": [
    `${PROFILE}- pluginConfig:\n  - name: NodeResourcesFit\n    args:\n      ¦`,
    "scoringStrategy ignoredResources",
    "defaultConstraints",
  ],
  "a classic PodGroup": [
    "apiVersion: scheduling.sigs.k8s.io/v1alpha1\nkind: PodGroup\nspec:\n  ¦",
    "minMember scheduleTimeoutSeconds",
    "queue",
  ],
  "a Volcano PodGroup": [
    "apiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nspec:\n  ¦",
    "minMember queue",
    "scheduleTimeoutSeconds",
  ],
  "a contract": [`${CONTRACT}  ¦`, "for when always within", "template"],
  "the subject of a contract": [`${CONTRACT}  for: {kind: Deployment, name: ¦}`, "web", "n1 urgent"],
  "a nemesis": [`${CONTRACT}  when:\n  - ¦`, "lose drain rollout upgrade", "web"],
  "a node that a contract loses": [`${CONTRACT}  when:\n  - lose: ¦`, "zone=eu-a n1", "web"],
  "any of a contract's nodes": [
    `${CONTRACT}  when:\n  - lose: {any: ¦}`,
    "Node topology.kubernetes.io/zone disk",
    "web",
  ],
  "a rollout of a contract": [`${CONTRACT}  when:\n  - rollout: ¦`, "web", "n1"],
  "replicas of a contract": [`${CONTRACT}  when:\n  - scale: {¦}`, "web", "n1"],
};
/** Places where nothing is offered. */
const SILENT = {
  "a comment": `${POD}  # cont¦`,
  "a text": `${POD}  containers:\n  - name: a\n    args:\n    - |\n      tol¦`,
  "below a value": `${POD}  nodeName: n1\n    tol¦`,
  "a kind that nobody knows": "kind: Gadget\nspec:\n  ¦",
};
/** A text with the pointer as ¦, and what is said of the field there. */
const SAID: Record<string, [text: string, wanted: string]> = {
  "a field": [`${POD}  toler¦ations: []\n`, "Pod spec.tolerations|object[]|If specified, the pod's tolerations."],
  "an item's field": [`${POD}  containers:\n  - name: a\n    imag¦e: b\n`, "Pod spec.containers[].image|string|"],
  "a value": [`${POD}  nodeName: n¦1\n`, "Pod spec.nodeName|string|"],
  "within braces": [`${POD}  tolerations: [{eff¦ect: NoSchedule}]\n`, "Pod spec.tolerations[].effect|string|"],
  "JSON as it is printed": [
    '{\n  "kind": "Pod",\n  "spec": {\n    "containers": [\n      {\n        "im¦age": "a"\n',
    "Pod spec.containers[].image|string|",
  ],
  "within braces of several lines": [
    `${POD}  tolerations: [{key: a,\n    eff¦ect: NoSchedule}]\n`,
    "Pod spec.tolerations[].effect|string|",
  ],
  "our own": ["kind: SimulationSettings\naud¦it: true\n", "SimulationSettings audit|boolean|Check every hit"],
  "not read": [`${POD}  host¦PID: true\n`, "Pod spec.hostPID|boolean|"],
};

/** An event alone: its fields are those of an operation, and names are those of the text that it is taken from. */
const PARTS: [text: string, wanted: string, unwanted: string][] = [
  ["¦", "createOperation patchOperation deleteOperation", "id step time kind"],
  ["createOperation:\n  object:\n    kind: Pod\n    spec:\n      ¦", "containers nodeName", "taints"],
  ["createOperation: {object: {kind: Pod,\n  spec: {nodeName: ¦}}}", "n7", "containers"],
];

const words = (text: string) => text.split(" ").filter(Boolean);

async function options(text: string, knows: Parameters<typeof complete>[1], explicit = true) {
  const state = EditorState.create({ doc: text.replace("¦", "") });
  const place = { state, pos: text.indexOf("¦"), explicit };
  return (await complete(place as Parameters<typeof complete>[0], knows))?.options ?? [];
}

async function offered(text: string, knows: Parameters<typeof complete>[1]) {
  return (await options(text, knows)).map(({ label }) => label);
}

function offers(names: string[], wanted: string, unwanted: string) {
  assert.deepEqual(
    words(wanted).filter((one) => !names.includes(one)),
    [],
    `missing of ${names}`,
  );
  assert.deepEqual(
    words(unwanted).filter((one) => names.includes(one)),
    [],
    "offered, though it does not fit",
  );
}

describe("a place is completed", () => {
  for (const [place, [text, wanted, unwanted]] of Object.entries(OFFERS)) {
    it(place, async () => offers(await offered(text, { schema: schemas }), wanted, unwanted));
  }
  for (const [place, text] of Object.entries(SILENT)) {
    it(`not in ${place}`, async () => offers(await offered(text, { schema: schemas }), "", "tolerations containers"));
  }
  for (const [text, wanted, unwanted] of PARTS) {
    it(`of an event alone: ${text}`, async () => {
      const knows = within({ schema: schemas }, "operation");
      knows.beside = "kind: Node\nmetadata: {name: n7}\n";
      offers(await offered(text, knows), wanted, unwanted);
    });
  }
});

describe("a field is explained by its kind, path, type and sentence", () => {
  for (const [place, [text, wanted]] of Object.entries(SAID)) {
    it(place, () => {
      const { doc } = EditorState.create({ doc: text.replace("¦", "") });
      const { kind, path, field } = fieldAt(schemas, doc, text.indexOf("¦"))!;
      assert.equal(`${kind} ${path}|${field.t}|${field.d}`.slice(0, wanted.length), wanted);
      assert.equal(field.x ?? "", place === "not read" ? "ignored" : "");
    });
  }
});

it("within braces fields are offered unasked, and what is taken stays on the line", async () => {
  const taken = async (text: string) =>
    (await options(text, { schema: schemas }, false)).find(({ label }) => label === "containers")?.apply;
  assert.equal(await taken("kind: Pod\nspec: {¦}\n"), "containers: ");
  assert.equal(await taken("kind: Pod\nspec:\n  c¦\n"), "containers:\n  - ");
  assert.equal(await taken("kind: Pod\nspec:\n  ¦\n"), undefined);
});

it("Enter leaves no blanks before what goes to the new line, and puts a brace that closes on one of its own", () => {
  const texts = {
    "spec:\n  a: 1¦   b: 2": "spec:\n  a: 1\n  ¦b: 2",
    "kind: Pod\nspec: {¦  }": "kind: Pod\nspec: {\n  ¦\n}",
  };
  for (const [before, after] of Object.entries(texts)) {
    let state = EditorState.create({ doc: before.replace("¦", ""), selection: { anchor: before.indexOf("¦") } });
    enter({ state, dispatch: (transaction) => (state = transaction.state) });
    const { head } = state.selection.main;
    assert.equal(`${state.doc.sliceString(0, head)}¦${state.doc.sliceString(head)}`, after);
  }
});

it("Enter begins a line in a field that opens, within what a brace opens, else below the field before", () => {
  const columns = { "spec:": 2, "  nodeName: a": 2, "  - {key: a,": 6, "  tolerations: [": 4, "    effect: b}": 4 };
  for (const [text, column] of Object.entries(columns)) assert.equal(indentAfter(text), column, text);
});

describe("a text becomes another by its changed lines", () => {
  it("and nothing between two changes is touched", () => {
    assert.deepEqual(changesBetween("a\nb\nc\n", "a\nB\nc\n"), [{ from: 2, to: 3, insert: "B" }]);
    assert.deepEqual(changesBetween("a\nb\nc\n", "a\nb\nc\nd\n"), [{ from: 6, to: 6, insert: "d\n" }]);
    assert.deepEqual(changesBetween("a\nb", ""), [{ from: 0, to: 3, insert: "" }]);
    assert.deepEqual(changesBetween("", "a\nb"), [{ from: 0, to: 0, insert: "a\nb" }]);
    assert.deepEqual(changesBetween("a\nb\n", "a\nb\n"), []);
  });
  it("a change at the top and one at the end are two, and make the other text", () => {
    const before = Array.from({ length: 200 }, (_, number) => `line ${number}\n`).join("");
    const after = before.replace("line 3\n", "three\n").replace("line 190\n", "");
    const changes = changesBetween(before, after);
    assert.equal(changes.length, 2);
    assert.equal(EditorState.create({ doc: before }).update({ changes }).state.doc.toString(), after);
  });
});
