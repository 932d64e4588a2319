"""One cycle of a group: validate, evaluate, preempt, and decide on every member."""

from __future__ import annotations

import json

from msgspec import Struct, field

from scheduler_core.schedulers.v1_37.change import ObjectWrite
from scheduler_core.schedulers.v1_37.entities import QueuedGroup, QueuedPodInfo
from scheduler_core.schedulers.v1_37.groups.algorithm import GroupAlgorithm
from scheduler_core.schedulers.v1_37.groups.outcome import GroupRecord, GroupResult, GroupStatus
from scheduler_core.schedulers.v1_37.groups.preemption import preempt
from scheduler_core.schedulers.v1_37.groups.validation import invalid
from scheduler_core.schedulers.v1_37.interface import Hinting, PodAttempt, SchedulingSteps
from scheduler_core.schedulers.v1_37.nominations import NominatedPods
from scheduler_core.schedulers.v1_37.plugins.dynamic_resources import deallocate
from scheduler_core.schedulers.v1_37.podgroups import TOPOLOGY_GATE, is_constrained, min_count, priority
from scheduler_core.schedulers.v1_37.pods import CompiledPod
from scheduler_core.schedulers.v1_37.profiles import CompiledConfiguration
from scheduler_core.schedulers.v1_37.status import ERROR, SUCCESS, UNSCHEDULABLE, WAIT, Status

CLAIMS = "DynamicResources"
_CLAIMS_DONE = "deallocation and deletion of ResourceClaims completed"
_PERMIT = "permit/GangScheduling"
_WAITS = Status(WAIT, ("waiting for minCount pods from a gang to be scheduled",))


class GroupCycle(Struct):
    """What a cycle of a group decided; nothing of it is written yet."""

    status: GroupStatus
    evaluation: str = ERROR
    """The code of the evaluation alone, regardless of PostFilter: it decides where the group waits."""

    record: GroupRecord = field(default_factory=GroupRecord)
    placed: list[PodAttempt] = field(default_factory=list)
    """Members to bind, in order."""

    failed: list[tuple[QueuedPodInfo, PodAttempt]] = field(default_factory=list)
    victims: list[CompiledPod] = field(default_factory=list)
    changes: list[ObjectWrite] = field(default_factory=list)
    """Writes of PostFilter: claims that were deallocated."""


def run_cycle(
    scheduling: SchedulingSteps,
    nominations: NominatedPods,
    configuration: CompiledConfiguration,
    group: QueuedGroup,
    hints: Hinting,
) -> GroupCycle | None:
    """Decide about all queued members of a group; None if all are being deleted (scheduleOnePodGroup)."""
    cluster = scheduling.cluster
    bound = [pod for pod in cluster.members(group.key) if pod.node]
    pods = [*(member.pod for member in group.members), *bound]
    text = invalid(pods, priority(cluster.objects["PodGroup"][group.key]))
    left = [member for member in group.members if text is not None or not member.pod.terminating]
    if not left:
        return None
    nominations.in_flight(member.pod for member in left)
    try:
        return _Cycle(scheduling, nominations, configuration, group.key, left, hints).run(text)
    finally:
        nominations.in_flight(())


class _Cycle:
    def __init__(
        self,
        scheduling: SchedulingSteps,
        nominations: NominatedPods,
        configuration: CompiledConfiguration,
        key: str,
        members: list[QueuedPodInfo],
        hints: Hinting,
    ) -> None:
        self.scheduling = scheduling
        self.members = members
        self.manifest = scheduling.cluster.objects["PodGroup"][key]
        self.algorithm = GroupAlgorithm(scheduling, nominations, configuration, key, members, hints)
        self.profile = self.algorithm.profile
        self.configuration = configuration

    def run(self, invalid: str | None) -> GroupCycle:
        """Evaluate the group, unless it is invalid."""
        if invalid is not None:
            cycle = GroupCycle(GroupStatus(ERROR, [invalid]))
            self._settle(cycle, GroupResult(cycle.status), {}, preempting=False)
            return cycle
        cycle = GroupCycle(GroupStatus(SUCCESS))
        result = self.algorithm.run(cycle.record)
        cycle.evaluation = result.status.code
        untried = result.status.message  # without what PostFilter adds
        nominated: dict[str, str] = {}
        if result.status.code == UNSCHEDULABLE:
            nominated = self._post_filter(cycle, result)
        cycle.status = result.status
        preempting = cycle.record.post_filter is not None and cycle.record.post_filter.code == SUCCESS
        self._settle(cycle, result, nominated, preempting=preempting, untried=untried)
        return cycle

    # PostFilter.

    def _post_filter(self, cycle: GroupCycle, result: GroupResult) -> dict[str, str]:
        """Run PostFilter of the group and add its text to the status; return the nominations by member."""
        nominated: dict[str, str] = {}
        failed: list[Status] = []
        final: Status | None = None
        for plugin in self.profile.points.get("podGroupPostFilter", ()):
            status = self._claims(cycle) if plugin == CLAIMS else self._preempt(cycle, nominated)
            if status.code != UNSCHEDULABLE:
                final = _named(plugin, status)
                break
            failed.append(status)
        if final is None:
            reasons = tuple(reason for status in failed for reason in status.reasons)
            final = Status(UNSCHEDULABLE, reasons, failed[0].plugin if failed else "")
        cycle.record.post_filter = final
        if final.code == ERROR:
            result.status = GroupStatus(ERROR, [final.text])
        else:
            result.status.reasons.append(final.text)
        return nominated

    def _preempt(self, cycle: GroupCycle, nominated: dict[str, str]) -> Status:
        pods = [member.pod for member in self.members]
        found = preempt(
            self.scheduling, pods, priority(self.manifest), lambda: self.algorithm.run(GroupRecord())
        )
        cycle.victims = found.victims
        nominated |= found.nominated
        return found.status

    def _claims(self, cycle: GroupCycle) -> Status:
        """Free allocated claims that kept members off nodes (DynamicResources.PodGroupPostFilter).

        The state that it reads was made by PreFilter of the first member that came so far; without any it is
        an error.
        """
        if self.configuration.gate(TOPOLOGY_GATE) and is_constrained(self.manifest):
            return Status(UNSCHEDULABLE, (), CLAIMS)
        tried = {one.pod.key: one for one in cycle.record.attempts if CLAIMS in one.pre_filter}
        if not tried:
            return Status(ERROR, ("not found",), CLAIMS)
        for member in self.members:
            _, change = deallocate(tried[member.key].context) if member.key in tried else (None, None)
            cycle.changes.extend([change] if change else ())
        return Status(UNSCHEDULABLE, (_CLAIMS_DONE,), CLAIMS)

    # Members.

    def _settle(
        self,
        cycle: GroupCycle,
        result: GroupResult,
        nominated: dict[str, str],
        *,
        preempting: bool,
        untried: str = "",
    ) -> None:
        """Give every member its outcome, at its last attempt of the cycle or at the one that is taken."""
        tried = {attempt.pod.key: attempt for attempt in result.attempts}
        last = {attempt.pod.key: attempt for attempt in cycle.record.attempts}
        for member in self.members:
            own = tried.get(member.key)
            if own is not None and own.node is not None and result.status.success:
                own.result = "scheduled"
                cycle.placed.append(own)
                continue
            outcome = self._outcome(member.pod, own, result.status, preempting=preempting, untried=untried)
            shown = last.get(member.key)
            if shown is None:
                shown = PodAttempt(member.pod, self.profile, None)
                cycle.record.attempts.append(shown)
            _take_over(shown, outcome)
            shown.nominated = nominated.get(member.key, outcome.nominated)
            cycle.failed.append((member, shown))
        standing = {id(attempt) for _, attempt in cycle.failed}
        for attempt in cycle.record.attempts:
            if id(attempt) not in standing:
                attempt.result = attempt.result or "tried"
                attempt.unschedulable_plugins = attempt.pending_plugins = frozenset()
        self._permit(cycle)

    def _outcome(
        self, pod: CompiledPod, own: PodAttempt | None, status: GroupStatus, *, preempting: bool, untried: str
    ) -> PodAttempt:
        """Return an attempt with the result, message, plugins and nomination of a member without a node."""
        out = PodAttempt(pod, self.profile, None)
        out.result = "error" if status.error else "unschedulable"
        if status.error:
            out.message = (own.error if own is not None else None) or status.as_error
            out.nominated = ""
        elif own is None:
            out.message = untried
        elif own.node is not None:
            out.message = (
                status.message if preempting else GroupStatus(UNSCHEDULABLE, [status.message], True).message
            )
            out.nominated = None if preempting else ""
        else:
            self.scheduling.fail(own)
            _take_over(out, own)
            out.nominated = own.nominated
            own.result, own.message, own.nominated = "", None, None
        return out

    def _permit(self, cycle: GroupCycle) -> None:
        """Make the placed members wait for each other: the one that completes the number frees all."""
        if not self.profile.has("GangScheduling", "permit"):
            return
        scheduled = len(self.algorithm.bound)
        for attempt in cycle.placed:
            scheduled += 1
            if scheduled < min_count(self.manifest):
                attempt.points[_PERMIT] = _WAITS


def _named(plugin: str, status: Status) -> Status:
    """Return the status that ends PostFilter; an error names its plugin (RunPodGroupPostFilterPlugins)."""
    if status.code != ERROR:
        return status
    return Status(
        ERROR, (f"error in {json.dumps(plugin)} PodGroupPostFilter plugins: {status.text}",), plugin
    )


def _take_over(attempt: PodAttempt, outcome: PodAttempt) -> None:
    attempt.result, attempt.message = outcome.result, outcome.message
    attempt.unschedulable_plugins = outcome.unschedulable_plugins
    attempt.pending_plugins = outcome.pending_plugins
