"""PodLifeTime: pods that are older than allowed, or in a given state for long enough."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from scheduler_core.cluster.descheduler.arguments import (
    SCOPE_FIELDS,
    SECONDS,
    TEXTS,
    InvalidArguments,
    PodScope,
    args_reader,
    check_scope,
)
from scheduler_core.cluster.descheduler.container_states import (
    CONTAINERS,
    EPHEMERAL,
    INIT,
    exit_codes,
    reasons,
)
from scheduler_core.cluster.descheduler.eviction import NODE_LIMIT
from scheduler_core.cluster.descheduler.facts import PodFacts
from scheduler_core.cluster.descheduler.strategy import DESCHEDULE, Strategy, StrategyContext
from scheduler_core.cluster.v1_37.objects import second
from scheduler_core.kubernetes.readers import Field, boolean, integer, list_of, record, text

STATES = frozenset(
    (
        *("Running", "Pending", "Succeeded", "Failed", "Unknown"),
        *("NodeAffinity", "NodeLost", "Shutdown", "UnexpectedAdmissionError"),
        *("PodInitializing", "ContainerCreating", "ImagePullBackOff", "CrashLoopBackOff"),
        *("CreateContainerConfigError", "ErrImagePull", "CreateContainerError", "InvalidImageName"),
        *(
            "OOMKilled",
            "Error",
            "Completed",
            "DeadlineExceeded",
            "Evicted",
            "ContainerCannotRun",
            "StartError",
        ),
    )
)
"""Phases, reasons of a pod's status, and reasons for which containers wait or have terminated."""


class ConditionFilter(Struct, frozen=True):
    """A filter of conditions; "" fields and ``None`` are not looked at."""

    type: str = ""
    status: str = ""
    reason: str = ""
    least_idle: int | None = None

    def has(self, condition: Mapping[str, Any], now: float) -> bool:
        """Return whether a condition satisfies it."""
        fields = (("type", self.type), ("status", self.status), ("reason", self.reason))
        if any(wanted and condition.get(name) != wanted for name, wanted in fields):
            return False
        since = condition.get("lastTransitionTime")
        return self.least_idle is None or (bool(since) and now - second(since) >= self.least_idle)


class OwnerKinds(Struct, frozen=True):
    """Kinds of owners to include, or to exclude."""

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    def have(self, pod: PodFacts) -> bool:
        """Return whether a pod's owners are considered."""
        kinds = {one["kind"] for one in pod.owners}
        return bool(kinds & set(self.include)) if self.include else not kinds & set(self.exclude)


class PodLifeTimeArgs(PodScope, frozen=True, kw_only=True):
    """PodLifeTimeArgs; every criterion that is set must hold."""

    owner_kinds: OwnerKinds = OwnerKinds()
    most_seconds: int | None = None
    states: tuple[str, ...] = ()
    conditions: tuple[ConditionFilter, ...] = ()
    exit_codes: tuple[int, ...] = ()
    init_containers: bool = False
    ephemeral_containers: bool = False

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields of the status whose containers are looked at for states."""
        more = ((INIT, self.init_containers), (EPHEMERAL, self.ephemeral_containers))
        return (CONTAINERS, *(name for name, on in more if on))


def _check(args: PodLifeTimeArgs) -> Iterator[InvalidArguments]:
    yield from check_scope(args)
    if args.owner_kinds.include and args.owner_kinds.exclude:
        yield InvalidArguments(
            "only one of Include/Exclude ownerKinds can be set", "ownerKinds", "remove one of them"
        )
    if not STATES.issuperset(args.states):
        wrong = next(place for place, one in enumerate(args.states) if one not in STATES)
        text = f"states must be one of [{' '.join(sorted(STATES))}]"
        yield InvalidArguments(text, f"states[{wrong}]", "write one of them")
    for place, one in enumerate(args.conditions):
        if one == ConditionFilter():
            text = "at least one of type, status, reason, or minTimeSinceLastTransitionSeconds must be set"
            yield InvalidArguments(
                f"conditions[{place}]: {text}", f"conditions[{place}]", "set one, or remove it"
            )
    if args.most_seconds is None and not (args.states or args.conditions or args.exit_codes):
        yield InvalidArguments(
            "at least one filtering criterion must be specified "
            "(maxPodLifeTimeSeconds, states, conditions, or exitCodes)",
            "maxPodLifeTimeSeconds",
            "set one of them",
        )


def _criteria(context: StrategyContext, args: PodLifeTimeArgs, pod: PodFacts) -> Iterator[str]:
    """Yield for each criterion that is set how the pod meets it, "" if it does not."""
    now = context.listing.now
    if args.most_seconds is not None:
        age = now - pod.created
        yield f"{age:.0f} s old" if int(age) > args.most_seconds and age >= 0 else ""
    if args.states:
        found = {pod.phase, pod.status.get("reason"), *reasons(pod, args.fields)} & set(args.states)
        yield f"in state {', '.join(sorted(map(str, found)))}" if found else ""
    if args.conditions:
        conditions = pod.status.get("conditions") or ()
        met = next((one for one in conditions if any(row.has(one, now) for row in args.conditions)), None)
        yield f"condition {met['type']} is {met['status']}" if met else ""
    if args.exit_codes:
        ended = exit_codes(pod, (CONTAINERS, INIT)[: 1 + args.init_containers]) & set(args.exit_codes)
        yield f"exit code {min(ended)}" if ended else ""


def run(context: StrategyContext, args: PodLifeTimeArgs) -> None:
    """Evict the oldest pods first; a node at its limit is passed over."""
    found = [
        (pod, ", ".join(met))
        for node in context.nodes
        for pod in context.listing.all_pods_on(node.name)
        if args.has(pod)
        and args.owner_kinds.have(pod)
        and all(met := [*_criteria(context, args, pod)])
        and context.admits(pod)
    ]
    full: set[str] = set()
    for pod, reason in sorted(found, key=lambda row: row[0].created):
        if pod.node not in full and context.evict(pod, reason) == NODE_LIMIT:
            full.add(pod.node)


_CONDITION = record(
    ConditionFilter,
    {
        "type": Field("type", text),
        "status": Field("status", text),
        "reason": Field("reason", text),
        "minTimeSinceLastTransitionSeconds": Field("least_idle", SECONDS),
    },
)

STRATEGY = Strategy(
    name="PodLifeTime",
    point=DESCHEDULE,
    words="evicts pods that are older than maxPodLifeTimeSeconds, or in one of the given states",
    args=args_reader(
        PodLifeTimeArgs,
        {
            **SCOPE_FIELDS,
            "ownerKinds": Field(
                "owner_kinds",
                record(OwnerKinds, {"include": Field("include", TEXTS), "exclude": Field("exclude", TEXTS)}),
            ),
            "maxPodLifeTimeSeconds": Field("most_seconds", SECONDS),
            "states": Field("states", TEXTS),
            "conditions": Field("conditions", list_of(_CONDITION)),
            "exitCodes": Field("exit_codes", list_of(integer())),
            "includingInitContainers": Field("init_containers", boolean),
            "includingEphemeralContainers": Field("ephemeral_containers", boolean),
        },
    ),
    check=_check,
    starting={"maxPodLifeTimeSeconds": 86_400},
    run=run,
)
