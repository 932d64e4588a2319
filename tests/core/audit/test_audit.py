"""What an audit promises whatever the cluster: bounds, what is left out by name, links that show the row."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from scheduler_core import Scenario, load, simulate
from scheduler_core.__main__ import main
from scheduler_core.authoring.examples import find
from scheduler_core.compare.plane import living
from scheduler_core.kubernetes.plain import plain
from scheduler_core.run import Stepper
from scheduler_core.scenario.history_entries import with_entries
from scheduler_core.scenario.load import load_documents
from scheduler_core.studies.audit import drains
from scheduler_core.studies.audit.allowance import AuditBounds
from scheduler_core.studies.audit.audit import SUBJECTS, audit
from scheduler_core.studies.audit.capacity import of_pod
from scheduler_core.studies.audit.cluster import AuditedCluster
from scheduler_core.studies.audit.policies import MOST_ALLOCATED, documents_again
from scheduler_core.studies.audit.row import Opening
from scheduler_core.studies.audit.sample import NoPodError, chosen, sample
from tests.conformance.random_records import Dice
from tests.core.audit.clusters import (
    Document,
    audited,
    budget,
    cluster,
    node,
    pod,
    reported,
    spread,
    workload,
)

NO_UNAVAILABLE = {"strategy": {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}}
FULL = (node("n1"), node("n2"), workload("web", 8, more=NO_UNAVAILABLE))
CROWDED = (node("n1"), node("n2"), workload("web", 6), budget("web", "web", minAvailable=4))


def example(slug: str) -> Scenario:
    """Return an example's scenario."""
    found = find(slug)
    assert found is not None
    return found.load()


def branch_of(scenario: Scenario, opening: Opening) -> Stepper:
    """Return the run of the branch that a row opens, from its start."""
    played = AuditedCluster(scenario)
    entries = played.entries(opening.verb, opening.targets, opening.value)
    return simulate(living(load_documents(with_entries(scenario.documents, entries))), trace=False)


@pytest.mark.parametrize(
    ("subject", "documents"), [("n+1", CROWDED), ("drains", CROWDED), ("rollouts", FULL)]
)
def test_a_row_opens_the_branch_at_the_cycle_that_decided(
    subject: str, documents: Sequence[Document]
) -> None:
    """The step of a row about a pod without a place is that pod's, and finds no node for it."""
    scenario = cluster(*documents)
    opened = 0
    for row in audited(scenario, subject):
        if row.verdict == "risk" and row.opens is not None and row.opens.pod:
            cycle = next(one for one in branch_of(scenario, row.opens) if one.step == row.opens.step)
            assert (cycle.pod, cycle.decision.result) == (row.opens.pod, "unschedulable")
            opened += 1
    assert opened


@pytest.mark.parametrize("seed", range(4))
def test_as_many_fit_as_scaling_places(seed: int) -> None:
    """A workload scaled up by what capacity counts is placed as a whole, and by one more it is not."""
    dice = Dice(seed)
    nodes = [node(f"n{number}", dice.choice((2, 3, 5)), dice.choice("ab")) for number in range(3)]
    about: Document = dice.choice(({}, {"topologySpreadConstraints": spread("web")}))
    documents = (
        *nodes,
        workload("web", 2, dice.choice(("500m", "700m", "1")), **about),
        workload("other", 2, "300m"),
    )
    played = AuditedCluster(cluster(*documents))
    row = next(row for row in audited(played.scenario, "capacity") if "Deployment default/web" in row.about)
    assert row.opens is not None
    wanted = int(row.opens.value)
    for replicas, pending in ((wanted - 1, 0), (wanted, 1)):
        case = played.case("scale", row.opens.targets, str(replicas))
        assert len(played.homeless(case)) == pending


def test_without_seconds_every_subject_names_what_it_leaves_out() -> None:
    """Nothing is played, and nothing is passed over in silence."""
    rows = audited(cluster(*CROWDED, pod("big", "99")), bounds=AuditBounds(0.0))
    left = {row.subject for row in rows if row.sentence.startswith("Left out")}
    assert left >= {"pending", "n+1", "drains", "rollouts", "capacity", "policy and release", "packing"}
    named = next(row.sentence for row in rows if row.subject == "n+1")
    assert named.endswith("node n1.") or "node n1" in named


def test_cases_are_bounded() -> None:
    """Of more nodes than cases the others are named."""
    rows = audited(
        cluster(node("n1", 4), node("n2", 5), workload("web", 3)), "n+1", bounds=AuditBounds(60.0, 1)
    )
    assert "Left out, as the seconds did not suffice (not played): node n2." in {row.sentence for row in rows}


def test_a_watch_ends_an_audit() -> None:
    """Whoever raises in the callback gets the exception, after the rows that there are."""
    heard: list[str] = []

    def watch(subject: str, _done: int, _of: int) -> None:
        heard.append(subject)
        if subject == "drains":
            raise KeyboardInterrupt

    rows = audit(cluster(*CROWDED), watch=watch)
    assert next(rows).subject == "pending"
    with pytest.raises(KeyboardInterrupt):
        list(rows)
    assert heard[0] == "pending"


def test_a_release_without_controllers_is_answered_under_the_default_one() -> None:
    """Under v1.11 pending pods are v1.11's; cases are played under v1.37, which rows and branches name."""
    text = "---\napiVersion: podstep/v1\nkind: SimulationSettings\nscheduler: v1.11\n"
    rows = audited(load(cluster(node("n1"), pod("big", "9")).to_yaml() + text), "pending", "n+1", "capacity")
    assert {(row.subject, row.under) for row in rows} == {
        ("pending", ""),
        ("n+1", "v1.37"),
        ("capacity", "v1.37"),
    }
    commands = [row.opens.command for row in rows if row.under and row.opens is not None]
    assert commands and all(one.startswith("--scheduler v1.37 --") for one in commands)


def test_cronjobs_do_not_keep_a_case_from_ending() -> None:
    """A pod a minute waits for the drained node: after an hour that is said, with what was assumed."""
    template = {"spec": pod("", "1")["spec"] | {"restartPolicy": "Never"}}
    cron = {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": "tick"},
        "spec": {"schedule": "*/5 * * * *", "jobTemplate": {"spec": {"template": template}}},
    }
    rows = audited(cluster(node("n1"), cron), "dump", "drains")
    assert reported(rows) == [
        ("note", "CronJobs begin Jobs for ever: cases are played for 60 minutes."),
        ("risk", "Node n1 can be drained, but 12 pods find no other place."),
    ]


def test_a_scenario_with_operations_is_audited_after_them() -> None:
    """Once its own operations have taken a zone away, five cores are free on each of two nodes."""
    rows = audited(example("zone-lost"), "capacity")
    assert reported(rows)[0] == ("ok", "10 more pods like those of Deployment default/web fit.")


def test_another_strategy_places_otherwise() -> None:
    """MostAllocated packs two pods that the default spreads; the branch is that bundle."""
    scenario = cluster(node("n1"), node("n2"), pod("a", "2"), pod("b", "1"))
    row = next(row for row in audited(scenario, "policy and release") if MOST_ALLOCATED in row.sentence)
    assert row.sentence == "MostAllocated places 1 pod otherwise than v1.37; first default/b, in cycle 2."
    assert row.opens is not None
    run = simulate(load_documents(documents_again(scenario, row.opens.value)), trace=False)
    assert [cycle.step for cycle in run if cycle.pod == row.opens.pod] == [row.opens.step]
    assert len(set(run.placement().values())) == 1


def test_the_descheduler_would_evict_duplicates() -> None:
    """Of four replicas on the one of two nodes that there was, two are one too many each."""
    rows = audited(example("descheduler-duplicates"), "descheduler")
    assert reported(rows) == [("note", "The descheduler would evict 2 pods, by the bundle's policy.")]


def test_a_given_pod_is_counted_with_the_nodes_to_add() -> None:
    """Six fit on two nodes of four cores beside two; for ten more one node of the same shape is needed."""
    played = AuditedCluster(cluster(node("n1"), node("n2"), workload("web", 2)))
    row = of_pod(played, sample(played, pod("batch", "1")), 10)
    assert (row.verdict, row.sentence) == ("risk", "6 more pods like default/batch fit.")
    assert "a node like n1 (cpu 4, memory 64Gi): 1 more node" in row.evidence
    assert of_pod(played, sample(played, workload("batch", 5, "2"))).sentence.startswith("2 more")


def test_a_file_without_a_pod_is_refused() -> None:
    """The message says what is there and what is expected."""
    with pytest.raises(NoPodError, match=r"a Pod or a Deployment.*not Node"):
        chosen([node("n1")])


@pytest.mark.parametrize(
    ("documents", "status"), [(CROWDED, 1), ((node("n1"), node("n2"), workload("web", 2)), 0)]
)
def test_the_command_says_whether_anything_is_at_risk(
    documents: Sequence[Document], status: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit 1 at risk, 0 if not; text, JSON and Markdown have the same rows."""
    file = tmp_path / "cluster.yaml"
    file.write_text(cluster(*documents).to_yaml())
    arguments = ["audit", str(file), "--subject", "n+1", "--subject", "drains"]
    assert main(arguments) == status
    text = capsys.readouterr().out
    assert main([*arguments, "--output", "json"]) == status
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert main([*arguments, "--output", "markdown"]) == status
    markdown = capsys.readouterr().out
    assert all(row["sentence"] in text and row["sentence"] in markdown for row in rows)
    assert ("at risk: " in text) == bool(status)


def test_capacity_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A pod of a file, as many as wanted: exit 1 with the nodes to add; bad input is exit 2."""
    file, wanted = tmp_path / "cluster.yaml", tmp_path / "pod.yaml"
    file.write_text(cluster(node("n1"), workload("web", 2)).to_yaml())
    wanted.write_text(cluster(node("x"), pod("batch", "1")).to_yaml())
    assert main(["capacity", str(file), "--pod", str(wanted), "--replicas", "4"]) == 1
    assert "a node like n1 (cpu 4, memory 64Gi): 1 more node" in capsys.readouterr().out
    assert main(["capacity", str(file)]) == 0
    assert main(["capacity", str(file), "--pod", str(file)]) == 0
    capsys.readouterr()
    assert main(["capacity", str(file), "--replicas", "4"]) == 2
    assert "--replicas needs --pod" in capsys.readouterr().err
    wanted.write_text("apiVersion: v1\nkind: Service\nmetadata: {name: s}\n")
    assert main(["capacity", str(file), "--pod", str(wanted)]) == 2


DUMPS = {
    "gke": ("dumps/gke/*.yaml", "5 nodes can be drained, one at a time: every pod finds another place."),
    "pending": (
        "dumps/pending/*.json",
        "6 nodes can be lost, one at a time: every pod finds another place.",
    ),
}


@pytest.mark.parametrize("name", DUMPS)
def test_real_dumps_are_audited(name: str, shared_folder: Path) -> None:
    """Every subject answers, what the dump lacks is said, and each row is JSON."""
    pattern, sentence = DUMPS[name]
    scenario = load([(str(file), file.read_bytes()) for file in sorted(shared_folder.glob(pattern))])
    rows = audited(scenario)
    assert {row.subject for row in rows} == SUBJECTS.keys()
    assert sentence in {row.sentence for row in rows}
    lacks = next(row for row in rows if row.sentence == "The dump lacks what some answers need.")
    assert any("Disruption budgets" in text for text in lacks.evidence)
    assert len(json.dumps(plain(rows))) < 100_000


@pytest.mark.parametrize(
    ("good", "expected"),
    [
        ((), "There is no order in which all nodes can be drained one after the other, each within 2m."),
        (("n3", "n1"), "All nodes can be drained one after the other, in this order: n3, n1, n2, n4."),
    ],
    ids=["none", "one"],
)
def test_all_orders_of_a_few_nodes_are_played(
    good: tuple[str, ...], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each begins with the node that is left, unless it begins as the good ones do: once each."""
    tried: list[tuple[str, ...]] = []

    def left(_: object, order: Sequence[str]) -> list[str] | None:
        tried.append(tuple(order))
        return None if good and tuple(order[:2]) == good else [order[1]]

    monkeypatch.setattr(drains, "_left", left)
    scenario = cluster(*(node(f"n{number}", cpu=number) for number in range(1, 5)))
    assert audited(scenario, "drains")[-1].sentence == expected
    assert len({order[:2] for order in tried}) == len(tried) <= 4 * 3
