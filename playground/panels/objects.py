"""Objects in their state after a step, and the operations of the scenario, as they are shown."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from typing import Any

from playground.edits.descriptions import all_words
from playground.edits.edit_initial import has_manifest
from playground.playback.playback import Playback
from playground.playback.tables import ABSENT
from playground.protocol.answers import ObjectListWire
from playground.protocol.generators import ObjectRecordWire
from scheduler_core.authoring.revisions import REVISIONS
from scheduler_core.formats.manifest import to_manifest
from scheduler_core.formats.yaml_writer import write_yaml
from scheduler_core.kubernetes.keys import Key
from scheduler_core.kubernetes.kinds import KINDS
from scheduler_core.run import is_timed
from scheduler_core.scenario.history import Moment, manifest_at, objects_at
from scheduler_core.scenario.history_entries import (
    ACTIONS,
    entries_of,
    ids_of,
    minor_of,
    resolved,
    target_of,
    written_of,
)
from scheduler_core.scenario.operations import LIVE
from scheduler_core.scenario.reconfiguration import VERSIONS
from scheduler_core.scenario.scenario import Operation

NAMES_SHOWN = 200  # per kind
OPERATIONS_SHOWN = 500
WORDS_SHOWN = 400  # characters
TABLED = ("Node", "Pod")  # their names are in the tables that were sent on opening


def object_at(playback: Playback, key: Key, index: int) -> ObjectRecordWire | None:
    """Return an object in its state after cycle ``index``, ``None`` if it does not exist."""
    step = playback.trail.step(index)
    moment = Moment.parse(step)
    if key[0] in LIVE and is_timed(playback.scenario):
        manifest = _live(playback, key, index)
    else:
        manifest = manifest_at(playback.scenario, key, moment)
        if _taken(playback, key, index):
            return None
    if manifest is None:
        return None
    kind = key[0]
    return {
        "kind": kind,
        "name": key[1],
        "index": index,
        "step": step,
        "yaml": write_yaml([manifest]).removeprefix("---\n"),
        "revisions": [row.name for row in REVISIONS.values() if kind in row.kinds],
        "start": has_manifest(playback.scenario, key),
    }


def _live(playback: Playback, key: Key, index: int) -> dict[str, Any] | None:
    """Return an object as scheduler and controllers have left it too, ``None`` if it does not exist."""
    with playback.after(index) as simulation:
        obj = simulation.live_object(*key)
        return to_manifest(obj) if obj is not None else None


def _taken(playback: Playback, key: Key, index: int) -> bool:
    """Return whether the run has deleted a pod by a step: by preemption, or with its node."""
    kind, name = key
    pod = playback.tables.pod_index.get(name) if kind == "Pod" else None
    if pod is None or playback.trail.placement_before(index + 1)[pod] != ABSENT:
        return False
    landing = playback.scenario.operations[playback.trail.applied(index) :]
    return not any((o.kind, o.key, o.action) == ("Pod", name, "create") for o in landing)


def objects(playback: Playback, index: int) -> ObjectListWire:
    """Return the objects that exist after a step, by kind, except nodes and pods."""
    step = playback.trail.step(index)
    names: dict[str, list[str]] = {kind: [] for kind in KINDS if kind not in TABLED}
    for kind, name in objects_at(playback.scenario, Moment.parse(step)):
        if kind in names:
            names[kind].append(name)
    moment = Moment.parse(step)
    set_up = [kind for kind in VERSIONS if manifest_at(playback.scenario, (kind, kind), moment) is not None]
    rows = [[kind, len(listed), listed[:NAMES_SHOWN]] for kind, listed in names.items() if listed]
    return {"index": index, "step": step, "kinds": rows + [[kind, 1, [kind]] for kind in set_up]}


def operations(playback: Playback) -> dict[str, Any]:
    """Return the scenario's operations in order, each with the cycle after which it is applied."""
    entries = entries_of(playback.scenario.documents)
    shown = entries[:OPERATIONS_SHOWN]
    names = ids_of(shown)
    steps = sorted({operation.step for operation in playback.scenario.operations})
    rows = []
    applied = 0
    written = written_of(playback.scenario.documents)
    words = all_words(shown, playback.scenario.documents)
    for place, ((entry, made), (_, raw)) in enumerate(zip(resolved(shown, playback.scenario), written)):
        kind, name = target_of(entry)
        action = next((name for name in ACTIONS if name in entry), "doneOperation")
        rows.append(
            {
                "id": names[place],
                "action": action.removesuffix("Operation"),
                "kind": kind,
                "name": name,
                "words": words[place][:WORDS_SHOWN],
                "during": "during" in entry,
                "pinned": minor_of(entry) is not None,
                "seconds": _seconds(raw, made if playback.tables.timed else []),
                **_landing(playback, made, applied + 1, steps),
            }
        )
        applied += len(made)
    return {"count": len(entries), "operations": rows}


def _seconds(written: Mapping[str, Any], made: list[Operation]) -> float | None:
    """Return the time in seconds at which an operation is due, ``None`` if it is timed by cycles."""
    if minor_of(written) is not None:
        return None
    return float(written["time"]) if written.get("step") is None else made[0].time if made else None


def _landing(playback: Playback, made: list[Operation], number: int, steps: list[int]) -> dict[str, Any]:
    """Return the cycle after which changes are applied, and its address in the step that they end."""
    trail = playback.trail
    before = trail.lands(number) - 1
    if not made or (before >= len(trail) and not playback.complete):
        return {"after": None, "step": None}
    earlier = bisect_left(steps, made[0].step)
    major = steps[earlier - 1] + 1 if earlier else 1
    after = min(before, len(trail))
    began, _, minor = trail.step(after).partition(".")
    return {"after": after, "step": f"{major}.{minor if int(began) == major else 0}"}


def entry_of(playback: Playback, name: str) -> str | None:
    """Return an operation's action as YAML, ``None`` if there is no operation with that id."""
    entries = entries_of(playback.scenario.documents)
    names = ids_of(entries)
    if name not in names:
        return None
    entry = entries[names.index(name)]
    action = {key: value for key, value in entry.items() if key in ACTIONS}
    return write_yaml([action]).removeprefix("---\n")
