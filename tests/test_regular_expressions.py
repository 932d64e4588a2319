"""No regular expression takes more than one pass over a visitor's text, whatever that is.

All are found in the source (tests/patterns.py); a new one is tried like the others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

import pytest

from scheduler_core.authoring import podgroups
from scheduler_core.authoring.forms import FORMS
from scheduler_core.formats import yaml_shapes
from scheduler_core.kubernetes import fit_errors
from scheduler_core.schedulers.v1_37.cel.functions import formats
from tests.patterns import FoundPattern, attacks, grows, patterns

RUNNING: Mapping[str, Callable[[], list[str]]] = {
    "authoring/forms/table: place": lambda: [
        field.place for form in FORMS.values() for field in form.fields if field.place
    ],
    "playground/courseware/replies: f'(?<![\\\\w.,-]){re.escape(word)}(?![\\\\w-]|[.,]\\\\w)'": lambda: [
        rf"(?<![\w.,-]){re.escape(word)}(?![\w-]|[.,]\w)" for word in ("n1", "aa", "a.b")
    ],
    "authoring/podgroups: pattern": lambda: [one.pattern for one, _ in podgroups._PLACES],
    "formats/yaml_edits: f'^ {{{column}}}-(?=\\\\s|$)'": lambda: [
        rf"^ {{{column}}}-(?=\s|$)" for column in (0, 2, 40)
    ],
    "formats/yaml_shapes: pattern": lambda: [f"name: {yaml_shapes._FILL}\\nnode: {yaml_shapes._FILL}\\n"],
    "kubernetes/fit_errors: pattern": lambda: [one.pattern for one, _ in fit_errors.WORDINGS],
    "schedulers/v1_37/cel/functions/formats: pattern": lambda: [formats._NAME, formats._SUBDOMAIN],
}
"""Patterns that the source makes of values, as the running program has them."""


def found() -> Iterator[FoundPattern]:
    missing = set(RUNNING)
    for one in patterns():
        if one.pattern is not None:
            yield one
            continue
        name = one.name.removeprefix("scheduler_core/")
        missing.discard(name)
        for text in RUNNING[name]():
            yield one._replace(pattern=re.compile(text), source=f"{one.source} {text[:40]}")
    assert not missing


@pytest.fixture(scope="module")
def every() -> Sequence[FoundPattern]:
    """All of the source, read once a test asks: it takes seconds."""
    return [*found()]


def test_all_of_them_are_found(every: Sequence[FoundPattern]) -> None:
    """More than there were when this was written, in both packages."""
    assert len(every) > 190
    assert {one.file.partition("/")[0] for one in every} == {"playground", "scheduler_core"}


def test_a_pattern_takes_one_pass(every: Sequence[FoundPattern]) -> None:
    """Repetitions of each part of what it matches, with another end, take a time that grows with the text."""
    slow = {one.name: first for one in every if (first := next(filter(None, tried(one)), ""))}
    assert not slow


def tried(one: FoundPattern) -> Iterator[str]:
    """Yield how a pattern's time grows with each text that attacks it, "" where it grows with the text."""
    assert one.pattern is not None
    methods = {name if name in ("match", "fullmatch") else "finditer" for name in one.methods}
    return (grows(one, method, text) for text in attacks(one.pattern) for method in sorted(methods))


@pytest.mark.parametrize(
    ("pattern", "method"),
    [
        (r"\{\{(.+?)\}\}", "finditer"), (r"(a+)+b", "match"), (r"(?:a|a)*b", "fullmatch"),
        (r"\s+x", "finditer"), (r"\d+\.?\d*e", "fullmatch"), (r"\[([^\]]+)\]", "finditer"),
        (r'"(?:[^"\\]|\\.)*"', "finditer"), (r".*=.*;", "match"),
    ],
)  # fmt: skip
def test_a_pattern_that_takes_more_is_noticed(pattern: str, method: str) -> None:
    """Those of which the audit was made: braces that are not closed, and repetitions of repetitions."""
    bad = FoundPattern("x.py", pattern, re.compile(pattern, re.DOTALL), frozenset({method}))
    assert any(grows(bad, method, text) for text in attacks(bad.pattern))  # type: ignore[arg-type]
