"""docker/kubernetes: what `podstep audit` says of it, and that it starts what docker-compose.yml does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

import scheduler_core
from playground.queues import WORKERS
from playground.serving.supervisor import PROTOCOLS
from scheduler_core.__main__ import main
from tests.parts import REPOSITORY

FOLDER = REPOSITORY / "docker/kubernetes"
DOCUMENTS: list[dict[str, Any]] = [
    document
    for path in sorted(FOLDER.glob("*.yaml"))
    for document in yaml.safe_load_all(path.read_text(encoding="utf-8"))
]
TEMPLATES = {
    one["metadata"]["name"]: one["spec"]["template"] for one in DOCUMENTS if "template" in one.get("spec", {})
}
NODE = """\
---
apiVersion: v1
kind: Node
metadata: {{name: {0}, labels: {{kubernetes.io/hostname: {0}, topology.kubernetes.io/zone: {0}}}}}
status:
  allocatable: {{cpu: "4", memory: 16Gi, pods: "110"}}
  conditions: [{{type: Ready, status: "True"}}]
"""


def test_the_audit_approves(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """On three nodes of three zones nothing is at risk: no drain, no loss of a zone, no rollout."""
    nodes = tmp_path / "nodes.yaml"
    nodes.write_text("".join(NODE.format(name) for name in "abc"))
    assert main(["audit", str(nodes), str(FOLDER), "--output", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert {"pending", "drains", "rollouts"} <= {row["subject"] for row in rows if row["verdict"] == "ok"}
    assert not [row["sentence"] for row in rows if row["verdict"] in {"risk", "unknown"}]


def test_every_container_is_bounded_and_without_rights() -> None:
    """Requests and a limit of memory, a read-only root, no capabilities, no token of the API server."""
    for template in TEMPLATES.values():
        assert template["spec"]["automountServiceAccountToken"] is False
        assert template["spec"]["securityContext"]["runAsNonRoot"] is True
        (container,) = template["spec"]["containers"]
        rights = container["securityContext"]
        assert rights["readOnlyRootFilesystem"] is True
        assert (rights["allowPrivilegeEscalation"], rights["capabilities"]) == (False, {"drop": ["ALL"]})
        assert container["resources"]["requests"].keys() == {"cpu", "memory"}
        assert container["resources"]["limits"]["memory"] == container["resources"]["requests"]["memory"]


def test_commands_are_those_of_a_team() -> None:
    """The web server speaks our protocols, and each worker has its queues."""
    commands = {name: template["spec"]["containers"][0]["command"] for name, template in TEMPLATES.items()}
    assert set(PROTOCOLS) <= set(commands["web"])
    queues = {name: commands[name][commands[name].index("--queues") + 1].split(",") for name, _ in WORKERS}
    assert queues == {name: list(given) for name, given in WORKERS}


def test_the_version_is_the_package_s() -> None:
    """The image has the tag of this version."""
    (kustomization,) = [one for one in DOCUMENTS if one["kind"] == "Kustomization"]
    assert kustomization["images"] == [{"name": "podstep", "newTag": scheduler_core.__version__}]
