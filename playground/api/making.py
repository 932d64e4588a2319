"""Calls that make a cluster by rule."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from playground import bundles
from playground.api.answers import ApiError, answer
from playground.api.calls import json_of
from playground.generating import generated, generator, recipe_of
from playground.throttle import reading


def get_generator(request: HttpRequest) -> HttpResponse:
    """Answer what a recipe can hold."""
    del request
    return answer(generator())


def generate_cluster(request: HttpRequest) -> HttpResponse:
    """Answer the cluster of a recipe; nothing is stored."""
    try:
        with reading():
            made = generated(recipe_of(json_of(request)), whole=True)
    except bundles.TooLargeError as error:
        raise ApiError(413, str(error)) from error
    if made["errors"]:
        told = [
            {"line": None, "path": error["field"], "message": error["message"]} for error in made["errors"]
        ]
        raise ApiError(422, told)
    return answer({name: made[name] for name in ("bundle", "documents", "summary")})
