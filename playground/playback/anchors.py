"""What a comment refers to, in words that outlive a change of the scenario: a step and its decision."""

from __future__ import annotations

from typing import Any

from playground.playback.playback import SLICE_SECONDS, Playback


class NoSuchStepError(LookupError):
    """There is no such step."""


def index_of(playback: Playback, step: str) -> int | None:
    """Return a step's index, ``None`` if another slice has to be computed first.

    Raises NoSuchStepError, and ValueError for a step that is no address.
    """
    index = playback.locate(step)
    if index is None and playback.advance(SLICE_SECONDS):
        return None
    index = playback.locate(step)
    if index is None:
        raise NoSuchStepError(f"There is no cycle {step[:24]}; there are {len(playback):,}.")
    return index


def about(playback: Playback, index: int) -> dict[str, Any]:
    """Return the step at ``index`` with what it decided; of the start and the end only the step."""
    if not 1 <= index <= len(playback):
        return {"index": index, "step": "end" if index else "0", "pod": None, "result": None, "node": None}
    decision = playback.trail.decisions[index - 1]
    return {
        "index": index,
        "step": playback.trail.step(index),
        "pod": decision.pod,
        "result": decision.result,
        "node": decision.node,
    }
