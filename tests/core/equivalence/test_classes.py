"""Which pods are equivalent, under either definition, and why two of them are not."""

from __future__ import annotations

import subprocess
import sys

import pytest
from msgspec.structs import replace

from scheduler_core.kubernetes.model import (
    Affinity,
    Container,
    LabelSelector,
    ObjectMeta,
    OwnerReference,
    Pod,
    PodAffinityTerm,
    Toleration,
    Volume,
)
from scheduler_core.schedulers.v1_11.equivalence.classes import (
    BY_ATTRIBUTES,
    Classes,
    difference,
    equivalence_hash,
)

WEB = OwnerReference("ReplicaSet", "web", "uid-web", controller=True)
SHOP = OwnerReference("ReplicaSet", "shop", "uid-shop", controller=True)


def replica(name: str, owner: OwnerReference | None = WEB, **fields: object) -> Pod:
    """Make a pod of one template."""
    meta = ObjectMeta(
        name, "default", labels={"app": "web", "tier": "front"}, owner_references=(owner,) if owner else ()
    )
    spec: dict = {"containers": (Container("c", "app:1", {"cpu": 100}),), **fields}
    return Pod(meta, **spec)


ONE_CHANGE = {
    "namespace": lambda pod: replace(pod, meta=replace(pod.meta, namespace="other")),
    "labels": lambda pod: replace(pod, meta=replace(pod.meta, labels={"app": "web"})),
    "affinity": lambda pod: replace(
        pod,
        affinity=Affinity(
            has_pod_anti_affinity=True,
            anti_required=(PodAffinityTerm(LabelSelector({"app": "web"}), "kubernetes.io/hostname"),),
        ),
    ),
    "containers": lambda pod: replace(pod, containers=(Container("c", "app:1", {"cpu": 200}),)),
    "initContainers": lambda pod: replace(pod, init_containers=(Container("i", "init:1"),)),
    "nodeName": lambda pod: replace(pod, node_name="node-1"),
    "nodeSelector": lambda pod: replace(pod, node_selector={"disk": "ssd"}),
    "tolerations": lambda pod: replace(pod, tolerations=(Toleration("key", "Exists"),)),
    "volumes": lambda pod: replace(pod, volumes=(Volume("data", gce_pd="disk-1"),)),
}


def test_replicas_of_one_controller_are_equivalent() -> None:
    """Names and uids of pods do not matter under either definition."""
    first, second = replica("web-1"), replica("web-2")
    second = replace(second, meta=replace(second.meta, uid="another", annotations={"note": "x"}))
    for definition in ("controller", "attributes"):
        assert equivalence_hash(first, definition) == equivalence_hash(second, definition)
        assert difference(first, second, definition) == ()


@pytest.mark.parametrize("field", BY_ATTRIBUTES)
def test_each_attribute_makes_a_class_of_its_own(field: str) -> None:
    """By attributes, a pod that differs in one field is in another class, and that field is named."""
    first, second = replica("web-1"), ONE_CHANGE[field](replica("web-2"))
    assert equivalence_hash(first, "attributes") != equivalence_hash(second, "attributes")
    assert difference(first, second, "attributes") == (field,)


def test_the_definitions_disagree_about_two_replica_sets_with_one_template() -> None:
    """By controller they are two classes, by attributes one."""
    first, second = replica("web-1"), replica("shop-1", SHOP)
    assert difference(first, second, "controller") == ("controller",)
    assert equivalence_hash(first, "controller") != equivalence_hash(second, "controller")
    assert equivalence_hash(first, "attributes") == equivalence_hash(second, "attributes")


def test_the_definitions_disagree_about_a_template_that_changed() -> None:
    """By controller old and new pods are one class, unless it is split; by attributes they are two."""
    first, second = replica("web-1"), ONE_CHANGE["containers"](replica("web-2"))
    assert equivalence_hash(first, "controller") == equivalence_hash(second, "controller")
    assert difference(first, second, "attributes") == ("containers",)
    assert difference(first, second, "controller", split=True) == ("containers",)
    assert equivalence_hash(first, split=True) != equivalence_hash(second, split=True)


def test_a_pod_without_controller_has_a_class_by_attributes_only() -> None:
    """By controller it has none, and is equivalent to nobody."""
    first, second = replica("a", None), replica("b", None)
    assert equivalence_hash(first, "controller") is None
    assert difference(first, second, "controller") == ("controller",)
    assert equivalence_hash(first, "attributes") == equivalence_hash(second, "attributes") is not None
    owned = replace(first, meta=replace(first.meta, owner_references=(replace(WEB, controller=False),)))
    assert equivalence_hash(owned, "controller") is None


def test_claims_split_a_stateful_set() -> None:
    """Pods of one controller with claims of their own are different classes; a shared claim is none."""
    first = replica("db-0", volumes=(Volume("data", claim="data-db-0"),))
    second = replica("db-1", volumes=(Volume("data", claim="data-db-1"),))
    other = replica("db-2", volumes=(Volume("v", claim="data-db-0"), Volume("w", claim="data-db-0")))
    assert difference(first, second, "controller") == ("claims",)
    assert equivalence_hash(first) != equivalence_hash(second)
    assert equivalence_hash(first) == equivalence_hash(other)


def test_controllers_without_uid_are_reported_apart() -> None:
    """Hand-written manifests have no uids; namespace, kind and name still make the class."""
    bare = replace(WEB, uid="")
    first = replica("web-1", bare)
    elsewhere = replace(first, meta=replace(first.meta, namespace="other"))
    renamed = replica("web-1", replace(bare, name="web-2"))
    assert len({equivalence_hash(pod) for pod in (first, elsewhere, renamed)}) == 3


def test_the_order_of_maps_does_not_matter() -> None:
    """Labels and requests written in another order are the same pod."""
    first = replica("web-1", containers=(Container("c", "a", {"cpu": 1, "memory": 2}),))
    second = replica("web-2", containers=(Container("c", "a", {"memory": 2, "cpu": 1}),))
    second = replace(second, meta=replace(second.meta, labels={"tier": "front", "app": "web"}))
    assert equivalence_hash(first, "attributes") == equivalence_hash(second, "attributes")


def test_the_hash_is_the_same_everywhere() -> None:
    """It is a uint64 that no run, process or hash seed changes."""
    assert equivalence_hash(replica("web-1")) == 3693017873703314560
    module = "tests.core.equivalence.test_classes"
    code = f"from {module} import *; print(equivalence_hash(replica('x'), 'attributes'))"
    seen = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": "."},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    expected = equivalence_hash(replica("web-1"), "attributes")
    assert seen == {f"{expected}\n"}
    assert expected is not None and 0 <= expected < 2**64


def test_the_registry_knows_members_and_names() -> None:
    """A class is named for its controller, or for the first pod it was seen in, and lists its members."""
    classes = Classes()
    for number in range(5):
        classes.of(replica(f"web-{number}"))
    web = classes.of(replica("web-5"))
    assert web is not None and len(classes) == 1
    assert web.name == "ReplicaSet default/web"
    assert [*web.members][:2] == ["default/web-0", "default/web-1"]
    assert len(web.members) == 6
    assert classes.get(web.hash) is web
    assert classes.of(replica("alone", None)) is None
    claimed = classes.of(replica("db-0", volumes=(Volume("data", claim="data-db-0"),)))
    assert claimed is not None and claimed.name == "ReplicaSet default/web with data-db-0"
    attributes = Classes("attributes").of(replica("web-1"))
    assert attributes is not None and attributes.name == "attributes of default/web-1"


def test_a_pod_is_in_one_class_at_a_time() -> None:
    """An updated pod moves; a pod that is gone leaves; the class itself stays for its entries."""
    classes = Classes("attributes")
    first = classes.of(replica("web-1"))
    second = classes.of(ONE_CHANGE["labels"](replica("web-1")))
    assert first is not None and second is not None
    assert (list(first.members), list(second.members)) == ([], ["default/web-1"])
    classes.forget("default/web-1")
    assert not second.members and [known.hash for known in classes] == [first.hash, second.hash]
    owned = Classes()
    was = owned.of(replica("web-1"))
    assert was is not None and owned.of(replica("web-1", None)) is None and not was.members


def test_split_classes_of_one_controller_are_numbered() -> None:
    """The second template of a controller can be distinguished from its first."""
    classes = Classes(split=True)
    names = [classes.of(pod) for pod in (replica("web-1"), ONE_CHANGE["containers"](replica("web-2")))]
    assert [known and known.name for known in names] == [
        "ReplicaSet default/web",
        "ReplicaSet default/web, template 2",
    ]


def test_the_registry_is_bounded() -> None:
    """Beyond the limit the oldest class without members goes; one with members never does."""
    classes = Classes("attributes", limit=2)
    pods = [replica(f"web-{number}", node_name=f"node-{number}") for number in range(4)]
    kept = classes.of(pods[0])
    classes.of(pods[1])
    classes.forget(pods[1].meta.key)
    classes.of(pods[2])
    assert [known.name for known in classes] == ["attributes of default/web-0", "attributes of default/web-2"]
    classes.of(pods[3])
    assert len(classes) == 3 and kept is not None and classes.get(kept.hash) is kept
