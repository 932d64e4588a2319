"""A PodGroup and its workload from a form, and several documents added to a text at once."""

from __future__ import annotations

from itertools import islice
from typing import Any

import pytest
import yaml

from scheduler_core import load
from scheduler_core.compare.results.final_manifests import ending_documents
from scheduler_core.run import simulate
from scheduler_core.schedulers.v1_37.configuration import v1_37_plugins
from tests.playground.conftest import OWNER, Socket, connected

pytestmark = pytest.mark.django_db(transaction=True)

NODES = "---\n".join(
    f"""# node {name}
apiVersion: v1
kind: Node
metadata: {{name: {name}}}
status: {{allocatable: {{cpu: "2", memory: 8Gi, pods: "10"}}}}
"""
    for name in "ab"
)
POD = """---
apiVersion: v1
kind: Pod
metadata: {name: alone}
spec: {containers: [{name: c, resources: {requests: {cpu: 100m}}}]}
"""
POLICY = """---
apiVersion: v1
kind: Policy
predicates:
- name: PodFitsResources
priorities:
- {name: LeastRequestedPriority, weight: 3}
"""
CLASS = """---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: urgent}
value: 100
"""


async def drafted(socket: Socket, text: str, step: str = "", **fields: Any) -> dict[str, Any]:
    opened = await socket.success("bundle.open", {"text": text})
    given = {"name": "train", "replicas": "4", "minMember": "4", "coscheduling": True, **fields}
    payload = {"source": {"draft": opened["draft"]}, "fields": given, **({"step": step} if step else {})}
    return dict(await socket.success("group.draft", payload))


def kinds(text: str) -> list[str]:
    return [document["kind"] for document in yaml.safe_load_all(text)]


def wrong(answer: dict[str, Any]) -> dict[str, str]:
    return {error["field"]: error["message"] for error in answer["errors"]}


@pytest.mark.parametrize("dialect", ["current", "classic", "native", "kube-batch"])
@pytest.mark.parametrize("workload", ["Job", "Deployment", "Pods"])
async def test_what_the_form_adds_is_scheduled_together_or_not_at_all(dialect: str, workload: str) -> None:
    """In every dialect and with every workload four pods on 4 CPU are bound; five of them wait."""
    async with connected(OWNER) as socket:
        outcome = {}
        for members in ("4", "5"):
            fields = {"dialect": dialect, "workload": workload, "replicas": members, "minMember": members}
            answer = await drafted(socket, NODES, **fields)
            assert answer["errors"] == []
            added = await socket.success("bundle.add", {"text": NODES, "documents": answer["documents"]})
            assert added["text"].startswith("# node a\n")
            simulation = simulate(load(added["text"]))
            list(islice(simulation, 30))
            outcome[members] = len(_bound(simulation))
    assert outcome == {"4": 4, "5": 0}


def _bound(simulation: Any) -> list[str]:
    """Return the nodes of pods that are bound: those that wait at Permit may still be given up."""
    pods = [one for one in ending_documents(simulation) if one["kind"] == "Pod"]
    return [one["spec"]["nodeName"] for one in pods if one["spec"].get("nodeName")]


async def test_what_is_typed_is_judged_field_by_field() -> None:
    """The loader's own words stand at the field that they are about, and nothing is added."""
    async with connected(OWNER) as socket:
        answer = await drafted(
            socket,
            NODES,
            name="Train_1",
            minMember="x",
            cpu="1x",
            minMemory="2Z",
            scheduleTimeoutSeconds="-1",
        )
        assert answer["words"] == ""
        reported = wrong(answer)
        assert reported["name"].startswith("'Train_1' must consist of lower case letters")
        assert reported["minMember"] == "must be an integer, not 'x'"
        assert reported["scheduleTimeoutSeconds"] == "must be at least 0, not -1"
        assert reported["cpu"].startswith("'1x' is not a quantity")
        assert reported["minMemory"].startswith("'2Z' is not a quantity")
        reported = wrong(
            await drafted(socket, NODES, name="", minMember="0", replicas="0", runSeconds="soon")
        )
        assert set(reported) == {"name", "minMember", "replicas", "runSeconds"}
        native = await drafted(socket, NODES, dialect="native", scheduleTimeoutSeconds="5")
        assert wrong(native) == {
            "scheduleTimeoutSeconds": "a PodGroup of scheduling.k8s.io/v1alpha2 has no such field"
        }
        assert "dialect" in wrong(await drafted(socket, NODES, dialect="other"))
        few = await drafted(socket, NODES, replicas="3")
        assert "none of them starts" in few["notes"][-1]
        assert few["doubts"] == [{"field": "minMember", "message": few["notes"][-1]}]
        assert not few["errors"], "it is allowed"


async def test_a_policy_that_is_there_is_carried_over_and_said_so() -> None:
    """It becomes a KubeSchedulerConfiguration in its place, and what is lost is shown before it happens."""
    async with connected(OWNER) as socket:
        answer = await drafted(socket, NODES + POLICY, dialect="classic")
        assert answer["configuration"] == "Policy"
        assert answer["notes"][0].startswith("The Policy becomes a KubeSchedulerConfiguration (v1beta")
        payload = {"text": NODES + POLICY, "documents": answer["documents"]}
        added = await socket.success("bundle.add", payload)
        assert kinds(added["text"]) == ["Node", "Node", "KubeSchedulerConfiguration", "PodGroup", "Job"]
        framework = load(added["text"]).configuration.framework
        assert framework is not None
        assert framework.main.coscheduling
        assert framework.version.edition.id == "classic"
        assert framework.main.queue_sort == "Coscheduling"
        again = await drafted(socket, added["text"], name="second")
        assert again["coscheduling"]
        assert kinds(again["documents"]) == ["PodGroup", "Job"]


async def test_a_configuration_that_is_there_gets_the_plugin_in_every_profile() -> None:
    """Its version, its other plugins and its profiles stay."""
    text = (
        NODES
        + "---\n"
        + yaml.safe_dump(
            {
                "apiVersion": "kubescheduler.config.k8s.io/v1",
                "kind": "KubeSchedulerConfiguration",
                "profiles": [
                    {
                        "schedulerName": "default-scheduler",
                        "plugins": {"score": {"disabled": [{"name": "*"}]}},
                    },
                    {"schedulerName": "other"},
                ],
            }
        )
    )
    async with connected(OWNER) as socket:
        answer = await drafted(socket, text)
        added = await socket.success("bundle.add", {"text": text, "documents": answer["documents"]})
    scenario = load(added["text"])
    assert scenario.release == "v1.37"
    profiles = v1_37_plugins(scenario.configuration)
    assert tuple(profiles) == ("default-scheduler", "other")
    assert all("Coscheduling" in profile.points["permit"] for profile in profiles.values())
    assert profiles["default-scheduler"].points["score"] == ()


async def test_at_a_step_all_of_it_comes_as_operations() -> None:
    """The Policy goes and the configuration comes after that cycle, with the group and its workload."""
    text = NODES + POD + POLICY
    async with connected(OWNER) as socket:
        answer = await drafted(socket, text, step="1.1", replicas="3", minMember="3")
        payload = {"text": text, "documents": answer["documents"], "step": "1.1"}
        added = await socket.success("bundle.add", payload)
        group = "PodGroup default/train, Job default/train"
        assert added["words"] == f"add {group} and KubeSchedulerConfiguration"
        operations = list(yaml.safe_load_all(added["text"]))[-1]["spec"]["operations"]
        assert [next(key for key in entry if key.endswith("Operation")) for entry in operations] == [
            "deleteOperation",
            *["createOperation"] * 3,
        ]
        assert {str(entry["step"]) for entry in operations} == {"{'major': 1, 'minor': 1}"}
        cycles = list(islice(simulate(load(added["text"])), 10))
        assert cycles[0].pod == "default/alone"
        assert len(cycles) == 4
        assert all(cycle.node for cycle in cycles)
        taken = await drafted(socket, added["text"], step="2.1")
        assert wrong(taken) == {"name": "PodGroup default/train exists already after 2.1"}


async def test_priority_classes_that_there_are_can_be_chosen() -> None:
    """The system's are among them; another is refused."""
    async with connected(OWNER) as socket:
        answer = await drafted(socket, NODES + CLASS, priorityClassName="urgent")
        assert answer["errors"] == []
        assert answer["priorityClasses"][0] == ["urgent", 100]
        assert len(answer["priorityClasses"]) == 3
        assert "priorityClassName" in wrong(await drafted(socket, NODES, priorityClassName="urgent"))


@pytest.mark.parametrize(
    ("documents", "line", "message"),
    [
        ("", 1, "The text is empty"),
        (POD + POD.replace("alone", "a_B"), 9, "must consist of lower case"),
        (POD, 4, "Pod default/alone exists already"),
        ("apiVersion: podstep/v1\nkind: Scenario\nmetadata: {name: x}\n", None, "cannot be added"),
    ],
)
async def test_wrong_documents_are_refused_on_their_line(
    documents: str, line: int | None, message: str
) -> None:
    """Nothing is added; lines are those of what was to be added."""
    text = NODES + (POD if message.startswith("Pod") else "")
    async with connected() as socket:
        error = await socket.error("bundle.add", {"text": text, "documents": documents})
    assert error["code"] == "object.invalid"
    assert message in error["errors"][0]["message"]
    assert error["errors"][0]["line"] == line


async def test_moments_that_there_are_not_are_refused() -> None:
    """Both commands say which there are."""
    async with connected(OWNER) as socket:
        error = await socket.error("bundle.add", {"text": NODES, "documents": POD, "step": "7.1"})
        assert (error["code"], error["field"]) == ("payload.invalid", "step")
        opened = await socket.success("bundle.open", {"text": NODES})
        source = {"draft": opened["draft"]}
        error = await socket.error("group.draft", {"source": source, "fields": {}, "step": "soon"})
        assert error["field"] == "step"
