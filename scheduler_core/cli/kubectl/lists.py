"""Lists of a cluster's objects, by ``kubectl get`` of the user, without what scheduling does not read."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock, Timer
from typing import Any

import msgspec
from msgspec import Struct

from scheduler_core.authoring import redaction
from scheduler_core.cli.input_files import InputError
from scheduler_core.formats.bundle import BundleEntry
from scheduler_core.scenario.dump_kinds import DUMP_ROWS

AT_ONCE = 4
"""Calls of kubectl that run together."""
LIST_BYTES = 1 << 29
"""Of the output of a call."""
MESSAGE = 500  # characters of what kubectl says about a failure
SECONDS = 300
"""A call may take as long; each of its requests has kubectl's own ``--request-timeout``."""
REDACTED = ("env", "annotations", "secrets")
OPTIONAL = (
    *("resourceclaims.resource.k8s.io", "resourceslices.resource.k8s.io", "deviceclasses.resource.k8s.io"),
    *("resourceclaimtemplates.resource.k8s.io", "podgroups.scheduling.x-k8s.io"),
)
"""Resources that not every cluster has, and whose objects decide where pods go."""
WEAKENS = {resource: row.weakens for row in DUMP_ROWS for resource in row.kinds.values()}
NEEDED = ("nodes", "pods")
UNKNOWN = "the server doesn't have a resource type"
FORBIDDEN = "(Forbidden)"


class Kubectl(Struct, frozen=True):
    """The user's kubectl with the flags that choose the cluster; ``namespace`` is "" for none."""

    flags: tuple[str, ...] = ()
    namespace: str = ""

    def command(self, resource: str, *, namespace: str = "") -> tuple[str, ...]:
        """Return the call that lists a resource, in all namespaces or in one."""
        where = f"--namespace={namespace}" if namespace else "--all-namespaces"
        program = os.environ.get("KUBECTL", "kubectl")
        return program, "get", resource, where, "--output=json", "--request-timeout=60s", *self.flags


class KubectlError(Exception):
    """A call failed; the text is the last line that kubectl printed."""


class ListedCluster(Struct):
    """What was read: objects without what was left out, how much that was, and what is missing."""

    documents: list[dict[str, Any]]
    notes: list[str]
    left_out: redaction.Contents

    def counts(self) -> Counter[str]:
        """Return the number of objects of each kind."""
        return Counter(str(document.get("kind")) for document in self.documents)

    def preview(self) -> Iterator[str]:
        """Yield what was read, what was left out, and what tells names."""
        listed = ", ".join(f"{count:,} {kind}" for kind, count in self.counts().items())
        kept = redaction.contents(_entries(self.documents))
        yield f"objects: {listed or 'none'}"
        yield (
            f"left out: {self.left_out.env:,} env values, {self.left_out.commands:,} command lines, "
            f"{self.left_out.annotations:,} annotations; Secrets and ConfigMaps were not read"
        )
        yield f"kept: {kept.names:,} names, {kept.images:,} images"


def calls(kubectl: Kubectl) -> list[tuple[str, ...]]:
    """Return every call that :func:`read` makes, as it is shown before."""
    return [kubectl.command(resource) for resource in (*WEAKENS, *OPTIONAL)]


def read(kubectl: Kubectl) -> ListedCluster:
    """Read the cluster. Nodes are read first: who cannot list them gets no answer.

    Raises:
        InputError: kubectl is missing, or nodes or pods cannot be listed.
    """
    reading = _ListReading(kubectl)
    reading.take("nodes")
    with ThreadPoolExecutor(AT_ONCE) as threads:
        list(threads.map(reading.take, [one for one in (*WEAKENS, *OPTIONAL) if one != "nodes"]))
    order = {resource: at for at, resource in enumerate((*WEAKENS, *OPTIONAL))}
    lists = sorted(reading.lists.items(), key=lambda pair: order[pair[0]])
    documents = [document for _, listed in lists for document in listed]
    return ListedCluster(documents, sorted(reading.notes), redaction.Contents(**reading.left_out))


class _ListReading:
    """The lists that were read so far; calls run in threads, and one list is decoded at a time."""

    def __init__(self, kubectl: Kubectl) -> None:
        self.kubectl = kubectl
        self.lists: dict[str, list[dict[str, Any]]] = {}
        self.notes: list[str] = []
        self.left_out: Counter[str] = Counter()
        self._lock = Lock()

    def take(self, resource: str) -> None:
        """Read a list, or note why it is missing."""
        try:
            output = output_of(self.kubectl.command(resource))
        except KubectlError as error:
            self._miss(resource, str(error))
        else:
            self._keep(resource, output)

    def _keep(self, resource: str, output: bytes) -> None:
        with self._lock:
            try:
                listed = msgspec.json.decode(output, type=_List).items
                _check(listed)
            except msgspec.DecodeError as error:
                raise InputError(f"kubectl get {resource}: the output is not a list: {error}") from error
            entries = list(_entries(listed))
            del listed, output
            self.left_out.update(redaction.contents(entries).private())
            self.left_out["annotations"] += redaction.contents(entries).annotations
            self.lists[resource] = [_plain(redaction.without(entry, REDACTED)) for entry in entries]

    def _miss(self, resource: str, message: str) -> None:
        if UNKNOWN in message:
            return  # what the API server does not have, decides nothing
        namespace = self.kubectl.namespace
        if resource == "pods" and FORBIDDEN in message and namespace:
            self._keep(resource, _required(self.kubectl.command(resource, namespace=namespace), resource))
            self.notes.append(
                f"pods: only those of {namespace} may be read: nodes look emptier than they are ({message})"
            )
        elif resource in NEEDED:
            raise InputError(_needed(resource, message))
        else:
            weakens = WEAKENS.get(resource, "what they decide is left out")
            self.notes.append(f"{resource}: not read, so {weakens} ({message})")


class _List(Struct):
    items: list[dict[str, Any]]


class _Meta(Struct):
    name: str
    namespace: str = ""


class _Named(Struct):
    kind: str
    metadata: _Meta


def _check(listed: Sequence[dict[str, Any]]) -> None:
    """Raise ValidationError for what no API server lists: an object without kind or name."""
    for document in listed:
        msgspec.convert(document, _Named)


def _entries(documents: Sequence[dict[str, Any]]) -> Iterator[BundleEntry]:
    return (BundleEntry(document, str(document.get("kind", ""))) for document in documents)


def _plain(document: dict[str, Any]) -> dict[str, Any]:
    """Drop managedFields, in which field owners repeat the object's structure."""
    meta = document.get("metadata")
    if isinstance(meta, dict):
        meta.pop("managedFields", None)
    return document


def _required(command: Sequence[str], resource: str) -> bytes:
    try:
        return output_of(command)
    except KubectlError as error:
        raise InputError(_needed(resource, str(error))) from error


def _needed(resource: str, message: str) -> str:
    if FORBIDDEN not in message:
        return f"kubectl get {resource}: {message}"
    return (
        f"kubectl get {resource}: {message}\nNodes and pods are needed: ask for a ClusterRole with the verbs "
        "get and list on nodes and pods, or name your --namespace, where its pods may be listed."
    )


def output_of(command: Sequence[str]) -> bytes:
    """Return what a call prints.

    Raises:
        CallError: It failed, took too long or printed too much.
        InputError: There is no kubectl.
    """
    try:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
    except OSError as error:
        raise InputError(
            f"{command[0]}: {error.strerror or error}; install kubectl, or name it in KUBECTL"
        ) from error
    timer = Timer(SECONDS, process.kill)
    timer.start()
    with process, ThreadPoolExecutor(1) as threads:
        assert process.stdout is not None
        assert process.stderr is not None
        errors = threads.submit(process.stderr.read)
        output = process.stdout.read(LIST_BYTES + 1)
        if len(output) > LIST_BYTES:
            process.kill()
        code = process.wait()
        message = errors.result().decode(errors="replace").strip().splitlines()
    timer.cancel()
    if len(output) > LIST_BYTES:
        raise KubectlError(f"more than {LIST_BYTES >> 20:,} MiB")
    if code:
        raise KubectlError(_shown(message[-1]) if message else f"ended with {code}")
    return output


def _shown(message: str) -> str:
    """Return a message of kubectl without what a terminal would obey."""
    return "".join(one if one.isprintable() else " " for one in message[:MESSAGE]).strip()


def show(commands: Sequence[Sequence[str]]) -> None:
    """Print calls to standard error before they are made."""
    for command in commands:
        print(f"+ {' '.join(command)}", file=sys.stderr)
