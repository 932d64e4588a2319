"""The preview of a link: 1200 × 630 pixels with the title, the step, what happened, and the stage."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import resvg_py

from playground.pictures.scene import Scene
from playground.pictures.stage import Area, stage
from playground.pictures.svg import cut, element, text, wrapped
from playground.pictures.themes import DARK, Theme

WIDTH, HEIGHT = 1200, 630
MARGIN = 48.0
SENTENCES = 3  # lines
CHARACTERS = 100  # of a line


def card(scene: Scene, theme: Theme = DARK) -> str:
    """Return the card as SVG."""
    lines = wrapped(
        " ".join(scene.sentences[-2:] or ("Step through every decision of the scheduler.",)),
        CHARACTERS,
        SENTENCES,
    )
    top = 176.0 + 30 * len(lines)
    return element(
        "svg",
        element("rect", width=WIDTH, height=HEIGHT, fill=theme.bg),
        text(cut(scene.title, 52), MARGIN, 78, 40, theme.ink, font_weight="bold"),
        text(cut(scene.where, 80), MARGIN, 122, 26, theme.accent),
        *(text(line, MARGIN, 164 + 30 * number, 23, theme.dim) for number, line in enumerate(lines)),
        stage(scene, Area(MARGIN, top, WIDTH - 2 * MARGIN, HEIGHT - top - 62), theme),
        text(" · ".join(scene.facts), MARGIN, HEIGHT - 24, 19, theme.dim),
        text("podstep", WIDTH - MARGIN, HEIGHT - 24, 19, theme.ink, text_anchor="end", font_weight="bold"),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        width=WIDTH,
        height=HEIGHT,
    )


@cache
def _fonts() -> list[str]:
    """Return the files of our font: a machine without fonts draws the same."""
    folder = files("font_lato") / "files"
    return [str(folder / f"Lato-{weight}.ttf") for weight in ("Regular", "Bold")]


def png(svg: str) -> bytes:
    """Return an SVG of ours as PNG; it refers to no file and no address."""
    return bytes(resvg_py.svg_to_bytes(svg_string=svg, skip_system_fonts=True, font_files=_fonts()))
