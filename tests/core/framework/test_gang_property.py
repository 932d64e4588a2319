from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler_core.kubernetes.model import KubernetesObject
from scheduler_core.schedulers.coscheduling import CLASSIC, CURRENT, read_arguments
from scheduler_core.schedulers.coscheduling.plugin import Coscheduling, PodGroupController
from scheduler_core.schedulers.v1_22.plugins.default_preemption import DefaultPreemption
from scheduler_core.schedulers.v1_22.releases import RELEASES
from scheduler_core.schedulers.v1_22.scheduler import Framework, Pace
from tests.core.coscheduling.parts import group, node, pod
from tests.core.trials import trials

GROUPS = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 6), st.integers(1, 3)), max_size=3)


def scheduler(
    groups: list[tuple[int, int, int]], rooms: list[int], singles: int, edition_turns: tuple[str, str]
) -> tuple[Framework, Coscheduling]:
    """Make groups of (minMember, pods, CPU each), nodes, and single pods of 1 CPU."""
    edition = CLASSIC if edition_turns[0] == "classic" else CURRENT
    plugin = Coscheduling(edition, read_arguments(edition, {"permitWaitingTimeSeconds": 5}), 1609459260.0)
    objects: list[KubernetesObject] = [node(f"n{n}", room * 1000) for n, room in enumerate(rooms)]
    for number, (minimum, count, cpu) in enumerate(groups):
        objects.append(group(minimum, f"g{number}"))
        objects += [pod(f"g{number}-{n}", f"g{number}", cpu=cpu * 1000) for n in range(count)]
    objects += [pod(f"s{n}", "", cpu=1000) for n in range(singles)]
    plugins = (DefaultPreemption(), plugin, PodGroupController(edition))
    pace = Pace(cycle=0.05, turns=edition_turns[1])  # type: ignore[arg-type]
    release = RELEASES[edition.kubernetes]
    return Framework(objects, plugins, queue_sort=plugin, pace=pace, release=release), plugin


@settings(max_examples=trials(40))
@given(
    GROUPS,
    st.lists(st.integers(0, 8), min_size=1, max_size=3),
    st.integers(0, 3),
    st.tuples(st.sampled_from(["classic", "current"]), st.sampled_from(["between-cycles", "when-idle"])),
)
def test_a_group_runs_whole_or_not_at_all(
    groups: list[tuple[int, int, int]], rooms: list[int], singles: int, edition_turns: tuple[str, str]
) -> None:
    """Whatever groups meet whatever nodes: minMember members are bound or none, no node holds too much."""
    made, plugin = scheduler(groups, rooms, singles, edition_turns)
    for until in (0.5, 7.0, 100.0):
        made.run(until, attempts=400)
        made.take_turns()
        used, room = made.cluster.used[0], made.cluster.columns.allocatable[0]
        assert (used <= room).all()
        held = Counter(state.node_name for state in made.cluster.pods.values() if state.node_name)
        assert sum(held.values()) == len(made.bound()) + len(made.binding)
        assert plugin.state.waiting.keys() == {waiting.key for waiting in made.waiting}
        bound = Counter(key.split("-")[0] for key in made.bound())
        for number, (minimum, *_) in enumerate(groups):
            assert bound[f"ns/g{number}"] == 0 or bound[f"ns/g{number}"] >= minimum
        assert len(made.queue.pods) + len(made.binding) + len(made.bound()) == len(made.pods)
