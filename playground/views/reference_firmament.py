"""The reference page of Firmament, computed by the cost model that the engine uses."""

from __future__ import annotations

from typing import Any

import numpy as np
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from playground.reference import firmament_texts as texts
from scheduler_core.schedulers.firmament.costs import OMEGA, UNSCHEDULED_COST, resource_costs
from scheduler_core.schedulers.firmament.scheduler import INTERVAL

INDICES = 5  # of the example
USED = (0, 25, 50, 75)  # percent of both resources
SKEWED = (75, 25)  # of cpu, of memory
CAPACITY = (4_000, 16 * 2**20)  # millicores, KiB
REQUEST = (250, 2**20)


def example() -> list[dict[str, Any]]:
    """Return load + balance of the first indices of machines that are used differently."""
    rows = [(used, used) for used in USED] + [SKEWED]
    capacity = np.array([CAPACITY] * len(rows)).T
    available = np.array(
        [[whole * (100 - part) // 100 for whole, part in zip(CAPACITY, row)] for row in rows]
    ).T
    costs = resource_costs(capacity, available, REQUEST, np.arange(INDICES))
    return [
        {"cpu": cpu, "memory": memory, "costs": found} for (cpu, memory), found in zip(rows, costs.tolist())
    ]


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """Render ``reference_firmament.html``.

    Context: ``phases``, ``terms`` and ``refusals`` ([(name, text)]), ``example`` (:func:`example`) with its
    ``indices``, ``omega``, ``unscheduled`` and ``interval``.
    """
    context = {
        "section": "reference",
        "page": "firmament",
        "phases": texts.PHASES.items(),
        "terms": texts.TERMS.items(),
        "refusals": texts.REFUSALS.items(),
        "example": example(),
        "indices": range(INDICES),
        "omega": f"{OMEGA:,}",
        "unscheduled": f"{UNSCHEDULED_COST:,}",
        "interval": f"{INTERVAL:g}",
    }
    return render(request, "reference_firmament.html", context)
