"""Clusters to start with: small ones written by hand, and a large one that is generated."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

import yaml
from msgspec import Struct

from scheduler_core.authoring.examples.large import large_cluster
from scheduler_core.kubernetes.model import Node, Pod
from scheduler_core.scenario.scenario import Scenario


def _text(name: str) -> str:
    return files(__name__).joinpath(name).read_text(encoding="utf-8")


def trace_files() -> list[tuple[str, str]]:
    """Return the shipped excerpt of a GPU trace as (file name, CSV): nodes and pods."""
    return [(name, _text(name)) for name in ("gpu-trace.nodes.csv", "gpu-trace.pods.csv")]


def _gpu_trace() -> str:
    from scheduler_core.scenario.load import load

    return load(trace_files()).to_yaml()


_ANSWERED_BY = "---\napiVersion: podstep/v1\nkind: SimulationSettings\nscheduler: v1.11\n"
"""The settings with the release of a generated example; the files of the others have their own."""

_GENERATED: dict[str, Callable[[], str]] = {"five-hundred": large_cluster, "gpu-trace": _gpu_trace}


class Claim(Struct, frozen=True):
    """An example's claim about its result under some modes of the equivalence cache; tests verify it.

    A mode is a ``cache`` setting, with ``/`` and a ``staleWrites`` setting where that matters.
    """

    modes: tuple[str, ...]
    placed: int  # in the run; pods bound from the start do not count
    waiting: int = 0
    stale: int = 0  # stale hits of the whole run
    hits: int = 0  # 0 if not claimed, as for evaluations
    evaluations: int = 0
    step: str = ""  # the last cycle with a stale hit, which decides wrongly
    node: str = ""  # where that cycle's pod is placed and does not fit, or fits and is not placed
    cause: str = ""  # the audit's cause of every stale hit
    holds: tuple[tuple[str, int, int], ...] = ()  # on the node in the end: what, how much, how much it should

    @property
    def counts(self) -> tuple[str, ...]:
        """The numbers as the start page shows them, each with what is counted."""
        counted = (
            (self.placed, "placed"),
            (self.waiting, "waits" if self.waiting == 1 else "wait"),
            (self.hits, "hits"),
            (self.evaluations, "evaluations"),
        )
        held = tuple(
            f"{there} {what} on {self.node} where {most} {'fits' if most == 1 else 'fit'}"
            for what, there, most in self.holds
        )
        return tuple(f"{number:,} {what}" for number, what in counted if number) + held


@dataclass(frozen=True, slots=True)
class ExpectedOutcome:
    """An example's claim about its result in virtual time; tests verify it.

    ``running``, ``pending``, ``succeeded`` and ``terminating`` count the pods in the end, ``refused`` those
    that the kubelet refused in the run, ``evicted`` those that schedulers evicted, ``descheduled`` those
    that the descheduler did. ``phases`` are those that each PodGroup goes through in turn, ``members`` how
    many of its pods run in the end.
    """

    running: int = 0
    pending: int = 0
    succeeded: int = 0
    terminating: int = 0
    refused: int = 0
    evicted: int = 0
    descheduled: int = 0
    phases: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    members: Mapping[str, int] = field(default_factory=dict, hash=False)


class Example(Struct, frozen=True):
    """One example, as described in the index. ``slug`` is its address.

    It belongs to the ``group`` of that title, if any, and opens at ``step`` in the ``tab``.
    """

    slug: str
    title: str
    text: str  # a sentence or two
    group: str = ""
    step: str = ""
    tab: str = ""
    claims: tuple[Claim, ...] = ()
    outcome: ExpectedOutcome | None = None

    def read(self) -> str:
        """Return the bundle's text, as a user would have pasted it."""
        generate = _GENERATED.get(self.slug)
        if generate is None:
            return _text(f"{self.slug}.yaml")
        text = generate() + _ANSWERED_BY
        return text if text.startswith("#") else f"# {self.text}\n{text}"

    def load(self) -> Scenario:
        """Return the example as a Scenario."""
        from scheduler_core.scenario.load import load

        return load(self.read(), title=self.title)

    def counts(self) -> tuple[int, int]:
        """Return how many nodes and pods there are over the whole history."""
        return _counts(self)


@cache
def _counts(example: Example) -> tuple[int, int]:
    scenario = example.load()
    created = [op.object for op in scenario.operations if op.action == "create"]
    everything = [*scenario.objects, *created]
    nodes = sum(isinstance(o, Node) for o in everything)
    return nodes, sum(isinstance(o, Pod) for o in everything)


@cache
def examples() -> tuple[Example, ...]:
    """Return all examples in the order of the index."""
    return tuple(_example(row) for row in yaml.safe_load(_text("index.yaml")))


def _example(row: Mapping[str, Any]) -> Example:
    claims = tuple(_claim(claim) for claim in row.get("claims", ()))
    outcome = _outcome(row["outcome"]) if "outcome" in row else None
    return Example(**{**row, "claims": claims, "outcome": outcome})


def _outcome(row: Mapping[str, Any]) -> ExpectedOutcome:
    phases = {group: tuple(through) for group, through in row.get("phases", {}).items()}
    return ExpectedOutcome(**{**row, "phases": phases})


def _claim(row: Mapping[str, Any]) -> Claim:
    holds = tuple((what, there, most) for what, (there, most) in row.get("holds", {}).items())
    return Claim(**{**row, "modes": tuple(row["modes"]), "holds": holds})


def find(slug: str) -> Example | None:
    """Return the example with that slug, or None."""
    return next((example for example in examples() if example.slug == slug), None)
