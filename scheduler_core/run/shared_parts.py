"""The immutable parts that a fork shares with the simulation it was copied from."""

from __future__ import annotations

from collections.abc import Iterator

from scheduler_core.run.control import ControlledFramework
from scheduler_core.scenario.scenario import Scenario


def shared(scenario: Scenario, framework: ControlledFramework) -> Iterator[object]:
    """Yield the configurations and compiled profiles that a scheduler and its copy may share."""
    yield scenario
    yield from scenario.configurations
    yield from scenario.settings.schedulers
    yield framework.release
    yield framework.pace
    yield framework.manager.options
    for runtime in (framework.runtime, *framework.runtimes.values()):
        yield runtime.scheduling
        yield runtime.scheduling.profile
