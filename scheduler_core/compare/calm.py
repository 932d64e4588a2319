"""A cluster at rest, and what becomes of it after operations: each case is a fork, and only it is played."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

from scheduler_core.cluster.v1_37.server import ApiServer
from scheduler_core.run import Stepper, simulate
from scheduler_core.run.plane.control_plane import ControlPlaneManager
from scheduler_core.run.simulation import TimedSimulation
from scheduler_core.scenario.load import ExtensibleScenario
from scheduler_core.scenario.scenario import Scenario

SECOND = 60.0
"""When operations land, unless somebody says otherwise."""


class Unplayable(ValueError):  # noqa: N818 -- of a scenario, which is not wrong
    """Cases are about clusters with controllers, which this one does not have."""


def plane_of(run: Stepper) -> ControlPlaneManager:
    """Return the control plane of a run. Raises Unplayable."""
    manager = run.manager if isinstance(run, TimedSimulation) else None
    if not isinstance(manager, ControlPlaneManager):
        raise Unplayable(f"{run.release} has no controllers: contracts are checked with the default release")
    return manager


class CalmCluster:
    """A scenario that was played with its controllers until the second at which operations land.

    ``run`` has come to its first cycle after that, or to its end; at second 0 nothing was played. A case
    costs the reading of its operations, a fork, and what happens after them. ``recorded``: cases are asked
    for more than the objects of their API servers.

    Raises:
        BundleError: The scenario cannot be read with controllers.
        PolicyError: Its configuration cannot be used.
    """

    def __init__(self, scenario: Scenario, second: float = SECOND, *, recorded: bool = True) -> None:
        self.second = second
        self._scenario = ExtensibleScenario(scenario)
        self.run = simulate(self._scenario.scenario, trace=False)
        if not recorded and isinstance(self.run, TimedSimulation):
            self.run.record_nothing()
        self.run.keep_before(second)
        while second and not self.run.has_kept(second) and self.run.step() is not None:
            pass

    @property
    def server(self) -> ApiServer:
        """The API server, as operations find it. Raises Unplayable."""
        return plane_of(self.run).server

    def after(self, entries: Sequence[dict[str, Any]], *, trace: bool = False, until: float = inf) -> Stepper:
        """Return the run with further operations, at the moment before the first of them lands.

        ``entries`` are those of a Scenario document with their ``time``. One that cannot share what was
        played is at its start. The run ends when nothing is left to happen, or before what follows the
        second ``until``.

        Raises:
            BundleError: An operation cannot be read.
        """
        scenario = self._scenario.extended(entries)
        run = self.run.branched(scenario, trace=trace) or simulate(scenario, trace=trace)
        run.stop_after(until)
        return run

    def outcome(self, entries: Sequence[dict[str, Any]], *, until: float = inf) -> Stepper:
        """Return the run with further operations at its end; raises what :meth:`after` raises."""
        run = self.after(entries, until=until)
        while run.step() is not None:
            pass
        return run
