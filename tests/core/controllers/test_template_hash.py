"""The hash of a pod template as kube-controller-manager computes it, of any template that podstep accepts."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest

from scheduler_core import load_documents, simulate
from scheduler_core.kubernetes.problems import BundleError

SETTINGS = {"apiVersion": "podstep/v1", "kind": "SimulationSettings", "scheduler": "v1.37", "time": "virtual"}
DEPLOYMENT = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "w"}}
PROBE = {"httpGet": {"path": "/", "port": "http"}, "periodSeconds": 5}
TEMPLATE: dict[str, Any] = {
    "metadata": {"labels": {"app": "w"}, "creationTimestamp": "2026-01-01T00:00:00Z"},
    "spec": {
        "containers": [
            {
                "name": "c",
                "env": [{"name": "a", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}],
                "livenessProbe": PROBE,
                "ports": [{"containerPort": 80}],
                "resources": {"requests": {"cpu": "100m"}},
                "securityContext": {"capabilities": {"add": ["ALL"]}, "runAsUser": 1},
            }
        ],
        "securityContext": {"sysctls": [{"name": "a", "value": "b"}], "fsGroup": 1},
        "initContainers": [{"name": "i", "readinessProbe": PROBE}],
        "volumes": [
            {"name": "v", "emptyDir": {"sizeLimit": "1Gi"}},
            {"name": "w", "hostPath": {"path": "/"}},
            {"name": "x", "projected": {"sources": [{"secret": {"name": "s"}}]}},
        ],
    },
}


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of each value within."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*path, key)
        yield from _places(inner, (*path, key))


@pytest.mark.parametrize("wrong", ["text", 7, ["text"], {"a": "text"}, None])
def test_a_field_of_another_type_hashes(wrong: Any) -> None:
    """What no scheduler reads is not validated: a template that is accepted rolls out whatever it holds."""
    failed = []
    for path in _places(TEMPLATE):
        template = deepcopy(TEMPLATE)
        inner: Any = template
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = deepcopy(wrong)
        spec = {"replicas": 1, "selector": {"matchLabels": {"app": "w"}}, "template": template}
        try:
            simulate(load_documents([SETTINGS, {**DEPLOYMENT, "spec": spec}])).step()
        except BundleError:
            continue
        except Exception as error:
            failed.append((path, error))
    assert failed == []
