"""Every input in ``cases``: what loading it finds, word for word. A new case is a new file.

A case is the input, a line of five equals signs, and what is expected: each error, or the objects
and warnings, as ``line path | message``.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from scheduler_core import BundleError, Problem, load
from scheduler_core.kubernetes.keys import key_of

CASES = sorted((Path(__file__).parent / "cases").glob("*.case"))
DIVIDER = "=====\n"


def _reported(problem: Problem) -> str:
    place = f"{problem.line or '-'} {problem.document or '-'}:{problem.path or '-'}"
    return f"{place} | {problem.message}"


def outcome(text: str) -> str:
    """Return what loading the text finds, a line for each finding."""
    try:
        scenario = load(text)
    except BundleError as error:
        return "\n".join(["error", *map(_reported, error.problems)]) + "\n"
    objects = [
        " ".join(key_of(o)) + (f" on {o.node_name}" if getattr(o, "node_name", "") else "")
        for o in scenario.objects
    ]
    return "\n".join(["read", *objects, "warnings", *map(_reported, scenario.warnings)]) + "\n"


@pytest.mark.parametrize("path", CASES, ids=lambda p: p.stem)
def test_a_case_is_read_or_refused_as_written_down(path: Path) -> None:
    """The errors, objects and warnings of the input are exactly those that the case names."""
    text, divider, expected = path.read_text(encoding="utf-8").partition(DIVIDER)
    assert divider, "the case lacks its expectation"
    assert outcome(text) == expected
