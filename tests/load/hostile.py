"""Bundles that somebody would write to stop a server: good ones with parts replaced by what hurts."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

from scheduler_core.formats.limits import Limits
from scheduler_core.kubernetes.problems import BundleError
from scheduler_core.scenario.load import load
from tests.conformance.random_records import Dice, Manifest
from tests.core.properties.test_mutations import NONSENSE, places
from tests.core.properties.timed_bundles import bundle

LARGE = (10**4, 10**6, 10**9, 2**31 - 1, 2**31, 2**63, 10**30)
SMALL = (0, -1, -(2**31), 1e-300, 1e-9)
SECONDS = ("0", "1e-9", "0.000001", "-1", "1e300", "86400000000", "inf", "nan")
REFUSED_KEPT = 0.05  # of the changes that make a bundle unreadable
DEPTH = 70  # a little more than is read


def _path(documents: list[Any], dice: Dice, kinds: tuple[type, ...]) -> tuple[Any, ...] | None:
    """Return the path of a random part of one of the types."""
    found = [path for path in places(documents)[1:] if type(_at(documents, path)) in kinds]
    return dice.choice(found) if found else None


def _at(documents: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        documents = documents[key]
    return documents


def _set(documents: Any, path: tuple[Any, ...], value: Any) -> None:
    _at(documents, path[:-1])[path[-1]] = value


def number(documents: list[Any], dice: Dice) -> None:
    """Replace a number by one that is too large, too small, or nonsense."""
    if path := _path(documents, dice, (int, float)):
        _set(documents, path, dice.choice((*LARGE, *SMALL)))


def text(documents: list[Any], dice: Dice) -> None:
    """Replace a text by an odd time, a long text, or nonsense."""
    if path := _path(documents, dice, (str,)):
        _set(documents, path, dice.choice((*SECONDS, "x" * 5_000, *NONSENSE)))


def empty(documents: list[Any], dice: Dice) -> None:
    """Empty an object or a list: a spec of nothing."""
    if path := _path(documents, dice, (dict, list)):
        _set(documents, path, type(_at(documents, path))())


def nested(documents: list[Any], dice: Dice) -> None:
    """Put something nested very deeply in the place of a part."""
    if path := _path(documents, dice, (dict, list, str)):
        value: Any = {}
        for _ in range(dice.choice((5, DEPTH))):
            value = {"spec": value} if dice.chance(0.5) else [value]
        _set(documents, path, value)


def missing(documents: list[Any], dice: Dice) -> None:
    """Leave a field out."""
    if path := _path(documents, dice, (dict, list, str, int, float)):
        parent = _at(documents, path[:-1])
        del parent[path[-1]]


def twice(documents: list[Any], dice: Dice) -> None:
    """Write a document twice, as it is or under another kind of the same name."""
    one = copy.deepcopy(dice.choice(documents))
    if isinstance(one, dict) and dice.chance(0.5):
        one["kind"] = dice.choice(("Deployment", "ReplicaSet", "StatefulSet", "Job", "DaemonSet", "Pod"))
    documents.insert(dice.randint(0, len(documents)), one)


def owned(documents: list[Any], dice: Dice) -> None:
    """Let an object own itself, or another one."""
    named = [one for one in documents if isinstance(one, dict) and isinstance(one.get("metadata"), dict)]
    if not named:
        return
    owner, child = dice.choice(named), dice.choice(named)
    child["metadata"]["ownerReferences"] = [
        {
            "apiVersion": owner.get("apiVersion"),
            "kind": owner.get("kind"),
            "name": owner["metadata"].get("name"),
            "uid": "u",
            "controller": dice.chance(0.8),
        }
    ]


def replicas(documents: list[Any], dice: Dice) -> None:
    """Ask a controller for very many pods, at once or by a patch that lands later."""
    amount = dice.choice((100, 3_000, *LARGE))
    field = dice.choice(("replicas", "parallelism", "completions"))
    specs = [one["spec"] for one in documents if isinstance(one, dict) and isinstance(one.get("spec"), dict)]
    patched = [
        change
        for spec in specs
        for operation in spec.get("operations") or ()
        if isinstance(operation, dict) and isinstance(change := operation.get("patchOperation"), dict)
    ]
    if patched and dice.chance(0.6):
        dice.choice(patched)["patch"] = json.dumps({"spec": {field: amount}})
    elif specs:
        dice.choice(specs)[field] = amount


def lives(documents: list[Any], dice: Dice) -> None:
    """Let pods end at once, or never, and time run to a very late end."""
    for one in documents:
        template = one.get("spec", {}) if isinstance(one, dict) else {}
        template = template.get("template", one) if isinstance(template, dict) else one
        if isinstance(template, dict) and isinstance(template.get("metadata"), dict) and dice.chance(0.5):
            annotations = template["metadata"].setdefault("annotations", {})
            if isinstance(annotations, dict):
                annotations["podstep/run-seconds"] = dice.choice(SECONDS)
    until: Manifest = {"apiVersion": "podstep/v1", "kind": "SimulationSettings", "time": "virtual"}
    if dice.chance(0.5) and not any(
        isinstance(one, dict) and one.get("kind") == until["kind"] for one in documents
    ):
        documents.append({**until, "until": dice.choice((0, 1, 10**9, 1e300))})


CHANGES: tuple[Callable[[list[Any], Dice], None], ...] = (
    number, number, text, empty, nested, missing, twice, owned, replicas, replicas, lives,
)  # fmt: skip


def hostile(seed: int) -> str:
    """Return the text of a bundle with PodGroups, controllers and operations, hurt in up to four ways."""
    dice = Dice(seed)
    documents: list[Any] = bundle(seed)
    for _ in range(dice.choice((1, 2, 3, 4, 6))):
        changed = copy.deepcopy(documents)
        dice.choice(CHANGES)(changed, dice)
        # What is refused when it is read leaves nothing to find.
        if changed and (dice.chance(REFUSED_KEPT) or is_read(changed)):
            documents = changed
    return written(documents)


def written(documents: list[Any]) -> str:
    """Return documents as a text."""
    return "\n".join(json.dumps(one) for one in documents)


def is_read(documents: list[Any]) -> bool:
    """Return whether documents are a bundle without an error."""
    try:
        load(written(documents), limits=Limits(pods=20_000))
    except BundleError:
        return False
    return True
