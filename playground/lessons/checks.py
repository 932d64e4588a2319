"""The tests of lessons, for a lesson that a visitor writes or imports: in the pool, within bounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from msgspec.structs import replace

from playground.courseware import Lesson, LessonError, lessons
from playground.courseware.catalogue import words
from playground.courseware.playthrough import in_time, played
from playground.courseware.prose import facts_in
from playground.courseware.reader import read_lesson
from playground.courseware.validation import problems_of
from playground.lessons import author_jobs
from playground.pool import offload
from playground.pool.jobs import pool_job
from playground.pool.read_slots import reading
from scheduler_core.formats.locate import find_lines
from scheduler_core.kubernetes.problems import Problem

CELLS = 100_000  # nodes times cycles of one scenario
TEST_SECONDS = 10.0  # of processor time: all tests of a lesson, which take a shipped one a second
MOST = 60  # problems that are listed
T = TypeVar("T")


def read(name: str, files: Mapping[str, str]) -> Lesson:
    """Return the lesson of a folder's files. Raises LessonError with all problems."""
    return read_lesson(name, files, words(), [one.slug for one in lessons()])


def read_apart(owner: str, name: str, files: Mapping[str, str]) -> Lesson:
    """Return the lesson of an author's files, read in the pool. Raises LessonError and BusyError."""
    return _apart(owner, read, name, dict(files))


def problems(owner: str, name: str, files: Mapping[str, str]) -> list[Problem]:
    """Return what the tests find in an author's lesson. Raises LessonError and BusyError."""
    return _apart(owner, checked, name, dict(files))


def _apart(owner: str, function: Callable[..., T], *args: Any) -> T:
    if offload.enabled():
        return author_jobs.in_pool(author_jobs.share_of(owner), function, *args)
    with reading():
        return function(*args)


@pool_job
def checked(name: str, files: dict[str, str]) -> list[Problem]:
    """Return what is wrong with a lesson's files: how they are written, else what playing it shows."""
    try:
        lesson = read(name, files)
        with in_time(TEST_SECONDS):
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
    for quoted in facts_in(problem.message):
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


def _size(text: str) -> tuple[int, int]:
    play = played(text)
    return max((len(cycle.nodes) for cycle in play.cycles), default=0), len(play.cycles)
