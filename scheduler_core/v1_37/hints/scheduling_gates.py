"""Hints of SchedulingGates (plugins/schedulinggates/scheduling_gates.go)."""

from __future__ import annotations

from scheduler_core.v1_37.hints.common import always
from scheduler_core.v1_37.interface import Registration

EVENTS = (Registration("TargetPod", frozenset({"UpdatePodSchedulingGatesEliminated"}), always),)
