"""Each predicate as a table: a cluster, a pod, and the reasons why a node does not fit."""

from __future__ import annotations

from typing import Any

from tests.core.engine.builders import affinity, node, node_affinity, obj, pod, simulate
from tests.rows import each_row

READY = {"type": "Ready", "status": "True"}
NOT_READY = "node(s) were not ready"
NO_PORT = "node(s) didn't have free ports for the requested pod ports"
NO_SELECTOR = "node(s) didn't match node selector"
TAINTED = "node(s) had taints that the pod didn't tolerate"
NO_DISK = "node(s) had no available disk"
TOO_MANY_VOLUMES = "node(s) exceed max volume count"
INTER_POD = "node(s) didn't match pod affinity/anti-affinity"
REFUSED = "node(s) didn't satisfy existing pods anti-affinity rules"
NO_COMPANION = "node(s) didn't match pod affinity rules"
RIVAL = "node(s) didn't match pod anti-affinity rules"

ZONE = "failure-domain.beta.kubernetes.io/zone"
A, B = {"zone": "a", "kubernetes.io/hostname": "n"}, {"zone": "b", "kubernetes.io/hostname": "m"}
WEB = {"labels": {"app": "web"}}


def claim(name: str, volume: str = "", storage_class: str | None = None) -> dict[str, Any]:
    """Make a claim, bound if it names a volume."""
    spec: dict[str, Any] = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    spec |= {"volumeName": volume} if volume else {}
    spec |= {"storageClassName": storage_class} if storage_class else {}
    return obj("PersistentVolumeClaim", name, spec=spec)


def volume(name: str, labels: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    """Make a PersistentVolume."""
    spec = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], **spec}
    return obj("PersistentVolume", name, metadata={"labels": labels or {}}, spec=spec)


def claims(*names: str) -> list[dict[str, Any]]:
    """Make the volumes of a pod that mounts claims."""
    return [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in names]


def gce(name: str, *, read_only: bool = False) -> dict[str, Any]:
    """Make a volume of a GCE disk."""
    return {"name": f"v-{name}", "gcePersistentDisk": {"pdName": name, "readOnly": read_only}}


def ebs(name: str, *, read_only: bool = False) -> dict[str, Any]:
    """Make a volume of an EBS disk."""
    return {"name": f"v-{name}", "awsElasticBlockStore": {"volumeID": name, "readOnly": read_only}}


def rbd(*monitors: str, image: str = "i") -> dict[str, Any]:
    """Make a volume of a Ceph image."""
    return {"name": "r", "rbd": {"monitors": list(monitors), "image": image}}


def small(**amounts: str) -> dict[str, Any]:
    """Make the one node n with little room."""
    return node("n", allocatable={"cpu": "1", "memory": "1Gi", "pods": "2", **amounts})


def waiting_class() -> dict[str, Any]:
    """Make a class whose claims wait for their first pod."""
    return obj(
        "StorageClass", "wait", "storage.k8s.io/v1", provisioner="p", volumeBindingMode="WaitForFirstConsumer"
    )


def ports(*triples: tuple[str, str, int]) -> list[dict[str, Any]]:
    """Make container ports of (ip, protocol, port)."""
    return [{"hostIP": ip, "protocol": protocol, "hostPort": port} for ip, protocol, port in triples]


def expression(key: str, operator: str, *values: str) -> dict[str, Any]:
    """Make one match expression."""
    return {"key": key, "operator": operator, "values": list(values)}


FITS: list[str] = []

# what the row says: the cluster's objects, the incoming pod, the reasons on node n
CASES: dict[str, tuple[list[dict[str, Any]], dict[str, Any], list[str]]] = {
    "a node without conditions passes": ([node("n")], pod("p"), FITS),
    "a node that is not ready fails": (
        [node("n", conditions=[READY | {"status": "Unknown"}])],
        pod("p"),
        [NOT_READY],
    ),
    "conditions are reported in the node's order, unschedulable last": (
        [
            node(
                "n",
                unschedulable=True,
                conditions=[{"type": "OutOfDisk", "status": "True"}, READY | {"status": "False"}],
            )
        ],
        pod("p"),
        ["node(s) were out of disk space", NOT_READY, "node(s) were unschedulable"],
    ),
    "an unavailable network fails": (
        [node("n", conditions=[{"type": "NetworkUnavailable", "status": "True"}])],
        pod("p"),
        ["node(s) had unavailable network"],
    ),
    "exactly what is free fits": ([small()], pod("p", {"cpu": "1", "memory": "1Gi"}), FITS),
    "one millicore too much does not": ([small()], pod("p", {"cpu": "1001m"}), ["Insufficient cpu"]),
    "the number of pods is limited": (
        [small(pods="1"), pod("a", on="n")],
        pod("p"),
        ["Insufficient pods"],
    ),
    "all that is short is named, in order": (
        [small()],
        pod(
            "p",
            {
                "ephemeral-storage": "1",
                "memory": "2Gi",
                "cpu": "2",
                "example.com/b": "1",
                "example.com/a": "1",
            },
        ),
        [
            "Insufficient cpu",
            "Insufficient memory",
            "Insufficient ephemeral-storage",
            "Insufficient example.com/a",
            "Insufficient example.com/b",
        ],
    ),
    "on an overcommitted node a pod that asks only for cpu fails on memory": (
        [small(), pod("a", {"memory": "2Gi"}, on="n")],
        pod("p", {"cpu": "1m"}),
        ["Insufficient memory"],
    ),
    "a pod that asks for nothing fits on an overcommitted node": (
        [small(), pod("a", {"memory": "2Gi"}, on="n")],
        pod("p"),
        FITS,
    ),
    "a scalar entry of zero makes every resource checked": (
        [small(), pod("a", {"memory": "2Gi"}, on="n")],
        pod("p", {"example.com/gpu": "0"}),
        ["Insufficient memory"],
    ),
    "init containers of a running pod use nothing": (
        [small(), pod("a", on="n", initContainers=[{"name": "i", "resources": {"requests": {"cpu": "1"}}}])],
        pod("p", {"cpu": "1"}),
        FITS,
    ),
    "the largest init container of the incoming pod counts": (
        [small()],
        pod("p", {"cpu": "1m"}, initContainers=[{"name": "i", "resources": {"requests": {"cpu": "2"}}}]),
        ["Insufficient cpu"],
    ),
    "a finished pod uses nothing": (
        [small(), pod("a", {"cpu": "1"}, on="n", phase="Succeeded")],
        pod("p", {"cpu": "1"}),
        FITS,
    ),
    "a pod that is being deleted still counts": (
        [small(), pod("a", {"cpu": "1"}, on="n", deletionTimestamp="2018-06-01T00:00:00Z")],
        pod("p", {"cpu": "1"}),
        ["Insufficient cpu"],
    ),
    "a host port in use fails": (
        [node("n"), pod("a", on="n", ports=[{"hostPort": 80}])],
        pod("p", ports=[{"hostPort": 80}]),
        [NO_PORT],
    ),
    "the same port of another protocol is free": (
        [node("n"), pod("a", on="n", ports=[{"hostPort": 80}])],
        pod("p", ports=ports(("", "UDP", 80))),
        FITS,
    ),
    "two addresses can share a port": (
        [node("n"), pod("a", on="n", ports=ports(("10.0.0.1", "TCP", 80)))],
        pod("p", ports=ports(("10.0.0.2", "TCP", 80))),
        FITS,
    ),
    "any address conflicts with each": (
        [node("n"), pod("a", on="n", ports=ports(("10.0.0.1", "TCP", 80)))],
        pod("p", ports=[{"hostPort": 80}]),
        [NO_PORT],
    ),
    "a node selector must match": (
        [node("n", labels=A)],
        pod("p", nodeSelector={"zone": "b"}),
        [NO_SELECTOR],
    ),
    "In matches one of its values": (
        [node("n", labels=A)],
        pod("p", affinity=node_affinity(expression("zone", "In", "a", "b"))),
        FITS,
    ),
    "NotIn matches where the label is missing": (
        [node("n")],
        pod("p", affinity=node_affinity(expression("zone", "NotIn", "a"))),
        FITS,
    ),
    "DoesNotExist fails where the label exists": (
        [node("n", labels=A)],
        pod("p", affinity=node_affinity(expression("zone", "DoesNotExist"))),
        [NO_SELECTOR],
    ),
    "Gt compares integers": (
        [node("n", labels={"gen": "010"})],
        pod("p", affinity=node_affinity(expression("gen", "Gt", "9"))),
        FITS,
    ),
    "Gt fails where the label is no integer": (
        [node("n", labels={"gen": "x"})],
        pod("p", affinity=node_affinity(expression("gen", "Gt", "1"))),
        [NO_SELECTOR],
    ),
    "an invalid value makes its term match nothing": (
        [node("n", labels={"gen": "1"})],
        pod("p", affinity=node_affinity(expression("gen", "Gt", "-10"))),
        [NO_SELECTOR],
    ),
    "a term without expressions matches nothing": (
        [node("n")],
        pod("p", affinity=node_affinity()),
        [NO_SELECTOR],
    ),
    "a taint that is not tolerated fails": ([node("n", taints=["k=v:NoSchedule"])], pod("p"), [TAINTED]),
    "NoExecute counts too": ([node("n", taints=["k=v:NoExecute"])], pod("p"), [TAINTED]),
    "PreferNoSchedule does not": ([node("n", taints=["k=v:PreferNoSchedule"])], pod("p"), FITS),
    "an equal toleration helps": (
        [node("n", taints=["k=v:NoSchedule"])],
        pod("p", tolerations=[{"key": "k", "value": "v", "effect": "NoSchedule"}]),
        FITS,
    ),
    "one of another effect does not": (
        [node("n", taints=["k=v:NoSchedule"])],
        pod("p", tolerations=[{"key": "k", "value": "v", "effect": "NoExecute"}]),
        [TAINTED],
    ),
    "Exists without a key tolerates everything": (
        [node("n", taints=["k=v:NoSchedule", "l=w:NoExecute"])],
        pod("p", tolerations=[{"operator": "Exists"}]),
        FITS,
    ),
    "memory pressure keeps best-effort pods away": (
        [node("n", conditions=[{"type": "MemoryPressure", "status": "True"}])],
        pod("p"),
        ["node(s) had memory pressure"],
    ),
    "and only those": (
        [node("n", conditions=[{"type": "MemoryPressure", "status": "True"}])],
        pod("p", {"cpu": "1m"}),
        FITS,
    ),
    "an unknown pressure passes": (
        [node("n", conditions=[{"type": "DiskPressure", "status": "Unknown"}])],
        pod("p"),
        FITS,
    ),
    "disk pressure keeps every pod away": (
        [node("n", conditions=[{"type": "DiskPressure", "status": "True"}])],
        pod("p", {"cpu": "1m"}),
        ["node(s) had disk pressure"],
    ),
    "of a pressure listed twice the last counts": (
        [node("n", conditions=[{"type": "PIDPressure", "status": s} for s in ("False", "True")])],
        pod("p"),
        ["node(s) had pid pressure"],
    ),
    "a GCE disk is shared read-only": (
        [node("n"), pod("a", on="n", volumes=[gce("d", read_only=True)])],
        pod("p", volumes=[gce("d", read_only=True)]),
        FITS,
    ),
    "but not with a writer": (
        [node("n"), pod("a", on="n", volumes=[gce("d")])],
        pod("p", volumes=[gce("d", read_only=True)]),
        [NO_DISK],
    ),
    "an EBS disk is never shared": (
        [node("n"), pod("a", on="n", volumes=[ebs("d", read_only=True)])],
        pod("p", volumes=[ebs("d", read_only=True)]),
        [NO_DISK],
    ),
    "Ceph images conflict when their monitors overlap": (
        [node("n"), pod("a", on="n", volumes=[rbd("m1", "m2")])],
        pod("p", volumes=[rbd("m2", "m3")]),
        [NO_DISK],
    ),
    "and not when they do not": (
        [node("n"), pod("a", on="n", volumes=[rbd("m1")])],
        pod("p", volumes=[rbd("m2")]),
        FITS,
    ),
    "sixteen GCE disks fit on a node": (
        [node("n"), pod("a", on="n", volumes=[gce(f"d{i}") for i in range(15)])],
        pod("p", volumes=[gce("new")]),
        FITS,
    ),
    "seventeen do not": (
        [node("n"), pod("a", on="n", volumes=[gce(f"d{i}") for i in range(16)])],
        pod("p", volumes=[gce("new")]),
        [TOO_MANY_VOLUMES],
    ),
    "a claim without a volume counts for every kind, and cannot be bound": (
        [node("n"), claim("c", "gone"), pod("a", on="n", volumes=[gce(f"d{i}") for i in range(16)])],
        pod("p", volumes=claims("c")),
        [TOO_MANY_VOLUMES],
    ),
    "a volume's node affinity must match": (
        [
            node("n", labels=A),
            claim("c", "v"),
            volume(
                "v",
                nodeAffinity={
                    "required": {"nodeSelectorTerms": [{"matchExpressions": [expression("zone", "In", "b")]}]}
                },
            ),
        ],
        pod("p", volumes=claims("c")),
        ["node(s) had volume node affinity conflict"],
    ),
    "a waiting claim needs a free volume": (
        [node("n"), waiting_class(), claim("c", storage_class="wait")],
        pod("p", volumes=claims("c")),
        ["node(s) didn't find available persistent volumes to bind"],
    ),
    "a free volume of its class that is large enough will do": (
        [node("n"), waiting_class(), claim("c", storage_class="wait"), volume("v", storageClassName="wait")],
        pod("p", volumes=claims("c")),
        FITS,
    ),
    "one volume does not serve two claims": (
        [
            node("n"),
            waiting_class(),
            claim("c", storage_class="wait"),
            claim("d", storage_class="wait"),
            volume("v", storageClassName="wait"),
        ],
        pod("p", volumes=claims("c", "d")),
        ["node(s) didn't find available persistent volumes to bind"],
    ),
    "a volume of another zone fails": (
        [node("n", labels={ZONE: "a"}), claim("c", "v"), volume("v", {ZONE: "b__c"})],
        pod("p", volumes=claims("c")),
        ["node(s) had no available volume zone"],
    ),
    "one of several zones is enough": (
        [node("n", labels={ZONE: "a"}), claim("c", "v"), volume("v", {ZONE: "b__a"})],
        pod("p", volumes=claims("c")),
        FITS,
    ),
    "a node without zone and region is not asked": (
        [node("n"), claim("c", "v"), volume("v", {ZONE: "b"})],
        pod("p", volumes=claims("c")),
        FITS,
    ),
    "an existing pod's anti-affinity refuses its like in the same zone": (
        [node("n", labels=A), pod("a", on="n", **WEB, affinity=affinity("podAntiAffinity", app="web"))],
        pod("p", **WEB),
        [INTER_POD, REFUSED],
    ),
    "and nobody else": (
        [node("n", labels=A), pod("a", on="n", affinity=affinity("podAntiAffinity", app="web"))],
        pod("p", labels={"app": "db"}),
        FITS,
    ),
    "affinity needs a companion in the zone": (
        [node("n", labels=A), node("m", labels=B), pod("a", on="m", **WEB)],
        pod("p", affinity=affinity("podAffinity", app="web")),
        [INTER_POD, NO_COMPANION],
    ),
    "a pod that is its own companion may come first": (
        [node("n", labels=A)],
        pod("p", **WEB, affinity=affinity("podAffinity", app="web")),
        FITS,
    ),
    "but only first": (
        [node("n", labels=A), node("m", labels=B), pod("a", on="m", **WEB)],
        pod("p", **WEB, affinity=affinity("podAffinity", app="web")),
        [INTER_POD, NO_COMPANION],
    ),
    "anti-affinity avoids the zone of a rival": (
        [node("n", labels=A), pod("a", on="n", **WEB)],
        pod("p", affinity=affinity("podAntiAffinity", app="web")),
        [INTER_POD, RIVAL],
    ),
    "a rival in another namespace does not matter": (
        [node("n", labels=A), pod("a", on="n", namespace="other", **WEB)],
        pod("p", affinity=affinity("podAntiAffinity", app="web")),
        FITS,
    ),
}


@each_row("case", CASES)
def test_a_node_fits_or_says_why_not(case: str) -> None:
    """The default provider's predicates give node n exactly these reasons."""
    objects, incoming, reasons = CASES[case]
    cycle = simulate(*objects, incoming).step()
    assert cycle is not None
    assert cycle.matrix is not None
    column = list(cycle.nodes).index("n")
    found = [
        text for code in cycle.matrix.codes[:, column] if code > 0 for text in cycle.matrix.reasons[code]
    ]
    assert found == reasons
    assert (column in cycle.feasible.tolist()) == (not reasons)


ERRORS: dict[str, tuple[list[dict[str, Any]], dict[str, Any], str]] = {
    "no nodes": ([], pod("p"), "no nodes available to schedule pods"),
    "a claim that does not exist": (
        [node("n")],
        pod("p", volumes=claims("c")),
        'persistentvolumeclaim "c" not found',
    ),
    "a claim that waits for no pod and has no volume": (
        [node("n"), node("m"), claim("c")],
        pod("p", volumes=claims("c")),
        "pod has unbound PersistentVolumeClaims (repeated 2 times)",
    ),
    "a claim whose volume is gone": (
        [node("n"), claim("c", "v")],
        pod("p", volumes=claims("c")),
        'could not find v1.PersistentVolume "v"',
    ),
}


@each_row("case", ERRORS)
def test_an_attempt_can_end_in_an_error(case: str) -> None:
    """The attempt's message is the error, with how often nodes repeated it."""
    objects, incoming, message = ERRORS[case]
    cycle = simulate(*objects, incoming).step()
    assert cycle is not None
    assert (cycle.result, cycle.message) == ("error", message)
    assert cycle.feasible.tolist() == []


def test_the_last_term_of_an_existing_pod_decides_about_topology() -> None:
    """v1.11 compares the topology key of the last anti-affinity term, though only the first one matched."""
    terms = [
        {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": "kubernetes.io/hostname"},
        {"labelSelector": {"matchLabels": {"app": "nobody"}}, "topologyKey": "zone"},
    ]
    anti = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    nodes = [node("n", labels=A), node("m", labels=A | {"kubernetes.io/hostname": "m"})]
    cycle = simulate(*nodes, pod("a", on="n", affinity=anti), pod("p", **WEB)).step()
    assert cycle is not None
    assert cycle.message == f"0/2 nodes are available: 2 {INTER_POD}, 2 {REFUSED}."


def test_two_anti_affinity_terms_are_taken_together() -> None:
    """v1.11 keeps a pod away only from pods that match all of its anti-affinity terms at once."""
    terms = [{"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": "zone"} for app in ("web", "db")]
    anti = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    cycle = simulate(node("n", labels=A), pod("a", on="n", **WEB), pod("p", affinity=anti)).step()
    assert cycle is not None
    assert cycle.result == "scheduled"


def test_a_volume_found_for_one_pod_is_taken_for_the_next() -> None:
    """Waiting claims are bound with their pod, to the smallest volume that serves and is still free."""
    wait: dict[str, Any] = {"storageClassName": "wait"}
    simulation = simulate(
        node("n"),
        waiting_class(),
        volume("large", **wait, capacity={"storage": "5Gi"}),
        volume("small", **wait, capacity={"storage": "2Gi"}),
        *(claim(name, storage_class="wait") for name in ("c0", "c1", "c2")),
        *(pod(f"p{i}", volumes=claims(f"c{i}")) for i in range(3)),
    )
    cycles = list(simulation)
    assert [cycle.result for cycle in cycles] == ["scheduled", "scheduled", "unschedulable"]
    bound = {key: found.volume_name for key, found in simulation.cluster.storage.claims.items()}
    assert bound == {"default/c0": "small", "default/c1": "large", "default/c2": ""}
    assert cycles[2].message == (
        "0/1 nodes are available: 1 node(s) didn't find available persistent volumes to bind."
    )
