"""Kueue in a living cluster: Jobs and pods wait for quota, run where their flavor is, and are preempted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from yaml import safe_load

from scheduler_core.authoring.examples import examples
from scheduler_core.cluster.kueue.workload import ADMITTED, FINISHED
from scheduler_core.kubernetes.problems import BundleError
from scheduler_core.run.several.lone import LoneSimulation
from scheduler_core.run.table import simulate
from scheduler_core.scenario.load import load

CLUSTER = (Path(__file__).parent / "living.yaml").read_text()
JOB = """
apiVersion: batch/v1
kind: Job
metadata: {{name: {name}, labels: {{kueue.x-k8s.io/queue-name: q{more}}}}}
spec:
  parallelism: {pods}
  completions: {pods}
  template:
    metadata: {{annotations: {{podstep/run-seconds: "{seconds}"}}}}
    spec: {{restartPolicy: Never, containers: [{{name: c, image: x, resources: {{requests: {{cpu: 1}}}}}}]}}
"""
KUEUE = "kueue.x-k8s.io/v1beta2"
HIGH = ", kueue.x-k8s.io/priority-class: high"
POD = """
apiVersion: v1
kind: Pod
metadata: {{name: {name}, labels: {{kueue.x-k8s.io/queue-name: {queue}}}}}
spec: {{containers: [{{name: c, image: x, resources: {{requests: {{cpu: {cpu}}}}}}}]}}
"""


def job(name: str, pods: int, seconds: int = 100, more: str = "") -> str:
    """Return a Job of pods of one cpu."""
    return JOB.format(name=name, pods=pods, seconds=seconds, more=more)


def running(*documents: str) -> LoneSimulation:
    """Return a run of the cluster and some objects."""
    made = simulate(load("\n---\n".join((CLUSTER, *documents))))
    assert isinstance(made, LoneSimulation)
    return made


def later(time: int, document: str) -> str:
    """Return a Scenario whose one operation creates an object."""
    indented = document.strip().replace("\n", "\n        ")
    return f"""
apiVersion: podstep/v1
kind: Scenario
metadata: {{name: s}}
spec:
  operations:
  - id: "1"
    time: {time}
    createOperation:
      object:
        {indented}
"""


def patched(time: int, kind: str, name: str, patch: dict[str, Any]) -> str:
    """Return a Scenario whose one operation patches an object."""
    version = "v1" if kind == "Node" else "kueue.x-k8s.io/v1beta2"
    target = {"typeMeta": {"kind": kind, "apiVersion": version}, "objectMeta": {"name": name}, "patch": patch}
    operation = {"id": "1", "time": time, "patchOperation": target}
    head = {"apiVersion": "podstep/v1", "kind": "Scenario", "metadata": {"name": "s"}}
    return json.dumps({**head, "spec": {"operations": [operation]}})


def states(simulation: LoneSimulation) -> dict[str, Any]:
    """Return for each Workload, by the name of its owner, whether it is admitted or finished."""
    assert simulation.kueue is not None
    found = simulation.kueue.control.workloads.values()
    return {one.owner.split()[-1]: one.has(FINISHED) or one.has(ADMITTED) for one in found}


def test_a_job_runs_where_its_flavor_is() -> None:
    """Its pods go to the flavor's node, though the other one has more room."""
    simulation = running(job("a", 3))
    assert [cycle.node for cycle in simulation] == ["n1"] * 3
    assert states(simulation) == {"a": True}


def test_what_has_no_quota_waits_and_follows() -> None:
    """The second Job starts when the first is done, and nothing of it is there before."""
    simulation = running(job("a", 3), job("b", 2))
    first = {cycle.pod.split("-")[0]: cycle.time for cycle in simulation}
    assert first["default/a"] < 1 and first["default/b"] > 100


def test_a_pod_by_itself_waits_for_its_admission() -> None:
    """One fits its quota, one never will, and one names a queue that does not exist."""
    pods = [("fits", "q", 2), ("large", "q", 9), ("lost", "nowhere", 1)]
    simulation = running(*(POD.format(name=name, queue=queue, cpu=cpu) for name, queue, cpu in pods))
    list(simulation)
    placed = {key: node for key, node in simulation.placement().items() if node}
    assert placed == {"default/fits": "n1"}
    assert states(simulation) == {"fits": True, "large": False, "lost": False}


def test_a_job_that_is_preempted_stops_and_comes_back() -> None:
    """Its pods go as soon as the other Job needs the quota, and it runs to its end afterwards."""
    simulation = running(job("low", 3), later(30, job("high", 2, 50, HIGH)))
    list(simulation)
    assert states(simulation) == {"low": True, "high": True}
    reported = [
        (head.entry.workload.owner, head.status, [one.reserving.workload.owner for one in head.targets])
        for cycle in simulation.kueue.cycles
        for head in cycle.entries
    ]
    assert ("Job high", "notNominated", ["Job low"]) in reported
    assert [one for one in reported if one[1] == "assumed"] == [
        ("Job low", "assumed", []),
        ("Job high", "assumed", []),
        ("Job low", "assumed", []),
    ]


@pytest.mark.parametrize("steps", [1, 3, 5])
def test_a_fork_goes_on_as_the_run_does(steps: int) -> None:
    """A copy made between two attempts decides the same, and changes nothing of the run it came from."""
    simulation = running(job("low", 3), later(30, job("high", 2, 50, HIGH)))
    for _ in range(steps):
        simulation.step()
    other = simulation.fork(trace=False)
    there = [(one.pod, one.node) for one in other]
    here = [(one.pod, one.node) for one in simulation]
    assert here == there and states(simulation) == states(other)


def test_the_trace_says_what_each_cycle_decided() -> None:
    """A record has the cycles since the last one, each with its heads."""
    simulation = running(job("a", 3), job("b", 2))
    marks = [mark for cycle in simulation for one in cycle.plugins for mark in one.marks]
    kinds = [(mark.kind, mark.about.split("-")[1]) for mark in marks if "job-" in mark.about]
    assert kinds[:2] == [("admission", "a"), ("no admission", "b")]
    assert kinds[-1] == ("admission", "b")


def test_a_namespace_has_the_label_of_its_name() -> None:
    """A queue may select it by that, whether the bundle has the namespace or not."""
    label = "{matchLabels: {kubernetes.io/metadata.name: NAME}}"
    for name, is_admitted in (("default", True), ("other", False)):
        text = CLUSTER.replace("namespaceSelector: {}", f"namespaceSelector: {label.replace('NAME', name)}")
        simulation = simulate(load("\n---\n".join((text, job("a", 3)))))
        assert isinstance(simulation, LoneSimulation)
        list(simulation)
        assert states(simulation) == {"a": is_admitted}


def test_objects_that_the_api_refuses_are_left_out() -> None:
    """A warning names what is wrong, and the rest runs."""
    bad = CLUSTER.replace("name: team}", "name: other}").replace("nominalQuota: 4", "nominalQuota: -4")
    text = "".join(bad.split("- apiVersion: kueue")[2:3])
    document = "apiVersion: kueue" + text.replace("\n  ", "\n")
    simulation = running(document, job("a", 3))
    assert any("refuses this ClusterQueue" in one.message for one in simulation.scenario.warnings)
    list(simulation)
    assert states(simulation) == {"a": True}


TOPOLOGY = """
apiVersion: kueue.x-k8s.io/v1beta1
kind: Topology
metadata: {name: t}
spec: {levels: [{nodeLabel: kubernetes.io/hostname}]}
"""


TAS = CLUSTER.replace("spec: {nodeLabels: {pool: a}}", "spec: {nodeLabels: {pool: a}, topologyName: t}")
NODE = """
apiVersion: v1
kind: Node
metadata: {name: n3, labels: {pool: a, kubernetes.io/hostname: n3}}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}, conditions: [{type: Ready, status: "True"}]}
"""


def placed_job(how: str, *more: str) -> LoneSimulation:
    """Return a run of a Job whose pods a topology places; the node n1 fails after 20 seconds."""
    annotation = f"annotations: {{kueue.x-k8s.io/podset-{how}-topology: kubernetes.io/hostname, podstep"
    placed = job("a", 3, 900).replace("annotations: {podstep", annotation)
    fails = {"metadata": {"annotations": {"podstep/fails-at": "20"}}}
    documents = (TAS, TOPOLOGY, placed, *more, patched(10, "Node", "n1", fails))
    simulation = simulate(load("\n---\n".join(documents)))
    assert isinstance(simulation, LoneSimulation)
    return simulation


def test_pods_of_a_failed_node_get_another() -> None:
    """The Workload keeps its admission, with the place of its pods on the other node, and they follow."""
    simulation = placed_job("preferred", NODE)
    assert [cycle.node for cycle in simulation] == ["n1"] * 3 + ["n3"] * 3
    assert simulation.kueue is not None
    (workload,) = simulation.kueue.control.workloads.values()
    assert workload.admission is not None and workload.admission.pod_sets[0].topology is not None
    assert workload.admission.pod_sets[0].topology.domains == ((("n3",), 3),)
    (again,) = (one for cycle in simulation.kueue.cycles for one in cycle.entries if one.is_second_pass)
    assert again.status == "assumed" and workload.unhealthy == ()


def test_a_workload_whose_node_has_no_replacement_is_evicted() -> None:
    """Nothing holds its pods, so that it stops, and waits with the reason."""
    simulation = placed_job("preferred")
    list(simulation)
    assert simulation.kueue is not None
    (workload,) = simulation.kueue.control.workloads.values()
    evicted = workload.conditions["Evicted"]
    assert (evicted.reason, evicted.message) == (
        "NodeFailures",
        "Workload was evicted as there was no replacement for unhealthy node(s): n1",
    )
    assert states(simulation) == {"a": False}


@pytest.mark.parametrize(
    ("patch", "admitted"),
    [
        ({"stopPolicy": "HoldAndDrain"}, {"a": False, "b": False}),
        ({"namespaceSelector": {}}, {"a": True, "b": True}),
    ],
)
def test_an_operation_changes_a_queue(patch: dict[str, Any], admitted: dict[str, bool]) -> None:
    """A queue that is drained stops its Job, and nothing of it starts again."""
    simulation = running(job("a", 3), job("b", 2), patched(30, "ClusterQueue", "team", {"spec": patch}))
    list(simulation)
    assert states(simulation) == admitted


def test_a_job_of_an_unknown_priority_class_waits_and_is_named() -> None:
    """Kueue makes no Workload for it."""
    simulation = running(job("a", 1, more=", kueue.x-k8s.io/priority-class: nowhere"))
    list(simulation)
    assert states(simulation) == {} and simulation.kueue is not None
    assert [*simulation.kueue.left_out] == [
        "Job default/a has no Workload: there is no WorkloadPriorityClass nowhere"
    ]


CHECK = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: AdmissionCheck
metadata: {name: budget}
spec: {controllerName: example.com/budget}
status: {conditions: [{type: Active, status: "True", reason: Active, message: ok}]}
"""
WORKLOAD = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata: {name: w, namespace: default}
spec:
  queueName: q
  podSets:
  - name: main
    count: 1
    template: {spec: {containers: [{name: c, image: x, resources: {requests: {cpu: 1}}}]}}
"""
CHECKED = CLUSTER.replace(
    "    preemption: {within", "    admissionChecks: [budget]\n    preemption: {within"
).replace("v1beta2\n  kind: ClusterQueue", "v1beta1\n  kind: ClusterQueue")


@pytest.mark.parametrize(
    ("state", "conditions"),
    [
        ("Pending", {"QuotaReserved"}),
        ("Ready", {"QuotaReserved", "Admitted"}),
        ("Retry", {"QuotaReserved"}),
        ("Rejected", {"Evicted"}),
    ],
)
def test_an_operation_answers_an_admission_check(state: str, conditions: set[str]) -> None:
    """Ready admits a Workload, Rejected deactivates it, and after Retry it queues again."""
    patch = {"status": {"admissionChecks": [{"name": "budget", "state": state, "message": "said"}]}}
    answered = patched(30, "Workload", "w", patch)
    simulation = simulate(load(f"{CHECKED}\n---\n{CHECK}\n---\n{WORKLOAD}\n---\n{answered}"))
    assert isinstance(simulation, LoneSimulation) and simulation.kueue is not None
    list(simulation)
    workload = simulation.kueue.control.workloads["default/w"]
    assert {name for name, one in workload.conditions.items() if one.status} - {"Requeued"} == conditions
    assert workload.active is (state != "Rejected")


@pytest.mark.parametrize(
    ("status", "message"),
    [
        ({"admissionChecks": [{"name": "budget", "state": "ready"}]}, "'ready' is no state of an admission"),
        ({"admissionChecks": {"name": "budget"}}, "must be a list of rows with name"),
        ({"conditions": [{"status": "True"}]}, "must be a list of rows with type"),
    ],
)
def test_rows_of_a_status_that_cannot_be_read_are_refused(status: dict[str, Any], message: str) -> None:
    """The error names what would be right."""
    documents = (CHECKED, CHECK, WORKLOAD, patched(30, "Workload", "w", {"status": status}))
    with pytest.raises(BundleError, match=message):
        load("\n---\n".join(documents))


def test_a_queue_in_use_is_deleted_when_it_is_not() -> None:
    """Its Job runs to its end, nothing else starts meanwhile, and the flavor goes with the queue."""
    deletions = [("ClusterQueue", "team"), ("ResourceFlavor", "default")]
    types = [{"kind": kind, "apiVersion": KUEUE} for kind, _ in deletions]
    operations: list[dict[str, Any]] = [
        {"time": 20, "deleteOperation": {"typeMeta": made, "objectMeta": {"name": name}}}
        for made, (_, name) in zip(types, deletions, strict=True)
    ]
    operations.append({"time": 30, "createOperation": {"object": safe_load(job("b", 1))}})
    history = {"apiVersion": "podstep/v1", "kind": "Scenario", "spec": {"operations": operations}}
    simulation = running(job("a", 3), json.dumps(history))
    assert simulation.kueue is not None
    get = simulation.kueue.server.get
    simulation.step()
    assert [get(*one) is None for one in deletions] == [False, False]
    list(simulation)
    assert [get(*one) for one in deletions] == [None, None]
    assert states(simulation) == {"a": True, "b": False}


@pytest.mark.parametrize(
    ("slug", "admitted", "pending"),
    [
        ("kueue-flavors", {"first": "reserved", "second": "spot"}, {"third-without-toleration"}),
        (
            "kueue-strict",
            {"s-1-running": "shared", "b-1-running": "shared", "b-3-small": "shared"},
            {"s-2-large", "b-2-large", "s-3-small"},
        ),
        ("kueue-fair", {"b-3": "shared", "a-1": "shared", "a-2": "shared"}, {"b-1", "b-2", "a-3"}),
        ("kueue-node-fails", {"train": "gpu"}, set()),
    ],
)
def test_an_example_does_what_its_text_says(slug: str, admitted: dict[str, str], pending: set[str]) -> None:
    """Which of its Jobs have quota at the end, of which flavor, and which wait."""
    example = next(one for one in examples() if one.slug == slug)
    simulation = simulate(example.load(), trace=False)
    assert isinstance(simulation, LoneSimulation) and simulation.kueue is not None
    list(simulation)
    found = {one.owner.removeprefix("Job "): one for one in simulation.kueue.control.workloads.values()}
    holding = {
        name: next(iter(one.admission.pod_sets[0].flavors.values()))
        for name, one in found.items()
        if one.admission is not None
    }
    assert holding == admitted and found.keys() - holding.keys() == pending


def test_the_pods_of_a_node_that_goes_stay_in_their_rack() -> None:
    """Those of the other node are not touched."""
    example = next(one for one in examples() if one.slug == "kueue-node-fails")
    simulation = simulate(example.load(), trace=False)
    placed = [cycle.node for cycle in simulation]
    assert placed == ["r1-a"] * 2 + ["r1-b"] * 2 + ["r1-c"] * 2
