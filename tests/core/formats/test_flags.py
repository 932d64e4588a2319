"""A flag file of Firmament in a bundle: what it asks for in vain is a warning by name and line."""

from __future__ import annotations

import pytest

from scheduler_core import load
from scheduler_core.formats.flags import is_flag_file, read_flags

DEPLOYED = """# Firmament with the CPU-memory cost model
--flow_scheduling_cost_model=10
--flow_scheduling_solver=cs2
--max_tasks_per_pu=50
--pod_affinity_antiaffinity_symmetry
--gather_unscheduled_tasks
--queue_based_scheduling_time=100
--nopreemption
"""
NODE = "{kind: Node, apiVersion: v1, metadata: {name: worker}, status: {allocatable: {cpu: 1, pods: 9}}}"


def warnings(flags: str) -> list[tuple[str | None, str]]:
    """Return the warnings of a bundle with a flag file."""
    found = load([("node.yaml", NODE), ("firmament.cfg", flags)]).warnings
    return [(one.file, one.message) for one in found]


def test_the_deployed_flags_are_what_is_simulated() -> None:
    """Whichever way a boolean is written."""
    assert warnings(DEPLOYED) == []
    assert warnings(DEPLOYED.replace("--nopreemption", "--preemption=false")) == []


@pytest.mark.parametrize("written", ["--preemption", "--preemption=true", "-preemption=True"])
def test_preemption_is_reported_by_name(written: str) -> None:
    """With its line, its file and the reason."""
    ((source, message),) = warnings(DEPLOYED.replace("--nopreemption", written))
    assert source == "firmament.cfg"
    assert message.startswith("line 8: preemption=") and "does not implement it" in message


def test_another_cost_model_and_unknown_flags_are_reported() -> None:
    """Unknown ones together."""
    found = [text for _, text in warnings("--flow_scheduling_cost_model=6\n--v=2\n--logtostderr")]
    model = "only the CPU-memory cost model, 10, is simulated"
    assert found == [
        f"line 1: flow_scheduling_cost_model=6 has no effect: {model}",
        "flags that the simulation does not read: v, logtostderr",
    ]


YAML = ("---\na: 1", "--- # YAML", "-a: 1", "- a", "# only a comment", "", "--a b")


@pytest.mark.parametrize("text", YAML)
def test_yaml_is_no_flag_file(text: str) -> None:
    """What is more than flags is read as before."""
    assert not is_flag_file(text)


def test_a_dash_counts_as_an_underscore() -> None:
    """As gflags has it; a flag without a value is true."""
    assert [(one.line, one.name, one.value) for one in read_flags("\n--run-it\n--a=b=c")] == [
        (2, "run_it", "true"),
        (3, "a", "b=c"),
    ]
