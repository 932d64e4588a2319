"""Pods that are deleted and still there: which these are after every cycle, as the workbench shows them."""

from __future__ import annotations

import io
import json
from typing import Any

from playground.panels import steps
from playground.playback.playback import Playback
from playground.playback.tables import Tables
from playground.playback.trail import Trail
from scheduler_core import load
from scheduler_core.cli.timed_report import report_timed
from scheduler_core.run import is_timed_run, simulate
from tests.parts import REPOSITORY
from tests.playground.test_node_states import played

FAILS = (REPOSITORY / "scheduler_core" / "authoring" / "examples" / "node-fails.yaml").read_text()
STEADY = (REPOSITORY / "scheduler_core" / "authoring" / "examples" / "two-replicas.yaml").read_text()


def shown(playback: Playback, first: int, last: int) -> set[str]:
    """Return the pods that are Terminating after cycle ``last``, as a client derives them."""
    window: dict[str, Any] = json.loads(str(steps.window(playback, first, last - first + 1)))
    found = set(window.get("terminating", ()))
    for light in window["cycles"]:
        for pod, now in light.get("terminating", ()):
            (found.add if now else found.discard)(pod)
    return {playback.tables.pods[pod].meta.key for pod in found}


def test_a_pod_of_a_dead_node_is_terminating_until_the_node_is_back() -> None:
    """From its eviction on, in windows, in stored rows and at the end."""
    playback = played(FAILS)
    rows = [playback.trail.row(index) for index in range(1, len(playback) + 1)]
    again = Trail(playback.scenario, Tables(playback.scenario))
    again.extend(json.loads(json.dumps(rows)))
    simulation = simulate(playback.scenario, trace=False)
    assert is_timed_run(simulation)
    seen = []
    for index in range(1, len(playback) + 1):
        simulation.step()
        keys = {key for key, pod in simulation.framework.pods.items() if pod.meta.deletion_timestamp}
        assert shown(playback, 1, index) == shown(playback, index, index) == keys
        assert again.terminating.of(index) == playback.trail.terminating.of(index)
        seen.append(len(keys))
    assert seen[0] == 0 < max(seen)
    assert simulation.done
    assert not list(simulation.terminating)


def test_the_command_line_prints_them_as_kubectl_does() -> None:
    """In the column STATUS and in the totals."""
    simulation = simulate(
        load(FAILS.replace("scheduler: v1.37\n", "scheduler: v1.37\nuntil: 800\n")), trace=False
    )
    for _ in simulation:
        pass
    out = io.StringIO()
    assert is_timed_run(simulation)
    report_timed(simulation, out)
    lines = out.getvalue().splitlines()
    assert [line.split()[2] for line in lines if line.endswith(" worker-2")] == ["Terminating"] * 2
    assert lines[-1].endswith("2 Terminating, 1 Pending")


def test_nothing_is_sent_where_no_pod_is_terminating() -> None:
    """Frames and rows are as where no pod is ever deleted."""
    playback = played(STEADY)
    assert "terminating" not in str(steps.window(playback, 1, len(playback)))
    assert len(playback.trail.row(1)) == len(playback.trail.row(2))


def test_a_pod_of_a_dump_is_terminating_without_time_too() -> None:
    """Its deletionTimestamp was written."""
    dump = (
        "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {allocatable: {pods: '9'}}\n---\n"
        "apiVersion: v1\nkind: Pod\nmetadata: {name: old, deletionTimestamp: '2026-01-01T00:00:00Z'}\n"
        "spec: {nodeName: n1, containers: [{name: c}]}\n---\n"
        "apiVersion: v1\nkind: Pod\nmetadata: {name: new}\nspec: {containers: [{name: c}]}\n"
    )
    playback = Playback(load(dump, title="t"))
    while playback.advance(1):
        pass
    assert shown(playback, 1, 1) == {"default/old"}
