"""What has to hold on any cluster, whatever the schedulers, their delays and the design."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import settings as tried
from hypothesis import strategies as st

from scheduler_core.run.trace import trace_line
from tests.core.several.parts import NAMES, fits, noticed, pod, refused, run, settings, several
from tests.core.timed.parts import node

TENTHS = st.integers(0, 20).map(lambda tenths: tenths / 10)


class Drawn(NamedTuple):
    """A random cluster: the CPUs of the nodes, and of each pod the scheduler and its CPUs."""

    nodes: list[int]
    pods: list[tuple[int, int]]


CLUSTERS = st.builds(
    Drawn,
    st.lists(st.integers(1, 5), min_size=2, max_size=5),
    st.lists(st.tuples(st.integers(0, 2), st.integers(1, 3)), min_size=1, max_size=10),
)


def documents(drawn: Drawn, *, selected: bool = False) -> list[str]:
    """Return the manifests; ``selected`` pods ask for the pool of their scheduler."""
    nodes = [node(f"n{place}", cpu, pool=NAMES[place % 3]) for place, cpu in enumerate(drawn.nodes)]
    pods = [
        pod(
            f"p{place}",
            cpu,
            of=NAMES[of] if of else "",
            spec=f"nodeSelector: {{pool: {NAMES[of]}}}, " if selected else "",
        )
        for place, (of, cpu) in enumerate(drawn.pods)
    ]
    return [*nodes, *pods]


def delays(drawn: tuple[float, float, float]) -> str:
    """Return delays as a scheduler's settings have them."""
    watch, decision, bind = drawn
    return f"watchDelay: {watch}, decisionTime: {decision}, bindDelay: {bind}"


RUNS = st.lists(st.sampled_from(("", "runs: v1.11, ", "runs: v1.37, ")), min_size=3, max_size=3)
"""What each of the three schedulers runs, as its settings have it."""

DELAYS = st.lists(st.tuples(TENTHS, TENTHS, TENTHS), min_size=3, max_size=3)


@tried(max_examples=12, deadline=None)
@given(drawn=CLUSTERS, runs=RUNS)
def test_without_delays_there_are_no_conflicts(drawn: Drawn, runs: list[str]) -> None:
    """Three schedulers side by side, each reported at once."""
    listed = (f"{one}name: {name}" for one, name in zip(runs, NAMES))
    made, cycles = run(settings(*listed), *documents(drawn))
    assert noticed(made) == []
    assert refused(made, cycles) == []
    assert fits(made)


@tried(max_examples=12, deadline=None)
@given(drawn=CLUSTERS, late=DELAYS, runs=RUNS)
def test_with_disjoint_filters_there_are_no_conflicts(
    drawn: Drawn, late: list[tuple[float, float, float]], runs: list[str]
) -> None:
    """However late they are reported: each sees the nodes of its pool alone."""
    listed = (
        f"{release}name: {name}, nodes: {{pool: {name}}}, {delays(one)}"
        for release, name, one in zip(runs, NAMES, late)
    )
    made, cycles = run(settings(*listed, design="node-pools"), *documents(drawn))
    assert noticed(made) == []
    assert refused(made, cycles) == []
    placed = [one for one in made.framework.pods.values() if one.node_name]
    for one in placed:
        labels = made.framework.cluster.nodes[one.node_name].meta.labels
        assert labels["pool"] == (one.scheduler_name or NAMES[0])


@tried(max_examples=12, deadline=None)
@given(drawn=CLUSTERS, late=st.tuples(TENTHS, TENTHS, TENTHS), runs=RUNS)
def test_a_single_scheduler_has_no_conflicts(
    drawn: Drawn, late: tuple[float, float, float], runs: list[str]
) -> None:
    """It counts what it has decided; nobody else decides."""
    alone = drawn._replace(pods=[(0, cpu) for _, cpu in drawn.pods])
    made, cycles = run(settings(f"{runs[0]}name: {NAMES[0]}, {delays(late)}"), *documents(alone))
    assert noticed(made) == []
    assert refused(made, cycles) == []
    assert fits(made)


@tried(max_examples=12, deadline=None)
@given(drawn=CLUSTERS, late=st.tuples(TENTHS, TENTHS, TENTHS), runs=RUNS)
def test_one_scheduler_for_all_names_has_no_conflicts(
    drawn: Drawn, late: tuple[float, float, float], runs: list[str]
) -> None:
    """All names share one cache."""
    listed = (f"{runs[0]}name: {name}, {delays(late)}" for name in NAMES)
    made, cycles = run(settings(*listed, design="one-scheduler"), *documents(drawn))
    assert noticed(made) == []
    assert refused(made, cycles) == []
    assert fits(made)


@tried(max_examples=12, deadline=None)
@given(drawn=CLUSTERS, late=DELAYS, selected=st.booleans(), runs=RUNS)
def test_no_node_holds_more_than_its_allocatable(
    drawn: Drawn, late: list[tuple[float, float, float]], selected: bool, runs: list[str]
) -> None:
    """Side by side: the kubelet refuses what is too much, and every refusal is somebody's decision."""
    listed = (f"{release}name: {name}, {delays(one)}" for release, name, one in zip(runs, NAMES, late))
    made, cycles = run(settings(*listed), *documents(drawn, selected=selected))
    assert fits(made)
    reported = [key for key, by in noticed(made) if by == "kubelet"]
    assert sorted(reported) == sorted(refused(made, cycles))


@tried(max_examples=12, deadline=None)
@given(drawn=CLUSTERS, late=DELAYS, runs=RUNS)
def test_an_arbiter_leaves_nothing_for_the_kubelet_to_refuse(
    drawn: Drawn, late: list[tuple[float, float, float]], runs: list[str]
) -> None:
    """The loser is still pending, and is tried again."""
    listed = (f"{release}name: {name}, {delays(one)}" for release, name, one in zip(runs, NAMES, late))
    made, cycles = run(settings(*listed, design="arbitrated"), *documents(drawn))
    assert refused(made, cycles) == []
    assert {by for _, by in noticed(made)} <= {"arbiter"}
    assert fits(made)


@tried(max_examples=12, deadline=None)
@given(drawn=CLUSTERS, late=DELAYS, runs=RUNS, after=st.integers(0, 8), replicas=st.integers(1, 2))
def test_replay_and_fork_go_on_as_the_run_did(
    drawn: Drawn, late: list[tuple[float, float, float]], runs: list[str], after: int, replicas: int
) -> None:
    """Stepping back replays decisions; a fork goes on by itself, and leaves the other as it is."""
    given = [
        settings(
            *(
                f"{release}name: {name}, replicas: {replicas}, {delays(one)}"
                for release, name, one in zip(runs, NAMES, late)
            )
        ),
        *documents(drawn),
    ]
    cycles = list(several(*given, trace=True))
    decided = [cycle.decision for cycle in cycles]
    again = several(*given)
    again.replay(decided[:after])
    other = again.fork(trace=True)
    lines = [trace_line(cycle) for cycle in cycles[after:]]
    assert [trace_line(cycle) for cycle in other] == lines
    assert [cycle.decision for cycle in again] == decided[after:]
    assert other.placement() == again.placement()


def contended(late: float, load: int, runs: str = "") -> int:
    """Return how many pods the kubelet refuses where three schedulers place ``load`` pods each."""
    listed = (f"{runs}name: {name}, watchDelay: {late}, bindDelay: {late}" for name in NAMES)
    nodes = [node(f"n{place}", 2) for place in range(12)]
    pods = [pod(f"p{n}-{of}", 1, of=NAMES[of] if of else "") for n in range(load) for of in range(3)]
    made, cycles = run(settings(*listed), *nodes, *pods)
    assert fits(made)
    return len(refused(made, cycles))


@pytest.mark.parametrize("runs", ["", "runs: v1.11, ", "runs: v1.37, "])
def test_refusals_rise_with_the_load_and_with_the_window(runs: str) -> None:
    """The properties above would find nothing if nothing were ever refused."""
    by_load = [contended(0.5, load, runs) for load in (1, 4, 8)]
    assert by_load[0] < by_load[-1]
    assert by_load == sorted(by_load)
    by_window = [contended(late, 8, runs) for late in (0.0, 0.001, 0.5)]
    assert by_window[0] == 0 < by_window[-1]
    assert by_window == sorted(by_window)
