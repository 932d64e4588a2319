"""The facts about ResourceClaims."""

from __future__ import annotations

import pytest

from playground.courseware import lesson
from playground.courseware.expression import FactError
from playground.courseware.facts import at_question, value
from playground.courseware.facts.moment import ShownMoment
from playground.courseware.playthrough import played


@pytest.fixture
def moment() -> ShownMoment:
    """The end of a run with two claims, one of which is allocated."""
    one = lesson("devices")
    assert one is not None
    return ShownMoment(lambda name: played(one.file(name)), "scenario.yaml", "", "")


def test_devices_are_those_of_the_allocation(moment: ShownMoment) -> None:
    """A claim that was not allocated has none; another name is an error with what was meant."""
    assert value('devices("train-gpu")', moment) == ["big-0"]
    assert value('devices("default/serve-gpu")', moment) == []
    with pytest.raises(FactError, match="there is no ResourceClaim 'train-gpus': did you mean"):
        value('devices("train-gpus")', moment)


def test_devices_are_unknown_while_a_question_is_open(moment: ShownMoment) -> None:
    """They are what became of the claim in the end."""
    with pytest.raises(FactError, match="the end of the run is not shown"):
        value('devices("train-gpu")', at_question(moment))
