"""The lessons as the gallery lists them: by track, each with what answers it."""

from __future__ import annotations

from functools import cache

from django.utils.translation import gettext
from msgspec import Struct
from msgspec.structs import replace

from playground.courseware import (
    Lesson,
    Stop,
    TermWords,
    bundle_of,
    in_language,
    lessons,
    terms_in,
)
from playground.courseware import tracks as titles
from scheduler_core.scenario.load import load


class Track(Struct, frozen=True):
    """A sequence of lessons for one purpose."""

    key: str
    title: str
    about: str
    lessons: tuple[Lesson, ...]


ABOUT = {
    "hour": "One pod's way from the queue to its node: filters, scores, preemption.",
    "pending": "Read what the scheduler reports, find the cause, and make the smallest repair.",
    "gangs": "Pods that run together or not at all: deadlocks, permits, queues and fair shares.",
    "cache": "What the equivalence cache saved, and how it came to be wrong.",
    "changed": "Opportunistic batching, queueing hints, devices and native gangs.",
    "developers": "Orders, criteria, extenders, and the price of a greedy choice.",
}
"""The subject of each track."""


@cache
def tracks() -> tuple[Track, ...]:
    """Return the tracks that have lessons, in order."""
    listed = (
        Track(key, title, ABOUT.get(key, ""), tuple(one for one in lessons() if key in one.tracks))
        for key, title in titles().items()
    )
    return tuple(track for track in listed if track.lessons)


def track_in(track: Track, language: str) -> Track:
    """Return a track with its words and lessons in the language that is being rendered."""
    found = tuple(in_language(one, language) for one in track.lessons)
    return replace(track, title=gettext(track.title), about=gettext(track.about), lessons=found)


@cache
def scheduler_of(of: Lesson) -> str:
    """Return what answers a lesson's first scenario, as the gallery says it."""
    release = load(bundle_of(of, of.stops[0])).release
    return f"kube-scheduler {release}" if release.startswith("v") else release


def spoken(of: Lesson, at: Stop, language: str) -> tuple[Lesson, Stop]:
    """Return a lesson and its stop in a language, in English where they are not translated."""
    other = in_language(of, language)
    return other, other.stops[of.stops.index(at)]


def following(of: Lesson) -> tuple[Track, Lesson] | None:
    """Return the lesson after this one, in the first of its tracks that has one."""
    for track in tracks():
        rest = track.lessons[track.lessons.index(of) + 1 :] if of in track.lessons else ()
        if rest:
            return track, rest[0]
    return None


def words_of(of: Lesson, language: str = "en") -> list[TermWords]:
    """Return the terms that a lesson uses, each with its meaning."""
    known = terms_in(language)
    return [known[term] for term in of.terms if term in known]
