"""Reading line by line gives what libyaml's events give: the same values, numbers, counts and errors."""

from __future__ import annotations

import random
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from scheduler_core.authoring import examples
from scheduler_core.formats.block_reader import Lines, read_block
from scheduler_core.formats.limits import FormatError, Limits
from scheduler_core.formats.skipped_kinds import ValueTally
from scheduler_core.formats.yaml_documents import read_documents
from scheduler_core.formats.yaml_reader import read_yaml
from tests.rows import each_row

LIMITS = Limits()


def outcome(read: Any, text: str, limits: Limits = LIMITS) -> Any:
    """Return what a reader makes of a text: documents and how many values, or its error."""
    tally = ValueTally(limits)
    try:
        found = [(number, type(value).__name__, repr(value)) for number, value in read(text, limits, tally)]
        return found, tally.values, tally.kept
    except FormatError as error:
        return error.message, error.line, error.path, error.document


def same(text: str, limits: Limits = LIMITS) -> None:
    """Compare both readers."""
    assert outcome(read_documents, text, limits) == outcome(read_yaml, text, limits), text


UNUSUAL = (
    "a: 1\nb: {c: d}\nlist:\n- x\n-\n- {}\n- []\n-   k: v\n    l: w\n- \n  m: n\n",
    "- a\n- b: c\n  d:\n  - e\n  -\n  f:\ng: wrong\n",
    "items:\n- a: &x 1\n- b: *x\n",
    "items:\n- a: &x {k: v}\n  b: *x\n- c: plain\nkind: List\n",
    "items:\n- a: |\n    text\n    - no item\n\n    more\n- b: folded\n    goes on\nkind: List\n",
    "items:\n- a: 'it''s'\n- b: \"x\\ty\"\n- c: \"two\n    lines\"\nkind: List\n",
    'items:\n- a: "open\n- b: c\nkind: List\n',
    "a: yes\nb: ~\nc: null\nd: 0x1F\ne: 010\nf: 1e3\ng: .5\nh: -7\ni: 12:30\nj: 2024-01-01\nk: 1_000\n",
    "yes: 1\non: 2\n",
    "a: 1\na: 2\n",
    "a:\n  b: 1\n c: 2\n",
    "a: b: c\n",
    "a: b #c\nd: e#f\ng: http://x:80/y\nh: tail:\n",
    "a: -\nb: - c\n",
    "\ta: 1\n",
    "a:\t1\n",
    "a: é\nb: 1\n",
    "? a\n: b\n",
    "<<: {a: 1}\n",
    "a: !!str 1\n",
    "--- # first\na: 1\n---\n---\n# nothing\n---\nb: 2\n---",
    "--- {a: 1}\n---\nb: 2\n",
    "a: 1\n...\n---\nb: 2\n",
    "%YAML 1.1\n---\na: 1\n",
    "# only a comment\n",
    "a: |\n  x\n--- \nb: >-\n  y\n  z\n",
    "just text\n",
    "a: 1\n---\nb: [\n---\nc: 3\n",
    "a:\n- b:\n  - c:\n    - d\n  e: f\ng: h\n",
    "items:\n- é: 1\n- b: 2\nmore:\n- c: !x 1\n",
    "a: 99999999999999999999999999999999999999999999\n",
    "a: .inf\n",
)


@each_row("text", UNUSUAL)
def test_unusual_yaml_reads_the_same(text: str) -> None:
    """What is not plain block style is left to the other reader, with its words and lines."""
    same(text)


@each_row("slug", [example.slug for example in examples.examples()])
def test_examples_read_the_same(slug: str) -> None:
    """Every example has the same documents."""
    example = examples.find(slug)
    assert example is not None
    same(example.read())


PLAIN = st.one_of(
    st.text("ab-:.#'\"{}[]|>&*!%@`,? ~0123456789yesnoull/", max_size=12), st.integers(), st.booleans()
)
KEYS = st.text("abcyn_./-", min_size=1, max_size=6)
VALUES = st.recursive(
    PLAIN | st.none(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=25,
)


@given(st.lists(st.dictionaries(KEYS, VALUES, min_size=1, max_size=4), min_size=1, max_size=4))
def test_what_is_written_reads_the_same(documents: list[Any]) -> None:
    """Whatever a YAML writer prints in block style is read alike."""
    same(yaml.safe_dump_all(documents, default_flow_style=False))
    same(yaml.safe_dump({"items": documents, "kind": "List"}, default_flow_style=False))


MANIFEST = """\
apiVersion: v1
items:
- kind: Pod
  spec:
    list:
    - a: 1
      b: 'x'
    - c
  x: y
"""


@given(st.integers(0, 2**32))
def test_broken_text_reads_the_same(seed: int) -> None:
    """Lines that are cut, doubled, moved or indented give the same values or the same error."""
    chance = random.Random(seed)
    lines = MANIFEST.splitlines()
    for _ in range(chance.randrange(1, 4)):
        at = chance.randrange(len(lines))
        line = lines[at]
        lines[at] = chance.choice(
            (line[1:], f" {line}", f"{line}\n{line}", f"{line} #", f"- {line}", line[:-1], "---")
        )
    same("\n".join(lines))


@pytest.mark.parametrize("depth", range(3, 9))
def test_depth_is_held(depth: int) -> None:
    """Nesting ends at the same level."""
    text = "".join(f"{'  ' * level}k:\n" for level in range(depth)) + "  " * depth + "k: []\n"
    for most in range(2, 11):
        same(text, Limits(depth=most))
        same(f"items:\n- x: &a 1\n  {text.replace(chr(10), chr(10) + '  ')}\n", Limits(depth=most))


def test_values_are_held() -> None:
    """Too many values are the same error, counted from the beginning."""
    text = "---\n".join(f"a: {number}\nb: [1, 2]\n" for number in range(5))
    for most in (3, 8, 15, 30):
        same(text, Limits(values=most))


CONFIG_MAP = "kind: ConfigMap\nmetadata:\n  name: m\ndata:\n  a: x\n  b:\n  - y\n  - {c: d}\n"
POD = "kind: Pod\nmetadata:\n  name: p\n"


@pytest.mark.parametrize("kept", [0, 12, 15, 16, 40, 1000])
def test_what_is_kept_for_export_alone_counts_the_same(kept: int) -> None:
    """Objects of kinds that scheduling does not read count apart, and go where there is no room."""
    item = "- " + CONFIG_MAP.rstrip("\n").replace("\n", "\n  ") + "\n"
    listed = f"apiVersion: v1\nitems:\n{item}- kind: Pod\n{item}kind: List\n"
    for text in (
        CONFIG_MAP,
        f"{POD}---\n{CONFIG_MAP}---\n{POD}",
        listed,
        f"{item}{item}",
        f"{listed}---\n{CONFIG_MAP}",
    ):
        same(text, Limits(kept=kept))


def test_kubectls_style_needs_no_events() -> None:
    """A dump is read line by line but for the items with something unusual in them."""
    text = "apiVersion: v1\nitems:\n" + "".join(
        f"- kind: Pod\n  metadata:\n    name: p{at}\n    note: {'|' if at % 9 == 0 else 'plain'}\n"
        + ("      text\n" if at % 9 == 0 else "")
        for at in range(30)
    )
    read = read_block(text, LIMITS, Lines(), lambda _done, _of: None)
    assert read is not None
    assert [item["metadata"]["name"] for item in read[0]["items"]] == [f"p{at}" for at in range(30)]
    same(text)
