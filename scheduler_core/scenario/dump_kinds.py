"""The kinds that the dump of a cluster should have, and which answers each gap weakens."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct


class DumpRow(Struct, frozen=True, rename="camel"):
    """Kinds that answers need together, by the names that ``kubectl get`` takes."""

    title: str
    kinds: Mapping[str, str]
    """The resource of each kind, as ``kubectl get`` takes it."""
    weakens: str
    """What cannot be answered, or only by assumptions, without them."""


DUMP_ROWS = (
    DumpRow(
        "Nodes and pods",
        {"Node": "nodes", "Pod": "pods"},
        "nothing can be answered without nodes, and nodes without pods count as empty",
    ),
    DumpRow(
        "Workloads",
        {
            "Deployment": "deployments",
            "ReplicaSet": "replicasets",
            "StatefulSet": "statefulsets",
            "DaemonSet": "daemonsets",
            "Job": "jobs",
            "CronJob": "cronjobs",
            "ReplicationController": "replicationcontrollers",
        },
        "what replaces the pods that a drain, a failure or a rollout ends is assumed from the pods",
    ),
    DumpRow(
        "Disruption budgets",
        {"PodDisruptionBudget": "poddisruptionbudgets"},
        "a drain is never held back, and preemption spares no budget",
    ),
    DumpRow(
        "Priorities",
        {"PriorityClass": "priorityclasses"},
        "new pods have the priority 0, so who preempts whom may differ",
    ),
    DumpRow(
        "Volumes",
        {
            "PersistentVolumeClaim": "persistentvolumeclaims",
            "PersistentVolume": "persistentvolumes",
            "StorageClass": "storageclasses",
        },
        "pods with claims are assumed to reach their volume from any node",
    ),
    DumpRow(
        "Storage drivers",
        {
            "CSINode": "csinodes",
            "CSIDriver": "csidrivers",
            "CSIStorageCapacity": "csistoragecapacities",
            "VolumeAttachment": "volumeattachments",
        },
        "no node has a limit of attached volumes, and storage never runs out",
    ),
    DumpRow(
        "Services and namespaces",
        {"Service": "services", "Namespace": "namespaces"},
        "pods of a Service are not spread by default, and a namespaceSelector selects nothing",
    ),
    DumpRow(
        "Revisions",
        {"ControllerRevision": "controllerrevisions"},
        "StatefulSets and DaemonSets cannot be rolled back, and their older pods' template is unknown",
    ),
)

_RESOURCES = ",".join(name for row in DUMP_ROWS for name in row.kinds.values())

DUMP_COMMAND = f"kubectl get {_RESOURCES} -A -o yaml > cluster.yaml"
"""Gets all of them. Clusters since v1.24 know each of these resources, so that none stops the others."""
