"""kube-scheduler v1.11: predicates, priorities, policies, quirks, the equivalence cache and one attempt."""

from scheduler_core.settings.release import V1_11 as RELEASE

__all__ = ["RELEASE"]
