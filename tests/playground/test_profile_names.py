"""The cheap record of a cycle names the profile that tried its pod, where there are several."""

from __future__ import annotations

from playground.panels.cycle import light
from playground.playback.playback import Playback
from scheduler_core import load

NODE = """apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
"""
PODS = "".join(
    f"""---
apiVersion: v1
kind: Pod
metadata: {{name: {name}}}
spec: {{schedulerName: {scheduler}, containers: [{{name: c, resources: {{requests: {{cpu: "{cpu}"}}}}}}]}}
"""
    for name, scheduler, cpu in (
        ("a", "default-scheduler", 1),
        ("b", "tidy", 1),
        ("c", "default-scheduler", 9),
    )
)
RENAMED = """---
apiVersion: podstep/v1
kind: Scenario
spec:
  operations:
  - id: rename
    step: 1
    patchOperation:
      typeMeta: {kind: Pod, apiVersion: v1}
      objectMeta: {name: c, namespace: default}
      patch:
        spec: {schedulerName: tidy}
"""


def configuration(*names: str) -> str:
    """Return a KubeSchedulerConfiguration with profiles of these names."""
    listed = ", ".join(f"{{schedulerName: {name}}}" for name in names)
    return f"""---
apiVersion: kubescheduler.config.k8s.io/v1beta2
kind: KubeSchedulerConfiguration
profiles: [{listed}]
"""


def reported(text: str) -> list[tuple[str, str | None]]:
    """Return the pod of every cycle with the profile that its record names."""
    playback = Playback(load(text))
    while not playback.complete:
        playback.advance(1)
    cycles = [playback.cycle(index) for index in range(1, len(playback) + 1)]
    return [(cycle.pod, light(cycle, playback.place(cycle)).get("profile")) for cycle in cycles]


def test_one_profile_is_not_named() -> None:
    """Where there is one it goes without saying."""
    assert {profile for _, profile in reported(NODE + PODS + configuration("default-scheduler"))} == {None}


def test_the_profile_of_a_pod_is_its_scheduler_name_at_that_cycle() -> None:
    """A pod whose schedulerName was changed from outside is another profile's from then on."""
    found = reported(NODE + PODS + configuration("default-scheduler", "tidy") + RENAMED)
    assert [pair for pair in found if pair[0] != "default/c"] == [
        ("default/a", "default-scheduler"),
        ("default/b", "tidy"),
    ]
    own = [profile for pod, profile in found if pod == "default/c"]
    assert own[0] == "default-scheduler"
    assert own[-1] == "tidy"
