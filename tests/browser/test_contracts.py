"""The tab Contracts: claims are written with their errors shown, checked, and a violation opens its step."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.editors import editor_in
from tests.browser.pages import Workbench, share
from tests.core.contracts.clusters import bundle, settings
from tests.core.contracts.ready import CASES
from tests.services.stack import Stack

CHECKED = 60_000  # milliseconds, on a busy machine
VIOLATED = next(case for case in CASES if case.name == "zone-loss").violated + bundle(
    settings(scheduler="v1.37")
)


@pytest.fixture(scope="module")
def one_zone(site: Stack) -> str:
    """The address of a cluster whose service is in one zone."""
    return share(site, VIOLATED, "One zone")


def test_a_violation_opens_at_its_step(page: Page, one_zone: str, accessible: Callable[[Page], None]) -> None:
    """What is misspelt is marked while it is typed; the verdict has the counterexample, which is a branch."""
    panel = Workbench(page).open(one_zone).tab("Contracts")
    text = editor_in(panel, "Contracts as YAML")
    text.fill("apiVersion: podstep/v1\nkind: Contract\nmetadata: {name: one}\nspec: {always: redy >= 1}")
    expect(panel.get_by_text("did you mean 'ready'?").first).to_be_visible()
    expect(panel.get_by_role("button", name="Check")).to_be_disabled()
    text.fill("")
    panel.get_by_label("Add a contract that is ready").select_option("zone-loss")
    expect(panel.get_by_text("did you mean 'ready'?")).to_have_count(0)
    panel.get_by_role("button", name="Check").click()
    expect(panel.get_by_text("violated: lose zone a")).to_be_visible(timeout=CHECKED)
    accessible(page)
    panel.get_by_role("button", name=re.compile("Open the counterexample at step")).click()
    page.wait_for_url(re.compile(r"/p/.+step="))
    expect(page.get_by_role("heading", name="zone-loss: counterexample")).to_be_attached()
