"""External operations, as phrases."""

from __future__ import annotations

from collections.abc import Sequence

from scheduler_core.authoring.verbs import verb_in
from scheduler_core.scenario.scenario import Operation

OPERATIONS_SHOWN = 50


def described(operations: Sequence[Operation]) -> list[str]:
    """Return external operations as phrases; of very many the first ones and a count."""
    shown = [describe(operation) for operation in operations[:OPERATIONS_SHOWN]]
    more = len(operations) - len(shown)
    return [*shown, f"and {more:,} more"] if more > 0 else shown


def describe(operation: Operation) -> str:
    """Return an external operation as a phrase, such as ``delete pod default/web-1`` or ``drain node n1``."""
    if operation.configuration is not None:
        return f"{operation.action} {operation.kind}: the scheduler restarts"
    verb, _ = verb_in((operation.patch or {}).get("patch"))
    return f"{verb or operation.action} {operation.kind.lower()} {operation.key}"
