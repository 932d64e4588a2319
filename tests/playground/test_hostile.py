"""A few of the bundles that ``python -m tests.load fuzz`` makes: refused, stopped, or played to the end."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from playground.playback.playback import Playback
from playground.storage import bundles
from scheduler_core.kubernetes.problems import BundleError
from tests.load.fuzz import text_of

EACH = 12


@pytest.mark.parametrize("start", range(0, 5 * EACH, EACH))
def test_a_hostile_bundle_ends_in_words(start: int, limits: Callable[..., None]) -> None:
    """Whatever is in it, the playback is complete soon, and every one of its cycles can be looked at."""
    limits(PODS=5_000, STEP_SECONDS=1, INTERACTIVE_SECONDS=2, INTERACTIVE_CYCLES=40)
    for seed in range(start, start + EACH):
        try:
            scenario = bundles.parse([("", text_of(seed))])
        except (BundleError, bundles.TooLargeError):
            continue
        playback = Playback(scenario)
        while playback.advance(1):
            pass
        assert playback.complete, seed
        if len(playback):
            assert playback.cycle(len(playback)).index == len(playback)
