"""What to look at first after a paste: causes, what the dump lacks, and the same cluster from empty."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import Client

from playground.panels.triage import triage
from playground.playback.playback import Playback
from scheduler_core import load
from scheduler_core.compare.again import moves, taken_off
from scheduler_core.scenario.dump_kinds import DUMP_COMMAND, DUMP_ROWS
from tests.parts import REPOSITORY

NODE = """
apiVersion: v1
kind: Node
metadata: {name: n1, uid: u-n1}
status: {allocatable: {cpu: "2", memory: 4Gi, pods: "10"}, nodeInfo: {kubeletVersion: v1.31.0}}
"""


def pod(name: str, more: str, cpu: str = "1") -> str:
    """Return a pod's manifest with one container."""
    return f"""---
apiVersion: v1
kind: Pod
metadata: {{name: {name}, uid: u-{name}}}
spec: {{{more}containers: [{{name: c, image: i, resources: {{requests: {{cpu: "{cpu}"}}}}}}]}}
"""


CLUSTER = (
    NODE
    + pod("runs", "nodeName: n1, ")
    + pod("fits", "")
    + pod("big-1", "", "8")
    + pod("big-2", "", "9")
    + pod("gated", "schedulingGates: [{name: a}], ")
    + pod("foreign", "schedulerName: other, ")
)


def played(text: str) -> Playback:
    """Return a bundle, played to its end."""
    playback = Playback(load(text))
    while playback.advance(1):
        pass
    return playback


def test_pending_pods_are_grouped_by_their_last_message() -> None:
    """Messages that differ in numbers are one cause, and pods that were never tried say why."""
    found = triage(played(CLUSTER), lambda: False)
    assert (found["waiting"], found["pending"]) == (5, 4)
    first, *others = found["causes"]
    assert first["count"] == 2 and first["pods"] == ["default/big-1", "default/big-2"]
    assert first["message"].startswith("0/1 nodes are available: 1 Insufficient cpu")
    assert sorted(cause["message"] for cause in others) == [
        "not tried: no scheduler here has the schedulerName other",
        "not tried: spec.schedulingGates keeps it out of the queue",
    ]


def test_the_rows_of_a_dump_count_what_it_has() -> None:
    """A gap is a row of zeros with what it weakens; what is no dump has no rows."""
    rows = {row["title"]: row for row in triage(played(CLUSTER), lambda: False)["dump"]}
    assert rows["Nodes and pods"]["kinds"] == {"Node": 1, "Pod": 6}
    assert rows["Nodes and pods"]["partly"] == ""
    assert not any(rows["Workloads"]["kinds"].values()) and rows["Workloads"]["weakens"]
    assert triage(played(CLUSTER.replace(", uid: u-n1", "")), lambda: False)["dump"] == []


def test_a_dump_without_running_pods_says_so() -> None:
    """Its nodes count as empty, which weakens every answer; finished pods take nothing, and do not count."""
    done = pod("done", "nodeName: n1, ") + "status: {phase: Succeeded}\n"
    first, *others = triage(played(NODE + pod("fits", "") + done), lambda: False)["dump"]
    assert first["kinds"] == {"Node": 1, "Pod": 1} and first["partly"].startswith("no pod runs on a node")
    assert not any(row["partly"] for row in others)


def test_replaying_from_empty_unbinds_all_but_daemons() -> None:
    """Pods of DaemonSets, static and finished pods stay on their nodes."""
    owned = CLUSTER + pod("agent", "nodeName: n1, ").replace(
        "uid: u-agent", "uid: u-agent, ownerReferences: [{kind: DaemonSet, name: a, uid: d}]"
    )
    done = pod("done", "nodeName: n1, ") + "status: {phase: Succeeded}\n"
    documents = load(owned + done).documents
    made, count = list(taken_off(documents)), sum(map(moves, documents))
    assert count == 1
    bound = {one["metadata"]["name"] for one in made if one.get("spec", {}).get("nodeName")}
    assert bound == {"agent", "done"}


@pytest.mark.parametrize("path", ["README.md", "docs/controllers.md"])
def test_documents_have_the_one_command(path: str) -> None:
    """Pages and documents show the command that gets every kind of the table."""
    assert DUMP_COMMAND in Path(REPOSITORY / path).read_text(encoding="utf-8")
    assert all(name in DUMP_COMMAND for row in DUMP_ROWS for name in row.kinds.values())


@pytest.mark.django_db
@pytest.mark.parametrize("address", ["/", "/api/"])
def test_pages_have_the_one_command(client: Client, address: str) -> None:
    """The start page and the page of the API show it, escaped."""
    assert DUMP_COMMAND.replace(">", "&gt;") in client.get(address).content.decode()
