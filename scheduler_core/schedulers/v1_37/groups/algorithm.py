"""Find nodes for the members of a group together, in every placement, and roll everything back."""

from __future__ import annotations

from collections.abc import Sequence

from scheduler_core.schedulers.v1_37.change import Manifest
from scheduler_core.schedulers.v1_37.entities import QueuedPodInfo
from scheduler_core.schedulers.v1_37.groups.feasibility import PLUGIN, feasibility
from scheduler_core.schedulers.v1_37.groups.outcome import (
    GroupRecord,
    GroupResult,
    GroupStatus,
    unschedulable,
)
from scheduler_core.schedulers.v1_37.groups.placements import GroupPlacement, best, generate
from scheduler_core.schedulers.v1_37.interface import Hinting, SchedulingSteps
from scheduler_core.schedulers.v1_37.nominations import NominatedPods
from scheduler_core.schedulers.v1_37.podgroups import TOPOLOGY_GATE, min_count
from scheduler_core.schedulers.v1_37.pods import CompiledPod
from scheduler_core.schedulers.v1_37.profiles import CompiledConfiguration, KubeSchedulerProfile
from scheduler_core.schedulers.v1_37.state import ClusterState
from scheduler_core.schedulers.v1_37.status import ERROR, OK, SUCCESS, UNSCHEDULABLE


class GroupAlgorithm:
    """Evaluation of one group; the cluster is left as it was (runRootSchedulingAlgorithm)."""

    def __init__(
        self,
        scheduling: SchedulingSteps,
        nominations: NominatedPods,
        configuration: CompiledConfiguration,
        key: str,
        members: Sequence[QueuedPodInfo],
        hints: Hinting,
    ) -> None:
        self.scheduling = scheduling
        self.hints = hints
        self.cluster: ClusterState = scheduling.cluster
        self.nominations = nominations
        self.configuration = configuration
        self.key = key
        self.group: Manifest = self.cluster.objects["PodGroup"][key]
        self.members = members
        self.profile: KubeSchedulerProfile = configuration.profiles[members[0].pod.scheduler_name]
        self.bound: list[CompiledPod] = [pod for pod in self.cluster.members(key) if pod.node]

    def run(self, record: GroupRecord) -> GroupResult:
        """Evaluate the group; ``record`` takes down what is shown of it."""
        if self.configuration.gate(TOPOLOGY_GATE):
            result = self._in_placements(record)
        else:
            result = self._on(None, record)
        if result.status.success and not result.placed:
            result.status = unschedulable(fit_error=True)
        return result

    def _in_placements(self, record: GroupRecord) -> GroupResult:
        """Try every placement in full and take the best (podGroupSchedulingPlacementAlgorithm)."""
        try:
            placements = generate(self.cluster, self.profile, self.group, self.bound)
        except ValueError as error:
            return GroupResult(GroupStatus(ERROR, [str(error)]))
        if not placements:
            return GroupResult(unschedulable("no feasible placements found"))
        record.placements = [placement.document() for placement in placements]
        results: list[tuple[GroupPlacement, GroupResult]] = []
        for placement in placements:
            result = self._on(placement, record)
            if result.status.error:
                return result
            results.append((placement, result))
        successful = [row for row in results if row[1].status.success]
        if not successful:
            first = results[0][1]
            available = f"0/{len(placements)} placements are available"
            text = f"{available}, first placement status: {first.status.as_error}"
            return GroupResult(unschedulable(text, fit_error=True), first.attempts)
        if len(successful) == 1:
            return successful[0][1]
        try:
            index, record.placement_scores = best(self.cluster, self.profile, len(self.bound), successful)
        except ValueError as error:
            return GroupResult(GroupStatus(ERROR, [str(error)]))
        return successful[index][1]

    def _on(self, placement: GroupPlacement | None, record: GroupRecord) -> GroupResult:
        """Try the members one after the other, those before assumed (podGroupSchedulingDefaultAlgorithm)."""
        rows = None if placement is None else [self.cluster.nodes.rows[name] for name in placement.nodes]
        result = GroupResult(GroupStatus(SUCCESS))
        scheduled, remaining = len(self.bound), len(self.members)
        if not self._goes_on(result, record, scheduled, remaining):
            result.status.fit_error = True  # only the first answer is wrapped
            return result
        try:
            for member in self.members:
                hint = self.hints.hint(member.pod)
                attempt = self.scheduling.schedule(member.pod, rows=rows, hint=hint)
                result.attempts.append(attempt)
                record.attempts.append(attempt)
                if attempt.error is not None:
                    text = f"failed to schedule other pod from a pod group: {attempt.error}"
                    result.status = GroupStatus(ERROR, [text])
                    break
                remaining -= 1
                if attempt.node is not None:
                    self.hints.store(attempt)
                    self.scheduling.reserve(attempt)
                    self.nominations.hide(member.key)
                    scheduled += 1
                if not self._goes_on(result, record, scheduled, remaining):
                    break
        finally:
            for attempt in reversed(result.placed):
                self.scheduling.unreserve(attempt)
                self.nominations.show(attempt.pod.key)
        return result

    def _goes_on(self, result: GroupResult, record: GroupRecord, scheduled: int, remaining: int) -> bool:
        """Ask GangScheduling and take its answer as the status; return whether the next member is tried."""
        gang = self.profile.enabled(PLUGIN)
        answer = feasibility(min_count(self.group), scheduled, remaining) if gang else OK
        record.feasible.append(answer.document())
        code = SUCCESS if answer.code == SUCCESS else UNSCHEDULABLE
        result.status = GroupStatus(code, list(answer.reasons))
        return answer.code != UNSCHEDULABLE
