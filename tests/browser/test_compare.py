"""The page of a comparison: two runs stepped together, their differences, and how one gets there."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from scheduler_core import load
from scheduler_core.compare.compare import compare
from tests.browser.conftest import DRAWN, Watch, turned
from tests.browser.pages import COMPUTED, Workbench, drafted, example_text, share
from tests.services.stack import Stack

NODES = 6
PODS = 7


def bundle(priority: str, *, replicas: int = PODS) -> str:
    """Nodes of two sizes, a workload too large for them, and a Policy that spreads or packs."""
    nodes = [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": f"worker-{n}"},
            "status": {"allocatable": {"cpu": str(2 + 2 * (n % 2)), "memory": "8Gi", "pods": "10"}},
        }
        for n in range(NODES)
    ]
    pods = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"web-{n}"},
            "spec": {
                "containers": [
                    {"name": "c", "resources": {"requests": {"cpu": "1500m", "memory": "1Gi"}}},
                ]
            },
        }
        for n in range(replicas)
    ]
    policy = {
        "apiVersion": "v1",
        "kind": "Policy",
        "predicates": [{"name": "GeneralPredicates"}],
        "priorities": [{"name": priority, "weight": 1}],
    }
    return "\n---\n".join(map(json.dumps, [*nodes, *pods, policy]))


SPREAD, PACK = bundle("LeastRequestedPriority"), bundle("MostRequestedPriority")


@pytest.fixture(scope="module")
def both(site: Stack) -> tuple[str, str]:
    """The addresses of two policies on one cluster."""
    return share(site, SPREAD, "Spread"), share(site, PACK, "Pack")


def opened(page: Page, left: str, right: str) -> Page:
    """Open a comparison and wait until both sides show what they decided."""
    page.goto(f"/compare/?left={left}&right={right}")
    return ready(page)


def ready(page: Page) -> Page:
    """Wait until both runs are computed and their steps shown."""
    page.wait_for_function(
        "() => window.podstep?.compare?.sides.every(({ playback }) => playback.complete"
        " && playback.index >= 0 && (!playback.index || playback.parts))",
        timeout=COMPUTED,
    )
    return page


def test_both_runs_step_together(
    page: Page, both: tuple[str, str], accessible: Callable[[Page], None]
) -> None:
    """From the first difference to each further one; pods elsewhere are marked on both stages.

    At both sizes and in both colours it is accessible, and does not scroll sideways.
    """
    # One begins at the first difference, steps both, and jumps to each further one.
    found = compare(load(SPREAD), load(PACK))
    assert found.decision is not None
    opened(page, *both)
    left, right = (page.get_by_role("region", name=f"{side} side") for side in ("Left", "Right"))
    expect(left.get_by_text(f"cycle {found.decision.index} of")).to_be_visible()
    expect(page.locator(".both-rule")).to_have_text(f"Decided differently by {found.decision.rule}.")
    assert found.decision.a is not None and found.decision.b is not None
    expect(left.locator("header + .story")).to_contain_text(f"is placed on {found.decision.a['node']}")
    expect(right.locator("header + .story")).to_contain_text(f"is placed on {found.decision.b['node']}")
    for side in (left, right):  # the rule that decided is a priority: their matrices are shown
        expect(side.get_by_role("grid", name="Node by priority")).to_be_visible()
    page.get_by_role("button", name="Predicates", exact=True).click()
    for side in (left, right):
        expect(side.get_by_role("grid", name="Node by predicate")).to_be_visible()

    page.get_by_role("button", name="Both one cycle on (→)").click()
    for side in (left, right):
        expect(side.get_by_text(f"cycle {found.decision.index + 1} of")).to_be_visible()
    page.get_by_role("button", name="To the start (Home)").click()
    expect(left.get_by_text("before the first cycle", exact=True)).to_be_visible()
    rows = page.evaluate("podstep.compare.rows.different")
    for row in rows:
        page.keyboard.press("n")
        page.wait_for_function(f"() => podstep.compare.row === {row}")
    page.get_by_role("button", name="Previous").click()
    page.wait_for_function(f"() => podstep.compare.row === {rows[-2]}")
    slider = page.get_by_role("slider", name="Cycle of both runs")
    slider.press("End")
    expect(slider).to_have_attribute("aria-valuenow", str(page.evaluate("podstep.compare.rows.count")))
    ready(page)
    page.reload()
    ready(page)
    expect(slider).to_have_attribute("aria-valuenow", str(page.evaluate("podstep.compare.rows.count")))
    # At each step as many as are on other nodes then, also as text; at the end those of the table.
    page.get_by_role("button", name="To the start (Home)").click()
    stages = [page.get_by_role("img", name=f"Stage of the {side} side") for side in ("left", "right")]
    for stage in stages:
        expect(stage).to_have_attribute("aria-label", re.compile("none of them elsewhere"))
    marked = "[...document.querySelectorAll('.compared-stage canvas')].map(canvas => canvas.toDataURL())"
    page.evaluate(DRAWN)
    before = page.evaluate(marked)
    page.keyboard.press("n")
    for stage, other in zip(stages, ("right", "left")):
        expect(stage).to_have_attribute("aria-label", re.compile(f"1 of them elsewhere on the {other}$"))
    page.evaluate(DRAWN)
    assert all(one != two for one, two in zip(page.evaluate(marked), before))
    page.get_by_role("button", name="To the end (End)").click()
    page.get_by_text(f"{found.differing} pods elsewhere at this step").click()
    listed = page.locator(".both-elsewhere li")
    expect(listed).to_have_count(found.differing)
    pod, (one, two) = next(iter(found.placements.items()))
    text = f"{pod.removeprefix('default/')}: {one or 'pending'} on the left, {two or 'pending'} on the right"
    expect(listed.filter(has_text=text)).to_have_count(1)
    stages[0].hover(position={"x": 10, "y": 10})
    expect(stages[0]).to_have_attribute("title", re.compile("^worker-0: "))
    # By a node of each side and by a text, and a decision of the list is gone to.
    opened(page, *both)
    table = page.get_by_role("region", name="Pods that end on another node")
    pod, (one, two) = next(iter(found.placements.items()))
    expect(table.locator("tbody tr:visible")).to_have_count(found.differing)
    table.get_by_label("Node on the left").select_option(one or "pending")
    same = [ends for ends in found.placements.values() if ends[0] == one]
    expect(table.locator("tbody tr:visible")).to_have_count(len(same))
    table.get_by_label("Node on the right").select_option(two or "pending")
    expect(table.get_by_role("rowheader", name=pod)).to_be_visible()
    last = page.evaluate("podstep.compare.found.differences.at(-1)")
    page.get_by_role("region", name="Different decisions").get_by_role("button", name=last[2]).click()
    expect(page.locator("tr.is-selected").first).to_contain_text(last[2])
    for size in turned(page):
        accessible(page)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), size


def test_the_page_finds_the_rule_that_the_engine_finds(page: Page, site: Stack) -> None:
    """Of the first difference the server names it; the page finds the same for itself, a predicate too."""
    tainted = SPREAD.replace(
        '{"name": "worker-5"}',
        '{"name": "worker-5"}, "spec": {"taints": [{"key": "x", "effect": "NoSchedule"}]}',
    )
    fits = '[{"name": "GeneralPredicates"}]'
    heeded = tainted.replace(fits, f'{fits[:-1]}, {{"name": "PodToleratesNodeTaints"}}]')
    assert heeded != tainted != SPREAD
    sources = share(site, tainted), share(site, heeded)
    opened(page, *sources)
    rule = page.evaluate("podstep.compare.found.first.rule")
    assert rule == "PodToleratesNodeTaints"
    page.evaluate("podstep.compare.found.first = null")
    page.keyboard.press("Shift+N")
    page.get_by_role("button", name="First different decision").click()
    expect(page.locator(".both-rule code")).to_have_text(rule)
    expect(page.locator(".ladder li.decides").first).to_contain_text(rule)


def test_a_cycle_of_one_run_alone(page: Page, site: Stack) -> None:
    """Where a run has no such cycle its side says so, and shows the matrix of nothing."""
    short, long = share(site, bundle("LeastRequestedPriority", replicas=2)), share(site, SPREAD)
    opened(page, short, long)
    left = page.get_by_role("region", name="Left side")
    expect(left.get_by_text("This run has no such cycle.")).to_be_visible()
    expect(left.get_by_role("grid")).to_have_count(0)
    expect(page.locator(".both-rule")).to_have_text("Only one of the runs has this cycle.")


def test_one_chooses_both_sides(page: Page, both: tuple[str, str]) -> None:
    """From one's own drafts and the examples, or by pasting an address; sides are swapped in the form."""
    drafted(page, PACK, "My packing")
    page.goto("/compare/")
    page.get_by_role("group", name="Left").get_by_label("From a list").select_option(label="My packing")
    page.get_by_role("group", name="Right").get_by_label("Or an address or id").fill(both[0])
    page.get_by_role("button", name="Swap sides").click()
    page.get_by_role("button", name="Compare", exact=True).click()
    ready(page)
    expect(page.get_by_role("region", name="Left side").get_by_role("link", name="Spread")).to_be_visible()
    expect(
        page.get_by_role("region", name="Right side").get_by_role("link", name="My packing")
    ).to_be_visible()


def test_the_workbench_leads_here(page: Page, both: tuple[str, str]) -> None:
    """By the command palette, with its scenario on the left; a branch beside its parent by its list."""
    Workbench(page).open(both[0])
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Command").fill("compare with")
    page.keyboard.press("Enter")
    page.wait_for_url("**/compare/?left=scenario*")
    expect(page.get_by_role("group", name="Left").get_by_label("Or an address or id")).not_to_be_empty()

    bench = Workbench(page).open(drafted(page, SPREAD, "Parent"))
    bench.step()
    page.locator(".deck-branch").click()
    page.wait_for_url(re.compile(r"/p/[^/]+/\?step=1$"))
    bench.wait()
    here = bench.build.get_by_role("treegrid", name="Branches").get_by_role("row").nth(1)
    here.hover()
    here.get_by_role("button", name=re.compile("^Compare with its parent")).click()
    page.get_by_role("link", name="Step through both").click()
    ready(page)
    expect(page.get_by_text("Every decision is the same").first).to_be_visible()


def test_an_example_beside_itself_without_script(visitor: Callable[..., Page], site: Stack) -> None:
    """Without a script the same tables are there."""
    address = share(site, example_text("making-room"))
    page = visitor(java_script_enabled=False)
    page.goto(f"/compare/?left={address}&right={address}")
    expect(page.get_by_role("heading", name="Every decision is the same")).to_be_visible()
    expect(page.get_by_role("table")).not_to_have_count(0)


def test_releases_beside_each_other(page: Page, both: tuple[str, str]) -> None:
    """A release is chosen for each side; both step, with the matrix of their own rules, and are named."""
    page.goto(f"/compare/?left={both[0]}")
    for name, release in (("Left", "v1.11"), ("Right", "v1.37")):
        page.get_by_role("group", name=name).get_by_label(re.compile("^Scheduler")).select_option(release)
    page.get_by_role("group", name="Right").get_by_label("Or an address or id").fill(both[0])
    page.get_by_role("button", name="Compare", exact=True).click()
    ready(page)
    left, right = (page.get_by_role("region", name=f"{side} side") for side in ("Left", "Right"))
    expect(left.locator("header .release")).to_have_text("v1.11")
    expect(right.locator("header .release")).to_have_text("v1.37")
    page.get_by_role("button", name="Filter / Predicates", exact=True).click()
    for side, rule in ((left, "GeneralPredicates"), (right, "NodeResourcesFit")):
        expect(side.get_by_role("columnheader", name=rule)).to_be_visible()
    page.keyboard.press("End")
    ready(page)
    expect(right.get_by_text(re.compile("^cycle [0-9]+ of"))).to_be_visible()


def test_a_policy_is_pasted_for_a_side(page: Page, both: tuple[str, str], watch: Watch) -> None:
    """What is wrong in it is shown with its line and stays in the form; corrected, its branch is compared."""
    watch.allow("422")
    page.goto(f"/compare/?left={both[0]}&right={both[0]}")
    page.get_by_text("Choose others").click()
    right = page.get_by_role("group", name="Right")
    right.get_by_text("Replace its configuration…").click()
    policy = "kind: Policy\napiVersion: v1\npriorities:\n- name: {}\n  weight: 1\n"
    field = right.get_by_label("Policy or KubeSchedulerConfiguration")
    field.fill(policy.format("Nope"))
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("Right, its configuration: line 4: priorities[0].name")
    expect(field).to_have_value(policy.format("Nope"))
    field.fill(policy.format("MostRequestedPriority"))
    page.get_by_role("button", name="Compare", exact=True).click()
    ready(page)
    expect(
        page.get_by_role("region", name="Right side").get_by_role("link", name="Spread, another Policy")
    ).to_be_visible()
    expect(page.locator(".both-rule")).to_have_text(re.compile("differently by (Least|Most)Requested"))
