"""A session's steps as rows of a page: each with a sentence, what it is about, and its numbers.

Shares are no rows of their own: they belong to the step that changed them. Lists are cut, and counted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from playground.panels.sentences import LISTED, Sentence, SentencePart, counted, joined, listed
from scheduler_core.schedulers.kube_batch.record import (
    Dispatch,
    Eviction,
    Forgotten,
    GroupWritten,
    HeapPop,
    InvalidJob,
    JobDropped,
    JobShares,
    LeftOutStep,
    NodesConsidered,
    Placement,
    PlacementFailed,
    ProportionRound,
    QueueDropped,
    QueueShares,
    SessionEvent,
    SessionRecord,
    StatementEnd,
    Step,
    VictimsChosen,
)

ROWS = 150  # of a page
HEAP = 60  # items of a heap
NODES = 20  # candidates, and as many that are short
REASONS = 10  # why nodes were refused
TASKS = 30  # victims, and operations of a statement
QUEUES = 40  # in a round, and among accounts
JOBS = 60  # among accounts

Detail = dict[str, Any]
Row = tuple[Sentence, Detail | None]


def job_of(step: Step) -> str:
    """Return the job that a step is about, "" if it is about none."""
    if isinstance(step, HeapPop):
        return {"job": step.popped, "task": step.owner}.get(step.what, "")
    return step.group if isinstance(step, GroupWritten) else getattr(step, "job", "")


def page(record: SessionRecord, first: int, count: int, *, action: str = "", job: str = "") -> dict[str, Any]:
    """Return rows ``first``, from 0, and up to ``count`` of those of an action and of a job; "" for any.

    ``accounts`` are the shares before the first row; each row has those that change with it, or until the
    next row.
    """
    count = min(count, ROWS)
    before: dict[str, dict[str, Any]] = {"queues": {}, "jobs": {}}
    rows: list[dict[str, Any]] = []
    found = 0
    for number, step in enumerate(record.steps):
        if isinstance(step, QueueShares | JobShares):
            if found <= first:
                _put(before, step)
            elif found <= first + count:
                _put(rows[-1]["shares"], step)
            continue
        if action not in ("", step.action) or job not in ("", job_of(step)):
            continue
        if first <= found < first + count:
            rows.append(_row(number, step))
        found += 1
    return {
        "from": first,
        "count": found,
        "action": action,
        "job": job,
        "accounts": {"queues": _first(before["queues"], QUEUES), "jobs": _first(before["jobs"], JOBS)},
        "rows": rows,
    }


def _put(shares: dict[str, dict[str, Any]], step: QueueShares | JobShares) -> None:
    if isinstance(step, QueueShares):
        shares["queues"][step.queue] = [dict(step.allocated), step.share]
    else:
        shares["jobs"][step.job] = [dict(step.allocated), step.share, step.dominant]


def _first(accounts: dict[str, Any], most: int) -> dict[str, Any]:
    return dict(list(accounts.items())[:most])


def _row(number: int, step: Step) -> dict[str, Any]:
    text, detail = ROW[type(step)](step)
    return {
        "number": number,
        "action": step.action,
        "step": type(step).__struct_config__.tag,
        "job": job_of(step),
        "text": text,
        "detail": detail,
        "shares": {"queues": {}, "jobs": {}},
    }


def _left_out(step: LeftOutStep) -> Row:
    return [{"strong": f"{step.kind} {step.name}"}, f" takes no part: {step.why}."], None


def _invalid(step: InvalidJob) -> Row:
    why = f" would be rejected if gang were asked in time, but takes part: {step.why}."
    return [{"job": step.job}, why], None


def round_of(step: ProportionRound) -> Detail:
    """Return a round of proportion: what there is to divide, what each queue then deserves, what remains."""
    queues = [[of.queue, of.weight, dict(of.deserved), of.satisfied] for of in step.queues[:QUEUES]]
    return {
        "number": step.number,
        "weights": step.weights,
        "before": dict(step.before),
        "after": dict(step.after),
        "queues": queues,
        "count": len(step.queues),
    }


def _round(step: ProportionRound) -> Row:
    satisfied = [of.queue for of in step.queues if of.satisfied]
    queues = counted(len(step.queues), "queue")
    sentence: Sentence = [
        f"Round {step.number} of proportion divides what remains between {queues} by weight"
    ]
    if not satisfied:
        return [*sentence, "."], {"round": round_of(step)}
    verb = "asks" if len(satisfied) == 1 else "ask"
    return [*sentence, "; ", *listed("strong", satisfied), f" {verb} for less and is done."], {
        "round": round_of(step)
    }


HEAPS = {"queue": "the heap of queues", "job": "the heap of jobs of queue ", "task": "the heap of tasks of "}


def _pop(step: HeapPop) -> Row:
    of: Sentence = [] if not step.owner else [{"job" if step.what == "task" else "strong": step.owner}]
    kind = {"queue": "strong", "job": "job", "task": "pod"}[step.what]
    sentence: Sentence = [{kind: step.popped}, " is popped from ", HEAPS[step.what], *of]
    return [*sentence, f", which has {counted(step.size, 'item')}."], {
        "heap": {
            "what": step.what,
            "size": step.size,
            "items": list(step.before[:HEAP]),
            "popped": step.popped,
        }
    }


def _queue_dropped(step: QueueDropped) -> Row:
    return ["Queue ", {"strong": step.queue}, f" is not served: {step.why}."], None


def _job_dropped(step: JobDropped) -> Row:
    return [{"job": step.job}, " is dropped at ", {"pod": step.task}, f": {step.why}."], None


def _nodes(step: NodesConsidered) -> Row:
    refused, short, candidates = step.counts
    reasons: dict[str, list[str]] = {}
    for node, why in step.refused.items():
        reasons.setdefault(why.replace(f"<{node}>", "<node>"), []).append(node)
    sentence: Sentence = ["For ", {"pod": step.task}, f", {counted(candidates, 'node')} of "]
    sentence.append(f"{refused + short + candidates:,} {'is' if candidates == 1 else 'are'} considered")
    chosen: Sentence = ["; ", {"node": step.chosen}, " is chosen."] if step.chosen else ["."]
    best = step.candidates[:NODES]
    return [*sentence, *chosen], {
        "nodes": {
            "counts": list(step.counts),
            "refused": [[why, names[:LISTED], len(names)] for why, names in list(reasons.items())[:REASONS]],
            "short": list(step.short[:NODES]),
            "candidates": [list(one) for one in best],
            "parts": {name: list(part[: len(best)]) for name, part in step.parts.items()},
            "chosen": step.chosen,
        }
    }


def _placed(step: Placement) -> Row:
    how = (
        " is Allocated on " if step.status == "Allocated" else " is Pipelined onto what is being released on "
    )
    return [{"pod": step.task}, how, {"node": step.node}, "."], None


def _failed(step: PlacementFailed) -> Row:
    return [{"pod": step.task}, f" is not accepted: {step.why}."], None


def _dispatched(step: Dispatch) -> Row:
    job: SentencePart = {"job": step.job}
    return [job, " is ready: ", {"pod": step.task}, " is sent to ", {"node": step.node}, "."], None


def _victims(step: VictimsChosen) -> Row:
    candidates = counted(len(step.candidates), "task")
    sentence: Sentence = ["For ", {"pod": step.task}, f", {candidates} on a node may be victims: "]
    if step.decided:
        end = f"tier {step.decided} decides, and accepts {len(step.victims):,}."
    else:
        end = "no tier accepts any."
    return [*sentence, end], {
        "victims": {
            "what": step.what,
            "candidates": list(step.candidates[:TASKS]),
            "count": len(step.candidates),
            "answers": [
                [one.tier, one.plugin, list(one.victims[:TASKS]), len(one.victims)] for one in step.answers
            ],
            "decided": step.decided,
            "victims": list(step.victims[:TASKS]),
        }
    }


def _evicted(step: Eviction) -> Row:
    sentence: Sentence = [{"pod": step.task}, " releases its resources on ", {"node": step.node}]
    return [*sentence, f" ({step.why})."], None


def _statement(step: StatementEnd) -> Row:
    done = joined([[f"{how} ", {"pod": task}] for how, task in step.operations[:LISTED]])
    rest = len(step.operations) - LISTED
    more: Sentence = [f" and {rest:,} more"] if rest > 0 else []
    if not done:
        return ["The statement of ", {"job": step.job}, f" is {step.how} without an operation."], None
    undone = " Nothing of it is sent." if step.how == "discarded" else ""
    sentence: Sentence = ["The statement of ", {"job": step.job}, " is ", {"strong": step.how}, ": "]
    return [*sentence, *done, *more, f".{undone}"], {
        "operations": [list(one) for one in step.operations[:TASKS]]
    }


def _forgotten(step: Forgotten) -> Row:
    sentence: Sentence = [{"pod": step.task}, f" is still {step.status} on ", {"node": step.node}]
    return [*sentence, " and is forgotten: nothing is sent for it."], None


def _group(step: GroupWritten) -> Row:
    counts = f"running {step.running:,}, succeeded {step.succeeded:,}, failed {step.failed:,}"
    sentence: Sentence = [
        "The status of ",
        {"job": step.group},
        " is written: phase ",
        {"strong": step.phase},
    ]
    condition = f", and the condition Unschedulable: {step.message}." if step.message else "."
    return [*sentence, f", {counts}", condition.replace("..", ".")], None


def _event(step: SessionEvent) -> Row:
    return [
        {"strong": f"{step.type} {step.reason}"},
        f" for {step.object}: {step.message.rstrip('.')}.",
    ], None


ROW: dict[type[Step], Callable[[Any], Row]] = {
    LeftOutStep: _left_out,
    InvalidJob: _invalid,
    ProportionRound: _round,
    HeapPop: _pop,
    QueueDropped: _queue_dropped,
    JobDropped: _job_dropped,
    NodesConsidered: _nodes,
    Placement: _placed,
    PlacementFailed: _failed,
    Dispatch: _dispatched,
    VictimsChosen: _victims,
    Eviction: _evicted,
    StatementEnd: _statement,
    Forgotten: _forgotten,
    GroupWritten: _group,
    SessionEvent: _event,
}
"""The sentence of each step, except of shares."""


def of_type(record: SessionRecord, kind: type[Step]) -> Sequence[Any]:
    """Return the steps of one type."""
    return [step for step in record.steps if type(step) is kind]
