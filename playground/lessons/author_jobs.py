"""Jobs of the pool about a lesson that a visitor wrote: they take the turns of its author, whoever asks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from playground.courseware.playthrough import TooMuchError
from playground.pool import offload
from playground.storage.bundles import TooLargeError

T = TypeVar("T")
EXPECTED_SECONDS = 5.0  # of a job about a lesson: the tests of a shipped one take a second


def share_of(owner: str) -> str:
    """Return the share in the pool that the lessons of an author have, beside what the author does else.

    It is charged to the author; without one, of the operator's lessons, to nobody.
    """
    return f"{owner} lessons"


def in_pool(visitor: str, function: Callable[..., T], *args: Any) -> T:
    """Return what a job returns. Raises LessonError, also beyond the limits of the pool, and BusyError."""
    try:
        return offload.compute(visitor, function, *args, long=True, expects=EXPECTED_SECONDS)
    except TooLargeError as error:
        raise TooMuchError(str(error)) from error
