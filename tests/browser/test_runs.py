"""Long runs: upload, watch, cancel, read the charts and their tables, open any cycle."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from scheduler_core import Simulation, load, simulate
from scheduler_core.authoring.examples import trace_files
from tests.browser.pages import Workbench, cycles_of, example_text, holds, share, wide
from tests.e2e import bundles
from tests.parts import REPOSITORY, shared
from tests.services.stack import Stack

pytestmark = pytest.mark.timeout(300)

SAMPLE = REPOSITORY / "scheduler_core" / "authoring" / "examples"
FIGURES = ("Pods over cycles", "Requested share of each resource", "Cycles by outcome")
SECOND = 1000
#: Nodes and pods of the recorded production cluster.
TRACE = ("traces/openb_node_list_all_node.csv.gz", "traces/openb_pod_list_default.csv.gz")
#: How many of its pods show that its nodes are shown.
SOME_PODS = 100


def slow(nodes: int = 1_010, pods: int = 10_000, priorities: int = 600) -> str:
    """Return what is read in a second, is too large to compute at once, and takes a worker a minute."""
    apart = {"serviceAntiAffinity": {"label": "kubernetes.io/hostname"}}
    policy = {
        "apiVersion": "v1",
        "kind": "Policy",
        "predicates": [{"name": "GeneralPredicates"}],
        "priorities": [{"name": f"Apart{at}", "weight": 1, "argument": apart} for at in range(priorities)],
    }
    cluster = (bundles.node(f"n{at:04d}", cpu="32") for at in range(nodes))
    return bundles.bundle(*cluster, bundles.deployment("crowd", pods, cpu="10m"), policy)


def upload(page: Page, nodes: Path, pods: Path, times: str = "Keep") -> None:
    """Upload the two files of a trace and arrive on the page of its run."""
    page.goto("/")
    page.get_by_label("Nodes (CSV)").set_input_files(nodes)
    page.get_by_label("Pods (CSV)").set_input_files(pods)
    page.get_by_role("radio", name=re.compile(times)).check()
    page.get_by_role("button", name="Start the run").click()
    page.wait_for_url("**/runs/*/")


def first_rows(table: Path, folder: Path, count: int) -> Path:
    """Write the heading and the first rows of a compressed table to a file of its name; return that."""
    with gzip.open(table, "rt") as lines:
        (folder / table.stem).write_text("".join(islice(lines, count + 1)))
    return folder / table.stem


def ends(page: Page, state: str, seconds: int = 60) -> None:
    """Expect that the run on the page comes to an end."""
    heading = page.get_by_role("main").get_by_text(state, exact=True)
    expect(heading).to_be_visible(timeout=seconds * SECOND)


def charts(page: Page) -> None:
    """Expect every chart to be drawn with a line or bar a series, and its numbers in a table."""
    for title in FIGURES:
        chart = page.get_by_role("img", name=title)
        expect(chart.locator("svg .trace").first).to_be_attached()
        card = page.get_by_role("region", name=title, exact=True)
        card.get_by_role("button", name="Show as a table").click()
        rows = card.get_by_role("table").get_by_role("row")
        expect(rows.nth(3), title).to_be_attached()


def a_range_opens(page: Page) -> None:
    """Drag a range out of a chart: the outcomes in it are listed, and its first cycle opens."""
    page.get_by_role("button", name="Show as a chart").first.click()
    plot = page.get_by_role("img", name=FIGURES[0]).locator("svg").first
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    assert box
    y = box["y"] + 60
    page.mouse.move(box["x"] + 0.4 * box["width"], y)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.6 * box["width"], y, steps=3)
    page.mouse.up()
    bar = page.get_by_role("region", name="What the charts show")
    opened = bar.get_by_role("link", name=re.compile(r"Open cycle \d+ in the workbench"))
    first = number(re.findall(r"[\d,]+", opened.inner_text())[0])
    assert first > 1
    rows = page.get_by_role("region", name="Outcomes").get_by_role("row")
    expect(rows.nth(1)).to_contain_text(str(first))
    bar.get_by_role("button", name="Whole run").click()
    expect(opened).to_have_count(0)


def an_answer_is_drawn_and_kept(page: Page) -> None:
    """Ask a prepared question: its rows are a table, a chart, and a file in each format."""
    card = page.get_by_role("region", name="Ask this run")
    card.get_by_label("Question").select_option("retries")
    expect(card.get_by_role("table").get_by_role("row").nth(1)).to_be_visible()
    card.get_by_role("button", name="Chart", exact=True).click()
    card.get_by_label("Column of the chart").select_option("attempts")
    expect(card.get_by_role("list", name="attempts of each row").get_by_role("listitem")).to_have_count(40)
    for name, head in (("CSV", b"pod,attempts"), ("Parquet", b"PAR1")):
        with page.expect_download() as found:
            card.get_by_role("button", name=f"Download the answer as {name}").click()
        assert Path(found.value.path()).read_bytes().startswith(head)


def sorted_while_numbers_come(page: Page) -> None:
    """Sort the table of a run that goes on: the newest cycle stays first, and the focus where it was."""
    card = page.get_by_role("region", name=FIGURES[0], exact=True)
    card.get_by_role("button", name="Show as a table").click()
    cycles = card.get_by_role("table").get_by_role("rowheader")
    by_cycle = card.get_by_role("button", name=re.compile("^cycle"))
    by_cycle.click()
    expect(card.get_by_role("columnheader").first).to_have_attribute("aria-sort", "descending")
    newest = number(cycles.first.inner_text())
    holds(lambda: number(cycles.first.inner_text()), lambda seen: seen > newest)
    expect(card.get_by_role("columnheader").first).to_have_attribute("aria-sort", "descending")
    expect(by_cycle).to_be_focused()
    card.get_by_role("button", name="Copy as tab separated text").focus()
    newest = number(cycles.first.inner_text())
    holds(lambda: number(cycles.first.inner_text()), lambda seen: seen > newest)
    expect(card.get_by_role("button", name="Copy as tab separated text")).to_be_focused()


def number(text: str) -> int:
    """Return a number as it is shown."""
    return int(text.replace(",", ""))


def open_cycle(page: Page, index: int) -> Workbench:
    """Open a cycle of the run on the page in the workbench."""
    page.get_by_label("Open cycle").fill(str(index))
    page.get_by_role("button", name="in the workbench").click()
    page.wait_for_url(f"**/at/{index}**")
    return Workbench(page).at(index)


def test_an_uploaded_trace_runs_to_its_charts(page: Page, visitor: Callable[..., Page]) -> None:
    """The sample trace runs in the worker, ends in charts with tables, and opens at any cycle."""
    upload(page, SAMPLE / "gpu-trace.nodes.csv", SAMPLE / "gpu-trace.pods.csv")
    ends(page, "done")
    expect(page.get_by_role("progressbar")).to_have_attribute("aria-valuenow", "100")
    charts(page)
    a_range_opens(page)
    an_answer_is_drawn_and_kept(page)
    address = page.url
    cycles = list(simulate(load(trace_files())))
    bench = open_cycle(page, 5)
    bench.shows(cycles[4])
    bench.step().shows(cycles[5])
    expect(page).to_have_url(re.compile(r"/at/6/?$"))
    page.reload()
    bench.wait().at(6).shows(cycles[5])
    stranger = visitor()
    stranger.goto(address)
    ends(stranger, "done")
    Workbench(stranger).open(page.url).at(6).shows(cycles[5])


def test_a_run_is_watched_and_cancelled(page: Page, site: Stack, visitor: Callable[..., Page]) -> None:
    """What takes long goes to a worker from the workbench; it is watched live and cancelled."""
    page.goto(share(site, slow(), "To be cancelled"))
    page.get_by_role("button", name="Run to the end").click()
    page.wait_for_url("**/runs/*/")
    bar = page.get_by_role("progressbar")
    moving = re.compile(r"^([1-9]|[1-9]\d)$")
    expect(bar).to_have_attribute("aria-valuenow", moving)
    sorted_while_numbers_come(page)
    stranger = visitor()
    stranger.goto(page.url)
    expect(stranger.get_by_role("progressbar")).to_have_attribute("aria-valuenow", moving)
    expect(stranger.get_by_role("button", name="Cancel the run")).to_have_count(0)
    page.get_by_role("button", name="Cancel the run").click()
    ends(page, "cancelled")
    ends(stranger, "cancelled")
    expect(page.get_by_role("button", name="Cancel the run")).to_be_hidden()
    open_cycle(page, 3)
    page.goto("/runs/")
    row = page.get_by_role("row").filter(has_text="To be cancelled")
    expect(row.get_by_text("cancelled", exact=True)).to_be_visible()
    stranger.goto("/runs/")
    expect(stranger.get_by_text("You have not started a run yet.")).to_be_visible()


def test_an_empty_list_offers_an_example(page: Page) -> None:
    """One click runs the shipped excerpt of a trace."""
    page.goto("/runs/")
    page.get_by_role("button", name="Run an example").click()
    page.wait_for_url("**/runs/*/")
    ends(page, "done")


def queued(page: Page, address: str) -> str:
    """Start a run from the workbench; return its id."""
    page.goto(address)
    page.get_by_role("button", name="Run to the end").click()
    page.wait_for_url("**/runs/*/")
    return page.url.rstrip("/").rpartition("/")[2]


def test_a_waiting_run_shows_its_place_in_the_queue(page: Page, site: Stack) -> None:
    """The page and the list say where a run waits, and follow as those before it leave."""
    address = share(site, bundles.long("waiting", 300, 1_000), "To be waited for")
    site.stop("worker")
    try:
        ahead, run = (queued(page, address) for _ in range(2))
        expect(page.get_by_role("region", name="Progress")).to_contain_text("2nd in the queue")
        expect(page.get_by_role("progressbar")).to_have_attribute("aria-valuetext", "2nd in the queue")
        page.goto("/runs/")
        row = page.get_by_role("row").filter(has=page.locator(f'a[href*="{run}"]'))
        expect(row).to_contain_text("2nd in the queue")
        other = page.context.new_page()
        other.goto(f"/runs/{ahead}/")
        other.get_by_role("button", name="Cancel the run").click()
        expect(row).to_contain_text("1st in the queue")
        page.goto(f"/runs/{run}/")
        expect(page.get_by_role("region", name="Progress")).to_contain_text("1st in the queue")
        page.get_by_role("button", name="Cancel the run").click()
        ends(page, "cancelled")
        expect(page.get_by_role("region", name="Progress")).not_to_contain_text("in the queue")
    finally:
        site.start("worker")
        site.wait_until_ready()


def test_a_closed_page_changes_nothing(page: Page, site: Stack) -> None:
    """A run goes on while nobody watches, and its page shows where it is when it is opened again."""
    page.goto(share(site, bundles.long("closed", 100, 500), "Nobody watches"))
    Workbench(page).wait()
    page.get_by_role("button", name="Run to the end").click()
    page.wait_for_url("**/runs/*/")
    address = page.url
    page.goto("about:blank")
    run = address.rstrip("/").rsplit("/", 1)[1]
    done = site.wait_for_run(run, ["done", "failed"], 120)
    assert (done["state"], done["placed"]) == ("done", 500)
    page.goto(address)
    ends(page, "done")
    expect(page.get_by_role("main")).to_contain_text("500")
    expect(page.get_by_role("img", name=FIGURES[0]).locator("svg").first).to_be_visible()


def test_a_cluster_of_production_size_runs(page: Page, tmp_path: Path) -> None:
    """A recorded cluster of 1,523 nodes runs its first pods from the page; a late cycle shows all nodes.

    The whole trace of 8,152 pods runs in ``tests/e2e/test_gpu_trace.py``; ``make measure`` times it here.
    """
    upload(page, shared(TRACE[0]), first_rows(shared(TRACE[1]), tmp_path, SOME_PODS), times="Ignore")
    ends(page, "done")
    run = page.evaluate("podstep.run")
    assert run["done"] >= SOME_PODS
    assert run["placed"] + run["unschedulable"] <= run["done"]
    bench = open_cycle(page, SOME_PODS - 10)
    expect(bench.stage.get_by_text(re.compile("1,523 nodes"))).to_be_visible()
    grid = bench.tab("Predicates").get_by_role("grid")
    expect(grid).to_have_attribute("aria-rowcount", "1524")
    bench.step()


def test_a_run_names_its_unschedulable_pods(page: Page, site: Stack, visitor: Callable[..., Page]) -> None:
    """A reason has its pods, also without JavaScript, and a pod opens the cycle that tried it."""
    address = share(site, example_text("reading-the-message"))
    answer = site.post("/api/runs", {"scenario": address.split("/")[2]})
    page.goto(f"/runs/{answer.json['id']}/")
    ends(page, "done")
    cycles = cycles_of(example_text("reading-the-message"))
    failed = next(cycle for cycle in cycles if cycle.result == "unschedulable")
    card = page.get_by_role("region", name="Unschedulable pods")
    expect(card.locator("summary")).to_have_text(re.compile(rf"1\s+{re.escape(failed.message or '')}"))
    plain = visitor(java_script_enabled=False)
    plain.goto(page.url)
    expect(plain.get_by_role("link", name=failed.pod)).to_be_visible()
    card.get_by_role("link", name=failed.pod).click()
    Workbench(page).wait().at(failed.index).shows(failed)


def test_a_run_with_a_cache_tells_what_it_did(page: Page, site: Stack, visitor: Callable[..., Page]) -> None:
    """Hit rate, numbers and causes of stale hits stand on its page and lead to the Cache tab over time."""
    Workbench(page).open(share(site, example_text("cache-broken-promise"), "The broken promise"))
    page.get_by_role("button", name="Run to the end").click()
    page.wait_for_url("**/runs/*/")
    ends(page, "done")
    card = page.get_by_role("region", name="Equivalence cache")
    expect(card).to_contain_text(re.compile(r"hit rate\s*73 %"))
    expect(card.get_by_role("listitem")).to_contain_text("6MatchInterPodAffinity: not invalidated by Pod/ADD")
    phone = visitor(size=(390, 844))
    phone.goto(page.url)
    expect(phone.get_by_role("region", name="Equivalence cache")).to_be_visible()
    assert wide(phone) <= 0
    card.get_by_role("link", name="Over time, in the workbench").click()
    page.wait_for_url("**/at/4**")
    panel = Workbench(page).at(4).panel("Cache")
    expect(panel.get_by_role("img", name=re.compile("^Hit rate over 4 cycles"))).to_be_visible()


def test_the_sample_is_what_the_engine_decides() -> None:
    """The shipped excerpt read from its CSV files decides as the example of the same name does."""
    files = [(name, (SAMPLE / name).read_text()) for name in ("gpu-trace.nodes.csv", "gpu-trace.pods.csv")]
    straight = [(cycle.pod, cycle.node) for cycle in Simulation(load(files, presumed="v1.11"), trace=False)]
    assert straight == [(cycle.pod, cycle.node) for cycle in cycles_of(example_text("gpu-trace"))]
