"""Audits of a source: rows as the pool computes them, and as a whole, kept for whoever asks next."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

from playground.calls.faults import RequestFieldError
from playground.calls.requests import Parameter, Request, Texts
from playground.comparisons import questions
from playground.comparisons.questions import SourceQuestion
from playground.playback import sources
from playground.pool import parts
from playground.pool.jobs import pool_job
from playground.storage import bundles
from playground.wire import Encoded, encode
from scheduler_core.interrupts import interrupted_by
from scheduler_core.kubernetes.plain import plain
from scheduler_core.kubernetes.problems import BundleError, PolicyError
from scheduler_core.studies.audit.allowance import AuditBounds
from scheduler_core.studies.audit.audit import SUBJECTS, audit
from scheduler_core.studies.audit.capacity import of_pod
from scheduler_core.studies.audit.cluster import AuditedCluster
from scheduler_core.studies.audit.row import AuditRow
from scheduler_core.studies.audit.sample import NoPodError, chosen, sample

BOUNDS = AuditBounds(seconds=30.0, cases=200)
MOST_TARGETS = 200  # of a branch that a row opens
EVIDENCE, TEXT = 24, 1_000  # texts of a row, and characters of each
MOST_REPLICAS = 2_000


class AuditQuestion(SourceQuestion, frozen=True):
    """What is asked: the subjects of a source, in their order."""

    subjects: tuple[str, ...]


_Subjects = Parameter(
    "subject", f"Separated by commas, of: {', '.join(SUBJECTS)}; all by default", separated=True
)


class AuditRequest(Request):
    """What of a cluster is audited."""

    subjects: Annotated[Texts, _Subjects] | None = None


def question_of(source: sources.Source, asked: AuditRequest) -> AuditQuestion:
    """Return what is asked of a source, all subjects if none is named. Raises RequestFieldError."""
    wanted = {one for one in asked.subjects or () if one}
    for one in wanted - SUBJECTS.keys():
        known = ", ".join(SUBJECTS)
        raise RequestFieldError("subjects", f"subject {one[:40]!r} is unknown: it is one of {known}.")
    return AuditQuestion(source, tuple(name for name in SUBJECTS if name in (wanted or SUBJECTS)))


def answered(asked: AuditQuestion) -> Encoded:
    """Return the answer as JSON, to a request of the API. Raises what :func:`questions.answered` raises."""
    return questions.answered(asked, computed)


@pool_job
def computed(stored: sources.Stored, subjects: tuple[str, ...]) -> Encoded:
    """Audit, without the database; each row is a part of the answer.

    Raises TooMuchWorkError and the errors of reading.
    """
    scenario = stored.load()
    sources.check_work(scenario)
    watch, hear = bundles.watching(), parts.heard()
    far = ("", 0, 0)

    def watched(stage: str, done: int, of: int) -> None:
        nonlocal far
        far = (stage, done, of)
        watch(*far)

    rows = []
    with refused(), interrupted_by(lambda: watch(*far)):
        for row in audit(scenario, BOUNDS, subjects, watched):
            rows.append(wire_of(row))
            hear(rows[-1])
    return Encoded(encode({"rows": rows}))


@pool_job
def counted(stored: sources.Stored, text: str, replicas: int) -> Encoded:
    """Return the row on how many of a pod fit, whose manifest, or that of a workload, is given.

    Raises RequestFieldError, TooMuchWorkError and the errors of reading.
    """
    scenario = stored.load()
    sources.check_work(scenario)
    watch = bundles.watching()
    with refused(), interrupted_by(lambda: watch("counting", 0, 0)):
        asked = AuditedCluster(scenario)
        cluster = asked.living
        try:
            manifest = sample(cluster, chosen(bundles.parse([("", text)]).documents))
        except NoPodError as error:
            message = str(error)
            raise RequestFieldError("text", f"{message[0].upper()}{message[1:]}.") from error
        return Encoded(encode(wire_of(cluster.answered(of_pod(cluster, manifest, replicas), asked))))


@contextmanager
def refused() -> Iterator[None]:
    """Raise BundleError for a configuration that cannot be used."""
    try:
        yield
    except PolicyError as error:
        raise BundleError(error.problems) from error


def wire_of(row: AuditRow) -> dict[str, Any]:
    """Return a row as the protocol's ``AuditRow``, of bounded size."""
    made: dict[str, Any] = plain(row)
    left = len(row.evidence) - EVIDENCE
    more = [f"and {left:,} more"] if left > 0 else []
    subject = SUBJECTS[row.subject]
    if row.opens is not None and len(row.opens.targets) > MOST_TARGETS:
        made["opens"] = None
    return made | {
        "sentence": row.sentence[:TEXT],
        "evidence": [*(text[:TEXT] for text in row.evidence[:EVIDENCE]), *more],
        "title": subject.title,
        "question": subject.question,
    }
