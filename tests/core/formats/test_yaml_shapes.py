"""Documents of one shape read the same as without it, and several times as fast."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import pytest

from scheduler_core.formats.limits import Limits
from scheduler_core.formats.skipped_kinds import ValueTally
from scheduler_core.formats.yaml_documents import read_documents
from scheduler_core.formats.yaml_reader import read_yaml
from scheduler_core.formats.yaml_shapes import Shapes
from tests.core.formats.test_yaml_documents import LIMITS, same
from tests.costs import least_costs
from tests.rows import each_row

POD = """apiVersion: v1
kind: Pod
metadata: {{name: {0}, labels: {{app: {1}, tier: [{2}, b]}}}}
spec:
  containers:
  - {{name: c, image: nginx, resources: {{requests: {{cpu: {3}, memory: 64Mi}}}}}}
"""

CONTEXTS = (
    "a: {}\nb: {{c: d}}\n",
    "a: [x, {}]\n",
    "a: {{b: {}, c: d}}\n",
    "a: {{b: c}} # {}\n",
    "a: |-\n  {}\nb: {{c: d}}\n",
    "a: >-\n  {}\nb: {{c: d}}\n",
    "a: !!str {}\nb: {{c: d}}\n",
    "a: !!float {}\nb: {{c: d}}\n",
    "a: &x {}\nb: {{c: *x}}\n",
    "a: &x {}\nb: {{c: d}}\n",
    "a: {{b: c}}\n? {}\n: d\n",
    "a: {{{} : c}}\n",
    "a: {{b: c}}\n{} : d\n",
    'a: "\\\n  {}"\nb: {{c: d}}\n',
    "a: '{}'\nb: {{c: ' {} '}}\n",
    "a: x {}\nb: {{c: d}}\n",
    "a: x,{}\nb: {{c: d}}\n",
    "a: x\n  {}\nb: {{c: d}}\n",
    "base: &m {{k: {}}}\nb: {{<<: *m, c: d}}\n",
    "kind: {}\nb: {{c: d}}\n",
    "kind: List\nitems: [{{kind: {}}}, {{c: d}}]\n",
    "a: 918273645000\nb: {{c: {}}}\n",
    "a: 918273645000\nb: x\n  {}\n",
    "{}\n",
    "[{}, a]\n",
)
WORDS = tuple("p1 p2 true no 7 0x1F 010 1e3 1_0 null 50m a.b-c Pod ConfigMap".split())
PUT_IN = ("", "'", '"', ": ", " ", "\n", "#", " #", "{", "]", ",", "&a ", "*a", "é")


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A shape is learned from the first two documents that have it."""
    monkeypatch.setattr("scheduler_core.formats.yaml_shapes._SHORTEST_WAIT", 0)


@pytest.mark.usefixtures("at_once")
@each_row("context", CONTEXTS)
def test_a_word_reads_the_same_wherever_it_is(context: str) -> None:
    """Keys, comments, quotes, blocks, tags and aliases are no holes; words that are no strings are values."""
    same("---\n".join(context.format(word, word) for word in (*WORDS, "x" * 300, "9" * 50)))


def mutated(text: str, chance: random.Random) -> str:
    """Return a text with a few characters put in, taken out or doubled."""
    for _ in range(chance.randint(0, 2)):
        at = chance.randrange(len(text))
        text = text[:at] + chance.choice(PUT_IN) + text[at + chance.randint(0, 1) :]
    return text


@pytest.mark.usefixtures("at_once")
@each_row("seed", range(60))
def test_documents_of_a_shape_read_the_same(seed: int) -> None:
    """So do those among them that have another shape, or none."""
    chance = random.Random(seed)
    parts = [POD.format(*chance.choices(WORDS, k=4)) for _ in range(8)]
    if seed % 2:
        at = chance.randrange(8)
        parts[at] = mutated(parts[at], chance)
    same("---\n".join(parts))


@pytest.mark.usefixtures("at_once")
def test_the_bound_on_values_holds_for_shapes() -> None:
    """Values of documents that were not parsed count as those of others."""
    same("---\n".join(POD.format(f"p{n}", "a", "b", "1") for n in range(20)), Limits(values=300))


def two_of(text: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return two documents of one shape."""
    shapes = Shapes(LIMITS)
    texts = [text.format(f"p{n}", "a", "b", "1") for n in range(4)]
    first, second = [found[0] for text in texts if (found := shapes.read(text)) is not None][:2]
    return first, second


@pytest.mark.usefixtures("at_once")
def test_equal_documents_are_objects_of_their_own() -> None:
    """What changes one leaves the others as they are."""
    first, second = two_of(POD.replace("kind: Pod", "kind: Node"))
    first["spec"]["containers"].clear()
    assert second["spec"]["containers"]
    assert first["metadata"]["labels"] is not second["metadata"]["labels"]


@pytest.mark.usefixtures("at_once")
def test_pods_share_what_is_equal_but_their_metadata() -> None:
    """A part with a word of its own is an object of its own, too."""
    first, second = two_of(POD)
    assert first["spec"] is second["spec"]
    assert first["metadata"] is not second["metadata"]
    assert (first["metadata"]["name"], second["metadata"]["name"]) == ("p1", "p2")


def reading(read: Callable[..., Iterable[object]], text: str) -> None:
    assert len(list(read(text, LIMITS, ValueTally(LIMITS)))) == 1500


def test_a_pod_of_a_shape_costs_a_fraction_of_parsing_it() -> None:
    """Both are measured in this run: a third at most (measured: a sixth)."""
    text = "---\n".join(POD.format(f"p{n}", f"a{n // 50}", "b", "50m") for n in range(1500))
    costs = least_costs(partial(reading, read_documents, text), partial(reading, read_yaml, text))
    assert any(shaped < parsed / 3 for shaped, parsed in costs)
