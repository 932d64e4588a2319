"""PodGroups in a scenario: what a group's cycle came to for each member, and the state of the groups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from scheduler_core.schedulers.v1_37.change import Manifest
from scheduler_core.schedulers.v1_37.clock import SECOND
from scheduler_core.schedulers.v1_37.groups.conditions import condition_text
from scheduler_core.schedulers.v1_37.podgroups import GATE, group_key, min_count
from scheduler_core.schedulers.v1_37.registrations import wakes
from scheduler_core.schedulers.v1_37.run import Ran, SchedulerRun


class MemberOutcome(Struct, frozen=True):
    """What the last cycle of a group came to for one member; ``with_it`` are the members placed with it."""

    group: str
    index: int  # of the cycle
    node: str | None = None
    message: str | None = None
    nominated: str | None = None
    with_it: int = 0

    def text(self) -> str:
        """Return it for a table of pods."""
        if self.node is not None:
            others = f" with {self.with_it:,} more of its pods" if self.with_it else ""
            return f"placed{others} in one cycle of PodGroup {self.group}"
        message = self.message or f"PodGroup {self.group} was not placed"
        return f"{message} Nominated to {self.nominated}." if self.nominated else message


def outcomes_of(ran: Ran, index: int) -> dict[str, MemberOutcome]:
    """Return the outcome of every member that a group's cycle was about; nothing for a pod's cycle."""
    if ran.group is None:
        return {}
    others = max(len(ran.bound) - 1, 0)
    out = {}
    for attempt in ran.attempts:
        if attempt.result == "tried":  # another attempt is the member's outcome
            continue
        key = attempt.pod.key
        node = ran.bound.get(key)
        nominated = attempt.nominated or None
        with_it = others if node is not None else 0
        out[key] = MemberOutcome(ran.entity, index, node, attempt.message, nominated, with_it)
    return out


def group_lines(run: SchedulerRun) -> Iterator[str]:
    """Yield the state of each PodGroup: its conditions, or why no cycle has tried it."""
    if not run.configuration.gate(GATE):
        return
    for key, manifest in run.cluster.objects.get("PodGroup", {}).items():
        there, needed = len(run.cluster.members(key)), min_count(manifest)
        state = _condition(manifest)
        if not state:
            state = f"not tried: {there:,} of the {needed:,} pods that it needs exist"
            state = state if there < needed else "not tried"
        yield f"PodGroup {key}: {state}"


def _condition(manifest: Manifest) -> str:
    return condition_text(manifest).removesuffix(": ")


def untried_because(run: SchedulerRun, pod: str, claims: Mapping[str, str]) -> str:
    """Return why a waiting pod has had no attempt: PreEnqueue keeps it out, or its PodGroup is missing.

    ``claims`` gives, by pod, why its ResourceClaims could not be made.
    """
    found = run.cluster.pods.get(pod)
    for group, members in run.watch.incomplete.items():
        if any(member.key == pod for member in members):
            return f"not tried: its PodGroup {group} does not exist"
    entity = None if found is None else run.queue.find(run.watch.group_of(found.manifest) or pod)
    if entity is None or found is None:
        return "not tried"
    gates = {member.key: member.gated_by for member in entity.members}
    plugin = gates.get(pod) or entity.gated_by
    if plugin is None:
        return "not tried"
    reason = f"not tried: {plugin} keeps it out of the queue until {wakes(run.configuration, plugin, found)}"
    return f"{reason} ({claims[pod]})" if pod in claims else reason


def group_text(run: SchedulerRun, pod: str) -> str:
    """Return a sentence on the PodGroup that a pod is scheduled with, "" for one that is scheduled alone."""
    found = run.cluster.pods.get(pod)
    key = None if found is None or not run.configuration.gate(GATE) else group_key(found.manifest)
    if key is None:
        return ""
    manifest = run.cluster.objects.get("PodGroup", {}).get(key)
    if manifest is None:
        return f"Its PodGroup {key} does not exist: it is not tried before the group is created."
    members = run.cluster.members(key)
    placed = sum(bool(member.node) for member in members)
    condition = _condition(manifest)
    stands = f"; its condition is {condition}" if condition else "; no cycle has tried it yet"
    return (
        f"It is scheduled with PodGroup {key}, which needs {min_count(manifest):,} pods: {len(members):,} "
        f"exist, {placed:,} of them on nodes{stands}.{_backing_off(run, key)}"
    )


def _backing_off(run: SchedulerRun, key: str) -> str:
    entity = run.queue.error_backoff.get(key)
    if entity is None or entity.backoff_expires is None:
        return ""
    return f" It backs off until {entity.backoff_expires // SECOND + 1:,} s: no event brings it back earlier."
