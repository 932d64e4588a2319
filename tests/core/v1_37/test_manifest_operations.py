"""Operations on kinds without a typed object: ResourceClaim, ResourceSlice, CSINode and their like."""

from __future__ import annotations

import pytest

from scheduler_core import BundleError, load, simulate
from scheduler_core.compare.results.final_manifests import ending_documents
from scheduler_core.run.v1_37.simulation import V1_37Simulation
from scheduler_core.scenario.history import Moment, manifest_at, objects_at
from tests.core.v1_37.parts import NODE_AND_GPU_CLASS

FULL = "0/1 nodes are available: 1 cannot allocate all claims"
UNHELPFUL = "1 Preemption is not helpful for scheduling"
HEAD = (
    NODE_AND_GPU_CLASS
    + """---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: one, namespace: default}
spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}
---
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  resourceClaims: [{name: one, resourceClaimName: one}]
  containers: [{name: c, image: i, resources: {claims: [{name: one}]}}]
---
kind: Scenario
spec:
  operations:
"""
)
SLICE = """
  - step: 1
    createOperation:
      object:
        apiVersion: resource.k8s.io/v1
        kind: ResourceSlice
        metadata: {name: s1}
        spec:
          driver: gpu.example.com
          nodeName: n1
          pool: {name: n1, generation: 1, resourceSliceCount: 1}
          devices: [{name: gpu-0}]
"""


def outcomes(text: str) -> list[tuple[str, str | None, str | None]]:
    """Return each cycle's step, node and message."""
    return [(cycle.step, cycle.node, cycle.message) for cycle in simulate(load(text), trace=False)]


def test_a_new_slice_wakes_the_pod_that_claims_a_device() -> None:
    """The pod waits until the ResourceSlice is created, and is allocated its device then."""
    simulation = simulate(load(HEAD + SLICE))
    reported = [(cycle.step, cycle.node, cycle.message) for cycle in simulation]
    assert reported == [
        ("1.1", None, f"{FULL}. preemption: 0/1 nodes are available: {UNHELPFUL}."),
        ("2.1", "n1", None),
    ]
    assert isinstance(simulation, V1_37Simulation)
    claim = simulation.run.cluster.get("ResourceClaim", "default", "one")
    assert claim is not None
    assert claim["status"]["allocation"]["devices"]["results"][0]["device"] == "gpu-0"
    last = {(one["kind"], one["metadata"]["name"]): one for one in ending_documents(simulation)}
    assert last["ResourceClaim", "one"] == claim
    assert ("ResourceSlice", "s1") in last


@pytest.mark.parametrize("patched_in", ["v1", "v1beta1"])
def test_a_patch_is_of_the_version_that_it_names(patched_in: str) -> None:
    """A claim is kept in the version that was given, until a patch is of another one."""
    asked = "{name: r, deviceClassName: gpu}"
    request = asked if patched_in == "v1beta1" else "{name: r, exactly: {deviceClassName: gpu}}"
    given = HEAD.replace(
        "{name: r, exactly: {deviceClassName: gpu}}", "{name: r, deviceClassName: gpu, count: 2}"
    )
    given = given.replace(
        "resource.k8s.io/v1\nkind: ResourceClaim", "resource.k8s.io/v1beta1\nkind: ResourceClaim"
    )
    patch = f"""
  - step: 1
    patchOperation:
      typeMeta: {{apiVersion: resource.k8s.io/{patched_in}, kind: ResourceClaim}}
      objectMeta: {{name: one}}
      patchType: merge
      patch: {{spec: {{devices: {{requests: [{request}]}}}}}}
"""
    scenario = load(given + patch + SLICE.replace("step: 1", "step: 2"))
    simulation = simulate(scenario)
    assert [cycle.node for cycle in simulation] == [None, "n1"]
    last = {(one["kind"], one["metadata"]["name"]): one for one in ending_documents(simulation)}
    claim = last["ResourceClaim", "one"]
    assert claim["apiVersion"] == f"resource.k8s.io/{patched_in}"
    assert ("exactly" in claim["spec"]["devices"]["requests"][0]) is (patched_in == "v1")
    shown = manifest_at(scenario, ("ResourceClaim", "default/one"), Moment(3, 0))
    assert shown is not None
    assert shown["spec"] == claim["spec"]


def test_a_patch_of_a_version_that_is_not_read_is_refused() -> None:
    """By its name."""
    patch = """
  - step: 1
    patchOperation:
      typeMeta: {apiVersion: resource.k8s.io/v1alpha1, kind: ResourceClaim}
      objectMeta: {name: one}
      patch: {spec: {}}
"""
    with pytest.raises(BundleError, match="v1alpha1 is not read: write"):
        load(HEAD + patch)


def test_a_claim_that_is_deleted_and_created_again() -> None:
    """Without its claim the pod is kept out of the queue; with it, it is tried."""
    claim = """
  - step: 1
    deleteOperation: {typeMeta: {kind: ResourceClaim}, objectMeta: {name: one}}
  - step: 2
    createOperation:
      object:
        apiVersion: resource.k8s.io/v1
        kind: ResourceClaim
        metadata: {name: one}
        spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}
""" + SLICE.replace("step: 1", "step: 3")
    assert [step for step, node, _ in outcomes(HEAD + claim) if node == "n1"] == ["4.1"]


def test_a_patch_is_of_the_object_at_its_step() -> None:
    """A raised limit of a CSINode lets the second pod with a volume in; the history shows the patch."""
    text = (
        HEAD.partition("---\napiVersion: resource")[0]
        + """---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: fast}
provisioner: csi.example.com
volumeBindingMode: WaitForFirstConsumer
---
apiVersion: storage.k8s.io/v1
kind: CSINode
metadata: {name: n1}
spec: {drivers: [{name: csi.example.com, nodeID: n1, allocatable: {count: 1}}]}
"""
        + "".join(
            f"""---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {{name: {name}}}
spec: {{accessModes: [ReadWriteOnce], storageClassName: fast, resources: {{requests: {{storage: 1Gi}}}}}}
---
apiVersion: v1
kind: Pod
metadata: {{name: {name}}}
spec:
  containers: [{{name: c, image: i}}]
  volumes: [{{name: v, persistentVolumeClaim: {{claimName: {name}}}}}]
"""
            for name in ("a", "b")
        )
        + """---
kind: Scenario
spec:
  operations:
  - step: 1
    patchOperation:
      typeMeta: {kind: CSINode}
      objectMeta: {name: n1}
      patchType: merge
      patch: {spec: {drivers: [{name: csi.example.com, nodeID: n1, allocatable: {count: 2}}]}}
"""
    )
    full = "0/1 nodes are available: 1 node(s) exceed max volume count."
    reported = outcomes(text)
    assert reported[0] == ("1.1", "n1", None)
    assert reported[1][:2] == ("1.2", None)
    assert (reported[1][2] or "").startswith(full)
    assert reported[-1] == ("2.1", "n1", None)
    scenario = load(text)
    assert ("CSINode", "n1") in objects_at(scenario, Moment(2, 0))
    manifest = manifest_at(scenario, ("CSINode", "n1"), Moment(2, 0))
    assert manifest is not None
    assert manifest["spec"]["drivers"][0]["allocatable"]["count"] == 2


@pytest.mark.parametrize(
    ("operation", "path", "part"),
    [
        (
            "deleteOperation: {typeMeta: {kind: ResourceClaim}, objectMeta: {name: oen}}",
            "spec.operations[0].deleteOperation.objectMeta.name",
            "there is no ResourceClaim default/oen at this step: did you mean 'default/one'?",
        ),
        (
            (
                "createOperation: {object: {apiVersion: resource.k8s.io/v1, kind: DeviceClass, "
                "metadata: {name: gpu}}}"
            ),
            "spec.operations[0].createOperation.object.metadata.name",
            "DeviceClass gpu exists already at this step",
        ),
        (
            (
                "createOperation: {object: {apiVersion: resource.k8s.io/v1, kind: ResourceSlice, "
                "metadata: {name: s}, spec: 5}}"
            ),
            "spec.operations[0].createOperation.object.spec",
            "must be an object",
        ),
        (
            (
                "createOperation: {object: {apiVersion: storage.k8s.io/v1, kind: CSIStorageCapacity, "
                "metadata: {name: s}, capacity: much}}"
            ),
            "spec.operations[0].createOperation.object.capacity",
            "must be a quantity",
        ),
        (
            (
                "patchOperation: {typeMeta: {kind: DeviceClass}, objectMeta: {name: gpu}, "
                "patch: {metadata: {name: other}}}"
            ),
            "spec.operations[0].patchOperation.patch",
            "must not change the kind, the name or the namespace of DeviceClass gpu",
        ),
    ],
)
def test_what_cannot_land_is_an_error_with_its_place(operation: str, path: str, part: str) -> None:
    """As of every other kind."""
    with pytest.raises(BundleError) as caught:
        load(f"{HEAD}  - step: 1\n    {operation}\n")
    (problem,) = caught.value.problems
    assert (problem.path, problem.line is not None) == (path, True)
    assert part in problem.message


def test_another_release_ignores_them_with_a_warning() -> None:
    """v1.11 reads none of these kinds."""
    scenario = load((HEAD + SLICE).replace("v1.37", "v1.11"))
    assert not scenario.operations
    reported = [problem.message for problem in scenario.warnings]
    assert "the operation on a ResourceSlice has no effect: scheduling does not read this kind" in reported
