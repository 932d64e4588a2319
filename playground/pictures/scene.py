"""A step as it is drawn: nodes, the pods on them, and what the step decided; no view of the web is in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from playground.panels.cycle import light
from playground.panels.sentences import Sentence
from playground.playback.playback import Playback
from scheduler_core.record.cycle import Cycle

NODES = 60  # drawn; the rest is counted
PODS = 110  # drawn on one node


@dataclass(frozen=True, slots=True)
class Block:
    """A pod on a node: its shares of the node's cpu and memory, from 0 to 1, and its workload's number."""

    key: str
    cpu: float
    memory: float
    group: int
    new: bool = False  # placed by this step
    victim: bool = False  # evicted by this step


@dataclass(frozen=True, slots=True)
class NodeBox:
    """A node: its pods, whether the pod of the step fits, and whether the step chose it."""

    name: str
    blocks: tuple[Block, ...] = ()
    fits: bool = True
    chosen: bool = False
    more: int = 0  # pods that are not drawn
    wanted: Block | None = None  # the pod that the step could not place, as large as it would be here


@dataclass(frozen=True, slots=True)
class Scene:
    """What is drawn of a step."""

    title: str
    where: str  # which step of how many
    sentences: tuple[str, ...] = ()  # what happened
    nodes: tuple[NodeBox, ...] = ()
    more: int = 0  # nodes that are not drawn
    facts: tuple[str, ...] = field(default=())


def scene_of(
    playback: Playback, index: int, title: str, *, undecided: bool = False, counted: bool = True
) -> Scene:
    """Return the scene after cycle ``index``; before the first one for 0, the end beyond the last.

    ``undecided``: as the cycle finds it, without what it decides; not ``counted``: without how many cycles
    there are. Raises OutOfRangeError.
    """
    total = len(playback)
    index = max(0, min(index, total))
    cycle = playback.cycle(index) if index else None
    decided = None if undecided else cycle
    boxes = _boxes(
        playback, index if decided is not None else max(0, index - 1), decided, _there(playback, cycle)
    )
    shown = _shown(boxes)
    story: list[Sentence] = light(decided, playback.place(decided))["story"] if decided is not None else []
    step = f"Step {index:,}" if index else "Before the first step"
    of = f" of {total:,}" if index and counted and playback.complete else ""
    return Scene(
        title=title or "Untitled",
        where=f"{step}{of}" + (f": {cycle.pod}" if cycle is not None else ""),
        sentences=tuple(map(plain, story)),
        nodes=tuple(shown),
        more=len(boxes) - len(shown),
        facts=(
            f"{len(boxes):,} nodes",
            f"{sum(len(box.blocks) + box.more for box in boxes):,} pods placed",
            f"kube-scheduler {playback.scenario.release}",
        ),
    )


def plain(sentence: Sentence) -> str:
    """Return a sentence as text."""
    return "".join(part if isinstance(part, str) else str(next(iter(part.values()))) for part in sentence)


def _shown(boxes: Sequence[NodeBox]) -> list[NodeBox]:
    """Return the first nodes, the chosen one among them, in their order."""
    if len(boxes) <= NODES:
        return list(boxes)
    first = list(boxes[:NODES])
    chosen = [box for box in boxes[NODES:] if box.chosen]
    return [*first[: NODES - len(chosen)], *chosen]


def _boxes(playback: Playback, index: int, cycle: Cycle | None, nodes: Iterable[int]) -> list[NodeBox]:
    tables = playback.tables
    placement = playback.trail.placement_before(index + 1)
    victims: dict[int, list[int]] = {}
    feasible: set[str] | None = None
    if cycle is not None:
        feasible = {cycle.nodes[node] for node in cycle.feasible.tolist()}
        before = playback.trail.placement_before(index)
        for key in cycle.decision.victims:
            pod = tables.pod_index[key]
            victims.setdefault(int(before[pod]), []).append(pod)
    on: dict[int, list[int]] = {}
    for pod, node in enumerate(placement.tolist()):
        if node >= 0:
            on.setdefault(node, []).append(pod)
    groups: list[int] = tables.pod_wire()["group"]
    boxes = []
    for node in nodes:
        name = tables.nodes[node].meta.name
        pods = [
            *victims.get(node, []),
            *(pod for pod in on.get(node, []) if pod not in victims.get(node, [])),
        ]
        blocks = [
            _block(playback, node, pod, groups, cycle, victim=pod in victims.get(node, []))
            for pod in pods[:PODS]
        ]
        chosen = cycle is not None and name in {cycle.node, cycle.decision.nominated}
        fits = feasible is None or name in feasible
        wanted = None
        if cycle is not None and not cycle.decision.placements and not chosen:
            wanted = _block(playback, node, tables.pod_index[cycle.pod], groups, cycle, victim=False)
        boxes.append(NodeBox(name, tuple(blocks), fits, chosen, max(0, len(pods) - PODS), wanted))
    return boxes


def _there(playback: Playback, cycle: Cycle | None) -> Iterator[int]:
    """Yield the nodes that are there at the step."""
    tables = playback.tables
    if cycle is not None:
        yield from (tables.node_index[name] for name in cycle.nodes)
        return
    yield from (node for node, since in enumerate(tables.since) if since <= 1)


def _block(
    playback: Playback, node: int, pod: int, groups: list[int], cycle: Cycle | None, *, victim: bool
) -> Block:
    tables = playback.tables
    usage, offered = tables.usage[pod], tables.nodes[node].allocatable
    key = tables.pods[pod].meta.key
    new = cycle is not None and any(placed == key for placed, _ in cycle.decision.placements)
    return Block(
        key,
        _share(usage.get("cpu", 0), offered.get("cpu", 0)),
        _share(usage.get("memory", 0), offered.get("memory", 0)),
        groups[pod],
        new,
        victim,
    )


def _share(used: int, offered: int) -> float:
    return min(1.0, used / offered) if offered > 0 else 0.0
