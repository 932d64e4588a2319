"""Small clusters with Kueue, from a few lines of a table: manifests, and Kueue's state at rest over them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scheduler_core.cluster.kueue.configuration import read_configuration
from scheduler_core.cluster.kueue.control import Control
from scheduler_core.cluster.kueue.workload import EVICTED, read_workload
from scheduler_core.cluster.kueue.writes import key_for, put

API = "kueue.x-k8s.io/v1beta2"
NOW = 946684800.0  # 2000-01-01


def manifests(cluster: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the objects of a table's cluster: flavors, cohorts, queues with a LocalQueue each, workloads.

    A queue's ``quota`` is by flavor, of cpu, or by resource in a flavor; its LocalQueue has its name. A
    workload is ``QUEUE CPUS`` with ``priority=``, ``pods=`` and other words, or a mapping with ``podSets``.
    """
    for name, spec in cluster.get("flavors", {"default": {}}).items():
        yield _object("ResourceFlavor", name, spec)
    for name, parent in cluster.get("cohorts", {}).items():
        yield _object("Cohort", name, {"parentName": parent} if parent else {})
    for name, row in cluster["queues"].items():
        yield _object("ClusterQueue", name, _queue(row))
        yield _object("LocalQueue", name, {"clusterQueue": name}, "default")
    yield from cluster.get("objects", ())
    for at, (name, row) in enumerate(cluster.get("workloads", {}).items()):
        spec = workload_spec(row)
        made = _object("Workload", name, spec, "default")
        made["metadata"]["creationTimestamp"] = f"1999-12-31T23:{at:02}:00Z"
        made["metadata"]["uid"] = f"uid-{at:03}"
        yield made


def _object(kind: str, name: str, spec: Mapping[str, Any], namespace: str = "") -> dict[str, Any]:
    meta = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": API, "kind": kind, "metadata": meta, "spec": dict(spec)}


def _queue(row: Mapping[str, Any]) -> dict[str, Any]:
    quota = {name: one if isinstance(one, Mapping) else {"cpu": one} for name, one in row["quota"].items()}
    covered = list(dict.fromkeys(resource for one in quota.values() for resource in one))
    flavors = [
        {"name": name, "resources": [{"name": resource, **_amount(one[resource])} for resource in covered]}
        for name, one in quota.items()
    ]
    rest = {key: value for key, value in row.items() if key != "quota"}
    return {
        "namespaceSelector": {},
        **rest,
        "resourceGroups": [{"coveredResources": covered, "flavors": flavors}],
    }


def _amount(value: Any) -> dict[str, str]:
    """Read ``NOMINAL``, ``NOMINAL borrow LIMIT`` or ``NOMINAL lend LIMIT``."""
    nominal, *words = str(value).split()
    names = {"borrow": "borrowingLimit", "lend": "lendingLimit"}
    return {"nominalQuota": nominal} | {
        names[key]: limit for key, limit in zip(words[::2], words[1::2], strict=True)
    }


def workload_spec(row: Any) -> dict[str, Any]:
    """Return the spec of a workload of a table."""
    if isinstance(row, Mapping):
        return dict(row)
    queue, cpus, *words = row.split()
    options = dict(word.split("=") for word in words)
    pod_set = {"name": "main", "count": int(options.get("pods", 1)), "template": template(cpus)}
    if "topology" in options:
        how, _, level = options["topology"].partition(":")
        pod_set["topologyRequest"] = {how: level or True}
    return {"queueName": queue, "priority": int(options.get("priority", 0)), "podSets": [pod_set]}


def template(cpus: str) -> dict[str, Any]:
    """Return a template of a pod that requests cpu."""
    container = {"name": "c", "image": "x", "resources": {"requests": {"cpu": cpus}}}
    return {"spec": {"containers": [container], "restartPolicy": "Never"}}


def control_of(cluster: Mapping[str, Any], *, stop_seconds: float = 0, cycles: int = 25) -> Control:
    """Return Kueue over a table's cluster, whose workloads came one after the other.

    After each at most so many cycles run.
    """
    configuration = read_configuration(cluster.get("config"))
    control = Control(configuration, NOW, lambda one: one.conditions[EVICTED].at + stop_seconds)
    put(control, "Namespace", "default", {"metadata": {"name": "default"}})
    for manifest in manifests(cluster):
        write(control, manifest)
        control.settle()
        if manifest["kind"] == "Workload":
            _run(control, cycles)
    return control


def _run(control: Control, cycles: int) -> None:
    for _ in range(cycles):
        before = control.digest
        if not control.has_heads():
            return
        control.cycle()
        control.settle()
        if control.digest == before:
            return


def write(control: Control, manifest: Mapping[str, Any]) -> None:
    """Write a manifest as its kind is written."""
    if manifest["kind"] == "Workload":
        control.write(read_workload(dict(manifest), control.now))
    else:
        put(control, manifest["kind"], key_for(manifest["kind"], dict(manifest)), dict(manifest))
