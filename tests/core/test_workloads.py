"""Controllers to pods, admission, histories: what the control plane does around the scheduler."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from scheduler_core import Scenario, Simulation, load, load_documents
from scheduler_core.authoring.examples import Example, examples
from scheduler_core.authoring.examples.large import cluster
from scheduler_core.compare.results.final_manifests import ending_documents
from scheduler_core.kubernetes.keys import key_of
from scheduler_core.kubernetes.model import Pod, PodDisruptionBudget
from scheduler_core.run import simulate

NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "n1"},
    "status": {"capacity": {"cpu": 8, "memory": "8Gi", "pods": 50}},
}


def template(app: str, **spec: object) -> dict[str, Any]:
    return {"metadata": {"labels": {"app": app}}, "spec": {"containers": [{"name": "c"}], **spec}}


def controller(kind: str, name: str = "web", **spec: object) -> dict[str, Any]:
    version = "batch/v1" if kind == "Job" else "apps/v1"
    selector = {} if kind == "Job" else {"selector": {"matchLabels": {"app": name}}}
    whole = {**selector, "template": template(name), **spec}
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name}, "spec": whole}


def pod(name: str, **meta: object) -> dict[str, Any]:
    spec = {"containers": [{"name": "c"}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, **meta}, "spec": spec}


def operation(step: int, **action: object) -> dict[str, Any]:
    return {"id": f"op{step}", "step": step, **action}


def history(*operations: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "x/v1",
        "kind": "Scenario",
        "metadata": {"name": "s"},
        "spec": {"operations": list(operations)},
    }


def pods_of(scenario: Scenario) -> list[Pod]:
    return [o for o in scenario.objects if isinstance(o, Pod)]


def changes(scenario: Scenario) -> list[tuple[int, str, str]]:
    return [(op.step, op.action, op.kind) for op in scenario.operations]


def test_a_deployment_makes_only_the_pods_that_are_missing() -> None:
    """Pods of a ReplicaSet that the dump lacks are counted, and the set takes their name."""
    owner = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "name": "web-5d4f8",
        "uid": "u",
        "controller": True,
    }
    have = pod("web-5d4f8-abcde", labels={"app": "web"}, ownerReferences=[owner])
    scenario = load_documents([NODE, controller("Deployment", replicas=3), have])
    assert len(pods_of(scenario)) == 3
    assert {p.meta.controller.name for p in pods_of(scenario) if p.meta.controller} == {"web-5d4f8"}
    assert ("ReplicaSet", "default/web-5d4f8") in map(key_of, scenario.objects)


def test_a_replica_set_adopts_pods_without_an_owner() -> None:
    """A bare pod that the selector selects counts, and gets an owner."""
    scenario = load_documents(
        [NODE, controller("ReplicaSet", replicas=2), pod("bare", labels={"app": "web"})]
    )
    assert len(pods_of(scenario)) == 2
    assert all(p.meta.controller and p.meta.controller.kind == "ReplicaSet" for p in pods_of(scenario))


def test_surplus_pods_of_a_dump_are_left_alone() -> None:
    """A dump's pods are facts, even if its controller wants fewer."""
    bare = [pod(f"p{i}", labels={"app": "web"}) for i in range(4)]
    assert len(pods_of(load_documents([NODE, controller("ReplicaSet", replicas=1), *bare]))) == 4


def test_names_and_uids_are_the_same_every_time() -> None:
    """Two loads of one text give equal objects."""
    documents = [NODE, controller("Deployment", replicas=5), controller("Job", "sum", parallelism=2)]
    assert load_documents(documents).objects == load_documents(documents).objects
    assert len({p.meta.uid for p in pods_of(load_documents(documents))}) == 7


def test_a_finished_job_makes_no_more_pods() -> None:
    """What succeeded is not run again, and a complete Job runs nothing."""
    job = controller("Job", parallelism=3, completions=5)
    assert len(pods_of(load_documents([NODE, {**job, "status": {"succeeded": 4}}]))) == 1
    done = {"conditions": [{"type": "Complete", "status": "True"}]}
    assert pods_of(load_documents([NODE, {**job, "status": done}])) == []


def test_daemon_pods_are_bound_where_they_fit() -> None:
    """A taint without toleration and a full node keep the daemon away; a cordon does not."""
    tainted = {**NODE, "metadata": {"name": "n2"}, "spec": {"taints": [{"key": "k", "effect": "NoSchedule"}]}}
    full = {
        **NODE,
        "metadata": {"name": "n3"},
        "status": {"capacity": {"cpu": 8, "memory": "8Gi", "pods": 0}},
    }
    cordoned = {**NODE, "metadata": {"name": "n4"}, "spec": {"unschedulable": True}}
    scenario = load_documents([NODE, tainted, full, cordoned, controller("DaemonSet")], presumed="v1.11")
    assert [p.node_name for p in pods_of(scenario)] == ["n1", "n4"]


def test_admission_fills_in_what_the_api_server_would() -> None:
    """Limits become requests, classes become priorities, and not-ready nodes are tolerated for a while."""
    high = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "high"},
        "value": 7,
    }
    base = {**high, "metadata": {"name": "base"}, "value": 3, "globalDefault": True}
    spec = {"priorityClassName": "high", "containers": [{"name": "c", "resources": {"limits": {"cpu": 1}}}]}
    documents = [{**pod("a"), "spec": spec}, pod("b"), NODE, high, base]
    first, second = pods_of(load_documents(documents))
    assert (first.priority, second.priority) == (7, 3)
    assert first.containers[0].requests == {"cpu": 1000}
    assert {t.key for t in first.tolerations} == {
        "node.kubernetes.io/not-ready",
        "node.kubernetes.io/unreachable",
    }
    raw = pods_of(load_documents(documents, admission=False, expand=False))[0]
    assert (raw.priority, raw.containers[0].requests, raw.tolerations) == (0, {}, ())


def test_pending_pods_come_by_age_and_then_by_position() -> None:
    """Admitted pods come by creationTimestamp; without admission the file alone orders them."""
    documents = [
        NODE,
        pod("late", creationTimestamp="2020-01-01T12:00:00+02:00"),
        pod("undated"),
        pod("early", creationTimestamp="2020-01-01T09:00:00Z"),
    ]
    assert [p.meta.name for p in pods_of(load_documents(documents))] == ["early", "late", "undated"]
    raw = load_documents(documents, admission=False, expand=False)
    assert [p.meta.name for p in pods_of(raw)] == ["late", "undated", "early"]


def test_a_budget_without_status_gets_its_allowance() -> None:
    """Bound pods count as healthy; percentages round up."""
    bound = [
        {**pod(f"p{i}", labels={"app": "web"}), "spec": {"nodeName": "n1", "containers": [{"name": "c"}]}}
        for i in range(3)
    ]
    budget = {"apiVersion": "policy/v1beta1", "kind": "PodDisruptionBudget", "metadata": {"name": "b"}}
    spec = {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}}
    found = load_documents([NODE, *bound, {**budget, "spec": spec}]).objects[-1]
    assert isinstance(found, PodDisruptionBudget)
    assert found.disruptions_allowed == 2


def test_a_scaled_deployment_brings_its_pods() -> None:
    """Growing creates pods in the same step, shrinking deletes the newest, deleting takes all."""
    target = {"typeMeta": {"kind": "Deployment"}, "objectMeta": {"name": "web"}}
    scenario = load_documents(
        [
            NODE,
            controller("Deployment", replicas=1),
            history(
                operation(
                    1, patchOperation={**target, "patch": {"spec": {"replicas": 2}}, "patchType": "merge"}
                ),
                operation(
                    2,
                    patchOperation={
                        **target,
                        "patch": [{"op": "replace", "path": "/spec/replicas", "value": 1}],
                    },
                ),
                operation(3, deleteOperation=target),
            ),
        ],
        scheduler="v1.11",
    )
    assert changes(scenario) == [
        (1, "update", "Deployment"), (1, "update", "ReplicaSet"), (1, "create", "Pod"),
        (2, "update", "Deployment"), (2, "update", "ReplicaSet"), (2, "delete", "Pod"),
        (3, "delete", "Deployment"), (3, "delete", "ReplicaSet"), (3, "delete", "Pod"),
    ]  # fmt: skip
    assert scenario.operations[2].key == scenario.operations[5].key


def test_a_new_node_gets_its_daemons() -> None:
    """The DaemonSet answers in the step that adds the node."""
    node = {**NODE, "metadata": {"name": "n2"}}
    scenario = load_documents(
        [NODE, controller("DaemonSet"), history(operation(1, createOperation={"object": node}))]
    )
    assert changes(scenario) == [(1, "create", "Node"), (1, "create", "Pod")]


def test_a_strategic_patch_merges_containers_by_name() -> None:
    """The other containers and fields stay; taints, which have no merge key here, are replaced."""
    two = {**pod("p"), "spec": {"containers": [{"name": "a", "image": "x"}, {"name": "b"}]}}
    patch = {"spec": {"containers": [{"name": "a", "resources": {"requests": {"cpu": 1}}}]}}
    target = {"typeMeta": {"kind": "Pod"}, "objectMeta": {"name": "p"}}
    scenario = load_documents([NODE, two, history(operation(1, patchOperation={**target, "patch": patch}))])
    patched = scenario.operations[0].object
    assert isinstance(patched, Pod)
    assert [(c.name, c.image, dict(c.requests)) for c in patched.containers] == [
        ("a", "x", {"cpu": 1000}),
        ("b", "", {}),
    ]


@pytest.mark.parametrize("example", examples(), ids=lambda e: e.slug)
def test_every_example_loads_quietly_runs_and_reads_back(example: Example) -> None:
    """No warning but what a profile cannot do, a decision, and the exported text is the same scenario.

    And none but of pods that only a controller creates before an operation deletes them, of GPU shares, and
    of checks that operations answer.
    """
    scenario = example.load()
    expected = ("when the operation takes", "a share of a GPU", "no controller answers admission checks")
    reported = {
        problem.path
        for problem in scenario.warnings
        if not any(words in problem.message for words in expected)
    }
    read_by = {"kind"} if any(one.runs for one in scenario.settings.schedulers) else set()
    assert reported <= ({"profiles[0]", *read_by} if example.outcome else set())
    assert simulate(scenario).step() is not None
    again = load(scenario.to_yaml(), title=example.title)
    assert (again.id, again.objects, again.operations) == (scenario.id, scenario.objects, scenario.operations)


def test_a_generated_cluster_depends_on_its_seed_alone() -> None:
    """The same seed gives the same manifests, another seed others."""
    assert list(cluster(20, 5, 4, seed=3)) == list(cluster(20, 5, 4, seed=3))
    assert list(cluster(20, 5, 4, seed=3)) != list(cluster(20, 5, 4, seed=4))


def test_the_final_cluster_is_exported_with_its_nodes() -> None:
    """What controllers made is written too, and loading the export finds every pod where it was put."""
    scenario = load_documents(
        [NODE, controller("StatefulSet", replicas=2), controller("Deployment", "api", replicas=2)]
    )
    simulation = Simulation(scenario)
    assert len(list(simulation)) == 4
    again = load_documents(ending_documents(simulation))
    assert sorted(key_of(o) for o in again.objects) == sorted(key_of(o) for o in scenario.objects)
    assert {p.node_name for p in pods_of(again)} == {"n1"}
    before = {p.meta.key: replace(p, node_name="n1", phase="Running") for p in pods_of(scenario)}
    assert {p.meta.key: p.containers for p in pods_of(again)} == {k: p.containers for k, p in before.items()}


def warned(*documents: dict[str, Any]) -> list[str]:
    """Return the warnings that name a DaemonSet."""
    return [w.message for w in load_documents(documents).warnings if w.message.startswith("DaemonSet")]


def small(name: str, cpu: str = "1", **spec: object) -> dict[str, Any]:
    """Make a node of little room."""
    status = {"allocatable": {"cpu": cpu, "memory": "1Gi", "pods": "10"}}
    return {**NODE, "metadata": {"name": name}, "spec": spec, "status": status}


BIG = {"containers": [{"name": "c", "resources": {"requests": {"cpu": "2"}}}]}
TAINTED: dict[str, Any] = {"taints": [{"key": "gpu", "effect": "NoSchedule"}]}


def daemon(**spec: object) -> dict[str, Any]:
    """Make a DaemonSet whose pods ask for two cores."""
    return controller("DaemonSet", "agent", template={**template("agent"), "spec": {**BIG, **spec}})


def test_a_daemon_that_fits_on_no_node_is_reported_with_the_reason() -> None:
    """The controller makes no pod where it finds no room; a warning names the DaemonSet, why, and where."""
    assert warned(small("n1"), small("n2"), daemon()) == [
        "DaemonSet default/agent has no pod on 2 of the 2 nodes it is for: Insufficient cpu on n1, n2"
    ]
    assert warned(small("n1"), small("n2", "4"), daemon()) == [
        "DaemonSet default/agent has no pod on 1 of the 2 nodes it is for: Insufficient cpu on n1"
    ]
    assert warned(small("n1", "4"), small("n2", **TAINTED), daemon()) == []


def test_a_daemon_that_no_node_is_for_is_reported() -> None:
    """A selector without a match and taints without a toleration are counted."""
    chosen = daemon(nodeSelector={"disk": "ssd"})
    why = "its node selector or affinity does not match"
    assert warned(small("n1", "4"), chosen) == [
        f"DaemonSet default/agent has no pod: no node is for it (1 × {why})"
    ]
    timed = {"apiVersion": "podstep/v1", "kind": "SimulationSettings", "time": "virtual"}
    assert warned(small("n1", "4", **TAINTED), daemon(), timed) == [
        "DaemonSet default/agent has no pod: no node is for it (1 × the taint gpu is not tolerated)"
    ]
    assert warned(small("n1"), daemon(), timed) == []  # its pod is made, and pends


def test_host_ports_and_pods_count_for_daemons_too() -> None:
    """A port that another pod holds is named."""
    ports = {"containers": [{"name": "c", "ports": [{"containerPort": 80, "hostPort": 80}]}]}
    holder = {**pod("web"), "spec": {**ports, "nodeName": "n1"}}
    owner = controller("DaemonSet", "agent", template={**template("agent"), "spec": ports})
    assert "host port 80/TCP is taken on n1" in warned(small("n1"), holder, owner)[0]
