"""A recording, opened from a disk without a network, beside the page that it was made of."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from playground.courseware import lesson
from playground.recordings.lesson_file import lesson_file
from tests.browser.clusters import zoned
from tests.browser.conftest import RUNNING, Watch
from tests.browser.pages import Workbench, becomes, example_text, holds, share
from tests.services.stack import Stack

#: What stands in each region at a step, with a tab open, once all is answered and nothing changes any more.
TEXTS = r"""async ([index, tab]) => {
  const { playback, view, socket } = podstep;
  const after = (ms) => new Promise((done) => setTimeout(done, ms));
  if (playback.index !== index) playback.goto(index);
  while (playback.index !== index || (index && !playback.parts)) await after(20);
  view.setTab(tab, { push: false });
  const read = () => [".cycle-bar", ".stage-view", ".deck", ".build .region-body", ".inspect .region-body"]
    .map((one) => document.querySelector(one).innerText.replace(/\s+/g, " ").trim());
  let texts = read();
  for (let same = 0; same < 2; ) {
    await after(30);
    const now = read();
    same = now.join() === texts.join() && !socket.unanswered && now.at(-1) ? same + 1 : 0;
    texts = now;
  }
  return texts;
}"""
TABS = """() => [...document.querySelectorAll(".inspect [role=tab]")]
    .filter((tab) => tab.checkVisibility()).map((tab) => tab.dataset.tab)"""
#: Tabs whose library comes later than their text, and what shows that it is there.
LATER = {"availability": ".js-plotly-plot", "contracts": ".cm-content"}
#: A cluster under v1.11 with preemption, and one that lives in virtual time.
RUNS = ("making-room", "drain-budget")


@pytest.fixture
def opened(watch: Watch) -> Iterator[Callable[..., Page]]:
    """Open a file without a network, whose every request and error in the console fails the test."""
    contexts = []

    def open_file(path: Path, query: str = "", *, full: bool = True, lesson: bool = False) -> Page:
        context = RUNNING.open().new_context(
            viewport={"width": 1440, "height": 900}, offline=True, reduced_motion="reduce"
        )
        contexts.append(context)
        context.on("console", watch.console)
        context.on("weberror", lambda error: watch.problems.append(f"exception: {error.error}"))
        page = context.new_page()
        page.on(
            "request",
            lambda one: (
                None
                if one.url.startswith((path.as_uri(), "data:", "blob:"))
                else watch.problems.append(f"request: {one.url}")
            ),
        )
        page.goto(f"{path.as_uri()}{query}")
        if lesson:
            return page
        Workbench(page).wait()
        if full:
            page.keyboard.press("m")
        return page

    yield open_file
    for context in contexts:
        context.close()


def saved(site: Stack, address: str, folder: Path) -> Path:
    """Save the recording of a shared scenario's page."""
    answer = site.get(f"/recording?source=scenario:{address.split('/')[2]}")
    assert answer.status == 200, answer.body[:500]
    path = folder / "run.html"
    path.write_bytes(answer.body)
    return path


@pytest.mark.parametrize("slug", RUNS)
def test_every_tab_reads_as_on_the_page(
    page: Page, opened: Callable[..., Page], site: Stack, tmp_path: Path, slug: str
) -> None:
    """All regions have the same texts, from the first step to the end, and nothing is missing in the file."""
    address = share(site, example_text(slug), slug, as_is=True)
    live = Workbench(page).open(f"{address}?step=1")
    file = opened(saved(site, address, tmp_path), "?step=1")
    last = page.evaluate("podstep.playback.last")
    tabs = page.evaluate(TABS)
    assert tabs == file.evaluate(TABS) and len(tabs) > 6
    for tab, part in LATER.items():
        for one in (page, file) if tab in tabs else ():
            one.evaluate(TEXTS, [last, tab])
            expect(one.locator(part).first).to_be_visible()
    for step in sorted({1, last - 1, last}):
        for tab in tabs:
            assert file.evaluate(TEXTS, [step, tab]) == live.page.evaluate(TEXTS, [step, tab]), (step, tab)
    assert file.evaluate("podstep.missed") == []


def test_steps_without_a_server(
    opened: Callable[..., Page], site: Stack, tmp_path: Path, accessible: Callable[[Page], None]
) -> None:
    """Both ways, by phases, to a failure and by a breakpoint; axe finds nothing."""
    path = saved(site, share(site, zoned(20), "Twenty nodes"), tmp_path)
    bench = Workbench(opened(path, full=False))
    expect(bench.page).to_have_title("Twenty nodes · podstep")
    bench.step(2)
    for key, index in (("ArrowLeft", 1), ("Shift+ArrowRight", 2), ("End", 90), ("Home", 0)):
        bench.page.keyboard.press(key)
        becomes(lambda: bench.index, index)
    bench.page.keyboard.press(".")  # the next failure
    holds(
        lambda: bench.page.evaluate("podstep.playback.current?.result"),
        lambda found: found == "unschedulable",
    )
    bench.page.keyboard.press("p")
    expect(bench.page.locator("body.presenting")).to_be_attached()
    bench.page.keyboard.press("p")
    accessible(bench.page)


def test_what_needs_an_engine_says_where_one_is(
    opened: Callable[..., Page], site: Stack, page: Page, tmp_path: Path
) -> None:
    """A Why? that was not asked says so; Open live has a link that opens the scenario at the same step."""
    text = example_text("making-room")
    path = saved(site, share(site, text, "Making room", as_is=True), tmp_path)
    file = opened(path, "?step=1")
    file.evaluate("podstep.view.actions.why({ pod: podstep.playback.pods.keys[0], node: null })")
    expect(file.get_by_role("alert")).to_contain_text("Open it live")
    file.keyboard.press("Escape")
    file.get_by_role("button", name="Open live").click()
    dialog = file.get_by_role("dialog", name="Open live")
    link = dialog.get_by_role("link", name="Open there").get_attribute("href")
    assert link is not None and link.startswith(f"{site.base_url}/#scenario=")
    live = Workbench(page).open(link)
    becomes(lambda: live.index, 1)
    assert page.evaluate("podstep.playback.title") == "Making room"


def test_a_frame_without_storage_and_address(
    opened: Callable[..., Page], site: Stack, tmp_path: Path
) -> None:
    """As an artifact view shows it: in a sandbox, from a text; it steps, and nothing is logged."""
    path = saved(site, share(site, example_text("making-room"), "Framed", as_is=True), tmp_path)
    page = tmp_path / "frame.html"
    held = html.escape(path.read_text(), quote=True)
    page.write_text(f'<iframe sandbox="allow-scripts" width="1400" height="800" srcdoc="{held}"></iframe>')
    context = RUNNING.open().new_context(offline=True, viewport={"width": 1440, "height": 900})
    try:
        outer = context.new_page()
        problems: list[str] = []
        outer.on("console", lambda one: problems.append(one.text) if one.type == "error" else None)
        outer.on("pageerror", lambda one: problems.append(str(one)))
        outer.goto(page.as_uri())
        frame = outer.frame_locator("iframe")
        frame.get_by_role("group", name="Transport").get_by_role("button", name="Step", exact=True).click()
        expect(frame.get_by_role("slider", name="Cycle")).to_have_attribute("aria-valuenow", "1")
        assert problems == []
    finally:
        context.close()


def test_a_lesson_is_a_file(
    opened: Callable[..., Page], site: Stack, tmp_path: Path, accessible: Callable[[Page], None]
) -> None:
    """Its stages step without a server, answers get the engine's words, and an edit says what checks it."""
    path = tmp_path / "first-cycle.html"
    of = lesson("first-cycle")
    assert of is not None
    with ThreadPoolExecutor(1) as pool:  # the browser's own event loop runs in this thread
        # not by the page: the site grades lessons
        path.write_text(pool.submit(lesson_file, of, "en", site.base_url).result())
    page = opened(path, "#node/", lesson=True)
    stage = page.frame_locator("iframe[data-frame]")
    expect(page.get_by_role("heading", level=1)).to_have_text("Who gets it")
    expect(stage.get_by_role("tab", name="Filter")).to_be_visible()
    expect(stage.locator(".cycle-bar")).to_contain_text("in flight")
    task = page.locator("[data-task]")
    for node, said in (("n1", "short by 250m"), ("n3", "Right")):
        task.get_by_role("button", name=node, exact=True).click()
        task.get_by_role("button", name="Check").click()
        expect(task.locator(".verdict")).to_contain_text(said)
    expect(stage.locator(".cycle-bar")).to_contain_text("scheduled")
    accessible(page)
    page.locator("a[data-stop=other-node]").click()
    task.get_by_role("button", name="Check my cluster").click()
    expect(task.locator(".verdict")).to_contain_text("Open the lesson live")
    page.locator("a[data-stop=other-node]").press("n")
    expect(page.get_by_role("heading", level=1)).to_have_text("What you can do now:")
    page.get_by_role("button", name="Open live").click()
    there = page.get_by_role("dialog", name="Open live").get_by_role("link", name="Open the lesson there")
    expect(there).to_have_attribute("href", f"{site.base_url}/learn/first-cycle/")


@pytest.mark.parametrize("name", ["run.html", "step.png"])
def test_a_dropped_file_opens(site: Stack, page: Page, tmp_path: Path, name: str) -> None:
    """A recording, or the picture of a step: its scenario opens from the start page, at that step."""
    address = share(site, example_text("making-room"), "Dropped", as_is=True)
    path = tmp_path / name
    if name == "step.png":
        source = f"scenario:{address.split('/')[2]}"
        path.write_bytes(site.get(f"/picture?source={source}&step=2&format=png").body)
    else:
        saved(site, address, tmp_path)
    page.goto("/")
    page.locator("input[data-files]").set_input_files(path)
    bench = Workbench(page).wait()
    becomes(lambda: bench.index, 2 if name == "step.png" else 0)
    assert page.evaluate("podstep.playback.title") == "Dropped"


def test_share_saves_the_file(site: Stack, page: Page, opened: Callable[..., Page], tmp_path: Path) -> None:
    """Share, File: the run at the view on screen."""
    address = share(site, example_text("making-room"), "Shared as a file", as_is=True)
    Workbench(page).open(f"{address}?step=2&tab=preemption")
    page.get_by_role("button", name="Share").click()
    page.get_by_role("tab", name="File").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as HTML").click()
    assert download.value.suggested_filename == "Shared-as-a-file.html"
    path = tmp_path / "saved.html"
    download.value.save_as(path)
    file = opened(path, full=False)
    becomes(lambda: file.evaluate("[podstep.playback.index, podstep.view.tab]"), [2, "preemption"])
