"""What is compared is played alike: a plain scenario has controllers beside one that lives."""

from __future__ import annotations

import pytest

from scheduler_core import Scenario, load_documents, simulate
from scheduler_core.authoring.examples import find
from scheduler_core.authoring.verbs import planned
from scheduler_core.compare.compare import compare
from scheduler_core.compare.plane import living, on_one_plane
from scheduler_core.run.trace import trace_line
from scheduler_core.scenario.history_entries import with_entries

SECOND = 60.0
EXAMPLE = find("shop")
assert EXAMPLE is not None
SHOP = EXAMPLE.load()


def branch(verb: str, target: str) -> Scenario:
    """Return "A shop" with a verb at 60 s."""
    plan = planned(SHOP.documents, [(verb, f"{target}@{SECOND:g}")])
    return load_documents(with_entries(SHOP.documents, [one for _, _, made in plan for one in made]))


def before(scenario: Scenario) -> list[str]:
    """Return the trace until the verb."""
    return [trace_line(cycle) for cycle in simulate(scenario) if cycle.time < SECOND]


@pytest.mark.parametrize(
    ("verb", "target"),
    [("drain", "general-1"), ("lose", "zone=eu-a"), ("scale", "deploy/cart=9"), ("cordon", "memory-1")],
)
def test_all_before_a_verb_is_as_in_the_parent(verb: str, target: str) -> None:
    """The trace of a branch equals its parent's, byte for byte, until the second of the verb."""
    own = branch(verb, target)
    parent, played = on_one_plane((SHOP, own))
    assert before(parent) == before(played) != []


def test_pods_end_elsewhere_because_of_the_verb_alone() -> None:
    """Of a drain: the evicted pods, and the pods that controllers made instead."""
    found = compare(SHOP, branch("drain", "general-1"))
    there, here = (run.placement() for run in found.runs)
    availability = found.runs[1].availability()
    assert availability is not None
    elsewhere = {pod for pod in there.keys() | here.keys() if there.get(pod) != here.get(pod)}
    left = {pod for pod in elsewhere if there.get(pod) == "general-1"}
    made = here.keys() - there.keys()
    assert elsewhere == left | made
    assert (len(left), len(made)) == (availability.total.evicted, 2) == (3, 2)
    assert found.first is None or found.first.index > len(before(SHOP))


def test_nothing_is_made_living_without_need() -> None:
    """Two plain scenarios are compared as they are; so are a recording and what another release answers."""
    assert on_one_plane((SHOP, SHOP)) == (SHOP, SHOP)
    old = load_documents(SHOP.documents, scheduler="v1.11")
    assert on_one_plane((old, branch("drain", "general-1")))[0] is old


def test_a_living_scenario_has_the_same_content() -> None:
    """Neither its documents nor its identity tell that it was read with controllers."""
    read = living(SHOP)
    assert read.lives and not SHOP.lives
    assert (read.id, read.release) == (SHOP.id, SHOP.release)
