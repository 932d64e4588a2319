"""Every shipped example under every release, opened and played to its end over the socket."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from playground.panels.cycle import PARTS
from scheduler_core.authoring.examples import Example, examples
from scheduler_core.settings.release import ALONE, BY_PLUGINS, DEFAULT_RELEASE, TIMED
from tests.playground.conftest import Socket, connected

pytestmark = pytest.mark.django_db(transaction=True)

Source = dict[str, Any]
PLAYED = [row.name for row in ALONE if row.name not in BY_PLUGINS[1:] or row.name == DEFAULT_RELEASE]
"""Of the releases that are one set of plugins the one that differs most, and the default."""
NO_CACHE = f"kube-scheduler {TIMED} has no equivalence cache: leave out one of the two"


LARGE = ("five-hundred",)
"""Take ten times as long as others, and have nothing of their own but size: played under one release."""


async def sources(socket: Socket, example: Example) -> AsyncIterator[tuple[str, Source]]:
    """Yield an example under each release: as a comparison puts it there, or as an edit of its settings.

    Not under its own, under which other tests play it over the socket.
    """
    text, own = example.read(), example.load().release
    draft = (await socket.success("bundle.open", {"text": text}))["draft"]
    for release in PLAYED[:1] if example.slug in LARGE else PLAYED:
        if release != own:
            yield release, {"draft": draft, "scheduler": release}
    if own == TIMED or example.slug in LARGE:
        return
    change = {"text": text, "what": "setting", "key": "scheduler", "value": TIMED}
    if example.claims:  # of what the equivalence cache does
        refused = await socket.error("bundle.configure", change)
        assert [one["message"] for one in refused["errors"]] == [NO_CACHE]
        return
    text = (await socket.success("bundle.configure", change))["text"]
    yield TIMED, {"draft": (await socket.success("bundle.open", {"text": text}))["draft"]}


async def play(socket: Socket, source: Source) -> AsyncIterator[list[Any]]:
    """Yield the answers while a source is opened, played to its end and looked at there."""
    yield await socket.ask("scenario.open", {"source": source})
    yield await socket.ask("step.locate", {"source": source, "step": "9999999"})
    opened = await socket.success("scenario.open", {"source": source})
    assert (opened["complete"], opened["stopped"]) == (True, None)
    last = opened["cycles"]
    yield await socket.ask("cycles.window", {"source": source, "from": last or 1, "count": 1, "pods": None})
    for step in [*[str(last)] * bool(last), *["end"] * opened["end"]]:
        asked = {"source": source, "step": step, "parts": list(PARTS), "pods": None}
        yield await socket.ask("cycle.get", asked)


async def test_every_example_plays_to_its_end_under_every_release() -> None:
    """Nothing is answered by an error but the edit to a release without what an example is about."""
    wrong = []
    for example in examples():
        async with connected() as socket:
            async for release, source in sources(socket, example):
                answers = [one async for one in play(socket, source) if one[0] != "success"]
                wrong += [f"{example.slug} under {release}: {one[2]}" for one in answers]
    assert not wrong, "\n".join(wrong)
