"""TaintToleration: taints of effect NoSchedule and NoExecute exclude, PreferNoSchedule lowers the score."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from scheduler_core.kubernetes.integers import parse_int
from scheduler_core.schedulers.v1_37.change import Manifest
from scheduler_core.schedulers.v1_37.interface import (
    ClusterEvent,
    ClusterEventWithHint,
    HintAnswer,
    HintContext,
)
from scheduler_core.schedulers.v1_37.nodes import Mask
from scheduler_core.schedulers.v1_37.plugins.base import (
    Codes,
    Context,
    Ints,
    Plugin,
    Rows,
    Status,
    default_normalize,
    refused,
    unresolvable,
)
from scheduler_core.schedulers.v1_37.plugins.declaration import Declared, Reused
from scheduler_core.schedulers.v1_37.plugins.hints import always, answer, spec
from scheduler_core.schedulers.v1_37.pods import CompiledPod
from scheduler_core.schedulers.v1_37.profiles import Arguments

COMPARISON_GATE = "TaintTolerationComparisonOperators"

Taint = tuple[str, str, str]
"""Key, value, effect."""

_DECIMAL = re.compile(r"0|-?[1-9]\d*", re.ASCII)
_HARD = ("NoSchedule", "NoExecute")
_SOFT = "PreferNoSchedule"
_UNTOLERATED = unresolvable("node(s) had untolerated taint(s)")


def tolerates(toleration: Mapping[str, Any], taint: Taint, *, compare: bool) -> bool:
    """Return whether a toleration tolerates a taint (v1.Toleration.ToleratesTaint).

    ``compare``: whether Gt and Lt are known (TaintTolerationComparisonOperators).
    """
    key, value, effect = taint
    if toleration.get("effect") and toleration["effect"] != effect:
        return False
    if toleration.get("key") and toleration["key"] != key:
        return False
    own = toleration.get("value") or ""
    match toleration.get("operator") or "Equal":
        case "Equal":
            return bool(own == value)
        case "Exists":
            return True
        case "Gt" | "Lt" as operator if compare:
            left, right = _decimal(value), _decimal(own)
            if left is None or right is None:
                return False
            return left > right if operator == "Gt" else left < right
    return False


def _decimal(text: str) -> int | None:
    return parse_int(text) if _DECIMAL.fullmatch(text) else None


def tolerates_all(
    tolerations: Iterable[Mapping[str, Any]], taints: Iterable[Taint], *, compare: bool
) -> bool:
    """Return whether all taints that keep pods off are tolerated."""
    return all(
        any(tolerates(toleration, taint, compare=compare) for toleration in tolerations)
        for taint in taints
        if taint[2] in _HARD
    )


def untolerated(ctx: Context) -> Mask:
    """Return which rows have a taint that keeps the pod off; (capacity,) bool."""
    pod, nodes = ctx.pod, ctx.nodes
    compare = ctx.configuration.gate(COMPARISON_GATE)

    def make() -> Mask:
        return nodes.taints.lookup(
            lambda taints: not tolerates_all(pod.tolerations, taints, compare=compare), False, np.bool_
        )

    return nodes.mask(("untolerated", pod.tolerations_key, compare), make)


class TaintToleration(Plugin):
    """Taints and tolerations."""

    key = "TaintToleration"

    def filter(self, ctx: Context, rows: Rows) -> Codes | None:
        """Refuse nodes with an untolerated taint."""
        return refused(untolerated(ctx)[rows])

    def verdict(self, ctx: Context, row: int, code: int) -> Status:
        """Return the one reason."""
        del ctx, row, code
        return _UNTOLERATED

    def score(self, ctx: Context, rows: Rows) -> Ints:
        """Count the PreferNoSchedule taints that are not tolerated."""
        pod, nodes = ctx.pod, ctx.nodes
        compare = ctx.configuration.gate(COMPARISON_GATE)

        def make() -> Ints:
            soft = [t for t in pod.tolerations if t.get("effect") in (None, "", _SOFT)]
            return nodes.taints.lookup(
                lambda taints: sum(
                    effect == _SOFT
                    and not any(tolerates(t, (key, value, effect), compare=compare) for t in soft)
                    for key, value, effect in taints
                ),
                0,
                np.int64,
            )

        return nodes.mask(("preferred taints", pod.tolerations_key, compare), make)[rows]

    def normalize(self, ctx: Context, rows: Rows, raw: Ints) -> Ints:
        """Fewer taints score higher."""
        del ctx, rows
        return default_normalize(raw, reverse=True)


def _after_node_change(pod: CompiledPod, event: ClusterEvent, context: HintContext) -> HintAnswer:
    compare = context.configuration.gate(COMPARISON_GATE)

    def tolerated(node: Manifest | None) -> bool:
        taints = [(t["key"], t.get("value") or "", t["effect"]) for t in spec(node).get("taints") or ()]
        return tolerates_all(pod.tolerations, taints, compare=compare)

    was_tolerated = event.old is not None and tolerated(event.old)
    return answer(not was_tolerated and tolerated(event.new))


def signed_tolerations(pod: CompiledPod, arguments: Arguments) -> Any:
    """Return the tolerations by key and value, without empty fields."""
    del arguments
    listed = (
        {key: value for key, value in row.items() if value not in ("", None)} for row in pod.tolerations
    )
    return sorted(listed, key=lambda row: (str(row.get("key", "")), str(row.get("value", ""))))


PLUGIN = Declared(
    "TaintToleration",
    "preFilter filter preScore score",
    rank=50,
    weight=3,
    unprepared={"score": 'failed to read "PreScoreTaintToleration" from cycleState: not found'},
    filters="the pod tolerates every taint with the effect NoSchedule or NoExecute",
    prefers="nodes with few PreferNoSchedule taints that the pod does not tolerate",
    formula="number of such taints; normalized by 100 − 100 · score / greatest",
    events=(
        ClusterEventWithHint("Node", frozenset({"Add", "UpdateNodeTaint"}), _after_node_change),
        ClusterEventWithHint("TargetPod", frozenset({"UpdatePodToleration"}), always),
    ),
    until="a node is added whose taints it tolerates, or a node's taints change to that",
    signs=signed_tolerations,
    reuse=Reused(filter="nodes", score="nodes"),
    code=TaintToleration(),
)
