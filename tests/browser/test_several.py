"""Several schedulers: a draft built by clicks to a conflict, the lanes over the nodes, and the tab Views."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import turned
from tests.browser.editors import yaml_of
from tests.browser.pages import Workbench, drafted, example_text, share, wide
from tests.browser.test_build import NODES, add
from tests.services.stack import Stack


def deploy(bench: Workbench, name: str, scheduler: str = "") -> None:
    """Add a Deployment of two pods of 3 CPUs, of a scheduler, by the form."""
    form = add(bench, "Deployment")
    form.get_by_label("Name", exact=True).fill(name)
    form.get_by_label("Replicas").fill("2")
    form.get_by_label("cpu of a pod").fill("3")
    if scheduler:
        form.get_by_text("More", exact=True).click()
        form.get_by_label("Scheduler's name").fill(scheduler)
    form.get_by_role("button", name="Add", exact=True).click()
    expect(form).to_have_count(0)
    bench.wait()


def schedulers(bench: Workbench) -> Locator:
    """Open the schedulers of the Policy tab by the menu Add; return their part."""
    bench.build.get_by_role("button", name="Add", exact=True).click()
    bench.build.get_by_role("menuitem", name="Another scheduler…").click()
    part = bench.build.get_by_role("region", name="Schedulers")
    expect(part).to_be_visible()
    return part


def fill(bench: Workbench, **values: str) -> Locator:
    """Fill in the form of a scheduler that is open; return it."""
    form = bench.page.get_by_role("dialog")
    for label, value in values.items():
        form.get_by_label(label.replace("_", " "), exact=True).fill(value)
    return form


def lane(bench: Workbench, name: str) -> Locator:
    """Return a scheduler's lane on the stage."""
    return bench.stage.get_by_role("region", name=f"Lane of {name}", exact=True)


def test_two_schedulers_are_built_from_nothing_by_clicks_and_conflict(page: Page) -> None:
    """Nodes, a workload for each, the second scheduler with its delays; then a node is double-booked."""
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
    expect(bench.stage.get_by_role("group", name="Lanes of the schedulers")).to_be_hidden()

    part = schedulers(bench)
    part.get_by_role("button", name="Add a scheduler…").click()
    form = fill(bench, Name="second", Watch_delay="1", Decision_time="-1", Bind_delay="0.5")
    form.get_by_role("button", name="Add", exact=True).click()
    expect(form.get_by_role("alert")).to_contain_text("decisionTime: must be seconds of virtual time from 0")
    fill(bench, Decision_time="0.1")
    form.get_by_role("button", name="Add", exact=True).click()
    expect(form).to_have_count(0)
    bench.wait()
    reported = "kube-scheduler v1.22, watch delay 1s, decision time 100ms, bind delay 500ms"
    expect(part.get_by_role("listitem").filter(has_text="second")).to_contain_text(reported)
    part.get_by_role("button", name="Change default-scheduler").click()
    form = fill(bench, Decision_time="0.1", Bind_delay="0.5")
    form.get_by_role("button", name="Change", exact=True).click()
    expect(form).to_have_count(0)
    bench.wait()

    bench.step(2)
    first, second = lane(bench, "default-scheduler"), lane(bench, "second")
    expect(first).to_contain_text("sees at once")
    expect(second).to_contain_text("sees 1s late")
    expect(first).to_contain_text("decides")
    expect(second).to_contain_text("deciding")
    double = bench.stage.get_by_role(
        "button", name=re.compile(r"^node-0\d, .*double-booked, 2 cpu too little")
    )
    expect(double).to_have_count(1)
    expect(double.get_by_text("double-booked", exact=True)).to_be_visible()
    bench.step(3)
    noticed = bench.stage.get_by_text(re.compile(r"Who noticed .*refused by the kubelet: OutOfcpu"))
    expect(noticed).to_be_visible()

    bench.build.get_by_role("button", name="Undo").click()
    expect(part.get_by_role("listitem").filter(has_text="default-scheduler")).to_contain_text("no delays")
    text = yaml_of(bench)
    text.shows(
        re.compile(r"schedulers:\n- name: second\n  watchDelay: 1\n  decisionTime: 0.1\n  bindDelay: 0.5\n")
    )


def test_a_scheduler_of_the_list_runs_another_release(page: Page) -> None:
    """The form offers the releases; the lane says what runs, and the step is reported by it."""
    bench = Workbench(page).open(drafted(page, NODES))
    deploy(bench, "shop")
    part = schedulers(bench)
    part.get_by_role("button", name="Change default-scheduler").click()
    form = fill(bench, Watch_delay="0.5")
    form.get_by_label("Runs").select_option("kube-scheduler v1.37")
    form.get_by_role("button", name="Change", exact=True).click()
    expect(form).to_have_count(0)
    bench.wait()
    reported = "kube-scheduler v1.37, watch delay 500ms"
    expect(part.get_by_role("listitem").filter(has_text="default-scheduler")).to_contain_text(reported)
    bench.step(1)
    expect(lane(bench, "default-scheduler")).to_contain_text("v1.37, sees 500ms late")
    yaml_of(bench).shows(re.compile(r"{name: default-scheduler, runs: v1.37, watchDelay: 0.5}"))


def test_a_scheduler_alone_has_no_lanes(page: Page) -> None:
    """The stage of an ordinary scenario is as it was; its one scheduler is a row of the form."""
    bench = Workbench(page).open(drafted(page, NODES))
    expect(bench.stage.locator(".sched")).to_be_hidden()
    part = schedulers(bench)
    expect(part.get_by_role("listitem")).to_have_count(1)
    expect(part.get_by_role("button", name="Remove default-scheduler")).to_have_count(0)


def test_the_lanes_fit_and_leave_room_for_the_nodes(
    page: Page, accessible: Callable[[Page], None], site: Stack
) -> None:
    """A mark on the node that is given away twice; no step moves the nodes, and axe finds nothing."""
    address = share(site, example_text("stale-views"), "Two views")
    bench = Workbench(page).open(f"{address}?step=6").at(6)
    node = bench.node("worker-1")
    expect(node.get_by_text("double-booked", exact=True)).to_be_visible()
    expect(bench.stage.get_by_text("1 node double-booked")).to_be_visible()
    for size in turned(page):
        bench.goto(6)
        assert wide(page) <= 0, size
        before = node.bounding_box()
        bench.step()
        assert node.bounding_box() == before, size
    accessible(page)


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
