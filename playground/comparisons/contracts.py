"""Contracts of a source: read as they are typed, and checked in the pool, verdict by verdict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from playground.comparisons import questions
from playground.comparisons.audits import refused
from playground.playback import sources
from playground.pool import parts
from playground.pool.jobs import pool_job
from playground.storage import bundles
from playground.wire import Encoded, encode
from scheduler_core.formats.yaml_writer import write_yaml
from scheduler_core.interrupts import interrupted_by
from scheduler_core.kubernetes.problems import BundleError
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.studies.contracts.check import check, misfits
from scheduler_core.studies.contracts.document import Contract, read_contracts
from scheduler_core.studies.contracts.library import READY, ready_text
from scheduler_core.studies.contracts.names import names_of
from scheduler_core.studies.contracts.report import FORMATS
from scheduler_core.studies.contracts.search import CheckBounds
from scheduler_core.studies.contracts.verdict import Verdict

BUDGET = CheckBounds(cases=1_000, seconds=20.0, shrinking=10.0)
MOST_CONTRACTS = 20
MOST_TEXT = 64 * 1024
MOST_NAMED = 3_000
BUNDLE_BYTES = 512 * 1024
STEPS = 40
TEXT = 1_000  # characters of a sentence


@pool_job
def read(stored: sources.Stored, text: str) -> Encoded:
    """Return the names of the contracts of a text, and its errors with their lines.

    Names that the source does not have are errors, once the text is right by itself. Raises TooMuchWorkError
    and the errors of reading the source.
    """
    contracts, errors = _read(text)
    if contracts:
        scenario = stored.load()
        sources.check_work(scenario)
        with refused():
            errors = bundles.problems_wire(misfits(scenario, contracts))
    return Encoded(encode({"names": [one.name for one in contracts], "errors": errors}))


def ready() -> dict[str, Any]:
    """Return the contracts that are ready."""
    found = ((name, ready_text(name)) for name in READY)
    return {
        "contracts": [
            {"name": name, "because": read_contracts([("", text)])[0].because, "text": text}
            for name, text in found
        ]
    }


def _read(text: str) -> tuple[tuple[Contract, ...], list[dict[str, Any]]]:
    if len(text) > MOST_TEXT:
        return (), [_problem(f"longer than {MOST_TEXT:,} characters: check it in parts")]
    try:
        contracts = read_contracts([("", text)])
    except BundleError as error:
        return (), bundles.problems_wire(error.problems)
    if len(contracts) > MOST_CONTRACTS:
        return (), [_problem(f"more than {MOST_CONTRACTS} contracts: check them in parts")]
    return contracts, []


def _problem(message: str) -> dict[str, Any]:
    return {"message": message, "path": "", "line": None, "document": None}


class NamesQuestion(questions.SourceQuestion, frozen=True):
    """What contracts may name of a source."""

    @property
    def expects(self) -> float:
        """The seconds that an answer takes."""
        return 1.0


@pool_job
def named(stored: sources.Stored) -> Encoded:
    """Return the objects that contracts may name, and nothing else. Raises the errors of reading."""
    found = names_of(stored.load().documents)
    return Encoded(encode({"text": write_yaml(list(islice(found, MOST_NAMED)))}))


@pool_job
def checked(stored: sources.Stored, text: str, form: str = "json") -> Encoded:
    """Check contracts, without the database; each verdict is a part of the answer.

    The answer has the verdicts, or their ``document`` in another form; none if there are ``errors``. Raises
    TooMuchWorkError and the errors of reading the source.
    """
    contracts, errors = _read(text)
    verdicts: list[Verdict] = []
    if not errors:
        scenario = stored.load()
        sources.check_work(scenario)
        try:
            verdicts += _verdicts(scenario, contracts)
        except BundleError as error:
            verdicts, errors = [], bundles.problems_wire(error.problems)
    if form in FORMATS:
        return Encoded(encode({"document": FORMATS[form](verdicts), "errors": errors}))
    return Encoded(encode({"verdicts": [wire_of(one) for one in verdicts], "errors": errors}))


def _verdicts(scenario: Scenario, contracts: Sequence[Contract]) -> Iterator[Verdict]:
    watch, hear = bundles.watching(), parts.heard()
    far = ("", 0, 0)

    def note(contract: str, done: int, of: int) -> None:
        nonlocal far
        far = (contract, done, of)
        watch(*far)

    with refused(), interrupted_by(lambda: watch(*far)):
        for verdict in check(scenario, contracts, BUDGET, note):
            hear(wire_of(verdict))
            yield verdict


def wire_of(verdict: Verdict) -> dict[str, Any]:
    """Return a verdict as the protocol's ``Verdict``, of bounded size."""
    made = verdict.as_dict()
    made["sentence"] = made["sentence"][:TEXT]
    shown = verdict.counterexample
    if shown is not None:
        text = write_yaml(shown.documents)
        kept = text if len(text.encode()) <= BUNDLE_BYTES else ""
        found = made["counterexample"]
        made["counterexample"] = {**found, "steps": found["steps"][-STEPS:], "bundle": kept}
    return made
