"""A run as a chart: placed and pending pods after every cycle, and under it what each cycle came to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from playground.pictures.matrices import MARGIN, PASSED, Caption
from playground.pictures.svg import cut, element, text
from playground.pictures.themes import DARK
from playground.playback.playback import Playback
from playground.playback.tables import PENDING
from scheduler_core.record.cycle import Decision

WIDTH, HEIGHT = 1280.0, 560.0
LEFT, TOP, BOTTOM = 84.0, 84.0, 440.0  # of the plot
STRIP, STRIP_HEIGHT = 460.0, 34.0  # of the cycles' results
POINTS = 1_200  # of a line, and bars of the strip: one a pixel
WAIT = "#d3b420"
Counts = npt.NDArray[np.int64]
#: Results in the order in which one hides another where several share a bar, with colour and height.
KINDS = (
    ("preemption", DARK.victim, 1.0),
    ("no node", DARK.fail, 0.8),
    ("waiting at Permit", WAIT, 0.6),
    ("scheduled", PASSED, 0.4),
)


def chart(playback: Playback, index: int, title: str) -> str:
    """Return the chart of all computed cycles; a line marks cycle ``index``, 0 is the start."""
    placed, pending = counts(playback)
    kinds = [_kind(decision) for decision in playback.trail.decisions]
    most = max(1, int(placed.max()), int(pending.max()))
    cycles = len(placed) - 1
    caption = Caption(
        title or "Untitled", f"{cycles:,} cycles" + (f", step {index:,} marked" if index else "")
    )
    x = LEFT + (WIDTH - MARGIN - LEFT) * index / max(1, cycles)
    return element(
        "svg",
        element("rect", width=WIDTH, height=HEIGHT, fill=DARK.bg),
        text(cut(caption.title, 90), MARGIN, 30, 18, DARK.ink, font_weight="bold"),
        text(caption.where, MARGIN, 50, 13, DARK.accent),
        *_axis(most),
        _line(placed, most, PASSED, ""),
        _line(pending, most, DARK.fail, "7 4"),
        element("line", x1=x, y1=TOP, x2=x, y2=STRIP + STRIP_HEIGHT, stroke=DARK.accent, stroke_width=1.5),
        *_strip(kinds),
        *_legend(kinds, int(placed[-1]), int(pending[-1])),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {WIDTH:.0f} {HEIGHT:.0f}",
        width=WIDTH,
        height=HEIGHT,
        role="img",
        aria_label=f"Placed and pending pods by cycle: {caption.title}, {caption.where}",
    )


def counts(playback: Playback) -> tuple[Counts, Counts]:
    """Return how many pods are placed and pending, first before any cycle, ``(cycles + 1,)`` each."""
    trail = playback.trail
    total = len(trail)
    placement = trail.placement_before(1).tolist()
    placed, pending = np.empty(total + 1, np.int64), np.empty(total + 1, np.int64)
    on, off = sum(at >= 0 for at in placement), sum(at == PENDING for at in placement)
    placed[0], pending[0] = on, off
    known = dict(enumerate(placement))
    for cycle, changes in enumerate(trail.changes[:total], 1):
        for pod, value in changes:
            before = known.get(pod, PENDING - 1)
            on += (value >= 0) - (before >= 0)
            off += (value == PENDING) - (before == PENDING)
            known[pod] = value
        placed[cycle], pending[cycle] = on, off
    return placed, pending


def _kind(decision: Decision) -> int:
    if decision.nominated is not None:
        return 0
    return {"scheduled": 3, "waiting": 2}.get(decision.result, 1)


def _line(values: Counts, most: int, colour: str, dashes: str) -> str:
    chosen = np.unique(np.linspace(0, len(values) - 1, min(len(values), POINTS)).astype(np.int64))
    scale = (WIDTH - MARGIN - LEFT) / max(1, len(values) - 1)
    points = " ".join(
        f"{LEFT + at * scale:.1f},{BOTTOM - (BOTTOM - TOP) * values[at] / most:.1f}" for at in chosen.tolist()
    )
    return element(
        "polyline",
        points=points,
        fill="none",
        stroke=colour,
        stroke_width=2.5,
        stroke_dasharray=dashes or "none",
    )


def _axis(most: int) -> Iterator[str]:
    for part in range(5):
        value = most * part / 4
        y = BOTTOM - (BOTTOM - TOP) * part / 4
        yield element("line", x1=LEFT, y1=y, x2=WIDTH - MARGIN, y2=y, stroke=DARK.line, stroke_width=1.0)
        yield text(f"{value:,.0f}", LEFT - 10, y + 4, 12, DARK.dim, text_anchor="end")
    yield text("pods", LEFT - 10, TOP - 14, 12, DARK.dim, text_anchor="end")


def _strip(kinds: Sequence[int]) -> Iterator[str]:
    """Yield a bar for each cycle, or for the cycles of a pixel what matters most among them."""
    many = min(len(kinds), POINTS)
    width = (WIDTH - MARGIN - LEFT) / max(1, many)
    for bar in range(many):
        kind = min(kinds[bar * len(kinds) // many : (bar + 1) * len(kinds) // many])
        _, colour, share = KINDS[kind]
        high = STRIP_HEIGHT * share
        yield element(
            "rect",
            x=LEFT + bar * width,
            y=STRIP + STRIP_HEIGHT - high,
            width=max(0.8, width - (1.0 if width > 4 else 0.0)),
            height=high,
            fill=colour,
        )


def _legend(kinds: Sequence[int], placed: int, pending: int) -> Iterator[str]:
    x = LEFT
    y = HEIGHT - 22
    lines = ((PASSED, "none", f"placed, {placed:,} at the end"), (DARK.fail, "7 4", f"pending, {pending:,}"))
    for colour, dashes, words in lines:
        yield element(
            "line", x1=x, y1=y, x2=x + 26, y2=y, stroke=colour, stroke_width=2.5, stroke_dasharray=dashes
        )
        yield text(words, x + 32, HEIGHT - 18, 13, DARK.ink)
        x += 44 + 7 * len(words)
    amounts = Counter(kinds)
    for kind, (name, colour, share) in enumerate(KINDS):
        if not amounts[kind]:
            continue
        words = f"{name}: {amounts[kind]:,}"
        yield element("rect", x=x, y=HEIGHT - 16 - 14 * share, width=8.0, height=14 * share, fill=colour)
        yield text(words, x + 14, HEIGHT - 18, 13, DARK.ink)
        x += 34 + 7 * len(words)
