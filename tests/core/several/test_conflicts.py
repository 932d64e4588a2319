"""The kinds of conflict that the shipped examples show: who is misled, who notices, and what comes of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scheduler_core import load
from scheduler_core.__main__ import main
from scheduler_core.authoring.examples import find
from scheduler_core.record.several import ViewRecord
from scheduler_core.run import simulate
from scheduler_core.run.several.simulation import SeveralSimulation
from scheduler_core.run.simulation import TimedSimulation
from scheduler_core.run.v1_37.record import release_record

DOCUMENT = Path("docs/several-schedulers.md").read_text(encoding="utf-8")
NAMES = re.findall(r"^\| \d+ \| [^|]+ \| `([\w-]+)` \|", DOCUMENT, re.MULTILINE)


def ended(slug: str) -> TimedSimulation:
    """Return a shipped example that has run to its end."""
    example = find(slug)
    assert example is not None
    made = simulate(example.load())
    assert isinstance(made, TimedSimulation)
    assert list(made)
    return made


def views(slug: str) -> SeveralSimulation:
    """Return a shipped example whose schedulers have views, at its end."""
    made = ended(slug)
    assert isinstance(made, SeveralSimulation)
    return made


def test_the_document_has_all_ten() -> None:
    """Each with an example of its own."""
    assert len(NAMES) == len(set(NAMES)) == 10
    assert all(find(name) is not None for name in NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_the_command_shows_it(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The command that the document names prints the pods; every bundle names its release or has none."""
    assert main(["simulate", f"scheduler_core/authoring/examples/{name}.yaml"]) == 0
    out = capsys.readouterr().out
    assert "Error" in out or name in (
        "kube-batch-crossfire",
        "kube-batch-neighbours",
        "kube-batch-unserved",
        "two-replicas",
    )


@pytest.mark.parametrize("name", NAMES)
def test_each_has_a_lane_for_every_scheduler(name: str) -> None:
    """So that the stage shows what each believes, and the window in which room is given away twice."""
    made = views(name)
    listed = [one.name for one in made.scenario.settings.schedulers]
    assert listed
    assert all(peer.listed for peer in made.peers if peer.view.of.name in listed)
    assert all(peer.view.of.watch_delay for peer in made.peers if peer.listed)


def test_a_stale_view_is_noticed_by_the_kubelet_alone() -> None:
    """Side by side it refuses a pod; with an arbiter the same decision is sent back before."""
    side, arbitrated = views("stale-views"), views("arbitrated-commit")
    noticed = [one.noticed for one in side.ledger.outcomes]
    assert (noticed.count("kubelet"), noticed.count("arbiter")) == (1, 0)
    noticed = [one.noticed for one in arbitrated.ledger.outcomes]
    assert (noticed.count("kubelet"), noticed.count("arbiter")) == (0, 1)
    names = {pod.meta.name for pod in arbitrated.framework.pods.values()}
    assert len(names) == 7  # no replacement was needed


def test_of_two_replicas_one_is_reported_of_every_conflict_by_the_api_server() -> None:
    """Each pod is bound once, and what the loser assumed is forgotten."""
    made = views("two-replicas")
    assert [one.noticed for one in made.ledger.outcomes] == ["apiServer"] * 4
    assert {one.scheduler for one in made.ledger.outcomes} == {"default-scheduler #2"}
    for peer in made.peers:
        assert {key: state.node_name for key, state in peer.view.cluster.pods.items()} == made.placement()


def test_what_is_released_late_is_refused_until_it_is_released() -> None:
    """Each refusal falls within 2 s of the end of the pod before."""
    made = ended("late-release")
    pods = made.framework.pods.values()
    assert sorted(pod.phase for pod in pods) == ["Failed"] * 3 + ["Succeeded"] * 4
    text = find("late-release")
    assert text is not None
    bundle = text.read().replace('podstep/release-seconds: "2"', "other: there")
    prompt = simulate(load(bundle))
    assert list(prompt)
    assert isinstance(prompt, TimedSimulation)
    assert {pod.phase for pod in prompt.framework.pods.values()} == {"Succeeded"}


def test_four_schedulers_decide_by_their_own_releases_on_their_own_views() -> None:
    """Each cycle has the record of what decided it; a pod of v1.11 and one of the gang are refused."""
    example = find("four-schedulers")
    assert example is not None
    made = simulate(example.load())
    assert isinstance(made, SeveralSimulation)
    cycles = list(made)
    runs = {lane.scheduler: lane.runs for lane in cycles[-1].view.lanes}
    assert runs == {
        "default-scheduler": "v1.37",
        "legacy": "v1.11",
        "gang-scheduler": "v1.22",
        "kube-batch": "kube-batch",
    }
    for cycle in cycles:
        assert isinstance(cycle.view, ViewRecord)
        assert (release_record(cycle) is not None) == (runs[cycle.view.scheduler] == "v1.37")
    refused = [one for one in made.ledger.outcomes if one.noticed == "kubelet"]
    assert {one.scheduler for one in refused} == {"legacy", "gang-scheduler"}
    assert any("default/reports-" in one.pod for one in refused)
    (replacement,) = {one.pod for one in cycles if "ledger" in one.pod and one.result == "unschedulable"}
    again = [cycle.time for cycle in cycles if cycle.pod == replacement]
    assert len(again) == 4  # as it is made, then at the three moments at which pods end
    assert made.placement()[replacement] == "worker-1"
