"""Which devices the selectors of classes and requests select (selectorsMatch of the structured allocator)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from scheduler_core.schedulers.v1_37.cel.errors import CelError, CompileError
from scheduler_core.schedulers.v1_37.devices import Device, DeviceRequest
from scheduler_core.schedulers.v1_37.interface import PluginError
from scheduler_core.schedulers.v1_37.state import ClusterState

_MISSING_KEY_HINT = (
    ". consider using CEL optional chaining (.? followed by orValue()) or guarding the check with has() for "
    "optional fields"
)


class DeviceSelector(NamedTuple):
    """A selector: ``class NAME`` or ``claim NAMESPACE/NAME``, its index there, and the expression."""

    owner: str
    number: int
    expression: str

    def __str__(self) -> str:
        return f"{self.owner}: selector #{self.number}"


def selectors_of(cluster: ClusterState, request: DeviceRequest) -> Iterator[DeviceSelector]:
    """Yield the selectors of a request's class, and its own."""
    name = request.entry["deviceClassName"]
    device_class = cluster.get("DeviceClass", None, name)
    own = (((device_class or {}).get("spec") or {}).get("selectors") or (), f"class {name}")
    for selectors, owner in (own, (request.entry.get("selectors") or (), f"claim {request.claim_name}")):
        for number, selector in enumerate(selectors):
            yield DeviceSelector(owner, number, selector["cel"]["expression"])


def refusal(cluster: ClusterState, request: DeviceRequest, device: Device) -> DeviceSelector | None:
    """Return the first selector that does not select a device. Raises PluginError where one fails before."""
    for selector in selectors_of(cluster, request):
        if not _matches(cluster, selector, device):
            return selector
    return None


def selects(cluster: ClusterState, request: DeviceRequest, device: Device) -> bool:
    """Return whether class and request select a device. Raises PluginError where a selector fails."""
    return refusal(cluster, request, device) is None


def _matches(cluster: ClusterState, selector: DeviceSelector, device: Device) -> bool:
    answer = device.answers.get(selector.expression)
    if answer is None:
        answer = device.answers[selector.expression] = _evaluate(selector, device)
    if isinstance(answer, bool):
        return answer
    if not cluster.configuration.dialect.explains_selectors:
        raise PluginError(f"{selector}: CEL runtime error: {answer}")
    hint = _MISSING_KEY_HINT if "no such key:" in str(answer) else ""
    raise PluginError(f"{selector} on device {device.path}: CEL runtime error: {answer}{hint}")


def _evaluate(selector: DeviceSelector, device: Device) -> bool | CelError:
    from scheduler_core.schedulers.v1_37.cel.selectors import compile_selector

    try:
        return compile_selector(selector.expression).evaluate(device.variable)[0]
    except CompileError as error:
        raise PluginError(f"{selector}: CEL compile error: {error}") from None
    except CelError as error:
        return error
