"""The cycle told in plain sentences, ending with the message that kubectl shows."""

from __future__ import annotations

from playground.panels.ladder import Rung, stopped
from playground.panels.sentences import Part, Sentence, counted, listed
from scheduler_core.cycle import Cycle
from scheduler_core.preemption_record import NominatedPass

PREEMPTION: Part = {"tab": "Preemption"}
NOMINATED = 2  # nodes with nominated pods that are told one by one
#: What is said when every node passes, by the number of nodes.
EVERY = {1: "The one node passes every predicate.", 2: "Both nodes pass every predicate."}


def story(cycle: Cycle, rungs: list[Rung], priority: int = 0) -> list[Sentence]:
    """Return the sentences of ``cycle``; ``priority`` is that of its pod."""
    return [
        *_operations(cycle),
        *_restart(cycle),
        _queue(cycle, priority),
        *_filtering(cycle, rungs),
        *_nominated(cycle),
        *_choice(cycle),
        *_preemption(cycle),
        *_outcome(cycle),
    ]


def _operations(cycle: Cycle) -> list[Sentence]:
    count = len(cycle.operations)
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
    """Tell of a restart, and name the predicates and priorities as everywhere."""
    if cycle.restart is None:
        return []
    emptied = "All pending pods are in the active queue again, and caches and counters are empty."
    if not cycle.restart.changes:
        return [["The scheduler was restarted with a policy that schedules alike. ", emptied]]
    told = "; ".join(cycle.restart.changes)
    return [["The scheduler was restarted with another policy: ", {"strong": told}, ". ", emptied]]


def _queue(cycle: Cycle, priority: int) -> Sentence:
    pod: Part = {"pod": cycle.pod}
    waiting = cycle.queue.active_count
    rank = f" with priority {priority:,}" if priority else ""
    if not waiting:
        return [pod, f" is the only pod in the active queue{rank}, so it is tried now."]
    behind = "waits" if waiting == 1 else "wait"
    why = "of the highest priority" if priority else "of equal priority"
    return [
        pod,
        f" is taken from the head of the queue{rank}: {counted(waiting, 'pod')} {behind} behind it; ",
        f"among pods {why} the earliest created goes first.",
    ]


def _filtering(cycle: Cycle, rungs: list[Rung]) -> list[Sentence]:
    if cycle.matrix is None:
        return [["No predicate ran."]]
    total = len(cycle.nodes)
    removed = stopped(rungs)
    if not removed:
        return [[EVERY.get(total, f"All {total:,} nodes pass every predicate.")]]
    sentence: Sentence = [f"Of {counted(total, 'node')}, "]
    for position, (name, count) in enumerate(removed.items()):
        if position:
            sentence.append(" and " if position == len(removed) - 1 else ", ")
        sentence += [{"predicate": name}, f" rules out {count:,}"]
    left = len(cycle.feasible)
    sentence.append("; none is left." if not left else f"; {left:,} {'is' if left == 1 else 'are'} left.")
    return [sentence]


#: What became of a node that was checked in two passes, by the pass that failed it.
PASSES = {
    1: "With them there the node fails.",
    2: "With them there the node passes, but without them it fails.",
    None: "The node passes with them and without them.",
}


def _nominated(cycle: Cycle) -> list[Sentence]:
    """Tell of the nodes that were checked in two passes."""
    passes = cycle.nominated_passes
    sentences = [_two_passes(cycle, told) for told in passes[:NOMINATED]]
    if len(passes) > NOMINATED:
        more = counted(len(passes) - NOMINATED, "other node")
        sentences.append([f"{more} with nominated pods were checked twice in the same way."])
    return sentences


def _two_passes(cycle: Cycle, told: NominatedPass) -> Sentence:
    verb = "is" if len(told.pods) == 1 else "are"
    node: Part = {"node": cycle.nodes[told.node]}
    outcome = PASSES[told.failed]
    if len(told.pods) == 1:
        outcome = outcome.replace("them", "it")
    return [
        *listed("pod", list(told.pods)),
        f" {verb} nominated to ",
        node,
        f" and counted there first. {outcome}",
    ]


def _choice(cycle: Cycle) -> list[Sentence]:
    if cycle.result != "scheduled" or cycle.node is None:
        return []
    node: Part = {"node": cycle.node}
    if cycle.totals is None:
        return [["Only ", node, " is feasible, so it is taken without ranking."]]
    best = int(cycle.totals.max())
    sentences: list[Sentence] = []
    if cycle.priorities:
        weighed: list[Part] = listed("priority", [row.name for row in cycle.priorities])
        sentences.append(
            [f"The {counted(len(cycle.feasible), 'feasible node')} are ranked by ", *weighed, "."]
        )
    ties = cycle.ties.tolist()
    if len(ties) <= 1:
        sentences.append([node, " has the highest total, ", {"strong": f"{best:,}"}, ", and is chosen."])
        return sentences
    counter = cycle.last_node_index
    place = counter % len(ties)
    sentences.append(
        [
            f"{counted(len(ties), 'node')} share the highest total, ",
            {"strong": f"{best:,}"},
            ". Equal totals are ordered by node name, last first. ",
            f"The round-robin counter stands at {counter:,}, and ",
            f"{counter:,} mod {len(ties):,} = {place:,}, which picks ",
            node,
            ".",
        ]
    )
    return sentences


def _preemption(cycle: Cycle) -> list[Sentence]:
    tried = cycle.preemption
    if tried is None:
        return []
    pod: Part = {"pod": cycle.pod}
    if not tried.eligible:
        return [[PREEMPTION, " is not tried: ", pod, " already waits for victims of its own to go."]]
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
        [pod, " is nominated to ", {"node": node}, " and goes back to the queue."],
    ]


def _outcome(cycle: Cycle) -> list[Sentence]:
    pod: Part = {"pod": cycle.pod}
    if cycle.result == "scheduled" and cycle.node:
        return [[pod, " is placed on ", {"node": cycle.node}, "."], *_last_message(cycle, "Normal")]
    closing: Sentence = [pod, " is unschedulable for now and waits in the unschedulable queue."]
    if cycle.result == "error":
        closing = ["The attempt for ", pod, " ended in an error; it waits in the unschedulable queue."]
    sentences = [] if cycle.decision.victims else [closing]  # with victims it is tried again at once
    return [*sentences, [{"strong": cycle.message}]] if cycle.message else sentences


def _last_message(cycle: Cycle, event_type: str) -> list[Sentence]:
    message = next((event.message for event in reversed(cycle.events) if event.type == event_type), None)
    return [[{"strong": message}]] if message else []
