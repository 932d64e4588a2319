"""The plane of runs that are compared: with controllers on all sides, if one side has them.

A verb makes a scenario live whose parent is plain. Played on the same plane, both are equal, byte for byte,
until the verb acts.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from scheduler_core.formats.limits import Limits
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.progress import Watch, unwatched
from scheduler_core.scenario.load import ExtensibleScenario
from scheduler_core.scenario.scenario import Scenario


def on_one_plane(scenarios: Sequence[Scenario]) -> tuple[Scenario, ...]:
    """Return the scenarios, each :func:`living` if one of them lives. Raises BundleError."""
    lives = any(one.lives for one in scenarios)
    return tuple(living(one) if lives and can_live(one) else one for one in scenarios)


def can_live(scenario: Scenario) -> bool:
    """Return whether a release runs a scenario without controllers that it has."""
    return scenario.controllers and scenario.row.clock == "own"


def living(scenario: Scenario, limits: Limits | None = None, watch: Watch = unwatched) -> Scenario:
    """Return the scenario with controllers, as if a verb existed that never acts; its content is the same.

    Raises:
        BundleError: It cannot be read so.
    """
    return reread(scenario, scenario.documents, limits, watch)


def reread(
    scenario: Scenario,
    documents: Sequence[Document],
    limits: Limits | None = None,
    watch: Watch = unwatched,
) -> Scenario:
    """Return the scenario of changed documents, with controllers and under the same settings.

    Raises:
        BundleError: It cannot be read so.
    """
    changed = replace(scenario, documents=tuple(documents))
    return ExtensibleScenario(changed, limits=limits, watch=watch).scenario
