"""Walking through time: phases, moments, seconds and the end of a run, by clicks, keys and addresses."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import turned
from tests.browser.pages import PATIENCE, Workbench, example_text, share, wide
from tests.services.stack import Stack

CHURN = Path(__file__).parents[1] / "playground" / "data" / "timed" / "churn.yaml"
PLACED = "[...podstep.playback.cluster.placement]"
#: Waits until what was asked for is on screen, with all that belongs to it; returns where the walk stands:
#: the step, its moment, its phase and virtual seconds. One call, since hundreds of stops are made here.
SETTLED = """async (patience) => {
  const end = performance.now() + patience;
  for (;;) {
    await new Promise(requestAnimationFrame);
    const { index, wanted, at, parts, behind, phase, time } = podstep.playback;
    const whole = at >= 0 && (index === 0 || parts !== null);
    if (!podstep.view.walking && !behind && index === wanted && whole) return [index, at, phase, time];
    if (performance.now() > end) throw new Error(`it is at ${index}, ${at}, and not yet at ${wanted}`);
  }
}"""
#: Presses a key until the walk stands where it stood, or at the beginning; returns where it came by, and the
#: node that each pod was on there. One call: a key pressed from outside costs as much as a step.
WALK = f"""async ([key, patience]) => {{
  const settled = {SETTLED};
  const stage = document.activeElement;
  const stops = [];
  for (let last = ""; stops.length < 400;) {{
    const here = await settled(patience);
    if (`${{here}}` === last) break;
    last = `${{here}}`;
    stops.push([here, {PLACED}]);
    stage.dispatchEvent(new KeyboardEvent("keydown", {{ key, bubbles: true, cancelable: true }}));
  }}
  return stops;
}}"""
#: A run in which no pod is ever tried.
EMPTY = """
apiVersion: v1
kind: Node
metadata: {name: node-1}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}
---
apiVersion: kubescheduler.config.k8s.io/v1beta2
kind: KubeSchedulerConfiguration
"""


@pytest.fixture(scope="module")
def room(site: Stack) -> str:
    """The address of a gang of six with room for four."""
    return share(site, example_text("coscheduling-room"), "A gang with room")


@pytest.fixture(scope="module")
def churn(site: Stack) -> str:
    """The address of a cluster where pods come, end and are evicted, and a Deployment grows."""
    return share(site, CHURN.read_text(), "Pods that come and go")


@pytest.fixture(scope="module")
def update(site: Stack) -> str:
    """The address of a Deployment that is updated, after whose last cycle something still happens."""
    return share(site, example_text("rolling-update"), "A Deployment is updated")


@pytest.fixture(scope="module")
def day(site: Stack) -> str:
    """The address of an example of v1.11 where something happens from outside at its own times."""
    return share(site, example_text("a-day"), "A day")


@pytest.fixture(scope="module")
def shop(site: Stack) -> str:
    """The address of an example of v1.11 where nothing comes from outside."""
    return share(site, example_text("shop"), "A shop")


def settled(page: Page) -> list[object]:
    """Wait until what was asked for is on screen; return where that is."""
    found: list[object] = page.evaluate(SETTLED, PATIENCE * 1000)
    return found


def walk(page: Page, key: str) -> list[tuple[list[Any], list[int]]]:
    """Press a key as long as it leads on; return where that came by, and the node of each pod there."""
    return [(here, placed) for here, placed in page.evaluate(WALK, [key, PATIENCE * 1000])]


def choose(page: Page, unit: str) -> None:
    """Choose what "next" means, once every cycle is known that it may lead to."""
    page.wait_for_function("() => podstep.playback.complete")
    page.get_by_label("Unit of next and previous").select_option(unit)
    page.get_by_role("main", name="Stage").focus()


def reported(page: Page) -> Locator:
    """Return the sentence of the moment that is shown."""
    return page.locator(".moment-text")


def test_events_lead_from_moment_to_moment_over_all_of_a_run(page: Page, churn: str) -> None:
    """Every step's last moment leaves the cluster as the whole step does; backwards is the same way."""
    Workbench(page).open(churn)
    choose(page, "event")
    forwards = walk(page, ".")
    end = int(page.evaluate("podstep.playback.cycles")) + 1
    assert forwards[-1][0][0] == end
    times = [here[3] for here, _ in forwards]
    assert times == sorted(times)
    assert len(forwards) > 60
    for (here, placed), (after, _) in pairwise(forwards):
        if here[0] != after[0]:  # the last moment of a step
            page.evaluate("index => podstep.playback.goto(index)", here[0])
            settled(page)
            assert page.evaluate(PLACED)[: len(placed)] == placed, here
    page.keyboard.press("End")
    settled(page)
    backwards = [stop for stop in walk(page, ",") if stop[0][1] or stop[0][0] == end]
    seen = {str(here[:2]): placed for here, placed in forwards}
    for here, placed in backwards:
        earlier = seen.get(str(here[:2]))
        if earlier is not None:
            assert placed[: len(earlier)] == earlier, here
    assert len(backwards) > 60


def test_a_moment_has_its_sentence_its_ticks_and_its_stage(page: Page, room: str) -> None:
    """Three wait as ghosts until the fourth is tried; each binding takes one; all is in the address."""
    bench = Workbench(page).open(room + "?step=4")
    settled(page)
    slider = page.get_by_role("slider", name="Moment")
    expect(bench.stage.locator(".pod.waiting")).to_have_count(0)
    slider.focus()
    page.keyboard.press("Home")
    expect(slider).to_have_attribute(
        "aria-valuetext", re.compile(r"^moment 1 of \d+, .*is tried and goes to worker-1\.$")
    )
    expect(bench.stage.locator(".node .pod.waiting")).to_have_count(3)
    expect(reported(page)).to_contain_text("the attempt")
    ghosts = [3]
    for _ in range(9):
        page.keyboard.press("ArrowRight")
        settled(page)
        ghosts.append(bench.stage.locator(".node .pod.waiting").count())
    assert ghosts == sorted(ghosts, reverse=True)
    assert ghosts[-1] == 0
    assert 2 in ghosts
    page.keyboard.press("Home")
    page.wait_for_url(re.compile(r"\?step=4&at=1$"))
    page.reload()
    assert settled(Workbench(page).wait().page)[:2] == [4, 1]
    expect(bench.stage.locator(".node .pod.waiting")).to_have_count(3)
    box = slider.bounding_box()
    assert box
    page.mouse.click(box["x"] + box["width"] * 0.35, box["y"] + box["height"] / 2)
    assert settled(page)[1] not in (0, 1)
    slider.focus()
    page.keyboard.press("Escape")
    assert settled(page)[1] == 0
    page.wait_for_url(re.compile(r"\?step=4$"))


def test_phases_light_up_and_the_tab_of_the_phase_opens(page: Page, room: str) -> None:
    """Shift and arrows go through the phases; nothing is shown before the phase that finds it."""
    bench = Workbench(page).open(room + "?step=3&tab=queue")
    settled(page)
    lit = bench.stage.get_by_label("Phases of this cycle").locator("[aria-current=step]")
    expect(lit).to_have_count(0)
    page.get_by_role("main", name="Stage").focus()
    page.keyboard.press("Shift+ArrowRight")
    assert settled(page)[:3] == [4, 0, "queue"]
    seen = []
    for phase in ("preFilter", "predicates", "permit", "bind"):
        page.keyboard.press("Shift+ArrowRight")
        assert settled(page)[2] == phase
        expect(lit).to_have_text(phase)
        seen.append(
            (bench.stage.locator(".node.failed").count(), bench.stage.locator(".node .pod.added").count())
        )
        expect(bench.inspect.get_by_role("tab", selected=True)).to_contain_text(
            {"predicates": "Predicates"}.get(phase, "PodGroups")
        )
    assert seen == [(0, 0), (2, 0), (2, 1), (2, 1)]
    page.keyboard.press("Shift+ArrowLeft")
    page.wait_for_url(re.compile(r"step=4&phase=permit"))
    page.reload()
    Workbench(page).wait()
    assert settled(page)[:3] == [4, 0, "permit"]
    for _ in range(4):
        page.keyboard.press("Shift+ArrowLeft")
    assert settled(page)[:3] == [3, 0, "permit"]
    page.goto(room + "?step=4&phase=preemption")  # which this cycle did not come to
    Workbench(page).wait()
    assert settled(page)[:3] == [4, 0, ""]


def test_phases_of_the_story_tab_leave_it_open(page: Page, shop: str) -> None:
    """Who reads another tab than a phase's keeps it, under a Policy of v1.11 too."""
    bench = Workbench(page).open(shop + "?step=1")
    settled(page)
    page.get_by_label("Unit of next and previous").select_option("phase")
    page.get_by_role("button", name="Next phase").click()
    assert settled(page)[:3] == [2, 0, "queue"]
    bench.is_on("Story")
    phases = ["predicates", "priorities", "select", "assume", "bind"]
    for phase in phases:
        page.get_by_role("button", name="Next phase").click()
        assert settled(page)[2] == phase
    chosen = bench.stage.get_by_role("button", name=re.compile(r"^[^,]+, cpu .*, chosen"))
    expect(chosen).to_have_count(1)
    for _ in range(3):
        page.get_by_role("button", name="Previous phase").click()
        settled(page)
    expect(chosen).to_have_count(0)


def test_seconds_go_on_by_whole_ones_and_back_the_same_way(page: Page, churn: str) -> None:
    """Each stop is the first thing that happens in its second; going back visits the same ones."""
    Workbench(page).open(churn)
    choose(page, "second")
    stops = [settled(page)]
    for _ in range(100):
        page.keyboard.press(".")
        here = settled(page)
        if here == stops[-1]:
            break
        stops.append(here)
        page.wait_for_timeout(10)
    seconds = [int(float(str(stop[3]))) for stop in stops]
    assert seconds == sorted(set(seconds))
    assert 12 in seconds  # the Deployment grows
    assert any(stop[1] for stop in stops)  # moments within a step are among them
    for stop in stops[-2:0:-1]:
        page.keyboard.press(",")
        assert settled(page) == stop
    page.keyboard.press(",")
    assert settled(page)[0] == 0


def test_operations_and_failures_are_found_both_ways(page: Page, day: str) -> None:
    """The next operation is the next major step; the unit is kept when the page is opened again."""
    Workbench(page).open(day)
    choose(page, "operation")
    marked = page.evaluate(
        "[...podstep.playback.marks.operated].flatMap((operated, i) => (operated ? [i] : []))"
    )
    assert len(marked) > 1
    found = []
    for _ in marked:
        page.keyboard.press(".")
        found.append(settled(page)[0])
    assert found == marked
    page.keyboard.press(".")
    expect(page.get_by_text("No operation follows.")).to_be_visible()
    page.keyboard.press(",")
    assert settled(page)[0] == marked[-2]
    page.reload()
    Workbench(page).wait()
    expect(page.get_by_label("Unit of next and previous")).to_have_value("operation")
    choose(page, "failure")
    page.keyboard.press("Home")
    page.keyboard.press(".")
    first = settled(page)[0]
    assert first == page.evaluate("podstep.playback.marks.seek(0, 1, 'uep')")
    page.keyboard.press(",")
    expect(page.get_by_text("No earlier cycle failed.")).to_be_visible()


def test_time_is_reported_at_every_position_also_of_v1_11(page: Page, day: str) -> None:
    """A scenario whose operations have times tells the time in the deck, and a moment for what lands."""
    bench = Workbench(page).open(day)
    last = page.evaluate("podstep.playback.cycles")
    assert page.evaluate("podstep.playback.end") is False
    page.keyboard.press("End")
    assert settled(page)[0] == last
    expect(page.locator(".deck .at-time")).to_contain_text("t = 11h2m")
    landed = page.evaluate("podstep.playback.marks.seekOperation(0, 1)")
    bench.goto(landed)
    settled(page)
    choose(page, "event")
    page.keyboard.press(",")
    page.keyboard.press(",")
    expect(reported(page)).to_contain_text("From outside:")
    assert settled(page)[:2] == [landed, 1]


def test_the_end_tells_how_all_stands(page: Page, update: str, churn: str) -> None:
    """After the last cycle comes the end: in the deck, the address, four tabs and the timeline."""
    bench = Workbench(page).open(update)
    cycles = int(page.evaluate("podstep.playback.cycles"))
    page.keyboard.press("End")
    assert settled(page)[0] == cycles + 1
    expect(page.locator(".deck .at")).to_contain_text("End")
    expect(page.locator(".deck .at-time")).to_contain_text("t = ")
    expect(bench.timeline).to_have_attribute("aria-valuetext", "the end of the run")
    page.wait_for_url(re.compile(r"\?step=end$"))
    story = bench.panel("Story")
    expect(story).to_contain_text("The run is over")
    expect(story.get_by_role("heading", name=re.compile("Since cycle"))).to_be_visible()
    moments = page.evaluate("podstep.playback.moments.length")
    assert moments
    expect(story.locator(".ending li")).to_have_count(moments)
    story.locator(".ending li button").first.click()
    assert settled(page)[:2] == [cycles + 1, 1]
    page.wait_for_url(re.compile(r"\?step=end&at=1$"))
    expect(bench.tab("Predicates")).to_contain_text("No pod is tried here: the run is over.")
    expect(bench.tab("Events").locator("tr.now").first).to_contain_text("end")
    expect(bench.tab("Queue")).not_to_contain_text("In flight")
    bench.open(churn + "?step=end&tab=podgroups")
    cycles = int(page.evaluate("podstep.playback.cycles"))
    assert settled(page)[0] == cycles + 1
    expect(bench.panel("PodGroups").get_by_role("heading", name=re.compile("PodGroup train"))).to_be_visible()
    page.get_by_role("main", name="Stage").focus()
    page.keyboard.press("ArrowLeft")
    assert settled(page)[:2] == [cycles, 0]
    page.keyboard.press("ArrowRight")
    page.wait_for_url(re.compile(r"step=end"))
    page.reload()
    Workbench(page).wait()
    assert settled(page)[0] == cycles + 1
    bench.goto(cycles)
    page.get_by_role("slider", name="Cycle").focus()
    page.keyboard.press("End")
    assert settled(page)[0] == cycles + 1


def test_a_run_without_a_cycle_has_an_end_all_the_same(page: Page, site: Stack) -> None:
    """Where nobody is ever tried, the end comes right after the start, and walking says so."""
    Workbench(page).open(share(site, EMPTY, "Nothing to do"))
    assert page.evaluate("[podstep.playback.cycles, podstep.playback.end]") == [0, True]
    page.keyboard.press("End")
    assert settled(page)[0] == 1
    page.get_by_role("tab", name="Story").click()  # where no pod waits, Ask stands first
    expect(page.get_by_role("tabpanel", name="Story")).to_contain_text("The run is over")
    for unit in ("phase", "cycle", "event", "second", "operation", "failure"):
        choose(page, unit)
        page.keyboard.press(".")
        expect(page.locator(".toast")).to_have_count(1)
        assert settled(page)[0] == 1
    choose(page, "cycle")
    page.keyboard.press(",")
    assert settled(page)[0] == 0


def test_a_stored_run_and_an_embedded_page_know_moments_and_the_end(
    page: Page, site: Stack, update: str
) -> None:
    """The link of a run's end opens it, and a frame's page walks like the workbench."""
    bench = Workbench(page).open(update)
    cycles = int(page.evaluate("podstep.playback.cycles"))
    placed = page.evaluate("podstep.socket.call('run.start', { source: podstep.playback.source })")
    run = str(placed["run"])
    assert site.wait_for_run(run, ["done", "failed"], 60)["state"] == "done"
    for address in (f"/runs/{run}/at/end/", f"{update.replace('/s/', '/e/')}?step=end"):
        bench.open(address)
        assert settled(page)[0] == cycles + 1
        expect(page.locator(".deck .at")).to_contain_text("End")
        choose(page, "event")
        page.keyboard.press(",")
        assert settled(page)[0] == cycles + 1
        assert settled(page)[1] == page.evaluate("podstep.playback.moments.length")
    bench.open(f"/runs/{run}/at/3/?at=1")
    assert settled(page)[:2] == [3, 1]


#: Drops the connection, and has the browser tell of a network before the ever longer wait is over.
BREAK = """() => new Promise((again) => {
  const off = podstep.socket.on("down", () => {
    off();
    setTimeout(() => { dispatchEvent(new Event("online")); again(); });
  });
  podstep.socket.drop();
})"""


def test_a_superseded_answer_is_no_error_for_whoever_asked(page: Page, churn: str) -> None:
    """A connection that breaks again and again while it is opened anew leaves no rejection behind."""
    Workbench(page).open(churn + "?step=5")
    page.evaluate(
        "addEventListener('unhandledrejection', (event) => { window.unhandled = String(event.reason); })"
    )
    for _ in range(6):
        page.evaluate(BREAK)
        page.wait_for_function("() => podstep.socket.connected")
    page.evaluate(
        "Promise.all([1, 2, 3, 4].map(() => podstep.playback.ask('scenario.open',"
        " { source: podstep.playback.source })))"
    )
    page.evaluate("Promise.all(['', '3', '', '2'].map((step) => podstep.playback.open(step)))")
    page.wait_for_timeout(300)
    assert page.evaluate("window.unhandled ?? ''") == ""


def test_marks_of_a_long_run_are_typed_and_searched_at_once(page: Page, churn: str) -> None:
    """Over 100,000 cycles the next second is found without looking at each of them."""
    Workbench(page).open(churn)
    took = page.evaluate("""() => {
      const n = 100_000, { marks } = podstep.playback;
      const none = new Array(n).fill(0);
      const time = none.map((_, i) => i / 10);
      marks.put(1, { result: "s".repeat(n), pod: none, node: none, time, operations: [5, 99_999] });
      const began = performance.now();
      let sum = 0;
      for (let s = 0; s < 10_000; s += 1) sum += marks.firstAt(s) - (s * 10 + 1);
      const kinds = [marks.time, marks.operated].map((array) => array.constructor.name);
      return [performance.now() - began, sum, ...kinds, marks.seekOperation(5, 1)];
    }""")
    assert took[0] < 2_000
    assert took[1:] == [0, "Float64Array", "Uint8Array", 99_999]


def test_accessible(page: Page, accessible: Callable[[Page], None], churn: str, room: str) -> None:
    """Moments, phases and the end pass axe, do not scroll sideways, and can be walked on a phone."""
    for address in (f"{room}?step=4&phase=permit", f"{churn}?step=end", f"{churn}?step=9&at=2"):
        Workbench(page).open(address)
        for size in turned(page):
            settled(page)
            assert wide(page) <= 0, (address, size)
        accessible(page)
    for size in turned(page):
        before = settled(page)
        page.get_by_role("button", name="Previous event").click()
        assert settled(page) != before, size
