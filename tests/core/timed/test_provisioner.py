"""Claims that wait for their first pod and a provisioner: volumes made where the scheduler puts the pod."""

from __future__ import annotations

import pytest

from scheduler_core import TimedSimulation, load, simulate
from scheduler_core.kubernetes.model import StorageClass
from tests.core.timed.parts import VIRTUAL, ended, node

CLASS = """
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {{name: disk}}
provisioner: {provisioner}
{rest}
"""
CLAIM = """
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [ReadWriteOnce], storageClassName: disk, resources: {requests: {storage: 1Gi}}}
"""
ZONE = "topology.kubernetes.io/zone"
LATE = "volumeBindingMode: WaitForFirstConsumer"


def storage_class(rest: str = LATE, provisioner: str = "csi.example.com") -> str:
    """Return a class's manifest."""
    return CLASS.format(provisioner=provisioner, rest=rest)


def topologies(*zones: str) -> str:
    """Return a class that waits and provisions in some zones alone."""
    label = f"{{key: {ZONE}, values: [{', '.join(zones)}]}}"
    return f"{LATE}\nallowedTopologies: [{{matchLabelExpressions: [{label}]}}]"


def user(name: str, cpu: int = 1) -> str:
    """Return a pod that mounts the claim."""
    return (
        f"apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}}}\n"
        f"spec: {{containers: [{{name: c, resources: {{requests: {{cpu: {cpu}}}}}}}], "
        "volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]}\n"
    )


def placed(*texts: str) -> tuple[TimedSimulation, dict[str, str]]:
    """Run to the end; return the simulation and where the pods are."""
    made, _ = ended(VIRTUAL, *texts)
    return made, made.placement()


def host(name: str, zone: str, cpu: int = 4) -> str:
    """Return a node in a zone."""
    return node(name, cpu, None, **{ZONE: zone})


NODES = (host("a", "east"), host("b", "west", 8))


def test_a_volume_is_made_for_the_node_that_the_scheduler_chose() -> None:
    """The claim gets a new volume that the zone of the pod's node can use, and names the node."""
    made, places = placed(*NODES, storage_class(), CLAIM, user("p"))
    claim = made.cluster.storage.claims["default/data"]
    assert places["default/p"]
    assert claim.volume_name.startswith("pvc-")
    assert claim.meta.annotations["volume.kubernetes.io/selected-node"] == places["default/p"]
    (term,) = made.cluster.storage.volumes[claim.volume_name].node_affinity or ()
    (zone,) = term.match_expressions
    assert zone.values == (made.cluster.nodes[places["default/p"]].meta.labels[ZONE],)


def test_a_volume_made_in_a_zone_keeps_later_pods_there() -> None:
    """The second pod that mounts the claim follows it into its zone, though the other has more room."""
    _, places = placed(
        host("a", "east", 2), host("b", "west", 2), storage_class(topologies("east")),
        CLAIM, user("p"), user("q"), user("r"),
    )  # fmt: skip
    assert [places[f"default/{name}"] for name in "pqr"] == ["a", "a", ""]


def test_allowed_topologies_keep_the_pod_off_other_nodes() -> None:
    """A node outside of them finds no volume, as the scheduler words it."""
    _, places = placed(*NODES, storage_class(topologies("east")), CLAIM, user("p"))
    assert places["default/p"] == "a"
    made, cycles = ended(VIRTUAL, *NODES, storage_class(topologies("north")), CLAIM, user("p"))
    assert made.placement()["default/p"] == ""
    assert "2 node(s) didn't find available persistent volumes to bind" in (cycles[0].message or "")


def test_without_a_provisioner_a_volume_has_to_be_there() -> None:
    """kubernetes.io/no-provisioner makes none."""
    _, places = placed(*NODES, storage_class(provisioner="kubernetes.io/no-provisioner"), CLAIM, user("p"))
    assert places["default/p"] == ""


def test_a_volume_that_is_there_is_taken_before_one_is_made() -> None:
    """A free volume of the class that the node may use is bound, and nothing is provisioned."""
    volume = (
        "apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: free}\nspec: {capacity: {storage: 1Gi}, "
        "accessModes: [ReadWriteOnce], storageClassName: disk, hostPath: {path: /}}\n"
    )
    made, places = placed(*NODES, storage_class(), CLAIM, volume, user("p"))
    assert places["default/p"]
    assert made.cluster.storage.claims["default/data"].volume_name == "free"
    assert list(made.cluster.storage.volumes) == ["free"]


def test_the_event_says_that_a_volume_was_made() -> None:
    """The run tells of it as of any other change by the control plane."""
    made, cycles = ended(VIRTUAL, *NODES, storage_class(), CLAIM, user("p"))
    assert made.rest is not None
    reported = [h.what for c in cycles for h in (*c.happenings, *c.consequences)]
    assert "ProvisioningSucceeded" in [*reported, *(h.what for h in made.rest.happenings)]


@pytest.mark.parametrize("time", ["", VIRTUAL])
def test_a_class_without_a_binding_mode_binds_at_once(time: str) -> None:
    """The API server's default is Immediate, wherever time runs or not."""
    scenario = load(f"{time}\n---\n{storage_class('')}")
    (found,) = [obj for obj in scenario.objects if isinstance(obj, StorageClass)]
    assert found.binding_mode == "Immediate"


def test_an_immediate_class_provisions_inside_its_topologies() -> None:
    """Without a node to go by the first topology is taken, and the pod has to follow."""
    rest = topologies("east").replace(LATE, "volumeBindingMode: Immediate")
    _, places = placed(*NODES, storage_class(rest), CLAIM, user("p"))
    assert places["default/p"] == "a"


NOT_MADE = {
    "waits": (LATE, "WaitForFirstConsumer"),
    "at once": ("volumeBindingMode: Immediate", "Immediate"),
}


@pytest.mark.parametrize("case", NOT_MADE)
def test_where_time_stands_still_nobody_provisions_and_a_warning_says_so(case: str) -> None:
    """v1.11's loop makes no volume: the claim, its class and the remedy are named."""
    rest, mode = NOT_MADE[case]
    text = "\n---\n".join([*NODES, storage_class(rest), CLAIM, user("p")])
    (warning,) = [w.message for w in load(text, presumed="v1.11").warnings if "provision" in w.message]
    assert all(part in warning for part in ("default/data", "disk", mode, "time: virtual"))
    assert not [w for w in load(f"{VIRTUAL}\n---\n{text}").warnings if "provision" in w.message]


def test_the_claims_of_a_stateful_set_are_counted_at_its_place() -> None:
    """Claims that a template makes are mentioned once, with their number."""
    owner = (
        "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: db}\nspec:\n  replicas: 3\n"
        "  selector: {matchLabels: {app: db}}\n"
        "  template: {metadata: {labels: {app: db}}, spec: {containers: [{name: c}]}}\n"
        "  volumeClaimTemplates:\n  - metadata: {name: data}\n    spec: {accessModes: [ReadWriteOnce], "
        "storageClassName: disk, resources: {requests: {storage: 1Gi}}}\n"
    )
    scenario = load("\n---\n".join([*NODES, storage_class(), owner]), presumed="v1.11")
    (warning,) = [w for w in scenario.warnings if "provision" in w.message]
    assert "claim default/data-db-0 and 2 more get no volume" in warning.message


SERVED = {
    "a class says so": ("volumeBindingMode: Immediate", "", ""),
    "a class says nothing": ("", "", ""),
    "the dump says that it was not": ("", "status: {phase: Pending}\n", "unbound immediate"),
    "nobody provisions for the class": ("provisioner: kubernetes.io/no-provisioner", "", "unbound immediate"),
}


@pytest.mark.parametrize("case", SERVED)
def test_a_claim_that_is_not_to_wait_has_its_volume_before_its_pod_is_tried(case: str) -> None:
    """Without virtual time too; a claim that its cluster left pending stays so, with a warning."""
    rest, status, refused = SERVED[case]
    given = storage_class(rest).replace("provisioner: csi.example.com\nprovisioner", "provisioner")
    scenario = load("\n---\n".join([*NODES, given, CLAIM + status, user("p")]))
    (cycle,) = simulate(scenario)
    assert refused in cycle.message if refused else cycle.node
    warned = [one.message for one in scenario.warnings if "gets no volume" in one.message]
    assert bool(warned) is bool(status)
