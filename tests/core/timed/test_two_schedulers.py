"""Several schedulers on one cluster: the kubelet is the last judge, and refuses only where one is misled."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from scheduler_core.cluster.controllers.daemon_admission import total_requests
from scheduler_core.cluster.controllers.kubelet import REFUSED, AdmissionRefusal, is_admitted, refusal
from scheduler_core.kubernetes.model import Container as PodContainer
from scheduler_core.kubernetes.model import HostPort, Pod
from scheduler_core.record.cycle import Cycle
from scheduler_core.run.simulation import TimedSimulation
from tests.core.kube_batch import parts
from tests.core.timed.parts import VIRTUAL, ended, history, node, pod, simulation
from tests.core.timed.test_kube_batch import batch, group, queue


def refused(made: TimedSimulation, cycles: list[Cycle]) -> list[str]:
    """Return the pods that the kubelet refused in a run."""
    assert made.rest is not None
    reported = [one for cycle in cycles for one in (*cycle.happenings, *cycle.consequences)]
    return [one.about for one in (*reported, *made.rest.happenings) if one.what.startswith(REFUSED)]


def fits(made: TimedSimulation) -> bool:
    """Return whether the pods that were admitted fit their nodes."""
    for name, there in made.framework.cluster.nodes.items():
        on = [one for one in made.framework.pods.values() if one.node_name == name and is_admitted(one)]
        for resource, most in there.allocatable.items():
            used = sum(c.requests.get(resource, 0) for one in on for c in one.containers)
            if resource != "pods" and used > most:
                return False
    return True


SIZES = st.lists(st.integers(1, 3), min_size=1, max_size=6)


def cluster(
    nodes: list[int], web: list[int], jobs: list[int], *, start: str = "", pools: bool = False
) -> list[str]:
    """Return a cluster with pods of the default scheduler, which start late, and single jobs of kube-batch.

    With ``pools`` the nodes are divided between the two by selectors.
    """
    texts = [VIRTUAL, queue()]
    for place, cpu in enumerate(nodes):
        texts.append(node(f"n{place}", cpu + 2, pool="web" if place % 2 else "batch"))
    for place, cpu in enumerate(web):
        text = pod(f"w{place}", cpu, start=start)
        texts.append(text.replace("spec: {", "spec: {nodeSelector: {pool: web}, ") if pools else text)
    for place, cpu in enumerate(jobs):
        selector = "nodeSelector: {pool: batch}, " if pools else ""
        texts += [group(f"g{place}", 1), batch(f"b{place}", f"g{place}", cpu, selector)]
    return texts


@settings(max_examples=25, deadline=None)
@given(nodes=SIZES, web=SIZES, jobs=SIZES)
def test_who_sees_the_other_s_pods_at_once_is_refused_nothing(
    nodes: list[int], web: list[int], jobs: list[int]
) -> None:
    """Pods that start as soon as they are bound are seen by the next session."""
    made, cycles = ended(*cluster(nodes, web, jobs))
    assert refused(made, cycles) == []
    assert fits(made)


@settings(max_examples=25, deadline=None)
@given(nodes=SIZES, web=SIZES, jobs=SIZES)
def test_no_node_holds_more_than_it_has_whoever_bound_there(
    nodes: list[int], web: list[int], jobs: list[int]
) -> None:
    """Pods of the default scheduler that start late are not seen by kube-batch."""
    made, _ = ended(*cluster(nodes, web, jobs, start="5"))
    assert fits(made)


@settings(max_examples=25, deadline=None)
@given(nodes=SIZES, web=SIZES, jobs=SIZES)
def test_in_pools_of_their_own_nobody_is_in_the_other_s_way(
    nodes: list[int], web: list[int], jobs: list[int]
) -> None:
    """However late the pods start."""
    made, cycles = ended(*cluster(nodes, web, jobs, start="5", pools=True))
    assert refused(made, cycles) == []
    assert fits(made)


@settings(max_examples=15, deadline=None)
@given(nodes=SIZES, jobs=SIZES)
def test_one_scheduler_is_in_nobody_s_way(nodes: list[int], jobs: list[int]) -> None:
    """With requests in whole cores, of which the tolerance of kube-batch makes nothing."""
    made, cycles = ended(*cluster(nodes, [], jobs))
    assert refused(made, cycles) == []


def test_late_pods_are_overbooked_and_the_last_one_is_refused() -> None:
    """The properties above would find nothing if nothing were ever refused."""
    made, cycles = ended(*cluster([1], [3], [2], start="5"))
    assert refused(made, cycles) == ["default/b0"]
    pod_ = made.framework.pods["default/b0"]
    assert (pod_.phase, pod_.node_name) == ("Failed", "n0")
    assert made.rest is not None
    event = next(one for one in made.rest.happenings if one.what == "OutOfcpu")
    assert event.about == "default/b0"
    assert event.text == "Node didn't have enough resource: cpu, requested: 2000, used: 3000, capacity: 3000"


def test_what_the_kubelet_refused_is_not_scheduled_again() -> None:
    """Room that comes later does not help a pod without a controller."""
    late = history("time: 20, deleteOperation: {typeMeta: {kind: Pod}, objectMeta: {name: w0}}")
    made, _ = ended(*cluster([1], [3], [2], start="5"), late)
    assert made.framework.pods["default/b0"].phase == "Failed"
    again = simulation(*cluster([1], [3], [2], start="5"), late)
    decisions = [cycle.decision for cycle in simulation(*cluster([1], [3], [2], start="5"), late)]
    again.replay(decisions)
    assert again.peek() is False
    assert again.placement() == made.placement() == {}


def used(there: list[Pod]) -> dict[str, int]:
    """Return what admitted pods request, and their number."""
    return dict(sum((Counter({"pods": 1, **total_requests(one)}) for one in there), Counter()))


NODE = parts.node("n", 2, 4, pods=3, gpu=1)


@pytest.mark.parametrize(
    ("pod_", "there", "reason"),
    [
        (parts.pod("a"), [parts.pod("b")], None),
        (parts.pod("a", cpu=1.5), [parts.pod("b")], "OutOfcpu"),
        (parts.pod("a", memory=4), [parts.pod("b")], "OutOfmemory"),
        (parts.pod("a", cpu=0, memory=0), [parts.pod(name, cpu=0, memory=0) for name in "bcd"], "OutOfpods"),
        (parts.pod("a", gpu=1), [parts.pod("b", gpu=1)], "OutOfx.io/gpu"),
        (parts.pod("a", cpu=0, memory=0, node_selector={"disk": "ssd"}), [], "NodeAffinity"),
    ],
)
def test_the_first_failure_is_the_reason(pod_: Pod, there: list[Pod], reason: str | None) -> None:
    """Pods first, then resources, then the node's labels."""
    found = refusal(pod_, NODE, used(there), lambda: there)
    assert (None if found is None else found.reason) == reason


def test_a_resource_that_the_node_does_not_have_is_passed_over() -> None:
    """As the kubelet does with extended resources that are not its own."""
    assert refusal(parts.pod("a", gpu=1), parts.node("n"), {}, list) is None


def test_a_host_port_is_given_once() -> None:
    """The address that means every one clashes with any."""
    container = PodContainer("c", host_ports=(HostPort("0.0.0.0", "TCP", 80),))
    one, other = (parts.pod(name, cpu=0, memory=0) for name in "ab")
    one, other = (replace(each, containers=(container,)) for each in (one, other))
    assert refusal(one, NODE, {}, lambda: [other]) == AdmissionRefusal(
        "NodePorts", "Predicate NodePorts failed"
    )
    assert refusal(one, NODE, {}, list) is None


def test_replicas_that_are_refused_come_back_after_a_second() -> None:
    """A ReplicaSet whose template names a node that is too small goes on for ever, and time passes."""
    owner = """
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: r}
spec:
  replicas: 2
  selector: {matchLabels: {app: r}}
  template:
    metadata: {labels: {app: r}}
    spec: {nodeName: n0, containers: [{name: c, resources: {requests: {cpu: "2"}}}]}
"""
    until = VIRTUAL.rstrip() + "\nuntil: 10\n"
    made, cycles = ended(until, node("n0", 3), owner, pod("w"))
    assert len(refused(made, cycles)) in (9, 10)
    assert fits(made)
