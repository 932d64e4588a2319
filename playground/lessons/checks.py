"""The tests of lessons, for a lesson that a visitor writes or imports: in the pool, within bounds."""

from __future__ import annotations

import hashlib
import pickle
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Lock

from msgspec.structs import replace

from playground.once import once
from playground.pool import offload
from playground.pool.jobs import pool_job
from playground.pool.reading import reading
from playground.storage.bundles import TooLargeError
from playground.visitors import identity
from scheduler_core.authoring.lessons import Lesson, LessonError, lessons
from scheduler_core.authoring.lessons.catalogue import words
from scheduler_core.authoring.lessons.played import Played, keep, known, play, played
from scheduler_core.authoring.lessons.reading import read_lesson
from scheduler_core.authoring.lessons.validation import problems_of
from scheduler_core.formats.locate import find_lines
from scheduler_core.kubernetes.problems import Problem

CELLS = 100_000  # nodes times cycles of one scenario: what a web process keeps of it stays small
MOST = 60  # problems that are listed
KNOWN = 512  # scenarios that a process remembers to be small enough


def read(name: str, files: Mapping[str, str]) -> Lesson:
    """Return the lesson of a folder's files. Raises LessonError with all problems."""
    return read_lesson(name, files, words(), [one.slug for one in lessons()])


def problems(name: str, files: Mapping[str, str]) -> list[Problem]:
    """Return what the tests find in a lesson. Raises BusyError, and TooLargeError if it takes too long."""
    if offload.enabled():
        return offload.compute(identity.asker(), checked, name, dict(files))
    with reading():
        return checked(name, dict(files))


@pool_job
def checked(name: str, files: dict[str, str]) -> list[Problem]:
    """Return what is wrong with a lesson's files: how they are written, else what playing it shows."""
    try:
        lesson = read(name, files)
        _check_sizes(lesson)
        found = problems_of(lesson)
    except LessonError as error:
        found = list(error.problems) or [Problem(str(error), file=f"{name}/lesson.yaml", line=1)]
    return [_placed(one, name, files) for one in found[:MOST]]


def _placed(problem: Problem, name: str, files: Mapping[str, str]) -> Problem:
    """Return a problem with a line: that of its field, else that of the fact which it names."""
    file = (problem.file or "").removeprefix(f"{name}/")
    if problem.line or file not in files:
        return problem
    return replace(problem, line=_line(files[file], problem))


def _line(text: str, problem: Problem) -> int:
    for quoted in re.findall(r"\{\{ (.+?) \}\}", problem.message):
        if (at := text.find(quoted)) >= 0:
            return text.count("\n", 0, at) + 1
    steps = tuple(int(step) if step.isdigit() else step for step in problem.path.split(".") if step)
    front = text.removeprefix("---\n").partition("\n---\n")[0]
    return find_lines(front, "yaml", [(1, steps)]).get((1, steps), 0) + 1 if steps else 1


# --- sizes


def _check_sizes(lesson: Lesson) -> None:
    for name in dict.fromkeys(stop.scenario for stop in lesson.stops):
        _check_size(name, *_size(lesson.file(name)))


def _check_size(name: str, nodes: int, cycles: int) -> None:
    if nodes * cycles > CELLS:
        message = f"{name} has {nodes:,} nodes and {cycles:,} cycles: a lesson's scenario is smaller"
        raise LessonError(f"{message}, {CELLS:,} nodes times cycles at most")


@pool_job
def _size(text: str) -> tuple[int, int]:
    play = played(text)
    return max((len(cycle.nodes) for cycle in play.cycles), default=0), len(play.cycles)


def check_small(lesson: Lesson) -> None:
    """Refuse a lesson with a scenario that a web process had better not play. Raises LessonError.

    Of what is published that is known; what its author previews is measured in the pool first.
    """
    for name in dict.fromkeys(stop.scenario for stop in lesson.stops):
        text = lesson.file(name)
        digest = hashlib.sha256(text.encode()).hexdigest()
        if digest in _small():
            continue
        nodes, cycles = _measured(text)
        _check_size(name, nodes, cycles)
        _note(digest)


def play_apart(lesson: Lesson) -> None:
    """Have a visitor's scenarios played in the pool, unless this process has their runs.

    Nobody else waits meanwhile, and of many who open a lesson at once one has it played. A run that cannot
    be sent to another process is played in this one. Raises LessonError and BusyError.
    """
    if not offload.enabled():
        return
    for name in dict.fromkeys(stop.scenario for stop in lesson.stops):
        text = lesson.file(name)
        if known(text) is None:
            with _turn(text):
                if known(text) is None and (run := _played_apart(text)) is not None:
                    keep(run)


def _played_apart(text: str) -> Played | None:
    try:
        sent = offload.compute(identity.asker(), _play, text)
    except TooLargeError as error:
        raise LessonError(str(error)) from error
    return None if sent is None else pickle.loads(sent)  # noqa: S301 - of this server's own process


@pool_job
def _play(text: str) -> bytes | None:
    try:
        return pickle.dumps(play(text))
    except (TypeError, AttributeError, pickle.PicklingError):
        return None


_turns: dict[str, tuple[Lock, int]] = {}
_taking = Lock()


@contextmanager
def _turn(text: str) -> Iterator[None]:
    """Let one thread after the other do something about a text."""
    with _taking:
        lock, waiting = _turns.get(text, (Lock(), 0))
        _turns[text] = lock, waiting + 1
    try:
        with lock:
            yield
    finally:
        with _taking:
            lock, waiting = _turns.pop(text)
            if waiting > 1:
                _turns[text] = lock, waiting - 1


def _measured(text: str) -> tuple[int, int]:
    if offload.enabled():
        return offload.compute(identity.asker(), _size, text)
    with reading():
        return _size(text)


@once
def _small() -> dict[str, None]:
    """Return the digests of scenarios that are small enough, the latest last."""
    return {}


def _note(digest: str) -> None:
    known = _small()
    known[digest] = None
    while len(known) > KNOWN:
        known.pop(next(iter(known)), None)
