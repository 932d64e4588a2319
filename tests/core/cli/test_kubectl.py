"""`kubectl podstep` against an API server of recorded lists, by a stand-in for kubectl and by kubectl."""

from __future__ import annotations

import hmac
import json
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from scheduler_core.authoring import redaction
from scheduler_core.cli import upload
from scheduler_core.cli.kubectl import completions, lists, plugin
from tests.core.cli import api_server
from tests.core.cli.api_server import ApiServer, kubeconfig, serving

PROGRAMS = ["stand-in", *filter(None, [shutil.which("kubectl")])]
PASSWORD = "hunter2"


def node(name: str, cpu: str = "4") -> dict[str, Any]:
    allocatable = {"cpu": cpu, "memory": "32Gi", "pods": "110"}
    meta = {
        "name": name,
        "labels": {"kubernetes.io/hostname": name},
        "annotations": {"example.com/owner": "alice"},
    }
    ready = {"type": "Ready", "status": "True", "lastHeartbeatTime": "2026-11-01T00:00:00Z"}
    return {
        "kind": "Node",
        "metadata": {**meta, "managedFields": [{"manager": "kubelet"}]},
        "status": {"allocatable": allocatable, "capacity": allocatable, "conditions": [ready]},
    }


def pod(name: str, cpu: str, on: str = "", namespace: str = "shop") -> dict[str, Any]:
    environment = [{"name": "PASSWORD", "value": PASSWORD}]
    container = {
        "name": "c",
        "image": "registry.example/web:1",
        "command": ["serve", PASSWORD],
        "env": environment,
    }
    container["resources"] = {"requests": {"cpu": cpu}}  # type: ignore[assignment]
    spec = {
        "containers": [container],
        "schedulerName": "default-scheduler",
        **({"nodeName": on} if on else {}),
    }
    meta = {
        "name": name,
        "namespace": namespace,
        "uid": f"0-{len(name)}-{cpu}",
        "creationTimestamp": "2026-11-01T00:00:00Z",
    }
    return {
        "kind": "Pod",
        "metadata": meta,
        "spec": spec,
        "status": {"phase": "Running", "startTime": "2026-11-01T00:00:01Z"} if on else {"phase": "Pending"},
    }


CLUSTER = [
    node("n1"),
    node("n2"),
    pod("busy", "3", "n1"),
    pod("web", "3500m"),
    pod("other", "3", "n2", namespace="bank"),
    {"kind": "Secret", "metadata": {"name": "db", "namespace": "shop"}, "data": {"password": PASSWORD}},
    {"kind": "ConfigMap", "metadata": {"name": "db", "namespace": "shop"}, "data": {"url": PASSWORD}},
]


@pytest.fixture
def kubectl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Answer kubectl's command line in this process."""

    def output_of(command: Sequence[str]) -> bytes:
        code, printed = api_server.stand_in(command[1:])
        if code:
            raise lists.KubectlError(printed)
        return printed.encode()

    monkeypatch.setattr(lists, "output_of", output_of)


@pytest.fixture(params=PROGRAMS)
def program(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kubectl, as a program."""
    path = str(request.param)
    if path == "stand-in":
        path = str(tmp_path / "kubectl")
        Path(path).write_text(f"#!{sys.executable} -IS\n{Path(api_server.__file__).read_text()}")
        Path(path).chmod(0o700)
    monkeypatch.setenv("KUBECTL", path)
    monkeypatch.setenv("HOME", str(tmp_path))  # of kubectl's cache


@pytest.fixture
def server() -> Iterator[ApiServer]:
    with serving(CLUSTER) as api:
        yield api


@pytest.fixture
def config(server: ApiServer, tmp_path: Path) -> str:
    return f"--kubeconfig={kubeconfig(tmp_path, server)}"


@pytest.mark.usefixtures("program")
def test_why_is_one_line(config: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The scheduler's reason and the smallest change, after every call that was made."""
    assert plugin.main(["why", "web", config]) == 0
    out, err = capsys.readouterr()
    (line,) = out.splitlines()
    assert line.startswith("shop/web is pending: 0/2 nodes are available: 2 Insufficient cpu.")
    assert "Smallest change, for n1: lower the pod's cpu request from 3500m to 1." in line
    shown = [line for line in err.splitlines() if line.startswith("+ ")]
    assert len(shown) == len(lists.calls(lists.Kubectl()))
    assert all(line.split()[2] == "get" for line in shown)


@pytest.mark.usefixtures("kubectl")
def test_secrets_and_configmaps_are_never_read(server: ApiServer, config: str, tmp_path: Path) -> None:
    """Of the API server, only lists that scheduling reads; of pods, no env values and no command lines."""
    file = tmp_path / "snapshot.json"
    assert plugin.main(["snapshot", config, "--file", str(file)]) == 0
    asked = {path.rsplit("/", 1)[-1] for path in server.asked}
    assert "pods" in asked
    assert not asked & {"secrets", "configmaps"}
    text = file.read_text()
    assert not [word for word in (PASSWORD, "alice", "managedFields") if word in text]
    assert '"PASSWORD"' in text


@pytest.mark.usefixtures("kubectl")
def test_a_preview_writes_nothing(
    config: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What would leave is counted and shown, an object of each kind; of names, hashes where asked."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    file = tmp_path / "snapshot.json"
    assert plugin.main(["snapshot", config, "--file", str(file), "--preview", "--hide-names"]) == 0
    out, err = capsys.readouterr()
    assert not file.exists()
    assert "objects: 2 Node, 3 Pod" in err
    assert "left out: 3 env values, 3 command lines, 2 annotations" in err
    assert '"kind": "Pod"' in out
    assert not [word for word in ("busy", "shop", "registry.example") if word in out]
    key = tmp_path / "data" / "podstep" / "names.key"
    assert key.stat().st_mode & 0o777 == 0o600
    assert f'-{hmac.digest(key.read_bytes(), b"n1", "sha256").hex()[:8]}"' in out


def test_a_hash_is_of_the_key_and_keeps_the_order() -> None:
    """A name has one hash by one key, however many others there are; ties break as they did."""
    documents = [{"kind": "Node", "metadata": {"name": name}} for name in ("web-2", "api-1", "web-10")]
    few, many, other = (
        [str(one["metadata"]["name"]) for one in redaction.renamed(given, key)]
        for given, key in ((documents[:2], b"one"), (documents, b"one"), (documents, b"two"))
    )
    assert [name.split("-")[1] for name in few] == [name.split("-")[1] for name in many[:2]]
    assert not {name.split("-")[1] for name in many} & {name.split("-")[1] for name in other}
    assert sorted(many) == [many[1], many[2], many[0]]


@pytest.mark.usefixtures("kubectl")
def test_a_drain_is_a_dry_run(config: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Without --dry-run nothing is answered: podstep drains no node."""
    assert plugin.main(["drain", "n1", config]) == 2
    assert "add --dry-run" in capsys.readouterr().err
    assert plugin.main(["drain", "n1", config, "--dry-run", "--output", "json"]) == 0
    (failed,) = json.loads(capsys.readouterr().out)["events"]
    assert (failed["reason"], failed["object"]) == ("DrainFailed", "n1")
    assert plugin.main(["drain", "n1", config, "--dry-run"]) == 0
    text = capsys.readouterr().out
    assert "Node n1 is not drained: shop/busy declare no controller" in text
    assert "other" not in text  # it stays where it is


@pytest.mark.usefixtures("kubectl")
def test_commands_of_an_audit_name_a_file_that_stays(config: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What was read goes with the command: rows refer to a snapshot, and say how to write it."""
    assert plugin.main(["audit", config, "--subject", "pending"]) == 1
    out, err = capsys.readouterr()
    assert "see: podstep explain cluster.json --step" in out
    assert "cluster.json: what `kubectl podstep snapshot -f cluster.json` writes" in err


@pytest.mark.usefixtures("kubectl")
def test_lists_that_may_not_be_read_are_named(
    server: ApiServer, config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The answer goes on without them, and says which answers that weakens."""
    server.forbidden |= {"poddisruptionbudgets", "priorityclasses"}
    assert plugin.main(["why", "web", config]) == 0
    err = capsys.readouterr().err
    assert "note: poddisruptionbudgets: not read, so a drain is never held back" in err
    assert "note: priorityclasses: not read, so new pods have the priority 0" in err


@pytest.mark.usefixtures("kubectl")
def test_pods_of_one_namespace_are_read_where_no_others_may_be(
    server: ApiServer, config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """With --namespace its pods are read, and what that means for the nodes is said; else a role is named."""
    server.forbidden |= {"pods", "shop/pods"}
    assert plugin.main(["why", "web", config]) == 2
    assert "ask for a ClusterRole" in capsys.readouterr().err
    assert plugin.main(["why", "web", "-n", "shop", config]) == 0
    out, err = capsys.readouterr()
    assert "only those of shop may be read: nodes look emptier than they are" in err
    assert "shop/web was placed on n2" in out


@pytest.mark.usefixtures("program")
def test_without_nodes_there_is_no_answer(
    server: ApiServer, config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing else is read, and nothing answered, if nodes may not be listed."""
    server.forbidden |= {"nodes"}
    assert plugin.main(["why", "web", config]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "nodes is forbidden" in err
    assert not [path for path in server.asked if path.endswith("/pods")]


@pytest.mark.usefixtures("program")
def test_names_are_completed(config: str) -> None:
    """Kubectl completes verbs, and names of pods and nodes, by the cluster that the line chooses."""
    assert {one.partition("\t")[0] for one in completions.candidates([""])} == set(plugin.VERBS)
    assert list(completions.candidates(["drain", config, "n"])) == ["n1", "n2"]
    assert list(completions.candidates(["why", config, "--namespace=shop", "b"])) == ["busy"]
    assert list(completions.candidates(["why", "--kubeconfig=missing", ""])) == []


@pytest.mark.usefixtures("kubectl")
def test_a_server_of_others_is_asked_about(
    config: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is sent to another machine unless its user agrees; the kubeconfig is never part of it."""
    sent: list[bytes] = []

    def send(_server: str, bundle: bytes, _title: str, *, browser: bool) -> str:
        sent.append(bundle)
        return f"https://x/s/{browser}"

    monkeypatch.setattr(upload, "send", send)
    assert plugin.main(["open", config, "--server", "https://podstep.example"]) == 2
    assert sent == []
    assert plugin.main(["open", config, "--server", "https://podstep.example", "--yes"]) == 0
    assert capsys.readouterr().out == "https://x/s/True\n"
    assert b"a-token-of-eve" not in sent[0]


@pytest.mark.usefixtures("kubectl")
def test_many_nodes_are_read_in_chunks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A cluster of 1,200 nodes is listed 500 at a time, and a pod of it explained."""
    with serving([node(f"n{at:04}", "1") for at in range(1_200)] + [pod("web", "3500m")]) as server:
        config = f"--kubeconfig={kubeconfig(tmp_path, server)}"
        assert plugin.main(["why", "web", config]) == 0
    assert "0/1200 nodes are available: 1200 Insufficient cpu" in capsys.readouterr().out
    assert sum(path.endswith("/nodes") for path in server.asked) == 3


@pytest.mark.parametrize(
    ("listed", "wrong"),
    [
        (b"I0101 throttled\n{}", "JSON is malformed"),
        (b'{"items": [{"kind": "Node"', "truncated"),
        (b'{"items": [{"kind": "Node", "metadata": [1]}]}', "Expected `object`"),
        (b'{"items": [{"kind": "Node", "metadata": {}}]}', "missing required field `name`"),
    ],
)
def test_what_is_no_list_is_refused(
    listed: bytes, wrong: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Output that is broken, cut off, or without names is an error that names the call."""
    monkeypatch.setattr(lists, "output_of", lambda _: listed)
    assert plugin.main(["why", "web"]) == 2
    error = capsys.readouterr().err.splitlines()[-1]
    assert error.startswith("kubectl get nodes: the output is not a list") and wrong in error


def test_kubectl_is_needed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Where there is none, the message says how to name one."""
    monkeypatch.setenv("KUBECTL", "/nowhere/kubectl")
    assert plugin.main(["why", "web"]) == 2
    assert "install kubectl, or name it in KUBECTL" in capsys.readouterr().err
