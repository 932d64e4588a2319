"""Hints of DefaultPreemption (plugins/defaultpreemption/default_preemption.go).

It wants to hear of deletions so that a preemptor that it gates is looked at, but its own answer helps nobody.
"""

from __future__ import annotations

from scheduler_core.schedulers.v1_37.hints.common import never
from scheduler_core.schedulers.v1_37.interface import Hints, Registration

HINTS = Hints(
    "DefaultPreemption",
    (Registration("AssignedPod", frozenset({"Delete"}), never),),
    "the deletion of its victims is confirmed",
)
