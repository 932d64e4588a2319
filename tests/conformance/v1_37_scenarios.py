"""Recorded runs of kube-scheduler v1.37 as scenarios: objects, steps, configuration and feature gates."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from scheduler_core import Scenario, load_documents
from scheduler_core.kubernetes.problems import BundleError
from scheduler_core.schedulers.v1_37.clock import SECOND
from scheduler_core.schedulers.v1_37.config import read_configuration
from scheduler_core.schedulers.v1_37.releases import dialect_of
from scheduler_core.schedulers.v1_37.run import SchedulerRun
from scheduler_core.schedulers.v1_37.state import uid_of
from tests.conformance.v1_37_records import lines

OWNERS = ("ReplicaSet", "StatefulSet", "ReplicationController")


def records(name: str, first: int = 0, count: int = 10_000) -> Iterator[dict[str, Any]]:
    """Yield recorded runs."""
    yield from map(json.loads, lines(name)[first : first + count])


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


class RecordedScenario:
    """A recorded run as the documents of a bundle, and the second at which it ends."""

    def __init__(self, record: dict[str, Any]) -> None:
        self.record = record

    @cached_property
    def _played(self) -> tuple[list[dict[str, Any]], float]:
        """The recorded steps as operations, at the times at which the record's clock has them, and its end.

        Those up to the first step without ``hold`` land together.
        """
        record = self.record
        dialect = dialect_of(release_of(record))
        run = SchedulerRun(read_configuration(record.get("config"), record.get("featureGates"), dialect))
        run.start(record["objects"])
        out: list[dict[str, Any]] = []
        major = 1
        for number, step in enumerate(record.get("steps", []), 1):
            passed = round(step.get("seconds", 0) * SECOND)
            out.append(operation(number, major, (run.clock.now + passed) / SECOND, step))
            run.take(step)
            major += not step.get("hold")
        return out, run.clock.now / SECOND

    @property
    def end(self) -> float:
        """The second at which the record ends."""
        return self._played[1]

    @cached_property
    def documents(self) -> list[dict[str, Any]]:
        """The documents of a bundle."""
        record = self.record
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
            spec = {"controllers": [], "operations": self._played[0]}  # nobody made up for what was deleted
            documents.append({"kind": "Scenario", "spec": spec})
        return documents

    def load(self) -> Scenario | None:
        """Return a new scenario of them; None if they hold what the API server refuses."""
        try:
            return load_documents(self.documents)
        except BundleError:
            return None
