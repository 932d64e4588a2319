"""A large bundle's way from its text to the first cycle, in processor time measured in the same run."""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable, Iterator
from itertools import product

from playground.playback.playback import Playback
from playground.storage import bundles
from scheduler_core.formats.limits import Limits
from scheduler_core.formats.skipped_kinds import ValueTally
from scheduler_core.formats.yaml_reader import read_yaml
from tests.bench.first_cycle import text_of

FEW, MANY = 500, 3_000
ROUNDS = 12


def seconds(work: Callable[[str], object], pods: int) -> float:
    """Return the processor seconds of one opening of as many pods."""
    text = text_of("documents", pods)
    bundles.last_read.clear()
    began = time.process_time()
    work(text)
    return time.process_time() - began


def ratios() -> Iterator[float]:
    """Yield a further pod's opening to its parsing, by the least seconds so far: what disturbs only slows."""
    least: dict[tuple[Callable[[str], object], int], float] = {}
    for _ in range(ROUNDS):
        for work, pods in product((opened, parsed), (FEW, MANY)):
            least[work, pods] = min(seconds(work, pods), least.get((work, pods), math.inf))
        yield (least[opened, MANY] - least[opened, FEW]) / (least[parsed, MANY] - least[parsed, FEW])


def opened(text: str) -> None:
    """Read a bundle, weigh it, make its tables and run it up to its first cycle."""
    playback = Playback(bundles.parse([("", text)], presumed="v1.37"))
    playback.reach(1)
    assert len(playback) >= 1


def parsed(text: str) -> None:
    """Parse the text alone, by libyaml's events, as documents without a common shape are."""
    list(read_yaml(text, Limits(), ValueTally(Limits())))


def test_a_written_pod_is_simulated_in_less_than_its_text_takes_to_parse() -> None:
    """Measured: 0.5 of it; 1.6 before pods that differ in their names alone were read and stored once."""
    gc.disable()
    try:
        assert any(ratio < 1 for ratio in ratios())
    finally:
        gc.enable()
