"""Branches: drafts that are copies of another source, as a tree, each compared with its parent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct

from playground.edits.descriptions import images_of, patch_words, words_of
from playground.limits import limit
from playground.models import Draft, Scenario
from playground.playback import sources
from playground.playback.deadlines import Unwanted, never
from playground.playback.playback import Playback
from playground.playback.tables import PENDING
from playground.protocol.drafts import FirstDifferenceWire
from playground.storage import store
from scheduler_core.compare.outcome import outcome
from scheduler_core.formats.difference import smallest_patch, without_nulls
from scheduler_core.kubernetes.keys import document_key
from scheduler_core.kubernetes.manifests import Document, Manifest
from scheduler_core.record.cycle import Decision
from scheduler_core.scenario.history_entries import SCENARIO_KIND, entries_of, ids_of
from scheduler_core.scenario.moments import major_of
from scheduler_core.scenario.reconfiguration import VERSIONS
from scheduler_core.scenario.scenario import Scenario as Content

STEP_LENGTH = 24
WORDS_SHOWN = 8  # changes of one branch that are listed
WORD_LENGTH = 160  # characters of one change
BranchKey = tuple[str, str]


class TooManyDraftsError(ValueError):
    """A family has reached the maximum number of drafts."""

    def __init__(self) -> None:
        most = limit("BRANCHES_PER_FAMILY")
        super().__init__(f"There are {most:,} branches, which is the limit; delete one first.")


# --- the tree


def key_of(source: sources.Source) -> str:
    """Return the key under which a draft stores its parent: ``scenario:…``, ``run:…`` or ``draft:…``."""
    [(kind, name)] = source.wire.items()
    return f"{kind}:{source.row.short if kind == 'scenario' and isinstance(source.row, Scenario) else name}"


def family_of(source: sources.Source) -> str:
    """Return the key of a source's root ancestor: the source itself, unless it is a branch."""
    return (source.row.family if isinstance(source.row, Draft) else "") or key_of(source)


def origin_of(source: sources.Source, step: str = "", words: tuple[str, ...] = ()) -> store.Origin:
    """Return the origin to store with a copy of a source made at a step."""
    phrases = tuple(_cut(" ".join(text.split())) for text in words[:WORDS_SHOWN])
    return store.Origin(key_of(source), family_of(source), step[:STEP_LENGTH], phrases, source.presumed())


def branch(source: sources.Source, visitor: str, step: str, title: str, text: str | None = None) -> Draft:
    """Store a copy of a source as a draft of the visitor, optionally with another ``text``.

    Like any draft's, the text may be invalid. Raises TooManyDraftsError, BundleError, StaleError and
    TooLargeError.
    """
    origin = origin_of(source, step)
    if Draft.objects.filter(owner=visitor, family=origin.family).count() >= limit("BRANCHES_PER_FAMILY"):
        raise TooManyDraftsError
    based_on = key_of(source)
    if isinstance(source.row, Draft):
        based_on = source.row.based_on
    if text is not None:
        store.check_size(text)
        files = [("", text)]
    else:
        files = source.files() if isinstance(source.row, Draft) else [("", source.text())]
    return store.create_draft(visitor, files, title or _title(source, step), based_on, origin)


def _title(source: sources.Source, step: str) -> str:
    if not step:
        return source.title
    where = {"0": "the start", "end": "the end"}.get(step, f"cycle {step}" if step.isdigit() else step)
    return f"{source.title or 'Untitled'}, from {where}"


def tree(source: sources.Source, visitor: str) -> dict[str, Any]:
    """Return the visitor's drafts of a source's family, oldest first, and the scenario or run at the root."""
    family = family_of(source)
    kind, _, name = family.partition(":")
    rows = list(Draft.objects.filter(owner=visitor, family=family).defer("files").order_by("created"))
    if kind == "draft":
        rows = [*Draft.objects.filter(owner=visitor, pk=name).defer("files"), *rows]
    there = {f"draft:{row.pk}" for row in rows} | ({family} if kind != "draft" else set())
    return {
        "root": None if kind == "draft" else _root(kind, name),
        "branches": [
            {
                "draft": row.pk,
                "title": row.title,
                "parent": row.parent if row.parent in there else "",
                "step": row.branched_at,
                "words": row.words.splitlines(),
                "revision": row.revision,
            }
            for row in rows[: limit("BRANCHES_PER_FAMILY") + 1]
        ],
    }


def _root(kind: str, name: str) -> dict[str, str]:
    try:
        title = sources.find({kind: name}, "").title
    except (sources.NotFoundError, store.GoneError):
        title = ""
    return {
        "source": f"{kind}:{name}",
        "title": title,
        "url": sources.page_of(kind, name),
    }


def parent_of(row: Draft, visitor: str) -> sources.Source | None:
    """Return the source that a draft is a copy of; None without a parent or if it is no longer available."""
    kind, _, name = row.parent.partition(":")
    try:
        return sources.find({kind: name}, visitor) if name else None
    except (sources.NotFoundError, store.GoneError):
        return None


# --- comparison with the parent


class Compared(Struct, frozen=True):
    """A branch compared with its parent: the changes in words, and the answer of ``branch.compare``."""

    words: list[str]
    wire: dict[str, Any]


def compared(mine: Playback, parent: Playback | None, unwanted: Unwanted = never) -> Compared:
    """Compare two playbacks that have been computed as far as they will be. Raises Superseded."""
    words = differences(parent.scenario, mine.scenario) if parent is not None else []
    return Compared(
        words,
        {
            "words": words,
            "here": _standing(mine, unwanted),
            "parent": _standing(parent, unwanted) if parent is not None else None,
            "first": _first(mine, parent) if parent is not None else None,
            "elsewhere": _elsewhere(mine, parent, unwanted) if parent is not None else 0,
        },
    )


def _standing(playback: Playback, unwanted: Unwanted) -> dict[str, Any]:
    return {"cycles": len(playback), **playback.standing(unwanted), "stopped": bool(playback.stopped)}


def _first(mine: Playback, parent: Playback) -> FirstDifferenceWire | None:
    """Return the first cycle with a different outcome; None if all are the same."""
    here, there = mine.trail.decisions, parent.trail.decisions
    both = min(len(here), len(there))
    place = next((n for n in range(both) if outcome(here[n]) != outcome(there[n])), both)
    if place >= len(here) and place >= len(there):
        return None
    own = here[place] if place < len(here) else None
    other = there[place] if place < len(there) else None
    step = mine.trail.step(place + 1) if own is not None else ""
    return {"index": place + 1, "step": step, "words": _parting(own, other)}


def _parting(own: Decision | None, other: Decision | None) -> str:
    if own is None or other is None:
        goes_on = own or other
        assert goes_on is not None
        over, where = ("the parent", "here") if other is None else ("this branch", "in the parent")
        return f"{over} has no further cycle; {where} {goes_on.pod} {_fate(goes_on)}"
    if own.pod != other.pod:
        return f"this branch tries {own.pod}, which {_fate(own)}; the parent tries {other.pod}"
    return f"{own.pod} {_fate(own)}; in the parent it {_fate(other)}"


def _fate(decision: Decision) -> str:
    if decision.result == "waiting":
        return f"waits at Permit on {decision.node}"
    if decision.node is not None:
        return f"goes to {decision.node}"
    if decision.nominated is not None:
        return f"is nominated to {decision.nominated}"
    return "cannot be tried" if decision.result == "error" else "fits nowhere"


def _elsewhere(mine: Playback, parent: Playback, unwanted: Unwanted) -> int:
    """Return how many pods differ in their final node, in being pending, or in existing at the end."""
    here, there = _places(mine, unwanted), _places(parent, unwanted)
    return sum(here.get(key) != there.get(key) for key in here.keys() | there.keys())


def _places(playback: Playback, unwanted: Unwanted) -> dict[str, str]:
    tables = playback.tables
    places = playback.placement_at_end(unwanted).tolist()
    names = [node.meta.name for node in tables.nodes]
    return {
        key: names[place] if place >= 0 else ""
        for key, pod in tables.pod_index.items()
        if pod < len(places) and (place := places[pod]) >= PENDING
    }


# --- differences of the documents


def differences(before: Content, after: Content) -> list[str]:
    """Return the differences of two scenarios, a phrase for each object or operation."""
    old, new = _by_key(before.documents), _by_key(after.documents)
    found = [*_documents(old, new), *_operations(before.documents, after.documents)]
    more = len(found) - WORDS_SHOWN
    return [*map(_cut, found[:WORDS_SHOWN]), *([f"and {more:,} more"] if more > 0 else [])]


def _by_key(documents: Sequence[Document]) -> dict[BranchKey, Document]:
    return {document_key(d): d for d in documents if d.get("kind") != SCENARIO_KIND}


def _documents(old: dict[BranchKey, Document], new: dict[BranchKey, Document]) -> Iterator[str]:
    for key, document in new.items():
        previous = old.get(key)
        if previous is None:
            yield f"{_name(key)} added"
        elif previous != document and (now := without_nulls(document)) != (was := without_nulls(previous)):
            _, patch = smallest_patch(was, now)
            yield f"{_name(key)}: {images_of(was, now) or patch_words(patch)}"
    for key in old:
        if key not in new:
            yield f"{_name(key)} taken out"


def _name(key: BranchKey) -> str:
    return key[0] if key[0] in VERSIONS else f"{key[0]} {key[1].removeprefix('default/')}"


def _operations(before: Sequence[Document], after: Sequence[Document]) -> Iterator[str]:
    old, new = ({name: _bare(e) for name, e in _entries(documents)} for documents in (before, after))
    moments = dict(_entries(before))
    for name, entry in _entries(after):
        if name not in old:
            yield f"{_when(entry)}: {words_of(entry)}"
        elif old[name] != new[name]:
            yield f"{_when(entry)}: {words_of(entry)}, instead of {words_of(old[name])}"
        elif _when(entry) != _when(moments[name]) and _own(entry) != _own(moments[name]):
            yield f"{words_of(entry)}: {_when(entry)}, instead of {_when(moments[name])}"
    for name, entry in old.items():
        if name not in new:
            yield f"taken out: {words_of(entry)}"


def _entries(documents: Sequence[Document]) -> list[tuple[str, Manifest]]:
    listed = entries_of(documents)
    return [
        (name, dict(entry)) for name, entry in zip(ids_of(listed), listed) if "doneOperation" not in entry
    ]


def _bare(entry: Manifest) -> Manifest:
    return {name: value for name, value in entry.items() if name not in ("id", "step", "time", "during")}


def _own(entry: Manifest) -> Any:
    """Return the part of an operation's position that it states; the major step follows from earlier ones."""
    step = entry.get("step")
    return (step.get("minor") if isinstance(step, dict) else None, entry.get("time"), entry.get("during"))


def _when(entry: Manifest) -> str:
    step, major = entry.get("step"), major_of(entry)
    minor = step.get("minor") if isinstance(step, dict) else None
    if minor is not None:
        return f"{'inside the cycle after' if entry.get('during') else 'after'} {major}.{minor}"
    return f"at {entry['time']:g} s" if "time" in entry else f"at the end of step {major}"


def _cut(text: str) -> str:
    return text if len(text) <= WORD_LENGTH else f"{text[: WORD_LENGTH - 1]}…"
