"""How far a cell's placement is from the optimum: searched in the pool when somebody asks, then stored."""

from __future__ import annotations

import json
from typing import Any

from playground.models import SweepCell
from playground.once import once
from playground.playback import sources
from playground.pool import offload
from playground.pool.gate import Gate
from playground.pool.jobs import pool_job
from playground.pool.read_slots import reading
from playground.pool.shares import Bounds
from playground.storage import bundles
from playground.visitors import identity
from playground.wire import Encoded, encode
from scheduler_core.compare.optimum.greed import VERDICTS
from scheduler_core.kubernetes.plain import plain
from scheduler_core.kubernetes.problems import BundleError, PolicyError
from scheduler_core.studies.sweep import cell_distance

SECONDS = 5  # of a search
PLAYING_SECONDS = 10.0
REQUESTS_AT_ONCE = 4  # that wait for a search, one of each visitor


class UnfinishedCellError(ValueError):
    """The cell's run has not ended, or is gone."""


def answered(cell: SweepCell) -> dict[str, Any]:
    """Return the distance of a cell, with its run and scenario loaded; it is searched once.

    Raises UnfinishedCellError, BusyError, and the errors of reading and computing.
    """
    found: dict[str, Any] | None = cell.optimum
    if found is not None:
        return found
    if cell.run is None or cell.metrics is None:
        raise UnfinishedCellError("The cell has no run that has ended: there is no placement to compare.")
    stored = sources.Stored(cell.run.title, content=bytes(cell.run.scenario.content))
    with _requests().stay(identity.asker(), 0):
        if offload.enabled():
            expects = SECONDS + PLAYING_SECONDS
            body = offload.compute(identity.asker(), computed, stored, long=True, expects=expects)
        else:
            with reading():
                body = computed(stored)
    found = json.loads(body)
    SweepCell.objects.filter(pk=cell.pk).update(optimum=found)
    return found


@once
def _requests() -> Gate:
    return Gate(REQUESTS_AT_ONCE, Bounds(running=1, queued=1, queued_by_all=REQUESTS_AT_ONCE))


@pool_job
def computed(stored: sources.Stored) -> Encoded:
    """Play a scenario to its end and search, without the database. Raises TooMuchWorkError."""
    scenario = stored.load()
    sources.check_work(scenario)
    try:
        found: dict[str, Any] = plain(cell_distance(scenario, SECONDS, bundles.watching()))
    except PolicyError as error:
        raise BundleError(error.problems) from error
    return Encoded(encode({**found, "means": VERDICTS.get(found["verdict"], "")}))
