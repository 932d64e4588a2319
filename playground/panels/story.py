"""The cycle in plain sentences, ending with the message of the simulated event."""

from __future__ import annotations

from collections.abc import Sequence

from playground.panels import extender_story, release_story, surprises
from playground.panels.ladder import Rung, stopped
from playground.panels.plugins import PLUGIN_PANELS
from playground.panels.sentences import Sentence, SentencePart, counted, listed, placements
from scheduler_core.record.cache_record import StaleHit
from scheduler_core.record.cycle import Cycle
from scheduler_core.record.preemption import NominatedPass
from scheduler_core.run.v1_37.record import release_record, terms_of

PREEMPTION: SentencePart = {"tab": "Preemption"}
CACHE: SentencePart = {"tab": "Cache"}
FIRST = {
    "group": "one whose PodGroup is older",
    "failure": "one whose PodGroup failed earlier",
    "pod": "one that was queued earlier",
}
"""The first among equal priorities in virtual time, by the origin of the time in the sort key."""
CHOOSING = ("scheduled", "waiting", "undecided")  # results of attempts that choose a node, or may
NOMINATED = 2  # nodes with nominated pods that are described individually
#: The sentence for all nodes passing, by the number of nodes.
EVERY = {1: "The one node passes every {}.", 2: "Both nodes pass every {}."}


def story(
    cycle: Cycle, rungs: list[Rung], priority: int = 0, *, inside: int = 0, in_turn: bool = True
) -> list[Sentence]:
    """Return the sentences of ``cycle``; ``priority`` is that of its pod.

    ``inside`` is how many of its operations were applied between evaluating and writing; ``in_turn`` whether
    ties are broken round-robin or by taking the first node.
    """
    if cycle.scheduler:
        return [*_operations(cycle, len(cycle.operations)), *_restart(cycle), *_custom(cycle)]
    return [
        *_operations(cycle, len(cycle.operations) - inside),
        *_restart(cycle),
        *release_story.heading(cycle),
        *_queue(cycle, priority),
        *_filtering(cycle, rungs),
        *_cached(cycle),
        *_overtaken(cycle, inside),
        *_nominated(cycle),
        *extender_story.choosing(cycle),
        *_choice(cycle, in_turn=in_turn),
        *surprises.of_scores(cycle),
        *_preemption(cycle),
        *extender_story.ending(cycle),
        *_outcome(cycle),
    ]


def _custom(cycle: Cycle) -> list[Sentence]:
    """Describe the decision of a custom scheduler, which has neither predicates nor priorities."""
    if cycle.result == "undecided":
        return []
    name: SentencePart = {"strong": cycle.scheduler}
    if not cycle.decision.placements:
        unplaced: list[Sentence] = [["The scheduler ", name, " finds no node for ", {"pod": cycle.pod}, "."]]
        return [*unplaced, *_evicted(cycle), *_decided(cycle), *_message(cycle)]
    placed: Sentence = ["The scheduler ", name, " places ", *placements(cycle.decision), " in one decision."]
    left = cycle.queue.active_count
    if not left:
        return [placed, *_evicted(cycle), *_decided(cycle)]
    return [
        placed,
        *_evicted(cycle),
        *_decided(cycle),
        [f"{counted(left, 'more pod')} {'waits' if left == 1 else 'wait'} for it."],
    ]


def _decided(cycle: Cycle) -> list[Sentence]:
    return [sentence for panel in PLUGIN_PANELS for sentence in panel.decided(cycle)]


def _message(cycle: Cycle) -> list[Sentence]:
    return [[{"strong": cycle.message}]] if cycle.message else []


def _evicted(cycle: Cycle) -> list[Sentence]:
    victims = list(cycle.decision.victims)
    return [["It evicts ", *listed("pod", victims), "."]] if victims else []


def _operations(cycle: Cycle, count: int) -> list[Sentence]:
    if not count:
        return []
    return [
        [
            f"{counted(count, 'change').capitalize()} from outside came first (scenario step ",
            {"strong": cycle.step},
            ").",
        ]
    ]


def _restart(cycle: Cycle) -> list[Sentence]:
    """Describe a restart with the changes of predicates and priorities."""
    if cycle.restart is None:
        return []
    if release_record(cycle) is not None:
        return [["The scheduler was restarted: all pending pods entered its queue again."]]
    emptied = "All pending pods are in the active queue again, and caches and counters are empty."
    if not cycle.restart.changes:
        return [["The scheduler was restarted with a policy that schedules alike. ", emptied]]
    changes = "; ".join(cycle.restart.changes)
    return [["The scheduler was restarted with another policy: ", {"strong": changes}, ". ", emptied]]


def _queue(cycle: Cycle, priority: int) -> list[Sentence]:
    if cycle.result == "undecided" and not cycle.phases:  # the pod has not been popped
        return []
    early = surprises.popped_early(cycle)
    if early is not None:
        return [early]
    pod: SentencePart = {"pod": cycle.pod}
    waiting = cycle.queue.active_count
    rank = f" with priority {priority:,}" if priority else ""
    if not waiting:
        return [[pod, f" is the only pod in the active queue{rank}, so it is tried now."]]
    behind = "waits" if waiting == 1 else "wait"
    why = "of the highest priority" if priority else "of equal priority"
    timed = cycle.queue.timed
    first = "earliest created" if timed is None else FIRST.get(timed.tried.sort_by, FIRST["pod"])
    return [
        [
            pod,
            f" is taken from the head of the queue{rank}: {counted(waiting, 'pod')} {behind} behind it; ",
            f"among pods {why} the {first} goes first.",
        ]
    ]


def _filtering(cycle: Cycle, rungs: list[Rung]) -> list[Sentence]:
    if cycle.matrix is None:
        return _turned_away(cycle)
    total = rungs[0][1] if rungs and release_record(cycle) is not None else len(cycle.nodes)
    removed = stopped(rungs)
    if not removed:
        return [[EVERY.get(total, f"All {total:,} nodes pass every {{}}.").format(terms_of(cycle).filter)]]
    sentence: Sentence = [f"Of {counted(total, 'node')}, "]
    for position, (name, count) in enumerate(removed.items()):
        if position:
            sentence.append(" and " if position == len(removed) - 1 else ", ")
        sentence += [extender_story.part_of("predicate", name), f" rules out {count:,}"]
    left = len(cycle.feasible)
    sentence.append("; none is left." if not left else f"; {left:,} {'is' if left == 1 else 'are'} left.")
    return [sentence]


def _turned_away(cycle: Cycle) -> list[Sentence]:
    """Describe why no predicate ran: PreFilter of a plugin may have rejected the pod."""
    sentences = [sentence for panel in PLUGIN_PANELS for sentence in panel.turned_away(cycle)]
    return sentences or ([] if cycle.result == "undecided" else [[f"No {terms_of(cycle).filter} ran."]])


def _cached(cycle: Cycle) -> list[Sentence]:
    """Describe the cache hits in this cycle, and the stale ones among them."""
    record = cycle.cache
    if record is None or not record.counts.hits or record.hint:
        return []
    hits, answers = record.counts.hits, record.counts.hits + record.counts.evaluations
    share = "The one answer" if answers == 1 else f"All {hits:,} answers" if hits == answers else None
    sentences: list[Sentence] = [
        [f"{share or f'{hits:,} of {answers:,} answers'} came from the ", CACHE, "."]
    ]
    if record.stale:
        sentences.append(_wrong(cycle, record.stale, record.counts.stale))
    return sentences


def _wrong(cycle: Cycle, stale: Sequence[StaleHit], count: int) -> Sentence:
    """Describe a stale hit: one on the chosen node, if there is any."""
    example = next((hit for hit in stale if hit.node == cycle.node), stale[0])
    answer, truth = ("does not fit", "it does") if example.cached else ("fits", "it does not")
    if example.cached and example.true:
        truth = "that is so for other reasons"
    return [
        {"strong": "1 answer was stale" if count == 1 else f"{count:,} answers were stale"},
        ": " if count == 1 else "; one of them: ",
        {"predicate": example.predicate},
        f" says that the pod {answer} on ",
        {"node": example.node},
        f", and {truth}.",
    ]


def _overtaken(cycle: Cycle, count: int) -> list[Sentence]:
    """Describe operations applied after the predicates ran and before their results were written."""
    if not count:
        return []
    came = f"{counted(count, 'change')} from outside came now, after the {terms_of(cycle).filter}s had run"
    if cycle.cache is None or cycle.cache.sources is None:
        return [[f"{came}."]]
    discarded = cycle.cache.counts.discarded
    became = (
        f"{counted(discarded, 'result')} {'was' if discarded == 1 else 'were'} discarded"
        if discarded
        else "they are written all the same"
        if cycle.cache.counts.writes
        else "none was to be written"
    )
    return [[f"{came} and before their results were written to the ", CACHE, f"; {became}."]]


#: The outcome for a node that was checked in two passes, by the pass that failed it.
PASSES = {
    1: "With them there the node fails.",
    2: "With them there the node passes, but without them it fails.",
    None: "The node passes with them and without them.",
}


def _nominated(cycle: Cycle) -> list[Sentence]:
    """Describe the nodes that were checked in two passes."""
    passes = cycle.nominated_passes
    sentences = [_two_passes(cycle, nominated) for nominated in passes[:NOMINATED]]
    if len(passes) > NOMINATED:
        more = counted(len(passes) - NOMINATED, "other node")
        sentences.append([f"{more} with nominated pods were checked twice in the same way."])
    return sentences


def _two_passes(cycle: Cycle, nominated: NominatedPass) -> Sentence:
    verb = "is" if len(nominated.pods) == 1 else "are"
    node: SentencePart = {"node": cycle.nodes[nominated.node]}
    outcome = PASSES[nominated.failed]
    if len(nominated.pods) == 1:
        outcome = outcome.replace("them", "it")
    return [
        *listed("pod", list(nominated.pods)),
        f" {verb} nominated to ",
        node,
        f" and counted there first. {outcome}",
    ]


def _choice(cycle: Cycle, *, in_turn: bool) -> list[Sentence]:
    if cycle.result not in CHOOSING:
        return []
    sentences: list[Sentence] = []
    if cycle.totals is not None and cycle.priorities:
        names = listed("priority", [row.name for row in cycle.priorities])
        weighed = [
            extender_story.part_of("priority", part["priority"]) if isinstance(part, dict) else part
            for part in names
        ]
        sentences.append(
            [f"The {counted(len(cycle.feasible), 'feasible node')} are ranked by ", *weighed, "."]
        )
    if cycle.node is None:
        return sentences if cycle.result == "undecided" else []
    node: SentencePart = {"node": cycle.node}
    if cycle.totals is None:
        return [["Only ", node, " is feasible, so it is taken without ranking."]]
    best = int(cycle.totals.max())
    ties = cycle.ties.tolist()
    if len(ties) <= 1:
        sentences.append([node, " has the highest total, ", {"strong": f"{best:,}"}, ", and is chosen."])
        return sentences
    root = release_story.picked(cycle)
    if root is not None:
        return [*sentences, root]
    share: Sentence = [f"{counted(len(ties), 'node')} share the highest total, ", {"strong": f"{best:,}"}]
    return [*sentences, [*share, *_picked(cycle.last_node_index, len(ties), in_turn=in_turn), node, "."]]


def _picked(counter: int, ties: int, *, in_turn: bool) -> Sentence:
    """Describe how one of the nodes with the highest total was selected, up to its name."""
    if not in_turn:
        return [". Any of them may be taken; here it is always the first in the order of the nodes, "]
    return [
        ". Equal totals are ordered by node name, last first. ",
        f"The round-robin counter stands at {counter:,}, and ",
        f"{counter:,} mod {ties:,} = {counter % ties:,}, which picks ",
    ]


def _preemption(cycle: Cycle) -> list[Sentence]:
    tried = cycle.preemption
    if tried is None:
        return []
    pod: SentencePart = {"pod": cycle.pod}
    if tried.never:
        return [[PREEMPTION, " is not tried: ", pod, " has preemptionPolicy Never."]]
    if not tried.eligible:
        return [[PREEMPTION, " is not tried: ", pod, " already waits for its own victims to terminate."]]
    if not tried.potential.size:
        return [[PREEMPTION, " cannot help: removing pods would not make any node pass."]]
    node = tried.node
    if not node:
        tested = counted(len(tried.potential), "node")
        looked = f" looked at {tested}: removing pods of lower priority would not make room for "
        return [[PREEMPTION, looked, pod, " there." if len(tried.potential) == 1 else " on any of them."]]
    victims = tried.victims
    if not victims:
        return [[PREEMPTION, " nominates ", pod, " to ", {"node": node}, " without a victim."]]
    verb = "is" if len(victims) == 1 else "are"
    return [
        [PREEMPTION, " makes room on ", {"node": node}, ": ", *listed("pod", victims), f" {verb} deleted."],
        [pod, " is nominated to ", {"node": node}, " and returns to the queue."],
    ]


def _outcome(cycle: Cycle) -> list[Sentence]:
    if cycle.result == "undecided":
        return []
    pod: SentencePart = {"pod": cycle.pod}
    if cycle.result == "scheduled" and cycle.node:
        placed: Sentence = [pod, " is placed on ", {"node": cycle.node}, "."]
        outcome = release_story.together(cycle) or [placed]
        return [*outcome, *_permitted(cycle), *_last_message(cycle, "Normal")]
    if cycle.result == "waiting" and cycle.node:
        return [_waits(cycle, cycle.node), *_rejected(cycle)]
    filed = release_story.filed(cycle)
    if filed is not None:
        return [*filed, [{"strong": cycle.message}], *surprises.of_message(cycle)] if cycle.message else filed
    closing: Sentence = [pod, " is unschedulable for now and waits in the unschedulable queue."]
    if cycle.result == "error":
        closing = ["The attempt for ", pod, " ended in an error; it waits in the unschedulable queue."]
    sentences = [] if cycle.decision.victims else [closing]  # with victims it is retried at once
    sentences += _rejected(cycle)
    return [*sentences, [{"strong": cycle.message}]] if cycle.message else sentences


def _permitted(cycle: Cycle) -> list[Sentence]:
    return [sentence for panel in PLUGIN_PANELS for sentence in panel.permitted(cycle)]


def _rejected(cycle: Cycle) -> list[Sentence]:
    return [sentence for panel in PLUGIN_PANELS for sentence in panel.rejected(cycle)]


def _waits(cycle: Cycle, node: str) -> Sentence:
    """Describe a pod that waits at Permit, and for what."""
    sentence: Sentence = [{"pod": cycle.pod}, " is assumed on ", {"node": node}, " and waits there at Permit"]
    awaited = [part for panel in PLUGIN_PANELS for part in panel.awaited(cycle)]
    return [*sentence, *(awaited or ["."])]


def _last_message(cycle: Cycle, event_type: str) -> list[Sentence]:
    events = [event for event in reversed(cycle.events) if event.type == event_type]
    own = [event for event in events if (event.reason, event.object) == ("Scheduled", f"pod/{cycle.pod}")]
    message = next((event.message for event in (*own, *events)), None)  # in virtual time others follow
    return [[{"strong": message}]] if message else []
