"""How the pages feel, in numbers: ``python -m tests.browser.measure``, or ``make measure``.

Starts podstep as the tests do and prints one table: step to paint at 100, 1,000 and 5,000 nodes, the first
paint of a shared link, bytes per page and per step, the frame rate while a timeline of 100,000 cycles is
dragged, every frame while that of 100 and of 5,000 nodes is, the time from a cold load to what the main
button of each page does, a recorded production cluster from its upload to its end, and the longest task of
a long run's page. Everything runs once on this machine; where others use it too, the numbers are theirs as
well. The table is also in var/bench/feel.json.

With ``--port`` it measures a podstep that runs already, so that two checkouts can be compared: in the other
``make run PORT=8001``, here ``make measure PARTS="drag interactive --port 8001"``.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from playwright.sync_api import Browser, CDPSession, Page, sync_playwright

from tests.browser.clusters import zoned
from tests.browser.conftest import ARGUMENTS
from tests.browser.drag_frames import dragged
from tests.browser.interactive import interactive
from tests.browser.measures import FRAMES, Row, ms, new_page, size
from tests.browser.pages import Workbench, example_text, share
from tests.browser.run_page import RUN_SECONDS, long_run, run_page
from tests.browser.test_runs import TRACE, charts, ends, open_cycle, upload
from tests.browser.test_step_to_paint import measure
from tests.e2e import bundles
from tests.parts import REPOSITORY, chromium, shared
from tests.services.byte_counter import Counting
from tests.services.processes import free_port
from tests.services.stack import Stack, embedded_parts, running

RESULTS = REPOSITORY / "var" / "bench" / "feel.json"
Cluster = tuple[int, int, int]  # nodes, Deployments, replicas of each

#: Nodes, share of load, milliseconds that ui.md allows a step.
SIZES = ((100, 0.6, 100), (1_000, 0.1, None), (5_000, 0.02, 300))
TABS = ("story", "predicates")
VISITS = 5
STEPS = 20
MEASURED = 40  # steps from click to paint
CYCLES = 100_000
DRAG_MOVES = 240
LIVING: tuple[Cluster, ...] = ((500, 50, 100), (5_000, 500, 100))
LATE = 8_000  # a cycle near the end of the production trace

#: Notes in the page when it was first painted, and when its address's step was on screen with its verdicts.
NOTE = """
window.seen = { fcp: 0, lcp: 0, stepped: 0 };
new PerformanceObserver(list => { for (const one of list.getEntries())
    if (one.name === "first-contentful-paint") seen.fcp = one.startTime;
}).observe({ type: "paint", buffered: true });
new PerformanceObserver(list => { for (const one of list.getEntries()) seen.lcp = one.startTime; })
    .observe({ type: "largest-contentful-paint", buffered: true });
(function look() {
    if (window.podstep?.ready && podstep.playback.index > 0 && podstep.playback.parts)
        requestAnimationFrame(() => { seen.stepped = performance.now(); });
    else requestAnimationFrame(look);
})();
"""


def step_to_paint(browser: Browser, site: Stack) -> Iterator[Row]:
    """Click Step, and see the step and its verdicts painted."""
    for nodes, load, allowed in SIZES:
        address = share(site, zoned(nodes, load), f"{nodes} nodes")
        for tab in TABS:
            page = new_page(browser, site.base_url)
            found = measure(page, f"{address}?step=10&tab={tab}", MEASURED)
            page.context.close()
            painted, whole = found["painted"], found["with_verdicts"]
            yield (
                f"step to paint, {nodes:,} nodes, {tab}",
                f"median {ms(painted['median'])}, p95 {ms(painted['p95'])}",
                ms(allowed) if allowed else "",
                f"with verdicts: median {ms(whole['median'])}, p95 {ms(whole['p95'])}",
            )


def first_paint(browser: Browser, site: Stack) -> Iterator[Row]:
    """Open a shared link at a step: as the first who ever does, with an empty cache, and once more."""
    for name, text, step in (("12 nodes", example_text("shop"), 17), ("1,000 nodes", zoned(1_000, 0.1), 17)):
        address = f"{share(site, text, name)}?step={step}&tab=priorities"
        seen: dict[str, list[dict[str, float]]] = {"first visitor": [], "cold": [], "warm": []}
        for visit in range(VISITS):
            page = new_page(browser, site.base_url)
            page.add_init_script(NOTE)
            for kind in ("cold" if visit else "first visitor", "warm"):
                page.goto(address)
                page.wait_for_function("() => seen.stepped > 0")
                seen[kind].append(page.evaluate("seen"))
            page.context.close()
        for kind, visits in seen.items():
            middle = {key: statistics.median(one[key] for one in visits) for key in visits[0]}
            yield (
                f"shared link, {name}, {kind}",
                f"first paint {ms(middle['fcp'])}, largest {ms(middle['lcp'])}",
                "1,000 ms",
                f"stepped to the addressed step: {ms(middle['stepped'])}, of {len(visits)}",
            )


class Decoded:
    """Counts the bytes that a page was given, unpacked: of HTTP and of its WebSocket."""

    def __init__(self, page: Page) -> None:
        self.total = 0
        session: CDPSession = page.context.new_cdp_session(page)
        session.send("Network.enable")
        session.on("Network.dataReceived", self._data)
        session.on("Network.webSocketFrameReceived", self._frame)

    def _data(self, event: dict[str, Any]) -> None:
        self.total += event["dataLength"]

    def _frame(self, event: dict[str, Any]) -> None:
        self.total += len(event["response"]["payloadData"].encode())


class Work:
    """Counts how long a page's main thread works, in processor time: what others do there is not in it."""

    def __init__(self, page: Page) -> None:
        self.session: CDPSession = page.context.new_cdp_session(page)
        self.session.send("Performance.enable", {"timeDomain": "threadTicks"})

    @property
    def seconds(self) -> float:
        """Return how long it has worked so far."""
        metrics = self.session.send("Performance.getMetrics")["metrics"]
        return next(float(one["value"]) for one in metrics if one["name"] == "TaskDuration")


def sizes(browser: Browser, site: Stack) -> Iterator[Row]:
    """Count what comes over the wire for every page, with an empty cache and again, and for a step."""
    shop = share(site, example_text("shop"), "A shop on twelve nodes")
    pages = ("/", f"{shop}?step=17", f"/e{shop[2:]}?step=17", "/runs/", "/reference/predicates/", "/api/")
    with Counting(site.port) as wire:
        for path in pages:
            page = new_page(browser, wire.base_url)
            figures = []
            for _ in range(2):
                decoded, before = Decoded(page), wire.received
                page.goto(path)
                page.wait_for_load_state("networkidle")
                page.wait_for_timeout(500)
                figures.append((wire.received - before, decoded.total))
            page.context.close()
            (cold, unpacked), (warm, _) = figures
            yield (
                f"page {path.partition('?')[0].replace(shop[3:-1], '…')}",
                f"{size(cold)} transferred",
                "",
                f"{size(unpacked)} decoded; {size(warm)} transferred when it is opened again",
            )
        for nodes, load, _ in SIZES:
            address = share(site, zoned(nodes, load), f"{nodes} nodes")
            page = new_page(browser, wire.base_url)
            bench = Workbench(page).open(f"{address}?step=10&tab=predicates")
            bench.at(10)
            page.wait_for_timeout(1_000)
            decoded, before = Decoded(page), wire.received
            bench.step(STEPS)
            page.wait_for_timeout(500)
            transferred = (wire.received - before) / STEPS
            page.context.close()
            yield (
                f"a step, {nodes:,} nodes, predicates",
                f"{size(transferred)} transferred",
                "",
                f"{size(decoded.total / STEPS)} decoded, with what is fetched ahead",
            )


def scrub(browser: Browser, site: Stack) -> Iterator[Row]:
    """Drag the timeline of a long run from one end to the other and back, noting every frame."""
    page = new_page(browser, site.base_url)
    answer = page.goto(f"/runs/{long_run(site, CYCLES)}/at/1/")
    assert answer is not None
    assert answer.ok, answer.status
    page.wait_for_function(
        f"() => window.podstep?.ready && podstep.playback.complete && podstep.playback.cycles >= {CYCLES}"
        " && podstep.playback.marks.known === podstep.playback.cycles"
    )
    box = Workbench(page).timeline.bounding_box()
    assert box is not None
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 4, y)
    page.mouse.down()
    page.evaluate(FRAMES)
    work = Work(page)
    began = work.seconds
    for at in range(DRAG_MOVES + 1):
        there = 1 - abs(1 - 2 * at / DRAG_MOVES)
        page.mouse.move(box["x"] + 4 + there * (box["width"] - 8), y)
        page.wait_for_timeout(8)
    times = page.evaluate("framesEnd()")
    worked = 1_000 * (work.seconds - began) / len(times)
    page.mouse.up()
    page.context.close()
    yield (
        f"scrubbing {CYCLES:,} cycles",
        f"{frames(times)} frames a second",
        "no stutter",
        f"{gaps_of(times)}; {worked:.1f} ms of work each",
    )


def frames(times: list[float]) -> str:
    """Return how many frames a second were shown at these times, in milliseconds."""
    return f"{1_000 * (len(times) - 1) / (times[-1] - times[0]):.0f}"


def gaps_of(times: list[float]) -> str:
    """Return the longest and the 95th percentile of the times between frames."""
    gaps = sorted(after - before for before, after in pairwise(times))
    usual = gaps[round(0.95 * (len(gaps) - 1))]
    return f"longest frame {ms(gaps[-1])}, p95 {ms(usual)}, of {len(gaps)} frames"


def production(browser: Browser, site: Stack) -> Iterator[Row]:
    """Upload the recorded cluster of 1,523 nodes and 8,152 pods, run all of it, and open a late cycle."""
    page = new_page(browser, site.base_url)
    began = time.monotonic()
    upload(page, shared(TRACE[0]), shared(TRACE[1]), times="Ignore")
    ends(page, "done", RUN_SECONDS)
    wall = time.monotonic() - began
    run = page.evaluate("podstep.run")
    charts(page)
    began = time.monotonic()
    open_cycle(page, LATE).step()
    opening = time.monotonic() - began
    page.context.close()
    yield (
        f"production trace, {run['done']:,} cycles",
        f"{wall:.1f} s from the upload, {run['seconds']:.1f} s of scheduling",
        "",
        f"{run['placed']:,} placed, peak {run['peakMib']:.0f} MiB; cycle {LATE:,} opened in {opening:.2f} s",
    )


def lost_zone(nodes: int, deployments: int, replicas: int) -> str:
    """Return a cluster in three zones with Deployments, one zone of which stops answering after a minute."""
    made: list[dict[str, Any]] = [{**bundles.SETTINGS, "scheduler": "v1.37"}]
    for number in range(nodes):
        one = bundles.node(f"node-{number:04}", "16", "64Gi")
        one["metadata"]["labels"] = {"topology.kubernetes.io/zone": "abc"[number % 3]}
        if number % 3 == 0:
            one["metadata"]["annotations"] = {"podstep/fails-at": "60"}
        made.append(one)
    made += [bundles.deployment(f"web-{at:03}", replicas, "300m", "256Mi") for at in range(deployments)]
    return bundles.bundle(*made)


def living(browser: Browser, site: Stack) -> Iterator[Row]:
    """Lose a zone, in the workbench and as a long run, noting every frame of the page meanwhile."""
    answers = [
        site.post("/api/scenarios", {"bundle": lost_zone(*size), "title": "A zone lost"}) for size in LIVING
    ]
    small, large = (answer.json["id"] for answer in answers)
    run = site.post("/api/runs", {"scenario": large}).json["id"]
    ready, whole = "() => window.podstep?.ready", "() => podstep.playback.complete"
    ended = "() => ['done', 'failed'].includes(podstep.run.state)"
    yield _watched(browser, site, f"/s/{small}/", LIVING[0], ready, whole)
    yield _watched(browser, site, f"/runs/{run}/", LIVING[1], "() => window.podstep?.run", ended)


def _watched(browser: Browser, site: Stack, path: str, size: Cluster, ready: str, ended: str) -> Row:
    """Return how smooth a page is until something has ended on it."""
    page = new_page(browser, site.base_url)
    page.set_default_timeout(1_000 * RUN_SECONDS)
    page.goto(path)
    page.wait_for_function(ready)
    work = Work(page)
    began, started = work.seconds, time.monotonic()
    page.evaluate(FRAMES)
    page.keyboard.press("End")
    page.wait_for_function(ended, polling=500)
    seconds = time.monotonic() - started
    times = page.evaluate("framesEnd()")
    worked = work.seconds - began
    page.context.close()
    nodes, deployments, replicas = size
    return (
        f"a zone of {nodes:,} nodes lost, {deployments * replicas:,} pods",
        f"{frames(times)} frames a second while it is computed",
        "60",
        f"{seconds:.0f} s; {gaps_of(times)}; {worked:.1f} s of work in the page",
    )


PARTS: dict[str, Callable[[Browser, Stack], Iterator[Row]]] = {
    "steps": step_to_paint,
    "paint": first_paint,
    "bytes": sizes,
    "scrub": scrub,
    "drag": dragged,
    "interactive": interactive,
    "living": living,
    "production": production,
    "run": run_page,
}


def printed(rows: list[Row]) -> Iterator[str]:
    """Return the table's lines, as Markdown."""
    table = [("what", "measured", "ui.md", "more"), *rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for at, row in enumerate(table):
        yield "| " + " | ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)) + " |"
        if at == 0:
            yield "| " + " | ".join("-" * width for width in widths) + " |"


def site_of(home: Path, port: int | None) -> AbstractContextManager[Stack]:
    """Return the podstep that listens at a port, or start one."""
    if port:
        return nullcontext(Stack("running", port, {}, home))
    port = free_port()
    return running("embedded", embedded_parts(home, port), home, port)


def main() -> None:
    """Measure the parts that are asked for, print their table, and keep it."""
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}; all if none is named")
    asked.add_argument("--port", type=int, help="of a podstep on this machine, as that of another checkout")
    options = asked.parse_args()
    parts = options.parts or list(PARTS)
    rows: list[Row] = []
    with (
        TemporaryDirectory() as folder,
        site_of(Path(folder), options.port) as site,
        sync_playwright() as found,
    ):
        browser = found.chromium.launch(executable_path=chromium(), args=list(ARGUMENTS))
        for part in parts:
            for row in PARTS[part](browser, site):
                print(*row, sep=" · ", flush=True)
                rows.append(row)
        browser.close()
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    RESULTS.write_text(json.dumps({**known, **{row[0]: row[1:] for row in rows}}, indent=2) + "\n")
    print("", *printed(rows), sep="\n")


if __name__ == "__main__":
    main()
