"""The playbacks that a process keeps open, shared by all viewers of the same source.

A playback is computed forward only while it has listeners, in short slices that alternate with the windows
that clients request. The least recently used ones are evicted when there are too many or they hold too much
memory.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Executor
from contextvars import Context, copy_context
from dataclasses import dataclass, field

import structlog

from playground.limits import limit
from playground.playback.deadlines import resident_bytes
from playground.playback.executor import Ahead
from playground.playback.free_memory import freed
from playground.playback.playback import SLICE_SECONDS, Playback
from playground.pool.gate import GivingLock
from playground.pool.shares import BusyError
from playground.storage.bundles import last_read

log = structlog.get_logger(__name__)

Key = Hashable
Listener = Callable[[Playback, int], None]  # the playback, and the first new cycle

FIRST_SLICE_SECONDS = 0.15  # most examples are complete after it


@dataclass(slots=True)
class LibraryEntry:
    """An entry of the library, filled by the first caller while the others wait."""

    lock: GivingLock = field(default_factory=GivingLock)
    playback: Playback | None = None
    expected: int = 0  # bytes, while it is being opened
    listeners: set[Listener] = field(default_factory=set)
    computing: bool = False
    context: Context = field(default_factory=copy_context)  # of who came last, for whom it is computed

    @property
    def bytes(self) -> int:
        """The memory it holds, or is expected to hold once it is open."""
        return self.expected if self.playback is None else self.playback.bytes


class Library:
    """Open playbacks by key. All methods may be called from any thread."""

    def __init__(self, executor: Callable[[], Executor | Ahead] = Ahead) -> None:
        self._entries: OrderedDict[Key, LibraryEntry] = OrderedDict()
        self._lock = threading.Lock()
        self._executor = executor
        self._base = 0  # resident bytes of the process before anything was opened

    def __len__(self) -> int:
        return len(self._entries)

    def held(self) -> tuple[int, int]:
        """Return how many playbacks are open, and their estimated bytes."""
        with self._lock:
            opened = sum(entry.playback is not None for entry in self._entries.values())
            return opened, sum(entry.bytes for entry in self._entries.values())

    def open(self, key: Key, make: Callable[[], Playback], expected: int = 0) -> Playback:
        """Return the playback under ``key``, created by ``make()`` if it is not open.

        Concurrent callers share one creation; if it raises, nothing is kept. ``expected`` is an estimate of
        its bytes: room is made before it is created, and playbacks that are being opened elsewhere count too.
        A playback larger than the whole bound is kept, alone, until another is opened.
        """
        self._base = self._base or resident_bytes()
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
            with self._lock:  # the creator may have failed before, and removed the entry
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
        """The bytes of all open playbacks, and the expected bytes of those that are being opened."""
        with self._lock:
            return sum(entry.bytes for entry in self._entries.values())

    def _make_room(self, keep: Key | None, *, attended: bool = True) -> None:
        """Evict playbacks down to the limits: never ``keep``; those with listeners last, or not at all.

        The limit of bytes is one of estimates, and of the memory that the process has taken since the first
        was opened.
        """
        gone = cyclic = 0
        scale = self._scale()
        with self._lock:
            held = sum(entry.bytes for entry in self._entries.values())
            if scale * held + last_read.held_bytes > limit("PLAYBACK_BYTES"):
                gone += last_read.held_bytes
                last_read.clear()
            # Playbacks without listeners are evicted first, each group from the least recently used.
            unattended = sorted(self._entries, key=lambda other: bool(self._entries[other].listeners))
            for key in unattended:
                if len(self._entries) <= limit("PLAYBACKS") and scale * held <= limit("PLAYBACK_BYTES"):
                    break
                entry = self._entries[key]
                if key == keep or entry.playback is None or (entry.listeners and not attended):
                    continue
                held -= entry.bytes
                gone += entry.bytes
                cyclic += entry.bytes * entry.playback.refers_to_itself
                del self._entries[key]
        if gone:
            freed.add(gone, cyclic)

    def _scale(self) -> float:
        """Return how many bytes the process has taken for each one that is estimated; 1 if that fits.

        What was let go a moment ago still counts in the process, so that is asked again after a while only.
        """
        if resident_bytes() - self._base <= limit("PLAYBACK_BYTES") or not freed.trim():
            return 1.0
        return max(1.0, (resident_bytes() - self._base) / max(1, self.bytes))

    def attend(self, key: Key, listener: Listener) -> LibraryEntry | None:
        """Call ``listener`` from an engine thread whenever the playback has grown, for who calls this.

        Returns the argument for :meth:`leave`, ``None`` if the playback was evicted already.
        """
        with self._lock:
            entry = self._entries.get(key)
            if entry is not None:
                entry.listeners.add(listener)
                entry.context = copy_context()
        if entry is not None:
            self._compute(entry)
        return entry

    def leave(self, entry: LibraryEntry, listener: Listener) -> None:
        """Undo :meth:`attend`; nothing more is computed once there are no listeners."""
        with self._lock:
            entry.listeners.discard(listener)

    def _compute(self, entry: LibraryEntry) -> None:
        with self._lock:
            playback = entry.playback
            if playback is None or entry.computing or playback.complete or playback.stored:
                return
            entry.computing = True
        entry.context.copy().run(self._executor().submit, self._slice, entry, playback)

    def _slice(self, entry: LibraryEntry, playback: Playback) -> None:
        more = False
        try:
            before = len(playback)
            more = entry.context.copy().run(playback.advance, SLICE_SECONDS)
            self.notify(entry, playback, before + 1)
            self._make_room(None, attended=False)  # it has grown
        except BusyError as error:
            self._compute_later(entry, error.retry_after)
        except Exception:
            log.exception("computing a playback failed")
            self.notify(entry, playback, len(playback) + 1)
        finally:
            with self._lock:
                entry.computing = False
                wanted = more and bool(entry.listeners)
        if wanted:
            self._compute(entry)

    def _compute_later(self, entry: LibraryEntry, seconds: float) -> None:
        later = threading.Timer(seconds, self._compute_wanted, (entry,))
        later.daemon = True
        later.start()

    def _compute_wanted(self, entry: LibraryEntry) -> None:
        if entry.listeners:
            self._compute(entry)

    def notify(self, entry: LibraryEntry, playback: Playback, first: int) -> None:
        """Notify every listener: cycles from ``first`` on are new, or computing has ended."""
        with self._lock:
            listeners = list(entry.listeners)
        for listener in listeners:
            try:
                listener(playback, first)
            except Exception:
                log.exception("a listener failed")

    def clear(self) -> None:
        """Drop every playback."""
        with self._lock:
            self._entries.clear()
        self._base = 0

    def entry(self, key: Key) -> LibraryEntry | None:
        """Return the entry under ``key`` if it is open."""
        with self._lock:
            return self._entries.get(key)

    def at_hand(self, key: Key) -> Playback | None:
        """Return the playback under ``key`` if it is open, and count that as a use; never blocks."""
        entry = self._entries.get(key)
        if entry is None or entry.playback is None:
            return None
        # Called in the event loop: while another thread makes room, this use is not counted.
        if self._lock.acquire(blocking=False):
            try:
                if self._entries.get(key) is entry:
                    self._entries.move_to_end(key)
            finally:
                self._lock.release()
        return entry.playback

    def attended(self) -> list[Key]:
        """Return the keys of the playbacks with listeners."""
        with self._lock:
            return [key for key, entry in self._entries.items() if entry.listeners]


library = Library()
