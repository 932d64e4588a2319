from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler_core.cluster.controllers import Change
from scheduler_core.cluster.controllers.deployment import fenceposts
from scheduler_core.kubernetes.model import ObjectMeta, Pod, UpdateStrategy, Workload
from tests.core.controllers.driver import World, node, sets, workload
from tests.core.trials import trials

# replicas, maxSurge, maxUnavailable: so many too many, so many too few
FENCEPOSTS = [
    (4, None, None, 1, 1),
    (3, None, None, 1, 0),  # 25 % of 3: surge rounds up, unavailable down
    (10, "25%", "25%", 3, 2),
    (10, 0, "5%", 0, 1),  # both would be 0, and nothing would ever get on
    (10, "0%", 0, 0, 1),
    (5, "100%", "100%", 5, 5),
    (2, 3, 7, 3, 2),  # no more can be missing than there are
    (0, None, None, 0, 1),
]


@pytest.mark.parametrize(("replicas", "surge", "unavailable", "more", "less"), FENCEPOSTS)
def test_percentages_round_as_kubernetes_rounds(
    replicas: int, surge: Any, unavailable: Any, more: int, less: int
) -> None:
    """The surge is rounded up, what may be missing down; both at 0 leave one to be missing."""
    strategy = UpdateStrategy(max_surge=surge, max_unavailable=unavailable)
    owner = Workload("Deployment", ObjectMeta("web"), replicas=replicas, strategy=strategy)
    assert fenceposts(owner) == (more, less)


def rolling(surge: Any, unavailable: Any) -> dict[str, Any]:
    """Write a strategy."""
    return {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}}


def extremes(changes: list[Change], pods: list[Pod]) -> tuple[int, int]:
    """Replay changes one by one from the pods before; return the fewest available and the most there were."""
    there = {pod.meta.name: pod.available for pod in pods}
    fewest, most = sum(there.values()), len(there)
    for action, obj, *_ in changes:
        if isinstance(obj, Pod):
            if action == "delete":
                del there[obj.meta.name]
            else:
                there[obj.meta.name] = obj.available
            fewest, most = min(fewest, sum(there.values())), max(most, len(there))
    return fewest, most


AMOUNTS = st.one_of(st.integers(0, 6), st.integers(0, 100).map(lambda n: f"{n}%"))


@settings(max_examples=trials(40))
@given(
    replicas=st.integers(1, 12),
    surge=AMOUNTS,
    unavailable=AMOUNTS,
    delay=st.sampled_from([0.0, 2.0]),
    start=st.sampled_from(["0", "5"]),
    rollouts=st.integers(1, 3),
    pause=st.sampled_from([0.0, 3.0, 200.0]),
)
def test_a_rolling_update_keeps_within_its_bounds(
    replicas: int, surge: Any, unavailable: Any, delay: float, start: str, rollouts: int, pause: float
) -> None:
    """After every single change enough pods are available, and not too many exist; updates may overtake."""
    common: dict[str, Any] = {"replicas": replicas, "strategy": rolling(surge, unavailable)}
    annotations = {"podstep/start-seconds": start}
    world = World(
        node("n1"), node("n2"), workload("Deployment", annotations=annotations, **common), delay=delay
    )
    world.run(100)
    pods, before = world.pods(), len(world.log)
    assert len(pods) == replicas
    for number in range(rollouts):
        image = f"next-{number}"
        world.apply(workload("Deployment", image=image, annotations=annotations, **common))
        world.run(world.now + pause)
    world.run(world.now + 2000)
    owner = world.get("Deployment", "web")
    more, less = fenceposts(owner)
    fewest, most = extremes([change for _, change in world.log[before:]], pods)
    assert fewest >= replicas - less
    assert most <= replicas + more
    assert {pod.containers[0].image for pod in world.pods()} == {f"next-{rollouts - 1}"}
    assert world.phases() == {"Running": replicas}


def test_an_update_that_does_not_start_stops_at_its_bounds() -> None:
    """Pods that never get ready take the surge and what may be missing, and no more of the old ones."""
    old = workload("Deployment", replicas=10)
    world = World(node("n1"), old)
    broken = workload("Deployment", replicas=10, image="broken", annotations={"podstep/start-seconds": "1e9"})
    world.apply(broken)
    world.run(1000)
    assert sets(world) == {"1": 8, "2": 5}  # 25 % of 10: 2 may be missing, 3 too many
    world.apply(old)
    world.run(2000)
    assert world.phases() == {"Running": 10}
    assert sets(world) == {"3": 10, "2": 0}  # the first set again, under a new revision


def images(world: World) -> dict[str, int]:
    """Count the pods by image."""
    return dict(Counter(pod.containers[0].image for pod in world.pods()))


def test_a_paused_deployment_rolls_nothing_out_until_it_is_resumed() -> None:
    """A new template makes no set while it is paused, a new scale is passed on; both hold when it goes on."""
    world = World(node("n1"), workload("Deployment", replicas=4))
    world.apply(workload("Deployment", replicas=4, image="two", paused=True))
    world.run(100)
    assert images(world) == {"one": 4}
    world.apply(workload("Deployment", replicas=6, image="two", paused=True))
    world.run(200)
    assert images(world) == {"one": 6}
    world.apply(workload("Deployment", replicas=6, image="two"))
    world.run(300)
    assert images(world) == {"two": 6}


def test_an_update_that_is_paused_stays_where_it_is() -> None:
    """Neither set grows or shrinks, however ready the new pods are; the update goes on when it is resumed."""
    start: dict[str, Any] = {"annotations": {"podstep/start-seconds": "10"}}
    world = World(node("n1"), workload("Deployment", replicas=4))
    world.apply(workload("Deployment", replicas=4, image="two", **start))
    world.run(5)
    assert sets(world) == {"1": 3, "2": 2}
    world.apply(workload("Deployment", replicas=4, image="two", paused=True, **start))
    world.run(1000)
    assert sets(world) == {"1": 3, "2": 2}
    world.apply(workload("Deployment", replicas=4, image="two", **start))
    world.run(2000)
    assert images(world) == {"two": 4}


def test_a_deployment_that_is_created_paused_makes_nothing() -> None:
    """Without a set there is nothing to scale; the first one is made when it is resumed."""
    world = World(node("n1"), workload("Deployment", replicas=2, paused=True))
    world.run(10)
    assert world.of("ReplicaSet") == []
    world.apply(workload("Deployment", replicas=2))
    assert len(world.pods()) == 2


def test_recreate_waits_until_the_last_old_pod_is_gone() -> None:
    """Old and new pods never exist together."""
    world = World(node("n1"), workload("Deployment", replicas=3, strategy={"type": "Recreate"}))
    before = len(world.log)
    world.apply(workload("Deployment", replicas=3, image="two", strategy={"type": "Recreate"}))
    done = [(c.action, c.object) for _, c in world.log[before:] if isinstance(c.object, Pod)]
    order = [action for action, pod in done if action != "update"]
    assert order == ["delete"] * 3 + ["create"] * 3
    assert world.phases() == {"Running": 3}


@pytest.mark.parametrize("replicas", [7, 1, 0])
def test_a_new_scale_is_passed_on(replicas: int) -> None:
    """More or fewer replicas change the one ReplicaSet, without a new revision."""
    world = World(node("n1"), workload("Deployment", replicas=3))
    world.apply(workload("Deployment", replicas=replicas))
    assert sets(world) == {"1": replicas}
    assert len(world.pods()) == replicas


def test_a_deleted_deployment_takes_sets_and_pods_with_it() -> None:
    """Garbage collection follows the owners down."""
    world = World(node("n1"), workload("Deployment", replicas=3))
    world.apply(workload("Deployment", replicas=3, image="two"))
    world.delete(world.get("Deployment", "web"))
    assert (world.of("ReplicaSet"), world.pods()) == ([], [])


def test_ten_old_sets_are_kept() -> None:
    """Older ones without pods are deleted (revisionHistoryLimit)."""
    world = World(node("n1"), workload("Deployment", replicas=2))
    for number in range(2, 16):
        world.apply(workload("Deployment", replicas=2, image=str(number)))
    assert sets(world) == {**{str(number): 0 for number in range(5, 15)}, "15": 2}


def test_a_deleted_replica_set_comes_back() -> None:
    """The Deployment makes the set for its template again, and the set its pods."""
    world = World(node("n1"), workload("Deployment", replicas=2))
    world.delete(world.of("ReplicaSet")[0])
    assert len(world.of("ReplicaSet")) == 1
    assert world.phases() == {"Running": 2}


def test_every_other_template_makes_a_new_set() -> None:
    """Also one that differs in what the name of the set does not tell."""
    world = World(node("n1"), workload("Deployment", replicas=2))
    world.apply(workload("Deployment", replicas=2, restartPolicy="Always"))
    assert sets(world) == {"1": 0, "2": 2}
    assert {pod.restart_policy for pod in world.pods()} == {"Always"}


def test_old_pods_in_trouble_stay_while_the_new_ones_are_missing_too() -> None:
    """What the new set lacks counts as missing: unhealthy old pods are not cleared away on top of it."""
    world = World(node("n1"), workload("Deployment", replicas=10))
    world.apply(
        workload("Deployment", replicas=10, image="two", annotations={"podstep/start-seconds": "100"})
    )
    for pod in [pod for pod in world.pods() if pod.containers[0].image == "one"][:3]:
        world.change(pod, ready=False, restarts=7)
    assert sets(world) == {"1": 8, "2": 5}
    world.run(1000)
    assert sets(world) == {"1": 0, "2": 10}
