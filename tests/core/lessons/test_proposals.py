"""What the workbench proposes to ask: sound in every release, and computed."""

from __future__ import annotations

from typing import get_args

import pytest

from playground.courseware import bundle_of, lesson, lessons
from playground.courseware.model import Lesson, LessonError
from playground.courseware.playthrough import PlayedScenario, played
from playground.courseware.proposals import (
    CONDITIONS,
    AskedPlace,
    PlaceKind,
    ProposedStop,
    faults,
    proposals,
    table,
)

SOME = [one.slug for one in lessons()][::3]


def text_of(slug: str) -> str:
    found = lesson(slug)
    assert isinstance(found, Lesson)
    return bundle_of(found, found.stops[0])


def places(play: PlayedScenario, index: int) -> list[AskedPlace]:
    """Return a place of each kind at a cycle."""
    cycle = play.cycles[index]
    found = [AskedPlace("cycle"), AskedPlace("pod", pod=cycle.pod), AskedPlace("node", node=cycle.nodes[0])]
    if cycle.matrix is not None:
        rules = (cycle.matrix.order[0], cycle.matrix.order[-1])
        found += [AskedPlace("filter", node=cycle.nodes[-1], rule=rule) for rule in rules]
    if cycle.totals is not None:
        best = cycle.nodes[cycle.feasible[0]]
        found.append(AskedPlace("score", node=best, rule=cycle.priorities[0].name))
    found += [
        AskedPlace("event", reason=event.reason, pod=event.object.rpartition("/")[2])
        for event in cycle.events[:1]
    ]
    return found


@pytest.mark.parametrize("slug", SOME)
def test_what_is_proposed_is_a_sound_stop(slug: str) -> None:
    """Whatever is asked about in whatever release, the tests of lessons accept it."""
    text = text_of(slug)
    play = played(text)
    made: list[ProposedStop] = []
    for place in places(play, 0):
        made += proposals(text, play.cycles[0].step, place)
    assert made
    assert [fault for one in made for fault in faults(text, one)] == []


def labels(slug: str, place: AskedPlace, step: str = "1.1") -> list[str]:
    return [one.label for one in proposals(text_of(slug), step, place)]


def test_each_kind_of_place_has_its_questions() -> None:
    """A node that is refused is asked about otherwise than one that is feasible."""
    assert labels("first-cycle", AskedPlace("cycle")) == [
        "Which node gets it?", "Which nodes are feasible?", "How many checks does it take?",
    ]  # fmt: skip
    assert labels("first-cycle", AskedPlace("node", node="n1")) == [
        "Is n1 feasible?", "Find what refuses n1", "How much CPU has n1 left?",
    ]  # fmt: skip
    assert "What is the total of n2?" in labels("first-cycle", AskedPlace("node", node="n2"))
    assert "Find the event Scheduled" in labels(
        "first-cycle", AskedPlace("event", pod="web", reason="Scheduled")
    )
    cell = AskedPlace("filter", node="n1", rule="NodeResourcesFit")
    assert labels("first-cycle", cell)[0] == "Find what refuses n1"
    scored = AskedPlace("score", node="n2", rule="NodeResourcesFit")
    assert labels("first-cycle", scored)[0] == "What does NodeResourcesFit give n2?"
    assert labels("first-cycle", AskedPlace("pod", pod="default/web"))[-1] == "Is it pending in the end?"
    assert "Which pods are evicted?" in labels("preemption-101", AskedPlace("cycle"))


def test_an_answer_is_a_fact_and_is_not_shown() -> None:
    """The answer is a query on the record, asked at the last phase that does not show it."""
    [gets, feasible, _] = proposals(text_of("first-cycle"), "1.1", AskedPlace("cycle"))
    assert (gets.task["answer"], gets.phase) == ('cycle("1.1").node', "predicates")
    assert (feasible.task["answer"], feasible.phase) == ('cycle("1.1").feasible', "queue")


def test_where_the_filter_decides_its_end_is_hidden() -> None:
    """With no node or one that is feasible, the matrix would tell."""
    gets = proposals(text_of("reading-the-message"), "1.1", AskedPlace("cycle"))[0]
    assert gets.phase == "queue"


def test_a_place_that_is_none_is_asked_nothing_about() -> None:
    """A name from another step, or a hostile one, proposes nothing."""
    assert labels("first-cycle", AskedPlace("node", node='x") or cycle("1.1')) == []
    assert labels("first-cycle", AskedPlace("filter", node="n1", rule="NoSuchRule")) == [
        "Does NoSuchRule refuse n1?", "Is n1 feasible?",
    ]  # fmt: skip
    with pytest.raises(LessonError, match="no step"):
        labels("first-cycle", AskedPlace("cycle"), "9.9")
    with pytest.raises(LessonError, match="no pod"):
        labels("first-cycle", AskedPlace("pod", pod="nobody"))


def test_the_table_is_used_whole() -> None:
    """Each kind of place has questions, each question a place, and conditions that there are."""
    assert set(table().places) == set(get_args(PlaceKind))
    assert {name for names in table().places.values() for name in names} == set(table().questions)
    assert {name for row in table().questions.values() for name in row.when} == set(CONDITIONS)
