"""How far the fields of the Kubernetes API are supported: implemented, reported, or irrelevant to scheduling.

A :class:`ApiType` classifies every field of one type. The readers take from it what they pass over and what
they report, warnings take the words, ``docs/formats.md`` shows it, and a test compares all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from scheduler_core.objects.manifests import Document
from scheduler_core.objects.quantity import QuantityError, parse_resource

FieldTest = Callable[[Any, Document], bool]

RELEASE_1_35 = "framework 1.35"  # KubeSchedulerConfiguration v1beta3 and v1
COSCHEDULING = "Coscheduling"
INSTANT = "no time passes"
CONFIGURED = "the bundle says what the scheduler runs"
"""What a simulation can honor a field by; see :func:`scheduler_core.scenario.unhonored.abilities`."""


def given(value: Any, manifest: Document) -> bool:
    """Tell whether a field holds anything; an empty list or object is as good as none."""
    del manifest
    return value not in (None, "", [], {}, 0, False)


@dataclass(frozen=True, slots=True)
class Reported:
    """A field that another cluster may honor and a simulation may not, so that their answers may differ.

    ``effect`` is what honoring it does, as a clause. ``when`` tells of which values it makes a difference; it
    is given the value as written, which may be of any type, and the whole manifest. ``honored_by`` are the
    abilities each of which is enough to honor it. ``placing``: it has no effect on a pod that is bound.
    ``disks``: it has none where no pod uses a claim or a disk.
    """

    field: str
    effect: str
    when: FieldTest = given
    honored_by: frozenset[str] = frozenset()
    placing: bool = False
    disks: bool = False


@dataclass(frozen=True, slots=True)
class ApiType:
    """The fields of one type of the API.

    ``implemented`` names those that are read, separated by spaces; one that is ``reported`` too is honored in
    some simulations or for some values alone. ``irrelevant`` maps a reason to the fields that it holds for.
    """

    type: str
    implemented: str
    reported: tuple[Reported, ...] = ()
    irrelevant: Mapping[str, str] = field(default_factory=dict)

    @property
    def passed_over(self) -> frozenset[str]:
        """The fields that decide nothing."""
        return frozenset(name for names in self.irrelevant.values() for name in names.split())


# --- the conditions that need more than a value that is given


def present(value: Any, manifest: Document) -> bool:
    """Tell whether a field is there at all: an empty selector selects everything."""
    del manifest
    return value is not None


def equals(*words: Any) -> FieldTest:
    """Make a condition that holds for these values alone."""
    return lambda value, _: any(value == word and type(value) is type(word) for word in words)


def differs_from(*words: str) -> FieldTest:
    """Make a condition that holds for every value but these."""
    return lambda value, manifest: given(value, manifest) and value not in words


def contains(word: str) -> FieldTest:
    """Make a condition that holds for a list, or an object's values, with this word in it."""

    def holds(value: Any, manifest: Document) -> bool:
        del manifest
        items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        return any(item == word for item in items)

    return holds


def has_key(prefix: str) -> FieldTest:
    """Make a condition that holds for an object with a key that begins so."""
    return lambda value, _: (
        isinstance(value, dict) and any(isinstance(key, str) and key.startswith(prefix) for key in value)
    )


def part_of(value: Any, *path: str) -> Any:
    """Return what is at a path of keys inside a value of any type; None where nothing is."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def pod_spec(manifest: Document) -> Any:
    """Return the spec of a pod, or of a controller's template."""
    return part_of(manifest, *(("spec",) if manifest.get("kind") == "Pod" else ("spec", "template", "spec")))


def of_new_pod(value: Any, manifest: Document) -> bool:
    """Tell of a field that the API server merges into others when a pod is stored: a stored pod has a uid."""
    stored = manifest.get("kind") == "Pod" and part_of(manifest, "metadata", "uid")
    return given(value, manifest) and not stored


def of_unbound(condition: FieldTest) -> FieldTest:
    """Make a condition that holds for what a volume and a claim that are not bound yet ask of each other."""

    def holds(value: Any, manifest: Document) -> bool:
        bound = part_of(manifest, "spec", "volumeName") or part_of(manifest, "spec", "claimRef")
        return condition(value, manifest) and not bound

    return holds


def amounts(value: Any, manifest: Document) -> bool:
    """Tell whether requests or limits name any resource."""
    del manifest
    return any(part_of(value, name) for name in ("requests", "limits"))


def more_than_one(value: Any, manifest: Document) -> bool:
    """Tell whether a number is above 1."""
    del manifest
    return isinstance(value, int) and value > 1


def resized(value: Any, manifest: Document) -> bool:
    """Tell whether a container's status has other amounts than its spec requests."""
    containers = part_of(manifest, "spec", "containers")
    wanted = {
        name: {**_dict(container, "limits"), **_dict(container, "requests")}
        for container in (containers if isinstance(containers, list) else ())
        if isinstance(name := part_of(container, "name"), str)
    }
    for status in value if isinstance(value, list) else ():
        name = part_of(status, "name")
        spec = wanted.get(name) if isinstance(name, str) else None
        held = (part_of(status, "allocatedResources"), part_of(status, "resources", "requests"))
        if spec is not None and any(isinstance(one, dict) and _other(one, spec) for one in held):
            return True
    return False


def _dict(container: Any, name: str) -> dict[str, Any]:
    found = part_of(container, "resources", name)
    return found if isinstance(found, dict) else {}


def _other(held: dict[str, Any], spec: dict[str, Any]) -> bool:
    return any(_amount(name, held[name]) != _amount(name, spec.get(name, 0)) for name in held)


def _amount(name: str, value: Any) -> Any:
    try:
        return parse_resource(name, str(value))
    except QuantityError:
        return value
