"""What can be played, and by whom: ``{kind: id}``, of a ``draft``, ``scenario``, ``run`` or ``link``.

Or of a ``side`` of a stored comparison: ``<id>-left``, ``<id>-right``.

A draft may be addressed with the ``revision`` of its text; each revision is a separate source. So is what a
source would be under another ``scheduler``.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from playground.limits import limit
from playground.models import CANCELLING, DONE, QUEUED, RUNNING, ComparedSide, Draft, Run, Scenario
from playground.playback import over_time, releases
from playground.playback.chunks import read_chunks
from playground.playback.deadlines import TooMuchWorkError
from playground.playback.library import Library, library
from playground.playback.packed_runs import read_checkpoints
from playground.playback.playback import Playback
from playground.pool import offload
from playground.runtime import outage
from playground.storage import bundles, comparisons, links, store, texts
from scheduler_core.compare.plane import can_live
from scheduler_core.scenario import scenario as core

PAGES = {"scenario": "s", "run": "runs", "link": "l", "draft": "p"}  # of all but sides, by kind
LOOKS = 3  # attempts to read a draft that is saved at the same time
UNFINISHED = (QUEUED, RUNNING, CANCELLING)

reads = outage.Breaker("finding sources")


class NotFoundError(LookupError):
    """There is no such source, or it belongs to another visitor: the two are not distinguished."""


class Stored(Struct, frozen=True):
    """A draft's files or a scenario's packed content: readable without the database, in any process."""

    title: str
    files: tuple[tuple[str, str], ...] = ()
    content: bytes | None = None
    scheduler: str = ""  # under which it is put, "" for the one that it asks for itself
    living: bool = False  # with controllers, whether or not there is something for them to do

    def load(self) -> core.Scenario:
        """Return the engine's scenario. Raises BundleError for files that cannot be parsed."""
        if self.content is not None:
            scenario = bundles.restore(self.content)
        else:
            scenario = bundles.parse(self.files, self.title)
        scenario = releases.under(scenario, self.scheduler)
        return bundles.living(scenario) if self.living else scenario


class Source(Struct, frozen=True):
    """An existing source that the visitor may see."""

    wire: dict[str, str]
    row: Draft | Scenario | Run
    revision: int | None = None  # of a draft's text, if one was requested
    scheduler: str = ""  # under which it is played, "" for the one that it asks for itself
    living: bool = False  # played with controllers: see `open_alike`

    @property
    def key(self) -> Hashable:
        """The library's key: a draft whose text was saved is another source."""
        under = (*([self.scheduler] if self.scheduler else []), *(["living"] if self.living else []))
        if isinstance(self.row, Draft):
            revision = self.row.text_revision if self.revision is None else self.revision
            return ("draft", self.row.pk, revision, *under)
        return ("run", self.row.pk) if isinstance(self.row, Run) else ("scenario", self.row.digest, *under)

    @property
    def asked(self) -> dict[str, Any]:
        """The source as the client named it."""
        asked: dict[str, Any] = {**self.wire}
        if self.revision is not None:
            asked["revision"] = self.revision
        if self.scheduler:
            asked["scheduler"] = self.scheduler
        if self.living:
            asked["living"] = True
        return asked

    @property
    def title(self) -> str:
        """The current title."""
        return self.row.title

    def stored(self) -> Stored:
        """Return the source's content from the database. Raises StaleError."""
        if isinstance(self.row, Draft):
            self.check()
            files = tuple(store.draft_files(self.row))
            return Stored(self.row.title, files=files, scheduler=self.scheduler, living=self.living)
        row = Scenario.objects.get(pk=self.row.scenario_id) if isinstance(self.row, Run) else self.row
        content = bytes(row.content)
        return Stored(row.title, content=content, scheduler=self.scheduler, living=self.living)

    def load(self) -> core.Scenario:
        """Return the engine's scenario. Raises BundleError for a draft that cannot be parsed, StaleError."""
        return self.stored().load()

    def text(self) -> str:
        """Return the text byte for byte.

        Raises BundleError for files that cannot be read together, and StaleError.
        """
        if isinstance(self.row, Draft):
            self.check()
            return store.draft_text(self.row)
        row = Scenario.objects.get(pk=self.row.scenario_id) if isinstance(self.row, Run) else self.row
        return store.scenario_text(row)

    def presumed(self) -> str:
        """Return the release that answers the source if its text names none, "" being the default."""
        if isinstance(self.row, Draft):
            return self.row.presumed
        row = Scenario.objects.get(pk=self.row.scenario_id) if isinstance(self.row, Run) else self.row
        return bundles.implicit_release(bytes(row.content))

    def introduction(self) -> str:
        """Return the comment at the head of the text, "" if there is none or no database."""
        with outage.SuppressOutage():
            return self._introduction()
        return ""

    def _introduction(self) -> str:
        if isinstance(self.row, Draft):
            with suppress(Draft.DoesNotExist, store.StaleError):  # deleted, or saved in another tab meanwhile
                return texts.introduction(store.draft_files(self.row)[0][1])
            return ""
        row = Scenario.objects.get(pk=self.row.scenario_id) if isinstance(self.row, Run) else self.row
        return "" if row.text is None else texts.introduction(store.stored_text(row))

    def pinned(self) -> Source:
        """Return the source pinned to its current revision if it is a draft."""
        if self.revision is not None or not isinstance(self.row, Draft):
            return self
        return replace(self, revision=self.row.text_revision)

    def newest(self) -> Source:
        """Return a draft in its current state."""
        return replace(self, row=Draft.objects.defer("files").get(pk=self.row.pk))

    def check(self) -> None:
        """Raise StaleError for a draft whose text is no longer at the requested revision."""
        if isinstance(self.row, Draft) and self.revision not in (None, self.row.text_revision):
            raise store.StaleError(self.row)

    def files(self) -> bundles.Files:
        """Return a draft's files as (name, text). Raises StaleError."""
        assert isinstance(self.row, Draft)
        self.check()
        return store.draft_files(self.row)


def page_of(kind: str, name: str) -> str:
    """Return the address of a source's page."""
    if kind == "side":
        comparison, _, side = name.rpartition("-")
        return f"/compare/{comparison}/{side}/"
    return f"/{PAGES[kind]}/{name}/"


def _of_side(side: ComparedSide) -> Scenario | Run:
    """Return the run that computed a side, as long as it is kept, else its scenario."""
    if side.run is None:
        return side.scenario
    side.run.scenario = side.scenario
    return side.run


def find(wire: Any, visitor: str) -> Source:
    """Return the source that a client names; a run under another scheduler is its scenario.

    So is one that is ``living``. Raises NotFoundError.
    """
    if isinstance(wire, dict) and wire.get("living") is True:
        return living(find({kind: name for kind, name in wire.items() if kind != "living"}, visitor))
    revision = wire.get("revision") if isinstance(wire, dict) and "draft" in wire else None
    if isinstance(revision, int) and not isinstance(revision, bool):
        wire = {kind: name for kind, name in wire.items() if kind != "revision"}
    else:
        revision = None
    scheduler = wire.get("scheduler") if isinstance(wire, dict) else None
    if isinstance(scheduler, str) and scheduler in releases.SCHEDULERS:
        wire = {kind: name for kind, name in wire.items() if kind != "scheduler"}
    else:
        scheduler = ""
    if isinstance(wire, dict) and len(wire) == 1:
        [(kind, name)] = wire.items()
        row: Draft | Scenario | Run | None = None
        if isinstance(name, str) and store.is_id(name):
            if kind == "draft":
                row = store.find_draft(name, visitor)
            elif kind == "scenario":
                row = store.find_scenario(name)
            elif kind == "run":
                run = store.find_run(name)
                row = run.scenario if run is not None and scheduler else run
            elif kind == "link" and (link := links.find_link(name)) is not None:
                row = link.scenario
            elif kind == "side" and (side := comparisons.find_side(name)) is not None:
                row, scheduler = _of_side(side), side.scheduler
        if row is not None:
            return Source({kind: name}, row, revision, scheduler)
    raise NotFoundError(
        "The draft, scenario or run was not found; it may have been deleted, or it is not yours."
    )


def open_playback(source: Source, shelf: Library = library) -> Playback:
    """Return the source's playback; for a run, with everything that its worker stored so far.

    While no database answers, an open playback is returned as it is.

    Raises BundleError, TooLargeError or StaleError.
    """
    playback, source = _opened(source, shelf)
    if isinstance(source.row, Run) and reads.due():
        with outage.SuppressOutage(), reads.recorded():
            refresh(playback, source.row)
    return playback


def open_alike(compared: Sequence[Source]) -> list[Playback]:
    """Return the playbacks of sources that are compared: with controllers all, if one of them has some.

    They then differ by nothing before an operation that only one of them has. Raises what
    :func:`open_playback` raises.
    """
    playbacks = [open_playback(source) for source in compared]
    lives = any(playback.scenario.lives for playback in playbacks)
    return [
        open_playback(living(source)) if lives and can_live(playback.scenario) else playback
        for source, playback in zip(compared, playbacks)
    ]


def living(source: Source) -> Source:
    """Return the source with controllers; of a run, its scenario."""
    row = source.row.scenario if isinstance(source.row, Run) else source.row
    return replace(source, row=row, living=True)


def _opened(source: Source, shelf: Library, looks: int = LOOKS) -> tuple[Playback, Source]:
    """Return the source's playback; for a draft saved meanwhile, with the source in its current state."""
    try:
        return shelf.open(source.key, lambda: _make(source), _expected(source)), source
    except store.StaleError:
        if source.revision is not None or looks <= 1:
            raise
        return _opened(source.newest(), shelf, looks - 1)


def is_open(source: Source) -> bool:
    """Return whether the source's playback is open, so that opening it takes no time."""
    entry = library.entry(source.key)
    return entry is not None and entry.playback is not None


def is_large(source: Source) -> bool:
    """Return whether parsing a source takes long enough for the pool."""
    row = source.row.scenario if isinstance(source.row, Run) else source.row
    if row.size > offload.TEXT_BYTES:
        return True
    return isinstance(row, Scenario) and row.nodes + row.pods > offload.MADE_OBJECTS


def seed(row: Draft | Run, scenario: core.Scenario) -> None:
    """Keep what was parsed to store ``row``, since its visitor is about to open it, if it can be played."""
    kind = "run" if isinstance(row, Run) else "draft"
    source = Source({kind: row.pk}, row)
    with suppress(TooMuchWorkError):  # reported when it is opened
        library.open(source.key, lambda: _make(source, scenario), _expected(source))


def _expected(source: Source) -> int:
    """Return an estimate of the bytes of a source that is not open yet."""
    row = source.row.scenario if isinstance(source.row, Run) else source.row
    return row.size * bundles.BYTES_OF_TEXT


def _make(source: Source, scenario: core.Scenario | None = None) -> Playback:
    scenario = scenario or source.load()
    return Playback(scenario, stored=isinstance(source.row, Run), parent=_parent(source.row, scenario))


def _parent(row: Draft | Scenario | Run, scenario: core.Scenario) -> Callable[[], Playback | None]:
    """Return what finds the playback of a draft's parent, if it is open with controllers as the draft has."""
    if isinstance(row, Draft) and row.parent and scenario.lives:
        kind, _, name = row.parent.partition(":")
        with suppress(NotFoundError, store.GoneError, store.StaleError):
            parent = find({kind: name}, row.owner)
            return partial(_living_at_hand, (parent.key, living(parent).key))
    return _nothing


def _living_at_hand(keys: Sequence[Hashable]) -> Playback | None:
    found = map(library.at_hand, keys)
    return next((one for one in found if one is not None and one.scenario.lives), None)


def _nothing() -> None:
    return None


def check_work(scenario: core.Scenario) -> None:
    """Raise TooMuchWorkError for a scenario that is too large to be computed within one API request."""
    work = bundles.interactive_work(scenario)
    if work > limit("INTERACTIVE_WORK"):
        nodes, pods, _ = bundles.counts(scenario)
        raise TooMuchWorkError(
            f"{nodes:,} nodes and {pods:,} pods are too many to compute interactively. "
            "Start a run: a worker computes it, and all of its cycles open here."
        )


def refresh(playback: Playback, run: Run) -> int:
    """Read the rows that the worker stored since; return the first new cycle."""
    first = len(playback) + 1
    if not playback.complete:
        state = Run.objects.filter(pk=run.pk).values_list("state", flat=True).first()
        complete = state not in UNFINISHED
        playback.follow(lambda after: read_chunks(run.pk, after), complete=complete, over=state == DONE)
        playback.checkpoints.add_packed(lambda after: read_checkpoints(run.pk, after))
        if complete:
            playback.remember(over_time.of(Run.objects.only("samples").get(pk=run.pk)))
    return first
