"""A large bundle's way from its text to the first cycle, in processor time measured in the same run."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

from playground.playback.playback import Playback
from playground.storage import bundles
from scheduler_core.formats.limits import Limits
from scheduler_core.formats.skipped_kinds import ValueTally
from scheduler_core.formats.yaml_reader import read_yaml
from tests.bench.first_cycle import text_of

FEW, MANY = 500, 3_000


def cost(work: Callable[[str], object]) -> float:
    """Return the processor seconds of a written pod more, without what a bundle takes whatever its size."""
    return (least(work, MANY) - least(work, FEW)) / (MANY - FEW)


def least(work: Callable[[str], object], pods: int) -> float:
    """Return the least of three measurements: what disturbs only slows."""
    text, times = text_of("documents", pods), []
    for _ in range(3):
        bundles.last_read.clear()
        began = time.process_time()
        work(text)
        times.append(time.process_time() - began)
    return min(times)


def opened(text: str) -> None:
    """Read a bundle, weigh it, make its tables and run it up to its first cycle."""
    playback = Playback(bundles.parse([("", text)], presumed="v1.37"))
    playback.reach(1)
    assert len(playback) >= 1


def parsed(text: str) -> None:
    """Parse the text alone, by libyaml's events, as documents without a common shape are."""
    list(read_yaml(text, Limits(), ValueTally(Limits())))


def test_a_written_pod_is_simulated_in_less_than_its_text_takes_to_parse() -> None:
    """Measured: 0.6 of it; 1.6 before pods that differ in their names alone were read and stored once."""
    gc.disable()
    try:
        assert cost(opened) < cost(parsed)
    finally:
        gc.enable()
