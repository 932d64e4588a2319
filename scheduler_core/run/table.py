"""The simulation of each release: a row per release, from which :func:`simulate` takes a scenario's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeGuard

from msgspec import Struct

from scheduler_core.run.loop import Stepper
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.settings.release import BY_PLUGINS, CACHING, TIMED

if TYPE_CHECKING:
    from scheduler_core.run.simulation import TimedSimulation


class RunOptions(Struct, frozen=True):
    """How a scenario is run: what is recorded, what work is shared, and what may stop it."""

    trace: bool = True
    reuse: bool = True
    quirk_effects: bool = True
    interrupt: Callable[[], None] | None = None


def _instant(scenario: Scenario, options: RunOptions) -> Stepper:
    from scheduler_core.run.instant import Simulation

    return Simulation(scenario, trace=options.trace, reuse=options.reuse, quirk_effects=options.quirk_effects)


def _timed(scenario: Scenario, options: RunOptions) -> Stepper:
    return _in_time(scenario)(scenario, trace=options.trace, interrupt=options.interrupt)


def _in_time(scenario: Scenario) -> type[TimedSimulation]:
    """Return what runs the framework, alone or with others."""
    if scenario.settings.have_views:
        from scheduler_core.run.several.simulation import SeveralSimulation

        return SeveralSimulation
    from scheduler_core.run.simulation import TimedSimulation

    return TimedSimulation


def _on_its_own_clock(scenario: Scenario, options: RunOptions) -> Stepper:
    if scenario.row.is_timed:
        from scheduler_core.run.several.lone import LoneSimulation, LoneStepper

        made = LoneSimulation if scenario.controllers else LoneStepper
        return made(scenario, trace=options.trace, interrupt=options.interrupt)
    from scheduler_core.run.v1_37.simulation import V1_37Simulation

    return V1_37Simulation(scenario, trace=options.trace)


SIMULATIONS: Mapping[str, Callable[[Scenario, RunOptions], Stepper]] = {
    CACHING: _instant,
    TIMED: _timed,
    **dict.fromkeys(BY_PLUGINS, _on_its_own_clock),
}
"""What makes the simulation of a scenario that a release answers, before its first step.

A row imports its scheduler at first use: a run of one release is without the others' modules.
"""


def _counted_v1_37(scenario: Scenario) -> dict[str, dict[str, int]]:
    from scheduler_core.run.v1_37.counts import unusual_usages

    return unusual_usages(scenario)


_COUNTED: Mapping[str, Callable[[Scenario], dict[str, dict[str, int]]]] = dict.fromkeys(
    BY_PLUGINS, _counted_v1_37
)


def usages(scenario: Scenario) -> dict[str, dict[str, int]]:
    """Return by pod what it holds on its node where that is not what its containers request.

    Millicores of cpu, else base units.
    """
    counted = _COUNTED.get(scenario.release)
    return {} if counted is None else counted(scenario)


def preload() -> None:
    """Import every simulation now, as a server does before its first request rather than during it."""
    import scheduler_core.run.several.lone
    import scheduler_core.run.v1_37.counts
    import scheduler_core.run.v1_37.simulation  # noqa: F401


def is_timed(scenario: Scenario) -> bool:
    """Return whether a scenario runs in the virtual time that schedulers and controllers share.

    v1.22 always does, v1.11 never, and v1.37 where controllers have something to do.
    """
    return scenario.row.is_timed


def is_timed_run(simulation: Stepper) -> TypeGuard[TimedSimulation]:
    """Return whether a run is in the virtual time that schedulers and controllers share."""
    return simulation.observed is not None


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
    return SIMULATIONS[scenario.release](scenario, RunOptions(trace, reuse, quirk_effects, interrupt))
