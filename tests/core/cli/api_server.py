"""An API server that lists recorded objects, and a stand-in for kubectl that speaks its command line."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

Document = dict[str, Any]
FLAGS = {"all-namespaces", "namespace", "output", "request-timeout", "kubeconfig"}

RESOURCES: Mapping[str, tuple[str, str, bool]] = {
    "nodes": ("v1", "Node", False),
    "pods": ("v1", "Pod", True),
    "services": ("v1", "Service", True),
    "namespaces": ("v1", "Namespace", False),
    "secrets": ("v1", "Secret", True),
    "configmaps": ("v1", "ConfigMap", True),
    "persistentvolumes": ("v1", "PersistentVolume", False),
    "persistentvolumeclaims": ("v1", "PersistentVolumeClaim", True),
    "replicationcontrollers": ("v1", "ReplicationController", True),
    "deployments": ("apps/v1", "Deployment", True),
    "replicasets": ("apps/v1", "ReplicaSet", True),
    "statefulsets": ("apps/v1", "StatefulSet", True),
    "daemonsets": ("apps/v1", "DaemonSet", True),
    "controllerrevisions": ("apps/v1", "ControllerRevision", True),
    "jobs": ("batch/v1", "Job", True),
    "cronjobs": ("batch/v1", "CronJob", True),
    "poddisruptionbudgets": ("policy/v1", "PodDisruptionBudget", True),
    "priorityclasses": ("scheduling.k8s.io/v1", "PriorityClass", False),
    "storageclasses": ("storage.k8s.io/v1", "StorageClass", False),
    "csinodes": ("storage.k8s.io/v1", "CSINode", False),
    "csidrivers": ("storage.k8s.io/v1", "CSIDriver", False),
    "csistoragecapacities": ("storage.k8s.io/v1", "CSIStorageCapacity", True),
    "volumeattachments": ("storage.k8s.io/v1", "VolumeAttachment", False),
}
"""The apiVersion and the kind of each resource, and whether it is namespaced."""


def stand_in(arguments: Sequence[str]) -> tuple[int, str]:
    """Answer as ``kubectl get RESOURCE`` does, reading in chunks; returns the exit code and the output."""
    verb, resource, *flags = arguments
    given = dict(flag.lstrip("-").partition("=")[::2] for flag in flags)
    if verb != "get" or given.keys() - FLAGS:
        return 1, f"error: unknown command or flag: {arguments}"
    config = json.loads(Path(given["kubeconfig"]).read_text())
    row = RESOURCES.get(resource)
    if row is None:
        return 1, f'error: the server doesn\'t have a resource type "{resource.partition(".")[0]}"'
    version, kind, namespaced = row
    path = f"/{'api' if version == 'v1' else 'apis'}/{version}"
    if namespaced and "all-namespaces" not in given:
        path += f"/namespaces/{given.get('namespace', 'default')}"
    items: list[Document] = []
    more = ""
    while more or not items:
        status, answer = _asked(
            config["clusters"][0]["cluster"]["server"], f"{path}/{resource}?continue={more}"
        )
        if status == 403:
            return 1, f"Error from server (Forbidden): {answer['message']}"
        items += [{"apiVersion": version, "kind": kind, **one} for one in answer["items"]]
        more = answer["metadata"].get("continue", "")
        if not more:
            break
    if given["output"] == "name":
        return 0, "\n".join(f"{kind.lower()}/{one['metadata']['name']}" for one in items)
    return 0, json.dumps({"apiVersion": "v1", "kind": "List", "items": items, "metadata": {}})


def _asked(server: str, path: str) -> tuple[int, Document]:
    connection = HTTPConnection(urlsplit(server).netloc)
    connection.request("GET", path)
    response = connection.getresponse()
    answer: Document = json.loads(response.read())
    connection.close()
    return response.status, answer


class ApiServer:
    """The lists, who may read them, and the paths that were asked for."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self.lists: dict[str, list[Document]] = {name: [] for name in RESOURCES}
        names = {kind: name for name, (_, kind, _) in RESOURCES.items()}
        for document in documents:
            self.lists[names[document["kind"]]].append(document)
        self.forbidden: set[str] = set()
        self.asked: list[str] = []
        self.url = ""

    def answer(self, path: str) -> tuple[int, Document]:
        """Return the status and the body for a path with its query."""
        split = urlsplit(path)
        parts = split.path.strip("/").split("/")
        if split.path == "/stand-in/resources":
            return 200, dict(RESOURCES)
        self.asked.append(split.path)
        if parts[-1] in self.lists:
            return self._list(parts, parse_qs(split.query))
        return self._discovery("/".join(parts))

    def _list(self, parts: list[str], query: Mapping[str, list[str]]) -> tuple[int, Document]:
        name = parts[-1]
        namespace = parts[parts.index("namespaces") + 1] if "namespaces" in parts[:-1] else ""
        if (
            name in self.forbidden and f"{namespace}/{name}" not in self.forbidden
        ) or f"!{name}" in self.forbidden:
            scope = f"in the namespace {namespace!r}" if namespace else "at the cluster scope"
            message = f'{name} is forbidden: User "eve" cannot list resource "{name}" {scope}'
            return 403, {
                "apiVersion": "v1",
                "kind": "Status",
                "metadata": {},
                "status": "Failure",
                "reason": "Forbidden",
                "code": 403,
                "message": message,
            }
        found = [
            one for one in self.lists[name] if not namespace or one["metadata"].get("namespace") == namespace
        ]
        start, limit = int((query.get("continue") or ["0"])[0] or 0), int((query.get("limit") or ["500"])[0])
        version, kind, _ = RESOURCES[name]
        more = {"continue": str(start + limit)} if start + limit < len(found) else {}
        items = [
            {key: one[key] for key in one if key not in {"kind", "apiVersion"}}
            for one in found[start : start + limit]
        ]
        return 200, {"apiVersion": version, "kind": f"{kind}List", "metadata": more, "items": items}

    def _discovery(self, path: str) -> tuple[int, Document]:
        versions = {version for version, _, _ in RESOURCES.values()}
        if path == "api":
            return 200, {"kind": "APIVersions", "versions": ["v1"]}
        if path == "apis":
            groups = [_group(version) for version in sorted(versions - {"v1"})]
            return 200, {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}
        version = path.partition("/")[2]
        listed = [
            {
                "name": name,
                "singularName": "",
                "namespaced": namespaced,
                "kind": kind,
                "verbs": ["get", "list"],
            }
            for name, (of, kind, namespaced) in RESOURCES.items()
            if of == version
        ]
        return (200 if listed else 404), {
            "kind": "APIResourceList",
            "groupVersion": version,
            "resources": listed,
        }


def _group(version: str) -> Document:
    one = {"groupVersion": version, "version": version.partition("/")[2]}
    return {"name": version.partition("/")[0], "versions": [one], "preferredVersion": one}


@contextmanager
def serving(documents: Sequence[Document]) -> Iterator[ApiServer]:
    """Serve documents on a free port of this machine."""
    server = ApiServer(documents)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, body = server.answer(self.path)
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        server.url = f"http://127.0.0.1:{listening.server_address[1]}"
        thread = threading.Thread(target=listening.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield server
        finally:
            listening.shutdown()
            thread.join()


def kubeconfig(folder: Path, server: ApiServer) -> Path:
    """Write a kubeconfig for the server."""
    named = {"name": "recorded"}
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{**named, "cluster": {"server": server.url}}],
        "users": [{**named, "user": {"token": "a-token-of-eve"}}],
        "contexts": [{**named, "context": {"cluster": "recorded", "user": "recorded"}}],
        "current-context": "recorded",
    }
    file = folder / "kubeconfig"
    file.write_text(json.dumps(content))
    return file


if __name__ == "__main__":
    code, printed = stand_in(sys.argv[1:])
    print(printed, file=sys.stderr if code else sys.stdout)
    sys.exit(code)
