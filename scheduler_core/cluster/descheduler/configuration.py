"""The descheduler of a bundle: its policy, checked, and the settings that it runs with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from scheduler_core.cluster.descheduler.arguments import InvalidArguments
from scheduler_core.cluster.descheduler.conversion import converted
from scheduler_core.cluster.descheduler.policy import (
    SYSTEM_CLASSES,
    V1ALPHA2,
    Policy,
    PolicyRefusedError,
    refusals_of,
)
from scheduler_core.cluster.descheduler.reader import read_policy
from scheduler_core.cluster.descheduler.runner import Flags
from scheduler_core.cluster.descheduler.strategy import BALANCE, CLASSIC, DESCHEDULE
from scheduler_core.cluster.descheduler.table import CLASSIC_STRATEGIES, PLUGINS
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.names import did_you_mean
from scheduler_core.kubernetes.readers import At, place_of, show
from scheduler_core.settings.descheduler import DeschedulerSettings


class DeschedulerConfiguration(Struct, frozen=True):
    """What a living run's descheduler is started with. ``namespaces`` are the labels of those written."""

    policy: Policy
    settings: DeschedulerSettings
    priority_classes: Mapping[str, int] = {}
    namespaces: Mapping[str, Mapping[str, str]] = {}

    @property
    def flags(self) -> Flags:
        """The options of the command line."""
        given = self.settings
        return Flags(given.dry_run, given.node_selector, given.most_per_node, given.evict_local_storage)

    def __deepcopy__(self, memo: object) -> DeschedulerConfiguration:
        return self


def read_configuration(
    document: Document,
    settings: DeschedulerSettings,
    priority_classes: Mapping[str, int],
    namespaces: Mapping[str, Mapping[str, str]],
    at: At,
) -> DeschedulerConfiguration | None:
    """Check a policy, and report every error with the field to change, and what is not simulated."""
    policy = read_policy(document, at)
    if policy is None:
        return None
    classes = {**SYSTEM_CLASSES, **priority_classes}
    try:
        policy = _runnable(policy, settings, at)
        refusals = refusals_of(policy, classes)
    except PolicyRefusedError as error:
        refusals = error.refusals
    for one in refusals:
        place_of(at, one.path).error(f"{one.message}: {one.remedy}")
    if refusals:
        return None
    for gap in _gaps(policy):
        place_of(at, gap.path).warn(f"{gap.message}: {gap.remedy}")
    return DeschedulerConfiguration(policy, settings, classes, namespaces)


def _runnable(policy: Policy, settings: DeschedulerSettings, at: At) -> Policy:
    """Return the policy as it runs: one of v1alpha1 by v0.9.0, unless it has younger parts."""
    if policy.edition != CLASSIC:
        if settings.has_classic_flags:
            at.warn(f"flags of v0.9.0 in the settings have no effect with {V1ALPHA2}: its policy has fields")
        return policy
    for name in policy.strategies.keys() - (PLUGINS.keys() | CLASSIC_STRATEGIES.keys()):
        text = f"{show(name)} is no strategy, and is passed over{did_you_mean(name, PLUGINS)}"
        at.child("strategies").child(name).warn(text)
    if not policy.later:
        return policy
    at.warn(
        f"v0.9.0 does not know {', '.join(policy.later)}: the policy runs as v0.28 converted it, by plugins"
    )
    return replace(converted(policy), later=())


def _gaps(policy: Policy) -> Sequence[InvalidArguments]:
    """Return what of a policy is not simulated."""
    found = []
    for place, profile in enumerate(policy.profiles):
        enabled = {row.name for point in (DESCHEDULE, BALANCE) for row, _ in profile.strategies(point)}
        for index, config in enumerate(profile.configs):
            if config.name in enabled:
                path = f"profiles[{place}].pluginConfig[{index}].args"
                gaps = PLUGINS[config.name].gaps(config.args)
                found += [InvalidArguments(one.message, f"{path}.{one.path}", one.remedy) for one in gaps]
    if policy.metrics:
        found.append(
            InvalidArguments("metrics of real usage are not simulated", "metricsProviders", "requests decide")
        )
    if policy.grace_period is not None:
        text = "gracePeriodSeconds is not simulated"
        found.append(
            InvalidArguments(text, "gracePeriodSeconds", "evicted pods have the grace period of their own")
        )
    return found
