"""The steps of a playback in the protocol's form: windows of light cycles, and the parts of one step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from playground.panels.cycle import PARTS, light
from playground.panels.rest import end
from playground.playback.deadlines import never
from playground.playback.playback import Playback
from playground.wire import Encoded, encode


def window(
    playback: Playback,
    first: int,
    count: int,
    unwanted: Callable[[], bool] = never,
    known: int | None = None,
) -> Encoded:
    """Return the protocol's answer to ``cycles.window`` for a client with ``known`` pods; ``None``: all.

    Raises OutOfRangeError, or Superseded.
    """
    last = min(first + count - 1, len(playback))
    if first != len(playback) + 1:
        playback.check(first)
    cycles = [playback.light(index, light, unwanted) for index in range(first, last + 1)]
    table = None if known is None else playback.came(known)
    came = "" if table is None else f',"pods":{encode(table)}'
    placement = encode(playback.trail.placement_before(first).tolist())
    known_nodes = playback.trail.nodes
    nodes = encode(known_nodes.before(first) if known_nodes.known else None)
    ended = playback.trail.terminating.before(first)
    deleted = f',"terminating":{encode(ended)}' if ended else ""
    return Encoded(
        f'{{"from":{first},"placement":{placement},"nodes":{nodes},"cycles":[{",".join(cycles)}]{came}{deleted}}}'
    )


def parts(
    playback: Playback, index: int, names: list[str], unwanted: Callable[[], bool] = never
) -> dict[str, Any]:
    """Return the protocol's answer to ``cycle.get``. Raises OutOfRangeError, or Superseded."""
    if playback.ended and index == len(playback) + 1:
        step, rest = playback.rest(unwanted)
        answer = end(rest, step, index, playback.tables, playback.trail.placement_before(index))
        ended = playback.rest_terminating
        return {**answer, "nodes": playback.rest_nodes, **({"terminating": ended} if ended else {})}
    cycle = playback.cycle(index, unwanted)
    answer = {"index": index, "step": playback.trail.step(index)}
    place = playback.place(cycle)
    for name in names:
        answer[name] = PARTS[name](cycle, place)
    return answer
