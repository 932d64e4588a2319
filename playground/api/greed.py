"""The price of greed over HTTP: the optimum of a step, beside what schedulers place."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from playground.api.payloads.problems import Errors
from playground.api.route import BUSY, ERRORS, route
from playground.calls.requests import read_query
from playground.comparisons import greed
from playground.visitors import identity
from playground.visitors.throttle import token_of
from scheduler_core.compare.optimum.greed import VERDICTS

NUMBER = {"type": "integer"}
TEXT = {"type": "string"}
COUNTED = ("placed", "pending", "priorities", "nodes", "share", "fragmentation", "evicted")
FIGURES = {
    "type": ["object", "null"],
    "description": "What its placement comes to; null where it cannot run, and why says so",
    "properties": {
        **dict.fromkeys(COUNTED, NUMBER),
        "seconds": {"type": "number"},
        "placements": {"type": "object", "additionalProperties": TEXT},
    },
}
SCHEMA = {
    "type": "object",
    "properties": {
        "step": NUMBER,
        "objectives": {"type": "array", "items": TEXT},
        "pending": NUMBER,
        "nodes": {"type": "array", "items": {"type": "array"}},
        "pods": {"type": "object", "additionalProperties": {"type": "array", "items": NUMBER}},
        "optimum": {
            "type": "object",
            "properties": {
                "feasible": {"type": "boolean"},
                "proofs": {"type": "array", "items": {"type": "object"}},
                "placements": {"type": "object", "additionalProperties": TEXT},
                "pending": {"type": "array", "items": TEXT},
                "moves": {"type": "array", "items": {"type": "object"}},
                "leftOut": {"type": "array", "items": TEXT},
                "unsearched": {"type": "array", "items": TEXT},
                "evicted": {"type": "array", "items": TEXT},
            },
        },
        "rows": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "scheduler": TEXT,
                    "figures": FIGURES,
                    "why": TEXT,
                    "leftOut": {"type": "array", "items": TEXT},
                    "verdict": {**TEXT, "enum": ["", *VERDICTS]},
                    "means": TEXT,
                },
            },
        },
        "bundle": {**TEXT, "description": "A bundle that makes the moves one after the other, under v1.37"},
    },
}


@route(
    "GET",
    "/api/optimum",
    "Get the best placement of all pending pods, its proof, the moves, and what schedulers place",
    {
        200: ("The optimum, beside v1.11, v1.37, kube-batch and Firmament", "Greed"),
        400: ("Invalid parameter", Errors),
        413: ("Too large", Errors),
        422: ("Too large to compute interactively", Errors),
        **ERRORS,
        **BUSY,
    },
    query=greed.OptimumQuery,
    schemas={"Greed": SCHEMA},
)
def get_optimum(request: HttpRequest) -> HttpResponse:
    """Answer the optimum of a step, and what schedulers place."""
    owner = identity.verify(token_of(request))  # of the drafts made over the API
    body = greed.answered(greed.question(read_query(greed.OptimumQuery, request.GET), owner))
    return HttpResponse(body, content_type="application/json")
