"""The tables that follow from the rules' declarations are those of kube-scheduler v1.11, frozen as data.

``data/declarations.json`` has the orders, providers and plugins; the equivalence cache's table is beside the
cache's tests. A change of either file is a change of what the simulator does.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from msgspec.structs import asdict

from scheduler_core.explain.findings import FINDINGS, REASONS, RESOURCE_FINDINGS
from scheduler_core.schedulers.v1_11.equivalence.rules import TABLE
from scheduler_core.schedulers.v1_11.policy import order, providers
from scheduler_core.schedulers.v1_11.predicates import PREDICATES, RULES
from scheduler_core.schedulers.v1_11.preemption.preempt import UNRESOLVABLE_REASONS
from scheduler_core.schedulers.v1_11.priorities import PRIORITIES
from scheduler_core.schedulers.v1_22.configuration.from_policy import PLUGIN_OF, SCORER_OF
from scheduler_core.schedulers.v1_22.configuration.plugins import PLUGINS

HERE = Path(__file__).parent
DECLARATIONS = HERE / "data" / "declarations.json"
INVALIDATION = HERE.parent / "equivalence" / "data" / "invalidation_table.json"


def declarations() -> dict[str, Any]:
    """Return the tables of policies and plugins."""
    return {
        "orders": {name: [asdict(row) for row in rows] for name, rows in order.ORDERS.items()},
        "static": {name: order.static_order(name) for name in order.ORDERS},
        "bundles": dict(order.BUNDLES),
        "aliases": dict(order.ALIASES),
        "unregistered": sorted(order.UNREGISTERED),
        "mandatory": providers.MANDATORY_PREDICATES,
        "default": providers.DEFAULT_PREDICATES,
        "providers": dict(providers.PROVIDERS),
        "predicates": list(PREDICATES),
        "priorities": list(PRIORITIES),
        "plugins": [asdict(row) for row in PLUGINS.values()],
        "plugin_of": dict(sorted(PLUGIN_OF.items())),
        "scorer_of": dict(sorted(SCORER_OF.items())),
        "unresolvable": sorted(UNRESOLVABLE_REASONS),
    }


def invalidation() -> list[dict[str, Any]]:
    """Return the rows of the invalidation table; the order of the predicates in a row means nothing."""
    return [
        {
            "id": row.id,
            "resource": row.resource,
            "operations": row.operations,
            "condition": row.condition.text,
            "predicates": None if row.predicates is None else sorted(row.predicates),
            "scopes": {mode: scope.name for mode, scope in row.scopes.items()},
            "source": row.source,
            "why": row.why,
            "narrow": row.narrow.__name__ if row.narrow else None,
        }
        for row in TABLE
    ]


def test_the_orders_providers_and_plugins_are_unchanged() -> None:
    """Compare with the frozen tables."""
    assert json.loads(json.dumps(declarations())) == json.loads(DECLARATIONS.read_text())


def test_the_invalidation_table_is_unchanged() -> None:
    """Compare all 58 rows with the frozen table."""
    frozen = json.loads(INVALIDATION.read_text())
    assert len(frozen) == 58
    assert json.loads(json.dumps(invalidation())) == frozen


def test_every_finding_that_a_reason_names_is_there() -> None:
    """And rules with the same reason declare the same of it."""
    for reason in (reason for rule in RULES for reason in rule.reasons):
        assert reason == REASONS[reason.text]
        assert not reason.finding or reason.finding in (RESOURCE_FINDINGS if reason.prefix else FINDINGS)
        assert not (reason.finding and reason.explain)
    assert {reason.finding for reason in REASONS.values()} >= {*FINDINGS, *RESOURCE_FINDINGS}
