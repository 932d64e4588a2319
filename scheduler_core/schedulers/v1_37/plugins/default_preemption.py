"""DefaultPreemption (plugins/defaultpreemption), which ``preemption.py`` and ``queue_gates.py`` evaluate.

It registers deletions so that a preemptor that it gates is looked at, but its own hint never requeues a pod.
"""

from __future__ import annotations

from scheduler_core.schedulers.v1_37.interface import ClusterEventWithHint
from scheduler_core.schedulers.v1_37.plugins.declaration import Argument, Declared
from scheduler_core.schedulers.v1_37.plugins.hints import never

_ARGUMENTS = (
    Argument(
        "minCandidateNodesPercentage", "integer", 10, "0 to 100: the share of nodes that a dry run inspects "
        "at least", most=100,
    ),
    Argument("minCandidateNodesAbsolute", "integer", 100, "how many nodes a dry run inspects at least"),
)  # fmt: skip


PLUGIN = Declared(
    "DefaultPreemption",
    "preEnqueue postFilter podGroupPostFilter",
    rank=160,
    otherwise="PostFilter looks for pods of lower priority whose removal helps",
    arguments=_ARGUMENTS,
    events=(ClusterEventWithHint("AssignedPod", frozenset({"Delete"}), never),),
    until="the deletion of its victims is confirmed",
)
