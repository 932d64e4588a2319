"""Operations in virtual time: on objects as the run has left them, and answered by controllers."""

from __future__ import annotations

import pytest

from scheduler_core import TimedSimulation, load
from scheduler_core.authoring.examples import examples
from scheduler_core.kubernetes.problems import BundleError
from scheduler_core.kubernetes.times import seconds_of
from tests.core.timed.parts import VIRTUAL, ended, history, node, pod

REPLICAS = """
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}
"""


def made(body: str, *more: str, nodes: tuple[str, ...] = ("n",)) -> tuple[TimedSimulation, list[str]]:
    """Run a ReplicaSet of one pod with operations; return the simulation and its messages."""
    simulation, cycles = ended(VIRTUAL, *map(node, nodes), REPLICAS, history(body, *more))
    assert simulation.rest is not None
    reported = [h for cycle in cycles for h in (*cycle.happenings, *cycle.consequences)]
    reported += simulation.rest.happenings
    return simulation, [h.text for h in reported if h.what == "Operation"]


def successor() -> str:
    """Return the name of the pod that comes after the first one was deleted."""
    first, _ = ended(VIRTUAL, node("n"), REPLICAS)
    name = next(iter(first.framework.pods)).partition("/")[2]
    second, _ = ended(VIRTUAL, node("n"), REPLICAS, history(f"time: 5, {delete(name)}"))
    return next(iter(second.framework.pods)).partition("/")[2]


def delete(name: str) -> str:
    """Return an operation's body that deletes a pod."""
    return f"deleteOperation: {{typeMeta: {{kind: Pod}}, objectMeta: {{name: '{name}'}}}}"


def patch(kind: str, name: str, text: str) -> str:
    """Return an operation's body that patches an object."""
    return f"patchOperation: {{typeMeta: {{kind: {kind}}}, objectMeta: {{name: '{name}'}}, patch: {text}}}"


def test_controllers_answer_an_operation_when_it_lands() -> None:
    """A rolling update takes its time: with maxSurge 1 and pods that start in 5 s one pod after the other."""
    example = next(one for one in examples() if one.slug == "rolling-update")
    simulation, cycles = ended(example.read())
    bound = [round(cycle.time) for cycle in cycles if cycle.result == "scheduled"]
    assert bound == [0, 0, 0, 0, 60, 67, 74, 81]  # an old pod ends within a second, which makes room
    assert len(simulation.framework.pods) == 4


def test_a_patch_finds_a_pod_that_a_controller_made_in_the_run() -> None:
    """What replaces a deleted pod is not known when the scenario is read, but when the patch lands."""
    first, _ = ended(VIRTUAL, node("n"), REPLICAS)
    name = next(iter(first.framework.pods)).partition("/")[2]
    later = successor()
    simulation, reported = made(
        f"time: 5, {delete(name)}",
        f"time: 9, {patch('Pod', later, '{metadata: {labels: {tier: front}}}')}",
    )
    assert reported == [f"delete Pod default/{name}", f"update Pod default/{later}"]
    assert simulation.framework.pods[f"default/{later}"].meta.labels["tier"] == "front"


def test_what_is_not_there_when_an_operation_lands_is_reported() -> None:
    """The operation has no effect, the run goes on, and the happening says why."""
    simulation, reported = made(f"time: 5, {delete('web-nobody')}")
    assert reported == [
        "delete Pod default/web-nobody has no effect: there is no Pod default/web-nobody at this moment"
    ]
    assert len(simulation.framework.pods) == 1


def test_a_pod_that_nobody_can_make_is_an_error_at_its_line() -> None:
    """Without controllers a wrong name is a wrong name, found when the scenario is read."""
    text = "---\n".join((VIRTUAL, node("n"), history(f"time: 5, {delete('web-nobody')}")))
    with pytest.raises(BundleError, match="there is no Pod default/web-nobody"):
        load(text)


def test_a_patch_of_a_failing_node_does_not_heal_it() -> None:
    """It is of the node as the controllers have left it: not ready, and tainted."""
    failing = node("n", annotations={"podstep/fails-at": "10"})
    text = (
        VIRTUAL,
        failing,
        REPLICAS,
        history(f"time: 70, {patch('Node', 'n', '{metadata: {labels: {disk: ssd}}}')}"),
    )
    simulation, _ = ended(*text)
    stands = simulation.cluster.nodes["n"]
    assert stands.meta.labels["disk"] == "ssd"
    assert {condition.status for condition in stands.conditions if condition.type == "Ready"} == {"Unknown"}
    assert "node.kubernetes.io/unreachable" in {taint.key for taint in stands.taints}


def test_a_patch_that_does_not_go_with_the_object_is_reported() -> None:
    """A JSON patch that tests for what has changed since fails when it lands, not the run."""
    first, _ = ended(VIRTUAL, node("n"), REPLICAS)
    name = next(iter(first.framework.pods)).partition("/")[2]
    test = "[{op: test, path: /metadata/labels/app, value: db}]"
    _, reported = made(f"time: 5, {delete(name)}", f"time: 9, {patch('Pod', successor(), test)}")
    assert reported[1].endswith("has no effect: the tested value differs")


def test_an_operation_that_counts_cycles_waits_for_them() -> None:
    """After cycle 1.6 of the node's failure is at 414 s, not when the first five have run."""
    name = "createOperation: {object: {apiVersion: v1, kind: Service, metadata: {name: s}}}"
    example = next(one for one in examples() if one.slug == "node-fails")
    _, cycles = ended(example.read(), history(f"step: {{major: 1, minor: 6}}, {name}"))
    assert [(cycle.step, round(cycle.time)) for cycle in cycles[4:7]] == [
        ("1.5", 0),
        ("1.6", 414),
        ("2.1", 414),
    ]


def test_an_operation_that_counts_cycles_which_never_come_lands_at_the_end() -> None:
    """Where nothing else is to happen it lands, even if its count is far away."""
    _, cycles = ended(VIRTUAL, node("n"), history(f"step: {{major: 1, minor: 1000000}}, {CREATE}"))
    assert [cycle.step for cycle in cycles] == ["2.1"]


CREATE = (
    "createOperation: {object: {apiVersion: v1, kind: Pod, metadata: {name: a}, "
    "spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}}}"
)


SETS = """
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 3
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}, annotations: {podstep/start-seconds: "5"}}
    spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}
"""


def test_pods_of_a_stateful_set_come_one_after_the_other_from_the_beginning() -> None:
    """Each is made when the one before it is ready, which takes it 5 s here."""
    _, cycles = ended(VIRTUAL, node("n"), SETS)
    assert [(cycle.pod, round(cycle.time)) for cycle in cycles] == [
        ("default/db-0", 0),
        ("default/db-1", 5),
        ("default/db-2", 10),
    ]


def test_daemons_are_scheduled_from_the_beginning() -> None:
    """A DaemonSet's pods wait in the queue like others, each for its own node."""
    daemons = SETS.replace("StatefulSet", "DaemonSet").replace("  replicas: 3\n  serviceName: db\n", "")
    _, cycles = ended(VIRTUAL, node("a"), node("b"), daemons)
    assert sorted((cycle.node, cycle.result) for cycle in cycles) == [("a", "scheduled"), ("b", "scheduled")]


def test_the_kubelet_notes_when_it_took_a_pod_on_and_no_update_takes_that_away() -> None:
    """The start time is the second at which its containers run; a user's update leaves it."""
    of = "typeMeta: {kind: Pod}, objectMeta: {name: a}, patchType: strategic"
    change = f"patchOperation: {{{of}, patch: {{metadata: {{labels: {{x: new}}}}}}}}"
    made, _ = ended(VIRTUAL, node("n"), pod("a", start="30"), history(f"time: 40, {change}"))
    found = made.framework.pods["default/a"]
    assert found.meta.labels["x"] == "new"
    assert found.start_time is not None
    assert seconds_of(found.start_time) == made.manager.options.epoch + 30
