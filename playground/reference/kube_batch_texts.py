"""The texts of the kube-batch reference page that accompany the engine's tables."""

from __future__ import annotations

from collections.abc import Mapping

ACTIONS: Mapping[str, tuple[str, ...]] = {
    "allocate": (
        "Queues take turns, the one with the smaller share first. One that is overused is not served.",
        "The first job of the queue places its tasks in order, until it is ready; from then on one a turn.",
        "A node is a candidate if the task fits what is idle there, or what is being released.",
        "At the first task that fits nowhere the job is dropped. What it holds, it holds until the close.",
    ),
    "backfill": (
        "Tasks that request nothing go to the first node on which the predicates pass.",
        "Neither queues nor scores count; a gang is still bound only once it is ready.",
    ),
    "preempt": (
        "Within a queue: a job with pending tasks may evict running tasks of other jobs.",
        "The evictions of a job are one statement: unless enough of its tasks are placed, all is undone.",
        "What is idle does not count. The victims alone have to make enough room.",
        "Afterwards every job with pending tasks may evict tasks of its own.",
    ),
    "reclaim": (
        "Across queues: the first task of a job may evict running tasks of other queues.",
        "The first node on which the victims make enough room is taken; each job is served once a session.",
    ),
}
"""What each action does, in sentences."""

PLUGINS: Mapping[str, str] = {
    "priority": "Jobs and tasks of higher priority come first; victims are of jobs of lower priority.",
    "gang": "A job is ready once minMember of its tasks are placed, and then bound. Victims leave so many.",
    "conformance": "Pods of kube-system, and those of the two system priority classes, are no victims.",
    "drf": "Jobs with a smaller dominant share come first. A victim's job keeps what the preemptor's has.",
    "predicates": "Kubernetes 1.16's predicates, without resources, which the actions compare.",
    "proportion": "The cluster is divided between queues by weight. A queue that has its part is overused.",
    "nodeorder": "Kubernetes 1.16's priorities, 0 to 10 each, weighted and added up.",
}
"""What each plugin is for."""

POINTS: Mapping[str, tuple[str, str]] = {
    "job_order": ("job order", "enableJobOrder"),
    "queue_order": ("queue order", "enableQueueOrder"),
    "task_order": ("task order", "enableTaskOrder"),
    "predicate": ("predicates", "enablePredicate"),
    "node_order": ("node order", "enableNodeOrder"),
    "preemptable": ("victims of preempt", "enablePreemptable"),
    "reclaimable": ("victims of reclaim", "enableReclaimable"),
    "overused": ("overused", ""),
    "job_ready": ("job ready", "enableJobReady"),
    "job_pipelined": ("job pipelined", "enableJobPipelined"),
    "job_valid": ("job valid", ""),
    "closing": ("at close", ""),
}
"""What a plugin can register, by the field of its registration: its name here, and its switch, if any."""

ARGUMENTS: Mapping[str, str] = {
    "predicate.MemoryPressureEnable": "BestEffort pods avoid nodes under memory pressure",
    "predicate.DiskPressureEnable": "pods avoid nodes under disk pressure",
    "predicate.PIDPressureEnable": "pods avoid nodes under PID pressure",
    "leastrequested.weight": "prefer nodes of which little is requested",
    "mostrequested.weight": "prefer nodes of which much is requested",
    "nodeaffinity.weight": "prefer nodes that preferred node affinity names",
    "podaffinity.weight": "prefer nodes by preferred inter-pod affinity",
    "balancedresource.weight": "prefer nodes whose cpu and memory are equally used",
}
"""The effect of each argument."""

AGGREGATES: tuple[tuple[str, str], ...] = (
    ("orders", "The first plugin that tells two apart decides, tier by tier. Else the older comes first."),
    ("predicates", "All have to pass."),
    ("node order", "The scores are added up. Of equal nodes the original takes any, and podstep the first."),
    ("job ready, job pipelined", "All plugins have to agree; without any the job is."),
    ("overused", "One plugin suffices."),
    (
        "victims",
        "The plugins of a tier have to agree; only the first tier with such a plugin has a say.",
    ),
)
"""How the answers of several plugins are put together."""

STATUSES: tuple[tuple[str, str], ...] = (
    ("Pending", "without a node"),
    ("Allocated", "placed in this session, not sent; forgotten at the close"),
    ("Pipelined", "placed on what is still being released; forgotten at the close"),
    ("Binding", "its job is ready, and the bind request was sent"),
    ("Bound", "has a node and is not Running yet"),
    ("Running", "runs; only such a task can be a victim"),
    ("Releasing", "is being deleted, or was evicted in this session"),
)
"""The statuses of a task."""
