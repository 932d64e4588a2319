"""Live objects read and changed at a step over the socket, and what a stranger may not."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from playground.panels import happenings
from playground.playback.playback import Playback
from scheduler_core import Simulation, load, simulate
from scheduler_core.authoring.examples import find
from scheduler_core.kubernetes.model import Pod
from tests.playground.conftest import OWNER, STRANGER, Socket, connected

pytestmark = pytest.mark.django_db(transaction=True)

# Two nodes of v1.11 and three pods that take turns; comments show what stays of a text.
BUNDLE = """# a comment at the top
apiVersion: v1
kind: Node
metadata: {name: a, labels: {zone: x}}  # the first
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
---
apiVersion: v1
kind: Node
metadata: {name: b}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}, nodeInfo: {kubeletVersion: v1.11.10}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, resources: {requests: {cpu: 100m}}}]}
"""
NODE_A = """apiVersion: v1
kind: Node
metadata:
  name: a
  labels:
    zone: x
status:
  allocatable:
    cpu: '4'
    memory: 8Gi
    pods: '10'
"""
LABELLED = {"name": "a", "labels": {"zone": "x"}}
VOLUME = """apiVersion: v1
kind: PersistentVolume
metadata: {name: disk}
spec: {capacity: {storage: 1Gi}, gcePersistentDisk: {pdName: disk}}
"""
HISTORY = """---
apiVersion: simulation.kube-scheduler-simulator.sigs.k8s.io/v1alpha1
kind: Scenario
metadata:
  name: history
spec:
  operations:
"""
CORDON = """  - id: edit-1
    step:
      major: 1
      minor: 2
    patchOperation:
      typeMeta:
        apiVersion: v1
        kind: Node
      objectMeta:
        name: a
      patchType: merge
      patch:
        spec:
          unschedulable: true
"""


async def draft(socket: Socket, text: str = BUNDLE) -> dict[str, str]:
    opened = await socket.success("bundle.open", {"text": text, "title": "mine"})
    return {"draft": opened["draft"]}


async def operate(socket: Socket, text: str, action: str, **more: str) -> dict[str, Any]:
    return dict(await socket.success("bundle.operate", {"text": text, "action": action, **more}))


def cordoned(manifest: str = NODE_A) -> str:
    return manifest + "spec: {unschedulable: true}\n"


async def test_an_object_is_read_as_it_stands_after_a_step() -> None:
    """A node has its manifest, a Deployment's pod one that was made; a step is an index or an address."""
    async with connected() as socket:
        source = await draft(socket)
        node = await socket.success("object.get", {"source": source, "target": "Node a", "step": "1.2"})
        assert node == {
            "kind": "Node",
            "name": "a",
            "index": 2,
            "step": "1.2",
            "yaml": NODE_A,
            "revisions": [
                "cordon",
                "uncordon",
                "taint",
                "untaint",
                "label",
                "unlabel",
                "allocatable",
                "condition",
                "fails",
                "recovers",
            ],
            "start": True,
        }
        opened = await socket.success("scenario.open", {"source": source})
        ask = {"source": source, "target": f"Pod {opened['pods']['keys'][0]}", "step": "0"}
        pod = await socket.success("object.get", ask)
    assert (pod["index"], pod["step"], pod["revisions"]) == (0, "1.0", ["label", "unlabel"])
    assert not pod["start"], "its Deployment has a manifest, it has none"
    assert yaml.safe_load(pod["yaml"])["metadata"]["labels"]["app"] == "web"


async def test_an_edited_node_becomes_the_smallest_patch_after_the_step() -> None:
    """The text keeps its comments and gets a Scenario; the cycles before are as they were."""
    async with connected() as socket:
        answer = await operate(socket, BUNDLE, "patch", step="1.2", target="Node a", object=cordoned())
        assert answer == {
            "text": BUNDLE + HISTORY + CORDON,
            "rewritten": False,
            "step": "1.2",
            "id": "edit-1",
            "words": "patch Node a: spec.unschedulable true",
        }
        source = await draft(socket, answer["text"])
        ask = {"source": source, "target": "Node a"}
        assert "spec" not in yaml.safe_load(
            (await socket.success("object.get", {**ask, "step": "1"}))["yaml"]
        )
        after = await socket.success("object.get", {**ask, "step": "2"})
        assert yaml.safe_load(after["yaml"])["spec"] == {"unschedulable": True}
    before, now = list(Simulation(load(BUNDLE))), list(Simulation(load(answer["text"])))
    assert [(c.step, c.decision) for c in now[:2]] == [(c.step, c.decision) for c in before[:2]]
    assert {c.node for c in before[2:]} == {"a", "b"}
    assert [(c.step, c.node) for c in now[2:]] == [("2.1", "b"), ("2.2", "b")]


async def test_a_pod_whose_priority_class_stands_elsewhere_is_edited() -> None:
    """What is typed is one object: the rest of the bundle says what its PriorityClass is."""
    first = "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: first}\nvalue: 7\n"
    pod = (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: boss%s}\n"
        "spec: {priorityClassName: first, containers: [{name: c, image: c}]}\n"
    )
    text = f"{BUNDLE}---\n{first}---\n{pod % ''}"
    labelled = pod % ", labels: {tier: gold}"
    async with connected() as socket:
        answer = await operate(socket, text, "patch", step="1.1", target="Pod default/boss", object=labelled)
    operation = load(answer["text"]).operations[0]
    assert isinstance(operation.object, Pod)
    assert (operation.object.meta.labels, operation.object.priority) == ({"tier": "gold"}, 7)


async def test_a_change_may_land_while_the_next_cycle_evaluates() -> None:
    """``during`` is written down, and the cycle that evaluates still takes the node being cordoned."""
    async with connected() as socket:
        answer = await operate(
            socket, BUNDLE, "patch", step="1.2", during="evaluation", target="Node a", object=cordoned()
        )
    assert "      minor: 2\n    during: evaluation\n" in answer["text"]
    cycles = list(Simulation(load(answer["text"])))
    assert [c.node for c in cycles[2:]] == [list(Simulation(load(BUNDLE)))[2].node, "b"]


async def test_an_object_is_created_and_deleted_at_a_step() -> None:
    """A volume comes after the first cycle; a pod goes after the third; both are reported in the list."""
    async with connected() as socket:
        first = await operate(socket, BUNDLE, "create", step="1.1", object=VOLUME)
        assert first["words"] == "create PersistentVolume disk"
        cycles = list(Simulation(load(first["text"])))
        gone = cycles[0].pod
        second = await operate(socket, first["text"], "delete", step=cycles[2].step, target=f"Pod {gone}")
        source = await draft(socket, second["text"])
        await socket.success("cycles.window", {"source": source, "from": 1, "count": 10})
        listed = await socket.success("operations.list", {"source": source})
        assert listed == {
            "count": 2,
            "operations": [
                {
                    "id": "edit-1",
                    "action": "create",
                    "kind": "PersistentVolume",
                    "name": "disk",
                    "words": "create PersistentVolume disk",
                    "during": False,
                    "pinned": True,
                    "seconds": None,
                    "after": 1,
                    "step": "1.1",
                },
                {
                    "id": "edit-2",
                    "action": "delete",
                    "kind": "Pod",
                    "name": gone,
                    "words": f"delete Pod {gone}",
                    "during": False,
                    "pinned": True,
                    "seconds": None,
                    "after": 3,
                    "step": "2.2",
                },
            ],
        }
        at_start = await socket.success("objects.list", {"source": source, "step": "0"})
        assert [kind for kind, _, _ in at_start["kinds"]] == ["ReplicaSet", "Deployment"]
        later = await socket.success("objects.list", {"source": source, "step": "1"})
        assert later["kinds"][-1] == ["PersistentVolume", 1, ["disk"]]
        ask = {"source": source, "target": f"Pod {gone}", "step": "3"}
        error = await socket.error("object.get", ask)
    assert error == {"code": "object.not-found", "message": f"There is no Pod {gone} after 2.2."}


async def test_an_operation_is_moved_edited_and_taken_out() -> None:
    """Its id stays; what it does is YAML; without it the text is what it was."""
    async with connected() as socket:
        made = await operate(socket, BUNDLE, "patch", step="1.2", target="Node a", object=cordoned())
        moved = await operate(socket, made["text"], "move", id="edit-1", step="1.1", landed="1.2")
        assert (moved["step"], moved["id"]) == ("1.1", "edit-1")
        assert moved["words"] == "move: patch Node a: spec.unschedulable true"
        assert moved["text"] == made["text"].replace("minor: 2", "minor: 1")
        entry = await socket.success(
            "operations.get", {"source": await draft(socket, moved["text"]), "id": "edit-1"}
        )
        assert list(yaml.safe_load(entry["yaml"])) == ["patchOperation"]
        action = entry["yaml"].replace("name: a", "name: b")
        edited = await operate(socket, moved["text"], "edit", id="edit-1", object=action)
        assert edited["text"] == moved["text"].replace("        name: a\n", "        name: b\n")
        out = await operate(socket, edited["text"], "remove", id="edit-1", landed="1.1")
    assert out["text"] == BUNDLE
    assert out["step"] is None


@pytest.mark.parametrize(
    ("typed", "line", "said"),
    [
        ("metadata: {name: a", 2, "not valid YAML"),
        (NODE_A.replace("memory: 8Gi", "memory: 8Gib"), 10, "8Gib"),
        (NODE_A, None, "No change: this is the object's state at this step."),
        (NODE_A.replace("name: a", "name: c"), 4, "must remain Node a"),
        (NODE_A + "---\n" + NODE_A.replace("name: a", "name: z"), 1, "must be one manifest, not 2"),
        (cordoned() + "status: {}\n", None, "status"),
    ],
)
async def test_what_is_wrong_is_reported_on_the_line_it_was_typed(
    typed: str, line: int | None, said: str
) -> None:
    """Lines are those of the editor, not those of the bundle."""
    async with connected() as socket:
        payload = {"text": BUNDLE, "action": "patch", "step": "1.2", "target": "Node a", "object": typed}
        error = await socket.error("bundle.operate", payload)
    assert error["code"] == "object.invalid"
    assert said in error["errors"][0]["message"]
    if line is not None:
        assert error["errors"][0]["line"] == line


async def test_an_error_that_only_the_history_shows_is_reported_in_the_object_too() -> None:
    """A StatefulSet cannot be made twice; an operation that a removal breaks is named."""
    async with connected() as socket:
        again = {"text": BUNDLE, "action": "create", "step": "1.2", "object": NODE_A}
        error = await socket.error("bundle.operate", again)
        assert error["errors"][0]["message"] == "Node a exists already at this step"
        made = await operate(socket, BUNDLE, "create", step="1.1", object=VOLUME)
        labelled = VOLUME.replace("name: disk}\n", "name: disk, labels: {x: two}}\n", 1)
        both = await operate(
            socket, made["text"], "patch", step="2.1", target="PersistentVolume disk", object=labelled
        )
        error = await socket.error(
            "bundle.operate", {"text": both["text"], "action": "remove", "id": "edit-1"}
        )
    assert error["code"] == "object.invalid"
    assert error["message"] == (
        "the operation edit-2 (patch PersistentVolume disk: metadata.labels.x two) would no longer work: "
        "there is no PersistentVolume disk at this step"
    )


@pytest.mark.parametrize(
    ("payload", "code", "field"),
    [
        ({"action": "patch", "step": "7.1", "target": "Node a", "object": NODE_A}, "payload.invalid", "step"),
        (
            {"action": "patch", "step": "soon", "target": "Node a", "object": NODE_A},
            "payload.invalid",
            "step",
        ),
        ({"action": "patch", "step": "١.١", "target": "Node a", "object": NODE_A}, "payload.invalid", "step"),
        ({"action": "melt", "step": "1.1"}, "payload.invalid", "action"),
        ({"action": "delete", "target": "Node a"}, "payload.invalid", "step"),
        ({"action": "delete", "step": "1.1", "target": "Node zz"}, "object.not-found", None),
        ({"action": "delete", "step": "1.1", "target": "Gadget a"}, "object.not-found", None),
        ({"action": "remove", "id": "nothing"}, "payload.invalid", "id"),
        ({"action": "edit", "id": "nothing", "object": NODE_A}, "payload.invalid", "id"),
        ({"action": "create", "step": "1.1", "object": "x" * 300_000}, "bundle.too-large", None),
    ],
)
async def test_what_cannot_be_done_is_refused(payload: dict[str, str], code: str, field: str | None) -> None:
    """Each refusal has its code, and names the field that is wrong."""
    async with connected() as socket:
        error = await socket.error("bundle.operate", {"text": BUNDLE, **payload})
    assert (error["code"], error.get("field")) == (code, field)


@pytest.mark.parametrize(
    ("what", "key", "value", "found"),
    [
        ("cordon", "", "", {"spec": {"unschedulable": True}}),
        (
            "taint",
            "gpu=yes:NoSchedule",
            "",
            {"spec": {"taints": [{"key": "gpu", "value": "yes", "effect": "NoSchedule"}]}},
        ),
        ("label", "zone", "y", {"metadata": {"name": "a", "labels": {"zone": "y"}}}),
        ("unlabel", "zone", "", {"metadata": {"name": "a"}}),
        (
            "allocatable",
            "cpu",
            "500m",
            {"status": {"allocatable": {"cpu": "500m", "memory": "8Gi", "pods": "10"}}},
        ),
        ("fails", "", "60", {"metadata": {**LABELLED, "annotations": {"podstep/fails-at": "60"}}}),
        ("recovers", "", "90.5", {"metadata": {**LABELLED, "annotations": {"podstep/recovers-at": "90.5"}}}),
        ("fails", "", "", {}),
        (
            "condition",
            "DiskPressure",
            "True",
            {
                "status": {
                    "allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"},
                    "conditions": [{"type": "DiskPressure", "status": "True"}],
                }
            },
        ),
    ],
)
async def test_common_changes_are_made_without_typing(
    what: str, key: str, value: str, found: dict[str, Any]
) -> None:
    """The manifest comes back with the change, everything else as it was."""
    async with connected() as socket:
        answer = await socket.success(
            "object.revise", {"object": NODE_A, "what": what, "key": key, "value": value}
        )
    assert yaml.safe_load(answer["object"]) == {**yaml.safe_load(NODE_A), **found}


@pytest.mark.parametrize(
    ("what", "key", "value", "said"),
    [
        ("taint", "gpu", "", "write key=value:effect"),
        ("untaint", "gpu:NoSchedule", "", "The node has no taint"),
        ("allocatable", "cpu", "many", "'many' is not a quantity"),
        ("fails", "", "soon", "'soon' is not a time in virtual seconds"),
        ("replicas", "", "3", "not for a Node"),
        ("paint", "", "", "Unknown change 'paint'"),
    ],
)
async def test_a_common_change_that_cannot_be_made_says_what_would_be_right(
    what: str, key: str, value: str, said: str
) -> None:
    """The message is a sentence for the form."""
    async with connected() as socket:
        payload = {"object": NODE_A, "what": what, "key": key, "value": value}
        error = await socket.error("object.revise", payload)
    assert error["code"] == "payload.invalid"
    assert said in error["message"]


async def test_a_deleted_node_takes_what_the_run_put_there() -> None:
    """The pods that cycles placed on it are gone from the stage with it, as the pod collector does."""
    async with connected() as socket:
        cycles = list(Simulation(load(BUNDLE)))
        answer = await operate(socket, BUNDLE, "delete", step=cycles[2].step, target="Node a")
        source = await draft(socket, answer["text"])
        opened = await socket.success("scenario.open", {"source": source})
        window = await socket.success("cycles.window", {"source": source, "from": 4, "count": 1})
    assert opened["nodes"]["until"] == [2, None]
    keys = opened["pods"]["keys"]
    gone = {keys[pod] for pod, node in window["cycles"][0]["changes"] if node == -2}
    assert gone == {cycle.pod for cycle in cycles[:3] if cycle.node == "a"}
    assert gone
    assert list(Simulation(load(answer["text"])))[3].node == "b"


async def test_a_stranger_reads_nothing_of_a_draft() -> None:
    """Neither its objects nor its history; a shared scenario is everybody's."""
    async with connected(OWNER) as owner, connected(STRANGER) as stranger:
        source = await draft(owner)
        for name, more in (
            ("object.get", {"target": "Node a", "step": "0"}),
            ("objects.list", {"step": "0"}),
            ("operations.list", {}),
            ("operations.get", {"id": "edit-1"}),
        ):
            error = await stranger.error(name, {"source": source, **more})
            assert error["code"] == "source.not-found", name
        shared = await owner.success("draft.share", source)
        ask = {"source": {"scenario": shared["scenario"]}, "target": "Node a", "step": "0"}
        assert yaml.safe_load((await stranger.success("object.get", ask))["yaml"]) == yaml.safe_load(NODE_A)


async def test_the_policy_is_changed_at_a_step_too() -> None:
    """It is created, patched and deleted like an object without a name; the scheduler restarts each time."""
    policy = "apiVersion: v1\nkind: Policy\npredicates: [{name: PodFitsResources}]\npriorities: []\n"
    async with connected() as socket:
        made = await operate(socket, BUNDLE, "create", step="1.1", object=policy)
        wider = policy.replace("PodFitsResources}", "PodFitsResources}, {name: NoDiskConflict}")
        patched = await operate(socket, made["text"], "patch", step="2.1", target="Policy", object=wider)
        assert patched["words"] == "patch Policy: predicates (1)"
        gone = await operate(socket, patched["text"], "delete", step="3.1", target="Policy")
        source = await draft(socket, gone["text"])
        found = await socket.success("object.get", {"source": source, "target": "Policy", "step": "2"})
        assert yaml.safe_load(found["yaml"]) == yaml.safe_load(wider)
        listed = await socket.success("objects.list", {"source": source, "step": "1"})
        assert listed["kinds"][-1] == ["Policy", 1, ["Policy"]]
        assert not {"label", "unlabel"} & {*found["revisions"]}, "nobody selects a policy"
        error = await socket.error("object.get", {"source": source, "target": "Policy", "step": "3"})
        assert error["code"] == "object.not-found"
        inside = {"text": BUNDLE, "action": "create", "step": "1.1", "during": "evaluation", "object": policy}
        error = await socket.error("bundle.operate", inside)
        assert "a scheduler does not restart inside a cycle" in error["message"]
    cycles = list(Simulation(load(gone["text"])))
    assert [cycle.restart is not None for cycle in cycles] == [False, True, True, True]


def conditions(node: str) -> dict[str, str]:
    """Return the status of each condition of a node's manifest."""
    return {one["type"]: one["status"] for one in yaml.safe_load(node)["status"]["conditions"]}


async def test_in_virtual_time_an_object_is_edited_as_the_run_has_left_it() -> None:
    """A node that failed is not ready in what is edited, and the patch is of what was typed alone."""
    text = _example("node-fails")
    async with connected() as socket:
        source = await draft(socket, text)
        ask = {"source": source, "target": "Node worker-2", "step": "1.6"}
        node = (await socket.success("object.get", ask))["yaml"]
        assert conditions(node)["Ready"] == "Unknown"
        changed = node.replace("zone: b", "zone: d")
        given = {"step": "1.6", "target": "Node worker-2", "base": node, "object": changed}
        answer = await operate(socket, text, "patch", **given)
        assert answer["words"] == "patch Node worker-2: metadata.labels.topology.kubernetes.io/zone d"
        source = await draft(socket, answer["text"])
        after = await socket.success("object.get", {**ask, "source": source, "step": "1.6"})
    assert conditions(after["yaml"])["Ready"] == "Unknown"


async def test_a_pod_that_a_controller_made_in_the_run_is_edited_too() -> None:
    """The pod that came for an evicted one is in no document; its patch is found when the run gets there."""
    text = _example("node-fails")
    async with connected() as socket:
        source = await draft(socket, text)
        name = [cycle.pod for cycle in simulate(load(text))][6]
        ask = {"source": source, "target": f"Pod {name}", "step": "1.7"}
        pod = (await socket.success("object.get", ask))["yaml"]
        smaller = pod.replace("cpu: '1'", "cpu: 100m")
        assert smaller != pod
        given = {"step": "1.7", "target": f"Pod {name}", "base": pod, "object": smaller}
        answer = await operate(socket, text, "patch", **given)
        source = await draft(socket, answer["text"])
        after = await socket.success("object.get", {**ask, "source": source, "step": "2.1"})
    assert "100m" in after["yaml"]


def _example(slug: str) -> str:
    example = find(slug)
    assert example is not None
    return example.read()


CLOCK = """---
apiVersion: podstep/v1
kind: SimulationSettings
time: virtual
"""
HEAD = """---
apiVersion: simulation.kube-scheduler-simulator.sigs.k8s.io/v1alpha1
kind: Scenario
metadata: {name: h}
spec:
  operations:
"""


def gone(kind: str, name: str, when: str, own: str) -> str:
    meta = f"{{typeMeta: {{apiVersion: v1, kind: {kind}}}, objectMeta: {{name: {name}}}}}"
    return f"  - {{id: {own}, {when}, deleteOperation: {meta}}}\n"


def history_of(text: str) -> list[dict[str, Any]]:
    [found] = [d for d in yaml.safe_load_all(text) if d["kind"] == "Scenario"]
    return list(found["spec"]["operations"])


async def test_an_operation_is_put_at_a_second_and_moved_to_another() -> None:
    """In virtual time it is written with its time alone, in its place; what else has a time keeps it."""
    text = BUNDLE + CLOCK + HEAD + gone("Node", "b", "time: 10", "late")
    async with connected() as socket:
        answer = await operate(socket, text, "create", seconds="4.5", object=VOLUME)
        made, late = history_of(answer["text"])
        assert {name: made[name] for name in ("id", "time")} == {"id": "edit-1", "time": 4.5}
        assert "step" not in made and (late["id"], late["time"]) == ("late", 10)
        answer = await operate(socket, answer["text"], "move", id="edit-1", seconds="20")
        assert [(o["id"], o["time"], "step" in o) for o in history_of(answer["text"])] == [
            ("late", 10, False),
            ("edit-1", 20, False),
        ]
        source = await draft(socket, answer["text"])
        await socket.success("scenario.open", {"source": source, "step": "end"})
        rows = (await socket.success("operations.list", {"source": source}))["operations"]
    assert [(row["id"], row["seconds"]) for row in rows] == [("late", 10), ("edit-1", 20)]


async def test_written_steps_give_way_to_a_time_before_them() -> None:
    """A step that the new time has taken is counted on; those of one step stay together."""
    text = BUNDLE + CLOCK + HEAD + gone("Node", "b", "step: 1", "one") + gone("Node", "a", "step: 1", "two")
    async with connected() as socket:
        answer = await operate(socket, text, "create", seconds="0.5", object=VOLUME)
    assert [(o["id"], o.get("step"), o.get("time")) for o in history_of(answer["text"])] == [
        ("edit-1", None, 0.5),
        ("one", 2, None),
        ("two", 2, None),
    ]


@pytest.mark.parametrize(
    ("settings", "seconds", "reported"),
    [
        (CLOCK, "soon", "'soon' is not a time: write virtual seconds, such as 12.5."),
        (CLOCK, "-1", "'-1' is not a time: write virtual seconds, such as 12.5."),
        (CLOCK, "nan", "'nan' is not a time: write virtual seconds, such as 12.5."),
        (CLOCK, "99", "The history ends before 99 s; later operations are not read."),
        ("", "5", "Times in seconds need virtual time: without it there is no clock."),
    ],
)
async def test_a_second_that_cannot_be_is_reported_at_its_field(
    settings: str, seconds: str, reported: str
) -> None:
    """No clock, no number, or later than the end of the history."""
    text = BUNDLE + settings + HEAD + "  - {time: 60, doneOperation: {}}\n"
    async with connected() as socket:
        wish = {"text": text, "action": "create", "seconds": seconds, "object": VOLUME}
        error = await socket.error("bundle.operate", wish)
    assert (error["code"], error["field"], error["message"]) == ("payload.invalid", "seconds", reported)


async def test_an_operation_is_put_in_once_more() -> None:
    """What it creates is called otherwise; it lands where it did, or where it is asked for."""
    async with connected() as socket:
        answer = await operate(socket, BUNDLE, "create", step="1.1", object=VOLUME)
        answer = await operate(socket, answer["text"], "duplicate", id="edit-1", landed="1.1")
        answer = await operate(socket, answer["text"], "duplicate", id="edit-2", step="2.1")
        made = history_of(answer["text"])
        error = await socket.error(
            "bundle.operate", {"text": answer["text"], "action": "duplicate", "id": "nope", "step": "1.1"}
        )
    assert [o["createOperation"]["object"]["metadata"]["name"] for o in made] == ["disk", "disk-2", "disk-3"]
    assert [o["step"] for o in made[:2]] == [{"major": 1, "minor": 1}] * 2
    assert answer["words"] == "once more: create PersistentVolume disk-3"
    assert error["field"] == "id"


async def test_what_an_operation_did_is_reported() -> None:
    """Pods that came or went with it; why it had no effect, if it had none; that nothing comes after it."""
    scale = (
        "  - {id: up, step: 2, patchOperation: {typeMeta: {apiVersion: apps/v1, kind: Deployment}, "
        "objectMeta: {name: web}, patch: {spec: {replicas: 6}}}}\n"
    )
    text = BUNDLE + HEAD + gone("Node", "b", "step: {major: 1, minor: 4}", "node") + scale
    text += gone("ConfigMap", "some", "step: 3", "nothing") + gone("Service", "web", "step: 4", "late")
    text += "---\napiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {selector: {app: web}}\n"
    async with connected() as socket:
        source = await draft(socket, text)
        found = {
            name: await socket.success("operations.outcome", {"source": source, "id": name})
            for name in ("node", "up", "nothing", "late")
        }
        missing = await socket.error("operations.outcome", {"source": source, "id": "nope"})
    assert found["node"]["effect"] and "went with it" in found["node"]["text"]
    assert found["up"] == {"id": "up", "effect": True, "text": "2 Pods created"}
    assert found["nothing"] == {
        "id": "nothing",
        "effect": False,
        "text": "scheduling does not read this kind",
    }
    assert found["late"] == {"id": "late", "effect": True, "text": "no cycle comes after it"}
    assert missing["code"] == "object.not-found"


async def test_what_an_operation_did_in_virtual_time_is_reported() -> None:
    """As the run recorded it: nothing where there was nothing to delete; pods of a node go 40 s after it."""
    text = (
        BUNDLE + CLOCK + HEAD + gone("Pod", "nope", "time: 5", "nope") + gone("Node", "a", "time: 6", "node")
    )
    async with connected() as socket:
        source = await draft(socket, text)
        nope = await socket.success("operations.outcome", {"source": source, "id": "nope"})
        node = await socket.success("operations.outcome", {"source": source, "id": "node"})
    assert nope == {"id": "nope", "effect": False, "text": "there is no Pod default/nope at this moment"}
    assert node == {"id": "node", "effect": True, "text": ""}


WITH_PETS = (
    BUNDLE
    + """---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 2
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: c, resources: {requests: {cpu: 100m}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: given}
spec: {nodeName: a, containers: [{name: c}]}
"""
)


def test_a_deleted_node_takes_its_pods_along_in_the_story() -> None:
    """The pod garbage collector deletes them, also that which a StatefulSet creates again by its name."""
    playback = Playback(load(WITH_PETS + CLOCK + HEAD + gone("Node", "a", "time: 30", "node")))
    while not playback.complete:
        playback.advance(1)
    cycles = [playback.cycle(index) for index in range(1, len(playback) + 1)]
    sentences = [
        sentence
        for cycle in cycles
        for _, sentence in happenings.timed_sentences(cycle.happenings, cycle.pod)
    ]
    assert sum(str(one[-1]).endswith("its node was deleted.") for one in sentences) == 4


async def test_without_virtual_time_pods_of_manifests_and_of_the_scheduler_go_with_their_node() -> None:
    """They are counted together, whichever the operation lists by itself."""
    late = (
        "  - {id: late, step: 3, createOperation: {object: {apiVersion: v1, kind: Pod, metadata: {name: z}, "
    )
    late += "spec: {containers: [{name: c}]}}}}\n"
    settings = "---\napiVersion: podstep/v1\nkind: SimulationSettings\nscheduler: v1.11\n"
    text = WITH_PETS + settings + HEAD + gone("Node", "a", "step: 2", "node") + late
    simulation = simulate(load(text))
    there = 0
    for cycle in simulation:
        if cycle.index == 6:
            there = sum(node == "a" for node in simulation.placement().values())
    async with connected() as socket:
        source = await draft(socket, text)
        card = await socket.success("operations.outcome", {"source": source, "id": "node"})
    assert there >= 3
    assert card["text"] == f"{there} pods went with it"
