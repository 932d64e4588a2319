"""A sweep as YAML or JSON text, and the lines of its errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_core.formats.limits import FormatError, Limits
from scheduler_core.formats.locate import find_lines
from scheduler_core.formats.skipped_kinds import ValueTally
from scheduler_core.formats.yaml_reader import read_yaml
from scheduler_core.kubernetes.problems import BundleError, Problem
from scheduler_core.kubernetes.readers import path_text, steps_of

LIMITS = Limits(size=256 * 1024, documents=1)


def sweep_body(text: str, file: str | None = None) -> Any:
    """Parse the text of a sweep, one document.

    Raises:
        BundleError: It is too long, or no YAML; the error has its line.
    """
    if len(text) > LIMITS.size:
        raise BundleError([Problem(f"a sweep has at most {LIMITS.size:,} bytes", file=file)])
    try:
        bodies = [value for _, value in read_yaml(text, LIMITS, ValueTally(LIMITS))]
    except FormatError as error:
        raise BundleError([Problem(error.message, line=error.line or 1, file=file)]) from error
    if len(bodies) != 1:
        raise BundleError([Problem("is empty: a grid is expected, such as seed: [1, 2, 3]", file=file)])
    return bodies[0]


def in_text(problems: Sequence[Problem], text: str, body: Any, file: str | None = None) -> list[Problem]:
    """Return the problems of a sweep with their lines; a bare grid's paths begin with its axes."""
    bare = not (isinstance(body, Mapping) and "grid" in body)
    steps = [steps_of(one.path)[1:] if bare else steps_of(one.path) for one in problems]
    lines = find_lines(text, "yaml", [(1, one) for one in steps])
    return [
        Problem(one.message, path_text(at), lines.get((1, at)), file=file) for one, at in zip(problems, steps)
    ]
