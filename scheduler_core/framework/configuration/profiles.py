"""Who schedules which pod: the profile of each ``spec.schedulerName``, as the configuration has it."""

from __future__ import annotations

from collections.abc import Mapping

from scheduler_core.config.policy import Profile, compile_policy
from scheduler_core.scenario.scenario import Configuration

DEFAULT_NAMES = ("", "default-scheduler")


def profiles_of(configuration: Configuration) -> Mapping[str, Profile]:
    """Return the profiles by the schedulerName of the pods that they schedule; others are left alone.

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
    """Return the default scheduler's profile, or the first where there is none of its name."""
    return profiles.get(DEFAULT_NAMES[1]) or next(iter(profiles.values()))
