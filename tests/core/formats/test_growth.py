"""What reads a visitor's text takes four times as long for four times the text, whatever it repeats."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial

import pytest

from scheduler_core.formats.bundle import read_files
from scheduler_core.formats.flags import read_flags
from scheduler_core.formats.folder import is_manifest
from scheduler_core.formats.limits import Limits
from scheduler_core.formats.locate import find_lines
from scheduler_core.kubernetes.durations import parse_duration
from scheduler_core.kubernetes.fit_errors import parse_fit_error
from scheduler_core.kubernetes.label_query import parse_label_query
from tests.costs import growth

PLACE = (1, ("a", "b"))
READERS: Mapping[str, Callable[[str], object]] = {
    "bundle": lambda text: read_files([("", text)], Limits()),
    "lines of YAML": lambda text: find_lines(text, "yaml", [PLACE]),
    "lines of JSON": lambda text: find_lines(text, "json", [PLACE]),
    "flags": lambda text: list(read_flags(text)),
    "manifest": is_manifest,
    "fit error": parse_fit_error,
    "duration": parse_duration,
    "label query": parse_label_query,
}
UNITS = (
    "{{", "{", "[", "{}\n", "{\n", '{"a":\n', "a: b\n", "- ", "a:\n ", "---\n", "# x\n", "'", '"', '\\"',
    "|\n", "a: |\n", "&a ", "*a ", "? ", "\t", " ", "\r\n", "sn,cpu_milli\n", "1 Insufficient cpu, ", "1h",
    "a=b,", "--a\n", "a: [", "{a: ", "kind: List\nitems:\n", '{"kind":"Pod"}\n', '{"a":1,}\n', "%YAML\n",
    "{{ .Values.a }}\n", "- - ", 'a: "x\n', "(", "a in (", "!",
)  # fmt: skip
SUSPECT = 0.04  # seconds of a processor


def reading(read: Callable[[str], object], text: str) -> None:
    with suppress(ValueError):
        read(text)


def slow(read: Callable[[str], object]) -> Iterator[str]:
    """Yield what is repeated where the time grows faster than the text."""
    for unit in UNITS:
        short, long = (partial(reading, read, unit * (size // len(unit))) for size in (4_000, 16_000))
        if times := growth(short, long, 9, SUSPECT):
            yield f"{unit!r}: {times:.0f} times"


@pytest.mark.parametrize("name", READERS)
def test_a_text_is_read_in_one_pass(name: str) -> None:
    """Nested without an end, quoted without an end, or the same line thousands of times."""
    assert not [*slow(READERS[name])]
