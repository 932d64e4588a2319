"""Verdicts on contracts: lines of text, JSON, and the documents that other programs read."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any
from xml.etree import ElementTree as ET

from scheduler_core.studies.contracts.verdict import HOLDS, UNCOUNTERED, UNSAID, VIOLATED, Verdict

Verdicts = Sequence[Verdict]
HELP = "https://github.com/podstep/podstep/blob/main/docs/contracts.md"
_MARKS = {HOLDS: "✓", UNCOUNTERED: "✓", VIOLATED: "✗", UNSAID: "?"}
_LEVELS = {VIOLATED: "error", UNSAID: "warning"}
STEPS_SHOWN = 12


def lines(verdicts: Verdicts) -> Iterator[str]:
    """Yield the lines of each verdict."""
    for one in verdicts:
        yield from _lines(one)


def _lines(one: Verdict) -> Iterator[str]:
    yield f"{_MARKS[one.verdict]} {one.contract}: {one.sentence}"
    yield f"    {one.claim}{f' ({one.because})' if one.because else ''}, {one.seconds:.1f} s"
    yield from (f"    {note}" for note in one.notes)
    shown = one.counterexample
    if shown is not None:
        yield f"    {one.played:,} of {one.cases:,} cases played"
        yield f"    shrunk from {shown.found.words} to {shown.extent.words}"
        yield from (
            f"    {step}  {pod} → {node or 'pending'}" for step, pod, node in shown.steps[-STEPS_SHOWN:]
        )
    if one.unsimulated and one.verdict != UNSAID:
        yield f"    not simulated: {', '.join(one.unsimulated)}"


def as_data(verdicts: Verdicts) -> dict[str, Any]:
    """Return all verdicts as JSON."""
    return {"verdicts": [one.as_dict() for one in verdicts]}


def markdown(verdicts: Verdicts) -> str:
    """Return a table, as for the comment on a pull request."""
    rows = "".join(
        f"| {_MARKS[one.verdict]} | {_cell(one.contract)} | {_cell(one.sentence)} | {_cell(one.because)} |\n"
        for one in verdicts
    )
    return f"| | contract | verdict | because |\n| --- | --- | --- | --- |\n{rows}"


def _cell(words: str) -> str:
    return words.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")


def junit(verdicts: Verdicts) -> str:
    """Return a test suite with a case for each contract."""
    suite = ET.Element("testsuite", name="podstep contracts", tests=str(len(verdicts)))
    for attribute, word in (("failures", VIOLATED), ("skipped", UNSAID)):
        suite.set(attribute, str(sum(one.verdict == word for one in verdicts)))
    suite.set("time", f"{sum(one.seconds for one in verdicts):.3f}")
    for one in verdicts:
        case = ET.SubElement(suite, "testcase", name=_printable(one.contract), time=f"{one.seconds:.3f}")
        case.set("classname", _printable(one.file or "contracts"))
        if one.verdict in _ELEMENTS:
            found = ET.SubElement(case, _ELEMENTS[one.verdict], message=_printable(one.sentence))
            found.text = _printable("\n".join(_lines(one)))
    ET.indent(suite)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(suite, "unicode") + "\n"


_ELEMENTS = {VIOLATED: "failure", UNSAID: "skipped"}


def _printable(words: str) -> str:
    """Return a text without what XML cannot have."""
    return "".join(letter if letter.isprintable() or letter == "\n" else "?" for letter in words)


def sarif(verdicts: Verdicts) -> str:
    """Return a run of SARIF 2.1.0; a contract is a rule, at its file and line."""
    rules = {_rule(one): _described(one) for one in verdicts}
    numbers = {rule: number for number, rule in enumerate(rules)}
    driver = {"name": "podstep", "informationUri": HELP, "rules": list(rules.values())}
    results = [_result(one, numbers) for one in verdicts if one.verdict in _LEVELS]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    schema = "https://json.schemastore.org/sarif-2.1.0.json"
    return (
        json.dumps({"$schema": schema, "version": "2.1.0", "runs": [run]}, ensure_ascii=False, indent=2)
        + "\n"
    )


def _rule(one: Verdict) -> str:
    return f"contract/{one.contract}"


def _described(one: Verdict) -> Mapping[str, Any]:
    about = {"shortDescription": {"text": one.claim}, "helpUri": HELP}
    return {"id": _rule(one), **about, **({"fullDescription": {"text": one.because}} if one.because else {})}


def _result(one: Verdict, numbers: Mapping[str, int]) -> Mapping[str, Any]:
    place = {
        "artifactLocation": {"uri": one.file or "contracts.yaml"},
        "region": {"startLine": one.line or 1},
    }
    mark = sha256(f"{one.contract}\0{one.claim}\0{one.verdict}".encode()).hexdigest()
    return {
        "ruleId": _rule(one),
        "ruleIndex": numbers[_rule(one)],
        "level": _LEVELS[one.verdict],
        "message": {"text": one.sentence},
        "locations": [{"physicalLocation": place}],
        "partialFingerprints": {"contract/v1": mark},
    }


FORMATS: Mapping[str, Callable[[Verdicts], str]] = {
    "markdown": markdown,
    "junit": junit,
    "sarif": sarif,
}
"""What writes a document of verdicts, by the name of its format."""
