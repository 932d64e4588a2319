"""The Cache tab's side of the server: a cycle's part, marks, the map after any cycle, and the commands."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from playground.panels import steps
from playground.panels.cache import ROWS, words_of
from playground.panels.cache_map import Page, classes, compared, digits, entry_map, level_map, members
from playground.playback.playback import OutOfRangeError, Playback
from playground.playback.trail import Trail
from scheduler_core import load
from scheduler_core.run.instant import Simulation
from scheduler_core.schedulers.v1_11.equivalence.keeper import CacheKeeper
from tests.playground.conftest import DATA, OWNER, STRANGER, connected
from tests.playground.golden import check

TEXT = (DATA / "cache.yaml").read_text()
WEB, BATCH = "70aec47f493616fc", "bf0194b24c3b20d8"
GONE = "0" * 16


def played(text: str = TEXT) -> Playback:
    playback = Playback(load(text))
    while playback.advance(1):
        pass
    return playback


def in_mode(mode: str) -> str:
    return TEXT.replace("cache: v1.11", f"cache: '{mode}'")


def part(playback: Playback, index: int) -> dict[str, Any]:
    found: dict[str, Any] = steps.parts(playback, index, ["cache"])["cache"]
    return found


def test_the_part_of_every_cycle() -> None:
    """What is mentioned the cache in each cycle of a history is as recorded."""
    playback = played()
    check(
        DATA / "cache.cache.json",
        [steps.parts(playback, index, ["cache"]) for index in range(1, len(playback) + 1)],
    )


@pytest.mark.parametrize("mode", ["off", "designed", "v1.11", "sound", "batching"])
def test_every_number_of_a_cycle_agrees(mode: str) -> None:
    """Marks, light cycles, the part and the matrix count the same, and totals are their sums."""
    playback = played(in_mode(mode))
    marks = playback.trail.marks(1, len(playback))["cache"]
    lights = json.loads(steps.window(playback, 1, 100))["cycles"]
    sums = {"hits": 0, "evaluations": 0, "invalidated": 0, "stale": 0}
    for index, light in enumerate(lights, 1):
        reported = part(playback, index)
        if mode == "off":
            assert marks is None and light["cache"] is None
            assert set(reported) == {"mode", "equivalenceClass", "audit", "staleWrites", "why"}
            continue
        counted = [marks[name][index - 1] for name in sums]
        assert light["cache"] == counted == [reported["counts"][name] for name in sums]
        sums = {name: sums[name] + counted[place] for place, name in enumerate(sums)}
        assert {name: reported["totals"][name] for name in sums} == sums
        if mode != "batching":
            assert sum(row[1] for row in reported["predicates"]) == reported["counts"]["hits"]
            assert sum(row[2] for row in reported["predicates"]) == reported["counts"]["misses"]
            assert sum(row[3] for row in reported["predicates"]) == reported["counts"]["bypassed"]
            assert (
                sum(item["cleared"] for item in reported["invalidations"])
                == reported["counts"]["invalidated"]
            )
        assert len(reported["stale"]) == reported["counts"]["stale"]
    if mode == "v1.11":
        assert sums["stale"] and dict(part(playback, len(playback))["causes"])


def test_a_stale_hit_is_reported_with_both_answers() -> None:
    """v1.11 keeps what it found before the first replica came: the second hits it, the audit says why."""
    hit = part(played(), 2)["stale"]
    assert hit == [
        {
            "node": 1,
            "predicate": "MatchInterPodAffinity",
            "cached": [],
            "true": [
                "node(s) didn't match pod affinity/anti-affinity",
                "node(s) didn't satisfy existing pods anti-affinity rules",
            ],
            "written": 1,
            "rule": "pod-add-affinity",
            "event": "Pod/ADD default/web-65d22 on n2",
            "cause": hit[0]["cause"],
        }
    ]
    assert "pod-add-affinity" in hit[0]["cause"]


def test_an_invalidation_is_reported_with_its_row() -> None:
    """What cleared entries names the event, the row in words, and where."""
    reported = part(played(), 1)["invalidations"]
    assert reported == [
        {
            "rule": "pod-add-general-key",
            "words": words_of(ROWS["pod-add-general-key"], "v1.11"),
            "source": "3.4, #70991",
            "event": "Pod/ADD default/web-65d22 on n2",
            "predicates": ["GeneralPredicates"],
            "nodes": [1],
            "nodesCount": 1,
            "cleared": 1,
            "during": False,
        }
    ]
    row = ROWS["pod-add-general-key"]
    assert reported[0]["words"].startswith("Pod ADD") and reported[0]["words"].endswith(row.why)
    assert row.condition.text in reported[0]["words"] and "the node of the event" in reported[0]["words"]


def test_sources_are_runs_over_the_table_of_nodes() -> None:
    """Each predicate's letters add up to the table; a cell that this cycle's own events cleared is named."""
    playback = played()
    nodes = len(playback.tables.nodes)
    for index in range(1, len(playback) + 1):
        reported = steps.parts(playback, index, ["predicates", "cache"])
        letters = ["".join(letter * n for letter, n in runs) for runs in reported["predicates"]["sources"]]
        assert {len(row) for row in letters} == {nodes}
        counted = [
            [name, row.count("h"), row.count("m"), row.count("b"), row.count(".")]
            for name, row in zip(reported["predicates"]["order"], letters, strict=True)
        ]
        assert counted == reported["cache"]["predicates"]
    second = steps.parts(playback, 2, ["predicates"])["predicates"]
    assert second["sources"][1] == [["h", 1], ["m", 1]]
    assert second["order"][1] == "GeneralPredicates"
    assert second["invalidated"] == [[1, [0]]], "the pod came to n1, whose entry had been hit"


def test_what_was_written_after_its_event_is_not_reported_as_cleared() -> None:
    """The stale write: the node was cordoned in between, and its result is in the map all the same."""
    playback = played()
    index = playback.trail.find(3, 1)
    assert index is not None
    during = [item for item in part(playback, index)["invalidations"] if item["during"]]
    assert [item["event"] for item in during] == ["Node/UPDATE n1 (unschedulable)"]
    reported = steps.parts(playback, index, ["predicates"])["predicates"]
    place = reported["order"].index("CheckNodeCondition")
    cleared = dict(map(tuple, reported["invalidated"]))
    assert cleared[place] == [0], "it had been hit, so that nothing was written there"


@pytest.mark.parametrize("mode", ["designed", "v1.11", "sound"])
def test_the_map_is_the_cache_after_the_cycle(mode: str) -> None:
    """Forth and back, by every level: the entries are those of a simulation that was stepped there."""
    playback = played(in_mode(mode))
    for index in (1, 5, len(playback), 2, 0, 3):
        stepped = Simulation(playback.scenario, trace=False)
        for _ in range(index):
            stepped.step()
        assert isinstance(stepped.cache, CacheKeeper)
        true = {
            (entry.node, entry.predicate, digits(entry.hash), entry.step)
            for entry in stepped.cache.cache.entries(limit=10_000)[0]
        }
        with playback.after(index) as simulation:
            for level in ("node", "predicate", "class"):
                found = set()
                keys = level_map(simulation, level, Page())
                for row in keys["rows"]:
                    reported = entry_map(simulation, level, row["key"], Page(), playback.tables.node_index)
                    assert reported["count"] == len(reported["rows"]) == row["entries"]
                    assert [r["fit"] for r in reported["rows"]].count(True) == row["fits"]
                    assert row["fits"] + row["fails"] == row["entries"]
                    assert all(bool(r["reasons"]) != r["fit"] for r in reported["rows"])
                    names = playback.tables.nodes
                    found |= {
                        (names[r["node"]].meta.name, r["predicate"], r["hash"], r["written"])
                        for r in reported["rows"]
                    }
                assert found == true
                assert keys["count"] == len(keys["rows"])


def test_pages_of_the_map_are_parts_of_one_list() -> None:
    """Whatever the size of a page, all pages are all entries; what is looked for narrows them."""
    playback = played()
    at = playback.tables.node_index
    with playback.after(len(playback)) as simulation:
        whole = entry_map(simulation, "node", "n2", Page(), at)
        assert whole["count"] == 24
        pages = [
            row
            for first in range(0, 30, 7)
            for row in entry_map(simulation, "node", "n2", Page(first, 7), at)["rows"]
        ]
        assert pages == whole["rows"]
        disks = entry_map(simulation, "node", "n2", Page(find="NODISK"), at)
        assert {row["predicate"] for row in disks["rows"]} == {"NoDiskConflict"}
        batch = entry_map(simulation, "node", "n2", Page(find="set default/batch"), at)
        assert {row["hash"] for row in batch["rows"]} == {BATCH}
        nowhere = entry_map(simulation, "class", WEB, Page(find="n2"), at)
        assert {row["node"] for row in nowhere["rows"]} == {at["n2"]}
        empty = {"by": "node", "key": "no-such", "from": 0, "count": 0, "rows": []}
        assert entry_map(simulation, "node", "no-such", Page(), at) == empty
        assert entry_map(simulation, "class", GONE, Page(), at)["count"] == 0


def test_levels_and_classes_are_sorted_before_they_are_cut_into_pages() -> None:
    """By every column, both ways; numbers within names count, and what is no column changes nothing."""
    text = TEXT.replace("name: n2", "name: n10").replace("nodeName: n2", "nodeName: n10")
    playback = played(text)
    with playback.after(6) as simulation:
        for column in ("entries", "fits", "fails"):
            for level in ("node", "predicate", "class"):
                known = [row[column] for row in level_map(simulation, level, Page())["rows"]]
                for sort, down in ((column, False), (f"-{column}", True)):
                    pages = [level_map(simulation, level, Page(at, 1, sort=sort))["rows"] for at in range(20)]
                    assert [row[column] for rows in pages for row in rows] == sorted(known, reverse=down)
        nodes = [row["key"] for row in level_map(simulation, "node", Page(sort="-name"))["rows"]]
        assert nodes == sorted(nodes, key=lambda name: int(name[1:]), reverse=True)
        assert nodes[0] == "n10"
        names = ["ReplicaSet default/batch", "ReplicaSet default/web"]
        assert [row["name"] for row in classes(simulation, Page(sort="name"))["rows"]] == names
        assert [row["members"] for row in classes(simulation, Page(sort="members"))["rows"]] == [2, 3]
        assert [row["entries"] for row in classes(simulation, Page(0, 1, sort="-entries"))["rows"]] == [25]
        assert classes(simulation, Page(sort="fits")) == classes(simulation, Page())


def test_classes_and_members() -> None:
    """Most members first; pods without a controller are counted beside them, members tell where they are."""
    playback = played()
    at = playback.tables.node_index
    with playback.after(6) as simulation:
        assert classes(simulation, Page()) == {
            "from": 0,
            "count": 2,
            "rows": [
                {"hash": WEB, "name": "ReplicaSet default/web", "members": 3, "entries": 24},
                {"hash": BATCH, "name": "ReplicaSet default/batch", "members": 2, "entries": 25},
            ],
            "without": 1,
        }
        assert classes(simulation, Page(find="BATCH"))["count"] == 1
        assert classes(simulation, Page(1, 1))["rows"][0]["hash"] == BATCH
        assert members(simulation, int(WEB, 16), Page(), at) == {
            "hash": WEB,
            "name": "ReplicaSet default/web",
            "from": 0,
            "count": 3,
            "rows": [["default/web-65d22", 1], ["default/web-dj798", 0], ["default/web-wwqd6", 1]],
        }
        nobody = {"hash": GONE, "name": "", "from": 0, "count": 0, "rows": []}
        assert members(simulation, 0, Page(), at) == nobody
    with playback.after(0) as simulation:
        assert [row[1] for row in members(simulation, int(WEB, 16), Page(), at)["rows"]] == [-1, -1, -1]


def test_two_pods_are_reported_apart_by_the_field_that_differs() -> None:
    """Both definitions, with the field and both values as a manifest writes them."""
    playback = played()
    with playback.after(len(playback)) as simulation:
        pods = {key.partition("/")[2]: state.pod for key, state in simulation.cluster.pods.items()}
        settings = playback.settings_after(1)
        replica, other = pods["batch-6zr9l"], pods["batch-more"]
        assert compared(replica, other, settings) == {
            "equivalent": True,
            "text": "The pods are of one class: what a predicate finds on a node for one answers for the "
            "other. By their attributes they would be two: labels and containers differ.",
            "differences": [],
            "definitions": {"controller": True, "attributes": False},
        }
        web = compared(replica, pods["web-65d22"], settings)
        assert web["differences"] == [
            {"field": "controller", "first": "ReplicaSet default/batch", "second": "ReplicaSet default/web"}
        ]
        assert web["text"] == "The pods are of two classes: they differ in controller."
        alone = compared(replica, pods["alone"], settings)
        assert alone["differences"][0] == {
            "field": "controller",
            "first": "ReplicaSet default/batch",
            "second": "none",
        }
        assert "default/alone has no controller" in alone["text"]
    split = played(in_mode("sound"))
    with split.after(len(split)) as simulation:
        answer = compared(replica, other, split.settings_after(1))
        assert answer["differences"] == [
            {"field": "labels[extra]", "first": "none", "second": "1"},
            {"field": "containers[0].image", "first": "batch:1", "second": "batch:2"},
            {"field": "containers[0].requests[cpu]", "first": "1", "second": "2"},
        ]
        assert "mode sound tells its templates apart" in answer["text"]


def test_answers_are_bounded_whatever_the_bundle_says() -> None:
    """Long names and many reasons are cut, more rows than an answer holds are counted."""
    wanted = ", ".join(f"example.com/r{number}: 1" for number in range(60))
    name = "r" * 240
    pods = "".join(
        f"""---
apiVersion: v1
kind: Pod
metadata:
  name: p{number}
  namespace: {"n" * 63}
  ownerReferences:
  - {{apiVersion: apps/v1, kind: ReplicaSet, name: {name}{number}, controller: true, uid: u{number}}}
spec:
  containers: [{{name: c, image: x, resources: {{requests: {{{wanted}}}}}}}]
"""
        for number in range(103)
    )
    node = TEXT.split("---", maxsplit=1)[0]
    settings = "---\n{apiVersion: podstep/v1, kind: SimulationSettings, cache: sound, audit: true}\n"
    playback = played(f"{node}{settings}{pods}")
    with playback.after(len(playback)) as simulation:
        at = playback.tables.node_index
        answer = classes(simulation, Page(count=10**6))
        assert (answer["count"], len(answer["rows"])) == (103, 100)
        whole = entry_map(simulation, "predicate", "GeneralPredicates", Page(count=10**6), at)
        assert (whole["count"], len(whole["rows"])) == (103, 100)
        assert {len(row["reasons"]) for row in whole["rows"]} == {11}
        assert whole["rows"][0]["reasons"][-1] == "and 50 more"
        assert len(json.dumps(whole)) < 150_000
        first, second = (simulation.cluster.pods[f"{'n' * 63}/p{number}"].pod for number in (0, 1))
        assert len(json.dumps(compared(first, second, playback.settings_after(1)))) < 15_000


def test_rows_that_were_stored_before_cycles_were_counted_are_read() -> None:
    """Without their numbers, the whole source tells none; with them it tells all."""
    playback = played()
    rows = [playback.trail.row(index) for index in range(1, len(playback) + 1)]
    again = Trail(playback.scenario, playback.tables)
    again.extend(json.loads(json.dumps(rows)))
    assert again.marks(1, len(rows)) == playback.trail.marks(1, len(rows))
    older = [row[:7] if row[7:10] == [-1, [], []] else row[:10] for row in rows]
    again = Trail(playback.scenario, playback.tables)
    again.extend(older[:3])
    again.extend(rows[3:])
    assert again.decisions == playback.trail.decisions
    assert again.marks(1, len(rows))["cache"] is None
    assert again.cache.totals() is None


def test_a_source_that_never_caches_stores_its_rows_as_before(web: str) -> None:
    """Nothing is added to rows and marks where there is nothing to count."""
    playback = played(web)
    assert len(playback.trail.row(1)) == 7
    assert playback.trail.marks(1, 5)["cache"] is None


def test_there_is_nothing_after_the_last_cycle() -> None:
    """A cycle that is not there has no map."""
    playback = played()
    with pytest.raises(OutOfRangeError), playback.after(len(playback) + 1):
        pass


# The commands


@pytest.fixture
def shared(owner: Client) -> dict[str, Any]:
    """The scenario with a public link."""
    made = owner.post("/api/scenarios", {"bundle": TEXT}, content_type="application/json").json()
    return {"scenario": made["id"]}


@pytest.mark.django_db(transaction=True)
async def test_the_commands_answer_what_the_panels_say(shared: Any, db: None) -> None:
    """Anybody may read a shared scenario's cache, at any cycle."""
    playback = played()
    at = playback.tables.node_index
    async with connected(STRANGER) as socket:
        for cycle in (6, 2, 9):
            asked = {"source": shared, "cycle": cycle, "from": 0, "count": 100}
            with playback.after(cycle) as simulation:
                known = classes(simulation, Page())
                assert await socket.success("cache.classes", asked) == known
                found = await socket.success("cache.members", {**asked, "hash": WEB})
                assert found == members(simulation, int(WEB, 16), Page(), at)
                for level in ("node", "predicate", "class"):
                    keys = await socket.success("cache.map", {**asked, "by": level})
                    assert keys == level_map(simulation, level, Page())
                    key = keys["rows"][0]["key"]
                    rows = await socket.success("cache.map", {**asked, "by": level, "key": key, "count": 3})
                    assert rows == entry_map(simulation, level, key, Page(0, 3), at)
                pods = ["default/batch-6zr9l", "default/web-65d22"]
                answer = await socket.success(
                    "cache.equivalent", {"source": shared, "cycle": cycle, "pods": pods}
                )
                first, second = (simulation.cluster.pods[key].pod for key in pods)
                assert answer == compared(first, second, playback.settings_after(cycle))


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("name", "payload", "code", "field"),
    [
        ("cache.map", {"by": "pod"}, "payload.invalid", "by"),
        ("cache.map", {"by": 7}, "payload.invalid", "by"),
        ("cache.map", {"by": "node", "key": 7}, "payload.invalid", "key"),
        ("cache.map", {"by": "node", "from": -1}, "payload.invalid", "from"),
        ("cache.map", {"by": "node", "count": "all"}, "payload.invalid", "count"),
        ("cache.map", {"by": "node", "cycle": 1_000}, "step.out-of-range", None),
        ("cache.map", {"by": "node", "source": {"scenario": "no-such"}}, "source.not-found", None),
        ("cache.members", {"hash": "web"}, "payload.invalid", "hash"),
        ("cache.members", {"hash": WEB.upper()}, "payload.invalid", "hash"),
        ("cache.members", {}, "payload.invalid", "hash"),
        ("cache.classes", {"find": ["a"]}, "payload.invalid", "find"),
        ("cache.classes", {"sort": "hash"}, "payload.invalid", "sort"),
        ("cache.map", {"by": "node", "sort": "--name"}, "payload.invalid", "sort"),
        ("cache.equivalent", {"pods": ["default/alone"]}, "payload.invalid", "pods"),
        ("cache.equivalent", {"pods": ["default/alone", 3]}, "payload.invalid", "pods"),
        ("cache.equivalent", {"pods": ["default/alone", "default/nobody"]}, "pod.not-found", None),
    ],
)
async def test_what_the_commands_refuse(
    shared: Any, db: None, name: str, payload: dict[str, Any], code: str, field: str | None
) -> None:
    """What is wrong is named, and nothing else is done."""
    async with connected(STRANGER) as socket:
        asked = {"source": shared, "cycle": 3, "from": 0, "count": 5, **payload}
        error = await socket.error(name, asked)
        assert error["code"] == code
        assert error.get("field") == field


@pytest.mark.django_db(transaction=True)
async def test_a_draft_is_its_owners_alone(db: None) -> None:
    """A stranger cannot look into somebody's draft by these commands either."""
    async with connected(OWNER) as mine, connected(STRANGER) as other:
        draft = {"draft": (await mine.success("bundle.open", {"text": TEXT}))["draft"]}
        asked = {"source": draft, "cycle": 3, "from": 0, "count": 5}
        assert (await mine.success("cache.classes", asked))["count"] == 2
        assert (await other.error("cache.classes", asked))["code"] == "source.not-found"


@pytest.mark.django_db(transaction=True)
async def test_unknown_keys_and_modes_without_a_map_answer_no_rows(owner: Client, db: None) -> None:
    """Stepping back to before a class was known is no mistake, nor is looking where the cache is off."""
    async with connected() as socket:
        for mode in ("off", "batching", "sound"):
            draft = {"draft": (await socket.success("bundle.open", {"text": in_mode(mode)}))["draft"]}
            asked = {"source": draft, "cycle": 3, "from": 0, "count": 5}
            nobody = {"hash": GONE, "name": "", "from": 0, "count": 0, "rows": []}
            assert await socket.success("cache.members", {**asked, "hash": GONE}) == nobody
            empty = {"by": "predicate", "key": "NoSuch", "from": 0, "count": 0, "rows": []}
            assert await socket.success("cache.map", {**asked, "by": "predicate", "key": "NoSuch"}) == empty
            if mode != "sound":
                none = {"from": 0, "count": 0, "rows": []}
                assert await socket.success("cache.classes", asked) == {**none, "without": 0}
                assert await socket.success("cache.map", {**asked, "by": "node"}) == {"by": "node", **none}
            pods = ["default/batch-6zr9l", "default/batch-whw8s"]
            same = await socket.success("cache.equivalent", {"source": draft, "cycle": 3, "pods": pods})
            assert same["equivalent"] and same["differences"] == []
