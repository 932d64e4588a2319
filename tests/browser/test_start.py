"""The start page: examples by topic, drafts to go on with, and files dropped anywhere on it."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.browser.editors import manifests
from tests.browser.pages import Workbench, example_text

DROP = """([name, text]) => {
  const data = new DataTransfer();
  data.items.add(new File([text], name));
  const target = document.querySelector("footer");
  const options = { dataTransfer: data, bubbles: true, cancelable: true };
  target.dispatchEvent(new DragEvent("dragenter", options));
  const shown = !document.querySelector("[data-drop-over]").hidden;
  target.dispatchEvent(new DragEvent("drop", options));
  return shown;
}"""


def test_cards_are_chosen_by_topic_and_are_links(page: Page) -> None:
    """Topics have an address; a card's can be copied and opened in another tab."""
    # Six come first; a topic shows its examples only; its address opens on it; All shows each once.
    page.goto("/")
    cards = page.locator("[data-example]:visible")
    expect(cards).to_have_count(6)
    topics = page.get_by_role("group", name="Topics")
    topics.get_by_role("button", name=re.compile("^Scores and preemption")).click()
    expect(cards).to_have_count(5)
    expect(page.get_by_role("link", name="Making room")).to_be_visible()
    expect(page.get_by_role("link", name="A shop on twelve nodes")).to_be_hidden()
    expect(page.get_by_text("5 examples shown.")).to_be_attached()
    page.reload()
    expect(cards).to_have_count(5)
    expect(topics.locator("[aria-pressed=true]")).to_have_text(re.compile("^Scores"))
    topics.get_by_role("button", name=re.compile("^All")).click()
    slugs = cards.evaluate_all("cards => cards.map(card => card.dataset.example)")
    assert len(slugs) == len(set(slugs)) >= 50
    topics.get_by_role("button", name=re.compile("^Start here")).click()
    expect(cards).to_have_count(6)
    assert "topic" not in page.url
    # Its address can be copied and opened in another tab, and Back leads to the cards.
    page.goto("/")
    card = page.get_by_role("link", name="A preference, not a constraint")
    address = card.get_attribute("href")
    assert address == "/examples/spread-over-zones/"
    card.click()
    Workbench(page).wait()
    other = page.context.new_page()
    other.goto(address)
    Workbench(other).wait()
    assert other.url == page.url
    other.close()
    page.go_back()
    expect(card).to_be_visible()


def test_the_demo_is_a_cluster_that_lives(page: Page) -> None:
    """A node fails and its pods are replaced; the drained node's database fits nowhere; each has its link."""
    page.goto("/")
    demo = page.get_by_role("region", name="A small cluster that is being scheduled")
    failing, drained = demo.locator(".mini-node", has_text="b2"), demo.locator(".mini-node", has_text="a1")
    cycle = demo.get_by_role("slider", name="Cycle")
    cycle.fill("28")
    expect(demo.get_by_text("cycle 28 / 42 · 60s")).to_be_visible()
    expect(failing).not_to_contain_text("NotReady")
    demo.get_by_role("button", name="Step", exact=True).click()
    expect(demo.get_by_text("Node b2 is not ready · 2 pods evicted")).to_be_visible()
    expect(failing).to_contain_text("NotReady")
    cycle.fill("41")
    expect(demo).to_contain_text("0/9 nodes are available: 1 node(s) were unschedulable")
    expect(drained).to_contain_text("cordoned")
    demo.get_by_role("button", name="Step back").click()
    expect(demo).to_contain_text("Drain node a1")
    demo.get_by_role("link", name="Open in the workbench").click()
    Workbench(page).wait()
    expect(page).to_have_url(re.compile(r"step=(40|4\.1)"))


def test_what_one_made_is_there_when_one_comes_back(page: Page) -> None:
    """The copy of an example is among one's drafts, also by the browser's Back, and opens again."""
    page.goto("/")
    mine = page.get_by_role("region", name="Continue where you left off")
    expect(mine).to_have_count(0)
    page.get_by_role("link", name="Idle, but full").click()
    Workbench(page).wait()
    page.get_by_role("button", name="Fork", exact=True).click()
    page.wait_for_url("**/p/**")
    Workbench(page).wait()
    address = page.url.partition("?")[0]
    page.go_back()
    Workbench(page).wait()
    page.go_back()
    link = mine.get_by_role("link", name=re.compile(r"^Idle, but full \d+s ago kept until [\d-]{10}$"))
    link.click()
    Workbench(page).wait()
    assert page.url.partition("?")[0] == address


def test_files_are_dropped_anywhere(page: Page) -> None:
    """Manifests dropped on the foot of the page go into the box, and are checked."""
    page.goto("/")
    expect(page.get_by_label("Manifests")).to_be_visible()
    assert page.evaluate(DROP, ["first.yaml", example_text("first-cycle")])
    manifests(page).shows(re.compile("kind: Node"))
    expect(page.get_by_text("Ready.", exact=True)).to_be_visible()
    expect(page.get_by_label("Title")).to_have_value("first")
    expect(page.locator("[data-drop-over]")).to_be_hidden()
