"""What a visitor does on the pages and then sees there. Elements are found as people find them.

What is asked for all the time is found by its element and label: to ask for a role looks at the whole page.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

from playwright.sync_api import Locator, Page, expect
from playwright.sync_api import TimeoutError as Overdue

from scheduler_core import Simulation, load
from scheduler_core.authoring.examples import find
from scheduler_core.record.cycle import Cycle
from scheduler_core.run import simulate
from tests.e2e.bundles import any_release, asking_v1_11, by_v1_11
from tests.services.stack import Stack

#: Computing an example takes a server on a busy machine this long at most.
COMPUTED = 90_000
#: Seconds in which what is expected has come on a busy machine. Playwright's own five are not enough there.
PATIENCE = 60
#: Milliseconds between two looks at a page: asking in every frame, as Playwright does, has each frame drawn.
POLLING = 30
#: Inspect's tabs astray: those that stand on another row than the first, are cut in themselves, or are
#: neither whole in the strip nor in the list beside it; and the open one where it is not in the strip whole.
ASTRAY = """() => {
  const strip = document.querySelector(".inspect [role=tablist]");
  const list = strip.parentElement.querySelector("select");
  const room = strip.getBoundingClientRect();
  const listed = list.checkVisibility() ? [...list.options].map((one) => one.text) : [];
  const tabs = [...strip.querySelectorAll("[role=tab]")].filter((tab) => tab.checkVisibility());
  const tops = tabs.map((tab) => Math.round(tab.getBoundingClientRect().top));
  return tabs.filter((tab, at) => {
    const { left, right } = tab.getBoundingClientRect();
    const whole = left >= room.left - 1 && right <= room.right + 1;
    const named = listed.includes(tab.querySelector("span").innerText);
    return tops[at] !== tops[0] || tab.scrollWidth > tab.clientWidth + 1
      || !(whole || (named && tab.ariaSelected !== "true"));
  }).map((tab) => tab.textContent);
}"""
#: On a phone the timeline may be in a region that is not shown.
AT = """index => {
    const { playback } = podstep;
    const timeline = document.querySelector("[role=slider][aria-label=Cycle]");
    return playback.index === index && (index === 0 || playback.parts)
        && (!timeline?.checkVisibility({ visibilityProperty: true }) || timeline.ariaValueNow === `${index}`);
}"""
expect.set_options(timeout=PATIENCE * 1000)
Seen = TypeVar("Seen")


KNOWN_BY_V1_11 = ("shop", "making-room")
"""Examples whose cycles under v1.11 the tests know by heart."""


def example_text(slug: str) -> str:
    """Return the manifests of an example, without the release where that is all it configures at its end."""
    found = find(slug)
    assert found is not None, slug
    return asking_v1_11(found.read()) if slug in KNOWN_BY_V1_11 else any_release(found.read())


@lru_cache(maxsize=16)
def cycles_of(text: str) -> list[Cycle]:
    """Return the cycles of a bundle as the engine decides them in this process, once for all who ask."""
    return list(Simulation(load(by_v1_11(text))))


@lru_cache(maxsize=4)
def cycles_of_example(slug: str) -> list[Cycle]:
    """Return the cycles of an example as the start page opens it, by the scheduler that it asks for."""
    found = find(slug)
    assert found is not None, slug
    return list(simulate(found.load()))


def share(site: Stack, text: str, title: str = "", *, as_is: bool = False) -> str:
    """Store a bundle over the API, for v1.11 unless ``as_is``; return the address of its workbench."""
    answer = site.post("/api/scenarios", {"bundle": text if as_is else by_v1_11(text), "title": title})
    assert answer.status == 201, answer.body[:2000]
    return f"/s/{answer.json['id']}/"


def drafted(page: Page, text: str, title: str = "", *, as_is: bool = False) -> str:
    """Store a text as a draft of the page's visitor, as the start page does; return its address.

    v1.11 answers a text that says nothing, unless it is sent ``as_is``.
    For tests that are not about how one comes to a draft: a page that need not be opened is a second saved.
    """
    form = page.request.get("/").text()
    token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', form)
    assert token is not None, form[:2000]
    sent = {"csrfmiddlewaretoken": token[1], "text": text if as_is else by_v1_11(text), "title": title}
    answer = page.request.post("/import/", multipart=sent, max_redirects=0)
    assert answer.status == 302, answer.text()[:2000]
    return answer.headers["location"]


#: What tabs are called under v1.37.
LATER_TABS = {"Predicates": "Filter", "Cache": "Batching", "Priorities": "Score"}


def tab_name(name: str) -> re.Pattern[str]:
    """Return the accessible name of a tab of Inspect, whichever release decides."""
    return re.compile(f"^({name}|{LATER_TABS.get(name, name)})$")


def press_for(dialog: Locator, key: str) -> None:
    """Press the key of a dialog, once more where it does not come: a busy browser may lose a key."""
    for _ in range(3):
        dialog.page.keyboard.press(key)
        with suppress(Overdue):
            dialog.wait_for(timeout=20_000)
            return
    raise AssertionError(f"{key} shows nothing")


@dataclass(frozen=True, slots=True)
class Workbench:
    """The workbench on a page."""

    page: Page

    def open(self, address: str) -> Workbench:
        """Go to an address and wait until it can be used."""
        self.page.goto(address)
        return self.wait()

    def wait(self) -> Workbench:
        """Wait until the page has opened its source, the server has computed it, and all marks have come."""
        self.page.wait_for_function(
            "() => window.podstep?.ready && podstep.playback.complete"
            " && podstep.playback.marks.known >= podstep.playback.cycles"
            " && podstep.playback.index === podstep.playback.wanted",
            timeout=COMPUTED,
            polling=POLLING,
        )
        return self

    @property
    def index(self) -> int:
        """The cycle that is on screen; 0 is the state before the first."""
        return int(self.page.evaluate("podstep.playback.index"))

    @property
    def timeline(self) -> Locator:
        """The slider through time."""
        return self.page.locator("[role=slider][aria-label^=Cycle]")

    @property
    def stage(self) -> Locator:
        """The region in the middle."""
        return self.page.locator("main[aria-label=Stage]")

    @property
    def build(self) -> Locator:
        """The region at the left."""
        return self.page.locator("aside[aria-label=Build]")

    @property
    def inspect(self) -> Locator:
        """The region at the right."""
        return self.page.locator("section[aria-label=Inspect]")

    def button(self, name: str) -> Locator:
        """Return the button of the transport with exactly that name."""
        return self.page.locator("[role=group][aria-label=Transport]").get_by_role(
            "button", name=name, exact=True
        )

    def step(self, times: int = 1) -> Workbench:
        """Press Step, each time waiting until the next cycle is on screen."""
        for _ in range(times):
            expected = self.index + 1
            self.button("Step").click()
            self.at(expected)
        return self

    def at(self, index: int) -> Workbench:
        """Wait until a cycle, with its predicates and priorities, is on screen, and on the timeline."""
        self.page.wait_for_function(AT, arg=index, polling=POLLING)
        return self

    def goto(self, index: int) -> Workbench:
        """Go to a cycle by the dialog of the key ``g``."""
        dialog = self.page.get_by_role("dialog", name="Go to step")
        press_for(dialog, "g")
        dialog.get_by_label("Step").fill(str(index))
        self.page.keyboard.press("Enter")
        expect(dialog).to_be_hidden()
        return self.at(index)

    def tab(self, name: str) -> Locator:
        """Open a tab of Inspect and return its panel."""
        tab = self.inspect.get_by_role("tab", name=tab_name(name))
        tab.click()
        expect(tab).to_have_attribute("aria-selected", "true")
        return self.panel(name)

    def panel(self, name: str) -> Locator:
        """Return the panel of a tab of Inspect that is open."""
        return self.inspect.get_by_role("tabpanel", name=tab_name(name))

    def is_on(self, name: str) -> None:
        """Expect that a tab of Inspect is the open one."""
        expect(self.inspect.get_by_role("tab", name=tab_name(name))).to_have_attribute(
            "aria-selected", "true"
        )

    def node(self, name: str) -> Locator:
        """Return a node's card on the stage."""
        return self.stage.get_by_role("button", name=re.compile(rf"^{re.escape(name)}, cpu "))

    def shows(self, cycle: Cycle) -> None:
        """Expect the pod of a cycle above the stage, and on the stage the node it went to."""
        pod = cycle.pod.split("/")[-1]
        expect(self.stage.get_by_role("button", name=pod, exact=True).first).to_be_visible()
        chosen = self.stage.get_by_role("button", name=re.compile(r"^[^,]+, cpu .*, chosen"))
        if cycle.node is None:
            expect(chosen).to_have_count(0)
        else:
            expect(chosen).to_have_accessible_name(re.compile(rf"^{re.escape(cycle.node)}, "))


def show(page: Page, region: str) -> None:
    """Show a region of the workbench where there is room for one only."""
    bar = page.get_by_role("navigation", name="Regions")
    if bar.is_visible():
        bar.get_by_role("button", name=region, exact=True).click()


def becomes(look: Callable[[], object], wanted: object) -> None:
    """Wait until what is looked at is as wanted: for what no ``expect`` asks."""
    holds(look, lambda seen: seen == wanted)


def holds(look: Callable[[], Seen], right: Callable[[Seen], object]) -> None:
    """Wait until what is looked at is right."""
    end = time.monotonic() + PATIENCE
    while not right(seen := look()):
        assert time.monotonic() < end, f"it is still {seen!r}"
        time.sleep(0.05)


def texts(cells: Locator) -> list[str]:
    """Return the texts of elements that are there."""
    return [text.strip() for text in cells.all_inner_texts()]


def wide(page: Page) -> int:
    """Return by how many pixels a page is wider than its window."""
    return int(page.evaluate("document.scrollingElement.scrollWidth - document.documentElement.clientWidth"))


def tab_until(page: Page, holds: Callable[[str], bool], most: int = 80) -> str:
    """Press Tab until what has the focus is named so; return its name."""
    seen = []
    for _ in range(most):
        page.keyboard.press("Tab")
        name = str(
            page.evaluate(
                "(e => e.getAttribute('aria-label') || e.labels?.[0]?.innerText || e.innerText || e.id)"
                "(document.activeElement)"
            )
        ).strip()
        seen.append(name)
        if holds(name):
            return name
    raise AssertionError(f"Tab never reached it; it came by {seen}")
