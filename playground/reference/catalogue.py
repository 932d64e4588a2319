"""The elements of a policy as rows, for the reference page and the workbench's Policy tab.

Every row is built from the rules' declarations and the tables that the engine uses.
"""

from __future__ import annotations

import inspect
from functools import cache
from typing import Any

from msgspec import to_builtins

from playground.reference import descheduler_form
from scheduler_core.schedulers.profiles.priority import MapOnly, Mapped, Priority
from scheduler_core.schedulers.rule_history import history_of, plugin_of
from scheduler_core.schedulers.v1_11.policy.order import (
    BUNDLES,
    ORDERS,
    UNREGISTERED,
    V1_11_ORDER,
    static_order,
)
from scheduler_core.schedulers.v1_11.policy.providers import DEFAULT_PRIORITIES, PROVIDERS
from scheduler_core.schedulers.v1_11.predicates import RULES
from scheduler_core.schedulers.v1_11.priorities import RULES as PRIORITY_RULES
from scheduler_core.schedulers.v1_11.quirks import QUIRKS
from scheduler_core.schedulers.v1_22.configuration.plugins import PLUGINS
from scheduler_core.schedulers.v1_22.configuration.versions import VERSIONS, has_plugin
from scheduler_core.schedulers.v1_37.plugins.table import DECLARED
from scheduler_core.settings.feature_gates import DEFAULTS, LOCKED, NEEDS, SIMULATED_GATES

CatalogueRow = dict[str, Any]


def _purpose(rule: object) -> str:
    """Return the first paragraph of the class docstring of a rule, used if it declares no text."""
    text = inspect.cleandoc((rule if isinstance(rule, type) else type(rule)).__doc__ or "")
    return " ".join(text.split("\n\n", 1)[0].split())


@cache
def predicates() -> tuple[CatalogueRow, ...]:
    """Return a row for every key of v1.11's order, in that order.

    ``place`` and ``proposal`` are its positions in the two orders; a ``proposal`` without a number has no row
    there, and runs at the position determined by the rule of ``policy.order``.
    """
    proposed = {key: (number, row) for number, row in enumerate(ORDERS["proposal"], 1) for key in row.keys}
    runs = static_order("proposal")
    rows = []
    declared = {rule.key: rule for rule in RULES}
    for place, row in enumerate(ORDERS["v1.11"], 1):
        key = row.name
        rule = declared[key]
        number, other = proposed.get(key, (None, None))
        rows.append(
            {
                "key": key,
                "place": place,
                "why": row.why,
                "proposal": {
                    "place": number,
                    "name": other.name if other else "",
                    "why": other.why if other else "",
                    "runs": runs.index(key) + 1 if key in runs else None,
                },
                "alias": other.name if other and other.name != key else "",
                "text": rule.text or _purpose(rule.check or rule.made),
                "members": list(BUNDLES.get(key, ())),
                "bundle": next((name for name, members in BUNDLES.items() if key in members), ""),
                "history": history_of(key),
                "plugin": plugin_of(key),
                "default": rule.default,
                "mandatory": rule.mandatory,
                "registered": rule.registered,
                "argument": rule.argument.text if rule.argument else "",
                "quirks": [quirk for quirk in QUIRKS if quirk.where == key],
            }
        )
    return tuple(rows)


def _steps(rule: Priority) -> tuple[str, str]:
    """Return which of the two protocols a priority implements, and its steps."""
    if not isinstance(rule, Mapped):
        return "Function", "all nodes at once"
    return "Map/Reduce", "map" if isinstance(rule.steps, MapOnly) else "map, then reduce"


@cache
def priorities() -> tuple[CatalogueRow, ...]:
    """Return a row for every priority that a policy can name without an argument."""
    weights = dict(DEFAULT_PRIORITIES)
    rows = []
    for declared in PRIORITY_RULES:
        name, rule = declared.name, declared.run
        if rule is None:
            continue
        kind, steps = _steps(rule)
        rows.append(
            {
                "name": name,
                "text": declared.text or _purpose(rule.steps if isinstance(rule, Mapped) else rule),
                "formula": declared.formula,
                "history": history_of(name),
                "plugin": plugin_of(name),
                "kind": kind,
                "steps": steps,
                "weight": weights.get(name),
                "shown_weight": f"{weights.get(name, 0):,}",
                "quirks": [quirk for quirk in QUIRKS if quirk.where == name],
            }
        )
    return tuple(rows)


def priority_arguments() -> list[tuple[str, str, str]]:
    """Return the arguments that define a priority under an arbitrary name, with syntax and formula."""
    return [(rule.name, rule.argument.text, rule.formula) for rule in PRIORITY_RULES if rule.argument]


def providers() -> list[CatalogueRow]:
    """Return v1.11's algorithm providers, each with its priorities and their weights."""
    return [
        {"name": name, "priorities": [(priority, f"{weight:,}") for priority, weight in weights]}
        for name, weights in PROVIDERS.items()
    ]


@cache
def wire() -> CatalogueRow:
    """Return the protocol's answer to ``policy.catalogue``."""
    known = [key for key in V1_11_ORDER if key not in UNREGISTERED]
    rows = {row["key"]: row for row in predicates()}
    fields = ("key", "place", "alias", "text", "members", "bundle", "mandatory", "default", "argument")
    return {
        "predicates": [
            {
                **{name: rows[key][name] for name in fields},
                "proposal": rows[key]["proposal"]["place"],
                "runs": rows[key]["proposal"]["runs"],
            }
            for key in known
        ],
        "priorities": [
            {name: row[name] for name in ("name", "text", "kind", "steps", "weight")} for row in priorities()
        ],
        "providers": list(PROVIDERS),
        "plugins": [
            {
                "name": plugin.name,
                "points": list(plugin.points),
                "predicates": list(plugin.predicates),
                "priority": plugin.priority,
                "differs": [text for text in (plugin.filter_differs, plugin.score_differs) if text],
                "versions": [
                    version.name for version in VERSIONS.values() if has_plugin(version, plugin.name)
                ],
                "instead": plugin.instead,
            }
            for plugin in PLUGINS.values()
        ],
        "versions": [[version.name, version.releases] for version in VERSIONS.values()],
        "v1_37": _v1_37(),
        "descheduler": descheduler_form.rows(),
    }


def _v1_37() -> CatalogueRow:
    """Return the rows of the form for v1.37: its plugins as they are declared, and its feature gates."""
    return {
        "plugins": [
            {
                "name": row.key,
                "points": row.points.split(),
                "weight": row.default_weight,
                "gate": row.gate,
                "filters": row.filters,
                "prefers": row.prefers,
                "otherwise": row.otherwise,
                "arguments": to_builtins(row.arguments),
            }
            for row in DECLARED
        ],
        "gates": [
            {
                "name": name,
                "default": on,
                "locked": name in LOCKED,
                "needs": list(NEEDS.get(name, ())),
                "does": SIMULATED_GATES.get(name, ""),
            }
            for name, on in sorted(DEFAULTS.items())
        ],
    }
