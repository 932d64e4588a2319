"""Findings to problems, each with its document, path and line."""

from __future__ import annotations

import re
from collections.abc import Iterable

from scheduler_core.formats.bundle import BundleEntry, SourceText
from scheduler_core.formats.limits import FormatError
from scheduler_core.formats.locate import find_lines
from scheduler_core.kubernetes.names import did_you_mean
from scheduler_core.kubernetes.problems import Problem
from scheduler_core.kubernetes.readers import At, Report, Steps, Unknown, owner_of, path_text, steps_of

LocatedMessage = tuple[At, str]

_OF_MORE = re.compile(r"\d (more|times)\b")
"""In a message that counts objects beside the one at its place."""


def problems_of(findings: Iterable[LocatedMessage]) -> list[Problem]:
    """Return the findings as problems with their lines. Each source's text is traversed once."""
    listed = [(*_origin(at), message) for at, message in findings]
    wanted: dict[int, tuple[SourceText, set[tuple[int, tuple[str | int, ...]]]]] = {}
    for entry, steps, _ in listed:
        if entry.source is not None and entry.source.syntax != "csv" and entry.number is not None:
            places = wanted.setdefault(id(entry.source), (entry.source, set()))[1]
            places.add((entry.number, steps))
    lines = {key: find_lines(source.text, source.syntax, places) for key, (source, places) in wanted.items()}
    out = []
    for entry, steps, message in listed:
        line = None
        if entry.source is not None and entry.number is not None:
            line = lines.get(id(entry.source), {}).get((entry.number, steps))
        name = entry.source.name if entry.source is not None else None
        of_one = "metadata" in entry.value and not _OF_MORE.search(message)
        about = (owner_of(entry.value),) if of_one else None
        out.append(Problem(message, path_text(steps), line, entry.number, name, about=about))
    return out


def _origin(at: At) -> tuple[BundleEntry, Steps]:
    """Return a place's document and path; for an operation of a recording, those of the recorded event."""
    entry: BundleEntry = at.root
    steps = (*entry.prefix, *at.steps)
    if entry.origins and steps[:2] == ("spec", "operations") and len(steps) > 2:
        origin = entry.origins[int(steps[2])]
        if steps[3:5] in (("createOperation", "object"), ("patchOperation", "patch")):
            return origin, (*origin.prefix, *steps[5:])
        return origin, origin.prefix
    return entry, steps


def format_problem(source: SourceText | None, error: FormatError) -> Problem:
    """Return the problem of a text that could not be read at all."""
    line = error.line
    if line is None and source is not None and error.document is not None and source.syntax != "csv":
        place = (error.document, steps_of(error.path))
        line = find_lines(source.text, source.syntax, [place]).get(place)
    return Problem(error.message, error.path, line, error.document, source.name if source else None)


def _times(unknown: Unknown) -> str:
    return f", {unknown.count} times" if unknown.count > 1 else ""


def unknown_findings(report: Report) -> list[LocatedMessage]:
    """Return one warning per path shape with an unknown field."""
    out: list[LocatedMessage] = []
    for shape, unknown in report.unknown.items():
        path = shape_text(shape[1:])
        hint = did_you_mean(str(unknown.at.key), unknown.known)
        message = f"unknown field {path} in {shape[0]}{_times(unknown)}"
        out.append((unknown.at, f"{message}{hint or ': it is kept for export and has no effect'}"))
    return out


def shape_text(shape: tuple[str, ...]) -> str:
    """Format the shape of a path, such as ``spec.template.spec.containers[].resourcez``."""
    return ".".join(shape).replace(".[]", "[]")
