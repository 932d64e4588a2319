"""Playbacks are shared, bounded, and computed only while somebody looks."""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from playground.playback.executor import engine, fair
from playground.playback.library import Library
from playground.playback.playback import Playback
from playground.storage import bundles
from scheduler_core import load
from tests.playground.conftest import PATIENCE


class Later:
    """An executor whose work is done when the test says so."""

    def __init__(self) -> None:
        self.work: list[Any] = []

    def submit(self, call: Any, /, *args: Any) -> Future[None]:
        self.work.append((call, args))
        return Future()

    def turn(self) -> None:
        call, args = self.work.pop(0)
        call(*args)


@pytest.fixture
def later() -> Later:
    return Later()


@pytest.fixture
def shelf(later: Later) -> Library:
    return Library(lambda: later)  # type: ignore[arg-type, return-value]


def test_one_playback_for_everyone(shelf: Library, web: str) -> None:
    """Many who open the same source at once share one loading."""
    made: list[int] = []
    barrier = threading.Barrier(4)

    def make() -> Playback:
        made.append(1)
        return Playback(load(web))

    def visit(_: int) -> Playback:
        barrier.wait()
        return shelf.open("k", make)

    with ThreadPoolExecutor(4) as pool:
        opened = list(pool.map(visit, range(4)))
    assert len({id(playback) for playback in opened}) == 1
    assert made == [1]


def test_a_source_that_cannot_be_loaded_leaves_nothing(shelf: Library) -> None:
    """The next visitor tries again."""

    def fail() -> Playback:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        shelf.open("k", fail)
    assert len(shelf) == 0


def test_the_oldest_goes_first_and_the_attended_stay(shelf: Library, web: str, limits: Any) -> None:
    """Beyond the number allowed, what nobody looks at goes before what somebody does."""
    limits(PLAYBACKS=2)
    for key in ("a", "b"):
        shelf.open(key, lambda: Playback(load(web)))
    shelf.attend("a", lambda _playback, _first: None)
    shelf.open("c", lambda: Playback(load(web)))
    assert shelf.entry("a") and shelf.entry("c") and not shelf.entry("b")


def test_memory_is_bounded(shelf: Library, web: str, limits: Any) -> None:
    """Playbacks that hold too much together do not stay; the one just opened does."""
    limits(PLAYBACK_BYTES=1)
    for key in ("a", "b"):
        shelf.open(key, lambda: Playback(load(web)))
    assert not shelf.entry("a") and shelf.entry("b")


def test_nothing_is_computed_once_nobody_attends(shelf: Library, later: Later, web: str) -> None:
    """A client that closes in the middle of computing leaves no work behind."""
    playback = shelf.open("k", lambda: Playback(load(web)))
    steps: list[int] = []

    def slowly(_seconds: float) -> bool:
        steps.append(1)
        return True

    playback.advance = slowly  # type: ignore[method-assign, assignment]
    heard: list[int] = []
    listener = lambda _playback, first: heard.append(first)  # noqa: E731
    entry = shelf.attend("k", listener)
    assert entry
    later.turn()
    assert len(later.work) == 1
    shelf.leave(entry, listener)
    later.turn()
    assert later.work == []
    assert (len(steps), len(heard)) == (2, 1)
    shelf.attend("k", listener)
    assert len(later.work) == 1


def test_two_who_attend_do_not_compute_twice(shelf: Library, later: Later, web: str) -> None:
    """There is one slice at a time for each source."""
    shelf.open("k", lambda: Playback(load(web)))
    shelf.attend("k", lambda _playback, _first: None)
    shelf.attend("k", lambda playback, _first: heard.append(len(playback)))
    heard: list[int] = []
    assert len(later.work) == 1
    later.turn()
    assert heard == [5]


def test_a_failing_engine_ends_the_computing(shelf: Library, later: Later, web: str) -> None:
    """Whoever waits is reported, instead of waiting for ever."""
    playback = shelf.open("k", lambda: Playback(load(web)))

    def broken(_growth: Any) -> None:
        raise RuntimeError("engine")

    playback._advance = broken  # type: ignore[method-assign, assignment]
    heard: list[str | None] = []
    shelf.attend("k", lambda playback, _first: heard.append(playback.stopped))
    later.turn()
    assert heard and heard[0] and "internal error" in heard[0]


def test_computing_ahead_leaves_a_thread_to_steps(monkeypatch: pytest.MonkeyPatch, web: str) -> None:
    """However many playbacks are computed, a visitor's step begins at once."""
    go, began = threading.Event(), threading.Event()

    def slowly(_playback: Playback, _seconds: float) -> bool:
        began.set()
        go.wait(PATIENCE)
        return False

    monkeypatch.setattr(Playback, "advance", slowly)
    shelf = Library()
    for number in range(20):
        shelf.open(number, lambda: Playback(bundles.parse([("", web)])))
        shelf.attend(number, lambda _playback, _first: None)
    try:
        assert began.wait(PATIENCE)
        assert fair(engine).submit("visitor", lambda: "a step").result(PATIENCE / 4) == "a step"
    finally:
        go.set()
