"""The playbacks that a process keeps open, shared by everyone who looks at the same source.

A playback is computed forward only while somebody attends it, in short slices that take turns
with the windows people ask for. The least recently used ones go when there are too many or
they hold too much.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Executor
from dataclasses import dataclass, field

import structlog

from playground.limits import limit
from playground.playback.executor import Ahead
from playground.playback.playback import SLICE_SECONDS, Playback

log = structlog.get_logger(__name__)

Key = Hashable
Listener = Callable[[Playback, int], None]  # the playback, and the first cycle that is new

FIRST_SLICE_SECONDS = 0.15  # most examples are complete after it


@dataclass(slots=True)
class Entry:
    """A place in the library, filled by the first who asks while the others wait."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    playback: Playback | None = None
    listeners: set[Listener] = field(default_factory=set)
    computing: bool = False


class Library:
    """Open playbacks by key. All methods may be called from any thread."""

    def __init__(self, executor: Callable[[], Executor | Ahead] = Ahead) -> None:
        self._entries: OrderedDict[Key, Entry] = OrderedDict()
        self._lock = threading.Lock()
        self._executor = executor

    def __len__(self) -> int:
        return len(self._entries)

    def held(self) -> tuple[int, int]:
        """Return how many playbacks are open, and their estimated bytes."""
        with self._lock:
            opened = [entry.playback for entry in self._entries.values() if entry.playback is not None]
        return len(opened), sum(playback.bytes for playback in opened)

    def open(self, key: Key, make: Callable[[], Playback]) -> Playback:
        """Return the playback under ``key``, made by ``make()`` if it is not there.

        Several callers at once share one making; if it raises, nothing is kept.
        """
        with self._lock:
            entry = self._entries.setdefault(key, Entry())
            self._entries.move_to_end(key)
        try:
            with entry.lock:
                if entry.playback is None:
                    entry.playback = make()
                playback = entry.playback
            with self._lock:  # whoever made it before may have given up, and taken the place away
                playback = self._entries.setdefault(key, entry).playback or playback
        except BaseException:
            with self._lock:
                if self._entries.get(key) is entry and entry.playback is None:
                    del self._entries[key]
            raise
        self._make_room(key)
        return playback

    def _make_room(self, keep: Key) -> None:
        with self._lock:
            held = sum(entry.playback.bytes for entry in self._entries.values() if entry.playback is not None)
            # Those that nobody attends go first, each group from the least recently used.
            unattended = sorted(self._entries, key=lambda other: bool(self._entries[other].listeners))
            for key in unattended:
                if len(self._entries) <= limit("PLAYBACKS") and held <= limit("PLAYBACK_BYTES"):
                    break
                entry = self._entries[key]
                if key == keep or entry.playback is None:
                    continue
                held -= entry.playback.bytes
                del self._entries[key]

    def attend(self, key: Key, listener: Listener) -> Entry | None:
        """Have ``listener`` called, from an engine thread, whenever the playback has grown.

        Returns what :meth:`leave` takes, None if the playback is gone already.
        """
        with self._lock:
            entry = self._entries.get(key)
            if entry is not None:
                entry.listeners.add(listener)
        if entry is not None:
            self._compute(entry)
        return entry

    def leave(self, entry: Entry, listener: Listener) -> None:
        """Undo :meth:`attend`; nothing more is computed once nobody attends."""
        with self._lock:
            entry.listeners.discard(listener)

    def _compute(self, entry: Entry) -> None:
        with self._lock:
            playback = entry.playback
            if playback is None or entry.computing or playback.complete or playback.stored:
                return
            entry.computing = True
        self._executor().submit(self._slice, entry, playback)

    def _slice(self, entry: Entry, playback: Playback) -> None:
        more = False
        try:
            before = len(playback)
            more = playback.advance(SLICE_SECONDS)
            self.tell(entry, playback, before + 1)
        except Exception:
            log.exception("computing a playback failed")
            playback.fail()
            self.tell(entry, playback, len(playback) + 1)
        finally:
            with self._lock:
                entry.computing = False
                wanted = more and bool(entry.listeners)
        if wanted:
            self._compute(entry)

    def tell(self, entry: Entry, playback: Playback, first: int) -> None:
        """Call every listener: cycles from ``first`` on are new, or computing has ended."""
        with self._lock:
            listeners = list(entry.listeners)
        for listener in listeners:
            try:
                listener(playback, first)
            except Exception:
                log.exception("a listener failed")

    def clear(self) -> None:
        """Forget every playback."""
        with self._lock:
            self._entries.clear()

    def entry(self, key: Key) -> Entry | None:
        """Return the entry under ``key`` if it is open."""
        with self._lock:
            return self._entries.get(key)

    def at_hand(self, key: Key) -> Playback | None:
        """Return the playback under ``key`` if it is open, which counts as a use of it; never waits."""
        entry = self._entries.get(key)
        if entry is None or entry.playback is None:
            return None
        # The event loop asks: where a thread is making room meanwhile, this use is not counted.
        if self._lock.acquire(blocking=False):
            try:
                if self._entries.get(key) is entry:
                    self._entries.move_to_end(key)
            finally:
                self._lock.release()
        return entry.playback

    def attended(self) -> list[Key]:
        """Return the keys that somebody attends."""
        with self._lock:
            return [key for key, entry in self._entries.items() if entry.listeners]


library = Library()
