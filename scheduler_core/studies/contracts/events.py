"""What happens in a case: an event on objects of the cluster, and the operations that it is."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from scheduler_core.authoring.verb_targets import DOMAINS, Targets, VerbTarget
from scheduler_core.authoring.verbs import Asked, entries
from scheduler_core.cluster.v1_37.objects import controller_of, key_of
from scheduler_core.cluster.v1_37.server import ApiServer
from scheduler_core.kubernetes.keys import Key, document_key
from scheduler_core.kubernetes.manifests import Document, Manifest
from scheduler_core.kubernetes.names import did_you_mean
from scheduler_core.kubernetes.support import part_of
from scheduler_core.scenario.history import landed_at, versions_of
from scheduler_core.scenario.history_entries import creating, plain_copy
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.studies.contracts.subjects import WORKLOADS

ARRIVE, UPGRADE = "arrive", "upgrade"
TEMPLATES = ("Pod", "PodTemplate", "Job", *(kind for kind in WORKLOADS if kind != "Job"))
SCALED = ("Deployment", "StatefulSet", "ReplicaSet", "ReplicationController")


class VerbEvent(NamedTuple):
    """A verb on objects at one moment, ``after`` seconds from the event before it.

    ``words`` say it to people, ``of`` are what symmetry tells it by; ``least`` is the least of its ``value``.
    """

    verb: str
    targets: tuple[Key, ...]
    words: str
    value: str = ""
    of: tuple[Key, ...] = ()
    after: float = 0.0
    least: int = 0

    def on(self, there: Collection[Key]) -> VerbEvent:
        """Return the event on those of its objects that there are."""
        left = tuple(key for key in self.targets if key in there)
        return self if left == self.targets else self._replace(targets=left)

    def valued(self, count: int) -> VerbEvent:
        """Return the event with another count."""
        words = [str(count) if word == self.value else word for word in self.words.split(" ")]
        return self._replace(value=str(count), words=" ".join(words))


class Terrain:
    """The objects of a scenario that events are on, as its documents have them.

    A dump may lack workloads that its pods name, which are as the API server has them. Operations may have
    brought and taken nodes by the second at which events begin.
    """

    def __init__(self, scenario: Scenario, server: ApiServer, second: float) -> None:
        stored = (one for kind in WORKLOADS for one in server.of_kind(kind) if controller_of(one) is None)
        self.found: dict[Key, Document] = {(one["kind"], key_of(one)): one for one in stored}
        documents = scenario.documents
        self.found |= {document_key(one): one for one in documents}
        if scenario.operations:
            here = versions_of("Node", documents, landed_at(documents, second))
            self.found = {key: one for key, one in self.found.items() if key[0] != "Node" or key in here}
            self.found |= {key: versions[-1] for key, versions in here.items()}

    @cached_property
    def nodes(self) -> dict[str, Document]:
        """The nodes by name."""
        return {key[1]: one for key, one in self.found.items() if key[0] == "Node"}

    def labels(self, node: str) -> Mapping[str, str]:
        """Return the labels of a node."""
        found = (self.nodes[node].get("metadata") or {}).get("labels") or {}
        return {str(key): str(value) for key, value in found.items()}

    def domains(self, label: str) -> dict[str, list[str]]:
        """Return the nodes by their value of a label."""
        made: dict[str, list[str]] = {}
        for name in self.nodes:
            value = self.labels(name).get(label)
            if value is not None:
                made.setdefault(value, []).append(name)
        return made

    @cached_property
    def label_keys(self) -> list[str]:
        """The keys of all nodes' labels."""
        return list(dict.fromkeys(key for name in self.nodes for key in self.labels(name)))

    def without_label(self, label: str) -> str:
        """Return that no node has a label, and which one may be meant."""
        keys = self.label_keys
        alike = [key for key in keys if key.rpartition("/")[2] == label.rpartition("/")[2]]
        meant = (
            did_you_mean(label, alike or [*DOMAINS, *keys]) or f": nodes have {', '.join(keys[:5]) or 'none'}"
        )
        hint = f": did you mean {alike[0]!r}?" if alike else meant
        return f"no node has the label {label[:80]!r}{hint}"

    def workloads(self, kinds: Sequence[str]) -> list[Key]:
        """Return the workloads of some kinds, without those that another one controls."""
        return [
            key
            for key, one in self.found.items()
            if key[0] in kinds and not (one.get("metadata") or {}).get("ownerReferences")
        ]

    def pod_templates(self) -> Iterator[Manifest]:
        """Yield the pods that documents are, and those that they have templates of."""
        for (kind, _), one in self.found.items():
            place = ("spec", "jobTemplate") if kind == "CronJob" else ()
            steps = (*place, "template") if kind == "PodTemplate" else (*place, "spec", "template")
            template = one if kind == "Pod" else part_of(one, *steps)
            if isinstance(template, Mapping):
                space = part_of(one, "metadata", "namespace") or "default"
                yield {**template, "metadata": {**(template.get("metadata") or {}), "namespace": space}}

    def entries(self, event: VerbEvent, second: float, number: int) -> list[Manifest]:
        """Return the operations of an event, the ``number``-th of its case, with their seconds."""
        if event.verb == ARRIVE:
            if event.targets[0][0] in SCALED:
                return self._scaled(event, second)
            return [{"time": second, **creating(one)} for one in self._arrivals(event, number)]
        targets = [VerbTarget(key, [dict(self.found[key])]) for key in event.targets]
        asked = Asked(event.verb, tuple(key[1] for key in event.targets), event.value)
        found = entries(asked, Targets(targets, event.words), f"{second:g}")
        return [{"time": round(second + delay, 6), **entry} for delay, entry in found]

    def _scaled(self, event: VerbEvent, second: float) -> list[Manifest]:
        """Return what adds replicas to a workload whose pods arrive."""
        key = event.targets[0]
        before = int(((self.found[key].get("spec") or {}).get("replicas")) or 0)
        scale = VerbEvent("scale", event.targets, event.words, str(before + int(event.value)))
        return self.entries(scale, second, 0)

    def _arrivals(self, event: VerbEvent, number: int) -> Iterator[Manifest]:
        key, count = event.targets[0], int(event.value)
        for place in range(count):
            yield _copied(self.found[key], f"-arrival-{number + 1}-{place + 1}")


def _copied(document: Document, suffix: str) -> Manifest:
    """Return a pod or Job of a template, under a name of its own."""
    made: Manifest = plain_copy(document)
    meta = made.get("metadata") or {}
    if made["kind"] == "PodTemplate":
        template = made["template"]
        labels = (template.get("metadata") or {}).get("labels") or {}
        made = {"apiVersion": "v1", "kind": "Pod", "spec": template["spec"]}
        meta = {**meta, "labels": labels}
    kept: dict[str, Any] = {
        name: meta[name] for name in ("namespace", "labels", "annotations") if name in meta
    }
    made["metadata"] = {"name": f"{str(meta.get('name'))[:200]}{suffix}", **kept}
    made.pop("status", None)
    (made.get("spec") or {}).pop("nodeName", None)
    return made


def short(label: str) -> str:
    """Return what people call a node label: zone, region or host, else its key."""
    return next((name for name, key in DOMAINS.items() if key == label), label)
