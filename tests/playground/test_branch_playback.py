"""Branches that are played from where they part from their parent."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from playground.playback import checkpoints
from playground.playback.playback import Playback
from scheduler_core import Scenario, load, load_documents
from scheduler_core.authoring.verbs import planned
from scheduler_core.compare.plane import living
from scheduler_core.scenario.history_entries import with_entries
from tests.bench.living_clusters import Size, text_of

CLUSTER = living(load(text_of(Size(12, 5, 60))))


def branch(entry: Callable[[dict[str, object]], dict[str, object]]) -> Scenario:
    """Return the cluster with the drain of a node, at the moment that ``entry`` sets."""
    ((_, _, (made,)),) = planned(CLUSTER.documents, [("drain", "n00001")])
    return load_documents(with_entries(CLUSTER.documents, [entry(made)]))


def at_step(made: dict[str, object], step: object) -> dict[str, object]:
    """Return an operation at a step in place of a time."""
    return {**{name: value for name, value in made.items() if name != "time"}, "step": step}


def computed(scenario: Scenario, parent: Playback | None = None) -> Playback:
    """Return a playback that has been computed in short slices: copies are made between slices."""
    made = Playback(scenario, parent=lambda: parent)
    while made.advance(0.01):
        pass
    return made


@pytest.fixture(scope="module")
def parent() -> Iterator[Playback]:
    """The cluster's own run, which all branches part from."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpoints, "EVERY_SECONDS", 0.0)
        yield computed(CLUSTER)


@pytest.mark.parametrize(
    ("entry", "shares"),
    [
        (lambda made: made, True),
        (lambda made: at_step(made, {"major": 1, "minor": 280}), True),
        (lambda made: at_step(made, 1), True),
        (lambda made: at_step(made, {"major": 1, "minor": 20}), False),
    ],
)
def test_a_branch_is_as_if_played_from_the_start(
    entry: Callable[[dict[str, object]], dict[str, object]], shares: bool, parent: Playback
) -> None:
    """Rows, pods, cycles and the end are the same; what both have in common is computed once."""
    scenario = branch(entry)
    whole = computed(scenario)
    assert parent.checkpoints.indices
    assert (parent.checkpoints.branched(scenario) is not None) == shares
    mine = computed(scenario, parent)
    assert len(mine) == len(whole)
    for index in range(1, len(whole) + 1):
        assert mine.trail.row(index) == whole.trail.row(index)
    assert mine.tables.pods == whole.tables.pods
    assert mine.rest() == whole.rest()
    assert mine.availability() == whole.availability()
    for index in (1, 250, len(whole)):
        assert mine.cycle(index).decision == whole.cycle(index).decision
