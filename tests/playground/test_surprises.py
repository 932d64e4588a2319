"""What surprises about kube-scheduler v1.37 is said in the story of the cycle where it shows."""

from __future__ import annotations

import pytest

from tests.playground.test_release_panels import MODERN, NODES, PODS, part, played, reported

# Its second backoff takes two seconds, and a step is one.
LABELED_LATER = """---
kind: Scenario
spec:
  operations:
  - step: 2
    patchOperation:
      typeMeta: {kind: Node}
      objectMeta: {name: n1}
      patch: {metadata: {labels: {disk: nvme}}, spec: {taints: [{key: new, effect: NoSchedule}]}}
  - step: 3
    patchOperation:
      typeMeta: {kind: Node}
      objectMeta: {name: n1}
      patch: {spec: {taints: []}}
"""
UNBOUND = """---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {storageClassName: now, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
status: {phase: Pending}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: now}
provisioner: example.com/disks
volumeBindingMode: Immediate
---
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  containers: [{name: c}]
  volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
"""
POD_LEVEL = """---
apiVersion: v1
kind: Pod
metadata: {name: p}
spec: {resources: {requests: {cpu: "2"}}, containers: [{name: c}]}
"""
EVEN = """---
apiVersion: v1
kind: Pod
metadata: {name: p}
spec: {containers: [{name: c, resources: {requests: {cpu: "1", memory: 1Gi}}}]}
"""
EVEN_NODES = "".join(
    f"""---
apiVersion: v1
kind: Node
metadata: {{name: n{number}}}
status: {{allocatable: {{cpu: "4", memory: 4Gi, pods: "9"}}}}
"""
    for number in range(2)
)
LISTED = """---
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  pluginConfig:
  - name: PodTopologySpread
    args: {defaultingType: List, defaultConstraints: []}
"""


@pytest.mark.parametrize(
    ("bundle", "cycle", "sentence"),
    [
        (
            NODES + PODS + LABELED_LATER,
            4,
            "No pod is active, so the head of the backoff queue is tried at once.",
        ),
        (NODES + UNBOUND, 1, "its PostFilter finds no state, and preemption is not tried."),
        (NODES + POD_LEVEL, 1, "NodeResourcesFit ignores spec.resources of the pod that it scores"),
        (EVEN_NODES + EVEN, 1, "NodeResourcesBalancedAllocation gives 75 on 2 nodes"),
        (EVEN_NODES + EVEN, 1, "The tie is broken by heap order, not at random"),
    ],
    ids=["early", "not-found", "pod-level", "75", "heap"],
)
def test_a_surprise_is_reported_where_it_shows(bundle: str, cycle: int, sentence: str) -> None:
    """And not in the cycles of other pods."""
    playback = played(bundle + MODERN)
    assert sentence in reported(playback, cycle)
    assert all(
        sentence not in reported(playback, other) for other in range(1, len(playback)) if other != cycle
    )


@pytest.mark.parametrize(
    ("bundle", "cycle", "said"),
    [
        (EVEN_NODES + EVEN, 1, "Here it is without effect: PodTopologySpread has default constraints"),
        (EVEN_NODES + EVEN + LISTED, 1, "In this cycle it named none."),
        (EVEN_NODES + EVEN + EVEN.replace("name: p", "name: q") + LISTED, 2, "In this cycle it named n"),
    ],
    ids=["default", "first", "second"],
)
def test_the_successor_of_the_equivalence_cache(bundle: str, cycle: int, said: str) -> None:
    """Batching has a tab in its place: what it is, and why it has no effect or which node it named."""
    assert said in part(played(bundle + MODERN), cycle, "cache")["why"]
