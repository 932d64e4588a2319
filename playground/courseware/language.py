"""The language of replies and misconceptions, beside the engine's own sentences.

The engine knows English alone; whoever serves learners has their catalogue translate (:func:`spoken_by`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_translate: ContextVar[Callable[[str], str]] = ContextVar("translate", default=str)


@contextmanager
def spoken_by(translate: Callable[[str], str]) -> Iterator[None]:
    """Have sentences translated, each as a whole, before values take the places of its ``{names}``."""
    token = _translate.set(translate)
    try:
        yield
    finally:
        _translate.reset(token)


def say(text: str, **values: object) -> str:
    """Return a sentence in the language that is spoken."""
    return _translate.get()(text).format(**values)
