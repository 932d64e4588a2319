"""Calls that generate a cluster from a recipe."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse

from playground.api.answers import ApiError, answer
from playground.api.bodies import body_of
from playground.api.payloads.problems import Errors
from playground.api.route import BUSY, ERRORS, route
from playground.edits.cluster_generator import generated, generator, is_large
from playground.pool import offload
from playground.pool.read_slots import reading
from playground.protocol.generators import GeneratedClusterWire, RecipesWire
from playground.storage import bundles
from playground.visitors.identity import asker
from scheduler_core.authoring.recipes import Recipe


def whole_cluster(recipe: Recipe) -> dict[str, Any]:
    """Return all of a recipe's cluster; large ones are generated in the pool."""
    return generated(recipe, whole=True)


@route(
    "GET",
    "/api/generate",
    "List the fields of a cluster recipe, and example recipes",
    {200: ("The fields with their defaults, and the recipes", RecipesWire), 429: ERRORS[429]},
)
def get_generator(request: HttpRequest) -> HttpResponse:
    """Answer the fields of a recipe."""
    del request
    return answer(generator())


@route(
    "POST",
    "/api/generate",
    "Generate a cluster from a recipe, deterministically",
    {
        200: ("The bundle, and its totals", GeneratedClusterWire),
        400: ("The body cannot be read", Errors),
        422: ("The recipe has errors; all are listed, with the field as path", Errors),
        413: ("Too large", Errors),
        429: ERRORS[429],
        **BUSY,
    },
    body=(("application/json", Recipe),),
)
def generate_cluster(request: HttpRequest) -> HttpResponse:
    """Answer the cluster of a recipe; nothing is stored."""
    recipe = body_of(request, Recipe)
    try:
        if offload.enabled() and is_large(recipe):
            made = offload.compute(asker(), whole_cluster, recipe)
        else:
            with reading():
                made = whole_cluster(recipe)
    except bundles.TooLargeError as error:
        raise ApiError(413, str(error)) from error
    if made["errors"]:
        errors = [
            {"line": None, "path": error["field"], "message": error["message"]} for error in made["errors"]
        ]
        raise ApiError(422, errors)
    return answer(made)
