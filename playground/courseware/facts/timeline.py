"""What happened between the cycles, in virtual seconds."""

from __future__ import annotations

from collections.abc import Iterator

from playground.courseware.expression import FactError
from playground.courseware.facts.moment import ShownMoment, short
from playground.courseware.playthrough import PlayedScenario
from scheduler_core.kubernetes.names import did_you_mean
from scheduler_core.record.timeline import TimelineEvent


def happened(moment: ShownMoment, what: str, about: str = "", of: str = "") -> list[str]:
    """The objects of the run's events of a kind, such as ``Scheduled`` or ``Evicted``, in order."""
    return [short(event.about) for event in _events(moment.ended(of), what, about)]


def when(moment: ShownMoment, what: str, about: str = "", of: str = "") -> float:
    """The second of the first such event; ``about`` is a pod or another object, or a prefix with ``*``."""
    return _first(moment.ended(of), what, about).time


def last(moment: ShownMoment, what: str, about: str = "", of: str = "") -> float:
    """The second of the last such event."""
    play = moment.ended(of)
    return ([event.time for event in _events(play, what, about)] or [_first(play, what, about).time])[-1]


def words_of(moment: ShownMoment, what: str, about: str = "", of: str = "") -> str:
    """The text of the first such event."""
    return _first(moment.ended(of), what, about).text


def _events(play: PlayedScenario, what: str, about: str) -> Iterator[TimelineEvent]:
    start = about.removesuffix("*")
    for event in play.timeline:
        name = short(event.about)
        if event.what == what and (not about or name == about or (start != about and name.startswith(start))):
            yield event


def _first(play: PlayedScenario, what: str, about: str) -> TimelineEvent:
    found = next(_events(play, what, about), None)
    if found is None:
        known = dict.fromkeys(event.what for event in play.timeline)
        whose = f" about {about}" if about else ""
        meant = did_you_mean(what, known) or f": there are {', '.join(known)}"
        raise FactError(f"there is no event {what!r}{whose}{meant}")
    return found


FACTS = (
    happened,
    when,
    last,
    words_of,
)
