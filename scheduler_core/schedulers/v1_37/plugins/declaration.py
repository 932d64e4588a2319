"""The declarations of a plugin, next to its code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from msgspec import Struct, field

from scheduler_core.schedulers.v1_37.interface import ClusterEventWithHint
from scheduler_core.schedulers.v1_37.plugins.base import Plugin
from scheduler_core.schedulers.v1_37.pods import CompiledPod
from scheduler_core.schedulers.v1_37.profiles import Arguments

POINTS = (
    *("preEnqueue", "preFilter", "filter", "postFilter", "preScore", "score", "reserve", "preBind", "permit"),
    *("queueSort", "bind", "placementGenerate", "placementScore", "podGroupPostFilter"),
)
"""The extension points, in the order in which the reference lists them."""

MOST = 2**31 - 1

CPU_AND_MEMORY = ({"name": "cpu", "weight": 1}, {"name": "memory", "weight": 1})

_ANYTHING = frozenset({"Add", "Update", "Delete"})

EVERY_EVENT = tuple(
    ClusterEventWithHint(resource, _ANYTHING)
    for resource in (
        "AssignedPod",
        "UnscheduledPod",
        "TargetPod",
        "Node",
        "PersistentVolume",
        "PersistentVolumeClaim",
        "storage.k8s.io/CSINode",
        "storage.k8s.io/CSIDriver",
        "storage.k8s.io/CSIStorageCapacity",
        "storage.k8s.io/StorageClass",
        "resource.k8s.io/ResourceClaim",
        "resource.k8s.io/DeviceClass",
    )
)
"""What one that registers nothing waits for (runtime.defaultEnqueueExtension, UnrollWildCardResource)."""

_REJECTING = frozenset({"preEnqueue", "preFilter", "filter", "reserve", "permit"})


class Argument(Struct, frozen=True):
    """A field of a plugin's arguments.

    ``path`` leads to it, with dots. ``type`` is ``choice`` (of ``choices``), ``integer`` (from ``least`` to
    ``most``), ``flag``, ``names``, ``shape`` (points of utilization in percent, and score from 0 to 10),
    ``resources`` (with weights up to ``most``), ``constraints`` of topology spread, or node ``affinity``.
    ``default`` is what is in force where the field is left out. The field only counts where each field of
    ``only`` has that value.
    """

    path: str
    type: str
    default: Any = None
    text: str = ""
    choices: tuple[str, ...] = ()
    least: int = 0
    most: int = MOST
    only: Mapping[str, str] = {}


class Reused(Struct, frozen=True):
    """What untraced attempts keep of a plugin between pods of one class (:mod:`..reuse`).

    Its verdicts and its raw scores depend on the pod's class and on

    - ``nodes``: the node objects alone;
    - ``requests``: those, and the requests of the node's pods (scores only);
    - ``own``: what :mod:`..reuse` follows by rules for this plugin;
    - ``none``: nothing, as it does not take part for the pods that are reused (scores only).

    "": anything else. Attempts in which the plugin takes part are then made in full.
    """

    filter: Literal["", "nodes", "own"] = ""
    score: Literal["", "nodes", "requests", "own", "none"] = ""


def signs_nothing(pod: CompiledPod, arguments: Arguments) -> None:
    """Sign every pod alike."""
    del pod, arguments


def no_reason(pod: CompiledPod, arguments: Arguments) -> str:
    """Keep no pod from being compared with others."""
    del pod, arguments
    return ""


class Declared(Struct, frozen=True):
    """A plugin: ``PLUGIN`` of its module, by which alone it is found (:mod:`.table`).

    ``points`` are the extension points that it implements, and ``code`` is what runs at those of them that
    are methods of :class:`Plugin`. ``rank`` is its place in the default profile, in which ranks ascend;
    0: it is not in it, and runs in profiles that enable it. With a ``gate`` it is only known while that
    feature gate is on, after those without. ``weight`` 0: none is given, which counts as 1 for a score
    plugin. ``unprepared`` is the error that it answers at a point if it did not run at the one that prepares
    it (PreFilter, or PreScore for Score); ``required`` are the points at which the same is not simulated.
    ``arguments`` are those that have an effect here, in the form's order.

    In words: when a node passes (``filters``), which one scores high (``prefers``), its raw score and, after
    a semicolon, what normalization makes of it (``formula``), what it does at other points (``otherwise``).

    ``events`` are what it registers (EventsToRegister), with its queueing hints; a plugin that can reject
    pods and names none waits for :data:`EVERY_EVENT`. ``besides`` are what a release adds. ``until`` is the
    change that a pod waits for which it rejected: a clause after "until", or the function that returns it.

    ``signs`` returns what it looks at of a pod (SignPlugin), as JSON can hold it, by its arguments;
    ``unsigned_because`` returns what keeps a pod from being compared, a clause, "" if nothing does. Without
    ``signs``, no pod of a profile is compared in which the plugin takes part. ``reuse`` is what untraced
    attempts keep.
    """

    key: str
    points: str
    rank: int = 0
    weight: int = 0
    gate: str = ""
    unprepared: Mapping[str, str] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    filters: str = ""
    prefers: str = ""
    formula: str = ""
    otherwise: str = ""
    arguments: tuple[Argument, ...] = ()
    events: tuple[ClusterEventWithHint, ...] = ()
    besides: tuple[ClusterEventWithHint, ...] = ()
    until: str | Callable[[CompiledPod], str] = "a pod, a node, a volume, a claim or a class changes"
    signs: Callable[[CompiledPod, Arguments], Any] | None = None
    unsigned_because: Callable[[CompiledPod, Arguments], str] = no_reason
    reuse: Reused = Reused()
    code: Plugin | None = None

    @property
    def text(self) -> str:
        """What it prefers, or asks for, as a clause."""
        return self.prefers or self.filters or self.otherwise

    @property
    def default_weight(self) -> int:
        """The weight in the default profile, 0 if it does not score."""
        return (self.weight or 1) if "score" in self.points.split() else 0

    @property
    def registrations(self) -> tuple[ClusterEventWithHint, ...]:
        """The events that may move a pod which it rejected."""
        return (*self.events, *self.besides) or (EVERY_EVENT if _REJECTING & {*self.points.split()} else ())
