"""SchedulingGates: pods with gates do not enter the queue (plugins/schedulinggates)."""

from __future__ import annotations

from scheduler_core.schedulers.v1_37.interface import ClusterEventWithHint
from scheduler_core.schedulers.v1_37.plugins.declaration import Declared
from scheduler_core.schedulers.v1_37.plugins.hints import always, listed
from scheduler_core.schedulers.v1_37.pods import CompiledPod


def _until(pod: CompiledPod) -> str:
    gates = listed([str(gate.get("name")) for gate in pod.spec.get("schedulingGates") or ()])
    return f"its scheduling gate {gates} is removed" if gates else "its scheduling gates are removed"


PLUGIN = Declared(
    "SchedulingGates",
    "preEnqueue",
    rank=10,
    otherwise="PreEnqueue refuses a pod while spec.schedulingGates has an entry",
    events=(ClusterEventWithHint("TargetPod", frozenset({"UpdatePodSchedulingGatesEliminated"}), always),),
    until=_until,
)
