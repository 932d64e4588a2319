"""What the tabs tell of a run in virtual time agrees with itself: times, queues, ties, and who is let in."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.pages import Workbench, example_text, share
from tests.services.stack import Stack

NODES = "".join(
    f"""---
apiVersion: v1
kind: Node
metadata: {{name: n{number}}}
status: {{allocatable: {{cpu: "4", memory: 8Gi, pods: "10"}}}}
"""
    for number in range(3)
)
GANG = "".join(
    f"""---
apiVersion: v1
kind: Pod
metadata: {{name: b-{number}, labels: {{pod-group.scheduling.sigs.k8s.io: b}}}}
spec: {{containers: [{{name: c, resources: {{requests: {{cpu: "4"}}}}}}]}}
"""
    for number in range(4)
)
#: Room for three of four, and no PostFilter that rejects them: their minute at Permit runs out.
TIMES_OUT = f"""apiVersion: kubescheduler.config.k8s.io/v1beta2
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  plugins:
    queueSort: {{enabled: [{{name: Coscheduling}}], disabled: [{{name: "*"}}]}}
    preFilter: {{enabled: [{{name: Coscheduling}}]}}
    permit: {{enabled: [{{name: Coscheduling}}]}}
    reserve: {{enabled: [{{name: Coscheduling}}]}}
    postBind: {{enabled: [{{name: Coscheduling}}]}}
---
apiVersion: scheduling.sigs.k8s.io/v1alpha1
kind: PodGroup
metadata: {{name: b}}
spec: {{minMember: 4}}
{NODES}{GANG}"""
#: The only pod is for a scheduler that is not there.
ELSEWHERE = f"""apiVersion: kubescheduler.config.k8s.io/v1beta3
kind: KubeSchedulerConfiguration
{NODES}---
apiVersion: v1
kind: Pod
metadata: {{name: lost}}
spec: {{schedulerName: nobody, containers: [{{name: c}}]}}
"""
#: Two pods that no node can hold.
TOO_LARGE = f"""apiVersion: kubescheduler.config.k8s.io/v1beta3
kind: KubeSchedulerConfiguration
{NODES}""" + "".join(
    f"""---
apiVersion: v1
kind: Pod
metadata: {{name: large-{number}}}
spec: {{containers: [{{name: c, resources: {{requests: {{cpu: "8"}}}}}}]}}
"""
    for number in range(2)
)


@pytest.fixture(scope="module")
def room(site: Stack) -> str:
    """The address of a gang of six with room for four."""
    return share(site, example_text("coscheduling-room"), "A gang with room")


@pytest.fixture(scope="module")
def timeout(site: Stack) -> str:
    """The address of a gang whose time at Permit runs out."""
    return share(site, TIMES_OUT, "A minute at Permit")


def test_the_story_tells_who_is_let_in_with_the_last_of_a_gang(page: Page, room: str) -> None:
    """The cycle that completes the group names it and those that waited, each a link."""
    story = Workbench(page).open(f"{room}?step=4&tab=story").at(4).panel("Story")
    reported = story.locator("p").filter(has_text="With it 4 of the 4 members that nginx needs hold a node")
    expect(reported).to_contain_text("waited at Permit for that, and are bound too.")
    expect(reported.get_by_role("button")).to_have_count(4)  # the group, and three pods


def test_events_say_why_there_is_none_while_pods_wait_at_permit(page: Page, room: str) -> None:
    """Before the gang is complete no cycle has emitted anything, and nothing else is claimed."""
    panel = Workbench(page).open(f"{room}?step=3&tab=events").at(3).panel("Events")
    expect(panel.get_by_text("No event yet.")).to_be_visible()
    expect(panel).to_contain_text("for a pod that waits at Permit, once it is allowed or rejected")


def test_a_group_that_does_not_exist_is_named(visitor: Callable[..., Page], room: str) -> None:
    """An old link to another group says that there is none, and still lists those there are."""
    page = visitor()
    panel = Workbench(page).open(f"{room}?step=4&tab=podgroups&view=default/gone").at(4).panel("PodGroups")
    expect(panel.get_by_text("There is no PodGroup default/gone after this cycle.")).to_be_visible()
    panel.get_by_role("button", name="nginx", exact=True).first.click()
    expect(panel.get_by_role("heading", name="PodGroup nginx Scheduled")).to_be_visible()


def test_a_pod_that_was_moved_is_not_said_to_be_here_since_before(page: Page, timeout: str) -> None:
    """It was put aside at 60 s and woken at 90 s: both are reported, and not that it is here since 60 s."""
    bench = Workbench(page).open(f"{timeout}?step=6&tab=queue").at(6)
    expect(bench.panel("Queue").locator(".queue.at-active")).to_contain_text(
        "Queued since t = 60s; here because a member of its group began to wait at Permit"
    )


def test_a_member_that_timed_out_is_not_said_to_be_rejected_in_this_cycle(page: Page, timeout: str) -> None:
    """Its minute ended 30 s before the cycle that is on screen."""
    panel = Workbench(page).open(f"{timeout}?step=5&tab=podgroups").at(5).panel("PodGroups")
    expect(panel.get_by_text("rejected at t = 60s").first).to_be_visible()
    expect(panel.get_by_text("rejected in this cycle")).to_have_count(0)


def test_a_lane_says_when_its_first_pod_leaves(page: Page, site: Stack) -> None:
    """The unschedulable queue is looked through every 30 s, but its only pod stays for 5 minutes."""
    bench = Workbench(page).open(share(site, TOO_LARGE, "Too large") + "?step=2&tab=queue")
    panel = bench.at(2).panel("Queue")
    expect(panel.locator(".queue.at-unschedulable .leaves")).to_contain_text("Moves by the flush: 5m30s left")
    expect(panel.locator(".lane.at-unschedulable")).to_contain_text("5m30s left")


def test_a_tie_is_reported_alike_in_story_and_priorities(page: Page, timeout: str) -> None:
    """By a KubeSchedulerConfiguration the first of equal nodes is taken; no counter is mentioned."""
    bench = Workbench(page).open(f"{timeout}?step=1&tab=story").at(1)
    story = bench.panel("Story")
    expect(story).to_contain_text("here it is always the first in the order of the nodes, n0.")
    expect(story).not_to_contain_text("round-robin")
    expect(story.locator(".ranking li").first).to_contain_text("n0")
    expect(bench.tab("Priorities")).to_contain_text("always the first in the order of the nodes")


def test_a_pod_of_another_scheduler_is_not_called_missing(page: Page, site: Stack) -> None:
    """Where no pod is tried though one waits, the reason and the remedy are there."""
    bench = Workbench(page).open(share(site, ELSEWHERE, "Nobody's"))
    panel = bench.panel("Story")
    expect(panel.get_by_text("1 pod pending, and none is scheduled.")).to_be_visible()
    expect(panel).to_contain_text("add a profile to the KubeSchedulerConfiguration")
    expect(panel.get_by_text("No pod is waiting to be scheduled.")).to_have_count(0)


def test_what_a_cycle_brought_about_has_the_clock_of_the_deck(page: Page, room: str) -> None:
    """Moments that share a time show it once, to the millisecond, as the deck does: not 0s for each."""
    panel = Workbench(page).open(f"{room}?step=4&tab=podgroups").at(4).panel("PodGroups")
    brought = panel.locator(".happened").filter(has_text="Consequences of this cycle").locator("li")
    expect(brought).to_have_count(6)
    times = [row.locator("span").first.inner_text() for row in brought.all()]
    shown = [time for time in times if time]
    assert times[0]
    assert len(shown) == len(set(shown)) < len(times)
    assert all(time.startswith("0.0") and time.endswith("s") for time in shown)
