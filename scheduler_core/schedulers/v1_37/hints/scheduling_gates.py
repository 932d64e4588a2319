"""Hints of SchedulingGates (plugins/schedulinggates/scheduling_gates.go)."""

from __future__ import annotations

from scheduler_core.schedulers.v1_37.hints.common import always, listed
from scheduler_core.schedulers.v1_37.interface import Hints, Registration
from scheduler_core.schedulers.v1_37.pods import Pod


def _until(pod: Pod) -> str:
    gates = listed([str(gate.get("name")) for gate in pod.spec.get("schedulingGates") or ()])
    return f"its scheduling gate {gates} is removed" if gates else "its scheduling gates are removed"


HINTS = Hints(
    "SchedulingGates",
    (Registration("TargetPod", frozenset({"UpdatePodSchedulingGatesEliminated"}), always),),
    _until,
)
