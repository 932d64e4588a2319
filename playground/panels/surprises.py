"""Surprising facts about a cycle of kube-scheduler v1.37, each shown where it applies."""

from __future__ import annotations

import numpy as np

from playground.panels.sentences import Sentence, counted, listed
from scheduler_core.record.cycle import Cycle
from scheduler_core.run.v1_37.record import release_record
from scheduler_core.schedulers.extenders.record import extender_record
from scheduler_core.schedulers.v1_37.batches import MAX_AGE
from scheduler_core.schedulers.v1_37.extender_calls import SCORED_BY_NODE_INFO
from scheduler_core.schedulers.v1_37.plugins.pod_topology_spread import DEFAULT_CONSTRAINTS
from scheduler_core.schedulers.v1_37.quirks import EMPTIED
from scheduler_core.schedulers.v1_37.score_arrays import ScoredNodes
from scheduler_core.schedulers.v1_37.signatures import unsigned_because

BATCHING = (
    "kube-scheduler v1.37 has no equivalence cache: it was removed in 1.12. What came after it is "
    "opportunistic batching (KEP-5598): a pod equal to the one that was scheduled just before may take the "
    "next best of the nodes that were scored for that one. It is on by default."
)
NO_EFFECT = "Here it is without effect: {}, so that no other pod counts as equal."
NAMED_NONE = (
    "In this cycle it named none. It does only right after an equal pod was chosen a node from several that "
    f"were scored, within {MAX_AGE} ms, and without extenders."
)
LIFTED = (
    " A KubeSchedulerConfiguration with defaultingType: List and no defaultConstraints for PodTopologySpread "
    "lets it have one."
)
EXTENDED = "the scheduler has extenders, of which no pod's signature knows"
NO_CHANGE_OF_BALANCE = 75
"""NodeResourcesBalancedAllocation's score of a node whose balance the pod leaves as it is."""


def popped_early(cycle: Cycle) -> Sentence | None:
    """Say that a pod did not wait for the end of its backoff; None if it did."""
    timed = cycle.queue.timed
    if release_record(cycle) is None or timed is None or cycle.queue.active_count:
        return None
    until = timed.tried.backoff_until
    if until is None or until <= cycle.time:
        return None
    return [
        {"pod": cycle.pod},
        f" was to back off until {until:g} s. ",
        "No pod is active, so the head of the backoff queue is tried at once.",
    ]


def of_scores(cycle: Cycle) -> list[Sentence]:
    """Say which scores do not mean what one would take them for."""
    record = release_record(cycle)
    if record is None or record.scored is None:
        return []
    sentences: list[Sentence] = []
    attempt = record.attempt_of(cycle.pod)
    plugins = record.scored.plugins
    if attempt is not None and attempt.rebuilt:
        sentences.append(_emptied(record.scored))
    if attempt is not None and attempt.pod.spec.get("resources") and "NodeResourcesFit" in plugins:
        sentences.append(
            [
                {"priority": "NodeResourcesFit"},
                " ignores spec.resources of the pod that it scores and counts its containers' requests.",
            ]
        )
    balance = plugins.get("NodeResourcesBalancedAllocation")
    if balance is not None and len(balance.raw) and bool(np.all(balance.raw == NO_CHANGE_OF_BALANCE)):
        sentences.append(
            [
                {"priority": "NodeResourcesBalancedAllocation"},
                f" gives {NO_CHANGE_OF_BALANCE} on {counted(len(balance.raw), 'node')}: ",
                "the pod changes the balance of none.",
            ]
        )
    return sentences


def _emptied(scored: ScoredNodes) -> Sentence:
    """Say that an extender returned nodes, which are then scored without what is on them."""
    names = [name for name in scored.plugins if name in SCORED_BY_NODE_INFO]
    verb = "scores" if len(names) == 1 else "score"
    returned = "because an extender without nodeCacheCapable returned them: a known bug of v1.37, "
    return [
        *listed("priority", names),
        f" {verb} the nodes as if no pod ran on them and they had no image, {returned}",
        {"strong": EMPTIED.upstream[1].name},
        ".",
    ]


def of_message(cycle: Cycle) -> list[Sentence]:
    """Say where a message that ends in "not found" comes from."""
    record = release_record(cycle)
    if record is None or not (cycle.message or "").endswith(" not found"):
        return []
    attempt = record.attempt_of(cycle.pod)
    failed = {} if attempt is None else attempt.post_filter
    if not any(status.reasons == ("not found",) for status in failed.values()):
        return []
    return [
        [
            "The message ends with \u201cnot found\u201d because PreFilter ended before ",
            {"predicate": "DynamicResources"},
            " ran: its PostFilter finds no state, and preemption is not tried.",
        ]
    ]


def batching(cycle: Cycle) -> str:
    """Return what the equivalence cache's successor does in a cycle."""
    record = release_record(cycle)
    attempt = None if record is None else record.attempt_of(cycle.pod)
    if record is None or attempt is None:
        return BATCHING
    if record.hint:
        return f"{BATCHING} In this cycle it named {record.hint}."
    why = EXTENDED if extender_record(cycle) is not None else unsigned_because(attempt.pod, attempt.profile)
    if not why:
        return f"{BATCHING} {NAMED_NONE}"
    return f"{BATCHING} {NO_EFFECT.format(why)}" + (LIFTED if why == DEFAULT_CONSTRAINTS else "")
