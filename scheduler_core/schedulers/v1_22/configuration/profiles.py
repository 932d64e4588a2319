"""A scheduler's configuration, compiled to the profile of each ``spec.schedulerName``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct

from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.problems import PolicyError
from scheduler_core.kubernetes.readers import At
from scheduler_core.schedulers.extenders.configuration import CONFIGURATION, Extender, read_extenders
from scheduler_core.schedulers.profiles.profile import Profile
from scheduler_core.schedulers.v1_22.configuration.document import check_configuration
from scheduler_core.settings.release import (
    BY_PLUGINS,
    CONFIGURATION_GROUP,
    CONFIGURATION_KIND,
    V1_11,
    V1_22,
    configured_release,
    is_framework_document,
)
from scheduler_core.settings.settings import DEFAULT_SETTINGS, Settings

if TYPE_CHECKING:
    from scheduler_core.schedulers.v1_22.configuration.result import EnabledPlugins, FrameworkConfiguration

DEFAULT_NAMES = ("", "default-scheduler")
DEFAULT_FRAMEWORK: Document = {"apiVersion": f"{CONFIGURATION_GROUP}/v1beta2", "kind": CONFIGURATION_KIND}
"""The configuration of v1.22 where none is given."""


def foreign_plugins() -> frozenset[str]:
    """Return the plugins of the scheduling framework that kube-scheduler v1.37 is not built with."""
    from scheduler_core.schedulers.v1_22.plugins.table import FRAMEWORK_PLUGINS

    return frozenset(entry.name for entry in FRAMEWORK_PLUGINS if not entry.in_v1_37)


def _timed_plugins() -> frozenset[str]:
    """Return those that only the framework runs next to other schedulers."""
    from scheduler_core.schedulers.v1_22.plugins.table import FRAMEWORK_PLUGINS

    return frozenset(entry.name for entry in FRAMEWORK_PLUGINS)


class Configuration(Struct, frozen=True, dict=True):
    """A scheduler's start-up configuration: a v1 Policy or a KubeSchedulerConfiguration, and the settings.

    ``policy`` is ``None`` for the default provider. The configuration is compiled once, when it is first used
    or, by :func:`checked`, when it is read; one that cannot be used raises PolicyError. Another process, to
    which only the fields are sent, compiles it for itself: plugins compare by identity.
    """

    policy: Document | None = None
    settings: Settings = DEFAULT_SETTINGS

    @property
    def release(self) -> str:
        """The release that the configuration and the settings choose, "" if they choose none."""
        settings = self.settings
        asks = settings.asks_framework
        foreign = _timed_plugins if settings.are_several else foreign_plugins
        return configured_release(
            self.policy, settings.scheduler, settings.time, foreign, asks_framework=asks
        )

    @property
    def read_by(self) -> str:
        """The release that reads the document where several releases run side by side, "" without one."""
        return next(iter(self.readers), "")

    @property
    def readers(self) -> tuple[str, ...]:
        """The releases that read it there: all that are one set of plugins, if one of them does."""
        found = configured_release(self.policy, "", "instant", _timed_plugins)
        alike = tuple(one for one in BY_PLUGINS if self.settings.runs(one)) if found in BY_PLUGINS else ()
        return alike or (found,)

    @property
    def is_for_peers(self) -> bool:
        """Whether only peers of the framework, schedulers of another release, read it."""
        return self.release == V1_22 and self.read_by != V1_22 and self.settings.runs(self.read_by)

    @property
    def reader(self) -> str:
        """The release that reads the document: that of the framework's peers, or the one that answers."""
        return self.read_by if self.is_for_peers else self.release

    @property
    def in_force(self) -> Document | None:
        """The document that the framework or v1.11 reads; ``None`` for the default.

        A release does not read another's configuration. v1.37 compiles its own elsewhere
        (:func:`scheduler_core.schedulers.v1_37.config.read_configuration`); what is compiled here describes
        it to views.
        """
        chosen, written = self.settings.scheduler, is_framework_document(self.policy)
        if self.is_for_peers:
            return DEFAULT_FRAMEWORK if chosen == V1_22 else None
        if (self.release in BY_PLUGINS and not written) or (chosen == V1_11 and written):
            return None
        return DEFAULT_FRAMEWORK if chosen == V1_22 and self.policy is None else self.policy

    @property
    def in_framework(self) -> bool:
        """Whether the scheduling framework reads a KubeSchedulerConfiguration."""
        return self.release not in BY_PLUGINS and is_framework_document(self.in_force)

    @property
    def timed(self) -> bool:
        """Whether a scheduler with this configuration runs in virtual time."""
        return self.release == V1_22

    def compile(self) -> None:
        """Raise PolicyError if it cannot be used."""
        _ = self.compiled

    @cached_property
    def compiled(self) -> Profile | FrameworkConfiguration:
        """What the configuration compiles to; for a release that has plugins of its own, v1.22's of it."""
        from scheduler_core.schedulers.v1_11.policy.compiler import compile_policy

        document = self.in_force
        if document is None or not is_framework_document(document):
            return compile_policy(document, self.settings)
        from scheduler_core.schedulers.v1_22.configuration.compiler import compile_configuration

        if self.release not in BY_PLUGINS:
            return compile_configuration(document, self.settings)
        try:
            return compile_configuration(document, self.settings)
        except PolicyError:  # it names plugins of v1.37 alone
            return compile_policy(None, self.settings)

    @cached_property
    def extenders(self) -> tuple[Extender, ...]:
        """The extenders that the scheduler asks: those of v1.11's Policy, or of v1.37's configuration."""
        if self.policy is None:
            return ()
        if self.reader not in BY_PLUGINS:
            return self.profile.extenders
        document = self.policy if is_framework_document(self.policy) else None
        return read_extenders((document or {}).get("extenders"), CONFIGURATION)[0]

    @property
    def framework(self) -> FrameworkConfiguration | None:
        """The compiled profiles of a KubeSchedulerConfiguration, ``None`` under a Policy."""
        compiled = self.compiled if self.in_framework else None
        return None if isinstance(compiled, Profile) else compiled

    @cached_property
    def profiles(self) -> Mapping[str, Profile]:
        """The profiles by the schedulerName of the pods that they schedule; other pods are ignored."""
        compiled = self.compiled
        if isinstance(compiled, Profile):
            return dict.fromkeys(DEFAULT_NAMES, compiled)
        profiles = {profile.scheduler_name: profile.profile for profile in compiled.profiles}
        named = profiles.get(DEFAULT_NAMES[1])
        return profiles if named is None else {**profiles, "": named}

    @property
    def profile(self) -> Profile:
        """The default scheduler's profile, or the first if none has its name."""
        compiled = self.compiled
        return compiled if isinstance(compiled, Profile) else compiled.main.profile


def checked(policy: Document, settings: Settings, at: At) -> Configuration:
    """Compile a configuration document; report its errors and warnings to ``at``."""
    from scheduler_core.schedulers.v1_11.policy.checks import check_policy

    made = Configuration(policy, settings)
    if made.is_for_peers and made.read_by == V1_11:
        check_policy(policy, settings, at)
    if made.in_force is not policy or made.release in BY_PLUGINS:
        return made
    check = check_configuration if made.in_framework else check_policy
    compiled = check(policy, settings, at)
    if compiled is not None:
        vars(made)["compiled"] = compiled
    return made


def framework_plugins(configuration: Configuration) -> Mapping[str, EnabledPlugins] | None:
    """Return the plugins of each profile by schedulerName, ``None`` under a Policy."""
    if configuration.framework is None:
        return None
    from scheduler_core.schedulers.v1_22.configuration.result import EnabledPlugins

    return {
        one.scheduler_name: EnabledPlugins(
            {point: one.names(point) for point in one.points},
            one.weights,
            one.arguments,
            one.percentage_of_nodes_to_score,
        )
        for one in configuration.framework.profiles
    }


def compile_profile(document: Document | None, settings: Settings = DEFAULT_SETTINGS) -> Profile:
    """Compile the default scheduler's profile of a Policy or KubeSchedulerConfiguration.

    ``None`` is the default provider.

    Raises:
        PolicyError: With every problem and its path.
    """
    return Configuration(document, settings).profile
