"""Arguments that several strategies share: their readers, and what upstream's validation says of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from msgspec import Struct, field

from scheduler_core.cluster.descheduler.facts import PodFacts
from scheduler_core.kubernetes.fields_common import LABEL_SELECTOR
from scheduler_core.kubernetes.model import LabelSelector
from scheduler_core.kubernetes.readers import (
    At,
    Field,
    Outline,
    Reader,
    integer,
    list_of,
    mapping,
    outlined,
    record,
    show,
    text,
)
from scheduler_core.kubernetes.selectors import matches

TEXTS = list_of(text)
COUNT = integer(0, 2**31 - 1)
SECONDS = integer(0, 2**53)
Thresholds = Mapping[str, float]


class InvalidArguments(Struct, frozen=True):
    """Why upstream refuses arguments: its message, the field within them, and what to write instead."""

    message: str
    path: str
    remedy: str


Check = Callable[[Any], Iterator[InvalidArguments]]


def percentage(value: Any, at: At) -> float | None:
    """Read a number; whether it is a percentage is validated with the other arguments."""
    if type(value) not in (int, float):
        at.error(f"must be a percentage such as 20, not {show(value)}")
        return None
    return float(value)


outlined(percentage, Outline("number"))
THRESHOLDS = mapping(percentage)


class Namespaces(Struct, frozen=True):
    """The namespaces whose pods a strategy considers: the included ones, or all but the excluded ones."""

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    def have(self, namespace: str) -> bool:
        """Return whether a namespace is considered."""
        return (not self.include or namespace in self.include) and namespace not in self.exclude


NAMESPACES = record(Namespaces, {"include": Field("include", TEXTS), "exclude": Field("exclude", TEXTS)})


class PodScope(Struct, frozen=True, kw_only=True):
    """Which pods a strategy considers: the base of most strategies' arguments."""

    namespaces: Namespaces = field(default_factory=Namespaces)
    label_selector: LabelSelector | None = None

    def has(self, pod: PodFacts) -> bool:
        """Return whether a pod is considered."""
        selected = self.label_selector is None or matches(self.label_selector, pod.labels)
        return selected and self.namespaces.have(pod.namespace)


SCOPE_FIELDS = {
    "namespaces": Field("namespaces", NAMESPACES),
    "labelSelector": Field("label_selector", LABEL_SELECTOR),
}


def args_reader(build: Callable[..., Any], fields: Mapping[str, Field]) -> Reader:
    """Create a reader of a plugin's arguments, which may name their type as any object does."""
    return record(build, fields, unread="apiVersion kind")


def check_scope(args: PodScope) -> Iterator[InvalidArguments]:
    """Yield what is wrong with the namespaces."""
    if args.namespaces.include and args.namespaces.exclude:
        yield InvalidArguments(
            "only one of Include/Exclude namespaces can be set",
            "namespaces",
            "remove either include or exclude",
        )


def check_thresholds(thresholds: Thresholds, path: str, prefix: str = "") -> Iterator[InvalidArguments]:
    """Yield the first fault of thresholds (validateThresholds); ``prefix`` begins the message."""
    if not thresholds:
        yield InvalidArguments(
            f"{prefix}no resource threshold is configured", path, "set one, such as cpu: 20, in percent"
        )
    for name, percent in sorted(thresholds.items()):
        if not 0 <= percent <= 100:
            message = f"{prefix}{name} threshold not in [0, 100] range"
            yield InvalidArguments(
                message, f"{path}[{name!r}]" if "." in name else f"{path}.{name}", "write 0 to 100"
            )
            return


def check_excluding(namespaces: Namespaces) -> Iterator[InvalidArguments]:
    """Yield the refusal of included namespaces, which utilization strategies do not support."""
    if namespaces.include:
        yield InvalidArguments(
            "only Exclude namespaces can be set, inclusion is not supported",
            "evictableNamespaces.include",
            "name the namespaces to leave alone under exclude",
        )
