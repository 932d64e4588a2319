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
        return "" if label in terrain.label_keys else terrain.without_label(label)
    known = _resources(terrain)
    if fact.name != "free" or fact.argument in known:
        return ""
    hint = did_you_mean(fact.argument, known) or f": nodes have {', '.join(known[:5]) or 'none'}"
    return f"no node offers {fact.argument!r}{hint}"


def _resources(terrain: Terrain) -> list[str]:
    found: dict[str, None] = {}
    for node in terrain.nodes.values():
        status = node.get("status") or {}
        found |= dict.fromkeys({**(status.get("capacity") or {}), **(status.get("allocatable") or {})})
    return list(found)
