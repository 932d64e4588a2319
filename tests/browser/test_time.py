"""Moments, phases and the end of a run, in a stored run, in a frame, and for everybody."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import turned
from tests.browser.pages import PATIENCE, Workbench, example_text, share, wide
from tests.services.stack import Stack

CHURN = Path(__file__).parents[1] / "playground" / "data" / "timed" / "churn.yaml"
#: Waits until what was asked for is on screen, with all that belongs to it; returns where the walk stands:
#: the step, its moment, its phase and virtual seconds.
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


def settled(page: Page) -> list[object]:
    """Wait until what was asked for is on screen; return where that is."""
    found: list[object] = page.evaluate(SETTLED, PATIENCE * 1000)
    return found


def choose(page: Page, unit: str) -> None:
    """Choose what "next" means, once every cycle is known that it may lead to."""
    page.wait_for_function("() => podstep.playback.complete")
    page.get_by_label("Unit of next and previous").select_option(unit)
    page.get_by_role("main", name="Stage").focus()


def test_a_stored_run_and_an_embedded_page_know_moments_and_the_end(
    page: Page, site: Stack, update: str
) -> None:
    """The link of a run's end opens it, a frame's page walks like the workbench, and the unit is kept."""
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
    expect(page.get_by_label("Unit of next and previous")).to_have_value("event")
    assert settled(page)[:2] == [3, 1]


def test_accessible(page: Page, accessible: Callable[[Page], None], churn: str, room: str) -> None:
    """Moments, phases and the end pass axe, do not scroll sideways, and can be walked on a phone.

    A click in the track of moments goes to the one that stands there.
    """
    for address in (f"{churn}?step=end", f"{churn}?step=9&at=2", f"{room}?step=4&phase=permit"):
        Workbench(page).open(address)
        for size in turned(page):
            settled(page)
            assert wide(page) <= 0, (address, size)
        accessible(page)
    for size in turned(page):
        before = settled(page)
        page.get_by_role("button", name="Previous event").click()
        assert settled(page) != before, size
    box = page.get_by_role("slider", name="Moment").bounding_box()
    assert box
    page.get_by_role("slider", name="Moment").press("Escape")
    assert settled(page)[1] == 0
    page.mouse.click(box["x"] + box["width"] * 0.35, box["y"] + box["height"] / 2)
    assert settled(page)[1] not in (0, 1)
