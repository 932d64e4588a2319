"""Encoded answers about one playback, cached so that they are not computed again.

An answer depends only on the question and on the playback's *version*. Answers of one version are kept; the
first access in a later version drops them all.
"""

from __future__ import annotations

import sys
import threading
from collections import OrderedDict
from collections.abc import Hashable

from playground.limits import limit
from playground.wire import Encoded

ENTRY_BYTES = 500  # of a key and its entries in the table, beside the text
CHARACTER_BYTES = 4  # the upper bound for a character of a key


class AnswerCache:
    """Evicts the least recently used answers first. All methods may be called from any thread."""

    def __init__(self) -> None:
        self.bytes = 0
        self._version: Hashable = None
        self._texts: OrderedDict[Hashable, Encoded] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._texts)

    def get(self, version: Hashable, asked: Hashable) -> Encoded | None:
        """Return the cached answer to ``asked`` in this version, ``None`` on a miss."""
        with self._lock:
            if version != self._version:
                self._renew(version)
                return None
            text = self._texts.get(asked)
            if text is not None:
                self._texts.move_to_end(asked)
            return text

    def keep(self, version: Hashable, asked: Hashable, text: Encoded) -> None:
        """Keep an answer within the limits ``ANSWERS`` and ``ANSWER_BYTES``."""
        size = _size(asked, text)
        with self._lock:
            if version != self._version:
                self._renew(version)
            if size > limit("ANSWER_BYTES") or asked in self._texts:
                return
            self._texts[asked] = text
            self.bytes += size
            while len(self._texts) > limit("ANSWERS") or self.bytes > limit("ANSWER_BYTES"):
                self.bytes -= _size(*self._texts.popitem(last=False))

    def _renew(self, version: Hashable) -> None:
        self._version = version
        self._texts.clear()
        self.bytes = 0


class RecentAnswers:
    """Encoded answers that depend on their question alone, at most ``most`` and of so many ``characters``.

    Evicts the least recently used first. All methods may be called from any thread.
    """

    def __init__(self, most: int, characters: int) -> None:
        self._most = most
        self._characters = characters
        self._kept: OrderedDict[Hashable, Encoded] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> Encoded | None:
        """Return a kept answer; None on a miss."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def put(self, key: Hashable, answer: Encoded) -> None:
        """Keep an answer."""
        with self._lock:
            self._size -= len(self._kept.pop(key, ""))
            self._kept[key] = answer
            self._size += len(answer)
            while len(self._kept) > self._most or self._size > self._characters:
                _, old = self._kept.popitem(last=False)
                self._size -= len(old)


def _size(asked: Hashable, text: Encoded) -> int:
    return sys.getsizeof(text) + ENTRY_BYTES + CHARACTER_BYTES * len(repr(asked))
