"""Operators' verbs over the socket: said beforehand of the cluster as it is, written as operations."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from playground.edits.verbs import seen_at
from playground.playback.playback import Playback
from scheduler_core import load, simulate
from scheduler_core.authoring.examples import find
from tests.core.controllers.test_dump_recognition import NODES as DUMPED_NODES
from tests.core.controllers.test_dump_recognition import served
from tests.core.controllers.test_reconstruction import SET
from tests.playground.conftest import OWNER, STRANGER, Socket, connected

pytestmark = pytest.mark.django_db(transaction=True)

NODES = "".join(
    f"""---
apiVersion: v1
kind: Node
metadata: {{name: {name}, labels: {{topology.kubernetes.io/zone: {zone}}}}}
status: {{allocatable: {{cpu: "8", memory: 8Gi, pods: "20"}}}}
"""
    for name, zone in (("n1", "a"), ("n2", "a"), ("n3", "b"))
)
WEB = """---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 6
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: "web:1", resources: {requests: {cpu: 100m}}}]}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec: {maxUnavailable: 1, selector: {matchLabels: {app: web}}}
"""
BUNDLE = NODES + WEB
OLD = BUNDLE + "---\napiVersion: podstep/v1\nkind: SimulationSettings\nscheduler: v1.11\n"


async def preview(socket: Socket, text: str = BUNDLE, **wish: str) -> dict[str, Any]:
    """Return what a verb would do after the sixth cycle."""
    opened = await socket.success("bundle.open", {"text": text})
    payload = {"source": {"draft": opened["draft"]}, "step": "6", **wish}
    return dict(await socket.success("verb.preview", payload))


@pytest.mark.parametrize(
    ("verb", "targets", "operations", "sentence"),
    [
        ("drain", "n1", 1, "Cordons node n1, then evicts 2 pods; budget default/web allows 1 at a time."),
        (
            "drain",
            "zone=a",
            2,
            "Cordons 2 nodes of zone a, then evicts 3 pods; budget default/web",
        ),
        ("cordon", "n1\nn3", 2, "Cordons 2 nodes: no further pod is placed there; their 5 pods stay."),
        (
            "scale",
            "Deployment/default/web",
            1,
            "Scales Deployment default/web from 6 to 8: 2 pods are created.",
        ),
    ],
)
async def test_a_verb_says_what_it_will_do(verb: str, targets: str, operations: int, sentence: str) -> None:
    """Pods are those on the nodes at that step."""
    async with connected(OWNER) as socket:
        answer = await preview(socket, verb=verb, targets=targets, value="8" if verb == "scale" else "")
    assert answer["errors"] == []
    assert answer["sentence"].startswith(sentence)
    assert answer["operations"] == operations


@pytest.mark.parametrize(
    ("text", "verb", "targets", "field", "message"),
    [
        (OLD, "drain", "n1", "target", "Drain needs controllers, and under v1.11 no time passes"),
        (BUNDLE, "drain", "n9", "target", "there is no node 'n9'"),
        (BUNDLE, "scale", "deploy/web", "value", "is not a number of replicas"),
    ],
    ids=["under v1.11", "no such node", "no number"],
)
async def test_what_cannot_be_done_is_said_at_its_field(
    text: str, verb: str, targets: str, field: str, message: str
) -> None:
    """A preview has errors, and the change is refused with the same words."""
    async with connected(OWNER) as socket:
        answer = await preview(socket, text, verb=verb, targets=targets)
        [error] = answer["errors"]
        assert error["field"] == field and message in error["message"]
        wish = {"text": text, "verb": verb, "targets": targets, "step": "1.6"}
        refused = await socket.error("bundle.verb", wish)
        assert (refused["field"], refused["message"]) == (field, error["message"])


FINISHED = """---
apiVersion: v1
kind: Pod
metadata: {name: once}
spec: {nodeName: n1, containers: [{name: c, image: "once:1"}]}
status: {phase: Succeeded}
"""


async def test_a_drain_counts_finished_pods() -> None:
    """The sentence names as many pods as the drain then evicts, whether they run or have finished."""
    wish = {"text": BUNDLE + FINISHED, "verb": "drain", "targets": "n1"}
    async with connected(OWNER) as socket:
        assert "evicts 3 pods (1 finished); budget" in (await preview(socket, **wish))["sentence"]
        simulation = simulate(load((await socket.success("bundle.verb", {**wish, "step": "1.6"}))["text"]))
    assert len(list(simulation)) == 8
    availability = simulation.availability()
    assert availability is not None
    assert sum(one.evicted for one in availability.workloads) == 3


REMOVED = """---
kind: Scenario
spec:
  operations:
  - {step: 1, deleteOperation: {typeMeta: {apiVersion: v1, kind: Pod}, objectMeta: {name: once}}}
  - step: 1
    createOperation:
      object: {apiVersion: v1, kind: Pod, metadata: {name: z}, spec: {containers: [{name: c, image: x}]}}
---
apiVersion: podstep/v1
kind: SimulationSettings
scheduler: v1.37
"""


def test_a_finished_pod_is_there_until_it_is_deleted() -> None:
    """Also in a run without controllers, whose placement has no finished pods."""
    playback = Playback(load(NODES + FINISHED + REMOVED))
    while playback.advance(1.0):
        pass
    assert [pod.key for pod in seen_at(playback, 0).finished] == ["default/once"]
    assert not seen_at(playback, len(playback.trail)).finished


async def test_a_zone_is_drained_at_a_step_and_its_pods_move() -> None:
    """The operations of one verb land after one cycle."""
    async with connected(OWNER) as socket:
        wish = {"text": BUNDLE, "verb": "drain", "targets": "zone=a", "step": "1.6"}
        answer = await socket.success("bundle.verb", wish)
    assert answer["words"] == "drain: 2 nodes of zone a"
    assert answer["text"].startswith(BUNDLE)
    operations = list(yaml.safe_load_all(answer["text"]))[-1]["spec"]["operations"]
    assert [one["step"] for one in operations] == [{"major": 1, "minor": 6}] * 2
    cycles = list(simulate(load(answer["text"])))
    assert {cycle.node for cycle in cycles[6:]} == {"n3"} and len(cycles) == 9


async def test_a_verb_may_land_inside_a_cycle() -> None:
    """Each of its operations does: the cycle that evaluates then still takes a node that is cordoned."""
    async with connected(OWNER) as socket:
        wish = {"verb": "cordon", "targets": "zone=a", "step": "1.2", "during": "evaluation"}
        seen = await preview(socket, OLD, **{**wish, "step": "2"})
        answer = await socket.success("bundle.verb", {"text": OLD, **wish})
    assert (seen["operations"], seen["errors"]) == (2, [])
    operations = list(yaml.safe_load_all(answer["text"]))[-1]["spec"]["operations"]
    inside = {"step": {"major": 1, "minor": 2}, "during": "evaluation"}
    assert [{key: one.get(key) for key in inside} for one in operations] == [inside] * 2


async def test_an_upgrade_goes_on_from_the_step() -> None:
    """The first node is drained after the cycle, the others in their turn."""
    async with connected(OWNER) as socket:
        wish = {"text": BUNDLE, "verb": "upgrade", "targets": "*", "step": "1.6", "at": "4", "value": "30"}
        answer = await socket.success("bundle.verb", wish)
    operations = list(yaml.safe_load_all(answer["text"]))[-1]["spec"]["operations"]
    assert [one.get("time") for one in operations] == [None, 34, 34, 64, 64, 94]
    assert list(simulate(load(answer["text"])))[-1].node is not None


async def test_a_verb_is_tried_in_a_branch_and_compared_with_its_parent() -> None:
    """The parent stays; the branch has the operations, and says what they did to workloads and nodes."""
    async with connected(OWNER) as socket:
        opened = await socket.success("bundle.open", {"text": BUNDLE, "title": "shop"})
        wish = {"verb": "drain", "targets": "zone=a", "seconds": "60", "title": "drain zone a"}
        made = await socket.success("branch.try", {"source": {"draft": opened["draft"]}, **wish})
        assert made["title"] == "What if: drain zone a"
        found = await socket.success("branch.outcome", {"draft": made["draft"]})
    assert found["words"][0].startswith("at 60 s: drain Node n1")
    over = found["overTime"]
    assert over["nodes"] == [["n3", 3, 6], ["n1", 2, 0], ["n2", 1, 0]]
    assert (over["total"]["evicted"], over["pending"]) == (3, [])
    [web] = over["workloads"]
    assert (web["kind"], web["key"], web["branch"]["fewestReady"]) == ("Deployment", "default/web", 5)
    assert 0 < over["calm"] < 60


async def test_pods_that_find_no_node_say_why_in_the_outcome() -> None:
    """With every node cordoned, pods that scaling creates wait, with the answer of their last attempt."""
    async with connected(OWNER) as socket:
        wish = {"text": BUNDLE, "verb": "cordon", "targets": "*", "step": "1.6"}
        cordoned = (await socket.success("bundle.verb", wish))["text"]
        opened = await socket.success("bundle.open", {"text": cordoned})
        scale = {"verb": "scale", "targets": "deploy/web", "value": "8", "step": "2.0"}
        made = await socket.success("branch.try", {"source": {"draft": opened["draft"]}, **scale})
        found = await socket.success("branch.outcome", {"draft": made["draft"]})
    [waiting] = found["overTime"]["pending"]
    assert (waiting["kind"], waiting["more"]) == ("ReplicaSet", 2)
    assert "3 node(s) were unschedulable" in waiting["message"]


async def test_an_outcome_counts_what_the_parent_lacks() -> None:
    """Of a draft in which a node was drained before, only the second drain's evictions are the branch's."""
    async with connected(OWNER) as socket:
        wish = {"text": BUNDLE, "verb": "drain", "targets": "n1", "seconds": "60"}
        text = (await socket.success("bundle.verb", wish))["text"]
        opened = await socket.success("bundle.open", {"text": text})
        more = {"verb": "drain", "targets": "n2", "seconds": "120"}
        made = await socket.success("branch.try", {"source": {"draft": opened["draft"]}, **more})
        over = (await socket.success("branch.outcome", {"draft": made["draft"]}))["overTime"]
    [web] = over["workloads"]
    assert web["branch"]["evicted"] - web["parent"]["evicted"] == over["total"]["evicted"] > 0
    assert over["at"] == 120


STRICT = BUNDLE.replace("maxUnavailable: 1", "maxUnavailable: 0")
BARE = (
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: lone}\nspec: {nodeName: n1, containers: [{name: c}]}\n"
)


@pytest.mark.parametrize(
    ("text", "failed", "followed"),
    [
        (STRICT, ["Node n1 is not drained: the eviction of default/web-", "Deployment default/web: "], 1),
        (NODES + BARE, ["Node n1 is not drained: default/lone declare no controller"], 1),
        (NODES, [], 0),
        (BUNDLE, ["Deployment default/web: the eviction of 1 pod was refused at least once"], 1),
        (BUNDLE.partition("---\napiVersion: policy")[0], [], 1),
    ],
    ids=["never", "without controller", "no pods", "for a while", "done"],
)
async def test_an_outcome_tells_first_what_failed(text: str, failed: list[str], followed: int) -> None:
    """A drain that does not end and refused evictions are named; of no pods nothing is said to be ready."""
    async with connected(OWNER) as socket:
        opened = await socket.success("bundle.open", {"text": text})
        wish = {"verb": "drain", "targets": "n1", "seconds": "60"}
        made = await socket.success("branch.try", {"source": {"draft": opened["draft"]}, **wish})
        found = await socket.success("branch.outcome", {"draft": made["draft"]})
    over = found["overTime"]
    assert over["followed"] == followed
    pods = 6 if WEB[:30] in text else text.count("kind: Pod\n")
    assert (found["here"]["placed"], found["here"]["pending"]) == (pods, 0)
    assert all(any(one.startswith(start) for one in over["failed"]) for start in failed)
    assert bool(over["failed"]) == bool(failed)


async def test_a_stranger_sees_no_outcome() -> None:
    """A branch is its owner's."""
    async with connected(OWNER) as socket:
        opened = await socket.success("bundle.open", {"text": BUNDLE})
    async with connected(STRANGER) as socket:
        assert (await socket.error("branch.outcome", {"draft": opened["draft"]}))[
            "code"
        ] == "source.not-found"


async def test_of_a_drain_only_what_it_evicts_ends_elsewhere() -> None:
    """In the example "A shop" controllers have nothing to do; beside a branch with a drain they run, too."""
    shop = find("shop")
    assert shop is not None
    async with connected(OWNER) as socket:
        opened = await socket.success("bundle.open", {"text": shop.read()})
        wish = {"verb": "drain", "targets": "general-1", "seconds": "60"}
        made = await socket.success("branch.try", {"source": {"draft": opened["draft"]}, **wish})
        found = await socket.success("branch.outcome", {"draft": made["draft"]})
    assert found["overTime"]["total"] == {"evicted": 3, "refused": 0, "preempted": 0}
    assert found["elsewhere"] == 5  # a pod of a StatefulSet, and two pods of Deployments with those instead
    assert found["first"]["index"] > 38
    assert [one["key"] for one in found["overTime"]["pending"]] == ["default/search"]


async def test_a_drain_of_a_dump_without_owners_says_what_it_assumes() -> None:
    """The evicted pod belongs to the Deployment that was put back; none is pending once it runs elsewhere."""
    web = served("web-h1-a", "ReplicaSet", "web-h1", SET)
    text = yaml.safe_dump_all([*DUMPED_NODES, web], sort_keys=False)
    async with connected(OWNER) as socket:
        opened = await socket.success("bundle.open", {"text": text})
        wish = {"verb": "drain", "targets": "a", "seconds": "60"}
        made = await socket.success("branch.try", {"source": {"draft": opened["draft"]}, **wish})
        found = await socket.success("branch.outcome", {"draft": made["draft"]})
    assert (found["here"]["placed"], found["here"]["pending"], found["here"]["terminating"]) == (1, 0, 0)
    assert [(one["kind"], one["key"]) for one in found["overTime"]["workloads"]] == [
        ("Deployment", "default/web")
    ]
    assert any("Deployment web (ReplicaSet web-h1) is not in" in one["message"] for one in found["lacks"])
