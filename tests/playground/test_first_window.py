"""A large bundle's way from its text to the first cycle, in processor time measured in the same run."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from functools import partial

from playground.playback.playback import Playback
from playground.storage import bundles
from scheduler_core.formats.limits import Limits
from scheduler_core.formats.skipped_kinds import ValueTally
from scheduler_core.formats.yaml_reader import read_yaml
from tests.bench.first_cycle import text_of
from tests.costs import least_costs

FEW, MANY = 500, 3_000


def ratios() -> Iterator[float]:
    """Yield a further pod's opening to its parsing, by the least seconds so far."""
    few, many = text_of("documents", FEW), text_of("documents", MANY)
    works = [partial(work, text) for work in (opened, parsed) for text in (few, many)]
    for opened_few, opened_many, parsed_few, parsed_many in least_costs(*works, sure=1):
        yield (opened_many - opened_few) / (parsed_many - parsed_few)


def opened(text: str) -> None:
    """Read a bundle, weigh it, make its tables and run it up to its first cycle."""
    bundles.last_read.clear()
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
