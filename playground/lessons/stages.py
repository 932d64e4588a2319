"""The live stage of a stop: its scenario as a shared one, and the address at which it is framed.

While a prediction is open the frame has a veil: the server answers nothing later than its moment
(:mod:`playground.live.page_context`). Nor does the stage of an earlier stop run ahead of a question that is
still to come.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import urlencode

from msgspec import Struct

from playground.courseware import Lesson, Stop, bundle_of
from playground.courseware.checks import solved_bundle
from playground.courseware.playthrough import PlayedScenario, played
from playground.lessons import lookup
from playground.storage import bundles, store, visitor_lessons
from scheduler_core.scenario import scenario as core

PREDICTING = "predict"
TITLE = "A lesson"  # of an authored one's scenarios: its own changes while it is written
WHOLE = 1_000  # phases: a cycle has a dozen


class StageExtent(NamedTuple):
    """How far a stage goes: to a cycle, and of that through its first ``phases``, up to ``phase``."""

    cycle: int
    phases: int = WHOLE
    phase: str = ""  # "" for a whole cycle, and before its first

    @property
    def cut(self) -> str | None:
        """The last phase that is shown of the cycle, None of a whole one."""
        return self.phase if self.phases < WHOLE else None


START, END = StageExtent(0), StageExtent(10**9)


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

    opened: StageExtent
    veil: StageExtent | None
    shown: StageExtent
    limit: StageExtent | None


def stage(lesson: Lesson, stop: Stop, at: StopMoments, text: str = "") -> Stage:
    """Return the frames of a stop, or of its question about the scenario ``text``."""
    return stage_of(_stored(text or bundle_of(lesson, stop), lesson), stop, at)


def stage_of(scenario: str, stop: Stop, at: StopMoments) -> Stage:
    """Return the frames of a stop whose scenario has that short id."""
    views = ",".join(stop.views)
    hides = _predicts(stop) and not stop.phase  # all of a cycle: its views would be empty
    return Stage(
        scenario,
        _address(scenario, "" if hides else views, at.opened, at.veil),
        _address(scenario, views, at.shown, at.limit),
    )


def moments(lesson: Lesson, stop: Stop, answered: Collection[str] = ()) -> StopMoments:
    """Return what a stop shows, where the stops of these keys hide nothing any more."""
    play = played(bundle_of(lesson, stop))
    return _moments(stop, play, _later(lesson, stop, play, answered))


def moments_of_variant(stop: Stop, text: str) -> StopMoments:
    """Return what a stop's question about the scenario ``text`` shows."""
    return _moments(stop, played(text), ())


def scenario_of(lesson: Lesson, stop: Stop, *, solved: bool = False) -> str:
    """Return the short id of a stop's scenario, ``solved``: with the solution of its edit."""
    return _stored((solved and solved_bundle(lesson, stop)) or bundle_of(lesson, stop), lesson)


def _later(
    lesson: Lesson, stop: Stop, play: PlayedScenario, answered: Collection[str] = ()
) -> list[StageExtent]:
    """Return how far the stages of later predictions in the same scenario go while these are open."""
    rest = [one for one in lesson.stops[lesson.stops.index(stop) + 1 :] if one.key not in answered]
    return [_opened(play, one) for one in rest if one.scenario == stop.scenario and _predicts(one)]


def _moments(stop: Stop, play: PlayedScenario, asked: Sequence[StageExtent]) -> StopMoments:
    if not _predicts(stop):
        shown = _shown(play, stop) if stop.step else START
        limit = min((one for one in asked if one >= shown), default=None)
        return StopMoments(shown, limit, shown, limit)
    opened = _opened(play, stop)
    limit = min((one for one in asked if one > opened), default=None)
    revealed = StageExtent(_index(play, stop)) if stop.step else END
    return StopMoments(opened, opened, revealed if limit is None else min(revealed, limit), limit)


def _predicts(stop: Stop) -> bool:
    return stop.task is not None and stop.task.kind == PREDICTING


def _index(play: PlayedScenario, stop: Stop) -> int:
    return play.cycle(stop.step).index


def _shown(play: PlayedScenario, stop: Stop) -> StageExtent:
    """Return the moment of a stop with a step."""
    index = _index(play, stop)
    if not stop.phase:
        return StageExtent(index)
    phases = play.cycles[index - 1].phases
    if stop.phase not in phases:
        return StageExtent(index, 0)
    return StageExtent(index, phases.index(stop.phase) + 1, stop.phase)


def _opened(play: PlayedScenario, stop: Stop) -> StageExtent:
    """Return how far the stage of a prediction goes while it is open: a whole cycle is hidden as a whole."""
    if not stop.step:
        return START
    return _shown(play, stop) if stop.phase else StageExtent(_index(play, stop) - 1)


def _address(scenario: str, views: str, at: StageExtent, upto: StageExtent | None) -> str:
    """Return the address at which a moment is framed; nothing later than ``upto`` is shown."""
    query = {"views": views, "step": "end" if at == END else str(at.cycle)}
    if at.phase:
        query["phase"] = at.phase
    if upto is not None:
        query["veil"] = str(upto.cycle)
        if upto.cut is not None:
            query["upto"] = upto.cut
    return f"/e/{scenario}/?{urlencode(query, safe=',')}"


@lru_cache(maxsize=256)
def read_scenario(text: str, title: str) -> core.Scenario:
    """Return a scenario of a lesson."""
    return bundles.parse([("", text)], title)


def _stored(text: str, lesson: Lesson) -> str:
    """Return the short id of a scenario; share it on first use, with its author or without an owner."""
    author = lookup.author_of(lesson)
    if author is None:
        return store.shared_by_nobody(read_scenario(text, lesson.title), text).short
    return visitor_lessons.shared(author, read_scenario(text, TITLE), text).short
