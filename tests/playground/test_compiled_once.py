"""The web process compiles a scenario's configuration when it reads the scenario, and never again."""

from __future__ import annotations

import pytest

from playground.playback.library import library
from playground.playback.playback import Playback
from playground.storage import bundles
from tests.core.configuration.compile_counts import compilations
from tests.core.configuration.test_compiled_once import NODE, POD, TEXTS
from tests.playground.conftest import connected

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("name", TEXTS)
def test_a_playback_compiles_no_more(name: str) -> None:
    """Computing it to its end, looking at a cycle and at the profile of each step."""
    text, times = TEXTS[name]
    with compilations() as seen:
        playback = Playback(bundles.parse([("", NODE + POD + text)]))
        while playback.advance(1.0):
            pass
        for index in range(1, len(playback) + 1):
            assert playback.cycle(index)
            assert playback.profile_of(playback.trail.configurations(index)).predicates
        assert len(seen) == times


@pytest.mark.parametrize("name", TEXTS)
async def test_opening_a_draft_compiles_what_it_reads(name: str) -> None:
    """``bundle.open`` reads the text, ``scenario.open`` uses its result."""
    text, times = TEXTS[name]
    async with connected() as socket:
        with compilations() as seen:
            made = await socket.success("bundle.open", {"text": NODE + POD + text})
            stored = len(seen)
            await socket.success("scenario.open", {"source": {"draft": made["draft"]}})
            opened = len(seen)
        library.clear()
        bundles.last_read.clear()
        with compilations() as again:
            await socket.success("scenario.open", {"source": {"draft": made["draft"]}})
    assert (stored, opened, len(again)) == (times, times, times)
