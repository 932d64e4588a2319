"""Good bundles with parts that no reader expects: ``mutant(seed)`` is the same documents every time.

A mutation replaces, moves, repeats or grafts parts of any depth. What it puts in their place are values of
the wrong type, extremes, odd texts, deep nesting, and parts of other bundles of the corpus.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

from tests.conformance.random_records import Dice
from tests.core.properties.test_mutations import NONSENSE, places
from tests.load import hostile
from tests.load.corpus import Documents, starts

DIGITS = "9" * 5_000  # more than int() reads
NUMBERS: tuple[Any, ...] = (
    *hostile.LARGE, *hostile.SMALL,
    10**11, 10**12, 253402300800, 10**400, -(10**19), 2**53 + 1, 1e308, -0.0, 0.1, 1e19,
)  # fmt: skip
NUMERIC = (
    *(
        DIGITS,
        f"-{DIGITS}",
        f"{DIGITS}Gi",
        f"1e{DIGITS}",
        f"0.{DIGITS}",
        "0" * 5_000 + "1",
        "1e99999",
        "1e-99999",
    ),
    *(
        "1E",
        "Ki",
        "+1",
        "-0",
        "0x10",
        "1_000",
        "\u0663",
        "\u00b2",
        "\u2167",
        "1\u0660Gi",
        "NaN",
        "Infinity",
        "1e400",
    ),
    *("100%", "-1%", "1.5%", "999999999999%"),
)
CHARACTERS = (
    *(" lead", "trail ", "\ttab", "new\nline", "\r", "\x00", "\x7f", "\x1b[31m", "\ufeff", "\u202eright"),
    *("e\u0301", "\U0001f600", "\ud800", "\udfff\ud800", "\u0130", "\u1e9e", "\x85", "\u2029", "\x1c"),
)
SYNTAX = (
    *("http://[", "http://[::1", "http://a:b/", "http://a:99999/", "//", "://", " http://a/", "http://a\t/"),
    *(
        "http://\u2100/",
        "a/b/c",
        "/",
        "a/",
        "/b",
        "..",
        "{{",
        "${x}",
        "%s%n",
        "%",
        "&a",
        "*a",
        "!!x",
        "- ",
        "null",
    ),
    *("~", "yes", "=", "'" * 50, "(" * 500, "!" * 500, "a" * 300, "x=1,y in (a", "device.attributes["),
    *(
        "1/0 == 1",
        "[].exists(x, x)",
        "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!'.matches('(a+)+$')",
        "'a'.matches('(')",
    ),
)
TIMES = (
    *("2026-13-45T99:99:99Z", "0000-00-00T00:00:00Z", "9999-12-31T23:59:59Z", "0001-01-01T00:00:00+14:00"),
    *("PT1S", "9" * 30 + "h", "1h-1m", "1ns", "\u00b5s"),
)
WORDS = (
    *(
        "default-scheduler",
        "kube-batch",
        "v1.37",
        "v1.22",
        "v1.11",
        "virtual",
        "Node",
        "Pod",
        "In",
        "Gt",
        "Exists",
    ),
    *("NoSchedule", "DoNotSchedule", "metadata.name", "kubernetes.io/hostname"),
)
TEXTS = (*NUMERIC, *CHARACTERS, *SYNTAX, *TIMES, *WORDS)
DEPTHS = (3, 20, 70, 150)
ODD_STEPS: tuple[Any, ...] = (
    {"major": 2}, {"major": 0}, {"major": -1}, {"major": 10**30}, {"major": 2, "minor": 10**9}, {"minor": 1},
    9, "x", None,
)  # fmt: skip


def _value(dice: Dice) -> Any:
    """Return something that belongs nowhere."""
    kind = dice.choice(("nonsense", "nonsense", "number", "text", "text", "nested", "graft"))
    if kind == "nonsense":
        return copy.deepcopy(dice.choice(NONSENSE))
    if kind == "nested":
        return _nested(dice)
    if kind == "graft":
        return _part(dice)
    return dice.choice(NUMBERS if kind == "number" else TEXTS)


def _nested(dice: Dice) -> Any:
    value: Any = dice.choice(("x", 1, None))
    keys = ("spec", "template", "items", "object", "matchExpressions")
    for _ in range(dice.choice(DEPTHS)):
        value = {dice.choice(keys): value} if dice.chance(0.5) else [value]
    return value


def _part(dice: Dice) -> Any:
    """Return a part of a bundle of the corpus."""
    documents = dice.choice(starts())
    path = dice.choice(places_of(documents))
    return copy.deepcopy(_at(documents, path))


def places_of(value: Any) -> list[tuple[Any, ...]]:
    """Return the path of every part of a value but the value itself."""
    return places(value)[1:]


def _at(documents: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        documents = documents[key]
    return documents


def _place(documents: Documents, dice: Dice) -> tuple[Any, Any]:
    """Return the parent and the key of a random part; documents themselves are taken less often."""
    number = dice.randint(0, len(documents) - 1)
    below = places_of(documents[number])
    path = (number, *(dice.choice(below) if below and dice.chance(0.97) else ()))
    return _at(documents, path[:-1]), path[-1]


def replaced(documents: Documents, dice: Dice) -> None:
    """Replace a part by anything."""
    parent, key = _place(documents, dice)
    parent[key] = _value(dice)


def retyped(documents: Documents, dice: Dice) -> None:
    """Keep a part's value and change its type."""
    parent, key = _place(documents, dice)
    value = parent[key]
    parent[key] = dice.choice(([value], {"x": value}, json.dumps(value), [value, value], {str(key): value}))


def odd_leaf(documents: Documents, dice: Dice) -> None:
    """Replace a text by an odd text, a number by an odd number."""
    for _ in range(20):
        parent, key = _place(documents, dice)
        if isinstance(parent[key], str):
            parent[key] = dice.choice(TEXTS)
            return
        if isinstance(parent[key], int | float):
            parent[key] = dice.choice(NUMBERS)
            return


def touched(documents: Documents, dice: Dice) -> None:
    """Add or remove a character of a text."""
    for _ in range(20):
        parent, key = _place(documents, dice)
        if isinstance(value := parent[key], str) and value:
            at = dice.randint(0, len(value))
            extra = dice.choice(("\t", " ", "\n", "/", "[", "9", "-", ".", "%", "\u00fc", "\x00", ""))
            parent[key] = value[:at] + extra + value[at + (not extra) :]
            return


def removed(documents: Documents, dice: Dice) -> None:
    """Leave a part out."""
    parent, key = _place(documents, dice)
    if len(documents) > 1 or parent is not documents:
        del parent[key]


def renamed(documents: Documents, dice: Dice) -> None:
    """Write a key otherwise: in capitals, with a letter more, as an odd text."""
    parent, key = _place(documents, dice)
    if isinstance(parent, dict):
        parent[dice.choice((str(key).upper(), f"{key}s", dice.choice(TEXTS), ""))] = parent.pop(key)


def repeated(documents: Documents, dice: Dice) -> None:
    """Repeat an entry of a list, or a document: with the same name, or as another kind."""
    parent, key = _place(documents, dice)
    value = copy.deepcopy(parent[key])
    if isinstance(parent, list):
        parent[dice.randint(0, len(parent)) :] = [value] * dice.choice((1, 1, 2, 40))


def swapped(documents: Documents, dice: Dice) -> None:
    """Swap two parts."""
    (one, here), (other, there) = _place(documents, dice), _place(documents, dice)
    one[here], other[there] = copy.deepcopy(other[there]), copy.deepcopy(one[here])


def grafted(documents: Documents, dice: Dice) -> None:
    """Put a document, or a part, of another bundle among the documents or in place of a part."""
    if dice.chance(0.5):
        documents.insert(dice.randint(0, len(documents)), copy.deepcopy(dice.choice(dice.choice(starts()))))
    else:
        parent, key = _place(documents, dice)
        parent[key] = _part(dice)


def other_kind(documents: Documents, dice: Dice) -> None:
    """Let a document be of the kind of another one."""
    one, other = dice.choice(documents), dice.choice(dice.choice(starts()))
    if isinstance(one, dict) and isinstance(other, dict):
        one.update({key: other[key] for key in ("kind", "apiVersion") if key in other and dice.chance(0.8)})


def operated(documents: Documents, dice: Dice) -> None:
    """Add an operation to the history, or operations to something that has none."""
    about = dice.choice([*documents, dice.choice(dice.choice(starts()))])
    operation = _operation(about if isinstance(about, dict) else {}, dice)
    histories = [one for one in documents if isinstance(one, dict) and one.get("kind") == "Scenario"]
    if not histories:
        documents.append({"kind": "Scenario", "spec": {"operations": [operation]}})
        return
    history = dice.choice(histories if dice.chance(0.8) else documents)
    spec = history.setdefault("spec", {}) if isinstance(history, dict) else None
    operations = spec.setdefault("operations", []) if isinstance(spec, dict) else None
    if isinstance(operations, list):
        operations.insert(dice.randint(0, len(operations)), operation)


def _operation(about: dict[str, Any], dice: Dice) -> dict[str, Any]:
    metadata = about.get("metadata")
    target = {
        "typeMeta": {"kind": about.get("kind"), "apiVersion": about.get("apiVersion")},
        "objectMeta": metadata if isinstance(metadata, dict) else {},
    }
    patch = {"spec": about.get("spec")} if dice.chance(0.5) else {"spec": {"x": _value(dice)}}
    actions: dict[str, Any] = {
        "createOperation": {"object": copy.deepcopy(about)},
        "patchOperation": {
            **target,
            "patch": dice.choice((json.dumps(patch), patch, _value(dice))),
            "patchType": dice.choice(("merge", "strategic", "json", None)),
        },
        "deleteOperation": target,
        "doneOperation": {},
    }
    made = {key: actions[key] for key in dice.sample(sorted(actions), dice.choice((1, 1, 1, 2)))}
    made["step"] = dice.choice(ODD_STEPS)
    if dice.chance(0.4):
        made["time"] = dice.choice((5, 50, *NUMBERS))
    return copy.deepcopy(made)


CHANGES: tuple[Callable[[Documents, Dice], None], ...] = (
    replaced, replaced, replaced, retyped, odd_leaf, odd_leaf, odd_leaf, touched, removed, renamed, repeated,
    swapped, grafted, other_kind, operated,
    hostile.nested, hostile.empty, hostile.twice, hostile.owned, hostile.replicas, hostile.lives,
)  # fmt: skip


def mutant(seed: int) -> list[Any]:
    """Return the documents of a bundle of the corpus, changed in one to four ways."""
    dice = Dice(seed)
    documents: list[Any] = copy.deepcopy(dice.choice(starts()))
    for _ in range(dice.choice((1, 1, 1, 2, 2, 3, 4))):
        if documents:
            _change(documents, dice)
    return documents


def _change(documents: list[Any], dice: Dice) -> None:
    changed = copy.deepcopy(documents)
    try:
        dice.choice(CHANGES)(changed, dice)
    except (TypeError, AttributeError, KeyError, IndexError, RecursionError):
        return  # it met what an earlier change has left there
    documents[:] = changed


def written(documents: list[Any]) -> str:
    """Return documents as a text of JSON documents, whatever is in them."""
    return "\n---\n".join(json.dumps(one) for one in documents)
