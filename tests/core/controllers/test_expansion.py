"""The one-time expansion of a loaded cluster, and the controllers, are the same."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from msgspec.structs import replace

from scheduler_core import load
from scheduler_core.authoring.examples import Example, examples
from scheduler_core.cluster.controllers import Options
from scheduler_core.cluster.controllers.revisions import LABEL
from scheduler_core.formats.manifest import to_manifest
from scheduler_core.kubernetes.keys import key_of
from scheduler_core.kubernetes.model import KubernetesObject, Pod
from tests.core.controllers.driver import World, node, workload

AS_V111 = Options(bind_daemons=True)  # later releases leave a DaemonSet's pods to the scheduler
EXPANDED = [example for example in examples() if not example.load().lives]  # others are not expanded


def by_owner(objects: Iterable[KubernetesObject]) -> dict[object, list[str]]:
    """Name the pods in order, by who owns them."""
    found: dict[object, list[str]] = {}
    for obj in objects:
        if isinstance(obj, Pod):
            owner = obj.meta.controller
            found.setdefault(owner and (obj.meta.namespace, owner.kind, owner.name), []).append(obj.meta.name)
    return found


@pytest.mark.parametrize("example", EXPANDED, ids=lambda e: e.slug)
def test_every_example_gets_the_same_pods_from_the_controllers(example: Example) -> None:
    """Loaded without expansion, the controllers make the pods that loading makes, with the same names."""
    text = example.read()
    scenario = load(text)
    expanded, options = scenario.objects, AS_V111 if scenario.release == "v1.11" else Options()
    world = World(objects=load(text, expand=False).objects, options=options)
    made = dict(world.manager.store.objects)
    assert by_owner(made.values()) == by_owner(expanded)
    for pod in expanded:
        if isinstance(pod, Pod) and pod.meta.owner_references:
            assert as_loaded(made[key_of(pod)]) == as_loaded(pod)


def as_loaded(obj: KubernetesObject) -> Pod:
    """Leave out of a pod what only time brings: its age, where and since when it runs, its revision."""
    assert isinstance(obj, Pod)
    labels = {key: value for key, value in obj.meta.labels.items() if key != LABEL}
    meta = replace(obj.meta, labels=labels, creation_timestamp=None)
    return replace(obj, meta=meta, node_name="", phase="Pending", start_time=None)


@pytest.mark.parametrize("example", EXPANDED, ids=lambda e: e.slug)
def test_a_loaded_cluster_is_what_its_controllers_want(example: Example) -> None:
    """Started on the expanded objects of an example, the controllers neither create nor delete a pod."""
    world = World(objects=load(example.read()).objects, options=AS_V111, bind=False)
    done = [(c.action, c.object.meta.name) for _, c in world.log if c.action != "update"]
    assert done == []


def test_names_that_loading_gave_are_not_given_again() -> None:
    """A pod that comes back for a deleted one of a loaded ReplicaSet has a new name and uid."""
    loaded = load_expanded(node("n1"), workload("ReplicaSet", replicas=3))
    world = World(objects=loaded)
    first = world.pods("web")[0]
    world.delete(first)
    assert len(world.names()) == 3 and first.meta.name not in world.names()
    assert first.meta.uid not in {pod.meta.uid for pod in world.pods()}


def load_expanded(*documents: dict[str, object]) -> tuple[KubernetesObject, ...]:
    """Load documents as the workbench does."""
    from scheduler_core import load_documents

    return load_documents(list(documents)).objects


def test_a_pods_manifest_keeps_its_restart_policy() -> None:
    """A pod that a controller made ends in the same way after a patch of its manifest."""
    [made] = [
        o for o in load_expanded(node("n1"), workload("Job", restartPolicy="OnFailure")) if isinstance(o, Pod)
    ]
    assert to_manifest(made)["spec"]["restartPolicy"] == "OnFailure"
