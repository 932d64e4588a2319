"""Whether a cluster has what the arguments of facts name."""

from __future__ import annotations

from scheduler_core.authoring.verb_targets import DOMAINS
from scheduler_core.contracts.conditions import FactName
from scheduler_core.contracts.events import Terrain
from scheduler_core.kubernetes.names import did_you_mean


def unknown_argument(fact: FactName, terrain: Terrain) -> str:
    """Return what is wrong with the argument of a fact, "" if nothing is."""
    if fact.name == "skew":
        label = DOMAINS.get(fact.argument, fact.argument)
        known, what = terrain.label_keys, f"no node has the label {label!r}"
    elif fact.name == "free":
        label, known, what = fact.argument, _resources(terrain), f"no node offers {fact.argument!r}"
    else:
        return ""
    if label in known:
        return ""
    return what + (did_you_mean(label, known) or f": nodes have {', '.join(known[:5]) or 'none'}")


def _resources(terrain: Terrain) -> list[str]:
    found: dict[str, None] = {}
    for node in terrain.nodes.values():
        status = node.get("status") or {}
        found |= dict.fromkeys({**(status.get("capacity") or {}), **(status.get("allocatable") or {})})
    return list(found)
