"""Static files: ours and Plotly's, from this host, part by part."""

from __future__ import annotations

import gzip
import re
import warnings
from typing import Any
from urllib.parse import urljoin

import pytest
from django.test import AsyncClient, Client

from playground.templatetags.modules import module_preloads

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


def test_a_page_names_every_module_that_it_imports() -> None:
    """Each is preloaded once, is there, and imports none that is not named: a page is two round trips."""
    for entry in ("js/pages/start.js", "js/workbench/main.js"):
        named = re.findall(r'rel="modulepreload" href="([^"]+)"', module_preloads(entry))
        assert named[0] == f"/static/{entry}"
        assert len(named) == len(set(named)) > 10
        for address in named:
            answer = Client().get(address)
            assert answer.status_code == 200, address
            text = b"".join(answer).decode()
            for target in re.findall(r'^(?:import|export)\b.* from "(\.[^"]+)"', text, re.MULTILINE):
                assert urljoin(address, target) in named, f"{address} imports {target}"
    assert module_preloads("js/pages/start.js") in Client().get("/").content.decode()


def test_pages_are_packed_and_answers_are_not() -> None:
    """HTML is sent as gzip to who takes it; JSON and streams are as before."""
    headers = {"Accept-Encoding": "gzip"}
    page = Client(headers=headers).get("/")
    assert page.headers["Content-Encoding"] == "gzip"
    assert len(page.content) < 12_000
    assert b"Step through every decision" in gzip.decompress(page.content)
    assert "Content-Encoding" not in Client().get("/").headers
    assert "Content-Encoding" not in Client(headers=headers).get("/api/openapi.json").headers
