"""The optimum by CP-SAT is that of brute force, on small random clusters with every modelled rule."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from scheduler_core.__main__ import main
from scheduler_core.compare.optimum.objectives import OBJECTIVES
from scheduler_core.compare.optimum.optimum import find_optimum
from scheduler_core.compare.optimum.problem import problem_of
from scheduler_core.kubernetes.model import (
    Affinity,
    Container,
    HostPort,
    LabelSelector,
    Node,
    ObjectMeta,
    Pod,
    PodAffinityTerm,
    Taint,
    Toleration,
    WrittenManifest,
)

CHUNK = 40
SATISFIED = 29  # a cluster whose running pod keeps the rules
ZONE = "zone"
HOST = "kubernetes.io/hostname"
TAINT = Taint("t", "v", "NoSchedule")


def random_cluster(random: Random) -> tuple[list[Node], list[Pod]]:
    """Return up to three nodes and up to five pods, some of which run."""
    nodes = [
        Node(
            ObjectMeta(f"n{number}", labels={HOST: f"n{number}", ZONE: random.choice("ab")}),
            allocatable={
                "cpu": random.randint(1, 5),
                "memory": random.randint(1, 5),
                "pods": random.randint(1, 4),
            },
            taints=(TAINT,) if random.random() < 0.2 else (),
        )
        for number in range(random.randint(1, 3))
    ]
    kinds = [_kind(random, name) for name in "xy"]
    pods = []
    for number in range(random.randint(1, 5)):
        labels, fields = random.choice(kinds)
        node = random.choice(nodes).meta.name if random.random() < 0.2 else ""
        meta = ObjectMeta(f"p{number}", "default", labels=labels, written=fields["w"])
        others = {key: value for key, value in fields.items() if key != "w"}
        pods.append(Pod(meta, node_name=node, **others))
    return nodes, pods


def _kind(random: Random, name: str) -> tuple[dict[str, str], dict[str, Any]]:
    ports = (HostPort("0.0.0.0", "TCP", 80),) if random.random() < 0.2 else ()
    requests = {"cpu": random.randint(0, 2), "memory": random.randint(0, 2)}
    fields: dict[str, Any] = {
        "containers": (Container("c", requests=requests, host_ports=ports),),
        "tolerations": (Toleration("t", "Exists"),) if random.random() < 0.3 else (),
        "priority": random.choice([0, 10]),
        "node_selector": {ZONE: "a"} if random.random() < 0.15 else {},
        "w": None,
    }
    selector = LabelSelector({"app": random.choice("xy")})
    term = (PodAffinityTerm(selector, random.choice([HOST, ZONE])),)
    if random.random() < 0.3:
        fields["affinity"] = Affinity(has_pod_anti_affinity=True, anti_required=term)
    elif random.random() < 0.3:
        fields["affinity"] = Affinity(has_pod_affinity=True, pod_required=term)
    if random.random() < 0.3:
        spread = {
            "topologyKey": random.choice([HOST, ZONE]),
            "maxSkew": 1,
            "labelSelector": {"matchLabels": {"app": random.choice("xy")}},
        }
        fields["w"] = WrittenManifest({"spec": {"topologySpreadConstraints": [spread]}})
    return {"app": name}, fields


def satisfies(nodes: dict[str, Node], placed: dict[int, tuple[Pod, str]], free: set[int]) -> bool:
    """Return whether a placement satisfies every rule for the pods in ``free``, pod by pod."""
    used, added = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for number, (pod, node) in placed.items():
        for name, amount in (*pod.containers[0].requests.items(), ("pods", 1)):
            used[node, name] += amount
            added[node, name] += amount * (number in free)
    if any(added[at] and total > nodes[at[0]].allocatable[at[1]] for at, total in used.items()):
        return False
    return all(_fits(nodes, placed, number) for number in free if number in placed) and _begins(
        nodes, placed, free
    )


def _same(nodes: dict[str, Node], key: str, one: str, other: str) -> bool:
    return nodes[one].meta.labels[key] == nodes[other].meta.labels[key]


def _selects(term: PodAffinityTerm, pod: Pod) -> bool:
    assert term.selector is not None
    return term.selector.match_labels.items() <= pod.meta.labels.items()


def _fits(nodes: dict[str, Node], placed: dict[int, tuple[Pod, str]], number: int) -> bool:
    pod, at = placed[number]
    others = [pair for other, pair in placed.items() if other != number]
    if nodes[at].taints and not pod.tolerations:
        return False
    if not pod.node_selector.items() <= nodes[at].meta.labels.items():
        return False
    for other, there in others:
        if there == at and pod.containers[0].host_ports and other.containers[0].host_ports:
            return False
        for one, two in ((pod, other), (other, pod)):
            for term in one.affinity.anti_required if one.affinity else ():
                if _selects(term, two) and _same(nodes, term.topology_key, at, there):
                    return False
    return all(_spread(nodes, placed, pod, at, one) for one in _spreads(pod))


def _spreads(pod: Pod) -> list[dict[str, Any]]:
    return pod.meta.written.document["spec"]["topologySpreadConstraints"] if pod.meta.written else []


def _spread(nodes: dict[str, Node], placed: dict, pod: Pod, at: str, one: dict[str, Any]) -> bool:
    eligible = [n for n in nodes.values() if pod.node_selector.items() <= n.meta.labels.items()
                and (not n.taints or pod.tolerations)]  # fmt: skip
    key, labels = one["topologyKey"], one["labelSelector"]["matchLabels"]
    counts = {node.meta.labels[key]: 0 for node in eligible}
    names = {node.meta.name for node in eligible}
    for other, there in placed.values():
        if there in names and labels.items() <= other.meta.labels.items():
            counts[nodes[there].meta.labels[key]] += 1
    return counts[nodes[at].meta.labels[key]] - min(counts.values()) <= one["maxSkew"]


def _begins(nodes: dict[str, Node], placed: dict[int, tuple[Pod, str]], free: set[int]) -> bool:
    """Return whether each pod with affinity has its pod, but for those that begin one domain."""
    for app in "xy":
        own = [placed[n] for n in free if n in placed and placed[n][0].meta.labels["app"] == app]
        if not own or own[0][0].affinity is None:
            continue
        for term in own[0][0].affinity.pod_required:
            helpers = [
                (pod, there) for n, (pod, there) in placed.items()
                if _selects(term, pod) and (n not in free or pod.meta.labels["app"] != app)
            ]  # fmt: skip
            alone = {
                nodes[at].meta.labels[term.topology_key] for _, at in own
                if not any(_same(nodes, term.topology_key, at, there) for _, there in helpers)
            }  # fmt: skip
            fixed = any(n not in free and _selects(term, pod) for n, (pod, _) in placed.items())
            if len(alone) > (1 if _selects(term, own[0][0]) and not fixed else 0):
                return False
    return True


def placements(nodes: list[Node], pods: list[Pod]) -> Iterator[dict[int, tuple[Pod, str]]]:
    """Yield every placement of the pending pods that satisfies the rules."""
    by_name = {node.meta.name: node for node in nodes}
    free = {number for number, pod in enumerate(pods) if not pod.node_name}
    fixed = {number: (pod, pod.node_name) for number, pod in enumerate(pods) if pod.node_name}
    for choice in itertools.product(["", *by_name], repeat=len(free)):
        placed = fixed | {n: (pods[n], node) for n, node in zip(sorted(free), choice, strict=True) if node}
        if satisfies(by_name, placed, free):
            yield placed


@pytest.mark.parametrize("chunk", range(5))
def test_the_optimum_is_that_of_brute_force(chunk: int) -> None:
    """Most pods, then fewest nodes; and the highest sum of priorities, on 200 clusters."""
    for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        nodes, pods = random_cluster(Random(seed))
        pending = [n for n, pod in enumerate(pods) if not pod.node_name]
        every = list(placements(nodes, pods))
        best = max((sum(n in one for n in pending), -len({at for _, at in one.values()})) for one in every)
        priorities = max(sum(pods[n].priority for n in pending if n in one) for one in every)
        problem = problem_of(nodes, pods)
        found = find_optimum(problem, ["most-pods", "fewest-nodes"], 20)
        assert all(proof.optimal for proof in found.proofs)
        assert (found.proofs[0].value, -found.proofs[1].value) == best, seed
        by_priority = find_optimum(problem, ["priorities"], 20).proofs
        assert [proof.value for proof in by_priority] == [priorities], seed
        placed = {n: (pod, found.placements.get(pod.meta.key) or pod.node_name) for n, pod in enumerate(pods)}
        kept = {n: pair for n, pair in placed.items() if pair[1]}
        assert satisfies({node.meta.name: node for node in nodes}, kept, set(pending)), seed


BUNDLE = """
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}}
---
{apiVersion: v1, kind: Node, metadata: {name: n2}, status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {nodeName: n1, containers: [{name: c, resources: {requests: {cpu: "2", memory: 1Gi}}}]}, status: {phase: Running}}
---
{apiVersion: v1, kind: Pod, metadata: {name: b}, spec: {nodeName: n2, containers: [{name: c, resources: {requests: {cpu: "2", memory: 1Gi}}}]}, status: {phase: Running}}
---
{apiVersion: v1, kind: Pod, metadata: {name: big}, spec: {containers: [{name: c, resources: {requests: {cpu: "4", memory: 1Gi}}}]}}
"""  # noqa: E501


def test_the_command_finds_the_moves_that_make_room(tmp_path, capsys: pytest.CaptureFixture[str]) -> None:
    """One eviction and two bindings place a pod that no node has room for."""
    file = tmp_path / "bundle.yaml"
    file.write_text(BUNDLE)
    assert main(["optimum", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["pending"] == ["default/big"]
    given = ["--move", "--objective", "most-pods", "--objective", "fewest-moves", "--json"]
    assert main(["optimum", str(file), *given]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [move["action"] for move in found["moves"]] == ["evict", "bind", "bind"]
    assert [proof["value"] for proof in found["proofs"]] == [1, 1]
    assert found["pending"] == []


@pytest.mark.parametrize("name", OBJECTIVES)
def test_each_objective_is_proven_on_a_small_cluster(name: str) -> None:
    """None of them is out of the solver's reach."""
    nodes, pods = random_cluster(Random(SATISFIED))
    (proof,) = find_optimum(problem_of(nodes, pods, move=True), [name], 20).proofs
    assert proof.optimal
    assert proof.gap == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--seconds", "0"], "--seconds must be above 0"),
        (["--objective", "fewest-moves"], "needs --move"),
        (["--step", "9"], "the run ends after"),
    ],
)
def test_bad_options_are_refused(
    tmp_path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    """Each with what to do about it."""
    file = tmp_path / "bundle.yaml"
    file.write_text(BUNDLE)
    assert main(["optimum", str(file), *arguments]) == 2
    assert message in capsys.readouterr().err
