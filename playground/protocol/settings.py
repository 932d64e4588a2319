"""The types of what is sent: settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, TypedDict

from playground.protocol.declarations import Named, row

CacheMode = Annotated[Literal["off", "designed", "v1.11", "sound", "batching"], Named("CacheMode")]
_PolicyPriority = Annotated[Sequence[Any], row(name=str, weight=int)]


class PolicyWire(TypedDict):
    """What the scheduler runs."""

    predicates: Sequence[str]
    neverRun: Sequence[str]
    priorities: Sequence[_PolicyPriority]
    arguments: Mapping[str, Argument]
    hardPodAffinitySymmetricWeight: int
    alwaysCheckAllPredicates: bool
    quirks: str
    predicateOrder: str
    cache: CacheMode
    equivalenceClass: Literal["controller", "attributes"]
    audit: bool
    staleWrites: Literal["none", "isUpToDate", "generations"]
    extenders: Sequence[str]  # by address
    warnings: Sequence[str]


Argument = Annotated[Mapping[str, Any], Named("Argument")]
"""The argument of a predicate or priority, by its kind."""


class ListedSchedulerWire(TypedDict):
    """A scheduler of the SimulationSettings; delays in seconds."""

    name: str
    runs: str
    watchDelay: float
    decisionTime: float
    bindDelay: float
    replicas: int
    nodes: Mapping[str, str]


class SchedulersWire(TypedDict):
    design: str
    views: bool
    listed: Sequence[ListedSchedulerWire]


class DeschedulerWire(TypedDict):
    """How a scenario runs the descheduler: seconds between passes, and the most of them."""

    edition: str
    interval: float
    passes: int
    dryRun: bool
    profiles: Sequence[DeschedulerProfileWire]


class DeschedulerProfileWire(TypedDict):
    """A profile as it is written: the plugins that it enables, and arguments by plugin."""

    name: str
    enabled: Sequence[str]
    arguments: Mapping[str, Mapping[str, Any]]
