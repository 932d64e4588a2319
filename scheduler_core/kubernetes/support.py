"""The support status of the Kubernetes API's fields: implemented, reported, or irrelevant to scheduling.

The fields that a type's reader reads are implemented; an :class:`ApiType` classifies the others. It
determines which fields readers ignore or report, and the texts of the warnings; ``docs/formats.md`` lists
all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct, field

from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.quantity import QuantityError, parse_resource

FieldTest = Callable[[Any, Document], bool]

RELEASE_1_35 = "framework 1.35"  # KubeSchedulerConfiguration v1beta3 and v1
COSCHEDULING = "Coscheduling"
INSTANT = "no time passes"
KUBE_BATCH = "kube-batch"  # in virtual time, where pods name it
CONFIGURED = "the bundle has a scheduler configuration"
"""A simulation's abilities to honor fields; see :func:`.unhonored_fields.abilities`."""


def given(value: Any, manifest: Document) -> bool:
    """Return whether a field has a value other than a zero value, such as an empty list or object."""
    del manifest
    return value not in (None, "", [], {}, 0, False)


class Reported(Struct, frozen=True):
    """A field that another cluster may honor and a simulation may not, so that their answers may differ.

    ``effect`` is the effect of honoring it, as a clause. ``when`` returns whether a value has an effect; it
    receives the value as written, which may be of any type, and the whole manifest. ``honored_by`` are the
    abilities any of which suffices to honor it. ``placing``: it has no effect on a pod that is bound.
    ``disks``: it has no effect if no pod uses a claim or a disk.
    """

    field: str
    effect: str
    when: FieldTest = given
    honored_by: frozenset[str] = frozenset()
    placing: bool = False
    disks: bool = False


class ApiType(Struct, frozen=True):
    """The fields of one type of the API, besides those that its reader reads.

    One that is read and ``reported`` is honored only in some simulations or for some values. ``irrelevant``
    maps a reason to the fields it applies to, separated by spaces.
    """

    type: str
    reported: tuple[Reported, ...] = ()
    irrelevant: Mapping[str, str] = field(default_factory=dict)

    @property
    def passed_over(self) -> frozenset[str]:
        """The irrelevant fields, which readers ignore."""
        return frozenset(name for names in self.irrelevant.values() for name in names.split())


# --- conditions other than :func:`given`


def present(value: Any, manifest: Document) -> bool:
    """Return whether a field is present, even if empty: an empty selector selects everything."""
    del manifest
    return value is not None


def equals(*words: Any) -> FieldTest:
    """Create a condition that holds for these values only."""
    return lambda value, _: any(value == word and type(value) is type(word) for word in words)


def differs_from(*words: str) -> FieldTest:
    """Create a condition that holds for any given value but these."""
    return lambda value, manifest: given(value, manifest) and value not in words


def contains(word: str) -> FieldTest:
    """Create a condition that holds for a list, or an object's values, containing this word."""

    def holds(value: Any, manifest: Document) -> bool:
        del manifest
        items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        return any(item == word for item in items)

    return holds


def has_key(prefix: str) -> FieldTest:
    """Create a condition that holds for an object with a key that starts with ``prefix``."""
    return lambda value, _: (
        isinstance(value, dict) and any(isinstance(key, str) and key.startswith(prefix) for key in value)
    )


def part_of(value: Any, *path: str) -> Any:
    """Return the value at a path of keys within a value of any type; None if there is none."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def pod_spec(manifest: Document) -> Any:
    """Return the spec of a pod, or of a controller's template."""
    return part_of(manifest, *(("spec",) if manifest.get("kind") == "Pod" else ("spec", "template", "spec")))


def of_new_pod(value: Any, manifest: Document) -> bool:
    """Return whether a field is given, except on a stored pod, for which it has been merged into others.

    The API server merges the field when it stores a pod; a stored pod has a uid.
    """
    stored = manifest.get("kind") == "Pod" and part_of(manifest, "metadata", "uid")
    return given(value, manifest) and not stored


def of_unbound(condition: FieldTest) -> FieldTest:
    """Create a condition that holds for a volume or a claim only while it is not bound."""

    def holds(value: Any, manifest: Document) -> bool:
        bound = part_of(manifest, "spec", "volumeName") or part_of(manifest, "spec", "claimRef")
        return condition(value, manifest) and not bound

    return holds


def amounts(value: Any, manifest: Document) -> bool:
    """Return whether requests or limits name any resource."""
    del manifest
    return any(part_of(value, name) for name in ("requests", "limits"))


def more_than_one(value: Any, manifest: Document) -> bool:
    """Return whether a value is an integer above 1."""
    del manifest
    return isinstance(value, int) and value > 1


def resized(value: Any, manifest: Document) -> bool:
    """Return whether a container's status has other amounts than its spec requests."""
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
