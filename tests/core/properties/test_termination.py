"""No bundle keeps virtual time busy without end, whatever its groups, controllers and operations say."""

from __future__ import annotations

import json
import time

import pytest

from scheduler_core.formats.limits import Limits
from scheduler_core.kubernetes.problems import BundleError
from scheduler_core.run.simulation import TimedSimulation
from scheduler_core.run.table import is_timed
from scheduler_core.scenario.load import load
from scheduler_core.scenario.scenario import Scenario
from tests.conformance.random_records import Dice
from tests.core.properties.histories import STARTS, seeds
from tests.core.properties.test_mutations import mutated
from tests.core.properties.timed_bundles import bundle

SECONDS = 60  # far beyond what any of them takes, also on a busy machine
CYCLES = 600  # looked at of those that go on for longer, up to their bound


def read(text: str) -> Scenario | None:
    """Return the scenario of a text, nothing where it is refused."""
    try:
        return load(text, limits=Limits(pods=2_000))
    except BundleError:
        return None


def run(scenario: Scenario) -> tuple[TimedSimulation, int]:
    """Step a scenario to its end or for many cycles; raise TimeoutError where a loop has no bound."""
    until = time.monotonic() + SECONDS

    def in_time() -> None:
        if time.monotonic() > until:
            raise TimeoutError

    made = TimedSimulation(scenario, trace=False, interrupt=in_time)
    cycles = 0
    while cycles < CYCLES and made.step() is not None:
        cycles += 1
    return made, cycles


@pytest.mark.parametrize("start", STARTS)
def test_every_run_ends_or_goes_on_in_cycles(start: int) -> None:
    """Each bundle, and each with one part replaced by nonsense, is refused, ends, or makes its cycles."""
    for seed in seeds(start):
        documents = bundle(seed)
        dice = Dice(seed)
        for changed in (documents, *(mutated(documents, dice) for _ in range(3))):
            scenario = read("\n".join(json.dumps(part) for part in changed))
            if scenario is not None and is_timed(scenario):
                made, cycles = run(scenario)
                assert made.done or cycles == CYCLES, seed
