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
from playground.playback.freeing import freed
from playground.playback.playback import SLICE_SECONDS, Playback
from playground.storage.bundles import last_read

log = structlog.get_logger(__name__)

Key = Hashable
Listener = Callable[[Playback, int], None]  # the playback, and the first cycle that is new

FIRST_SLICE_SECONDS = 0.15  # most examples are complete after it


@dataclass(slots=True)
class LibraryEntry:
    """A place in the library, filled by the first who asks while the others wait."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    playback: Playback | None = None
    expected: int = 0  # bytes, while it is being opened
    listeners: set[Listener] = field(default_factory=set)
    computing: bool = False

    @property
    def bytes(self) -> int:
        """What it holds, or will once it is there."""
        return self.expected if self.playback is None else self.playback.bytes


class Library:
    """Open playbacks by key. All methods may be called from any thread."""

    def __init__(self, executor: Callable[[], Executor | Ahead] = Ahead) -> None:
        self._entries: OrderedDict[Key, LibraryEntry] = OrderedDict()
        self._lock = threading.Lock()
        self._executor = executor

    def __len__(self) -> int:
        return len(self._entries)

    def held(self) -> tuple[int, int]:
        """Return how many playbacks are open, and their estimated bytes."""
        with self._lock:
            opened = sum(entry.playback is not None for entry in self._entries.values())
            return opened, sum(entry.bytes for entry in self._entries.values())

    def open(self, key: Key, make: Callable[[], Playback], expected: int = 0) -> Playback:
        """Return the playback under ``key``, made by ``make()`` if it is not there.

        Several callers at once share one making; if it raises, nothing is kept. ``expected`` is how many
        bytes it will hold, roughly: room is made before it is, and what is being opened elsewhere counts too.
        One that is larger than the bound by itself is kept until another is opened, and alone.
        """
        with self._lock:
            entry = self._entries.setdefault(key, LibraryEntry())
            self._entries.move_to_end(key)
        try:
            with entry.lock:
                if entry.playback is None:
                    entry.expected = expected
                    self._make_room(key)
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

    @property
    def bytes(self) -> int:
        """What all open playbacks hold, and those that are being opened will, as far as is known."""
        with self._lock:
            return sum(entry.bytes for entry in self._entries.values())

    def _make_room(self, keep: Key | None, *, attended: bool = True) -> None:
        """Let playbacks go until the rest is within the limits: ``keep`` never, ``attended`` ones last."""
        gone = 0
        with self._lock:
            held = sum(entry.bytes for entry in self._entries.values())
            if held + last_read.held_bytes > limit("PLAYBACK_BYTES"):
                gone += last_read.held_bytes
                last_read.clear()
            # Those that nobody attends go first, each group from the least recently used.
            unattended = sorted(self._entries, key=lambda other: bool(self._entries[other].listeners))
            for key in unattended:
                if len(self._entries) <= limit("PLAYBACKS") and held <= limit("PLAYBACK_BYTES"):
                    break
                entry = self._entries[key]
                if key == keep or entry.playback is None or (entry.listeners and not attended):
                    continue
                held -= entry.bytes
                gone += entry.bytes
                del self._entries[key]
        if gone:
            freed.add(gone)

    def attend(self, key: Key, listener: Listener) -> LibraryEntry | None:
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

    def leave(self, entry: LibraryEntry, listener: Listener) -> None:
        """Undo :meth:`attend`; nothing more is computed once nobody attends."""
        with self._lock:
            entry.listeners.discard(listener)

    def _compute(self, entry: LibraryEntry) -> None:
        with self._lock:
            playback = entry.playback
            if playback is None or entry.computing or playback.complete or playback.stored:
                return
            entry.computing = True
        self._executor().submit(self._slice, entry, playback)

    def _slice(self, entry: LibraryEntry, playback: Playback) -> None:
        more = False
        try:
            before = len(playback)
            more = playback.advance(SLICE_SECONDS)
            self.tell(entry, playback, before + 1)
            self._make_room(None, attended=False)  # it has grown
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

    def tell(self, entry: LibraryEntry, playback: Playback, first: int) -> None:
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

    def entry(self, key: Key) -> LibraryEntry | None:
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
