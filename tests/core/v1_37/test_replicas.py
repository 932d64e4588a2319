"""Pods of one template: read, admitted and made into a manifest once, each with its own name and uid."""

from __future__ import annotations

import uuid
from collections.abc import Callable

import pytest

from scheduler_core import load
from scheduler_core.formats.decode import Originals
from scheduler_core.kubernetes.admission import uid_for
from scheduler_core.kubernetes.problems import BundleError
from scheduler_core.run.v1_37 import manifests
from scheduler_core.run.v1_37.claims import RunClaims
from scheduler_core.run.v1_37.simulation import V1_37Simulation
from scheduler_core.schedulers.columns.state import Cluster
from scheduler_core.schedulers.v1_37.interface import ClusterEvent
from scheduler_core.schedulers.v1_37.unschedulable import UnschedulableEntities
from tests.core.v1_37.parts import Bench, TableRules, event

DEPLOYMENT = """apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}}}
spec:
  replicas: {replicas}
  selector: {{matchLabels: {{app: {name}}}}}
  template:
    metadata: {{labels: {{app: {name}}}}}
    spec:
      {more}
      containers: [{{name: c, image: nginx, resources: {{limits: {{cpu: 50m}}}}}}]
"""


def deployment(name: str, replicas: int, more: str = "") -> str:
    """Return a Deployment; ``more`` is a line of its pod specification."""
    return DEPLOYMENT.format(name=name, replicas=replicas, more=more)


def test_replicas_share_their_specification_but_not_their_names() -> None:
    """Of two Deployments in turn, each pod has the manifest of its own template."""
    scenario = load("---\n".join(deployment(name, 3) for name in ("a", "b")))
    stored = V1_37Simulation(scenario).run.cluster.objects["Pod"]
    specs = {id(pod["spec"]) for pod in stored.values()}
    uids = {pod["metadata"]["uid"] for pod in stored.values()}
    assert (len(specs), len(uids), len(stored)) == (2, 6, 6)
    for key, pod in stored.items():
        name = key.partition("/")[2]
        assert pod["metadata"]["name"] == name
        assert pod["metadata"]["uid"] == uid_for("Pod", "default", name)
        assert pod["metadata"]["labels"]["app"] == name[0]
        assert pod["spec"]["containers"][0]["resources"]["requests"] == {"cpu": "50m"}


GATED = "schedulingGates: [{name: example.com/wait}]"
NODE = "apiVersion: v1\nkind: Node\nmetadata: {name: node}\nstatus: {allocatable: {cpu: '1', pods: '9'}}\n"


SPECS = {
    "plain": ("", ""),
    "after gated ones": (GATED, ""),
    "gated": ("", GATED),
    "bound": ("nodeName: node", ""),
    "of another scheduler": ("schedulerName: another", ""),
}


def deployments(specs: tuple[str, ...]) -> str:
    """Return a Deployment of three pods for each line of a specification."""
    return "---\n".join(deployment(f"d{at}", 3, more) for at, more in enumerate(specs))


POD = """apiVersion: v1
kind: Pod
metadata: {{{name}, labels: {{app: a{of}}}}}
spec:
  {more}
  containers: [{{name: c, image: nginx, resources: {{limits: {{cpu: 50m}}}}}}]
{status}"""


def pod(name: str, of: int = 0, more: str = "", status: str = "") -> str:
    """Return a written pod of a template; ``more`` is a line of its specification."""
    named = name if ":" in name else f"name: {name}"
    return POD.format(name=named, of=of, more=more, status=status)


def written(specs: tuple[str, ...]) -> str:
    """Return three pods for each line of a specification, in turn, and one with a status of its own."""
    return "---\n".join(
        (
            *(pod(f"p{turn}-{of}", of, more) for turn in range(3) for of, more in enumerate(specs)),
            pod("odd", 0, specs[0], "status: {conditions: [{type: Odd, status: 'True'}]}\n"),
        )
    )


@pytest.mark.parametrize("text_of", [deployments, written])
@pytest.mark.parametrize("specs", SPECS.values(), ids=SPECS)
def test_replicas_arrive_as_if_each_were_written_alone(
    specs: tuple[str, ...], text_of: Callable[[tuple[str, ...]], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Queue, times of arrival, clock and cycles are those of pods that are stored one by one."""
    scenario = load("---\n".join((NODE, text_of(specs))))

    def state() -> list[object]:
        made = V1_37Simulation(scenario)
        run = made.run
        queued = [(one.key, one.since, one.arrival) for one in run.queue.active.ranked()]
        typed = [(one.key, one.order, one.node_name) for one in made.cluster.pods.values()]
        stored = run.cluster.objects["Pod"]
        found = [queued, typed, stored, run.queue_document(), run.clock.now, run.cluster.versions]
        cycles = [(one.decision, one.message, one.queue) for one in made]
        return [*found, cycles, made.cluster.used.tolist()]

    together = state()
    monkeypatch.setattr(RunClaims, "_arrives_alone", lambda *_: False)
    monkeypatch.setattr(manifests, "is_alike", lambda *_: False)
    monkeypatch.setattr(Cluster, "put_replica", lambda self, pod, like, counts: self.put(pod, counts))
    assert repr(together) == repr(state())
    assert specs != ("", "") or len(together[0]) >= 6  # type: ignore[arg-type]


ODD = (
    "name: p0",  # again: the later one counts
    "name: Not_A_Name",
    "name: 7",
    "generateName: made-",
    "name: p9, uid: abc",
    "name: p9, namespace: other",
    "name: p9, annotations: {a: b}",
    "name: p9, unheard: of",
    "name: p9, creationTimestamp: '2026-01-01T00:00:00Z'",
)
MORE = ("", "priorityClassName: none-such", "unheard: of", "nodeName: node", "hostUsers: false")


@pytest.mark.parametrize("more", MORE)
@pytest.mark.parametrize("odd", ODD)
def test_written_replicas_are_read_as_if_each_were_alone(
    odd: str, more: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Objects, documents and every finding are the same, whatever one of the pods has of its own."""
    names = ["p0", "p1", "p2", odd, "p3", odd]
    text = "---\n".join((NODE, *(pod(name, at % 2, more) for at, name in enumerate(names))))

    def read() -> object:
        try:
            scenario = load(text)
        except BundleError as error:
            return error.problems
        return scenario.objects, scenario.documents, scenario.warnings, scenario.summary

    found = read()
    monkeypatch.setattr(Originals, "replica", lambda *_: None)
    assert repr(found) == repr(read())


def test_every_replica_counts_in_a_warning() -> None:
    """A PriorityClass that is missing is missing for each pod of the template."""
    scenario = load(deployment("a", 4, "priorityClassName: none-such"))
    reported = [problem.message for problem in scenario.warnings if "PriorityClass" in problem.message]
    assert len(reported) == 1
    assert reported[0].endswith("(and 3 more)")


def test_a_generated_uid_is_a_name_based_one() -> None:
    """The uids are those of RFC 4122, version 5, in one namespace."""
    space = uuid.UUID("6f5d2f4e-3f0c-5a0e-9b6a-706f64737465")
    for name in ("a", "pod-é", *map(str, range(50))):
        assert uid_for("Pod", "default", name) == str(uuid.uuid5(space, f"Pod/default/{name}"))


def test_an_arrival_does_not_ask_each_gated_pod() -> None:
    """For thousands of gated pods the plugins that registered an event are asked for once, not once a pod."""
    bench = Bench()
    asked: list[str] = []

    def registered(event: ClusterEvent) -> frozenset[str]:
        asked.append(event.name)
        return TableRules.registered(bench.rules, event)

    bench.rules.registered = registered  # type: ignore[method-assign]
    for number in range(50):
        bench.rules.gates[f"default/p{number}"] = "Gates"
        bench.enter(f"p{number}")
    asked.clear()
    for _ in range(3):
        bench.queue.broadcast(event("Node", "Add"))
    assert asked == ["NodeAdd"] * 3


def test_entities_are_reached_in_order_of_filing() -> None:
    """Whatever gates them, and without those whose gate has no interest."""
    bench, found = Bench(), UnschedulableEntities()
    for name, gate in (("a", None), ("b", "Gates"), ("c", "Other"), ("d", None), ("e", "Gates")):
        waiting = bench.enter(name)
        waiting.gated_by = gate
        found.put(waiting)
    assert [one.key[-1] for one in found.reached(frozenset({"Gates"}))] == ["a", "b", "d", "e"]
    assert [one.key[-1] for one in found.rejected()] == ["a", "d"]
    for name in "ad":
        found.pop(f"default/{name}")
    assert found.reached(frozenset()) == []
    assert len(found) == 3
