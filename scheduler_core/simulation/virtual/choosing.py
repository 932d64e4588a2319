"""Choose the simulation of a scenario: v1.11's, without a clock, or the framework's in virtual time."""

from __future__ import annotations

from collections.abc import Callable

from scheduler_core.scenario.scenario import Scenario
from scheduler_core.simulation.instant import Simulation
from scheduler_core.simulation.virtual.simulation import TimedSimulation
from scheduler_core.simulation.virtual.stepper import Stepper


def is_timed(scenario: Scenario) -> bool:
    """Return whether a scenario runs in virtual time.

    It does if it has a KubeSchedulerConfiguration or sets ``time: virtual``, at the start or at a step.
    """
    return any(configuration.timed for configuration in scenario.configurations)


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
