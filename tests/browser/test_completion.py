"""What the YAML editor offers at a place, and says of a field: the browser's own code on a table of texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.modules import served
from tests.services.stack import Stack

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n"
CLUSTER = """apiVersion: v1
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
"""
SCENARIO = "kind: Scenario\nspec:\n  operations:\n"
PROFILE = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n"

CONTRACT = f"{CLUSTER}kind: Deployment\nmetadata: {{name: web}}\n---\nkind: Contract\nspec:\n"

#: A text with the cursor as ¦, what is offered there first of all, and what is not offered.
OFFERS: dict[str, tuple[str, str, str]] = {
    "a document begins": ("¦", "Pod Node Scenario", "spec.containers"),
    "a field at the top": ("apiVersion: v1\nkind: Pod\n¦", "metadata spec", "kind"),
    "a kind": ("kind: ¦", "Deployment PodGroup SimulationSettings", ""),
    "the versions of a kind": ("apiVersion: ¦\nkind: Deployment\n", "apps/v1", "batch/v1"),
    "the kinds of a version": ("apiVersion: batch/v1\nkind: J¦", "Job", ""),
    "a field of a spec": (f"{POD}  ¦", "containers tolerations nodeName", "replicas"),
    "not what is there already": (
        f"{POD}  nodeName: x\n  ¦\n  tolerations: []\n",
        "containers",
        "nodeName tolerations",
    ),
    "an item begins": (f"{POD}  tolerations:\n  - ¦", "key operator effect", "spec"),
    "an item goes on": (f"{POD}  tolerations:\n  - key: a\n    ¦", "operator", "key"),
    "an item at its parent's column": (
        f"{POD}  containers:\n  - name: a\n    resources:\n      ¦",
        "requests",
        "name",
    ),
    "a list without its dash": (f"{POD}  containers:\n    ¦", "name image", ""),
    "a word of an enumeration": (f"{POD}  tolerations:\n  - effect: ¦", "NoSchedule NoExecute", "Exists"),
    "within braces": (f"{POD}  tolerations: [{{key: a, ¦}}]\n", "operator effect", "key"),
    "within braces of several lines": (
        f"{POD}  hostNetwork: {{}}\n\n  tolerations: [{{key: a, # {{\n    ¦\n    effect: NoSchedule}}]\n",
        "operator value",
        "key effect nodeName",
    ),
    "a word within braces of several lines": (
        f"{POD}  tolerations: [\n    {{key: a, effect: NoS¦}},\n    {{operator: Exists}}]\n",
        "NoSchedule",
        "key operator",
    ),
    "deep within braces of several lines": (
        f"{POD}  containers:\n  - {{name: a,\n     resources: {{\n       requests: {{¦}}}}}}\n",
        "cpu memory",
        "name",
    ),
    "below braces of several lines": (
        f"{POD}  containers: [{{name: a,\n    image: b}}]\n  ¦",
        "tolerations nodeName",
        "containers image",
    ),
    "JSON that is typed": (
        '{"spec": {"cont¦"}, "kind": "Pod"}',
        "containers",
        "apiVersion",
    ),
    "a word within braces": (f"{POD}  tolerations: [{{key: a, effect: N¦}}]\n", "NoSchedule", "key"),
    "deep in a template": (
        "apiVersion: apps/v1\nkind: Deployment\nspec:\n  template:\n    spec:\n      ¦",
        "containers affinity",
        "replicas",
    ),
    "a kind that stands below": (
        "spec:\n  ¦\nkind: Deployment\napiVersion: apps/v1\n",
        "replicas template",
        "containers",
    ),
    "an item of a list of objects": (
        f"kind: List\nitems:\n- {POD.replace(chr(10), chr(10) + '  ').rstrip()}\n    ¦",
        "containers",
        "items",
    ),
    "resources": (
        f"{POD}  containers:\n  - resources:\n      requests:\n        ¦",
        "cpu memory nvidia.com/gpu",
        "name",
    ),
    "resources of the text": (f"{CLUSTER}{POD}  overhead:\n    ¦", "example.com/fpga", "name"),
    "a node's name": (f"{CLUSTER}{POD}  nodeName: ¦", "n1", "urgent"),
    "a priority class": (f"{CLUSTER}{POD}  priorityClassName: ¦", "urgent system-node-critical", "n1"),
    "a claim": (f"{CLUSTER}{POD}  volumes:\n  - persistentVolumeClaim: {{claimName: ¦}}", "data", "n1"),
    "a label's key": (f"{CLUSTER}{POD}  nodeSelector:\n    ¦", "disk kubernetes.io/hostname", "cpu"),
    "a label's value": (f"{CLUSTER}{POD}  nodeSelector:\n    disk: ¦", "ssd", "eu-a"),
    "a taint's key": (f"{CLUSTER}{POD}  tolerations:\n  - key: ¦", "dedicated", "disk"),
    "annotations of a pod": (
        "kind: Pod\nmetadata:\n  annotations:\n    ¦",
        "podstep/run-seconds",
        "podstep/fails-at",
    ),
    "annotations of a node": (
        "kind: Node\nmetadata:\n  annotations:\n    ¦",
        "podstep/fails-at",
        "podstep/run-seconds",
    ),
    "our own settings": ("kind: SimulationSettings\n¦", "cache quirks time", "spec"),
    "a mode of the cache": ("kind: SimulationSettings\ncache: ¦", "designed batching", "v1.12"),
    "a predicate": ("kind: Policy\npredicates:\n- name: ¦", "PodFitsResources", "LeastRequestedPriority"),
    "a priority": ("kind: Policy\npriorities:\n- {name: ¦", "LeastRequestedPriority", "PodFitsResources"),
    "an operation": (f"{SCENARIO}  - ¦", "step time createOperation patchOperation", "replicas"),
    "an object that is created": (
        f"{SCENARIO}  - createOperation:\n      object:\n        kind: Node\n        spec:\n          ¦",
        "taints unschedulable",
        "containers",
    ),
    "a patch of what is named beside it": (
        f"{SCENARIO}  - patchOperation:\n      typeMeta: {{kind: Node}}\n      patch: {{spec: {{¦",
        "taints unschedulable",
        "containers",
    ),
    "a plugin at its point": (
        f"{PROFILE}- plugins:\n    score:\n      enabled:\n      - name: ¦",
        "NodeResourcesFit",
        "PrioritySort",
    ),
    "arguments of the plugin beside": (
        f"{PROFILE}- pluginConfig:\n  - name: NodeResourcesFit\n    args:\n      ¦",
        "scoringStrategy ignoredResources",
        "defaultConstraints",
    ),
    "a classic PodGroup": (
        "apiVersion: scheduling.sigs.k8s.io/v1alpha1\nkind: PodGroup\nspec:\n  ¦",
        "minMember scheduleTimeoutSeconds",
        "queue",
    ),
    "a contract": (CONTRACT + "  ¦", "for when always within", "template"),
    "the subject of a contract": (f"{CONTRACT}  for: {{kind: Deployment, name: ¦}}", "web", "n1 urgent"),
    "a nemesis": (f"{CONTRACT}  when:\n  - ¦", "lose drain rollout upgrade", "web"),
    "a node that a contract loses": (f"{CONTRACT}  when:\n  - lose: ¦", "zone=eu-a n1", "web"),
    "any of a contract's nodes": (
        f"{CONTRACT}  when:\n  - lose: {{any: ¦}}",
        "Node topology.kubernetes.io/zone disk",
        "web",
    ),
    "a rollout of a contract": (f"{CONTRACT}  when:\n  - rollout: ¦", "web", "n1"),
    "replicas of a contract": (f"{CONTRACT}  when:\n  - scale: {{¦}}", "web", "n1"),
    "a Volcano PodGroup": (
        "apiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nspec:\n  ¦",
        "minMember queue",
        "scheduleTimeoutSeconds",
    ),
}
#: Places where nothing is offered.
SILENT = {
    "a comment": f"{POD}  # cont¦",
    "a text": f"{POD}  containers:\n  - name: a\n    args:\n    - |\n      tol¦",
    "below a value": f"{POD}  nodeName: n1\n    tol¦",
    "a kind that nobody knows": "kind: Gadget\nspec:\n  ¦",
}
#: A text with the pointer as ¦, and what is said of the field there.
SAID: dict[str, tuple[str, str]] = {
    "a field": (
        f"{POD}  toler¦ations: []\n",
        "Pod spec.tolerations|object[]|If specified, the pod's tolerations.",
    ),
    "an item's field": (
        f"{POD}  containers:\n  - name: a\n    imag¦e: b\n",
        "Pod spec.containers[].image|string|",
    ),
    "a value": (f"{POD}  nodeName: n¦1\n", "Pod spec.nodeName|string|"),
    "within braces": (
        f"{POD}  tolerations: [{{eff¦ect: NoSchedule}}]\n",
        "Pod spec.tolerations[].effect|string|",
    ),
    "JSON as it is printed": (
        '{\n  "kind": "Pod",\n  "spec": {\n    "containers": [\n      {\n        "im¦age": "a"\n',
        "Pod spec.containers[].image|string|",
    ),
    "within braces of several lines": (
        f"{POD}  tolerations: [{{key: a,\n    eff¦ect: NoSchedule}}]\n",
        "Pod spec.tolerations[].effect|string|",
    ),
    "our own": (
        "kind: SimulationSettings\naud¦it: true\n",
        "SimulationSettings audit|boolean|Check every hit",
    ),
    "not read": (f"{POD}  host¦PID: true\n", "Pod spec.hostPID|boolean|"),
}

_OFFERED = """async (text) => {
  const { EditorState } = await import("/static/vendor/codemirror.js");
  const { complete, loadSchema } = window.editor;
  const pos = text.indexOf("¦");
  const state = EditorState.create({ doc: text.replace("¦", "") });
  const found = await complete({ state, pos, explicit: true }, loadSchema());
  return (found?.options ?? []).map(({ label }) => label);
}"""
_SAID = """async (text) => {
  const { EditorState } = await import("/static/vendor/codemirror.js");
  const { fieldAt, loadSchema } = window.editor;
  const knows = loadSchema();
  await knows.ready;
  const state = EditorState.create({ doc: text.replace("¦", "") });
  const found = fieldAt(knows.schema, state.doc, text.indexOf("¦"));
  return found && [`${found.kind} ${found.path}|${found.field.t}|${found.field.d}`, found.field.x ?? ""];
}"""
_PART = """async (text) => {
  const { EditorState } = await import("/static/vendor/codemirror.js");
  const { complete, loadSchema, within } = window.editor;
  const knows = within(loadSchema(), "operation");
  knows.beside = "kind: Node\\nmetadata: {name: n7}\\n";
  const state = EditorState.create({ doc: text.replace("¦", "") });
  const found = await complete({ state, pos: text.indexOf("¦"), explicit: true }, knows);
  return (found?.options ?? []).map(({ label }) => label);
}"""
_INDENT = "(text) => window.editor.indentAfter(text)"
_CHANGES = "([before, after]) => window.editor.changesBetween(before, after)"
MODULES = [f"editor/{name}.ts" for name in ("complete", "schema", "help", "enter", "smallest")]

Ask = Callable[[str, Any], Any]


@pytest.fixture(scope="module")
def ask(browser: Browser, site: Stack) -> Iterator[Ask]:
    """A page of the site that runs a function of the editor's modules."""
    context = browser.new_context(base_url=site.base_url)
    page: Page = context.new_page()
    page.goto("/reference/predicates/")
    page.evaluate("async (address) => { window.editor = await import(address); }", served(page, *MODULES))
    yield page.evaluate
    context.close()


@pytest.mark.parametrize("place", OFFERS)
def test_a_place_is_completed(ask: Ask, place: str) -> None:
    """What fits is offered, and nothing that belongs elsewhere or stands there already."""
    text, wanted, unwanted = OFFERS[place]
    offered = ask(_OFFERED, text)
    assert set(wanted.split()) <= set(offered)
    assert not set(unwanted.split()) & set(offered)


@pytest.mark.parametrize("place", SILENT)
def test_a_place_without_fields_offers_none(ask: Ask, place: str) -> None:
    """In comments, in texts and where nothing can stand, typing is left alone."""
    offered = ask(_OFFERED, SILENT[place])
    assert not {"tolerations", "containers"} & set(offered)


@pytest.mark.parametrize("place", SAID)
def test_a_field_is_explained(ask: Ask, place: str) -> None:
    """Its kind, path and type, and the sentence of its schema; what is not read says so."""
    text, wanted = SAID[place]
    reported, mark = ask(_SAID, text)
    assert reported.startswith(wanted)
    assert mark == ("ignored" if place == "not read" else "")


@pytest.mark.parametrize(
    ("text", "wanted", "unwanted"),
    [
        ("¦", "createOperation patchOperation deleteOperation", "id step time kind"),
        ("createOperation:\n  object:\n    kind: Pod\n    spec:\n      ¦", "containers nodeName", "taints"),
        ("createOperation: {object: {kind: Pod,\n  spec: {nodeName: ¦}}}", "n7", "containers"),
    ],
)
def test_an_event_alone_is_a_part_of_a_scenario(ask: Ask, text: str, wanted: str, unwanted: str) -> None:
    """Its fields are those of an operation, and the names are those of the text that it is taken from."""
    offered = set(ask(_PART, text))
    assert set(wanted.split()) <= offered
    assert not set(unwanted.split()) & offered


@pytest.mark.parametrize(
    ("text", "column"),
    [("spec:", 2), ("  nodeName: a", 2), ("  - {key: a,", 6), ("  tolerations: [", 4), ("    effect: b}", 4)],
)
def test_enter_begins_a_line_where_it_belongs(ask: Ask, text: str, column: int) -> None:
    """In a field that opens, within what a brace opens, else below the field before."""
    assert ask(_INDENT, text) == column


@pytest.mark.parametrize(
    ("before", "after", "changes"),
    [
        ("a\nb\nc\n", "a\nB\nc\n", [{"from": 2, "to": 3, "insert": "B"}]),
        ("a\nb\nc\n", "a\nb\nc\nd\n", [{"from": 6, "to": 6, "insert": "d\n"}]),
        ("a\nb", "", [{"from": 0, "to": 3, "insert": ""}]),
        ("", "a\nb", [{"from": 0, "to": 0, "insert": "a\nb"}]),
        ("a\nb\n", "a\nb\n", []),
    ],
)
def test_a_text_becomes_another_by_its_changed_lines(
    ask: Ask, before: str, after: str, changes: list[Any]
) -> None:
    """What stands between two changes is not touched."""
    assert ask(_CHANGES, [before, after]) == changes


def test_two_changes_leave_what_is_between(ask: Ask) -> None:
    """A change at the top and one at the end are two, and make the other text."""
    before = "".join(f"line {number}\n" for number in range(200))
    after = before.replace("line 3\n", "three\n").replace("line 190\n", "")
    changes = ask(_CHANGES, [before, after])
    assert len(changes) == 2
    made, at = "", 0
    for change in changes:
        made += before[at : change["from"]] + change["insert"]
        at = change["to"]
    assert made + before[at:] == after
