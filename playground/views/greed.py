"""The page of the price of greed: ``/greed/?of=…&step=…``, with the query of the API."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_safe

from playground.calls.requests import read_query
from playground.comparisons import greed
from playground.views import examples
from playground.views.comparison import EXAMPLE, REFUSALS, choices, status_of
from playground.views.workbench import _visitor
from playground.visitors.throttle import throttled
from scheduler_core.compare.optimum.objectives import OBJECTIVES

FIGURES = (
    ("pods placed, less those evicted", "placed", True),
    ("still pending", "pending", False),
    ("sum of their priorities", "priorities", True),
    ("nodes with a pod", "nodes", False),
    ("largest share used, ‰", "share", False),
    ("fragmentation, ‰", "fragmentation", False),
    ("running pods evicted or moved", "evicted", False),
)
"""The rows of the table: a label, the field, and whether more is better."""
COUNTED = ("placed", "pending", "priorities")
"""The figures that say themselves how much was placed: the others compare those that place the most."""
MOVES_SHOWN = 100
NODES_DRAWN = 100
HEIGHT = 40  # of a strip of the picture, in its own units


@require_safe
@never_cache
@ensure_csrf_cookie
@throttled("API_READS_PER_MINUTE")
def page(request: HttpRequest) -> HttpResponse:
    """Render ``greed.html``.

    Context: ``asked`` (the query as it was sent), ``objectives`` ([(name, meaning, chosen)]), ``error``;
    without a source ``choices`` (as on the page of a comparison); with an answer that is kept ``found`` (it),
    ``best`` (:func:`best_name`), ``table`` (:func:`table`), ``verdicts`` ([(scheduler, what the optimum is to
    it)]), ``evicts`` (whether pods may be evicted), ``unread`` ([(scheduler, what it does not
    read)]), ``strips`` (:func:`strips`), ``moves``; without it ``computing`` (the payload of ``optimum.get``,
    by which the page has it searched), ``ready`` (the address then), ``lost`` (it was searched, and is kept
    no more), and ``call`` (the API's address).
    """
    if request.GET.get("from"):
        return HttpResponseRedirect(_address(request))
    query = request.GET.dict()
    chosen = request.GET.getlist("objective") or [greed.USUAL]
    context: dict[str, Any] = {
        "asked": query,
        "seconds": query.get("seconds") or greed.USUAL_SECONDS,
        "most_seconds": greed.MOST_SECONDS,
        "objectives": [(name, one.means, name in chosen) for name, one in OBJECTIVES.items()],
    }
    if not query.get("of"):
        context["choices"] = choices(_visitor(request))
        return render(request, "greed.html", context)
    try:
        asked = greed.question(read_query(greed.OptimumQuery, request.GET), _visitor(request))
    except REFUSALS as error:
        context["error"] = str(error)
        return render(request, "greed.html", context, status=status_of(error))
    body = asked.kept()
    if body is None:
        return render(request, "greed.html", context | _to_search(request, asked, chosen))
    found = json.loads(body)
    moves = found["optimum"]["moves"]
    context |= {
        "title": asked.source.title,
        "source": asked.source.wire,
        "found": found,
        "best": best_name(found),
        "table": table(found["rows"], best_name(found)),
        "verdicts": [(_shown(row, best_name(found)), row["means"]) for row in found["rows"]],
        "evicts": asked.evict,
        "unread": [(row["scheduler"], row["leftOut"]) for row in found["rows"] if row["leftOut"]],
        "strips": strips(found, best_name(found)),
        "moves": moves[:MOVES_SHOWN],
        "more_moves": max(0, len(moves) - MOVES_SHOWN),
    }
    return render(request, "greed.html", context)


def _address(request: HttpRequest) -> str:
    """Return the address of what the form was sent with; its list counts where nothing was pasted."""
    query = request.GET.copy()
    value = query.pop("from")[0]
    if not query.get("of"):
        example = value.removeprefix(EXAMPLE)
        query["of"] = value if example == value else f"scenario:{examples.shared(example).short}"
    return f"/greed/?{query.urlencode()}"


def _to_search(request: HttpRequest, asked: greed.GreedQuestion, chosen: list[str]) -> dict[str, Any]:
    """Return the context of a page that has its answer searched."""
    query = request.GET.copy()
    query["ready"] = "1"
    call = {**request.GET.dict(), "objective": ",".join(chosen)}
    return {
        "title": asked.source.title,
        "computing": asked.wire,
        "ready": f"/greed/?{query.urlencode()}",
        "lost": request.GET.get("ready") == "1",
        "call": f"/api/optimum?{urlencode(call)}",
    }


def best_name(found: dict[str, Any]) -> str:
    """Return what the placement of the search is: only a proof makes it the optimum."""
    optimum = found["optimum"]
    proven = all(one["optimal"] for one in optimum["proofs"]) and not optimum["unsearched"]
    return "optimum" if proven else "best found"


def table(rows: list[dict[str, Any]], best_name: str) -> list[tuple[str, list[tuple[str, str, bool]]]]:
    """Return a line for each figure: [(scheduler, figure, whether it is the best where they differ)]."""
    lines = []
    most = max((row["figures"]["placed"] for row in rows if row["figures"] is not None), default=0)
    for label, name, more in FIGURES:
        values = [None if row["figures"] is None else row["figures"][name] for row in rows]
        compared = [
            value if value is not None and (name in COUNTED or row["figures"]["placed"] == most) else None
            for row, value in zip(rows, values)
        ]
        known = {value for value in compared if value is not None}
        best = (max if more else min)(known) if len(known) > 1 else None
        cells = [
            (_shown(row, best_name), "–" if value is None else f"{value:,}", best is not None and one == best)
            for row, value, one in zip(rows, values, compared)
        ]
        lines.append((label, cells))
    return lines


def _shown(row: dict[str, Any], best_name: str) -> str:
    return best_name if row["scheduler"] == "optimum" else str(row["scheduler"])


def strips(found: dict[str, Any], best_name: str) -> list[dict[str, Any]]:
    """Return for each scheduler the nodes as bars: ``{scheduler, bars: [{x, name, …}], pending}``."""
    nodes = found["nodes"][:NODES_DRAWN]
    made = []
    for row in found["rows"]:
        if row["figures"] is None:
            continue
        used: dict[str, list[int]] = {}
        for pod, node in row["figures"]["placements"].items():
            of = used.setdefault(node, [0, 0])
            for place, amount in enumerate(found["pods"][pod]):
                of[place] += amount
        bars = [
            {
                "x": 10 * place,
                "middle": 10 * place + 4.5,
                "name": name,
                **_bar(used.get(name, [0, 0]), whole),
            }
            for place, (name, *whole) in enumerate(nodes)
        ]
        made.append({"scheduler": _shown(row, best_name), "bars": bars, "pending": row["figures"]["pending"]})
    return made


def _bar(used: list[int], whole: list[int]) -> dict[str, float]:
    """Return heights and tops of a node's two bars, and the percentages that they stand for."""
    shares = [min(part / total, 1.0) if total else 0.0 for part, total in zip(used, whole)]
    bar: dict[str, float] = {}
    for name, share in zip(("cpu", "memory"), shares):
        height = round(HEIGHT * share, 1)
        bar |= {name: height, f"{name}_top": round(HEIGHT - height, 1), f"{name}_percent": round(share * 100)}
    return bar
