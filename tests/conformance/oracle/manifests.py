"""What the rules read from a manifest, as small questions."""

from __future__ import annotations

import re
from collections import Counter
from decimal import ROUND_CEILING, Decimal
from functools import lru_cache
from typing import Any

Manifest = dict[str, Any]

SUFFIXES = {
    "n": Decimal(10) ** -9,
    "u": Decimal(10) ** -6,
    "m": Decimal(10) ** -3,
    "": Decimal(1),
    "k": Decimal(10) ** 3,
    **{s: Decimal(10) ** (6 + 3 * i) for i, s in enumerate("MGTPE")},
    **{f"{s}i": Decimal(2) ** (10 + 10 * i) for i, s in enumerate("KMGTPE")},
}
MEBI = 1 << 20
LABEL_VALUE = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9])?\Z")


@lru_cache(maxsize=4096, typed=True)
def quantity(text: Any, scale: int = 1) -> int:
    match = re.fullmatch(r"([+-]?[0-9.]+)(?:[eE]([+-]?\d+)|([numkMGTPE]|[KMGTPE]i)?)", str(text))
    assert match, text
    value = Decimal(match[1]) * (Decimal(10) ** int(match[2]) if match[2] else SUFFIXES[match[3] or ""])
    return int((value * scale).to_integral_value(ROUND_CEILING))


def amounts(resources: Manifest | None) -> dict[str, int]:
    return {k: quantity(v, 1000 if k == "cpu" else 1) for k, v in (resources or {}).items()}


def key(pod: Manifest) -> str:
    return f"{namespace(pod)}/{pod['metadata']['name']}"


def namespace(obj: Manifest) -> str:
    return obj["metadata"].get("namespace") or "default"


def labels(obj: Manifest) -> dict[str, str]:
    return obj["metadata"].get("labels") or {}


def name(obj: Manifest) -> str:
    return obj["metadata"]["name"]


def priority(pod: Manifest) -> int:
    return pod["spec"].get("priority") or 0


def includes(have: dict[str, str], want: dict[str, str]) -> bool:
    return all(have.get(k) == v and k in have for k, v in want.items())


def expression(have: dict[str, str], e: Manifest) -> bool:
    k, op, values = e["key"], e["operator"], e.get("values") or []
    if op == "In":
        return k in have and have[k] in values
    if op == "NotIn":
        return k not in have or have[k] not in values
    if op == "Exists":
        return k in have
    if op == "DoesNotExist":
        return k not in have
    if k not in have or not re.fullmatch(r"[+-]?\d+", have[k]):
        return False
    left, right = int(have[k]), int(values[0])
    if not -(2**63) <= left < 2**63:
        return False
    return left > right if op == "Gt" else left < right


def valid_node_expression(e: Manifest) -> bool:
    values = e.get("values") or []
    if any(not LABEL_VALUE.match(v) for v in values):
        return False
    if e["operator"] in ("Gt", "Lt"):
        return len(values) == 1 and bool(re.fullmatch(r"[+-]?\d+", values[0]))
    return True


def node_term(have: dict[str, str], term: Manifest) -> bool:
    expressions = term.get("matchExpressions") or []
    return (
        bool(expressions)
        and all(map(valid_node_expression, expressions))
        and all(expression(have, e) for e in expressions)
    )


def selects(selector: Manifest | None, have: dict[str, str]) -> bool:
    """A LabelSelector: null matches nothing, an empty one everything."""
    if selector is None:
        return False
    return includes(have, selector.get("matchLabels") or {}) and all(
        expression(have, e) for e in selector.get("matchExpressions") or []
    )


def empty(selector: Manifest | None) -> bool:
    return not selector or not (selector.get("matchLabels") or selector.get("matchExpressions"))


def tolerated(taint: Manifest, tolerations: list[Manifest]) -> bool:
    return any(
        (not t.get("effect") or t["effect"] == taint.get("effect"))
        and (not t.get("key") or t["key"] == taint["key"])
        and (
            t.get("operator") == "Exists"
            or (
                (t.get("operator") or "Equal") == "Equal"
                and (t.get("value") or "") == (taint.get("value") or "")
            )
        )
        for t in tolerations
    )


def terms(pod: Manifest, side: str, kind: str) -> list[Manifest]:
    part = ((pod["spec"].get("affinity") or {}).get(side)) or {}
    return part.get(f"{kind}DuringSchedulingIgnoredDuringExecution") or []


def term_matches(owner: Manifest, term: Manifest, pod: Manifest) -> bool:
    spaces = term.get("namespaces") or [namespace(owner)]
    return namespace(pod) in spaces and selects(term.get("labelSelector"), labels(pod))


def is_scalar(resource: str) -> bool:
    return (
        resource.startswith(("hugepages-", "attachable-volumes-"))
        or "kubernetes.io/" in resource
        or ("/" in resource and not resource.startswith("requests."))
    )


def request(pod: Manifest) -> dict[str, int]:
    total: Counter[str] = Counter()
    for c in pod["spec"].get("containers") or []:
        for r, v in amounts((c.get("resources") or {}).get("requests")).items():
            total[r] += v
    for c in pod["spec"].get("initContainers") or []:
        for r, v in amounts((c.get("resources") or {}).get("requests")).items():
            total[r] = max(total[r], v)
    return dict(total)


def limits(pod: Manifest) -> dict[str, int]:
    total: Counter[str] = Counter()
    for c in pod["spec"].get("containers") or []:
        for r, v in amounts((c.get("resources") or {}).get("limits")).items():
            total[r] += v
    for c in pod["spec"].get("initContainers") or []:
        for r, v in amounts((c.get("resources") or {}).get("limits")).items():
            total[r] = max(total[r], v)
    return dict(total)


def used(pods: list[Manifest]) -> Counter[str]:
    total: Counter[str] = Counter()
    for pod in pods:
        for c in pod["spec"].get("containers") or []:
            total.update(amounts((c.get("resources") or {}).get("requests")))
    return total


def non_zero(pod: Manifest) -> tuple[int, int]:
    cpu = memory = 0
    for c in pod["spec"].get("containers") or []:
        wants = amounts((c.get("resources") or {}).get("requests"))
        cpu += wants.get("cpu", 100)
        memory += wants.get("memory", 200 * MEBI)
    return cpu, memory


def host_ports(pod: Manifest) -> set[tuple[str, str, int]]:
    return {
        (p.get("hostIP") or "0.0.0.0", p.get("protocol") or "TCP", p["hostPort"])
        for c in pod["spec"].get("containers") or []
        for p in c.get("ports") or []
        if p.get("hostPort", 0) > 0
    }


def volumes(pod: Manifest) -> list[Manifest]:
    return pod["spec"].get("volumes") or []


def claims(pod: Manifest) -> list[str]:
    return [v["persistentVolumeClaim"]["claimName"] for v in volumes(pod) if v.get("persistentVolumeClaim")]


def conditions(node: Manifest) -> list[Manifest]:
    return (node.get("status") or {}).get("conditions") or []


def allocatable(node: Manifest) -> dict[str, int]:
    return amounts((node.get("status") or {}).get("allocatable"))


def disk_conflict(a: Manifest, b: Manifest) -> bool:
    def both_read_only(source: str) -> bool:
        return bool(a[source].get("readOnly") and b[source].get("readOnly"))

    def shared(source: str) -> bool:
        return bool(a.get(source) and b.get(source))

    if shared("gcePersistentDisk"):
        s = "gcePersistentDisk"
        if a[s]["pdName"] == b[s]["pdName"] and not both_read_only(s):
            return True
    if (
        shared("awsElasticBlockStore")
        and a["awsElasticBlockStore"]["volumeID"] == b["awsElasticBlockStore"]["volumeID"]
    ):
        return True
    if shared("iscsi") and a["iscsi"]["iqn"] == b["iscsi"]["iqn"] and not both_read_only("iscsi"):
        return True
    if shared("rbd"):
        x, y = a["rbd"], b["rbd"]
        same = set(x["monitors"]) & set(y["monitors"]) and x.get("pool", "rbd") == y.get("pool", "rbd")
        return bool(same and x["image"] == y["image"] and not both_read_only("rbd"))
    return False
