"""One node of a large cluster alone, to try many changes in the time that one takes on all nodes."""

from __future__ import annotations

from msgspec.structs import replace

from scheduler_core.explain.world import NodeVerdicts
from scheduler_core.kubernetes.keys import Key
from scheduler_core.schedulers.columns.pods import PodState
from scheduler_core.schedulers.v1_11.predicates import CheckServiceAffinity
from scheduler_core.schedulers.v1_11.predicates.interpod import MatchInterPodAffinity

SMALL = 200  # up to so many nodes the whole cluster is fast enough
ELSEWHERE = (MatchInterPodAffinity, CheckServiceAffinity)  # predicates that inspect other nodes too


def alone(standing: NodeVerdicts, row: int) -> NodeVerdicts | None:
    """Return the node with its pods, and those nominated to it, as a separate cluster.

    ``None`` if that would not do: the cluster is small, or a failure depends on other nodes too. Results must
    be verified on the whole cluster, since an edit may change how the node affects others.
    """
    if (
        not standing.divisible
        or len(standing.names) <= SMALL
        or standing.early is not None
        or standing.filtered.errors
    ):
        return None
    failing = {failure.predicate for failure in standing.failures(row)}
    profile = standing.world.profile
    beyond = {name for name, p in zip(profile.order, profile.predicates) if isinstance(p, ELSEWHERE)}
    if failing & beyond:
        return None
    world, name = standing.world, standing.names[row]
    states: dict[str, PodState] = {state.key: state for state in standing.queue.nominated_to(name)}
    states |= standing.cluster.residents[row] | {standing.pod.key: standing.pod}
    pods = sorted(states.values(), key=lambda state: state.order)
    keys: list[Key] = [("Node", name), *standing.once("shared", lambda: _shared(standing))]
    keys += [("Pod", state.key) for state in pods]
    return NodeVerdicts(replace(world, objects={key: world.objects[key] for key in keys}))


def _shared(standing: NodeVerdicts) -> list[Key]:
    """Return every object that is neither a node nor a pod: volumes, services, controllers, budgets."""
    return [key for key in standing.world.objects if key[0] not in ("Node", "Pod")]
