"""The stage as SVG: nodes as rooms that fill up with pods, as wide as their cpu and as high as their memory.

As on the page (``static/js/workbench/stage/stairs.ts``) pods stand like stairs, each to the right of the one
before and above it, so that the corner over the last is what is free of both. A pod fits where its shape lies
within the room; what sticks out of it shows whether cpu or memory is short.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from playground.pictures.scene import Block, NodeBox, Scene
from playground.pictures.svg import cut, element, text
from playground.pictures.themes import DARK, Theme

GAP = 10.0
SMALLEST_NAME, LARGEST_NAME = 12.0, 22.0  # of the type of a node's name
LEAST = 2.0  # width and height of a block, that one sees it
CHARACTER = 6.2  # width of one of a name, at its size
UNDER = 0.34  # how much of a block's colour is below it
BEYOND = 4.0  # width of the bar where a pod sticks out of a room
EXACT = 1e-9  # sums of shares are not


@dataclass(frozen=True, slots=True)
class Area:
    """A rectangle in pixels."""

    x: float
    y: float
    width: float
    height: float


def stage(scene: Scene, area: Area, theme: Theme = DARK) -> str:
    """Return the nodes of a scene in an area, in as many columns as give the largest boxes."""
    count = len(scene.nodes) + bool(scene.more)
    if not count:
        return text("There are no nodes.", area.x, area.y + 20, 16, theme.dim)
    columns = _columns(count, area)
    rows = math.ceil(count / columns)
    width = (area.width - GAP * (columns - 1)) / columns
    height = (area.height - GAP * (rows - 1)) / rows
    places = [
        Area(area.x + n % columns * (width + GAP), area.y + n // columns * (height + GAP), width, height)
        for n in range(count)
    ]
    drawn = [_node(box, place, theme) for box, place in zip(scene.nodes, places)]
    if scene.more:
        place = places[-1]
        drawn.append(text(f"and {scene.more:,} more", place.x + 4, place.y + place.height / 2, 13, theme.dim))
    return "".join(drawn)


def _columns(count: int, area: Area) -> int:
    """Return the columns with which boxes are near to twice as wide as high, and few places are empty."""

    def deviation(columns: int) -> float:
        rows = math.ceil(count / columns)
        empty = (columns * rows - count) / count
        return abs(math.log(area.width / columns / max(1.0, area.height / rows) / 2)) + empty

    return min(range(1, count + 1), key=deviation)


def _node(box: NodeBox, place: Area, theme: Theme) -> str:
    faint = 1.0 if box.fits or box.chosen else theme.faint
    size = min(LARGEST_NAME, max(SMALLEST_NAME, place.width / 12))
    above = size * 1.5
    inside = Area(place.x, place.y + above, place.width, max(4.0, place.height - above))
    edge = theme.accent if box.chosen else theme.line
    return element(
        "g",
        text(
            cut(box.name, max(3, int(place.width / size * SMALLEST_NAME / CHARACTER))),
            place.x + 1,
            place.y + size * 1.1,
            size,
            theme.accent if box.chosen else theme.dim,
        ),
        element(
            "rect", x=inside.x, y=inside.y, width=inside.width, height=inside.height, rx=4.0, fill=theme.panel
        ),
        *_blocks(box, inside, theme),
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


def _blocks(box: NodeBox, room: Area, theme: Theme) -> Iterator[str]:
    """Yield the pods as stairs from the lower left corner, and what the pod that found no node would take."""
    x, y = 0.0, 0.0  # shares of the room
    for block in box.blocks:
        yield _block(block, _place(block, x, y, room), room, theme)
        x, y = x + block.cpu, y + block.memory
    if box.wanted is not None:
        yield _wanted(box.wanted, x, y, room, theme)


def _place(block: Block, x: float, y: float, room: Area) -> Area:
    """Return where a block stands that begins at a share of the room's width and height; it stays within."""
    left = min(room.x + x * room.width, room.x + room.width - LEAST)
    low = max(room.y + room.height * (1 - y), room.y + LEAST)
    width = min(max(LEAST, block.cpu * room.width), room.x + room.width - left)
    height = min(max(LEAST, block.memory * room.height), low - room.y)
    return Area(left, low - height, width, height)


def _wanted(block: Block, x: float, y: float, room: Area, theme: Theme) -> str:
    """Return the outline of a pod that found no node, and a bar at each edge of the room that it crosses."""
    place = _place(block, x, y, room)
    drawn = [
        element(
            "rect",
            x=place.x,
            y=place.y,
            width=place.width,
            height=place.height,
            fill="none",
            stroke=theme.fail,
            stroke_width=1.5,
            stroke_dasharray="4 3",
        )
    ]
    if x + block.cpu > 1 + EXACT:
        drawn.append(_beyond(Area(room.x + room.width, place.y, BEYOND, place.height), theme))
    if y + block.memory > 1 + EXACT:
        drawn.append(_beyond(Area(place.x, room.y - BEYOND, place.width, BEYOND), theme))
    return "".join(drawn)


def _beyond(area: Area, theme: Theme) -> str:
    return element("rect", x=area.x, y=area.y, width=area.width, height=area.height, fill=theme.fail)


def _block(block: Block, place: Area, room: Area, theme: Theme) -> str:
    """Return a pod's block, and below it its colour as far as the floor."""
    fill = theme.victim if block.victim else theme.groups[block.group % len(theme.groups)]
    low = place.y + place.height
    shape = element(
        "rect",
        x=place.x,
        y=place.y,
        width=max(1.0, place.width - 0.5),
        height=place.height,
        fill=fill,
        fill_opacity=0.35 if block.victim else 1.0,
        stroke=theme.ink if block.new else "none",
        stroke_width=2.0,
    )
    if block.victim:
        return shape + element(
            "line",
            x1=place.x,
            y1=low,
            x2=place.x + place.width,
            y2=place.y,
            stroke=theme.victim,
            stroke_width=2.0,
        )
    under = room.y + room.height - low
    if under <= EXACT:
        return shape
    return (
        element(
            "rect",
            x=place.x,
            y=low,
            width=max(1.0, place.width - 0.5),
            height=under,
            fill=fill,
            fill_opacity=UNDER,
        )
        + shape
    )
