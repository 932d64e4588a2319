"""The fact about the best that any scheduler could have done."""

from __future__ import annotations

import pytest

from playground.courseware import lesson
from playground.courseware.expression import FactError
from playground.courseware.facts import at_question, value
from playground.courseware.facts.moment import ShownMoment
from playground.courseware.playthrough import played


@pytest.fixture
def moment() -> ShownMoment:
    """The end of a run that leaves two of six pods pending."""
    one = lesson("the-price-of-greed")
    assert one is not None
    return ShownMoment(lambda name: played(one.file(name)), "scenario.yaml", "", "")


def test_the_most_pods_are_proven(moment: ShownMoment) -> None:
    """Two small pods share a machine, so that the large ones find one each."""
    assert value("best_placed()", moment) == 6
    assert value("count(placed())", moment) == 4


def test_the_best_is_unknown_while_a_question_is_open(moment: ShownMoment) -> None:
    """It is compared with what became of the pods in the end."""
    with pytest.raises(FactError, match="the end of the run is not shown"):
        value("best_placed()", at_question(moment))
