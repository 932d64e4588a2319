"""A scheduler's configuration, compiled to the profile of each ``spec.schedulerName``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from scheduler_core.config.policy import Profile, compile_policy
from scheduler_core.config.settings import DEFAULT_SETTINGS, Settings
from scheduler_core.framework.configuration.compiling import compile_configuration
from scheduler_core.framework.configuration.result import FrameworkConfiguration
from scheduler_core.framework.configuration.versions import CONFIGURATION_KIND
from scheduler_core.objects.manifests import Document

DEFAULT_NAMES = ("", "default-scheduler")


@dataclass(frozen=True, slots=True)
class Configuration:
    """A scheduler's start-up configuration: a v1 Policy or a KubeSchedulerConfiguration, and the settings.

    ``policy`` is ``None`` for the default provider.
    """

    policy: Document | None = None
    settings: Settings = DEFAULT_SETTINGS

    @property
    def framework(self) -> FrameworkConfiguration | None:
        """The compiled profiles of a KubeSchedulerConfiguration, ``None`` under a Policy.

        Raises:
            PolicyError: The configuration cannot be used.
        """
        if self.policy is None or self.policy.get("kind") != CONFIGURATION_KIND:
            return None
        return compile_configuration(self.policy, self.settings)


def compile_profile(document: Document | None, settings: Settings = DEFAULT_SETTINGS) -> Profile:
    """Compile the default scheduler's profile of a Policy or KubeSchedulerConfiguration.

    ``None`` is the default provider.

    Raises:
        PolicyError: With every problem and its path.
    """
    framework = Configuration(document, settings).framework
    return compile_policy(document, settings) if framework is None else framework.main.profile


def profiles_of(configuration: Configuration) -> Mapping[str, Profile]:
    """Return the profiles by the schedulerName of the pods that they schedule; other pods are ignored.

    Raises:
        PolicyError: The configuration cannot be used.
    """
    framework = configuration.framework
    if framework is None:
        return dict.fromkeys(DEFAULT_NAMES, compile_policy(configuration.policy, configuration.settings))
    profiles = {profile.scheduler_name: profile.profile for profile in framework.profiles}
    named = profiles.get(DEFAULT_NAMES[1])
    return profiles if named is None else {**profiles, "": named}


def main_profile(profiles: Mapping[str, Profile]) -> Profile:
    """Return the default scheduler's profile, or the first if none has its name."""
    return profiles.get(DEFAULT_NAMES[1]) or next(iter(profiles.values()))
