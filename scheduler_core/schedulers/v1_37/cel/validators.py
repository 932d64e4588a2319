"""The checks of typed expressions other than of their types (cel-go's validators)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from scheduler_core.schedulers.v1_37.cel.errors import CelError, Issues
from scheduler_core.schedulers.v1_37.cel.functions.format_texts import VERBS, clauses, unknown_verb
from scheduler_core.schedulers.v1_37.cel.functions.regex import compiled
from scheduler_core.schedulers.v1_37.cel.functions.table import Library
from scheduler_core.schedulers.v1_37.cel.nodes import CallExpr, Expr, ListExpr, Literal, MapExpr, children
from scheduler_core.schedulers.v1_37.cel.types import Type
from scheduler_core.schedulers.v1_37.cel.unify import Bindings


def validate(root: Expr, functions: Library, issues: Issues) -> None:
    """Report literals that cannot be converted, mixed lists and maps, and formats that do not fit."""
    for node, exempt in _walk(root):
        if isinstance(node, CallExpr):
            _literal(node, functions, issues)
            _format(node, issues)
        elif isinstance(node, ListExpr) and not exempt:
            _homogeneous(_list_elements(node), issues)
        elif isinstance(node, MapExpr) and not exempt:
            _homogeneous([(entry.key, entry.key.type) for entry in node.entries], issues, every=True)
            values = [(entry.value, _plain(entry.value.type, entry.optional)) for entry in node.entries]
            _homogeneous(values, issues, every=True)


def _walk(root: Expr) -> Iterator[tuple[Expr, bool]]:
    """Yield all nodes, and whether they are within a call whose lists may be mixed."""
    waiting = [(root, False)]
    while waiting:
        node, exempt = waiting.pop()
        yield node, exempt
        exempt = exempt or (isinstance(node, CallExpr) and node.function in ("format", "cel.@block"))
        waiting += [(child, exempt) for child in children(node)]


def _literal(node: CallExpr, functions: Library, issues: Issues) -> None:
    argument = node.arguments[0] if node.arguments else None
    if node.function not in ("duration", "timestamp", "matches") or not isinstance(argument, Literal):
        return
    try:
        if node.function == "matches":
            compiled(str(argument.value))
        elif node.overload:
            _run_of(functions, node)(argument.value)
    except CelError:
        issues.report(argument.place, f"invalid {node.function} argument")


def _run_of(functions: Library, node: CallExpr) -> Callable[..., Any]:
    found = next(one.run for one in functions[node.function].overloads if one.id == node.overload)
    assert found is not None
    return found


def _list_elements(node: ListExpr) -> list[tuple[Expr, Type]]:
    return [(each, _plain(each.type, index in node.optional)) for index, each in enumerate(node.elements)]


def _plain(kind: Type, optional: bool) -> Type:
    return kind.parameters[0] if optional and kind.parameters else kind


def _homogeneous(typed: list[tuple[Expr, Type]], issues: Issues, *, every: bool = False) -> None:
    for node, kind in typed[1:]:
        wanted = typed[0][1]
        if not _equivalent(wanted, kind):
            issues.report(node.place, f"expected type '{wanted}' but found '{kind}'")
            if not every:
                return


def _equivalent(one: Type, other: Type) -> bool:
    """Return whether types are the same but for parameters (Type.IsEquivalentType)."""
    return one == other or ("param" in (one.kind, other.kind) and Bindings().admits([one], [other]))


def _format(node: CallExpr, issues: Issues) -> None:
    """Check the arguments of a constant format."""
    if node.function != "format" or not isinstance(node.target, Literal):
        return
    listed = node.arguments[0]
    if not isinstance(listed, ListExpr) or not isinstance(node.target.value, str):
        return
    try:
        used = _check_clauses(node.target.value, listed.elements, issues)
    except CelError as error:
        issues.report(node.place, str(error))
        return
    if used is not None and len(listed.elements) > used:
        problem = (
            f"too many arguments supplied to string.format (expected {used}, got {len(listed.elements)})"
        )
        issues.report(node.place, problem)


def _check_clauses(text: str, arguments: list[Expr], issues: Issues) -> int | None:
    used = 0
    for clause in clauses(text):
        if not clause.verb:
            continue
        if clause.verb != "<end>" and used >= len(arguments):
            raise CelError(f"index {used} out of range")
        if (problem := unknown_verb(clause.verb)) is not None:
            raise problem
        wrong = _unfit(arguments[used], clause.verb)
        if wrong is not None:
            complaint = (
                f"error during formatting: {VERBS[clause.verb][0]}, was given {runtime_name(wrong.type)}"
            )
            issues.report(wrong.place, complaint)
            return None
        used += 1
    return used


def _unfit(node: Expr, verb: str) -> Expr | None:
    """Return the argument, or what of it, that a verb does not take."""
    if node.type.kind != "dyn" and node.type.kind not in VERBS[verb][1]:
        return node
    if verb != "s" or not isinstance(node, ListExpr | MapExpr):
        return None
    return next((wrong for child in children(node) if (wrong := _unfit(child, verb)) is not None), None)


def runtime_name(kind: Type) -> str:
    """Return the name of a type without its parameters."""
    names = {
        "null": "null_type",
        "duration": "google.protobuf.Duration",
        "timestamp": "google.protobuf.Timestamp",
        "any": "google.protobuf.Any",
    }
    return kind.name or names.get(kind.kind, kind.kind)
