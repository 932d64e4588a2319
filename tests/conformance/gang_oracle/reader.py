"""What a record says: groups, pods and nodes by plain look-up, quantities as exact fractions."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from fractions import Fraction
from math import ceil
from typing import Any

Manifest = dict[str, Any]

CLASSIC = "v0.22.6"
LABEL = {CLASSIC: "pod-group.scheduling.sigs.k8s.io", "main-2026-04": "scheduling.x-k8s.io/pod-group"}
API_GROUP = {CLASSIC: "scheduling.sigs.k8s.io", "main-2026-04": "scheduling.x-k8s.io"}
EDITIONS = tuple(LABEL)
DEFAULTS = {
    CLASSIC: {"permitWaitingTimeSeconds": 60, "deniedPGExpirationTimeSeconds": 20},
    "main-2026-04": {
        "permitWaitingTimeSeconds": 60, "podGroupBackoffSeconds": 0, "podGroupRejectPercentage": 10
    },
}  # fmt: skip

DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
QUANTITY = re.compile(r"([+-]?)(\d+\.?\d*|\.\d+)(?:([eE][+-]?\d+)|([KMGTPE]i|[numkMGTPE])?)")


def quantity(text: Any) -> Fraction:
    """Read a Kubernetes quantity exactly."""
    found = QUANTITY.fullmatch(str(text))
    if not found:
        raise ValueError(f"no quantity: {text!r}")
    sign, digits, exponent, suffix = found.groups()
    number = Fraction(digits if not digits.startswith(".") else "0" + digits)
    if exponent:
        number *= Fraction(10) ** int(exponent[1:])
    elif (suffix or "") in DECIMAL:
        number *= Fraction(10) ** DECIMAL[suffix or ""]
    else:
        number *= 2 ** BINARY[suffix]
    return -number if sign == "-" else number


def moment(text: str | None) -> datetime:
    """Read a time; an object without one is older than all (Go's zero time)."""
    return datetime.fromisoformat(text) if text else datetime.min.replace(tzinfo=UTC)


def key(obj: Manifest) -> str:
    meta = obj["metadata"]
    return f"{meta.get('namespace') or 'default'}/{meta['name']}"


def namespace(obj: Manifest) -> str:
    return str(obj["metadata"].get("namespace") or "default")


def priority(pod: Manifest) -> int:
    return int(pod["spec"].get("priority") or 0)


def started(pod: Manifest) -> datetime | None:
    """Read when the kubelet took a pod on; nobody has taken on one that is only assumed."""
    written = (pod.get("status") or {}).get("startTime")
    return moment(written) if written else None


def phase(obj: Manifest) -> str:
    return str((obj.get("status") or {}).get("phase") or "")


def node_name(pod: Manifest) -> str:
    return str(pod["spec"].get("nodeName") or "")


def counted_by_nodes(name: str) -> bool:
    """Say whether a node keeps an account of a resource; the scheduler ignores other names."""
    if name in {"cpu", "memory", "ephemeral-storage", "pods"}:
        return True
    if name.startswith(("hugepages-", "attachable-volumes-")) or "kubernetes.io/" in name:
        return True
    return "/" in name and not name.startswith("requests.")


def whole(name: str, amount: Any) -> Fraction:
    """Round an amount up as a node's account does: cpu to a thousandth, the rest to one."""
    exact = quantity(amount)
    return Fraction(ceil(exact * 1000), 1000) if name == "cpu" else Fraction(ceil(exact))


def requests(pod: Manifest) -> dict[str, Fraction]:
    """Sum what a pod takes from its node; an init container may need more than all others together."""
    total: dict[str, Fraction] = {}
    for container in pod["spec"].get("containers") or []:
        for name, amount in ((container.get("resources") or {}).get("requests") or {}).items():
            total[name] = total.get(name, Fraction(0)) + whole(name, amount)
    for container in pod["spec"].get("initContainers") or []:
        for name, amount in ((container.get("resources") or {}).get("requests") or {}).items():
            total[name] = max(total.get(name, Fraction(0)), whole(name, amount))
    for name, amount in (pod["spec"].get("overhead") or {}).items():
        total[name] = total.get(name, Fraction(0)) + whole(name, amount)
    return total


def left(node: Manifest, there: list[Manifest]) -> dict[str, Fraction]:
    """Return what pods leave of a node, which may be less than nothing."""
    allocatable = (node.get("status") or {}).get("allocatable") or {}
    free = {name: whole(name, amount) for name, amount in allocatable.items() if counted_by_nodes(name)}
    for name in ("cpu", "memory", "ephemeral-storage", "pods"):
        free.setdefault(name, Fraction(0))
    for pod in there:
        free["pods"] -= 1
        for name, amount in requests(pod).items():
            if name != "pods" and name in free:
                free[name] -= amount
    return free


class Record:
    """A record's objects as one edition sees them."""

    def __init__(self, record: Manifest) -> None:
        self.edition: str = record["config"]["implementation"]
        self.classic = self.edition == CLASSIC
        self.args = {**DEFAULTS[self.edition], **(record["config"].get("args") or {})}
        self.input: Manifest = record["input"]
        objects = record.get("objects") or []
        self.groups = {
            key(o): o
            for o in objects
            if o["kind"] == "PodGroup" and o["apiVersion"].split("/")[0] == API_GROUP[self.edition]
        }
        self.nodes = {o["metadata"]["name"]: o for o in objects if o["kind"] == "Node"}
        self.all_pods = [o for o in objects if o["kind"] == "Pod"]
        self.pods = [p for p in self.all_pods if phase(p) not in {"Succeeded", "Failed"}]

    def label(self, pod: Manifest) -> str:
        return str((pod["metadata"].get("labels") or {}).get(LABEL[self.edition]) or "")

    def group_key(self, pod: Manifest) -> str:
        """Return ``namespace/group``, or nothing for a pod of no group."""
        return f"{namespace(pod)}/{self.label(pod)}" if self.label(pod) else ""

    def group(self, pod: Manifest) -> Manifest | None:
        return self.groups.get(self.group_key(pod))

    def members(self, group: str) -> list[Manifest]:
        """Return the pods of a group that the scheduler sees."""
        return [p for p in self.pods if self.group_key(p) == group]

    def assigned(self, group: str) -> set[str]:
        """Return the members that hold a node; classic looks for them on the nodes there are."""
        holding = [p for p in self.members(group) if node_name(p)]
        return {key(p) for p in holding if not self.classic or node_name(p) in self.nodes}


def least(group: Manifest) -> int:
    return int((group.get("spec") or {}).get("minMember") or 0)
