"""The marks of where an answer came from fit the Predicates tab."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page

from tests.browser.pages import ASTRAY, Workbench, becomes, example_text, share, wide
from tests.services.stack import Stack

SETTINGS = "kind: SimulationSettings\n"
AT = 17  # a cycle with stale hits, an evaluation and an entry that its own pod invalidates


@pytest.fixture(scope="module")
def text() -> str:
    """A shop under the rows of v1.11, audited."""
    return example_text("shop").replace(SETTINGS, f"{SETTINGS}cache: v1.11\naudit: true\n")


@pytest.fixture(scope="module")
def audited(site: Stack, text: str) -> str:
    """The address of that shop."""
    return share(site, text, "Audited shop")


def matrix(page: Page, address: str) -> Locator:
    """Open the matrix of the cycle."""
    bench = Workbench(page).open(f"{address}?step={AT}&tab=predicates").at(AT)
    return bench.panel("Predicates")


def test_tabs_and_matrix_fit_the_usual_width(
    page: Page, phone: Page, accessible: Callable[[Page], None], audited: str
) -> None:
    """With every number shown no column is cut at 1440 pixels, and tabs are one row there as on a phone."""
    panel = matrix(page, audited)
    accessible(page)
    becomes(lambda: page.evaluate(ASTRAY), [])
    assert panel.locator(".grid-scroll").evaluate("e => e.scrollWidth - e.clientWidth") <= 0
    matrix(phone, audited)
    tabs = Workbench(phone).inspect.get_by_role("tablist")
    tops = {round(tab.bounding_box()["y"]) for tab in tabs.get_by_role("tab").all()}  # type: ignore[index]
    assert len(tops) == 1
    assert wide(phone) == 0
