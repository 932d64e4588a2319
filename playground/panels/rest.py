"""The end of a run in virtual time: the events after the last cycle, and the final state."""

from __future__ import annotations

from typing import Any

from playground.panels import queue
from playground.panels.events import rows
from playground.panels.moments import MOMENTS_SHOWN, cut, event_moments
from playground.panels.plugins import PLUGIN_PANELS
from playground.panels.sentences import Sentence, SentencePart, counted, listed
from playground.playback.changes import Placement
from playground.playback.tables import Tables
from scheduler_core.record.cycle import FinalState
from scheduler_core.run.cycles import events_of


def end(rest: FinalState, step: str, index: int, tables: Tables, before: Placement) -> dict[str, Any]:
    """Return the protocol's ``End``; ``before`` is each pod's node after the last cycle, ``(pods,)``."""
    pods, nodes = tables.pod_index, tables.node_index
    return {
        "index": index,
        "step": step,
        "end": True,
        "time": rest.time,
        "moments": cut(event_moments(rest.happenings, "", "event", pods, nodes), MOMENTS_SHOWN),
        "story": _story(rest, tables, before),
        "events": rows(events_of(rest.happenings)),
        **{panel.name: panel.resting(rest) for panel in PLUGIN_PANELS},
        "queue": queue.resting(rest.queue),
        "waiting": [
            [pods[entry.pod], nodes[entry.node], entry.deadline]
            for entry in rest.queue.waiting
            if entry.pod in pods
        ],
    }


def _story(rest: FinalState, tables: Tables, before: Placement) -> list[Sentence]:
    """Describe the end of the run: how many pods are on a node, and which are not."""
    on_node = {pod for pod, place in enumerate(before.tolist()) if place >= 0}
    for key, node in rest.moves:
        (on_node.add if node else on_node.discard)(tables.pod_index[key])
    sentences: list[Sentence] = [["The run is over: no further cycle would change anything."]]
    holds = "holds" if len(on_node) < 2 else "hold"
    held: SentencePart = {"strong": counted(len(on_node), "pod") if on_node else "No pod"}
    sentences.append([held, f" {holds} a node."])
    pending = [entry.pod for entry in rest.queue.entries]
    count = sum(count for place, count in rest.queue.counts.items() if place != "waiting")
    if pending:
        wait = "waits" if count == 1 else "wait"
        more: Sentence = [f", of {count:,} in all,"] if count > len(pending) else []
        sentences.append([*listed("pod", pending), *more, f" {wait} in the ", {"tab": "Queue"}, "."])
    return sentences
