"""The figures of the designs, on clusters where they can be counted by hand."""

from __future__ import annotations

import sys

import pytest

from scheduler_core.cli.several_report import report_several
from tests.core.several.parts import pod, run, settings
from tests.core.timed.parts import node

LATE = "watchDelay: 0.5, bindDelay: 0.5"
BUNDLE = (node("n1", 2), node("n2", 2), pod("a", 2), pod("b", 2, of="second"), pod("c", 2, of="second"))


def test_use_and_waits_are_those_of_the_run() -> None:
    """One of two equal nodes is taken from the moment at which the kubelet has admitted the pod."""
    late = settings("name: default-scheduler, bindDelay: 4")
    made, _ = run(late, node("n1", 2), node("n2", 2), pod("a", 2))
    wait = made.figures.waits["default-scheduler"]
    assert wait.admitted == 1
    assert wait.mean == wait.longest == pytest.approx(5.0, abs=0.01)  # admitted as its containers start
    made.figures.look()
    end = made.framework.clock.now
    assert made.figures.utilization == pytest.approx(0.5 * (end - wait.longest) / end, rel=0.01)


def test_a_pod_that_could_run_elsewhere_is_counted_while_it_waits() -> None:
    """In a pool that is full; the other pool is empty."""
    bundle = (node("n1", 1, pool="a"), node("n2", 4, pool="b"), pod("a", 1), pod("b", 1))
    pools = ("name: default-scheduler, nodes: {pool: a}", "name: second, nodes: {pool: b}")
    made, _ = run(settings(*pools, design="node-pools", until=10), *bundle)
    made.figures.look()
    pending = [one for one in made.framework.pods.values() if not one.node_name]
    assert len(pending) == 1
    assert made.figures.idle == pytest.approx(made.framework.clock.now, rel=0.05)
    made, _ = run(settings("name: default-scheduler, watchDelay: 0.1", until=10), *bundle)
    assert made.figures.idle < 1


@pytest.mark.parametrize(
    ("design", "refused", "rejected", "running"),
    [("side-by-side", 1, 0, 2), ("arbitrated", 0, 1, 2), ("one-scheduler", 0, 0, 2)],
)
def test_designs_differ_in_who_loses_and_how(design: str, refused: int, rejected: int, running: int) -> None:
    """Two schedulers and three pods for two places: refused for good, sent back, or never misled."""
    listed = (f"name: default-scheduler, {LATE}", f"name: second, {LATE}")
    made, _ = run(settings(*listed, design=design), *BUNDLE)
    noticed = [one.noticed for one in made.ledger.outcomes]
    assert (noticed.count("kubelet"), noticed.count("arbiter")) == (refused, rejected)
    assert sum(one.phase == "Running" for one in made.framework.pods.values()) == running


def test_the_report_names_design_schedulers_and_figures(capsys: pytest.CaptureFixture[str]) -> None:
    """What simulate prints of a run with conflicts."""
    listed = (f"name: default-scheduler, {LATE}", f"name: second, {LATE}")
    made, _ = run(settings(*listed), *BUNDLE)
    assert made.contest is not None
    report_several(made.contest, made.scenario.settings.design, sys.stdout)
    text = capsys.readouterr().out
    for reported in ("Design: side-by-side", "CPU in use", "wait of second", "the kubelet refused it"):
        assert reported in text
