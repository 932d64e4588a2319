"""GPUs that pods share: a share lives on one device."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import pytest
import yaml

from scheduler_core import Simulation, load, load_documents
from scheduler_core import simulate as simulate_any
from scheduler_core.explain import explain
from scheduler_core.kubernetes.shared_devices import DeviceDemand, demand_of, room
from scheduler_core.run.trace import trace_line
from tests.core.engine.builders import affinity, node, pod, simulate

HEADER = "name,cpu_milli,memory_mib,num_gpu,gpu_milli\n"
REASON = "Insufficient alibabacloud.com/gpu-milli on one device"


def trace(gpus: int, *pods: tuple[int, int]) -> list[tuple[str, str]]:
    """Return a trace of one node and pods (GPUs, thousandths of each)."""
    rows = "".join(f"p{i},100,100,{count},{milli}\n" for i, (count, milli) in enumerate(pods))
    return [("", f"sn,cpu_milli,memory_mib,gpu,model\nn1,64000,65536,{gpus},T4\n"), ("", HEADER + rows)]


def placed(gpus: int, *pods: tuple[int, int]) -> list[bool]:
    """Tell which of the pods get the node."""
    return [cycle.node is not None for cycle in Simulation(load(trace(gpus, *pods)))]


PLACED: dict[str, tuple[int, list[tuple[int, int]], list[bool]]] = {
    "three of 600 on two": (2, [(1, 600)] * 3, [True, True, False]),
    "two of 500 share one": (1, [(1, 500)] * 3, [True, True, False]),
    "a whole one beside a share": (2, [(1, 300), (1, 1000), (1, 1000)], [True, True, False]),
    "a share beside whole ones": (3, [(2, 1000), (1, 700), (1, 400), (1, 300)], [True, True, False, True]),
    "several whole ones": (4, [(1, 100), (4, 1000), (3, 1000)], [True, False, True]),
    "none at all": (0, [(1, 100), (0, 0)], [False, True]),
}


@pytest.mark.parametrize("case", PLACED)
def test_a_share_finds_room_on_one_device_or_none(case: str) -> None:
    """What is free on several devices does not add up."""
    gpus, pods, found = PLACED[case]
    assert placed(gpus, *pods) == found


RELEASES: dict[str, dict[str, Any]] = {
    "v1.11": {"scheduler": "v1.11"},
    "v1.22": {"scheduler": "v1.22"},
    "v1.37": {"scheduler": "v1.37"},
    "v1.37, the default": {},
    "v1.37 beside others": {
        "scheduler": "v1.22",
        "time": "virtual",
        "schedulers": [{"name": "default-scheduler", "runs": "v1.37"}],
    },
    "v1.11 beside others": {
        "scheduler": "v1.22",
        "time": "virtual",
        "schedulers": [{"name": "default-scheduler", "runs": "v1.11"}],
    },
}


@pytest.mark.parametrize("settings", RELEASES.values(), ids=RELEASES)
@pytest.mark.parametrize("case", PLACED)
def test_a_share_is_of_one_device_under_every_release(case: str, settings: dict[str, Any]) -> None:
    """No release of kube-scheduler knows devices: the rule is the simulator's, and the warnings say so."""
    gpus, pods, found = PLACED[case]
    document = yaml.safe_dump({"kind": "SimulationSettings", "until": 30, **settings})
    scenario = load([*trace(gpus, *pods), ("", document)])
    simulation = simulate_any(scenario)
    list(simulation)
    nodes = {pod.key[-2:]: bool(pod.node_name) for pod in simulation.cluster.pods.values()}
    assert [nodes[f"p{number}"] for number in range(len(pods))] == found
    reported = any("a share of a GPU" in warning.message for warning in scenario.warnings)
    assert reported is any(0 < milli < 1000 for _, milli in pods if gpus)


def test_v1_37_packs_the_devices_of_a_node_again_for_each_of_its_pods() -> None:
    """Where a victim goes, where a pod is nominated, and where a pod leaves."""
    v1_37 = {"kind": "SimulationSettings", "scheduler": "v1.37"}
    held = [share(name, 600, on="n", priority=at) for name, at in (("a", 5), ("b", 1))]
    given = [v1_37, node("n", allocatable=TWO), *held]
    first, *_ = simulate_any(load_documents([*given, share("p", 600, priority=9)]))
    assert first.decision.victims == ("default/b",)
    assert first.message.startswith(f"0/1 nodes are available: 1 {REASON}.")
    run = simulate_any(load_documents([*given, share("p", 600)]))
    list(run)
    reported = str(explain(run, "default/p").as_dict())
    assert "the largest share free on one is 400" in reported
    assert "request from 600 to 400" in reported


def test_the_reason_names_the_devices() -> None:
    """The message says that it is one device that lacks room; where the sum is short, it says just that."""
    *_, last = Simulation(load(trace(2, *[(1, 600)] * 3)))
    assert last.message == f"0/1 nodes are available: 1 {REASON}."
    *_, last = Simulation(load(trace(1, (1, 600), (1, 600))))
    assert last.message == "0/1 nodes are available: 1 Insufficient alibabacloud.com/gpu-milli."


GPUS = {"cpu": "8", "memory": "8Gi", "pods": "9", "alibabacloud.com/gpu-count": "2"}
TWO = {**GPUS, "alibabacloud.com/gpu-milli": "2000"}


def share(name: str, milli: int, **fields: Any) -> Any:
    """Make a pod with a share of a GPU."""
    return pod(name, {"cpu": "1", "alibabacloud.com/gpu-milli": str(milli)}, **fields)


def test_preemption_frees_the_device_that_is_needed() -> None:
    """One victim is enough: with its share gone one of the devices has room."""
    first, *_ = simulate(
        node("n", allocatable=TWO),
        share("a", 600, on="n"),
        share("b", 600, on="n"),
        share("p", 600, priority=9),
    )
    assert first.decision.victims == ("default/b",)


def test_a_nominated_share_keeps_its_room() -> None:
    """A pod that is nominated to a node counts on its devices in the first pass."""
    late = affinity("podAffinity", app="x")
    cycles = list(
        simulate(
            node("n", allocatable=TWO),
            share("a", 600, on="n", priority=9),
            share("waiting", 600, priority=9, nominatedNodeName="n", affinity=late),
            share("p", 600, priority=5),
        )
    )
    assert cycles[-1].message == f"0/1 nodes are available: 1 {REASON}."


def test_a_device_is_free_again_when_its_pod_goes() -> None:
    """The trace's deletions give devices back, and the pods that wait get them."""
    head = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,creation_time,deletion_time\n"
    rows = "a,1,1,1,600,0,10\nb,1,1,1,600,1,\nc,1,1,1,600,2,\n"
    text = [("", "sn,cpu_milli,memory_mib,gpu,model\nn1,9000,9000,2,T4\n"), ("", head + rows)]
    run = Simulation(load(text))
    assert [(c.pod[-1], c.node is not None) for c in run] == [
        ("a", True),
        ("b", True),
        ("c", False),
        ("c", True),
    ]


def test_why_names_the_largest_room_and_a_remedy_that_works() -> None:
    """The share can be lowered to what one device has, or a device can be added."""
    run = Simulation(load(trace(2, *[(1, 600)] * 3)))
    list(run)
    reported = str(explain(run, "default/p2").as_dict())
    assert "the largest share free on one is 400" in reported
    assert "add 1 GPU to node n1" in reported
    assert "request from 600 to 400" in reported


def test_what_pods_ask_of_devices() -> None:
    """Thousandths make up devices; what is more than whole devices is one more."""
    names = "alibabacloud.com/gpu-milli", "alibabacloud.com/gpu-count"
    cases: list[tuple[int, int, DeviceDemand | None]] = [
        (0, 0, None), (600, 0, DeviceDemand(0, 600)), (1000, 1, DeviceDemand(1, 0)),
        (2000, 2, DeviceDemand(2, 0)),
        (1500, 0, DeviceDemand(2, 0)), (0, 3, DeviceDemand(3, 0)),
    ]  # fmt: skip
    assert [demand_of(dict(zip(names, case[:2]))) for case in cases] == [case[2] for case in cases]


def packs(devices: int, shares: Sequence[int]) -> bool:
    """Try every way to put shares on devices."""

    def rest(free: list[int], left: Sequence[int]) -> bool:
        return not left or any(
            free[n] >= left[0] and rest([*free[:n], free[n] - left[0], *free[n + 1 :]], left[1:])
            for n in range(len(free))
        )

    return rest([1000] * devices, shares)


def test_no_share_is_placed_that_no_packing_has_room_for() -> None:
    """Against a search through all ways: what is called room is some, and a free device is always found."""
    dice = random.Random(5)
    for _ in range(300):
        devices = dice.randint(1, 3)
        shares: list[int] = []
        for share_ in (dice.choice((100, 250, 300, 400, 500, 600, 900)) for _ in range(6)):
            idle, largest = room(devices, [DeviceDemand(0, one) for one in shares])
            assert packs(devices - idle, shares)
            if largest >= share_:
                shares.append(share_)
                assert packs(devices, shares)


def test_reuse_of_what_is_known_of_other_nodes_changes_nothing() -> None:
    """Nodes in equal use of all resources may share their devices differently."""
    nodes = [node(f"n{i}", allocatable=TWO) for i in range(4)]
    sizes: Iterable[int] = (700, 500, 300, 500, 900, 100, 600, 600, 400, 800, 200, 600, 300, 700, 600, 500)
    pods = [share(f"p{i}", size) for i, size in enumerate([*sizes, *sizes])]
    runs = [[c.node for c in simulate(*nodes, *pods, reuse=reuse)] for reuse in (True, False)]
    assert all(one == other for one, other in pairwise(runs))
    assert None in runs[0]


@pytest.mark.usefixtures("counted")
def test_shares_are_repeated_and_undone_at_once() -> None:
    """From wherever a run is repeated to or goes back to, the rest is that of the straight run."""
    sizes = [700, 500, 300, 500, 900, 100, 600, 600, 400, 800, 200, 600, 300, 700, 600, 500]
    scenario = simulate(
        *(node(f"n{i}", allocatable=TWO) for i in range(4)),
        *(share(f"p{i}", size) for i, size in enumerate(sizes)),
    ).scenario
    straight = Simulation(scenario)
    lines = [trace_line(cycle) for cycle in straight]
    for index in range(2, len(lines)):
        moved = Simulation(scenario)
        moved.replay(straight.decisions[:index])
        repeated = moved.fork(trace=True)
        assert [trace_line(cycle) for cycle in repeated] == lines[index:]
        assert moved.rewind(index // 2)
        assert [trace_line(cycle) for cycle in moved] == lines[index // 2 :]
