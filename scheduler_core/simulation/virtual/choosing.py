"""Choose the simulation of a scenario: v1.11's, without a clock, or the framework's in virtual time."""

from __future__ import annotations

from collections.abc import Callable

from scheduler_core.framework.configuration.profiles import Configuration
from scheduler_core.framework.configuration.versions import CONFIGURATION_KIND
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.simulation.instant import Simulation
from scheduler_core.simulation.virtual.simulation import TimedSimulation
from scheduler_core.simulation.virtual.stepper import Stepper


def is_timed(scenario: Scenario) -> bool:
    """Return whether a scenario runs in virtual time.

    It does if it has a KubeSchedulerConfiguration or sets ``time: virtual``, at the start or at a step.
    """
    changed = (operation.configuration for operation in scenario.operations)
    given = (Configuration(scenario.policy, scenario.settings), *changed)
    return any(_timed(configuration) for configuration in given if configuration is not None)


def _timed(configuration: Configuration) -> bool:
    if configuration.settings.time == "virtual":
        return True
    return configuration.policy is not None and configuration.policy.get("kind") == CONFIGURATION_KIND


def simulate(
    scenario: Scenario,
    *,
    trace: bool = True,
    reuse: bool = True,
    quirk_effects: bool = True,
    interrupt: Callable[[], None] | None = None,
) -> Stepper:
    """Return the simulation that suits a scenario, before its first step; the options are the simulations'.

    Raises:
        PolicyError: The scenario's configuration cannot be used.
    """
    if is_timed(scenario):
        return TimedSimulation(scenario, trace=trace, interrupt=interrupt)
    return Simulation(scenario, trace=trace, reuse=reuse, quirk_effects=quirk_effects)
