"""Which kube-scheduler answers a scenario: the releases, and what chooses one. The only place that does.

``SimulationSettings.scheduler`` is decisive. Without it the configuration is: a Policy is v1.11's, a
KubeSchedulerConfiguration v1 is v1.37's unless it enables a plugin that v1.37 is not built with, and older
versions are the scheduling framework's. Without a configuration it is the kubelets of the nodes, unless the
settings name what only v1.11 reads. A scenario that says nothing is :data:`DEFAULT_RELEASE`'s.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

V1_11, V1_22, V1_37 = "v1.11", "v1.22", "v1.37"
RELEASES = (V1_11, V1_22, V1_37)
"""Oldest first. v1.22 stands for the scheduling framework in virtual time."""

CONFIGURATION_KIND = "KubeSchedulerConfiguration"
CONFIGURATION_V1 = "kubescheduler.config.k8s.io/v1"
DEFAULT_RELEASE = V1_37
"""Of a bundle that says nothing; :func:`default_release` returns it."""

_VERSION = re.compile(r"v?1\.([0-9]{1,4})(?![0-9])")
_FIRST_LATER = 12  # kubelets from 1.12 on belong to clusters that v1.11 does not schedule


def default_release() -> str:
    """Return the release of a bundle that says nothing."""
    return DEFAULT_RELEASE


def is_framework_document(policy: Mapping[str, Any] | None) -> bool:
    """Return whether a scheduler's configuration is a KubeSchedulerConfiguration."""
    return policy is not None and policy.get("kind") == CONFIGURATION_KIND


def can_read(release: str, policy: Mapping[str, Any] | None) -> bool:
    """Return whether a release reads a scheduler's configuration at all; "" stands for any release."""
    if policy is None or release in ("", V1_22):
        return True
    return is_framework_document(policy) == (release == V1_37)


def configured_release(
    policy: Mapping[str, Any] | None, scheduler: str, time: str, foreign: Collection[str]
) -> str:
    """Return the release that a configuration and the settings choose, "" if they choose none.

    ``foreign`` are the plugins of the scheduling framework that kube-scheduler v1.37 is not built with.
    """
    if scheduler:
        return scheduler
    if policy is None:
        return V1_22 if time == "virtual" else ""
    if not is_framework_document(policy):
        return V1_22 if time == "virtual" else V1_11
    modern = policy.get("apiVersion") == CONFIGURATION_V1
    return V1_37 if modern and not any(name in foreign for name in plugins_named(policy)) else V1_22


def plugins_named(policy: Mapping[str, Any]) -> Iterator[str]:
    """Yield the plugins that the profiles of a KubeSchedulerConfiguration enable or configure."""
    profiles = policy.get("profiles")
    for profile in profiles if isinstance(profiles, list) else ():
        if not isinstance(profile, Mapping):
            continue
        points = profile.get("plugins")
        sets = points.values() if isinstance(points, Mapping) else ()
        listed = [one.get("enabled") for one in sets if isinstance(one, Mapping)]
        for entries in (*listed, profile.get("pluginConfig")):
            for entry in entries if isinstance(entries, list) else ():
                if isinstance(entry, Mapping) and isinstance(entry.get("name"), str):
                    yield entry["name"]


def release_of_kubelets(versions: Iterable[str]) -> str:
    """Return the release that schedules nodes with these kubelets, "" if they do not tell.

    The newest kubelet counts: a control plane is never older than its nodes.
    """
    minors = [int(found[1]) for found in map(_VERSION.match, versions) if found]
    if not minors:
        return ""
    return V1_37 if max(minors) >= _FIRST_LATER else V1_11


def chosen_release(configured: Sequence[str], kubelets: str, *, only_v1_11: bool) -> str:
    """Return the release that a scenario chooses, "" if it says nothing.

    ``configured`` are the choices of its configurations, the initial one first, "" for those that choose
    none; ``kubelets`` is that of :func:`release_of_kubelets`; ``only_v1_11``: settings, those that an
    operation writes among them, ask for what no other release has.
    """
    initial, *later = configured
    if initial:
        return V1_22 if initial == V1_11 and V1_22 in later else initial
    found = next((release for release in (V1_22, V1_37, V1_11) if release in later), "")
    return found or (V1_11 if only_v1_11 else kubelets)
