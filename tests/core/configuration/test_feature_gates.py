"""``featureGates`` in SimulationSettings: what v1.37 refuses or leaves out is named, with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from scheduler_core import BundleError, load
from scheduler_core.__main__ import main
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.schedulers.v1_37.unsupported_features import GATES
from scheduler_core.settings.feature_gates import DEFAULTS, SIMULATED, parse_gates
from tests.core.v1_37.parts import GANG

NODE = "---\napiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {allocatable: {cpu: 4, pods: 9}}\n"


def settings(gates: str, release: str = "v1.37") -> str:
    """Return a bundle with a node and these gates, which stand on line 4."""
    head = f"apiVersion: podstep/v1\nkind: SimulationSettings\nscheduler: {release}\n"
    return f"{head}featureGates: {gates}\n{NODE}"


def warnings(scenario: Scenario) -> list[str]:
    """Return the texts of the warnings."""
    return [problem.message for problem in scenario.warnings]


@pytest.mark.parametrize(
    ("gates", "path", "part"),
    [
        ("{GenericWorkloads: true}", "featureGates.GenericWorkloads", "did you mean 'GenericWorkload'?"),
        ("{GenericWorkload: yes please}", "featureGates.GenericWorkload", "must be true or false"),
        ("[GenericWorkload]", "featureGates", "must be a map of gates, such as GenericWorkload: true"),
        (
            "{TopologyAwareWorkloadScheduling: true}",
            "featureGates.TopologyAwareWorkloadScheduling",
            "needs GenericWorkload: write GenericWorkload: true beside it",
        ),
        (
            "{DynamicResourceAllocation: false}",
            "featureGates.DynamicResourceAllocation",
            "is locked to true in v1.37: remove it",
        ),
    ],
)
def test_a_gate_that_v1_37_refuses_is_an_error_on_its_line(gates: str, path: str, part: str) -> None:
    """As kube-scheduler does not start with it; the text says what to write."""
    with pytest.raises(BundleError) as caught:
        load(settings(gates))
    (problem,) = caught.value.problems
    assert (problem.line, problem.path) == (4, path)
    assert part in problem.message


@pytest.mark.parametrize(
    ("gate", "on", "default"),
    [("PodLevelResources", False, "on"), ("SchedulerAsyncAPICalls", True, "off")]
    + [(gate, True, "off") for gate in GATES],
)
def test_a_gate_that_is_not_implemented_is_named(gate: str, on: bool, default: str) -> None:
    """Decisions are those of its default, and a warning says so."""
    word = str(on).lower()
    (reported,) = warnings(load(settings(f"{{{gate}: {word}, GenericWorkload: true}}")))
    left = f"featureGates.{gate}: {word} is not implemented: decisions are those with it {default}"
    assert reported == f"kube-scheduler v1.37: {left}"


def test_gates_that_are_simulated_or_keep_their_default_are_silent() -> None:
    """Nothing differs from what was asked for."""
    gates = {**dict.fromkeys(SIMULATED, True), "PodLevelResources": True, "SchedulerAsyncAPICalls": False}
    listed = ", ".join(f"{gate}: {str(on).lower()}" for gate, on in gates.items())
    scenario = load(settings(f"{{{listed}}}"))
    assert dict(scenario.settings.feature_gates) == gates
    assert warnings(scenario) == []
    assert set(SIMULATED) | set(GATES) <= DEFAULTS.keys()


def test_another_components_gate_and_another_release_are_warned_about() -> None:
    """Neither changes a decision; both are named."""
    (reported,) = warnings(load(settings("{KubeletCrashLoopBackOffMax: true}")))
    assert (
        reported
        == "'KubeletCrashLoopBackOffMax' is no feature gate of kube-scheduler v1.37: it has no effect"
    )
    scenario = load(settings("{GenericWorkload: true}", "v1.11"))
    (problem,) = scenario.warnings
    assert (problem.line, problem.path) == (4, "featureGates")
    assert problem.message == "kube-scheduler v1.11 has no such feature gates here: write scheduler: v1.37"


def test_the_command_lines_gates_are_over_the_bundles(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In kube-scheduler's own notation; a mistake ends the command with status 2."""
    file = tmp_path / "gang.yaml"
    file.write_text(GANG)
    assert main(["simulate", str(file), "--feature-gates", "GenericWorkload=false"]) == 0
    out = capsys.readouterr()
    assert "PodGroup default/train:" not in out.out
    assert "write featureGates: {GenericWorkload: true} into the SimulationSettings" in out.err
    file.write_text(GANG.replace("featureGates: {GenericWorkload: true}\n", ""))
    assert main(["simulate", str(file), "--feature-gates", "GenericWorkload=true"]) == 0
    assert "PodGroup default/train: PodGroupInitiallyScheduled=True Scheduled\n" in capsys.readouterr().out
    assert main(["explain", str(file), "--pod", "w-1", "--feature-gates", "GenericWorkload=true"]) == 0
    assert "with 2 more pods of PodGroup default/train." in capsys.readouterr().out
    assert main(["simulate", str(file), "--feature-gates", "GenericWorklod=true"]) == 2
    assert "did you mean 'GenericWorkload'?" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["simulate", str(file), "--feature-gates", "GenericWorkload"])
    assert parse_gates(" A=true, B=False,") == {"A": True, "B": False}
