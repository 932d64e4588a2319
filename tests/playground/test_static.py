"""Static files: ours and Plotly's, from this host, part by part."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from django.test import AsyncClient, Client

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("address", ["/static/css/base.css", "/static/plotly/plotly.min.js"])
async def test_files_are_streamed(address: str) -> None:
    """They come whole, in more than one part where they are large, and without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        answer: Any = await AsyncClient().get(address)
        assert answer.status_code == 200
        assert answer.is_async
        parts = [part async for part in answer.streaming_content]
    assert sum(map(len, parts)) == int(answer.headers["Content-Length"])
    assert len(parts) > 1 or len(parts[0]) < 100_000
    assert "script-src 'self'" in answer.headers["Content-Security-Policy"]


def test_nothing_else_is_a_file() -> None:
    """Paths do not lead out of the folder."""
    for address in (
        "/static/../playground/settings.py",
        "/static/%2e%2e/manage.py",
        "/static/css/",
        "/static/no.js",
    ):
        assert Client().get(address).status_code == 404
