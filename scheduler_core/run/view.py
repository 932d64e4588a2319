"""The read-only properties of a simulation in virtual time."""

from __future__ import annotations

from scheduler_core.kubernetes.model import Pod
from scheduler_core.run.control import ControlledFramework
from scheduler_core.schedulers.profiles.profile import Profile
from scheduler_core.schedulers.v1_22.schedulers import SCHEDULERS


class FrameworkReader:
    """The parts of a Run that only read the framework's state."""

    framework: ControlledFramework
    messages: dict[str, str]
    _deleted: list[str]  # pods deleted under schedulers before the last restart

    @property
    def profile(self) -> Profile:
        """The profile that filters and scores for the default scheduler's pods."""
        runtimes, framework = self.framework.runtimes, self.framework
        return runtimes.get("default-scheduler", framework.runtime).scheduling.profile

    @property
    def profiles(self) -> dict[str, Profile]:
        """The profiles by schedulerName."""
        return {name: runtime.scheduling.profile for name, runtime in self.framework.runtimes.items()}

    def profile_of(self, pod: Pod) -> Profile:
        """Return the profile that schedules a pod; the main one for a pod of another scheduler."""
        runtime = self.framework.runtimes.get(pod.scheduler_name)
        return self.profile if runtime is None else runtime.scheduling.profile

    def responsible(self, pod: Pod) -> bool:
        """Return whether a scheduler of this run is responsible for a pod: the framework or a custom one."""
        return self.framework.responsible(pod) or pod.scheduler_name in SCHEDULERS

    def custom_report(self, pod: Pod) -> str:
        """Return what a custom scheduler reported of its pending pod at its last attempt, "" if nothing."""
        return "" if self.framework.responsible(pod) else self.messages.get(pod.meta.key, "")

    @property
    def time(self) -> float:
        """Virtual seconds since the start."""
        return self.framework.clock.now

    @property
    def deleted(self) -> list[str]:
        """The keys of deleted pods, in order of deletion."""
        return [*self._deleted, *self.framework.deleted]

    @property
    def counter(self) -> int:
        """The number of choices among several nodes so far."""
        return self.framework.taken
