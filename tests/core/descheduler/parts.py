"""Small clusters and policies for tests of the descheduler."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.cluster.descheduler.lister import DisruptionsAllowed, Listing
from scheduler_core.cluster.descheduler.policy import Policy, refusals_of
from scheduler_core.cluster.descheduler.reader import read_policy
from scheduler_core.cluster.descheduler.record import RunRecord
from scheduler_core.cluster.descheduler.runner import Flags, evict_by, run_policy
from scheduler_core.formats.bundle import read_files
from scheduler_core.formats.limits import Limits
from scheduler_core.formats.problems import problems_of
from scheduler_core.kubernetes.readers import At, Report

PLAIN = Flags()
NOW = 946_685_860.0  # seconds since 1970; pods were created 1000 s before


def node(name: str, **spec: Any) -> dict[str, Any]:
    """Return a ready node with 1 CPU, 1Gi and 10 pods; ``labels`` are its own beside its name."""
    labels = {"name": name, **spec.pop("labels", {})}
    amounts = {"cpu": "1", "memory": "1Gi", "pods": "10"}
    status = {"allocatable": amounts, "conditions": [{"type": "Ready", "status": "True"}]}
    return {"kind": "Node", "metadata": {"name": name, "labels": labels}, "spec": spec, "status": status}


def pod(name: str, on: str, cpu: str = "100m", owner: str = "web", **more: Any) -> dict[str, Any]:
    """Return a running pod of a ReplicaSet; ``spec``, ``status`` and ``metadata`` are added to its own."""
    meta = {
        "name": name,
        "namespace": "default",
        "uid": f"uid-{name}",
        "creationTimestamp": "2000-01-01T00:01:00Z",
        "labels": {"app": owner},
        "ownerReferences": [{"kind": "ReplicaSet", "name": owner, "uid": f"uid-{owner}"}],
    }
    container = {"name": "main", "image": "img", "resources": {"requests": {"cpu": cpu}}}
    return {
        "kind": "Pod",
        "metadata": {**meta, **more.get("metadata", {})},
        "spec": {"nodeName": on, "containers": [container], **more.get("spec", {})},
        "status": {"phase": "Running", **more.get("status", {})},
    }


def read(text: str) -> tuple[Policy | None, list[tuple[int | None, str]]]:
    """Read the text of a policy; return it with line and message of every error."""
    entry = read_files((("policy.yaml", text),), Limits()).entries[0]
    report = Report()
    policy = read_policy(entry.value, At(report, None, entry))
    return policy, [(one.line, one.message) for one in problems_of(report.errors)]


def policy_of(plugin: str, point: str, args: str, more: str = "", evictor: str = "{}") -> Policy:
    """Return a policy of one plugin, which has no errors."""
    text = f"""
apiVersion: descheduler/v1alpha2
kind: DeschedulerPolicy
{more}
profiles:
- name: p
  pluginConfig:
  - {{name: DefaultEvictor, args: {evictor}}}
  - {{name: {plugin}, args: {args}}}
  plugins: {{{point}: {{enabled: [{plugin}]}}}}
"""
    policy, errors = read(text)
    assert policy is not None and errors == []
    assert refusals_of(policy, {}) == []
    return policy


def run(policy: Policy, *objects: Mapping[str, Any], flags: Flags = PLAIN) -> RunRecord:
    """Run a policy over objects; budgets count down as those of the records do."""
    by_kind: dict[str, list[dict[str, Any]]] = {}
    for one in objects:
        by_kind.setdefault(one["kind"], []).append(dict(one))
    evict = evict_by(policy.edition, flags, DisruptionsAllowed(by_kind.get("PodDisruptionBudget", [])).evict)
    return run_policy(policy, Listing(by_kind, NOW, evict), flags)


def outcomes(record: RunRecord) -> dict[str, str]:
    """Return what became of each pod that a strategy considered, by name."""
    verdicts = (verdict for one in record.strategies for verdict in one.verdicts)
    return {one.pod.partition("/")[2]: one.outcome for one in verdicts}
