"""The part of a step with the views of several schedulers."""

from __future__ import annotations

import itertools

from playground.panels.cycle import PARTS
from playground.panels.views import ONE_VIEW, OVER, resting, views
from scheduler_core import load
from scheduler_core.authoring.examples import find
from scheduler_core.record.cycle import Cycle
from scheduler_core.run import simulate
from scheduler_core.run.moment_record import upto


def cycles(slug: str) -> list[Cycle]:
    """Return the cycles of a shipped example."""
    example = find(slug)
    assert example is not None
    return list(simulate(load(example.read())))


def test_each_scheduler_has_a_lane_with_what_it_believes() -> None:
    """The one that decides, and the other with what is under way to it."""
    shown = [views(cycle) for cycle in cycles("stale-views")]
    assert {part["scheduler"] for part in shown} == {"default-scheduler", "batch-scheduler"}
    part = shown[2]
    lanes = {lane["scheduler"]: lane for lane in part["lanes"]}
    assert set(lanes) == {"default-scheduler", "batch-scheduler"}
    mine = lanes[part["scheduler"]]
    assert mine["deciding"] == part["began"]
    assert mine["inFlightCount"] >= 1
    node = mine["nodes"][0]
    assert node["assumed"]
    assert node["believed"]["cpu"] < node["true"]["cpu"]


def test_who_noticed_is_reported_at_the_step_after() -> None:
    """The kubelet's refusal, with the pod that was not counted."""
    reported = itertools.chain.from_iterable(views(cycle)["outcomes"] for cycle in cycles("stale-views"))
    (refused,) = (one for one in reported if one["noticed"] == "kubelet")
    assert refused["scheduler"] == "batch-scheduler"
    assert refused["unseen"]


def test_where_all_see_the_same_it_says_so() -> None:
    """Without delays, inside a step, and at the end of a run."""
    assert views(cycles("kube-batch-gangs")[0]) == {"why": ONE_VIEW}
    first = cycles("stale-views")[0]
    assert views(upto(first, "queue")) == {"why": ONE_VIEW}
    assert resting(None) == {"why": OVER}  # type: ignore[arg-type]
    assert "views" in PARTS
