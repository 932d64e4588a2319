"""kube-scheduler v1.37: its plugins, one attempt, preemption and the queue, on columns over the nodes."""

from scheduler_core.settings.release import V1_37 as RELEASE

__all__ = ["RELEASE"]
