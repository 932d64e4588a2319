"""In mode ``sound`` the table misses nothing: after any event, what is still cached is what is true.

The cluster and its predicates are the engine's own. Every result of every predicate for every template on
every node is kept cached; an event may only leave those valid that a fresh evaluation finds again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from random import Random
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from scheduler_core.kubernetes.arrays import IntVector
from scheduler_core.kubernetes.model import (
    Affinity,
    Container,
    HostPort,
    LabelSelector,
    Node,
    NodeCondition,
    NodeSelectorTerm,
    ObjectMeta,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    PodAffinityTerm,
    Requirement,
    Service,
    StorageClass,
    Taint,
    Volume,
)
from scheduler_core.schedulers.columns.columns import ZONE_LABEL
from scheduler_core.schedulers.columns.events import (
    InvalidationEvent,
    object_changed,
    pod_added,
    pod_came,
    pod_changed,
    pod_deleted,
)
from scheduler_core.schedulers.columns.pods import PodState
from scheduler_core.schedulers.columns.state import Cluster
from scheduler_core.schedulers.columns.view import View
from scheduler_core.schedulers.profiles.predicate import Predicate
from scheduler_core.schedulers.v1_11.equivalence.cache import EquivalenceCache
from scheduler_core.schedulers.v1_11.equivalence.classes import equivalence_hash
from scheduler_core.schedulers.v1_11.equivalence.conditions import InvalidatedNodes
from scheduler_core.schedulers.v1_11.equivalence.row import InvalidationRow
from scheduler_core.schedulers.v1_11.equivalence.rules import TABLE, InvalidationRules
from scheduler_core.schedulers.v1_11.equivalence.topology import Seen
from scheduler_core.schedulers.v1_11.predicates import (
    PREDICATES,
    CheckNodeLabelPresence,
    CheckServiceAffinity,
)
from scheduler_core.schedulers.v1_11.predicates.volumes import MaxVolumeCount
from tests.core.trials import trials

POLICY: dict[str, Predicate] = {
    **PREDICATES,
    "MaxEBSVolumeCount": MaxVolumeCount("ebs", 2),
    "MaxGCEPDVolumeCount": MaxVolumeCount("gce", 1),
    "MaxAzureDiskVolumeCount": MaxVolumeCount("azure", 1),
    "HasRack": CheckNodeLabelPresence(("rack",), presence=True),
    "SameRack": CheckServiceAffinity(("rack",)),
}
APPS = ("web", "db")


class World:
    """A cluster, a cache that is full, and random events."""

    def __init__(self, seed: int, table: tuple[InvalidationRow, ...] = TABLE) -> None:
        self.random = Random(seed)
        self.cluster = Cluster()
        self.seen = Seen()
        self.count = 0
        for number in range(4):
            self.cluster.put(self.node(f"node-{number}"))
        for name in ("pv-0", "pv-1"):
            self.cluster.put(self.volume(name))
        for name in ("data-0", "data-1"):
            self.cluster.put(self.claim(name))
        self.cluster.put(StorageClass(ObjectMeta("late"), "none", "WaitForFirstConsumer"))
        self.cluster.refresh()
        self.cache = EquivalenceCache(self.cluster.columns.names)
        self.templates = [self.pod(f"template-{number}") for number in range(7)]
        self.numbers = [equivalence_hash(pod, "attributes") for pod in self.templates]
        self.rules = InvalidationRules("sound", POLICY, table)
        self.fill(None)

    # what there is

    def chance(self, share: float) -> bool:
        """Decide by lot."""
        return self.random.random() < share

    def pick(self, *choices: Any) -> Any:
        """Draw one."""
        return self.random.choice(choices)

    def labels(self) -> dict[str, str]:
        """Draw a node's labels."""
        return {key: self.pick("1", "2") for key in ("rack", "host", ZONE_LABEL) if self.chance(0.7)}

    def node(self, name: str) -> Node:
        """Draw a node."""
        return Node(
            ObjectMeta(name, labels=self.labels()),
            {"cpu": self.pick(300, 1000), "memory": 10**9, "pods": self.pick(3, 10)},
            taints=(Taint("k", "v", "NoSchedule"),) if self.chance(0.2) else (),
            unschedulable=self.chance(0.1),
            conditions=tuple(
                NodeCondition(kind, self.pick("True", "False"))
                for kind in self.random.sample(("Ready", "OutOfDisk", "MemoryPressure", "PIDPressure"), 2)
            ),
        )

    def volume(self, name: str) -> PersistentVolume:
        """Draw a PersistentVolume."""
        source = self.pick(Volume(aws_ebs=name), Volume(gce_pd=name), Volume(azure_disk=name), Volume())
        reach = (NodeSelectorTerm((Requirement("rack", "In", ("1",)),)),) if self.chance(0.3) else None
        zone = {ZONE_LABEL: self.pick("1", "2")} if self.chance(0.4) else {}
        capacity = self.pick(1, 5)
        return PersistentVolume(ObjectMeta(name, labels=zone), source, reach, "late", capacity, ("RWO",))

    def claim(self, name: str) -> PersistentVolumeClaim:
        """Draw a claim: bound, to a volume that may be missing, or waiting."""
        bound = self.pick("", "", "pv-0", "pv-1", "pv-9")
        return PersistentVolumeClaim(ObjectMeta(name, "default"), bound, "late", self.pick(1, 5), ("RWO",))

    def affinity(self) -> Affinity | None:
        """Draw required affinity, anti-affinity or none."""
        terms = tuple(
            PodAffinityTerm(LabelSelector({"app": self.pick(*APPS)}), self.pick("host", "rack"))
            for _ in range(self.pick(1, 1, 2))
        )
        if self.chance(0.5):
            return None
        if self.chance(0.5):
            return Affinity(has_pod_affinity=True, pod_required=terms)
        return Affinity(has_pod_anti_affinity=True, anti_required=terms)

    def volumes(self) -> tuple[Volume, ...]:
        """Draw a pod's volumes."""
        read_only = self.chance(0.5)
        choices = (
            Volume(gce_pd=self.pick("d1", "d2"), read_only=read_only),
            Volume(aws_ebs=self.pick("e1", "e2", "e3")),
            Volume(rbd=(("m1", "m2"), "rbd", "image"), read_only=read_only),
            Volume(claim="data-0"),
            Volume(claim="data-1"),
        )
        return tuple(self.random.sample(choices, self.pick(0, 0, 1, 1, 2)))

    def containers(self) -> tuple[Container, ...]:
        """Draw containers."""
        requests = self.pick({"cpu": 100, "memory": 1000}, {"cpu": 400}, {})
        ports = (HostPort("0.0.0.0", "TCP", 80),) if self.chance(0.2) else ()
        return (Container("c", "app:1", requests, host_ports=ports),)

    def pod(self, name: str) -> Pod:
        """Draw a pod."""
        return Pod(
            ObjectMeta(name, "default", labels={"app": self.pick(*APPS)}),
            node_selector={"rack": self.pick("1", "2")} if self.chance(0.2) else {},
            affinity=self.affinity(),
            containers=self.containers(),
            volumes=self.volumes(),
        )

    # what the table asks

    def row(self, node: str) -> int:
        """Return a node's row in the cache."""
        return self.cache.row(node)

    def sharing(self, node: str, keys: Collection[str]) -> IntVector:
        """Compare labels."""
        columns = self.cluster.columns
        place = columns.index.get(node, -1)
        ids = [columns.label(key).ids for key in keys]
        shared = [
            np.flatnonzero(column == column[place]) for column in ids if place >= 0 and column[place] >= 0
        ]
        return np.unique(np.concatenate(shared)) if shared else np.array([], np.int64)

    def volume_named(self, name: str) -> PersistentVolume | None:
        """Look a volume up."""
        return self.cluster.storage.volumes.get(name)

    # what happens

    def event(self) -> tuple[InvalidationEvent, ...]:
        """Change something and tell of it."""
        return self.pick(
            self.place, self.place, self.place, self.delete, self.update, self.change_node, self.change_node,
            self.change_storage, self.change_storage, self.change_service,
        )()  # fmt: skip

    def place(self) -> tuple[InvalidationEvent, ...]:
        """Assume a pod of some template on a node, or let it come bound."""
        if not self.cluster.nodes or len(self.cluster.pods) > 8:
            return self.delete()
        self.count += 1
        template = self.pick(*self.templates)
        name = self.pick(*self.cluster.nodes)
        pod = replace(template, meta=replace(template.meta, name=f"pod-{self.count}"))
        elsewhere = self.chance(0.3)
        state = self.cluster.put(replace(pod, node_name=name) if elsewhere else pod)
        assert state is not None
        self.seen.pod(state.info)
        if elsewhere:
            return (pod_came(pod, name),)
        return (pod_added(pod, name, binds=self.cluster.assign(state, name)),)

    def delete(self) -> tuple[InvalidationEvent, ...]:
        """Delete a pod."""
        if not self.cluster.pods:
            return ()
        state = self.cluster.pods[self.pick(*self.cluster.pods)]
        self.cluster.remove("Pod", state.key)
        return (pod_deleted(state.pod, state.node_name),)

    def update(self) -> tuple[InvalidationEvent, ...]:
        """Change one thing about a pod where it is."""
        if not self.cluster.pods:
            return ()
        state = self.cluster.pods[self.pick(*self.cluster.pods)]
        old, change = state.pod, self.pick("labels", "containers", "volumes", "affinity")
        if change == "labels":
            new = replace(old, meta=replace(old.meta, labels={"app": self.pick(*APPS, "other")}))
        else:
            new = replace(old, **{change: getattr(self, change)()})
        placed = self.cluster.put(replace(new, node_name=state.node_name))
        assert placed is not None
        self.seen.pod(placed.info)
        return pod_changed(old, state.node_name, new, placed.node_name)

    def change_node(self) -> tuple[InvalidationEvent, ...]:
        """Add a node, delete one, or change a part of one."""
        names = list(self.cluster.nodes)
        if self.chance(0.2):
            name = f"node-{self.random.randrange(6)}"
            if name in self.cluster.nodes:
                return self._object(self.cluster.nodes[name], None) if len(names) > 2 else ()
            return self._object(None, self.node(name))
        old = self.cluster.nodes[self.pick(*names)]
        fresh = self.node(old.meta.name)
        part = self.pick("meta", "meta", "allocatable", "taints", "unschedulable", "conditions")
        return self._object(old, replace(old, **{part: getattr(fresh, part)}))

    def change_storage(self) -> tuple[InvalidationEvent, ...]:
        """Add, change or delete a volume, a claim or the storage class."""
        storage = self.cluster.storage
        kind = self.pick("pv", "pvc", "class")
        if kind == "class":
            old = storage.classes.get("late")
            return self._object(
                old,
                self._or_none(
                    StorageClass(ObjectMeta("late"), "", self.pick("Immediate", "WaitForFirstConsumer"))
                ),
            )
        if kind == "pv":
            name = self.pick("pv-0", "pv-1", "pv-9")
            known = storage.volumes.get(name)
            fresh = self.volume(name)
            if known is not None and self.chance(0.5):
                part = self.pick("meta", "source", "node_affinity", "capacity")
                fresh = replace(known, **{part: getattr(fresh, part)})
            return self._object(known, self._or_none(fresh))
        name = self.pick("data-0", "data-1")
        return self._object(storage.claims.get(f"default/{name}"), self._or_none(self.claim(name)))

    def change_service(self) -> tuple[InvalidationEvent, ...]:
        """Add, change or delete the service."""
        selector = self.pick({"app": "web"}, {"app": "db"}, {})
        fresh = Service(ObjectMeta("svc", "default"), selector)
        return self._object(self.cluster.services.get("default/svc"), self._or_none(fresh))

    def _or_none(self, obj: Any) -> Any:
        return None if self.chance(0.25) else obj

    def _object(self, old: Any, new: Any) -> tuple[InvalidationEvent, ...]:
        if old is None and new is None:
            return ()
        if new is None:
            self.cluster.remove(type(old).__name__, old.meta.key)
        else:
            self.cluster.put(new)
        found = object_changed(old, new)
        return () if found is None else (found,)

    # what is compared

    def probes(self) -> Iterator[tuple[int, PodState]]:
        """Make a pending pod of every template."""
        for pod, number in zip(self.templates, self.numbers, strict=True):
            info = self.cluster.compile(pod)
            self.seen.pod(info)
            index = self.cluster.index
            assert number is not None
            yield number, PodState(pod.meta.key, pod, info, index.kind_of(info), index.class_of(info), 999, 0)

    def fill(self, events: tuple[InvalidationEvent, ...] | None) -> None:
        """Evaluate everything; what is cached must be found again, and is written anew."""
        view = View(self.cluster)
        for number, state in self.probes():
            for key, predicate in POLICY.items():
                codes = predicate(state.info, view, state).codes
                fresh = np.zeros(view.size, np.int16) if codes is None else codes
                cached, valid = self.cache.lookup(number, key)
                stale = valid & (cached != fresh)
                if stale.any():
                    names = [self.cache.nodes[row] for row in np.flatnonzero(stale)]
                    reported = "; ".join(str(event) for event in events or ())
                    raise StaleHitError(f"{key} of {state.key} on {', '.join(names)} after {reported}")
                self.cache.write(number, key, fresh, 0)

    def step(self) -> None:
        """Let one thing happen."""
        events = self.event()
        topology = _Topology(self)
        for event in events:
            for found in self.rules.of(event, topology):
                self.cache.invalidate(found.predicates, found.rows)
        self.cluster.refresh()
        self.cache.remap(self.cluster.columns.names)
        self.fill(events)


class StaleHitError(AssertionError):
    """Something untrue was left in the cache."""


class _Topology:
    """A world as the table asks for it."""

    def __init__(self, world: World) -> None:
        self.seen = world.seen
        self.row: Callable[[str], int] = world.row
        self.sharing = world.sharing
        self.volume = world.volume_named


SEEDS = trials(12)
EVENTS = 60


@pytest.mark.parametrize("start", range(0, SEEDS, 6))
def test_nothing_untrue_stays_cached(start: int) -> None:
    """Random histories of sixty events each leave no stale entry of any predicate on any node."""
    for seed in range(start, start + 6):
        found = first_stale_hit(World(seed), EVENTS)
        assert found is None, f"seed {seed}, {found}"


def first_stale_hit(world: World, events: int) -> str | None:
    """Let so many things happen and tell of the first untrue entry."""
    for number in range(events):
        try:
            world.step()
        except StaleHitError as error:
            return f"event {number}: {error}"
    return None


def within_what_is_sound(seed: int, event: int) -> bool:
    """Tell whether with the whole table nothing is stale there: nothing is in the histories tried above."""
    return (seed < SEEDS and event < EVENTS) or first_stale_hit(World(seed), event + 1) is None


# Row to a history that it is needed for: (seed, event), found by trying seeds from 0 on.
NEEDED = {
    "pv-topology": (22, 10),
    "pv-to-bind": (3, 1),
    "pv-missing": (3, 1),
    "pv-update-match": (72, 0),
    "pv-update-source": (6, 30),
    "pvc-any": (0, 18),
    "pvc-update-volume-name": (1, 0),
    "pvc-update-match": (10, 23),
    "storage-class": (11, 2),
    "service": (3, 54),
    "service-update-selector": (1, 7),
    "pod-add-general": (0, 0),
    "pod-add-volume-count": (1, 3),
    "pod-came-general": (0, 50),
    "pod-came-volume-count": (0, 50),
    "pod-add-affinity": (0, 6),
    "pod-add-disk": (1, 3),
    "pod-bound-volumes": (18, 56),
    "pod-bound-claims": (7, 17),
    "pod-add-service": (8, 7),
    "pod-update-requests": (5, 13),
    "pod-update-labels": (5, 10),
    "pod-update-service": (5, 21),
    "pod-update-ports": (4, 23),
    "pod-update-volumes": (6, 5),
    "pod-update-affinity": (1, 51),
    "pod-delete-affinity": (1, 9),
    "pod-delete-disk": (1, 9),
    "pod-delete-general": (0, 22),
    "pod-delete-volume-count": (1, 8),
    "pod-delete-service": (13, 5),
    "node-add": (1, 17),
    "node-update-general": (0, 28),
    "node-update-labels": (3, 4),
    "node-update-affinity": (5, 4),
    "node-update-zone": (15, 2),
    "node-update-volume-binding": (15, 2),
    "node-update-taints": (0, 5),
    "node-update-conditions": (0, 12),
    "node-update-unschedulable": (4, 33),
    "node-delete-pods": (2, 42),
}
IMPLIED = {"pv-count", "node-delete"}  # by pv-missing; by the node's leaving the list


def test_every_row_is_known_to_be_needed() -> None:
    """A new row comes with a history that shows what it is for."""
    assert set(NEEDED) | IMPLIED == {row.id for row in TABLE if "sound" in row.scopes}


@pytest.mark.parametrize("row", NEEDED)
def test_without_a_row_something_untrue_stays_cached(row: str) -> None:
    """No row of mode ``sound`` is there for nothing: without it, this history finds a stale entry."""
    seed, event = NEEDED[row]
    less = tuple(known for known in TABLE if known.id != row)
    assert first_stale_hit(World(seed, less), event + 1) is not None
    assert within_what_is_sound(seed, event)


@pytest.mark.parametrize(
    ("row", "scope", "seed", "event"),
    [
        ("pod-add-affinity", InvalidatedNodes.NODE, 1, 3),
        ("pod-add-affinity", InvalidatedNodes.DOMAIN, 1, 3),
        ("pod-update-labels", InvalidatedNodes.DOMAIN, 5, 10),
        ("pod-delete-affinity", InvalidatedNodes.DOMAIN, 1, 9),
        ("pod-update-affinity", InvalidatedNodes.NODE, 1, 51),
        ("node-update-affinity", InvalidatedNodes.NODE, 0, 59),
        ("node-update-labels", InvalidatedNodes.NODE, 4, 57),
    ],
)
def test_in_a_narrower_scope_something_untrue_stays_cached(
    row: str, scope: InvalidatedNodes, seed: int, event: int
) -> None:
    """Where ``sound`` reaches further than the proposal, it has to."""
    narrow = tuple(replace(known, scopes={"sound": scope}) if known.id == row else known for known in TABLE)
    assert first_stale_hit(World(seed, narrow), event + 1) is not None
    assert within_what_is_sound(seed, event)
