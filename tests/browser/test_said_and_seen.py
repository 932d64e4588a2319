"""What a visitor is reported where nothing happens, what fits its place, and what the End of a run shows."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.conftest import PHONE
from tests.browser.pages import ASTRAY, COMPUTED, Workbench, becomes, drafted, example_text, share, wide
from tests.services.stack import Stack

NODES = "---\n".join(
    f"""apiVersion: v1
kind: Node
metadata: {{name: n{n}}}
status: {{allocatable: {{cpu: "4", memory: 8Gi, pods: "10"}}}}
"""
    for n in (1, 2)
)
CONFIGURATION = """---
apiVersion: kubescheduler.config.k8s.io/v1beta2
kind: KubeSchedulerConfiguration
profiles: [{schedulerName: default-scheduler}, {schedulerName: tidy}]
"""

LATER_PODS = """podstep.playback.meet({
  from: podstep.playback.pods.keys.length, keys: ["default/later-1"],
  groups: [{kind: "ReplicaSet", name: "later"}],
  group: [0], cpu: [100], memory: [0], priority: [0], node: [-1], extended: {},
})"""


def pod(name: str, scheduler: str, annotations: str = "{}") -> str:
    """Return a pod that a scheduler of that name tries."""
    return f"""---
apiVersion: v1
kind: Pod
metadata: {{name: {name}, annotations: {annotations}}}
spec: {{schedulerName: {scheduler}, restartPolicy: Never, containers: [{{name: c}}]}}
"""


TWO = (
    NODES
    + CONFIGURATION
    + pod("plain", "default-scheduler")
    + pod("own", "tidy", '{podstep/run-seconds: "30"}')
)


def test_the_end_and_the_start_can_be_shown_with_every_tab(page: Page) -> None:
    """No tab, bar or stage stays behind at a place that has no cycle, and no error is reported."""
    bench = Workbench(page).open("/examples/coscheduling-room/")
    warnings_are_counted_where_their_lines_are(bench)
    every_tab_has_the_end_and_the_start(bench)
    every_tab_has_the_end_and_the_start(bench.open("/examples/gang-deadlock/"))
    bench.open("/examples/ten-percent/").step()
    expect(page.locator(".by-profile")).to_have_count(0)  # it has one profile
    the_counter_and_all_tabs_have_room_on_a_desktop(bench)
    every_tab_has_the_end_and_the_start(bench)


def every_tab_has_the_end_and_the_start(bench: Workbench) -> None:
    """Each can be opened at either."""
    page = bench.page
    for key, wanted in (("End", "End"), ("Home", "Before the first cycle")):
        page.evaluate("document.activeElement.blur()")
        page.keyboard.press(key)
        expect(page.locator(".cycle-main b").first).to_have_text(wanted)
        for tab in bench.inspect.get_by_role("tab").all():
            tab.click()
            expect(tab).to_have_attribute("aria-selected", "true")
        expect(page.locator(".cycle-main b").first).to_have_text(wanted)
        expect(page.locator(".toast")).to_have_count(0)


def warnings_are_counted_where_their_lines_are(bench: Workbench) -> None:
    """Nothing covers the stage: the YAML tab counts them, lists them, and each leads to its line."""
    yaml = bench.build.get_by_role("tab", name="YAML")
    expect(yaml.locator("em")).to_have_text("3")
    expect(yaml).to_have_attribute("title", "3 warnings about the input")
    expect(bench.page.locator(".toast")).to_have_count(0)
    yaml.click()
    expect(bench.build.get_by_text("3 warnings", exact=True)).to_be_visible()
    first = bench.build.get_by_role("list", name="Warnings").get_by_role("button").first
    expect(first).to_have_text(re.compile(r"^line \d+"))
    first.click()
    expect(bench.build.get_by_role("textbox", name="YAML")).to_be_focused()


def the_counter_and_all_tabs_have_room_on_a_desktop(bench: Workbench) -> None:
    """The deck's counter is not cut, and no tab of ten out of reach, Build wide or not."""
    page = bench.page
    expect(bench.inspect.get_by_role("tab")).to_have_count(12)
    cut = """selector => [...document.querySelectorAll(selector)]
      .filter(({ clientWidth, scrollWidth }) => scrollWidth > clientWidth || !clientWidth).length"""
    for tab in ("Objects", "YAML"):
        bench.build.get_by_role("tab", name=tab).click()
        becomes(lambda: page.evaluate(cut, ".deck .at, .transport"), 0)
        becomes(lambda: page.evaluate(ASTRAY), [])
        box = page.locator(".deck .at").bounding_box()
        assert box and box["width"] > 60, f"the cycle can be read beside {tab}"


def test_pods_that_wait_at_permit_after_the_last_cycle_keep_their_place(page: Page, site: Stack) -> None:
    """Within the End they are drawn as waiting, with the time that is left by the clock shown there."""
    settings = "---\napiVersion: podstep/v1\nkind: SimulationSettings\nscheduler: v1.22\nquirks: fixed\n"
    text = f"{example_text('ten-percent')}\n{settings}"
    bench = Workbench(page).open(share(site, text, as_is=True))
    page.keyboard.press("End")
    page.wait_for_function("() => podstep.playback.atEnd && podstep.playback.moments")
    page.evaluate("podstep.playback.goto(podstep.playback.last, undefined, { at: 1, phase: '' })")
    waiting = bench.stage.locator(".node .pod.waiting")
    expect(waiting).to_have_count(1)
    expect(waiting).to_have_attribute("title", re.compile(r"waits at Permit for [\d.]+s more"))


def test_two_profiles_in_virtual_time(page: Page) -> None:
    """Each is named where it tries; a failure is planned, and a group added, after what is shown."""
    bench = Workbench(page).open(drafted(page, TWO))
    where_several_profiles_are_the_one_that_tries_is_named(bench)
    a_node_is_planned_to_fail_by_a_common_change(bench)
    a_group_that_asks_for_more_than_its_pods_is_doubted_and_added(bench)


def where_several_profiles_are_the_one_that_tries_is_named(bench: Workbench) -> None:
    """The cycle bar and the story name it; with one profile neither does.

    The tree counts the pods that are there: one that has ended is no longer counted.
    """
    page = bench.page
    head = bench.build.get_by_role("treeitem", name=re.compile("^Workloads"))
    expect(head).to_contain_text("2 pods")
    for index in (1, 2):
        bench.step()
        name = {"plain": "default-scheduler", "own": "tidy"}[page.locator(".cycle-main b").first.inner_text()]
        expect(page.locator(".cycle-main .by-profile")).to_have_text(f"by {name}")
        expect(bench.tab("Story").locator(".by-profile")).to_contain_text(f"by the profile {name}")
        bench.at(index)
    page.keyboard.press("End")
    expect(page.locator(".deck .at")).to_contain_text("End")
    expect(head).to_contain_text("1 pod")


def a_node_is_planned_to_fail_by_a_common_change(bench: Workbench) -> None:
    """In virtual time its editor offers it and no stale write; after the last cycle it names the End."""
    page = bench.page
    bench.goto(2)
    bench.stage.get_by_role("button", name=re.compile("^n1,")).click()
    bench.stage.get_by_role("button", name="Edit at this step").click()
    editor = page.get_by_role("dialog", name="Edit Node n1")
    expect(editor.get_by_text("No later cycle exists yet")).to_contain_text("else the End")
    expect(editor.get_by_text("Inside cycle")).to_have_count(0)
    editor.get_by_label("Common change").select_option(label="Fail this node at")
    editor.get_by_label("seconds of virtual time").fill("40")
    editor.get_by_role("button", name="Put into the YAML").click()
    expect(editor).to_contain_text("podstep/fails-at")
    second = editor.get_by_label("Virtual second at which it takes effect")
    second.fill("soon")
    expect(editor.get_by_role("radio", name="At a time")).to_be_checked()
    editor.get_by_role("button", name="Apply").click()
    expect(editor.get_by_text("Write seconds from 0")).to_be_visible()
    second.fill("35")
    editor.get_by_role("button", name="Apply").click()
    expect(editor).to_be_hidden(timeout=COMPUTED)
    expect(page.locator(".toast").filter(has_text="At 35s: fail Node n1 at 40 s")).to_contain_text(
        re.compile("the End shows it|It takes effect from cycle 3")
    )
    expect(bench.build.get_by_role("listitem").filter(has_text="fail Node n1 at 40 s")).to_contain_text("35s")


def a_group_that_asks_for_more_than_its_pods_is_doubted_and_added(bench: Workbench) -> None:
    """The field says what comes of it, and so does the notice; it is no error."""
    page = bench.page
    page.evaluate("podstep.view.actions.group()")
    form = page.get_by_role("dialog", name="A PodGroup and its workload")
    form.get_by_label("Name", exact=True).fill("train")
    form.locator("#group-minMember").fill("9")
    said = "The workload has 4 of the 9 pods that the group waits for"
    expect(form.locator("#group-minMember-note")).to_contain_text(said)
    form.get_by_role("button", name="Add", exact=True).click()
    expect(form).to_be_hidden(timeout=COMPUTED)
    expect(page.locator(".toast").filter(has_text=said)).to_be_visible()


def test_the_tree_follows_what_controllers_make(page: Page) -> None:
    """A workload that has no pods left is not counted; one that was made after the source was opened is."""
    bench = Workbench(page).open("/examples/rolling-update/")
    sets = bench.build.get_by_role("treeitem", name=re.compile("^rs.web"))
    page.keyboard.press("End")
    expect(page.locator(".deck .at")).to_contain_text("End")
    expect(sets).to_have_count(1)
    expect(sets).to_contain_text("4 / 4")
    expect(bench.build.get_by_role("treeitem", name=re.compile("^Workloads"))).to_contain_text("4 pods")
    # Pods that controllers make after the source was opened are in the tree at once.
    bench.build.get_by_label("Find a node or pod").fill("later")
    expect(bench.build.get_by_text("No matches for “later”.")).to_be_visible()
    page.evaluate(LATER_PODS)
    expect(bench.build.get_by_role("treeitem", name=re.compile("^rs.later"))).to_contain_text("1 of 1")


def test_a_unit_that_there_is_none_of_says_so(page: Page) -> None:
    """The next operation, failure and second are walked to, or a sentence says that there is none."""
    Workbench(page).open("/examples/first-cycle/")
    unit = page.get_by_label("Unit of next and previous")
    for value, said in (
        ("operation", "This scenario has no operations."),
        ("failure", "No cycle failed: every pod was placed at once."),
    ):
        unit.select_option(value)
        unit.evaluate("element => element.blur()")
        page.keyboard.press(".")
        expect(page.locator(".toast")).to_have_text(said)


def test_rows_of_a_phone_are_not_covered_as_an_example_opens(visitor: Callable[..., Page]) -> None:
    """Nothing pops up over the page, and it scrolls in one direction only."""
    phone = visitor(size=PHONE)
    Workbench(phone).open("/examples/coscheduling-room/")
    expect(phone.locator(".toast")).to_have_count(0)
    assert not wide(phone)
