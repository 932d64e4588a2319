"""The equivalence cache's examples, from their card on the start page to what it promised on screen."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from scheduler_core.authoring.examples import Claim, Example, examples
from tests.browser.pages import Workbench, cycles_of

BUGS = [example for example in examples() if any(claim.stale for claim in example.claims)]


def own(example: Example) -> Claim:
    """Return the claim of stale hits that is true of an example as it is shipped."""
    settings = example.load().settings
    modes = {settings.cache, f"{settings.cache}/{settings.stale_writes}"}
    return next(claim for claim in example.claims if modes & set(claim.modes))


def test_a_card_says_what_comes_of_it_and_opens_there(page: Page) -> None:
    """The card has the stale hits and their consequence; the click leads to their cycle, in red."""
    for example in BUGS:
        opens_there(page, example)


def opens_there(page: Page, example: Example) -> None:
    """Expect the stale hits of an example on its card and behind it."""
    page.goto("/?topic=cache")
    card = page.get_by_role("link", name=example.title)
    claim = own(example)
    expect(card).to_contain_text(re.compile(rf"{claim.stale} stale hits?"))
    for count in claim.counts:
        expect(card).to_contain_text(count)
    card.click()
    bench = Workbench(page).wait()
    cycles = cycles_of(example.read())
    [cycle] = [cycle for cycle in cycles if cycle.step == example.step]
    bench.at(cycle.index).shows(cycle)
    tab = bench.inspect.get_by_role("tab", name=re.compile(r"^Cache"))
    expect(tab).to_have_attribute("aria-selected", "true")
    assert cycle.cache is not None
    expect(tab).to_contain_text(f"{cycle.cache.counts.stale} stale")
    expect(bench.inspect).to_contain_text(claim.cause.partition(" (")[0].partition(": ")[2])


def test_a_node_that_promises_more_than_it_has_is_red(page: Page) -> None:
    """Its bar and numbers stand out from those of a node that is just full."""
    [example] = [example for example in BUGS if example.slug == "cache-overcommit"]
    page.goto("/?topic=cache")
    page.get_by_role("link", name=example.title).click()
    bench = Workbench(page).wait().at(5)
    crowded, full = (
        bench.node(name).get_by_text(text) for name, text in (("worker-2", "6 / 4"), ("worker-1", "4 / 4"))
    )
    colour = "element => getComputedStyle(element).color"
    assert crowded.evaluate(colour) != full.evaluate(colour)
