"""A DeschedulerPolicy of either edition: what it says, and what upstream refuses of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct, field

from scheduler_core.cluster.descheduler.arguments import InvalidArguments
from scheduler_core.cluster.descheduler.classic.params import Params
from scheduler_core.cluster.descheduler.eviction import EvictionLimits
from scheduler_core.cluster.descheduler.evictor import SYSTEM_CRITICAL
from scheduler_core.cluster.descheduler.protections import (
    DEFAULT_EVICTOR,
    EvictorArgs,
    PriorityThreshold,
    check_evictor,
)
from scheduler_core.cluster.descheduler.strategy import BALANCE, CURRENT, DESCHEDULE, Strategy
from scheduler_core.cluster.descheduler.table import PLUGINS
from scheduler_core.kubernetes.label_query import parse_label_query

GROUP = "descheduler"
V1ALPHA1, V1ALPHA2 = f"{GROUP}/v1alpha1", f"{GROUP}/v1alpha2"
FILTER, PRE_EVICTION_FILTER = "filter", "preEvictionFilter"
POINTS = {
    "deschedule": DESCHEDULE,
    "balance": BALANCE,
    "filter": FILTER,
    "preevictionfilter": PRE_EVICTION_FILTER,
}
"""The extension points that a profile enables plugins at, each with the word of error messages."""

SYSTEM_CLASSES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}


class PolicyRefusedError(ValueError):
    """The descheduler refuses the policy: its message, and each refusal with its place."""

    def __init__(self, refusals: list[InvalidArguments], message: str = "") -> None:
        self.refusals = refusals
        super().__init__(message or aggregate(one.message for one in refusals))


def aggregate(messages: Iterable[str]) -> str:
    """Join messages as Go's aggregated errors are printed: without repetitions, several in brackets."""
    found = list(dict.fromkeys(messages))
    return found[0] if len(found) == 1 else f"[{', '.join(found)}]"


class PluginConfig(Struct, frozen=True):
    """One entry of ``pluginConfig``; ``args`` is ``None`` if the plugin is not registered."""

    name: str
    args: Any = None


class DeschedulerProfile(Struct, frozen=True):
    """A profile: arguments, and the plugins enabled at each of :data:`POINTS`, in order."""

    name: str = ""
    configs: tuple[PluginConfig, ...] = ()
    enabled: Mapping[str, tuple[str, ...]] = {}

    @property
    def evictor(self) -> EvictorArgs:
        """DefaultEvictor's arguments."""
        found = self.args_of(DEFAULT_EVICTOR)
        return found if isinstance(found, EvictorArgs) else EvictorArgs()

    def args_of(self, name: str) -> Any:
        """Return a plugin's arguments, ``None`` without any."""
        return next((one.args for one in self.configs if one.name == name), None)

    def strategies(self, point: str) -> Iterator[tuple[Strategy, Any]]:
        """Yield the plugins enabled at a point with their arguments, in order."""
        return ((PLUGINS[name], self.args_of(name)) for name in self.enabled.get(point, ()))


class ClassicStrategy(Struct, frozen=True):
    """A strategy of v1alpha1."""

    enabled: bool = False
    params: Params = field(default_factory=Params)
    weight: Any = None


class Policy(Struct, frozen=True):
    """A policy of the current edition, or one of v1alpha1: then ``strategies``, and no profiles.

    ``later`` are the parts of v1alpha1 in use that v0.9.0 does not know; ``switches`` the top-level ones that
    are true.
    """

    edition: str = CURRENT
    node_selector: str = ""
    limits: EvictionLimits = EvictionLimits()
    profiles: tuple[DeschedulerProfile, ...] = ()
    strategies: Mapping[str, ClassicStrategy] = {}
    switches: frozenset[str] = frozenset()
    later: tuple[str, ...] = ()
    metrics: bool = False
    grace_period: int | None = None


def refusals_of(policy: Policy, priority_classes: Mapping[str, int]) -> list[InvalidArguments]:
    """Return what the current edition refuses, as it would report it: one step after the other."""
    for step in (
        [one for place, of in enumerate(policy.profiles) for one in _invalid(of, place)],
        [one for place, of in enumerate(policy.profiles) for one in _threshold(of, place, priority_classes)][
            :1
        ],
        [one for place, of in enumerate(policy.profiles) for one in _misplaced(of, place)][:1],
        [*_bad_query(policy.node_selector, "nodeSelector")],
    ):
        if step:
            return step
    return []


def _invalid(profile: DeschedulerProfile, place: int) -> Iterator[InvalidArguments]:
    """Yield what is wrong with the arguments (validateDeschedulerConfiguration), one for each plugin."""
    for index, config in enumerate(profile.configs):
        path = f"profiles[{place}].pluginConfig[{index}]"
        prefix = f"in profile {profile.name}: "
        known = (DEFAULT_EVICTOR, *PLUGINS)
        if config.name not in known:
            message = f"{prefix}plugin {config.name} in pluginConfig not registered"
            yield InvalidArguments(message, f"{path}.name", f"known are {', '.join(known)}")
            continue
        check = check_evictor if config.name == DEFAULT_EVICTOR else PLUGINS[config.name].check
        faults = list(check(config.args))
        if faults:
            message = prefix + aggregate(one.message for one in faults)
            yield InvalidArguments(
                message, f"{path}.args.{faults[0].path}", "; ".join(one.remedy for one in faults)
            )


def threshold_of(threshold: PriorityThreshold, classes: Mapping[str, int]) -> int:
    """Return the priority from which pods are protected (GetPriorityValueFromPriorityThreshold).

    Raises:
        ValueError: The class does not exist, or the priority is beyond that of the system's.
    """
    value = threshold.value
    if value is None and threshold.name and threshold.name not in classes:
        raise ValueError(
            "unable to get priority value from the priority class: priorityclasses.scheduling.k8s.io "
            f'"{threshold.name}" not found'
        )
    if value is None:
        value = classes[threshold.name] if threshold.name else SYSTEM_CRITICAL
    if value > SYSTEM_CRITICAL:
        raise ValueError(f"priority threshold can't be greater than {SYSTEM_CRITICAL}")
    return value


def _threshold(
    profile: DeschedulerProfile, place: int, classes: Mapping[str, int]
) -> Iterator[InvalidArguments]:
    try:
        threshold_of(profile.evictor.priority_threshold, classes)
    except ValueError as error:
        index = next(i for i, one in enumerate(profile.configs) if one.name == DEFAULT_EVICTOR)
        path = f"profiles[{place}].pluginConfig[{index}].args.priorityThreshold"
        yield InvalidArguments(str(error), path, "write a lower value, or the name of a PriorityClass")


def _misplaced(profile: DeschedulerProfile, place: int) -> Iterator[InvalidArguments]:
    """Yield plugins that are enabled where they do nothing, or without arguments (NewProfile)."""
    for key, word in POINTS.items():
        given = profile.enabled.get(word, ())
        wrong = sorted({name for name in given if not _implements(name, word)})
        if wrong:
            listed = " ".join(f"{name}:{{}}" for name in wrong)
            yield InvalidArguments(
                f'profile "{profile.name}" configures {word} extension point of non-existing plugins: '
                f"map[{listed}]",
                f"profiles[{place}].plugins.{key}.enabled[{given.index(wrong[0])}]",
                _where(wrong[0]),
            )
    for word in (DESCHEDULE, BALANCE):
        for index, name in enumerate(profile.enabled.get(word, ())):
            if profile.args_of(name) is None:
                message = f'unable to build {name} plugin: unable to find "{name}" plugin config'
                path = f"profiles[{place}].plugins.{word}.enabled[{index}]"
                yield InvalidArguments(message, path, f"add an entry for {name} to pluginConfig")


def _implements(name: str, point: str) -> bool:
    if point in (FILTER, PRE_EVICTION_FILTER):
        return name == DEFAULT_EVICTOR
    return name in PLUGINS and PLUGINS[name].point == point


def _where(name: str) -> str:
    if name in PLUGINS:
        return f"enable {name} under {PLUGINS[name].point}"
    if name == DEFAULT_EVICTOR:
        return "DefaultEvictor is always enabled: remove it"
    return f"known are {', '.join(PLUGINS)}"


def _bad_query(query: str, path: str) -> Iterator[InvalidArguments]:
    """Yield that a node selector cannot be parsed."""
    try:
        parse_label_query(query)
    except ValueError as error:
        yield InvalidArguments(f"unable to parse the node selector: {error}", path, "write such as zone=a")
