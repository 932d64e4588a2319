"""Histories that are alike are played once, and their numbers add up."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from scheduler_core import load
from scheduler_core.contracts.case import Cluster, play
from scheduler_core.contracts.coloring import Coloring
from scheduler_core.contracts.document import Contract, read_contracts
from scheduler_core.contracts.histories import Histories, histories
from scheduler_core.contracts.symmetry import HistoryClass, classes_of
from tests.core.contracts.clusters import bundle, nodes, workload

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


def space(cluster: Cluster, when: str) -> tuple[Contract, Histories]:
    """Return a contract and its histories in a cluster."""
    (contract,) = read_contracts([("one.yaml", CONTRACT % when)])
    made = [one.choices(cluster.terrain) for one in contract.when]
    return contract, histories([one for one in made if one is not None], contract.apart)


def classes(cluster: Cluster, found: Histories) -> list[HistoryClass]:
    """Return the classes of all histories."""
    made = classes_of(found, Coloring(cluster.server, cluster.scenario.documents), Random(0), 10_000)
    assert made is not None
    return made


@pytest.mark.parametrize("name", CLUSTERS)
@pytest.mark.parametrize("when", WHEN)
def test_classes_cover_all_histories(name: str, when: str) -> None:
    """Their sizes add up to the number of histories."""
    cluster = Cluster(load(CLUSTERS[name]))
    _, found = space(cluster, when)
    assert sum(one.size for one in classes(cluster, found)) == found.size


@pytest.mark.parametrize("name", CLUSTERS)
@pytest.mark.parametrize("when", WHEN[:3])
def test_every_history_ends_as_its_class_does(name: str, when: str) -> None:
    """The margins of all histories are those of the classes, as often as these say."""
    cluster = Cluster(load(CLUSTERS[name]))
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
    cluster = Cluster(load(bundle(nodes("abc" * 20))))
    _, found = space(cluster, "lose: {any: 2, of: nodes}")
    assert found.size == 1_770
    assert sorted(one.size for one in classes(cluster, found)) == [570, 1_200]
