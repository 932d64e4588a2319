"""What is pushed to a connection without a request: growing playbacks, changed runs and drafts.

Runs and drafts live in the database, which does not notify of changes; one task of the process polls the
watched rows, all of a kind in one query.
"""

from __future__ import annotations

import asyncio
import threading
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Hashable, Mapping
from datetime import datetime, timedelta
from typing import Any, ClassVar, Protocol

import structlog
from django.utils import timezone

from playground.limits import limit
from playground.models import HEAVY, QUEUED, Comment, Draft, Run, Scenario
from playground.playback import sources
from playground.playback.executor import in_storage
from playground.playback.library import LibraryEntry, Listener, library
from playground.playback.playback import Playback
from playground.runs import fairness, service
from playground.runtime import outage
from playground.storage import comments, store
from playground.wire import Encoded, encode

log = structlog.get_logger(__name__)

POLL_SECONDS = 0.4
OUTAGE_POLL_SECONDS = 2.0  # between two polls while the database does not answer
SOURCES_AT_ONCE = 4  # sources that a connection attends; beyond it the oldest are dropped
RUNS_AT_ONCE = 50
COMMENTED_AT_ONCE = 4  # scenarios whose comments a connection watches; beyond it the oldest are dropped
DRAFTS_AT_ONCE = 4  # a page shows one; beyond it the oldest are dropped
COMMENT_OVERLAP = timedelta(seconds=5)  # for which a change may become visible after a later one
ROWS_AT_ONCE = 500  # in one query


def grown(source: dict[str, Any], playback: Playback, pushed: int) -> tuple[int, bool, Encoded]:
    """Return the cycles, the completeness and the payload of ``timeline.grew`` after ``pushed`` cycles.

    The number of marks is bounded; the newest are kept.
    """
    complete = playback.complete  # read before the length: a complete playback does not grow
    last = len(playback)
    first = max(pushed + 1, last - limit("MARKS") + 1)
    payload = {
        "source": source,
        "cycles": last,
        "complete": complete,
        "end": complete and playback.ended,
        "stopped": playback.stopped,
        "from": first,
        "marks": playback.trail.marks(first, last),
    }
    return last, complete, Encoded(encode(payload))


class Watcher(Protocol):
    """A connection, as the receiver of changes."""

    visitor: str
    watching: Watching

    def push(self, name: str, payload: Any, *, latest: bool = False) -> None:
        """Send a frame that is not an answer; ``latest``: in place of one of that name not yet sent."""

    def push_text(self, text: str, slot: str = "", sent: bytes | None = None) -> None:
        """Send a frame that was encoded for many, in place of one of the same ``slot`` not yet sent.

        ``sent`` is what goes over the wire (:func:`playground.serving.protocols.encoded`).
        """


class Watching:
    """The subscriptions of one connection."""

    def __init__(self, connection: Watcher) -> None:
        self._connection = connection
        self._attended: dict[Hashable, tuple[LibraryEntry, Listener] | None] = {}
        self._runs: set[str] = set()
        self._drafts: dict[str, None] = {}
        self._comments: dict[int, str | None] = {}  # by scenario: the room whose comments they are
        self.veiled = False  # a room's question is open: what a source grows by, or a comment, may answer it

    def attend(self, source: sources.Source, playback: Playback, seen: int) -> None:
        """Push ``timeline.grew`` for cycles after ``seen`` until the playback is complete."""
        if playback.complete or source.key in self._attended:
            return
        while len(self._attended) >= SOURCES_AT_ONCE:
            self._leave(next(iter(self._attended)))
        loop = asyncio.get_running_loop()
        pushed, lock = seen, threading.Lock()

        def push(payload: Encoded, complete: bool) -> None:
            if source.key in self._attended:
                if not self.veiled:
                    self._connection.push("timeline.grew", payload)
                if complete:
                    self._leave(source.key)

        def listener(playback: Playback, _first: int) -> None:
            nonlocal pushed
            with lock:
                if len(playback) > pushed or playback.complete:
                    pushed, complete, payload = grown(source.asked, playback, pushed)
                    loop.call_soon_threadsafe(push, payload, complete)

        self._attended[source.key] = None  # before the first call of the listener
        entry = library.attend(source.key, listener)
        if entry is None:
            del self._attended[source.key]
            return
        self._attended[source.key] = (entry, listener)
        if isinstance(source.row, Run):
            poller.follow(source.row.pk, source.key)

    def _leave(self, key: Hashable) -> None:
        attended = self._attended.pop(key, None)
        if attended is not None:
            library.leave(*attended)

    def watch(self, run_id: str) -> bool:
        """Push ``run.changed`` whenever the run's row changes; return False if there are too many."""
        if len(self._runs) >= RUNS_AT_ONCE and run_id not in self._runs:
            return False
        self._runs.add(run_id)
        poller.watch(run_id, self._connection)
        return True

    def unwatch(self, run_id: str) -> None:
        """Undo :meth:`watch`."""
        self._runs.discard(run_id)
        poller.unwatch(run_id, self._connection)

    def watch_draft(self, row: Draft) -> None:
        """Push ``draft.changed`` whenever the draft has a later revision than ``row``, or is deleted."""
        self._drafts.pop(row.pk, None)
        while len(self._drafts) >= DRAFTS_AT_ONCE:
            self.forget_draft(next(iter(self._drafts)))
        self._drafts[row.pk] = None
        drafts.watch(row.pk, self._connection, row.revision)

    def forget_draft(self, name: str) -> None:
        """Undo :meth:`watch_draft`."""
        self._drafts.pop(name, None)
        drafts.unwatch(name, self._connection)

    def watch_comments(self, row: Scenario, room: str | None = None) -> None:
        """Push ``comment.changed`` for every change of the scenario's comments, or of a room's on it."""
        self._comments.pop(row.pk, None)
        while len(self._comments) >= COMMENTED_AT_ONCE:
            self.forget_comments(next(iter(self._comments)))
        self._comments[row.pk] = room
        comment_poller.watch(row, self._connection)

    def hears(self, comment: Comment) -> bool:
        """Return whether a change of a comment is to be pushed."""
        return not self.veiled and self._comments.get(comment.scenario_id, "") == comment.room_id

    def forget_comments(self, scenario: int) -> None:
        """Undo :meth:`watch_comments`."""
        self._comments.pop(scenario, None)
        comment_poller.unwatch(scenario, self._connection)

    def end(self) -> None:
        """Drop all subscriptions."""
        for scenario in list(self._comments):
            self.forget_comments(scenario)
        for name in list(self._drafts):
            self.forget_draft(name)
        for key in list(self._attended):
            self._leave(key)
        for run_id in list(self._runs):
            self.unwatch(run_id)


class Polling(ABC):
    """The process's polling of rows, every ``seconds``; asleep without watchers."""

    what: ClassVar[str]  # name of the polled rows, for the log
    seconds: ClassVar[float] = POLL_SECONDS

    def __init__(self) -> None:
        self._task: asyncio.Task[None] | None = None
        self._outages = outage.OutageLog(f"looking at {self.what}")

    @abstractmethod
    def wanted(self) -> bool:
        """Return whether there are watchers."""

    @abstractmethod
    async def look(self) -> None:
        """Poll once, and notify of changes."""

    def wake(self) -> None:
        """Poll from now on until there are no watchers."""
        task = self._task
        if task is None or task.done() or task.get_loop() is not asyncio.get_running_loop():
            self._task = asyncio.create_task(self._poll())

    async def _poll(self) -> None:
        while self.wanted():
            await asyncio.sleep(OUTAGE_POLL_SECONDS if self._outages.lasting else self.seconds)
            try:
                await self.look()
                self._outages.succeeded()
            except Exception as error:
                if outage.cause_of(error):
                    self._outages.failed(error)
                else:
                    log.exception("looking at %s failed", self.what)


class Poller(Polling):
    """Polls the runs that are watched or stepped through."""

    what = "runs"

    def __init__(self) -> None:
        super().__init__()
        self._watchers: defaultdict[str, set[Watcher]] = defaultdict(set)
        self._followed: dict[str, Hashable] = {}  # runs whose playback has listeners
        self._pushed: dict[str, Any] = {}

    def watch(self, run_id: str, connection: Watcher) -> None:
        """Notify ``connection`` of changes from now on."""
        self._watchers[run_id].add(connection)
        self.wake()

    def unwatch(self, run_id: str, connection: Watcher) -> None:
        """Stop notifying ``connection``."""
        self._watchers[run_id].discard(connection)
        if not self._watchers[run_id]:
            del self._watchers[run_id]
            self._pushed.pop(run_id, None)

    def follow(self, run_id: str, key: Hashable) -> None:
        """Read new chunks of a run into its playback while that has listeners."""
        self._followed[run_id] = key
        self.wake()

    def wanted(self) -> bool:
        """Return whether a run is watched or followed."""
        return bool(self._watchers or self._followed)

    async def look(self) -> None:
        """Notify of runs whose row changed, and read the new chunks of those that are followed."""
        rows, places = await in_storage(_rows, list(self._watchers))
        for run in rows:
            self._notify(run, places)
        await self._follow_all()

    def _notify(self, run: tuple[Run, bool], places: Mapping[str, int]) -> None:
        row, shared = run
        place = places.get(row.pk)
        state = (row.state, place, row.cycles, row.placed, row.finished, row.started, shared)
        if self._pushed.get(row.pk) == state:
            return
        self._pushed[row.pk] = state
        for connection in list(self._watchers.get(row.pk, ())):
            wire = service.run_wire(row, connection.visitor, shared=shared, places=places)
            connection.push("run.changed", wire)

    async def _follow_all(self) -> None:
        attended = set(library.attended())
        for run_id, key in list(self._followed.items()):
            entry = library.entry(key)
            if key not in attended or entry is None or entry.playback is None:
                self._followed.pop(run_id, None)
                continue
            first = await in_storage(_refresh, entry.playback, run_id)
            await in_storage(library.notify, entry, entry.playback, first)
            if entry.playback.complete:
                self._followed.pop(run_id, None)


def _rows(run_ids: list[str]) -> tuple[list[tuple[Run, bool]], Mapping[str, int]]:
    """Return the runs with whether their scenarios are shared, and the queue, if one of them is in it."""
    rows = Run.objects.filter(pk__in=run_ids).select_related("scenario")
    runs = [(run, service.is_shared(run.scenario)) for run in rows.defer(*HEAVY)]
    waits = any(run.state == QUEUED for run, _ in runs)
    return runs, fairness.positions() if waits else {}


def _refresh(playback: Playback, run_id: str) -> int:
    return sources.refresh(playback, Run(pk=run_id))


class DraftPoller(Polling):
    """Polls the drafts that are open in a page."""

    what = "drafts"

    def __init__(self) -> None:
        super().__init__()
        self._watchers: defaultdict[str, dict[Watcher, int]] = defaultdict(dict)  # to the revision pushed

    def watch(self, name: str, connection: Watcher, revision: int) -> None:
        """Notify ``connection`` of revisions after ``revision``."""
        self._watchers[name][connection] = revision
        self.wake()

    def unwatch(self, name: str, connection: Watcher) -> None:
        """Stop notifying ``connection``."""
        self._watchers[name].pop(connection, None)
        if not self._watchers[name]:
            del self._watchers[name]

    def wanted(self) -> bool:
        """Return whether a draft is open."""
        return bool(self._watchers)

    async def look(self) -> None:
        """Notify of drafts that were saved or deleted."""
        asked = {name: list(watchers) for name, watchers in self._watchers.items()}
        found = await in_storage(_draft_rows, list(asked))
        for name, connections in asked.items():
            self._notify(name, found.get(name), connections)

    def _notify(self, name: str, row: Draft | None, asked: list[Watcher]) -> None:
        """Notify those who watched when the row was read: it is outdated for later ones."""
        watchers = self._watchers.get(name, {})
        for connection in asked:
            if connection not in watchers:
                continue
            if row is None:
                connection.push("draft.gone", {"draft": name})
                connection.watching.forget_draft(name)
            elif row.revision > watchers[connection]:
                watchers[connection] = row.revision
                connection.push("draft.changed", {"draft": name, **store.draft_wire(row)})


def _draft_rows(names: list[str]) -> dict[str, Draft]:
    fields = ("revision", "text_revision", "title_revision", "title")
    found: dict[str, Draft] = {}
    for first in range(0, len(names), ROWS_AT_ONCE):
        found |= Draft.objects.only(*fields).in_bulk(names[first : first + ROWS_AT_ONCE])
    return found


class CommentPoller(Polling):
    """Polls the comments of the scenarios that are open in a page."""

    what = "comments"

    def __init__(self) -> None:
        super().__init__()
        self._watchers: defaultdict[int, set[Watcher]] = defaultdict(set)
        self._rows: dict[int, Scenario] = {}
        self._known: dict[int, comments.Version] = {}
        self._pushed: dict[int, dict[str, datetime]] = defaultdict(dict)  # comment -> its last change

    def watch(self, row: Scenario, connection: Watcher) -> None:
        """Notify ``connection`` of changes from now on."""
        self._watchers[row.pk].add(connection)
        self._rows.setdefault(row.pk, row)
        self._known.setdefault(row.pk, (timezone.now(), -1))
        self.wake()

    def unwatch(self, scenario: int, connection: Watcher) -> None:
        """Stop notifying ``connection``."""
        self._watchers[scenario].discard(connection)
        if not self._watchers[scenario]:
            for kept in (self._watchers, self._rows, self._known, self._pushed):
                kept.pop(scenario, None)

    def wanted(self) -> bool:
        """Return whether comments are watched."""
        return bool(self._watchers)

    async def look(self) -> None:
        """Notify of comments that were written or changed."""
        found = await in_storage(comments.versions, list(self._watchers))
        for scenario, version in found.items():
            known = self._known.get(scenario)
            if known is None or known == version:
                continue
            since = (known[0] or timezone.now()) - COMMENT_OVERLAP
            rows = await in_storage(comments.changed_since, scenario, since)
            self._known[scenario] = version
            self._notify(scenario, rows)

    def _notify(self, scenario: int, rows: list[Comment]) -> None:
        """Push what changed, once: transactions commit in another order than that of their clocks."""
        if scenario not in self._rows:
            return
        short, pushed = self._rows[scenario].short, self._pushed[scenario]
        for row in rows:
            if pushed.get(row.pk) == row.updated:
                continue
            pushed[row.pk] = row.updated
            for connection in list(self._watchers[scenario]):
                if not connection.watching.hears(row):
                    continue  # who is veiled asks for all of them once the answer is revealed
                shown = comments.wire(row, short, connection.visitor)
                connection.push("comment.changed", {"scenario": short, "comment": shown})


poller = Poller()
comment_poller = CommentPoller()
drafts = DraftPoller()
