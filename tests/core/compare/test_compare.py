"""Two policies on one cluster: where they part, what differs in the end, and the command that tells it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from scheduler_core.__main__ import main
from scheduler_core.compare.compare import PLACEMENTS_SHOWN, PolicyComparison, compare
from scheduler_core.run.v1_37.simulation import V1_37Simulation
from scheduler_core.scenario.load import load_documents
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.schedulers.rule_history import history_of
from scheduler_core.settings.settings import Settings
from tests.core.engine.builders import Manifest, node, operation, pod, scenario

ZONE = "failure-domain.beta.kubernetes.io/zone"
FIT = [{"name": "GeneralPredicates"}, {"name": "PodToleratesNodeTaints"}]


def policy(*priorities: str, predicates: list[dict[str, Any]] | None = None, weight: int = 1) -> Manifest:
    """Make a Policy with these priorities."""
    listed = [{"name": name, "weight": weight} for name in priorities]
    shown = FIT if predicates is None else predicates
    return {"apiVersion": "v1", "kind": "Policy", "predicates": shown, "priorities": listed}


LEAST = policy("LeastRequestedPriority")
MOST = policy("MostRequestedPriority")


def cluster() -> list[Manifest]:
    """Make two equal nodes in two zones, one half full, and four small pods."""
    return [
        node("empty", labels={ZONE: "a"}),
        node("half", labels={ZONE: "b"}),
        pod("there", {"cpu": "2", "memory": "4Gi"}, on="half"),
        *(pod(f"web-{n}", {"cpu": "250m", "memory": "512Mi"}) for n in range(4)),
    ]


def under(cluster: Scenario, policy_a: Manifest, policy_b: Manifest) -> PolicyComparison:
    """Compare two policies on one cluster."""
    return compare(replace(cluster, policy=policy_a), replace(cluster, policy=policy_b))


@pytest.mark.parametrize(
    ("labels", "zone"),
    [
        ({ZONE: "a"}, "a"),
        ({"topology.kubernetes.io/zone": "b"}, "b"),
        ({"topology.kubernetes.io/region": "r", "topology.kubernetes.io/zone": "b"}, "r/b"),
        ({ZONE: "a", "topology.kubernetes.io/zone": "b"}, "a"),
    ],
)
def test_zones_are_those_of_labels_old_and_new(labels: dict[str, str], zone: str) -> None:
    """Today's clusters have the newer labels alone; the older ones count where a node has both."""
    made = scenario(node("n", labels=labels), pod("there", {"cpu": "2"}, on="n"))
    assert compare(made, made).a.zones == {zone: 1}


def test_spreading_and_packing_part_at_the_first_pod() -> None:
    """LeastRequested takes the empty node and MostRequested the fuller one, and the metrics show it."""
    result = under(scenario(*cluster()), LEAST, MOST)
    assert result.configuration == (
        "priority LeastRequestedPriority: weight 1 under A, none under B",
        "priority MostRequestedPriority: weight none under A, 1 under B",
    )
    assert result.first is not None and result.first is result.decision
    assert (result.first.index, result.first.what) == (1, ("score", "choice"))
    assert "default/web-0: to empty under A, to half under B" in result.first.details
    assert result.differing == 4
    assert set(result.placements.values()) == {("empty", "half")}
    assert (result.a.nodes_used, result.b.nodes_used) == (2, 1)
    assert (result.a.zones, result.b.zones) == ({"a": 4, "b": 1}, {"a": 0, "b": 5})
    assert (result.a.spread, result.b.spread) == (3, 5)
    assert result.a.utilisation == result.b.utilisation
    assert result.a.utilisation["cpu"] == pytest.approx(3 / 8)
    assert result.a.deviation < result.b.deviation


def test_a_policy_equals_itself() -> None:
    """Nothing differs between a policy and itself, cycle by cycle."""
    result = under(scenario(*cluster()), LEAST, LEAST)
    assert result.same and result.first is None
    assert (result.configuration, result.differing) == ((), 0)
    assert result.a == result.b


def test_a_weight_alone_changes_totals_and_no_choice() -> None:
    """Twice the weight of the only priority is a different score and the same decision."""
    result = under(scenario(*cluster()), LEAST, policy("LeastRequestedPriority", weight=2))
    assert result.same
    assert result.first is not None and result.first.what == ("score",)
    assert result.differing == 0


def test_a_predicate_that_one_policy_lacks_is_named() -> None:
    """The node that fits without a predicate is reported with the other policy's reason."""
    blind = policy("LeastRequestedPriority", predicates=[{"name": "GeneralPredicates"}])
    result = under(scenario(node("a", taints=["gpu=1:NoSchedule"]), pod("p")), LEAST, blind)
    assert result.configuration == ("predicates of A alone: PodToleratesNodeTaints",)
    assert result.first is not None
    assert result.first.details == (
        "a fits under B; under A: PodToleratesNodeTaints: node(s) had taints that the pod didn't tolerate",
        "default/p: unschedulable under A, to a under B",
    )
    assert (result.a.pending, result.b.pending) == (1, 0)


def test_another_order_of_predicates_is_reported_and_counted() -> None:
    """The order changes no placement, but what was evaluated: the cheap sieve first saves the rest."""
    ordered = [{"name": "GeneralPredicates", "order": 2}, {"name": "PodToleratesNodeTaints", "order": 1}]
    objects = [node("a", taints=["gpu=1:NoSchedule"]), node("b"), pod("p", {"cpu": "1"})]
    other = policy("LeastRequestedPriority", predicates=ordered)
    result = under(scenario(*objects), LEAST, other)
    assert "the order of the predicates differs" in result.configuration
    assert result.same
    assert result.a.work.evaluations > result.b.work.evaluations


def test_pods_that_the_scenario_deleted_count_with_their_last_node() -> None:
    """Where a pod ran is compared even if nothing is left of it in the end."""
    first = scenario(*cluster())
    gone = tuple(operation(1, "delete", pod(f"web-{n}")) for n in range(4))
    result = under(replace(first, operations=gone), LEAST, MOST)
    assert (result.a.placed, result.b.placed) == (1, 1)
    assert set(result.placements.values()) == {("empty", "half")} and result.differing == 4
    assert (result.a.nodes_used, result.b.nodes_used) == (1, 1)
    assert (result.a.work.most_nodes, result.b.work.most_nodes) == (2, 1)
    assert result.a.mean_utilisation["cpu"] == pytest.approx((2.25 + 2.5 + 2.75 + 3) / 4 / 8, abs=1e-3)
    assert result.a.utilisation["cpu"] == pytest.approx(2 / 8)


def test_a_preemption_under_one_policy_alone() -> None:
    """A victim is nowhere under the policy that preempts it, and both runs are counted to their ends."""
    small = {"cpu": "1", "memory": "1Gi", "pods": "10"}
    objects = [
        node("n", allocatable=small),
        pod("low", {"cpu": "1"}, on="n"),
        pod("high", {"cpu": "1"}, priority=5),
    ]
    blind = policy("LeastRequestedPriority", predicates=[{"name": "PodToleratesNodeTaints"}])
    result = under(scenario(*objects), LEAST, blind)
    assert result.decision is not None
    assert "preemption: default/low on n under A, none under B" in result.decision.details
    assert result.placements == {"default/low": ("", "n")}
    assert (result.a.work.cycles, result.b.work.cycles) == (2, 1)
    assert (result.a.work.preemptions, result.a.work.victims) == (1, 1)


def test_only_so_many_placements_are_listed() -> None:
    """The number of differing pods is exact where the list is cut off."""
    small = {"cpu": "100", "memory": "100Gi", "pods": "2000"}
    pods = [pod(f"p-{n:04}", {"cpu": "1m", "memory": "1Mi"}) for n in range(PLACEMENTS_SHOWN + 5)]
    objects = [
        node("a", allocatable=small),
        node("b", allocatable=small),
        pod("x", {"cpu": "60"}, on="b"),
        *pods,
    ]
    result = under(scenario(*objects), LEAST, MOST)
    assert result.differing == PLACEMENTS_SHOWN + 5
    assert len(result.placements) == PLACEMENTS_SHOWN


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    """Write the cluster and the two policies; names to paths."""
    bundle = {"apiVersion": "v1", "kind": "List", "items": cluster()}
    contents = {
        "BUNDLE": bundle,
        "LEAST": LEAST,
        "MOST": MOST,
        "WRONG": policy("NoSuchPriority"),
    }
    out = {}
    for name, content in contents.items():
        path = tmp_path / f"{name.lower()}.json"
        path.write_text(json.dumps(content), encoding="utf-8")
        out[name] = str(path)
    return out


def test_the_command_tells_both_sides(files: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    """The report names both files, the first cycle, the pods that moved and the numbers."""
    arguments = [files["BUNDLE"], "--config", files["LEAST"], "--config", files["MOST"]]
    assert main(["compare", *arguments]) == 0
    out = capsys.readouterr().out
    assert f"A: {files['LEAST']}" in out
    assert "First difference: cycle 1 (step 1.1, default/web-0)" in out
    assert "4 pods end on another node:" in out
    decided = out.index("  decided by LeastRequestedPriority\n")
    sentences = [out.index(f"    {sentence}\n") for sentence in history_of("LeastRequestedPriority")]
    assert decided < sentences[0] < sentences[1]
    assert "default/web-3  empty  half" in out
    rows = {" ".join(line.split()[:-2]): line.split()[-2:] for line in out.splitlines() if line.split()[2:]}
    assert rows["nodes used"] == ["2", "1"]
    assert rows["cpu requested"] == ["37.5%", "37.5%"]
    assert rows["pods in a"] == ["4", "0"]


def test_the_command_names_no_rule_where_there_is_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A tie that the releases break otherwise is no rule's doing, and has no history."""
    bundle = tmp_path / "tie.json"
    items = [*(node(f"n{n}") for n in range(4)), pod("web", {"cpu": "1", "memory": "2Gi"})]
    bundle.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    assert main(["compare", str(bundle), "--scheduler", "v1.11", "--scheduler", "v1.37"]) == 0
    out = capsys.readouterr().out
    assert "web: to n3 under A, to n" in out
    assert "  no single rule explains the difference: " in out and "KEP-" not in out


def test_the_command_prints_json(files: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    """One configuration is compared with the bundle's own, as one JSON object."""
    assert main(["compare", files["BUNDLE"], "--config", files["MOST"], "--json"]) == 0
    read = json.loads(capsys.readouterr().out)
    assert read["configs"] == ["the bundle's own", files["MOST"]]
    assert read["same"] is False
    assert read["firstDecision"]["b"]["node"] == "half"
    assert read["firstDecision"]["history"] == list(history_of(read["firstDecision"]["rule"])) != []
    assert read["metrics"]["b"]["placed"] == 5


BAD = {
    "no such file": (["BUNDLE", "--config", "LEAST", "--config", "nope.yaml"], "nope.yaml: No such file"),
    "three configurations": (["BUNDLE", *["--config", "LEAST"] * 3], "two configurations are compared"),
    "a policy that cannot be used": (
        ["BUNDLE", "--config", "WRONG", "--config", "MOST"],
        "unknown priority 'NoSuchPriority'",
    ),
    "a bundle in a policy's place": (["BUNDLE", "--config", "BUNDLE", "--config", "MOST"], "kind Policy"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_ends_with_2(case: str, files: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    """The exit status is 2 and the message says what is wrong and in which file."""
    arguments, message = BAD[case]
    assert main(["compare", *(files.get(a, a) for a in arguments)]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert "Traceback" not in captured.err


def test_settings_are_part_of_what_is_compared() -> None:
    """Quirks reproduced under A and fixed under B are reported one by one."""
    cluster_of_both = scenario(*cluster())
    result = compare(cluster_of_both, replace(cluster_of_both, settings=Settings(quirks="fixed")))
    assert "quirk first-victim-priority: v1.11 under A, the other under B" in result.configuration


def test_v1_37_tells_matrices_without_recording_every_cycle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cycles whose matrices are not reported run without them; what is reported is the same as with them."""
    profiles = [{"plugins": {"filter": {"disabled": [{"name": "TaintToleration"}]}}}]
    version = "kubescheduler.config.k8s.io/v1"
    lenient = {"apiVersion": version, "kind": "KubeSchedulerConfiguration", "profiles": profiles}
    objects = [
        node("a", taints=["x=y:NoSchedule"]),
        node("b"),
        pod("there", {"cpu": "3"}, on="b"),
        *(pod(f"web-{n}", {"cpu": "500m"}) for n in range(6)),
    ]
    least = load_documents(objects, scheduler="v1.37")
    other = load_documents([*objects, lenient])
    lean = compare(least, other)
    assert lean.decision is not None and lean.decision.rule == "TaintToleration"
    assert any("TaintToleration: node(s) had untolerated taint" in text for text in lean.decision.details)
    cycles: list[bool] = []
    step = V1_37Simulation.step

    def stepped(simulation: V1_37Simulation) -> Any:
        cycle = step(simulation)
        cycles.append(cycle is not None and cycle.matrix is not None)
        return cycle

    monkeypatch.setattr(V1_37Simulation, "step", stepped)
    assert compare(least, other).as_dict() == lean.as_dict()
    assert 0 < sum(cycles) <= 4 < len(cycles)
