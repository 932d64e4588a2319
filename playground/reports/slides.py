"""A step as a picture of its own, and a range of steps as slides."""

from __future__ import annotations

from msgspec import Struct

from playground.pictures.scene import Scene, scene_of
from playground.pictures.stage import Area, stage
from playground.pictures.svg import element
from playground.pictures.themes import DARK, Theme
from playground.playback.playback import OutOfRangeError, Playback
from playground.pool import gate

WIDTH, HEIGHT = 1280.0, 560.0
MARGIN = 16.0
SLIDES = 60  # of a deck


class Slide(Struct, frozen=True):
    """One step: where it is, what happened in sentences, and the stage after it."""

    where: str
    caption: tuple[str, ...]
    svg: str


def drawn(scene: Scene, theme: Theme = DARK) -> str:
    """Return the stage of a scene as an SVG document."""
    return element(
        "svg",
        element("rect", width=WIDTH, height=HEIGHT, fill=theme.bg),
        stage(scene, Area(MARGIN, MARGIN, WIDTH - 2 * MARGIN, HEIGHT - 2 * MARGIN), theme),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {WIDTH:.0f} {HEIGHT:.0f}",
        width=WIDTH,
        height=HEIGHT,
        role="img",
        aria_label=f"The nodes and their pods: {scene.title}, {scene.where}",
    )


def slides(playback: Playback, title: str, first: int, last: int, theme: Theme = DARK) -> list[Slide]:
    """Return the steps from ``first`` to ``last``, as far as there are any; 0 is the state before the first.

    Raises OutOfRangeError where there is no step ``first``.
    """
    playback.reach(last)
    if not 0 <= first <= len(playback):
        raise OutOfRangeError(f"There is no step {first:,}; the last one is {len(playback):,}.")
    made = []
    for index in range(first, min(last, len(playback), first + SLIDES - 1) + 1):
        gate.look()
        scene = scene_of(playback, index, title)
        made.append(Slide(scene.where, scene.sentences, drawn(scene, theme)))
    return made
