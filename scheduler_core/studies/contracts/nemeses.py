"""What a contract lets happen: the nemeses of its field ``when``, each with the choices it leaves open."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from scheduler_core.authoring.verb_targets import DOMAINS, kind_of
from scheduler_core.kubernetes.keys import Key
from scheduler_core.kubernetes.names import did_you_mean
from scheduler_core.kubernetes.readers import (
    At,
    Field,
    Outline,
    Reader,
    enum,
    integer,
    outline_of,
    outlined,
    record,
    show,
    text,
)
from scheduler_core.kubernetes.readers import kind_of as type_of
from scheduler_core.settings.release import RELEASES, row_with_controllers
from scheduler_core.studies.contracts.choices import Choices, Fixed, OneEvent, Sequences, SimultaneousEvents
from scheduler_core.studies.contracts.events import ARRIVE, TEMPLATES, UPGRADE, Terrain, VerbEvent, short

MOST_ARRIVALS = 5_000
MOST_REPLICAS = 20_000
MOST_TOGETHER = 100
_RANGE = re.compile(r"(\d{1,9})(?:\.\.(\d{1,9}))?")
_NODES = ("node", "nodes")


class ReportedError(Exception):
    """An error was reported."""


class NodeTarget(Struct, frozen=True):
    """Which nodes: one by ``name``, ``count`` of ``of``, or each of ``of`` in an ``order``."""

    name: str = ""
    count: int = 0
    of: str = ""
    order: str = "any"


class Nemesis(Struct, frozen=True):
    """One item of ``when``: its name, what was read of it, and its place."""

    name: str
    value: Any
    at: At

    def choices(self, terrain: Terrain) -> Choices | None:
        """Return the choices in a cluster, or report why there is none."""
        try:
            return NEMESES[self.name].choices(self, terrain)
        except ReportedError:
            return None

    def refuse(self, message: str) -> ReportedError:
        """Report an error; raise what is returned."""
        self.at.error(message)
        return ReportedError()


class NemesisRow(Struct, frozen=True):
    """A row of the table: how its value is read, its choices, what it does, and an example."""

    read: Reader
    choices: Callable[[Nemesis, Terrain], Choices]
    meaning: str
    example: str


# --- nodes


def _any_value(value: Any, at: At) -> int | str | None:
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        if 1 <= value <= MOST_TOGETHER:
            return value
        at.error(f"must be from 1 to {MOST_TOGETHER}, not {value}")
        return None
    at.error(f"must be a node label, Node, or a number with of, not {show(value)}")
    return None


_any = record(
    lambda **given: given,
    {
        "any": Field("any", _any_value, required=True),
        "of": Field("of", text),
    },
)
_each = record(
    lambda **given: given,
    {"each": Field("each", text, required=True), "order": Field("order", enum("any", "listed"))},
)


def _fields(read: Reader) -> Mapping[str, Field]:
    found = outline_of(read)
    assert found is not None
    return found.fields


def _target(value: Any, at: At) -> NodeTarget | None:
    if isinstance(value, str):
        return NodeTarget(name=value)
    if not isinstance(value, dict):
        at.error(
            f"must name a node or label=value, or be {{any: KEY}} or {{each: Node}}, not {type_of(value)}"
        )
        return None
    if "each" in value:
        found = _each(value, at)
        return None if found is None else NodeTarget(of=found["each"], order=found.get("order", "any"))
    found = _any(value, at)
    return None if found is None else _any_target(found, at)


def _any_target(found: Mapping[str, Any], at: At) -> NodeTarget | None:
    chosen, of = found["any"], found.get("of")
    if isinstance(chosen, str) and of is None:
        return NodeTarget(count=1, of=chosen)
    if isinstance(chosen, int) and of is not None:
        return NodeTarget(count=chosen, of=of)
    at.error("write {any: topology.kubernetes.io/zone} for one, or {any: 2, of: nodes} for two at once")
    return None


outlined(_target, Outline("object", {**_fields(_any), **_fields(_each)}))


def _on_nodes(nemesis: Nemesis, terrain: Terrain) -> Choices:
    target: NodeTarget = nemesis.value
    if target.name:
        return Fixed((_named_event(nemesis, terrain, target.name),))
    events = list(_events_of(nemesis, terrain, target.of))
    if not target.count:
        return Sequences(events) if target.order == "any" else Fixed(events)
    if target.count > len(events):
        raise nemesis.refuse(f"there are {len(events)} to choose from: any is at most {len(events)}")
    return OneEvent(events) if target.count == 1 else SimultaneousEvents(events, target.count)


def _named_event(nemesis: Nemesis, terrain: Terrain, name: str) -> VerbEvent:
    label, separator, value = name.partition("=")
    if separator:
        label = DOMAINS.get(label, label)
        domains = _domains(nemesis, terrain, label)
        if value not in domains:
            there = ", ".join(sorted(domains)[:5])
            raise nemesis.refuse(f"no node has the label {label}={value[:80]}; its values are {there}")
        return _domain_event(nemesis, label, value, domains[value])
    if name not in terrain.nodes:
        names = list(terrain.nodes)
        hint = did_you_mean(name, names[:2000]) or f"; there are {', '.join(names[:5]) or 'none'}"
        raise nemesis.refuse(f"there is no node {name[:80]!r}{hint}")
    return _node_event(nemesis, name)


def _events_of(nemesis: Nemesis, terrain: Terrain, of: str) -> Iterator[VerbEvent]:
    if of.lower() in _NODES:
        if not terrain.nodes:
            raise nemesis.refuse("the cluster has no node")
        return (_node_event(nemesis, name) for name in terrain.nodes)
    label = DOMAINS.get(of.removesuffix("s"), DOMAINS.get(of, of))
    domains = _domains(nemesis, terrain, label)
    return (_domain_event(nemesis, label, value, names) for value, names in domains.items())


def _domains(nemesis: Nemesis, terrain: Terrain, label: str) -> dict[str, list[str]]:
    domains = terrain.domains(label)
    if not domains:
        raise nemesis.refuse(terrain.without_label(label))
    return domains


def _node_event(nemesis: Nemesis, name: str) -> VerbEvent:
    key = "Node", name
    return VerbEvent(nemesis.name, (key,), f"{nemesis.name} node {name}", of=(key,))


def _domain_event(nemesis: Nemesis, label: str, value: str, names: Sequence[str]) -> VerbEvent:
    targets = tuple(("Node", name) for name in names)
    return VerbEvent(nemesis.name, targets, f"{nemesis.name} {short(label)} {value}", of=((label, value),))


# --- workloads


def _workload_names(value: Any, at: At) -> str | None:
    name = text(value, at)
    if name == "":
        at.error("must name a workload, as in web or deploy/web")
    return name or None


def _rollout(nemesis: Nemesis, terrain: Terrain) -> Choices:
    target = nemesis.value
    kinds = ("Deployment", "StatefulSet", "DaemonSet")
    if isinstance(target, str):
        return Fixed((_rollout_event(_workload(nemesis, terrain, target, kinds)),))
    kind = kind_of(target["any"])
    found = terrain.workloads((kind,) if kind in kinds else ())
    if not found:
        raise nemesis.refuse(f"there is no {kind[:80]} to roll out: any is one of {', '.join(kinds)}")
    return OneEvent([_rollout_event(key) for key in found])


def _rollout_event(key: Key) -> VerbEvent:
    return VerbEvent("restart", (key,), f"rollout {key[0]} {key[1]}", of=(key,))


_one_of_kind = record(lambda **given: given, {"any": Field("any", text, required=True)})


def _rolled(value: Any, at: At) -> Any:
    return _one_of_kind(value, at) if isinstance(value, dict) else _workload_names(value, at)


def _scales(value: Any, at: At) -> tuple[str, int, int] | None:
    if not isinstance(value, dict) or len(value) != 1:
        at.error("must be one workload with its replicas, as in {web: 1..8}")
        return None
    ((name, written),) = value.items()
    found = span(written, at.child(name), MOST_REPLICAS)
    return None if found is None else (str(name), *found)


def span(written: Any, at: At, most: int) -> tuple[int, int] | None:
    """Read a number or a range, as in ``1..8``."""
    match = _RANGE.fullmatch(str(written)) if not isinstance(written, bool) else None
    if match is None:
        at.error(f"must be a number or a range, as in 3 or 1..8, not {show(written)}")
        return None
    low, high = int(match[1]), int(match[2] or match[1])
    if low > high or high > most:
        at.error(f"{low}..{high} must rise, and end at {most:,} at most")
        return None
    return low, high


def _scale(nemesis: Nemesis, terrain: Terrain) -> Choices:
    name, low, high = nemesis.value
    key = _workload(
        nemesis, terrain, name, ("Deployment", "StatefulSet", "ReplicaSet", "ReplicationController", "Job")
    )
    words = f"scale {key[0]} {key[1]} to"
    return OneEvent(
        [
            VerbEvent("scale", (key,), f"{words} {to}", str(to), (key,), least=low)
            for to in range(low, high + 1)
        ]
    )


_arrivals = record(
    lambda **given: given,
    {
        "template": Field("template", _workload_names, required=True),
        "upTo": Field("most", integer(1, MOST_ARRIVALS), required=True),
        "from": Field("least", integer(1, MOST_ARRIVALS)),
    },
)


def _arrive(nemesis: Nemesis, terrain: Terrain) -> Choices:
    key = _workload(nemesis, terrain, nemesis.value["template"], TEMPLATES)
    low, high = nemesis.value.get("least", 1), nemesis.value["most"]
    if low > high:
        raise nemesis.refuse(f"from is {low}, more than upTo, {high}")
    words = f"of {key[0]} {key[1]}"
    return OneEvent(
        [
            VerbEvent(ARRIVE, (key,), f"arrive {count} {words}", str(count), (key,), least=low)
            for count in range(low, high + 1)
        ]
    )


def _workload(nemesis: Nemesis, terrain: Terrain, name: str, kinds: Sequence[str]) -> Key:
    """Return the object that a name means: web, deploy/web or deploy/NAMESPACE/web."""
    *before, last = name.split("/")
    kind = kind_of(before[0]) if before else ""
    key = f"{before[1]}/{last}" if len(before) > 1 else f"default/{last}" if before else last
    there = terrain.workloads(kinds)
    found = [one for one in there if _is_named(one, kind, key)]
    if len(found) == 1:
        return found[0]
    if found:
        raise nemesis.refuse(
            f"{name!r} may be {' or '.join(' '.join(one) for one in found[:5])}: write KIND/NAMESPACE/NAME"
        )
    names = [one[1].rpartition("/")[2] for one in there]
    hint = did_you_mean(last, names[:2000]) or f"; there are {', '.join(names[:5]) or 'none'}"
    raise nemesis.refuse(f"there is no {', '.join(kinds)} {name[:80]!r}{hint}")


def _is_named(one: Key, kind: str, key: str) -> bool:
    return one[0] == kind and one[1] == key if kind else one[1].rpartition("/")[2] == key


# --- the release


_PLAYED = tuple(one for one in RELEASES if row_with_controllers(one).has_controllers)
_release = record(lambda **given: given, {"scheduler": Field("scheduler", enum(*_PLAYED), required=True)})


def _upgrade(nemesis: Nemesis, terrain: Terrain) -> Choices:
    del terrain
    release = nemesis.value["scheduler"]
    return Fixed((VerbEvent(UPGRADE, (), f"upgrade the scheduler to {release}", release),))


_ON_NODES = "{any: topology.kubernetes.io/zone}"
NEMESES: Mapping[str, NemesisRow] = {
    "lose": NemesisRow(_target, _on_nodes, "nodes stop answering", _ON_NODES),
    "drain": NemesisRow(
        _target, _on_nodes, "nodes are cordoned, and their pods evicted", "{each: Node, order: any}"
    ),
    "cordon": NemesisRow(_target, _on_nodes, "nodes take no further pods", "{any: Node}"),
    "rollout": NemesisRow(_rolled, _rollout, "all pods of a workload are replaced", "web"),
    "scale": NemesisRow(_scales, _scale, "a workload gets other replicas", "{web: 1..8}"),
    "arrive": NemesisRow(_arrivals, _arrive, "pods of a template are created", "{template: batch, upTo: 20}"),
    "upgrade": NemesisRow(_release, _upgrade, "another release schedules", "{scheduler: v1.37}"),
}
"""What may happen, by name."""


def read_nemesis(value: Any, at: At) -> Nemesis | None:
    """Read one item of ``when``."""
    if not isinstance(value, dict) or len(value) != 1:
        at.error(f"must be one nemesis, as in lose: {_ON_NODES}")
        return None
    ((name, given),) = value.items()
    row = NEMESES.get(name)
    if row is None:
        hint = did_you_mean(str(name), NEMESES) or f": they are {', '.join(NEMESES)}"
        at.child(name).error(f"there is no nemesis {show(name)}{hint}")
        return None
    read = row.read(given, at.child(name))
    return None if read is None else Nemesis(name, read, at.child(name))


outlined(read_nemesis, Outline("object", {name: Field(name, row.read) for name, row in NEMESES.items()}))
