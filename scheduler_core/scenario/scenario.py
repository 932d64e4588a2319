"""What the user wrote: a cluster, its configuration, and its history of operations.

A :class:`Scenario` is immutable. Its ``documents`` are the manifests as given, unknown
fields included, and are what is exported, hashed and shared; ``objects`` are the same
manifests as the scheduler sees them (admission applied, controllers expanded).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from scheduler_core.formats.limits import Limits
from scheduler_core.objects.model import KubernetesObject
from scheduler_core.config.settings import DEFAULT_SETTINGS, Settings

if TYPE_CHECKING:
    from scheduler_core.framework.configuration.result import FrameworkConfiguration
    from scheduler_core.objects.recorded import Recorded

Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with, or noteworthy about, the input.

    ``path`` is like ``items[3].spec.containers[0].resources.requests.cpu``; ``line`` is
    1-based, ``None`` where the input has no lines of its own; ``document`` is 1-based. ``unhonored``
    names the field or kind that is not honored, of a warning that another cluster's answer may differ.
    """

    message: str
    path: str = ""
    line: int | None = None
    document: int | None = None
    file: str | None = None
    unhonored: str = ""

    def place(self) -> tuple[str, int, int]:
        """Order problems as the text is read; those without a place come first."""
        return self.file or "", self.document or 0, self.line or 0


class BundleError(ValueError):
    """The input cannot be read. ``problems`` holds everything that is wrong, at once.

    ``warnings`` is what would have been noteworthy otherwise: a misspelt field is often the cause of
    an error elsewhere.
    """

    def __init__(self, problems: list[Problem], warnings: Sequence[Problem] = ()) -> None:
        self.problems = problems
        self.warnings = tuple(warnings)
        super().__init__("; ".join(p.message for p in problems[:5]))


@dataclass(frozen=True, slots=True)
class Unhonored:
    """A warning of a field or kind that another cluster may honor; abilities each of which honors it here."""

    problem: Problem
    honored_by: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Configuration:
    """What a scheduler starts with: a v1 Policy or a KubeSchedulerConfiguration, and the settings.

    ``policy`` is ``None`` for the default provider.
    """

    policy: Document | None = None
    settings: Settings = DEFAULT_SETTINGS

    @property
    def framework(self) -> FrameworkConfiguration | None:
        """The compiled profiles of a KubeSchedulerConfiguration, ``None`` under a Policy.

        Raises:
            PolicyError: The configuration cannot be used.
        """
        if self.policy is None or self.policy.get("kind") != "KubeSchedulerConfiguration":
            return None
        from scheduler_core.framework.configuration import compile_configuration

        return compile_configuration(self.policy, self.settings)


@dataclass(frozen=True, slots=True)
class Operation:
    """One change from outside (KEP-140 ``createOperation``, ``patchOperation``, ``deleteOperation``).

    ``step`` is the major step, 1 being the first after the initial objects. ``time`` is virtual
    seconds. ``object`` is the whole new object for ``create`` and ``update``, ``None`` for
    ``delete``; a patch is resolved to an ``update`` when the scenario is loaded. In virtual time it is
    applied when it lands, for controllers may have changed the object: ``patch`` is then the
    ``patchOperation``, and ``object``, if any, what it makes of what users wrote. An operation on a
    Policy or SimulationSettings has no object; ``configuration`` is all that the scheduler, which
    has to be restarted, then starts with.
    """

    id: str
    step: int
    time: float
    action: Literal["create", "update", "delete"]
    kind: str
    key: str  # namespace/name, or name
    object: KubernetesObject | None = None
    configuration: Configuration | None = None
    after: int | None = None  # lands after so many cycles of its step; None: when none is left to run
    during: bool = False  # lands inside the next cycle, between evaluating and writing
    timed: bool = False  # written with a time alone: its step follows from that
    patch: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Scenario:
    """A bundle that was read: its manifests, and what the scheduler sees of them."""

    title: str
    documents: tuple[Document, ...]
    objects: tuple[KubernetesObject, ...]  # in creation order
    operations: tuple[Operation, ...] = ()  # by (step, order in the file)
    policy: Document | None = None  # a v1 Policy or KubeSchedulerConfiguration; None: the default provider
    settings: Settings = DEFAULT_SETTINGS
    warnings: tuple[Problem, ...] = ()
    summary: Mapping[str, int] | None = None  # what was read: kind -> count
    controllers: bool = True  # False: a recording; pods come and go by its operations alone
    most_pods: int = Limits().pods  # controllers make none beyond, once time runs
    unhonored: tuple[Unhonored, ...] = ()  # what some schedulers honor; those warned of are in ``warnings``

    @property
    def id(self) -> str:
        """The whole base64url SHA-256 of :meth:`canonical`; links use its first characters."""
        import base64
        import hashlib

        digest = hashlib.sha256(self.canonical()).digest()
        return base64.urlsafe_b64encode(digest).decode().rstrip("=")

    @property
    def framework(self) -> FrameworkConfiguration | None:
        """The compiled profiles of the initial KubeSchedulerConfiguration, ``None`` under a Policy."""
        return Configuration(self.policy, self.settings).framework

    def canonical(self) -> bytes:
        """The content's one byte form: JSON with sorted keys of title, documents in order."""
        import json

        body = {"title": self.title, "documents": list(self.documents)}
        return json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()

    def recorded(self) -> dict[str, list[Recorded]]:
        """Return what a real cluster did with pods, by ``namespace/name``; one for each life of a pod."""
        from scheduler_core.objects.recorded import recorded_of

        return recorded_of(self.objects, self.operations)

    def under(self, policy: Document | None, settings: Settings) -> Scenario:
        """Return the same cluster and history under another configuration.

        An operation that restarts the scheduler keeps what it changes: only what it had from the beginning
        is exchanged. The documents stay as they are. Warnings of fields that are not honored are those of
        the new configuration.
        """
        operations = tuple(
            operation
            if operation.configuration is None
            else replace(operation, configuration=self._exchanged(operation.configuration, policy, settings))
            for operation in self.operations
        )
        changed = replace(self, operations=operations, policy=policy, settings=settings)
        return replace(changed, warnings=changed.warned()) if self.unhonored else changed

    def warned(self) -> tuple[Problem, ...]:
        """Return the warnings, those of fields that the scheduler does not honor among them, in order."""
        from scheduler_core.scenario.unhonored import warnings_under

        later = [one.configuration for one in self.operations if one.configuration is not None]
        configurations = [Configuration(self.policy, self.settings), *later]
        others = (problem for problem in self.warnings if not problem.unhonored)
        return tuple(sorted((*others, *warnings_under(self.unhonored, configurations)), key=Problem.place))

    def _exchanged(self, old: Configuration, policy: Document | None, settings: Settings) -> Configuration:
        return Configuration(
            policy if old.policy == self.policy else old.policy,
            settings if old.settings == self.settings else old.settings,
        )

    def to_yaml(self) -> str:
        """Return the documents as one YAML stream, which loads as the same scenario."""
        from scheduler_core.formats.yaml_writer import write_yaml

        return write_yaml(self.documents)
