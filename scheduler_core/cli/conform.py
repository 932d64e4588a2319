"""``conform``: decide recorded clusters and print the decisions in the records' own format."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TextIO

from scheduler_core.load import load_documents
from scheduler_core.policy import compile_policy
from scheduler_core.simulation import Simulation
from scheduler_core.trace import conformance_cycle

MAX_LINE = 64 * 1024 * 1024  # characters of one record


def conform_records(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Yield ``{"id", "expect"}`` for each record, or ``{"id", "error"}`` for one that cannot be read."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        record: Any = None
        try:
            if len(line) > MAX_LINE:
                raise ValueError(f"line {number} is longer than {MAX_LINE} characters")
            record = json.loads(line)
            if not isinstance(record, Mapping):
                raise TypeError(f"line {number} must be a JSON object")
            yield {"id": record.get("id"), "expect": decide(record)}
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
            identity = record.get("id") if isinstance(record, Mapping) else None
            yield {"id": identity, "error": str(error) or type(error).__name__}


def decide(record: Mapping[str, Any]) -> dict[str, Any]:
    """Run one record to its end and return its ``expect``.

    Raises:
        BundleError: The objects cannot be read.
        PolicyError: The policy cannot be used.
    """
    objects = record.get("objects")
    if not isinstance(objects, list) or not all(isinstance(obj, Mapping) for obj in objects):
        raise ValueError("objects must be a list of manifests")
    policy = record.get("policy")
    if policy is not None and not isinstance(policy, Mapping):
        raise ValueError("policy must be null or a Policy object")
    compile_policy(policy)
    scenario = load_documents(objects, expand=False, admission=False)
    simulation = Simulation(replace(scenario, policy=policy), unabridged=True)
    cycles = [conformance_cycle(cycle) for cycle in simulation]
    bound = {d.pod: d.node for d in simulation.decisions if d.result == "scheduled"}
    pending = [key for key, node in simulation.placement().items() if not node]
    return {"cycles": cycles, "final": {"bound": bound, "pending": pending, "deleted": simulation.deleted}}


def run(source: TextIO, out: TextIO) -> int:
    """Answer every record of ``source``, one line each, in order; returns the exit status."""
    for answer in conform_records(source):
        out.write(json.dumps(answer, ensure_ascii=False, separators=(",", ":")))
        out.write("\n")
        out.flush()
    return 0
