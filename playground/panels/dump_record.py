"""What a dump recorded about its pending pods, beside what the playback of it answers."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any

from playground.playback.playback import Playback
from scheduler_core.explain.recorded_answer import RecordedAnswers, is_before_operations

PODS_SHOWN = 20


def recorded_answers(playback: Playback, unwanted: Callable[[], bool]) -> dict[str, Any]:
    """Return the comparisons of the first pods with a recorded condition, those that differ first.

    ``{"answers", "more"}``; ``more`` is how many pods with a condition are not compared.
    """
    answers = RecordedAnswers(playback.facts)
    shown = set(islice(playback.facts.conditions, PODS_SHOWN))
    last: dict[str, int] = {}
    for index, decision in enumerate(playback.trail.decisions if shown else (), 1):
        step = playback.trail.step(index)
        if not is_before_operations(step):
            break
        answers.placed(step, decision)
        if decision.pod in shown and decision.result != "scheduled":
            last[decision.pod] = index
    for pod, index in last.items():
        answers.failed(playback.trail.step(index), pod, playback.cycle(index, unwanted).message or "")
    return {
        "answers": [answer.as_dict() for answer in answers.answers(PODS_SHOWN)],
        "more": max(0, len(playback.facts.conditions) - PODS_SHOWN),
    }
