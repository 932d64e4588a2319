"""The rungs of sweeps: a queued run for each cell, and what follows once all cells of a rung have ended.

A sweep without halving has one rung. The next one is begun by whoever ends the last cell, in one transaction:
the count of open cells is taken from zero once.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone

from playground.models import DONE, RUNNING, Run, Scenario, Sweep, SweepCell, new_run_id
from playground.playback.packed_runs import engine_code
from playground.runs import delivery
from playground.storage import store
from scheduler_core.studies.sweep import Budget, Halving, Named, Prices, named_in, read_halving, read_prices

ANNOUNCED = 2  # runs of a rung: each task that computes one announces another
KNOWN = 5_000  # cells of a scenario that are looked through
Values = Mapping[str, Any]

Key = str
"""What the figures of a cell of a scenario depend on, as JSON."""


def named_of(sweep: Sweep) -> Named:
    """Return what the names among the values of a sweep stand for."""
    return named_in(sweep.body.get("grid") or {})


def halving_of(sweep: Sweep) -> Halving | None:
    """Return the halving of a sweep, which was read when it was stored."""
    return read_halving(sweep.body.get("halving"), [])


def prices_of(sweep: Sweep) -> Prices:
    """Return the prices of a sweep."""
    return read_prices(sweep.body.get("prices"), [])


def budget_of(sweep: Sweep, rung: int) -> Budget | None:
    """Return the budget of a rung, None for all."""
    halving = halving_of(sweep)
    return None if halving is None else halving.budgets[rung]


def values_of(cell: SweepCell) -> dict[str, Any]:
    """Return the values of a cell by its axes; its sweep is loaded."""
    return dict(zip((name for name, _ in cell.sweep.axes), cell.values))


def known_cells(scenario: Scenario, owner: str) -> dict[Key, SweepCell]:
    """Return the cells of a scenario that this engine has computed for an owner, the newest first."""
    rows = SweepCell.objects.filter(
        sweep__scenario=scenario, sweep__owner=owner, metrics__isnull=False, run__code=engine_code()
    )
    found: dict[Key, SweepCell] = {}
    for cell in rows.select_related("sweep").defer("sweep__scenario__content").order_by("-pk")[:KNOWN]:
        found.setdefault(key_of(cell.sweep, cell.rung, values_of(cell)), cell)
    return found


def key_of(sweep: Sweep, rung: int, values: Values) -> Key:
    """Return the key by which cells of one scenario are the same."""
    named = {name: own.get(values[name]) for name, own in named_of(sweep).items() if name in values}
    budget = budget_of(sweep, rung)
    whole = budget is None or budget == ("arrivals", 1.0)
    return json.dumps([values, named, None if whole else budget, prices_of(sweep)], sort_keys=True)


def begin(sweep: Sweep, rung: int, wanted: Sequence[Values], known: Mapping[Key, SweepCell]) -> None:
    """Store the cells of a rung, each with its run: one that was computed before, or a queued one.

    Sets the sweep's count. Its runs have the scenario, the queue and the expected cycles of the sweep until a
    worker prepares them.
    """
    first = sweep.cells.count() + 1
    cells = [
        SweepCell(sweep=sweep, number=number, rung=rung, values=list(values.values()))
        for number, values in enumerate(wanted, first)
    ]
    runs = []
    for cell, values in zip(cells, wanted):
        answer = known.get(key_of(sweep, rung, values))
        if answer is not None:
            cell.run_id, cell.metrics, cell.ended = answer.run_id, answer.metrics, True
            continue
        cell.run = _run(sweep, values)
        runs.append(cell.run)
    Run.objects.bulk_create(runs)
    SweepCell.objects.bulk_create(cells)
    Sweep.objects.filter(pk=sweep.pk).update(left=len(runs))
    transaction.on_commit(lambda: _announce(runs))


def _run(sweep: Sweep, values: Values) -> Run:
    words = ", ".join(f"{name}={value}" for name, value in values.items())
    return Run(
        id=new_run_id(),
        sweep=sweep,
        scenario_id=sweep.scenario_id,
        title=store.clean_title(f"{sweep.title or 'Sweep'}: {words}"),
        owner=sweep.owner,
        address=sweep.address,
        cancel_token=sweep.cancel_token,
        expected=sweep.expected,
        queue=sweep.queue,
        request_id=sweep.request_id,
    )


def _announce(runs: Sequence[Run]) -> None:
    for run in runs[:ANNOUNCED]:
        if not delivery.enqueue(run.pk, run.queue):
            break  # the workers look for those whose message was lost


def lock(sweep_id: str) -> None:
    """Lock a sweep until the transaction ends, before its cells: their ends and a recount take turns.

    A recount beside an end would store a count from before that end, and the sweep would go on without cells.
    """
    list(Sweep.objects.select_for_update().filter(pk=sweep_id).values_list("pk"))


def close(sweep_id: str) -> None:
    """Begin the next rung of a locked sweep whose cells have all ended, or end it."""
    while Sweep.objects.filter(pk=sweep_id, state=RUNNING, left=0).exists():
        sweep = Sweep.objects.get(pk=sweep_id)
        survivors = _survivors(sweep)
        if not survivors:
            Sweep.objects.filter(pk=sweep_id).update(state=DONE, finished=timezone.now())
            return
        begin(sweep, survivors[0].rung + 1, [values_of(cell) for cell in survivors], _known(sweep))


def _known(sweep: Sweep) -> Mapping[Key, SweepCell]:
    return known_cells(sweep.scenario, sweep.owner)


def _survivors(sweep: Sweep) -> list[SweepCell]:
    """Return the cells that go on from the last rung that ran; none after the last of all."""
    halving = halving_of(sweep)
    last = sweep.cells.order_by("-rung").first()
    if halving is None or last is None or last.rung + 1 == len(halving.budgets):
        return []
    cells = list(sweep.cells.filter(rung=last.rung).select_related("sweep").order_by("number"))
    return [cells[place] for place in halving.survivors([cell.metrics for cell in cells])]
