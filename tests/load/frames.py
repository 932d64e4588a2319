"""Frames of every command of the socket, with payloads of the right fields and of any values."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from tests.conformance.random_records import Dice
from tests.core.properties.test_mutations import NONSENSE
from tests.load.mutants import NUMBERS, TEXTS, mutant, places_of, written

if TYPE_CHECKING:
    from playground.calls.requests import RequestField

#: What fields are called and may hold, besides values of their type.
USUAL: dict[str, Sequence[Any]] = {
    "step": ("0", "1", "1.0", "1.1", "2.1", "end", "99", "-1", "1.", ".1", "01", "9" * 9, "9" * 30),
    "parts": (["inspect"], ["policy", "nodes", "moments"], [], ["views", "session", "cache", "x"]),
    "pod": ("default/a", "default/w-0", "a", "default/", "/"),
    "node": ("n1", "n2", "x", 0, 1),
    "tab": ("story", "queue", "secrets"),
    "text": (),
    "hash": ("0" * 16, "f" * 16, "x"),
    "scheduler": ("v1.11", "v1.37", "v1.22", "kube-batch"),
    "kind": ("Pod", "Node", "node", "fits", "victims", "choice", "Scenario"),
}
INDICES = (0, 1, 2, 5, 20, 10**6, 10**9 - 1)


@cache
def commands() -> tuple[tuple[str, Mapping[str, RequestField], str], ...]:
    """Return every command with its fields and the one that names its source."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    import django

    django.setup()
    import playground.live.modules  # noqa: F401 -- registers the commands
    from playground.calls.requests import fields_of
    from playground.live.commands import COMMANDS

    return tuple((name, fields_of(row.takes), row.source) for name, row in sorted(COMMANDS.items()))


def frame(seed: int, sources: Sequence[dict[str, Any]]) -> str:
    """Return one frame as a text; ``sources`` are what it may be about."""
    dice = Dice(seed)
    name, fields, source = commands()[seed % len(commands())]
    payload: Any = {
        name: _value(field, dice)
        for name, field in fields.items()
        if name != source and _is_sent(field, dice)
    }
    if source:
        payload[source] = _source(source, sources, dice)
    if dice.chance(0.3):
        payload = _mutated(payload, dice)
    return _text([name, seed + 1, payload], dice)


def _is_sent(field: RequestField, dice: Dice) -> bool:
    return dice.chance(0.97 if field.required else 0.6)


def _source(field: str, sources: Sequence[dict[str, Any]], dice: Dice) -> Any:
    if not sources or dice.chance(0.05):
        return copy.deepcopy(dice.choice(NONSENSE))
    found = dict(dice.choice(sources))
    if field != "source":
        return next(iter(found.values()))
    if dice.chance(0.2):
        found["scheduler"] = dice.choice(("v1.11", "v1.37", "v2", 1))
    return found


def _value(field: RequestField, dice: Dice) -> Any:
    """Return a value of a field: mostly of its type, else anything."""
    if dice.chance(0.1):
        return copy.deepcopy(dice.choice((*NONSENSE, *NUMBERS, *TEXTS)))
    if dice.chance(0.5) and USUAL.get(field.name):
        return copy.deepcopy(dice.choice(USUAL[field.name]))
    match field.meaning.split()[:3]:
        case ["a", "whole", "number"]:
            return dice.choice(INDICES)
        case ["a", "list", "of"]:
            return [dice.choice(TEXTS) for _ in range(dice.choice((0, 1, 3, 20)))]
        case ["an", "object", *_]:
            return dice.choice(mutant(dice.randint(0, 10**6)) or [{}])
        case ["a", "text,", *_]:
            return dice.choice((0, 1, True, "x", ["a", "b"], ["a", "b", "c"], None))
    if field.name in {"text", "bundle", "manifest", "patch"}:
        documents = mutant(dice.randint(0, 10**6))
        return written(documents if dice.chance(0.7) else documents[:1])
    return dice.choice(TEXTS)


def _mutated(payload: dict[str, Any], dice: Dice) -> Any:
    """Replace, remove or add a part of a payload, or the payload itself."""
    if dice.chance(0.1) or not payload:
        return copy.deepcopy(dice.choice(NONSENSE))
    path = dice.choice(places_of(payload))
    parent: Any = payload
    for key in path[:-1]:
        parent = parent[key]
    match dice.choice(("replace", "replace", "remove", "add")):
        case "replace":
            parent[path[-1]] = copy.deepcopy(dice.choice((*NONSENSE, *TEXTS, *NUMBERS)))
        case "remove":
            del parent[path[-1]]
        case _ if isinstance(parent, dict):
            parent[dice.choice(TEXTS)] = copy.deepcopy(dice.choice(NONSENSE))
    return payload


def _text(frame: list[Any], dice: Dice) -> str:
    """Return a frame as text; now and then the frame itself is not as it should be."""
    if dice.chance(0.95):
        return json.dumps(frame)
    odd = (
        json.dumps(frame)[: dice.randint(0, 60)],
        json.dumps([*frame, {}]),
        json.dumps(frame[:2]),
        json.dumps([frame[0], dice.choice(TEXTS), frame[2]]),
        json.dumps([dice.choice((*TEXTS, *NONSENSE)), *frame[1:]]),
        "[" * 5_000,
        json.dumps(frame).replace('"', "'"),
        '["session.hello",' + "9" * 5_000 + ",{}]",
    )
    return dice.choice(odd)
