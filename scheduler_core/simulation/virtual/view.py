"""What others look at of a simulation in virtual time, beside its steps."""

from __future__ import annotations

from scheduler_core.cluster.state import Cluster
from scheduler_core.config.policy import Profile
from scheduler_core.objects.model import Pod
from scheduler_core.scheduling.cycle import Decision
from scheduler_core.scheduling.queue import SchedulingQueue
from scheduler_core.simulation.virtual.control import ControlledFramework


class FrameworkReader:
    """The parts of the Stepper protocol that only read what the framework has."""

    framework: ControlledFramework
    decisions: list[Decision]
    _deleted: list[str]  # pods deleted under schedulers before the last restart

    @property
    def cluster(self) -> Cluster:
        """The cluster as it stands; waiting pods hold their node."""
        return self.framework.cluster

    @property
    def queue(self) -> SchedulingQueue:
        """The nominated pods, as filtering asks for them; :attr:`framework` has the queues."""
        return self.framework.queue.nominator

    @property
    def cache(self) -> None:
        """No equivalence cache: it was gone before the framework came."""
        return None

    @property
    def profile(self) -> Profile:
        """What filters and scores for the default scheduler's pods."""
        runtimes, framework = self.framework.runtimes, self.framework
        return runtimes.get("default-scheduler", framework.runtime).scheduling.profile

    @property
    def profiles(self) -> dict[str, Profile]:
        """What filters and scores, by the schedulerName of the pods."""
        return {name: runtime.scheduling.profile for name, runtime in self.framework.runtimes.items()}

    def profile_of(self, pod: Pod) -> Profile:
        """Return the profile that schedules a pod; the main one for a pod of another scheduler."""
        runtime = self.framework.runtimes.get(pod.scheduler_name)
        return self.profile if runtime is None else runtime.scheduling.profile

    def responsible(self, pod: Pod) -> bool:
        """Tell whether this scheduler is responsible for a pod."""
        return self.framework.responsible(pod)

    @property
    def time(self) -> float:
        """Virtual seconds since the start."""
        return self.framework.clock.now

    @property
    def deleted(self) -> list[str]:
        """The keys of deleted pods, in order of deletion."""
        return [*self._deleted, *self.framework.deleted]

    @property
    def last_node_index(self) -> int:
        """How many choices among several nodes there were."""
        return self.framework.taken

    @property
    def index(self) -> int:
        """How many cycles have run."""
        return len(self.decisions)

    def placement(self) -> dict[str, str]:
        """Return the node of every pod, "" for a pending one, in creation order; waiting pods hold theirs."""
        pods = sorted(self.cluster.pods.values(), key=lambda pod: pod.order)
        return {pod.key: pod.node_name for pod in pods}
