"""The types of what is sent: catalogue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from playground.protocol.declarations import row
from playground.protocol.page import ProblemWire
from playground.protocol.settings import Argument, PolicyWire


class CataloguePredicateWire(TypedDict):
    key: str
    place: int | None
    proposal: int | None
    runs: int | None
    alias: str
    text: str
    members: Sequence[str]
    bundle: str
    mandatory: bool
    default: bool
    argument: str


class CataloguePriorityWire(TypedDict):
    name: str
    text: str
    kind: str
    steps: str
    weight: int | None


class CataloguePluginWire(TypedDict):
    name: str
    points: Sequence[str]
    predicates: Sequence[str]
    priority: str
    differs: Sequence[str]
    versions: Sequence[str]
    instead: str


_CatalogueVersion = Annotated[Sequence[Any], row(version=str, releases=str)]


class DeclaredPluginsWire(TypedDict):
    plugins: Sequence[PluginRowWire]
    gates: Sequence[FeatureGateWire]


class CatalogueWire(TypedDict):
    """What a policy can be made of."""

    predicates: Sequence[CataloguePredicateWire]
    priorities: Sequence[CataloguePriorityWire]
    providers: Sequence[str]
    versions: Sequence[_CatalogueVersion]
    plugins: Sequence[CataloguePluginWire]
    v1_37: DeclaredPluginsWire
    descheduler: Sequence[DeschedulerPluginWire]


class DeschedulerPluginWire(TypedDict):
    name: str
    point: str
    words: str
    arguments: Sequence[DeclaredArgumentWire]


_DeclaredArgumentField = Annotated[Sequence[Any], row(name=str, type=str)]


class DeclaredArgumentWire(TypedDict):
    """A field of a plugin's arguments.

    `only` are the values of others with which it counts, by their paths.
    """

    path: str
    type: Literal[
        "choice",
        "integer",
        "flag",
        "names",
        "shape",
        "resources",
        "constraints",
        "affinity",
        "text",
        "numbers",
        "percentages",
        "selector",
        "rows",
    ]
    label: NotRequired[str]
    fields: NotRequired[Sequence[_DeclaredArgumentField]]
    default: Any
    text: str
    choices: Sequence[str]
    least: int
    most: int
    only: Mapping[str, str]


class PluginRowWire(TypedDict):
    """A plugin of kube-scheduler v1.37 as it is declared; `weight` is 0 if it does not score."""

    name: str
    points: Sequence[str]
    weight: int
    gate: str
    filters: str
    prefers: str
    otherwise: str
    arguments: Sequence[DeclaredArgumentWire]


class FeatureGateWire(TypedDict):
    """`does` is "" for a gate that is not simulated otherwise than by default."""

    name: str
    default: bool
    locked: bool
    needs: Sequence[str]
    does: str


class ProfileFormWire(TypedDict):
    name: str
    percentage: int | None
    points: Mapping[str, Sequence[str]]
    weights: Mapping[str, int]
    arguments: Mapping[str, Mapping[str, Any]]


class PluginFormWire(TypedDict):
    """What kube-scheduler v1.37 runs.

    `default` are its plugins by point, `scheduler` the release that is pinned.
    """

    scheduler: str
    percentage: int | None
    gates: Mapping[str, bool]
    default: Mapping[str, Sequence[str]]
    profiles: Sequence[ProfileFormWire]


_FrameworkProfilePoint = Annotated[Sequence[Any], row(plugin=str, weight=int)]


class WrittenPluginsWire(TypedDict):
    enabled: Sequence[str]
    disabled: Sequence[str]


class FrameworkProfileWire(TypedDict):
    name: str
    points: Mapping[str, Sequence[_FrameworkProfilePoint]]
    written: Mapping[str, WrittenPluginsWire]
    arguments: Mapping[str, Argument]


class FrameworkWire(TypedDict):
    """The profiles of a KubeSchedulerConfiguration."""

    version: str
    points: Sequence[str]
    profiles: Sequence[FrameworkProfileWire]


class OtherFormWire(TypedDict):
    kind: str
    text: str
    lost: Sequence[str]
    notes: Sequence[str]


class PolicyDocumentWire(TypedDict):
    text: str
    kind: Literal["Policy", "KubeSchedulerConfiguration", ""]
    errors: Sequence[ProblemWire]
    warnings: Sequence[ProblemWire]
    profile: PolicyWire | None
    framework: FrameworkWire | None
    form: PluginFormWire | None
    other: OtherFormWire | None
