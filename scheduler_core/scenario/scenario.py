"""The user's input: a cluster, its configuration, and its history of operations.

A :class:`Scenario` is immutable. Its ``documents`` are the manifests as given, including
unknown fields; these are exported, hashed and shared. ``objects`` are the same
manifests as the scheduler sees them (admission applied, controllers expanded).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct, field, structs
from msgspec.structs import replace

from scheduler_core.formats.limits import Limits
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.model import KubernetesObject
from scheduler_core.kubernetes.problems import Problem
from scheduler_core.kubernetes.recorded_decisions import Recorded, recorded_of
from scheduler_core.scenario.controller_work import kubelets_lack, without_time
from scheduler_core.scenario.kueue import KueueSetup
from scheduler_core.scenario.unhonored_fields import Unhonored, warnings_under
from scheduler_core.schedulers.extenders.answers import Answers
from scheduler_core.schedulers.table import SUPPORT, support_beside
from scheduler_core.schedulers.v1_22.configuration.profiles import Configuration
from scheduler_core.schedulers.v1_37.left_out import ScenarioParts, beside_controllers, is_left_out, offer
from scheduler_core.settings.release import (
    BY_PLUGINS,
    CONTROL_PLANE,
    TIMED,
    Release,
    chosen_release,
    default_release,
    in_time,
    row_of,
    row_with_controllers,
)
from scheduler_core.settings.settings import DEFAULT_SETTINGS, Settings

if TYPE_CHECKING:
    from scheduler_core.cluster.descheduler.configuration import DeschedulerConfiguration


class Selection(Struct, frozen=True):
    """The pods of a namespace, not terminating, that an operation is about when it takes effect.

    ``node`` is theirs, ``index`` their StatefulSet's ordinal or their Job's completion index.
    """

    namespace: str
    labels: Mapping[str, str]
    node: str | None = None
    index: int | None = None


class Operation(Struct, frozen=True):
    """One external change (KEP-140 ``createOperation``, ``patchOperation``, ``deleteOperation``).

    ``step`` is the major step, 1 being the first after the initial objects. ``time`` is virtual
    seconds. ``object`` is the complete new object for ``create`` and ``update``, ``None`` for
    ``delete``; a patch is resolved to an ``update`` when the scenario is loaded. In virtual time it is
    applied when it takes effect, because controllers may have changed the object: ``patch`` is then the
    ``patchOperation``, and ``object``, if any, the result of patching the user's version. An operation on
    the scheduler's configuration or SimulationSettings has no object; ``configuration`` is the complete
    configuration with which the scheduler then restarts. One on a kind that only kube-scheduler v1.37 reads
    has no typed object: ``manifest`` is the complete object then, ``None`` for ``delete``. One with a
    ``selection`` is about each of those pods, in order of their keys. ``propagation`` is the policy by which
    an object's dependents are deleted.
    """

    id: str
    step: int
    time: float
    action: Literal["create", "update", "delete"]
    kind: str
    key: str  # namespace/name, or name
    object: KubernetesObject | None = None
    configuration: Configuration | None = None
    after: int | None = None  # lands after this many cycles of its step; None: when no cycle is left to run
    during: bool = False  # lands during the next cycle, between evaluating and writing
    timed: bool = False  # written with only a time, from which its step follows
    patch: Mapping[str, Any] | None = None
    manifest: Mapping[str, Any] | None = None
    selection: Selection | None = None
    propagation: str = ""


class Scenario(Struct, frozen=True):
    """A loaded bundle: its manifests, and the objects as the scheduler sees them.

    ``configuration`` is what ``policy`` and ``settings`` are compiled to, once: a changed copy keeps it
    unless it changes one of the two.
    """

    title: str
    documents: tuple[Document, ...]
    objects: tuple[KubernetesObject, ...]  # in creation order
    operations: tuple[Operation, ...] = ()  # by (step, order in the file)
    policy: Document | None = None  # a v1 Policy or KubeSchedulerConfiguration; None: the default provider
    settings: Settings = DEFAULT_SETTINGS
    warnings: tuple[Problem, ...] = ()
    summary: Mapping[str, int] | None = None  # manifests read: kind -> count
    controllers: bool = True  # False: a recording; only its operations create and delete pods
    most_pods: int = Limits().pods  # controllers create no more in virtual time
    schedulers: Mapping[str, str] = field(default_factory=dict)  # configuration files by schedulerName
    unhonored: tuple[Unhonored, ...] = ()  # honored by some schedulers; ``warnings`` has those that apply
    configuration: Configuration = field(default_factory=Configuration)
    answers: tuple[Answers, ...] = ()  # of extenders, declared or recorded
    kubelets: str = ""  # the release that the nodes' kubelets suggest; chosen where nothing else is
    of_nodes: str = ""  # the release of plugins that the nodes' kubelets are of, "" for none
    presumed: str = ""  # the release if nothing chooses one; "": DEFAULT_RELEASE
    asks_batch: bool = False  # in virtual time: kube-batch or another custom scheduler runs, by pods or file
    custom: frozenset[str] = frozenset()  # in virtual time: the custom schedulers that pods name
    descheduler: DeschedulerConfiguration | None = None  # runs in a living cluster
    cron_jobs: tuple[Document, ...] = ()  # begin Jobs in a living cluster
    kueue: KueueSetup | None = None  # holds Jobs and pods in a living cluster
    lives: bool = False  # controllers have something to do, under a release that runs without them otherwise

    def __post_init__(self) -> None:
        given = self.configuration
        if given.policy is not self.policy or given.settings != self.settings:
            structs.force_setattr(self, "configuration", Configuration(self.policy, self.settings))

    @property
    def configurations(self) -> tuple[Configuration, ...]:
        """The initial configuration, and those with which operations restart the scheduler."""
        later = (operation.configuration for operation in self.operations)
        return (self.configuration, *(one for one in later if one is not None))

    @property
    def release(self) -> str:
        """The kube-scheduler that answers: a row of :data:`scheduler_core.settings.release.RELEASES`."""
        presumed = self.presumed or default_release()
        return self.said_release or in_time(presumed, timed=self._is_timed)

    @property
    def offered(self) -> str:
        """The release that the nodes' kubelets are of, where another one answers by default; else ""."""
        chosen = any(configuration.settings.scheduler for configuration in self.configurations)
        answers = self.release in BY_PLUGINS and self.of_nodes != self.release
        return self.of_nodes if answers and not chosen else ""

    @property
    def _is_timed(self) -> bool:
        return any(configuration.settings.is_virtual for configuration in self.configurations)

    @property
    def row(self) -> Release:
        """What there is to ask of the release that answers."""
        return row_with_controllers(self.release) if self.lives else row_of(self.release)

    @property
    def said_release(self) -> str:
        """The kube-scheduler that the bundle itself chooses, "" if it chooses none."""
        configurations = self.configurations
        configured = [configuration.release for configuration in configurations]
        only = any(configuration.settings.only_v1_11 for configuration in configurations)
        return chosen_release(
            configured,
            self.kubelets,
            only_v1_11=only,
            timed=self._is_timed,
            batch=self.asks_batch,
        )

    @property
    def id(self) -> str:
        """The full base64url SHA-256 of :meth:`canonical`; links use its first characters."""
        import base64
        import hashlib

        digest = hashlib.sha256(self.canonical()).digest()
        return base64.urlsafe_b64encode(digest).decode().rstrip("=")

    def canonical(self) -> bytes:
        """Return the canonical bytes of the content: JSON with sorted keys of title, documents in order.

        Each document is encoded separately because the encoder blocks other threads while it runs.
        """
        import json

        encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode
        documents = ",".join([encode(document) for document in self.documents])
        return f'{{"documents":[{documents}],"title":{encode(self.title)}}}'.encode()

    def recorded(self) -> dict[str, list[Recorded]]:
        """Return a real cluster's recorded handling of pods, by ``namespace/name``; one per life of a pod."""
        return recorded_of(self.objects, self.operations)

    def under(self, policy: Document | None, settings: Settings) -> Scenario:
        """Return the same cluster and history under another configuration.

        An operation that restarts the scheduler keeps its changes: only the parts that equal the initial
        configuration are replaced. The documents are unchanged. Warnings about fields that are not honored
        are those of the new configuration.
        """
        if policy is self.policy and settings == self.settings:
            return self
        operations = tuple(
            operation
            if operation.configuration is None
            else replace(operation, configuration=self._exchanged(operation.configuration, policy, settings))
            for operation in self.operations
        )
        changed = replace(self, operations=operations, policy=policy, settings=settings)
        return changed if changed.warned() == self.warnings else replace(changed, warnings=changed.warned())

    def warned(self) -> tuple[Problem, ...]:
        """Return the warnings in order, including those about fields that the scheduler does not honor."""
        others = [problem for problem in self.warnings if not problem.unhonored and not is_left_out(problem)]
        release = self.release
        scheduler = SUPPORT[release]
        warnings = [*warnings_under(self.unhonored, self.configurations, release)]
        if self.row.is_timed:
            for peer in support_beside(self.settings):
                warnings += peer.left_out_beside(self.documents, self.configuration)
        if self.offered:
            warnings.append(offer(self.offered, release))
        if self.lives and release != CONTROL_PLANE:
            warnings += beside_controllers(
                (f"controllers and kubelets are those of {CONTROL_PLANE}",), release
            )
        if self.lives or (self.row.is_timed and self.controllers):
            warnings += beside_controllers(kubelets_lack(self.documents, admit=release == TIMED))
        if self.row.clock == "instant":
            warnings += without_time(self.documents, release)
        warnings += scheduler.left_out(self._parts(others))
        others = [problem for problem in others if not scheduler.is_settled(problem, self.configurations)]
        return tuple(sorted((*others, *warnings), key=Problem.place))

    def _parts(self, warnings: Sequence[Problem]) -> ScenarioParts:
        landing = [
            (o.id, "" if o.configuration is None else o.configuration.release, o.during)
            for o in self.operations
        ]
        created = [o.manifest for o in self.operations if o.manifest is not None]
        return ScenarioParts([*self.documents, *created], self.configurations, landing, warnings)

    def _exchanged(self, old: Configuration, policy: Document | None, settings: Settings) -> Configuration:
        made = Configuration(
            policy if old.policy == self.policy else old.policy,
            settings if old.settings == self.settings else old.settings,
        )
        return old if made == old else made

    def to_yaml(self) -> str:
        """Return the documents as one YAML stream, which loads as the same scenario."""
        from scheduler_core.formats.yaml_writer import write_yaml

        return write_yaml(self.documents)
