"""What extenders were asked in a cycle and what they answered: ``extenders`` of the trace's line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Protocol

from msgspec import Meta, Struct

from scheduler_core.kubernetes.plain import Count, one_of
from scheduler_core.schedulers.extenders.configuration import VERBS, Verb

SHOWN = 4_000  # characters of a request or a response that are kept
SOURCES = ("declared", "recorded", "live", "not called")
PHASE_OF: Mapping[Verb, str] = {
    "filter": "predicates",
    "prioritize": "priorities",
    "preempt": "preemption",
    "bind": "bind",
}
"""The phase of an attempt in which a verb is called."""


class CallRecord(Struct, frozen=True, rename="camel"):
    """A call of an extender, with its outcome as the scheduler took it."""

    extender: Annotated[str, Meta(description="Its urlPrefix, numbered if several have it.")]
    verb: Annotated[str, one_of(VERBS)]
    url: str
    source: Annotated[
        str,
        one_of(SOURCES),
        Meta(
            description="Whence the answer: declared in the scenario, recorded in an earlier run, called. "
            "not called: neither is there an answer nor is the URL approved; the extender has no effect."
        ),
    ]
    request: Annotated[str, Meta(description=f"What was posted, its first {SHOWN:,} characters.")]
    request_bytes: Count
    status: Annotated[int | None, Meta(description="Of HTTP; null if there was no answer.")]
    response: Annotated[str, Meta(description=f"What was answered, its first {SHOWN:,} characters.")]
    response_bytes: Count
    seconds: Annotated[float, Meta(ge=0, description="How long it took, or is declared to take.")]
    outcome: Annotated[
        Literal["answered", "ignored", "failed", "not called"],
        Meta(
            description="ignored: an error of an extender that is ignorable, or of its scores; failed: an "
            "error that ends the attempt, or preemption."
        ),
    ]
    error: str
    notes: Annotated[
        Sequence[str], Meta(description="In what the answer is other than what the extender was asked for.")
    ]


class ExtenderRecord(Struct, frozen=True):
    """The calls of one attempt, in order."""

    calls: tuple[CallRecord, ...]

    @property
    def marks(self) -> tuple[Any, ...]:
        """None: an extender has no state here."""
        return ()

    def up_to(self, phases: Sequence[str]) -> ExtenderRecord:
        """Return the calls of the phases that have run."""
        return ExtenderRecord(tuple(call for call in self.calls if PHASE_OF[call.verb] in phases))  # type: ignore[index]

    def fields(self) -> dict[str, Any]:
        """Return the field that it adds to the cycle's trace line."""
        return {"extenders": self.calls}


FIELDS: Mapping[str, Any] = {
    "extenders": Annotated[
        Sequence[CallRecord],
        Meta(description="Only where extenders are configured: the calls of the attempt, in order."),
    ]
}


class _Recorded(Protocol):
    @property
    def plugins(self) -> Sequence[Any]: ...


def extender_record(cycle: _Recorded) -> ExtenderRecord | None:
    """Return the record of a cycle's calls, ``None`` without extenders."""
    return next((record for record in cycle.plugins if isinstance(record, ExtenderRecord)), None)
