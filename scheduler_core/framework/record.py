"""What happened, as the workbench can show it: attempts, and everything between them, in virtual time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from scheduler_core.cluster.reasons import Codes
from scheduler_core.framework.plugins import Status

Result = Literal["", "scheduled", "waiting", "unschedulable", "error"]


@dataclass(slots=True)
class Attempt:
    """One scheduling cycle. ``statuses`` are what plugins said, as (extension point, plugin, status).

    ``failed`` is ``(N,) int16``, why the pod fits no node, as codes of the cluster's reasons; ``placed``
    tells which queue took the pod back.
    """

    number: int
    time: float
    pod: str
    result: Result = ""
    node: str = ""
    message: str = ""
    statuses: list[tuple[str, str, Status]] = field(default_factory=list)
    failed: Codes | None = None
    unresolvable: bool = False
    refused_by: tuple[str, ...] = ()
    nominated: str = ""
    placed: str = ""


@dataclass(frozen=True, slots=True)
class Happening:
    """Something that happened at a moment: ``what`` in Kubernetes' words, ``about`` a key, a ``text``."""

    time: float
    what: str
    about: str = ""
    text: str = ""
    detail: object = None
