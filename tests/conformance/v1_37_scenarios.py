"""Recorded runs of kube-scheduler v1.37 as scenarios: objects, steps, configuration and feature gates."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scheduler_core import Scenario, load_documents
from scheduler_core.kubernetes.problems import BundleError
from scheduler_core.schedulers.v1_37.clock import SECOND
from scheduler_core.schedulers.v1_37.config import read_configuration
from scheduler_core.schedulers.v1_37.releases import dialect_of
from scheduler_core.schedulers.v1_37.run import SchedulerRun
from scheduler_core.schedulers.v1_37.state import uid_of

DATA = Path(__file__).parent / "data"
OWNERS = ("ReplicaSet", "StatefulSet", "ReplicationController")


def records(name: str, first: int = 0, count: int = 10_000) -> Iterator[dict[str, Any]]:
    """Yield recorded runs."""
    with gzip.open(DATA / f"scheduler-v1.37-{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        for number, line in enumerate(file):
            if first <= number < first + count:
                yield json.loads(line)


def written(manifest: dict[str, Any]) -> dict[str, Any]:
    """Return a recorded object as it is written in a bundle.

    A pod gets the uid that the recorder gave it, by which claims name their owner; a controller, recorded
    for its selector, gets a template and no replicas.
    """
    spec = manifest.get("spec") or {}
    if manifest["kind"] == "Pod":
        return {**manifest, "metadata": {**manifest["metadata"], "uid": uid_of(manifest)}}
    if manifest["kind"] not in OWNERS or spec.get("template"):
        return manifest
    selector = spec.get("selector") or {}
    labels = selector.get("matchLabels", selector) or {"app": "none"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    return {**manifest, "spec": {**spec, "replicas": 0, "template": template}}


def operation(number: int, major: int, seconds: float, step: dict[str, Any]) -> dict[str, Any]:
    """Return a recorded step as an operation at a second; one that lets time pass creates a PriorityClass."""
    meta = {key: step[key] for key in ("name", "namespace") if step.get(key)}
    target = {"typeMeta": {"kind": step.get("kind")}, "objectMeta": meta}
    if step["do"] == "patch":
        body: dict[str, Any] = {"patchOperation": {**target, "patch": step["patch"], "patchType": "merge"}}
    elif step["do"] == "delete":
        body = {"deleteOperation": target}
    else:
        version = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass"}
        tick = {**version, "metadata": {"name": f"tick-{number}"}, "value": 1}
        body = {"createOperation": {"object": written(step.get("object", tick))}}
    return {"id": str(number), "step": {"major": major}, "time": seconds, **body}


def release_of(record: dict[str, Any]) -> str:
    """Return the release that a record is of."""
    return str(record.get("release", "v1.37"))


def _started(record: dict[str, Any]) -> SchedulerRun:
    dialect = dialect_of(release_of(record))
    run = SchedulerRun(read_configuration(record.get("config"), record.get("featureGates"), dialect))
    run.start(record["objects"])
    return run


def end_of(record: dict[str, Any]) -> float:
    """Return the second at which a record ends."""
    run = _started(record)
    for step in record.get("steps", []):
        run.take(step)
    return run.clock.now / SECOND


def operations(record: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the recorded steps as operations, at the times at which the record's clock has them.

    Those up to the first step without ``hold`` land together.
    """
    run = _started(record)
    out: list[dict[str, Any]] = []
    major = 1
    for number, step in enumerate(record.get("steps", []), 1):
        passed = round(step.get("seconds", 0) * SECOND)
        out.append(operation(number, major, (run.clock.now + passed) / SECOND, step))
        run.take(step)
        major += not step.get("hold")
    return out


def documents_of(record: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a record as the documents of a bundle."""
    settings: dict[str, Any] = {
        "apiVersion": "podstep/v1",
        "kind": "SimulationSettings",
        "scheduler": release_of(record),
    }
    if record.get("featureGates"):
        settings["featureGates"] = record["featureGates"]
    documents = [*map(written, record["objects"]), settings]
    if record.get("config"):
        version = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
        documents.append({**record["config"], **version})
    if record.get("steps"):
        spec = {"controllers": [], "operations": operations(record)}  # nobody made up for what was deleted
        documents.append({"kind": "Scenario", "spec": spec})
    return documents


def scenario_of(record: dict[str, Any]) -> Scenario | None:
    """Return a record as a scenario; None if it holds what the API server refuses."""
    try:
        return load_documents(documents_of(record))
    except BundleError:
        return None
