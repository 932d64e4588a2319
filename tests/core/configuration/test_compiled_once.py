"""A scenario's configuration is compiled when it is read, and never again by whatever runs it."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from msgspec.structs import replace

from scheduler_core import load
from scheduler_core.__main__ import main
from scheduler_core.run import simulate
from scheduler_core.settings.settings import Settings
from tests.core.configuration.compile_counts import compilations

NODE = "---\napiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {allocatable: {cpu: '4', pods: '9'}}\n"
POD = (
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\n"
    "spec:\n  overhead: {cpu: 250m}\n  containers: [{name: c, image: i}]\n"
)
POLICY = "---\napiVersion: v1\nkind: Policy\npriorities: [{name: EqualPriority, weight: 2}]\n"
CONFIGURATION = (
    "---\napiVersion: kubescheduler.config.k8s.io/v1beta3\nkind: KubeSchedulerConfiguration\n"
    "profiles: [{schedulerName: default-scheduler}, {schedulerName: other}]\n"
)
SETTINGS = "---\napiVersion: podstep/v1\nkind: SimulationSettings\ntime: virtual\n"
LATER = """---
kind: Scenario
spec:
  operations:
  - step: 2
    createOperation:
      object: {kind: Policy, priorities: [{name: EqualPriority, weight: 3}]}
"""
RESTART = """---
kind: Scenario
spec:
  operations:
  - step: 2
    createOperation:
      object: {kind: SimulationSettings, quirks: fixed}
"""
TEXTS = {
    "policy": (POLICY, 1),
    "virtual": (POLICY + SETTINGS, 1),
    "configuration": (CONFIGURATION, 1),
    "restarted configuration": (CONFIGURATION + RESTART, 2),
    "restarted": (LATER, 1),
}


@pytest.mark.parametrize("name", TEXTS)
def test_each_configuration_is_compiled_once(name: str) -> None:
    """By loading, which validates it; the simulation and its forks use the result."""
    text, times = TEXTS[name]
    with compilations() as seen:
        scenario = load(NODE + POD + text)
        assert len(seen) == times
        simulation = simulate(scenario, quirk_effects=False)
        simulation.fork(trace=False)
        assert list(simulation)
        assert len(seen) == times


@pytest.mark.parametrize("name", TEXTS)
def test_the_command_line_compiles_no_more(name: str, tmp_path: Path) -> None:
    """Its options change nothing here."""
    path = tmp_path / "bundle.yaml"
    path.write_text(NODE + POD + TEXTS[name][0])
    with compilations() as seen:
        assert main(["simulate", str(path)]) == 0
    assert len(seen) == TEXTS[name][1]


def test_other_settings_compile_anew() -> None:
    """What was compiled belongs to the settings it was compiled with."""
    scenario = load(NODE + POD + POLICY)
    with compilations() as seen:
        proposal = scenario.under(scenario.policy, Settings(predicate_order="proposal"))
        assert proposal.configuration.profile.order != scenario.configuration.profile.order
        assert len(seen) == 1
        assert replace(scenario, policy=None).configuration.profile.priorities[0].weight == 1
        assert len(seen) == 1


def test_another_process_compiles_again() -> None:
    """A scenario is sent without what was compiled, which compares by identity."""
    scenario = load(NODE + POD + POLICY)
    bare = replace(scenario, title="", policy=scenario.policy)
    sent = pickle.dumps(scenario)
    assert len(sent) == len(pickle.dumps(bare))
    again = pickle.loads(sent)
    with compilations() as seen:
        assert again.configuration.profile.summary() == scenario.configuration.profile.summary()
    assert seen == ["Policy"]
