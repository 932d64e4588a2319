"""What a process has one of is made once, however many threads ask for it first."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

from playground.once import once


def test_threads_that_ask_at_once_get_the_same() -> None:
    """All of them arrive before the first is done."""
    threads, made = 4, []
    arrived = threading.Barrier(threads)

    @once
    def thing() -> object:
        made.append(threading.get_ident())
        threading.Event().wait(0.05)
        return object()

    def ask() -> object:
        arrived.wait()
        return thing()

    with ThreadPoolExecutor(threads) as executor:
        found = {id(future.result()) for future in [executor.submit(ask) for _ in range(threads)]}
    assert len(found) == len(made) == 1


def test_each_argument_has_its_own() -> None:
    """And what was made can be forgotten."""
    double = once(lambda number: [number, number])
    assert double(1) is double(1) is not double(2)
    former = double(1)
    double.cache_clear()
    assert double(1) is not former
