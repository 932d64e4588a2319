"""Recorded decisions of the descheduler: run one record once, and answer in the records' format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from scheduler_core.cluster.descheduler.lister import DisruptionsAllowed, Listing
from scheduler_core.cluster.descheduler.policy import V1ALPHA1, V1ALPHA2, PolicyRefusedError, refusals_of
from scheduler_core.cluster.descheduler.reader import parse_policy
from scheduler_core.cluster.descheduler.record import EVICTED, RunRecord
from scheduler_core.cluster.descheduler.runner import Flags, evict_by, run_policy
from scheduler_core.cluster.descheduler.strategy import CLASSIC
from scheduler_core.cluster.v1_37.objects import Manifest
from scheduler_core.formats.bundle import read_files
from scheduler_core.formats.limits import Limits
from scheduler_core.kubernetes.times import seconds_of

NOW = seconds_of("2026-06-30T00:00:00Z") or 0.0
"""When the records' runs take place; their pods were created in 2020."""


def answer(record: Mapping[str, Any]) -> dict[str, Any]:
    """Answer one record: ``{"id", "expect"}``.

    Raises:
        ValueError: The record does not have the format of ``descheduler.jsonl.gz``.
    """
    config, objects = record.get("config"), record.get("objects")
    if not isinstance(config, Mapping) or not isinstance(config.get("policy"), str):
        raise ValueError("config must be an object with the policy's text")
    if not isinstance(objects, list) or not all(isinstance(obj, Mapping) for obj in objects):
        raise ValueError("objects must be a list of manifests")
    by_kind: dict[str, list[Manifest]] = {}
    for obj in objects:
        by_kind.setdefault(str(obj.get("kind")), []).append(dict(obj))
    try:
        run = _run(config, by_kind)
    except PolicyRefusedError as error:
        return {"id": record.get("id"), "expect": {"error": str(error)}}
    return {
        "id": record.get("id"),
        "expect": _answer(run, is_classic=config.get("implementation") == CLASSIC),
    }


def _run(config: Mapping[str, Any], objects: Mapping[str, list[Manifest]]) -> RunRecord:
    is_classic = config.get("implementation") == CLASSIC
    policy = parse_policy(_document(config["policy"]), (V1ALPHA1,) if is_classic else (V1ALPHA2,))
    classes = {one["metadata"]["name"]: one.get("value") or 0 for one in objects.get("PriorityClass", ())}
    refusals = refusals_of(policy, classes)
    if refusals:
        raise PolicyRefusedError(refusals)
    flags = _flags(config.get("flags") or {})
    evict = evict_by(policy.edition, flags, DisruptionsAllowed(objects.get("PodDisruptionBudget", [])).evict)
    return run_policy(policy, Listing(objects, NOW, evict), flags, classes)


def _document(text: str) -> Mapping[str, Any]:
    bundle = read_files((("policy.yaml", text),), Limits())
    if bundle.errors:
        raise ValueError(str(bundle.errors[0][1]))
    return bundle.entries[0].value if bundle.entries else {}


def _flags(flags: Mapping[str, Any]) -> Flags:
    return Flags(
        dry_run=bool(flags.get("dry-run")),
        node_selector=str(flags.get("node-selector") or ""),
        most_per_node=int(flags.get("max-pods-to-evict-per-node") or 0),
        evict_local_storage=bool(flags.get("evict-local-storage-pods")),
    )


def _answer(run: RunRecord, *, is_classic: bool) -> dict[str, Any]:
    evicted = list(run.evictions)
    refused = {v.pod for one in run.strategies for v in one.verdicts if v.budget and v.outcome != EVICTED}
    expect: dict[str, Any] = {
        "error": None,
        "evicted": {verdict.pod: strategy for strategy, verdict in evicted},
        "evictedCount": [len(evicted), len(evicted)],
        "evictedInSomeRuns": [],
        "perNode": dict(sorted(Counter(verdict.node for _, verdict in evicted).items())),
        "perStrategy": dict(sorted(Counter(strategy for strategy, _ in evicted).items())),
        "refusedByPDB": sorted(refused),
        "refusedByPDBInSomeRuns": [],
    }
    if is_classic:
        expect["order"] = [verdict.pod for _, verdict in evicted]
    return expect
