"""What one pass of the descheduler would evict: by the bundle's policy, or by the usual strategies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from scheduler_core.compare.plane import living
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.problems import BundleError
from scheduler_core.run import simulate
from scheduler_core.scenario.load import load_documents
from scheduler_core.settings.descheduler import is_descheduler_policy
from scheduler_core.studies.audit.allowance import Allowance
from scheduler_core.studies.audit.cluster import AuditedCluster
from scheduler_core.studies.audit.omissions import unplayed
from scheduler_core.studies.audit.row import AuditRow
from scheduler_core.studies.audit.variation import with_settings
from scheduler_core.studies.audit.words import count

SUBJECT = "descheduler"
PASS_AT = 120
"""Virtual seconds of the only pass."""
SHOWN = 6

_USUAL_POLICY: Document = {
    "apiVersion": "descheduler/v1alpha2",
    "kind": "DeschedulerPolicy",
    "profiles": [
        {
            "name": "default",
            "pluginConfig": [
                {"name": "DefaultEvictor", "args": {}},
                {"name": "RemoveDuplicates", "args": {}},
                {"name": "RemovePodsViolatingTopologySpreadConstraint", "args": {}},
                {"name": "RemovePodsViolatingInterPodAntiAffinity", "args": {}},
                {"name": "RemovePodsViolatingNodeTaints", "args": {}},
                {
                    "name": "RemovePodsViolatingNodeAffinity",
                    "args": {"nodeAffinityType": ["requiredDuringSchedulingIgnoredDuringExecution"]},
                },
                {
                    "name": "RemovePodsHavingTooManyRestarts",
                    "args": {"podRestartThreshold": 100, "includingInitContainers": True},
                },
                {
                    "name": "LowNodeUtilization",
                    "args": {
                        "thresholds": {"cpu": 20, "memory": 20, "pods": 20},
                        "targetThresholds": {"cpu": 50, "memory": 50, "pods": 50},
                    },
                },
            ],
            "plugins": {
                "balance": {
                    "enabled": [
                        "RemoveDuplicates",
                        "RemovePodsViolatingTopologySpreadConstraint",
                        "LowNodeUtilization",
                    ]
                },
                "deschedule": {
                    "enabled": [
                        "RemovePodsHavingTooManyRestarts",
                        "RemovePodsViolatingNodeTaints",
                        "RemovePodsViolatingNodeAffinity",
                        "RemovePodsViolatingInterPodAntiAffinity",
                    ]
                },
            },
        }
    ],
}
"""What runs where a bundle has no DeschedulerPolicy: the strategies that the project's chart enables."""


def rows(cluster: AuditedCluster, allowance: Allowance) -> Iterator[AuditRow]:
    """Yield what one pass of the descheduler would evict: by the bundle's policy, or by the usual one."""
    if not allowance.spend():
        yield unplayed(SUBJECT, ["a pass of the descheduler"], "not played")
        return
    documents = list(cluster.scenario.documents)
    own = any(map(is_descheduler_policy, documents))
    passing = {"interval": f"{PASS_AT}s", "passes": 1, "dryRun": True}
    made = with_settings([*documents, *(() if own else (_USUAL_POLICY,))], descheduler=passing)
    try:
        scenario = living(
            load_documents(made, title=cluster.scenario.title, scheduler=cluster.scenario.release)
        )
    except BundleError as error:
        text = error.problems[0].message if error.problems else str(error)
        yield AuditRow(subject=SUBJECT, verdict="unknown", sentence=f"The descheduler cannot run: {text}.")
        return
    run = simulate(scenario, trace=False)
    while run.step() is not None and not (run.descheduler and run.descheduler.passes):
        pass
    whose = "the bundle's policy" if own else "the usual strategies (the bundle has no DeschedulerPolicy)"
    yield _evictions(run.descheduler, whose)


def _evictions(actor: Any, whose: str) -> AuditRow:
    passes = actor.passes if actor is not None else []
    if not passes:
        return AuditRow(subject=SUBJECT, verdict="unknown", sentence="The descheduler made no pass.")
    record = passes[0].record
    found = list(record.evictions)
    if not found:
        return AuditRow(
            subject=SUBJECT,
            verdict="ok",
            sentence=f"The descheduler would evict nothing, by {whose}.",
            evidence=(passes[0].summary,),
        )
    by = Counter(strategy for strategy, _ in found)
    return AuditRow(
        subject=SUBJECT,
        verdict="note",
        sentence=f"The descheduler would evict {count(len(found), 'pod')}, by {whose}.",
        evidence=(
            ", ".join(f"{name} {number:,}" for name, number in by.items()),
            *(f"{one.pod} from {one.node}: {one.reason}" for _, one in found[:SHOWN]),
            *((f"and {len(found) - SHOWN:,} more",) if len(found) > SHOWN else ()),
        ),
        about=tuple(f"Pod {one.pod}" for _, one in found[:SHOWN]),
    )
