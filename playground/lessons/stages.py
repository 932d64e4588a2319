"""The live stage of a stop: its scenario as a shared one, and the address at which it is framed.

While a prediction is open the frame has a veil: the server answers nothing later than its moment
(:mod:`playground.live.framing`). Nor does the stage of an earlier stop run ahead of a question that is still
to come.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import urlencode

from msgspec import Struct

from playground.lessons import lookup
from playground.storage import authored, bundles, store
from scheduler_core.authoring.lessons import Lesson, Stop, bundle_of
from scheduler_core.authoring.lessons.played import Played, played
from scheduler_core.scenario import scenario as core

PREDICTING = "predict"
TITLE = "A lesson"  # of an authored one's scenarios: its own changes while it is written
WHOLE = 1_000  # phases: a cycle has a dozen


class Extent(NamedTuple):
    """How far a stage goes: to a cycle, and of that through its first ``phases``."""

    cycle: int
    phases: int = WHOLE


START, END = Extent(0), Extent(10**9)


class Stage(Struct, frozen=True):
    """The frames of a stop: ``open`` while its question is, ``shown`` once it is answered.

    They are the same where nothing is predicted. ``scenario`` is the short id of what they show.
    """

    scenario: str
    open: str
    shown: str

    @property
    def asks(self) -> bool:
        """Whether something is hidden until the question is answered."""
        return self.open != self.shown

    @property
    def veiled(self) -> bool:
        """Whether something is hidden, if only because a later stop asks about it."""
        return "veil=" in self.open


class StopMoments(NamedTuple):
    """What a stop shows while its question is open, and then; and what is hidden then, if anything is.

    Nothing after ``veil`` is sent while the question is open, nothing after ``limit`` once it is answered:
    a later stop asks about that. Where nothing is predicted, both moments and both limits are the same.
    """

    opened: Extent
    veil: Extent | None
    shown: Extent
    limit: Extent | None


def stage(lesson: Lesson, stop: Stop) -> Stage:
    """Return the frames of a stop."""
    text = bundle_of(lesson, stop)
    return _stage(stop, text, lesson, _later(lesson, stop, played(text)))


def moments(lesson: Lesson, stop: Stop, answered: Collection[str] = ()) -> StopMoments:
    """Return what a stop shows, where the stops of these keys hide nothing any more."""
    play = played(bundle_of(lesson, stop))
    return _moments(stop, play, _later(lesson, stop, play, answered))


def scenario_of(lesson: Lesson, stop: Stop) -> str:
    """Return the short id of a stop's scenario."""
    return _stored(bundle_of(lesson, stop), lesson)


def phase_of(lesson: Lesson, stop: Stop, at: Extent) -> str:
    """Return the last phase of a moment inside a cycle, "" for a whole cycle or one before its first."""
    return _phase(played(bundle_of(lesson, stop)), at)


def _later(lesson: Lesson, stop: Stop, play: Played, answered: Collection[str] = ()) -> list[Extent]:
    """Return how far the stages of later predictions in the same scenario go while these are open."""
    rest = [one for one in lesson.stops[lesson.stops.index(stop) + 1 :] if one.key not in answered]
    return [_opened(play, one) for one in rest if one.scenario == stop.scenario and _predicts(one)]


def stage_of_variant(lesson: Lesson, stop: Stop, text: str) -> Stage:
    """Return the frames of a stop's question about the scenario ``text``."""
    return _stage(stop, text, lesson, ())


def _stage(stop: Stop, text: str, lesson: Lesson, asked: Sequence[Extent]) -> Stage:
    """Return a stop's frames; nothing later than the next of ``asked`` is shown."""
    play, views = played(text), ",".join(stop.views)
    frames = Frames(_stored(text, lesson), play)
    at = _moments(stop, play, asked)
    hides = _predicts(stop) and not stop.phase  # all of a cycle: its views would be empty
    return Stage(
        frames.scenario,
        frames.address("" if hides else views, at.opened, at.veil),
        frames.address(views, at.shown, at.limit),
    )


def _moments(stop: Stop, play: Played, asked: Sequence[Extent]) -> StopMoments:
    if not _predicts(stop):
        shown = _shown(play, stop) if stop.step else START
        limit = min((one for one in asked if one >= shown), default=None)
        return StopMoments(shown, limit, shown, limit)
    opened = _opened(play, stop)
    limit = min((one for one in asked if one > opened), default=None)
    revealed = Extent(_index(play, stop)) if stop.step else END
    return StopMoments(opened, opened, revealed if limit is None else min(revealed, limit), limit)


def _predicts(stop: Stop) -> bool:
    return stop.task is not None and stop.task.kind == PREDICTING


def _index(play: Played, stop: Stop) -> int:
    return play.cycle(stop.step).index


def _shown(play: Played, stop: Stop) -> Extent:
    """Return the moment of a stop with a step."""
    index = _index(play, stop)
    if not stop.phase:
        return Extent(index)
    phases = play.cycles[index - 1].phases
    return Extent(index, phases.index(stop.phase) + 1 if stop.phase in phases else 0)


def _opened(play: Played, stop: Stop) -> Extent:
    """Return how far the stage of a prediction goes while it is open: a whole cycle is hidden as a whole."""
    if not stop.step:
        return START
    return _shown(play, stop) if stop.phase else Extent(_index(play, stop) - 1)


class Frames(NamedTuple):
    """The addresses at which a scenario is framed."""

    scenario: str
    play: Played

    def address(self, views: str, at: Extent, upto: Extent | None) -> str:
        """Return the address of a moment; nothing later than ``upto`` is shown."""
        query = {"views": views, "step": "end" if at == END else str(at.cycle)}
        if at.phases and (phase := _phase(self.play, at)):
            query["phase"] = phase
        if upto is not None:
            query["veil"] = str(upto.cycle)
            if upto.phases < WHOLE:
                query["upto"] = _phase(self.play, upto)
        return f"/e/{self.scenario}/?{urlencode(query, safe=',')}"


def _phase(play: Played, at: Extent) -> str:
    inside = 0 < at.phases < WHOLE and at.cycle > 0
    return play.cycles[at.cycle - 1].phases[at.phases - 1] if inside else ""


@lru_cache(maxsize=256)
def _read(text: str, title: str) -> core.Scenario:
    return bundles.parse([("", text)], title)


def _stored(text: str, lesson: Lesson) -> str:
    """Return the short id of a scenario; share it on first use, with its author or without an owner."""
    author = lookup.author_of(lesson)
    if author is None:
        return store.shared_by_nobody(_read(text, lesson.title), text).short
    return authored.shared(author, _read(text, TITLE), text).short
