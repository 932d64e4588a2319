"""Two schedulers with views of their own: a draft built from nothing, and the tab of what each believes."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.editing import yaml_of
from tests.browser.pages import Workbench, example_text, share, wide
from tests.browser.test_build import add
from tests.services.stack import Stack

SETTINGS = """\
apiVersion: podstep/v1
kind: SimulationSettings
time: virtual
scheduler: v1.22
schedulers:
- {name: default-scheduler, watchDelay: 1, bindDelay: 0.5}
- {name: second, watchDelay: 1, bindDelay: 0.5}
---
"""


def deploy(bench: Workbench, name: str, scheduler: str = "") -> None:
    """Add a Deployment of two pods, of a scheduler, by the form."""
    form = add(bench, "Deployment")
    form.get_by_label("Name", exact=True).fill(name)
    form.get_by_label("Replicas").fill("2")
    if scheduler:
        form.get_by_text("More", exact=True).click()
        form.get_by_label("Scheduler's name").fill(scheduler)
    form.get_by_role("button", name="Add", exact=True).click()
    expect(form).to_have_count(0)
    bench.wait()


def test_a_draft_of_two_schedulers_is_built_from_nothing(page: Page) -> None:
    """Nodes and two Deployments by clicks, the delays in the YAML; each scheduler then has a lane."""
    page.goto("/")
    page.get_by_role("button", name="Build one").click()
    recipe = page.get_by_role("dialog", name="Generate a cluster")
    recipe.get_by_label("Begin with a recipe").select_option("Nodes alone")
    recipe.get_by_label("Nodes", exact=True).fill("2")
    recipe.get_by_role("button", name="Open the workbench").click()
    page.wait_for_url("**/p/**")
    bench = Workbench(page).wait()
    deploy(bench, "shop")
    deploy(bench, "report", "second")
    text = yaml_of(bench)
    text.fill(SETTINGS + text.text)
    bench.build.get_by_role("button", name="Apply").click()
    expect(page.get_by_text("Applied: the simulation restarts.")).to_be_visible()
    bench.wait()
    bench.step(2)
    panel = bench.tab("Views")
    for name in ("default-scheduler", "second"):
        expect(panel.get_by_role("region", name=f"View of {name}")).to_be_visible()
    expect(panel.get_by_text("decides at this step")).to_have_count(1)


def test_the_tab_shows_who_noticed_and_fits(
    visitor: Callable[..., Page], accessible: Callable[[Page], None], site: Stack
) -> None:
    """The step after the refusal tells of it; nothing is wider than a phone, and axe finds nothing."""
    page = visitor((390, 844), color_scheme="light")
    address = share(site, example_text("stale-views"), "Two views")
    Workbench(page).open(f"{address}?step=8&tab=views").at(8)
    page.get_by_role("navigation", name="Regions").get_by_role("button", name="Inspect").click()
    noticed = page.get_by_role("region", name="Who noticed")
    expect(noticed.get_by_text(re.compile("refused by the kubelet"))).to_have_count(1)
    assert wide(page) <= 0
    accessible(page)
