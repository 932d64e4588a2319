"""The cells of sweeps: those that were computed before, and in a worker their scenarios and their ends.

A cell's run is queued with the scenario of its sweep; the worker that claims it gives it that of its values.
"""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import F

from playground.models import CANCELLED, FAILED, RUNNING, UNFINISHED, Run, Sweep, SweepCell
from playground.playback.tables import ABSENT
from playground.playback.trail import Trail
from playground.runs import queue_choice, rungs
from playground.storage import bundles, quotas, store
from scheduler_core.run import Stepper
from scheduler_core.scenario import scenario as core
from scheduler_core.studies.sweep import Waits, cell_figures, scenario_of_cell

REMOVED = "The run was removed before it ended."


def prepare(run: Run) -> core.Scenario | None:
    """Give a cell's run the scenario of its values and return it; None if it has it, or is no cell's.

    Raises BundleError if the values do not go together, TooLargeError and StorageFullError.
    """
    cell = SweepCell.objects.select_related("sweep__scenario").filter(run=run, sweep=run.sweep).first()
    if cell is None or run.scenario_id != cell.sweep.scenario_id:
        return None
    scenario = scenario_of(cell)
    bundles.check_size(scenario)
    with transaction.atomic():
        quotas.check(run.owner, run.address, quotas.ROW_BYTES)
        run.scenario = store.keep_computed(scenario, run.owner)
        run.expected = queue_choice.expected_cycles(scenario)
        run.save(update_fields=["scenario", "expected"])
    return scenario


def scenario_of(cell: SweepCell) -> core.Scenario:
    """Return the scenario of a cell's values. Raises BundleError.

    That of the sweep is kept for its next cell.
    """
    sweep = cell.sweep
    shared = bundles.restored(bytes(sweep.scenario.content))
    return scenario_of_cell(
        shared,
        dict(sweep.axes),
        rungs.named_of(sweep),
        rungs.values_of(cell),
        bundles.core_limits(),
        rungs.budget_of(sweep, cell.rung),
    )


def figures_of(run: Run, simulation: Stepper, trail: Trail) -> dict[str, Any]:
    """Return the figures of a cell's run that has ended."""
    assert run.sweep is not None
    prices = rungs.prices_of(run.sweep)
    waits, pods = Waits(), trail.tables.pods
    for index, changes in enumerate(trail.changes, 1):
        moves = ((pods[pod].meta.key, place >= 0) for pod, place in changes if place != ABSENT)
        waits.note(trail.time(index), moves)
    return cell_figures(simulation, trail.decisions, waits, prices)


def end(run_id: str, metrics: dict[str, Any] | None = None, error: str = "") -> None:
    """Note how the run of a cell ended, once; the last of a rung closes it. Other runs are left alone."""
    for cell in SweepCell.objects.filter(run_id=run_id, ended=False):
        with transaction.atomic():
            rungs.lock(cell.sweep_id)
            ended = SweepCell.objects.filter(pk=cell.pk, ended=False)
            if ended.update(ended=True, metrics=metrics, error=error):
                Sweep.objects.filter(pk=cell.sweep_id).update(left=F("left") - 1)
                rungs.close(cell.sweep_id)


def repair() -> int:
    """Recount the sweeps that run: cells whose run has ended or is gone end too; return how many did."""
    found = 0
    for sweep_id in Sweep.objects.filter(state=RUNNING).values_list("pk", flat=True):
        with transaction.atomic():
            rungs.lock(sweep_id)
            open_ = SweepCell.objects.filter(sweep=sweep_id, ended=False)
            for cell in open_.exclude(run__state__in=UNFINISHED).select_related("run"):
                state, error = (None, "") if cell.run is None else (cell.run.state, cell.run.error)
                words = {None: REMOVED, CANCELLED: "cancelled", FAILED: error}.get(state, REMOVED)
                found += open_.filter(pk=cell.pk).update(ended=True, error=words)
            Sweep.objects.filter(pk=sweep_id).update(left=open_.count())
            rungs.close(sweep_id)
    return found
