"""The page of a long run: the tasks of its first drawing, and the frames while a range is dragged out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from playwright.sync_api import Browser

from tests.browser.measures import FRAMES, Row, ms, new_page
from tests.e2e import bundles
from tests.services.processes import wait_until
from tests.services.stack import Stack

PODS = 50_000
RUN_SECONDS = 900
MOVES = 120  # of the pointer, from one end of the chart to the other
EVERY = 8  # milliseconds between two of them
TASK = "RunTask"
DRAWN = "() => document.querySelectorAll('[data-figure] [data-drawn]').length === 3"


def run_page(browser: Browser, site: Stack) -> Iterator[Row]:
    """Open the page of a long run until all its charts are there, and drag a range out of the first."""
    page = new_page(browser, site.base_url)
    address = f"/runs/{long_run(site, PODS)}/"
    page.goto("/runs/")  # what pages share is read by then
    browser.start_tracing(page=page, categories=["disabled-by-default-devtools.timeline", "__metadata"])
    page.goto(address)
    page.wait_for_function(DRAWN)
    tasks = _tasks(json.loads(browser.stop_tracing())["traceEvents"])
    wall, worked = (max(one) for one in zip(*tasks, strict=True))
    yield (
        f"run page, {PODS:,} pods, longest task",
        f"{ms(worked)} of processor time",
        "50 ms",
        f"{ms(wall)} on the clock, of {len(tasks)} tasks until the charts are drawn",
    )
    box = page.locator("[data-figure] .plot > svg").first.bounding_box()
    assert box is not None
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 0.1 * box["width"], y)
    page.mouse.down()
    page.evaluate(FRAMES)
    for at in range(MOVES + 1):
        page.mouse.move(box["x"] + (0.1 + 0.8 * at / MOVES) * box["width"], y)
        page.wait_for_timeout(EVERY)
    times = page.evaluate("framesEnd()")
    page.mouse.up()
    page.context.close()
    gaps = sorted(after - before for before, after in pairwise(times))
    late = gaps[round(0.95 * (len(gaps) - 1))]
    yield (
        f"run page, {PODS:,} pods, dragging a range",
        f"frame: p95 {late:.1f} ms",
        "no stutter",
        f"longest {ms(gaps[-1])}, of {len(gaps)} frames",
    )


def _tasks(events: list[dict[str, Any]]) -> list[tuple[float, float]]:
    """Return the tasks of the page's main thread: milliseconds on the clock, and of processor time."""
    threads = {
        (one["pid"], one["tid"])
        for one in events
        if one["name"] == "thread_name" and one["args"]["name"] == "CrRendererMain"
    }
    ran = (one for one in events if one["name"] == TASK and (one["pid"], one["tid"]) in threads)
    return [(one["dur"] / 1_000, one.get("tdur", one["dur"]) / 1_000) for one in ran if "dur" in one]


def long_run(site: Stack, cycles: int) -> str:
    """Have a worker compute a run of so many cycles, and return its id."""
    nodes = [bundles.node(f"node-{at}", "64", "256Gi") for at in range(100)]
    for node in nodes:
        node["status"]["allocatable"]["pods"] = str(cycles // 90)
    waves = [bundles.deployment(f"wave-{at}", cycles // 20, "1m", "1Mi") for at in range(20)]
    text = bundles.bundle(*nodes, *waves)
    scenario = site.post("/api/scenarios", {"bundle": text, "title": f"{cycles:,} cycles"})
    assert scenario.status == 201, scenario.body[:500]
    run = site.post("/api/runs", {"scenario": scenario.json["id"]})
    assert run.status in {201, 202}, run.body[:500]
    name: str = run.json["id"]

    def ended() -> bool:
        state = site.get(f"/api/runs/{name}").json["state"]
        assert state in {"queued", "running", "done"}, state
        return bool(state == "done")

    wait_until(ended, RUN_SECONDS, f"the run of {cycles:,} cycles")
    return name
