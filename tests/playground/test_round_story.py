"""The story of a round of Firmament."""

from __future__ import annotations

from playground.panels.plugins import PLUGIN_PANELS
from playground.panels.session import session
from tests.core.firmament.test_scheduler import GANG, NODE, POD, TIME, cycles_of


def test_the_story_has_flow_problems_classes_gangs_and_the_path() -> None:
    """What a round did, and why, is said in sentences."""
    cycle = cycles_of(TIME, NODE.format("n1", 4), POD.format("a", 1), GANG.format("100"))[0]
    (panel,) = (one for one in PLUGIN_PANELS if one.name == "session")
    text = " ".join(
        part if isinstance(part, str) else next(iter(part.values()))
        for sentence in panel.decided(cycle)
        for part in sentence
    )
    for piece in (
        "round 1 of Firmament",
        "3 pods of 2 task classes placed",
        "The aggregator takes 2",
        "arcs to 1 machine",
        "Fewer pods than the gang needs:  gang .",
        "default/a  takes index",
    ):
        assert piece in text, text
    assert session(cycle) == {
        "why": "This step is round 1 of Firmament, which has no sessions: the story has its flow networks."
    }
