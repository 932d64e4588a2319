"""The cells of sweeps in a worker: the scenario of a cell's run, an answer from the store, and its end.

A cell's run is queued with the scenario of its sweep; the worker that claims it gives it that of its values.
"""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from playground.models import CANCELLED, DONE, FAILED, RUNNING, UNFINISHED, Run, Sweep, SweepCell
from playground.playback.packed_runs import engine_code
from playground.playback.tables import ABSENT
from playground.playback.trail import Trail
from playground.runs import sizing
from playground.storage import bundles, quotas, store, texts
from scheduler_core.run import Stepper
from scheduler_core.scenario import scenario as core
from scheduler_core.sweep import Waits, cell_figures, scenario_of_cell

REMOVED = "The run was removed before it ended."


def prepare(run: Run) -> bool:
    """Give a cell's run the scenario of its values; return whether the cell is answered from the store.

    Then its run is the one that was computed before, and this one is gone. Raises BundleError if the values
    do not go together.
    """
    cell = SweepCell.objects.select_related("sweep__scenario").filter(run=run, sweep=run.sweep).first()
    if cell is None or run.scenario_id != cell.sweep.scenario_id:
        return False
    scenario = scenario_of(cell)
    shared = store.load_scenario(cell.sweep.scenario)
    text = texts.spliced(store.scenario_text(cell.sweep.scenario), shared.documents, scenario.documents)
    with transaction.atomic():
        quotas.check(run.owner, run.address, quotas.ROW_BYTES)
        run.scenario = store.keep_scenario(scenario, text, run.owner)
        run.expected = sizing.expected_cycles(scenario)
        run.save(update_fields=["scenario", "expected"])
        return _answer(cell, run)


def scenario_of(cell: SweepCell) -> core.Scenario:
    """Return the scenario of a cell's values. Raises BundleError."""
    sweep = cell.sweep
    names = [name for name, _ in sweep.axes]
    configs = (sweep.body.get("grid") or {}).get("config") or {}
    shared = store.load_scenario(sweep.scenario)
    return scenario_of_cell(
        shared, dict(sweep.axes), configs, dict(zip(names, cell.values)), bundles.core_limits()
    )


def _answer(cell: SweepCell, run: Run) -> bool:
    """Answer the cell by a run of the same scenario that the same engine has computed for the same owner."""
    before = Run.objects.filter(scenario=run.scenario, owner=run.owner, state=DONE, code=engine_code())
    for other in before.exclude(pk=run.pk).order_by("-finished").only("pk")[:3]:
        known = SweepCell.objects.filter(run=other, metrics__isnull=False).first()
        if known is not None:
            SweepCell.objects.filter(pk=cell.pk).update(run=other)
            end(other.pk, known.metrics, of=cell)
            Run.objects.filter(pk=run.pk).delete()
            return True
    return False


def figures_of(simulation: Stepper, trail: Trail) -> dict[str, Any]:
    """Return the figures of a run that has ended."""
    waits = Waits()
    for index, changes in enumerate(trail.changes, 1):
        waits.note(trail.time(index), ((pod, place >= 0) for pod, place in changes if place != ABSENT))
    return cell_figures(simulation, trail.decisions, waits.seconds)


def end(
    run_id: str, metrics: dict[str, Any] | None = None, error: str = "", of: SweepCell | None = None
) -> None:
    """Note how the run of a cell ended, once; the last cell ends its sweep. Other runs are left alone."""
    cells = SweepCell.objects.filter(run_id=run_id, ended=False)
    for cell in cells if of is None else cells.filter(pk=of.pk):
        if SweepCell.objects.filter(pk=cell.pk, ended=False).update(ended=True, metrics=metrics, error=error):
            Sweep.objects.filter(pk=cell.sweep_id).update(left=F("left") - 1)
            _close(cell.sweep_id)


def _close(sweep_id: str) -> None:
    ended = Sweep.objects.filter(pk=sweep_id, state=RUNNING, left=0)
    ended.update(state=DONE, finished=timezone.now())


def repair() -> int:
    """Recount the sweeps that run: cells whose run has ended or is gone end too; return how many did."""
    found = 0
    for sweep_id in Sweep.objects.filter(state=RUNNING).values_list("pk", flat=True):
        with transaction.atomic():
            open_ = SweepCell.objects.filter(sweep=sweep_id, ended=False)
            for cell in open_.exclude(run__state__in=UNFINISHED).select_related("run"):
                state, error = (None, "") if cell.run is None else (cell.run.state, cell.run.error)
                words = {None: REMOVED, CANCELLED: "cancelled", FAILED: error}.get(state, REMOVED)
                found += open_.filter(pk=cell.pk).update(ended=True, error=words)
            Sweep.objects.filter(pk=sweep_id).update(left=open_.count())
            _close(sweep_id)
    return found
