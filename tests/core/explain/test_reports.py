"""What people asked about: each report re-created in a file of ``reports/``, and what the answer has to say.

The rows name the file, the pod, phrases that the lines of ``explain`` contain, and phrases that they do not.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from scheduler_core import load
from scheduler_core.__main__ import main
from scheduler_core.explain import explain
from scheduler_core.explain.cooperative import finished
from scheduler_core.explain.trial import copying
from scheduler_core.explain.v1_37.gang import NOT_PLACED
from scheduler_core.run import simulate

REPORTS = Path(__file__).parent / "reports"

ROWS: tuple[tuple[str, str, tuple[str, ...], tuple[str, ...]], ...] = (
    # every warning of reading that concerns the pod
    (
        *("warnings-runtime-class", "sandboxed"),
        ("honors RuntimeClass (RuntimeClass gvisor)", "spec.runtimeClassName (Pod default/sandboxed)"),
        ("enw", "ServiceAccount"),
    ),
    (
        *("warnings-runtime-class", "plain"),
        ("unknown field spec.containers[].enw",),
        ("Pod default/sandboxed", "ServiceAccount"),
    ),
    ("warnings-claims", "album", (":6: items[2].spec: claim default/photos and 1 more get no volume",), ()),
    ("warnings-claims", "cinema", ("claim default/photos and 1 more get no volume",), ("lost",)),
    ("warnings-claims", "search", ("there is no PersistentVolumeClaim 'default/lost'",), ()),
    (
        "warnings-templates",
        "shop/store-0",
        ("spec.runtimeClassName (StatefulSet shop/store)", "resourcez"),
        (),
    ),
    ("warnings-templates", "shop/other-0", (), ("warning:",)),
    # preemption: the candidates, their victims, and the rule that chose
    (
        *("preemption-budget", "urgent"),
        (
            "Cycle 1 evicted default/batch from b for it.",
            "a: it would evict default/cache (priority 10), violating PodDisruptionBudget default/cache",
            "b: it would evict default/batch (priority 500), violating no PodDisruptionBudget",
            "b is chosen: fewest PDB violations (a 1, b 0).",
        ),
        (),
    ),
    (
        *("preemption-priority", "urgent"),
        (
            "a: it would evict default/low-1 (priority 10), default/low-2 (priority 10)",
            "c: no candidate, because deleting pods does not resolve the failure (node(s) had untolerated",
            "The candidates are equal by fewest PDB violations, lowest priority of the highest victim. b is",
            "b is chosen: smallest sum of the victims' priorities (a 20, b 10).",
        ),
        (),
    ),
    ("preemption-budget", "batch", ("was preempted on b", "b is chosen: fewest PDB violations"), ()),
    # advice that changes something, the realistic first
    (
        *("daemon-full-node", "ops/logs-cnzvm"),
        (
            "the pod is for node edge alone: the controller of DaemonSet ops/logs pins it there",
            "create the PriorityClass logs-priority with the value 1,000",
            "priorityClassName logs-priority (1,000): preemption then evicts default/web from edge",
            "delete pod default/web (priority 0) from node edge",
        ),
        ("node affinity", " on core", "add a node"),
    ),
    (
        *("daemon-classes", "ops/logs-cnzvm"),
        ("give the pod priorityClassName agents (5,000): preemption then evicts default/web from edge",),
        ("polite", "create the PriorityClass"),
    ),
    (
        *("daemon-of-a-dump", "ops/logs-x7k2p"),
        ("from 4Gi to 1Gi", "Make the change in the pod template of DaemonSet logs as well"),
        ("drop", " on large", "delete and recreate"),
    ),
    (
        *("accelerators", "trainer"),
        (
            "Smallest change with which it fits on gpu-1:\n  - add 2 nvidia.com/gpu to node gpu-1",
            "priorityClassName training (700): preemption then evicts default/notebook from gpu-1",
            "add a node like gpu-1 (cpu 8, memory 16Gi, nvidia.com/gpu 2)",
        ),
        (),
    ),
    (
        *("accelerators-none", "train-tgqs4"),
        ("add a node like a (cpu 4, memory 8Gi), but with 6 cpu, 1 amd.com/gpu",),
        ("fits on a:\n  - lower the pod's cpu request from 6 to 4\n  - lower the pod's amd.com/gpu",),
    ),
    # devices: what is left on each, and what refused it
    (
        *("devices-capacity", "three"),
        (
            "request m: 1 device of class memory-card; the node has 3, 0 of them free",
            "8Gi of memory asked for, 0 of 16Gi left (held by default/one-m-6wg9c, default/two-m-mk8dt)",
            "card-1: it has no capacity memory",
            "card-2: its taint cards.example.com/broken:NoSchedule is not tolerated",
        ),
        ("each request alone has enough", "Preemption in"),
    ),
    ("devices-capacity", "large", ("card-0: its requestPolicy does not allow 12Gi of memory",), ()),
    (
        *("devices-partitions", "second"),
        (
            "device gpu.example.com/a/gpu-0: 40Gi of the counter gpu-0/memory needed, 20Gi left",
            "selector #0 of class whole refuses 2",
        ),
        ("each request alone has enough",),
    ),
    # volumes: a class that waits for the pod, a claim recreated in the node's zone, the missing volume
    (
        *("volumes-immediate", "wiki"),
        (
            "claim default/notes names no class, and none is the default: it needs a volume",
            "recreate claim default/notes with class fast (WaitForFirstConsumer)",
            "The API server does not permit another class or volume for a claim: delete and recreate it",
        ),
        ("No change",),
    ),
    (
        *("volumes-immediate", "blog"),
        ("create the PersistentVolumeClaim default/posts, of class fast",),
        ("No change",),
    ),
    (
        *("volumes-zone", "db"),
        (
            "volume pv-1 is not reachable from node b: it is in (topology.kubernetes.io/zone In z1)",
            "recreate claim default/data with class fast (WaitForFirstConsumer), without what is on pv-1",
        ),
        ("drop the node affinity",),
    ),
    (
        *("volumes-zone-immediate", "db"),
        (
            "WaitForFirstConsumer in StorageClass fast\n  - recreate claim default/data with",
            "A StorageClass cannot be changed: delete and recreate it",
        ),
        ("drop the node affinity",),
    ),
    (
        *("volumes-lost", "db"),
        ("create the PersistentVolume pv-gone of 1Gi for claim default/data", "bound to pv-gone again"),
        ("No change",),
    ),
    # the claims that a StatefulSet's controller would create, whatever volumes its template has
    (
        *("stateful-claims", "bus/queue-1"),
        ("VolumeBinding: log-queue-1 is created or bound", "claim bus/log-queue-1 names no class"),
        ("not found", "bus/log names"),
    ),
    # gangs: what each member found, and the group
    (
        *("gang", "ring-0"),
        (
            "default/ring-0 alone fits on 1 of 2 nodes.",
            "PodGroup default/ring in cycle 1:",
            "default/ring-0: room on small beside the members before it; kept: node(s) had untolerated taint",
            "default/ring-2: small: node(s) didn't match Pod's node affinity/selector; kept: node(s) had",
            "the group: PodGroupInitiallyScheduled=False Unschedulable: minCount (3) cannot be satisfied",
        ),
        (),
    ),
    (
        *("gang-coscheduling", "mpi-2"),
        (
            "PodGroup default/mpi:",
            "default/mpi-2: a: Insufficient cpu",
            "the group needs 3 pods at once; 3 pods exist, 0",
            "With this alone the pod is not placed: its PodGroup needs room for all of its pods at once.",
        ),
        (),
    ),
    # selectors that miss the pod's own labels
    (
        *("selectors-miss", "spread"),
        (
            "does not count the pod itself: it selects app In (apis), and the pod has app=api",
            "has app=api; so its own workload is not spread",
            "it has no labelSelector, and the pod has app=api",
        ),
        ("it selects app=api",),
    ),
    (
        *("selectors-miss", "web-65d22"),
        (
            "the pod anti-affinity on zone does not select the pod itself: it selects app=proxy",
            "app=web; so it does not keep the pods of ReplicaSet web apart",
        ),
        (),
    ),
    (
        "selectors-miss",
        "lonely",
        ("no pod of the cluster matches, and as the pod does not match either",),
        (),
    ),
    ("selectors-miss", "apart", (), ("Hints",)),
    # a deferred resize takes room
    (
        *("resize-deferred", "needs-memory"),
        (
            "4Gi memory is taken by the deferred resize of default/grows from 2Gi to 6Gi",
            "take back the resize of pod default/grows: its memory request from 6Gi to 2Gi",
        ),
        ("never",),
    ),
    ("resize-deferred", "needs-cpu", ("cpu: requested 3, free 2",), ("deferred resize", "take back")),
    # no kubelet reports what devices serve
    (
        *("devices-extended", "third"),
        ("gpu-0: held by default/first-extended-resources-", "cannot allocate all claims"),
        ("allocatable", "a node like"),
    ),
    (
        *("devices-extended", "misnamed"),
        ("devices serve it, and there is no DeviceClass gpus",),
        ("from 0 allocatable", "a node like", "to 0"),
    ),
    ("preemption-never", "urgent", ("The pod may not preempt: its preemptionPolicy is Never.",), ()),
)


@pytest.mark.parametrize(("report", "pod", "says", "leaves_out"), ROWS)
def test_a_report_is_answered(
    report: str,
    pod: str,
    says: tuple[str, ...],
    leaves_out: tuple[str, ...],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The command line says what the reporter needed to know, and nothing that misleads."""
    assert main(["explain", str(REPORTS / f"{report}.yaml"), "--pod", pod]) == 0
    out = capsys.readouterr().out
    assert not [phrase for phrase in says if phrase not in out], out
    assert not [phrase for phrase in leaves_out if phrase in out], out


@pytest.mark.parametrize("report", sorted(path.stem for path in REPORTS.glob("*.yaml")))
def test_what_is_advised_works(report: str) -> None:
    """Every change of a pod that waits places it in a copy, or says that it does not."""
    scenario = load((REPORTS / f"{report}.yaml").read_text(encoding="utf-8"))
    run = simulate(scenario, trace=False)
    for _ in run:
        pass
    for key in [key for key, state in run.cluster.pods.items() if not state.node_name]:
        answer = explain(scenario, key)
        major = int(answer.step.partition(".")[0])
        for change in answer.changes:
            made = finished(copying(scenario, change, key, index=answer.index, major=major))
            placed = made is not None and made.node is not None
            assert placed is not (NOT_PLACED in change.notes), (key, change.words)
