"""Contract documents to :class:`Contract`, with every problem at its line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from scheduler_core.formats.bundle import Bundle, BundleEntry, File, read_files
from scheduler_core.formats.limits import Limits
from scheduler_core.formats.problems import format_problem, problems_of, unknown_findings
from scheduler_core.formats.skipped_kinds import Skipped
from scheduler_core.kubernetes.durations import duration
from scheduler_core.kubernetes.fields_common import LABEL_SELECTOR
from scheduler_core.kubernetes.problems import BundleError, Problem
from scheduler_core.kubernetes.readers import (
    At,
    Field,
    Report,
    enum,
    integer,
    list_of,
    outlined,
    record,
    show,
    text,
)
from scheduler_core.studies.contracts.conditions import Condition, ConditionError, read_condition
from scheduler_core.studies.contracts.nemeses import Nemesis, read_nemesis
from scheduler_core.studies.contracts.subjects import EVERY, SUBJECT_KINDS, SubjectChoice

KIND, VERSION = "Contract", "podstep/v1"
MODES = ("always", "never", "eventually", "finally")
"""When a condition has to hold: at every second of the window, at none, at one of them, or at its end."""
WITHIN, SHORTEST, LONGEST = 600.0, 1.0, 86_400.0
APART = (60.0,)
GAPS = 6
MOST_CONTRACTS = 100
MOST_NEMESES = 6
MOST_CASES = 100_000
LIMITS = Limits(size=2**20, files=16, documents=1_000, values=50_000)


class Contract(Struct, frozen=True):
    """A claim: ``mode`` and ``condition`` over the pods of ``subject``, whatever of ``when`` happens.

    ``within`` is the window in seconds, from the first event on until so long after the last one; events are
    one of ``apart`` seconds apart. ``cases`` is how many seeded random ones to play, 0 where all are wanted.
    """

    name: str
    when: tuple[Nemesis, ...]
    mode: str
    condition: Condition
    subject: SubjectChoice
    at: At
    within: float = WITHIN
    apart: tuple[float, ...] = APART
    because: str = ""
    cases: int = 0

    @property
    def claim(self) -> str:
        """The condition with its mode, as it is written."""
        return f"{self.mode}: {self.condition.text}"

    @property
    def problem(self) -> Problem:
        """The place of the contract, as a problem without a message."""
        return problems_of([(self.at.child("metadata").child("name"), "")])[0]


def read_contracts(files: Sequence[File]) -> tuple[Contract, ...]:
    """Read the contracts of files. Raises BundleError with every problem."""
    bundle = read_files(files, LIMITS)
    report = Report()
    found = [_read(entry, report) for entry in bundle.entries]
    contracts = tuple(one for one in found if one is not None)
    _check_names(contracts)
    problems = [format_problem(*error) for error in bundle.errors] + _count_problems(bundle)
    raise_problems(report, problems)
    return contracts


def raise_problems(report: Report, problems: Sequence[Problem] = ()) -> None:
    """Raise BundleError if a report has findings: a field that is misspelt is an error here."""
    found = [*problems, *problems_of([*report.errors, *unknown_findings(report)])]
    if found:
        raise BundleError(sorted(found, key=Problem.place))


def _count_problems(bundle: Bundle) -> list[Problem]:
    if len(bundle.entries) > MOST_CONTRACTS:
        return [Problem(f"more than {MOST_CONTRACTS} contracts: check them file by file")]
    if not bundle.entries and not bundle.errors:
        return [Problem(f"holds no contract: a document of apiVersion {VERSION} and kind {KIND} is expected")]
    return []


def _read(entry: BundleEntry, report: Report) -> Contract | None:
    at = At(report, None, entry)
    if isinstance(entry.value, Skipped):
        at.error(entry.value.reason)
        return None
    found: Contract | None = _contract(entry.value, at)
    return found


def _check_names(contracts: Sequence[Contract]) -> None:
    """Report names that two contracts have: reports tell contracts by them."""
    named: dict[str, Contract] = {}
    for one in contracts:
        first = named.setdefault(one.name, one)
        if first is not one:
            place = one.at.child("metadata").child("name")
            place.error(f"{show(one.name)} is the name of the contract in line {first.problem.line}, too")


# --- the schema


def _condition(value: Any, at: At) -> Condition | None:
    written = text(value, at)
    if written is None:
        return None
    try:
        return read_condition(written)
    except ConditionError as error:
        at.error(str(error))
        return None


outlined(_condition, text)


def _window(value: Any, at: At) -> float | None:
    seconds = duration(value, at)
    if seconds is not None and not SHORTEST <= seconds <= LONGEST:
        at.error(f"is a window from {SHORTEST:g}s to 24h after the last event, not {show(value)}")
        return None
    return seconds


def _apart(value: Any, at: At) -> tuple[float, ...] | None:
    """Read a duration, or a range of them as :data:`GAPS` of it."""
    ends = [duration(part, at) for part in (value.split("..", 1) if isinstance(value, str) else [value])]
    if None in ends:
        return None
    low, high = ends[0] or 0.0, ends[-1] or 0.0
    if low > high or high > LONGEST:
        at.error(f"events are at most 24h apart, and a range rises, as in 30s..10m, not {show(value)}")
        return None
    return gaps_of(low, high)


def gaps_of(low: float, high: float) -> tuple[float, ...]:
    """Return both ends of a range, and those between that grow by a factor."""
    least = max(low, 1.0)
    grown = [least * (max(high, least) / least) ** (place / (GAPS - 1)) for place in range(GAPS)]
    return tuple(sorted({low, high, *(float(round(one)) for one in grown if low < one < high)}))


_every = enum(*EVERY)


def _label_selector(value: Any, at: At) -> Any:
    return None if LABEL_SELECTOR(value, at) is None else value


outlined(_label_selector, LABEL_SELECTOR)
_subject = record(
    lambda **given: given,
    {
        "kind": Field("kind", enum(*SUBJECT_KINDS)),
        "name": Field("name", text),
        "namespace": Field("namespace", text),
        "selector": Field("selector", _label_selector),
        "every": Field("every", _every),
    },
)


def _read_subject(value: Any, at: At) -> SubjectChoice | None:
    found = _subject(value, at)
    if found is None:
        return None
    ways = [name for name in ("kind", "selector", "every") if name in found]
    if len(ways) > 1 or ("kind" in found) != ("name" in found):
        at.error("names one workload by kind and name, or has a selector, or every: Deployment")
        return None
    return SubjectChoice(**found, at=at)


outlined(_read_subject, _subject)
_spec = record(
    lambda **given: given,
    {
        "for": Field("subject", _read_subject),
        "when": Field("when", list_of(read_nemesis)),
        "within": Field("within", _window),
        "apart": Field("apart", _apart),
        "because": Field("because", text),
        "cases": Field("cases", integer(1, MOST_CASES)),
        **{mode: Field(mode, _condition) for mode in MODES},
    },
)
_meta = record(
    lambda **given: given,
    {"name": Field("name", text, required=True)},
    "namespace labels annotations uid creationTimestamp",
)
CONTRACT = record(
    lambda **given: given,
    {
        "apiVersion": Field("version", enum(VERSION), required=True),
        "kind": Field("kind", enum(KIND), required=True),
        "metadata": Field("meta", _meta, required=True),
        "spec": Field("spec", _spec, required=True),
    },
)
"""Reads a Contract, and is what editors complete from."""


def _contract(value: Any, at: At) -> Contract | None:
    found = CONTRACT(value, at)
    if found is None:
        return None
    return _built(found["meta"]["name"], dict(found["spec"]), at, value["spec"])


def _built(name: str, spec: dict[str, Any], at: At, written: Mapping[str, Any]) -> Contract | None:
    place = at.child("spec")
    when = spec.get("when", ())
    if len(when) > MOST_NEMESES:
        place.child("when").error(f"has at most {MOST_NEMESES} nemeses, not {len(when)}")
    modes = [mode for mode in MODES if written.get(mode) is not None]
    if len(modes) != 1:
        place.error(f"has exactly one of {', '.join(MODES)}, as in always: ready >= 4")
        return None
    if modes[0] not in spec:
        return None
    condition = spec.pop(modes[0])
    given = {key: spec[key] for key in ("within", "apart", "because", "cases") if key in spec}
    subject = spec.get("subject") or SubjectChoice()
    return Contract(name, tuple(when), modes[0], condition, subject, at, **given)
