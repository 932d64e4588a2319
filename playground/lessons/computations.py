"""What is computed of a lesson: of a visitor's in the pool, as the author's job and within one budget.

So nobody waits for the facts of another's lesson, and an author's lessons take the turns of one visitor,
however many open them. What a page shows of a published lesson is rendered when it is published, and kept.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any, TypeVar

import msgspec
from django.core.cache import cache
from django.utils import translation

from playground.courseware import Lesson, LessonError
from playground.courseware.playthrough import PAGE_SECONDS, in_time
from playground.lessons import author_jobs, lookup
from playground.pool import offload
from playground.pool.jobs import pool_job
from playground.pool.read_slots import reading

T = TypeVar("T")

KEPT_SECONDS = 24 * 3600
REFUSED_SECONDS = 600  # until what cannot be computed, or takes too long, is tried again
_REFUSED = b"!"  # begins the message of what was refused


def computed(of: Lesson, function: Callable[..., T], *args: Any, visitor: str = "", apart: bool = False) -> T:
    """Return ``function(of, *args)``, in the language of the request. Raises LessonError and BusyError.

    A lesson that a visitor wrote is computed in the pool, as is any if it is computed ``apart``. It is a job
    of ``visitor``, without one of the author.
    """
    author = lookup.author_of(of)
    if not offload.enabled() or (author is None and not apart):
        with reading():
            return function(of, *args)
    share = visitor or author_jobs.share_of(author.owner if author is not None else "")
    return author_jobs.in_pool(share, _within, translation.get_language(), function, of, args)


@pool_job
def _within(language: str | None, function: Callable[..., T], of: Lesson, args: tuple[Any, ...]) -> T:
    with translation.override(language), in_time(PAGE_SECONDS):
        return function(of, *args)


def kept(of: Lesson, kind: Any, function: Callable[..., T], *args: Any) -> T:
    """Return what :func:`computed` does, of a visitor's lesson from the cache if it was computed before.

    ``kind`` is what the function returns. Of many who ask at once one has it computed.
    """
    if lookup.author_of(of) is None:
        return computed(of, function, *args)
    key = _key(of, function, args)
    with _turn(key):
        known: bytes | None = cache.get(key)
        if known is not None and known.startswith(_REFUSED):
            raise LessonError(known.removeprefix(_REFUSED).decode())
        if known is not None:
            found: T = msgspec.msgpack.decode(known[1:], type=kind)
            return found
        try:
            made = computed(of, function, *args)
        except LessonError as error:
            cache.set(key, _REFUSED + str(error).encode(), REFUSED_SECONDS)
            raise
        keep(of, made, function, *args)
        return made


def keep(of: Lesson, made: object, function: Callable[..., object], *args: Any) -> None:
    """Keep what a function returned of a lesson, for :func:`kept`."""
    cache.set(_key(of, function, args), b"=" + msgspec.msgpack.encode(made), KEPT_SECONDS)


def _key(of: Lesson, function: Callable[..., object], args: tuple[Any, ...]) -> str:
    """Return a key that another text of the lesson, or another language, does not have."""
    asked = (of, function.__qualname__, args, translation.get_language())
    return f"lesson:{hashlib.sha256(msgspec.msgpack.encode(asked)).hexdigest()}"


_turns: dict[str, tuple[Lock, int]] = {}
_taking = Lock()


@contextmanager
def _turn(name: str) -> Iterator[None]:
    """Let one thread after the other do the same thing."""
    with _taking:
        lock, waiting = _turns.get(name, (Lock(), 0))
        _turns[name] = lock, waiting + 1
    try:
        with lock:
            yield
    finally:
        with _taking:
            lock, waiting = _turns.pop(name)
            if waiting > 1:
                _turns[name] = lock, waiting - 1
