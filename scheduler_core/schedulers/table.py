"""What each release does with a scheduler's configuration: a row per release, which other packages ask."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct

from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.reading import At
from scheduler_core.schedulers.v1_11 import RELEASE as V1_11
from scheduler_core.schedulers.v1_22 import RELEASE as V1_22
from scheduler_core.schedulers.v1_22.configuration import profiles
from scheduler_core.schedulers.v1_22.configuration.profiles import Configuration
from scheduler_core.schedulers.v1_22.configuration.result import EnabledPlugins
from scheduler_core.schedulers.v1_37 import RELEASE as V1_37
from scheduler_core.schedulers.v1_37.configuration import (
    check_v1_37_configuration,
    v1_37_plugins,
    warn_of_readers,
)
from scheduler_core.settings.release import CONFIGURATION_KIND, is_framework_document
from scheduler_core.settings.settings import Settings


class ConfigurationReader(Struct, frozen=True):
    """How a release reads a configuration.

    ``check`` reports what is wrong in a document beyond :func:`.profiles.checked`; ``plugins`` returns the
    plugins of each profile by schedulerName, ``None`` for predicates and priorities.
    """

    check: Callable[[Configuration, At], None]
    plugins: Callable[[Configuration], Mapping[str, EnabledPlugins] | None]


def _check_v1_11(configuration: Configuration, at: At) -> None:
    if is_framework_document(configuration.policy):
        at.child("kind").warn(f"kube-scheduler {V1_11} reads no {CONFIGURATION_KIND}: it is ignored")


def _check_v1_22(configuration: Configuration, at: At) -> None:
    """Report nothing: it was checked when it was compiled."""
    del configuration, at


def _check_v1_37(configuration: Configuration, at: At) -> None:
    check_v1_37_configuration(configuration.policy or {}, configuration.settings, at)


READERS: Mapping[str, ConfigurationReader] = {
    V1_11: ConfigurationReader(_check_v1_11, profiles.framework_plugins),
    V1_22: ConfigurationReader(_check_v1_22, profiles.framework_plugins),
    V1_37: ConfigurationReader(_check_v1_37, v1_37_plugins),
}


def checked(policy: Document, settings: Settings, at: At) -> Configuration:
    """Compile a bundle's configuration; report its errors, and who does not read it, to ``at``."""
    made = profiles.checked(policy, settings, at)
    if settings.mixes_releases:
        warn_of_readers(made, at)
    READERS[made.reader].check(made, at)
    return made
