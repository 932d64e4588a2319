"""What is sent of an audit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict


class OpeningWire(TypedDict):
    """What a row opens: a step of this source, or a branch of it at a step."""

    kind: str
    verb: str
    targets: Sequence[str]
    value: str
    second: float
    step: str
    pod: str
    assumed: bool
    under: str


class AuditRowWire(TypedDict):
    """An answer: a sentence with its verdict, what it rests on, and what shows it."""

    subject: str
    title: str
    question: str
    verdict: str
    sentence: str
    evidence: Sequence[str]
    about: Sequence[str]
    opens: OpeningWire | None
    under: str


class AuditWire(TypedDict):
    """All rows, in the order of the subjects."""

    rows: Sequence[AuditRowWire]


class AuditRowPushedWire(TypedDict):
    """A row of a request that is being answered."""

    request: int
    row: AuditRowWire
