"""The sentences of a cycle of kube-scheduler v1.37 that other releases have otherwise."""

from __future__ import annotations

from playground.panels.sentences import Sentence, SentencePart, counted, listed, placements
from scheduler_core.record.cycle import Cycle
from scheduler_core.run.v1_37.record import Hint, ReleaseRecord, release_record
from scheduler_core.schedulers.v1_37.extender_calls import EXTENDER

HINTS: SentencePart = {"tab": "Hints"}
WAITS_IN = {
    "unschedulable": "waits in the unschedulable queue until an event moves it",
    "backoff": "backs off: an event during its attempt may help it",
    "active": "is active again: an event during its attempt may help it",
}

BY_HEAP = "The tie is broken by heap order, not at random; the node at the root of the heap of totals is "
AT_RANDOM = (
    "kube-scheduler takes one of {:,} of them at random, because extenders were asked; here it is always the "
    "node at the root of the heap of totals, "
)


def heading(cycle: Cycle) -> list[Sentence]:
    """Say which kube-scheduler runs the cycle, for which profile and, of a PodGroup, for which group."""
    record = release_record(cycle)
    if record is None or (cycle.result == "undecided" and not cycle.phases):
        return []
    opening: Sentence = [{"strong": f"kube-scheduler {record.release}"}, " runs this cycle"]
    if record.profile not in ("", "default-scheduler"):
        opening += [" with the profile ", {"strong": record.profile}]
    sentences: list[Sentence] = [[*opening, "."]]
    if record.group is not None:
        pods = list(dict.fromkeys(attempt.pod.key for attempt in record.attempts))
        sentences.append(
            ["The PodGroup ", {"strong": record.entity}, " is tried as a whole: ", *listed("pod", pods), "."]
        )
    if record.hint:
        sentences.append(["Batching named ", {"node": record.hint}, ", the next best node of an equal pod."])
    return [*sentences, *_walk(cycle, record)]


def _walk(cycle: Cycle, record: ReleaseRecord) -> list[Sentence]:
    """Say how far the walk over the nodes came, if it did not come to all."""
    total = len(cycle.nodes)
    if not record.evaluated or record.evaluated >= total:
        return []
    first = _tried_first(cycle, record)
    if first:
        return [[{"node": str(cycle.node)}, f", {first}, fits, so filters ran on no other node."]]
    walked = f"Filters ran on {record.evaluated:,} of {counted(total, 'node')}"
    attempt = record.attempt_of(cycle.pod)
    if attempt is not None and len(attempt.absent):
        return [[f"{walked}: PreFilter left the others out."]]
    begun = f"from position {record.start % total + 1:,} of the walk on"
    if attempt is None or attempt.error is not None:
        return [[f"{walked}, {begun}: a filter failed there."]]
    enough = f"There it found one more than the {len(cycle.feasible):,} feasible nodes that are enough."
    return [[f"{walked}, {begun}. {enough}"]]


def _tried_first(cycle: Cycle, record: ReleaseRecord) -> str:
    """Return why the chosen node alone was looked at; "" if it was found by the walk."""
    if record.evaluated != 1 or cycle.node is None:
        return ""
    if cycle.node == record.hint:
        return "named by batching"
    attempt = record.attempt_of(cycle.pod)
    nominated = attempt is not None and attempt.pod.nominated_node == cycle.node
    return "to which the pod was nominated" if nominated else ""


def picked(cycle: Cycle) -> Sentence | None:
    """Say how one of several nodes with the highest total was taken; None for another release."""
    record = release_record(cycle)
    if record is None or cycle.totals is None or cycle.node is None:
        return None
    drawn = record.scored.drawn if record.scored is not None else []
    return [
        f"{counted(len(cycle.ties), 'node')} share the highest total, ",
        {"strong": f"{int(cycle.totals.max()):,}"},
        f". {AT_RANDOM.format(len(drawn)) if drawn else BY_HEAP}",
        {"node": cycle.node},
        ".",
    ]


def filed(cycle: Cycle) -> list[Sentence] | None:
    """Say where a pod that found no node waits, and what would wake it; None for another release."""
    record = release_record(cycle)
    if record is None:
        return None
    if record.group is not None:
        return _refused(record)
    pod: SentencePart = {"pod": cycle.pod}
    if cycle.result == "error":
        return [["The attempt for ", pod, " ended in an error; it backs off and is tried again."]]
    where = WAITS_IN.get(record.filed or "unschedulable", WAITS_IN["unschedulable"])
    sentences: list[Sentence] = [[pod, f" {where}."]]
    hint = next((one for one in record.waiting if one.pod == cycle.pod), None)
    return [*sentences, *_wakes(hint)] if hint is not None else sentences


def together(cycle: Cycle) -> list[Sentence]:
    """Say which members of a PodGroup a cycle placed, and which it did not."""
    record = release_record(cycle)
    if record is None or record.group is None or cycle.result == "undecided":
        return []
    placed = cycle.decision.placements
    verb = "is" if len(placed) == 1 else "are"
    sentences: list[Sentence] = [
        [f"Of the PodGroup {record.entity}, ", *placements(cycle.decision), f" {verb} placed in this cycle."]
    ]
    left = _members(record, "unschedulable")
    if left:
        verb = "finds" if len(left) == 1 else "find"
        sentences.append(
            [*listed("pod", left), f" {verb} no node and returns to the queue at once, without backoff."]
        )
    return [*sentences, *_condition(record)]


def _refused(record: ReleaseRecord) -> list[Sentence]:
    """Say that no member of a PodGroup was placed, what preemption came to, and how long the group waits."""
    assert record.group is not None
    group: SentencePart = {"strong": record.entity}
    sentences: list[Sentence] = [["No member of the PodGroup ", group, " is placed: members go all or none."]]
    found = record.group["postFilter"]
    if found is not None and found.get("reasons"):
        sentences.append(["PostFilter for the group: ", {"strong": ", ".join(found["reasons"])}, "."])
    sentences.append(["The group backs off, and only time brings it back: no event does."])
    return [*sentences, *_condition(record)]


def _members(record: ReleaseRecord, result: str) -> list[str]:
    return list(dict.fromkeys(one.pod.key for one in record.attempts if one.result == result))


def _condition(record: ReleaseRecord) -> list[Sentence]:
    assert record.group is not None
    conditions = record.group["conditions"].items()
    return [
        ["Its condition ", {"strong": name}, f" is {text.removesuffix(': ')}."] for name, text in conditions
    ]


def _wakes(hint: Hint) -> list[Sentence]:
    sentences: list[Sentence] = []
    for plugin, _, text in hint.events:
        name: SentencePart = {"strong": plugin} if plugin == EXTENDER else {"predicate": plugin}
        sentences.append([HINTS, " of ", name, f": until {text}."])
    return sentences
