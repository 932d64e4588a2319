"""Each contract that is ready holds in a cluster and is violated in another one, which is shrunk."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scheduler_core import BundleError, Limits, load
from scheduler_core.cli.directories import read_directory
from scheduler_core.scenario.load import load_documents
from scheduler_core.studies.contracts.check import check
from scheduler_core.studies.contracts.document import read_contracts
from scheduler_core.studies.contracts.library import READY, ready_text
from scheduler_core.studies.contracts.search import CheckBounds
from scheduler_core.studies.contracts.verdict import HOLDS, UNCOUNTERED, VIOLATED, Verdict
from tests.core.contracts.ready import CASES, ReadyCase

SPREAD = "rollout-spread"
"""Has a test of its own."""
BUDGET = CheckBounds(cases=20, seconds=120, shrinking=240)


def verdict_on(name: str, cluster: str, budget: CheckBounds = BUDGET) -> Verdict:
    """Return the verdict on a ready contract in a cluster."""
    (found,) = check(load(cluster), read_contracts([(f"{name}.yaml", ready_text(name))]), budget)
    return found


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_ready_contracts_hold_where_they_should(case: ReadyCase) -> None:
    """No case of it is a counterexample."""
    assert verdict_on(case.name, case.satisfied).verdict in (HOLDS, UNCOUNTERED)


@pytest.mark.parametrize("case", [one for one in CASES if one.name != SPREAD], ids=lambda case: case.name)
def test_ready_contracts_are_violated_where_they_should(case: ReadyCase) -> None:
    """The counterexample is no larger than it was found, and its bundle is a scenario that has the step."""
    found = verdict_on(case.name, case.violated)
    shown = found.counterexample
    assert found.verdict == VIOLATED and shown is not None
    assert shown.extent.replicas <= shown.found.replicas and shown.extent.nodes <= shown.found.nodes
    assert load_documents(shown.documents).documents
    assert re.fullmatch(r"\d+\.\d+", shown.breach.step)


def test_spread_that_two_rollouts_break_is_shrunk_to_four_replicas() -> None:
    """Of six replicas (kubernetes#105661); with matchLabelKeys the contract holds (first test)."""
    case = next(one for one in CASES if one.name == SPREAD)
    shown = verdict_on(case.name, case.violated).counterexample
    assert shown is not None
    assert shown.found.replicas == 6 and shown.extent.replicas <= 4
    assert {event.split()[0] for event in shown.history} == {"rollout"}


def test_every_ready_contract_names_its_thread() -> None:
    """The annotation is the address of a public issue."""
    assert [case.name for case in CASES] == list(READY)
    for name in READY:
        assert re.search(r"https://github\.com/\S+/issues/\d+", ready_text(name))


def test_a_dump_may_lack_what_controls_its_pods(shared_folder: Path) -> None:
    """Its workloads are those that are put back from its pods; a zone has the label that its nodes have."""
    scenario = load([read_directory(str(shared_folder / "dumps" / "gke"), Limits())])
    with pytest.raises(BundleError, match=re.escape("did you mean 'failure-domain.beta.kubernetes.io/zone'")):
        list(check(scenario, read_contracts([("", ready_text("zone-loss"))])))
    text = ready_text("zone-loss").replace("topology.", "failure-domain.beta.")
    (found,) = check(scenario, read_contracts([("", text)]))
    shown = found.counterexample
    assert shown is not None and shown.breach.subject.startswith("Deployment ")
    assert 0 < shown.extent.replicas < shown.found.replicas
