"""The stage as SVG: nodes as boxes that fill up with pods, as wide as their cpu and as high as their memory.

So one sees why a pod does not fit: where the blocks reach the right edge there is no cpu left, and where they
are high and few there is no memory.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from playground.pictures.scene import Block, NodeBox, Scene
from playground.pictures.svg import cut, element, text

#: The dark theme of the pages: static/css/tokens.css.
BACKGROUND, PANEL, LINE, INK, DIM = "#0d1016", "#141922", "#2a3344", "#e8ecf4", "#a3afc2"
ACCENT, FAIL, VICTIM = "#7f8cff", "#e39a1e", "#c76ba1"
GROUPS = (
    *("#4f7fe0", "#35a08a", "#bd8140", "#8f74d2", "#c2607c"),
    *("#5f93a8", "#8d9a3c", "#b06bb3", "#6b7fa8", "#a8705a"),
)
GAP = 10.0
NAME = 18.0  # height of a node's name
FAINT = 0.6  # of a node on which the pod does not fit
LEAST = 2.0  # width and height of a block, that one sees it
CHARACTER = 6.2  # width of one of a name, at its size


@dataclass(frozen=True, slots=True)
class Area:
    """A rectangle in pixels."""

    x: float
    y: float
    width: float
    height: float


def stage(scene: Scene, area: Area) -> str:
    """Return the nodes of a scene in an area, in as many columns as give the largest boxes."""
    count = len(scene.nodes) + bool(scene.more)
    if not count:
        return text("There are no nodes.", area.x, area.y + 20, 16, DIM)
    columns = _columns(count, area)
    rows = math.ceil(count / columns)
    width = (area.width - GAP * (columns - 1)) / columns
    height = (area.height - GAP * (rows - 1)) / rows
    places = [
        Area(area.x + n % columns * (width + GAP), area.y + n // columns * (height + GAP), width, height)
        for n in range(count)
    ]
    drawn = [_node(box, place) for box, place in zip(scene.nodes, places)]
    if scene.more:
        place = places[-1]
        drawn.append(text(f"and {scene.more:,} more", place.x + 4, place.y + place.height / 2, 13, DIM))
    return "".join(drawn)


def _columns(count: int, area: Area) -> int:
    """Return the columns with which boxes are near to twice as wide as high, and few places are empty."""

    def deviation(columns: int) -> float:
        rows = math.ceil(count / columns)
        empty = (columns * rows - count) / count
        return abs(math.log(area.width / columns / max(1.0, area.height / rows) / 2)) + empty

    return min(range(1, count + 1), key=deviation)


def _node(box: NodeBox, place: Area) -> str:
    faint = 1.0 if box.fits or box.chosen else FAINT
    inside = Area(place.x, place.y + NAME, place.width, max(4.0, place.height - NAME))
    edge = ACCENT if box.chosen else LINE
    return element(
        "g",
        text(
            cut(box.name, max(3, int(place.width / CHARACTER))),
            place.x + 1,
            place.y + 13,
            12,
            ACCENT if box.chosen else DIM,
        ),
        element("rect", x=inside.x, y=inside.y, width=inside.width, height=inside.height, rx=4.0, fill=PANEL),
        *_blocks(box, inside),
        element(
            "rect",
            x=inside.x,
            y=inside.y,
            width=inside.width,
            height=inside.height,
            rx=4.0,
            fill="none",
            stroke=edge,
            stroke_width=2.5 if box.chosen else 1.0,
        ),
        opacity=faint,
    )


def _blocks(box: NodeBox, area: Area) -> Iterator[str]:
    """Yield the pods side by side: widths are shares of cpu, heights of memory."""
    x, end = area.x, area.x + area.width
    for block in box.blocks:
        width = min(max(LEAST, block.cpu * area.width), end - x)
        if width <= 0:
            return
        yield _block(block, Area(x, area.y, width, area.height))
        x += width
    if box.wanted is not None:
        yield _wanted(box.wanted, Area(x, area.y, end - x, area.height), area.width)


def _wanted(block: Block, free: Area, whole: float) -> str:
    """Return the outline of a pod that found no node, beside those that are there, as far as it fits."""
    width = max(1.0, min(max(LEAST, block.cpu * whole), free.width))
    height = max(LEAST, block.memory * free.height)
    return element(
        "rect",
        x=free.x,
        y=free.y + free.height - height,
        width=width,
        height=height,
        fill="none",
        stroke=FAIL,
        stroke_width=1.5,
        stroke_dasharray="4 3",
    )


def _block(block: Block, column: Area) -> str:
    height = max(LEAST, block.memory * column.height)
    fill = VICTIM if block.victim else GROUPS[block.group % len(GROUPS)]
    shape = element(
        "rect",
        x=column.x,
        y=column.y + column.height - height,
        width=max(1.0, column.width - 1),
        height=height,
        fill=fill,
        fill_opacity=0.35 if block.victim else 1.0,
        stroke=INK if block.new else "none",
        stroke_width=2.0,
    )
    if not block.victim:
        return shape
    low, high = column.y + column.height, column.y + column.height - height
    cross = element(
        "line", x1=column.x, y1=low, x2=column.x + column.width, y2=high, stroke=VICTIM, stroke_width=2.0
    )
    return shape + cross
