"""Choose the simulation of a scenario: v1.11's, without a clock, the framework's in virtual time, v1.37's."""

from __future__ import annotations

from collections.abc import Callable

from scheduler_core.run.instant import Simulation
from scheduler_core.run.several.simulation import SeveralSimulation
from scheduler_core.run.simulation import TimedSimulation
from scheduler_core.run.stepper import Stepper
from scheduler_core.run.v1_37.simulation import V1_37Simulation
from scheduler_core.scenario.scenario import Scenario


def is_timed(scenario: Scenario) -> bool:
    """Return whether a scenario runs in the scheduling framework's virtual time, that of v1.22.

    It does if it has a KubeSchedulerConfiguration of that release or sets ``time: virtual``, at the start or
    at a step.
    """
    return scenario.row.is_timed


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
    clock = scenario.row.clock
    if clock == "own":
        return V1_37Simulation(scenario, trace=trace)
    if clock == "events":
        if scenario.settings.have_views:
            return SeveralSimulation(scenario, trace=trace, interrupt=interrupt)
        return TimedSimulation(scenario, trace=trace, interrupt=interrupt)
    return Simulation(scenario, trace=trace, reuse=reuse, quirk_effects=quirk_effects)
