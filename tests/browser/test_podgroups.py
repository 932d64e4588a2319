"""PodGroups and the queues of virtual time: phase, members, timers, ghosts on the stage, marks, addresses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import DESKTOP, PHONE
from tests.browser.pages import Workbench, example_text, share, wide
from tests.services.stack import Stack

CHURN = Path(__file__).parents[1] / "playground" / "data" / "timed" / "churn.yaml"


@pytest.fixture(scope="module")
def room(site: Stack) -> str:
    """The address of the demo with room for four of six."""
    return share(site, example_text("coscheduling-room"), "A gang with room")


@pytest.fixture(scope="module")
def no_room(site: Stack) -> str:
    """The address of the demo with room for three."""
    return share(site, example_text("coscheduling-no-room"), "A gang without room")


@pytest.fixture(scope="module")
def churn(site: Stack) -> str:
    """The address of a cluster where controllers make pods."""
    return share(site, CHURN.read_text(), "Pods that come and go")


@pytest.fixture(scope="module")
def deadlock(site: Stack) -> str:
    """The address of two gangs in each other's way."""
    return share(site, example_text("gang-deadlock-coscheduled"), "Two gangs")


def opened(page: Page, address: str, index: int, tab: str = "podgroups", view: str = "") -> Locator:
    """Open a tab at a cycle and return its panel."""
    query = f"?step={index}&tab={tab}" + (f"&view={view}" if view else "")
    titles = {"podgroups": "PodGroups", "queue": "Queue"}
    return Workbench(page).open(address + query).at(index).panel(titles[tab])


def test_phase_members_and_timers_follow_the_gang(visitor: Callable[..., Page], room: str) -> None:
    """Three wait with a deadline; the fourth cycle binds all four and lights the phase Running."""
    page = visitor()
    panel = opened(page, room, 3)
    lit = panel.locator(".phase-diagram [aria-current=step]")
    expect(lit).to_contain_text("PreScheduling")
    expect(panel.get_by_role("table", name="Members of").get_by_text("waits at Permit")).to_have_count(3)
    expect(panel.get_by_text("10s left").first).to_be_visible()
    page.keyboard.press("ArrowRight")
    expect(lit).to_contain_text("Running")
    expect(panel.get_by_role("table", name="Members of").get_by_text("running")).to_have_count(4)
    expect(panel.get_by_text("What this cycle brought about")).to_be_visible()


def test_waiting_pods_are_ghosts_on_their_node(visitor: Callable[..., Page], room: str) -> None:
    """The stage says how many wait, draws them apart, and tells it to screen readers."""
    page = visitor()
    opened(page, room, 3)
    bench = Workbench(page)
    expect(bench.stage.get_by_label("Pods that are not bound")).to_contain_text("3 waiting at Permit")
    expect(bench.stage.locator(".node .pod.waiting")).to_have_count(3)
    expect(bench.stage.get_by_role("button", name="1 waiting at Permit")).to_have_count(3)
    page.keyboard.press("ArrowRight")
    expect(bench.stage.locator(".pod.waiting")).to_have_count(0)


def test_a_rejection_is_told_with_its_arithmetic_and_marked(
    visitor: Callable[..., Page], no_room: str
) -> None:
    """Cycle 4 rejects the group: percentages, denial, sentences with links, and a mark with a legend."""
    page = visitor()
    panel = opened(page, no_room, 4)
    expect(panel.get_by_text("25 % of minMember are missing")).to_be_visible()
    expect(panel.get_by_text("rejected", exact=True)).to_have_count(3)
    expect(panel.locator(".timers")).to_contain_text("3s left")
    expect(page.get_by_label("Marks of the timeline")).to_contain_text("PodGroup rejected or timed out")
    expect(Workbench(page).timeline).to_have_attribute(
        "aria-valuetext", "cycle 4 of 12, unschedulable, PodGroup nginx rejected"
    )


def test_another_group_is_chosen_by_keyboard_and_address(visitor: Callable[..., Page], deadlock: str) -> None:
    """A group that is not in flight is shown in full, stays over a step, and is in the address."""
    page = visitor()
    panel = opened(page, deadlock, 3)
    other = panel.locator(".gangs [data-group]:not([aria-current])").first
    name = other.inner_text()
    other.focus()
    page.keyboard.press("Enter")
    expect(panel.get_by_role("heading", name=f"PodGroup {name}")).to_be_visible()
    page.wait_for_url(lambda url: f"view=default/{name}" in url)
    page.reload()
    Workbench(page).wait()
    expect(panel.get_by_role("heading", name=f"PodGroup {name}")).to_be_visible()


def test_the_queue_has_sort_keys_and_why_pods_moved(visitor: Callable[..., Page], churn: str) -> None:
    """A pod that an event moved says which, and those at Permit have a section of their own."""
    page = visitor()
    panel = opened(page, churn, 13, "queue")
    expect(panel.get_by_text("a pod left its node (AssignedPodDelete)")).to_be_visible()
    expect(panel.get_by_role("heading", name="Waiting at Permit")).to_be_visible()
    expect(panel.get_by_text("t = 12s")).to_be_visible()


def test_pods_that_controllers_make_come_and_go(visitor: Callable[..., Page], churn: str) -> None:
    """The last cycle's stage is the simulation's end, whichever way it was reached."""
    page = visitor()
    bench = Workbench(page).open(churn)
    page.keyboard.press("End")
    bench.at(25)
    direct = page.evaluate("[...podstep.playback.cluster.placement]")
    page.keyboard.press("Home")
    for index in range(1, 26):
        page.keyboard.press("ArrowRight")
        bench.at(index)
    assert page.evaluate("[...podstep.playback.cluster.placement]") == direct
    assert page.evaluate("podstep.playback.pods.keys.length") == len(direct)


def test_without_virtual_time_the_tab_says_what_a_pod_group_is(
    visitor: Callable[..., Page], site: Stack
) -> None:
    """Under a Policy of v1.11 the tab explains itself and leads to an example."""
    page = visitor()
    panel = opened(page, share(site, example_text("first-cycle")), 1)
    expect(panel.get_by_text("No PodGroup is at work here.")).to_be_visible()
    expect(panel.get_by_role("link", name="the example")).to_have_attribute("href", "/#examples")


@pytest.mark.parametrize("theme", ["dark", "light"])
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["1440", "390"])
def test_accessible(
    visitor: Callable[..., Page],
    accessible: Callable[[Page], None],
    churn: str,
    no_room: str,
    size: tuple[int, int],
    theme: str,
) -> None:
    """Both tabs pass axe and do not scroll sideways."""
    page = visitor(size=size, color_scheme=theme, reduced_motion="reduce")
    for address, index, tab in ((churn, 1, "podgroups"), (no_room, 4, "podgroups"), (no_room, 3, "queue")):
        opened(page, address, index, tab)
        accessible(page)
        assert wide(page) <= 0
