"""PodGroups and the queues of virtual time: phase, members, timers, ghosts on the stage, marks, addresses."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import MOTION, turned
from tests.browser.pages import Workbench, example_text, holds, share, show, wide
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
def large(site: Stack) -> str:
    """The address of the demo with room, on so many nodes that the stage is a heat map."""
    full = "\n".join(
        f"""---
apiVersion: v1
kind: Node
metadata: {{name: full-{number}}}
status: {{allocatable: {{cpu: "1", memory: 1Gi, pods: "10"}}}}"""
        for number in range(300)
    )
    return share(site, f"{example_text('coscheduling-room')}{full}\n", "Many nodes")


def opened(page: Page, address: str, index: int, tab: str = "podgroups") -> Locator:
    """Open a tab at a cycle and return its panel."""
    query = f"?step={index}&tab={tab}"
    titles = {"podgroups": "PodGroups", "queue": "Queue"}
    return Workbench(page).open(address + query).at(index).panel(titles[tab])


def test_a_gang_waits_and_is_bound(page: Page, room: str) -> None:
    """Three wait with a deadline; the next cycle binds all four, and the rules are a click away."""
    panel = opened(page, room, 3)
    bench = Workbench(page)
    members = panel.get_by_role("table", name="Members of")
    members.get_by_role("button", name="worker-2").hover()
    expect(bench.stage.locator(".node.hovered")).to_have_attribute("aria-label", re.compile("^worker-2,"))
    expect(members.get_by_text("waiting at Permit")).to_have_count(3)
    bench.step()
    expect(members.get_by_text("bound")).to_have_count(4)
    panel.get_by_text("Transitions from").click()
    panel.get_by_role("link", name="All rules of the classic edition").click()
    expect(page.get_by_role("heading", name="Phases, classic edition")).to_be_in_viewport()


def test_timers_run_while_it_plays(visitor: Callable[..., Page], no_room: str) -> None:
    """From cycle 6 to 7 virtual time passes 90 s: the denial of 3 s runs out on screen, and bars shrink."""
    page = visitor(**MOTION)
    opened(page, no_room, 5)
    page.evaluate(WATCH)
    page.get_by_role("combobox", name="Speed").select_option("0.5")
    Workbench(page).button("Play").click()
    page.wait_for_function("() => podstep.playback.index === 7")
    seen = page.evaluate("window.seen")
    assert len(seen) > 2  # a busy machine draws few frames of the two seconds
    counted = [int(text.removesuffix("s left")) for text in seen if re.fullmatch(r"[0-9]+s left", text)]
    assert counted == sorted(counted, reverse=True)
    assert counted[0] <= 90
    assert counted[-1] < counted[0]
    bars = page.evaluate("window.bars")
    assert min(bars) < max(bars)


def test_timers_stand_still_where_motion_is_unwelcome(visitor: Callable[..., Page], no_room: str) -> None:
    """With reduced motion they change with the cycle and not between two."""
    page = visitor(reduced_motion="reduce")
    opened(page, no_room, 5)
    page.evaluate(WATCH)
    page.get_by_role("combobox", name="Speed").select_option("0.5")
    Workbench(page).button("Play").click()
    page.wait_for_function("() => podstep.playback.index === 7")
    assert page.evaluate("window.seen") == ["90s left"]


#: Note what the timer of the flush says in every frame of cycle 6.
WATCH = """() => {
  window.seen = []; window.bars = [];
  const look = () => {
    const { index, parts } = podstep.playback;
    if (index < 7) requestAnimationFrame(look);
    if (index !== 6 || !parts) return;
    const item = document.querySelector(".gang-next li.flush");
    const text = item.querySelector("[data-until]").textContent;
    if (text !== window.seen.at(-1)) window.seen.push(text);
    window.bars.push(item.querySelector("[data-until-bar]").getBoundingClientRect().width);
  };
  look();
}"""


def test_waiting_pods_are_hatched_in_the_heat_map(visitor: Callable[..., Page], large: str) -> None:
    """On 300 nodes the cell of a node where a pod waits has the colour of waiting, others have none of it."""
    page = visitor()
    opened(page, large, 3)
    bench = Workbench(page)
    expect(bench.stage.get_by_label("Marks on the nodes")).to_contain_text("3 waiting at Permit")
    holds(lambda: page.evaluate(HATCHED), lambda hatched: hatched > 60)
    page.keyboard.press("ArrowRight")
    bench.at(4)
    page.wait_for_function(f"() => ({HATCHED})() === 0")


#: How many pixels of the heat map have about the colour of waiting.
HATCHED = """() => {
  const hex = getComputedStyle(document.documentElement).getPropertyValue("--wait").trim().slice(1);
  const wanted = [0, 2, 4].map(i => parseInt(hex.slice(i, i + 2), 16));
  const canvas = document.querySelector(".heat canvas");
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  let found = 0;
  for (let i = 0; i < data.length; i += 4) {
    if (wanted.every((value, k) => Math.abs(data[i + k] - value) < 12)) found += 1;
  }
  return found;
}"""


def test_accessible(page: Page, accessible: Callable[[Page], None], churn: str, no_room: str) -> None:
    """Both tabs pass axe and do not scroll sideways."""
    tabs = ("podgroups", "podgroups", "queue", "queue")
    for address, index, tab in zip((churn, no_room, no_room, no_room), (1, 4, 3, 6), tabs, strict=True):
        opened(page, address, index, tab)
        accessible(page)
        for size in turned(page):
            show(page, "Inspect")
            assert wide(page) <= 0, (address, tab, size)
