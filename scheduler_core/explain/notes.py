"""What to know before making a change: which other objects it affects, and who can make it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from scheduler_core.explain.edits import Edit, owners
from scheduler_core.explain.world import ObjectsAtMoment
from scheduler_core.kubernetes.model import Pod

OF_COST: Mapping[str, str] = {
    "fact": "The label describes the machine; setting it does not change the machine.",
    "allocatable": (
        "The kubelet reports what is allocatable: add capacity to the machine, or reserve less of it."
    ),
    "resize": "A running pod's requests are changed by its subresource: kubectl patch --subresource resize.",
    "claim": (
        "The API server does not permit another class or volume for a claim: delete and recreate it. "
        "What it holds stays on its present volume, if it has one."
    ),
    "class": "A StorageClass cannot be changed: delete and recreate it; its volumes stay as they are.",
    "moved": "The label or node affinity says where something is; changing it moves nothing.",
    "hardware": "The machine reports none: it needs the hardware, and the driver or plugin that reports it.",
    "delete": "Preemption does not delete these pods: delete them yourself.",
    "condition": "The kubelet reports conditions: repair the machine, and the condition follows.",
}
FIXED = ("spelling", "request", "forgo", "priority", "selector", "affinity", "port")
MUTABLE = "images, added tolerations, removed scheduling gates and, through `resize`, cpu and memory"
REPLACE = f"Of an existing pod the API server lets only {MUTABLE} change: delete and recreate it."


def notes(
    world: ObjectsAtMoment, edits: Sequence[Edit], patches: Sequence[Mapping[str, Any]]
) -> tuple[str, ...]:
    """Return the sentences that apply to a change, each once."""
    found = [OF_COST[edit.cost] for edit in edits if edit.cost in OF_COST]
    found += _templates(world, patches)
    own = {patch["kind"] for patch in patches if patch["action"] == "patch"}
    if "Pod" in own and any(edit.cost in FIXED for edit in edits):
        found.append(_replaced(world))
    return tuple(dict.fromkeys(found))


def _replaced(world: ObjectsAtMoment) -> str:
    """Return how a pod gets a field that cannot be changed: its controller makes the next one."""
    owner = world.objects["Pod", world.pod].meta.controller
    if owner is None:
        return REPLACE
    return (
        f"Make the change in the pod template of {owner.kind} {owner.name} as well: it creates the next pod "
        f"from it. Of an existing pod the API server lets only {MUTABLE} change."
    )


def _templates(world: ObjectsAtMoment, patches: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for patch in patches:
        if patch["action"] != "patch" or "template" not in (patch["patch"].get("spec") or {}):
            continue
        owner = (patch["kind"], patch["name"])
        count = sum(owner in owners(world, key) for key, obj in world.objects.items() if isinstance(obj, Pod))
        pods = "its one pod is" if count == 1 else f"all its {count:,} pods are"
        yield f"This changes the pod template of {owner[0]} {owner[1]}: {pods} recreated with it."
