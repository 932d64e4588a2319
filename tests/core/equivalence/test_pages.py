"""Pages and tallies of the cache's map, compared with plain maps; and what tells two pods apart."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from scheduler_core import load
from scheduler_core.kubernetes.model import Pod
from scheduler_core.schedulers.v1_11.equivalence.cache import EquivalenceCache
from scheduler_core.schedulers.v1_11.equivalence.pages import LEVELS, page, tallies
from scheduler_core.schedulers.v1_11.equivalence.pod_comparison import (
    DIFFERENCES_SHOWN,
    TEXT_SHOWN,
    FieldDifference,
    differences,
    equivalent,
)

NODES = [f"node-{number}" for number in range(7)]
ORDER = ("Alpha", "Beta", "Gamma")
CLASSES = {11: "first", 12: "second", 13: "node-like", 14: "beta too"}
Plain = dict[tuple[str, int, str], tuple[int, int]]


def filled(seed: int) -> tuple[EquivalenceCache, Plain]:
    """Write and invalidate at random, in an array cache and in a plain map."""
    draw = random.Random(seed)
    cache = EquivalenceCache(NODES)
    plain: Plain = {}
    for step in range(1, 60):
        key, number = draw.choice(ORDER), draw.choice(list(CLASSES))
        rows = sorted(draw.sample(range(len(NODES)), draw.randint(1, 6)))
        if draw.random() < 0.7:
            codes = [draw.choice([0, 0, 2, 3]) for _ in rows]
            cache.write(number, key, np.array(codes, np.int16), step, rows=np.array(rows, np.int64))
            plain |= {(key, number, NODES[row]): (code, step) for row, code in zip(rows, codes, strict=True)}
        else:
            cache.invalidate((key,), np.array(rows, np.int64))
            gone = {NODES[row] for row in rows}
            plain = {at: entry for at, entry in plain.items() if at[0] != key or at[2] not in gone}
    return cache, plain


@pytest.mark.parametrize("seed", range(12))
def test_tallies_are_those_of_plain_maps(seed: int) -> None:
    """By node, predicate and class: entries, and those that fit."""
    cache, plain = filled(seed)
    place = {"predicate": 0, "class": 1, "node": 2}
    for level in LEVELS:
        expected: dict[Any, list[int]] = {}
        for at, (code, _) in plain.items():
            entry = expected.setdefault(at[place[level]], [0, 0])
            entry[0] += 1
            entry[1] += code == 0
        found = tallies(cache, level, ORDER)
        assert {row.key: [row.entries, row.fits] for row in found} == expected
        if level != "class":
            names = [row.key for row in found]
            assert names == sorted(names)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("find", ["", "NODE-3", "beta", "nd", "nowhere"])
def test_pages_are_those_of_plain_maps(seed: int, find: str) -> None:
    """Whatever level is asked about, whatever is looked for and however large the pages are."""
    cache, plain = filled(seed)
    for chosen in ({}, {"node": "node-3"}, {"predicate": "Beta"}, {"number": 12}, {"node": "gone"}):
        expected = [
            (node, key, number, *plain[key, number, node])
            for key in ORDER
            for number in CLASSES
            for node in NODES
            if (key, number, node) in plain
            and chosen.get("node", node) == node
            and chosen.get("predicate", key) == key
            and chosen.get("number", number) == number
            and any(find.lower() in text.lower() for text in (node, key, CLASSES[number]))
        ]
        for size in (1, 4, 100):
            reported = []
            for first in range(0, len(expected) + size, size):
                rows, total = page(
                    cache, CLASSES.items(), ORDER, **chosen, find=find, first=first, count=size
                )
                assert total == len(expected)
                assert len(rows) <= size
                reported += [(row.node, row.predicate, row.hash, row.code, row.step) for row in rows]
            assert reported == expected


MANIFEST = """
apiVersion: v1
kind: Pod
metadata:
  name: a
  namespace: default
  labels: {app: web, tier: front}
  ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web, controller: true, uid: u1}]
spec:
  nodeSelector: {disk: ssd}
  affinity:
    podAntiAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
      - {labelSelector: {matchLabels: {app: web}}, topologyKey: zone}
  containers: [{name: c, image: "web:1", resources: {requests: {cpu: 250m, memory: 1536Mi}}}]
  volumes: [{name: data, persistentVolumeClaim: {claimName: data-0}}]
"""


def pod(text: str = MANIFEST) -> Pod:
    found = next(item for item in load(text).objects if isinstance(item, Pod))
    assert isinstance(found, Pod)
    return found


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("tier: front", "tier: back", [("labels[tier]", "front", "back")]),
        (", tier: front", "", [("labels[tier]", "front", "none")]),
        ("disk: ssd", "disk: hdd", [("nodeSelector[disk]", "ssd", "hdd")]),
        ("cpu: 250m", "cpu: 1250m", [("containers[0].requests[cpu]", "250m", "1250m")]),
        ("1536Mi", "2Gi", [("containers[0].requests[memory]", "1536Mi", "2Gi")]),
        ("web:1", "web:2", [("containers[0].image", "web:1", "web:2")]),
        ("data-0", "data-1", [("volumes[0].persistentVolumeClaim.claimName", "data-0", "data-1")]),
    ],
)
def test_the_field_that_differs_is_named_as_a_manifest_names_it(
    old: str, new: str, expected: list[tuple[str, str, str]]
) -> None:
    """With both values as people write them."""
    first, second = pod(), pod(MANIFEST.replace(old, new))
    assert differences(first, second, "attributes") == [FieldDifference(*row) for row in expected]
    assert not equivalent(first, second, "attributes")
    assert differences(second, first, "attributes") == [FieldDifference(f, b, a) for f, a, b in expected]


def test_affinity_is_named_by_its_path() -> None:
    """A term that only one of them has is reported whole."""
    [row] = differences(pod(), pod(MANIFEST.replace("topologyKey: zone", "topologyKey: rack")), "attributes")
    path = "affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey"
    assert row == FieldDifference(path, "zone", "rack")


def test_controllers_and_claims() -> None:
    """By controller the owner decides, then the claims; two of one name differ by their uid."""
    first = pod()
    assert equivalent(first, pod(MANIFEST.replace("tier: front", "tier: back")), "controller")
    other = pod(MANIFEST.replace("name: web,", "name: api,"))
    reported = [FieldDifference("controller", "ReplicaSet default/web", "ReplicaSet default/api")]
    assert differences(first, other, "controller") == reported
    again = pod(MANIFEST.replace("uid: u1", "uid: u2"))
    reported = [
        FieldDifference("controller", "ReplicaSet default/web, uid u1", "ReplicaSet default/web, uid u2")
    ]
    assert differences(first, again, "controller") == reported
    claims = pod(MANIFEST.replace("data-0", "data-1"))
    assert differences(first, claims, "controller") == [FieldDifference("claims[0]", "data-0", "data-1")]
    alone = pod(MANIFEST.replace("controller: true", "controller: false"))
    assert differences(alone, alone, "controller") == [FieldDifference("controller", "none", "none")]
    assert not equivalent(alone, alone, "controller")
    assert equivalent(alone, alone, "attributes")


def test_what_is_reported_is_bounded() -> None:
    """Of many differences the first, of a long value its beginning."""
    long = {f"key-{number}": "v" * 5_000 for number in range(1_000)}
    first = pod()
    second = replace(first, meta=replace(first.meta, labels=long))
    reported = differences(first, second, "attributes")
    assert len(reported) == DIFFERENCES_SHOWN
    assert max(len(text) for row in reported for text in (row.field, row.first, row.second)) == TEXT_SHOWN
