"""Fields that decisions follow once they are written: preemptionPolicy, hostNetwork, a claim's selector."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core import load_documents
from scheduler_core.compare.results.final_manifests import ending_documents
from scheduler_core.kubernetes.model import Pod
from scheduler_core.record.cycle import Cycle
from scheduler_core.run import simulate
from scheduler_core.scenario.scenario import Scenario
from tests.core.engine.builders import Manifest, node, obj, pod

ONE = {"cpu": "1", "memory": "1Gi", "pods": "10"}
V1_11: tuple[Manifest, ...] = ()
FRAMEWORKS: dict[str, tuple[Manifest, ...]] = {
    version: ({"apiVersion": f"kubescheduler.config.k8s.io/{version}", "kind": "KubeSchedulerConfiguration"},)
    for version in ("v1beta2", "v1")
}
SCHEDULERS = pytest.mark.parametrize("scheduler", [V1_11, *FRAMEWORKS.values()], ids=["v1.11", *FRAMEWORKS])


def klass(name: str, value: int, **fields: Any) -> Manifest:
    """Make a PriorityClass."""
    return obj("PriorityClass", name, "scheduling.k8s.io/v1", value=value, **fields)


def full(*more: Manifest, **fields: Any) -> Scenario:
    """Return a node that a pod of low priority fills, and one pod more, with these fields."""
    low = pod("low", {"cpu": "1"}, on="n", priority=0, labels={"app": "low"})
    return load_documents([*more, node("n", allocatable=ONE), low, pod("p", {"cpu": "1"}, **fields)])


def deleted(scenario: Scenario) -> list[str]:
    """Return the pods that a run deletes."""
    simulation = simulate(scenario)
    for _ in simulation:
        pass
    return list(simulation.deleted)


NEVER = klass("high", 100, preemptionPolicy="Never")
EVICTS = klass("high", 100)
DEFAULT = klass("high", 100, preemptionPolicy="Never", globalDefault=True)


@SCHEDULERS
@pytest.mark.parametrize(
    ("classes", "fields", "victims"),
    [
        ([], {"priority": 100}, ["default/low"]),
        ([], {"priority": 100, "preemptionPolicy": "Never"}, []),
        ([EVICTS], {"priorityClassName": "high"}, ["default/low"]),
        ([NEVER], {"priorityClassName": "high"}, []),
        ([DEFAULT], {}, []),
        ([NEVER], {"priorityClassName": "high", "preemptionPolicy": "PreemptLowerPriority"}, ["default/low"]),
    ],
    ids=["none", "pod", "class-preempts", "class", "default-class", "pod-over-class"],
)
def test_a_pod_with_preemption_policy_never_evicts_nobody(
    scheduler: tuple[Manifest, ...], classes: list[Manifest], fields: dict[str, Any], victims: list[str]
) -> None:
    """The policy is the pod's, else that of its class, else of the default class; the rest preempts."""
    scenario = full(*scheduler, *classes, **fields)
    assert deleted(scenario) == victims


def test_a_policy_that_contradicts_the_class_is_reported() -> None:
    """As with a priority that differs, the pod's own counts and the difference is a warning."""
    scenario = full(NEVER, priorityClassName="high", preemptionPolicy="PreemptLowerPriority")
    reported = [problem.message for problem in scenario.warnings]
    assert any("PriorityClass 'high' has Never: PreemptLowerPriority is used" in text for text in reported)


def test_other_words_than_the_two_are_an_error() -> None:
    """A typo is answered with what was meant."""
    with pytest.raises(ValueError, match="did you mean 'Never'"):
        full(preemptionPolicy="never")


@SCHEDULERS
def test_the_record_says_why_nothing_was_tried(scheduler: tuple[Manifest, ...]) -> None:
    """The pod was not eligible for its policy, and not because victims are leaving."""
    cycle: Cycle = next(iter(simulate(full(*scheduler, priority=100, preemptionPolicy="Never"))))
    assert cycle.preemption is not None
    assert (cycle.preemption.eligible, cycle.preemption.never) == (False, True)


def test_the_nomination_that_a_pod_has_stays() -> None:
    """Who may not preempt keeps the room that another evicted for it, or that it was given."""
    scenario = full(priority=100, preemptionPolicy="Never", nominatedNodeName="n")
    simulation = simulate(scenario)
    cycle = next(iter(simulation))
    assert cycle.decision.cleared == ()


def test_a_changed_policy_is_a_new_template() -> None:
    """A Deployment rolls out a template that differs in preemptionPolicy or hostNetwork alone."""
    from scheduler_core.cluster.controllers.workloads import template_hash

    def template(**fields: Any) -> Pod:
        (found,) = load_documents([pod("p", **fields)], admission=False).objects
        assert isinstance(found, Pod)
        return found

    hashes = {
        template_hash(template(**fields))
        for fields in ({}, {"preemptionPolicy": "Never"}, {"hostNetwork": True}, {"hostNetwork": False})
    }
    assert len(hashes) == 3


# --- hostNetwork


def serving(name: str, **fields: Any) -> Manifest:
    """Make a pod that serves at container port 80."""
    return pod(name, ports=[{"name": "http"}], **fields)


def nodes_of(scenario: Scenario) -> dict[str, str | None]:
    """Return where each pod goes in its first cycle."""
    return {cycle.pod: cycle.node for cycle in simulate(scenario)}


@SCHEDULERS
def test_pods_in_the_network_of_a_node_take_their_container_ports(scheduler: tuple[Manifest, ...]) -> None:
    """Two of them with one port do not fit on one node; a pod with a network of its own does."""
    placed = nodes_of(
        load_documents(
            [
                *scheduler,
                node("n"),
                serving("on", on="n", hostNetwork=True),
                serving("other", hostNetwork=True),
                serving("own"),
            ]
        )
    )
    assert placed == {"default/other": None, "default/own": "n"}


def test_containers_of_one_pod_cannot_share_a_port_of_the_node() -> None:
    """The API server refuses two containers with one port in the node's network, and so does the reader."""
    both = [{"name": name, "ports": [{"containerPort": 80}]} for name in "ab"]
    with pytest.raises(ValueError, match="hostPort 80/TCP is taken by containers"):
        load_documents([node("n"), pod("p", containers=both, hostNetwork=True)])
    assert load_documents([node("n"), pod("p", containers=both)]).objects


def test_what_is_exported_keeps_the_fields() -> None:
    """A pod that a controller made is written with both fields, and reads back as the same."""
    template = {
        "metadata": {"labels": {"a": "b"}},
        "spec": {
            "hostNetwork": True,
            "preemptionPolicy": "Never",
            "containers": [{"name": "c", "ports": [{"containerPort": 80}]}],
        },
    }
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
    simulation = simulate(load_documents([node("n"), obj("ReplicaSet", "web", "apps/v1", spec=spec)]))
    for _ in simulation:
        pass
    (made,) = [one for one in ending_documents(simulation) if one["kind"] == "Pod"]
    assert (made["spec"]["hostNetwork"], made["spec"]["preemptionPolicy"]) == (True, "Never")
    (again,) = [one for one in load_documents([node("n"), made]).objects if isinstance(one, Pod)]
    assert [port.port for port in again.containers[0].host_ports] == [80]
    assert not again.preempts


# --- a claim's selector


def disk(name: str, size: str, **labels: str) -> Manifest:
    """Make a volume of the class ``local``."""
    spec = {"capacity": {"storage": size}, "storageClassName": "local", "accessModes": ["ReadWriteOnce"]}
    return obj("PersistentVolume", name, metadata={"labels": labels}, spec=spec)


@SCHEDULERS
@pytest.mark.parametrize(
    ("selector", "node_name"),
    [(None, "n"), ({"matchLabels": {"disk": "ssd"}}, "n"), ({"matchLabels": {"disk": "nvme"}}, None)],
)
def test_a_claim_is_bound_to_volumes_that_its_selector_selects(
    scheduler: tuple[Manifest, ...], selector: Manifest | None, node_name: str | None
) -> None:
    """A waiting claim finds a volume among those with the labels alone; without a selector among all."""
    waiting = obj(
        "StorageClass",
        "local",
        "storage.k8s.io/v1",
        provisioner="kubernetes.io/no-provisioner",
        volumeBindingMode="WaitForFirstConsumer",
    )
    spec: Manifest = {
        "storageClassName": "local",
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
    }
    claim = obj("PersistentVolumeClaim", "data", spec=spec | ({"selector": selector} if selector else {}))
    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]
    placed = nodes_of(
        load_documents(
            [
                *scheduler,
                node("n"),
                waiting,
                disk("a", "1Gi", disk="hdd"),
                disk("b", "2Gi", disk="ssd"),
                claim,
                pod("p", volumes=volumes),
            ]
        )
    )
    assert placed == {"default/p": node_name}
