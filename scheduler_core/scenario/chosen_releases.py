"""What a Scenario document, which is not checked yet, says of the run as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scheduler_core.scenario.reconfiguration import is_configuration
from scheduler_core.schedulers.table import SUPPORT
from scheduler_core.schedulers.v1_22.configuration.profiles import foreign_plugins
from scheduler_core.settings.release import (
    HOLDING,
    VIRTUAL,
    configured_release,
    plugins_named,
    release_of_patch,
    release_of_settings,
)
from scheduler_core.settings.settings import ONLY_V1_11, SETTINGS_KIND, names_only_v1_11


def has_controllers(scenario: Any) -> bool:
    """Return whether controllers run in a history: ``spec.controllers`` is not an empty list."""
    spec = scenario.get("spec")
    return not (isinstance(spec, dict) and spec.get("controllers") == [])


def releases_written(scenario: Any) -> Iterator[str]:
    """Yield the releases that a history's operations on the configuration choose, "" for those that do not.

    A release that is chosen later answers from the start.
    """
    spec = scenario.get("spec")
    listed = spec.get("operations") if isinstance(spec, dict) else None
    for item in listed if isinstance(listed, list) else ():  # it is not checked yet
        if isinstance(item, dict):
            yield from _release_written(item)


def _release_written(operation: dict[str, Any]) -> Iterator[str]:
    created, patched = operation.get("createOperation"), operation.get("patchOperation")
    made = created.get("object") if isinstance(created, dict) else None
    if isinstance(made, dict) and is_configuration(made):
        if made["kind"] == SETTINGS_KIND:
            yield _release_of_settings(made)
        else:
            chosen = configured_release(made, "", "", foreign_plugins)
            yield HOLDING if SUPPORT[chosen].holding.intersection(plugins_named(made)) else chosen
    if isinstance(patched, dict) and is_configuration(patched.get("typeMeta")):
        yield release_of_patch(str(patched.get("patch")), ONLY_V1_11)


def _release_of_settings(made: dict[str, Any]) -> str:
    time, several = str(made.get("time")), bool(made.get("schedulers") or made.get("design"))
    named = str(made.get("scheduler") or "")
    chosen = configured_release(None, named, time, foreign_plugins, asks_framework=several)
    only_v1_11 = names_only_v1_11(made)
    return release_of_settings(chosen, only_v1_11=only_v1_11, timed=time == VIRTUAL)
