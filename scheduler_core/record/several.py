"""What a scheduler with a view of its own believed when it decided, and who noticed what was wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from msgspec import Meta, Struct

from scheduler_core.kubernetes.plain import Count, Seconds
from scheduler_core.record.plugin_record import AttemptRecord

Noticed = Literal["scheduler", "apiServer", "arbiter", "kubelet", "nobody"]
"""Who notices that a decision was made on an old view, from the first who may to the last."""

NODES_SHOWN = 50
PODS_SHOWN = 20  # of each kind on a node
OUTCOMES_SHOWN = 100  # a cycle
LANE_NODES = 20
LANE_PODS = 20


class NodeBelief(Struct, frozen=True, rename="camel"):
    """A node of which the scheduler believed something else than was true."""

    node: str
    unseen: Annotated[
        tuple[str, ...], Meta(description="Pods bound there that it did not count; at most 20.")
    ]
    gone: Annotated[tuple[str, ...], Meta(description="Pods it counted that are not there any more.")]
    assumed: Annotated[
        tuple[str, ...], Meta(description="Pods it placed there itself, of which nobody else knows yet.")
    ]
    believed_free: Annotated[
        Mapping[str, int], Meta(description="What it took for free: milli-CPU, bytes of memory, pods.")
    ]
    truly_free: Annotated[Mapping[str, int], Meta(description="What was free of bound pods.")]


class InFlight(Struct, frozen=True, rename="camel"):
    """A decision that has not reached the API server yet: a part of the window in which others are misled."""

    pod: str
    node: str
    decided: Seconds
    lands: Annotated[
        Seconds | None, Meta(description="When it reaches the API server; null while it waits at Permit.")
    ]


class Lane(Struct, frozen=True, rename="camel"):
    """A scheduler at the moment of a decision, its own or another's."""

    scheduler: str
    as_of: Annotated[Seconds, Meta(description="The time of the API server's state that it has heard of.")]
    deciding: Annotated[
        Seconds | None, Meta(description="Since when it decides, on a frozen view; null if it does not.")
    ]
    unheard: Annotated[Count, Meta(description="Writes at the API server that are on their way to it.")]
    in_flight: Annotated[tuple[InFlight, ...], Meta(description="The first 20 of what it decided.")]
    in_flight_count: Count
    nodes: Annotated[
        tuple[NodeBelief, ...],
        Meta(description="The first 20 nodes of which it believes something untrue."),
    ]
    nodes_count: Count
    pod: Annotated[
        str, Meta(description="The pod that it decides about; empty if it decides nothing, or about several.")
    ] = ""
    until: Annotated[
        Seconds | None, Meta(description="When that decision is made; null if it decides nothing.")
    ] = None
    pending: Annotated[Count, Meta(description="Pods that it has still to place.")] = 0
    watch_delay: Annotated[Seconds, Meta(description="How late it hears of a write.")] = 0.0
    runs: Annotated[
        str, Meta(description="What it runs: a release of kube-scheduler, or a custom scheduler.")
    ] = ""


class Promise(Struct, frozen=True, rename="camel"):
    """A pod whose binding is under way: room that one scheduler alone knows to be taken."""

    pod: str
    scheduler: str


class Window(Struct, frozen=True, rename="camel"):
    """A node of which some scheduler does not know all that was decided: its room may be given away twice."""

    node: str
    promised: Annotated[
        tuple[Promise, ...],
        Meta(description="Decided for it and not bound yet, this cycle's included; at most 20."),
    ]
    unaware: Annotated[
        tuple[str, ...], Meta(description="Schedulers that see the node and do not count all pods on it.")
    ]
    free: Annotated[
        Mapping[str, int],
        Meta(description="What is left when all of them are bound; less than 0: it is given away twice."),
    ]


class Outcome(Struct, frozen=True, rename="camel"):
    """What became of a binding that was decided on a view in which its node looked different."""

    scheduler: str
    pod: str
    node: str
    decided: Annotated[Seconds, Meta(description="When the scheduler decided it.")]
    known: Annotated[Seconds, Meta(description="When it was noticed, or turned out well.")]
    noticed: Annotated[
        Noticed,
        Meta(description="Who noticed; nobody: the pod runs, whatever the scheduler did not know."),
    ]
    unseen: Annotated[
        tuple[str, ...],
        Meta(description="Pods bound there by then that the scheduler had not counted; at most 20."),
    ]
    message: str
    reason: Annotated[
        str, Meta(description="The kubelet's reason, such as OutOfcpu; empty if it did not refuse.")
    ] = ""


class ViewRecord(AttemptRecord, frozen=True):
    """The view that an attempt was made on."""

    scheduler: Annotated[str, Meta(description="Its name; with a number behind it if it has replicas.")]
    as_of: Annotated[Seconds, Meta(description="The time of the API server's state that it had heard of.")]
    began: Annotated[Seconds, Meta(description="When it began to decide; the view is frozen from then on.")]
    decided: Seconds
    lands: Annotated[
        Seconds | None,
        Meta(description="When what it decided reaches the API server; null if it sends nothing now."),
    ]
    nodes: Annotated[
        tuple[NodeBelief, ...],
        Meta(max_length=NODES_SHOWN, description="The nodes of which it believed something untrue."),
    ]
    nodes_count: Count
    lanes: Annotated[
        tuple[Lane, ...], Meta(description="Every scheduler when the decision was made, just before it.")
    ]
    outcomes: Annotated[
        tuple[Outcome, ...],
        Meta(
            max_length=OUTCOMES_SHOWN,
            description="What became of earlier decisions, of any scheduler, since the cycle before.",
        ),
    ]
    windows: Annotated[
        tuple[Window, ...],
        Meta(max_length=NODES_SHOWN, description="Where room may be given away twice; where it is, first."),
    ] = ()
    windows_count: Count = 0
