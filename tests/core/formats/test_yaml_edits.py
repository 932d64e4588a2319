"""A document changed in place: only the lines of what differs are written."""

from __future__ import annotations

import copy
import random
from collections import Counter
from typing import Any

import pytest

from scheduler_core import load
from scheduler_core.authoring import examples
from scheduler_core.formats.limits import Limits
from scheduler_core.formats.skipped_kinds import ValueTally
from scheduler_core.formats.splices import splice
from scheduler_core.formats.yaml_edits import edited
from scheduler_core.formats.yaml_reader import read_yaml

TEXT = """\
# 漢字 🚀 above
apiVersion: v1
kind: List
items: # the list
# --- nodes
- kind: Node # n1
  metadata:
    name: n1   # its name
    labels: {a: b, c: "d"} # labels
  spec:
    # why
    taints:
    - key: x # kx
      effect: NoSchedule
    # second
    - {key: y, effect: NoExecute}
# between
- metadata: {name: n2}
  kind: Node
  note: |
    one
    two
# the end"""


def value_of(text: str) -> Any:
    [(_, value)] = read_yaml(text, Limits(), ValueTally(Limits()))
    return value


def comments(text: str) -> list[str]:
    return ["#" + line.partition("#")[2] for line in text.splitlines() if "#" in line]


def put(path: list[Any], value: Any) -> Any:
    """Return TEXT's value with another one at a path; ``...`` takes it out."""
    whole = value_of(TEXT)
    at = whole
    for step in path[:-1]:
        at = at[step]
    if value is ...:
        del at[path[-1]]
    elif isinstance(at, list) and path[-1] == len(at):
        at.append(value)
    else:
        at[path[-1]] = value
    return whole


FIRST, SECOND = ["items", 0], ["items", 1]


LABELS = '    labels: {a: b, c: "d"} # labels'


@pytest.mark.parametrize(
    ("after", "gone", "came"),
    [
        (
            put([*FIRST, "metadata", "name"], "zz"),
            ["    name: n1   # its name"],
            ["    name: zz   # its name"],
        ),
        (put([*FIRST, "metadata", "labels", "a"], "1"), [LABELS], [LABELS.replace("a: b", 'a: "1"')]),
        (put([*FIRST, "metadata", "labels", "e"], "q: #,"), [LABELS], [LABELS.replace("}", ', e: "q: #,"}')]),
        (put([*FIRST, "spec", "unschedulable"], True), [], ["    unschedulable: true"]),
        (put([*FIRST, "spec", "taints", 2], {"key": "z"}), [], ["    - key: z"]),
        (put([*FIRST, "spec", "taints", 0], ...), ["    - key: x # kx", "      effect: NoSchedule"], []),
        (put([*SECOND, "note"], ...), ["  note: |", "    one", "    two"], []),
        (put([*SECOND, "status"], {"x": [1, "1"]}), [], ["  status:", "    x:", "    - 1", "    - '1'"]),
        (put(["items", 2], {"kind": "Pod"}), [], ["- kind: Pod"]),
    ],
)
def test_only_lines_that_differ_are_written(after: Any, gone: list[str], came: list[str]) -> None:
    """A changed, new or removed field or item is all that differs, its comments and its neighbours' stay."""
    text = edited(TEXT, value_of(TEXT), after)
    assert text is not None
    assert value_of(text) == after
    before, now = Counter(TEXT.splitlines()), Counter(text.splitlines())
    assert sorted((before - now).elements()) == sorted(gone)
    assert sorted((now - before).elements()) == sorted(came)
    assert not text.endswith("\n")


def test_an_item_that_moves_takes_its_comments_along() -> None:
    """What is found again by its name elsewhere in the list is the same text."""
    whole = value_of(TEXT)
    whole["items"].reverse()
    text = edited(TEXT, value_of(TEXT), whole)
    assert text is not None
    assert sorted(text.splitlines()) == sorted(TEXT.splitlines())


@pytest.mark.parametrize("text", ["a: &x {b: 1}\nc: *x\n", "a: &x {b: 1}\nc: {<<: *x, d: 2}\n"])
def test_what_is_shared_is_not_changed_in_one_place(text: str) -> None:
    """A value that an alias repeats is not edited where the other one would change with it."""
    before = value_of(text)
    after = copy.deepcopy(before)
    after["a"] = {"b": 2}
    assert edited(text, before, after) is None


def mutated(value: Any, dice: random.Random) -> Any:
    """Change one thing somewhere in a value."""
    if isinstance(value, dict) and value:
        key = dice.choice(list(value))
        if dice.random() < 0.15 and key not in ("apiVersion", "kind", "metadata"):
            return {name: item for name, item in value.items() if name != key}
        if dice.random() < 0.15:
            return {**value, "podstep.io/new": {"a": ["b", {"c": "d: #"}]}}
        return {**value, key: mutated(value[key], dice)}
    if isinstance(value, list) and value:
        at = dice.randrange(len(value))
        kind = dice.random()
        if kind < 0.15:
            return [*value[:at], *value[at + 1 :]]
        if kind < 0.3:
            return [*value[:at], copy.deepcopy(value[dice.randrange(len(value))]), *value[at:]]
        return [*value[:at], mutated(value[at], dice), *value[at + 1 :]]
    return dice.choice(["changed", "yes", "a # b", "1", 7, None, "two\nlines\n", "", True, 1.5])


@pytest.mark.parametrize(
    "slug", [e.slug for e in examples.examples() if e.slug not in ("five-hundred", "gpu-trace")]
)
def test_any_change_of_an_example_reads_as_it_was_meant(slug: str) -> None:
    """Whatever is changed, what is written holds it, and of the comments only those within what went go."""
    found = examples.find(slug)
    assert found is not None
    text = found.read()
    documents = load(text).documents
    dice = random.Random(slug)
    written = 0
    for _ in range(12):
        place = dice.randrange(len(documents))
        changed = mutated(documents[place], dice)
        after = [*documents[:place], changed, *documents[place + 1 :]]
        spliced = splice(text, documents, after)
        assert spliced is not None
        values = [value for _, value in read_yaml(spliced, Limits(), ValueTally(Limits()))]
        held = [
            item for value in values for item in (value["items"] if value.get("kind") == "List" else [value])
        ]
        assert held == after
        lost = Counter(comments(text)) - Counter(comments(spliced))
        written += 1
        assert lost.total() <= 1 + len(changed), lost
    assert written
