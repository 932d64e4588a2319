"""What the tabs say of a run in virtual time agrees with itself: times, queues, ties, and who is let in."""

from __future__ import annotations

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


def test_a_gang_that_gets_room_reads_alike_in_every_tab(page: Page, site: Stack) -> None:
    """While it waits at Permit, when its last member comes, and what that brings about."""
    room = share(site, example_text("coscheduling-room"), "A gang with room")
    bench = Workbench(page).open(f"{room}?step=3&tab=events").at(3)
    events = bench.panel("Events")
    expect(events.get_by_text("No event yet."), "no cycle has emitted anything so far").to_be_visible()
    expect(events).to_contain_text("for a pod that waits at Permit, once it is allowed or rejected")

    story = bench.step().tab("Story")
    reported = story.locator("p").filter(has_text="With it 4 of the 4 members that nginx needs hold a node")
    expect(reported).to_contain_text("waited at Permit for that, and are bound too.")
    expect(reported.get_by_role("button"), "links to the group and three pods").to_have_count(4)

    # Moments that share a time show it once, to the millisecond, as the deck does: not 0s for each.
    panel = bench.tab("PodGroups")
    brought = panel.locator(".happened").filter(has_text="Consequences of this cycle").locator("li")
    expect(brought).to_have_count(6)
    times = [row.locator("span").first.inner_text() for row in brought.all()]
    shown = [time for time in times if time]
    assert times[0]
    assert len(shown) == len(set(shown)) < len(times)
    assert all(time.startswith("0.0") and time.endswith("s") for time in shown)

    # An old link to another group says that there is none, and still lists those there are.
    bench.open(f"{room}?step=4&tab=podgroups&view=default/gone").at(4)
    expect(panel.get_by_text("There is no PodGroup default/gone after this cycle.")).to_be_visible()
    panel.get_by_role("button", name="nginx", exact=True).first.click()
    expect(panel.get_by_role("heading", name="PodGroup nginx Scheduled")).to_be_visible()


def test_a_gang_whose_time_runs_out_reads_alike_in_every_tab(page: Page, site: Stack) -> None:
    """Who wins a tie, who was rejected when, and since when and why a pod is in its queue."""
    bench = Workbench(page).open(share(site, TIMES_OUT, "A minute at Permit") + "?step=1&tab=story").at(1)
    story = bench.panel("Story")
    expect(story).to_contain_text("here it is always the first in the order of the nodes, n0.")
    expect(story, "no counter is mentioned").not_to_contain_text("round-robin")
    expect(story.locator(".ranking li").first).to_contain_text("n0")
    expect(bench.tab("Priorities")).to_contain_text("always the first in the order of the nodes")

    panel = bench.goto(5).tab("PodGroups")  # the minute ended 30 s before this cycle
    expect(panel.get_by_text("rejected at t = 60s").first).to_be_visible()
    expect(panel.get_by_text("rejected in this cycle")).to_have_count(0)

    # It was put aside at 60 s and woken at 90 s: both are reported, and not that it is here since 60 s.
    expect(bench.goto(6).tab("Queue").locator(".queue.at-active")).to_contain_text(
        "Queued since t = 60s; here because a member of its group began to wait at Permit"
    )


def test_pods_that_nobody_places_have_a_reason(page: Page, site: Stack) -> None:
    """When the flush moves the queue's only pod; and a pod of another scheduler is not called missing."""
    bench = Workbench(page).open(share(site, TOO_LARGE, "Too large") + "?step=2&tab=queue")
    panel = bench.at(2).panel("Queue")
    # The queue is looked through every 30 s, but its only pod stays for 5 minutes.
    expect(panel.locator(".queue.at-unschedulable .leaves")).to_contain_text("Moves by the flush: 5m30s left")
    expect(panel.locator(".lane.at-unschedulable")).to_contain_text("5m30s left")

    panel = bench.open(share(site, ELSEWHERE, "Nobody's")).panel("Story")
    expect(panel.get_by_text("1 pod pending, and none is scheduled.")).to_be_visible()
    expect(panel).to_contain_text("add a profile to the KubeSchedulerConfiguration")
    expect(panel.get_by_text("No pod is waiting to be scheduled.")).to_have_count(0)
