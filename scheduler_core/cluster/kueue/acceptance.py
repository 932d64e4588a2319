"""Whether the API server accepts an object: not if it breaks its rules or lacks the form of its kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import MsgspecError, Struct, to_builtins

from scheduler_core.cluster.kueue.configuration import read_configuration
from scheduler_core.cluster.kueue.objects import ClusterQueue
from scheduler_core.cluster.kueue.reader import READERS
from scheduler_core.cluster.kueue.requests import (
    ResourceRules,
    Surroundings,
    pod_requests,
    refusal,
    summary,
)
from scheduler_core.cluster.kueue.validation import refusals_of
from scheduler_core.cluster.kueue.workload import Workload, read_workload
from scheduler_core.cluster.v1_37.objects import Manifest, selects, spec_of
from scheduler_core.kubernetes.conversion import converted

WRONG = (ArithmeticError, AttributeError, LookupError, MsgspecError, TypeError, ValueError)
"""What reading a manifest raises that does not have the form of its kind."""


class _Metadata(Struct, rename="camel"):
    name: str
    namespace: str | None = None
    uid: str | None = None
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    owner_references: list[dict[str, Any]] | None = None


class _PriorityClass(Struct):
    value: int = 0


def refusals(manifest: Manifest) -> list[str]:
    """Return why an object is refused, [] if it is accepted; it may have any form."""
    try:
        if not converted(manifest.get("metadata"), _Metadata).name:
            return ["it has no name"]
        found = refusals_of(manifest)
        if not found:
            _CHECKS.get(manifest["kind"], _check_read)(manifest)
    except WRONG as error:
        return [f"a field is missing or of the wrong type: {str(error) or type(error).__name__}"]
    return found


def _check_read(manifest: Manifest) -> None:
    reader = READERS.get(manifest["kind"])
    if reader is not None:
        found = _typed(reader(manifest))
        if isinstance(found, ClusterQueue):
            selects(found.namespace_selector, {})


def _typed(read: Struct) -> Struct:
    """Check the types of all that was read. Raises ValidationError with the path of what is wrong."""
    converted(to_builtins(read), type(read))
    return read


def _check_workload(manifest: Manifest) -> None:
    found = read_workload(manifest, 0.0)
    _typed(found)
    _check_pod_sets(found)


def _check_pod_sets(workload: Workload) -> None:
    """Read of a Workload's pods what Kueue reads of them."""
    for one in workload.pod_sets:
        pod_requests(workload.namespace, one.pod_spec, Surroundings(), ResourceRules())
    refusal(workload.pod_sets, workload.namespace, Surroundings())


def check_configuration(part: Mapping[str, Any]) -> None:
    """Read Kueue's Configuration; raises one of :data:`WRONG`."""
    _typed(read_configuration(part))


def _check_limits(manifest: Manifest) -> None:
    for kind in ("Container", "Pod"):
        summary([spec_of(manifest)], kind)


def _check_overhead(manifest: Manifest) -> None:
    part = manifest.get("overhead") or {}
    converted(part.get("podFixed") or {}, dict[str, str | int | float])


def _check_value(manifest: Manifest) -> None:
    converted(manifest, _PriorityClass)


_CHECKS: Mapping[str, Callable[[Manifest], None]] = {
    "LimitRange": _check_limits,
    "RuntimeClass": _check_overhead,
    "Workload": _check_workload,
    "WorkloadPriorityClass": _check_value,
}
