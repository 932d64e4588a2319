"""Every frame while the timeline's handle is dragged over the whole run of a small and of a large cluster."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from itertools import pairwise

from playwright.sync_api import Browser

from tests.browser.clusters import zoned
from tests.browser.measures import FRAMES, Row, ms, new_page
from tests.browser.pages import Workbench, share
from tests.services.stack import Stack

#: Nodes, and their share of load.
SIZES = ((100, 0.6), (5_000, 0.02))
MOVES = 240  # of the pointer, from one end to the other
EVERY = 8  # milliseconds between two of them
MISSED = (16.7, 33.0)  # milliseconds: longer frames are fewer than 60, and than 30, a second

WHOLE = """() => window.podstep?.ready && podstep.playback.complete
    && podstep.playback.marks.known >= podstep.playback.cycles"""


def dragged(browser: Browser, site: Stack) -> Iterator[Row]:
    """Drag the handle from the first cycle to the last."""
    for nodes, load in SIZES:
        page = new_page(browser, site.base_url)
        bench = Workbench(page).open(f"{share(site, zoned(nodes, load), f'{nodes} nodes')}?step=1")
        page.wait_for_function(WHOLE)
        cycles = page.evaluate("podstep.playback.cycles")
        box = bench.timeline.bounding_box()
        assert box is not None
        y = box["y"] + box["height"] / 2
        page.mouse.move(box["x"] + 4, y)
        page.mouse.down()
        page.evaluate(FRAMES)
        for at in range(MOVES + 1):
            page.mouse.move(box["x"] + 4 + at / MOVES * (box["width"] - 8), y)
            page.wait_for_timeout(EVERY)
        times = page.evaluate("framesEnd()")
        page.mouse.up()
        page.context.close()
        gaps = sorted(round(after - before, 1) for before, after in pairwise(times))
        late = gaps[round(0.95 * (len(gaps) - 1))]
        over = (f"{sum(gap > most for gap in gaps) / len(gaps):.0%} over {most:g} ms" for most in MISSED)
        yield (
            f"dragging the handle, {nodes:,} nodes",
            f"frame: median {statistics.median(gaps):.1f} ms, p95 {late:.1f} ms",
            "no stutter",
            f"{', '.join(over)}, longest {ms(gaps[-1])}, of {len(gaps)} frames over {cycles:,} cycles",
        )
