"""Histories that are alike are played once, and their numbers add up."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest

from scheduler_core import load
from scheduler_core.compare.refinement import Coloring
from scheduler_core.studies.contracts.case import CheckedCluster, play
from scheduler_core.studies.contracts.document import Contract, read_contracts
from scheduler_core.studies.contracts.headroom import Headroom
from scheduler_core.studies.contracts.histories import Histories, histories
from scheduler_core.studies.contracts.search import representatives, unlike
from scheduler_core.studies.contracts.symmetry import HistoryClass, classes_of, losses_of
from tests.core.contracts.clusters import apart, budget, bundle, nodes, spread, workload

HEAD = "apiVersion: podstep/v1\nkind: Contract\nmetadata: {name: one}\n"
CONTRACT = HEAD + "spec:\n  when:\n  - %s\n  finally: pending == 0\n"
CLUSTERS = {
    "equal": bundle(nodes("abcabc")),
    "one is larger": bundle(nodes("abcab"), nodes("abcabc", "8")[5:]),
    "with pods": bundle(nodes("abcabc"), workload("Deployment", "web", 4), workload("Deployment", "api", 4)),
}
ONE = {"equal": 1, "one is larger": 4, "with pods": 0}
WHEN = (
    "lose: {any: Node}",
    "lose: {any: 2, of: nodes}",
    "lose: {any: zone}",
    "drain: {each: zone, order: any}",
    "drain: {each: Node, order: listed}",
)

COUNTS = {"equal": (1, 2, 1, 1, 1), "one is larger": (3, 5, 2, 3, 1), "with pods": (3, 9, 2, 3, 1)}
"""The classes of each of these, by cluster."""


def space(cluster: CheckedCluster, when: str) -> tuple[Contract, Histories]:
    """Return a contract and its histories in a cluster."""
    return space_of(cluster, CONTRACT % when)


def space_of(cluster: CheckedCluster, text: str) -> tuple[Contract, Histories]:
    """Return a contract that is written, and its histories in a cluster."""
    (contract,) = read_contracts([("one.yaml", text)])
    made = [one.choices(cluster.terrain) for one in contract.when]
    return contract, histories([one for one in made if one is not None], contract.apart)


def classes(cluster: CheckedCluster, found: Histories) -> list[HistoryClass]:
    """Return the classes of all histories."""
    made = classes_of(found, Coloring(cluster.server, cluster.scenario.documents), Random(0), 10_000)
    assert made is not None
    return made


@pytest.mark.parametrize("name", CLUSTERS)
@pytest.mark.parametrize("when", WHEN)
def test_classes_cover_all_histories(name: str, when: str) -> None:
    """Their sizes add up to the number of histories, and what is alike has one class."""
    cluster = CheckedCluster(load(CLUSTERS[name]))
    _, found = space(cluster, when)
    made = classes(cluster, found)
    assert (sum(one.size for one in made), len(made)) == (found.size, COUNTS[name][WHEN.index(when)])


@pytest.mark.parametrize("name", CLUSTERS)
@pytest.mark.parametrize("when", WHEN[:3])
def test_every_history_ends_as_its_class_does(name: str, when: str) -> None:
    """The margins of all histories are those of the classes, as often as these say."""
    cluster = CheckedCluster(load(CLUSTERS[name]))
    contract, found = space(cluster, when)
    subjects = contract.subject.subjects(cluster.server)

    def margin(history: object) -> float:
        return play(cluster, contract, subjects, history).margin  # type: ignore[arg-type]

    each = Counter(margin(found.at([0, 0, pick])) for pick in range(found.choices[0].size))
    alike: Counter[float] = Counter()
    for one in classes(cluster, found):
        assert margin(one.one) == margin(one.other)
        alike[margin(one.one)] += one.size
    assert alike == each


def test_equal_nodes_are_one_class() -> None:
    """Two of sixty equal ones as well: 1,770 pairs in two classes, of one zone and of two."""
    cluster = CheckedCluster(load(bundle(nodes("abc" * 20))))
    _, found = space(cluster, "lose: {any: 2, of: nodes}")
    assert found.size == 1_770
    assert sorted(one.size for one in classes(cluster, found)) == [570, 1_200]


def room(*parts: Any) -> tuple[CheckedCluster, Headroom]:
    """Return a cluster at rest, and what it has left."""
    cluster = CheckedCluster(load(bundle(*parts)))
    return cluster, Headroom(cluster.server, cluster.scenario)


WEB, EACH = "  for: {kind: Deployment, name: web}\n", "  for: {every: Deployment}\n"


@pytest.mark.parametrize("when", ["lose: {any: 2, of: nodes}", "drain: {any: Node}"])
@pytest.mark.parametrize(
    ("whose", "claim"),
    [("", "finally: moved <= 2"), (WEB, "always: ready >= 4"), (EACH, "always: ready >= 3")],
)
def test_losses_end_as_their_own_pods_say(when: str, whose: str, claim: str) -> None:
    """With room for all, the margins of all nodes are those of the classes, as often as these say."""
    pods = [workload("Deployment", name, count) for name, count in (("web", 5), ("api", 3))]
    cluster, left = room(nodes("aabb"), nodes("aabbc", "8")[4:], pods, budget("web", 4))
    text = f"{HEAD}spec:\n{whose}  when:\n  - {when}\n  {claim}\n"
    contract, found = space_of(cluster, text)
    subjects = contract.subject.subjects(cluster.server)
    named = [key for one in subjects for key in one.workloads] if len(subjects) == 1 else []
    coloring = Coloring(cluster.server, cluster.scenario.documents, named, blind=True)
    assert found.is_loss or found.is_drain
    made = (losses_of if found.is_loss else classes_of)(found, coloring, Random(0), 100)
    assert made is not None and len(made) <= found.size == sum(one.size for one in made)
    assert all(left.suffices([key[1] for key in one.one[0].targets]) for one in made)
    each = Counter(
        play(cluster, contract, subjects, found.at([0, 0, pick])).margin for pick in range(found.size)
    )
    alike: Counter[float] = Counter()
    for one in made:
        margin = play(cluster, contract, subjects, one.one).margin
        assert margin == play(cluster, contract, subjects, one.other).margin
        alike[margin] += one.size
    assert alike == each


ROOM: dict[str, tuple[list[Any], bool]] = {
    "room for all": ([nodes("abc"), workload("Deployment", "web", 6, "500m")], True),
    "no room": ([nodes("abc"), workload("Deployment", "web", 9, "1")], False),
    "room in sum but for none": ([nodes("abc"), workload("Deployment", "web", 3, "2500m")], False),
    "a node that admits them": (
        [
            nodes("ab", disk="ssd"),
            nodes("abc")[2:],
            workload("Deployment", "web", 2, nodeSelector={"disk": "ssd"}),
        ],
        True,
    ),
    "no other node admits them": (
        [
            nodes("a", disk="ssd"),
            nodes("abc")[1:],
            workload("Deployment", "web", 2, nodeSelector={"disk": "ssd"}),
        ],
        False,
    ),
    "hard spread": ([nodes("abc"), workload("Deployment", "web", 3, **spread("web"))], False),
    "anti-affinity": ([nodes("abc"), workload("Deployment", "web", 2, **apart("web"))], False),
    "waits for a second": (
        [
            nodes("abc"),
            workload(
                "Deployment",
                "web",
                3,
                tolerations=[{"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 1}],
            ),
        ],
        False,
    ),
    "a pod waits already": ([nodes("abc"), workload("Deployment", "web", 1, "5")], False),
}


@pytest.mark.parametrize("name", ROOM)
def test_room_is_said_where_nothing_else_refuses(name: str) -> None:
    """One node of them is lost."""
    parts, expected = ROOM[name]
    cluster, left = room(*parts)
    assert all(left.suffices([node]) for node in cluster.terrain.nodes) is expected


def test_unlike_members_are_named() -> None:
    """Two histories of one class whose margins differ, found among those that were played."""
    cluster = CheckedCluster(load(CLUSTERS["one is larger"]))
    _, found = space(cluster, WHEN[0])
    made = classes(cluster, found)
    margins = [1.0] * len(list(representatives(made)))
    assert unlike(made, margins) is None
    margins[-1] = 2.0
    differ = unlike(made, margins)
    assert differ is not None and differ[0] != differ[1]
