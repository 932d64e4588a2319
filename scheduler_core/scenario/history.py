"""Edit the history of a Scenario document: insert an operation at a moment, remove it, or move it.

Everything before the moment stays exactly as it was, and later operations still land when they did. When an
operation lands is defined in :mod:`scheduler_core.scenario.moments`: an operation after cycle ``3.4`` is
``step: {major: 3, minor: 4}`` and begins major step 4, so later operations are numbered from there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from scheduler_core.formats.manifest import to_manifest
from scheduler_core.formats.patch import apply_patch, kind_of_patch
from scheduler_core.kubernetes.device_versions import in_version
from scheduler_core.kubernetes.keys import Key, document_key, key_of
from scheduler_core.kubernetes.kinds import KINDS, MANIFEST_KINDS
from scheduler_core.kubernetes.manifests import Document, Manifest
from scheduler_core.kubernetes.model import KubernetesObject
from scheduler_core.scenario.history_entries import (
    ACTIONS,
    SCENARIO_KIND,
    SCENARIO_VERSION,
    Operations,
    entries_of,
    ids_of,
    listed_in,
    major_of,
    minor_of,
    operations_of,
    plain_copy,
    resolved,
    target_of,
    written_of,
)
from scheduler_core.scenario.moments import in_order, stepped
from scheduler_core.scenario.reconfiguration import VERSIONS, is_configuration
from scheduler_core.scenario.scenario import Scenario

_MOMENT = re.compile(r"([0-9]{1,9})\.([0-9]{1,9})")


class HistoryError(ValueError):
    """The history cannot be changed this way; the text states why, ``field`` is the invalid input."""

    def __init__(self, text: str, field: str = "step") -> None:
        self.field = field
        super().__init__(text)


class Moment(Struct, frozen=True):
    """The moment after cycle ``major.minor``; ``during`` the next one's evaluation rather than before it."""

    major: int
    minor: int
    during: bool = False

    @classmethod
    def parse(cls, text: str, *, during: bool = False) -> Moment:
        """Parse ``3.4``; ``1.0`` is before the first cycle. Raises HistoryError."""
        match = _MOMENT.fullmatch(text)
        if match is None or int(match[1]) < 1:
            raise HistoryError(
                f"{text[:40]!r} is not a moment: write the cycle's major.minor, such as 3.4; 1.0 is "
                "the start."
            )
        return cls(int(match[1]), int(match[2]), during)

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


# --- writing a history


def with_operations(documents: Sequence[Document], operations: Operations) -> tuple[Document, ...]:
    """Return the documents with this history: the Scenario is created, updated, or removed if empty."""
    operations = _timed_again(documents, operations)
    place = next((n for n, d in enumerate(documents) if d.get("kind") == SCENARIO_KIND), None)
    if place is None:
        head: Manifest = {
            "apiVersion": SCENARIO_VERSION,
            "kind": SCENARIO_KIND,
            "metadata": {"name": "history"},
        }
        return (*documents, {**head, "spec": {"operations": operations}}) if operations else (*documents,)
    if not operations:
        return (*documents[:place], *documents[place + 1 :])
    old = documents[place]
    changed = {**old, "spec": {**(old.get("spec") or {}), "operations": operations}}
    return (*documents[:place], changed, *documents[place + 1 :])


def _timed_again(documents: Sequence[Document], operations: Operations) -> Operations:
    """Omit the step of entries that were written with only a time, if it still follows from the time."""
    entries = entries_of(documents)
    written = {id(entry) for entry in listed_in(documents)}
    timed = {name: entry for name, entry in zip(ids_of(entries), entries) if id(entry) not in written}
    if not timed:
        return operations
    again: Operations = []
    for name, operation in zip(ids_of(operations), operations):
        previous = timed.get(name)
        kept = previous is not None and (operation.get("time"), minor_of(operation)) == (
            previous["time"],
            minor_of(previous),
        )
        again.append({k: v for k, v in operation.items() if k != "step"} if kept else operation)
    return again if _alike(stepped(again), stepped(operations)) else operations


def _alike(some: Sequence[Mapping[str, Any]], others: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether entries are equal and grouped into the same steps, regardless of the steps' numbers."""

    def ranked(operations: Sequence[Mapping[str, Any]]) -> list[Manifest]:
        ranks = {major: rank for rank, major in enumerate(dict.fromkeys(map(major_of, operations)))}
        return [
            {**operation, "step": (ranks[major_of(operation)], minor_of(operation))}
            for operation in operations
        ]

    majors = [major_of(operation) for operation in some]
    return majors == sorted(majors) and ranked(some) == ranked(others)


def effective(scenario: Scenario) -> list[tuple[int, int | None]]:
    """Return the steps that have an effect, in order: the major and the minor after which it ends."""
    found: dict[int, int | None] = {}
    for operation in scenario.operations:
        found.setdefault(operation.step, operation.after)
    return list(found.items())


# --- changing a history


def placed(scenario: Scenario, moment: Moment, entry: Manifest) -> tuple[Operations, str]:
    """Return the scenario's entries with one more at the moment, and its id.

    ``entry`` holds the action, and an id if it has one already. Raises HistoryError for a moment that does
    not exist.
    """
    operations = operations_of(scenario.documents)
    check(scenario, moment)
    names = ids_of(operations)
    name = str(entry.get("id") or _free(names))
    body = {key: value for key, value in entry.items() if key in ACTIONS}
    made: Manifest = {"id": name, "step": {"major": moment.major, "minor": moment.minor}}
    first, end = _group(operations, moment.major)
    joining = first < end and minor_of(operations[first]) == moment.minor
    if joining:
        inside = next((n for n in range(first, end) if "during" in operations[n]), end)
        place = end if moment.during else inside
        if place == first and "time" in operations[first]:
            made["time"] = operations[first]["time"]
    else:
        place = first
        if operations[place:]:
            made["time"] = _time_before(operations, place)
    if moment.during:
        made["during"] = "evaluation"
    made.update(body)
    later = _named(operations[place:], names[place:])
    if not joining:
        later = _renumbered(later, moment, [major for major, _ in effective(scenario)])
    return [*operations[:place], made, *later], name


def placed_at(scenario: Scenario, seconds: float, entry: Manifest) -> tuple[Operations, str]:
    """Return the scenario's entries, as written, with one more at a second of virtual time, and its id.

    Other entries keep their time. Written steps continue from the one that the new entry creates. Raises
    HistoryError for a second after the end of the history.
    """
    operations, (name,) = all_placed_at(scenario, [(seconds, entry)])
    return operations, name


def all_placed_at(
    scenario: Scenario, entries: Sequence[tuple[float, Manifest]]
) -> tuple[Operations, list[str]]:
    """Return the scenario's entries, as by :func:`placed_at`, with several more, and their ids."""
    written = [plain_copy(operation) for _, operation in written_of(scenario.documents)]
    names = ids_of(written)
    listed = _named(written, names)
    made = []
    for seconds, entry in entries:
        name = str(entry.get("id") or _free(names))
        body = {key: value for key, value in entry.items() if key in ACTIONS}
        made.append({"id": name, "time": int(seconds) if float(seconds).is_integer() else seconds, **body})
        names.append(name)
    listed += made
    ordered = [listed[place] for place in in_order(listed)]
    end = next((n for n, one in enumerate(ordered) if "doneOperation" in one), len(ordered))
    late = next((one for one in ordered[end:] if any(one is other for other in made)), None)
    if late is not None:
        text = f"The history ends before {late['time']:g} s; later operations are not read."
        raise HistoryError(text, "seconds")
    _stepped_on(ordered)
    return ordered, names[len(names) - len(made) :]


def all_placed(scenario: Scenario, moment: Moment, entries: Sequence[Manifest]) -> Operations:
    """Return the scenario's entries, as by :func:`placed`, with several more at one moment."""
    operations, first = placed(scenario, moment, entries[0])
    names = ids_of(operations)
    place = names.index(first)
    at = {field: value for field, value in operations[place].items() if field in ("step", "during")}
    more = []
    for entry in entries[1:]:
        name = _free(names)
        names.append(name)
        more.append({"id": name, **at, **entry})
    operations[place + 1 : place + 1] = more
    return operations


def _stepped_on(ordered: Operations) -> None:
    """Renumber written steps whose number is taken by the times before them."""
    step, seconds, derived = 0, 0.0, False
    again: dict[int, int] = {}
    for operation in ordered:
        if operation.get("step") is None:
            if operation["time"] > seconds or not step:
                step, seconds, derived = step + 1, float(operation["time"]), True
            continue
        old = major_of(operation)
        taken = old < step or (old == step and derived)
        major = again.setdefault(old, step + 1 if taken else old)
        _set_step(operation, major, minor_of(operation))
        reached = operation.get("time", seconds + 1 if major > step else seconds)
        derived = derived and major == step
        step, seconds = max(step, major), max(seconds, float(reached))


def _free(names: Sequence[str]) -> str:
    taken = set(names)
    return next(f"edit-{n}" for n in range(1, len(taken) + 2) if f"edit-{n}" not in taken)


def removed(scenario: Scenario, name: str, landed: Moment | None) -> tuple[Operations, Manifest]:
    """Return the scenario's entries without one, and that one. Raises HistoryError if it does not exist.

    ``landed`` is the cycle after which it landed, if known: later operations that count the cycles of the
    step that it began then count from the step before.
    """
    operations = operations_of(scenario.documents)
    names = ids_of(operations)
    if name not in names:
        raise HistoryError(f"There is no operation {name[:60]!r} in this scenario.", "id")
    place = names.index(name)
    gone = operations[place]
    major = major_of(gone)
    later = _named(operations[place + 1 :], names[place + 1 :])
    opened = place == 0 or major_of(operations[place - 1]) != major
    if opened and later and major_of(later[0]) == major:
        later[0]["step"] = gone["step"]  # the first entry of a step determines when all of it lands
        if "time" in gone:
            later[0].setdefault("time", gone["time"])
    if not _still_lands(scenario, name, major):
        _delay(later, [step for step, _ in effective(scenario)], _waited(gone, landed))
    return [*operations[:place], *later], gone


def moved(
    scenario: Scenario, name: str, landed: Moment | None, moment: Moment
) -> tuple[Scenario, Moment, Manifest]:
    """Return the scenario without an operation, ``moment`` in its terms, and the operation's entry.

    These are the arguments with which :func:`placed` inserts the operation again; ``moment`` is given in
    terms of the scenario before the removal. Raises HistoryError if the operation does not exist.
    """
    operations, gone = removed(scenario, name, landed)
    left = tuple(o for o in scenario.operations if o.id != name and not _follows(o.id, name))
    major = major_of(gone)
    if not _still_lands(scenario, name, major):
        waited = _waited(gone, landed)
        following = next((o.step for o in left if o.step > major), None)
        left = tuple(
            replace(o, after=o.after + waited) if o.step == following and o.after is not None else o
            for o in left
        )
        if moment.major == major + 1:
            began = max((o.step for o in left if o.step < major), default=0) + 1
            moment = Moment(began, waited + moment.minor, moment.during)
    documents = with_operations(scenario.documents, operations)
    return Scenario(scenario.title, documents, scenario.objects, left), moment, gone


def _waited(gone: Manifest, landed: Moment | None) -> int:
    """Return how many cycles of its step ran before a removed operation landed."""
    minor = minor_of(gone)
    if minor is not None:
        return minor
    return landed.minor if landed is not None else 0


def check(scenario: Scenario, moment: Moment) -> None:
    """Raise HistoryError for a moment that cannot exist; the text names those that do."""
    steps = effective(scenario)
    majors = [1, *(major + 1 for major, _ in steps)]
    if moment.major not in majors:
        known = ", ".join(map(str, majors[:20])) + (" …" if len(majors) > 20 else "")
        raise HistoryError(
            f"There is no major step {moment.major}: the operations of this scenario lead to {known}."
        )
    following = next(((major, after) for major, after in steps if major >= moment.major), None)
    if following is not None and following[1] is not None and following[1] < moment.minor:
        raise HistoryError(
            f"There is no cycle {moment}: operations end major step {moment.major} "
            f"after {moment.major}.{following[1]}."
        )


def _group(operations: Sequence[Mapping[str, Any]], major: int) -> tuple[int, int]:
    """Return the index range of the entries of a step; nothing after the end of the history is read."""
    end = next((n for n, operation in enumerate(operations) if "doneOperation" in operation), len(operations))
    first = next((n for n in range(end) if major_of(operations[n]) >= major), end)
    last = next((n for n in range(first, end) if major_of(operations[n]) > major), end)
    return first, last


def _time_before(operations: Operations, place: int) -> float:
    """Return the virtual time in seconds reached before an entry, as :class:`Moments` counts it."""
    time = [0.0, *_times(operations[:place])][-1]
    return int(time) if time.is_integer() else time


def _times(operations: Sequence[Mapping[str, Any]]) -> Iterator[float]:
    """Yield the virtual time in seconds that each entry reaches."""
    step, time = 0, 0.0
    for operation in operations:
        major = major_of(operation)
        time = float(operation.get("time", time + 1 if major > step else time))
        step = major
        yield time


def _named(operations: Operations, names: list[str]) -> Operations:
    """Write down the ids of operations that are identified by their number, which is about to change."""
    return [
        operation
        if operation.get("id") not in (None, "") or "doneOperation" in operation
        else {"id": name, **operation}
        for name, operation in zip(names, operations)
    ]


def _renumbered(later: Operations, moment: Moment, steps: list[int]) -> Operations:
    """Keep later operations at their cycles: increment their majors and count from the new operation on."""
    upcoming = next((major for major in steps if major >= moment.major), None)
    previous, last = moment.major, 0
    for operation in later:
        old, minor = major_of(operation), minor_of(operation)
        if old != last:
            previous = max(old, previous + 1)
        last = old
        if old == upcoming and minor is not None:
            minor = max(0, minor - moment.minor)
        _set_step(operation, previous, minor)
    return later


def _delay(later: Operations, steps: list[int], waited: int) -> None:
    """Add the cycles of the removed step to the next step that counts cycles."""
    if not later:
        return
    upcoming = next((major for major in steps if major >= major_of(later[0])), None)
    for operation in later:
        minor = minor_of(operation)
        if major_of(operation) == upcoming and minor is not None:
            _set_step(operation, upcoming, minor + waited)


def _set_step(operation: Manifest, major: int, minor: int | None) -> None:
    if isinstance(operation["step"], Mapping):
        operation["step"] = {"major": major, **({} if minor is None else {"minor": minor})}
    else:
        operation["step"] = major


def _still_lands(scenario: Scenario, name: str, major: int) -> bool:
    """Return whether a step still lands without one of its operations, or never had an effect."""
    of_step = [o.id for o in scenario.operations if o.step == major]
    return not of_step or any(other != name and not _follows(other, name) for other in of_step)


def _follows(other: str, name: str) -> bool:
    """Return whether an operation's id belongs to a controller's response to ``name``."""
    tail = other.removeprefix(f"{name}.")
    return tail != other and tail.isdecimal()


# --- an object at a moment


def landed_by(scenario: Scenario, moment: Moment) -> int:
    """Return how many entries have landed by the moment, including those that land at it."""
    operations = entries_of(scenario.documents)
    first, end = _group(operations, moment.major)
    joins = first < end and minor_of(operations[first]) == moment.minor
    return end if joins else first


def landed_at(documents: Sequence[Document], seconds: float) -> int:
    """Return how many entries have landed by a second of virtual time, including those that land at it."""
    return sum(1 for _ in takewhile(lambda time: time <= seconds, _times(entries_of(documents))))


def versions_of(kind: str, documents: Sequence[Document], count: int) -> dict[Key, list[Manifest]]:
    """Return the manifests of all objects of a kind: as given, and after each of the first ``count`` entries.

    The last one is that of now. Objects that a controller created have none, deleted ones are left out.
    """
    found = {document_key(one): [dict(plain_copy(one))] for one in documents if one.get("kind") == kind}
    for operation in entries_of(documents)[:count]:
        key = target_of(operation)
        known = found.get(key, [])
        if key[0] != kind or not (known or "createOperation" in operation):
            continue
        after = _applied(operation, known[-1] if known else None, None)
        if after is None:
            del found[key]
        else:
            found[key] = [*known, after]
    return found


def manifest_at(scenario: Scenario, key: Key, moment: Moment) -> Manifest | None:
    """Return an object's manifest after the operations up to the moment, None if it does not exist then.

    It is the given manifest with its patches; an object that a controller created gets one.
    """
    kind, _ = key
    document: Manifest | None = next((plain_copy(d) for d in scenario.documents if _is(d, key)), None)
    obj: KubernetesObject | None = next((o for o in scenario.objects if key_of(o) == key), None)
    count = landed_by(scenario, moment)
    operations = entries_of(scenario.documents)
    for number, (operation, made) in enumerate(resolved(operations, scenario)):
        if number >= count:
            break
        mine = [change for change in made if (change.kind, change.key) == key]
        if not mine:
            continue
        if target_of(operation) == key:
            document = _applied(operation, document, obj)
        obj = mine[-1].object
        if obj is None and mine[-1].manifest is None and kind in (*KINDS, *MANIFEST_KINDS):
            document = None
    if obj is not None and document is None:
        return to_manifest(obj)
    return document if obj is not None or kind in VERSIONS or kind in MANIFEST_KINDS else None


def _is(document: Mapping[str, Any], key: Key) -> bool:
    kind, _ = key
    if kind in VERSIONS:
        return document.get("kind") == kind and is_configuration(document)
    return document_key(document) == key


def _applied(
    operation: Mapping[str, Any], document: Manifest | None, obj: KubernetesObject | None
) -> Manifest | None:
    if "createOperation" in operation:
        return dict(plain_copy(operation["createOperation"]["object"]))
    if "deleteOperation" in operation:
        return None
    body = operation["patchOperation"]
    before = document if document is not None else to_manifest(obj) if obj is not None else {}
    patched = in_version(before, body["typeMeta"].get("apiVersion"))
    return dict(apply_patch(patched, body["patch"], kind_of_patch(body, patched)))


def objects_at(scenario: Scenario, moment: Moment) -> dict[Key, None]:
    """Return the keys of all objects that exist at the moment, in order of creation."""
    there: dict[Key, None] = {key_of(obj): None for obj in scenario.objects}
    count = landed_by(scenario, moment)
    for number, (_, made) in enumerate(resolved(entries_of(scenario.documents), scenario)):
        if number >= count:
            break
        for change in made:
            if change.object is None and change.manifest is None:
                there.pop((change.kind, change.key), None)
            else:
                there[change.kind, change.key] = None
    return there
