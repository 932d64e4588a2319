"""What has to hold on any cluster, whatever the schedulers, their delays and the design."""

from __future__ import annotations

from typing import NamedTuple

from hypothesis import given
from hypothesis import settings as tried
from hypothesis import strategies as st

from tests.core.several.parts import NAMES, fits, noticed, pod, refused, run, settings
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


DELAYS = st.lists(st.tuples(TENTHS, TENTHS, TENTHS), min_size=3, max_size=3)


@tried(max_examples=12, deadline=None)
@given(drawn=CLUSTERS)
def test_without_delays_there_are_no_conflicts(drawn: Drawn) -> None:
    """Three schedulers side by side, each told at once."""
    made, cycles = run(settings(*(f"name: {name}" for name in NAMES)), *documents(drawn))
    assert noticed(made) == []
    assert refused(made, cycles) == []
    assert fits(made)


@tried(max_examples=12, deadline=None)
@given(drawn=CLUSTERS, late=DELAYS)
def test_with_disjoint_filters_there_are_no_conflicts(
    drawn: Drawn, late: list[tuple[float, float, float]]
) -> None:
    """However late they are told: each sees the nodes of its pool alone."""
    listed = (f"name: {name}, nodes: {{pool: {name}}}, {delays(one)}" for name, one in zip(NAMES, late))
    made, cycles = run(settings(*listed, design="node-pools"), *documents(drawn))
    assert noticed(made) == []
    assert refused(made, cycles) == []
    placed = [one for one in made.framework.pods.values() if one.node_name]
    for one in placed:
        labels = made.framework.cluster.nodes[one.node_name].meta.labels
        assert labels["pool"] == (one.scheduler_name or NAMES[0])


@tried(max_examples=12, deadline=None)
@given(drawn=CLUSTERS, late=st.tuples(TENTHS, TENTHS, TENTHS))
def test_a_single_scheduler_has_no_conflicts(drawn: Drawn, late: tuple[float, float, float]) -> None:
    """It counts what it has decided; nobody else decides."""
    alone = drawn._replace(pods=[(0, cpu) for _, cpu in drawn.pods])
    made, cycles = run(settings(f"name: {NAMES[0]}, {delays(late)}"), *documents(alone))
    assert noticed(made) == []
    assert refused(made, cycles) == []
    assert fits(made)


@tried(max_examples=12, deadline=None)
@given(drawn=CLUSTERS, late=st.tuples(TENTHS, TENTHS, TENTHS))
def test_one_scheduler_for_all_names_has_no_conflicts(drawn: Drawn, late: tuple[float, float, float]) -> None:
    """All names share one cache."""
    listed = (f"name: {name}, {delays(late)}" for name in NAMES)
    made, cycles = run(settings(*listed, design="one-scheduler"), *documents(drawn))
    assert noticed(made) == []
    assert refused(made, cycles) == []
    assert fits(made)


@tried(max_examples=12, deadline=None)
@given(drawn=CLUSTERS, late=DELAYS, selected=st.booleans())
def test_no_node_holds_more_than_its_allocatable(
    drawn: Drawn, late: list[tuple[float, float, float]], selected: bool
) -> None:
    """Side by side: the kubelet refuses what is too much, and every refusal is somebody's decision."""
    listed = (f"name: {name}, {delays(one)}" for name, one in zip(NAMES, late))
    made, cycles = run(settings(*listed), *documents(drawn, selected=selected))
    assert fits(made)
    told = [key for key, by in noticed(made) if by == "kubelet"]
    assert sorted(told) == sorted(refused(made, cycles))


@tried(max_examples=12, deadline=None)
@given(drawn=CLUSTERS, late=DELAYS)
def test_an_arbiter_leaves_nothing_for_the_kubelet_to_refuse(
    drawn: Drawn, late: list[tuple[float, float, float]]
) -> None:
    """The loser is still pending, and is tried again."""
    listed = (f"name: {name}, {delays(one)}" for name, one in zip(NAMES, late))
    made, cycles = run(settings(*listed, design="arbitrated"), *documents(drawn))
    assert refused(made, cycles) == []
    assert {by for _, by in noticed(made)} <= {"arbiter"}
    assert fits(made)


def contended(late: float, load: int) -> int:
    """Return how many pods the kubelet refuses where three schedulers place ``load`` pods each."""
    listed = (f"name: {name}, watchDelay: {late}, bindDelay: {late}" for name in NAMES)
    nodes = [node(f"n{place}", 2) for place in range(12)]
    pods = [pod(f"p{n}-{of}", 1, of=NAMES[of] if of else "") for n in range(load) for of in range(3)]
    made, cycles = run(settings(*listed), *nodes, *pods)
    assert fits(made)
    return len(refused(made, cycles))


def test_refusals_rise_with_the_load_and_with_the_window() -> None:
    """The properties above would find nothing if nothing were ever refused."""
    by_load = [contended(0.5, load) for load in (1, 4, 8)]
    assert by_load[0] < by_load[-1]
    assert by_load == sorted(by_load)
    by_window = [contended(late, 8) for late in (0.0, 0.001, 0.5)]
    assert by_window[0] == 0 < by_window[-1]
    assert by_window == sorted(by_window)
