"""Cycles cut to a moment inside them: nothing is reported before it is decided."""

from __future__ import annotations

import json
from collections import Counter
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from playground.panels.cycle import PARTS, light
from playground.playback import trail
from playground.playback.ballots import placement_at
from playground.playback.playback import Playback
from playground.playback.veil import veiled
from scheduler_core import load
from scheduler_core.authoring.examples import examples
from scheduler_core.record.choice import NodeChoice
from scheduler_core.record.cycle import Cycle, Decision, KubernetesEvent
from scheduler_core.run.cycles import events_of
from scheduler_core.run.moment_record import UNTRIED, upto
from scheduler_core.schedulers.coscheduling.record import record_of
from tests.playground.cut_cycles import moments_inside, whole

SLUGS = [example.slug for example in examples()]
ALIKE = 3  # cycles of an example that differ in no trait of which that many are looked at
READ = ("predicates", "cache", "priorities", "preemption", "queue", "podgroups")


@lru_cache(maxsize=1)
def played(slug: str) -> Playback:
    """Compute all of an example."""
    playback = Playback(load(next(example.read() for example in examples() if example.slug == slug)))
    while playback.advance(1):
        pass
    return playback


def traits(cycle: Cycle) -> tuple[Any, ...]:
    """Return what decides which of the checks below concern a cycle."""
    stale = bool(cycle.cache and cycle.cache.stale)
    record = record_of(cycle)
    group = record.groups is not None and bool(record.marks)
    facts = (cycle.nominated_passes, cycle.decision.victims, cycle.consequences, cycle.message, cycle.quirks)
    return cycle.phases, cycle.result, stale, group, len(cycle.ties) > 1, *map(bool, facts)


def looked_at(playback: Playback) -> list[int]:
    """Return the cycles to look at: the first ones of each combination of traits, and the last."""
    seen: Counter[tuple[Any, ...]] = Counter()
    found = []
    for index in range(1, len(playback) + 1):
        kind = traits(playback.cycle(index))
        seen[kind] += 1
        if seen[kind] <= ALIKE or index == len(playback):
            found.append(index)
    return found


def named(kind: str, story: list[Any]) -> set[str]:
    """Return the names of a kind that a story links."""
    return {part[kind] for said in story for part in said if isinstance(part, dict) and kind in part}


@pytest.mark.parametrize("slug", SLUGS)
def test_no_moment_inside_a_cycle_tells_what_a_later_one_decides(slug: str) -> None:
    """Of every shipped example, at every phase: no node, score, victim, verdict or message from later.

    Every panel says the same of a cycle whose later decisions are others: it cannot hint at them.
    """
    playback = played(slug)
    for index in looked_at(playback):
        unchanged_by_what_comes(playback, index)
        cycle = playback.cycle(index)
        phases = [UNTRIED, *cycle.phases]
        seen = []
        for phase, shown, parts in moments_inside(playback, index):
            seen.append(phase)
            before = set(phases[phases.index(phase) + 1 :])  # what is still to come
            not_reported(cycle, before, shown, parts)
        assert seen == phases[::-1]


def not_reported(cycle: Cycle, coming: set[str], shown: dict[str, Any], parts: dict[str, Any]) -> None:
    """Assert that nothing is mentioned what the phases that are still to come decide."""
    at = (cycle.index, sorted(coming))
    text = json.dumps([shown, {name: parts[name] for name in READ}])
    own = {one.about for one in cycle.happenings}
    assert not coming & set(shown["phases"]), at
    assert len(shown["events"]) == len(events_of(cycle.happenings)) or not coming, at
    if coming:
        assert shown["result"] == "undecided", at
        assert shown["message"] is None, at
        assert not shown["inside"], at
        assert not cycle.message or cycle.pod in own or json.dumps(cycle.message)[1:-1] not in text, at
        assert not parts["podgroups"].get("consequences"), at
    if "predicates" in coming:
        assert (shown["ladder"], shown["stopped"], shown["feasible"]) == ([], {}, 0), at
        assert parts["predicates"]["order"] == [], at
        assert not any(shown["cache"] or ()), at
        assert not named("predicate", shown["story"]), at
    if "priorities" in coming:
        assert "totals" not in parts["priorities"], at
        assert not named("priority", shown["story"]), at
    if {"select", "assume"} & coming and "select" not in shown["phases"]:
        assert shown["node"] is None, at
        assert not parts["priorities"].get("ties"), at
        assert parts["priorities"].get("winner") is None, at
        others = {cycle.nodes[reported.node] for reported in cycle.nominated_passes}
        others |= {hit.node for hit in cycle.cache.stale} if cycle.cache else set()
        assert cycle.node not in named("node", shown["story"]) - others, at
    if "preemption" in coming:
        assert shown["nominated"] is None, at
        assert list(parts["preemption"]) == ["why"], at
        assert not set(cycle.decision.victims) & named("pod", shown["story"]), at
    group = parts["podgroups"].get("group")
    for phase, said in (("preFilter", "preFilter"), ("permit", "permit"), ("postFilter", "postFilter")):
        assert not (phase in coming and group and group[said]), at
    if not shown["phases"]:
        assert list(parts["queue"]) == ["why"], at
        assert cycle.pod not in named("pod", shown["story"]), at


POISON = "poison"


def poisoned(cycle: Cycle, reached: tuple[str, ...]) -> Cycle:
    """Return a cycle in which everything that is decided after some phases is something else."""
    nobody = Decision(cycle.pod, "error", cycle.nodes[-1], ranked=True)
    other: dict[str, Any] = {"decision": nobody, "message": POISON, "waiting": ()}
    choice = NodeChoice(cycle.feasible, cycle.totals, cycle.ties)
    if "select" in reached or "assume" in reached:
        other["decision"] = replace(nobody, node=cycle.decision.node, ranked=cycle.decision.ranked)
    else:
        choice = replace(choice, ties=np.arange(len(cycle.nodes), dtype=np.int32))
    if "preemption" in reached:
        made = {name: getattr(cycle.decision, name) for name in ("nominated", "victims", "cleared")}
        other["decision"] = replace(other["decision"], **made)
    else:
        other["preemption"] = POISON
    if "priorities" not in reached:
        choice = replace(choice, totals=np.arange(len(cycle.nodes)))
        other["priorities"] = [POISON]
    if "predicates" not in reached:
        choice = replace(choice, feasible=np.zeros(1, np.int32))
        other |= {"matrix": POISON, "nominated_passes": (POISON,)}
    if record_of(cycle).groups is None:
        other["events"] = [KubernetesEvent("Warning", POISON, POISON, POISON)]
    else:
        record = replace(record_of(cycle), marks=(), groups=record_of(cycle).groups_left)
        others = (one for one in cycle.plugins if one is not record_of(cycle))
        other |= {"plugins": (*others, record), "consequences": ()}
    return replace(cycle, choice=choice, **other)


def unchanged_by_what_comes(playback: Playback, index: int) -> None:
    """Assert that each moment is shown as it is in a cycle that is decided otherwise after it."""
    cycle = playback.cycle(index)
    place = playback.place(cycle)
    for at in range(len(cycle.phases)):
        reached = cycle.phases[:at]
        phase = reached[-1] if reached else UNTRIED
        one, two = upto(cycle, phase), upto(poisoned(cycle, reached), phase)
        assert light(one, place) == light(two, place), (index, phase)
        for name in READ:
            shown = json.dumps(PARTS[name](one, place)), json.dumps(PARTS[name](two, place))
            assert shown[0] == shown[1], (index, phase, name)


def test_the_last_phase_of_v1_11_is_the_whole_cycle() -> None:
    """Where no time passes nothing follows the attempt, so its end tells all."""
    playback = played("quirks")
    for index in range(1, len(playback) + 1):
        first = next(iter(moments_inside(playback, index)))
        assert first[0] == playback.cycle(index).phases[-1]
        assert first[1:] == whole(playback, index)


def test_a_group_that_is_rejected_still_waits_at_the_last_phase() -> None:
    """PostFilter's rejection is known, and who waited still holds a node; after the cycle nobody does."""
    playback = played("coscheduling-no-room")
    _, parts = whole(playback, 4)
    phase, shown, then = next(iter(moments_inside(playback, 4)))
    assert (phase, shown["result"]) == ("postFilter", "unschedulable")
    assert (then["podgroups"]["group"]["assigned"], parts["podgroups"]["group"]["assigned"]) == (3, 0)
    assert then["podgroups"]["groups"][0][5] == 3
    assert len(then["podgroups"]["group"]["postFilter"]["rejected"]) == 3
    assert then["podgroups"]["consequences"] == []
    assert len(parts["podgroups"]["consequences"]) > 0


def test_a_phase_that_a_cycle_did_not_come_to_is_refused() -> None:
    """There is no moment at the end of a phase that never was."""
    cycle = played("first-cycle").cycle(1)
    with pytest.raises(ValueError, match="no phase 'preemption'"):
        upto(cycle, "preemption")


def test_events_are_counted_moment_by_moment() -> None:
    """Every moment knows how many of its cycle's events there are by then; with the last there are all."""
    for slug in ("coscheduling-room", "coscheduling-no-room", "node-fails", "a-day", "making-room"):
        playback = played(slug)
        for index in looked_at(playback):
            shown, parts = whole(playback, index)
            counts = [moment["events"] for moment in parts["moments"]]
            assert counts == sorted(counts)
            assert counts[-1] == len(shown["events"]) or shown["result"] in ("unschedulable", "error"), index


def test_no_placement_that_is_kept_shows_what_a_cut_cycle_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of each thousandth cycle the placement after it is kept: here of each one."""
    monkeypatch.setattr(trail, "CHECKPOINT", 1)
    playback = Playback(load(next(example.read() for example in examples())))
    while playback.advance(1):
        pass
    for index in range(1, len(playback) + 1):
        begun = veiled(playback, index, "").trail.placement
        assert begun.tolist() == placement_at(playback, playback.cycle(index)).tolist()
