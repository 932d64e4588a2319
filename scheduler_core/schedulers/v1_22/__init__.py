"""The scheduling framework in virtual time: a clock, the three queues, waiting pods, extension points."""

from scheduler_core.settings.release import V1_22 as RELEASE

__all__ = ["RELEASE"]
