"""ResourceClaimTemplates in scenarios: pods of workloads get claims, and devices change hands."""

from __future__ import annotations

import pytest
import yaml

from scheduler_core import load, load_documents, simulate
from scheduler_core.compare.results.final_manifests import ending_documents
from scheduler_core.run.v1_37.groups import untried_because
from scheduler_core.run.v1_37.record import release_record
from scheduler_core.run.v1_37.simulation import V1_37Simulation
from tests.core.v1_37.parts import NODE_AND_GPU_CLASS

HEAD = (
    NODE_AND_GPU_CLASS
    + """---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: s1}
spec:
  driver: gpu.example.com
  nodeName: n1
  pool: {name: n1, generation: 1, resourceSliceCount: 1}
  devices: [{name: gpu-0}]
"""
)
TEMPLATE = """
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: gpus}
spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}}
"""
POD_SPEC = (
    "{{resourceClaims: [{{name: gpu, resourceClaimTemplateName: gpus}}], priority: {priority}, "
    'containers: [{{name: c, image: i, resources: {{requests: {{cpu: "{cpu}"}}, '
    "claims: [{{name: gpu}}]}}}}]}}"
)
JOB = (
    """
---
apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  parallelism: 2
  template:
    metadata: {labels: {app: train}}
    spec: """
    + POD_SPEC.format(priority=0, cpu=1).replace("{resourceClaims", "{restartPolicy: Never, resourceClaims")
    + "\n"
)
OPERATIONS = "---\nkind: Scenario\nspec:\n  operations:\n"


def pod(name: str, *, priority: int = 0, cpu: int = 1) -> str:
    """Return a pod that claims a device by the template."""
    spec = POD_SPEC.format(priority=priority, cpu=cpu)
    return f"---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {name}}}\nspec: {spec}\n"


def run(text: str) -> tuple[V1_37Simulation, list[tuple[str, str | None]]]:
    """Return a finished simulation, and each cycle's pod and node."""
    simulation = simulate(load(text))
    assert isinstance(simulation, V1_37Simulation)
    return simulation, [(cycle.pod, cycle.node) for cycle in simulation]


def claims(simulation: V1_37Simulation) -> dict[str, list[str]]:
    """Return the devices of each claim, by the owning pod."""
    out = {}
    for claim in simulation.run.cluster.list("ResourceClaim"):
        results = ((claim.get("status") or {}).get("allocation") or {}).get("devices", {}).get("results", [])
        out[claim["metadata"]["ownerReferences"][0]["name"]] = [one["device"] for one in results]
    return out


def test_two_pods_of_a_job_compete_for_one_device() -> None:
    """Each has a claim of its own; the first gets the device, the second waits for it."""
    simulation, cycles = run(HEAD + TEMPLATE + JOB)
    (first, node), (second, nowhere) = cycles
    assert (node, nowhere) == ("n1", None)
    assert claims(simulation) == {first.partition("/")[2]: ["gpu-0"], second.partition("/")[2]: []}
    record = release_record(list(simulate(load(HEAD + TEMPLATE + JOB)))[1])
    assert record is not None
    message = record.attempts[0].document()["message"]
    assert message.startswith("0/1 nodes are available: 1 cannot allocate all claims.")


def test_a_deleted_pod_frees_its_device_for_the_one_that_waits() -> None:
    """Its claim is deallocated and deleted; the deallocation is the event that wakes the other pod."""
    delete = "  - {step: 1, deleteOperation: {typeMeta: {kind: Pod}, objectMeta: {name: a}}}\n"
    simulation, cycles = run(HEAD + TEMPLATE + pod("a") + pod("b") + OPERATIONS + delete)
    assert cycles == [("default/a", "n1"), ("default/b", None), ("default/b", "n1")]
    assert claims(simulation) == {"b": ["gpu-0"]}
    *_, last = simulate(load(HEAD + TEMPLATE + pod("a") + pod("b") + OPERATIONS + delete))
    woken = release_record(last)
    assert woken is not None
    moves = [(move["event"], move["to"]) for move in woken.moves if move["to"]]
    assert moves == [("resource.k8s.io/ResourceClaimUpdate", "backoff")]


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_a_pod_that_ends_frees_its_device(phase: str) -> None:
    """Its claim is deleted although the pod is still there."""
    ended = (
        "  - {step: 1, patchOperation: {typeMeta: {kind: Pod}, objectMeta: {name: a}, "
        f"patch: {{status: {{phase: {phase}}}}}}}}}\n"
    )
    simulation, cycles = run(HEAD + TEMPLATE + pod("a") + pod("b") + OPERATIONS + ended)
    assert cycles[2:] == [("default/b", "n1")]
    assert claims(simulation) == {"b": ["gpu-0"]}


def test_a_victim_frees_its_device() -> None:
    """Preemption is for cpu; the victim's claim goes with it, and the device is free for a later pod."""
    high = (
        "  - step: 1\n    createOperation:\n      object:\n        apiVersion: v1\n        kind: Pod\n"
        "        metadata: {name: high}\n        spec: {priority: 9, containers: "
        '[{name: c, image: i, resources: {requests: {cpu: "2"}}}]}\n'
    )
    simulation, cycles = run(
        HEAD + TEMPLATE + pod("victim", cpu=3) + pod("next", priority=-1) + OPERATIONS + high
    )
    assert simulation.deleted == ["default/victim"]
    assert sorted(cycles[-2:]) == [("default/high", "n1"), ("default/next", "n1")]
    assert claims(simulation) == {"next": ["gpu-0"]}


def test_a_pod_that_is_created_later_is_gated_until_its_claim_is_made() -> None:
    """The controller answers its creation: a claim, then a status, whose change lets it into the queue."""
    body = yaml.safe_load(pod("late"))
    create = [{"id": "c", "step": {"major": 1}, "createOperation": {"object": body}}]
    documents = [*yaml.safe_load_all(HEAD + TEMPLATE), {"kind": "Scenario", "spec": {"operations": create}}]
    simulation = simulate(load_documents(documents))
    (cycle,) = simulation
    assert cycle.node == "n1"
    record = release_record(cycle)
    assert record is not None
    assert [(move["event"], move["to"]) for move in record.moves] == [
        ("resource.k8s.io/ResourceClaimAdd", None),
        ("TargetPodUpdatePodGeneratedResourceClaim", "active"),
    ]


def test_a_pod_waits_for_a_template_that_is_missing() -> None:
    """It is never tried, and reported why in the controller's words; the template lets it in."""
    simulation, cycles = run(HEAD + pod("p"))
    assert cycles == []
    reported = untried_because(simulation.run, "default/p", simulation.claims.problems)
    assert reported == (
        "not tried: DynamicResources keeps it out of the queue until a controller has made its ResourceClaim "
        'from ResourceClaimTemplate gpus (PodResourceClaim gpu: resource claim template "gpus": '
        'resourceclaimtemplate.resource.k8s.io "gpus" not found)'
    )
    (template,) = yaml.safe_load_all(TEMPLATE)
    create = [{"id": "c", "step": {"major": 1}, "createOperation": {"object": template}}]
    documents = [*yaml.safe_load_all(HEAD + pod("p")), {"kind": "Scenario", "spec": {"operations": create}}]
    placed = simulate(load_documents(documents))
    assert [(cycle.pod, cycle.node) for cycle in placed] == [("default/p", "n1")]
    assert isinstance(placed, V1_37Simulation)
    assert placed.claims.problems == {}


def test_a_claim_that_is_deleted_is_made_again() -> None:
    """The pod still needs it."""
    simulation, _ = run(HEAD + TEMPLATE + pod("a") + pod("b"))
    name = next(
        one["metadata"]["name"]
        for one in simulation.run.cluster.list("ResourceClaim")
        if one["metadata"]["name"].startswith("b-")
    )
    simulation.run.write(simulation.run.cluster.delete("ResourceClaim", "default", name))
    simulation.claims.lose("ResourceClaim", f"default/{name}")
    assert claims(simulation) == {"a": ["gpu-0"], "b": []}


def test_the_end_of_a_run_can_be_read_again() -> None:
    """Pods keep the claims that were made for them, with their devices: nothing is left to decide."""
    simulation, cycles = run(HEAD + TEMPLATE + JOB)
    documents = [dict(one) for one in ending_documents(simulation)]
    settings = {"apiVersion": "podstep/v1", "kind": "SimulationSettings", "scheduler": "v1.37"}
    again = simulate(load_documents([*documents, settings]))
    assert [(cycle.pod, cycle.node) for cycle in again] == [cycles[1]]
    assert isinstance(again, V1_37Simulation)
    assert claims(again) == claims(simulation)


def test_a_copy_goes_on_with_its_own_claims() -> None:
    """A fork's deletions free devices in the fork alone, and a replay reaches the same claims."""
    delete = "  - {step: 1, deleteOperation: {typeMeta: {kind: Pod}, objectMeta: {name: a}}}\n"
    scenario = load(HEAD + TEMPLATE + pod("a") + pod("b") + OPERATIONS + delete)
    whole = simulate(scenario)
    list(whole)
    half = simulate(scenario, trace=False)
    half.replay(whole.decisions[:2])
    fork = half.fork(trace=True)
    list(fork)
    assert isinstance(half, V1_37Simulation)
    assert isinstance(fork, V1_37Simulation)
    assert (claims(fork), claims(half)) == ({"b": ["gpu-0"]}, {"a": ["gpu-0"], "b": []})


def test_a_claim_of_another_pod_does_not_serve() -> None:
    """A status may name a claim that the pod does not own: the scheduler refuses it by name."""
    status = "status: {resourceClaimStatuses: [{name: gpu, resourceClaimName: theirs}]}\n"
    claim = (
        "---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: theirs}\n"
        "spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}\n"
    )
    simulation, cycles = run(HEAD + claim + pod("p") + status)
    assert cycles == []
    reported = simulation.run.scheduling.schedule(simulation.run.cluster.pods["default/p"]).document()
    assert reported["preFilter"]["DynamicResources"]["reasons"] == [
        "ResourceClaim default/theirs was not created for Pod default/p (Pod is not owner)",
    ]


ALLOCATED = (
    "allocation: {devices: {results: [{request: r, driver: gpu.example.com, pool: n1, device: gpu-0}]}}"
)
OWN = """---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: own, finalizers: [resource.kubernetes.io/delete-protection]}
spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}
"""


def standing(name: str, node: str = "n1") -> str:
    """Return a pod that uses the claim ``own`` and is on a node unless ``node`` is empty."""
    spec = "resourceClaims: [{name: gpu, resourceClaimName: own}], containers: [{name: c, image: i}]"
    where = f"nodeName: {node}, " if node else ""
    return f"---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {name}}}\nspec: {{{where}{spec}}}\n"


def users(simulation: V1_37Simulation) -> list[str]:
    """Return for whom the claim ``own`` is reserved."""
    claim = simulation.run.cluster.objects["ResourceClaim"]["default/own"]
    return [one["name"] for one in (claim.get("status") or {}).get("reservedFor") or ()]


@pytest.mark.parametrize(
    ("text", "reserved"),
    [
        (OWN + f"status: {{{ALLOCATED}}}\n" + standing("a") + standing("b"), ["a", "b"]),
        (OWN + f"status: {{{ALLOCATED}, reservedFor: [{{name: a, uid: ua}}]}}\n" + standing("b"), ["a", "b"]),
        (OWN + standing("a"), []),
        (OWN + standing("a") + standing("b", ""), ["b", "a"]),
    ],
    ids=["from the start", "after others", "nothing allocated", "allocated later"],
)
def test_allocated_claims_are_reserved_for_pods_on_nodes(text: str, reserved: list[str]) -> None:
    """Though the scheduler has not bound them; it allocates no claim for a pod that has a node."""
    assert users(run(HEAD + text)[0]) == reserved


def test_a_claim_that_a_pod_on_a_node_uses_is_kept_when_another_user_goes() -> None:
    """Its device is not given to others; it is free after the last."""
    gone = "  - {step: 1, deleteOperation: {typeMeta: {kind: Pod}, objectMeta: {name: b}}}\n"
    held = HEAD + OWN + f"status: {{{ALLOCATED}}}\n" + standing("a") + standing("b") + OPERATIONS + gone
    simulation, _ = run(held)
    assert users(simulation) == ["a"]
    simulation, _ = run(held + gone.replace("name: b", "name: a").replace("step: 1", "step: 2"))
    claim = simulation.run.cluster.objects["ResourceClaim"]["default/own"]
    assert "allocation" not in claim["status"]
