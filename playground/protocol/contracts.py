"""What is sent of contracts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypedDict

from playground.protocol.page import ProblemWire


class ExtentWire(TypedDict):
    """How large a counterexample is."""

    events: int
    replicas: int
    nodes: int
    seconds: float


class RecordedStepWire(TypedDict):
    """A decision before the breach; the node is "" where there is none."""

    step: str
    pod: str
    node: str


class CounterexampleWire(TypedDict):
    """A case in which a claim does not hold, before and after it was shrunk, and the bundle that plays it."""

    events: Sequence[str]
    subject: str
    second: float
    step: str
    facts: Mapping[str, float]
    found: ExtentWire
    shrunk: ExtentWire
    steps: Sequence[RecordedStepWire]
    bundle: str


class VerdictWire(TypedDict):
    """The verdict on a contract."""

    contract: str
    claim: str
    verdict: str
    sentence: str
    cases: int
    played: int
    classes: int
    seconds: float
    seed: int | None
    because: str
    file: str
    line: int | None
    unsimulated: Sequence[str]
    notes: Sequence[str]
    counterexample: CounterexampleWire | None


class ContractsCheckedWire(TypedDict):
    """The verdicts, in the order of the contracts; none if there are errors."""

    verdicts: Sequence[VerdictWire]
    errors: Sequence[ProblemWire]


class VerdictPushedWire(TypedDict):
    """A verdict of a request that is being answered."""

    request: int
    verdict: VerdictWire


class ContractsReadWire(TypedDict):
    """The names of the contracts of a text, and what is wrong with it."""

    names: Sequence[str]
    errors: Sequence[ProblemWire]


class ContractNamesWire(TypedDict):
    """What contracts may name of a source, as documents with names and, of nodes, labels."""

    text: str


class ReadyContractWire(TypedDict):
    """A contract that is ready: its text names the public thread that it comes from."""

    name: str
    because: str
    text: str


class ReadyContractsWire(TypedDict):
    """Those that are ready."""

    contracts: Sequence[ReadyContractWire]
