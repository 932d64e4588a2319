"""Starting, showing and cancelling sweeps."""

from __future__ import annotations

import secrets
from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from playground.limits import limit
from playground.models import (
    CANCELLED,
    CANCELLING,
    HEAVY,
    QUEUED,
    RUNNING,
    UNFINISHED,
    Run,
    Scenario,
    Sweep,
    SweepCell,
    run_expiry,
    token_hash,
)
from playground.runs import queue_choice, rungs, service
from playground.runtime import log_context
from playground.storage import quotas, store
from scheduler_core.kubernetes.problems import BundleError, Problem
from scheduler_core.scenario import scenario as core
from scheduler_core.studies.sweep import pareto_front, read_sweep


def start(
    row: Scenario, scenario: core.Scenario, body: Any, owner: str, address: str = ""
) -> tuple[Sweep, str]:
    """Store a sweep of a scenario; return it and a token that cancels it.

    Each cell that the store does not answer has a queued run.

    Raises BundleError if the grid has errors, TooManyRunsError and StorageFullError.
    """
    plan = read_sweep(body, scenario)
    most = limit("SWEEP_CELLS")
    if len(plan.cells) > most:
        text = f"has {len(plan.cells):,} cells, and {most:,} is the limit here: use fewer values, or a sample"
        raise BundleError([Problem(text, "grid")])
    token = secrets.token_urlsafe(24)
    with transaction.atomic():
        sweep = Sweep(
            scenario=row,
            title=store.clean_title(scenario.title),
            owner=owner,
            address=address,
            cancel_token=token_hash(token),
            body=body if isinstance(body, dict) and "grid" in body else {"grid": body},
            axes=[[name, list(values)] for name, values in plan.axes.items()],
            left=0,
            whole=plan.whole,
            queue=queue_choice.queue_for(scenario),
            expected=queue_choice.expected_cycles(scenario),
            request_id=log_context.asked_by(),
        )
        known = rungs.known_cells(row, owner)
        _check_room(owner, address, sum(rungs.key_of(sweep, 0, values) not in known for values in plan.cells))
        quotas.check(owner, address, quotas.ROW_BYTES * len(plan.cells))
        sweep.save()
        rungs.begin(sweep, 0, plan.cells, known)
        rungs.close(sweep.pk)
        sweep.refresh_from_db(fields=["state", "finished", "left"])
    return sweep, token


def _check_room(owner: str, address: str, count: int) -> None:
    """Raise TooManyRunsError if another sweep would exceed a limit."""
    unfinished = Sweep.objects.filter(state=RUNNING)
    for name, rows, text in (
        ("SWEEPS_PER_OWNER", unfinished.filter(owner=owner), "You have {} unfinished sweeps."),
        ("SWEEPS_PER_ADDRESS", unfinished.filter(address=address), "Your address has {} unfinished sweeps."),
    ):
        if (address or name != "SWEEPS_PER_ADDRESS") and rows.count() >= limit(name):
            raise service.TooManyRunsError(f"{text.format(limit(name))} Wait for one to end, or cancel one.")
    waiting = Run.objects.filter(state=QUEUED, sweep__isnull=False).count()
    if waiting + count > limit("SWEEP_CELLS_QUEUED"):
        raise service.TooManyRunsError(
            f"{waiting:,} cells of sweeps wait for a worker, and {limit('SWEEP_CELLS_QUEUED'):,} may. "
            "Wait for them to end."
        )


def may_cancel(sweep: Sweep, visitor: str, token: str = "") -> bool:
    """Return whether the caller may cancel a sweep: by its owner's cookie, or by its cancel token."""
    by_cookie = bool(visitor) and secrets.compare_digest(sweep.owner, visitor)
    return by_cookie or (bool(token) and secrets.compare_digest(sweep.cancel_token, token_hash(token)))


def cancel(sweep: Sweep) -> Sweep:
    """Cancel a sweep: its queued runs at once, the running ones after their slice."""
    with transaction.atomic():
        Sweep.objects.filter(pk=sweep.pk, state=RUNNING).update(state=CANCELLED, finished=timezone.now())
        runs = Run.objects.filter(sweep=sweep)
        runs.filter(state=QUEUED).update(state=CANCELLED, finished=timezone.now())
        runs.filter(state=RUNNING).update(state=CANCELLING)
        SweepCell.objects.filter(sweep=sweep, ended=False, run__state=CANCELLED).update(
            ended=True, error="cancelled"
        )
    fresh = find(sweep.pk)
    assert fresh is not None
    return fresh


class UnfinishedSweepError(ValueError):
    """The sweep has cells that wait or run."""


def delete(sweep: Sweep) -> None:
    """Delete a sweep with its runs; other sweeps keep the figures of cells that they took over.

    Raises UnfinishedError.
    """
    if Run.objects.filter(sweep=sweep, state__in=UNFINISHED).exists() or sweep.state == RUNNING:
        raise UnfinishedSweepError("The sweep is not finished; cancel it first.")
    with transaction.atomic():
        scenarios = [sweep.scenario_id, *sweep.runs.values_list("scenario_id", flat=True)]
        sweep.delete()
        for row in Scenario.objects.filter(pk__in=scenarios).only("pk"):
            store.forget_unreferenced(row)


def find(sweep_id: str) -> Sweep | None:
    """Return a sweep by its id. Raises GoneError if its scenario was taken down."""
    if len(sweep_id) > 32 or not store.is_id(sweep_id):
        return None
    row = (
        Sweep.objects.select_related("scenario")
        .defer("scenario__content", "scenario__text")
        .filter(pk=sweep_id)
    )
    found = row.first()
    if found is not None:
        store.check_withdrawn(found.scenario)
        store.opened(found, run_expiry())
    return found


def wire(sweep: Sweep, visitor: str = "") -> dict[str, Any]:
    """Return a sweep with its cells in order, as the API and the page have it.

    Its state is read with the cells, by one query: cells that end meanwhile would seem to leave it running.
    ``front`` has the numbers of the cells that no other is better than, see
    :func:`scheduler_core.studies.sweep.play.pareto_front`.
    """
    names = [name for name, _ in sweep.axes]
    rows = list(
        sweep.cells.select_related("run")
        .defer(*(f"run__{name}" for name in HEAVY))
        .annotate(state=F("sweep__state"), finished=F("sweep__finished"))
        .order_by("number")
    )
    ends = rows[0] if rows else sweep  # expired meanwhile
    listed: list[dict[str, Any]] = [
        {
            "number": cell.number,
            "rung": cell.rung + 1,
            "values": dict(zip(names, cell.values)),
            "run": cell.run_id,
            "state": _state(cell),
            "metrics": cell.metrics,
            "error": cell.error or None,
            "optimum": cell.optimum,
        }
        for cell in rows
    ]
    halving = rungs.halving_of(sweep)
    last = max((cell["rung"] for cell in listed), default=1)
    front = pareto_front([cell["metrics"] if cell["rung"] == last else None for cell in listed])
    return {
        "id": sweep.pk,
        "title": sweep.title,
        "scenario": sweep.scenario.short if service.is_shared(sweep.scenario) else None,
        "state": ends.state,
        "done": sum(cell["state"] not in UNFINISHED for cell in listed),
        "total": len(listed),
        "whole": sweep.whole,
        "rungs": [list(budget) for budget in halving.budgets] if halving else [],
        "by": list(halving.by) if halving else [],
        "axes": [{"name": name, "values": values} for name, values in sweep.axes],
        "front": sorted(listed[place]["number"] for place in front),
        "cells": listed,
        "created": service.text_of(sweep.created),
        "finished": service.text_of(ends.finished),
        "mine": may_cancel(sweep, visitor),
    }


def _state(cell: SweepCell) -> str:
    if cell.metrics is not None:
        return "done"
    if cell.ended:
        return CANCELLED if cell.error == "cancelled" else "failed"
    return cell.run.state if cell.run is not None else "failed"
