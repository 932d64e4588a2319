"""What a check of a contract comes to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from scheduler_core.kubernetes.manifests import Document
from scheduler_core.studies.contracts.case import Breach, RecordedStep, numbers

HOLDS, UNCOUNTERED, VIOLATED, UNSAID = "holds", "no counterexample", "violated", "cannot say"
VERDICTS = (HOLDS, UNCOUNTERED, VIOLATED, UNSAID)


class Extent(Struct, frozen=True):
    """How large a counterexample is."""

    events: int
    replicas: int
    nodes: int
    seconds: float

    @property
    def words(self) -> str:
        """The extent, for people."""
        parts = ((self.events, "event"), (self.replicas, "replica"), (self.nodes, "node"))
        counts = ", ".join(f"{count:,} {noun}{'' if count == 1 else 's'}" for count, noun in parts)
        return f"{counts}, {self.seconds:g} s"


class Counterexample(Struct, frozen=True):
    """A case in which the claim does not hold: what happens, where it shows, and the bundle that plays it.

    ``found`` is its extent before it was shrunk to ``extent``; ``steps`` are the recorded decisions.
    """

    history: tuple[str, ...]
    breach: Breach
    found: Extent
    extent: Extent
    documents: Sequence[Document]
    steps: tuple[RecordedStep, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON, without its documents."""
        return {
            "events": list(self.history),
            "subject": self.breach.subject,
            "second": self.breach.second,
            "step": self.breach.step,
            "facts": numbers(self.breach.facts),
            "found": _extent(self.found),
            "shrunk": _extent(self.extent),
            "steps": [{"step": step, "pod": pod, "node": node} for step, pod, node in self.steps],
        }


class Verdict(Struct, frozen=True):
    """A verdict: its word, ``played`` of ``cases``, which are in ``classes``, 0 where that is unknown.

    ``unsimulated`` names the fields that matter and are not simulated; ``notes`` say how cases were
    played, ``reason`` why none was.
    """

    contract: str
    claim: str
    verdict: str
    cases: int
    played: int
    classes: int
    seconds: float
    because: str = ""
    seed: int | None = None
    counterexample: Counterexample | None = None
    unsimulated: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    reason: str = ""
    file: str = ""
    line: int | None = None

    @property
    def sentence(self) -> str:
        """The verdict in one sentence."""
        return _SENTENCES[self.verdict](self)

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON."""
        shown = self.counterexample
        return {
            "contract": self.contract,
            "claim": self.claim,
            "verdict": self.verdict,
            "sentence": self.sentence,
            "cases": self.cases,
            "played": self.played,
            "classes": self.classes,
            "seconds": round(self.seconds, 3),
            "seed": self.seed,
            "because": self.because,
            "file": self.file,
            "line": self.line,
            "unsimulated": list(self.unsimulated),
            "notes": list(self.notes),
            "counterexample": None if shown is None else shown.as_dict(),
        }


def _extent(one: Extent) -> Mapping[str, float]:
    return {"events": one.events, "replicas": one.replicas, "nodes": one.nodes, "seconds": one.seconds}


def _cases(count: int) -> str:
    return f"{count:,} case{'' if count == 1 else 's'}"


def _holds(one: Verdict) -> str:
    classes = "1 class" if one.classes == 1 else f"{one.classes:,} classes"
    alike = f", in {classes} of which {one.played:,} cases were played"
    return f"holds (all {_cases(one.cases)}{alike if one.classes < one.cases else ''})"


def _uncountered(one: Verdict) -> str:
    seeded = f", seed {one.seed}" if one.seed is not None else ""
    return f"no counterexample in {one.played:,} of {_cases(one.cases)}{seeded}"


def _violated(one: Verdict) -> str:
    shown = one.counterexample
    assert shown is not None
    facts = ", ".join(f"{name} = {value}" for name, value in numbers(shown.breach.facts).items())
    events = ", then ".join(shown.history) or "without any event"
    where = f"{shown.breach.subject} at {shown.breach.second:g} s, step {shown.breach.step}"
    return f"violated: {events}: {facts} for {where}"


def _unsaid(one: Verdict) -> str:
    if one.reason:
        return f"cannot say: {one.reason}"
    verb = "is" if len(one.unsimulated) == 1 else "are"
    return f"cannot say: {', '.join(one.unsimulated)} {verb} not simulated"


_SENTENCES = {HOLDS: _holds, UNCOUNTERED: _uncountered, VIOLATED: _violated, UNSAID: _unsaid}
