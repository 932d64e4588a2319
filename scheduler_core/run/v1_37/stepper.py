"""What an explanation asks of a run of kube-scheduler v1.37, with controllers or without."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from scheduler_core.run.stepper import Stepper
from scheduler_core.schedulers.v1_37.run import SchedulerRun


class V1_37Stepper(Stepper, Protocol):
    """A stepwise run of a scenario by one kube-scheduler v1.37."""

    @property
    def run(self) -> SchedulerRun:
        """The scheduler with its queue, and its cluster of manifests."""

    @property
    def unmade_claims(self) -> Mapping[str, str]:
        """Why ResourceClaims could not be made, by pod."""
