"""One scenario under two modes of the cache: the first cycle that ends otherwise, and why, in words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from scheduler_core.__main__ import main
from scheduler_core.compare.cost import with_cache
from scheduler_core.compare.divergence import RunDivergence, diverging
from scheduler_core.run.instant import Simulation
from scheduler_core.scenario.scenario import Scenario
from tests.core.engine.builders import node, operation, pod, scenario
from tests.core.equivalence.test_engine import APART, bundle

FILLING = """---
apiVersion: v1
kind: Policy
predicates: [{name: GeneralPredicates}]
priorities: [{name: LeastRequestedPriority, weight: 1}]
"""
CAUSE = "MatchInterPodAffinity: not invalidated by Pod/ADD (rule pod-add-affinity)"


def diverge(here: Scenario, there: Scenario) -> RunDivergence:
    """Run two scenarios to their ends."""
    work = diverging(here, there)
    while True:
        try:
            next(work)
        except StopIteration as end:
            found: RunDivergence = end.value
            return found


def between(read: Scenario, here: str, there: str, **settings: Any) -> RunDivergence:
    """Compare two modes, both audited."""
    options = {"audit": True, **settings}
    return diverge(with_cache(read, cache=here, **options), with_cache(read, cache=there, **options))


@pytest.mark.parametrize(("here", "there"), [("off", "v1.11"), ("v1.11", "sound"), ("off", "designed")])
def test_a_stale_answer_is_named_whichever_side_believed_it(here: str, there: str) -> None:
    """Predicate, node, cycle and event are those of the audit's hit on the node that was taken."""
    found = between(bundle(10, 12, more=APART), here, there)
    assert found.first is not None and found.differing == 2
    first = found.first
    assert (first.index, first.step) == (11, "1.11")
    wrong, right = (first.here, first.there) if here == "v1.11" else (first.there, first.here)
    assert wrong is not None and right is not None
    assert (right.result, right.node, wrong.result) == ("unschedulable", None, "scheduled")
    hit = wrong.stale[0]
    assert (hit.node, hit.predicate, hit.written, hit.cause) == (
        wrong.node,
        "MatchInterPodAffinity",
        1,
        CAUSE,
    )
    assert len(wrong.stale) == 5 and right.stale == ()
    mode = here if here == "v1.11" else there
    assert first.words.endswith(
        f"Under {mode} a stale answer was believed: by MatchInterPodAffinity of cycle 1 the pod fits on "
        f"{wrong.node}, but since {hit.event} it does not fit ({', '.join(hit.true)})."
    )
    side = found.here if here == "v1.11" else found.there
    assert (side.placed, side.audit, side.causes) == (12, True, ((CAUSE, side.stale),))


def test_both_ways_tell_the_same_cycle() -> None:
    """Exchanging the sides exchanges what is mentioned them."""
    read = bundle(6, 8, more=APART)
    one, two = between(read, "off", "v1.11"), between(read, "v1.11", "off")
    assert one.first is not None and two.first is not None
    assert (one.first.here, one.first.there) == (two.first.there, two.first.here)
    assert (one.here, one.there, one.differing) == (two.there, two.here, two.differing)
    assert one.first.words.startswith(
        f"Without a cache {one.first.pod} fits nowhere; under v1.11 it goes to "
    )
    assert two.first.words.startswith(f"Under v1.11 {one.first.pod} goes to ")


def test_no_difference_has_no_first_cycle() -> None:
    """Sound decides as off; what it saved is reported all the same."""
    found = between(bundle(10, 12, more=APART), "off", "sound")
    assert (found.first, found.differing) == (None, 0)
    assert found.here.evaluations == found.there.evaluations + found.there.hits
    assert (found.here.audit, found.there.audit, found.there.stale) == (False, True, 0)


def test_the_audit_changes_nothing_but_what_is_known() -> None:
    """Without it the same cycle is found, and no cause."""
    read = bundle(6, 8, more=APART)
    audited, plain = between(read, "off", "v1.11"), between(read, "off", "v1.11", audit=False)
    assert audited.first is not None and plain.first is not None
    assert (plain.first.index, plain.differing) == (audited.first.index, audited.differing)
    assert (plain.there.audit, plain.there.stale, plain.there.causes) == (False, 0, ())
    assert plain.first.words == audited.first.words.partition(" Under v1.11 a stale")[0]


def test_a_ranking_that_was_kept_is_named() -> None:
    """Batching takes the next best node where the tie-break would have taken another."""
    found = between(bundle(5, 5, cpu="3", history=FILLING), "off", "batching")
    assert found.first is not None and found.first.there is not None
    assert found.first.index == 2
    node = found.first.there.node
    assert found.first.words.endswith(
        f"Under batching {node} was the next best node of the ranking made for an earlier pod, and no other "
        "node was scored again."
    )


def test_the_counter_that_breaks_ties_is_named() -> None:
    """A pod that was offered its node moved no counter on, and a later tie is broken otherwise."""
    small = {"memory": "8Gi", "pods": "10"}
    sizes = {"a": "11900m", "b": "8", "c": "6100m", "d": "4", "e": "4"}
    least = {
        "apiVersion": "v1",
        "kind": "Policy",
        "predicates": [{"name": "GeneralPredicates"}],
        "priorities": [{"name": "LeastRequestedPriority", "weight": 1}],
    }
    read = scenario(
        *(node(name, allocatable={"cpu": cpu, **small}) for name, cpu in sizes.items()),
        *(pod(f"big-{n}", {"cpu": "6"}) for n in range(2)),
        pod("tiny", {"cpu": "100m"}),
        policy=least,
    )
    found = between(read, "off", "batching")
    assert found.first is not None
    assert (found.first.index, found.first.pod) == (3, "default/tiny")
    assert found.first.words.endswith(
        "The counter that breaks ties stands at 2 without a cache and at 1 under batching: earlier cycles "
        "ranked nodes under one of them alone."
    )


def test_a_run_that_is_over_is_reported_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    """One side has a cycle that the other has not."""
    from scheduler_core.compare import divergence as module

    class Shorter(Simulation):
        def step(self) -> Any:
            over = self.scenario.settings.cache == "sound" and self.index == 2
            return None if over else super().step()

    monkeypatch.setattr(module, "Simulation", Shorter)
    found = between(bundle(2, 3), "sound", "off")
    assert found.first is not None
    assert (found.first.index, found.first.here) == (3, None)
    assert (
        found.first.words
        == f"The run under sound has ended, while without a cache {found.first.pod} is still tried."
    )
    assert found.as_dict()["first"]["here"] is None
    assert (found.here.cycles, found.there.cycles) == (2, 3)


def test_settings_of_one_mode_are_reported_apart() -> None:
    """Two remedies of one mode are called by where they are set."""
    read = bundle(6, 8, more=APART)
    found = diverge(
        with_cache(read, cache="v1.11", audit=True),
        with_cache(read, cache="v1.11", equivalence_class="attributes", audit=True),
    )
    assert (found.here.cache, found.there.cache, found.first) == ("v1.11", "v1.11", None)


def test_pods_that_the_scenario_deleted_count_where_they_were() -> None:
    """A pod that is gone in the end was elsewhere all the same."""
    read = bundle(4, 5, more=APART)
    wrong = next(d.pod for d in Simulation(with_cache(read, cache="v1.11")).__iter__() if d.index == 5)
    gone = operation(1, "delete", pod(wrong.partition("/")[2]))
    assert between(replace(read, operations=(gone,)), "off", "v1.11").differing == 1


def test_progress_counts_the_cycles_of_both() -> None:
    """Each pause tells how many cycles are done and how many are expected."""
    read = with_cache(bundle(2, 3), cache="sound")
    assert list(diverging(read, read)) == [(2, 6), (4, 6), (6, 6)]


def test_the_answer_is_json() -> None:
    """Everything that is reported can be written."""
    found = between(bundle(6, 8, more=APART), "off", "v1.11").as_dict()
    assert json.loads(json.dumps(found)) == found
    assert set(found["first"]) == {"index", "step", "pod", "here", "there", "words"}


@pytest.fixture
def file(tmp_path: Path) -> str:
    """Five nodes and six pods that must remain apart."""
    path = tmp_path / "apart.yaml"
    path.write_text(bundle(5, 6, more=APART).to_yaml())
    return str(path)


@pytest.mark.parametrize(
    ("options", "first"),
    [(["--cache", "v1.11"], ""), (["--cache", "sound", "--cache", "v1.11"], "sound")],
)
def test_the_compare_command_takes_modes(
    options: list[str], first: str, file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Given once the mode is B's; the first different decision and the evaluations are reported."""
    assert main(["compare", file, *options, "--json"]) == 0
    reported = json.loads(capsys.readouterr().out)
    own = "the bundle's own"
    assert reported["configs"] == [f"{own}, cache {first}" if first else own, f"{own}, cache v1.11"]
    assert reported["configuration"] == [f"cache: {first or 'off'} under A, v1.11 under B"]
    assert (reported["firstDecision"]["index"], reported["placementsDiffering"]) == (6, 1)
    evaluations = [reported["metrics"][side]["evaluations"] for side in ("a", "b")]
    assert evaluations[0] > evaluations[1]
    assert (evaluations[0] == 390) == (not first)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "specify --config FILE, --cache MODE or --scheduler RELEASE, once or twice"),
        (["--cache", "off"] * 3, "--cache is given 3 times: two configurations are compared"),
    ],
)
def test_the_compare_command_says_what_it_lacks(
    options: list[str], message: str, file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without anything to compare, or with too much, it ends with 2."""
    assert main(["compare", file, *options]) == 2
    assert message in capsys.readouterr().err


def test_a_tie_break_that_moved_on_is_no_decision(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Of two runs that end every cycle alike, one may rank nodes that the other is offered."""
    one = Path(file)
    one.write_text(bundle(1, 1).to_yaml())
    assert main(["compare", file, "--cache", "batching", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["same"] is True


def test_a_node_that_is_new_is_no_difference() -> None:
    """An operation that every mode hears of changes nothing between them."""
    grown = replace(bundle(2, 3), operations=(operation(1, "create", node("late")),))
    assert between(grown, "off", "sound").first is None
